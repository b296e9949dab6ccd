//! The optimiser of a study, as it was: rebuilt from the journal's state without running it again.

use crate::config::Config;
use crate::store::ledger::{Event, Ledger, Source};
use crate::store::record::Verdict;
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
                if let Some(verdict) = ledger.trial(*id).and_then(|state| state.verdict.as_ref()) {
                    tell(study, *id, verdict)?;
                }
            }
        }
    }
    Ok(())
}

fn import(study: &mut Study, config: &Config, ledger: &Ledger, id: u64) -> Result<()> {
    let Some(state) = ledger.trial(id) else { return Ok(()) };
    if let (Source::Imported(object), Some(Verdict::Measured { value })) = (&state.source, &state.verdict) {
        let wrong = |text: String| Error::Usage(format!("imported trial {id}: {text}"));
        let point = point::from_json(&config.space, object).map_err(wrong)?;
        let added = study.add(&point, *value)?;
        if added.0 != id {
            return Err(wrong(format!("it was taken in as trial {added}")));
        }
    }
    Ok(())
}

/// Tells an outcome in the user's direction.
pub fn tell(study: &mut Study, id: u64, verdict: &Verdict) -> Result<()> {
    let id = TrialId(id);
    match verdict {
        Verdict::Measured { value } => study.tell(id, *value)?,
        Verdict::Failed { reason } => study.tell_failed(id, reason.clone())?,
        Verdict::Infeasible => study.tell_infeasible(id)?,
        Verdict::Invalid { answer } => study.tell_outcome(id, Outcome::Invalid { answer: answer.clone() })?,
    };
    Ok(())
}
