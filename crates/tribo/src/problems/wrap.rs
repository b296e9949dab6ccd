//! Harder problems made of plain ones, with the optimum still known.
//!
//! - [`embed_active`]: the inputs of a problem at random places among D, the others without effect.
//! - [`shift`]: the optimum moved away from where it was: trying the centre gains nothing.
//! - [`rotate`]: the inputs of a problem along random orthonormal directions of D inputs `[@letham2020]`.
//! - [`Noisy`]: Gaussian noise, a pure function of (seed, evaluation number).

use super::{Problem, wrong_dim};
use crate::error::{Error, Result};
use crate::linalg::reduce::dot_in_order as dot;
use crate::rng::Stream;
use std::sync::Arc;

/// The problem's inputs at random places, in random order, among `dim` inputs on [-1, 1]. Each active input
/// is mapped linearly to its own range; values outside [-1, 1] are clipped. In the stated optimisers the
/// inactive inputs are zero.
pub fn embed_active(problem: &Problem, dim: usize, seed: u64) -> Result<Problem> {
    let n_active = problem.dim();
    if dim < n_active {
        return Err(wrong_dim(&format!("{} embedded", problem.name), dim, format!("at least {n_active}")));
    }
    let mut stream = Stream::new(seed, "active inputs", 0);
    let mut places = stream.choose(dim, n_active);
    stream.shuffle(&mut places);
    let place = |inner: &Vec<f64>| {
        let mut x = vec![0.0; dim];
        for (j, &i) in places.iter().enumerate() {
            x[i] = to_symmetric(problem, j, inner[j]);
        }
        x
    };
    let optimisers = problem.optimisers.iter().map(place).collect();
    let inner = problem.clone();
    let function = move |x: &[f64]| {
        let active: Vec<f64> =
            places.iter().enumerate().map(|(j, &i)| from_symmetric(&inner, j, x[i])).collect();
        inner.evaluate(&active)
    };
    let name = format!("{} among {dim}", problem.name);
    Ok(on_symmetric_cube(problem, name, dim, optimisers, function))
}

/// The places that [`embed_active`] gives to `n_active` inputs, in increasing order.
pub fn active_inputs(dim: usize, n_active: usize, seed: u64) -> Vec<usize> {
    Stream::new(seed, "active inputs", 0).choose(dim, n_active)
}

/// The first optimiser moved by between `fraction`/2 and `fraction` of the half width of the box in every
/// input, up or down at random, inwards where the other way leaves the box; `fraction` in (0, 1].
///
/// f(x - s). Where the formula does not hold outside its box (or has lower values there), x - s is reflected at
/// the sides of the old box: that keeps every value one that the problem takes inside, so nothing falls below
/// the optimum, and makes no plateaus, as clipping would. Of several optimisers those that leave the box are
/// dropped; reflection may add others.
pub fn shift(problem: &Problem, seed: u64, fraction: f64) -> Result<Problem> {
    if !(fraction > 0.0 && fraction <= 1.0) {
        return Err(Error::OutOfRange {
            what: "fraction of the shift",
            value: fraction,
            low: 0.0,
            high: 1.0,
        });
    }
    let mut stream = Stream::new(seed, "shift", 0);
    let within = |i: usize, x: f64| (problem.low[i]..=problem.high[i]).contains(&x);
    let steps: Vec<f64> = (0..problem.dim())
        .map(|i| {
            let half_width = 0.5 * (problem.high[i] - problem.low[i]);
            let size = half_width * fraction * (0.5 + 0.5 * stream.uniform());
            let step = if stream.below(2) == 0 { size } else { -size };
            // One of the two ways stays inside: the box is two half widths wide.
            if within(i, problem.optimisers[0][i] + step) { step } else { -step }
        })
        .collect();
    let moved = |x: &Vec<f64>| x.iter().zip(&steps).map(|(x, s)| x + s).collect::<Vec<f64>>();
    let optimisers: Vec<Vec<f64>> = problem
        .optimisers
        .iter()
        .map(moved)
        .filter(|x| x.iter().enumerate().all(|(i, &x)| within(i, x)))
        .collect();
    let inner = problem.clone();
    let function = move |x: &[f64]| {
        let moved_back = |i: usize| match inner.everywhere {
            true => x[i] - steps[i],
            false => reflect(x[i] - steps[i], inner.low[i], inner.high[i]),
        };
        inner.evaluate(&(0..x.len()).map(moved_back).collect::<Vec<f64>>())
    };
    let name = format!("{} shifted", problem.name);
    Ok(Problem { name, optimisers, function: Arc::new(function), ..problem.clone() })
}

/// The problem's d inputs along d random orthonormal directions of `dim` inputs on [-1, 1].
///
/// v = clip(c R x) to [-1, 1]^d, then mapped linearly to the problem's box. The rows of R are Gaussian
/// vectors made orthonormal. c is 1, or the least number that brings the stated optimiser x = Rᵀv*/c into the
/// box (needed only where `dim` is close to d). Clipping keeps every value one of the problem's own. Memory
/// and time O(d · dim).
pub fn rotate(problem: &Problem, dim: usize, seed: u64) -> Result<Problem> {
    let n_active = problem.dim();
    if dim < n_active {
        return Err(wrong_dim(&format!("{} rotated", problem.name), dim, format!("at least {n_active}")));
    }
    let directions = orthonormal_rows(n_active, dim, seed);
    // Rᵀv* of every optimiser of the problem.
    let raised: Vec<Vec<f64>> =
        problem.optimisers.iter().map(|inner| raise(problem, &directions, inner)).collect();
    let largest = |x: &Vec<f64>| x.iter().fold(0.0_f64, |largest, x| largest.max(x.abs()));
    let scale = largest(&raised[0]).max(1.0);
    let optimisers = raised
        .iter()
        .filter(|x| largest(x) <= scale)
        .map(|x| x.iter().map(|x| x / scale).collect())
        .collect();
    let inner = problem.clone();
    let function = move |x: &[f64]| {
        let active: Vec<f64> = directions
            .iter()
            .enumerate()
            .map(|(j, row)| from_symmetric(&inner, j, scale * dot(row, x)))
            .collect();
        inner.evaluate(&active)
    };
    let name = format!("{} rotated in {dim}", problem.name);
    Ok(on_symmetric_cube(problem, name, dim, optimisers, function))
}

/// A problem observed with Gaussian noise.
#[derive(Debug, Clone)]
pub struct Noisy {
    problem: Problem,
    sd: f64,
    seed: u64,
}

impl Noisy {
    /// Noise of standard deviation `sd` >= 0.
    pub fn new(problem: Problem, sd: f64, seed: u64) -> Result<Self> {
        if !(sd >= 0.0 && sd.is_finite()) {
            return Err(Error::OutOfRange { what: "sd of the noise", value: sd, low: 0.0, high: f64::MAX });
        }
        Ok(Noisy { problem, sd, seed })
    }

    /// The problem without noise, for judging.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// The value at x with the noise of evaluation number `evaluation`: the same number, the same noise.
    pub fn evaluate(&self, x: &[f64], evaluation: u64) -> f64 {
        self.problem.evaluate(x) + self.sd * Stream::new(self.seed, "noise", evaluation).normal()
    }
}

fn on_symmetric_cube(
    problem: &Problem,
    name: String,
    dim: usize,
    optimisers: Vec<Vec<f64>>,
    function: impl Fn(&[f64]) -> f64 + Send + Sync + 'static,
) -> Problem {
    let (low, high) = (vec![-1.0; dim], vec![1.0; dim]);
    // The wrappers clip, so beyond the new box there is only a plateau.
    Problem {
        name,
        low,
        high,
        optimisers,
        everywhere: false,
        function: Arc::new(function),
        ..problem.clone()
    }
}

/// From the problem's range of input j to [-1, 1].
fn to_symmetric(problem: &Problem, j: usize, x: f64) -> f64 {
    let (low, high) = (problem.low[j], problem.high[j]);
    (2.0 * (x - low) / (high - low) - 1.0).clamp(-1.0, 1.0)
}

/// From [-1, 1], with clipping, to the problem's range of input j.
fn from_symmetric(problem: &Problem, j: usize, v: f64) -> f64 {
    let (low, high) = (problem.low[j], problem.high[j]);
    (low + 0.5 * (v.clamp(-1.0, 1.0) + 1.0) * (high - low)).clamp(low, high)
}

/// Folds x back at the side it left by. Steps are at most half a box, so one fold is enough for points of the
/// box; anything further out is clipped.
fn reflect(x: f64, low: f64, high: f64) -> f64 {
    let folded = if x > high {
        2.0 * high - x
    } else if x < low {
        2.0 * low - x
    } else {
        x
    };
    folded.clamp(low, high)
}

/// Rᵀ v for the inner point mapped to [-1, 1]^d.
fn raise(problem: &Problem, directions: &[Vec<f64>], inner: &[f64]) -> Vec<f64> {
    let mut x = vec![0.0; directions[0].len()];
    for (j, row) in directions.iter().enumerate() {
        let v = to_symmetric(problem, j, inner[j]);
        x.iter_mut().zip(row).for_each(|(x, r)| *x += v * r);
    }
    x
}

/// Gaussian vectors made orthonormal by Gram-Schmidt, each row cleaned twice: once loses digits when a row is
/// nearly spanned by the others (`dim` close to `n_rows`), twice is enough.
fn orthonormal_rows(n_rows: usize, dim: usize, seed: u64) -> Vec<Vec<f64>> {
    let mut rows: Vec<Vec<f64>> = Vec::with_capacity(n_rows);
    for j in 0..n_rows {
        let mut stream = Stream::new(seed, "rotation", j as u64);
        let mut row: Vec<f64> = (0..dim).map(|_| stream.normal()).collect();
        for _ in 0..2 {
            for other in &rows {
                let overlap = dot(&row, other);
                row.iter_mut().zip(other).for_each(|(r, o)| *r -= overlap * o);
            }
            let norm = dot(&row, &row).sqrt();
            row.iter_mut().for_each(|r| *r /= norm);
        }
        rows.push(row);
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rotations_are_orthonormal() {
        // Tolerance: a hundred rounding errors of sums of squares that add to one.
        for (n_rows, dim) in [(1, 1), (6, 6), (6, 7), (6, 300)] {
            let rows = orthonormal_rows(n_rows, dim, 5);
            for i in 0..n_rows {
                for j in 0..n_rows {
                    let expected = if i == j { 1.0 } else { 0.0 };
                    assert!((dot(&rows[i], &rows[j]) - expected).abs() < 100.0 * f64::EPSILON);
                }
            }
        }
    }

    #[test]
    fn reflection_folds_once() {
        let folded = [-0.25, 0.0, 0.4, 1.0, 1.25, 2.5].map(|x| reflect(x, 0.0, 1.0));
        assert_eq!(folded, [0.25, 0.0, 0.4, 1.0, 0.75, 0.0]);
    }
}
