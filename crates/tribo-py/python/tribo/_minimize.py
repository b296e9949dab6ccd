"""`minimize` and `maximize`: a Python function, a space, a number of evaluations.

The loop asks the study for a point whenever a worker is free and tells each result as soon as it is there: no batches,
nobody waits for the slowest. A point is asked with all results and all points under way taken into account. With one
worker the same seed gives the same points; with several they depend on the order in which evaluations end.
"""

from __future__ import annotations

import operator
import sys
import warnings
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from tribo._core import ArgumentError
from tribo._crew import Answer, Crew, EvaluationError, Executor, Here, check_pickle, describe, process_pool, size_of
from tribo._progress import Progress
from tribo._study import Study
from tribo._words import counted

if TYPE_CHECKING:
    import os

    from tribo._plot import Plots
    from tribo._space import Constraint, Space
    from tribo._study import Trial

Callback = Callable[["Trial", Study], Any]

# What a function raises whatever it is given.
MISTAKES = (NameError, ImportError, SyntaxError)
# What it may raise at some points only: twice the same in the first two evaluations is no coincidence.
LIKELY_MISTAKES = (TypeError, AttributeError, LookupError)


class Result:
    """What came of a run: `x` and `value` are the best point and its value, `trials` all evaluations, `study` made them.
    `feasible` is False if no evaluation met all constraints: `x` is then the point that is least beyond them."""

    def __init__(self, study: Study, best: Trial) -> None:
        self.study = study
        self.feasible = bool(best.feasible)
        self.x: Any = best.x
        self.value: float = _measured(best)
        self.trials: list[Trial] = study.trials

    @property
    def evaluations(self) -> int:
        """Evaluations that ended, well or badly; those that were lost do not count."""
        return sum(trial.state not in ("pending", "lost") for trial in self.trials)

    @property
    def failed(self) -> int:
        """Evaluations that gave no value: failed, infeasible, or not a finite number."""
        return sum(trial.state not in ("pending", "lost", "measured") for trial in self.trials)

    @property
    def plot(self) -> Plots:
        """Pictures of the study, as `Study.plot` gives them."""
        return self.study.plot

    def report(self, path: str | os.PathLike[str]) -> None:
        """Writes the report of the study, as `Study.report` does."""
        self.study.report(path)

    def _repr_html_(self) -> str:
        return self.study._repr_html_()

    def __repr__(self) -> str:
        failed = f", {self.failed} failed" if self.failed else ""
        beyond = "" if self.feasible else ", beyond the constraints"
        return f"Result(value={self.value!r}, x={self.x!r}, {counted(self.evaluations, 'evaluation')}{failed}{beyond})"


def minimize(
    f: Callable[..., Any],
    space: Space | None = None,
    *,
    bounds: Space | None = None,
    evaluations: int = 50,
    seed: int = 0,
    strategy: str | Mapping[str, Any] = "auto",
    objective: str | None = None,
    constraints: Sequence[Constraint] = (),
    args: tuple[Any, ...] = (),
    workers: int | None = None,
    executor: Executor | None = None,
    callback: Callback | None = None,
    progress: bool | None = None,
    study: Study | None = None,
) -> Result:
    """Finds the `x` with the smallest `f(x, *args)`.

    >>> import tribo
    >>> result = tribo.minimize(lambda x: (x[0] - 1) ** 2, [(-5, 5)], evaluations=15)
    >>> bool(abs(result.x[0] - 1) < 0.1)
    True

    Parameters
    ----------
    f
        The function. Its first argument is an array if the space is a list of bounds, a dict if it is a mapping; it
        returns a number, or a mapping of names to numbers. An exception makes a failed trial and the run goes on; NaN and
        infinities are kept as invalid. A mistake in the function itself ends the run, as long as nothing was measured: a
        NameError, ImportError or SyntaxError at once, a TypeError, AttributeError, KeyError or IndexError when the first
        two evaluations raise the same. Such trials are lost, not failed, so the study can go on with a repaired function.
    space, bounds
        A list of `(low, high)` or a mapping of names to `Float`, `Int` and `Categorical`; two names for one argument.
    evaluations
        How many evaluations there are to be, in all.
    seed, strategy
        As for `Study`.
    objective
        Which of the numbers is optimised, where `f` returns a mapping; the others are kept in `Trial.outputs`. A mapping
        without it is a failed trial.
    constraints
        Limits on the others: `["stress <= 200", "0.9 <= lift <= 1.1", "area == 4"]`, or dictionaries, as for `Study`. The
        result is the best evaluation that meets them all. Texts that name parameters, `"x + y <= 1"`, are met by every point. Where none does, a warning says what is missed and by how much.
    args
        Further arguments of `f`.
    workers
        How many evaluations are kept under way. More than one without an executor makes a pool of processes. The
        default is 1, or what the executor says of itself.
    executor
        Anything with `submit` that returns futures: a pool of concurrent.futures, a Dask client, mpi4py's pool. It is
        left open.
    callback
        Called as `callback(trial, study)` after each result; the run stops if it returns True or raises StopIteration.
        What is under way then is not waited for.
    progress
        How far the run is: a line on standard error, in a notebook the study and its convergence, drawn anew as results
        come. True, False, or None: where somebody looks, which is a terminal or a notebook.
    study
        Go on with this study instead of a new one, until it has `evaluations` in all; its pending trials are evaluated
        first. After Ctrl-C, which raises KeyboardInterrupt here as everywhere, its `trials` and `best` hold the results so far.

    Raises
    ------
    EvaluationError
        If no evaluation gave a value, the function has a mistake, or the executor broke. Its `study` holds the results so
        far.
    """
    return _run("minimize", f, space, bounds, evaluations, seed, strategy, objective, constraints, args, workers, executor, callback, progress, study)


def maximize(
    f: Callable[..., Any],
    space: Space | None = None,
    *,
    bounds: Space | None = None,
    evaluations: int = 50,
    seed: int = 0,
    strategy: str | Mapping[str, Any] = "auto",
    objective: str | None = None,
    constraints: Sequence[Constraint] = (),
    args: tuple[Any, ...] = (),
    workers: int | None = None,
    executor: Executor | None = None,
    callback: Callback | None = None,
    progress: bool | None = None,
    study: Study | None = None,
) -> Result:
    """Finds the `x` with the largest `f(x, *args)`; the arguments are those of `minimize`."""
    return _run("maximize", f, space, bounds, evaluations, seed, strategy, objective, constraints, args, workers, executor, callback, progress, study)


def _run(
    direction: str,
    f: Callable[..., Any],
    space: Space | None,
    bounds: Space | None,
    evaluations: int,
    seed: int,
    strategy: str | Mapping[str, Any],
    objective: str | None,
    constraints: Sequence[Constraint],
    args: tuple[Any, ...],
    workers: int | None,
    executor: Executor | None,
    callback: Callback | None,
    progress: bool | None,
    study: Study | None,
) -> Result:
    if not callable(f):
        raise ArgumentError(f"f: must be a function, not {type(f).__name__}")
    if callback is not None and not callable(callback):
        raise ArgumentError(f"callback: must be a function, not {type(callback).__name__}")
    if not isinstance(args, tuple):
        raise ArgumentError(f"args: must be a tuple, as in args=(value,), not {type(args).__name__}")
    evaluations = _count("evaluations", evaluations)
    if study is None:
        study = _new_study(direction, space, bounds, evaluations, seed, strategy, objective, constraints)
    else:
        _check_study(study, direction, space, bounds, evaluations, seed, strategy, objective, constraints)
    if workers is not None:
        workers = _count("workers", workers)
    if executor is not None:
        if not isinstance(executor, Executor):
            raise ArgumentError(f"executor: needs a method `submit`; {type(executor).__name__} has none")
        if _sends_to_processes(executor):
            check_pickle(f, args)
        workers = size_of(executor) if workers is None else workers
        return _Run(study, f, evaluations, callback, progress).on(Crew(f, args, executor), workers)
    if workers is None or workers == 1:
        return _Run(study, f, evaluations, callback, progress).on(Crew(f, args, Here()), 1)
    pool = process_pool(f, args, min(workers, evaluations))
    try:
        return _Run(study, f, evaluations, callback, progress).on(Crew(f, args, pool), workers)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


class _Run:
    """One run: a study, its budget, and what is told to the user meanwhile."""

    def __init__(
        self,
        study: Study,
        f: Callable[..., Any],
        evaluations: int,
        callback: Callback | None,
        progress: bool | None,
    ) -> None:
        self._study = study
        self._name = getattr(f, "__name__", type(f).__name__)
        self._callback = callback
        trials = study.trials
        trials = [trial for trial in trials if trial.state != "lost"]
        self._waiting = deque(trial for trial in trials if trial.state == "pending")
        self._to_ask = max(0, evaluations - len(trials))
        self._finished = len(trials) - len(self._waiting)
        self._failed = sum(trial.state not in ("pending", "measured") for trial in trials)
        self._sign = -1.0 if study.direction == "maximize" else 1.0
        best = study.best
        self._best = None if best is None else best.value
        self._measured = any(trial.state == "measured" for trial in trials)
        self._first_raised: Exception | None = None
        self._is_crowd = False
        self._progress = Progress(max(evaluations, len(trials)), progress, card=study._repr_html_)

    def on(self, crew: Crew, workers: int) -> Result:
        """Keeps `workers` evaluations under way until all are made or the callback stops."""
        self._is_crowd = workers > 1
        try:
            with crew:
                stopped = False
                while not stopped:
                    trial = self._next() if len(crew) < workers else None
                    if trial is not None:
                        crew.start(trial)
                    elif len(crew) == 0:
                        break
                    # Between two points for free workers, too: the second is to know what came back meanwhile.
                    for answer in crew.finished(wait=trial is None):
                        stopped = self._take(answer) or stopped
                    self._progress.update(self._finished, self._failed, self._best)
        except EvaluationError as error:
            error.study = self._study
            raise
        finally:
            self._progress.close()
        best = self._study.best
        if best is None:
            best = self._nearest()
        if best is None:
            raise self._nothing_measured() from self._first_raised
        return Result(self._study, best)

    def _nearest(self) -> Trial | None:
        """What there is where no evaluation meets all constraints, with a warning."""
        least = self._study.least_violated
        if least is None:
            return None
        limits = [limit for limit in self._study.limits if limit["output"] in least.violated]
        missed = ", ".join(f"{limit['limit']} with {least.outputs[limit['output']]:.6g}" for limit in limits)
        warnings.warn(
            f"no evaluation meets all constraints; trial {least.id} is the least beyond them and misses {missed}",
            RuntimeWarning,
            # minimize, _run, _Run.on, here.
            stacklevel=5,
        )
        return least

    def _next(self) -> Trial | None:
        if self._waiting:
            return self._waiting.popleft()
        if self._to_ask == 0:
            return None
        # With several workers the order of answers is that of time anyway.
        asked = self._study.ask(1, beside=self._is_crowd)
        # A finite space can be used up.
        self._to_ask = self._to_ask - 1 if asked else 0
        return asked[0] if asked else None

    def _take(self, answer: Answer) -> bool:
        """Tells an answer; says whether the callback wants to stop."""
        if answer.raised is not None and self._is_mistake(answer.raised):
            self._study.tell(answer.trial, lost=describe(answer.raised))
            raise EvaluationError(
                f"f: {self._name} raised {describe(answer.raised)}, as it would at any other point; nothing was measured. "
                "Repair it and go on with the `study` of this error, or begin again",
                self._study,
            ) from answer.raised
        if answer.raised is not None:
            self._first_raised = self._first_raised or answer.raised
            self._study.tell(answer.trial, failed=describe(answer.raised))
        elif isinstance(answer.returned, Mapping):
            self._tell_outputs(answer, answer.returned)
        else:
            self._study.tell(answer.trial, self._number(answer, answer.returned))
        trial = self._study._one(answer.trial.id)
        self._finished += 1
        self._failed += trial.state != "measured"
        self._measured = self._measured or trial.state == "measured"
        if trial.value is not None and trial.feasible:
            self._best = trial.value if self._best is None else self._sign * min(self._sign * trial.value, self._sign * self._best)
        if self._callback is None:
            return False
        try:
            wish = self._callback(trial, self._study)
        except StopIteration:
            return True
        # Only a truth value, Python's or numpy's: many functions return something by the way.
        return type(wish).__name__ in ("bool", "bool_") and bool(wish)

    def _is_mistake(self, raised: Exception) -> bool:
        """Whether an exception is the function's own and not the point's: nothing was measured, and no point can help."""
        first = self._first_raised
        same = first is not None and (type(first), str(first)) == (type(raised), str(raised))
        at_once = isinstance(raised, MISTAKES)
        return not self._measured and (at_once or (same and self._finished == 1 and isinstance(raised, LIKELY_MISTAKES)))

    def _tell_outputs(self, answer: Answer, returned: Mapping[Any, Any]) -> None:
        objective = self._study.objective
        outputs: dict[str, float | None] = {}
        for name, value in returned.items():
            if name == objective:
                outputs[name] = self._number(answer, value)
                continue
            # Functions return other things, too; those that are no numbers have no place in a table of numbers.
            with suppress(ArgumentError):
                outputs[str(name)] = self._number(answer, value)
        if objective in outputs:
            self._study.tell(answer.trial, outputs)
        elif objective == "value":
            shown = f"a mapping of {', '.join(map(str, returned))}" if returned else "an empty mapping"
            raise ArgumentError(
                f"f: {self._name} must return a number, or several by name with `objective` naming the one to optimise; it "
                f"returned {shown} for trial {answer.trial.id}"
            )
        else:
            there = f"there is {', '.join(outputs)}" if outputs else "there is none at all"
            self._study.tell(answer.trial, outputs, failed=f"there is no output {objective!r}; {there}")

    def _number(self, answer: Answer, value: Any) -> float:
        # An array with one element is a number to most who write such functions, and float() of it is deprecated.
        if getattr(value, "size", None) == 1 and hasattr(value, "item"):
            value = value.item()
        try:
            if not isinstance(value, (str, bytes)):
                return float(value)
        except (TypeError, ValueError):
            pass
        shown = "None" if value is None else f"{value!r:.60} ({type(value).__name__})"
        raise ArgumentError(
            f"f: {self._name} must return a number; it returned {shown} for trial {answer.trial.id}, "
            f"x = {answer.trial.x!r:.200}"
        )

    def _nothing_measured(self) -> EvaluationError:
        if self._measured:
            wanted = ", ".join(limit["output"] for limit in self._study.limits)
            given = sorted({name for trial in self._study.trials for name in trial.outputs})
            there = f"; it gave {', '.join(given)}" if given else ""
            words = f"f: {self._name} never gave all constrained outputs: {wanted}{there}"
            return EvaluationError(words, self._study)
        for trial in self._study.trials:
            if trial.state not in ("pending", "measured"):
                reason = f" ({trial.reason})" if trial.reason else ""
                first = f"the first, trial {trial.id} at x = {trial.x!r:.200}, was {trial.state}{reason}"
                tried = counted(self._finished, "evaluation")
                return EvaluationError(f"f: {self._name} gave no value in {tried}; {first}", self._study)
        return EvaluationError(f"f: {self._name} was never evaluated", self._study)


def _new_study(
    direction: str,
    space: Space | None,
    bounds: Space | None,
    evaluations: int,
    seed: int,
    strategy: str | Mapping[str, Any],
    objective: str | None,
    constraints: Sequence[Constraint],
) -> Study:
    if space is not None and bounds is not None:
        raise ArgumentError("bounds: is another name for `space`; give one of them")
    found = bounds if space is None else space
    if found is None:
        raise ArgumentError("space: is missing; give a list of (low, high), or a dict of names and parameters")
    return Study(
        found,
        direction=direction,
        objective=objective,
        strategy=strategy,
        seed=seed,
        evaluations=evaluations,
        constraints=constraints,
    )


def _check_study(
    study: Study,
    direction: str,
    space: Space | None,
    bounds: Space | None,
    evaluations: int,
    seed: int,
    strategy: str | Mapping[str, Any],
    objective: str | None,
    constraints: Sequence[Constraint],
) -> None:
    if not isinstance(study, Study):
        raise ArgumentError(f"study: must be a tribo.Study, not {type(study).__name__}")
    given = {
        "space": space is not None,
        "bounds": bounds is not None,
        "seed": seed != 0,
        "strategy": strategy != "auto",
        "constraints": len(constraints) > 0,
    }
    for name, is_given in given.items():
        if is_given:
            raise ArgumentError(f"{name}: belongs to the study; leave it out where `study` is given")
    if study.direction != direction:
        raise ArgumentError(f"study: its direction is {study.direction}; call tribo.{study.direction}")
    if objective is not None and study.objective != objective:
        raise ArgumentError(f"objective: the study optimises {study.objective!r}, not {objective!r}")
    if study.evaluations is not None and evaluations > study.evaluations:
        raise ArgumentError(f"evaluations: the study was made for {study.evaluations} at most, not {evaluations}")


def _count(name: str, value: int) -> int:
    # True is an index too, and nobody means it.
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise ArgumentError(f"{name}: must be a whole number, not {value!r}")
    count = operator.index(value)
    if count < 1:
        raise ArgumentError(f"{name}: must be at least 1, not {count}")
    return count


def _sends_to_processes(executor: object) -> bool:
    # If the module was never imported, no pool of it was made.
    module = sys.modules.get("concurrent.futures.process")
    return module is not None and isinstance(executor, module.ProcessPoolExecutor)


def _measured(trial: Trial) -> float:
    assert trial.value is not None
    return trial.value
