//! Looking at the queue: rarely, all jobs at once, and believing only bad news that lasts.

use super::Driver;
use super::limits;
use super::notice::Notice;
use super::sight::{Judgement, Sight};
use crate::job::{Answer, Finding, Kind};
use crate::runner::{Ending, JobRef, Patience, Sighting, State};
use crate::store::Claim;
use crate::store::record::Record;
use crate::tag::AttemptId;
use crate::waiting::{self, Prospect, Waiter};
use crate::{Error, Result};
use std::collections::BTreeMap;

/// When to look next: soon after a change, ever more rarely while nothing happens.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Pace {
    due: f64,
    interval: f64,
    /// Whether the scheduler has answered this driver at all.
    pub(super) contact: bool,
    /// Failed looks in a row.
    failures: u32,
}

/// Failed looks in a row after which a driver that never had contact, and has nothing to wait for, gives up: some two
/// minutes.
const HOPELESS: u32 = 12;
/// Seconds between two looks into the folders of jobs that wait, at least and for each of them: a file server has others to
/// serve.
const FOLDERS_S: (f64, f64) = (5.0, 0.05);
/// Seconds from the first look that shows jobs waiting to the second.
const SECOND_LOOK_S: f64 = 10.0;
/// Reasons for waiting that a driver tells of: after so many, another says nothing new.
const REASONS: usize = 10;

impl Pace {
    pub(super) fn new(now: f64, patience: &Patience) -> Pace {
        Pace { due: now, interval: patience.poll_min, contact: false, failures: 0 }
    }

    pub(super) fn due(&self) -> f64 {
        self.due
    }

    /// Looks no later than this.
    pub(super) fn no_later_than(&mut self, due: f64) {
        self.due = self.due.min(due);
    }

    fn looked(&mut self, now: f64, changed: bool, patience: &Patience) {
        self.interval = match changed {
            true => patience.poll_min,
            false => (1.5 * self.interval).min(patience.poll_max),
        };
        (self.due, self.contact, self.failures) = (now + self.interval, true, 0);
    }

    /// `awaited` says that something waits for the answer. Else there is no hurry: good news come by the spool.
    fn failed(&mut self, now: f64, awaited: bool, patience: &Patience) {
        self.failures += 1;
        let seldom = patience.poll_min.max(1.0) * f64::from(1u32 << self.failures.min(3));
        self.due = now + if awaited { limits::pause(self.failures).min(seldom) } else { seldom };
    }
}

impl Driver<'_> {
    /// Looks at the queue if it is time, and acts on what has become certain.
    pub(super) fn look(&mut self) -> Result<()> {
        let now = self.parts.clock.now();
        if (!self.sights.is_empty() || self.limits.wants_look()) && now >= self.pace.due() {
            self.poll(now)?;
        }
        if self.patience.detachable && now >= self.begun_due {
            self.find_begun(now);
        }
        self.judge(now)
    }

    /// Sees by their folders which jobs have begun: the queue is looked at too seldom to count them.
    fn find_begun(&mut self, now: f64) {
        let waiting: Vec<AttemptId> =
            self.sights.iter().filter(|(_, sight)| !sight.is_running()).map(|(id, _)| *id).collect();
        self.begun_due = now + FOLDERS_S.0.max(FOLDERS_S.1 * waiting.len() as f64);
        for id in waiting {
            if self.parts.store.heartbeat(id).is_some()
                && let Some(sight) = self.sights.get_mut(&id)
            {
                sight.begun();
            }
        }
    }

    fn poll(&mut self, now: f64) -> Result<()> {
        let jobs: Vec<JobRef> = self
            .parts
            .ledger
            .live()
            .filter(|a| self.sights.contains_key(&a.id))
            .map(|a| self.job_ref(a))
            .collect();
        let sightings = match self.parts.runner.poll(&jobs) {
            Ok(sightings) => sightings,
            Err(unreachable) => {
                // Nothing may be concluded: answers still come by the spool.
                let awaited = self.sights.values().any(Sight::is_awaited);
                self.pace.failed(self.parts.clock.now(), awaited, &self.patience);
                let scheduler = self.parts.runner.name();
                let nothing_known = self.sights.values().all(|sight| !sight.is_known());
                if !self.pace.contact && nothing_known && self.pace.failures >= HOPELESS {
                    return Err(Error::Unreachable { scheduler, reason: unreachable.reason });
                }
                self.warn(format!("{unreachable}; jobs under way are not affected, asking again later"));
                return Ok(());
            }
        };
        self.limits.looked(self.parts.run.workers);
        let mut seen: BTreeMap<AttemptId, Sighting> = sightings.into_iter().map(|s| (s.id, s)).collect();
        let (mut changed, mut missed) = (false, false);
        for job in &jobs {
            let Some(sight) = self.sights.get_mut(&job.id) else { continue };
            match seen.remove(&job.id) {
                Some(sighting) => {
                    changed |= sight.seen(now, sighting.state.clone());
                    if sight.stopped().is_none() {
                        self.explained(job.id);
                    }
                    self.sighted(job, sighting)?;
                }
                None => {
                    sight.missed(now, self.parts.store.heartbeat(job.id));
                    missed = true;
                }
            }
        }
        self.pace.looked(now, changed, &self.patience);
        self.explain_waiting(now);
        let wanted = self.sights.values().map(|sight| sight.look_by(now, &self.patience));
        self.pace.no_later_than(wanted.fold(f64::INFINITY, f64::min));
        if missed {
            self.pace.no_later_than(now + self.patience.poll_min);
        }
        Ok(())
    }

    fn sighted(&mut self, job: &JobRef, sighting: Sighting) -> Result<()> {
        if job.job.is_none() {
            self.notices.push(Notice::Submitted { id: job.id, job: sighting.job.clone() });
            self.append(Record::Submitted { id: job.id, job: sighting.job.clone() })?;
        }
        if let State::Unknown(text) = &sighting.state {
            self.warn(format!(
                "job {} is in state {text}, which is not known here; it is watched",
                sighting.job
            ));
        }
        Ok(())
    }

    /// Says why jobs wait, each reason once, and leaves it for other commands to read. In its first second a job waits for
    /// nothing in particular, whatever the scheduler calls it: ordinary reasons are told from the second look on, which for
    /// once comes soon.
    fn explain_waiting(&mut self, now: f64) {
        let jobs: BTreeMap<AttemptId, String> =
            self.parts.ledger.live().filter_map(|a| Some((a.id, a.job.clone()?))).collect();
        let waiters = self.sights.iter().filter_map(|(id, sight)| {
            let (prospect, reason) = sight.waits()?;
            Some(Waiter { prospect, reason, job: jobs.get(id).map_or("", String::as_str), trial: id.trial })
        });
        let waiting = waiting::grouped(waiters);
        if !waiting.is_empty() {
            self.looks_at_waiting += 1;
        }
        if self.looks_at_waiting == 1 {
            self.pace.no_later_than(now + SECOND_LOOK_S);
        }
        for group in &waiting {
            if group.prospect == Prospect::Waits && self.looks_at_waiting < 2 {
                continue;
            }
            if self.reasons.len() < REASONS && self.reasons.insert(group.key()) {
                let text = group.text(&format!("[run.{}]", self.parts.runner.name()));
                self.notices.push(match group.prospect {
                    Prospect::Waits => Notice::Waiting { text },
                    Prospect::Held | Prospect::Never => Notice::Warning { text },
                });
            }
        }
        if waiting != self.waiting {
            self.parts.store.note_waiting(&waiting);
            self.waiting = waiting;
        }
    }

    /// The reason of an end, and what the job itself wrote where that may tell more.
    fn with_last_words(&mut self, id: AttemptId, ending: &Ending) -> String {
        let telling = matches!(ending.kind, Kind::Unstarted | Kind::Failed | Kind::Lost);
        let job = self.parts.ledger.attempt(id).filter(|_| telling).map(|attempt| self.job_ref(attempt));
        match job.and_then(|job| self.parts.runner.last_words(&job)) {
            Some(words) => format!("{}; {words}", ending.reason),
            None => ending.reason.clone(),
        }
    }

    fn judge(&mut self, now: f64) -> Result<()> {
        let judged: Vec<(AttemptId, Judgement)> = self
            .sights
            .iter()
            .map(|(id, sight): (&AttemptId, &Sight)| (*id, sight.judge(now, &self.patience)))
            .filter(|(_, judgement)| *judgement != Judgement::Watch)
            .collect();
        for (id, judgement) in judged {
            let (kind, reason, host) = match judgement {
                Judgement::Watch => continue,
                Judgement::Revoke => match self.claim(id)? {
                    None => continue,
                    Some(Claim::Taken) => {
                        let reason = "the job was never started, and can no longer be";
                        (Kind::Infrastructure, reason.to_owned(), String::new())
                    }
                    Some(Claim::Held) => {
                        // It runs although nobody acknowledged it: its answer will come, or it will be missed like others.
                        self.sights.insert(id, Sight::new(now, true));
                        continue;
                    }
                },
                Judgement::Unbegun(ref ending) => match self.claim(id)? {
                    None => continue,
                    Some(Claim::Taken) => (
                        ending.kind,
                        self.with_last_words(id, ending),
                        ending.host.clone().unwrap_or_default(),
                    ),
                    Some(Claim::Held) => {
                        self.sights.entry(id).and_modify(Sight::failed_after_beginning);
                        continue;
                    }
                },
                Judgement::Over(ref ending) | Judgement::Unwanted(ref ending) => {
                    let stopped = self.sights.get(&id).and_then(Sight::stopped);
                    let news = |answer: &Answer| !answer.is_stop() || Some(answer.incarnation) > stopped;
                    if let Some(answer) = self.parts.store.answer(id).filter(news)
                        && self.fits(&answer)?
                    {
                        self.take(answer)?;
                        continue;
                    }
                    // Should it still be waiting somewhere, it must not start now.
                    if self.claim(id)?.is_none() {
                        continue;
                    }
                    if matches!(judgement, Judgement::Unwanted(_)) {
                        self.to_cancel.extend(self.parts.ledger.attempt(id).map(|a| self.job_ref(a)));
                    }
                    let ending = ending.clone();
                    if let (Kind::Infrastructure, Some(host)) = (ending.kind, &ending.host) {
                        *self.hosts.entry(host.clone()).or_default() += 1;
                    }
                    let reason = self.with_last_words(id, &ending);
                    let host = ending.host.unwrap_or_default();
                    match self.sights.get(&id).and_then(|sight| sight.cancelled.clone()) {
                        Some(reason) => (Kind::Cancelled, reason, host),
                        None => (ending.kind, reason, host),
                    }
                }
            };
            self.sights.remove(&id);
            // What a job that was told to stop said besides.
            let stop = self.stops.get(&id);
            let wall_s = stop.map(|answer| answer.wall_s);
            let host = stop.map(|answer| answer.host.clone()).filter(|_| host.is_empty()).unwrap_or(host);
            self.ended(id, Record::Ended { id, finding: Finding::none(kind, reason), wall_s, host })?;
        }
        Ok(())
    }
}
