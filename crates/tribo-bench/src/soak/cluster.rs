//! A cluster with a scheduler on a virtual clock, where all of `faults` happens, over the files of a real store.
//!
//! Its jobs do what `tribo job` does, without a process: they claim the folder of their attempt, read its parameters, show
//! that they have begun, and leave an answer in the spool. The cluster keeps account of what truly happened (`Truth`), which
//! the journal is held against in the end. What is over is forgotten after five minutes, as schedulers do.

use super::faults::{Fate, Faults, Happening, Look, Submit, Then};
use std::collections::BTreeMap;
use std::path::PathBuf;
use tribo_study::job::{
    Answer, CANCEL_FILE, Finding, HEARTBEAT_FILE, JOB_VERSION, Kind, PARAMS_FILE, Spec, Stamp, claim, digest,
};
use tribo_study::layout::Layout;
use tribo_study::outputs::VALUE;
use tribo_study::runner::simulated::VirtualTime;
use tribo_study::runner::{Attempt, Ending, JobRef, Left, Sighting, State, Submission, Unreachable};
use tribo_study::store::{self, Request};
use tribo_study::tag::{AttemptId, Tag};

/// Jobs that a node has room for.
const JOBS_A_NODE: usize = 20;
/// Seconds for which the scheduler remembers what is over.
const REMEMBERED: f64 = 300.0;
/// Seconds until a requeued job is started again.
const REQUEUE_DELAY: f64 = 120.0;
/// Between two signs of life of a job.
const BEAT: f64 = 15.0;

/// What truly happened.
#[derive(Debug, Default)]
pub(super) struct Truth {
    /// Values that jobs left, by trial, with the time in milliseconds.
    pub(super) values: BTreeMap<u64, Vec<(f64, u64)>>,
    /// Attempts that were given to the scheduler, and how often.
    pub(super) taken: BTreeMap<AttemptId, usize>,
    /// Commands that began, by attempt and restart.
    pub(super) begun: BTreeMap<(AttemptId, u32), usize>,
    /// What a job could not do.
    pub(super) trouble: Vec<String>,
}

#[derive(Debug, Clone, PartialEq)]
enum Phase {
    Queued,
    Held,
    Running,
    Suspended,
    Over(Ending),
}

#[derive(Debug)]
struct Job {
    number: u64,
    tag: Tag,
    dir: PathBuf,
    host: usize,
    phase: Phase,
    fate: Fate,
    /// How often the scheduler has restarted it.
    restarts: u32,
    /// Of its events, only those with this number count.
    plan: u64,
    begun: f64,
    digest: String,
    value: f64,
}

#[derive(Debug)]
enum Event {
    /// The next step in the life of a job, unless its plans have changed.
    Step(AttemptId, u64),
    Deliver(Box<Answer>),
    Happens(Happening),
}

/// The cluster.
pub(super) struct Cluster {
    layout: Layout,
    time: VirtualTime,
    faults: Faults,
    hosts: usize,
    duration: (f64, f64),
    jobs: BTreeMap<AttemptId, Job>,
    /// By time, which is not negative, so that its bits are ordered as it is; then by number.
    agenda: BTreeMap<(u64, u64), Event>,
    n_events: u64,
    n_jobs: u64,
    away_until: f64,
    full_until: f64,
    /// Operations that the driver may still do.
    life: Option<usize>,
    pub(super) truth: Truth,
}

impl Cluster {
    pub(super) fn new(layout: &Layout, time: VirtualTime, faults: Faults, workers: usize) -> Cluster {
        let mut cluster = Cluster {
            layout: layout.clone(),
            time,
            faults,
            hosts: workers.div_ceil(JOBS_A_NODE).max(2),
            duration: (30.0, 900.0),
            jobs: BTreeMap::new(),
            agenda: BTreeMap::new(),
            n_events: 0,
            n_jobs: 0,
            away_until: 0.0,
            full_until: 0.0,
            life: None,
            truth: Truth::default(),
        };
        for (happening, wait) in cluster.faults.happenings() {
            cluster.plan(wait, Event::Happens(happening));
        }
        cluster
    }

    pub(super) fn now(&self) -> f64 {
        self.time.get()
    }

    /// How often each fault has happened.
    pub(super) fn seen(&self) -> &BTreeMap<&'static str, usize> {
        &self.faults.seen
    }

    /// Jobs in the queue, waiting or running.
    pub(super) fn active(&self) -> usize {
        self.jobs.values().filter(|job| !matches!(job.phase, Phase::Over(_))).count()
    }

    /// Jobs that the scheduler knows, over or not.
    pub(super) fn known(&self) -> usize {
        self.jobs.len()
    }

    /// False from the operation on at which the driver is killed.
    pub(super) fn driver_lives(&mut self) -> bool {
        match &mut self.life {
            None => true,
            Some(0) => false,
            Some(left) => {
                *left -= 1;
                true
            }
        }
    }

    pub(super) fn driver_is_dead(&self) -> bool {
        self.life == Some(0)
    }

    /// A new driver begins, a while after the last one died.
    pub(super) fn new_driver(&mut self) {
        self.life = None;
        let pause = self.faults.between(0.0, 60.0);
        self.pass(self.now() + pause);
    }

    pub(super) fn disk_is_full(&self) -> bool {
        self.now() < self.full_until
    }

    fn plan(&mut self, wait: f64, event: Event) {
        self.n_events += 1;
        self.agenda.insert(((self.now() + wait).to_bits(), self.n_events), event);
    }

    /// Plans the next step of a job; what was planned for it before is void.
    fn next_step(&mut self, id: AttemptId, wait: f64) {
        self.n_events += 1;
        let plan = self.n_events;
        if let Some(job) = self.jobs.get_mut(&id) {
            job.plan = plan;
        }
        self.plan(wait, Event::Step(id, plan));
    }

    /// Lets time pass.
    pub(super) fn pass(&mut self, until: f64) {
        while let Some((&key, _)) = self.agenda.first_key_value()
            && f64::from_bits(key.0) <= until
        {
            self.time.set(f64::from_bits(key.0));
            match self.agenda.remove(&key) {
                Some(Event::Step(id, plan)) => self.step(id, plan),
                Some(Event::Deliver(answer)) => self.deliver(*answer),
                Some(Event::Happens(happening)) => self.happens(happening),
                None => {}
            }
        }
        self.time.set(until);
    }

    fn happens(&mut self, happening: Happening) {
        let wait = self.faults.until(happening);
        self.plan(wait, Event::Happens(happening));
        let now = self.now();
        match happening {
            Happening::Outage => self.away_until = now + self.faults.between(10.0, 600.0),
            // A job tries for a minute to leave its answer.
            Happening::DiskFull => self.full_until = now + self.faults.between(5.0, 50.0),
            Happening::DriverKilled if self.life.is_none() => self.life = Some(1 + self.faults.below(200)),
            Happening::DriverKilled => return,
            Happening::NodeFails => {
                let host = self.faults.below(self.hosts);
                self.node_fails(host);
            }
            Happening::CancelAsked => {
                let known: Vec<u64> = self.jobs.keys().map(|id| id.trial).collect();
                if known.is_empty() {
                    return;
                }
                let trial = known[self.faults.below(known.len())];
                let asked = store::request(&self.layout, &Request::Cancel(trial));
                self.truth.trouble.extend(asked.err().map(|error| error.to_string()));
            }
        }
        self.faults.happened(happening);
    }

    fn node_fails(&mut self, host: usize) {
        let there = |job: &Job| job.host == host && matches!(job.phase, Phase::Running | Phase::Suspended);
        let ids: Vec<AttemptId> = self.jobs.iter().filter(|(_, job)| there(job)).map(|(id, _)| *id).collect();
        for id in ids {
            self.end(id, Kind::Infrastructure, "NODE_FAIL");
        }
    }

    /// A job is over, by the scheduler's account.
    fn end(&mut self, id: AttemptId, kind: Kind, reason: &str) {
        let Some(job) = self.jobs.get_mut(&id) else { return };
        let host = (reason != "PREEMPTED").then(|| name_of(job.host));
        job.phase = Phase::Over(Ending { kind, reason: reason.to_owned(), host });
        self.next_step(id, REMEMBERED);
    }

    fn step(&mut self, id: AttemptId, plan: u64) {
        let Some(job) = self.jobs.get_mut(&id).filter(|job| job.plan == plan) else { return };
        match job.phase.clone() {
            Phase::Over(_) => drop(self.jobs.remove(&id)),
            Phase::Held => {
                job.phase = Phase::Queued;
                self.next_step(id, 1.0);
            }
            Phase::Queued => self.begin(id),
            Phase::Suspended => {
                job.phase = Phase::Running;
                job.fate = Fate::Good;
                let wait = self.faults.between(10.0, 100.0);
                self.next_step(id, wait);
            }
            Phase::Running => self.run_out(id),
        }
    }

    /// A job is started on its node.
    fn begin(&mut self, id: AttemptId) {
        let now = self.now();
        let Some(job) = self.jobs.get_mut(&id) else { return };
        if job.fate == Fate::NotBegun {
            return self.end(id, Kind::Unstarted, "FAILED before it began");
        }
        let stamp =
            Stamp { job: format!("soak:{}", job.number), host: name_of(job.host), ..Stamp::here(&[]) };
        // What the driver has claimed, or asked to end, does not begin.
        match claim(&job.dir, &job.tag, &stamp) {
            Ok(true) if !job.dir.join(CANCEL_FILE).exists() => {}
            Ok(_) => return self.end(id, Kind::Ok, "COMPLETED"),
            Err(error) => {
                self.truth.trouble.push(format!("attempt {id} cannot be claimed: {error}"));
                return self.end(id, Kind::Ok, "COMPLETED");
            }
        }
        match parameters(job) {
            Ok((digest, value)) => (job.digest, job.value) = (digest, value),
            Err(what) => self.truth.trouble.push(format!("attempt {id}: {what}")),
        }
        (job.phase, job.begun) = (Phase::Running, now);
        *self.truth.begun.entry((id, job.restarts)).or_default() += 1;
        let (fate, dir) = (job.fate, job.dir.clone());
        // The driver looks for the file; how often the job has beaten, it is told by `beats`.
        let _ = std::fs::write(dir.join(HEARTBEAT_FILE), "1");
        let whole = self.faults.between(self.duration.0, self.duration.1);
        let part = if matches!(fate, Fate::Stopped(_) | Fate::Suspended) { 0.5 } else { 1.0 };
        self.next_step(id, part * whole);
    }

    /// The time of a job that runs has come, by its fate.
    fn run_out(&mut self, id: AttemptId) {
        let Some(job) = self.jobs.get_mut(&id) else { return };
        match job.fate {
            Fate::Good | Fate::Hidden | Fate::HeldBack => {
                self.answer(id, Finding::answered(VALUE, 0.0), 0.0);
                self.end(id, Kind::Ok, "COMPLETED");
            }
            Fate::Lingers => {
                // No further step: only the driver ends it.
                self.answer(id, Finding::answered(VALUE, 0.0), 0.0);
            }
            Fate::RunsAgain => {
                self.answer(id, Finding::answered(VALUE, 0.0), 0.0);
                self.requeue(id);
            }
            Fate::Late => {
                let delay = self.faults.between(1.0, 400.0);
                self.answer(id, Finding::answered(VALUE, 0.0), delay);
                self.end(id, Kind::Ok, "COMPLETED");
            }
            Fate::Answers(kind) => {
                self.answer(id, Finding::none(kind, format!("made to be {}", kind.name())), 0.0);
                self.end(id, Kind::Ok, "COMPLETED");
            }
            Fate::Killed(kind, reason) => self.end(id, kind, reason),
            Fate::Vanishes | Fate::NotBegun => drop(self.jobs.remove(&id)),
            Fate::Suspended => {
                job.phase = Phase::Suspended;
                let wait = self.faults.between(60.0, 3600.0);
                self.next_step(id, wait);
            }
            Fate::Stopped(then) => {
                self.answer(id, Finding::none(Kind::Stopped, "the job was told to stop by SIGTERM"), 0.0);
                match then {
                    Then::Preempted => self.end(id, Kind::Infrastructure, "PREEMPTED"),
                    Then::CancelledByHand => self.end(id, Kind::Cancelled, "CANCELLED by 1000"),
                    Then::Requeued => self.requeue(id),
                    Then::RequeuedAndHeld => {
                        self.requeue(id);
                        // Nobody releases it.
                        if let Some(job) = self.jobs.get_mut(&id) {
                            (job.phase, job.plan) = (Phase::Held, 0);
                        }
                    }
                    Then::Forgotten => drop(self.jobs.remove(&id)),
                }
            }
        }
    }

    fn requeue(&mut self, id: AttemptId) {
        let Some(job) = self.jobs.get_mut(&id) else { return };
        job.phase = Phase::Queued;
        job.restarts += 1;
        job.fate = Fate::Good;
        self.next_step(id, REQUEUE_DELAY);
    }

    /// A job leaves its answer, at once or later; a value is that of its parameters.
    fn answer(&mut self, id: AttemptId, finding: Finding, delay: f64) {
        let now = self.now();
        let Some(job) = self.jobs.get(&id) else { return };
        let finding = match finding.kind {
            Kind::Ok => Finding::answered(VALUE, job.value),
            _ => finding,
        };
        let answer = Answer {
            version: JOB_VERSION,
            id,
            tag: job.tag.clone(),
            incarnation: job.restarts,
            params_digest: job.digest.clone(),
            finding,
            exit_code: None,
            signal: None,
            stderr_tail: String::new(),
            started: String::new(),
            wall_s: now - job.begun,
            cpu_s: 0.0,
            max_rss: 0,
            host: name_of(job.host),
        };
        let delay = delay.max(self.full_until - now);
        match delay > 0.0 {
            true => self.plan(delay, Event::Deliver(Box::new(answer))),
            false => self.deliver(answer),
        }
    }

    fn deliver(&mut self, answer: Answer) {
        let name = Spec::spool_name(answer.id, answer.incarnation);
        let [tmp, done] = ["tmp", "done"].map(|part| self.layout.spool(part).join(&name));
        let bytes = serde_json::to_vec(&answer).unwrap_or_default();
        if let Err(error) = std::fs::write(&tmp, bytes).and_then(|()| std::fs::rename(&tmp, &done)) {
            self.truth.trouble.push(format!("the answer to {} cannot be left: {error}", answer.id));
        }
        if let Some(value) = answer.finding.value(VALUE) {
            let ms = (1e3 * self.now()) as u64;
            self.truth.values.entry(answer.id.trial).or_default().push((value, ms));
        }
    }

    /// How often a job that runs has beaten.
    pub(super) fn beats(&self, id: AttemptId) -> Option<u64> {
        let job = self.jobs.get(&id).filter(|job| job.phase == Phase::Running)?;
        Some(1 + ((self.now() - job.begun) / BEAT) as u64)
    }

    fn reach(&self) -> Result<(), Unreachable> {
        match self.now() < self.away_until {
            true => Err(away()),
            false => Ok(()),
        }
    }

    fn take(&mut self, attempt: &Attempt) -> String {
        self.n_jobs += 1;
        let number = self.n_jobs;
        *self.truth.taken.entry(attempt.id).or_default() += 1;
        let avoided = |host: &usize| attempt.avoid.contains(&name_of(*host));
        let usable: Vec<usize> = (0..self.hosts).filter(|host| !avoided(host)).collect();
        let fate = self.faults.fate();
        let job = Job {
            number,
            tag: attempt.tag.clone(),
            dir: attempt.dir.clone(),
            host: usable[self.faults.below(usable.len())],
            phase: if fate == Fate::HeldBack { Phase::Held } else { Phase::Queued },
            fate,
            restarts: 0,
            plan: 0,
            begun: 0.0,
            digest: String::new(),
            value: f64::NAN,
        };
        self.jobs.insert(attempt.id, job);
        let wait = match fate {
            Fate::HeldBack => self.faults.between(60.0, 900.0),
            _ => self.faults.between(0.5, 60.0),
        };
        self.next_step(attempt.id, wait);
        number.to_string()
    }

    pub(super) fn submit(&mut self, attempts: &[Attempt]) -> Vec<Submission> {
        let all = |submission: fn(String) -> Submission, why: &str| {
            attempts.iter().map(|_| submission(why.to_owned())).collect()
        };
        if self.reach().is_err() {
            return all(Submission::Unavailable, "connect failure");
        }
        if attempts.first().is_some_and(|attempt| attempt.avoid.len() >= self.hosts) {
            return all(Submission::Refused, "requested node configuration is not available");
        }
        match self.faults.submit() {
            Submit::Good => attempts.iter().map(|attempt| Submission::Accepted(self.take(attempt))).collect(),
            Submit::Away => all(Submission::Unavailable, "connect failure"),
            Submit::Full => {
                let half = attempts.len() / 2;
                let submit = |(index, attempt)| match index < half {
                    true => Submission::Accepted(self.take(attempt)),
                    false => Submission::Limited("QOSMaxSubmitJobPerUserLimit".to_owned()),
                };
                attempts.iter().enumerate().map(submit).collect()
            }
            Submit::Unclear { taken } => {
                if taken {
                    attempts.iter().for_each(|attempt| drop(self.take(attempt)));
                }
                all(Submission::Ambiguous, "Socket timed out on send/recv operation")
            }
        }
    }

    pub(super) fn poll(&mut self, wanted: &[JobRef]) -> Result<Vec<Sighting>, Unreachable> {
        self.reach()?;
        let look = self.faults.look();
        if look == Look::Away {
            return Err(away());
        }
        let shown = |job: &Job| match look {
            Look::Good => job.fate != Fate::Hidden,
            Look::Half => job.fate != Fate::Hidden && job.number.is_multiple_of(2),
            Look::Away | Look::Empty => false,
        };
        let sighting = |wanted: &JobRef| {
            let job = self.jobs.get(&wanted.id).filter(|job| shown(job))?;
            let state = match &job.phase {
                Phase::Queued => State::Queued(Some("Priority".to_owned())),
                Phase::Held => State::Held("JobHeldUser".to_owned()),
                Phase::Running => State::Running,
                Phase::Suspended => State::Suspended,
                Phase::Over(ending) => State::Ended(ending.clone()),
            };
            Some(Sighting { id: wanted.id, job: job.number.to_string(), state })
        };
        Ok(wanted.iter().filter_map(sighting).collect())
    }

    pub(super) fn cancel(&mut self, wanted: &[JobRef]) -> Result<(), Unreachable> {
        self.reach()?;
        for job in wanted {
            self.cancel_one(job.id);
        }
        Ok(())
    }

    fn cancel_one(&mut self, id: AttemptId) {
        let Some(job) = self.jobs.get(&id) else { return };
        match job.phase {
            Phase::Over(_) => return,
            Phase::Running if job.fate != Fate::Lingers => {
                let dir = job.dir.clone();
                let _ = std::fs::write(dir.join(CANCEL_FILE), "");
                self.answer(id, Finding::none(Kind::Cancelled, "cancelled by the study"), 0.0);
            }
            _ => {}
        }
        self.end(id, Kind::Cancelled, "CANCELLED");
    }

    pub(super) fn left(&self) -> Result<Vec<Left>, Unreachable> {
        self.reach()?;
        let active = self.jobs.values().filter(|job| !matches!(job.phase, Phase::Over(_)));
        Ok(active.map(|job| Left { job: job.number.to_string(), name: job.tag.to_string() }).collect())
    }

    pub(super) fn remove(&mut self, left: &[Left]) -> Result<(), Unreachable> {
        self.reach()?;
        let wanted = |job: &Job| left.iter().any(|left| left.job == job.number.to_string());
        let ids: Vec<AttemptId> =
            self.jobs.iter().filter(|(_, job)| wanted(job)).map(|(id, _)| *id).collect();
        ids.into_iter().for_each(|id| self.cancel_one(id));
        Ok(())
    }
}

/// The digest of a job's parameters, and its value there: the sum of squares.
fn parameters(job: &Job) -> Result<(String, f64), String> {
    let path = job.dir.join(PARAMS_FILE);
    let bytes = std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let params: BTreeMap<String, f64> = serde_json::from_slice(&bytes).map_err(|error| error.to_string())?;
    Ok((digest(&bytes), params.values().map(|x| x * x).sum()))
}

fn name_of(host: usize) -> String {
    format!("node{host}")
}

fn away() -> Unreachable {
    Unreachable { scheduler: "soak", reason: "connect failure".to_owned() }
}
