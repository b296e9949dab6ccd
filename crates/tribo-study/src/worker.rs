//! A worker: takes attempts from the pool of a study and runs each as `tribo job`, for as long as it lives.
//!
//! One is started by a person (`tribo worker`), in a container, on another machine, or as a pilot inside one allocation of a
//! scheduler, where it spares the queue thousands of short jobs. All it shares with the driver is the folder.
//!
//! It leaves when it is told to (a signal, a word in its folder), when its time is nearly over, or when it had nothing to do
//! for long. An evaluation is begun only if it fits the time that is left: by the study's time limit, or else by the longest
//! that this worker has seen. What still runs when it has to leave is stopped and given back, and costs no attempt.
//!
//! A worker that is killed leaves its jobs to themselves, or to the scheduler that kills them too; the driver sees by their
//! heartbeats which it was.

use crate::job::{self, CANCEL_FILE, Heartbeat, Signals, Spec, Stamp, Started};
use crate::layout::Layout;
use crate::pool::{PILOT_FILE, Pilot, Pool, Terms};
use crate::runner::local::LOG_FILE;
use crate::tag::AttemptId;
use crate::{Error, Result};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process};
use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Before the end of its time a worker stops what still runs: a minute, or a fifth of a short life.
const BEFORE_END: (Duration, u32) = (Duration::from_secs(60), 5);
/// Jobs that were told to stop have this long to answer: they give their command ten seconds.
const STOPPING: Duration = Duration::from_secs(25);
/// Between two looks for offers: a tenth of an evaluation, within these.
const LOOKS: (Duration, Duration) = (Duration::from_millis(10), Duration::from_secs(1));
/// The same before the first evaluation has ended.
const FIRST_LOOKS: Duration = Duration::from_millis(100);

/// Runs the pilot of this folder, if it is one; None if it is not. `unready` says what failed before it could begin.
pub fn pilot(dir: &Path, unready: Option<&str>, program: &Path) -> Option<Result<()>> {
    let text = fs::read(dir.join(PILOT_FILE)).ok()?;
    Some(run_pilot(dir, &text, unready, program))
}

fn run_pilot(dir: &Path, text: &[u8], unready: Option<&str>, program: &Path) -> Result<()> {
    let path = dir.join(PILOT_FILE);
    let broken = |error| Error::Missing { path: path.clone(), what: format!("not a pilot: {error}") };
    let pilot: Pilot = serde_json::from_slice(text).map_err(broken)?;
    let signals = Signals::catch().map_err(Error::io("cannot catch signals for", dir))?;
    let by = Stamp::here(&[&pilot.tag]);
    // Submitted twice, or given up meanwhile: another has its place.
    if !job::claim(dir, &pilot.tag, &by).map_err(Error::io("cannot claim", dir))? {
        return Ok(());
    }
    let name = dir.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let store = dir.ancestors().nth(3).unwrap_or(dir);
    if let Some(what) = unready {
        let why = format!("the setup of the job failed with {what}");
        return Pool::of(store).leave(&name, &why).map_err(Error::io("cannot write to", dir));
    }
    Started { by, incarnation: 0 }.write(dir).map_err(Error::io("cannot write to", dir))?;
    Worker::new(store, name, pilot.terms, program, signals)?.work().map(drop)
}

/// Runs a worker by hand until it leaves; says why it left.
pub fn by_hand(layout: &Layout, terms: Terms, program: &Path) -> Result<String> {
    if !layout.store().is_dir() {
        return Err(layout.missing());
    }
    let store = std::path::absolute(layout.store()).map_err(Error::io("cannot find", layout.store()))?;
    let signals = Signals::catch().map_err(Error::io("cannot catch signals for", &store))?;
    let by = Stamp::here(&[]);
    // In containers hosts and process numbers may be the same: the start tells them apart.
    let nanoseconds = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let name = format!("{}-{}-{}", by.host, by.pid, nanoseconds.as_nanos());
    let pool = Pool::of(&store);
    pool.make().and_then(|()| pool.enter(&name)).map_err(Error::io("cannot write to", &store))?;
    let dir = pool.worker(&name);
    Started { by, incarnation: 0 }.write(&dir).map_err(Error::io("cannot write to", &dir))?;
    Worker::new(&store, name, terms, program, signals)?.work()
}

/// An attempt that runs.
struct Running {
    id: AttemptId,
    slot: usize,
    child: Child,
    began: Instant,
}

struct Worker<'a> {
    pool: Pool,
    store: PathBuf,
    name: String,
    terms: Terms,
    program: &'a Path,
    signals: Signals,
    heartbeat: Heartbeat,
    began: Instant,
    jobs: Vec<Running>,
    /// The longest evaluation so far, and the last one.
    longest: Duration,
    last: Option<Duration>,
    busy: Instant,
}

impl<'a> Worker<'a> {
    fn new(
        store: &Path,
        name: String,
        terms: Terms,
        program: &'a Path,
        signals: Signals,
    ) -> Result<Worker<'a>> {
        let pool = Pool::of(store);
        pool.enter(&name).map_err(Error::io("cannot write to", store))?;
        let dir = pool.worker(&name);
        // What an earlier run of the same job had in its hands when the scheduler stopped it.
        for id in pool.held(&name) {
            pool.give_back(&name, id, "its worker was restarted")
                .map_err(Error::io("cannot write to", &dir))?;
        }
        let now = Instant::now();
        Ok(Worker {
            heartbeat: Heartbeat::start(&dir),
            pool,
            store: store.to_owned(),
            name,
            terms,
            program,
            signals,
            began: now,
            jobs: Vec::new(),
            longest: Duration::ZERO,
            last: None,
            busy: now,
        })
    }

    fn work(mut self) -> Result<String> {
        let (mut draining, mut leaving): (bool, Option<(Instant, String)>) = (false, None);
        let why = loop {
            let now = Instant::now();
            self.reap();
            self.heartbeat.beat(now);
            if leaving.is_none()
                && let Some(why) = self.reason_to_leave(now)
            {
                self.stop_all(&why);
                leaving = Some((now, why));
            }
            if let Some((since, why)) = &leaving {
                if self.jobs.is_empty() || now - *since >= STOPPING {
                    break why.clone();
                }
            } else if !draining {
                draining = self.fill(now)?;
            }
            if !self.jobs.is_empty() {
                self.busy = now;
            } else if draining {
                break "what is left of its time is too short for an evaluation".to_owned();
            } else if now - self.busy >= self.terms.idle {
                break "there was nothing to do".to_owned();
            }
            self.rest();
        };
        self.pool.leave(&self.name, &why).map_err(Error::io("cannot write to", &self.store))?;
        Ok(why)
    }

    fn reason_to_leave(&self, now: Instant) -> Option<String> {
        if let Some(request) = self.signals.request() {
            return Some(format!("it was told to stop by {}", request.name()));
        }
        let dir = self.pool.worker(&self.name);
        if dir.join(CANCEL_FILE).exists() {
            return Some("the study needs it no more".to_owned());
        }
        if let Some(why) = self.pool.over(&self.name) {
            return Some(format!("the driver gave it up: {why}"));
        }
        self.left(now).is_some_and(|left| left.is_zero()).then(|| "its time is over".to_owned())
    }

    /// The time that is left for evaluations.
    fn left(&self, now: Instant) -> Option<Duration> {
        let time = self.terms.time?;
        let end = time.saturating_sub(BEFORE_END.0.min(time / BEFORE_END.1));
        Some(end.saturating_sub(now - self.began))
    }

    /// Takes attempts for all free slots. True if the next one would not fit the time that is left.
    fn fill(&mut self, now: Instant) -> Result<bool> {
        let mut free: Vec<usize> = (0..self.terms.slots)
            .rev()
            .filter(|slot| self.jobs.iter().all(|job| job.slot != *slot))
            .collect();
        if free.is_empty() {
            return Ok(false);
        }
        for id in self.pool.offers().map_err(Error::io("cannot list offers in", &self.store))? {
            let Some(slot) = free.last().copied() else { break };
            let dir = self.attempt(id);
            if !self.fits(&dir, now) {
                return Ok(true);
            }
            if !self.pool.take(&self.name, id).map_err(Error::io("cannot take from", &self.store))? {
                continue;
            }
            match self.start(&dir, slot) {
                Ok(child) => {
                    self.jobs.push(Running { id, slot, child, began: Instant::now() });
                    free.pop();
                }
                Err(error) => {
                    let reason = format!("{} cannot be started: {error}", self.program.display());
                    self.give_back(id, &reason);
                }
            }
        }
        Ok(false)
    }

    fn attempt(&self, id: AttemptId) -> PathBuf {
        self.store.join("trials").join(format!("{:06}", id.trial)).join(format!("a{}", id.attempt))
    }

    fn fits(&self, dir: &Path, now: Instant) -> bool {
        let Some(left) = self.left(now) else { return true };
        let limit = Spec::read(dir).and_then(|spec| spec.evaluation.timeout);
        left > limit.unwrap_or(self.longest)
    }

    fn start(&self, dir: &Path, slot: usize) -> io::Result<Child> {
        let log = OpenOptions::new().create(true).append(true).open(dir.join(LOG_FILE))?;
        let mut command = Command::new(self.program);
        command.arg("job").arg("--dir").arg(dir).env("TRIBO_SLOT", slot.to_string());
        command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log).spawn()
    }

    /// Takes note of jobs that have ended.
    fn reap(&mut self) {
        let mut ended = Vec::new();
        self.jobs.retain_mut(|job| match job.child.try_wait() {
            Ok(None) => true,
            Ok(Some(status)) => {
                ended.push((job.id, job.began.elapsed(), (!status.success()).then(|| status.to_string())));
                false
            }
            Err(error) => {
                ended.push((job.id, job.began.elapsed(), Some(error.to_string())));
                false
            }
        });
        for (id, took, trouble) in ended {
            self.longest = self.longest.max(took);
            self.last = Some(took);
            match trouble {
                None => self.pool.finish(&self.name, id),
                Some(trouble) => {
                    self.give_back(id, &format!("the job could not leave its answer ({trouble})"))
                }
            }
        }
    }

    /// Stops what runs. The reason lies there before the jobs say that they were stopped.
    fn stop_all(&mut self, why: &str) {
        for job in &self.jobs {
            let _ = self.pool.give_back(&self.name, job.id, &format!("its worker had to leave: {why}"));
            if let Some(pid) = i32::try_from(job.child.id()).ok().and_then(Pid::from_raw) {
                let _ = kill_process(pid, Signal::TERM);
            }
        }
    }

    fn give_back(&self, id: AttemptId, reason: &str) {
        // What cannot be written is found out by the driver, from the silence.
        let _ = self.pool.give_back(&self.name, id, reason);
    }

    /// Waits for the end of a job, a signal, or the next look.
    fn rest(&self) {
        let full = self.jobs.len() >= self.terms.slots;
        let look = self.last.map_or(FIRST_LOOKS, |last| (last / 10).clamp(LOOKS.0, LOOKS.1));
        let timeout = Timespec::try_from(if full { LOOKS.1 } else { look }).ok();
        let mut wake = [PollFd::from_borrowed_fd(self.signals.wake(), PollFlags::IN)];
        if poll(&mut wake, timeout.as_ref()).is_ok() {
            self.signals.clear();
        }
    }
}
