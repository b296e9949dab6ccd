"""Plans runs, starts each in a process of its own, and writes a line for each that has ended.

A run that the file has is not run again; one that broke is. A run that takes too long is ended, and its line says so and
has the evaluations until then.
"""

import gzip
import json
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from . import environment, problems

# What tells a run from others; their versions must be the same in one file.
KEY = ("suite", "problem", "inputs", "instance", "noise", "evaluations", "seed", "method")


def key_of(record):
    return tuple(record[name] for name in KEY)


def read(paths):
    """The records of files, the last one of each run and version; a line that was cut at the end of a file is left out.

    A file that ends in .gz is compressed.
    """
    found = {}
    for path in map(Path, paths):
        with gzip.open(path, "rt") if path.suffix == ".gz" else open(path) as file:
            lines = file.read().splitlines()
        for line in lines:
            try:
                record = json.loads(line)
            except json.JSONDecodeError:
                continue
            found[key_of(record), record["version"]] = record
    return list(found.values())


def is_finished(record):
    """Whether the run is over, in time or not; one that broke is not."""
    return not record["ended"].startswith("error")


def plan(args):
    """The runs that are asked for, one after the other by problem, so that what is there is comparable early."""
    suite = problems.suite(args.suite)
    names = suite.NAMES if args.functions is None else pick(args.functions, suite.NAMES, args.suite)
    # A suite may judge each of its problems after so many evaluations.
    marks = getattr(suite, "MARKS", {})
    keys = [
        (args.suite, name, suite.FIXED.get(name, n_inputs), instance, args.noise, args.evaluations or max(marks.get(name, [suite.EVALUATIONS])), seed, method)
        for n_inputs in args.inputs or [suite.INPUTS]
        for instance in args.instances
        for seed in args.seed
        for name in names
        for method in args.methods
    ]
    # A problem that decides its inputs is there once, whatever numbers of inputs are typed.
    return [dict(zip(KEY, key)) for key in dict.fromkeys(keys)]


def pick(text, names, suite):
    """Functions as they are typed: `1-5,20` of those that have numbers, or names."""
    chosen = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        if first.isdigit():
            chosen += [f"f{number}" for number in range(int(first), int(last or first) + 1)]
        else:
            chosen.append(part)
    for name in chosen:
        if name not in names:
            raise SystemExit(f"the suite {suite} has no function {name!r}; it has {', '.join(names)}")
    return chosen


def python_of(method, args):
    """tribo, and points that need no package, run with the Python that is given; peers with the environment's."""
    return str(args.python) if method in ("tribo", "tribo-penalty", "random") and args.python else str(environment.own_python())


def command(spec, python):
    """The process of a run. The environment's packages are for a Python that is not its own."""
    packages = None if Path(python) == environment.own_python() else environment.own_packages()
    return [python, str(environment.FOLDER), "one", json.dumps({**spec, "packages": packages})]


def version(method, args):
    python = python_of(method, args)
    if not Path(python).exists():
        raise SystemExit(f"there is no {python}; make the environment with `python3 tools/race setup`, or give --python")
    done = subprocess.run(
        command({"version_of": method}, python), capture_output=True, text=True, env=environment.variables()
    )
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise SystemExit(f"{python} cannot run {method}: {reason}")
    return json.loads(done.stdout)["version"]


def one(spec, python, seconds):
    """Runs it, and returns its record."""
    started = time.monotonic()
    process = subprocess.Popen(
        command(spec, python), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment.variables()
    )
    is_late = threading.Event()

    def end():
        is_late.set()
        process.kill()

    timer = threading.Timer(seconds, end)
    timer.start()
    try:
        out, complaints = process.communicate()
    finally:
        timer.cancel()
        process.kill()
    record = {**spec, "ended": "finished", "told": []}
    if is_late.is_set():
        record["ended"] = f"timed out after {seconds:g} s"
    elif process.returncode:
        reason = (complaints.strip().splitlines() or [f"exit code {process.returncode}"])[-1]
        record["ended"] = f"error: {reason}"
    for number, line in enumerate(json.loads(text) for text in out.splitlines() if text.endswith("}")):
        if number == 0:
            record.update(line)
            continue
        record["told"].append(line["told"])
        record["own_seconds"] = line["own_seconds"]
        if "true" in line:
            record.setdefault("true", []).append(line["true"])
        if "recommended" in line:
            record.setdefault("recommended", {})[str(number)] = line["recommended"]
        if "failure" in line:
            record["n_" + line["failure"]] = record.get("n_" + line["failure"], 0) + 1
    record["seconds"] = round(time.monotonic() - started, 3)
    return record


def run(args):
    out = Path(args.out)
    known = read([out]) if out.exists() else []
    versions = {method: version(method, args) for method in args.methods}
    for record in known:
        method = record["method"]
        if method in versions and record["version"] != versions[method]:
            raise SystemExit(
                f"{out} has runs of {method} {record['version']}, and this is {versions[method]}; give another --out"
            )
    finished = {key_of(record) for record in known if is_finished(record)}
    asked = plan(args)
    missing = [spec for spec in asked if key_of(spec) not in finished]
    print(f"{len(asked)} runs, {len(asked) - len(missing)} of them in {out} already", file=sys.stderr)
    lock, n_ended, n_broken = threading.Lock(), 0, 0
    is_cut = out.exists() and not out.read_bytes().endswith(b"\n") and out.stat().st_size > 0

    with open(out, "a") as file, ThreadPoolExecutor(args.jobs) as pool:
        if is_cut:
            file.write("\n")

        def each(spec):
            nonlocal n_ended, n_broken
            record = one({**spec, "version": versions[spec["method"]]}, python_of(spec["method"], args), args.time_limit)
            with lock:
                file.write(json.dumps(record) + "\n")
                file.flush()
                n_ended += 1
                n_broken += not is_finished(record)
                how = "" if record["ended"] == "finished" else f", {record['ended']}"
                name = f"{record['method']} {record['problem']} instance {record['instance']} seed {record['seed']}"
                print(f"{n_ended}/{len(missing)} {name}: {record['seconds']:.1f} s{how}", file=sys.stderr)

        try:
            list(pool.map(each, missing))
        except KeyboardInterrupt:
            pool.shutdown(cancel_futures=True)
            print(f"interrupted; the same command goes on with what {out} does not have", file=sys.stderr)
            return 130
    return 1 if n_broken else 0
