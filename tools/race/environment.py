"""The tool's own Python: a virtual environment below cargo's target directory, with the pinned peers and tribo in it."""

import hashlib
import os
import subprocess
import sys
import venv
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parent.parent
REQUIREMENTS = FOLDER / "requirements.txt"
# One thread for each run, whichever library asks.
ONE_THREAD = {
    name: "1"
    for name in (
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "MKL_NUM_THREADS",
        "NUMEXPR_NUM_THREADS",
        "RAYON_NUM_THREADS",
    )
}


def place():
    return Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).absolute() / "race"


def own_python():
    return place() / "venv" / "bin" / "python"


def own_packages():
    """The folder of installed packages, if there is one."""
    found = sorted((place() / "venv" / "lib").glob("python3*/site-packages"))
    return str(found[0]) if found else None


def variables():
    """For a run: one thread, and bytecode kept beside the environment, or every import would compile again.

    That needs Python to write it, whatever the shell says.
    """
    given = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**given, **ONE_THREAD, "PYTHONPYCACHEPREFIX": str(place() / "bytecode")}


def setup(wheel):
    """Makes the environment unless it is there, and installs tribo: from a wheel, or from this repository."""
    folder, stamp = place() / "venv", place() / "requirements.done"
    key = f"{sys.version} {hashlib.sha256(REQUIREMENTS.read_bytes()).hexdigest()}"
    pip = [str(own_python()), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile"]
    if not (stamp.exists() and stamp.read_text() == key):
        print(f"making {folder}; the packages have some GB, most of it torch's")
        venv.create(folder, with_pip=True, clear=True)
        subprocess.run([*pip, "-r", str(REQUIREMENTS)], check=True)
        stamp.write_text(key)
    # maturin is that of the environment, not fetched for every build.
    what = [wheel] if wheel else ["--no-build-isolation", str(ROOT)]
    path = os.pathsep.join([str(own_python().parent), os.environ.get("PATH", "")])
    subprocess.run([*pip, "--force-reinstall", "--no-deps", *what], check=True, env={**os.environ, "PATH": path})
    print(f"ready: {own_python()}")
