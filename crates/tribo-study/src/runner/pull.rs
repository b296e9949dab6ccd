//! Attempts offered to workers, which pull them from the pool: workers that people start, or pilots.
//!
//! To submit is to offer, so it never fails halfway, and a driver that was killed finds in the pool what became of its
//! attempts. An attempt is where its file is: offered, in the hands of a worker, or given back. What is nowhere has ended, if
//! its answer is there; else it is only not seen, since a network file system may show a rename late.
//!
//! Signs of life are counted, not dated: a worker and its jobs let numbers grow, and what has not grown for a minute is
//! silent. An attempt is given up when both its worker and its own job are silent, or when the scheduler says that the
//! worker's job is over.

use super::pilots::Pilots;
use super::{
    Attempt, Ending, JobRef, Left, Patience, Runner, Sighting, State, Submission, Unreachable, leave_word,
};
use crate::job::{ANSWER_FILE, Answer, CANCEL_FILE, Kind, heartbeat};
use crate::pool::Pool;
use crate::tag::AttemptId;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Without a sign of life for so long somebody is gone: four missed beats.
const SILENT: Duration = Duration::from_secs(60);

/// Offers attempts to workers.
#[derive(Debug)]
pub struct Pull {
    pool: Pool,
    ahead: usize,
    heard: Heard,
    pilots: Option<Pilots>,
}

impl Pull {
    /// A runner whose workers are started by people.
    pub fn from_workers(store: &Path, ahead: usize) -> Pull {
        Pull { pool: Pool::of(store), ahead, heard: Heard::default(), pilots: None }
    }

    /// A runner whose workers are pilots, which it submits itself.
    pub fn from_pilots(store: &Path, ahead: usize, pilots: Pilots) -> Pull {
        Pull { pilots: Some(pilots), ..Pull::from_workers(store, ahead) }
    }

    fn unreadable(&self, error: &std::io::Error) -> Unreachable {
        Unreachable { scheduler: self.name(), reason: format!("the pool cannot be read: {error}") }
    }

    /// Gives workers up that are silent: what they had is judged by its own signs of life.
    fn bury_silent(&mut self, workers: &[String]) -> Vec<String> {
        let mut alive = Vec::new();
        for name in workers.iter().filter(|name| self.pool.over(name).is_none()) {
            let dir = self.pool.worker(name);
            // A pilot that has not begun has no heartbeat; its scheduler knows of it.
            let Some(beat) = heartbeat(&dir) else { continue };
            match self.heard.is_silent(&dir, beat) {
                true => drop(self.pool.leave(name, "nothing was heard of it for a minute")),
                false => alive.push(name.clone()),
            }
        }
        alive
    }

    fn state(&mut self, job: &JobRef, place: &Places) -> Option<State> {
        let lost =
            |reason: String| Some(State::Ended(Ending { kind: Kind::Infrastructure, reason, host: None }));
        if let Some(reason) = self.pool.back(job.id) {
            return lost(reason);
        }
        if place.offers.contains(&job.id) {
            if let Some(reason) = self.pilots.as_ref().and_then(Pilots::refused) {
                return lost(reason.clone());
            }
            return Some(State::Queued(place.nobody.clone()));
        }
        let answered = job.dir.join(ANSWER_FILE).exists();
        // Nobody but the study cancels an attempt of the pool, and it leaves a reason. Whatever else told it to stop was meant for
        // its worker or its machine, which may be a moment behind.
        if answered && Answer::read(&job.dir).is_some_and(|answer| answer.is_stop()) {
            return lost("it was told to stop with its worker or its machine".to_owned());
        }
        let Some(worker) = place.taken.get(&job.id) else {
            let reason = "its worker is done with it".to_owned();
            return answered.then_some(State::Ended(Ending { kind: Kind::Ok, reason, host: None }));
        };
        match self.pool.over(worker) {
            None => Some(State::Running),
            Some(_) if answered => Some(State::Ended(Ending {
                kind: Kind::Ok,
                reason: "it has answered".to_owned(),
                host: None,
            })),
            Some(why) => match heartbeat(&job.dir) {
                Some(beat) if !self.ended_by_scheduler(worker) && !self.heard.is_silent(&job.dir, beat) => {
                    Some(State::Running)
                }
                _ => lost(format!("its worker {worker} is gone: {why}")),
            },
        }
    }

    /// Whether a scheduler has ended a worker, and with it all that it had started.
    fn ended_by_scheduler(&self, worker: &str) -> bool {
        self.pilots.as_ref().is_some_and(|pilots| pilots.is_over(worker))
    }
}

/// Where attempts are.
struct Places {
    offers: BTreeSet<AttemptId>,
    taken: BTreeMap<AttemptId, String>,
    /// Why nobody takes offers, if so.
    nobody: Option<String>,
}

/// Signs of life, and since when each has been the same.
#[derive(Debug, Default)]
struct Heard(BTreeMap<PathBuf, (u64, Instant)>);

impl Heard {
    fn is_silent(&mut self, dir: &Path, beat: u64) -> bool {
        let now = Instant::now();
        let (last, since) = self.0.entry(dir.to_owned()).or_insert((beat, now));
        if *last != beat {
            (*last, *since) = (beat, now);
        }
        now - *since >= SILENT
    }
}

impl Runner for Pull {
    fn name(&self) -> &'static str {
        self.pilots.as_ref().map_or("workers", Pilots::name)
    }

    fn submit(&mut self, attempts: &[Attempt]) -> Vec<Submission> {
        if attempts.is_empty() {
            return Vec::new();
        }
        if let Err(error) = self.pool.make() {
            return vec![
                Submission::Unavailable(format!("the pool cannot be made: {error}"));
                attempts.len()
            ];
        }
        if let Some(pilots) = &mut self.pilots {
            pilots.avoid(attempts);
            // A scheduler that refuses pilots refuses the study.
            if let Some(reason) = pilots.tend(&self.pool, attempts.len()) {
                return vec![Submission::Refused(reason); attempts.len()];
            }
        }
        let offer = |attempt: &Attempt| match self.pool.offer(attempt.id) {
            Ok(()) => Submission::Accepted(format!("pool:{}", attempt.id)),
            Err(error) => Submission::Unavailable(format!("it cannot be offered: {error}")),
        };
        attempts.iter().map(offer).collect()
    }

    fn poll(&mut self, jobs: &[JobRef]) -> Result<Vec<Sighting>, Unreachable> {
        if let Some(pilots) = &mut self.pilots {
            // What is refused now is told with the next submission, which follows when offers are given up.
            let _ = pilots.tend(&self.pool, jobs.len());
        }
        let workers = self.pool.workers().map_err(|error| self.unreadable(&error))?;
        let alive = self.bury_silent(&workers);
        let offers = self.pool.offers().map_err(|error| self.unreadable(&error))?.into_iter().collect();
        let taken = self.pool.taken().map_err(|error| self.unreadable(&error))?;
        let nobody = alive.is_empty().then(|| match &self.pilots {
            Some(pilots) => pilots.waits(),
            None => "there is no worker; start `tribo worker` with this study".to_owned(),
        });
        let places = Places { offers, taken, nobody };
        let wanted: BTreeSet<AttemptId> = jobs.iter().map(|job| job.id).collect();
        self.pool.forget_back(|id| wanted.contains(&id));
        let mut sightings = Vec::new();
        for job in jobs {
            if let Some(state) = self.state(job, &places) {
                sightings.push(Sighting { id: job.id, job: format!("pool:{}", job.id), state });
            }
        }
        Ok(sightings)
    }

    fn cancel(&mut self, jobs: &[JobRef]) -> Result<(), Unreachable> {
        // What runs finds the word within a second; what is offered is not any more.
        leave_word(jobs);
        for job in jobs {
            self.pool.withdraw(job.id);
        }
        Ok(())
    }

    fn patience(&self) -> Patience {
        Patience { spool: 1.0, poll_min: 2.0, poll_max: 10.0, lost: 60.0, lookup: 10.0, detachable: true }
    }

    fn ahead(&self) -> usize {
        self.ahead
    }

    fn check(&mut self) -> crate::Result<()> {
        self.pilots.as_mut().map_or(Ok(()), Pilots::check)
    }

    fn rehearse(&mut self) -> crate::Result<String> {
        match &mut self.pilots {
            Some(pilots) => pilots.rehearse(),
            None => {
                Ok("evaluations wait for `tribo worker`, which anybody starts who shares this folder"
                    .to_owned())
            }
        }
    }

    fn last_words(&mut self, job: &JobRef) -> Option<String> {
        super::batch::words_of(&job.dir.join(super::local::LOG_FILE))
    }

    /// The study is over: workers are asked to leave, and pilots are looked for in the queue.
    fn left(&mut self, _suspects: &[JobRef]) -> Result<Vec<Left>, Unreachable> {
        for name in self.pool.workers().map_err(|error| self.unreadable(&error))? {
            if self.pool.over(&name).is_none() {
                let _ = File::create(self.pool.worker(&name).join(CANCEL_FILE));
            }
        }
        self.pilots.as_mut().map_or(Ok(Vec::new()), |pilots| pilots.left(&self.pool))
    }

    fn remove(&mut self, left: &[Left]) -> Result<(), Unreachable> {
        self.pilots.as_mut().map_or(Ok(()), |pilots| pilots.remove(left))
    }
}
