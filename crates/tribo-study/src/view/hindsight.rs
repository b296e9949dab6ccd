//! What the same forecast would have said some evaluations ago, and what came: a forecast is worth what the last one was.
//!
//! Gains follow from a model that is often right about values and wrong about how far the search will go: on a narrow valley
//! or many ripples it foresees a fiftieth of what comes. So nothing is foreseen where the last forecast was far off, nor where
//! there was none.

use super::{AHEAD, FIT, Source, Until};
use crate::Result;
use crate::replay;
use crate::store::ledger::Event;
use std::time::Instant;
use tribo::analysis::{foresight, validation};
use tribo::strategy::Study;

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

/// A study as it was some evaluations ago, and what came since.
pub struct Past {
    study: Study,
    seed: u64,
    /// The best value then, and the best of those since; smaller is better.
    before: f64,
    since: f64,
}

impl Past {
    /// The study before its last evaluations; None if it had found nothing then.
    pub fn of(source: &Source<'_>) -> Result<Option<Past>> {
        let (config, ledger) = (source.config(), source.ledger());
        let value = |trial: u64| ledger.trial(trial)?.outcome.as_ref()?.value(config.objective());
        let told = |event: &Event| match event {
            Event::Told(trial) => value(*trial),
            _ => None,
        };
        let mut measured =
            ledger.events().iter().enumerate().rev().filter(|(_, event)| told(event).is_some());
        let Some((at, _)) = measured.nth(AHEAD - 1) else { return Ok(None) };
        let Some(study) = replay::after(config, ledger, at)? else { return Ok(None) };
        let Some(before) = study.best()?.map(|best| config.direction.to_internal(best.value)) else {
            return Ok(None);
        };
        let meets_limits = |event: &&Event| match event {
            Event::Told(trial) => {
                let outcome = ledger.trial(*trial).and_then(|state| state.outcome.as_ref());
                outcome.is_some_and(|finding| config.meets_limits(&finding.outputs))
            }
            _ => false,
        };
        let since = ledger.events()[at..].iter().filter(meets_limits).filter_map(told);
        let since = since.map(|value| config.direction.to_internal(value));
        let since = since.fold(before, f64::min);
        Ok(Some(Past { study, seed: config.seed, before, since }))
    }

    /// The forecast then, and what came; None if there was no forecast.
    pub fn hindsight(mut self) -> Option<Hindsight> {
        // A model that cannot be made foresees nothing.
        let look = self.study.look(&Until(Instant::now() + FIT)).ok().flatten()?;
        let ahead = foresight(&look, validation(&look).as_ref(), AHEAD, self.seed).ok().flatten()?;
        Some(Hindsight { expected: ahead.gain, found: self.before - self.since })
    }
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
