//! Trials, their outcomes, and the history of both: the only record that crosses stages.
//!
//! A trial is asked, is pending, and is told its outcome once. Outcomes arrive in any order. Five things are
//! kept apart: a trial can be *pending* (no outcome), *failed* (the evaluation broke), *infeasible* (it ran
//! and said the point is not allowed), *invalid* (it answered with something that is not a finite number) or
//! *lost* (an accident that says nothing about the point).
//! Only the sixth, *measured*, carries a value, and that value is finite by construction: no NaN can reach a
//! model.
//!
//! Values here are the optimiser's own: smaller is better; `space::Direction` has turned the user's around.
//! A trial keeps what the strategy worked with, model coordinates z and the number of its embedding or, under
//! `auto` with many inputs, a [`Recipe`]; the point in user units is derived from these. Now and then it also carries a [`Decision`]: trials and outcomes
//! together are all that a study needs to go on after an interruption.
//!
//! Two orders are defined, and the strategies depend on both: pending trials come in the order they were
//! asked, finished ones in the order they were told. Cost: O(log n) per ask and tell, n for an id below others; iterating over pending
//! trials costs their number, not that of all trials.
//!
//! With the feature `serde` trials and outcomes can be written and read; formats must keep every bit of a number
//! (serde_json does with its feature `float_roundtrip`).
//!
//! Not here: time, attempts, jobs, and anything else of how a trial was evaluated.

mod decision;
mod recipe;

pub use decision::{Decision, Ended, Fit};
pub use recipe::{Moves, Recipe, RoundStart};

use crate::error::{Error, Result};
use std::collections::BTreeSet;
use std::fmt;

/// Identifies a trial within its history.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct TrialId(pub u64);

impl fmt::Display for TrialId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Why a trial was proposed. Quotas count by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Purpose {
    /// Part of the initial design.
    Initial,
    /// Maximises the acquisition function.
    Exploit,
    /// Maximises the posterior variance.
    Explore,
    /// Evaluated outside the study and added to it.
    Added,
    /// Tells which inputs matter, or how large the noise is.
    Probe,
}

/// What was proposed.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Trial {
    /// Its id.
    pub id: TrialId,
    /// Which of the study's embeddings z belongs to; 0 if there is one.
    pub embedding: usize,
    /// Coordinates in the space the model works in.
    pub z: Vec<f64>,
    /// Why it was proposed.
    pub purpose: Purpose,
    /// How the point was made, where z alone does not say.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub recipe: Option<Box<Recipe>>,
    /// What else was decided when it was asked; most trials have none of it.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub decision: Option<Box<Decision>>,
}

/// A finite number.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(try_from = "f64", into = "f64")
)]
pub struct Finite(f64);

impl Finite {
    /// The number.
    pub fn get(self) -> f64 {
        self.0
    }
}

impl TryFrom<f64> for Finite {
    type Error = Error;

    fn try_from(value: f64) -> Result<Finite> {
        if value.is_finite() {
            Ok(Finite(value))
        } else {
            Err(Error::NotFinite { what: "measured value", row: 0, column: 0, value })
        }
    }
}

impl From<Finite> for f64 {
    fn from(value: Finite) -> f64 {
        value.get()
    }
}

/// What came of a trial.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Outcome {
    /// The objective's value; smaller is better. Made by [`Outcome::measured`].
    Measured(Finite),
    /// The evaluation broke: a crash, a time-out, a lost job.
    Failed {
        /// What happened, for people.
        reason: String,
    },
    /// The evaluation ran and declared the point not allowed.
    Infeasible,
    /// The evaluation ran and answered with something other than a finite number.
    Invalid {
        /// What it answered.
        answer: String,
    },
    /// The evaluation was lost by an accident that is not the point's fault: no licence, a machine that went down. Nothing is
    /// known about the point, and it may be proposed again.
    Lost {
        /// What happened, for people.
        reason: String,
    },
}

impl Outcome {
    /// A measured value if it is finite; NaN and infinities are an invalid answer.
    pub fn measured(value: f64) -> Self {
        match Finite::try_from(value) {
            Ok(value) => Outcome::Measured(value),
            Err(_) => Outcome::Invalid { answer: value.to_string() },
        }
    }

    /// The measured value, if there is one.
    pub fn value(&self) -> Option<f64> {
        match self {
            Outcome::Measured(value) => Some(value.get()),
            Outcome::Failed { .. } | Outcome::Infeasible | Outcome::Invalid { .. } | Outcome::Lost { .. } => {
                None
            }
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outcome::Measured(value) => write!(f, "measured {}", value.get()),
            Outcome::Failed { reason } => write!(f, "failed: {reason}"),
            Outcome::Infeasible => f.write_str("infeasible"),
            Outcome::Invalid { answer } => write!(f, "invalid answer: {answer}"),
            Outcome::Lost { reason } => write!(f, "lost: {reason}"),
        }
    }
}

/// Whether a tell said something new.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Told {
    /// The trial was pending and is finished now.
    New,
    /// The trial had this very outcome already; nothing changed. Results that are delivered twice are
    /// harmless.
    Repeated,
}

/// A place among trials: of four thousand million of these there is no memory for one.
type Position = u32;

/// Every trial asked so far with its outcome, if told.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct History {
    /// In the order asked.
    trials: Vec<(Trial, Option<Outcome>)>,
    /// Positions in `trials`, by id. Ids mostly come in increasing order and leave none out, so the place here is the id; of a
    /// million trials a map would take three times the memory and be searched for each of them.
    by_id: Vec<Position>,
    /// Positions of trials without an outcome.
    pending: BTreeSet<usize>,
    /// Positions of trials with an outcome, in the order told.
    told: Vec<Position>,
    /// Position of the best measured trial that is within its limits.
    best: Option<usize>,
    /// Ids below are taken, also where no trial has them.
    reserved: u64,
}

impl History {
    /// A history without trials.
    pub fn new() -> Self {
        Self::default()
    }

    /// Number of trials asked.
    pub fn len(&self) -> usize {
        self.trials.len()
    }

    /// Whether nothing was asked yet.
    pub fn is_empty(&self) -> bool {
        self.trials.is_empty()
    }

    /// An id larger than every one so far; 0 for the first.
    pub fn next_id(&self) -> TrialId {
        let last = self.by_id.last().map(|&position| self.trials[position as usize].0.id);
        let next = last.map_or(0, |id| id.0.saturating_add(1));
        TrialId(next.max(self.reserved))
    }

    /// Ids below `next` are taken by trials that are not of this history.
    pub fn reserve(&mut self, next: TrialId) {
        self.reserved = self.reserved.max(next.0);
    }

    /// Adds a pending trial, and shows it.
    pub fn ask(&mut self, trial: Trial) -> Result<&Trial> {
        if let Some(column) = trial.z.iter().position(|z| !z.is_finite()) {
            return Err(Error::NotFinite { what: "z of the trial", row: 0, column, value: trial.z[column] });
        }
        let Err(place) = self.place(trial.id) else {
            return Err(Error::DuplicateTrial { id: trial.id.0 });
        };
        let position = self.trials.len();
        self.by_id.insert(place, position as Position);
        self.pending.insert(position);
        self.trials.push((trial, None));
        Ok(&self.trials[position].0)
    }

    /// The place of a trial in `by_id`; if there is none, where it would be.
    fn place(&self, id: TrialId) -> std::result::Result<usize, usize> {
        // Ids increase from one place to the next, so none is below its place.
        let last = usize::try_from(id.0).unwrap_or(usize::MAX).min(self.by_id.len());
        let at = |position: &Position| self.trials[*position as usize].0.id;
        match self.by_id.get(last) {
            Some(position) if at(position) == id => Ok(last),
            None if self.by_id.last().is_none_or(|position| at(position) < id) => Err(last),
            _ => self.by_id[..last].binary_search_by_key(&id, at),
        }
    }

    /// The position of a trial in `trials`.
    fn position(&self, id: TrialId) -> Option<usize> {
        self.place(id).ok().map(|place| self.by_id[place] as usize)
    }

    /// Finishes a pending trial. Telling the same outcome again is accepted and changes nothing; a different
    /// one is an error and changes nothing.
    pub fn tell(&mut self, id: TrialId, outcome: Outcome) -> Result<Told> {
        self.tell_judged(id, outcome, true)
    }

    /// As [`History::tell`], for a point that may be beyond a limit: it cannot be the best then, whatever its value.
    pub fn tell_judged(&mut self, id: TrialId, outcome: Outcome, is_feasible: bool) -> Result<Told> {
        let position = self.position(id).ok_or(Error::UnknownTrial { id: id.0 })?;
        let told = &mut self.trials[position].1;
        match told {
            Some(first) if *first == outcome => return Ok(Told::Repeated),
            Some(first) => {
                let (first, second) = (first.to_string(), outcome.to_string());
                return Err(Error::AlreadyTold { id: id.0, first, second });
            }
            None => {}
        }
        let value = outcome.value();
        *told = Some(outcome);
        self.pending.remove(&position);
        self.told.push(position as Position);
        if let Some(value) = value
            && is_feasible
            && self.best().is_none_or(|(_, best)| value < best)
        {
            self.best = Some(position);
        }
        Ok(Told::New)
    }

    /// A trial and its outcome, `None` while pending.
    pub fn get(&self, id: TrialId) -> Option<(&Trial, Option<&Outcome>)> {
        let (trial, outcome) = &self.trials[self.position(id)?];
        Some((trial, outcome.as_ref()))
    }

    /// All trials in the order asked.
    pub fn iter(&self) -> impl Iterator<Item = (&Trial, Option<&Outcome>)> {
        self.trials.iter().map(|(trial, outcome)| (trial, outcome.as_ref()))
    }

    /// Trials without an outcome, in the order asked.
    pub fn pending(&self) -> impl ExactSizeIterator<Item = &Trial> {
        self.pending.iter().map(|&position| &self.trials[position].0)
    }

    /// Trials with an outcome, in the order told.
    pub fn finished(&self) -> impl Iterator<Item = (&Trial, &Outcome)> {
        self.told.iter().filter_map(|&position| {
            let (trial, outcome) = &self.trials[position as usize];
            outcome.as_ref().map(|outcome| (trial, outcome))
        })
    }

    /// Trials with a measured value, in the order told: what a model may see.
    pub fn measured(&self) -> impl Iterator<Item = (&Trial, f64)> {
        self.finished().filter_map(|(trial, outcome)| outcome.value().map(|value| (trial, value)))
    }

    /// The trial with the smallest measured value of those within their limits, the first told of equals.
    pub fn best(&self) -> Option<(&Trial, f64)> {
        let (trial, outcome) = &self.trials[self.best?];
        outcome.as_ref().and_then(Outcome::value).map(|value| (trial, value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;

    fn trial(id: u64) -> Trial {
        let z = vec![id as f64, -1.0];
        Trial { id: TrialId(id), embedding: 0, z, purpose: Purpose::Initial, recipe: None, decision: None }
    }

    fn asked(ids: impl IntoIterator<Item = u64>) -> History {
        let mut history = History::new();
        for id in ids {
            history.ask(trial(id)).unwrap();
        }
        history
    }

    fn ids<'a>(trials: impl Iterator<Item = &'a Trial>) -> Vec<u64> {
        trials.map(|trial| trial.id.0).collect()
    }

    #[test]
    fn only_finite_values_are_measured() {
        assert_eq!(Outcome::measured(-1.5).value(), Some(-1.5));
        assert_eq!(Outcome::measured(f64::NAN), Outcome::Invalid { answer: "NaN".into() });
        assert_eq!(Outcome::measured(f64::NEG_INFINITY), Outcome::Invalid { answer: "-inf".into() });
    }

    #[test]
    fn outcomes_in_any_order_keep_both_orders() {
        let mut history = asked([4, 0, 2, 9, 7]);
        assert_eq!(history.next_id(), TrialId(10));
        let told = [
            (9, Outcome::measured(3.0)),
            (4, Outcome::Failed { reason: "killed".into() }),
            (7, Outcome::measured(f64::NAN)),
            (0, Outcome::measured(3.0)),
        ];
        for (id, outcome) in told {
            assert_eq!(history.tell(TrialId(id), outcome), Ok(Told::New));
        }
        assert_eq!(ids(history.iter().map(|(trial, _)| trial)), [4, 0, 2, 9, 7]);
        history.reserve(TrialId(12));
        history.reserve(TrialId(3));
        assert_eq!(history.next_id(), TrialId(12));
        assert_eq!(ids(history.finished().map(|(trial, _)| trial)), [9, 4, 7, 0]);
        assert_eq!(ids(history.measured().map(|(trial, _)| trial)), [9, 0]);
        assert_eq!(ids(history.pending()), [2]);
        // The first told of two equal values is the best; a smaller one takes its place.
        assert_eq!(history.best().map(|(trial, value)| (trial.id.0, value)), Some((9, 3.0)));
        history.tell(TrialId(2), Outcome::measured(-1.0)).unwrap();
        assert_eq!(history.best().map(|(trial, value)| (trial.id.0, value)), Some((2, -1.0)));
        assert_eq!(history.pending().len(), 0);
        assert_eq!(history.get(TrialId(4)).unwrap().1, Some(&Outcome::Failed { reason: "killed".into() }));
        assert_eq!(history.get(TrialId(5)), None);
    }

    #[test]
    fn without_a_measurement_there_is_no_best() {
        let mut history = asked([0, 1]);
        history.tell(TrialId(0), Outcome::Infeasible).unwrap();
        assert_eq!(history.best(), None);
    }

    #[test]
    fn refused_calls_change_nothing() {
        let mut history = asked([0, 1]);
        history.tell(TrialId(1), Outcome::measured(2.0)).unwrap();
        let before = history.clone();
        assert_eq!(history.ask(trial(1)), Err(Error::DuplicateTrial { id: 1 }));
        let bad = Trial { z: vec![0.0, f64::NAN], ..trial(5) };
        assert!(matches!(history.ask(bad), Err(Error::NotFinite { column: 1, .. })));
        assert_eq!(history.tell(TrialId(8), Outcome::Infeasible), Err(Error::UnknownTrial { id: 8 }));
        assert_eq!(history.tell(TrialId(1), Outcome::measured(2.0)), Ok(Told::Repeated));
        let (first, second) = ("measured 2".to_string(), "infeasible".to_string());
        assert_eq!(
            history.tell(TrialId(1), Outcome::Infeasible),
            Err(Error::AlreadyTold { id: 1, first, second })
        );
        assert_eq!(history, before);
    }

    #[test]
    fn random_traffic_agrees_with_a_plain_record() {
        let seed = 31;
        let mut stream = Stream::new(seed, "history", 0);
        let mut history = History::new();
        let (mut open, mut told): (Vec<u64>, Vec<(u64, Option<f64>)>) = (Vec::new(), Vec::new());
        for _ in 0..5_000 {
            if open.is_empty() || stream.uniform() < 0.5 {
                let id = history.next_id();
                history.ask(trial(id.0)).unwrap();
                open.push(id.0);
            } else {
                let id = open.remove(stream.below(open.len()));
                // Few different values, so that ties happen.
                let outcome = match stream.below(4) {
                    0 => Outcome::Infeasible,
                    _ => Outcome::measured(100.0 - stream.below(100) as f64),
                };
                told.push((id, outcome.value()));
                history.tell(TrialId(id), outcome).unwrap();
            }
        }
        let measured: Vec<(u64, f64)> = told.iter().filter_map(|&(id, v)| v.map(|v| (id, v))).collect();
        let smallest = measured.iter().map(|&(_, v)| v).fold(f64::INFINITY, f64::min);
        let best = measured.iter().copied().find(|&(_, v)| v == smallest);
        assert_eq!(ids(history.pending()), open, "seed {seed}");
        assert_eq!(
            ids(history.finished().map(|(trial, _)| trial)),
            told.iter().map(|t| t.0).collect::<Vec<_>>()
        );
        assert_eq!(history.measured().map(|(trial, v)| (trial.id.0, v)).collect::<Vec<_>>(), measured);
        assert_eq!(history.best().map(|(trial, v)| (trial.id.0, v)), best, "seed {seed}");
        assert_eq!(history.len(), open.len() + told.len());
    }
}
