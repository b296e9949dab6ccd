//! What a process expects at each of its data from all the others, from the one factor that it has `[@dubrule1983]`.
//!
//!   Q = C⁻¹ - C⁻¹1 1ᵀC⁻¹ / 1ᵀC⁻¹1        yᵢ - mean₋ᵢ = αᵢ / Qᵢᵢ        var₋ᵢ = 1 / [C⁻¹]ᵢᵢ
//!
//! The mean is exact, with μ estimated anew without the datum; where μ is given, Q is C⁻¹. The variance is that of the
//! datum, noise included, with μ plugged in, as everywhere here. Hyper-parameters stay as they are: they have seen the
//! datum, and with few data that flatters. O(n³).

use super::ExactPosterior;
use crate::linalg::product;
use crate::linalg::reduce::dot;
use crate::surrogate::hyper::Mean;
use faer::Mat;

/// Each datum against what the others say about it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LeftOut {
    /// yᵢ - mean₋ᵢ, one for each datum.
    pub residual: Vec<f64>,
    /// var₋ᵢ of yᵢ, one for each datum.
    pub var: Vec<f64>,
}

impl ExactPosterior {
    /// Leaves out each datum in turn; nothing to say about fewer than two.
    pub fn leave_one_out(&self) -> LeftOut {
        let n = self.alpha.len();
        if n < 2 {
            return LeftOut::default();
        }
        let mut l_inv = Mat::<f64>::identity(n, n);
        product::solve_lower(self.factor.l(), l_inv.as_mut());
        let mut c_inv_one = self.l_inv_one.clone();
        product::solve_lower_transposed_vector(self.factor.l(), &mut c_inv_one);
        let total = dot(&self.l_inv_one, &self.l_inv_one);
        let (mut residual, mut var) = (Vec::with_capacity(n), Vec::with_capacity(n));
        for i in 0..n {
            // [C⁻¹]ᵢᵢ = |L⁻¹eᵢ|².
            let precision = dot(l_inv.col_as_slice(i), l_inv.col_as_slice(i));
            let of_mean = match self.mean {
                Mean::Estimated => c_inv_one[i] * c_inv_one[i] / total,
                Mean::Fixed(_) => 0.0,
            };
            residual.push(self.alpha[i] / (precision - of_mean));
            var.push(1.0 / precision);
        }
        LeftOut { residual, var }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;
    use crate::surrogate::Posterior;
    use crate::surrogate::data::Data;
    use crate::surrogate::hyper::Hyperparameters;
    use crate::surrogate::kernel::{Kernel, Shape};

    #[test]
    fn it_is_what_processes_without_the_datum_expect() {
        let seed = 4;
        let mut stream = Stream::new(seed, "leave one out", 0);
        let (n, d) = (12, 2);
        let x = Mat::from_fn(n, d, |_, _| stream.uniform());
        let y: Vec<f64> = (0..n).map(|i| 7.0 + (5.0 * x[(i, 0)]).sin() + 0.1 * stream.normal()).collect();
        let kernel = Kernel::new(Shape::Matern52, vec![0.3, 0.8], 1.3, d).unwrap();
        let hyper = Hyperparameters::new(kernel, 0.02).unwrap();
        for mean in [Mean::Estimated, Mean::Fixed(6.5)] {
            let all = ExactPosterior::new(&Data::new(x.as_ref(), &y).unwrap(), &hyper, mean).unwrap();
            let left = all.leave_one_out();
            for i in 0..n {
                let others: Vec<usize> = (0..n).filter(|&j| j != i).collect();
                let x_others = Mat::from_fn(n - 1, d, |j, k| x[(others[j], k)]);
                let y_others: Vec<f64> = others.iter().map(|&j| y[j]).collect();
                let data = Data::new(x_others.as_ref(), &y_others).unwrap();
                let without = ExactPosterior::new(&data, &hyper, mean).unwrap();
                let at = Mat::from_fn(1, d, |_, k| x[(i, k)]);
                let expected = without.predict(at.as_ref()).unwrap();
                // The two ways to the same number differ by rounding, of a matrix with a condition number below 1e3.
                assert!(
                    (y[i] - expected.mean[0] - left.residual[i]).abs() < 1e-11,
                    "seed {seed}, {mean:?}, {i}"
                );
                assert!((expected.var[0] + hyper.noise_var - left.var[i]).abs() < 1e-11, "seed {seed}, {i}");
            }
        }
        let one = Data::new(x.as_ref().subrows(0, 1), &y[..1]).unwrap();
        let lonely = ExactPosterior::new(&one, &hyper, Mean::Estimated).unwrap();
        assert_eq!(lonely.leave_one_out(), LeftOut::default());
    }
}
