//! Trials and attempts that only the disk still knows.
//!
//! The optimiser proposes the same point at the same state, and the order of what happened is known nearly: an attempt was
//! made when its `job.json` was written, and an answer was told soon after it was left. So lost trials are asked again in
//! their order, after the answers that had come by then. Which of the latest answers were told already, and in which order,
//! is tried out: some came after the last look at the spool, and clocks of file systems tick slowly. The digest of the
//! parameters is the proof.

use super::rebuild::Rebuilt;
use crate::Result;
use crate::job::Kind;
use crate::point;
use crate::report::text::count;
use crate::store::disk::utc_ms;
use crate::store::evidence::in_ms;
use crate::store::record::Record;
use crate::tag::AttemptId;
use std::time::{Duration, SystemTime};

/// The latest answers, whose order is tried out: four of them can be told in 65 ways.
const UNCERTAIN: usize = 4;
/// Answers that came so much later may have been told before: times of files are some milliseconds off, and where an
/// attempt's folder is gone, its beginning is only estimated.
const SLACK: Duration = Duration::from_millis(100);

impl Rebuilt<'_> {
    /// Asks the trials again that the journal has lost at its end, as long as they come out at the same points.
    pub(super) fn ask_lost_trials(&mut self) -> Result<()> {
        self.decide(|_| true)?;
        let mut again = 0;
        loop {
            let id = self.optimiser.history().next_id().0;
            let Some((_, first)) = self.attempts_of(id).find(|(_, found)| found.digest.is_some()) else {
                break;
            };
            if !self.ask_lost(id, first.made, first.digest.as_deref().unwrap_or_default())? {
                break;
            }
            again += 1;
        }
        if again > 0 {
            let trials = count(again, "lost trial");
            self.repaired.done.push(format!("{trials} asked again, at the same points"));
        }
        Ok(())
    }

    /// Asks one trial again. False, and nothing has changed, if it comes out at another point.
    fn ask_lost(&mut self, id: u64, made: Option<SystemTime>, digest: &str) -> Result<bool> {
        let before = (self.ledger.clone(), self.added.len());
        let due = self.answered(made.map(|made| made + SLACK));
        let (certain, uncertain) = due.split_at(due.len().saturating_sub(UNCERTAIN));
        for told in orders(uncertain) {
            for attempt in certain.iter().chain(&told) {
                self.take_answer(*attempt)?;
            }
            if let Some(trial) = self.ask()?
                && trial.id.0 == id
                && self.digest(&trial) == digest
            {
                self.append(Record::Asked { trial, by_hand: false }, in_ms(made));
                self.take_up(id);
                return Ok(true);
            }
            self.ledger.clone_from(&before.0);
            self.added.truncate(before.1);
            self.undo()?;
        }
        Ok(false)
    }

    /// Takes up the attempts that are on disk, of trials in the journal.
    pub(super) fn take_up_attempts(&mut self) {
        let open: Vec<u64> =
            self.ledger.open().filter(|(_, trial)| !trial.is_by_hand()).map(|(id, _)| id).collect();
        let taken: usize = open.into_iter().map(|trial| self.take_up(trial)).sum();
        if taken > 0 {
            let attempts = count(taken, "lost attempt");
            self.repaired.done.push(format!("{attempts} taken up"));
        }
    }

    /// Takes up the attempts of one trial that were made for its point. Returns how many.
    pub(super) fn take_up(&mut self, trial: u64) -> usize {
        let Some((asked, _)) = self.optimiser.history().get(tribo::trial::TrialId(trial)) else { return 0 };
        let digest = self.digest(&asked.clone());
        let lost: Vec<AttemptId> = self
            .attempts_of(trial)
            .filter(|(id, found)| {
                self.ledger.attempt(*id).is_none() && found.digest.as_deref() == Some(&digest)
            })
            .filter(|(_, found)| found.claimed || found.answer.is_some())
            .map(|(id, _)| id)
            .collect();
        lost.into_iter().filter(|id| self.intend(*id)).count()
    }

    /// Attempts on disk whose trials are lost.
    pub(super) fn orphans(&self) -> Vec<AttemptId> {
        self.evidence.keys().filter(|id| self.ledger.trial(id.trial).is_none()).copied().collect()
    }

    /// Takes in measured values of trials that are lost, as evaluations from elsewhere, if their points are known and the
    /// strategy takes such.
    pub(super) fn import(&mut self, orphans: &[AttemptId]) -> Result<()> {
        for id in orphans {
            let found = &self.evidence[id];
            let answer = found.answer.as_ref().filter(|answer| answer.finding.kind == Kind::Ok);
            let Some(outputs) = answer.map(|answer| answer.finding.outputs.clone()) else { continue };
            let imported = match found.params() {
                Some(object) => {
                    let point = point::Written::from(&object);
                    self.add(&point, &outputs)?.map(|trial| (trial, point))
                }
                None => None,
            };
            match imported {
                Some((trial, point)) => {
                    self.append(Record::Imported { trial, point, outputs }, utc_ms());
                    let text =
                        format!("the result of attempt {id}, whose trial is lost: imported as trial {trial}");
                    self.repaired.done.push(text);
                }
                None => {
                    let text = format!("the point of attempt {id}, which measured {outputs}");
                    self.repaired.lost.push(text);
                }
            }
        }
        Ok(())
    }
}

/// All orders of all or some of these, likely ones first: all of them as they are, then without some.
fn orders(items: &[AttemptId]) -> Vec<Vec<AttemptId>> {
    let mut orders = vec![vec![]];
    let mut longest = orders.clone();
    for _ in items {
        let longer = |order: &Vec<AttemptId>| {
            let order = order.clone();
            let rest = items.iter().filter(|item| !order.contains(item)).copied().collect::<Vec<_>>();
            rest.into_iter().map(move |item| [&order[..], &[item]].concat())
        };
        longest = longest.iter().flat_map(longer).collect();
        orders.splice(0..0, longest.iter().cloned());
    }
    orders
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_orders_are_tried_and_the_likely_one_first() {
        let items: Vec<AttemptId> = (0..4).map(|trial| AttemptId { trial, attempt: 1 }).collect();
        let all = orders(&items);
        assert_eq!((&all[0], all.len()), (&items, 65));
        assert_eq!(all.last().map(Vec::len), Some(0));
        assert_eq!(all.iter().collect::<std::collections::BTreeSet<_>>().len(), 65);
    }
}
