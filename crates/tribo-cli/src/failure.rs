//! Why a command ends early, and with which exit code.

use crate::output;
use std::io;

/// Everything a command does ends in an exit code or in one of these.
pub(crate) type Outcome = Result<u8, Failure>;

/// Success.
pub(crate) const OK: u8 = 0;
/// The budget is spent and no evaluation gave a value, or none that meets all limits.
pub(crate) const NO_VALUE: u8 = 5;
/// Too many evaluations failed.
pub(crate) const FAILURES: u8 = 6;
/// The evaluator failed its check.
pub(crate) const EVALUATOR: u8 = 7;

/// Why a command ends early.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The study's, with its own exit code.
    Study(tribo_study::Error),
    /// Standard output could not be written.
    Output(io::Error),
}

impl Failure {
    /// A complaint about what was typed.
    pub(crate) fn usage(text: impl Into<String>) -> Failure {
        Failure::Study(tribo_study::Error::Usage(text.into()))
    }

    /// Prints the error and gives the exit code. A reader that has seen enough (`tribo trials | head`) is no error.
    pub(crate) fn report(&self) -> u8 {
        let source = match self {
            Failure::Output(source) | Failure::Study(tribo_study::Error::Io { source, .. }) => Some(source),
            Failure::Study(_) => None,
        };
        if source.is_some_and(|source| source.kind() == io::ErrorKind::BrokenPipe) {
            return OK;
        }
        match self {
            Failure::Study(error) => {
                output::error(&error.to_string());
                error.exit_code()
            }
            Failure::Output(source) => {
                output::error(&format!("cannot write to standard output: {source}"));
                1
            }
        }
    }
}

impl From<tribo_study::Error> for Failure {
    fn from(error: tribo_study::Error) -> Failure {
        Failure::Study(error)
    }
}

impl From<tribo::Error> for Failure {
    fn from(error: tribo::Error) -> Failure {
        Failure::Study(error.into())
    }
}

impl From<tribo_study::config::ConfigError> for Failure {
    fn from(error: tribo_study::config::ConfigError) -> Failure {
        Failure::Study(error.into())
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        Failure::Output(error)
    }
}
