"""Functions that tests minimise; at the top of a module, so that they can be sent to processes."""

from __future__ import annotations

import math
import os
import random
import time
from typing import Any


def branin(x: Any) -> float:
    a, b = x
    t = b - 5.1 / (4 * math.pi**2) * a**2 + 5 / math.pi * a - 6
    return float(t**2 + 10 * (1 - 1 / (8 * math.pi)) * math.cos(a) + 10)


BRANIN_BOUNDS = [(-5.0, 10.0), (0.0, 15.0)]
BRANIN_BEST = 0.39788735772973816


def square(x: Any) -> float:
    return float((x[0] - 1) ** 2)


def square_of(params: dict[str, Any]) -> float:
    penalty = {"a": 0.0, "b": 1.0}[params["kind"]]
    return float((params["x"] - 1) ** 2 + abs(params["n"] - 3) + penalty)


def shifted(x: Any, shift: float, scale: float) -> float:
    return float(scale * (x[0] - shift) ** 2)


def fails_above_zero(x: Any) -> float:
    if x[0] > 0:
        raise OverflowError(f"no solution at {x[0]:.3f}")
    return float(x[0] ** 2)


def always_fails(x: Any) -> float:
    raise ZeroDivisionError("the mesh has no cells")


def dies(x: Any) -> float:
    os._exit(3)


def dies_later(x: Any) -> float:
    if x[0] > 0:
        os._exit(3)
    return float(x[0])


def sleeps_timed(x: Any, low: float, high: float) -> tuple[float, float, float]:
    """Takes U[low, high] seconds, drawn from the point; returns a value, and when it began and ended."""
    begun = time.monotonic()
    time.sleep(random.Random(repr([float(u) for u in x])).uniform(low, high))
    return float(sum(x)), begun, time.monotonic()


def warm_up(_: int) -> None:
    """Keeps a process of a pool busy until the others are there too."""
    time.sleep(0.05)


def misspelt(x: Any) -> float:
    return float(numppy.sum(x))  # type: ignore[name-defined]  # noqa: F821
