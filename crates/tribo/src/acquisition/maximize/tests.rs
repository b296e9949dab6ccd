//! Maxima known from dense grids, and the promises of a search: box, bits, caps, watch.

use super::super::toy::Toy;
use super::super::{ConfidenceBound, LogExpectedImprovement, PosteriorVariance};
use super::*;
use crate::surrogate::data::Data;
use crate::surrogate::exact::ExactPosterior;
use crate::surrogate::hyper::{Hyperparameters, Mean};
use crate::surrogate::kernel::{Kernel, Shape};
use crate::surrogate::watch::Unwatched;
use std::sync::atomic::{AtomicUsize, Ordering};

const SEED: u64 = 2_024;

/// As many rounds as it takes, for tests of where a search ends.
fn thorough() -> Search {
    Search { rounds: 100, evaluations: 10_000, ..Search::default() }
}

fn none(d: usize) -> Mat<f64> {
    Mat::zeros(0, d)
}

fn search(
    acquisition: &dyn Acquisition,
    posterior: &dyn Posterior,
    low: &[f64],
    high: &[f64],
    search: &Search,
) -> Maximum {
    let mut stream = Stream::new(SEED, "maximise test", 0);
    let best = none(low.len());
    maximise(acquisition, posterior, low, high, best.as_ref(), search, &mut stream, &Unwatched).unwrap()
}

/// The best point of a grid over the box with `n` steps a side, then of the same grid over the cell around it, and so
/// on until a cell is 1e-9 wide. The first grid must be fine enough to see the highest peak.
fn grid_maximum(
    acquisition: &dyn Acquisition,
    posterior: &dyn Posterior,
    low: &[f64],
    high: &[f64],
    n: usize,
) -> (Vec<f64>, f64) {
    let d = low.len();
    let (mut from, mut to) = (low.to_vec(), high.to_vec());
    loop {
        let x = Mat::from_fn((n + 1).pow(d as u32), d, |i, k| {
            let step = i / (n + 1).pow(k as u32) % (n + 1);
            from[k] + (to[k] - from[k]) * step as f64 / n as f64
        });
        let values = acquisition.evaluate(posterior, x.as_ref()).unwrap();
        let top = (0..values.len()).max_by(|&i, &j| values[i].total_cmp(&values[j])).unwrap();
        let best: Vec<f64> = (0..d).map(|k| x[(top, k)]).collect();
        if (0..d).all(|k| to[k] - from[k] < 1e-9) {
            return (best, values[top]);
        }
        for k in 0..d {
            let step = (to[k] - from[k]) / n as f64;
            (from[k], to[k]) = ((best[k] - step).max(low[k]), (best[k] + step).min(high[k]));
        }
    }
}

/// The search ends where the grid does: 1e-6 of a side in place; the value is then right to about 1e-12.
fn assert_finds(
    acquisition: &dyn Acquisition,
    posterior: &dyn Posterior,
    low: &[f64],
    high: &[f64],
    n: usize,
) {
    let (place, value) = grid_maximum(acquisition, posterior, low, high, n);
    let found = search(acquisition, posterior, low, high, &thorough());
    assert!((found.value - value).abs() < 1e-9 * (1.0 + value.abs()), "seed {SEED}: {found:?}, not {value}");
    for k in 0..low.len() {
        let off = (found.x[k] - place[k]).abs() / (high[k] - low[k]);
        assert!(off < 1e-6, "seed {SEED}: {found:?}, not {place:?}");
    }
}

/// Several valleys in the mean, a variance that grows to one side.
fn hilly() -> Toy {
    Toy::new(
        1,
        |x| ((3.0 * x[0]).sin() + 0.1 * x[0], vec![3.0 * (3.0 * x[0]).cos() + 0.1]),
        |x| (0.1 + 0.01 * x[0] * x[0], vec![0.02 * x[0]]),
    )
}

/// An exact process on 12 points of a wavy function in the unit square.
fn process() -> (ExactPosterior, f64) {
    let mut stream = Stream::new(SEED, "process", 0);
    let x = Mat::from_fn(12, 2, |_, _| stream.uniform());
    let y: Vec<f64> = (0..12).map(|i| (7.0 * x[(i, 0)]).sin() + (5.0 * x[(i, 1)]).cos()).collect();
    let kernel = Kernel::new(Shape::Matern52, vec![0.4, 0.6], 1.0, 2).unwrap();
    let hyper = Hyperparameters::new(kernel, 1e-6).unwrap();
    let data = Data::new(x.as_ref(), &y).unwrap();
    let best = y.iter().copied().fold(f64::INFINITY, f64::min);
    (ExactPosterior::new(&data, &hyper, Mean::Estimated).unwrap(), best)
}

/// A quadratic bowl with its lowest point where asked, in any dimension.
fn bowl(d: usize, lowest: f64) -> Toy {
    Toy::new(
        d,
        move |x| {
            (x.iter().map(|x| (x - lowest).powi(2)).sum(), x.iter().map(|x| 2.0 * (x - lowest)).collect())
        },
        move |_| (1.0, vec![0.0; d]),
    )
}

#[test]
fn maxima_are_those_of_a_dense_grid() {
    let toy = hilly();
    assert_finds(&ConfidenceBound { kappa: 1.0 }, &toy, &[-3.0], &[5.0], 10_000);
    assert_finds(&LogExpectedImprovement { best: -1.0 }, &toy, &[-3.0], &[5.0], 10_000);
    // The valley that wins depends on κ; on this one the variance is largest at the end.
    assert_finds(&PosteriorVariance, &toy, &[-3.0], &[5.0], 10_000);
    let (posterior, best) = process();
    let (low, high) = ([0.0, 0.0], [1.0, 1.0]);
    assert_finds(&LogExpectedImprovement { best }, &posterior, &low, &high, 200);
    assert_finds(&ConfidenceBound { kappa: 2.0 }, &posterior, &low, &high, 200);
    assert_finds(&PosteriorVariance, &posterior, &low, &high, 200);
}

#[test]
fn small_values_are_searched_as_well_as_large_ones() {
    // The same surface times 1e-30 and 1e30: tolerances follow the scale of the values.
    for factor in [1e-30, 1.0, 1e30] {
        let toy = Toy::new(
            1,
            move |x| (factor * (x[0] - 0.3).powi(2), vec![2.0 * factor * (x[0] - 0.3)]),
            |_| (0.0, vec![0.0]),
        );
        let found = search(&ConfidenceBound { kappa: 1.0 }, &toy, &[0.0], &[1.0], &Search::default());
        assert!((found.x[0] - 0.3).abs() < 1e-6, "seed {SEED}, factor {factor:e}: {found:?}");
    }
}

/// Values of another acquisition, after a look at where they are asked for.
struct Watched<'a> {
    inner: &'a dyn Acquisition,
    low: &'a [f64],
    high: &'a [f64],
}

impl Watched<'_> {
    fn look(&self, x: MatRef<'_, f64>) {
        for k in 0..x.ncols() {
            let inside = |i: usize| (self.low[k]..=self.high[k]).contains(&x[(i, k)]);
            assert!((0..x.nrows()).all(inside), "seed {SEED}: outside the box in input {k}");
        }
    }
}

impl Acquisition for Watched<'_> {
    fn evaluate(&self, posterior: &dyn Posterior, x: MatRef<'_, f64>) -> Result<Vec<f64>> {
        self.look(x);
        self.inner.evaluate(posterior, x)
    }

    fn evaluate_gradient(
        &self,
        posterior: &dyn Posterior,
        x: MatRef<'_, f64>,
    ) -> Result<(Vec<f64>, Mat<f64>)> {
        self.look(x);
        self.inner.evaluate_gradient(posterior, x)
    }
}

#[test]
fn no_point_is_outside_the_box_and_corners_are_reached() {
    let (low, high) = ([0.1, -1e6, 5.0], [0.3, 1e-3, 5.000_001]);
    let watched = Watched { inner: &ConfidenceBound { kappa: 1.0 }, low: &low, high: &high };
    // Falling with every input, by one over each side: the maximum is a corner, exactly.
    let slopes = [-1.0 / 0.2, -1e-6, -1e6];
    let toy = Toy::new(
        3,
        move |x| ((0..3).map(|k| slopes[k] * (x[k] - [0.1, -1e6, 5.0][k])).sum(), slopes.to_vec()),
        |_| (1.0, vec![0.0; 3]),
    );
    let best = Mat::from_fn(2, 3, |i, k| [0.2, 9.0, 5.0][k] + i as f64);
    let mut stream = Stream::new(SEED, "box", 0);
    let search = Search::default();
    let found =
        maximise(&watched, &toy, &low, &high, best.as_ref(), &search, &mut stream, &Unwatched).unwrap();
    assert_eq!(found.x, high.to_vec(), "seed {SEED}");
    let start = [0.2, -5.0, 5.0];
    let search = CmaesSearch::default();
    maximise_cmaes(&watched, &toy, &low, &high, &start, &search, &mut stream, &Unwatched).unwrap();
}

#[test]
fn the_seed_decides_every_bit() {
    let (posterior, best) = process();
    let acquisition = LogExpectedImprovement { best };
    let run = |seed: u64| {
        let mut stream = Stream::new(seed, "bits", 0);
        let around = Mat::from_fn(1, 2, |_, _| 0.5);
        let (low, high) = ([0.0, 0.0], [1.0, 1.0]);
        let search = Search::default();
        let a = maximise(
            &acquisition,
            &posterior,
            &low,
            &high,
            around.as_ref(),
            &search,
            &mut stream,
            &Unwatched,
        );
        let search = CmaesSearch::default();
        let start = [0.2, 0.9];
        let b =
            maximise_cmaes(&acquisition, &posterior, &low, &high, &start, &search, &mut stream, &Unwatched);
        let bits =
            |m: Maximum| m.x.iter().map(|x| x.to_bits()).chain([m.value.to_bits()]).collect::<Vec<_>>();
        (bits(a.unwrap()), bits(b.unwrap()))
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1).1, run(2).1);
}

/// Passes its deadline, or cancels, when asked for the `after`th time.
struct Limit {
    asked: AtomicUsize,
    after: usize,
    cancel: bool,
}

impl Limit {
    fn new(after: usize, cancel: bool) -> Limit {
        Limit { asked: AtomicUsize::new(0), after, cancel }
    }
}

impl Watch for Limit {
    fn cancelled(&self) -> bool {
        self.cancel && self.asked.fetch_add(1, Ordering::Relaxed) >= self.after
    }

    fn deadline_passed(&self) -> bool {
        !self.cancel && self.asked.fetch_add(1, Ordering::Relaxed) >= self.after
    }
}

#[test]
fn deadlines_keep_the_best_and_cancellation_gives_up() {
    let toy = hilly();
    let acquisition = ConfidenceBound { kappa: 1.0 };
    let run = |watch: &Limit| {
        let mut stream = Stream::new(SEED, "watch", 0);
        let best = none(1);
        maximise(&acquisition, &toy, &[-3.0], &[5.0], best.as_ref(), &thorough(), &mut stream, watch)
    };
    let cmaes = |watch: &Limit| {
        let mut stream = Stream::new(SEED, "watch", 0);
        let search = CmaesSearch::default();
        maximise_cmaes(&acquisition, &toy, &[-3.0], &[5.0], &[0.0], &search, &mut stream, watch)
    };
    // Passed before it began: one batch, or one generation, all the same.
    let first = run(&Limit::new(0, false)).unwrap();
    assert_eq!((first.evaluations, first.rounds), (BATCH, 0));
    assert_eq!(cmaes(&Limit::new(0, false)).unwrap().rounds, 1);
    // Once at the start, after each of two batches, before each of two rounds; the next one is refused.
    let later = run(&Limit::new(5, false)).unwrap();
    assert_eq!(later.rounds, 2);
    assert!(later.value >= first.value);
    for after in [0, 1, 3, 5] {
        assert!(matches!(run(&Limit::new(after, true)), Err(Error::Stopped { .. })), "after {after}");
        assert!(matches!(cmaes(&Limit::new(after, true)), Err(Error::Stopped { .. })), "after {after}");
    }
}

#[test]
fn caps_are_kept() {
    let (posterior, best) = process();
    let acquisition = LogExpectedImprovement { best };
    for (candidates, starts, rounds, evaluations) in
        [(1, 1, 1, 1), (300, 5, 3, 1_000), (300, 5, 100, 310), (300, 5, 100, 200), (10, 0, 9, 99)]
    {
        let options = Search { candidates, starts, rounds, evaluations, ..Search::default() };
        let found = search(&acquisition, &posterior, &[0.0; 2], &[1.0; 2], &options);
        assert!(found.evaluations <= evaluations && found.rounds <= rounds, "{options:?}: {found:?}");
        assert!(starts > 0 || found.rounds == 0);
    }
}

#[test]
fn one_input_and_fifty() {
    for d in [1, 50] {
        let toy = bowl(d, 0.37);
        let (low, high) = (vec![-1.0; d], vec![2.0; d]);
        let found = search(&ConfidenceBound { kappa: 1.0 }, &toy, &low, &high, &Search::default());
        assert!(found.x.iter().all(|x| (x - 0.37).abs() < 1e-5), "seed {SEED}: {found:?}");
    }
}

#[test]
fn flat_and_worthless_surfaces_give_a_point() {
    let flat = Toy::new(3, |_| (1.0, vec![0.0; 3]), |_| (0.25, vec![0.0; 3]));
    let found = search(&ConfidenceBound { kappa: 2.0 }, &flat, &[0.0; 3], &[1.0; 3], &Search::default());
    assert_eq!((found.value, found.rounds), (0.0, 1));
    // Known everywhere and nowhere better: minus infinity. So is NaN.
    for mean in [1.0, f64::NAN] {
        let worthless = Toy::new(3, move |_| (mean, vec![0.0; 3]), |_| (0.0, vec![0.0; 3]));
        let acquisition = LogExpectedImprovement { best: 0.0 };
        let found = search(&acquisition, &worthless, &[0.0; 3], &[1.0; 3], &Search::default());
        assert_eq!((found.value, found.rounds, found.x.len()), (f64::NEG_INFINITY, 0, 3));
        let mut stream = Stream::new(SEED, "worthless", 0);
        let (low, high, start) = ([0.0; 3], [1.0; 3], [0.5; 3]);
        let options = CmaesSearch::default();
        let found =
            maximise_cmaes(&acquisition, &worthless, &low, &high, &start, &options, &mut stream, &Unwatched);
        assert_eq!(found.unwrap().value, f64::NEG_INFINITY);
    }
    // Worth something in one corner only, rising towards its edge at 0.8.
    let corner = Toy::new(
        2,
        |x| (x[1], vec![0.0, 1.0]),
        |x| if x[0] > 0.8 { (1.0 + 0.8 - x[0], vec![-1.0, 0.0]) } else { (0.0, vec![0.0, 0.0]) },
    );
    let acquisition = LogExpectedImprovement { best: -1.0 };
    let found = search(&acquisition, &corner, &[0.0; 2], &[1.0; 2], &thorough());
    let supremum = acquisition.evaluate(&corner, Mat::from_fn(1, 2, |_, k| [0.8 + 1e-12, 0.0][k]).as_ref());
    assert!(found.x[1] == 0.0 && found.x[0] > 0.8, "seed {SEED}: {found:?}");
    // Every step over the edge is refused and the next is much shorter: the search comes close to it.
    assert!(found.value > supremum.unwrap()[0] - 1e-2, "seed {SEED}: {found:?}");
}

#[test]
fn cmaes_finds_the_maximum_within_its_cap() {
    let (posterior, _) = process();
    let acquisition = ConfidenceBound { kappa: 2.0 };
    let (low, high) = ([0.0; 2], [1.0; 2]);
    let (_, value) = grid_maximum(&acquisition, &posterior, &low, &high, 200);
    // The best of three starts: one may end on a lower peak.
    let found = (0..3).map(|id| {
        let mut stream = Stream::new(SEED, "cmaes test", id);
        let start = [stream.uniform(), stream.uniform()];
        let options = CmaesSearch::default();
        maximise_cmaes(&acquisition, &posterior, &low, &high, &start, &options, &mut stream, &Unwatched)
            .unwrap()
    });
    let top =
        found.inspect(|m| assert!(m.evaluations <= 500)).map(|m| m.value).fold(f64::NEG_INFINITY, f64::max);
    assert!((top - value).abs() < 1e-6, "seed {SEED}: {top}, not {value}");
}

#[test]
fn bad_searches_are_refused() {
    let (posterior, best) = process();
    let acquisition = LogExpectedImprovement { best };
    let run = |low: &[f64], high: &[f64], best: MatRef<'_, f64>, search: &Search| {
        let mut stream = Stream::new(SEED, "bad", 0);
        maximise(&acquisition, &posterior, low, high, best, search, &mut stream, &Unwatched).map(|_| ())
    };
    let (low, high, fine) = ([0.0; 2], [1.0; 2], Search::default());
    let nothing = none(2);
    assert_eq!(run(&low, &high, nothing.as_ref(), &fine), Ok(()));
    assert!(matches!(run(&[], &[], nothing.as_ref(), &fine), Err(Error::Empty { .. })));
    assert!(matches!(run(&low, &[1.0], nothing.as_ref(), &fine), Err(Error::Size { .. })));
    assert!(matches!(run(&low, &[1.0, 0.0], nothing.as_ref(), &fine), Err(Error::EmptyBox { index: 1, .. })));
    assert!(matches!(run(&low, &[1.0, f64::NAN], nothing.as_ref(), &fine), Err(Error::NotFinite { .. })));
    assert!(matches!(run(&low, &high, none(3).as_ref(), &fine), Err(Error::Size { found: 3, .. })));
    assert!(matches!(run(&[0.0], &[1.0], none(1).as_ref(), &fine), Err(Error::Size { expected: 2, .. })));
    let infinite = Mat::full(1, 2, f64::INFINITY);
    assert!(matches!(run(&low, &high, infinite.as_ref(), &fine), Err(Error::NotFinite { .. })));
    for spread in [0.0, 1.1, f64::NAN] {
        let bad = Search { spread, ..Search::default() };
        assert!(matches!(run(&low, &high, nothing.as_ref(), &bad), Err(Error::OutOfRange { .. })));
    }
    let empty = Search { candidates: 0, ..Search::default() };
    assert!(matches!(run(&low, &high, nothing.as_ref(), &empty), Err(Error::Empty { .. })));
}

#[test]
fn the_best_point_inside_constraints_is_found_at_their_border() {
    use crate::space::{Parameter, Space};

    // The lowest mean is at (0.9, 0.8); its foot on x + y = 1 is (0.55, 0.45), and on the circle of radius ½ it is in its direction.
    let bowl = Toy::new(
        2,
        |x| {
            let (a, b) = (x[0] - 0.9, x[1] - 0.8);
            (a * a + b * b, vec![2.0 * a, 2.0 * b])
        },
        |_| (1.0, vec![0.0; 2]),
    );
    let far = 0.9_f64.hypot(0.8);
    let sides = Space::new(vec![Parameter::float("x", 0.0, 1.0), Parameter::float("y", 0.0, 1.0)]).unwrap();
    for (constraint, foot) in [("x + y <= 1", [0.55, 0.45]), ("x^2 + y^2 <= 0.25", [0.45 / far, 0.4 / far])] {
        let region = sides.clone().constrained(&[constraint]).unwrap().region().unwrap();
        for half in [1.0, 1e-2, 1e-4] {
            // A box around the foot, a little off.
            let low: Vec<f64> = foot.iter().map(|x| (x - 1.1 * half).max(0.0)).collect();
            let high: Vec<f64> = foot.iter().map(|x| (x + 0.8 * half).min(1.0)).collect();
            let mut stream = Stream::new(SEED, "inside", 0);
            let best = none(2);
            let found = maximise_inside(
                &region,
                &ConfidenceBound { kappa: 0.0 },
                &bowl,
                &low,
                &high,
                best.as_ref(),
                &Search::default(),
                &mut stream,
                &Unwatched,
            )
            .unwrap();
            assert!(region.admits(&found.x), "{constraint}, {half}");
            let off = (0..2).map(|k| (found.x[k] - foot[k]).abs()).fold(0.0, f64::max);
            // Along the border the value is flat: half the root of what a decrease is worth in the scale of a small box, 1e-9 of 2e-4.
            assert!(off < 1e-5 * half.max(2.2e-2), "{constraint}, {half}: {off:e}");
            // On the border itself nearly all digits.
            let beyond = region.distances(&found.x).unwrap()[0].0;
            assert!((-1e-9..=0.0).contains(&beyond), "{constraint}, {half}: {beyond:e}");
        }
    }
}
