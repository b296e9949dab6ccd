//! The whole covariance, C = B diag(scale²) Bᵀ with the eigenvectors in the columns of B.
//!
//! The decomposition is the dear part, O(d³). It is renewed only every so many generations, such that all of them together
//! cost no more than the draws; in between C learns and the draws are those of the last one.

use faer::{Mat, Side};

use super::{Lesson, Rates, SMALLEST_EIGENVALUE};
use crate::rng::Stream;

#[derive(Debug, Clone)]
pub(super) struct Full {
    covariance: Mat<f64>,
    basis: Mat<f64>,
    scale: Vec<f64>,
    lessons: usize,
    /// Lessons between decompositions.
    interval: usize,
}

impl Full {
    /// The identity in d dimensions.
    pub(super) fn new(d: usize, rates: &Rates) -> Full {
        Full {
            covariance: Mat::identity(d, d),
            basis: Mat::identity(d, d),
            scale: vec![1.0; d],
            lessons: 0,
            interval: ((1.0 / (10.0 * d as f64 * (rates.c_1 + rates.c_mu))) as usize).max(1),
        }
    }

    pub(super) fn draw(&self, sigma: f64, stream: &mut Stream, out: &mut [f64]) {
        let z: Vec<f64> = self.scale.iter().map(|s| sigma * s * stream.normal()).collect();
        for (j, step) in out.iter_mut().enumerate() {
            *step = z.iter().enumerate().map(|(k, z)| self.basis[(j, k)] * z).sum();
        }
    }

    pub(super) fn whitened(&self, y: &[f64]) -> Vec<f64> {
        let d = y.len();
        let along: Vec<f64> =
            (0..d).map(|k| (0..d).map(|j| self.basis[(j, k)] * y[j]).sum::<f64>() / self.scale[k]).collect();
        (0..d).map(|j| (0..d).map(|k| self.basis[(j, k)] * along[k]).sum()).collect()
    }

    pub(super) fn learn(&mut self, lesson: &Lesson<'_>) {
        for a in 0..self.scale.len() {
            for b in 0..=a {
                let entry = lesson.entry(self.covariance[(a, b)], a, b);
                self.covariance[(a, b)] = entry;
                self.covariance[(b, a)] = entry;
            }
        }
        self.lessons += 1;
        if self.lessons.is_multiple_of(self.interval) {
            self.decompose();
        }
    }

    pub(super) fn variance(&self, j: usize) -> f64 {
        self.covariance[(j, j)]
    }

    /// Refreshes basis and scale from C. If it fails the old ones serve until the next time.
    fn decompose(&mut self) {
        let Ok(eigen) = self.covariance.self_adjoint_eigen(Side::Lower) else { return };
        let values: Vec<f64> = eigen.S().column_vector().iter().copied().collect();
        let largest = values.iter().copied().fold(0.0, f64::max);
        if largest.is_normal() && values.iter().all(|v| v.is_finite()) {
            self.basis = eigen.U().to_owned();
            self.scale = values.iter().map(|v| v.max(SMALLEST_EIGENVALUE * largest).sqrt()).collect();
        }
    }
}
