//! How a study stands to the limits on its outputs, as numbers for programs and in words for people.

use super::summary::{Best, best_of};
use super::text::{count, number};
use crate::Result;
use crate::config::Config;
use crate::replay::Points;
use crate::store::ledger::Ledger;
use serde::Serialize;
use tribo::limit::Limit;
use tribo::strategy::LimitState;

/// A probability from here on is certainty enough not to be mentioned.
const CERTAIN: f64 = 0.995;

/// Below this a probability is as good as none.
const UNLIKELY: f64 = 1e-3;

/// How a study stands to one of its limits.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Standing {
    /// The output.
    pub output: String,
    /// The limit, as people write it.
    pub limit: String,
    /// The output must not be below this.
    pub at_least: Option<f64>,
    /// The output must not be above this.
    pub at_most: Option<f64>,
    /// How far beyond is still met.
    pub tolerance: f64,
    /// Trials at which the output was measured.
    pub measured: usize,
    /// Those of them that meet the limit.
    pub met: usize,
    /// The trial that came nearest to meeting it, or meets it best.
    pub nearest: Option<Nearest>,
    /// Its value at the best trial.
    pub at_best: Option<f64>,
    /// Whether the best trial is at the limit.
    pub binds: bool,
    /// The probability, by the model, that the best point meets it, or the most promising one where there is no best.
    pub probability: Option<f64>,
    /// By the model, how much the best value changes for each unit that the limit is moved up.
    pub worth: Option<f64>,
    /// What relaxing it is worth, in words.
    pub trade: Option<String>,
}

/// The trial that came nearest to meeting a limit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Nearest {
    /// Its number.
    pub trial: u64,
    /// The output there.
    pub value: f64,
    /// How far beyond the limit that is; negative inside.
    pub beyond: f64,
}

/// The trial that is least beyond the limits: what there is as long as none meets all of them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LeastViolated {
    /// The trial.
    #[serde(flatten)]
    pub best: Best,
    /// How far it is beyond its limits, each measured by its own size: the sum over all.
    pub violation: f64,
    /// The limits that it misses.
    pub missed: Vec<Missed>,
}

/// A limit that a trial misses.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Missed {
    /// The output.
    pub output: String,
    /// The limit, as people write it.
    pub limit: String,
    /// The output at the trial.
    pub value: f64,
    /// How far beyond the limit that is.
    pub by: f64,
}

/// How a study stands to each of its limits; `best` is its best value.
pub fn standings(config: &Config, states: Vec<LimitState>, best: Option<f64>) -> Vec<Standing> {
    let standing = |state: LimitState| {
        let worth = state.known.and_then(|known| known.worth);
        let trade = worth
            .zip(state.at_best)
            .zip(best)
            .map(|((worth, at_best), best)| trade(&state.limit, worth, at_best, config.objective(), best));
        let nearest = |(trial, value): (tribo::trial::TrialId, f64)| Nearest {
            trial: trial.0,
            value,
            beyond: state.limit.excess(value),
        };
        Standing {
            output: state.limit.name().to_owned(),
            limit: state.limit.to_string(),
            at_least: state.limit.low(),
            at_most: state.limit.high(),
            tolerance: state.limit.tolerance(),
            measured: state.measured,
            met: state.met,
            nearest: state.nearest.map(nearest),
            at_best: state.at_best,
            binds: state.binds,
            probability: state.known.map(|known| known.probability),
            worth,
            trade,
        }
    };
    states.into_iter().map(standing).collect()
}

/// `relaxing it by 1 % is worth 0.4 % of mass`. `worth` is the change of the best value for each unit that the limit is
/// moved up.
fn trade(limit: &Limit, worth: f64, at_best: f64, objective: &str, best: f64) -> String {
    let distance = |end: &f64| (at_best - end).abs();
    let ends = [limit.low(), limit.high()].into_iter().flatten();
    let end = ends.min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap_or(0.0);
    let (step, step_words) = match end == 0.0 {
        true => (0.01, "0.01".to_owned()),
        false => (0.01 * end.abs(), "1 %".to_owned()),
    };
    let change = |change: f64| match best == 0.0 {
        true => format!("{} of {objective}", two_digits(change)),
        false => format!("{} % of {objective}", two_digits(100.0 * change / best.abs())),
    };
    match limit.is_equality() {
        true => format!("moving it up by {step_words} changes the best by {}", change(worth * step)),
        false => format!("relaxing it by {step_words} is worth {}", change((worth * step).abs())),
    }
}

fn two_digits(value: f64) -> String {
    format!("{value:.1e}").parse().map_or_else(|_| value.to_string(), number)
}

impl Standing {
    /// How the study stands to it.
    pub fn words(&self) -> String {
        let mut parts = vec![match (self.measured, self.met, &self.nearest) {
            (0, _, _) | (_, _, None) => {
                "measured by no trial yet, and without it none is feasible".to_owned()
            }
            (n, 0, Some(nearest)) => format!(
                "never met in {}; the nearest was {} (trial {}), beyond by {}",
                count(n, "trial"),
                number(nearest.value),
                nearest.trial,
                number(nearest.beyond)
            ),
            (n, met, _) => format!("met by {met} of {}", count(n, "trial")),
        }];
        if let Some(value) = self.at_best {
            let binds = if self.binds { ", where it binds" } else { "" };
            parts.push(format!("{} at the best point{binds}", number(value)));
        }
        if let Some(probability) = self.probability.filter(|probability| *probability < CERTAIN) {
            let place = if self.at_best.is_some() { "there" } else { "at the most promising point" };
            parts.push(format!("met {place} with a probability of {}", percent(probability)));
        }
        parts.extend(self.trade.clone());
        parts.join("; ")
    }
}

impl Missed {
    /// `stress <= 200 missed by 10: it is 210`.
    pub fn words(&self) -> String {
        format!("{} missed by {}: it is {}", self.limit, number(self.by), number(self.value))
    }
}

/// A probability for people: `3.4 %`.
pub fn percent(probability: f64) -> String {
    match probability < UNLIKELY {
        true => format!("less than {} %", 100.0 * UNLIKELY),
        false => format!("{} %", two_digits(100.0 * probability)),
    }
}

/// The probability, by the models, that the most promising point meets all limits, outputs being taken to be independent; None
/// where the models say nothing.
pub fn chance(standings: &[Standing]) -> Option<f64> {
    standings.iter().map(|standing| standing.probability).product()
}

/// The trial that is least beyond the limits; None if no trial has all limited outputs and a value.
pub fn least_violated(config: &Config, ledger: &Ledger, points: Points<'_>) -> Result<Option<LeastViolated>> {
    let Some((id, violation)) = points.study.least_violated() else { return Ok(None) };
    let Some(finding) = ledger.trial(id.0).and_then(|state| state.outcome.as_ref()) else { return Ok(None) };
    let Some(value) = finding.value(config.objective()) else { return Ok(None) };
    let missed = |limit: &Limit| {
        let value = finding.outputs.get(limit.name())?;
        let (output, limit, by) = (limit.name().to_owned(), limit.to_string(), limit.excess(value));
        Some(Missed { output, limit, value, by })
    };
    let missed = config.violated(&finding.outputs).filter_map(missed).collect();
    let best = best_of(config, ledger, points, id.0, value, &finding.outputs)?;
    Ok(Some(LeastViolated { best, violation, missed }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;
    use tribo::strategy::LimitKnown;
    use tribo::trial::TrialId;

    fn config() -> Config {
        let text = "study_version = 1\n[[output]]\nname = \"mass\"\ngoal = \"minimize\"\n[[parameter]]\nname = \"x\"\n\
                    type = \"float\"\nlow = 0\nhigh = 1\n";
        Config::parse(Path::new("study.toml"), text).unwrap()
    }

    fn words(limit: &str, change: impl FnOnce(&mut LimitState), best: Option<f64>) -> String {
        let mut state = LimitState {
            limit: Limit::parse(limit).unwrap(),
            measured: 40,
            met: 12,
            nearest: Some((TrialId(7), 150.0)),
            at_best: None,
            binds: false,
            known: None,
        };
        change(&mut state);
        standings(&config(), vec![state], best)[0].words()
    }

    #[test]
    fn a_limit_in_words() {
        let known = |probability, worth| Some(LimitKnown { probability, worth });
        assert_eq!(words("stress <= 200", |_| {}, None), "met by 12 of 40 trials");
        assert_eq!(
            words("stress <= 200", |state| state.measured = 0, None),
            "measured by no trial yet, and without it none is feasible"
        );
        let hopeless = |state: &mut LimitState| {
            (state.met, state.nearest) = (0, Some((TrialId(3), 212.5)));
            state.known = known(0.034, None);
        };
        assert_eq!(
            words("stress <= 200", hopeless, None),
            "never met in 40 trials; the nearest was 212.5 (trial 3), beyond by 12.5; met at the most promising point with \
             a probability of 3.4 %"
        );
        let hopeless = |state: &mut LimitState| {
            (state.met, state.nearest) = (0, Some((TrialId(3), 212.5)));
            state.known = known(1e-30, None);
        };
        assert!(words("stress <= 200", hopeless, None).ends_with("with a probability of less than 0.1 %"));
        let binding = |state: &mut LimitState| {
            (state.at_best, state.binds, state.known) = (Some(199.5), true, known(0.999, Some(-0.01)));
        };
        assert_eq!(
            words("stress <= 200", binding, Some(-5.0)),
            "met by 12 of 40 trials; 199.5 at the best point, where it binds; relaxing it by 1 % is worth 0.4 % of mass"
        );
    }

    #[test]
    fn what_a_limit_is_worth() {
        let trade = |limit: &str, worth, at_best, best| {
            super::trade(&Limit::parse(limit).unwrap(), worth, at_best, "mass", best)
        };
        assert_eq!(trade("1 <= lift <= 4", 2.0, 1.1, 8.0), "relaxing it by 1 % is worth 0.25 % of mass");
        assert_eq!(trade("1 <= lift <= 4", -2.0, 3.9, 8.0), "relaxing it by 1 % is worth 1 % of mass");
        assert_eq!(trade("drag <= 0", -3.0, 0.0, 2.0), "relaxing it by 0.01 is worth 1.5 % of mass");
        assert_eq!(trade("stress <= 200", -0.5, 200.0, 0.0), "relaxing it by 1 % is worth 1 of mass");
        assert_eq!(
            trade("area == 4", -2.0, 4.0, 8.0),
            "moving it up by 1 % changes the best by -1 % of mass"
        );
    }
}
