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
use std::fs;
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
        let config = Config::read(layout.file())?;
        let text = fs::read_to_string(layout.file()).map_err(Error::io("cannot read", layout.file()))?;
        let before = ledger(layout)?;
        let utc_ms = clock(&config, before.as_ref());
        let layout = layout.clone();
        if before.is_none() {
            let engine = Engine::of(&replay::fresh(&config)?);
            let (store, ledger) = Disk::create_with(&layout, &text, &random_id(), Some(engine), utc_ms)?;
            return Ok(Owned { layout, config, ledger, notes: vec![], store });
        }
        let (store, ledger, notes) = Disk::open_with(&layout, take_over, utc_ms)?;
        let mut owned = Owned { layout, config, ledger, notes, store };
        if owned.ledger.config != text {
            if let Some(error) = contradiction(&owned.layout, &owned.ledger, &owned.config) {
                return Err(error);
            }
            owned.append(Record::Configured { config: text })?;
        }
        Ok(owned)
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
    match layout.journal().exists() {
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
