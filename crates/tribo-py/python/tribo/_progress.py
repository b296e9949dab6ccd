"""One line on standard error that says how far a run is: evaluations, best value, failures, time.

On a terminal the line is written over itself, at most ten times a second, in colour unless `NO_COLOR` or `TERM=dumb` ask
for none. Elsewhere (a log file, a notebook) nothing is written, or with `progress=True` a line for each tenth of the run.
"""

from __future__ import annotations

import os
import sys
import time
from typing import TextIO

BAR_WIDTH = 24
REDRAW_SECONDS = 0.1
GREEN, RED, PLAIN = "\x1b[32m", "\x1b[31m", "\x1b[0m"


class Progress:
    """The line; `wanted` None means: if there is somebody to read it."""

    def __init__(self, total: int, wanted: bool | None, stream: TextIO | None = None) -> None:
        self._stream = sys.stderr if stream is None else stream
        # A program without a console has no standard error at all.
        self._terminal = self._stream is not None and self._stream.isatty()
        self._shown = self._stream is not None and (self._terminal if wanted is None else wanted)
        dull = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
        self._colour = self._terminal and not dull
        self._total = total
        self._begun = time.monotonic()
        self._drawn = float("-inf")
        self._tenths = 0

    def update(self, finished: int, failed: int, best: float | None) -> None:
        """Draws the line anew if it is time to."""
        if not self._shown:
            return
        now = time.monotonic()
        if self._terminal:
            if now - self._drawn >= REDRAW_SECONDS or finished >= self._total:
                self._drawn = now
                self._stream.write("\r" + self._line(finished, failed, best, now - self._begun) + "\x1b[K")
                self._stream.flush()
        elif (tenths := finished * 10 // self._total) > self._tenths:
            self._tenths = tenths
            self._stream.write(self._line(finished, failed, best, now - self._begun) + "\n")
            self._stream.flush()

    def close(self) -> None:
        """Leaves the line as it is and begins the next."""
        if self._shown and self._terminal and self._drawn > float("-inf"):
            self._stream.write("\n")
            self._stream.flush()

    def _line(self, finished: int, failed: int, best: float | None, seconds: float) -> str:
        done = min(1.0, finished / self._total)
        full = int(BAR_WIDTH * done)
        pieces = [f"{finished}/{self._total}"]
        if best is not None:
            pieces.append(f"best {best:.6g}")
        if failed:
            pieces.append(f"{failed} failed")
        pieces.append(clock(seconds))
        if not self._terminal:
            return "  ".join(pieces)
        bar = "#" * full + "-" * (BAR_WIDTH - full)
        text = "  ".join(pieces)
        # Imported here: it takes longer than the rest of the module.
        import shutil

        # A line that wraps cannot be written over.
        room = shutil.get_terminal_size().columns - 1
        if len(bar) + 2 + len(text) > room:
            return text[:room]
        if self._colour:
            text = text.replace(f"{failed} failed", f"{RED}{failed} failed{PLAIN}") if failed else text
            bar = f"{GREEN}{'#' * full}{PLAIN}{'-' * (BAR_WIDTH - full)}"
        return f"{bar}  {text}"


def clock(seconds: float) -> str:
    """Hours, minutes and seconds, without leading hours that are none."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
