//! What the same forecast would have said some evaluations ago, and what came: a forecast is worth what the last one was.
//!
//! Gains follow from a model that is often right about values and wrong about how far the search will go: on a narrow valley
//! or many ripples it foresees a fiftieth of what comes. So nothing is foreseen where the last forecast was far off, nor where
//! there was none.

use super::{AHEAD, FIT, Until};
use crate::Result;
use crate::config::Config;
use crate::replay;
use crate::store::ledger::{Event, Ledger};
use std::time::Instant;
use tribo::analysis::{foresight, validation};

/// Forecasts that were off by more than this factor are not repeated; `tribo-bench foresight` says what that is worth.
const FACTOR: f64 = 4.0;
/// Gains below this part of the spread of all values are none.
const NONE: f64 = 1e-3;

/// Whether a gain is none, where all values spread so far.
pub fn is_nothing(gain: f64, spread: f64) -> bool {
    gain < NONE * spread
}

/// A forecast of the past.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hindsight {
    /// The gain that was expected of the last evaluations.
    pub expected: f64,
    /// The gain that came.
    pub found: f64,
}

impl Hindsight {
    /// Whether the forecast was a good one, where all values spread so far.
    pub fn was_right(&self, spread: f64) -> bool {
        let least = NONE * spread;
        let (expected, found) = (self.expected.max(least), self.found.max(least));
        expected <= FACTOR * found && found <= FACTOR * expected
    }
}

/// The forecast of the last evaluations; None where there was none.
pub(super) fn hindsight(config: &Config, ledger: &Ledger) -> Result<Option<Hindsight>> {
    let value = |trial: u64| ledger.trial(trial)?.outcome.as_ref()?.value(config.objective());
    let told = |event: &Event| match event {
        Event::Told(trial) => value(*trial),
        _ => None,
    };
    let mut measured = ledger.events().iter().enumerate().rev().filter(|(_, event)| told(event).is_some());
    let Some((at, _)) = measured.nth(AHEAD - 1) else { return Ok(None) };
    let Some(mut study) = replay::after(config, ledger, at)? else { return Ok(None) };
    let Some(before) = study.best()?.map(|best| config.direction.to_internal(best.value)) else {
        return Ok(None);
    };
    // A model that cannot be made foresees nothing.
    let Some(look) = study.look(&Until(Instant::now() + FIT)).ok().flatten() else { return Ok(None) };
    let ahead = foresight(&look, validation(&look).as_ref(), AHEAD, config.seed).ok().flatten();
    let since =
        ledger.events()[at..].iter().filter_map(told).map(|value| config.direction.to_internal(value));
    let best = since.fold(before, f64::min);
    Ok(ahead.map(|ahead| Hindsight { expected: ahead.gain, found: before - best }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_forecast_is_right_within_a_factor_or_where_nothing_came() {
        let of = |expected, found| Hindsight { expected, found }.was_right(100.0);
        assert!(of(1.0, 3.9) && of(3.9, 1.0) && of(1e-9, 0.0) && of(0.3, 0.0));
        assert!(!of(1.0, 4.1) && !of(4.1, 1.0) && !of(0.5, 0.0));
    }
}
