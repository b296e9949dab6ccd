"""A path among obstacles: 30 way points, 60 inputs in [0, 1].

The way points and two fixed ends control a cubic B-spline in the unit square. Its cost is its length, and 20 times the
length that lies inside one of 15 discs, which the instance places. Most of the square is free, a disc sits in the middle.
"""

from .problems import Problem
from .space import box

NAMES = ["path"]
INPUTS = 60
FIXED = {"path": 60}
EVALUATIONS = 200


def make(name, inputs, instance):
    import numpy as np
    from scipy.interpolate import BSpline

    generator = np.random.default_rng([instance, 77])
    centres, radii = generator.uniform(0.1, 0.9, (15, 2)), generator.uniform(0.04, 0.1, 15)
    centres[0], radii[0] = (0.5, 0.5), 0.15
    knots = np.concatenate([np.zeros(3), np.linspace(0.0, 1.0, 30), np.ones(3)])
    times = np.linspace(0.0, 1.0, 400)

    def cost(point):
        control = np.vstack([[0.05, 0.05], np.reshape(point, (30, 2)), [0.95, 0.95]])
        curve = BSpline(knots, control, 3)(times)
        steps = np.linalg.norm(np.diff(curve, axis=0), axis=1)
        distances = np.linalg.norm(curve[1:, None] - centres, axis=2)
        return float(steps.sum() + 20.0 * steps[(distances < radii).any(axis=1)].sum())

    return Problem(box(60, 0.0, 1.0), cost)
