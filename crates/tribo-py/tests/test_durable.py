"""Studies on disk: made, opened, shared with the program and with other processes."""

import gc
import json
import os
import subprocess

import numpy as np
import pytest

import tribo

BOUNDS = [(-5.0, 10.0), (0.0, 15.0)]
SPACE = {"x": tribo.Float(1, 2), "kind": tribo.Categorical(["a", "b"]), "v": tribo.Float(0, 1, size=2)}


def records(store):
    return [json.loads(line.split(" ", 2)[2]) for line in (store / "journal").read_text().splitlines()]


def test_what_is_asked_and_told_is_on_disk_at_once(tmp_path):
    study = tribo.Study.create(tmp_path / "new" / "folder", BOUNDS, seed=4, evaluations=10, direction="maximize")
    store = tmp_path / "new" / "folder" / "study.tribo"
    trials = study.ask(2)
    assert [record["type"] for record in records(store)][-2:] == ["asked", "asked"]
    study.tell(trials[0], 0.1 + 0.2)
    assert records(store)[-1]["value"] == 0.1 + 0.2
    study.tell(trials[1], failed="no licence")
    assert records(store)[-1]["reason"] == "failed: no licence"
    study.close()
    assert records(store)[-1]["type"] == "closed"
    assert study.path.endswith("study.toml")


def test_a_study_opens_by_file_folder_and_store(tmp_path):
    with tribo.Study.create(tmp_path, BOUNDS) as study:
        asked = study.ask(2)
        study.tell(asked[0], 1.0)
    for path in (tmp_path, tmp_path / "study.toml", str(tmp_path / "study.tribo")):
        again = tribo.Study.open(path)
        assert [list(trial.x) for trial in again.trials] == [list(trial.x) for trial in asked]
        assert again.best.value == 1.0


def test_opened_studies_keep_the_form_of_their_points(tmp_path):
    tribo.Study.create(tmp_path, BOUNDS, name="list").ask()
    tribo.Study.create(tmp_path, SPACE, name="mapping").ask()
    assert isinstance(tribo.Study.open(tmp_path / "list.toml").trials[0].x, np.ndarray)
    point = tribo.Study.open(tmp_path / "mapping.toml").trials[0].x
    assert list(point) == ["x", "kind", "v"] and point["v"].shape == (2,)


def test_one_writes_and_others_look(tmp_path):
    study = tribo.Study.create(tmp_path, BOUNDS)
    trial = study.ask()[0]
    other = tribo.Study.open(tmp_path)
    assert len(other.trials) == 1
    for change in (lambda: other.ask(), lambda: other.tell(trial, 1.0)):
        with pytest.raises(tribo.StoreError, match=f"in use by process {os.getpid()}"):
            change()
    study.close()
    # What the other has seen may be old; what it takes is what there is.
    study.tell(trial, 3.0)
    study.close()
    assert other.best is None
    assert other.ask()[0].id == 1
    assert other.best.value == 3.0
    # And back.
    with pytest.raises(OSError):
        study.ask()
    other.close()
    assert study.ask()[0].id == 2


def test_a_study_is_given_back_when_it_is_gone(tmp_path):
    study = tribo.Study.create(tmp_path, BOUNDS)
    study.ask()
    del study
    gc.collect()
    with tribo.Study.open(tmp_path) as study:
        study.ask()
    with pytest.raises(RuntimeError):
        with tribo.Study.open(tmp_path) as study:
            study.ask()
            raise RuntimeError
    assert tribo.Study.open(tmp_path).ask()[0].id == 3


def test_a_killed_process_leaves_what_it_was_given(tmp_path, python):
    code = (
        f"import tribo, os; s = tribo.Study.create({str(tmp_path)!r}, [(0, 1)], seed=9); "
        "s.tell(s.ask(3)[1], 5.0); os._exit(0)"
    )
    subprocess.run([python, "-c", code], check=True, timeout=60)
    study = tribo.Study.open(tmp_path)
    assert [trial.state for trial in study.trials] == ["pending", "measured", "pending"]
    fresh = tribo.Study([(0, 1)], seed=9)
    fresh.tell(fresh.ask(3)[1], 5.0)
    assert list(study.ask()[0].x) == list(fresh.ask()[0].x)


def test_a_forked_process_writes_nothing_and_keeps_nothing(tmp_path):
    study = tribo.Study.create(tmp_path, BOUNDS)
    study.ask()
    before = records(tmp_path / "study.tribo")
    (tried, say_tried), (done, say_done) = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        os.close(say_done)
        try:
            study.ask()
        except tribo.StoreError:
            os.write(say_tried, b"refused")
        else:
            os.write(say_tried, b"asked")
        del study
        # Lives on, with the files it has inherited, until the parent is done.
        os.read(done, 1)
        os._exit(0)
    assert os.read(tried, 100) == b"refused"
    assert records(tmp_path / "study.tribo") == before
    study.close()
    other = tribo.Study.open(tmp_path)
    assert other.ask()[0].id == 1
    os.close(say_done)
    os.waitpid(child, 0)


def test_the_program_reads_what_python_made(program, tmp_path):
    with tribo.Study.create(tmp_path, SPACE, name="wing", evaluations=5) as study:
        trials = study.ask(2)
        study.tell(trials[0], 2.5)
    file = str(tmp_path / "wing.toml")
    best = subprocess.run([program, "best", file, "--json"], capture_output=True, text=True, check=True).stdout
    assert "2.5" in best
    subprocess.run([program, "tell", file, "1", "1.25"], capture_output=True, check=True)
    assert tribo.Study.open(file).best.value == 1.25


STUDY_FILE = """study_version = 1
direction = "minimize"
[[parameter]]
name = "x"
type = "float"
low = 0
high = 1
"""


def test_python_goes_on_with_what_the_program_made(program, tmp_path):
    file = tmp_path / "hand.toml"
    file.write_text(STUDY_FILE)
    # Without a store yet: the first ask makes it.
    with tribo.Study.open(file) as study:
        assert study.trials == [] and not (tmp_path / "hand.tribo").exists()
        first = study.ask()[0]
    done = subprocess.run([program, "ask", str(file)], capture_output=True, check=True).stdout
    trial = json.loads(done)["trials"][0]
    with tribo.Study.open(file) as study:
        assert study.trials[1].x == trial["params"]
        study.tell(1, 0.5)
        study.tell(first, 0.25)
        assert study.best.x == first.x


@pytest.mark.parametrize(
    "make, error, words",
    [
        (lambda path: tribo.Study.open(path / "none"), tribo.StoreError, ["none", "there is no study here"]),
        (lambda path: tribo.Study.open(path), tribo.StoreError, ["study.toml"]),
        (lambda path: tribo.Study.create(path / "used", BOUNDS), tribo.StoreError, ["study.toml", "Study.open"]),
        (lambda path: tribo.Study.create(path, [(1, 0)]), tribo.ArgumentError, ["space[0].low"]),
        (lambda path: tribo.Study.create(path, BOUNDS, name="a/b"), tribo.ArgumentError, ["name", "a/b"]),
        (lambda path: tribo.Study.create(path, BOUNDS, name=""), tribo.ArgumentError, ["name"]),
        (lambda path: tribo.Study.create(path, BOUNDS, name=3), tribo.ArgumentError, ["name"]),
        (lambda path: tribo.Study.create(path / "used" / "study.toml", BOUNDS), tribo.StoreError, ["study.toml"]),
        (lambda path: tribo.Study.open(path / "bad.toml"), tribo.ArgumentError, ["bad.toml:1:1", "dirction"]),
    ],
)
def test_what_cannot_be_made_or_opened(make, error, words, tmp_path):
    tribo.Study.create(tmp_path / "used", BOUNDS).close()
    (tmp_path / "bad.toml").write_text("dirction = 'up'\n")
    before = sorted(os.listdir(tmp_path))
    with pytest.raises(error) as caught:
        make(tmp_path)
    assert all(word in str(caught.value) for word in words), caught.value
    assert sorted(os.listdir(tmp_path)) == before


def test_a_damaged_journal_is_a_store_error(tmp_path):
    with tribo.Study.create(tmp_path, BOUNDS) as study:
        study.ask(3)
    journal = tmp_path / "study.tribo" / "journal"
    damaged = bytearray(journal.read_bytes())
    damaged[len(damaged) // 2] ^= 1
    journal.write_bytes(damaged)
    with pytest.raises(tribo.StoreError, match="damaged at byte"):
        tribo.Study.open(tmp_path)


def test_a_budget_that_is_spent_can_be_raised(tmp_path):
    study = tribo.Study.create(tmp_path, BOUNDS, evaluations=2)
    study.ask(2)
    with pytest.raises(tribo.ArgumentError, match=r"budget of 2 evaluations is spent.*study\.toml"):
        study.ask()
    study.close()
    file = tmp_path / "study.toml"
    file.write_text(file.read_text().replace("evaluations = 2", "evaluations = 3"))
    assert len(study.ask(5)) == 1
    study.close()
    file.write_text(file.read_text().replace("seed = 0", "seed = 1"))
    with pytest.raises(tribo.ArgumentError, match="seed 0 -> 1"):
        study.ask()


def test_a_changed_study_goes_on_in_a_new_chapter(tmp_path):
    study = tribo.Study.create(tmp_path, {"x": tribo.Float(-2, 2)}, seed=3)
    for _ in range(6):
        (trial,) = study.ask()
        study.tell(trial, float(trial.params["x"]) ** 2)
    study.close()
    file = tmp_path / "study.toml"
    file.write_text(file.read_text().replace("high = 2", "high = 4"))
    with pytest.raises(tribo.ArgumentError, match="--new-chapter"):
        tribo.Study.open(tmp_path).ask()
    with tribo.Study.open(tmp_path, new_chapter=True) as study:
        assert [trial.id for trial in study.trials] == list(range(6))
        assert study.best is not None
        (trial,) = study.ask()
        assert trial.id == 6
        study.tell(trial, 1.0)
    assert len(tribo.Study.open(tmp_path).trials) == 7
