"""The methods: tribo, and what people take instead, each as its makers would have it used.

A method is made from the space, a seed, the budget and whether values carry noise. It then proposes a point, is told what
came of it, and at any time says which point it recommends. Packages are imported where a method is made: a run of tribo
pays for no other.

What a method cannot be told, it is told as users do: a point that failed gets the worst value so far, and an accident is
left out.
"""

import importlib
import importlib.metadata
import math

from .space import Choice, Real, from_cube, n_coordinates

# Where a method is: module, class, and the package whose version it has.
METHODS = {
    "tribo": ("methods", "Tribo", "tribo"),
    "optuna-gp": ("methods", "OptunaGp", "optuna"),
    "optuna-tpe": ("methods", "OptunaTpe", "optuna"),
    "botorch": ("gaussian", "Botorch", "botorch"),
    "turbo": ("gaussian", "Turbo", "botorch"),
    "cma": ("methods", "Cma", "cma"),
    "random": ("methods", "Random", None),
    # Only where there are limits.
    "egobox": (None, None, "egobox"),
    "cobyla": (None, None, "scipy"),
    "tribo-penalty": (None, None, "tribo"),
}
# Where a method for problems with limits is.
LIMITED = {
    "tribo": "Tribo",
    "tribo-penalty": "TriboPenalty",
    "egobox": "Egobox",
    "cobyla": "Cobyla",
    "optuna-gp": "OptunaGp",
    "random": "Random",
}


def make(name, space, *, seed, evaluations, is_noisy):
    module, kind, _ = METHODS[name]
    if module is None:
        raise SystemExit(f"{name} is for the suite limits")
    return getattr(importlib.import_module(f"{__package__}.{module}"), kind)(space, seed, evaluations, is_noisy)


def make_limited(name, space, *, seed, evaluations, limits):
    if name not in LIMITED:
        raise SystemExit(f"{name} knows no limits; there are {', '.join(LIMITED)}")
    return getattr(importlib.import_module(f"{__package__}.limited"), LIMITED[name])(space, seed, evaluations, limits)


def version(name):
    """The version of a method's package; of tribo with a digest of its compiled part, as one is built many times."""
    package = METHODS[name][2]
    if package is None:
        return "1"
    found = importlib.metadata.version(package)
    if not name.startswith("tribo"):
        return found
    import hashlib
    from importlib.util import find_spec
    from pathlib import Path

    folder = Path(find_spec("tribo").origin).parent
    [compiled] = folder.glob("_core*.so")
    return f"{found}+{hashlib.sha256(compiled.read_bytes()).hexdigest()[:8]}"


class Method:
    """What is the same for all: the points that gave a value, and what to say of one that gave none."""

    def __init__(self, space, seed, evaluations, is_noisy):
        self.space, self.seed, self.evaluations, self.is_noisy = space, seed, evaluations, is_noisy
        self.points, self.values = [], []
        # Points that failed before there was any value to give them.
        self.unvalued = []
        self.start()

    def start(self):
        pass

    def propose(self):
        raise NotImplementedError

    def learn(self, point, value):
        """Takes in a value, which is the worst so far where the point failed."""

    def forget(self, point):
        """Takes in that the point just proposed was lost, and says nothing."""

    def tell(self, point, value):
        self.points.append(point)
        self.values.append(value)
        for earlier in self.unvalued:
            self.learn(earlier, value)
        self.unvalued = []
        self.learn(point, value)

    def fail(self, point, kind):
        if kind == "lost":
            self.forget(point)
        elif self.values:
            self.learn(point, max(self.values))
        else:
            self.unvalued.append(point)
            self.forget(point)

    def best_measured(self):
        return self.points[self.values.index(min(self.values))] if self.values else None

    def recommend(self):
        """The point that the method would have its user take; None if it has none yet."""
        return self.best_measured()


class Random(Method):
    def start(self):
        import numpy as np

        self.generator = np.random.default_rng(self.seed)

    def propose(self):
        return from_cube(self.space, self.generator.random(n_coordinates(self.space)))


class Tribo(Method):
    """`Study` with its defaults. It is told failures of each kind, as far as this version knows them."""

    def start(self):
        import tribo

        def parameter(one):
            if isinstance(one, Choice):
                return tribo.Categorical(list(one.names))
            kind = tribo.Float if isinstance(one, Real) else tribo.Int
            return kind(one.low, one.high, log=one.log)

        self.study = tribo.Study(
            {one.name: parameter(one) for one in self.space}, seed=self.seed, evaluations=self.evaluations
        )

    def propose(self):
        [self.trial] = self.study.ask()
        return self.in_order(self.trial.params)

    def in_order(self, params):
        return [params[one.name] for one in self.space]

    def tell(self, point, value):
        self.points.append(point)
        self.values.append(value)
        self.study.tell(self.trial, value)

    def fail(self, point, kind):
        if kind == "infeasible":
            self.study.tell(self.trial, infeasible=True)
            return
        if kind == "lost":
            try:
                self.study.tell(self.trial, lost="an accident")
                return
            except TypeError:
                # A version that cannot tell accidents from failures.
                pass
        self.study.tell(self.trial, failed="no value")

    def recommend(self):
        recommended = getattr(self.study, "recommended", None)
        if callable(recommended):
            recommended = recommended()
        return self.best_measured() if recommended is None else self.in_order(recommended.params)


class Cma(Method):
    """CMA-ES of the package `cma`: from the centre, a quarter of the box as the first step, restarts with twice as many."""

    def start(self):
        import cma

        self.cma, self.n_restarts = cma, 0
        self.begin([0.5] * n_coordinates(self.space))

    def begin(self, centre):
        options = {"bounds": [0.0, 1.0], "seed": self.seed % 2**31 + self.n_restarts + 1, "verbose": -9}
        options["popsize_factor"] = 2**self.n_restarts
        self.search = self.cma.CMAEvolutionStrategy(centre, 0.25, options)
        self.waiting, self.done = [], []

    def propose(self):
        if not self.waiting:
            if self.search.stop():
                import numpy as np

                self.n_restarts += 1
                self.begin(np.random.default_rng([self.seed, self.n_restarts]).random(n_coordinates(self.space)))
            self.waiting = list(self.search.ask())
        return from_cube(self.space, self.waiting[0])

    def learn(self, point, value):
        self.done.append((self.waiting.pop(0), value))
        if not self.waiting:
            self.search.tell([place for place, _ in self.done], [value for _, value in self.done])
            self.done = []

    def tell(self, point, value):
        self.points.append(point)
        self.values.append(value)
        # Failures before the first value count as bad as it.
        self.done = [(place, value if math.isnan(given) else given) for place, given in self.done]
        self.learn(point, value)

    def fail(self, point, kind):
        if kind == "lost":
            # Another of the same law in its place.
            self.waiting[0] = self.search.ask(1)[0]
        elif self.values:
            self.learn(point, max(self.values))
        elif len(self.waiting) > 1:
            self.done.append((self.waiting.pop(0), math.nan))
        else:
            # The last of a generation without any value: it is drawn again until there is one.
            self.waiting[0] = self.search.ask(1)[0]

    def recommend(self):
        if not self.is_noisy:
            return self.best_measured()
        return from_cube(self.space, self.search.result.xfavorite)


class Optuna(Method):
    def sampler(self):
        raise NotImplementedError

    def start(self):
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)

        def distribution(one):
            if isinstance(one, Choice):
                return optuna.distributions.CategoricalDistribution(one.names)
            kind = "FloatDistribution" if isinstance(one, Real) else "IntDistribution"
            return getattr(optuna.distributions, kind)(one.low, one.high, log=one.log)

        self.optuna = optuna
        self.distributions = {one.name: distribution(one) for one in self.space}
        self.study = optuna.create_study(sampler=self.sampler())

    def propose(self):
        self.trial = self.study.ask(self.distributions)
        return [self.trial.params[one.name] for one in self.space]

    def learn(self, point, value):
        if point == [self.trial.params[one.name] for one in self.space]:
            self.study.tell(self.trial, value)
        else:
            # A point that failed before there was a value.
            params = dict(zip(self.distributions, point))
            made = self.optuna.trial.create_trial(params=params, distributions=self.distributions, value=value)
            self.study.add_trial(made)

    def forget(self, point):
        self.study.tell(self.trial, state=self.optuna.trial.TrialState.FAIL)


class OptunaTpe(Optuna):
    def sampler(self):
        return self.optuna.samplers.TPESampler(seed=self.seed)


class OptunaGp(Optuna):
    """The GP sampler; it is told whether the function is deterministic."""

    def sampler(self):
        return self.optuna.samplers.GPSampler(seed=self.seed, deterministic_objective=not self.is_noisy)

    def recommend(self):
        """Under noise the lowest posterior mean among the points that its last model had seen: all but the newest."""
        models = self.study.sampler._gprs_cache_list
        if not self.is_noisy or models is None:
            return self.best_measured()
        # The sampler maximises; rows are the complete trials in their order.
        mean, _ = models[0].posterior(models[0]._X_train)
        params = [trial.params for trial in self.study.trials if trial.state.name == "COMPLETE"][int(mean.argmax())]
        return [params[one.name] for one in self.space]
