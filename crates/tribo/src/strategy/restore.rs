//! Taking the trials of an earlier process, so that a study goes on where that one stopped.
//!
//! Records are checked as anything from outside is: a trial that does not belong to this study is refused by its number.
//! What cannot be checked is whether all records are there; a trial that carries a decision says how many results it was
//! made with, and a gap before it shows.

use super::study::{Machine, REDRAWS, Study, fingerprint};
use crate::error::{Error, RestoreFault, Result};
use crate::trial::Trial;

impl Study {
    /// Takes a trial that an earlier process asked, as it was in that study's [history](Study::history). With all trials and outcomes
    /// taken in the order they came in, the next proposals are those of the earlier study, bit for bit, on one type of
    /// machine. Nothing is computed here but checks; the first ask makes the model once. An error changes nothing.
    pub fn restore_asked(&mut self, trial: Trial) -> Result<()> {
        let id = trial.id;
        let refuse = |fault| Err(Error::Restore { id: id.0, fault });
        if self.history.get(id).is_some() {
            return Err(Error::DuplicateTrial { id: id.0 });
        }
        let next = self.history.next_id();
        if id < next {
            return refuse(RestoreFault::Order { last: next.0 - 1 });
        }
        if let Some(&value) = trial.z.iter().find(|z| !z.is_finite()) {
            return refuse(RestoreFault::Number { what: "z", value });
        }
        let count = self.n_embeddings();
        if trial.embedding >= count {
            return refuse(RestoreFault::Embedding { found: trial.embedding, count });
        }
        match &mut self.machine {
            Machine::Random => match *trial.z {
                [] => {}
                [draw] if draw.fract() == 0.0 && (0.0..=REDRAWS as f64).contains(&draw) => {}
                [value] => return refuse(RestoreFault::Number { what: "number of redraws", value }),
                [..] => {
                    let (what, expected, found) = ("z", 1, trial.z.len());
                    return refuse(RestoreFault::Length { what, expected, found });
                }
            },
            Machine::Auto(auto) => auto.restored(&trial)?,
            Machine::Arms { arms, .. } => {
                let arm = &mut arms[trial.embedding];
                let (expected, found) = (arm.embedding().model_dim(), trial.z.len());
                if found != expected {
                    return refuse(RestoreFault::Length { what: "z", expected, found });
                }
                arm.restored(&trial, arm.to_unit(&trial.z))?;
            }
        }
        self.restored.push(id);
        self.history.ask(trial)
    }

    fn n_embeddings(&self) -> usize {
        match &self.machine {
            Machine::Random | Machine::Auto(_) => 1,
            Machine::Arms { arms, .. } => arms.len(),
        }
    }

    /// Takes note of the points of restored trials.
    pub(super) fn look_at_restored(&mut self) -> Result<()> {
        while let Some(&id) = self.restored.last() {
            if let Some((trial, _)) = self.history.get(id) {
                let canonical = self.canonical(trial, draw_of(trial))?;
                self.proposed.insert(fingerprint(&canonical));
            }
            self.restored.pop();
        }
        Ok(())
    }
}

/// Uniform points drawn before the one of a trial of `random`.
pub(super) fn draw_of(trial: &Trial) -> u64 {
    trial.z.first().map_or(0, |&draw| draw as u64)
}
