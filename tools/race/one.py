"""One run: one method on one problem, in a process of its own that has one thread.

Reads what to run from its first argument, in JSON, and writes a line of JSON for each evaluation, so that a run that is
ended leaves what it has. Whatever packages print goes to standard error.
Its own time is the processor's, without that of evaluations, so that a busy machine does not count.
"""

import json
import os
import sys
import time
import zlib
from importlib.util import find_spec

from . import methods, problems

# The recommended point is looked at after so many evaluations each, and at the end.
EVERY = 25


def seed_of(spec):
    """A seed for this problem and seed, the same for all methods: one seed for all problems would share its luck."""
    text = "{seed} {suite} {problem} {inputs} {instance}".format(**spec)
    return zlib.crc32(text.encode()) % 2**31


def run(spec, write):
    import numpy as np

    problem = problems.make(spec)
    seed = seed_of(spec)
    if problem.limits is not None:
        return run_limited(spec, problem, seed, write)
    # Noise and accidents depend on the number of the evaluation, so all methods have the same luck.
    noise = problem.noise_sd * np.random.default_rng([seed, 1]).normal(size=spec["evaluations"])
    has_accident = np.random.default_rng([seed, 2]).random(spec["evaluations"]) < problem.accidents
    write({"optimum": problem.optimum, "noise_sd": problem.noise_sd})
    started = time.process_time()
    method = methods.make(
        spec["method"], problem.space, seed=seed, evaluations=spec["evaluations"], is_noisy=problem.noise_sd > 0.0
    )
    own = time.process_time() - started
    for number in range(spec["evaluations"]):
        started = time.process_time()
        point = method.propose()
        own += time.process_time() - started
        line = {}
        try:
            if has_accident[number]:
                raise problems.Failure(problem.accidents_told)
            true = problem.value(point)
            line["told"] = true + float(noise[number])
            if problem.noise_sd:
                line["true"] = true
        except problems.Failure as failure:
            line["told"], line["failure"] = None, failure.kind
        started = time.process_time()
        if line["told"] is None:
            method.fail(point, line["failure"])
        else:
            method.tell(point, line["told"])
        own += time.process_time() - started
        if problem.noise_sd and ((number + 1) % EVERY == 0 or number + 1 == spec["evaluations"]):
            recommended = method.recommend()
            line["recommended"] = None if recommended is None else problem.value(recommended)
        line["own_seconds"] = round(own, 3)
        write(line)


def run_limited(spec, problem, seed, write):
    """The same under limits: what is told is the objective where all limits are met, and nothing elsewhere."""
    from .limits import TOLERANCE, excesses

    write({"optimum": problem.optimum, "noise_sd": 0.0})
    started = time.process_time()
    method = methods.make_limited(
        spec["method"], problem.space, seed=seed, evaluations=spec["evaluations"], limits=problem.limits
    )
    own = time.process_time() - started
    for _ in range(spec["evaluations"]):
        started = time.process_time()
        point = method.propose()
        own += time.process_time() - started
        value, outputs = problem.outputs(point)
        beyond = max(excesses(problem.limits, outputs))
        line = {"told": value} if beyond <= TOLERANCE else {"told": None, "failure": "infeasible"}
        started = time.process_time()
        method.tell(point, value, outputs)
        own += time.process_time() - started
        line["own_seconds"] = round(own, 3)
        write(line)


def main(text):
    spec = json.loads(text)
    # Before the tool's packages, which have a tribo too: the one that is asked for is this Python's.
    if any(str(spec.get(key)).startswith("tribo") for key in ("method", "version_of")) and find_spec("tribo") is None:
        raise SystemExit("this Python has no package tribo; install it there, or give another --python")
    # What the tool has installed for its problems, after all that this Python has of its own; compiled modules are for one
    # version of Python.
    if f"python{sys.version_info.major}.{sys.version_info.minor}" in (spec.get("packages") or "").split(os.sep):
        sys.path.append(spec["packages"])
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def write(line):
        out.write(json.dumps(line) + "\n")
        out.flush()

    if "version_of" in spec:
        write({"version": methods.version(spec["version_of"])})
    else:
        run(spec, write)
        # A method that runs in a thread of its own may wait there for ever.
        sys.stderr.flush()
        os._exit(0)
