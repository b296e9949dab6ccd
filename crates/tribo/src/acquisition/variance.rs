//! Posterior variance: pure exploration.
//!
//! With pending points hallucinated this is the second kind of job of the paper `[@tran2021]`: each goes where the model
//! knows least. No region of interest is cut out of the box here.

use super::{Pointwise, Score};

/// s².
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PosteriorVariance;

impl Pointwise for PosteriorVariance {
    fn score(&self, _mean: f64, var: f64) -> Score {
        Score { value: var, mean_slope: 0.0, var_slope: if var > 0.0 { 1.0 } else { 0.0 } }
    }
}
