//! Taking the trials of an earlier process, so that a study goes on where that one stopped.
//!
//! Records are checked as anything from outside is: a trial that does not belong to this study is refused by its number.
//! What cannot be checked is whether all records are there; a trial that carries a decision says how many results it was
//! made with, and a gap before it shows.

use super::Study;
use crate::error::{Error, RestoreFault, Result};
use crate::trial::{Recipe, Trial};

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
        let count = self.engine.n_embeddings();
        if trial.embedding >= count {
            return refuse(RestoreFault::Embedding { found: trial.embedding, count });
        }
        match trial.recipe.as_deref() {
            Some(Recipe::Given) => {
                let (expected, found) = (self.space.dim(), trial.z.len());
                if found != expected {
                    return refuse(RestoreFault::Length { what: "z", expected, found });
                }
                self.engine.adopted(&trial);
            }
            _ => self.engine.restored(&trial)?,
        }
        self.restored.push(id);
        self.history.ask(trial)?;
        Ok(())
    }
}
