#!/usr/bin/env python3
"""Pilots on a real SLURM: thousands of short evaluations in a few jobs, and pilots, nodes and drivers that die.

Run under `tools/slurm-one-host run FOLDER -- python3 tools/test_slurm_pilots.py TRIBO [--bar BUSY]`:
- `short`: 2,000 evaluations of 0.2 s by 20 workers in two pilots: at most 40 submissions, and workers busy for the part of
  the time that `--bar` asks for. On a machine with cores to spare that is 0.75; this asserts less, since every evaluation is
  three processes and a busy machine is not what is tried here.
- `deaths`: a pilot killed with SIGKILL, the node under another set down, the driver killed and started again: every trial
  has its own number as its value, none ran to its end twice, and nothing is left in the queue.
Prints what was seen, one line a study.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import test_slurm_study
from test_slurm_faults import SIMULATE, executions, slurm
from test_slurm_study import calls, records, start, wait_for, wrappers

BUSY = 0.3
SUBMISSIONS = 40


def make(folder, name, seconds, slots, ahead, **keys):
    study = test_slurm_study.make(folder, name, SIMULATE.format(seconds=seconds), strategy="random", time="30m", **keys)
    text = (study / "study.toml").read_text().replace("\nworkers = ", f"\nahead = {ahead}\nworkers = ")
    (study / "study.toml").write_text(text + f'poll = "5s"\n\n[run.pilots]\nslots = {slots}\n')
    return study


def finish(study, driver, evaluations, seconds):
    wait_for(f"the end of {study.name}", lambda: driver.poll() is not None, seconds)
    log = (study / "run.log").read_text()[-3000:]
    assert driver.returncode == 0, f"{study.name}: exit {driver.returncode}\n{log}"
    told = records(study, "told")
    assert sorted(r["trial"] for r in told) == list(range(evaluations)), log
    assert all(r["outcome"] == "measured" and r["value"] == r["trial"] for r in told), log
    ends = executions(study, "ends")
    assert len(ends) == len({trial for trial, _ in ends}) == evaluations, f"{len(ends)} ran to the end"
    name = records(study, "intended")[0]["tag"][:7]
    left = [line for line in slurm("squeue", "-h", "-r", "-o", "%i %T %j").splitlines() if f" {name}" in line]
    assert not left, f"{study.name} left in the queue: {left}"
    kinds = {}
    for record in records(study, "ended"):
        kinds[record["kind"]] = kinds.get(record["kind"], 0) + 1
    return kinds


def submissions(bin_folder):
    return sum(1 for _, name in calls(bin_folder) if name == "sbatch")


def short(tribo, folder, bin_folder, bar):
    workers, evaluations, seconds = 20, 2000, 0.2
    study = make(folder, "short", seconds, 10, 10, evaluations=evaluations, workers=workers, partition="debug")
    driver = start(tribo, study)
    finish(study, driver, evaluations, 600)
    answers = (study / "study.tribo" / "trials").glob("*/a1/result.tribo.json")
    ends = sorted(answer.stat().st_mtime for answer in answers)
    # From the first answer to the last: pilots have begun and there is work.
    busy = seconds * (len(ends) - workers) / (workers * (ends[-1] - ends[0]))
    submitted = submissions(bin_folder)
    print(f"short: {evaluations} evaluations of {seconds} s in {ends[-1] - ends[0]:.0f} s by {workers} workers, "
          f"{100 * busy:.0f} % busy, {submitted} calls of sbatch")
    assert submitted <= SUBMISSIONS, f"{submitted} submissions"
    assert busy >= bar, f"busy {busy:.2f}, wanted {bar}"


def pilots(study):
    """Pilots that run, with the process of each."""
    found = {}
    for folder in sorted((study / "study.tribo" / "pool" / "workers").glob("p*")):
        if (folder / "started.json").exists() and not (folder / "over").exists():
            found[folder.name] = json.loads((folder / "started.json").read_text())
    return found


def deaths(tribo, folder):
    evaluations = 60
    study = make(folder, "deaths", 1, 2, 1, evaluations=evaluations, workers=4, partition="fragile")
    driver = start(tribo, study)
    wait_for("two pilots at work", lambda: len(pilots(study)) == 2 and len(executions(study, "ends")) >= 6, 60)
    name, by = next(iter(pilots(study).items()))
    os.kill(by["pid"], signal.SIGKILL)
    wait_for("another in its place", lambda: len(set(pilots(study)) - {name}) == 2, 90)
    nodes = slurm("squeue", "-h", "-p", "fragile", "-t", "R", "-o", "%N").split()
    slurm("scontrol", "update", f"NodeName={nodes[0]}", "State=DOWN", "Reason=test")
    os.kill(driver.pid, signal.SIGKILL)
    driver.wait()
    driver = start(tribo, study)
    kinds = finish(study, driver, evaluations, 400)
    assert kinds.get("ok") == evaluations and set(kinds) <= {"ok", "infrastructure", "lost"}, kinds
    print(f"deaths: a pilot killed, node {nodes[0]} set down, the driver killed: {kinds}")


def main():
    tribo = str(Path(sys.argv[1]).resolve())
    bar = float(sys.argv[3]) if sys.argv[2:3] == ["--bar"] else BUSY
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="slurm-pilots-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        bin_folder = folder / "bin"
        bin_folder.mkdir()
        wrappers(bin_folder)
        os.environ["PATH"] = f"{bin_folder}:{os.environ['PATH']}"
        try:
            short(tribo, folder, bin_folder, bar)
            deaths(tribo, folder)
        except BaseException:
            for log in sorted(folder.glob("*/run.log")):
                print(f"--- {log.parent.name}", *log.read_text().splitlines()[-25:], sep="\n")
            print(slurm("squeue", "-r", "-t", "all"))
            subprocess.run(["sh", "-c", f"tail -n 5 {folder}/*/study.tribo/pool/workers/*/job.log"], check=False)
            raise
    print(json.dumps({"seconds": round(time.monotonic() - began)}))


if __name__ == "__main__":
    main()
