"""The arithmetic: what a run has reached, ranks, gaps.

The value of a run after k evaluations is the lowest value measured until then. Under noise it is the true value at the
point that the method recommended last, by then. A gap is how far that is above the optimum; its logarithm is taken to base
ten and no lower than 1e-8, BBOB's own precision.
"""

import math
import statistics
from collections import defaultdict

# Gaps below this are the same.
FLOOR = 1e-8


def value_at(record, k):
    """What the run has reached after k evaluations; None if it has no value by then.

    A run that was ended before keeps what it had.
    """
    if record["noise"]:
        reached = [(int(n), value) for n, value in record.get("recommended", {}).items() if int(n) <= k and value is not None]
        return max(reached)[1] if reached else None
    values = [value for value in record["told"][:k] if value is not None]
    return min(values) if values else None


def log_gap(value, optimum):
    return math.log10(max(value - optimum, FLOOR))


def ranks(values):
    """The rank of each value, from 1 for the lowest; equal ones share the mean of theirs, None comes last.

    >>> ranks([3.0, 1.0, 3.0, None])
    [2.5, 1.0, 2.5, 4.0]
    """
    keys = [math.inf if value is None else value for value in values]
    return [sum(other < key for other in keys) + (1 + sum(other == key for other in keys)) / 2 for key in keys]


def mean(values):
    return sum(values) / len(values)


def median(values):
    return statistics.median(values)


def name_versions(records):
    """The records, methods named with their version where there are several: to compare two builds of tribo."""
    versions = defaultdict(list)
    for record in records:
        if record["version"] not in versions[record["method"]]:
            versions[record["method"]].append(record["version"])
    return [
        {**record, "method": f"{record['method']} {record['version']}"} if len(versions[record["method"]]) > 1 else record
        for record in records
    ]


def settings(records):
    """The records of each setting: suite, number of inputs, noise and budget, whose runs can be compared."""
    found = defaultdict(list)
    for record in records:
        found[record["suite"], record["inputs"], record["noise"], record["evaluations"]].append(record)
    return dict(sorted(found.items()))


def common(records, methods):
    """The tasks (problem, instance, seed) that every method has ended, each with its record by method."""
    tasks = defaultdict(dict)
    for record in records:
        if not record["ended"].startswith("error"):
            tasks[record["problem"], record["instance"], record["seed"]][record["method"]] = record
    return {task: found for task, found in tasks.items() if all(method in found for method in methods)}


def mean_ranks(tasks, methods, k):
    each = [ranks([value_at(found[method], k) for method in methods]) for found in tasks.values()]
    return [mean(column) for column in zip(*each)]


def mean_gaps(tasks, methods, k):
    """The mean log10 gap of each method; None where one of its runs has no value yet, or the optimum is not known."""
    result = []
    for method in methods:
        found = [(value_at(by[method], k), by[method]["optimum"]) for by in tasks.values()]
        has_all = all(value is not None and optimum is not None for value, optimum in found)
        result.append(mean([log_gap(*each) for each in found]) if has_all else None)
    return result


def is_ours(method):
    return method.startswith("tribo")


def behind(gaps, methods):
    """How far tribo's gap is above the best other method's, and that method: the difference of logarithms to base ten.

    Of several versions of tribo the last one counts.
    """
    ours = [gap for gap, method in zip(gaps, methods) if is_ours(method)]
    others = [(gap, method) for gap, method in zip(gaps, methods) if not is_ours(method) and gap is not None]
    if not others or not ours or ours[-1] is None:
        return None
    best, name = min(others)
    return ours[-1] - best, name
