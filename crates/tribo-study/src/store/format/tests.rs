//! Every record in its bytes, in both formats, and what a newer program may have written.

use super::*;
use tribo::trial::{Decision, Ended, Fit, Moves, Purpose, Recipe, RoundStart, Trial, TrialId};

/// A line of each kind of record, as version 0.1.0 wrote it.
const FIRST: &str = include_str!("../../../tests/data/records-1.0.jsonl");
/// What format 2.5 added.
const ASTRAY: &str = include_str!("../../../tests/data/records-2.5.jsonl");
/// What format 2.4 added.
const PAIRS: &str = include_str!("../../../tests/data/records-2.4.jsonl");
/// What format 2.3 added.
const RECALLED: &str = include_str!("../../../tests/data/records-2.3.jsonl");
/// What format 2.2 added.
const BESIDE: &str = include_str!("../../../tests/data/records-2.2.jsonl");
/// What format 2.1 added.
const REVISED: &str = include_str!("../../../tests/data/records-2.1.jsonl");
/// What format 2.0 added.
const OUTPUTS: &str = include_str!("../../../tests/data/records-2.0.jsonl");

fn trial(recipe: Option<Recipe>, decision: Option<Decision>) -> Trial {
    Trial {
        id: TrialId(3),
        embedding: 1,
        z: vec![0.1, -1e-300],
        purpose: Purpose::Explore,
        recipe: recipe.map(Box::new),
        decision: decision.map(Box::new),
    }
}

fn finding(kind: Kind, outputs: &[(&str, f64)], reason: &str) -> Finding {
    let outputs = outputs.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
    Finding { kind, outputs, reason: reason.to_owned() }
}

/// One record of each kind, with what format 1.0 has.
fn first_records() -> Vec<Record> {
    let id = AttemptId { trial: 3, attempt: 2 };
    let study = StudyId::from_bits(9);
    let tag = Tag::new(&study, id).unwrap();
    let serde_json::Value::Object(point) = serde_json::json!({"x": 0.5, "kind": "steel"}) else { panic!() };
    let text = |text: &str| text.to_owned();
    let ended = |finding, wall_s, host: &str| Record::Ended { id, finding, wall_s, host: text(host) };
    let told = |finding| Record::Told { trial: 3, finding };
    let fit = Fit {
        hyper: vec![0.25, 2.0],
        noisy: true,
        shift: 0.5,
        scale: 3.0,
        log: Some([1.0, 2.0]),
        middle: 4.0,
        spacing: 0.0,
        chosen_at: Some(vec![0.5]),
        metric: Some(vec![1.0, 0.0]),
        results: None,
    };
    let decision = |ended| Decision {
        results: 4,
        fit: Some(fit.clone()),
        ended,
        fell_back: Some(text("why")),
        nominees: None,
    };
    let base = TrialId(1);
    let recipes = [
        Recipe::Centre,
        Recipe::Low,
        Recipe::High,
        Recipe::Latin { batch: 1, count: 2, row: 0 },
        Recipe::Uniform,
        Recipe::Jitter { base, balanced: true },
        Recipe::Scatter { base, step: 0.5 },
        Recipe::Move { round: 1, began: None, parts: vec![(0, 2), (5, 7)], chunk: Some(3), step: 0.25 },
        Recipe::Set { base, inputs: vec![2, 4] },
        Recipe::Others { base, kept: vec![1] },
        Recipe::Line { base, shift: -0.125 },
        Recipe::Bins { base, number: 2 },
    ];
    let purposes = [Purpose::Initial, Purpose::Exploit, Purpose::Added, Purpose::Probe];
    let mut records = vec![
        Record::Created {
            format: Format::FIRST,
            study,
            config: text("a = \"b\"\nc"),
            engine: None,
            tribo: text("0.1.0"),
        },
        Record::Opened { host: text("here"), pid: 7, tribo: text("0.1.0") },
        Record::Configured { config: text("c") },
        Record::Asked { trial: trial(None, None), by_hand: true },
        Record::Asked { trial: trial(None, Some(decision(Some(Ended::AtOptimum)))), by_hand: false },
        Record::Asked { trial: trial(None, Some(decision(Some(Ended::AtKnownOptimum)))), by_hand: false },
        Record::Imported { trial: 4, point: (&point).into(), outputs: Outputs::one(VALUE, 0.1 + 0.2) },
        Record::Intended { id, tag },
        Record::Submitted { id, job: text("12") },
        ended(finding(Kind::Ok, &[(VALUE, 1e300)], ""), Some(2.5), "node"),
        ended(finding(Kind::Lost, &[], "gone"), None, ""),
        told(finding(Kind::Ok, &[(VALUE, -0.25)], "")),
        told(finding(Kind::Failed, &[], "exit code 1")),
        told(finding(Kind::Infeasible, &[], "")),
        told(finding(Kind::Invalid, &[], "nan")),
        Record::Closed { why: text("evaluations") },
    ];
    records.extend(recipes.map(|recipe| Record::Asked { trial: trial(Some(recipe), None), by_hand: false }));
    records.extend(
        purposes
            .map(|purpose| Record::Asked { trial: Trial { purpose, ..trial(None, None) }, by_hand: false }),
    );
    records
}

fn later_records() -> Vec<Record> {
    let id = AttemptId { trial: 3, attempt: 2 };
    let (some, lacking) = ([("mass", 1.5), ("stress", 180.0)], [("stress", 180.0)]);
    let ended = |finding| Record::Ended { id, finding, wall_s: None, host: String::new() };
    let told = |finding| Record::Told { trial: 3, finding };
    let engine = |version| Engine { name: "auto".to_owned(), version };
    let start = RoundStart { base: TrialId(1), moves: Moves::SumKept, named: vec![3] };
    let began = Some(Box::new(start));
    let moved = Recipe::Move { round: 1, began, parts: vec![(0, 2)], chunk: None, step: 0.25 };
    let (study, config, tribo) = (StudyId::from_bits(9), "c".to_owned(), "0.2.0".to_owned());
    vec![
        Record::Created {
            format: Format::OUTPUTS,
            study,
            config: config.clone(),
            engine: Some(engine(1)),
            tribo: tribo.clone(),
        },
        Record::Raised { format: Format::OUTPUTS, tribo: tribo.clone() },
        // Programs of the first format overlook where a round began.
        Record::Asked { trial: trial(Some(moved), None), by_hand: false },
        Record::Chapter { config, engine: engine(2), tribo },
        Record::Asked { trial: trial(Some(Recipe::Given), None), by_hand: true },
        ended(finding(Kind::Ok, &some, "")),
        ended(finding(Kind::Invalid, &lacking, "no `mass`")),
        told(finding(Kind::Ok, &[("mass", 1.5), (VALUE, 2.0)], "")),
        told(finding(Kind::Invalid, &lacking, "no `mass`")),
        told(finding(Kind::Failed, &lacking, "failed: why")),
        told(finding(Kind::Infeasible, &lacking, "")),
        Record::Imported {
            trial: 5,
            point: (&serde_json::Map::new()).into(),
            outputs: finding(Kind::Ok, &some, "").outputs,
        },
    ]
}

fn entries(records: Vec<Record>) -> Vec<Entry> {
    let number = |(n, record)| Entry { n: n as u64, epoch: 2, ms: 5, record };
    records.into_iter().enumerate().map(number).collect()
}

#[track_caller]
fn are_these_bytes(records: Vec<Record>, golden: &str) {
    let lines: Vec<&str> = golden.lines().collect();
    assert_eq!(lines.len(), records.len());
    for (entry, line) in entries(records).iter().zip(lines) {
        assert_eq!(String::from_utf8(encode(entry).unwrap()).unwrap(), line);
        assert_eq!(decode(line.as_bytes(), Some(Format::FIRST)).unwrap(), *entry);
    }
}

#[test]
fn records_of_the_first_format_keep_their_bytes() {
    are_these_bytes(first_records(), FIRST);
    assert!(first_records().iter().all(|record| needed(record) == Format::FIRST));
}

#[test]
fn records_with_outputs_keep_their_bytes_and_need_the_second_format() {
    are_these_bytes(later_records(), OUTPUTS);
    assert!(later_records()[3..].iter().all(|record| needed(record) == Format::OUTPUTS));
}

#[test]
fn records_of_what_was_revised_keep_their_bytes_and_need_a_newer_format() {
    let records = vec![
        Record::Told { trial: 3, finding: finding(Kind::Lost, &[], "transient: no licence") },
        Record::Told { trial: 3, finding: finding(Kind::Lost, &[("stress", 180.0)], "lost: why") },
        Record::Replaced { trial: 3, finding: finding(Kind::Ok, &[("mass", 1.5), (VALUE, 2.0)], "") },
        Record::Replaced { trial: 3, finding: finding(Kind::Invalid, &[], "nan") },
        Record::Replaced { trial: 3, finding: finding(Kind::Failed, &[], "failed: why") },
        Record::Reopened { trial: 3 },
    ];
    assert!(records.iter().all(|record| needed(record) == Format::REVISED));
    are_these_bytes(records, REVISED);
}

#[test]
fn a_fit_made_beside_keeps_its_bytes_and_needs_a_newer_format() {
    let with_fit = first_records().into_iter().find_map(|record| match record {
        Record::Asked { trial: Trial { decision: Some(decision), .. }, .. } => Some(*decision),
        _ => None,
    });
    let mut decision = with_fit.unwrap();
    decision.fit.iter_mut().for_each(|fit| fit.results = Some(3));
    let record = Record::Asked { trial: trial(None, Some(decision)), by_hand: false };
    assert_eq!(needed(&record), Format::BESIDE);
    are_these_bytes(vec![record], BESIDE);
}

#[test]
fn earlier_results_and_nominees_keep_their_bytes_and_need_a_newer_format() {
    let recalled = Recalled {
        file: "old.parquet".to_owned(),
        rows: 1_000_000,
        inputs: vec!["x[3]".to_owned(), "solver".to_owned()],
        log_chances: vec![-40.5, -21.0],
        explained: 0.75,
        points: vec![vec![0.1.into(), "cg".into()], vec![2.into(), "lu".into()]],
        values: vec![-1.5, 0.1 + 0.2],
        promising: 1,
    };
    let nominees = Some(vec![vec![0.5, 0.25], vec![1.0, 0.0]]);
    let decision = Decision { results: 4, fit: None, ended: None, fell_back: None, nominees };
    let records = vec![
        Record::Recalled(Box::new(recalled)),
        Record::Asked { trial: trial(None, Some(decision)), by_hand: false },
    ];
    assert!(records.iter().all(|record| needed(record) == Format::RECALLED));
    are_these_bytes(records, RECALLED);
}

#[test]
fn moves_of_pairs_keep_their_bytes_and_need_a_newer_format() {
    let asked = |runs, halves| Record::Asked {
        trial: trial(Some(Recipe::Pairs { runs, halves }), None),
        by_hand: false,
    };
    let records = vec![asked(1, false), asked(4, true)];
    assert!(records.iter().all(|record| needed(record) == Format::PAIRS));
    are_these_bytes(records, PAIRS);
}

#[test]
fn a_search_that_went_astray_keeps_its_bytes_and_needs_a_newer_format() {
    let decision =
        Decision { results: 48, fit: None, ended: Some(Ended::Astray), fell_back: None, nominees: None };
    let asked = Record::Asked { trial: trial(None, Some(decision)), by_hand: false };
    assert_eq!(needed(&asked), Format::ASTRAY);
    are_these_bytes(vec![asked], ASTRAY);
}

#[test]
fn order_and_unknown_members_do_not_matter() {
    let json = br#"{"outcome":"measured","new":{"trial":[1]},"value":1,"trial":3,"type":"told","ms":0,"epoch":1,"n":9}"#;
    let told = Record::Told { trial: 3, finding: Finding::answered(VALUE, 1.0) };
    assert_eq!(decode(json, Some(Format::FIRST)).unwrap().record, told);
}

#[test]
fn what_would_not_read_back_is_not_written() {
    let ended = |wall_s| Record::Ended {
        id: AttemptId { trial: 0, attempt: 1 },
        finding: Finding::answered(VALUE, 1.0),
        wall_s,
        host: String::new(),
    };
    let told = Record::Told { trial: 0, finding: Finding::measured(Outputs::new()) };
    for record in [ended(Some(f64::INFINITY)), told] {
        assert!(encode(&entries(vec![record]).remove(0)).is_err());
    }
}

#[test]
fn newer_formats_are_told_from_damage() {
    let newer = |version, minor| Unreadable::Newer(Format { version, minor });
    let unknown = br#"{"n":4,"epoch":1,"ms":0,"type":"chapter","config":"x"}"#;
    assert!(matches!(decode(unknown, Some(Format::NEWEST)), Err(Unreadable::Damaged(_))));
    assert!(matches!(decode(unknown, Some(Format::FIRST)), Err(Unreadable::Damaged(_))));
    let later = Format { minor: 7, ..Format::NEWEST };
    assert_eq!(decode(unknown, Some(later)).unwrap_err(), newer(Format::NEWEST.version, 7));
    // A known record with something unknown in it, too.
    let recipe = br#"{"n":4,"epoch":1,"ms":0,"type":"asked","trial":{"id":1,"embedding":0,"z":[],"purpose":"probe","recipe":"new"}}"#;
    assert!(matches!(decode(recipe, Some(Format::NEWEST)), Err(Unreadable::Damaged(_))));
    assert_eq!(decode(recipe, Some(later)).unwrap_err(), newer(Format::NEWEST.version, 7));
    for json in [
        r#"{"n":0,"epoch":1,"ms":0,"type":"created","version":3,"minor":1,"study":"abc123","config":"x"}"#,
        r#"{"n":0,"epoch":1,"ms":0,"type":"created","version":3,"minor":1,"study":{"id":"new"}}"#,
        r#"{"n":0,"type":"made","version":3,"minor":1}"#,
    ] {
        assert_eq!(decode(json.as_bytes(), None).unwrap_err(), newer(3, 1), "{json}");
    }
    let raised = br#"{"n":9,"epoch":1,"ms":0,"type":"raised","version":3,"who":1}"#;
    assert_eq!(decode(raised, Some(Format::NEWEST)).unwrap_err(), newer(3, 0));
}
