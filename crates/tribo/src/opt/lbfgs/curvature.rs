//! The quadratic model of bound-constrained L-BFGS, and its minimiser in the box.
//!
//! q(x + p) = gᵀp + ½ pᵀB p with B = θI - W M Wᵀ, W = [Y θS] [d, 2k], M⁻¹ = [-D Lᵀ; L θSᵀS] [2k, 2k]
//! `[@byrd1995, section 3]`, where the k columns of S and Y are past steps and changes of gradient,
//! D = diag(sᵢᵀyᵢ), L = the part of SᵀY strictly below its diagonal, and θ = yᵀy / sᵀy of the last pair.
//! A pair may be scaled as a whole without changing B; we scale each to sᵀy = 1, so that D = I and the
//! entries of M⁻¹ are of order one however small the last steps were.
//!
//! The minimiser is sought in two stages `[@byrd1995, sections 4 and 5.1]`: walk the bent path of the projected
//! gradient to its first local minimum, the Cauchy point, which decides the variables held at bounds; then
//! one Newton step of the model in the free ones, projected into the box if that still goes down, else cut at
//! the first bound `[@morales2011]`.
//!
//! Cost: O(d k² + k³) for a minimiser, with no evaluation. Everything is checked against B built by the
//! textbook update, in the tests below.

use crate::linalg::reduce::dot_in_order as dot;
use std::collections::VecDeque;

/// A pair is used when cos(s, y) is above this; a quadratic of condition 1e20 would still pass.
const SMALLEST_COSINE: f64 = 1e-10;

#[derive(Debug, Clone)]
struct Pair {
    s: Vec<f64>,
    y: Vec<f64>,
}

/// The pairs of (step, change of gradient), newest last, and the factors of M⁻¹.
#[derive(Debug, Clone)]
pub(super) struct Curvature {
    memory: usize,
    theta: Option<f64>,
    pairs: VecDeque<Pair>,
    m_inverse: Vec<f64>,
    m: Lu,
}

impl Curvature {
    pub(super) fn new(memory: usize) -> Self {
        Curvature { memory, theta: None, pairs: VecDeque::new(), m_inverse: Vec::new(), m: Lu::empty() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// θ, or `fallback` when no pair was ever seen.
    pub(super) fn theta_or(&self, fallback: f64) -> f64 {
        self.theta.unwrap_or(fallback)
    }

    /// Forgets the pairs. θ stays: it is still the best guess of the scale.
    pub(super) fn clear(&mut self) {
        self.pairs.clear();
        self.rebuild();
    }

    /// The curvature of `factor` times the function, with room for `memory` pairs.
    pub(super) fn scaled(&self, factor: f64, memory: usize) -> Self {
        let root = factor.sqrt();
        let mut other = Curvature { theta: self.theta.map(|theta| theta * factor), ..Curvature::new(memory) };
        for pair in self.pairs.iter().skip(self.pairs.len().saturating_sub(memory)) {
            let s = pair.s.iter().map(|v| v / root).collect();
            let y = pair.y.iter().map(|v| v * root).collect();
            other.pairs.push_back(Pair { s, y });
        }
        other.rebuild();
        other
    }

    /// Learns from a step and the change of gradient along it. A pair without clearly positive curvature is
    /// skipped, since it would make B indefinite.
    pub(super) fn push(&mut self, s: &[f64], y: &[f64]) {
        let sy = dot(s, y);
        let theta = dot(y, y) / sy;
        let clear = sy > SMALLEST_COSINE * (dot(s, s) * dot(y, y)).sqrt();
        if !clear || !theta.is_normal() {
            return;
        }
        let scale = 1.0 / sy.sqrt();
        let scaled = |v: &[f64]| v.iter().map(|v| v * scale).collect();
        self.pairs.push_back(Pair { s: scaled(s), y: scaled(y) });
        if self.pairs.len() > self.memory {
            self.pairs.pop_front();
        }
        self.theta = Some(theta);
        self.rebuild();
    }

    /// Forms and factors M⁻¹. Nearly parallel pairs can make it singular to rounding; the oldest go then.
    fn rebuild(&mut self) {
        loop {
            let k = self.pairs.len();
            let theta = self.theta_or(1.0);
            self.m_inverse = vec![0.0; 4 * k * k];
            for i in 0..k {
                self.m_inverse[i * 2 * k + i] = -1.0;
                for j in 0..k {
                    let s_i = &self.pairs[i].s;
                    self.m_inverse[(k + i) * 2 * k + k + j] = theta * dot(s_i, &self.pairs[j].s);
                    if j < i {
                        let l_ij = dot(s_i, &self.pairs[j].y);
                        self.m_inverse[(k + i) * 2 * k + j] = l_ij;
                        self.m_inverse[j * 2 * k + k + i] = l_ij;
                    }
                }
            }
            match Lu::factor(self.m_inverse.clone(), 2 * k) {
                Some(lu) => {
                    self.m = lu;
                    return;
                }
                None => self.pairs.pop_front(),
            };
        }
    }

    /// Row `i` of W.
    fn row(&self, theta: f64, i: usize) -> Vec<f64> {
        let y = self.pairs.iter().map(|pair| pair.y[i]);
        y.chain(self.pairs.iter().map(|pair| theta * pair.s[i])).collect()
    }

    /// The approximate minimiser of the model in the box: where a step of length one would go.
    pub(super) fn minimiser(&self, theta: f64, x: &[f64], g: &[f64], low: &[f64], high: &[f64]) -> Vec<f64> {
        let (cauchy, m_c) = self.cauchy_point(theta, x, g, low, high);
        let free: Vec<usize> = (0..x.len()).filter(|&i| cauchy[i] > low[i] && cauchy[i] < high[i]).collect();
        // Gradient of the model at the Cauchy point: g + B(cauchy - x).
        let r: Vec<f64> = free
            .iter()
            .map(|&i| g[i] + theta * (cauchy[i] - x[i]) - dot(&self.row(theta, i), &m_c))
            .collect();
        let Some(step) = self.newton_step(theta, &free, &r) else { return cauchy };
        let mut point = cauchy.clone();
        for (&i, p) in free.iter().zip(&step) {
            point[i] = (cauchy[i] + p).clamp(low[i], high[i]);
        }
        let slope: f64 = (0..x.len()).map(|i| g[i] * (point[i] - x[i])).sum();
        if slope < 0.0 {
            return point;
        }
        let room = |(&i, &p): (&usize, &f64)| match p {
            p if p > 0.0 => (high[i] - cauchy[i]) / p,
            p if p < 0.0 => (low[i] - cauchy[i]) / p,
            _ => 1.0,
        };
        let share = free.iter().zip(&step).map(room).fold(1.0, f64::min);
        for (&i, p) in free.iter().zip(&step) {
            point[i] = (cauchy[i] + share * p).clamp(low[i], high[i]);
        }
        point
    }

    /// First local minimiser of the model along t -> P(x - t g), and M Wᵀ(cauchy - x). The path is bent where
    /// a variable meets its bound; slope and curvature of each straight piece follow from the last one
    /// `[@byrd1995, algorithm CP]`.
    fn cauchy_point(
        &self,
        theta: f64,
        x: &[f64],
        g: &[f64],
        low: &[f64],
        high: &[f64],
    ) -> (Vec<f64>, Vec<f64>) {
        let k2 = 2 * self.pairs.len();
        let mut cauchy = x.to_vec();
        let mut direction = vec![0.0; x.len()];
        let mut bends: Vec<(f64, usize)> = Vec::new();
        let mut p = vec![0.0; k2];
        for i in 0..x.len() {
            let bound = if g[i] < 0.0 { high[i] } else { low[i] };
            if g[i] != 0.0 && bound != x[i] {
                direction[i] = -g[i];
                add(&mut p, -g[i], &self.row(theta, i));
                bends.push(((x[i] - bound) / g[i], i));
            }
        }
        bends.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));

        let mut slope = -dot(&direction, &direction);
        let mut curvature = -theta * slope - dot(&p, &self.m.solve(&p));
        // Rounding may leave no curvature at all after many bends.
        let least = f64::EPSILON * -theta * slope;
        let mut c = vec![0.0; k2];
        let mut reached = 0.0;
        for &(bend, i) in &bends {
            let length = bend - reached;
            if slope >= 0.0 || -slope / curvature.max(least) < length {
                break;
            }
            cauchy[i] = if g[i] < 0.0 { high[i] } else { low[i] };
            add(&mut c, length, &p);
            let w = self.row(theta, i);
            let m_w = self.m.solve(&w);
            slope += length * curvature + g[i] * (g[i] + theta * (cauchy[i] - x[i]) - dot(&m_w, &c));
            curvature -= g[i] * (theta * g[i] + 2.0 * dot(&m_w, &p) + g[i] * dot(&m_w, &w));
            add(&mut p, g[i], &w);
            direction[i] = 0.0;
            reached = bend;
        }
        let length = (-slope / curvature.max(least)).max(0.0);
        if length.is_finite() {
            add(&mut c, length, &p);
            reached += length;
        }
        for i in 0..x.len() {
            if direction[i] != 0.0 {
                cauchy[i] = (x[i] + reached * direction[i]).clamp(low[i], high[i]);
            }
        }
        (cauchy, self.m.solve(&c))
    }

    /// p = -(B restricted to the rows and columns `free`)⁻¹ r, by the Sherman-Morrison-Woodbury formula
    /// B⁻¹ = I/θ + W (M⁻¹ - WᵀW/θ)⁻¹ Wᵀ / θ² `[@byrd1995, section 5.1]`. None when rounding made it singular.
    pub(super) fn newton_step(&self, theta: f64, free: &[usize], r: &[f64]) -> Option<Vec<f64>> {
        let k2 = 2 * self.pairs.len();
        let rows: Vec<Vec<f64>> = free.iter().map(|&i| self.row(theta, i)).collect();
        let mut inner = self.m_inverse.clone();
        let mut w_r = vec![0.0; k2];
        for (row, r) in rows.iter().zip(r) {
            add(&mut w_r, *r, row);
            for a in 0..k2 {
                add(&mut inner[a * k2..(a + 1) * k2], -row[a] / theta, row);
            }
        }
        let v = Lu::factor(inner, k2)?.solve(&w_r);
        Some(rows.iter().zip(r).map(|(row, r)| -(r + dot(row, &v) / theta) / theta).collect())
    }
}

/// a += factor · b.
fn add(a: &mut [f64], factor: f64, b: &[f64]) {
    for (a, b) in a.iter_mut().zip(b) {
        *a += factor * b;
    }
}

/// P A = L U with row exchanges; A is tiny and indefinite.
#[derive(Debug, Clone)]
struct Lu {
    n: usize,
    factors: Vec<f64>,
    order: Vec<usize>,
}

impl Lu {
    fn empty() -> Self {
        Lu { n: 0, factors: Vec::new(), order: Vec::new() }
    }

    fn factor(mut a: Vec<f64>, n: usize) -> Option<Self> {
        let mut order: Vec<usize> = (0..n).collect();
        let largest = a.iter().fold(0.0, |most: f64, v| most.max(v.abs()));
        for j in 0..n {
            let pivot = (j..n).max_by(|&p, &q| a[p * n + j].abs().total_cmp(&a[q * n + j].abs()))?;
            let size = a[pivot * n + j].abs();
            if !(size.is_finite() && size > f64::EPSILON * largest) {
                return None;
            }
            order.swap(j, pivot);
            for column in 0..n {
                a.swap(j * n + column, pivot * n + column);
            }
            for i in j + 1..n {
                let factor = a[i * n + j] / a[j * n + j];
                a[i * n + j] = factor;
                for column in j + 1..n {
                    a[i * n + column] -= factor * a[j * n + column];
                }
            }
        }
        Some(Lu { n, factors: a, order })
    }

    fn solve(&self, b: &[f64]) -> Vec<f64> {
        let n = self.n;
        let mut x: Vec<f64> = self.order.iter().map(|&i| b[i]).collect();
        for i in 0..n {
            x[i] -= dot(&self.factors[i * n..i * n + i], &x[..i]);
        }
        for i in (0..n).rev() {
            let row = &self.factors[i * n..(i + 1) * n];
            x[i] = (x[i] - dot(&row[i + 1..], &x[i + 1..])) / row[i];
        }
        x
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;

    const D: usize = 6;

    /// Random pairs of a convex quadratic, and B built from θI by the rank-two update of BFGS.
    fn random(seed: u64, n_pairs: usize) -> (Curvature, f64, Vec<Vec<f64>>) {
        let mut stream = Stream::new(seed, "curvature test", 0);
        let hessian: Vec<f64> = (0..D).map(|i| 10_f64.powf(i as f64 / 2.0)).collect();
        let mut curvature = Curvature::new(3);
        let mut used = Vec::new();
        for _ in 0..n_pairs {
            let s: Vec<f64> = (0..D).map(|_| 1e-3 * stream.normal()).collect();
            let y: Vec<f64> = (0..D).map(|i| hessian[i] * s[i] + 0.1 * s[(i + 1) % D]).collect();
            if dot(&s, &y) > 0.0 {
                curvature.push(&s, &y);
                used.push((s, y));
            }
        }
        let theta = curvature.theta_or(f64::NAN);
        let mut b = vec![vec![0.0; D]; D];
        for i in 0..D {
            b[i][i] = theta;
        }
        for (s, y) in &used[used.len().saturating_sub(3)..] {
            let bs: Vec<f64> = b.iter().map(|row| dot(row, s)).collect();
            let (sbs, sy) = (dot(s, &bs), dot(s, y));
            for i in 0..D {
                for j in 0..D {
                    b[i][j] += y[i] * y[j] / sy - bs[i] * bs[j] / sbs;
                }
            }
        }
        (curvature, theta, b)
    }

    #[test]
    fn newton_step_solves_with_the_bfgs_matrix() {
        for seed in 0..20 {
            let (curvature, theta, b) = random(seed, 5);
            let free = [0, 2, 3, 5];
            let r = [1.0, -2.0, 0.5, 3.0];
            let p = curvature.newton_step(theta, &free, &r).unwrap();
            for (a, &i) in free.iter().enumerate() {
                let bp: f64 = free.iter().zip(&p).map(|(&j, p)| b[i][j] * p).sum();
                // Condition of B about 1e3, entries to 1e3: 1e-9 leaves four digits over rounding.
                assert!((bp + r[a]).abs() < 1e-9, "seed {seed}: {bp} against {}", -r[a]);
            }
        }
    }

    #[test]
    fn cauchy_point_is_the_first_minimum_on_the_path() {
        for seed in 0..20 {
            let (curvature, theta, b) = random(seed, 4);
            let mut stream = Stream::new(seed, "cauchy test", 0);
            let x = [0.0; D];
            let g: Vec<f64> = (0..D).map(|_| 10.0 * stream.normal()).collect();
            let low: Vec<f64> = (0..D).map(|_| -0.3 * stream.uniform()).collect();
            let high: Vec<f64> = (0..D).map(|_| 0.3 * stream.uniform()).collect();
            let path = |t: f64| -> Vec<f64> { (0..D).map(|i| (-t * g[i]).clamp(low[i], high[i])).collect() };
            let model =
                |p: &[f64]| -> f64 { dot(&g, p) + 0.5 * (0..D).map(|i| p[i] * dot(&b[i], p)).sum::<f64>() };
            let (cauchy, _) = curvature.cauchy_point(theta, &x, &g, &low, &high);
            // Walk in small steps until the model rises; the first minimum lies within one step of that.
            let dt = 1e-5;
            let mut t = 0.0;
            while model(&path(t + dt)) < model(&path(t)) {
                t += dt;
            }
            for i in 0..D {
                let error = (cauchy[i] - path(t)[i]).abs();
                assert!(error <= 2.0 * dt * g[i].abs(), "seed {seed}, variable {i}: {error}");
            }
            let best = curvature.minimiser(theta, &x, &g, &low, &high);
            assert!((0..D).all(|i| best[i] >= low[i] && best[i] <= high[i]), "seed {seed}");
            assert!(dot(&g, &best) < 0.0, "seed {seed}: not a descent direction");
        }
    }

    #[test]
    fn scaling_the_function_scales_the_model() {
        let (curvature, theta, _) = random(3, 4);
        let scaled = curvature.scaled(50.0, 3);
        let r = [1.0, -2.0, 0.5, 3.0, -1.0, 2.0];
        let free: Vec<usize> = (0..D).collect();
        let p = curvature.newton_step(theta, &free, &r).unwrap();
        let q = scaled.newton_step(scaled.theta_or(0.0), &free, &r).unwrap();
        for i in 0..D {
            assert!((p[i] - 50.0 * q[i]).abs() < 1e-12 * p[i].abs().max(1e-3));
        }
    }

    #[test]
    fn pairs_without_curvature_are_skipped() {
        let mut curvature = Curvature::new(2);
        for (s, y) in [([1.0, 0.0], [-1.0, 0.0]), ([1.0, 0.0], [0.0, 1.0]), ([1.0, 0.0], [f64::NAN, 1.0])] {
            curvature.push(&s, &y);
        }
        assert!(curvature.is_empty());
    }
}
