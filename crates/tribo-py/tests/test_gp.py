"""`tribo.SparseGP`: values against dense formulas and golden files, arguments, threads, interruption, pickling.

Random data come from fixed seeds. Where the inducing points are the data the process is the exact one, but for the jitter of
1e-10 that the library puts on Kuu: tolerances are 1e-9 times the condition of Kuu, as in `crates/tribo/tests/golden.rs`.
"""

from __future__ import annotations

import copy
import doctest
import json
import multiprocessing
import pickle
import signal
import subprocess
import sys
import threading
import time
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tribo
from tribo import ArgumentError, SparseGP, StoreError

GOLDEN = Path(__file__).parents[2] / "tribo" / "tests" / "golden"
KERNELS = ["matern12", "matern32", "matern52", "se"]
FIXED = {"length_scales": [0.4, 0.7], "signal_variance": 1.3, "noise_variance": 0.02, "mean": 0.5}


def data(n: int = 40, seed: int = 7) -> tuple[np.ndarray, np.ndarray]:
    draws = np.random.default_rng(seed)
    X = draws.uniform(size=(n, 2))
    return X, np.sin(5 * X[:, 0]) + X[:, 1] + 0.1 * draws.normal(size=n) + 2


def covariance(kernel: str, lengths: Any, signal: float, A: np.ndarray, B: np.ndarray) -> np.ndarray:
    r = np.sqrt((((A[:, None, :] - B[None, :, :]) / lengths) ** 2).sum(axis=2))
    match kernel:
        case "matern12":
            g = np.exp(-r)
        case "matern32":
            g = (1 + np.sqrt(3) * r) * np.exp(-np.sqrt(3) * r)
        case "matern52":
            g = (1 + np.sqrt(5) * r + 5 / 3 * r**2) * np.exp(-np.sqrt(5) * r)
        case _:
            g = np.exp(-0.5 * r**2)
    return signal * g


def same_bits(first: SparseGP, second: SparseGP, X: np.ndarray) -> bool:
    pairs = zip(first.predict(X, return_std=True), second.predict(X, return_std=True), strict=True)
    return all(np.array_equal(a, b) for a, b in pairs) and first.log_evidence == second.log_evidence


# Values.


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("approximation", ["dtc", "fic", "pitc"])
def test_equals_the_dense_process_where_inducing_points_are_the_data(kernel: Any, approximation: Any) -> None:
    X, y = data()
    Xs = np.random.default_rng(8).uniform(-0.2, 1.2, size=(15, 2))
    gp = SparseGP(kernel, approximation=approximation, inducing_points=X, fixed=FIXED).fit(X, y)
    lengths, signal, noise, mu = (FIXED[key] for key in ("length_scales", "signal_variance", "noise_variance", "mean"))
    K = covariance(kernel, lengths, signal, X, X)
    C = K + noise * np.eye(len(X))
    Ks = covariance(kernel, lengths, signal, Xs, X)
    mean = mu + Ks @ np.linalg.solve(C, y - mu)
    var = signal - np.einsum("ij,ji->i", Ks, np.linalg.solve(C, Ks.T))
    evidence = -0.5 * ((y - mu) @ np.linalg.solve(C, y - mu) + np.linalg.slogdet(C)[1] + len(y) * np.log(2 * np.pi))
    tolerance = 1e-9 * np.linalg.cond(K)
    found, sd = gp.predict(Xs, return_std=True)
    np.testing.assert_allclose(found, mean, rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(sd**2, var, rtol=tolerance, atol=tolerance)
    assert gp.log_evidence == pytest.approx(evidence, rel=tolerance, abs=tolerance)
    _, measured = gp.predict(Xs, return_std=True, noise=True)
    np.testing.assert_allclose(measured**2, sd**2 + noise, rtol=1e-12)


def fixed_of(case: dict[str, Any]) -> dict[str, Any]:
    return {
        "length_scales": case["length_scales"],
        "signal_variance": case["signal_var"],
        "noise_variance": case["noise_var"],
        "mean": case["mean"],
    }


def check_golden(gp: SparseGP, file: dict[str, Any], reference: dict[str, Any], tolerance: float) -> None:
    mean, sd = gp.fit(file["X"], file["y"]).predict(file["X_query"], return_std=True)
    np.testing.assert_allclose(mean, reference["predict_mean"], rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(sd**2, reference["predict_var"], rtol=tolerance, atol=tolerance)


def test_equals_gpflow() -> None:
    file = json.loads((GOLDEN / "sgpr.json").read_text())
    for case in file["cases"]:
        gp = SparseGP(case["kernel"], approximation="dtc", inducing_points=file["Z"], fixed=fixed_of(case))
        check_golden(gp, file, case, 1e-9 * case["condition_Kuu"])


def test_equals_the_definitions_in_fifty_digits() -> None:
    file = json.loads((GOLDEN / "sparse_dense.json").read_text())
    for case in file["cases"]:
        for name in ("sor", "dtc", "fic"):
            gp = SparseGP(case["kernel"], approximation=name, inducing_points=file["Z"], fixed=fixed_of(case))
            tolerance = 1e-9 * case["condition_Kuu"]
            check_golden(gp, file, case[name], tolerance)
            assert gp.log_evidence == pytest.approx(case[name]["objective"], rel=tolerance, abs=tolerance)
            without = {key: value for key, value in fixed_of(case).items() if key != "mean"}
            gp = SparseGP(case["kernel"], approximation=name, inducing_points=file["Z"], fixed=without)
            gp.fit(file["X"], file["y"])
            assert gp.hyperparameters["mean"] == pytest.approx(case[name]["gls"]["mean"], rel=tolerance, abs=tolerance)


@pytest.mark.parametrize("inducing_points", ["random_pivots", "greedy", "subset", "latin_hypercube"])
@pytest.mark.parametrize("approximation", ["sor", "dtc", "fic", "pitc"])
@pytest.mark.parametrize("objective", ["bound", "marginal"])
def test_every_choice_fits(inducing_points: Any, approximation: Any, objective: Any) -> None:
    X, y = data(200)
    gp = SparseGP(
        inducing=40, approximation=approximation, objective=objective, inducing_points=inducing_points, seed=3
    ).fit(X, y)
    # The noise of the data has a deviation of 0.1; half as much again is left to the approximation.
    assert np.sqrt(np.mean((gp.predict(X) - y) ** 2)) < 0.15
    assert gp.inducing_points.shape[0] <= 40 and gp.inducing_points.shape[1] == 2
    assert gp.training is not None and gp.training.full_evaluations >= 1
    again = SparseGP(**{**options(inducing_points, approximation, objective), "seed": 3}).fit(X, y)
    assert same_bits(gp, again, X)


def options(inducing_points: Any, approximation: Any, objective: Any) -> dict[str, Any]:
    return {
        "inducing": 40,
        "inducing_points": inducing_points,
        "approximation": approximation,
        "objective": objective,
    }


def test_hyperparameters_have_names_and_can_be_fixed() -> None:
    X, y = data(100)
    gp = SparseGP(inducing=30).fit(X, y)
    found = gp.hyperparameters
    assert found["length_scales"].shape == (2,)
    assert SparseGP(inducing=30, ard=False).fit(X, y).hyperparameters["length_scales"].shape == (1,)
    again = SparseGP(inducing_points=gp.inducing_points, fixed=found).fit(X, y)
    assert again.training is None
    np.testing.assert_allclose(again.predict(X), gp.predict(X), rtol=1e-9)


def test_ranges_and_priors_are_respected() -> None:
    X, y = data(100)
    held = SparseGP(inducing=30, ranges={"noise_variance": (0.25, 0.25)}).fit(X, y)
    assert held.hyperparameters["noise_variance"] == pytest.approx(0.25 * np.var(y), rel=1e-9)
    free = SparseGP(inducing=30).fit(X, y).hyperparameters["length_scales"]
    # A prior a thousand times narrower than it matters: the length scales go where it says.
    tight = SparseGP(inducing=30, priors={"length_scale": ("log_normal", np.log(0.2), 1e-3)}).fit(X, y)
    assert np.all(np.abs(np.log(tight.hyperparameters["length_scales"] / 0.2)) < 0.02)
    assert np.any(np.abs(np.log(free / 0.2)) > 0.1)


def test_observing_equals_fitting_with_the_same_hyperparameters() -> None:
    X, y = data(60)
    Z = X[:20]
    whole = SparseGP(inducing_points=Z, fixed=FIXED).fit(X, y)
    grown = SparseGP(inducing_points=Z, fixed=FIXED).fit(X[:50], y[:50])
    grown.observe(X[50], y[50]).observe(X[51:], y[51:])
    assert grown.n_observations == 60
    for a, b in zip(grown.predict(X, return_std=True), whole.predict(X, return_std=True), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-8)
    assert grown.log_evidence == pytest.approx(whole.log_evidence, rel=1e-8)


def test_an_update_is_taken_whole_or_not_at_all() -> None:
    X, y = data(60)
    gp = SparseGP(inducing=20).fit(X, y)
    before = copy.copy(gp)
    with pytest.raises(ArgumentError, match=r"y is 1e200; it must lie in"):
        gp.observe(X[:3], [1.0, 2.0, 1e200])
    assert gp.n_observations == 60 and same_bits(gp, before, X)


def test_samples_have_the_moments_of_the_process() -> None:
    X, y = data(60)
    gp = SparseGP(inducing=20).fit(X, y)
    Xs = np.array([[0.1, 0.2], [0.5, 0.5], [2.0, 2.0]])
    mean, sd = gp.predict(Xs, return_std=True)
    draws = gp.sample(Xs, 4000, seed=5)
    assert draws.shape == (4000, 3)
    # Five standard errors each.
    assert np.all(np.abs(draws.mean(axis=0) - mean) < 5 * sd / np.sqrt(4000))
    assert np.all(np.abs(draws.std(axis=0) / sd - 1) < 5 / np.sqrt(2 * 4000))
    assert np.array_equal(draws, gp.sample(Xs, 4000, seed=5))
    assert not np.array_equal(draws, gp.sample(Xs, 4000, seed=6))


def test_samples_beyond_all_memory_are_refused() -> None:
    gp = SparseGP().fit(*data(20))
    with pytest.raises(ArgumentError, match="X has 1000000 rows; what is joint"):
        gp.sample(np.zeros((1_000_000, 2)))
    with pytest.raises(ArgumentError, match=r"n is 1000000000000; it must be an integer in \[1, 500000000\]"):
        gp.sample(np.zeros((2, 2)), 10**12)


def test_a_large_prediction_has_the_bits_of_its_parts() -> None:
    X, y = data(200)
    gp = SparseGP(inducing=50).fit(X, y)
    Xs = np.random.default_rng(9).uniform(size=(5000, 2))
    mean, sd = gp.predict(Xs, return_std=True)
    assert np.array_equal(gp.predict(Xs), mean)
    for start in range(0, 5000, 1024):
        part = gp.predict(Xs[start : start + 1024], return_std=True)
        assert np.array_equal(part[0], mean[start : start + 1024])
        assert np.array_equal(part[1], sd[start : start + 1024])


# Arrays.


def read_only(X: np.ndarray) -> np.ndarray:
    X = X.copy()
    X.flags.writeable = False
    return X


def misaligned(X: np.ndarray) -> np.ndarray:
    packed = np.zeros(len(X), dtype=[("flag", "i1"), ("x", "f8", (X.shape[1],))])
    packed["x"] = X
    return packed["x"]


LAYOUTS = {
    "fortran": np.asfortranarray,
    "columns of a wider array": lambda X: np.hstack([X, X])[:, : X.shape[1]],
    "every other row": lambda X: np.repeat(X, 2, axis=0)[::2],
    "every other column": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "backwards": lambda X: X[::-1].copy()[::-1],
    "columns backwards": lambda X: X[:, ::-1].copy()[:, ::-1],
    "read-only": read_only,
    "misaligned": misaligned,
    "big-endian": lambda X: X.astype(">f8"),
    "objects": lambda X: X.astype(object),
    "list": lambda X: X.tolist(),
    "long double": lambda X: X.astype(np.longdouble),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_gives_the_same_bits(layout: str) -> None:
    X, y = data(80)
    change = LAYOUTS[layout]
    first = SparseGP(inducing=20).fit(X, y)
    second = SparseGP(inducing=20).fit(change(X), np.repeat(y, 2)[::2])
    assert same_bits(first, second, X)
    assert np.array_equal(second.predict(change(X)), first.predict(X))
    assert np.array_equal(second.sample(change(X), 2), first.sample(X, 2))
    assert same_bits(first.observe(X, y), second.observe(change(X), y), X)


@pytest.mark.parametrize("dtype", ["float32", "float16", "int64", "int8", "uint16", "bool"])
def test_numbers_of_other_types_are_converted(dtype: str) -> None:
    X = np.random.default_rng(3).integers(0, 2 if dtype == "bool" else 9, size=(50, 3)).astype(dtype)
    y = X.sum(axis=1).astype(dtype)
    first = SparseGP(inducing=20).fit(X, y)
    second = SparseGP(inducing=20).fit(X.astype("float64"), y.astype("float64"))
    assert same_bits(first, second, X.astype("float64"))


def test_float64_is_not_copied() -> None:
    wide = np.random.default_rng(4).uniform(size=(200_000, 4))
    y = np.ascontiguousarray(wide[:, 3])
    gp = SparseGP(inducing=5, fixed={**FIXED, "length_scales": 1.0})
    for X in (wide[:, :3], np.asfortranarray(wide[:, :3]), wide[::2, :3]):
        tracemalloc.start()
        gp.fit(X, y[: len(X)])
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 0.1 * X.nbytes, "numpy made a copy"


BAD_X = {
    "one axis": (np.zeros(10), r"X has shape \(10,\); it needs shape \(rows, columns\); .*reshape"),
    "three axes": (np.zeros((10, 1, 1)), r"X has shape \(10, 1, 1\)"),
    "a number": (3.0, r"X has shape \(\)"),
    "no rows": (np.zeros((0, 2)), r"X has shape \(0, 2\), which is empty"),
    "no columns": (np.zeros((10, 0)), r"X has shape \(10, 0\), which is empty"),
    "NaN": (np.full((10, 2), np.nan), r"X\[0, 0\] is NaN; every entry must be finite"),
    "infinite": (np.array([[1.0, 2.0]] * 7 + [[1.0, np.inf]] * 3), r"X\[7, 1\] is inf"),
    "too large": (np.full((10, 2), 1e200), r"X is 1e200"),
    "too large for float64": (np.full((10, 2), np.longdouble("1e400")), r"X\[0, 0\] is inf"),
    "text": (np.array([["a", "b"]] * 10), r"X has dtype <U1; it needs real numbers"),
    "complex": (np.zeros((10, 2), dtype=complex), r"X has dtype complex128"),
    "dates": (np.zeros((10, 2), dtype="datetime64[s]"), r"X has dtype datetime64"),
    "objects": (np.array([[1.0, None]] * 10, dtype=object), r"X\[0, 1\] is None; every entry must be a real number"),
    "numbers as text": (np.array([["1", 2.0]] * 10, dtype=object), r"X\[0, 0\] is '1'"),
    "huge integers": (np.array([[10**400, 1]] * 10, dtype=object), r"X has an entry that is no float64"),
    "ragged": ([[1.0, 2.0], [1.0]], r"X cannot be made an array"),
    "masked": (np.ma.masked_greater(np.arange(20.0).reshape(10, 2), 5), r"X has masked entries"),
    "None": (None, r"X\[\] is None|X has shape \(\)"),
}


@pytest.mark.parametrize("what", BAD_X)
def test_bad_inputs_are_refused_by_name(what: str) -> None:
    X, message = BAD_X[what]
    with pytest.raises(ArgumentError, match=message):
        SparseGP().fit(X, np.zeros(10))
    gp = SparseGP().fit(*data(10))
    for call in (gp.predict, gp.sample):
        with pytest.raises(ArgumentError, match="query points" if "too large" == what else message.split(r" it needs")[0]):
            call(X)


BAD_Y = {
    "short": (np.zeros(9), r"y has shape \(9,\); it needs shape \(10,\), one number for each row of X"),
    "a short column": (np.zeros((9, 1)), r"y has shape \(9, 1\); it needs shape \(10,\)"),
    "no column": (np.zeros((10, 0)), r"y has shape \(10, 0\)"),
    "a cube": (np.zeros((10, 2, 2)), r"y has shape \(10, 2, 2\)"),
    "empty": (np.zeros(0), r"y has shape \(0,\)"),
    "a number": (1.0, r"y has shape \(\)"),
    "NaN": (np.array([0.0] * 9 + [np.nan]), r"y\[9\] is NaN"),
    "infinite": (np.array([-np.inf] + [0.0] * 9), r"y\[0\] is -inf"),
    "text": (["a"] * 10, r"y has dtype <U1"),
    "objects": ([None] * 10, r"y\[0\] is None"),
}


@pytest.mark.parametrize("what", BAD_Y)
def test_bad_values_are_refused_by_name(what: str) -> None:
    y, message = BAD_Y[what]
    X, good = data(10)
    with pytest.raises(ArgumentError, match=message):
        SparseGP().fit(X, y)
    gp = SparseGP().fit(X, good)
    with pytest.raises(ArgumentError, match=message.replace("row of X", "row of x") if what != "a number" else "x has"):
        gp.observe(X if what != "a number" else np.zeros((3, 1)), y)


def test_queries_need_the_columns_that_were_fitted() -> None:
    gp = SparseGP().fit(*data(10))
    for call in (gp.predict, gp.sample):
        with pytest.raises(ArgumentError, match=r"X has shape \(4, 3\); it needs shape \(rows, 2\)"):
            call(np.zeros((4, 3)))
    with pytest.raises(ArgumentError, match=r"x has shape \(1, 3\); it needs shape \(rows, 2\)"):
        gp.observe([1.0, 2.0, 3.0], 1.0)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_rows_and_constant_columns_fit(n: int) -> None:
    for inducing_points in ("random_pivots", "greedy", "subset", "latin_hypercube"):
        X = np.column_stack([np.arange(n), np.full(n, 1e6), np.zeros(n)])
        gp = SparseGP(inducing_points=inducing_points).fit(X, np.full(n, 4.0))  # type: ignore[arg-type]
        mean, sd = gp.predict(X, return_std=True)
        np.testing.assert_allclose(mean, 4.0, atol=1e-6)
        assert np.all(np.isfinite(sd))
        assert len(gp.inducing_points) <= n


def test_a_sum_is_kept_and_is_what_a_dense_process_says() -> None:
    rng = np.random.default_rng(4)
    X = rng.uniform(size=(60, 2))
    y = np.sin(6 * X[:, 0]) + 2 * X[:, 1] ** 2 + 0.05 * rng.normal(size=60)
    gp = SparseGP("matern32+additive", inducing=60, inducing_points="subset").fit(X, y)
    found = gp.hyperparameters
    again = SparseGP("matern32+additive", inducing=60, inducing_points="subset", fixed=found).fit(X, y)
    query = rng.uniform(size=(7, 2))
    assert np.array_equal(gp.predict(query), pickle.loads(pickle.dumps(gp)).predict(query))
    np.testing.assert_allclose(again.predict(query), gp.predict(query), rtol=1e-9)

    def matern32(r):
        return (1 + np.sqrt(3) * r) * np.exp(-np.sqrt(3) * r)

    def covariance(A, B):
        apart = np.abs(A[:, None, :] - B[None, :, :])
        joint = matern32(np.sqrt(((apart / found["length_scales"]) ** 2).sum(-1)))
        terms = (found["term_weights"] * matern32(apart / found["term_length_scales"])).sum(-1)
        return found["signal_variance"] * (joint + terms) / (1 + found["term_weights"].sum())

    K = covariance(X, X) + found["noise_variance"] * np.eye(60)
    mean = found["mean"] + covariance(query, X) @ np.linalg.solve(K, y - found["mean"])
    np.testing.assert_allclose(gp.predict(query), mean, rtol=1e-5)
    with pytest.raises(ArgumentError, match="term_weights"):
        SparseGP("se+additive", fixed={"length_scales": 1.0, "signal_variance": 1.0, "noise_variance": 1.0})


def test_every_term_of_a_sum_is_what_a_dense_process_says() -> None:
    rng = np.random.default_rng(5)
    X = rng.uniform(size=(70, 3)) + [0.0, 10.0, -5.0]
    y = np.sin(6 * X[:, 0]) * X[:, 1] + 2 * X[:, 2] + 0.05 * rng.normal(size=70)
    kernel = "se+additive+pairs+constant+linear"
    gp = SparseGP(kernel, inducing=70, inducing_points="subset", mean=3.0).fit(X, y)
    found = gp.hyperparameters
    assert {"pair_weight", "constant_weight", "slope_variances", "slope_centre"} <= set(found)
    query = rng.uniform(size=(9, 3)) + [0.0, 10.0, -5.0]

    def covariance(A, B):
        apart = A[:, None, :] - B[None, :, :]
        joint = np.exp(-0.5 * ((apart / found["length_scales"]) ** 2).sum(-1))
        one = np.exp(-0.5 * (apart / found["term_length_scales"]) ** 2)
        pairs = one[..., 0] * one[..., 1] + one[..., 0] * one[..., 2] + one[..., 1] * one[..., 2]
        terms = (found["term_weights"] * one).sum(-1) + found["pair_weight"] * pairs / 3 + found["constant_weight"]
        total = 1 + found["term_weights"].sum() + found["pair_weight"] + found["constant_weight"]
        lines = ((A - found["slope_centre"]) * found["slope_variances"]) @ (B - found["slope_centre"]).T
        return found["signal_variance"] * ((joint + terms) / total + lines)

    K = covariance(X, X) + found["noise_variance"] * np.eye(70)
    cross = covariance(query, X)
    mean, sd = gp.predict(query, return_std=True)
    np.testing.assert_allclose(mean, 3.0 + cross @ np.linalg.solve(K, y - 3.0), rtol=1e-4)
    var = np.diag(covariance(query, query) - cross @ np.linalg.solve(K, cross.T))
    np.testing.assert_allclose(sd**2, var, rtol=1e-2, atol=1e-6 * found["signal_variance"])
    assert np.array_equal(mean, pickle.loads(pickle.dumps(gp)).predict(query))
    again = SparseGP(kernel, inducing=70, inducing_points="subset", fixed=found).fit(X, y)
    np.testing.assert_allclose(again.predict(query), mean, rtol=1e-6)


def test_a_linear_term_goes_on_as_a_line_beyond_the_data(tmp_path: Path) -> None:
    X = np.linspace(100, 101, 60).reshape(-1, 1)
    y = 7 + 30 * (X[:, 0] - 100) + 0.01 * np.sin(40 * X[:, 0])
    gp = SparseGP("matern32+linear", inducing=30).fit(X, y)
    np.testing.assert_allclose(gp.predict([[105.0], [95.0]]), [157, -143], rtol=0.01)
    gp.save(tmp_path / "line.tribo")
    assert np.array_equal(SparseGP.load(tmp_path / "line.tribo").predict([[105.0]]), gp.predict([[105.0]]))
    # Without it the process returns to its mean, however long its length scale.
    plain = SparseGP("matern32", inducing=30).fit(X, y)
    far, further = plain.predict([[1e6], [2e6]])
    assert far == further and abs(far - y.mean()) < 30
    assert gp.predict([[1e6]])[0] > 1e7


# Settings.

BAD_SETTINGS: dict[str, tuple[dict[str, Any], str]] = {
    "kernel": ({"kernel": "rbf"}, 'there is no kernel "rbf"; a kernel is matern12, matern32, matern52 or se'),
    "kernel twice": ({"kernel": "se+linear+linear"}, 'there is no kernel "se\\+linear\\+linear"'),
    "kernel type": ({"kernel": 3}, "kernel is 3"),
    "approximation": ({"approximation": "vfe"}, "approximation is 'vfe'; it must be one of 'sor', 'dtc', 'fic', 'pitc'"),
    "objective": ({"objective": "elbo"}, "objective is 'elbo'; it must be one of 'bound', 'marginal'"),
    "choice": ({"inducing_points": "kmeans"}, "inducing_points is 'kmeans'; it must be one of 'random_pivots'"),
    "points": ({"inducing_points": np.zeros(3)}, r"inducing_points has shape \(3,\)"),
    "no inducing": ({"inducing": 0}, r"inducing is 0; it must be an integer in \[1"),
    "too many inducing": ({"inducing": 10**9}, r"inducing is 1000000000; it must be an integer in \[1, 100000\]"),
    "too many points": ({"inducing_points": np.zeros((100_001, 1))}, "inducing_points has 100001 rows"),
    "half inducing": ({"inducing": 2.5}, "inducing is 2.5; it must be an integer"),
    "group": ({"approximation": "pitc", "group": 4096}, r"group is 4096; .* \[1, 1024\]"),
    "seed": ({"seed": -1}, "seed is -1"),
    "mean": ({"mean": np.nan}, "mean is nan; it must be finite"),
    "mean text": ({"mean": "zero"}, "mean is 'zero'; it must be a number"),
    "box elsewhere": ({"inducing_box": [(0, 1)]}, "inducing_box is for"),
    "box": ({"inducing_points": "latin_hypercube", "inducing_box": [(1, 0)]}, r"inducing_box\[0\] is \(1.0, 0.0\)"),
    "range key": ({"ranges": {"noise": (1, 2)}}, "a key of ranges is 'noise'; it must be one of 'length_scale'"),
    "range": ({"ranges": {"noise_variance": (0, 2)}}, r"ranges\['noise_variance'\] is \(0.0, 2.0\)"),
    "range triple": ({"ranges": {"noise_variance": (1, 2, 3)}}, "must be a pair"),
    "prior": ({"priors": {"noise_variance": ("normal", 0, 1)}}, "is 'normal'; it must be one of 'log_normal', 'gamma'"),
    "prior scale": ({"priors": {"length_scale": ("log_normal", 0, 0)}}, "must be positive"),
    "fixed key": ({"fixed": {"length_scales": 1.0}}, "fixed has no 'signal_variance'"),
    "fixed sign": ({"fixed": {**FIXED, "noise_variance": -1}}, r'fixed\["noise_variance"\] is -1; it must be positive'),
    "mean twice": ({"fixed": FIXED, "mean": 1.0}, "mean is given twice"),
}


@pytest.mark.parametrize("what", BAD_SETTINGS)
def test_bad_settings_are_refused_by_name(what: str) -> None:
    settings, message = BAD_SETTINGS[what]
    with pytest.raises(ArgumentError, match=message):
        SparseGP(**settings)


def test_settings_that_do_not_fit_the_data_are_refused_by_name() -> None:
    X, y = data(10)
    with pytest.raises(ArgumentError, match=r"inducing_points has shape \(4, 3\); it needs shape \(m, 2\)"):
        SparseGP(inducing_points=np.zeros((4, 3))).fit(X, y)
    with pytest.raises(ArgumentError, match=r"inducing_points\[1, 0\] is NaN"):
        SparseGP(inducing_points=[[0, 0], [np.nan, 1]]).fit(X, y)
    with pytest.raises(ArgumentError, match="inducing_box has 3 sides; it needs 2"):
        SparseGP(inducing_points="latin_hypercube", inducing_box=[(0, 1)] * 3).fit(X, y)
    with pytest.raises(ArgumentError, match=r'fixed\["length_scales"\] has 3 entries; it needs 1 or 2'):
        SparseGP(fixed={**FIXED, "length_scales": [1, 2, 3]}).fit(X, y)
    with pytest.raises(ArgumentError, match="progress is not callable"):
        SparseGP().fit(X, y, progress=3)  # type: ignore[arg-type]


@pytest.mark.parametrize("use", ["predict", "observe", "sample", "hyperparameters", "inducing_points", "log_evidence"])
def test_a_model_that_is_not_fitted_says_so(use: str) -> None:
    gp = SparseGP()
    with pytest.raises(ArgumentError, match=r"not fitted; call fit\(X, y\) first"):
        attribute = getattr(gp, use)
        attribute([[0.0]], [1.0]) if use == "observe" else attribute([[0.0]])
    assert "not fitted" in repr(gp)


# Copies, progress, threads, signals.


def test_pickles_and_copies_have_the_same_bits() -> None:
    X, y = data(100)
    for approximation in ("sor", "dtc", "fic", "pitc"):
        gp = SparseGP(inducing=30, approximation=approximation).fit(X, y)  # type: ignore[arg-type]
        gp.observe(X[:2], y[:2])
        for twin in (pickle.loads(pickle.dumps(gp)), copy.copy(gp), copy.deepcopy(gp)):
            assert same_bits(gp, twin, X)
            assert twin.training == gp.training and repr(twin) == repr(gp)
            before = gp.predict(X)
            twin.observe(X[5], 9.0)
            assert np.array_equal(gp.predict(X), before), "a copy changed the original"
            assert same_bits(pickle.loads(pickle.dumps(gp)).observe(X[5], 9.0), twin, X)
    assert "not fitted" in repr(pickle.loads(pickle.dumps(SparseGP())))


def test_damaged_pickles_are_refused() -> None:
    X, y = data(30)
    fitted = SparseGP(inducing=5).fit(X, y)._fitted
    assert fitted is not None
    restore, (state, searched) = fitted.__reduce__()  # type: ignore[misc]
    for key, value in [("lb", np.zeros((4, 4))), ("kernel", "rbf"), ("v_y", None), ("version", 2), ("sums", np.zeros(2))]:
        with pytest.raises(ArgumentError):
            restore({**state, key: value}, searched)
    with pytest.raises(ArgumentError, match="`luu` is missing"):
        restore({key: value for key, value in state.items() if key != "luu"}, searched)


def test_progress_is_told_and_may_end_a_fit() -> None:
    X, y = data(100)
    told: list[Any] = []
    gp = SparseGP(inducing=20).fit(X, y, progress=told.append)
    assert gp.training is not None
    assert [p.full_evaluations for p in told] == list(range(1, gp.training.full_evaluations + 1))
    assert told[-1].objective == gp.training.objective

    def stop(progress: Any) -> None:
        raise RuntimeError("enough")

    before = copy.copy(gp)
    with pytest.raises(RuntimeError, match="enough"):
        gp.fit(X[:50], y[:50], progress=stop)
    assert same_bits(gp, before, X)


def test_other_threads_run_during_a_fit() -> None:
    X, y = data(20_000)
    counted, done = 0, threading.Event()

    def count() -> None:
        nonlocal counted
        while not done.wait(0.001):
            counted += 1

    thread = threading.Thread(target=count)
    thread.start()
    before = counted
    SparseGP(inducing=200, fixed=FIXED, inducing_points="subset").fit(X, y)
    during = counted - before
    done.set()
    thread.join()
    # With the lock held it would be one or two.
    assert during > 10


def test_threads_may_share_a_model() -> None:
    X, y = data(300)
    gp = SparseGP(inducing=50).fit(X, y)
    expected = gp.predict(X)
    wrong: list[int] = []

    def use(number: int) -> None:
        twin = copy.copy(gp)
        twin.observe(X[number], 1.0)
        if not np.array_equal(gp.predict(X), expected):
            wrong.append(number)

    threads = [threading.Thread(target=use, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def fit_in_child(queue: Any) -> None:
    X, y = data(3000)
    queue.put(SparseGP(inducing=20, fixed=FIXED).fit(X, y).log_evidence)


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_fits_as_well() -> None:
    X, y = data(3000)
    expected = SparseGP(inducing=20, fixed=FIXED).fit(X, y).log_evidence
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=fit_in_child, args=(queue,))
    child.start()
    try:
        assert queue.get(timeout=60) == expected
    finally:
        child.join(10)
        child.kill()


INTERRUPTED = """
import sys, threading, time
import numpy as np
import tribo

stage = sys.argv[1]
X = np.random.default_rng(0).uniform(-1, 1, size=(1_000_000, 3))
y = X.sum(axis=1) ** 2
fixed = None
if stage in ("pass", "predict", "observe"):
    fixed = {"length_scales": 2.0, "signal_variance": 100.0, "noise_variance": 1e-4}
gp = tribo.SparseGP(inducing=300, inducing_points="subset", fixed=fixed)
if stage in ("predict", "observe"):
    gp.fit(X[:2000], y[:2000])
work = {"predict": lambda: gp.predict(X, return_std=True), "observe": lambda: gp.observe(X, y)}
work = work.get(stage, lambda: gp.fit(X, y))

main = threading.main_thread().ident
def announce():
    place, seen = None, 0
    while seen < 100:  # So long at one place: the compiled part.
        frame = sys._current_frames()[main]
        last, place = place, (frame.f_code.co_name, frame.f_lasti)
        seen = seen + 1 if place == last and place[0] in ("fit", "predict", "observe") else 0
        time.sleep(0.001)
    print("working", flush=True)

threading.Thread(target=announce, daemon=True).start()
try:
    work()
except KeyboardInterrupt:
    print("interrupted", flush=True)
else:
    print("finished", flush=True)
"""


@pytest.mark.parametrize("stage", ["search", "pass", "predict", "observe"])
def test_ctrl_c_ends_long_work_within_a_second(stage: str) -> None:
    child = subprocess.Popen([sys.executable, "-c", INTERRUPTED, stage], stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout is not None
        assert child.stdout.readline() == "working\n"
        started = time.monotonic()
        child.send_signal(signal.SIGINT)
        assert child.stdout.readline() == "interrupted\n"
        assert time.monotonic() - started < 1
        assert child.wait(timeout=10) == 0
    finally:
        child.kill()
        child.wait()


def test_the_examples_run() -> None:
    import tribo._gp

    outcome = doctest.testmod(tribo._gp)
    assert outcome.failed == 0 and outcome.attempted > 10


# Files.


def test_a_saved_process_is_the_same(tmp_path: Path) -> None:
    X, y = data(200)
    gp = SparseGP("matern52", 40).fit(X, y)
    gp.save(tmp_path / "model.tribo", inputs=["a", "b"], output="c")
    again = SparseGP.load(tmp_path / "model.tribo")
    assert same_bits(gp, again, X)
    assert repr(again) == repr(gp)
    assert same_bits(gp.observe([0.5, 0.5], 1.0), again.observe([0.5, 0.5], 1.0), X)
    with pytest.raises(ArgumentError, match="it needs 2 different names"):
        gp.save(tmp_path / "other.tribo", inputs=["a", "a"])
    with pytest.raises(ArgumentError, match="not fitted"):
        SparseGP().save(tmp_path / "other.tribo")
    assert [path.name for path in tmp_path.iterdir()] == ["model.tribo"]


def test_what_is_no_model_is_refused(tmp_path: Path) -> None:
    (tmp_path / "model.tribo").write_text("{}")
    with pytest.raises(ArgumentError, match="this is not a model of tribo's"):
        SparseGP.load(tmp_path / "model.tribo")
    with pytest.raises(StoreError, match="cannot read .*none.tribo"):
        SparseGP.load(tmp_path / "none.tribo")
