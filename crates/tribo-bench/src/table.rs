//! `table`: a fit of a Parquet file of any length against one of a million rows in memory: time a point, and memory.
//!
//! Rows are drawn one after the other and written as they come, by the writer of `tribo export`, in groups of a million cells. The
//! function is the paper's, (Σ xₖ)² on [-1, 1]ᵈ, with noise of 0.1; the model is that of `tribo fit`. Processor seconds of the two
//! fits, divided by their rows, are comparable in one run on any machine.

use crate::machine::{cpu_seconds, peak_rss_mb, reset_peak_rss, timed};
use crate::seeds::Failure;
use faer::Mat;
use serde::Serialize;
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;
use tribo::rng::Stream;
use tribo::surrogate::hyper::Mean;
use tribo::surrogate::inducing::Inducing;
use tribo::surrogate::kernel::Shape;
use tribo::surrogate::source::Source;
use tribo::surrogate::sparse::{Approximation, Objective, SparsePosterior};
use tribo::surrogate::train::{Report, SparseGp, Training};
use tribo::surrogate::watch::Unwatched;
use tribo_study::report::columns::{Column, Holds};
use tribo_study::report::parquet;
use tribo_study::report::point::Cell;
use tribo_study::table::Table;
use tribo_study::table::numbers::{BadRows, Numbers};

/// Standard deviation of what is added to y.
const NOISE_SD: f64 = 0.1;
/// Rows that the error is measured on.
const TEST_ROWS: usize = 2_000;

/// One line of the result.
#[derive(Debug, Clone, Serialize)]
pub struct Row {
    /// `memory` or `parquet`.
    pub source: &'static str,
    /// Rows.
    pub n: usize,
    /// Inputs.
    pub d: usize,
    /// Inducing points.
    pub m: usize,
    /// Seconds of the fit; of a file the first pass is part of it.
    pub fit_s: f64,
    /// Processor seconds of all threads.
    pub fit_cpu_s: Option<f64>,
    /// The same for a row, in microseconds.
    pub cpu_us_per_row: Option<f64>,
    /// Evaluations on all rows.
    pub full_evaluations: usize,
    /// Largest resident memory in MB meanwhile.
    pub peak_rss_mb: Option<f64>,
    /// Root mean square error of the mean against the function without noise.
    pub rmse: f64,
}

/// Rows of inputs and the output, one after the other.
struct Drawn {
    stream: Stream,
    d: usize,
}

impl Drawn {
    fn new(d: usize, seed: u64) -> Drawn {
        Drawn { stream: Stream::new(seed, "benchmark table", 0), d }
    }

    /// Inputs and the output with its noise.
    fn row(&mut self) -> (Vec<f64>, f64) {
        let x: Vec<f64> = (0..self.d).map(|_| 2.0 * self.stream.uniform() - 1.0).collect();
        let y = x.iter().sum::<f64>().powi(2) + NOISE_SD * self.stream.normal();
        (x, y)
    }
}

/// Writes a file of `n` rows: columns `x0`, `x1`, ... and `y`.
pub fn write(path: &Path, n: usize, d: usize, seed: u64) -> Result<(), Failure> {
    let names = (0..d).map(|k| format!("x{k}")).chain(["y".to_owned()]);
    let columns: Vec<Column> = names.map(|name| Column { name, holds: Holds::Float }).collect();
    let mut drawn = Drawn::new(d, seed);
    let rows = (0..n).map(|_| {
        let (x, y) = drawn.row();
        Ok(x.into_iter().chain([y]).map(Cell::Float).collect())
    });
    let out = BufWriter::with_capacity(1 << 20, File::create(path)?);
    Ok(parquet::write(out, path, &columns, rows)?)
}

fn process(m: usize, seed: u64) -> SparseGp {
    SparseGp {
        shape: Shape::Matern52,
        ard: true,
        mean: Mean::Estimated,
        approximation: Approximation::Fic,
        objective: Objective::Bound,
        inducing: Inducing::RandomPivots,
        n_inducing: m,
        training: Training { seed, ..Training::default() },
    }
}

/// A fit of `n` rows in memory.
pub fn in_memory(n: usize, d: usize, m: usize, seed: u64) -> Result<Row, Failure> {
    let mut drawn = Drawn::new(d, seed);
    let (mut x, mut y) = (Mat::zeros(n, d), Vec::with_capacity(n));
    for i in 0..n {
        let (point, value) = drawn.row();
        (0..d).for_each(|k| x[(i, k)] = point[k]);
        y.push(value);
    }
    measured("memory", (d, m, seed), || {
        let (posterior, report) = process(m, seed).fit(x.as_ref(), &y, &Unwatched)?;
        Ok((n, posterior, report))
    })
}

/// A fit of a file that [`write()`] wrote.
pub fn from_file(path: &Path, d: usize, m: usize, seed: u64) -> Result<Row, Failure> {
    let inputs: Vec<String> = (0..d).map(|k| format!("x{k}")).collect();
    measured("parquet", (d, m, seed), || {
        let numbers = Numbers::open(Table::open(path)?, &inputs, Some("y"), BadRows::Refuse, &|_| true)?;
        let (posterior, report) = process(m, seed).fit_source(&numbers, &Unwatched)?;
        Ok((numbers.len(), posterior, report))
    })
}

fn measured(
    source: &'static str,
    (d, m, seed): (usize, usize, u64),
    fit: impl FnOnce() -> Result<(usize, SparsePosterior, Report), Failure>,
) -> Result<Row, Failure> {
    reset_peak_rss();
    let before = cpu_seconds();
    let (fit_s, fitted) = timed(fit);
    let (n, posterior, report) = fitted?;
    let fit_cpu_s = cpu_seconds().zip(before).map(|(after, before)| after - before);
    let peak_rss_mb = peak_rss_mb();
    let mut drawn = Drawn { stream: Stream::new(seed, "benchmark table test", 0), d };
    let points: Vec<Vec<f64>> = (0..TEST_ROWS).map(|_| drawn.row().0).collect();
    let means = posterior.predict_mean(Mat::from_fn(TEST_ROWS, d, |i, k| points[i][k]).as_ref())?;
    let error = |(point, mean): (&Vec<f64>, &f64)| (point.iter().sum::<f64>().powi(2) - mean).powi(2);
    let rmse = (points.iter().zip(&means).map(error).sum::<f64>() / TEST_ROWS as f64).sqrt();
    Ok(Row {
        source,
        n,
        d,
        m,
        fit_s,
        fit_cpu_s,
        cpu_us_per_row: fit_cpu_s.map(|seconds| 1e6 * seconds / n as f64),
        full_evaluations: report.full_evaluations,
        peak_rss_mb,
        rmse,
    })
}
