//! `local`: what the program costs on a workstation, each figure beside the bar it has to pass.
//!
//! The bars were set before the first measurement, for a disk that syncs in 3 ms. A machine that others use is slower by
//! whatever they take, so the raw costs of a sync and of a process are measured in the same run and given as ratios.

mod binary;
mod leftovers;
mod live;
mod pace;
mod resume;
mod study;

pub use binary::Binary;
pub use leftovers::Leftovers;
pub use live::Live;
pub use pace::{Overhead, Throughput};
pub use resume::Resume;

use crate::program::Program;
use crate::seeds::Failure;
use serde::Serialize;

/// What to measure.
#[derive(Debug, Clone, clap::Args)]
pub struct Options {
    /// The program that is run.
    #[command(flatten)]
    pub program: Program,
}

/// All figures.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// Always `local`.
    pub benchmark: &'static str,
    /// One worker.
    pub overhead: Overhead,
    /// Eight workers.
    pub throughput: Throughput,
    /// Programs that will not go.
    pub leftovers: Leftovers,
    /// A large study.
    pub resume: Resume,
    /// Its live page.
    pub live: Live,
    /// The program itself.
    pub binary: Binary,
    /// Whether every bar is passed.
    pub ok: bool,
}

/// Measures everything. `progress` hears of each figure.
pub fn measure(options: &Options, progress: impl Fn(&str)) -> Result<Report, Failure> {
    let program = options.program.find()?;
    let binary = binary::measure(&program)?;
    progress(&binary.text());
    let overhead = pace::overhead(&program)?;
    progress(&overhead.text());
    let throughput = pace::throughput(&program)?;
    progress(&throughput.text());
    let leftovers = leftovers::measure(&program)?;
    progress(&leftovers.text());
    let resume = resume::measure(&program)?;
    progress(&resume.text());
    let live = live::measure(&program)?;
    progress(&live.text());
    let ok = overhead.ok && throughput.ok && leftovers.ok && resume.ok && live.ok && binary.ok;
    Ok(Report { benchmark: "local", overhead, throughput, leftovers, resume, live, binary, ok })
}

/// For people.
fn mark(ok: bool) -> &'static str {
    if ok { "ok" } else { "NOT REACHED" }
}
