//! Acquisition functions: what a point is worth evaluating, given a posterior.
//!
//! The objective is minimised, an acquisition is **maximised**. With mean m, standard deviation s, the lowest value
//! so far `best` and u = (best - m)/s:
//!
//! | type                          | value                                  | use                                |
//! |-------------------------------|----------------------------------------|------------------------------------|
//! | [`ConfidenceBound`]           | κ s - m                                | optimism; the paper's choice       |
//! | [`LogExpectedImprovement`]    | log E max(best - f, 0)                 | the default: never flat            |
//! | [`ExpectedImprovement`]       | E max(best - f, 0)                     | the same maximiser, flat far out   |
//! | [`ProbabilityOfImprovement`]  | log P(f < best)                        | greedy                             |
//! | [`PosteriorVariance`]         | s²                                     | pure exploration                   |
//! | [`KnowledgeGradient`]         | expected fall of the lowest mean       | noisy objectives                   |
//!
//! [`portfolio`] mixes some of them by what came of their proposals. All but the last look at one point at a time through its mean and variance: they are [`Pointwise`]. `normal` has
//! the special functions, [`maximize`] the search for the best point.

pub mod maximize;
pub mod portfolio;

mod candidates;
mod ei;
mod kg;
mod log_ei;
mod mean_improvement;
mod pi;
mod ucb;
mod variance;

#[cfg(test)]
mod tests;
#[cfg(test)]
mod toy;

pub use crate::normal;
pub use ei::ExpectedImprovement;
pub use kg::KnowledgeGradient;
pub use log_ei::LogExpectedImprovement;
pub use mean_improvement::LogMeanImprovement;
pub use pi::ProbabilityOfImprovement;
pub use ucb::{ConfidenceBound, kappa};
pub use variance::PosteriorVariance;

use crate::error::Result;
use crate::surrogate::{Posterior, PredictionGradient};
use faer::{Mat, MatRef};

/// A function of the input to be maximised. All points of a call share its matrix products: give many at once.
pub trait Acquisition: Send + Sync {
    /// Values at the rows of `x` [q, d]. Minus infinity says that a point is worth nothing.
    fn evaluate(&self, posterior: &dyn Posterior, x: MatRef<'_, f64>) -> Result<Vec<f64>>;

    /// Values at the rows of `x` and their gradients [q, d].
    fn evaluate_gradient(
        &self,
        posterior: &dyn Posterior,
        x: MatRef<'_, f64>,
    ) -> Result<(Vec<f64>, Mat<f64>)>;
}

/// A value and its partial derivatives in mean and variance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Score {
    /// The value, to be maximised.
    pub value: f64,
    /// ∂value/∂mean.
    pub mean_slope: f64,
    /// ∂value/∂variance; zero at variance zero, where a posterior has cut the variance off.
    pub var_slope: f64,
}

/// An acquisition that depends on mean and variance of the point alone.
pub trait Pointwise: Send + Sync {
    /// The value for a point of this mean and variance.
    fn score(&self, mean: f64, var: f64) -> Score;
}

impl<P: Pointwise> Acquisition for P {
    fn evaluate(&self, posterior: &dyn Posterior, x: MatRef<'_, f64>) -> Result<Vec<f64>> {
        let prediction = posterior.predict(x)?;
        let pairs = prediction.mean.iter().zip(&prediction.var);
        Ok(pairs.map(|(&mean, &var)| self.score(mean, var).value).collect())
    }

    fn evaluate_gradient(
        &self,
        posterior: &dyn Posterior,
        x: MatRef<'_, f64>,
    ) -> Result<(Vec<f64>, Mat<f64>)> {
        let PredictionGradient { prediction, mean_gradient, var_gradient } = posterior.predict_gradient(x)?;
        let mut values = Vec::with_capacity(x.nrows());
        let mut gradient = Mat::zeros(x.nrows(), x.ncols());
        for i in 0..x.nrows() {
            let Score { value, mean_slope, var_slope } = self.score(prediction.mean[i], prediction.var[i]);
            values.push(value);
            for k in 0..x.ncols() {
                gradient[(i, k)] = mean_slope * mean_gradient[(i, k)] + var_slope * var_gradient[(i, k)];
            }
        }
        Ok((values, gradient))
    }
}

/// (s, u) with u = (best - mean)/s; None where the point is certain: no variance, or a |u| whose square would
/// leave the range of numbers.
fn standardise(best: f64, mean: f64, var: f64) -> Option<(f64, f64)> {
    let sd = var.sqrt();
    let u = (best - mean) / sd;
    (sd > 0.0 && u.abs() < 1e100).then_some((sd, u))
}
