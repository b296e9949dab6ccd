"""Studies in memory: what they take, what they give, and what they say when an argument is wrong."""

import copy
import math
import pickle
import subprocess
import threading

import numpy as np
import pytest

import tribo

BOUNDS = [(-5.0, 10.0), (0.0, 15.0)]
SPACE = {
    "x": tribo.Float(-1, 2),
    "rate": tribo.Float(1e-5, 1e-1, log=True),
    "layers": tribo.Int(1, 8),
    "solver": tribo.Categorical(["cg", "gmres", "lu"]),
    "v": tribo.Float(0, 1, size=3),
    "flags": tribo.Categorical(["on", "off"], size=2),
    "counts": tribo.Int(0, 3, size=2),
}


def bowl(x):
    return float((np.asarray(x) ** 2).sum())


def test_a_list_of_bounds_gives_arrays():
    study = tribo.Study(BOUNDS, seed=1)
    trials = study.ask(3)
    assert [trial.id for trial in trials] == [0, 1, 2]
    for trial in trials:
        assert trial.x.dtype == np.float64 and trial.x.shape == (2,)
        assert list(trial.params) == ["x0", "x1"] and list(trial.params.values()) == list(trial.x)
        assert (trial.state, trial.value, trial.reason) == ("pending", None, None)
    assert all(low <= x <= high for trial in trials for x, (low, high) in zip(trial.x, BOUNDS))


def test_a_mapping_gives_dictionaries():
    study = tribo.Study(SPACE, seed=1)
    for trial in study.ask(5):
        assert trial.x == trial.params or list(trial.x) == list(SPACE)
        assert type(trial.x["x"]) is float and type(trial.x["layers"]) is int
        assert trial.x["solver"] in ("cg", "gmres", "lu")
        assert trial.x["v"].shape == (3,) and trial.x["v"].dtype == np.float64
        assert trial.x["counts"].dtype == np.int64
        assert all(flag in ("on", "off") for flag in trial.x["flags"])


def test_arrays_of_bounds_and_numbers_of_numpy_are_taken():
    from_array = tribo.Study(np.array(BOUNDS), seed=np.int64(3)).ask(np.int32(2))
    from_list = tribo.Study(BOUNDS, seed=3).ask(2)
    assert [list(a.x) for a in from_array] == [list(b.x) for b in from_list]
    large = tribo.Study([(0, 10**300)]).ask()[0]
    assert 0 <= large.x[0] <= 1e300


def test_states_and_best():
    study = tribo.Study(BOUNDS, direction="maximize", seed=2)
    assert study.best is None
    trials = study.ask(6)
    study.tell(trials[0], 1.5)
    study.tell(trials[1].id, np.float32(2.5))
    study.tell(trials[2], failed="diverged")
    study.tell(trials[3], infeasible=True)
    study.tell(trials[4], math.nan)
    states = [(trial.state, trial.value, trial.reason) for trial in study.trials]
    assert states == [
        ("measured", 1.5, None),
        ("measured", 2.5, None),
        ("failed", None, "diverged"),
        ("infeasible", None, None),
        ("invalid", None, "NaN"),
        ("pending", None, None),
    ]
    assert study.best.id == 1 and study.best.value == 2.5
    assert list(study.best.x) == list(trials[1].x)
    assert study.direction == "maximize" and study.path is None
    assert "6 trials" in repr(study) and study.explanation.startswith("bo:")


def test_one_is_not_written_as_many():
    study = tribo.Study(BOUNDS, direction="maximize")
    study.ask()
    assert ", 1 trial, " in repr(study)
    result = tribo.minimize(lambda x: x[0], bounds=BOUNDS, evaluations=1)
    assert repr(result).endswith(", 1 evaluation)")


def test_telling_twice():
    study = tribo.Study(BOUNDS, direction="maximize")
    first, second = study.ask(2)
    study.tell(first, 1.0)
    study.tell(first, 1.0)
    study.tell(second, failed="lost")
    study.tell(second, failed="lost")
    # In the user's direction.
    with pytest.raises(tribo.TrialError, match=r"trial 0 has an outcome already, the value 1\.0"):
        study.tell(first, 2.0)
    with pytest.raises(tribo.TrialError, match="trial 1 has an outcome already, failed"):
        study.tell(second, 2.0)
    assert study.trials[0].value == 1.0


def test_an_outcome_is_replaced_and_an_accident_is_none_of_the_point_s(tmp_path):
    file = tmp_path / "study"
    in_memory = tribo.Study(BOUNDS, evaluations=9, seed=3)
    on_disk = tribo.Study.create(file, BOUNDS, evaluations=9, seed=3)
    points = []
    for study in (in_memory, on_disk):
        first, second, third, fourth = study.ask(4)
        study.tell(first, -50.0)
        study.tell(second, 2.0)
        study.tell(third, lost="no licence")
        study.tell(third, lost="no licence")
        with pytest.raises(tribo.TrialError, match=r"replace=True"):
            study.tell(first, 5.0)
        with pytest.raises(tribo.TrialError, match="no outcome that could be replaced"):
            study.tell(fourth, 5.0, replace=True)
        study.tell(first, 5.0, replace=True)
        study.tell(first, 5.0, replace=True)
        assert study.best.id == second.id
        assert [trial.state for trial in study.trials] == ["measured", "measured", "lost", "pending"]
        assert study.trials[2].reason == "no licence"
        with pytest.raises(tribo.ArgumentError, match="exactly one of"):
            study.tell(fourth, 1.0, lost="both")
        with pytest.raises(tribo.ArgumentError, match="lost is True"):
            study.tell(fourth, lost=True)
        # Six are left of nine: three were asked for that count.
        points.append([list(trial.x) for trial in study.ask(20)])
        assert len(points[-1]) == 6
    on_disk.close()
    again = tribo.Study.open(file)
    assert [trial.state for trial in again.trials[:4]] == ["measured", "measured", "lost", "pending"]
    assert [list(trial.x) for trial in again.trials[4:]] == points[0] == points[1]


def test_telling_unknown_trials():
    study = tribo.Study(BOUNDS)
    for id in (0, 7, -1, 2**70):
        with pytest.raises(tribo.TrialError, match=f"no trial {id}"):
            study.tell(id, 1.0)


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda: tribo.Study([(1, 0)]), ["space[0]", "[1, 0]", "low must be below high"]),
        (lambda: tribo.Study([(0, 1), (0, math.nan)]), ["space[1]", "nan"]),
        (lambda: tribo.Study([(-math.inf, 0)]), ["space[0].low", "inf"]),
        (lambda: tribo.Study([(0, "a")]), ["space[0].high", '"a"']),
        (lambda: tribo.Study([(0, None)]), ["space[0].high", "None"]),
        (lambda: tribo.Study([3]), ["space[0]", "pair (low, high)"]),
        (lambda: tribo.Study([(1, 2, 3)]), ["space[0]", "pair (low, high)"]),
        (lambda: tribo.Study(["ab"]), ["space[0]", "pair (low, high)"]),
        (lambda: tribo.Study(5), ["space is 5", "list of pairs"]),
        (lambda: tribo.Study([]), ["space is empty"]),
        (lambda: tribo.Study({}), ["space is empty"]),
        (lambda: tribo.Study({"x": (0, 1)}), ["space['x']", "tribo.Float"]),
        (lambda: tribo.Study({3: tribo.Float(0, 1)}), ["space[3]", "strings"]),
        (lambda: tribo.Study({"": tribo.Float(0, 1)}), ["space['']", "name"]),
        (lambda: tribo.Study({"a=b": tribo.Float(0, 1)}), ["space['a=b']", "rename"]),
        (lambda: tribo.Study({"x": tribo.Float(0, 1, log=True)}), ["space['x'].low", "log"]),
        (lambda: tribo.Study({"x": tribo.Int(0.5, 2)}), ["space['x'].low", "whole number"]),
        (lambda: tribo.Study({"x": tribo.Int(0, 10**30)}), ["space['x'].high", "whole number"]),
        (lambda: tribo.Study({"x": tribo.Float(0, 1, size=0)}), ["space['x'].size", "0"]),
        (lambda: tribo.Study({"x": tribo.Categorical(["a"])}), ["space['x']", "choices"]),
        (lambda: tribo.Study({"x": tribo.Categorical(["a", "a"])}), ["space['x']", "a"]),
        (lambda: tribo.Study({"x": tribo.Categorical([1, 2])}), ["space['x']", "choices", "strings"]),
        (lambda: tribo.Study({"x": tribo.Categorical("ab")}), ["space['x']", "choices", "strings"]),
        (lambda: tribo.Study(BOUNDS, direction="min"), ["direction", "minimize"]),
        (lambda: tribo.Study(BOUNDS, direction=None), ["direction", "None"]),
        (lambda: tribo.Study(BOUNDS, strategy="magic"), ["strategy", "magic"]),
        (lambda: tribo.Study(BOUNDS, strategy={"name": "bo", "kernal": "rbf"}), ["strategy['kernal']", "kernel"]),
        (lambda: tribo.Study(BOUNDS, strategy={"name": "bo", "ard": 3}), ["strategy['ard']", "3"]),
        (lambda: tribo.Study(BOUNDS, strategy={"name": "random", "ard": True}), ["strategy['ard']", "random"]),
        (lambda: tribo.Study(BOUNDS, strategy=object()), ["strategy", "object"]),
        (lambda: tribo.Study(BOUNDS, seed=-1), ["seed", "-1"]),
        (lambda: tribo.Study(BOUNDS, seed=1.5), ["seed", "1.5"]),
        (lambda: tribo.Study(BOUNDS, evaluations=0), ["evaluations", "0"]),
        (lambda: tribo.Study(BOUNDS).ask(0), ["k is 0"]),
        (lambda: tribo.Study(BOUNDS).ask(1.5), ["k is 1.5"]),
        (lambda: tribo.Study(BOUNDS).ask("two"), ["k is 'two'"]),
        (lambda: tribo.Study(BOUNDS).ask(10**30), ["k is", "at most"]),
    ],
)
def test_wrong_arguments_are_named(make, words):
    with pytest.raises(tribo.ArgumentError) as caught:
        make()
    assert isinstance(caught.value, ValueError) and isinstance(caught.value, tribo.TriboError)
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize(
    "arguments, word",
    [
        (dict(), "exactly one"),
        (dict(value=1.0, infeasible=True), "exactly one"),
        (dict(value=1.0, failed="x"), "exactly one"),
        (dict(value="1.0x"), "value is"),
        (dict(value=[1.0, 2.0]), "value is"),
        (dict(failed=3), "failed is"),
    ],
)
def test_wrong_outcomes_are_named(arguments, word):
    study = tribo.Study(BOUNDS)
    trial = study.ask()[0]
    with pytest.raises(tribo.ArgumentError, match=word):
        study.tell(trial, **arguments)
    with pytest.raises(tribo.ArgumentError, match="trial is"):
        study.tell("first", 1.0)
    assert study.trials[0].state == "pending"


def test_names_with_every_character_survive():
    names = ['quo"te', "back\\slash", "new\nline", "tab\tbed", "µ", "😀", "del\x7f", "bell\x07", "dot.ted", "a b"]
    study = tribo.Study({name: tribo.Categorical(names) for name in names})
    trial = study.ask()[0]
    assert list(trial.x) == names and all(choice in names for choice in trial.x.values())


def test_the_budget_ends_a_study():
    study = tribo.Study(BOUNDS, evaluations=5)
    assert len(study.ask(4)) == 4
    assert len(study.ask(4)) == 1
    with pytest.raises(tribo.ArgumentError, match="budget of 5 evaluations is spent.*`evaluations`"):
        study.ask()


def test_a_finite_space_runs_out():
    study = tribo.Study({"n": tribo.Int(0, 3)}, strategy="random")
    points = [trial.x["n"] for trial in study.ask(10)]
    assert sorted(points) == [0, 1, 2, 3]
    assert study.ask() == []


def test_posterior_of_a_list_of_bounds():
    study = tribo.Study(BOUNDS, strategy="bo")
    with pytest.raises(tribo.ArgumentError, match="no measured value"):
        study.posterior([[0.0, 0.0]])
    trials = study.ask(8)
    for trial in trials:
        study.tell(trial, bowl(trial.x))
    mean, sd = study.posterior(np.array([trial.x for trial in trials]))
    assert mean.shape == sd.shape == (8,)
    # It goes through its data, but for the noise it may believe in: a twentieth of their range is far more.
    values = [bowl(trial.x) for trial in trials]
    np.testing.assert_allclose(mean, values, rtol=0, atol=0.05 * np.ptp(values))
    assert (sd >= 0).all() and sd.max() < np.ptp(values)
    mean32, _ = study.posterior(np.float32([[1, 2]]))
    np.testing.assert_array_equal(mean32, study.posterior([[1.0, 2.0]])[0])
    assert study.posterior(np.empty((0, 2)))[0].shape == (0,)


@pytest.mark.parametrize(
    "X, words",
    [
        ([0.0, 0.0], ["X has shape (2,)", "(points, 2)"]),
        ([[0.0]], ["X has shape (1, 1)"]),
        ([["a", "b"]], ["X is"]),
        ([[0.0, math.nan]], ["X[0]", "x1"]),
        ([[0.0, 0.0], [0.0, 99.0]], ["X[1]", "x1", "99"]),
        (None, ["X"]),
    ],
)
def test_posterior_names_what_is_wrong_with_arrays(X, words):
    study = tribo.Study(BOUNDS)
    study.tell(study.ask()[0], 1.0)
    with pytest.raises(tribo.ArgumentError) as caught:
        study.posterior(X)
    assert all(word in str(caught.value) for word in words), caught.value


def test_posterior_of_a_mapping():
    study = tribo.Study(SPACE, strategy="bo")
    trials = study.ask(8)
    for trial in trials:
        study.tell(trial, trial.x["x"])
    mean, sd = study.posterior([trial.x for trial in trials])
    np.testing.assert_allclose(mean, [trial.x["x"] for trial in trials], rtol=0, atol=0.05 * 3)
    good = trials[0].x
    wrong = [
        (good, "X is"),
        ([3], r"X\[0\] is 3"),
        ([{**good, "y": 1}], "no parameter 'y'"),
        ([{name: good[name] for name in list(good)[1:]}], "'x' is missing"),
        ([{**good, "solver": "qr"}], "solver"),
        ([{**good, "layers": 2.5}], "layers"),
        ([{**good, "v": 0.5}], "`v` is a vector of 3"),
        ([{**good, "v": [0.5]}], "v"),
    ]
    for X, word in wrong:
        with pytest.raises(tribo.ArgumentError, match=word):
            study.posterior(X)


@pytest.mark.parametrize("strategy", ["random", {"name": "bo", "embedding": "hashing", "model_dim": 1}])
def test_without_a_model_of_every_coordinate_there_is_no_posterior(strategy):
    study = tribo.Study(BOUNDS, strategy=strategy)
    study.tell(study.ask()[0], 1.0)
    with pytest.raises(tribo.ArgumentError, match="no posterior.*identity"):
        study.posterior([[0.0, 0.0]])


def test_tables():
    study = tribo.Study(SPACE)
    trials = study.ask(3)
    study.tell(trials[0], 0.1 + 0.2)
    study.tell(trials[1], failed="x")
    frame, table = study.to_dataframe(), study.to_arrow()
    columns = ["trial", "x", "rate", "layers", "solver", "v[0]", "v[1]", "v[2]", "flags[0]", "flags[1]"]
    assert list(frame.columns) == table.column_names
    assert list(frame.columns) == [*columns, "counts[0]", "counts[1]", "state", "value", "reason"]
    assert list(frame["x"]) == [trial.x["x"] for trial in trials] == table["x"].to_pylist()
    assert table["value"].to_pylist() == [0.1 + 0.2, None, None]
    assert table.schema.field("layers").type == "int64" and table.schema.field("value").type == "double"
    empty = tribo.Study(SPACE)
    assert len(empty.to_dataframe()) == empty.to_arrow().num_rows == 0


def test_tables_without_their_packages(monkeypatch):
    study = tribo.Study(BOUNDS)
    for name in ("pandas", "pyarrow"):
        monkeypatch.setitem(__import__("sys").modules, name, None)
    with pytest.raises(ImportError, match="pip install pandas"):
        study.to_dataframe()
    with pytest.raises(ImportError, match="pip install pyarrow"):
        study.to_arrow()


def test_pickling_is_refused():
    study = tribo.Study(BOUNDS)
    for attempt in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match=r"Study\.open\(path\)"):
            attempt(study)
    trial = pickle.loads(pickle.dumps(study.ask()[0]))
    study.tell(trial, 1.0)
    assert study.best.id == 0


def test_threads_share_a_study():
    study = tribo.Study(BOUNDS)
    errors = []

    def work():
        try:
            for _ in range(5):
                for trial in study.ask(2):
                    study.tell(trial, bowl(trial.x))
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert len(study.trials) == 40 and all(trial.state == "measured" for trial in study.trials)


@pytest.mark.parametrize("long", [True, False])
def test_a_panic_is_an_internal_error(long):
    if not hasattr(tribo._core, "_panic"):
        pytest.skip("this build has no debug assertions")
    with pytest.raises(tribo.InternalError, match="a defect of tribo: as asked; please report it"):
        tribo._core._panic(long)


INTERRUPTED = """
import os, signal, threading, time
import numpy as np
import tribo

def fresh():
    study = tribo.Study([(0, 1)] * 12, strategy={"name": "bo", "initial": 300}, seed=5)
    for trial in study.ask(300):
        study.tell(trial, float(np.sin(9 * trial.x).sum()))
    return study

study, sent = fresh(), []
def interrupt():
    sent.append(time.monotonic())
    os.kill(os.getpid(), signal.SIGINT)
threading.Timer(SECONDS, interrupt).start()
try:
    study.ask(100_000)
    print("not interrupted")
except KeyboardInterrupt:
    print(time.monotonic() - sent[0])
# Nothing has happened: the next points are those of a study that was never interrupted.
assert len(study.trials) == 300
assert [list(t.x) for t in study.ask(2)] == [list(t.x) for t in fresh().ask(2)]
"""


# In the first fit, and after some points of the lot are there.
@pytest.mark.parametrize("seconds", [0.2, 3.0])
def test_ctrl_c_ends_an_ask_within_a_second(python, seconds):
    done = subprocess.run(
        [python, "-c", INTERRUPTED.replace("SECONDS", str(seconds))], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 1.0


def test_the_recommended_point_under_noise_and_without() -> None:
    study = tribo.Study([(-1, 1)], seed=1)
    assert study.recommended is None
    study.add([0.25], 3.0)
    assert study.recommended.trial.id == study.best.id and study.recommended.interval is None
    assert study.recommended.value == 3.0

    seed = 5
    noise = np.random.default_rng(seed).normal(0, 0.6, 60)
    study = tribo.Study([(-1, 1)], seed=1)
    for i in range(60):
        x = i % 20 / 9.5 - 1
        study.add([x], -4.0 if i == 59 else 3 * x * x + noise[i])
    recommended = study.recommended
    assert study.best.id == 59
    low, high = recommended.interval
    assert abs(recommended.x[0]) < 0.4 and low < recommended.value < high, f"seed {seed}: {recommended}"
    assert recommended.params.keys() == recommended.trial.params.keys()
