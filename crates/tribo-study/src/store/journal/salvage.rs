//! What can be read of a damaged journal, and putting a repaired one in its place.
//!
//! The records before the damage are good. Those after it are whole too, one by one, but what was between is missing: whether
//! they still add up is for the caller to find out. A damaged journal is never changed: it stays beside the repaired one.

use super::scan::{Found, Scanner};
use super::{begin_or_apply, decode, encode};
use crate::store::files::{self, Durable};
use crate::store::ledger::Ledger;
use crate::store::record::{Entry, Record};
use crate::{Error, Result};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Where a journal is damaged first, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Damage {
    /// The byte.
    pub(crate) offset: u64,
    /// What was found there.
    pub(crate) what: String,
}

/// A journal, damaged or not.
#[derive(Debug)]
pub(crate) struct Salvage {
    /// The state before the damage; None if the first record is hit.
    pub(crate) ledger: Option<Ledger>,
    /// Version of the program that wrote last before it.
    pub(crate) tribo: String,
    /// Bytes before the damage.
    pub(crate) whole: u64,
    /// Bytes of the file.
    pub(crate) length: u64,
    /// The first damage. A record that a crash left unfinished at the end is one too.
    pub(crate) damage: Option<Damage>,
    /// Whole records after it, in their order.
    pub(crate) rest: Vec<Entry>,
}

/// Reads all that is whole. A journal of a newer version is an error: to this program it looks damaged and is not.
pub(crate) fn salvage(path: &Path) -> Result<Salvage> {
    let file = File::open(path).map_err(Error::io("cannot open", path))?;
    let length = file.metadata().map_err(Error::io("cannot read", path))?.len();
    let read_error = |source| Error::io("cannot read", path)(source);
    let mut scanner = Scanner::new(file, 0, length);
    let mut format = None;
    let mut salvage =
        Salvage { ledger: None, tribo: String::new(), whole: 0, length, damage: None, rest: vec![] };
    loop {
        let offset = scanner.offset();
        let found = match scanner.next().map_err(read_error)? {
            Found::Record(json) => decode(path, offset, json, &mut format),
            Found::Nothing(_) if offset == length => break,
            Found::Nothing(what) => {
                salvage.damaged(offset, what.to_owned());
                if !scanner.find().map_err(read_error)? {
                    break;
                }
                continue;
            }
        };
        match found {
            Ok(entry) => salvage.take(entry, offset, scanner.offset()),
            Err(Error::Corrupt { what, .. }) => salvage.damaged(offset, what),
            Err(error) => return Err(error),
        }
    }
    if length == 0 {
        salvage.damaged(0, "it is empty".to_owned());
    }
    Ok(salvage)
}

impl Salvage {
    fn damaged(&mut self, offset: u64, what: String) {
        self.damage.get_or_insert(Damage { offset, what });
    }

    fn take(&mut self, entry: Entry, from: u64, to: u64) {
        if self.damage.is_some() {
            self.rest.push(entry);
            return;
        }
        match begin_or_apply(&mut self.ledger, &entry) {
            Ok(()) => {
                self.whole = to;
                if let Record::Created { tribo, .. } | Record::Opened { tribo, .. } = entry.record {
                    self.tribo = tribo;
                }
            }
            Err(what) => {
                self.damaged(from, what);
                self.rest.push(entry);
            }
        }
    }
}

/// Puts a journal in place that has the first `keep` bytes of the one there and then these records. The old one stays under
/// the name that is returned, which no file had.
pub(crate) fn rewrite(path: &Path, keep: u64, entries: &[Entry]) -> Result<PathBuf> {
    let mut bytes = vec![];
    let file = File::open(path).map_err(Error::io("cannot open", path))?;
    file.take(keep).read_to_end(&mut bytes).map_err(Error::io("cannot read", path))?;
    for entry in entries {
        encode(entry, &mut bytes).map_err(Error::io("cannot record", path))?;
    }
    let copy = keep_copy(path).map_err(Error::io("cannot keep a copy of", path))?;
    files::replace(path, &bytes, Durable::Yes).map_err(Error::io("cannot write", path))?;
    Ok(copy)
}

/// Gives a file a second name, or copies it where that is not possible.
fn keep_copy(path: &Path) -> io::Result<PathBuf> {
    for number in 1.. {
        let copy = path.with_file_name(format!("journal.damaged-{number}"));
        if fs::symlink_metadata(&copy).is_ok() {
            continue;
        }
        match fs::hard_link(path, &copy) {
            Ok(()) => return Ok(copy),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(_) => {
                let mut to = fs::OpenOptions::new().write(true).create_new(true).open(&copy)?;
                io::copy(&mut File::open(path)?, &mut to)?;
                to.sync_all()?;
                return Ok(copy);
            }
        }
    }
    Err(io::Error::other("no name is left"))
}
