//! The store: journal, lease, attempt folders and spool. Their formats are known here alone, but for the files of an attempt,
//! which are the contract with its job and belong to `job`.
//!
//! The driver sees it as the trait [`Store`], so that it can be tried without a disk and with a failing one.

mod attempts;
pub mod disk;
pub(crate) mod evidence;
mod files;
#[cfg(test)]
mod fixture;
pub mod format;
pub mod journal;
pub mod lease;
pub mod ledger;
pub mod memory;
pub mod process;
mod readers;
pub mod record;
mod requests;
mod spool;
mod waiting;

pub use disk::{Disk, exists, read};
pub(crate) use files::is_full;
pub use journal::{Follower, News};
pub use readers::open_to;
pub use requests::request;
pub use waiting::waiting;

use crate::job::{Answer, Spec};
use crate::tag::AttemptId;
use crate::waiting::Waiting;
use crate::{Error, Result};
use ledger::Ledger;
use record::{Entry, Record};
use std::path::PathBuf;

/// Who holds the claim on an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Claim {
    /// We do now: no job of this attempt will ever run.
    Taken,
    /// A job has it: the attempt is running or has run.
    Held,
}

/// What came of preparing an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Prepared {
    /// Its folder is ready.
    Ready(PathBuf),
    /// Its folder is claimed, which the journal knows nothing of: it was cut, or comes from a backup. An attempt with the
    /// parameters of this one (`same`) is this one.
    Claimed {
        /// Whether it was made with the same parameters.
        same: bool,
    },
}

/// What another command asks of a running driver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request {
    /// Cancel one trial; it is told as failed and not tried again.
    Cancel(u64),
    /// Take the outcome of a trial back and try it again.
    Retry(u64),
    /// Cancel all that is under way and stop.
    CancelAll,
    /// Stop proposing and detach.
    Stop,
}

/// The durable side of a study, as its one driver uses it.
pub trait Store {
    /// Adds a record. It is durable after [`Store::sync`] only.
    fn append(&mut self, record: &Record) -> Result<Entry>;

    /// Makes everything appended durable. An error leaves the journal as it was at the last sync, with the records still to
    /// be written: call again when there is space. [`crate::Error::TakenOver`] means: stop at once.
    fn sync(&mut self) -> Result<()>;

    /// Makes the folder of an attempt with `job.json` and `params.json`. What was there of an earlier, unsubmitted try is
    /// replaced; what is claimed is left alone. Not synced: a job that finds it incomplete fails as unstarted and is tried
    /// again.
    fn prepare(&mut self, spec: &Spec, params: &[u8]) -> Result<Prepared>;

    /// The folder of an attempt, absolute.
    fn dir(&self, id: AttemptId) -> PathBuf;

    /// New answers in the spool, oldest first. Files that are not answers of this study, or not of this owner, are set aside
    /// and named in the second list. An answer is given once; to the next driver again, until it is settled.
    fn harvest(&mut self) -> Result<(Vec<Answer>, Vec<String>)>;

    /// The answer in an attempt's own folder, which may be there although it is not in the spool: after a power cut, or when
    /// the job could not write there.
    fn answer(&self, id: AttemptId) -> Option<Answer>;

    /// Puts an answer away once its record is durable.
    fn settle(&mut self, answer: &Answer) -> Result<()>;

    /// Tries to claim an attempt for the driver, so that no job of it can start any more.
    fn revoke(&mut self, id: AttemptId) -> Result<Claim>;

    /// Whether there is room for answers. Jobs that cannot leave theirs try for a minute, and nobody else sees why.
    fn has_room(&self) -> Result<()> {
        Ok(())
    }

    /// Removes the folder of an attempt, or its bulky parts.
    fn discard(&mut self, id: AttemptId, whole: bool) -> Result<()>;

    /// Leaves word for other commands why jobs wait. It is of the moment and no part of the journal.
    fn note_waiting(&mut self, _waiting: &[Waiting]) {}

    /// The number that a job which runs lets grow, in its attempt's folder: None before it has begun.
    fn heartbeat(&self, _id: AttemptId) -> Option<u64> {
        None
    }

    /// What other commands ask; each request is given once.
    fn requests(&mut self) -> Result<Vec<Request>>;
}

/// Adds a record to a journal and folds it into the state that the journal stands for. Where the journal's format does not
/// know such a record, the format is raised first.
pub fn record(store: &mut dyn Store, ledger: &mut Ledger, record: &Record) -> Result<()> {
    let format = format::needed(record);
    if format > ledger.format {
        let raised = Record::Raised { format, tribo: env!("CARGO_PKG_VERSION").to_owned() };
        fold(ledger, &store.append(&raised)?)?;
    }
    fold(ledger, &store.append(record)?)
}

fn fold(ledger: &mut Ledger, entry: &Entry) -> Result<()> {
    ledger.apply(entry).map_err(|what| Error::Usage(format!("the journal cannot take this: {what}")))
}
