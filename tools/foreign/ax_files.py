"""Writes the files of Ax's that tests of `tribo import` read: what its client saves, and an experiment with a batch.

    pip install ax-platform==1.3.1
    python tools/foreign/ax_files.py crates/tribo-cli/tests/data/foreign

`ax-expected.json` is what went in.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import ax
import pandas as pd
from ax.api.client import Client
from ax.api.configs import ChoiceParameterConfig, RangeParameterConfig
from ax.core.arm import Arm
from ax.core.data import Data
from ax.core.experiment import Experiment
from ax.core.metric import Metric
from ax.core.objective import Objective
from ax.core.optimization_config import OptimizationConfig
from ax.core.parameter import ParameterType, RangeParameter
from ax.core.search_space import SearchSpace
from ax.storage.json_store.save import save_experiment

POINTS = [
    {"temperature": 151.5, "rate": 0.001, "layers": 3, "solver": "adam", "fan": True},
    {"temperature": 260.0, "rate": 1e-05, "layers": 1, "solver": "sgd", "fan": False},
    {"temperature": 207.25, "rate": 0.1, "layers": 64, "solver": "adam", "fan": False},
    {"temperature": 199.0, "rate": 0.05, "layers": 8, "solver": "sgd", "fan": True},
    {"temperature": 180.0, "rate": 0.02, "layers": 5, "solver": "sgd", "fan": True},
]


def client(path: Path) -> None:
    """Completed with two metrics, completed after several steps, failed, abandoned, running."""
    client = Client()
    client.configure_experiment(
        name="oven",
        parameters=[
            RangeParameterConfig(name="temperature", parameter_type="float", bounds=(150.0, 260.0)),
            RangeParameterConfig(name="rate", parameter_type="float", bounds=(1e-5, 1e-1), scaling="log"),
            RangeParameterConfig(name="layers", parameter_type="int", bounds=(1, 64)),
            ChoiceParameterConfig(name="solver", parameter_type="str", values=["adam", "sgd"]),
            ChoiceParameterConfig(name="fan", parameter_type="bool", values=[False, True]),
        ],
    )
    client.configure_optimization(objective="-loss", outcome_constraints=["mass <= 10"])
    first, second, third, fourth, _fifth = [client.attach_trial(point) for point in POINTS]
    client.complete_trial(first, raw_data={"loss": 1.5, "mass": (2.0, 0.1)})
    client.attach_data(second, raw_data={"loss": 9.0, "mass": 1.0}, progression=1)
    client.attach_data(second, raw_data={"loss": 0.25, "mass": 0.5}, progression=2)
    client.complete_trial(second)
    client.mark_trial_failed(third)
    client.mark_trial_abandoned(fourth)
    client.save_to_json_file(str(path))


def batch(path: Path) -> None:
    """A trial of three arms, as experiments with groups of people have."""
    parameters = [RangeParameter(name="x", parameter_type=ParameterType.FLOAT, lower=0.0, upper=1.0)]
    metric = Metric(name="score", lower_is_better=False)
    experiment = Experiment(
        name="batch",
        search_space=SearchSpace(parameters=parameters),
        optimization_config=OptimizationConfig(objective=Objective(metric=metric, minimize=False)),
        tracking_metrics=[metric],
    )
    trial = experiment.new_batch_trial()
    trial.add_arms_and_weights([Arm(parameters={"x": x}, name=f"arm{x}") for x in (0.25, 0.5, 0.75)])
    trial.mark_running(no_runner_required=True)
    rows = [(0, f"arm{x}", "score", "score", 4.0 * x, None) for x in (0.25, 0.5, 0.75)]
    names = ["trial_index", "arm_name", "metric_name", "metric_signature", "mean", "sem"]
    experiment.attach_data(Data(df=pd.DataFrame(rows, columns=names)))
    trial.mark_completed()
    save_experiment(experiment, str(path))


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    client(folder / "ax-client.json")
    batch(folder / "ax-batch.json")
    for name in ("ax-client.json", "ax-batch.json"):
        with (folder / name).open("a") as file:
            file.write("\n")
    text = json.dumps({"ax": ax.__version__, "points": POINTS}, indent=1)
    (folder / "ax-expected.json").write_text(text + "\n")


if __name__ == "__main__":
    main()
