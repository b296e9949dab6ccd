//! A study without a fault passes; each fault is found, and nothing else is.

use super::*;
use crate::chaos::study::Bed;
use tribo_study::job::{Answer, JOB_VERSION};
use tribo_study::outputs::Outputs;
use tribo_study::store::format::Format;
use tribo_study::store::record::Entry;
use tribo_study::tag::{StudyId, Tag};

/// A study of six trials, two of them under way at any time; trial 2 fails.
fn faultless(strategy: &str) -> (Config, Evidence) {
    let config = Bed::new(strategy, 6, 2, 11).unwrap().config;
    let study_id = StudyId::from_bits(5);
    let mut study = replay::fresh(&config).unwrap();
    let created = Record::Created {
        format: Format::NEWEST,
        study: study_id.clone(),
        config: String::new(),
        engine: None,
        tribo: String::new(),
    };
    let (mut records, mut answers, mut executions) = (vec![created], vec![], vec![]);
    for turn in 0..7_u64 {
        if turn < 6 {
            study.ask(1).unwrap();
            let trial = study.history().get(TrialId(turn)).unwrap().0.clone();
            let id = AttemptId { trial: turn, attempt: 1 };
            let tag = Tag::new(&study_id, id).unwrap();
            records.extend([Record::Asked { trial, by_hand: false }, Record::Intended { id, tag }]);
            executions.push(id);
        }
        let Some(trial) = turn.checked_sub(1) else { continue };
        let id = AttemptId { trial, attempt: 1 };
        let point = point::to_json(&config.space, &study.point(TrialId(trial)).unwrap());
        let finding = match objective(&point).filter(|_| trial != 2) {
            Some(value) => Finding::answered(VALUE, value),
            None => Finding::failed("failed"),
        };
        answers.push(answer(&study_id, id, finding.clone()));
        records.push(Record::ended(id, finding.clone()));
        replay::tell(&mut study, VALUE, trial, &finding).unwrap();
        records.push(Record::Told { trial, finding });
    }
    (config, Evidence { entries: numbered(records), answers, executions })
}

fn answer(study: &StudyId, id: AttemptId, finding: Finding) -> Answer {
    Answer {
        version: JOB_VERSION,
        id,
        tag: Tag::new(study, id).unwrap(),
        incarnation: 0,
        params_digest: String::new(),
        finding,
        exit_code: None,
        signal: None,
        stderr_tail: String::new(),
        started: String::new(),
        wall_s: 0.0,
        cpu_s: 0.0,
        max_rss: 0,
        host: String::new(),
    }
}

fn numbered(records: Vec<Record>) -> Vec<Entry> {
    let entry = |(n, record)| Entry { n: n as u64, epoch: 1, ms: 0, record };
    records.into_iter().enumerate().map(entry).collect()
}

/// The complaints after a change to the records.
fn after(change: impl Fn(&mut Vec<Record>)) -> (Tally, Vec<String>) {
    let (config, mut evidence) = faultless("bo");
    let mut records = evidence.entries.into_iter().map(|entry| entry.record).collect();
    change(&mut records);
    evidence.entries = numbered(records);
    check(&config, &evidence)
}

fn told(records: &[Record], trial: u64) -> usize {
    records.iter().position(|r| matches!(r, Record::Told { trial: found, .. } if *found == trial)).unwrap()
}

#[test]
fn a_faultless_study_passes() {
    for strategy in ["bo", "random"] {
        let (config, evidence) = faultless(strategy);
        let (tally, complaints) = check(&config, &evidence);
        assert_eq!(complaints, Vec::<String>::new(), "{strategy}");
        let expected = Tally { trials: 6, attempts: 6, answers: 5, executions: 6, ..Tally::default() };
        assert_eq!(tally, expected);
    }
}

#[test]
fn a_result_that_is_not_told_is_lost() {
    let (tally, complaints) = after(|records| {
        let place = told(records, 5);
        records[place] = Record::Told { trial: 5, finding: Finding::failed("gone") };
    });
    assert_eq!((tally.lost, complaints.len()), (1, 1), "{complaints:?}");
    let (tally, _) = after(|records| {
        records.remove(told(records, 5));
    });
    assert_eq!((tally.lost, tally.untold), (1, 1));
}

#[test]
fn a_value_that_nobody_gave_is_made_up() {
    let (config, mut evidence) = faultless("bo");
    evidence.answers.retain(|answer| answer.id.trial != 3);
    let (tally, complaints) = check(&config, &evidence);
    assert!(tally.lost == 1 && complaints[0].starts_with("made up: trial 3"), "{complaints:?}");
}

#[test]
fn a_result_that_counts_twice_is_found() {
    let (tally, complaints) = after(|records| records.push(records[told(records, 4)].clone()));
    assert_eq!(tally.told_twice, 1);
    assert!(complaints.iter().any(|c| c.starts_with("told twice: trial 4")), "{complaints:?}");
}

#[test]
fn a_proposal_off_by_one_bit_is_found() {
    let (tally, complaints) = after(|records| {
        for record in records {
            if let Record::Asked { trial, .. } = record
                && trial.id.0 == 5
            {
                trial.z[2] = f64::from_bits(trial.z[2].to_bits() ^ 1);
            }
        }
    });
    assert_eq!((tally.differing, complaints.len()), (1, 1), "{complaints:?}");
}

fn one_more(finding: &Finding) -> Outputs {
    Outputs::one(VALUE, finding.value(VALUE).unwrap() + 1.0)
}

#[test]
fn a_value_of_another_trial_is_found() {
    let (config, mut evidence) = faultless("random");
    // Consistently wrong everywhere: only the simulator knows better.
    for entry in &mut evidence.entries {
        if let Record::Told { trial: 5, finding } = &mut entry.record {
            finding.outputs = one_more(finding);
        }
    }
    for answer in evidence.answers.iter_mut().filter(|answer| answer.id.trial == 5) {
        answer.finding.outputs = one_more(&answer.finding);
    }
    let (_, complaints) = check(&config, &evidence);
    assert!(complaints.len() == 1 && complaints[0].starts_with("wrong value: trial 5"), "{complaints:?}");
}

#[test]
fn executions_are_counted_by_attempt() {
    let (config, mut evidence) = faultless("random");
    evidence.executions.push(AttemptId { trial: 1, attempt: 1 });
    evidence.executions.push(AttemptId { trial: 1, attempt: 2 });
    let (tally, complaints) = check(&config, &evidence);
    assert_eq!(tally.executed_twice, 2);
    assert!(complaints[0].contains("000001.a1") && complaints[1].contains("without a record"));
}
