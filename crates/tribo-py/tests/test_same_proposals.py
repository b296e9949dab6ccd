"""The same study, seed and order of results give the same points here, in the library and in the program, bit for bit."""

import json
import math
import subprocess

import tribo

SPACE = {
    "x": tribo.Float(-1, 2),
    "rate": tribo.Float(1e-5, 1e-1, log=True),
    "layers": tribo.Int(1, 8),
    "solver": tribo.Categorical(["cg", "gmres", "lu"]),
}
SETTINGS = dict(direction="maximize", strategy="bo", seed=11)
ROUNDS = 12


def drag(x):
    # As in the example of the library, operation by operation.
    square = lambda a: a * a
    solver = float(["cg", "gmres", "lu"].index(x["solver"]))
    return square(x["x"] - 0.3) + square(math.log10(x["rate"]) + 2.0) + abs(x["layers"] - 4.0) + solver * 0.5


def drive(ask, tell):
    """Two at a time, the second one told a round later, one of them failed; returns the points."""
    points, late = [], None
    for round in range(ROUNDS):
        (first, x), (second, y) = ask()
        points += [x, y]
        tell(first, -drag(x), None)
        if late is not None:
            tell(late[0], *((None, "diverged") if round == 5 else (late[1], None)))
        late = (second, -drag(y))
    return points


def drive_study(study):
    return drive(
        lambda: [(trial.id, trial.x) for trial in study.ask(2)],
        lambda id, value, failed: study.tell(id, value, failed=failed),
    )


def drive_program(program, folder):
    def run(*words):
        done = subprocess.run([program, *words], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def tell(id, value, failed):
        run("tell", str(folder), str(id), *([repr(value)] if failed is None else ["--failed", failed]))

    def ask():
        return [(trial["trial"], trial["params"]) for trial in json.loads(run("ask", str(folder), "-n", "2"))["trials"]]

    return drive(ask, tell)


def test_python_proposes_what_the_library_does(proposals):
    lines = subprocess.run([proposals], capture_output=True, text=True, check=True, timeout=120).stdout.splitlines()
    expected = [json.loads(line.split(" ", 1)[1]) for line in lines]
    solvers = SPACE["solver"].choices
    points = drive_study(tribo.Study(SPACE, **SETTINGS))
    found = [[x["x"], x["rate"], float(x["layers"]), float(solvers.index(x["solver"]))] for x in points]
    # Numbers are equal only if their bits are, but for the sign of zero.
    assert found == expected and len(found) == 2 * ROUNDS


def test_python_proposes_what_the_program_does(program, tmp_path):
    in_memory = drive_study(tribo.Study(SPACE, **SETTINGS))
    with tribo.Study.create(tmp_path / "python", SPACE, **SETTINGS) as study:
        assert drive_study(study) == in_memory
    tribo.Study.create(tmp_path / "program", SPACE, **SETTINGS).close()
    assert drive_program(program, tmp_path / "program") == in_memory


def test_python_and_the_program_take_turns(program, tmp_path):
    """Every second ask is the program's, in the same study."""
    expected = drive_study(tribo.Study(SPACE, **SETTINGS))
    study = tribo.Study.create(tmp_path, SPACE, **SETTINGS)
    turn = []

    def ask():
        turn.append(None)
        if len(turn) % 2:
            asked = [(trial.id, trial.x) for trial in study.ask(2)]
            study.close()
            return asked
        done = subprocess.run([program, "ask", str(tmp_path), "-n", "2"], capture_output=True, check=True, timeout=60)
        return [(trial["trial"], trial["params"]) for trial in json.loads(done.stdout)["trials"]]

    def tell(id, value, failed):
        study.tell(id, value, failed=failed)
        study.close()

    assert drive(ask, tell) == expected
