//! Why a trial was proposed, what the model expected of it, and what came.
//!
//! The journal says for what a trial was asked. What the model expected is found by rebuilding the optimiser as it was then: the
//! same events, and the fit that the trial was asked with, give the same model. Trials of earlier chapters are told by their
//! purpose alone.

use super::{FIT, Until};
use crate::config::Config;
use crate::reading::Reading;
use crate::replay;
use crate::report::row::{Begun, Row, State};
use crate::report::text::{count, number};
use crate::store::ledger::Source;
use crate::{Error, Result};
use serde::Serialize;
use std::time::Instant;
use tribo::strategy::{Look, Study};
use tribo::trial::{Ended, Purpose, Recipe, Trial};

/// A chance that is none.
const HARDLY: f64 = 0.005;

/// What a trial was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// One of the first points.
    Design,
    /// Where the model expects the most.
    Search,
    /// Where the model knows least.
    Explore,
    /// To learn about inputs or noise.
    Probe,
    /// Someone else chose it.
    Given,
    /// The strategy could not make its own proposal.
    Makeshift,
}

/// Why a trial was proposed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Why {
    /// The trial.
    pub trial: u64,
    /// What it was asked for.
    pub reason: Reason,
    /// The same in words, and whatever else is to say.
    pub words: Vec<String>,
    /// What the model expected, if there was one.
    pub expected: Option<Expectation>,
    /// What came, if it was measured.
    pub measured: Option<f64>,
}

/// What the model expected of a trial when it was asked.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Expectation {
    /// Its value.
    pub mean: f64,
    /// Lower end of the interval of 95 %.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
    /// The best value then.
    pub best: f64,
    /// How probable it was that it would be better.
    pub chance: f64,
    /// Results the model had.
    pub results: usize,
}

/// Why a trial was proposed; an error if there is no such trial.
pub fn why(reading: &Reading, trial: u64) -> Result<Why> {
    Asked::of(reading, trial)?.why()
}

/// A trial and the study as it was when it was asked, taken from a reading at one moment. The model is made without the reading,
/// which can go on.
pub struct Asked {
    trial: u64,
    /// As the optimiser asked it.
    asked: Option<Trial>,
    /// The study just before; None for trials of earlier chapters, and those that nobody asked.
    study: Option<Study>,
    config: Config,
    state: State,
    /// Why there is no value.
    reason: String,
    measured: Option<f64>,
}

impl Asked {
    /// A trial; an error if there is no such trial.
    pub fn of(reading: &Reading, trial: u64) -> Result<Asked> {
        let ledger = reading.ledger();
        let Some(state) = ledger.trial(trial) else {
            let n = ledger.trials().len();
            return Err(Error::Usage(format!(
                "there is no trial {trial}: the study has {}",
                count(n, "trial")
            )));
        };
        let asked = match &state.source {
            Source::Asked { trial, .. } => Some(tribo::trial::Trial::clone(trial)),
            Source::Imported(_) => None,
        };
        let study = match asked {
            Some(_) => replay::before(&reading.config, ledger, trial)?,
            None => None,
        };
        let none = Begun::new();
        let row = Row::new(trial, state, &none);
        let (measured, reason) = (row.value(reading.config.objective()), row.reason.to_owned());
        Ok(Asked { trial, asked, study, config: reading.config.clone(), state: row.state, reason, measured })
    }

    /// Why it was proposed.
    pub fn why(self) -> Result<Why> {
        let Asked { trial, asked, mut study, config, state, reason: failure, measured } = self;
        let asked = asked.as_ref();
        let pending = study.as_ref().map_or(0, |study| study.history().pending().count());
        let expected = match (&mut study, asked) {
            (Some(study), Some(asked)) => expectation(study, asked)?,
            _ => None,
        };
        let reason = reason(asked);
        let mut words = vec![first_words(asked, reason)];
        words.extend(asked.and_then(decided));
        if pending > 0 {
            let those = if pending == 1 { "that one" } else { "those" };
            words.push(format!(
                "{} pending when it was asked, and it was kept away from {those}",
                verb(pending, "trial")
            ));
        }
        if let Some(expected) = &expected {
            words.extend(character(reason, expected, &config));
        } else if asked.is_some() && study.is_none() {
            words.push(
                "it belongs to an earlier chapter: what was expected of it then is not looked up".to_owned(),
            );
        }
        words.push(came(state, &failure, expected.as_ref(), measured));
        Ok(Why { trial, reason, words, expected, measured })
    }
}

/// What the study, as it was before it asked the trial, expected of it.
fn expectation(study: &mut Study, asked: &Trial) -> Result<Option<Expectation>> {
    let Some(best) = study.best()? else { return Ok(None) };
    // With the trial comes the record of the fit that it was asked with.
    study.restore_asked(asked.clone())?;
    // A model that cannot be made says nothing.
    let Some(look) = study.look(&Until(Instant::now() + FIT)).ok().flatten() else { return Ok(None) };
    let place = look.place(&study.point(asked.id)?)?;
    expected_at(&look, &place, best.value).map(Some)
}

fn expected_at(look: &Look, place: &[f64], best: f64) -> Result<Expectation> {
    let expected = look.expected(&[place.to_vec()])?[0];
    let chance = look.chance_of_better(place, best)?;
    let (mean, low, high) = (expected.mean, expected.low, expected.high);
    Ok(Expectation { mean, low, high, best, chance, results: look.n_results() })
}

fn reason(asked: Option<&Trial>) -> Reason {
    let Some(trial) = asked else { return Reason::Given };
    if trial.decision.as_ref().is_some_and(|decision| decision.fell_back.is_some()) {
        return Reason::Makeshift;
    }
    match trial.purpose {
        Purpose::Initial => Reason::Design,
        Purpose::Explore => Reason::Explore,
        Purpose::Added => Reason::Given,
        Purpose::Probe => Reason::Probe,
        // Purposes that a later version may add are the model's.
        _ => Reason::Search,
    }
}

fn first_words(asked: Option<&Trial>, reason: Reason) -> String {
    let made =
        asked.and_then(|trial| trial.recipe.as_deref()).and_then(recipe).map(|made| format!(": {made}"));
    let made = made.unwrap_or_default();
    match reason {
        Reason::Design => format!("design: one of the first points, spread over the space{made}"),
        Reason::Search => format!("search: the model promised most here{made}"),
        Reason::Explore => format!("explore: here the model knew least{made}"),
        Reason::Probe => format!("probe: it tells which inputs matter, or how noisy values are{made}"),
        Reason::Given => "given: someone else chose the point".to_owned(),
        Reason::Makeshift => "makeshift: the strategy could not make its own proposal".to_owned(),
    }
}

/// How `auto` made the point.
fn recipe(recipe: &Recipe) -> Option<String> {
    Some(match recipe {
        Recipe::Centre => "the centre of the space".to_owned(),
        Recipe::Low => "all inputs at their lower ends".to_owned(),
        Recipe::High => "all inputs at their upper ends".to_owned(),
        Recipe::Latin { count, row, .. } => format!("point {} of {count} of a Latin hypercube", row + 1),
        Recipe::Uniform => "drawn at random".to_owned(),
        Recipe::Jitter { base, .. } => format!("trial {base} moved by next to nothing, to see the noise"),
        Recipe::Scatter { base, step } => {
            format!("trial {base} with every input moved a little, at most {}", number(*step))
        }
        Recipe::Move { parts, step, began, .. } => {
            let inputs: usize = parts.iter().map(|(from, to)| to - from).sum();
            let from = began.as_ref().map(|began| format!(" of trial {}", began.base)).unwrap_or_default();
            format!("{}{from} moved together by {} of the range", count(inputs, "input"), number(*step))
        }
        Recipe::Set { base, inputs } => {
            format!("trial {base} with {} set by the model", count(inputs.len(), "input"))
        }
        Recipe::Others { base, .. } => format!("trial {base} with all inputs that are not named drawn anew"),
        Recipe::Line { base, shift } => {
            format!("trial {base} with all inputs moved together by {}", number(*shift))
        }
        Recipe::Pairs { runs: 1, .. } => "all pairs of inputs at one place".to_owned(),
        Recipe::Pairs { runs, .. } => format!("pairs of inputs in {runs} runs, each at one place"),
        Recipe::Bins { base, .. } => format!("trial {base} with bins of inputs moved by the model"),
        _ => return None,
    })
}

/// What else was decided when it was asked.
fn decided(trial: &Trial) -> Option<String> {
    let decision = trial.decision.as_ref()?;
    if let Some(why) = &decision.fell_back {
        return Some(format!("what broke: {why}"));
    }
    match decision.ended? {
        Ended::AtOptimum => {
            Some("the local search before it ended at an optimum; this one begins away from it".to_owned())
        }
        Ended::AtKnownOptimum => {
            Some("the local search before it came back to an optimum found before".to_owned())
        }
        Ended::Astray => Some(
            "the local search before it measured far above its best point time and again; this one begins elsewhere"
                .to_owned(),
        ),
    }
}

/// Whether it was a safe step or a risk.
fn character(reason: Reason, expected: &Expectation, config: &Config) -> Vec<String> {
    let Expectation { mean, low, high, best, chance, results } = expected;
    let objective = config.objective();
    let mut words = vec![format!(
        "the model of {} expected {objective} {} here (95 %: {} to {}); the best was {}",
        count(*results, "result"),
        number(*mean),
        number(*low),
        number(*high),
        number(*best)
    )];
    if reason == Reason::Search {
        let direction = config.direction;
        let exploits = direction.to_internal(*mean) < direction.to_internal(*best);
        words.push(match exploits {
            _ if *chance < HARDLY => {
                "it looks elsewhere: next to nothing was promised anywhere, and here the model knew little".to_owned()
            }
            true => format!("it exploits: better than the best is what was expected, with a chance of {:.0} %", 100.0 * chance),
            false => format!(
                "it explores: worse than the best was expected, but so unsure that the chance of better was {:.0} %",
                100.0 * chance
            ),
        });
    }
    words
}

fn came(state: State, reason: &str, expected: Option<&Expectation>, measured: Option<f64>) -> String {
    let Some(value) = measured else {
        return match (state, reason.lines().next()) {
            (State::Waiting | State::Running, _) => "nothing came of it yet".to_owned(),
            (state, Some(reason)) if !reason.is_empty() => {
                format!("no value came: {} ({reason})", state.name())
            }
            (state, _) => format!("no value came: {}", state.name()),
        };
    };
    let verdict = match expected {
        Some(e) if value < e.low || value > e.high => ", outside of what was expected",
        Some(_) => ", within what was expected",
        None => "",
    };
    format!("measured {}{verdict}", number(value))
}

/// `1 trial was`, `3 trials were`.
fn verb(n: usize, one: &str) -> String {
    format!("{} {}", count(n, one), if n == 1 { "was" } else { "were" })
}
