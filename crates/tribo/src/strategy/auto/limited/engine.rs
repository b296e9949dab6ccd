//! The machine as an engine of a study, and what it does when something breaks or is exhausted.

use super::search::Searched;
use super::{Known, LimitedAuto, Phase, Task};
use crate::error::Result;
use crate::rng::Stream;
use crate::strategy::auto::tuning;
use crate::strategy::bo::Optimiser;
use crate::strategy::engine::{Engine, Hint, Located, Next, OfInputs, Origin, Plan, Version};
use crate::strategy::fallback;
use crate::strategy::limits::LimitsLook;
use crate::strategy::study::insight::{Fact, Insight};
use crate::strategy::study::{LimitKnown, REDRAWS};
use crate::surrogate::watch::Watch;
use crate::trial::{Decision, History, Purpose, Recipe, Trial, TrialId};

impl LimitedAuto {
    /// Goes on after a transition that broke.
    pub(super) fn recover(&mut self, why: String) {
        self.found(Fact::FellBack { why, trials: 0 });
        self.queue.clear();
        (self.phase, self.rest.is_over) = (Phase::Search, true);
        if self.search.is_none() {
            let remade = fallback::attempt(|| self.end_screening());
            if !matches!(remade, Ok(Ok(()))) {
                self.search = None;
            }
        }
    }

    /// A uniform point instead of the proposal that could not be made, and why.
    fn makeshift(&self, id: TrialId, why: String) -> Plan {
        let (results, fell_back) = (self.table.rows.len(), Some(why));
        let decision = Decision { results, fit: None, ended: None, fell_back, nominees: None };
        let mut plan = Plan::new(id, vec![], Purpose::Explore, Some(Recipe::Uniform));
        (plan.trial.decision, plan.origin) = (Some(Box::new(decision)), Origin::Makeshift);
        plan
    }

    /// The incumbent with all inputs moved that are not searched: where all values of those were tried.
    pub(super) fn others_moved(&self) -> Option<Recipe> {
        let kept = self.search.as_ref()?.inputs(&self.recipes)?;
        let base = self.table.incumbent()?.id;
        (kept.len() < self.recipes.n_inputs).then_some(Recipe::Others { base, kept })
    }

    /// Draws after which the values of the inputs searched are taken to be all tried.
    fn enough_draws(&self) -> u64 {
        let inputs = self.search.as_ref().and_then(|search| search.inputs(&self.recipes)).unwrap_or_default();
        let values =
            |n: u64, &input: &usize| self.recipes.n_values(input).map(|values| n.saturating_mul(values));
        inputs.iter().try_fold(tuning::DRAWS_PER_POINT, values).unwrap_or(REDRAWS).min(REDRAWS)
    }
}

impl Engine for LimitedAuto {
    fn version(&self) -> Version {
        Version { engine: "limits-many", number: 4 }
    }

    fn propose(&mut self, next: Next<'_>, watch: &dyn Watch) -> Result<Plan> {
        let origin = self.turn();
        let planned = fallback::attempt(|| match (origin, &mut self.search) {
            (Origin::Model, Some(search)) => search.propose(next, watch),
            _ => Ok(self.planned(origin, next.id)),
        })?;
        Ok(planned.unwrap_or_else(|why| self.makeshift(next.id, why)))
    }

    fn redraw(&self, plan: &mut Plan, draw: u64, stream: &mut Stream) -> bool {
        let is_of_search = plan.origin == Origin::Model;
        if let Some(search) = self.search.as_ref().filter(|_| is_of_search && draw <= self.enough_draws()) {
            return search.engine.redraw(plan, draw, stream);
        }
        match self.others_moved() {
            Some(recipe) if is_of_search => {
                *plan = Plan::new(plan.trial.id, vec![], Purpose::Explore, Some(recipe));
                plan.origin = Origin::Makeshift;
                true
            }
            _ => false,
        }
    }

    fn asked(&mut self, trial: &Trial, origin: Origin) {
        if let Err(error) = self.note(trial, origin) {
            self.recover(error.to_string());
        }
    }

    fn restored(&mut self, trial: &Trial) -> Result<()> {
        let origin = self.origin_of(trial)?;
        self.note(trial, origin)
    }

    fn adopted(&mut self, trial: &Trial) {
        if let Err(error) = self.note_point(trial, Task::Known) {
            self.recover(error.to_string());
        }
        if matches!(self.phase, Phase::Start(_)) {
            self.plan_start(TrialId(trial.id.0 + 1));
        }
    }

    fn begins_at(&mut self, next: TrialId) {
        if matches!(self.phase, Phase::Start(_)) {
            self.plan_start(next);
        }
    }

    fn hint(&mut self, hint: Hint) {
        if self.known == Known::Given {
            return;
        }
        if let Hint::Named(inputs) = &hint {
            self.name_unproven(inputs);
        }
        self.known = Known::Hint(hint);
    }

    fn told(&mut self, trial: &Trial, value: Option<f64>) {
        self.told_limited(trial, value, &[]);
    }

    fn told_limited(&mut self, trial: &Trial, value: Option<f64>, limited: &[Option<f64>]) {
        let limited = (0..self.limits.len()).map(|k| limited.get(k).copied().flatten());
        let values: Vec<Option<f64>> = std::iter::once(value).chain(limited).collect();
        match fallback::attempt(|| self.take(trial.id, &values, false)) {
            Ok(Ok(())) => {}
            Ok(Err(why)) => self.recover(why),
            Err(stopped) => self.recover(stopped.to_string()),
        }
    }

    /// Whatever asked for it goes on without an answer.
    fn lost(&mut self, trial: &Trial) {
        let values = vec![None; self.table.n_outputs()];
        if let Ok(Err(why)) = fallback::attempt(|| self.take(trial.id, &values, true)) {
            self.recover(why);
        }
    }

    fn unit(&self, trial: &Trial) -> Result<Vec<f64>> {
        Ok(match trial.recipe {
            Some(_) => self.recipes.point(trial),
            None => trial.z.clone(),
        })
    }

    fn insight(&self, sign: f64) -> Option<Insight> {
        Some(self.report(sign))
    }

    fn look_at_limits(&mut self, watch: &dyn Watch) -> Result<Option<LimitsLook>> {
        match &mut self.search {
            Some(search) if !matches!(search.searched, Searched::Bins(_)) => {
                search.engine.look_at_limits(watch)
            }
            _ => Ok(None),
        }
    }

    fn limits(&mut self, sign: f64, watch: &dyn Watch) -> Result<Vec<LimitKnown>> {
        match &mut self.search {
            Some(search) => search.engine.limits(sign, watch),
            None => Ok(vec![]),
        }
    }

    fn model_of_best(&mut self, _history: &History) -> Option<(&mut Optimiser, Located)> {
        let search = self.search.as_mut()?;
        let located = search.located(&self.recipes, &self.table);
        let optimiser = search.engine.model_of_all()?;
        (!located.is_empty()).then_some((optimiser, located))
    }

    fn model_of_inputs(&mut self, history: &History) -> Option<OfInputs<'_>> {
        let inputs = Some(self.search.as_ref()?.inputs(&self.recipes)?);
        let (optimiser, located) = self.model_of_best(history)?;
        Some(OfInputs { optimiser, inputs, located })
    }
}
