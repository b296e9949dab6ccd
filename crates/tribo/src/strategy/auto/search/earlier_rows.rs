//! Earlier results as hints: what the optimiser sees of them.

use super::{Coordinates, Modelled};
use crate::strategy::auto::context::Context;

/// Which rows of earlier results an optimiser of these coordinates sees, from where on; None if it sees none.
pub(super) fn seen(context: &Context, coordinates: &Coordinates) -> Option<usize> {
    let Coordinates::Inputs(inputs) = coordinates else { return None };
    let rows = context.earlier.as_ref()?;
    (!inputs.is_empty() && rows.are_in(inputs)).then(|| rows.first())
}

impl Modelled {
    /// Gives the optimiser the earlier results that lie in its space.
    pub(super) fn feed_earlier(&mut self, context: &Context) {
        let (Coordinates::Inputs(inputs), Some(rows)) = (&self.coordinates, &context.earlier) else { return };
        let Some(first) = self.earlier_from else { return };
        for row in first..rows.points.len() {
            self.optimiser.hint_value(rows.at(context, row, inputs), rows.values[row]);
        }
    }
}
