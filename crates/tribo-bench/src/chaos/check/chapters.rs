//! The journal once more from its beginning, chapter by chapter, without interruption.
//!
//! Each chapter is begun as a driver begins it. What it then knows of the trials before is compared with what the simulator
//! itself noted of them, and what it proposes with what the journal has, bit for bit.

use super::Evidence;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::Path;
use tribo::space::{Point, Space};
use tribo::strategy::Study;
use tribo::trial::TrialId;
use tribo_study::config::Config;
use tribo_study::outputs::VALUE;
use tribo_study::store::ledger::{Ledger, TrialState};
use tribo_study::store::record::{Entry, Record};
use tribo_study::{point, replay};

/// What was found: the number of chapters, and complaints.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) chapters: usize,
    /// Of proposals.
    pub(super) differing: Vec<String>,
    /// Of what a chapter begins with.
    pub(super) misknown: Vec<String>,
    /// Of the number of trials.
    pub(super) budget: Vec<String>,
}

/// Goes through the journal.
pub(super) fn check(evidence: &Evidence) -> Found {
    let mut found = Found::default();
    if let Err(what) = go_through(evidence, &mut found) {
        found.differing.push(what);
    }
    found
}

/// The parameters that the simulator was given, by trial.
pub(super) type Given<'a> = BTreeMap<u64, &'a Map<String, Value>>;

fn go_through(evidence: &Evidence, found: &mut Found) -> Result<(), String> {
    let given: Given<'_> = evidence.notes.executions.iter().map(|(id, given)| (id.trial, given)).collect();
    let (first, rest) = evidence.entries.split_first().ok_or("the journal is empty")?;
    let mut ledger = Ledger::begin(first)?;
    let mut config = in_force(&ledger)?;
    let mut study =
        replay::fresh(&config).map_err(|error| format!("the study cannot be made again: {error}"))?;
    found.chapters = 1;
    for entry in rest {
        let at = |what: String| format!("record {}: {what}", entry.n);
        match &entry.record {
            Record::Asked { .. } => found.differing.extend(ask_again(&mut study, entry)?),
            Record::Told { trial, finding } => replay::tell(&mut study, &config, *trial, finding)
                .map_err(|error| at(format!("an uninterrupted replay refuses it: {error}")))?,
            _ => {}
        }
        ledger.apply(entry).map_err(at)?;
        match &entry.record {
            Record::Asked { .. } if config.budget.evaluations.is_some_and(|n| ledger.n_spent() > n) => {
                found.budget.push(at("a trial more than the evaluations that the study has".to_owned()));
            }
            Record::Configured { .. } => config = in_force(&ledger)?,
            Record::Chapter { .. } => {
                config = in_force(&ledger)?;
                let (begun, _) = replay::begin(&config, &ledger)
                    .map_err(|error| at(format!("the chapter cannot be begun again: {error}")))?;
                study = begun.study;
                found.chapters += 1;
                found.misknown.extend(misknown(&config, &study, &ledger, &given).into_iter().map(at));
            }
            _ => {}
        }
    }
    if config.budget.evaluations.is_some_and(|n| ledger.n_spent() < n) {
        found
            .budget
            .push(format!("{} trials, fewer than the evaluations that the study has", ledger.n_spent()));
    }
    Ok(())
}

fn in_force(ledger: &Ledger) -> Result<Config, String> {
    let config = Config::parse(Path::new("study.toml"), &ledger.config);
    config.map_err(|error| format!("record {}: the study file cannot be read: {error}", ledger.next - 1))
}

/// Asks for the trial of a record; a complaint if it is another. An error if there is none.
fn ask_again(study: &mut Study, entry: &Entry) -> Result<Option<String>, String> {
    let Record::Asked { trial, .. } = &entry.record else { return Ok(None) };
    let n = entry.n;
    match study.ask(1).as_deref() {
        Ok([again]) => Ok(match study.history().get(again.id) {
            Some((again, _)) if again == trial => None,
            again => Some(format!("different: record {n} has {trial:?}, an uninterrupted replay {again:?}")),
        }),
        other => Err(format!("record {n}: an uninterrupted replay proposes {other:?}")),
    }
}

/// A chapter begins with all trials before that are in its space, where the simulator had them, and with no others.
pub(super) fn misknown(config: &Config, study: &Study, ledger: &Ledger, given: &Given<'_>) -> Vec<String> {
    let mut complaints = vec![];
    for (id, state) in ledger.trials() {
        // A trial that was never executed has no value either, and is complained of for that.
        let Some(given) = given.get(&id) else { continue };
        let here = |name: &str| given.get(name).or_else(|| config.earlier.get(name)).cloned();
        let named = |name: &str| Some((name.to_owned(), here(name)?));
        let parameters = config.space.parameters().iter();
        let params: Option<Map<String, Value>> =
            parameters.map(|parameter| named(parameter.name())).collect();
        let expected = params.and_then(|params| as_known(&config.space, &params));
        let known = study.point(TrialId(id)).ok();
        if known != expected {
            complaints.push(format!("trial {id} is known as {known:?} and was {expected:?}"));
        } else if known.is_some() && !has_outcome(study, id, state) {
            let outcome = study.history().get(TrialId(id)).and_then(|(_, outcome)| outcome);
            complaints.push(format!("trial {id} is known with {outcome:?} and had {:?}", state.outcome));
        }
    }
    complaints
}

/// The point that an optimiser has of parameters in its space: real numbers are rounded once, to the unit cube.
fn as_known(space: &Space, params: &Map<String, Value>) -> Option<Point> {
    let unit = space.encode(&point::from_json(space, params).ok()?).ok()?;
    space.decode(&unit).ok()
}

/// Whether a trial is pending, failed or has its value, as it was in the journal.
fn has_outcome(study: &Study, id: u64, state: &TrialState) -> bool {
    let known = study.history().get(TrialId(id)).and_then(|(_, outcome)| outcome);
    // Smaller is better in this study: values are not turned round.
    let values = known.map(|outcome| outcome.value());
    values == state.outcome.as_ref().map(|finding| finding.value(VALUE))
}
