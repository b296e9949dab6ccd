//! Optimising what was found: the search has all evaluations, but for a look into weak groups of the last round now and
//! then.

use super::context::Context;
use super::earlier;
use super::screening::Screening;
use super::search::ModelSearch;
use crate::error::Result;

/// The phase in which the search goes on.
#[derive(Default)]
pub(super) struct Optimise {
    /// The last round of screening, some groups of which may have answered weakly.
    pub(super) round: Option<Screening>,
}

impl Optimise {
    pub(super) fn settle(&mut self, context: &mut Context, search: &mut ModelSearch) -> Result<()> {
        if let Some(round) = &mut self.round {
            round.look_closer(context);
            round.name_found(context);
        }
        search.drop_slopes(context)?;
        earlier::drop_rough(context);
        search.move_bins_on(context)
    }
}
