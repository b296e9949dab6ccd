//! What an engine knows when a chapter begins: all results of the chapters before, as known data.
//!
//! Trials keep their ids. Evaluations that are under way are pending points, and are told in the new chapter. A point that
//! is not in the new space, or has not the output that is optimised now, is left out: its id stays taken. From what the last
//! search had asked one can tell which inputs it had named, whatever version of the engine it was: that is a hint.
//!
//! A chapter that an engine of another version has proposed is never run by that of this program, which would have proposed
//! other points. It is over, whether the next one was begun or not: its points are read from the records alone, and the
//! optimiser is that of a chapter which begins with all of its results.

use super::earlier::Earlier;
use super::{begin_with, catch_up_to, fresh, tell};
use crate::Result;
use crate::config::Config;
use crate::job::Kind;
use crate::store::format::Format;
use crate::store::ledger::{Chapter, Ledger, Source};
use crate::store::record::Engine;
use std::borrow::Cow;
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

/// The chapters of a journal, as this program reads them.
pub(super) struct Chapters<'a> {
    pub(super) ledger: &'a Ledger,
    all: Cow<'a, [Chapter]>,
}

impl<'a> Chapters<'a> {
    /// Those of a journal, and one more if the last one is of an engine of another version.
    pub(super) fn of(config: &Config, ledger: &'a Ledger) -> Result<Chapters<'a>> {
        let mut all = Cow::Borrowed(ledger.chapters());
        let engine = Engine::of(&fresh(config)?);
        if is_of_another(ledger, &engine) {
            all.to_mut().push(ledger.next_chapter(Some(engine)));
        }
        Ok(Chapters { ledger, all })
    }

    /// All of them, in order.
    pub(super) fn all(&self) -> &[Chapter] {
        &self.all
    }

    /// The number of the present one, from 0.
    pub(super) fn last(&self) -> usize {
        self.all.len() - 1
    }

    /// Where chapter `number` ends: its events are before this.
    pub(super) fn end(&self, number: usize) -> usize {
        self.all.get(number + 1).map_or(self.ledger.events().len(), |next| next.first_event)
    }
}

/// Whether the present chapter was proposed by another engine than this one, or by another version of it.
pub(super) fn is_of_another(ledger: &Ledger, engine: &Engine) -> bool {
    match ledger.chapters().last().and_then(|chapter| chapter.engine.as_ref()) {
        Some(last) => last != engine,
        // Journals of the first format do not say, and mean version 1. A study in memory does not either, and is this program's.
        None => ledger.first_format == Format::FIRST && engine.version != 1,
    }
}

/// The optimiser at the beginning of chapter `number`.
pub(super) fn begin(
    config: &Config,
    earlier: &Earlier,
    chapters: &Chapters<'_>,
    number: usize,
) -> Result<Study> {
    let (ledger, chapter) = (chapters.ledger, &chapters.all()[number]);
    let mut study = begin_with(config, chapter.n_spent_before, seed(config, number))?;
    // Later chapters have results of their own, and what they had found.
    if let Some(recalled) = ledger.recalled().filter(|_| chapter.n_spent_before == 0) {
        study.recall(&recalled.digest(&config.space))?;
    }
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
    if let Some(hint) = hint(earlier, chapters, number) {
        study.hint(hint);
    }
    Ok(study)
}

/// The optimiser at the end of chapter `number`, all of whose predecessors are in `earlier`.
pub(super) fn restore(
    config: &Config,
    earlier: &Earlier,
    chapters: &Chapters<'_>,
    number: usize,
) -> Result<Study> {
    let mut study = begin(config, earlier, chapters, number)?;
    let events = chapters.all()[number].first_event..chapters.end(number);
    catch_up_to(&mut study, config, chapters.ledger, events)?;
    Ok(study)
}

/// What the last search before chapter `number` had found out about the inputs, by what it asked last.
fn hint(earlier: &Earlier, chapters: &Chapters<'_>, number: usize) -> Option<Hint> {
    let first_trial = chapters.all()[number].first_trial;
    let searched = chapters.ledger.trials().filter(|(id, _)| *id < first_trial).filter_map(|(id, state)| {
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
        Recipe::Set { .. } | Recipe::Bins { .. } | Recipe::Pairs { .. } => Some(Hint::Dense),
        _ => None,
    }
}

/// The names of all inputs.
fn by_number(space: &Space) -> Vec<String> {
    space.inputs().map(|input| space.input_name(input.coordinates.start).unwrap_or_default()).collect()
}
