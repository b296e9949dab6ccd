//! A study on disk that belongs to this process: how it is taken, added to, and given back.
//!
//! The study file on disk may have changed since the journal was written. Changes that leave the proposals alone are
//! recorded; others are refused, since the journal would then be that of another study.

use crate::config::Config;
use crate::layout::Layout;
use crate::store::disk::UtcMs;
use crate::store::ledger::Ledger;
use crate::store::record::{Engine, Record};
use crate::store::{self, Disk};
use crate::tag::StudyId;
use crate::{Error, Result, replay};
use std::hash::{BuildHasher, Hasher, RandomState};

/// A study that belongs to this process.
#[derive(Debug)]
pub struct Owned {
    /// Its paths.
    pub layout: Layout,
    /// The study file.
    pub config: Config,
    /// Its state.
    pub ledger: Ledger,
    /// What was found and put right.
    pub notes: Vec<String>,
    /// Its store.
    pub store: Disk,
}

impl Owned {
    /// Takes a study; makes its store if there is none. `clock` is asked for the clock of records, given the study file and
    /// the state so far.
    pub fn open(
        layout: &Layout,
        take_over: bool,
        clock: impl FnOnce(&Config, Option<&Ledger>) -> UtcMs,
    ) -> Result<Owned> {
        let (config, text) = Config::read_with_text(layout.file())?;
        let layout = layout.clone();
        if !store::exists(&layout)? {
            let utc_ms = clock(&config, None);
            let engine = Engine::of(&replay::fresh(&config)?);
            let (store, ledger) = Disk::create_with(&layout, &text, &random_id(), Some(engine), utc_ms)?;
            return Ok(Owned { layout, config, ledger, notes: vec![], store });
        }
        let clock = |ledger: &Ledger| clock(&config, Some(ledger));
        let (store, ledger, notes) = Disk::open_with(&layout, take_over, clock)?;
        let mut owned = Owned { layout, config, ledger, notes, store };
        if owned.ledger.config != text {
            if let Some(error) = contradiction(&owned.layout, &owned.ledger, &owned.config) {
                return Err(error);
            }
            owned.append(Record::Configured { config: text })?;
        }
        Ok(owned)
    }

    /// Takes a study that has a store.
    pub fn open_existing(
        layout: &Layout,
        clock: impl FnOnce(&Config, Option<&Ledger>) -> UtcMs,
    ) -> Result<Owned> {
        match store::exists(layout)? {
            true => Owned::open(layout, false, clock),
            false => Err(layout.missing()),
        }
    }

    /// Adds a record and folds it into the state. It is durable after the store's sync.
    pub fn append(&mut self, record: Record) -> Result<()> {
        store::record(&mut self.store, &mut self.ledger, &record)
    }

    /// Makes everything durable and gives the study back.
    pub fn close(self, why: &str) -> Result<()> {
        self.store.close(why)
    }
}

/// The state of a study, if there is a store.
pub fn ledger(layout: &Layout) -> Result<Option<Ledger>> {
    match store::exists(layout)? {
        true => store::read(layout).map(|(ledger, _)| Some(ledger)),
        false => Ok(None),
    }
}

/// How a study file contradicts the study in the store, if it does.
pub fn contradiction(layout: &Layout, ledger: &Ledger, config: &Config) -> Option<Error> {
    let old = Config::parse(layout.file(), &ledger.config).ok()?;
    old.identity_difference(config).map(|what| Error::Changed {
        path: layout.file().to_owned(),
        what,
        advice: "undo the change, or give the changed study file another name for a new study".to_owned(),
    })
}

/// An id for a new study.
pub fn random_id() -> StudyId {
    // The hasher's keys are random; nothing else here is.
    StudyId::from_bits(RandomState::new().build_hasher().finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::by_hand::ByHand;
    use crate::store::disk::utc_ms;
    use std::fs;
    use tribo::surrogate::watch::Unwatched;

    const FILE: &str = "study_version = 1\ndirection = \"minimize\"\nseed = 5\n[[parameter]]\nname = \"x\"\n\
                        type = \"float\"\nlow = 0\nhigh = 1\n[strategy]\nname = \"random\"\n";

    #[test]
    fn taking_a_study_reads_its_journal_once() {
        let folder = tempfile::tempdir().unwrap();
        let layout = Layout::of(&folder.path().join("study.toml"));
        fs::write(layout.file(), FILE).unwrap();
        let mut study = ByHand::take_new(&layout).unwrap();
        study.ask(2_000, &Unwatched).unwrap();
        study.close("test").unwrap();
        let length = fs::metadata(layout.journal()).unwrap().len();
        let read = || -> u64 {
            let counts = fs::read_to_string("/proc/thread-self/io").unwrap();
            let line = counts.lines().find_map(|line| line.strip_prefix("rchar: ")).unwrap();
            line.parse().unwrap()
        };
        let before = read();
        let owned = Owned::open(&layout, false, |_, _| Box::new(utc_ms)).unwrap();
        let bytes = read() - before;
        assert_eq!(owned.ledger.trials().len(), 2_000);
        assert!((length..length + length / 4).contains(&bytes), "{bytes} bytes read of {length}");
    }
}
