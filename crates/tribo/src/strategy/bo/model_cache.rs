//! The model of one embedding and the posterior ahead of it, as events leave them.
//!
//! Two things are told apart. What events decide: the last fit, and what the model had seen when it was last used for a
//! trial. And what is made from that when it is needed, and can be thrown away: the models and the posterior. A fit that
//! no trial was asked with yet is a draft; it becomes the model when one is, and is gone when anything else happens.
//!
//! With many results a fit takes seconds. Where the caller makes such fits beside the asks (`refit`), the model goes on
//! with what is new taken into it, and a fit that arrives is the next draft, with the results since taken in: one that
//! outlives what else happens, since it was dear. Its trial tells which results it was made of, so a study that is
//! restored makes the same model, whenever it arrived.

use super::fit_record::Fitted;
use super::model::{Basis, Known, Model, Noise};
use super::pending::{Ahead, Pending};
use crate::error::{Error, Result};
use crate::strategy::settings::Settings;
use crate::surrogate::Posterior;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What is known of the function, made on demand.
#[derive(Default)]
pub(super) struct ModelCache {
    /// The last fit that a trial was asked with.
    fitted: Option<Arc<Fitted>>,
    /// Results there were when the model was last used for a trial: they need not be asked whether they fit into it.
    n_accepted: usize,
    /// Points that were pending when the model was first used for a trial since anything was told; None if it was not.
    n_at_once: Option<usize>,
    /// The model of `fitted`.
    model: Option<Model>,
    /// A fit that no trial was asked with yet.
    draft: Option<Model>,
    /// Whether the draft was made beside the asks, so that it stays until a trial is asked with it.
    is_beside: bool,
    /// Whether the caller makes the fits to many results beside the asks.
    pub(super) beside: bool,
    /// The posterior that proposals are made on.
    ahead: Option<Ahead>,
    /// What fits are told; whether it is crowded they are told each time.
    pub(super) known: Known,
}

/// What proposals are made on.
#[derive(Clone, Copy)]
pub(super) struct Prepared<'a> {
    /// The model of all results.
    pub(super) model: &'a Model,
    /// Its posterior with what is on its way taken in.
    pub(super) posterior: &'a dyn Posterior,
    /// The lowest mean at a pending point of the current search, infinite if there is none.
    pub(super) promised: f64,
    /// What the fit found, if no trial was asked with it yet.
    pub(super) draft: Option<&'a Fitted>,
}

impl ModelCache {
    /// Fits look for the directions that matter.
    pub(super) fn learn_metric(&mut self) {
        self.known.learns_metric = true;
    }

    /// Fits need not ask whether results carry noise.
    pub(super) fn know_noise(&mut self, noise: Noise) {
        self.known.noise = Some(noise);
    }

    /// A fit that no trial was asked with yet.
    pub(super) fn draft(&self) -> Option<&Fitted> {
        self.draft.as_ref().map(|model| &*model.fitted)
    }

    /// The median of the values at the last fit; infinite before the first.
    pub(super) fn median(&self) -> f64 {
        self.fitted.as_ref().map_or(f64::INFINITY, |fitted| fitted.median)
    }

    /// Whether results carry noise by the last fit, if there was one.
    pub(super) fn noise(&self) -> Option<Noise> {
        self.fitted.as_ref().map(|fitted| fitted.noise)
    }

    /// Takes a fit made by an earlier process, if there is one. Nothing made before is kept but a model that still holds.
    pub(super) fn restore(&mut self, fitted: Option<Fitted>) {
        (self.draft, self.ahead, self.is_beside) = (None, None, false);
        if fitted.is_some() {
            (self.fitted, self.model) = (fitted.map(Arc::new), None);
        }
    }

    /// The model was used for a trial with so many results known and points pending. If the trial tells of a fit, the draft
    /// is the model from now on.
    pub(super) fn used(&mut self, with_fit: bool, n_results: usize, n_pending: usize) {
        if with_fit && let Some(model) = self.draft.take() {
            self.is_beside = false;
            self.fitted = Some(Arc::clone(&model.fitted));
            self.model = Some(model);
        }
        self.n_accepted = n_results;
        self.n_at_once.get_or_insert(n_pending);
    }

    /// A local search began, to which no pending point belongs.
    pub(super) fn begin_search(&mut self) {
        if let Some(ahead) = &mut self.ahead {
            ahead.promised = f64::INFINITY;
        }
    }

    /// Something else happened that the next proposal must know of.
    pub(super) fn look_again(&mut self) {
        (self.n_at_once, self.ahead) = (None, None);
        self.draft.take_if(|_| !self.is_beside);
    }

    /// What was made was of no use: nothing of it is used again.
    pub(super) fn forget(&mut self) {
        self.is_beside = false;
        self.look_again();
    }

    /// The fit that is due to be made beside the asks, if one is: its last one and what it is told.
    pub(super) fn due(&self, basis: Basis<'_>) -> Option<(&Arc<Fitted>, Known)> {
        let (fitted, n_results) = (self.fitted.as_ref()?, basis.results.values.len());
        let is_due = n_results >= next_fit(fitted.n_results, basis.settings);
        (is_due && self.draft.is_none() && self.goes_on(n_results))
            .then_some((fitted, Known { crowded: basis.crowded, ..self.known }))
    }

    /// Takes a fit that was made beside the asks; false if a later one was made meanwhile.
    pub(super) fn take_fit(&mut self, model: Model) -> bool {
        let is_later = self.fitted.as_ref().is_none_or(|last| last.n_results < model.fitted.n_results);
        if is_later {
            (self.draft, self.ahead, self.is_beside) = (Some(model), None, true);
        }
        is_later
    }

    /// Whether a model of so many results goes on without a fit, which is made beside.
    fn goes_on(&self, n_results: usize) -> bool {
        self.beside && n_results >= BESIDE_FROM
    }

    /// The model and the posterior ahead of it, up to date, for proposals of local search number `search`; `imputed` are
    /// points without a value that count as bad results. An error leaves what was there.
    pub(super) fn prepare(
        &mut self,
        basis: Basis<'_>,
        pending: &BTreeMap<u64, Pending>,
        imputed: &[Vec<f64>],
        search: usize,
    ) -> Result<Prepared<'_>> {
        let pending: Vec<&Pending> = pending.values().collect();
        self.refresh(basis)?;
        let Some(model) = self.draft.as_ref().or(self.model.as_ref()) else {
            return Err(Error::Empty { what: "model of the embedding" });
        };
        let ahead = match &mut self.ahead {
            Some(ahead) => {
                ahead.catch_up(model, &pending, search)?;
                ahead
            }
            empty => {
                let n_at_once = self.n_at_once.unwrap_or(pending.len());
                empty.insert(Ahead::new(model, &pending, n_at_once, imputed, search)?)
            }
        };
        let posterior = ahead.posterior.as_deref().unwrap_or(&*model.posterior);
        let draft = self.draft.as_ref().map(|model| &*model.fitted);
        Ok(Prepared { model, posterior, promised: ahead.promised, draft })
    }

    /// The model of all results. Events alone decide proposals, so a look at it in between changes none of them.
    pub(super) fn model(&mut self, basis: Basis<'_>) -> Result<&Model> {
        self.refresh(basis)?;
        let model = self.draft.as_ref().or(self.model.as_ref());
        model.ok_or(Error::Empty { what: "model of the embedding" })
    }

    /// Brings the model up to date, or makes a draft.
    fn refresh(&mut self, basis: Basis<'_>) -> Result<()> {
        if self.ahead.is_some() {
            return Ok(());
        }
        if self.is_beside {
            // Its points were all accepted: it is dropped only if one cannot be taken in at all.
            let n_results = basis.results.values.len();
            self.draft.take_if(|model| !model.take_in(basis, n_results));
            self.is_beside = self.draft.is_some();
        }
        if self.draft.is_some() || self.update(basis)? {
            return Ok(());
        }
        let known = Known { crowded: basis.crowded, ..self.known };
        self.draft = Some(Model::fit(basis, self.fitted.as_deref(), known)?);
        Ok(())
    }

    /// Takes new results into the model; false if it has to be fitted.
    fn update(&mut self, basis: Basis<'_>) -> Result<bool> {
        let Some(fitted) = &self.fitted else { return Ok(false) };
        let n_results = basis.results.values.len();
        let (goes_on, is_new) = (self.goes_on(n_results), n_results > self.n_accepted);
        if !goes_on && is_new && n_results >= next_fit(fitted.n_results, basis.settings) {
            return Ok(false);
        }
        let n_accepted = if goes_on { n_results } else { self.n_accepted };
        let mut model = match self.model.take() {
            Some(model) => model,
            None => Model::again(basis, fitted)?,
        };
        if !model.take_in(basis, n_accepted) {
            return Ok(false);
        }
        self.model = Some(model);
        Ok(true)
    }
}

/// Results from which on fits are made beside the asks, where the caller does that: one takes half a second then, where an
/// ask takes some milliseconds, and points are not thinned any more, so that a fit decides nothing about them.
const BESIDE_FROM: usize = 4_000;

/// How many results ask for another fit after one of `n`.
fn next_fit(n: usize, settings: &Settings) -> usize {
    if n < settings.refit_always_until {
        n + 1
    } else {
        (n as f64 * settings.refit_growth).floor() as usize + 1
    }
}
