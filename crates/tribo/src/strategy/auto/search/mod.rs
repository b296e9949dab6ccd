//! The search over what was found: the inputs named so far, bins of inputs, or all of them.
//!
//! It runs beside every phase, as soon as there is something to search: what a phase does not ask for, the search may. An
//! `Optimiser` does the work, in the coordinates of its space; it is made anew when the space changes, and given all results
//! that lie in it (`feed`). Where too many inputs matter, `dense` says which space has its turn.

mod earlier_rows;
mod feed;
mod slope_hints;

pub(super) use slope_hints::Slope;

use super::context::Context;
use super::dense::{Bins, Evolution, Pairs, Singles, Turn, bins, pairs, singles};
use super::tuning;
use crate::error::{Error, Result};
use crate::strategy::bo::{Optimiser, Proposal};
use crate::strategy::engine::{Located, Next, Plan};
use crate::surrogate::watch::Watch;
use crate::trial::{Purpose, Recipe, Trial, TrialId};

/// The search.
pub(super) struct ModelSearch {
    pub(super) space: SearchSpace,
    /// Who searches it, once there is something to search. Evolution does without.
    pub(super) modelled: Option<Modelled>,
    /// Optimisers made so far.
    n_made: u64,
    /// Whose turn it is, where too many inputs matter and noise does not hide what a turn gains.
    pub(super) turn: Option<Turn>,
}

/// What is searched.
pub(super) enum SearchSpace {
    /// The inputs named so far.
    Named,
    /// Common moves of bins of inputs.
    Bins(Bins),
    /// All inputs.
    AllInputs,
    /// All inputs, by CMA-ES and not with a model.
    Evolution(Box<Evolution>),
    /// Inputs that were moved one at a time, and gained.
    Singles(Singles),
    /// Runs of pairs of inputs.
    Pairs(Pairs),
}

/// An optimiser and the coordinates that it sees.
pub(super) struct Modelled {
    coordinates: Coordinates,
    pub(super) optimiser: Optimiser,
    /// The first of the earlier results that it was given; None if it was given none.
    earlier_from: Option<usize>,
}

/// Coordinates of an optimiser.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Coordinates {
    /// These inputs, in increasing order; the others as in the incumbent.
    Inputs(Vec<usize>),
    /// Bins of draw `number`, moved from a base.
    Bins { base: TrialId, number: usize },
    /// These inputs, in increasing order; the others as in a base, and no point elsewhere counts.
    Around { base: TrialId, inputs: Vec<usize> },
    /// So many runs of pairs.
    Pairs { runs: usize, halves: bool },
}

impl Coordinates {
    /// Where a trial is, if it is in their space; `in_model` if a model may see it.
    fn of(&self, context: &Context, id: TrialId, in_model: bool) -> Option<Vec<f64>> {
        match self {
            Coordinates::Inputs(inputs) => in_model.then(|| context.recipes.of(id, inputs)),
            Coordinates::Bins { base, number } => bins::coordinates(context, *base, *number, id, in_model),
            Coordinates::Around { base, inputs } => singles::coordinates(context, *base, inputs, id),
            Coordinates::Pairs { runs, halves } => pairs::coordinates(context, *runs, *halves, id),
        }
    }
}

impl ModelSearch {
    pub(super) fn new() -> ModelSearch {
        ModelSearch { space: SearchSpace::Named, modelled: None, n_made: 0, turn: None }
    }

    /// Whether there is something to search.
    pub(super) fn is_ready(&self) -> bool {
        self.modelled.is_some() || self.evolution().is_some()
    }

    /// Whether it is over the inputs named, and not over bins or all of them.
    pub(super) fn is_over_named(&self) -> bool {
        matches!(self.space, SearchSpace::Named)
    }

    /// CMA-ES, while it is its turn.
    pub(super) fn evolution(&self) -> Option<&Evolution> {
        match &self.space {
            SearchSpace::Evolution(evolution) => Some(evolution),
            _ => None,
        }
    }

    /// Optimisers made so far.
    pub(super) fn n_made(&self) -> u64 {
        self.n_made
    }

    /// The next point, with all that was decided on the way to it.
    pub(super) fn propose(&mut self, context: &Context, next: Next<'_>, watch: &dyn Watch) -> Result<Plan> {
        let id = next.id;
        let recipe = Some(self.recipe(context)?);
        if let Some(evolution) = self.evolution() {
            return Ok(Plan::new(id, evolution.point().to_vec(), Purpose::Exploit, recipe));
        }
        let Some(modelled) = &mut self.modelled else {
            return Err(Error::Empty { what: "inputs to search" });
        };
        if let Some(Recipe::Set { base, inputs }) = &recipe {
            modelled.optimiser.within(context.recipes.region(inputs, *base));
        }
        let Proposal { u, purpose, decision } = modelled.optimiser.propose(next, Purpose::Exploit, watch)?;
        let mut plan = Plan::new(id, u, purpose, recipe);
        plan.trial.decision = decision;
        Ok(plan)
    }

    /// How a point of the space is made into one of all inputs.
    pub(super) fn recipe(&self, context: &Context) -> Result<Recipe> {
        let inputs: Vec<usize> = match self.modelled.as_ref().map(|modelled| &modelled.coordinates) {
            Some(Coordinates::Bins { base, number }) => {
                return Ok(Recipe::Bins { base: *base, number: *number });
            }
            Some(Coordinates::Pairs { runs, halves }) => {
                return Ok(Recipe::Pairs { runs: *runs, halves: *halves });
            }
            Some(Coordinates::Around { base, inputs }) => {
                return Ok(Recipe::Set { base: *base, inputs: inputs.clone() });
            }
            Some(Coordinates::Inputs(inputs)) => inputs.clone(),
            None => context.all_inputs(),
        };
        let best = match (context.results.incumbent, &context.earlier) {
            (Some(best), _) => best.id,
            // Earlier results are searched before there is any of the study.
            (None, Some(_)) => context.centre,
            (None, None) => return Err(Error::Empty { what: "results of the study" }),
        };
        let base = context.base_of_set(best, &inputs);
        Ok(Recipe::Set { base, inputs })
    }

    /// Number of coordinates that a point of the space has, as the search proposes it.
    pub(super) fn dim(&self, context: &Context) -> usize {
        match &self.modelled {
            Some(modelled) => modelled.optimiser.embedding().model_dim(),
            None => context.recipes.dim(),
        }
    }

    /// Inputs that are searched, if they are searched one by one.
    pub(super) fn inputs(&self) -> Option<&[usize]> {
        match &self.modelled.as_ref()?.coordinates {
            Coordinates::Inputs(inputs) | Coordinates::Around { inputs, .. } => Some(inputs),
            Coordinates::Bins { .. } | Coordinates::Pairs { .. } => None,
        }
    }

    /// Where a trial is in the space, if it is in it.
    pub(super) fn coordinates(&self, context: &Context, id: TrialId, in_model: bool) -> Option<Vec<f64>> {
        self.modelled.as_ref()?.coordinates.of(context, id, in_model)
    }

    /// Takes note of a trial that it proposed.
    pub(super) fn asked(&mut self, trial: &Trial) {
        if let Some(modelled) = &mut self.modelled {
            modelled.optimiser.asked(trial, trial.z.clone());
        }
        self.evolution_asked(trial);
    }

    /// Takes note of a trial that it proposed in an earlier process. An error changes nothing.
    pub(super) fn restored(&mut self, trial: &Trial) -> Result<()> {
        if self.evolution().is_none()
            && let Some(modelled) = &mut self.modelled
        {
            modelled.optimiser.restored(trial, trial.z.clone())?;
        }
        self.evolution_asked(trial);
        Ok(())
    }

    fn evolution_asked(&mut self, trial: &Trial) {
        if let SearchSpace::Evolution(evolution) = &mut self.space {
            evolution.asked(trial.id.0, &trial.z);
        }
    }

    /// Takes note of a trial under way that somebody else proposed.
    pub(super) fn expect(&mut self, context: &Context, id: TrialId, in_model: bool) {
        if let Some(modelled) = &mut self.modelled
            && let Some(u) = modelled.coordinates.of(context, id, in_model)
        {
            modelled.optimiser.expect(id.0, u);
        }
    }

    /// Takes note of an outcome.
    pub(super) fn told(&mut self, id: TrialId, value: Option<f64>) {
        if let Some(modelled) = &mut self.modelled {
            modelled.optimiser.told(id.0, value);
        }
    }

    /// Takes note that a trial was lost: the search does not turn away from its point.
    pub(super) fn lost(&mut self, id: TrialId) {
        if let Some(modelled) = &mut self.modelled {
            modelled.optimiser.lost(id.0);
        }
    }

    /// Bins are left for the inputs named.
    pub(super) fn leave_bins(&mut self) {
        if let SearchSpace::Bins(_) = self.space {
            self.space = SearchSpace::Named;
        }
    }

    /// The optimiser is made anew.
    pub(super) fn begin_anew(&mut self, context: &Context) -> Result<()> {
        self.modelled = None;
        self.refresh(context)
    }

    /// After something broke: the inputs named, all of them where they are few enough, or else nothing.
    pub(super) fn recover(&mut self, context: &Context) {
        let all = context.named.is_empty() && context.recipes.dim() <= tuning::WRITTEN;
        self.space = if all { SearchSpace::AllInputs } else { SearchSpace::Named };
        (self.turn, self.modelled) = (None, None);
        if self.refresh(context).is_err() {
            (self.space, self.modelled) = (SearchSpace::Named, None);
        }
    }

    /// The optimiser, and the trials among these that lie in its space.
    pub(super) fn model_of(
        &mut self,
        context: &Context,
        ids: &[TrialId],
    ) -> Option<(&mut Optimiser, Located)> {
        let modelled = self.modelled.as_mut()?;
        let known = |id: &TrialId| {
            let in_model = context.results.iter().any(|result| result.id == *id && result.in_model);
            Some((*id, modelled.coordinates.of(context, *id, in_model)?))
        };
        let points: Located = ids.iter().filter_map(known).collect();
        (!points.is_empty()).then_some((&mut modelled.optimiser, points))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategy::auto::rehearsal::{context, measure, space, trial};
    use crate::surrogate::watch::Unwatched;
    use crate::trial::History;

    /// Rows of a function of inputs 3 and 9.
    fn measured() -> Context {
        let mut context = context(60);
        for row in 0..10 {
            let recipe = Recipe::Latin { batch: 0, count: 10, row };
            let next = trial(&context, recipe.clone(), vec![]);
            let x = context.recipes.made_of(next.id, &recipe, &[], &[3, 9]);
            measure(&mut context, recipe, (x[0] - 0.3).powi(2) + x[1]);
        }
        context
    }

    #[test]
    fn it_searches_the_inputs_named_and_no_others() {
        let mut context = measured();
        let mut search = ModelSearch::new();
        search.refresh(&context).unwrap();
        assert!(!search.is_ready() && search.is_over_named());
        context.name_unproven(&[3]);
        search.refresh(&context).unwrap();
        assert_eq!((search.inputs().unwrap(), search.n_made()), (&[3][..], 1));
        search.refresh(&context).unwrap();
        assert_eq!(search.n_made(), 1, "the space is the same");
        context.name_unproven(&[9]);
        search.refresh(&context).unwrap();
        assert_eq!((search.inputs().unwrap(), search.n_made()), (&[3, 9][..], 2));
        let history = History::new();
        let next = Next { id: TrialId(10), history: &history };
        let plan = search.propose(&context, next, &Unwatched).unwrap();
        let base = context.results.incumbent.unwrap().id;
        assert_eq!(plan.trial.recipe.as_deref(), Some(&Recipe::Set { base, inputs: vec![3, 9] }));
        assert_eq!(plan.trial.z.len(), search.dim(&context));
        // The incumbent's own base, not a chain of them.
        let own = Recipe::Set { base, inputs: vec![3, 9] };
        let best = trial(&context, own.clone(), vec![0.3, 0.0]);
        context.note(&best, crate::strategy::auto::context::Task::Search);
        context.told(best.id, Some(-1.0));
        assert_eq!(search.recipe(&context).unwrap(), own);
    }

    #[test]
    fn slopes_are_dropped_when_there_are_results() {
        let mut context = measured();
        context.name_unproven(&[3, 9]);
        context.slopes = vec![Slope { input: 9, base: TrialId(0), value: 0.5, slope: 1.0 }];
        let mut search = ModelSearch::new();
        search.refresh(&context).unwrap();
        search.drop_slopes(&mut context).unwrap();
        assert_eq!((context.slopes.len(), search.n_made()), (1, 1));
        context.counts.searched = tuning::SLOPES_UNTIL;
        search.drop_slopes(&mut context).unwrap();
        assert_eq!((context.slopes.len(), search.n_made()), (0, 2));
    }

    #[test]
    fn after_a_defect_it_goes_on_with_what_is_named_or_all() {
        let mut context = measured();
        let mut search = ModelSearch::new();
        search.recover(&context);
        assert!(matches!(search.space, SearchSpace::AllInputs) && search.is_ready());
        context.name_unproven(&[3]);
        search.recover(&context);
        assert_eq!(search.inputs(), Some(&[3][..]));
        let wide = Context::new(&space(3_000), 200, 7, super::super::known::PriorKnowledge::None);
        search.recover(&wide);
        assert!(!search.is_ready(), "uniform points are left");
    }
}
