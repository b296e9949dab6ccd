//! The lease: which driver owns a study. One file per epoch, `lease/000007`; the newest names the owner.
//!
//! A driver takes the study by making the file of the next epoch, which only one can. It may do so when the owner has
//! released it or is dead, which is certain on the owner's host only. An owner on another host must have been silent for
//! a minute and the user must say that it is gone; if it was not, it finds the newer epoch at its next sync and stops.
//!
//! Silence is measured by the file system's own clock, the age of the lease file beside a file written now: clocks of
//! hosts differ. It keeps a mistake from being easy. What keeps it from doing harm is the epoch: every sync looks for a
//! newer one first.
//!
//! An advisory lock on `lease/lock` closes the gap between looking and taking for processes of one host that see
//! each other wrongly, as in containers. Where a file system has no locks, work goes on without.

use super::files::{self, Durable};
use super::process::Process;
use crate::layout::Layout;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// An owner this long silent may be taken for gone: six missed beats.
pub const SILENCE: Duration = Duration::from_secs(60);

/// Between two signs of life, in milliseconds.
const BEAT_MS: u64 = 10_000;

/// How long a lock may outlive its owner: a child that was just forked keeps it until it becomes its own program.
const LEAVING: Duration = Duration::from_secs(5);

/// How long a process that was killed may still be seen: its memory is given back first.
const DYING: Duration = Duration::from_secs(1);

/// Files of former epochs that stay, for people.
const KEPT: u64 = 3;

/// What a lease file says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Content {
    #[serde(flatten)]
    process: Process,
    #[serde(default)]
    released: bool,
    /// When the owner last wrote this, ms since 1970 by its own clock; for people.
    #[serde(default)]
    beat: u64,
}

/// What is known of an owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It left in good order.
    Released,
    /// It runs on this host.
    Alive,
    /// It ran on this host and is gone.
    Dead,
    /// It runs, or ran, on another host.
    Elsewhere {
        /// How long it has not given a sign of life.
        silent: Duration,
    },
    /// Its file cannot be read: it is being written, or a crash emptied it.
    Unreadable {
        /// Age of the file.
        silent: Duration,
    },
}

/// The owner of a study.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    /// Its epoch.
    pub epoch: u64,
    /// Who it is, if that can be read.
    pub process: Option<Process>,
    /// What is known of it.
    pub standing: Standing,
}

impl Owner {
    /// The newest owner, if there ever was one. `seen_from` is this process.
    pub fn find(layout: &Layout, seen_from: &Process) -> Result<Option<Owner>> {
        let folder = layout.lease();
        // The file is there under its name for as long as it is the newest: only taking over removes files.
        let Some(epoch) = newest(&folder)? else { return Ok(None) };
        let path = folder.join(name(epoch));
        let mut text = String::new();
        let mut file = File::open(&path).map_err(Error::io("cannot open", &path))?;
        file.read_to_string(&mut text).map_err(Error::io("cannot read", &path))?;
        let Ok(content) = serde_json::from_str::<Content>(&text) else {
            let standing = Standing::Unreadable { silent: silence(&folder, &file)? };
            return Ok(Some(Owner { epoch, process: None, standing }));
        };
        let process = content.process;
        let standing = if content.released {
            Standing::Released
        } else if process.host != seen_from.host {
            Standing::Elsewhere { silent: silence(&folder, &file)? }
        } else if process.is_alive(seen_from) {
            Standing::Alive
        } else {
            Standing::Dead
        };
        Ok(Some(Owner { epoch, process: Some(process), standing }))
    }

    /// The owner is not known to be gone: it may be writing.
    pub fn may_write(&self) -> bool {
        !matches!(self.standing, Standing::Released | Standing::Dead)
    }

    /// None if the study can be taken, else what to do.
    fn obstacle(&self, take_over: bool) -> Option<String> {
        match self.standing {
            Standing::Released | Standing::Dead => None,
            Standing::Alive => {
                let pid = self.process.as_ref().map_or(0, |process| process.pid);
                Some(format!("wait for it, or stop it with Ctrl-C or `kill {pid}`"))
            }
            Standing::Elsewhere { silent } if silent < SILENCE => Some(format!(
                "it gave a sign of life {} s ago: stop it there; if it is gone, `tribo run --take-over` works {} s after the last sign",
                silent.as_secs(),
                SILENCE.as_secs(),
            )),
            Standing::Elsewhere { .. } if take_over => None,
            Standing::Elsewhere { silent } => Some(format!(
                "it has been silent for {} s: if it is gone, take the study over with `tribo run --take-over`",
                silent.as_secs(),
            )),
            // A live owner would have written its file again.
            Standing::Unreadable { silent } if silent >= SILENCE => None,
            Standing::Unreadable { .. } => Some("it is only starting: try again in a minute".to_owned()),
        }
    }

    fn locked(&self, store: &Path, advice: String) -> Error {
        let (host, pid) = match &self.process {
            Some(process) => (process.host.clone(), process.pid),
            None => ("an unknown host".to_owned(), 0),
        };
        Error::Locked { path: store.to_owned(), host, pid, advice }
    }
}

/// Ownership of a study, given back when dropped.
#[derive(Debug)]
pub struct Lease {
    store: PathBuf,
    folder: PathBuf,
    epoch: u64,
    process: Process,
    beat: u64,
    released: bool,
    /// Held as long as the lease is, where the file system has locks.
    lock: Option<File>,
}

impl Lease {
    /// Takes the study for this process, or says who has it.
    pub fn acquire(layout: &Layout, me: &Process, take_over: bool, utc_ms: u64) -> Result<Lease> {
        let folder = layout.lease();
        files::make_private(&folder).map_err(Error::io("cannot create", &folder))?;
        let mut lock = None;
        let (end, dying) = (Instant::now() + LEAVING, Instant::now() + DYING);
        loop {
            let owner = Owner::find(layout, me)?;
            if let Some(owner) = &owner
                && let Some(advice) = owner.obstacle(take_over)
            {
                if owner.standing == Standing::Alive && Instant::now() < dying {
                    std::thread::sleep(Duration::from_millis(10));
                    continue;
                }
                return Err(owner.locked(layout.store(), advice));
            }
            if lock.is_none() {
                match try_lock(&folder, owner.as_ref())? {
                    Lock::Held(file) => lock = Some(Some(file)),
                    Lock::Without => lock = Some(None),
                    Lock::Busy if Instant::now() < end => {
                        std::thread::sleep(Duration::from_millis(10));
                        continue;
                    }
                    Lock::Busy => {
                        let advice =
                            "another process is taking the study or leaving it: try again in a moment";
                        let unknown = Owner { epoch: 0, process: None, standing: Standing::Alive };
                        return Err(owner.unwrap_or(unknown).locked(layout.store(), advice.to_owned()));
                    }
                }
            }
            let epoch = owner.map_or(0, |owner| owner.epoch) + 1;
            let content = Content { process: me.clone(), released: false, beat: utc_ms };
            // If another took this epoch meanwhile, it is the owner now: look again.
            if create(&folder, epoch, &content)? {
                let lease = Lease {
                    store: layout.store().to_owned(),
                    folder,
                    epoch,
                    process: me.clone(),
                    beat: utc_ms,
                    released: false,
                    lock: lock.flatten(),
                };
                lease.remove_old();
                return Ok(lease);
            }
        }
    }

    /// The epoch.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Moves on to an epoch after `above`, which the journal has seen: lease files can be lost, with a backup for one.
    pub fn raise(&mut self, above: u64) -> Result<()> {
        if self.epoch > above {
            return Ok(());
        }
        let content = Content { process: self.process.clone(), released: false, beat: self.beat };
        if !create(&self.folder, above + 1, &content)? {
            return Err(Error::TakenOver { path: self.store.clone(), epoch: above + 1 });
        }
        self.epoch = above + 1;
        self.remove_old();
        Ok(())
    }

    /// A sign of life, if the last is ten seconds old.
    pub fn beat(&mut self, utc_ms: u64) -> Result<()> {
        if utc_ms.abs_diff(self.beat) < BEAT_MS {
            return Ok(());
        }
        self.beat = utc_ms;
        self.rewrite()
    }

    /// An error if another driver has taken the study.
    pub fn check(&self) -> Result<()> {
        match newest(&self.folder)? {
            Some(epoch) if epoch > self.epoch => Err(Error::TakenOver { path: self.store.clone(), epoch }),
            _ => Ok(()),
        }
    }

    /// Gives the study back.
    pub fn release(&mut self) -> Result<()> {
        if self.released {
            return Ok(());
        }
        self.released = true;
        self.rewrite()
    }

    fn rewrite(&self) -> Result<()> {
        let path = self.folder.join(name(self.epoch));
        let content = Content { process: self.process.clone(), released: self.released, beat: self.beat };
        files::replace(&path, &json(&content)?, Durable::No).map_err(Error::io("cannot write", &path))
    }

    /// Best effort: old files do no harm.
    fn remove_old(&self) {
        for epoch in epochs(&self.folder).unwrap_or_default() {
            if epoch + KEPT < self.epoch {
                let _ = fs::remove_file(self.folder.join(name(epoch)));
            }
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        // A lease that cannot be given back belongs to a dead process soon.
        let _ = self.release();
        // By name: a process forked from this one has the file open too, and closing ours would not be enough.
        let _ = self.lock.as_ref().map(File::unlock);
    }
}

fn name(epoch: u64) -> String {
    format!("{epoch:06}")
}

fn json(content: &Content) -> Result<Vec<u8>> {
    serde_json::to_vec(content).map_err(|error| Error::io("cannot write", "lease")(error.into()))
}

fn create(folder: &Path, epoch: u64, content: &Content) -> Result<bool> {
    let path = folder.join(name(epoch));
    files::create_exclusive(&path, &json(content)?).map_err(Error::io("cannot create", &path))
}

/// The epochs with a file, in no order.
fn epochs(folder: &Path) -> Result<Vec<u64>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(vec![]),
        entries => entries.map_err(Error::io("cannot list", folder))?,
    };
    let mut epochs = vec![];
    for entry in entries {
        let entry = entry.map_err(Error::io("cannot list", folder))?;
        let name = entry.file_name();
        let digits = name.to_str().filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()));
        epochs.extend(digits.and_then(|digits| digits.parse::<u64>().ok()));
    }
    Ok(epochs)
}

fn newest(folder: &Path) -> Result<Option<u64>> {
    Ok(epochs(folder)?.into_iter().max())
}

/// How long ago a file was written, by the clock of its file system.
fn silence(folder: &Path, file: &File) -> Result<Duration> {
    let probe = folder.join(format!(".now.{}", std::process::id()));
    let written = file.metadata().and_then(|metadata| metadata.modified());
    let now = fs::write(&probe, b"now").and_then(|()| fs::metadata(&probe)?.modified());
    let _ = fs::remove_file(&probe);
    let (written, now) = (written.map_err(Error::io("cannot read", folder))?, now);
    // A reader of a study that it cannot write has only its own clock.
    let now = now.unwrap_or_else(|_| std::time::SystemTime::now());
    Ok(now.duration_since(written).unwrap_or_default())
}

/// What came of asking for the lock.
enum Lock {
    Held(File),
    /// The file system has none, or its server keeps that of a host which is gone.
    Without,
    /// Another process has it.
    Busy,
}

fn try_lock(folder: &Path, owner: Option<&Owner>) -> Result<Lock> {
    let path = folder.join("lock");
    let mut options = OpenOptions::new();
    let file = options.create(true).append(true).mode(0o600).open(&path);
    let file = file.map_err(Error::io("cannot open", &path))?;
    Ok(match file.try_lock() {
        Ok(()) => Lock::Held(file),
        Err(TryLockError::Error(_)) => Lock::Without,
        // The user has said that the other host is gone.
        Err(TryLockError::WouldBlock)
            if owner.is_some_and(|owner| matches!(owner.standing, Standing::Elsewhere { .. })) =>
        {
            Lock::Without
        }
        Err(TryLockError::WouldBlock) => Lock::Busy,
    })
}

#[cfg(test)]
mod tests;
