//! The model of one embedding and the posterior ahead of it, as events leave them.
//!
//! Two things are told apart. What events decide: the last fit, and what the model had seen when it was last used for a
//! trial. And what is made from that when it is needed, and can be thrown away: the models and the posterior. A fit that
//! no trial was asked with yet is a draft; it becomes the model when one is, and is gone when anything else happens.

use super::fit_record::{Fitted, Noise};
use super::model::{Basis, Known, Model};
use super::pending::{Ahead, Pending};
use crate::error::{Error, Result};
use crate::trial::Fit;
use std::collections::BTreeMap;

/// What is known of the function, made on demand.
#[derive(Default)]
pub(super) struct ModelCache {
    /// The last fit that a trial was asked with.
    fitted: Option<Fitted>,
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
    known: Known,
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

    /// The median of the values at the last fit; infinite before the first.
    pub(super) fn median(&self) -> f64 {
        self.fitted.as_ref().map_or(f64::INFINITY, |fitted| fitted.median)
    }

    /// The record of a fit that no trial was asked with yet.
    pub(super) fn draft(&self) -> Option<Fit> {
        self.draft.as_ref().map(|model| model.fitted().to_record())
    }

    /// The draft is the model from now on.
    pub(super) fn accept_draft(&mut self) {
        if let Some(model) = self.draft.take() {
            self.fitted = Some(model.fitted().clone());
            self.model = Some(model);
        }
    }

    /// Takes a fit made by an earlier process, if there is one. Nothing made before is kept but a model that still holds.
    pub(super) fn restore(&mut self, fitted: Option<Fitted>) {
        (self.draft, self.ahead) = (None, None);
        if fitted.is_some() {
            (self.fitted, self.model) = (fitted, None);
        }
    }

    /// The model was used for a trial with so many results known and points pending.
    pub(super) fn used(&mut self, n_results: usize, n_pending: usize) {
        self.n_accepted = n_results;
        self.n_at_once.get_or_insert(n_pending);
    }

    /// A local search began.
    pub(super) fn begin_search(&mut self) {
        if let Some(ahead) = &mut self.ahead {
            ahead.begin_search();
        }
    }

    /// Something else happened that the next proposal must know of.
    pub(super) fn look_again(&mut self) {
        (self.n_at_once, self.draft, self.ahead) = (None, None, None);
    }

    /// The model and the posterior ahead of it, up to date. An error leaves what was there.
    pub(super) fn prepare(
        &mut self,
        basis: Basis<'_>,
        pending: &BTreeMap<u64, Pending>,
    ) -> Result<(&Model, &Ahead)> {
        let pending: Vec<&Pending> = pending.values().collect();
        self.refresh(basis)?;
        let Some(model) = self.draft.as_ref().or(self.model.as_ref()) else {
            return Err(Error::Empty { what: "model of the embedding" });
        };
        let number = basis.searches.number();
        let ahead = match &mut self.ahead {
            Some(ahead) => ahead,
            empty => {
                let at_once = &pending[..self.n_at_once.unwrap_or(pending.len())];
                empty.insert(Ahead::new(model, at_once, &basis.results.barren, number)?)
            }
        };
        ahead.catch_up(model, &pending, number)?;
        Ok((model, ahead))
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
        self.draft = Some(Model::fit(basis, self.fitted.as_ref(), known)?);
        Ok(())
    }

    /// Takes new results into the model; false if it has to be fitted.
    fn update(&mut self, basis: Basis<'_>) -> Result<bool> {
        let Some(fitted) = &self.fitted else { return Ok(false) };
        let results = basis.results;
        if results.len() > self.n_accepted && fitted.is_outgrown(results.len(), basis.settings) {
            return Ok(false);
        }
        let mut model = match self.model.take() {
            Some(model) => model,
            None => Model::again(basis, fitted)?,
        };
        if !model.take_in(results, self.n_accepted, basis.spacing()) {
            return Ok(false);
        }
        self.model = Some(model);
        Ok(true)
    }
}
