from collections.abc import Callable, Mapping, Sequence
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "__version__",
    "TriboError",
    "ArgumentError",
    "TrialError",
    "StoreError",
    "InternalError",
    "FittedGp",
]

__version__: str

class TriboError(Exception): ...
class ArgumentError(TriboError, ValueError): ...
class TrialError(TriboError, ValueError): ...
class StoreError(TriboError, OSError): ...
class InternalError(TriboError, RuntimeError): ...

# Sparse Gaussian processes.

@final
class FittedGp:
    @staticmethod
    def fit(
        x: NDArray[np.float64],
        y: NDArray[np.float64],
        *,
        kernel: str,
        ard: bool,
        approximation: str,
        group: int,
        objective: str,
        inducing: int,
        inducing_points: str | NDArray[np.float64],
        inducing_box: Sequence[tuple[float, float]] | None,
        mean: float | None,
        ranges: Sequence[tuple[float, float]],
        priors: Sequence[tuple[str, float, float] | None],
        fixed: tuple[Sequence[float], float, float] | None,
        seed: int,
        progress: Callable[[int, int, float], object] | None,
    ) -> FittedGp: ...
    @staticmethod
    def restore(state: Mapping[str, Any], searched: tuple[int, int, float, bool] | None) -> FittedGp: ...
    def predict(
        self, x: NDArray[np.float64], variance: bool
    ) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]: ...
    def observe(self, x: NDArray[np.float64], y: NDArray[np.float64]) -> FittedGp: ...
    def sample(self, x: NDArray[np.float64], n: int, seed: int) -> NDArray[np.float64]: ...
    @property
    def hyperparameters(self) -> tuple[NDArray[np.float64], float, float, float]: ...
    @property
    def inducing_points(self) -> NDArray[np.float64]: ...
    @property
    def log_evidence(self) -> float: ...
    @property
    def n_observations(self) -> int: ...
    @property
    def n_inputs(self) -> int: ...
    @property
    def searched(self) -> tuple[int, int, float, bool] | None: ...
