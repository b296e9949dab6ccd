//! The study as it is rebuilt: a state, the optimiser beside it, and the records added so far.
//!
//! A record is added only if the state takes it and the optimiser can follow, so that the journal that comes of it can be
//! read and continued. Numbers are given anew; the epoch of a record never falls behind the one before it.

use super::Repaired;
use crate::config::Config;
use crate::driver::retry::{self, Next};
use crate::job::{self, Answer, Finding};
use crate::outputs::Outputs;
use crate::replay::{self, Records};
use crate::store::disk::utc_ms;
use crate::store::evidence::{Evidence, in_ms};
use crate::store::format;
use crate::store::ledger::Ledger;
use crate::store::record::{Entry, Record};
use crate::tag::{AttemptId, Tag};
use crate::{Result, point};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tribo::strategy::{Study, Suggestion};
use tribo::trial::{Purpose, Recipe, Trial, TrialId};

/// Trials in a row that are asked again to close a hole among whole records. A damaged block of a disk holds some twenty
/// records; asking for hundreds would take long, and would most likely end in other points.
const LARGEST_HOLE: u64 = 64;

/// A study that is being rebuilt.
pub(super) struct Rebuilt<'a> {
    pub(super) config: Config,
    pub(super) ledger: Ledger,
    pub(super) optimiser: Study,
    pub(super) evidence: &'a BTreeMap<AttemptId, Evidence>,
    pub(super) added: Vec<Entry>,
    pub(super) repaired: Repaired,
    /// The least epoch of records to come.
    pub(super) epoch: u64,
    /// Trials that were asked again and may be at another point than before: what was said of them is not theirs.
    unproven: BTreeSet<u64>,
    /// Version of the program that asked what comes next.
    tribo: String,
    /// Records missing so far, by their numbers, that were not made again.
    missing: u64,
    /// What was decided when trials were asked does not fit any more.
    points_only: bool,
    /// A trial could not be brought back, and neither can those after it.
    ended: bool,
    /// What reads the present chapter, if it is of an engine of another version, which cannot be asked any more.
    records: Option<Records>,
}

impl<'a> Rebuilt<'a> {
    pub(super) fn new(
        config: Config,
        ledger: Ledger,
        evidence: &'a BTreeMap<AttemptId, Evidence>,
        repaired: Repaired,
        tribo: String,
    ) -> Result<Rebuilt<'a>> {
        let optimiser = replay::study(&config, &ledger)?;
        let records = Records::of_another(&config, &ledger)?;
        let (added, unproven) = (vec![], BTreeSet::new());
        Ok(Rebuilt {
            config,
            ledger,
            optimiser,
            evidence,
            added,
            repaired,
            epoch: 0,
            unproven,
            tribo,
            missing: 0,
            points_only: false,
            ended: false,
            records,
        })
    }

    /// Adds a record if the state takes it, and raises the format before it where that is needed.
    pub(super) fn append(&mut self, record: Record, ms: u64) -> bool {
        let format = format::needed(&record);
        if format > self.ledger.format {
            let tribo = env!("CARGO_PKG_VERSION").to_owned();
            self.append(Record::Raised { format, tribo }, ms);
        }
        let epoch = self.epoch.max(self.ledger.epoch);
        let entry = Entry { n: self.ledger.next, epoch, ms, record };
        let fits = self.ledger.apply(&entry).is_ok();
        if fits {
            self.added.push(entry);
        }
        fits
    }

    /// Begins a chapter. What was decided in the one before does not matter any more: its results are known data.
    pub(super) fn begin_chapter(&mut self, chapter: Record, ms: u64) -> Result<bool> {
        let Record::Chapter { config, .. } = &chapter else { return Ok(false) };
        let Ok(config) = Config::parse(Path::new("a later study file"), config) else { return Ok(false) };
        if !self.append(chapter, ms) {
            return Ok(false);
        }
        (self.config, self.points_only) = (config, false);
        self.undo().map(|()| true)
    }

    /// Takes whole records that come after the damage.
    pub(super) fn take_rest(&mut self, rest: &[Entry]) -> Result<()> {
        let told: BTreeSet<u64> = rest.iter().filter_map(|entry| told(&entry.record)).collect();
        let mut expected = self.ledger.next;
        if let Some(first) = rest.first() {
            self.decide(|trial| !told.contains(&trial))?;
            let until = UNIX_EPOCH.checked_add(Duration::from_millis(first.ms));
            for id in self.answered(until).into_iter().filter(|id| !told.contains(&id.trial)) {
                self.take_answer(id)?;
            }
        }
        let (mut taken, mut refused) = (0, vec![]);
        for entry in rest {
            self.missing += entry.n.saturating_sub(expected);
            expected = expected.max(entry.n + 1);
            self.epoch = self.epoch.max(entry.epoch);
            match self.take(entry)? {
                true => taken += 1,
                false => {
                    refused.extend(subject(&entry.record).filter(|trial| !self.unproven.contains(trial)))
                }
            }
        }
        if taken > 0 {
            self.repaired.done.push(format!("records after the damage that are taken again: {taken}"));
        }
        refused.sort_unstable();
        refused.dedup();
        let lost: Vec<String> = refused
            .into_iter()
            .filter(|trial| self.ledger.trial(*trial).is_none())
            .map(|trial| trial.to_string())
            .collect();
        if !lost.is_empty() {
            self.repaired.lost.push(format!("trials that cannot be rebuilt: {}", lost.join(", ")));
        }
        Ok(())
    }

    /// Takes one record. False if it does not add up any more.
    fn take(&mut self, entry: &Entry) -> Result<bool> {
        let (ms, record) = (entry.ms, &entry.record);
        let subject = subject(record);
        // The first word of a trial whose asking is lost, if it is not its asking.
        let unasked = subject.filter(|trial| self.ledger.trial(*trial).is_none());
        if let Some(trial) =
            unasked.filter(|_| !matches!(record, Record::Asked { .. } | Record::Imported { .. }))
            && !self.close_hole(trial + 1)?
        {
            return Ok(false);
        }
        if let Some(trial) = subject.filter(|trial| self.unproven.contains(trial)) {
            if let Record::Told { finding, .. } = record
                && !finding.outputs.is_empty()
            {
                let outputs = &finding.outputs;
                self.repaired.lost.push(format!("{outputs} of trial {trial}, whose point is not certain"));
            }
            return Ok(false);
        }
        match record {
            // The format is raised when a record needs it.
            Record::Created { .. } | Record::Raised { .. } => Ok(false),
            chapter @ Record::Chapter { .. } => self.begin_chapter(chapter.clone(), ms),
            Record::Asked { trial, by_hand } => {
                if !self.close_hole(trial.id.0)? {
                    return Ok(false);
                }
                let Some(trial) = self.restore(trial)? else { return Ok(false) };
                Ok(self.append(Record::Asked { trial, by_hand: *by_hand }, ms))
            }
            Record::Imported { trial, point, outputs } => Ok(self.close_hole(*trial)?
                && self.add(point, outputs)?.is_some_and(|id| id == *trial)
                && self.append(record.clone(), ms)),
            Record::Told { trial, finding } => {
                let open = self.ledger.trial(*trial).is_some_and(|state| state.outcome.is_none());
                Ok(open && self.tell(*trial, finding, ms)?)
            }
            Record::Replaced { .. } | Record::Reopened { .. } => {
                // What was decided in the chapter before does not matter any more.
                let taken = self.append(record.clone(), ms);
                if taken {
                    self.points_only = false;
                    self.undo()?;
                }
                Ok(taken)
            }
            Record::Recalled(_) => {
                let taken = self.append(record.clone(), ms);
                if taken {
                    self.undo()?;
                }
                Ok(taken)
            }
            Record::Submitted { id, .. } | Record::Ended { id, .. } => {
                Ok(self.intend(*id) && self.append(record.clone(), ms))
            }
            Record::Opened { tribo, .. } => {
                self.tribo.clone_from(tribo);
                Ok(self.append(record.clone(), ms))
            }
            Record::Intended { .. } | Record::Configured { .. } | Record::Closed { .. } => {
                Ok(self.append(record.clone(), ms))
            }
        }
    }

    /// Asks the trials again that are missing before this one.
    fn close_hole(&mut self, before: u64) -> Result<bool> {
        let next = self.optimiser.history().next_id().0;
        if self.ended || before < next || before - next > LARGEST_HOLE {
            self.ended |= before > next;
            return Ok(false);
        }
        // If nothing else is missing, the optimiser of the same program is as it was, and asks the same.
        let same_program = self.tribo == env!("CARGO_PKG_VERSION") && self.records.is_none();
        let only_these = self.missing == before - next && !self.points_only && same_program;
        self.missing = self.missing.saturating_sub(before - next);
        for _ in next..before {
            let Some(trial) = self.ask()? else {
                self.ended = true;
                return Ok(false);
            };
            let proven = match self.evidence_of(trial.id.0) {
                Some(digest) => digest == self.digest(&trial),
                // Every version of `auto` begins with the centre.
                None => only_these || matches!(trial.recipe.as_deref(), Some(Recipe::Centre)),
            };
            let (id, by_hand) = (trial.id.0, self.config.run.is_none());
            self.append(Record::Asked { trial, by_hand }, self.ledger.last_ms);
            self.repaired.done.push(match proven {
                true => format!("trial {id} is asked again, at the same point"),
                false => format!(
                    "trial {id} is asked again, perhaps at another point, and is to be evaluated again"
                ),
            });
            if !proven {
                self.unproven.insert(id);
            }
        }
        Ok(true)
    }

    /// Asks for one more trial; None if the optimiser has none.
    pub(super) fn ask(&mut self) -> Result<Option<Trial>> {
        let Some(Suggestion { id, point, .. }) = self.optimiser.ask(1)?.into_iter().next() else {
            return Ok(None);
        };
        let trial = self.optimiser.history().get(id).map(|(trial, _)| trial.clone());
        match (&mut self.records, &trial) {
            (None, _) | (_, None) => return Ok(trial),
            (Some(records), Some(centre)) if matches!(centre.recipe.as_deref(), Some(Recipe::Centre)) => {
                return Ok(records.asked(centre).ok().and(trial));
            }
            _ => {}
        }
        // A recipe of this version is none of the chapter's: the point as such. What was made from the lost one is lost with it.
        let z = self.config.space.encode(&point)?.into_vec();
        let given = |trial: Trial| Trial {
            embedding: 0,
            z,
            purpose: Purpose::Added,
            recipe: Some(Box::new(Recipe::Given)),
            decision: None,
            ..trial
        };
        Ok(trial.map(given))
    }

    /// Makes a trial the optimiser's again, and returns it as it was taken. With results missing before it, the optimiser may
    /// refuse what was decided when it was asked; the point alone it takes like one that somebody else chose. If it refuses
    /// that too, it is as before, and takes no more trials.
    fn restore(&mut self, trial: &Trial) -> Result<Option<Trial>> {
        if let Some(records) = &mut self.records {
            let Ok(point) = records.asked(trial) else { return Ok(None) };
            self.optimiser.adopt_as(trial.id, &point)?;
            return Ok(Some(trial.clone()));
        }
        if !self.points_only {
            if self.optimiser.restore_asked(trial.clone()).is_ok() {
                return Ok(Some(trial.clone()));
            }
            self.points_only = true;
            self.undo()?;
        }
        let point = Trial { purpose: Purpose::Added, decision: None, ..trial.clone() };
        if self.optimiser.restore_asked(point.clone()).is_ok() {
            return Ok(Some(point));
        }
        self.ended = true;
        self.undo()?;
        Ok(None)
    }

    /// Gives the optimiser an evaluation from elsewhere; None if it takes none.
    pub(super) fn add(&mut self, written: &point::Written, outputs: &Outputs) -> Result<Option<u64>> {
        if outputs.get(self.config.objective()).is_none() {
            return Ok(None);
        }
        let finding = Finding::measured(outputs.clone());
        let point = written.point(&self.config.space).ok();
        let added = point.map(|point| replay::add(&mut self.optimiser, &self.config, &point, &finding));
        match added {
            Some(Ok(id)) => Ok(Some(id.0)),
            _ => self.undo().map(|()| None),
        }
    }

    /// Makes the optimiser that of the state again.
    pub(super) fn undo(&mut self) -> Result<()> {
        self.optimiser = replay::study(&self.config, &self.ledger)?;
        self.records = Records::of_another(&self.config, &self.ledger)?;
        Ok(())
    }

    fn tell(&mut self, trial: u64, finding: &Finding, ms: u64) -> Result<bool> {
        replay::tell(&mut self.optimiser, &self.config, trial, finding)?;
        if let Some(records) = &mut self.records {
            records.told(trial, finding);
        }
        Ok(self.append(Record::Told { trial, finding: finding.clone() }, ms))
    }

    /// Tells what follows from attempts that have ended, of those of these trials whose outcome was not told.
    pub(super) fn decide(&mut self, wanted: impl Fn(u64) -> bool) -> Result<()> {
        let Some(retries) = self.config.run.as_ref().map(|run| run.retries) else { return Ok(()) };
        let mut ended: Vec<(u64, u64, u64, Finding)> = vec![];
        for (id, trial) in self.ledger.open().filter(|(id, _)| wanted(*id)) {
            let ends: Vec<_> = trial.attempts.iter().map(|attempt| attempt.end.as_ref()).collect();
            if let Some(Some(last)) = ends.last()
                && ends.iter().all(Option::is_some)
                && let Next::Tell(finding) = retry::next(trial, self.config.objective(), &retries, false)
            {
                ended.push((last.n, id, last.ms, finding));
            }
        }
        ended.sort_by_key(|(n, ..)| *n);
        ended.into_iter().try_for_each(|(_, trial, ms, finding)| self.tell(trial, &finding, ms).map(|_| ()))
    }

    /// Attempts under way whose answers were left up to this time, in the order of those.
    pub(super) fn answered(&self, until: Option<SystemTime>) -> Vec<AttemptId> {
        let due = |id: &AttemptId| {
            let found = self.evidence.get(id).filter(|found| found.answered <= until)?;
            let answer = found.answer.as_ref().filter(|answer| !answer.is_stop() && self.fits(answer))?;
            Some((found.answered, answer.id))
        };
        let mut due: Vec<_> = self.ledger.live().filter_map(|attempt| due(&attempt.id)).collect();
        due.sort_unstable();
        due.into_iter().map(|(_, id)| id).collect()
    }

    /// Takes in one answer as a driver does: the attempt has ended, and the trial is told unless it is to be tried again.
    pub(super) fn take_answer(&mut self, id: AttemptId) -> Result<()> {
        let Some(found) = self.evidence.get(&id) else { return Ok(()) };
        let (Some(answer), Some(run)) = (&found.answer, &self.config.run) else { return Ok(()) };
        let retries = run.retries;
        let ms = in_ms(found.answered);
        self.append(ended(answer), ms);
        let next = self
            .ledger
            .trial(id.trial)
            .map(|trial| retry::next(trial, self.config.objective(), &retries, false));
        match next {
            Some(Next::Tell(finding)) => self.tell(id.trial, &finding, ms).map(|_| ()),
            _ => {
                self.take_up(id.trial);
                Ok(())
            }
        }
    }

    /// Whether an answer belongs to the point of its trial.
    fn fits(&self, answer: &Answer) -> bool {
        self.params(answer.id.trial)
            .is_some_and(|params| job::digest(params.as_bytes()) == answer.params_digest)
    }

    /// The parameters of a trial as its jobs get them.
    fn params(&self, trial: u64) -> Option<String> {
        let point = self.optimiser.point(TrialId(trial)).ok()?;
        Some(serde_json::Value::Object(point::to_json(&self.config.space, &point)).to_string())
    }

    pub(super) fn digest(&self, trial: &Trial) -> String {
        self.params(trial.id.0).map_or(String::new(), |params| job::digest(params.as_bytes()))
    }

    /// The digest of the parameters that a trial was evaluated with.
    pub(super) fn evidence_of(&self, trial: u64) -> Option<&'a str> {
        self.attempts_of(trial).find_map(|(_, found)| found.digest.as_deref())
    }

    /// What lies on disk of a trial's attempts.
    pub(super) fn attempts_of(
        &self,
        trial: u64,
    ) -> impl Iterator<Item = (AttemptId, &'a Evidence)> + use<'a> {
        let ends = [0, u32::MAX].map(|attempt| AttemptId { trial, attempt });
        self.evidence.range(ends[0]..=ends[1]).map(|(id, found)| (*id, found))
    }

    /// Adds the attempts of a trial that are on disk and not in the journal, with their job names.
    pub(super) fn intend(&mut self, id: AttemptId) -> bool {
        let ms = utc_ms();
        loop {
            let known = self.ledger.trial(id.trial).map_or(0, |trial| trial.attempts.len() as u32);
            if known >= id.attempt {
                return true;
            }
            let next = AttemptId { trial: id.trial, attempt: known + 1 };
            let Some(tag) = Tag::new(&self.ledger.study, next) else { return false };
            if !self.append(Record::Intended { id: next, tag }, ms) {
                return false;
            }
            let gone = self.evidence.get(&next).is_none_or(|found| found.digest.is_none());
            if gone && next != id {
                let lost = Finding::none(job::Kind::Infrastructure, "its records were lost");
                self.append(Record::ended(next, lost), ms);
            }
        }
    }
}

/// The end of an attempt that its answer tells.
fn ended(answer: &Answer) -> Record {
    Record::Ended {
        id: answer.id,
        finding: answer.finding.clone(),
        wall_s: Some(answer.wall_s),
        host: answer.host.clone(),
    }
}

/// The trial that a record tells the outcome of.
fn told(record: &Record) -> Option<u64> {
    match record {
        Record::Told { trial, .. } => Some(*trial),
        _ => None,
    }
}

/// The trial that a record is about.
fn subject(record: &Record) -> Option<u64> {
    match record {
        Record::Asked { trial, .. } => Some(trial.id.0),
        Record::Imported { trial, .. }
        | Record::Told { trial, .. }
        | Record::Replaced { trial, .. }
        | Record::Reopened { trial } => Some(*trial),
        Record::Intended { id, .. } | Record::Submitted { id, .. } | Record::Ended { id, .. } => {
            Some(id.trial)
        }
        Record::Created { .. }
        | Record::Opened { .. }
        | Record::Raised { .. }
        | Record::Chapter { .. }
        | Record::Recalled(_)
        | Record::Configured { .. }
        | Record::Closed { .. } => None,
    }
}
