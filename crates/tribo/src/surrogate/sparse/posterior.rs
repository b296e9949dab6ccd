//! A sparse Gaussian process conditioned on its data: predict, observe, hallucinate.
//!
//!   mean(s) = μ + k_su a
//!   var(s)  = k_ss - |Luu⁻¹ k_us|² + |LB⁻¹ Luu⁻¹ k_us|²        (SoR: the last term alone)
//! prior minus explained plus what the data have left open. A new observation with whitened row w and noise λ is
//! LB LBᵀ ← LB LBᵀ + w wᵀ/λ: O(m²), exact, so k updates equal a fresh build. Under PITC a new point is a group of
//! its own, which makes its λ that of FIC. The posterior holds no data: O(m²) memory whatever n was.

use super::super::data::check_queries;
use super::super::exact::{check_observation, row, zero_rows_without_variance};
use super::super::hyper::Hyperparameters;
use super::super::kernel::Scaled;
use super::super::posterior::{
    Posterior, Prediction, PredictionGradient, check_weights, weighted_kernel_gradient,
};
use super::evidence::{Evidence, Fit};
use super::statistics::residuals;
use super::{Approximation, Model, Noise};
use crate::error::Result;
use crate::linalg::product;
use crate::linalg::reduce::{add_scaled, add_squares};
use faer::{Mat, MatRef};

/// Query points handled at once, which bounds the memory of a large prediction. A caller that splits a prediction, to run
/// the parts in parallel or to stop between them, gets the same bits if it splits at multiples of this.
pub const QUERIES: usize = 1024;

/// A fitted sparse Gaussian process.
#[derive(Debug, Clone)]
pub struct SparsePosterior {
    pub(super) approximation: Approximation,
    /// A copy costs m² doubles, those of LB: the frame is shared and the Gram matrix of the data is gone.
    pub(super) state: Evidence,
}

impl SparsePosterior {
    pub(super) fn new(model: &Model<'_>, mut state: Evidence) -> SparsePosterior {
        state.sums.gram = Mat::zeros(0, 0);
        SparsePosterior { approximation: model.approximation, state }
    }

    /// The hyper-parameters in force.
    pub fn hyperparameters(&self) -> &Hyperparameters {
        &self.state.hyper
    }

    /// μ in the units of y.
    pub fn mean_constant(&self) -> f64 {
        self.state.mean_constant()
    }

    /// Relative jitter that Kuu needed.
    pub fn jitter(&self) -> f64 {
        self.state.frame.luu.jitter()
    }

    /// m.
    pub fn n_inducing(&self) -> usize {
        self.state.frame.z.len()
    }

    /// Z_u, [m, d].
    pub fn inducing(&self) -> MatRef<'_, f64> {
        self.state.frame.inducing.as_ref()
    }

    /// Log marginal likelihood of the observations under the approximation.
    pub fn log_marginal(&self) -> f64 {
        self.state.log_marginal()
    }

    /// The means of [`Posterior::predict`], the same bits, without its variances: O(m d) a point instead of O(m²).
    pub fn predict_mean(&self, x: MatRef<'_, f64>) -> Result<Vec<f64>> {
        check_queries(x, self.dim())?;
        let mut mean = Vec::new();
        for start in (0..x.nrows()).step_by(QUERIES) {
            let points = self.scaled(x.subrows(start, QUERIES.min(x.nrows() - start)));
            mean.extend(self.means(&self.state.hyper.kernel.matrix(&points, &self.state.frame.z)));
        }
        Ok(mean)
    }

    fn scaled(&self, x: MatRef<'_, f64>) -> Scaled {
        Scaled::new(&self.state.hyper.kernel, x, &self.state.frame.origin)
    }

    fn means(&self, k: &Mat<f64>) -> Vec<f64> {
        let mut mean = vec![self.mean_constant(); k.nrows()];
        for (j, &a) in self.state.fit.a.iter().enumerate() {
            add_scaled(a, k.col_as_slice(j), &mut mean);
        }
        mean
    }

    /// Prior minus explained plus open, cut off at zero. `w` is whitened by Luu, `p` by LB as well.
    fn variances(&self, points: &Scaled, w: &Mat<f64>, p: &Mat<f64>) -> Vec<f64> {
        let mut open = vec![0.0; p.nrows()];
        (0..p.ncols()).for_each(|j| add_squares(p.col_as_slice(j), &mut open));
        if self.approximation == Approximation::Sor {
            return open;
        }
        let conditional = residuals(&self.state.hyper.kernel.diagonal(points), w.as_ref());
        conditional.iter().zip(&open).map(|(conditional, open)| conditional + open).collect()
    }

    /// Whitened row of a point and its λ.
    fn whitened_point(&self, x: &[f64]) -> (Vec<f64>, f64) {
        let hyper = &self.state.hyper;
        let point = self.scaled(MatRef::from_row_major_slice(x, 1, x.len()));
        let k = hyper.kernel.matrix(&self.state.frame.z, &point);
        let mut w = k.col_as_slice(0).to_vec();
        product::solve_lower_vector(self.state.frame.luu.l(), &mut w);
        let explained: f64 = w.iter().map(|value| value * value).sum();
        let lambda = match self.approximation.noise() {
            Noise::Constant => hyper.noise_var,
            Noise::Diagonal | Noise::Blocks => {
                (hyper.kernel.diagonal(&point)[0] - explained).max(0.0) + hyper.noise_var
            }
        };
        (w, lambda)
    }

    /// Adds a point to the sums and to LB; the fit is left to the caller.
    fn absorb(&mut self, x: &[f64], y: f64) -> Result<()> {
        let (mut w, lambda) = self.whitened_point(x);
        self.state.sums.add_point(&w, lambda, y - self.state.frame.y_shift);
        let scale = 1.0 / lambda.sqrt();
        w.iter_mut().for_each(|value| *value *= scale);
        self.state.lb.update(&mut w)
    }

    /// Whitened by Luu, and by LB as well: (W, P).
    fn whiten(&self, mut k: Mat<f64>) -> (Mat<f64>, Mat<f64>) {
        product::whiten_rows(self.state.frame.luu.l(), k.as_mut());
        let mut p = k.clone();
        product::whiten_rows(self.state.lb.l(), p.as_mut());
        (k, p)
    }
}

impl Posterior for SparsePosterior {
    fn dim(&self) -> usize {
        self.state.frame.origin.len()
    }

    fn n_observations(&self) -> usize {
        self.state.sums.n as usize
    }

    fn predict(&self, x: MatRef<'_, f64>) -> Result<Prediction> {
        check_queries(x, self.dim())?;
        let mut prediction = Prediction { mean: Vec::new(), var: Vec::new() };
        for start in (0..x.nrows()).step_by(QUERIES) {
            let points = self.scaled(x.subrows(start, QUERIES.min(x.nrows() - start)));
            let k = self.state.hyper.kernel.matrix(&points, &self.state.frame.z);
            prediction.mean.extend(self.means(&k));
            let (w, p) = self.whiten(k);
            prediction.var.extend(self.variances(&points, &w, &p));
        }
        Ok(prediction)
    }

    fn predict_gradient(&self, x: MatRef<'_, f64>) -> Result<PredictionGradient> {
        check_queries(x, self.dim())?;
        let kernel = &self.state.hyper.kernel;
        let z = &self.state.frame.z;
        let (q, m) = (x.nrows(), z.len());
        let points = self.scaled(x);
        let (mut k, mut slopes) = (Mat::zeros(q, m), Mat::zeros(q, m));
        kernel.fill_with_slope(&points, z, &mut k, &mut slopes);
        let mean = self.means(&k);

        let weights = Mat::from_fn(q, m, |_, j| self.state.fit.a[j]);
        let mut mean_gradient = Mat::zeros(q, self.dim());
        kernel.input_gradient(&points, z, &weights, &mut slopes.clone(), &mut mean_gradient);

        // ∂var = 2 (-w + LB⁻ᵀ p)ᵀ Luu⁻¹ ∂k, without the first term for SoR.
        let (w, mut p) = self.whiten(k);
        let var = self.variances(&points, &w, &p);
        product::unwhiten_rows(self.state.lb.l(), p.as_mut());
        if self.approximation != Approximation::Sor {
            p -= &w;
        }
        product::unwhiten_rows(self.state.frame.luu.l(), p.as_mut());
        p *= faer::Scale(2.0);
        let mut var_gradient = Mat::zeros(q, self.dim());
        kernel.input_gradient(&points, z, &p, &mut slopes, &mut var_gradient);
        if self.approximation != Approximation::Sor {
            kernel.add_diagonal_input_gradient(&points, &mut var_gradient);
        }
        zero_rows_without_variance(&var, &mut var_gradient);
        Ok(PredictionGradient { prediction: Prediction { mean, var }, mean_gradient, var_gradient })
    }

    fn joint(&self, x: MatRef<'_, f64>) -> Result<(Vec<f64>, Mat<f64>)> {
        check_queries(x, self.dim())?;
        let kernel = &self.state.hyper.kernel;
        let points = self.scaled(x);
        let k = kernel.matrix(&points, &self.state.frame.z);
        let mean = self.means(&k);
        let (w, p) = self.whiten(k);
        let mut covariance = Mat::zeros(x.nrows(), x.nrows());
        if self.approximation != Approximation::Sor {
            covariance = kernel.matrix(&points, &points);
            product::add_product(covariance.as_mut(), -1.0, w.as_ref(), w.transpose());
        }
        product::add_product(covariance.as_mut(), 1.0, p.as_ref(), p.transpose());
        Ok((mean, covariance))
    }

    fn covariance(&self, x: MatRef<'_, f64>, others: MatRef<'_, f64>) -> Result<Mat<f64>> {
        check_queries(x, self.dim())?;
        check_queries(others, self.dim())?;
        let kernel = &self.state.hyper.kernel;
        let (points, other_points) = (self.scaled(x), self.scaled(others));
        let (w_s, p_s) = self.whiten(kernel.matrix(&points, &self.state.frame.z));
        let (w_o, p_o) = self.whiten(kernel.matrix(&other_points, &self.state.frame.z));
        let mut covariance = Mat::zeros(x.nrows(), others.nrows());
        if self.approximation != Approximation::Sor {
            covariance = kernel.matrix(&points, &other_points);
            product::add_product(covariance.as_mut(), -1.0, w_s.as_ref(), w_o.transpose());
        }
        product::add_product(covariance.as_mut(), 1.0, p_s.as_ref(), p_o.transpose());
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
        let kernel = &self.state.hyper.kernel;
        let z = &self.state.frame.z;
        let (points, other_points) = (self.scaled(x), self.scaled(others));
        // As for the variance: the inducing points take the weights W (LB⁻ᵀ p - w)ᵀ Luu⁻¹, no w for SoR.
        let (w, mut p) = self.whiten(kernel.matrix(&other_points, z));
        product::unwhiten_rows(self.state.lb.l(), p.as_mut());
        if self.approximation != Approximation::Sor {
            p -= &w;
        }
        product::unwhiten_rows(self.state.frame.luu.l(), p.as_mut());
        let mut inducing_weights = Mat::zeros(x.nrows(), z.len());
        product::multiply_into(inducing_weights.as_mut(), weights, p.as_ref());
        let mut gradient = weighted_kernel_gradient(kernel, &points, z, &inducing_weights);
        if self.approximation != Approximation::Sor {
            gradient += weighted_kernel_gradient(kernel, &points, &other_points, &weights.to_owned());
        }
        Ok(gradient)
    }

    fn observe(&mut self, x: &[f64], y: f64) -> Result<()> {
        check_observation(x, y, self.dim())?;
        self.absorb(x, y)?;
        self.state.fit = Fit::new(&self.state.frame, &self.state.sums, &self.state.lb, self.state.mean);
        Ok(())
    }

    fn hallucinate(&self, x: MatRef<'_, f64>) -> Result<Box<dyn Posterior>> {
        check_queries(x, self.dim())?;
        let points = self.scaled(x);
        let means = self.means(&self.state.hyper.kernel.matrix(&points, &self.state.frame.z));
        let mut copy = self.clone();
        for (i, mean) in means.into_iter().enumerate() {
            // The fit stays: a point on the mean moves neither μ nor a.
            copy.absorb(&row(x, i), mean)?;
        }
        Ok(Box::new(copy))
    }
}
