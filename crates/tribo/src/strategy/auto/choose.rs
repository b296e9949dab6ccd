//! What `auto` is for this space and budget.
//!
//! Up to 40 inputs a Gaussian process with one length scale for each learns by itself which of them matter: that is `bo`.
//! With more, the machine of this module looks for them first, unless the budget is too small for that or the user does
//! not want it. Then `bo` runs inside hashing embeddings: an embedding of d bins finds the optimum if the inputs that
//! matter fall into different bins, more likely the larger d, while a process needs some ten results per coordinate. So d
//! is a sixteenth of the budget, between 4 and 20, and with a larger budget there are more embeddings, since a collision
//! cannot be repaired inside one `[@nayebi2019]`.

use super::tuning;
use crate::embed;
use crate::error::{Error, ParameterFault, Result};
use crate::space::Space;
use crate::strategy::{AutoSettings, Settings, Strategy};

/// The budget, or what is assumed without one.
pub(crate) fn budget(evaluations: Option<usize>) -> usize {
    evaluations.unwrap_or(tuning::USUAL_BUDGET)
}

/// Whether what `auto` does in this space depends on the budget, which then must not change during a study.
pub fn looks_at_budget(space: &Space) -> bool {
    space.n_inputs() > tuning::MODELLED_WHOLE || space.dim() > tuning::MODELLED_COORDINATES
}

/// Inputs by name, in increasing order.
pub(crate) fn inputs_of(space: &Space, names: &[String]) -> Result<Vec<usize>> {
    let mut inputs = vec![];
    for name in names {
        let coordinates = space.inputs().map(|input| input.coordinates.start);
        let is_named = |first: usize| space.input_name(first).is_some_and(|known| known == *name);
        let found = coordinates.enumerate().find(|&(_, first)| is_named(first)).map(|(input, _)| input);
        let fault = ParameterFault::Unknown;
        inputs.push(found.ok_or_else(|| Error::Parameter { name: name.clone(), fault })?);
    }
    inputs.sort_unstable();
    inputs.dedup();
    Ok(inputs)
}

/// The strategy to use, and why.
pub(crate) fn choose(
    space: &Space,
    settings: AutoSettings,
    evaluations: Option<usize>,
) -> Result<(Strategy, String)> {
    let (dim, n_inputs) = (space.dim(), space.n_inputs());
    if !settings.active.is_empty() {
        let why = format!("auto: {} of {n_inputs} inputs matter, as said", settings.active.len());
        inputs_of(space, &settings.active)?;
        return Ok((Strategy::Auto(settings), why));
    }
    let budget = budget(evaluations);
    if settings.screen && n_inputs > tuning::MODELLED_WHOLE && budget >= tuning::SCREENED_FROM {
        let why = format!("auto: {n_inputs} inputs, those that matter are looked for first");
        return Ok((Strategy::Auto(settings), why));
    }
    if !looks_at_budget(space) {
        let why = match n_inputs {
            1 => "bo: a single input is modelled as it is".to_owned(),
            n => format!("bo: {n} inputs are few enough to model every one of them"),
        };
        return Ok((Strategy::Bo(Settings::bo()), why));
    }
    let (fewest, most) = tuning::HASHED_BINS;
    let bins = (budget / tuning::EVALUATIONS_PER_BIN).clamp(fewest, most);
    let (fewest, most) = tuning::EMBEDDINGS;
    let n_embeddings = (budget / tuning::EVALUATIONS_PER_EMBEDDING).clamp(fewest, most);
    let settings = Settings {
        embedding: embed::Kind::Hashing { dim: bins, signs: true },
        n_embeddings,
        ..Settings::bo()
    };
    let why = format!(
        "bo in {n_embeddings} hashing embedding(s) of {bins} bins: {dim} coordinates are too many to model with \
         {budget} evaluations"
    );
    Ok((Strategy::Bo(settings), why))
}
