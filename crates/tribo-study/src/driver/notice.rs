//! What a driver tells whoever watches it: a closed list of events, and numbers for a progress bar.

use crate::job::{Finding, Kind};
use crate::outputs::Outputs;
use crate::report::row::State;
use crate::report::text::count;
use crate::tag::AttemptId;
use serde::{Serialize, Serializer};
use std::fmt;

/// An event of a running study.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Notice {
    /// The driver has the study and its state.
    Opened {
        /// Name of the study.
        name: String,
        /// Trials with an outcome so far.
        told: usize,
        /// Attempts of an earlier driver that are taken over.
        adopted: usize,
        /// What the strategy is and why.
        strategy: String,
    },
    /// An attempt was submitted.
    Submitted {
        /// Which.
        #[serde(flatten)]
        id: AttemptId,
        /// The runner's id.
        job: String,
    },
    /// An attempt ended.
    Ended {
        /// Which.
        #[serde(flatten)]
        id: AttemptId,
        /// How.
        kind: Kind,
        /// Why there is no value.
        #[serde(skip_serializing_if = "String::is_empty")]
        reason: String,
        /// Whether another attempt follows.
        retried: bool,
        /// Seconds that it waits before.
        #[serde(skip_serializing_if = "is_zero")]
        wait_s: f64,
    },
    /// A trial got its outcome.
    Told {
        /// The trial.
        trial: u64,
        /// Its outcome.
        #[serde(flatten, serialize_with = "outcome")]
        finding: Finding,
        /// Whether it is the best so far.
        best: bool,
    },
    /// Something a person should know, once.
    Warning {
        /// What, and what to do.
        text: String,
    },
    /// Jobs wait, for a reason that will pass; each reason once.
    Waiting {
        /// How many, and why.
        text: String,
    },
    /// Where things stand; comes after every change and at least every few seconds.
    Progress(Progress),
    /// The driver leaves.
    Finished(Finish),
}

fn is_zero(seconds: &f64) -> bool {
    *seconds == 0.0
}

/// An outcome as events have it: in the words of the journal.
fn outcome<S: Serializer>(finding: &Finding, to: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Told<'a> {
        outcome: State,
        #[serde(flatten)]
        outputs: &'a Outputs,
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        answer: Option<&'a str>,
    }
    let (outcome, text) = (State::of(finding.kind), Some(finding.reason.as_str()));
    let reason = text.filter(|_| matches!(outcome, State::Failed | State::Lost));
    let answer = text.filter(|_| outcome == State::Invalid);
    Told { outcome, outputs: &finding.outputs, reason, answer }.serialize(to)
}

/// Where things stand.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Progress {
    /// Trials with an outcome.
    pub told: usize,
    /// Of those, trials with a value.
    pub measured: usize,
    /// Of those, trials that failed, gave an invalid answer, or are not allowed.
    pub failed: usize,
    /// Attempts seen running.
    pub running: usize,
    /// Attempts submitted and not seen running.
    pub waiting: usize,
    /// Why most of those wait, in the scheduler's words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waits_for: Option<String>,
    /// Workers asked for.
    pub workers: usize,
    /// The budget, if it is a number of evaluations.
    pub evaluations: Option<usize>,
    /// The best trial and its value, in the user's direction.
    pub best: Option<(u64, f64)>,
    /// Seconds since this driver began.
    pub elapsed_s: f64,
    /// Seconds until the budget is spent, guessed from this driver's pace.
    pub left_s: Option<f64>,
    /// Seconds this driver spent in the optimiser.
    pub optimiser_s: f64,
}

/// Why a driver leaves.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "why", rename_all = "snake_case")]
pub enum Finish {
    /// The number of evaluations is spent.
    Evaluations,
    /// The wall time is spent.
    WallTime,
    /// The target is reached.
    Target,
    /// A finite space has no point left.
    Exhausted,
    /// Interrupted or asked to stop; this many attempts go on without the driver.
    Detached {
        /// Attempts under way.
        running: usize,
    },
    /// Interrupted twice or asked to cancel; everything under way was cancelled.
    Cancelled,
    /// Too many evaluations in a row failed.
    Failures {
        /// How many.
        count: usize,
        /// The last reason.
        reason: String,
    },
}

/// For people, as it stands in the journal.
impl fmt::Display for Finish {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Finish::Evaluations => f.write_str("the evaluations are spent"),
            Finish::WallTime => f.write_str("the wall time is spent"),
            Finish::Target => f.write_str("the target is reached"),
            Finish::Exhausted => f.write_str("there is no point left to try"),
            Finish::Detached { running: 0 } => f.write_str("interrupted"),
            Finish::Detached { running } => {
                write!(f, "interrupted with {} under way", count(*running, "evaluation"))
            }
            Finish::Cancelled => f.write_str("cancelled"),
            Finish::Failures { count: 1, reason } => write!(f, "an evaluation failed: {reason}"),
            Finish::Failures { count, reason } => {
                write!(f, "{count} evaluations in a row failed, the last with: {reason}")
            }
        }
    }
}

/// Someone who watches.
pub trait Observer {
    /// Takes note.
    fn notice(&mut self, notice: &Notice);
}

/// Nobody watches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unobserved;

impl Observer for Unobserved {
    fn notice(&mut self, _: &Notice) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_are_told_in_the_words_of_the_journal() {
        let mut invalid = Finding::none(Kind::Invalid, "nan");
        invalid.outputs.insert("stress", 180.0);
        for (finding, text) in [
            (Finding::answered("value", 1.5), r#""outcome":"measured","value":1.5"#),
            (Finding::failed("lost: why"), r#""outcome":"failed","reason":"lost: why""#),
            (Finding::infeasible(), r#""outcome":"infeasible""#),
            (invalid, r#""outcome":"invalid","outputs":{"stress":180.0},"answer":"nan""#),
        ] {
            let notice = Notice::Told { trial: 3, finding, best: false };
            let expected = format!(r#"{{"event":"told","trial":3,{text},"best":false}}"#);
            assert_eq!(serde_json::to_string(&notice).unwrap(), expected);
        }
    }

    #[test]
    fn one_is_not_written_as_many() {
        let failures = |count| Finish::Failures { count, reason: "no licence".to_owned() }.to_string();
        assert_eq!(failures(1), "an evaluation failed: no licence");
        assert_eq!(failures(2), "2 evaluations in a row failed, the last with: no licence");
        let detached = |running| Finish::Detached { running }.to_string();
        assert_eq!(detached(1), "interrupted with 1 evaluation under way");
        assert_eq!(detached(2), "interrupted with 2 evaluations under way");
    }
}
