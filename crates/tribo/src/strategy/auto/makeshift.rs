//! When the search cannot go on as it is: its inputs are exhausted, or something in it breaks.
//!
//! Inputs that matter may take few values, and all of them have been tried: then the others are moved, as in a rest check.
//! A proposal that breaks is replaced by a point near the incumbent, in the inputs that are searched; a transition that
//! breaks leaves a search over the inputs named, or over all of them. Each is a trial or an event like any other, so a study
//! is restored through it.

use super::optimise::Optimise;
use super::phase::Phase;
use super::{Auto, tuning};
use crate::error::{Error, RestoreFault, Result};
use crate::rng::Stream;
use crate::strategy::engine::{Origin, Plan};
use crate::strategy::study::insight::Fact;
use crate::trial::{Decision, Purpose, Recipe, Trial, TrialId};

impl Auto {
    /// A point near the incumbent instead of the proposal that could not be made, and why; anywhere if there is none.
    pub(super) fn makeshift(&self, id: TrialId, why: String) -> Plan {
        let mut stream = Stream::new(self.context.seed, "makeshift", id.0);
        let incumbent = self.context.results.incumbent;
        let near = incumbent.and_then(|best| self.search.coordinates(&self.context, best.id, true));
        let (recipe, z) = match (near, self.search.recipe(&self.context)) {
            (Some(u), Ok(recipe)) => (
                recipe,
                u.iter().map(|u| (u + tuning::MAKESHIFT_SD * stream.normal()).clamp(0.0, 1.0)).collect(),
            ),
            _ => (Recipe::Uniform, vec![]),
        };
        let (results, fell_back) = (self.context.results.len(), Some(why));
        let decision =
            Some(Box::new(Decision { results, fit: None, ended: None, fell_back, nominees: None }));
        let mut plan = Plan::new(id, z, Purpose::Explore, Some(recipe));
        (plan.trial.decision, plan.origin) = (decision, Origin::Makeshift);
        plan
    }

    /// The incumbent with all inputs moved that are not searched; None if there are none.
    pub(super) fn elsewhere(&self, id: TrialId) -> Option<Plan> {
        let plan = Plan::new(id, vec![], Purpose::Explore, Some(self.others_moved()?));
        Some(Plan { origin: Origin::Makeshift, ..plan })
    }

    fn others_moved(&self) -> Option<Recipe> {
        let base = self.context.results.incumbent?.id;
        let kept = self.search.inputs().filter(|kept| kept.len() < self.context.recipes.n_inputs)?;
        Some(Recipe::Others { base, kept: kept.to_vec() })
    }

    /// Uniform draws after which a space of few points can be taken for exhausted: hardly a point that is left is missed by
    /// these. None where inputs take every value.
    pub(super) fn enough_draws(&self) -> Option<u64> {
        let recipes = &self.context.recipes;
        let n_values =
            |n: u64, &input: &usize| recipes.n_values(input).map(|values| n.saturating_mul(values));
        self.search.inputs()?.iter().try_fold(tuning::DRAWS_PER_POINT, n_values)
    }

    /// Whether a trial of an earlier process was asked in the place of one that the part with the turn would have asked.
    pub(super) fn is_makeshift(&self, trial: &Trial, turn: Origin) -> bool {
        let fell_back = trial.decision.as_ref().is_some_and(|decision| decision.fell_back.is_some());
        fell_back || (turn == Origin::Model && matches!(trial.recipe.as_deref(), Some(Recipe::Others { .. })))
    }

    /// Refuses a makeshift of an earlier process that this machine would not have made.
    pub(super) fn check_makeshift(&self, trial: &Trial) -> Result<()> {
        let fault = |fault| Err(Error::Restore { id: trial.id.0, fault });
        let Some(decision) = &trial.decision else {
            let is_own = trial.recipe.is_some() && trial.recipe.as_deref() == self.others_moved().as_ref();
            return if is_own { Ok(()) } else { fault(RestoreFault::Recipe) };
        };
        let (recorded, known) = (decision.results, self.context.results.len());
        if recorded != known {
            return fault(RestoreFault::Results { recorded, known });
        }
        let searched = self.search.recipe(&self.context).ok();
        let expected = match trial.recipe.as_deref() {
            Some(Recipe::Uniform) => 0,
            recipe if recipe == searched.as_ref() => {
                self.search.modelled.as_ref().map_or(0, |modelled| modelled.optimiser.embedding().model_dim())
            }
            _ => return fault(RestoreFault::Recipe),
        };
        match trial.z.len() {
            found if found == expected => Ok(()),
            found => fault(RestoreFault::Length { what: "z", expected, found }),
        }
    }

    /// Takes note of what a makeshift means.
    pub(super) fn makeshift_asked(&mut self, trial: &Trial) {
        let known = self.context.findings.iter().any(|finding| finding.fact == Fact::AllTried);
        if trial.decision.is_none() && !known {
            self.context.found(Fact::AllTried);
        }
    }

    /// Goes on after a transition that broke: with a search over the inputs named, over all of them where they are few
    /// enough, or else with uniform points.
    pub(super) fn recover(&mut self, why: String) {
        self.context.found(Fact::FellBack { why, trials: 0 });
        self.context.queue.clear();
        self.phase = Phase::Optimise(Optimise::default());
        self.verification.give_up_rest();
        self.search.recover(&self.context);
    }
}
