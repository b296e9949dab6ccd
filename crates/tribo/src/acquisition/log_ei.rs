//! Logarithm of the expected improvement `[@ament2023]`.
//!
//!   value = log s + log h(u),   h(u) = φ(u) + u Φ(u),   u = (best - m)/s
//!   ∂/∂m = -(Φ/h)/s             ∂/∂s² = (φ/h)/(2s²)
//!
//! The same maximiser as the expected improvement, but a slope everywhere: at u = -1e6 the value is about -5e11 and
//! its gradient still points to lower mean and larger variance. `normal` gives log h and both ratios without
//! cancellation, so one formula serves both tails.

use super::{Pointwise, Score, standardise};
use crate::normal::{LogH, log_h};

/// log E max(best - f, 0).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LogExpectedImprovement {
    /// The value to improve on, usually the lowest so far; finite.
    pub best: f64,
}

impl Pointwise for LogExpectedImprovement {
    fn score(&self, mean: f64, var: f64) -> Score {
        match standardise(self.best, mean, var) {
            Some((sd, u)) => {
                let LogH { value, slope, density } = log_h(u);
                Score { value: sd.ln() + value, mean_slope: -slope / sd, var_slope: 0.5 * density / sd / sd }
            }
            None if mean < self.best => {
                let improvement = self.best - mean;
                Score { value: improvement.ln(), mean_slope: -1.0 / improvement, var_slope: 0.0 }
            }
            None => Score { value: f64::NEG_INFINITY, mean_slope: 0.0, var_slope: 0.0 },
        }
    }
}
