//! A trial of an earlier process: which part asked for it? The machine is restored by running its events again, so it knows what
//! it would have asked. A trial that is not that is refused.

use super::LimitedAuto;
use crate::error::{Error, RestoreFault, Result};
use crate::strategy::engine::Origin;
use crate::trial::{Recipe, Trial};

impl LimitedAuto {
    /// Which part an earlier process asked this trial for; refuses one that this machine would not have asked.
    pub(super) fn origin_of(&self, trial: &Trial) -> Result<Origin> {
        let refused = |fault| Error::Restore { id: trial.id.0, fault };
        let length = |expected: usize| match trial.z.len() {
            found if found == expected => Ok(()),
            found => Err(refused(RestoreFault::Length { what: "z", expected, found })),
        };
        let (origin, recipe) = (self.turn(), trial.recipe.as_deref());
        let fell_back = trial.decision.as_ref().is_some_and(|decision| decision.fell_back.is_some());
        if let Some(search) = self.search.as_ref().filter(|_| origin == Origin::Model) {
            if recipe == search.recipe().as_ref() {
                return length(search.dim(&self.recipes)).map(|()| origin);
            }
            if recipe.is_some() && recipe == self.others_moved().as_ref() {
                return length(0).map(|()| Origin::Makeshift);
            }
        }
        if fell_back && recipe == Some(&Recipe::Uniform) {
            return length(0).map(|()| Origin::Makeshift);
        }
        let planned = self.planned(origin, trial.id).trial;
        if origin == Origin::Model || recipe != planned.recipe.as_deref() {
            return Err(refused(RestoreFault::Recipe));
        }
        length(0).map(|()| origin)
    }
}
