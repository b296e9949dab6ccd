"""How far a run is: evaluations, best value, failures, time.

On a terminal it is a line on standard error, written over itself, at most ten times a second, in colour unless `NO_COLOR` or
`TERM=dumb` ask for none. In a notebook it is one output, drawn anew at most once a second, with the study and its convergence.
Elsewhere (a log file) nothing is written, or with `progress=True` a line for each tenth of the run.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from typing import Any, TextIO

BAR_WIDTH = 24
REDRAW_SECONDS = 0.1
REDRAW_NOTEBOOK_SECONDS = 1.0
GREEN, RED, PLAIN = "\x1b[32m", "\x1b[31m", "\x1b[0m"


class Progress:
    """The line; `wanted` None means: if there is somebody to read it. `card` is what a notebook shows besides, as HTML."""

    def __init__(
        self, total: int, wanted: bool | None, stream: TextIO | None = None, card: Callable[[], str] | None = None
    ) -> None:
        self._notebook = None if wanted is False or card is None else _Notebook.here(card)
        wanted = False if self._notebook is not None else wanted
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
        if self._notebook is not None:
            line = self._line(finished, failed, best, time.monotonic() - self._begun)
            self._notebook.show(finished, self._total, line)
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
        if self._notebook is not None:
            self._notebook.close()
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


class _Notebook:
    """An output of a notebook that is drawn anew."""

    def __init__(self, display: Callable[..., Any], card: Callable[[], str]) -> None:
        self._display = display
        self._card = card
        self._handle: Any = None
        self._drawn = float("-inf")
        self._last: tuple[int, int, str] | None = None

    @staticmethod
    def here(card: Callable[[], str]) -> _Notebook | None:
        """One, if this is a notebook: IPython runs, and with a kernel, which has somebody at its other end."""
        # If the module was never imported, it does not run.
        ipython = sys.modules.get("IPython")
        shell = None if ipython is None else ipython.get_ipython()
        if shell is None or not hasattr(shell, "kernel"):
            return None
        from IPython.display import display

        return _Notebook(display, card)

    def show(self, finished: int, total: int, line: str) -> None:
        self._last = (finished, total, line)
        if time.monotonic() - self._drawn >= REDRAW_NOTEBOOK_SECONDS:
            self._draw()

    def close(self) -> None:
        """The last state, whenever it was drawn."""
        if self._last is not None:
            self._draw()

    def _draw(self) -> None:
        assert self._last is not None
        finished, total, line = self._last
        bar = f'<progress value="{min(finished, total)}" max="{total}" style="width:20em"></progress>'
        data = {"text/plain": line, "text/html": f"{bar} {line.replace('  ', ', ')}{self._card()}"}
        if self._handle is None:
            self._handle = self._display(data, raw=True, display_id=True)
        else:
            self._handle.update(data, raw=True)
        self._drawn = time.monotonic()


def clock(seconds: float) -> str:
    """Hours, minutes and seconds, without leading hours that are none."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
