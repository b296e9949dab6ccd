//! A store in memory, for trying a driver without a disk and with a failing one.
//!
//! [`Memory`] is a handle: clones share one store, so that a test can leave answers and read the journal while a driver
//! holds the store. [`Memory::reopen`] is what a new driver finds after the old one was killed: what was synced, answers
//! that were not settled, claims and requests. The old handle and its clones are then taken over.
//!
//! Not here: the formats on disk, the lease, and the checks on files in the spool.

use super::format::Format;
use super::ledger::Ledger;
use super::record::{Entry, Record};
use super::{Claim, Prepared, Request, Store};
use crate::job::{Answer, Spec};
use crate::tag::{AttemptId, StudyId};
use crate::{Error, Result};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::PathBuf;
use std::rc::Rc;

/// A driver's handle on a store in memory.
#[derive(Debug, Clone)]
pub struct Memory {
    epoch: u64,
    shared: Rc<RefCell<Shared>>,
}

#[derive(Debug, Default)]
struct Shared {
    epoch: u64,
    utc_ms: u64,
    journal: Vec<Entry>,
    /// Appended and not synced.
    pending: Vec<Entry>,
    /// Answers that are not settled, and whether this epoch's driver has had them.
    spool: Vec<(Answer, bool)>,
    settled: Vec<Answer>,
    prepared: BTreeMap<AttemptId, (Spec, Vec<u8>)>,
    held: BTreeSet<AttemptId>,
    revoked: BTreeSet<AttemptId>,
    discarded: Vec<(AttemptId, bool)>,
    requests: Vec<Request>,
    failing_syncs: usize,
    failing_prepares: usize,
    dead: bool,
    n_syncs: usize,
}

impl Memory {
    /// A new study, created and opened at `utc_ms`.
    pub fn create(study: StudyId, config: &str, utc_ms: u64) -> Result<(Memory, Ledger)> {
        let shared = Shared { epoch: 1, utc_ms, ..Shared::default() };
        let mut store = Memory { epoch: 1, shared: Rc::new(RefCell::new(shared)) };
        let tribo = env!("CARGO_PKG_VERSION").to_owned();
        store.append(&Record::Created {
            format: Format::NEWEST,
            study,
            config: config.to_owned(),
            engine: None,
            tribo,
        })?;
        store.open()
    }

    /// The same study in the hands of a new driver, after the old one was killed.
    pub fn reopen(&self) -> Result<(Memory, Ledger)> {
        let mut shared = self.shared.borrow_mut();
        shared.epoch += 1;
        shared.pending.clear();
        shared.dead = false;
        for (_, given) in &mut shared.spool {
            *given = false;
        }
        let store = Memory { epoch: shared.epoch, shared: Rc::clone(&self.shared) };
        drop(shared);
        store.open()
    }

    fn open(mut self) -> Result<(Memory, Ledger)> {
        let tribo = env!("CARGO_PKG_VERSION").to_owned();
        self.append(&Record::Opened { host: "memory".to_owned(), pid: 0, tribo })?;
        self.sync()?;
        let ledger = self.ledger()?;
        Ok((self, ledger))
    }

    /// The state that a reader would see: of what is synced.
    pub fn ledger(&self) -> Result<Ledger> {
        let shared = self.shared.borrow();
        let corrupt = |offset: u64, what| Error::Corrupt { path: PathBuf::from("memory"), offset, what };
        let first = shared.journal.first().ok_or_else(|| corrupt(0, "no record".to_owned()))?;
        let mut ledger = Ledger::begin(first).map_err(|what| corrupt(0, what))?;
        for entry in &shared.journal[1..] {
            ledger.apply(entry).map_err(|what| corrupt(entry.n, what))?;
        }
        Ok(ledger)
    }

    /// What is synced.
    pub fn journal(&self) -> Vec<Entry> {
        self.shared.borrow().journal.clone()
    }

    /// Records appended and not synced.
    pub fn n_pending(&self) -> usize {
        self.shared.borrow().pending.len()
    }

    /// Syncs that had something to write and succeeded, for counting group commits.
    pub fn n_syncs(&self) -> usize {
        self.shared.borrow().n_syncs
    }

    /// Sets the time of later records.
    pub fn set_utc_ms(&self, utc_ms: u64) {
        self.shared.borrow_mut().utc_ms = utc_ms;
    }

    /// Leaves an answer in the spool, whatever it says.
    pub fn push_answer(&self, answer: Answer) {
        self.shared.borrow_mut().spool.push((answer, false));
    }

    /// Answers in the spool that are not settled.
    pub fn unsettled(&self) -> Vec<Answer> {
        self.shared.borrow().spool.iter().map(|(answer, _)| answer.clone()).collect()
    }

    /// Answers that were settled, in that order.
    pub fn settled(&self) -> Vec<Answer> {
        self.shared.borrow().settled.clone()
    }

    /// What an attempt was prepared with, unless it was discarded.
    pub fn prepared(&self, id: AttemptId) -> Option<(Spec, Vec<u8>)> {
        self.shared.borrow().prepared.get(&id).cloned()
    }

    /// A job claims the attempt. False if the driver was first: the job must not run.
    pub fn claim_as_job(&self, id: AttemptId) -> bool {
        let mut shared = self.shared.borrow_mut();
        let free = !shared.revoked.contains(&id);
        if free {
            shared.held.insert(id);
        }
        free
    }

    /// Attempts discarded, and whether as a whole, in that order.
    pub fn discarded(&self) -> Vec<(AttemptId, bool)> {
        self.shared.borrow().discarded.clone()
    }

    /// Leaves a request.
    pub fn push_request(&self, request: Request) {
        self.shared.borrow_mut().requests.push(request);
    }

    /// The next `times` syncs fail as on a full disk and leave their records to be written.
    pub fn fail_syncs(&self, times: usize) {
        self.shared.borrow_mut().failing_syncs = times;
    }

    /// The next `times` attempts to prepare fail as on a full disk.
    pub fn fail_prepares(&self, times: usize) {
        self.shared.borrow_mut().failing_prepares = times;
    }

    /// The disk fails for good: every later sync of this driver is an error.
    pub fn break_disk(&self) {
        self.shared.borrow_mut().dead = true;
    }

    fn check(&self) -> Result<()> {
        match self.shared.borrow().epoch {
            epoch if epoch > self.epoch => Err(Error::TakenOver { path: PathBuf::from("memory"), epoch }),
            _ => Ok(()),
        }
    }
}

fn failure(action: &'static str, kind: io::ErrorKind) -> Error {
    Error::io(action, "memory")(io::Error::from(kind))
}

impl Store for Memory {
    fn append(&mut self, record: &Record) -> Result<Entry> {
        self.check()?;
        let mut shared = self.shared.borrow_mut();
        let n = (shared.journal.len() + shared.pending.len()) as u64;
        let entry = Entry { n, epoch: self.epoch, ms: shared.utc_ms, record: record.clone() };
        shared.pending.push(entry.clone());
        Ok(entry)
    }

    fn sync(&mut self) -> Result<()> {
        self.check()?;
        let mut shared = self.shared.borrow_mut();
        if shared.dead {
            return Err(failure("cannot sync", io::ErrorKind::Other));
        }
        if shared.pending.is_empty() {
            return Ok(());
        }
        if shared.failing_syncs > 0 {
            shared.failing_syncs -= 1;
            return Err(failure("cannot write", io::ErrorKind::StorageFull));
        }
        shared.n_syncs += 1;
        let mut pending = std::mem::take(&mut shared.pending);
        shared.journal.append(&mut pending);
        Ok(())
    }

    fn prepare(&mut self, spec: &Spec, params: &[u8]) -> Result<Prepared> {
        let mut shared = self.shared.borrow_mut();
        if shared.failing_prepares > 0 {
            shared.failing_prepares -= 1;
            return Err(failure("cannot write", io::ErrorKind::StorageFull));
        }
        shared.prepared.insert(spec.id, (spec.clone(), params.to_owned()));
        drop(shared);
        Ok(Prepared::Ready(self.dir(spec.id)))
    }

    fn dir(&self, id: AttemptId) -> PathBuf {
        PathBuf::from(format!("/memory/{:06}/a{}", id.trial, id.attempt))
    }

    fn harvest(&mut self) -> Result<(Vec<Answer>, Vec<String>)> {
        self.check()?;
        let mut shared = self.shared.borrow_mut();
        let fresh = shared.spool.iter_mut().filter(|(_, given)| !given);
        let answers = fresh
            .map(|(answer, given)| {
                *given = true;
                answer.clone()
            })
            .collect();
        Ok((answers, vec![]))
    }

    fn answer(&self, _: AttemptId) -> Option<Answer> {
        None
    }

    fn settle(&mut self, answer: &Answer) -> Result<()> {
        self.check()?;
        let mut shared = self.shared.borrow_mut();
        if let Some(index) = shared.spool.iter().position(|(spooled, _)| spooled == answer) {
            let (answer, _) = shared.spool.remove(index);
            shared.settled.push(answer);
        }
        Ok(())
    }

    fn revoke(&mut self, id: AttemptId) -> Result<Claim> {
        let mut shared = self.shared.borrow_mut();
        if shared.held.contains(&id) {
            return Ok(Claim::Held);
        }
        shared.revoked.insert(id);
        Ok(Claim::Taken)
    }

    fn discard(&mut self, id: AttemptId, whole: bool) -> Result<()> {
        let mut shared = self.shared.borrow_mut();
        shared.prepared.remove(&id);
        shared.discarded.push((id, whole));
        Ok(())
    }

    fn requests(&mut self) -> Result<Vec<Request>> {
        Ok(std::mem::take(&mut self.shared.borrow_mut().requests))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::fixture;

    fn answer(trial: u64) -> Answer {
        fixture::answer(&StudyId::from_bits(7), AttemptId { trial, attempt: 1 })
    }

    #[test]
    fn a_new_driver_finds_what_was_synced_and_not_settled() {
        let (mut first, _) = Memory::create(StudyId::from_bits(7), "", 5).unwrap();
        let hand = first.clone();
        hand.push_answer(answer(0));
        hand.push_answer(answer(1));
        assert_eq!(first.harvest().unwrap().0.len(), 2);
        assert_eq!(first.harvest().unwrap().0.len(), 0, "an answer is given once");
        first.settle(&answer(0)).unwrap();
        first.append(&Record::Configured { config: "lost".to_owned() }).unwrap();
        assert_eq!(hand.n_pending(), 1);

        let (mut second, ledger) = hand.reopen().unwrap();
        assert_eq!((ledger.config.as_str(), ledger.epoch, ledger.created_ms), ("", 2, 5));
        assert_eq!(second.harvest().unwrap().0, [answer(1)]);
        assert!(matches!(first.sync(), Err(Error::TakenOver { epoch: 2, .. })));
        assert!(matches!(first.harvest(), Err(Error::TakenOver { .. })));
        assert_eq!(hand.settled(), [answer(0)]);
    }

    #[test]
    fn a_failed_sync_keeps_its_records() {
        let (mut store, ledger) = Memory::create(StudyId::from_bits(7), "", 0).unwrap();
        store.fail_syncs(2);
        let entry = store.append(&Record::Closed { why: "enough".to_owned() }).unwrap();
        assert_eq!(entry.n, ledger.next);
        assert!(store.sync().is_err() && store.sync().is_err());
        assert_eq!(store.ledger().unwrap(), ledger);
        store.sync().unwrap();
        assert_eq!(store.ledger().unwrap().closed.as_deref(), Some("enough"));
        store.break_disk();
        assert!(store.sync().is_err());
    }

    #[test]
    fn whoever_claims_first_has_the_attempt() {
        let (mut store, _) = Memory::create(StudyId::from_bits(7), "", 0).unwrap();
        let [one, two] = [1, 2].map(|attempt| AttemptId { trial: 0, attempt });
        assert!(store.claim_as_job(one));
        assert_eq!(store.revoke(one).unwrap(), Claim::Held);
        assert_eq!(store.revoke(two).unwrap(), Claim::Taken);
        assert_eq!(store.revoke(two).unwrap(), Claim::Taken);
        assert!(!store.claim_as_job(two));
    }
}
