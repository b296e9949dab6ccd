//! The one loop: asks for points, keeps workers busy, takes answers in. The only edge from results back to proposals.
//!
//! Each turn of the loop does the same things in the same order:
//!   1. take in the answers in the spool, and what other commands ask for (`ingest`);
//!   2. look at the queue, if it is time, and give up what is lost (`look`, by the rules of `sight`);
//!   3. decide what follows each attempt that has ended (`decide`, by the rules of `retry`);
//!   4. see whether it is time to leave, and end what is under way then (`stop`, `cancel`);
//!   5. fill the free workers, as far as `limits` allow (`fill`); fits to many results are made `beside`;
//!   6. make the journal durable; only now act: put answers away (`settle`), cancel, submit.
//!
//! The optimiser is asked or told first, and what came of it is recorded then, here as in a study by hand: one that refuses
//! leaves no record. Neither counts before the sync, so that a driver that is killed anywhere leaves a journal from which
//! the next one goes on. Between the sync and the end of step 6 a crash leaves attempts that may or may not have been
//! submitted; they are looked up by their tag.
//!
//! Clock, runner and store are traits, so the same code runs on virtual time against fakes.

mod cancel;
pub mod clock;
mod decide;
mod fill;
mod ingest;
mod limits;
mod look;
pub mod notice;
mod remaining;
pub mod retry;
mod settle;
pub mod sight;
mod stop;

use crate::beside::Beside;
use crate::config::{Config, Run};
use crate::job::{Answer, Finding};
use crate::replay::{Earlier, Points, Rebuilt};
use crate::runner::{JobRef, Patience, Runner};
use crate::store::ledger::{AttemptState, Ledger};
use crate::store::record::Record;
use crate::store::{self, Store};
use crate::tag::AttemptId;
use crate::waiting::{Prospect, Waiting};
use crate::{Error, Result, replay};
use clock::Clock;
use notice::{Finish, Notice, Observer, Progress};
use remaining::Remaining;
use sight::Sight;
use std::collections::{BTreeMap, BTreeSet};
pub use stop::AGAIN_S;
use tribo::space::Direction;
use tribo::strategy::Study;

/// How a person wants the driver to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Interrupt {
    /// Not at all.
    None,
    /// Stop proposing. Jobs of a scheduler go on by themselves; local ones are waited for.
    Stop,
    /// Leave now, whatever is under way goes on by itself and is taken over by the next driver.
    Detach,
    /// Cancel everything under way.
    Cancel,
}

/// Says whether and how a person interrupts.
pub trait Interrupts {
    /// The strongest wish so far.
    fn interrupt(&self) -> Interrupt;
}

/// Nobody interrupts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Uninterrupted;

impl Interrupts for Uninterrupted {
    fn interrupt(&self) -> Interrupt {
        Interrupt::None
    }
}

/// What a driver works with.
pub struct Parts<'a> {
    /// The study file.
    pub config: Config,
    /// How and where points are evaluated.
    pub run: Run,
    /// The state of the study.
    pub ledger: Ledger,
    /// Where it is kept.
    pub store: Box<dyn Store + 'a>,
    /// Where evaluations run.
    pub runner: Box<dyn Runner + 'a>,
    /// The time.
    pub clock: &'a dyn Clock,
    /// Path from an attempt's folder to the study folder.
    pub folder: String,
    /// The runner's own time limit for one job, in seconds.
    pub wall_limit_s: Option<f64>,
}

/// A study under way.
pub struct Driver<'a> {
    parts: Parts<'a>,
    optimiser: Study,
    /// Fits of its model to many results.
    fits: Beside,
    /// Points of earlier chapters: their evaluations may still be under way.
    earlier: Earlier,
    patience: Patience,
    /// What is believed about attempts under way.
    sights: BTreeMap<AttemptId, Sight>,
    /// Attempts that are recorded and certainly not submitted, oldest first.
    ready: BTreeSet<AttemptId>,
    /// Trials given up by the user.
    cancelled: BTreeSet<u64>,
    /// Answers whose records wait for the sync.
    unsettled: Vec<Answer>,
    /// What jobs said that were told to stop, until the scheduler has said why; in the spool meanwhile.
    stops: BTreeMap<AttemptId, Answer>,
    /// Attempts to cancel after the sync.
    to_cancel: Vec<JobRef>,
    /// Hosts and how often they failed.
    hosts: BTreeMap<String, u32>,
    /// Whether records wait for the sync that something depends on; acknowledged submissions alone can wait.
    urgent: bool,
    last_sync: f64,
    /// The disk is full; it is tried again then.
    no_sync_before: f64,
    /// When it is looked next whether there is room on the disk.
    next_room: f64,
    pace: look::Pace,
    /// When to look into folders for jobs that have begun.
    begun_due: f64,
    limits: limits::Limits,
    failures_in_row: usize,
    /// Trials in a row that were lost by what a machine or the scheduler did.
    lost_in_row: usize,
    last_failure: String,
    /// Seconds the last evaluations took, for the interval between looks at the spool.
    walls: Vec<f64>,
    notices: Vec<Notice>,
    warned: BTreeSet<String>,
    /// Why jobs waited at the last look, and all reasons that were told.
    waiting: Vec<Waiting>,
    reasons: BTreeSet<(Prospect, String)>,
    looks_at_waiting: u32,
    started: f64,
    told_before: usize,
    optimiser_s: f64,
    measured: usize,
    best: Option<(u64, f64)>,
    exhausted: bool,
    /// Since when everything under way is being cancelled.
    winding_down: Option<f64>,
    /// Since when a person wants it to stop.
    interrupted: Option<f64>,
    /// How long it will still take.
    remaining: Remaining,
    reported: Option<Progress>,
}

/// Acknowledged submissions may stay unsynced for this long: they can be found again by their tag.
const LAZY_SYNC_S: f64 = 1.0;
/// Seconds between two reports when nothing changes.
const REPORT_S: f64 = 2.0;
/// Between two looks whether there is room on the disk.
const ROOM_S: f64 = 5.0;
/// Between two tries to write to a full disk.
const FULL_DISK_S: f64 = 5.0;

impl<'a> Driver<'a> {
    /// The points of all trials.
    pub fn points(&self) -> Points<'_> {
        Points { study: &self.optimiser, earlier: &self.earlier }
    }

    /// A driver of the study in `parts`. The optimiser is rebuilt from the ledger.
    pub fn new(parts: Parts<'a>) -> Result<Driver<'a>> {
        let Rebuilt { study: optimiser, earlier, .. } = replay::rebuild(&parts.config, &parts.ledger)?;
        let now = parts.clock.now();
        let patience = parts.runner.patience();
        let utc_ms = parts.clock.utc_ms();
        // Drivers that are killed again and again must not begin to look for a job anew each time.
        let since = |a: &AttemptState| now - 1e-3 * utc_ms.saturating_sub(a.intended_ms) as f64;
        let sight = |a: &AttemptState| (a.id, Sight::new(since(a), a.job.is_some()));
        let sights = parts.ledger.live().map(sight).collect();
        let told_before = parts.ledger.told().len() - parts.ledger.n_lost();
        let mut driver = Driver {
            optimiser,
            fits: Beside::default(),
            earlier,
            patience,
            sights,
            ready: BTreeSet::new(),
            cancelled: BTreeSet::new(),
            unsettled: vec![],
            stops: BTreeMap::new(),
            to_cancel: vec![],
            hosts: BTreeMap::new(),
            urgent: false,
            last_sync: now,
            no_sync_before: now,
            next_room: now + ROOM_S,
            pace: look::Pace::new(now, &patience),
            begun_due: now,
            limits: limits::Limits::new(),
            failures_in_row: 0,
            lost_in_row: 0,
            last_failure: String::new(),
            walls: vec![],
            notices: vec![],
            warned: BTreeSet::new(),
            waiting: vec![],
            reasons: BTreeSet::new(),
            looks_at_waiting: 0,
            started: now,
            told_before,
            optimiser_s: 0.0,
            measured: 0,
            best: None,
            exhausted: false,
            winding_down: None,
            interrupted: None,
            remaining: Remaining::default(),
            reported: None,
            parts,
        };
        driver.count_all();
        Ok(driver)
    }

    /// The state of the study.
    pub fn ledger(&self) -> &Ledger {
        &self.parts.ledger
    }

    /// Runs until the budget is spent or someone interrupts.
    pub fn run(&mut self, interrupts: &dyn Interrupts, observer: &mut dyn Observer) -> Result<Finish> {
        self.notices.push(Notice::Opened {
            name: self.parts.config.name.clone(),
            told: self.told_before,
            adopted: self.sights.len(),
            strategy: self.optimiser.explanation().to_owned(),
        });
        if self.sights.is_empty() {
            // Better to hear of a wrong partition or a missing scheduler now than after the first submission.
            self.parts.runner.check()?;
        }
        loop {
            let finish = self.turn(interrupts)?;
            self.notices.drain(..).for_each(|notice| observer.notice(&notice));
            self.report(observer);
            if let Some(finish) = finish {
                if !matches!(finish, Finish::Detached { .. }) {
                    self.clear_queue(interrupts);
                    // What those say that were ended just now; nobody else would put it away.
                    self.take_answers()?;
                    self.notices.drain(..).for_each(|notice| observer.notice(&notice));
                }
                self.append(Record::Closed { why: finish.to_string() })?;
                while !self.sync(interrupts)? {
                    self.notices.drain(..).for_each(|notice| observer.notice(&notice));
                    self.parts.clock.sleep(FULL_DISK_S);
                }
                self.settle()?;
                observer.notice(&Notice::Finished(finish.clone()));
                return Ok(finish);
            }
            self.rest();
        }
    }

    /// One turn of the loop.
    fn turn(&mut self, interrupts: &dyn Interrupts) -> Result<Option<Finish>> {
        self.ingest()?;
        self.look()?;
        self.look_for_room();
        self.decide()?;
        let finish = self.stopping(interrupts.interrupt())?;
        if self.parts.clock.passes() {
            self.fits.serve(&mut self.optimiser);
        }
        if self.may_propose(interrupts.interrupt()) && finish.is_none() {
            self.fill()?;
        }
        let now = self.parts.clock.now();
        if (self.urgent || now - self.last_sync >= LAZY_SYNC_S)
            && now >= self.no_sync_before
            && !self.sync(interrupts)?
        {
            (self.urgent, self.no_sync_before) = (true, now + FULL_DISK_S);
        }
        if self.urgent {
            // There is no room: nothing outside is touched, and nobody leaves.
            return Ok(None);
        }
        self.settle()?;
        self.cancel_asked()?;
        if finish.is_none() {
            self.submit()?;
        }
        Ok(finish)
    }

    /// Says where things stand, when that has changed or a few seconds have passed.
    fn report(&mut self, observer: &mut dyn Observer) {
        let progress = self.progress();
        let moved = |before: &Progress| {
            let state = |p: &Progress| (p.told, p.measured, p.running, p.waiting);
            state(before) != state(&progress) || progress.elapsed_s - before.elapsed_s >= REPORT_S
        };
        if self.reported.as_ref().is_none_or(moved) {
            observer.notice(&Notice::Progress(progress.clone()));
            self.reported = Some(progress);
        }
    }

    /// Lets time pass until something may have happened.
    fn rest(&mut self) {
        let now = self.parts.clock.now();
        let mut seconds = self.spool_interval();
        if !self.sights.is_empty() {
            seconds = seconds.min((self.pace.due() - now).max(0.001));
        }
        if !self.parts.runner.wait(seconds) {
            self.parts.clock.sleep(seconds);
        }
    }

    /// Short evaluations want a quick look, long ones do not mind: a hundredth of the middle one of the last few.
    fn spool_interval(&self) -> f64 {
        let mut walls = self.walls.clone();
        walls.sort_by(f64::total_cmp);
        let middle = walls.get(walls.len() / 2).copied().unwrap_or(100.0 * self.patience.spool);
        (0.01 * middle).clamp(0.05, 2.0).min(self.patience.spool)
    }

    /// Adds a record and folds it into the state.
    fn append(&mut self, record: Record) -> Result<()> {
        self.urgent |= !matches!(record, Record::Submitted { .. });
        store::record(self.parts.store.as_mut(), &mut self.parts.ledger, &record)
    }

    /// Makes the journal durable. False if the disk is full, which is waited for: nothing outside is touched meanwhile.
    fn sync(&mut self, interrupts: &dyn Interrupts) -> Result<bool> {
        match self.parts.store.sync() {
            Ok(()) => {
                self.urgent = false;
                self.last_sync = self.parts.clock.now();
                Ok(true)
            }
            Err(error) if is_full(&error) && interrupts.interrupt() == Interrupt::None => {
                self.warn(format!("{error}; waiting for space, nothing is lost and nothing new is started"));
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }

    /// Says that the disk is full while evaluations are under way: they cannot leave their answers, and wait in silence.
    fn look_for_room(&mut self) {
        let now = self.parts.clock.now();
        if self.sights.is_empty() || now < self.next_room {
            return;
        }
        self.next_room = now + ROOM_S;
        if let Err(error) = self.parts.store.has_room()
            && is_full(&error)
        {
            self.warn(format!("{error}; make room: answers of evaluations wait a minute for it"));
        }
    }

    /// Says something once.
    fn warn(&mut self, text: String) {
        if self.warned.insert(text.clone()) {
            self.notices.push(Notice::Warning { text });
        }
    }

    /// Counts all outcomes anew.
    fn count_all(&mut self) {
        (self.measured, self.best) = (0, None);
        let outcomes = self.parts.ledger.told().filter_map(|(id, t)| Some((id, t.outcome.clone()?)));
        for (trial, finding) in outcomes.collect::<Vec<(u64, Finding)>>() {
            self.count(trial, &finding);
        }
    }

    /// Takes the outcome of a trial back, at the user's request: it is tried again, in a chapter in which it is under way.
    fn reopen(&mut self, trial: u64) -> Result<()> {
        if let Err(why) = self.parts.ledger.may_reopen(trial) {
            self.warn(why);
            return Ok(());
        }
        self.append(Record::Reopened { trial })?;
        Rebuilt { study: self.optimiser, earlier: self.earlier, .. } =
            replay::rebuild(&self.parts.config, &self.parts.ledger)?;
        self.cancelled.remove(&trial);
        self.count_all();
        Ok(())
    }

    /// Keeps count of an outcome.
    fn count(&mut self, trial: u64, finding: &Finding) -> bool {
        let Some(value) = finding.value(self.parts.config.objective()) else { return false };
        self.measured += 1;
        if !self.parts.config.meets_limits(&finding.outputs) {
            return false;
        }
        let better = match (self.best, self.parts.config.direction) {
            (None, _) => true,
            (Some((_, best)), Direction::Minimize) => value < best,
            (Some((_, best)), Direction::Maximize) => value > best,
        };
        if better {
            self.best = Some((trial, value));
        }
        better
    }

    fn progress(&mut self) -> Progress {
        let told = self.parts.ledger.told().len() - self.parts.ledger.n_lost();
        let running = match self.patience.detachable {
            true => self.sights.values().filter(|sight| sight.is_running()).count(),
            false => self.sights.len(),
        };
        let elapsed_s = self.parts.clock.now() - self.started;
        let evaluations = self.parts.config.budget.evaluations;
        let done = told.saturating_sub(self.told_before);
        let left = evaluations.map(|budget| budget.saturating_sub(told));
        let workers = self.parts.run.workers;
        let left_s = left.and_then(|left| self.remaining.at(elapsed_s, done, left, workers));
        Progress {
            told,
            measured: self.measured,
            failed: told.saturating_sub(self.measured),
            running,
            waiting: self.sights.len() - running,
            waits_for: self.waiting.first().filter(|_| running < self.sights.len()).map(|w| w.reason.clone()),
            workers: self.parts.run.workers,
            evaluations,
            best: self.best,
            elapsed_s,
            left_s,
            optimiser_s: self.optimiser_s,
        }
    }

    fn job_ref(&self, attempt: &AttemptState) -> JobRef {
        let (id, tag, job) = (attempt.id, attempt.tag.clone(), attempt.job.clone());
        JobRef { id, tag, dir: self.parts.store.dir(id), job }
    }
}

/// Whether the error is a full disk or quota, which may pass.
fn is_full(error: &Error) -> bool {
    matches!(error, Error::Io { source, .. } if store::is_full(source))
}
