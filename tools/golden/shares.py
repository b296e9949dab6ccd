"""Shares of the variance of two test functions over their boxes, input by input: first-order and total.

Hartmann-6 is a sum of products of functions of one input each, f = sum_k a_k prod_j g_kj(x_j), so that all that is needed is
E g_kj and E g_kj g_lj, integrals in one variable. Ishigami's are known in closed form [Ishigami and Homma 1990]. Both are
checked against brute force: pick-and-freeze estimates [Jansen 1999] from plain random numbers.
"""

import itertools

import numpy as np
from record import f64, provenance, vector, write
from scipy.integrate import quad

ALPHA = np.array([1.0, 1.2, 3.0, 3.2])
A = np.array(
    [
        [10, 3, 17, 3.5, 1.7, 8],
        [0.05, 10, 17, 0.1, 8, 14],
        [3, 3.5, 1.7, 10, 17, 8],
        [17, 8, 0.05, 10, 0.1, 14],
    ]
)
P = 1e-4 * np.array(
    [
        [1312, 1696, 5569, 124, 8283, 5886],
        [2329, 4135, 8307, 3736, 1004, 9991],
        [2348, 1451, 3522, 2883, 3047, 6650],
        [4047, 8828, 8732, 5743, 1091, 381],
    ]
)
POINTS = 4_000_000


def hartmann6(x):
    return -sum(a * np.exp(-(A[k] * (x - P[k]) ** 2).sum(axis=1)) for k, a in enumerate(ALPHA))


def ishigami(x):
    x = np.pi * (2 * x - 1)
    return np.sin(x[:, 0]) + 7 * np.sin(x[:, 1]) ** 2 + 0.1 * x[:, 2] ** 4 * np.sin(x[:, 0])


def hartmann6_shares():
    def g(k, j, x):
        return np.exp(-A[k, j] * (x - P[k, j]) ** 2)

    def integral(function):
        return quad(function, 0, 1, epsabs=1e-13, epsrel=1e-13, points=[0.25, 0.5, 0.75], limit=200)[0]

    one = np.array([[integral(lambda x: g(k, j, x)) for j in range(6)] for k in range(4)])
    two = np.zeros((4, 4, 6))
    for k, l, j in itertools.product(range(4), range(4), range(6)):
        two[k, l, j] = integral(lambda x: g(k, j, x) * g(l, j, x))
    product = one[:, None, :] * one[None, :, :]

    def second_moment(inputs):
        """E[E[f | these inputs]^2]."""
        known = np.where(np.isin(np.arange(6), inputs), two, product)
        return ALPHA @ known.prod(axis=2) @ ALPHA

    mean = second_moment([])
    variance = second_moment(range(6)) - mean
    first = [(second_moment([i]) - mean) / variance for i in range(6)]
    total = [1 - (second_moment([j for j in range(6) if j != i]) - mean) / variance for i in range(6)]
    return first, total, variance


def ishigami_shares(a=7.0, b=0.1):
    v1 = 0.5 * (1 + b * np.pi**4 / 5) ** 2
    v2 = a**2 / 8
    v13 = b**2 * np.pi**8 * (1 / 18 - 1 / 50)
    v = v1 + v2 + v13
    return [v1 / v, v2 / v, 0.0], [(v1 + v13) / v, v2 / v, v13 / v], v


def brute_force(function, dim, seed):
    rng = np.random.default_rng(seed)
    a, b = rng.random((POINTS, dim)), rng.random((POINTS, dim))
    f_a, f_b = function(a), function(b)
    variance = np.concatenate([f_a, f_b]).var()
    first, total = [], []
    for i in range(dim):
        mixed = a.copy()
        mixed[:, i] = b[:, i]
        f_ab = function(mixed)
        first.append(1 - ((f_b - f_ab) ** 2).mean() / 2 / variance)
        total.append(((f_a - f_ab) ** 2).mean() / 2 / variance)
    return first, total, variance


if __name__ == "__main__":
    content = {
        "provenance": provenance(
            "shares.py",
            ["numpy", "scipy"],
            "quadrature to 1e-13",
            "first_i = Var(E[f | x_i]) / Var f; total_i = 1 - Var(E[f | all but x_i]) / Var f; inputs uniform in the box",
            check=f"pick-and-freeze with {POINTS} random points to 0.003",
        )
    }
    cases = {"hartmann6": (hartmann6, hartmann6_shares()), "ishigami": (ishigami, ishigami_shares())}
    for name, (function, (first, total, variance)) in cases.items():
        dim = len(first)
        measured = brute_force(function, dim, seed=1)
        for exact, estimate in zip((first, total), measured):
            assert np.abs(np.subtract(exact, estimate)).max() < 3e-3, (name, exact, estimate)
        assert abs(measured[2] / variance - 1) < 3e-3, name
        content[name] = {"first": vector(map(float, first)), "total": vector(map(float, total)), "variance": f64(float(variance))}
        print(name, np.round(first, 4), np.round(total, 4), variance)
    write("shares.json", content)
