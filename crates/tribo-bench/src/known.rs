//! `known`: does a search of very many inputs profit from results that were there before it?
//!
//! Three runs of the same seed: without any, with a uniform design, and with results around the optimum, which differ from
//! it by a normal law in every input that matters and are uniform in the others. Regret counts new evaluations only.
//! With `--late` fits to many results are made beside, and arrive so many evaluations after they fell due: do proposals get worse
//! that go on with the model as it was?

use crate::dimension::parse_positive;
use crate::objective;
use crate::seeds::{Failure, Spread, side_by_side};
use serde::Serialize;
use tribo::problems::Problem;
use tribo::rng::Stream;
use tribo::space::{Direction, Point, Space, Values};
use tribo::strategy::{Refit, Strategy, Study};
use tribo::surrogate::watch::Unwatched;

/// What to run.
#[derive(Debug, Clone, clap::Args)]
pub struct Options {
    /// Test problem of the inputs that matter.
    #[arg(long, default_value = "hartmann6")]
    pub function: String,
    /// Inputs that matter.
    #[arg(long, default_value_t = 6, value_parser = parse_positive)]
    pub active: usize,
    /// Inputs.
    #[arg(long, default_value_t = 10_000, value_parser = parse_positive)]
    pub inputs: usize,
    /// Results from before.
    #[arg(long, default_value_t = 300, value_parser = parse_positive)]
    pub known: usize,
    /// Standard deviation of those around the optimum, as a part of the range.
    #[arg(long, default_value_t = 0.1)]
    pub around: f64,
    /// What is known before.
    #[arg(long, value_enum, value_delimiter = ',', default_values = ["nothing", "design", "around-optimum"])]
    pub before: Vec<Before>,
    /// Evaluations after which a fit arrives that is made beside; without it fits are made in front.
    #[arg(long)]
    pub late: Option<usize>,
    /// New evaluations.
    #[arg(long, default_value_t = 150, value_parser = parse_positive)]
    pub evaluations: usize,
    /// Seeds, from 1 or from the first.
    #[arg(long, default_value_t = 20, value_parser = parse_positive)]
    pub seeds: usize,
    /// The first seed.
    #[arg(long, default_value_t = 1)]
    pub first_seed: u64,
    /// Threads.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..))]
    pub threads: u16,
}

/// Which results there are before the search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Before {
    /// None.
    Nothing,
    /// A uniform design.
    Design,
    /// Results around the optimum.
    AroundOptimum,
}

/// What came of one kind.
#[derive(Debug, Clone, Serialize)]
pub struct Row {
    /// What was known.
    pub before: Before,
    /// Regret of the best known result.
    pub known: Option<Spread>,
    /// Regret after the new evaluations, the known results included.
    pub regret: Spread,
    /// The same for every seed.
    pub regrets: Vec<f64>,
}

/// Runs all kinds.
pub fn run(options: &Options) -> Result<Vec<Row>, Failure> {
    let one_kind = |before: Before| {
        let runs = side_by_side(options.seeds, options.threads.into(), |index| {
            one(options, before, options.first_seed + index as u64)
        })?;
        let known = (before != Before::Nothing).then(|| Spread::of(runs.iter().map(|run| run.0)));
        let regrets: Vec<f64> = runs.iter().map(|run| run.1).collect();
        Ok(Row { before, known, regret: Spread::of(regrets.iter().copied()), regrets })
    };
    options.before.iter().copied().map(one_kind).collect()
}

/// Regret of the best known result, and at the end.
fn one(options: &Options, before: Before, seed: u64) -> Result<(f64, f64), Failure> {
    let problem = objective::problem(&options.function, options.inputs, Some(options.active), true, seed)?;
    let space = objective::space(&problem)?;
    let evaluations = Some(options.evaluations);
    let mut study = Study::new(space, Direction::Minimize, Strategy::auto(), evaluations, seed)?;
    let mut best = f64::INFINITY;
    let mut stream = Stream::new(seed, "known results", 0);
    let count = if before == Before::Nothing { 0 } else { options.known };
    for _ in 0..count {
        let point = known_point(options, before, &problem, study.space(), &mut stream)?;
        let value = objective::evaluate(&problem, &point);
        best = best.min(value);
        study.add(&point, value)?;
    }
    let known = best - problem.optimum_value();
    let mut under_way: Option<(usize, Refit)> = None;
    study.refit_beside(options.late.is_some());
    for number in 0..options.evaluations {
        if let Some(late) = options.late {
            if let Some((_, refit)) = under_way.take_if(|(since, _)| number >= *since + late) {
                study.take_refit(refit.run(&Unwatched)?);
            }
            if under_way.is_none() {
                under_way = study.refit().map(|refit| (number, refit));
            }
        }
        for asked in study.ask(1)? {
            let value = objective::evaluate(&problem, &asked.point);
            best = best.min(value);
            study.tell(asked.id, value)?;
        }
    }
    Ok((known, best - problem.optimum_value()))
}

fn known_point(
    options: &Options,
    before: Before,
    problem: &Problem,
    space: &Space,
    stream: &mut Stream,
) -> Result<Point, Failure> {
    let optimum = &problem.optimisers()[0];
    let x: Vec<f64> = (0..problem.dim())
        .map(|j| {
            let (low, high) = (problem.low()[j], problem.high()[j]);
            match before {
                Before::AroundOptimum => {
                    (optimum[j] + options.around * (high - low) * stream.normal()).clamp(low, high)
                }
                Before::Nothing | Before::Design => low + stream.uniform() * (high - low),
            }
        })
        .collect();
    let columns = match space.parameters().len() {
        1 => vec![Values::Float(x)],
        _ => x.into_iter().map(|x| Values::Float(vec![x])).collect(),
    };
    Ok(space.point(columns)?)
}
