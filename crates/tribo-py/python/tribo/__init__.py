from tribo._core import ArgumentError, InternalError, StoreError, TrialError, TriboError, __version__
from tribo._gp import SparseGP

__all__ = ["ArgumentError", "InternalError", "SparseGP", "StoreError", "TrialError", "TriboError", "__version__"]
