//! Whether a model is to be trusted: each result against what the model expects of it from all the others.
//!
//!   Q² = 1 - Σ (yᵢ - mean₋ᵢ)² / Σ (yᵢ - ȳ₋ᵢ)²
//!
//! on values as the model sees them, ȳ₋ᵢ the mean of the others: 1 where the model knows every value beforehand, 0 where it
//! knows no more than their mean. And the part of the results inside the interval that should hold 95 % of them: a model
//! that is right on the average and too sure of itself is not to be trusted either.

use crate::strategy::{Expected, Look};
use crate::trial::TrialId;

/// Results below which nothing is said.
const FEWEST: usize = 8;
/// From this Q² on a model is good; half of it is the usual line of "of some use" in cross-validated surrogates.
const GOOD: f64 = 0.8;
const FAIR: f64 = 0.4;
/// The least part inside the interval of 95 % that a good model and a fair one may have: of 20 results, 17 and 14.
const GOOD_INSIDE: f64 = 0.85;
const FAIR_INSIDE: f64 = 0.7;

/// Each result left out in turn.
#[derive(Debug, Clone, PartialEq)]
pub struct Validation {
    /// The results.
    pub results: Vec<LeftOutResult>,
    /// Q².
    pub explained: f64,
    /// Part of the results inside the interval that should hold 95 %.
    pub inside: f64,
    /// What that means.
    pub trust: Trust,
}

/// A result and what the others say about it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LeftOutResult {
    /// The trial.
    pub trial: TrialId,
    /// What was measured, in the user's direction.
    pub measured: f64,
    /// What the model expected, noise included.
    pub expected: Expected,
}

impl LeftOutResult {
    /// Whether it is inside the interval.
    pub fn is_inside(&self) -> bool {
        (self.expected.low..=self.expected.high).contains(&self.measured)
    }
}

/// How far a model is to be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Trust {
    /// It predicts no better than the mean of the results, or hardly.
    None,
    /// It tells good from bad, not more.
    Fair,
    /// It predicts what was not measured yet.
    Good,
}

/// Leaves out each result in turn; None with too few of them, or if they are all the same.
pub fn validation(look: &Look) -> Option<Validation> {
    let left = look.process().leave_one_out();
    let n = left.residual.len();
    if n < FEWEST {
        return None;
    }
    let rows: Vec<(TrialId, f64)> = look.results().map(|(trial, _, value)| (trial, value)).collect();
    let y: Vec<f64> = rows.iter().map(|(_, value)| look.to_model(*value)).collect();
    let mean = y.iter().sum::<f64>() / n as f64;
    // The mean of the others is as far from a value as that of all, times n / (n - 1).
    let factor = n as f64 / (n - 1) as f64;
    let spread: f64 = y.iter().map(|y| (factor * (y - mean)).powi(2)).sum();
    if spread <= 0.0 {
        return None;
    }
    let error: f64 = left.residual.iter().map(|residual| residual * residual).sum();
    let result = |i: usize| LeftOutResult {
        trial: rows[i].0,
        measured: rows[i].1,
        expected: look.interval(y[i] - left.residual[i], left.var[i].sqrt()),
    };
    let results: Vec<LeftOutResult> = (0..n).map(result).collect();
    let inside = results.iter().filter(|result| result.is_inside()).count() as f64 / n as f64;
    let explained = 1.0 - error / spread;
    let trust = match () {
        () if explained >= GOOD && inside >= GOOD_INSIDE => Trust::Good,
        () if explained >= FAIR && inside >= FAIR_INSIDE => Trust::Fair,
        () => Trust::None,
    };
    Some(Validation { results, explained, inside, trust })
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::problems;
    use crate::rng::Stream;
    use crate::space::{Direction, Parameter, Point, Space};
    use crate::strategy::{Settings, Strategy, Study};
    use crate::surrogate::watch::Unwatched;

    /// A study of a function after `n` results.
    pub(in crate::analysis) fn study(
        low: &[f64],
        high: &[f64],
        seed: u64,
        n: usize,
        mut function: impl FnMut(&Point) -> f64,
    ) -> Study {
        let names = (0..low.len()).map(|k| Parameter::float(format!("x{k}"), low[k], high[k]));
        let space = Space::new(names.collect()).unwrap();
        let mut study =
            Study::new(space, Direction::Minimize, Strategy::Bo(Settings::bo()), None, seed).unwrap();
        for _ in 0..n {
            let asked = study.ask(1).unwrap();
            study.tell(asked[0].id, function(&asked[0].point)).unwrap();
        }
        study
    }

    #[test]
    fn branin_is_trusted_and_noise_is_not() {
        let branin = problems::by_name("branin", 2).unwrap();
        for seed in [1, 2, 3] {
            let mut quiet =
                study(branin.low(), branin.high(), seed, 40, |point| branin.evaluate(&point.numbers()));
            let found = validation(&quiet.look(&Unwatched).unwrap().unwrap()).unwrap();
            assert_eq!(found.trust, Trust::Good, "seed {seed}: {} {}", found.explained, found.inside);
            let mut stream = Stream::new(seed, "noise", 0);
            let mut noise = study(&[0.0; 3], &[1.0; 3], seed, 40, |_| stream.normal());
            let found = validation(&noise.look(&Unwatched).unwrap().unwrap()).unwrap();
            assert_eq!(found.trust, Trust::None, "seed {seed}: {} {}", found.explained, found.inside);
        }
    }

    #[test]
    fn of_few_results_or_equal_ones_nothing_is_said() {
        let mut few = study(&[0.0], &[1.0], 1, 7, |point| point.numbers()[0]);
        assert_eq!(validation(&few.look(&Unwatched).unwrap().unwrap()), None);
        let mut flat = study(&[0.0], &[1.0], 1, 12, |_| 3.0);
        assert_eq!(flat.look(&Unwatched).unwrap().and_then(|look| validation(&look)), None);
    }
}
