//! The trend of the objective below its ripples.
//!
//! A process that follows every ripple sees no further than the next one. Below the ripples there often is a bowl, and where
//! its bottom is, results of many ripples say together. With z the point from the lowest result, in units of the spread of
//! the results,
//!   v = c + bᵀz + a|z|² + Σ_k a_k z_k² + e,      e ~ N(0, s²)
//! is fitted to the lower half of the results, with normal priors. How large s is, and how much curvatures differ, is decided
//! by evidence; where a constant explains the results as well there is no trend. What is minimised is a draw of the
//! coefficients, so that proposals are spread where the bottom is uncertain.

use super::polynomial::Polynomial;
use super::results::Results;
use crate::linalg::cholesky::Factor;
use crate::rng::Stream;
use faer::Mat;

/// Results closer than this to a lower one, in every coordinate, are of the same ripple and tell nothing new of the trend.
const SPACING: f64 = 0.02;
/// Results that a trend is fitted to: for each coordinate and besides.
const LEAST: (usize, usize) = (2, 4);
const MOST: usize = 120;
/// Standard deviations that are compared, in those of the values: of what the trend leaves, and of what each
/// coordinate adds to the curvature, times d.
const NOISES: [f64; 5] = [0.05, 0.1, 0.2, 0.4, 0.7];
const CURVATURES: [f64; 3] = [0.1, 0.5, 1.5];
/// Standard deviations of the constant, of slopes, and of the common curvature times d.
const PRIOR: [f64; 3] = [3.0, 1.0, 3.0];
/// The least curvature: a trend that falls for ever has no bottom.
const LEAST_CURVATURE: f64 = 0.02;

/// How far draws are from the mean, in standard deviations. A whole one was no better on Ackley's function in any variant tried.
const DRAWN: f64 = 0.5;

/// A trend, and the results it was fitted to.
pub(super) struct Trend {
    pub(super) polynomial: Polynomial,
    /// Rows, the lowest first.
    pub(super) rows: Vec<usize>,
}

impl Trend {
    /// A draw of the trend; None where there are too few results or it explains nothing.
    pub(super) fn draw(results: &Results, stream: &mut Stream) -> Option<Trend> {
        let rows = lower_half(results)?;
        let values: Vec<f64> = rows.iter().filter_map(|&row| results.objective[row]).collect();
        let (n, d) = (rows.len(), results.points[rows[0]].len());
        let mean = |of: &dyn Fn(usize) -> f64| (0..n).map(of).sum::<f64>() / n as f64;
        let at = &results.points[rows[0]];
        let spread_of = |k: usize| {
            let centre = mean(&|i| results.points[rows[i]][k]);
            mean(&|i| (results.points[rows[i]][k] - centre).powi(2)).sqrt()
        };
        let unit = (0..d).map(spread_of).sum::<f64>() / d as f64;
        let level = mean(&|i| values[i]);
        let scale = mean(&|i| (values[i] - level).powi(2)).sqrt();
        if !(unit.is_normal() && scale.is_normal()) {
            return None;
        }
        let z = Mat::from_fn(n, d, |i, k| (results.points[rows[i]][k] - at[k]) / unit);
        let t: Vec<f64> = values.iter().map(|value| (value - level) / scale).collect();
        let coefficients = coefficients(&z, &t, stream)?;
        let common = coefficients[1 + d];
        let curvature = |k: usize| (common + coefficients[2 + d + k]).max(LEAST_CURVATURE);
        let linear: Vec<f64> = (0..d).map(|k| scale * coefficients[1 + k] / unit).collect();
        let quadratic: Vec<f64> = (0..d).map(|k| scale * curvature(k) / (unit * unit)).collect();
        let polynomial = Polynomial::from_point(at, level + scale * coefficients[0], &linear, &quadratic);
        Some(Trend { polynomial, rows })
    }
}

/// The lower half of the results of different ripples, the lowest first.
fn lower_half(results: &Results) -> Option<Vec<usize>> {
    let mut order: Vec<(f64, usize)> =
        results.objective.iter().enumerate().filter_map(|(row, value)| Some(((*value)?, row))).collect();
    order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let mut rows: Vec<usize> = vec![];
    for (_, row) in order {
        if rows.iter().all(|&other| results.apart(row, other) >= SPACING) {
            rows.push(row);
        }
    }
    let least = LEAST.0 * results.points.first()?.len() + LEAST.1;
    if rows.len() < least {
        return None;
    }
    rows.truncate((rows.len() / 2).clamp(least, MOST));
    Some(rows)
}

/// A draw of constant, slopes, common curvature and what each coordinate adds to it.
fn coefficients(z: &Mat<f64>, t: &[f64], stream: &mut Stream) -> Option<Vec<f64>> {
    let (n, d) = (z.nrows(), z.ncols());
    let basis = Mat::from_fn(n, 2 + 2 * d, |i, j| match j {
        0 => 1.0,
        j if j <= d => z[(i, j - 1)],
        j if j == d + 1 => (0..d).map(|k| z[(i, k)].powi(2)).sum(),
        j => z[(i, j - d - 2)].powi(2),
    });
    let deviation = |j: usize, own: f64| match j {
        0 => PRIOR[0],
        j if j <= d => PRIOR[1],
        j if j == d + 1 => PRIOR[2] / d as f64,
        _ => own / d as f64,
    };
    // A constant has the log density -Σ t²/2 = -n/2, but for what all have.
    let mut best = (-0.5 * n as f64, None);
    for own in CURVATURES {
        let scaled = Mat::from_fn(n, basis.ncols(), |i, j| basis[(i, j)] * deviation(j, own));
        let prior = &scaled * scaled.transpose();
        for noise in NOISES {
            let covariance =
                Mat::from_fn(n, n, |i, j| prior[(i, j)] + if i == j { noise * noise } else { 0.0 });
            let Ok(factor) = Factor::new("trend", covariance.as_ref(), &[0.0, 1e-9]) else { continue };
            let half = forward(&factor, t);
            let evidence = -factor.half_log_det() - 0.5 * half.iter().map(|h| h * h).sum::<f64>();
            if evidence > best.0 {
                best = (evidence, Some((noise, own)));
            }
        }
    }
    let (noise, own) = best.1?;
    let m = basis.ncols();
    let normal = basis.transpose() * &basis;
    let precision = Mat::from_fn(m, m, |i, j| {
        normal[(i, j)] / (noise * noise) + if i == j { deviation(i, own).powi(-2) } else { 0.0 }
    });
    let factor = Factor::new("trend", precision.as_ref(), &[0.0, 1e-9, 1e-6]).ok()?;
    let right: Vec<f64> =
        (0..m).map(|j| (0..n).map(|i| basis[(i, j)] * t[i]).sum::<f64>() / (noise * noise)).collect();
    let mut half = forward(&factor, &right);
    half.iter_mut().for_each(|h| *h += DRAWN * stream.normal());
    // Lᵀ x = half.
    let l = factor.l();
    for i in (0..m).rev() {
        let known: f64 = (i + 1..m).map(|j| l[(j, i)] * half[j]).sum();
        half[i] = (half[i] - known) / l[(i, i)];
    }
    Some(half)
}

/// L⁻¹ y.
fn forward(factor: &Factor, y: &[f64]) -> Vec<f64> {
    let l = factor.l();
    let mut x = y.to_vec();
    for i in 0..x.len() {
        let known: f64 = (0..i).map(|j| l[(i, j)] * x[j]).sum();
        x[i] = (x[i] - known) / l[(i, i)];
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limit::Limit;

    fn results(seed: u64, n: usize, d: usize, of: impl Fn(&[f64]) -> f64) -> Results {
        let mut stream = Stream::new(seed, "results of a trend", 0);
        let limits: [Limit; 0] = [];
        let mut results = Results::default();
        for _ in 0..n {
            let u: Vec<f64> = (0..d).map(|_| stream.uniform()).collect();
            let value = of(&u);
            results.enter(&limits, u, Some(value), &[]);
        }
        results
    }

    #[test]
    fn the_bottom_below_ripples_is_found_and_noise_has_none() {
        let (mut worst, mut trends) = (0.0_f64, 0);
        for seed in 0..40 {
            // A bowl around 0.4 with ripples of a tenth, whose size is a tenth of what the bowl rises by.
            let bowl = |u: &[f64]| {
                u.iter()
                    .map(|u| {
                        (u - 0.4).powi(2) + 0.02 * (1.0 - (20.0 * std::f64::consts::PI * (u - 0.4)).cos())
                    })
                    .sum()
            };
            let rippled = results(seed, 80, 6, bowl);
            let mut stream = Stream::new(seed, "draw", 0);
            let trend = Trend::draw(&rippled, &mut stream).unwrap();
            // Newton's step on a quadratic from anywhere is its bottom; the slopes of its slopes by differences.
            let middle = vec![0.5; 6];
            let slope = trend.polynomial.at(&middle).1;
            for k in 0..6 {
                let mut moved = middle.clone();
                moved[k] += 1e-3;
                let curvature = (trend.polynomial.at(&moved).1[k] - slope[k]) / 1e-3;
                worst = worst.max((0.5 - slope[k] / curvature - 0.4).abs());
            }
            let noise = results(seed, 80, 6, |u| (1e4 * u.iter().sum::<f64>()).sin());
            trends += usize::from(Trend::draw(&noise, &mut stream).is_some());
        }
        assert!(worst < 0.12, "seeds 0 to 39: {worst}");
        assert!(trends <= 2, "seeds 0 to 39: {trends}");
    }

    #[test]
    fn few_results_and_results_of_one_ripple_have_no_trend() {
        let mut stream = Stream::new(3, "draw", 0);
        let sum = |u: &[f64]| u.iter().map(|u| u * u).sum::<f64>();
        assert!(Trend::draw(&results(3, 9, 4, sum), &mut stream).is_none());
        let mut near = results(3, 40, 4, sum);
        near.points.iter_mut().flatten().for_each(|u| *u *= 0.01);
        assert!(Trend::draw(&near, &mut stream).is_none());
        assert!(Trend::draw(&results(3, 40, 4, |_| 1.0), &mut stream).is_none());
    }
}
