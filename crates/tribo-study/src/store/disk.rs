//! The store on disk, as the owner of the lease has it; and reading a study without owning it.
//!
//! A sync looks for a newer epoch, writes, and looks again. If no newer epoch is there after the write, the driver that
//! makes one reads the journal later and finds the record. So what a sync has acknowledged is never lost to a take-over.
//!
//! Creating a study makes the folders, then the lease, and puts the journal in place last, with its first records in
//! it. Whatever is interrupted before that leaves a store without a journal, which the next creation completes.
//!
//! Not here: the formats. `journal`, `lease`, `attempts`, `spool` and `requests` each know their own.

use super::format::Format;
use super::journal::{self, Follower, Journal};
use super::lease::{Lease, Owner};
use super::ledger::Ledger;
use super::process::Process;
use super::record::{Engine, Entry, Record};
use super::spool::Spool;
use super::{Claim, Prepared, Request, Store, attempts, files, requests};
use crate::job::{self, Answer, Spec};
use crate::layout::Layout;
use crate::tag::{AttemptId, StudyId};
use crate::waiting::Waiting;
use crate::{Error, Result};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// Bytes that a disk must have room for: an answer.
const ROOM: usize = 4096;

/// Tells the time, in milliseconds since 1970.
pub type UtcMs = Box<dyn Fn() -> u64 + Send>;

/// The store on disk, owned.
pub struct Disk {
    layout: Layout,
    journal: Journal,
    spool: Spool,
    /// Attempts intended, by trial.
    intended: BTreeMap<u64, u32>,
    /// Number of the next record.
    next: u64,
    utc_ms: UtcMs,
    // After the journal: given back when nothing can be written any more.
    lease: Lease,
}

impl std::fmt::Debug for Disk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Disk { journal, lease, next, .. } = self;
        write!(f, "Disk {{ next: {next}, {journal:?}, {lease:?} }}")
    }
}

impl Disk {
    /// Makes the store of a new study and takes it.
    pub fn create(layout: &Layout, config: &str, study: &StudyId) -> Result<(Disk, Ledger)> {
        Disk::create_with(layout, config, study, None, Box::new(utc_ms))
    }

    /// As [`Disk::create`], by another clock.
    pub fn create_with(
        layout: &Layout,
        config: &str,
        study: &StudyId,
        engine: Option<Engine>,
        utc_ms: UtcMs,
    ) -> Result<(Disk, Ledger)> {
        Disk::create_as(&Process::current()?, layout, config, study, engine, utc_ms)
    }

    /// Takes an existing study. The strings are for the user: what was found and put right.
    pub fn open(layout: &Layout, take_over: bool) -> Result<(Disk, Ledger, Vec<String>)> {
        Disk::open_with(layout, take_over, |_| Box::new(utc_ms))
    }

    /// As [`Disk::open`], by another clock, which is chosen when the state is known.
    pub fn open_with(
        layout: &Layout,
        take_over: bool,
        clock: impl FnOnce(&Ledger) -> UtcMs,
    ) -> Result<(Disk, Ledger, Vec<String>)> {
        Disk::open_as(&Process::current()?, layout, take_over, clock)
    }

    /// Leaves in good order: says why, and gives the study back.
    pub fn close(mut self, why: &str) -> Result<()> {
        self.append(&Record::Closed { why: why.to_owned() })?;
        self.sync()?;
        self.lease.release()
    }

    fn create_as(
        me: &Process,
        layout: &Layout,
        config: &str,
        study: &StudyId,
        engine: Option<Engine>,
        utc_ms: UtcMs,
    ) -> Result<(Disk, Ledger)> {
        let layout = absolute(layout)?;
        refuse_existing(&layout)?;
        make_folders(&layout)?;
        let lease = Lease::acquire(&layout, me, false, utc_ms())?;
        // Another may have made it between the first look and the lease.
        refuse_existing(&layout)?;
        let tribo = env!("CARGO_PKG_VERSION").to_owned();
        let created = Record::Created {
            format: Format::NEWEST,
            study: study.clone(),
            config: config.to_owned(),
            engine,
            tribo,
        };
        let entry = |n, record| Entry { n, epoch: lease.epoch(), ms: utc_ms(), record };
        let first = [entry(0, created), entry(1, opened(me))];
        let ledger = fold(&layout.journal(), &first)?;
        let journal = Journal::create(&layout.journal(), &first)?;
        files::sync_folder(layout.folder()).map_err(Error::io("cannot sync", layout.folder()))?;
        let disk = Disk {
            spool: Spool::open(&layout, study)?,
            intended: BTreeMap::new(),
            next: ledger.next,
            layout,
            journal,
            lease,
            utc_ms,
        };
        Ok((disk, ledger))
    }

    fn open_as(
        me: &Process,
        layout: &Layout,
        take_over: bool,
        clock: impl FnOnce(&Ledger) -> UtcMs,
    ) -> Result<(Disk, Ledger, Vec<String>)> {
        let layout = absolute(layout)?;
        require_existing(&layout)?;
        // Folders may be missing in a study that was copied without its empty ones.
        make_folders(&layout)?;
        let mut lease = Lease::acquire(&layout, me, take_over, utc_ms())?;
        let replay = journal::replay(&layout.journal())?;
        let utc_ms = clock(&replay.ledger);
        lease.raise(replay.ledger.epoch)?;
        let notes = torn(replay.length - replay.whole, "was cut off").into_iter().collect();
        let journal = Journal::open(&layout.journal(), replay.whole, replay.length)?;
        let mut ledger = replay.ledger;
        let intended = ledger.trials().map(|(trial, state)| (trial, state.attempts.len() as u32)).collect();
        let mut disk = Disk {
            spool: Spool::open(&layout, &ledger.study)?,
            intended,
            next: ledger.next,
            layout,
            journal,
            lease,
            utc_ms,
        };
        let entry = disk.append(&opened(me))?;
        disk.sync()?;
        ledger.apply(&entry).map_err(does_not_add_up(&disk.layout.journal()))?;
        Ok((disk, ledger, notes))
    }
}

impl Store for Disk {
    fn append(&mut self, record: &Record) -> Result<Entry> {
        let entry =
            Entry { n: self.next, epoch: self.lease.epoch(), ms: (self.utc_ms)(), record: record.clone() };
        self.journal.append(&entry)?;
        self.next += 1;
        if let Record::Intended { id, .. } = record {
            let attempts = self.intended.entry(id.trial).or_default();
            *attempts = id.attempt.max(*attempts);
        }
        Ok(entry)
    }

    fn sync(&mut self) -> Result<()> {
        self.lease.check()?;
        if self.journal.is_synced() {
            return Ok(());
        }
        self.journal.sync()?;
        self.lease.check()
    }

    fn prepare(&mut self, spec: &Spec, params: &[u8]) -> Result<Prepared> {
        attempts::prepare(&self.layout, spec, params)
    }

    fn dir(&self, id: AttemptId) -> PathBuf {
        self.layout.attempt(id)
    }

    fn harvest(&mut self) -> Result<(Vec<Answer>, Vec<String>)> {
        // A beat that cannot be written, on a full disk say, only makes this driver look silent.
        let _ = self.lease.beat((self.utc_ms)());
        self.lease.check()?;
        let intended = &self.intended;
        self.spool.harvest(|id| {
            intended.get(&id.trial).is_some_and(|attempts| (1..=*attempts).contains(&id.attempt))
        })
    }

    fn answer(&self, id: AttemptId) -> Option<Answer> {
        let answer = Answer::read(&self.dir(id))?;
        (answer.id == id).then_some(answer)
    }

    fn settle(&mut self, answer: &Answer) -> Result<()> {
        self.spool.settle(answer)
    }

    fn revoke(&mut self, id: AttemptId) -> Result<Claim> {
        attempts::revoke(&self.layout, id)
    }

    fn discard(&mut self, id: AttemptId, whole: bool) -> Result<()> {
        attempts::discard(&self.layout, id, whole)
    }

    fn has_room(&self) -> Result<()> {
        let path = self.layout.spool("tmp").join(".room");
        let written = std::fs::write(&path, [0; ROOM]).map_err(Error::io("cannot write", &path));
        // What is left of a write that failed is in nobody's way.
        let _ = std::fs::remove_file(&path);
        written
    }

    fn requests(&mut self) -> Result<Vec<Request>> {
        requests::take(&self.layout)
    }

    fn note_waiting(&mut self, waiting: &[Waiting]) {
        super::waiting::write(&self.layout, waiting);
    }

    fn heartbeat(&self, id: AttemptId) -> Option<u64> {
        job::heartbeat(&self.layout.attempt(id))
    }
}

/// Reads a study without owning it, also while its driver writes. The strings are for the user.
pub fn read(layout: &Layout) -> Result<(Ledger, Vec<String>)> {
    let follower = Follower::open(layout)?;
    let note = torn_end(layout, &follower)?;
    Ok((follower.into_ledger(), note.into_iter().collect()))
}

/// What is to say about the end of a journal that is not whole. While a driver writes, that is nothing to speak of.
pub(crate) fn torn_end(layout: &Layout, follower: &Follower) -> Result<Option<String>> {
    let writing = Owner::find(layout, &Process::current()?)?.is_some_and(|owner| owner.may_write());
    Ok(torn(follower.torn(), "is ignored").filter(|_| !writing))
}

fn torn(bytes: u64, what: &str) -> Option<String> {
    (bytes > 0).then(|| {
        format!(
            "the unfinished record at the end of the journal, {bytes} B, {what}: nothing was done on its word"
        )
    })
}

/// Milliseconds since 1970 by the clock of this machine.
pub fn utc_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}

pub(crate) fn opened(me: &Process) -> Record {
    Record::Opened { host: me.host.clone(), pid: me.pid, tribo: env!("CARGO_PKG_VERSION").to_owned() }
}

fn fold(path: &Path, entries: &[Entry; 2]) -> Result<Ledger> {
    let mut ledger = Ledger::begin(&entries[0]).map_err(does_not_add_up(path))?;
    ledger.apply(&entries[1]).map_err(does_not_add_up(path))?;
    Ok(ledger)
}

fn does_not_add_up(path: &Path) -> impl FnOnce(String) -> Error {
    let path = path.to_owned();
    move |what| Error::io("cannot record in", path)(std::io::Error::other(what))
}

/// Jobs are given these paths, and run elsewhere.
pub(crate) fn absolute(layout: &Layout) -> Result<Layout> {
    let file = std::path::absolute(layout.file()).map_err(Error::io("cannot find", layout.file()))?;
    Ok(Layout::of(&file))
}

pub(crate) fn make_folders(layout: &Layout) -> Result<()> {
    let store = layout.store();
    let spool = store.join("spool");
    let parts = ["tmp", "done", "seen"].map(|part| layout.spool(part));
    let mut folders = vec![store.to_owned(), spool, layout.requests()];
    folders.extend(["trials", "arrays"].map(|name| store.join(name)));
    folders.extend(parts);
    for folder in folders {
        files::make_private(&folder).map_err(Error::io("cannot create", &folder))?;
    }
    Ok(())
}

fn refuse_existing(layout: &Layout) -> Result<()> {
    match exists(layout)? {
        true => Err(Error::Usage(format!(
            "{} holds a study already; `tribo run {}` goes on with it",
            layout.store().display(),
            layout.file().display(),
        ))),
        false => Ok(()),
    }
}

pub(crate) fn require_existing(layout: &Layout) -> Result<()> {
    match exists(layout)? {
        true => Ok(()),
        false => Err(layout.missing()),
    }
}

/// Whether there is a study.
pub fn exists(layout: &Layout) -> Result<bool> {
    layout.journal().try_exists().map_err(Error::io("cannot read", layout.journal()))
}

#[cfg(test)]
mod crash;
#[cfg(test)]
mod tests;
