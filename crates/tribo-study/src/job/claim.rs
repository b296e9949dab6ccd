//! The claim: whoever creates the file owns the attempt, and everybody else stays away.
//!
//! A scheduler may run a job twice, restart it, or run it hours after the driver gave it up. The claim makes all of that
//! harmless: one file, created by a hard link, which is atomic on network file systems too and shows its whole content from
//! the first moment. A job that finds its own id in the claim was restarted and goes on as the next incarnation; one that
//! finds the driver's was revoked. The claim is never removed, and it is not synced: a machine that loses it in a power cut
//! loses the claimant too.

use super::identity::Stamp;
use super::{CLAIM_FILE, STARTED_FILE};
use crate::tag::Tag;
use serde::{Deserialize, Serialize};
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::Path;

const DRIVER: &str = "driver";

/// Content of the claim.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Claim {
    /// The attempt's tag, or `driver`.
    owner: String,
    #[serde(flatten)]
    by: Stamp,
}

/// Content of `started.json`: which process runs the attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Started {
    /// The process.
    #[serde(flatten)]
    pub by: Stamp,
    /// How often the scheduler has restarted the job.
    pub incarnation: u32,
}

impl Started {
    /// Reads it from an attempt's folder; None if the attempt has not started, or the file cannot be read.
    pub fn read(dir: &Path) -> Option<Started> {
        serde_json::from_slice(&fs::read(dir.join(STARTED_FILE)).ok()?).ok()
    }

    pub(crate) fn write(&self, dir: &Path) -> io::Result<()> {
        let temporary = dir.join(format!("{STARTED_FILE}.tmp"));
        fs::write(&temporary, serde_json::to_vec(self)?)?;
        fs::rename(&temporary, dir.join(STARTED_FILE))
    }
}

/// What came of claiming.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Claimed {
    /// The attempt is ours, for the first time.
    First,
    /// The attempt is ours from before a restart.
    Again,
    /// The driver gave the attempt up.
    ByDriver,
    /// Another job has it: its id and host.
    ByOther(String),
}

/// Claims an attempt for a job.
pub(super) fn take(dir: &Path, tag: &Tag, by: &Stamp) -> io::Result<Claimed> {
    let claim = Claim { owner: tag.to_string(), by: by.clone() };
    if create(dir, &claim)? {
        return Ok(Claimed::First);
    }
    Ok(match read(dir)? {
        // The reply to a successful link can get lost on a network; the content tells.
        Some(found) if found == claim => Claimed::First,
        Some(found) if found.owner == DRIVER => Claimed::ByDriver,
        Some(found) if found.by.job == by.job => Claimed::Again,
        Some(found) => Claimed::ByOther(format!("{} on {}", found.by.job, found.by.host)),
        None => Claimed::ByOther("a claim that cannot be read".into()),
    })
}

/// Claims an attempt for the driver, so that a job of it that turns up later does nothing. True if the driver has the
/// claim, now or from before; false if a job has it.
pub fn claim_as_driver(dir: &Path) -> io::Result<bool> {
    let claim = Claim { owner: DRIVER.into(), by: Stamp::here(&[]) };
    Ok(create(dir, &claim)? || read(dir)?.is_some_and(|found| found.owner == DRIVER))
}

/// Whether the claim was created; false if there is one.
fn create(dir: &Path, claim: &Claim) -> io::Result<bool> {
    let path = dir.join(CLAIM_FILE);
    // The common case of a claim that is there already should not write anything.
    if path.exists() {
        return Ok(false);
    }
    let temporary = dir.join(format!("{CLAIM_FILE}.{}.{}.{}", claim.by.host, claim.by.pid, claim.owner));
    let content = serde_json::to_vec(claim)?;
    fs::write(&temporary, &content)?;
    let linked = fs::hard_link(&temporary, &path);
    fs::remove_file(&temporary)?;
    match linked {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
        Err(error) if no_links(&error) => create_exclusively(&path, &content),
        Err(error) => Err(error),
    }
}

/// For file systems without hard links: exclusive as well, but its content comes a moment later.
fn create_exclusively(path: &Path, content: &[u8]) -> io::Result<bool> {
    match OpenOptions::new().write(true).create_new(true).open(path) {
        Ok(mut file) => file.write_all(content).map(|()| true),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error),
    }
}

/// Whether a file system says that it has no hard links, or none here.
pub(super) fn no_links(error: &io::Error) -> bool {
    use ErrorKind::{CrossesDevices, PermissionDenied, TooManyLinks, Unsupported};
    matches!(error.kind(), CrossesDevices | PermissionDenied | TooManyLinks | Unsupported)
}

fn read(dir: &Path) -> io::Result<Option<Claim>> {
    let content = io::read_to_string(File::open(dir.join(CLAIM_FILE))?)?;
    Ok(serde_json::from_str(&content).ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tag::{AttemptId, StudyId};
    use std::sync::Barrier;

    fn stamp(job: &str) -> Stamp {
        Stamp { job: job.into(), ..Stamp::here(&[]) }
    }

    fn tag() -> Tag {
        Tag::new(&StudyId::from_bits(7), AttemptId { trial: 3, attempt: 1 }).unwrap()
    }

    #[test]
    fn fault_07_one_of_two_copies_gets_the_attempt() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(take(folder.path(), &tag(), &stamp("slurm:1")).unwrap(), Claimed::First);
        let second = take(folder.path(), &tag(), &stamp("slurm:2")).unwrap();
        assert!(matches!(&second, Claimed::ByOther(who) if who.starts_with("slurm:1 on ")), "{second:?}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn fault_45_a_restarted_job_finds_its_own_claim() {
        let folder = tempfile::tempdir().unwrap();
        take(folder.path(), &tag(), &stamp("pbs:7[1].head")).unwrap();
        let restarted = Stamp { pid: 1, ..stamp("pbs:7[1].head") };
        assert_eq!(take(folder.path(), &tag(), &restarted).unwrap(), Claimed::Again);
    }

    #[test]
    fn fault_51_a_revoked_job_stays_away() {
        let folder = tempfile::tempdir().unwrap();
        assert!(claim_as_driver(folder.path()).unwrap());
        assert!(claim_as_driver(folder.path()).unwrap(), "revoking twice is revoking");
        assert_eq!(take(folder.path(), &tag(), &stamp("slurm:1")).unwrap(), Claimed::ByDriver);
        let other = tempfile::tempdir().unwrap();
        take(other.path(), &tag(), &stamp("slurm:1")).unwrap();
        assert!(!claim_as_driver(other.path()).unwrap());
        assert!(claim_as_driver(&other.path().join("missing")).is_err());
    }

    #[test]
    fn a_broken_claim_belongs_to_somebody_else() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(CLAIM_FILE), "{\"owner\":").unwrap();
        assert!(matches!(take(folder.path(), &tag(), &stamp("a")).unwrap(), Claimed::ByOther(_)));
        assert!(!claim_as_driver(folder.path()).unwrap());
    }

    #[test]
    fn many_at_once_and_one_wins() {
        let folder = tempfile::tempdir().unwrap();
        let barrier = Barrier::new(8);
        let winners: usize = std::thread::scope(|scope| {
            let claimants: Vec<_> = (0..8)
                .map(|k| {
                    let (folder, barrier) = (folder.path(), &barrier);
                    scope.spawn(move || {
                        let by = Stamp { pid: k, ..stamp(&format!("slurm:{k}")) };
                        barrier.wait();
                        usize::from(take(folder, &tag(), &by).unwrap() == Claimed::First)
                    })
                })
                .collect();
            claimants.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        assert_eq!(winners, 1);
    }

    #[test]
    fn without_hard_links_the_claim_is_still_exclusive() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(CLAIM_FILE);
        assert!(create_exclusively(&path, b"{}").unwrap());
        assert!(!create_exclusively(&path, b"{}").unwrap());
    }
}
