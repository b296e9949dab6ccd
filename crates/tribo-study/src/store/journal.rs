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

use super::files::{self, Durable, step};
use super::format::{self, Format, Unreadable};
use super::ledger::Ledger;
use super::record::Entry;
use crate::{Error, Result};
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

/// Whether space, once made, would help.
fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
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
    let corrupt = |offset, what| Error::Corrupt { path: path.to_owned(), offset, what };
    let read_error = |source| Error::io("cannot read", path)(source);
    let mut scanner = Scanner::new(input, length);
    let mut ledger: Option<Ledger> = None;
    loop {
        let offset = scanner.offset();
        let found = scanner.next().map_err(read_error)?;
        let json = match found {
            Place::Record(json) => json,
            Place::Nothing(_) if offset == length && ledger.is_some() => break,
            Place::Nothing(what) => {
                if scanner.any_record_follows().map_err(read_error)? {
                    return Err(corrupt(offset, format!("{what}, and whole records follow")));
                }
                if ledger.is_none() {
                    return Err(corrupt(offset, format!("{what}, and there is no whole record")));
                }
                break;
            }
        };
        let entry =
            format::decode(json, ledger.as_ref().map(|ledger| ledger.format)).map_err(|why| match why {
                Unreadable::Newer(found) => {
                    let (found, known) = (found.to_string(), Format::NEWEST.to_string());
                    Error::Newer { path: path.to_owned(), found, known }
                }
                Unreadable::Damaged(what) => corrupt(offset, what),
            })?;
        match &mut ledger {
            None => ledger = Some(Ledger::begin(&entry).map_err(|what| corrupt(offset, what))?),
            Some(ledger) => ledger.apply(&entry).map_err(|what| corrupt(offset, what))?,
        }
    }
    let whole = scanner.whole;
    let ledger = ledger.ok_or_else(|| corrupt(0, "there is no whole record".to_owned()))?;
    Ok(Replay { ledger, whole, length })
}

/// What stands at a place of the file.
enum Place<'a> {
    /// The JSON of a whole record.
    Record(&'a [u8]),
    /// None, and why.
    Nothing(&'static str),
}

/// A window that moves over the file.
struct Scanner<R> {
    input: io::Take<R>,
    buffer: Vec<u8>,
    /// Where in the buffer the next record is looked for.
    start: usize,
    /// Where in the file the buffer begins.
    base: u64,
    length: u64,
    /// Where in the file the last whole record ended.
    whole: u64,
}

impl<R: Read> Scanner<R> {
    const CHUNK: u64 = 1 << 18;

    fn new(input: R, length: u64) -> Scanner<R> {
        Scanner { input: input.take(length), buffer: vec![], start: 0, base: 0, length, whole: 0 }
    }

    fn offset(&self) -> u64 {
        self.base + self.start as u64
    }

    /// Has `count` bytes in the window, or all that are left.
    fn fill(&mut self, count: usize) -> io::Result<()> {
        if self.buffer.len() - self.start >= count {
            return Ok(());
        }
        self.buffer.drain(..self.start);
        self.base += self.start as u64;
        self.start = 0;
        while self.buffer.len() < count {
            if self.input.by_ref().take(Self::CHUNK).read_to_end(&mut self.buffer)? == 0 {
                break;
            }
        }
        Ok(())
    }

    /// The record at this place, and on to the next.
    fn next(&mut self) -> io::Result<Place<'_>> {
        // Checksum, length and two spaces.
        self.fill(8 + 1 + 19 + 1)?;
        let (checksum, length, header) = match parse_header(&self.buffer[self.start..]) {
            Ok(header) => header,
            Err(what) => return Ok(Place::Nothing(what)),
        };
        // A length that is damaged must not make us read, or keep, more than there is.
        let total = length.saturating_add(header as u64 + 1);
        if total > self.length - self.offset() {
            return Ok(Place::Nothing("a record is longer than the file"));
        }
        let total = total as usize;
        self.fill(total)?;
        let Some(line) = self.buffer.get(self.start..self.start + total) else {
            return Ok(Place::Nothing("the file became shorter while it was read"));
        };
        let json = &line[header..total - 1];
        if line[total - 1] != b'\n' {
            return Ok(Place::Nothing("a record does not end where it should"));
        }
        if crc32c::crc32c(json) != checksum {
            return Ok(Place::Nothing("a checksum does not match"));
        }
        self.start += total;
        self.whole = self.base + self.start as u64;
        Ok(Place::Record(&self.buffer[self.start - total + header..self.start - 1]))
    }

    /// Looks for a whole record after this place, at every byte: damage may have hit a line's end as well.
    fn any_record_follows(&mut self) -> io::Result<bool> {
        let whole = self.whole;
        let mut found = false;
        while !found && self.offset() < self.length {
            self.fill(1)?;
            if self.start == self.buffer.len() {
                break;
            }
            self.start += 1;
            found = matches!(self.next()?, Place::Record(_));
        }
        self.whole = whole;
        Ok(found)
    }
}

/// Checksum, length of the JSON, and where it begins. Only what `encode` writes is taken.
fn parse_header(bytes: &[u8]) -> std::result::Result<(u32, u64, usize), &'static str> {
    let digits = bytes.get(..8).ok_or("the file ends within a checksum")?;
    let mut checksum = 0;
    for &digit in digits {
        let value = match digit {
            b'0'..=b'9' => digit - b'0',
            b'a'..=b'f' => digit - b'a' + 10,
            _ => return Err("there is no checksum"),
        };
        checksum = checksum << 4 | u32::from(value);
    }
    if bytes.get(8) != Some(&b' ') {
        return Err("there is no space after a checksum");
    }
    let (mut length, mut at) = (0, 9);
    while let Some(&digit @ b'0'..=b'9') = bytes.get(at)
        && at < 9 + 18
    {
        length = 10 * length + u64::from(digit - b'0');
        at += 1;
    }
    let leading_zero = bytes.get(9) == Some(&b'0');
    match at == 9 || leading_zero || bytes.get(at) != Some(&b' ') {
        true => Err("there is no length"),
        false => Ok((checksum, length, at + 1)),
    }
}

#[cfg(test)]
mod tests;
