//! The journal: an append-only file, one line a record, `CRC LENGTH JSON`, readable with any pager.
//!
//! CRC is the CRC-32C of the JSON in eight hexadecimal digits, LENGTH its bytes. Reading stops at the first line that
//! is not whole. If no whole record comes anywhere after it, it is what a crash left of the last write: it was never
//! acknowledged, and the next writer cuts it off. If one does, the file is damaged, and nothing is touched.
//!
//! A record counts once [`Journal::sync`] has returned. A write that fails, on a full disk above all, is taken back to
//! the last synced length and its records are kept for the next sync. A sync that fails otherwise leaves the system free
//! to forget what it was given, so the writer is then dead and the study has to be opened again.
//!
//! Only the owner of the lease writes. A file that is longer than what this writer wrote has another writer, and is
//! left alone.

mod follow;
mod salvage;
mod scan;

pub use follow::{Follower, News};
pub(crate) use salvage::{Salvage, rewrite, salvage};

use super::files::{self, Durable, is_full, step};
use super::format::{self, Format, Unreadable};
use super::ledger::Ledger;
use super::record::{Entry, Record};
use crate::{Error, Result};
use scan::{Found, Scanner};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// The file under a journal, as a trait so that failures can be tried.
trait Medium {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;
    fn sync(&mut self) -> io::Result<()>;
    fn truncate(&mut self, length: u64) -> io::Result<()>;
    fn length(&self) -> io::Result<u64>;
}

impl Medium for File {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.write_all(bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.sync_data()
    }

    fn truncate(&mut self, length: u64) -> io::Result<()> {
        self.set_len(length)
    }

    fn length(&self) -> io::Result<u64> {
        self.metadata().map(|metadata| metadata.len())
    }
}

/// The writer.
pub struct Journal {
    path: PathBuf,
    file: Box<dyn Medium + Send>,
    synced: u64,
    /// Lines to be written.
    pending: Vec<u8>,
    /// A write failed and could not be taken back: what lies beyond `synced` is ours.
    torn: bool,
    dead: bool,
}

impl std::fmt::Debug for Journal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Journal { path, synced, pending, dead, .. } = self;
        write!(f, "Journal {{ {path:?}, synced: {synced}, pending: {}, dead: {dead} }}", pending.len())
    }
}

impl Journal {
    /// Makes a journal with its first records: whatever interrupts this, the file is there with all of them or not at all.
    pub fn create(path: &Path, first: &[Entry]) -> Result<Journal> {
        let mut lines = vec![];
        for entry in first {
            encode(entry, &mut lines).map_err(Error::io("cannot record", path))?;
        }
        files::replace(path, &lines, Durable::Yes).map_err(Error::io("cannot create", path))?;
        let length = lines.len() as u64;
        Journal::open(path, length, length)
    }

    /// Opens the journal for appending. [`replay`] found it `length` bytes long and the first `whole` of them good; the
    /// rest is cut off.
    pub fn open(path: &Path, whole: u64, length: u64) -> Result<Journal> {
        let file = OpenOptions::new().append(true).open(path).map_err(Error::io("cannot open", path))?;
        let found = file.length().map_err(Error::io("cannot read", path))?;
        if found != length {
            return Err(changed(path, found, length));
        }
        if whole < length {
            file.set_len(whole).and_then(|()| file.sync_all()).map_err(Error::io("cannot cut", path))?;
            step("journal cut");
        }
        Ok(Journal::over(path, Box::new(file), whole))
    }

    fn over(path: &Path, file: Box<dyn Medium + Send>, synced: u64) -> Journal {
        Journal { path: path.to_owned(), file, synced, pending: vec![], torn: false, dead: false }
    }

    /// Adds a record, to be written by the next sync. One that could not be read back is refused.
    pub fn append(&mut self, entry: &Entry) -> Result<()> {
        encode(entry, &mut self.pending).map_err(Error::io("cannot record", &self.path))?;
        Ok(())
    }

    /// Whether everything appended is durable.
    pub fn is_synced(&self) -> bool {
        self.pending.is_empty()
    }

    /// Makes everything appended durable.
    pub fn sync(&mut self) -> Result<()> {
        if self.dead {
            let reason = "an earlier sync failed; run again to read what is on the disk";
            return Err(Error::io("cannot write", &self.path)(io::Error::other(reason)));
        }
        if self.pending.is_empty() {
            return Ok(());
        }
        if self.torn {
            self.take_back()?;
        }
        let length = self.file.length().map_err(Error::io("cannot read", &self.path))?;
        if length != self.synced {
            return Err(changed(&self.path, length, self.synced));
        }
        if let Err(source) = self.file.append(&self.pending) {
            // What is left to report is the failure of the write; the next sync tries again to take it back.
            self.torn = true;
            let _ = self.take_back();
            return Err(Error::io("cannot write", &self.path)(source));
        }
        step("journal written");
        if let Err(source) = self.file.sync() {
            // NFS and quotas tell of a full disk here. Truncated and written anew, the data are no worse off than before.
            if is_full(&source) {
                self.torn = true;
                let _ = self.take_back();
            } else {
                self.dead = true;
            }
            return Err(Error::io("cannot sync", &self.path)(source));
        }
        step("journal synced");
        self.synced += self.pending.len() as u64;
        self.pending.clear();
        Ok(())
    }

    fn take_back(&mut self) -> Result<()> {
        self.file.truncate(self.synced).map_err(Error::io("cannot cut", &self.path))?;
        self.torn = false;
        Ok(())
    }
}

fn changed(path: &Path, found: u64, expected: u64) -> Error {
    let reason = format!("its size is {found} B where {expected} B were left: someone else changes it");
    Error::io("cannot append to", path)(io::Error::other(reason))
}

/// Adds the line of a record.
fn encode(entry: &Entry, lines: &mut Vec<u8>) -> io::Result<()> {
    let json = format::encode(entry).map_err(|what| io::Error::new(io::ErrorKind::InvalidData, what))?;
    write!(lines, "{:08x} {} ", crc32c::crc32c(&json), json.len())?;
    lines.extend_from_slice(&json);
    lines.push(b'\n');
    Ok(())
}

/// What a journal holds.
#[derive(Debug)]
pub struct Replay {
    /// The state after all whole records.
    pub ledger: Ledger,
    /// Bytes of whole records.
    pub whole: u64,
    /// Bytes of the file when it was read; more than `whole` if it ends in a torn record.
    pub length: u64,
}

/// Reads a journal. Changes nothing.
pub fn replay(path: &Path) -> Result<Replay> {
    let file = File::open(path).map_err(Error::io("cannot open", path))?;
    let length = file.length().map_err(Error::io("cannot read", path))?;
    replay_from(path, file, length)
}

fn replay_from(path: &Path, input: impl Read, length: u64) -> Result<Replay> {
    let mut ledger = None;
    let scanner = Scanner::new(input, 0, length);
    let whole = fold(path, scanner, &mut None, |entry, _| begin_or_apply(&mut ledger, &entry))?;
    let nothing = "there is no whole record".to_owned();
    let ledger = ledger.ok_or(Error::Corrupt { path: path.to_owned(), offset: 0, what: nothing })?;
    Ok(Replay { ledger, whole, length })
}

fn begin_or_apply(ledger: &mut Option<Ledger>, entry: &Entry) -> std::result::Result<(), String> {
    match ledger {
        None => Ledger::begin(entry).map(|begun| *ledger = Some(begun)),
        Some(ledger) => ledger.apply(entry),
    }
}

/// Gives each record that a scanner finds to `take`, with the place of its end; `take` says what does not add up. Returns
/// where the last whole record ends. What follows it is torn; if more whole records do, that is damage and an error.
fn fold(
    path: &Path,
    mut scanner: Scanner<impl Read>,
    format: &mut Option<Format>,
    mut take: impl FnMut(Entry, u64) -> std::result::Result<(), String>,
) -> Result<u64> {
    let corrupt = |offset, what| Error::Corrupt { path: path.to_owned(), offset, what };
    let read_error = |source| Error::io("cannot read", path)(source);
    let length = scanner.length;
    loop {
        let offset = scanner.offset();
        let json = match scanner.next().map_err(read_error)? {
            Found::Record(json) => json,
            Found::Nothing(_) if offset == length && offset > 0 => return Ok(offset),
            Found::Nothing(what) => {
                if scanner.find().map_err(read_error)? {
                    return Err(corrupt(offset, format!("{what}, and whole records follow")));
                }
                if offset == 0 {
                    return Err(corrupt(offset, format!("{what}, and there is no whole record")));
                }
                return Ok(offset);
            }
        };
        let entry = decode(path, offset, json, format)?;
        take(entry, scanner.whole).map_err(|what| corrupt(offset, what))?;
    }
}

/// The record in a line that is whole. `format` is that of the journal so far, and after it.
fn decode(path: &Path, offset: u64, json: &[u8], format: &mut Option<Format>) -> Result<Entry> {
    let entry = format::decode(json, *format).map_err(|why| match why {
        Unreadable::Newer(found) => {
            let (found, known) = (found.to_string(), Format::NEWEST.to_string());
            Error::Newer { path: path.to_owned(), found, known }
        }
        Unreadable::Damaged(what) => Error::Corrupt { path: path.to_owned(), offset, what },
    })?;
    if let Record::Created { format: begun, .. } | Record::Raised { format: begun, .. } = &entry.record {
        *format = Some(*begun);
    }
    Ok(entry)
}

#[cfg(test)]
mod tests;
