"""What a study has found out about its inputs, as `Study.insight` gives it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from tribo._words import counted


@dataclass(frozen=True)
class ActiveInput:
    """An input that matters. `effect`, `step` and `threshold` are None if the user said that it does."""

    name: str
    """Its name, such as `x[3]`."""
    input: int
    """Its number, counted over the elements of all parameters; the place in `Trial.x` where the space is a list."""
    effect: float | None
    """Change of the value for a move of this input alone."""
    step: float | None
    """How far it was moved, as a part of its range."""
    threshold: float | None
    """The largest change that an input without effect would have shown."""


@dataclass(frozen=True)
class Finding:
    """Something that was concluded, in a sentence (`str`) and in numbers."""

    results: int
    """Measured values by then."""
    text: str
    """What, in a sentence."""
    fact: dict[str, Any]
    """The same as data: `what` is its kind, the other keys are the numbers it was concluded from."""

    def __str__(self) -> str:
        return f"after {counted(self.results, 'result')}: {self.text}"


@dataclass(frozen=True)
class Insight:
    """What is known about a function and its inputs. `print` shows it in sentences."""

    doing: str
    """What the strategy does now, and why."""
    verdict: str
    """`sparse`: the inputs in `active` matter. `dense`: too many to name. `open`: not known, or nobody looks."""
    n_inputs: int
    """Number of inputs."""
    active: list[ActiveInput]
    """Inputs known to matter, strongest first."""
    outputs: dict[str, list[ActiveInput]]
    """Under limits, the inputs that drive each output, strongest first; empty where nobody looks."""
    n_idle: int
    """Inputs that were moved all at once without a change."""
    noise_sd: float | None
    """Standard deviation of a value, once it is known."""
    findings: list[Finding]
    """How this came about, in order."""
    text: str = field(repr=False)
    """All of it but the findings, in sentences."""

    def __str__(self) -> str:
        return self.text


def _active(one: dict[str, Any]) -> ActiveInput:
    nothing = {"effect": None, "step": None, "threshold": None}
    return ActiveInput(one["name"], one["input"], **(one["evidence"] or nothing))


def insight_of(data: str, sentences: list[str], text: str) -> Insight:
    """An insight from what the compiled module gives."""
    known = json.loads(data)
    known["active"] = [_active(one) for one in known["active"]]
    known["outputs"] = {
        driven["output"]: [_active(one) for one in driven["inputs"]] for driven in known.get("outputs", [])
    }
    known["findings"] = [
        Finding(one["results"], sentence, one["fact"]) for one, sentence in zip(known["findings"], sentences)
    ]
    return Insight(**known, text=text.rstrip("\n"))
