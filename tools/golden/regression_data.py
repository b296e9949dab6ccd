"""Seeded inputs of the regression cases.

Coordinates are multiples of 1/64 in [0, 1] and outputs have four decimals, so
they are short in the files. Divided by a power of two, the coordinates' squared
distances are exact in f64 even in the expanded form |x|^2 + |z|^2 - 2 x.z, which
GPflow uses; without that its Matern-1/2 would be wrong by 1e-8 at r = 0.
"""

import numpy as np


def inputs(seed, n, d):
    """n distinct rows in the unit cube."""
    rows = np.random.default_rng(seed).integers(0, 65, size=(n, d)) / 64.0
    assert len(np.unique(rows, axis=0)) == n
    return rows.tolist()


def outputs(seed, X):
    """A smooth function of the inputs with noise of standard deviation 0.2."""
    x = np.array(X)
    smooth = np.sin(5.0 * x[:, 0]) + np.cos(3.0 * x[:, 1]) * x[:, -1]
    noise = 0.2 * np.random.default_rng(seed).standard_normal(len(x))
    return np.round(smooth + noise, 4).tolist()
