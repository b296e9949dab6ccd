"""Arguments as float64 arrays: what is one already stays where it is, the rest is converted, nonsense is refused.

Taken as it is: float64 with any layout, also slices, steps and read-only. Converted: other floats, integers, booleans (to 0
and 1), lists, data frames, and arrays of objects whose entries are all real numbers. Refused: text, complex numbers, dates,
objects, masked entries, wrong shapes, nothing at all. That every number is finite is checked in the compiled part, in one
pass without a copy.
"""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tribo._core import ArgumentError

Floats = NDArray[np.float64]


def points(name: str, value: Any, columns: int | None = None) -> Floats:
    """Points, one a row."""
    array = _floats(name, value)
    needed = f"(rows, {'columns' if columns is None else columns})"
    if array.ndim != 2:
        hint = f"; for one input use {name}.reshape(-1, 1)" if array.ndim == 1 else ""
        raise ArgumentError(f"{name} has shape {array.shape}; it needs shape {needed}{hint}")
    if 0 in array.shape:
        raise ArgumentError(f"{name} has shape {array.shape}, which is empty; it needs shape {needed}, at least (1, 1)")
    if columns is not None and array.shape[1] != columns:
        raise ArgumentError(f"{name} has shape {array.shape}; it needs shape {needed}, the columns that were fitted")
    return array


def values(name: str, value: Any, rows: int, of: str) -> Floats:
    """One number for each row of the argument `of`; contiguous, which may take a copy."""
    array = _floats(name, value)
    if array.shape != (rows,):
        hint = f"; use {name}.ravel()" if array.shape == (rows, 1) else ""
        raise ArgumentError(
            f"{name} has shape {array.shape}; it needs shape ({rows},), one number for each row of {of}{hint}"
        )
    return np.ascontiguousarray(array)


def outputs(name: str, value: Any, rows: int, of: str) -> Floats:
    """One number for each row of the argument `of`, or several: shape (rows,) or (rows, outputs)."""
    array = _floats(name, value)
    if array.ndim != 2:
        return values(name, array, rows, of)
    if array.shape[0] != rows or array.shape[1] == 0:
        raise ArgumentError(
            f"{name} has shape {array.shape}; it needs shape ({rows},) or ({rows}, outputs), as many rows as {of} has"
        )
    return array


def _floats(name: str, value: Any) -> Floats:
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        raise ArgumentError(f"{name} has masked entries; drop those rows or fill them first")
    try:
        array = np.asarray(value)
    except (TypeError, ValueError) as error:
        raise ArgumentError(f"{name} cannot be made an array of numbers: {error}") from error
    if array.dtype == np.object_:
        array = _numbers(name, array)
    elif array.dtype.kind not in "fiub":
        raise ArgumentError(f"{name} has dtype {array.dtype}; it needs real numbers")
    if array.dtype == np.float64 and array.dtype.isnative and array.flags.aligned:
        return array
    with np.errstate(over="ignore"):  # What is too large becomes infinite, and infinite numbers are refused.
        return np.ascontiguousarray(array, dtype=np.float64)


def _numbers(name: str, array: NDArray[Any]) -> Floats:
    """An array of objects, if they are numbers."""
    for index, entry in np.ndenumerate(array):
        if not isinstance(entry, (Real, np.bool_)):
            where = ", ".join(map(str, index))
            raise ArgumentError(f"{name}[{where}] is {entry!r}; every entry must be a real number")
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ArgumentError(f"{name} has an entry that is no float64: {error}") from error
