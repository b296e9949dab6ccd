//! Slopes as hints: what screening has measured at its base helps the first proposals.
//!
//! Tests with tiny steps stay out of the model: they show the ripples of a function and not its shape. But when screening
//! ends there is hardly anything else, a dozen points in as many inputs, and the slopes at the base say at least where not
//! to go. So for the first proposals each becomes one value a short way uphill, where it can never be the lowest. Then they
//! are dropped. (Hartmann-6 in 1,000 inputs after 50 evaluations, mean of 40 seeds: -2.27 with them, -1.98 without.)

use super::{Coordinates, ModelSearch, Modelled};
use crate::error::Result;
use crate::strategy::auto::context::Context;
use crate::strategy::auto::tuning;
use crate::trial::TrialId;

/// What an input does at a base.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::strategy::auto) struct Slope {
    pub(in crate::strategy::auto) input: usize,
    pub(in crate::strategy::auto) base: TrialId,
    /// Value there.
    pub(in crate::strategy::auto) value: f64,
    /// Change of the value for a move across the cube.
    pub(in crate::strategy::auto) slope: f64,
}

impl Modelled {
    /// Gives the optimiser what is known of slopes.
    pub(super) fn feed_slopes(&mut self, context: &Context) {
        let Coordinates::Inputs(inputs) = &self.coordinates else { return };
        for &Slope { input, base, value, slope } in &context.slopes {
            let Ok(at) = inputs.binary_search(&input) else { continue };
            let mut u = context.recipes.of(base, inputs);
            let reach = tuning::SLOPE_REACH;
            let (moved, uphill) = (u[at] + reach * slope.signum(), value + reach * slope.abs());
            // A slope over a tiny step may be larger than any number.
            if u.len() == inputs.len() && (0.0..=1.0).contains(&moved) && uphill.is_finite() {
                u[at] = moved;
                self.optimiser.hint_value(u, uphill);
            }
        }
    }
}

impl ModelSearch {
    /// Drops slopes when the optimiser has results of its own.
    pub(in crate::strategy::auto) fn drop_slopes(&mut self, context: &mut Context) -> Result<()> {
        if context.slopes.is_empty() || context.counts.searched < tuning::SLOPES_UNTIL {
            return Ok(());
        }
        context.slopes.clear();
        self.begin_anew(context)
    }
}
