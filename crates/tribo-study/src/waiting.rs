//! Why jobs wait, in the words of their scheduler: counted by reason, for people.
//!
//! Most reasons pass by themselves. A hold needs a person, and what no node or partition can ever give needs another study
//! file: those are warnings. Numbers in a reason, such as how much memory is free, do not make it another reason.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Whether a job that waits will run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Prospect {
    /// Never, as it was asked for.
    Never,
    /// When somebody releases it.
    Held,
    /// By and by.
    Waits,
}

/// One job that waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Waiter<'a> {
    /// Whether it will run.
    pub prospect: Prospect,
    /// The scheduler's reason.
    pub reason: &'a str,
    /// The scheduler's id.
    pub job: &'a str,
    /// Its trial.
    pub trial: u64,
}

/// Jobs that wait for the same reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiting {
    /// Whether they will run.
    pub prospect: Prospect,
    /// The scheduler's reason.
    pub reason: String,
    /// How many.
    pub jobs: usize,
    /// One of them.
    pub job: String,
    /// Its trial.
    pub trial: u64,
}

/// Jobs grouped by their reason: what never runs first, then what is held, then the commonest.
pub fn grouped<'a>(waiters: impl IntoIterator<Item = Waiter<'a>>) -> Vec<Waiting> {
    let mut groups: BTreeMap<(Prospect, String), Waiting> = BTreeMap::new();
    for Waiter { prospect, reason, job, trial } in waiters {
        let (reason, job) = (reason.to_owned(), job.to_owned());
        let group = groups.entry((prospect, without_numbers(&reason)));
        group.or_insert(Waiting { prospect, reason, jobs: 0, job, trial }).jobs += 1;
    }
    let mut groups: Vec<Waiting> = groups.into_values().collect();
    groups.sort_by_key(|group| (group.prospect, std::cmp::Reverse(group.jobs)));
    groups
}

impl Waiting {
    /// What tells this reason from others.
    pub fn key(&self) -> (Prospect, String) {
        (self.prospect, without_numbers(&self.reason))
    }

    /// For people: how many jobs, why, and what to do. `section` is where the study file asks for resources.
    pub fn text(&self, section: &str) -> String {
        let Waiting { reason, job, trial, .. } = self;
        let (jobs, many) = match self.jobs {
            1 => (format!("job {job} (trial {trial})"), false),
            n => (format!("{n} jobs, e.g. {job} (trial {trial}),"), true),
        };
        match (self.prospect, many) {
            (Prospect::Waits, false) => format!("{jobs} waits: {reason}"),
            (Prospect::Waits, true) => format!("{jobs} wait: {reason}"),
            (Prospect::Held, many) => format!(
                "{jobs} {} held: {reason}; somebody has to release {}",
                if many { "are" } else { "is" },
                if many { "them" } else { "it" }
            ),
            (Prospect::Never, _) => format!(
                "{jobs} can never run as asked for: {reason}; correct {section}, then `tribo cancel --all` and `tribo run`"
            ),
        }
    }
}

fn without_numbers(reason: &str) -> String {
    reason.chars().filter(|c| !c.is_ascii_digit()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_counted_without_their_numbers_and_the_worst_comes_first() {
        let waiter = |trial, prospect, reason| Waiter { prospect, reason, job: "12", trial };
        let groups = grouped([
            waiter(1, Prospect::Waits, "Priority"),
            waiter(2, Prospect::Waits, "ncpus (R: 4 A: 0)"),
            waiter(3, Prospect::Waits, "ncpus (R: 4 A: 17)"),
            waiter(4, Prospect::Held, "JobHeldUser"),
            waiter(5, Prospect::Never, "PartitionTimeLimit"),
        ]);
        let texts: Vec<String> = groups.iter().map(|group| group.text("[run.slurm]")).collect();
        let expected = [
            "job 12 (trial 5) can never run as asked for: PartitionTimeLimit; correct [run.slurm], then `tribo cancel --all` and `tribo run`",
            "job 12 (trial 4) is held: JobHeldUser; somebody has to release it",
            "2 jobs, e.g. 12 (trial 2), wait: ncpus (R: 4 A: 0)",
            "job 12 (trial 1) waits: Priority",
        ];
        assert_eq!(texts, expected);
    }
}
