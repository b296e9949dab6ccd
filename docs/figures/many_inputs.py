#!/usr/bin/env python3
"""Draws the figures of docs/concepts/many-inputs.md, beside this file: python3 many_inputs.py

coded-step.svg and scattered-steps.svg are drawings. named-inputs.svg is measured, and so are the rows of the page's tables,
which are printed: it runs studies with the package `tribo`, for some minutes. The function is a sum of k squares of random
weight (within a factor of e of 1) and random centre, hidden among D inputs; counted are evaluations until those k are
named. Plain text is written, so that nothing but `tribo` is needed.
"""

import heapq
import math
import random
import statistics
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).resolve().parent
BLUE, ORANGE, GREEN, GREY, INK = "#0072b2", "#d55e00", "#009e73", "#b8bcc2", "#222222"
BUDGET, COUNTS = 200, (1, 2, 4, 6, 8, 12, 16, 20)


def text(x, y, words, **more):
    extra = "".join(f' {key.replace("_", "-")}="{value}"' for key, value in more.items())
    return f'<text x="{x:g}" y="{y:g}"{extra}>{words}</text>'


def svg(name, width, height, title, parts):
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'role="img" font-family="Helvetica, Arial, DejaVu Sans, sans-serif" font-size="13" fill="{INK}">\n'
        f'<title>{title}</title>\n<rect width="100%" height="100%" fill="#ffffff"/>\n'
    )
    (FOLDER / name).write_text(head + "\n".join(parts) + "\n</svg>\n", encoding="utf-8")


def coded_step():
    """Two moves of a group of twelve inputs, of which the eighth matters, and their answers."""
    n, active, answer = 12, 8, 0.42
    left, pitch, bar, base, tall = 24, 28, 18, 162, 110
    parts = []
    for panel, (title, heights, shown) in enumerate(
        [
            ("1. All move by one step", [1.0] * n, answer),
            ("2. Each moves by its own part of it", [(j + 1) / n for j in range(n)], answer * active / n),
        ]
    ):
        x0 = left + panel * 370
        parts.append(text(x0, 30, title, font_size=15, font_weight="bold"))
        for j, height in enumerate(heights):
            colour = ORANGE if j + 1 == active else GREY
            top = base - tall * height
            x = x0 + j * pitch
            parts.append(f'<rect x="{x}" y="{top:g}" width="{bar}" height="{tall * height:g}" fill="{colour}"/>')
            parts.append(text(x + bar / 2, base + 17, str(j + 1), text_anchor="middle", font_size=11))
        parts.append(f'<path d="M{x0 - 4} {base}H{x0 + n * pitch - 6}" stroke="{INK}"/>')
        parts.append(text(x0, base + 44, f"the value changes by {shown:.2f}"))
    parts.append(
        text(left, base + 76, f"0.28 / 0.42 = 8/12: input {active} moved by 8/12, so it is the one.", font_weight="bold")
    )
    parts.append(text(left, base + 97, "3. That input alone moves by the whole step: 0.42 again proves it."))
    svg("coded-step.svg", 752, 277, "Two answers name one input of a group", parts)


def scattered_steps():
    """Ten moves of twelve inputs, of which two matter; which inputs agree with the answers, and with what is left."""
    n, probes, slopes = 12, 10, {3: 0.42, 8: -0.25}
    draw = random.Random(4)
    parts_of = [[draw.choice((-1, 1)) * draw.randint(1, 8) / 8 for _ in range(n)] for _ in range(probes)]
    answers = [sum(slope * row[j] for j, slope in slopes.items()) for row in parts_of]

    def agreement(changes):
        return [sum(row[j] * change for row, change in zip(parts_of, changes)) for j in range(n)]

    def strongest(values):
        return max(range(n), key=lambda j: abs(values[j]))

    first = agreement(answers)
    one = strongest(first)
    slope = first[one] / sum(row[one] ** 2 for row in parts_of)
    second = agreement([answer - slope * row[one] for row, answer in zip(parts_of, answers)])
    if {one, strongest(second)} != set(slopes):
        raise RuntimeError("the drawing would be wrong: take another seed")

    left, pitch, bar, half, top = 24, 28, 18, 13, 66
    title = "Every probe moves all inputs, each by a random part of the step"
    parts = [text(left, 30, title, font_size=15, font_weight="bold")]
    parts.append(text(left + n * pitch + 26, 52, "the value changes by"))

    def row_of_bars(middle, heights, marked):
        for j, height in enumerate(heights):
            tall = half * abs(height)
            y = middle - tall if height > 0 else middle
            colour = ORANGE if j in marked else GREY
            place = f'x="{left + j * pitch}" y="{y:.4g}" width="{bar}" height="{tall:.3g}"'
            parts.append(f'<rect {place} fill="{colour}"/>')
        parts.append(f'<path d="M{left - 4} {middle:g}H{left + n * pitch - 6}" stroke="{INK}" stroke-width="0.5"/>')

    middle = top + half
    for row, answer in zip(parts_of, answers):
        row_of_bars(middle, row, slopes)
        parts.append(text(left + n * pitch + 26, middle + 4, f"{answer:+.2f}".replace("-", "\u2212")))
        middle += 2 * half + 4
    for j in range(n):
        parts.append(text(left + j * pitch + bar / 2, middle - 3, str(j + 1), text_anchor="middle", font_size=11))
    middle += 30
    for agreements, words in [
        (first, ("Agreement with the changes:", f"input {one + 1} is strongest.")),
        (second, ("Agreement with what it leaves:", f"input {strongest(second) + 1}. Nothing is left then.")),
    ]:
        top_of_all = max(abs(value) for value in agreements)
        row_of_bars(middle, [value / top_of_all for value in agreements], {strongest(agreements)})
        parts.append(text(left + n * pitch + 26, middle - 3, words[0], font_weight="bold"))
        parts.append(text(left + n * pitch + 26, middle + 14, words[1]))
        middle += 2 * half + 14
    svg("scattered-steps.svg", 640, int(middle - 10), "Probes that move all inputs, and how they are read", parts)


class Run(NamedTuple):
    """How a study went until all were named, or until its end."""

    evaluations: int
    hours: float
    named: int
    idle_named: int
    all_named: bool


def until_named(inputs, count, seed, noise=0.0, workers=1):
    """A study until all are named, to the end of the budget, or until too many inputs are said to matter.

    `noise` is a part of the distance of the quartiles of the values; evaluations take 30 to 900 seconds of a clock that
    is not real.
    """
    import numpy as np

    import tribo

    draw = np.random.default_rng([count, seed])
    hidden = draw.choice(inputs, count, replace=False)
    weights, centres = np.exp(draw.uniform(-1, 1, count)), draw.uniform(-0.8, 0.8, count)

    def value(x):
        return (weights * (x - centres) ** 2).sum(axis=-1)

    quartiles = np.percentile(value(draw.uniform(-1, 1, (1000, count))), [25, 75])
    sd = noise * float(quartiles[1] - quartiles[0])
    study = tribo.Study({"x": tribo.Float(-1, 1, size=inputs)}, seed=seed, evaluations=BUDGET)
    now, running = 0.0, []
    for evaluations in range(1, BUDGET + 1):
        free = min(workers, BUDGET + 1 - evaluations) - len(running)
        for trial in study.ask(free) if free else []:
            heapq.heappush(running, (now + draw.uniform(30, 900), trial.id, trial))
        now, _, trial = heapq.heappop(running)
        study.tell(trial, float(value(trial.params["x"][hidden])) + sd * draw.standard_normal())
        insight = study.insight()
        named = {one.input for one in insight.active}
        right = named & set(hidden.tolist())
        is_end = len(right) == count or evaluations == BUDGET
        # The last word; with much noise the verdict stays open.
        if is_end or insight.verdict == "dense":
            return Run(evaluations, now / 3600, len(right), len(named - right), len(right) == count)


def measured(n_runs, **case):
    """The median, infinite if most runs name too few; printed with how many name them all."""
    runs = [until_named(seed=seed, **case) for seed in range(n_runs)]
    median = statistics.median(run.evaluations if run.all_named else math.inf for run in runs)
    hours = statistics.median(run.hours if run.all_named else math.inf for run in runs)
    print(
        case,
        f"median {median} evaluations, {hours:.2f} h;",
        f"{sum(run.all_named for run in runs)} of {len(runs)} runs name all;",
        f"{sum(run.named for run in runs)} inputs named, {sum(run.idle_named for run in runs)} idle ones",
        flush=True,
    )
    return median


def named_inputs():
    left, right, top, bottom = 70, 520, 50, 330
    across = lambda count: left + (right - left) * count / 20
    up = lambda evaluations: bottom - (bottom - top) * evaluations / BUDGET
    parts = [text(left, 28, "Evaluations until all inputs that matter are named", font_size=15, font_weight="bold")]
    for mark in range(0, BUDGET + 1, 50):
        parts.append(f'<path d="M{left} {up(mark):g}H{right}" stroke="#e4e4e4"/>')
        parts.append(text(left - 8, up(mark) + 4, str(mark), text_anchor="end"))
    for mark in range(0, 21, 4):
        parts.append(text(across(mark), bottom + 19, str(mark), text_anchor="middle"))
    parts.append(text((left + right) / 2, bottom + 42, "inputs that matter", text_anchor="middle"))
    for row, (inputs, colour) in enumerate([(10_000, ORANGE), (1_000, BLUE), (100, GREEN)]):
        points = []
        for count in COUNTS:
            median = measured(9, inputs=inputs, count=count)
            if median < math.inf:
                points.append((across(count), up(median)))
        line = "L".join(f"{x:g} {y:g}" for x, y in points)
        parts.append(f'<path d="M{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{x:g}" cy="{y:g}" r="4" fill="{colour}"/>' for x, y in points]
        y = top + 20 + 22 * row
        parts.append(f'<path d="M{left + 16} {y - 4}h24" stroke="{colour}" stroke-width="2"/>')
        parts.append(text(left + 48, y, f"of {inputs:,} inputs"))
    svg("named-inputs.svg", 560, 390, "Evaluations until all inputs that matter are named", parts)


if __name__ == "__main__":
    coded_step()
    scattered_steps()
    named_inputs()
    for noise in (0.0, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 3e-2, 1e-1):
        measured(40, inputs=1_000, count=4, noise=noise)
    for workers in (1, 4, 8, 20):
        measured(40, inputs=1_000, count=4, workers=workers)
    for count in (1, 8, 12, 16):
        measured(40, inputs=1_000, count=count, workers=20)
