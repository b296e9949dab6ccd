//! Probability of improvement `[@kushner1964]`, as its logarithm.
//!
//!   value = log Φ(u),   u = (best - m)/s
//!   ∂/∂m = -(φ/Φ)/s     ∂/∂s² = -(φ/Φ) u/(2s²)
//!
//! The logarithm has the same maximiser and keeps a slope where Φ itself is zero in double precision. It is greedy: a
//! certain tiny improvement beats a likely large one. Where improvement is certain (u > 38) it is flat at zero.

use super::{Pointwise, Score, standardise};
use crate::normal::{log_cdf, log_cdf_slope};

/// log P(f < best).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProbabilityOfImprovement {
    /// The value to improve on; finite. Lower than the lowest so far by a margin makes it less greedy.
    pub best: f64,
}

impl Pointwise for ProbabilityOfImprovement {
    fn score(&self, mean: f64, var: f64) -> Score {
        match standardise(self.best, mean, var) {
            Some((sd, u)) => {
                let slope = log_cdf_slope(u) / sd;
                Score { value: log_cdf(u), mean_slope: -slope, var_slope: -0.5 * slope * u / sd }
            }
            None if mean < self.best => Score { value: 0.0, mean_slope: 0.0, var_slope: 0.0 },
            None => Score { value: f64::NEG_INFINITY, mean_slope: 0.0, var_slope: 0.0 },
        }
    }
}
