//! The model of one embedding and the posterior ahead of it, as events leave them.
//!
//! Two things are told apart. What events decide: the last fit, and what the model had seen when it was last used for a
//! trial. And what is made from that when it is needed, and can be thrown away: the models and the posterior. A fit that
//! no trial was asked with yet is a draft; it becomes the model when one is, and is gone when anything else happens.

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
        (self.draft, self.ahead) = (None, None);
        if fitted.is_some() {
            (self.fitted, self.model) = (fitted.map(Arc::new), None);
        }
    }

    /// The model was used for a trial with so many results known and points pending. If the trial tells of a fit, the draft
    /// is the model from now on.
    pub(super) fn used(&mut self, with_fit: bool, n_results: usize, n_pending: usize) {
        if with_fit && let Some(model) = self.draft.take() {
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
        (self.n_at_once, self.draft, self.ahead) = (None, None, None);
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
        if self.ahead.is_some() || self.draft.is_some() || self.update(basis)? {
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
        if n_results > self.n_accepted && n_results >= next_fit(fitted.n_results, basis.settings) {
            return Ok(false);
        }
        let mut model = match self.model.take() {
            Some(model) => model,
            None => Model::again(basis, fitted)?,
        };
        if !model.take_in(basis, self.n_accepted) {
            return Ok(false);
        }
        self.model = Some(model);
        Ok(true)
    }
}

/// How many results ask for another fit after one of `n`.
fn next_fit(n: usize, settings: &Settings) -> usize {
    if n < settings.refit_always_until {
        n + 1
    } else {
        (n as f64 * settings.refit_growth).floor() as usize + 1
    }
}
