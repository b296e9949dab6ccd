//! Replays what a real server answered (OpenPBS 23.06) through everything that reads it.
//!
//! `tests/data/pbs-recordings.json` has the commands with exit codes and both streams. `qstat` was recorded as JSON, which
//! tribo does not read; the same attributes are written here as `qstat -f` writes them, lines broken and all, so that
//! states and exit statuses are those of the real server. The text form itself is held by the tests of `status`.

use super::states::state;
use super::{outcome, status};
use crate::runner::command::Output;
use crate::runner::{State, Submission};
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
    let text = include_str!("../../../tests/data/pbs-recordings.json");
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
