//! `rivals`: strategies against each other on problems with many inputs.
//!
//! A problem and a seed make an instance, the same for all strategies. Evaluations last U[30, 900] s on a virtual clock, by
//! seed and number alone; a free worker is given the next point at once and proposals take no time there (their real
//! seconds are reported apart). A value is the truth at the best measured point; under noise, after the numbers of
//! evaluations that are reported, at the point the strategy's model thinks best, if it has one.
//!
//! [`rival`] is who proposes, [`suite`] what is minimised, [`table`] and [`page`] what is said about it.

pub mod page;
pub mod rival;
pub mod suite;
pub mod table;

use crate::dimension::parse_positive;
use crate::machine::timed;
use crate::seeds::{Failure, Spread, side_by_side};
use rival::{Kind, Rival};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use tribo::rng::Stream;

/// Evaluations after which values are reported; and the last.
const MARKS: [usize; 8] = [25, 50, 75, 100, 150, 200, 300, 400];

/// What to run.
#[derive(Debug, Clone, clap::Args)]
pub struct Options {
    /// Problems, a list; `name@1000` for another number of inputs than --dim.
    #[arg(long, value_delimiter = ',', default_value = "hartmann6")]
    pub problems: Vec<String>,
    /// Inputs.
    #[arg(long, default_value_t = 1000, value_parser = parse_positive)]
    pub dim: usize,
    /// Strategies, a list of auto, bo, hashing-N, gaussian-N, paper-N, cma-es, sobol, random.
    #[arg(long, value_delimiter = ',', default_value = "auto")]
    pub strategies: Vec<String>,
    /// Evaluations.
    #[arg(long, default_value_t = 200, value_parser = parse_positive)]
    pub evaluations: usize,
    /// Workers.
    #[arg(long, default_value_t = 1, value_parser = parse_positive)]
    pub workers: usize,
    /// Seeds.
    #[arg(long, default_value_t = 20, value_parser = parse_positive)]
    pub seeds: usize,
    /// The first seed.
    #[arg(long, default_value_t = 1)]
    pub first_seed: u64,
    /// A value whose time is reported.
    #[arg(long, allow_negative_numbers = true)]
    pub target: Option<f64>,
    /// Threads: runs at the same time.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..))]
    pub threads: u16,
    /// Print what the strategy found out.
    #[arg(long)]
    pub log: bool,
    /// Folder for a page with the tables and figures; none is written without it.
    #[arg(long)]
    pub out: Option<PathBuf>,
}

impl Options {
    /// The problems with their numbers of inputs.
    fn cases(&self) -> Result<Vec<Case>, Failure> {
        let case = |text: &String| match text.split_once('@') {
            None => Ok(Case { problem: text.clone(), dim: self.dim }),
            Some((problem, dim)) => match parse_positive(dim) {
                Ok(dim) => Ok(Case { problem: problem.to_owned(), dim }),
                Err(expected) => Err(format!("--problems {text}: after @ {expected}").into()),
            },
        };
        self.problems.iter().map(case).collect()
    }

    /// Numbers of evaluations after which values are reported.
    fn marks(&self) -> Vec<usize> {
        MARKS.into_iter().filter(|&n| n < self.evaluations).chain([self.evaluations]).collect()
    }
}

/// A problem with its number of inputs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Case {
    /// Name in the suite.
    pub problem: String,
    /// Inputs.
    pub dim: usize,
}

impl std::fmt::Display for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let digits = self.dim.to_string();
        write!(f, "{}, ", self.problem)?;
        for (i, digit) in digits.chars().enumerate() {
            let comma = if i > 0 && (digits.len() - i).is_multiple_of(3) { "," } else { "" };
            write!(f, "{comma}{digit}")?;
        }
        f.write_str(if self.dim == 1 { " input" } else { " inputs" })
    }
}

/// One run.
#[derive(Debug, Clone, Serialize)]
pub struct Run {
    /// Problem and inputs.
    #[serde(flatten)]
    pub case: Case,
    /// Strategy.
    pub strategy: String,
    /// Seed.
    pub seed: u64,
    /// Best true value at the best measured point, after evaluations.
    pub values: Vec<(usize, f64)>,
    /// The lowest value of the problem.
    pub optimum: f64,
    /// Virtual seconds to the target.
    pub time_to_target_s: Option<f64>,
    /// Busy part of the workers' time until the last result.
    pub utilisation: f64,
    /// The idle part of that time of the worker that had the least to do.
    pub largest_idle: f64,
    /// Seconds in ask and tell.
    pub own_s: f64,
    /// Value of the first evaluation.
    pub first: f64,
    /// Active inputs named, active inputs, idle inputs named.
    pub named: Option<(usize, usize, usize)>,
    /// Best true value after each evaluation; under noise only where reported.
    #[serde(skip)]
    pub curve: Vec<(usize, f64)>,
}

impl Run {
    /// The value in the end.
    pub fn last(&self) -> f64 {
        self.values.last().map_or(f64::NAN, |(_, value)| *value)
    }
}

/// All runs of a problem.
#[derive(Debug, Clone)]
pub struct Block {
    /// Problem and inputs.
    pub case: Case,
    /// One strategy after the other, for each the seeds in order.
    pub runs: Vec<Run>,
    /// For each strategy what its runs say together.
    pub summaries: Vec<table::Summary>,
}

/// The workers on the virtual clock, in milliseconds.
struct Workers {
    now: u64,
    free: BTreeSet<usize>,
    busy: Vec<u64>,
    /// By end and number of the evaluation: who, value and truth.
    out: BTreeMap<(u64, u64), (usize, f64, f64)>,
}

impl Workers {
    fn new(n: usize) -> Workers {
        Workers { now: 0, free: (0..n).collect(), busy: vec![0; n], out: BTreeMap::new() }
    }

    fn start(&mut self, number: u64, seconds: f64, value: f64, truth: f64) {
        if let Some(worker) = self.free.pop_first() {
            let duration = (seconds * 1e3) as u64;
            self.busy[worker] += duration;
            self.out.insert((self.now + duration, number), (worker, value, truth));
        }
    }

    /// The next result: number, value and truth.
    fn wait(&mut self) -> Option<(u64, f64, f64)> {
        let ((end, number), (worker, value, truth)) = self.out.pop_first()?;
        self.now = end;
        self.free.insert(worker);
        Some((number, value, truth))
    }

    /// Busy part of all time so far, and the largest idle part of a worker.
    fn shares(&self) -> (f64, f64) {
        let part = |busy: u64| busy as f64 / self.now.max(1) as f64;
        let total = part(self.busy.iter().sum()) / self.busy.len() as f64;
        (total, 1.0 - self.busy.iter().copied().min().map_or(0.0, part))
    }
}

fn run(
    options: &Options,
    case: &Case,
    name: &str,
    seed: u64,
    print: &(impl Fn(String) + Sync),
) -> Result<Run, Failure> {
    let instance = suite::instance(&case.problem, case.dim, seed)?;
    let (budget, marks) = (options.evaluations, options.marks());
    let mut rival = Rival::new(Kind::parse(name)?, &instance.space, budget, options.workers, seed)?;
    let (mut lowest, mut best, mut own_s) = (f64::INFINITY, f64::INFINITY, 0.0);
    let (mut trace, mut first, mut reached) = (vec![], f64::NAN, None);
    let (mut workers, mut asked) = (Workers::new(options.workers), 0_usize);
    while trace.len() < budget {
        while !workers.free.is_empty() && asked < budget {
            let (seconds, suggestion) = timed(|| rival.ask());
            own_s += seconds;
            let (number, point) = suggestion?;
            let (value, truth) = (instance.measure(&point, number), instance.truth(&point));
            if asked == 0 {
                first = truth;
            }
            asked += 1;
            let duration = 30.0 + 870.0 * Stream::new(seed, "duration", number).uniform();
            workers.start(number, duration, value, truth);
        }
        let Some((number, value, truth)) = workers.wait() else { break };
        let (seconds, told) = timed(|| rival.tell(number, value));
        told?;
        own_s += seconds;
        if value < lowest {
            (lowest, best) = (value, truth);
        }
        if instance.is_noisy()
            && marks.contains(&(trace.len() + 1))
            && let Some(point) = rival.best_expected()?
        {
            best = instance.truth(&point);
        }
        trace.push(best);
        if reached.is_none() && options.target.is_some_and(|target| best <= target) {
            reached = Some(workers.now as f64 / 1e3);
        }
    }
    let insight = rival.insight();
    if let Some(insight) = insight.as_ref().filter(|_| options.log) {
        for finding in &insight.findings {
            print(format!("  {} {name} {seed}, {}: {}", case.problem, finding.results, finding.fact));
        }
    }
    let values: Vec<(usize, f64)> = marks.into_iter().map(|n| (n, trace[n - 1])).collect();
    let curve = match instance.is_noisy() {
        true => values.clone(),
        false => trace.iter().enumerate().map(|(i, &best)| (i + 1, best)).collect(),
    };
    let (utilisation, largest_idle) = workers.shares();
    Ok(Run {
        case: case.clone(),
        strategy: name.to_owned(),
        seed,
        values,
        optimum: instance.optimum,
        time_to_target_s: reached,
        utilisation,
        largest_idle,
        own_s,
        first,
        named: instance.active.as_ref().zip(insight).map(|(active, insight)| {
            let right = insight.active.iter().filter(|input| active.contains(&input.input)).count();
            (right, active.len(), insight.active.len() - right)
        }),
        curve,
    })
}

/// Runs everything. `print` is called with lines for people, `done` after each problem with all that is there by then.
pub fn measure(
    options: &Options,
    print: impl Fn(String) + Sync,
    mut done: impl FnMut(&[Block]) -> Result<(), Failure>,
) -> Result<Vec<Block>, Failure> {
    let cases = options.cases()?;
    // A misspelt name is told now and not after hours.
    options.strategies.iter().try_for_each(|name| Kind::parse(name).map(|_| ()))?;
    for case in &cases {
        suite::instance(&case.problem, case.dim, options.first_seed)?;
    }
    let mut blocks = vec![];
    for case in cases {
        let mut all = vec![];
        for name in &options.strategies {
            let runs = side_by_side(options.seeds, usize::from(options.threads), |i| {
                run(options, &case, name, options.first_seed + i as u64, &print)
            })?;
            print(line(&case, name, &runs));
            all.extend(runs);
        }
        let summaries = table::summarise(&all, options.seeds);
        blocks.push(Block { case, runs: all, summaries });
        done(&blocks)?;
    }
    Ok(blocks)
}

/// What the runs of a strategy say, in one line.
fn line(case: &Case, name: &str, runs: &[Run]) -> String {
    let mut line = format!("{} {} {name}:", case.problem, case.dim);
    for (at, (n, _)) in runs[0].values.iter().enumerate() {
        let s = Spread::of(runs.iter().map(|run| run.values[at].1));
        line += &format!(" @{n} {:.4} / {:.4} [{:.4}, {:.4}]", s.median, s.mean, s.q25, s.q75);
    }
    let mut times: Vec<f64> = runs.iter().map(|run| run.time_to_target_s.unwrap_or(f64::INFINITY)).collect();
    times.sort_by(f64::total_cmp);
    let own = Spread::of(runs.iter().map(|run| run.own_s));
    line += &format!(" | own {:.2} s, median time {:.0}", own.median, times[times.len() / 2]);
    if let Some((right, active, wrong)) = table::named(runs) {
        line += &format!(", named {right} of {active}, {wrong} idle");
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_are_read_and_written() {
        for (dim, written) in [(1, "1 input"), (100, "100 inputs"), (1_000_000, "1,000,000 inputs")] {
            let case = Case { problem: "p".to_owned(), dim };
            assert_eq!(case.to_string(), format!("p, {written}"));
        }
    }

    #[test]
    fn workers_are_busy_while_there_is_work() {
        let mut workers = Workers::new(2);
        workers.start(0, 4.0, 0.0, 0.0);
        workers.start(1, 1.0, 0.0, 0.0);
        assert_eq!(workers.wait().unwrap().0, 1);
        workers.start(2, 2.0, 0.0, 0.0);
        assert_eq!(workers.wait().unwrap().0, 2);
        assert_eq!(workers.wait().unwrap().0, 0);
        assert!(workers.wait().is_none());
        // Of four seconds one worker has four, the other three.
        assert_eq!(workers.shares(), (0.875, 0.25));
    }
}
