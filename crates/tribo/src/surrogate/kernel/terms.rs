//! Terms beside the kernel of all inputs:
//!   k = s² (g(r²) + Σₖ wₖ zₖ + w₂ e₂(z)/P + w₀) / (1 + Σₖ wₖ + w₂ + w₀) + s² Σₖ vₖ (xₖ - cₖ)(x'ₖ - cₖ)
//!   zₖ = g(rₖ²),   rₖ = |xₖ - x'ₖ|/λₖ,   e₂(z) = Σ_{k<l} zₖ zₗ,   P = d(d - 1)/2
//!
//! A table of measurements is often a sum of curves, one for each input, and something smaller in which inputs act together
//! `[@duvenaud2011]`. The weights are parts of s², so that k(x, x) = s² as for a single kernel; only a linear term adds to it
//! (`diagonal`). With vₖ the value of a term and p its share w/(1 + Σ w),
//!   ∂k/∂log λₖ = s² (pₖ + p₂ (Σ z - zₖ)/P) h(rₖ²) rₖ²        ∂k/∂log w = its value - p times all but the linear term
//!   ∂k/∂xₖ    += -s² (pₖ + p₂ (Σ z - zₖ)/P) h(rₖ²) (xₖ - x'ₖ)/λₖ² + s² vₖ (x'ₖ - cₖ)
//! All pairs cost what the inputs cost: e₂ is summed up as inputs come. A block costs b m d exponentials more, and as many
//! again for its derivatives, which are made anew rather than kept: d matrices of slopes would be what a pass over the data
//! holds most of.

use super::{Kernel, Parts, Scaled, check_positive};
use crate::error::{Error, Result};
use crate::linalg::dispatch::vectorised;
use crate::linalg::reduce::{add_scaled, dot, multiply};
use faer::Mat;

/// The numbers of a sum's terms; none of a single kernel.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Terms {
    /// λ of each input: of `additive` and of `pairs`.
    pub length_scales: Vec<f64>,
    /// w of each input, the variance over that of the kernel of all inputs: of `additive`.
    pub weights: Vec<f64>,
    /// w₂: of `pairs`.
    pub pairs: Option<f64>,
    /// w₀: of `constant`.
    pub constant: Option<f64>,
    /// v of each input, the variance of its slope over s²: of `linear`.
    pub slopes: Vec<f64>,
    /// c, where linear functions are zero: of `linear`.
    pub centre: Vec<f64>,
}

impl Terms {
    /// Terms whose numbers are those that `parts` ask for, positive and finite, for `d` inputs.
    pub(super) fn check(&self, parts: Parts, d: usize) -> Result<()> {
        let each = |is_there: bool| if is_there { d } else { 0 };
        let pairs = usize::from(parts.pairs);
        if d < 2 && parts.pairs {
            return Err(Error::Size {
                what: "inputs of a kernel with pairs (two or more)",
                expected: 2,
                found: d,
            });
        }
        for (what, expected, found) in [
            (
                "number of length scales of terms (one for each input)",
                each(parts.of_one_input()),
                self.length_scales.len(),
            ),
            ("number of weights of terms (one for each input)", each(parts.additive), self.weights.len()),
            ("number of weights of pairs", pairs, self.pairs.iter().len()),
            ("number of weights of a constant", usize::from(parts.constant), self.constant.iter().len()),
            ("number of slopes of a linear term (one for each input)", each(parts.linear), self.slopes.len()),
            (
                "coordinates of the centre of a linear term (one for each input)",
                each(parts.linear),
                self.centre.len(),
            ),
        ] {
            if expected != found {
                return Err(Error::Size { what, expected, found });
            }
        }
        self.length_scales.iter().try_for_each(|&value| check_positive("length scale", value))?;
        self.weights().try_for_each(|value| check_positive("weight of a term", value))?;
        self.slopes.iter().try_for_each(|&value| check_positive("slope variance", value))?;
        match self.centre.iter().position(|value| !value.is_finite()) {
            Some(column) => {
                let value = self.centre[column];
                Err(Error::NotFinite { what: "centre of a linear term", row: 0, column, value })
            }
            None => Ok(()),
        }
    }

    /// Weights, of which shares are made: of each input, of pairs, of a constant.
    fn weights(&self) -> impl Iterator<Item = f64> {
        self.weights.iter().copied().chain(self.pairs).chain(self.constant)
    }

    /// How many hyper-parameters they are.
    pub(super) fn n_parameters(&self) -> usize {
        self.length_scales.len() + self.weights().count() + self.slopes.len()
    }

    /// All numbers that are searched, in the order of gradients: length scales, weights, slopes.
    pub(crate) fn numbers_mut(&mut self) -> impl Iterator<Item = &mut f64> {
        let Terms { length_scales, weights, pairs, constant, slopes, .. } = self;
        length_scales.iter_mut().chain(weights).chain(pairs).chain(constant).chain(slopes)
    }

    fn is_none(&self) -> bool {
        self.length_scales.is_empty() && self.constant.is_none() && self.slopes.is_empty()
    }
}

/// The parts of s² that each term has, and the kernel of all inputs.
#[derive(Debug, Clone, PartialEq)]
pub struct Shares {
    /// The kernel of all inputs.
    pub joint: f64,
    /// The kernels of each input alone; none if there are none.
    pub inputs: Vec<f64>,
    /// All pairs together.
    pub pairs: f64,
    /// The constant.
    pub constant: f64,
}

impl Kernel {
    /// The prior variance of the kernel of all inputs: s², or its part of it in a sum.
    pub(super) fn joint_var(&self) -> f64 {
        if self.terms.is_none() { self.signal_var } else { self.signal_var / self.total_weight() }
    }

    /// The parts of s² that the terms have; a linear term is not one of these.
    pub fn shares(&self) -> Shares {
        let total = self.total_weight();
        Shares {
            joint: 1.0 / total,
            inputs: self.terms.weights.iter().map(|weight| weight / total).collect(),
            pairs: self.terms.pairs.unwrap_or(0.0) / total,
            constant: self.terms.constant.unwrap_or(0.0) / total,
        }
    }

    /// 1 + Σ w.
    fn total_weight(&self) -> f64 {
        1.0 + self.terms.weights().sum::<f64>()
    }

    /// ℓₖ/λₖ: what a difference of scaled points is multiplied by.
    fn stretch(&self, k: usize) -> f64 {
        self.length_scale(k) / self.terms.length_scales[k]
    }

    /// s² p₂/P: what the product of two inputs' kernels is multiplied by.
    fn pair_var(&self) -> f64 {
        let d = self.terms.length_scales.len() as f64;
        self.signal_var * self.shares().pairs / (0.5 * d * (d - 1.0)).max(1.0)
    }

    /// Adds the terms of k(xᵢ, zⱼ) to `values`, for all i.
    pub(super) fn add_terms(&self, x: &Scaled, z: &Scaled, j: usize, values: &mut [f64]) {
        if self.terms.is_none() {
            return;
        }
        let shares = self.shares();
        let b = values.len();
        let (mut term, mut singles, mut pairs) = (vec![0.0; b], vec![0.0; b], vec![0.0; b]);
        for k in 0..self.terms.length_scales.len() {
            set_squares(x.input(k), z.input(k)[j], self.stretch(k), &mut term);
            self.shape.curve().values(1.0, &mut term);
            if let Some(share) = shares.inputs.get(k) {
                add_scaled(share * self.signal_var, &term, values);
            }
            if self.terms.pairs.is_some() {
                add_pairs(&term, &mut singles, &mut pairs);
            }
        }
        if self.terms.pairs.is_some() {
            add_scaled(self.pair_var(), &pairs, values);
        }
        if self.terms.constant.is_some() {
            let constant = self.signal_var * shares.constant;
            values.iter_mut().for_each(|value| *value += constant);
        }
        for (k, slope) in self.terms.slopes.iter().enumerate() {
            let (at, factor) = (self.way_from_centre(z, k, j), self.signal_var * slope);
            for (i, value) in values.iter_mut().enumerate() {
                *value += self.way_from_centre(x, k, i) * at * factor;
            }
        }
    }

    /// xₖ - cₖ of a point.
    fn way_from_centre(&self, x: &Scaled, k: usize, i: usize) -> f64 {
        x.input(k)[i] * self.length_scale(k) + x.offset(k)
    }

    /// k(x, x) of every point.
    pub(crate) fn diagonal(&self, x: &Scaled) -> Vec<f64> {
        let mut values = vec![self.signal_var; x.len()];
        for (k, slope) in self.terms.slopes.iter().enumerate() {
            for (i, value) in values.iter_mut().enumerate() {
                let way_from_centre = self.way_from_centre(x, k, i);
                *value += way_from_centre * way_from_centre * (self.signal_var * slope);
            }
        }
        values
    }

    /// s √vₖ (xₖ - cₖ) of every point, whose products are the linear term: [b, d], or no column where there is none.
    pub(crate) fn linear_features(&self, x: &Scaled) -> Mat<f64> {
        let slopes = &self.terms.slopes;
        let factor = |k: usize| (self.signal_var * slopes[k]).sqrt();
        Mat::from_fn(x.len(), slopes.len(), |i, k| factor(k) * self.way_from_centre(x, k, i))
    }

    /// Adds Σᵢ Dᵢ ∂k(xᵢ, xᵢ)/∂log v to the last entries of `gradient`; no other hyper-parameter but s² moves the diagonal.
    pub(crate) fn add_diagonal_gradient(&self, x: &Scaled, weights: &[f64], gradient: &mut [f64]) {
        let first = gradient.len() - self.terms.slopes.len();
        for (k, slope) in self.terms.slopes.iter().enumerate() {
            let squares = (0..x.len()).map(|i| self.way_from_centre(x, k, i).powi(2));
            let sum: f64 = squares.zip(weights).map(|(square, weight)| square * weight).sum();
            gradient[first + k] += self.signal_var * slope * sum;
        }
    }

    /// Adds ∂k(xᵢ, xᵢ)/∂xᵢₖ to `out` [b, d].
    pub(crate) fn add_diagonal_input_gradient(&self, x: &Scaled, out: &mut Mat<f64>) {
        for (k, slope) in self.terms.slopes.iter().enumerate() {
            for i in 0..x.len() {
                out[(i, k)] += 2.0 * self.signal_var * slope * self.way_from_centre(x, k, i);
            }
        }
    }

    /// Adds Σᵢⱼ Dᵢⱼ ∂kᵢⱼ/∂log of the terms' numbers to `gradient`, with the weights D, in the order of [`Terms`].
    pub(super) fn add_term_gradient(&self, x: &Scaled, z: &Scaled, weights: &Mat<f64>, gradient: &mut [f64]) {
        if self.terms.is_none() {
            return;
        }
        let mut sums = TermSums::new(self, x.len());
        for j in 0..z.len() {
            sums.add(self, x, z, j, &weights.col_as_slice(j)[..x.len()], gradient);
        }
        let (s2, shares) = (self.signal_var, self.shares());
        let (pairs, constant) = (self.pair_var() * sums.pairs, s2 * shares.constant * sums.weights);
        let inputs: Vec<f64> =
            shares.inputs.iter().zip(&sums.inputs).map(|(share, sum)| s2 * share * sum).collect();
        let total = sums.joint + inputs.iter().sum::<f64>() + pairs + constant;
        let of_inputs = inputs.iter().zip(&shares.inputs).map(|(value, share)| value - share * total);
        let of_pairs = self.terms.pairs.map(|_| pairs - shares.pairs * total);
        let of_constant = self.terms.constant.map(|_| constant - shares.constant * total);
        let of_slopes = self.terms.slopes.iter().zip(&sums.slopes).map(|(slope, sum)| s2 * slope * sum);
        let rest = gradient.iter_mut().skip(self.terms.length_scales.len());
        rest.zip(of_inputs.chain(of_pairs).chain(of_constant).chain(of_slopes))
            .for_each(|(gradient, value)| *gradient += value);
    }

    /// Adds Σⱼ Eᵢⱼ ∂kᵢⱼ/∂xᵢₖ of the terms to `out` [b, d], with the weights E.
    pub(super) fn add_term_input_gradient(
        &self,
        x: &Scaled,
        z: &Scaled,
        weights: &Mat<f64>,
        out: &mut Mat<f64>,
    ) {
        if self.terms.is_none() {
            return;
        }
        let mut inputs = Inputs::new(self, x.len());
        for j in 0..z.len() {
            let weights = &weights.col_as_slice(j)[..x.len()];
            inputs.look_at(self, x, z, j);
            for k in 0..self.terms.length_scales.len() {
                let factor = -self.stretch(k) / self.terms.length_scales[k];
                let (factors, slopes) = (inputs.factors(self, k), &inputs.slopes[k]);
                let at = z.input(k)[j];
                let column = &mut out.col_as_slice_mut(k)[..x.len()];
                for (i, out) in column.iter_mut().enumerate() {
                    *out += weights[i] * slopes[i] * factors[i] * (x.input(k)[i] - at) * factor;
                }
            }
            for (k, slope) in self.terms.slopes.iter().enumerate() {
                let factor = self.signal_var * slope * self.way_from_centre(z, k, j);
                add_scaled(factor, weights, &mut out.col_as_slice_mut(k)[..x.len()]);
            }
        }
    }
}

/// The kernels of each input alone between all points and one other.
struct Inputs {
    squares: Vec<f64>,
    /// zₖ.
    values: Vec<Vec<f64>>,
    /// h(rₖ²).
    slopes: Vec<Vec<f64>>,
    /// Σₖ zₖ, and e₂(z).
    singles: Vec<f64>,
    pairs: Vec<f64>,
}

impl Inputs {
    fn new(kernel: &Kernel, b: usize) -> Inputs {
        let each = vec![vec![0.0; b]; kernel.terms.length_scales.len()];
        let zeros = vec![0.0; b];
        Inputs {
            squares: zeros.clone(),
            values: each.clone(),
            slopes: each,
            singles: zeros.clone(),
            pairs: zeros,
        }
    }

    fn look_at(&mut self, kernel: &Kernel, x: &Scaled, z: &Scaled, j: usize) {
        let Inputs { squares, values, slopes, singles, pairs } = self;
        singles.fill(0.0);
        pairs.fill(0.0);
        for (k, (values, slopes)) in values.iter_mut().zip(slopes).enumerate() {
            set_squares(x.input(k), z.input(k)[j], kernel.stretch(k), squares);
            values.copy_from_slice(squares);
            kernel.shape.curve().values_and_slopes(1.0, values, slopes);
            add_pairs(values, singles, pairs);
        }
    }

    /// s² (pₖ + p₂ (Σ z - zₖ)/P): what a change of zₖ is multiplied by.
    fn factors(&self, kernel: &Kernel, k: usize) -> Vec<f64> {
        let alone = kernel.signal_var * kernel.shares().inputs.get(k).unwrap_or(&0.0);
        let pair_var = kernel.pair_var();
        self.singles.iter().zip(&self.values[k]).map(|(sum, own)| alone + pair_var * (sum - own)).collect()
    }
}

/// Sums over all pairs of points that the gradient in the numbers of the terms is made of.
struct TermSums {
    of_inputs: Inputs,
    work: Vec<f64>,
    /// Σ D ∘ the kernel of all inputs.
    joint: f64,
    /// Σ D ∘ zₖ.
    inputs: Vec<f64>,
    /// Σ D ∘ e₂(z).
    pairs: f64,
    /// Σ D.
    weights: f64,
    /// Σ D ∘ (xₖ - cₖ)(zₖ - cₖ).
    slopes: Vec<f64>,
}

impl TermSums {
    fn new(kernel: &Kernel, b: usize) -> TermSums {
        TermSums {
            of_inputs: Inputs::new(kernel, b),
            work: vec![0.0; b],
            joint: 0.0,
            inputs: vec![0.0; kernel.terms.length_scales.len()],
            pairs: 0.0,
            weights: 0.0,
            slopes: vec![0.0; kernel.terms.slopes.len()],
        }
    }

    /// Takes in the pairs with zⱼ, whose weights are given; what moves with λ goes to `gradient` at once.
    fn add(
        &mut self,
        kernel: &Kernel,
        x: &Scaled,
        z: &Scaled,
        j: usize,
        weights: &[f64],
        gradient: &mut [f64],
    ) {
        x.squared_distances(z, j, &mut self.work);
        kernel.shape.curve().values(kernel.joint_var(), &mut self.work);
        self.joint += dot(weights, &self.work);
        self.weights += weights.iter().sum::<f64>();
        self.of_inputs.look_at(kernel, x, z, j);
        for k in 0..self.inputs.len() {
            self.inputs[k] += dot(weights, &self.of_inputs.values[k]);
            set_squares(x.input(k), z.input(k)[j], kernel.stretch(k), &mut self.work);
            multiply(&mut self.work, &self.of_inputs.slopes[k]);
            multiply(&mut self.work, &self.of_inputs.factors(kernel, k));
            gradient[k] += dot(weights, &self.work);
        }
        self.pairs += dot(weights, &self.of_inputs.pairs);
        for (k, sum) in self.slopes.iter_mut().enumerate() {
            let along: f64 = (0..x.len()).map(|i| weights[i] * kernel.way_from_centre(x, k, i)).sum();
            *sum += along * kernel.way_from_centre(z, k, j);
        }
    }
}

vectorised! {
    /// `out[i] = ((x[i] - z) stretch)²`.
    fn set_squares(x: &[f64], z: f64, stretch: f64, out: &mut [f64]) {
        for (out, x) in out.iter_mut().zip(x) {
            let difference = (x - z) * stretch;
            *out = difference * difference;
        }
    }
}

vectorised! {
    /// One more input: its products with those before, and their sum.
    fn add_pairs(values: &[f64], singles: &mut [f64], pairs: &mut [f64]) {
        for ((value, single), pair) in values.iter().zip(singles).zip(pairs) {
            *pair = value.mul_add(*single, *pair);
            *single += value;
        }
    }
}
