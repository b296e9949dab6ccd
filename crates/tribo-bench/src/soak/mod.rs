//! `soak`: a long study with very many workers, in which everything goes wrong that can.
//!
//! The real driver and a real store on disk, over a simulated cluster on a virtual clock (`cluster`), whose scheduler, nodes,
//! jobs and disk fail at random rates (`faults`); the driver itself is killed again and again, at any of its operations
//! (`world`). In the end the journal is held against what the cluster knows to have happened (`check`). Evaluations
//! take 30 to 900 s of virtual time, as in the simulated studies of the program.
//!
//! Processor time is that of this process, the simulation of the cluster included, so the driver needs less. It is divided by
//! the virtual time: what a driver would take of a core while such evaluations run. Memory is the most that this process had.

mod check;
mod cluster;
mod faults;
mod world;

pub use check::Tally;

use crate::dimension::parse_positive;
use crate::machine::{cpu_seconds, peak_rss_mb, reset_peak_rss, rss_mb, timed};
use crate::seeds::Failure;
use cluster::Cluster;
use faults::Faults;
use serde::Serialize;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use tribo_study::driver::notice::{Finish, Notice, Observer};
use tribo_study::driver::{Driver, Parts, Uninterrupted};
use tribo_study::layout::Layout;
use tribo_study::owned::{How, Owned};
use tribo_study::runner::simulated::VirtualTime;
use tribo_study::store;
use world::{Frail, Scheduler, Shared, Virtual};

/// Most memory that a driver may need.
const MEMORY_MB: f64 = 500.0;
/// Most of a core that it may need.
const SHARE: f64 = 0.2;
/// Reports of the memory in use, over the whole study.
const REPORTS: usize = 8;

/// What to do.
#[derive(Debug, Clone, clap::Args)]
pub struct Options {
    /// Evaluations at once.
    #[arg(long, default_value_t = 1000, value_parser = parse_positive)]
    pub workers: usize,
    /// Evaluations in all.
    #[arg(long, default_value_t = 20_000, value_parser = parse_positive)]
    pub evaluations: usize,
    /// Seed of the study, of the rates of faults and of the faults.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Strategy of the study.
    #[arg(long, default_value = "random", value_parser = ["auto", "bo", "paper", "random"])]
    pub strategy: String,
}

/// What came of it.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// Always `soak`.
    pub benchmark: &'static str,
    /// Seed.
    pub seed: u64,
    /// Strategy.
    pub strategy: String,
    /// Evaluations at once.
    pub workers: usize,
    /// Evaluations in all.
    pub evaluations: usize,
    /// What was found in the end.
    #[serde(flatten)]
    pub tally: Tally,
    /// Drivers, of which all but the last were killed.
    pub drivers: usize,
    /// How often each fault happened.
    pub faults: BTreeMap<String, usize>,
    /// Virtual hours.
    pub hours: f64,
    /// Seconds that it took.
    pub seconds: f64,
    /// Processor seconds of this process.
    pub cpu_s: Option<f64>,
    /// Those, for each second of virtual time.
    pub share_of_core: Option<f64>,
    /// The most memory of this process.
    pub peak_mb: Option<f64>,
    /// Memory in use, at every eighth of the evaluations.
    pub memory_mb: Vec<f64>,
    /// Jobs that the simulated scheduler still remembered in the end.
    pub remembered: usize,
    /// Bytes of the journal.
    pub journal_bytes: u64,
    /// Whether everything is as it must be.
    pub ok: bool,
}

/// Runs the study and looks at it. `progress` hears of each eighth. The strings say what is wrong.
pub fn measure(options: &Options, progress: impl Fn(&str)) -> Result<(Report, Vec<String>), Failure> {
    let folder = tempfile::Builder::new().prefix("tribo-soak-").tempdir()?;
    let layout = Layout::of(&folder.path().join("study.toml"));
    std::fs::write(layout.file(), study_file(options))?;
    let time = VirtualTime::default();
    let cluster = Cluster::new(&layout, time.clone(), Faults::new(options.seed), options.workers);
    let cluster = Rc::new(RefCell::new(cluster));
    reset_peak_rss();
    let before = cpu_seconds();
    let mut watcher =
        Watcher { options, progress: &progress, time: time.clone(), memory_mb: vec![], told: 0 };
    let (seconds, ended) = timed(|| run(&layout, &cluster, &time, &mut watcher));
    let (drivers, finish) = ended?;
    let cpu_s = cpu_seconds().zip(before).map(|(after, before)| after - before);
    let (peak_mb, memory_mb) = (peak_rss_mb(), watcher.memory_mb);
    let (ledger, _) = store::read(&layout)?;
    let cluster = cluster.borrow();
    let (tally, mut complaints) =
        check::check(&layout, &ledger, &cluster, finish.as_ref(), options.evaluations);
    let share_of_core = cpu_s.map(|cpu| cpu / time.get());
    complaints.extend(
        peak_mb.filter(|mb| *mb > MEMORY_MB).map(|mb| format!("{mb:.0} MB of memory, at most {MEMORY_MB}")),
    );
    complaints.extend(
        share_of_core
            .filter(|share| *share > SHARE)
            .map(|share| format!("{share:.2} of a core, at most {SHARE}")),
    );
    let report = Report {
        benchmark: "soak",
        seed: options.seed,
        strategy: options.strategy.clone(),
        workers: options.workers,
        evaluations: options.evaluations,
        tally,
        drivers,
        faults: cluster.seen().iter().map(|(name, times)| ((*name).to_owned(), *times)).collect(),
        hours: time.get() / 3600.0,
        seconds,
        cpu_s,
        share_of_core,
        peak_mb,
        memory_mb,
        remembered: cluster.known(),
        journal_bytes: std::fs::metadata(layout.journal())?.len(),
        ok: complaints.is_empty(),
    };
    if !complaints.is_empty() {
        complaints.push(format!("{} is kept", folder.keep().display()));
    }
    Ok((report, complaints))
}

/// Drives the study to its end, with as many drivers as it takes. How many, and how the last one ended.
fn run(
    layout: &Layout,
    cluster: &Shared,
    time: &VirtualTime,
    watcher: &mut Watcher<'_>,
) -> Result<(usize, Option<Finish>), Failure> {
    let clock = Virtual(Rc::clone(cluster));
    for drivers in 1.. {
        let time = time.clone();
        let utc_ms = Box::new(move || (1e3 * time.get()) as u64);
        let Owned { config, ledger, store, .. } = Owned::open(layout, How::default(), |_, _| utc_ms)?;
        let run = config.run.clone().ok_or("the study file has no section [run]")?;
        let parts = Parts {
            config,
            run,
            ledger,
            store: Box::new(Frail { disk: store, cluster: Rc::clone(cluster) }),
            runner: Box::new(Scheduler(Rc::clone(cluster))),
            clock: &clock,
            folder: "../../../..".to_owned(),
            wall_limit_s: None,
        };
        let finish = Driver::new(parts).and_then(|mut driver| driver.run(&Uninterrupted, watcher));
        match finish {
            Ok(finish) => return Ok((drivers, Some(finish))),
            Err(_) if cluster.borrow().driver_is_dead() => cluster.borrow_mut().new_driver(),
            Err(error) => return Err(format!("driver {drivers} stopped: {error}").into()),
        }
    }
    Ok((0, None))
}

fn study_file(options: &Options) -> String {
    let Options { workers, evaluations, seed, strategy } = options;
    format!(
        r#"study_version = 1
name = "soak"
direction = "minimize"
seed = {seed}

[[parameter]]
name = "x"
type = "float"
low = -1.0
high = 2.0

[[parameter]]
name = "y"
type = "float"
low = -3.0
high = 1.0

[strategy]
name = "{strategy}"

[budget]
evaluations = {evaluations}

[run]
workers = {workers}
command = "true"
result = "stdout"
"#
    )
}

/// Measures the memory as results come in, and says how far things are.
struct Watcher<'a> {
    options: &'a Options,
    progress: &'a dyn Fn(&str),
    time: VirtualTime,
    memory_mb: Vec<f64>,
    told: usize,
}

impl Observer for Watcher<'_> {
    fn notice(&mut self, notice: &Notice) {
        let Notice::Progress(progress) = notice else { return };
        self.told = progress.told;
        let due = (self.memory_mb.len() + 1) * self.options.evaluations / REPORTS;
        if self.told < due {
            return;
        }
        let memory = rss_mb().unwrap_or(f64::NAN);
        self.memory_mb.push(memory);
        let (told, hours) = (self.told, self.time.get() / 3600.0);
        (self.progress)(&format!("{told} evaluations after {hours:.1} virtual hours, {memory:.0} MB in use"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_soak_is_clean_and_sees_faults_of_all_kinds() {
        let mut seen = BTreeMap::new();
        for seed in [1, 2] {
            let options = Options { workers: 40, evaluations: 600, seed, strategy: "random".to_owned() };
            let (report, complaints) = measure(&options, |_| {}).unwrap();
            assert!(complaints.is_empty(), "seed {seed}: {complaints:?}");
            assert!(report.ok && report.drivers > 3, "{report:?}");
            assert_eq!(report.tally.trials - report.tally.given_up, 600, "{report:?}");
            seen.extend(report.faults);
        }
        for fault in ["driver killed", "outage of the scheduler", "failed node", "requeued", "vanished"] {
            assert!(seen.contains_key(fault), "no {fault} in {seen:?}");
        }
    }
}
