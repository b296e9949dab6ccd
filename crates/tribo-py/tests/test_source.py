"""`SparseGP.fit_source`: files, blocks and Arrow streams give the process that arrays give."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import tribo


def data(n: int) -> tuple[np.ndarray, np.ndarray]:
    X = np.random.default_rng(3).uniform(size=(n, 2))
    return X, np.sin(5 * X[:, 0]) + X[:, 1] ** 2


def gp() -> tribo.SparseGP:
    return tribo.SparseGP(kernel="matern52", inducing=40, seed=5)


def blocks(n: int, size: int = 700) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    X, y = data(n)
    for start in range(0, n, size):
        yield X[start : start + size], y[start : start + size]


def check(found: tribo.SparseGP, n: int) -> None:
    # The same rows, subsets and inducing points; sums of blocks are joined in another order.
    X, y = data(n)
    expected = gp().fit(X, y)
    queries = np.random.default_rng(4).uniform(size=(50, 2))
    np.testing.assert_allclose(found.predict(queries), expected.predict(queries), rtol=0, atol=1e-5)
    assert found.n_observations == n
    assert found.training.subset_evaluations == expected.training.subset_evaluations


def test_blocks_and_files_give_what_arrays_give(tmp_path: Path) -> None:
    n = 5_000
    X, y = data(n)
    np.save(tmp_path / "t.npy", np.column_stack([X, y]))
    with (tmp_path / "t.csv").open("w") as file:
        file.write("a,y,b\n")
        file.writelines(f"{a!r},{value!r},{b!r}\n" for (a, b), value in zip(X.tolist(), y.tolist(), strict=True))
    check(gp().fit_source(tmp_path / "t.npy"), n)
    check(gp().fit_source(tmp_path / "t.csv", inputs=["a", "b"], output="y"), n)
    check(gp().fit_source(lambda: blocks(n)), n)
    check(gp().fit_source(list(blocks(n))), n)


def test_arrow_streams_give_what_arrays_give(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    n = 5_000
    X, y = data(n)
    table = pyarrow.table({"word": ["x"] * n, "a": X[:, 0], "b": X[:, 1], "y": y})
    columns = {"inputs": ["a", "b"], "output": "y"}
    parquet.write_table(table, tmp_path / "t.parquet", row_group_size=900)
    check(gp().fit_source(tmp_path / "t.parquet", **columns), n)
    check(gp().fit_source(table, **columns), n)
    check(gp().fit_source(table.to_reader(max_chunksize=512), **columns), n)
    with pytest.raises(tribo.ArgumentError, match="no column 'c'"):
        gp().fit_source(table, inputs=["c"], output="y")
    with pytest.raises(tribo.ArgumentError, match="'word' of the source is not of numbers"):
        gp().fit_source(table, inputs=["word"], output="y")


def test_bad_rows_are_refused_with_their_place_or_left_out() -> None:
    X, y = data(300)
    X[120, 1] = np.nan
    with pytest.raises(tribo.ArgumentError, match=r'the source: row 121: column "height" is NaN(.|\n)*skip_bad=True'):
        gp().fit_source([(X[:200], y[:200]), (X[200:], y[200:])], inputs=["width", "height"])
    with pytest.warns(UserWarning, match="1 row left out"):
        fitted = gp().fit_source([(X, y)], skip_bad=True)
    assert fitted.n_observations == 299


def test_what_is_no_source_is_refused(tmp_path: Path) -> None:
    unfitted = gp()
    for source, said in [
        (3, "source is int"),
        ([], "no rows"),
        ([(np.zeros((2, 2)), np.zeros(3))], "y of a block"),
        ([np.zeros(3)], "a block is"),
        ([(np.ones((2, 2)), np.ones(2)), (np.ones((2, 3)), np.ones(2))], "has 4 columns, those before 3"),
    ]:
        with pytest.raises(tribo.ArgumentError, match=said):
            unfitted.fit_source(source)
    with pytest.raises(tribo.TriboError, match="missing.csv"):
        unfitted.fit_source(tmp_path / "missing.csv", output="y")
    (tmp_path / "t.csv").write_text("a,y\n1,2\n")
    with pytest.raises(tribo.ArgumentError, match="output is missing"):
        unfitted.fit_source(tmp_path / "t.csv")
    (tmp_path / "cut.parquet").write_bytes(b"PAR1 and no more")
    with pytest.raises(tribo.TriboError, match="cut.parquet"):
        unfitted.fit_source(tmp_path / "cut.parquet", output="y")


def test_ctrl_c_ends_a_fit_of_a_file_within_a_second(tmp_path: Path) -> None:
    X, y = data(400_000)
    np.save(tmp_path / "t.npy", np.column_stack([X, y]))
    fitted = gp().fit_source([(X[:500], y[:500])])
    sent = []

    def interrupt() -> None:
        time.sleep(1.0)
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        tribo.SparseGP(inducing=900).fit_source(tmp_path / "t.npy")
    assert time.monotonic() - sent[0] < 1.0
    thread.join()
    assert fitted.n_observations == 500
