//! Failed trials, grouped by cause: ten thousand failures are rarely ten thousand causes.
//!
//! Trials belong together when the first lines of their reasons are the same but for long numbers (addresses, times,
//! process ids). Numbers of up to three digits stay: exit codes 1 and 137 are different causes.

use super::row::{Begun, Row, State};
use crate::store::ledger::{Ledger, TrialState};
use crate::tag::AttemptId;
use serde::Serialize;
use std::collections::BTreeMap;

/// Trials that failed for the same reason.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Group {
    /// The state of all of them.
    pub state: State,
    /// What they have in common.
    pub cause: String,
    /// How many there are.
    pub count: usize,
    /// The attempt that decided the newest of them, if it had one: its folder has the program's output.
    pub example: Option<AttemptId>,
    /// The newest of them.
    pub trial: u64,
}

/// The groups, the largest first.
pub fn groups(ledger: &Ledger) -> Vec<Group> {
    let none = Begun::new();
    let mut groups: BTreeMap<(State, String), Group> = BTreeMap::new();
    let is_failure = |state: &TrialState| {
        state.outcome.as_ref().is_some_and(|finding| State::of(finding.kind).is_failure())
    };
    for (trial, state) in ledger.told().filter(|(_, state)| is_failure(state)) {
        let row = Row::new(trial, state, &none);
        let cause = cause(row.reason);
        let group = groups.entry((row.state, cause.clone())).or_insert(Group {
            state: row.state,
            cause,
            count: 0,
            example: None,
            trial,
        });
        group.count += 1;
        group.trial = trial;
        group.example = state.deciding().map(|attempt| attempt.id);
    }
    let mut groups: Vec<Group> = groups.into_values().collect();
    groups.sort_by_key(|group| std::cmp::Reverse(group.count));
    groups
}

/// The first line of a reason, with long numbers as `#`.
pub fn cause(reason: &str) -> String {
    let line = reason.lines().next().unwrap_or("").trim();
    let mut cause = String::new();
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let length = match first.is_ascii_digit() {
            true => rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '.').unwrap_or(rest.len()),
            false => first.len_utf8(),
        };
        let (piece, others) = rest.split_at(length);
        let trimmed = piece.trim_end_matches('.');
        let short = trimmed.len() <= 3 && trimmed.bytes().all(|b| b.is_ascii_digit());
        match first.is_ascii_digit() && !short {
            true => cause.push_str(&format!("#{}", &piece[trimmed.len()..])),
            false => cause.push_str(piece),
        }
        rest = others;
    }
    cause
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_numbers_do_not_separate_causes() {
        assert_eq!(cause("exit code 137"), "exit code 137");
        assert_eq!(cause("exit code 1."), "exit code 1.");
        assert_eq!(cause("diverged at t = 0.71253 s\nmore"), "diverged at t = # s");
        assert_eq!(cause("node 12: pid 48121 at 0x7ffe12 died."), "node 12: pid # at # died.");
        assert_eq!(cause(""), "");
        assert_eq!(cause("überlauf 10000ü"), "überlauf #ü");
    }
}
