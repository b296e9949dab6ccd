//! Replays what a real server answered (OpenPBS 23.06) through everything that reads it.
//!
//! `tests/data/pbs-recordings.json` has the commands with exit codes and both streams. `qstat` was recorded as JSON, which
//! tribo does not read; the same attributes are written here as `qstat -f` writes them, lines broken and all, so that
//! states and exit statuses are those of the real server. The text form itself is held by the tests of `status`.
//!
//! `tests/data/pbs-situations.json` has what the same server was seen to answer when something befell jobs: states, counts,
//! complaints and the exit codes 38 and 153 are its own, the rest is as in its other answers.

use super::states::state;
use super::{outcome, status};
use crate::job::{Array, JOB_VERSION};
use crate::layout::Layout;
use crate::runner::batch::Batch;
use crate::runner::command::Output;
use crate::runner::{State, Submission};
use crate::tag::{AttemptId, StudyId, Tag};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

#[derive(Deserialize)]
struct Recording {
    name: String,
    exit_code: i32,
    stdout: String,
    stderr: String,
}

impl Recording {
    fn output(&self) -> Output {
        let (stdout, stderr) = (self.stdout.clone(), self.stderr.clone());
        Output { code: Some(self.exit_code), stdout, stderr }
    }
}

fn recordings() -> BTreeMap<String, Recording> {
    named(include_str!("../../../tests/data/pbs-recordings.json"))
}

fn situations() -> BTreeMap<String, Recording> {
    named(include_str!("../../../tests/data/pbs-situations.json"))
}

fn named(text: &str) -> BTreeMap<String, Recording> {
    let list: Vec<Recording> = serde_json::from_str(text).unwrap();
    list.into_iter().map(|recording| (recording.name.clone(), recording)).collect()
}

/// The recorded jobs as text. Objects such as Resource_List become `Resource_List.ncpus`.
fn as_text(json: &str) -> String {
    let answer: Value = serde_json::from_str(json).unwrap();
    let mut text = String::new();
    for (id, job) in answer.get("Jobs").and_then(Value::as_object).unwrap_or(&Map::new()) {
        text.push_str(&format!("Job Id: {id}\n"));
        for (name, value) in job.as_object().unwrap() {
            match value {
                Value::Object(parts) => {
                    parts.iter().for_each(|(part, value)| write(&mut text, &format!("{name}.{part}"), value));
                }
                value => write(&mut text, name, value),
            }
        }
        text.push('\n');
    }
    text
}

/// Broken hard at column 78, which is the harder of the two ways.
fn write(text: &mut String, name: &str, value: &Value) {
    let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    text.push_str(&format!("    {name} = "));
    let mut column = name.len() + 7;
    for character in value.chars() {
        if column >= 78 {
            text.push_str("\n\t");
            column = 8;
        }
        text.push(character);
        column += 1;
    }
    text.push('\n');
}

/// What is made of a job: a word, and the host if it ended.
fn word(state: State) -> String {
    match state {
        State::Queued(_) => "queued".to_owned(),
        State::Held(reason) => format!("held: {}", reason.split(':').next().unwrap()),
        State::Impossible(reason) => format!("impossible: {}", reason.split(':').next().unwrap()),
        State::Running => "running".to_owned(),
        State::Ended(ending) => match ending.host {
            Some(host) => format!("{} on {host}", ending.kind.name()),
            None => ending.kind.name().to_owned(),
        },
        other => format!("{other:?}"),
    }
}

fn states(recording: &Recording) -> Vec<String> {
    let jobs = status::jobs(&as_text(&recording.stdout));
    jobs.iter().map(|job| format!("{} {}", job.id, word(state(job, true)))).collect()
}

#[test]
fn all_recorded_listings() {
    let mut recordings = recordings();
    let mut replay = |name: &str, expected: &[&str]| {
        let recording = recordings.remove(name).unwrap();
        assert!(status::answered(&recording.output()), "{name}");
        assert_eq!(states(&recording), expected, "{name}");
    };
    let live = [
        "1.pbs1 running",
        "4.pbs1 running",
        "5.pbs1 running",
        "6.pbs1 held: held (type u)",
        "7.pbs1 impossible: Can Never Run",
        "8[].pbs1 running",
    ];
    let elements = ["8[0].pbs1 running", "8[1].pbs1 running", "8[2].pbs1 running", "8[3].pbs1 running"];
    replay("qstat-live", &live);
    replay("qstat-live-t", &[live.as_slice(), &elements].concat());
    replay(
        "qstat-x-all",
        &[
            "0.pbs1 ok on pbs1",
            "1.pbs1 ok on pbs1",
            "2.pbs1 failed on pbs1",
            "3.pbs1 failed on pbs1",
            "4.pbs1 walltime on pbs1",
            "5.pbs1 cancelled on pbs1",
            "6.pbs1 held: held (type u)",
            "7.pbs1 impossible: Can Never Run",
            "8[].pbs1 ok",
        ],
    );
    let ended =
        ["8[0].pbs1 ok on pbs1", "8[1].pbs1 ok on pbs1", "8[2].pbs1 ok on pbs1", "8[3].pbs1 ok on pbs1"];
    replay("qstat-array-finished", &[["8[].pbs1 ok"].as_slice(), &ended].concat());
    replay("qstat-x-sub", &["8[2].pbs1 ok on pbs1"]);
    // JSON with several ids has the first only: why it is not used.
    replay("qstat-finished", &["1.pbs1 ok on pbs1"]);
    replay("qstat-x-two", &["2.pbs1 failed on pbs1"]);
    // Exit codes 35 and 153: the jobs that are known are there all the same.
    replay("qstat-finished-nox", &[]);
    replay("qstat-mixed", &["1.pbs1 running"]);
    replay("qstat-unknown", &[]);
    for table in ["qstat-table", "qstat-x-table"] {
        assert_eq!(
            status::jobs(&recordings.remove(table).unwrap().stdout),
            [],
            "{table} is no listing in full"
        );
    }
    assert!(recordings.keys().all(|name| !name.starts_with("qstat")), "one was left out");
}

#[test]
fn all_recorded_submissions() {
    for (name, recording) in recordings().iter().filter(|(name, _)| name.starts_with("qsub")) {
        let outcome = outcome::of(Ok(recording.output()));
        let refused =
            ["qsub-badname", "qsub-badqueue", "qsub-badres", "qsub-longname"].contains(&name.as_str());
        match &outcome {
            Submission::Refused(reason) => {
                assert!(refused && reason.starts_with("qsub: "), "{name}: {outcome:?}")
            }
            Submission::Accepted(id) => {
                assert!(!refused && recording.stdout == format!("{id}\n"), "{name}: {outcome:?}");
            }
            _ => panic!("{name}: {outcome:?}"),
        }
    }
    let array = outcome::of(Ok(recordings()["qsub-array"].output()));
    assert_eq!(array, Submission::Accepted("8[].pbs1".into()));
    assert_eq!(status::element("8[].pbs1", 2), "8[2].pbs1");
}

#[test]
fn all_recorded_deletions_are_done_or_harmless() {
    let recordings = recordings();
    let deletions: Vec<_> = recordings.iter().filter(|(name, _)| name.starts_with("qdel")).collect();
    assert_eq!(deletions.len(), 6);
    for (name, recording) in deletions {
        assert!(outcome::deleted(&recording.output()), "{name}");
    }
    assert_eq!(recordings["qselect"].stdout, "1.pbs1\n");
}

/// What a study, whose attempt 12.a1 is a job and 13.a1 an element of an array, sees in a listing: attempt, id and state.
fn seen(recording: &Recording) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let layout = Layout::of(&folder.path().join("study.toml"));
    let study = StudyId::from_bits(2);
    let elements = [12, 13].map(|trial| AttemptId { trial, attempt: 1 }).to_vec();
    let array = Array { version: JOB_VERSION, tag: Tag::array(&study, 3), elements };
    std::fs::create_dir_all(layout.store().join("arrays")).unwrap();
    std::fs::write(layout.array(&array.tag), serde_json::to_vec(&array).unwrap()).unwrap();
    let mut batch = Batch::new(study, &layout, "tribo".into(), None);
    let mut seen = vec![];
    for job in status::jobs(&recording.stdout) {
        let Some(listed) = job.listed(&mut batch, &BTreeMap::new()) else { continue };
        let attempt = batch.attempt(&listed.name, listed.index).unwrap();
        seen.push(format!("{attempt} {} {}", listed.job, word(listed.state)));
    }
    seen
}

#[test]
fn what_befalls_jobs_is_understood() {
    let situations = situations();
    let listing = |name: &str, expected: &[&str]| {
        let recording = &situations[name];
        assert!(status::answered(&recording.output()), "{name}");
        assert_eq!(seen(recording), expected, "{name}");
    };
    // An element that is rerun waits, and runs again under the same id.
    listing("rerun-before", &["000013.a1 8[1].pbs1 running"]);
    listing("rerun-waits", &["000013.a1 8[1].pbs1 queued"]);
    listing("rerun-again", &["000013.a1 8[1].pbs1 running"]);
    listing("held", &["000012.a1 6.pbs1 held: held (type u)"]);
    listing("never", &["000012.a1 7.pbs1 impossible: Can Never Run"]);
    listing("stopped-queue", &["000012.a1 9.pbs1 queued"]);
    let reason = State::Queued(Some("Not Running: Queue not started.".into()));
    assert_eq!(state(&status::jobs(&situations["stopped-queue"].stdout)[0], true), reason);
    // Under another name a job is known by its tag, and without one it is somebody else's.
    listing("renamed", &["000012.a1 10.pbs1 running"]);
    listing("renamed-other", &[]);
    listing("no-history", &[]);
    listing("unknown", &[]);
}

#[test]
fn what_is_not_taken_is_understood() {
    let situations = situations();
    let said = |name: &str| outcome::of(Ok(situations[name].output()));
    let complaint = "qsub: Queue is not enabled";
    assert_eq!(said("disabled-queue"), Submission::Unavailable(complaint.into()));
    assert!(outcome::is_closed(complaint), "which `tribo check` says at once");
    assert!(matches!(said("full-queue"), Submission::Limited(_)));
    assert!(matches!(said("bad-log"), Submission::Refused(_)));
}
