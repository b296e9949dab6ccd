//! Post-mortem: how jobs ended that are no longer in the queue.
//!
//! `sacct` if the cluster keeps accounts, asked for all such jobs at once. It lags behind, and shows jobs as running for
//! ever when an end was not recorded, so only an end counts. Without accounts `scontrol show job`, once for each job: what
//! it does not know now it will not know later. Ids are used again, so a record counts only if the job name is ours.

use super::queue::{Claims, index};
use super::states::{Circumstances, state};
use super::unreachable;
use crate::runner::batch::Batch;
use crate::runner::command::Trouble;
use crate::runner::join::Listed;
use crate::runner::{JobRef, State, Unreachable};
use crate::tag::AttemptId;
use std::collections::BTreeSet;

/// Ids in one `sacct`: sites dislike long queries.
const SACCT_BATCH: usize = 50;
/// `scontrol` takes one job a call: not more than this many calls in one poll.
const SCONTROL_CALLS: usize = 8;
/// Names are searched from here on; without a start `sacct` looks at today only.
const SINCE: &str = "now-7days";
const FIELDS: &str = "JobID,JobName,State,NodeList,ExitCode";

/// What is known about asking for ended jobs.
#[derive(Debug, Default)]
pub(super) struct PostMortem {
    /// The cluster keeps no accounts.
    no_accounts: bool,
    /// Jobs that `scontrol` did not know.
    unknown: BTreeSet<String>,
}

impl PostMortem {
    /// Those of the jobs that are known to have ended.
    pub(super) fn list(&mut self, batch: &mut Batch, jobs: &[JobRef]) -> Result<Vec<Listed>, Unreachable> {
        if !self.no_accounts
            && let Some(listed) = self.accounts(batch, jobs)
        {
            return Ok(listed);
        }
        self.controller(batch, jobs)
    }

    /// By accounts; None if they cannot be asked.
    fn accounts(&mut self, batch: &mut Batch, jobs: &[JobRef]) -> Option<Vec<Listed>> {
        let claims = Claims::of(jobs);
        let ids: Vec<&str> = jobs.iter().filter_map(|job| job.job.as_deref()).collect();
        let mut queries: Vec<Vec<String>> =
            ids.chunks(SACCT_BATCH).map(|ids| vec!["-j".to_owned(), ids.join(",")]).collect();
        let nameless: BTreeSet<AttemptId> =
            jobs.iter().filter(|job| job.job.is_none()).map(|job| job.id).collect();
        let names: Vec<String> = batch.names(&nameless).into_iter().collect();
        for names in names.chunks(SACCT_BATCH) {
            queries.push(vec!["-S".to_owned(), SINCE.to_owned(), format!("--name={}", names.join(","))]);
        }
        let mut listed = Vec::new();
        for query in queries {
            let fixed = ["-n", "-X", "-P", "-o", FIELDS].map(str::to_owned);
            match batch.commands.run("sacct", &[fixed.as_slice(), &query].concat()) {
                Ok(output) if output.success() => {
                    listed.extend(output.stdout.lines().flat_map(|line| records(batch, &claims, line)));
                }
                // Missing or switched off, it stays so; anything else may pass. Either way there is the controller.
                Ok(output) => {
                    self.no_accounts = output.stderr.contains("accounting storage is disabled");
                    return None;
                }
                Err(trouble) => {
                    self.no_accounts = matches!(trouble, Trouble::Unstarted { .. });
                    return None;
                }
            }
        }
        Some(listed)
    }

    /// By the controller's memory.
    fn controller(&mut self, batch: &mut Batch, jobs: &[JobRef]) -> Result<Vec<Listed>, Unreachable> {
        let claims = Claims::of(jobs);
        let mut listed = Vec::new();
        let ids = jobs.iter().filter_map(|job| job.job.as_deref()).filter(|id| !self.unknown.contains(*id));
        let ids: Vec<String> = ids.take(SCONTROL_CALLS).map(str::to_owned).collect();
        for id in ids {
            let arguments = ["-o", "show", "job", &id];
            let output =
                batch.commands.run("scontrol", &arguments).map_err(|trouble| unreachable(&trouble))?;
            if !output.success() && !output.stderr.contains("Invalid job id") {
                return Err(unreachable(&output.complaint()));
            }
            match description(batch, &claims, &id, &output.stdout) {
                Some(entry) => listed.push(entry),
                None => {
                    self.unknown.insert(id);
                }
            }
        }
        Ok(listed)
    }
}

/// One line of `sacct`, if it tells an end: a job, or several elements of an array that ended before they began.
fn records(batch: &mut Batch, claims: &Claims<'_>, line: &str) -> Vec<Listed> {
    let fields: Vec<&str> = line.trim().splitn(5, '|').collect();
    let [job, name, word, nodes, exit] = fields[..] else { return Vec::new() };
    let about = Circumstances { nodes, exit, ..Circumstances::default() };
    let entries = elements(job).into_iter().filter_map(|job| entry(batch, claims, &job, name, word, about));
    entries.filter(|entry| matches!(entry.state, State::Ended(_))).collect()
}

/// The ids behind `12`, `12_3` and `12_[0-3,7%2]`.
fn elements(job: &str) -> Vec<String> {
    let Some((array, list)) = job.split_once("_[") else { return vec![job.to_owned()] };
    let list = list.trim_end_matches(']').split('%').next().unwrap_or_default();
    let mut ids = Vec::new();
    for range in list.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        if let (Ok(first), Ok(last)) = (first.parse::<u32>(), last.parse::<u32>()) {
            ids.extend((first..=last).map(|index| format!("{array}_{index}")));
        }
    }
    ids
}

/// The answer of `scontrol -o show job`, one line of `Key=value`. Values that hold spaces are not needed.
fn description(batch: &mut Batch, claims: &Claims<'_>, job: &str, text: &str) -> Option<Listed> {
    let value = |key: &str| {
        text.split_whitespace().find_map(|word| word.strip_prefix(key)?.strip_prefix('=')).unwrap_or_default()
    };
    let nodes = Some(value("NodeList")).filter(|nodes| *nodes != "(null)").unwrap_or_default();
    let about =
        Circumstances { nodes, reason: value("Reason"), exit: value("ExitCode"), ..Circumstances::default() };
    entry(batch, claims, job, value("JobName"), value("JobState"), about)
}

fn entry(
    batch: &mut Batch,
    claims: &Claims<'_>,
    job: &str,
    name: &str,
    word: &str,
    about: Circumstances<'_>,
) -> Option<Listed> {
    let index = index(job);
    let id = batch.attempt(name, index)?;
    let claimed = claims.has(Some(id));
    let state = state(word, Circumstances { claimed, ..about });
    Some(Listed { job: job.to_owned(), name: name.to_owned(), index, state })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_of_arrays_are_told_apart() {
        assert_eq!(elements("12"), ["12"]);
        assert_eq!(elements("12_3"), ["12_3"]);
        assert_eq!(elements("12_[0-2,7%2]"), ["12_0", "12_1", "12_2", "12_7"]);
        assert!(elements("12_[...]").is_empty());
    }
}
