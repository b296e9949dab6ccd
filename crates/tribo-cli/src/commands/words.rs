//! Arguments of the form `[STUDY] TRIAL...`: whatever is not a number in front is the study.

use crate::failure::Failure;
use std::path::Path;
use tribo_study::layout::Layout;
use tribo_study::report::text;

/// The study and the remaining words.
pub(super) fn split(words: &[String]) -> (Layout, &[String]) {
    match words.split_first() {
        Some((first, rest)) if first.parse::<f64>().is_err() => (Layout::of(Path::new(first)), rest),
        _ => (Layout::of(Path::new(".")), words),
    }
}

/// The number of a trial.
pub(super) fn trial(word: &str) -> Result<u64, Failure> {
    word.parse().map_err(|_| Failure::usage(format!("{word:?} is not the number of a trial")))
}

/// The complaint about a trial that does not exist.
pub(super) fn no_trial(trial: u64, trials: usize) -> Failure {
    Failure::usage(format!("there is no trial {trial}: the study has {}", text::count(trials, "trial")))
}
