//! The search under limits over what was found: the inputs named, while the others stay as in one trial; all of them, where too
//! many matter to name them; bins of them, where they are too many to be written down.

use super::table::{Row, Table};
use crate::error::{Error, Result};
use crate::limit::Limit;
use crate::strategy::auto::recipes::Recipes;
use crate::strategy::auto::tuning;
use crate::strategy::engine::{Engine, Located, Next, Plan};
use crate::strategy::limits::Limited;
use crate::strategy::settings::Settings;
use crate::surrogate::watch::Watch;
use crate::trial::{Purpose, Recipe, Trial, TrialId};

/// What is searched.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Searched {
    /// Some inputs, in increasing order.
    Inputs(Vec<usize>),
    /// All inputs: z is all of the point.
    All,
    /// Common moves of bins, of this draw.
    Bins(usize),
}

/// A search.
pub(super) struct Search {
    pub(super) searched: Searched,
    /// The trial that the other inputs are as in.
    base: TrialId,
    pub(super) engine: Limited,
}

impl Search {
    /// A search that knows all results which lie in its space, and awaits those `pending`.
    pub(super) fn new(
        searched: Searched,
        base: TrialId,
        recipes: &Recipes,
        limits: &[Limit],
        seed: u64,
        (table, pending): (&Table, &[TrialId]),
    ) -> Result<Search> {
        let all = || (0..recipes.n_inputs).collect::<Vec<usize>>();
        let (dim, region) = match &searched {
            Searched::Inputs(inputs) => (recipes.width(inputs), recipes.region(inputs, base)),
            Searched::All => (recipes.dim(), recipes.region(&all(), base)),
            Searched::Bins(_) => (tuning::BINS, None),
        };
        let engine = Limited::over(dim, region, &Settings::bo(), limits.to_vec(), seed)?;
        let mut search = Search { searched, base, engine };
        for Row { id, values, in_model } in &table.rows {
            if *in_model && search.expect(recipes, *id)? {
                search.told(*id, values);
            }
        }
        for &id in pending {
            search.expect(recipes, id)?;
        }
        Ok(search)
    }

    /// Where a trial is in the space of the search, if it is in it.
    fn place(&self, recipes: &Recipes, id: TrialId) -> Option<Vec<f64>> {
        match &self.searched {
            Searched::Inputs(inputs) => Some(recipes.of(id, inputs)),
            Searched::All => Some(recipes.of(id, &(0..recipes.n_inputs).collect::<Vec<usize>>())),
            Searched::Bins(number) => match recipes.recipe(id) {
                Some(Recipe::Bins { base, number: other }) if *base == self.base && other == number => {
                    Some(recipes.z(id).to_vec())
                }
                _ => None,
            },
        }
    }

    /// Takes note of a trial that somebody else proposed; whether it is in the space.
    pub(super) fn expect(&mut self, recipes: &Recipes, id: TrialId) -> Result<bool> {
        let Some(z) = self.place(recipes, id) else { return Ok(false) };
        self.engine.restored(&inner(id, z, Purpose::Added))?;
        Ok(true)
    }

    /// Takes note of a trial that it proposed.
    pub(super) fn asked(&mut self, recipes: &Recipes, trial: &Trial) -> Result<()> {
        let z = self.place(recipes, trial.id).unwrap_or_else(|| trial.z.clone());
        self.engine.restored(&Trial { z, recipe: None, ..trial.clone() })
    }

    /// Takes note of an outcome.
    pub(super) fn told(&mut self, id: TrialId, values: &[Option<f64>]) {
        self.engine.told_limited(&inner(id, vec![], Purpose::Added), values[0], &values[1..]);
    }

    /// Takes note that a trial was lost.
    pub(super) fn lost(&mut self, id: TrialId) {
        self.engine.lost(&inner(id, vec![], Purpose::Added));
    }

    /// How a point of the space is made into one of all inputs; None where it is that.
    pub(super) fn recipe(&self) -> Option<Recipe> {
        match &self.searched {
            Searched::Inputs(inputs) => Some(Recipe::Set { base: self.base, inputs: inputs.clone() }),
            Searched::All => None,
            Searched::Bins(number) => Some(Recipe::Bins { base: self.base, number: *number }),
        }
    }

    /// Coordinates of a point of the space.
    pub(super) fn dim(&self, recipes: &Recipes) -> usize {
        match &self.searched {
            Searched::Inputs(inputs) => recipes.width(inputs),
            Searched::All => recipes.dim(),
            Searched::Bins(_) => tuning::BINS,
        }
    }

    /// The inputs that it sees as they are; None for bins.
    pub(super) fn inputs(&self, recipes: &Recipes) -> Option<Vec<usize>> {
        match &self.searched {
            Searched::Inputs(inputs) => Some(inputs.clone()),
            Searched::All => Some((0..recipes.n_inputs).collect()),
            Searched::Bins(_) => None,
        }
    }

    /// The next point.
    pub(super) fn propose(&mut self, next: Next<'_>, watch: &dyn Watch) -> Result<Plan> {
        let mut plan = self.engine.propose(next, watch)?;
        plan.trial.recipe = self.recipe().map(Box::new);
        Ok(plan)
    }

    /// Measured trials that a model may see, with their places.
    pub(super) fn located(&self, recipes: &Recipes, table: &Table) -> Located {
        let seen = table.rows.iter().filter(|row| row.in_model && row.values[0].is_some());
        seen.filter_map(|row| Some((row.id, self.place(recipes, row.id)?))).collect()
    }
}

/// A trial as the engine inside knows it.
fn inner(id: TrialId, z: Vec<f64>, purpose: Purpose) -> Trial {
    Trial { id, embedding: 0, z, purpose, recipe: None, decision: None }
}

/// The trial that the inputs which are not searched are as in: not a chain of them, what the incumbent itself set is set anew.
pub(super) fn base_of(recipes: &Recipes, table: &Table, inputs: &[usize]) -> Result<TrialId> {
    let best = table.incumbent().ok_or(Error::Empty { what: "results of the study" })?.id;
    Ok(match recipes.recipe(best) {
        Some(Recipe::Set { base, inputs: set })
            if set.iter().all(|input| inputs.binary_search(input).is_ok()) =>
        {
            *base
        }
        _ => best,
    })
}
