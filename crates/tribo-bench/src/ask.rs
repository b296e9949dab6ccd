//! `ask`: how long a proposal takes with n results known.
//!
//! The results are outside evaluations of a smooth function at uniform points, so that no proposals are needed to get
//! to a million. The first ask fits the hyper-parameters and is reported apart; the next ones take in one result each.

use crate::dimension::parse_positive;
use crate::machine::{peak_rss_mb, quantile, timed};
use crate::seeds::Failure;
use serde::Serialize;
use tribo::rng::Stream;
use tribo::space::{Direction, Parameter, Point, Space, Values};
use tribo::strategy::{Process, Settings, Strategy, Study};

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
    /// Median of the asks after it, in milliseconds.
    pub ask_p50_ms: f64,
    /// 95th percentile of them.
    pub ask_p95_ms: f64,
    /// The longest of them.
    pub ask_max_ms: f64,
    /// Median of the tells between them.
    pub tell_p50_ms: f64,
    /// Largest resident memory in MB.
    pub peak_rss_mb: Option<f64>,
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
    let (mut asks, mut tells, mut first_ask_s) = (vec![], vec![], 0.0);
    for turn in 0..=options.repeats {
        let (asking, asked) = timed(|| study.ask(1));
        let suggestion = asked?.pop().ok_or("the space has no point left")?;
        let (telling, told) = timed(|| study.tell(suggestion.id, value(&suggestion.point)));
        told?;
        tells.push(1e3 * telling);
        if turn == 0 {
            first_ask_s = asking;
        } else {
            asks.push(1e3 * asking);
        }
    }
    Ok(Row {
        n,
        d: options.d,
        m: options.m,
        threads: options.threads,
        add_s,
        first_ask_s,
        ask_p50_ms: quantile(&mut asks, 0.5),
        ask_p95_ms: quantile(&mut asks, 0.95),
        ask_max_ms: quantile(&mut asks, 1.0),
        tell_p50_ms: quantile(&mut tells, 0.5),
        peak_rss_mb: peak_rss_mb(),
    })
}
