use super::*;
use crate::rng::Stream;
use crate::surrogate::data::Data;
use crate::surrogate::watch::Unwatched;
use faer::Mat;

/// Uniform columns.
fn uniform(n: usize, d: usize, seed: u64) -> Mat<f64> {
    let mut stream = Stream::new(seed, "columns", 0);
    Mat::from_fn(n, d, |_, _| stream.uniform())
}

fn values(x: &Mat<f64>, f: impl Fn(&dyn Fn(usize) -> f64) -> f64) -> Vec<f64> {
    (0..x.nrows()).map(|i| f(&|k| x[(i, k)])).collect()
}

fn named(x: &Mat<f64>, y: &[f64]) -> Vec<usize> {
    let data = Data::new(x.as_ref(), y).unwrap();
    let mut columns: Vec<usize> =
        screen(&data, 0.01, &Unwatched).unwrap().named.iter().map(|one| one.column).collect();
    columns.sort_unstable();
    columns
}

/// T of every column, as the screen computes it.
fn statistics(x: &Mat<f64>, y: &[f64]) -> Vec<(f64, usize)> {
    let data = Data::new(x.as_ref(), y).unwrap();
    let sample = Sample::read(&data, &Unwatched).unwrap();
    let totals = pass(&data, &sample, &Unwatched).unwrap();
    let whiten = Whitening::of(&totals);
    (0..x.ncols()).filter_map(|k| totals.statistic(k, &whiten)).collect()
}

/// 3,000 idle columns of several laws beside values with wild outliers and with ties: T follows its law, and so do the tails.
#[test]
fn idle_columns_follow_the_law() {
    let (n, d) = (1_500, 3_000);
    for seed in [1, 2, 3] {
        let mut x = uniform(n, d, seed);
        for k in 0..d {
            for i in 0..n {
                let u = x[(i, k)];
                x[(i, k)] = match k % 3 {
                    0 => u,
                    // Five integers, and a value that nine of ten rows share.
                    1 => (5.0 * u).floor(),
                    _ => f64::from(u > 0.9) * u,
                };
            }
        }
        let mut stream = Stream::new(seed, "values", 0);
        let outliers: Vec<f64> = (0..n).map(|_| (stream.uniform() - 0.5).recip().powi(3)).collect();
        let ties: Vec<f64> = (0..n).map(|_| (4.0 * stream.uniform().powi(2)).floor()).collect();
        for y in [outliers, ties] {
            let all = statistics(&x, &y);
            assert_eq!(all.len(), d);
            // Var χ² = 2 freedom.
            let (mut apart, mut variance, mut low) = (0.0, 0.0, [0_usize; 2]);
            for &(statistic, freedom) in &all {
                apart += statistic - freedom as f64;
                variance += 2.0 * freedom as f64;
                let log = log_chi_square_tail(freedom, statistic);
                low[0] += usize::from(log < 0.1_f64.ln());
                low[1] += usize::from(log < 0.01_f64.ln());
            }
            assert!(apart.abs() < 4.5 * variance.sqrt(), "seed {seed}: {apart} beside {}", variance.sqrt());
            let expected = |p: f64| (d as f64 * p, (d as f64 * p * (1.0 - p)).sqrt());
            for (found, p) in low.iter().zip([0.1, 0.01]) {
                let (mean, sd) = expected(p);
                assert!((*found as f64 - mean).abs() < 4.5 * sd, "seed {seed}: {found} of {d} below {p}");
            }
            assert!(named(&x, &y).is_empty(), "seed {seed}");
        }
    }
}

/// By the formula as it stands, with S inverted by its adjugate.
#[test]
fn the_statistic_is_that_of_the_formula() {
    let (n, d) = (700, 3);
    let x = uniform(n, d, 5);
    let y = values(&x, |x| x(1) + 0.3 * x(0));
    let data = Data::new(x.as_ref(), &y).unwrap();
    let sample = Sample::read(&data, &Unwatched).unwrap();
    let scores: Vec<[f64; 3]> = y.iter().map(|&y| sample.scores(y)).collect();
    let mean: [f64; 3] = std::array::from_fn(|l| scores.iter().map(|s| s[l]).sum::<f64>() / n as f64);
    let s = |l: usize, m: usize| {
        scores.iter().map(|s| (s[l] - mean[l]) * (s[m] - mean[m])).sum::<f64>() / n as f64
    };
    let cofactor = |l: usize, m: usize| {
        let (a, b, c, e) = ((l + 1) % 3, (l + 2) % 3, (m + 1) % 3, (m + 2) % 3);
        s(a, c) * s(b, e) - s(a, e) * s(b, c)
    };
    let determinant: f64 = (0..3).map(|m| s(0, m) * cofactor(0, m)).sum();
    for (k, &(statistic, freedom)) in statistics(&x, &y).iter().enumerate() {
        let cuts = sample.cuts[k];
        let bin = |x: f64| cuts.iter().filter(|cut| x > **cut).count();
        let mut expected = 0.0;
        for number in 0..BINS {
            let rows: Vec<usize> = (0..n).filter(|&i| bin(x[(i, k)]) == number).collect();
            assert!((70..110).contains(&rows.len()), "an eighth of 700: {}", rows.len());
            let apart: [f64; 3] = std::array::from_fn(|l| {
                rows.iter().map(|&i| scores[i][l]).sum::<f64>() / rows.len() as f64 - mean[l]
            });
            for l in 0..3 {
                for m in 0..3 {
                    expected += rows.len() as f64 * apart[l] * cofactor(l, m) / determinant * apart[m];
                }
            }
        }
        assert_eq!(freedom, 21);
        assert!((statistic - expected).abs() < 1e-9 * expected, "{statistic} and not {expected}");
    }
}

#[test]
fn what_matters_is_named_whatever_its_shape() {
    for seed in [1, 2, 3] {
        let x = uniform(4_000, 500, seed);
        // A slope, a bowl that is level on the whole, and two that act together alone.
        let y = values(&x, |x| {
            let bowl = (x(7) - 0.5).powi(2);
            x(3) + 4.0 * bowl + 8.0 * (x(20) - 0.5) * (x(499) - 0.5)
        });
        assert_eq!(named(&x, &y), [3, 7, 20, 499], "seed {seed}");
        // Monotone maps of the values or of a column change nothing.
        let data =
            |x: &Mat<f64>, y: &[f64]| screen(&Data::new(x.as_ref(), y).unwrap(), 0.01, &Unwatched).unwrap();
        let wild: Vec<f64> = y.iter().map(|y| (9.0 * y).exp()).collect();
        let mut mapped = x.clone();
        (0..4_000).for_each(|i| mapped[(i, 3)] = -(1e-3 + x[(i, 7)]).recip());
        (0..4_000).for_each(|i| mapped[(i, 7)] = x[(i, 3)].powi(3));
        let (plain, other) = (data(&x, &y), data(&mapped, &wild));
        for (a, b) in plain.named.iter().zip(&other.named) {
            let swapped =
                [(3, 7), (7, 3)].iter().find(|(from, _)| *from == a.column).map_or(a.column, |s| s.1);
            assert_eq!((swapped, a.statistic, a.freedom), (b.column, b.statistic, b.freedom), "seed {seed}");
        }
    }
}

/// An old campaign around one design: every input varied in one row of a hundred.
#[test]
fn a_few_inputs_varied_at_a_time_are_enough() {
    let (n, d) = (20_000, 300);
    let mut stream = Stream::new(4, "one at a time", 0);
    let mut x = Mat::from_fn(n, d, |_, _| 0.3);
    for i in 0..n {
        for k in stream.choose(d, 3) {
            x[(i, k)] = stream.uniform();
        }
    }
    let y = values(&x, |x| 5.0 * (x(11) - 0.6).powi(2) + x(200) - x(40));
    assert_eq!(named(&x, &y), [11, 40, 200]);
}

#[test]
fn nothing_is_named_where_there_is_nothing() {
    let x = uniform(500, 20, 6);
    assert!(named(&x, &[2.5; 500]).is_empty(), "all values are the same");
    let mut still = x.clone();
    (0..500).for_each(|i| still[(i, 4)] = 7.0);
    let y = values(&x, |x| x(4) + x(5));
    let data = Data::new(still.as_ref(), &y).unwrap();
    let screened = screen(&data, 0.01, &Unwatched).unwrap();
    assert_eq!((screened.n_varied, screened.named[0].column, screened.named.len()), (19, 5, 1));
    let few = uniform(3, 20, 7);
    assert!(named(&few, &[1.0, 2.0, 3.0]).is_empty());
    assert!(screen(&data, 0.0, &Unwatched).is_err());
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    let x = uniform(3_001, 97, 8);
    let y = values(&x, |x| x(1) * x(2));
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| statistics(&x, &y))
    };
    assert_eq!(with(1), with(3));
}
