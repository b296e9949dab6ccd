//! Minimising along one direction by successive parabolas.
//!
//! All inputs move alike by t. The slope at t = 0 is known from screening. While the lowest point has no neighbour on one
//! side the search steps outwards, then it goes to the vertex of the parabola through the lowest point and its
//! neighbours.

use crate::strategy::auto::tuning;

/// A search along a line.
pub(in crate::strategy::auto) struct Parabolas {
    /// (t, value), in increasing order of t.
    points: Vec<(f64, f64)>,
    slope: f64,
    left: usize,
    /// Differences of values that do not matter are smaller than this.
    scale: f64,
}

impl Parabolas {
    /// A search with these points known, one of them at t = 0.
    pub(super) fn new(points: Vec<(f64, f64)>, slope: f64, scale: f64) -> Parabolas {
        let mut line = Parabolas { points: vec![], slope, left: tuning::LINE_STEPS, scale };
        points.into_iter().for_each(|(t, value)| line.insert(t, value));
        line
    }

    fn insert(&mut self, t: f64, value: f64) {
        let at = self.points.partition_point(|&(other, _)| other < t);
        self.points.insert(at, (t, value));
    }

    /// Takes the value at t.
    pub(super) fn told(&mut self, t: f64, value: f64) {
        self.insert(t, value);
    }

    /// Where to look next; None when the search is over.
    pub(super) fn next(&mut self) -> Option<f64> {
        self.left = self.left.checked_sub(1)?;
        let (t, y): (Vec<f64>, Vec<f64>) = self.points.iter().copied().unzip();
        let n = t.len();
        let i = (0..n).fold(0, |best, i| if y[i] < y[best] { i } else { best });
        if 0 < i && i < n - 1 {
            return self.bracketed(&t, &y, i);
        }
        if n == 1 {
            return Some(-self.slope.signum() * tuning::LINE_FIRST_STEP);
        }
        if n >= 3 {
            // Next to an end the lowest point can be the end itself.
            let (from, inner) = if i == 0 { (0, 1) } else { (n - 3, n - 2) };
            let next = vertex(&t[from..from + 3], &y[from..from + 3]);
            if (next - t[i]) * (next - t[inner]) < 0.0 {
                return Some(next);
            }
        }
        let downhill = if self.slope > 0.0 { 0 } else { n - 1 };
        if i == downhill && n < tuning::LINE_GROWING_UNTIL {
            // Still falling.
            let next = (tuning::LINE_GROWTH * t[i]).clamp(-1.0, 1.0);
            return (next != t[i]).then_some(next);
        }
        if n == 2 {
            // The first step was too long: value, slope and value make a parabola.
            let o = 1 - i;
            let curvature = y[o] - y[i] - self.slope * t[o];
            let vertex =
                if curvature > 0.0 { -self.slope * t[o] / (2.0 * curvature) } else { tuning::LINE_BACK };
            let (least, most) = tuning::LINE_BACK_WITHIN;
            return Some(vertex.clamp(least, most) * t[o]);
        }
        self.beyond(&t, &y, i)
    }

    /// The lowest point is an end that should have been uphill: the slope was that of a step across the valley. The parabola
    /// says how far beyond the end its bottom is.
    fn beyond(&self, t: &[f64], y: &[f64], i: usize) -> Option<f64> {
        let (from, inner) = if i == 0 { (0, 1) } else { (t.len() - 3, t.len() - 2) };
        let gap = t[i] - t[inner];
        let part = (vertex(&t[from..from + 3], &y[from..from + 3]) - t[i]) / gap;
        let next = (t[i] + part.min(tuning::LINE_BEYOND) * gap).clamp(-1.0, 1.0);
        (part > tuning::LINE_BEYOND_FROM && gap.abs() > tuning::LINE_NARROW && next != t[i]).then_some(next)
    }

    fn bracketed(&self, t: &[f64], y: &[f64], i: usize) -> Option<f64> {
        let gap = t[i + 1] - t[i - 1];
        let mut sorted = y.to_vec();
        sorted.sort_by(f64::total_cmp);
        let size = sorted[0].abs().max(tuning::LINE_FLAT_AT_ZERO * self.scale);
        if gap < tuning::LINE_NARROW || sorted[2] - sorted[0] < tuning::LINE_FLAT * size {
            return None;
        }
        let next = vertex(&t[i - 1..=i + 1], &y[i - 1..=i + 1]);
        if (next - t[i]).abs() >= tuning::LINE_CLOSE * gap {
            return Some(next);
        }
        // Too close to the lowest point to tell: step to the longer side, to shrink the bracket.
        let (side, reach) =
            if t[i + 1] - t[i] > t[i] - t[i - 1] { (1.0, t[i + 1] - t[i]) } else { (-1.0, t[i] - t[i - 1]) };
        let (far, narrow) = tuning::LINE_SHRINK_BY;
        Some(t[i] + side * (tuning::LINE_SHRINK * reach).min(far * (next - t[i]).abs() + narrow * gap))
    }
}

/// Vertex of the parabola through three points.
fn vertex(t: &[f64], y: &[f64]) -> f64 {
    let (a, b) = ((y[1] - y[0]) / (t[1] - t[0]), (y[2] - y[1]) / (t[2] - t[1]));
    0.5 * (t[0] + t[1]) - 0.5 * a * (t[2] - t[0]) / (b - a)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parabolas_are_solved_at_once_and_others_soon() {
        // Name, function, where it is lowest, steps at most: nine with the polish at the bottom of a parabola.
        type Case = (&'static str, fn(f64) -> f64, f64, usize);
        let cases: [Case; 3] = [
            ("parabola", |t| (t - 0.2_f64).powi(2), 0.2, 9),
            ("far parabola", |t| (t + 0.9_f64).powi(2) + 3.0, -0.9, 9),
            ("quartic", |t| (t - 0.31_f64).powi(4) + (t - 0.31_f64).powi(2), 0.31, 12),
        ];
        for (name, f, at, most) in cases {
            let slope = (f(1e-6) - f(0.0)) / 1e-6;
            let mut line = Parabolas::new(vec![(0.0, f(0.0))], slope, 1.0);
            let mut steps = 0;
            while let Some(t) = line.next() {
                line.told(t, f(t));
                steps += 1;
            }
            let best = line.points.iter().min_by(|a, b| a.1.total_cmp(&b.1)).unwrap();
            assert!((best.0 - at).abs() < 1e-4, "{name}: {best:?} after {steps}");
            assert!(steps <= most, "{name}: {steps} steps");
        }
    }

    #[test]
    fn a_slope_across_the_valley_does_not_mislead() {
        // Lowest just above zero, while the slope of a long step says that it falls below.
        let f = |t: f64| 1.0 + 3e10 * (t - 2e-6).powi(2);
        let mut line = Parabolas::new(vec![(0.0, f(0.0))], 1.0, 1e5);
        while let Some(t) = line.next() {
            line.told(t, f(t));
        }
        let best = line.points.iter().min_by(|a, b| a.1.total_cmp(&b.1)).unwrap();
        assert!(best.1 < 1.0 + 1e-6, "{best:?}");
    }
}
