"""Two methods made of BoTorch's parts: its plain Bayesian optimisation, and TuRBO-1.

Both search in the unit cube. Values are turned around, as BoTorch maximises.
"""

import math
import warnings

from .methods import Method
from .space import from_cube, n_coordinates, to_cube


class Botorch(Method):
    """`SingleTaskGP` with its prior scaled by the dimension, `LogExpectedImprovement`, restarts as in its tutorials.

    It is told that values have no noise, where they have none: with noise to be found it takes twice as long and ends
    higher (BBOB's f1 with 5 inputs after 60 evaluations: a gap of 0.013, told 0.002).
    Under noise `qLogNoisyExpectedImprovement`, and the point with the lowest posterior mean of those measured.
    """

    def start(self):
        import torch

        self.torch = torch
        torch.set_num_threads(1)
        torch.manual_seed(self.seed)
        warnings.filterwarnings("ignore")
        self.dimension = n_coordinates(self.space)
        self.x, self.y = [], []
        self.model = None
        self.design = self.sobol()

    def sobol(self):
        """The first points, twice as many as inputs."""
        n_points = max(5, 2 * self.dimension)
        engine = self.torch.quasirandom.SobolEngine(self.dimension, scramble=True, seed=self.seed)
        return engine.draw(n_points, dtype=self.torch.double).tolist()

    def learn(self, point, value):
        self.x.append(to_cube(self.space, point))
        self.y.append(-value)
        self.model = None

    def data(self):
        x = self.torch.tensor(self.x, dtype=self.torch.double)
        y = self.torch.tensor(self.y, dtype=self.torch.double).unsqueeze(-1)
        return x, y

    def fit(self):
        from botorch.fit import fit_gpytorch_mll
        from botorch.models import SingleTaskGP
        from gpytorch.mlls import ExactMarginalLogLikelihood

        if self.model is None:
            x, y = self.data()
            known = None if self.is_noisy else self.torch.full_like(y, 1e-6) * y.var().clamp_min(1e-12)
            self.model = SingleTaskGP(x, y, train_Yvar=known)
            fit_gpytorch_mll(ExactMarginalLogLikelihood(self.model.likelihood, self.model))
        return self.model

    def propose(self):
        # A design whose points all failed goes on at random.
        if self.design:
            return from_cube(self.space, self.design.pop(0))
        if len(self.y) < 2:
            return from_cube(self.space, self.torch.rand(self.dimension, dtype=self.torch.double).tolist())
        from botorch.acquisition import LogExpectedImprovement, qLogNoisyExpectedImprovement
        from botorch.optim import optimize_acqf

        x, y = self.data()
        if self.is_noisy:
            acquisition = qLogNoisyExpectedImprovement(self.fit(), X_baseline=x, prune_baseline=True)
        else:
            acquisition = LogExpectedImprovement(self.fit(), best_f=y.max())
        bounds = self.torch.stack([self.torch.zeros(self.dimension), self.torch.ones(self.dimension)]).double()
        found, _ = optimize_acqf(acquisition, bounds=bounds, q=1, num_restarts=10, raw_samples=512)
        return from_cube(self.space, found[0].tolist())

    def recommend(self):
        if not self.is_noisy or len(self.y) < 2:
            return self.best_measured()
        x, _ = self.data()
        # Not without gradients: the model keeps what it computes here, and the next proposal needs them.
        mean = self.fit().posterior(x).mean
        return from_cube(self.space, self.x[int(mean.argmax())])


class Turbo(Botorch):
    """TuRBO-1, from the formulas of the paper [Eriksson, Pearce, Gardner, Turner and Poloczek, 2019], one point at a time.

    A box around the best point of the current search, its sides L times the length scales over their geometric mean. The
    next point is the best of a Thompson sample at candidates in the box, which differ from the centre in about 20 inputs.
    L doubles after 3 improvements in a row, halves after d failures in a row, and below 2^-7 the search starts anew.
    """

    FIRST, SMALLEST, LARGEST = 0.8, 0.5**7, 1.6
    SUCCESSES = 3
    # What counts as an improvement, of the best value's size.
    LEAST_GAIN = 1e-3

    def start(self):
        super().start()
        self.n_searches = 0
        self.begin()

    def begin(self):
        self.x, self.y = [], []
        self.length, self.n_good, self.n_bad = self.FIRST, 0, 0
        engine = self.torch.quasirandom.SobolEngine(self.dimension, scramble=True, seed=self.seed + self.n_searches)
        self.design = engine.draw(2 * self.dimension, dtype=self.torch.double).tolist()
        self.n_searches += 1

    def learn(self, point, value):
        best = max(self.y, default=-math.inf)
        super().learn(point, value)
        if self.is_design:
            return
        if -value > best + self.LEAST_GAIN * abs(best):
            self.n_good, self.n_bad = self.n_good + 1, 0
        else:
            self.n_good, self.n_bad = 0, self.n_bad + 1
        if self.n_good == self.SUCCESSES:
            self.length, self.n_good = min(2.0 * self.length, self.LARGEST), 0
        elif self.n_bad == max(4, self.dimension):
            self.length, self.n_bad = self.length / 2.0, 0
        if self.length < self.SMALLEST:
            self.begin()

    def fit(self):
        """Matern 5/2 with a length scale for each input, in the bounds of the paper."""
        from botorch.fit import fit_gpytorch_mll
        from botorch.models import SingleTaskGP
        from gpytorch.constraints import Interval
        from gpytorch.kernels import MaternKernel, ScaleKernel
        from gpytorch.likelihoods import GaussianLikelihood
        from gpytorch.mlls import ExactMarginalLogLikelihood

        scales = MaternKernel(nu=2.5, ard_num_dims=self.dimension, lengthscale_constraint=Interval(0.005, 2.0))
        kernel = ScaleKernel(scales, outputscale_constraint=Interval(0.05, 20.0))
        likelihood = GaussianLikelihood(noise_constraint=Interval(5e-4, 0.2))
        scales.lengthscale, kernel.outputscale, likelihood.noise = 0.5, 1.0, 0.005
        model = SingleTaskGP(*self.data(), covar_module=kernel, likelihood=likelihood)
        fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
        return model, scales.lengthscale.detach().squeeze(0)

    def propose(self):
        self.is_design = bool(self.design) or len(self.y) < 2
        if self.design:
            return from_cube(self.space, self.design.pop(0))
        if len(self.y) < 2:
            return from_cube(self.space, self.torch.rand(self.dimension, dtype=self.torch.double).tolist())
        from botorch.generation import MaxPosteriorSampling

        torch = self.torch
        model, scales = self.fit()
        centre = torch.tensor(self.x[self.y.index(max(self.y))], dtype=torch.double)
        sides = self.length * scales / scales.log().mean().exp()
        low, high = (centre - sides / 2.0).clamp(0.0, 1.0), (centre + sides / 2.0).clamp(0.0, 1.0)
        n_candidates = min(100 * self.dimension, 5000)
        engine = torch.quasirandom.SobolEngine(self.dimension, scramble=True, seed=int(torch.randint(2**31, (1,))))
        inside = low + (high - low) * engine.draw(n_candidates, dtype=torch.double)
        moved = torch.rand(n_candidates, self.dimension) <= min(20.0 / self.dimension, 1.0)
        unmoved = ~moved.any(dim=1)
        moved[unmoved, torch.randint(self.dimension, (int(unmoved.sum()),))] = True
        candidates = torch.where(moved, inside, centre)
        with torch.no_grad():
            found = MaxPosteriorSampling(model, replacement=False)(candidates, num_samples=1)
        return from_cube(self.space, found[0].tolist())

    def recommend(self):
        return self.best_measured()
