//! Stationary kernels k(x, x') = s² g(r²), r² = Σₖ (xₖ - x'ₖ)² / ℓₖ² `[@rasmussen2006, section 4.2]`.
//!
//! One length scale for all inputs, or one for each (ARD). With the slope h(r²) = -2 g'(r²) every derivative is
//! elementary:
//!   ∂k/∂log ℓₖ  = s² h (xₖ - x'ₖ)²/ℓₖ²          ∂k/∂log s² = k
//!   ∂k/∂xₖ      = -s² h (xₖ - x'ₖ)/ℓₖ²
//! so a kernel is just the pair (g, h); `curve.rs` has them. Distances are formed from differences, not from
//! |x|² + |z|² - 2 x·z: the expansion loses half the digits of close points, and close points are what an
//! optimiser produces. Cost of a block [b, m]: b m (2d + about 20) flops.
//!
//! `terms.rs` adds to that: kernels of each input alone, products of two of them, a constant, a linear function; the same calls
//! do all of it. `shape.rs` says which, and has the names. `weighted.rs` sums a kernel up for few points.
//!
//! Blocks are stored [points, other points] with the points contiguous; see `linalg::product`.

mod curve;
mod scaled;
mod shape;
mod terms;
mod weighted;

pub use curve::Curve;
pub use scaled::Scaled;
pub use shape::{NAMES, Parts, Shape};
pub use terms::{Shares, Terms};

use crate::error::{Error, Result};
use crate::linalg::dispatch::vectorised;
use crate::linalg::reduce::{dot, multiply};
use faer::{Mat, MatRef};

/// With fewer points than this a block is filled by rows, since loops over a handful of numbers spend their time getting
/// started. The entries have the same bits.
const FEW: usize = 24;

/// Points whose gradients are summed together.
const LANES: usize = 8;

/// A kernel with its hyper-parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct Kernel {
    /// Its form.
    pub shape: Shape,
    /// ℓ: one entry for all inputs, or one for each input.
    pub length_scales: Vec<f64>,
    /// s², the prior variance, without that of a linear term.
    pub signal_var: f64,
    /// Those of a sum; none of a single kernel.
    pub terms: Terms,
}

impl Kernel {
    /// A kernel whose hyper-parameters are positive and finite, for inputs of dimension `d`.
    pub fn new(shape: Shape, length_scales: Vec<f64>, signal_var: f64, d: usize) -> Result<Kernel> {
        Kernel { shape, length_scales, signal_var, terms: Terms::default() }.checked(d)
    }

    /// As [`Kernel::new`], of a shape that is a sum, with a length scale for each input.
    pub fn sum(
        shape: Shape,
        length_scales: Vec<f64>,
        terms: Terms,
        signal_var: f64,
        d: usize,
    ) -> Result<Kernel> {
        Kernel { shape, length_scales, signal_var, terms }.checked(d)
    }

    fn checked(self, d: usize) -> Result<Kernel> {
        self.check(d)?;
        Ok(self)
    }

    /// Refuses what [`Kernel::new`] would not make. The fields are public, so every use from outside asks.
    pub(crate) fn check(&self, d: usize) -> Result<()> {
        let n_lengths = self.length_scales.len();
        let is_sum = self.shape.is_sum();
        if n_lengths != d && (is_sum || n_lengths != 1) {
            return Err(Error::Size {
                what: "number of length scales (one, or one for each input)",
                expected: d,
                found: n_lengths,
            });
        }
        self.terms.check(self.shape.parts(), d)?;
        for &value in &self.length_scales {
            check_positive("length scale", value)?;
        }
        check_positive("signal variance", self.signal_var)
    }

    /// ℓₖ.
    pub fn length_scale(&self, k: usize) -> f64 {
        if self.length_scales.len() == 1 { self.length_scales[0] } else { self.length_scales[k] }
    }

    /// Hyper-parameters beside s².
    pub fn n_parameters(&self) -> usize {
        self.length_scales.len() + self.terms.n_parameters()
    }

    /// Fills the first `x.len()` rows of `out` [b, m] with k(xᵢ, zⱼ).
    pub fn fill(&self, x: &Scaled, z: &Scaled, out: &mut Mat<f64>) {
        if x.len() < FEW && x.len() < z.len() {
            let mut row = vec![0.0; z.len()];
            for i in 0..x.len() {
                z.squared_distances(x, i, &mut row);
                self.shape.curve().values(self.joint_var(), &mut row);
                self.add_terms(z, x, i, &mut row);
                set_row(out, i, &row);
            }
            return;
        }
        for j in 0..z.len() {
            let column = &mut out.col_as_slice_mut(j)[..x.len()];
            x.squared_distances(z, j, column);
            self.shape.curve().values(self.joint_var(), column);
            self.add_terms(x, z, j, column);
        }
    }

    /// As [`Kernel::fill`], and fills `slopes` [b, m] with s² h(r²), in a sum that of the joint kernel.
    pub fn fill_with_slope(&self, x: &Scaled, z: &Scaled, out: &mut Mat<f64>, slopes: &mut Mat<f64>) {
        if x.len() < FEW && x.len() < z.len() {
            let (mut row, mut slope_row) = (vec![0.0; z.len()], vec![0.0; z.len()]);
            for i in 0..x.len() {
                z.squared_distances(x, i, &mut row);
                self.shape.curve().values_and_slopes(self.joint_var(), &mut row, &mut slope_row);
                self.add_terms(z, x, i, &mut row);
                set_row(out, i, &row);
                set_row(slopes, i, &slope_row);
            }
            return;
        }
        for j in 0..z.len() {
            let column = &mut out.col_as_slice_mut(j)[..x.len()];
            let slope = &mut slopes.col_as_slice_mut(j)[..x.len()];
            x.squared_distances(z, j, column);
            self.shape.curve().values_and_slopes(self.joint_var(), column, slope);
            self.add_terms(x, z, j, column);
        }
    }

    /// k(X, Z) as a new matrix.
    pub fn matrix(&self, x: &Scaled, z: &Scaled) -> Mat<f64> {
        let mut out = Mat::zeros(x.len(), z.len());
        self.fill(x, z, &mut out);
        out
    }

    /// Adds Σᵢⱼ Dᵢⱼ ∂kᵢⱼ/∂log ℓₖ to `gradient[k]` (or the sum over k to `gradient[0]` for one length scale), and after
    /// these the same for the numbers of a sum's terms: length scales, weights, slopes.
    ///
    /// `slopes` holds s² h as made by [`Kernel::fill_with_slope`] and is overwritten with D ∘ s² h; `weights` is D.
    pub fn add_parameter_gradient(
        &self,
        x: &Scaled,
        z: &Scaled,
        weights: &Mat<f64>,
        slopes: &mut Mat<f64>,
        gradient: &mut [f64],
    ) {
        let mut work = vec![0.0; x.len()];
        for j in 0..z.len() {
            let weighted = &mut slopes.col_as_slice_mut(j)[..x.len()];
            multiply(weighted, &weights.col_as_slice(j)[..x.len()]);
            if self.length_scales.len() == 1 {
                x.squared_distances(z, j, &mut work);
                gradient[0] += dot(weighted, &work);
            } else {
                for (k, sum) in gradient.iter_mut().enumerate().take(x.dim()) {
                    *sum += weighted_square_sum(weighted, x.input(k), z.input(k)[j]);
                }
            }
        }
        self.add_term_gradient(x, z, weights, &mut gradient[self.length_scales.len()..]);
    }

    /// Fills `out` [b, d] with Σⱼ Eᵢⱼ ∂kᵢⱼ/∂xᵢₖ.
    ///
    /// `slopes` holds s² h as made by [`Kernel::fill_with_slope`] and is overwritten with E ∘ s² h; `weights` is E.
    pub fn input_gradient(
        &self,
        x: &Scaled,
        z: &Scaled,
        weights: &Mat<f64>,
        slopes: &mut Mat<f64>,
        out: &mut Mat<f64>,
    ) {
        for j in 0..z.len() {
            multiply(&mut slopes.col_as_slice_mut(j)[..x.len()], &weights.col_as_slice(j)[..x.len()]);
        }
        let d = x.dim();
        let mut sums = vec![[0.0; LANES]; d];
        for start in (0..x.len()).step_by(LANES) {
            let n = LANES.min(x.len() - start);
            let point = |k: usize, i: usize| if i < n { x.input(k)[start + i] } else { 0.0 };
            let points: Vec<[f64; LANES]> = (0..d).map(|k| std::array::from_fn(|i| point(k, i))).collect();
            sums.fill([0.0; LANES]);
            add_weighted_differences(slopes.as_ref().subrows(start, n), &points, z, &mut sums);
            for k in 0..d {
                // The scaled difference already carries one 1/ℓ; the derivative has two.
                let factor = -1.0 / self.length_scale(k);
                let column = &mut out.col_as_slice_mut(k)[start..start + n];
                column.iter_mut().zip(&sums[k]).for_each(|(out, sum)| *out = sum * factor);
            }
        }
        self.add_term_input_gradient(x, z, weights, out);
    }
}

/// A hyper-parameter must be positive, finite and far enough from both ends that its square and inverse are too.
pub(crate) fn check_positive(what: &'static str, value: f64) -> Result<()> {
    let (low, high) = (1e-150, 1e150);
    if value >= low && value <= high { Ok(()) } else { Err(Error::OutOfRange { what, value, low, high }) }
}

vectorised! {
    /// Σᵢ wᵢ (xᵢ - z)², in eight lanes.
    fn weighted_square_sum(weights: &[f64], x: &[f64], z: f64) -> f64 {
        let mut lanes = [0.0; 8];
        let whole = x.len() - x.len() % 8;
        for (w, x) in weights[..whole].chunks_exact(8).zip(x[..whole].chunks_exact(8)) {
            for j in 0..8 {
                let difference = x[j] - z;
                lanes[j] = (difference * difference).mul_add(w[j], lanes[j]);
            }
        }
        let mut tail = 0.0;
        for (w, x) in weights[whole..].iter().zip(&x[whole..]) {
            tail += w * (x - z) * (x - z);
        }
        lanes.iter().sum::<f64>() + tail
    }
}

vectorised! {
    /// `sums[k][i] += Σⱼ weights[i, j] (x[k][i] - z[j, k])`, one j after the other.
    fn add_weighted_differences(
        weights: MatRef<'_, f64>,
        x: &[[f64; LANES]],
        z: &Scaled,
        sums: &mut [[f64; LANES]],
    ) {
        for j in 0..z.len() {
            let mut w = [0.0; LANES];
            w[..weights.nrows()].copy_from_slice(column(weights, j));
            for (k, (x, sums)) in x.iter().zip(sums.iter_mut()).enumerate() {
                let z = z.input(k)[j];
                for i in 0..LANES {
                    sums[i] = (x[i] - z).mul_add(w[i], sums[i]);
                }
            }
        }
    }
}

/// Column j of a column-major matrix.
#[inline(always)]
fn column(a: MatRef<'_, f64>, j: usize) -> &[f64] {
    a.col(j).try_as_col_major().map_or(&[] as &[f64], |column| column.as_slice())
}

/// Row i of `out`.
fn set_row(out: &mut Mat<f64>, i: usize, row: &[f64]) {
    for (j, &value) in row.iter().enumerate() {
        out[(i, j)] = value;
    }
}

#[cfg(test)]
mod tests;
