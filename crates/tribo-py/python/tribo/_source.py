"""Fits to rows that are read and never held: files, Arrow streams, blocks of arrays."""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np

from tribo._arrays import Floats, points, values
from tribo._core import ArgumentError, FittedGp, fit_table, table_columns
from tribo._words import counted

# Room for the header of a .npy file, which is written when the number of rows is known; a multiple of 64.
_HEADER = 128

# The process, and the lower and upper edges of its columns, if they have any.
Fitted = tuple[FittedGp, tuple[list[float], list[float]] | None]


def fit(
    source: Any,
    settings: Mapping[str, Any],
    inputs: Sequence[str] | None,
    output: str | None,
    skip_bad: bool,
    part: float | None,
    progress: Callable[..., object] | None,
) -> Fitted:
    """The process of a source's rows; `part` of the entries are clipped at each end of a column, or strays if None."""
    if isinstance(source, (str, os.PathLike)):
        path = os.fspath(source)
        columns = table_columns(path)
        if output is None:
            if not path.endswith(".npy"):
                raise ArgumentError(f"output is missing: the column of {path} to predict, one of {columns}")
            output = columns[-1]
        chosen = [name for name in columns if name != output] if inputs is None else [str(name) for name in inputs]
        if output in chosen:
            raise ArgumentError(f"output is {output!r}, which is one of the inputs, too")
        return _fitted(path, chosen, output, skip_bad, part, settings, progress)
    with _spooled(source, inputs, output) as (path, names):
        numbers = [str(k) for k in range(len(names))]
        try:
            return _fitted(path, numbers[:-1], numbers[-1], skip_bad, part, settings, progress)
        except ArgumentError as error:
            text = str(error).replace(path, "the source").replace("--skip-bad", "skip_bad=True")
            for number, name in zip(numbers, names, strict=True):
                text = text.replace(f'column "{number}"', f'column "{name}"')
            raise ArgumentError(text) from None


def _fitted(
    path: str,
    inputs: list[str],
    output: str,
    skip_bad: bool,
    part: float | None,
    settings: Mapping[str, Any],
    progress: Callable[..., object] | None,
) -> Fitted:
    state, searched, edges, n_bad, faults = fit_table(path, inputs, output, bool(skip_bad), part, settings, progress)
    if n_bad:
        warnings.warn(f"{counted(n_bad, 'row')} left out, the first: {faults[0]}", stacklevel=4)
    return FittedGp.restore(state, searched), edges


@contextmanager
def _spooled(source: Any, inputs: Sequence[str] | None, output: str | None) -> Iterator[tuple[str, list[str]]]:
    """The rows of a stream in a file of their own, which a fit can read again and again, and the names of the columns."""
    handle, path = tempfile.mkstemp(suffix=".npy", prefix="tribo-")
    try:
        with os.fdopen(handle, "wb") as file:
            names = _write(file, _blocks(source, inputs, output))
        yield path, names
    finally:
        Path(path).unlink(missing_ok=True)


def _write(file: IO[bytes], blocks: Iterable[tuple[list[str], Floats, Floats]]) -> list[str]:
    file.write(b" " * _HEADER)
    names: list[str] = []
    rows = 0
    for found, X, y in blocks:
        if names and len(found) != len(names):
            raise ArgumentError(
                f"source: the block after {counted(rows, 'row')} has {len(found)} columns, those before {len(names)}"
            )
        names = names or found
        np.ascontiguousarray(np.column_stack([X, y])).tofile(file)
        rows += len(y)
    if not rows:
        raise ArgumentError("source has no rows; if it is a generator, it may have been read before")
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({rows}, {len(names)}), }}"
    file.seek(0)
    size = _HEADER - 10
    file.write(b"\x93NUMPY\x01\x00" + size.to_bytes(2, "little") + header.ljust(size - 1).encode() + b"\n")
    return names


def _blocks(source: Any, inputs: Sequence[str] | None, output: str | None) -> Iterator[tuple[list[str], Floats, Floats]]:
    """Names of the columns, inputs and output, block by block."""
    if callable(source) and not hasattr(source, "__arrow_c_stream__"):
        source = source()
    if hasattr(source, "__arrow_c_stream__"):
        try:
            import pyarrow
        except ImportError:
            raise ArgumentError("source is an Arrow stream, which is read with the package pyarrow; install it") from None
        source = pyarrow.RecordBatchReader.from_stream(source)
    elif hasattr(source, "to_batches"):
        source = source.to_batches()
    if not isinstance(source, Iterable):
        raise ArgumentError(
            f"source is {type(source).__name__}; it needs a path, an Arrow stream, or blocks (X, y) from an iterable or a function"
        )
    for block in source:
        if hasattr(block, "schema") and hasattr(block, "column"):
            yield _batch(block, inputs, output)
            continue
        if not isinstance(block, (tuple, list)) or len(block) != 2:
            raise ArgumentError(f"source gave {type(block).__name__}; a block is (X, y), or a batch of Arrow's")
        X = points("X of a block", block[0])
        y = values("y of a block", block[1], X.shape[0], "X")
        names = [f"x{k}" for k in range(X.shape[1])] if inputs is None else [str(name) for name in inputs]
        if len(names) != X.shape[1]:
            raise ArgumentError(f"inputs has {len(names)} names, and X of a block {X.shape[1]} columns")
        yield [*names, "y" if output is None else output], X, y


def _batch(batch: Any, inputs: Sequence[str] | None, output: str | None) -> tuple[list[str], Floats, Floats]:
    columns = list(batch.schema.names)
    if output is None:
        raise ArgumentError(f"output is missing: the column of the stream to predict, one of {columns}")
    names = [name for name in columns if name != output] if inputs is None else [str(name) for name in inputs]
    missing = [name for name in [*names, output] if name not in columns]
    if missing:
        raise ArgumentError(f"source has no column {missing[0]!r}; it has {columns}")

    def numbers(name: str) -> Floats:
        try:
            return np.asarray(batch.column(name).to_numpy(zero_copy_only=False), dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise ArgumentError(f"column {name!r} of the source is not of numbers: {error}") from None

    return [*names, output], np.column_stack([numbers(name) for name in names]), numbers(output)
