//! `limits`: optimisation under limits on other outputs, learned while optimising.
//!
//! Evaluations that answer nothing are one more limited output: whether there is an answer.
//!
//! Every limited output has a model of its own (`output`, which sees values through a `sight`); together they are an
//! `outlook`, made by `models` from the `results`. As long as nothing is feasible the most probable feasible point is
//! proposed. Then proposals take turns (`propose`): most minimise the mean of the objective where the means of the limits
//! allow it, in a box around the best point (`solve`), which is exact at limits that bind; others look over the whole cube
//! where an improvement that is feasible is most probable. `look` shows the models to others.

mod look;
mod models;
mod near;
mod outlook;
mod output;
mod propose;
mod results;
mod sight;
mod solve;
#[cfg(test)]
mod tests;
mod walls;

pub use self::look::{BestExpected, LimitsLook};

use self::models::Models;
use self::propose::Proposer;
use self::results::Results;
use super::bo::{Optimiser, Proposal};
use super::engine::{Engine, Located, Next, OfInputs, Origin, Plan, Version};
use super::fallback;
use super::settings::Settings;
use super::study::{LimitKnown, REDRAWS};
use crate::embed::Embedding;
use crate::error::{Error, RestoreFault, Result};
use crate::limit::Limit;
use crate::rng::Stream;
use crate::space::Space;
use crate::space::formula::Region;
use crate::surrogate::watch::Watch;
use crate::trial::{History, Purpose, Trial};
use std::collections::BTreeMap;

/// Half the side of the box around the best point: at first, at least and at most.
const RADIUS: (f64, f64, f64) = (0.5, 1e-5, 1.0);

/// A search under limits.
pub(super) struct Limited {
    limits: Vec<Limit>,
    seed: u64,
    /// Its design, and a model of the objective alone for those who want to look at it.
    optimiser: Optimiser,
    n_initial: usize,
    n_designed: usize,
    results: Results,
    /// Points without an outcome, by trial, and whether each is a step from the best point.
    pending: BTreeMap<u64, (Vec<f64>, bool)>,
    models: Models,
    /// Half the side of the box around the best point.
    radius: f64,
    /// Where constraints between inputs are met, if there are any.
    region: Option<Region>,
}

impl Limited {
    pub(super) fn new(space: &Space, settings: &Settings, limits: Vec<Limit>, seed: u64) -> Result<Limited> {
        let embedding = Embedding::new(crate::embed::Kind::Identity, space.dim(), seed, 0)?;
        let d = space.dim();
        let n_initial = settings.initial.count.unwrap_or((d + 2).clamp(5, 20));
        let mut optimiser = Optimiser::new(embedding, settings.clone(), seed, 0)?;
        optimiser.within(space.region());
        // Whether an evaluation answers at all is one more output, that must be negative.
        let mut limits = limits;
        limits.push(Limit::new("an answer", None, Some(0.0))?);
        let (results, pending, models) = (Results::default(), BTreeMap::new(), Models::default());
        Ok(Limited {
            limits,
            seed,
            optimiser,
            n_initial,
            n_designed: 0,
            results,
            pending,
            models,
            radius: RADIUS.0,
            region: space.region(),
        })
    }

    fn propose_point(&mut self, next: Next<'_>, watch: &dyn Watch) -> Result<(Vec<f64>, Purpose)> {
        let outlook = self.models.outlook(&self.results, &self.limits, self.n_initial, watch)?;
        let proposer = Proposer {
            limits: &self.limits,
            results: &self.results,
            outlook,
            pending: self.pending.values().map(|(u, _)| u.as_slice()).collect(),
            radius: self.radius,
            region: self.region.as_ref(),
            seed: self.seed,
            turn: next.history.len() - self.n_designed.min(next.history.len()),
            id: next.id.0,
        };
        proposer.propose(watch)
    }

    fn note(&mut self, trial: &Trial) {
        // What somebody else measured does for the models what a design would have done.
        if matches!(trial.purpose, Purpose::Initial | Purpose::Added) {
            self.n_designed += 1;
        }
        let is_step = matches!(trial.purpose, Purpose::Exploit);
        self.pending.insert(trial.id.0, (trial.z.clone(), is_step));
    }
}

impl Engine for Limited {
    fn version(&self) -> Version {
        Version { engine: "limits", number: 1 }
    }

    fn propose(&mut self, next: Next<'_>, watch: &dyn Watch) -> Result<Plan> {
        let d = self.optimiser.embedding().model_dim();
        let few = self.results.points.len() < self.n_initial.min(d + 1).max(2);
        let Proposal { u, purpose, decision } = if self.n_designed < self.n_initial || few {
            self.optimiser.design(next.id.0)?
        } else {
            match fallback::attempt(|| self.propose_point(next, watch))? {
                Ok((u, purpose)) => Proposal { u, purpose, decision: None },
                Err(why) => self.optimiser.makeshift(next.id.0, why)?,
            }
        };
        let mut plan = Plan::new(next.id, u, purpose, None);
        plan.trial.decision = decision;
        Ok(plan)
    }

    fn redraw(&self, plan: &mut Plan, draw: u64, stream: &mut Stream) -> bool {
        plan.trial.z = self.optimiser.random_point(stream);
        draw <= REDRAWS
    }

    fn asked(&mut self, trial: &Trial, _origin: Origin) {
        self.optimiser.asked(trial, trial.z.clone());
        self.note(trial);
    }

    fn restored(&mut self, trial: &Trial) -> Result<()> {
        let (expected, found) = (self.optimiser.embedding().model_dim(), trial.z.len());
        if found != expected {
            let fault = RestoreFault::Length { what: "z", expected, found };
            return Err(Error::Restore { id: trial.id.0, fault });
        }
        self.optimiser.asked(trial, trial.z.clone());
        self.note(trial);
        Ok(())
    }

    fn told(&mut self, trial: &Trial, value: Option<f64>) {
        self.told_limited(trial, value, &[]);
    }

    fn told_limited(&mut self, trial: &Trial, value: Option<f64>, limited: &[Option<f64>]) {
        self.optimiser.told(trial.id.0, value);
        let Some((u, is_step)) = self.pending.remove(&trial.id.0) else { return };
        let n_asked = self.limits.len() - 1;
        let mut all: Vec<Option<f64>> = (0..n_asked).map(|k| limited.get(k).copied().flatten()).collect();
        let answered = value.is_some() || all.iter().any(Option::is_some);
        all.push(Some(if answered { -1.0 } else { 1.0 }));
        let best = self.results.best;
        // It costs a look at all results, so only where nothing is feasible.
        let before = if best.is_none() { self.results.least_violated(&self.limits) } else { None };
        let is_best = self.results.enter(&self.limits, u, value, &all);
        let row = self.results.points.len() - 1;
        let is_nearer = self.results.best.is_none() && self.results.least_violated(&self.limits) != before;
        if is_step && row > 0 {
            if is_best || is_nearer {
                // A step that ended inside its box says how large the next one may be.
                let length = best.or(before).map_or(1.0, |from| self.results.apart(from, row));
                let is_inside = length < 0.9 * self.radius;
                self.radius = if is_inside {
                    (2.0 * length).max(0.25 * self.radius).min(self.radius)
                } else {
                    2.0 * self.radius
                };
            } else if !best.is_some_and(|best| self.results.is_better_than_beyond(&self.limits, row, best)) {
                self.radius *= 0.5;
            }
            self.radius = self.radius.clamp(RADIUS.1, RADIUS.2);
        }
    }

    fn lost(&mut self, trial: &Trial) {
        self.optimiser.lost(trial.id.0);
        self.pending.remove(&trial.id.0);
    }

    fn unit(&self, trial: &Trial) -> Result<Vec<f64>> {
        Ok(trial.z.clone())
    }

    fn models_all(&self) -> bool {
        true
    }

    fn model_of_best(&mut self, history: &History) -> Option<(&mut Optimiser, Located)> {
        history.best()?;
        let points = history.measured().map(|(trial, _)| (trial.id, trial.z.clone())).collect();
        Some((&mut self.optimiser, points))
    }

    fn model_of_all(&mut self) -> Option<&mut Optimiser> {
        Some(&mut self.optimiser)
    }

    fn model_of_inputs(&mut self, history: &History) -> Option<OfInputs<'_>> {
        let (optimiser, located) = self.model_of_best(history)?;
        Some(OfInputs { optimiser, inputs: None, located })
    }

    fn look_at_limits(&mut self, watch: &dyn Watch) -> Result<Option<LimitsLook>> {
        if self.results.points.len() < 2 {
            return Ok(None);
        }
        LimitsLook::of(self, watch).map(Some)
    }

    fn limits(&mut self, sign: f64, watch: &dyn Watch) -> Result<Vec<LimitKnown>> {
        let n = self.limits.len() - 1;
        if self.results.points.len() < 2 {
            return Ok(vec![]);
        }
        let outlook = self.models.outlook(&self.results, &self.limits, self.n_initial, watch)?;
        let mut known = propose::known(
            &self.results,
            &self.limits,
            outlook,
            self.region.as_ref(),
            self.radius,
            sign,
            watch,
        )?;
        known.truncate(n);
        Ok(known)
    }
}
