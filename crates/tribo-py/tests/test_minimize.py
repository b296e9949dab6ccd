"""`minimize` and `maximize`: what they find, what they refuse, and what they do when something breaks."""

from __future__ import annotations

import concurrent.futures
import io
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import functions
import tribo
from tribo._progress import Progress, clock


def points(result: tribo.Result) -> list[list[float]]:
    return [list(trial.x) for trial in result.trials]


# What is found


def test_the_readme_example_finds_branin_to_a_thousandth() -> None:
    # Twenty seeds, all of which must do it: the figure is a promise.
    for seed in range(20):
        result = tribo.minimize(functions.branin, functions.BRANIN_BOUNDS, evaluations=40, seed=seed)
        assert result.value - functions.BRANIN_BEST <= 1e-3, f"seed {seed}: {result}"
        assert result.evaluations == 40 and result.failed == 0
        assert functions.branin(result.x) == result.value


def test_maximize_is_minimize_of_the_negative() -> None:
    low = tribo.minimize(functions.square, [(-5, 5)], evaluations=12)
    high = tribo.maximize(lambda x: -functions.square(x), [(-5, 5)], evaluations=12)
    assert points(low) == points(high)
    assert high.value == -low.value


def test_a_named_space_gives_dicts() -> None:
    space = {"x": tribo.Float(-5, 5), "n": tribo.Int(1, 9), "kind": tribo.Categorical(["a", "b"])}
    seen: list[Any] = []

    def f(params: dict[str, Any]) -> float:
        seen.append(dict(params))
        return functions.square_of(params)

    result = tribo.minimize(f, space, evaluations=40)
    assert seen == [trial.params for trial in result.trials]
    assert result.x["n"] == 3 and result.x["kind"] == "a" and abs(result.x["x"] - 1) < 0.1


def test_bounds_is_another_name_for_space() -> None:
    a = tribo.minimize(functions.square, bounds=[(-5, 5)], evaluations=6)
    b = tribo.minimize(functions.square, space=[(-5, 5)], evaluations=6)
    assert points(a) == points(b)


def test_args_are_passed_on() -> None:
    result = tribo.minimize(functions.shifted, [(-5, 5)], evaluations=12, args=(2.0, 3.0))
    assert abs(result.x[0] - 2) < 0.1


def test_one_worker_is_deterministic_and_seeds_differ() -> None:
    def run(seed: int) -> list[list[float]]:
        return points(tribo.minimize(functions.branin, functions.BRANIN_BOUNDS, evaluations=15, seed=seed))

    assert run(1) == run(1)
    assert run(1) != run(2)


def test_it_is_ask_and_tell() -> None:
    study = tribo.Study(functions.BRANIN_BOUNDS, seed=3, evaluations=15)
    for _ in range(15):
        (trial,) = study.ask()
        study.tell(trial, functions.branin(trial.x))
    result = tribo.minimize(functions.branin, functions.BRANIN_BOUNDS, evaluations=15, seed=3)
    assert points(result) == [list(trial.x) for trial in study.trials]


def test_the_result_shows_itself() -> None:
    result = tribo.minimize(functions.fails_above_zero, [(-5, 5)], evaluations=10)
    assert result.failed > 0
    text = repr(result)
    assert f"value={result.value!r}" in text and "10 evaluations" in text and f"{result.failed} failed" in text


def test_a_finite_space_ends_when_it_is_used_up() -> None:
    result = tribo.minimize(lambda p: (p["n"] - 2) ** 2, {"n": tribo.Int(0, 4)}, evaluations=50)
    assert result.evaluations == 5 and result.x == {"n": 2}


# Failures


def test_an_exception_is_a_failed_trial_with_its_text() -> None:
    result = tribo.minimize(functions.fails_above_zero, [(-5, 5)], evaluations=15)
    failed = [trial for trial in result.trials if trial.state == "failed"]
    assert len(failed) == result.failed > 0
    assert failed[0].reason == f"OverflowError: no solution at {failed[0].x[0]:.3f}"
    assert result.x[0] <= 0


def test_nan_and_infinity_are_invalid() -> None:
    answers = iter([float("nan"), float("inf"), -float("inf"), 1.0, 2.0])
    result = tribo.minimize(lambda x: next(answers), [(0, 1)], evaluations=5)
    assert [trial.state for trial in result.trials] == ["invalid"] * 3 + ["measured"] * 2
    assert result.value == 1.0 and result.failed == 3


def test_all_failed_shows_the_first_and_keeps_the_study() -> None:
    with pytest.raises(tribo.EvaluationError, match="always_fails.*ZeroDivisionError: the mesh has no cells") as caught:
        tribo.minimize(functions.always_fails, [(0, 1)], evaluations=4)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert caught.value.study is not None and len(caught.value.study.trials) == 4


@pytest.mark.parametrize("returned", [None, "1.5", [1.0, 2.0], np.array([1.0, 2.0]), {}, 1j])
def test_what_is_no_number_is_refused_at_once(returned: Any) -> None:
    calls = []

    def objective(x: Any) -> Any:
        calls.append(x)
        return returned

    with pytest.raises(tribo.ArgumentError, match="f: objective must return a number.*trial 0"):
        tribo.minimize(objective, [(0, 1)], evaluations=5)
    assert len(calls) == 1


@pytest.mark.parametrize("number", [1, np.float32(1), np.int64(1), np.array(1.0), np.array([1.0]), True])
def test_all_sorts_of_numbers_are_numbers(number: Any) -> None:
    assert tribo.minimize(lambda x: number, [(0, 1)], evaluations=2).value == 1.0


@pytest.mark.parametrize(
    "words, arguments",
    [
        ("f: must be a function", {"f": 3}),
        ("space: is missing", {"space": None}),
        ("bounds: is another name", {"bounds": [(0, 1)]}),
        ("evaluations: must be at least 1", {"evaluations": 0}),
        ("evaluations: must be a whole number", {"evaluations": 2.5}),
        ("workers: must be at least 1", {"workers": 0}),
        ("workers: must be a whole number", {"workers": True}),
        ("executor: needs a method `submit`", {"executor": 4}),
        ("callback: must be a function", {"callback": 4}),
        ("args: must be a tuple", {"args": 4}),
        ("study: must be a tribo.Study", {"study": 4}),
    ],
)
def test_wrong_arguments_are_named(words: str, arguments: dict[str, Any]) -> None:
    arguments = {"f": functions.square, "space": [(0, 1)], **arguments}
    with pytest.raises(tribo.ArgumentError, match=words):
        tribo.minimize(**arguments)


# Callbacks and studies


def test_the_callback_sees_each_result() -> None:
    seen: list[tuple[int, str, float | None]] = []

    def look(trial: tribo.Trial, study: tribo.Study) -> None:
        assert study.trials[trial.id].value == trial.value
        seen.append((trial.id, trial.state, trial.value))

    result = tribo.minimize(functions.square, [(-5, 5)], evaluations=6, callback=look)
    assert seen == [(trial.id, "measured", trial.value) for trial in result.trials]


def stop_by_true(trial: tribo.Trial, study: tribo.Study) -> bool:
    return trial.id == 3


def stop_by_a_numpy_truth(trial: tribo.Trial, study: tribo.Study) -> Any:
    return np.int64(trial.id) == 3


def stop_by_exception(trial: tribo.Trial, study: tribo.Study) -> None:
    if trial.id == 3:
        raise StopIteration


@pytest.mark.parametrize("callback", [stop_by_true, stop_by_a_numpy_truth, stop_by_exception])
def test_the_callback_stops(callback: Any) -> None:
    result = tribo.minimize(functions.square, [(-5, 5)], evaluations=20, callback=callback)
    assert result.evaluations == 4


def test_a_callback_that_returns_something_else_does_not_stop() -> None:
    result = tribo.minimize(functions.square, [(-5, 5)], evaluations=5, callback=lambda trial, study: 17)
    assert result.evaluations == 5


def test_an_exception_of_the_callback_comes_through() -> None:
    def broken(trial: tribo.Trial, study: tribo.Study) -> None:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        tribo.minimize(functions.square, [(-5, 5)], evaluations=5, callback=broken)


@pytest.mark.parametrize("durable", [False, True])
def test_a_study_goes_on_where_it_was_interrupted(durable: bool, tmp_path: Any) -> None:
    whole = tribo.minimize(functions.branin, functions.BRANIN_BOUNDS, evaluations=15, seed=1)
    calls = []

    def interrupted(x: Any) -> float:
        calls.append(x)
        if len(calls) == 8:
            raise KeyboardInterrupt
        return functions.branin(x)

    if durable:
        study = tribo.Study.create(tmp_path, functions.BRANIN_BOUNDS, seed=1, evaluations=15)
    else:
        study = tribo.Study(functions.BRANIN_BOUNDS, seed=1, evaluations=15)
    with pytest.raises(KeyboardInterrupt):
        tribo.minimize(interrupted, evaluations=15, study=study)
    assert [trial.state for trial in study.trials] == ["measured"] * 7 + ["pending"]
    assert study.best is not None
    if durable:
        study.close()
        study = tribo.Study.open(tmp_path)
    result = tribo.minimize(functions.branin, evaluations=15, study=study)
    assert result.study is study
    assert points(result) == points(whole) and result.value == whole.value
    # It has its evaluations: nothing is left to do.
    assert tribo.minimize(functions.always_fails, evaluations=15, study=study).value == whole.value


def test_a_study_gives_no_more_than_it_was_made_for() -> None:
    study = tribo.Study([(0, 1)], evaluations=10)
    with pytest.raises(tribo.ArgumentError, match="evaluations: the study was made for 10 at most, not 50"):
        tribo.minimize(functions.square, study=study)


def test_a_durable_study_with_processes(tmp_path: Any) -> None:
    study = tribo.Study.create(tmp_path, functions.BRANIN_BOUNDS, evaluations=12)
    tribo.minimize(functions.branin, study=study, evaluations=12, workers=2)
    study.close()
    again = tribo.Study.open(tmp_path)
    assert [trial.state for trial in again.trials] == ["measured"] * 12


def test_what_belongs_to_the_study_is_refused_beside_it() -> None:
    study = tribo.Study([(0, 1)], direction="maximize")
    with pytest.raises(tribo.ArgumentError, match="call tribo.maximize"):
        tribo.minimize(functions.square, study=study)
    for name, value in [("space", [(0, 1)]), ("bounds", [(0, 1)]), ("seed", 3), ("strategy", "random")]:
        with pytest.raises(tribo.ArgumentError, match=f"{name}: belongs to the study"):
            tribo.maximize(functions.square, study=study, **{name: value})  # type: ignore[arg-type]


# Executors


def test_processes_of_its_own() -> None:
    result = tribo.minimize(functions.branin, functions.BRANIN_BOUNDS, evaluations=40, workers=2)
    assert result.evaluations == 40 and result.value - functions.BRANIN_BEST < 0.05


def test_what_cannot_be_pickled_is_refused_with_a_way_out() -> None:
    with pytest.raises(tribo.ArgumentError, match="f: cannot be sent to other processes.*ThreadPoolExecutor"):
        tribo.minimize(lambda x: 1.0, [(0, 1)], evaluations=4, workers=2)
    with ProcessPoolExecutor(1) as pool:
        with pytest.raises(tribo.ArgumentError, match="args: cannot be sent"):
            tribo.minimize(functions.shifted, [(0, 1)], evaluations=4, executor=pool, args=(threading.Lock(), 1.0))


def test_threads_are_all_used_and_no_more() -> None:
    lock, running, counts = threading.Lock(), [], []
    # Three are there at once, four times over, or a wait fails and so does its trial.
    together = threading.Barrier(3, timeout=20)

    def f(x: Any) -> float:
        with lock:
            running.append(x)
            counts.append(len(running))
        together.wait()
        with lock:
            running.pop()
        return float(x[0])

    with ThreadPoolExecutor(3) as pool:
        result = tribo.minimize(f, [(0, 1)], evaluations=12, executor=pool)
        assert pool.submit(int, "3").result() == 3, "the executor is left open"
    assert max(counts) == 3 and result.failed == 0


def test_a_slow_evaluation_holds_nobody_up() -> None:
    release = threading.Event()

    def f(x: Any) -> float:
        if not order:
            order.append(-1)
            assert release.wait(20), "the others never finished"
        return float(x[0])

    order: list[int] = []

    def callback(trial: tribo.Trial, study: tribo.Study) -> None:
        order.append(trial.id)
        if len(order) == 1 + 9:
            release.set()

    with ThreadPoolExecutor(2) as pool:
        result = tribo.minimize(f, [(0, 1)], evaluations=10, executor=pool, callback=callback)
    assert result.failed == 0 and len(order) == 1 + 10
    # Nine others came and went before the first did.
    assert order[-1] in (0, 1)


class Bare:
    """An executor with the least that is asked for; its futures have no `exception`, `done` or `running`."""

    class Future:
        def __init__(self, f: Any, args: Any) -> None:
            self._inner: concurrent.futures.Future[Any] = concurrent.futures.Future()
            self._thread = threading.Thread(target=self._run, args=(f, args))
            self._thread.start()

        def _run(self, f: Any, args: Any) -> None:
            try:
                self._inner.set_result(f(*args))
            except Exception as error:
                self._inner.set_exception(error)

        def add_done_callback(self, fn: Any) -> None:
            self._inner.add_done_callback(lambda _: fn(self))

        def result(self) -> Any:
            return self._inner.result()

        def cancel(self) -> bool:
            return False

    def submit(self, f: Any, *args: Any) -> Bare.Future:
        return Bare.Future(f, args)


def test_an_executor_needs_no_more_than_submit() -> None:
    with pytest.raises(tribo.ArgumentError, match="workers: the Bare does not tell.*give `workers`"):
        tribo.minimize(functions.square, [(-5, 5)], executor=Bare())
    result = tribo.minimize(functions.fails_above_zero, [(-5, 5)], evaluations=12, executor=Bare(), workers=3)
    assert result.evaluations == 12 and result.failed > 0


def test_the_number_of_workers_is_found() -> None:
    class Mpi(Bare):
        num_workers = 7

    class Dask(Bare):
        def ncores(self) -> dict[str, int]:
            return {"tcp://a": 4, "tcp://b": 2}

    class Empty(Bare):
        def ncores(self) -> dict[str, int]:
            return {}

    from tribo._crew import size_of

    assert size_of(Mpi()) == 7 and size_of(Dask()) == 6
    with ThreadPoolExecutor(5) as pool:
        assert size_of(pool) == 5
    with pytest.raises(tribo.ArgumentError, match="give `workers`"):
        size_of(Empty())


@pytest.mark.parametrize("f, some", [(functions.dies, False), (functions.dies_later, True)])
def test_a_broken_pool_is_not_a_failed_trial(f: Any, some: bool) -> None:
    study = tribo.Study([(-1, 1)], evaluations=40)
    with pytest.raises(tribo.EvaluationError, match="executor: the ProcessPoolExecutor broke.*BrokenProcessPool") as caught:
        tribo.minimize(f, evaluations=40, workers=2, study=study)
    assert caught.value.study is study
    assert all(trial.state in ("measured", "pending") for trial in study.trials)
    assert sum(trial.state == "pending" for trial in study.trials) >= 1
    # What was pending when it broke can be evaluated now.
    assert tribo.minimize(functions.square, evaluations=4, study=study).failed == 0


def test_an_executor_that_is_shut_down_says_so() -> None:
    pool = ThreadPoolExecutor(2)
    pool.shutdown()
    with pytest.raises(tribo.EvaluationError, match="the ThreadPoolExecutor broke.*shutdown"):
        tribo.minimize(functions.square, [(0, 1)], evaluations=4, executor=pool)


def test_stopping_cancels_what_has_not_begun() -> None:
    begun: list[Any] = []
    submitted: list[Any] = []
    all_submitted, release = threading.Event(), threading.Event()

    class Counting(ThreadPoolExecutor):
        def submit(self, f: Any, /, *args: Any, **more: Any) -> Any:
            future = super().submit(f, *args, **more)
            submitted.append(future)
            if len(submitted) == 5:
                all_submitted.set()
            return future

    def f(x: Any) -> float:
        begun.append(x)
        assert (all_submitted if len(begun) == 1 else release).wait(20)
        return float(x[0])

    # One thread, five submitted: the first comes back and stops the run; one may be running by then, the others never
    # begin.
    pool = Counting(1)
    result = tribo.minimize(f, [(0, 1)], evaluations=9, executor=pool, workers=5, callback=lambda trial, study: True)
    release.set()
    pool.shutdown()
    assert result.evaluations == 1 and len(begun) <= 2
    assert [trial.state for trial in result.trials].count("pending") == 4


def test_results_are_told_before_the_next_point_is_asked() -> None:
    # Each future is done as soon as it is submitted. With room for a hundred, results still come in between.
    class AtOnce(Bare):
        def submit(self, f: Any, *args: Any) -> Any:
            future = super().submit(f, *args)
            future._thread.join()
            return future

    alone = tribo.minimize(functions.branin, functions.BRANIN_BOUNDS, evaluations=15)
    crowd = tribo.minimize(functions.branin, functions.BRANIN_BOUNDS, evaluations=15, executor=AtOnce(), workers=100)
    assert points(alone) == points(crowd)


def test_workers_are_kept_busy() -> None:
    # The share of worker-seconds spent in the function, from the first submission to the last. The full measurement, 8
    # workers and U[0.1, 1] s, must reach 0.95. Here the evaluations are a third as long, while a proposal takes what it
    # takes on a machine that runs other tests: 0.8 tells a full pool from one that waits for the slowest of a batch of
    # four (0.69) or for each other (0.25).
    assert utilisation(workers=4, low=0.05, high=0.35, evaluations=40) >= 0.8


def utilisation(workers: int, low: float, high: float, evaluations: int) -> float:
    spans: list[tuple[float, float]] = []
    submitted: list[float] = []

    class Timed:
        """Notes when evaluations were submitted, began and ended, and passes on their values."""

        def submit(self, f: Any, *args: Any) -> Any:
            submitted.append(time.monotonic())
            value: concurrent.futures.Future[float] = concurrent.futures.Future()

            def done(future: Any) -> None:
                spans.append(future.result()[1:])
                value.set_result(future.result()[0])

            pool.submit(f, *args).add_done_callback(done)
            return value

    with ProcessPoolExecutor(workers) as pool:
        # The processes are to be there before the clock runs.
        list(pool.map(functions.warm_up, range(4 * workers)))
        tribo.minimize(
            functions.sleeps_timed,
            [(0, 1), (0, 1)],
            evaluations=evaluations,
            executor=Timed(),
            workers=workers,
            args=(low, high),
        )
    first, last = submitted[0], submitted[-1]
    used = sum(max(0.0, min(end, last) - max(begin, first)) for begin, end in spans)
    return used / (workers * (last - first))


def test_dask(tmp_path: Any) -> None:
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None, local_directory=str(tmp_path)
    ) as cluster, distributed.Client(cluster) as client:
        result = tribo.minimize(functions.fails_above_zero, [(-5, 5)], evaluations=12, executor=client)
        assert result.evaluations == 12 and result.failed > 0
        assert client.submit(int, "3").result() == 3


def test_ctrl_c_ends_a_run_with_processes(tmp_path: Any) -> None:
    script = tmp_path / "run.py"
    script.write_text(
        textwrap.dedent(
            """
            import sys, time
            import tribo

            def f(x):
                time.sleep(0.2)
                return float(x[0])

            def told(trial, study):
                # At once: print writes the end of the line by itself, and Ctrl-C may come between.
                sys.stdout.write("told\\n")
                sys.stdout.flush()

            if __name__ == "__main__":
                study = tribo.Study([(0, 1)])
                try:
                    tribo.minimize(f, evaluations=10_000, workers=2, study=study, callback=told)
                except KeyboardInterrupt:
                    measured = sum(trial.state == "measured" for trial in study.trials)
                    print("interrupted", measured >= 1, study.best is not None, flush=True)
            """
        )
    )
    process = subprocess.Popen(
        [sys.executable, str(script)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == "told\n"
        # To the whole group, as a terminal does.
        os.killpg(process.pid, signal.SIGINT)
        rest, messages = process.communicate(timeout=20)
    finally:
        process.kill()
        process.wait()
    assert rest.splitlines()[-1] == "interrupted True True", messages
    assert messages == ""


# Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_nothing_is_written_where_nobody_reads(capfd: Any) -> None:
    tribo.minimize(functions.square, [(-5, 5)], evaluations=3)
    tribo.minimize(functions.square, [(-5, 5)], evaluations=3, progress=False)
    captured = capfd.readouterr()
    assert captured.out == captured.err == ""


def test_progress_on_request_is_plain_lines(capfd: Any) -> None:
    tribo.minimize(functions.fails_above_zero, [(-5, 5)], evaluations=20, progress=True)
    captured = capfd.readouterr()
    lines = captured.err.splitlines()
    assert captured.out == "" and 1 <= len(lines) <= 10 and "\x1b" not in captured.err and "\r" not in captured.err
    assert lines[-1].startswith("20/20  best ") and " failed  0:" in lines[-1]


def test_progress_on_a_terminal_is_one_line(monkeypatch: Any) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    stream = Terminal()
    progress = Progress(4, None, stream)
    progress.update(1, 0, None)
    progress.update(4, 1, 0.5)
    progress.close()
    text = stream.getvalue()
    assert text.count("\n") == 1 and text.count("\r") == 2 and "\x1b[31m1 failed" in text and "best 0.5" in text
    monkeypatch.setenv("NO_COLOR", "1")
    plain = Terminal()
    Progress(4, None, plain).update(4, 1, 0.5)
    assert "\x1b[3" not in plain.getvalue() and "4/4  best 0.5  1 failed" in plain.getvalue()
    monkeypatch.setenv("COLUMNS", "20")
    narrow = Terminal()
    Progress(4, None, narrow).update(4, 1, 0.5)
    assert len(narrow.getvalue().replace("\r", "").replace("\x1b[K", "")) < 20


def test_clock() -> None:
    assert [clock(0.9), clock(75), clock(3675)] == ["0:00", "1:15", "1:01:15"]


@pytest.mark.parametrize("workers", [1, 2])
def test_a_mistake_in_the_function_ends_the_run_at_once(workers: int) -> None:
    with pytest.raises(tribo.EvaluationError, match="misspelt raised NameError") as caught:
        tribo.minimize(functions.misspelt, [(-5, 5)], evaluations=50, workers=workers)
    assert "as it would at any other point" in str(caught.value)
    assert isinstance(caught.value.__cause__, NameError)
    study = caught.value.study
    ended = [trial for trial in study.trials if trial.state != "pending"]
    assert [trial.state for trial in ended] == ["lost"]
    assert len(study.trials) <= workers
    # Repaired, it goes on, and nothing was spent.
    result = tribo.minimize(lambda x: x[0] ** 2, study=study, evaluations=12)
    assert sum(trial.state == "measured" for trial in result.trials) == 12


def test_what_only_looks_like_a_mistake_ends_it_when_it_happens_twice() -> None:
    calls: list[Any] = []

    def indexed(x: Any) -> float:
        calls.append(x)
        return float(x[7])

    with pytest.raises(tribo.EvaluationError, match="IndexError"):
        tribo.minimize(indexed, [(-5, 5)], evaluations=50)
    assert len(calls) == 2


@pytest.mark.parametrize(("raised", "first"), [(ValueError("the same"), False), (TypeError("one"), True), (NameError("one"), True)])
def test_other_exceptions_and_those_after_the_first_value_do_not_end_it(raised: Exception, first: bool) -> None:
    calls: list[Any] = []

    def sometimes(x: Any) -> float:
        calls.append(x)
        if (len(calls) == 1 and first) or len(calls) > 5:
            return 1.0
        raise raised

    result = tribo.minimize(sometimes, [(-5, 5)], evaluations=12)
    assert (result.evaluations, len(calls)) == (12, 12)
    assert result.failed == 4 + (not first)
