//! `ask`: how long a proposal takes with n results known.
//!
//! The results are outside evaluations of a smooth function at uniform points, so that no proposals are needed to get
//! to a million. The first ask fits the hyper-parameters and is reported apart; the next ones take in one result each.

use crate::dimension::parse_positive;
use crate::machine::{cpu_seconds, peak_rss_mb, quantile, reset_peak_rss, timed};
use crate::seeds::Failure;
use serde::Serialize;
use std::sync::atomic::{AtomicUsize, Ordering};
use tribo::rng::Stream;
use tribo::space::{Direction, Parameter, Point, Space, Values};
use tribo::strategy::{Process, Settings, Strategy, Study};
use tribo::surrogate::watch::{Progress, Watch};

/// What to measure.
#[derive(Debug, Clone, clap::Args)]
pub struct Options {
    /// Results known before, a list.
    #[arg(long, value_delimiter = ',', default_values_t = [500, 10_000, 1_000_000])]
    pub n: Vec<usize>,
    /// Inputs.
    #[arg(long, default_value_t = 10, value_parser = parse_positive)]
    pub d: usize,
    /// Inducing points.
    #[arg(long, default_value_t = 300, value_parser = parse_positive)]
    pub m: usize,
    /// Asks to take the median of.
    #[arg(long, default_value_t = 20, value_parser = parse_positive)]
    pub repeats: usize,
    /// Threads.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..))]
    pub threads: u16,
    /// Seed.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

/// One line of the result.
#[derive(Debug, Clone, Serialize)]
pub struct Row {
    /// Results known before.
    pub n: usize,
    /// Inputs.
    pub d: usize,
    /// Inducing points.
    pub m: usize,
    /// Threads.
    pub threads: u16,
    /// Seconds to add the known results.
    pub add_s: f64,
    /// Seconds of the first ask, which fits.
    pub first_ask_s: f64,
    /// Processor seconds of all threads for the same.
    pub first_ask_cpu_s: Option<f64>,
    /// Objective and gradient evaluations on subsets of the data in the first ask.
    pub subset_evaluations: usize,
    /// Objective and gradient evaluations on all data in the first ask.
    pub full_evaluations: usize,
    /// Median of the asks after it, in milliseconds.
    pub ask_p50_ms: f64,
    /// 95th percentile of them.
    pub ask_p95_ms: f64,
    /// The longest of them.
    pub ask_max_ms: f64,
    /// Median of the tells between them.
    pub tell_p50_ms: f64,
    /// Resident memory in MB when the known results had been added.
    pub known_rss_mb: Option<f64>,
    /// Largest resident memory in MB after that.
    pub peak_rss_mb: Option<f64>,
}

/// Counts evaluations of training objectives.
#[derive(Default)]
struct Counter {
    subset: AtomicUsize,
    full: AtomicUsize,
    /// Those on all data that the fit under way had when it was last heard of.
    full_before: AtomicUsize,
}

impl Watch for Counter {
    fn progress(&self, progress: &Progress) {
        let before = self.full_before.swap(progress.full_evaluations, Ordering::Relaxed);
        let counter = if progress.full_evaluations > before { &self.full } else { &self.subset };
        counter.fetch_add(1, Ordering::Relaxed);
    }
}

/// A bowl with a ripple, its lowest point off the centre.
fn value(point: &Point) -> f64 {
    let Some(Values::Float(x)) = point.columns().first() else { return f64::NAN };
    x.iter().map(|x| (x - 0.3).powi(2) + 0.02 * (1.0 - (9.0 * (x - 0.3)).cos())).sum()
}

/// Measures with `n` results known, in the caller's thread pool.
pub fn measure(options: &Options, n: usize) -> Result<Row, Failure> {
    let space = Space::new(vec![Parameter::float("x", -1.0, 1.0).with_size(options.d)])?;
    let mut settings = Settings::bo();
    if let Process::Sparse { n_inducing, .. } = &mut settings.surrogate.process {
        *n_inducing = options.m;
    }
    let mut study =
        Study::new(space.clone(), Direction::Minimize, Strategy::Bo(settings), None, options.seed)?;
    let mut stream = Stream::new(options.seed, "known results", 0);
    let (add_s, added) = timed(|| -> tribo::Result<()> {
        for _ in 0..n {
            let x = (0..options.d).map(|_| 2.0 * stream.uniform() - 1.0).collect();
            let point = space.point(vec![Values::Float(x)])?;
            study.add(&point, value(&point))?;
        }
        Ok(())
    });
    added?;
    reset_peak_rss();
    let known_rss_mb = peak_rss_mb();
    let (mut asks, mut tells) = (vec![], vec![]);
    let counter = Counter::default();
    let cpu_before = cpu_seconds();
    let (first_ask_s, asked) = timed(|| study.ask_watched(1, &counter));
    let first_ask_cpu_s = cpu_seconds().zip(cpu_before).map(|(after, before)| after - before);
    let first = asked?.pop().ok_or("the space has no point left")?;
    study.tell(first.id, value(&first.point))?;
    for _ in 0..options.repeats {
        let (asking, asked) = timed(|| study.ask(1));
        let suggestion = asked?.pop().ok_or("the space has no point left")?;
        let (telling, told) = timed(|| study.tell(suggestion.id, value(&suggestion.point)));
        told?;
        tells.push(1e3 * telling);
        asks.push(1e3 * asking);
    }
    Ok(Row {
        n,
        d: options.d,
        m: options.m,
        threads: options.threads,
        add_s,
        first_ask_s,
        first_ask_cpu_s,
        subset_evaluations: counter.subset.into_inner(),
        full_evaluations: counter.full.into_inner(),
        ask_p50_ms: quantile(&mut asks, 0.5),
        ask_p95_ms: quantile(&mut asks, 0.95),
        ask_max_ms: quantile(&mut asks, 1.0),
        tell_p50_ms: quantile(&mut tells, 0.5),
        known_rss_mb,
        peak_rss_mb: peak_rss_mb(),
    })
}
