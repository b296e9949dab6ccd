//! What more evaluations are said to bring: the forecast of the model, corrected by what came of the last one.
//!
//! A model that is right about values is often wrong about how far the search will go: on many ripples, or where two basins
//! are one to it, it foresees a tenth of what comes. What came of the forecast that would have been made some evaluations ago
//! says how wrong, and two thirds of it, on a logarithmic scale, are corrected: all of it would be too much, since a search
//! that has found a lot has less to find. Ends of intervals are moved apart, too, so that three of four gains lie between
//! them. Where the last forecast was far off, where the interval is wide, and where there was no forecast, nothing is said.
//! `tribo-bench foresight` says what that is worth; its seeds 1 to 40 chose the numbers here.

use super::{AHEAD, FIT, Source, Until};
use crate::Result;
use crate::replay;
use crate::store::ledger::Event;
use std::time::Instant;
use tribo::analysis::{Foresight, foresight, validation};
use tribo::strategy::Study;

/// After a forecast that was off by more than this factor nothing is said.
const FAR_OFF: f64 = 30.0;
/// Gains below this part of the spread of all values are none.
const NONE: f64 = 1e-3;
/// By this factor the ends of the model's interval are moved apart, each.
const WIDER: f64 = 2.5;
/// An interval whose ends differ by more than this factor says nothing.
const WIDEST: f64 = 100.0;

/// What is said about the gain of more evaluations.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Forecast {
    /// It cannot be said: the last forecast was far off.
    FarOff,
    /// It cannot be said: the model believes anything possible.
    Open,
    /// Next to nothing is to come of so many more.
    Nothing(usize),
    /// So much is to come.
    Gain(Foresight),
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
    /// What is said, if this came of the last forecast and the model foresees that, where all values spread so far.
    pub fn forecast(&self, ahead: &Foresight, spread: f64) -> Forecast {
        let none = NONE * spread;
        if !(none > 0.0 && none.is_finite()) {
            return Forecast::Open;
        }
        let error = self.found.max(none) / self.expected.max(none);
        let factor = error.cbrt().powi(2);
        let (gain, low, high) =
            (factor * ahead.gain, factor * ahead.low / WIDER, factor * ahead.high * WIDER);
        match () {
            () if !(1.0 / FAR_OFF..=FAR_OFF).contains(&error) => Forecast::FarOff,
            () if high < none => Forecast::Nothing(ahead.evaluations),
            () if gain < none || high > WIDEST * low => Forecast::Open,
            () => Forecast::Gain(Foresight { gain, low, high, ..*ahead }),
        }
    }
}

/// Whether a gain is none, where all values spread so far.
pub fn is_nothing(gain: f64, spread: f64) -> bool {
    gain < NONE * spread
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
    /// The study before its last evaluations; None if it had found nothing then. None under limits, too: a forecast knows the
    /// objective alone, and what it promises may lie beyond them.
    pub fn of(source: &Source<'_>) -> Result<Option<Past>> {
        let (config, ledger) = (source.config(), source.ledger());
        if !config.limits.is_empty() {
            return Ok(None);
        }
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
        let since = ledger.events()[at..].iter().filter_map(told);
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
    fn a_forecast_is_corrected_by_most_of_what_the_last_was_wrong() {
        let ahead = Foresight { evaluations: 20, gain: 2.0, low: 1.25, high: 4.0 };
        let said = |expected, found| Hindsight { expected, found }.forecast(&ahead, 100.0);
        let gain = |factor: f64| {
            Forecast::Gain(Foresight {
                evaluations: 20,
                gain: 2.0 * factor,
                low: 0.5 * factor,
                high: 10.0 * factor,
            })
        };
        assert_eq!((said(3.0, 3.0), said(1.0, 8.0)), (gain(1.0), gain(4.0)));
        // Less than a thousandth of the spread is none: neither was wrong about that.
        assert_eq!((said(0.05, 0.0), said(0.0, 0.8)), (gain(1.0), gain(4.0)));
        assert_eq!((said(1.0, 31.0), said(31.0, 1.0)), (Forecast::FarOff, Forecast::FarOff));
    }

    #[test]
    fn wide_intervals_say_nothing_and_small_gains_are_none() {
        let was_right = Hindsight { expected: 1.0, found: 1.0 };
        let said =
            |low, gain, high| was_right.forecast(&Foresight { evaluations: 20, gain, low, high }, 100.0);
        assert_eq!(said(0.1, 1.0, 1.7), Forecast::Open);
        assert!(matches!(said(0.1, 1.0, 1.5), Forecast::Gain(_)));
        assert_eq!(said(0.0, 0.0, 0.039), Forecast::Nothing(20));
        assert_eq!(said(0.0, 0.0, 9.0), Forecast::Open);
        let same = Foresight { evaluations: 20, gain: 0.0, low: 0.0, high: 0.0 };
        assert_eq!(was_right.forecast(&same, 0.0), Forecast::Open, "all values are the same");
    }
}
