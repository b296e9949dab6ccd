//! A trial as one row: its state, what came of it, and what it took.

use crate::store::ledger::{Ledger, TrialState};
use crate::store::record::Verdict;
use crate::tag::AttemptId;
use serde::Serialize;
use serde_json::{Map, Value as Json};
use std::collections::BTreeSet;
use std::time::{Duration, UNIX_EPOCH};

/// Where a trial stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Proposed; no evaluation of it has begun.
    Waiting,
    /// An evaluation of it has begun.
    Running,
    /// It has a value.
    Complete,
    /// It has none: the evaluation broke.
    Failed,
    /// The point is not allowed.
    Infeasible,
    /// It answered with something that is not one finite number.
    Invalid,
}

impl State {
    /// As it stands in listings.
    pub fn name(self) -> &'static str {
        match self {
            State::Waiting => "waiting",
            State::Running => "running",
            State::Complete => "complete",
            State::Failed => "failed",
            State::Infeasible => "infeasible",
            State::Invalid => "invalid",
        }
    }

    /// Whether it is over without a value.
    pub fn is_failure(self) -> bool {
        matches!(self, State::Failed | State::Infeasible | State::Invalid)
    }
}

/// Attempts whose folders show that they were begun. The journal does not know: jobs begin without the driver.
pub type Begun = BTreeSet<AttemptId>;

/// A trial.
#[derive(Debug, Clone, PartialEq)]
pub struct Row<'a> {
    /// Its number.
    pub trial: u64,
    /// Where it stands.
    pub state: State,
    /// Its value, in the user's direction.
    pub value: Option<f64>,
    /// How many attempts were made.
    pub attempts: usize,
    /// When it was proposed, or taken in from elsewhere.
    pub asked_ms: u64,
    /// When its outcome was recorded.
    pub told_ms: Option<u64>,
    /// Seconds of the attempt that decided it.
    pub wall_s: Option<f64>,
    /// The host of that attempt.
    pub host: &'a str,
    /// Why there is no value.
    pub reason: &'a str,
}

impl<'a> Row<'a> {
    /// The row of a trial.
    pub fn new(trial: u64, state: &'a TrialState, begun: &Begun) -> Row<'a> {
        let end = state.attempts.last().and_then(|attempt| attempt.end.as_ref());
        let (word, value, reason) = match &state.verdict {
            Some(Verdict::Measured { value }) => (State::Complete, Some(*value), ""),
            Some(Verdict::Failed { reason }) => (State::Failed, None, reason.as_str()),
            Some(Verdict::Infeasible) => (State::Infeasible, None, ""),
            Some(Verdict::Invalid { answer }) => (State::Invalid, None, answer.as_str()),
            None if state
                .attempts
                .iter()
                .any(|attempt| attempt.end.is_none() && begun.contains(&attempt.id)) =>
            {
                (State::Running, None, "")
            }
            None => (State::Waiting, None, end.map_or("", |end| end.reason.as_str())),
        };
        Row {
            trial,
            state: word,
            value,
            attempts: state.attempts.len(),
            asked_ms: state.asked_ms,
            told_ms: state.verdict.is_some().then_some(state.told_ms),
            wall_s: end.and_then(|end| end.wall_s),
            host: end.map_or("", |end| end.host.as_str()),
            reason,
        }
    }

    /// As a JSON object, with the parameters under `params`.
    pub fn object(&self, params: Map<String, Json>) -> Json {
        serde_json::json!({
            "trial": self.trial,
            "state": self.state,
            "value": self.value,
            "params": params,
            "attempts": self.attempts,
            "asked": time(self.asked_ms),
            "told": self.told_ms.map(time),
            "wall_s": self.wall_s,
            "host": self.host,
            "reason": self.reason,
        })
    }
}

/// All trials, by number.
pub fn rows<'a>(ledger: &'a Ledger, begun: &'a Begun) -> impl Iterator<Item = Row<'a>> {
    ledger.trials().map(move |(trial, state)| Row::new(trial, state, begun))
}

/// Milliseconds since 1970 as RFC 3339, UTC.
pub fn time(ms: u64) -> String {
    // Times beyond the year 9999 cannot be written and come from a broken clock.
    let ms = ms.min(253_402_300_799_000);
    humantime::format_rfc3339_millis(UNIX_EPOCH + Duration::from_millis(ms)).to_string()
}
