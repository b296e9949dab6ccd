//! Several outputs at the same inputs: one kernel, one set of inducing points, one pass over the data.
//!
//! Given the hyper-parameters, outputs share W, Λ and B; only the right-hand sides V Λ^(-1/2) y differ. q outputs cost a pass
//! and O(n m q) more. Outputs of different units are brought to one before and back after: with y = shift + sd y'
//!   s² = sd² s'²   σ² = sd² σ'²   Luu = sd Luu'   Λ = sd² Λ'
//! while V, LB and Λ^(-1/2)(y - shift) stay.

use super::super::hyper::{Hyperparameters, Mean};
use super::super::watch::Watch;
use super::evidence::Evidence;
use super::posterior::SparsePosterior;
use super::{Model, State};
use crate::error::Result;

impl Model<'_> {
    /// As [`Model::posterior`], for the model's own output and for `others` at the same rows, each with its mean. Not for PITC,
    /// which has its rows in another order.
    pub(in crate::surrogate) fn posteriors(
        &self,
        hyper: &Hyperparameters,
        others: &[(&[f64], Mean)],
        watch: &dyn Watch,
    ) -> Result<Vec<SparsePosterior>> {
        let evidences = Evidence::outputs(self, hyper, self.approximation.noise(), others, watch)?;
        Ok(evidences.into_iter().map(|evidence| SparsePosterior::new(self, evidence)).collect())
    }
}

impl SparsePosterior {
    /// The process of shift + sd y, where this one is that of y.
    pub(in crate::surrogate) fn in_units(&self, shift: f64, sd: f64) -> Result<SparsePosterior> {
        let mut state: State = self.state();
        let var = sd * sd;
        state.hyper.kernel.signal_var *= var;
        state.hyper.noise_var *= var;
        state.luu *= faer::Scale(sd);
        state.y_shift = shift + sd * state.y_shift;
        if let Mean::Fixed(mean) = &mut state.mean {
            *mean = shift + sd * *mean;
        }
        state.v_one.iter_mut().for_each(|value| *value /= sd);
        let [_, y_one, one_one, log_det_lambda, residual, n] = &mut state.sums;
        *y_one /= sd;
        *one_one /= var;
        *log_det_lambda += *n * var.ln();
        *residual *= var;
        SparsePosterior::from_state(state)
    }
}
