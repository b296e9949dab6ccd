//! Taking answers in: from the spool to the journal, as the ends of attempts.

use super::Driver;
use super::notice::Notice;
use crate::Result;
use crate::job::{self, Answer, Finding, Kind};
use crate::store::Request;
use crate::store::ledger::End;
use crate::store::record::Record;
use crate::tag::AttemptId;

/// Evaluation times that the pace of looking at the spool is taken from.
const WALLS: usize = 15;

impl Driver<'_> {
    /// Takes in the answers in the spool and the requests of other commands.
    pub(super) fn ingest(&mut self) -> Result<()> {
        self.take_answers()?;
        for request in self.parts.store.requests()? {
            match request {
                Request::Cancel(trial) => self.give_up(trial)?,
                Request::Retry(trial) => self.reopen(trial)?,
                Request::CancelAll => self.limits.cancel_all = true,
                Request::Stop => self.limits.stop = true,
            }
        }
        Ok(())
    }

    /// Takes in the answers in the spool.
    pub(super) fn take_answers(&mut self) -> Result<()> {
        let (answers, rejected) = self.parts.store.harvest()?;
        for text in rejected {
            self.warn(format!("set aside: {text}"));
        }
        answers.into_iter().try_for_each(|answer| self.take(answer))
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
        let open = self.parts.ledger.trial(id.trial).is_some_and(|trial| trial.outcome.is_none());
        let given_up = attempt.end.as_ref().is_none_or(End::is_given_up);
        let kind = answer.finding.kind;
        if kind == Kind::Duplicate || !open || !given_up {
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
        if kind == Kind::Ok {
            self.walls.truncate(WALLS - 1);
            self.walls.insert(0, answer.wall_s);
        }
        let asked_for = self.sights.remove(&id).and_then(|sight| sight.cancelled);
        self.ready.remove(&id);
        let finding = match answer.finding.clone() {
            Finding { kind: Kind::Cancelled | Kind::Stopped, reason, .. } => {
                Finding::none(Kind::Cancelled, asked_for.unwrap_or(reason))
            }
            finding => finding,
        };
        let (wall_s, host) = (Some(answer.wall_s), answer.host.clone());
        self.ended(id, Record::Ended { id, finding, wall_s, host })?;
        self.unsettled.push(answer);
        Ok(())
    }

    /// Whether an answer belongs to the parameters of its trial; one without a value need not.
    pub(super) fn fits(&self, answer: &Answer) -> Result<bool> {
        Ok(answer.finding.kind != Kind::Ok
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
        let earlier = match sight.told_to_stop(now, answer.incarnation, &answer.finding.reason) {
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
        let Record::Ended { finding, .. } = &record else { return Ok(()) };
        let (kind, reason) = (finding.kind, finding.reason.clone());
        self.append(record)?;
        self.explained(id);
        self.limits.freed(self.parts.clock.now());
        self.notices.push(Notice::Ended { id, kind, reason, retried: false, wait_s: 0.0 });
        Ok(())
    }
}
