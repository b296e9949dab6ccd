//! What an engine knows when a chapter begins: all results of the chapters before, as known data.
//!
//! Trials keep their ids. Evaluations that are under way are pending points, and are told in the new chapter. A point that
//! is not in the new space, or has not the output that is optimised now, is left out: its id stays taken. From what the last
//! search had asked one can tell which inputs it had named, whatever version of the engine it was: that is a hint.

use super::earlier::Earlier;
use super::{begin_with, catch_up_to, tell};
use crate::Result;
use crate::config::Config;
use crate::job::Kind;
use crate::store::ledger::{Ledger, Source};
use std::collections::BTreeMap;
use tribo::rng::Stream;
use tribo::space::Space;
use tribo::strategy::{Hint, Study};
use tribo::trial::{Purpose, Recipe, TrialId};

/// The seed of a chapter, from 0: another one draws other bins and orders.
pub(super) fn seed(config: &Config, number: usize) -> u64 {
    match number {
        0 => config.seed,
        _ => Stream::new(config.seed, "chapter", number as u64).bits(),
    }
}

/// The optimiser at the beginning of chapter `number`.
pub(super) fn begin(config: &Config, earlier: &Earlier, ledger: &Ledger, number: usize) -> Result<Study> {
    let chapter = &ledger.chapters()[number];
    let mut study = begin_with(config, chapter.n_spent_before, seed(config, number))?;
    if number == 0 {
        return Ok(study);
    }
    for (id, point) in earlier.known(number) {
        match ledger.trial(id).and_then(|state| state.outcome_after(chapter.first_event)) {
            // It was measured, but not what is optimised now.
            Some(finding) if finding.kind == Kind::Ok && finding.value(config.objective()).is_none() => {}
            Some(finding) => {
                study.adopt_as(TrialId(id), &point)?;
                tell(&mut study, config, id, finding)?;
            }
            None => study.adopt_as(TrialId(id), &point)?,
        }
    }
    study.reserve(TrialId(chapter.first_trial));
    if let Some(hint) = hint(earlier, ledger, number) {
        study.hint(hint);
    }
    Ok(study)
}

/// The optimiser at the end of chapter `number`, all of whose predecessors are in `earlier`.
pub(super) fn restore(config: &Config, earlier: &Earlier, ledger: &Ledger, number: usize) -> Result<Study> {
    let mut study = begin(config, earlier, ledger, number)?;
    let from = ledger.chapters()[number].first_event;
    let to = ledger.chapters().get(number + 1).map_or(ledger.events().len(), |next| next.first_event);
    catch_up_to(&mut study, config, ledger, from..to)?;
    Ok(study)
}

/// What the last search before chapter `number` had found out about the inputs, by what it asked last.
fn hint(earlier: &Earlier, ledger: &Ledger, number: usize) -> Option<Hint> {
    let first_trial = ledger.chapters()[number].first_trial;
    let searched = ledger.trials().filter(|(id, _)| *id < first_trial).filter_map(|(id, state)| {
        let Source::Asked { trial, .. } = &state.source else { return None };
        let recipe = trial.recipe.as_deref().filter(|_| trial.purpose == Purpose::Exploit)?;
        Some((id, recipe))
    });
    let (id, recipe) = searched.last()?;
    let (old, new) = (earlier.point(id)?.0, &earlier.configs.get(number)?.space);
    match recipe {
        Recipe::Set { inputs, .. } if inputs.len() < old.n_inputs() => {
            let names = by_number(old);
            let numbers: BTreeMap<String, usize> =
                by_number(new).into_iter().enumerate().map(|(input, name)| (name, input)).collect();
            let found = inputs.iter().filter_map(|&input| numbers.get(names.get(input)?).copied());
            let mut found: Vec<usize> = found.collect();
            found.sort_unstable();
            (!found.is_empty()).then_some(Hint::Named(found))
        }
        Recipe::Set { .. } | Recipe::Bins { .. } => Some(Hint::Dense),
        _ => None,
    }
}

/// The names of all inputs.
fn by_number(space: &Space) -> Vec<String> {
    space.inputs().map(|input| space.input_name(input.coordinates.start).unwrap_or_default()).collect()
}
