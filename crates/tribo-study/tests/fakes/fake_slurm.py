"""SLURM's programs, as far as tribo uses them. Messages are those of 22.05."""

import sys


def failure(*args):
    return sys.modules["scheduler"].Failure(*args)


def reachable(cluster):
    if cluster.settings["down"]:
        raise failure("slurm_load_jobs error: Unable to contact slurm controller (connect failure)")


def sbatch(cluster, args):
    options = dict(arg.split("=", 1) for arg in args if arg.startswith("--") and "=" in arg)
    refuse = lambda reason: failure(f"sbatch: error: Batch job submission failed: {reason}")
    if cluster.settings["down"]:
        raise refuse("Unable to contact slurm controller (connect failure)")
    partitions = cluster.settings["partitions"]
    if partitions is not None and options.get("--partition") not in partitions:
        raise refuse("Invalid partition name specified")
    if "--test-only" in args:
        sys.stderr.write("sbatch: Job 7 to start at 2026-11-15T19:03:20 using 1 processors on nodes node1 in partition debug\n")
        return ""
    elements = None
    if "--array" in options:
        first, last = map(int, options["--array"].split("%")[0].split("-"))
        if last >= cluster.settings["max_array_size"]:
            raise refuse("Invalid job array specification")
        elements = list(range(first, last + 1))
    try:
        number = cluster.submit(options["--job-name"], args[-1], elements, comment=options.get("--comment", ""),
                                output=options.get("--output"), chdir=options.get("--chdir"), options=args)
    except sys.modules["scheduler"].Failure:
        raise failure("sbatch: error: QOSMaxSubmitJobPerUserLimit\nsbatch: error: Batch job submission failed: "
                      "Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)")
    return f"{number}\n"


def squeue(cluster, args):
    reachable(cluster)
    line = args[args.index("-o") + 1]
    text = ""
    for job in cluster.visible():
        fields = {"%i": job["id"], "%A": job["id"], "%T": job["state"], "%r": job["reason"], "%N": job["nodes"],
                  "%j": job["name"], "%k": job["comment"] or "(null)", "%S": "N/A", "%e": "N/A"}
        row = line
        for key, value in fields.items():
            row = row.replace(key, value)
        text += row + "\n"
    return text


def sacct(cluster, args):
    if not cluster.settings["accounting"]:
        raise failure("Slurm accounting storage is disabled")
    ids = args[args.index("-j") + 1].split(",") if "-j" in args else None
    names = [arg.removeprefix("--name=").split(",") for arg in args if arg.startswith("--name=")]
    text = ""
    for job in cluster.jobs:
        asked = job["id"] in ids or job["id"].split("_")[0] in ids if ids is not None else job["name"] in names[0]
        if asked and not job.get("sacct_hidden"):
            text += "|".join([job["id"], job["name"], job.get("sacct_state", job["state"]), job["nodes"],
                              job.get("exit_code", "0:0")]) + "\n"
    return text


def scontrol(cluster, args):
    reachable(cluster)
    if args == ["show", "config"]:
        size = cluster.settings["max_array_size"]
        return f"Configuration data as of 2026-11-15T19:03:20\nMaxArraySize            = {size}\nMinJobAge               = 300 sec\n"
    jobs = cluster.find(args[-1])
    if not jobs:
        raise failure("slurm_load_jobs error: Invalid job id specified")
    return "".join(f"JobId={job['id']} JobName={job['name']} UserId=user(1000) JobState={job['state']} Reason={job['reason']} "
                   f"Dependency=(null) ExitCode={job.get('exit_code', '0:0')} NodeList={job['nodes'] or '(null)'} BatchHost=node1\n" for job in jobs)


def scancel(cluster, args):
    reachable(cluster)
    for id in (arg for arg in args if not arg.startswith("-")):
        for job in cluster.find(id):
            cluster.cancel(job)
    return ""


PROGRAMS = {"sbatch": sbatch, "squeue": squeue, "sacct": sacct, "scontrol": scontrol, "scancel": scancel}
