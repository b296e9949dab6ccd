//! Functions that a process believes possible, each a formula that can be evaluated anywhere `[@wilson2020, equation 13]`.
//!
//!   f(s) = μ + g(s) + k_sf C⁻¹(y - μ - g(X) - ε)        ε ~ N(0, σ²I)
//!   g(s) = s √(2/F) Σⱼ wⱼ cos(ωⱼᵀ s/ℓ + bⱼ)            w ~ N(0, 1), b ~ U(0, 2π)
//!
//! g is a draw from the prior in F random features `[@rahimi2007]`: ω is normal for the squared exponential and Student's
//! with 2ν degrees of freedom for Matérn-ν. A linear term is drawn exactly, by its slopes. What the data say is exact; only the prior is approximated, where there are none.
//!
//! Drawing costs n² for each path, a value n + F. Joint samples at q points would cost q³ and be exact; they are
//! `Posterior::sample`.

use super::ExactPosterior;
use crate::error::Result;
use crate::linalg::product;
use crate::rng::Stream;
use crate::surrogate::data::check_queries;
use crate::surrogate::kernel::{Curve, Kernel, Scaled};
use faer::{Mat, MatRef};
use std::f64::consts::TAU;

/// Points evaluated at once: the matrices stay in the cache.
const BLOCK: usize = 512;

/// The mean of a posterior, and functions drawn from it.
pub struct Paths {
    kernel: Kernel,
    origin: Vec<f64>,
    /// X scaled, [n, d].
    x: Scaled,
    mean: f64,
    /// ω in scaled inputs, [F, d].
    frequencies: Mat<f64>,
    /// b, [F].
    phases: Vec<f64>,
    /// s √(2/F) w, [F, 1 + paths]; 0 in the first column, which is the mean.
    feature_weights: Mat<f64>,
    /// Of the features of a linear term, [d, 1 + paths]; no row where there is none.
    linear_weights: Mat<f64>,
    /// C⁻¹(y - μ - g(X) - ε), [n, 1 + paths]; α in the first column.
    data_weights: Mat<f64>,
}

impl ExactPosterior {
    /// The mean, and `n_paths` functions drawn with `n_features` features.
    pub fn paths(&self, n_paths: usize, n_features: usize, stream: &mut Stream) -> Paths {
        let kernel = self.hyper.kernel.clone();
        let d = self.origin.len();
        let frequencies = draw_frequencies(&kernel, n_features, d, stream);
        let phases: Vec<f64> = (0..n_features).map(|_| TAU * stream.uniform()).collect();
        let amplitude = (2.0 * kernel.signal_var / n_features.max(1) as f64).sqrt();
        // The first column is the mean: no prior draw and no noise.
        let drawn =
            |j: usize, scale: f64, stream: &mut Stream| if j == 0 { 0.0 } else { scale * stream.normal() };
        let feature_weights = Mat::from_fn(n_features, 1 + n_paths, |_, j| drawn(j, amplitude, stream));
        let mut data_weights =
            Mat::from_fn(self.alpha.len(), 1 + n_paths, |i, j| drawn(j, self.noise_var(i).sqrt(), stream));
        let features = features(&self.x, &frequencies, &phases);
        product::add_product(data_weights.as_mut(), 1.0, features.as_ref(), feature_weights.as_ref());
        let linear = kernel.linear_features(&self.x);
        let linear_weights = Mat::from_fn(linear.ncols(), 1 + n_paths, |_, j| drawn(j, 1.0, stream));
        product::add_product(data_weights.as_mut(), 1.0, linear.as_ref(), linear_weights.as_ref());
        product::solve_lower(self.factor.l(), data_weights.as_mut());
        product::solve_lower_transposed(self.factor.l(), data_weights.as_mut());
        let data_weights =
            Mat::from_fn(self.alpha.len(), 1 + n_paths, |i, j| self.alpha[i] - data_weights[(i, j)]);
        let (origin, x, mean) = (self.origin.clone(), self.x.clone(), self.mean_constant());
        Paths { kernel, origin, x, mean, frequencies, phases, feature_weights, linear_weights, data_weights }
    }
}

impl Paths {
    /// The mean and the values of all functions at the rows of `x`: [q, 1 + paths].
    pub fn values(&self, x: MatRef<'_, f64>) -> Result<Mat<f64>> {
        check_queries(x, self.origin.len())?;
        let mut values = Mat::from_fn(x.nrows(), self.feature_weights.ncols(), |_, _| self.mean);
        for first in (0..x.nrows()).step_by(BLOCK) {
            let n = BLOCK.min(x.nrows() - first);
            let scaled = Scaled::new(&self.kernel, x.subrows(first, n), &self.origin);
            let mut block = values.as_mut().subrows_mut(first, n);
            let k = self.kernel.matrix(&scaled, &self.x);
            product::add_product(block.as_mut(), 1.0, k.as_ref(), self.data_weights.as_ref());
            let features = features(&scaled, &self.frequencies, &self.phases);
            product::add_product(block.as_mut(), 1.0, features.as_ref(), self.feature_weights.as_ref());
            let linear = self.kernel.linear_features(&scaled);
            product::add_product(block, 1.0, linear.as_ref(), self.linear_weights.as_ref());
        }
        Ok(values)
    }
}

/// ω of the spectrum of a kernel, [F, d]. That of a sum is a mixture: a feature is of one term, as often as its share says.
fn draw_frequencies(kernel: &Kernel, n_features: usize, d: usize, stream: &mut Stream) -> Mat<f64> {
    // 2ν, for which a χ² variable is so many squares of normal ones.
    let degrees = match kernel.shape.curve() {
        Curve::Matern12 => Some(1),
        Curve::Matern32 => Some(3),
        Curve::Matern52 => Some(5),
        Curve::SquaredExponential => None,
    };
    let scale = |stream: &mut Stream| {
        degrees.map_or(1.0, |degrees: i32| {
            let chi_squared: f64 = (0..degrees).map(|_| stream.normal().powi(2)).sum();
            (f64::from(degrees) / chi_squared.max(1e-12)).sqrt()
        })
    };
    let mut frequencies = Mat::zeros(n_features, d);
    for j in 0..n_features {
        let of = if kernel.shape.is_sum() { drawn_inputs(kernel, d, stream) } else { None };
        let Some(inputs) = of else {
            let scale = scale(stream);
            (0..d).for_each(|k| frequencies[(j, k)] = scale * stream.normal());
            continue;
        };
        for k in inputs {
            let stretch = kernel.length_scale(k) / kernel.terms.length_scales[k];
            frequencies[(j, k)] = stretch * scale(stream) * stream.normal();
        }
    }
    frequencies
}

/// The inputs of a term of a sum, drawn by the shares: one, two of a pair, none of a constant; None for the joint kernel.
fn drawn_inputs(kernel: &Kernel, d: usize, stream: &mut Stream) -> Option<Vec<usize>> {
    let shares = kernel.shares();
    let mut left = stream.uniform();
    let mut is_it = |share: f64| {
        left -= share;
        left < 0.0
    };
    if let Some(k) = shares.inputs.iter().position(|&share| is_it(share)) {
        return Some(vec![k]);
    }
    if is_it(shares.pairs) {
        return Some(stream.choose(d, 2));
    }
    is_it(shares.constant).then(Vec::new)
}

/// cos(ωⱼᵀx̃ᵢ + bⱼ), [q, F].
fn features(x: &Scaled, frequencies: &Mat<f64>, phases: &[f64]) -> Mat<f64> {
    let inputs = Mat::from_fn(x.len(), x.dim(), |i, k| x.input(k)[i]);
    let mut angles = Mat::from_fn(x.len(), phases.len(), |_, j| phases[j]);
    product::add_product(angles.as_mut(), 1.0, inputs.as_ref(), frequencies.transpose());
    for j in 0..angles.ncols() {
        angles.col_as_slice_mut(j).iter_mut().for_each(|angle| *angle = angle.cos());
    }
    angles
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surrogate::Posterior;
    use crate::surrogate::data::Data;
    use crate::surrogate::hyper::{Hyperparameters, Mean};
    use crate::surrogate::kernel::{Shape, Terms};

    #[test]
    fn they_have_the_mean_and_the_variance_of_the_posterior() {
        let seed = 11;
        let sums = ["matern12+additive", "matern32+pairs", "se+constant+linear"];
        let sums = sums.map(|name| Shape::from_name(name).unwrap());
        for shape in Shape::ALL.into_iter().chain(sums) {
            let mut stream = Stream::new(seed, "paths", 0);
            let (n, d) = (8, 2);
            let x = Mat::from_fn(n, d, |_, _| stream.uniform());
            let y: Vec<f64> = (0..n).map(|i| 3.0 + (4.0 * x[(i, 0)]).cos() * x[(i, 1)]).collect();
            let parts = shape.parts();
            let each = |is_there: bool, values: [f64; 2]| if is_there { values.to_vec() } else { vec![] };
            let terms = Terms {
                length_scales: each(parts.additive || parts.pairs, [0.3, 0.5]),
                weights: each(parts.additive, [0.6, 0.6]),
                pairs: parts.pairs.then_some(1.2),
                constant: parts.constant.then_some(0.5),
                slopes: each(parts.linear, [0.3, 0.2]),
                centre: each(parts.linear, [0.5, 0.1]),
            };
            let kernel = Kernel::sum(shape, vec![0.4, 0.7], terms, 0.8, d).unwrap();
            let hyper = Hyperparameters::new(kernel, 1e-4).unwrap();
            let data = Data::new(x.as_ref(), &y).unwrap();
            let posterior = ExactPosterior::new(&data, &hyper, Mean::Estimated).unwrap();
            let (n_paths, n_features) = (2_000, 2_000);
            let paths = posterior.paths(n_paths, n_features, &mut stream);
            let at = Mat::from_fn(5, d, |i, k| if i == 0 { x[(0, k)] } else { stream.uniform() });
            let (values, expected) =
                (paths.values(at.as_ref()).unwrap(), posterior.predict(at.as_ref()).unwrap());
            for i in 0..5 {
                let mean = (1..=n_paths).map(|j| values[(i, j)]).sum::<f64>() / n_paths as f64;
                let var =
                    (1..=n_paths).map(|j| (values[(i, j)] - mean).powi(2)).sum::<f64>() / n_paths as f64;
                assert!((values[(i, 0)] - expected.mean[i]).abs() < 1e-9, "seed {seed}, {shape:?}, {i}");
                // Five standard errors of the draws; the features themselves are a draw, of relative error √(2/F) = 0.03
                // each in the prior's variance 0.8.
                let sd = expected.var[i].sqrt();
                assert!(
                    (mean - expected.mean[i]).abs() < 5.0 * sd / (n_paths as f64).sqrt() + 0.01,
                    "seed {seed}, {shape:?}, {i}"
                );
                let room = expected.var[i] * 5.0 * (2.0 / n_paths as f64).sqrt() + 3.0 * 0.03 * 0.8;
                assert!(
                    (var - expected.var[i]).abs() < room,
                    "seed {seed}, {shape:?}, {i}: {var} for {}",
                    expected.var[i]
                );
            }
            // At a datum without much noise all of them meet.
            assert!((0..=n_paths).all(|j| (values[(0, j)] - y[0]).abs() < 0.1), "seed {seed}, {shape:?}");
        }
    }
}
