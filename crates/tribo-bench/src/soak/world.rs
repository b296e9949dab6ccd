//! What a driver sees of the cluster: a clock, a scheduler, and a disk that is full at times. All three end for a driver that
//! is killed: from then on nothing that it does has any effect.

use super::cluster::Cluster;
use std::cell::RefCell;
use std::io;
use std::path::PathBuf;
use std::rc::Rc;
use tribo_study::driver::clock::Clock;
use tribo_study::job::{Answer, Spec};
use tribo_study::runner::array::calls_for;
use tribo_study::runner::{Attempt, JobRef, Left, Patience, Runner, Sighting, Submission, Unreachable};
use tribo_study::store::record::{Entry, Record};
use tribo_study::store::{Claim, Disk, Prepared, Request, Store};
use tribo_study::tag::AttemptId;
use tribo_study::{Error, Result};

pub(super) type Shared = Rc<RefCell<Cluster>>;

/// The clock of the cluster.
pub(super) struct Virtual(pub(super) Shared);

impl Clock for Virtual {
    fn now(&self) -> f64 {
        self.0.borrow().now()
    }

    fn utc_ms(&self) -> u64 {
        (1e3 * self.now()) as u64
    }

    fn sleep(&self, seconds: f64) {
        let mut cluster = self.0.borrow_mut();
        let until = cluster.now() + seconds.max(0.0);
        cluster.pass(until);
    }

    fn passes(&self) -> bool {
        false
    }
}

/// The scheduler of the cluster.
pub(super) struct Scheduler(pub(super) Shared);

impl Scheduler {
    fn lives(&self) -> std::result::Result<(), Unreachable> {
        match self.0.borrow_mut().driver_lives() {
            true => Ok(()),
            false => Err(Unreachable { scheduler: "soak", reason: "killed".to_owned() }),
        }
    }
}

impl Runner for Scheduler {
    fn name(&self) -> &'static str {
        "soak"
    }

    fn submit(&mut self, attempts: &[Attempt]) -> Vec<Submission> {
        let killed = |_| Submission::Ambiguous("killed".to_owned());
        if self.lives().is_err() {
            return attempts.iter().map(killed).collect();
        }
        let submissions = self.0.borrow_mut().submit(attempts);
        // Killed while it waited for the answer: it was submitted, and nobody has heard so.
        match self.lives() {
            Ok(()) => submissions,
            Err(_) => attempts.iter().map(killed).collect(),
        }
    }

    fn poll(&mut self, jobs: &[JobRef]) -> std::result::Result<Vec<Sighting>, Unreachable> {
        self.lives()?;
        self.0.borrow_mut().poll(jobs)
    }

    fn cancel(&mut self, jobs: &[JobRef]) -> std::result::Result<(), Unreachable> {
        self.lives()?;
        self.0.borrow_mut().cancel(jobs)
    }

    fn left(&mut self, _: &[JobRef]) -> std::result::Result<Vec<Left>, Unreachable> {
        self.lives()?;
        self.0.borrow().left()
    }

    fn remove(&mut self, left: &[Left]) -> std::result::Result<(), Unreachable> {
        self.lives()?;
        self.0.borrow_mut().remove(left)
    }

    fn calls_for(&self, attempts: usize) -> usize {
        calls_for(attempts)
    }

    /// As with real schedulers.
    fn patience(&self) -> Patience {
        Patience { spool: 1.0, poll_min: 30.0, poll_max: 180.0, lost: 120.0, lookup: 90.0, detachable: true }
    }
}

/// A real store, on a disk that is full at times.
pub(super) struct Frail {
    pub(super) disk: Disk,
    pub(super) cluster: Shared,
}

impl Frail {
    fn lives(&self) -> Result<()> {
        match self.cluster.borrow_mut().driver_lives() {
            true => Ok(()),
            false => Err(Error::Usage("killed".to_owned())),
        }
    }

    fn has_space(&self) -> Result<()> {
        self.lives()?;
        match self.cluster.borrow().disk_is_full() {
            true => Err(Error::io("cannot write", "disk")(io::Error::from(io::ErrorKind::StorageFull))),
            false => Ok(()),
        }
    }
}

impl Store for Frail {
    fn append(&mut self, record: &Record) -> Result<Entry> {
        self.lives()?;
        self.disk.append(record)
    }
    fn sync(&mut self) -> Result<()> {
        self.has_space()?;
        self.disk.sync()
    }
    fn prepare(&mut self, spec: &Spec, params: &[u8]) -> Result<Prepared> {
        self.has_space()?;
        self.disk.prepare(spec, params)
    }
    fn dir(&self, id: AttemptId) -> PathBuf {
        self.disk.dir(id)
    }
    fn harvest(&mut self) -> Result<(Vec<Answer>, Vec<String>)> {
        self.lives()?;
        self.disk.harvest()
    }
    fn answer(&self, id: AttemptId) -> Option<Answer> {
        self.disk.answer(id)
    }
    fn settle(&mut self, answer: &Answer) -> Result<()> {
        self.lives()?;
        self.disk.settle(answer)
    }
    fn revoke(&mut self, id: AttemptId) -> Result<Claim> {
        self.has_space()?;
        self.disk.revoke(id)
    }
    fn has_room(&self) -> Result<()> {
        self.has_space()?;
        self.disk.has_room()
    }
    fn discard(&mut self, id: AttemptId, whole: bool) -> Result<()> {
        self.lives()?;
        self.disk.discard(id, whole)
    }
    fn heartbeat(&self, id: AttemptId) -> Option<u64> {
        let begun = self.disk.heartbeat(id)?;
        Some(self.cluster.borrow().beats(id).unwrap_or(begun))
    }
    fn requests(&mut self) -> Result<Vec<Request>> {
        self.lives()?;
        self.disk.requests()
    }
}
