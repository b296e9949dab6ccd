#!/usr/bin/env python3
"""A study on a real SLURM: 20 workers, a driver killed and resumed, a scancel, a time-out.

Run under `tools/slurm-one-host run FOLDER -- python3 tools/test_slurm_study.py TRIBO [--bar UTILISATION]`. Two studies run at once: `wide` (200
evaluations of 1 to 3 s by 20 workers, its driver killed with SIGKILL once and started again) and `ends` (one job is
cancelled with scancel, one runs into the time limit of its partition). Scheduler commands are counted by wrappers on PATH.

What must hold is asserted and the figures are printed as one JSON line. Not here: anything the fake schedulers of the
test-suite can show.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

WORKERS, EVALUATIONS = 20, 200
CALLS_A_MINUTE = 2.0
# Besides: two at the start of each of three drivers, two for the reason of the cancelled job, two at the end of each study.
LOOKS = 2 * 3 + 2 + 2 * 2
# On a quiet machine it is above 0.95, which `--bar 0.95` asserts; less than this on a busy one means a driver that lags.
UTILISATION = 0.8
COMMANDS = ["sbatch", "squeue", "scontrol", "sacct", "scancel"]

STUDY = """\
study_version = 1
direction = "minimize"
seed = 3

[[parameter]]
name = "x"
type = "float"
low = -1.0
high = 2.0
size = 3

[strategy]
name = "{strategy}"

[budget]
evaluations = {evaluations}

[run]
on = "slurm"
retry_delay = "1s"
workers = {workers}
command = ["sh", "simulate.sh"]
result = "stdout"

[run.slurm]
partition = "{partition}"
time = "{time}"
"""

# Between 1 and 3 seconds, by the number of the trial.
SIMULATE = """\
echo "$TRIBO_TRIAL $TRIBO_ATTEMPT" >>"$TRIBO_STUDY_DIR/executions"
sleep "$(echo "$TRIBO_TRIAL" | awk '{ printf "%.3f", 1 + 2 * (($1 * 37 % 100) / 100) }')"
awk "BEGIN { print $TRIBO_TRIAL % 17 }"
"""


def wrappers(folder):
    """Commands that log the time of each call and pass it on."""
    for name in COMMANDS:
        real = shutil.which(name)
        path = folder / name
        path.write_text(f'#!/bin/sh\necho "$(date +%s.%N) {name}" >>"{folder}/calls"\nexec {real} "$@"\n')
        path.chmod(0o755)


def calls(folder):
    lines = (folder / "calls").read_text().splitlines() if (folder / "calls").exists() else []
    return [(float(line.split()[0]), line.split()[1]) for line in lines]


def make(folder, name, simulate, **keys):
    study = folder / name
    study.mkdir()
    (study / "study.toml").write_text(STUDY.format(**keys))
    (study / "simulate.sh").write_text(simulate)
    return study


def start(tribo, study):
    log = open(study / "run.log", "ab")
    return subprocess.Popen([tribo, "run", "--json", str(study)], stdout=log, stderr=log, start_new_session=True)


def journal(study):
    path = study / "study.tribo" / "journal"
    lines = path.read_text().splitlines() if path.exists() else []
    return [json.loads(line.split(" ", 2)[2]) for line in lines if line.count(" ") >= 2]


def records(study, kind):
    return [record for record in journal(study) if record["type"] == kind]


def notices(study, event):
    found = []
    for line in (study / "run.log").read_text(errors="replace").splitlines():
        if line.startswith("{"):
            notice = json.loads(line)
            if notice.get("event") == event:
                found.append(notice)
    return found


def wait_for(what, condition, seconds):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"waited {seconds} s for: {what}")
        time.sleep(0.2)


def in_hands_of_slurm(study):
    """Attempts as (submitted, ended) in seconds: from the acknowledgement to the end the job itself reports."""
    submitted = {(r["trial"], r["attempt"]): r["ms"] / 1e3 for r in records(study, "submitted")}
    spans = []
    for (trial, attempt), begin in submitted.items():
        folder = study / "study.tribo" / "trials" / f"{trial:06}" / f"a{attempt}"
        answer = folder / "result.tribo.json"
        if answer.exists():
            spans.append((begin, answer.stat().st_mtime))
    return spans


def utilisation(study, spans, pauses):
    """Part of the worker time, while there was work for all, in which an attempt was in SLURM's hands."""
    # An attempt made anew comes a minute and a half later than its trial, which is no lack of work for the others.
    begins = sorted(r["ms"] / 1e3 for r in records(study, "submitted") if r["attempt"] == 1)
    # From when all workers had something until the last point was handed out.
    start, end = begins[WORKERS - 1], begins[-1]
    for left, right in pauses:
        assert start < left < right < end, "the driver was killed while there was work"
    busy = sum(max(0.0, min(stop, end) - max(begin, start)) for begin, stop in spans)
    busy -= sum(max(0.0, min(stop, right) - max(begin, left)) for begin, stop in spans for left, right in pauses)
    time_there = end - start - sum(right - left for left, right in pauses)
    return busy / (WORKERS * time_there)


def main():
    tribo = str(Path(sys.argv[1]).resolve())
    bar = float(sys.argv[3]) if sys.argv[2:3] == ["--bar"] else UTILISATION
    with tempfile.TemporaryDirectory(prefix="slurm-study-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        bin_folder = folder / "bin"
        bin_folder.mkdir()
        wrappers(bin_folder)
        os.environ["PATH"] = f"{bin_folder}:{os.environ['PATH']}"

        ends = make(folder, "ends", "sleep 600\n", strategy="random", evaluations=2, workers=2, partition="short", time="1m")
        ends_driver = start(tribo, ends)
        wait_for("both jobs of `ends` to run", lambda: len(records(ends, "submitted")) == 2, 60)
        victim = records(ends, "submitted")[0]["job"]

        wide = make(
            folder, "wide", SIMULATE, strategy="bo", evaluations=EVALUATIONS, workers=WORKERS, partition="debug", time="5m"
        )
        before = len(calls(bin_folder))
        driver = start(tribo, wide)
        wait_for("60 evaluations", lambda: len(records(wide, "told")) >= 60, 120)
        os.kill(driver.pid, signal.SIGKILL)
        driver.wait()
        killed = time.time()
        ended = {(r["trial"], r["attempt"]) for r in records(wide, "ended")}
        under_way = {(r["trial"], r["attempt"]) for r in records(wide, "intended")} - ended
        driver = start(tribo, wide)
        subprocess.run(["scancel", victim], check=True)
        wait_for("the study to end", lambda: driver.poll() is not None, 300)
        assert driver.returncode == 0, f"exit {driver.returncode}\n" + (wide / "run.log").read_text()[-1500:]

        # Re-adopted, none submitted again, none run twice.
        opened = notices(wide, "opened")
        assert opened[1]["adopted"] == len(under_way), (opened, under_way)
        # Killed after the intention was written and before sbatch was started, an attempt is revoked and made anew.
        again = len(records(wide, "intended")) - EVALUATIONS
        assert again <= 1, f"{again} attempts made anew"
        submitted = [r["trial"] for r in records(wide, "submitted")]
        assert len(submitted) == len(set(submitted)), "a trial was submitted twice"
        executions = (wide / "executions").read_text().splitlines()
        assert len(executions) == len(set(executions)) == EVALUATIONS, f"{len(executions)} executions"
        told = records(wide, "told")
        assert sorted(r["trial"] for r in told) == list(range(EVALUATIONS))
        assert all(r["outcome"] == "measured" for r in told), [r for r in told if r["outcome"] != "measured"]

        resumed = min(r["ms"] / 1e3 for r in records(wide, "submitted") if r["ms"] / 1e3 > killed)
        busy = utilisation(wide, in_hands_of_slurm(wide), [(killed, resumed)])

        # Calls besides submissions, of both studies, while `wide` ran.
        mine = [call for call in calls(bin_folder)[before:] if call[1] not in ("sbatch", "scancel")]
        wait_for("`ends` to end", lambda: ends_driver.poll() is not None, 240)
        verdicts = {r["trial"]: r.get("reason", "") for r in records(ends, "told")}
        reasons = sorted(verdicts.values())
        # In SLURM's words, since the job cannot know.
        assert len(reasons) == 2 and reasons[0].startswith("cancelled: CANCELLED"), reasons
        assert reasons[1].startswith(("walltime", "timeout")), reasons
        everything = [call for call in calls(bin_folder) if call[1] not in ("sbatch", "scancel")]
        minutes = (everything[-1][0] - everything[0][0]) / 60.0 if everything else 1.0

        left = subprocess.run(["squeue", "-h"], capture_output=True, text=True, check=True).stdout
        assert left == "", f"jobs left in the queue: {left}"
        figures = {
            "workers": WORKERS,
            "evaluations": EVALUATIONS,
            "utilisation": round(busy, 4),
            "adopted": opened[1]["adopted"],
            "made_anew": again,
            "calls_besides_submissions": len(mine),
            "calls_in_all": len(everything),
            "minutes": round(minutes, 2),
        }
        print(json.dumps(figures))
        assert busy >= bar, f"utilisation {busy:.3f}, wanted {bar}"
        assert len(everything) - LOOKS <= 2 * CALLS_A_MINUTE * max(minutes, 1.0), figures


if __name__ == "__main__":
    main()
