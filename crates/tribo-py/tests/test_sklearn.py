"""`tribo.sklearn.SparseGPRegressor`: scikit-learn's own checks, and use in its pipelines."""

from __future__ import annotations

import doctest
import inspect
import pickle
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sklearn")

from sklearn.base import clone
from sklearn.datasets import make_friedman1
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import tribo
from tribo.sklearn import SparseGPRegressor


def test_parameters_and_defaults_are_those_of_the_process() -> None:
    # scikit-learn reads them from the signature, so they are written twice.
    def written(of: type) -> list[tuple[Any, ...]]:
        parameters = inspect.signature(of).parameters.values()
        return [(one.name, one.kind, one.default, one.annotation) for one in parameters]

    assert written(SparseGPRegressor) == written(tribo.SparseGP)


WEIGHTED = [
    "check_sample_weights_pandas_series",
    "check_sample_weights_not_an_array",
    "check_sample_weights_list",
    "check_sample_weights_shape",
    "check_sample_weights_not_overwritten",
    "check_sample_weight_equivalence_on_dense_data",
]


def expected_to_fail(estimator: Any) -> dict[str, str]:
    if estimator.approximation == "pitc":
        return dict.fromkeys(WEIGHTED, "PITC takes no weights, and says so")
    # To 1e-8 at fixed hyper-parameters: test_gp_rows.py.
    return {WEIGHTED[-1]: "two searches over rows in another order end within their tolerance, not at the same bits"}


@parametrize_with_checks(
    [
        SparseGPRegressor(),
        SparseGPRegressor("se", 10, approximation="pitc", objective="marginal", inducing_points="latin_hypercube"),
    ],
    expected_failed_checks=expected_to_fail,
)
def test_it_is_a_scikit_learn_estimator(estimator: Any, check: Any) -> None:
    check(estimator)


def friedman(n: int = 200) -> tuple[np.ndarray, np.ndarray]:
    X, y = make_friedman1(n_samples=n, noise=0.1, random_state=0)
    return X, y


def test_it_predicts_as_the_process_does() -> None:
    X, y = friedman()
    model = SparseGPRegressor(inducing=50).fit(X, y)
    gp = tribo.SparseGP(inducing=50).fit(X, y)
    mean, sd = model.predict(X, return_std=True)
    expected = gp.predict(X, return_std=True)
    assert np.array_equal(mean, expected[0]) and np.array_equal(sd, expected[1])
    assert np.array_equal(model.predict(X), mean)
    assert model.gp_.hyperparameters["length_scales"].shape == (10,)
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict(X), mean)


def test_it_works_in_pipelines_and_searches() -> None:
    X, y = friedman()
    pipeline = make_pipeline(StandardScaler(), SparseGPRegressor(inducing=50))
    assert cross_val_score(pipeline, X, y, cv=3).mean() > 0.8
    search = GridSearchCV(SparseGPRegressor(inducing=30), {"kernel": ["matern12", "matern52"]}, cv=3).fit(X, y)
    # The function is smooth.
    assert search.best_params_ == {"kernel": "matern52"}


def test_parameters_are_those_of_the_process() -> None:
    model = SparseGPRegressor(inducing=7, seed=3)
    assert clone(model).get_params() == model.get_params()
    with pytest.raises(tribo.ArgumentError, match='there is no kernel "rbf"; a kernel is matern12'):
        SparseGPRegressor(kernel="rbf").fit([[0.0], [1.0]], [0.0, 1.0])  # type: ignore[arg-type]


def test_data_frames_keep_their_names() -> None:
    pandas = pytest.importorskip("pandas")
    X, y = friedman(50)
    frame = pandas.DataFrame(X, columns=[f"x{k}" for k in range(10)])
    model = SparseGPRegressor().fit(frame, y)
    assert list(model.feature_names_in_) == list(frame.columns)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame.rename(columns={"x0": "other"}))


def test_the_examples_run() -> None:
    import tribo.sklearn

    outcome = doctest.testmod(tribo.sklearn)
    assert outcome.failed == 0 and outcome.attempted > 3


def test_intervals_with_noise_cover_measurements_and_those_without_do_not() -> None:
    X, y = make_friedman1(n_samples=3_000, noise=1.0, random_state=0)
    model = SparseGPRegressor("matern52", 100).fit(X[:2_000], y[:2_000])

    def covered(noise: bool) -> float:
        mean, sd = model.predict(X[2_000:], return_std=True, noise=noise)
        return float(np.mean(np.abs(y[2_000:] - mean) < 1.96 * sd))

    # Of 1,000 measurements 95 % have a standard error of 0.7 %.
    assert 0.92 < covered(noise=True) < 0.98
    assert covered(noise=False) < 0.6


def test_samples_come_as_scikit_learn_has_them() -> None:
    X, y = friedman()
    model = SparseGPRegressor(inducing=50).fit(X, y)
    samples = model.sample_y(X[:7], n_samples=3, random_state=5)
    assert samples.shape == (7, 3)
    assert np.array_equal(samples.T, model.gp_.sample(X[:7], 3, seed=5))
    assert not np.array_equal(samples, model.sample_y(X[:7], n_samples=3, random_state=6))
