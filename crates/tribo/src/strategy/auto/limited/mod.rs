//! Many inputs under limits: find the inputs that drive each output, then search those.
//!
//! The way is that of `auto` for one value, with an answer for every output in each evaluation:
//!
//! ```text
//! Start ──> Repeats (if a value of one point differs) ──> Screen ──> Search <── the rest matters: Screen
//!                                                            └── too many drive an output: Search in all inputs or bins
//! ```
//!
//! - start: the centre, two corners, a Latin hypercube in all inputs, and one probe that shows the noise of each output.
//! - screen: a `panel` names inputs for every output with one set of tests. Outputs without much noise are read by small steps;
//!   large ones follow for those with noise, for integers and categories, and where nothing answered.
//! - search: the engine for few inputs (`limits`) over the inputs named, from every result so far; the others stay as they are
//!   in one trial. Now and then all others are moved at once: if an output changes, they are screened again from there.
//!
//! `table` has what came of the trials, `screen` the rounds and the look at the rest, `search` the engine inside, `engine` is what a study
//! sees, `report` says what is known. The machine changes by events
//! alone, so it is restored by running them again; the engine inside makes its models from results alone.

mod engine;
mod report;
mod restore;
mod screen;
mod search;
mod table;
#[cfg(test)]
mod tests;

use self::search::Search;
use self::table::{Noise, Row, Table};
use super::recipes::Recipes;
use super::screening::{Panel, PanelTest, Surroundings};
use super::tuning;
use crate::error::Result;
use crate::limit::Limit;
use crate::space::Space;
use crate::strategy::engine::{Hint, Origin, Plan};
use crate::strategy::study::insight::{Evidence, Fact, Finding};
use crate::trial::{Moves, Purpose, Recipe, Trial, TrialId};
use std::collections::{BTreeMap, VecDeque};

/// Repeats of the centre where a value of it differs from another.
const REPEATS: usize = 4;

/// A search under limits among many inputs.
pub(in crate::strategy) struct LimitedAuto {
    limits: Vec<Limit>,
    recipes: Recipes,
    seed: u64,
    budget: usize,
    /// Where the start departs from: the centre of the cube, or the incumbent of results from before.
    centre: TrialId,
    queue: VecDeque<(Recipe, Task)>,
    /// What trials that are not back are for, and whether a model may see their results.
    pending: BTreeMap<u64, (Task, bool)>,
    table: Table,
    noise: Vec<Noise>,
    phase: Phase,
    search: Option<Search>,
    named: Vec<NamedInput>,
    known: Known,
    counts: Counts,
    rest: Rest,
    findings: Vec<Finding>,
}

/// What was known before.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Known {
    Nothing,
    /// The user says which inputs matter, and nobody looks for others.
    Given,
    /// An earlier search says what it had found.
    Hint(Hint),
}

#[derive(Default)]
struct Counts {
    /// Results from before.
    known: usize,
    /// Trials asked here.
    own: usize,
    /// Tests of all rounds.
    tests: usize,
    /// Most trials pending at once.
    workers: usize,
}

/// When the inputs that are not named are looked at.
struct Rest {
    /// Results at which they are looked at next, and then after so many more.
    due: usize,
    every: usize,
    /// Whether it is of no use: the user knows, or others matter that cannot be named.
    is_over: bool,
    /// Whether a look is under way.
    is_out: bool,
    /// Inputs that the last look found idle.
    n_idle: usize,
}

/// An input that drives some output.
struct NamedInput {
    input: usize,
    /// What shows it, for each output: a move of it alone. Nothing where an output did not change.
    shown: Vec<Option<Evidence>>,
}

enum Phase {
    Start(Start),
    /// So many values of the centre are not back, and those that are.
    Repeats(usize, Vec<Vec<Option<f64>>>),
    Screen(Box<Screen>),
    Search,
}

#[derive(Default)]
struct Start {
    n_jobs: usize,
    n_back: usize,
    /// Values of the pair that shows the noise.
    pair: Vec<Vec<Option<f64>>>,
}

struct Screen {
    panel: Panel,
    moves: Moves,
    base: TrialId,
    /// Whether the base was asked for again.
    is_doubted: bool,
}

/// What an answer is for.
#[derive(Debug, Clone)]
enum Task {
    /// Nothing but data.
    Point,
    /// A result from before.
    Known,
    /// The start, and whether it is one of the pair that shows the noise.
    Start { pair: bool },
    /// The centre again.
    Repeat,
    /// A test of round number ...
    Test(usize, PanelTest),
    /// The base of round number ... again.
    Still(usize),
    /// The inputs that are not named moved, from this trial.
    Rest(TrialId),
    /// The search's own.
    Search,
}

impl LimitedAuto {
    /// A machine for a space; the inputs that matter can be `given`.
    pub(in crate::strategy) fn new(
        space: &Space,
        limits: Vec<Limit>,
        budget: usize,
        seed: u64,
        given: Vec<usize>,
    ) -> LimitedAuto {
        let known = if given.is_empty() { Known::Nothing } else { Known::Given };
        let mut machine = LimitedAuto {
            recipes: Recipes::new(space, seed),
            seed,
            budget,
            centre: TrialId(0),
            queue: VecDeque::new(),
            pending: BTreeMap::new(),
            noise: vec![Noise::default(); 1 + limits.len()],
            table: Table::new(limits.clone()),
            limits,
            phase: Phase::Search,
            search: None,
            named: vec![],
            known,
            counts: Counts { workers: 1, ..Counts::default() },
            rest: Rest { due: 0, every: tuning::REST_EVERY, is_over: false, is_out: false, n_idle: 0 },
            findings: vec![],
        };
        machine.name_unproven(&given);
        machine.begin_start();
        machine
    }

    fn begin_start(&mut self) {
        self.queue.clear();
        let push = |queue: &mut VecDeque<(Recipe, Task)>, recipe: Recipe, pair: bool| {
            queue.push_back((recipe, Task::Start { pair }));
        };
        push(&mut self.queue, Recipe::Centre, true);
        push(&mut self.queue, Recipe::Jitter { base: self.centre, balanced: false }, true);
        push(&mut self.queue, Recipe::Low, false);
        push(&mut self.queue, Recipe::High, false);
        for row in 0..tuning::START_ROWS {
            push(&mut self.queue, Recipe::Latin { batch: 0, count: tuning::START_ROWS, row }, false);
        }
        self.phase = Phase::Start(Start { n_jobs: self.queue.len(), ..Start::default() });
    }

    /// Plans the start anew, unless something was asked already: with enough results from before, all that is left of it is the
    /// incumbent once more; else `next` is its first trial.
    fn plan_start(&mut self, next: TrialId) {
        if self.counts.own > 0 {
            return;
        }
        match self.table.incumbent().cloned() {
            Some(best) if self.counts.known >= tuning::ENOUGH_KNOWN => {
                self.centre = best.id;
                let recipe = Recipe::Jitter { base: best.id, balanced: false };
                self.queue = VecDeque::from([(recipe, Task::Start { pair: true })]);
                self.phase = Phase::Start(Start { n_jobs: 1, n_back: 0, pair: vec![best.values] });
            }
            _ => {
                self.centre = next;
                self.begin_start();
            }
        }
    }

    fn found(&mut self, fact: Fact) {
        self.findings.push(Finding { results: self.table.rows.len(), fact });
    }

    fn name_unproven(&mut self, inputs: &[usize]) {
        for &input in inputs.iter().filter(|&&input| input < self.recipes.n_inputs) {
            self.named.push(NamedInput { input, shown: vec![None; self.table.n_outputs()] });
        }
    }

    /// Inputs named so far, in increasing order.
    fn named_inputs(&self) -> Vec<usize> {
        let mut inputs: Vec<usize> = self.named.iter().map(|named| named.input).collect();
        inputs.sort_unstable();
        inputs
    }

    fn surroundings(&self) -> Vec<Surroundings> {
        let (workers, budget) = (self.counts.workers, self.budget);
        self.noise.iter().map(|noise| Surroundings { sigma: noise.sigma, workers, budget }).collect()
    }

    /// Which part of the machine has its turn.
    fn turn(&self) -> Origin {
        if matches!(&self.phase, Phase::Screen(screen) if screen.panel.next().is_some()) {
            Origin::Round
        } else if !self.queue.is_empty() {
            Origin::Queue
        } else if self.search.is_some() {
            Origin::Model
        } else {
            Origin::Anywhere
        }
    }

    /// The plan of a part other than the search: a test, the head of the queue, or a uniform point.
    fn planned(&self, origin: Origin, id: TrialId) -> Plan {
        let (recipe, purpose) = match (origin, &self.phase, self.queue.front()) {
            (Origin::Round, Phase::Screen(screen), _) => (self.test_recipe(screen), Purpose::Probe),
            (Origin::Queue, _, Some((recipe, task))) => {
                let is_first = matches!(task, Task::Start { pair: false });
                (recipe.clone(), if is_first { Purpose::Initial } else { Purpose::Probe })
            }
            _ => (Recipe::Uniform, Purpose::Explore),
        };
        Plan { origin, must_be_new: false, ..Plan::new(id, vec![], purpose, Some(recipe)) }
    }

    fn test_recipe(&self, screen: &Screen) -> Recipe {
        let Some(test) = screen.panel.next() else { return Recipe::Uniform };
        let (parts, chunk, part) = test.parts();
        let began = Some(Box::new(self.recipes.round(screen.panel.number).start.clone()));
        Recipe::Move { round: screen.panel.number, began, parts, chunk, step: screen.panel.step * part }
    }

    /// What a trial asked changes.
    fn note(&mut self, trial: &Trial, origin: Origin) -> Result<()> {
        let task = match (origin, &mut self.phase) {
            (Origin::Model, _) => Task::Search,
            (Origin::Round, Phase::Screen(screen)) => {
                let panel = &mut screen.panel;
                panel.take().map_or(Task::Point, |test| Task::Test(panel.number, test))
            }
            (Origin::Queue, _) => self.queue.pop_front().map_or(Task::Point, |(_, task)| task),
            _ => Task::Point,
        };
        self.counts.own += 1;
        self.note_point(trial, task)
    }

    fn note_point(&mut self, trial: &Trial, task: Task) -> Result<()> {
        // Without a recipe z is all of the point.
        let recipe = trial.recipe.as_deref().cloned().unwrap_or(Recipe::Given);
        let in_model = match &recipe {
            Recipe::Move { step, .. } => *step >= tuning::STEP_IN_MODEL,
            Recipe::Jitter { .. } => false,
            _ => true,
        };
        self.recipes.note(trial.id, recipe, trial.z.clone());
        let is_of_search = matches!(task, Task::Search);
        self.pending.insert(trial.id.0, (task, in_model));
        self.counts.workers = self.counts.workers.max(self.pending.len());
        match &mut self.search {
            Some(search) if is_of_search => search.asked(&self.recipes, trial),
            Some(search) if in_model => search.expect(&self.recipes, trial.id).map(|_| ()),
            _ => Ok(()),
        }
    }

    /// Takes note of what came of a trial, and goes on from it.
    fn take(&mut self, id: TrialId, values: &[Option<f64>], is_lost: bool) -> Result<()> {
        let Some((task, in_model)) = self.pending.remove(&id.0) else { return Ok(()) };
        if !is_lost {
            self.table.push(Row { id, values: values.to_vec(), in_model });
        }
        match &mut self.search {
            Some(search) if is_lost => search.lost(id),
            Some(search) if in_model => search.told(id, values),
            _ => {}
        }
        self.answered(id, task, values)?;
        self.settle()
    }

    /// Hands an answer to whom it is for.
    fn answered(&mut self, id: TrialId, task: Task, values: &[Option<f64>]) -> Result<()> {
        let around = self.surroundings();
        match (task, &mut self.phase) {
            (Task::Known, _) => {
                self.counts.known += usize::from(values.iter().any(Option::is_some));
                if matches!(self.phase, Phase::Start(_)) {
                    self.plan_start(self.centre);
                }
            }
            (Task::Start { pair }, Phase::Start(start)) => {
                start.n_back += 1;
                if pair {
                    start.pair.push(values.to_vec());
                }
            }
            (Task::Repeat, Phase::Repeats(left, repeats)) => {
                *left -= 1;
                repeats.push(values.to_vec());
            }
            (Task::Test(number, test), Phase::Screen(screen)) if screen.panel.number == number => {
                screen.panel.told(test, values, &around);
            }
            (Task::Still(number), Phase::Screen(screen)) if screen.panel.number == number => {
                let base = self.table.row(screen.base).map(|row| row.values.clone()).unwrap_or_default();
                for ((noise, value), base) in self.noise.iter_mut().zip(values).zip(base) {
                    if let (Some(value), Some(base)) = (value, base) {
                        noise.sigma = noise.sigma.max((value - base).abs() / std::f64::consts::SQRT_2);
                    }
                }
            }
            (Task::Rest(from), _) => return self.rest_told(id, from, values),
            // Nothing but data, or for a phase that is over.
            _ => {}
        }
        Ok(())
    }

    /// Lets the phase look at what there is now.
    fn settle(&mut self) -> Result<()> {
        match &mut self.phase {
            Phase::Start(start) => {
                let (part, of) = tuning::START_BACK;
                let is_back = of * start.n_back >= part * start.n_jobs && start.pair.len() == 2;
                let is_asked = !self.queue.iter().any(|(_, task)| matches!(task, Task::Start { .. }));
                if is_back && is_asked && self.table.n_seen() >= tuning::FEWEST_VALUES {
                    let pair = std::mem::take(&mut start.pair);
                    return self.judge_noise(pair, true);
                }
            }
            Phase::Repeats(0, repeats) => {
                let repeats = std::mem::take(repeats);
                return self.judge_noise(repeats, false);
            }
            Phase::Screen(_) => return self.settle_screen(),
            Phase::Search if self.table.rows.len() >= self.rest.due => self.look_at_rest(),
            Phase::Repeats(..) | Phase::Search => {}
        }
        Ok(())
    }

    /// The noise of each output, from values of one point; where a pair of them differs, more are asked for first.
    fn judge_noise(&mut self, repeats: Vec<Vec<Option<f64>>>, may_repeat: bool) -> Result<()> {
        self.noise = Noise::of(&self.table, &repeats);
        if may_repeat && self.noise.iter().any(Noise::is_noticed) {
            let again = (Recipe::Jitter { base: self.centre, balanced: false }, Task::Repeat);
            self.queue.extend(std::iter::repeat_n(again, REPEATS));
            self.phase = Phase::Repeats(REPEATS, repeats);
            return Ok(());
        }
        let (sd, spread) = (self.noise[0].sigma, self.noise[0].scale);
        self.found(Fact::Noise { sd, spread, step: self.small_step() });
        match std::mem::replace(&mut self.known, Known::Nothing) {
            Known::Given => {
                (self.known, self.rest.is_over) = (Known::Given, true);
                self.begin_search()
            }
            Known::Hint(Hint::Dense) => self.begin_dense(),
            Known::Hint(Hint::Named(_)) if !self.named.is_empty() => self.begin_search(),
            Known::Hint(_) | Known::Nothing => {
                let Some(base) = self.table.incumbent().map(|best| best.id) else {
                    return self.begin_dense();
                };
                self.screen(base)
            }
        }
    }
}
