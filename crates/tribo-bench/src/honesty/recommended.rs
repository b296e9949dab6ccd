//! Under noise: is the recommended point good, and does its interval hold its true value?
//!
//! Hartmann-6 with normal noise. A study recommends a point, says what it expects there, and draws an interval that is to
//! hold the value without noise in 90 % of the runs.

use super::{Failure, Options, Row, Spread, hartmann6};
use crate::seeds::side_by_side;
use tribo::rng::Stream;
use tribo::space::{Direction, Parameter, Space};
use tribo::strategy::{Settings, Strategy, Study};
use tribo::surrogate::watch::Unwatched;

/// What a run ends with.
#[derive(Debug, Clone, Copy)]
struct End {
    /// The value without noise at the recommended point.
    truth: f64,
    /// The interval that was drawn; None if the study believed in no noise.
    interval: Option<(f64, f64)>,
}

/// All runs with noise of one standard deviation.
pub(super) fn row(options: &Options, noise_sd: f64) -> Result<Row, Failure> {
    let ends = side_by_side(options.seeds, options.threads.into(), |index| {
        run(options.noisy_results, noise_sd, options.first_seed + index as u64)
    })?;
    Ok(summary(noise_sd, &ends))
}

fn run(results: usize, noise_sd: f64, seed: u64) -> Result<End, Failure> {
    let space = Space::new(vec![Parameter::float("x", 0.0, 1.0).with_size(6)])?;
    let strategy = Strategy::Bo(Settings::bo());
    let mut study = Study::new(space, Direction::Minimize, strategy, Some(results), seed)?;
    for _ in 0..results {
        let asked = study.ask(1)?.remove(0);
        let noise = noise_sd * Stream::new(seed, "noise", asked.id.0).normal();
        study.tell(asked.id, hartmann6(&asked.point.numbers()) + noise)?;
    }
    let recommended = study.recommended(&Unwatched)?.ok_or("no point is recommended")?;
    Ok(End { truth: hartmann6(&recommended.point.numbers()), interval: recommended.interval })
}

fn summary(noise_sd: f64, ends: &[End]) -> Row {
    let holds = |end: &End| end.interval.is_some_and(|(low, high)| low <= end.truth && end.truth <= high);
    let widths: Vec<f64> = ends.iter().filter_map(|end| end.interval).map(|(low, high)| high - low).collect();
    Row::Recommended {
        case: "recommended".to_owned(),
        noise_sd,
        runs: ends.len(),
        truth: Spread::of(ends.iter().map(|end| end.truth)),
        covered: ends.iter().filter(|end| holds(end)).count(),
        silent: ends.len() - widths.len(),
        width: (!widths.is_empty()).then(|| Spread::of(widths)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_that_is_missing_holds_nothing() {
        let end = |truth, interval| End { truth, interval };
        let ends = [end(-3.0, Some((-3.1, -2.9))), end(-2.0, Some((-3.1, -2.9))), end(-1.0, None)];
        let Row::Recommended { runs, covered, silent, truth, width, .. } = summary(0.1, &ends) else {
            panic!()
        };
        assert_eq!((runs, covered, silent, truth.mean), (3, 1, 1, -2.0));
        assert!((width.unwrap().mean - 0.2).abs() < 1e-12);
    }
}
