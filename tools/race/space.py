"""The inputs of a problem, and the unit cube that methods without inputs of their own kind search in.

A point is a list with one value for each input. In the cube a number is one coordinate, of its logarithm where the input
says so; a whole number is rounded; a choice has a coordinate for each of its names, and the largest one counts.
"""

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Real:
    name: str
    low: float
    high: float
    log: bool = False


@dataclass(frozen=True)
class Whole:
    name: str
    low: int
    high: int
    log: bool = False


@dataclass(frozen=True)
class Choice:
    name: str
    names: tuple


def box(n_inputs, low, high):
    """So many numbers between the same bounds."""
    return [Real(f"x{i}", low, high) for i in range(n_inputs)]


def n_coordinates(space):
    return sum(len(one.names) if isinstance(one, Choice) else 1 for one in space)


def from_cube(space, coordinates):
    """The point at these coordinates, each taken into [0, 1] first."""
    point, rest = [], [min(max(float(each), 0.0), 1.0) for each in coordinates]
    for one in space:
        width = len(one.names) if isinstance(one, Choice) else 1
        mine, rest = rest[:width], rest[width:]
        if isinstance(one, Choice):
            point.append(one.names[mine.index(max(mine))])
            continue
        if isinstance(one, Whole):
            # Every whole number has the same share of the line, the first and the last one too.
            low, high = one.low - 0.5, one.high + 0.5
        else:
            low, high = one.low, one.high
        if one.log:
            value = math.exp(math.log(low) + mine[0] * (math.log(high) - math.log(low)))
        else:
            value = low + mine[0] * (high - low)
        point.append(min(max(round(value), one.low), one.high) if isinstance(one, Whole) else min(max(value, one.low), one.high))
    return point


def to_cube(space, point):
    """The coordinates of a point; whole numbers and choices are where they are in truth, not where they were proposed."""
    coordinates = []
    for one, value in zip(space, point, strict=True):
        if isinstance(one, Choice):
            coordinates += [1.0 if name == value else 0.0 for name in one.names]
            continue
        low, high = (one.low - 0.5, one.high + 0.5) if isinstance(one, Whole) else (one.low, one.high)
        if one.log:
            low, high, value = math.log(low), math.log(high), math.log(value)
        coordinates.append((value - low) / (high - low))
    return coordinates
