"""tribo inside Optuna: `optuna.create_study(sampler=tribo.optuna.TriboSampler(seed=0))`.

The sampler keeps one tribo study in step with Optuna's storage. Before each proposal it takes in what happened since the
last: its own trials that ended, and trials it has not seen, enqueued, by other samplers or from other processes.
Running trials are pending points, so that the next proposal goes elsewhere; failed and pruned ones are never modelled,
proposals only keep away from them. If the search space changes, the tribo study is made again from the storage.

Proposals are made for the parameters that all completed trials have in common. Others, and those of the first trial, are
drawn by the independent sampler, as in all of Optuna's relative samplers.

Constraints, from `trial.set_constraint` or the sampler's `constraints_func`, are modelled as limits as long as every completed
trial has them; a trial that violates one that others lack is infeasible, and only that is known of it.

Functions that return several outputs by name go through `with_outputs`, which keeps them as user attributes.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import optuna as _optuna
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.samplers import BaseSampler, RandomSampler
from optuna.samplers._base import _process_constraints_after_trial
from optuna.search_space import IntersectionSearchSpace
from optuna.trial import FrozenTrial, TrialState

from tribo._core import ArgumentError
from tribo._space import Categorical, Float, Int
from tribo._study import Study

if TYPE_CHECKING:
    from tribo._space import Parameter

__all__ = ["TriboSampler", "with_outputs"]

# How far from a step a value may lie and still be on it: rounding of sums of decimal steps is far smaller, half a step
# far larger.
STEP_TOLERANCE = 1e-6


class TriboSampler(BaseSampler):
    """Optuna's trials from tribo's Gaussian processes.

    Parameters
    ----------
    seed
        The same seed and the same order of results give the same trials; None draws one.
    strategy
        As for `tribo.Study`. It must model every parameter, as the default does: trials of others are taken in.
    independent_sampler
        Draws what is not proposed together; a `RandomSampler` with the same seed by default.
    constraints_func
        As for Optuna's samplers: called with a trial that has ended, it returns numbers that are 0 or less where the trial
        is feasible.
    """

    def __init__(
        self,
        *,
        seed: int | None = None,
        strategy: str | Mapping[str, Any] = "bo",
        independent_sampler: BaseSampler | None = None,
        constraints_func: Callable[[FrozenTrial], Sequence[float]] | None = None,
    ) -> None:
        self._constraints_func = constraints_func
        self._seed = secrets.randbits(32) if seed is None else seed
        self._strategy = strategy
        self._independent = RandomSampler(seed=seed) if independent_sampler is None else independent_sampler
        self._intersection = IntersectionSearchSpace()
        self._twin: _Twin | None = None
        self._lock = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        # The twin is made again from the storage.
        return {**self.__dict__, "_twin": None, "_lock": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = threading.Lock()

    def reseed_rng(self) -> None:
        """Reseeds the independent sampler. Proposals need none: those of other threads are pending points here."""
        self._independent.reseed_rng()

    def before_trial(self, study: _optuna.Study, trial: FrozenTrial) -> None:
        """Refuses studies with several objectives."""
        _one_direction(study)
        self._independent.before_trial(study, trial)

    def infer_relative_search_space(self, study: _optuna.Study, trial: FrozenTrial) -> dict[str, BaseDistribution]:
        """The parameters of all completed trials, but for those with only one value."""
        _one_direction(study)
        with self._lock:
            common = self._intersection.calculate(study)
        return {name: distribution for name, distribution in common.items() if not distribution.single()}

    def sample_relative(
        self, study: _optuna.Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """Proposes values for all parameters of the search space together."""
        direction = _one_direction(study)
        # Enqueued trials bring their values along.
        if search_space.keys() <= trial.system_attrs.get("fixed_params", {}).keys():
            return {}
        with self._lock:
            twin = self._twin
            trials = study.get_trials(deepcopy=False)
            constraints = _common_constraints(trials)
            is_same = twin is not None and twin.is_of(study, search_space, constraints)
            if twin is None or not is_same or not twin.take_in(trials, trial.number):
                twin = _Twin(study, search_space, constraints, direction, self._strategy, self._seed)
                twin.take_in(trials, trial.number)
                self._twin = twin
            proposed = twin.propose(trial.number)
        if proposed is None:
            # Every point of a finite space was tried. Optuna goes on and draws them again.
            draw = self._independent.sample_independent
            proposed = {name: draw(study, trial, name, distribution) for name, distribution in search_space.items()}
        return proposed

    def sample_independent(
        self, study: _optuna.Study, trial: FrozenTrial, param_name: str, param_distribution: BaseDistribution
    ) -> Any:
        """Draws a value of a parameter that is not in the search space of all trials."""
        _one_direction(study)
        return self._independent.sample_independent(study, trial, param_name, param_distribution)

    def after_trial(
        self, study: _optuna.Study, trial: FrozenTrial, state: TrialState, values: Sequence[float] | None
    ) -> None:
        """Notes the constraints, and tells the independent sampler."""
        if self._constraints_func is not None:
            _process_constraints_after_trial(self._constraints_func, study, trial, state)
        self._independent.after_trial(study, trial, state, values)


def with_outputs(f: Callable[[_optuna.Trial], Mapping[str, Any]], objective: str) -> Callable[[_optuna.Trial], float]:
    """A function for `Study.optimize`, made of one that returns several outputs by name: the objective is what Optuna
    optimises, and all of them are user attributes of the trial. Without the objective the trial fails, and keeps the others.

    >>> import optuna
    >>> optuna.logging.set_verbosity(optuna.logging.WARNING)
    >>> def beam(trial):
    ...     height = trial.suggest_float("height", 0.1, 2)
    ...     return {"mass": 7.85 * height, "stress": 600 / height**2}
    >>> study = optuna.create_study(sampler=TriboSampler(seed=1))
    >>> study.optimize(with_outputs(beam, "mass"), n_trials=12)
    >>> sorted(study.best_trial.user_attrs)
    ['mass', 'stress']
    """

    def evaluate(trial: _optuna.Trial) -> float:
        outputs = f(trial)
        if not isinstance(outputs, Mapping):
            raise ArgumentError(f"f: must return a mapping of names to numbers, not {type(outputs).__name__}")
        for name, value in outputs.items():
            trial.set_user_attr(str(name), value.item() if hasattr(value, "item") else value)
        # Optuna takes NaN for a failed trial, and goes on.
        return float(outputs.get(objective, "nan"))

    return evaluate


class _Twin:
    """The tribo study of one search space, and which of its trials is which of Optuna's."""

    def __init__(
        self,
        study: _optuna.Study,
        search_space: Mapping[str, BaseDistribution],
        constraints: Sequence[str],
        direction: str,
        strategy: str | Mapping[str, Any],
        seed: int,
    ) -> None:
        self._name = study.study_name
        self._search_space = dict(search_space)
        self._axes = {name: _axis(distribution) for name, distribution in search_space.items()}
        space = {name: axis.parameter for name, axis in self._axes.items()}
        # Names of Optuna's constraints may be any text. It has no tolerance.
        self._outputs = {name: f"constraint {i}" for i, name in enumerate(constraints)}
        limits = [{"name": output, "at_most": 0.0, "tolerance": 0.0} for output in self._outputs.values()]
        self._study = Study(space, direction=direction, strategy=strategy, seed=seed, constraints=limits)
        # By Optuna's number: the trial's id here, and the point that it stands for.
        self._pending: dict[int, tuple[int, dict[str, Any]]] = {}
        self._settled: set[int] = set()

    def is_of(
        self, study: _optuna.Study, search_space: Mapping[str, BaseDistribution], constraints: Sequence[str]
    ) -> bool:
        is_same_space = self._search_space == dict(search_space)
        return self._name == study.study_name and is_same_space and [*self._outputs] == list(constraints)

    def take_in(self, trials: Sequence[FrozenTrial], asking: int) -> bool:
        """Takes in what happened. False if a trial was evaluated elsewhere than proposed: then begin anew."""
        for trial in trials:
            if trial.number == asking or trial.number in self._settled or trial.state == TrialState.WAITING:
                continue
            point = self._point(trial)
            if trial.number not in self._pending:
                if point is None:
                    # It lacks a parameter, maybe only until the function asks for it.
                    if trial.state.is_finished():
                        self._settled.add(trial.number)
                    continue
                self._pending[trial.number] = (self._study.add(point).id, point)
            id, proposed = self._pending[trial.number]
            if point is not None and point != proposed:
                return False
            if trial.state.is_finished():
                self._settle(id, trial)
                self._settled.add(trial.number)
                del self._pending[trial.number]
        return True

    def propose(self, number: int) -> dict[str, Any] | None:
        asked = self._study.ask(1)
        if not asked:
            return None
        point = asked[0].params
        self._pending[number] = (asked[0].id, dict(point))
        return {name: axis.to_optuna(point[name]) for name, axis in self._axes.items()}

    def _point(self, trial: FrozenTrial) -> dict[str, Any] | None:
        """The trial's point, if it is one of this space."""
        point = {}
        for name, axis in self._axes.items():
            value = axis.from_optuna(trial.params[name]) if name in trial.params else None
            if value is None:
                return None
            point[name] = value
        return point

    def _settle(self, id: int, trial: FrozenTrial) -> None:
        constraints = _constraints(trial)
        known = {self._outputs[name]: value for name, value in constraints.items() if name in self._outputs}
        others = [value for name, value in constraints.items() if name not in self._outputs]
        if trial.state != TrialState.COMPLETE or trial.value is None:
            self._study.tell(id, known or None, failed=trial.state.name.lower())
        elif any(value > 0 for value in others):
            self._study.tell(id, known or None, infeasible=True)
        else:
            self._study.tell(id, {"value": trial.value, **known})


class _Choices:
    """A categorical, by position: Optuna's choices need not be strings, and two of them can print alike."""

    def __init__(self, distribution: CategoricalDistribution) -> None:
        self.parameter: Parameter = Categorical([str(i) for i in range(len(distribution.choices))])
        self._distribution = distribution

    def to_optuna(self, value: Any) -> Any:
        return self._distribution.choices[int(value)]

    def from_optuna(self, value: Any) -> Any | None:
        return str(int(self._distribution.to_internal_repr(value)))


class _Range:
    """A float without steps, or an int on a logarithmic scale, as it is."""

    def __init__(self, distribution: FloatDistribution | IntDistribution) -> None:
        self._low, self._high = distribution.low, distribution.high
        self.parameter: Parameter
        if isinstance(distribution, FloatDistribution):
            self.parameter = Float(distribution.low, distribution.high, log=distribution.log)
        else:
            self.parameter = Int(distribution.low, distribution.high, log=distribution.log)

    def to_optuna(self, value: Any) -> Any:
        return value

    def from_optuna(self, value: Any) -> Any | None:
        return value if self._low <= value <= self._high else None


class _Steps:
    """An int, or a float with steps; steps are counted from 0."""

    def __init__(self, low: Any, high: Any, step: Any) -> None:
        self._low, self._high, self._step = low, high, step
        self.parameter: Parameter = Int(0, round((high - low) / step))

    def to_optuna(self, value: Any) -> Any:
        # A sum of floats can round to just beyond the end.
        return min(self._high, self._low + value * self._step)

    def from_optuna(self, value: Any) -> Any | None:
        count = (value - self._low) / self._step
        on_a_step = self._low <= value <= self._high and abs(count - round(count)) <= STEP_TOLERANCE
        return round(count) if on_a_step else None


def _axis(distribution: BaseDistribution) -> _Choices | _Range | _Steps:
    """A distribution as a parameter of tribo. `from_optuna` of a value outside, as an enqueued one can be, is None."""
    if isinstance(distribution, CategoricalDistribution):
        return _Choices(distribution)
    if isinstance(distribution, (FloatDistribution, IntDistribution)):
        if distribution.log or distribution.step is None:
            return _Range(distribution)
        return _Steps(distribution.low, distribution.high, distribution.step)
    raise ArgumentError(f"search_space: a {type(distribution).__name__} is not known to TriboSampler")


def _one_direction(study: _optuna.Study) -> str:
    if len(study.directions) > 1:
        raise ArgumentError(
            f"study: TriboSampler optimises one objective and this study has {len(study.directions)}; combine them into "
            "one number, or use optuna.samplers.NSGAIISampler or TPESampler"
        )
    return "maximize" if study.directions[0] == _optuna.study.StudyDirection.MAXIMIZE else "minimize"


def _constraints(trial: FrozenTrial) -> dict[str, float]:
    # Optuna 5 has a dict of them; before, samplers kept them in a list under this name.
    found = getattr(trial, "constraints", None) or trial.system_attrs.get("constraints") or ()
    return dict(found) if isinstance(found, Mapping) else {str(i): value for i, value in enumerate(found)}


def _common_constraints(trials: Sequence[FrozenTrial]) -> list[str]:
    """The names of the constraints that every completed trial has."""
    names: list[str] | None = None
    for trial in trials:
        if trial.state == TrialState.COMPLETE:
            found = _constraints(trial)
            names = list(found) if names is None else [name for name in names if name in found]
    return sorted(names or [])
