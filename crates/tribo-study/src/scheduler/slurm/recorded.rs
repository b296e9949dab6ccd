//! Replays what a real SLURM answered (22.05, one host, no accounting) through what sorts submissions and states.
//!
//! `tests/data/slurm-recordings.json` has the commands with exit codes and both streams.

use super::states::{Circumstances, state};
use super::{outcome, submit};
use crate::job::Kind;
use crate::runner::command::Output;
use crate::runner::{State, Submission};
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Deserialize)]
struct Recording {
    name: String,
    command: String,
    exit_code: i32,
    stdout: String,
    stderr: String,
}

fn recordings() -> BTreeMap<String, Recording> {
    let text = include_str!("../../../tests/data/slurm-recordings.json");
    let list: Vec<Recording> = serde_json::from_str(text).unwrap();
    list.into_iter().map(|recording| (recording.name.clone(), recording)).collect()
}

fn class(recording: &Recording) -> &'static str {
    let (stdout, stderr) = (recording.stdout.clone(), recording.stderr.clone());
    match outcome::of(Ok(Output { code: Some(recording.exit_code), stdout, stderr })) {
        Submission::Accepted(_) => "accepted",
        Submission::Refused(_) => "refused",
        Submission::Limited(_) => "limited",
        Submission::Unavailable(_) => "unavailable",
        Submission::Ambiguous(_) => "ambiguous",
    }
}

#[test]
fn submissions_are_sorted_by_what_to_do() {
    let recordings = recordings();
    let submissions =
        recordings.values().filter(|r| r.name.starts_with("sbatch-") && !r.name.contains("test-only"));
    let mut n = 0;
    for recording in submissions {
        let expected = match recording.name.trim_start_matches("sbatch-") {
            "controller-down" | "munge-down" => "unavailable",
            // The job ran once the controller went on; and without --parsable there is no id to read.
            "controller-hangs" | "not-parsable" => "ambiguous",
            "queue-full" | "invalid-array" => "limited",
            _ if recording.exit_code == 0 => "accepted",
            _ => "refused",
        };
        assert_eq!(class(recording), expected, "{}: {}", recording.name, recording.stderr);
        n += 1;
    }
    assert!(n > 20, "{n} submissions");
}

/// States in a recording: the third column of squeue's lines, or `JobState=` of scontrol's.
fn states(recording: &Recording) -> Vec<(String, String)> {
    if recording.name.starts_with("squeue-") && recording.command.contains("%i|%A|%T|%r") {
        let columns = |line: &str| {
            let columns: Vec<&str> = line.split('|').collect();
            (columns[2].to_owned(), columns[3].to_owned())
        };
        return recording.stdout.lines().map(columns).collect();
    }
    let member = |name: &str| {
        let rest = recording.stdout.split(name).nth(1)?;
        rest.split_whitespace().next().map(str::to_owned)
    };
    member("JobState=").map(|word| (word, member("Reason=").unwrap_or_default())).into_iter().collect()
}

#[test]
fn every_recorded_state_is_known() {
    let mut seen = BTreeMap::new();
    for recording in recordings().values() {
        for (word, reason) in states(recording) {
            let about = Circumstances { reason: &reason, ..Circumstances::default() };
            let known = state(&word, about);
            assert!(!matches!(known, State::Unknown(_)), "{}: {word}", recording.name);
            seen.insert(word, known);
        }
    }
    assert!(seen.len() >= 9, "{:?}", seen.keys());
    let kind = |word: &str| match &seen[word] {
        State::Ended(ending) => Some(ending.kind),
        _ => None,
    };
    assert_eq!(kind("TIMEOUT"), Some(Kind::Walltime));
    assert_eq!(kind("NODE_FAIL"), Some(Kind::Infrastructure));
    assert_eq!(kind("CANCELLED"), Some(Kind::Cancelled));
    assert_eq!(kind("COMPLETED"), Some(Kind::Ok));
    assert_eq!(seen["RUNNING"], State::Running);
    assert_eq!(seen["SUSPENDED"], State::Suspended);
}

#[test]
fn a_job_that_was_stopped_waits_again_or_is_held_or_is_over() {
    let recordings = recordings();
    let last = |name: &str| {
        let (word, reason) = states(&recordings[name]).pop().unwrap();
        state(&word, Circumstances { reason: &reason, ..Circumstances::default() })
    };
    for name in ["squeue-preempted-requeued", "squeue-requeued", "squeue-nodefail-requeued"] {
        assert_eq!(last(name), State::Queued(Some("BeginTime".into())), "{name}");
    }
    assert_eq!(last("squeue-requeued-held"), State::Held("job requeued in held state".into()));
    assert_eq!(last("squeue-running-again"), State::Running);
    let known = last("squeue-preempted");
    assert!(matches!(&known, State::Ended(end) if end.kind == Kind::Infrastructure), "{known:?}");
}

#[test]
fn the_size_of_arrays_is_read_from_the_configuration() {
    assert_eq!(submit::max_array_size(&recordings()["scontrol-show-config"].stdout), Some(1001));
}
