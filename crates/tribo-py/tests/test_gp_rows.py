"""`tribo.SparseGP`: weights and noise of rows, joint covariances, labels."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tribo import ArgumentError, SparseGP

FIXED = {"length_scales": [0.4, 0.7], "signal_variance": 1.3, "noise_variance": 0.02, "mean": 0.5}


def data(n: int = 40, seed: int = 11) -> tuple[np.ndarray, np.ndarray]:
    draws = np.random.default_rng(seed)
    X = draws.uniform(size=(n, 2))
    return X, np.sin(5 * X[:, 0]) + X[:, 1] + 0.1 * draws.normal(size=n) + 2


def squared_exponential(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    r = (((A[:, None, :] - B[None, :, :]) / FIXED["length_scales"]) ** 2).sum(axis=2)
    return FIXED["signal_variance"] * np.exp(-0.5 * r)


def exact(X: np.ndarray, **arguments: Any) -> SparseGP:
    """The process whose inducing points are the data, at fixed hyper-parameters."""
    return SparseGP("se", inducing_points=X, fixed=FIXED, **arguments)


def test_noise_of_each_row_is_that_of_the_dense_formula() -> None:
    X, y = data()
    Xs, _ = data(6, 12)
    noise = np.linspace(0.01, 0.5, len(y))
    mean, cov = exact(X).fit(X, y, noise_variance=noise).predict(Xs, return_cov=True)
    C, cross = squared_exponential(X, X) + np.diag(noise), squared_exponential(Xs, X)
    # The jitter of 1e-10, magnified by the condition of C, about 1e4.
    assert np.allclose(mean, 0.5 + cross @ np.linalg.solve(C, y - 0.5), atol=1e-6)
    assert np.allclose(cov, squared_exponential(Xs, Xs) - cross @ np.linalg.solve(C, cross.T), atol=1e-6)


def test_known_noise_is_not_searched() -> None:
    X, y = data(200)
    gp = SparseGP(inducing=50).fit(X, y, noise_variance=0.01)
    assert gp.hyperparameters["noise_variance"] == pytest.approx(0.01, rel=1e-12)
    noise = np.where(np.arange(200) % 2, 0.01, 0.03)
    assert SparseGP(inducing=50).fit(X, y, noise_variance=noise).hyperparameters["noise_variance"] == pytest.approx(0.02)


def test_weight_two_is_a_row_given_twice() -> None:
    X, y = data()
    Xs, _ = data(6, 12)
    weights = 1 + np.arange(len(y)) % 3
    gp = SparseGP("se", inducing_points=X[:10], fixed=FIXED)
    mean, sd = gp.fit(X, y, sample_weight=weights).predict(Xs, return_std=True)
    n, evidence = gp.n_observations, gp.log_evidence
    expected = gp.fit(np.repeat(X, weights, axis=0), np.repeat(y, weights)).predict(Xs, return_std=True)
    assert np.allclose(mean, expected[0], rtol=1e-8) and np.allclose(sd, expected[1], rtol=1e-8)
    assert n == gp.n_observations == weights.sum() and evidence == pytest.approx(gp.log_evidence, rel=1e-9)
    # A row of weight zero is not there.
    weights[::4] = 0
    left = weights > 0
    mean = gp.fit(X, y, sample_weight=weights).predict(Xs)
    assert np.array_equal(mean, gp.fit(X[left], y[left], sample_weight=weights[left]).predict(Xs))


def test_what_is_joint_has_the_deviations_on_its_diagonal() -> None:
    X, y = data()
    Xs, _ = data(6, 12)
    gp = SparseGP(inducing=20).fit(X, y)
    mean, sd = gp.predict(Xs, return_std=True)
    joint_mean, cov = gp.predict(Xs, return_cov=True)
    assert np.allclose(joint_mean, mean, rtol=1e-12) and np.allclose(np.diag(cov), sd**2, atol=1e-9)
    assert np.array_equal(cov, cov.T) and np.abs(cov - np.diag(np.diag(cov))).max() > 1e-4
    measured = gp.predict(Xs, return_cov=True, noise=True)[1]
    assert np.allclose(measured - cov, gp.hyperparameters["noise_variance"] * np.eye(6), atol=1e-12)
    given = np.linspace(0.0, 0.5, 6)
    assert np.allclose(gp.predict(Xs, return_std=True, noise=given)[1] ** 2, sd**2 + given)
    assert np.allclose(gp.predict(Xs, return_std=True, noise=0.25)[1] ** 2, sd**2 + 0.25)


def test_numbers_of_rows_that_mean_nothing_are_refused() -> None:
    X, y = data()
    ones = np.ones(len(y))
    for name in ("sample_weight", "noise_variance"):
        for value, words in [
            (-ones, rf"{name}\[0\] is -1.0"),
            (ones[1:], rf"{name} has shape \(39,\)"),
            (ones * np.nan, rf"{name}\[0\] is nan"),
            ("many", name),
        ]:
            with pytest.raises(ArgumentError, match=words):
                SparseGP().fit(X, y, **{name: value})
        with pytest.raises(ArgumentError, match=f'{name} does not go with approximation="pitc"'):
            SparseGP(approximation="pitc").fit(X, y, **{name: ones})
    with pytest.raises(ArgumentError, match="sample_weight is zero for every row"):
        SparseGP().fit(X, y, sample_weight=0 * ones)
    with pytest.raises(ArgumentError, match=r"noise_variance\[0\] is 0.0"):
        SparseGP().fit(X, y, noise_variance=0.0)
    gp = SparseGP(inducing=10).fit(X, y)
    with pytest.raises(ArgumentError, match=r"noise\[0\] is -1.0"):
        gp.predict(X, return_std=True, noise=-1.0)
    with pytest.raises(ArgumentError, match="both asked for"):
        gp.predict(X, True, True)
    with pytest.raises(ArgumentError, match="X has 30000 rows"):
        gp.predict(np.zeros((30_000, 2)), return_cov=True)


def test_labels_have_no_order() -> None:
    draws = np.random.default_rng(13)
    X = np.column_stack([draws.integers(0, 6, 600), draws.uniform(size=600)])
    height = np.array([0.0, 3.0, -2.0, 1.0, 4.0, -3.0])
    y = height[X[:, 0].astype(int)] + np.sin(4 * X[:, 1]) + 0.05 * draws.normal(size=600)
    gp = SparseGP(inducing=100, categories=[0]).fit(X[:500], y[:500])
    assert gp.hyperparameters["length_scales"].shape == (7,)
    labelled = np.sqrt(np.mean((gp.predict(X[500:]) - y[500:]) ** 2))
    assert labelled < 0.08, labelled
    # Other numbers for the same labels, in the same order, are the same process; so is its pickle.
    codes = np.array([-7.0, 0.5, 10.0, 11.0, 12.0, 1e6])
    renamed = X.copy()
    renamed[:, 0] = codes[X[:, 0].astype(int)]
    other = SparseGP(inducing=100, categories=[0]).fit(renamed[:500], y[:500])
    assert np.array_equal(other.predict(renamed[500:]), gp.predict(X[500:]))
    assert np.array_equal(pickle.loads(pickle.dumps(other)).predict(renamed[500:]), gp.predict(X[500:]))
    # What has not been seen is uncertain.
    known, unknown = gp.predict([[1.0, 0.5], [77.0, 0.5]], return_std=True)[1]
    assert unknown > 3 * known
    assert gp.observe([77.0, 0.5], 9.0).sample([[77.0, 0.5]], 2).shape == (2, 1)


def test_columns_of_labels_are_checked() -> None:
    X, y = data(200)
    for value, words in [([2], "column 2; X has 2"), ([0, 0], "named once"), (0, "must be a list"), (["a"], r"categories\[0\]")]:
        with pytest.raises(ArgumentError, match=words):
            SparseGP(categories=value).fit(X, y)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="200 different entries"):
        SparseGP(categories=[0]).fit(X, y)
    with pytest.raises(ArgumentError, match="out of the data"):
        SparseGP(categories=[0], inducing_points="latin_hypercube")
    X[:, 0] = np.arange(200) % 3
    gp = SparseGP(inducing=20, categories=[0]).fit(X, y)
    with pytest.raises(ArgumentError, match="not finite"):
        gp.predict([[np.nan, 0.0]])
    with pytest.raises(ArgumentError, match=r"shape \(rows, 2\)"):
        gp.predict([[1.0]])
    with pytest.raises(ArgumentError, match="pickle this"):
        gp.save("nowhere")


def test_a_pickle_without_the_new_arguments_is_read() -> None:
    X, y = data()
    gp = SparseGP(inducing=10).fit(X, y)
    for name in ("_columns", "_categories", "_clip_inputs"):
        del gp.__dict__[name]
    again = pickle.loads(pickle.dumps(gp))
    assert np.array_equal(again.predict(X), SparseGP(inducing=10).fit(X, y).predict(X))
    assert np.array_equal(again.fit(X, y).predict(X), again.predict(X))


def test_clipped_inputs_end_at_the_edge() -> None:
    X, y = data(400)
    X[:2, 0] = [-40.0, 900.0]
    gp = SparseGP(inducing=50, clip_inputs=0.01).fit(X, y)
    low, high = np.sort(X[:, 0])[[3, 395]]
    assert gp.predict([[-1e9, 0.5]]) == gp.predict([[low, 0.5]]) != gp.predict([[low + 0.01, 0.5]])
    assert gp.predict([[900.0, 0.5]]) == gp.predict([[high, 0.5]]) != gp.predict([[high - 0.01, 0.5]])
    # As if those entries had been the edges.
    clipped = np.clip(X, np.sort(X, axis=0)[3], np.sort(X, axis=0)[395])
    assert np.array_equal(gp.predict(clipped), SparseGP(inducing=50, clip_inputs=0).fit(clipped, y).predict(clipped))
    with pytest.raises(ArgumentError, match=r"X\[0, 0\] is inf"):
        gp.predict([[np.inf, 0.5]])
    for value in (-0.1, 0.5, np.nan, "a"):
        with pytest.raises(ArgumentError, match="clip_inputs"):
            SparseGP(clip_inputs=value)  # type: ignore[arg-type]


def test_strays_are_clipped_where_other_columns_tell_and_clean_columns_are_not(tmp_path: Path) -> None:
    draws = np.random.default_rng(4)
    true = draws.normal(size=1500)
    X = np.column_stack([true + 0.5 * draws.normal(size=1500), draws.uniform(size=1500), true])
    y = np.sin(2 * true) + X[:, 1] + 0.05 * draws.normal(size=1500)
    clean = SparseGP(inducing=50).fit(X, y)
    assert clean.clipped_inputs == {}
    assert np.array_equal(clean.predict(X), SparseGP(inducing=50, clip_inputs=0).fit(X, y).predict(X))
    wrong = X.copy()
    wrong[[5, 700], 0] = [600.0, 710.0]
    kept = np.delete(X[:, 0], [5, 700])
    low, high = kept.min(), kept.max()
    gp = SparseGP(inducing=50).fit(wrong, y)
    assert gp.clipped_inputs == {0: (low, high)}
    assert gp.predict([[-99.0, 0.5, 0.1]]) == gp.predict([[low, 0.5, 0.1]])
    assert SparseGP(inducing=50, clip_inputs=0).fit(wrong, y).clipped_inputs == {}
    # Where no other column tells, nothing is clipped: far away the process does not know.
    alone = SparseGP(inducing=50).fit(wrong[:, :2], 2 * X[:, 0] + X[:, 1])
    assert alone.clipped_inputs == {}
    # The file has the edges, and so has a fit to rows that are read.
    gp.save(tmp_path / "model.tribo")
    loaded = SparseGP.load(tmp_path / "model.tribo")
    assert loaded.clipped_inputs == gp.clipped_inputs
    assert np.array_equal(loaded.predict(wrong), gp.predict(wrong))
    streamed = SparseGP(inducing=50).fit_source([(wrong[:800], y[:800]), (wrong[800:], y[800:])])
    assert streamed.clipped_inputs == gp.clipped_inputs
    assert np.array_equal(pickle.loads(pickle.dumps(streamed)).predict(wrong), streamed.predict(wrong))
    with pytest.raises(ArgumentError, match="categories is for arrays"):
        SparseGP(categories=[0]).fit_source([(wrong, y)])
