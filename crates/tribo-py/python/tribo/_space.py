"""Parameters, and the study file made of a study's arguments.

The library reads studies from one place, the study file; so a study of Python's is written as one, kept in memory, and
every complaint about a line of it is turned into one about the argument that the line was made of.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from numbers import Integral, Real
from typing import Any, Union

from tribo._core import ArgumentError, parse_limit


class Parameter:
    """An input: `Float`, `Int` or `Categorical`. By this name a checker of types finds what a dictionary of them holds."""

    size: int | None


@dataclass(frozen=True)
class Float(Parameter):
    """A number between `low` and `high`, both included.

    With `log=True` it is searched in its logarithm; with `size` it is a vector of so many numbers.

    >>> Float(1e-5, 1e-1, log=True)
    Float(low=1e-05, high=0.1, log=True, size=None)
    """

    low: float
    high: float
    _: KW_ONLY
    log: bool = False
    size: int | None = None


@dataclass(frozen=True)
class Int(Parameter):
    """A whole number between `low` and `high`, both included.

    With `log=True` it is searched in its logarithm; with `size` it is a vector of so many numbers.

    >>> Int(1, 8)
    Int(low=1, high=8, log=False, size=None)
    """

    low: int
    high: int
    _: KW_ONLY
    log: bool = False
    size: int | None = None


@dataclass(frozen=True)
class Categorical(Parameter):
    """One of several names, which have no order; with `size` a vector of so many.

    Names are strings. For other objects, keep a dictionary from names to them.

    >>> Categorical(["cg", "gmres"])
    Categorical(choices=['cg', 'gmres'], size=None)
    """

    choices: Sequence[str]
    _: KW_ONLY
    size: int | None = None


# `"stress <= 200"`, or the keys of an `[[output]]` of a study file; or `"x + y <= 1"`, between parameters.
Constraint = Union[str, Mapping[str, Any]]

Space = Union[Mapping[str, Parameter], Sequence[tuple[float, float]]]

# The names of inputs that are given as a list of bounds.
BOUND_NAME = "x{}"


class StudyFile:
    """The lines of a study file, each with the argument it is made of."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self.places: list[str] = []

    @property
    def text(self) -> str:
        return "".join(line + "\n" for line in self._lines)

    def add(self, place: str, line: str) -> None:
        self._lines.append(line)
        self.places.append(place)

    def set(self, place: str, key: str, value: object) -> None:
        self.add(place, f"{key} = {_toml(place, value)}")


def study_file(
    space: Space,
    *,
    direction: str,
    objective: str | None,
    strategy: str | Mapping[str, Any],
    seed: int,
    evaluations: int | None,
    constraints: Sequence[Constraint] = (),
    name: str | None = None,
) -> StudyFile:
    """The study file of these arguments."""
    if isinstance(constraints, (str, Mapping)) or not isinstance(constraints, Iterable):
        raise ArgumentError(f"constraints is {_found(constraints)}; give a list, such as ['stress <= 200']")
    parameters = _parameters(space)
    known, on_outputs = _between_parameters(constraints, [name for _, name, _ in parameters])
    limits = _limits(on_outputs)
    if limits and objective is None:
        objective = "value"
    for place, limit in limits:
        if limit.get("name") == objective:
            raise ArgumentError(f"{place}: {objective!r} is what is optimised; constraints are for other outputs")
    file = StudyFile()
    file.set("", "study_version", 1)
    if name is not None:
        file.set("name", "name", name)
    if objective is None:
        file.set("direction", "direction", direction)
    file.set("seed", "seed", seed)
    if known:
        file.add("constraints", "constraints = [")
        for place, text in known:
            file.add(place, f"{_quoted(text)},")
        file.add("constraints", "]")
    if objective is not None:
        if direction == "record":
            raise ArgumentError(f"direction is {_found(direction)}; it must be 'minimize' or 'maximize'")
        file.add("objective", "[[output]]")
        file.set("objective", "name", objective)
        file.set("direction", "goal", direction)
    for place, limit in limits:
        file.add(place, "[[output]]")
        for key, value in limit.items():
            file.set(place, _quoted(str(key)), value)
    for place, key, parameter in parameters:
        _add_parameter(file, place, key, parameter)
    if evaluations is not None:
        file.add("", "[budget]")
        file.set("evaluations", "evaluations", evaluations)
    file.add("strategy", "[strategy]")
    if isinstance(strategy, Mapping):
        for key, value in strategy.items():
            file.set(f"strategy[{key!r}]", _quoted(str(key)), value)
    else:
        file.set("strategy", "name", strategy)
    return file


def _between_parameters(
    constraints: Iterable[Constraint], names: list[str]
) -> tuple[list[tuple[str, str]], list[tuple[str, Constraint]]]:
    """Those that name a parameter, which hold between inputs, and the limits on outputs; each with its place."""
    known: list[tuple[str, str]] = []
    limits: list[tuple[str, Constraint]] = []
    for i, constraint in enumerate(constraints):
        place = f"constraints[{i}]"
        if isinstance(constraint, str) and any(_mentions(constraint, name) for name in names):
            known.append((place, constraint))
        else:
            limits.append((place, constraint))
    return known, limits


def _mentions(text: str, name: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None


def _limits(constraints: Iterable[tuple[str, Constraint]]) -> list[tuple[str, dict[str, Any]]]:
    """Place and keys of each limited output; two limits of one output are taken together."""
    limits: list[tuple[str, dict[str, Any]]] = []
    for place, constraint in constraints:
        keys = _limit(place, constraint)
        same = [limit for _, limit in limits if limit.get("name") == keys.get("name")]
        if not same:
            limits.append((place, keys))
        elif both := {*same[0]} & {*keys} - {"name"}:
            raise ArgumentError(f"{place}: {keys['name']!r} has another `{min(both)}` already; give one of them")
        else:
            same[0].update(keys)
    return limits


def _limit(place: str, constraint: object) -> dict[str, Any]:
    """A constraint as the keys of an `[[output]]`."""
    if isinstance(constraint, Mapping):
        return dict(constraint)
    if not isinstance(constraint, str):
        raise ArgumentError(f"{place} is {_found(constraint)}; give a text, such as 'stress <= 200'")
    try:
        name, low, high = parse_limit(constraint)
    except ArgumentError as error:
        raise ArgumentError(f"{place}: {error}") from None
    if low == high:
        return {"name": name, "equals": low}
    ends = {"at_least": low, "at_most": high}
    return {"name": name, **{key: end for key, end in ends.items() if end is not None}}


def _parameters(space: Space) -> list[tuple[str, str, Parameter]]:
    """Place, name and parameter of each input."""
    if isinstance(space, Mapping):
        named = [(f"space[{name!r}]", name, parameter) for name, parameter in space.items()]
        for place, name, parameter in named:
            if not isinstance(name, str):
                raise ArgumentError(f"{place}: names of parameters must be strings, not {_found(name)}")
            if not isinstance(parameter, (Float, Int, Categorical)):
                advice = "give a tribo.Float, tribo.Int or tribo.Categorical"
                raise ArgumentError(f"{place} is {_found(parameter)}; {advice}")
    else:
        named = [
            (f"space[{i}]", BOUND_NAME.format(i), _bounds(f"space[{i}]", pair)) for i, pair in enumerate(_listed(space))
        ]
    if not named:
        raise ArgumentError("space is empty; give at least one parameter")
    return named


def _listed(space: object) -> list[object]:
    if isinstance(space, Iterable) and not isinstance(space, (str, bytes)):
        return list(space)
    advice = "give a list of pairs (low, high), or a dictionary of tribo.Float, tribo.Int and tribo.Categorical"
    raise ArgumentError(f"space is {_found(space)}; {advice}")


def _bounds(place: str, pair: object) -> Float:
    if isinstance(pair, Iterable) and not isinstance(pair, (str, bytes)):
        ends = list(pair)
        if len(ends) == 2:
            return Float(ends[0], ends[1])
    raise ArgumentError(f"{place} is {_found(pair)}; give a pair (low, high)")


def _add_parameter(file: StudyFile, place: str, name: str, parameter: Parameter) -> None:
    file.add(place, "[[parameter]]")
    file.set(place, "name", name)
    kind = {Float: "float", Int: "int", Categorical: "categorical"}[type(parameter)]
    file.set(place, "type", kind)
    if isinstance(parameter, Categorical):
        choices = parameter.choices
        if isinstance(choices, str) or not all(isinstance(choice, str) for choice in choices):
            advice = "they must be a list of strings; for other objects, keep a dictionary from names to them"
            raise ArgumentError(f"{place}: `choices` is {choices!r}; {advice}")
        file.set(place, "choices", list(choices))
    elif isinstance(parameter, (Float, Int)):
        for key in ("low", "high"):
            bound = getattr(parameter, key)
            file.set(f"{place}.{key}", key, _as_float(bound) if isinstance(parameter, Float) else bound)
        if parameter.log:
            file.set(place, "log", parameter.log)
    if parameter.size is not None:
        file.set(f"{place}.size", "size", parameter.size)


def _as_float(bound: object) -> object:
    """A whole number as a float, so that it can be as large as floats can."""
    if isinstance(bound, Integral) and not isinstance(bound, bool):
        try:
            return float(bound)
        except OverflowError:
            return float("inf")
    return bound


def _toml(place: str, value: object) -> str:
    if isinstance(value, str):
        return _quoted(value)
    if hasattr(value, "item") and getattr(value, "ndim", None) == 0:
        value = value.item()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Integral):
        return str(int(value))
    if isinstance(value, Real):
        # The shortest text that reads back to the same bits.
        return repr(float(value))
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_toml(place, each) for each in value) + "]"
    raise ArgumentError(f"{place} is {_found(value)}; give a number, a string, a truth value or a list of those")


def _quoted(text: str) -> str:
    """A string as the study file has it: control characters and quotes escaped."""
    special = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}
    plain = (special.get(c) or (f"\\u{ord(c):04x}" if ord(c) < 32 or ord(c) == 127 else c) for c in text)
    return '"' + "".join(plain) + '"'


def _found(value: object) -> str:
    text = repr(value)
    if len(text) > 60:
        text = text[:57] + "..."
    return f"{text} (of type {type(value).__name__})"
