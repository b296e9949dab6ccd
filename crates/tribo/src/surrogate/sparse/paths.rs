//! Functions drawn from a sparse process, to be looked at anywhere.
//!
//!   f(s) = μ + k_su (a + Luu⁻ᵀ LB⁻ᵀ v),   v ~ N(0, I)
//!
//! has the mean of the process and the covariance |LB⁻¹ Luu⁻¹ k_us|², what the data have left open of the inducing points. What
//! the inducing points cannot say, kss - |Luu⁻¹ k_us|², is not drawn. Cost: m² a function, O(m) for each value of one.

use super::super::data::check_queries;
use super::super::kernel::Scaled;
use super::super::posterior::Posterior;
use super::posterior::{QUERIES, SparsePosterior};
use crate::error::Result;
use crate::linalg::product;
use crate::rng::Stream;
use faer::{Mat, MatRef};

/// The mean of a process, and functions drawn from it.
pub struct SparsePaths<'a> {
    of: &'a SparsePosterior,
    /// What multiplies k_u: a, then one column for each function, [m, 1 + n].
    weights: Mat<f64>,
}

impl SparsePosterior {
    /// `n` functions.
    pub fn paths(&self, n: usize, stream: &mut Stream) -> SparsePaths<'_> {
        let (luu, lb, a) = (self.state.frame.luu.l(), self.state.lb.l(), &self.state.fit.a);
        let mut weights = Mat::zeros(a.len(), 1 + n);
        for j in 0..=n {
            let column = weights.col_as_slice_mut(j);
            if j > 0 {
                column.iter_mut().for_each(|value| *value = stream.normal());
                product::solve_lower_transposed_vector(lb, column);
                product::solve_lower_transposed_vector(luu, column);
            }
            column.iter_mut().zip(a).for_each(|(value, a)| *value += a);
        }
        SparsePaths { of: self, weights }
    }
}

impl SparsePaths<'_> {
    /// The mean, then the functions, at the rows of `x`: [q, 1 + n].
    pub fn values(&self, x: MatRef<'_, f64>) -> Result<Mat<f64>> {
        check_queries(x, self.of.dim())?;
        let state = &self.of.state;
        let mut values = Mat::full(x.nrows(), self.weights.ncols(), self.of.mean_constant());
        for start in (0..x.nrows()).step_by(QUERIES) {
            let count = QUERIES.min(x.nrows() - start);
            let points = Scaled::new(&state.hyper.kernel, x.subrows(start, count), &state.frame.origin);
            let k = state.hyper.kernel.matrix(&points, &state.frame.z);
            let part = values.as_mut().subrows_mut(start, count);
            product::add_product(part, 1.0, k.as_ref(), self.weights.as_ref());
        }
        Ok(values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surrogate::train::SparseGp;
    use crate::surrogate::watch::Unwatched;

    #[test]
    fn functions_have_the_mean_and_the_covariance_that_the_data_left_open() {
        const SEED: u64 = 31;
        let mut stream = Stream::new(SEED, "sparse paths", 0);
        let x = Mat::from_fn(40, 2, |_, _| stream.uniform());
        let y: Vec<f64> = (0..40).map(|i| 3.0 + (4.0 * x[(i, 0)]).sin() + 0.3 * stream.normal()).collect();
        // SoR: its covariance has nothing beside what is drawn.
        let gp = SparseGp {
            approximation: crate::surrogate::sparse::Approximation::Sor,
            ..SparseGp::paper(12, &[0.0; 2], &[1.0; 2])
        };
        let (posterior, _) = gp.fit(x.as_ref(), &y, &Unwatched).unwrap();
        let at = x.as_ref().subrows(0, 6);
        let n = 4_000;
        let values = posterior.paths(n, &mut stream).values(at).unwrap();
        let (mean, covariance) = posterior.joint(at).unwrap();
        for i in 0..6 {
            assert!((values[(i, 0)] - mean[i]).abs() < 1e-10 * mean[i].abs());
            for j in 0..=i {
                let products =
                    (1..=n).map(|path| (values[(i, path)] - mean[i]) * (values[(j, path)] - mean[j]));
                let found = products.sum::<f64>() / n as f64;
                // The standard deviation of such a mean is √((cᵢᵢ cⱼⱼ + cᵢⱼ²)/n).
                let sd = ((covariance[(i, i)] * covariance[(j, j)] + covariance[(i, j)].powi(2)) / n as f64)
                    .sqrt();
                assert!((found - covariance[(i, j)]).abs() < 5.0 * sd, "{i}, {j}, seed {SEED}");
            }
        }
    }
}
