//! A study without a fault passes; each fault is found, and nothing else is.

use super::*;
use crate::chaos::evidence::Notes;
use crate::chaos::file::StudyFile;
use std::path::Path;
use tribo::rng::Stream;
use tribo::strategy::Study;
use tribo_study::job::{Answer, JOB_VERSION};
use tribo_study::outputs::Outputs;
use tribo_study::store::format::Format;
use tribo_study::store::record::{Engine, Entry};
use tribo_study::tag::{StudyId, Tag};

fn parse(text: &str) -> Config {
    Config::parse(Path::new("study.toml"), text).unwrap()
}

/// A study that grows record by record, as its driver and its simulator would leave it.
struct Growing {
    config: Config,
    study: Study,
    ledger: Ledger,
    /// Points of earlier chapters.
    given: BTreeMap<u64, serde_json::Map<String, serde_json::Value>>,
    evidence: Evidence,
}

impl Growing {
    fn new(text: String) -> Growing {
        let config = parse(&text);
        let created = Record::Created {
            format: Format::NEWEST,
            study: StudyId::from_bits(5),
            config: text.clone(),
            engine: None,
            tribo: String::new(),
        };
        let entries = numbered(vec![created]);
        let (study, ledger) = (replay::fresh(&config).unwrap(), Ledger::begin(&entries[0]).unwrap());
        let evidence = Evidence { entries, answers: vec![], file: text, notes: Notes::default() };
        Growing { config, study, ledger, given: BTreeMap::new(), evidence }
    }

    fn append(&mut self, record: Record) {
        let entry = Entry { n: self.ledger.next, epoch: 1, ms: 0, record };
        self.ledger.apply(&entry).unwrap();
        self.evidence.entries.push(entry);
    }

    fn ask(&mut self) {
        let asked = self.study.ask(1).unwrap().remove(0);
        let trial = self.study.history().get(asked.id).unwrap().0.clone();
        let id = AttemptId { trial: asked.id.0, attempt: 1 };
        let tag = Tag::new(&self.ledger.study, id).unwrap();
        self.append(Record::Asked { trial, by_hand: false });
        self.append(Record::Intended { id, tag });
        let params = tribo_study::point::to_json(&self.config.space, &asked.point);
        self.given.insert(id.trial, params.clone());
        self.evidence.notes.executions.push((id, params));
    }

    /// Trial 2 fails.
    fn tell(&mut self, trial: u64) {
        let id = AttemptId { trial, attempt: 1 };
        let finding = match objective(&self.given[&trial]).filter(|_| trial != 2) {
            Some(value) => {
                self.evidence.notes.gave.push((id, value));
                let mut finding = Finding::answered(VALUE, value);
                if let Some(load) =
                    load(trial, &self.given[&trial]).filter(|_| !self.config.limits.is_empty())
                {
                    finding.outputs.insert(LOAD, load);
                }
                finding
            }
            None => Finding::failed("failed"),
        };
        self.evidence.answers.push(answer(&self.ledger.study, id, finding.clone()));
        self.append(Record::ended(id, finding.clone()));
        replay::tell(&mut self.study, &self.config, trial, &finding).unwrap();
        self.append(Record::Told { trial, finding });
    }

    fn begin_chapter(&mut self, text: String) {
        self.config = parse(&text);
        let engine = Engine::of(&replay::fresh(&self.config).unwrap());
        self.append(Record::Chapter { config: text.clone(), engine, tribo: String::new() });
        self.study = replay::begin(&self.config, &self.ledger).unwrap().0.study;
        self.evidence.file = text;
    }
}

/// A study of six trials, two of them under way at any time; trial 2 fails.
fn faultless(strategy: &str) -> (Config, Evidence) {
    without_fault(&StudyFile::new(strategy, 6, 2, 11))
}

/// A study of a file, two trials of which are under way at any time.
fn without_fault(file: &StudyFile) -> (Config, Evidence) {
    let mut growing = Growing::new(file.text("\"notes\""));
    let n = file.evaluations as u64;
    for turn in 0..=n {
        if turn < n {
            growing.ask();
        }
        if let Some(trial) = turn.checked_sub(1) {
            growing.tell(trial);
        }
    }
    (growing.config, growing.evidence)
}

/// A study of 36 trials, whose file is changed after every third, with two under way.
fn in_chapters() -> (Config, Evidence) {
    let (mut file, mut stream) = (StudyFile::new("bo", 36, 2, 11), Stream::new(4, "changes", 0));
    let mut growing = Growing::new(file.text("\"notes\""));
    for turn in 0..38_u64 {
        if turn < 36 {
            growing.ask();
        }
        if turn % 3 == 2 && turn < 36 {
            file = file.changed(36, &mut stream);
            file.evaluations = 36;
            growing.begin_chapter(file.text("\"notes\""));
        }
        if let Some(trial) = turn.checked_sub(2) {
            growing.tell(trial);
        }
    }
    (growing.config, growing.evidence)
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
        let expected =
            Tally { chapters: 1, trials: 6, attempts: 6, answers: 5, executions: 6, ..Tally::default() };
        assert_eq!(tally, expected);
    }
}

#[test]
fn a_faultless_study_of_many_chapters_passes() {
    let (config, evidence) = in_chapters();
    let (tally, complaints) = check(&config, &evidence);
    assert_eq!(complaints, Vec::<String>::new());
    let expected =
        Tally { chapters: 13, trials: 36, attempts: 36, answers: 35, executions: 36, ..Tally::default() };
    assert_eq!(tally, expected);
}

#[test]
fn a_chapter_that_knows_a_trial_otherwise_is_found() {
    // Where the simulator had it is not where the chapters have it.
    let (config, mut evidence) = in_chapters();
    evidence.notes.executions[1].1.insert("b".to_owned(), 7.into());
    let (tally, complaints) = check(&config, &evidence);
    assert!(
        tally.misplaced == 1 && complaints.iter().any(|c| c.starts_with("other point: attempt 000001.a1"))
    );
    let known = complaints.iter().filter(|c| c.contains("trial 1 is known as")).count();
    assert!(tally.misknown == known && known > 6, "{complaints:?}");
}

#[test]
fn what_a_new_chapter_forgets_is_found() {
    let (_, evidence) = in_chapters();
    let ledger = ledger(&evidence).unwrap();
    let config = parse(&ledger.config);
    let given = evidence.notes.executions.iter().map(|(id, given)| (id.trial, given)).collect();
    let known = replay::study(&config, &ledger).unwrap();
    assert_eq!(chapters::misknown(&config, &known, &ledger, &given), Vec::<String>::new());
    // A chapter that began with nothing, and one that has a trial still under way.
    let mut nothing = replay::fresh(&config).unwrap();
    let all = chapters::misknown(&config, &nothing, &ledger, &given);
    assert_eq!(all.len(), known.history().len());
    let (first, _) = known.history().measured().next().unwrap();
    nothing.adopt_as(first.id, &known.point(first.id).unwrap()).unwrap();
    let rest = chapters::misknown(&config, &nothing, &ledger, &given);
    let untold = format!("trial {} is known with None", first.id);
    assert!(rest.len() == all.len() && rest.iter().any(|c| c.starts_with(&untold)), "{rest:?}");
}

#[test]
fn trials_are_counted_across_chapters() {
    let (config, mut evidence) = in_chapters();
    let mut n = 0;
    for entry in &mut evidence.entries {
        if let Record::Chapter { config, .. } = &mut entry.record {
            (n, *config) = (n + 1, config.replace("evaluations = 36", "evaluations = 34"));
        }
    }
    evidence.file = evidence.file.replace("evaluations = 36", "evaluations = 34");
    let (_, complaints) = check(&config, &evidence);
    let more = complaints.iter().filter(|c| c.contains("a trial more than the evaluations")).count();
    assert_eq!((n, more, complaints.len()), (12, 2, 2), "{complaints:?}");
    let (config, mut evidence) = faultless("random");
    let more = |text: &str| text.replace("evaluations = 6", "evaluations = 7");
    evidence.file = more(&evidence.file);
    if let Record::Created { config, .. } = &mut evidence.entries[0].record {
        *config = more(config);
    }
    let (_, complaints) = check(&config, &evidence);
    assert!(complaints.len() == 1 && complaints[0].starts_with("6 trials, fewer than"), "{complaints:?}");
}

#[test]
fn a_change_of_the_file_that_is_not_recorded_is_found() {
    let (config, mut evidence) = faultless("random");
    evidence.file.push_str("# more\n");
    let (_, complaints) = check(&config, &evidence);
    assert!(complaints.len() == 1 && complaints[0].contains("is not the last one"), "{complaints:?}");
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
    evidence.notes.gave.retain(|(id, _)| id.trial != 4);
    let (tally, complaints) = check(&config, &evidence);
    assert_eq!((tally.lost, complaints.len()), (2, 2), "{complaints:?}");
    assert!(complaints[0].starts_with("made up: trial 3") && complaints[1].starts_with("made up: trial 4"));
}

#[test]
fn a_value_that_only_the_simulator_knows_of_is_lost() {
    let (config, mut evidence) = faultless("bo");
    evidence.notes.gave.push((AttemptId { trial: 2, attempt: 1 }, 4.0));
    let (tally, complaints) = check(&config, &evidence);
    assert!(tally.lost == 1 && complaints[0].starts_with("lost: trial 2"), "{complaints:?}");
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
    assert!(tally.differing == 1 && complaints[0].starts_with("different: record"), "{complaints:?}");
    // It is at another point too, if only by one bit.
    assert!(
        complaints[1..].iter().all(|c| c.starts_with("other point: attempt 000005.a1")),
        "{complaints:?}"
    );
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
    evidence.notes.gave.iter_mut().filter(|(id, _)| id.trial == 5).for_each(|(_, value)| *value += 1.0);
    let (_, complaints) = check(&config, &evidence);
    assert!(complaints.len() == 1 && complaints[0].starts_with("wrong value: trial 5"), "{complaints:?}");
}

#[test]
fn executions_are_counted_by_attempt() {
    let (config, mut evidence) = faultless("random");
    let params = evidence.notes.executions[1].1.clone();
    for attempt in [1, 2] {
        evidence.notes.executions.push((AttemptId { trial: 1, attempt }, params.clone()));
    }
    let (tally, complaints) = check(&config, &evidence);
    assert_eq!(tally.executed_twice, 2);
    assert!(complaints[0].contains("000001.a1") && complaints[1].contains("without a record"));
}

#[test]
fn loads_of_a_limited_study_belong_to_their_points() {
    // As many that models propose most of them.
    let (config, mut evidence) = without_fault(&StudyFile::new("bo", 16, 2, 11).limited());
    let (tally, complaints) = check(&config, &evidence);
    assert_eq!((tally.trials, complaints), (16, vec![]));
    for entry in &mut evidence.entries {
        if let Record::Told { trial: 12, finding } = &mut entry.record {
            let load = finding.outputs.get(LOAD).unwrap();
            finding.outputs.insert(LOAD, load + 1.0);
        }
    }
    let (_, complaints) = check(&config, &evidence);
    // The last trials are proposed with another load known, so they may differ as well.
    assert!(complaints.iter().any(|what| what.starts_with("wrong load: trial 12")), "{complaints:?}");
}
