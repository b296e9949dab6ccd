"""Rounding to f64 and writing of the golden files.

Floats are written as Python's repr, the shortest decimal that reads back to the
same f64. Objects are broken over lines, innermost arrays are not, so that a
changed number shows up as one changed line.
"""

import json
import platform
from importlib.metadata import version
from pathlib import Path

from mpmath import mp

GOLDEN = Path(__file__).resolve().parents[2] / "crates/tribo/tests/golden"


def f64(x):
    """Round a float or an mpmath number to the nearest f64, ties to even.

    float(mpf) rounds twice below 2^-1022; a quotient of integers does not.
    Values below half the smallest subnormal become 0, too large ones raise.
    """
    if isinstance(x, float):
        return x
    sign, mantissa, exponent, bits = mp.mpf(x)._mpf_
    if mantissa == 0 or exponent + bits < -1080:
        return 0.0
    top, bottom = int(mantissa), 1
    if exponent >= 0:
        top <<= exponent
    else:
        bottom <<= -exponent
    magnitude = top / bottom
    return -magnitude if sign else magnitude


def vector(values):
    """A list of f64 from any iterable of numbers, mpmath columns included."""
    return [f64(v) for v in values]


def matrix(rows):
    """A list of rows of f64 from an mpmath matrix."""
    return [[f64(rows[i, j]) for j in range(rows.cols)] for i in range(rows.rows)]


def relative_difference(a, b):
    """Largest |a - b| / max(1, |b|) over two nested lists of equal shape."""
    if isinstance(a, dict):
        assert a.keys() == b.keys()
        return max(relative_difference(a[k], b[k]) for k in a)
    if isinstance(a, list):
        assert len(a) == len(b)
        return max(relative_difference(p, q) for p, q in zip(a, b))
    return abs(a - b) / max(1.0, abs(b))


def provenance(script, libraries, precision, formula, **more):
    """Who computed the numbers, how precisely, and from which formula."""
    versions = {name: version(name) for name in libraries}
    return {
        "script": f"tools/golden/{script}",
        "libraries": versions,
        "python": platform.python_version(),
        "precision": precision,
        "formula": formula,
        **more,
    }


def _text(value, indent):
    pad = "  " * (indent + 1)
    close = "  " * indent
    if isinstance(value, dict):
        items = [f"{pad}{json.dumps(k)}: {_text(v, indent + 1)}" for k, v in value.items()]
        return "{\n" + ",\n".join(items) + "\n" + close + "}"
    if isinstance(value, list) and value and isinstance(value[0], (list, dict)):
        items = [pad + _text(v, indent + 1) for v in value]
        return "[\n" + ",\n".join(items) + "\n" + close + "]"
    return json.dumps(value, allow_nan=False)


def write(name, content):
    """Write one golden file and say how large it is."""
    path = GOLDEN / name
    text = _text(content, 0) + "\n"
    assert json.loads(text) == content
    path.write_text(text)
    print(f"{name}: {len(text)} bytes")
