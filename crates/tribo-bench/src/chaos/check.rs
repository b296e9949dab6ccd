//! What must hold of a study that is over, however often its drivers were killed.
//!
//! Pure functions of the evidence. Each complaint says which trial or record is wrong, and how.

use super::evidence::Evidence;
use super::study::objective;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use tribo::trial::TrialId;
use tribo_study::config::Config;
use tribo_study::job::{Finding, Kind};
use tribo_study::outputs::VALUE;
use tribo_study::store::ledger::Ledger;
use tribo_study::store::record::Record;
use tribo_study::tag::AttemptId;
use tribo_study::{point, replay};

/// What was looked at, and how many complaints of each sort there are. Counts of several studies add up.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
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
    /// Executions of an attempt that was executed before, or that the journal does not know.
    pub executed_twice: usize,
}

impl Tally {
    /// Adds another study's.
    pub fn add(&mut self, other: &Tally) {
        self.trials += other.trials;
        self.attempts += other.attempts;
        self.executed_and_given_up += other.executed_and_given_up;
        self.answers += other.answers;
        self.executions += other.executions;
        self.lost += other.lost;
        self.told_twice += other.told_twice;
        self.untold += other.untold;
        self.differing += other.differing;
        self.executed_twice += other.executed_twice;
    }
}

/// Holds the evidence against what must be true.
pub(super) fn check(config: &Config, evidence: &Evidence) -> (Tally, Vec<String>) {
    let outcomes = outcomes(evidence);
    let intended = intended(evidence);
    let executed: BTreeSet<AttemptId> = evidence.executions.iter().copied().collect();
    let lost = lost(evidence, &outcomes);
    let (told_twice, untold) = told(evidence, &outcomes);
    let executed_twice = executed_twice(evidence, &intended);
    let mut differing = proposals(config, evidence);
    let tally = Tally {
        trials: asked(evidence).count(),
        attempts: intended.len(),
        executed_and_given_up: given_up(evidence).intersection(&executed).count(),
        answers: evidence.answers.iter().filter(|answer| answer.finding.kind == Kind::Ok).count(),
        executions: evidence.executions.len(),
        lost: lost.len(),
        told_twice: told_twice.len(),
        untold: untold.len(),
        differing: differing.len(),
        executed_twice: executed_twice.len(),
    };
    // After the first, all that follow may differ for the same reason.
    differing.truncate(1);
    let mut complaints = [lost, told_twice, untold, differing, executed_twice].concat();
    complaints.extend(values(config, evidence, &outcomes));
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

/// No finished result is lost: a trial that has answers with a value has one of those values. And no value is made up.
fn lost(evidence: &Evidence, outcomes: &Outcomes<'_>) -> Vec<String> {
    let mut answers: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    for answer in evidence.answers.iter().filter(|answer| answer.finding.kind == Kind::Ok) {
        answers.entry(answer.id.trial).or_default().extend(answer.finding.value(VALUE));
    }
    let mut complaints = vec![];
    for (trial, values) in &answers {
        let told = outcomes.get(trial).map_or(&[][..], Vec::as_slice);
        let among = |value: f64| values.iter().any(|v| v.to_bits() == value.to_bits());
        if !told.iter().any(|finding| finding.value(VALUE).is_some_and(among)) {
            complaints.push(format!("lost: trial {trial} has the answers {values:?} and was told {told:?}"));
        }
    }
    for (trial, told) in outcomes {
        if !answers.contains_key(trial) && told.iter().any(|finding| finding.kind == Kind::Ok) {
            complaints
                .push(format!("made up: trial {trial} was told {told:?} and has no answer with a value"));
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
    for id in &evidence.executions {
        if !seen.insert(*id) {
            complaints.push(format!("executed twice: attempt {id}"));
        }
        if !intended.contains(id) {
            complaints.push(format!("executed without a record: attempt {id}"));
        }
    }
    complaints
}

/// Proposals are those of a study that was asked and told the same, in the same order, without interruption.
fn proposals(config: &Config, evidence: &Evidence) -> Vec<String> {
    let mut study = match replay::fresh(config) {
        Ok(study) => study,
        Err(error) => return vec![format!("the study cannot be made again: {error}")],
    };
    let mut complaints = vec![];
    for entry in &evidence.entries {
        match &entry.record {
            Record::Asked { trial, .. } => match study.ask(1).as_deref() {
                Ok([again]) => match study.history().get(again.id) {
                    Some((again, _)) if again == trial => {}
                    again => complaints.push(format!(
                        "different: record {} has {trial:?}, an uninterrupted replay {again:?}",
                        entry.n
                    )),
                },
                other => {
                    complaints
                        .push(format!("record {}: an uninterrupted replay proposes {other:?}", entry.n));
                    break;
                }
            },
            Record::Told { trial, finding } => {
                if let Err(error) = replay::tell(&mut study, VALUE, *trial, finding) {
                    complaints
                        .push(format!("record {}: an uninterrupted replay refuses it: {error}", entry.n));
                    break;
                }
            }
            _ => {}
        }
    }
    complaints
}

/// Values belong to their points: the one told is the one that the simulator computes there.
fn values(config: &Config, evidence: &Evidence, outcomes: &Outcomes<'_>) -> Vec<String> {
    let study = ledger(evidence).and_then(|ledger| replay::study(config, &ledger).map_err(|e| e.to_string()));
    let study = match study {
        Ok(study) => study,
        Err(what) => return vec![format!("the journal does not add up: {what}")],
    };
    let mut complaints = vec![];
    for (trial, told) in outcomes {
        let Some(value) = told.first().and_then(|finding| finding.value(VALUE)) else { continue };
        let point = study.point(TrialId(*trial)).map(|point| point::to_json(&config.space, &point));
        let expected = point.as_ref().ok().and_then(objective);
        if expected != Some(value) {
            complaints
                .push(format!("wrong value: trial {trial} was told {value}, {point:?} gives {expected:?}"));
        }
    }
    complaints
}

fn ledger(evidence: &Evidence) -> Result<Ledger, String> {
    let (first, rest) = evidence.entries.split_first().ok_or("it is empty")?;
    let mut ledger = Ledger::begin(first)?;
    rest.iter().try_for_each(|entry| ledger.apply(entry))?;
    Ok(ledger)
}

#[cfg(test)]
mod tests;
