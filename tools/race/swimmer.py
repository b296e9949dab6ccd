"""MuJoCo's Swimmer, steered by a linear policy: 16 weights in [-1, 1], minus the return of 300 steps from a fixed start.

Deterministic and rugged. The instance is the seed of the start. From the packages `gymnasium` and `mujoco`.
"""

from .problems import Problem
from .space import box

NAMES = ["swimmer"]
INPUTS = 16
FIXED = {"swimmer": 16}
EVALUATIONS = 200

N_STEPS = 300


def make(name, inputs, instance):
    import gymnasium
    import numpy as np

    environment = gymnasium.make("Swimmer-v5")
    low, high = environment.action_space.low, environment.action_space.high

    def cost(point):
        weights = np.reshape(point, (2, 8))
        state, _ = environment.reset(seed=instance)
        total = 0.0
        for _ in range(N_STEPS):
            state, reward, *_ = environment.step(np.clip(weights @ state, low, high))
            total += reward
        return -float(total)

    return Problem(box(16, -1.0, 1.0), cost)
