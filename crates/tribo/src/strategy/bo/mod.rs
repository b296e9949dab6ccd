//! `bo` and `paper`: Gaussian processes, each in an embedding of its own.
//!
//! An `optimiser` works in the unit cube of one embedding. It has `results`, local searches (`local_search`, in regions of
//! `trust_region`), and a `model_cache`: the `model` with its last fit (`fit_record`), which sees values through a `warp`,
//! whether there is noise (`noise_check`), and the posterior with `pending` points taken in, on which it `propose`s; `chance` says where values come back, and a
//! `grid` of whole numbers and categories which points can be evaluated. `quota` shares workers between exploiting and
//! exploring.

mod chance;
mod fit_record;
mod grid;
mod local_search;
mod misses;
mod model;
mod model_cache;
mod noise_check;
mod optimiser;
mod pending;
mod points;
mod propose;
mod quota;
mod refit;
mod results;
mod trust_region;
mod warp;

pub(super) use model::{Noise, coarse_model};
pub(super) use optimiser::{Optimiser, Proposal};
pub use quota::Quota;
pub(super) use refit::{Fitting, Refitted};
pub(super) use warp::Warp;

use super::engine::{Engine, Located, Next, OfInputs, Origin, Plan, Version, is_given};
use super::fallback;
use super::settings::Settings;
use super::study::REDRAWS;
use crate::embed::Embedding;
use crate::error::{Error, RestoreFault, Result};
use crate::rng::Stream;
use crate::space::Space;
use crate::space::formula::Region;
use crate::surrogate::watch::Watch;
use crate::trial::{History, Purpose, Trial};

/// One optimiser for each embedding.
pub(super) struct Bo {
    optimisers: Vec<Optimiser>,
    quota: Quota,
    dim: usize,
    /// Where constraints between inputs are met.
    region: Option<Region>,
}

impl Bo {
    pub(super) fn new(space: &Space, settings: &Settings, seed: u64) -> Result<Bo> {
        settings.check()?;
        let optimiser = |index| {
            let embedding = Embedding::new(settings.embedding, space.dim(), seed, index)?;
            let mut optimiser = Optimiser::new(embedding, settings.clone(), seed, index)?;
            optimiser.check_noise();
            optimiser.let_settle();
            optimiser.let_stray();
            if optimiser.embedding().is_identity() {
                optimiser.within(space.region());
                optimiser.take_values_of(space);
            }
            Ok(optimiser)
        };
        let optimisers = (0..settings.n_embeddings as u64).map(optimiser).collect::<Result<Vec<_>>>()?;
        Ok(Bo { optimisers, quota: settings.quota, dim: space.dim(), region: space.region() })
    }

    /// Round robin while designs are handed out; then every other trial goes to the embedding with the best value.
    fn choose(&self, n_asked: usize) -> usize {
        let optimisers = &self.optimisers;
        let turn = n_asked % optimisers.len();
        if optimisers.len() == 1 || optimisers.iter().any(Optimiser::is_designing) {
            return turn;
        }
        if n_asked % 2 == 1 {
            return n_asked / 2 % optimisers.len();
        }
        let mut leader = turn;
        for (index, optimiser) in optimisers.iter().enumerate() {
            let better = match (optimiser.best(), optimisers[leader].best()) {
                (Some(value), Some(best)) => value < best,
                (Some(_), None) => true,
                _ => false,
            };
            if better {
                leader = index;
            }
        }
        leader
    }
}

/// The point that an embedding makes of z. A random one clips what leaves the cube to its faces, and in the same way moves
/// what misses a constraint to the nearest point that meets it; where z is the point itself, it stays.
pub(super) fn embedded(unit: Vec<f64>, embedding: &Embedding, region: Option<&Region>) -> Vec<f64> {
    match region.filter(|_| !embedding.is_identity()) {
        Some(region) => region.nearest(&unit).unwrap_or(unit),
        None => unit,
    }
}

impl Engine for Bo {
    fn version(&self) -> Version {
        Version { engine: "bo", number: 5 }
    }

    fn propose(&mut self, next: Next<'_>, watch: &dyn Watch) -> Result<Plan> {
        let embedding = self.choose(next.history.len());
        let optimiser = &mut self.optimisers[embedding];
        let Proposal { u, purpose, decision } = if optimiser.is_designing() {
            optimiser.design(next.id.0)?
        } else {
            let purpose = self.quota.next(next.history);
            let propose = || match optimiser.repeat(watch)? {
                Some(repeat) => Ok(repeat),
                None => optimiser.propose(next, purpose, watch),
            };
            match fallback::attempt(propose)? {
                Ok(proposal) => proposal,
                Err(why) => optimiser.makeshift(next.id.0, why)?,
            }
        };
        let mut plan = Plan::new(next.id, optimiser.to_z(&u), purpose, None);
        (plan.trial.embedding, plan.trial.decision) = (embedding, decision);
        plan.must_be_new = !matches!(purpose, Purpose::Probe);
        Ok(plan)
    }

    fn redraw(&self, plan: &mut Plan, draw: u64, stream: &mut Stream) -> bool {
        let optimiser = &self.optimisers[plan.trial.embedding];
        plan.trial.z = optimiser.to_z(&optimiser.random_point(stream));
        draw <= REDRAWS
    }

    fn asked(&mut self, trial: &Trial, _origin: Origin) {
        let optimiser = &mut self.optimisers[trial.embedding];
        let u = optimiser.to_unit(&trial.z);
        optimiser.asked(trial, u);
    }

    fn restored(&mut self, trial: &Trial) -> Result<()> {
        let optimiser = &mut self.optimisers[trial.embedding];
        let (expected, found) = (optimiser.embedding().model_dim(), trial.z.len());
        if found != expected {
            let fault = RestoreFault::Length { what: "z", expected, found };
            return Err(Error::Restore { id: trial.id.0, fault });
        }
        optimiser.restored(trial, optimiser.to_unit(&trial.z))
    }

    fn told(&mut self, trial: &Trial, value: Option<f64>) {
        if is_given(trial) {
            // There is no way back from a point to the coordinates of an embedding.
            return;
        }
        self.optimisers[trial.embedding].told(trial.id.0, value);
    }

    fn lost(&mut self, trial: &Trial) {
        if !is_given(trial) {
            self.optimisers[trial.embedding].lost(trial.id.0);
        }
    }

    fn unit(&self, trial: &Trial) -> Result<Vec<f64>> {
        if is_given(trial) {
            return Ok(trial.z.clone());
        }
        let mut unit = vec![0.0; self.dim];
        let embedding = self.optimisers[trial.embedding].embedding();
        embedding.to_unit(&trial.z, &mut unit)?;
        Ok(embedded(unit, embedding, self.region.as_ref()))
    }

    fn n_embeddings(&self) -> usize {
        self.optimisers.len()
    }

    fn models_all(&self) -> bool {
        self.optimisers[0].embedding().is_identity()
    }

    fn model_of_best(&mut self, history: &History) -> Option<(&mut Optimiser, Located)> {
        let (best, _) = history.best().filter(|(best, _)| !is_given(best))?;
        let embedding = best.embedding;
        let optimiser = &mut self.optimisers[embedding];
        let is_own = |trial: &Trial| trial.embedding == embedding && !is_given(trial);
        let own = history.measured().filter(|(trial, _)| is_own(trial));
        let points = own.map(|(trial, _)| (trial.id, optimiser.to_unit(&trial.z))).collect();
        Some((optimiser, points))
    }

    fn model_of_all(&mut self) -> Option<&mut Optimiser> {
        match &mut self.optimisers[..] {
            [optimiser] if optimiser.embedding().is_identity() => Some(optimiser),
            _ => None,
        }
    }

    fn model_of_inputs(&mut self, history: &History) -> Option<OfInputs<'_>> {
        self.model_of_all()?;
        let (optimiser, located) = self.model_of_best(history)?;
        Some(OfInputs { optimiser, inputs: None, located })
    }

    fn refit_beside(&mut self, beside: bool) {
        self.optimisers.iter_mut().for_each(|optimiser| optimiser.refit_beside(beside));
    }

    fn refit(&self) -> Option<Fitting> {
        self.optimisers.iter().find_map(Optimiser::refit)
    }

    fn take_refit(&mut self, refitted: Refitted) -> bool {
        let mut whose = self.optimisers.iter_mut();
        whose.find(|optimiser| optimiser.has_made(&refitted)).is_some_and(|one| one.take_refit(refitted))
    }

    fn clip_fraction(&self, trial: &Trial) -> Result<f64> {
        self.optimisers[trial.embedding].embedding().clip_fraction(&trial.z)
    }
}
