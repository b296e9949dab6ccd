//! Tests only: a context to try a phase on, without a study around it.

use super::context::{Context, Queued, Task};
use super::known::PriorKnowledge;
use crate::space::{Parameter, Space};
use crate::trial::{Purpose, Recipe, Trial, TrialId};

/// A study of `n` inputs with room for 200 evaluations, in which nothing has happened.
pub(super) fn context(n: usize) -> Context {
    Context::new(&space(n), 200, 7, PriorKnowledge::None)
}

pub(super) fn space(n: usize) -> Space {
    Space::new(vec![Parameter::float("x", 0.0, 1.0).with_size(n)]).unwrap()
}

/// The next trial.
pub(super) fn trial(context: &Context, recipe: Recipe, z: Vec<f64>) -> Trial {
    let id = TrialId(context.recipes.last_id().map_or(0, |last| last + 1));
    Trial { id, embedding: 0, z, purpose: Purpose::Probe, recipe: Some(Box::new(recipe)), decision: None }
}

/// Asks for a point and measures it; for nothing but data.
pub(super) fn measure(context: &mut Context, recipe: Recipe, value: f64) -> TrialId {
    let trial = trial(context, recipe, vec![]);
    context.note(&trial, Task::Point);
    context.told(trial.id, Some(value));
    trial.id
}

/// Asks for the head of the queue and measures it: its id, what it is for, and its value.
pub(super) fn answer(context: &mut Context, f: impl Fn(&[f64]) -> f64) -> (TrialId, Task, f64) {
    let Queued { recipe, z, task } = context.queue.pop_front().expect("something to ask");
    let trial = trial(context, recipe, z);
    context.note(&trial, task);
    let value = f(&context.recipes.of(trial.id, &context.all_inputs()));
    let task = context.told(trial.id, Some(value)).expect("a trial that is pending");
    (trial.id, task, value)
}
