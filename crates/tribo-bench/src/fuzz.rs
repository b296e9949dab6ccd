//! `fuzz`: `auto` on random rough problems. No ask may fail, no proposal may be a makeshift, and a study made again from its
//! records must go on with the same trial.
//!
//! Problems are those of [`Rough`]: steps, kinks, ripples, plateaus, walks, constants, failures of none to all. A run has up
//! to a dozen workers whose answers come in any order, and a budget that is known or not. What is counted is what
//! breaks; how good the points are is for the other benchmarks.

use crate::dimension::parse_positive;
use crate::machine::timed;
use crate::seeds::Failure;
use rayon::prelude::*;
use serde::Serialize;
use tribo::problems::Rough;
use tribo::rng::Stream;
use tribo::space::Direction;
use tribo::strategy::{Strategy, Study, Suggestion};
use tribo::trial::{Outcome, Trial, TrialId};

/// What to run.
#[derive(Debug, Clone, clap::Args)]
pub struct Options {
    /// Problems.
    #[arg(long, default_value_t = 1_000, value_parser = parse_positive)]
    pub problems: usize,
    /// Seed of the first one; the others follow.
    #[arg(long, default_value_t = 1)]
    pub first_seed: u64,
    /// Least and most inputs.
    #[arg(long, num_args = 2, default_values_t = [41, 500])]
    pub inputs: Vec<usize>,
    /// Most evaluations of a run; the least are 60, or this if it is less.
    #[arg(long, default_value_t = 200, value_parser = parse_positive)]
    pub evaluations: usize,
    /// Threads.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..))]
    pub threads: u16,
}

/// What came of one problem.
#[derive(Debug, Clone, Serialize)]
pub struct Row {
    /// Its seed.
    pub seed: u64,
    /// What it is.
    pub problem: String,
    /// Trials asked.
    pub trials: usize,
    /// Those that gave a value.
    pub measured: usize,
    /// Trials whose proposal was a makeshift.
    pub fallbacks: usize,
    /// What broke first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub broken: Option<String>,
    /// Seconds in the strategy.
    pub own_s: f64,
}

/// What came of all.
#[derive(Debug, Clone, Serialize)]
pub struct Summary {
    /// Problems.
    pub problems: usize,
    /// Trials asked.
    pub trials: usize,
    /// Those that gave a value.
    pub measured: usize,
    /// Trials whose proposal was a makeshift.
    pub fallbacks: usize,
    /// Problems that broke something.
    pub broken: usize,
    /// Seconds in the strategy for 200 trials.
    pub own_s_per_200: f64,
}

impl Summary {
    /// Adds up.
    pub fn of(rows: &[Row]) -> Summary {
        let sum = |count: fn(&Row) -> usize| rows.iter().map(count).sum::<usize>();
        let trials = sum(|row| row.trials);
        let own_s: f64 = rows.iter().map(|row| row.own_s).sum();
        Summary {
            problems: rows.len(),
            trials,
            measured: sum(|row| row.measured),
            fallbacks: sum(|row| row.fallbacks),
            broken: sum(|row| usize::from(row.broken.is_some())),
            own_s_per_200: 200.0 * own_s / trials.max(1) as f64,
        }
    }
}

/// What happened, in order.
enum Event {
    Asked(Box<Trial>),
    Told(TrialId, Outcome),
}

/// Runs all problems, in the order of their seeds where there is one thread. `done` is called with each as it ends.
pub fn run(options: &Options, done: impl Fn(&Row) + Sync) -> Result<Vec<Row>, Failure> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(options.threads.into()).build()?;
    let seeds: Vec<u64> = (0..options.problems as u64).map(|k| options.first_seed + k).collect();
    let noted = |&seed: &u64| one(options, seed).inspect(&done);
    pool.install(|| seeds.par_iter().with_max_len(1).map(noted).collect())
}

/// Runs the problem of one seed.
pub fn one(options: &Options, seed: u64) -> Result<Row, Failure> {
    let mut stream = Stream::new(seed, "fuzz", 0);
    let least = options.inputs[0].max(1);
    let most = options.inputs[1].max(least);
    let rough = Rough::new(least + stream.below(most - least + 1), seed)?;
    let fewest = options.evaluations.min(60);
    let evaluations = fewest + stream.below(options.evaluations - fewest + 1);
    let budget = (stream.below(2) == 0).then_some(evaluations);
    let workers = if stream.below(2) == 0 { 1 } else { 1 + stream.below(12) };
    let direction = if stream.below(2) == 0 { Direction::Minimize } else { Direction::Maximize };
    let make = || Study::new(rough.space().clone(), direction, Strategy::auto(), budget, seed);
    let mut study = make()?;
    let mut row = Row {
        seed,
        problem: format!("{}; {workers} workers", rough.describe()),
        trials: 0,
        measured: 0,
        fallbacks: 0,
        broken: None,
        own_s: 0.0,
    };
    // Points of the space, if they can be counted.
    let mut values = rough.space().inputs().map(|input| input.n_values);
    let size = values.try_fold(1_u64, |size, n| n.map(|n| size.saturating_mul(n)));
    let mut events: Vec<Event> = vec![];
    let mut open: Vec<Suggestion> = vec![];
    while study.history().len() < evaluations {
        let (seconds, asked) = timed(|| study.ask(workers - open.len()));
        row.own_s += seconds;
        match asked {
            Ok(asked) if asked.is_empty() => {
                let is_spent = size.is_some_and(|size| study.history().len() as u64 >= size);
                row.broken = (!is_spent).then(|| "no point left".to_owned());
                break;
            }
            Ok(asked) => {
                for suggestion in asked {
                    let Some((trial, _)) = study.history().get(suggestion.id) else { continue };
                    let fell_back = |trial: &Trial| trial.decision.as_ref()?.fell_back.clone();
                    row.fallbacks += usize::from(fell_back(trial).is_some());
                    row.broken = row.broken.or(fell_back(trial));
                    events.push(Event::Asked(Box::new(trial.clone())));
                    open.push(suggestion);
                }
            }
            Err(error) => {
                row.broken = Some(format!("ask failed at trial {}: {error}", study.history().len()));
                break;
            }
        }
        let done = open.swap_remove(stream.below(open.len()));
        let told = match rough.evaluate(&done.point, done.id.0)? {
            Some(value) => study.tell(done.id, value),
            None if done.id.0.is_multiple_of(2) => study.tell_infeasible(done.id),
            None => study.tell_failed(done.id, "diverged"),
        };
        if let Err(error) = told {
            row.broken = Some(format!("tell of trial {} failed: {error}", done.id));
            break;
        }
        if let Some((_, Some(outcome))) = study.history().get(done.id) {
            row.measured += usize::from(outcome.value().is_some());
            events.push(Event::Told(done.id, outcome.clone()));
        }
    }
    row.trials = study.history().len();
    if row.broken.is_none() {
        row.broken = goes_on(make()?, &events, stream.below(events.len()));
    }
    Ok(row)
}

/// Restores a study from the events before `cut`, goes on to the next trial, and says what differs.
fn goes_on(mut study: Study, events: &[Event], cut: usize) -> Option<String> {
    for (number, event) in events.iter().enumerate() {
        let outcome = match event {
            Event::Asked(trial) if number < cut => study.restore_asked((**trial).clone()).map(|()| true),
            Event::Told(id, outcome) => study.tell_outcome(*id, outcome.clone()).map(|_| true),
            Event::Asked(trial) => study.ask(1).map(|asked| {
                let made = asked.first().and_then(|asked| study.history().get(asked.id));
                made.map(|(made, _)| made) == Some(&**trial)
            }),
        };
        match outcome {
            Err(error) => return Some(format!("restored up to event {cut}, event {number}: {error}")),
            Ok(false) => return Some(format!("restored up to event {cut}, event {number} is another trial")),
            Ok(true) if number >= cut && matches!(event, Event::Asked(_)) => break,
            Ok(true) => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rough_problems_break_nothing() {
        let options =
            Options { problems: 1, first_seed: 1, inputs: vec![41, 200], evaluations: 90, threads: 2 };
        let rows: Vec<Row> =
            (9_001..9_041_u64).into_par_iter().map(|seed| one(&options, seed).expect("a run")).collect();
        let broken: Vec<&Row> = rows.iter().filter(|row| row.broken.is_some()).collect();
        assert!(broken.is_empty(), "{broken:#?}");
        assert!(
            rows.iter().any(|row| row.measured == 0) && rows.iter().any(|row| row.measured == row.trials)
        );
    }
}
