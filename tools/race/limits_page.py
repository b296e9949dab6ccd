"""The page about limits: how far each method is from the known optima, in tables and figures."""

import datetime
import math
import shlex
import statistics

from . import bbob_constrained, score, table
from .chart import line_chart
from .limits import MARKS, TABLE

# Gaps below this are the same: what a violation of a millionth can bring.
FLOOR = 1e-6
# Gaps whose evaluations are counted.
WANTED = [1e-3, FLOOR]
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

One evaluation at a time, seeds that were not used to design anything ([how tribo searches](concepts/limits.md)). A point is
feasible if no limit is exceeded by more than a millionth of its size (1e-6 where that is zero), for every method.
"""

KNOWN = """\
## Known optima
{seeds} of each problem. The gap is that of the best feasible point, relative to the optimum; none where nothing was
feasible. egobox is told that tolerance, COBYLA of SciPy begins at the centre and then at random points, and `tribo-penalty` is
tribo without limits on the objective plus ten times its size for each whole limit of violation.
"""

CONSTRAINED = """\
## BBOB-constrained
Functions of `coco-experiment` with ten inputs and 24 limits, 16 of which bind at the optimum: 5 is a sphere, 35 a bent cigar and
53 a rotated Rastrigin function. {seeds} of each instance. The regret is how far the best feasible value is above the optimum, in the units
of the function. FuRBO's are medians of 30 runs on the same instances, from the data that its authors published, and were not
run here.
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


def until(record, gap):
    """Evaluations until a gap was reached; infinite where it was not."""
    wanted = record["optimum"] + gap * abs(record["optimum"])
    return next((k + 1 for k, value in enumerate(record["told"]) if value is not None and value <= wanted), math.inf)


def counted(evaluations, budget):
    """A number of evaluations, which may be the mean of two; or that all of them were not enough."""
    return f"> {budget}" if math.isinf(evaluations) else f"{evaluations:g}"


def by_problem(records, names):
    """Records by problem and method, of tasks that all methods have ended."""
    methods = table.methods_of(records)
    tasks = score.common(records, methods)
    found = {problem: {method: [] for method in methods} for problem in names}
    for (problem, _, _), by in tasks.items():
        for method in methods:
            found[problem][method].append(by[method])
    return methods, {problem: by for problem, by in found.items() if any(by.values())}


def tables(records):
    methods, problems = by_problem(records, TABLE)
    lines = [*table.endings(records), "", "Relative gap, median (worst):", ""]
    gaps = [["problem", "inputs, limits", "after", *methods]]
    needed = [["problem", "until", *methods]]
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
        for gap in WANTED:
            medians = [statistics.median(until(record, gap) for record in by[method]) for method in methods]
            cells = [counted(median, max(MARKS[problem])) for median in medians]
            known = [None if math.isinf(median) else median for median in medians]
            needed.append([problem, f"{gap:.0e}", *table.bold_lowest(cells, known)])
        found = [statistics.median(first_feasible(record) for record in by[method]) for method in methods]
        firsts.append([problem, *["none" if math.isinf(each) else f"{each:g}" for each in found]])
        steps = [statistics.median(r["own_seconds"] / max(len(r["told"]), 1) for r in by[method]) for method in methods]
        times.append([problem, *[f"{1000 * each:.0f}" for each in steps]])
    lines += table.rows(gaps)
    lines += ["", "Evaluations until the relative gap is that small, median, which tells apart what is the same at the end:", ""]
    lines += table.rows(needed)
    lines += ["", "First feasible evaluation, median:", "", *table.rows(firsts)]
    lines += ["", "Processor time of a proposal, ms, mean over a run, median over runs:", "", *table.rows(times)]
    return lines


def constrained(records):
    """The part about BBOB-constrained."""
    methods, problems = by_problem(records, bbob_constrained.NAMES)
    lines = [*table.endings(records), ""]
    rows = [["function", "after", *methods, "FuRBO"]]
    firsts = [["function", *methods]]
    for problem, by in problems.items():
        budget = min(record["evaluations"] for runs in by.values() for record in runs)
        for k in (k for k in bbob_constrained.AFTER if k <= budget):
            cells = []
            for method in methods:
                values = [score.value_at(record, k) for record in by[method]]
                pairs = zip(values, by[method])
                regrets = [math.inf if value is None else max(value - record["optimum"], 0.0) for value, record in pairs]
                cells.append(f"{regret(statistics.median(regrets))} ({regret(max(regrets))})")
            published = bbob_constrained.FURBO.get(problem)
            known = f"{published[bbob_constrained.AFTER.index(k)]:g}" if published else "-"
            rows.append([problem, str(k), *cells, known])
        found = [statistics.median(first_feasible(record) for record in by[method]) for method in methods]
        firsts.append([problem, *["none" if math.isinf(each) else f"{each:g}" for each in found]])
    lines += ["Regret, median (worst):", "", *table.rows(rows)]
    return lines + ["", "First feasible evaluation, median:", "", *table.rows(firsts)]


def regret(value):
    if math.isinf(value):
        return "none"
    return f"< {FLOOR:.0e}" if value < FLOOR else f"{value:.2g}" if value < 100.0 else f"{value:.0f}"


def ranges(numbers):
    """`801-803,807` of a set of numbers."""
    parts = []
    for number in sorted(numbers):
        if parts and parts[-1][1] == number - 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in parts)


def run_command(records):
    """The command that made runs of one suite and budget."""
    suite = records[0]["suite"]
    of = lambda key: ranges({record[key] for record in records})  # noqa: E731
    functions = ""
    if suite != "limits":
        functions = " --functions " + ",".join(dict.fromkeys(record["problem"][1:] for record in records))
        budget = records[0]["evaluations"]
        functions += "" if budget == bbob_constrained.EVALUATIONS else f" --evaluations {budget}"
    names = ",".join(table.methods_of(records))
    return f"python3 tools/race run --suite {suite}{functions} --instances {of('instance')} --seed {of('seed')} --methods {names} --out limits.jsonl"


def write(folder, records, arguments):
    figures = folder / "figures"
    figures.mkdir(parents=True, exist_ok=True)
    command = shlex.join(["python3", "tools/race", *arguments])
    known = [record for record in records if record["suite"] == "limits"]
    others = [record for record in records if record["suite"] == "bbob-constrained"]
    budgets = dict.fromkeys(record["evaluations"] for record in others)
    groups = [known, *([record for record in others if record["evaluations"] == budget] for budget in budgets)]
    run = "\n".join(run_command(each) for each in groups if each)
    versions = table.versions(records)
    lines = [HEAD.format(date=datetime.date.today().isoformat(), command=command, versions=versions, run=run)]
    if known:
        lines += [KNOWN.format(seeds=n_seeds(common(known))), *tables(known), "", *drawn(figures, known)]
    if others:
        lines += [CONSTRAINED.format(seeds=n_seeds(others)), *constrained(others)]
    (folder / "race-limits.md").write_text("\n".join(lines).rstrip() + "\n")


def n_seeds(records):
    return table.counted(len({record["seed"] for record in records}), "seed")


def common(records):
    """The records of tasks that all methods have ended."""
    return [record for by in score.common(records, table.methods_of(records)).values() for record in by.values()]


def drawn(figures, records):
    """The figures, which are written, as lines of the page."""
    lines = []
    methods, problems = by_problem(records, TABLE)
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
    return lines
