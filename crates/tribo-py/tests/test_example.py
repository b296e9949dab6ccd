"""The example with pictures runs as it is."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "python" / "branin.py"


def test_the_example_draws_its_pictures(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    done = subprocess.run([sys.executable, str(EXAMPLE)], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Result(value=0.397")
    # Axes with nothing in them make 12 kB each.
    assert (tmp_path / "convergence.png").stat().st_size > 25_000
    assert (tmp_path / "posterior.png").stat().st_size > 30_000
