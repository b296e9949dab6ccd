//! A journal read as it grows, by whoever looks on: no lease, nothing changed, never again from the beginning.
//!
//! A look costs what is new, and one more reading of the last record: if that is no longer what it was, or the file is
//! another one or shorter, the journal was replaced (`tribo repair`, a backup) or a driver took back what it could not make
//! durable, and the follower starts over. A record that is only being written is waited for.

use super::scan::Scanner;
use super::{Medium, begin_or_apply, fold};
use crate::layout::Layout;
use crate::store::format::Format;
use crate::store::ledger::Ledger;
use crate::store::record::Entry;
use crate::{Error, Result};
use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

/// Reads a journal from where it was.
#[derive(Debug)]
pub struct Follower {
    path: PathBuf,
    /// Kept open: as long as it is, no other file has its number.
    file: File,
    ledger: Ledger,
    /// Where the last whole record ends.
    whole: u64,
    /// The last bytes before that.
    end: Vec<u8>,
    /// Bytes of the file at the last look.
    length: u64,
}

/// What a look has found.
#[derive(Debug, Clone, PartialEq)]
pub struct News {
    /// The journal is not the one that was followed, or was shortened: `entries` are all of it.
    pub restarted: bool,
    /// Records since the last look.
    pub entries: Vec<Entry>,
}

/// Bytes that tell the end of one journal from that of another: they hold a checksum or two, and numbers and times of
/// records.
const END: u64 = 256;

impl Follower {
    /// Opens the journal of a study and reads all that is there.
    pub fn open(layout: &Layout) -> Result<Follower> {
        let path = layout.journal();
        match path.try_exists().map_err(Error::io("cannot read", &path))? {
            true => Follower::begin(path, &mut |_| {}),
            false => Err(layout.missing()),
        }
    }

    /// Reads what was added. Records before a damage are given first; the look after that is the error.
    pub fn refresh(&mut self) -> Result<News> {
        let mut entries = vec![];
        let restarted = !self.is_same().map_err(Error::io("cannot read", &self.path))?;
        let read = match restarted {
            true => {
                Follower::begin(self.path.clone(), &mut |entry| entries.push(entry)).map(|anew| *self = anew)
            }
            false => self.read_on(&mut entries),
        };
        match read {
            Err(error) if restarted || entries.is_empty() => Err(error),
            _ => Ok(News { restarted, entries }),
        }
    }

    /// The state after all records read.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// The state, for good.
    pub fn into_ledger(self) -> Ledger {
        self.ledger
    }

    /// Bytes after the last whole record, at the last look.
    pub fn torn(&self) -> u64 {
        self.length - self.whole
    }

    fn begin(path: PathBuf, each: &mut dyn FnMut(Entry)) -> Result<Follower> {
        let mut file = File::open(&path).map_err(Error::io("cannot open", &path))?;
        let (mut ledger, mut whole) = (None, 0);
        let length = patiently(&path, &mut file, &mut whole, None, |entry| {
            begin_or_apply(&mut ledger, &entry)?;
            each(entry);
            Ok(())
        })?;
        let nothing = "there is no whole record".to_owned();
        let ledger = ledger.ok_or(Error::Corrupt { path: path.clone(), offset: 0, what: nothing })?;
        let mut follower = Follower { path, file, ledger, whole, end: vec![], length };
        follower.remember_end()?;
        Ok(follower)
    }

    fn read_on(&mut self, entries: &mut Vec<Entry>) -> Result<()> {
        let Follower { path, file, ledger, whole, .. } = self;
        let format = Some(ledger.format);
        let length = patiently(path, file, whole, format, |entry| {
            ledger.apply(&entry)?;
            entries.push(entry);
            Ok(())
        });
        // Also of what was good before a damage.
        self.remember_end()?;
        self.length = length?;
        Ok(())
    }

    fn remember_end(&mut self) -> Result<()> {
        let length = self.whole.min(END);
        self.end.resize(length as usize, 0);
        let read = self.file.read_exact_at(&mut self.end, self.whole - length);
        read.map_err(Error::io("cannot read", &self.path))
    }

    /// Whether the file is the one that was read, with what was read still in it.
    fn is_same(&self) -> io::Result<bool> {
        let (there, here) = (fs::metadata(&self.path)?, self.file.metadata()?);
        if (there.dev(), there.ino()) != (here.dev(), here.ino()) || there.len() < self.whole {
            return Ok(false);
        }
        let mut end = vec![0; self.end.len()];
        self.file.read_exact_at(&mut end, self.whole - self.end.len() as u64)?;
        Ok(end == self.end)
    }
}

/// Reads on from `whole`, which moves with what is read, and returns the length of the file. On a network file system a
/// journal that grows may show its end before its middle: what looks like damage is looked at again as long as the length
/// changes, five times in all.
fn patiently(
    path: &Path,
    file: &mut File,
    whole: &mut u64,
    mut format: Option<Format>,
    mut take: impl FnMut(Entry) -> std::result::Result<(), String>,
) -> Result<u64> {
    let mut looks = 0;
    loop {
        let length = file.length().map_err(Error::io("cannot read", path))?;
        file.seek(SeekFrom::Start(*whole)).map_err(Error::io("cannot read", path))?;
        let scanner = Scanner::new(&*file, *whole, length);
        let folded = fold(path, scanner, &mut format, |entry, end| take(entry).map(|()| *whole = end));
        looks += 1;
        match folded {
            Err(Error::Corrupt { .. }) if looks < 5 && file.length().is_ok_and(|now| now != length) => {}
            folded => return folded.map(|_| length),
        }
    }
}

#[cfg(test)]
mod tests;
