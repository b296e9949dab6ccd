"""`TriboSampler` in the real Optuna: Optuna's own checks, then what is particular to it."""

from __future__ import annotations

import math
import pickle
import threading
import warnings
from collections.abc import Callable
from typing import Any

import pytest

optuna = pytest.importorskip("optuna")

import functions  # noqa: E402
import tribo  # noqa: E402
from tribo.optuna import TriboSampler  # noqa: E402

optuna.logging.set_verbosity(optuna.logging.WARNING)
pytestmark = pytest.mark.filterwarnings("ignore::optuna.exceptions.ExperimentalWarning")

try:
    from optuna.testing import pytest_samplers
except ImportError:
    # Older versions do not ship them.
    pass
else:

    class TestOptunasBasicChecks(pytest_samplers.BasicSamplerTestCase):
        @pytest.fixture
        def sampler(self) -> Callable[[], TriboSampler]:
            return TriboSampler

    class TestOptunasRelativeChecks(pytest_samplers.RelativeSamplerTestCase):
        @pytest.fixture
        def sampler(self) -> Callable[[], TriboSampler]:
            return TriboSampler

    class TestOptunasSingleObjectiveChecks(pytest_samplers.SingleOnlySamplerTestCase):
        @pytest.fixture
        def sampler(self) -> Callable[[], TriboSampler]:
            return TriboSampler


def branin(trial: Any) -> float:
    return functions.branin((trial.suggest_float("a", -5, 10), trial.suggest_float("b", 0, 15)))


def params(study: Any) -> list[dict[str, Any]]:
    return [trial.params for trial in study.trials]


def states(study: Any) -> list[str]:
    """The states of the tribo study beside an Optuna study."""
    return [trial.state for trial in study.sampler._twin._study.trials]


def test_it_finds_branin_and_beats_random() -> None:
    # 40 random points come to 1.2 above the optimum on average, and to 0.01 in the best of fifty seeds.
    for seed in range(10):
        study = optuna.create_study(sampler=TriboSampler(seed=seed))
        study.optimize(branin, n_trials=40)
        random = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=seed))
        random.optimize(branin, n_trials=40)
        assert study.best_value < random.best_value, f"seed {seed}"
        assert study.best_value - functions.BRANIN_BEST < 0.01, f"seed {seed}: {study.best_value}"


def test_maximising_is_minimising_the_negative() -> None:
    low = optuna.create_study(sampler=TriboSampler(seed=1))
    low.optimize(branin, n_trials=15)
    high = optuna.create_study(direction="maximize", sampler=TriboSampler(seed=1))
    high.optimize(lambda trial: -branin(trial), n_trials=15)
    assert params(low) == params(high)


def test_the_same_seed_gives_the_same_trials() -> None:
    def run(seed: int) -> list[dict[str, Any]]:
        study = optuna.create_study(sampler=TriboSampler(seed=seed))
        study.optimize(branin, n_trials=12)
        return params(study)

    assert run(1) == run(1)
    assert run(1) != run(2)


def test_all_kinds_of_parameters() -> None:
    def objective(trial: Any) -> float:
        rate = trial.suggest_float("rate", 1e-5, 1.0, log=True)
        share = trial.suggest_float("share", 0.1, 0.9, step=0.2)
        layers = trial.suggest_int("layers", 1, 9, step=2)
        width = trial.suggest_int("width", 1, 1000, log=True)
        kind = trial.suggest_categorical("kind", ["a", None, 3, True])
        assert isinstance(rate, float) and isinstance(layers, int) and isinstance(width, int)
        assert min(abs(share - grid) for grid in (0.1, 0.3, 0.5, 0.7, 0.9)) < 1e-9 and layers in (1, 3, 5, 7, 9)
        size: float = abs(math.log10(rate) + 2) + abs(math.log10(width) - 2)
        return float(size + abs(share - 0.7) + abs(layers - 5) + (0 if kind is None else 1))

    study = optuna.create_study(sampler=TriboSampler(seed=0))
    study.optimize(objective, n_trials=60)
    # All of it modelled, not drawn. Random points come to 1.7 in the median of twenty seeds.
    assert states(study).count("measured") == 59
    assert study.best_params["kind"] is None and study.best_params["layers"] == 5 and study.best_value < 0.5


def test_running_trials_are_pending_points() -> None:
    study = optuna.create_study(sampler=TriboSampler(seed=0))
    study.optimize(branin, n_trials=8)
    running = [study.ask() for _ in range(4)]
    for trial in running:
        trial.suggest_float("a", -5, 10), trial.suggest_float("b", 0, 15)
    points = {tuple(trial.params.values()) for trial in running}
    assert len(points) == 4
    assert states(study).count("pending") == 4
    # In any order.
    for trial in reversed(running):
        study.tell(trial, functions.branin(list(trial.params.values())))
    study.optimize(branin, n_trials=1)
    # The last one is told by the ask after it.
    assert states(study).count("pending") == 1 and states(study).count("measured") == 12


def test_running_trials_of_another_process_are_pending_points() -> None:
    storage = optuna.storages.InMemoryStorage()
    mine = optuna.create_study(study_name="s", storage=storage, sampler=TriboSampler(seed=0))
    mine.optimize(branin, n_trials=6)
    theirs = optuna.load_study(study_name="s", storage=storage, sampler=TriboSampler(seed=0))
    their_trial = theirs.ask()
    branin(their_trial)
    my_trial = mine.ask()
    branin(my_trial)
    assert my_trial.params != their_trial.params
    assert states(mine).count("pending") == 2
    theirs.tell(their_trial, 1.0)
    branin(mine.ask())
    assert states(mine).count("measured") == 7


def test_enqueued_and_added_trials_are_taken_in() -> None:
    study = optuna.create_study(sampler=TriboSampler(seed=0))
    study.optimize(branin, n_trials=3)
    study.enqueue_trial({"a": 3.0, "b": 2.0})
    study.enqueue_trial({"a": 3.5})
    study.optimize(branin, n_trials=2)
    study.add_trial(
        optuna.trial.create_trial(
            params={"a": 9.0, "b": 3.0}, distributions=study.trials[0].distributions, value=2.5
        )
    )
    assert study.trials[3].params == {"a": 3.0, "b": 2.0} and study.trials[4].params["a"] == 3.5
    study.optimize(branin, n_trials=2)
    twin = study.sampler._twin._study
    seen = {(trial.params["a"], trial.params["b"]): trial.value for trial in twin.trials if trial.state == "measured"}
    assert seen[(3.0, 2.0)] == functions.branin((3.0, 2.0)) and seen[(9.0, 3.0)] == 2.5
    assert seen[tuple(study.trials[4].params.values())] == study.trials[4].value
    assert len(seen) == 7


def test_an_enqueued_value_outside_the_space_is_left_out() -> None:
    study = optuna.create_study(sampler=TriboSampler(seed=0))
    study.optimize(branin, n_trials=3)
    study.enqueue_trial({"a": 300.0, "b": 2.0})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        study.optimize(branin, n_trials=3)
    assert states(study).count("measured") == 4


def test_trials_of_another_sampler_are_taken_in() -> None:
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
    study.optimize(branin, n_trials=10)
    study.sampler = TriboSampler(seed=0)
    study.optimize(branin, n_trials=2)
    assert states(study).count("measured") == 11


def test_failed_and_pruned_trials_are_not_modelled() -> None:
    def objective(trial: Any) -> float:
        value = branin(trial)
        if trial.number % 4 == 2:
            raise RuntimeError("diverged")
        if trial.number % 4 == 3:
            trial.report(value, 1)
            raise optuna.TrialPruned
        return float("nan") if trial.number == 9 else value

    study = optuna.create_study(sampler=TriboSampler(seed=0))
    study.optimize(objective, n_trials=13, catch=(RuntimeError,))
    told = states(study)
    complete = sum(trial.state.name == "COMPLETE" for trial in study.trials)
    assert told.count("measured") == complete - 1 and told.count("failed") == 12 - (complete - 1)


def test_constraints_make_trials_infeasible() -> None:
    def objective(trial: Any) -> float:
        value = branin(trial)
        if trial.params["a"] < 2:
            trial.set_constraint("a is large", 2 - trial.params["a"])
        return value

    if not hasattr(optuna.trial.Trial, "set_constraint"):
        pytest.skip("this Optuna has no constraints of trials")
    study = optuna.create_study(sampler=TriboSampler(seed=0))
    study.optimize(objective, n_trials=12)
    infeasible = sum(trial.params["a"] < 2 for trial in study.trials[:-1])
    assert 0 < infeasible == states(study).count("infeasible")


def test_spaces_that_depend_on_values() -> None:
    def objective(trial: Any) -> float:
        x: float = trial.suggest_float("x", -5, 5)
        if trial.suggest_categorical("kind", ["line", "square"]) == "line":
            return abs(x - 1) + float(trial.suggest_float("shift", 0, 1))
        return (x - 1) ** 2 + float(trial.suggest_int("steps", 1, 5)) / 10

    study = optuna.create_study(sampler=TriboSampler(seed=0))
    study.optimize(objective, n_trials=30)
    assert set(study.sampler._twin._axes) == {"kind", "x"}
    assert states(study).count("measured") == 29
    assert study.best_value < 0.5


def test_a_finite_space_that_is_used_up_is_drawn_again() -> None:
    study = optuna.create_study(sampler=TriboSampler(seed=0))
    study.optimize(lambda trial: trial.suggest_int("n", 1, 3), n_trials=8)
    assert len(study.trials) == 8 and {trial.params["n"] for trial in study.trials} == {1, 2, 3}


def test_several_threads() -> None:
    # All four must be inside the function at once for anyone to leave it.
    together = threading.Barrier(4, timeout=30)

    def objective(trial: Any) -> float:
        value = branin(trial)
        together.wait()
        return value

    study = optuna.create_study(sampler=TriboSampler(seed=0))
    study.optimize(objective, n_trials=20, n_jobs=4)
    assert len(study.trials) == 20 and all(trial.state.name == "COMPLETE" for trial in study.trials)
    assert len({tuple(trial.params.values()) for trial in study.trials}) == 20


def test_it_can_be_pickled_and_goes_on() -> None:
    study = optuna.create_study(sampler=TriboSampler(seed=0))
    study.optimize(branin, n_trials=8)
    study.sampler = pickle.loads(pickle.dumps(study.sampler))
    study.optimize(branin, n_trials=2)
    assert states(study).count("measured") == 9


def test_values_come_back_from_a_database_as_they_were(tmp_path: Any) -> None:
    study = optuna.create_study(storage=f"sqlite:///{tmp_path}/optuna.db", sampler=TriboSampler(seed=0))
    study.optimize(branin, n_trials=3)
    twin = study.sampler._twin
    study.optimize(branin, n_trials=5)
    # A value that changed on the way would look like one evaluated elsewhere, and all would begin anew.
    assert study.sampler._twin is twin and states(study).count("measured") == 7


def test_it_can_change_studies() -> None:
    sampler = TriboSampler(seed=0)
    first, second = (optuna.create_study(sampler=sampler) for _ in range(2))
    for _ in range(4):
        first.optimize(branin, n_trials=1)
        second.optimize(lambda trial: -branin(trial), n_trials=1)
    first.optimize(branin, n_trials=1)
    assert states(first).count("measured") == 4
    assert len(first.trials) == 5


def test_several_objectives_are_refused_with_advice() -> None:
    study = optuna.create_study(directions=["minimize", "maximize"], sampler=TriboSampler())
    with pytest.raises(tribo.ArgumentError, match="has 2; combine them.*NSGAIISampler"):
        study.optimize(lambda trial: (branin(trial), 1.0), n_trials=1)
    # As everything in Optuna that is wrong about an argument.
    assert issubclass(tribo.ArgumentError, ValueError)


@pytest.mark.parametrize(("strategy", "size"), [("random", 2), ("auto", 60)])
def test_every_strategy_takes_trials_in(strategy: str, size: int) -> None:
    def few_matter(trial: optuna.Trial) -> float:
        x = [trial.suggest_float(f"x{i}", 0, 1) for i in range(size)]
        return (x[0] - 0.3) ** 2 + (x[1] - 0.6) ** 2

    study = optuna.create_study(sampler=TriboSampler(strategy=strategy, seed=2))
    study.optimize(few_matter, n_trials=40)
    assert len(study.trials) == 40
    assert study.best_value < 0.1
