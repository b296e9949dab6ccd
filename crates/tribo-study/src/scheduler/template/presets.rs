//! Templates of schedulers that tribo knows by their manuals: LSF, Grid Engine, HTCondor, Flux, OAR and HyperQueue.
//!
//! A study file may replace any part of one: sites differ.

/// The commands of a scheduler, and how to read what they print.
#[derive(Debug, Clone, Copy)]
pub(super) struct Preset {
    pub(super) name: &'static str,
    pub(super) submit: &'static str,
    pub(super) time_option: &'static str,
    pub(super) id: &'static str,
    pub(super) list: &'static str,
    pub(super) empty: &'static str,
    pub(super) job: &'static str,
    pub(super) queued: &'static [&'static str],
    pub(super) held: &'static [&'static str],
    pub(super) running: &'static [&'static str],
    pub(super) suspended: &'static [&'static str],
    pub(super) done: &'static [&'static str],
    pub(super) failed: &'static [&'static str],
    pub(super) cancel: &'static str,
    pub(super) variable: &'static str,
}

/// Their names, for the study file.
pub(super) const NAMES: [&str; PRESETS.len()] = {
    let mut names = [""; PRESETS.len()];
    let mut n = 0;
    while n < PRESETS.len() {
        names[n] = PRESETS[n].name;
        n += 1;
    }
    names
};

const NOTHING: Preset = Preset {
    name: "",
    submit: "",
    time_option: "",
    id: "",
    list: "",
    empty: "",
    job: "",
    queued: &[],
    held: &[],
    running: &[],
    suspended: &[],
    done: &[],
    failed: &[],
    cancel: "",
    variable: "",
};

const PRESETS: [Preset; 6] = [
    Preset {
        name: "lsf",
        submit: "bsub -J {name} -o {log} {time} {options} < {script}",
        time_option: "-W {minutes}",
        id: r"Job <(\d+)>",
        list: r#"bjobs -a -w -noheader -o "jobid stat job_name""#,
        // Its exit code is 255 when there is none.
        empty: r"No (unfinished )?job found",
        job: r"^(?P<id>\d+)\s+(?P<state>\S+)\s+(?P<name>\S+)",
        queued: &["PEND", "WAIT"],
        held: &["PSUSP"],
        running: &["RUN", "PROV", "UNKWN"],
        suspended: &["USUSP", "SSUSP"],
        done: &["DONE"],
        failed: &["EXIT", "ZOMBI"],
        cancel: "bkill {ids}",
        variable: "LSB_JOBID",
    },
    Preset {
        name: "sge",
        submit: "qsub -terse -N {name} -j y -o {log} -S /bin/bash {time} {options} {script}",
        time_option: "-l h_rt={clock}",
        id: r"^(\d+)",
        // Names are cut to ten letters there: jobs are known by their ids.
        list: r#"qstat -u "$(id -un)""#,
        job: r"^\s*(?P<id>\d+)\s+\S+\s+\S+\s+\S+\s+(?P<state>\S+)",
        queued: &["qw", "Rq"],
        held: &["hqw", "Eqw"],
        running: &["r", "t", "Rr", "Rt", "dr", "dt"],
        suspended: &["s", "S", "T", "ts", "tS", "tT"],
        cancel: "qdel {ids}",
        variable: "JOB_ID",
        ..NOTHING
    },
    Preset {
        name: "htcondor",
        submit: "printf 'executable=%s\\noutput=%s\\nerror=%s\\nbatch_name=%s\\n%s\\nqueue\\n' {script} {log} {log} {name} \
                 \"$(printf '%s\\n' {options})\" | condor_submit -terse -",
        id: r"^(\d+\.\d+)",
        list: "condor_q -nobatch -format '%d.' ClusterId -format '%d ' ProcId -format '%d ' JobStatus \
               -format '%s\\n' JobBatchName",
        job: r"^(?P<id>\d+\.\d+) (?P<state>\d) (?P<name>\S+)",
        queued: &["1"],
        held: &["5"],
        running: &["2", "6"],
        suspended: &["7"],
        done: &["4"],
        failed: &["3"],
        cancel: "condor_rm {ids}",
        ..NOTHING
    },
    Preset {
        name: "flux",
        submit: "flux batch --job-name={name} --output={log} {time} {options} {script}",
        time_option: "-t {minutes}m",
        id: r"^(\S+)",
        list: "flux jobs -a -n -o '{id} {status_abbrev} {name}'",
        job: r"^(?P<id>\S+) (?P<state>\S+) (?P<name>\S+)",
        queued: &["PD", "D", "P", "S"],
        running: &["R", "C"],
        done: &["CD"],
        failed: &["F", "CA", "TO"],
        cancel: "flux cancel {ids}",
        variable: "FLUX_JOB_ID",
        ..NOTHING
    },
    Preset {
        name: "oar",
        submit: "oarsub -n {name} -O {log} -E {log} {time} {options} {script}",
        time_option: "-l walltime={clock}",
        id: r"OAR_JOB_ID=(\d+)",
        list: r#"oarstat -u "$(id -un)""#,
        job: r"^(?P<id>\d+)\s+(?P<state>[A-Z])\s",
        queued: &["W", "L"],
        held: &["H"],
        running: &["R", "F"],
        suspended: &["S"],
        done: &["T"],
        failed: &["E"],
        cancel: "oardel {ids}",
        variable: "OAR_JOB_ID",
        ..NOTHING
    },
    Preset {
        name: "hyperqueue",
        submit: "hq submit --output-mode quiet --name {name} --stdout {log} --stderr {log} {time} {options} -- bash {script}",
        time_option: "--time-limit {seconds}s",
        id: r"^(\d+)",
        list: "hq job list --all --output-mode quiet",
        job: r"^(?P<id>\d+)\s+(?P<state>\w+)",
        queued: &["WAITING", "OPENED"],
        running: &["RUNNING"],
        done: &["FINISHED"],
        failed: &["FAILED", "CANCELED"],
        cancel: "hq job cancel {id}",
        variable: "HQ_JOB_ID",
        ..NOTHING
    },
];

/// The preset with this name, or one without any part.
pub(super) fn preset(name: Option<&str>) -> Preset {
    PRESETS.into_iter().find(|preset| Some(preset.name) == name).unwrap_or(NOTHING)
}
