"""Writes the files of Optuna's that tests of `tribo import` read: a journal and a SQLite storage of the same studies.

    pip install optuna==5.0.0
    python tools/foreign/optuna_files.py crates/tribo-cli/tests/data/foreign

One study has a trial of every state and a parameter of every kind; of two others, one has two objectives and constraints.
`optuna-expected.json` is what Optuna itself says of them.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import optuna
from optuna.distributions import FloatDistribution
from optuna.storages import JournalStorage, RDBStorage
from optuna.storages.journal import JournalFileBackend
from optuna.trial import TrialState


def oven(trial: optuna.Trial) -> float:
    """Fails, is pruned, or comes to a value."""
    temperature = trial.suggest_float("temperature", 150.0, 260.0)
    rate = trial.suggest_float("rate", 1e-5, 1e-1, log=True)
    step = trial.suggest_float("step", 0.0, 1.0, step=0.25)
    layers = trial.suggest_int("layers", 1, 64, log=True)
    solver = trial.suggest_categorical("solver", ["adam", "sgd", "lbfgs"])
    fan = trial.suggest_categorical("fan", [False, True])
    width = trial.suggest_categorical("width", [16, 32, 64])
    trial.set_user_attr("mass", layers * 0.5)
    trial.set_user_attr("note", "x" * 6000 if trial.number == 3 else "short \u00fc \"quoted\", {NaN}")
    if trial.number == 4:
        raise ValueError("it broke")
    if trial.number == 5:
        trial.report(1.0, 0)
        raise optuna.TrialPruned
    if trial.number == 6:
        return float("inf")
    return temperature / 100.0 + rate + step + layers + len(solver) + fan + width / 8.0


def beam(trial: optuna.Trial) -> tuple[float, float]:
    """Two objectives; the constraints are kept by the sampler."""
    width = trial.suggest_float("width", 0.1, 2.0)
    height = trial.suggest_int("height", 1, 9)
    trial.set_user_attr("limits", [width - 1.0, 3.0 - height])
    return width * height, width - height


def fill(storage: optuna.storages.BaseStorage) -> dict[str, list[dict]]:
    sampler = optuna.samplers.RandomSampler(seed=7)
    one = optuna.create_study(storage=storage, study_name="oven", sampler=sampler, direction="maximize")
    one.optimize(oven, n_trials=10, catch=(ValueError,))
    one.add_trial(
        optuna.trial.create_trial(
            params={"temperature": 200.0, "layers": 3},
            distributions={
                "temperature": FloatDistribution(150.0, 260.0),
                "layers": optuna.distributions.IntDistribution(1, 64, log=True),
            },
            value=-1.25,
        )
    )
    one.enqueue_trial({"temperature": 170.0})
    running = one.ask()
    running.suggest_float("temperature", 150.0, 260.0)
    one.enqueue_trial({"temperature": 180.0})
    gone = optuna.create_study(storage=storage, study_name="gone", sampler=sampler)
    gone.optimize(lambda trial: trial.suggest_float("x", 0.0, 1.0), n_trials=3)
    optuna.delete_study(study_name="gone", storage=storage)
    sampler = optuna.samplers.NSGAIISampler(seed=8, constraints_func=lambda trial: trial.user_attrs["limits"])
    two = optuna.create_study(
        storage=storage, study_name="beam", sampler=sampler, directions=["minimize", "maximize"]
    )
    two.optimize(beam, n_trials=4)
    return {"oven": seen(one), "beam": seen(two)}


def seen(study: optuna.Study) -> list[dict]:
    return [
        {
            "number": trial.number,
            "state": trial.state.name,
            "params": trial.params,
            "values": [value if abs(value) < 1e300 else None for value in trial.values or []],
        }
        for trial in study.get_trials()
    ]


def main() -> None:
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("optuna.log", "optuna.db"):
        (folder / name).unlink(missing_ok=True)
    first = fill(JournalStorage(JournalFileBackend(str(folder / "optuna.log"))))
    second = fill(RDBStorage(f"sqlite:///{folder / 'optuna.db'}"))
    assert first == second
    assert {trial["state"] for trial in first["oven"]} == {state.name for state in TrialState}
    text = json.dumps({"optuna": optuna.__version__, "studies": first}, indent=1)
    (folder / "optuna-expected.json").write_text(text + "\n")


if __name__ == "__main__":
    main()
