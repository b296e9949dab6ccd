//! When a driver leaves, and what it does with what is under way.

use super::notice::Finish;
use super::retry::DRIVER_STOPPED;
use super::{Driver, Interrupt};
use crate::Result;
use crate::tag::AttemptId;
use tribo::space::Direction;

/// Seconds that jobs get to say that they were cancelled.
const CANCEL_S: f64 = 60.0;
/// Failures in a row that stop a study, at least; with N workers it takes 2N.
const FAILURES: usize = 5;

impl Driver<'_> {
    /// Whether the driver leaves now. Cancels what has to be cancelled first.
    pub(super) fn stopping(&mut self, interrupt: Interrupt) -> Result<Option<Finish>> {
        let running = self.sights.len();
        let idle = running == 0 && self.ready.is_empty();
        if interrupt == Interrupt::Detach {
            return Ok(Some(Finish::Detached { running }));
        }
        if interrupt == Interrupt::Cancel || self.limits.cancel_all {
            self.cancel_all()?;
            return Ok(self.wound_down().then_some(Finish::Cancelled));
        }
        if interrupt == Interrupt::Stop || self.limits.stop {
            let leave = self.patience.detachable || idle;
            return Ok(leave.then_some(Finish::Detached { running }));
        }
        if self.failures_in_row >= FAILURES.max(2 * self.parts.run.workers) {
            self.cancel_all()?;
            let (count, reason) = (self.failures_in_row, self.last_failure.clone());
            return Ok(self.wound_down().then_some(Finish::Failures { count, reason }));
        }
        for (reached, finish) in
            [(self.target_reached(), Finish::Target), (self.wall_time_spent(), Finish::WallTime)]
        {
            if reached {
                self.cancel_all()?;
                return Ok(self.wound_down().then_some(finish));
            }
        }
        if !idle || self.parts.ledger.open().any(|(_, trial)| !trial.is_by_hand()) {
            return Ok(None);
        }
        let asked = self.parts.ledger.n_asked();
        if self.parts.config.budget.evaluations.is_some_and(|budget| asked >= budget) {
            return Ok(Some(Finish::Evaluations));
        }
        Ok(self.exhausted.then_some(Finish::Exhausted))
    }

    fn target_reached(&self) -> bool {
        match (self.parts.config.budget.target, self.best, self.parts.config.direction) {
            (Some(target), Some((_, best)), Direction::Minimize) => best <= target,
            (Some(target), Some((_, best)), Direction::Maximize) => best >= target,
            _ => false,
        }
    }

    fn wall_time_spent(&self) -> bool {
        self.parts.config.budget.wall_time.is_some_and(|limit| {
            let spent_ms = self.parts.clock.utc_ms().saturating_sub(self.parts.ledger.created_ms);
            u128::from(spent_ms) >= limit.as_millis()
        })
    }

    /// Whether all that was cancelled has ended, or had its time for it.
    fn wound_down(&self) -> bool {
        let waited = self.winding_down.is_some_and(|since| self.parts.clock.now() - since >= CANCEL_S);
        self.to_cancel.is_empty() && (self.sights.is_empty() || waited)
    }

    /// Asks everything under way to end, and proposes nothing any more. Trials stay open: the next driver tries them again.
    fn cancel_all(&mut self) -> Result<()> {
        let now = self.parts.clock.now();
        self.winding_down.get_or_insert(now);
        let under_way: Vec<AttemptId> = self
            .sights
            .iter()
            .filter(|(_, sight)| sight.cancelled.is_none())
            .map(|(id, _)| *id)
            .chain(self.ready.iter().copied())
            .collect();
        under_way.into_iter().try_for_each(|id| self.end_attempt(id, DRIVER_STOPPED))
    }
}
