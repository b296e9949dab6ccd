"""Studies with very many results: fits beside the asks, and tables that are read for what they say."""

import re
import time

import numpy as np
import pytest

import tribo

STRATEGY = {"name": "bo", "inducing": 20, "refit_growth": 1.002}


def value(x):
    return float((x[0] - 0.3) ** 2 + (1 - np.cos(3 * x[1])))


def test_fits_are_made_beside_and_a_study_on_disk_keeps_which_model_asked(tmp_path):
    study = tribo.Study.create(tmp_path, [(-1, 2), (-1, 2)], strategy=STRATEGY, seed=3)
    for x in np.random.default_rng(1).uniform(-1, 2, (4000, 2)):
        study.add(x, value(x))
    journal = tmp_path / "study.tribo" / "journal"
    begin = time.monotonic()
    # A fit that was made beside says how many results it is of.
    while not re.search(r'"fit":{[^}]*"results":4\d\d\d}', journal.read_text()):
        assert time.monotonic() < begin + 60, "no fit made beside arrives"
        (trial,) = study.ask(beside=True)
        study.tell(trial, value(trial.x))
        time.sleep(0.02)
    points = [trial.x for trial in study.trials]
    study.close()
    again = tribo.Study.open(tmp_path)
    assert all((trial.x == x).all() for trial, x in zip(again.trials, points))
    assert len(again.ask()) == 1


def wide(tmp_path, n=3000, d=60):
    rng = np.random.default_rng(2)
    x = rng.uniform(0, 1, (n, d))
    y = (x[:, 7] - 0.3) ** 2 + x[:, 40] * x[:, 7] + x[:, 40]
    path = tmp_path / "old.npy"
    np.save(path, np.column_stack([x, y]))
    return path


def test_a_table_is_read_for_what_it_says(tmp_path):
    path = wide(tmp_path)
    studies = [tribo.Study([(0, 1)] * 60, seed=1), tribo.Study.create(tmp_path, [(0, 1)] * 60, seed=1)]
    asked = []
    for study in studies:
        assert study.recall(path) == ["x7", "x40"]
        trials = study.ask(5)
        asked.append([trial.x for trial in trials])
        with pytest.raises(tribo.TriboError, match="before the first trial"):
            study.recall(path)
    assert np.array_equal(asked[0], asked[1])
    studies[1].close()
    again = tribo.Study.open(tmp_path)
    assert np.array_equal([trial.x for trial in again.trials], asked[0])


def test_a_table_that_does_not_fit_is_refused(tmp_path):
    path = wide(tmp_path)
    array = np.load(path)
    array[1234, 5] = 1.5
    np.save(path, array)
    study = tribo.Study([(0, 1)] * 60, seed=1)
    with pytest.raises(tribo.TriboError, match=r"1.5, outside of \[0, 1\]"):
        study.recall(path)
    assert study.recall(path, skip_outside=True) == ["x7", "x40"]
    with pytest.raises(tribo.TriboError, match="no column"):
        tribo.Study([(0, 1)] * 70).recall(path)
    with pytest.raises(tribo.TriboError, match="more than 40 inputs"):
        np.save(path, array[:, 50:])
        tribo.Study([(0, 1)] * 10).recall(path, skip_outside=True)
