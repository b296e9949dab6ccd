"""Bayesian optimisation that scales in data, dimension and workers."""

from typing import TYPE_CHECKING, Any

from tribo._core import ArgumentError, InternalError, StoreError, TriboError, TrialError, __version__
from tribo._crew import EvaluationError
from tribo._minimize import Result, maximize, minimize
from tribo._space import Categorical, Float, Int
from tribo._study import Recommended, Study, Trial

if TYPE_CHECKING:
    from tribo._gp import SparseGP
    from tribo._insight import ActiveInput, Finding, Insight
    from tribo._plot import Picture

__all__ = [
    "ActiveInput",
    "ArgumentError",
    "Categorical",
    "EvaluationError",
    "Finding",
    "Float",
    "Insight",
    "Int",
    "InternalError",
    "Picture",
    "Recommended",
    "Result",
    "SparseGP",
    "StoreError",
    "Study",
    "Trial",
    "TrialError",
    "TriboError",
    "__version__",
    "maximize",
    "minimize",
]


def __getattr__(name: str) -> Any:
    # It needs numpy at once, which takes longer to import than all of tribo.
    if name == "SparseGP":
        from tribo._gp import SparseGP

        return SparseGP
    # Seldom needed, and three classes more to make.
    if name in ("ActiveInput", "Finding", "Insight"):
        from tribo import _insight

        return getattr(_insight, name)
    if name == "Picture":
        from tribo._plot import Picture

        return Picture
    raise AttributeError(f"module 'tribo' has no attribute {name!r}")
