//! What a fitted surrogate can do: predict, sample jointly, take in new points.

use super::kernel::{Kernel, Scaled};
use crate::error::{Error, Result};
use crate::linalg::cholesky::{Factor, JITTER_ALWAYS};
use crate::rng::Stream;
use faer::{Mat, MatRef, Side};

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

    /// Covariance [q, r] of the latent function between the rows of `x` [q, d] and of `others` [r, d].
    fn covariance(&self, x: MatRef<'_, f64>, others: MatRef<'_, f64>) -> Result<Mat<f64>>;

    /// Σⱼ Wᵢⱼ ∂cov(xᵢ, otherⱼ)/∂xᵢ [q, d] with the weights W [q, r]: the derivative of a function of the
    /// covariances without ever holding all q r d of theirs. `others` stay where they are.
    fn covariance_gradient(
        &self,
        x: MatRef<'_, f64>,
        others: MatRef<'_, f64>,
        weights: MatRef<'_, f64>,
    ) -> Result<Mat<f64>>;

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
        let root = square_root(&covariance)?;
        let mut samples = Mat::zeros(mean.len(), n_samples);
        for j in 0..n_samples {
            let draws: Vec<f64> = mean.iter().map(|_| stream.normal()).collect();
            for i in 0..mean.len() {
                samples[(i, j)] = mean[i] + (0..mean.len()).map(|k| root[(i, k)] * draws[k]).sum::<f64>();
            }
        }
        Ok(samples)
    }
}

/// R with R Rᵀ = `covariance`, jittered as the ladder asks.
///
/// Where all that is left of the variance is rounding (at data without noise), or nothing is (SoR far from its
/// inducing points), no jitter relative to it helps. Then R comes from the eigenvalues, negative ones cut off,
/// at several times the cost.
fn square_root(covariance: &Mat<f64>) -> Result<Mat<f64>> {
    let q = covariance.nrows();
    let error = match Factor::new("posterior covariance", covariance.as_ref(), JITTER_ALWAYS) {
        Ok(factor) => {
            let l = factor.l();
            return Ok(Mat::from_fn(q, q, |i, j| if i >= j { l[(i, j)] } else { 0.0 }));
        }
        Err(error) => error,
    };
    let eigen = covariance.self_adjoint_eigen(Side::Lower).map_err(|_| error)?;
    Ok(Mat::from_fn(q, q, |i, j| eigen.U()[(i, j)] * eigen.S()[j].max(0.0).sqrt()))
}

/// Σⱼ Eᵢⱼ ∂k(xᵢ, zⱼ)/∂xᵢ, [q, d], with the weights E [q, m].
pub(super) fn weighted_kernel_gradient(
    kernel: &Kernel,
    x: &Scaled,
    z: &Scaled,
    weights: &Mat<f64>,
) -> Mat<f64> {
    let (mut k, mut slopes) = (Mat::zeros(x.len(), z.len()), Mat::zeros(x.len(), z.len()));
    kernel.fill_with_slope(x, z, &mut k, &mut slopes);
    let mut gradient = Mat::zeros(x.len(), x.dim());
    kernel.input_gradient(x, z, weights, &mut slopes, &mut gradient);
    gradient
}

/// Weights must be [q, r].
pub(super) fn check_weights(weights: MatRef<'_, f64>, q: usize, r: usize) -> Result<()> {
    for (what, expected, found) in [
        ("rows of the weights (query points)", q, weights.nrows()),
        ("columns of the weights (other points)", r, weights.ncols()),
    ] {
        if expected != found {
            return Err(Error::Size { what, expected, found });
        }
    }
    Ok(())
}
