//! Expected improvement `[@jones1998]`.
//!
//!   value = E max(best - f, 0) = s h(u),   h(u) = φ(u) + u Φ(u)
//!   ∂/∂m = -Φ(u)                           ∂/∂s² = φ(u)/(2s)
//!
//! Below u = -38 both value and gradient are zero in double precision, and a search that starts there stays there.
//! [`super::LogExpectedImprovement`] has the same maximiser and no such desert; this one is for comparison and for
//! reading: its value is in the units of y.

use super::{Pointwise, Score, standardise};
use crate::normal::{cdf, h, pdf};

/// Expected improvement below `best`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ExpectedImprovement {
    /// The value to improve on, usually the lowest so far; finite.
    pub best: f64,
}

impl Pointwise for ExpectedImprovement {
    fn score(&self, mean: f64, var: f64) -> Score {
        match standardise(self.best, mean, var) {
            Some((sd, u)) => Score { value: sd * h(u), mean_slope: -cdf(u), var_slope: 0.5 * pdf(u) / sd },
            None if mean < self.best => Score { value: self.best - mean, mean_slope: -1.0, var_slope: 0.0 },
            None => Score { value: 0.0, mean_slope: 0.0, var_slope: 0.0 },
        }
    }
}
