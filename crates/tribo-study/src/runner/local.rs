//! Attempts as processes of this machine: `tribo job --dir DIR`, one for each.
//!
//! A job outlives its driver: it has no terminal, writes to `job.log`, and makes a session of its own as soon as it runs.
//! (Its process group is left alone here: a leader of a group cannot make a session.) A thread waits for each child and
//! wakes the driver when it ends, so a free worker is seen at once; children of an earlier driver are watched through
//! `/proc`. A job that was started but not recorded is found by what it wrote into its folder.
//!
//! Not here: the number of workers (the driver's matter), and killing: `tribo job` ends its own process tree.

use super::process::Process;
use super::{Attempt, Ending, JobRef, Patience, Runner, Sighting, State, Submission, Unreachable};
use crate::job::{CLAIM_FILE, Kind, Started};
use rustix::process::{Pid, Signal, kill_process};
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

/// What jobs print themselves, in the attempt's folder; the command's own output is elsewhere.
pub const LOG_FILE: &str = "job.log";

/// Runs attempts as processes of this machine.
#[derive(Debug)]
pub struct Local {
    program: PathBuf,
    wake: Sender<(String, ExitStatus)>,
    ended: Receiver<(String, ExitStatus)>,
    /// How children ended that the driver still asks about.
    endings: BTreeMap<String, ExitStatus>,
}

impl Local {
    /// A runner that starts this program, which is `tribo`.
    pub fn new(program: PathBuf) -> Local {
        let (wake, ended) = channel();
        Local { program, wake, ended, endings: BTreeMap::new() }
    }

    fn start(&self, attempt: &Attempt) -> Submission {
        let log = match log_file(&attempt.dir) {
            Ok(log) => log,
            Err(error) => return Submission::Unavailable(format!("{}: {error}", attempt.dir.display())),
        };
        let mut command = Command::new(&self.program);
        command.arg("job").arg("--dir").arg(&attempt.dir).stdin(Stdio::null()).stdout(log.0).stderr(log.1);
        let mut child = match command.spawn() {
            Ok(child) => child,
            Err(error) => {
                let reason = format!("cannot start {}: {error}", self.program.display());
                return match error.kind() {
                    ErrorKind::NotFound | ErrorKind::PermissionDenied => Submission::Refused(reason),
                    ErrorKind::WouldBlock => Submission::Limited(reason),
                    _ => Submission::Unavailable(reason),
                };
            }
        };
        // Nobody has waited for the child yet, so its entry in /proc is there even if it has ended.
        let Some(process) = Process::of(child.id()) else {
            let _ = child.kill();
            let _ = child.wait();
            return Submission::Refused("/proc cannot be read: local jobs need it".to_owned());
        };
        let job = process.to_string();
        // Without a thread it is watched through /proc, as if an earlier driver had started it.
        let _ = self.watch(job.clone(), child);
        Submission::Accepted(job)
    }

    /// Waits for a child in a thread, which tells how it ended.
    fn watch(&self, job: String, mut child: Child) -> io::Result<()> {
        let wake = self.wake.clone();
        let waiting = move || {
            if let Ok(status) = child.wait() {
                // Nobody listens any more when the driver has left.
                let _ = wake.send((job, status));
            }
        };
        thread::Builder::new().name("job".to_owned()).stack_size(64 << 10).spawn(waiting).map(drop)
    }

    fn collect(&mut self) {
        self.endings.extend(self.ended.try_iter());
    }

    fn state(&self, job: &JobRef, id: &str, process: &Process) -> State {
        if let Some(status) = self.endings.get(id) {
            return State::Ended(ending(*status, &job.dir));
        }
        if process.alive() {
            return State::Running;
        }
        State::Ended(Ending { kind: Kind::Lost, reason: process.epitaph(), host: None })
    }
}

impl Runner for Local {
    fn name(&self) -> &'static str {
        "local"
    }

    fn submit(&mut self, attempts: &[Attempt]) -> Vec<Submission> {
        attempts.iter().map(|attempt| self.start(attempt)).collect()
    }

    fn poll(&mut self, jobs: &[JobRef]) -> Result<Vec<Sighting>, Unreachable> {
        self.collect();
        let mut sightings = Vec::new();
        for job in jobs {
            if let Some(process) = process(job) {
                let id = process.to_string();
                sightings.push(Sighting { id: job.id, state: self.state(job, &id, &process), job: id });
            }
        }
        self.endings.retain(|id, _| sightings.iter().any(|sighting| sighting.job == *id));
        Ok(sightings)
    }

    fn cancel(&mut self, jobs: &[JobRef]) -> Result<(), Unreachable> {
        // A job that has not come far enough to be seen finds the file; one that runs gets the signal too.
        super::leave_word(jobs);
        for job in jobs {
            let running =
                process(job).filter(Process::alive).and_then(|process| i32::try_from(process.pid).ok());
            if let Some(pid) = running.and_then(Pid::from_raw) {
                let _ = kill_process(pid, Signal::TERM);
            }
        }
        Ok(())
    }

    fn patience(&self) -> Patience {
        Patience { spool: 0.05, poll_min: 1.0, poll_max: 5.0, lost: 2.0, lookup: 2.0, detachable: false }
    }

    fn wait(&mut self, seconds: f64) -> bool {
        self.collect();
        let limit = Duration::try_from_secs_f64(seconds).unwrap_or_default();
        if let Ok((job, status)) = self.ended.recv_timeout(limit) {
            self.endings.insert(job, status);
        }
        true
    }

    fn check(&mut self) -> crate::Result<()> {
        match fs::metadata(&self.program) {
            Ok(_) => Ok(()),
            Err(source) => {
                Err(crate::Error::Io { action: "cannot start", path: self.program.clone(), source })
            }
        }
    }
}

fn log_file(dir: &Path) -> io::Result<(File, File)> {
    let log = OpenOptions::new().create(true).append(true).open(dir.join(LOG_FILE))?;
    let twin = log.try_clone()?;
    Ok((log, twin))
}

/// The process of a job, by the id it was given or else by what it wrote into its folder.
fn process(job: &JobRef) -> Option<Process> {
    match &job.job {
        Some(id) => id.parse().ok(),
        None => Started::read(&job.dir).map(|Started { by, .. }| Process {
            pid: by.pid,
            starttime: by.starttime,
            boot: by.boot_id,
        }),
    }
}

/// How a child of ours ended. A job that ends well has left an answer, whatever came of the command.
fn ending(status: ExitStatus, dir: &Path) -> Ending {
    let see = dir.join(LOG_FILE);
    let (kind, reason) = match (status.code(), status.signal()) {
        (Some(0), _) => (Kind::Ok, "the job ended".to_owned()),
        (Some(code), _) if dir.join(CLAIM_FILE).exists() => {
            (Kind::Lost, format!("the job ended with exit code {code}; see {}", see.display()))
        }
        (Some(code), _) => {
            (Kind::Unstarted, format!("the job could not start, exit code {code}; see {}", see.display()))
        }
        (None, signal) => (Kind::Lost, format!("the job was ended by signal {}", signal.unwrap_or(0))),
    };
    Ending { kind, reason, host: None }
}
