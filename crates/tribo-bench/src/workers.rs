//! `workers`: what more workers gain on a virtual clock, the paper's study of batch sizes.
//!
//! An evaluation lasts U[30, 900] s, by seed and trial alone, whatever the number of workers. Two initial points, the
//! same for all, are known before time 0 `[@tran2021]`. There is one proposer: its real, measured seconds are added to
//! the virtual clock, and workers that become free in the meantime queue up.
//!
//! *Asynchronous*: a free worker is given the next proposal at once. *Synchronous*: k proposals are made together and
//! all k results awaited. Utilisation is the busy part of all workers' time until the last evaluation starts; after
//! that they run out of work by design.

use crate::dimension::parse_positive;
use crate::machine::timed;
use crate::objective;
use crate::seeds::{Failure, Spread, side_by_side};
use serde::Serialize;
use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use tribo::analysis::elsewhere;
use tribo::problems::Problem;
use tribo::rng::Stream;
use tribo::space::Direction;
use tribo::strategy::{Settings, Strategy, Study};
use tribo::surrogate::watch::Unwatched;
use tribo::trial::TrialId;
use tribo_chart::{Axis, Bar, Chart, LineChart, Schedule, Series};

/// Seconds that an evaluation lasts.
const SHORTEST: f64 = 30.0;
const LONGEST: f64 = 900.0;
/// Points known before time 0.
const INITIAL: usize = 2;
/// Moments at which the curves of the figure are sampled.
const MOMENTS: usize = 150;

/// What to run.
#[derive(Debug, Clone, clap::Args)]
pub struct Options {
    /// Numbers of workers, a list.
    #[arg(long, value_delimiter = ',', default_values_t = [1, 2, 5, 10, 20], value_parser = parse_positive)]
    pub workers: Vec<usize>,
    /// Test problem.
    #[arg(long, default_value = "hartmann4")]
    pub problem: String,
    /// Inputs.
    #[arg(long, default_value_t = 4)]
    pub dim: usize,
    /// Evaluations after the initial ones.
    #[arg(long, default_value_t = 150, value_parser = parse_positive)]
    pub evaluations: usize,
    /// The regret whose time is reported.
    #[arg(long, default_value_t = 0.05)]
    pub target: f64,
    /// Number of seeds, one after the other.
    #[arg(long, default_value_t = 20, value_parser = parse_positive)]
    pub seeds: usize,
    /// The first seed.
    #[arg(long, default_value_t = 1)]
    pub first_seed: u64,
    /// Leave out the synchronous runs.
    #[arg(long)]
    pub asynchronous_only: bool,
    /// Threads: runs at the same time.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..))]
    pub threads: u16,
    /// Folder for the figures; none are drawn without it.
    #[arg(long)]
    pub out: Option<PathBuf>,
}

/// When proposals are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// For each worker as it becomes free.
    Asynchronous,
    /// For all workers together when all are free.
    Synchronous,
}

/// What came of one run.
#[derive(Debug, Clone, Serialize)]
pub struct Run {
    /// Workers.
    pub workers: usize,
    /// When proposals are made.
    pub mode: Mode,
    /// Its seed.
    pub seed: u64,
    /// Busy part of the workers' time until the last start.
    pub utilisation: f64,
    /// Virtual seconds until the target regret; none if it was not reached.
    pub time_to_target_s: Option<f64>,
    /// Evaluations finished by then.
    pub evaluations_to_target: Option<usize>,
    /// Best value in the end.
    pub best: f64,
    /// What it is above the optimum by.
    pub regret: f64,
    /// How probable a better valley is by the model in the end, if it says anything.
    pub elsewhere: Option<f64>,
    /// Whether that is told.
    pub told: bool,
    /// Virtual seconds until the last result.
    pub makespan_s: f64,
    /// Real seconds in ask and tell.
    pub own_s: f64,
    /// Time and lowest regret after each result.
    #[serde(skip)]
    pub curve: Vec<(f64, f64)>,
    /// Who worked when (kind 0) and waited for a proposal (kind 1).
    #[serde(skip)]
    pub bars: Vec<Bar>,
}

/// What all seeds say about a number of workers and a mode.
#[derive(Debug, Clone, Serialize)]
pub struct Summary {
    /// Workers.
    pub workers: usize,
    /// When proposals are made.
    pub mode: Mode,
    /// Seeds.
    pub seeds: usize,
    /// Of all seeds.
    pub utilisation: Spread,
    /// Seeds that reached the target.
    pub reached: usize,
    /// Seeds that reached it, or of which the model says that the search may be in a side valley.
    pub reached_or_told: usize,
    /// Seeds that reached it and of which the model says so all the same.
    pub reached_and_told: usize,
    /// Median time to the target in seconds; none if fewer than half of the seeds reached it.
    pub median_time_to_target_s: Option<f64>,
    /// Regret in the end.
    pub regret: Spread,
    /// Real seconds in ask and tell, for one run.
    pub own_s: Spread,
}

/// Runs everything; `progress` is called with each run as it ends.
pub fn measure(
    options: &Options,
    progress: impl Fn(&Run) + Sync,
) -> Result<(Vec<Run>, Vec<Summary>), Failure> {
    let modes: &[Mode] = match options.asynchronous_only {
        true => &[Mode::Asynchronous],
        false => &[Mode::Asynchronous, Mode::Synchronous],
    };
    let mut plans = vec![];
    for &workers in &options.workers {
        for &mode in modes {
            plans.extend((options.first_seed..).take(options.seeds).map(|seed| (workers, mode, seed)));
        }
    }
    let runs = side_by_side(plans.len(), usize::from(options.threads), |i| {
        let (workers, mode, seed) = plans[i];
        let run = Simulation::new(options, workers, seed)?.run(mode)?;
        progress(&run);
        Ok(run)
    })?;
    let summaries = runs.chunks(options.seeds).map(summarise).collect();
    Ok((runs, summaries))
}

fn summarise(runs: &[Run]) -> Summary {
    let times = runs.iter().map(|run| run.time_to_target_s.unwrap_or(f64::INFINITY));
    let median = Spread::of(times).median;
    Summary {
        workers: runs[0].workers,
        mode: runs[0].mode,
        seeds: runs.len(),
        utilisation: Spread::of(runs.iter().map(|run| run.utilisation)),
        reached: runs.iter().filter(|run| run.time_to_target_s.is_some()).count(),
        reached_or_told: runs.iter().filter(|run| run.time_to_target_s.is_some() || run.told).count(),
        reached_and_told: runs.iter().filter(|run| run.time_to_target_s.is_some() && run.told).count(),
        median_time_to_target_s: median.is_finite().then_some(median),
        regret: Spread::of(runs.iter().map(|run| run.regret)),
        own_s: Spread::of(runs.iter().map(|run| run.own_s)),
    }
}

/// An evaluation under way.
struct Job {
    end: f64,
    worker: usize,
    id: TrialId,
    value: f64,
}

/// One run.
struct Simulation<'a> {
    options: &'a Options,
    problem: Problem,
    study: Study,
    workers: usize,
    seed: u64,
    /// The virtual time up to which the proposer is busy.
    clock: f64,
    started: usize,
    jobs: Vec<Job>,
    best: f64,
    curve: Vec<(f64, f64)>,
    bars: Vec<Bar>,
    own_s: f64,
}

impl<'a> Simulation<'a> {
    fn new(options: &'a Options, workers: usize, seed: u64) -> Result<Self, Failure> {
        let problem = objective::problem(&options.problem, options.dim, None, false, seed)?;
        let mut settings = Settings::bo();
        settings.initial.count = Some(INITIAL);
        let space = objective::space(&problem)?;
        let mut study = Study::new(space, Direction::Minimize, Strategy::Bo(settings), None, seed)?;
        let mut best = f64::INFINITY;
        for suggestion in study.ask(INITIAL)? {
            let value = objective::evaluate(&problem, &suggestion.point);
            study.tell(suggestion.id, value)?;
            best = best.min(value);
        }
        let curve = vec![(0.0, best - problem.optimum_value())];
        Ok(Simulation {
            options,
            problem,
            study,
            workers,
            seed,
            clock: 0.0,
            started: 0,
            jobs: vec![],
            best,
            curve,
            bars: vec![],
            own_s: 0.0,
        })
    }

    fn run(mut self, mode: Mode) -> Result<Run, Failure> {
        // Free workers, in the order they became free, and when.
        let mut free: VecDeque<(usize, f64)> = (0..self.workers).map(|worker| (worker, 0.0)).collect();
        let mut last_start = 0.0_f64;
        while self.started < self.options.evaluations || !self.jobs.is_empty() {
            let ready = mode == Mode::Asynchronous || free.len() == self.workers;
            if ready && !free.is_empty() && self.started < self.options.evaluations {
                last_start = self.serve(&mut free, mode)?;
            } else {
                self.clock = self.clock.max(self.jobs[0].end);
            }
            while self.jobs.first().is_some_and(|job| job.end <= self.clock) {
                let job = self.jobs.remove(0);
                self.deliver(&job)?;
                free.push_back((job.worker, job.end));
            }
        }
        let look = self.study.look(&Unwatched)?;
        let elsewhere = look.map(|look| elsewhere(&look, self.seed)).transpose()?.flatten();
        Ok(Run {
            elsewhere: elsewhere.as_ref().map(|found| found.chance),
            told: elsewhere.is_some_and(|found| found.may_be_better()),
            ..self.finish(mode, last_start)
        })
    }

    /// Gives work to the free workers. Each starts as soon as its own point is there, or, in synchronous mode, when all
    /// are.
    fn serve(&mut self, free: &mut VecDeque<(usize, f64)>, mode: Mode) -> Result<f64, Failure> {
        let left = self.options.evaluations - self.started;
        let n = free.len().min(left);
        let mut batch = vec![];
        for _ in 0..n {
            let (seconds, asked) = timed(|| self.study.ask(1));
            self.spend(seconds);
            batch.push((asked?.pop().ok_or("the space has no point left")?, self.clock));
        }
        let served = self.clock;
        for (suggestion, ready) in batch {
            let start = if mode == Mode::Synchronous { served } else { ready };
            let Some((worker, since)) = free.pop_front() else { break };
            let uniform = Stream::new(self.seed, "duration", suggestion.id.0).uniform();
            let end = start + SHORTEST + (LONGEST - SHORTEST) * uniform;
            let value = objective::evaluate(&self.problem, &suggestion.point);
            let at = self.jobs.partition_point(|job| job.end <= end);
            self.jobs.insert(at, Job { end, worker, id: suggestion.id, value });
            self.bars.push(Bar { worker, start: since, end: start, kind: 1, ..Bar::default() });
            self.bars.push(Bar { worker, start, end, ..Bar::default() });
        }
        self.started += n;
        Ok(served)
    }

    fn deliver(&mut self, job: &Job) -> Result<(), Failure> {
        let (seconds, told) = timed(|| self.study.tell(job.id, job.value));
        told?;
        self.spend(seconds);
        self.best = self.best.min(job.value);
        self.curve.push((job.end, self.best - self.problem.optimum_value()));
        Ok(())
    }

    fn spend(&mut self, seconds: f64) {
        self.clock += seconds;
        self.own_s += seconds;
    }

    fn finish(self, mode: Mode, last_start: f64) -> Run {
        let work = self.bars.iter().filter(|bar| bar.kind == 0);
        let busy: f64 = work.map(|bar| bar.end.min(last_start) - bar.start.min(last_start)).sum();
        let target = self.curve.iter().position(|(_, regret)| *regret <= self.options.target);
        Run {
            workers: self.workers,
            mode,
            seed: self.seed,
            utilisation: busy / (self.workers as f64 * last_start),
            time_to_target_s: target.map(|i| self.curve[i].0),
            evaluations_to_target: target,
            best: self.best,
            regret: self.best - self.problem.optimum_value(),
            elsewhere: None,
            told: false,
            makespan_s: self.curve.last().map_or(0.0, |(time, _)| *time),
            own_s: self.own_s,
            curve: self.curve,
            bars: self.bars,
        }
    }
}

/// Writes `workers-regret.svg`, asynchronous runs against time, and `workers-schedule.svg`, one run like the paper's.
pub fn write_figures(runs: &[Run], folder: &Path) -> std::io::Result<()> {
    let mut groups: BTreeMap<usize, Vec<&Run>> = BTreeMap::new();
    for run in runs.iter().filter(|run| run.mode == Mode::Asynchronous) {
        groups.entry(run.workers).or_default().push(run);
    }
    let series = groups
        .iter()
        .map(|(workers, runs)| {
            let end = Spread::of(runs.iter().map(|run| run.makespan_s)).median;
            let moment = |i: usize| SHORTEST * (end / SHORTEST).powf(i as f64 / (MOMENTS - 1) as f64);
            let median = |time: f64| Spread::of(runs.iter().map(|run| regret_at(run, time))).median;
            Series {
                name: if *workers == 1 { "1 worker".to_owned() } else { format!("{workers} workers") },
                points: (0..MOMENTS).map(|i| (moment(i) / 3600.0, median(moment(i)))).collect(),
                ..Series::default()
            }
        })
        .collect();
    let chart = LineChart {
        title: "Regret against wall-clock time, asynchronous, median of the seeds".to_owned(),
        x: Axis::log("time [h]"),
        y: Axis::log("regret"),
        series,
        ..LineChart::default()
    };
    std::fs::write(folder.join("workers-regret.svg"), chart.to_svg())?;
    // Ten workers are what the paper shows.
    let Some(shown) = groups.keys().min_by_key(|workers| workers.abs_diff(10)) else { return Ok(()) };
    let run = groups[shown][0];
    let hours = |bar: &Bar| Bar { start: bar.start / 3600.0, end: bar.end / 3600.0, ..bar.clone() };
    let schedule = Schedule {
        title: format!("{shown} workers, asynchronous, {:.2} % busy", 100.0 * run.utilisation),
        time_label: "time [h]".to_owned(),
        n_workers: *shown,
        kinds: vec!["evaluating".to_owned(), "waiting".to_owned()],
        bars: run.bars.iter().map(hours).collect(),
        ..Schedule::default()
    };
    std::fs::write(folder.join("workers-schedule.svg"), schedule.to_svg())
}

/// The regret a run had come to at `time`.
fn regret_at(run: &Run, time: f64) -> f64 {
    let n = run.curve.partition_point(|(at, _)| *at <= time);
    run.curve[n.saturating_sub(1)].1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(evaluations: usize) -> Options {
        Options {
            workers: vec![1, 3],
            problem: "hartmann4".to_owned(),
            dim: 4,
            evaluations,
            target: 0.05,
            seeds: 1,
            first_seed: 1,
            asynchronous_only: false,
            threads: 1,
            out: None,
        }
    }

    #[test]
    fn every_evaluation_is_worked_on_once_and_no_worker_twice_at_a_time() {
        let options = options(11);
        let (runs, summaries) = measure(&options, |_| {}).unwrap();
        assert_eq!(summaries.len(), 4);
        for run in &runs {
            let work: Vec<&Bar> = run.bars.iter().filter(|bar| bar.kind == 0).collect();
            assert_eq!(work.len(), 11);
            assert_eq!(run.curve.len(), 12);
            assert!(run.curve[0] == runs[0].curve[0], "the initial points are shared");
            assert!(run.utilisation > 0.0 && run.utilisation <= 1.0, "{run:?}");
            for worker in 0..run.workers {
                let own: Vec<&&Bar> = work.iter().filter(|bar| bar.worker == worker).collect();
                assert!(own.windows(2).all(|pair| pair[0].end <= pair[1].start), "{run:?}");
            }
        }
        // One worker is never kept waiting by others: both modes are the same but for the proposals' time.
        assert!((runs[0].makespan_s - runs[1].makespan_s).abs() < 5.0);
    }
}
