//! Outputs that are polynomials: recognised, and known exactly from then on.
//!
//! A sum, a weighted mean or a distance is a limit as often as a simulation is. With x the point in the unit cube,
//!   v = c + bᵀx        or        v = c + bᵀx + xᵀAx
//! (A diagonal or full) is determined by as many results as it has coefficients. If more results than that are met to
//! rounding, it is no model any more: nothing is left to learn, and no margin is kept. A norm is the root of a polynomial,
//! so v² is looked at as well. A later result that is not met takes the polynomial back.
//!
//! The coefficients are those of the first results, by least squares, and made anew when there are half as many again, so
//! that they are a function of the results in the order told.

use faer::Mat;
use faer::linalg::solvers::SolveLstsq;

/// Results beyond the number of coefficients, from which a polynomial is believed in.
const EXTRA: usize = 2;
/// Growth of the number of results between two fits.
const GROWTH: f64 = 1.5;
/// Coefficients at most.
const MOST_COEFFICIENTS: usize = 256;
/// Largest difference from a result, in standard deviations of all values, that is rounding.
const ROUNDING: f64 = 1e-9;
/// Smallest pivot beside the largest of points that determine all coefficients.
const DETERMINED: f64 = 1e-6;

/// A polynomial of degree two at most in the coordinates of the unit cube.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Polynomial {
    constant: f64,
    linear: Vec<f64>,
    /// A, symmetric [d, d].
    quadratic: Mat<f64>,
}

/// Which products of coordinates there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Terms {
    Linear,
    Squares,
    All,
}

impl Terms {
    const EACH: [Terms; 3] = [Terms::Linear, Terms::Squares, Terms::All];

    fn count(self, d: usize) -> usize {
        match self {
            Terms::Linear => d + 1,
            Terms::Squares => 2 * d + 1,
            Terms::All => (d + 1) * (d + 2) / 2,
        }
    }

    /// Pairs of coordinates whose products there are.
    fn pairs(self, d: usize) -> Vec<(usize, usize)> {
        match self {
            Terms::Linear => vec![],
            Terms::Squares => (0..d).map(|k| (k, k)).collect(),
            Terms::All => (0..d).flat_map(|k| (0..=k).map(move |l| (k, l))).collect(),
        }
    }
}

/// Coordinates are taken from the middle of the cube.
const MIDDLE: f64 = 0.5;

impl Polynomial {
    /// d.
    pub(super) fn dim(&self) -> usize {
        self.linear.len()
    }

    /// The value at a point and its slopes.
    pub(super) fn at(&self, u: &[f64]) -> (f64, Vec<f64>) {
        let d = u.len();
        let from_middle: Vec<f64> = u.iter().map(|u| u - MIDDLE).collect();
        let (mut value, mut slope) = (self.constant, self.linear.clone());
        for k in 0..d {
            let product: f64 = (0..d).map(|l| self.quadratic[(k, l)] * from_middle[l]).sum();
            value += from_middle[k] * (self.linear[k] + product);
            slope[k] += 2.0 * product;
        }
        (value, slope)
    }

    /// constant + linearᵀz + Σ_k squares_k z_k², with z the way from a point.
    pub(super) fn from_point(u: &[f64], constant: f64, linear: &[f64], squares: &[f64]) -> Polynomial {
        let d = u.len();
        let way = |k: usize| MIDDLE - u[k];
        let constant = constant + (0..d).map(|k| way(k) * (linear[k] + squares[k] * way(k))).sum::<f64>();
        let linear = (0..d).map(|k| linear[k] + 2.0 * squares[k] * way(k)).collect();
        let quadratic = Mat::from_fn(d, d, |k, l| if k == l { squares[k] } else { 0.0 });
        Polynomial { constant, linear, quadratic }
    }

    /// The polynomial of these terms through all of the points, None if there is none or if they do not determine it.
    fn through(points: &[&[f64]], values: &[f64], terms: Terms) -> Option<Polynomial> {
        let (n, d) = (points.len(), points.first()?.len());
        let pairs = terms.pairs(d);
        let entry = |i: usize, j: usize| {
            let from_middle = |k: usize| points[i][k] - MIDDLE;
            match j {
                0 => 1.0,
                j if j <= d => from_middle(j - 1),
                j => from_middle(pairs[j - d - 1].0) * from_middle(pairs[j - d - 1].1),
            }
        };
        let basis = Mat::from_fn(n, 1 + d + pairs.len(), entry);
        let factors = basis.col_piv_qr();
        let pivot = |j: usize| factors.R()[(j, j)].abs();
        if pivot(basis.ncols() - 1) < DETERMINED * pivot(0) {
            return None;
        }
        let shift = values[0];
        let right = Mat::from_fn(n, 1, |i, _| values[i] - shift);
        let solution = factors.solve_lstsq(right);
        let mut quadratic = Mat::zeros(d, d);
        for (j, &(k, l)) in pairs.iter().enumerate() {
            quadratic[(k, l)] += 0.5 * solution[(1 + d + j, 0)];
            quadratic[(l, k)] += 0.5 * solution[(1 + d + j, 0)];
        }
        let linear = (0..d).map(|k| solution[(1 + k, 0)]).collect();
        Some(Polynomial { constant: shift + solution[(0, 0)], linear, quadratic })
            .filter(|polynomial| polynomial.meets(points, values))
    }

    /// Whether all values are met to rounding.
    pub(super) fn meets(&self, points: &[&[f64]], values: &[f64]) -> bool {
        let n = values.len().max(1) as f64;
        let mean = values.iter().sum::<f64>() / n;
        let spread = (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / n).sqrt();
        let size = values.iter().fold(0.0, |size: f64, value| size.max(value.abs()));
        // What a large constant leaves of the digits cannot be met more closely.
        let near = ROUNDING * spread + 8.0 * f64::EPSILON * size;
        spread > 0.0 && points.iter().zip(values).all(|(u, value)| (self.at(u).0 - value).abs() <= near)
    }
}

/// The search for the polynomial of one output, which is over once one is found or none is possible.
#[derive(Debug, Clone, Default)]
pub(super) struct Recognition {
    /// For each kind of terms the number of results at the last fit, and what was found.
    tried: [Option<(usize, Option<Polynomial>)>; 3],
}

impl Recognition {
    /// The polynomial that all of the values are met by.
    pub(super) fn of(&mut self, points: &[&[f64]], values: &[f64]) -> Option<&Polynomial> {
        let d = points.first()?.len();
        for (terms, tried) in Terms::EACH.into_iter().zip(&mut self.tried) {
            let first = terms.count(d) + EXTRA;
            if terms.count(d) > MOST_COEFFICIENTS || values.len() < first {
                *tried = None;
                continue;
            }
            let mut at = first;
            while ((at as f64 * GROWTH) as usize) <= values.len() {
                at = (at as f64 * GROWTH) as usize;
            }
            if tried.as_ref().is_none_or(|(last, _)| *last != at) {
                *tried = Some((at, Polynomial::through(&points[..at], &values[..at], terms)));
            }
        }
        let found = self.tried.iter().flatten().filter_map(|(_, found)| found.as_ref());
        found.into_iter().find(|polynomial| polynomial.meets(points, values))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;

    fn points(n: usize, d: usize) -> Vec<Vec<f64>> {
        let mut stream = Stream::new(5, "points", 0);
        (0..n).map(|_| (0..d).map(|_| stream.uniform()).collect()).collect()
    }

    #[test]
    fn polynomials_are_recognised_from_two_results_more_than_coefficients() {
        let all = points(40, 4);
        let line: fn(&[f64]) -> f64 = |x| 3.0 - 7.0 * x[0] + 2.0 * x[3];
        let sphere: fn(&[f64]) -> f64 = |x| x.iter().map(|x| (10.0 * x - 3.0).powi(2)).sum::<f64>();
        let saddle: fn(&[f64]) -> f64 = |x| 1e5 + x[0] * x[1] - 3.0 * x[2] * x[2];
        for (function, count) in [(line, 5), (sphere, 9), (saddle, 15)] {
            let values: Vec<f64> = all.iter().map(|x| function(x)).collect();
            let rows: Vec<&[f64]> = all.iter().map(Vec::as_slice).collect();
            let of = |n: usize| Recognition::default().of(&rows[..n], &values[..n]).cloned();
            assert!(of(count + 1).is_none());
            let found = of(count + 2).unwrap();
            let mut recognition = Recognition::default();
            for n in 2..=40 {
                assert_eq!(recognition.of(&rows[..n], &values[..n]).is_some(), n >= count + 2, "{n}");
            }
            for x in &rows[30..] {
                let (value, slope) = found.at(x);
                assert!((value - function(x)).abs() < 1e-9 * (1.0 + value.abs()));
                for k in 0..4 {
                    let moved = |by: f64| {
                        let mut x = x.to_vec();
                        x[k] += by;
                        found.at(&x).0
                    };
                    assert!(
                        (slope[k] - (moved(1e-4) - moved(-1e-4)) / 2e-4).abs()
                            < 1e-5 * (1.0 + slope[k].abs())
                    );
                }
            }
        }
    }

    #[test]
    fn what_is_almost_a_polynomial_or_not_determined_is_none() {
        let all = points(30, 3);
        let rows: Vec<&[f64]> = all.iter().map(Vec::as_slice).collect();
        let bent: Vec<f64> = all.iter().map(|x| x[0] + 1e-6 * (5.0 * x[1]).sin()).collect();
        assert!(Recognition::default().of(&rows, &bent).is_none());
        let mut late: Vec<f64> = all.iter().map(|x| x[0] - x[2]).collect();
        let mut recognition = Recognition::default();
        assert!(recognition.of(&rows, &late).is_some());
        late[29] += 0.1;
        assert!(recognition.of(&rows, &late).is_none(), "a result takes it back");
        // On a line in the cube no coefficient of the others is known.
        let line: Vec<Vec<f64>> = (0..20).map(|i| vec![0.05 * f64::from(i), 0.5, 0.5]).collect();
        let rows: Vec<&[f64]> = line.iter().map(Vec::as_slice).collect();
        let values: Vec<f64> = line.iter().map(|x| 2.0 * x[0]).collect();
        assert!(Recognition::default().of(&rows, &values).is_none());
    }
}
