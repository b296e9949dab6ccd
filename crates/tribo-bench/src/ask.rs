//! `ask`: how long a proposal takes with n results known.
//!
//! The results are outside evaluations of a smooth function at uniform points, so that no proposals are needed to get
//! to a million. The first ask fits the hyper-parameters and is reported apart; the next ones take in one result each. With
//! `--beside` another fit falls due after those, is made on a thread of its own as the driver does it, and asks go on
//! meanwhile with the model as it was.

use crate::dimension::parse_positive;
use crate::machine::{cpu_seconds, peak_rss_mb, quantile, reset_peak_rss, timed};
use crate::seeds::Failure;
use serde::Serialize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;
use tribo::rng::Stream;
use tribo::space::{Direction, Parameter, Point, Space, Values};
use tribo::strategy::{Process, Settings, Strategy, Study};
use tribo::surrogate::watch::{Progress, Watch};
use tribo_study::beside::Beside;

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
    /// Measure asks while a fit is made beside them, too.
    #[arg(long)]
    pub beside: bool,
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
    /// Largest resident memory in MB after that, in the first ask.
    pub peak_rss_mb: Option<f64>,
    /// The same with the asks after it, and the fit beside them.
    pub later_peak_rss_mb: Option<f64>,
    /// The asks while a fit was made beside them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beside: Option<BesideRow>,
}

/// Asks while a fit is made.
#[derive(Debug, Clone, Serialize)]
pub struct BesideRow {
    /// Seconds that the fit took.
    pub fit_s: f64,
    /// Asks in this time.
    pub asks: usize,
    /// Their median, in milliseconds.
    pub ask_p50_ms: f64,
    /// 95th percentile of them.
    pub ask_p95_ms: f64,
    /// The longest of them.
    pub ask_max_ms: f64,
    /// Median of the tells between them.
    pub tell_p50_ms: f64,
    /// The ask that took the fit over.
    pub taking_ms: f64,
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
    if options.beside {
        // Another fit is due once the later asks are measured, and not with the last of them, however the product rounds.
        settings.refit_growth = 1.0 + (options.repeats as f64 + 0.5) / n as f64;
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
    let counter = Counter::default();
    let cpu_before = cpu_seconds();
    let (first_ask_s, asked) = timed(|| study.ask_watched(1, &counter));
    let first_ask_cpu_s = cpu_seconds().zip(cpu_before).map(|(after, before)| after - before);
    let first = asked?.pop().ok_or("the space has no point left")?;
    study.tell(first.id, value(&first.point))?;
    let first_peak_rss_mb = peak_rss_mb();
    let (mut asks, mut tells) = (vec![], vec![]);
    for _ in 0..options.repeats {
        let (asking, telling) = turn(&mut study)?;
        tells.push(telling);
        asks.push(asking);
    }
    let beside = options.beside.then(|| measure_beside(&mut study)).transpose()?;
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
        peak_rss_mb: first_peak_rss_mb,
        later_peak_rss_mb: peak_rss_mb(),
        beside,
    })
}

/// Milliseconds of an ask and of the tell of its point.
fn turn(study: &mut Study) -> Result<(f64, f64), Failure> {
    let (asking, asked) = timed(|| study.ask(1));
    let suggestion = asked?.pop().ok_or("the space has no point left")?;
    let (telling, told) = timed(|| study.tell(suggestion.id, value(&suggestion.point)));
    told?;
    Ok((1e3 * asking, 1e3 * telling))
}

/// Asks and tells while a fit is made.
fn measure_beside(study: &mut Study) -> Result<BesideRow, Failure> {
    let (mut asks, mut tells, mut fits) = (vec![], vec![], Beside::default());
    fits.serve(study);
    if !fits.is_running() {
        return Err("no fit is due: it takes 4000 results".into());
    }
    let started = Instant::now();
    while fits.is_running() {
        let (asking, telling) = turn(study)?;
        tells.push(telling);
        asks.push(asking);
        fits.serve(study);
    }
    let fit_s = started.elapsed().as_secs_f64();
    let (taking_ms, _) = turn(study)?;
    Ok(BesideRow {
        fit_s,
        asks: asks.len(),
        ask_p50_ms: quantile(&mut asks, 0.5),
        ask_p95_ms: quantile(&mut asks, 0.95),
        ask_max_ms: quantile(&mut asks, 1.0),
        tell_p50_ms: quantile(&mut tells, 0.5),
        taking_ms,
    })
}
