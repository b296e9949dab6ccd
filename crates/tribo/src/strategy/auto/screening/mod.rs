//! Rounds of screening: which inputs change the value?
//!
//! A round moves groups of inputs from one base and names those that answer, some five evaluations each, whatever the number
//! of inputs. `round` is what all rounds have in common; `coded` asks with small steps, whose answers add up, `halving` with
//! large ones, for noise, integers and plateaus; `downhill` uses what is named so far at once. Where many groups answer, `joint` reads
//! them together by probes that move all inputs; for a crowd of workers `scattered` does so before any round. `sparse` is how both
//! are read. `panel` is one round for several outputs. `verify` asks afterwards whether all that
//! matters is named.

mod coded;
mod downhill;
mod group;
mod halving;
mod joint;
mod panel;
mod round;
mod scattered;
mod sparse;
mod verify;

pub(super) use panel::{Panel, PanelTest};
pub(super) use round::{GroupTest, NamedPlace, Surroundings};
pub(super) use scattered::{Probes, Slopes, part_at};
pub(super) use verify::Verification;

use super::context::{Context, Task};
use super::noise::MeasureNoise;
use super::phase::{Opening, Step};
use super::search::Slope;
use super::tuning;
use crate::strategy::study::insight::Fact;
use crate::trial::{Moves, Recipe, RoundStart, TrialId};
use coded::Coded;
use downhill::Downhill;
use halving::Halving;
use joint::JointProbes;
use round::RoundState;

/// Where a round departs from: a trial, and its value as the mean of so many evaluations.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Base {
    pub(super) id: TrialId,
    pub(super) value: f64,
    pub(super) n_values: usize,
}

impl Base {
    /// The incumbent.
    pub(super) fn incumbent(context: &Context) -> Option<Base> {
        context.results.incumbent.map(|best| Base { id: best.id, value: best.value, n_values: 1 })
    }
}

/// Screens all inputs from the incumbent.
pub(super) fn screen_all(context: &mut Context) -> Step {
    match Base::incumbent(context) {
        Some(base) => screen_from(context, base),
        None => Step::Dense,
    }
}

/// Screens all inputs that are not named: with small steps, if there are inputs that can make them and no noise hides them.
pub(super) fn screen_from(context: &mut Context, base: Base) -> Step {
    if context.noise.noisy {
        return Step::Screen(base, Moves::Far);
    }
    if context.others().into_iter().all(|input| context.recipes.is_discrete(input)) {
        context.tried.large_steps = true;
        return Step::Screen(base, Moves::Far);
    }
    Step::Screen(base, Moves::Inside)
}

/// Tests of either kind.
enum Round {
    Coded(Coded),
    Halving(Halving),
}

/// A round of screening.
pub(super) struct Screening {
    /// Its number in the study.
    number: usize,
    round: Round,
    downhill: Downhill,
}

impl Screening {
    /// A round from a base; None if no input is left to move.
    pub(super) fn begin(context: &mut Context, base: Base, moves: Moves) -> Option<Screening> {
        let start = RoundStart { base: base.id, moves, named: context.named_inputs() };
        let n = context.recipes.movable(&start).len();
        if n == 0 {
            return None;
        }
        let step = match moves {
            Moves::Inside => context.noise.step,
            Moves::Far => tuning::LARGE_STEP,
            Moves::SumKept => tuning::SUM_STEP,
        };
        let number = context.recipes.add_round(start);
        let around = context.surroundings();
        let round = match moves {
            Moves::Far => Round::Halving(Halving::new(n, step, (base.value, base.n_values), around)),
            _ => {
                let mut coded = Coded::new(n, step, base.value, moves == Moves::SumKept, around);
                if moves == Moves::Inside && has_room_for_probes(context, base.id) {
                    coded.joint = JointProbes::new(context.budget);
                }
                Round::Coded(coded)
            }
        };
        Some(Screening { number, round, downhill: Downhill::default() })
    }

    /// Whether a test waits to be asked.
    pub(super) fn has_test(&self) -> bool {
        self.next().is_some() || self.wants_probe()
    }

    /// Whether a probe of a coded round waits to be asked.
    fn wants_probe(&self) -> bool {
        matches!(&self.round, Round::Coded(round) if round.wants_probe())
    }

    /// The next test, which stays until it is taken.
    fn next(&self) -> Option<&GroupTest> {
        match &self.round {
            Round::Coded(round) => round.tests.front(),
            Round::Halving(round) => round.tests.front(),
        }
    }

    /// How the next test is made.
    pub(super) fn recipe(&self, context: &Context) -> Recipe {
        let Some(GroupTest { group, chunk, part, .. }) = self.next() else {
            return if self.wants_probe() { self.probe(context) } else { Recipe::Uniform };
        };
        let (parts, step) = (group.0.clone(), self.step() * part);
        let began = Some(Box::new(context.recipes.round(self.number).start.clone()));
        Recipe::Move { round: self.number, began, parts, chunk: *chunk, step }
    }

    /// How a probe is made.
    fn probe(&self, context: &Context) -> Recipe {
        let base = context.recipes.round(self.number).start.base;
        Recipe::Scatter { base, step: JointProbes::step() }
    }

    /// Takes the next test.
    pub(super) fn take(&mut self) -> Task {
        let test = match &mut self.round {
            Round::Coded(round) if round.tests.is_empty() && round.wants_probe() => {
                round.probe_asked();
                return Task::Scatter;
            }
            Round::Coded(round) => round.tests.pop_front(),
            Round::Halving(round) => round.tests.pop_front(),
        };
        test.map_or(Task::Point, |test| Task::Test(self.number, test))
    }

    /// How far inputs move.
    fn step(&self) -> f64 {
        match &self.round {
            Round::Coded(round) => round.step,
            Round::Halving(round) => round.step,
        }
    }

    /// Groups that answer weakly and wait.
    fn n_waiting(&self) -> usize {
        match &self.round {
            Round::Coded(round) => round.n_waiting(),
            Round::Halving(_) => 0,
        }
    }

    /// Takes the answer to a test of round `number`, which may be over.
    pub(super) fn told(&mut self, context: &Context, number: usize, test: GroupTest, value: Option<f64>) {
        if self.number != number {
            return;
        }
        match &mut self.round {
            Round::Coded(round) => round.told(test, value, context.surroundings()),
            Round::Halving(round) => round.told(test, value, context.surroundings()),
        }
    }

    /// Takes the answer to a probe, if it is one of this round.
    pub(super) fn probe_told(&mut self, context: &Context, id: TrialId, value: Option<f64>) {
        let is_own = context.recipes.recipe(id) == Some(&self.probe(context));
        if let Round::Coded(Coded { base_value, joint: Some(joint), .. }) = &mut self.round
            && is_own
        {
            let change = value.map(|value| value - *base_value);
            joint.told(context.recipes.scatter_key(id), context.recipes.n_inputs, change);
        }
    }

    /// Reads probes, if there are any. An input at a bound does not move as a probe wants.
    fn read_probes(&mut self, context: &Context) {
        let map = context.recipes.round(self.number);
        if let Round::Coded(round) = &mut self.round
            && round.joint.as_ref().is_some_and(JointProbes::is_asking)
        {
            let at = context.recipes.of(map.start.base, &context.all_inputs());
            round.read_probes(&map.order, context.noise.sigma, |input| is_inside(at[input]));
        }
    }

    /// The base of round `number` was evaluated again: the round goes on, or the noise is measured anew.
    pub(super) fn still_told(&self, context: &mut Context, number: usize, value: Option<f64>) -> Step {
        let Round::Coded(round) = &self.round else { return Step::Stay };
        let Some(value) = value.filter(|_| self.number == number) else { return Step::Stay };
        let sigma = (value - round.base_value).abs() / std::f64::consts::SQRT_2;
        context.noise.sigma = context.noise.sigma.max(sigma);
        if sigma > tuning::NOTICED_NOISE * context.noise.scale && context.repeats.is_empty() {
            return Step::Noise(MeasureNoise::begin(context));
        }
        Step::Stay
    }

    /// Gives work to open groups, names what was found, and says what follows.
    pub(super) fn settle(&mut self, context: &mut Context) -> Step {
        let number = self.number;
        self.read_probes(context);
        let state = match &mut self.round {
            Round::Coded(round) => {
                round.advance(context.tried.line, |group| sense(context, number, &group.0))
            }
            Round::Halving(round) => round.advance(),
        };
        self.name_found(context);
        if context.recipes.round(number).start.moves == Moves::Inside {
            self.downhill.advance(context);
        }
        match state {
            RoundState::Going => Step::Stay,
            RoundState::Doubtful => {
                let base = context.recipes.round(number).start.base;
                context.push(Recipe::Jitter { base, balanced: false }, vec![], Task::Still(number));
                Step::Stay
            }
            RoundState::Done => self.done(context),
            RoundState::Uniform => {
                let slope = match &self.round {
                    Round::Coded(round) => round.slope(|group| sense(context, number, &group.0)),
                    Round::Halving(_) => 0.0,
                };
                Step::Line { slope }
            }
            RoundState::Dense => {
                context.found(Fact::Dense);
                Step::Dense
            }
        }
    }

    /// Looks into a weak group now and then, while the search goes on.
    pub(super) fn look_closer(&mut self, context: &Context) {
        if let Round::Coded(round) = &mut self.round
            && round.n_waiting() > 0
            && context.results.len().is_multiple_of(tuning::LOOK_EVERY)
        {
            round.look_closer();
        }
    }

    /// Takes over the inputs that were found.
    pub(super) fn name_found(&mut self, context: &mut Context) {
        let step = self.step();
        let found = match &mut self.round {
            Round::Coded(round) => std::mem::take(&mut round.found),
            Round::Halving(round) => std::mem::take(&mut round.found),
        };
        let map = context.recipes.round(self.number);
        let inputs: Vec<usize> = found.iter().map(|found| map.order[found.place] as usize).collect();
        if let Round::Coded(round) = &self.round
            && context.counts.searched == 0
        {
            let (base, value) = (map.start.base, round.base_value);
            for (found, &input) in found.iter().zip(&inputs) {
                let up = context.recipes.of(base, &[input])[0] + step <= 1.0;
                let slope = found.answer / if up { step } else { -step };
                context.slopes.push(Slope { input, base, value, slope });
            }
        }
        context.name(&found, step, &inputs);
    }

    /// All that can be told is told.
    fn done(&mut self, context: &mut Context) -> Step {
        let (moves, inputs) = {
            let map = context.recipes.round(self.number);
            (map.start.moves, map.order.len())
        };
        let (weak_groups, named) = (self.n_waiting(), context.named.len());
        let tests = match &self.round {
            Round::Coded(round) => round.n_tests,
            Round::Halving(round) => round.n_tests,
        };
        context.found(Fact::Screened { inputs, tests, named, weak_groups });
        if moves == Moves::Inside && !context.tried.large_steps {
            let is_discrete = |input: usize| context.recipes.is_discrete(input);
            if context.named.is_empty() || context.others().into_iter().any(is_discrete) {
                // Integers and plateaus do not answer to small steps.
                context.tried.large_steps = true;
                if let Some(base) = Base::incumbent(context) {
                    return Step::Screen(base, Moves::Far);
                }
            }
        }
        if context.named.is_empty() {
            return Step::Dense;
        }
        if moves == Moves::SumKept {
            if let Round::Coded(round) = &mut self.round {
                round.drop_waiting();
            }
            return Step::Optimise(Opening::Spread);
        }
        Step::Optimise(if weak_groups == 0 { Opening::RestCheck } else { Opening::Search })
    }
}

/// Whether a coordinate has room on both sides.
fn is_inside(u: f64) -> bool {
    (tuning::JOINT_MARGIN..=1.0 - tuning::JOINT_MARGIN).contains(&u)
}

/// Whether probes can be made from a base: no input is named, since those move too and answer, no noise hides the answers, every
/// input is one number that makes small steps, and hardly one is near a bound.
fn has_room_for_probes(context: &Context, base: TrialId) -> bool {
    let inputs = context.all_inputs();
    let is_one = context.recipes.width(&inputs) == inputs.len();
    let is_discrete = |&input: &usize| context.recipes.is_discrete(input);
    let is_quiet = context.noise.sigma <= tuning::EARLY_NOISE * context.noise.scale;
    if !context.named.is_empty() || !is_quiet || !is_one || inputs.iter().any(is_discrete) {
        return false;
    }
    let at = context.recipes.of(base, &inputs);
    let n_near = at.iter().filter(|&&u| !is_inside(u)).count();
    n_near * tuning::JOINT_NEAR_BOUNDS <= inputs.len()
}

/// Which way most of a group moves.
fn sense(context: &Context, number: usize, parts: &[(usize, usize)]) -> f64 {
    let map = context.recipes.round(number);
    let step = context.noise.step;
    let places = parts.iter().flat_map(|&(start, end)| start..end).take(tuning::SENSE_SAMPLE);
    let mut inputs: Vec<usize> = places.map(|place| map.order[place] as usize).collect();
    inputs.sort_unstable();
    let down = context.recipes.of(map.start.base, &inputs).iter().filter(|&&u| u + step > 1.0).count();
    if 2 * down > inputs.len() { -1.0 } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategy::auto::context::Queued;
    use crate::strategy::auto::rehearsal::{answer, context, measure};

    /// A round of small steps from the centre of `n` inputs.
    fn begin(n: usize, f: impl Fn(&[f64]) -> f64) -> (Context, Screening) {
        let mut context = context(n);
        let value = f(&vec![0.5; n]);
        let id = measure(&mut context, Recipe::Centre, value);
        (context.noise.step, context.noise.scale) = (tuning::SMALL_STEP.0, 1.0);
        let base = Base { id, value, n_values: 1 };
        let screening = Screening::begin(&mut context, base, Moves::Inside).unwrap();
        (context, screening)
    }

    /// Asks tests until a step follows.
    fn run(context: &mut Context, screening: &mut Screening, f: impl Fn(&[f64]) -> f64) -> Step {
        loop {
            if screening.has_test() {
                let recipe = screening.recipe(context);
                let task = screening.take();
                context.queue.push_front(Queued { recipe, z: vec![], task });
            }
            match answer(context, &f) {
                (_, Task::Test(number, test), value) => screening.told(context, number, test, Some(value)),
                (id, Task::Scatter, value) => screening.probe_told(context, id, Some(value)),
                (_, Task::Still(_), _) => {}
                (_, task, _) => panic!("{task:?}"),
            }
            let step = screening.settle(context);
            if step != Step::Stay {
                return step;
            }
        }
    }

    #[test]
    fn active_inputs_are_named_with_their_slopes() {
        let f = |x: &[f64]| x[3] - 2.0 * x[250];
        let (mut context, mut screening) = begin(300, f);
        assert_eq!(run(&mut context, &mut screening, f), Step::Optimise(Opening::RestCheck));
        assert_eq!(context.named_inputs(), [3, 250]);
        let slope = |input: usize| context.slopes.iter().find(|slope| slope.input == input).unwrap().slope;
        assert!((slope(3) - 1.0).abs() < 1e-6 && (slope(250) + 2.0).abs() < 1e-6);
    }

    #[test]
    fn many_groups_that_answer_are_read_together() {
        let active = [3, 40, 77, 110, 160, 200, 240, 280];
        let f = |x: &[f64]| -> f64 {
            active.iter().enumerate().map(|(k, &j)| (1.0 + 0.2 * k as f64) * x[j] * x[j]).sum()
        };
        let (mut context, mut screening) = begin(300, f);
        let step = run(&mut context, &mut screening, f);
        let is_probe = |id: u64| matches!(context.recipes.recipe(TrialId(id)), Some(Recipe::Scatter { .. }));
        let n_probes = (0..context.results.len() as u64).filter(|&id| is_probe(id)).count();
        let n_codes = context.results.len() - n_probes;
        assert_eq!((step, context.named_inputs()), (Step::Optimise(Opening::RestCheck), active.to_vec()));
        // The base, eight groups, one point downhill, and weak slopes alone.
        assert!(n_probes > 0 && n_codes < 14, "{n_probes} probes, {n_codes} others");
        assert!(context.results.len() < 5 * active.len() + 9, "{} in all", context.results.len());
    }

    #[test]
    fn probes_want_room_and_quiet_and_nothing_named() {
        let mut context = context(60);
        let centre = measure(&mut context, Recipe::Centre, 1.0);
        let low = measure(&mut context, Recipe::Low, 1.0);
        context.noise.scale = 1.0;
        assert!(has_room_for_probes(&context, centre) && !has_room_for_probes(&context, low));
        context.name_unproven(&[3]);
        assert!(!has_room_for_probes(&context, centre));
        context.named.clear();
        context.noise.sigma = 2.0 * tuning::EARLY_NOISE;
        assert!(!has_room_for_probes(&context, centre));
    }

    #[test]
    fn inputs_that_act_alike_make_a_line() {
        let f = |x: &[f64]| x.iter().sum::<f64>();
        let (mut context, mut screening) = begin(300, f);
        let Step::Line { slope } = run(&mut context, &mut screening, f) else { panic!("no line") };
        assert!((slope - 300.0).abs() < 1e-3, "{slope}");
        context.tried.line = true;
        let (_, mut again) = begin(300, f);
        assert_eq!(run(&mut context, &mut again, f), Step::Dense, "only once in a study");
    }

    #[test]
    fn many_different_inputs_are_dense() {
        let f = |x: &[f64]| x.iter().enumerate().map(|(j, x)| x * (1.7 * j as f64).sin()).sum::<f64>();
        let (mut context, mut screening) = begin(300, f);
        assert_eq!(run(&mut context, &mut screening, f), Step::Dense);
        assert_eq!(context.findings.last().unwrap().fact, Fact::Dense);
    }

    #[test]
    fn where_nothing_answers_large_steps_are_tried_once() {
        let (mut context, mut screening) = begin(100, |_| 1.0);
        let step = run(&mut context, &mut screening, |_| 1.0);
        let Step::Screen(base, Moves::Far) = step else { panic!("{step:?}") };
        let mut far = Screening::begin(&mut context, base, Moves::Far).unwrap();
        assert_eq!(run(&mut context, &mut far, |_| 1.0), Step::Dense);
    }

    #[test]
    fn an_answer_to_another_round_is_no_answer() {
        let (context, mut screening) = begin(100, |_| 1.0);
        let Task::Test(number, test) = screening.take() else { panic!("no test") };
        screening.told(&context, number + 1, test.clone(), Some(9.0));
        let mut same = context;
        assert_eq!(screening.settle(&mut same), Step::Stay);
        assert!(
            screening.still_told(&mut same, number + 1, Some(9.0)) == Step::Stay && same.noise.sigma == 0.0
        );
        assert_eq!(screening.still_told(&mut same, number, Some(9.0)), Step::Noise(MeasureNoise::Repeats));
    }

    #[test]
    fn nothing_is_screened_when_all_inputs_are_named() {
        let mut context = context(60);
        measure(&mut context, Recipe::Centre, 1.0);
        context.name_unproven(&(0..60).collect::<Vec<_>>());
        let Step::Screen(base, Moves::Far) = screen_all(&mut context) else { panic!("no round") };
        assert!(Screening::begin(&mut context, base, Moves::Far).is_none());
    }
}
