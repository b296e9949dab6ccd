//! Machines reached by `ssh`: a worker is started on each, and everything after that goes through the shared folder.
//!
//! A worker outlives the connection that started it. Its id is `host:process`. Whether it lives is seen by its heartbeat; a
//! machine is asked by `ssh` only about one that has not begun. A machine that cannot be reached is left alone for a while,
//! and others are used.

mod settings;

use super::{Environment, Scheduler};
use crate::Error;
use crate::job::{HEARTBEAT_FILE, Kind, STARTED_FILE, Started};
use crate::pool::OVER_FILE;
use crate::runner::batch::{Around, Batch, quoted_text, untold};
use crate::runner::local::LOG_FILE;
use crate::runner::{
    Attempt, Ending, JobRef, Left, Patience, Runner, Sighting, State, Submission, Unreachable, leave_word,
};
use crate::tag::AttemptId;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

pub use settings::SshSettings;

const NAME: &str = "ssh";

pub(super) const SCHEDULER: Scheduler = Scheduler {
    name: NAME,
    doc: "Machines that ssh reaches.",
    section: &settings::SECTION,
    read: settings::read,
    // Nothing tells a process that it was started by ssh on our behalf, and nothing restarts it.
    environment: Environment {
        job: "TRIBO_NO_JOB",
        name: "TRIBO_NO_JOB",
        index: "TRIBO_NO_INDEX",
        restarts: None,
        id: |job, _| job.to_owned(),
    },
};

/// A machine that could not be reached is left alone for this long.
const AWAY: Duration = Duration::from_secs(60);
/// The exit code of `ssh` itself, when it is not that of the command.
const NO_CONNECTION: i32 = 255;

/// Starts workers on machines.
#[derive(Debug)]
pub struct Ssh {
    config: SshSettings,
    batch: Batch,
    /// Where workers are.
    placed: BTreeMap<AttemptId, String>,
    away: BTreeMap<String, Instant>,
}

impl Ssh {
    /// A runner with the settings of the study file.
    pub fn new(config: SshSettings, batch: Batch) -> Ssh {
        Ssh { config, batch, placed: BTreeMap::new(), away: BTreeMap::new() }
    }

    fn on(
        &mut self,
        host: &str,
        line: &str,
    ) -> Result<crate::runner::command::Output, crate::runner::command::Trouble> {
        let fixed = ["-n", "-o", "BatchMode=yes", "-o", "ConnectTimeout=15"].map(str::to_owned);
        let arguments =
            [&fixed, self.config.options.as_slice(), &[host.to_owned(), line.to_owned()]].concat();
        self.batch.commands.run("ssh", &arguments)
    }

    /// The machine with the fewest workers, of those that are there.
    fn host(&self, avoid: &[String]) -> Option<String> {
        let away = |host: &&String| {
            avoid.contains(host) || self.away.get(*host).is_some_and(|since| since.elapsed() < AWAY)
        };
        let load = |host: &&String| self.placed.values().filter(|placed| placed == host).count();
        self.config.hosts.iter().filter(|host| !away(host)).min_by_key(load).cloned()
    }

    fn start(&mut self, attempt: &Attempt) -> Submission {
        let prepared = match self
            .batch
            .prepare(std::slice::from_ref(attempt), Around { setup: &self.config.setup, epilogue: &[] })
        {
            Ok(prepared) => prepared,
            Err(outcome) => return outcome,
        };
        let line = format!(
            "cd {} && {{ nohup {} >>{LOG_FILE} 2>&1 </dev/null & echo $!; }}",
            quoted_text(prepared.folder.as_os_str()),
            quoted_text(prepared.script.as_os_str())
        );
        let mut last = "none of the hosts can be reached".to_owned();
        while let Some(host) = self.host(&attempt.avoid) {
            match self.on(&host, &line) {
                Ok(output) if output.success() => match output.stdout.trim().parse::<u32>() {
                    Ok(pid) => {
                        self.placed.insert(attempt.id, host.clone());
                        return Submission::Accepted(format!("{host}:{pid}"));
                    }
                    Err(_) => {
                        return Submission::Ambiguous(format!("{host} answered {:?}", output.stdout.trim()));
                    }
                },
                // Whether it was the connection or the folder that is not there: another machine may do.
                Ok(output) => last = format!("{host}: {}", output.complaint()),
                Err(trouble) => return untold(&trouble),
            }
            self.away.insert(host, Instant::now());
        }
        Submission::Unavailable(last)
    }

    /// What is seen of a worker; None if its machine does not say.
    fn state(&mut self, job: &JobRef, id: &str) -> Option<State> {
        if job.dir.join(HEARTBEAT_FILE).exists() || job.dir.join(STARTED_FILE).exists() {
            return Some(State::Running);
        }
        let (host, pid) = id.rsplit_once(':')?;
        let output = self.on(host, &format!("kill -0 {pid}")).ok()?;
        match output.code {
            Some(0) => Some(State::Queued(Some(format!("it is starting on {host}")))),
            Some(NO_CONNECTION) | None => None,
            Some(_) => {
                let reason = format!("it ended on {host} before it began");
                Some(State::Ended(Ending { kind: Kind::Unstarted, reason, host: Some(host.to_owned()) }))
            }
        }
    }
}

/// The id of a job: the one it was given, or by what it wrote into its folder.
fn id_of(job: &JobRef) -> Option<String> {
    let started = || Started::read(&job.dir).map(|Started { by, .. }| format!("{}:{}", by.host, by.pid));
    job.job.clone().or_else(started)
}

impl Runner for Ssh {
    fn name(&self) -> &'static str {
        NAME
    }

    fn submit(&mut self, attempts: &[Attempt]) -> Vec<Submission> {
        attempts.iter().map(|attempt| self.start(attempt)).collect()
    }

    fn poll(&mut self, jobs: &[JobRef]) -> Result<Vec<Sighting>, Unreachable> {
        self.placed.retain(|id, _| jobs.iter().any(|job| job.id == *id));
        let mut sightings = Vec::new();
        for job in jobs {
            let Some(id) = id_of(job) else { continue };
            if let Some((host, _)) = id.rsplit_once(':') {
                self.placed.insert(job.id, host.to_owned());
            }
            if let Some(state) = self.state(job, &id) {
                sightings.push(Sighting { id: job.id, job: id, state });
            }
        }
        Ok(sightings)
    }

    fn cancel(&mut self, jobs: &[JobRef]) -> Result<(), Unreachable> {
        leave_word(jobs);
        Ok(())
    }

    fn patience(&self) -> Patience {
        Patience::of_batch(self.config.poll)
    }

    fn rehearse(&mut self) -> crate::Result<String> {
        let line = self.batch.is_there();
        let mut troubles = Vec::new();
        for host in self.config.hosts.clone() {
            match self.on(&host, &line) {
                Ok(output) if output.success() => {}
                Ok(output) if output.code == Some(NO_CONNECTION) => {
                    troubles.push(format!("{host}: {}", output.complaint()));
                }
                Ok(_) => {
                    troubles.push(format!("{host} has not this folder, or not this tribo, at the same path"))
                }
                Err(trouble) => troubles.push(format!("{host}: {trouble}")),
            }
        }
        let (hosts, bad) = (self.config.hosts.len(), troubles.len());
        let troubles = troubles.join("; ");
        match bad {
            0 => Ok(format!("all {hosts} hosts answer, and have this folder and this tribo")),
            bad if bad == hosts => Err(Error::Unreachable { scheduler: NAME, reason: troubles }),
            bad => Ok(format!("{} of {hosts} hosts can be used; not so: {troubles}", hosts - bad)),
        }
    }

    fn left(&mut self, suspects: &[JobRef]) -> Result<Vec<Left>, Unreachable> {
        let there = suspects.iter().filter(|job| !job.dir.join(OVER_FILE).exists());
        Ok(there.filter_map(|job| Some(Left { job: id_of(job)?, name: job.tag.to_string() })).collect())
    }

    fn last_words(&mut self, job: &JobRef) -> Option<String> {
        self.batch.last_words(job)
    }

    fn remove(&mut self, left: &[Left]) -> Result<(), Unreachable> {
        for Left { job, .. } in left {
            if let Some((host, pid)) = job.rsplit_once(':') {
                // One that is gone needs no end, and a machine that is gone gives none.
                let _ = self.on(host, &format!("kill {pid}"));
            }
        }
        Ok(())
    }
}
