"""Problems whose evaluations fail.

beam           w h for w in 5..100 and h in 5..200, not allowed where 1e6 / (w h^2) > 200. The optimum is on that edge, at
               w = 5, w h^2 = 5000: sqrt(5000 w) = 158.11.
branin-lost    Branin; 20 % of the evaluations fail by accident, and are told as accidents.
branin-failed  The same, told as plain failures.
branin         The same without accidents; 32 of its evaluations are as many successes as 40 with them bring on the mean.
disc-beside    A bowl with ripples in the unit cube. A ball that has 30 % of the cube fails, the optimum is beside it.
disc-edge      A round bowl whose lowest point is inside the ball; the lowest allowed value is on the ball's edge.
"""

import math

from .problems import Failure, Problem
from .space import Real, box

NAMES = ["beam", "branin-lost", "branin-failed", "branin", "disc-beside", "disc-edge"]
INPUTS = 2
FIXED = {"beam": 2, "branin-lost": 2, "branin-failed": 2, "branin": 2}
EVALUATIONS = 100

# The share of the cube that fails.
SHARE = 0.3


def make(name, inputs, instance):
    if name == "beam":
        return Problem([Real("w", 5.0, 100.0), Real("h", 5.0, 200.0)], beam, optimum=math.sqrt(25000.0))
    if name.startswith("branin"):
        space = [Real("x0", -5.0, 10.0), Real("x1", 0.0, 15.0)]
        _, _, told = name.partition("-")
        return Problem(space, branin, optimum=0.39788735772973816, accidents=0.2 if told else 0.0, accidents_told=told)
    return (disc_beside if name == "disc-beside" else disc_edge)(inputs, instance)


def beam(point):
    w, h = point
    if 1e6 / (w * h * h) > 200.0:
        raise Failure("infeasible")
    return w * h


def branin(point):
    x, y = point
    a = y - 5.1 / (4.0 * math.pi**2) * x * x + 5.0 / math.pi * x - 6.0
    return a * a + 10.0 * (1.0 - 1.0 / (8.0 * math.pi)) * math.cos(x) + 10.0


def ball(inputs, instance, reach):
    """Centre and radius of the failing ball, and a direction: centre + (radius + reach) x direction is inside the cube."""
    import numpy as np

    generator = np.random.default_rng([instance, inputs, 30])
    centre = generator.uniform(0.35, 0.65, inputs)
    # The ball leaves the cube when there are many inputs; so its radius is that of the share, by counting points.
    radius = float(np.quantile(np.linalg.norm(generator.random((100_000, inputs)) - centre, axis=1), SHARE))
    while True:
        direction = generator.normal(size=inputs)
        direction /= np.linalg.norm(direction)
        if np.all(np.abs(centre + (radius + reach) * direction - 0.5) < 0.47):
            return centre, radius, direction


def disc_beside(inputs, instance):
    import numpy as np

    centre, radius, direction = ball(inputs, instance, 0.05)
    lowest = centre + (radius + 0.05) * direction
    weights = np.logspace(0.0, 1.0, inputs)

    def value(point):
        away = np.asarray(point) - lowest
        if np.linalg.norm(point - centre) < radius:
            raise Failure("failed")
        return float(weights @ away**2 + 0.1 * np.sum(1.0 - np.cos(4.0 * math.pi * away)))

    return Problem(box(inputs, 0.0, 1.0), value, optimum=0.0)


def disc_edge(inputs, instance):
    import numpy as np

    centre, radius, direction = ball(inputs, instance, 0.0)
    lowest = centre + 0.6 * radius * direction

    def value(point):
        if np.linalg.norm(point - centre) < radius:
            raise Failure("failed")
        return float(np.sum((np.asarray(point) - lowest) ** 2))

    # Of the sphere's points the one in the same direction is nearest.
    return Problem(box(inputs, 0.0, 1.0), value, optimum=float((0.4 * radius) ** 2))
