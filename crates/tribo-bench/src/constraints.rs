//! `constraints`: how far from the optimum is the best feasible point of problems with limits?
//!
//! Gaps are relative to the size of the optimum, or absolute where that is zero. With several workers evaluations take 30 to
//! 900 s of a virtual clock, each its own time, and a worker that is free asks at once. With noise in the limited outputs a
//! point that was measured within the limits need not be, so what is there without noise counts: gaps are those of the
//! recommended point, and how many of them are within the limits is told.

use crate::dimension::parse_positive;
use crate::seeds::{Failure, Spread, side_by_side};
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use std::time::Instant;
use tribo::limit::Limit;
use tribo::problems::{Limited, limited};
use tribo::rng::Stream;
use tribo::space::{Direction, Parameter, Point, Space};
use tribo::strategy::{DrivenOutput, Strategy, Study};
use tribo::surrogate::watch::Unwatched;
use tribo::trial::{Outcome, TrialId};

/// A gap that counts as reached, for the time it takes.
const REACHED: f64 = 1e-2;

/// What to run.
#[derive(Debug, Clone, clap::Args)]
pub struct Options {
    /// Problems and the numbers of evaluations after which their gaps are told.
    #[arg(
        long,
        value_delimiter = ' ',
        num_args = 1..,
        default_value = "pressure_vessel@30 g04@30 g06@30 g24@20 spring@50 speed_reducer@50 g10@50 g08@50 \
                         welded_beam@60,100 g09@80 g07@100"
    )]
    pub problem: Vec<String>,
    /// Seeds, from the first.
    #[arg(long, default_value_t = 20, value_parser = parse_positive)]
    pub seeds: usize,
    /// The first seed.
    #[arg(long, default_value_t = 1)]
    pub first_seed: u64,
    /// Inputs, of which those of the problem are a few; as many as it has without.
    #[arg(long, value_parser = parse_positive)]
    pub dim: Option<usize>,
    /// Evaluations at the same time.
    #[arg(long, default_value_t = 1, value_parser = parse_positive)]
    pub workers: usize,
    /// Standard deviation of normal noise in limited outputs, in sizes of their limits.
    #[arg(long, default_value_t = 0.0)]
    pub noise: f64,
    /// Threads.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..))]
    pub threads: u16,
}

/// What came of one problem.
#[derive(Debug, Clone, Serialize)]
pub struct Row {
    /// The problem.
    pub problem: String,
    /// Evaluations, and gaps of the best feasible point after them; infinite where there was none.
    pub gaps: Vec<(usize, Spread)>,
    /// Evaluations until the first feasible one.
    pub first_feasible: Spread,
    /// Seconds of the virtual clock until the gap was a hundredth.
    pub until_one_percent: Spread,
    /// Seconds of the optimiser for one proposal, on average.
    pub seconds_per_ask: f64,
    /// Among many inputs, for each seed: those of the problem that were named, others that were, and of each output that the
    /// problem has, whether the inputs named for it are those that drive it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub named: Vec<Named>,
    /// Under noise, what is there without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub without_noise: Option<WithoutNoise>,
}

/// What is there without noise, at the end.
#[derive(Debug, Clone, Serialize)]
pub struct WithoutNoise {
    /// The share of runs whose best measurement is within the limits.
    pub best_feasible: f64,
    /// The share of runs whose recommended point is.
    pub recommended_feasible: f64,
    /// By how much the recommended point is beyond its limits at most, in sizes of the limits; zero within.
    pub beyond: Spread,
}

/// What was named among many inputs.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Named {
    /// Inputs of the problem that were named.
    pub right: usize,
    /// Others that were.
    pub wrong: usize,
    /// Outputs whose inputs were all named, and no other for them.
    pub outputs: usize,
    /// Outputs.
    pub of: usize,
}

struct Run {
    gaps: Vec<f64>,
    first_feasible: f64,
    until_one_percent: f64,
    seconds: f64,
    named: Option<Named>,
    /// How far the best measurement and the recommended point are beyond the limits without noise; infinite if there is none.
    beyond: (f64, f64),
}

/// Runs all problems.
pub fn run(options: &Options, told: impl Fn(&Row)) -> Result<Vec<Row>, Failure> {
    let mut rows = vec![];
    for asked in options.problem.iter().flat_map(|problems| problems.split_whitespace()) {
        let (name, marks) =
            asked.split_once('@').ok_or_else(|| format!("`{asked}`: write it as g04@30,50"))?;
        let marks = marks.split(',').map(str::parse).collect::<Result<Vec<usize>, _>>()?;
        let problem = limited(name)?;
        let runs = side_by_side(options.seeds, options.threads.into(), |index| {
            let seed = options.first_seed + index as u64;
            match options.dim {
                Some(dim) => one(&problem.among(dim, seed)?, &marks, options, seed),
                None => one(&problem, &marks, options, seed),
            }
        })?;
        let asks = (runs.len() * marks.iter().max().copied().unwrap_or(1)) as f64;
        let gap = |k: usize| Spread::of(runs.iter().map(|run| run.gaps[k]));
        let row = Row {
            problem: name.to_owned(),
            gaps: marks.iter().enumerate().map(|(k, &mark)| (mark, gap(k))).collect(),
            first_feasible: Spread::of(runs.iter().map(|run| run.first_feasible)),
            until_one_percent: Spread::of(runs.iter().map(|run| run.until_one_percent)),
            seconds_per_ask: runs.iter().map(|run| run.seconds).sum::<f64>() / asks,
            named: runs.iter().filter_map(|run| run.named).filter(|_| options.dim.is_some()).collect(),
            without_noise: (options.noise > 0.0).then(|| WithoutNoise::of(&runs)),
        };
        told(&row);
        rows.push(row);
    }
    Ok(rows)
}

impl WithoutNoise {
    fn of(runs: &[Run]) -> WithoutNoise {
        let share = |beyond: fn(&Run) -> f64| {
            runs.iter().filter(|run| beyond(run) == 0.0).count() as f64 / runs.len().max(1) as f64
        };
        WithoutNoise {
            best_feasible: share(|run| run.beyond.0),
            recommended_feasible: share(|run| run.beyond.1),
            beyond: Spread::of(runs.iter().map(|run| run.beyond.1)),
        }
    }
}

/// How far a point is beyond the limits, in their sizes; zero where all are met.
fn beyond(problem: &Limited, x: &[f64]) -> Option<f64> {
    let (_, limited) = problem.evaluate(x)?;
    let excess = |(limit, value): (&Limit, f64)| match limit.is_met(value) {
        true => 0.0,
        false => limit.excess(value) / limit.size(),
    };
    Some(problem.limits().iter().zip(limited).map(excess).fold(0.0, f64::max))
}

fn space(problem: &Limited) -> Result<Space, Failure> {
    let parameter = |k: usize| {
        let (name, low, high) = (format!("x{k}"), problem.low()[k], problem.high()[k]);
        match problem.whole().contains(&k) {
            true => Parameter::int(name, low as i64, high as i64),
            false => Parameter::float(name, low, high),
        }
    };
    Ok(Space::new((0..problem.low().len()).map(parameter).collect())?)
}

fn one(problem: &Limited, marks: &[usize], options: &Options, seed: u64) -> Result<Run, Failure> {
    let Options { workers, noise, .. } = *options;
    let evaluations = marks.iter().max().copied().unwrap_or(0);
    let limits = problem.limits().to_vec();
    let strategy = Strategy::auto();
    let mut study =
        Study::limited(space(problem)?, Direction::Minimize, limits, strategy, Some(evaluations), 0, seed)?;
    let mut durations = Stream::new(seed, "durations", 0);
    let mut running: BinaryHeap<(Reverse<u64>, Reverse<u64>)> = BinaryHeap::new();
    let mut points: BTreeMap<u64, Point> = BTreeMap::new();
    let (mut asked, mut clock, mut seconds) = (0, 0, 0.0);
    let (mut gaps, mut first_feasible, mut until) =
        (vec![f64::INFINITY; marks.len()], f64::INFINITY, f64::INFINITY);
    for finished in 1..=evaluations {
        while running.len() < workers && asked < evaluations {
            let begun = Instant::now();
            let suggestion = study.ask(1)?.pop().ok_or("no point is left")?;
            seconds += begun.elapsed().as_secs_f64();
            let takes = 30_000 + (870_000.0 * durations.uniform()) as u64;
            running.push((Reverse(clock + takes), Reverse(suggestion.id.0)));
            points.insert(suggestion.id.0, suggestion.point);
            asked += 1;
        }
        let Some((Reverse(now), Reverse(id))) = running.pop() else { break };
        clock = now;
        let point = points.remove(&id).ok_or("a trial without a point")?;
        let (value, limited) = problem.evaluate(&point.numbers()).ok_or("a point of another space")?;
        let mut luck = Stream::new(seed, "noise in limited outputs", id);
        let noisy = |(limit, value): (&Limit, f64)| match noise > 0.0 {
            true => Some(value + noise * limit.size() * luck.normal()),
            false => Some(value),
        };
        let limited: Vec<Option<f64>> = problem.limits().iter().zip(limited).map(noisy).collect();
        study.tell_limited(TrialId(id), Outcome::measured(value), &limited)?;
        let best = match noise > 0.0 && marks.contains(&finished) {
            true => study.recommended(&Unwatched)?.map(|recommended| recommended.value),
            false => study.best()?.map(|best| best.value),
        };
        if let Some(best) = best {
            let optimum = problem.optimum_value();
            let gap = (best - optimum) / if optimum == 0.0 { 1.0 } else { optimum.abs() };
            first_feasible = f64::min(first_feasible, finished as f64);
            if gap <= REACHED {
                until = f64::min(until, clock as f64 / 1_000.0);
            }
            marks.iter().zip(&mut gaps).filter(|(mark, _)| **mark == finished).for_each(|(_, at)| *at = gap);
        }
    }
    let named = Some(named(problem, &study));
    let far = |point: Option<Point>| point.and_then(|point| beyond(problem, &point.numbers()));
    let (best, recommended) = (
        far(study.best()?.map(|best| best.point)),
        far(study.recommended(&Unwatched)?.map(|best| best.point)),
    );
    let beyond = (best.unwrap_or(f64::INFINITY), recommended.unwrap_or(f64::INFINITY));
    Ok(Run { gaps, first_feasible, until_one_percent: until, seconds, named, beyond })
}

/// Compares the inputs named for each output with those that drive it.
fn named(problem: &Limited, study: &Study) -> Named {
    let insight = study.insight();
    let truth = driven(problem);
    let is_any = |input: usize| truth.iter().any(|inputs| inputs.contains(&input));
    let right = insight.active.iter().filter(|active| is_any(active.input)).count();
    let is_right = |(output, truth): (&DrivenOutput, &BTreeSet<usize>)| {
        output.inputs.iter().map(|active| active.input).collect::<BTreeSet<usize>>() == *truth
    };
    let outputs = insight.outputs.iter().zip(&truth).filter(|pair| is_right(*pair)).count();
    Named { right, wrong: insight.active.len() - right, outputs, of: truth.len() }
}

/// The inputs that drive each output, the objective first: those that change it, alone, at some of a few random points.
fn driven(problem: &Limited) -> Vec<BTreeSet<usize>> {
    let outputs = |x: &[f64]| {
        let (value, limited) = problem.evaluate(x).unwrap_or_default();
        std::iter::once(value).chain(limited).collect::<Vec<f64>>()
    };
    let mut driven = vec![BTreeSet::new(); 1 + problem.limits().len()];
    for draw in 0..4 {
        let mut stream = Stream::new(draw, "points that show what drives an output", 0);
        let sides = problem.low().iter().zip(problem.high());
        let x: Vec<f64> = sides.map(|(low, high)| low + stream.uniform() * (high - low)).collect();
        let before = outputs(&x);
        for input in 0..x.len() {
            let mut moved = x.clone();
            moved[input] = 0.5 * (x[input] + problem.high()[input]);
            for (k, (after, before)) in outputs(&moved).iter().zip(&before).enumerate() {
                if after != before {
                    driven[k].insert(input);
                }
            }
        }
    }
    driven
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_save_time_and_the_optimum_is_found() {
        let options = |workers: usize| Options {
            problem: vec!["g24@24".to_owned()],
            seeds: 2,
            first_seed: 11,
            dim: None,
            workers,
            noise: 0.0,
            threads: 2,
        };
        let [alone, crowd] = [1, 4].map(|workers| run(&options(workers), |_| {}).unwrap().remove(0));
        assert!(alone.gaps[0].1.median < 1e-3, "seed 11: {:?}", alone.gaps);
        assert!(crowd.until_one_percent.median < alone.until_one_percent.median, "seed 11");
    }
}
