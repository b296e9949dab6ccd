"""Limits on outputs."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
import tribo

SPACE = {"h": tribo.Float(0.2, 2)}


def beam(x: Any) -> dict[str, float]:
    return {"mass": 3 * x["h"], "stress": 2 / x["h"]}


def lightest(trials: list[tribo.Trial], most: float) -> int:
    good = [trial for trial in trials if trial.outputs["stress"] <= most]
    return min(good, key=lambda trial: trial.outputs["mass"]).id


def test_the_best_meets_the_constraints() -> None:
    result = tribo.minimize(beam, SPACE, objective="mass", constraints=["stress <= 2"], evaluations=12, seed=2)
    best = result.study.best
    assert result.feasible and best is not None and best.feasible
    assert best.id == lightest(result.trials, 2 + 2e-6) and result.value == best.value
    assert any(trial.value < result.value for trial in result.trials if trial.value is not None)
    for trial in result.trials:
        assert trial.feasible == (trial.outputs["stress"] <= 2.000002)
        assert trial.violated == (() if trial.feasible else ("stress",))
    [limit] = result.study.limits
    assert (limit["output"], limit["limit"], limit["at_most"], limit["measured"]) == ("stress", "stress <= 2", 2.0, 12)
    assert limit["met"] == sum(bool(trial.feasible) for trial in result.trials)
    assert limit["at_best"] == best.outputs["stress"]
    assert "beyond" not in repr(result)
    table = result.study.to_arrow()
    assert table.column_names == ["trial", "h", "state", "mass", "stress", "feasible", "reason"]
    assert table["feasible"].to_pylist() == [trial.feasible for trial in result.trials]


def test_without_constraints_everything_measured_is_feasible() -> None:
    study = tribo.Study([(0, 1)], seed=1)
    a, b, c = study.ask(3)
    study.tell(a, 1.0)
    study.tell(b, failed="no mesh")
    assert [trial.feasible for trial in study.trials] == [True, False, None]
    assert study.limits == [] and "feasible" not in study.to_arrow().column_names


def test_a_constraint_that_cannot_be_met_gives_the_nearest_point_and_a_warning() -> None:
    with pytest.warns(RuntimeWarning, match=r"no evaluation meets all constraints; trial \d+ .* misses stress <= 0.5 with "):
        result = tribo.minimize(beam, SPACE, objective="mass", constraints=["stress <= 0.5"], evaluations=8)
    nearest = min(result.trials, key=lambda trial: trial.outputs["stress"])
    assert not result.feasible and result.x == nearest.x and "beyond the constraints" in repr(result)
    assert result.study.best is None and result.study.recommended is None
    least = result.study.least_violated
    assert least is not None and least.id == nearest.id
    limit = result.study.limits[0]
    assert limit["met"] == 0 and limit["nearest"]["trial"] == nearest.id
    with pytest.raises(tribo.EvaluationError, match="never gave all constrained outputs: lift; it gave mass, stress"):
        tribo.minimize(beam, SPACE, objective="mass", constraints=["lift >= 1"], evaluations=3)


def test_constraints_as_people_write_them() -> None:
    def limits(constraints: Any, objective: str | None = "mass") -> list[str]:
        return [limit["limit"] for limit in tribo.Study([(0, 1)], objective=objective, constraints=constraints).limits]

    written = ["stress <= 200", "0.9 <= lift <= 1.1", "area == 4", "5 <= peak load"]
    assert limits(written) == ["stress <= 200", "0.9 <= lift <= 1.1", "area == 4", "peak load >= 5"]
    assert limits(["stress <= 200", "stress >= 1"]) == ["1 <= stress <= 200"]
    assert limits(["stress <= 2"], objective=None) == ["stress <= 2"]
    study = tribo.Study([(0, 1)], constraints=[{"name": "a", "between": [0, 1], "tolerance": 0.5}])
    assert study.limits[0]["tolerance"] == 0.5 and study.objective == "value"
    for constraints, words in [
        ("stress <= 200", "constraints is 'stress <= 200'.*give a list"),
        ([3], r"constraints\[0\] is 3"),
        (["stress"], r"constraints\[0\]: .*stress.*write it as"),
        (["a <= 1", "3 <= b <= 2"], r"constraints\[1\]: "),
        (["a <= 1", "a < 2"], r"constraints\[1\]: 'a' has another `at_most`"),
        (["mass <= 1"], r"constraints\[0\]: 'mass' is what is optimised"),
        ([{"name": "a", "at_mots": 1}], r"constraints\[0\]: .*did you mean `at_most`"),
    ]:
        with pytest.raises(tribo.ArgumentError, match=words):
            limits(constraints)
    with pytest.raises(tribo.ArgumentError, match="constraints: belongs to the study"):
        tribo.minimize(beam, evaluations=3, study=study, constraints=["a <= 1"])


def test_outputs_that_are_missing_are_not_feasible() -> None:
    study = tribo.Study([(0, 1)], objective="mass", constraints=["stress <= 2"])
    a, b, c, d = study.ask(4)
    study.tell(a, {"mass": 1.0})
    study.tell(b, {"mass": 2.0, "stress": float("nan")})
    study.tell(c, {"stress": 1.0}, failed="no mesh")
    assert study.best is None and study.least_violated is None
    study.tell(d, {"mass": 3.0, "stress": 2.0})
    assert study.best is not None and study.best.id == d.id
    assert [trial.feasible for trial in study.trials] == [False, False, False, True]
    assert study.limits[0]["measured"] == 2 and study.limits[0]["binds"]


def test_under_noise_a_lucky_point_is_not_recommended() -> None:
    noise = random.Random(5)
    study = tribo.Study([(0, 1)], objective="mass", constraints=["stress >= 0.5"])
    for i in range(60):
        x = i / 59
        study.add([x], {"mass": x, "stress": x + noise.gauss(0, 0.05)})
    best, recommended = study.best, study.recommended
    assert best is not None and recommended is not None
    assert best.value is not None and best.value < 0.5 < recommended.value + 0.02
    assert recommended.interval is None
    assert recommended.within_limits is not None and recommended.within_limits >= 0.9


def test_limits_survive_on_disk(tmp_path: Path) -> None:
    with tribo.Study.create(tmp_path, [(0, 1)], objective="mass", constraints=["stress == 4"], seed=3) as study:
        a, b = study.ask(2)
        study.tell(a, {"mass": 1.0, "stress": 4.1})
        study.tell(b, {"mass": 2.0, "stress": 4.0001})
    again = tribo.Study.open(tmp_path)
    assert again.best is not None and again.best.id == b.id
    assert again.limits[0]["limit"] == "stress == 4" and again.limits[0]["met"] == 1


def test_optuna_has_limits() -> None:
    optuna = pytest.importorskip("optuna")
    optuna.logging.set_verbosity(optuna.logging.ERROR)

    def mass(trial: Any) -> float:
        h: float = trial.suggest_float("h", 0.2, 2)
        if by_trial:
            trial.set_constraint("stress", 2 / h - 2)
        trial.set_user_attr("stress", 2 / h)
        return 3 * h

    def over(trial: Any) -> list[float]:
        return [trial.user_attrs["stress"] - 2]

    for by_trial in (False, True):
        if by_trial and not hasattr(optuna.trial.Trial, "set_constraint"):
            continue
        sampler = tribo.optuna.TriboSampler(seed=1, constraints_func=None if by_trial else over)
        study = optuna.create_study(sampler=sampler)
        study.optimize(mass, n_trials=15)
        twin = sampler._twin._study
        assert [limit["at_most"] for limit in twin.limits] == [0.0]
        assert {trial.state for trial in twin.trials} == {"measured", "pending"}
        best = min(trial.value for trial in study.trials[:-1] if trial.params["h"] >= 1)
        assert twin.best.value == best
