//! The optimiser of a study, as it was: rebuilt from the journal's state without running it again.
//!
//! A journal has chapters. The optimiser is that of the last one: it begins with what the chapters before have found
//! (`chapter`, over their points, `earlier`, in its own space, `translate`) and takes the events since.

mod chapter;
mod earlier;
mod translate;

pub use earlier::{Earlier, Points};
pub use translate::EarlierValues;

use crate::config::Config;
use crate::job::{Finding, Kind};
use crate::store::ledger::{Event, Ledger, Source};
use crate::{Error, Result, point};
use std::ops::Range;
use tribo::space::Point;
use tribo::strategy::Study;
use tribo::trial::{Outcome, TrialId};

/// A study that has been asked and told nothing yet.
pub fn fresh(config: &Config) -> Result<Study> {
    begin_with(config, 0, config.seed)
}

/// A study that knows nothing yet, of which so many evaluations were spent before.
fn begin_with(config: &Config, spent: usize, seed: u64) -> Result<Study> {
    let (space, limits, strategy) = (config.space.clone(), config.limits.clone(), config.strategy.clone());
    let evaluations = config.budget.evaluations;
    Ok(Study::limited(space, config.direction, limits, strategy, evaluations, spent, seed)?)
}

/// The study after all that its journal tells. What it proposes next is what it would have proposed then, bit for bit.
/// `config` is the study file in force.
pub fn study(config: &Config, ledger: &Ledger) -> Result<Study> {
    Ok(rebuild(config, ledger)?.study)
}

/// A study rebuilt, with the points of its earlier chapters.
pub struct Rebuilt {
    /// The optimiser of the present chapter.
    pub study: Study,
    /// The chapters before.
    pub earlier: Earlier,
}

impl Rebuilt {
    /// The points of all trials.
    pub fn points(&self) -> Points<'_> {
        Points { study: &self.study, earlier: &self.earlier }
    }
}

/// As [`study`], with the points of earlier chapters.
pub fn rebuild(config: &Config, ledger: &Ledger) -> Result<Rebuilt> {
    let (mut rebuilt, known) = begin(config, ledger)?;
    catch_up(&mut rebuilt.study, config, ledger, known)?;
    Ok(rebuilt)
}

/// A study at the beginning of its present chapter, and the events of its journal that it knows then.
pub fn begin(config: &Config, ledger: &Ledger) -> Result<(Rebuilt, usize)> {
    let last = ledger.chapters().len() - 1;
    let earlier = Earlier::of(ledger)?;
    let study = chapter::begin(config, &earlier, ledger, last)?;
    Ok((Rebuilt { study, earlier }, ledger.chapters()[last].first_event))
}

/// Takes a study on that knows the first `known` events of its journal to all of them. It costs what is new.
pub fn catch_up(study: &mut Study, config: &Config, ledger: &Ledger, known: usize) -> Result<()> {
    catch_up_to(study, config, ledger, known..ledger.events().len())
}

/// The study as it was just before it asked a trial; None if the trial is not of the present chapter.
pub fn before(config: &Config, ledger: &Ledger, trial: u64) -> Result<Option<Study>> {
    match ledger.events().iter().position(|event| *event == Event::Asked(trial)) {
        Some(events) => after(config, ledger, events),
        None => Ok(None),
    }
}

/// The study as it was after the first `events` of its journal; None if that is before the present chapter.
pub fn after(config: &Config, ledger: &Ledger, events: usize) -> Result<Option<Study>> {
    let (mut rebuilt, known) = begin(config, ledger)?;
    if events < known {
        return Ok(None);
    }
    catch_up_to(&mut rebuilt.study, config, ledger, known..events)?;
    Ok(Some(rebuilt.study))
}

fn catch_up_to(study: &mut Study, config: &Config, ledger: &Ledger, events: Range<usize>) -> Result<()> {
    for number in events {
        let event = &ledger.events()[number];
        match event {
            Event::Asked(id) => {
                if let Some(Source::Asked { trial, .. }) = ledger.trial(*id).map(|state| &state.source) {
                    study.restore_asked(trial.clone())?;
                }
            }
            Event::Imported(id) => import(study, config, ledger, *id, number)?,
            Event::Told(id) => {
                if let Some(finding) = ledger.trial(*id).and_then(|state| state.outcome_after(number + 1)) {
                    tell(study, config, *id, finding)?;
                }
            }
            // The chapter that follows knows.
            Event::Revised(_) => {}
        }
    }
    Ok(())
}

/// Takes in an evaluation from elsewhere, which is event `number`.
fn import(study: &mut Study, config: &Config, ledger: &Ledger, id: u64, number: usize) -> Result<()> {
    let Some(state) = ledger.trial(id) else { return Ok(()) };
    if let (Source::Imported(object), Some(finding)) = (&state.source, state.outcome_after(number + 1)) {
        let wrong = |text: String| Error::Usage(format!("imported trial {id}: {text}"));
        let objective = config.objective();
        finding.value(objective).ok_or_else(|| wrong(format!("it has no output `{objective}`")))?;
        let point = point::from_json(&config.space, object).map_err(wrong)?;
        let added = add(study, config, &point, finding)?;
        if added.0 != id {
            return Err(wrong(format!("it was taken in as trial {added}")));
        }
    }
    Ok(())
}

/// Makes a trial of an evaluation from elsewhere.
pub fn add(study: &mut Study, config: &Config, point: &Point, finding: &Finding) -> Result<TrialId> {
    let id = study.adopt(point)?;
    tell(study, config, id.0, finding)?;
    Ok(id)
}

/// Tells the objective of an outcome, or that there is none, and what was measured of the limited outputs. A trial of an earlier chapter that is not in the space of this
/// one is none of its business.
pub fn tell(study: &mut Study, config: &Config, id: u64, finding: &Finding) -> Result<()> {
    let (id, objective) = (TrialId(id), config.objective());
    if study.history().get(id).is_none() && id < study.history().next_id() {
        return Ok(());
    }
    let Finding { kind, reason, .. } = finding.clone().with_objective(objective);
    let outcome = match (kind, finding.value(objective)) {
        (Kind::Ok, Some(value)) => Outcome::measured(config.direction.to_internal(value)),
        (Kind::Infeasible, _) => Outcome::Infeasible,
        (Kind::Lost, _) => Outcome::Lost { reason },
        (Kind::Ok | Kind::Invalid, _) => Outcome::Invalid { answer: reason },
        _ => Outcome::Failed { reason },
    };
    study.tell_limited(id, outcome, &config.limited(&finding.outputs))?;
    Ok(())
}
