//! `foresight`: are the gains that a report foresees those that come?
//!
//! Studies of test problems with every input modelled. At several moments of each the gain of the next evaluations is
//! foreseen; then they are made, and found gains are held against expected ones. `tribo report` corrects a forecast by what came
//! of the last one; what it would say then is a number with an interval, that next to nothing is to come, or not a word. The
//! median of found/expected of the numbers should lie between 0.5 and 2, and three of four gains in their intervals.

use crate::dimension::parse_positive;
use crate::objective;
use crate::seeds::{Failure, Spread, side_by_side};
use serde::Serialize;
use tribo::analysis::{Foresight, foresight, validation};
use tribo::space::Direction;
use tribo::strategy::{Settings, Strategy, Study};
use tribo::surrogate::watch::Unwatched;
use tribo_study::view::{Forecast, Hindsight, is_nothing};

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
    /// Seeds of each.
    #[arg(long, default_value_t = 8, value_parser = parse_positive)]
    pub seeds: usize,
    /// The first of them.
    #[arg(long, default_value_t = 1)]
    pub first_seed: u64,
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
    /// The gain that the model foresees, if it does.
    pub expected: Option<f64>,
    /// The number that a report would say, if it does, and its interval.
    pub number: Option<[f64; 3]>,
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
    /// found/expected, where the model foresees something.
    pub ratio: Option<Spread>,
    /// Moments at which a report would say a number.
    pub numbers: usize,
    /// found/expected at those.
    pub numbers_ratio: Option<Spread>,
    /// At how many of those the gain was in the interval.
    pub inside: usize,
    /// The upper end of intervals over the lower.
    pub width: Option<Spread>,
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
            one(options, problem, options.first_seed + index as u64)
        })?;
        moments.extend(runs.into_iter().flatten());
    }
    let names = options.problems.iter().map(|name| (name.as_str(), Some(name)));
    let row = |(problem, only): (&str, Option<&String>)| {
        let own: Vec<&Moment> =
            moments.iter().filter(|moment| only.is_none_or(|name| moment.problem == *name)).collect();
        let count = |said: Said| own.iter().filter(|moment| moment.said == said).count();
        let spread = |values: Vec<f64>| (!values.is_empty()).then(|| Spread::of(values));
        let ratio =
            |moment: &&Moment| Some(moment.found / moment.expected.filter(|expected| *expected > 0.0)?);
        let numbers: Vec<(f64, [f64; 3])> =
            own.iter().filter_map(|moment| Some((moment.found, moment.number?))).collect();
        Row {
            problem: problem.to_owned(),
            moments: own.len(),
            ratio: spread(own.iter().filter_map(ratio).collect()),
            numbers: numbers.len(),
            numbers_ratio: spread(numbers.iter().map(|(found, [_, gain, _])| found / gain).collect()),
            inside: numbers.iter().filter(|(found, [low, _, high])| (low..=high).contains(&found)).count(),
            width: spread(numbers.iter().map(|(_, [low, _, high])| high / low).collect()),
            nothing: count(Said::Nothing) + count(Said::WronglyNothing),
            nothing_came: count(Said::Nothing),
        }
    };
    let rows = names.chain([("all", None)]).map(row).collect();
    Ok((moments, rows))
}

fn one(options: &Options, problem: &str, seed: u64) -> Result<Vec<Moment>, Failure> {
    let (name, dim) = problem.split_once('@').unwrap_or((problem, "2"));
    let function = objective::problem(name, dim.parse()?, None, true, seed)?;
    let space = objective::space(&function)?;
    let mut study = Study::new(space, Direction::Minimize, Strategy::Bo(Settings::bo()), None, seed)?;
    let (mut best, mut worst): (Vec<f64>, f64) = (Vec::new(), f64::NEG_INFINITY);
    // What the model foresees after so many results, and how far they spread.
    let mut moments: Vec<(usize, Option<Foresight>, f64)> = Vec::new();
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
            moments.push((n, ahead, worst - best[n - 1]));
        }
    }
    let gain = |after: usize| best[after - 1] - best[after + options.ahead - 1];
    let moment = |(after, ahead, spread): &(usize, Option<Foresight>, f64)| {
        let last = moments.iter().find(|(then, _, _)| then + options.ahead == *after);
        let last = last.and_then(|(then, ahead, _)| {
            Some(Hindsight { expected: ahead.as_ref()?.gain, found: gain(*then) })
        });
        let forecast = last.zip(ahead.as_ref()).map(|(last, ahead)| last.forecast(ahead, *spread));
        Moment {
            problem: problem.to_owned(),
            seed,
            after: *after,
            expected: ahead.as_ref().map(|ahead| ahead.gain),
            number: match &forecast {
                Some(Forecast::Gain(said)) => Some([said.low, said.gain, said.high]),
                _ => None,
            },
            found: gain(*after),
            said: match forecast {
                Some(Forecast::Gain(_)) => Said::Number,
                Some(Forecast::Nothing(_)) if is_nothing(gain(*after), *spread) => Said::Nothing,
                Some(Forecast::Nothing(_)) => Said::WronglyNothing,
                _ => Said::Silence,
            },
        }
    };
    Ok(moments.iter().map(moment).collect())
}
