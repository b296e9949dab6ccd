"""What a proposal costs under many limits: the speed reducer with its limits as eleven, 200 results, 7 inputs.

Run by the environment's Python, which has egobox and tribo: `target/race/venv/bin/python tools/race step`. Processor time of one
proposal, each method with the same results: random points, of which some are feasible.
"""

import time

from .limits import TABLE

RESULTS = 200
TIMES = 5


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

    def ask():
        [trial] = study.ask(1)
        study.tell(trial, failed="only the time is wanted")

    return ask


def of_egobox(bounds, limits, points, rows):
    import egobox as egx
    import numpy as np

    specs = [egx.CstrSpec.leq(above) if below is None else egx.CstrSpec.geq(below) for _, below, above in limits]
    egor = egx.Egor([list(one) for one in bounds], cstr_specs=specs, seed=1)
    values = np.array([[value, *outputs] for value, outputs in rows])
    return lambda: egor.suggest(np.array(points), values)


def main():
    bounds, limits, points, rows = results()
    for name, make in (("tribo", of_tribo), ("egobox", of_egobox)):
        ask = make(bounds, limits, points, rows)
        spent = []
        for _ in range(TIMES):
            started = time.process_time()
            ask()
            spent.append(time.process_time() - started)
        print(f"{name}: first {1000 * spent[0]:.0f} ms, then {1000 * sorted(spent[1:])[len(spent) // 2 - 1]:.0f} ms")
    return 0
