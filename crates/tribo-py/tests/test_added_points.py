"""`Study.add`: points that were chosen elsewhere."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tribo

SPACE: dict[str, Any] = {
    "x": tribo.Float(-5, 5),
    "n": tribo.Int(1, 9),
    "kind": tribo.Categorical(["a", "b"]),
    "v": tribo.Float(0, 1, size=2),
}
POINT = {"x": 0.1, "n": 3, "kind": "b", "v": [0.25, 1 / 3]}


def test_a_point_with_a_value_is_measured_and_without_one_is_pending() -> None:
    study = tribo.Study([(-5, 5), (0, 1)])
    measured = study.add(np.array([1.5, 0.1]), 2.25)
    pending = study.add([-1.5, 0.2])
    assert (measured.state, measured.value, list(measured.x)) == ("measured", 2.25, [1.5, 0.1])
    assert (pending.state, pending.id) == ("pending", 1)
    study.tell(pending, failed="later")
    assert [trial.state for trial in study.trials] == ["measured", "failed"]
    assert study.best is not None and study.best.id == 0


def test_all_kinds_of_parameters_are_taken() -> None:
    study = tribo.Study(SPACE, direction="maximize")
    numpys = {**POINT, "x": np.float64(0.1), "n": np.int64(3), "v": np.array([0.25, 1 / 3])}
    for point in (POINT, numpys):
        params = study.add(point, 1.0).params
        assert (params["n"], params["kind"]) == (3, "b")
        # A study keeps places in the unit cube, whose numbers are a little coarser than those near zero.
        assert params["x"] == pytest.approx(0.1, abs=1e-14) and list(params["v"]) == pytest.approx([0.25, 1 / 3], abs=1e-15)


def test_on_disk_it_is_kept_and_goes_on_alike(tmp_path: Any) -> None:
    memory = tribo.Study(SPACE, seed=4)
    disk = tribo.Study.create(tmp_path, SPACE, seed=4)
    for study in (memory, disk):
        for i in range(6):
            study.add({**POINT, "x": i - 2.5, "n": i + 1}, float(i * i))
        study.add({**POINT, "x": 4.0})
    disk.close()
    again = tribo.Study.open(tmp_path)
    assert [trial.state for trial in again.trials] == ["measured"] * 6 + ["pending"]
    for mine, theirs in zip(memory.ask(2), again.ask(2), strict=True):
        assert repr(mine.params) == repr(theirs.params)


@pytest.mark.parametrize(
    "words, point",
    [
        ("x: there is no parameter 'y'", {**POINT, "y": 1.0}),
        ("x: parameter 'n' is missing", {name: value for name, value in POINT.items() if name != "n"}),
        ("x: .*`x`", {**POINT, "x": 6.0}),
        ("x: .*`x`", {**POINT, "x": "far"}),
        ("x: .*`kind`", {**POINT, "kind": "c"}),
        ("x: .*`v`", {**POINT, "v": [0.5]}),
        ("x: ", {**POINT, "x": float("nan")}),
        ("x is 3", 3),
        ("x: .*`x` is of type float", {**POINT, "x": object()}),
    ],
)
def test_points_that_are_none_are_refused(words: str, point: Any) -> None:
    study = tribo.Study(SPACE)
    with pytest.raises(tribo.ArgumentError, match=words):
        study.add(point, 1.0)
    assert study.trials == []


@pytest.mark.parametrize("x", [[1.0, 2.0], [], 1.0, [[1.0]], ["a"]])
def test_arrays_of_another_shape_are_refused(x: Any) -> None:
    with pytest.raises(tribo.ArgumentError, match="x"):
        tribo.Study([(-5, 5)]).add(x, 1.0)


@pytest.mark.parametrize(("strategy", "size"), [("random", 2), ("auto", 2), ("auto", 300)])
def test_every_strategy_takes_points(strategy: str, size: int) -> None:
    study = tribo.Study([(-5, 5)] * size, strategy=strategy, seed=3)
    added = study.add([1.0] * size, -7.0)
    asked = study.ask(2)
    study.tell(asked[0], 1.0)
    best = study.best
    assert best is not None
    assert (best.id, best.value) == (added.id, -7.0)
    assert best.x.tolist() == [1.0] * size
