"""What files of runs say, as tables of Markdown: mean ranks, and for BBOB the mean log10 gaps by group of functions."""

from . import score
from .bbob import GROUPS, group_of
from .methods import METHODS


def checkpoints(evaluations):
    """Half of the budget and all of it."""
    return [evaluations // 2, evaluations]


def name_of(setting):
    suite, inputs, noise, evaluations = setting
    parts = [suite.upper() if suite == "bbob" else suite]
    parts += [f"{inputs} inputs"] if inputs else []
    parts += [f"noise {100 * noise:g} % of the spread"] if noise else []
    return ", ".join([*parts, f"{evaluations} evaluations"])


def rows(table):
    """A table of Markdown, its columns as wide as their cells."""
    widths = [max(len(row[i]) for row in table) for i in range(len(table[0]))]
    lines = ["| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |" for row in table]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return lines


def counted(n, what):
    return f"{n} {what}" if n == 1 else f"{n} {what}s"


def number(value, digits=2):
    return "-" if value is None else f"{value:.{digits}f}"


def significant(value):
    return "-" if value is None else f"{value:.4g}"


def bold_lowest(cells, values):
    known = [value for value in values if value is not None]
    return [f"**{cell}**" if known and value == min(known) else cell for cell, value in zip(cells, values)]


def methods_of(records):
    """Those with a run that ended well, in the order of the list of methods and of the files."""
    found = dict.fromkeys(record["method"] for record in records if not record["ended"].startswith("error"))
    order = list(METHODS)
    return sorted(found, key=lambda method: order.index(method.split()[0]))


def one_setting(setting, records, points=None):
    """The lines about one setting, after `points` evaluations."""
    methods = methods_of(records)
    tasks = score.common(records, methods)
    lines = [f"## {name_of(setting)}", ""]
    left_out = len({(r["problem"], r["instance"], r["seed"]) for r in records}) - len(tasks)
    n_problems = len({problem for problem, _, _ in tasks})
    lines.append(f"{counted(len(tasks), 'task')} of {counted(n_problems, 'problem')} that all methods have ended; {left_out} left out.")
    lines += endings(records)
    if not tasks:
        return lines
    points = points or checkpoints(setting[3])
    lines += ["", "Mean rank, of " + str(len(methods)) + ":", ""]
    table = [["after", *methods]]
    for k in points:
        found = score.mean_ranks(tasks, methods, k)
        table.append([str(k), *bold_lowest([number(each) for each in found], found)])
    seconds = [score.mean([by[method].get("own_seconds", 0.0) for by in tasks.values()]) for method in methods]
    table.append(["own time [s]", *[number(each, 1) for each in seconds]])
    lines += rows(table)
    if setting[0] == "bbob":
        return lines + gaps(tasks, methods, points)
    return lines + values(tasks, methods, points, score.median if setting[0] == "failures" else score.mean)


def endings(records):
    """What was not finished, said."""
    lines = []
    for record in records:
        if record["ended"] != "finished":
            where = f"{record['problem']}, instance {record['instance']}, seed {record['seed']}"
            n_made = counted(len(record["told"]), "evaluation")
            lines.append(f"- {record['method']} on {where}: {record['ended']}, after {n_made}.")
    return ["", *lines] if lines else []


def gaps(tasks, methods, points):
    """BBOB: the mean log10 gap of each group of functions, and how far tribo is behind the best other method."""
    lines = ["", "Mean log10 gap; behind: tribo's less that of the best other method.", ""]
    table = [["functions", "after", *methods, "behind", "the best other"]]
    differences = []
    for group in [*GROUPS, "all"]:
        members = {task: by for task, by in tasks.items() if group in ("all", group_of(task[0]))}
        if not members:
            continue
        for k in points:
            found = score.mean_gaps(members, methods, k)
            difference = score.behind(found, methods)
            tail = ["-", "-"] if difference is None else [f"{difference[0]:+.2f}", difference[1]]
            table.append([group, str(k), *bold_lowest([number(each) for each in found], found), *tail])
            if difference is not None and group != "all":
                differences.append(difference[0])
    lines += rows(table)
    if differences:
        n_good = sum(each <= 0.15 for each in differences)
        lines += ["", f"Behind by at most 0.15 in {n_good} of {len(differences)} cells; at most by {max(differences):+.2f}."]
    return lines


def values(tasks, methods, points, middle):
    """Other suites: the mean value on each problem, or the median, and the share of evaluations that gave none."""
    lines = ["", f"{middle.__name__.capitalize()} of what was reached:", ""]
    table = [["problem", "after", *methods]]
    for problem in dict.fromkeys(problem for problem, _, _ in tasks):
        members = [by for (name, _, _), by in tasks.items() if name == problem]
        for k in points:
            found = []
            for method in methods:
                reached = [score.value_at(by[method], k) for by in members]
                found.append(None if None in reached else middle(reached))
            table.append([problem, str(k), *bold_lowest([significant(each) for each in found], found)])
        if any(None in by[method]["told"] for by in members for method in methods):
            # The start is the method's choice; what counts is whether it learns.
            for after in (20, 30):
                shares = [share(members, method, after) for method in methods]
                table.append([problem, f"no value, after the {after}th", *shares])
    return lines + rows(table)


def share(members, method, after):
    """Of the evaluations after so many, those without a value."""
    told = [value for by in members for value in by[method]["told"][after:]]
    return f"{100 * told.count(None) / len(told):.0f} %" if told else "-"


def versions(records):
    found = sorted({(record["method"], record["version"]) for record in records})
    return ", ".join(f"{method} {version}" if version != "1" else method for method, version in found)


def tables(records, points=None):
    lines = []
    for setting, members in score.settings(score.name_versions(records)).items():
        lines += [*one_setting(setting, members, points), ""]
    return "\n".join(lines)
