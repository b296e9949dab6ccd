//! A test problem in place of a program, on a clock that only jumps: to try a strategy, or the driver, in no time.
//!
//! An attempt is evaluated when it is submitted and answers when its time has come. Durations are uniform and drawn by
//! trial and attempt, so a study gives the same schedule whatever else happens. The clock is a number shared with the
//! driver: waiting moves it to the next end, or as far as was asked. Answers go where jobs leave theirs, through a
//! function given at the start, so the driver cannot tell the difference.
//!
//! Nothing outlives the program, but jobs that an earlier driver recorded begin anew when they are asked about: with the
//! same duration and the same value.

use super::{Attempt, Ending, JobRef, Patience, Runner, Sighting, State, Submission, Unreachable};
use crate::config;
use crate::job::{Answer, Finding, JOB_VERSION, Kind, PARAMS_FILE, digest};
use crate::tag::{AttemptId, Tag};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};
use tribo::problems::{Problem, by_name};
use tribo::rng::Stream;
use tribo::space::Space;

/// Seconds on a clock that only jumps, shared by whoever needs to know.
#[derive(Debug, Clone, Default)]
pub struct VirtualTime(Arc<AtomicU64>);

impl VirtualTime {
    /// The seconds.
    pub fn get(&self) -> f64 {
        f64::from_bits(self.0.load(Ordering::Relaxed))
    }

    /// Jumps.
    pub fn set(&self, seconds: f64) {
        self.0.store(seconds.to_bits(), Ordering::Relaxed);
    }
}

const HOST: &str = "simulated";

/// Where answers go.
pub type Sink = Box<dyn FnMut(Answer)>;

/// Runs attempts on a virtual clock.
pub struct Simulated {
    problem: Problem,
    /// The output that its value is.
    objective: String,
    duration: (f64, f64),
    seed: u64,
    /// Names of the parameters in their order.
    names: Vec<String>,
    time: VirtualTime,
    sink: Sink,
    running: BTreeMap<AttemptId, Job>,
    /// `Kind::Ok` for those that answered, `Kind::Cancelled` for those that never will.
    over: BTreeMap<AttemptId, Kind>,
}

/// A job under way, and the answer it will give.
#[derive(Debug)]
struct Job {
    end: f64,
    answer: Answer,
}

impl fmt::Debug for Simulated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Simulated({:?}, {} running)", self.problem, self.running.len())
    }
}

impl Simulated {
    /// A runner for a problem with as many inputs as the space. Fails if there is no such problem.
    pub fn new(
        config: &config::Simulated,
        space: &Space,
        seed: u64,
        time: VirtualTime,
        sink: Sink,
    ) -> crate::Result<Simulated> {
        let problem = by_name(&config.problem, space.n_inputs())?;
        let duration = (config.duration.0.as_secs_f64(), config.duration.1.as_secs_f64());
        let names = space.parameters().iter().map(|parameter| parameter.name().to_owned()).collect();
        let (running, over) = (BTreeMap::new(), BTreeMap::new());
        let objective = config.objective.clone();
        Ok(Simulated { problem, objective, duration, seed, names, time, sink, running, over })
    }

    fn begin(&mut self, id: AttemptId, tag: &Tag, dir: &Path) -> Result<String, String> {
        let path = dir.join(PARAMS_FILE);
        let params = fs::read(&path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        let begin = self.time.get();
        let wall_s = self.duration_of(id);
        let finding = match self.evaluate(&params) {
            Ok(value) if value.is_finite() => Finding::answered(&self.objective, value),
            Ok(value) => Finding::none(Kind::Invalid, format!("the problem's value is {value}")),
            Err(reason) => Finding::none(Kind::Unstarted, reason),
        };
        let started = SystemTime::UNIX_EPOCH + Duration::try_from_secs_f64(begin).unwrap_or_default();
        let answer = Answer {
            version: JOB_VERSION,
            id,
            tag: tag.clone(),
            incarnation: 0,
            params_digest: digest(&params),
            finding,
            exit_code: Some(0),
            signal: None,
            stderr_tail: String::new(),
            started: humantime::format_rfc3339_millis(started).to_string(),
            wall_s,
            cpu_s: wall_s,
            max_rss: 0,
            host: HOST.to_owned(),
        };
        self.running.insert(id, Job { end: begin + wall_s, answer });
        Ok(name(id))
    }

    fn duration_of(&self, id: AttemptId) -> f64 {
        let (shortest, longest) = self.duration;
        let stream = id.trial * u64::from(Tag::ATTEMPTS + 1) + u64::from(id.attempt);
        let share = Stream::new(self.seed, "simulated duration", stream).uniform();
        shortest + share * (longest - shortest)
    }

    /// The value at the parameters, which are numbers or lists of numbers by name.
    fn evaluate(&self, params: &[u8]) -> Result<f64, String> {
        let params: Value =
            serde_json::from_slice(params).map_err(|error| format!("{PARAMS_FILE}: {error}"))?;
        let mut x = Vec::with_capacity(self.problem.dim());
        for name in &self.names {
            let value = params.get(name).ok_or_else(|| format!("{PARAMS_FILE} has no parameter {name}"))?;
            let numbers = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
            for number in numbers {
                let number = number.as_f64();
                x.push(
                    number.ok_or_else(|| format!("parameter {name} is no number, as test problems need"))?,
                );
            }
        }
        match x.len() == self.problem.dim() {
            true => Ok(self.problem.evaluate(&x)),
            false => Err(format!(
                "the number of inputs in {PARAMS_FILE} is {}, not {}",
                x.len(),
                self.problem.dim()
            )),
        }
    }

    /// Hands over the answers of all that has ended by now, in the order of the ends.
    fn deliver(&mut self) {
        let now = self.time.get();
        if self.next_end().is_none_or(|end| end > now) {
            return;
        }
        let running = std::mem::take(&mut self.running).into_iter();
        let (mut due, running): (Vec<_>, Vec<_>) = running.partition(|(_, job)| job.end <= now);
        self.running = running.into_iter().collect();
        // Stable, so jobs that end together stay in the order of their attempts.
        due.sort_by(|a, b| a.1.end.total_cmp(&b.1.end));
        for (id, job) in due {
            self.over.insert(id, Kind::Ok);
            (self.sink)(job.answer);
        }
    }

    fn next_end(&self) -> Option<f64> {
        self.running.values().map(|job| job.end).min_by(f64::total_cmp)
    }

    fn state(&self, id: AttemptId) -> Option<State> {
        if self.running.contains_key(&id) {
            return Some(State::Running);
        }
        let kind = *self.over.get(&id)?;
        Some(State::Ended(Ending { kind, reason: kind.name().to_owned(), host: Some(HOST.to_owned()) }))
    }
}

impl Runner for Simulated {
    fn name(&self) -> &'static str {
        "simulated"
    }

    fn submit(&mut self, attempts: &[Attempt]) -> Vec<Submission> {
        let mut outcomes = Vec::with_capacity(attempts.len());
        for attempt in attempts {
            let begun = self.begin(attempt.id, &attempt.tag, &attempt.dir);
            outcomes.push(begun.map_or_else(Submission::Unavailable, Submission::Accepted));
        }
        outcomes
    }

    fn poll(&mut self, jobs: &[JobRef]) -> Result<Vec<Sighting>, Unreachable> {
        for job in jobs.iter().filter(|job| job.job.is_some()) {
            if self.state(job.id).is_none() {
                // Recorded by an earlier driver. Without its parameters it is not found, like any lost job.
                let _ = self.begin(job.id, &job.tag, &job.dir);
            }
        }
        self.deliver();
        let sighting =
            |job: &JobRef| self.state(job.id).map(|state| Sighting { id: job.id, job: name(job.id), state });
        Ok(jobs.iter().filter_map(sighting).collect())
    }

    fn cancel(&mut self, jobs: &[JobRef]) -> Result<(), Unreachable> {
        for job in jobs {
            if self.running.remove(&job.id).is_some() {
                self.over.insert(job.id, Kind::Cancelled);
            }
        }
        Ok(())
    }

    fn patience(&self) -> Patience {
        // Time costs nothing here, and polls are free.
        Patience { spool: 0.05, poll_min: 60.0, poll_max: 600.0, lost: 1.0, lookup: 1.0, detachable: false }
    }

    fn wait(&mut self, seconds: f64) -> bool {
        let limit = self.time.get() + seconds.max(0.0);
        self.time.set(self.next_end().map_or(limit, |end| end.clamp(self.time.get(), limit)));
        self.deliver();
        true
    }
}

fn name(id: AttemptId) -> String {
    format!("simulated-{id}")
}
