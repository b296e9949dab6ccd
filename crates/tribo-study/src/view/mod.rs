//! What a study looks like: its results, its model and its machines as data and charts.
//!
//! A [`View`] is made once from a [`Source`], a journal or a study in memory, and then only looked at: the report, the pictures
//! of the program and of Python, and the words of `tribo inputs` all come from it. The model is the optimiser's own, rebuilt
//! from the records: the optimiser of a study that goes on is not touched. What is said about it comes from
//! `tribo::analysis`. Where there is no model, or too little to say something, there is no chart, and not a wrong one.
//!
//! Costs: rebuilding the optimiser, and about a second for what is said about the model; [`Depth::Results`] leaves that out.

mod convergence;
mod hindsight;
mod input;
mod limits;
mod many;
mod model;
mod numbers;
mod picture;
mod source;
mod timeline;
pub mod why;

pub use hindsight::{Forecast, Hindsight, Past, is_nothing};
pub use input::InputAxis;
pub use limits::Bound;
pub use model::Through;
pub use numbers::{Column, Columns};
pub use picture::PictureKind;
pub use source::Source;
pub use timeline::Machine;

use crate::Result;
use crate::config::Config;
use crate::layout::Layout;
use crate::reading::Reading;
use crate::replay::{self, Rebuilt};
use crate::report::row::{Begun, Row, State};
use crate::report::summary::{Summary, summary};
use crate::report::text::count;
use crate::store::ledger::Ledger;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tribo::analysis::{Share, Trust, Validation, foresight, sensitivity, validation};
use tribo::strategy::{BestExpected, Insight, LimitsLook, Look};
use tribo::surrogate::watch::Watch;

/// Evaluations that are foreseen.
const AHEAD: usize = 20;
/// Inputs that are shown at most, the most important first.
pub const SHOWN_INPUTS: usize = 8;
/// Results that one chart shows one by one, at most.
const SHOWN_RESULTS: usize = 1_500;
/// Trials whose places among the inputs are known, at most.
const PLACED: usize = 2_000;
/// Time that a fit may take where the optimiser would make one now.
const FIT: Duration = Duration::from_millis(800);

/// A trial with an outcome.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// Its number.
    pub trial: u64,
    /// Where it stands.
    pub state: State,
    /// Its value, if it has one.
    pub value: Option<f64>,
    /// Whether it has one and meets every limit.
    pub is_feasible: bool,
    /// The values of the inputs shown, as places between their ends; None if it is not in the space of the present chapter,
    /// or one of very many.
    pub places: Option<Vec<f64>>,
}

/// What is said about the model.
pub struct Model {
    /// The model.
    pub look: Look,
    /// Whether it is to be trusted.
    pub validation: Option<Validation>,
    /// How much each input matters, the most important first.
    pub shares: Vec<Share>,
    /// What is said about the gain of more evaluations; None without a last forecast, or a model to be trusted.
    pub forecast: Option<Forecast>,
    /// The last forecast.
    pub hindsight: Option<Hindsight>,
    /// The models of limited outputs, where there are any.
    pub limits: Option<LimitsLook>,
    /// What these hold for possible within the limits, near the best point.
    pub within: Option<BestExpected>,
}

impl Model {
    /// How far it is to be trusted; not at all before there is something to say.
    pub fn trust(&self) -> Trust {
        self.validation.as_ref().map_or(Trust::None, |validation| validation.trust)
    }

    /// Whether it is to be trusted, in a word and in sentences.
    pub fn verdict(&self) -> (&'static str, String) {
        let Some(validation) = &self.validation else {
            return (
                "fair",
                "There are too few results to say whether the model is to be trusted.".to_owned(),
            );
        };
        let numbers = format!(
            "Each of {} left out, it explains {:.0} % of their variance, and {:.0} % of them lie in its interval of 95 %.",
            count(validation.results.len(), "result"),
            100.0 * validation.explained.max(0.0),
            100.0 * validation.inside
        );
        match validation.trust {
            Trust::Good => ("good", format!("The model can be trusted. {numbers}")),
            Trust::Fair => ("fair", format!("The model tells good from bad, not more. {numbers}")),
            Trust::None => (
                "poor",
                format!(
                    "The model is not to be trusted: values are noise to it, too rough, or too few. {numbers}"
                ),
            ),
        }
    }
}

/// How much of a study is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// Results only, which takes moments.
    Results,
    /// Results and model.
    Model,
}

/// A study, to be looked at.
pub struct View {
    /// Its paths; None in memory.
    pub layout: Option<Layout>,
    /// The study file in force.
    pub config: Config,
    /// Its text.
    pub config_text: String,
    /// Where it stands.
    pub summary: Summary,
    /// What the strategy has found out.
    pub insight: Insight,
    /// Trials with an outcome, in the order told.
    pub outcomes: Vec<Outcome>,
    /// Inputs shown, the most important first.
    pub inputs: Vec<InputAxis>,
    /// The model, where there is one.
    pub model: Option<Arc<Model>>,
    /// Who worked when.
    pub machine: Machine,
}

/// A clock that ends a fit in time.
struct Until(Instant);

impl Watch for Until {
    fn deadline_passed(&self) -> bool {
        Instant::now() > self.0
    }
}

impl View {
    /// A study on disk as it is now.
    pub fn of(reading: &Reading) -> Result<View> {
        View::new(&Source::Journal(reading), Depth::Model)
    }

    /// A study as it is now.
    pub fn new(source: &Source<'_>, depth: Depth) -> Result<View> {
        match depth {
            Depth::Results => Draft::of(source, None)?.placed(),
            Depth::Model => {
                let hindsight = Past::of(source)?.and_then(Past::hindsight);
                Draft::of(source, hindsight)?.finish()
            }
        }
    }

    /// The study as it is now, with the model of an earlier view and without the places of trials: it costs what was added to
    /// the journal, and a pass over all trials.
    pub fn at_a_glance(reading: &mut Reading, earlier: Option<&View>) -> Result<View> {
        let seen = reading.seen()?;
        let (layout, config) = (Some(reading.layout.clone()), reading.config.clone());
        let (ledger, rebuilt) = reading.current()?;
        let summary = summary(&config, ledger, rebuilt.points(), layout.as_ref(), &seen)?;
        let insight = rebuilt.study.insight().with_objective(config.objective());
        // In another chapter an input may be another one.
        let earlier = earlier
            .filter(|view| (&view.config_text, view.summary.chapters) == (&ledger.config, summary.chapters));
        let (model, inputs) = match earlier {
            Some(view) => (view.model.clone(), view.inputs.clone()),
            None => (None, inputs(&config, None, &insight)),
        };
        let outcomes = outcomes(&config, ledger);
        let machine = Machine::of(ledger, &seen.begun, seen.now_ms, seen.driver.is_some());
        let config_text = ledger.config.clone();
        Ok(View { layout, config, config_text, summary, insight, outcomes, inputs, model, machine })
    }

    /// Trials with a value, in the order told.
    pub(crate) fn measured(&self) -> impl Iterator<Item = (&Outcome, f64)> {
        self.outcomes.iter().filter_map(|outcome| Some((outcome, outcome.value?)))
    }

    /// Where each value lies between the best, 0, and the worst, 1: by rank, so that one bad value does not make all others
    /// look good. In the order of [`View::measured`].
    fn ranks(&self) -> Vec<f64> {
        let values: Vec<f64> = self.measured().map(|(_, v)| self.config.direction.to_internal(v)).collect();
        let mut order: Vec<usize> = (0..values.len()).collect();
        order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
        let mut ranks = vec![0.0; values.len()];
        let last = values.len().saturating_sub(1).max(1) as f64;
        order.iter().enumerate().for_each(|(rank, &i)| ranks[i] = rank as f64 / last);
        ranks
    }

    /// What is optimised, as an axis says it.
    fn objective(&self) -> &str {
        self.config.objective()
    }

    /// Whether large values are the good ones.
    fn is_maximized(&self) -> bool {
        self.config.direction.to_internal(1.0) < 0.0
    }
}

impl Model {
    fn new(look: Look, hindsight: Option<Hindsight>, seed: u64) -> Model {
        let validation = validation(&look);
        // What cannot be computed is not said.
        let mut shares = sensitivity(&look, seed).ok().flatten().unwrap_or_default();
        shares.sort_by(|a, b| b.total.total_cmp(&a.total));
        let values = || look.results().map(|(_, _, value)| value);
        let spread = values().fold(f64::NEG_INFINITY, f64::max) - values().fold(f64::INFINITY, f64::min);
        let forecast = hindsight.and_then(|last| {
            let ahead = foresight(&look, validation.as_ref(), AHEAD, seed).ok().flatten()?;
            Some(last.forecast(&ahead, spread))
        });
        Model { look, validation, shares, forecast, hindsight, limits: None, within: None }
    }
}

/// What a view is made from, taken from a source at one moment. The model is made without the source, which can go on.
pub struct Draft {
    /// All but the model, the inputs by their importance, and the places of trials.
    view: View,
    rebuilt: Rebuilt,
    hindsight: Option<Hindsight>,
}

impl Draft {
    /// The study as it is now; the last forecast comes from [`Past`].
    pub fn of(source: &Source<'_>, hindsight: Option<Hindsight>) -> Result<Draft> {
        let (config, ledger, seen) = (source.config().clone(), source.ledger(), source.seen()?);
        let rebuilt = replay::rebuild(&config, ledger)?;
        let layout = source.layout().cloned();
        let summary = summary(&config, ledger, rebuilt.points(), layout.as_ref(), &seen)?;
        let view = View {
            layout,
            config_text: ledger.config.clone(),
            summary,
            insight: rebuilt.study.insight().with_objective(config.objective()),
            outcomes: outcomes(&config, ledger),
            inputs: vec![],
            model: None,
            machine: Machine::of(ledger, &seen.begun, seen.now_ms, seen.driver.is_some()),
            config,
        };
        Ok(Draft { view, rebuilt, hindsight })
    }

    /// Makes the model, and what is said about it.
    pub fn finish(mut self) -> Result<View> {
        // A model that cannot be made is not shown; the study itself has its ways to go on without.
        let look = self.rebuilt.study.look(&Until(Instant::now() + FIT)).ok().flatten();
        self.know_limits();
        let (hindsight, seed) = (self.hindsight, self.view.config.seed);
        // What cannot be modelled is not shown.
        let limits = self.rebuilt.study.look_at_limits(&Until(Instant::now() + FIT)).ok().flatten();
        let within = limits
            .as_ref()
            .and_then(|look| look.best_with(look.limits(), &Until(Instant::now() + FIT)).ok().flatten());
        let model = |look| Model { limits, within, ..Model::new(look, hindsight, seed) };
        self.view.model = look.map(|look| Arc::new(model(look)));
        self.placed()
    }

    /// Adds what the model says about the limits, as far as it can.
    fn know_limits(&mut self) {
        if self.view.config.limits.is_empty() {
            return;
        }
        if let Ok(states) = self.rebuilt.study.limit_states(&Until(Instant::now() + FIT)) {
            self.view.summary.know_limits(&self.view.config, states);
        }
    }

    /// The view, with the inputs that matter by the model, if there is one, and the places of trials.
    fn placed(self) -> Result<View> {
        let Draft { mut view, rebuilt, .. } = self;
        view.inputs = inputs(&view.config, view.model.as_deref(), &view.insight);
        view.place(&rebuilt)?;
        Ok(view)
    }
}

/// The inputs to show: by share, else those named, else the first ones.
fn inputs(config: &Config, model: Option<&Model>, insight: &Insight) -> Vec<InputAxis> {
    let by_share = model.iter().flat_map(|model| model.shares.iter().map(|share| share.input));
    let named = insight.active.iter().map(|input| input.input);
    let mut order: Vec<usize> = Vec::new();
    for input in by_share.chain(named).chain(0..config.space.n_inputs().min(SHOWN_INPUTS)) {
        if order.len() < SHOWN_INPUTS && !order.contains(&input) {
            order.push(input);
        }
    }
    order.into_iter().map(|input| InputAxis::of(&config.space, input)).collect()
}

/// Trials with an outcome, without their places.
fn outcomes(config: &Config, ledger: &Ledger) -> Vec<Outcome> {
    let none = Begun::new();
    let outcome = |(trial, state)| {
        let row = Row::new(trial, state, &none);
        let (value, is_feasible) = (row.value(config.objective()), row.is_feasible(config) == Some(true));
        Outcome { trial, state: row.state, value, is_feasible, places: None }
    };
    ledger.told().map(outcome).collect()
}

impl View {
    /// Finds the places of trials. Points of very many inputs take time to make: those of the best, and an even choice of the
    /// others.
    fn place(&mut self, rebuilt: &Rebuilt) -> Result<()> {
        let View { config, outcomes, inputs, .. } = self;
        let internal = |value: f64| config.direction.to_internal(value);
        let measured =
            outcomes.iter().enumerate().filter_map(|(i, outcome)| Some((internal(outcome.value?), i)));
        let mut order: Vec<(f64, usize)> = measured.collect();
        order.sort_by(|a, b| a.0.total_cmp(&b.0));
        let others = order.split_off(order.len().min(PLACED / 3));
        for (_, i) in order.into_iter().chain(thinned(others, PLACED - PLACED / 3)) {
            let point = rebuilt.points().now(outcomes[i].trial)?;
            outcomes[i].places = point.map(|point| inputs.iter().map(|input| input.place(&point)).collect());
        }
        Ok(())
    }
}

/// At most `most` of the items, evenly chosen; the last one always.
fn thinned<T>(items: Vec<T>, most: usize) -> Vec<T> {
    let n = items.len();
    if n <= most {
        return items;
    }
    let keep = |i: usize| i + 1 == n || i * most / n != (i.max(1) - 1) * most / n || i == 0;
    items.into_iter().enumerate().filter(|(i, _)| keep(*i)).map(|(_, item)| item).collect()
}

#[cfg(test)]
pub(crate) mod tests;
