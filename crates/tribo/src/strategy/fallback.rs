//! What happens when a strategy breaks inside: a makeshift point, and a word about it.
//!
//! A study may run for weeks on a thousand workers, and a proposal that cannot be made must not end it: not for a matrix
//! that cannot be factored, not for a case nobody thought of. So whatever a strategy does on the way to a proposal is
//! *attempted*: an error or a panic inside becomes the reason why a makeshift point was asked, and is data of that trial.
//! Only the caller's own wish to stop goes through as it is.
//!
//! A makeshift is a defect that was survived. `tribo-bench fuzz` counts them, and wants none.

use super::study::insight::{Fact, Finding};
use crate::error::{Error, Result};
use crate::trial::History;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs a part of a strategy. What broke is in the inner error, in words; the outer one is the caller's wish to stop.
///
/// State that a panic leaves half changed is the caller's to repair: proposing changes nothing but what can be made again.
pub(super) fn attempt<T>(part: impl FnOnce() -> Result<T>) -> Result<std::result::Result<T, String>> {
    match catch_unwind(AssertUnwindSafe(part)) {
        Ok(Ok(value)) => Ok(Ok(value)),
        Ok(Err(error @ Error::Stopped { .. })) => Err(error),
        Ok(Err(error)) => Ok(Err(error.to_string())),
        Err(panic) => Ok(Err(format!("a defect of the strategy: {}", words(&*panic)))),
    }
}

fn words(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("it does not say what")
}

/// The makeshifts of a study, one finding for each reason, where it came up first.
pub(super) fn findings(history: &History) -> Vec<Finding> {
    let mut findings: Vec<Finding> = vec![];
    for (trial, _) in history.iter() {
        let Some(decision) = &trial.decision else { continue };
        let Some(reason) = &decision.fell_back else { continue };
        let same =
            |finding: &&mut Finding| matches!(&finding.fact, Fact::FellBack { why, .. } if why == reason);
        match findings.iter_mut().find(same) {
            Some(Finding { fact: Fact::FellBack { trials, .. }, .. }) => *trials += 1,
            _ => {
                let fact = Fact::FellBack { why: reason.clone(), trials: 1 };
                findings.push(Finding { results: decision.results, fact });
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_breaks_is_told_and_a_wish_to_stop_goes_through() {
        assert_eq!(attempt(|| Ok(3)), Ok(Ok(3)));
        let stopped = Error::Stopped { what: "a fit" };
        assert_eq!(attempt::<()>(|| Err(Error::Stopped { what: "a fit" })), Err(stopped));
        let broken = attempt::<()>(|| Err(Error::Empty { what: "results" }));
        assert_eq!(broken, Ok(Err("results is empty; give at least one".to_owned())));
        let panicked = attempt::<()>(|| panic!("row {} is gone", 7));
        assert_eq!(panicked, Ok(Err("a defect of the strategy: row 7 is gone".to_owned())));
    }
}
