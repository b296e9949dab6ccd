//! Confidence bound: the best value a point may plausibly have `[@srinivas2010]`.
//!
//!   value = κ s - m = -(m - κ s), the lower confidence bound turned round
//!
//! For minimisation the bound is a lower one; the literature's name, UCB, is for maximisation. The schedule of κ has
//! the dimension of the *model* in it: with the thousands of inputs behind an embedding it would be pure exploration.

use super::{Pointwise, Score};
use crate::error::{Error, Result};
use std::f64::consts::PI;

/// κ standard deviations of optimism.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ConfidenceBound {
    /// κ, at least zero. 1.5 to 2 serve in practice; [`kappa`] is the one of theory and explores more.
    pub kappa: f64,
}

impl Pointwise for ConfidenceBound {
    fn score(&self, mean: f64, var: f64) -> Score {
        let sd = var.sqrt();
        let var_slope = if var > 0.0 { 0.5 * self.kappa / sd } else { 0.0 };
        Score { value: self.kappa * sd - mean, mean_slope: -1.0, var_slope }
    }
}

/// κ = √(2 log(t^(d/2 + 2) π²/(3δ))) `[@srinivas2010; @tran2021]`: t >= 1 evaluations so far, d the dimension of the
/// model, δ in (0, 1] the probability with which the bound may fail.
pub fn kappa(t: usize, d: usize, delta: f64) -> Result<f64> {
    if t == 0 {
        return Err(Error::Empty { what: "evaluations of the κ schedule" });
    }
    if !(delta > 0.0 && delta <= 1.0) {
        return Err(Error::OutOfRange { what: "δ of the κ schedule", value: delta, low: 0.0, high: 1.0 });
    }
    // In logarithms: t^(d/2 + 2) overflows for a million evaluations in 100 dimensions. π²/3 > 1 keeps it positive.
    let log = (0.5 * d as f64 + 2.0) * (t as f64).ln() + (PI * PI / (3.0 * delta)).ln();
    Ok((2.0 * log).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schedule_has_the_values_of_the_paper() {
        // d = 10, δ = 0.95, worked out by hand: 7 log 20 + log 3.4630 = 22.2122, and 7 log 200 + … = 38.3303.
        assert!((kappa(20, 10, 0.95).unwrap() - 6.665).abs() < 1e-3);
        assert!((kappa(200, 10, 0.95).unwrap() - 8.756).abs() < 1e-3);
        assert!(kappa(1_000_000, 10_000, 1e-300).unwrap().is_finite());
        assert!(kappa(1, 1, 1.0).unwrap() > 0.0);
        assert!(kappa(0, 1, 0.5).is_err());
        for delta in [0.0, -1.0, 1.5, f64::NAN] {
            assert!(kappa(1, 1, delta).is_err());
        }
    }
}
