//! What every phase may use: how trials were made, what came of them, what waits to be asked, and what is known by now.
//!
//! A context is data. Its methods read it or add to it; what follows is for the phases to say.

use super::earlier::EarlierRows;
use super::known::PriorKnowledge;
use super::noise::{NoiseLevel, Repeats};
use super::recipes::Recipes;
use super::screening::{GroupTest, NamedPlace, Surroundings};
use super::search::Slope;
use super::tuning;
use crate::space::Space;
use crate::strategy::study::insight::{ActiveInput, Evidence, Fact, Finding};
use crate::trial::{Purpose, Recipe, Trial, TrialId};
use std::collections::{BTreeMap, VecDeque};

/// The first trial of a study.
const FIRST: TrialId = TrialId(0);

/// What is shared by all phases.
pub(super) struct Context {
    pub(super) recipes: Recipes,
    pub(super) seed: u64,
    pub(super) budget: usize,
    /// Where the start departs from: the centre of the cube, or the incumbent of the results from before.
    pub(super) centre: TrialId,
    /// Trials that wait to be asked.
    pub(super) queue: VecDeque<Queued>,
    /// Trials that are not back.
    pub(super) pending: BTreeMap<u64, Awaited>,
    pub(super) results: Measurements,
    pub(super) counts: TrialCounts,
    /// Workers, as far as they were seen: most trials pending at once.
    pub(super) workers: usize,
    pub(super) noise: NoiseLevel,
    pub(super) repeats: Repeats,
    /// What was known about the inputs before, until it is followed.
    pub(super) prior: PriorKnowledge,
    /// Rows of earlier results, while they are believed.
    pub(super) earlier: Option<EarlierRows>,
    pub(super) named: Vec<ActiveInput>,
    /// What small steps have shown, while the search has few results.
    pub(super) slopes: Vec<Slope>,
    pub(super) tried: Tried,
    pub(super) findings: Vec<Finding>,
}

/// What is done once in a study.
#[derive(Default)]
pub(super) struct Tried {
    /// Screening with large steps, where small ones had no answer.
    pub(super) large_steps: bool,
    /// Moving all inputs together.
    pub(super) line: bool,
}

/// How many of each kind there were.
#[derive(Default)]
pub(super) struct TrialCounts {
    /// Results from before.
    pub(super) known: usize,
    /// Trials asked here.
    pub(super) own: usize,
    /// Tests of all rounds of screening that are back.
    pub(super) tests: usize,
    /// Results of points that the search proposed.
    pub(super) searched: usize,
}

/// A measured trial.
#[derive(Debug, Clone, Copy)]
pub(super) struct Measured {
    pub(super) id: TrialId,
    pub(super) value: f64,
    /// Whether a model may see it.
    pub(super) in_model: bool,
}

/// Measured trials in the order told.
#[derive(Default)]
pub(super) struct Measurements {
    rows: Vec<Measured>,
    /// The one with the lowest value, the first of equals.
    pub(super) incumbent: Option<Measured>,
    /// Results before this one are of another sum of all inputs and stay out of the model.
    pub(super) model_from: usize,
}

impl Measurements {
    fn push(&mut self, row: Measured) {
        if self.incumbent.is_none_or(|best| row.value < best.value) {
            self.incumbent = Some(row);
        }
        self.rows.push(row);
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Measured> {
        self.rows.iter()
    }

    /// The value of a trial, if it was measured.
    pub(super) fn value(&self, id: TrialId) -> Option<f64> {
        self.rows.iter().find(|row| row.id == id).map(|row| row.value)
    }

    /// Values that a model may see.
    pub(super) fn model_values(&self) -> Vec<f64> {
        self.rows.iter().filter(|row| row.in_model).map(|row| row.value).collect()
    }
}

/// A trial to be asked.
#[derive(Debug, Clone)]
pub(super) struct Queued {
    pub(super) recipe: Recipe,
    pub(super) z: Vec<f64>,
    pub(super) task: Task,
}

impl Queued {
    /// Why it is asked.
    pub(super) fn purpose(&self) -> Purpose {
        match (&self.task, &self.recipe) {
            (Task::Start { pair: false } | Task::Again(_) | Task::Corner, _) | (_, Recipe::Bins { .. }) => {
                Purpose::Initial
            }
            (Task::Point | Task::Row, _) => Purpose::Explore,
            _ => Purpose::Probe,
        }
    }
}

/// A trial that is not back.
pub(super) struct Awaited {
    pub(super) task: Task,
    /// Whether a model may see its result.
    pub(super) in_model: bool,
}

/// What the answer is for. An answer to a phase that is over is data and nothing more, unless it says otherwise.
#[derive(Debug, Clone)]
pub(super) enum Task {
    /// Nothing but data.
    Point,
    /// A point downhill while inputs are screened: data too, but asked before any test.
    Downhill,
    /// A result from before.
    Known,
    /// Whether a named input matters: the incumbent, whose value is ..., with that input moved. In any phase.
    Check { input: usize, before: f64 },
    /// The start: counts, and may be one of the pair that shows the noise.
    Start { pair: bool },
    /// Row number ... of earlier results once more. Counts for the start.
    Again(usize),
    /// A repeat of the point of slot number ... In any phase.
    Repeat(usize),
    /// One of more rows, in search of one that stands out.
    Row,
    /// One probe of many that move all inputs.
    Scatter,
    /// A test of round ..., while that is the last one.
    Test(usize, GroupTest),
    /// The rest check: the idle inputs moved, or not. In any phase.
    Rest { moved: bool },
    /// A step along the line.
    Line(f64),
    /// The base of round ... once more, while that is the last one.
    Still(usize),
    /// Noise at the bottom of the line, where the value is ...
    Bottom(f64),
    /// One input moved alone from a base, while that is the sweep's.
    Single { base: TrialId, input: usize },
    /// For pairs of inputs: a corner in which the two of each pair differ.
    Corner,
    /// The search's own.
    Search,
}

impl Context {
    pub(super) fn new(space: &Space, budget: usize, seed: u64, prior: PriorKnowledge) -> Context {
        Context {
            recipes: Recipes::new(space, seed),
            seed,
            budget,
            centre: FIRST,
            queue: VecDeque::new(),
            pending: BTreeMap::new(),
            results: Measurements::default(),
            counts: TrialCounts::default(),
            workers: 1,
            noise: NoiseLevel::default(),
            repeats: Repeats::default(),
            prior,
            earlier: None,
            named: vec![],
            slopes: vec![],
            tried: Tried::default(),
            findings: vec![],
        }
    }

    pub(super) fn found(&mut self, fact: Fact) {
        self.findings.push(Finding { results: self.results.len(), fact });
    }

    /// Puts a trial at the end of the queue.
    pub(super) fn push(&mut self, recipe: Recipe, z: Vec<f64>, task: Task) {
        self.queue.push_back(Queued { recipe, z, task });
    }

    /// Puts a trial at the head of the queue.
    pub(super) fn push_first(&mut self, recipe: Recipe, z: Vec<f64>, task: Task) {
        self.queue.push_front(Queued { recipe, z, task });
    }

    /// What a point that sets these inputs departs from, to be as the incumbent is in the others: not a chain of such points, since
    /// what the incumbent itself set is set anew.
    pub(super) fn base_of_set(&self, best: TrialId, inputs: &[usize]) -> TrialId {
        match self.recipes.recipe(best) {
            Some(Recipe::Set { base, inputs: set })
                if set.iter().all(|input| inputs.binary_search(input).is_ok()) =>
            {
                *base
            }
            _ => best,
        }
    }

    /// Takes note of a trial that is under way; whether a model may see its result.
    pub(super) fn note(&mut self, trial: &Trial, task: Task) -> bool {
        let recipe = trial.recipe.as_deref().cloned().unwrap_or(Recipe::Uniform);
        let in_model = self.is_for_model(&recipe);
        self.recipes.note(trial.id, recipe, trial.z.clone());
        self.pending.insert(trial.id.0, Awaited { task, in_model });
        self.workers = self.workers.max(self.pending.len());
        in_model
    }

    /// Takes note of an outcome, and says what it is for; None if nobody waits for it.
    pub(super) fn told(&mut self, id: TrialId, value: Option<f64>) -> Option<Task> {
        let Awaited { task, in_model } = self.pending.remove(&id.0)?;
        if let Some(value) = value {
            self.results.push(Measured { id, value, in_model });
        }
        Some(task)
    }

    /// Whether a model may see results of such points.
    fn is_for_model(&self, recipe: &Recipe) -> bool {
        match recipe {
            Recipe::Move { step, .. } => *step >= tuning::STEP_IN_MODEL,
            Recipe::Jitter { .. } => self.noise.noisy,
            Recipe::Scatter { .. } => false,
            _ => true,
        }
    }

    /// The trial with the lowest value, or else the centre.
    pub(super) fn incumbent_or_centre(&self) -> TrialId {
        self.results.incumbent.map_or(self.centre, |best| best.id)
    }

    /// All inputs by number.
    pub(super) fn all_inputs(&self) -> Vec<usize> {
        (0..self.recipes.n_inputs).collect()
    }

    /// Inputs named so far, in increasing order.
    pub(super) fn named_inputs(&self) -> Vec<usize> {
        let mut inputs: Vec<usize> = self.named.iter().map(|named| named.input).collect();
        inputs.sort_unstable();
        inputs
    }

    /// Inputs that are not named.
    pub(super) fn others(&self) -> Vec<usize> {
        let named = self.named_inputs();
        (0..self.recipes.n_inputs).filter(|j| named.binary_search(j).is_err()).collect()
    }

    /// Names inputs because somebody said so.
    pub(super) fn name_unproven(&mut self, inputs: &[usize]) {
        for &input in inputs {
            let name = self.recipes.name(input);
            self.named.push(ActiveInput { name, input, evidence: None });
        }
    }

    /// Names inputs that were found to matter.
    pub(super) fn name(&mut self, found: &[NamedPlace], step: f64, inputs: &[usize]) {
        for (found, &input) in found.iter().zip(inputs) {
            let evidence = Evidence { effect: found.answer, step, threshold: found.threshold };
            let named = ActiveInput { name: self.recipes.name(input), input, evidence: Some(evidence) };
            self.found(Fact::Named(named.clone()));
            self.named.push(named);
        }
    }

    /// What a round of screening has to know.
    pub(super) fn surroundings(&self) -> Surroundings {
        Surroundings { sigma: self.noise.sigma, workers: self.workers, budget: self.budget }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategy::auto::rehearsal::{context, measure, trial};

    #[test]
    fn the_incumbent_is_the_first_of_the_lowest() {
        let mut context = context(60);
        assert_eq!(context.incumbent_or_centre(), context.centre);
        measure(&mut context, Recipe::Centre, 2.0);
        let low = measure(&mut context, Recipe::Low, 1.0);
        measure(&mut context, Recipe::High, 1.0);
        assert_eq!(context.results.incumbent.map(|best| (best.id, best.value)), Some((low, 1.0)));
        assert_eq!((context.results.value(low), context.results.value(TrialId(9))), (Some(1.0), None));
    }

    #[test]
    fn a_trial_is_pending_until_it_is_told_and_told_once() {
        let mut context = context(60);
        let (one, two) = (trial(&context, Recipe::Centre, vec![]), TrialId(1));
        context.note(&one, Task::Search);
        assert!(context.told(two, Some(1.0)).is_none(), "nobody waits for it");
        assert!(matches!(context.told(one.id, None), Some(Task::Search)));
        assert!(context.told(one.id, Some(1.0)).is_none() && context.results.len() == 0);
    }

    #[test]
    fn models_see_no_ripples() {
        let mut context = context(60);
        let base = measure(&mut context, Recipe::Centre, 2.0);
        let moved =
            |step: f64| Recipe::Move { round: 0, began: None, parts: vec![(0, 9)], chunk: None, step };
        assert!(!context.is_for_model(&moved(1e-4)) && context.is_for_model(&moved(tuning::LARGE_STEP)));
        let jitter = Recipe::Jitter { base, balanced: false };
        assert!(!context.is_for_model(&jitter));
        context.noise.noisy = true;
        assert!(context.is_for_model(&jitter), "under noise it is another value of the same point");
    }
}
