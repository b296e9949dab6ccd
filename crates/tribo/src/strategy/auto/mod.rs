//! `auto`: find the inputs that matter, then optimise them.
//!
//! Up to 40 inputs it is `bo`. Above, it is a machine of a few phases, each in its own file:
//!
//! ```text
//! start ── noise ──> screen ──> optimise <──> rest check ──> screen the others
//!                      │  └ one slope ──> line ──> screen, sum kept ──┐
//!                      └──── dense ──> arms in turn                   └──> optimise
//! ```
//!
//! - `start`: the centre, two corners, a Latin hypercube in all inputs, and one probe that shows the noise.
//! - `screening`: moves of groups of inputs name the active ones, some five evaluations each, whatever D is: `coded` with
//!   small steps, `halving` by significance, where steps have to be large, `scattered` for a crowd of workers;
//!   `verify`: all other inputs move at once, and nothing should happen.
//! - `line`: all inputs answer alike, so they are moved together first.
//! - `search_space`: a Gaussian process over the inputs named, for a start with the slopes that screening has seen
//!   (`slope_hints`).
//! - `noise`: with much noise, the point that is screened from or that bins are searched around.
//! - `known`: results from before this search, and what an earlier one had found.
//! - `dense`: too many inputs matter to name them, so `bins` of them, all of them and `evolution` take turns.
//! - `makeshift`: what is asked where the search cannot go on, and what is left when something breaks.
//! - `report`: what the strategy says about itself.
//!
//! Every number that somebody chose is in `tuning`.
//!
//! The machine changes by events alone, a trial asked, an outcome told; what it would propose next is a function of its
//! state. So it is restored by running the events again: tests are cheap to repeat, and what is not, the model's
//! proposals, is in the records.

mod choose;
mod dense;
mod known;
mod line;
mod makeshift;
mod noise;
mod recipes;
mod report;
mod screening;
mod search_space;
mod slope_hints;
mod start;
mod tuning;

pub use choose::looks_at_budget;
pub(super) use choose::{budget, choose, inputs_of};
pub(super) use recipes::Recipes;

use super::bo::{NextTrial, Optimiser, Proposal};
use super::engine::{Engine, Hint, Located, Next, Origin, Plan};
use super::fallback;
use super::study::REDRAWS;
use super::study::insight::{ActiveInput, Evidence, Fact, Finding, Insight};
use crate::error::{Error, RestoreFault, Result};
use crate::rng::Stream;
use crate::space::Space;
use crate::surrogate::watch::Watch;
use crate::trial::{History, Purpose, Recipe, Trial, TrialId};
use dense::Dense;
use dense::evolution::Evolution;
use line::parabola::Parabolas;
use screening::round::{GroupTest, Round, Surroundings};
use screening::scattered::Scatter;
use screening::verify::RestCheck;
use search_space::{Live, LiveSpace};
use slope_hints::Slope;
use std::collections::{BTreeMap, VecDeque};

/// The first trial of a study.
const FIRST: TrialId = TrialId(0);

/// The strategy's state.
pub(super) struct Auto {
    points: Recipes,
    seed: u64,
    budget: usize,
    phase: Phase,
    /// Jobs waiting to be asked.
    queue: VecDeque<Job>,
    pending: BTreeMap<u64, Pending>,
    /// Measured trials in the order told: id, value, whether a model may see it.
    results: Vec<Measured>,
    /// Position of the lowest in `results`.
    best: Option<usize>,
    start: start::Start,
    repeats: noise::Repeats,
    scatter: Option<Scatter>,
    noise: start::Noise,
    round: Option<(usize, Round)>,
    line: Option<LineSearch>,
    /// Whether the line was searched: once per study.
    lined: bool,
    /// Results before this one are of another sum and stay out of the model.
    data_from: usize,
    named: Vec<ActiveInput>,
    /// What small steps have shown, while the optimiser has few results.
    slopes: Vec<Slope>,
    /// Results of the optimiser.
    n_searched: usize,
    bins: bool,
    /// The point that bins depart from, and which draw they are.
    bin_base: TrialId,
    bin_number: usize,
    /// Results there were when they were drawn.
    bins_drawn_at: usize,
    whole: bool,
    /// The arms of the dense fallback, once it is reached without much noise.
    dense: Option<Dense>,
    live: Option<Live>,
    n_live: u64,
    /// Workers, as far as they were seen: most trials pending at once.
    workers: usize,
    /// Tests of all rounds.
    n_tests: usize,
    rest_at: usize,
    rest: Option<RestCheck>,
    /// Large steps were tried.
    far_tried: bool,
    /// Inputs that the last rest check found idle.
    n_idle: usize,
    findings: Vec<Finding>,
    /// Whether the user said which inputs matter.
    is_given: bool,
    /// Where the start departs from: the centre of the cube, or the incumbent of the results from before.
    centre: TrialId,
    /// Results from before, and trials asked here.
    n_known: usize,
    n_own: usize,
    /// What an earlier search had found, until it is followed.
    hint: Option<Hint>,
    /// Checks of named inputs that are not back.
    n_checks: usize,
}

/// A measured trial.
#[derive(Debug, Clone, Copy)]
struct Measured {
    id: TrialId,
    value: f64,
    in_model: bool,
}

/// What the machine is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Start,
    /// For repeats and points that tell how noisy the values are.
    Wait,
    /// For the noise at the bottom of the line.
    Bottom,
    Screen,
    Line,
    Optimise,
}

/// A trial to be asked.
#[derive(Debug, Clone)]
struct Job {
    recipe: Recipe,
    z: Vec<f64>,
    task: Task,
}

/// What the answer is for.
#[derive(Debug, Clone)]
enum Task {
    /// Nothing but data.
    Point,
    /// A result from before.
    Known,
    /// Whether a named input matters: the incumbent, whose value is ..., with that input moved.
    Check { input: usize, before: f64 },
    /// The start: counts, and may be one of the pair that shows the noise.
    Start { pair: bool },
    /// A repeat of the point of slot number ...
    Repeat(usize),
    /// More points, in search of one that stands out.
    More,
    /// One probe of many that move all inputs.
    Scatter,
    /// A test of a round.
    Test(usize, GroupTest),
    /// The rest check: the idle inputs moved, or not.
    Rest { moved: bool },
    /// A step along the line.
    Line(f64),
    /// The base of round ... once more.
    Still(usize),
    /// Noise at the bottom of the line, where the value is ...
    Bottom(f64),
    /// The optimiser's own.
    Search,
}

struct Pending {
    task: Task,
    in_model: bool,
}

struct LineSearch {
    base: TrialId,
    line: Parabolas,
    /// Slope where screening began.
    slope: f64,
}

impl Auto {
    /// A machine for a space; the inputs that matter can be `given`.
    pub(super) fn new(space: &Space, evaluations: usize, seed: u64, given: Vec<usize>) -> Auto {
        let mut auto = Auto {
            points: Recipes::new(space, seed),
            seed,
            budget: evaluations,
            phase: Phase::Start,
            queue: VecDeque::new(),
            pending: BTreeMap::new(),
            results: vec![],
            best: None,
            start: start::Start::default(),
            repeats: noise::Repeats::default(),
            scatter: None,
            noise: start::Noise::default(),
            round: None,
            line: None,
            lined: false,
            data_from: 0,
            named: vec![],
            slopes: vec![],
            n_searched: 0,
            bins: false,
            bin_base: FIRST,
            bin_number: 0,
            bins_drawn_at: 0,
            whole: false,
            dense: None,
            live: None,
            n_live: 0,
            workers: 1,
            n_tests: 0,
            rest_at: 0,
            rest: None,
            far_tried: false,
            n_idle: 0,
            findings: vec![],
            is_given: !given.is_empty(),
            centre: FIRST,
            n_known: 0,
            n_own: 0,
            hint: None,
            n_checks: 0,
        };
        auto.queue_start();
        auto.take_given(given);
        auto
    }

    fn found(&mut self, fact: Fact) {
        self.findings.push(Finding { results: self.results.len(), fact });
    }

    /// Which part of the machine has its turn.
    fn turn(&self) -> Origin {
        if self.round.as_ref().is_some_and(|(_, round)| round.next().is_some()) {
            Origin::Round
        } else if !self.queue.is_empty() {
            Origin::Queue
        } else if self.wants_scatter() {
            Origin::Crowd
        } else if self.live.is_some() || self.evolution().is_some() {
            Origin::Model
        } else {
            Origin::Anywhere
        }
    }

    /// CMA-ES, while it is its turn.
    fn evolution(&self) -> Option<&Evolution> {
        self.dense.as_ref()?.evolution.as_ref().filter(|_| self.whole)
    }

    fn evolution_mut(&mut self) -> Option<&mut Evolution> {
        self.dense.as_mut()?.evolution.as_mut().filter(|_| self.whole)
    }

    /// The plan of the part that has its turn.
    fn plan(&mut self, next: Next<'_>, watch: &dyn Watch) -> Result<Plan> {
        let (id, origin) = (next.id, self.turn());
        if origin != Origin::Model {
            return Ok(self.planned(origin, id));
        }
        if let Some(evolution) = self.evolution() {
            let z = evolution.point().to_vec();
            return Ok(Plan::new(id, z, Purpose::Exploit, Some(self.search_recipe()?)));
        }
        let Some(live) = &mut self.live else { return Err(Error::Empty { what: "live inputs" }) };
        let (purpose, Proposal { u, decision }) = match live.optimiser.best() {
            // All first points of the live space gave nothing: there is nothing to model yet.
            None => (Purpose::Initial, Proposal { u: live.optimiser.design_point(id.0)?, decision: None }),
            Some(_) => {
                let (purpose, n_asked) = (Purpose::Exploit, next.history.len());
                (purpose, live.optimiser.propose(NextTrial { id: id.0, n_asked, purpose }, watch)?)
            }
        };
        let mut plan = Plan::new(id, u, purpose, Some(self.search_recipe()?));
        plan.trial.decision = decision;
        Ok(plan)
    }

    /// How a point of the live space is made into one of all inputs.
    fn search_recipe(&self) -> Result<Recipe> {
        let inputs: Vec<usize> = match &self.live {
            Some(Live { space: LiveSpace::Bins { number, .. }, .. }) => {
                return Ok(Recipe::Bins { base: self.bin_base, number: *number });
            }
            Some(Live { space: LiveSpace::Inputs(inputs), .. }) => inputs.clone(),
            None => (0..self.points.n_inputs()).collect(),
        };
        let empty = Error::Empty { what: "results of the study" };
        let best = self.best.map(|at| self.results[at].id).ok_or(empty)?;
        // Not a chain of them: what the incumbent itself set is set anew.
        let base = match self.points.recipe(best) {
            Some(Recipe::Set { base, inputs: set })
                if set.iter().all(|input| inputs.binary_search(input).is_ok()) =>
            {
                *base
            }
            _ => best,
        };
        Ok(Recipe::Set { base, inputs })
    }

    /// The plan of a part other than the model: a test, the job at the head of the queue, a probe, or a uniform point.
    fn planned(&self, origin: Origin, id: TrialId) -> Plan {
        let (recipe, z, purpose) = match (origin, &self.round, self.queue.front()) {
            (Origin::Round, Some((number, round)), _) => {
                let start = &self.points.round(*number).start;
                (round.recipe(*number, start), vec![], Purpose::Probe)
            }
            (Origin::Queue, _, Some(job)) => (job.recipe.clone(), job.z.clone(), job.purpose()),
            (Origin::Crowd, ..) => {
                (Recipe::Scatter { base: self.centre, step: tuning::SMALL_STEP.0 }, vec![], Purpose::Probe)
            }
            _ => (Recipe::Uniform, vec![], Purpose::Explore),
        };
        Plan { origin, must_be_new: false, ..Plan::new(id, z, purpose, Some(recipe)) }
    }

    /// Which part an earlier process asked this trial for; refuses one that this machine would not have asked.
    fn origin_of(&self, trial: &Trial) -> Result<Origin> {
        let fault = |fault| Err(Error::Restore { id: trial.id.0, fault });
        let origin = self.turn();
        if self.is_makeshift(trial, origin) {
            self.check_makeshift(trial)?;
            return Ok(Origin::Makeshift);
        }
        if origin != Origin::Model {
            let planned = self.planned(origin, trial.id).trial;
            let same = match (&trial.recipe, &planned.recipe) {
                (Some(recipe), Some(planned_recipe)) => recipe.is_same(planned_recipe),
                _ => false,
            };
            let same = same && trial.z == planned.z;
            return if same { Ok(origin) } else { fault(RestoreFault::Recipe) };
        }
        if trial.recipe.as_ref() != Some(&self.search_recipe()?) {
            return fault(RestoreFault::Recipe);
        }
        let expected = match (self.evolution(), &self.live) {
            (None, Some(live)) => live.optimiser.embedding().model_dim(),
            _ => self.points.dim(),
        };
        match trial.z.len() {
            found if found == expected => Ok(origin),
            found => fault(RestoreFault::Length { what: "z", expected, found }),
        }
    }

    /// What a trial asked changes, but for the fit of the model.
    fn note(&mut self, trial: &Trial, origin: Origin) {
        let task = match origin {
            Origin::Model => {
                if let Some(evolution) = self.evolution_mut() {
                    evolution.asked(trial.id.0, &trial.z);
                }
                Task::Search
            }
            Origin::Round => match &mut self.round {
                Some((number, round)) => round.take().map_or(Task::Point, |test| Task::Test(*number, test)),
                None => Task::Point,
            },
            Origin::Queue => self.queue.pop_front().map_or(Task::Point, |job| job.task),
            Origin::Crowd => {
                self.scatter_asked();
                Task::Scatter
            }
            Origin::Anywhere => Task::Point,
            Origin::Makeshift => {
                self.makeshift_asked(trial);
                Task::Point
            }
        };
        self.n_own += 1;
        self.note_point(trial, task, origin != Origin::Model);
        let ended = trial.decision.as_ref().is_some_and(|decision| decision.ended.is_some());
        if ended && self.results.len() >= self.rest_at + tuning::REST_EVERY {
            self.queue_rest();
        }
    }

    /// Takes note of where a pending trial is; `expects` if the optimiser did not propose it.
    fn note_point(&mut self, trial: &Trial, task: Task, expects: bool) {
        let recipe = trial.recipe.clone().unwrap_or(Recipe::Uniform);
        let in_model = self.is_in_model(&recipe);
        self.points.note(trial.id, recipe, trial.z.clone());
        if expects
            && let Some(u) = self.live_coordinates(trial.id, in_model)
            && let Some(live) = &mut self.live
        {
            live.optimiser.expect(trial.id.0, u);
        }
        self.pending.insert(trial.id.0, Pending { task, in_model });
        self.workers = self.workers.max(self.pending.len());
        self.scatter_early();
    }

    /// Whether a model may see results of such points.
    fn is_in_model(&self, recipe: &Recipe) -> bool {
        match recipe {
            Recipe::Move { step, .. } => *step >= tuning::STEP_IN_MODEL,
            Recipe::Jitter { .. } => self.noise.noisy,
            Recipe::Scatter { .. } => false,
            _ => true,
        }
    }

    /// Takes note of an outcome and goes on from it.
    fn take(&mut self, id: TrialId, value: Option<f64>) -> Result<()> {
        let Some(Pending { task, in_model }) = self.pending.remove(&id.0) else { return Ok(()) };
        if let Some(value) = value {
            self.results.push(Measured { id, value, in_model });
            let at = self.results.len() - 1;
            if self.best.is_none_or(|best| value < self.results[best].value) {
                self.best = Some(at);
            }
        }
        if let Some(live) = &mut self.live {
            live.optimiser.told(id.0, value);
        }
        self.answered(id, task, value)?;
        self.dense_told(id.0, value)?;
        self.settle()
    }

    fn answered(&mut self, id: TrialId, task: Task, value: Option<f64>) -> Result<()> {
        match task {
            Task::Point => {}
            Task::Known => self.known_told(value),
            Task::Check { input, before } => self.check_told(input, before, value),
            Task::Search => self.n_searched += usize::from(value.is_some()),
            Task::Start { pair } => self.start_told(id, pair, value),
            Task::Repeat(slot) => self.repeats.told(slot, value),
            Task::More => self.more_told(),
            Task::Scatter => self.scatter_told(self.points.scatter_key(id), value),
            Task::Test(number, test) => self.test_told(number, test, value),
            Task::Rest { moved } => self.rest_told(id, moved, value)?,
            Task::Line(t) => self.line_told(t, value)?,
            Task::Still(number) => self.still_told(number, value),
            Task::Bottom(before) => self.bottom_told(before, value)?,
        }
        Ok(())
    }

    fn surroundings(&self) -> Surroundings {
        Surroundings { sigma: self.noise.sigma, workers: self.workers, budget: self.budget }
    }
}

impl Job {
    /// Why it is asked.
    fn purpose(&self) -> Purpose {
        match (&self.task, &self.recipe) {
            (Task::Start { pair: false }, _) | (_, Recipe::Bins { .. }) => Purpose::Initial,
            (Task::Point | Task::More, _) => Purpose::Explore,
            _ => Purpose::Probe,
        }
    }
}

impl Engine for Auto {
    fn propose(&mut self, next: Next<'_>, watch: &dyn Watch) -> Result<Plan> {
        Ok(match fallback::attempt(|| self.plan(next, watch))? {
            Ok(plan) => plan,
            Err(why) => self.makeshift(next.id, why),
        })
    }

    fn redraw(&self, plan: &mut Plan, draw: u64, stream: &mut Stream) -> bool {
        if draw <= self.enough_draws().unwrap_or(REDRAWS).min(REDRAWS) {
            plan.trial.z.iter_mut().for_each(|z| *z = stream.uniform());
            return true;
        }
        // The inputs searched take few values, and all were tried.
        match self.elsewhere(plan.trial.id) {
            Some(elsewhere) if elsewhere.trial.recipe != plan.trial.recipe => {
                *plan = elsewhere;
                true
            }
            _ => false,
        }
    }

    fn asked(&mut self, trial: &Trial, origin: Origin) {
        if origin == Origin::Model
            && let Some(live) = &mut self.live
        {
            live.optimiser.asked(trial, trial.z.clone());
        }
        self.note(trial, origin);
    }

    fn adopted(&mut self, trial: &Trial) {
        self.take_known(trial);
    }

    fn hint(&mut self, hint: Hint) {
        self.take_hint(hint);
    }

    fn restored(&mut self, trial: &Trial) -> Result<()> {
        let origin = self.origin_of(trial)?;
        if origin == Origin::Model
            && self.evolution().is_none()
            && let Some(live) = &mut self.live
        {
            live.optimiser.restored(trial, trial.z.clone())?;
        }
        self.note(trial, origin);
        Ok(())
    }

    fn told(&mut self, trial: &Trial, value: Option<f64>) {
        match fallback::attempt(|| self.take(trial.id, value)) {
            Ok(Ok(())) => {}
            Ok(Err(why)) => self.recover(why),
            Err(stopped) => self.recover(stopped.to_string()),
        }
    }

    fn unit(&self, trial: &Trial) -> Result<Vec<f64>> {
        let Some(recipe) = &trial.recipe else { return Ok(vec![0.0; self.points.dim()]) };
        let all: Vec<usize> = (0..self.points.n_inputs()).collect();
        Ok(self.points.made_of(trial.id, recipe, &trial.z, &all))
    }

    fn insight(&self, sign: f64) -> Option<Insight> {
        Some(self.account(sign))
    }

    fn model_of_best(&mut self, history: &History) -> Option<(&mut Optimiser, Located)> {
        let measured: Vec<TrialId> = history.measured().map(|(trial, _)| trial.id).collect();
        self.live_points(&measured)
    }
}
