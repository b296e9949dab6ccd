"""Two functions that need no package, for a first look at the tool where `ioh` is not installed; no part of BBOB."""

import random

from .problems import Problem
from .space import box

NAMES = ["bowl", "valley"]
INPUTS = 2
FIXED = {}
EVALUATIONS = 20


def make(name, inputs, instance):
    generator = random.Random(f"{name} {inputs} {instance}")
    shift = [generator.uniform(-3.0, 3.0) for _ in range(inputs)]

    def bowl(point):
        return sum((x - s) ** 2 for x, s in zip(point, shift))

    def valley(point):
        z = [x - s + 1.0 for x, s in zip(point, shift)]
        return sum(100.0 * (b - a * a) ** 2 + (1.0 - a) ** 2 for a, b in zip(z, z[1:]))

    return Problem(box(inputs, -5.0, 5.0), {"bowl": bowl, "valley": valley}[name], optimum=0.0)
