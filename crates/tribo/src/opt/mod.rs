//! Minimisers inside a box, in reverse communication: the optimiser says where, the caller evaluates and
//! tells.
//!
//! No function is ever called from here. So many runs can be stepped together and evaluated as one batch, a
//! deadline or a cancellation is the caller's plain `break`, and a failed evaluation is told as a number that
//! is not finite. Both minimisers are deterministic and never name a point outside the box.
//!
//! - [`lbfgs`]: with gradients; few evaluations, each dear (training, smooth acquisitions).
//! - [`cmaes`]: without gradients; rough or many-peaked functions, each evaluation cheap; with a diagonal covariance
//!   for any number of variables.

pub mod cmaes;
pub mod lbfgs;

use crate::error::{Error, Result};

/// What to do after telling a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// Evaluate the next point.
    Continue,
    /// Nothing more to evaluate; further values are ignored.
    Stopped(Stop),
}

/// Why a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// The projected gradient is within its tolerance.
    GradientSmall,
    /// The value hardly falls any more.
    DecreaseSmall,
    /// Steps have shrunk to nothing beside the point, or promise less than the smallest decrease worth
    /// having.
    StepSmall,
    /// A line search along the gradient spent its trials without lowering the value.
    LineSearch,
    /// The cap on iterations is reached.
    Iterations,
    /// The cap on evaluations is reached.
    Evaluations,
    /// The value or the gradient at the start is not finite.
    StartNotFinite,
}

impl Stop {
    /// Whether the run ended because there was nothing left to gain, rather than at a cap or in a failure.
    pub fn converged(self) -> bool {
        matches!(self, Stop::GradientSmall | Stop::DecreaseSmall | Stop::StepSmall)
    }
}

/// Refuses sizes that differ, a start that is not finite, and a box that is not one. Sides may be infinite,
/// or of zero width.
fn check_box(start: &[f64], low: &[f64], high: &[f64]) -> Result<()> {
    if start.is_empty() {
        return Err(Error::Empty { what: "start" });
    }
    for (what, bound) in [("length of low (start)", low), ("length of high (start)", high)] {
        if bound.len() != start.len() {
            return Err(Error::Size { what, expected: start.len(), found: bound.len() });
        }
    }
    for i in 0..start.len() {
        for (what, value) in [("low", low[i]), ("high", high[i])] {
            if value.is_nan() {
                return Err(Error::NotFinite { what, row: i, column: 0, value });
            }
        }
        if low[i] > high[i] || low[i] == f64::INFINITY || high[i] == f64::NEG_INFINITY {
            return Err(Error::EmptyBox { what: "the box", index: i, low: low[i], high: high[i] });
        }
        if !start[i].is_finite() {
            return Err(Error::NotFinite { what: "start", row: i, column: 0, value: start[i] });
        }
    }
    Ok(())
}

/// Refuses a number outside [low, high], and NaN.
fn in_range(what: &'static str, value: f64, low: f64, high: f64) -> Result<()> {
    if (low..=high).contains(&value) { Ok(()) } else { Err(Error::OutOfRange { what, value, low, high }) }
}
