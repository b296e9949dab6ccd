"""Pictures and reports of studies, in memory and on disk."""

import math
import pickle
import subprocess
import sys
import types
from xml.etree import ElementTree

import numpy as np
import pytest

import tribo

SPACE = {
    "x": tribo.Float(-2, 2),
    "rate": tribo.Float(1e-3, 10, log=True),
    "n": tribo.Int(1, 6),
    "mode": tribo.Categorical(["one", "two"]),
}
DRAWN = ["convergence", "slice", "contour", "importance", "parallel", "validation"]


def value(params):
    return float(params["x"] ** 2 + math.log10(params["rate"] / 0.1) ** 2 + 0.1 * params["n"])


def told(study, n=25):
    for _ in range(n):
        for trial in study.ask():
            study.tell(trial, value(trial.params))
    return study


@pytest.fixture(scope="module")
def study():
    return told(tribo.Study(SPACE, seed=1))


@pytest.mark.parametrize("kind", DRAWN)
def test_every_picture_is_an_svg_with_its_numbers(study, kind, tmp_path):
    picture = getattr(study.plot, kind)()
    assert isinstance(picture, tribo.Picture) and picture.kind == kind
    assert ElementTree.fromstring(picture._repr_svg_()).tag == "{http://www.w3.org/2000/svg}svg"
    assert picture.svg in picture._repr_html_()
    assert picture.data and all(isinstance(column, np.ndarray) for column in picture.data.values())
    picture.save(tmp_path / "picture.svg")
    assert (tmp_path / "picture.svg").read_text(encoding="utf-8") == picture.svg
    assert pickle.loads(pickle.dumps(picture)).svg == picture.svg
    with pytest.raises(tribo.ArgumentError, match="ends in .svg"):
        picture.save(tmp_path / "picture.png")


def test_numbers_are_those_of_the_study(study):
    data = study.plot.convergence().data
    assert data["trial"].tolist() == [trial.id for trial in study.trials]
    assert data["value"].tolist() == [trial.value for trial in study.trials]
    assert np.array_equal(data["best"], np.minimum.accumulate(data["value"]))
    along = study.plot.slice("x").data
    assert along["x"][0] == -2 and along["x"][-1] == 2
    assert np.all((along["low"] <= along["mean"]) & (along["mean"] <= along["high"]))
    best = study.best.params
    mean, sd = study.posterior([{**best, "x": x} for x in along["x"]])
    assert np.allclose(along["mean"], mean, rtol=1e-3, atol=1e-3 * np.ptp(mean))
    assert study.plot.slice("mode").data["x"].tolist() == ["one", "two"]
    over = study.plot.contour("x", "rate").data
    assert over["mean"].shape == (len(over["y"]), len(over["x"]))
    shares = study.plot.importance().data
    assert set(shares["input"]) == set(SPACE) and set(shares["input"][:2]) == {"x", "rate"}
    assert np.all((shares["total"] >= 0) & (shares["total"] <= 1) & (shares["total_sd"] >= 0))
    places = study.plot.parallel().data
    assert places["place"].shape == (25, 4) and places["place"].min() >= 0 and places["place"].max() <= 1
    left_out = study.plot.validation().data
    # Of results that lie next to each other the model has one.
    assert 8 <= len(left_out["trial"]) <= 25
    assert left_out["measured"].tolist() == [study.trials[trial].value for trial in left_out["trial"]]


def test_what_cannot_be_drawn_says_why(study):
    with pytest.raises(tribo.ArgumentError, match="no workers to draw: a study in memory"):
        study.plot.timeline()
    with pytest.raises(tribo.ArgumentError, match="no input `nope`; there is"):
        study.plot.slice("nope")
    with pytest.raises(tribo.ArgumentError, match="y: is missing"):
        study.plot.contour("x")
    with pytest.raises(tribo.ArgumentError, match="input is 3"):
        study.plot.slice(3)
    empty = tribo.Study(SPACE)
    for kind in DRAWN:
        with pytest.raises(tribo.ArgumentError, match="there is no"):
            getattr(empty.plot, kind)()
    assert "evaluated by hand" in empty._repr_html_()


def test_looking_changes_no_proposal():
    # The first ones are designs; from then on a look fits a model where the next ask would.
    looked, other = tribo.Study(SPACE, seed=3), tribo.Study(SPACE, seed=3)
    for n in range(16):
        [ours], [theirs] = looked.ask(), other.ask()
        assert ours.params == theirs.params
        looked.tell(ours, value(ours.params))
        other.tell(theirs, value(theirs.params))
        if n in (7, 11, 14):
            looked.plot.slice()
            looked._repr_html_()


def test_a_report_is_one_file(study, tmp_path):
    study.report(tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert text.startswith("<!DOCTYPE html>") and "</html>" in text
    assert "minimize value over 4 inputs" in text and "tribo run" not in text and "1970" not in text
    with pytest.raises(tribo.StoreError, match="cannot write"):
        study.report(tmp_path / "none" / "report.html")


def test_results_of_minimize_can_be_looked_at(tmp_path):
    result = tribo.minimize(lambda x: float((x**2).sum()), [(-5, 5), (-5, 5)], evaluations=15)
    assert result.plot.convergence().data["best"][-1] == result.value
    result.report(tmp_path / "report.html")
    assert "<svg" in result._repr_html_() and (tmp_path / "report.html").stat().st_size > 10_000


def test_a_study_on_disk_is_drawn_as_its_journal_is_now(program, tmp_path):
    with tribo.Study.create(tmp_path, SPACE, seed=1) as study:
        told(study, 12)
        mine = study.plot.slice("x").svg
        reader = tribo.Study.open(tmp_path)
        assert reader.plot.slice("x").svg == mine
        told(study, 3)
        assert len(reader.plot.convergence().data["trial"]) == 15
    drawn = subprocess.run([program, "plot", "slice", "--input", "x", tmp_path], capture_output=True, text=True, check=True)
    assert reader.plot.slice("x").svg == drawn.stdout
    with pytest.raises(tribo.ArgumentError, match="no evaluation was run by this program"):
        reader.plot.timeline()


def test_a_run_on_disk_has_a_timeline(program, tmp_path):
    subprocess.run([program, "init", "--template", "quick", tmp_path / "quick"], check=True, capture_output=True)
    subprocess.run([program, "run", tmp_path / "quick", "--quiet"], check=True, capture_output=True)
    data = tribo.Study.open(tmp_path / "quick").plot.timeline().data
    assert np.all(data["submitted"] <= data["start"]) and np.all(data["start"] <= data["end"])
    assert set(data["state"]) <= {"with a value", "without a value"} and data["worker"].min() == 0


def test_a_notebook_shows_how_far_a_run_is(monkeypatch):
    shown = notebook(monkeypatch)
    tribo.minimize(lambda x: float(x[0] ** 2), [(-5, 5)], evaluations=8)
    assert len({display for display, _ in shown}) == 1, "one output, drawn anew"
    first, last = shown[0][1], shown[-1][1]
    assert "8/8" in last["text/plain"] and "<svg" in last["text/html"] and '<progress value="8" max="8"' in last["text/html"]
    assert first["text/plain"].startswith("1/8")
    shown.clear()
    tribo.minimize(lambda x: float(x[0] ** 2), [(-5, 5)], evaluations=3, progress=False)
    assert not shown


def test_ipython_in_a_terminal_is_no_notebook(monkeypatch, capfd):
    shown = notebook(monkeypatch, shell=types.SimpleNamespace())
    tribo.minimize(lambda x: float(x[0] ** 2), [(-5, 5)], evaluations=3)
    assert not shown and capfd.readouterr().err == ""


def notebook(monkeypatch, shell=types.SimpleNamespace(kernel=object())):
    """A stand-in for IPython that keeps what is displayed, each with its output."""
    shown = []

    class Handle:
        def update(self, data, raw):
            shown.append((id(self), data))

    def display(data, raw, display_id):
        assert raw and display_id
        handle = Handle()
        handle.update(data, raw)
        kept.append(handle)
        return handle

    kept = []
    ipython, of_display = types.ModuleType("IPython"), types.ModuleType("IPython.display")
    ipython.get_ipython = lambda: shell
    of_display.display = display
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", of_display)
    return shown
