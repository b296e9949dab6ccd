"""Constraints between parameters."""

from __future__ import annotations

from typing import Any

import pytest
import tribo

SPACE = {"x": tribo.Float(-2, 2), "y": tribo.Float(-2, 2), "v": tribo.Float(0, 1, size=3), "n": tribo.Int(1, 9)}


def bowl(x: Any) -> float:
    return (x["x"] - 1) ** 2 + (x["y"] - 1.5) ** 2 + sum(x["v"]) + x["n"]


@pytest.mark.parametrize("strategy", ["bo", "auto", "random", "paper"])
def test_every_proposal_meets_them(strategy: str) -> None:
    constraints = ["x + y <= 1", "sum(v) >= 0.5", "n * x < 3"]
    result = tribo.minimize(bowl, SPACE, constraints=constraints, strategy=strategy, evaluations=12, seed=1)
    for trial in result.trials:
        x = trial.x
        assert x["x"] + x["y"] <= 1 and x["v"][0] + x["v"][1] + x["v"][2] >= 0.5 and x["n"] * x["x"] < 3


def test_the_border_is_reached() -> None:
    bounds = [(-2.0, 2.0), (-2.0, 2.0)]
    result = tribo.minimize(lambda x: (x[0] - 1) ** 2 + (x[1] - 1.5) ** 2, bounds, constraints=["x0 + x1 <= 1"], evaluations=25, seed=2)
    assert result.value == pytest.approx(1.125, abs=1e-6)


def test_beside_limits_on_outputs() -> None:
    def beam(x: Any) -> dict[str, float]:
        return {"mass": 3 * x["h"] + x["w"], "stress": 2 / x["h"]}

    space = {"h": tribo.Float(0.2, 2), "w": tribo.Float(0.2, 2)}
    constraints = ["stress <= 2", "h + w >= 1.5"]
    result = tribo.minimize(beam, space, objective="mass", constraints=constraints, evaluations=20, seed=2)
    assert all(trial.x["h"] + trial.x["w"] >= 1.5 for trial in result.trials)
    assert [limit["output"] for limit in result.study.limits] == ["stress"]
    assert result.value == pytest.approx(3.5, abs=1e-3)


def test_ask_and_tell_and_results_from_before() -> None:
    study = tribo.Study({"x": tribo.Float(0, 1), "y": tribo.Float(0, 1)}, constraints=["x + y <= 1"], seed=1)
    study.add({"x": 0.9, "y": 0.9}, -1.0)
    for _ in range(10):
        [trial] = study.ask()
        assert trial.x["x"] + trial.x["y"] <= 1
        study.tell(trial, trial.x["x"])
    assert study.best is not None and study.best.value == -1.0


@pytest.mark.parametrize(
    ("constraint", "words"),
    [
        ("x + yy <= 1", "no parameter is called `yy`"),
        ("x + <= 1", "a number or a name was expected"),
        ("x + y >= 9", "no point within the bounds meets the constraint"),
        ("x == 1", "an equality is met by no float"),
        ("v <= 1", "`v` has 3 elements"),
    ],
)
def test_what_is_wrong_is_said(constraint: str, words: str) -> None:
    with pytest.raises(tribo.ArgumentError, match="constraints") as caught:
        tribo.Study(SPACE, constraints=[constraint])
    assert words in str(caught.value)
