"""Stationary kernels in mpmath, from their definitions.

k(x, z) = signal_var * c(r),  r^2 = sum_i ((x_i - z_i) / l_i)^2,
    matern12  exp(-r)
    matern32  (1 + sqrt(3) r) exp(-sqrt(3) r)
    matern52  (1 + sqrt(5) r + 5 r^2 / 3) exp(-sqrt(5) r)
    se        exp(-r^2 / 2)
A single length scale is used for all dimensions.
"""

from mpmath import exp, mp, mpf, sqrt


def _matern12(r):
    return exp(-r)


def _matern32(r):
    a = sqrt(mpf(3)) * r
    return (1 + a) * exp(-a)


def _matern52(r):
    a = sqrt(mpf(5)) * r
    return (1 + a + a**2 / 3) * exp(-a)


def _se(r):
    return exp(-(r**2) / 2)


CORRELATION = {"matern12": _matern12, "matern32": _matern32, "matern52": _matern52, "se": _se}


def covariance(kernel, X, Z, length_scales, signal_var):
    """The matrix k(X, Z) [rows of X, rows of Z]; X, Z are lists of rows of floats."""
    correlation = CORRELATION[kernel]
    d = len(X[0])
    scales = list(length_scales) * d if len(length_scales) == 1 else list(length_scales)
    K = mp.matrix(len(X), len(Z))
    for i, x in enumerate(X):
        for j, z in enumerate(Z):
            r2 = sum(((mpf(x[k]) - mpf(z[k])) / scales[k]) ** 2 for k in range(d))
            K[i, j] = signal_var * correlation(sqrt(r2))
    return K
