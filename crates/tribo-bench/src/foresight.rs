//! `foresight`: are the gains that a report foresees those that come?
//!
//! Studies of test problems with every input modelled. At several moments of each the gain of the next evaluations is
//! foreseen; then they are made, and found gains are held against expected ones. `tribo report` repeats a forecast only if the
//! last one was right; what it would say then is a number, or that next to nothing is to come. The median of found/expected of
//! the numbers should lie between 0.5 and 2.

use crate::dimension::parse_positive;
use crate::objective;
use crate::seeds::{Failure, Spread, side_by_side};
use serde::Serialize;
use tribo::analysis::{foresight, validation};
use tribo::space::Direction;
use tribo::strategy::{Settings, Strategy, Study};
use tribo::surrogate::watch::Unwatched;
use tribo_study::view::{Hindsight, is_nothing};

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

/// What a report would say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Said {
    /// Not a word.
    Silence,
    /// A number.
    Number,
    /// That next to nothing is to come, and that was so.
    Nothing,
    /// That next to nothing is to come, and something came.
    WronglyNothing,
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
    /// What a report would say.
    pub said: Said,
}

/// What came of all moments.
#[derive(Debug, Clone, Serialize)]
pub struct Row {
    /// Which problem; `all` at the end.
    pub problem: String,
    /// Moments.
    pub moments: usize,
    /// found/expected, where something was foreseen.
    pub ratio: Option<Spread>,
    /// Moments at which a report would say a number.
    pub numbers: usize,
    /// found/expected at those.
    pub numbers_ratio: Option<Spread>,
    /// Moments at which it would say that next to nothing is to come.
    pub nothing: usize,
    /// At how many of those that was so.
    pub nothing_came: usize,
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
    let row = |(problem, only): (&str, Option<&String>)| {
        let own: Vec<&Moment> =
            moments.iter().filter(|moment| only.is_none_or(|name| moment.problem == *name)).collect();
        let count = |said: Said| own.iter().filter(|moment| moment.said == said).count();
        let numbers: Vec<&Moment> =
            own.iter().copied().filter(|moment| moment.said == Said::Number).collect();
        Row {
            problem: problem.to_owned(),
            moments: own.len(),
            ratio: ratios(&own),
            numbers: numbers.len(),
            numbers_ratio: ratios(&numbers),
            nothing: count(Said::Nothing) + count(Said::WronglyNothing),
            nothing_came: count(Said::Nothing),
        }
    };
    let rows = names.chain([("all", None)]).map(row).collect();
    Ok((moments, rows))
}

/// found/expected, where something was expected.
fn ratios(moments: &[&Moment]) -> Option<Spread> {
    let ratio = |moment: &&Moment| Some(moment.found / moment.expected.filter(|expected| *expected > 0.0)?);
    let ratios: Vec<f64> = moments.iter().filter_map(ratio).collect();
    (!ratios.is_empty()).then(|| Spread::of(ratios))
}

fn one(options: &Options, problem: &str, seed: u64) -> Result<Vec<Moment>, Failure> {
    let (name, dim) = problem.split_once('@').unwrap_or((problem, "2"));
    let function = objective::problem(name, dim.parse()?, None, true, seed)?;
    let space = objective::space(&function)?;
    let mut study = Study::new(space, Direction::Minimize, Strategy::Bo(Settings::bo()), None, seed)?;
    let (mut best, mut worst): (Vec<f64>, f64) = (Vec::new(), f64::NEG_INFINITY);
    let mut expected: Vec<(usize, Option<f64>)> = Vec::new();
    let last = options.after.iter().copied().max().unwrap_or(0);
    for n in 1..=last + options.ahead {
        let asked = study.ask(1)?.remove(0);
        let value = objective::evaluate(&function, &asked.point);
        study.tell(asked.id, value)?;
        worst = worst.max(value);
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
    let gain = |after: usize| best[after - 1] - best[after + options.ahead - 1];
    let spread = worst - best[best.len() - 1];
    let was_right = |at: usize| {
        let last = expected.iter().find(|(after, _)| after + options.ahead == at);
        let last = last
            .and_then(|(after, foreseen)| Some(Hindsight { expected: (*foreseen)?, found: gain(*after) }));
        last.is_some_and(|last| last.was_right(spread))
    };
    let moment = |(after, foreseen): &(usize, Option<f64>)| Moment {
        problem: problem.to_owned(),
        seed,
        after: *after,
        expected: *foreseen,
        found: gain(*after),
        said: match foreseen {
            Some(expected) if was_right(*after) => match is_nothing(*expected, spread) {
                true if is_nothing(gain(*after), spread) => Said::Nothing,
                true => Said::WronglyNothing,
                false => Said::Number,
            },
            _ => Said::Silence,
        },
    };
    Ok(expected.iter().map(moment).collect())
}
