//! `rivals`: strategies against each other on problems with many inputs.

pub mod suite;

use crate::dimension::parse_positive;
use crate::machine::timed;
use crate::seeds::{Failure, Spread, side_by_side};
use serde::Serialize;
use std::collections::BTreeMap;
use tribo::embed::Kind;
use tribo::rng::Stream;
use tribo::space::Direction;
use tribo::strategy::{Settings, Strategy, Study};
use tribo::surrogate::watch::Unwatched;

/// Evaluations after which values are reported.
const MARKS: [usize; 8] = [25, 50, 75, 100, 150, 200, 300, 400];

/// What to run.
#[derive(Debug, Clone, clap::Args)]
pub struct Options {
    /// Problems, a list.
    #[arg(long, value_delimiter = ',', default_value = "hartmann6")]
    pub problems: Vec<String>,
    /// Inputs.
    #[arg(long, default_value_t = 1000, value_parser = parse_positive)]
    pub dim: usize,
    /// Strategies, a list.
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
}

/// One run.
#[derive(Debug, Clone, Serialize)]
pub struct Run {
    /// Problem.
    pub problem: String,
    /// Strategy.
    pub strategy: String,
    /// Seed.
    pub seed: u64,
    /// Best true value at the best measured point, after evaluations.
    pub values: Vec<(usize, f64)>,
    /// Virtual seconds to the target.
    pub time_to_target_s: Option<f64>,
    /// Seconds in ask and tell.
    pub own_s: f64,
    /// Value of the first evaluation.
    pub first: f64,
    /// Active inputs named, active inputs, idle inputs named.
    pub named: Option<(usize, usize, usize)>,
}

fn strategy(name: &str, dim: usize) -> Result<Strategy, Failure> {
    let (word, size) = match name.split_once('-') {
        Some((word, size)) => (word, size.parse::<usize>()?.min(dim)),
        None => (name, 12.min(dim)),
    };
    let with = |embedding| Strategy::Bo(Settings { embedding, ..Settings::bo() });
    Ok(match word {
        "auto" => Strategy::auto(),
        "bo" => Strategy::Bo(Settings::bo()),
        "random" => Strategy::Random,
        "hashing" => with(Kind::Hashing { dim: size, signs: true }),
        "gaussian" => with(Kind::Gaussian { dim: size, half_width: 1.0 }),
        _ => return Err(format!("no strategy is called {name}").into()),
    })
}

fn run(
    options: &Options,
    problem: &str,
    name: &str,
    seed: u64,
    print: &(impl Fn(String) + Sync),
) -> Result<Run, Failure> {
    let instance = suite::instance(problem, options.dim, seed)?;
    let budget = options.evaluations;
    let chosen = strategy(name, options.dim)?;
    let mut study = Study::new(instance.space.clone(), Direction::Minimize, chosen, Some(budget), seed)?;
    let (mut lowest, mut best, mut own_s) = (f64::INFINITY, f64::INFINITY, 0.0);
    let (mut trace, mut first, mut reached) = (vec![], f64::NAN, None);
    // (end, trial, value, truth)
    let mut busy: BTreeMap<(u64, u64), (f64, f64)> = BTreeMap::new();
    let (mut now, mut asked) = (0_u64, 0_usize);
    while trace.len() < budget {
        while busy.len() < options.workers && asked < budget {
            let (seconds, suggestions) = timed(|| study.ask(1));
            own_s += seconds;
            let suggestions = suggestions?;
            let Some(suggestion) = suggestions.first() else { return Err("no point left".into()) };
            let (id, point) = (suggestion.id, &suggestion.point);
            let (value, truth) = (instance.measure(point, id.0), instance.truth(point));
            if asked == 0 {
                first = truth;
            }
            asked += 1;
            let duration = 30.0 + 870.0 * Stream::new(seed, "duration", id.0).uniform();
            busy.insert((now + (duration * 1e3) as u64, id.0), (value, truth));
        }
        let Some(((end, id), (value, truth))) = busy.pop_first() else { break };
        now = end;
        let (seconds, told) = timed(|| study.tell(tribo::trial::TrialId(id), value));
        told?;
        own_s += seconds;
        if value < lowest {
            (lowest, best) = (value, truth);
        }
        let mark = MARKS.contains(&(trace.len() + 1));
        if mark
            && instance.is_noisy()
            && let Some(expected) = study.best_expected(&Unwatched)?
        {
            best = instance.truth(&expected.point);
        }
        trace.push(best);
        if reached.is_none() && options.target.is_some_and(|target| best <= target) {
            reached = Some(now as f64 / 1e3);
        }
    }
    if options.log {
        for finding in study.insight().findings {
            print(format!("  {problem} {name} {seed}, {}: {}", finding.results, finding.fact));
        }
    }
    let marks = MARKS.into_iter().filter(|&n| n <= budget);
    Ok(Run {
        problem: problem.to_owned(),
        strategy: name.to_owned(),
        seed,
        values: marks.map(|n| (n, trace[n - 1])).collect(),
        time_to_target_s: reached,
        own_s,
        first,
        named: instance.active.as_ref().map(|active| {
            let named: Vec<usize> = study.insight().active.iter().map(|input| input.input).collect();
            let right = named.iter().filter(|input| active.contains(input)).count();
            (right, active.len(), named.len() - right)
        }),
    })
}

/// Runs everything and calls `print` with lines for people.
pub fn measure(options: &Options, print: impl Fn(String) + Sync) -> Result<Vec<Run>, Failure> {
    let mut all = vec![];
    for problem in &options.problems {
        for name in &options.strategies {
            let runs = side_by_side(options.seeds, usize::from(options.threads), |i| {
                run(options, problem, name, options.first_seed + i as u64, &print)
            })?;
            let mut line = format!("{problem} {} {name}:", options.dim);
            for (at, (n, _)) in runs[0].values.iter().enumerate() {
                let s = Spread::of(runs.iter().map(|run| run.values[at].1));
                line += &format!(" @{n} {:.4} / {:.4} [{:.4}, {:.4}]", s.median, s.mean, s.q25, s.q75);
            }
            let mut times: Vec<f64> =
                runs.iter().map(|run| run.time_to_target_s.unwrap_or(f64::INFINITY)).collect();
            times.sort_by(f64::total_cmp);
            let own = Spread::of(runs.iter().map(|run| run.own_s));
            line += &format!(" | own {:.2} s, median time {:.0}", own.median, times[times.len() / 2]);
            let (right, active, wrong) = runs
                .iter()
                .filter_map(|run| run.named)
                .fold((0, 0, 0), |sum, named| (sum.0 + named.0, sum.1 + named.1, sum.2 + named.2));
            if active > 0 {
                line += &format!(", named {right} of {active}, {wrong} idle");
            }
            print(line);
            all.extend(runs);
        }
    }
    Ok(all)
}
