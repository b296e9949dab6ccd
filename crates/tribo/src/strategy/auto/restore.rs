//! A trial of an earlier process: which part asked for it?
//!
//! The machine is restored by running its events again, so it knows what it would have asked. A trial that is not that is
//! refused.

use super::Auto;
use crate::error::{Error, RestoreFault, Result};
use crate::strategy::engine::Origin;
use crate::trial::Trial;

impl Auto {
    /// Which part an earlier process asked this trial for; refuses one that this machine would not have asked.
    pub(super) fn origin_of(&self, trial: &Trial) -> Result<Origin> {
        let fault = |fault| Err(Error::Restore { id: trial.id.0, fault });
        let origin = self.turn();
        if self.is_makeshift(trial, origin) {
            self.check_makeshift(trial)?;
            return Ok(Origin::Makeshift);
        }
        if origin != Origin::Model {
            let planned = self.planned(origin, trial.id).trial;
            let same = match (&trial.recipe, &planned.recipe) {
                (Some(recipe), Some(planned_recipe)) => recipe.is_same(planned_recipe),
                _ => false,
            };
            let same = same && trial.z == planned.z;
            return if same { Ok(origin) } else { fault(RestoreFault::Recipe) };
        }
        if trial.recipe.as_deref() != Some(&self.search.recipe(&self.context)?) {
            return fault(RestoreFault::Recipe);
        }
        let expected = self.search.dim(&self.context);
        match trial.z.len() {
            found if found == expected => Ok(origin),
            found => fault(RestoreFault::Length { what: "z", expected, found }),
        }
    }
}
