"""Bayesian optimisation that scales in data, dimension and workers."""

from tribo._core import ArgumentError, InternalError, StoreError, TriboError, TrialError, __version__
from tribo._space import Categorical, Float, Int
from tribo._study import Study, Trial

__all__ = [
    "ArgumentError",
    "Categorical",
    "Float",
    "Int",
    "InternalError",
    "StoreError",
    "Study",
    "Trial",
    "TrialError",
    "TriboError",
    "__version__",
]
