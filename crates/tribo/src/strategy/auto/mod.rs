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
//! - `coded`: moves of groups of inputs with codes name the active ones, some five evaluations each, whatever D is;
//!   `halving`: the same by significance, where steps have to be large; `scatter`: the same for a crowd of workers;
//!   `rounds`: what follows from them.
//! - `line`: all inputs answer alike, so they are moved together first.
//! - `live`: a Gaussian process over the inputs named, for a start with what `slopes` screening has seen.
//! - `base`: with much noise, the point that is screened from or that bins are searched around.
//! - `rest`: all other inputs move at once, and nothing should happen.
//! - `dense`: too many inputs matter to name them, so `bins` of them, all of them and `evolution` take turns.
//! - `makeshift`: what is asked where the search cannot go on, and what is left when something breaks.
//! - `account`: what the strategy says about itself.
//!
//! The machine changes by events alone, a trial asked, an outcome told; what it would propose next is a function of its
//! state. So it is restored by running the events again: tests are cheap to repeat, and what is not, the model's
//! proposals, is in the records.

mod account;
mod base;
mod bins;
mod coded;
mod dense;
mod evolution;
mod group;
mod halving;
mod line;
mod live;
mod makeshift;
mod parabola;
mod pick;
mod points;
mod rest;
mod round;
mod rounds;
mod scatter;
mod slopes;
mod start;

pub use pick::looks_at_budget;
pub(super) use pick::{budget, inputs_of, pick};

use super::arm::Proposal;
use super::insight::{ActiveInput, Evidence, Fact, Finding};
use super::proposal::For;
use crate::error::{Error, RestoreFault, Result};
use crate::space::Space;
use crate::surrogate::watch::Watch;
use crate::trial::{Purpose, Recipe, Trial, TrialId};
use dense::Dense;
use evolution::Evolution;
use live::{Live, LiveSpace};
use parabola::Parabolas;
use points::Points;
use rest::RestCheck;
use round::{Round, Surroundings, Test};
use scatter::Scatter;
use slopes::Slope;
use std::collections::{BTreeMap, VecDeque};

/// Evaluations between two rest checks.
const REST_EVERY: usize = 30;

/// The strategy's state.
pub(super) struct Auto {
    points: Points,
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
    repeats: base::Repeats,
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
    /// The start: counts, and may be one of the pair that shows the noise.
    Start { pair: bool },
    /// A repeat of the point of slot number ...
    Repeat(usize),
    /// More points, in search of one that stands out.
    More,
    /// One probe of many that move all inputs.
    Scatter,
    /// A test of a round.
    Test(usize, Test),
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

/// What is asked next.
enum Next {
    Job,
    Test,
    Uniform,
    Search,
    Evolve,
}

/// A proposal of the machine.
pub(super) struct Made {
    pub(super) recipe: Recipe,
    pub(super) z: Vec<f64>,
    pub(super) purpose: Purpose,
    pub(super) proposal: Option<Proposal>,
}

impl Auto {
    /// A machine for a space; the inputs that matter can be `given`.
    pub(super) fn new(space: &Space, evaluations: usize, seed: u64, given: Vec<usize>) -> Result<Auto> {
        let mut auto = Auto {
            points: Points::new(space, seed),
            seed,
            budget: evaluations,
            phase: Phase::Start,
            queue: VecDeque::new(),
            pending: BTreeMap::new(),
            results: vec![],
            best: None,
            start: start::Start::default(),
            repeats: base::Repeats::default(),
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
            bin_base: start::CENTRE,
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
        };
        auto.queue_start();
        auto.take_given(given)?;
        Ok(auto)
    }

    fn found(&mut self, fact: Fact) {
        self.findings.push(Finding { results: self.results.len(), fact });
    }

    /// Coordinates of all inputs of a trial.
    pub(super) fn unit(&self, id: TrialId, recipe: &Recipe, z: &[f64]) -> Vec<f64> {
        let all: Vec<usize> = (0..self.points.n_inputs()).collect();
        self.points.made_of(id, recipe, z, &all)
    }

    fn next(&self) -> Next {
        if self.round.as_ref().is_some_and(|(_, round)| round.next().is_some()) {
            return Next::Test;
        }
        if !self.queue.is_empty() || self.wants_scatter() {
            return Next::Job;
        }
        match (&self.live, self.evolution()) {
            (_, Some(_)) => Next::Evolve,
            (Some(_), None) => Next::Search,
            (None, None) => Next::Uniform,
        }
    }

    /// CMA-ES, while it is its turn.
    fn evolution(&self) -> Option<&Evolution> {
        self.dense.as_ref()?.evolution.as_ref().filter(|_| self.whole)
    }

    /// What would be asked now as trial `id`. Changes nothing but what can be made again.
    pub(super) fn propose(&mut self, id: TrialId, n_asked: usize, watch: &dyn Watch) -> Result<Made> {
        Ok(match self.next() {
            Next::Search => {
                let Some(live) = &mut self.live else { return Err(Error::Empty { what: "live inputs" }) };
                let (purpose, proposal) = match live.arm.best() {
                    // All first points of the live space gave nothing: there is nothing to model yet.
                    None => (Purpose::Initial, Proposal { u: live.arm.design_point(id.0)?, decision: None }),
                    Some(_) => {
                        let purpose = Purpose::Exploit;
                        (purpose, live.arm.propose(For { id: id.0, n_asked, purpose }, watch)?)
                    }
                };
                let (recipe, z) = (self.search_recipe()?, proposal.u.clone());
                Made { recipe, z, purpose, proposal: Some(proposal) }
            }
            Next::Evolve => {
                let Some(evolution) = self.evolution() else {
                    return Err(Error::Empty { what: "live inputs" });
                };
                let z = evolution.point().to_vec();
                let proposal = Some(Proposal { u: z.clone(), decision: None });
                Made { recipe: self.search_recipe()?, z, purpose: Purpose::Exploit, proposal }
            }
            Next::Job | Next::Test | Next::Uniform => {
                let job = self.planned();
                let purpose = purpose(&job);
                Made { recipe: job.recipe, z: job.z, purpose, proposal: None }
            }
        })
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

    /// The next test as a job, the job at the head, or a uniform point.
    fn planned(&self) -> Job {
        if let Some((number, round)) = &self.round
            && let Some(test) = round.next()
        {
            let recipe = Recipe::Move {
                round: *number,
                parts: test.group.0.clone(),
                chunk: test.chunk,
                step: round.step() * test.part,
            };
            return Job { recipe, z: vec![], task: Task::Test(*number, test.clone()) };
        }
        if let Some(job) = self.queue.front() {
            return job.clone();
        }
        if self.wants_scatter() {
            return self.scatter_job();
        }
        Job { recipe: Recipe::Uniform, z: vec![], task: Task::Point }
    }

    /// Takes note of a trial asked by [`Auto::propose`] just before.
    pub(super) fn asked(&mut self, trial: &Trial) {
        let search = matches!(self.next(), Next::Search | Next::Evolve) && !self.is_makeshift(trial);
        if search && let Some(live) = &mut self.live {
            live.arm.asked(trial, trial.z.clone());
        }
        self.note(trial, search);
    }

    /// Takes note of a trial asked by an earlier process; refuses one that this machine would not have asked.
    pub(super) fn restored(&mut self, trial: &Trial) -> Result<()> {
        let search = matches!(self.next(), Next::Search | Next::Evolve);
        let fault = |fault| Err(Error::Restore { id: trial.id.0, fault });
        if self.is_makeshift(trial) {
            self.check_makeshift(trial)?;
            self.note(trial, false);
            return Ok(());
        }
        if search {
            if trial.recipe.as_ref() != Some(&self.search_recipe()?) {
                return fault(RestoreFault::Recipe);
            }
            if self.evolution().is_some() {
                let (expected, found) = (self.points.dim(), trial.z.len());
                if expected != found {
                    return fault(RestoreFault::Length { what: "z", expected, found });
                }
            } else if let Some(live) = &mut self.live {
                let (expected, found) = (live.arm.embedding().model_dim(), trial.z.len());
                if expected != found {
                    return fault(RestoreFault::Length { what: "z", expected, found });
                }
                live.arm.restored(trial, trial.z.clone())?;
            }
        } else {
            let job = self.planned();
            if trial.recipe.as_ref() != Some(&job.recipe) || trial.z != job.z {
                return fault(RestoreFault::Recipe);
            }
        }
        self.note(trial, search);
        Ok(())
    }

    fn note(&mut self, trial: &Trial, search: bool) {
        let recipe = trial.recipe.clone().unwrap_or(Recipe::Uniform);
        if search
            && self.evolution().is_some()
            && let Some(Dense { evolution: Some(evolution), .. }) = &mut self.dense
        {
            evolution.asked(trial.id.0, &trial.z);
        }
        let task = match search {
            true => Task::Search,
            false if self.is_makeshift(trial) => {
                self.makeshift_asked(trial);
                Task::Point
            }
            false => {
                let job = self.planned();
                match (&job.task, &mut self.round) {
                    (Task::Test(..), Some((_, round))) => drop(round.take()),
                    (Task::Scatter, _) => self.scatter_asked(),
                    _ => drop(self.queue.pop_front()),
                }
                job.task
            }
        };
        let in_model = self.is_in_model(&recipe);
        self.points.note(trial.id, recipe, trial.z.clone());
        if !search
            && let Some(u) = self.live_coordinates(trial.id, in_model)
            && let Some(live) = &mut self.live
        {
            live.arm.expect(trial.id.0, u);
        }
        let ended = trial.decision.as_ref().is_some_and(|decision| decision.ended.is_some());
        self.pending.insert(trial.id.0, Pending { task, in_model });
        self.workers = self.workers.max(self.pending.len());
        self.scatter_early();
        if ended && self.results.len() >= self.rest_at + REST_EVERY {
            self.queue_rest();
        }
    }

    /// Whether a model may see results of such points.
    fn is_in_model(&self, recipe: &Recipe) -> bool {
        match recipe {
            Recipe::Move { step, .. } => *step >= 0.1,
            Recipe::Jitter { .. } => self.noise.noisy,
            Recipe::Scatter { .. } => false,
            _ => true,
        }
    }

    /// Takes note of an outcome: a value, or none.
    pub(super) fn told(&mut self, id: TrialId, value: Option<f64>) -> Result<()> {
        let Some(Pending { task, in_model }) = self.pending.remove(&id.0) else { return Ok(()) };
        if let Some(value) = value {
            self.results.push(Measured { id, value, in_model });
            let at = self.results.len() - 1;
            if self.best.is_none_or(|best| value < self.results[best].value) {
                self.best = Some(at);
            }
        }
        if let Some(live) = &mut self.live {
            live.arm.told(id.0, value);
        }
        self.answered(id, task, value)?;
        self.dense_told(id.0, value)?;
        self.settle()
    }

    fn answered(&mut self, id: TrialId, task: Task, value: Option<f64>) -> Result<()> {
        match task {
            Task::Point => {}
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

fn purpose(job: &Job) -> Purpose {
    match (&job.task, &job.recipe) {
        (Task::Start { pair: false }, _) | (_, Recipe::Bins { .. }) => Purpose::Initial,
        (Task::Point | Task::More, _) => Purpose::Explore,
        _ => Purpose::Probe,
    }
}
