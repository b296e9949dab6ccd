//! Is all that matters named, and does all that is named matter?
//!
//! The *rest check*: all inputs that are not named move at once, and nothing should happen. One evaluation certifies them all
//! as idle. With much noise it takes four: the incumbent, whose low value may be luck, is evaluated twice again, and the
//! others are moved twice. It is asked when inputs have been named, and again when a local search ends, if the last one was
//! long ago. If something happens, the others are screened.
//!
//! A *check* of an input that an earlier search has named: the incumbent with that input moved. What does not answer is
//! dropped. The last check back asks for a rest check.

use super::{Base, screen_from};
use crate::strategy::auto::context::{Context, Task};
use crate::strategy::auto::known::PriorKnowledge;
use crate::strategy::auto::phase::Step;
use crate::strategy::auto::tuning;
use crate::strategy::study::insight::{Evidence, Fact};
use crate::trial::{Recipe, TrialId};

/// What was verified, and what is being verified. Checks may come back in any phase.
#[derive(Default)]
pub(in crate::strategy::auto) struct Verification {
    /// Results there were when a rest check was last thought of.
    checked_at: usize,
    rest: Option<RestCheck>,
    /// Inputs that the last rest check found idle.
    pub(in crate::strategy::auto) n_idle: usize,
    /// Checks of named inputs that are not back.
    n_checks: usize,
}

/// A rest check under way.
struct RestCheck {
    base: TrialId,
    left: usize,
    still: Vec<f64>,
    moved: Vec<(TrialId, f64)>,
}

impl Verification {
    /// Whether the end of a local search is the time for another rest check.
    pub(in crate::strategy::auto) fn is_due(&self, context: &Context) -> bool {
        context.results.len() >= self.checked_at + tuning::REST_EVERY
    }

    /// Asks for a rest check from the incumbent, unless there is nothing to check: the search is not over named inputs, or
    /// the user has named them.
    pub(in crate::strategy::auto) fn check_rest(&mut self, context: &mut Context, over_named: bool) {
        self.checked_at = context.results.len();
        let kept = context.named_inputs();
        let wanted = over_named && !context.tried.line && context.prior != PriorKnowledge::Given;
        if !wanted || self.rest.is_some() || kept.len() == context.recipes.n_inputs {
            return;
        }
        let Some(best) = context.results.incumbent else { return };
        let base = best.id;
        let (n_moved, n_still) = if context.noise.noisy { tuning::REST_NOISY } else { tuning::REST_QUIET };
        for _ in 0..n_moved {
            context.push(Recipe::Others { base, kept: kept.clone() }, vec![], Task::Rest { moved: true });
        }
        for _ in 0..n_still {
            context.push(Recipe::Jitter { base, balanced: false }, vec![], Task::Rest { moved: false });
        }
        let still = if n_still == 0 { vec![best.value] } else { vec![] };
        self.rest = Some(RestCheck { base, left: n_moved + n_still, still, moved: vec![] });
    }

    /// An answer to the rest check. If inputs were missed, the others are screened, while the search `is_optimising` and
    /// tests have not taken half the budget.
    pub(in crate::strategy::auto) fn rest_told(
        &mut self,
        context: &mut Context,
        id: TrialId,
        moved: bool,
        value: Option<f64>,
        is_optimising: bool,
    ) -> Step {
        let Some(check) = &mut self.rest else { return Step::Stay };
        check.left -= 1;
        match (moved, value) {
            (true, Some(value)) => check.moved.push((id, value)),
            (false, Some(value)) => check.still.push(value),
            (_, None) => {}
        }
        if check.left > 0 {
            return Step::Stay;
        }
        let Some(RestCheck { base, still, moved, .. }) = self.rest.take() else { return Step::Stay };
        let n_values = still.len();
        let before = still.iter().sum::<f64>() / n_values.max(1) as f64;
        let farthest = moved.into_iter().max_by(|a, b| (a.1 - before).abs().total_cmp(&(b.1 - before).abs()));
        let Some((id, value)) = farthest.filter(|_| n_values > 0) else { return Step::Stay };
        let change = value - before;
        let inputs = context.recipes.n_inputs - context.named.len();
        let threshold = threshold(context);
        context.found(Fact::Rest { inputs, change, threshold });
        let matters = change.abs() > threshold;
        self.n_idle = if matters { 0 } else { inputs };
        if !matters || !is_optimising || tuning::TESTS_IN_BUDGET * context.counts.tests >= context.budget {
            return Step::Stay;
        }
        let base = match context.noise.noisy {
            // Far moves answer best from a low value.
            true => Base { id: base, value: before, n_values },
            // At the incumbent an input that was missed hardly answers to small steps; there it does.
            false => Base { id, value, n_values: 1 },
        };
        screen_from(context, base)
    }

    /// The rest check under way is given up.
    pub(in crate::strategy::auto) fn give_up_rest(&mut self) {
        self.rest = None;
    }

    /// Asks for one evaluation for each named input: the incumbent with that input moved.
    pub(in crate::strategy::auto) fn check_named(&mut self, context: &mut Context) {
        let Some(best) = context.results.incumbent else { return };
        self.n_checks = context.named.len();
        for input in context.named_inputs() {
            let mut z = context.recipes.of(best.id, &[input]);
            match &mut z[..] {
                [u] => *u += if *u < 0.5 { tuning::CHECK_STEP } else { -tuning::CHECK_STEP },
                // Another category wins.
                one_of => one_of.rotate_right(1),
            }
            let recipe = Recipe::Set { base: best.id, inputs: vec![input] };
            context.push(recipe, z, Task::Check { input, before: best.value });
        }
    }

    /// The answer to a check; whether it was the last one. An input whose evaluation broke stays: nothing speaks against it.
    pub(in crate::strategy::auto) fn check_told(
        &mut self,
        context: &mut Context,
        input: usize,
        before: f64,
        value: Option<f64>,
    ) -> bool {
        self.n_checks -= 1;
        let threshold = threshold(context);
        if let Some(effect) = value.map(|value| value - before) {
            if effect.abs() > threshold {
                let evidence = Some(Evidence { effect, step: tuning::CHECK_STEP, threshold });
                if let Some(named) = context.named.iter_mut().find(|named| named.input == input) {
                    named.evidence = evidence;
                    let named = named.clone();
                    context.found(Fact::Named(named));
                }
            } else if context.named.len() > 1 {
                context.named.retain(|named| named.input != input);
                let name = context.recipes.name(input);
                context.found(Fact::Dropped { name, change: effect, threshold });
            }
        }
        self.n_checks == 0
    }
}

/// Changes up to here mean nothing.
fn threshold(context: &Context) -> f64 {
    let (of_one, of_means) = tuning::REST_DEVIATIONS;
    let deviations = if context.noise.noisy { of_means } else { of_one };
    (deviations * context.noise.sigma).max(tuning::REST_NOTHING * context.noise.scale)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategy::auto::rehearsal::{answer, context, measure};
    use crate::trial::Moves;

    /// A context with one input named, and the rest check asked for.
    fn checking(noisy: bool) -> (Context, Verification) {
        let mut context = context(60);
        measure(&mut context, Recipe::Centre, 1.0);
        context.name_unproven(&[3]);
        (context.noise.scale, context.noise.step, context.noise.noisy) = (1.0, 1e-4, noisy);
        context.noise.sigma = if noisy { 0.1 } else { 0.0 };
        let mut verification = Verification::default();
        verification.check_rest(&mut context, true);
        (context, verification)
    }

    fn run(context: &mut Context, check: &mut Verification, f: impl Fn(&[f64]) -> f64, going: bool) -> Step {
        let mut step = Step::Stay;
        while !context.queue.is_empty() {
            let (id, task, value) = answer(context, &f);
            let Task::Rest { moved } = task else { panic!("{task:?}") };
            step = check.rest_told(context, id, moved, Some(value), going);
        }
        step
    }

    #[test]
    fn idle_inputs_are_certified_by_one_evaluation() {
        let (mut context, mut verification) = checking(false);
        assert_eq!(context.queue.len(), 1);
        verification.check_rest(&mut context, true);
        assert_eq!(context.queue.len(), 1, "one check at a time");
        assert_eq!(run(&mut context, &mut verification, |x| 0.5 + x[3], true), Step::Stay);
        assert_eq!(verification.n_idle, 59);
    }

    #[test]
    fn what_was_missed_is_screened_for_while_optimising() {
        for (going, budget, screens) in [(true, 200, true), (false, 200, false), (true, 0, false)] {
            let (mut context, mut verification) = checking(false);
            context.budget = budget;
            let step = run(&mut context, &mut verification, |x| 0.5 + x[3] + x[9], going);
            assert_eq!(matches!(step, Step::Screen(_, Moves::Inside)), screens, "{step:?}");
            assert_eq!(verification.n_idle, 0);
        }
    }

    #[test]
    fn under_noise_the_incumbent_is_evaluated_again() {
        let (mut context, mut verification) = checking(true);
        assert_eq!(context.queue.len(), 4);
        let step = run(&mut context, &mut verification, |x| 2.0 + if x[9] == 0.5 { 0.0 } else { 5.0 }, true);
        assert_eq!(step, Step::Stay, "jitter moves input 9 as well: all changed alike");
        let (mut context, mut verification) = checking(true);
        let step =
            run(&mut context, &mut verification, |x| if (x[9] - 0.5).abs() < 1e-6 { 2.0 } else { 7.0 }, true);
        let Step::Screen(base, Moves::Far) = step else { panic!("{step:?}") };
        assert_eq!((base.value, base.n_values), (2.0, 2), "not its lucky first value");
    }

    #[test]
    fn there_is_nothing_to_check_without_named_inputs_of_ours() {
        for case in 0..4 {
            let mut context = context(60);
            measure(&mut context, Recipe::Centre, 1.0);
            let mut over_named = true;
            match case {
                0 => over_named = false,
                1 => context.tried.line = true,
                2 => context.prior = PriorKnowledge::Given,
                _ => context.name_unproven(&(0..60).collect::<Vec<_>>()),
            }
            let mut verification = Verification::default();
            verification.check_rest(&mut context, over_named);
            assert!(context.queue.is_empty(), "case {case}");
        }
    }

    #[test]
    fn named_inputs_that_do_not_answer_are_dropped() {
        let mut context = context(60);
        measure(&mut context, Recipe::Centre, 1.0);
        context.name_unproven(&[3, 9]);
        context.noise.scale = 1.0;
        let mut verification = Verification::default();
        verification.check_named(&mut context);
        let mut last = vec![];
        while !context.queue.is_empty() {
            let (_, task, value) = answer(&mut context, |x| 0.5 + x[3]);
            let Task::Check { input, before } = task else { panic!("{task:?}") };
            last.push(verification.check_told(&mut context, input, before, Some(value)));
        }
        assert_eq!((context.named_inputs(), last), (vec![3], vec![false, true]));
        assert!((context.named[0].evidence.unwrap().effect + tuning::CHECK_STEP).abs() < 1e-12);
    }
}
