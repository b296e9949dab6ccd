//! Knowledge gradient over a finite set: by how much one evaluation is expected to lower the lowest mean
//! `[@frazier2009]`.
//!
//! With μⱼ the means on the set A, observing at x moves them to μⱼ + bⱼ(x) Z, Z standard normal, and
//!
//!   bⱼ(x) = cov(aⱼ, x) / √(var(x) + σ²)
//!   KG(x) = min μⱼ - E min (μⱼ + bⱼ Z) = Σᵢ (bᵢ₊₁ - bᵢ) h(-|cᵢ|)
//!
//! The sum runs over the lines on the upper envelope of -μⱼ + bⱼ Z (Z and -Z have one law), by increasing slope, cᵢ
//! being where line i meets line i + 1 and h = φ + u Φ `[@frazier2009, algorithm 1]`. Small gains are sums of positive
//! terms: nothing cancels. Line j is on top between its two meeting points, so by the envelope theorem
//!
//!   ∂KG/∂bⱼ = E Z 1[j on top] = φ(cⱼ₋₁) - φ(cⱼ)      (zero for lines below the envelope)
//!
//! and the rest of the gradient is that of the covariances and of the variance. Where the envelope changes the formula
//! is continuous. Cost for q points, r in the set and n data: O((q + r) n² + q r (n + log r)) exact, m for n sparse.
//! Under FIC and PITC the covariance is that of the joint prediction, which is more than an update of the sparse
//! model would use between a new point and A.
//!
//! Not here: choosing the set, and the fantasies of several points at once.

use super::Acquisition;
use crate::error::{Error, Result};
use crate::normal::{h, pdf};
use crate::surrogate::{Posterior, PredictionGradient};
use faer::{Mat, MatRef};

/// Expected fall of the lowest posterior mean on a set of points.
#[derive(Debug, Clone)]
pub struct KnowledgeGradient {
    /// A, [r, d].
    set: Mat<f64>,
    /// -μⱼ, [r].
    heights: Vec<f64>,
    noise_var: f64,
}

impl KnowledgeGradient {
    /// On the rows of `set` [r, d], for observations with the noise variance σ² >= 0.
    ///
    /// The means on the set are taken from `posterior` here, once. Evaluate with the same posterior, or one with
    /// pending points hallucinated, which has the same means.
    pub fn new(posterior: &dyn Posterior, set: MatRef<'_, f64>, noise_var: f64) -> Result<KnowledgeGradient> {
        if set.nrows() == 0 {
            return Err(Error::Empty { what: "set of the knowledge gradient" });
        }
        if !(noise_var >= 0.0 && noise_var.is_finite()) {
            let what = "noise variance of the knowledge gradient";
            return Err(Error::OutOfRange { what, value: noise_var, low: 0.0, high: f64::MAX });
        }
        let heights = posterior.predict(set)?.mean.iter().map(|mean| -mean).collect();
        Ok(KnowledgeGradient { set: set.to_owned(), heights, noise_var })
    }

    /// KG of one point with the covariances `covariance` and √(var + σ²) = `sd`; fills ∂KG/∂bⱼ.
    fn gain(&self, covariance: &[f64], sd: f64, slopes: &mut [f64]) -> f64 {
        slopes.fill(0.0);
        // A point that is known and noise-free teaches nothing.
        if sd <= 0.0 {
            return 0.0;
        }
        // Adding zero turns -0 into 0, so that equal slopes also sort as equal.
        let b: Vec<f64> = covariance.iter().map(|covariance| covariance / sd + 0.0).collect();
        let (lines, meetings) = envelope(&self.heights, &b);
        let mut gain = 0.0;
        for (i, &c) in meetings.iter().enumerate() {
            let (left, right) = (lines[i], lines[i + 1]);
            gain += (b[right] - b[left]) * h(-c.abs());
            slopes[left] -= pdf(c);
            slopes[right] += pdf(c);
        }
        gain
    }
}

/// The lines heightⱼ + bⱼ Z that are on top somewhere, by increasing slope, and where each meets the next.
fn envelope(heights: &[f64], b: &[f64]) -> (Vec<usize>, Vec<f64>) {
    let mut order: Vec<usize> = (0..b.len()).collect();
    order.sort_by(|&i, &j| b[i].total_cmp(&b[j]).then(heights[i].total_cmp(&heights[j])));
    let (mut lines, mut meetings) = (Vec::<usize>::new(), Vec::<f64>::new());
    for j in order {
        while let Some(&last) = lines.last() {
            // Of parallel lines the highest comes last and covers the others.
            let meeting = (heights[last] - heights[j]) / (b[j] - b[last]);
            let covered = b[j] == b[last] || meetings.last().is_some_and(|&before| meeting <= before);
            if !covered {
                meetings.push(meeting);
                break;
            }
            lines.pop();
            meetings.pop();
        }
        lines.push(j);
    }
    (lines, meetings)
}

/// Row i, copied.
fn row(matrix: &Mat<f64>, i: usize) -> Vec<f64> {
    (0..matrix.ncols()).map(|j| matrix[(i, j)]).collect()
}

impl Acquisition for KnowledgeGradient {
    fn evaluate(&self, posterior: &dyn Posterior, x: MatRef<'_, f64>) -> Result<Vec<f64>> {
        let var = posterior.predict(x)?.var;
        let covariance = posterior.covariance(x, self.set.as_ref())?;
        let mut slopes = vec![0.0; self.heights.len()];
        let gains = var.iter().enumerate();
        Ok(gains
            .map(|(i, var)| self.gain(&row(&covariance, i), (var + self.noise_var).sqrt(), &mut slopes))
            .collect())
    }

    fn evaluate_gradient(
        &self,
        posterior: &dyn Posterior,
        x: MatRef<'_, f64>,
    ) -> Result<(Vec<f64>, Mat<f64>)> {
        let PredictionGradient { prediction, var_gradient, .. } = posterior.predict_gradient(x)?;
        let covariance = posterior.covariance(x, self.set.as_ref())?;
        let (q, r) = (x.nrows(), self.heights.len());
        let (mut gains, mut var_slopes) = (Vec::with_capacity(q), Vec::with_capacity(q));
        let mut weights = Mat::zeros(q, r);
        let mut slopes = vec![0.0; r];
        for i in 0..q {
            let covariance = row(&covariance, i);
            let sd = (prediction.var[i] + self.noise_var).sqrt();
            gains.push(self.gain(&covariance, sd, &mut slopes));
            // Of bⱼ = covⱼ/sd: Σ ∂KG/∂bⱼ ∂covⱼ/sd - Σ ∂KG/∂bⱼ covⱼ ∂var/(2 sd³).
            let inverse = if sd > 0.0 { 1.0 / sd } else { 0.0 };
            let along: f64 = slopes.iter().zip(&covariance).map(|(s, c)| s * c).sum();
            var_slopes.push(-0.5 * along * inverse * inverse * inverse);
            (0..r).for_each(|j| weights[(i, j)] = slopes[j] * inverse);
        }
        let mut gradient = posterior.covariance_gradient(x, self.set.as_ref(), weights.as_ref())?;
        for k in 0..x.ncols() {
            for i in 0..q {
                gradient[(i, k)] += var_slopes[i] * var_gradient[(i, k)];
            }
        }
        Ok((gains, gradient))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;

    /// E max (heightⱼ + bⱼ Z) - max heightⱼ by the midpoint rule on [-10, 10].
    fn quadrature(heights: &[f64], b: &[f64]) -> f64 {
        let (n, highest) = (200_000, heights.iter().copied().fold(f64::NEG_INFINITY, f64::max));
        let step = 20.0 / n as f64;
        let term = |i: usize| {
            let z = -10.0 + (i as f64 + 0.5) * step;
            let top = heights.iter().zip(b).map(|(a, b)| a + b * z).fold(f64::NEG_INFINITY, f64::max);
            (top - highest) * pdf(z) * step
        };
        (0..n).map(term).sum()
    }

    fn over(heights: Vec<f64>) -> KnowledgeGradient {
        KnowledgeGradient { set: Mat::zeros(heights.len(), 1), heights, noise_var: 0.0 }
    }

    #[test]
    fn gain_is_the_expectation() {
        let seed = 3;
        let mut stream = Stream::new(seed, "envelope test", 0);
        for r in [1, 2, 3, 10, 40] {
            let heights: Vec<f64> = (0..r).map(|_| stream.normal()).collect();
            let b: Vec<f64> = (0..r).map(|_| stream.normal()).collect();
            let mut slopes = vec![0.0; r];
            let gain = over(heights.clone()).gain(&b, 1.0, &mut slopes);
            let truth = quadrature(&heights, &b);
            // The rule's error at the kinks is step² = 1e-8 times the number of lines at most.
            assert!((gain - truth).abs() < 1e-7, "seed {seed}, r = {r}: {gain} against {truth}");
            for j in 0..r {
                let moved = |by: f64| {
                    let mut b = b.clone();
                    b[j] += by;
                    over(heights.clone()).gain(&b, 1.0, &mut vec![0.0; r])
                };
                let difference = (moved(1e-6) - moved(-1e-6)) / 2e-6;
                assert!((slopes[j] - difference).abs() < 1e-8, "seed {seed}, r = {r}, line {j}");
            }
        }
    }

    #[test]
    fn two_lines_have_a_closed_form_far_into_the_tail() {
        for (gap, b) in [(0.3, 1.0), (5.0, -2.0), (30.0, 1.0), (0.0, 0.7)] {
            let gain = over(vec![1.0, 1.0 - gap]).gain(&[0.5, 0.5 + b], 1.0, &mut [0.0; 2]);
            let truth = b.abs() * h(-gap / b.abs());
            assert!((gain / truth - 1.0).abs() < 1e-12 && gain > 0.0, "{gain:e} against {truth:e}");
        }
    }

    #[test]
    fn lines_without_a_say_change_nothing() {
        let mut slopes = [0.0; 5];
        // Parallel duplicates, and a line far below.
        let gain = over(vec![0.0, -1.0, 0.0, -9.0, 0.2]).gain(&[1.0, 1.0, 1.0, 0.0, -1.0], 1.0, &mut slopes);
        let alone = over(vec![0.0, 0.2]).gain(&[1.0, -1.0], 1.0, &mut [0.0; 2]);
        assert!((gain - alone).abs() < 1e-15);
        assert_eq!((slopes[1], slopes[3]), (0.0, 0.0));
        // Equal slopes: every mean moves alike, which is worth nothing. So is a point without variance.
        assert_eq!(over(vec![1.0, 2.0]).gain(&[0.4, 0.4], 1.0, &mut [0.0; 2]), 0.0);
        assert_eq!(over(vec![1.0, 2.0]).gain(&[0.4, 0.7], 0.0, &mut [0.0; 2]), 0.0);
    }
}
