//! What every strategy is to a study.
//!
//! An engine changes by events alone: a trial asked, an outcome told. Between them it is asked what it would do next, as
//! often as anyone likes, and that changes nothing but what can be made again. So a *plan* that is not asked leaves no
//! trace, and a study that was interrupted is made again from its events.
//!
//! ```text
//! propose ──> Plan ──(redraw: the point is known)──> Trial ──> asked ──> told
//!                                   a trial of an earlier process ──> restored ──> told
//! ```
//!
//! The study keeps the history, knows the space and sees to it that no point is asked twice; the engine knows neither
//! the user's units nor the user's direction.

use super::bo::{Fitting, Optimiser, Refitted};
use super::digest::Digest;
use super::limits::LimitsLook;
use super::study::LimitKnown;
use super::study::insight::Insight;
use crate::error::Result;
use crate::rng::Stream;
use crate::surrogate::watch::Watch;
use crate::trial::{History, Purpose, Recipe, Trial, TrialId};

/// A strategy at work.
pub(super) trait Engine: Send + Sync {
    /// Its name, and a version that is raised whenever the same events lead to other proposals.
    fn version(&self) -> Version;

    /// What it would ask next. Breaks for the caller's reasons only.
    fn propose(&mut self, next: Next<'_>, watch: &dyn Watch) -> Result<Plan>;

    /// Puts another point into a plan whose point was asked before, for the `draw`-th time; false if there is none left.
    fn redraw(&self, plan: &mut Plan, draw: u64, stream: &mut Stream) -> bool;

    /// Takes note of a trial asked as planned.
    fn asked(&mut self, trial: &Trial, origin: Origin);

    /// Takes note of a trial asked by an earlier process. An error changes nothing.
    fn restored(&mut self, trial: &Trial) -> Result<()>;

    /// Takes note of a trial that someone else chose; its z is the point in the unit cube of all inputs.
    fn adopted(&mut self, _trial: &Trial) {}

    /// Trial `next` is the first one that can be asked.
    fn begins_at(&mut self, _next: TrialId) {}

    /// What an earlier search of the same function had found, before anything is asked.
    fn hint(&mut self, _hint: Hint) {}

    /// Takes what very many earlier results say, before anything is asked; values as in the engine. Whether it is of any use.
    fn recall(&mut self, _digest: &Digest) -> bool {
        false
    }

    /// Whether it would take such, if they name inputs.
    fn recalls(&self) -> bool {
        false
    }

    /// Takes note of an outcome: a value, smaller is better, or none.
    fn told(&mut self, trial: &Trial, value: Option<f64>);

    /// As [`Engine::told`], with what was measured of the limited outputs, in the order of the limits.
    fn told_limited(&mut self, trial: &Trial, value: Option<f64>, _limited: &[Option<f64>]) {
        self.told(trial, value);
    }

    /// The models of the limited outputs, to be looked at.
    fn look_at_limits(&mut self, _watch: &dyn Watch) -> Result<Option<LimitsLook>> {
        Ok(None)
    }

    /// What it knows about the limits; `sign` is that of the user's values.
    fn limits(&mut self, _sign: f64, _watch: &dyn Watch) -> Result<Vec<LimitKnown>> {
        Ok(vec![])
    }

    /// Takes note that a trial was lost by an accident: it is pending no more, and nothing is known about its point.
    fn lost(&mut self, trial: &Trial) {
        self.told(trial, None);
    }

    /// The point of a trial, in the unit cube of all inputs.
    fn unit(&self, trial: &Trial) -> Result<Vec<f64>>;

    /// What it knows about the function and its inputs, if it looks into that; `sign` is that of the user's values.
    fn insight(&self, _sign: f64) -> Option<Insight> {
        None
    }

    /// Embeddings that trials can belong to.
    fn n_embeddings(&self) -> usize {
        1
    }

    /// Whether z is the point itself, so that a model sees every coordinate.
    fn models_all(&self) -> bool {
        false
    }

    /// The optimiser that knows most about the best trial, and the measured trials it has seen, with their places in it.
    fn model_of_best(&mut self, _history: &History) -> Option<(&mut Optimiser, Located)> {
        None
    }

    /// The one optimiser that models every coordinate.
    fn model_of_all(&mut self) -> Option<&mut Optimiser> {
        None
    }

    /// The optimiser whose coordinates are those of some inputs, as they are.
    fn model_of_inputs(&mut self, _history: &History) -> Option<OfInputs<'_>> {
        None
    }

    /// Whether the caller makes fits to many results beside the asks.
    fn refit_beside(&mut self, _beside: bool) {}

    /// The fit that is due to be made beside the asks, if one is.
    fn refit(&self) -> Option<Fitting> {
        None
    }

    /// Takes a fit that was made beside the asks; false if it is of no use any more.
    fn take_refit(&mut self, _refitted: Refitted) -> bool {
        false
    }

    /// Part of the inputs that were clipped to the box at a trial.
    fn clip_fraction(&self, _trial: &Trial) -> Result<f64> {
        Ok(0.0)
    }
}

/// Whether someone else chose the point of a trial, so that z is all of it.
pub(super) fn is_given(trial: &Trial) -> bool {
    matches!(trial.recipe.as_deref(), Some(Recipe::Given))
}

/// Which engine makes the proposals of a study. Only the same version can go on from its records; another one begins with
/// the results as known data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Version {
    /// Its name.
    pub engine: &'static str,
    /// Raised whenever the same events lead to other proposals.
    pub number: u32,
}

/// Trials and where they are in the unit cube of an optimiser.
pub(super) type Located = Vec<(TrialId, Vec<f64>)>;

/// An optimiser that sees inputs as they are.
pub(super) struct OfInputs<'a> {
    pub(super) optimiser: &'a mut Optimiser,
    /// Which it sees, in increasing order; None for all.
    pub(super) inputs: Option<Vec<usize>>,
    /// The measured trials it has seen.
    pub(super) located: Located,
}

/// The trial that a plan is wanted for.
#[derive(Clone, Copy)]
pub(super) struct Next<'a> {
    /// Its id.
    pub(super) id: TrialId,
    /// All trials before it.
    pub(super) history: &'a History,
}

/// What a search knew about the inputs when it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Hint {
    /// These matter, by number, in increasing order.
    Named(Vec<usize>),
    /// Too many matter to name them.
    Dense,
}

/// A trial that could be asked.
pub(super) struct Plan {
    pub(super) trial: Trial,
    /// Whether the point must be one that was not asked before; probes and repeats need not.
    pub(super) must_be_new: bool,
    pub(super) origin: Origin,
}

impl Plan {
    /// A plan for a point that must be new, in the only embedding, without anything decided on the way.
    pub(super) fn new(id: TrialId, z: Vec<f64>, purpose: Purpose, recipe: Option<Recipe>) -> Plan {
        let trial = Trial { id, embedding: 0, z, purpose, recipe: recipe.map(Box::new), decision: None };
        Plan { trial, must_be_new: true, origin: Origin::Model }
    }
}

/// Which part of its engine a plan comes from. It is handed back when the trial was asked, so that nothing has to be
/// found out twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// A design or a model.
    Model,
    /// The points that wait to be asked.
    Queue,
    /// A round of screening.
    Round,
    /// Probes for a crowd of workers.
    Crowd,
    /// Nothing better to do: anywhere.
    Anywhere,
    /// Makeshift for what could not be proposed.
    Makeshift,
}
