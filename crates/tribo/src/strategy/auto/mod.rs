//! `auto`: find the inputs that matter, then optimise them.
//!
//! Up to 40 inputs it is `bo`. Above, it is a machine of a few phases, each a value with its own data (`phase` shows what
//! follows what), beside a search that takes what the phases leave:
//!
//! - `start`: the centre, two corners, a Latin hypercube in all inputs, and one probe that shows the noise.
//! - `noise`: how much there is, and with much of it the point that is screened from or that bins are searched around.
//! - `screening`: moves of groups of inputs name the active ones; `verify` asks whether all are named that matter.
//! - `line`: all inputs answer alike, so they are moved together first.
//! - `optimise`: what was found is searched.
//! - `search`: a Gaussian process over the inputs named, for a start with the slopes that screening has seen. Where too many
//!   inputs matter to name them (`dense`), `bins` of them, all of them, `evolution`, `pairs` and `singles` take turns.
//!
//! `limited` is the way of this machine where other outputs have limits.
//!
//! All share one `context`: trials, results, noise, names. `recipes` makes a trial's inputs. `known` is what was known before, `earlier` very
//! many results of it;
//! `makeshift` is asked where the search cannot go on; `restore` runs the trials of an earlier process again; `report` says
//! what is known; `choose` says when `auto` is a machine at all; `tuning` has every number that somebody chose; `early_rounds`
//! helps the decoder with records of 0.1.0.
//!
//! The machine changes by events alone, a trial asked, an outcome told; what it would propose next is a function of its
//! state. So it is restored by running the events again: tests are cheap to repeat, and what is not, the model's
//! proposals, is in the records.

mod choose;
mod context;
mod dense;
mod earlier;
mod early_rounds;
mod known;
mod limited;
mod line;
mod makeshift;
mod noise;
mod optimise;
mod phase;
mod recipes;
#[cfg(test)]
mod rehearsal;
mod report;
mod restore;
mod screening;
mod search;
mod start;
mod tuning;

pub use choose::looks_at_budget;
pub(super) use choose::{budget, choose, inputs_of};
pub(super) use early_rounds::EarlyRounds;
pub(super) use limited::LimitedAuto;
pub(super) use recipes::Recipes;

use super::bo::Optimiser;
use super::digest::Digest;
use super::engine::{Engine, Hint, Located, Next, OfInputs, Origin, Plan, Version};
use super::fallback;
use super::study::REDRAWS;
use super::study::insight::Insight;
use crate::design::latin_hypercube;
use crate::error::Result;
use crate::rng::Stream;
use crate::space::Space;
use crate::surrogate::watch::Watch;
use crate::trial::{History, Purpose, Recipe, Trial, TrialId};
use context::{Context, Task};
use known::PriorKnowledge;
use line::JointMove;
use optimise::Optimise;
use phase::{Opening, Phase, Step};
use screening::{Screening, Verification};
use search::ModelSearch;
use start::Start;

/// The strategy's state.
pub(super) struct Auto {
    context: Context,
    phase: Phase,
    search: ModelSearch,
    verification: Verification,
}

impl Auto {
    /// A machine for a space; the inputs that matter can be `given`.
    pub(super) fn new(space: &Space, evaluations: usize, seed: u64, given: Vec<usize>) -> Auto {
        let prior = if given.is_empty() { PriorKnowledge::None } else { PriorKnowledge::Given };
        let mut context = Context::new(space, evaluations, seed, prior);
        let phase = Phase::Start(Start::begin(&mut context));
        context.name_unproven(&given);
        Auto { context, phase, search: ModelSearch::new(), verification: Verification::default() }
    }

    /// Which part of the machine has its turn.
    fn turn(&self) -> Origin {
        if matches!(self.context.queue.front(), Some(queued) if matches!(queued.task, Task::Downhill)) {
            Origin::Queue
        } else if self.phase.screening().is_some_and(Screening::has_test) {
            Origin::Round
        } else if !self.context.queue.is_empty() {
            Origin::Queue
        } else if matches!(&self.phase, Phase::Start(start) if start.wants_probe()) {
            Origin::Crowd
        } else if self.search.is_ready() {
            Origin::Model
        } else {
            Origin::Anywhere
        }
    }

    /// The plan of the part that has its turn.
    fn plan(&mut self, next: Next<'_>, watch: &dyn Watch) -> Result<Plan> {
        match self.turn() {
            Origin::Model => self.search.propose(&self.context, next, watch),
            origin => Ok(self.planned(origin, next.id)),
        }
    }

    /// The plan of a part other than the search: a test, the head of the queue, a probe, or a uniform point.
    fn planned(&self, origin: Origin, id: TrialId) -> Plan {
        let (recipe, z, purpose) = match (origin, self.phase.screening(), self.context.queue.front()) {
            (Origin::Round, Some(round), _) => (round.recipe(&self.context), vec![], Purpose::Probe),
            (Origin::Queue, _, Some(queued)) => (queued.recipe.clone(), queued.z.clone(), queued.purpose()),
            (Origin::Crowd, ..) => {
                let (base, step) = (self.context.centre, tuning::SMALL_STEP.0);
                (Recipe::Scatter { base, step }, vec![], Purpose::Probe)
            }
            _ => (Recipe::Uniform, vec![], Purpose::Explore),
        };
        Plan { origin, must_be_new: false, ..Plan::new(id, z, purpose, Some(recipe)) }
    }

    /// What a trial asked changes, but for what the search itself takes note of.
    fn note(&mut self, trial: &Trial, origin: Origin) {
        let task = match origin {
            Origin::Model => Task::Search,
            Origin::Round => self.phase.screening_mut().map_or(Task::Point, Screening::take),
            Origin::Queue => self.context.queue.pop_front().map_or(Task::Point, |queued| queued.task),
            Origin::Crowd => {
                if let Phase::Start(start) = &mut self.phase {
                    start.probe_asked();
                }
                Task::Scatter
            }
            Origin::Anywhere => Task::Point,
            Origin::Makeshift => {
                self.makeshift_asked(trial);
                Task::Point
            }
        };
        self.context.counts.own += 1;
        self.note_point(trial, task);
        let ended = trial.decision.as_ref().is_some_and(|decision| decision.ended.is_some());
        if ended && self.verification.is_due(&self.context) {
            self.check_rest();
        }
    }

    /// Takes note of where a pending trial is.
    fn note_point(&mut self, trial: &Trial, task: Task) {
        let is_of_search = matches!(task, Task::Search);
        let in_model = self.context.note(trial, task);
        if !is_of_search {
            self.search.expect(&self.context, trial.id, in_model);
        }
        if let Phase::Start(start) = &mut self.phase {
            start.notice_crowd(&self.context);
        }
    }

    fn check_rest(&mut self) {
        self.verification.check_rest(&mut self.context, self.search.is_over_named());
    }

    /// Takes note of an outcome and goes on from it.
    fn take(&mut self, id: TrialId, value: Option<f64>) -> Result<()> {
        let Some(task) = self.context.told(id, value) else { return Ok(()) };
        self.search.told(id, value);
        let step = self.answered(id, task, value)?;
        self.go(step)?;
        if self.phase.is_optimise() {
            self.search.turn_told(&mut self.context, id.0, value)?;
        }
        let step = self.settle()?;
        self.go(step)?;
        self.search.settle_down(&self.context);
        self.search.refresh(&self.context)
    }

    /// Hands an answer to whom it is for.
    fn answered(&mut self, id: TrialId, task: Task, value: Option<f64>) -> Result<Step> {
        let (context, is_optimising) = (&mut self.context, self.phase.is_optimise());
        match (task, &mut self.phase) {
            (Task::Search, _) => context.counts.searched += usize::from(value.is_some()),
            (Task::Repeat(slot), _) => context.repeats.told(slot, value),
            (Task::Rest { moved }, _) => {
                return Ok(self.verification.rest_told(context, id, moved, value, is_optimising));
            }
            (Task::Check { input, before }, _) => {
                if self.verification.check_told(context, input, before, value) {
                    self.check_rest();
                }
            }
            (Task::Single { base, input }, _) => self.search.single_told(context, base, input, value),
            (Task::Corner, _) => self.search.corner_told(context)?,
            (Task::Known, phase) => {
                context.counts.known += usize::from(value.is_some());
                if let Phase::Start(start) = phase {
                    start.plan_anew(context, context.centre);
                }
            }
            (Task::Test(number, test), phase) => {
                context.counts.tests += 1;
                if let Some(screening) = phase.screening_mut() {
                    screening.told(context, number, test, value);
                }
            }
            (Task::Still(number), phase) => {
                if let Some(screening) = phase.screening() {
                    return Ok(screening.still_told(context, number, value));
                }
            }
            (Task::Start { pair }, Phase::Start(start)) => start.told(context, id, pair, value),
            (Task::Again(row), phase) => {
                earlier::told(context, row, value);
                if let Phase::Start(start) = phase {
                    start.told(context, id, false, value);
                }
            }
            (Task::Scatter, Phase::Start(start)) => start.probe_told(context, id, value),
            (Task::Scatter, Phase::Screen(screening)) => {
                context.counts.tests += 1;
                screening.probe_told(context, id, value);
            }
            (Task::Row, Phase::Noise(noise)) => noise.row_told(),
            (Task::Line(t), Phase::Line(line)) => return Ok(line.told(context, t, value)),
            (Task::Bottom(before), Phase::Line(line)) => return Ok(line.bottom_told(context, before, value)),
            // Nothing but data, or for a phase that is over.
            (
                Task::Point
                | Task::Downhill
                | Task::Start { .. }
                | Task::Scatter
                | Task::Row
                | Task::Line(_)
                | Task::Bottom(_),
                _,
            ) => {}
        }
        Ok(Step::Stay)
    }

    /// Lets the phase look at what there is now.
    fn settle(&mut self) -> Result<Step> {
        let context = &mut self.context;
        Ok(match &mut self.phase {
            Phase::Start(start) => start.settle(context),
            Phase::Noise(noise) => noise.settle(context),
            Phase::Screen(screening) => screening.settle(context),
            Phase::Line(_) => Step::Stay,
            Phase::Optimise(optimise) => {
                optimise.settle(context, &mut self.search)?;
                Step::Stay
            }
        })
    }

    /// Takes a step: the only place where a phase follows another.
    fn go(&mut self, step: Step) -> Result<()> {
        match step {
            Step::Stay => {}
            Step::Noise(noise) => self.phase = Phase::Noise(noise),
            Step::Screen(base, moves) => match Screening::begin(&mut self.context, base, moves) {
                Some(screening) => self.phase = Phase::Screen(screening),
                None => {
                    self.begin_optimise();
                    self.search.refresh(&self.context)?;
                }
            },
            Step::Line { slope } => {
                let Some(mut line) = JointMove::begin(&mut self.context, slope) else {
                    return self.go(Step::Dense);
                };
                let step = line.advance(&mut self.context);
                self.phase = Phase::Line(line);
                self.go(step)?;
            }
            Step::Dense => {
                self.phase = Phase::Optimise(Optimise::default());
                self.search.begin_dense(&mut self.context)?;
            }
            Step::Optimise(first) => {
                self.begin_optimise();
                self.search.leave_bins();
                match first {
                    Opening::Search => {}
                    Opening::Spread => {
                        self.search.begin_anew(&self.context)?;
                        self.queue_spread()?;
                    }
                    Opening::Checks => self.verification.check_named(&mut self.context),
                    Opening::RestCheck => self.check_rest(),
                    Opening::ChecksAndScreen => {
                        self.verification.check_named(&mut self.context);
                        let step = screening::screen_all(&mut self.context);
                        self.go(step)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// The search has all evaluations, but for weak groups of the last round.
    fn begin_optimise(&mut self) {
        let round = self.phase.take_screening();
        self.phase = Phase::Optimise(Optimise { round });
    }

    /// Points spread over the named inputs, the others as in the incumbent.
    fn queue_spread(&mut self) -> Result<()> {
        let context = &mut self.context;
        let inputs = context.named_inputs();
        let d = context.recipes.width(&inputs);
        let Some(base) = context.results.incumbent.map(|best| best.id) else { return Ok(()) };
        let (each, beyond) = tuning::SPREAD_POINTS;
        let count = (beyond + each * d).max(tuning::FEWEST_SPREAD_POINTS);
        let mut stream = Stream::new(context.seed, "stratified points", self.search.n_made());
        let rows = latin_hypercube(count, &vec![0.0; d], &vec![1.0; d], &mut stream)?;
        for row in 0..count {
            let z = (0..d).map(|k| rows[(row, k)]).collect();
            context.push(Recipe::Set { base, inputs: inputs.clone() }, z, Task::Point);
        }
        Ok(())
    }
}

impl Engine for Auto {
    fn version(&self) -> Version {
        Version { engine: "auto", number: 6 }
    }

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
        if let Origin::Model = origin {
            self.search.asked(trial);
        }
        self.note(trial, origin);
    }

    fn restored(&mut self, trial: &Trial) -> Result<()> {
        let origin = self.origin_of(trial)?;
        if origin == Origin::Model {
            self.search.restored(trial)?;
        }
        self.note(trial, origin);
        Ok(())
    }

    fn adopted(&mut self, trial: &Trial) {
        self.note_point(trial, Task::Known);
        if let Phase::Start(start) = &mut self.phase {
            start.plan_anew(&mut self.context, TrialId(trial.id.0 + 1));
        }
    }

    fn begins_at(&mut self, next: TrialId) {
        if let Phase::Start(start) = &mut self.phase {
            start.plan_anew(&mut self.context, next);
        }
    }

    fn hint(&mut self, hint: Hint) {
        known::take_hint(&mut self.context, hint);
    }

    fn recalls(&self) -> bool {
        matches!(self.phase, Phase::Start(_)) && earlier::are_taken(&self.context)
    }

    fn recall(&mut self, digest: &Digest) -> bool {
        let Phase::Start(start) = &mut self.phase else { return false };
        if !earlier::recall(&mut self.context, digest) {
            return false;
        }
        let next = self.context.centre;
        start.plan_anew(&mut self.context, next);
        // The first proposals of the search may be asked before there is any result.
        if let Err(error) = self.search.refresh(&self.context) {
            self.recover(error.to_string());
        }
        true
    }

    fn told(&mut self, trial: &Trial, value: Option<f64>) {
        match fallback::attempt(|| self.take(trial.id, value)) {
            Ok(Ok(())) => {}
            Ok(Err(why)) => self.recover(why),
            Err(stopped) => self.recover(stopped.to_string()),
        }
    }

    /// Whatever asked for it goes on without an answer.
    fn lost(&mut self, trial: &Trial) {
        self.search.lost(trial.id);
        self.told(trial, None);
    }

    fn unit(&self, trial: &Trial) -> Result<Vec<f64>> {
        Ok(self.context.recipes.point(trial))
    }

    fn insight(&self, sign: f64) -> Option<Insight> {
        Some(self.report(sign))
    }

    fn model_of_best(&mut self, history: &History) -> Option<(&mut Optimiser, Located)> {
        let measured: Vec<TrialId> = history.measured().map(|(trial, _)| trial.id).collect();
        self.search.model_of(&self.context, &measured)
    }

    fn model_of_inputs(&mut self, history: &History) -> Option<OfInputs<'_>> {
        let inputs = Some(self.search.inputs()?.to_vec());
        let (optimiser, located) = self.model_of_best(history)?;
        Some(OfInputs { optimiser, inputs, located })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial::Moves;
    use rehearsal::{measure, space};
    use screening::Base;

    /// A machine that is asked and told by hand.
    fn machine(n: usize) -> Auto {
        Auto::new(&space(n), 200, 7, vec![])
    }

    /// Asks for one trial.
    fn ask(auto: &mut Auto) -> Trial {
        let id = TrialId(auto.context.recipes.last_id().map_or(0, |last| last + 1));
        let plan = auto.planned(auto.turn(), id);
        assert_ne!(plan.origin, Origin::Model);
        auto.asked(&plan.trial, plan.origin);
        plan.trial
    }

    #[test]
    fn what_has_its_turn() {
        let mut auto = machine(60);
        assert_eq!(auto.turn(), Origin::Queue);
        auto.context.queue.clear();
        assert_eq!(auto.turn(), Origin::Anywhere);
        measure(&mut auto.context, Recipe::Centre, 1.0);
        auto.context.name_unproven(&[3]);
        auto.search.refresh(&auto.context).unwrap();
        assert_eq!(auto.turn(), Origin::Model);
        let base = Base::incumbent(&auto.context).unwrap();
        auto.go(Step::Screen(base, Moves::Inside)).unwrap();
        assert_eq!(auto.turn(), Origin::Round, "tests come first");
    }

    #[test]
    fn a_late_answer_to_a_phase_that_is_over_is_data_alone() {
        let mut auto = machine(60);
        let late = ask(&mut auto);
        measure(&mut auto.context, Recipe::Low, 1.0);
        auto.context.queue.clear();
        auto.context.name_unproven(&[3]);
        auto.go(Step::Optimise(Opening::Search)).unwrap();
        for task in [Task::Line(0.1), Task::Bottom(1.0), Task::Row, Task::Scatter, Task::Still(0)] {
            assert_eq!(auto.answered(late.id, task, Some(0.5)).unwrap(), Step::Stay);
        }
        auto.told(&late, Some(0.5));
        assert_eq!(auto.context.results.incumbent.unwrap().id, late.id);
        assert!(auto.phase.is_optimise() && auto.context.queue.is_empty());
    }

    #[test]
    fn a_round_goes_with_the_search_that_follows_it() {
        let mut auto = machine(60);
        auto.context.queue.clear();
        measure(&mut auto.context, Recipe::Centre, 1.0);
        let base = Base::incumbent(&auto.context).unwrap();
        auto.go(Step::Screen(base, Moves::Inside)).unwrap();
        let test = ask(&mut auto);
        auto.context.name_unproven(&[3]);
        auto.go(Step::Optimise(Opening::RestCheck)).unwrap();
        assert!(auto.phase.screening().is_some(), "its weak groups are looked into");
        assert_eq!(auto.context.queue.len(), 1, "the rest check");
        auto.told(&test, Some(1.0));
        assert_eq!(auto.context.counts.tests, 1);
        // The rest check fails, and a round begins; its successor has nothing left of it.
        auto.go(Step::Dense).unwrap();
        assert!(auto.phase.screening().is_none());
    }

    #[test]
    fn spread_points_follow_a_round_that_keeps_the_sum() {
        let mut auto = machine(60);
        auto.context.queue.clear();
        measure(&mut auto.context, Recipe::Centre, 1.0);
        auto.context.name_unproven(&[3, 9]);
        auto.go(Step::Optimise(Opening::Spread)).unwrap();
        assert_eq!(auto.context.queue.len(), tuning::FEWEST_SPREAD_POINTS);
        assert!(auto.search.is_ready());
    }

    #[test]
    fn a_defect_leaves_a_search() {
        let mut auto = machine(60);
        ask(&mut auto);
        auto.recover("a test".to_owned());
        assert!(auto.phase.is_optimise() && auto.search.is_ready() && auto.context.queue.is_empty());
        assert_eq!(auto.report(1.0).doing, "searching in all 60 inputs: too many matter");
    }
}
