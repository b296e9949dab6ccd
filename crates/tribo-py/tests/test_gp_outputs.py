"""`tribo.SparseGP` with several outputs at the same rows."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

from tribo import ArgumentError, SparseGP


def data(n: int = 300) -> tuple[np.ndarray, np.ndarray]:
    draws = np.random.default_rng(21)
    X = draws.uniform(size=(n, 2))
    first = 100 + 7 * np.sin(5 * X[:, 0]) + X[:, 1]
    second = 1e-3 * np.cos(4 * X[:, 0] + X[:, 1])
    return X, np.column_stack([first, second]) + np.array([0.1, 1e-5]) * draws.normal(size=(n, 2))


def test_outputs_share_inducing_points_and_length_scales() -> None:
    X, y = data()
    gp = SparseGP(inducing=40).fit(X[:250], y[:250])
    mean, sd = gp.predict(X[250:], return_std=True, noise=True)
    assert mean.shape == sd.shape == (50, 2)
    assert np.array_equal(gp.predict(X[250:]), mean)
    assert (np.sqrt(np.mean((mean - y[250:]) ** 2, axis=0)) < [0.2, 2e-5]).all()
    assert 0.85 < np.mean(np.abs(mean - y[250:]) < 1.96 * sd) <= 1
    found = gp.hyperparameters
    assert found["length_scales"].shape == (2,)
    for key in ("signal_variance", "noise_variance", "mean"):
        assert np.shape(found[key]) == (2,)
    first, second = gp.outputs
    assert np.array_equal(first.inducing_points, second.inducing_points)
    assert np.array_equal(first.hyperparameters["length_scales"], second.hyperparameters["length_scales"])
    assert gp.log_evidence == first.log_evidence + second.log_evidence
    assert gp.n_observations == 250
    # An output is the process that one gets with what was found.
    fixed = {key: np.take(value, 1) if key != "length_scales" else value for key, value in found.items()}
    alone = SparseGP(inducing_points=gp.inducing_points, fixed=fixed).fit(X[:250], y[:250, 1])
    assert np.allclose(alone.predict(X[250:]), mean[:, 1], rtol=1e-6)
    mean, covariance = gp.predict(X[:5], return_cov=True)
    assert covariance.shape == (5, 5, 2)
    assert np.array_equal(covariance[..., 1], second.predict(X[:5], return_cov=True)[1])
    assert gp.sample(X[:7], 3).shape == (3, 7, 2)


def test_one_column_is_one_output() -> None:
    X, y = data()
    column, plain = SparseGP(inducing=20).fit(X, y[:, :1]), SparseGP(inducing=20).fit(X, y[:, 0])
    assert np.array_equal(column.predict(X)[:, 0], plain.predict(X))
    assert plain.outputs == [plain] and len(column.outputs) == 1


def test_results_are_taken_in_by_all_outputs() -> None:
    X, y = data()
    gp = SparseGP(inducing=40).fit(X[:200], y[:200])
    kept = gp.outputs
    gp.observe(X[200], y[200]).observe(X[201:210], y[201:210])
    assert gp.n_observations == 210 and kept[0].n_observations == 200
    expected = [each.observe(X[200:210], y[200:210, k]).predict(X[:9]) for k, each in enumerate(kept)]
    assert np.array_equal(gp.predict(X[:9]), np.column_stack(expected))
    for wrong in (1.0, [1.0], [1.0, 2.0, 3.0]):
        with pytest.raises(ArgumentError, match="y has shape"):
            gp.observe(X[0], wrong)


def test_several_outputs_are_pickled_and_each_is_saved(tmp_path: Path) -> None:
    X, y = data()
    gp = SparseGP(inducing=20).fit(X, y)
    assert np.array_equal(pickle.loads(pickle.dumps(gp)).predict(X), gp.predict(X))
    with pytest.raises(ArgumentError, match="save each of"):
        gp.save(tmp_path / "all.tribo")
    gp.outputs[1].save(tmp_path / "second.tribo")
    assert np.array_equal(SparseGP.load(tmp_path / "second.tribo").predict(X), gp.predict(X)[:, 1])
    # A fit to one output forgets them.
    assert gp.fit(X, y[:, 0]).predict(X).shape == (300,)


def test_what_is_for_one_output_is_refused() -> None:
    X, y = data(50)
    fixed = {"length_scales": 1.0, "signal_variance": 1.0, "noise_variance": 0.1}
    for gp, settings, word in [
        (SparseGP(), {"sample_weight": np.ones(50)}, "sample_weight is for one output"),
        (SparseGP(), {"noise_variance": 1.0}, "noise_variance is for one output"),
        (SparseGP(fixed=fixed), {}, "fixed is for one output"),
        (SparseGP(approximation="pitc"), {}, "takes one output"),
    ]:
        with pytest.raises(ArgumentError, match=word):
            gp.fit(X, y, **settings)
    with pytest.raises(ArgumentError, match=r"y has shape \(49, 2\)"):
        SparseGP().fit(X, y[1:])
    y[3, 1] = np.nan
    with pytest.raises(ArgumentError, match=r"column 1 of y\[3\] is"):
        SparseGP().fit(X, y)
