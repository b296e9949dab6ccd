//! `three`: data, dimension and workers at once. One study of ten thousand inputs, with a million earlier results, for twenty
//! asynchronous workers; beside it the same study without them.
//!
//! The earlier results are made again in every pass from a seed (`rows`), as 80 GB of them could not be held. Evaluations last
//! U[30, 900] s on a virtual clock, by seed and trial alone; proposals take no time on it, so that the same seed gives the same
//! run on any machine, and their real time is reported.

mod rows;

pub use rows::{Earlier, MadeRows};

use crate::dimension::parse_positive;
use crate::machine::{cpu_seconds, peak_rss_mb, quantile, timed};
use crate::rivals::suite::{self, Instance};
use crate::seeds::{Failure, side_by_side};
use serde::Serialize;
use std::path::{Path, PathBuf};
use tribo::rng::Stream;
use tribo::space::Direction;
use tribo::strategy::{Digest, Strategy, Study};
use tribo::surrogate::watch::Unwatched;
use tribo::trial::TrialId;
use tribo_chart::{Axis, Chart, LineChart, Series};

/// Seconds that an evaluation lasts.
const SHORTEST: f64 = 30.0;
const LONGEST: f64 = 900.0;
/// Evaluations after which the best value is reported, besides the last.
const MOMENTS: [usize; 4] = [20, 50, 100, 200];

/// What to run.
#[derive(Debug, Clone, clap::Args)]
pub struct Options {
    /// Test problems of `rivals` in which all inputs have the same bounds.
    #[arg(long, value_delimiter = ',', default_value = "hartmann6")]
    pub problems: Vec<String>,
    /// Inputs.
    #[arg(long, default_value_t = 10_000, value_parser = parse_positive)]
    pub inputs: usize,
    /// Earlier results.
    #[arg(long, default_value_t = 1_000_000, value_parser = parse_positive)]
    pub rows: usize,
    /// What they are like.
    #[arg(long, value_enum, default_value = "same")]
    pub earlier: Earlier,
    /// Workers.
    #[arg(long, default_value_t = 20, value_parser = parse_positive)]
    pub workers: usize,
    /// New evaluations.
    #[arg(long, default_value_t = 200, value_parser = parse_positive)]
    pub evaluations: usize,
    /// Seeds, from 1 or from the first, one after the other.
    #[arg(long, default_value_t = 1, value_parser = parse_positive)]
    pub seeds: usize,
    /// The first seed.
    #[arg(long, default_value_t = 1)]
    pub first_seed: u64,
    /// Threads.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..))]
    pub threads: u16,
    /// Leave out the study without the earlier results.
    #[arg(long)]
    pub alone: bool,
    /// Folder for the figure; none is drawn without it.
    #[arg(long)]
    pub out: Option<PathBuf>,
}

/// What the earlier results told.
#[derive(Debug, Clone, Serialize)]
pub struct Learned {
    /// Test problem.
    pub problem: String,
    /// Its seed.
    pub seed: u64,
    /// What the results are like.
    pub earlier: Earlier,
    /// Rows.
    pub rows: usize,
    /// Inputs that matter.
    pub active: Vec<usize>,
    /// Inputs named.
    pub named: Vec<usize>,
    /// The largest chance of a named input to be idle, as a power of ten.
    pub log10_chance: f64,
    /// Part of the variance that they explain.
    pub explained: f64,
    /// Rows kept.
    pub kept: usize,
    /// Real seconds of it, and of the processor.
    pub seconds: f64,
    /// Of all threads.
    pub cpu_seconds: Option<f64>,
    /// Largest resident memory so far, in MB.
    pub peak_mb: Option<f64>,
    /// The lowest of the earlier values.
    pub lowest: f64,
}

/// What came of a study.
#[derive(Debug, Clone, Serialize)]
pub struct Run {
    /// Test problem.
    pub problem: String,
    /// Its seed.
    pub seed: u64,
    /// Whether it had the earlier results.
    pub informed: bool,
    /// Whether it made use of them.
    pub taken: bool,
    /// Regret after 20, 50, 100 and 200 evaluations, as far as it came.
    pub regrets: Vec<f64>,
    /// Regret in the end.
    pub regret: f64,
    /// Inputs that it names in the end.
    pub named: Vec<usize>,
    /// Virtual hours until the last result.
    pub hours: f64,
    /// Real seconds in ask and tell, together and the median and largest of one ask.
    pub own_seconds: f64,
    /// Of one ask.
    pub ask_median: f64,
    /// Of one ask.
    pub ask_longest: f64,
    /// Largest resident memory so far, in MB.
    pub peak_mb: Option<f64>,
    /// What was found on the way.
    pub findings: Vec<String>,
    /// Lowest regret after each result.
    #[serde(skip)]
    pub curve: Vec<f64>,
}

/// Runs all problems and seeds; `learned` and `ran` are called with each part as it ends.
pub fn measure(
    options: &Options,
    learned: impl Fn(&Learned) + Sync,
    ran: impl Fn(&Run) + Sync,
) -> Result<Vec<Run>, Failure> {
    let mut runs = vec![];
    for problem in &options.problems {
        for seed in (options.first_seed..).take(options.seeds) {
            // One at a time, each with all threads.
            let made = side_by_side(1, options.threads.into(), |_| {
                let instance = suite::instance(problem, options.inputs, seed)?;
                let mut pair = vec![];
                let (told, digest) = learn(options, problem, &instance, seed)?;
                learned(&told);
                for digest in [Some(&digest), None] {
                    if digest.is_none() && options.alone {
                        continue;
                    }
                    let run = one(options, problem, &instance, digest, seed)?;
                    ran(&run);
                    pair.push(run);
                }
                Ok(pair)
            })?;
            runs.extend(made.into_iter().flatten());
        }
    }
    Ok(runs)
}

/// Goes through the earlier results.
fn learn(
    options: &Options,
    problem: &str,
    instance: &Instance,
    seed: u64,
) -> Result<(Learned, Digest), Failure> {
    let other = match options.earlier {
        Earlier::Moved => instance.reflected().ok_or("a problem that cannot be reflected")?,
        Earlier::OtherInputs => suite::instance(problem, options.inputs, seed + 1_000)?,
        _ => instance.clone(),
    };
    let rows = MadeRows::new(&other, options.earlier, options.rows, seed)
        .ok_or_else(|| format!("{problem}: its inputs do not all have the same bounds"))?;
    let before = cpu_seconds();
    let (seconds, digest) =
        timed(|| Digest::of(&rows, &instance.space, Direction::Minimize, seed, &Unwatched));
    let digest = digest?;
    let cpu = cpu_seconds().zip(before).map(|(now, before)| now - before);
    let learned = Learned {
        problem: problem.to_owned(),
        seed,
        earlier: options.earlier,
        rows: options.rows,
        active: instance.active.clone().unwrap_or_default(),
        named: digest.inputs.clone(),
        log10_chance: digest.log_chances.iter().copied().fold(f64::NEG_INFINITY, f64::max) / 10_f64.ln(),
        explained: digest.explained,
        kept: digest.points.len(),
        seconds,
        cpu_seconds: cpu,
        peak_mb: peak_rss_mb(),
        lowest: rows.lowest(),
    };
    Ok((learned, digest))
}

/// An evaluation under way.
struct Job {
    end: f64,
    id: TrialId,
    value: f64,
}

/// One study.
fn one(
    options: &Options,
    problem: &str,
    instance: &Instance,
    digest: Option<&Digest>,
    seed: u64,
) -> Result<Run, Failure> {
    let (strategy, budget) = (Strategy::auto(), Some(options.evaluations));
    let mut study = Study::new(instance.space.clone(), Direction::Minimize, strategy, budget, seed)?;
    let mut own = 0.0;
    let taken = match digest {
        Some(digest) => {
            let (seconds, taken) = timed(|| study.recall(digest));
            own += seconds;
            taken?
        }
        None => false,
    };
    let (mut jobs, mut asks): (Vec<Job>, Vec<f64>) = (vec![], vec![]);
    let (mut clock, mut started, mut best) = (0.0, 0, f64::INFINITY);
    let mut curve = vec![];
    while curve.len() < options.evaluations {
        while jobs.len() < options.workers && started < options.evaluations {
            let (seconds, asked) = timed(|| study.ask(1));
            asks.push(seconds);
            let suggestion = asked?.pop().ok_or("the space has no point left")?;
            let uniform = Stream::new(seed, "duration", suggestion.id.0).uniform();
            let end = clock + SHORTEST + (LONGEST - SHORTEST) * uniform;
            let value = instance.measure(&suggestion.point, suggestion.id.0);
            let at = jobs.partition_point(|job: &Job| job.end <= end);
            jobs.insert(at, Job { end, id: suggestion.id, value });
            started += 1;
        }
        let Job { end, id, value } = jobs.remove(0);
        clock = end;
        let (seconds, told) = timed(|| study.tell(id, value));
        told?;
        own += seconds;
        best = f64::min(best, instance.truth(&study.point(id)?));
        curve.push(best - instance.optimum);
    }
    own += asks.iter().sum::<f64>();
    let insight = study.insight();
    let mut named: Vec<usize> = insight.active.iter().map(|active| active.input).collect();
    named.sort_unstable();
    Ok(Run {
        problem: problem.to_owned(),
        seed,
        informed: digest.is_some(),
        taken,
        regrets: MOMENTS.iter().filter_map(|moment| curve.get(moment - 1).copied()).collect(),
        regret: best - instance.optimum,
        named,
        hours: clock / 3600.0,
        own_seconds: own,
        ask_median: quantile(&mut asks, 0.5),
        ask_longest: quantile(&mut asks, 1.0),
        peak_mb: peak_rss_mb(),
        findings: insight.findings.iter().map(|finding| finding.fact.to_string()).collect(),
        curve,
    })
}

/// Writes `three-PROBLEM.svg`: the median regret of the seeds with the earlier results and without.
pub fn write_figures(options: &Options, runs: &[Run], folder: &Path) -> std::io::Result<()> {
    for problem in &options.problems {
        let of = |informed: bool, name: &str| {
            let runs: Vec<&Run> =
                runs.iter().filter(|run| run.problem == *problem && run.informed == informed).collect();
            let length = runs.iter().map(|run| run.curve.len()).min().unwrap_or(0);
            let median = |i: usize| {
                let mut values: Vec<f64> = runs.iter().map(|run| run.curve[i].max(1e-9)).collect();
                ((i + 1) as f64, quantile(&mut values, 0.5))
            };
            Series { name: name.to_owned(), points: (0..length).map(median).collect(), ..Series::default() }
        };
        let chart = LineChart {
            title: format!("{problem} in {} inputs, {} workers", options.inputs, options.workers),
            x: Axis::linear("evaluations"),
            y: Axis::log("regret"),
            series: vec![of(true, &format!("with {} earlier results", options.rows)), of(false, "without")],
            ..LineChart::default()
        };
        std::fs::write(folder.join(format!("three-{problem}.svg")), chart.to_svg())?;
    }
    Ok(())
}
