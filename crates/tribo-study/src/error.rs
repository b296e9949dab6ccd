//! What can go wrong with a study, by what the user has to do about it.
//!
//! A failed evaluation is not here: it is data. Each variant belongs to one exit code of the program.

use std::path::PathBuf;

/// Result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// An error that stops what was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The study file cannot be used.
    #[error("{0}")]
    Config(#[from] crate::config::ConfigError),
    /// Another driver owns the study.
    #[error("{path} is in use by process {pid} on {host}; {advice}")]
    Locked {
        /// The store.
        path: PathBuf,
        /// Its owner's host.
        host: String,
        /// Its owner's process.
        pid: u32,
        /// What to do.
        advice: String,
    },
    /// Another driver took the study over; this one must not write any more.
    #[error("{path} was taken over by another driver (epoch {epoch}); this one stops")]
    TakenOver {
        /// The store.
        path: PathBuf,
        /// Epoch of the new owner.
        epoch: u64,
    },
    /// The journal is damaged before its end.
    #[error(
        "{path} is damaged at byte {offset}: {what}; nothing was changed. `tribo repair` keeps a copy, cuts it there and brings back what it can; or restore the file from a backup"
    )]
    Corrupt {
        /// The journal.
        path: PathBuf,
        /// Where.
        offset: u64,
        /// What was found.
        what: String,
    },
    /// The store was written by a version this program does not know.
    #[error("{path} has version {found}, this program reads version {known}; use a newer tribo")]
    Version {
        /// The store.
        path: PathBuf,
        /// The version found.
        found: u32,
        /// The newest version known.
        known: u32,
    },
    /// The journal was written by a newer program.
    #[error(
        "{path} was written by a newer tribo (format {found}; this program reads up to {known}); nothing was changed. Use that version of tribo, or a newer one"
    )]
    Newer {
        /// The journal.
        path: PathBuf,
        /// Its format.
        found: String,
        /// The newest format that this program knows.
        known: String,
    },
    /// The study file no longer describes the study in the store.
    #[error("{path} was changed since the study began: {what}; {advice}")]
    Changed {
        /// The study file.
        path: PathBuf,
        /// The part that differs.
        what: String,
        /// What to do.
        advice: String,
    },
    /// There is no study where one was expected.
    #[error("{path}: {what}")]
    Missing {
        /// Where it was looked for.
        path: PathBuf,
        /// What is missing and how to make it.
        what: String,
    },
    /// A file could not be read or written.
    #[error("{action} {path}: {source}")]
    Io {
        /// What was tried, e.g. "cannot read".
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The scheduler refuses what the study file asks for.
    #[error(
        "{scheduler} refuses jobs of this study: {reason}; correct [run.{scheduler}] and run again, nothing is lost"
    )]
    Refused {
        /// `slurm` or `pbs`.
        scheduler: &'static str,
        /// Its words.
        reason: String,
    },
    /// The scheduler cannot be reached.
    #[error("{scheduler} cannot be reached: {reason}")]
    Unreachable {
        /// `slurm` or `pbs`.
        scheduler: &'static str,
        /// Its words, or the missing program.
        reason: String,
    },
    /// The evaluator did not pass its check.
    #[error("the evaluation failed: {reason}")]
    Evaluator {
        /// Why.
        reason: String,
    },
    /// A trial that does not exist, is being evaluated, or was told something else.
    #[error("{0}")]
    Trial(String),
    /// An option or name that does not fit the study.
    #[error("{0}")]
    Usage(String),
    /// The optimiser's own.
    #[error(transparent)]
    Optimiser(#[from] tribo::Error),
}

impl Error {
    /// Exit code of the program: 2 usage, 3 study file, 4 store, 7 evaluator, 8 scheduler, 1 anything else.
    pub fn exit_code(&self) -> u8 {
        match self {
            Error::Usage(_) | Error::Trial(_) | Error::Missing { .. } => 2,
            Error::Config(_) | Error::Changed { .. } | Error::Refused { .. } => 3,
            Error::Locked { .. }
            | Error::TakenOver { .. }
            | Error::Corrupt { .. }
            | Error::Version { .. }
            | Error::Newer { .. } => 4,
            Error::Evaluator { .. } => 7,
            Error::Unreachable { .. } => 8,
            Error::Io { .. } => 4,
            Error::Optimiser(_) => 1,
        }
    }

    /// An input/output error with its file.
    pub fn io(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Error {
        let path = path.into();
        move |source| Error::Io { action, path, source }
    }
}
