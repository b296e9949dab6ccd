//! A walk among discs: way points of a smooth curve between two corners, each of whose coordinates is an input.
//!
//! Cost: the length of the curve, and twenty times the length inside a disc. The curve is a clamped cubic B-spline whose
//! control points are the way points and the two ends. All inputs matter a little and act alike to first order, the cost
//! has kinks wherever the curve enters or leaves a disc, and there are many ways around. Nobody knows the shortest one.

use crate::rng::Stream;

/// Where walks begin and end, in both coordinates.
const ENDS: (f64, f64) = (0.05, 0.95);
/// Discs, one of them in the way.
const DISCS: usize = 15;
/// Points that stand for the curve.
const SAMPLES: usize = 400;
/// What a length inside a disc costs beyond itself.
const INSIDE: f64 = 20.0;

/// A walk with a number of way points.
#[derive(Debug, Clone)]
pub struct Walk {
    n_points: usize,
    /// Centres and radii.
    discs: Vec<([f64; 2], f64)>,
    /// For each point of the curve: the first of four control points, and their weights.
    weights: Vec<(usize, [f64; 4])>,
}

impl Walk {
    /// A walk with `n_points` >= 2 way points: twice as many inputs, all in [0, 1].
    pub fn new(n_points: usize, seed: u64) -> Walk {
        let mut stream = Stream::new(seed, "discs in the way", 0);
        let mut disc = |_| {
            let centre = [0.1 + 0.8 * stream.uniform(), 0.1 + 0.8 * stream.uniform()];
            (centre, 0.04 + 0.06 * stream.uniform())
        };
        let mut discs: Vec<([f64; 2], f64)> = (0..DISCS).map(&mut disc).collect();
        discs[0] = ([0.5, 0.5], 0.15);
        let at = |sample: usize| sample as f64 / (SAMPLES - 1) as f64;
        let weights = (0..SAMPLES).map(|sample| basis(n_points + 2, at(sample))).collect();
        Walk { n_points, discs, weights }
    }

    /// Number of inputs.
    pub fn dim(&self) -> usize {
        2 * self.n_points
    }

    /// The cost of the way points x0, y0, x1, y1, ...
    pub fn cost(&self, x: &[f64]) -> f64 {
        let control = |at: usize, axis: usize| match at {
            0 => ENDS.0,
            at if at > self.n_points => ENDS.1,
            at => x[2 * (at - 1) + axis],
        };
        let place = |(first, weights): &(usize, [f64; 4])| {
            [0, 1].map(|axis| (0..4).map(|k| weights[k] * control(first + k, axis)).sum::<f64>())
        };
        let distance = |a: [f64; 2], b: [f64; 2]| (a[0] - b[0]).hypot(a[1] - b[1]);
        let mut before = [ENDS.0; 2];
        let mut cost = 0.0;
        for weights in &self.weights {
            let here = place(weights);
            let inside = self.discs.iter().any(|(centre, radius)| distance(here, *centre) < *radius);
            cost += distance(before, here) * if inside { 1.0 + INSIDE } else { 1.0 };
            before = here;
        }
        cost
    }
}

/// The four weights of a clamped uniform cubic B-spline with `n` control points at t in [0, 1], by the recursion of Cox and
/// de Boor, and the control point that the first belongs to.
fn basis(n: usize, t: f64) -> (usize, [f64; 4]) {
    let spans = n - 3;
    let span = ((t * spans as f64) as usize).min(spans - 1);
    let knot = |at: usize| at.saturating_sub(3).min(spans) as f64 / spans as f64;
    let first = span + 3;
    let mut weights = [1.0, 0.0, 0.0, 0.0];
    for degree in 1..=3 {
        let mut carried = 0.0;
        for r in 0..degree {
            let (left, right) = (knot(first + 1 + r - degree), knot(first + 1 + r));
            let part = weights[r] / (right - left);
            weights[r] = carried + (right - t) * part;
            carried = (t - left) * part;
        }
        weights[degree] = carried;
    }
    (span, weights)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_add_to_one_and_reach_the_ends() {
        for n in [4, 5, 32] {
            for sample in 0..=50 {
                let (first, weights) = basis(n, f64::from(sample) / 50.0);
                assert!(first + 4 <= n);
                assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{weights:?}");
                assert!(weights.iter().all(|&weight| weight >= -1e-15), "{weights:?}");
            }
            assert_eq!(basis(n, 0.0), (0, [1.0, 0.0, 0.0, 0.0]));
            assert_eq!(basis(n, 1.0).1[3], 1.0);
        }
    }

    #[test]
    fn a_straight_walk_costs_its_length_and_what_is_inside_discs() {
        let (n, seed) = (30, 3);
        // A spline whose control points lie on a line stays on it.
        let straight: Vec<f64> =
            (1..=n).flat_map(|k| [ENDS.0 + (ENDS.1 - ENDS.0) * f64::from(k) / f64::from(n + 1); 2]).collect();
        let mut walk = Walk::new(n as usize, seed);
        let length = (ENDS.1 - ENDS.0) * std::f64::consts::SQRT_2;
        walk.discs.truncate(1);
        // The disc in the middle is 0.3 wide; where the curve enters and leaves it is known to a step of it.
        let expected = length + INSIDE * 0.3;
        assert!((walk.cost(&straight) - expected).abs() < 2.0 * INSIDE * length / 300.0);
        walk.discs.clear();
        assert!((walk.cost(&straight) - length).abs() < 1e-12);
        assert_eq!(walk.dim(), straight.len());
    }
}
