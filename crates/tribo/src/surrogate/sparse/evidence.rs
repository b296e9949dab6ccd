//! The training objective, as a sum of named terms, and the vectors the posterior needs.
//!
//!   log N(y | μ, Q + Λ) = -n/2 log 2π - Σ log LBᵢᵢ - ½ log det Λ - ½ quadratic
//!   quadratic = (y - μ)ᵀ Λ⁻¹ (y - μ) - |c|²,   c = LB⁻¹ V Λ^(-1/2) (y - μ)
//!   bound     = the same with Λ = σ²I, minus tr(Kff - Qff)/(2σ²)             `[@titsias2009, equation 9]`
//!   β = LB⁻ᵀ c,  a = Luu⁻ᵀ β,  mean(s) = μ + k_su a

use super::super::exact::first_row;
use super::super::hyper::{Hyperparameters, Mean};
use super::super::kernel::Scaled;
use super::super::watch::{Watch, go_on};
use super::statistics::{Frame, Statistics};
use super::{Model, Noise, Objective};
use crate::error::Result;
use crate::linalg::cholesky::{Factor, JITTER_ALWAYS, JITTER_IF_NEEDED};
use crate::linalg::product;
use crate::linalg::reduce::dot;
use crate::normal::LOG_2_PI;
use std::sync::Arc;

/// Everything the first pass over the data gives at one setting of the hyper-parameters.
#[derive(Debug, Clone)]
pub struct Evidence {
    pub(super) hyper: Hyperparameters,
    pub(super) mean: Mean,
    pub(super) noise: Noise,
    pub(super) frame: Arc<Frame>,
    pub(super) sums: Statistics,
    /// LB, [m, m].
    pub(super) lb: Factor,
    /// The mean constant, its vectors and the quadratic form.
    pub(super) fit: Fit,
}

/// What follows from the sums by triangular solves alone.
#[derive(Debug, Clone)]
pub(super) struct Fit {
    /// μ minus the shift of y.
    pub(super) mu: f64,
    /// β = LB⁻ᵀ c, [m].
    pub(super) beta: Vec<f64>,
    /// a = Luu⁻ᵀ β, [m].
    pub(super) a: Vec<f64>,
    /// (y - μ)ᵀ (Q + Λ)⁻¹ (y - μ).
    pub(super) quadratic: f64,
}

impl Fit {
    /// O(m²).
    pub(super) fn new(frame: &Frame, sums: &Statistics, lb: &Factor, mean: Mean) -> Fit {
        let (mut c_y, mut c_one) = (sums.v_y.clone(), sums.v_one.clone());
        product::solve_lower_vector(lb.l(), &mut c_y);
        product::solve_lower_vector(lb.l(), &mut c_one);
        let y_y = sums.y_y - dot(&c_y, &c_y);
        let y_one = sums.y_one - dot(&c_y, &c_one);
        let one_one = sums.one_one - dot(&c_one, &c_one);
        let mu = match mean {
            Mean::Fixed(value) => value - frame.y_shift,
            // 1ᵀC⁻¹1 is positive; when rounding eats it the inducing points explain any constant by themselves.
            Mean::Estimated if one_one > 0.0 => y_one / one_one,
            Mean::Estimated => 0.0,
        };
        let mut beta: Vec<f64> = c_y.iter().zip(&c_one).map(|(y, one)| y - mu * one).collect();
        product::solve_lower_transposed_vector(lb.l(), &mut beta);
        let mut a = beta.clone();
        product::solve_lower_transposed_vector(frame.luu.l(), &mut a);
        let quadratic = (y_y - 2.0 * mu * y_one + mu * mu * one_one).max(0.0);
        Fit { mu, beta, a, quadratic }
    }
}

/// LB of B = I + V Vᵀ.
fn factor_of_b(sums: &Statistics) -> Result<Factor> {
    let mut b = sums.gram.clone();
    for i in 0..b.nrows() {
        b[(i, i)] += 1.0;
    }
    Factor::new("I + V V'", b.as_ref(), JITTER_IF_NEEDED)
}

impl Evidence {
    pub(super) fn new(
        model: &Model<'_>,
        hyper: &Hyperparameters,
        noise: Noise,
        watch: &dyn Watch,
    ) -> Result<Evidence> {
        let frame = Evidence::frame(model, hyper)?;
        let sums = Statistics::gather(model, hyper, &frame, noise, watch)?;
        go_on(watch, "the factor of B")?;
        let lb = factor_of_b(&sums)?;
        let fit = Fit::new(&frame, &sums, &lb, model.mean);
        Ok(Evidence { hyper: hyper.clone(), mean: model.mean, noise, frame, sums, lb, fit })
    }

    /// As [`Evidence::new`], for the model's own output and `others` at the same rows, each with its mean: one pass and one
    /// factor for all.
    pub(super) fn outputs(
        model: &Model<'_>,
        hyper: &Hyperparameters,
        noise: Noise,
        others: &[(&[f64], Mean)],
        watch: &dyn Watch,
    ) -> Result<Vec<Evidence>> {
        let frame = Evidence::frame(model, hyper)?;
        let values: Vec<&[f64]> = others.iter().map(|(values, _)| *values).collect();
        let sums = Statistics::gather_outputs(model, hyper, &frame, noise, &values, watch)?;
        go_on(watch, "the factor of B")?;
        let lb = factor_of_b(&sums[0])?;
        let means = std::iter::once(model.mean).chain(others.iter().map(|(_, mean)| *mean));
        let evidences = sums.into_iter().zip(means).map(|(sums, mean)| {
            let fit = Fit::new(&frame, &sums, &lb, mean);
            Evidence { hyper: hyper.clone(), mean, noise, frame: frame.clone(), sums, lb: lb.clone(), fit }
        });
        Ok(evidences.collect())
    }

    fn frame(model: &Model<'_>, hyper: &Hyperparameters) -> Result<Arc<Frame>> {
        hyper.check(model.data.dim())?;
        let origin = first_row(model.inducing);
        let z = Scaled::new(&hyper.kernel, model.inducing, &origin);
        let kuu = hyper.kernel.matrix(&z, &z);
        let luu = Factor::new("Kuu", kuu.as_ref(), JITTER_ALWAYS)?;
        let (inducing, y_shift) = (model.inducing.to_owned(), model.y_shift);
        Ok(Arc::new(Frame { inducing, origin, z, luu, y_shift }))
    }

    /// The objective.
    pub fn value(&self, objective: Objective) -> f64 {
        match objective {
            Objective::Marginal => self.log_marginal(),
            Objective::Bound => self.log_marginal() - self.trace_penalty(),
        }
    }

    /// log N(y | μ, Q + Λ).
    pub fn log_marginal(&self) -> f64 {
        self.constant_term() + self.log_det_term() - 0.5 * self.fit.quadratic
    }

    fn constant_term(&self) -> f64 {
        -0.5 * self.sums.n * LOG_2_PI
    }

    /// -½ log det(Q + Λ) = -½ log det B - ½ log det Λ.
    fn log_det_term(&self) -> f64 {
        -self.lb.half_log_det() - 0.5 * self.sums.log_det_lambda
    }

    /// tr(Kff - Qff)/(2σ²): what the bound charges for what the inducing points do not explain.
    fn trace_penalty(&self) -> f64 {
        self.sums.residual / (2.0 * self.hyper.noise_var)
    }

    /// μ in the units of y.
    pub fn mean_constant(&self) -> f64 {
        self.fit.mu + self.frame.y_shift
    }
}
