//! What runs inside a job: `tribo job`, the same under a local process, SLURM and PBS.
//!
//! The driver leaves `job.json` ([`Spec`]) and `params.json` in the attempt's folder. The job claims the attempt, runs the
//! command, and leaves `result.tribo.json` ([`Answer`]), which it also links into the spool. The two types here are the whole
//! contract between driver and job; both are versioned and additive.
//!
//! The job outlives the driver, and never asks it anything. Its exit code says whether the answer reached the spool, not
//! what the answer is. `body` has the steps in their order; the other modules are one step each.

mod body;
mod capture;
mod claim;
mod command;
pub mod deck;
pub mod extract;
mod finding;
mod heartbeat;
mod identity;
mod judge;
mod memory;
mod names;
pub mod params;
mod prepare;
pub mod printf;
mod proc;
mod publish;
mod scratch;
mod signals;
mod watch;

pub use claim::{Started, claim_as_driver};
pub use finding::Finding;
pub(crate) use heartbeat::Heartbeat;
pub use heartbeat::{HEARTBEAT_FILE, heartbeat};
pub use identity::{Stamp, boot_id, host};
pub use names::{NameFault, check_names};
pub use prepare::{check_files, digest};
pub(crate) use signals::Signals;

use crate::config::Evaluation;
use crate::scheduler;
use crate::tag::{AttemptId, Tag};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Version of `job.json` and `result.json`.
pub const JOB_VERSION: u32 = 1;

/// Name of the specification in the attempt's folder.
pub const SPEC_FILE: &str = "job.json";
/// Name of the parameters in the attempt's folder, always there, whatever format the command wants.
pub const PARAMS_FILE: &str = "params.json";
/// Name of the answer in the attempt's folder.
pub const ANSWER_FILE: &str = "result.tribo.json";
/// Name of the claim: whoever creates it owns the attempt.
pub const CLAIM_FILE: &str = "claim";
/// A file that asks the job to stop.
pub const CANCEL_FILE: &str = "cancel";
/// Name of the file that says which process runs the attempt ([`Started`]).
pub const STARTED_FILE: &str = "started.json";
/// Name of the command's captured standard output.
pub const STDOUT_FILE: &str = "stdout";
/// Name of the command's captured standard error.
pub const STDERR_FILE: &str = "stderr";

/// Which attempt a job is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// The attempt with this folder.
    Dir(PathBuf),
    /// The element of the array with this list ([`Array`]) that the scheduler's variables name.
    Array(PathBuf),
}

/// The folder of a job.
pub fn folder(target: &Target) -> Result<PathBuf> {
    Ok(body::resolve(target)?.0)
}

/// Runs one job and returns the exit code of the program: 0 if the answer is in the spool or none is due, else 1. If something
/// before it failed, `unready` says what, and that is the answer.
pub fn run(target: &Target, unready: Option<&str>) -> u8 {
    match body::perform(target, unready) {
        Ok(()) => 0,
        Err(error) => {
            // Nobody but the scheduler's log listens here, and if that is full too there is nothing left to do.
            let _ = writeln!(std::io::stderr(), "tribo job: {error}");
            1
        }
    }
}

/// Which attempts the elements of a job array are: `arrays/TAG.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Array {
    /// [`JOB_VERSION`].
    pub version: u32,
    /// Job name of the array.
    pub tag: Tag,
    /// The attempt of element 0, 1, ...
    pub elements: Vec<AttemptId>,
}

impl Array {
    /// Reads a list.
    pub fn read(path: &Path) -> Result<Array> {
        let text = std::fs::read(path).map_err(Error::io("cannot read", path))?;
        let broken =
            |error| Error::Missing { path: path.to_owned(), what: format!("not a list of jobs: {error}") };
        let array: Array = serde_json::from_slice(&text).map_err(broken)?;
        match array.version {
            JOB_VERSION => Ok(array),
            found => Err(Error::Version { path: path.to_owned(), found, known: JOB_VERSION }),
        }
    }

    /// The attempt that this process is to run, by the variables of its scheduler.
    fn element(&self, path: &Path) -> Result<AttemptId> {
        let variables = scheduler::ALL.map(|scheduler| scheduler.environment.index);
        let index = variables.iter().find_map(|name| std::env::var(name).ok());
        let wrong = |what: String| Error::Usage(format!("{}: {what}", path.display()));
        let index = index
            .ok_or_else(|| wrong(format!("none of {} is set; is this an array?", variables.join(", "))))?;
        let element = index.parse().ok().and_then(|index: usize| self.elements.get(index).copied());
        element.ok_or_else(|| wrong(format!("there is no element {index}, only {}", self.elements.len())))
    }
}

/// What a job has to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Spec {
    /// [`JOB_VERSION`].
    pub version: u32,
    /// The attempt.
    #[serde(flatten)]
    pub id: AttemptId,
    /// Its job name.
    pub tag: Tag,
    /// SHA-256 of `params.json`, in hexadecimal.
    pub params_digest: String,
    /// The study folder as seen from the attempt's folder (a relative path, so that a study can be moved).
    pub folder: String,
    /// What to run.
    pub evaluation: Evaluation,
    /// The runner's own time limit for the whole job, if it has one: the job stops the command a little earlier, while it can
    /// still leave an answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wall_limit_s: Option<f64>,
    /// How many seconds before its time limit the command is sent SIGUSR1, if it wants that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warning_s: Option<f64>,
}

/// What came of an attempt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// [`JOB_VERSION`].
    pub version: u32,
    /// The attempt.
    #[serde(flatten)]
    pub id: AttemptId,
    /// Its job name.
    pub tag: Tag,
    /// 0, and one more each time the scheduler restarted the same job.
    pub incarnation: u32,
    /// SHA-256 of the parameters it ran with.
    pub params_digest: String,
    /// What happened, and the numbers the program gave.
    #[serde(flatten)]
    pub finding: Finding,
    /// Exit code of the command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// Signal that ended the command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    /// The last lines of standard error, when there is no value.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stderr_tail: String,
    /// When the command started, UTC, RFC 3339.
    pub started: String,
    /// Seconds the command took.
    pub wall_s: f64,
    /// Processor seconds of the command and its children.
    pub cpu_s: f64,
    /// Peak memory of the largest process, in bytes.
    pub max_rss: u64,
    /// Where it ran.
    pub host: String,
}

impl Answer {
    /// The answer in an attempt's folder; None if there is none, or not all of it. Usually the spool has it too, but not
    /// after a power cut, or if the spool could not be written.
    pub fn read(dir: &Path) -> Option<Answer> {
        serde_json::from_slice(&std::fs::read(dir.join(ANSWER_FILE)).ok()?).ok()
    }

    /// Whether the job was told to stop by somebody who did not leave a reason. Jobs of version 0.1.0 called it cancelled,
    /// whoever it was.
    pub fn is_stop(&self) -> bool {
        let Finding { kind, reason, .. } = &self.finding;
        *kind == Kind::Stopped || (*kind == Kind::Cancelled && reason.starts_with(TOLD_TO_STOP))
    }
}

/// How the reason of a job begins that was told to stop by a signal.
const TOLD_TO_STOP: &str = "the job was told to stop by ";

/// What can come of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The objective is there, a finite number.
    Ok,
    /// The program said the point is not allowed.
    Infeasible,
    /// The program failed: exit code, signal, no answer, or it said so.
    Failed,
    /// The program asked to be tried again (exit code 75).
    Transient,
    /// It ran into the study's time limit.
    Timeout,
    /// It ran into the scheduler's time limit.
    Walltime,
    /// It ran out of memory.
    Memory,
    /// It answered with something that is not one finite number.
    Invalid,
    /// It could not be started: missing program, deck with unknown names, full disk.
    Unstarted,
    /// Someone cancelled it: the study, or a person.
    Cancelled,
    /// It was told to stop, and not by the study: preempted, requeued, cancelled by a person. The scheduler knows which, so
    /// the driver asks it; this never stands in a journal.
    Stopped,
    /// The job found its attempt claimed by another, and did nothing.
    Duplicate,
    /// The job vanished without an answer; of a trial, that it was lost by accidents alone. Never written by a job.
    Lost,
    /// The machine or the scheduler ended it: node failure, preemption. Never written by a job.
    Infrastructure,
}

impl Kind {
    /// As it stands in records and listings.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Ok => "ok",
            Kind::Infeasible => "infeasible",
            Kind::Failed => "failed",
            Kind::Transient => "transient",
            Kind::Timeout => "timeout",
            Kind::Walltime => "walltime",
            Kind::Memory => "memory",
            Kind::Invalid => "invalid",
            Kind::Unstarted => "unstarted",
            Kind::Cancelled => "cancelled",
            Kind::Stopped => "stopped",
            Kind::Duplicate => "duplicate",
            Kind::Lost => "lost",
            Kind::Infrastructure => "infrastructure",
        }
    }
}

/// Claims a folder for this process, as a job claims its attempt. False if another has it.
pub fn claim(dir: &Path, tag: &Tag, by: &Stamp) -> std::io::Result<bool> {
    Ok(matches!(claim::take(dir, tag, by)?, claim::Claimed::First | claim::Claimed::Again))
}

impl Spec {
    /// The specification in an attempt's folder; None if there is none, or it cannot be read.
    pub(crate) fn read(dir: &Path) -> Option<Spec> {
        serde_json::from_slice(&std::fs::read(dir.join(SPEC_FILE)).ok()?).ok()
    }

    /// Name of the answer in the spool.
    pub fn spool_name(id: AttemptId, incarnation: u32) -> String {
        format!("{id}.i{incarnation}.json")
    }

    /// A little less than the runner's time limit.
    pub fn wall(&self) -> Option<Duration> {
        self.wall_limit_s.and_then(|s| Duration::try_from_secs_f64((s - 60.0).max(0.8 * s)).ok())
    }

    /// The study's time limit, or a little less than the runner's, whichever is shorter.
    pub fn limit(&self) -> Option<Duration> {
        match (self.evaluation.timeout, self.wall()) {
            (Some(timeout), Some(wall)) => Some(timeout.min(wall)),
            (timeout, wall) => timeout.or(wall),
        }
    }
}
