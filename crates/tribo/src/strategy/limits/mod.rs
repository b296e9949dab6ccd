//! `limits`: optimisation under limits on other outputs, learned while optimising.
//!
//! Evaluations that answer nothing are one more limited output: whether there is an answer.
//!
//! Every limited output has a model of its own (`output`, which sees values through a `sight`); together they are an
//! `outlook`, made by `models` from the `results`. As long as nothing is feasible the most probable feasible point is
//! proposed. Then proposals take turns (`propose`): most minimise the mean of the objective where the means of the limits
//! allow it, in a box around the best point (`solve`), which is exact at limits that bind; others go where the objective's
//! `trend` has its bottom, or look over the whole cube where an improvement that is feasible is most probable. Of many
//! workers some may be set aside to learn the `border` of what is feasible. `look` shows the models to others.

mod border;
mod look;
mod model;
mod models;
mod near;
mod outlook;
mod output;
mod polynomial;
mod propose;
mod quadratic;
mod results;
mod sight;
mod solve;
#[cfg(test)]
mod tests;
mod trend;
mod walls;

pub use self::look::{BestExpected, LimitsLook};

use self::models::Models;
use self::propose::Proposer;
use self::results::Results;
use super::bo::{Optimiser, Proposal};
use super::engine::{Engine, Located, Next, OfInputs, Origin, Plan, Version};
use super::fallback;
use super::settings::Settings;
use super::study::{LimitKnown, REDRAWS};
use crate::embed::Embedding;
use crate::error::{Error, RestoreFault, Result};
use crate::limit::Limit;
use crate::rng::Stream;
use crate::space::Space;
use crate::space::formula::Region;
use crate::surrogate::watch::Watch;
use crate::trial::{History, Purpose, Trial};
use std::collections::BTreeMap;

/// Half the side of the box around the best point: at first, at least and at most.
const RADIUS: (f64, f64, f64) = (0.5, 1e-5, 1.0);

/// The same of the box of wide turns: at first and after its least, at least and at most.
const WIDE: (f64, f64, f64) = (0.2, 0.03, 0.5);
/// Boxes of steps below this half side leave turns to wide ones.
const FINE: f64 = 0.05;
/// The same for half of the steps, among many inputs, where there is a trend.
const FINEST: f64 = 0.01;
/// Inputs from which the whole cube has one turn of eight instead of two: most of it is corners there. And from which a
/// search may have to pass many ripples.
const MANY_INPUTS: usize = 6;

/// At most one of so many that are under way learns the border of what is feasible.
const BORDER_SHARE: usize = 3;

/// What a proposal does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turn {
    /// A step on the means in the box around the best point.
    Step,
    /// A step on the means in the whole cube, or else, if that ends in the box, a step there.
    Leap,
    /// Towards the bottom of the objective's trend, or else a step on the means in that box.
    Bottom,
    /// The same, or else a step in a wider box, while the others see to the last digits of what may be one ripple of many.
    Wide,
    /// The best hope in that wider box.
    Hope,
    /// The best hope in the whole cube.
    Cube,
    /// Where most can be learned about the border of what is feasible.
    Border,
}

/// What a proposal is for.
#[derive(Debug, Clone, Copy)]
struct Asked {
    turn: Turn,
    /// The half side of the box of its turn when it was asked for.
    radius: f64,
}

/// A search under limits.
pub(super) struct Limited {
    limits: Vec<Limit>,
    seed: u64,
    /// Its design, and a model of the objective alone for those who want to look at it.
    optimiser: Optimiser,
    n_initial: usize,
    n_designed: usize,
    results: Results,
    /// Points without an outcome, by trial, and what each is for if it is a proposal of models.
    pending: BTreeMap<u64, (Vec<f64>, Option<Asked>)>,
    models: Models,
    /// Half the side of the box around the best point.
    radius: f64,
    /// The same for wide turns.
    wide: f64,
    /// Where constraints between inputs are met, if there are any.
    region: Option<Region>,
    /// How many of those under way learn the border of what is feasible, at most.
    border: usize,
}

impl Limited {
    pub(super) fn new(space: &Space, settings: &Settings, limits: Vec<Limit>, seed: u64) -> Result<Limited> {
        Limited::over(space.dim(), space.region(), settings, limits, seed)
    }

    /// The same for so many coordinates, whatever they mean.
    pub(super) fn over(
        d: usize,
        region: Option<Region>,
        settings: &Settings,
        limits: Vec<Limit>,
        seed: u64,
    ) -> Result<Limited> {
        let embedding = Embedding::new(crate::embed::Kind::Identity, d, seed, 0)?;
        let n_initial = settings.initial.count.unwrap_or((d + 2).clamp(5, 20));
        let mut optimiser = Optimiser::new(embedding, settings.clone(), seed, 0)?;
        optimiser.within(region.clone());
        // Whether an evaluation answers at all is one more output, that must be negative.
        let mut limits = limits;
        limits.push(Limit::new("an answer", None, Some(0.0))?);
        let (results, pending, models) = (Results::default(), BTreeMap::new(), Models::default());
        Ok(Limited {
            limits,
            seed,
            optimiser,
            n_initial,
            n_designed: 0,
            results,
            pending,
            models,
            radius: RADIUS.0,
            wide: WIDE.0,
            region,
            border: settings.quota.border,
        })
    }

    fn propose_point(&mut self, next: Next<'_>, watch: &dyn Watch) -> Result<(Vec<f64>, Purpose)> {
        self.models.outlook(&self.results, &self.limits, self.n_initial, watch)?;
        let pending = self.pending.values().map(|(u, _)| u.as_slice()).collect();
        self.proposer(self.turn(next.id.0), pending, next.id.0)?.propose(watch)
    }

    /// What makes a proposal of the models as they are.
    fn proposer<'a>(&'a self, turn: Turn, pending: Vec<&'a [f64]>, id: u64) -> Result<Proposer<'a>> {
        Ok(Proposer {
            limits: &self.limits,
            results: &self.results,
            outlook: self.models.current()?,
            known: self.models.recognised(),
            kinds: self.models.kinds(),
            pending,
            radius: self.radius,
            region: self.region.as_ref(),
            seed: self.seed,
            turn,
            reach: self.radius_of(turn),
            id,
        })
    }

    /// What the proposal of a trial does: a function of what is known when it is asked for.
    fn turn(&self, id: u64) -> Turn {
        if self.results.best.is_some() && self.is_border_due() {
            return Turn::Border;
        }
        let number = (id as usize).saturating_sub(self.n_designed);
        let is_fine = self.radius < FINE && self.results.best.is_some();
        let are_many = self.optimiser.embedding().model_dim() >= MANY_INPUTS;
        let is_feasible = self.results.best.is_some();
        match number % 8 {
            1 | 5 if are_many && is_feasible && self.radius < FINEST => Turn::Bottom,
            5 if is_feasible && !is_fine => Turn::Leap,
            2 | 6 if are_many && is_feasible => Turn::Wide,
            2 if is_fine => Turn::Wide,
            6 if is_fine => Turn::Hope,
            3 if is_fine && are_many => Turn::Hope,
            3 | 7 => Turn::Cube,
            _ => Turn::Step,
        }
    }

    /// Whether fewer of those under way are at the border than should be.
    fn is_border_due(&self) -> bool {
        let is_there = |asked: &Option<Asked>| asked.is_some_and(|asked| asked.turn == Turn::Border);
        let there = self.pending.values().filter(|(_, asked)| is_there(asked)).count();
        there < self.border.min((self.pending.len() + 1) / BORDER_SHARE)
    }

    /// The half side of the box of a turn.
    fn radius_of(&self, turn: Turn) -> f64 {
        match turn {
            Turn::Step | Turn::Leap | Turn::Bottom => self.radius,
            Turn::Wide | Turn::Hope | Turn::Cube | Turn::Border => self.wide,
        }
    }

    /// How large boxes are after a result, which was `from` there. However many proposals of one box fail, they say together
    /// that it was too large, once.
    fn resize(&mut self, asked: Asked, from: Option<usize>, is_better: bool, row: usize) {
        let length = from.map_or(1.0, |from| self.results.apart(from, row));
        // The bottom of a trend that is that near was none.
        let turn = match asked.turn {
            Turn::Leap | Turn::Bottom if length <= asked.radius => Turn::Step,
            turn => turn,
        };
        match turn {
            Turn::Step if is_better => {
                // A step that ended inside its box says how large the next one may be.
                let is_inside = length < 0.9 * self.radius;
                self.radius = if is_inside {
                    (2.0 * length).max(0.25 * self.radius).min(self.radius)
                } else {
                    2.0 * self.radius
                };
            }
            Turn::Step => {
                let best = self.results.best;
                if !best.is_some_and(|best| self.results.is_better_than_beyond(&self.limits, row, best)) {
                    self.radius = self.radius.min(0.5 * asked.radius);
                }
            }
            // Steps go on from there, in a box that is no ripple.
            _ if is_better => {
                self.radius = self.radius.max(0.5 * length);
                self.wide = self.wide.max(length).min(WIDE.2);
            }
            Turn::Wide | Turn::Hope if asked.radius == self.wide => {
                self.wide = if 0.7 * self.wide < WIDE.1 { WIDE.0 } else { 0.7 * self.wide }
            }
            Turn::Leap | Turn::Bottom | Turn::Wide | Turn::Hope | Turn::Cube | Turn::Border => {}
        }
        self.radius = self.radius.clamp(RADIUS.1, RADIUS.2);
    }

    fn note(&mut self, trial: &Trial) {
        // What somebody else measured does for the models what a design would have done.
        if matches!(trial.purpose, Purpose::Initial | Purpose::Added) {
            self.n_designed += 1;
        }
        let turn = match (trial.purpose, self.turn(trial.id.0)) {
            (Purpose::Exploit, turn) => Some(turn),
            (Purpose::Explore, Turn::Border) => Some(Turn::Border),
            (Purpose::Explore, _) => Some(Turn::Cube),
            _ => None,
        };
        let asked = turn.map(|turn| Asked { turn, radius: self.radius_of(turn) });
        self.pending.insert(trial.id.0, (trial.z.clone(), asked));
    }
}

impl Engine for Limited {
    fn version(&self) -> Version {
        Version { engine: "limits", number: 5 }
    }

    fn propose(&mut self, next: Next<'_>, watch: &dyn Watch) -> Result<Plan> {
        let d = self.optimiser.embedding().model_dim();
        let few = self.results.points.len() < self.n_initial.min(d + 1).max(2);
        let Proposal { u, purpose, decision } = if self.n_designed < self.n_initial || few {
            self.optimiser.design(next.id.0)?
        } else {
            match fallback::attempt(|| self.propose_point(next, watch))? {
                Ok((u, purpose)) => Proposal { u, purpose, decision: None },
                Err(why) => self.optimiser.makeshift(next.id.0, why)?,
            }
        };
        let mut plan = Plan::new(next.id, u, purpose, None);
        plan.trial.decision = decision;
        Ok(plan)
    }

    fn redraw(&self, plan: &mut Plan, draw: u64, stream: &mut Stream) -> bool {
        plan.trial.z = self.optimiser.random_point(stream);
        draw <= REDRAWS
    }

    fn asked(&mut self, trial: &Trial, _origin: Origin) {
        self.optimiser.asked(trial, trial.z.clone());
        self.note(trial);
    }

    fn restored(&mut self, trial: &Trial) -> Result<()> {
        let (expected, found) = (self.optimiser.embedding().model_dim(), trial.z.len());
        if found != expected {
            let fault = RestoreFault::Length { what: "z", expected, found };
            return Err(Error::Restore { id: trial.id.0, fault });
        }
        self.optimiser.asked(trial, trial.z.clone());
        self.note(trial);
        Ok(())
    }

    fn told(&mut self, trial: &Trial, value: Option<f64>) {
        self.told_limited(trial, value, &[]);
    }

    fn told_limited(&mut self, trial: &Trial, value: Option<f64>, limited: &[Option<f64>]) {
        self.optimiser.told(trial.id.0, value);
        let Some((u, asked)) = self.pending.remove(&trial.id.0) else { return };
        let n_asked = self.limits.len() - 1;
        let mut all: Vec<Option<f64>> = (0..n_asked).map(|k| limited.get(k).copied().flatten()).collect();
        let answered = value.is_some() || all.iter().any(Option::is_some);
        all.push(Some(if answered { -1.0 } else { 1.0 }));
        let before = self.results.centre();
        let is_best = self.results.enter(&self.limits, u, value, &all);
        let row = self.results.points.len() - 1;
        let is_nearer = self.results.best.is_none() && self.results.centre() != before;
        if let (Some(asked), true) = (asked, row > 0) {
            self.resize(asked, before, is_best || is_nearer, row);
        }
    }

    fn lost(&mut self, trial: &Trial) {
        self.optimiser.lost(trial.id.0);
        self.pending.remove(&trial.id.0);
    }

    fn unit(&self, trial: &Trial) -> Result<Vec<f64>> {
        Ok(trial.z.clone())
    }

    fn models_all(&self) -> bool {
        true
    }

    fn model_of_best(&mut self, history: &History) -> Option<(&mut Optimiser, Located)> {
        history.best()?;
        let points = history.measured().map(|(trial, _)| (trial.id, trial.z.clone())).collect();
        Some((&mut self.optimiser, points))
    }

    fn model_of_all(&mut self) -> Option<&mut Optimiser> {
        Some(&mut self.optimiser)
    }

    fn model_of_inputs(&mut self, history: &History) -> Option<OfInputs<'_>> {
        let (optimiser, located) = self.model_of_best(history)?;
        Some(OfInputs { optimiser, inputs: None, located })
    }

    fn look_at_limits(&mut self, watch: &dyn Watch) -> Result<Option<LimitsLook>> {
        if self.results.points.len() < 2 {
            return Ok(None);
        }
        LimitsLook::of(self, watch).map(Some)
    }

    fn limits(&mut self, sign: f64, watch: &dyn Watch) -> Result<Vec<LimitKnown>> {
        let n = self.limits.len() - 1;
        if self.results.points.len() < 2 {
            return Ok(vec![]);
        }
        self.models.outlook(&self.results, &self.limits, self.n_initial, watch)?;
        let mut known = match self.results.best {
            None => self.proposer(Turn::Cube, vec![], 0)?.hopes(watch)?,
            Some(best) => propose::known(
                &self.results,
                &self.limits,
                self.models.current()?,
                self.models.recognised(),
                self.models.kinds(),
                self.region.as_ref(),
                best,
                self.radius,
                sign,
                watch,
            )?,
        };
        known.truncate(n);
        Ok(known)
    }
}
