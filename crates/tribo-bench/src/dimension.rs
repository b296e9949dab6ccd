//! `dimension`: convergence with many inputs, the paper's dimension study and its harder relatives.
//!
//! One study for each seed; the seed also decides where active inputs are placed and where a shifted optimum goes. The
//! optimiser's own time is that of asks and tells; evaluations are free. No point is placed at the centre on purpose.

use crate::machine::{peak_rss_mb, timed};
use crate::objective;
use crate::seeds::{Failure, Spread, side_by_side};
use clap::ValueEnum;
use serde::Serialize;
use std::path::{Path, PathBuf};
use tribo::embed;
use tribo::space::Direction;
use tribo::strategy::{Settings, Strategy, Study};
use tribo_chart::{Axis, Chart, LineChart, Series};

/// What to run.
#[derive(Debug, Clone, clap::Args)]
pub struct Options {
    /// Test problem.
    #[arg(long)]
    pub problem: String,
    /// Inputs D.
    #[arg(long)]
    pub dim: usize,
    /// Inputs of the problem itself, to be placed at random among the others; all of them if not given.
    #[arg(long)]
    pub active: Option<usize>,
    /// Move the optimum away from where it was.
    #[arg(long)]
    pub shift: bool,
    /// Strategy.
    #[arg(long, value_enum, default_value_t = Which::Bo)]
    pub strategy: Which,
    /// Embedding; gaussian for paper and identity for bo if not given.
    #[arg(long, value_enum)]
    pub embed: Option<Embed>,
    /// Model dimension d of a random embedding.
    #[arg(long, default_value_t = 10)]
    pub model_dim: usize,
    /// Half width of the gaussian embedding.
    #[arg(long, default_value_t = 1.0)]
    pub half_width: f64,
    /// Independent embeddings.
    #[arg(long, default_value_t = 1)]
    pub embeddings: usize,
    /// Evaluations.
    #[arg(long, default_value_t = 200, value_parser = parse_positive)]
    pub evaluations: usize,
    /// Number of seeds: 1, 2, ...
    #[arg(long, default_value_t = 10, value_parser = parse_positive)]
    pub seeds: usize,
    /// Threads: seeds that run at the same time.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..))]
    pub threads: u16,
    /// Folder for the figure; none is drawn without it.
    #[arg(long)]
    pub out: Option<PathBuf>,
}

/// A number from one on.
pub fn parse_positive(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|&n| n > 0).ok_or_else(|| "expected a whole number from 1 on".into())
}

/// Strategies by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Which {
    /// Classical Bayesian optimisation, in the embedding asked for.
    Bo,
    /// The paper's.
    Paper,
    /// Chosen by size and budget.
    Auto,
    /// Uniform points.
    Random,
}

/// Embeddings by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Embed {
    /// Every input is modelled.
    Identity,
    /// A random linear map.
    Gaussian,
    /// Every input copies a coordinate or its negative.
    Hashing,
    /// Every input copies a coordinate.
    HashingUnsigned,
}

impl Options {
    fn strategy(&self) -> Strategy {
        let (dim, half_width) = (self.model_dim, self.half_width);
        let embedding = self.embed.map(|embed| match embed {
            Embed::Identity => embed::Kind::Identity,
            Embed::Gaussian => embed::Kind::Gaussian { dim, half_width },
            Embed::Hashing => embed::Kind::Hashing { dim, signs: true },
            Embed::HashingUnsigned => embed::Kind::Hashing { dim, signs: false },
        });
        let n_embeddings = self.embeddings;
        let with = |settings: Settings, usual: embed::Kind| Settings {
            embedding: embedding.unwrap_or(usual),
            n_embeddings,
            ..settings
        };
        match self.strategy {
            Which::Bo => Strategy::Bo(with(Settings::bo(), embed::Kind::Identity)),
            Which::Paper => {
                Strategy::Paper(with(Settings::paper(dim), embed::Kind::Gaussian { dim, half_width }))
            }
            Which::Auto => Strategy::auto(),
            Which::Random => Strategy::Random,
        }
    }

    /// A short name for titles and files.
    pub fn label(&self) -> String {
        let embed = self.embed.and_then(|embed| embed.to_possible_value());
        let embed = embed.map_or(String::new(), |embed| format!("-{}", embed.get_name()));
        let strategy = self.strategy.to_possible_value();
        let strategy = strategy.map_or(String::new(), |strategy| strategy.get_name().to_owned());
        let shifted = if self.shift { "-shifted" } else { "" };
        format!("{}{shifted}-{}-{strategy}{embed}", self.problem, self.dim)
    }
}

/// What came of one seed.
#[derive(Debug, Clone, Serialize)]
pub struct Run {
    /// Its seed.
    pub seed: u64,
    /// What ran.
    pub label: String,
    /// Best value after each checkpoint.
    pub values: Vec<(usize, f64)>,
    /// Best value in the end.
    pub best: f64,
    /// What it is above the optimum by.
    pub regret: f64,
    /// Part of the inputs that were clipped, mean of all evaluations.
    pub clip_fraction: f64,
    /// Seconds in ask and tell.
    pub own_s: f64,
    /// Best value after each evaluation.
    #[serde(skip)]
    pub trace: Vec<f64>,
}

/// What all seeds say together.
#[derive(Debug, Clone, Serialize)]
pub struct Summary {
    /// What ran.
    pub label: String,
    /// What the strategy is and why.
    pub explanation: String,
    /// Model dimension asked for.
    pub model_dim: usize,
    /// Seeds.
    pub seeds: usize,
    /// The smallest value of the problem.
    pub optimum: f64,
    /// At each checkpoint.
    pub checkpoints: Vec<Checkpoint>,
    /// Part of the inputs that were clipped, mean.
    pub clip_fraction: f64,
    /// Seconds in ask and tell, for one seed.
    pub own_s: Spread,
    /// Seconds for everything.
    pub wall_s: f64,
    /// Largest resident memory in MB.
    pub peak_rss_mb: Option<f64>,
}

/// Best values and regrets after some number of evaluations.
#[derive(Debug, Clone, Serialize)]
pub struct Checkpoint {
    /// The number.
    pub evaluations: usize,
    /// Best values.
    pub best: Spread,
    /// What they are above the optimum by.
    pub regret: Spread,
}

/// Runs all seeds; `progress` is called with each seed as it ends.
pub fn measure(options: &Options, progress: impl Fn(&Run) + Sync) -> Result<(Vec<Run>, Summary), Failure> {
    let (wall_s, runs) = timed(|| {
        side_by_side(options.seeds, usize::from(options.threads), |i| {
            let run = run(options, i as u64 + 1)?;
            progress(&run.0);
            Ok(run)
        })
    });
    let (runs, explanations): (Vec<Run>, Vec<(String, f64)>) = runs?.into_iter().unzip();
    let (explanation, optimum) = explanations[0].clone();
    let checkpoints = checkpoints(options.evaluations)
        .into_iter()
        .map(|evaluations| {
            let best = || runs.iter().map(|run| run.trace[evaluations - 1]);
            Checkpoint {
                evaluations,
                best: Spread::of(best()),
                regret: Spread::of(best().map(|value| value - optimum)),
            }
        })
        .collect();
    let summary = Summary {
        label: options.label(),
        explanation,
        model_dim: options.model_dim,
        seeds: options.seeds,
        optimum,
        checkpoints,
        clip_fraction: Spread::of(runs.iter().map(|run| run.clip_fraction)).mean,
        own_s: Spread::of(runs.iter().map(|run| run.own_s)),
        wall_s,
        peak_rss_mb: peak_rss_mb(),
    };
    Ok((runs, summary))
}

/// 25, 50, 100, ... and the last.
fn checkpoints(evaluations: usize) -> Vec<usize> {
    let doubling = std::iter::successors(Some(25), |n| Some(2 * n));
    doubling.take_while(|&n| n < evaluations).chain([evaluations]).collect()
}

fn run(options: &Options, seed: u64) -> Result<(Run, (String, f64)), Failure> {
    let problem = objective::problem(&options.problem, options.dim, options.active, options.shift, seed)?;
    let (space, budget) = (objective::space(&problem)?, Some(options.evaluations));
    let mut study = Study::new(space, Direction::Minimize, options.strategy(), budget, seed)?;
    let (mut best, mut trace, mut own_s, mut clipped) = (f64::INFINITY, vec![], 0.0, 0.0);
    for _ in 0..options.evaluations {
        let (asking, asked) = timed(|| study.ask(1));
        let asked = asked?;
        let Some(suggestion) = asked.first() else { return Err("the space has no point left".into()) };
        let value = objective::evaluate(&problem, &suggestion.point);
        let (telling, told) = timed(|| study.tell(suggestion.id, value));
        told?;
        own_s += asking + telling;
        clipped += study.clip_fraction(suggestion.id)?;
        best = best.min(value);
        trace.push(best);
    }
    let optimum = problem.optimum_value();
    let run = Run {
        seed,
        label: options.label(),
        values: checkpoints(options.evaluations).into_iter().map(|n| (n, trace[n - 1])).collect(),
        best,
        regret: best - optimum,
        clip_fraction: clipped / options.evaluations as f64,
        own_s,
        trace,
    };
    Ok((run, (study.explanation().to_owned(), optimum)))
}

/// Writes the convergence, median and quartiles of the regret, and returns the name of the file.
pub fn write_figure(options: &Options, runs: &[Run], optimum: f64, folder: &Path) -> std::io::Result<String> {
    let regret = |n: usize| Spread::of(runs.iter().map(|run| run.trace[n - 1] - optimum));
    let spreads: Vec<(f64, Spread)> = (1..=options.evaluations).map(|n| (n as f64, regret(n))).collect();
    let chart = LineChart {
        title: format!("{}, {} seeds: median and quartiles", options.label(), runs.len()),
        x: Axis::linear("evaluations"),
        y: Axis::log("best value above the optimum"),
        series: vec![Series {
            name: options.label(),
            points: spreads.iter().map(|(n, spread)| (*n, spread.median)).collect(),
            band: spreads.iter().map(|(n, spread)| (*n, spread.q25, spread.q75)).collect(),
            ..Series::default()
        }],
        ..LineChart::default()
    };
    let file = format!("dimension-{}.svg", options.label());
    std::fs::write(folder.join(&file), chart.to_svg())?;
    Ok(file)
}
