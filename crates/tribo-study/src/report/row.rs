//! A trial as one row: its state, what came of it, and what it took.

use super::columns::Field;
use crate::config::Config;
use crate::job::{Finding, Kind};
use crate::outputs::Outputs;
use crate::store::ledger::{Ledger, TrialState};
use crate::tag::AttemptId;
use serde::Serialize;
use serde_json::{Map, Value as Json};
use std::collections::BTreeSet;
use std::time::{Duration, UNIX_EPOCH};
use tribo::limit::Limit;

/// Where a trial stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Proposed; no evaluation of it has begun.
    Waiting,
    /// An evaluation of it has begun.
    Running,
    /// It has a value.
    Measured,
    /// It has none: the evaluation broke.
    Failed,
    /// The point is not allowed.
    Infeasible,
    /// It answered with something that is not one finite number.
    Invalid,
    /// It was lost by an accident, which says nothing about the point.
    Lost,
}

impl State {
    /// Where a trial stands whose outcome is of this kind.
    pub fn of(kind: Kind) -> State {
        match kind {
            Kind::Ok => State::Measured,
            Kind::Infeasible => State::Infeasible,
            Kind::Invalid => State::Invalid,
            Kind::Lost => State::Lost,
            _ => State::Failed,
        }
    }

    /// As it stands in listings.
    pub fn name(self) -> &'static str {
        match self {
            State::Waiting => "waiting",
            State::Running => "running",
            State::Measured => "measured",
            State::Failed => "failed",
            State::Infeasible => "infeasible",
            State::Invalid => "invalid",
            State::Lost => "lost",
        }
    }

    /// Whether it is over without a value.
    pub fn is_failure(self) -> bool {
        matches!(self, State::Failed | State::Infeasible | State::Invalid | State::Lost)
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
    /// The numbers it gave, in the user's direction.
    pub outputs: &'a Outputs,
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
        static NONE: Outputs = Outputs::new();
        let end = state.deciding().and_then(|attempt| attempt.end.as_ref());
        let mut live = state.attempts.iter().filter(|attempt| attempt.end.is_none());
        let (word, outputs, reason) = match &state.outcome {
            Some(Finding { kind, outputs, reason }) => (State::of(*kind), outputs, reason.as_str()),
            None if live.any(|attempt| begun.contains(&attempt.id)) => (State::Running, &NONE, ""),
            None => (State::Waiting, &NONE, end.map_or("", |end| end.finding.reason.as_str())),
        };
        Row {
            trial,
            state: word,
            outputs,
            attempts: state.attempts.len(),
            asked_ms: state.asked_ms,
            told_ms: state.outcome.is_some().then_some(state.told_ms),
            wall_s: end.and_then(|end| end.wall_s),
            host: end.map_or("", |end| end.host.as_str()),
            reason,
        }
    }

    /// The number that is optimised, if it was measured.
    pub fn value(&self, objective: &str) -> Option<f64> {
        self.outputs.get(objective).filter(|_| self.state == State::Measured)
    }

    /// Whether it has a value and meets all limits; None before it has an outcome.
    pub fn is_feasible(&self, config: &Config) -> Option<bool> {
        self.told_ms.map(|_| self.value(config.objective()).is_some() && config.meets_limits(self.outputs))
    }

    /// The limited outputs that are beyond their limits, and those that a measured trial lacks: `stress, lift (missing)`.
    pub fn violated(&self, config: &Config) -> String {
        let word = |limit: &Limit| match self.outputs.get(limit.name()) {
            Some(value) if limit.is_met(value) => None,
            Some(_) => Some(limit.name().to_owned()),
            None if self.state == State::Measured => Some(format!("{} (missing)", limit.name())),
            None => None,
        };
        config.limits.iter().filter_map(word).collect::<Vec<_>>().join(", ")
    }

    /// As a JSON object: outputs by name, and the one that is optimised as `value`; parameters under `params`.
    pub fn object(&self, config: &Config, params: Map<String, Json>) -> Json {
        let fixed = |field: Field| (field.name().to_owned(), field.cell(self).json());
        let mut object: Map<String, Json> = Field::BEFORE.map(fixed).into_iter().collect();
        object.insert("value".to_owned(), self.value(config.objective()).into());
        object.insert("outputs".to_owned(), self.outputs.to_json(&config.outputs).into());
        if !config.limits.is_empty() {
            let violated: Vec<&str> = config.violated(self.outputs).map(Limit::name).collect();
            object.insert("feasible".to_owned(), self.is_feasible(config).into());
            object.insert("violated".to_owned(), violated.into());
        }
        object.insert("params".to_owned(), params.into());
        object.extend(Field::AFTER.map(fixed));
        object.into()
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
