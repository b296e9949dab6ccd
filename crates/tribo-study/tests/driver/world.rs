//! A world for drivers: virtual time and a cluster that does what the test says, over a store in memory.
//!
//! The cluster runs every job it takes for its duration and then leaves an answer: the sum of squares of the parameters.
//! Faults are queued: the next submissions or polls go wrong in the way that is named. `Mortal` kills the driver at a
//! chosen operation on store or runner: from there on every operation fails, as for a process that is no more.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::PathBuf;
use std::rc::Rc;
use tribo::space::{Direction, Parameter, Space};
use tribo::strategy::{Settings, Strategy};
use tribo_study::config::{Budget, Command, Config, Evaluation, Keep, On, ResultSource, Retries, Run};
use tribo_study::driver::clock::Clock;
use tribo_study::driver::notice::{Finish, Notice, Observer};
use tribo_study::driver::{Driver, Interrupt, Interrupts, Parts};
use tribo_study::job::{Answer, Finding, JOB_VERSION, Kind, Spec};
use tribo_study::outputs::{Goal, Output, VALUE};
use tribo_study::runner::array::calls_for;
use tribo_study::runner::{
    Attempt, Ending, JobRef, Left, Patience, Runner, Sighting, State, Submission, Unreachable,
};
use tribo_study::store::ledger::Ledger;
use tribo_study::store::memory::Memory;
use tribo_study::store::record::{Entry, Record};
use tribo_study::store::{Claim, Prepared, Request, Store};
use tribo_study::tag::{AttemptId, StudyId, Tag};
use tribo_study::{Error, Result, replay};

/// How the next submission goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Submit {
    Accept,
    /// "Socket timed out", and the job was taken.
    AmbiguousTaken,
    /// "Socket timed out", and it was not.
    AmbiguousNot,
    Refuse,
    Limit,
    Unavailable,
}

/// What happens to the jobs of an attempt instead of a good end.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Fate {
    /// The job answers this.
    Answers(Kind),
    /// It is gone from the queue without an answer.
    Vanishes,
    /// The scheduler ends it, with this account.
    Ended(Kind, &'static str),
    /// The answer comes this much later than the end.
    AnswersLate(f64),
    /// It is never started.
    Waits(&'static str),
    /// It is told to stop before it is done, and answers so; then this.
    Stopped(Then),
    /// It runs to a good end, and no list has it.
    Hidden,
    /// It gives its value, and goes on all the same.
    Lingers,
    /// Told to stop, and still shown as running until its time to end is over.
    Closing(Then),
}

/// What the scheduler makes of a job that it told to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Then {
    /// It is over, with this account.
    Ended(Kind, &'static str),
    /// It waits in the queue and runs again, to a good end.
    Requeued,
    /// It waits in the queue and may not run.
    Held,
    /// Nobody knows it any more.
    Forgotten,
}

#[derive(Debug, Clone)]
struct Job {
    id: AttemptId,
    tag: Tag,
    number: u64,
    starts: f64,
    ends: f64,
    state: Option<State>,
    running: bool,
    fate: Option<Fate>,
    incarnation: u32,
}

#[derive(Default)]
pub(crate) struct Cluster {
    pub(crate) now: Rc<Cell<f64>>,
    memory: Option<Memory>,
    jobs: Vec<Job>,
    late: Vec<(f64, Answer)>,
    pub(crate) submits: VecDeque<Submit>,
    /// The next polls that fail.
    pub(crate) failing_polls: usize,
    /// The next polls that answer with an empty list.
    pub(crate) empty_polls: usize,
    /// Fates of attempts.
    pub(crate) fates: BTreeMap<AttemptId, Fate>,
    /// Seconds an evaluation takes.
    pub(crate) duration: f64,
    /// Up to this many times as long more, by the number of its trial.
    pub(crate) spread: f64,
    /// Seconds before an accepted job starts.
    pub(crate) queue: f64,
    /// Why it waits until then.
    pub(crate) waits_for: Option<&'static str>,
    /// How often each attempt's command ran.
    pub(crate) runs: BTreeMap<AttemptId, usize>,
    pub(crate) n_polls: usize,
    /// Looks for what is left when a study is over.
    pub(crate) n_last_looks: usize,
    pub(crate) n_submissions: usize,
    /// Every job is a submission of its own.
    pub(crate) without_arrays: bool,
    /// When submissions came, however many jobs each was about.
    pub(crate) calls: Vec<f64>,
    /// When jobs were taken.
    pub(crate) taken: Vec<f64>,
    /// How often the scheduler said no, or nothing.
    pub(crate) n_refused: usize,
    /// From when to when the scheduler does not answer.
    pub(crate) outage: Option<(f64, f64)>,
    /// Jobs that may be in the queue.
    pub(crate) limit: Option<usize>,
    /// Seconds for which a job that has ended still counts.
    pub(crate) closes_after: f64,
    /// From then on there is no limit; 0 for never.
    pub(crate) unlimited_from: f64,
    /// Seconds for which a job that was told to stop is shown as running.
    pub(crate) kill_wait: f64,
    /// Jobs are of version 0.1.0, which called every stop cancelled.
    pub(crate) old_jobs: bool,
    /// Jobs that do not end when they are cancelled.
    pub(crate) stubborn: bool,
    /// How often memory was too little before, with each submission of a trial.
    pub(crate) memory_kills: Vec<(u64, u32)>,
    /// Hosts that submissions were to avoid.
    pub(crate) avoided: BTreeSet<String>,
    /// Submissions that avoid a host are refused.
    pub(crate) has_one_host: bool,
    pub(crate) cancelled: BTreeSet<AttemptId>,
    /// Most jobs running at once.
    pub(crate) busiest: usize,
    pub(crate) detachable: bool,
}

pub(crate) type Shared = Rc<RefCell<Cluster>>;

pub(crate) fn cluster() -> Shared {
    Rc::new(RefCell::new(Cluster { duration: 100.0, detachable: true, ..Cluster::default() }))
}

impl Cluster {
    fn memory(&self) -> Memory {
        self.memory.clone().expect("a study was made")
    }

    fn answer(&self, job: &Job, kind: Kind) -> Answer {
        // What is over may have been discarded.
        let (params_digest, params) = match self.memory().prepared(job.id) {
            Some((spec, params)) => (spec.params_digest, params),
            None => (String::new(), vec![]),
        };
        let finding = match kind {
            Kind::Ok => {
                let params: BTreeMap<String, f64> = serde_json::from_slice(&params).expect("numbers by name");
                Finding::answered(VALUE, params.values().map(|x| x * x).sum())
            }
            kind => Finding::none(kind, format!("made to be {}", kind.name())),
        };
        Answer {
            version: JOB_VERSION,
            id: job.id,
            tag: job.tag.clone(),
            incarnation: job.incarnation,
            params_digest,
            finding,
            exit_code: None,
            signal: None,
            stderr_tail: String::new(),
            started: String::new(),
            wall_s: self.duration,
            cpu_s: 0.0,
            max_rss: 0,
            host: "node1".to_owned(),
        }
    }

    /// Lets time pass until `until`, or until the first job ends.
    fn pass(&mut self, until: f64) {
        let waits = |job: &Job| matches!(job.fate, Some(Fate::Waits(_)));
        let next = self
            .jobs
            .iter()
            .filter(|j| j.state.is_none() && !waits(j))
            .map(|j| if j.running { j.ends } else { j.starts });
        let late = self.late.iter().map(|(at, _)| *at);
        let to = next.chain(late).fold(until, f64::min).max(self.now.get());
        self.now.set(to);
        let memory = self.memory();
        memory.set_utc_ms((1e3 * to) as u64);
        for index in 0..self.jobs.len() {
            let job = self.jobs[index].clone();
            if job.state.is_some() {
                continue;
            }
            if !job.running && job.starts <= to {
                if matches!(job.fate, Some(Fate::Waits(_))) {
                    continue;
                }
                if !memory.claim_as_job(job.id) {
                    // The driver was first: the job leaves at once.
                    self.jobs[index].state = Some(ended(Kind::Ok, "COMPLETED"));
                    continue;
                }
                *self.runs.entry(job.id).or_default() += 1;
                self.jobs[index].running = true;
            }
            let job = self.jobs[index].clone();
            if job.running && job.ends <= to {
                self.end(index, &job);
            }
        }
        let due: Vec<Answer> = self.late.iter().filter(|(at, _)| *at <= to).map(|(_, a)| a.clone()).collect();
        self.late.retain(|(at, _)| *at > to);
        due.into_iter().for_each(|answer| memory.push_answer(answer));
        self.busiest = self.busiest.max(self.jobs.iter().filter(|j| j.running && j.state.is_none()).count());
    }

    fn end(&mut self, index: usize, job: &Job) {
        let now = self.now.get();
        let state = match job.fate.clone() {
            None | Some(Fate::Hidden) => {
                self.memory().push_answer(self.answer(job, Kind::Ok));
                ended(Kind::Ok, "COMPLETED")
            }
            Some(Fate::Answers(kind)) => {
                self.memory().push_answer(self.answer(job, kind));
                ended(Kind::Ok, "COMPLETED")
            }
            Some(Fate::Lingers) => {
                self.memory().push_answer(self.answer(job, Kind::Ok));
                self.jobs[index].ends = f64::INFINITY;
                return;
            }
            Some(Fate::AnswersLate(delay)) => {
                self.late.push((now + delay, self.answer(job, Kind::Ok)));
                ended(Kind::Ok, "COMPLETED")
            }
            Some(Fate::Ended(kind, reason)) => ended(kind, reason),
            Some(Fate::Stopped(then)) => {
                let (kind, reason) = match self.old_jobs {
                    true => (Kind::Cancelled, "the job was told to stop by SIGTERM: cancelled or preempted"),
                    false => (Kind::Stopped, "the job was told to stop by SIGTERM"),
                };
                let reason = format!("{reason} (after 100.0 s)");
                self.memory()
                    .push_answer(Answer { finding: Finding::none(kind, reason), ..self.answer(job, kind) });
                (self.jobs[index].ends, self.jobs[index].fate) =
                    (now + self.kill_wait, Some(Fate::Closing(then)));
                return;
            }
            Some(Fate::Closing(Then::Ended(kind, reason))) => ended(kind, reason),
            Some(Fate::Closing(then)) => {
                let starts = now + REQUEUE_DELAY;
                let again = Job {
                    number: if then == Then::Forgotten { 0 } else { job.number },
                    state: (then == Then::Forgotten).then(|| ended(Kind::Lost, "gone")),
                    starts,
                    ends: starts + self.duration,
                    running: false,
                    fate: (then == Then::Held).then_some(Fate::Waits("job requeued in held state")),
                    incarnation: job.incarnation + 1,
                    ..job.clone()
                };
                self.jobs[index] = again;
                return;
            }
            Some(Fate::Vanishes | Fate::Waits(_)) => {
                self.jobs[index].state = Some(ended(Kind::Lost, "gone"));
                self.jobs.remove(index);
                // The loop over the jobs goes on with the one that took this place next time.
                self.jobs.insert(index, Job { number: 0, ..job.clone() });
                self.jobs[index].state = Some(ended(Kind::Lost, "gone"));
                return;
            }
        };
        self.jobs[index].state = Some(state);
    }

    fn take(&mut self, attempt: &Attempt) -> u64 {
        let number = 1 + self.jobs.len() as u64;
        let starts = self.now.get() + self.queue;
        let part = (attempt.id.trial * 37 % 100) as f64 / 100.0;
        let job = Job {
            id: attempt.id,
            tag: attempt.tag.clone(),
            number,
            starts,
            ends: starts + self.duration * (1.0 + self.spread * part),
            state: None,
            running: false,
            fate: self.fates.get(&attempt.id).cloned(),
            incarnation: 0,
        };
        self.jobs.push(job);
        self.taken.push(self.now.get());
        number
    }

    /// The sign of life of a job that runs.
    fn heartbeat(&self, id: AttemptId) -> Option<u64> {
        let job = self.jobs.iter().find(|job| job.id == id && job.running)?;
        Some(1 + ((self.now.get().min(job.ends) - job.starts) / 15.0) as u64)
    }

    /// Jobs in the queue, waiting or running.
    pub(crate) fn active(&self) -> usize {
        self.jobs.iter().filter(|job| job.state.is_none()).count()
    }

    /// Jobs that count for the limit: those in the queue and those that have just ended.
    fn counted(&self) -> usize {
        let recent = |job: &&Job| job.state.is_none() || job.ends + self.closes_after > self.now.get();
        self.jobs.iter().filter(recent).count()
    }

    fn is_down(&self) -> bool {
        self.outage.is_some_and(|(from, to)| (from..to).contains(&self.now.get()))
    }

    fn reach(&self) -> std::result::Result<(), Unreachable> {
        match self.is_down() {
            true => Err(Unreachable { scheduler: "slurm", reason: "down".to_owned() }),
            false => Ok(()),
        }
    }
}

/// SLURM starts a requeued job again after two minutes at the earliest.
const REQUEUE_DELAY: f64 = 120.0;

fn ended(kind: Kind, reason: &str) -> State {
    let host = (reason != "PREEMPTED").then(|| "node1".to_owned());
    State::Ended(Ending { kind, reason: reason.to_owned(), host })
}

/// The cluster as a runner.
pub(crate) struct Remote(pub Shared);

impl Runner for Remote {
    fn name(&self) -> &'static str {
        "slurm"
    }

    fn submit(&mut self, attempts: &[Attempt]) -> Vec<Submission> {
        let mut cluster = self.0.borrow_mut();
        let submit = |attempt: &Attempt| {
            cluster.n_submissions += 1;
            cluster.memory_kills.push((attempt.id.trial, attempt.memory_kills));
            cluster.avoided.extend(attempt.avoid.iter().cloned());
            let limited = cluster.unlimited_from == 0.0 || cluster.now.get() < cluster.unlimited_from;
            let full = limited && cluster.limit.is_some_and(|limit| cluster.counted() >= limit);
            let next = match (cluster.is_down(), full) {
                (true, _) => Submit::Unavailable,
                _ if cluster.has_one_host && !attempt.avoid.is_empty() => Submit::Refuse,
                (_, true) => Submit::Limit,
                _ => cluster.submits.pop_front().unwrap_or(Submit::Accept),
            };
            cluster.n_refused += usize::from(matches!(next, Submit::Limit | Submit::Unavailable));
            match next {
                Submit::Accept => Submission::Accepted(cluster.take(attempt).to_string()),
                Submit::AmbiguousTaken => {
                    cluster.take(attempt);
                    Submission::Ambiguous("Socket timed out".to_owned())
                }
                Submit::AmbiguousNot => Submission::Ambiguous("Socket timed out".to_owned()),
                Submit::Refuse => Submission::Refused("invalid partition".to_owned()),
                Submit::Limit => Submission::Limited("QOSMaxSubmitJobPerUserLimit".to_owned()),
                Submit::Unavailable => Submission::Unavailable("connect failure".to_owned()),
            }
        };
        attempts.iter().map(submit).collect()
    }

    fn poll(&mut self, jobs: &[JobRef]) -> std::result::Result<Vec<Sighting>, Unreachable> {
        let mut cluster = self.0.borrow_mut();
        cluster.n_polls += 1;
        cluster.reach()?;
        if cluster.failing_polls > 0 {
            cluster.failing_polls -= 1;
            return Err(Unreachable { scheduler: "slurm", reason: "down".to_owned() });
        }
        if cluster.empty_polls > 0 {
            cluster.empty_polls -= 1;
            return Ok(vec![]);
        }
        let sighting = |job: &Job| {
            let state = match (&job.state, job.running, &job.fate) {
                (Some(state), ..) => state.clone(),
                (None, true, _) => State::Running,
                (None, false, Some(Fate::Waits(reason))) => State::Held((*reason).to_owned()),
                (None, false, _) => State::Queued(cluster.waits_for.map(str::to_owned)),
            };
            Sighting { id: job.id, job: job.number.to_string(), state }
        };
        let hidden = |job: &Job| job.fate == Some(Fate::Hidden);
        let wanted =
            |job: &&Job| !hidden(job) && job.number > 0 && jobs.iter().any(|wanted| wanted.tag == job.tag);
        Ok(cluster.jobs.iter().filter(wanted).map(sighting).collect())
    }

    fn cancel(&mut self, jobs: &[JobRef]) -> std::result::Result<(), Unreachable> {
        let mut cluster = self.0.borrow_mut();
        cluster.reach()?;
        for job in jobs {
            cluster.cancelled.insert(job.id);
            if cluster.stubborn {
                continue;
            }
            let now = cluster.now.get();
            let running = |other: &Job| other.id == job.id && other.state.is_none();
            let Some(index) = cluster.jobs.iter().position(running) else { continue };
            let found = cluster.jobs[index].clone();
            if found.running {
                let answer = cluster.answer(&found, Kind::Cancelled);
                cluster.late.push((now + 1.0, answer));
            }
            cluster.jobs[index].state = Some(ended(Kind::Cancelled, "CANCELLED"));
        }
        Ok(())
    }

    fn left(&mut self, _: &[JobRef]) -> std::result::Result<Vec<Left>, Unreachable> {
        let mut cluster = self.0.borrow_mut();
        cluster.n_last_looks += 1;
        cluster.reach()?;
        let active = cluster.jobs.iter().filter(|job| job.state.is_none());
        Ok(active.map(|job| Left { job: job.number.to_string(), name: job.tag.to_string() }).collect())
    }

    fn remove(&mut self, left: &[Left]) -> std::result::Result<(), Unreachable> {
        let mut cluster = self.0.borrow_mut();
        cluster.reach()?;
        if cluster.stubborn {
            return Ok(());
        }
        for index in 0..cluster.jobs.len() {
            let job = cluster.jobs[index].clone();
            if !left.iter().any(|left| left.job == job.number.to_string()) {
                continue;
            }
            if job.running {
                cluster.memory().push_answer(cluster.answer(&job, Kind::Cancelled));
            }
            cluster.jobs[index].state = Some(ended(Kind::Cancelled, "CANCELLED"));
        }
        Ok(())
    }

    fn calls_for(&self, attempts: usize) -> usize {
        if self.0.borrow().without_arrays { attempts } else { calls_for(attempts) }
    }

    fn patience(&self) -> Patience {
        let detachable = self.0.borrow().detachable;
        Patience { spool: 1.0, poll_min: 30.0, poll_max: 180.0, lost: 120.0, lookup: 90.0, detachable }
    }

    fn wait(&mut self, seconds: f64) -> bool {
        let mut cluster = self.0.borrow_mut();
        let until = cluster.now.get() + seconds;
        cluster.pass(until);
        true
    }
}

/// The cluster's clock.
pub(crate) struct Virtual(pub Shared);

impl Clock for Virtual {
    fn now(&self) -> f64 {
        self.0.borrow().now.get()
    }

    fn utc_ms(&self) -> u64 {
        (1e3 * self.now()) as u64
    }

    fn sleep(&self, seconds: f64) {
        let mut cluster = self.0.borrow_mut();
        let until = cluster.now.get() + seconds;
        // All of it: a driver that sleeps does not look.
        while cluster.now.get() < until {
            cluster.pass(until);
        }
    }
}

pub(crate) fn config(evaluations: usize, workers: usize, strategy: Strategy) -> (Config, Run) {
    let run = Run {
        on: On::Local,
        workers,
        evaluation: Evaluation {
            result: ResultSource::Stdout,
            ..Evaluation::of(Command::Argv(vec!["true".to_owned()]))
        },
        retries: Retries::default(),
        keep: Keep::All,
        warning: None,
        pilots: None,
        ahead: 0,
    };
    let space = Space::new(vec![Parameter::float("x", -1.0, 2.0), Parameter::float("y", -3.0, 1.0)]);
    let config = Config {
        name: "world".to_owned(),
        outputs: vec![Output { name: VALUE.to_owned(), goal: Goal::Minimize }],
        limits: vec![],
        direction: Direction::Minimize,
        seed: 7,
        space: space.expect("a good space"),
        earlier: std::collections::BTreeMap::new(),
        unused: std::collections::BTreeSet::new(),
        strategy,
        budget: Budget { evaluations: Some(evaluations), ..Budget::default() },
        run: Some(run.clone()),
        readers: tribo_study::config::Readers::Owner,
        report: false,
        identity: String::new(),
    };
    (config, run)
}

/// A driver's life: the study, its cluster and its store.
pub(crate) struct World {
    pub(crate) cluster: Shared,
    pub(crate) memory: Memory,
    pub(crate) config: Config,
    pub(crate) run: Run,
}

impl World {
    pub(crate) fn new(evaluations: usize, workers: usize) -> World {
        World::with(evaluations, workers, Strategy::Random)
    }

    pub(crate) fn with(evaluations: usize, workers: usize, strategy: Strategy) -> World {
        let cluster = cluster();
        let (config, run) = config(evaluations, workers, strategy);
        let (memory, _) = Memory::create(StudyId::from_bits(42), "", 0).expect("made");
        cluster.borrow_mut().memory = Some(memory.clone());
        World { cluster, memory, config, run }
    }

    /// Runs a new driver to its end.
    pub(crate) fn drive(&mut self) -> (Result<Finish>, Vec<Notice>) {
        self.drive_until(&NeverInterrupted, usize::MAX)
    }

    /// Runs a new driver; it is killed at operation `kill`.
    pub(crate) fn drive_until(
        &mut self,
        interrupts: &dyn Interrupts,
        kill: usize,
    ) -> (Result<Finish>, Vec<Notice>) {
        let (memory, ledger) = self.memory.reopen().expect("reopened");
        self.memory = memory.clone();
        self.cluster.borrow_mut().memory = Some(memory.clone());
        let clock = Virtual(Rc::clone(&self.cluster));
        let life = Rc::new(Life { operations: Cell::new(0), kill, cluster: Rc::clone(&self.cluster) });
        let parts = Parts {
            config: self.config.clone(),
            run: self.run.clone(),
            ledger,
            store: Box::new(Mortal(memory, Rc::clone(&life))),
            runner: Box::new(Mortal(Remote(Rc::clone(&self.cluster)), life)),
            clock: &clock,
            folder: "..".to_owned(),
            wall_limit_s: None,
        };
        let mut seen = Seen(vec![]);
        let finish = Driver::new(parts).and_then(|mut driver| driver.run(interrupts, &mut seen));
        (finish, seen.0)
    }

    pub(crate) fn ledger(&self) -> Ledger {
        self.memory.ledger().expect("a good journal")
    }

    /// What must hold of any journal, whatever happened: all told once, in the order of a replay, with the same points.
    pub(crate) fn check(&self, evaluations: usize) {
        let ledger = self.ledger();
        assert_eq!(ledger.told().len() - ledger.n_lost(), evaluations, "trials told");
        assert_eq!(ledger.n_spent(), evaluations, "evaluations spent");
        assert_eq!(ledger.live().count(), 0, "attempts under way");
        assert!(self.memory.unsettled().is_empty(), "answers left in the spool");
        self.check_proposals();
    }

    /// Proposals are those of a study that was asked and told the same without interruption.
    pub(crate) fn check_proposals(&self) {
        let mut study = replay::fresh(&self.config).expect("a study");
        for entry in self.memory.journal() {
            match entry.record {
                Record::Asked { trial, .. } => {
                    let asked = study.ask(1).expect("asked");
                    let again = study.history().get(asked[0].id).expect("asked").0;
                    assert_eq!(again, &trial, "trial {} differs from an uninterrupted replay", trial.id);
                }
                Record::Told { trial, finding } => {
                    replay::tell(&mut study, &self.config, trial, &finding).expect("told");
                }
                _ => {}
            }
        }
    }

    /// How often commands ran for each trial.
    pub(crate) fn runs(&self) -> BTreeMap<u64, usize> {
        let mut runs = BTreeMap::new();
        for (id, count) in &self.cluster.borrow().runs {
            *runs.entry(id.trial).or_default() += count;
        }
        runs
    }
}

pub(crate) fn bo() -> Strategy {
    Strategy::Bo(Settings::bo())
}

pub(crate) fn first(trial: u64) -> AttemptId {
    AttemptId { trial, attempt: 1 }
}

pub(crate) fn warnings(notices: &[Notice]) -> Vec<&str> {
    let mut texts = vec![];
    for notice in notices {
        if let Notice::Warning { text } = notice {
            texts.push(text.as_str());
        }
    }
    texts
}

struct Seen(Vec<Notice>);

impl Observer for Seen {
    fn notice(&mut self, notice: &Notice) {
        self.0.push(notice.clone());
    }
}

struct NeverInterrupted;

impl Interrupts for NeverInterrupted {
    fn interrupt(&self) -> Interrupt {
        Interrupt::None
    }
}

/// Operations until a process is killed.
struct Life {
    operations: Cell<usize>,
    kill: usize,
    cluster: Shared,
}

impl Life {
    /// False from the fatal operation on.
    fn goes_on(&self) -> bool {
        self.operations.set(self.operations.get() + 1);
        self.operations.get() <= self.kill
    }

    fn check(&self) -> Result<()> {
        match self.goes_on() {
            true => Ok(()),
            false => Err(Error::Usage("killed".to_owned())),
        }
    }
}

/// A store or a runner in the hands of a process that can be killed before any operation.
struct Mortal<T>(T, Rc<Life>);

impl Store for Mortal<Memory> {
    fn append(&mut self, record: &Record) -> Result<Entry> {
        self.1.check()?;
        self.0.append(record)
    }
    fn sync(&mut self) -> Result<()> {
        self.1.check()?;
        self.0.sync()
    }
    fn prepare(&mut self, spec: &Spec, params: &[u8]) -> Result<Prepared> {
        self.1.check()?;
        self.0.prepare(spec, params)
    }
    fn dir(&self, id: AttemptId) -> PathBuf {
        self.0.dir(id)
    }
    fn harvest(&mut self) -> Result<(Vec<Answer>, Vec<String>)> {
        self.1.check()?;
        self.0.harvest()
    }
    fn answer(&self, id: AttemptId) -> Option<Answer> {
        self.0.answer(id)
    }
    fn settle(&mut self, answer: &Answer) -> Result<()> {
        self.1.check()?;
        self.0.settle(answer)
    }
    fn revoke(&mut self, id: AttemptId) -> Result<Claim> {
        self.1.check()?;
        self.0.revoke(id)
    }
    fn discard(&mut self, id: AttemptId, whole: bool) -> Result<()> {
        self.1.check()?;
        self.0.discard(id, whole)
    }
    fn requests(&mut self) -> Result<Vec<Request>> {
        self.1.check()?;
        self.0.requests()
    }
    fn heartbeat(&self, id: AttemptId) -> Option<u64> {
        self.1.cluster.borrow().heartbeat(id)
    }
}

impl Runner for Mortal<Remote> {
    fn name(&self) -> &'static str {
        self.0.name()
    }
    fn submit(&mut self, attempts: &[Attempt]) -> Vec<Submission> {
        let now = self.0.0.borrow().now.get();
        self.0.0.borrow_mut().calls.push(now);
        // One by one: a process can die between two of them.
        let one = |attempt: &Attempt| match self.1.goes_on() {
            true => self.0.submit(std::slice::from_ref(attempt)).remove(0),
            false => Submission::Ambiguous("killed".to_owned()),
        };
        attempts.iter().map(one).collect()
    }
    fn poll(&mut self, jobs: &[JobRef]) -> std::result::Result<Vec<Sighting>, Unreachable> {
        match self.1.goes_on() {
            true => self.0.poll(jobs),
            false => Err(Unreachable { scheduler: "slurm", reason: "killed".to_owned() }),
        }
    }
    fn cancel(&mut self, jobs: &[JobRef]) -> std::result::Result<(), Unreachable> {
        match self.1.goes_on() {
            true => self.0.cancel(jobs),
            false => Err(Unreachable { scheduler: "slurm", reason: "killed".to_owned() }),
        }
    }
    fn left(&mut self, suspects: &[JobRef]) -> std::result::Result<Vec<Left>, Unreachable> {
        self.0.left(suspects)
    }
    fn remove(&mut self, left: &[Left]) -> std::result::Result<(), Unreachable> {
        self.0.remove(left)
    }
    fn calls_for(&self, attempts: usize) -> usize {
        self.0.calls_for(attempts)
    }
    fn patience(&self) -> Patience {
        self.0.patience()
    }
    fn wait(&mut self, seconds: f64) -> bool {
        self.0.wait(seconds)
    }
}
