"""Sparse Gaussian process regression."""

from __future__ import annotations

import copy
import operator
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypedDict, get_args, overload

import numpy as np
from numpy.typing import ArrayLike

from tribo._arrays import Floats, outputs, points, values
from tribo._core import ArgumentError, FittedGp, input_edges, kernel_terms
from tribo._words import counted

Approximation = Literal["sor", "dtc", "fic", "pitc"]
Objective = Literal["bound", "marginal"]
InducingPoints = Literal["random_pivots", "greedy", "subset", "latin_hypercube"]
Range = tuple[float, float]
Clip = float | Literal["strays"]
Prior = tuple[Literal["log_normal", "gamma"], float, float]

_SEARCHED = ("length_scale", "signal_variance", "noise_variance")
# Of the library: relative to the width of an input, and to the variance of y.
_RANGES: dict[str, Range] = {"length_scale": (1e-3, 1e2), "signal_variance": (1e-3, 1e5), "noise_variance": (1e-8, 1.0)}

# Hyper-parameters of a sum that are one number.
_SINGLE = ("pair_weight", "constant_weight")

# Matrices that memory cannot hold end the process, not the call: what is far beyond it is refused before.
_MOST_INDUCING = 100_000
_MOST_SAMPLED = 20_000
_MOST_NUMBERS = 10**9
_MOST_LABELS = 100


class _Terms(TypedDict, total=False):
    """What a fit of a sum finds as well."""

    term_length_scales: Floats
    term_weights: Floats
    pair_weight: float
    constant_weight: float
    slope_variances: Floats
    slope_centre: Floats


class Hyperparameters(_Terms):
    """What a fit finds."""

    length_scales: Floats
    signal_variance: float | Floats
    noise_variance: float | Floats
    mean: float | Floats


class FitProgress(NamedTuple):
    """Where a fit stands."""

    subset_evaluations: int
    full_evaluations: int
    objective: float


class Training(NamedTuple):
    """What the search for hyper-parameters did."""

    subset_evaluations: int
    full_evaluations: int
    objective: float
    converged: bool


class SparseGP:
    """A Gaussian process for any number of points: a fit costs n m² for n points and m inducing points.

    Parameters
    ----------
    kernel
        "matern12" (rough), "matern32", "matern52" or "se" (infinitely smooth): a kernel of all inputs. After it any of
        "+additive", a kernel of each input alone, "+pairs", the products of those of two inputs, for all pairs, "+constant" and
        "+linear", as in "matern32+additive+linear". A sum is for tables in which inputs mostly act by themselves, or which go
        on beyond the data as a line. It needs `ard`, and takes longer; "+pairs" needs two inputs, and "+constant" changes
        next to nothing where the mean is estimated.
    inducing
        Inducing points at most; never more than there are data. Accuracy and cost grow with it.
    ard
        One length scale for each input instead of one for all.
    approximation
        How the prior is approximated when predicting: "sor", "dtc", "fic" or "pitc".
    group
        Neighbours whose covariance "pitc" keeps exact, 1 to 1024.
    objective
        What the search for hyper-parameters maximises: "bound", the variational lower bound of the log evidence, or
        "marginal", the log evidence under the approximation.
    inducing_points
        Where they come from: "random_pivots" (data, drawn by how little the others explain them), "greedy" (data that the
        others explain least), "subset" (random data), "latin_hypercube" (spread over `inducing_box`), or an array with the
        points, one a row, which is used whole.
    inducing_box
        One (low, high) for each input, for "latin_hypercube"; by default 15 % wider than the data on every side.
    mean
        The constant that the process returns to far from all data; estimated by default.
    ranges
        Where to search: (low, high) under any of the keys "length_scale", as a part of the width of an input,
        "signal_variance" and "noise_variance", as a part of the variance of y. Equal ends hold a value.
    priors
        Under the same keys, in the units of the data: ("log_normal", location, scale) or ("gamma", shape, rate).
    fixed
        Hyper-parameters to use instead of a search: a dict as the attribute `hyperparameters` is one; "mean" may be left out.
    categories
        Columns of X whose numbers are labels without order, at most 100 different ones each. Such a column becomes one of
        zeros and ones for each label, in the order of the labels, after the other columns: two labels a and b are
        sqrt(1/l_a^2 + 1/l_b^2) apart, each with a length scale of its own if `ard`. A label that was not there in the fit is
        another one than all of them.
    clip_inputs
        Which entries at the ends of the columns of X are set to the next one inside, in fits and in predictions. For tables
        with impossible entries, which are far from everything: there a process says its mean, whatever the other columns
        say. "strays", the default, are at most 0.2 % of the rows at an end, beyond a hole of a third of the width of the
        column (that of the middle 98 % of its entries), whose y the other rows explain better if they are clipped; columns
        without strays, of fewer than 20 different entries or of fewer than 500 rows are left as they are, and so are labels.
        `clipped_inputs` says which columns were clipped, and where: outside of that the process says what it says at the
        edge, and as surely. A number is the part of the rows at each end of every column, such as 0.002; with 0 nothing is
        clipped.
    seed
        Of everything random in a fit. The same data and seed give the same bits.

    Examples
    --------
    >>> import numpy as np, tribo
    >>> X = np.linspace(0, 6, 200).reshape(-1, 1)
    >>> y = np.sin(X[:, 0])
    >>> gp = tribo.SparseGP(kernel="matern52", inducing=30).fit(X, y)
    >>> mean, sd = gp.predict([[1.5], [3.0]], return_std=True)
    >>> bool(np.all(np.abs(mean - np.sin([1.5, 3.0])) < 1e-3))
    True
    >>> sorted(gp.hyperparameters)
    ['length_scales', 'mean', 'noise_variance', 'signal_variance']
    """

    # What a SparseGP lacks that was pickled by a version without them.
    _categories: Sequence[int] = ()
    _clip_inputs: Clip = 0.0
    _columns: _Columns | None = None
    _outputs: list[SparseGP] | None = None

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
        self._kernel, terms = kernel, _kernel_terms(kernel)
        self._inducing = _integer("inducing", inducing, 1, _MOST_INDUCING)
        self._ard = bool(ard)
        self._approximation = _choice("approximation", approximation, get_args(Approximation))
        self._group = _integer("group", group, 1, 1024)
        self._objective = _choice("objective", objective, get_args(Objective))
        self._inducing_points: str | Floats
        if isinstance(inducing_points, str):
            self._inducing_points = _choice("inducing_points", inducing_points, get_args(InducingPoints))
        else:
            self._inducing_points = points("inducing_points", inducing_points).copy()
            if len(self._inducing_points) > _MOST_INDUCING:
                raise ArgumentError(f"inducing_points has {len(self._inducing_points)} rows; at most {_MOST_INDUCING} fit")
        self._inducing_box = None if inducing_box is None else _box(inducing_box)
        if inducing_box is not None and not _is(self._inducing_points, "latin_hypercube"):
            raise ArgumentError('inducing_box is for inducing_points="latin_hypercube"; leave it out, or ask for those')
        self._mean = None if mean is None else _number("mean", mean)
        self._ranges = _ranges(ranges)
        self._priors = _priors(priors)
        self._fixed = None if fixed is None else _fixed(fixed, terms)
        if fixed is not None and fixed.get("mean") is not None:
            if mean is not None:
                raise ArgumentError("mean is given twice, once in fixed; leave one out")
            self._mean = _number('fixed["mean"]', fixed["mean"])
        self._seed = _integer("seed", seed, 0, 2**64 - 1)
        self._categories = _categories(categories)
        if self._categories and not (isinstance(self._inducing_points, str) and inducing_points != "latin_hypercube"):
            raise ArgumentError("categories need inducing points out of the data; inducing_points names another rule")
        self._clip_inputs = _clip(clip_inputs)
        self._columns = None
        self._outputs = None
        self._fitted: FittedGp | None = None

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        progress: Callable[[FitProgress], object] | None = None,
        *,
        sample_weight: ArrayLike | None = None,
        noise_variance: ArrayLike | None = None,
    ) -> SparseGP:
        """Finds hyper-parameters and conditions on the rows of X, shape (n, d), and y, shape (n,) or (n, k). Returns self.

        The k columns of y are outputs at the same rows: k processes that share inducing points, length scales and the
        relation of noise to signal, and are independent given these. A fit costs one pass over all rows for all of them.
        Whatever is predicted then has one more axis at its end, the outputs. For outputs that want length scales of their
        own, fit each by itself.

        `sample_weight` says how often each row counts: a row of weight 2 is one that was given twice, one of weight 0 is left
        out. `noise_variance` is the variance of the measurement error of each row, or of all, where it is known; it is then
        not searched, and `hyperparameters["noise_variance"]` is its mean. Neither goes with "pitc".

        float64 is used where it is, in any layout; do not write to the arrays meanwhile. Other threads run, and Ctrl-C ends
        the fit, leaving the model as it was. `progress` is called after every evaluation of the objective, on another
        thread; what it raises ends the fit.

        >>> import tribo
        >>> gp = tribo.SparseGP().fit([[0.0], [1.0], [2.0]], [1.0, 2.0, 1.0])
        >>> gp.n_observations
        3
        """
        X = points("X", X)
        y = outputs("y", y, X.shape[0], "X")
        n_outputs = y.shape[1] if y.ndim == 2 else 1
        if n_outputs > 1:
            for name, given in (("sample_weight", sample_weight), ("noise_variance", noise_variance), ("fixed", self._fixed)):
                if given is not None:
                    raise ArgumentError(f"{name} is for one output and y has {n_outputs} columns; fit each by itself")
            if self._approximation == "pitc":
                raise ArgumentError(f'approximation="pitc" takes one output and y has {n_outputs} columns; choose "fic"')
        columns = _Columns.of(X, y if y.ndim == 1 else np.ascontiguousarray(y[:, 0]), self._categories, self._clip_inputs)
        if columns is not None:
            X = columns.changed("X", X)
        weights = noise = None
        if noise_variance is not None:
            noise = _positive("noise_variance", noise_variance, len(X), "X")
        if sample_weight is not None:
            weights = _positive("sample_weight", sample_weight, len(X), "X", zero=True)
            kept = weights > 0
            if not kept.any():
                raise ArgumentError("sample_weight is zero for every row; at least one row must count")
            if not kept.all():
                X, y, weights, noise = X[kept], y[kept], weights[kept], None if noise is None else noise[kept]
        for name, rows in (("sample_weight", weights), ("noise_variance", noise)):
            if rows is not None and self._approximation == "pitc":
                raise ArgumentError(f'{name} does not go with approximation="pitc"; choose "fic"')
        given = self._inducing_points
        if not isinstance(given, str) and given.shape[1] != X.shape[1]:
            raise ArgumentError(
                f"inducing_points has shape {given.shape}; it needs shape (m, {X.shape[1]}), the columns of X"
            )
        if self._inducing_box is not None and len(self._inducing_box) != X.shape[1]:
            raise ArgumentError(
                f"inducing_box has {len(self._inducing_box)} sides; it needs {X.shape[1]}, one for each column of X"
            )
        if self._fixed is not None and len(self._fixed[0]) not in (1, X.shape[1]):
            raise ArgumentError(
                f'fixed["length_scales"] has {len(self._fixed[0])} entries; it needs 1 or {X.shape[1]}, the columns of X'
            )
        if progress is not None and not callable(progress):
            raise ArgumentError("progress is not callable; give a function of one argument")
        processes = FittedGp.fit(
            X,
            [y] if y.ndim == 1 else [np.ascontiguousarray(column) for column in y.T],
            weights=weights,
            noise=noise,
            kernel=self._kernel,
            ard=self._ard,
            approximation=self._approximation,
            group=self._group,
            objective=self._objective,
            inducing=self._inducing,
            inducing_points=self._inducing_points,
            inducing_box=self._inducing_box,
            mean=self._mean,
            ranges=self._ranges,
            priors=self._priors,
            fixed=self._fixed,
            seed=self._seed,
            progress=None if progress is None else lambda *told: progress(FitProgress(*told)),
        )
        self._fitted, self._columns, self._outputs = processes[0], columns, None
        if y.ndim == 2:
            self._outputs = [self._one(process) for process in processes]
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
        """The mean at the rows of X, shape (q, d), and its standard deviation if asked for.

        Both are of the function itself, and intervals made of them do not cover measurements. With `noise=True` the deviation
        is that of a new measurement, and 95 % of those lie within 1.96; where new measurements have noise variances of their
        own, give these instead of True, one or one for each row. The mean alone is m times cheaper. Any number of rows: they
        are worked through in blocks, and nothing but the result is kept.

        With `return_cov=True` the second is the joint covariance of the rows, shape (q, q), not their deviations. Of k outputs
        the shapes are (q, k) and (q, q, k).

        >>> import tribo
        >>> gp = tribo.SparseGP().fit([[0.0], [1.0], [2.0]], [1.0, 2.0, 1.0])
        >>> mean, sd = gp.predict([[0.5], [9.0]], return_std=True)
        >>> bool(sd[0] < sd[1])
        True
        """
        if self._outputs is not None:
            return _stacked([each.predict(X, return_std, return_cov, noise=noise) for each in self._outputs])
        fitted = self._known()
        X = self._inputs("X", X)
        if return_cov and return_std:
            raise ArgumentError("return_std and return_cov are both asked for; the roots of the covariance's diagonal are the first")
        added = _noise_of_queries(noise, len(X), fitted.hyperparameters[2])
        if return_cov:
            _check_joint(len(X))
            mean, covariance = fitted.joint(X)
            covariance[np.diag_indices(len(X))] += added
            return mean, covariance
        mean, variance = fitted.predict(X, bool(return_std))
        if variance is None:
            return mean
        variance += added
        return mean, np.sqrt(variance, out=variance)

    def observe(self, x: ArrayLike, y: ArrayLike) -> SparseGP:
        """Takes in one result, a point and a number, or several, shapes (j, d) and (j,). Returns self.

        Of k outputs a result is k numbers, and several have shape (j, k).

        Exact, and m² a point: as if they had been there in a fit with the same hyper-parameters and inducing points. All of
        them are taken in, or none.

        >>> import tribo
        >>> gp = tribo.SparseGP().fit([[0.0], [1.0], [2.0]], [1.0, 2.0, 1.0])
        >>> gp.observe([3.0], 2.0).observe([[4.0], [5.0]], [1.0, 2.0]).n_observations
        6
        """
        if self._outputs is not None:
            rows = outputs("y", y if np.ndim(x) != 1 else [y], 1 if np.ndim(x) == 1 else len(np.asarray(x)), "x")
            if rows.shape[1:] != (len(self._outputs),):
                raise ArgumentError(
                    f"y has shape {np.shape(y)}; its last axis needs {len(self._outputs)} numbers, the outputs that were fitted"
                )
            x = np.asarray(x)[np.newaxis, :] if np.ndim(x) == 1 else x
            # All of them take it in, or none.
            taken = [self._one(each._known()).observe(x, column) for each, column in zip(self._outputs, rows.T, strict=True)]
            self._outputs, self._fitted = taken, taken[0]._fitted
            return self
        fitted = self._known()
        if np.ndim(y) == 0:
            if np.ndim(x) == 1:
                x = np.asarray(x)[np.newaxis, :]
            y = np.asarray(y)[np.newaxis]
        x = self._inputs("x", x)
        self._fitted = fitted.observe(x, values("y", y, x.shape[0], "x"))
        return self

    def sample(self, X: ArrayLike, n: int = 1, seed: int = 0) -> Floats:
        """`n` functions drawn from the process, at the rows of X, shape (q, d): shape (n, q), of k outputs (n, q, k).

        Outputs are drawn independently. The values of one draw are correlated as the process says. Costs q³ and q² memory.

        >>> import tribo
        >>> gp = tribo.SparseGP().fit([[0.0], [1.0], [2.0]], [1.0, 2.0, 1.0])
        >>> gp.sample([[0.5], [1.5], [2.5]], 10, seed=1).shape
        (10, 3)
        """
        if self._outputs is not None:
            seed = _integer("seed", seed, 0, 2**64 - 1)
            draws = [each.sample(X, n, (seed + k) % 2**64) for k, each in enumerate(self._outputs)]
            return np.stack(draws, axis=-1)
        fitted = self._known()
        X = self._inputs("X", X)
        _check_joint(len(X))
        n = _integer("n", n, 1, _MOST_NUMBERS // len(X))
        return fitted.sample(X, n, _integer("seed", seed, 0, 2**64 - 1))

    def fit_source(
        self,
        source: Any,
        *,
        inputs: Sequence[str] | None = None,
        output: str | None = None,
        skip_bad: bool = False,
        progress: Callable[[FitProgress], object] | None = None,
    ) -> SparseGP:
        """As `fit`, to rows that need not fit into memory. Returns self.

        `source` is the path of a table (.parquet, .npy, .csv, .jsonl), which is read anew in every pass; or rows that are
        read once and kept in a file of their own meanwhile: blocks (X, y) from an iterable or a function that returns one,
        anything with `__arrow_c_stream__` or `to_batches` (a pyarrow Table, RecordBatchReader or Dataset, a polars
        DataFrame). `inputs` and `output` name columns; by default all but the output, of a .npy file the last. Rows with a
        missing or non-finite number are refused, with the places of the first; `skip_bad=True` leaves them out. Ctrl-C ends
        it, leaving the model as it was.

        >>> import numpy as np, tribo
        >>> def blocks():
        ...     for start in range(0, 200, 50):
        ...         X = np.linspace(start, start + 49, 50).reshape(-1, 1) / 40
        ...         yield X, np.sin(X[:, 0])
        >>> gp = tribo.SparseGP(inducing=30).fit_source(blocks)
        >>> bool(abs(gp.predict([[1.5]])[0] - np.sin(1.5)) < 1e-3)
        True
        """
        from tribo import _source

        if self._categories:
            raise ArgumentError("categories is for arrays; leave it out to fit a source, with a column of its own for each label")
        if self._fixed is not None:
            raise ArgumentError("fixed is for arrays; leave it out to fit a source, or equal ends of ranges")
        if progress is not None and not callable(progress):
            raise ArgumentError("progress is not callable; give a function of one argument")
        given = self._inducing_points
        settings = {
            "kernel": self._kernel,
            "ard": self._ard,
            "approximation": self._approximation,
            "group": self._group,
            "objective": self._objective,
            "inducing": self._inducing,
            "inducing_points": given if isinstance(given, str) else given.tolist(),
            "inducing_box": self._inducing_box,
            "mean": self._mean,
            "ranges": self._ranges,
            "priors": self._priors,
            "seed": self._seed,
        }
        told = None if progress is None else lambda *told: progress(FitProgress(*told))
        part = None if isinstance(self._clip_inputs, str) else self._clip_inputs
        fitted, edges = _source.fit(source, settings, inputs, output, skip_bad, part, told)
        self._fitted, self._columns, self._outputs = fitted, _Columns.at(fitted.n_inputs, edges), None
        return self

    def save(
        self, path: str | os.PathLike[str], *, inputs: Sequence[str] | None = None, output: str = "y"
    ) -> None:
        """Writes the fitted process to a file, whole or not at all. `tribo predict` takes it, too.

        `inputs` and `output` are the names of columns for that; x0, x1, ... and y by default.

        >>> import os, tempfile, tribo
        >>> gp = tribo.SparseGP().fit([[0.0], [1.0], [2.0]], [1.0, 2.0, 1.0])
        >>> path = os.path.join(tempfile.mkdtemp(), "model.tribo")
        >>> gp.save(path)
        >>> bool(tribo.SparseGP.load(path).predict([[0.5]]) == gp.predict([[0.5]]))
        True
        """
        fitted = self._known()
        if self._outputs is not None:
            raise ArgumentError("the file is of one output; save each of `outputs`, or pickle this SparseGP")
        columns = self._columns
        if columns is not None and columns.seen:
            raise ArgumentError("the file has no place for categories; pickle this SparseGP instead")
        names = [f"x{k}" for k in range(fitted.n_inputs)] if inputs is None else [str(name) for name in inputs]
        if len(names) != fitted.n_inputs or len(set(names)) != len(names):
            raise ArgumentError(f"inputs is {names!r}; it needs {fitted.n_inputs} different names, one for each column of X")
        edges = None if columns is None else (columns.low.tolist(), columns.high.tolist())
        fitted.save(os.fspath(path), names, str(output), edges)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> SparseGP:
        """Reads a process that `save` or `tribo fit` wrote. It predicts, samples and takes in results as it did.

        Settings of the fit that are not part of the process are the defaults, should it be fitted again.
        """
        fitted, _, _, edges = FittedGp.load(os.fspath(path))
        gp = cls(fitted.kernel, len(fitted.inducing_points))
        gp._fitted, gp._columns = fitted, _Columns.at(fitted.n_inputs, edges)
        return gp

    @property
    def hyperparameters(self) -> Hyperparameters:
        """What was found: length_scales (one, or one for each input), signal_variance, noise_variance, mean; of several outputs
        the last three are arrays. Of a sum also term_length_scales and term_weights, the variances of the kernels of each input
        over that of the kernel of all inputs, pair_weight and constant_weight, the same of all pairs and of the constant;
        together they have the signal variance. Of a linear term slope_variances, those of its slopes over the signal variance,
        and slope_centre, where it is zero."""
        length_scales, signal, noise, mean = self._known().hyperparameters
        values: Hyperparameters
        if self._outputs is None:
            values = {"length_scales": length_scales, "signal_variance": signal, "noise_variance": noise, "mean": mean}
        else:
            found = [each._known().hyperparameters for each in self._outputs]
            signals, noises, means = (np.array([one[place] for one in found]) for place in (1, 2, 3))
            values = {"length_scales": length_scales, "signal_variance": signals, "noise_variance": noises, "mean": means}
        found_terms = self._known().terms.items()
        terms: Any = {name: float(value[0]) if name in _SINGLE else value for name, value in found_terms}
        values.update(terms)
        return values

    @property
    def clipped_inputs(self) -> dict[int, Range]:
        """The columns of X that are clipped, and their lowest and highest entries after that."""
        self._known()
        return {} if self._columns is None else self._columns.clipped()

    @property
    def inducing_points(self) -> Floats:
        """The inducing points in use, one a row."""
        return self._known().inducing_points

    @property
    def log_evidence(self) -> float:
        """Log marginal likelihood of all results so far, under the approximation; of several outputs the sum."""
        fitted = self._known()
        return fitted.log_evidence if self._outputs is None else sum(each.log_evidence for each in self._outputs)

    @property
    def outputs(self) -> list[SparseGP]:
        """A SparseGP for each column of y, with settings as here; itself alone where y had one dimension."""
        self._known()
        return [self] if self._outputs is None else list(self._outputs)

    @property
    def n_observations(self) -> int:
        """Number of results so far."""
        return self._known().n_observations

    @property
    def training(self) -> Training | None:
        """What the search did, its objective in nats a point; None where hyper-parameters were fixed."""
        searched = self._known().searched
        return None if searched is None else Training(*searched)

    def __repr__(self) -> str:
        state = "not fitted" if self._fitted is None else counted(self._fitted.n_observations, "result")
        return f"SparseGP(kernel={self._kernel!r}, inducing={self._inducing}, {state})"

    def _inputs(self, name: str, X: ArrayLike) -> Floats:
        """Points as the process takes them, with as many columns as were fitted."""
        if self._columns is None:
            return points(name, X, self._known().n_inputs)
        return self._columns.changed(name, points(name, X, self._columns.n))

    def _one(self, fitted: FittedGp) -> SparseGP:
        """This SparseGP with a process of one output."""
        one = copy.copy(self)
        one._fitted, one._outputs = fitted, None
        return one

    def _known(self) -> FittedGp:
        if self._fitted is None:
            raise ArgumentError("this SparseGP is not fitted; call fit(X, y) first")
        return self._fitted


def _stacked(answers: list[Any]) -> Floats | tuple[Floats, Floats]:
    """Answers of several outputs as one, the outputs last."""
    if isinstance(answers[0], tuple):
        means, second = (np.stack(parts, axis=-1) for parts in zip(*answers, strict=True))
        return means, second
    return np.stack(answers, axis=-1)


class _Columns(NamedTuple):
    """What a fit makes of the columns of X, and predictions after it: edges for numbers, and the labels that were seen."""

    n: int
    low: Floats
    high: Floats
    seen: dict[int, Floats]

    @staticmethod
    def of(X: Floats, y: Floats, categories: Sequence[int], clip: Clip) -> _Columns | None:
        """None if the columns stay as they are."""
        seen = {}
        for column in categories:
            if column >= X.shape[1]:
                raise ArgumentError(f"categories names column {column}; X has {X.shape[1]}, and the first is 0")
            seen[column] = np.unique(X[:, column])
            if len(seen[column]) > _MOST_LABELS:
                raise ArgumentError(
                    f"categories: column {column} of X has {len(seen[column])} different entries; at most {_MOST_LABELS} labels fit"
                )
        numbers = [column for column in range(X.shape[1]) if column not in seen]
        edges = None
        if numbers and clip != 0:
            edges = input_edges(X[:, numbers] if seen else X, y, None if isinstance(clip, str) else clip)
        if edges is None and not seen:
            return None
        low, high = (np.full(len(numbers), -np.inf), np.full(len(numbers), np.inf)) if edges is None else map(np.array, edges)
        return _Columns(X.shape[1], low, high, seen)

    @staticmethod
    def at(n: int, edges: tuple[list[float], list[float]] | None) -> _Columns | None:
        """Those of a process whose `n` columns end at edges, if there are any."""
        return None if edges is None else _Columns(n, np.array(edges[0]), np.array(edges[1]), {})

    def clipped(self) -> dict[int, Range]:
        numbers = [column for column in range(self.n) if column not in self.seen]
        ends = zip(numbers, self.low.tolist(), self.high.tolist(), strict=True)
        return {column: (low, high) for column, low, high in ends if np.isfinite(low) or np.isfinite(high)}

    def changed(self, name: str, X: Floats) -> Floats:
        """The columns of numbers, clipped, then one of zeros and ones for each label."""
        numbers = X[:, [column for column in range(self.n) if column not in self.seen]]
        # What is not finite stays, to be refused with its place.
        parts = [np.where(np.isfinite(numbers), np.clip(numbers, self.low, self.high), numbers)]
        for column, labels in self.seen.items():
            if not np.isfinite(X[:, column]).all():
                raise ArgumentError(f"{name} has an entry in column {column} that is not finite; a label is a number")
            parts.append((X[:, column, np.newaxis] == labels).astype(np.float64))
        return np.hstack(parts)


def _clip(value: Any) -> Clip:
    if isinstance(value, str):
        _choice("clip_inputs", value, ("strays",))
        return "strays"
    part = _number("clip_inputs", value)
    if not 0 <= part < 0.5:
        raise ArgumentError(f'clip_inputs is {value!r}; it must be "strays" or a part of the rows in [0, 0.5)')
    return part


def _categories(value: Any) -> list[int]:
    try:
        columns = [_integer(f"categories[{place}]", column, 0) for place, column in enumerate(value)]
    except TypeError:
        raise ArgumentError(f"categories is {value!r}; it must be a list of columns of X") from None
    if len(set(columns)) < len(columns):
        raise ArgumentError(f"categories is {value!r}; every column must be named once")
    return sorted(columns)


def _check_joint(rows: int) -> None:
    if rows > _MOST_SAMPLED:
        raise ArgumentError(f"X has {rows} rows; what is joint costs their square in memory, at most {_MOST_SAMPLED} fit")


def _noise_of_queries(noise: Any, rows: int, fitted: float) -> float | Floats:
    """Noise variance of measurements at the queries: none, that of the fit, or as given."""
    if noise is False or noise is True or isinstance(noise, np.bool_):
        return fitted if noise else 0.0
    return _positive("noise", noise, rows, "X", zero=True)


def _positive(name: str, value: Any, rows: int, of: str, zero: bool = False) -> Floats:
    """One positive number for each row of the argument `of`, or one for all."""
    if np.ndim(value) == 0:
        array = np.full(rows, _number(name, value))
    else:
        array = values(name, value, rows, of)
    wrong = ~((array > 0) | (zero & (array == 0)))
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ArgumentError(f"{name}[{row}] is {array[row]}; every entry must be {'at least 0' if zero else 'positive'}")
    return array


def _is(value: str | Floats, name: str) -> bool:
    return isinstance(value, str) and value == name


def _choice(name: str, value: object, known: tuple[str, ...]) -> str:
    if value not in known or not isinstance(value, str):
        raise ArgumentError(f"{name} is {value!r}; it must be one of {', '.join(map(repr, known))}")
    return value


def _integer(name: str, value: Any, low: int, high: int = 2**63 - 1) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise ArgumentError(f"{name} is {value!r}; it must be an integer") from None
    if not low <= number <= high:
        raise ArgumentError(f"{name} is {number}; it must be an integer in [{low}, {high}]")
    return number


def _number(name: str, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise ArgumentError(f"{name} is {value!r}; it must be a number") from None
    if not np.isfinite(number):
        raise ArgumentError(f"{name} is {number}; it must be finite")
    return number


def _pair(name: str, value: Any) -> Range:
    try:
        low, high = value
    except (TypeError, ValueError):
        raise ArgumentError(f"{name} is {value!r}; it must be a pair (low, high)") from None
    return _number(name, low), _number(name, high)


def _box(value: Any) -> list[Range]:
    try:
        sides = [_pair(f"inducing_box[{index}]", side) for index, side in enumerate(value)]
    except TypeError:
        raise ArgumentError(f"inducing_box is {value!r}; it must be a list of pairs (low, high)") from None
    for index, (low, high) in enumerate(sides):
        if low >= high:
            raise ArgumentError(f"inducing_box[{index}] is ({low}, {high}); low must be below high")
    return sides


def _keys(name: str, value: Any, known: tuple[str, ...]) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise ArgumentError(f"{name} is {value!r}; it must be a dict with keys out of {', '.join(map(repr, known))}")
    for key in value:
        _choice(f"a key of {name}", key, known)
    return value


def _ranges(value: Mapping[str, Range] | None) -> list[Range]:
    given = _keys("ranges", {} if value is None else value, _SEARCHED)
    ranges = []
    for key in _SEARCHED:
        low, high = _pair(f"ranges[{key!r}]", given.get(key, _RANGES[key]))
        if not 0 < low <= high:
            raise ArgumentError(f"ranges[{key!r}] is ({low}, {high}); it needs 0 < low <= high")
        ranges.append((low, high))
    return ranges


def _priors(value: Mapping[str, Prior] | None) -> list[tuple[str, float, float] | None]:
    given = _keys("priors", {} if value is None else value, _SEARCHED)
    priors: list[tuple[str, float, float] | None] = []
    for key in _SEARCHED:
        name, prior = f"priors[{key!r}]", given.get(key)
        if prior is None:
            priors.append(None)
            continue
        try:
            law, first, second = prior
        except (TypeError, ValueError):
            raise ArgumentError(
                f'{name} is {prior!r}; it must be ("log_normal", location, scale) or ("gamma", shape, rate)'
            ) from None
        law = _choice(f"{name}[0]", law, ("log_normal", "gamma"))
        first, second = _number(f"{name}[1]", first), _number(f"{name}[2]", second)
        if second <= 0 or (law == "gamma" and first <= 0):
            raise ArgumentError(f"{name} is {prior!r}; a scale, a shape and a rate must be positive")
        priors.append((law, first, second))
    return priors


def _kernel_terms(kernel: Any) -> list[str]:
    if not isinstance(kernel, str):
        raise ArgumentError(f"kernel is {kernel!r}; it must be a name, such as 'matern32'")
    return kernel_terms(kernel)


def _fixed(value: Mapping[str, Any], of_terms: list[str]) -> tuple[list[float], float, float, dict[str, list[float]]]:
    needed = ("length_scales", "signal_variance", "noise_variance", *of_terms)
    given = _keys("fixed", value, (*needed, "mean"))
    for key in needed:
        if key not in given:
            raise ArgumentError(f"fixed has no {key!r}; it needs {', '.join(map(repr, needed))}")
    numbers = {
        key: [_number(f'fixed["{key}"]', number) for number in np.atleast_1d(np.asarray(given[key])).ravel()]
        for key in needed
    }
    scales = numbers.pop("length_scales")
    for key, found in (("length_scales", scales), *numbers.items()):
        expected = 1 if key in ("signal_variance", "noise_variance", *_SINGLE) else len(scales)
        if not found or (key != "slope_centre" and min(found) <= 0):
            raise ArgumentError(f'fixed["{key}"] is {given[key]!r}; it must be positive')
        if len(found) != expected:
            raise ArgumentError(f'fixed["{key}"] has {len(found)} entries; it needs {expected}, one for each length scale')
    (signal,), (noise,) = numbers.pop("signal_variance"), numbers.pop("noise_variance")
    return scales, signal, noise, numbers
