# Branin's function from Python, with pictures: how fast the best value falls, and what the model believes in the end.
# Each `# %%` begins a cell, for editors that run such files as notebooks; as a program it runs from top to bottom:
#     pip install . matplotlib
#     python examples/python/branin.py
# It writes convergence.png and posterior.png into the current folder.

# %% The function: three minima of the same depth, 0.397887
import math

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import tribo

BOUNDS = [(-5, 10), (0, 15)]
SMALLEST = 0.39788735772973816
MINIMA = np.array([[-math.pi, 12.275], [math.pi, 2.275], [3 * math.pi, 2.475]])


def branin(x):
    t = x[1] - 5.1 / (4 * math.pi**2) * x[0] ** 2 + 5 / math.pi * x[0] - 6
    return t**2 + 10 * (1 - 1 / (8 * math.pi)) * math.cos(x[0]) + 10


# %% One run
result = tribo.minimize(branin, BOUNDS, evaluations=40)
print(result)
print(result.study.explanation)

# %% Convergence: ten seeds, against points drawn at random
EVALUATIONS = 40


def regret(strategy, seed):
    """How far the best value is from the optimum, after each evaluation."""
    run = tribo.minimize(branin, BOUNDS, evaluations=EVALUATIONS, seed=seed, strategy=strategy)
    return np.minimum.accumulate([trial.value for trial in run.trials]) - SMALLEST


# Brown and blue stay apart for readers who do not tell red from green.
figure, axes = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
after = np.arange(1, EVALUATIONS + 1)
for strategy, colour in [("random", "#b07d48"), ("auto", "#1f5f8b")]:
    low, median, high = np.quantile([regret(strategy, seed) for seed in range(10)], [0.25, 0.5, 0.75], axis=0)
    axes.fill_between(after, low, high, color=colour, alpha=0.2, linewidth=0)
    axes.plot(after, median, color=colour, label=f"{strategy}: median and quartiles of 10 seeds")
axes.set(yscale="log", xlabel="evaluations", ylabel="best value - optimum", xlim=(1, EVALUATIONS))
axes.grid(alpha=0.3)
axes.legend(frameon=False, loc="lower left")
figure.savefig("convergence.png", dpi=110)

# %% What the model believes: mean and standard deviation over the box, and where it looked
a, b = np.meshgrid(np.linspace(-5, 10, 121), np.linspace(0, 15, 121))
mean, sd = result.study.posterior(np.column_stack([a.ravel(), b.ravel()]))
asked = np.array([trial.x for trial in result.trials])

figure, panels = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained", sharey=True)
for axes, title, values in [(panels[0], "mean", mean), (panels[1], "standard deviation", sd)]:
    shown = axes.contourf(a, b, values.reshape(a.shape), levels=20, cmap="viridis")
    figure.colorbar(shown, ax=axes)
    axes.scatter(*asked.T, s=12, color="white", edgecolor="black", linewidth=0.5, label="evaluations")
    axes.scatter(*MINIMA.T, s=70, marker="+", color="red", label="minima")
    axes.set(title=title, xlabel="x[0]")
panels[0].set(ylabel="x[1]")
panels[0].legend(loc="upper right", fontsize="small")
figure.savefig("posterior.png", dpi=110)
