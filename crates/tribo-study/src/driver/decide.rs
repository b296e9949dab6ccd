//! What follows the end of attempts: the outcome of a trial is told, or the trial is left to be tried again.

use super::Driver;
use super::notice::Notice;
use super::retry::{self, Next, speaks_of_evaluation};
use crate::job::{Finding, Kind};
use crate::runner::JobRef;
use crate::store::record::Record;
use crate::{Result, replay};

impl Driver<'_> {
    /// Decides what follows for every trial none of whose attempts is under way: tells the optimiser, or leaves the trial to
    /// `fill` for another attempt.
    pub(super) fn decide(&mut self) -> Result<()> {
        let retries = self.parts.run.retries;
        let objective = self.parts.config.objective();
        let mut outcomes: Vec<(u64, Finding)> = vec![];
        for (id, trial) in self.parts.ledger.open() {
            if trial.attempts.is_empty() && !self.cancelled.contains(&id) {
                continue;
            }
            let decided = trial.ends().any(|(_, end)| end.finding.kind == Kind::Ok);
            if !decided && trial.attempts.iter().any(|attempt| attempt.end.is_none()) {
                continue;
            }
            match retry::next(trial, objective, &retries, self.cancelled.contains(&id)) {
                Next::Tell(finding) => outcomes.push((id, finding)),
                Next::Attempt => {
                    let last = trial.attempts.last().map(|attempt| attempt.id);
                    let wait = retry::wait(trial, &retries, self.parts.clock.utc_ms());
                    for notice in &mut self.notices {
                        if let Notice::Ended { id, retried, wait_s, .. } = notice
                            && Some(*id) == last
                        {
                            (*retried, *wait_s) = (true, wait.as_secs_f64());
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
        outcomes.sort_by_key(|(trial, _)| (ended_at(trial), *trial));
        outcomes.into_iter().try_for_each(|(trial, finding)| self.tell(trial, finding))
    }

    /// Tells the optimiser an outcome and records it; neither is durable before the sync.
    fn tell(&mut self, trial: u64, finding: Finding) -> Result<()> {
        // An attempt that is still under way has nothing to add: its answer would be the second.
        let live: Vec<JobRef> = self.parts.ledger.trial(trial).map_or(vec![], |state| {
            let live = state.attempts.iter().filter(|attempt| attempt.end.is_none());
            live.map(|attempt| self.job_ref(attempt)).collect()
        });
        for job in live {
            self.sights.remove(&job.id);
            self.ready.remove(&job.id);
            self.explained(job.id);
            self.claim(job.id)?;
            self.to_cancel.push(job);
        }
        // A point that was lost may be proposed again.
        self.exhausted &= finding.kind != Kind::Lost;
        if matches!(finding.kind, Kind::Ok | Kind::Infeasible) {
            (self.failures_in_row, self.lost_in_row) = (0, 0);
        } else {
            let last = self.parts.ledger.trial(trial).and_then(|state| state.attempts.last()?.end.as_ref());
            let speaks = last.is_some_and(|end| speaks_of_evaluation(end.finding.kind));
            if speaks && !self.cancelled.contains(&trial) {
                self.failures_in_row += 1;
                self.last_failure.clone_from(&finding.reason);
            } else if finding.kind == Kind::Lost {
                self.lost_in_row += 1;
                self.last_failure.clone_from(&finding.reason);
            }
        }
        replay::tell(&mut self.optimiser, &self.parts.config, trial, &finding)?;
        self.append(Record::Told { trial, finding: finding.clone() })?;
        let best = self.count(trial, &finding);
        self.notices.push(Notice::Told { trial, finding, best });
        Ok(())
    }
}
