//! Filling free workers: retries first, then new points; recorded, synced, and only then submitted. A trial that waits for
//! its next attempt keeps its worker: whatever it waits for, others would lack it, too.

use super::notice::Notice;
use super::sight::Sight;
use super::{Driver, Interrupt, limits, retry};
use crate::job::{self, Finding, JOB_VERSION, Kind, Spec};
use crate::report::text::count;
use crate::runner::{Attempt, Submission};
use crate::store::Prepared;
use crate::store::ledger::{AttemptState, TrialState};
use crate::store::record::Record;
use crate::tag::{AttemptId, Tag};
use crate::{Error, Result};

/// Submissions in a row that do not reach a scheduler this driver has never reached, until it gives up.
const HOPELESS: u32 = 4;
/// Failures of a host after which it is avoided.
const BAD_HOST: u32 = 2;

impl Driver<'_> {
    /// Whether new attempts may be made at all.
    pub(super) fn may_propose(&self, interrupt: Interrupt) -> bool {
        let adopting = !self.pace.contact && self.sights.values().any(|sight| !sight.is_known());
        interrupt == Interrupt::None && !self.limits.stop && self.winding_down.is_none() && !adopting
    }

    /// Records attempts for as many trials as there are free workers.
    pub(super) fn fill(&mut self) -> Result<()> {
        let workers = self.parts.run.workers + self.parts.runner.ahead();
        let workers = workers.min(self.limits.cap.unwrap_or(usize::MAX)).max(1);
        let free = workers.saturating_sub(self.sights.len() + self.ready.len());
        // What could not be submitted yet is better proposed later, and need not be looked for if this driver dies.
        let (mut free, _) = self.affordable(free);
        // Trials without an attempt under way: after a crash, or to be tried again.
        let idle = self
            .parts
            .ledger
            .open()
            .filter(|(_, trial)| !trial.is_by_hand())
            .filter(|(_, trial)| trial.attempts.iter().all(|attempt| attempt.end.is_some()));
        let (retries, now_ms) = (self.parts.run.retries, self.parts.clock.utc_ms());
        let is_due = |trial: &TrialState| retry::wait(trial, &retries, now_ms).is_zero();
        let (due, later): (Vec<_>, Vec<_>) = idle.partition(|(_, trial)| is_due(trial));
        free = free.saturating_sub(later.len());
        let due = due.into_iter().take(free);
        let waiting: Vec<AttemptId> =
            due.map(|(trial, state)| AttemptId { trial, attempt: state.attempts.len() as u32 + 1 }).collect();
        free -= waiting.len();
        waiting.into_iter().try_for_each(|id| self.intend(id))?;
        let asked = self.parts.ledger.n_spent();
        let left = self.parts.config.budget.evaluations.map_or(usize::MAX, |n| n.saturating_sub(asked));
        let wanted = free.min(left);
        if wanted == 0 || self.exhausted {
            return Ok(());
        }
        let before = self.parts.clock.now();
        let suggestions = self.optimiser.ask(wanted)?;
        self.optimiser_s += self.parts.clock.now() - before;
        self.exhausted = suggestions.len() < wanted;
        for suggestion in suggestions {
            let Some((trial, _)) = self.optimiser.history().get(suggestion.id) else { continue };
            let trial = trial.clone();
            if let Some(why) = trial.decision.as_ref().and_then(|decision| decision.fell_back.as_ref()) {
                self.warn(format!(
                    "the strategy broke and goes on with makeshift points, please report it: {why}"
                ));
            }
            self.append(Record::Asked { trial, by_hand: false })?;
            self.intend(AttemptId { trial: suggestion.id.0, attempt: 1 })?;
        }
        Ok(())
    }

    fn intend(&mut self, id: AttemptId) -> Result<()> {
        let Some(tag) = Tag::new(&self.parts.ledger.study, id) else {
            let limit = "a study holds at most 60 million trials of 35 attempts each";
            return Err(Error::Usage(format!("attempt {id}: {limit}")));
        };
        self.append(Record::Intended { id, tag })?;
        self.ready.insert(id);
        Ok(())
    }

    /// Submits what is recorded.
    pub(super) fn submit(&mut self) -> Result<()> {
        let now = self.parts.clock.now();
        let room = self.limits.room(now, self.sights.len());
        if self.ready.is_empty() || self.urgent || room == 0 {
            return Ok(());
        }
        let (wanted, calls) = self.affordable(self.ready.len().min(room));
        if wanted == 0 {
            return Ok(());
        }
        let avoid: Vec<String> = self
            .hosts
            .iter()
            .filter(|(_, count)| **count >= BAD_HOST)
            .map(|(host, _)| host.clone())
            .collect();
        let mut attempts = vec![];
        for id in self.ready.iter().copied().take(wanted).collect::<Vec<_>>() {
            let Some(attempt) = self.parts.ledger.attempt(id) else { continue };
            let tag = attempt.tag.clone();
            match self.prepare(id, tag.clone()) {
                Ok(Prepared::Ready(dir)) => {
                    let memory_kills = self.memory_kills(id.trial);
                    attempts.push(Attempt { id, tag, dir, avoid: avoid.clone(), memory_kills });
                }
                Ok(Prepared::Claimed { same }) => self.claimed_before(id, same)?,
                Err(error @ Error::Io { .. }) => {
                    self.limits.unanswered(now);
                    self.warn(format!("{error}; submitting is tried again"));
                    break;
                }
                Err(error) => return Err(error),
            }
        }
        if attempts.is_empty() {
            return Ok(());
        }
        self.limits.submitting();
        self.limits.called(now, calls);
        let submissions = self.parts.runner.submit(&attempts);
        if submissions.iter().any(|submission| matches!(submission, Submission::Accepted(_))) {
            self.pace.contact = true;
            self.limits.answered();
        }
        if submissions.iter().any(|submission| matches!(submission, Submission::Unavailable(_))) {
            self.limits.unanswered(self.parts.clock.now());
        }
        for (attempt, submission) in attempts.iter().zip(submissions) {
            match submission {
                Submission::Refused(reason) if !avoid.is_empty() => self.avoid_no_more(&avoid, &reason),
                submission => self.submitted(attempt.id, submission)?,
            }
        }
        Ok(())
    }

    /// How many of so many attempts may be submitted now, and in how many calls: as many as the scheduler may be called for,
    /// and all of them if they go together.
    fn affordable(&self, attempts: usize) -> (usize, usize) {
        let credit = self.limits.credit(self.parts.clock.now());
        let calls = self.parts.runner.calls_for(attempts);
        if calls <= credit { (attempts, calls) } else { (credit, credit) }
    }

    /// Attempts at a trial that ran out of memory.
    fn memory_kills(&self, trial: u64) -> u32 {
        let out_of_memory = |attempt: &&AttemptState| {
            attempt.end.as_ref().is_some_and(|end| end.finding.kind == Kind::Memory)
        };
        self.parts
            .ledger
            .trial(trial)
            .map_or(0, |trial| trial.attempts.iter().filter(out_of_memory).count() as u32)
    }

    /// A refusal may be due to the hosts that were to be avoided: without them there may be none left. What was refused stays
    /// ready, and is submitted again without that wish.
    fn avoid_no_more(&mut self, avoid: &[String], reason: &str) {
        self.hosts.clear();
        let (scheduler, hosts) = (self.parts.runner.name(), avoid.join(", "));
        self.warn(format!("{scheduler} refuses jobs that avoid {hosts} ({reason}); they are used again"));
    }

    /// The parameters of a trial as the job gets them.
    pub(super) fn params(&self, trial: u64) -> Result<String> {
        Ok(serde_json::Value::Object(self.points().params(trial)?).to_string())
    }

    fn prepare(&mut self, id: AttemptId, tag: Tag) -> Result<Prepared> {
        let params = self.params(id.trial)?;
        let spec = Spec {
            version: JOB_VERSION,
            id,
            tag,
            params_digest: job::digest(params.as_bytes()),
            folder: self.parts.folder.clone(),
            evaluation: self.parts.run.evaluation.clone(),
            wall_limit_s: self.parts.wall_limit_s,
            warning_s: self.parts.run.warning.map(|warning| warning.as_secs_f64()),
        };
        self.parts.store.prepare(&spec, params.as_bytes())
    }

    /// An attempt that is claimed and was not yet submitted by this journal, which lacks its end. The same evaluation is taken
    /// up, with its answer if it has one. Another one keeps its folder and its number, and the next attempt follows.
    fn claimed_before(&mut self, id: AttemptId, same: bool) -> Result<()> {
        self.ready.remove(&id);
        let answer = self.parts.store.answer(id);
        let advice = "the journal does not know of it: it was cut or comes from a backup";
        let fits = match &answer {
            Some(answer) => !answer.is_stop() && self.fits(answer)?,
            None => true,
        };
        if !same || !fits {
            self.warn(format!("attempt {id} was claimed before, and {advice}; another attempt follows"));
            let reason = "claimed before, by an evaluation that the journal does not know";
            return self.ended(id, Record::ended(id, Finding::none(Kind::Infrastructure, reason)));
        }
        self.warn(format!("attempt {id} was made before, and {advice}; it is taken up"));
        match answer {
            Some(answer) => self.take(answer),
            None => {
                self.sights.insert(id, Sight::new(self.parts.clock.now(), false));
                Ok(())
            }
        }
    }

    fn submitted(&mut self, id: AttemptId, submission: Submission) -> Result<()> {
        let now = self.parts.clock.now();
        let scheduler = self.parts.runner.name();
        match submission {
            Submission::Accepted(job) => {
                self.ready.remove(&id);
                self.append(Record::Submitted { id, job: job.clone() })?;
                self.sights.insert(id, Sight::new(now, true));
                self.notices.push(Notice::Submitted { id, job });
            }
            Submission::Ambiguous(reason) => {
                self.ready.remove(&id);
                self.sights.insert(id, Sight::new(now, false));
                self.pace.no_later_than(now + 5.0);
                self.warn(format!(
                    "{scheduler} did not say whether it took attempt {id} ({reason}); looking for it"
                ));
            }
            Submission::Refused(reason) => {
                self.withdraw_ready(&reason)?;
                return Err(Error::Refused { scheduler, reason });
            }
            Submission::Limited(reason) => {
                self.pace.contact = true;
                if self.limits.full(now, self.sights.len(), self.patience.poll_min) {
                    self.pace.no_later_than(now + limits::CLOSED);
                }
                self.warn(format!(
                    "{scheduler} takes no more jobs ({reason}); going on with {}",
                    count(self.sights.len().max(1), "worker")
                ));
            }
            Submission::Unavailable(reason) => {
                if !self.pace.contact && self.sights.is_empty() && self.limits.failures >= HOPELESS {
                    self.withdraw_ready(&reason)?;
                    return Err(Error::Unreachable { scheduler, reason });
                }
                self.warn(format!("{scheduler} cannot be reached ({reason}); trying again"));
            }
        }
        Ok(())
    }

    /// Attempts that were certainly not submitted end here, so that the next driver need not look for them.
    fn withdraw_ready(&mut self, reason: &str) -> Result<()> {
        for id in std::mem::take(&mut self.ready) {
            let finding = Finding::none(Kind::Infrastructure, format!("not submitted: {reason}"));
            self.ended(id, Record::ended(id, finding))?;
        }
        self.parts.store.sync()
    }
}
