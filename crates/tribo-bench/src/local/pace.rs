//! How much an evaluation costs besides its command, and how many there are in a second.

use super::{mark, study};
use crate::machine::{quantile, timed};
use crate::program::Run;
use crate::seeds::Failure;
use serde::Serialize;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

const COMMAND: &str = r#"command = ["echo", "1"]"#;
const OVERHEAD_MS: f64 = 12.0;
const PER_SECOND: f64 = 60.0;
const SILENCE: Duration = Duration::from_secs(60);
/// A record as long as an average one.
const RECORD: &[u8] = &[b'x'; 250];

/// One worker: what lies between two results besides the command.
#[derive(Debug, Clone, Serialize)]
pub struct Overhead {
    /// Evaluations.
    pub evaluations: usize,
    /// Median of the time between two results, in milliseconds.
    pub between_p50_ms: f64,
    /// Median time of the command alone.
    pub spawn_p50_ms: f64,
    /// Median time of an append with a sync, on the same disk.
    pub fsync_p50_ms: f64,
    /// The first less the second.
    pub overhead_p50_ms: f64,
    /// How many times a command and a sync that is.
    pub ratio: f64,
    /// At most this many milliseconds.
    pub bar_ms: f64,
    /// Whether it is passed.
    pub ok: bool,
}

impl Overhead {
    pub(super) fn text(&self) -> String {
        format!(
            "overhead {:.1} ms p50, at most {} ms: {} (command {:.1} ms, sync {:.1} ms, ratio {:.1})",
            self.overhead_p50_ms,
            self.bar_ms,
            mark(self.ok),
            self.spawn_p50_ms,
            self.fsync_p50_ms,
            self.ratio
        )
    }
}

/// Eight workers: evaluations a second.
#[derive(Debug, Clone, Serialize)]
pub struct Throughput {
    /// Workers.
    pub workers: usize,
    /// Evaluations.
    pub evaluations: usize,
    /// Evaluations a second, the program's start and end included.
    pub per_second: f64,
    /// At least this many.
    pub bar_per_second: f64,
    /// Whether it is passed.
    pub ok: bool,
}

impl Throughput {
    pub(super) fn text(&self) -> String {
        let Throughput { per_second, workers, bar_per_second, ok, .. } = self;
        let mark = mark(*ok);
        format!(
            "{per_second:.0} evaluations a second with {workers} workers, at least {bar_per_second}: {mark}"
        )
    }
}

pub(super) fn overhead(program: &Path) -> Result<Overhead, Failure> {
    const EVALUATIONS: usize = 200;
    let folder = study::random(EVALUATIONS, 1, COMMAND)?;
    let (mut spawns, mut syncs) = (vec![], vec![]);
    raw(folder.path(), &mut spawns, &mut syncs)?;
    let events = Run::start(program, folder.path())?.to_end(SILENCE)?;
    raw(folder.path(), &mut spawns, &mut syncs)?;
    let told: Vec<_> = events.iter().filter(|event| event.is("told")).map(|event| event.at).collect();
    let mut between: Vec<f64> =
        told.windows(2).map(|pair| 1e3 * pair[1].duration_since(pair[0]).as_secs_f64()).collect();
    if told.len() != EVALUATIONS {
        return Err(format!("{} of {EVALUATIONS} evaluations were told", told.len()).into());
    }
    let between_p50_ms = quantile(&mut between, 0.5);
    let (spawn_p50_ms, fsync_p50_ms) = (quantile(&mut spawns, 0.5), quantile(&mut syncs, 0.5));
    let overhead_p50_ms = between_p50_ms - spawn_p50_ms;
    Ok(Overhead {
        evaluations: EVALUATIONS,
        between_p50_ms,
        spawn_p50_ms,
        fsync_p50_ms,
        overhead_p50_ms,
        ratio: overhead_p50_ms / (spawn_p50_ms + fsync_p50_ms),
        bar_ms: OVERHEAD_MS,
        ok: overhead_p50_ms <= OVERHEAD_MS,
    })
}

/// Milliseconds of the command alone, and of an append with a sync.
fn raw(folder: &Path, spawns: &mut Vec<f64>, syncs: &mut Vec<f64>) -> Result<(), Failure> {
    const REPEATS: usize = 50;
    for _ in 0..REPEATS {
        let (seconds, output) = timed(|| Command::new("echo").arg("1").stdin(Stdio::null()).output());
        output?;
        spawns.push(1e3 * seconds);
    }
    let mut file = OpenOptions::new().create(true).append(true).open(folder.join("raw"))?;
    for _ in 0..REPEATS {
        let (seconds, synced) = timed(|| file.write_all(RECORD).and_then(|()| file.sync_data()));
        synced?;
        syncs.push(1e3 * seconds);
    }
    Ok(())
}

pub(super) fn throughput(program: &Path) -> Result<Throughput, Failure> {
    const WORKERS: usize = 8;
    const EVALUATIONS: usize = 480;
    let folder = study::random(EVALUATIONS, WORKERS, COMMAND)?;
    let mut run = Run::start(program, folder.path())?;
    let events = run.to_end(SILENCE)?;
    let seconds = run.begun.elapsed().as_secs_f64();
    let told = events.iter().filter(|event| event.is("told")).count();
    if told != EVALUATIONS {
        return Err(format!("{told} of {EVALUATIONS} evaluations were told").into());
    }
    let per_second = EVALUATIONS as f64 / seconds;
    Ok(Throughput {
        workers: WORKERS,
        evaluations: EVALUATIONS,
        per_second,
        bar_per_second: PER_SECOND,
        ok: per_second >= PER_SECOND,
    })
}
