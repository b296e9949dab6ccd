//! The optimiser of a study, as it was: rebuilt from the journal's state without running it again.

use crate::config::Config;
use crate::job::{Finding, Kind};
use crate::store::ledger::{Event, Ledger, Source};
use crate::{Error, Result, point};
use tribo::strategy::Study;
use tribo::trial::{Outcome, TrialId};

/// A study that has been asked and told nothing yet.
pub fn fresh(config: &Config) -> Result<Study> {
    let (direction, strategy) = (config.direction, config.strategy.clone());
    Ok(Study::new(config.space.clone(), direction, strategy, config.budget.evaluations, config.seed)?)
}

/// The study after all that its journal tells. What it proposes next is what it would have proposed then, bit for bit.
pub fn study(config: &Config, ledger: &Ledger) -> Result<Study> {
    let mut study = fresh(config)?;
    catch_up(&mut study, config, ledger, 0)?;
    Ok(study)
}

/// Takes a study on that knows the first `known` events of its journal to all of them. It costs what is new.
pub fn catch_up(study: &mut Study, config: &Config, ledger: &Ledger, known: usize) -> Result<()> {
    for event in ledger.events().iter().skip(known) {
        match event {
            Event::Asked(id) => {
                if let Some(Source::Asked { trial, .. }) = ledger.trial(*id).map(|state| &state.source) {
                    study.restore_asked(trial.clone())?;
                }
            }
            Event::Imported(id) => import(study, config, ledger, *id)?,
            Event::Told(id) => {
                if let Some(finding) = ledger.trial(*id).and_then(|state| state.outcome.as_ref()) {
                    tell(study, config.objective(), *id, finding)?;
                }
            }
        }
    }
    Ok(())
}

fn import(study: &mut Study, config: &Config, ledger: &Ledger, id: u64) -> Result<()> {
    let Some(state) = ledger.trial(id) else { return Ok(()) };
    if let (Source::Imported(object), Some(finding)) = (&state.source, &state.outcome) {
        let wrong = |text: String| Error::Usage(format!("imported trial {id}: {text}"));
        let objective = config.objective();
        let value =
            finding.value(objective).ok_or_else(|| wrong(format!("it has no output `{objective}`")))?;
        let point = point::from_json(&config.space, object).map_err(wrong)?;
        let added = study.add(&point, value)?;
        if added.0 != id {
            return Err(wrong(format!("it was taken in as trial {added}")));
        }
    }
    Ok(())
}

/// Tells the objective of an outcome, or that there is none.
pub fn tell(study: &mut Study, objective: &str, id: u64, finding: &Finding) -> Result<()> {
    let id = TrialId(id);
    let Finding { kind, reason, .. } = finding.clone().with_objective(objective);
    match (kind, finding.value(objective)) {
        (Kind::Ok, Some(value)) => study.tell(id, value)?,
        (Kind::Infeasible, _) => study.tell_infeasible(id)?,
        (Kind::Ok | Kind::Invalid, _) => study.tell_outcome(id, Outcome::Invalid { answer: reason })?,
        _ => study.tell_failed(id, reason)?,
    };
    Ok(())
}
