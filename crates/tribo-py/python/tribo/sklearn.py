"""tribo's sparse Gaussian process as a scikit-learn regressor: in pipelines, grid searches and cross-validation.

Needs scikit-learn, which tribo itself does not: `pip install tribo[sklearn]`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from tribo._arrays import Floats
from tribo._gp import Approximation, Clip, InducingPoints, Objective, Prior, Range, SparseGP

__all__ = ["SparseGPRegressor"]


class SparseGPRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Sparse Gaussian process regression for any number of rows.

    The parameters are those of `tribo.SparseGP`, and are checked by `fit`, as scikit-learn wants it. After `fit`, `gp_` is
    the fitted `tribo.SparseGP`, with its hyper-parameters, samples and updates.

    Examples
    --------
    >>> from sklearn.datasets import make_friedman1
    >>> from tribo.sklearn import SparseGPRegressor
    >>> X, y = make_friedman1(n_samples=300, noise=0.1, random_state=0)
    >>> model = SparseGPRegressor(kernel="matern52", inducing=100).fit(X[:200], y[:200])
    >>> bool(model.score(X[200:], y[200:]) > 0.95)
    True
    >>> mean, sd = model.predict(X[200:], return_std=True)
    """

    # The parameters of SparseGP once more: scikit-learn reads them from this signature and sets them by name. A test holds
    # the two lists together.
    def __init__(
        self,
        kernel: str = "matern32",
        inducing: int = 300,
        *,
        ard: bool = True,
        approximation: Approximation = "fic",
        group: int = 32,
        objective: Objective = "bound",
        inducing_points: InducingPoints | ArrayLike = "random_pivots",
        inducing_box: Sequence[tuple[float, float]] | None = None,
        mean: float | None = None,
        ranges: Mapping[str, Range] | None = None,
        priors: Mapping[str, Prior] | None = None,
        fixed: Mapping[str, Any] | None = None,
        categories: Sequence[int] = (),
        clip_inputs: Clip = "strays",
        seed: int = 0,
    ) -> None:
        self.kernel = kernel
        self.inducing = inducing
        self.ard = ard
        self.approximation = approximation
        self.group = group
        self.objective = objective
        self.inducing_points = inducing_points
        self.inducing_box = inducing_box
        self.mean = mean
        self.ranges = ranges
        self.priors = priors
        self.fixed = fixed
        self.categories = categories
        self.clip_inputs = clip_inputs
        self.seed = seed

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        noise_variance: ArrayLike | None = None,
    ) -> SparseGPRegressor:
        """Fits to the rows of X, shape (n, d), and y, shape (n,), or (n, k) for k outputs that share their length scales. Returns
        self.

        `sample_weight` says how often each row counts, `noise_variance` is the known variance of its measurement error; see
        `tribo.SparseGP.fit`.
        """
        X, y = validate_data(self, X, y, dtype="float64", y_numeric=True, multi_output=self.approximation != "pitc")
        if sample_weight is not None:
            sample_weight = check_array(sample_weight, ensure_2d=False, dtype="float64", input_name="sample_weight")
        gp = SparseGP(**self.get_params(deep=False))
        self.gp_ = gp.fit(X, y, sample_weight=sample_weight, noise_variance=noise_variance)
        return self

    @overload
    def predict(
        self,
        X: ArrayLike,
        return_std: Literal[False] = False,
        return_cov: Literal[False] = False,
        *,
        noise: bool | ArrayLike = False,
    ) -> Floats: ...
    @overload
    def predict(
        self, X: ArrayLike, return_std: Literal[True], return_cov: bool = False, *, noise: bool | ArrayLike = False
    ) -> tuple[Floats, Floats]: ...
    @overload
    def predict(
        self, X: ArrayLike, return_std: bool = False, *, return_cov: Literal[True], noise: bool | ArrayLike = False
    ) -> tuple[Floats, Floats]: ...
    @overload
    def predict(
        self, X: ArrayLike, return_std: bool, return_cov: bool = False, *, noise: bool | ArrayLike = False
    ) -> Floats | tuple[Floats, Floats]: ...
    def predict(
        self, X: ArrayLike, return_std: bool = False, return_cov: bool = False, *, noise: bool | ArrayLike = False
    ) -> Floats | tuple[Floats, Floats]:
        """The mean at the rows of X, and its standard deviation, or the joint covariance of the rows, if asked for.

        Without `noise` the deviation is that of the function itself, as in scikit-learn's own process, and intervals made of
        it do not cover measurements. With `noise=True` it is that of a new measurement, and 95 % of those lie within 1.96.
        Noise variances of the new measurements, one or one for each row, may stand instead of True.
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype="float64", reset=False)
        return self.gp_.predict(X, return_std, return_cov, noise=noise)

    def sample_y(self, X: ArrayLike, n_samples: int = 1, random_state: int = 0) -> Floats:
        """Functions drawn from the process, at the rows of X: shape (rows, n_samples), of several outputs (rows, outputs,
        n_samples), as scikit-learn's process has it.

        Without noise. `random_state` is an integer; the same one gives the same draws.
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype="float64", reset=False)
        return np.moveaxis(self.gp_.sample(X, n_samples, random_state), 0, -1)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = self.approximation != "pitc"
        return tags
