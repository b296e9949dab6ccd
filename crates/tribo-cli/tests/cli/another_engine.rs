//! A chapter that an engine of another version has proposed is read from its records, never by the engine of this program.
//!
//! The journals are real ones, of versions 2, 3 and 5 of `auto`, 2 to 4 of `bo`, and 2 of `limits`. Here they are of a version
//! with another start: one trial of it was never asked. An engine that runs such a journal again finds trials that it would not
//! have asked.

use super::earlier::{folder_with, points, record};
use crate::support::Folder;
use serde_json::{Value, json};

/// A journal, its best value, and its trials with a value, by the program that wrote it.
struct Journal {
    text: &'static str,
    best: f64,
    measured: u64,
    /// What `tribo inputs` says of it, without the engine.
    inputs: &'static str,
    /// What an evaluation may give.
    answer: &'static [&'static str],
}

const JOURNALS: [Journal; 11] = [
    // A walk among discs, 60 inputs: all act alike, the line was searched, moves keep the sum.
    Journal {
        text: include_str!("../data/line-engine-2.journal"),
        best: 11.443673769886043,
        measured: 42,
        inputs: "none of 60",
        answer: &["0.5"],
    },
    // Three of 200 inputs matter and were named, one evaluation of nine fails, three at once.
    Journal {
        text: include_str!("../data/named-engine-2.journal"),
        best: 0.03169634156400768,
        measured: 39,
        inputs: "of 200",
        answer: &["0.5"],
    },
    // Three of 200 matter, with much noise: large steps from a repeated point, four at once.
    Journal {
        text: include_str!("../data/noisy-engine-2.journal"),
        best: 0.8032014306513039,
        measured: 52,
        inputs: "of 200",
        answer: &["0.5"],
    },
    // All of 200 inputs matter: bins, four at once.
    Journal {
        text: include_str!("../data/dense-engine-2.journal"),
        best: 27.412455139919334,
        measured: 52,
        inputs: "of 200",
        answer: &["0.5"],
    },
    // Three inputs, `bo`, one evaluation of seven fails, two at once.
    Journal {
        text: include_str!("../data/bo-engine-2.journal"),
        best: 0.0033035782222536536,
        measured: 21,
        inputs: "input",
        answer: &["0.5"],
    },
    // Two inputs under two limits, one evaluation of nine fails, one output is lacking in one of seven, two at once.
    Journal {
        text: include_str!("../data/limits-engine-2.journal"),
        best: 0.9369333999808209,
        measured: 20,
        inputs: "input",
        answer: &["mass=0.95", "stress=1.5", "lift=0.9"],
    },
    // Three inputs under two limits, one evaluation of thirteen fails, one output is lacking in one of eleven, one at a time.
    Journal {
        text: include_str!("../data/limits-engine-4.journal"),
        best: 0.925814001873936,
        measured: 30,
        inputs: "input",
        answer: &["mass=0.95", "stress=1.5", "lift=0.9"],
    },
    // Three of 100 inputs matter, were named and are searched.
    Journal {
        text: include_str!("../data/named-engine-3.journal"),
        best: 9.152923620631304e-08,
        measured: 66,
        inputs: "of 100",
        answer: &["0.5"],
    },
    // Nine of 100 inputs matter, were named by codes and halves, and are searched.
    Journal {
        text: include_str!("../data/named-engine-5.journal"),
        best: 4.030302113877853e-05,
        measured: 72,
        inputs: "of 100",
        answer: &["0.5"],
    },
    // Two inputs, `bo`, one evaluation of eleven fails, five at once.
    Journal {
        text: include_str!("../data/bo-engine-3.journal"),
        best: -0.09806950761055874,
        measured: 44,
        inputs: "input",
        answer: &["0.5"],
    },
    // Three inputs with ripples, `bo`, one evaluation of seven fails, three at once.
    Journal {
        text: include_str!("../data/bo-engine-4.journal"),
        best: -0.09456737029802594,
        measured: 38,
        inputs: "input",
        answer: &["0.5"],
    },
];

/// The trial that the other version did not ask: a row of the start, from which nothing was moved.
const UNASKED: u64 = 5;

/// A journal as a version with another start would have written it.
fn of_another(text: &str) -> String {
    let records = text
        .lines()
        .map(record)
        .filter(|record| record["trial"]["id"] != UNASKED && record["trial"] != UNASKED);
    let write = |(n, mut record): (usize, Value)| {
        record["n"] = json!(n);
        if record["type"] == "created" {
            assert!(record["engine"]["version"].as_u64().is_some_and(|version| version < 1_000));
            record["engine"]["version"] = json!(1_000);
        }
        let json = record.to_string();
        format!("{:08x} {} {json}\n", crc32c::crc32c(json.as_bytes()), json.len())
    };
    records.enumerate().map(write).collect()
}

/// The points of a real journal, but for the trial that was not asked.
fn expected(text: &str) -> Vec<Value> {
    let mut points = points(&folder_with(text, usize::MAX));
    points.remove(usize::try_from(UNASKED).unwrap());
    points
}

fn n_measured(folder: &Folder) -> Option<u64> {
    folder.tribo(["status", "--json"]).code(0).json()["counts"]["measured"].as_u64()
}

#[test]
fn it_is_read_by_every_command() {
    for journal in &JOURNALS {
        let text = of_another(journal.text);
        let folder = folder_with(&text, usize::MAX);
        let expected = expected(journal.text);
        assert_eq!(points(&folder), expected);
        let was_measured = u64::from(record_of(journal.text, UNASKED)["outcome"] == "measured");
        assert_eq!(n_measured(&folder), Some(journal.measured - was_measured));
        let best = folder.tribo(["best", "--json"]).code(0).json();
        assert_eq!(best["best"][0]["value"], journal.best, "{best}");
        let trials = folder.tribo(["trials", "--json"]).code(0).json();
        assert_eq!(trials["trials"].as_array().map(Vec::len), Some(expected.len()));
        folder.tribo(["inputs"]).code(0).prints(journal.inputs);
        folder.tribo(["trials", "7"]).code(0);
        folder.tribo(["why", "7"]).code(0);
        folder.tribo(["report", "--output", "page.html"]).code(0);
        assert_eq!(folder.read("study.tribo/journal"), text, "nobody wrote");
    }
}

#[test]
fn it_goes_on_in_a_new_chapter_that_knows_all_results() {
    for journal in &JOURNALS {
        let text = of_another(journal.text);
        let folder = folder_with(&text, usize::MAX);
        let (expected, before) = (expected(journal.text), n_measured(&folder));
        let next = expected.len() as u64 + 1;
        let asked = folder
            .tribo(["ask", "-n", "2"])
            .code(0)
            .says("chapter 2 begins (this program proposes by version")
            .says(&format!("{} results known to it", before.unwrap()))
            .json();
        assert_eq!(asked["trials"][1]["trial"], next + 1, "{asked}");
        let next = next.to_string();
        folder.tribo(["tell", &next].iter().chain(journal.answer)).code(0);
        folder.tribo(["ask"]).code(0);
        assert!(folder.read("study.tribo/journal").starts_with(&text), "a journal is only appended to");
        assert_eq!(points(&folder)[..expected.len()], expected);
        assert_eq!(n_measured(&folder), before.map(|before| before + 1));
    }
}

#[test]
fn a_study_of_an_earlier_version_goes_on_as_it_was_written() {
    for journal in &JOURNALS {
        let folder = folder_with(journal.text, usize::MAX);
        let before = n_measured(&folder);
        let asked =
            folder.tribo(["ask"]).code(0).says("chapter 2 begins (this program proposes by version").json();
        let next = asked["trials"][0]["trial"].to_string();
        folder.tribo(["tell", &next].iter().chain(journal.answer)).code(0);
        assert_eq!(n_measured(&folder), before.map(|before| before + 1));
        assert!(
            folder.read("study.tribo/journal").starts_with(journal.text),
            "a journal is only appended to"
        );
    }
}

#[test]
fn it_is_repaired() {
    for journal in &JOURNALS {
        let text = of_another(journal.text);
        let expected = expected(journal.text);
        let folder = folder_with(&text, usize::MAX);
        let before = n_measured(&folder).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        // An outcome in the middle, an asked trial near the end, the tail.
        let of_type = |name: &str, from: usize| {
            (from..lines.len()).find(|at| record(lines[*at])["type"] == name).expect("a record")
        };
        for (hit, lost) in [(of_type("told", 60), 1), (of_type("asked", lines.len() - 20), 1)] {
            let mut damaged = lines.clone();
            damaged[hit] = "damaged";
            folder.write("study.tribo/journal", &(damaged.join("\n") + "\n"));
            folder.tribo(["repair"]).code(0).prints("journal.damaged-");
            assert!(n_measured(&folder).unwrap() + lost >= before, "record {}", lines[hit]);
            let (now, asked) = (points(&folder), record(lines[hit])["trial"]["id"].as_u64());
            // Trial numbers have a gap where one was not asked.
            let place = asked.map(|id| usize::try_from(id).unwrap() - 1);
            let differ: Vec<usize> = (0..expected.len()).filter(|&at| now[at] != expected[at]).collect();
            assert!(differ.iter().all(|at| Some(*at) == place), "{differ:?}, {}", lines[hit]);
            folder.tribo(["ask"]).code(0).says("chapter 2 begins");
        }
    }
}

/// What was told of a trial.
fn record_of(text: &str, trial: u64) -> Value {
    let told = |record: &Value| record["type"] == "told" && record["trial"] == trial;
    text.lines().map(record).find(told).expect("an outcome")
}
