"""Writes the file of an Ax before version 1 that a test of `tribo import` reads.

    pip install ax-platform==0.5.0
    python tools/foreign/ax_old_file.py crates/tribo-cli/tests/data/foreign/ax-old.json
"""

from __future__ import annotations

import sys

from ax.service.ax_client import AxClient, ObjectiveProperties

POINTS = [
    {"temperature": 151.5, "layers": 3},
    {"temperature": 260.0, "layers": 1},
    {"temperature": 200.0, "layers": 2},
]


def main() -> None:
    client = AxClient(verbose_logging=False)
    client.create_experiment(
        name="old oven",
        parameters=[
            {"name": "temperature", "type": "range", "bounds": [150.0, 260.0]},
            {"name": "layers", "type": "range", "bounds": [1, 64], "value_type": "int"},
        ],
        objectives={"loss": ObjectiveProperties(minimize=True)},
    )
    for point in POINTS:
        _, trial = client.attach_trial(point)
        if trial < 2:
            loss = point["temperature"] / 100 + point["layers"]
            client.complete_trial(trial, raw_data={"loss": (loss, 0.1), "mass": (1.0 * point["layers"], 0.0)})
        else:
            client.log_trial_failure(trial)
    client.save_to_json_file(sys.argv[1])
    with open(sys.argv[1], "a") as file:
        file.write("\n")


if __name__ == "__main__":
    main()
