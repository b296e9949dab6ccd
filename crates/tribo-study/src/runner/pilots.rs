//! Pilots: workers submitted to a scheduler, as many as the attempts under way need.
//!
//! To its scheduler a pilot is a job like any other, with a tag, a folder and a claim: its id is attempt 0 of a number of its
//! own. The folder is made before it is submitted, so whatever happens to the driver, the next one finds all pilots there and
//! asks the scheduler for each by its tag; the claim sees to it that one submitted twice works once.
//!
//! Submissions are rare by construction: one call for all pilots that are missing, ten seconds apart (or as far as looks at
//! the queue, if those are closer), and none while enough are queued or running. After three pilots in a row that ended
//! before they began the study is told what is wrong.

use super::{Attempt, JobRef, Left, Runner, State, Submission, Unreachable};
use crate::job::{CLAIM_FILE, HEARTBEAT_FILE, claim_as_driver, heartbeat};
use crate::pool::{PILOT_FILE, Pilot, Pool, Terms};
use crate::tag::{AttemptId, StudyId, Tag};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::io;
use std::time::{Duration, Instant};

/// Between two submissions, unless looks at the queue are closer.
const SUBMISSIONS: Duration = Duration::from_secs(10);
/// After a scheduler took no more, or did not answer.
const PAUSE: Duration = Duration::from_secs(60);
/// Pilots in a row that ended before they took anything, until the study is told.
const BARREN: u32 = 3;
/// Name of the file with the scheduler's id.
const JOB_FILE: &str = "job";

/// Submits pilots to a scheduler and watches them.
pub struct Pilots {
    inner: Box<dyn Runner>,
    study: StudyId,
    terms: Terms,
    /// Pilots at once, at most.
    most: usize,
    /// Those that are not known to be over, once they were looked for.
    live: Option<BTreeMap<u64, Live>>,
    looked: Option<Instant>,
    not_before: Option<Instant>,
    avoid: BTreeSet<String>,
    /// Pilots that a scheduler has ended.
    ended: BTreeSet<String>,
    barren: u32,
    refused: Option<String>,
    /// Why pilots do not run, in the scheduler's words.
    waits: Option<String>,
}

/// A pilot that is queued or running, as far as is known.
#[derive(Debug, Clone)]
struct Live {
    job: Option<String>,
    /// When a look first went without it, and how many did.
    missing: Option<(Instant, u32)>,
    beat: Option<u64>,
}

impl fmt::Debug for Pilots {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pilots").field("scheduler", &self.inner.name()).field("live", &self.live).finish()
    }
}

impl Pilots {
    /// Pilots of this study under a scheduler, for at most so many workers.
    pub fn new(inner: Box<dyn Runner>, study: StudyId, terms: Terms, workers: usize) -> Pilots {
        let most = workers.div_ceil(terms.slots.max(1));
        Pilots {
            inner,
            study,
            terms,
            most,
            live: None,
            looked: None,
            not_before: None,
            avoid: BTreeSet::new(),
            ended: BTreeSet::new(),
            barren: 0,
            refused: None,
            waits: None,
        }
    }

    pub(super) fn name(&self) -> &'static str {
        self.inner.name()
    }

    pub(super) fn check(&mut self) -> crate::Result<()> {
        self.inner.check()
    }

    pub(super) fn rehearse(&mut self) -> crate::Result<String> {
        self.inner.rehearse()
    }

    /// Hosts that failed.
    pub(super) fn avoid(&mut self, attempts: &[Attempt]) {
        self.avoid = attempts.iter().flat_map(|attempt| attempt.avoid.iter().cloned()).collect();
    }

    /// Whether the scheduler has ended this worker.
    pub(super) fn is_over(&self, worker: &str) -> bool {
        self.ended.contains(worker)
    }

    /// Why there will be no pilot, if so.
    pub(super) fn refused(&self) -> Option<&String> {
        self.refused.as_ref()
    }

    /// Why no pilot works.
    pub(super) fn waits(&self) -> String {
        match &self.waits {
            Some(reason) => format!("no pilot runs: {reason}"),
            None => "no pilot runs yet".to_owned(),
        }
    }

    /// Looks at pilots if it is time, and submits those that are missing for so many attempts. A reason if it makes no sense.
    pub(super) fn tend(&mut self, pool: &Pool, attempts: usize) -> Option<String> {
        if self.live.is_none() {
            self.live = Some(self.found(pool));
        }
        self.forget_those_that_left(pool);
        let due = self.between_looks();
        if self.looked.is_none_or(|looked| looked.elapsed() >= due) && !self.live().is_empty() {
            self.looked = Some(Instant::now());
            self.look(pool);
        }
        let wanted = attempts.div_ceil(self.terms.slots.max(1)).min(self.most);
        let missing = wanted.saturating_sub(self.live().len());
        if missing > 0 && self.refused.is_none() && self.not_before.is_none_or(|time| Instant::now() >= time)
        {
            self.submit(pool, missing);
        }
        self.refused.clone()
    }

    fn between_looks(&self) -> Duration {
        Duration::try_from_secs_f64(self.inner.patience().poll_min).unwrap_or(SUBMISSIONS)
    }

    fn pause(&self) -> Duration {
        SUBMISSIONS.min(self.between_looks())
    }

    fn live(&mut self) -> &mut BTreeMap<u64, Live> {
        self.live.get_or_insert_default()
    }

    /// Pilots of earlier drivers that are not known to be over.
    fn found(&self, pool: &Pool) -> BTreeMap<u64, Live> {
        let names = pool.workers().unwrap_or_default().into_iter().filter(|name| pool.over(name).is_none());
        let live = |name: String| {
            let number = Pool::pilot_number(&name)?;
            let job = fs::read_to_string(pool.worker(&name).join(JOB_FILE)).ok();
            Some((number, Live { job, missing: None, beat: None }))
        };
        names.filter_map(live).collect()
    }

    fn forget_those_that_left(&mut self, pool: &Pool) {
        let left: Vec<(u64, String)> = self
            .live()
            .keys()
            .filter_map(|number| Some((*number, pool.over(&Pool::pilot(*number))?)))
            .collect();
        for (number, why) in left {
            self.live().remove(&number);
            self.judge(pool, number, &why);
        }
    }

    fn refs(&mut self, pool: &Pool) -> Vec<JobRef> {
        let study = self.study.clone();
        let live = self.live().iter();
        let job_ref = |(number, live): (&u64, &Live)| {
            let id = AttemptId::pilot(*number);
            let dir = pool.worker(&Pool::pilot(*number));
            Some(JobRef { id, tag: Tag::new(&study, id)?, dir, job: live.job.clone() })
        };
        live.filter_map(job_ref).collect()
    }

    fn look(&mut self, pool: &Pool) {
        let refs = self.refs(pool);
        let sightings = match self.inner.poll(&refs) {
            Ok(sightings) => sightings,
            Err(unreachable) => {
                self.waits = Some(unreachable.to_string());
                return;
            }
        };
        self.waits = None;
        let patience = self.inner.patience();
        for job in &refs {
            let number = job.id.trial;
            let seen = sightings.iter().find(|sighting| sighting.id == job.id);
            match seen.map(|sighting| &sighting.state) {
                Some(State::Ended(ending)) => {
                    let words =
                        self.inner.last_words(job).map(|words| format!("; {words}")).unwrap_or_default();
                    self.end(pool, number, &format!("{}{words}", ending.reason));
                }
                Some(state) => {
                    if let State::Queued(Some(reason)) | State::Held(reason) | State::Impossible(reason) =
                        state
                    {
                        self.waits = Some(reason.clone());
                    }
                    let id = seen.map(|sighting| sighting.job.clone());
                    if job.job.is_none()
                        && let Some(id) = &id
                    {
                        let _ = fs::write(job.dir.join(JOB_FILE), id);
                    }
                    self.live().insert(number, Live { job: id, missing: None, beat: None });
                }
                None => self.missed(pool, job, patience.lost),
            }
        }
    }

    /// The scheduler's list went without a pilot: after a while it is given up, unless it gives signs of life.
    fn missed(&mut self, pool: &Pool, job: &JobRef, lost_s: f64) {
        let beat = heartbeat(&job.dir);
        let Some(live) = self.live().get_mut(&job.id.trial) else { return };
        if beat.is_some() && beat != live.beat {
            (live.beat, live.missing) = (beat, None);
            return;
        }
        let (since, looks) = live.missing.unwrap_or((Instant::now(), 0));
        live.missing = Some((since, looks + 1));
        if looks >= 1 && since.elapsed().as_secs_f64() >= lost_s {
            // Should it still be waiting somewhere, it must not start now.
            let _ = claim_as_driver(&job.dir);
            self.end(pool, job.id.trial, "it vanished from the queue");
        }
    }

    fn end(&mut self, pool: &Pool, number: u64, why: &str) {
        let name = Pool::pilot(number);
        let _ = pool.leave(&name, why);
        self.live().remove(&number);
        self.ended.insert(name);
        self.judge(pool, number, why);
    }

    /// Takes note of whether a pilot was of any use.
    fn judge(&mut self, pool: &Pool, number: u64, why: &str) {
        let dir = pool.worker(&Pool::pilot(number));
        if dir.join(HEARTBEAT_FILE).exists() {
            self.barren = 0;
            return;
        }
        self.barren += 1;
        self.waits = Some(format!("the last one ended before it began: {why}"));
        self.not_before = Some(Instant::now() + self.pause());
        if self.barren >= BARREN {
            self.refused =
                Some(format!("{BARREN} pilots in a row ended before they began, the last with: {why}"));
        }
    }

    fn submit(&mut self, pool: &Pool, n: usize) {
        self.not_before = Some(Instant::now() + self.pause());
        let attempts = match self.prepared(pool, n) {
            Ok(attempts) => attempts,
            Err(error) => {
                self.waits = Some(format!("its folder cannot be made: {error}"));
                return;
            }
        };
        let submissions = self.inner.submit(&attempts);
        // Its list is not worth a look before it had time to start something.
        self.looked = Some(Instant::now());
        for (attempt, submission) in attempts.iter().zip(submissions) {
            let number = attempt.id.trial;
            let (job, trouble) = match submission {
                Submission::Accepted(job) => (Some(job), None),
                Submission::Ambiguous(_) => (None, None),
                Submission::Refused(reason) => {
                    self.refused = Some(reason.clone());
                    (None, Some(reason))
                }
                Submission::Limited(reason) | Submission::Unavailable(reason) => {
                    self.not_before = Some(Instant::now() + PAUSE);
                    self.waits = Some(reason.clone());
                    (None, Some(reason))
                }
            };
            if let Some(reason) = trouble {
                let _ = pool.leave(&Pool::pilot(number), &format!("not submitted: {reason}"));
                continue;
            }
            if let Some(job) = &job {
                let _ = fs::write(attempt.dir.join(JOB_FILE), job);
            }
            self.live().insert(number, Live { job, missing: None, beat: None });
        }
    }

    /// The folders of new pilots.
    fn prepared(&self, pool: &Pool, n: usize) -> io::Result<Vec<Attempt>> {
        let numbers = pool.workers()?.into_iter().filter_map(|name| Pool::pilot_number(&name));
        let first = numbers.max().map_or(0, |last| last + 1);
        let mut attempts = Vec::new();
        for number in first..first + n as u64 {
            let id = AttemptId::pilot(number);
            let name = Pool::pilot(number);
            pool.enter(&name)?;
            let dir = pool.worker(&name);
            let tag = Tag::new(&self.study, id).ok_or_else(|| io::Error::other("too many pilots"))?;
            let pilot = Pilot { tag: tag.clone(), terms: self.terms.clone() };
            fs::write(dir.join(PILOT_FILE), serde_json::to_vec(&pilot)?)?;
            let avoid = self.avoid.iter().cloned().collect();
            attempts.push(Attempt { id, tag, dir, avoid, memory_kills: 0 });
        }
        Ok(attempts)
    }

    /// Pilots that are queued or running.
    pub(super) fn left(&mut self, pool: &Pool) -> Result<Vec<Left>, Unreachable> {
        if self.live.is_none() {
            self.live = Some(self.found(pool));
        }
        for number in self.live().keys().copied().collect::<Vec<_>>() {
            // One that has not begun must not begin.
            let dir = pool.worker(&Pool::pilot(number));
            if !dir.join(CLAIM_FILE).exists() {
                let _ = claim_as_driver(&dir);
            }
        }
        let refs = self.refs(pool);
        if refs.is_empty() { Ok(Vec::new()) } else { self.inner.left(&refs) }
    }

    pub(super) fn remove(&mut self, left: &[Left]) -> Result<(), Unreachable> {
        self.inner.remove(left)
    }
}
