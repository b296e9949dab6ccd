//! What must hold of a study that is over, however often its drivers were killed.
//!
//! Pure functions of the evidence. Each complaint says which trial or record is wrong, and how.

mod chapters;

use super::evidence::Evidence;
use super::study::{LOAD, load, objective};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use tribo_study::config::Config;
use tribo_study::job::{Finding, Kind};
use tribo_study::outputs::VALUE;
use tribo_study::replay;
use tribo_study::store::ledger::Ledger;
use tribo_study::store::record::Record;
use tribo_study::tag::AttemptId;

/// What was looked at, and how many complaints of each sort there are. Counts of several studies add up.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// Chapters of the studies, the first one of each included.
    pub chapters: usize,
    /// Trials in the journal.
    pub trials: usize,
    /// Attempts in the journal.
    pub attempts: usize,
    /// Of those, attempts given up although the simulator had begun: their trials are executed again, as attempts of
    /// their own.
    pub executed_and_given_up: usize,
    /// Answers with a value.
    pub answers: usize,
    /// Executions of the simulator.
    pub executions: usize,
    /// Finished results that did not become their trial's value, or values that no result has.
    pub lost: usize,
    /// Trials told more than once.
    pub told_twice: usize,
    /// Trials never told.
    pub untold: usize,
    /// Trials that an uninterrupted replay does not propose.
    pub differing: usize,
    /// Trials that a new chapter did not begin with as it should: with their points and values, or without them.
    pub misknown: usize,
    /// Executions of an attempt that was executed before, or that the journal does not know.
    pub executed_twice: usize,
    /// Executions at another point than that of the trial in the journal.
    pub misplaced: usize,
}

impl Tally {
    /// Adds another study's.
    pub fn add(&mut self, other: &Tally) {
        self.chapters += other.chapters;
        self.trials += other.trials;
        self.attempts += other.attempts;
        self.executed_and_given_up += other.executed_and_given_up;
        self.answers += other.answers;
        self.executions += other.executions;
        self.lost += other.lost;
        self.told_twice += other.told_twice;
        self.untold += other.untold;
        self.differing += other.differing;
        self.misknown += other.misknown;
        self.executed_twice += other.executed_twice;
        self.misplaced += other.misplaced;
    }
}

/// Holds the evidence against what must be true. `config` is the study file as it is at the end.
pub(super) fn check(config: &Config, evidence: &Evidence) -> (Tally, Vec<String>) {
    let outcomes = outcomes(evidence);
    let intended = intended(evidence);
    let executed: BTreeSet<AttemptId> = evidence.notes.executions.iter().map(|(id, _)| *id).collect();
    let lost = lost(evidence, &outcomes);
    let (told_twice, untold) = told(evidence, &outcomes);
    let executed_twice = executed_twice(evidence, &intended);
    let chapters::Found { chapters, mut differing, misknown, budget } = chapters::check(evidence);
    let (misplaced, values) = points(config, evidence, &outcomes);
    let tally = Tally {
        chapters,
        trials: asked(evidence).count(),
        attempts: intended.len(),
        executed_and_given_up: given_up(evidence).intersection(&executed).count(),
        answers: evidence.answers.iter().filter(|answer| answer.finding.kind == Kind::Ok).count(),
        executions: evidence.notes.executions.len(),
        lost: lost.len(),
        told_twice: told_twice.len(),
        untold: untold.len(),
        differing: differing.len(),
        misknown: misknown.len(),
        executed_twice: executed_twice.len(),
        misplaced: misplaced.len(),
    };
    // After the first, all that follow may differ for the same reason.
    differing.truncate(1);
    let complaints =
        [lost, told_twice, untold, differing, misknown, budget, executed_twice, misplaced, values].concat();
    (tally, complaints)
}

type Outcomes<'a> = BTreeMap<u64, Vec<&'a Finding>>;

fn outcomes(evidence: &Evidence) -> Outcomes<'_> {
    let mut outcomes = Outcomes::new();
    for entry in &evidence.entries {
        if let Record::Told { trial, finding } = &entry.record {
            outcomes.entry(*trial).or_default().push(finding);
        }
    }
    outcomes
}

fn asked(evidence: &Evidence) -> impl Iterator<Item = u64> {
    evidence.entries.iter().filter_map(|entry| match &entry.record {
        Record::Asked { trial, .. } => Some(trial.id.0),
        _ => None,
    })
}

fn intended(evidence: &Evidence) -> BTreeSet<AttemptId> {
    let id = |record: &Record| match record {
        Record::Intended { id, .. } => Some(*id),
        _ => None,
    };
    evidence.entries.iter().filter_map(|entry| id(&entry.record)).collect()
}

fn given_up(evidence: &Evidence) -> BTreeSet<AttemptId> {
    let id = |record: &Record| match record {
        Record::Ended { id, finding, .. } => {
            matches!(finding.kind, Kind::Lost | Kind::Infrastructure).then_some(*id)
        }
        _ => None,
    };
    evidence.entries.iter().filter_map(|entry| id(&entry.record)).collect()
}

/// No finished result is lost: a trial whose evaluation gave a value, by its answers or by the simulator's own notes, has
/// that value. And no value is made up: both have it.
fn lost(evidence: &Evidence, outcomes: &Outcomes<'_>) -> Vec<String> {
    let (mut answers, mut noted) = (BTreeMap::<u64, Vec<f64>>::new(), BTreeMap::<u64, Vec<f64>>::new());
    for answer in evidence.answers.iter().filter(|answer| answer.finding.kind == Kind::Ok) {
        answers.entry(answer.id.trial).or_default().extend(answer.finding.value(VALUE));
    }
    for (id, value) in &evidence.notes.gave {
        noted.entry(id.trial).or_default().push(*value);
    }
    let has = |values: &BTreeMap<u64, Vec<f64>>, trial: u64, value: f64| {
        values.get(&trial).is_some_and(|values| values.iter().any(|v| v.to_bits() == value.to_bits()))
    };
    let mut complaints = vec![];
    for trial in answers.keys().chain(noted.keys()).collect::<BTreeSet<_>>() {
        let told = outcomes.get(trial).map_or(&[][..], Vec::as_slice);
        let gave = |value: f64| has(&answers, *trial, value) || has(&noted, *trial, value);
        if !told.iter().any(|finding| finding.value(VALUE).is_some_and(gave)) {
            let (answers, noted) = (answers.get(trial), noted.get(trial));
            complaints.push(format!(
                "lost: trial {trial} has the answers {answers:?}, the simulator gave {noted:?}, and it was told {told:?}"
            ));
        }
    }
    for (trial, told) in outcomes {
        let given = |value: f64| has(&answers, *trial, value) && has(&noted, *trial, value);
        let is_made_up =
            |finding: &&Finding| finding.kind == Kind::Ok && !finding.value(VALUE).is_some_and(given);
        if told.iter().any(is_made_up) {
            complaints.push(format!("made up: trial {trial} was told {told:?}, which nobody gave"));
        }
    }
    complaints
}

/// No result counts twice, and none is missing.
fn told(evidence: &Evidence, outcomes: &Outcomes<'_>) -> (Vec<String>, Vec<String>) {
    let twice = outcomes.iter().filter(|(_, told)| told.len() > 1);
    let twice = twice.map(|(trial, told)| format!("told twice: trial {trial} was told {told:?}"));
    let untold = asked(evidence).filter(|trial| !outcomes.contains_key(trial));
    (twice.collect(), untold.map(|trial| format!("never told: trial {trial}")).collect())
}

/// Every execution is of an attempt that was recorded before, and the only one of it.
fn executed_twice(evidence: &Evidence, intended: &BTreeSet<AttemptId>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let mut complaints = vec![];
    for (id, _) in &evidence.notes.executions {
        if !seen.insert(*id) {
            complaints.push(format!("executed twice: attempt {id}"));
        }
        if !intended.contains(id) {
            complaints.push(format!("executed without a record: attempt {id}"));
        }
    }
    complaints
}

/// The points of all trials are those that the simulator was given, and values and loads belong to their points: those told
/// are the ones that the simulator computes there. Complaints of each.
fn points(config: &Config, evidence: &Evidence, outcomes: &Outcomes<'_>) -> (Vec<String>, Vec<String>) {
    let ledger = ledger(evidence);
    let rebuilt = ledger.and_then(|ledger| match ledger.config == evidence.file {
        true => replay::rebuild(config, &ledger).map_err(|error| error.to_string()),
        false => Err("the study file in it is not the last one".to_owned()),
    });
    let rebuilt = match rebuilt {
        Ok(rebuilt) => rebuilt,
        Err(what) => return (vec![], vec![format!("the journal does not add up: {what}")]),
    };
    let (mut misplaced, mut values) = (vec![], vec![]);
    for (id, given) in &evidence.notes.executions {
        match rebuilt.points().params(id.trial) {
            Ok(params) if params == *given => {}
            params => misplaced
                .push(format!("other point: attempt {id} was given {given:?}, the journal has {params:?}")),
        }
    }
    for (trial, told) in outcomes {
        let Some((finding, value)) = told.first().and_then(|finding| Some((finding, finding.value(VALUE)?)))
        else {
            continue;
        };
        let point = rebuilt.points().params(*trial);
        let expected = point.as_ref().ok().and_then(objective);
        if expected != Some(value) {
            values.push(format!("wrong value: trial {trial} was told {value}, {point:?} gives {expected:?}"));
        }
        let (told, expected) =
            (finding.outputs.get(LOAD), point.as_ref().ok().and_then(|point| load(*trial, point)));
        if !config.limits.is_empty() && told != expected {
            values.push(format!("wrong load: trial {trial} was told {told:?}, {point:?} gives {expected:?}"));
        }
    }
    (misplaced, values)
}

fn ledger(evidence: &Evidence) -> Result<Ledger, String> {
    let (first, rest) = evidence.entries.split_first().ok_or("it is empty")?;
    let mut ledger = Ledger::begin(first)?;
    rest.iter().try_for_each(|entry| ledger.apply(entry))?;
    Ok(ledger)
}

#[cfg(test)]
mod tests;
