//! What a fitted surrogate can do: predict, sample jointly, take in new points.

use crate::error::Result;
use crate::linalg::cholesky::{Factor, JITTER_ALWAYS};
use crate::rng::Stream;
use faer::{Mat, MatRef};

/// Mean and variance of the latent function (without noise) at some points.
#[derive(Debug, Clone, PartialEq)]
pub struct Prediction {
    /// Posterior mean, one for each point.
    pub mean: Vec<f64>,
    /// Posterior variance, one for each point, never negative.
    pub var: Vec<f64>,
}

/// A prediction and its derivatives in the input.
#[derive(Debug, Clone)]
pub struct PredictionGradient {
    /// Mean and variance.
    pub prediction: Prediction,
    /// ∂mean/∂x [q, d].
    pub mean_gradient: Mat<f64>,
    /// ∂var/∂x [q, d]; zero where the variance was cut off at zero.
    pub var_gradient: Mat<f64>,
}

/// A Gaussian process conditioned on data.
///
/// Predictions plug in the fitted hyper-parameters and mean; their own uncertainty is not added.
pub trait Posterior: Send + Sync {
    /// d.
    fn dim(&self) -> usize;

    /// Number of observations behind it, hallucinated ones included.
    fn n_observations(&self) -> usize;

    /// Mean and variance of the latent function at the rows of `x`.
    fn predict(&self, x: MatRef<'_, f64>) -> Result<Prediction>;

    /// As `predict`, with derivatives in the input.
    fn predict_gradient(&self, x: MatRef<'_, f64>) -> Result<PredictionGradient>;

    /// Mean vector and joint covariance [q, q] of the latent function at the rows of `x`.
    fn joint(&self, x: MatRef<'_, f64>) -> Result<(Vec<f64>, Mat<f64>)>;

    /// Takes in one result without changing hyper-parameters.
    fn observe(&mut self, x: &[f64], y: f64) -> Result<()>;

    /// A copy that also knows of pending points: each is taken in with y = posterior mean, which leaves the mean
    /// as it is and shrinks the variance `[@desautels2014]`. Dropping the copy takes the points back.
    fn hallucinate(&self, x: MatRef<'_, f64>) -> Result<Box<dyn Posterior>>;

    /// Draws `n_samples` joint samples of the latent function at the rows of `x`: [q, n_samples].
    ///
    /// O(q³) for the factor of the joint covariance, jittered as the ladder asks.
    fn sample(&self, x: MatRef<'_, f64>, n_samples: usize, stream: &mut Stream) -> Result<Mat<f64>> {
        let (mean, covariance) = self.joint(x)?;
        if mean.is_empty() {
            return Ok(Mat::zeros(0, n_samples));
        }
        let factor = Factor::new("posterior covariance", covariance.as_ref(), JITTER_ALWAYS)?;
        let mut samples = Mat::zeros(mean.len(), n_samples);
        for j in 0..n_samples {
            let draws: Vec<f64> = mean.iter().map(|_| stream.normal()).collect();
            for i in 0..mean.len() {
                samples[(i, j)] = mean[i] + (0..=i).map(|k| factor.l()[(i, k)] * draws[k]).sum::<f64>();
            }
        }
        Ok(samples)
    }
}
