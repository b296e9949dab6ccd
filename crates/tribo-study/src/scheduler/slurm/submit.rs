//! The command line of `sbatch`.
//!
//! The job name is the tag. It stands in the comment too, since a site may change names. Jobs get the driver's
//! environment, without what a job around the driver left in it. SLURM restarts nothing by itself unless asked: a new
//! attempt is the driver's decision.

use super::SlurmSettings;
use crate::runner::batch::{Prepared, option};
use crate::runner::local::LOG_FILE;
use crate::scheduler::memory::grown;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;
use std::time::Duration;

/// How long before the time limit a job is warned: enough to end the command and write the answer.
const WARNING: u64 = 120;

/// The arguments for one submission.
pub(super) fn arguments(config: &SlurmSettings, wall: Option<Duration>, job: &Prepared) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = vec![
        "--parsable".into(),
        format!("--job-name={}", job.tag).into(),
        format!("--comment={}", job.tag).into(),
        option("--chdir=", &job.folder),
    ];
    // %a is the index. The path of the study may hold a per cent sign, which is a pattern to sbatch too.
    let mut log = literal(&job.folder);
    match job.elements {
        None => log.push(format!("/{LOG_FILE}")),
        Some(_) => log.push(format!("/{}.%a.log", job.tag)),
    }
    arguments.extend([option("--output=", &log), option("--error=", &log), "--open-mode=append".into()]);
    if let Some(elements) = job.elements {
        arguments.push(format!("--array=0-{}", elements.saturating_sub(1)).into());
    }
    if !job.avoid.is_empty() {
        let hosts: Vec<&str> = job.avoid.iter().map(String::as_str).collect();
        arguments.push(format!("--exclude={}", hosts.join(",")).into());
    }
    let memory = config.memory.as_ref().map(|memory| more(memory, config.memory_growth, job.memory_kills));
    arguments.extend(resources(&SlurmSettings { memory, ..config.clone() }, wall));
    arguments.push(job.script.clone().into_os_string());
    arguments
}

/// The arguments for asking whether such a job would be accepted.
pub(super) fn test_arguments(config: &SlurmSettings, wall: Option<Duration>) -> Vec<OsString> {
    let mut arguments = vec!["--test-only".into()];
    arguments.extend(resources(config, wall));
    arguments.push("--wrap=true".into());
    arguments
}

/// What the study file asks for; its own options last, so that they win.
fn resources(config: &SlurmSettings, wall: Option<Duration>) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = Vec::new();
    arguments.push(if config.requeue { "--requeue" } else { "--no-requeue" }.into());
    arguments.push("--export=ALL".into());
    let given = [
        ("--partition=", &config.partition),
        ("--account=", &config.account),
        ("--qos=", &config.qos),
        ("--mem=", &config.memory),
        ("--gpus=", &config.gpus),
        ("--constraint=", &config.constraint),
        ("--reservation=", &config.reservation),
    ];
    for (name, value) in given {
        arguments.extend(value.as_ref().map(|value| option(name, value)));
    }
    let counts = [("--nodes", config.nodes), ("--ntasks", config.tasks), ("--cpus-per-task", config.cpus)];
    for (name, count) in counts {
        arguments.extend(count.map(|count| format!("{name}={count}").into()));
    }
    // SLURM counts in minutes and rounds up.
    arguments.extend(wall.map(|wall| format!("--time={}", wall.as_secs().div_ceil(60).max(1)).into()));
    arguments.extend(warning(wall).map(|seconds| format!("--signal=B:USR1@{seconds}").into()));
    arguments.extend(config.options.iter().map(OsString::from));
    arguments
}

/// A size as SLURM writes it, larger by so many per cent for each time that it was too little. What is no such size stays.
fn more(memory: &str, percent: u32, times: u32) -> String {
    let digits = memory.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let kilobytes_each = match memory[digits.len()..].to_ascii_uppercase().as_str() {
        "K" | "KB" => 1.0,
        // Without a unit it is megabytes.
        "" | "M" | "MB" => 1024.0,
        "G" | "GB" => 1024.0 * 1024.0,
        "T" | "TB" => 1024.0 * 1024.0 * 1024.0,
        _ => return memory.to_owned(),
    };
    // 0 is all the memory of a node.
    let size = digits.parse::<u64>().ok().filter(|size| *size > 0);
    let kilobytes = size.and_then(|size| grown(size as f64 * kilobytes_each, percent, times));
    kilobytes.map_or_else(|| memory.to_owned(), |kilobytes| format!("{kilobytes}K"))
}

/// Seconds before the limit at which SLURM warns the job. It may do so a minute early, so under four minutes a warning
/// could come at the start; then the job's own clock has to do.
fn warning(wall: Option<Duration>) -> Option<u64> {
    match wall.map(|wall| wall.as_secs()) {
        None => Some(WARNING),
        Some(seconds) if seconds < 240 => None,
        Some(seconds) => Some(WARNING.min(seconds / 5)),
    }
}

/// A path whose per cent signs mean themselves.
fn literal(path: &Path) -> OsString {
    let bytes = path.as_os_str().as_bytes().iter();
    OsString::from_vec(bytes.flat_map(|byte| [*byte].repeat(if *byte == b'%' { 2 } else { 1 })).collect())
}

/// MaxArraySize in the output of `scontrol show config`.
pub(super) fn max_array_size(config: &str) -> Option<usize> {
    let value = config.lines().find_map(|line| line.strip_prefix("MaxArraySize"))?;
    value.trim_start().strip_prefix('=')?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tag::{AttemptId, StudyId, Tag};
    use std::collections::BTreeSet;

    fn prepared(elements: Option<usize>) -> Prepared {
        let id = AttemptId { trial: 12, attempt: 1 };
        Prepared {
            tag: Tag::new(&StudyId::from_bits(1), id).unwrap(),
            script: "/s/a1/job.sh".into(),
            folder: "/s/100%/a1".into(),
            elements,
            avoid: BTreeSet::from(["n1".to_owned(), "n2".to_owned()]),
            memory_kills: 0,
        }
    }

    fn text(arguments: &[OsString]) -> Vec<&str> {
        arguments.iter().map(|argument| argument.to_str().unwrap()).collect()
    }

    #[test]
    fn one_job() {
        let config = SlurmSettings {
            partition: Some("batch".into()),
            cpus: Some(4),
            memory: Some("4G".into()),
            nodes: Some(2),
            tasks: Some(16),
            gpus: Some("a100:1".into()),
            constraint: Some("skylake|icelake".into()),
            reservation: Some("course".into()),
            options: vec!["--gres=gpu:1".into()],
            ..SlurmSettings::default()
        };
        let arguments = arguments(&config, Some(Duration::from_secs(3601)), &prepared(None));
        let expected = [
            "--parsable",
            "--job-name=s000001e0000ca1",
            "--comment=s000001e0000ca1",
            "--chdir=/s/100%/a1",
            "--output=/s/100%%/a1/job.log",
            "--error=/s/100%%/a1/job.log",
            "--open-mode=append",
            "--exclude=n1,n2",
            "--no-requeue",
            "--export=ALL",
            "--partition=batch",
            "--mem=4G",
            "--gpus=a100:1",
            "--constraint=skylake|icelake",
            "--reservation=course",
            "--nodes=2",
            "--ntasks=16",
            "--cpus-per-task=4",
            "--time=61",
            "--signal=B:USR1@120",
            "--gres=gpu:1",
            "/s/a1/job.sh",
        ];
        assert_eq!(text(&arguments), expected);
    }

    #[test]
    fn an_array_with_its_own_logs() {
        let config = SlurmSettings { requeue: true, ..SlurmSettings::default() };
        let arguments = arguments(&config, None, &prepared(Some(20)));
        let arguments = text(&arguments);
        for expected in ["--array=0-19", "--output=/s/100%%/a1/s000001e0000ca1.%a.log", "--requeue"] {
            assert!(arguments.contains(&expected), "{expected} is not in {arguments:?}");
        }
    }

    #[test]
    fn memory_grows_each_time_it_was_too_little() {
        assert_eq!(more("4G", 50, 0), "4G");
        assert_eq!(more("4G", 50, 1), "6291456K");
        assert_eq!((more("1000", 100, 2), more("8K", 50, 1)), ("4096000K".into(), "12K".into()));
        for fixed in ["0", "all", "4Q", ""] {
            assert_eq!(more(fixed, 50, 1), fixed);
        }
        let config =
            SlurmSettings { memory: Some("4G".into()), memory_growth: 50, ..SlurmSettings::default() };
        let killed = Prepared { memory_kills: 1, ..prepared(None) };
        assert!(text(&arguments(&config, None, &killed)).contains(&"--mem=6291456K"));
    }

    #[test]
    fn short_limits_get_a_short_warning_or_none() {
        let at = |seconds| warning(Some(Duration::from_secs(seconds)));
        assert_eq!(
            (at(60), at(239), at(300), at(600), at(9999)),
            (None, None, Some(60), Some(120), Some(120))
        );
        assert_eq!(warning(None), Some(120));
    }

    #[test]
    fn the_largest_array_is_read_from_the_configuration() {
        let config = "Configuration data as of now\nMaxArraySize            = 1001\nMaxDBDMsgs = 20008\n";
        assert_eq!(max_array_size(config), Some(1001));
        assert_eq!(max_array_size("nothing"), None);
    }
}
