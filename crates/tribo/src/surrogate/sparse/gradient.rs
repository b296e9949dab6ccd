//! The second pass: the gradient of the objective in the log-parameters.
//!
//! With C = Q + Λ, α = C⁻¹(y - μ), G = ½(ααᵀ - C⁻¹), W = Uᵀ = Kfu Luu⁻ᵀ and Ω the part of the objective that acts
//! on Qff alone (0 for DTC's likelihood, I/(2σ²) for the bound, -diag G for FIC, -blockdiag G for PITC):
//!   ∂/∂Kfu = E Luu⁻¹,   E = αβᵀ - Λ⁻¹ W B⁻¹ + 2 Ω W                                  [n, m], a block at a time
//!   ∂/∂Kuu = -Luu⁻ᵀ M Luu⁻¹,   M = ½ββᵀ - ½(I - B⁻¹) + Uᵀ-side Gram Wᵀ Ω W           [m, m]
//!   ∂/∂Kff = -Ω on Λ's pattern (for the bound -I/(2σ²)),   ∂/∂σ² = tr G (+ tr(Kff - Qff)/(2σ⁴) for the bound)
//! using Λ^(1/2)-free identities: α = Λ⁻¹(y - μ - Wβ), C⁻¹ = Λ⁻¹ - Λ⁻¹ W B⁻¹ Wᵀ Λ⁻¹. All kernels scale with s², so
//! ∂/∂log s² = Σ E∘W - tr M + Σ ∂/∂Kff ∘ Kff, without another pass.
//!
//! For a constant Λ, E Luu⁻¹ = α aᵀ + W N with one m x m matrix N: a single product per block. Its entries grow
//! with the square root of the condition of Kuu only; folding the whitening into N as well would save a solve per
//! block and cost the other half of the digits.

use super::super::watch::{Watch, go_on};
use super::blocks::{self, Block, Scratch};
use super::evidence::Evidence;
use super::statistics::{block_column, group_factor, groups_inside, lambdas, residuals};
use super::{Model, Noise, Objective};
use crate::error::Result;
use crate::linalg::product;
use crate::linalg::reduce::{add_scaled, add_squares, dot, multiply};
use faer::{Mat, MatRef};
use std::ops::Range;

/// Sums of the second pass.
struct Sums {
    /// Σ ∂/∂Kfu ∘ ∂Kfu/∂log ℓ, as of all hyper-parameters beside s², and PITC's Σ G ∘ ∂Kgg/∂log ℓ.
    lengths: Vec<f64>,
    /// Σ E∘W without what follows from the first pass.
    e_w: f64,
    /// Σ G∘Kff on Λ's pattern.
    g_kff: f64,
    /// Σ ρ Gᵢᵢ; for a constant Λ only its part ½ Σ ρ αᵢ².
    g_trace: f64,
    /// Lower triangle of Wᵀ Ω W; unused for a constant Λ.
    w_omega_w: Mat<f64>,
}

impl Sums {
    fn join(&mut self, other: &Sums) {
        self.lengths.iter_mut().zip(&other.lengths).for_each(|(a, b)| *a += b);
        self.e_w += other.e_w;
        self.g_kff += other.g_kff;
        self.g_trace += other.g_trace;
        self.w_omega_w += &other.w_omega_w;
    }

    fn scale(&mut self, factor: f64) {
        self.lengths.iter_mut().for_each(|value| *value *= factor);
        self.e_w *= factor;
        self.g_kff *= factor;
        self.g_trace *= factor;
        self.w_omega_w *= faer::Scale(factor);
    }
}

/// Gradient of the objective that `evidence` was made for, in the order of `Hyperparameters::to_log`.
pub(super) fn gradient(model: &Model<'_>, evidence: &Evidence, watch: &dyn Watch) -> Result<Vec<f64>> {
    let m = model.inducing.nrows();
    let mut b_inv = Mat::<f64>::identity(m, m);
    product::solve_lower(evidence.lb.l(), b_inv.as_mut());
    product::solve_lower_transposed(evidence.lb.l(), b_inv.as_mut());
    go_on(watch, "a gradient")?;
    let inner = Inner::new(evidence, &b_inv, omega(model, evidence));
    let mut total = second_pass(model, evidence, &inner.n_matrix, watch)?;
    if evidence.noise == Noise::Constant {
        add_first_pass(model, evidence, &b_inv, inner.s_gram_trace, &mut total);
    }
    go_on(watch, "a gradient")?;
    Ok(finish(evidence, &b_inv, total))
}

/// Ω = omega I, for a constant Λ.
fn omega(model: &Model<'_>, evidence: &Evidence) -> f64 {
    if model.objective == Objective::Bound { 0.5 / evidence.hyper.noise_var } else { 0.0 }
}

/// What a constant Λ makes of S = 2Ω - B⁻¹/σ².
struct Inner {
    /// N = S Luu⁻¹ [m, m].
    n_matrix: Mat<f64>,
    /// tr(S gram).
    s_gram_trace: f64,
}

impl Inner {
    fn new(evidence: &Evidence, b_inv: &Mat<f64>, omega: f64) -> Inner {
        let (m, noise_var) = (b_inv.nrows(), evidence.hyper.noise_var);
        let mut s = Mat::from_fn(m, m, |i, j| f64::from(i == j) * 2.0 * omega - b_inv[(i, j)] / noise_var);
        let mut s_gram_trace = 0.0;
        for j in 0..m {
            s_gram_trace += s[(j, j)] * evidence.sums.gram[(j, j)];
            for i in j + 1..m {
                s_gram_trace += 2.0 * s[(i, j)] * evidence.sums.gram[(i, j)];
            }
        }
        product::unwhiten_rows(evidence.frame.luu.l(), s.as_mut());
        Inner { n_matrix: s, s_gram_trace }
    }
}

/// Sums over all data, a block at a time.
fn second_pass(
    model: &Model<'_>,
    evidence: &Evidence,
    n_matrix: &Mat<f64>,
    watch: &dyn Watch,
) -> Result<Sums> {
    let m = model.inducing.nrows();
    let kernel = &evidence.hyper.kernel;
    let constant = evidence.noise == Noise::Constant;
    let zero = || Sums {
        lengths: vec![0.0; kernel.n_parameters()],
        e_w: 0.0,
        g_kff: 0.0,
        g_trace: 0.0,
        w_omega_w: if constant { Mat::zeros(0, 0) } else { Mat::zeros(m, m) },
    };
    let mut total = blocks::run(model, true, watch, zero, Sums::join, |block, scratch, sums| {
        let b = block.y.len();
        scratch.x.assign(kernel, block.x, &evidence.frame.origin);
        kernel.fill_with_slope(&scratch.x, &evidence.frame.z, &mut scratch.w, &mut scratch.slopes);
        product::whiten_rows(evidence.frame.luu.l(), scratch.w.as_mut().subrows_mut(0, b));
        let explained = rows_times(scratch.w.as_ref().subrows(0, b), &evidence.fit.beta);
        let misfit: Vec<f64> = block
            .y
            .iter()
            .zip(&explained)
            .map(|(y, explained)| y - evidence.frame.y_shift - evidence.fit.mu - explained)
            .collect();
        let alpha = match evidence.noise {
            Noise::Constant => {
                let omega = omega(model, evidence);
                weights_of_constant(evidence, n_matrix, omega, block, scratch, misfit, sums)
            }
            Noise::Diagonal => weights_of_fic(evidence, block, scratch, misfit, sums),
            Noise::Blocks => weights_of_pitc(model, evidence, block.rows.clone(), scratch, misfit, sums)?,
        };
        sums.e_w += dot(&alpha, &explained);
        for (j, &a) in evidence.fit.a.iter().enumerate() {
            add_scaled(a, &alpha, &mut scratch.weights.col_as_slice_mut(j)[..b]);
        }
        kernel.add_parameter_gradient(
            &scratch.x,
            &evidence.frame.z,
            &scratch.weights,
            &mut scratch.slopes,
            &mut sums.lengths,
        );
        Ok(())
    })?;
    total.scale(model.weight);
    Ok(total)
}

/// Adds what a constant Λ lets follow from the first pass: W = Uᵀ, UUᵀ = σ² gram.
fn add_first_pass(
    model: &Model<'_>,
    evidence: &Evidence,
    b_inv: &Mat<f64>,
    s_gram_trace: f64,
    total: &mut Sums,
) {
    let (n, m) = (evidence.sums.n, b_inv.nrows());
    let (signal_var, noise_var) = (evidence.hyper.kernel.signal_var, evidence.hyper.noise_var);
    let omega = omega(model, evidence);
    let b_inv_trace: f64 = (0..m).map(|i| b_inv[(i, i)]).sum();
    let c_inv_trace = (n - m as f64 + b_inv_trace) / noise_var;
    total.e_w += noise_var * s_gram_trace;
    total.g_trace -= 0.5 * c_inv_trace;
    total.g_kff -= omega * evidence.sums.precision * signal_var;
    total.w_omega_w = evidence.sums.gram.clone();
    total.w_omega_w *= faer::Scale(omega * noise_var);
    if model.objective == Objective::Bound {
        total.g_trace += evidence.sums.residual / (2.0 * noise_var * noise_var);
    }
}

/// The gradient: M, ∂/∂Kuu = -Luu⁻ᵀ M Luu⁻¹, and the sums over all data.
fn finish(evidence: &Evidence, b_inv: &Mat<f64>, total: Sums) -> Vec<f64> {
    let m = b_inv.nrows();
    let (kernel, beta) = (&evidence.hyper.kernel, &evidence.fit.beta);
    let mut kuu_weights = Mat::from_fn(m, m, |i, j| {
        let w_omega_w = if i >= j { total.w_omega_w[(i, j)] } else { total.w_omega_w[(j, i)] };
        0.5 * (beta[i] * beta[j] - f64::from(i == j) + b_inv[(i, j)]) + w_omega_w
    });
    let m_trace: f64 = (0..m).map(|i| kuu_weights[(i, i)]).sum();
    product::solve_lower_transposed(evidence.frame.luu.l(), kuu_weights.as_mut());
    product::unwhiten_rows(evidence.frame.luu.l(), kuu_weights.as_mut());
    kuu_weights *= faer::Scale(-1.0);
    let (mut kuu, mut slopes) = (Mat::zeros(m, m), Mat::zeros(m, m));
    let z = &evidence.frame.z;
    kernel.fill_with_slope(z, z, &mut kuu, &mut slopes);
    let mut gradient = total.lengths;
    kernel.add_parameter_gradient(z, z, &kuu_weights, &mut slopes, &mut gradient);
    gradient.push(total.e_w - m_trace + total.g_kff);
    gradient.push(evidence.hyper.noise_var * total.g_trace);
    gradient
}

/// α of a block with a constant Λ; leaves (E - αβᵀ) Luu⁻¹ in the weights. Both are sums over the rows that each row stands
/// for, here and under FIC.
fn weights_of_constant(
    evidence: &Evidence,
    n_matrix: &Mat<f64>,
    omega: f64,
    block: &Block<'_>,
    scratch: &mut Scratch,
    misfit: Vec<f64>,
    sums: &mut Sums,
) -> Vec<f64> {
    let b = misfit.len();
    let (kernel, noise_var) = (&evidence.hyper.kernel, evidence.hyper.noise_var);
    let mut alpha: Vec<f64> = misfit.iter().map(|value| value / noise_var).collect();
    let (w, weights) = (scratch.w.as_ref().subrows(0, b), scratch.weights.as_mut().subrows_mut(0, b));
    product::multiply_into(weights, w, n_matrix.as_ref());
    let precisions = block.precisions();
    if kernel.shape.parts().linear {
        // What a linear term adds to the diagonal; the rest of it follows from the first pass.
        let g: Vec<f64> = (0..b).map(|i| -omega * precisions.get(i).unwrap_or(&1.0)).collect();
        let diagonal = kernel.diagonal(&scratch.x);
        sums.g_kff += g.iter().zip(&diagonal).map(|(g, k)| g * (k - kernel.signal_var)).sum::<f64>();
        kernel.add_diagonal_gradient(&scratch.x, &g, &mut sums.lengths);
    }
    if precisions.is_empty() {
        sums.g_trace += 0.5 * dot(&alpha, &alpha);
        return alpha;
    }
    for j in 0..scratch.weights.ncols() {
        multiply(&mut scratch.weights.col_as_slice_mut(j)[..b], &precisions);
    }
    for (i, precision) in precisions.iter().enumerate() {
        let spread = block.spread(i) / block.noise(i);
        sums.g_trace += 0.5 * (precision * alpha[i] * alpha[i] + spread / (noise_var * noise_var));
    }
    multiply(&mut alpha, &precisions);
    alpha
}

/// α of a block under FIC; leaves (E - αβᵀ) Luu⁻¹ in the weights.
fn weights_of_fic(
    evidence: &Evidence,
    block: &Block<'_>,
    scratch: &mut Scratch,
    misfit: Vec<f64>,
    sums: &mut Sums,
) -> Vec<f64> {
    let b = misfit.len();
    let hyper = &evidence.hyper;
    let w = scratch.w.as_ref().subrows(0, b);
    let diagonal = hyper.kernel.diagonal(&scratch.x);
    let residual = residuals(&diagonal, w);
    let mut lambda = lambdas(hyper, block, &residual);
    let mut alpha: Vec<f64> = misfit.iter().zip(&lambda).map(|(value, lambda)| value / lambda).collect();

    // P = W LB⁻ᵀ, whose rows have |pᵢ|² = wᵢᵀ B⁻¹ wᵢ; then W B⁻¹.
    let mut p = scratch.weights.as_mut().subrows_mut(0, b);
    p.copy_from(w);
    product::whiten_rows(evidence.lb.l(), p.as_mut());
    let mut p_norm = vec![0.0; b];
    (0..w.ncols()).for_each(|j| add_squares(block_column(p.as_ref(), j), &mut p_norm));
    product::unwhiten_rows(evidence.lb.l(), p.as_mut());

    let mut omega = vec![0.0; b];
    for i in 0..b {
        let mut g = 0.5 * (alpha[i] * alpha[i] - 1.0 / lambda[i] + p_norm[i] / (lambda[i] * lambda[i]));
        if let Some(count) = block.counts.get(i) {
            g = count * g + 0.5 * block.spread(i) / (lambda[i] * lambda[i]);
        }
        omega[i] = -g;
        sums.g_trace += g * block.noise(i);
        sums.g_kff += g * diagonal[i];
        let q = diagonal[i] - residual[i];
        // From here on 1/λ is that of all rows that this one stands for.
        lambda[i] /= block.counts.get(i).unwrap_or(&1.0);
        sums.e_w += 2.0 * omega[i] * q - p_norm[i] / lambda[i];
    }
    let g: Vec<f64> = omega.iter().map(|omega| -omega).collect();
    hyper.kernel.add_diagonal_gradient(&scratch.x, &g, &mut sums.lengths);
    if !block.counts.is_empty() {
        multiply(&mut alpha, block.counts);
    }
    let mut omega_w = w.to_owned();
    for j in 0..w.ncols() {
        multiply(omega_w.col_as_slice_mut(j), &omega);
        let column = &mut scratch.weights.col_as_slice_mut(j)[..b];
        for i in 0..b {
            column[i] = 2.0 * omega_w[(i, j)] - column[i] / lambda[i];
        }
    }
    product::add_cross_gram_lower(sums.w_omega_w.as_mut(), omega_w.as_ref(), w);
    product::unwhiten_rows(evidence.frame.luu.l(), scratch.weights.as_mut().subrows_mut(0, b));
    alpha
}

/// α of a block under PITC; leaves (E - αβᵀ) Luu⁻¹ in the weights.
fn weights_of_pitc(
    model: &Model<'_>,
    evidence: &Evidence,
    rows: Range<usize>,
    scratch: &mut Scratch,
    misfit: Vec<f64>,
    sums: &mut Sums,
) -> Result<Vec<f64>> {
    let b = rows.len();
    let kernel = &evidence.hyper.kernel;
    let mut alpha = misfit;
    for group in groups_inside(model, rows) {
        let size = group.len();
        let factor = group_factor(&evidence.hyper, &scratch.x, scratch.w.as_ref(), group.clone())?;
        let w = scratch.w.as_ref().subrows(group.start, size);
        let alpha = &mut alpha[group.clone()];
        product::solve_lower_vector(factor.l(), alpha);
        product::solve_lower_transposed_vector(factor.l(), alpha);

        // P = Λ⁻¹ W LB⁻ᵀ, so that P Pᵀ = Λ⁻¹ W B⁻¹ Wᵀ Λ⁻¹.
        let mut p = scratch.weights.as_mut().subrows_mut(group.start, size);
        p.copy_from(w);
        product::solve_lower(factor.l(), p.as_mut());
        product::solve_lower_transposed(factor.l(), p.as_mut());
        product::whiten_rows(evidence.lb.l(), p.as_mut());

        // G = ½(ααᵀ - Λ⁻¹ + P Pᵀ).
        let mut g = Mat::<f64>::identity(size, size);
        product::solve_lower(factor.l(), g.as_mut());
        product::solve_lower_transposed(factor.l(), g.as_mut());
        for j in 0..size {
            for i in 0..size {
                g[(i, j)] = 0.5 * (alpha[i] * alpha[j] - g[(i, j)]);
            }
        }
        product::add_product(g.as_mut(), 0.5, p.as_ref(), p.as_ref().transpose());
        product::unwhiten_rows(evidence.lb.l(), p.as_mut());

        // E - αβᵀ = -Λ⁻¹ W B⁻¹ - 2 G W.
        let mut g_w = Mat::zeros(size, w.ncols());
        product::multiply_into(g_w.as_mut(), g.as_ref(), w);
        for j in 0..w.ncols() {
            for i in 0..size {
                p[(i, j)] = -p[(i, j)] - 2.0 * g_w[(i, j)];
                sums.e_w += p[(i, j)] * w[(i, j)];
            }
        }
        g_w *= faer::Scale(-1.0);
        product::add_cross_gram_lower(sums.w_omega_w.as_mut(), g_w.as_ref(), w);

        let points = scratch.x.subset(group);
        let (mut k, mut slopes) = (Mat::zeros(size, size), Mat::zeros(size, size));
        kernel.fill_with_slope(&points, &points, &mut k, &mut slopes);
        kernel.add_parameter_gradient(&points, &points, &g, &mut slopes, &mut sums.lengths);
        for j in 0..size {
            sums.g_kff += dot(g.col_as_slice(j), k.col_as_slice(j));
            sums.g_trace += g[(j, j)];
        }
    }
    product::unwhiten_rows(evidence.frame.luu.l(), scratch.weights.as_mut().subrows_mut(0, b));
    Ok(alpha)
}

/// W v, one entry a row.
pub(super) fn rows_times(w: MatRef<'_, f64>, v: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; w.nrows()];
    for (j, &value) in v.iter().enumerate() {
        add_scaled(value, block_column(w, j), &mut out);
    }
    out
}
