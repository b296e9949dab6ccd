//! Taking answers in: from the spool to the journal, to the optimiser, and out of the way.

use super::Driver;
use super::notice::Notice;
use super::retry::{self, Next, speaks_of_evaluation};
use crate::config::Keep;
use crate::job::{self, Answer, Kind};
use crate::runner::JobRef;
use crate::store::Request;
use crate::store::record::{Record, Verdict};
use crate::tag::AttemptId;
use crate::{Result, replay};

/// Evaluation times that the pace of looking at the spool is taken from.
const WALLS: usize = 15;

impl Driver<'_> {
    /// Takes in the answers in the spool and the requests of other commands.
    pub(super) fn ingest(&mut self) -> Result<()> {
        let (answers, rejected) = self.parts.store.harvest()?;
        for text in rejected {
            self.warn(format!("set aside: {text}"));
        }
        for answer in answers {
            self.take(answer)?;
        }
        for request in self.parts.store.requests()? {
            match request {
                Request::Cancel(trial) => self.give_up(trial)?,
                Request::CancelAll => self.limits.cancel_all = true,
                Request::Stop => self.limits.stop = true,
            }
        }
        Ok(())
    }

    /// Takes in one answer.
    pub(super) fn take(&mut self, answer: Answer) -> Result<()> {
        let id = answer.id;
        if self.unsettled.contains(&answer) {
            return Ok(()); // Seen in an earlier turn whose sync is still to come.
        }
        let Some(attempt) = self.parts.ledger.attempt(id) else {
            self.warn(format!("set aside: an answer to attempt {id}, which was never made"));
            return self.parts.store.settle(&answer);
        };
        let open = self.parts.ledger.trial(id.trial).is_some_and(|trial| trial.verdict.is_none());
        let given_up =
            attempt.end.as_ref().is_none_or(|end| matches!(end.kind, Kind::Lost | Kind::Infrastructure));
        if answer.kind == Kind::Duplicate || !open || !given_up {
            // The trial is decided, or this says nothing about it: at most one answer counts.
            self.unsettled.push(answer);
            return Ok(());
        }
        if !self.fits(&answer)? {
            self.warn(format!("set aside: the answer to attempt {id} belongs to other parameters"));
            self.unsettled.push(answer);
            return Ok(());
        }
        if answer.is_stop() && self.asks_why(&answer) {
            return Ok(());
        }
        if answer.kind == Kind::Ok {
            self.walls.truncate(WALLS - 1);
            self.walls.insert(0, answer.wall_s);
        }
        let asked_for = self.sights.remove(&id).and_then(|sight| sight.cancelled);
        self.ready.remove(&id);
        let (kind, reason) = match answer.kind {
            Kind::Cancelled | Kind::Stopped => {
                (Kind::Cancelled, asked_for.unwrap_or_else(|| answer.reason.clone()))
            }
            kind => (kind, answer.reason.clone()),
        };
        self.ended(
            id,
            Record::Ended {
                id,
                kind,
                value: answer.value,
                reason,
                wall_s: Some(answer.wall_s),
                host: answer.host.clone(),
            },
        )?;
        self.unsettled.push(answer);
        Ok(())
    }

    /// Whether an answer belongs to the parameters of its trial; one without a value need not.
    pub(super) fn fits(&self, answer: &Answer) -> Result<bool> {
        Ok(answer.kind != Kind::Ok
            || answer.params_digest == job::digest(self.params(answer.id.trial)?.as_bytes()))
    }

    /// What to make of a job that says it was told to stop, when the study did not ask for it: nothing before the queue was
    /// looked at, which is done soon. The answer stays in the spool until then. False if there is nobody to ask: under no
    /// scheduler only a person sends signals.
    fn asks_why(&mut self, answer: &Answer) -> bool {
        let now = self.parts.clock.now();
        if self.parts.ledger.attempt(answer.id).is_some_and(|attempt| attempt.end.is_some()) {
            // Given up already, and this is no news.
            self.unsettled.push(answer.clone());
            return true;
        }
        let Some(sight) = self.sights.get_mut(&answer.id).filter(|sight| sight.cancelled.is_none()) else {
            return false;
        };
        if !self.patience.detachable {
            return false;
        }
        let earlier = match sight.told_to_stop(now, answer.incarnation, &answer.reason) {
            true => self.stops.insert(answer.id, answer.clone()),
            false => Some(answer.clone()),
        };
        self.pace.no_later_than(sight.look_by(now, &self.patience));
        self.unsettled.extend(earlier.filter(|earlier| Some(earlier) != self.stops.get(&answer.id)));
        true
    }

    /// The stop of a job is explained: what it said of it can be put away.
    pub(super) fn explained(&mut self, id: AttemptId) {
        self.unsettled.extend(self.stops.remove(&id));
    }

    /// Records the end of an attempt.
    pub(super) fn ended(&mut self, id: AttemptId, record: Record) -> Result<()> {
        let Record::Ended { kind, reason, .. } = &record else { return Ok(()) };
        let (kind, reason) = (*kind, reason.clone());
        self.append(record)?;
        self.explained(id);
        self.limits.freed(self.parts.clock.now());
        self.notices.push(Notice::Ended { id, kind, reason, retried: false });
        Ok(())
    }

    /// Decides what follows for every trial none of whose attempts is under way: tells the optimiser, or leaves the trial to
    /// `fill` for another attempt.
    pub(super) fn decide(&mut self) -> Result<()> {
        let retries = self.parts.run.retries;
        let mut verdicts: Vec<(u64, Verdict)> = vec![];
        for (id, trial) in self.parts.ledger.open() {
            if trial.attempts.is_empty() && !self.cancelled.contains(&id) {
                continue;
            }
            let decided =
                trial.attempts.iter().any(|a| a.end.as_ref().is_some_and(|end| end.kind == Kind::Ok));
            if !decided && trial.attempts.iter().any(|attempt| attempt.end.is_none()) {
                continue;
            }
            match retry::next(trial, &retries, self.cancelled.contains(&id)) {
                Next::Tell(verdict) => verdicts.push((id, verdict)),
                Next::Attempt => {
                    let last = trial.attempts.last().map(|attempt| attempt.id);
                    for notice in &mut self.notices {
                        if let Notice::Ended { id, retried, .. } = notice
                            && Some(*id) == last
                        {
                            *retried = true;
                        }
                    }
                }
            }
        }
        // In the order in which attempts ended, so that the order of telling is that of arriving.
        let ended_at = |trial: &u64| {
            let state = self.parts.ledger.trial(*trial);
            state.and_then(|t| t.attempts.iter().filter_map(|a| a.end.as_ref().map(|e| e.n)).max())
        };
        verdicts.sort_by_key(|(trial, _)| (ended_at(trial), *trial));
        verdicts.into_iter().try_for_each(|(trial, verdict)| self.tell(trial, verdict))
    }

    fn tell(&mut self, trial: u64, verdict: Verdict) -> Result<()> {
        // An attempt that is still under way has nothing to add: its answer would be the second.
        let live: Vec<JobRef> = self.parts.ledger.trial(trial).map_or(vec![], |state| {
            let live = state.attempts.iter().filter(|attempt| attempt.end.is_none());
            live.map(|attempt| self.job_ref(attempt)).collect()
        });
        for job in live {
            self.sights.remove(&job.id);
            self.ready.remove(&job.id);
            self.explained(job.id);
            self.parts.store.revoke(job.id)?;
            self.to_cancel.push(job);
        }
        match &verdict {
            Verdict::Measured { .. } | Verdict::Infeasible => self.failures_in_row = 0,
            Verdict::Failed { reason } | Verdict::Invalid { answer: reason } => {
                let last =
                    self.parts.ledger.trial(trial).and_then(|state| state.attempts.last()?.end.as_ref());
                if !self.cancelled.contains(&trial) && last.is_some_and(|end| speaks_of_evaluation(end.kind))
                {
                    self.failures_in_row += 1;
                    self.last_failure.clone_from(reason);
                }
            }
        }
        self.append(Record::Told { trial, verdict: verdict.clone() })?;
        replay::tell(&mut self.optimiser, trial, &verdict)?;
        let best = self.count(trial, &verdict);
        self.notices.push(Notice::Told { trial, verdict, best });
        Ok(())
    }

    /// Gives a trial up at the user's request.
    fn give_up(&mut self, trial: u64) -> Result<()> {
        match self.parts.ledger.trial(trial) {
            Some(state) if state.verdict.is_none() => {
                let live: Vec<AttemptId> =
                    state.attempts.iter().filter(|a| a.end.is_none()).map(|a| a.id).collect();
                self.cancelled.insert(trial);
                live.into_iter().try_for_each(|id| self.end_attempt(id, "on request"))
            }
            Some(_) => Ok(()), // It has an outcome already.
            None => {
                self.warn(format!("asked to cancel trial {trial}, which does not exist"));
                Ok(())
            }
        }
    }

    /// Ends one attempt: a job that has not started never will, one that runs is asked to stop and answers.
    pub(super) fn end_attempt(&mut self, id: AttemptId, reason: &str) -> Result<()> {
        let Some(attempt) = self.parts.ledger.attempt(id) else { return Ok(()) };
        let job = self.job_ref(attempt);
        let submitted = !self.ready.remove(&id);
        let never_runs = self.parts.store.revoke(id)? == crate::store::Claim::Taken;
        if never_runs || !submitted {
            self.sights.remove(&id);
            let (kind, reason) = (Kind::Cancelled, reason.to_owned());
            let record = Record::Ended { id, kind, value: None, reason, wall_s: None, host: String::new() };
            self.ended(id, record)?;
        } else if let Some(sight) = self.sights.get_mut(&id) {
            sight.cancelled = Some(reason.to_owned());
        }
        if submitted {
            self.to_cancel.push(job);
        }
        Ok(())
    }

    /// Puts answers away whose records are durable, and folders that are not to be kept.
    pub(super) fn settle(&mut self) -> Result<()> {
        if self.urgent {
            return Ok(());
        }
        for answer in std::mem::take(&mut self.unsettled) {
            self.parts.store.settle(&answer)?;
            let whole = match self.parts.run.keep {
                Keep::All => false,
                Keep::Failed => answer.kind == Kind::Ok,
                Keep::None => true,
            };
            // A job that was stopped and runs again needs its folder.
            let over = self.parts.ledger.attempt(answer.id).is_none_or(|attempt| attempt.end.is_some());
            if over && (whole || answer.kind == Kind::Ok) {
                self.parts.store.discard(answer.id, whole)?;
            }
        }
        Ok(())
    }

    /// Cancels what was marked, now that the reason is durable.
    pub(super) fn cancel_asked(&mut self) -> Result<()> {
        if self.to_cancel.is_empty() || self.urgent || !self.limits.may_call(self.parts.clock.now()) {
            return Ok(());
        }
        match self.parts.runner.cancel(&self.to_cancel) {
            Ok(()) => {
                self.to_cancel.clear();
                self.limits.answered();
            }
            Err(unreachable) => {
                self.limits.unanswered(self.parts.clock.now());
                self.warn(format!("{unreachable}; cancelling is tried again"));
            }
        }
        Ok(())
    }
}
