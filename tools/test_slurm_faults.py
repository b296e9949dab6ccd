#!/usr/bin/env python3
"""Studies on a real SLURM that preempts, requeues, loses its nodes and goes away for half a minute.

Run under `tools/slurm-one-host run FOLDER -- python3 tools/test_slurm_faults.py TRIBO`, without and with `--accounting`.
First six studies at once:
- `low`, whose jobs are cancelled by preemption: all three workers, three times over;
- `again`, whose jobs are requeued by the same preemptions, and by `scontrol requeue`;
- `fragile`, both of whose nodes are set down under two of its jobs, and come back;
- `never`, whose job asks for more time than its partition has: it is said at once that it can never run, and two
  interruptions a moment apart cancel it;
- `suspended`, whose job is suspended for longer than its time limit;
- `resubmits`, whose driver is a job, by the script of the guide, and is told that its time is over.
Then `outage`: the controller is stopped while seven jobs run, the driver is killed and started again meanwhile, the jobs
end, and the controller comes back.

In all of them every trial has a value in the end, none was told failed, none has two, and nothing is left in the queue.
Prints what was seen, one line a study.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import test_slurm_study
from test_slurm_study import notices, records, start, wait_for

# From the controller's first answer to the next submission.
BAR_S = 15.0
OUTAGE_S = 30.0
ROUNDS = 3

SIMULATE = """\
echo "$TRIBO_TRIAL $TRIBO_ATTEMPT begins" >>"$TRIBO_STUDY_DIR/executions"
sleep {seconds} || exit $?
echo "$TRIBO_TRIAL $TRIBO_ATTEMPT ends" >>"$TRIBO_STUDY_DIR/executions"
echo "$TRIBO_TRIAL"
"""

CONF = Path(os.environ["SLURM_CONF"])


def slurm(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def queue(partition, states="all"):
    """Jobs of a partition: id, state, reason."""
    lines = slurm("squeue", "-h", "-r", "-p", partition, "-t", states, "-o", "%i|%T|%r").splitlines()
    return [tuple(line.split("|")) for line in lines]


def running(partition):
    """Jobs that run and have begun to compute, by id."""
    return [job for job, state, _ in queue(partition) if state == "RUNNING"]


def make(folder, name, seconds, requeue, **keys):
    simulate = SIMULATE.format(seconds=seconds)
    study = test_slurm_study.make(folder, name, simulate, strategy="random", time="30m", **keys)
    with open(study / "study.toml", "a") as file:
        file.write(f"requeue = {requeue}\n")
    return study


def executions(study, word):
    lines = (study / "executions").read_text().splitlines() if (study / "executions").exists() else []
    return [tuple(map(int, line.split()[:2])) for line in lines if line.endswith(word)]


def under_way(study):
    """Attempts that have begun and neither ended nor been given up."""
    ended = {(r["trial"], r["attempt"]) for r in records(study, "ended")}
    return len(set(executions(study, "begins")) - set(executions(study, "ends")) - ended)


def let_run(waiting={}):
    """A requeued job waits for two minutes, for which the test has no time; three seconds have to be, or the node refuses
    it: "Job credential revoked"."""
    jobs = {job for job, _, reason in queue("again", "PENDING") if reason == "BeginTime"}
    for job in set(waiting) - jobs:
        del waiting[job]
    for job in jobs:
        if time.monotonic() - waiting.setdefault(job, time.monotonic()) >= 3.0:
            # It may have been started meanwhile.
            subprocess.run(["scontrol", "update", f"JobId={job}", "StartTime=now"], capture_output=True)


def finish(study, driver, evaluations):
    """Waits for the end of a study, and checks what must hold of all of them; the ends of attempts by kind."""

    def over():
        let_run()
        return driver.poll() is not None

    wait_for(f"the end of {study.name}", over, 90)
    log = (study / "run.log").read_text()[-3000:]
    assert driver.returncode == 0, f"{study.name}: exit {driver.returncode}\n{log}"
    return checked(study, evaluations, log)


def checked(study, evaluations, log):
    """What must hold of a study that is over; the ends of attempts by kind."""
    told = records(study, "told")
    assert sorted(r["trial"] for r in told) == list(range(evaluations)), told
    # Each trial has its own number as its value: none lost, none doubled, none mixed up.
    assert all(r["outcome"] == "measured" and r["value"] == r["trial"] for r in told), f"{told}\n{log}"
    ends = executions(study, "ends")
    assert len(ends) == len({trial for trial, _ in ends}) == evaluations, f"{study.name}: {len(ends)} ran to the end"
    name = records(study, "intended")[0]["tag"][:7]
    left = [line for line in slurm("squeue", "-h", "-r", "-o", "%i %T %j").splitlines() if f" {name}" in line]
    assert not left, f"{study.name} left in the queue: {left}"
    kinds = {}
    for record in records(study, "ended"):
        key = " ".join([record["kind"], record.get("reason", "")]).strip()
        kinds[key] = kinds.get(key, 0) + 1
    return kinds


def preemption_and_failed_nodes(tribo, folder):
    low = make(folder, "low", 5, evaluations=6, workers=3, partition="low", requeue="false")
    again = make(folder, "again", 5, evaluations=4, workers=2, partition="again", requeue="true")
    fragile = make(folder, "fragile", 5, evaluations=4, workers=2, partition="fragile", requeue="false")
    drivers = {study: start(tribo, study) for study in (low, again, fragile)}
    restarted = 0
    for number in range(ROUNDS):
        wait_for("three jobs of `low`", lambda: let_run() or under_way(low) == 3 == len(running("low")), 60)
        restarted += len(running("again"))
        if number == 0:
            wait_for("two jobs of `fragile`", lambda: under_way(fragile) == 2, 60)
            slurm("scontrol", "update", "NodeName=n3,n4", "State=DOWN", "Reason=test")
        # Both nodes, whole: everything on them has to go.
        slurm("sbatch", "-p", "high", "-N", "2", "--exclusive", "-o", "/dev/null", "--wrap", "sleep 0.5")
        wait_for("a preemption", lambda: not running("low"), 30)
    # None of `fragile` can run meanwhile.
    wait_for("its next attempts", lambda: len(queue("fragile", "PENDING")) == 2, 60)
    slurm("scontrol", "update", "NodeName=n3,n4", "State=RESUME")
    # Once more by hand, and without anybody preferred.
    wait_for("a job of `again`", lambda: let_run() or running("again"), 60)
    requeued = running("again")[0]
    slurm("scontrol", "requeue", requeued)

    kinds = finish(low, drivers[low], 6)
    assert kinds == {"ok": 6, "infrastructure PREEMPTED": 3 * ROUNDS}, kinds
    print(f"low: all 3 workers preempted {ROUNDS} times with CANCEL: {kinds}, exit code 0")

    kinds = finish(again, drivers[again], 4)
    assert kinds == {"ok": 4}, kinds
    begun = len(executions(again, "begins"))
    assert begun >= 4 + 1 and len(records(again, "submitted")) == 4, (begun, records(again, "submitted"))
    print(f"again: {restarted} jobs preempted with REQUEUE, one by scontrol requeue: {kinds} in {begun} runs of 4 jobs")

    kinds = finish(fragile, drivers[fragile], 4)
    assert kinds == {"ok": 4, "infrastructure NODE_FAIL (NodeDown)": 2}, kinds
    print(f"fragile: nodes n3 and n4 set down under 2 jobs, and back: {kinds}")


def a_job_that_can_never_run(tribo, folder):
    study = make(folder, "never", 1, evaluations=1, workers=1, partition="short", requeue="false")
    driver = start(tribo, study)
    said = lambda: [n["text"] for n in notices(study, "warning") if "can never run" in n["text"]]
    wait_for("the reason", said, 30)
    assert "Partition" in said()[0], said()
    os.kill(driver.pid, signal.SIGINT)
    time.sleep(0.3)
    os.kill(driver.pid, signal.SIGINT)
    wait_for("the end of `never`", lambda: driver.poll() is not None, 60)
    assert driver.returncode == 130, driver.returncode
    assert not queue("short", "PENDING,RUNNING"), queue("short")
    print(f"never: {said()[0]!r}; two interruptions 0.3 s apart cancelled it")


def a_suspended_job(tribo, folder):
    study = make(folder, "suspended", 4, evaluations=1, workers=1, partition="other", requeue="false")
    text = (study / "study.toml").read_text().replace("\nworkers = ", '\ntimeout = "8s"\nworkers = ')
    (study / "study.toml").write_text(text)
    driver = start(tribo, study)
    wait_for("the job", lambda: under_way(study) == 1 and running("other"), 60)
    job = running("other")[0]
    slurm("scontrol", "suspend", job)
    time.sleep(10)
    slurm("scontrol", "resume", job)
    kinds = finish(study, driver, 1)
    assert kinds == {"ok": 1}, kinds
    print(f"suspended: 10 s with a time limit of 8 s: {kinds}")


def guide_script():
    """The driver as a job, as the guide shows it."""
    text = (Path(__file__).parent.parent / "docs" / "guide" / "slurm.md").read_text()
    return text.split("cat > driver.sh <<'END'\n")[1].split("END\n")[0]


def a_driver_that_submits_itself_again(tribo, folder):
    evaluations = 6
    study = make(folder, "resubmits", 3, evaluations=evaluations, workers=2, partition="debug", requeue="false")
    script = study / "driver.sh"
    script.write_text(guide_script().replace("tribo run", f"{tribo} run"))

    def drivers(states="PENDING,RUNNING"):
        return slurm("squeue", "-h", "-n", "driver", "-t", states, "-o", "%i").split()

    first = slurm("sbatch", "--parsable", "-D", str(study), str(script), str(study)).strip()
    wait_for("two results", lambda: len(records(study, "told")) >= 2, 60)
    # What SLURM does before the time of a job is over, by its option --signal.
    slurm("scancel", "--batch", "--signal=TERM", first)
    wait_for("the next driver", lambda: set(drivers()) - {first}, 30)
    wait_for("the end of `resubmits`", lambda: len(records(study, "told")) == evaluations and not drivers(), 90)
    log = "".join(path.read_text() for path in sorted(study.glob("slurm-*.out")))
    kinds = checked(study, evaluations, log)
    assert kinds == {"ok": evaluations} and len(records(study, "opened")) == 2, (kinds, log)
    print(f"resubmits: a driver in a job was told that its time is over, and the next one went on: {kinds}")


def controller_pid():
    return int((CONF.parent / "slurmctld.pid").read_text())


def is_over(pid):
    """Whether a process has ended, be it that nobody has asked for its end."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except FileNotFoundError:
        return True


def answers():
    ping = subprocess.run(["scontrol", "ping"], capture_output=True, text=True, timeout=60)
    return " is UP" in ping.stdout


def outage(tribo, folder):
    workers, evaluations = 7, 14
    study = make(folder, "outage", 12, evaluations=evaluations, workers=workers, partition="debug", requeue="false")
    driver = start(tribo, study)
    # On disk too: what a driver knows and has not written yet dies with it.
    wait_for("seven jobs", lambda: under_way(study) == workers == len(records(study, "submitted")), 60)
    pid, down = controller_pid(), time.time()
    os.kill(pid, signal.SIGTERM)
    wait_for("the controller's end", lambda: is_over(pid), 30)
    os.kill(driver.pid, signal.SIGKILL)
    driver.wait()
    driver = start(tribo, study)
    wait_for("seven answers", lambda: len(records(study, "told")) == workers, 60)
    time.sleep(max(0.0, down + OUTAGE_S - time.time()))
    assert len(records(study, "submitted")) == workers, "nothing can be submitted now"
    subprocess.run(["slurmctld", "-f", str(CONF)], check=True)
    wait_for("the controller", answers, 30)
    back = time.time()
    kinds = finish(study, driver, evaluations)
    opened = notices(study, "opened")
    assert opened[1]["adopted"] == workers, opened
    assert kinds == {"ok": evaluations} and len(records(study, "submitted")) == evaluations, kinds
    after = sorted(r["ms"] / 1e3 - back for r in records(study, "submitted"))[workers:]
    print(f"outage: {back - down:.0f} s without a controller, {workers} jobs adopted by a second driver meanwhile, {kinds}; "
          f"{workers} submitted {after[0]:.1f} to {after[-1]:.1f} s after it answered")
    assert after[-1] <= BAR_S, f"submitted {after} s after the controller answered"


def main():
    tribo = str(Path(sys.argv[1]).resolve())
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="slurm-faults-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        try:
            together = [
                preemption_and_failed_nodes,
                a_job_that_can_never_run,
                a_suspended_job,
                a_driver_that_submits_itself_again,
            ]
            with ThreadPoolExecutor() as pool:
                for future in [pool.submit(test, tribo, folder) for test in together]:
                    future.result()
            outage(tribo, folder)
        except BaseException:
            for log in sorted(folder.glob("*/run.log")):
                print(f"--- {log.parent.name}", *log.read_text().splitlines()[-25:], sep="\n")
            print(slurm("squeue", "-r", "-t", "all") if answers() else "no controller")
            raise
    print(json.dumps({"seconds": round(time.monotonic() - began)}))


if __name__ == "__main__":
    main()
