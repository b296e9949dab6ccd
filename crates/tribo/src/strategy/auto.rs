//! `auto`: which strategy fits the number of inputs and the budget.
//!
//! Up to 50 coordinates a Gaussian process with one length scale for each still learns which of them matter. Beyond
//! that `bo` runs inside hashing embeddings: an embedding of d bins finds the optimum if the inputs that matter fall
//! into different bins, more likely the larger d, while a process needs some ten results per coordinate. So d is a
//! sixteenth of the budget, between 4 and 20, and with a larger budget there are more embeddings, since a collision
//! cannot be repaired inside one `[@nayebi2019]`.

use super::settings::{Settings, Strategy};
use crate::embed;

/// Coordinates up to which all of them are modelled.
const MODELLED_WHOLE: usize = 50;
/// The budget assumed when none is given.
const USUAL_BUDGET: usize = 200;

/// Whether what `auto` picks for this many coordinates depends on the budget, which then must not change during a study.
pub fn looks_at_budget(dim: usize) -> bool {
    dim > MODELLED_WHOLE
}

/// The strategy to use, and why.
pub(super) fn pick(dim: usize, evaluations: Option<usize>) -> (Strategy, String) {
    if !looks_at_budget(dim) {
        let why = format!("bo: {dim} coordinates are few enough to model every one of them");
        return (Strategy::Bo(Settings::bo()), why);
    }
    let budget = evaluations.unwrap_or(USUAL_BUDGET);
    let bins = (budget / 16).clamp(4, 20);
    let n_embeddings = (budget / 100).clamp(1, 4);
    let settings = Settings {
        embedding: embed::Kind::Hashing { dim: bins, signs: true },
        n_embeddings,
        ..Settings::bo()
    };
    let why = format!(
        "bo in {n_embeddings} hashing embedding(s) of {bins} bins: {dim} coordinates are too many to model with \
         {budget} evaluations"
    );
    (Strategy::Bo(settings), why)
}
