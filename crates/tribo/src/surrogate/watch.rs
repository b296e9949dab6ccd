//! How a caller follows and stops long work.
//!
//! The library has no clock: a deadline is a [`Watch`] that looks at the caller's clock, cancellation one that
//! looks at a flag. Both questions are asked often and from several threads, so they must be cheap.

use crate::error::{Error, Result};

/// What training has done so far.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// Objective evaluations on subsets of the data.
    pub subset_evaluations: usize,
    /// Objective evaluations on all data.
    pub full_evaluations: usize,
    /// The best objective per point of the current stage, the higher the better.
    pub best: f64,
}

/// Follows long work and may end it.
pub trait Watch: Sync {
    /// Whether to give up at once, with an error. Asked between blocks of data, and between steps that cost m³.
    fn cancelled(&self) -> bool {
        false
    }
    /// Whether the time for searching is over: finish with the best found so far. Asked between evaluations of
    /// an objective; what must still be computed to have a result is computed.
    fn deadline_passed(&self) -> bool {
        false
    }
    /// Called after every evaluation of a training objective.
    fn progress(&self, _progress: &Progress) {}
}

/// An error if the caller has given up on `what`.
pub(crate) fn go_on(watch: &dyn Watch, what: &'static str) -> Result<()> {
    if watch.cancelled() { Err(Error::Stopped { what }) } else { Ok(()) }
}

/// Watches nothing and never ends anything.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unwatched;

impl Watch for Unwatched {}
