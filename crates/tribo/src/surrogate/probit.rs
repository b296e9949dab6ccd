//! Whether a point gives a value at all: a Gaussian process behind a probit `[@rasmussen2006, sections 3.6 and 3.9]`.
//!
//!   g ~ GP(0, c + k)        P(value at x | g) = Φ(g(x))        yᵢ = 1 for a value, -1 for none
//!
//! Expectation propagation puts a normal factor of precision τᵢ and shift νᵢ in the place of each Φ(yᵢgᵢ), such that
//! mean and variance of every gᵢ are those with its own Φ and the factors of the others:
//!   B = I + S½ K S½ = L Lᵀ, S = diag τ        Σ = K - K S½ B⁻¹ S½ K        μ = Σ ν
//!   without the own factor:  v = 1/(1/Σᵢᵢ - τᵢ),  m = v (μᵢ/Σᵢᵢ - νᵢ),  z = yᵢm/√(1 + v)
//!   mean(s)   = k_s a,  a = ν - S½ B⁻¹ S½ K ν        var(s) = k_ss - |L⁻¹ S½ k_s|²
//!   P(value)  = Φ(mean/√(1 + var))
//! All factors are renewed at once, damped. The constant c is the freedom of the overall rate. Laplace's method costs a
//! third and is unsure of itself where k is large: 0.75 for 0.81 with one point and a variance of 5. Cost O(n³) for each of
//! some ten rounds.

use super::kernel::{Kernel, Scaled};
use super::posterior::weighted_kernel_gradient;
use crate::error::{Error, Result};
use crate::linalg::cholesky::{Factor, JITTER_IF_NEEDED};
use crate::linalg::product;
use crate::linalg::reduce::{add_scaled, dot};
use crate::normal::{cdf, log_cdf, log_cdf_slope, pdf};
use faer::{Mat, MatRef};

/// The prior variance of the overall rate, on the scale of g.
const CONSTANT: f64 = 1.0;
/// Rounds at most, and the part of the way to new factors that each goes.
const ROUNDS: usize = 30;
const DAMPING: f64 = 0.8;
/// A change of the precisions that is none.
const TOLERANCE: f64 = 1e-4;

/// The process conditioned on where values came back and where none did.
#[derive(Debug, Clone)]
pub struct Probit {
    kernel: Kernel,
    origin: Vec<f64>,
    x: Scaled,
    /// a, [n].
    weights: Vec<f64>,
    /// S½, [n].
    roots: Vec<f64>,
    /// L of B, [n, n].
    factor: Factor,
    log_evidence: f64,
}

/// P(value) at some points, and its gradient.
pub struct Chances {
    /// One for each point.
    pub values: Vec<f64>,
    /// ∂P/∂x [q, d].
    pub gradient: Mat<f64>,
}

impl Probit {
    /// Conditions on the rows of `x`, of which `has_value` says whether they gave one.
    pub fn new(x: MatRef<'_, f64>, has_value: &[bool], kernel: &Kernel) -> Result<Probit> {
        kernel.check(x.ncols())?;
        if x.nrows() != has_value.len() || has_value.is_empty() {
            let what = "labels (points)";
            return Err(Error::Size { what, expected: x.nrows().max(1), found: has_value.len() });
        }
        let origin: Vec<f64> = (0..x.ncols()).map(|k| x[(0, k)]).collect();
        let scaled = Scaled::new(kernel, x, &origin);
        let mut covariance = kernel.matrix(&scaled, &scaled);
        let n = has_value.len();
        for j in 0..n {
            covariance.col_as_slice_mut(j).iter_mut().for_each(|entry| *entry += CONSTANT);
        }
        let signs: Vec<f64> = has_value.iter().map(|&value| if value { 1.0 } else { -1.0 }).collect();
        let Factors { weights, roots, factor, log_evidence } = Factors::find(&covariance, &signs)?;
        Ok(Probit { kernel: kernel.clone(), origin, x: scaled, weights, roots, factor, log_evidence })
    }

    /// log Z, the probability of what was seen.
    pub fn log_evidence(&self) -> f64 {
        self.log_evidence
    }

    /// P(value) at the rows of `x`.
    pub fn chances(&self, x: MatRef<'_, f64>) -> Vec<f64> {
        let scaled = Scaled::new(&self.kernel, x, &self.origin);
        let (mean, var, _) = self.latent(&scaled);
        mean.iter().zip(&var).map(|(m, v)| cdf(m / (1.0 + v).sqrt())).collect()
    }

    /// P(value) at the rows of `x`, and its gradient.
    pub fn chances_gradient(&self, x: MatRef<'_, f64>) -> Chances {
        let scaled = Scaled::new(&self.kernel, x, &self.origin);
        let (q, n) = (scaled.len(), self.weights.len());
        let (mean, var, mut whitened) = self.latent(&scaled);
        // L⁻ᵀL⁻¹S½k, then W½ of that: what a change of k does to the variance, times -½.
        product::solve_lower_transposed(self.factor.l(), whitened.as_mut());
        let mut weights = Mat::zeros(q, n);
        let mut values = Vec::with_capacity(q);
        for i in 0..q {
            let s = (1.0 + var[i]).sqrt();
            let u = mean[i] / s;
            values.push(cdf(u));
            let density = pdf(u);
            for j in 0..n {
                let by_var = -2.0 * self.roots[j] * whitened[(j, i)];
                weights[(i, j)] = density * (self.weights[j] / s - 0.5 * u / (s * s) * by_var);
            }
        }
        let gradient = weighted_kernel_gradient(&self.kernel, &scaled, &self.x, &weights);
        Chances { values, gradient }
    }

    /// Mean and variance of g at points, and L⁻¹S½k [n, q].
    fn latent(&self, x: &Scaled) -> (Vec<f64>, Vec<f64>, Mat<f64>) {
        let mut k = self.kernel.matrix(&self.x, x);
        let prior = CONSTANT + self.kernel.signal_var;
        let mut mean = Vec::with_capacity(x.len());
        for i in 0..x.len() {
            let column = k.col_as_slice_mut(i);
            column.iter_mut().for_each(|entry| *entry += CONSTANT);
            mean.push(dot(column, &self.weights));
            column.iter_mut().zip(&self.roots).for_each(|(entry, w)| *entry *= w);
        }
        product::solve_lower(self.factor.l(), k.as_mut());
        let var = |i: usize| (prior - dot(k.col_as_slice(i), k.col_as_slice(i))).max(0.0);
        let var = (0..x.len()).map(var).collect();
        (mean, var, k)
    }
}

/// The normal factors that stand for what was seen, and what follows from them.
struct Factors {
    /// a.
    weights: Vec<f64>,
    /// S½.
    roots: Vec<f64>,
    factor: Factor,
    log_evidence: f64,
}

/// What is known of one g without its own factor, and what its Φ makes of that.
struct Cavity {
    mean: f64,
    precision: f64,
    log_z: f64,
    /// The factor that gives the same mean and variance as Φ.
    tau: f64,
    nu: f64,
}

impl Cavity {
    /// For a g of this mean and variance, with the factor (`tau`, `nu`) in them, and the sign seen.
    fn new(mean: f64, var: f64, tau: f64, nu: f64, sign: f64) -> Cavity {
        let precision = (1.0 / var - tau).max(1e-10);
        let (v, m) = (1.0 / precision, (mean / var - nu) / precision);
        let s = (1.0 + v).sqrt();
        let z = sign * m / s;
        let ratio = log_cdf_slope(z);
        // Derivatives of log Φ(z) in m.
        let (first, second) = (sign * ratio / s, (-ratio * (z + ratio) / (1.0 + v)).min(-1e-12));
        let rest = (1.0 + v * second).max(1e-6);
        Cavity { mean: m, precision, log_z: log_cdf(z), tau: -second / rest, nu: (first - m * second) / rest }
    }
}

impl Factors {
    fn find(covariance: &Mat<f64>, signs: &[f64]) -> Result<Factors> {
        let n = signs.len();
        let (mut tau, mut nu) = (vec![0.0; n], vec![0.0; n]);
        let mut mean = vec![0.0; n];
        let mut var: Vec<f64> = (0..n).map(|i| covariance[(i, i)]).collect();
        for round in 0..ROUNDS {
            let step = if round == 0 { 1.0 } else { DAMPING };
            let mut change: f64 = 0.0;
            for i in 0..n {
                let new = Cavity::new(mean[i], var[i], tau[i], nu[i], signs[i]);
                change = change.max((new.tau - tau[i]).abs() / (1.0 + tau[i]));
                tau[i] += step * (new.tau - tau[i]);
                nu[i] += step * (new.nu - nu[i]);
            }
            (mean, var) = marginals(covariance, &tau, &nu)?;
            if change < TOLERANCE {
                break;
            }
        }
        let (roots, factor) = curvature(covariance, &tau)?;
        let mut inner = multiply(covariance, &nu);
        inner.iter_mut().zip(&roots).for_each(|(entry, root)| *entry *= root);
        product::solve_lower_vector(factor.l(), &mut inner);
        product::solve_lower_transposed_vector(factor.l(), &mut inner);
        let weights = (0..n).map(|i| nu[i] - roots[i] * inner[i]).collect();
        let mut log_evidence = -factor.half_log_det();
        for i in 0..n {
            let Cavity { mean: m, precision, log_z, .. } =
                Cavity::new(mean[i], var[i], tau[i], nu[i], signs[i]);
            let sum = precision + tau[i];
            log_evidence += log_z
                + 0.5 * (tau[i] / precision).ln_1p()
                + 0.5 * nu[i] * (mean[i] - nu[i] / sum)
                + 0.5 * m * precision / sum * (tau[i] * m - 2.0 * nu[i]);
        }
        Ok(Factors { weights, roots, factor, log_evidence })
    }
}

/// S½, and L of B = I + S½ K S½.
fn curvature(covariance: &Mat<f64>, tau: &[f64]) -> Result<(Vec<f64>, Factor)> {
    let roots: Vec<f64> = tau.iter().map(|tau| tau.max(0.0).sqrt()).collect();
    let b = Mat::from_fn(tau.len(), tau.len(), |i, j| {
        let identity = if i == j { 1.0 } else { 0.0 };
        identity + roots[i] * covariance[(i, j)] * roots[j]
    });
    let factor = Factor::new("I + S½KS½", b.as_ref(), JITTER_IF_NEEDED)?;
    Ok((roots, factor))
}

/// Mean and variance of every g.
fn marginals(covariance: &Mat<f64>, tau: &[f64], nu: &[f64]) -> Result<(Vec<f64>, Vec<f64>)> {
    let n = tau.len();
    let (roots, factor) = curvature(covariance, tau)?;
    let mut v = Mat::from_fn(n, n, |i, j| roots[i] * covariance[(i, j)]);
    product::solve_lower(factor.l(), v.as_mut());
    // Σν = Kν - Vᵀ(Vν).
    let mut by_rows = vec![0.0; n];
    (0..n).for_each(|j| add_scaled(nu[j], v.col_as_slice(j), &mut by_rows));
    let prior = multiply(covariance, nu);
    let mean = (0..n).map(|i| prior[i] - dot(v.col_as_slice(i), &by_rows)).collect();
    let var = |i: usize| (covariance[(i, i)] - dot(v.col_as_slice(i), v.col_as_slice(i))).max(1e-10);
    Ok((mean, (0..n).map(var).collect()))
}

/// K v for a symmetric K.
fn multiply(k: &Mat<f64>, v: &[f64]) -> Vec<f64> {
    (0..v.len()).map(|j| dot(k.col_as_slice(j), v)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;
    use crate::surrogate::kernel::{Shape, Terms};

    fn kernel(length: f64, signal_var: f64) -> Kernel {
        Kernel { shape: Shape::Matern52, length_scales: vec![length], signal_var, terms: Terms::default() }
    }

    /// Points of the square, of which those below a line give a value.
    fn half_plane(n: usize, seed: u64) -> (Mat<f64>, Vec<bool>) {
        let mut stream = Stream::new(seed, "points", 0);
        let x = Mat::from_fn(n, 2, |_, _| stream.uniform());
        let has_value = (0..n).map(|i| x[(i, 1)] < 0.3 + 0.5 * x[(i, 0)]).collect();
        (x, has_value)
    }

    #[test]
    fn one_point_and_two_agree_with_sums_over_the_latent_values() {
        let kernel = kernel(0.5, 4.0);
        let x = Mat::from_fn(2, 1, |i, _| [0.4, 0.7][i]);
        let prior = CONSTANT + kernel.signal_var;
        // The law of g at the second point given the first, from the two by two covariance.
        let scaled = Scaled::new(&kernel, x.as_ref(), &[0.0]);
        let shared = CONSTANT + kernel.matrix(&scaled, &scaled)[(1, 0)];
        let conditional = |g: f64| (shared / prior * g, (prior - shared * shared / prior).sqrt());
        let (mut one, mut both, mut total) = (0.0, 0.0, 0.0);
        for i in -1200..=1200 {
            let g = f64::from(i) * 0.02;
            let weight = pdf(g / prior.sqrt()) * cdf(g) * 0.02 / prior.sqrt();
            total += weight;
            one += weight * cdf(g);
            let (m, s) = conditional(g);
            both += weight * cdf(-m / (1.0 + s * s).sqrt());
        }
        let first = x.as_ref().subrows(0, 1);
        let probit = Probit::new(first, &[true], &kernel).unwrap();
        // With one point the approximation of Z is exact, and that of the value nearly.
        assert!((probit.log_evidence() - 0.5_f64.ln()).abs() < 1e-6, "{}", probit.log_evidence());
        let chance = probit.chances(first)[0];
        assert!((chance - one / total).abs() < 5e-3, "{chance} for {}", one / total);
        // A value at the first point, none at the second.
        let probit = Probit::new(x.as_ref(), &[true, false], &kernel).unwrap();
        assert!(
            (probit.log_evidence() - both.ln()).abs() < 1e-2,
            "{} for {}",
            probit.log_evidence(),
            both.ln()
        );
    }

    #[test]
    fn each_factor_keeps_the_moments_of_its_probit() {
        let seed = 5;
        let (x, has_value) = half_plane(25, seed);
        let kernel = kernel(0.4, 9.0);
        let scaled = Scaled::new(&kernel, x.as_ref(), &[0.0, 0.0]);
        let mut covariance = kernel.matrix(&scaled, &scaled);
        (0..25).for_each(|j| covariance.col_as_slice_mut(j).iter_mut().for_each(|entry| *entry += CONSTANT));
        let signs: Vec<f64> = has_value.iter().map(|&value| if value { 1.0 } else { -1.0 }).collect();
        let found = Factors::find(&covariance, &signs).unwrap();
        let tau: Vec<f64> = found.roots.iter().map(|root| root * root).collect();
        // ν from a = ν - S½B⁻¹S½Kν: μ = K a, and ν = a + τ μ.
        let mean = multiply(&covariance, &found.weights);
        let nu: Vec<f64> = (0..25).map(|i| found.weights[i] + tau[i] * mean[i]).collect();
        let (again, var) = marginals(&covariance, &tau, &nu).unwrap();
        for i in 0..25 {
            assert!((again[i] - mean[i]).abs() < 1e-9, "seed {seed}");
            let cavity = Cavity::new(mean[i], var[i], tau[i], nu[i], signs[i]);
            // Moments of cavity times Φ, by summing.
            let sd = 1.0 / cavity.precision.sqrt();
            let (mut w0, mut w1, mut w2) = (0.0, 0.0, 0.0);
            for step in -4000..=4000 {
                let g = cavity.mean + sd * f64::from(step) * 2e-3;
                let weight = pdf(f64::from(step) * 2e-3) * cdf(signs[i] * g);
                (w0, w1, w2) = (w0 + weight, w1 + weight * g, w2 + weight * g * g);
            }
            let (m, v) = (w1 / w0, w2 / w0 - (w1 / w0).powi(2));
            assert!((m - mean[i]).abs() < 2e-3 * (1.0 + m.abs()), "seed {seed}: {m} {}", mean[i]);
            assert!((v / var[i] - 1.0).abs() < 2e-3, "seed {seed}: {v} {}", var[i]);
        }
    }

    #[test]
    fn it_learns_a_border_and_its_gradient_is_the_slope() {
        let seed = 6;
        let (x, has_value) = half_plane(60, seed);
        let probit = Probit::new(x.as_ref(), &has_value, &kernel(0.5, 100.0)).unwrap();
        let far = Mat::from_fn(2, 2, |i, k| [[0.9, 0.1], [0.1, 0.9]][i][k]);
        let chances = probit.chances(far.as_ref());
        assert!(chances[0] > 0.95 && chances[1] < 0.05, "seed {seed}: {chances:?}");
        let step = 1e-5;
        for at in [[0.3, 0.4], [0.7, 0.62], [0.2, 0.9]] {
            let point = Mat::from_fn(1, 2, |_, k| at[k]);
            let Chances { values, gradient } = probit.chances_gradient(point.as_ref());
            assert!((values[0] - probit.chances(point.as_ref())[0]).abs() < 1e-14);
            for k in 0..2 {
                let moved = |sign: f64| {
                    let x = Mat::from_fn(1, 2, |_, i| at[i] + if i == k { sign * step } else { 0.0 });
                    probit.chances(x.as_ref())[0]
                };
                let slope = (moved(1.0) - moved(-1.0)) / (2.0 * step);
                assert!((slope - gradient[(0, k)]).abs() < 1e-6, "{at:?}: {slope}, {}", gradient[(0, k)]);
            }
        }
    }

    #[test]
    fn a_border_is_more_likely_than_chance_where_there_is_one() {
        let seed = 7;
        let (x, has_value) = half_plane(40, seed);
        let ordered = Probit::new(x.as_ref(), &has_value, &kernel(0.5, 100.0)).unwrap().log_evidence();
        let mut stream = Stream::new(seed, "accidents", 0);
        let accidents: Vec<bool> = (0..40).map(|_| stream.uniform() < 0.5).collect();
        let random = Probit::new(x.as_ref(), &accidents, &kernel(0.5, 100.0)).unwrap().log_evidence();
        assert!(ordered > random + 10.0, "seed {seed}: {ordered}, {random}");
    }
}
