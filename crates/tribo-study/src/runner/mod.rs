//! Where attempts run. A runner has three verbs: submit, poll, cancel. It keeps no state that matters: after a crash, poll
//! finds by tag whatever was submitted.
//!
//! A runner never says that an evaluation succeeded. Only the answer that the job leaves in the spool does. What a runner
//! knows is negative evidence (the job ended, and how), and it says "I do not know" when the scheduler does not answer.

pub mod array;
pub mod batch;
pub mod command;
pub(crate) mod join;
pub mod local;
pub mod pilots;
mod process;
pub mod pull;
pub mod simulated;

use crate::config::On;
use crate::job::{CANCEL_FILE, Kind};
use crate::tag::{AttemptId, Tag};
use std::fs::File;
use std::path::PathBuf;
use std::time::Duration;

/// One attempt, ready to run: its folder holds `job.json` and `params.json`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// Which attempt.
    pub id: AttemptId,
    /// Its job name.
    pub tag: Tag,
    /// Its folder, absolute.
    pub dir: PathBuf,
    /// Hosts that failed and are to be avoided, if the runner can.
    pub avoid: Vec<String>,
    /// Earlier attempts at the same trial that ran out of memory.
    pub memory_kills: u32,
}

/// An attempt that was submitted, or may have been.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobRef {
    /// Which attempt.
    pub id: AttemptId,
    /// Its job name.
    pub tag: Tag,
    /// Its folder, absolute.
    pub dir: PathBuf,
    /// The runner's own id, if submission was acknowledged.
    pub job: Option<String>,
}

/// What came of submitting one attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Submission {
    /// Under way, with the runner's id.
    Accepted(String),
    /// The scheduler will never accept this: stop and tell the user.
    Refused(String),
    /// The scheduler accepts no more for now: run with fewer.
    Limited(String),
    /// It was certainly not submitted; try again later.
    Unavailable(String),
    /// It may or may not have been submitted: look for the tag before anything else.
    Ambiguous(String),
}

/// What the runner sees of one attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sighting {
    /// Which attempt.
    pub id: AttemptId,
    /// The runner's id.
    pub job: String,
    /// Its state.
    pub state: State,
}

/// State of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// Waiting, with the scheduler's reason if it gives one.
    Queued(Option<String>),
    /// Held by a person or a limit, with the reason.
    Held(String),
    /// Waiting for what it can never have, with the scheduler's reason.
    Impossible(String),
    /// Running, or about to end.
    Running,
    /// Stopped for the moment: its clock stands still.
    Suspended,
    /// A state this program does not know: treated as active and reported.
    Unknown(String),
    /// Over, as the scheduler tells it.
    Ended(Ending),
}

/// How a job ended, by the scheduler's account. An answer in the spool outranks it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ending {
    /// `Kind::Ok` means it ended by itself, so an answer should be there.
    pub kind: Kind,
    /// In the scheduler's words.
    pub reason: String,
    /// The host it ran on, if known. A preempted job names none: its host did nothing wrong.
    pub host: Option<String>,
}

/// Leaves word in the folders of jobs that the study wants them to end: a job that gets a signal finds it there, one that
/// has not begun does not begin. A folder that is gone, or cannot be written, is that of a job that has only the signal.
pub(crate) fn leave_word(jobs: &[JobRef]) {
    for job in jobs {
        let _ = File::create(job.dir.join(CANCEL_FILE));
    }
}

/// A job of the study in a scheduler's queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Left {
    /// The scheduler's id.
    pub job: String,
    /// Its name.
    pub name: String,
}

/// The runner could not be asked. Nothing may be concluded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{scheduler} does not answer: {reason}")]
pub struct Unreachable {
    /// Which.
    pub scheduler: &'static str,
    /// In its words.
    pub reason: String,
}

/// Where attempts run.
pub trait Runner {
    /// `local`, `slurm`, `pbs` or `simulated`.
    fn name(&self) -> &'static str;

    /// Submits attempts; the outcomes are in the same order.
    fn submit(&mut self, attempts: &[Attempt]) -> Vec<Submission>;

    /// Looks at all these jobs at once. A job that is not in the answer was not found, which proves nothing by itself.
    fn poll(&mut self, jobs: &[JobRef]) -> Result<Vec<Sighting>, Unreachable>;

    /// Asks for an end of these jobs, and lets them know that it was the study who asked.
    fn cancel(&mut self, jobs: &[JobRef]) -> Result<(), Unreachable>;

    /// How patient to be with this runner.
    fn patience(&self) -> Patience;

    /// How many attempts beyond the workers may be submitted: they wait where a worker that is done finds the next at once.
    fn ahead(&self) -> usize {
        0
    }

    /// How often a server that others use, too, is called to submit so many attempts.
    fn calls_for(&self, _attempts: usize) -> usize {
        0
    }

    /// Waits for at most this long, less if something may have happened. True if the runner has its own way to wait; the
    /// driver sleeps on its clock otherwise.
    fn wait(&mut self, _seconds: f64) -> bool {
        false
    }

    /// Asks whether jobs like this study's would be accepted, without submitting one.
    fn check(&mut self) -> crate::Result<()> {
        Ok(())
    }

    /// The same as thoroughly as the runner can, for a person who waits for the answer, which says what was found out. A job
    /// that is submitted for it does not run and is gone afterwards.
    fn rehearse(&mut self) -> crate::Result<String> {
        self.check()?;
        Ok(format!("{} answers", self.name()))
    }

    /// Jobs of this study that are queued or running, whatever the driver believes of them. A job whose answer was just taken
    /// in may be among them until the scheduler has closed it. `suspects` are attempts that may still have a job, for a
    /// scheduler that is asked by ids.
    fn left(&mut self, _suspects: &[JobRef]) -> Result<Vec<Left>, Unreachable> {
        Ok(Vec::new())
    }

    /// What a job that left no answer wrote itself, outside of its command: where that is, and how it ends.
    fn last_words(&mut self, _job: &JobRef) -> Option<String> {
        None
    }

    /// Asks for an end of such jobs.
    fn remove(&mut self, _left: &[Left]) -> Result<(), Unreachable> {
        Ok(())
    }
}

/// The time limit that jobs get from the scheduler: what the study file says, or three minutes more than the timeout.
/// Locally there is none.
pub fn wall_limit(on: &On, timeout: Option<Duration>) -> Option<Duration> {
    let time = match on {
        On::Batch(settings) => settings.time(),
        On::Local | On::Workers | On::Simulated(_) => return None,
    };
    time.or(timeout.map(|timeout| timeout + Duration::from_secs(180)))
}

/// Times, in seconds, that suit a runner.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Patience {
    /// Between two looks at the spool.
    pub spool: f64,
    /// Between two polls after a change, and at least.
    pub poll_min: f64,
    /// Between two polls when nothing changes.
    pub poll_max: f64,
    /// After a job was first missed, until it may be called lost.
    pub lost: f64,
    /// After an ambiguous submission, until the tag is given up.
    pub lookup: f64,
    /// Whether jobs live on when the driver leaves.
    pub detachable: bool,
}

impl Patience {
    /// For schedulers and shared file systems, with the user's time between two polls (30 s if it is zero).
    pub(crate) fn of_batch(poll: Duration) -> Patience {
        let poll_min = if poll.is_zero() { 30.0 } else { poll.as_secs_f64() };
        // NFS shows a new file after up to 60 s: twice that before a job is called lost.
        let poll_max = poll_min.max(180.0);
        Patience { spool: 1.0, poll_min, poll_max, lost: 120.0, lookup: 90.0, detachable: true }
    }
}
