"""Other schedulers, as far as tribo's templates use them: LSF, Grid Engine, HTCondor, Flux, OAR, HyperQueue. A folder each
has their programs; what they print is after their manuals."""

import re
import subprocess
import sys


def failure(*args):
    return sys.modules["scheduler"].Failure(*args)


def option(args, name):
    """The value behind a name, or right behind its equals sign."""
    for k, arg in enumerate(args):
        if arg == name:
            return args[k + 1]
        if arg.startswith(name + "="):
            return arg[len(name) + 1:]
    return None


def submit(cluster, name, script, log, variable, args):
    if cluster.settings["down"]:
        raise failure("cannot connect to the server", 1)
    return cluster.submit(name, script, None, output=log, options=args, env={}, id_variable=variable)


def jobs(cluster, states):
    """Jobs that are listed: id, word, name."""
    if cluster.settings["down"]:
        raise failure("cannot connect to the server", 1)
    return [(job["id"], states.get(job["state"], states["PENDING"]), job["name"]) for job in cluster.visible()
            if states.get(job["state"], "") is not None]


def cancel(cluster, args):
    for id in args:
        for job in cluster.find(id.removesuffix(".0").removeprefix("f")):
            cluster.cancel(job)
    return ""


# LSF reads the script from its standard input, which here is a file.
def bsub(cluster, args):
    script = subprocess.run(["readlink", "-f", "/proc/self/fd/0"], stdin=sys.stdin, capture_output=True, text=True).stdout.strip()
    number = submit(cluster, option(args, "-J"), script, option(args, "-o"), "LSB_JOBID", args)
    return f"Job <{number}> is submitted to default queue <normal>.\n"


def bjobs(cluster, args):
    words = {"PENDING": "PEND", "RUNNING": "RUN", "COMPLETED": "DONE", "FAILED": "EXIT", "CANCELLED": "EXIT"}
    listed = jobs(cluster, words)
    if not listed:
        raise failure("No job found", 255)
    return "".join(f"{id}  {word}  {name}\n" for id, word, name in listed)


def sge_qsub(cluster, args):
    return f"{submit(cluster, option(args, '-N'), args[-1], option(args, '-o'), 'JOB_ID', args)}\n"


def sge_qstat(cluster, args):
    words = {"PENDING": "qw", "RUNNING": "r", "COMPLETED": None, "FAILED": None, "CANCELLED": None}
    listed = jobs(cluster, words)
    head = "job-ID  prior   name       user         state submit/start at     queue   slots ja-task-ID\n" + "-" * 90 + "\n"
    lines = [f"{id:>7} 0.55500 {name[:10]:<10} user         {word:<5} 11/17/2026 09:00:00 all.q@n1    1\n" for id, word, name in listed]
    return head + "".join(lines) if lines else ""


def condor_submit(cluster, args):
    keys = dict(line.split("=", 1) for line in sys.stdin.read().splitlines() if "=" in line)
    number = submit(cluster, keys["batch_name"], keys["executable"], keys["output"], "", args)
    return f"{number}.0 - {number}.0\n"


def condor_q(cluster, args):
    words = {"PENDING": "1", "RUNNING": "2", "COMPLETED": None, "FAILED": None, "CANCELLED": None}
    return "".join(f"{id}.0 {word} {name}\n" for id, word, name in jobs(cluster, words))


def flux(cluster, args):
    if args[0] == "batch":
        number = submit(cluster, option(args, "--job-name"), args[-1], option(args, "--output"), "FLUX_JOB_ID", args)
        return f"f{number}\n"
    if args[0] == "cancel":
        return cancel(cluster, args[1:])
    words = {"PENDING": "PD", "RUNNING": "R", "COMPLETED": "CD", "FAILED": "F", "CANCELLED": "CA"}
    return "".join(f"f{id} {word} {name}\n" for id, word, name in jobs(cluster, words))


def oarsub(cluster, args):
    number = submit(cluster, option(args, "-n"), args[-1], option(args, "-O"), "OAR_JOB_ID", args)
    return f"[ADMISSION RULE] Modify resource description\nOAR_JOB_ID={number}\n"


def oarstat(cluster, args):
    words = {"PENDING": "W", "RUNNING": "R", "COMPLETED": None, "FAILED": None, "CANCELLED": None}
    head = "Job id    S User     Duration   System message\n--------- - -------- ---------- ---------------\n"
    return head + "".join(f"{id:<9} {word} user      0:00:10 R=1,W=1:0:0,J=B\n" for id, word, _ in jobs(cluster, words))


def hq(cluster, args):
    if args[0] == "submit":
        return f"{submit(cluster, option(args, '--name'), args[-1], option(args, '--stdout'), 'HQ_JOB_ID', args)}\n"
    if args[:2] == ["job", "cancel"]:
        return cancel(cluster, re.split("[, ]", args[2]))
    words = {"PENDING": "WAITING", "RUNNING": "RUNNING", "COMPLETED": "FINISHED", "FAILED": "FAILED", "CANCELLED": "CANCELED"}
    return "".join(f"{id} {word}\n" for id, word, _ in jobs(cluster, words))


PROGRAMS = {
    "lsf/bsub": bsub, "lsf/bjobs": bjobs, "lsf/bkill": cancel,
    "sge/qsub": sge_qsub, "sge/qstat": sge_qstat, "sge/qdel": cancel,
    "htcondor/condor_submit": condor_submit, "htcondor/condor_q": condor_q, "htcondor/condor_rm": cancel,
    "flux/flux": flux,
    "oar/oarsub": oarsub, "oar/oarstat": oarstat, "oar/oardel": cancel,
    "hyperqueue/hq": hq,
}
