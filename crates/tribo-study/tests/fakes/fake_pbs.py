"""The programs of PBS, as far as tribo uses them. Messages and exit codes are those of OpenPBS 23.06."""

import sys

LETTERS = {"PENDING": "Q", "RUNNING": "R", "SUSPENDED": "S", "COMPLETING": "E"}
NO_HISTORY = "PBS is not configured to maintain job history"
DOWN = "Connection refused\n{}: cannot connect to server fake (errno=15010)"


def failure(*args):
    return sys.modules["scheduler"].Failure(*args)


def shown(job):
    """The id as PBS writes it."""
    number, _, index = job["id"].partition("_")
    return f"{number}[{index}].fake" if index else f"{number}.fake"


def parent(job):
    return job["id"].split("_")[0] + "[].fake"


def reachable(cluster, program):
    if cluster.settings["down"]:
        raise failure(DOWN.format(program), 255)


def qsub(cluster, args):
    reachable(cluster, "qsub")
    options, environment = {}, {}
    script = args[-1]
    words = iter(args[:args.index("--")] if "--" in args else args[:-1])
    for word in words:
        value = "" if word == "-h" else next(words)
        options[word] = value
        if word == "-v":
            environment = dict(pair.split("=", 1) for pair in value.split(","))
    partitions = cluster.settings["partitions"]
    if partitions is not None and options.get("-q") not in partitions:
        raise failure("qsub: Unknown queue", 170)
    if not options.get("-o", "").isascii():
        raise failure("qsub: illegal -o value", 2)
    if cluster.settings["disabled"]:
        raise failure("qsub: Queue is not enabled", 171)
    elements = None
    if "-J" in options:
        if options.get("-r") != "y":
            raise failure("qsub: cannot submit non-rerunable Array Job", 255)
        first, last = map(int, options["-J"].split("-"))
        if last + 1 > cluster.settings["max_array_size"]:
            raise failure("qsub: Array job exceeds server or queue size limit", 62)
        elements = list(range(first, last + 1))
    try:
        number = cluster.submit(options["-N"], script, elements, letter="H" if "-h" in options else None, pbs=True, output=options.get("-o"), env=environment,
                                options=args, reason="")
    except sys.modules["scheduler"].Failure:
        raise failure("qsub: would exceed complex's per-user limit", 199)
    return f"{number}[].fake\n" if elements else f"{number}.fake\n"


def attribute(name, value):
    """One attribute as `qstat -f` prints it: broken at commas, or anywhere, before column 78."""
    text, column = f"    {name} = ", len(name) + 7
    for k, part in enumerate(str(value).split(",")):
        if k:
            text += ","
        if column + len(part) < 78:
            text, column = text + part, column + len(part)
            continue
        if k:
            text, column = text + "\n\t", 9
        for character in part:
            text, column = text + character, column + 1
            if column > 78:
                text, column = text + "\n\t", 8
    return text + "\n"


def description(job, scheduler):
    ended = job["state"] in scheduler.ENDED
    lines = {
        "Job_Name": job["name"],
        "Job_Owner": "user@fake",
        "job_state": job.get("letter") or ("F" if ended else LETTERS.get(job["state"], "Q")),
        "queue": "workq",
        "Hold_Types": "n",
        "Rerunable": "True" if job["index"] is not None else "False",
        "substate": job.get("substate", 91 if job["state"] == "CANCELLED" else 92),
        "Variable_List": "PBS_O_HOME=/u/user,PBS_O_LANG=C,PBS_O_PATH=/usr/local/bin:/usr/bin:/bin,PBS_O_SHELL=/bin/sh,"
                         "PBS_O_WORKDIR=/u/user" + "".join(f",{key}={value}" for key, value in job.get("env", {}).items()),
    }
    if job["reason"]:
        lines["comment"] = job["reason"]
    if job["nodes"]:
        lines["exec_host"] = f"{job['nodes']}/0"
    if ended and job["exit"] is not None:
        lines["Exit_status"] = job["exit"]
    if job["restarts"]:
        lines["run_count"] = job["restarts"] + 1
    return f"Job Id: {shown(job)}\n" + "".join(attribute(*line) for line in lines.items()) + "\n"


def qstat(cluster, args):
    scheduler = sys.modules["scheduler"]
    reachable(cluster, "qstat")
    if args[:1] == ["-Q"]:
        partitions = cluster.settings["partitions"]
        if partitions is not None and args[1:] and args[1] not in partitions:
            raise failure(f"qstat: Unknown queue {args[1]}", 170)
        return "Queue              Max   Tot Ena Str\n"
    history = "-x" in args
    if history and not cluster.settings["history"]:
        raise failure(f"qstat: {NO_HISTORY}", 1)
    text, complaints, code = "", "", 0
    for id in (arg for arg in args if not arg.startswith("-")):
        jobs = [job for job in cluster.visible() if id == shown(job) or ("-t" in args and id == parent(job))]
        listed = [job for job in jobs if history or job["state"] not in scheduler.ENDED]
        text += "".join(description(job, scheduler) for job in listed)
        if not jobs or (not listed and not cluster.settings["history"]):
            complaints, code = complaints + f"qstat: Unknown Job Id {id}\n", 153
        elif not listed:
            complaints += f"qstat: {id} Job has finished, use -x or -H to obtain historical job information\n"
            code = 35
    if code:
        raise failure(complaints, code, text)
    return text


def qselect(cluster, args):
    reachable(cluster, "qselect")
    if "-x" in args and not cluster.settings["history"]:
        raise failure(f"qselect: {NO_HISTORY}", 1)
    ended = sys.modules["scheduler"].ENDED
    named = args[args.index("-N") + 1] if "-N" in args else None
    jobs = [job for job in cluster.visible() if named in (None, job["name"])]
    ids = [parent(job) if job["index"] is not None else shown(job) for job in jobs if "-x" in args or job["state"] not in ended]
    return "".join(f"{id}\n" for id in dict.fromkeys(ids))


def qdel(cluster, args):
    reachable(cluster, "qdel")
    complaints, code = "", 0
    for id in args:
        jobs = [job for job in cluster.visible() if id in (shown(job), parent(job))]
        if not jobs:
            complaints, code = complaints + f"qdel: Unknown Job Id {id}\n", 153
        for job in jobs:
            if job["state"] in sys.modules["scheduler"].ENDED:
                complaints, code = complaints + f"qdel: Job has finished {id}\n", 35
            cluster.cancel(job)
    if code:
        raise failure(complaints, code)
    return ""


PROGRAMS = {"qsub": qsub, "qstat": qstat, "qselect": qselect, "qdel": qdel}
