"""The methods for problems with limits: each is told the objective and all limited outputs of every point.

Methods that call the function themselves (egobox, COBYLA) run in a thread of their own, which waits for every value.
"""

import queue
import threading

from .limits import excesses, size
from .space import from_cube

# A value that no problem has: what is beyond a limit costs this many times the spread of values, per size of the limit.
PENALTY = 10.0


class Limited:
    def __init__(self, space, seed, evaluations, limits):
        self.space, self.seed, self.evaluations, self.limits = space, seed, evaluations, limits
        self.start()


class Tribo(Limited):
    """`Study` with its defaults and the limits as constraints."""

    def start(self):
        import tribo

        constraints = []
        for name, low, high in self.limits:
            ends = {"at_least": low, "at_most": high}
            constraints.append({"name": name, **{key: end for key, end in ends.items() if end is not None}})
        space = {one.name: tribo.Float(one.low, one.high) for one in self.space}
        self.study = tribo.Study(
            space, objective="objective", constraints=constraints, seed=self.seed, evaluations=self.evaluations
        )

    def propose(self):
        [self.trial] = self.study.ask(1)
        return [self.trial.params[one.name] for one in self.space]

    def tell(self, point, value, outputs):
        named = {name: output for (name, _, _), output in zip(self.limits, outputs)}
        self.study.tell(self.trial, {"objective": value, **named})


class TriboPenalty(Limited):
    """`Study` without limits, on the objective plus a penalty: what people do who cannot say a limit."""

    def start(self):
        import tribo

        space = {one.name: tribo.Float(one.low, one.high) for one in self.space}
        self.study = tribo.Study(space, seed=self.seed, evaluations=self.evaluations)
        self.values = []

    def propose(self):
        [self.trial] = self.study.ask(1)
        return [self.trial.params[one.name] for one in self.space]

    def tell(self, point, value, outputs):
        # In the objective's own size, which is all that is known before.
        self.values.append(abs(value))
        weight = PENALTY * sorted(self.values)[len(self.values) // 2] if len(self.values) < 5 else self.weight
        self.weight = weight
        beyond = sum(max(0.0, excess) for excess in excesses(self.limits, outputs))
        self.study.tell(self.trial, value + weight * beyond)


class Random(Limited):
    def start(self):
        import numpy as np

        self.generator = np.random.default_rng(self.seed)

    def propose(self):
        return from_cube(self.space, self.generator.random(len(self.space)))

    def tell(self, point, value, outputs):
        pass


class Over(Exception):
    """The budget is spent."""


class Driven(Limited):
    """A method that calls the function: in a thread, which waits for each value."""

    def start(self):
        self.asked, self.told = queue.Queue(), queue.Queue()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        try:
            self.search()
        except Over:
            pass
        except BaseException as error:  # noqa: BLE001
            self.asked.put(error)
        else:
            self.asked.put(RuntimeError("the method ended itself"))

    def search(self):
        raise NotImplementedError

    def evaluate(self, point):
        """The objective and the outputs at a point."""
        self.asked.put([float(x) for x in point])
        answer = self.told.get()
        if answer is None:
            raise Over
        return answer

    def propose(self):
        asked = self.asked.get()
        if isinstance(asked, BaseException):
            raise asked
        return asked

    def tell(self, point, value, outputs):
        self.told.put((value, outputs))


class Egobox(Driven):
    """`Egor` as it comes: limits as they are, its own design and tolerances of a millionth of each limit's size.

    A run that ends itself begins anew with the next seed.
    """

    def search(self):
        import egobox as egx
        import numpy as np

        specs = []
        for _, low, high in self.limits:
            tol = 1e-6 * size(low, high)
            if low is None:
                specs.append(egx.CstrSpec.leq(high, tol=tol))
            elif high is None:
                specs.append(egx.CstrSpec.geq(low, tol=tol))
            else:
                specs.append(egx.CstrSpec.between(low, high, tol=tol))

        def function(rows):
            found = []
            for row in np.atleast_2d(rows):
                value, outputs = self.evaluate(row)
                found.append([value, *outputs])
            return np.array(found)

        for again in range(1000):
            egor = egx.Egor([[one.low, one.high] for one in self.space], cstr_specs=specs, seed=self.seed % 2**31 + again)
            egor.minimize(function, max_iters=self.evaluations)


class Cobyla(Driven):
    """SciPy's COBYLA in the unit cube, with limits in their sizes; from the centre, then from random points."""

    def search(self):
        import numpy as np
        from scipy.optimize import minimize

        generator = np.random.default_rng(self.seed)
        start = np.full(len(self.space), 0.5)
        while True:
            last = {}

            def at(u):
                key = tuple(u)
                if key not in last:
                    last.clear()
                    last[key] = self.evaluate(from_cube(self.space, np.clip(u, 0.0, 1.0)))
                return last[key]

            first = abs(at(start)[0]) or 1.0
            minimize(
                lambda u: at(u)[0] / first,
                start,
                method="COBYLA",
                bounds=[(0.0, 1.0)] * len(start),
                constraints=[{"type": "ineq", "fun": lambda u: -np.array(excesses(self.limits, at(u)[1]))}],
                options={"rhobeg": 0.25, "maxiter": 100_000, "tol": 1e-8},
            )
            start = generator.random(len(start))


class OptunaGp(Limited):
    """The GP sampler, with numbers above zero where a limit is missed, in the limit's sizes."""

    def start(self):
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self.found = {}
        sampler = optuna.samplers.GPSampler(
            seed=self.seed, deterministic_objective=True, constraints_func=lambda trial: self.found[trial.number]
        )
        self.distributions = {
            one.name: optuna.distributions.FloatDistribution(one.low, one.high) for one in self.space
        }
        self.study = optuna.create_study(sampler=sampler)

    def propose(self):
        self.trial = self.study.ask(self.distributions)
        return [self.trial.params[one.name] for one in self.space]

    def tell(self, point, value, outputs):
        self.found[self.trial.number] = excesses(self.limits, outputs)
        self.study.tell(self.trial, value)


__all__ = ["Cobyla", "Egobox", "OptunaGp", "Random", "Tribo", "TriboPenalty"]
