"""The problems: what is minimised, over which inputs, and what is known of it.

A suite is a set of problems with names. An instance decides what a problem is (where its optimum lies, how data are
split, where a robot starts), never what a method does. Packages are imported where a problem is made, so that a run pays
for its own alone.
"""

import importlib
from dataclasses import dataclass
from typing import Callable

# In which module a suite is. Each has the `NAMES` of its problems, how many `INPUTS` they have where nothing is said, those
# whose inputs are `FIXED` (None where they are of several kinds), the `EVALUATIONS` of a run, and
# `make(name, inputs, instance)`.
SUITES = {
    "bbob": "bbob",
    "stand-in": "stand_in",
    "learners": "learners",
    "swimmer": "swimmer",
    "path": "path",
    "failures": "failures",
    "limits": "limits",
    "bbob-constrained": "bbob_constrained",
}

# Points that the spread of a problem's values is taken from.
N_SPREAD = 1000


class Failure(Exception):
    """An evaluation without a value: `infeasible` (not allowed), `failed` (broke at this point, as far as anyone knows) or
    `lost` (an accident that says nothing about the point)."""

    def __init__(self, kind):
        super().__init__(kind)
        self.kind = kind


@dataclass
class Problem:
    space: list
    # The value at a point; raises Failure.
    value: Callable[[list], float]
    # The lowest value there is, if it is known.
    optimum: float | None = None
    # The share of evaluations that fail by accident, and how they are told: `lost` or `failed`.
    accidents: float = 0.0
    accidents_told: str = "lost"
    # The standard deviation of the normal noise in what a method is told.
    noise_sd: float = 0.0
    # Limits on other outputs, `(name, low, high)` each, and the function that gives the objective and those outputs.
    limits: list | None = None
    outputs: Callable[[list], tuple] | None = None


def suite(name):
    if name not in SUITES:
        raise SystemExit(f"there is no suite {name!r}; there are {', '.join(SUITES)}")
    return importlib.import_module(f"{__package__}.{SUITES[name]}")


def make(spec):
    """The problem of a run: `suite`, `problem`, `inputs`, `instance` and `noise`."""
    problem = suite(spec["suite"]).make(spec["problem"], spec["inputs"], spec["instance"])
    if spec["noise"]:
        problem.noise_sd = spec["noise"] * spread(problem, spec["instance"])
    return problem


def spread(problem, instance):
    """From the 10th to the 90th percentile of the values at random points; the same for all methods and seeds."""
    import numpy as np

    from .space import from_cube, n_coordinates

    generator = np.random.default_rng([instance, 10, 90])
    values = []
    for coordinates in generator.random((N_SPREAD, n_coordinates(problem.space))):
        try:
            values.append(problem.value(from_cube(problem.space, coordinates)))
        except Failure:
            pass
    low, high = np.percentile(values, [10, 90])
    return float(high - low)
