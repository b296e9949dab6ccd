//! The diagonal of the covariance alone, `[@ros2008]`: d numbers to learn instead of d(d + 1)/2, so they are learned
//! (d + 2)/3 times as fast, and neither a decomposition nor a matrix is needed.
//!
//! The steps of an input at its wall shrink as fast, so a corner is approached to rounding, not always hit.

use super::{Lesson, SMALLEST_EIGENVALUE};
use crate::rng::Stream;

/// What the learning rates of C are multiplied by, `[@ros2008, section 3]`: 1 for one input, where diagonal and whole are
/// the same.
pub(super) fn haste(d: usize) -> f64 {
    (d as f64 + 2.0) / 3.0
}

#[derive(Debug, Clone)]
pub(super) struct Separable {
    variance: Vec<f64>,
}

impl Separable {
    /// The identity in d dimensions.
    pub(super) fn new(d: usize) -> Separable {
        Separable { variance: vec![1.0; d] }
    }

    pub(super) fn draw(&self, sigma: f64, stream: &mut Stream, out: &mut [f64]) {
        for (step, variance) in out.iter_mut().zip(&self.variance) {
            *step = sigma * variance.sqrt() * stream.normal();
        }
    }

    pub(super) fn whitened(&self, y: &[f64]) -> Vec<f64> {
        y.iter().zip(&self.variance).map(|(y, variance)| y / variance.sqrt()).collect()
    }

    pub(super) fn learn(&mut self, lesson: &Lesson<'_>) {
        for (j, variance) in self.variance.iter_mut().enumerate() {
            *variance = lesson.entry(*variance, j, j);
        }
        let largest = self.variance.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        // An input pressed against its wall has steps of zero for ever and would be divided by nothing.
        self.variance.iter_mut().for_each(|v| *v = v.max(SMALLEST_EIGENVALUE * largest));
    }

    pub(super) fn variance(&self, j: usize) -> f64 {
        self.variance[j]
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Cmaes, CmaesOptions};
    use crate::opt::Status;
    use crate::rng::Stream;

    type New = fn(&[f64], f64, &[f64], &[f64], CmaesOptions, Stream) -> crate::Result<Cmaes>;

    fn begin(new: New, seed: u64, start: &[f64], max_evaluations: usize) -> Cmaes {
        let (low, high) = (vec![-5.0; start.len()], vec![5.0; start.len()]);
        let options = CmaesOptions { population: None, max_evaluations };
        new(start, 0.3, &low, &high, options, Stream::new(seed, "separable test", 0)).unwrap()
    }

    /// Evaluations until the value is below `target`; the cap if it never is.
    fn cost(mut run: Cmaes, f: impl Fn(&[f64]) -> f64, target: f64) -> usize {
        while run.best().1 > target {
            let values: Vec<f64> = run.ask().iter().map(|x| f(x)).collect();
            if run.tell(&values) != Status::Continue {
                break;
            }
        }
        if run.best().1 <= target { run.evaluations() } else { run.options.max_evaluations }
    }

    fn sphere(x: &[f64]) -> f64 {
        x.iter().map(|v| (v - 0.5).powi(2)).sum()
    }

    /// Axes whose curvatures differ by up to a million.
    fn ellipsoid(x: &[f64]) -> f64 {
        let d = x.len() as f64 - 1.0;
        x.iter().enumerate().map(|(i, v)| 10_f64.powf(6.0 * i as f64 / d) * (v - 0.3).powi(2)).sum()
    }

    #[test]
    fn with_one_input_diagonal_and_whole_are_the_same() {
        let f = |x: &[f64]| (x[0] - 1.7).abs();
        let mut runs = [begin(Cmaes::new, 3, &[-4.0], 1000), begin(Cmaes::separable, 3, &[-4.0], 1000)];
        for generation in 0..20 {
            for i in 0..runs[0].ask().len() {
                let (a, b) = (runs[0].ask()[i][0], runs[1].ask()[i][0]);
                // Rounding only; each generation may multiply it by a few.
                assert!((a - b).abs() < 1e-9, "generation {generation}: {a} and {b}");
            }
            for run in &mut runs {
                run.tell(&run.ask().iter().map(|x| f(x)).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn known_minima_are_found_and_axes_are_learned_sooner() {
        // As many evaluations as the whole C needs for the sphere, within a half; for the ellipsoid of 20 inputs at most
        // half as many, [@ros2008, figure 2] shows a third.
        for seed in 0..3 {
            let cost_of =
                |new, f: fn(&[f64]) -> f64, d: usize| cost(begin(new, seed, &vec![-3.0; d], 60_000), f, 1e-9);
            let (whole, diagonal) = (cost_of(Cmaes::new, sphere, 10), cost_of(Cmaes::separable, sphere, 10));
            assert!(diagonal < whole * 3 / 2, "sphere, seed {seed}: {diagonal}, whole {whole}");
            let (whole, diagonal) =
                (cost_of(Cmaes::new, ellipsoid, 20), cost_of(Cmaes::separable, ellipsoid, 20));
            assert!(2 * diagonal < whole, "ellipsoid, seed {seed}: {diagonal}, whole {whole}");
        }
    }

    #[test]
    fn many_inputs_go_down_a_slope() {
        // 10,000 inputs: the sphere must fall by a tenth in 2,000 evaluations, a crawl and yet far beyond chance, which
        // stays where it was to 3 parts in a hundred.
        let mut run = begin(Cmaes::separable, 1, &vec![-3.0; 10_000], 2000);
        let first = sphere(&run.ask()[0]);
        while run.tell(&run.ask().iter().map(|x| sphere(x)).collect::<Vec<_>>()) == Status::Continue {}
        assert!(run.best().1 < 0.9 * first, "{} after {first}", run.best().1);
        // A million: two generations, every point in the box.
        let mut run = begin(Cmaes::separable, 1, &vec![4.9; 1_000_000], 100);
        let values: Vec<f64> = run.ask().iter().map(|x| sphere(x)).collect();
        run.tell(&values);
        assert!(run.ask().iter().all(|x| x.iter().all(|v| (-5.0..=5.0).contains(v))));
    }

    #[test]
    fn a_corner_is_found_and_the_seed_decides() {
        let f = |x: &[f64]| x.iter().enumerate().map(|(j, v)| (j + 1) as f64 * (v - 7.0).powi(2)).sum();
        let end = |seed| {
            let mut run = begin(Cmaes::separable, seed, &[0.5; 8], 4000);
            while run.tell(&run.ask().iter().map(|x| f(x)).collect::<Vec<_>>()) == Status::Continue {}
            (run.best().0.to_vec(), run.evaluations())
        };
        for seed in 0..3 {
            let corner = end(seed).0;
            assert!(corner.iter().all(|x| 5.0 - x < 1e-9), "seed {seed}: {corner:?}");
        }
        assert_eq!(end(4), end(4));
    }

    #[test]
    fn a_generation_can_be_extended() {
        let mut run = begin(Cmaes::separable, 5, &[1.0; 6], 1000);
        let (first, n) = (run.ask().to_vec(), run.ask().len());
        let further = run.extend().to_vec();
        assert_eq!(run.ask()[..n], first);
        assert_eq!(run.ask()[n], further);
        // The first was not evaluated; the further one, being far better, counts.
        let mut values = vec![1.0; n + 1];
        (values[0], values[n]) = (f64::INFINITY, -1.0);
        assert_eq!(run.tell(&values), Status::Continue);
        assert_eq!(run.best(), (&further[..], -1.0));
        assert_eq!(run.ask().len(), n, "the next generation has the usual size");
    }
}
