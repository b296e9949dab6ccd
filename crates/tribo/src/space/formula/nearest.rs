//! A point that meets all formulas, near one that does not.
//!
//! With c the excesses that are positive and J their slopes, steps of Gauss and Newton of least length,
//!   u <- u - Jᵀ (J Jᵀ)⁻¹ (c + margin),
//! end on the border to all digits; coordinates at a face of the cube that would leave it are left out of J. Rounding can
//! leave such a point outside by an ulp, so a margin follows, that grows from 1e-15 of the cube until the point is inside.
//! Integers stay as they are at first; where that does not do, they are moved too, rounded, and then moved one by one. All of
//! it again from points around, farther and farther away; and if nothing does, a line to a point known to be inside is
//! bisected. Everything follows from the point alone, to the last bit.

use super::region::{Formulas, bisect};
use crate::linalg::cholesky::Factor;
use crate::rng::Stream;
use faer::Mat;
use faer::linalg::triangular_solve::{solve_lower_triangular_in_place, solve_upper_triangular_in_place};

/// Newton's steps at most.
const STEPS: usize = 60;
/// Points around that are begun from, and how far away the first and the last are.
const AROUND: u64 = 24;
const SPREAD: (f64, f64) = (0.01, 1.0);
/// The first margin, in sides of the cube.
const MARGIN: f64 = 1e-15;
/// An excess, in sides of the cube, that only rounding is to blame for.
const ROUNDING: f64 = 1e-9;
/// Halvings of a line: more than the digits of a double.
const HALVINGS: usize = 60;
/// Rounds in which integers are moved one by one.
const ROUNDS: usize = 50;

/// A search for such a point; only what is free moves.
pub(super) struct Nearest<'a> {
    pub(super) formulas: &'a Formulas,
    pub(super) free: Vec<bool>,
}

impl Nearest<'_> {
    /// From a point, or from around it.
    pub(super) fn from(&self, u: &[f64]) -> Option<Vec<f64>> {
        if let Some(found) = self.once(u) {
            return Some(found);
        }
        let key = u.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, u| {
            (hash ^ u.to_bits()).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(17)
        });
        for number in 0..AROUND {
            let mut stream = Stream::new(key, "around", number);
            let spread = SPREAD.0 * (SPREAD.1 / SPREAD.0).powf(number as f64 / (AROUND - 1) as f64);
            let moved = |(u, free): (&f64, &bool)| match free {
                true => (u + spread * stream.normal()).clamp(0.0, 1.0),
                false => *u,
            };
            let start: Vec<f64> = u.iter().zip(&self.free).map(moved).collect();
            if let Some(found) = self.once(&start) {
                return Some(found);
            }
        }
        None
    }

    /// Where steps from a point end, inside or not.
    pub(super) fn reached(&self, u: &[f64]) -> Vec<f64> {
        self.steps(u, &self.free).1
    }

    /// On the way to the nearest of the points known to be inside.
    pub(super) fn along_anchors(&self, u: &[f64]) -> Vec<f64> {
        let apart = |anchor: &[f64]| anchor.iter().zip(u).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
        let nearest = self.formulas.anchors.iter().min_by(|a, b| apart(a).total_cmp(&apart(b)));
        nearest.map_or(u.to_vec(), |anchor| bisect(|x| self.formulas.admit(x), anchor, u, HALVINGS))
    }

    fn once(&self, u: &[f64]) -> Option<Vec<f64>> {
        if self.formulas.admit(u) {
            return Some(u.to_vec());
        }
        let axes = &self.formulas.axes;
        let floats: Vec<bool> =
            self.free.iter().zip(axes).map(|(free, axis)| *free && axis.is_float()).collect();
        let (with_floats, mut x) = self.steps(u, &floats);
        if with_floats {
            return Some(x);
        }
        if floats == self.free {
            return None;
        }
        let (done, rounded) = self.steps(u, &self.free);
        if done {
            return Some(rounded);
        }
        // What was reached with floats alone may be lost among integers that do not fit it.
        if self.formulas.violation(&rounded) < self.formulas.violation(&x) {
            x = rounded;
        }
        x = self.one_by_one(x);
        let (done, x) = self.steps(&x, &floats);
        done.then_some(x)
    }

    /// Newton's steps in some coordinates: whether they ended inside, and where.
    fn steps(&self, start: &[f64], free: &[bool]) -> (bool, Vec<f64>) {
        let (mut u, mut margin) = (start.to_vec(), 0.0);
        if !free.contains(&true) {
            return (self.formulas.admit(&u), u);
        }
        for _ in 0..STEPS {
            if self.formulas.admit(&u) {
                return (true, u);
            }
            let Some((step, beyond)) = self.step(&u, free, margin) else { break };
            if beyond < ROUNDING {
                margin = if margin > 0.0 { 4.0 * margin } else { MARGIN };
            }
            u.iter_mut().zip(&step).for_each(|(u, step)| *u = (*u + step).clamp(0.0, 1.0));
        }
        (self.formulas.admit(&u), u)
    }

    /// One step, and how far beyond the point is, in sides of the cube. None where no step helps.
    fn step(&self, u: &[f64], free: &[bool], margin: f64) -> Option<(Vec<f64>, f64)> {
        let d = u.len();
        let mut free = free.to_vec();
        let excesses = self.formulas.excesses(u);
        let mut beyond: f64;
        // A step that leaves the cube is taken again without the coordinates that would.
        for _ in 0..=d.min(8) {
            let length = |slopes: &[f64]| {
                let of_free = slopes.iter().zip(&free).filter(|(_, free)| **free);
                of_free.map(|(slope, _)| slope * slope).sum::<f64>().sqrt()
            };
            let mut rows: Vec<(f64, Vec<f64>)> = vec![];
            beyond = 0.0;
            for (excess, slopes) in &excesses {
                let size = length(slopes);
                if !excess.is_finite() {
                    return None;
                }
                let wanted = excess / size + margin;
                if !wanted.is_finite() || *excess <= -margin * size {
                    continue;
                }
                beyond = beyond.max(excess / size);
                let row =
                    slopes.iter().zip(&free).map(|(slope, free)| if *free { slope / size } else { 0.0 });
                rows.push((wanted, row.collect()));
            }
            if rows.is_empty() {
                return None;
            }
            let step = least_step(&rows, d)?;
            let leaves =
                |k: usize| free[k] && ((u[k] <= 0.0 && step[k] < 0.0) || (u[k] >= 1.0 && step[k] > 0.0));
            let leaving: Vec<usize> = (0..d).filter(|&k| leaves(k)).collect();
            if leaving.is_empty() {
                return Some((step, beyond));
            }
            leaving.into_iter().for_each(|k| free[k] = false);
        }
        None
    }

    /// Integers moved one by one, as long as the violation falls.
    fn one_by_one(&self, mut u: Vec<f64>) -> Vec<f64> {
        let mut least = self.formulas.violation(&u);
        for _ in 0..ROUNDS {
            let before = least;
            for (k, axis) in self.formulas.axes.iter().enumerate() {
                let (Some(n), true) = (axis.n_values(), self.free[k]) else { continue };
                let steps = (0..63).map(|bit| 1_i64 << bit).take_while(|&step| (step as u64) < n);
                for by in steps.flat_map(|step| [step, -step]) {
                    let (old, new) = (u[k], axis.stepped(u[k], by));
                    u[k] = new;
                    let violation = self.formulas.violation(&u);
                    if violation < least {
                        least = violation;
                    } else {
                        u[k] = old;
                    }
                }
            }
            if least >= before || least == 0.0 {
                break;
            }
        }
        u
    }
}

/// The shortest step δ with row·δ = -wanted for all rows; nearly, where rows contradict each other.
fn least_step(rows: &[(f64, Vec<f64>)], d: usize) -> Option<Vec<f64>> {
    let n = rows.len();
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let gram = Mat::from_fn(n, n, |i, j| dot(&rows[i].1, &rows[j].1));
    let factor =
        Factor::new("products of the slopes of formulas", gram.as_ref(), &[0.0, 1e-12, 1e-9, 1e-6]).ok()?;
    let mut weights = Mat::from_fn(n, 1, |i, _| -rows[i].0);
    let one = faer::Par::Seq;
    solve_lower_triangular_in_place(factor.l(), weights.as_mut(), one);
    solve_upper_triangular_in_place(factor.l().transpose(), weights.as_mut(), one);
    let step: Vec<f64> = (0..d).map(|k| (0..n).map(|i| weights[(i, 0)] * rows[i].1[k]).sum()).collect();
    step.iter().all(|step| step.is_finite()).then_some(step)
}
