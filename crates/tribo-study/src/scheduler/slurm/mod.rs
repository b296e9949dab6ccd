//! SLURM: `sbatch`, one `squeue` for all jobs, `sacct` or `scontrol` for those that have left it, `scancel`.
//!
//! A poll costs one `squeue`, and one more command when jobs are missing from it. Both commands and their output are
//! those of 20.02 and later; tried with 22.05. JSON output is not used: in 22.05 it drops all filters.
//!
//! What can fail: any command, for hours. Then nothing is concluded. Without accounting (`sacct` off) a job that ended
//! is visible for MinJobAge (300 s), as listed by `squeue -t all`; after that only its answer tells.
//!
//! Not here: several clusters under one controller (`--clusters`), and signals after a cancellation: SLURM itself sends
//! KILL after KillWait.

mod accounting;
mod environment;
mod outcome;
mod queue;
#[cfg(test)]
mod recorded;
mod settings;
mod states;
mod submit;

use super::Scheduler;
use crate::Error;
use crate::job::Kind;
use crate::runner::array::{self, submit_in_groups};
use crate::runner::batch::{Around, Batch};
use crate::runner::join::{self, join};
use crate::runner::{Attempt, JobRef, Left, Patience, Runner, Sighting, State, Submission, Unreachable};
use crate::tag::AttemptId;
use accounting::PostMortem;
use std::collections::{BTreeMap, BTreeSet};

pub use settings::SlurmSettings;

const NAME: &str = "slurm";

pub(super) const SCHEDULER: Scheduler = Scheduler {
    name: NAME,
    doc: "What SLURM is asked for.",
    section: &settings::SECTION,
    read: settings::read,
    environment: environment::ENVIRONMENT,
};

/// `scancel` takes many ids; command lines have an end.
const CANCEL_BATCH: usize = 100;
/// MaxArraySize where SLURM's configuration cannot be read: its default.
const DEFAULT_ARRAY: usize = 1001;

/// Runs attempts as SLURM jobs.
#[derive(Debug)]
pub struct Slurm {
    config: SlurmSettings,
    batch: Batch,
    /// MaxArraySize, once asked.
    largest_array: Option<usize>,
    post_mortem: PostMortem,
    /// What is known of jobs that failed and are still listed.
    explained: BTreeMap<String, State>,
}

impl Slurm {
    /// A runner with the settings of the study file.
    pub fn new(config: SlurmSettings, batch: Batch) -> Slurm {
        Slurm {
            config,
            batch,
            largest_array: None,
            post_mortem: PostMortem::default(),
            explained: BTreeMap::new(),
        }
    }

    /// How often each scheduler program was run.
    pub fn counts(&self) -> &BTreeMap<String, u64> {
        self.batch.commands.counts()
    }

    fn submit_group(&mut self, group: &[Attempt]) -> Submission {
        let prepared = match self
            .batch
            .prepare(group, Around { setup: &self.config.setup, epilogue: &self.config.epilogue })
        {
            Ok(prepared) => prepared,
            Err(outcome) => return outcome,
        };
        let arguments = submit::arguments(&self.config, self.batch.wall(), &prepared);
        outcome::of(self.batch.commands.submit("sbatch", &arguments))
    }

    fn largest_array(&mut self) -> usize {
        if self.largest_array.is_none() {
            let output = self.batch.commands.run("scontrol", &["show", "config"]);
            self.largest_array = output.ok().and_then(|output| submit::max_array_size(&output.stdout));
        }
        self.largest_array.unwrap_or(DEFAULT_ARRAY)
    }

    /// `squeue` does not tell the exit code or the signal of a job that failed; `sacct` and `scontrol` do. Each is asked
    /// about once.
    fn explain_failures(&mut self, jobs: &[JobRef], sightings: &mut [Sighting]) -> Result<(), Unreachable> {
        let failed = |state: &State| matches!(state, State::Ended(end) if matches!(end.kind, Kind::Failed | Kind::Unstarted));
        let new = |s: &&Sighting| failed(&s.state) && !self.explained.contains_key(&s.job);
        let ids: BTreeSet<AttemptId> = sightings.iter().filter(new).map(|sighting| sighting.id).collect();
        let unexplained: Vec<JobRef> = jobs.iter().filter(|job| ids.contains(&job.id)).cloned().collect();
        if !unexplained.is_empty() {
            let listed = self.post_mortem.list(&mut self.batch, &unexplained)?;
            let listed = listed.into_iter().filter(|entry| failed(&entry.state));
            self.explained.extend(listed.map(|entry| (entry.job, entry.state)));
        }
        for sighting in sightings.iter_mut().filter(|sighting| failed(&sighting.state)) {
            if let Some(state) = self.explained.get(&sighting.job) {
                sighting.state = state.clone();
            }
        }
        self.explained.retain(|job, _| sightings.iter().any(|sighting| sighting.job == *job));
        Ok(())
    }

    fn cancel_ids(&mut self, ids: &[String]) -> Result<(), Unreachable> {
        for ids in ids.chunks(CANCEL_BATCH) {
            let arguments: Vec<&str> = std::iter::once("-Q").chain(ids.iter().map(String::as_str)).collect();
            let output =
                self.batch.commands.run("scancel", &arguments).map_err(|trouble| unreachable(&trouble))?;
            // A job that has ended meanwhile needs no end.
            let ended = |line: &str| {
                line.contains("Invalid job id") || line.contains("already completing or completed")
            };
            if !output.success() && !output.stderr.lines().all(ended) {
                return Err(unreachable(&output.complaint()));
            }
        }
        Ok(())
    }
}

impl Runner for Slurm {
    fn name(&self) -> &'static str {
        NAME
    }

    fn submit(&mut self, attempts: &[Attempt]) -> Vec<Submission> {
        let few = attempts.len() < crate::runner::array::SMALLEST_ARRAY;
        // An array has one size of memory for all.
        let unlike = attempts.iter().any(|attempt| attempt.memory_kills > 0);
        let largest = if few || unlike { 1 } else { self.largest_array() };
        submit_in_groups(attempts, largest, |id, k| format!("{id}_{k}"), |group| self.submit_group(group))
    }

    fn poll(&mut self, jobs: &[JobRef]) -> Result<Vec<Sighting>, Unreachable> {
        let listed = queue::list(&mut self.batch, self.config.requeue, jobs)?;
        let mut joined = join(&mut self.batch, jobs, listed);
        let surplus = std::mem::take(&mut joined.surplus);
        if !surplus.is_empty() {
            // If it fails now, the next poll finds them again; until then the claim keeps them apart.
            let _ = self.cancel_ids(&surplus);
        }
        let missing: Vec<JobRef> = joined.missing(jobs).into_iter().cloned().collect();
        if !missing.is_empty() {
            let listed = self.post_mortem.list(&mut self.batch, &missing)?;
            joined.sightings.extend(join(&mut self.batch, &missing, listed).sightings);
        }
        self.explain_failures(jobs, &mut joined.sightings)?;
        Ok(joined.sightings)
    }

    fn cancel(&mut self, jobs: &[JobRef]) -> Result<(), Unreachable> {
        crate::runner::leave_word(jobs);
        let mut ids: Vec<String> = jobs.iter().filter_map(|job| job.job.clone()).collect();
        let unknown: Vec<JobRef> = jobs.iter().filter(|job| job.job.is_none()).cloned().collect();
        if !unknown.is_empty() {
            let listed = queue::list(&mut self.batch, self.config.requeue, &unknown)?;
            let found = join(&mut self.batch, &unknown, listed);
            ids.extend(found.sightings.into_iter().map(|sighting| sighting.job).chain(found.surplus));
        }
        self.cancel_ids(&ids)
    }

    fn calls_for(&self, attempts: usize) -> usize {
        array::calls_for(attempts)
    }

    fn patience(&self) -> Patience {
        Patience::of_batch(self.config.poll)
    }

    fn check(&mut self) -> crate::Result<()> {
        self.rehearse().map(drop)
    }

    fn rehearse(&mut self) -> crate::Result<String> {
        let arguments = submit::test_arguments(&self.config, self.batch.wall());
        let output = match self.batch.commands.submit("sbatch", &arguments) {
            Ok(output) if output.success() => return Ok(outcome::rehearsed(&output.stderr)),
            output => output,
        };
        match outcome::of(output) {
            Submission::Refused(reason) => Err(Error::Refused { scheduler: NAME, reason }),
            // The queue is full for now: that is no fault of the study file.
            Submission::Accepted(_) | Submission::Limited(_) => Ok(outcome::rehearsed("")),
            Submission::Unavailable(reason) | Submission::Ambiguous(reason) => {
                Err(Error::Unreachable { scheduler: NAME, reason })
            }
        }
    }

    fn left(&mut self, suspects: &[JobRef]) -> Result<Vec<Left>, Unreachable> {
        queue::list(&mut self.batch, self.config.requeue, suspects).map(join::left)
    }

    fn last_words(&mut self, job: &JobRef) -> Option<String> {
        self.batch.last_words(job)
    }

    fn remove(&mut self, left: &[Left]) -> Result<(), Unreachable> {
        self.cancel_ids(&left.iter().map(|left| left.job.clone()).collect::<Vec<_>>())
    }
}

fn unreachable(reason: &impl ToString) -> Unreachable {
    Unreachable { scheduler: NAME, reason: reason.to_string() }
}
