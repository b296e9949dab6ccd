//! The command line of `qsub`.
//!
//! The job name is the tag; jobs get it in TRIBO_TAG too. The driver's environment is not given on (`-V` has broken
//! servers' listings), so what the command needs is set up in the script or in the study file.

use super::PbsSettings;
use crate::runner::batch::{Prepared, option};
use crate::runner::local::LOG_FILE;
use crate::scheduler::memory::grown;
use std::ffi::OsString;
use std::time::Duration;

/// The arguments for one submission. Unless `logs`, the script sees to its log itself.
pub(super) fn arguments(
    config: &PbsSettings,
    wall: Option<Duration>,
    job: &Prepared,
    logs: bool,
) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = vec!["-N".into(), job.tag.as_str().into()];
    let select =
        config.select.as_ref().map(|select| with_memory(select, config.memory_growth, job.memory_kills));
    arguments.extend(resources(&PbsSettings { select, ..config.clone() }, wall));
    // PBS restarts nothing by itself, but for arrays, which it accepts in no other way; the claim keeps those in check.
    let (rerun, log) = match job.elements {
        None => ("n", job.folder.join(LOG_FILE)),
        Some(_) => ("y", job.folder.join(format!("{}.^array_index^.log", job.tag))),
    };
    let log = if logs { log } else { "/dev/null".into() };
    arguments.extend([
        "-r".into(),
        rerun.into(),
        "-j".into(),
        "oe".into(),
        "-o".into(),
        log.into_os_string(),
    ]);
    arguments.extend(["-W".into(), "umask=022".into(), "-v".into(), option("TRIBO_TAG=", job.tag.as_str())]);
    if let Some(elements) = job.elements {
        arguments.extend(["-J".into(), format!("0-{}", elements.saturating_sub(1)).into()]);
    }
    arguments.extend(config.options.iter().map(OsString::from));
    arguments.push(job.script.clone().into_os_string());
    arguments
}

/// The arguments for a job like the study's that does nothing, and is held.
pub(super) fn held_arguments(config: &PbsSettings, wall: Option<Duration>) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = ["-N", "tribo-check", "-h"].map(OsString::from).into();
    arguments.extend(resources(config, wall));
    arguments.extend(["-r", "n", "-j", "oe", "-o", "/dev/null"].map(OsString::from));
    arguments.extend(config.options.iter().map(OsString::from));
    arguments.extend(["--", "/bin/true"].map(OsString::from));
    arguments
}

/// What the study file asks for.
fn resources(config: &PbsSettings, wall: Option<Duration>) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = Vec::new();
    let given = [("-q", &config.queue), ("-A", &config.account), ("-P", &config.project)];
    for (name, value) in given {
        arguments.extend(value.iter().flat_map(|value| [OsString::from(name), value.into()]));
    }
    let named = |name: &str, value: &Option<String>| value.as_ref().map(|value| format!("{name}={value}"));
    let chosen = [named("select", &config.select), named("place", &config.place)];
    for resource in chosen.into_iter().flatten().chain(wall.map(|wall| format!("walltime={}", clock(wall)))) {
        arguments.extend(["-l".into(), resource.into()]);
    }
    arguments
}

/// A selection of chunks whose `mem` is larger by so many per cent for each time that it was too little. What is no size of
/// PBS stays.
fn with_memory(select: &str, percent: u32, times: u32) -> String {
    let larger = |resource: &str| {
        let size = resource.strip_prefix("mem=")?;
        let digits = size.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let bytes_each = match size[digits.len()..].to_ascii_lowercase().as_str() {
            "" | "b" => 1.0,
            "kb" => 1024f64,
            "mb" => 1024f64.powi(2),
            "gb" => 1024f64.powi(3),
            "tb" => 1024f64.powi(4),
            _ => return None,
        };
        let kilobytes = grown(digits.parse::<u64>().ok()? as f64 * bytes_each / 1024.0, percent, times)?;
        Some(format!("mem={kilobytes}kb"))
    };
    let chunk = |chunk: &str| {
        let resources: Vec<String> = chunk
            .split(':')
            .map(|resource| larger(resource).unwrap_or_else(|| resource.to_owned()))
            .collect();
        resources.join(":")
    };
    select.split('+').map(chunk).collect::<Vec<_>>().join("+")
}

/// Hours, minutes and seconds; hours may be many.
fn clock(time: Duration) -> String {
    let seconds = time.as_secs().max(1);
    format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tag::{StudyId, Tag};
    use std::collections::BTreeSet;

    fn prepared(elements: Option<usize>) -> Prepared {
        Prepared {
            tag: Tag::array(&StudyId::from_bits(1), 3),
            script: "/s/job.sh".into(),
            folder: "/s".into(),
            elements,
            avoid: BTreeSet::new(),
            memory_kills: 0,
        }
    }

    fn text(config: &PbsSettings, wall: Option<Duration>, elements: Option<usize>) -> String {
        let arguments = arguments(config, wall, &prepared(elements), true);
        arguments.iter().map(|argument| argument.to_str().unwrap()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn one_job() {
        let config = PbsSettings {
            queue: Some("workq".into()),
            select: Some("1:ncpus=4:mem=8gb".into()),
            project: Some("p1".into()),
            place: Some("scatter".into()),
            options: vec!["-p".into(), "10".into()],
            ..PbsSettings::default()
        };
        let expected = "-N s000001y0000003 -q workq -P p1 -l select=1:ncpus=4:mem=8gb -l place=scatter \
                        -l walltime=100:00:05 -r n -j oe -o /s/job.log -W umask=022 -v TRIBO_TAG=s000001y0000003 \
                        -p 10 /s/job.sh";
        assert_eq!(text(&config, Some(Duration::from_secs(360_005)), None), expected);
    }

    #[test]
    fn memory_that_was_too_little_grows_in_every_chunk() {
        let select = "1:ncpus=4:mem=4gb+2:mem=500MB:ngpus=1:vmem=9gb+1:mem=1tw";
        assert_eq!(with_memory(select, 50, 0), select, "the first attempt");
        assert_eq!(with_memory(select, 0, 3), select, "nobody asked for it");
        let expected = "1:ncpus=4:mem=9437184kb+2:mem=1152000kb:ngpus=1:vmem=9gb+1:mem=1tw";
        assert_eq!(with_memory(select, 50, 2), expected);
        let config =
            PbsSettings { select: Some("1:mem=1gb".into()), memory_growth: 100, ..PbsSettings::default() };
        let job = Prepared { memory_kills: 1, ..prepared(None) };
        let arguments = arguments(&config, None, &job, true);
        assert!(arguments.contains(&"select=1:mem=2097152kb".into()), "{arguments:?}");
    }

    #[test]
    fn an_array_can_be_rerun_and_has_its_own_logs() {
        let text = text(&PbsSettings::default(), None, Some(4));
        for expected in [" -r y ", " -J 0-3 ", "-o /s/s000001y0000003.^array_index^.log "] {
            assert!(text.contains(expected), "{expected} is not in {text}");
        }
        assert!(!text.contains("walltime"));
    }
}
