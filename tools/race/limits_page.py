"""The page about limits: how far each method is from the known optima, in tables and figures."""

import datetime
import math
import shlex
import statistics

from . import score, table
from .chart import line_chart
from .limits import MARKS, TABLE

# Gaps below this are the same: what a violation of a millionth can bring.
FLOOR = 1e-6
# Problems that are drawn: those where methods differ most.
DRAWN = ["welded_beam", "g09", "g07"]

HEAD = """\
# Limits: tribo and what else there is

Made on {date} by

```text
{command}
```

from runs of {versions}, made by

```text
{run}
```

Problems with known optima ([how they are searched](concepts/limits.md)), one evaluation at a time, seeds that were not used to
design anything. A task is a problem and a seed. A point is feasible if no limit is exceeded by more than a millionth of its size
(1e-6 where that is zero), for every method. The gap is that of the best feasible point, relative to the optimum; none where
nothing was feasible. egobox is told that tolerance, COBYLA of SciPy begins at the centre and then at random points, and
`tribo-penalty` is tribo without limits on the objective plus ten times its size for each whole limit of violation.
"""


def gap_at(record, k):
    """The relative gap after k evaluations; infinite where nothing was feasible."""
    value = score.value_at(record, k)
    return math.inf if value is None else max((value - record["optimum"]) / abs(record["optimum"]), 0.0)


def shown(gap):
    if math.isinf(gap):
        return "none"
    return f"< {FLOOR:.0e}" if gap < FLOOR else f"{gap:.0e}"


def first_feasible(record):
    return next((k + 1 for k, value in enumerate(record["told"]) if value is not None), math.inf)


def by_problem(records):
    """Records by problem and method, of tasks that all methods have ended."""
    methods = table.methods_of(records)
    tasks = score.common(records, methods)
    found = {problem: {method: [] for method in methods} for problem in TABLE}
    for (problem, _, _), by in tasks.items():
        for method in methods:
            found[problem][method].append(by[method])
    return methods, {problem: by for problem, by in found.items() if any(by.values())}


def tables(records):
    methods, problems = by_problem(records)
    lines = [*table.endings(records), "", "Relative gap, median (worst):", ""]
    gaps = [["problem", "inputs, limits", "after", *methods]]
    firsts = [["problem", *methods]]
    times = [["problem", *methods]]
    for problem, by in problems.items():
        _, bounds, limits, _ = TABLE[problem]
        for k in MARKS[problem]:
            medians = [statistics.median(gap_at(record, k) for record in by[method]) for method in methods]
            worst = [max(gap_at(record, k) for record in by[method]) for method in methods]
            cells = [f"{shown(median)} ({shown(bad)})" for median, bad in zip(medians, worst)]
            lowest = [max(median, FLOOR) for median in medians]
            gaps.append([problem, f"{len(bounds)}, {len(limits)}", str(k), *table.bold_lowest(cells, lowest)])
        found = [statistics.median(first_feasible(record) for record in by[method]) for method in methods]
        firsts.append([problem, *["none" if math.isinf(each) else f"{each:g}" for each in found]])
        steps = [statistics.median(r["own_seconds"] / max(len(r["told"]), 1) for r in by[method]) for method in methods]
        times.append([problem, *[f"{1000 * each:.0f}" for each in steps]])
    lines += table.rows(gaps)
    lines += ["", "First feasible evaluation, median:", "", *table.rows(firsts)]
    lines += ["", "Processor time of a proposal, ms, mean over a run, median over runs:", "", *table.rows(times)]
    return lines


def write(folder, records, arguments):
    figures = folder / "figures"
    figures.mkdir(parents=True, exist_ok=True)
    command = shlex.join(["python3", "tools/race", *arguments])
    seeds = ",".join(dict.fromkeys(str(record["seed"]) for record in records))
    names = ",".join(table.methods_of(records))
    run = f"python3 tools/race run --suite limits --instances 1 --seed {seeds} --methods {names} --out limits.jsonl"
    versions = table.versions(records)
    lines = [HEAD.format(date=datetime.date.today().isoformat(), command=command, versions=versions, run=run), *tables(records), ""]
    methods, problems = by_problem(records)
    for problem in DRAWN:
        if problem not in problems:
            continue
        series = []
        for method in methods:
            runs = problems[problem][method]
            points = []
            for k in range(1, max(MARKS[problem]) + 1):
                gap = statistics.median(gap_at(record, k) for record in runs)
                if not math.isinf(gap):
                    points.append((k, math.log10(max(gap, FLOOR))))
            series.append((method, points))
        name = f"race-limits-{problem}.svg"
        (figures / name).write_text(line_chart(problem.replace("_", " "), "evaluations", "log10 relative gap, median", series))
        lines += [f"![{problem}](figures/{name})", ""]
    (folder / "race-limits.md").write_text("\n".join(lines).rstrip() + "\n")
