"""Evaluations under way: anything with `submit` that gives futures, and the plain call in this process.

A `Crew` starts evaluations and hands back those that are done. It waits on a queue that the futures themselves fill, so
it needs no more of them than `add_done_callback`, `result` and `cancel`: the futures of concurrent.futures, Dask and
mpi4py all have these. An exception in the function is an answer like any other. An executor that breaks is not: the
function did not fail, it was never finished, and the run ends with `EvaluationError`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

from tribo._core import ArgumentError, TriboError

if TYPE_CHECKING:
    from queue import SimpleQueue

    from tribo._study import Study, Trial

# How long one wait for a result lasts. Between waits Ctrl-C is seen on systems where a lock cannot be interrupted, and
# the clock of the progress bar goes on.
WAIT_SECONDS = 1.0


class Future(Protocol):
    """What is needed of a future."""

    def add_done_callback(self, fn: Callable[[Any], Any], /) -> Any: ...
    def result(self) -> Any: ...
    def cancel(self) -> Any: ...


@runtime_checkable
class Executor(Protocol):
    """Anything that evaluates: `submit(f, *args)` returns a future."""

    def submit(self, fn: Callable[..., Any], /, *args: Any) -> Any: ...


class EvaluationError(TriboError, RuntimeError):
    """No evaluation gave a value, or the executor broke. `study` holds what was measured before."""

    def __init__(self, message: str, study: Study | None = None) -> None:
        super().__init__(message)
        self.study = study


class Answer(NamedTuple):
    """What an evaluation came back with: what the function returned, or what it raised."""

    trial: Trial
    returned: Any
    raised: Exception | None


class _Done:
    """The future of a call that is over."""

    def __init__(self, returned: Any, raised: Exception | None) -> None:
        self._returned = returned
        self._raised = raised

    def add_done_callback(self, fn: Callable[[Any], Any], /) -> None:
        fn(self)

    def result(self) -> Any:
        if self._raised is not None:
            raise self._raised
        return self._returned

    def cancel(self) -> bool:
        return False


class Here:
    """An executor that calls the function at once, in this thread."""

    def submit(self, fn: Callable[..., Any], /, *args: Any) -> _Done:
        try:
            return _Done(fn(*args), None)
        except Exception as error:
            return _Done(None, error)


class Crew:
    """Evaluations of `f` on an executor; leaving the `with` block cancels what has not begun."""

    def __init__(self, f: Callable[..., Any], args: tuple[Any, ...], executor: Executor) -> None:
        # Here, not above: with `threading`, which it brings, it would be a quarter of the time of `import tribo`.
        from queue import SimpleQueue

        self._f = f
        self._args = args
        self._executor = executor
        self._under_way: dict[int, tuple[Trial, Future]] = {}
        self._done: SimpleQueue[int] = SimpleQueue()

    def __enter__(self) -> Crew:
        return self

    def __exit__(self, *exception: object) -> None:
        for _, future in self._under_way.values():
            future.cancel()

    def __len__(self) -> int:
        return len(self._under_way)

    def start(self, trial: Trial) -> None:
        """Begins the evaluation of a trial."""
        number = trial.id
        try:
            future: Future = self._executor.submit(self._f, trial.x, *self._args)
        except Exception as error:
            raise self._broken(error) from error
        self._under_way[number] = (trial, future)
        future.add_done_callback(lambda _: self._done.put(number))

    def finished(self, wait: bool) -> Iterator[Answer]:
        """What is done by now; with `wait`, and if nothing is, what is done in a while."""
        from queue import Empty

        while self._under_way:
            try:
                number = self._done.get(timeout=WAIT_SECONDS) if wait else self._done.get_nowait()
            except Empty:
                return
            wait = False
            yield self._answer(*self._under_way.pop(number))

    def _answer(self, trial: Trial, future: Future) -> Answer:
        try:
            return Answer(trial, future.result(), None)
        except Exception as error:
            if _is_of_the_executor(error):
                raise self._broken(error) from error
            return Answer(trial, None, error)

    def _broken(self, error: Exception) -> EvaluationError:
        kind = type(self._executor).__name__
        return EvaluationError(
            f"executor: the {kind} broke while evaluations were under way ({describe(error)}). A process that is killed, "
            "out of memory or ends by itself does that; so does an executor that is shut down. The results so far are in "
            "the `study` of this exception"
        )


def _is_of_the_executor(error: Exception) -> bool:
    # Here, not above, as `queue`: with one worker nothing else needs the module.
    from concurrent.futures import BrokenExecutor, CancelledError

    return isinstance(error, (BrokenExecutor, CancelledError))


def describe(error: BaseException) -> str:
    """Type and message of an exception."""
    message = str(error)
    return f"{type(error).__name__}: {message}" if message else type(error).__name__


def size_of(executor: Executor) -> int:
    """How many evaluations an executor runs at once, where it tells."""
    # In this order: concurrent.futures and loky; mpi4py; Dask, whose answer is a dict of cores by worker.
    found: Any = getattr(executor, "_max_workers", None) or getattr(executor, "num_workers", None)
    if found is None and callable(cores := getattr(executor, "ncores", None)):
        found = sum(cores().values())
    if isinstance(found, int) and found >= 1:
        return found
    raise ArgumentError(
        f"workers: the {type(executor).__name__} does not tell how many evaluations it runs at once; give `workers`"
    )


def process_pool(f: Callable[..., Any], args: tuple[Any, ...], workers: int) -> Any:
    """A pool of processes for `f`."""
    import functools
    import signal
    from concurrent.futures import ProcessPoolExecutor

    check_pickle(f, args)
    # Ctrl-C reaches the processes too. They end at once; by default each would print where it was interrupted.
    quiet = functools.partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    return ProcessPoolExecutor(workers, initializer=quiet)


def check_pickle(f: Callable[..., Any], args: tuple[Any, ...]) -> None:
    """Refuses what cannot be sent to another process."""
    import pickle

    for name, value in [("f", f), ("args", args)]:
        try:
            pickle.dumps(value)
        except Exception as error:
            raise ArgumentError(
                f"{name}: cannot be sent to other processes ({describe(error)}). Define the function at the top of a "
                "module, or use threads: executor=concurrent.futures.ThreadPoolExecutor(...)"
            ) from error
