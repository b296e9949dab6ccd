//! The paper's own test functions `[@tran2021]`: three second objectives of the ZDT suite `[@zitzler2000]`
//! modified for [-1, 1]^D, the "sphere" (a parabolic valley) and its product form.
//!
//! As printed: ZDT1 has the *mean* of x_2..x_D in g, ZDT2 and ZDT3 the *sum*, and in ZDT2 the factor 9 is
//! squared with it. (The text places ZDT3 on [0, 1]^D in one sentence and all three on [-1, 1]^D in another;
//! we take the latter.) With s the sum and x_1 the special input:
//!
//! | | g | f |
//! |---|---|---|
//! | ZDT1 | 1 + 9 (s/(D-1))² | g (1 - √(x_1²/g)) |
//! | ZDT2 | 1 + (9 s)² | g (1 - (x_1/g)²) |
//! | ZDT3 | 1 + 9 s² | g (1 - √(x_1²/g) - (x_1²/g) sin(10π x_1²)) |
//!
//! All grow with g for |x_1| <= 1, so the optimum has s = 0: there f is 0 at |x_1| = 1 for ZDT1 and ZDT2. For
//! ZDT3 it is the least value of 1 - √t - t sin(10π t), t = x_1² in [0, 1]: -0.7734 at t = 0.8518 (mpmath, 40
//! digits, root of the derivative next to the least of 20,001 grid values). The centre of the box gives
//! exactly 1 in all three and 0 for the sphere: wrap them with `shift` before drawing conclusions.

use super::{Problem, on_cube};
use crate::error::{Error, Result};
use crate::rng::Stream;
use std::f64::consts::PI;

const SOURCES: &str = "tran2021, zitzler2000";

/// Two representatives of the optimal set: ±special in the first input, zero elsewhere.
fn zdt_optimisers(dim: usize, special: f64) -> Vec<Vec<f64>> {
    let at = |x_1: f64| {
        let mut x = vec![0.0; dim];
        x[0] = x_1;
        x
    };
    vec![at(special), at(-special)]
}

pub(super) fn zdt1(dim: usize) -> Problem {
    let function = move |x: &[f64]| {
        let mean = x[1..].iter().sum::<f64>() / (dim - 1) as f64;
        let g = 1.0 + 9.0 * mean * mean;
        g * (1.0 - (x[0] * x[0] / g).sqrt())
    };
    on_cube("zdt1", SOURCES, (-1.0, 1.0, dim), 0.0, zdt_optimisers(dim, 1.0), function)
}

pub(super) fn zdt2(dim: usize) -> Problem {
    let function = |x: &[f64]| {
        let nine_sums = 9.0 * x[1..].iter().sum::<f64>();
        let g = 1.0 + nine_sums * nine_sums;
        g * (1.0 - (x[0] / g).powi(2))
    };
    on_cube("zdt2", SOURCES, (-1.0, 1.0, dim), 0.0, zdt_optimisers(dim, 1.0), function)
}

pub(super) fn zdt3(dim: usize) -> Problem {
    let function = |x: &[f64]| {
        let sum = x[1..].iter().sum::<f64>();
        let g = 1.0 + 9.0 * sum * sum;
        let t = x[0] * x[0];
        g * (1.0 - (t / g).sqrt() - t / g * (10.0 * PI * t).sin())
    };
    let optimisers = zdt_optimisers(dim, 0.9229479213023961);
    on_cube("zdt3", SOURCES, (-1.0, 1.0, dim), -0.7733690123266405, optimisers, function)
}

fn square_of_sum(x: &[f64]) -> f64 {
    x.iter().sum::<f64>().powi(2)
}

/// (Σ x)² on [-1, 1]^D; every x with sum 0 is optimal.
pub(super) fn sphere(dim: usize) -> Problem {
    on_cube("sphere", "tran2021", (-1.0, 1.0, dim), 0.0, vec![vec![0.0; dim]], square_of_sum)
        .holds_everywhere()
}

/// (Σ x)² on [0, 1]^D, as the paper states it; only the all-low corner is optimal.
pub(super) fn sphere_unit(dim: usize) -> Problem {
    on_cube("sphere_unit", "tran2021", (0.0, 1.0, dim), 0.0, vec![vec![0.0; dim]], square_of_sum)
}

/// The paper's generalised product Π_j (Σ_i w_i^(j) x_i)² on [-1, 1]^D with `n_directions` random unit
/// vectors w^(j), drawn with `seed`. Every x orthogonal to one of them is optimal; the stated optimiser is
/// the centre.
pub fn product(dim: usize, n_directions: usize, seed: u64) -> Result<Problem> {
    if dim == 0 {
        return Err(super::wrong_dim("product", dim, "at least 1".to_string()));
    }
    if n_directions == 0 {
        return Err(Error::Empty { what: "the list of directions of the product" });
    }
    let direction = |j: usize| {
        let mut stream = Stream::new(seed, "product direction", j as u64);
        let mut w: Vec<f64> = (0..dim).map(|_| stream.normal()).collect();
        let norm = w.iter().map(|w| w * w).sum::<f64>().sqrt();
        w.iter_mut().for_each(|w| *w /= norm);
        w
    };
    let directions: Vec<Vec<f64>> = (0..n_directions).map(direction).collect();
    let function = move |x: &[f64]| {
        let projection = |w: &Vec<f64>| w.iter().zip(x).map(|(w, x)| w * x).sum::<f64>();
        directions.iter().map(|w| projection(w).powi(2)).product::<f64>()
    };
    Ok(on_cube("product", "tran2021", (-1.0, 1.0, dim), 0.0, vec![vec![0.0; dim]], function))
}
