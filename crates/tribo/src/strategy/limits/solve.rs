//! Minimises the mean of the objective where the means of the limited outputs say that the limits are met.
//!
//! Augmented Lagrangian `[@nocedal2006, section 17.4]`: with c_j the sides, λ_j their multipliers and r a penalty,
//!   L(x) = f(x) + Σ_j [max(0, λ_j + r c_j)² - λ_j²]/(2r)        λ_j <- max(0, λ_j + r c_j)
//! (without the maximum where a side must be zero). Each L is minimised in the box by quasi-Newton steps; several starts go
//! together, and are evaluated as one batch. The last digits are those of a few quadratic programmes (`quadratic`) at the end:
//! the means of the sides as planes, the Lagrangian by its second differences `[@nocedal2006, section 18.1]`.

use super::outlook::{Means, Outlook};
use super::quadratic;
use super::walls::Walls;
use crate::error::{Error, Result};
use crate::linalg::cholesky::{Factor, JITTER_IF_NEEDED};
use crate::opt::Status;
use crate::opt::lbfgs::{Lbfgs, LbfgsOptions};
use crate::surrogate::watch::Watch;
use faer::{Mat, MatRef};

/// Rounds of multipliers, steps in each, and starts that go on after each round.
const ROUNDS: usize = 9;
const STEPS: usize = 30;
const KEPT: [usize; ROUNDS] = [16, 8, 4, 3, 2, 2, 2, 2, 2];
/// The first penalty, in the models' units, and by how much it grows where a violation does not shrink.
const PENALTY: f64 = 10.0;
const GROWTH: f64 = 5.0;
/// Quadratic programmes at the end, and the part of the box that a step of one goes at most.
const PROGRAMMES: usize = 4;
const REACH: f64 = 0.25;
/// Step of differences, in parts of the box, and the least curvature beside the largest.
const DIFFERENCE: f64 = 1e-3;
const LEAST_CURVATURE: f64 = 1e-8;
/// A violation that counts as none.
pub(super) const VIOLATION: f64 = 1e-7;

/// A point, what is expected there, and the multipliers of all sides.
#[derive(Debug, Clone)]
pub(super) struct Solution {
    pub(super) x: Vec<f64>,
    pub(super) value: f64,
    /// The largest violation.
    pub(super) violation: f64,
    pub(super) multipliers: Vec<f64>,
}

struct Lane {
    solution: Solution,
    penalty: f64,
}

/// The best solution in the box from any of the starts; sides are to be met with these margins, and walls without.
pub(super) fn solve(
    outlook: &Outlook,
    walls: Option<Walls<'_>>,
    margins: &[f64],
    low: &[f64],
    high: &[f64],
    starts: &[Vec<f64>],
    watch: &dyn Watch,
) -> Result<Option<Solution>> {
    let n_walls = walls.map_or(0, |walls| walls.region.n_borders());
    let beside = std::iter::repeat_n(false, n_walls);
    let equal: Vec<bool> = outlook.modelled().map(|side| side.equal).chain(beside).collect();
    let margins: Vec<f64> = margins.iter().copied().chain(std::iter::repeat_n(0.0, n_walls)).collect();
    let mut lanes: Vec<Lane> = starts
        .iter()
        .map(|start| {
            let x =
                start.iter().zip(low.iter().zip(high)).map(|(x, (low, high))| x.clamp(*low, *high)).collect();
            let multipliers = vec![0.0; equal.len()];
            let solution = Solution { x, value: f64::INFINITY, violation: f64::INFINITY, multipliers };
            Lane { solution, penalty: PENALTY }
        })
        .collect();
    for kept in KEPT {
        if watch.cancelled() {
            return Err(Error::Stopped { what: "a search within limits" });
        }
        round(outlook, walls, &margins, &equal, low, high, &mut lanes)?;
        lanes.sort_by(|a, b| a.solution.rank().total_cmp(&b.solution.rank()));
        lanes.truncate(kept);
    }
    let Some(lane) = lanes.into_iter().next() else { return Ok(None) };
    let mut solution = lane.solution;
    for _ in 0..PROGRAMMES {
        match programme(outlook, walls, &margins, &equal, low, high, &solution)? {
            Some(better) if better.merit() < solution.merit() => solution = better,
            _ => break,
        }
    }
    Ok(Some(solution))
}

impl Solution {
    /// Lower is better: the value, and a heavy price for a violation.
    fn rank(&self) -> f64 {
        self.value + 1e3 * (self.violation - VIOLATION).max(0.0)
    }

    /// The same where the last digits count.
    fn merit(&self) -> f64 {
        self.value + 1e3 * self.violation
    }
}

/// The solution of the quadratic programme around a solution; None if its planes cannot be met in the box.
fn programme(
    outlook: &Outlook,
    walls: Option<Walls<'_>>,
    margins: &[f64],
    equal: &[bool],
    low: &[f64],
    high: &[f64],
    from: &Solution,
) -> Result<Option<Solution>> {
    let (d, x) = (low.len(), &from.x);
    let width: Vec<f64> = (0..d).map(|k| (high[k] - low[k]).max(f64::MIN_POSITIVE)).collect();
    // The point itself, then both neighbours along each coordinate.
    let near = Mat::from_fn(1 + 2 * d, d, |i, k| match i {
        i if i > 0 && (i - 1) / 2 == k => x[k] + [1.0, -1.0][(i - 1) % 2] * DIFFERENCE * width[k],
        _ => x[k],
    });
    let means = all_means(outlook, walls, near.as_ref())?;
    let slope = |i: usize, k: usize| {
        let held = from.multipliers.iter().enumerate();
        held.map(|(j, multiplier)| multiplier * means.side_slopes[j][(i, k)]).sum::<f64>()
            + means.objective_slope[(i, k)]
    };
    // In coordinates in which the box is the cube.
    let second =
        |k: usize, l: usize| (slope(1 + 2 * k, l) - slope(2 + 2 * k, l)) / (2.0 * DIFFERENCE) * width[l];
    let curvature = Mat::from_fn(d, d, |k, l| 0.5 * (second(k, l) + second(l, k)));
    let Ok(eigen) = curvature.self_adjoint_eigen(faer::Side::Lower) else { return Ok(None) };
    let largest = (0..d).map(|k| eigen.S()[k].abs()).fold(1e-12, f64::max);
    let convex = Mat::from_fn(d, d, |k, l| {
        let part = |i: usize| eigen.U()[(k, i)] * eigen.U()[(l, i)];
        (0..d).map(|i| part(i) * eigen.S()[i].abs().max(LEAST_CURVATURE * largest)).sum::<f64>()
    });
    let Ok(root) = Factor::new("curvature", convex.as_ref(), JITTER_IF_NEEDED) else { return Ok(None) };
    let g: Vec<f64> = (0..d).map(|k| means.objective_slope[(0, k)] * width[k]).collect();
    // Sides, both directions of those that must be zero, and the box.
    let mut planes: Vec<(usize, f64)> = vec![];
    for (j, equal) in equal.iter().enumerate() {
        planes.push((j, 1.0));
        if *equal {
            planes.push((j, -1.0));
        }
    }
    let n = planes.len();
    let a = Mat::from_fn(n + 2 * d, d, |i, k| match planes.get(i) {
        Some(&(j, sign)) => sign * means.side_slopes[j][(0, k)] * width[k],
        None if (i - n) / 2 == k => [1.0, -1.0][(i - n) % 2],
        None => 0.0,
    });
    let mut b: Vec<f64> = planes.iter().map(|&(j, sign)| -sign * (means.sides[j][0] + margins[j])).collect();
    for k in 0..d {
        b.push(((high[k] - x[k]) / width[k]).clamp(0.0, REACH));
        b.push(((x[k] - low[k]) / width[k]).clamp(0.0, REACH));
    }
    let Some((p, held)) = quadratic::minimise(root.l(), &g, a.as_ref(), &b) else { return Ok(None) };
    let moved: Vec<f64> = (0..d).map(|k| (x[k] + p[k] * width[k]).clamp(low[k], high[k])).collect();
    let at = all_means(outlook, walls, MatRef::from_row_major_slice(&moved, 1, d))?;
    let violation = |j: usize| {
        let side = at.sides[j][0] + margins[j];
        if equal[j] { side.abs() } else { side.max(0.0) }
    };
    let mut multipliers = vec![0.0; equal.len()];
    planes.iter().zip(&held).for_each(|(&(j, sign), held)| multipliers[j] += sign * held);
    let violation = (0..equal.len()).map(violation).fold(0.0, f64::max);
    Ok(Some(Solution { x: moved, value: at.objective[0], violation, multipliers }))
}

/// Minimises the Lagrangian of every lane, then moves its multipliers.
fn round(
    outlook: &Outlook,
    walls: Option<Walls<'_>>,
    margins: &[f64],
    equal: &[bool],
    low: &[f64],
    high: &[f64],
    lanes: &mut [Lane],
) -> Result<()> {
    let d = low.len();
    let options = LbfgsOptions {
        max_evaluations: STEPS,
        max_iterations: STEPS,
        gradient_tolerance: 1e-9,
        decrease_tolerance: 1e-13,
        initial_step: 0.05 * (0..d).map(|k| high[k] - low[k]).fold(0.0, f64::max),
        ..LbfgsOptions::default()
    };
    let mut runs = vec![];
    for lane in lanes.iter() {
        runs.push((Lbfgs::new(&lane.solution.x, low, high, options.clone())?, true));
    }
    loop {
        let live: Vec<usize> = (0..runs.len()).filter(|&i| runs[i].1).collect();
        if live.is_empty() {
            break;
        }
        let x = Mat::from_fn(live.len(), d, |i, k| runs[live[i]].0.point()[k]);
        let means = all_means(outlook, walls, x.as_ref())?;
        for (row, &i) in live.iter().enumerate() {
            let (value, slope) = lagrangian(&means, row, margins, equal, &lanes[i]);
            runs[i].1 = runs[i].0.tell(value, &slope) == Status::Continue;
        }
    }
    let x = Mat::from_fn(runs.len(), d, |i, k| runs[i].0.best().0[k]);
    let means = all_means(outlook, walls, x.as_ref())?;
    for (i, lane) in lanes.iter_mut().enumerate() {
        let violation = |j: usize| {
            let side = means.sides[j][i] + margins[j];
            if equal[j] { side.abs() } else { side.max(0.0) }
        };
        let before = lane.solution.violation;
        lane.solution.x = (0..d).map(|k| x[(i, k)]).collect();
        lane.solution.value = means.objective[i];
        lane.solution.violation = (0..equal.len()).map(violation).fold(0.0, f64::max);
        for j in 0..equal.len() {
            let moved = lane.solution.multipliers[j] + lane.penalty * (means.sides[j][i] + margins[j]);
            lane.solution.multipliers[j] = if equal[j] { moved } else { moved.max(0.0) };
        }
        if lane.solution.violation > 0.25 * before {
            lane.penalty *= GROWTH;
        }
    }
    Ok(())
}

/// The means, with walls after the sides.
fn all_means(outlook: &Outlook, walls: Option<Walls<'_>>, x: MatRef<'_, f64>) -> Result<Means> {
    let mut means = outlook.means(x)?;
    if let Some(walls) = walls {
        walls.add(&mut means, x);
    }
    Ok(means)
}

/// L of a lane at a row of the means, and its slopes.
fn lagrangian(means: &Means, row: usize, margins: &[f64], equal: &[bool], lane: &Lane) -> (f64, Vec<f64>) {
    let d = means.objective_slope.ncols();
    let mut value = means.objective[row];
    let mut slope: Vec<f64> = (0..d).map(|k| means.objective_slope[(row, k)]).collect();
    for j in 0..equal.len() {
        let multiplier = lane.solution.multipliers[j];
        let moved = multiplier + lane.penalty * (means.sides[j][row] + margins[j]);
        if equal[j] || moved > 0.0 {
            value += (moved * moved - multiplier * multiplier) / (2.0 * lane.penalty);
            (0..d).for_each(|k| slope[k] += moved * means.side_slopes[j][(row, k)]);
        } else {
            value -= multiplier * multiplier / (2.0 * lane.penalty);
        }
    }
    (value, slope)
}
