//! PBS Pro and OpenPBS: `qsub`, one `qstat -f` for all jobs, `qselect` for jobs whose id is not known, `qdel`.
//!
//! `qstat` is read as text, for the jobs that are asked for. Its JSON is not used: with several ids it prints only the
//! first job (recorded from 23.06), a strange character in some environment makes all of it unreadable, and without ids
//! it prints every job of every user, the ended ones too.
//!
//! What can fail: any command, for hours; then nothing is concluded. If the server keeps no history, a job that ended is
//! simply gone, and only its answer tells.
//!
//! Not here: Torque, whose options differ, and moving jobs away from hosts that failed, for which PBS has no option.

mod environment;
mod outcome;
#[cfg(test)]
mod recorded;
mod settings;
mod states;
mod status;
mod submit;

use super::Scheduler;
use crate::Error;
use crate::runner::array::{self, submit_in_groups};
use crate::runner::batch::{Around, Batch};
use crate::runner::command::Output;
use crate::runner::join::{self, Listed, join};
use crate::runner::{Attempt, JobRef, Left, Patience, Runner, Sighting, Submission, Unreachable};
use crate::tag::AttemptId;
use std::collections::{BTreeMap, BTreeSet};

pub use settings::PbsSettings;

const NAME: &str = "pbs";

pub(super) const SCHEDULER: Scheduler = Scheduler {
    name: NAME,
    doc: "What PBS is asked for.",
    section: &settings::SECTION,
    read: settings::read,
    environment: environment::ENVIRONMENT,
};

/// Ids in one command: command lines have an end, and so has the patience of a server.
const ID_BATCH: usize = 200;
/// Arrays to begin with. A server's limit is not told to users, but a larger array is refused and then halved.
const LARGEST_ARRAY: usize = 1000;

/// Runs attempts as PBS jobs.
#[derive(Debug)]
pub struct Pbs {
    config: PbsSettings,
    batch: Batch,
    /// Whether the server remembers ended jobs, as far as is known.
    history: bool,
}

impl Pbs {
    /// A runner with the settings of the study file.
    pub fn new(config: PbsSettings, batch: Batch) -> Pbs {
        Pbs { config, batch, history: true }
    }

    /// How often each scheduler program was run.
    pub fn counts(&self) -> &BTreeMap<String, u64> {
        self.batch.commands.counts()
    }

    fn submit_group(&mut self, group: &[Attempt]) -> Submission {
        // `qsub` takes letters such as é for no part of a path: there the script opens its log itself.
        let plain = self.batch.is_plain();
        let mut setup = self.config.setup.clone();
        if !plain {
            setup.insert(0, self.batch.log_line(group, environment::ENVIRONMENT.index));
        }
        let prepared =
            match self.batch.prepare(group, Around { setup: &setup, epilogue: &self.config.epilogue }) {
                Ok(prepared) => prepared,
                Err(outcome) => return outcome,
            };
        let arguments = submit::arguments(&self.config, self.batch.wall(), &prepared, plain);
        outcome::of(self.batch.commands.submit("qsub", &arguments))
    }

    /// Runs a command that looks at ended jobs too if there is a history. The first answer that says there is none is
    /// believed for good.
    fn look(&mut self, program: &str, arguments: &[&str]) -> Result<Output, Unreachable> {
        loop {
            let history: &[&str] = if self.history { &["-x"] } else { &[] };
            let output = self.batch.commands.run(program, &[history, arguments].concat());
            let output = output.map_err(|trouble| unreachable(&trouble))?;
            if !(self.history && output.stderr.contains("not configured to maintain job history")) {
                return Ok(output);
            }
            self.history = false;
        }
    }

    /// Ids of the jobs with this name, whole arrays as one.
    fn select(&mut self, name: &str) -> Result<Vec<String>, Unreachable> {
        let output = self.look("qselect", &["-N", name])?;
        ids(&output)
    }

    /// Ids of all jobs of this user that have not ended.
    fn select_own(&mut self) -> Result<Vec<String>, Unreachable> {
        let Some(user) = user() else { return Ok(Vec::new()) };
        let output = self.batch.commands.run("qselect", &["-u", &user]);
        ids(&output.map_err(|trouble| unreachable(&trouble))?)
    }

    /// What the server tells of these jobs.
    fn status(&mut self, ids: &[String], jobs: &[JobRef]) -> Result<Vec<Listed>, Unreachable> {
        // An array is asked for with -t, which lists its elements.
        let (arrays, singles): (Vec<&str>, Vec<&str>) =
            ids.iter().map(String::as_str).partition(|id| id.contains("[]"));
        let mut listed = Vec::new();
        for (options, ids) in [(["-f"].as_slice(), singles), (&["-f", "-t"], arrays)] {
            for ids in ids.chunks(ID_BATCH) {
                let output = self.look("qstat", &[options, ids].concat())?;
                if !status::answered(&output) {
                    return Err(unreachable(&output.complaint()));
                }
                listed.extend(status::jobs(&output.stdout));
            }
        }
        let folders: BTreeMap<AttemptId, &JobRef> = jobs.iter().map(|job| (job.id, job)).collect();
        Ok(listed.iter().filter_map(|job| job.listed(&mut self.batch, &folders)).collect())
    }

    /// The jobs by their ids, and those without by all names they may have.
    fn list(&mut self, jobs: &[JobRef]) -> Result<Vec<Listed>, Unreachable> {
        let mut ids: Vec<String> = jobs.iter().filter_map(|job| job.job.clone()).collect();
        let nameless: BTreeSet<AttemptId> =
            jobs.iter().filter(|job| job.job.is_none()).map(|job| job.id).collect();
        let known = ids.len();
        for name in self.batch.names(&nameless) {
            ids.extend(self.select(&name)?);
        }
        if !nameless.is_empty() && ids.len() == known {
            // A job that was renamed is among the others, and has its tag in a variable.
            ids.extend(self.select_own()?);
        }
        self.status(&ids, jobs)
    }

    fn cancel_ids(&mut self, ids: &[String]) -> Result<(), Unreachable> {
        for ids in ids.chunks(ID_BATCH) {
            let output = self.batch.commands.run("qdel", ids).map_err(|trouble| unreachable(&trouble))?;
            if !outcome::deleted(&output) {
                return Err(unreachable(&output.complaint()));
            }
        }
        Ok(())
    }
}

impl Runner for Pbs {
    fn name(&self) -> &'static str {
        NAME
    }

    fn submit(&mut self, attempts: &[Attempt]) -> Vec<Submission> {
        submit_in_groups(attempts, LARGEST_ARRAY, status::element, |group| self.submit_group(group))
    }

    fn poll(&mut self, jobs: &[JobRef]) -> Result<Vec<Sighting>, Unreachable> {
        let listed = self.list(jobs)?;
        let joined = join(&mut self.batch, jobs, listed);
        if !joined.surplus.is_empty() {
            // If it fails now, the claim keeps the copies apart.
            let _ = self.cancel_ids(&joined.surplus);
        }
        Ok(joined.sightings)
    }

    fn cancel(&mut self, jobs: &[JobRef]) -> Result<(), Unreachable> {
        crate::runner::leave_word(jobs);
        let mut ids: Vec<String> = jobs.iter().filter_map(|job| job.job.clone()).collect();
        let unknown: Vec<JobRef> = jobs.iter().filter(|job| job.job.is_none()).cloned().collect();
        if !unknown.is_empty() {
            let listed = self.list(&unknown)?;
            let found = join(&mut self.batch, &unknown, listed);
            ids.extend(found.sightings.into_iter().map(|sighting| sighting.job).chain(found.surplus));
        }
        self.cancel_ids(&ids)
    }

    fn left(&mut self, suspects: &[JobRef]) -> Result<Vec<Left>, Unreachable> {
        self.list(suspects).map(join::left)
    }

    fn last_words(&mut self, job: &JobRef) -> Option<String> {
        self.batch.last_words(job)
    }

    fn remove(&mut self, left: &[Left]) -> Result<(), Unreachable> {
        self.cancel_ids(&left.iter().map(|left| left.job.clone()).collect::<Vec<_>>())
    }

    fn calls_for(&self, attempts: usize) -> usize {
        array::calls_for(attempts)
    }

    fn patience(&self) -> Patience {
        Patience::of_batch(self.config.poll)
    }

    fn check(&mut self) -> crate::Result<()> {
        let arguments: Vec<&str> = std::iter::once("-Q").chain(self.config.queue.as_deref()).collect();
        match self.batch.commands.run("qstat", &arguments) {
            Ok(output) if output.success() => Ok(()),
            Ok(output) if output.stderr.contains("Unknown queue") => {
                Err(Error::Refused { scheduler: NAME, reason: output.complaint() })
            }
            Ok(output) => Err(Error::Unreachable { scheduler: NAME, reason: output.complaint() }),
            Err(trouble) => Err(Error::Unreachable { scheduler: NAME, reason: trouble.to_string() }),
        }
    }

    /// `qsub` has no way to only ask, and `qstat -Q` knows nothing of users and resources: a job is submitted held, and
    /// deleted.
    fn rehearse(&mut self) -> crate::Result<String> {
        let arguments = submit::held_arguments(&self.config, self.batch.wall());
        let submission = outcome::of(self.batch.commands.submit("qsub", &arguments));
        let id = match submission {
            Submission::Accepted(id) => id,
            Submission::Limited(reason) => {
                return Ok(format!("pbs takes no more jobs of yours for now ({reason}); that passes"));
            }
            Submission::Refused(reason) => return Err(Error::Refused { scheduler: NAME, reason }),
            // For now or for good: whoever checks a study wants to know, whoever runs one waits.
            Submission::Unavailable(reason) if outcome::is_closed(&reason) => {
                return Err(Error::Refused { scheduler: NAME, reason });
            }
            Submission::Unavailable(reason) | Submission::Ambiguous(reason) => {
                return Err(Error::Unreachable { scheduler: NAME, reason });
            }
        };
        let delete = |reason: String| {
            let reason =
                format!("it took the job {id}, held, which could not be deleted: {reason}; `qdel {id}`");
            Error::Unreachable { scheduler: NAME, reason }
        };
        match self.batch.commands.run("qdel", &[&id]) {
            Ok(output) if outcome::deleted(&output) => Ok(
                "pbs took a job of this study, held, which was deleted again; whether it would run, only the queue shows"
                    .to_owned(),
            ),
            Ok(output) => Err(delete(output.complaint())),
            Err(trouble) => Err(delete(trouble.to_string())),
        }
    }
}

/// The name of this user, if the machine can tell.
fn user() -> Option<String> {
    let told = || {
        let output = std::process::Command::new("id").arg("-un").output().ok()?;
        Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    std::env::var("USER").ok().or_else(told).filter(|user| !user.is_empty())
}

/// The ids that `qselect` printed.
fn ids(output: &Output) -> Result<Vec<String>, Unreachable> {
    if !output.success() {
        return Err(unreachable(&output.complaint()));
    }
    Ok(output.stdout.lines().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty()).collect())
}

fn unreachable(reason: &impl ToString) -> Unreachable {
    Unreachable { scheduler: NAME, reason: reason.to_string() }
}
