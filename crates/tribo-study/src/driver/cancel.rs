//! Cancelling: trials that the user gives up, attempts that are not wanted any more, and the runner told of it.

use super::{Driver, is_full};
use crate::Result;
use crate::job::{Finding, Kind};
use crate::store::Claim;
use crate::store::record::Record;
use crate::tag::AttemptId;

impl Driver<'_> {
    /// Gives a trial up at the user's request.
    pub(super) fn give_up(&mut self, trial: u64) -> Result<()> {
        match self.parts.ledger.trial(trial) {
            Some(state) if state.outcome.is_none() => {
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
        let Some(claim) = self.claim(id)? else { return Ok(()) };
        let submitted = !self.ready.remove(&id);
        let never_runs = claim == Claim::Taken;
        if never_runs || !submitted {
            self.sights.remove(&id);
            self.ended(id, Record::ended(id, Finding::none(Kind::Cancelled, reason)))?;
        } else if let Some(sight) = self.sights.get_mut(&id) {
            sight.cancelled = Some(reason.to_owned());
        }
        if submitted {
            self.to_cancel.push(job);
        }
        Ok(())
    }

    /// Claims an attempt for the driver, so that no job of it starts any more. None if the disk is full, which is waited for:
    /// whoever wanted it tries again.
    pub(super) fn claim(&mut self, id: AttemptId) -> Result<Option<Claim>> {
        match self.parts.store.revoke(id) {
            Err(error) if is_full(&error) => {
                self.warn(format!("{error}; waiting for space, nothing is lost"));
                Ok(None)
            }
            claimed => claimed.map(Some),
        }
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
