//! The pool: attempts that wait for a worker, and the workers that take them. Nothing but files in the store, so whoever
//! shares the folder can take part.
//!
//! ```text
//! pool/offers/000123.a1              an attempt that any worker may take
//! pool/workers/NAME/                 a worker: `hb`, its sign of life; `cancel`, it is asked to leave; `over`, it has left
//! pool/workers/NAME/taken/000123.a1  an attempt in its hands
//! pool/back/000123.a1                an attempt that its worker could not finish, and why
//! ```
//!
//! Taking is renaming, which is atomic on network file systems too: of two workers that want the same attempt one gets it.
//! The claim in the attempt's folder stays what decides who runs it; the pool only spares workers the race.
//!
//! A pilot is a worker that the driver has submitted to a scheduler. Its folder is made before, with `pilot.json`, and named
//! after its number, so that a driver that was killed finds it again.

use crate::tag::{AttemptId, Tag};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What a worker is to be.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Terms {
    /// Evaluations at once.
    pub slots: usize,
    /// How long it may live, if that is limited.
    pub time: Option<Duration>,
    /// How long it stays without anything to do.
    pub idle: Duration,
}

/// What a pilot finds in its folder.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pilot {
    /// Its job name.
    pub tag: Tag,
    /// What it is to be.
    #[serde(flatten)]
    pub terms: Terms,
}

/// Name of that file.
pub const PILOT_FILE: &str = "pilot.json";

/// Says that a worker has left, and why.
pub const OVER_FILE: &str = "over";

/// The pool of a study.
#[derive(Debug, Clone)]
pub struct Pool {
    root: PathBuf,
}

impl Pool {
    /// The pool of the study with this store.
    pub fn of(store: &Path) -> Pool {
        Pool { root: store.join("pool") }
    }

    /// Makes its folders.
    pub fn make(&self) -> io::Result<()> {
        [self.offered(), self.returned(), self.root.join("workers")].iter().try_for_each(fs::create_dir_all)
    }

    /// The folder of a worker.
    pub fn worker(&self, name: &str) -> PathBuf {
        self.root.join("workers").join(name)
    }

    /// The name of a pilot.
    pub fn pilot(number: u64) -> String {
        format!("p{number:06}")
    }

    /// The number of the pilot with this name, if it is one.
    pub fn pilot_number(name: &str) -> Option<u64> {
        name.strip_prefix('p')?.parse().ok()
    }

    fn offered(&self) -> PathBuf {
        self.root.join("offers")
    }

    fn returned(&self) -> PathBuf {
        self.root.join("back")
    }

    fn taken_by(&self, name: &str) -> PathBuf {
        self.worker(name).join("taken")
    }

    /// Offers an attempt.
    pub fn offer(&self, id: AttemptId) -> io::Result<()> {
        fs::write(self.offered().join(id.to_string()), "")
    }

    /// Takes an offer back. True if nobody had taken it.
    pub fn withdraw(&self, id: AttemptId) -> bool {
        fs::remove_file(self.offered().join(id.to_string())).is_ok()
    }

    /// What is offered, in its order.
    pub fn offers(&self) -> io::Result<Vec<AttemptId>> {
        let mut offers: Vec<AttemptId> =
            names(&self.offered())?.filter_map(|n| AttemptId::parse(&n)).collect();
        offers.sort();
        Ok(offers)
    }

    /// Takes an attempt for a worker. False if another was faster.
    pub fn take(&self, name: &str, id: AttemptId) -> io::Result<bool> {
        let to = self.taken_by(name).join(id.to_string());
        match fs::rename(self.offered().join(id.to_string()), &to) {
            Ok(()) => Ok(true),
            // An NFS server may have renamed it and lost its answer.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(to.exists()),
            Err(error) => Err(error),
        }
    }

    /// The attempt is done with.
    pub fn finish(&self, name: &str, id: AttemptId) {
        let _ = fs::remove_file(self.taken_by(name).join(id.to_string()));
    }

    /// The attempt cannot be finished by its worker, for this reason.
    pub fn give_back(&self, name: &str, id: AttemptId, reason: &str) -> io::Result<()> {
        let part = self.worker(name).join(format!("back-{id}"));
        fs::write(&part, reason)?;
        fs::rename(part, self.returned().join(id.to_string()))?;
        self.finish(name, id);
        Ok(())
    }

    /// Why an attempt was given back, if it was.
    pub fn back(&self, id: AttemptId) -> Option<String> {
        fs::read_to_string(self.returned().join(id.to_string())).ok()
    }

    /// Forgets what was given back, but for these.
    pub fn forget_back(&self, keep: impl Fn(AttemptId) -> bool) {
        for name in names(&self.returned()).into_iter().flatten() {
            if AttemptId::parse(&name).is_some_and(|id| !keep(id)) {
                let _ = fs::remove_file(self.returned().join(name));
            }
        }
    }

    /// Makes the folder of a worker.
    pub fn enter(&self, name: &str) -> io::Result<()> {
        fs::create_dir_all(self.taken_by(name))
    }

    /// The worker has left, or is given up.
    pub fn leave(&self, name: &str, why: &str) -> io::Result<()> {
        fs::write(self.worker(name).join(OVER_FILE), why)
    }

    /// Why a worker has left, if it has.
    pub fn over(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.worker(name).join(OVER_FILE)).ok()
    }

    /// All workers that ever were.
    pub fn workers(&self) -> io::Result<Vec<String>> {
        let mut workers: Vec<String> = names(&self.root.join("workers"))?.collect();
        workers.sort();
        Ok(workers)
    }

    /// What a worker has in its hands.
    pub fn held(&self, name: &str) -> Vec<AttemptId> {
        names(&self.taken_by(name)).into_iter().flatten().filter_map(|name| AttemptId::parse(&name)).collect()
    }

    /// Attempts in the hands of workers, with the names of those.
    pub fn taken(&self) -> io::Result<BTreeMap<AttemptId, String>> {
        let workers = self.workers()?.into_iter();
        Ok(workers.flat_map(|name| self.held(&name).into_iter().map(move |id| (id, name.clone()))).collect())
    }
}

/// The names in a folder; none if it is not there.
fn names(folder: &Path) -> io::Result<impl Iterator<Item = String>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => Some(entries),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    let entries = entries.into_iter().flatten().flatten();
    Ok(entries.map(|entry| entry.file_name().to_string_lossy().into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Barrier;

    fn id(trial: u64) -> AttemptId {
        AttemptId { trial, attempt: 1 }
    }

    #[test]
    fn an_attempt_goes_to_one_worker_and_back() {
        let folder = tempfile::tempdir().unwrap();
        let pool = Pool::of(folder.path());
        pool.make().unwrap();
        let workers = ["a", "b", "c", "d"];
        workers.iter().for_each(|name| pool.enter(name).unwrap());
        (0..200).for_each(|trial| pool.offer(id(trial)).unwrap());
        let start = Barrier::new(workers.len());
        let took: usize = std::thread::scope(|scope| {
            let take = |name: &'static str| {
                start.wait();
                pool.offers().unwrap().into_iter().filter(|id| pool.take(name, *id).unwrap()).count()
            };
            let threads: Vec<_> = workers.iter().map(|name| scope.spawn(move || take(name))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        assert_eq!((took, pool.taken().unwrap().len(), pool.offers().unwrap().len()), (200, 200, 0));
        assert!(!pool.withdraw(id(7)));
        let owner = pool.taken().unwrap()[&id(7)].clone();
        pool.give_back(&owner, id(7), "its time is over").unwrap();
        pool.finish(&owner, id(8));
        assert_eq!(pool.back(id(7)).as_deref(), Some("its time is over"));
        assert!(!pool.taken().unwrap().contains_key(&id(7)));
        pool.forget_back(|_| false);
        assert_eq!(pool.back(id(7)), None);
    }

    #[test]
    fn a_pool_that_was_never_made_is_empty() {
        let folder = tempfile::tempdir().unwrap();
        let pool = Pool::of(folder.path());
        assert!(pool.offers().unwrap().is_empty() && pool.workers().unwrap().is_empty());
        assert_eq!(Pool::pilot_number(&Pool::pilot(12)), Some(12));
        assert_eq!(Pool::pilot_number("host-12"), None);
    }
}
