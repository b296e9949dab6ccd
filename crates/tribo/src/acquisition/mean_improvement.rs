//! Logarithm of the expected improvement of the mean: what a measurement with noise is worth.
//!
//! The expected improvement counts what the function may be at x, as if one measurement told it. With noise τ² one
//! measurement there moves the mean by a normal amount of variance
//!
//!   w = s⁴ / (s² + τ²),   ∂w/∂s² = s² (s² + 2τ²) / (s² + τ²)²
//!
//! and what is expected to be gained is the improvement of that mean (the expected quantile improvement at the median
//! `[@picheny2013]`). Without noise it is the expected improvement; with much noise points known well are worth next to
//! nothing, where the expected improvement would measure one spot again and again.

use super::{LogExpectedImprovement, Pointwise, Score};

/// log E max(best - next mean, 0).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LogMeanImprovement {
    /// The mean to improve on, the lowest there is; finite.
    pub best: f64,
    /// τ², at least 0.
    pub noise_var: f64,
}

impl Pointwise for LogMeanImprovement {
    fn score(&self, mean: f64, var: f64) -> Score {
        let all = var + self.noise_var;
        if all <= 0.0 {
            return LogExpectedImprovement { best: self.best }.score(mean, var);
        }
        let part = var / all;
        let improvement = LogExpectedImprovement { best: self.best };
        let Score { value, mean_slope, var_slope } = improvement.score(mean, var * part);
        Score { value, mean_slope, var_slope: var_slope * part * (2.0 - part) }
    }
}
