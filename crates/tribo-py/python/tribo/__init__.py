"""Bayesian optimisation that scales in data, dimension and workers."""

from tribo._core import ArgumentError, InternalError, StoreError, TriboError, TrialError, __version__
from tribo._crew import EvaluationError
from tribo._minimize import Result, maximize, minimize
from tribo._space import Categorical, Float, Int
from tribo._study import Study, Trial

__all__ = [
    "ArgumentError",
    "Categorical",
    "EvaluationError",
    "Float",
    "Int",
    "InternalError",
    "Result",
    "StoreError",
    "Study",
    "Trial",
    "TrialError",
    "TriboError",
    "__version__",
    "maximize",
    "minimize",
]
