"""Where the programs are that the package is compared with: in cargo's target directory."""

import os
import signal
import sys
from pathlib import Path

import pytest

# A job in the background of a script ignores Ctrl-C, and so would everything that the tests start and interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = Path(__file__).resolve().parents[3]


def built(name: str, how: str) -> str:
    path = ROOT / os.environ.get("CARGO_TARGET_DIR", "target") / "debug" / name
    if not path.exists():
        pytest.fail(f"{path} is missing; make it with `cargo build {how}`")
    return str(path)


@pytest.fixture(scope="session")
def program() -> str:
    """The program `tribo`."""
    return built("tribo", "-p tribo-cli")


@pytest.fixture(scope="session")
def proposals() -> str:
    """The example that prints what the library proposes."""
    return built("examples/proposals", "-p tribo --example proposals")


@pytest.fixture
def python() -> str:
    return sys.executable
