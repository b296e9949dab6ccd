//! Exact Gaussian process regression `[@rasmussen2006, algorithm 2.1]`.
//!
//!   C = Kff + σ²I = L Lᵀ        α = C⁻¹(y - μ)        μ = 1ᵀC⁻¹y / 1ᵀC⁻¹1 (or given)
//!   log p(y) = -n/2 log 2π - Σ log Lᵢᵢ - ½ (y - μ)ᵀα
//!   ∂ log p/∂θ = ½ tr[(ααᵀ - C⁻¹) ∂C/∂θ]
//!   mean(s) = μ + k_sf α        var(s) = k_ss - |L⁻¹k_fs|²
//!
//! With rows of a noise of their own, σ²I is σ² diag(ρ).
//!
//! Cost O(n³) to build, O(n²) to add a point (a row of L is appended), O(n²) for each predicted variance. Meant
//! for n up to about 2,000; beyond that use `sparse`. The evidence at the estimated μ is a profile: its gradient
//! needs no term for μ. What the process says without each datum is in `leave_one_out`, functions drawn from it are in
//! `paths`.

mod leave_one_out;
mod paths;

pub use leave_one_out::LeftOut;
pub use paths::Paths;

use super::data::{Data, check_number, check_queries};
use super::hyper::{Hyperparameters, Mean};
use super::kernel::Scaled;
use super::posterior::{Posterior, Prediction, PredictionGradient, check_weights, weighted_kernel_gradient};
use crate::error::{Error, Result};
use crate::linalg::cholesky::{Factor, JITTER_IF_NEEDED};
use crate::linalg::product;
use crate::linalg::reduce::{add_scaled, add_squares, dot};
use crate::normal::LOG_2_PI;
use faer::{Mat, MatRef};

/// A Gaussian process conditioned on all of its data.
#[derive(Debug, Clone)]
pub struct ExactPosterior {
    hyper: Hyperparameters,
    mean: Mean,
    /// Subtracted from inputs before scaling.
    origin: Vec<f64>,
    /// X scaled, [n, d].
    x: Scaled,
    /// ρ of each row, whose noise variance is ρ σ²; empty if all are 1. Later points have 1.
    noise: Vec<f64>,
    /// L of Kff + σ²I, [n, n].
    factor: Factor,
    /// Subtracted from y before anything else, so that sums of squares keep their digits.
    y_shift: f64,
    /// L⁻¹(y - shift), [n].
    l_inv_y: Vec<f64>,
    /// L⁻¹ 1, [n].
    l_inv_one: Vec<f64>,
    /// μ - shift.
    mu: f64,
    /// α, [n].
    alpha: Vec<f64>,
}

impl ExactPosterior {
    /// Conditions on `data` at fixed hyper-parameters.
    pub fn new(data: &Data<'_>, hyper: &Hyperparameters, mean: Mean) -> Result<ExactPosterior> {
        let (origin, x) = scaled(data, hyper, mean)?;
        let covariance = hyper.kernel.matrix(&x, &x);
        ExactPosterior::with_kernel(data, hyper, mean, origin, x, covariance)
    }

    /// The log evidence of `data` and its gradient, as [`ExactPosterior::log_evidence_gradient`] has it; the kernel is
    /// evaluated once for both.
    pub fn evidence(data: &Data<'_>, hyper: &Hyperparameters, mean: Mean) -> Result<(f64, Vec<f64>)> {
        let (origin, x) = scaled(data, hyper, mean)?;
        let n = x.len();
        let (mut k, mut slopes) = (Mat::zeros(n, n), Mat::zeros(n, n));
        hyper.kernel.fill_with_slope(&x, &x, &mut k, &mut slopes);
        let posterior = ExactPosterior::with_kernel(data, hyper, mean, origin, x, k.clone())?;
        Ok((posterior.log_evidence(), posterior.gradient_with(&k, slopes)))
    }

    /// Conditions on `data`, whose Kff is `covariance`.
    fn with_kernel(
        data: &Data<'_>,
        hyper: &Hyperparameters,
        mean: Mean,
        origin: Vec<f64>,
        x: Scaled,
        mut covariance: Mat<f64>,
    ) -> Result<ExactPosterior> {
        for i in 0..data.len() {
            covariance[(i, i)] += data.noise().get(i).unwrap_or(&1.0) * hyper.noise_var;
        }
        let factor = Factor::new("Kff + noise", covariance.as_ref(), JITTER_IF_NEEDED)?;
        let (y_shift, _) = data.y_moments();
        let mut l_inv_y: Vec<f64> = data.y().iter().map(|y| y - y_shift).collect();
        let mut l_inv_one = vec![1.0; data.len()];
        product::solve_lower_vector(factor.l(), &mut l_inv_y);
        product::solve_lower_vector(factor.l(), &mut l_inv_one);
        let mut posterior = ExactPosterior {
            hyper: hyper.clone(),
            mean,
            origin,
            x,
            noise: data.noise().to_vec(),
            factor,
            y_shift,
            l_inv_y,
            l_inv_one,
            mu: 0.0,
            alpha: vec![],
        };
        posterior.refresh();
        Ok(posterior)
    }

    /// Recomputes μ and α from L⁻¹y and L⁻¹1. O(n²).
    fn refresh(&mut self) {
        self.mu = match self.mean {
            Mean::Fixed(value) => value - self.y_shift,
            Mean::Estimated => dot(&self.l_inv_one, &self.l_inv_y) / dot(&self.l_inv_one, &self.l_inv_one),
        };
        self.alpha = self.l_inv_residual();
        product::solve_lower_transposed_vector(self.factor.l(), &mut self.alpha);
    }

    /// L⁻¹(y - μ).
    fn l_inv_residual(&self) -> Vec<f64> {
        self.l_inv_y.iter().zip(&self.l_inv_one).map(|(y, one)| y - self.mu * one).collect()
    }

    /// log p(y | X), at the estimated mean if it is estimated.
    pub fn log_evidence(&self) -> f64 {
        let residual = self.l_inv_residual();
        -0.5 * residual.len() as f64 * LOG_2_PI - self.factor.half_log_det() - 0.5 * dot(&residual, &residual)
    }

    /// Gradient of the log evidence in the log-parameters, in the order of [`Hyperparameters::to_log`].
    pub fn log_evidence_gradient(&self) -> Vec<f64> {
        let n = self.alpha.len();
        let kernel = &self.hyper.kernel;
        let (mut k, mut slopes) = (Mat::zeros(n, n), Mat::zeros(n, n));
        kernel.fill_with_slope(&self.x, &self.x, &mut k, &mut slopes);
        self.gradient_with(&k, slopes)
    }

    /// The same, given Kff and s² h of its kernel.
    fn gradient_with(&self, k: &Mat<f64>, mut slopes: Mat<f64>) -> Vec<f64> {
        let kernel = &self.hyper.kernel;
        let weights = self.evidence_weights();
        let n_lengths = kernel.n_parameters();
        let mut gradient = vec![0.0; n_lengths + 2];
        kernel.add_parameter_gradient(&self.x, &self.x, &weights, &mut slopes, &mut gradient[..n_lengths]);
        for j in 0..self.alpha.len() {
            gradient[n_lengths] += dot(weights.col_as_slice(j), k.col_as_slice(j));
            gradient[n_lengths + 1] += weights[(j, j)] * self.noise_var(j);
        }
        gradient
    }

    /// ρ σ² of row i.
    fn noise_var(&self, i: usize) -> f64 {
        self.noise.get(i).unwrap_or(&1.0) * self.hyper.noise_var
    }

    /// ∂ log p/∂X [n, d] and ∂ log p/∂log s². `metric` tests it.
    pub fn log_evidence_input_gradient(&self) -> (Mat<f64>, f64) {
        let n = self.alpha.len();
        let kernel = &self.hyper.kernel;
        let (mut k, mut slopes) = (Mat::zeros(n, n), Mat::zeros(n, n));
        kernel.fill_with_slope(&self.x, &self.x, &mut k, &mut slopes);
        let mut weights = self.evidence_weights();
        let signal = (0..n).fold(0.0, |sum, j| sum + dot(weights.col_as_slice(j), k.col_as_slice(j)));
        // A point moves a row of Kff and a column.
        weights *= faer::Scale(2.0);
        let mut gradient = Mat::zeros(n, self.dim());
        kernel.input_gradient(&self.x, &self.x, &weights, &mut slopes, &mut gradient);
        (gradient, signal)
    }

    /// D = ½(ααᵀ - C⁻¹) [n, n], C⁻¹ by solving against the identity.
    fn evidence_weights(&self) -> Mat<f64> {
        let n = self.alpha.len();
        let mut weights = Mat::<f64>::identity(n, n);
        product::solve_lower(self.factor.l(), weights.as_mut());
        product::solve_lower_transposed(self.factor.l(), weights.as_mut());
        for j in 0..n {
            let column = weights.col_as_slice_mut(j);
            let alpha_j = self.alpha[j];
            for (value, alpha_i) in column.iter_mut().zip(&self.alpha) {
                *value = 0.5 * (alpha_i * alpha_j - *value);
            }
        }
        weights
    }

    /// The hyper-parameters in force.
    pub fn hyperparameters(&self) -> &Hyperparameters {
        &self.hyper
    }

    /// μ in the units of y.
    pub fn mean_constant(&self) -> f64 {
        self.mu + self.y_shift
    }

    /// Relative jitter that the factor of Kff + σ²I needed.
    pub fn jitter(&self) -> f64 {
        self.factor.jitter()
    }

    /// k_sf [q, n].
    fn cross(&self, x: MatRef<'_, f64>) -> (Scaled, Mat<f64>) {
        let scaled = Scaled::new(&self.hyper.kernel, x, &self.origin);
        let k = self.hyper.kernel.matrix(&scaled, &self.x);
        (scaled, k)
    }

    fn means(&self, k: &Mat<f64>) -> Vec<f64> {
        let mut mean = vec![self.mean_constant(); k.nrows()];
        for (j, &alpha) in self.alpha.iter().enumerate() {
            add_scaled(alpha, k.col_as_slice(j), &mut mean);
        }
        mean
    }

    /// The mean at the rows of `x` and ∂mean/∂x [q, d]: O(n d) for each point, where a variance takes O(n²). Sums of kernels
    /// take that, too.
    pub fn mean_gradient(&self, x: MatRef<'_, f64>) -> Result<(Vec<f64>, Mat<f64>)> {
        check_queries(x, self.dim())?;
        let kernel = &self.hyper.kernel;
        let scaled = Scaled::new(kernel, x, &self.origin);
        let (mut mean, mut gradient) =
            (vec![self.mean_constant(); x.nrows()], Mat::zeros(x.nrows(), self.dim()));
        if kernel.add_weighted(&scaled, &self.x, &self.alpha, &mut mean, &mut gradient) {
            return Ok((mean, gradient));
        }
        let found = self.predict_gradient(x)?;
        Ok((found.prediction.mean, found.mean_gradient))
    }

    /// k_ss - |rows of `whitened`|², cut off at zero.
    fn variances(&self, points: &Scaled, whitened: &Mat<f64>) -> Vec<f64> {
        let mut explained = vec![0.0; whitened.nrows()];
        for j in 0..whitened.ncols() {
            add_squares(whitened.col_as_slice(j), &mut explained);
        }
        let prior = self.hyper.kernel.diagonal(points);
        prior.iter().zip(&explained).map(|(k, q)| (k - q).max(0.0)).collect()
    }

    /// Diagonal entries of Kff + σ²I for more points: the rung of the ladder that the first factorisation needed
    /// applies to later rows as well.
    fn diagonal(&self, points: &Scaled) -> Vec<f64> {
        let entry = |k: f64| (k + self.hyper.noise_var) * (1.0 + self.factor.jitter());
        self.hyper.kernel.diagonal(points).into_iter().map(entry).collect()
    }

    /// The row of L and the whitened right-hand sides for one more point. Does not touch α.
    fn append(&mut self, x: &[f64], y: f64) -> Result<()> {
        let point = MatRef::from_row_major_slice(x, 1, x.len());
        let (scaled, k) = self.cross(point);
        let row: Vec<f64> = (0..self.alpha.len()).map(|j| k[(0, j)]).collect();
        self.factor.append("Kff + noise", &row, self.diagonal(&scaled)[0])?;
        let n = row.len();
        let l = self.factor.l();
        let (mut done_y, mut done_one) = (0.0, 0.0);
        for j in 0..n {
            done_y += l[(n, j)] * self.l_inv_y[j];
            done_one += l[(n, j)] * self.l_inv_one[j];
        }
        self.l_inv_y.push((y - self.y_shift - done_y) / l[(n, n)]);
        self.l_inv_one.push((1.0 - done_one) / l[(n, n)]);
        self.x.push(&self.hyper.kernel, x, &self.origin);
        self.alpha.push(0.0);
        Ok(())
    }
}

impl Posterior for ExactPosterior {
    fn dim(&self) -> usize {
        self.origin.len()
    }

    fn n_observations(&self) -> usize {
        self.alpha.len()
    }

    fn predict(&self, x: MatRef<'_, f64>) -> Result<Prediction> {
        check_queries(x, self.dim())?;
        let (scaled, mut k) = self.cross(x);
        let mean = self.means(&k);
        product::whiten_rows(self.factor.l(), k.as_mut());
        Ok(Prediction { mean, var: self.variances(&scaled, &k) })
    }

    fn predict_gradient(&self, x: MatRef<'_, f64>) -> Result<PredictionGradient> {
        check_queries(x, self.dim())?;
        let kernel = &self.hyper.kernel;
        let (q, n) = (x.nrows(), self.alpha.len());
        let scaled = Scaled::new(kernel, x, &self.origin);
        let (mut k, mut slopes) = (Mat::zeros(q, n), Mat::zeros(q, n));
        kernel.fill_with_slope(&scaled, &self.x, &mut k, &mut slopes);
        let mean = self.means(&k);

        let weights = Mat::from_fn(q, n, |_, j| self.alpha[j]);
        let mut mean_gradient = Mat::zeros(q, self.dim());
        kernel.input_gradient(&scaled, &self.x, &weights, &mut slopes.clone(), &mut mean_gradient);

        // ∂var = -2 (C⁻¹k)ᵀ ∂k.
        product::whiten_rows(self.factor.l(), k.as_mut());
        let var = self.variances(&scaled, &k);
        product::unwhiten_rows(self.factor.l(), k.as_mut());
        k *= faer::Scale(-2.0);
        let mut var_gradient = Mat::zeros(q, self.dim());
        kernel.input_gradient(&scaled, &self.x, &k, &mut slopes, &mut var_gradient);
        kernel.add_diagonal_input_gradient(&scaled, &mut var_gradient);
        zero_rows_without_variance(&var, &mut var_gradient);
        Ok(PredictionGradient { prediction: Prediction { mean, var }, mean_gradient, var_gradient })
    }

    fn joint(&self, x: MatRef<'_, f64>) -> Result<(Vec<f64>, Mat<f64>)> {
        check_queries(x, self.dim())?;
        let (scaled, mut k) = self.cross(x);
        let mean = self.means(&k);
        product::whiten_rows(self.factor.l(), k.as_mut());
        let mut covariance = self.hyper.kernel.matrix(&scaled, &scaled);
        product::add_product(covariance.as_mut(), -1.0, k.as_ref(), k.transpose());
        Ok((mean, covariance))
    }

    fn covariance(&self, x: MatRef<'_, f64>, others: MatRef<'_, f64>) -> Result<Mat<f64>> {
        check_queries(x, self.dim())?;
        check_queries(others, self.dim())?;
        let (points, mut k_sf) = self.cross(x);
        let (other_points, mut k_of) = self.cross(others);
        product::whiten_rows(self.factor.l(), k_sf.as_mut());
        product::whiten_rows(self.factor.l(), k_of.as_mut());
        let mut covariance = self.hyper.kernel.matrix(&points, &other_points);
        product::add_product(covariance.as_mut(), -1.0, k_sf.as_ref(), k_of.transpose());
        Ok(covariance)
    }

    fn covariance_gradient(
        &self,
        x: MatRef<'_, f64>,
        others: MatRef<'_, f64>,
        weights: MatRef<'_, f64>,
    ) -> Result<Mat<f64>> {
        check_queries(x, self.dim())?;
        check_queries(others, self.dim())?;
        check_weights(weights, x.nrows(), others.nrows())?;
        let kernel = &self.hyper.kernel;
        let points = Scaled::new(kernel, x, &self.origin);
        let (other_points, mut k_of) = self.cross(others);
        // cov(x, o) = k_xo - k_xf C⁻¹k_fo: the data take the weights -W k_of C⁻¹.
        product::whiten_rows(self.factor.l(), k_of.as_mut());
        product::unwhiten_rows(self.factor.l(), k_of.as_mut());
        let mut data_weights = Mat::zeros(x.nrows(), self.alpha.len());
        product::add_product(data_weights.as_mut(), -1.0, weights, k_of.as_ref());
        let mut gradient = weighted_kernel_gradient(kernel, &points, &other_points, &weights.to_owned());
        gradient += weighted_kernel_gradient(kernel, &points, &self.x, &data_weights);
        Ok(gradient)
    }

    fn observe(&mut self, x: &[f64], y: f64) -> Result<()> {
        check_observation(x, y, self.dim())?;
        self.append(x, y)?;
        self.refresh();
        Ok(())
    }

    fn hallucinate(&self, x: MatRef<'_, f64>) -> Result<Box<dyn Posterior>> {
        check_queries(x, self.dim())?;
        let mut copy = self.clone();
        if x.nrows() == 0 {
            return Ok(Box::new(copy));
        }
        // All at once: the new rows of L are k_sf L⁻ᵀ and the factor of what is left of K_ss.
        let (points, mut whitened) = self.cross(x);
        let mean = self.means(&whitened);
        product::whiten_rows(self.factor.l(), whitened.as_mut());
        let mut conditional = self.hyper.kernel.matrix(&points, &points);
        let diagonal = self.diagonal(&points);
        (0..x.nrows()).for_each(|i| conditional[(i, i)] = diagonal[i]);
        product::add_product(conditional.as_mut(), -1.0, whitened.as_ref(), whitened.transpose());
        copy.factor.append_block("Kff + noise", whitened.as_ref(), conditional.as_ref())?;

        let n = self.alpha.len();
        let corner = copy.factor.l().submatrix(n, n, x.nrows(), x.nrows());
        let rest = |right: &[f64], known: &[f64]| {
            let mut rest = right.to_vec();
            (0..n).for_each(|j| add_scaled(-known[j], whitened.col_as_slice(j), &mut rest));
            product::solve_lower_vector(corner, &mut rest);
            rest
        };
        let y: Vec<f64> = mean.iter().map(|mean| mean - self.y_shift).collect();
        copy.l_inv_y.extend(rest(&y, &self.l_inv_y));
        copy.l_inv_one.extend(rest(&vec![1.0; x.nrows()], &self.l_inv_one));
        for i in 0..x.nrows() {
            copy.x.push(&self.hyper.kernel, &row(x, i), &self.origin);
        }
        // Points on the mean have α = 0 and leave the others as they are.
        copy.alpha.resize(n + x.nrows(), 0.0);
        Ok(Box::new(copy))
    }
}

/// What scaled inputs are counted from and the inputs of `data`, if these and the hyper-parameters are what a process takes.
fn scaled(data: &Data<'_>, hyper: &Hyperparameters, mean: Mean) -> Result<(Vec<f64>, Scaled)> {
    hyper.check(data.dim())?;
    mean.check()?;
    if data.is_weighted() {
        let reason = "an exact process takes none; give rows as often as they count, or fit a sparse one";
        return Err(Error::Source { name: "weights of rows".to_owned(), reason: reason.to_owned() });
    }
    let origin = first_row(data.x());
    let x = Scaled::new(&hyper.kernel, data.x(), &origin);
    Ok((origin, x))
}

/// A new observation must fit and be what data may be.
pub(super) fn check_observation(x: &[f64], y: f64, d: usize) -> Result<()> {
    check_queries(MatRef::from_row_major_slice(x, 1, x.len()), d)?;
    check_number("y", (0, 0), y)
}

/// Row i, copied.
pub(super) fn row(x: MatRef<'_, f64>, i: usize) -> Vec<f64> {
    (0..x.ncols()).map(|k| x[(i, k)]).collect()
}

/// The first point, the origin of all scaled inputs: the data are near it, wherever they are.
pub(super) fn first_row(x: MatRef<'_, f64>) -> Vec<f64> {
    row(x, 0)
}

/// Where the variance was cut off at zero it is flat.
pub(super) fn zero_rows_without_variance(var: &[f64], gradient: &mut Mat<f64>) {
    for (i, &v) in var.iter().enumerate() {
        if v == 0.0 {
            for k in 0..gradient.ncols() {
                gradient[(i, k)] = 0.0;
            }
        }
    }
}
