"""Studies: ask for points, tell what came of them."""

from __future__ import annotations

import json
import operator
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING, Any, NoReturn

from tribo import _core
from tribo._core import ArgumentError
from tribo._space import BOUND_NAME, Constraint, Space, _found, study_file
from tribo._words import counted

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pandas
    import pyarrow

    from tribo._insight import Insight
    from tribo._plot import Plots

    Array = npt.NDArray[np.float64]

# More at once would be a mistake: a program of this many points in flight has no results to learn from.
MOST_ASKED = 1_000_000


@dataclass(frozen=True, eq=False)
class Trial:
    """A point, and what came of it when this record was made. It does not change; look at `Study.trials` for news."""

    id: int
    """Its number in the study."""
    x: Any
    """What a function is called with: an array where the space is a list of bounds, a dictionary where it is a mapping."""
    params: dict[str, Any]
    """The point by names of parameters; vectors are arrays, or lists of names."""
    state: str = "pending"
    """`pending`, `measured`, `failed`, `infeasible` or `invalid`."""
    value: float | None = None
    """Its value, if it is measured: the output that is optimised."""
    reason: str | None = None
    """Why it failed, or the answer that is not a finite number."""
    outputs: dict[str, float] = field(default_factory=dict)
    """All numbers that came of it, by name; a study that names none has one called `value`."""
    feasible: bool | None = None
    """Whether it is measured and meets all constraints; None while it is pending."""
    violated: tuple[str, ...] = ()
    """The outputs that are beyond their limits."""


@dataclass(frozen=True, eq=False)
class Recommended:
    """The point to use, and how good it is. Without noise it is that of the best value; under noise the best value of many
    is mostly a lucky one, and this is the measured point that the model expects most of."""

    trial: Trial
    """The trial that measured it."""
    value: float
    """What the model expects there; without noise, what was measured."""
    interval: tuple[float, float] | None
    """Where the value without noise is with a probability of 90 %; None if results carry no noise."""
    within_limits: float | None = None
    """The probability that all constraints on outputs are met there; None if those outputs carry no noise."""

    @property
    def x(self) -> Any:
        """As `Trial.x`."""
        return self.trial.x

    @property
    def params(self) -> dict[str, Any]:
        """As `Trial.params`."""
        return self.trial.params


class Study:
    """An optimisation with ask and tell, in memory.

    `space` is a mapping of names to `Float`, `Int` and `Categorical`, or a list of pairs `(low, high)`. `strategy` is
    `"auto"`, `"bo"`, `"paper"` or `"random"`, or a dictionary with the keys of `[strategy]` in a study file.
    `evaluations` is the budget: no more points are given than that. `objective` is the name of the output to optimise, where
    an evaluation gives several; the others are kept as they are told. `constraints` are limits on them: `"stress <= 200"`,
    `"0.9 <= lift <= 1.1"`, `"area == 4"`, or a dictionary with the keys of `[[output]]` in a study file, such as
    `{"name": "stress", "at_most": 200, "tolerance": 0.1}`. A text that names parameters is a constraint between those,
    `"x + y <= 1"`, which every proposed point meets exactly. The same arguments, and the same results told in the
    same order, give the same points, bit for bit, here, in Rust and on the command line.

    >>> study = Study([(-5, 10), (0, 15)], seed=1)
    >>> for trial in study.ask(4):
    ...     study.tell(trial, float((trial.x ** 2).sum()))
    >>> study.best.state
    'measured'

    `Study.create` makes a study on disk, `Study.open` goes on with one. Studies can be used from several threads.
    """

    def __init__(
        self,
        space: Space,
        *,
        direction: str = "minimize",
        objective: str | None = None,
        strategy: str | Mapping[str, Any] = "auto",
        seed: int = 0,
        evaluations: int | None = None,
        constraints: Sequence[Constraint] = (),
    ) -> None:
        file = study_file(
            space,
            direction=direction,
            objective=objective,
            strategy=strategy,
            seed=seed,
            evaluations=evaluations,
            constraints=constraints,
        )
        self._set(_core.Study(file.text, file.places), is_array=not isinstance(space, Mapping))

    @classmethod
    def create(
        cls,
        directory: str | os.PathLike[str],
        space: Space,
        *,
        direction: str = "minimize",
        objective: str | None = None,
        strategy: str | Mapping[str, Any] = "auto",
        seed: int = 0,
        evaluations: int | None = None,
        constraints: Sequence[Constraint] = (),
        name: str | None = None,
    ) -> Study:
        """A new study on disk: `study.toml` in the directory, or `NAME.toml` if there is a name, and its store.

        The program `tribo` works with it as with its own. A trial is on disk before `ask` returns it, an outcome before
        `tell` returns. The study belongs to this process until `close`.
        """
        if name is not None and not (isinstance(name, str) and name and not name.startswith(".") and "/" not in name):
            raise ArgumentError(f"name is {name!r}; it must be the name of a file, without `.toml`")
        file = study_file(
            space,
            direction=direction,
            objective=objective,
            strategy=strategy,
            seed=seed,
            evaluations=evaluations,
            constraints=constraints,
            name=name,
        )
        path = os.path.join(os.fspath(directory), f"{'study' if name is None else name}.toml")
        study = cls.__new__(cls)
        study._set(_core.Study.create(path, file.text, file.places), is_array=not isinstance(space, Mapping))
        return study

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, new_chapter: bool = False) -> Study:
        """A study on disk, made here or by the program: its file, its folder if the file is `study.toml`, or its store.

        It is as it was when it was opened, also if another process drives it. The first `ask` or `tell` takes it, which
        is a `StoreError` while another has it; `close` gives it back. Points are dictionaries, or arrays if the
        parameters are numbers called `x0`, `x1` and so on, which is what a list of bounds becomes.

        If the study file was changed in what decides proposals, `new_chapter` goes on with it, and with all results so
        far as known data; the study is then taken at once.
        """
        core = _core.Study.open(os.fspath(path), new_chapter)
        parameters = core.parameters()
        is_list = all(
            p["name"] == BOUND_NAME.format(i) and p["type"] == "float" and p["size"] is None and not p["log"]
            for i, p in enumerate(parameters)
        )
        study = cls.__new__(cls)
        study._set(core, is_array=is_list)
        return study

    def _set(self, core: _core.Study, *, is_array: bool) -> None:
        self._core = core
        self._is_array = is_array

    def recall(self, path: str | os.PathLike[str], *, value: str | None = None, skip_outside: bool = False) -> list[str]:
        """Reads a table of very many earlier results for what it says, before the first `ask`; returns the inputs that matter.

        For studies that look for the inputs that matter: `auto` with more than 40. The table (`.parquet`, `.npy`, `.csv`, ...)
        has a column for each input, called like it, and one for the value, called like the objective or `value`. It is gone
        through some six times and never held; what is kept are the names of the inputs that matter and some hundred rows. The
        study checks them before it believes them. Rows outside of the space are an error, or left out with `skip_outside`.
        """
        _, inputs, _ = self._core.recall(os.fspath(path), value, bool(skip_outside))
        return inputs

    def ask(self, k: int = 1, *, beside: bool = False) -> list[Trial]:
        """`k` trials to evaluate; fewer if the budget or a finite space has no more.

        With many results a fit of the model takes seconds. With `beside`, from 4,000 results on and but for the first one,
        fits are made on a thread of their own, and trials are proposed by the model as it was, with all results, until one is
        done. Which model proposes which trial then depends on time; a study on disk keeps that.

        Ctrl-C ends it within a second, and it has then changed nothing.
        """
        try:
            count = operator.index(k)
        except TypeError:
            raise ArgumentError(f"k is {_found(k)}; give a whole number") from None
        if count < 1:
            raise ArgumentError(f"k is {count}; ask for at least one point")
        if count > MOST_ASKED:
            raise ArgumentError(f"k is {count}; ask for at most {MOST_ASKED} points at once")
        return [self._trial(id, params) for id, params in self._core.ask(count, bool(beside))]

    def tell(
        self,
        trial: Trial | int,
        value: float | Mapping[str, float | None] | None = None,
        *,
        failed: str | None = None,
        infeasible: bool = False,
        lost: str | None = None,
        replace: bool = False,
    ) -> None:
        """Tells what came of a trial: its `value`, or why it `failed`, or that the point is not allowed, or that it was `lost`
        by an accident (a licence, a machine), which says nothing about the point and does not count as an evaluation.

        A mapping tells several outputs by name, among them the one that is optimised; beside `failed`, `infeasible` and
        `lost` it tells the others. NaN and infinities are kept as an invalid answer, and left out of the other outputs.
        Telling the same again changes nothing; telling something else is a `TrialError`, unless `replace` says that what
        was told before is wrong: the study then begins a new chapter, which knows what is right.

        >>> study = Study([(-5, 5)], objective="mass")
        >>> [trial] = study.ask()
        >>> study.tell(trial, {"mass": 1.2, "stress": 180.0})
        >>> study.best.outputs
        {'mass': 1.2, 'stress': 180.0}
        """
        try:
            id = operator.index(trial.id if isinstance(trial, Trial) else trial)
        except TypeError:
            raise ArgumentError(f"trial is {_found(trial)}; give a trial or its id") from None
        outputs: dict[str, float] = {}
        if isinstance(value, Mapping):
            outputs = {name: _number(f"value[{name!r}]", each) for name, each in value.items() if each is not None}
            for name in outputs:
                if not (isinstance(name, str) and name):
                    raise ArgumentError(f"value: {name!r} is not the name of an output; names are strings")
            number = outputs.pop(self.objective, None)
            if number is None and failed is None and lost is None and not infeasible:
                there = f"there is {', '.join(outputs)}" if outputs else "it is empty"
                raise ArgumentError(
                    f"value: there is no output {self.objective!r}, {there}; tell it together with the others, or that the "
                    "trial failed"
                )
        else:
            number = None if value is None else _number("value", value)
        if failed is not None and not isinstance(failed, str):
            raise ArgumentError(f"failed is {_found(failed)}; give the reason, a string")
        if lost is not None and not isinstance(lost, str):
            raise ArgumentError(f"lost is {_found(lost)}; give the reason, a string")
        if [number is not None, failed is not None, bool(infeasible), lost is not None].count(True) != 1:
            raise ArgumentError("say what came of the trial with exactly one of `value`, `failed`, `infeasible` and `lost`")
        if not 0 <= id < 2**63:
            raise _core.TrialError(f"there is no trial {id}")
        self._core.tell(id, number, outputs, failed, bool(infeasible), lost, bool(replace))

    def add(self, x: Any, value: float | Mapping[str, float | None] | None = None) -> Trial:
        """Makes a trial of a point that was chosen elsewhere: with a value one that was evaluated, without one that is
        pending. `x` is what `Trial.x` is. Every strategy takes it; only a random embedding learns nothing from it.
        A float is kept as its place between the bounds, so it may come back changed in its last digit (an ulp of the
        larger bound).

        >>> study = Study([(-5, 5)])
        >>> study.add([1.5], 2.25).state
        'measured'
        """
        id = self._core.adopt(self._point(x))
        if value is not None:
            self.tell(id, value)
        return self._one(id)

    @property
    def best(self) -> Trial | None:
        """The best trial so far that meets all constraints, if there is one."""
        best = self._core.best()
        return None if best is None else self._one(best)

    @property
    def least_violated(self) -> Trial | None:
        """The measured trial that is least beyond the constraints, each counted in parts of its own size: what there is as
        long as `best` is None. None if none has all constrained outputs."""
        least = self._core.least_violated()
        return None if least is None else self._one(least)

    @property
    def limits(self) -> list[dict[str, Any]]:
        """How the study stands to each constraint: the `output`, the `limit` as text, by how many of the trials `measured`
        it is `met`, the `nearest` trial, its value `at_best`, whether it `binds` there, the `probability` that it is met and
        what moving it is `worth`, both by the model, and the `trade` in words.

        >>> study = Study([(0, 1)], objective="mass", constraints=["stress <= 2"])
        >>> for x, stress in [(0.25, 4.0), (0.5, 2.0), (0.75, 1.25)]:
        ...     trial = study.add([x], {"mass": x, "stress": stress})
        >>> study.best.value, study.limits[0]["met"], study.limits[0]["binds"]
        (0.5, 2, True)
        """
        limits: list[dict[str, Any]] = json.loads(self._core.limits())
        return limits

    @property
    def recommended(self) -> Recommended | None:
        """The point to use, if anything was measured: under noise not always that of the best value.

        >>> study = Study([(-5, 5)])
        >>> study.add([1.5], 2.25).id
        0
        >>> study.recommended.value, study.recommended.interval
        (2.25, None)
        """
        recommended = self._core.recommended()
        if recommended is None:
            return None
        id, value, interval, within_limits = recommended
        return Recommended(self._one(id), value, interval, within_limits)

    @property
    def trials(self) -> list[Trial]:
        """All trials, in the order they were asked."""
        return [self._trial(*record) for record in self._core.trials()]

    @property
    def direction(self) -> str:
        """`minimize` or `maximize`."""
        direction: str = self._core.settings()["direction"]
        return direction

    @property
    def objective(self) -> str:
        """The name of the output that is optimised; `value` if the study names none."""
        objective: str = self._core.settings()["objective"]
        return objective

    @property
    def path(self) -> str | None:
        """The study file of a study on disk; None in memory."""
        path: str | None = self._core.settings()["path"]
        return path

    def __repr__(self) -> str:
        settings = self._core.settings()
        where = "in memory" if settings["path"] is None else settings["path"]
        return f"<tribo.Study {where}: {settings['direction']}, {counted(settings['trials'], 'trial')}, best {settings['best']}>"

    @property
    def explanation(self) -> str:
        """What the strategy is and, for `auto`, why it was picked."""
        return self._core.explanation()

    def insight(self) -> Insight:
        """What is known about the inputs: those that matter, what shows it, and how that came about.

        With more than 40 inputs the strategy `auto` looks for the few that matter. Other strategies, and `auto` with fewer
        inputs, name none.

        >>> study = Study([(-1, 1)] * 200, seed=1, evaluations=60)
        >>> for _ in range(40):
        ...     for trial in study.ask():
        ...         study.tell(trial, float((trial.x[7] - 0.3) ** 2 + (trial.x[150] + 0.4) ** 2))
        >>> insight = study.insight()
        >>> insight.verdict, sorted(one.name for one in insight.active), insight.n_idle
        ('sparse', ['x150', 'x7'], 198)
        """
        from tribo._insight import insight_of

        return insight_of(*self._core.insight())

    @property
    def plot(self) -> Plots:
        """Pictures of the study, as SVG: `study.plot.convergence()`, `slice`, `contour`, `importance`, `parallel`, `timeline`
        and `validation`. A notebook shows them by itself.
        """
        from tribo._plot import Plots

        return Plots(self._core)

    def report(self, path: str | os.PathLike[str]) -> None:
        """Writes all there is to see to one HTML file, which opens in any browser and can be sent to a colleague."""
        self._core.report(os.fspath(path))

    def _repr_html_(self) -> str:
        return self._core.card()

    @property
    def evaluations(self) -> int | None:
        """The budget, if there is one."""
        found: int | None = self._core.settings()["evaluations"]
        return found

    def posterior(self, X: Any) -> tuple[Array, Array]:
        """What the model expects at the points `X`: mean and standard deviation, without the noise of an evaluation.

        `X` is an array with a row for each point where the space is a list of bounds, else a list of dictionaries. Where
        the model sees values through a logarithm, the mean is the median of its law and the deviation that of a straight
        line there. A strategy that does not model every coordinate has no posterior: an `ArgumentError`.

        >>> study = Study([(0, 1)], strategy="bo")
        >>> for trial in study.ask(6):
        ...     study.tell(trial, float(trial.x[0]))
        >>> mean, sd = study.posterior([[0.5]])
        >>> bool(abs(mean[0] - 0.5) < 0.01)
        True
        """
        return self._core.posterior(self._points(X))

    def _points(self, X: Any) -> list[list[Any]]:
        names = [parameter["name"] for parameter in self._core.parameters()]
        if self._is_array:
            import numpy as np

            try:
                array = np.asarray(X, dtype=np.float64)
            except (TypeError, ValueError):
                raise ArgumentError(f"X is {_found(X)}; give an array of numbers, one row for each point") from None
            if array.ndim != 2 or array.shape[1] != len(names):
                raise ArgumentError(f"X has shape {array.shape}; it must be (points, {len(names)})")
            rows: list[list[Any]] = array.tolist()
            return rows
        if isinstance(X, Mapping) or not isinstance(X, Sequence):
            raise ArgumentError(f"X is {_found(X)}; give a list of dictionaries, one for each point")
        return [_in_order(point, names, f"X[{row}]") for row, point in enumerate(X)]

    def _point(self, x: Any) -> list[Any]:
        names = [parameter["name"] for parameter in self._core.parameters()]
        if not self._is_array:
            return _in_order(x, names, "x")
        import numpy as np

        try:
            array = np.asarray(x, dtype=np.float64)
        except (TypeError, ValueError):
            raise ArgumentError(f"x is {_found(x)}; give one number for each pair of bounds") from None
        if array.shape != (len(names),):
            raise ArgumentError(f"x has shape {array.shape}; it must be ({len(names)},)")
        point: list[Any] = array.tolist()
        return point

    def to_dataframe(self) -> pandas.DataFrame:
        """All trials as a pandas DataFrame, a column for each output and each parameter, one for each element of a vector."""
        try:
            import pandas
        except ImportError:
            raise ImportError("to_dataframe needs pandas; install it with `pip install pandas`") from None
        return pandas.DataFrame(self._columns())

    def to_arrow(self) -> pyarrow.Table:
        """All trials as a pyarrow Table, with the columns of `to_dataframe`."""
        try:
            import pyarrow
        except ImportError:
            raise ImportError("to_arrow needs pyarrow; install it with `pip install pyarrow`") from None
        types = {"float": pyarrow.float64(), "int": pyarrow.int64(), "categorical": pyarrow.string()}
        types["bool"] = pyarrow.bool_()
        kinds = {"trial": "int", "state": "categorical", "reason": "categorical"}
        if self._core.settings()["is_limited"]:
            kinds["feasible"] = "bool"
        for parameter in self._core.parameters():
            kinds.update((column, parameter["type"]) for column in _column_names(parameter))
        columns = self._columns()
        # Whatever else there is, is an output.
        kinds.update((column, "float") for column in columns if column not in kinds)
        schema = pyarrow.schema([(name, types[kinds[name]]) for name in columns])
        return pyarrow.table(columns, schema=schema)

    def _columns(self) -> dict[str, list[Any]]:
        parameters = self._core.parameters()
        columns: dict[str, list[Any]] = {"trial": []}
        for parameter in parameters:
            columns.update((column, []) for column in _column_names(parameter))
        # An output that is called like another column is told apart from it.
        is_limited: bool = self._core.settings()["is_limited"]
        taken = {*columns, "state", "reason", *(["feasible"] if is_limited else [])}
        outputs = {name: f"output.{name}" if name in taken else name for name in self._core.outputs()}
        columns.update(state=[], **{column: [] for column in outputs.values()})
        if is_limited:
            columns["feasible"] = []
        columns["reason"] = []
        for id, params, state, _, told, reason, feasible, _ in self._core.trials():
            columns["trial"].append(id)
            for parameter in parameters:
                value = params[parameter["name"]]
                elements = [value] if parameter["size"] is None else list(value)
                for column, element in zip(_column_names(parameter), elements):
                    columns[column].append(element)
            columns["state"].append(state)
            for name, column in outputs.items():
                columns[column].append(told.get(name))
            if is_limited:
                columns["feasible"].append(feasible)
            columns["reason"].append(reason)
        return columns

    def close(self) -> None:
        """Gives a study on disk back to others. It can still be looked at; the next ask or tell takes it again."""
        self._core.close("closed by a program")

    def __enter__(self) -> Study:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a tribo.Study cannot be pickled or copied: it has one owner; make it with Study.create(directory, ...), "
            "and use Study.open(path) elsewhere"
        )

    def _one(self, id: int) -> Trial:
        return self._trial(*self._core.trials(id)[0])

    def _trial(
        self,
        id: int,
        params: dict[str, Any],
        state: str = "pending",
        value: float | None = None,
        outputs: dict[str, float] | None = None,
        reason: str | None = None,
        feasible: bool | None = None,
        violated: Sequence[str] = (),
    ) -> Trial:
        told = {} if outputs is None else outputs
        beyond = tuple(violated)
        if not self._is_array:
            return Trial(id, dict(params), params, state, value, reason, told, feasible, beyond)
        # Here, not above: half of the time of `import tribo` would be numpy's.
        import numpy as np

        x = np.array(list(params.values()), dtype=np.float64)
        return Trial(id, x, params, state, value, reason, told, feasible, beyond)


def _number(place: str, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise ArgumentError(f"{place} is {_found(value)}; give a number") from None


def _column_names(parameter: dict[str, Any]) -> list[str]:
    name, size = parameter["name"], parameter["size"]
    return [name] if size is None else [f"{name}[{i}]" for i in range(size)]


def _in_order(point: Any, names: list[str], place: str) -> list[Any]:
    """The values of a point given by names."""
    if not isinstance(point, Mapping):
        raise ArgumentError(f"{place} is {_found(point)}; give a dictionary of parameters")
    if unknown := [name for name in point if name not in names]:
        raise ArgumentError(f"{place}: there is no parameter {unknown[0]!r}; there are {', '.join(names)}")
    if missing := [name for name in names if name not in point]:
        raise ArgumentError(f"{place}: parameter {missing[0]!r} is missing")
    return [point[name] for name in names]
