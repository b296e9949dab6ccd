"""What a proposal costs under many limits: the speed reducer with its limits as eleven, 200 results, 7 inputs.

Run by the environment's Python, which has egobox and tribo: `target/race/venv/bin/python tools/race step`. Processor time of one
proposal, each method with the same results: random points, of which some are feasible. tribo goes on from there, is told what its
proposals give, and fits its models again when there are a tenth more results; egobox makes its first proposal again.
"""

import statistics
import time

from .limits import TABLE

RESULTS = 200
# Proposals that are timed: with tribo until it has fitted its models again.
TIMES = {"tribo": 24, "egobox": 3}


def results():
    """Points, objectives and eleven outputs; the ratio, which has two sides, counts as two."""
    import numpy as np

    function, bounds, limits, _ = TABLE["speed_reducer"]
    low, high = np.array(bounds).T
    points = low + np.random.default_rng(501).random((RESULTS, len(bounds))) * (high - low)
    split = [side for name, below, above in limits for side in sides(name, below, above)]
    rows = []
    for point in points:
        value, outputs = function(list(point))
        named = {name: output for (name, _, _), output in zip(limits, outputs)}
        rows.append((value, [named[name.split("/")[0]] for name, _, _ in split]))
    return bounds, split, points, rows


def sides(name, below, above):
    if below is None or above is None:
        return [(name, below, above)]
    return [(f"{name}/low", below, None), (f"{name}/high", None, above)]


def of_tribo(bounds, limits, points, rows):
    import tribo

    constraints = []
    for name, below, above in limits:
        ends = {"at_least": below, "at_most": above}
        constraints.append({"name": name, **{key: end for key, end in ends.items() if end is not None}})
    space = {f"x{i}": tribo.Float(low, high) for i, (low, high) in enumerate(bounds)}
    study = tribo.Study(space, objective="value", constraints=constraints, seed=1)
    for point, (value, outputs) in zip(points, rows):
        named = {name: output for (name, _, _), output in zip(limits, outputs)}
        study.add({f"x{i}": float(x) for i, x in enumerate(point)}, {"value": value, **named})

    names = [name for name, _, _ in TABLE["speed_reducer"][2]]

    def ask():
        [trial] = study.ask(1)
        return trial

    def tell(trial):
        value, outputs = TABLE["speed_reducer"][0](list(trial.params.values()))
        given = dict(zip(names, outputs))
        study.tell(trial, {"value": value, **{name: given[name.split("/")[0]] for name, _, _ in limits}})

    return ask, tell


def of_egobox(bounds, limits, points, rows):
    import egobox as egx
    import numpy as np

    specs = [egx.CstrSpec.leq(above) if below is None else egx.CstrSpec.geq(below) for _, below, above in limits]
    egor = egx.Egor([list(one) for one in bounds], cstr_specs=specs, seed=1)
    values = np.array([[value, *outputs] for value, outputs in rows])
    return lambda: egor.suggest(np.array(points), values), lambda _: None


def main():
    bounds, limits, points, rows = results()
    for name, make in (("tribo", of_tribo), ("egobox", of_egobox)):
        ask, tell = make(bounds, limits, points, rows)
        spent = []
        for _ in range(TIMES[name]):
            started = time.process_time()
            asked = ask()
            spent.append(1000 * (time.process_time() - started))
            tell(asked)
        first, *then = spent
        mean = sum(then) / len(then)
        print(f"{name}: first {first:.0f} ms, then {statistics.median(then):.0f} ms, mean {mean:.0f}, at most {max(then):.0f}")
    return 0
