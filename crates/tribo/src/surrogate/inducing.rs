//! Choosing inducing points: a Latin hypercube, a random subset of the data, greedy conditional variance, or
//! points that are given.
//!
//! The greedy rule takes, one after the other, the data point whose variance the points taken so far explain
//! least: a partial Cholesky factorisation of Kff with pivoting, which also bounds tr(Kff - Qff), the price of the
//! variational bound `[@burt2020]`. It looks at a random subset of the data, O(c m²) for c candidates, and ends
//! early when nothing is left to explain: duplicate points are never taken.
//!
//! Random pivots are the same factorisation, each pivot drawn with the probability of its variance `[@chen2025]`. The
//! greedy rule goes to the edge of the data first and stays there for long where there are many inputs; drawn points go where
//! the variance is that is left, which is mostly where the data are. Rows at the ends of each input are always looked at.
//!
//! There are never more inducing points than data, unless the caller gives them.

mod random_pivots;

use super::data::check_points;
use super::extremes::Extremes;
use super::kernel::{Kernel, Scaled};
use super::watch::{Watch, go_on};
use crate::design::latin_hypercube;
use crate::error::{Error, Result};
use crate::linalg::reduce::add_scaled;
use crate::rng::Stream;
use faer::{Mat, MatRef};

/// Candidates that the greedy rule looks at: beyond a few thousand, more change the choice hardly at all, and
/// the factor of candidates x m stays below 12 MB at m = 300.
const CANDIDATES: usize = 5_000;
/// Rows that random pivots are drawn from, beside those at the ends of each input.
const SAMPLE: usize = 50_000;
/// The greedy rule ends when the largest conditional variance falls below this part of the signal variance, a
/// little above the jitter that Kuu gets anyway.
const EXPLAINED: f64 = 1e-9;

/// How inducing points are chosen.
#[derive(Debug, Clone, PartialEq)]
pub enum Inducing {
    /// A Latin hypercube in a box (the paper).
    LatinHypercube {
        /// Lower corner.
        low: Vec<f64>,
        /// Upper corner.
        high: Vec<f64>,
    },
    /// A random subset of the data.
    Subset,
    /// The data points with the greatest conditional variance under the kernel.
    Greedy,
    /// Data points drawn by their conditional variance under the kernel.
    RandomPivots,
    /// Given outright, [m, d]: all of them, whatever the number asked for.
    Given(Mat<f64>),
}

/// At most `m` inducing points for the data points `x`, and never more than there are: [<= min(m, n), d]. Points that are
/// given stay as they are.
pub fn choose(
    how: &Inducing,
    x: MatRef<'_, f64>,
    m: usize,
    kernel: &Kernel,
    stream: &mut Stream,
    watch: &dyn Watch,
) -> Result<Mat<f64>> {
    check_points("X", x)?;
    let rows = |rows: &[usize]| Ok(Mat::from_fn(rows.len(), x.ncols(), |i, k| x[(rows[i], k)]));
    let extremes = || {
        let mut extremes = Extremes::new(x.ncols());
        extremes.see(0, x);
        extremes.rows()
    };
    choose_from(how, (x.nrows(), x.ncols()), rows, extremes, m, kernel, stream, watch)
}

/// As [`choose`], for `n` points of dimension `d` of which `points` gives those in the rows asked for, and `extremes` the rows at
/// the ends of each input.
#[expect(
    clippy::too_many_arguments,
    reason = "each is one thing, and a struct of them would have no other use"
)]
pub(super) fn choose_from(
    how: &Inducing,
    (n, d): (usize, usize),
    points: impl FnOnce(&[usize]) -> Result<Mat<f64>>,
    extremes: impl FnOnce() -> Vec<usize>,
    m: usize,
    kernel: &Kernel,
    stream: &mut Stream,
    watch: &dyn Watch,
) -> Result<Mat<f64>> {
    kernel.check(d)?;
    if m == 0 {
        return Err(Error::OutOfRange {
            what: "number of inducing points",
            value: 0.0,
            low: 1.0,
            high: n as f64,
        });
    }
    let m = m.min(n);
    match how {
        Inducing::LatinHypercube { low, high } => {
            if low.len() != d {
                return Err(Error::Size { what: "sides of the inducing box", expected: d, found: low.len() });
            }
            latin_hypercube(m, low, high, stream)
        }
        Inducing::Given(points) => {
            check_points("inducing points", points.as_ref())?;
            if points.ncols() != d {
                return Err(Error::Size {
                    what: "columns of the inducing points (columns of X)",
                    expected: d,
                    found: points.ncols(),
                });
            }
            Ok(points.clone())
        }
        Inducing::Subset => points(&stream.choose(n, m)),
        Inducing::Greedy => {
            let candidates = points(&stream.choose(n, CANDIDATES.max(m)))?;
            let taken = pivots(candidates.as_ref(), m, kernel, Next::Largest, watch)?;
            Ok(Mat::from_fn(taken.len(), d, |i, k| candidates[(taken[i], k)]))
        }
        Inducing::RandomPivots => {
            let mut rows = stream.choose(n, SAMPLE.max(m));
            rows.extend(extremes());
            rows.sort_unstable();
            rows.dedup();
            random_pivots::choose(points(&rows)?.as_ref(), m, kernel, stream, watch)
        }
    }
}

/// Which candidate is the next pivot.
enum Next<'a> {
    /// The one of the largest conditional variance.
    Largest,
    /// The first so many, then up to so many drawn by the product of variance and weight, then the largest.
    Drawn { stream: &'a mut Stream, n_first: usize, n_drawn: usize, weights: &'a [f64] },
}

/// Rows of `x` in the order of the pivoted factorisation, at most `m`.
fn pivots(
    x: MatRef<'_, f64>,
    m: usize,
    kernel: &Kernel,
    mut next: Next<'_>,
    watch: &dyn Watch,
) -> Result<Vec<usize>> {
    let n = x.nrows();
    let origin: Vec<f64> = (0..x.ncols()).map(|k| x[(0, k)]).collect();
    let points = Scaled::new(kernel, x, &origin);
    let mut conditional = kernel.diagonal(&points);
    // Columns of the partial factor, [n, taken].
    let mut factor = Mat::<f64>::zeros(n, m);
    let mut taken = Vec::with_capacity(m);
    while taken.len() < m {
        go_on(watch, "the choice of inducing points")?;
        let mut pivot = 0;
        for i in 1..n {
            if conditional[i] > conditional[pivot] {
                pivot = i;
            }
        }
        let is_explained = |variance: f64| variance <= EXPLAINED * kernel.signal_var;
        if is_explained(conditional[pivot]) && !taken.is_empty() {
            break;
        }
        let column = taken.len();
        if let Next::Drawn { stream, n_first, n_drawn, weights } = &mut next
            && column < *n_drawn
        {
            let choice = if column < *n_first { column } else { drawn(&conditional, weights, stream) };
            // Where next to nothing is left to explain, dividing by its root would only amplify rounding.
            pivot = Some(choice).filter(|&i| !is_explained(conditional[i])).unwrap_or(pivot);
        }
        let mut values = kernel.matrix(&points, &points.subset(pivot..pivot + 1)).col_as_slice(0).to_vec();
        for j in 0..column {
            add_scaled(-factor[(pivot, j)], factor.col_as_slice(j), &mut values);
        }
        let scale = 1.0 / conditional[pivot].sqrt();
        for (i, value) in values.iter_mut().enumerate() {
            *value *= scale;
            conditional[i] = (conditional[i] - *value * *value).max(0.0);
        }
        conditional[pivot] = 0.0;
        factor.col_as_slice_mut(column).copy_from_slice(&values);
        taken.push(pivot);
    }
    Ok(taken)
}

/// A place, with the probability of the product of both.
fn drawn(variances: &[f64], weights: &[f64], stream: &mut Stream) -> usize {
    let products = || variances.iter().zip(weights).map(|(variance, weight)| variance * weight);
    let mut left = stream.uniform() * products().sum::<f64>();
    let place = products().position(|product| {
        left -= product;
        left < 0.0
    });
    // Rounding may leave a little at the end.
    place.unwrap_or(weights.len() - 1)
}

#[cfg(test)]
mod tests {
    use super::super::kernel::Shape;
    use super::super::watch::Unwatched;
    use super::*;

    const SEED: u64 = 88;

    fn points(n: usize) -> Mat<f64> {
        let mut stream = Stream::new(SEED, "inducing tests", 0);
        Mat::from_fn(n, 2, |_, _| stream.uniform())
    }

    fn kernel() -> Kernel {
        Kernel::new(Shape::Matern52, vec![0.4], 2.0, 2).unwrap()
    }

    #[test]
    fn never_more_than_there_are_data() {
        let x = points(6);
        let square = Inducing::LatinHypercube { low: vec![0.0; 2], high: vec![1.0; 2] };
        for how in [square, Inducing::Subset, Inducing::Greedy, Inducing::RandomPivots] {
            for (m, expected) in [(1, 1), (4, 4), (6, 6), (50, 6)] {
                let z =
                    choose(&how, x.as_ref(), m, &kernel(), &mut Stream::new(SEED, "choose", 0), &Unwatched)
                        .unwrap();
                assert_eq!((z.nrows(), z.ncols()), (expected, 2), "{how:?}");
            }
            assert!(
                choose(&how, x.as_ref(), 0, &kernel(), &mut Stream::new(SEED, "choose", 0), &Unwatched)
                    .is_err()
            );
        }
    }

    #[test]
    fn bad_boxes_are_refused() {
        let x = points(6);
        let choose = |low: &[f64], high: &[f64]| {
            let how = Inducing::LatinHypercube { low: low.to_vec(), high: high.to_vec() };
            choose(&how, x.as_ref(), 3, &kernel(), &mut Stream::new(SEED, "choose", 0), &Unwatched)
        };
        assert!(matches!(choose(&[0.0, 1.0], &[1.0, 1.0]), Err(Error::EmptyBox { index: 1, .. })));
        assert!(matches!(choose(&[0.0], &[1.0]), Err(Error::Size { expected: 2, found: 1, .. })));
    }

    #[test]
    fn given_points_stay_as_they_are() {
        let (x, z) = (points(3), points(5));
        let choose = |z: Mat<f64>, m| {
            choose(
                &Inducing::Given(z),
                x.as_ref(),
                m,
                &kernel(),
                &mut Stream::new(SEED, "choose", 0),
                &Unwatched,
            )
        };
        assert_eq!(choose(z.clone(), 2).unwrap(), z);
        assert!(matches!(choose(Mat::zeros(0, 2), 2), Err(Error::Empty { what: "inducing points" })));
        assert!(matches!(choose(Mat::zeros(4, 1), 2), Err(Error::Size { expected: 2, found: 1, .. })));
    }

    #[test]
    fn greedy_takes_no_duplicate_and_spreads() {
        let base = points(10);
        let x = Mat::from_fn(40, 2, |i, k| base[(i % 10, k)]);
        let z = choose(
            &Inducing::Greedy,
            x.as_ref(),
            25,
            &kernel(),
            &mut Stream::new(SEED, "choose", 0),
            &Unwatched,
        )
        .unwrap();
        assert_eq!(z.nrows(), 10, "seed {SEED}: ten different points, ten inducing points");
    }

    #[test]
    fn greedy_explains_more_than_a_random_subset() {
        let x = points(400);
        let kernel = kernel();
        let unexplained = |z: &Mat<f64>| {
            use crate::linalg::cholesky::{Factor, JITTER_ALWAYS};
            let origin = [0.0, 0.0];
            let (z, x) =
                (Scaled::new(&kernel, z.as_ref(), &origin), Scaled::new(&kernel, x.as_ref(), &origin));
            let factor = Factor::new("Kuu", kernel.matrix(&z, &z).as_ref(), JITTER_ALWAYS).unwrap();
            let mut k = kernel.matrix(&x, &z);
            crate::linalg::product::whiten_rows(factor.l(), k.as_mut());
            400.0 * kernel.signal_var - k.squared_norm_l2()
        };
        let run = |how: &Inducing, id| {
            unexplained(
                &choose(how, x.as_ref(), 20, &kernel, &mut Stream::new(SEED, "choose", id), &Unwatched)
                    .unwrap(),
            )
        };
        let greedy = run(&Inducing::Greedy, 0);
        for id in 0..5 {
            assert!(greedy < run(&Inducing::Subset, id), "seed {SEED}");
            assert!(run(&Inducing::RandomPivots, id) < run(&Inducing::Subset, id), "seed {SEED}");
        }
    }

    #[test]
    fn an_outlier_is_among_the_candidates_of_random_pivots() {
        let mut x = points(60_000);
        x[(777, 1)] = 9.0;
        let chosen = |how: &Inducing| {
            let mut stream = Stream::new(SEED, "choose", 0);
            let z = choose(how, x.as_ref(), 150, &kernel(), &mut stream, &Unwatched).unwrap();
            (0..z.nrows()).any(|i| z[(i, 1)] == 9.0)
        };
        // With nothing near, its variance stays whole until it is drawn.
        assert!(chosen(&Inducing::RandomPivots) && !chosen(&Inducing::Greedy), "seed {SEED}");
    }

    #[test]
    fn draws_follow_their_weights() {
        let mut stream = Stream::new(SEED, "drawn", 0);
        let mut counts = [0; 4];
        (0..10_000)
            .for_each(|_| counts[drawn(&[2.0, 0.0, 1.0, 5.0], &[0.5, 1.0, 3.0, 0.0], &mut stream)] += 1);
        // A quarter of 10,000, with a standard deviation of 43.
        assert!(counts[1] + counts[3] == 0 && (counts[0] - 2_500_i32).abs() < 215, "seed {SEED}: {counts:?}");
    }
}
