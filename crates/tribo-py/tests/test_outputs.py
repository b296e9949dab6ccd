"""Several numbers from one evaluation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tribo


def beam(x: Any) -> dict[str, Any]:
    outputs = {"mass": (x[0] - 1) ** 2, "time": np.float64(3.5), "mesh": "fine"}
    return outputs if x[0] < 0 else {**outputs, "stress": 100 * x[0]}


def test_a_function_that_returns_a_mapping_is_optimised_by_one_of_them() -> None:
    result = tribo.minimize(beam, [(-5, 5)], objective="mass", evaluations=15)
    alone = tribo.minimize(lambda x: (x[0] - 1) ** 2, [(-5, 5)], evaluations=15)
    assert [trial.x[0] for trial in result.trials] == [trial.x[0] for trial in alone.trials]
    assert result.study.objective == "mass" and alone.study.objective == "value"
    for trial in result.trials:
        expected = {name: number for name, number in beam(trial.x).items() if name != "mesh"}
        assert trial.outputs == expected and trial.value == expected["mass"]
    assert {"stress" in trial.outputs for trial in result.trials} == {True, False}
    assert alone.trials[0].outputs == {"value": alone.trials[0].value}
    assert tribo.maximize(lambda x: {"a": x[0], "b": 0}, [(0, 1)], objective="a", evaluations=8).value > 0.9


def test_without_the_objective_a_trial_fails_and_keeps_the_rest() -> None:
    def some(x: Any) -> dict[str, float]:
        return {"stress": x[0]} if x[0] < 0 else {"stress": x[0], "mass": x[0], "time": float("nan")}

    result = tribo.minimize(some, [(-1, 1)], objective="mass", evaluations=12)
    assert 0 < result.failed < 12
    for trial in result.trials:
        assert trial.outputs["stress"] == trial.x[0] and "time" not in trial.outputs
        if trial.x[0] < 0:
            assert (trial.state, trial.value) == ("failed", None)
            assert trial.reason == "there is no output 'mass'; there is stress"


def test_a_mapping_needs_the_name_of_its_objective() -> None:
    with pytest.raises(tribo.ArgumentError, match="mapping of mass, time, mesh.*trial 0"):
        tribo.minimize(beam, [(-5, -1)], evaluations=3)
    result = tribo.minimize(lambda x: {"value": x[0], "n": 1}, [(0, 1)], evaluations=3)
    assert result.trials[0].outputs == {"value": result.trials[0].value, "n": 1.0}
    with pytest.raises(tribo.ArgumentError, match="the study optimises 'value', not 'mass'"):
        tribo.minimize(beam, evaluations=9, study=result.study, objective="mass")
    # A number alone is the objective.
    assert tribo.minimize(lambda x: x[0], [(0, 1)], objective="mass", evaluations=3).trials[0].outputs.keys() == {"mass"}


def test_outputs_are_told_by_name() -> None:
    study = tribo.Study([(0, 1)], objective="mass", direction="maximize", seed=1)
    a, b, c, d = study.ask(4)
    study.tell(a, {"mass": 1, "stress": 180.0, "time": None, "bad": float("inf")})
    study.tell(a, {"stress": 180.0, "mass": 1.0})
    study.tell(b, 2.0)
    study.tell(c, {"stress": 3.0}, failed="no mesh")
    study.tell(d, {"stress": 4.0}, infeasible=True)
    assert [trial.outputs for trial in study.trials] == [
        {"mass": 1.0, "stress": 180.0},
        {"mass": 2.0},
        {"stress": 3.0},
        {"stress": 4.0},
    ]
    assert [trial.state for trial in study.trials] == ["measured", "measured", "failed", "infeasible"]
    assert study.best is not None and study.best.value == 2.0
    [e] = study.ask()
    for told, words in [
        ({"stress": 1.0}, "no output 'mass', there is stress"),
        ({}, "it is empty"),
        ({"mass": "much"}, r"value\['mass'\] is 'much'"),
        ({"mass": 1.0, 3: 2.0}, "3 is not the name of an output"),
    ]:
        with pytest.raises(tribo.ArgumentError, match=words):
            study.tell(e, told)
    with pytest.raises(tribo.TrialError, match="mass 2.0; if that is wrong, replace it"):
        study.tell(b, {"mass": 2.0, "stress": 1.0})
    assert study.add([0.5], {"mass": 0.5, "time": 7}).outputs == {"mass": 0.5, "time": 7.0}


def test_tables_have_a_column_for_each_output() -> None:
    study = tribo.Study([(0, 1)], objective="mass")
    a, b = study.ask(2)
    study.tell(a, {"mass": 1.0, "stress": 2.0, "x0": 9.0})
    study.tell(b, {"mass": 3.0})
    table = study.to_arrow()
    assert table.column_names == ["trial", "x0", "state", "mass", "stress", "output.x0", "reason"]
    assert table["stress"].to_pylist() == [2.0, None] and table["output.x0"].to_pylist() == [9.0, None]
    frame = study.to_dataframe()
    assert list(frame["mass"]) == [1.0, 3.0]
    assert tribo.Study([(0, 1)]).to_arrow().column_names == ["trial", "x0", "state", "value", "reason"]


def test_outputs_survive_on_disk(tmp_path: Path) -> None:
    with tribo.Study.create(tmp_path, [(0, 1)], objective="mass", seed=3) as study:
        [trial] = study.ask()
        study.tell(trial, {"mass": 0.1 + 0.2, "stress": 180.0})
    again = tribo.Study.open(tmp_path)
    assert again.trials[0].outputs == {"mass": 0.1 + 0.2, "stress": 180.0}
    assert again.objective == "mass" and again.trials[0].value == 0.1 + 0.2
    with pytest.raises(tribo.ArgumentError, match="objective: "):
        tribo.Study([(0, 1)], objective="")
    with pytest.raises(tribo.ArgumentError, match="direction: "):
        tribo.Study([(0, 1)], objective="mass", direction="up")
    with pytest.raises(tribo.ArgumentError, match="direction"):
        tribo.Study([(0, 1)], objective="mass", direction="record")


def test_optuna_keeps_outputs_as_user_attributes() -> None:
    optuna = pytest.importorskip("optuna")
    optuna.logging.set_verbosity(optuna.logging.ERROR)

    def height(trial: Any) -> dict[str, float]:
        h = trial.suggest_float("h", 0.1, 2)
        return {"stress": 1 / h} if h > 1.5 else {"mass": np.float64(h), "stress": 1 / h}

    study = optuna.create_study(sampler=tribo.optuna.TriboSampler(seed=1))
    study.optimize(tribo.optuna.with_outputs(height, "mass"), n_trials=15)
    for trial in study.trials:
        assert trial.user_attrs["stress"] == 1 / trial.params["h"]
        assert trial.user_attrs.get("mass") == trial.value
    assert study.best_value < 0.2
