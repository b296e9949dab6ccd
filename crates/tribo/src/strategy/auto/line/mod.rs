//! All inputs answer alike: they are moved together first, and then single ones are looked for with moves that keep the sum.
//!
//! The line goes through the centre: the corners are on it, and nothing near it is clipped. A row that happens to lie lower
//! than the bottom of the centre's line is not at the bottom of its own, so that one is searched too. At the bottom one
//! evaluation shows the noise there.
//!
//! Where values depend on the sum of all inputs, the corners differ from the centre by far more than points in general
//! position differ from each other, whose sums are nearly the same. If they differ by less, the sum explains nothing,
//! however alike the slopes are: there is no line worth its evaluations, and the search goes on in all inputs.

mod parabola;

use super::context::{Context, Task};
use super::phase::Step;
use super::screening::Base;
use crate::strategy::study::insight::Fact;
use crate::trial::{Moves, Recipe, TrialId};
use parabola::Parabolas;

/// The phase that moves all inputs together.
pub(super) enum JointMove {
    /// Along the line through a base. The slope is that where screening began.
    Along { base: TrialId, line: Parabolas, slope: f64 },
    /// At the bottom, for the noise.
    Bottom,
}

impl JointMove {
    /// A search along the line on which the value has this slope; None if nothing was measured, or the line is flat.
    pub(super) fn begin(context: &mut Context, slope: f64) -> Option<JointMove> {
        context.tried.line = true;
        let best = context.results.incumbent?;
        let centre = context.centre;
        let (base, value) =
            context.results.value(centre).map_or((best.id, best.value), |value| (centre, value));
        let mut points = vec![(0.0, value)];
        for result in context.results.iter() {
            match context.recipes.recipe(result.id) {
                Some(Recipe::Low) if base == centre => points.push((-0.5, result.value)),
                Some(Recipe::High) if base == centre => points.push((0.5, result.value)),
                _ => {}
            }
        }
        if is_flat(&points, context.noise.scale) {
            // As after a line: the search begins with corners and rows.
            context.results.model_from = context.results.len();
            return None;
        }
        context.found(Fact::Alike);
        let line = Parabolas::new(points, slope, context.noise.scale);
        Some(JointMove::Along { base, line, slope })
    }

    /// Asks for the next point on the line, if there is one to look at.
    pub(super) fn advance(&mut self, context: &mut Context) -> Step {
        let JointMove::Along { base, line, .. } = self else { return Step::Stay };
        match line.next() {
            Some(shift) => {
                context.push(Recipe::Line { base: *base, shift }, vec![], Task::Line(shift));
                Step::Stay
            }
            None => self.over(context),
        }
    }

    /// The value at t.
    pub(super) fn told(&mut self, context: &mut Context, t: f64, value: Option<f64>) -> Step {
        let JointMove::Along { line, .. } = self else { return Step::Stay };
        match value {
            Some(value) => {
                line.told(t, value);
                self.advance(context)
            }
            None => self.over(context),
        }
    }

    /// The bottom of a line is reached.
    fn over(&mut self, context: &mut Context) -> Step {
        let Some(best) = context.results.incumbent else { return Step::Dense };
        let on_line = |recipe: &Recipe| matches!(recipe, Recipe::Line { .. } | Recipe::Low | Recipe::High);
        if let JointMove::Along { base, slope, .. } = *self
            && best.id != base
            && !context.recipes.recipe(best.id).is_some_and(on_line)
        {
            let line = Parabolas::new(vec![(0.0, best.value)], slope, context.noise.scale);
            *self = JointMove::Along { base: best.id, line, slope };
            return self.advance(context);
        }
        context.results.model_from = context.results.len();
        context.found(Fact::Line { value: best.value });
        if context.noise.noisy {
            return Step::Dense;
        }
        *self = JointMove::Bottom;
        context.push(Recipe::Jitter { base: best.id, balanced: true }, vec![], Task::Bottom(best.value));
        Step::Stay
    }

    /// The bottom, where the value was `before`, once more: single inputs are looked for with moves that keep the sum.
    pub(super) fn bottom_told(&self, context: &mut Context, before: f64, value: Option<f64>) -> Step {
        if let Some(value) = value {
            context.noise.sigma = (value - before).abs() / std::f64::consts::SQRT_2;
        }
        match Base::incumbent(context) {
            Some(base) => Step::Screen(base, Moves::SumKept),
            None => Step::Dense,
        }
    }
}

/// Whether the centre and both corners differ by less than points in general position do. Of twelve walks among discs, 60
/// inputs and 200 evaluations, of which a line and what follows it take 31, one ended above 2.5 with a line and none without;
/// their mean fell from 2.02 to 1.87.
fn is_flat(points: &[(f64, f64)], spread: f64) -> bool {
    let values = || points.iter().map(|(_, value)| *value);
    let range = values().fold(f64::NEG_INFINITY, f64::max) - values().fold(f64::INFINITY, f64::min);
    points.len() == 3 && range < spread
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategy::auto::rehearsal::{answer, context, measure};

    fn sum(x: &[f64]) -> f64 {
        (x.iter().sum::<f64>() / x.len() as f64 - 0.3).powi(2)
    }

    /// Answers steps along the line until the bottom is asked for, or a step follows.
    fn run(context: &mut Context, line: &mut JointMove) -> Step {
        let mut step = line.advance(context);
        while step == Step::Stay {
            step = match answer(context, sum) {
                (_, Task::Line(t), value) => line.told(context, t, Some(value)),
                (_, Task::Bottom(before), value) => line.bottom_told(context, before, Some(value)),
                (_, task, _) => panic!("{task:?}"),
            };
        }
        step
    }

    #[test]
    fn at_the_bottom_moves_keep_the_sum() {
        let mut context = context(60);
        context.centre = measure(&mut context, Recipe::Centre, sum(&[0.5]));
        context.noise.scale = 1.0;
        let mut line = JointMove::begin(&mut context, 0.4).unwrap();
        let Step::Screen(base, moves) = run(&mut context, &mut line) else { panic!("no round") };
        assert_eq!(moves, Moves::SumKept);
        assert!(base.value < 1e-8, "{}", base.value);
        assert!(context.tried.line && context.results.model_from > 1);
        assert!(matches!(line, JointMove::Bottom));
    }

    #[test]
    fn a_line_on_which_values_hardly_differ_is_not_searched() {
        for (corner, is_searched) in [(2.0, true), (1.4, false)] {
            let mut context = context(60);
            context.centre = measure(&mut context, Recipe::Centre, 0.5);
            measure(&mut context, Recipe::Low, corner);
            measure(&mut context, Recipe::High, 0.7);
            context.noise.scale = 1.0;
            let line = JointMove::begin(&mut context, 0.4);
            assert_eq!(line.is_some(), is_searched, "{corner}");
            assert!(context.tried.line, "nor is it looked at again");
            let said = context.findings.iter().any(|finding| matches!(finding.fact, Fact::Alike));
            assert_eq!((said, context.results.model_from), (is_searched, if is_searched { 0 } else { 3 }));
        }
    }

    #[test]
    fn a_lower_row_has_a_line_of_its_own() {
        let mut context = context(60);
        context.centre = measure(&mut context, Recipe::Centre, sum(&[0.5]));
        // Lower than anything on the line through the centre.
        let row = measure(&mut context, Recipe::Latin { batch: 0, count: 10, row: 2 }, -1.0);
        context.noise.scale = 1.0;
        let mut line = JointMove::begin(&mut context, 0.4).unwrap();
        let mut step = line.advance(&mut context);
        while step == Step::Stay && matches!(line, JointMove::Along { base, .. } if base != row) {
            let (_, Task::Line(t), value) = answer(&mut context, sum) else { panic!("not a line") };
            step = line.told(&mut context, t, Some(value));
        }
        assert!(matches!(line, JointMove::Along { base, .. } if base == row), "{step:?}");
    }

    #[test]
    fn noise_leads_to_bins_and_a_failure_ends_the_line() {
        let mut context = context(60);
        context.centre = measure(&mut context, Recipe::Centre, 1.0);
        (context.noise.scale, context.noise.noisy) = (1.0, true);
        let mut line = JointMove::begin(&mut context, 0.4).unwrap();
        assert_eq!(line.advance(&mut context), Step::Stay);
        assert_eq!(line.told(&mut context, -0.05, None), Step::Dense);
    }
}
