"""The constants of embed/tests.rs: how often the gaussian embedding stays within the cube.

Given z, a coordinate of A z / d is normal with variance |z|^2 / d^2, so with z uniform in
[-sqrt d, sqrt d]^d
    P(|A z / d| <= h) = E erf(h d / (sqrt 2 |z|)).
Prints d, then the probability and the standard error of its integration for h = 1, sqrt d, 1/d.
"""

import numpy as np
from scipy.special import erf
from scipy.stats import qmc

REPLICATES, POINTS = 8, 2**18


def probability(d, h):
    means = []
    for seed in range(REPLICATES):
        u = qmc.Sobol(d, rng=seed, bits=40).random(POINTS)
        z = (2 * u - 1) * np.sqrt(d)
        means.append(erf(h * d / np.sqrt(2) / np.linalg.norm(z, axis=1)).mean())
    return np.mean(means), np.std(means) / np.sqrt(REPLICATES)


if __name__ == "__main__":
    for d in (1, 2, 3, 5, 10):
        values = [probability(d, h) for h in (1.0, np.sqrt(d), 1.0 / d)]
        print(d, *(f"{mean:.6f} ({error:.0e})" for mean, error in values))
