"""sobol.json: points of the Sobol sequence without scrambling, by SciPy.

`first` holds the first 16 points of dimensions 1 to 8. `all_columns` holds, for each
dimension of our table, the point whose Gray code has its lowest 22 bits set: the exclusive
or of the first 22 direction numbers, so an error in any of them shows. Coordinates are
integers over 2^32.
"""

import json
import platform
from pathlib import Path

import scipy
from scipy.stats import qmc

GOLDEN = Path(__file__).resolve().parents[2] / "crates/tribo/tests/golden"
DIMENSIONS = 337
INDEX = 0x2AAAAA


def integers(point):
    return [int(value * 2**32) for value in point]


def sequence(dimensions):
    return qmc.Sobol(dimensions, scramble=False, bits=32)


if __name__ == "__main__":
    first = [integers(point) for point in sequence(8).random(16)]
    all_columns = integers(sequence(DIMENSIONS).fast_forward(INDEX).random(1)[0])
    record = {
        "provenance": {
            "script": "tools/golden/sobol.py",
            "libraries": {"scipy": scipy.__version__},
            "python": platform.python_version(),
            "precision": "exact, 32 bits",
            "formula": "qmc.Sobol(scramble=False, bits=32), Gray code order",
        },
        "first": first,
        "index": INDEX,
        "all_columns": all_columns,
    }
    lines = ",\n".join(f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in record.items())
    (GOLDEN / "sobol.json").write_text("{\n" + lines + "\n}\n")
