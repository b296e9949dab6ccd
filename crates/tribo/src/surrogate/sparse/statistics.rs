//! The first pass: sums over the data that decide the posterior.
//!
//! For each block of points: Kfu, whitened row by row to W (rows Luu⁻¹ k_u(xᵢ)), then scaled by Λ^(-1/2) to Vᵀ.
//! Summed: V Vᵀ, V Λ^(-1/2) y, V Λ^(-1/2) 1 and the scalars of the quadratic forms. Two right-hand sides are
//! carried, y and 1, so that the constant mean follows in closed form whatever Λ is.

use super::super::hyper::Hyperparameters;
use super::super::kernel::Scaled;
use super::super::watch::Watch;
use super::blocks::{self, Block, Scratch};
use super::{Model, Noise};
use crate::error::Result;
use crate::linalg::cholesky::{Factor, JITTER_IF_NEEDED};
use crate::linalg::product;
use crate::linalg::reduce::{add_squares, dot, multiply};
use faer::{Mat, MatRef};
use std::ops::Range;

/// Sums over the data, y shifted.
#[derive(Debug, Clone)]
pub(super) struct Statistics {
    /// Lower triangle of V Vᵀ, [m, m].
    pub(super) gram: Mat<f64>,
    /// V Λ^(-1/2) y, [m].
    pub(super) v_y: Vec<f64>,
    /// V Λ^(-1/2) 1, [m].
    pub(super) v_one: Vec<f64>,
    /// yᵀΛ⁻¹y.
    pub(super) y_y: f64,
    /// yᵀΛ⁻¹1.
    pub(super) y_one: f64,
    /// 1ᵀΛ⁻¹1.
    pub(super) one_one: f64,
    /// log det Λ.
    pub(super) log_det_lambda: f64,
    /// tr(Kff - Qff).
    pub(super) residual: f64,
    /// Number of points, each counted with its weight.
    pub(super) n: f64,
    /// tr(σ²Λ⁻¹) under a constant Λ: n, unless rows have a noise of their own.
    pub(super) precision: f64,
}

impl Statistics {
    fn zero(m: usize) -> Statistics {
        Statistics {
            gram: Mat::zeros(m, m),
            v_y: vec![0.0; m],
            v_one: vec![0.0; m],
            y_y: 0.0,
            y_one: 0.0,
            one_one: 0.0,
            log_det_lambda: 0.0,
            residual: 0.0,
            n: 0.0,
            precision: 0.0,
        }
    }

    fn join(&mut self, other: &Statistics) {
        self.gram += &other.gram;
        self.v_y.iter_mut().zip(&other.v_y).for_each(|(a, b)| *a += b);
        self.v_one.iter_mut().zip(&other.v_one).for_each(|(a, b)| *a += b);
        self.y_y += other.y_y;
        self.y_one += other.y_one;
        self.one_one += other.one_one;
        self.log_det_lambda += other.log_det_lambda;
        self.residual += other.residual;
        self.n += other.n;
        self.precision += other.precision;
    }

    /// Adds a block: W scaled to Vᵀ, and the two right-hand sides scaled alike.
    fn add(&mut self, v: MatRef<'_, f64>, y: &[f64], one: &[f64]) {
        product::add_gram_lower(self.gram.as_mut(), v);
        for j in 0..v.ncols() {
            let column = block_column(v, j);
            self.v_y[j] += dot(column, y);
            self.v_one[j] += dot(column, one);
        }
        self.y_y += dot(y, y);
        self.y_one += dot(y, one);
        self.one_one += dot(one, one);
    }

    /// Multiplies everything that is quadratic in V or Λ^(-1/2).
    fn scale(&mut self, factor: f64) {
        self.gram *= faer::Scale(factor);
        self.v_y.iter_mut().chain(&mut self.v_one).for_each(|value| *value *= factor);
        self.y_y *= factor;
        self.y_one *= factor;
        self.one_one *= factor;
    }

    /// Adds one point with whitened row `w` and noise λ.
    pub(super) fn add_point(&mut self, w: &[f64], lambda: f64, y: f64) {
        for (j, value) in w.iter().enumerate() {
            self.v_y[j] += value * y / lambda;
            self.v_one[j] += value / lambda;
        }
        self.y_y += y * y / lambda;
        self.y_one += y / lambda;
        self.one_one += 1.0 / lambda;
        self.log_det_lambda += lambda.ln();
        self.n += 1.0;
        self.precision += 1.0;
    }

    /// Runs the pass.
    pub(super) fn gather(
        model: &Model<'_>,
        hyper: &Hyperparameters,
        frame: &Frame,
        noise: Noise,
        watch: &dyn Watch,
    ) -> Result<Statistics> {
        let m = model.inducing.nrows();
        let total = blocks::run(
            model,
            false,
            watch,
            || Statistics::zero(m),
            Statistics::join,
            |block, scratch, sums| {
                whiten(hyper, frame, block, scratch);
                add_block(model, hyper, frame, noise, block, scratch, sums)?;
                Ok(())
            },
        )?;
        Ok(total.finished(model, hyper, noise))
    }

    /// What was left to the end of a pass.
    fn finished(mut self, model: &Model<'_>, hyper: &Hyperparameters, noise: Noise) -> Statistics {
        if noise == Noise::Constant {
            // The scaling by a constant Λ^(-1/2) was left to the end.
            self.scale(1.0 / hyper.noise_var);
            self.log_det_lambda += self.n * hyper.noise_var.ln();
        }
        self.scale(model.weight);
        self.log_det_lambda *= model.weight;
        self.residual *= model.weight;
        self.n *= model.weight;
        self.precision *= model.weight;
        self
    }

    /// As [`Statistics::gather`], with the sums of `others` as well, which are outputs at the same rows: everything but their
    /// right-hand sides is shared, and left out of their Gram matrices.
    pub(super) fn gather_outputs(
        model: &Model<'_>,
        hyper: &Hyperparameters,
        frame: &Frame,
        noise: Noise,
        others: &[&[f64]],
        watch: &dyn Watch,
    ) -> Result<Vec<Statistics>> {
        let m = model.inducing.nrows();
        let join = |a: &mut Vec<Statistics>, b: &Vec<Statistics>| {
            a.iter_mut().zip(b).for_each(|(a, b)| a.join(b));
        };
        let zero = || {
            let own = Statistics { gram: Mat::zeros(0, 0), ..Statistics::zero(m) };
            std::iter::once(Statistics::zero(m)).chain(others.iter().map(|_| own.clone())).collect()
        };
        let mut totals = blocks::run(model, false, watch, zero, join, |block, scratch, sums| {
            whiten(hyper, frame, block, scratch);
            let (first, rest) = sums.split_at_mut(1);
            let scale = add_block(model, hyper, frame, noise, block, scratch, &mut first[0])?;
            let v = scratch.w.as_ref().subrows(0, block.y.len());
            for (sums, y) in rest.iter_mut().zip(others) {
                let mut y: Vec<f64> = y[block.rows.clone()].iter().map(|y| y - frame.y_shift).collect();
                multiply(&mut y, &scale);
                (0..m).for_each(|j| sums.v_y[j] += dot(block_column(v, j), &y));
                sums.y_y += dot(&y, &y);
                sums.y_one += dot(&y, &scale);
            }
            Ok(())
        })?;
        let rest = totals.split_off(1);
        let first = totals.remove(0).finished(model, hyper, noise);
        let shared = Statistics { gram: Mat::zeros(0, 0), ..first.clone() };
        let rest = rest.into_iter().map(|sums| {
            let Statistics { v_y, y_y, y_one, .. } = sums.finished(model, hyper, noise);
            Statistics { v_y, y_y, y_one, ..shared.clone() }
        });
        Ok(std::iter::once(first).chain(rest).collect())
    }
}

/// What every block needs: scaled inducing points, the factor of Kuu, and the shifts.
#[derive(Debug, Clone)]
pub(super) struct Frame {
    /// Z_u, [m, d].
    pub(super) inducing: Mat<f64>,
    /// Subtracted from inputs before scaling.
    pub(super) origin: Vec<f64>,
    /// Z_u scaled, [m, d].
    pub(super) z: Scaled,
    /// Luu.
    pub(super) luu: Factor,
    /// Subtracted from y before anything else.
    pub(super) y_shift: f64,
}

/// Fills the block's rows of `scratch.w` with W = Kfu Luu⁻ᵀ.
fn whiten(hyper: &Hyperparameters, frame: &Frame, block: &Block<'_>, scratch: &mut Scratch) {
    let b = block.y.len();
    scratch.x.assign(&hyper.kernel, block.x, &frame.origin);
    hyper.kernel.fill(&scratch.x, &frame.z, &mut scratch.w);
    product::whiten_rows(frame.luu.l(), scratch.w.as_mut().subrows_mut(0, b));
}

/// Scales the whitened block by Λ^(-1/2), adds it to the sums, and returns what 1 was scaled to.
fn add_block(
    model: &Model<'_>,
    hyper: &Hyperparameters,
    frame: &Frame,
    noise: Noise,
    block: &Block<'_>,
    scratch: &mut Scratch,
    sums: &mut Statistics,
) -> Result<Vec<f64>> {
    let b = block.y.len();
    let mut y: Vec<f64> = block.y.iter().map(|y| y - frame.y_shift).collect();
    let mut one = vec![1.0; b];
    let residuals = residuals(&hyper.kernel.diagonal(&scratch.x), scratch.w.as_ref().subrows(0, b));
    // A row that stands for c rows enters all sums c times, and S the one of squares.
    let weighted = |weights: &[f64], values: &[f64]| match weights {
        [] => values.iter().sum::<f64>(),
        weights => dot(weights, values),
    };
    let precisions = block.precisions();
    match noise {
        Noise::Constant => sums.residual += weighted(&precisions, &residuals),
        Noise::Diagonal | Noise::Blocks => sums.residual += weighted(block.counts, &residuals),
    }
    match noise {
        Noise::Constant if precisions.is_empty() => {}
        Noise::Constant => {
            let scale: Vec<f64> = precisions.iter().map(|precision| precision.sqrt()).collect();
            for j in 0..scratch.w.ncols() {
                multiply(&mut scratch.w.col_as_slice_mut(j)[..b], &scale);
            }
            multiply(&mut y, &scale);
            one.copy_from_slice(&scale);
            sums.y_y += (0..b).map(|i| block.spread(i) / block.noise(i)).sum::<f64>();
            sums.log_det_lambda += (0..b).map(|i| block.count(i) * block.noise(i).ln()).sum::<f64>();
        }
        Noise::Diagonal => {
            let lambda = lambdas(hyper, block, &residuals);
            let log_lambda: Vec<f64> = lambda.iter().map(|value| value.ln()).collect();
            sums.log_det_lambda += weighted(block.counts, &log_lambda);
            let mut scale: Vec<f64> = lambda.iter().map(|value| 1.0 / value.sqrt()).collect();
            for (i, count) in block.counts.iter().enumerate() {
                scale[i] *= count.sqrt();
                sums.y_y += block.spread(i) / lambda[i];
            }
            for j in 0..scratch.w.ncols() {
                multiply(&mut scratch.w.col_as_slice_mut(j)[..b], &scale);
            }
            multiply(&mut y, &scale);
            one.copy_from_slice(&scale);
        }
        Noise::Blocks => {
            for group in groups_inside(model, block.rows.clone()) {
                let factor = group_factor(hyper, &scratch.x, scratch.w.as_ref(), group.clone())?;
                sums.log_det_lambda += 2.0 * factor.half_log_det();
                let w = scratch.w.as_mut().subrows_mut(group.start, group.len());
                product::solve_lower(factor.l(), w);
                product::solve_lower_vector(factor.l(), &mut y[group.clone()]);
                product::solve_lower_vector(factor.l(), &mut one[group]);
            }
        }
    }
    sums.add(scratch.w.as_ref().subrows(0, b), &y, &one);
    sums.n += if block.counts.is_empty() { b as f64 } else { block.counts.iter().sum() };
    sums.precision += if precisions.is_empty() { b as f64 } else { precisions.iter().sum() };
    Ok(one)
}

/// FIC's λ = kᵢᵢ - qᵢᵢ + ρ σ² for every row.
pub(super) fn lambdas(hyper: &Hyperparameters, block: &Block<'_>, residuals: &[f64]) -> Vec<f64> {
    let noise = |i| hyper.noise_var * block.noise(i);
    residuals.iter().enumerate().map(|(i, residual)| residual + noise(i)).collect()
}

/// kᵢᵢ - qᵢᵢ for every row of W and the diagonal of Kff, cut off at zero: rounding can make it slightly negative.
pub(super) fn residuals(diagonal: &[f64], w: MatRef<'_, f64>) -> Vec<f64> {
    let mut q = vec![0.0; w.nrows()];
    for j in 0..w.ncols() {
        add_squares(block_column(w, j), &mut q);
    }
    diagonal.iter().zip(&q).map(|(k, q)| (k - q).max(0.0)).collect()
}

/// PITC's groups inside a block, as rows of the block.
pub(super) fn groups_inside(model: &Model<'_>, rows: Range<usize>) -> Vec<Range<usize>> {
    let first = model.group_ends.partition_point(|&end| end <= rows.start);
    let mut start = 0;
    let mut groups = Vec::new();
    for &end in &model.group_ends[first..] {
        if end > rows.end {
            break;
        }
        groups.push(start..end - rows.start);
        start = end - rows.start;
    }
    groups
}

/// Cholesky factor of a group's Λ = Kgg - Qgg + σ²I.
pub(super) fn group_factor(
    hyper: &Hyperparameters,
    x: &Scaled,
    w: MatRef<'_, f64>,
    group: Range<usize>,
) -> Result<Factor> {
    let points = x.subset(group.clone());
    let mut lambda = hyper.kernel.matrix(&points, &points);
    let w = w.subrows(group.start, group.len());
    product::add_product(lambda.as_mut(), -1.0, w, w.transpose());
    for i in 0..group.len() {
        lambda[(i, i)] = lambda[(i, i)].max(0.0) + hyper.noise_var;
    }
    Factor::new("block of PITC's noise", lambda.as_ref(), JITTER_IF_NEEDED)
}

/// Column j of a block; blocks are column-major with contiguous points.
pub(super) fn block_column(block: MatRef<'_, f64>, j: usize) -> &[f64] {
    block.col(j).try_as_col_major().map_or(&[], |column| column.as_slice())
}
