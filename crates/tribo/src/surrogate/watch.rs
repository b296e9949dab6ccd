//! How a caller follows and stops long work.
//!
//! The library has no clock: a deadline is a [`Watch`] that looks at the caller's clock, cancellation one that
//! looks at a flag. `stop` is asked between blocks of data, from several threads; `progress` is told after
//! every evaluation of the objective, from one.

/// What training has done so far.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// Objective evaluations on subsets of the data.
    pub subset_evaluations: usize,
    /// Objective evaluations on all data.
    pub full_evaluations: usize,
    /// The best objective per point of the current stage, to be maximised.
    pub best: f64,
}

/// Follows long work and may stop it.
pub trait Watch: Sync {
    /// Whether to stop as soon as possible, keeping the best result so far.
    fn stop(&self) -> bool {
        false
    }
    /// Called after every evaluation of a training objective.
    fn progress(&self, _progress: &Progress) {}
}

/// Watches nothing and never stops.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unwatched;

impl Watch for Unwatched {}
