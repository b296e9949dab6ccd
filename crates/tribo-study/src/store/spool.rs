//! The spool: answers that jobs leave in `done`, read, checked, and put away in `seen`.
//!
//! An answer is a regular file of our own that nobody else could have written, of at most a megabyte, that names an
//! attempt of this study which was intended, with its tag. Anything else is moved to `seen/rejected-...` with a reason. An
//! answer is in place as a whole (jobs write it elsewhere and link it), so one that cannot be parsed will not get better.
//! A file that cannot be read for a reason of the file system may get better, and stays.
//!
//! Order is by time of modification, then by name: of what the files are, not of how a folder lists them. What
//! duplicates and late answers mean is for the driver to decide.

use super::files;
use super::files::step;
use crate::job::{Answer, JOB_VERSION, Kind, Spec};
use crate::tag::{AttemptId, StudyId, Tag};
use crate::{Error, Result};
use rustix::fs::OFlags;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// The largest answer, in bytes. The largest a job writes is some 100 kB, most of it the end of standard error.
const LARGEST: u64 = 1 << 20;

/// Answers that stay in `seen`, for people; a tenth more before the oldest are removed.
const KEPT: usize = 1000;

/// How names in `seen` begin of what was no answer to anything the journal knew.
const REJECTED: &str = "rejected-";

/// What tells answers in the spool apart.
type Key = (AttemptId, u32, Kind);

/// The spool of a study.
#[derive(Debug)]
pub(super) struct Spool {
    study: StudyId,
    store: PathBuf,
    done: PathBuf,
    seen: PathBuf,
    /// Answers given to this driver and not settled, with the names of their files.
    given: BTreeMap<Key, Vec<OsString>>,
    /// Files that need no second look, or no second complaint.
    known: BTreeSet<OsString>,
    troubled: BTreeSet<OsString>,
    n_seen: usize,
}

/// What became of a file.
enum Reading {
    Answer(Box<Answer>),
    Rejected(String),
    Unreadable(io::Error),
}

impl Spool {
    pub(super) fn open(layout: &crate::layout::Layout, study: &StudyId) -> Result<Spool> {
        let seen = layout.spool("seen");
        let n_seen = fs::read_dir(&seen).map_err(Error::io("cannot list", &seen))?.count();
        Ok(Spool {
            study: study.clone(),
            store: layout.store().to_owned(),
            done: layout.spool("done"),
            seen,
            given: BTreeMap::new(),
            known: BTreeSet::new(),
            troubled: BTreeSet::new(),
            n_seen,
        })
    }

    /// New answers, and complaints; see [`super::Store::harvest`]. `intended` says whether the journal has an attempt.
    pub(super) fn harvest(
        &mut self,
        intended: impl Fn(AttemptId) -> bool,
    ) -> Result<(Vec<Answer>, Vec<String>)> {
        let (mut answers, mut complaints) = (vec![], vec![]);
        let fresh = self.fresh()?;
        let private = is_private(&self.store);
        for name in fresh {
            match read(&self.done.join(&name), &name, private, &self.study, &intended) {
                Reading::Answer(answer) => {
                    let key = (answer.id, answer.incarnation, answer.finding.kind);
                    self.given.entry(key).or_default().push(name.clone());
                    self.known.insert(name);
                    answers.push(*answer);
                }
                Reading::Rejected(reason) => complaints.push(self.reject(name, &reason)),
                Reading::Unreadable(error) if error.kind() == io::ErrorKind::NotFound => {}
                Reading::Unreadable(error) => {
                    if self.troubled.insert(name.clone()) {
                        complaints.push(format!("spool/done/{} cannot be read yet: {error}", name.display()));
                    }
                }
            }
        }
        Ok((answers, complaints))
    }

    /// Names in `done` that were not given yet, oldest first.
    fn fresh(&self) -> Result<Vec<OsString>> {
        let mut fresh = vec![];
        for entry in fs::read_dir(&self.done).map_err(Error::io("cannot list", &self.done))? {
            let entry = entry.map_err(Error::io("cannot list", &self.done))?;
            let name = entry.file_name();
            if files::is_hidden(&name) || self.known.contains(&name) {
                continue;
            }
            // Gone again, if there is an error: nothing to give.
            if let Ok(metadata) = entry.metadata() {
                fresh.push((metadata.mtime(), metadata.mtime_nsec(), name));
            }
        }
        fresh.sort();
        Ok(fresh.into_iter().map(|(_, _, name)| name).collect())
    }

    fn reject(&mut self, name: OsString, reason: &str) -> String {
        let mut aside = OsString::from(REJECTED);
        aside.push(&name);
        let complaint = format!("spool/done/{} is not an answer of this study: {reason}", name.display());
        match fs::rename(self.done.join(&name), self.seen.join(&aside)) {
            Ok(()) => {
                self.n_seen += 1;
                format!("{complaint}; it is now spool/seen/{}", aside.display())
            }
            Err(error) => {
                self.known.insert(name);
                format!("{complaint}; it could not be moved: {error}")
            }
        }
    }

    /// Moves an answer to `seen`. One that is there already, from before a crash, is no error.
    pub(super) fn settle(&mut self, answer: &Answer) -> Result<()> {
        let key = (answer.id, answer.incarnation, answer.finding.kind);
        let by_rule = || vec![OsString::from(Spec::spool_name(answer.id, answer.incarnation))];
        for name in self.given.remove(&key).unwrap_or_else(by_rule) {
            let path = self.done.join(&name);
            match fs::rename(&path, self.seen.join(&name)) {
                Ok(()) => self.n_seen += 1,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(Error::io("cannot put away", path)(error)),
            }
            step("answer put away");
            self.known.remove(&name);
        }
        if self.n_seen > KEPT + KEPT / 10 {
            self.trim()?;
        }
        Ok(())
    }

    /// Removes the oldest in `seen`.
    fn trim(&mut self) -> Result<()> {
        let mut files = vec![];
        for entry in fs::read_dir(&self.seen).map_err(Error::io("cannot list", &self.seen))? {
            let entry = entry.map_err(Error::io("cannot list", &self.seen))?;
            if let Ok(metadata) = entry.metadata() {
                files.push((metadata.mtime(), metadata.mtime_nsec(), entry.file_name()));
            }
        }
        files.sort();
        let excess = files.len().saturating_sub(KEPT);
        for (_, _, name) in &files[..excess] {
            // Best effort: whatever stays is tried again with the next hundred.
            let _ = fs::remove_file(self.seen.join(name));
        }
        self.n_seen = files.len() - excess;
        Ok(())
    }
}

/// The answers that lie in the spool, whatever became of them, with their files; also those that were set aside because the
/// journal did not know their attempts.
pub(super) fn all(layout: &crate::layout::Layout, study: &StudyId) -> Result<Vec<(Answer, PathBuf)>> {
    let mut answers = vec![];
    let private = is_private(layout.store());
    for folder in ["done", "seen"].map(|part| layout.spool(part)) {
        for entry in fs::read_dir(&folder).map_err(Error::io("cannot list", &folder))? {
            let path = entry.map_err(Error::io("cannot list", &folder))?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let name = OsString::from(name.strip_prefix(REJECTED).unwrap_or(&name));
            if let Reading::Answer(answer) = read(&path, &name, private, study, &|_| true) {
                answers.push((*answer, path));
            }
        }
    }
    Ok(answers)
}

fn read(
    path: &Path,
    name: &OsStr,
    private: bool,
    study: &StudyId,
    intended: &impl Fn(AttemptId) -> bool,
) -> Reading {
    let bytes = match read_own(path, private) {
        Ok(Ok(bytes)) => bytes,
        Ok(Err(reason)) => return Reading::Rejected(reason),
        Err(error) => return Reading::Unreadable(error),
    };
    match serde_json::from_slice::<Answer>(&bytes) {
        Ok(answer) => match objection(name, &answer, study, intended) {
            None => Reading::Answer(Box::new(answer)),
            Some(reason) => Reading::Rejected(reason),
        },
        Err(error) => Reading::Rejected(format!("it cannot be parsed: {error}")),
    }
}

fn objection(
    name: &OsStr,
    answer: &Answer,
    study: &StudyId,
    intended: &impl Fn(AttemptId) -> bool,
) -> Option<String> {
    let Answer { version, id, tag, .. } = answer;
    if *version > JOB_VERSION {
        return Some(format!("it has version {version}, this program reads version {JOB_VERSION}"));
    }
    if Tag::new(study, *id).as_ref() != Some(tag) {
        return Some(format!("it has the tag {tag}, which is not that of attempt {id}"));
    }
    if !intended(*id) {
        return Some(format!("it is of attempt {id}, which was never submitted"));
    }
    // The name is what people see: it must not tell of another trial than the content.
    (!belongs(name, *id)).then(|| format!("it is of attempt {id}, which its name does not say"))
}

/// Whether others cannot enter the store: a file there that they may write is then no danger.
fn is_private(store: &Path) -> bool {
    fs::metadata(store).is_ok_and(|metadata| metadata.mode() & 0o077 == 0)
}

fn belongs(name: &OsStr, id: AttemptId) -> bool {
    name.to_str().is_some_and(|name| name.starts_with(&format!("{id}.")))
}

/// The bytes of a file that is ours, or why it is not to be read.
fn read_own(path: &Path, private: bool) -> io::Result<std::result::Result<Vec<u8>, String>> {
    // A link could lead anywhere, and to open a pipe could take forever.
    let kind = fs::symlink_metadata(path)?.file_type();
    if !kind.is_file() {
        let what = if kind.is_symlink() { "a symbolic link" } else { "not a regular file" };
        return Ok(Err(format!("it is {what}")));
    }
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    if let Some(reason) = ownership(&file.metadata()?, private) {
        return Ok(Err(reason));
    }
    let mut bytes = vec![];
    File::take(file, LARGEST + 1).read_to_end(&mut bytes)?;
    Ok(match bytes.len() as u64 > LARGEST {
        true => Err(format!("it is larger than {LARGEST} bytes")),
        false => Ok(bytes),
    })
}

fn ownership(metadata: &Metadata, private: bool) -> Option<String> {
    let me = rustix::process::geteuid().as_raw();
    if !metadata.is_file() {
        return Some("it is not a regular file".to_owned());
    }
    if metadata.uid() != me {
        return Some(format!("it belongs to user {}, not to user {me}", metadata.uid()));
    }
    let writable = !private && metadata.mode() & 0o022 != 0;
    writable
        .then(|| "others may write it and can enter the store: close the store with `chmod 700`".to_owned())
}

#[cfg(test)]
mod tests;
