//! When a driver leaves, and what it does with what is under way.

use super::notice::Finish;
use super::retry::DRIVER_STOPPED;
use super::{Driver, Interrupt, Interrupts};
use crate::Result;
use crate::job::Kind;
use crate::report::text::count;
use crate::runner::{JobRef, Left};
use crate::tag::AttemptId;
use tribo::space::Direction;

/// Seconds that a person has for a second interruption before a driver leaves its jobs alone.
pub const AGAIN_S: f64 = 3.0;
/// Seconds that jobs get to say that they were cancelled.
const CANCEL_S: f64 = 60.0;
/// Seconds that jobs get to leave the queue when the study is over: enough for a scheduler that kills after half a minute.
const CLEAR_S: f64 = 45.0;
/// Between two looks at the queue then, first and at most. By the second a job that has just answered is usually gone.
const CLEAR_LOOKS: (f64, f64) = (1.0, 8.0);
/// Jobs that are named when they would not go.
const NAMED: usize = 10;
/// Failures in a row that stop a study, at least; with N workers it takes 2N.
const FAILURES: usize = 5;
/// Trials lost in a row that stop it, in the same measure: each of them was tried several times, and none is spent, so that
/// nothing else would ever end it.
const LOST: usize = 4 * FAILURES;

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
        if interrupt == Interrupt::Stop {
            // Whoever interrupts again wants the jobs cancelled, and needs a moment for it.
            let now = self.parts.clock.now();
            let waited = now - *self.interrupted.get_or_insert(now) >= AGAIN_S;
            let leave = (self.patience.detachable && waited) || idle;
            return Ok(leave.then_some(Finish::Detached { running }));
        }
        if self.limits.stop {
            let leave = self.patience.detachable || idle;
            return Ok(leave.then_some(Finish::Detached { running }));
        }
        let workers = self.parts.run.workers;
        if self.failures_in_row >= FAILURES.max(2 * workers) || self.lost_in_row >= LOST.max(8 * workers) {
            self.cancel_all()?;
            let (count, reason) = (self.failures_in_row.max(self.lost_in_row), self.last_failure.clone());
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
        let asked = self.parts.ledger.n_spent();
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

    /// The study is over: nothing of it should be left in the queue. A job may be all the same: one that was given up and turned
    /// up again, one that was requeued after its answer, one that does not react. What is there at the second look is
    /// asked to end, and what is still there in the end is named.
    pub(super) fn clear_queue(&mut self, interrupts: &dyn Interrupts) {
        let (began, wish) = (self.parts.clock.now(), interrupts.interrupt());
        let suspects = self.suspects();
        let mut pause = CLEAR_LOOKS.0;
        loop {
            let left = self.parts.runner.left(&suspects);
            let waited = self.parts.clock.now() - began;
            let enough = waited >= CLEAR_S || interrupts.interrupt() != wish;
            match left {
                Ok(left) if left.is_empty() => return,
                Ok(left) if enough => return self.warn(still_there(&left)),
                // If it cannot be asked for now, it is at the next look.
                Ok(left) if waited > 0.0 => drop(self.parts.runner.remove(&left)),
                Err(unreachable) if enough => {
                    return self.warn(format!("{unreachable}; jobs of this study may be left in the queue"));
                }
                Ok(_) | Err(_) => {}
            }
            self.parts.clock.sleep(pause);
            pause = (2.0 * pause).min(CLEAR_LOOKS.1);
        }
    }

    /// Attempts that were submitted and of which no answer says that they are over.
    fn suspects(&self) -> Vec<JobRef> {
        let silent = |kind| matches!(kind, Kind::Lost | Kind::Infrastructure | Kind::Cancelled);
        let attempts = self.parts.ledger.trials().flat_map(|(_, trial)| &trial.attempts);
        let suspects =
            attempts.filter(|a| a.job.is_some() && a.end.as_ref().is_none_or(|end| silent(end.finding.kind)));
        suspects.map(|attempt| self.job_ref(attempt)).collect()
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

fn still_there(left: &[Left]) -> String {
    let names: Vec<String> =
        left.iter().take(NAMED).map(|left| format!("{} ({})", left.job, left.name)).collect();
    let more = match left.len() - names.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let jobs = count(left.len(), "job");
    format!("{jobs} of this study would not leave the queue: {}{more}; cancel by hand", names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_named() {
        let left = |n: usize| {
            let job = |k| Left { job: format!("{k}"), name: format!("s{k}") };
            still_there(&(0..n).map(job).collect::<Vec<_>>())
        };
        assert_eq!(left(1), "1 job of this study would not leave the queue: 0 (s0); cancel by hand");
        assert!(left(12).ends_with("9 (s9) and 2 more; cancel by hand"), "{}", left(12));
    }
}
