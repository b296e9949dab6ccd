//! Studies of earlier versions go on. The journals are real ones, as those versions wrote them: `tools/same-proposals` runs
//! such studies, and what is here are the first records of some.
//!
//! What a journal holds is compared bit for bit, as decoding a point is the same on every machine. So are proposals that
//! no model made. Those of a model are compared on one machine, by that tool: instruction sets round differently.

use crate::support::Folder;
use serde_json::Value;

/// A journal of version 0.1.0, and what the program that wrote it said about it.
struct Journal {
    text: &'static str,
    /// Trials: with a value, failed, infeasible, without an outcome.
    counts: [u64; 4],
    best: f64,
    /// [`digest`] of all points.
    points: u64,
    /// Where it is cut: records that are left, before a trial that was asked.
    cuts: &'static [usize],
}

const JOURNALS: [Journal; 6] = [
    // Six inputs of all types, by hand, 30 results imported before the first trial and 10 in the middle.
    Journal {
        text: include_str!("../data/bo-import-0.1.0.journal"),
        counts: [78, 0, 0, 4],
        best: 2.1448100291708134,
        points: 0x22c5_f713_b088_e83a,
        cuts: &[34, 157],
    },
    // Four inputs, one local worker.
    Journal {
        text: BO_FAILURES,
        counts: [47, 9, 4, 0],
        best: 0.2549979272595973,
        points: BO_FAILURES_POINTS,
        cuts: &[32, 202],
    },
    // Through a random embedding, by hand, 20 at once.
    Journal {
        text: include_str!("../data/paper-10000-0.1.0.journal"),
        counts: [42, 0, 0, 18],
        best: 5.252242128864657,
        points: 0x699d_ed2b_8939_32ea,
        cuts: &[10, 180],
    },
    // Four of 10,000 inputs matter, 20 local workers: scattered probes, then a search over the inputs named.
    Journal {
        text: include_str!("../data/auto-sparse-20-0.1.0.journal"),
        counts: [66, 0, 0, 20],
        best: 0.1550565608290104,
        points: 0x73af_5f38_4057_f303,
        cuts: &[30, 214, 239, 389],
    },
    // Three of 1,000 integers matter, and there are plateaus: groups are halved. By hand, 5 at once.
    Journal {
        text: include_str!("../data/auto-steps-0.1.0.journal"),
        counts: [69, 9, 5, 5],
        best: 1.0,
        points: 0x7946_a8e3_e564_22f3,
        cuts: &[56, 281, 427, 428],
    },
    // 300 inputs and much noise: repeats, then bins. By hand, 20 at once.
    Journal {
        text: include_str!("../data/auto-noisy-20-0.1.0.journal"),
        counts: [131, 12, 6, 18],
        best: 0.1419210224230173,
        points: 0x11aa_8a79_2060_cf9b,
        cuts: &[115, 224, 530, 677, 749],
    },
];

const BO_FAILURES: &str = include_str!("../data/bo-failures-0.1.0.journal");
const BO_FAILURES_POINTS: u64 = 0x3540_ca20_20c1_cd73;

/// 200 inputs that all act alike, searched in bins after the line: bins begin without what was measured before them, and a
/// version that gave it to them refused the trials that were decided on less.
const AFTER_THE_LINE: &str = include_str!("../data/after-the-line-0.1.0.journal");

/// One input, three outputs, of which one is missing in four trials of six. The first journal of format 2.0.
const OUTPUTS: &str = include_str!("../data/outputs-2.0.journal");

#[test]
fn a_study_with_outputs_goes_on() {
    let folder = folder_with(OUTPUTS, usize::MAX);
    folder.write("study.toml", &folder.read("study.toml").replace("evaluations = 6", "evaluations = 8"));
    let rows = folder.tribo(["trials", "--json"]).code(0).json()["trials"].clone();
    let stress: Vec<Option<f64>> =
        rows.as_array().unwrap().iter().map(|row| row["outputs"]["stress"].as_f64()).collect();
    assert_eq!(stress, [None, Some(1.6529214587700958), Some(70.29925011483797), None, None, None]);
    assert_eq!(rows[0]["outputs"], serde_json::json!({ "mass": 0.700756151214624, "time": 3.5 }));
    folder.tribo(["run"]).code(0).says("6 done before");
    assert!(folder.read("study.tribo/journal").starts_with(OUTPUTS), "a journal is only appended to");
    assert_eq!(folder.tribo(["best", "--json"]).json()["best"][0]["outputs"]["time"], 3.5);
}

#[test]
fn a_journal_of_the_first_format_is_raised_for_an_engine_of_today() {
    let folder = folder_with(AFTER_THE_LINE, usize::MAX);
    folder.tribo(["ask"]).code(0).says("chapter 2 begins");
    folder.tribo(["tell", "54", "value=5.5", "time=3"]).code(0);
    let journal = folder.read("study.tribo/journal");
    assert!(journal.starts_with(AFTER_THE_LINE), "a journal is only appended to");
    assert!(journal.contains(r#""type":"raised","version":2"#) && journal.contains(r#""type":"chapter""#));
    assert_eq!(folder.tribo(["trials", "--json"]).code(0).json()["trials"][54]["outputs"]["time"], 3.0);
}

#[test]
fn a_journal_of_a_later_version_is_not_called_damaged() {
    let folder = folder_with(OUTPUTS, usize::MAX);
    let last = OUTPUTS.lines().count();
    let line = |n: usize, rest: &str| {
        let json = format!(r#"{{"n":{n},"epoch":1,"ms":1794895972000,{rest}}}"#);
        format!("{:08x} {} {json}\n", crc32c::crc32c(json.as_bytes()), json.len())
    };
    let later = format!(
        "{OUTPUTS}{}{}",
        line(last, r#""type":"raised","version":2,"minor":7,"tribo":"9.0.0""#),
        line(last + 1, r#""type":"dreamt","of":"sheep""#)
    );
    folder.write("study.tribo/journal", &later);
    for command in ["trials", "run"] {
        folder
            .tribo([command])
            .code(4)
            .says("written by a newer tribo (format 2.7; this program reads up to 2.5)");
    }
    assert_eq!(folder.read("study.tribo/journal"), later);
}

/// The record in a line.
pub(super) fn record(line: &str) -> Value {
    serde_json::from_str(line.splitn(3, ' ').nth(2).expect("a record")).expect("JSON")
}

/// A folder with the first records of a journal and the study file they tell of.
pub(super) fn folder_with(text: &str, n_records: usize) -> Folder {
    let created = record(text.lines().next().expect("a first line"));
    let folder = Folder::with(created["config"].as_str().expect("a study file"));
    let lines: Vec<&str> = text.split_inclusive('\n').take(n_records).collect();
    folder.write("study.tribo/journal", &lines.concat());
    folder
}

/// The points of all trials, in their order.
pub(super) fn points(folder: &Folder) -> Vec<Value> {
    let rows = folder.tribo(["export", "--format", "jsonl"]).code(0).stdout;
    rows.lines().map(|row| serde_json::from_str::<Value>(row).unwrap()["params"].take()).collect()
}

/// A number that changes with any bit of any input.
pub(super) fn digest(points: &[Value]) -> u64 {
    fn mix(digest: u64, bits: u64) -> u64 {
        (digest.rotate_left(5) ^ bits).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
    fn add(digest: u64, value: &Value) -> u64 {
        match value {
            Value::Object(members) => {
                let mut members: Vec<(&String, &Value)> = members.iter().collect();
                members.sort_by_key(|(name, _)| *name);
                members.into_iter().fold(digest, |digest, (_, value)| add(digest, value))
            }
            Value::Array(elements) => elements.iter().fold(digest, add),
            Value::String(text) => text.bytes().fold(digest, |digest, byte| mix(digest, byte.into())),
            number => mix(digest, number.as_f64().expect("a number").to_bits()),
        }
    }
    points.iter().fold(0, add)
}

#[test]
fn a_journal_is_read_as_by_the_version_that_wrote_it() {
    for journal in &JOURNALS {
        let folder = folder_with(journal.text, usize::MAX);
        let status = folder.tribo(["status", "--json"]).code(0).json();
        let counts = &status["counts"];
        let of = |name: &str| counts[name].as_u64().unwrap_or_else(|| panic!("no {name} in {status}"));
        let open = of("waiting") + of("running");
        assert_eq!([of("measured"), of("failed"), of("infeasible"), open], journal.counts, "{status}");
        let best = folder.tribo(["best", "--json"]).code(0).json();
        assert_eq!(
            best["best"][0]["value"].as_f64().map(f64::to_bits),
            Some(journal.best.to_bits()),
            "{best}"
        );
        assert_eq!(digest(&points(&folder)), journal.points, "{:#x}", digest(&points(&folder)));
    }
}

#[test]
fn a_study_of_200_inputs_is_repaired_and_goes_on() {
    let values = |folder: &Folder| {
        let listed = folder.tribo(["trials", "--json"]).code(0).json();
        let trials = listed["trials"].as_array().unwrap().iter();
        trials.filter(|trial| trial["value"].is_number()).count()
    };
    let folder = folder_with(AFTER_THE_LINE, usize::MAX);
    let before = values(&folder);
    let lines: Vec<&str> = AFTER_THE_LINE.lines().collect();
    for record in (2..lines.len()).step_by(45) {
        let mut damaged = lines.clone();
        damaged[record] = "damaged";
        folder.write("study.tribo/journal", &(damaged.join("\n") + "\n"));
        folder.tribo(["repair"]).code(0).prints("journal.damaged-");
        assert!(values(&folder) + 1 >= before, "record {record}, {}", lines[record]);
        folder.tribo(["ask"]).code(0);
    }
}

#[test]
fn a_journal_that_was_cut_goes_on_in_a_new_chapter() {
    for journal in &JOURNALS {
        let all = points(&folder_with(journal.text, usize::MAX));
        for &n_records in journal.cuts {
            let next = record(journal.text.lines().nth(n_records).expect("a next record"));
            assert_eq!(next["type"], "asked", "{next}");
            let id = next["trial"]["id"].as_u64().expect("an id");
            let folder = folder_with(journal.text, n_records);
            let asked = folder.tribo(["ask"]).code(0).json();
            assert_eq!(asked["trials"][0]["trial"], id, "{next}");
            // And on from there, with this trial told and its successor under way.
            folder.tribo(["tell", &id.to_string(), "0.5"]).code(0);
            let asked = folder.tribo(["ask"]).code(0).json();
            assert_eq!(asked["trials"][0]["trial"], id + 1, "{next}");
            let kept = usize::try_from(id).unwrap();
            assert_eq!(points(&folder)[..kept], all[..kept], "{next}");
        }
    }
}

#[test]
fn a_study_under_way_is_run_to_its_end() {
    // Cut after the last job was submitted, whose process is long gone: it is tried again. It had failed then.
    let submitted = |line: &&str| record(line)["type"] == "submitted";
    let n_records =
        BO_FAILURES.lines().count() - BO_FAILURES.lines().rev().position(|line| submitted(&line)).unwrap();
    let folder = folder_with(BO_FAILURES, n_records);
    folder.write("evaluate.sh", "echo 1\n");
    folder.tribo(["run"]).code(0);
    let status = folder.tribo(["status", "--json"]).json();
    assert_eq!(status["counts"]["measured"], 47 + 21, "{status}");
    let points = points(&folder);
    assert_eq!((points.len(), digest(&points[..60])), (80, BO_FAILURES_POINTS));
}

#[test]
fn a_study_in_bins_after_the_line_goes_on() {
    let folder = folder_with(AFTER_THE_LINE, usize::MAX);
    // What its engine had found out is not made up again by another version.
    folder.tribo(["inputs"]).code(0).prints("none of 200 is named so far");
    let asked = folder.tribo(["ask"]).code(0).json();
    assert_eq!(asked["trials"][0]["trial"], 54, "{asked}");
}
