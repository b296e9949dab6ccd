//! `foresight`: are the gains that a report foresees those that come?
//!
//! Studies of test problems with every input modelled. At several moments of each the gain of the next evaluations is
//! foreseen as `tribo report` does it; then they are made, and found gains are held against expected ones. Where nothing is
//! foreseen nothing is compared, and the share of those moments is printed too. The median of found/expected should lie
//! between 0.5 and 2.

use crate::dimension::parse_positive;
use crate::objective;
use crate::seeds::{Failure, Spread, side_by_side};
use serde::Serialize;
use tribo::analysis::{foresight, validation};
use tribo::space::Direction;
use tribo::strategy::{Settings, Strategy, Study};
use tribo::surrogate::watch::Unwatched;

/// What to run.
#[derive(Debug, Clone, clap::Args)]
pub struct Options {
    /// Test problems, with the number of inputs after @.
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "branin@2,hartmann4@4,hartmann6@6,levy@4,rosenbrock@4,ackley@5"
    )]
    pub problems: Vec<String>,
    /// Seeds of each, from 1.
    #[arg(long, default_value_t = 8, value_parser = parse_positive)]
    pub seeds: usize,
    /// Moments at which the gain is foreseen, in results.
    #[arg(long, value_delimiter = ',', default_value = "20,40")]
    pub after: Vec<usize>,
    /// Evaluations that are foreseen.
    #[arg(long, default_value_t = 20, value_parser = parse_positive)]
    pub ahead: usize,
    /// Threads.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..))]
    pub threads: u16,
}

/// One moment of one study.
#[derive(Debug, Clone, Serialize)]
pub struct Moment {
    /// The problem.
    pub problem: String,
    /// The seed.
    pub seed: u64,
    /// Results there were.
    pub after: usize,
    /// The gain foreseen, if something was.
    pub expected: Option<f64>,
    /// The gain that came.
    pub found: f64,
}

/// What came of all moments.
#[derive(Debug, Clone, Serialize)]
pub struct Row {
    /// Which problem; `all` at the end.
    pub problem: String,
    /// Moments.
    pub moments: usize,
    /// The part of them at which something was foreseen.
    pub foreseen: f64,
    /// found/expected, where something was.
    pub ratio: Option<Spread>,
}

/// Runs all studies: each moment, and a row for each problem and for all.
pub fn run(options: &Options) -> Result<(Vec<Moment>, Vec<Row>), Failure> {
    let mut moments = Vec::new();
    for problem in &options.problems {
        let runs = side_by_side(options.seeds, options.threads.into(), |index| {
            one(options, problem, 1 + index as u64)
        })?;
        moments.extend(runs.into_iter().flatten());
    }
    let names = options.problems.iter().map(|name| (name.as_str(), Some(name)));
    let rows = names.chain([("all", None)]).map(|(problem, only)| {
        let own: Vec<&Moment> =
            moments.iter().filter(|m| only.is_none_or(|name| m.problem == *name)).collect();
        let ratio =
            |moment: &&Moment| Some(moment.found / moment.expected.filter(|expected| *expected > 0.0)?);
        let ratios: Vec<f64> = own.iter().filter_map(ratio).collect();
        let foreseen = ratios.len() as f64 / own.len().max(1) as f64;
        let ratio = (!ratios.is_empty()).then(|| Spread::of(ratios));
        Row { problem: problem.to_owned(), moments: own.len(), foreseen, ratio }
    });
    let rows = rows.collect();
    Ok((moments, rows))
}

fn one(options: &Options, problem: &str, seed: u64) -> Result<Vec<Moment>, Failure> {
    let (name, dim) = problem.split_once('@').unwrap_or((problem, "2"));
    let function = objective::problem(name, dim.parse()?, None, true, seed)?;
    let space = objective::space(&function)?;
    let mut study = Study::new(space, Direction::Minimize, Strategy::Bo(Settings::bo()), None, seed)?;
    let mut best: Vec<f64> = Vec::new();
    let mut expected = Vec::new();
    let last = options.after.iter().copied().max().unwrap_or(0);
    for n in 1..=last + options.ahead {
        let asked = study.ask(1)?.remove(0);
        let value = objective::evaluate(&function, &asked.point);
        study.tell(asked.id, value)?;
        best.push(best.last().copied().unwrap_or(f64::INFINITY).min(value));
        if options.after.contains(&n) {
            let look = study.look(&Unwatched)?;
            let ahead = match &look {
                Some(look) => foresight(look, validation(look).as_ref(), options.ahead, seed)?,
                None => None,
            };
            expected.push((n, ahead.map(|ahead| ahead.gain)));
        }
    }
    let moment = |(after, expected): (usize, Option<f64>)| Moment {
        problem: problem.to_owned(),
        seed,
        after,
        expected,
        found: best[after - 1] - best[after + options.ahead - 1],
    };
    Ok(expected.into_iter().map(moment).collect())
}
