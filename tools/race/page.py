"""The page: all tables, a figure for each setting of BBOB and each other problem, the command and the date."""

import datetime
import shlex

from . import score, table
from .chart import line_chart
from .one import EVERY

HEAD = """\
# tribo and what else there is

Made on {date} by

```text
{command}
```

from runs of {versions}, whose commands are below. One evaluation at a time; a task is a problem, an instance of it and a seed, the same for all
methods, noise and accidents included. All values are minimised. Without noise the lowest value measured counts; under noise
the true value at the point that a method recommends: tribo the one it calls recommended, BoTorch and Optuna's GP the lowest
posterior mean of those measured, CMA-ES the mean of its law, the others the lowest value measured. Own time is that of the
processor for all proposals of a run, on one thread. How the runs were made is in [benchmarks](../benchmarks.md).
"""


def write(folder, records, points, arguments):
    folder.mkdir(parents=True, exist_ok=True)
    lines = [
        HEAD.format(
            date=datetime.date.today().isoformat(),
            command=shlex.join(["python3", "tools/race", *arguments]),
            versions=table.versions(records),
        )
    ]
    for setting, members in score.settings(score.name_versions(records)).items():
        lines += [*table.one_setting(setting, members, points), "", "```text", run_command(setting, members), "```", ""]
        for name, title, chart in figures(setting, members):
            (folder / name).write_text(chart)
            lines += [f"![{title}]({name})", ""]
    (folder / "race.md").write_text("\n".join(lines).rstrip() + "\n")


def run_command(setting, records):
    """The command that makes the runs of a setting."""
    suite, inputs, noise, evaluations = setting

    def all_of(name):
        # A method's name may have its version behind it.
        return ",".join(dict.fromkeys(str(record[name]).split()[0] for record in records))

    given = [("suite", suite), ("inputs", inputs), ("functions", all_of("problem")), ("instances", all_of("instance"))]
    given += [("evaluations", evaluations), ("methods", all_of("method")), ("seed", all_of("seed")), ("noise", noise or None)]
    options = [part for name, value in given if value is not None for part in (f"--{name}", str(value))]
    return shlex.join(["python3", "tools/race", "run", *options, "--out", "race.jsonl"])


def figures(setting, records):
    """Name of the file, title and chart of each figure of a setting."""
    suite, inputs, noise, evaluations = setting
    methods = table.methods_of(records)
    tasks = score.common(records, methods)
    middle = score.median if suite == "failures" else score.mean
    stem = "-".join(
        ["race", suite, *([f"{inputs}"] if inputs else []), *([f"noise{100 * noise:g}"] if noise else []), f"{evaluations}"]
    )
    steps = [k for k in range(1, evaluations + 1) if not noise or k % EVERY == 0 or k == evaluations]
    if suite == "bbob":
        groups = {"": tasks}
    else:
        groups = {problem: {} for problem, _, _ in tasks}
        for task, by in tasks.items():
            groups[task[0]][task] = by
    for problem, members in groups.items():
        if not members:
            continue
        title = ", ".join(([problem] if problem else []) + [table.name_of(setting)])
        series = [(method, curve(members, method, steps, middle, suite == "bbob")) for method in methods]
        what = "mean log10 gap" if suite == "bbob" else f"{middle.__name__} of what was reached"
        chart = line_chart(title, "evaluations", what, series)
        yield f"{stem}-{problem}.svg" if problem else f"{stem}.svg", title, chart


def curve(tasks, method, steps, middle, is_gap):
    points = []
    for k in steps:
        reached = [(score.value_at(by[method], k), by[method]["optimum"]) for by in tasks.values()]
        # Before every run has a value there is no mean.
        if all(value is not None for value, _ in reached):
            points.append((k, middle([score.log_gap(*each) if is_gap else each[0] for each in reached])))
    return points
