"""Pictures of a study, as `Study.plot` gives them: SVG, so that nothing else is needed to see them."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tribo import _core
from tribo._core import ArgumentError
from tribo._space import _found

if TYPE_CHECKING:
    import numpy.typing as npt


@dataclass(frozen=True, eq=False)
class Picture:
    """A picture. A notebook shows it by itself; `save` writes it, and `data` has its numbers for those who draw themselves."""

    kind: str
    """Which, by the name of the method that made it."""
    svg: str = field(repr=False)
    """The picture, in the colours that its reader prefers."""
    data: dict[str, npt.NDArray[Any]] = field(repr=False)
    """The numbers behind it, arrays by name."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes it to a file whose name ends in `.svg`."""
        file = Path(path)
        if file.suffix.lower() != ".svg":
            raise ArgumentError(f"path is {str(file)!r}; pictures are SVG, give a name that ends in .svg")
        file.write_text(self.svg, encoding="utf-8")

    def _repr_svg_(self) -> str:
        return self.svg

    def _repr_html_(self) -> str:
        # As a part of the page, where marks say their numbers when pointed at; an SVG alone is shown as an image.
        return f"<div>{self.svg}</div>"


class Plots:
    """The pictures of a study, as its results are now. One that cannot be drawn (too few results, no model) is an
    `ArgumentError` that says why. The first picture after new results looks at the model, which takes about a second.

    >>> from tribo import Study
    >>> study = Study([(-5, 5), (0, 1)], seed=1)
    >>> for _ in range(12):
    ...     for trial in study.ask():
    ...         study.tell(trial, float((trial.x ** 2).sum()))
    >>> study.plot.slice("x0").data["mean"].shape
    (61,)
    """

    def __init__(self, core: _core.Study) -> None:
        self._core = core

    def convergence(self) -> Picture:
        """Every value as it came, and the best so far.

        `data` has `trial`, `value` (NaN where there is none) and `best`, in the order told.
        """
        return self._picture("convergence")

    def slice(self, input: str | None = None) -> Picture:
        """What the model expects along one input, through the best point; by default along the most important one.

        `data` has `x`, `mean` and the ends `low` and `high` of its interval of 95 %; of results close to the best point in all
        other inputs `near_trial`, `near_x` and `near_value`.
        """
        return self._picture("slice", input=input)

    def contour(self, x: str | None = None, y: str | None = None) -> Picture:
        """What the model expects over two inputs, through the best point; by default over the most important ones.

        `data` has `x` and `y`; `mean`, `low` and `high` with a row for each `y`; and `trial`, `trial_x`, `trial_y` and
        `trial_value` of the results.
        """
        if (x is None) != (y is None):
            raise ArgumentError(f"{'x' if x is None else 'y'}: is missing; name two inputs, or none")
        return self._picture("contour", x=x, y=y)

    def importance(self) -> Picture:
        """How much each input matters: shares of the variance of the model over the whole space.

        `data` has `input`, the names; `total`, with interactions, and `first`, alone; their standard errors `total_sd` and
        `first_sd`.
        """
        return self._picture("importance")

    def parallel(self) -> Picture:
        """Results as lines across the inputs.

        `data` has `trial`, `value`, the names `input` and, a row for each trial, `place`: where each input lies between its
        ends, 0 to 1.
        """
        return self._picture("parallel")

    def timeline(self) -> Picture:
        """Who worked when. Only a study that `tribo run` has driven knows that: one that is asked and told has no workers.

        `data` has `trial`, `worker`, `submitted`, `start` and `end` in seconds, and `state` of each attempt.
        """
        return self._picture("timeline")

    def validation(self) -> Picture:
        """Each result against what the model expects of it from all the others: is the model to be trusted?

        `data` has `trial`, `measured`, `expected` and the ends `low` and `high` of its interval of 95 %.
        """
        return self._picture("validation")

    def _picture(self, kind: str, **inputs: str | None) -> Picture:
        names = [name for name in inputs.values() if name is not None]
        for argument, name in inputs.items():
            if name is not None and not isinstance(name, str):
                raise ArgumentError(f"{argument} is {_found(name)}; give the name of an input")
        return Picture(kind, *self._core.picture(kind, names))
