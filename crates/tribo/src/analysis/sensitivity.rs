//! Which inputs matter: shares of the variance of the function over the whole box, from the model.
//!
//! With A and B two independent points and AB_i the point A with input i of B `[@jansen1999]`,
//!
//!   first-order share  S_i = 1 - E[(f(B) - f(AB_i))²] / 2V    what input i explains alone
//!   total share        T_i = E[(f(A) - f(AB_i))²] / 2V        what is lost without it, its interactions included
//!
//! by quasi-Monte Carlo, averaged over functions drawn from the model (`surrogate::exact::paths`), with several length scales
//! around those of the fit. A function that is not known has four errors, which are added: how far shares differ between those
//! functions; how far they are from the shares of the mean, which is flat where nothing was measured, while functions are not;
//! the error of the sampling, from parts of the sample; and the part of the variance that the model does not know, the mean of
//! its own variance over that of its functions: nothing says which inputs that goes with. After a search that stayed in one
//! corner the last is the largest.
//!
//! Shares are of values as they are. A model that sees them through a logarithm, for the sake of a search, knows little about
//! them where they are large, and its functions have far tails there: so the shares have a process of their own then, fitted to
//! the values themselves. Of Hartmann-6 the error of a total share was 0.48 through the logarithm, and is 0.11.

use crate::design::Sobol;
use crate::error::Result;
use crate::rng::Stream;
use crate::strategy::Look;
use crate::surrogate::Posterior;
use crate::surrogate::data::Data;
use crate::surrogate::exact::ExactPosterior;
use crate::surrogate::hyper::{Hyperparameters, Mean, Prior, Priors, Ranges};
use crate::surrogate::sparse::SparsePosterior;
use crate::surrogate::train::{ExactGp, Training};
use crate::surrogate::watch::Unwatched;
use faer::Mat;
use std::ops::Range;

/// Functions drawn, and the processes they are drawn from.
const N_PATHS: usize = 24;
const N_PROCESSES: usize = 6;
/// Results of a fit of its own at most: it takes a part of a second.
const MOST: usize = 200;
/// How well a fit knows the logarithm of a length scale: a tenth where the input matters much and results are many, a half
/// where it hardly does.
const LENGTH_SD: f64 = 0.3;
/// Standard error of a share for each unit of unknown variance. If nothing were known of where it goes, a half: two of them reach
/// as far as a share can move. Chosen so that in four of five runs all shares of Ishigami's function lie within two standard
/// errors (`tribo-bench honesty`); Hartmann-6 would need 0.25.
const UNKNOWN_SD: f64 = 0.3;
const N_FEATURES: usize = 512;
/// Values computed of each function, about.
const EVALUATIONS: usize = 16_384;
/// Parts of the sample that tell the error of the sampling.
const PARTS: usize = 8;
/// The same of a sparse process over rows, whose values cost less.
const EVALUATIONS_OVER_ROWS: usize = 65_536;
/// Rows that shares are estimated from at least, and points that are made of the entries of one.
const FEWEST_ROWS: usize = 4 * PARTS;
const OF_A_ROW: usize = 12;

/// How much an input matters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Share {
    /// The input.
    pub input: usize,
    /// What it explains alone, a part of the variance.
    pub first: f64,
    /// Standard error of that.
    pub first_sd: f64,
    /// What it explains with its interactions.
    pub total: f64,
    /// Standard error of that.
    pub total_sd: f64,
}

/// The share of each input that the model sees, in its order; the seed draws points and functions. None where the model is
/// flat.
pub fn sensitivity(look: &Look, seed: u64) -> Result<Option<Vec<Share>>> {
    let (d, ranges) = (look.dim(), look.input_coordinates());
    let n = (EVALUATIONS / (ranges.len() + 2)).clamp(16 * PARTS, 1_024) / PARTS * PARTS;
    let mut stream = Stream::new(seed, "sensitivity", 0);
    let sobol = Sobol::new(2 * d, &mut stream)?;
    let (mut a, mut b) = (Vec::with_capacity(n), Vec::with_capacity(n));
    let mut both = vec![0.0; 2 * d];
    for index in 0..n as u64 {
        sobol.point(index, &mut both)?;
        for (points, half) in [(&mut a, &both[..d]), (&mut b, &both[d..])] {
            let mut point = half.to_vec();
            look.snap(&mut point);
            points.push(point);
        }
    }
    let fit = Fit::of(look)?;
    let mut processes = vec![fit.process.paths(N_PATHS / N_PROCESSES, N_FEATURES, &mut stream)];
    while processes.len() < N_PROCESSES {
        let mut hyper = fit.process.hyperparameters().clone();
        hyper.kernel.length_scales.iter_mut().for_each(|scale| *scale *= (LENGTH_SD * stream.normal()).exp());
        let process = ExactPosterior::new(&Data::new(fit.x.as_ref(), &fit.y)?, &hyper, Mean::Estimated)?;
        processes.push(process.paths(N_PATHS / N_PROCESSES, N_FEATURES, &mut stream));
    }
    // The mean of the fit, then the functions of all processes: [points, 1 + paths].
    let values = |points: &[Vec<f64>]| -> Result<Mat<f64>> {
        let x = Mat::from_fn(points.len(), d, |i, k| points[i][k]);
        let each = processes.iter().map(|paths| paths.values(x.as_ref())).collect::<Result<Vec<_>>>()?;
        let n_each = N_PATHS / N_PROCESSES;
        let mut values = Mat::zeros(points.len(), 1 + N_PATHS);
        for j in 0..=N_PATHS {
            let (from, column) = if j == 0 { (0, 0) } else { ((j - 1) / n_each, 1 + (j - 1) % n_each) };
            values.col_as_slice_mut(j).copy_from_slice(each[from].col_as_slice(column));
        }
        Ok(values)
    };
    shares([&a, &b], look.inputs().iter().copied().zip(ranges), values, unknown)
}

/// As [`sensitivity`], of a sparse process, each input with the entries that it has in the rows, independent of the others: in the rows
/// themselves inputs may go together, and then a variance has no shares. Functions are drawn at the length scales of the fit, of which
/// many rows leave little doubt; what the process does not know is its own variance at such points, which is large where inputs go
/// together. None where it is flat or rows are fewer than 32.
pub fn sensitivity_over(
    posterior: &SparsePosterior,
    rows: &[Vec<f64>],
    seed: u64,
) -> Result<Option<Vec<Share>>> {
    let (d, n_rows) = (posterior.dim(), rows.len());
    if n_rows < FEWEST_ROWS {
        return Ok(None);
    }
    let most = (EVALUATIONS_OVER_ROWS / (d + 2)).max(FEWEST_ROWS);
    let n = most.min(OF_A_ROW * n_rows) / PARTS * PARTS;
    let mut stream = Stream::new(seed, "sensitivity over rows", 0);
    let mut points = || -> Vec<Vec<f64>> {
        let mut points = vec![vec![0.0; d]; n];
        for k in 0..d {
            // Every entry as often as the others.
            let mut order: Vec<usize> = (0..n.max(n_rows)).map(|i| i % n_rows).collect();
            stream.shuffle(&mut order);
            points.iter_mut().zip(order).for_each(|(point, row)| point[k] = rows[row][k]);
        }
        points
    };
    let (a, b) = (points(), points());
    let paths = posterior.paths(N_PATHS, &mut stream);
    let matrix = |points: &[Vec<f64>]| Mat::from_fn(points.len(), d, |i, k| points[i][k]);
    let own = posterior.predict(matrix(&a).as_ref())?.var;
    let unknown =
        |_: &Mat<f64>, variances: &[f64]| (average(&own) / average(&variances[1..])).clamp(0.0, 1.0);
    let values = |points: &[Vec<f64>]| paths.values(matrix(points).as_ref());
    shares([&a, &b], (0..d).map(|k| (k, k..k + 1)), values, unknown)
}

/// The share of each input, whose coordinates are a range, from the points A and B. `values` are those of a mean, then of functions
/// around it, [points, 1 + functions]; `unknown` is the part of their variances that nothing is known of. None if a function is flat.
fn shares(
    [a, b]: [&[Vec<f64>]; 2],
    inputs: impl Iterator<Item = (usize, Range<usize>)>,
    values: impl Fn(&[Vec<f64>]) -> Result<Mat<f64>>,
    unknown: impl Fn(&Mat<f64>, &[f64]) -> f64,
) -> Result<Option<Vec<Share>>> {
    let (f_a, f_b) = (values(a)?, values(b)?);
    let variances: Vec<f64> =
        (0..f_a.ncols()).map(|j| variance(f_a.col_as_slice(j), f_b.col_as_slice(j))).collect();
    if variances.iter().any(|variance| !(variance.is_finite() && *variance > 0.0)) {
        return Ok(None);
    }
    let unknown = unknown(&f_a, &variances);
    let mut shares = Vec::new();
    for (input, range) in inputs {
        let mut mixed = a.to_vec();
        mixed.iter_mut().zip(b).for_each(|(point, other)| {
            point[range.clone()].copy_from_slice(&other[range.clone()]);
        });
        let f_ab = values(&mixed)?;
        let total = Estimate::of(&f_a, &f_ab, &variances, unknown, |half| half);
        let first = Estimate::of(&f_b, &f_ab, &variances, unknown, |half| 1.0 - half);
        let (first, first_sd, total, total_sd) = (first.mean, first.sd, total.mean, total.sd);
        shares.push(Share { input, first, first_sd, total, total_sd });
    }
    Ok(Some(shares))
}

/// A process of values as they are, up to a factor and a constant, which shares do not depend on.
struct Fit {
    process: ExactPosterior,
    /// Its results, [n, d] and [n].
    x: Mat<f64>,
    y: Vec<f64>,
}

impl Fit {
    /// The process of the look; where that sees values through a logarithm, one of its own.
    fn of(look: &Look) -> Result<Fit> {
        let (points, values): (Vec<&[f64]>, Vec<f64>) =
            look.results().map(|(_, point, value)| (point, value)).unzip();
        let matrix = |rows: &[usize]| Mat::from_fn(rows.len(), look.dim(), |i, k| points[rows[i]][k]);
        if !look.is_logarithmic() {
            let all: Vec<usize> = (0..points.len()).collect();
            let y = values.iter().map(|&value| look.to_model(value)).collect();
            return Ok(Fit { process: look.process().clone(), x: matrix(&all), y });
        }
        let rows = scattered(&points, MOST);
        let chosen: Vec<f64> = rows.iter().map(|&row| values[row]).collect();
        let (mean, variance) = moments(&chosen);
        let y: Vec<f64> = chosen.iter().map(|value| (value - mean) / variance.sqrt().max(1e-300)).collect();
        let x = matrix(&rows);
        let noise_var: (f64, f64) = if look.is_noisy() { (1e-6, 1.0) } else { (1e-8, 1e-4) };
        // Normal laws of the logarithm: length scales around 0.9 √d, which grow as distances do.
        let around =
            |centre: f64, scale: f64| Some(Prior::LogNormal { location: centre + scale * scale, scale });
        let (shape, log_root) =
            (look.process().hyperparameters().kernel.shape, 0.5 * (look.dim() as f64).ln());
        let mut smooth = vec![log_root - 0.7; look.dim()];
        smooth.extend([0.0, noise_var.0.ln()]);
        let gp = ExactGp {
            shape,
            ard: true,
            mean: Mean::Estimated,
            training: Training {
                ranges: Ranges { length_scale: (5e-3, 3e1), signal_var: (5e-2, 1e3), noise_var },
                priors: Priors {
                    length_scale: around(log_root - 0.1, 1.2),
                    signal_var: around(0.0, 1.5),
                    noise_var: None,
                },
                starts: vec![Hyperparameters::from_log(shape, &smooth)],
                ..Training::default()
            },
        };
        let (process, _) = gp.fit(x.as_ref(), &y, &Unwatched)?;
        Ok(Fit { process, x, y })
    }
}

/// At most `most` of the points, each as far as can be from those before it.
fn scattered(points: &[&[f64]], most: usize) -> Vec<usize> {
    let mut rows: Vec<usize> = Vec::new();
    let mut distances = vec![f64::INFINITY; points.len()];
    while rows.len() < most.min(points.len()) {
        let farthest = (0..points.len()).fold(0, |a, b| if distances[b] > distances[a] { b } else { a });
        rows.push(farthest);
        for (distance, point) in distances.iter_mut().zip(points) {
            let squares = point.iter().zip(points[farthest]).map(|(a, b)| (a - b).powi(2));
            *distance = distance.min(squares.sum());
        }
    }
    rows
}

/// The variance of the values of one function.
fn variance(a: &[f64], b: &[f64]) -> f64 {
    let n = (a.len() + b.len()) as f64;
    let mean = a.iter().chain(b).sum::<f64>() / n;
    a.iter().chain(b).map(|value| (value - mean).powi(2)).sum::<f64>() / n
}

/// The part of the variance of the functions that the model does not know.
fn unknown(f: &Mat<f64>, variances: &[f64]) -> f64 {
    let own = |i: usize| moments(&(1..f.ncols()).map(|j| f[(i, j)]).collect::<Vec<f64>>()).1;
    let mean = (0..f.nrows()).map(own).sum::<f64>() / f.nrows() as f64;
    (mean / average(&variances[1..])).clamp(0.0, 1.0)
}

struct Estimate {
    mean: f64,
    sd: f64,
}

impl Estimate {
    /// `share`(E[(f - g)²] / 2V) of the mean, which is the first column, and its error from the functions beside it.
    fn of(
        f: &Mat<f64>,
        g: &Mat<f64>,
        variances: &[f64],
        unknown: f64,
        share: impl Fn(f64) -> f64,
    ) -> Estimate {
        let halves = |j: usize| -> Vec<f64> {
            let pairs = f.col_as_slice(j).iter().zip(g.col_as_slice(j));
            pairs.map(|(f, g)| (f - g).powi(2) / (2.0 * variances[j])).collect()
        };
        // Estimates beyond 0 and 1 come of samples with far tails: of values modelled by their logarithm, mostly.
        let share = |halves: &[f64]| share(average(halves)).clamp(0.0, 1.0);
        let shares: Vec<f64> = (0..variances.len()).map(|j| share(&halves(j))).collect();
        let (drawn, between) = moments(&shares[1..]);
        // Parts share one Sobol sequence and so do better together than alone: an upper bound.
        let parts: Vec<f64> = halves(0).chunks(f.nrows() / PARTS).map(share).collect();
        let (_, within) = moments(&parts);
        let bias = drawn - shares[0];
        let sd = (between + bias * bias + within / PARTS as f64 + (UNKNOWN_SD * unknown).powi(2)).sqrt();
        Estimate { mean: drawn, sd }
    }
}

fn average(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Mean and variance.
fn moments(values: &[f64]) -> (f64, f64) {
    let (n, mean) = (values.len() as f64, average(values));
    (mean, values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0))
}

#[cfg(test)]
mod tests {
    use super::super::validation::tests::study;
    use super::*;
    use crate::surrogate::train::SparseGp;
    use crate::surrogate::watch::Unwatched;
    use std::f64::consts::PI;

    #[test]
    fn shares_of_a_sum_are_those_of_its_variances() {
        // f = 3 x0 + x1 + 0 x2: variances 9 : 1 : 0, no interactions.
        let mut study = study(&[0.0; 3], &[1.0; 3], 5, 30, |point| {
            let x = point.numbers();
            3.0 * x[0] + x[1]
        });
        let shares = sensitivity(&study.look(&Unwatched).unwrap().unwrap(), 1).unwrap().unwrap();
        for (share, known) in shares.iter().zip([0.9, 0.1, 0.0]) {
            assert!((share.total - known).abs() < 0.02 + 3.0 * share.total_sd, "{share:?}");
            assert!((share.first - known).abs() < 0.02 + 3.0 * share.first_sd, "{share:?}");
            assert!(share.total_sd < 0.05, "{share:?}");
        }
    }

    #[test]
    fn shares_over_rows_are_those_of_a_sum() {
        // 3 x0 + x1 over uniform rows, with a little noise: 0.9, 0.1 and 0.
        const SEED: u64 = 8;
        let mut stream = Stream::new(SEED, "shares over rows", 0);
        let rows: Vec<Vec<f64>> = (0..600).map(|_| (0..3).map(|_| stream.uniform()).collect()).collect();
        let x = Mat::from_fn(600, 3, |i, k| rows[i][k]);
        let y: Vec<f64> = rows.iter().map(|row| 3.0 * row[0] + row[1] + 0.05 * stream.normal()).collect();
        let gp = SparseGp { ard: true, ..SparseGp::paper(40, &[0.0; 3], &[1.0; 3]) };
        let (posterior, _) = gp.fit(x.as_ref(), &y, &Unwatched).unwrap();
        let shares = sensitivity_over(&posterior, &rows, 1).unwrap().unwrap();
        for (share, known) in shares.iter().zip([0.9, 0.1, 0.0]) {
            // Rows drawn at random have variances of their own: of 600 uniform ones to 4 %.
            assert!((share.total - known).abs() < 0.02 + 3.0 * share.total_sd, "{share:?}, seed {SEED}");
            assert!((share.first - known).abs() < 0.02 + 3.0 * share.first_sd, "{share:?}, seed {SEED}");
            assert!(share.total_sd < 0.08, "{share:?}, seed {SEED}");
        }
        assert_eq!(sensitivity_over(&posterior, &rows[..20], 1).unwrap(), None);
    }

    #[test]
    fn ishigami_agrees_with_what_is_known() {
        // a = 7, b = 0.1 [Ishigami and Homma 1990]: first-order 0.3139, 0.4424, 0; total 0.5576, 0.4424, 0.2437. The searches
        // have stayed where values are low; four of five shares lie within two of their own standard errors.
        let known = [(0.3139, 0.5576), (0.4424, 0.4424), (0.0, 0.2437)];
        let (mut n, mut n_inside) = (0, 0);
        for seed in [3, 4, 5] {
            let mut study = study(&[-PI; 3], &[PI; 3], seed, 100, |point| {
                let x = point.numbers();
                x[0].sin() + 7.0 * x[1].sin().powi(2) + 0.1 * x[2].powi(4) * x[0].sin()
            });
            let shares = sensitivity(&study.look(&Unwatched).unwrap().unwrap(), 1).unwrap().unwrap();
            for (share, (first, total)) in shares.iter().zip(known) {
                n += 2;
                n_inside += usize::from((share.first - first).abs() < 2.0 * share.first_sd);
                n_inside += usize::from((share.total - total).abs() < 2.0 * share.total_sd);
            }
        }
        assert!(5 * n_inside >= 4 * n, "{n_inside} of {n}");
    }
}
