//! The state of a study as its journal tells it: trials, their attempts, what came of them.
//!
//! A pure fold over the records. The driver applies each record it appends, a reader applies those it replays, and both
//! see the same. Records that contradict what came before are refused: a journal that passes its checksums and does not
//! add up was written by something else.

use super::format::Format;
use super::record::{Engine, Entry, Record};
use crate::job::{Finding, Kind};
use crate::point;
use crate::recalled::Recalled;
use crate::tag::{AttemptId, StudyId, Tag};
use std::collections::BTreeSet;
use tribo::trial::Trial;

/// The state of a study.
#[derive(Debug, Clone, PartialEq)]
pub struct Ledger {
    /// Its id.
    pub study: StudyId,
    /// The format of the journal.
    pub format: Format,
    /// The one that it began in.
    pub first_format: Format,
    /// The study file in force.
    pub config: String,
    /// When it was created, ms since 1970.
    pub created_ms: u64,
    /// When the last record was written.
    pub last_ms: u64,
    /// Number of the next record.
    pub next: u64,
    /// Epoch of the last driver.
    pub epoch: u64,
    /// Why the last driver left, if it left in good order.
    pub closed: Option<String>,
    /// By id, in boxes: a list that grows is up to half empty, and of 100,000 states that is much. Ids begin with 0 and mostly
    /// leave none out, so the place of a trial is its id; a map would be searched for every one of 100,000 at each look.
    trials: Vec<(u64, Box<TrialState>)>,
    /// Trials without an outcome.
    open: BTreeSet<u64>,
    /// Trials with an outcome, in the order told, and evaluations taken in from elsewhere.
    told: Vec<u64>,
    /// Trials that the optimiser proposed.
    n_asked: usize,
    /// Of those, the ones that were lost.
    n_lost: usize,
    /// Order of asked, imported, told and revised, for rebuilding the optimiser.
    events: Vec<Event>,
    /// The chapters before the present one, and the present one.
    chapters: Vec<Chapter>,
    /// What earlier results say that are not trials.
    recalled: Option<Box<Recalled>>,
    /// How points from elsewhere are written.
    kinds: point::Kinds,
}

/// A part of a study in which one engine makes the proposals, by one study file.
#[derive(Debug, Clone, PartialEq)]
pub struct Chapter {
    /// The study file in force; in a chapter that is over, when it ended.
    pub config: String,
    /// The study file when it began, which says what parameters were before they were added.
    pub first_config: String,
    /// What makes the proposals.
    pub engine: Option<Engine>,
    /// Events before it.
    pub first_event: usize,
    /// The first trial that it can ask.
    pub first_trial: u64,
    /// Evaluations spent before it.
    pub n_spent_before: usize,
}

/// What the optimiser has to be told again, in this order, to be as it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// This trial was asked.
    Asked(u64),
    /// This trial was made of an evaluation from elsewhere.
    Imported(u64),
    /// This trial was told its outcome.
    Told(u64),
    /// The outcome of this trial was replaced or taken back; the last event before a chapter.
    Revised(u64),
}

impl Event {
    /// Its trial.
    pub fn trial(self) -> u64 {
        let (Event::Asked(trial) | Event::Imported(trial) | Event::Told(trial) | Event::Revised(trial)) =
            self;
        trial
    }
}

/// A trial.
#[derive(Debug, Clone, PartialEq)]
pub struct TrialState {
    /// Where it came from.
    pub source: Source,
    /// When it was asked or imported.
    pub asked_ms: u64,
    /// Its attempts, in order.
    pub attempts: Vec<AttemptState>,
    /// Its outcome.
    pub outcome: Option<Finding>,
    /// When that was told.
    pub told_ms: u64,
    /// The events up to and with the one that told it.
    pub told_at: usize,
    /// What held before it was replaced or taken back, each with the events from which on it did.
    pub revised: Vec<(usize, Option<Finding>)>,
    /// Number of the record that took the last outcome back: what ended before does not count any more.
    pub reopened: Option<u64>,
}

impl TrialState {
    /// A trial that was just made.
    pub fn new(source: Source, asked_ms: u64) -> TrialState {
        TrialState {
            source,
            asked_ms,
            attempts: vec![],
            outcome: None,
            told_ms: 0,
            told_at: 0,
            revised: vec![],
            reopened: None,
        }
    }

    /// Whether a person evaluates it.
    pub fn is_by_hand(&self) -> bool {
        matches!(self.source, Source::Asked { by_hand: true, .. })
    }

    /// Attempts that have ended, but for those whose outcome was taken back.
    pub fn ends(&self) -> impl DoubleEndedIterator<Item = (&AttemptState, &End)> {
        let counts = |end: &&End| self.reopened.is_none_or(|n| end.n > n);
        self.attempts.iter().filter_map(move |attempt| Some((attempt, attempt.end.as_ref().filter(counts)?)))
    }

    /// The attempt that decides the outcome: the first that does so by itself, else the last.
    pub fn deciding(&self) -> Option<&AttemptState> {
        let settled = self.ends().find(|(_, end)| end.is_final()).map(|(attempt, _)| attempt);
        settled.or(self.attempts.last())
    }

    /// Its outcome after so many events, as it was held for right then.
    pub fn outcome_after(&self, n_events: usize) -> Option<&Finding> {
        match &self.outcome {
            Some(finding) if self.told_at <= n_events => Some(finding),
            _ => self.revised.iter().rev().find(|(from, _)| *from <= n_events)?.1.as_ref(),
        }
    }
}

/// Where a trial came from.
#[derive(Debug, Clone, PartialEq)]
pub enum Source {
    /// The optimiser proposed it.
    Asked {
        /// As the optimiser has it. In a box: most trials of a long journal may come from elsewhere.
        trial: Box<Trial>,
        /// Whether a person evaluates it: no driver does.
        by_hand: bool,
    },
    /// It was evaluated elsewhere: parameters by name.
    Imported(point::Written),
}

/// An attempt.
#[derive(Debug, Clone, PartialEq)]
pub struct AttemptState {
    /// Which.
    pub id: AttemptId,
    /// Its job name.
    pub tag: Tag,
    /// When it was intended.
    pub intended_ms: u64,
    /// The runner's id, once acknowledged.
    pub job: Option<String>,
    /// When that was.
    pub submitted_ms: u64,
    /// How it ended.
    pub end: Option<End>,
}

/// The end of an attempt.
#[derive(Debug, Clone, PartialEq)]
pub struct End {
    /// What came of it.
    pub finding: Finding,
    /// Seconds it took, if a job told.
    pub wall_s: Option<f64>,
    /// Where, if known.
    pub host: String,
    /// When it was recorded.
    pub ms: u64,
    /// Number of that record.
    pub n: u64,
}

impl End {
    /// Whether it decides the trial, whatever other attempts come to.
    pub fn is_final(&self) -> bool {
        matches!(self.finding.kind, Kind::Ok | Kind::Infeasible | Kind::Invalid)
    }

    /// Whether the job was given up: it may answer after all.
    pub fn is_given_up(&self) -> bool {
        matches!(self.finding.kind, Kind::Lost | Kind::Infrastructure)
    }
}

impl Ledger {
    /// The state after the first record, which must be `Created`. The error says what is wrong.
    pub fn begin(first: &Entry) -> Result<Ledger, String> {
        let Record::Created { format, study, config, engine, .. } = &first.record else {
            return Err("the first record does not create a study".to_owned());
        };
        if first.n != 0 {
            return Err(format!("the first record has number {}", first.n));
        }
        Ok(Ledger {
            study: study.clone(),
            format: *format,
            first_format: *format,
            config: config.clone(),
            created_ms: first.ms,
            last_ms: first.ms,
            next: 1,
            epoch: first.epoch,
            closed: None,
            trials: vec![],
            open: BTreeSet::new(),
            told: vec![],
            n_asked: 0,
            n_lost: 0,
            events: vec![],
            chapters: vec![Chapter {
                config: config.clone(),
                first_config: config.clone(),
                engine: engine.clone(),
                first_event: 0,
                first_trial: 0,
                n_spent_before: 0,
            }],
            recalled: None,
            kinds: point::Kinds::default(),
        })
    }

    /// Takes in the next record. The error says what does not add up; the state is then unchanged.
    pub fn apply(&mut self, entry: &Entry) -> Result<(), String> {
        if entry.n != self.next {
            return Err(format!("record {} where {} was expected", entry.n, self.next));
        }
        if entry.epoch < self.epoch {
            return Err(format!("epoch {} after {}", entry.epoch, self.epoch));
        }
        self.change(entry)?;
        self.next += 1;
        self.epoch = entry.epoch;
        self.last_ms = entry.ms;
        Ok(())
    }

    fn change(&mut self, entry: &Entry) -> Result<(), String> {
        let ms = entry.ms;
        match &entry.record {
            Record::Created { .. } => return Err("the study is created twice".to_owned()),
            Record::Raised { format, .. } if *format <= self.format => {
                return Err(format!("the format is raised from {} to {format}", self.format));
            }
            Record::Raised { format, .. } => self.format = *format,
            Record::Opened { .. } => self.closed = None,
            Record::Configured { config } => {
                self.config.clone_from(config);
                if let Some(chapter) = self.chapters.last_mut() {
                    chapter.config.clone_from(config);
                }
            }
            Record::Chapter { config, engine, .. } => {
                self.config.clone_from(config);
                self.begin_chapter(Some(engine.clone()));
            }
            Record::Asked { trial, by_hand } => {
                let source = Source::Asked { trial: Box::new(trial.clone()), by_hand: *by_hand };
                self.insert(trial.id.0, source, ms)?;
                self.open.insert(trial.id.0);
                self.n_asked += 1;
                self.events.push(Event::Asked(trial.id.0));
            }
            Record::Imported { trial, point, outputs } => {
                let point = point.compact(&mut self.kinds);
                self.insert(*trial, Source::Imported(point), ms)?;
                self.events.push(Event::Imported(*trial));
                self.decide(*trial, Finding::measured(outputs.clone()), ms)?;
                self.told.push(*trial);
            }
            Record::Recalled(recalled) => {
                if self.n_asked > 0 || self.recalled.is_some() {
                    return Err(
                        "earlier results are read a second time, or after the first proposal".to_owned()
                    );
                }
                self.recalled = Some(recalled.clone());
            }
            Record::Intended { id, tag } => {
                let state = self.trial_mut(id.trial)?;
                if state.outcome.is_some() || id.attempt as usize != state.attempts.len() + 1 {
                    return Err(format!("attempt {id} is out of turn"));
                }
                let attempt = AttemptState {
                    id: *id,
                    tag: tag.clone(),
                    intended_ms: ms,
                    job: None,
                    submitted_ms: 0,
                    end: None,
                };
                // Most trials have one attempt, and a list that grows by itself begins with room for four.
                state.attempts.reserve_exact(1);
                state.attempts.push(attempt);
            }
            Record::Submitted { id, job } => {
                let attempt = self.attempt_mut(*id)?;
                (attempt.job, attempt.submitted_ms) = (Some(job.clone()), ms);
            }
            Record::Ended { id, finding, wall_s, host } => {
                let attempt = self.attempt_mut(*id)?;
                if attempt.end.as_ref().is_some_and(|end| !end.is_given_up()) {
                    return Err(format!("attempt {id} ends twice"));
                }
                let (finding, host) = (finding.clone(), host.clone());
                attempt.end = Some(End { finding, wall_s: *wall_s, host, ms, n: entry.n });
            }
            Record::Told { trial, finding } => {
                if self.trial_mut(*trial)?.outcome.is_some() {
                    return Err(format!("trial {trial} is told twice"));
                }
                self.events.push(Event::Told(*trial));
                self.decide(*trial, finding.clone(), ms)?;
                self.open.remove(trial);
                self.told.push(*trial);
            }
            Record::Replaced { trial, finding } => {
                self.take_back(*trial)?;
                self.decide(*trial, finding.clone(), ms)?;
                self.begin_again();
            }
            Record::Reopened { trial } => {
                if matches!(self.trial_mut(*trial)?.source, Source::Imported(_)) {
                    return Err(format!(
                        "trial {trial} was evaluated elsewhere and is to be evaluated again"
                    ));
                }
                self.take_back(*trial)?;
                let from = self.events.len();
                let state = self.trial_mut(*trial)?;
                state.revised.push((from, None));
                state.reopened = Some(entry.n);
                self.open.insert(*trial);
                self.told.retain(|told| told != trial);
                self.begin_again();
            }
            Record::Closed { why } => self.closed = Some(why.clone()),
        }
        Ok(())
    }

    fn insert(&mut self, trial: u64, source: Source, ms: u64) -> Result<(), String> {
        match self.place(trial) {
            Ok(_) => Err(format!("trial {trial} is asked twice")),
            Err(place) => {
                self.trials.insert(place, (trial, Box::new(TrialState::new(source, ms))));
                Ok(())
            }
        }
    }

    /// The place of a trial; if there is none, where it would be.
    fn place(&self, trial: u64) -> Result<usize, usize> {
        // Ids do not decrease from one place to the next, and none is below its place.
        let last = usize::try_from(trial).unwrap_or(usize::MAX).min(self.trials.len());
        match self.trials.get(last) {
            Some((id, _)) if *id == trial => Ok(last),
            None if self.trials.last().is_none_or(|(id, _)| *id < trial) => Err(last),
            _ => self.trials[..last].binary_search_by_key(&trial, |(id, _)| *id),
        }
    }

    /// Keeps the outcome of a trial, as of the events so far.
    fn decide(&mut self, trial: u64, finding: Finding, ms: u64) -> Result<(), String> {
        let told_at = self.events.len();
        let is_lost = finding.kind == Kind::Lost;
        let state = self.trial_mut(trial)?;
        let gives_back = is_lost && matches!(state.source, Source::Asked { .. });
        (state.outcome, state.told_ms, state.told_at) = (Some(finding), ms, told_at);
        self.n_lost += usize::from(gives_back);
        Ok(())
    }

    /// Takes the outcome of a trial back, which is an event.
    fn take_back(&mut self, trial: u64) -> Result<(), String> {
        let state = self.trial_mut(trial)?;
        let Some(before) = state.outcome.take() else {
            return Err(format!("trial {trial} has no outcome that could be taken back"));
        };
        let gave_back = before.kind == Kind::Lost && matches!(state.source, Source::Asked { .. });
        state.revised.push((state.told_at, Some(before)));
        self.n_lost -= usize::from(gave_back);
        if let Some(last) = self.chapters.last_mut()
            && last.first_event == self.events.len()
        {
            // Nothing has happened in it yet: it begins after this.
            last.first_event += 1;
        }
        self.events.push(Event::Revised(trial));
        Ok(())
    }

    /// What was revised is known to a chapter that has only begun; else one begins, with the same study file and engine.
    fn begin_again(&mut self) {
        let (n_events, n_spent) = (self.events.len(), self.n_spent());
        match self.chapters.last_mut() {
            Some(last) if last.first_event == n_events => last.n_spent_before = n_spent,
            last => {
                let engine = last.and_then(|last| last.engine.clone());
                self.begin_chapter(engine);
            }
        }
    }

    fn begin_chapter(&mut self, engine: Option<Engine>) {
        self.chapters.push(self.next_chapter(engine));
    }

    /// A chapter that would begin now, with the study file in force.
    pub fn next_chapter(&self, engine: Option<Engine>) -> Chapter {
        Chapter {
            config: self.config.clone(),
            first_config: self.config.clone(),
            engine,
            first_event: self.events.len(),
            first_trial: self.trials.last().map_or(0, |(id, _)| id + 1),
            n_spent_before: self.n_spent(),
        }
    }

    /// Whether a trial can be evaluated again; the error says why not.
    pub fn may_reopen(&self, trial: u64) -> Result<(), String> {
        let Some(state) = self.trial(trial) else {
            return Err(format!("there is no trial {trial}: the study has {} trials", self.trials.len()));
        };
        match (&state.outcome, &state.source) {
            (None, _) => Err(format!("trial {trial} is not over yet")),
            (Some(_), Source::Imported(_)) => Err(format!(
                "trial {trial} was evaluated elsewhere; `tribo tell {trial} VALUE --replace` corrects its value"
            )),
            (Some(Finding { kind: Kind::Ok, .. }), _) => {
                Err(format!("trial {trial} has a value; `tribo tell {trial} VALUE --replace` corrects it"))
            }
            _ if state.attempts.len() >= Tag::ATTEMPTS as usize => {
                Err(format!("trial {trial} had {} attempts, which is all that it can have", Tag::ATTEMPTS))
            }
            _ => Ok(()),
        }
    }

    fn trial_mut(&mut self, trial: u64) -> Result<&mut TrialState, String> {
        match self.place(trial) {
            Ok(place) => Ok(&mut self.trials[place].1),
            Err(_) => Err(format!("trial {trial} was never asked")),
        }
    }

    fn attempt_mut(&mut self, id: AttemptId) -> Result<&mut AttemptState, String> {
        let state = self.trial_mut(id.trial)?;
        let index = (id.attempt as usize).wrapping_sub(1);
        state.attempts.get_mut(index).ok_or_else(|| format!("attempt {id} was never intended"))
    }

    /// A trial.
    pub fn trial(&self, trial: u64) -> Option<&TrialState> {
        self.place(trial).ok().map(|place| &*self.trials[place].1)
    }

    /// An attempt.
    pub fn attempt(&self, id: AttemptId) -> Option<&AttemptState> {
        self.trial(id.trial)?.attempts.get((id.attempt as usize).wrapping_sub(1))
    }

    /// All trials, by id.
    pub fn trials(&self) -> impl ExactSizeIterator<Item = (u64, &TrialState)> {
        self.trials.iter().map(|(id, state)| (*id, &**state))
    }

    /// Trials without an outcome, by id.
    pub fn open(&self) -> impl ExactSizeIterator<Item = (u64, &TrialState)> {
        self.open.iter().map(|&id| (id, self.known(id)))
    }

    /// Trials with an outcome, in the order told.
    pub fn told(&self) -> impl ExactSizeIterator<Item = (u64, &TrialState)> + DoubleEndedIterator {
        self.told.iter().map(|&id| (id, self.known(id)))
    }

    /// A trial that was inserted.
    fn known(&self, trial: u64) -> &TrialState {
        let (Ok(place) | Err(place)) = self.place(trial);
        &self.trials[place].1
    }

    /// Attempts that were intended and have not ended, of trials without an outcome.
    pub fn live(&self) -> impl Iterator<Item = &AttemptState> {
        self.open().flat_map(|(_, trial)| trial.attempts.iter().filter(|attempt| attempt.end.is_none()))
    }

    /// How many trials the optimiser proposed, which is what a budget of evaluations counts. Trials that were lost by an
    /// accident give theirs back.
    pub fn n_spent(&self) -> usize {
        self.n_asked - self.n_lost
    }

    /// How many trials were lost by an accident.
    pub fn n_lost(&self) -> usize {
        self.n_lost
    }

    /// What earlier results say that are not trials.
    pub fn recalled(&self) -> Option<&Recalled> {
        self.recalled.as_deref()
    }

    /// Its chapters, in order; there is one at least.
    pub fn chapters(&self) -> &[Chapter] {
        &self.chapters
    }

    /// What the optimiser was asked and told, in order.
    pub fn events(&self) -> &[Event] {
        &self.events
    }
}
