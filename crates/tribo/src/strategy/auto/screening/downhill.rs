//! Points downhill while inputs are screened: a small budget is not spent on screening alone.
//!
//! Tests with small steps are all at one value, that of their base. But each input that they name has a slope, so whenever two
//! more are named, one evaluation moves these from the incumbent against their slopes, the steeper one by a fifth of its range.
//! The search sees such points as any others. A few of them are enough: the search knows the slopes too, and does better.

use crate::strategy::auto::context::{Context, Task};
use crate::strategy::auto::search::Slope;
use crate::strategy::auto::tuning;
use crate::trial::Recipe;

/// The points of a round.
#[derive(Default)]
pub(super) struct Downhill {
    /// Slopes that were followed.
    n_followed: usize,
    n_points: usize,
}

impl Downhill {
    /// Asks for a point, if enough slopes are known that were not followed.
    pub(super) fn advance(&mut self, context: &mut Context) {
        let new: Vec<Slope> = context.slopes.get(self.n_followed..).unwrap_or_default().to_vec();
        let is_enough = self.n_points == tuning::DOWNHILL_POINTS || context.counts.searched > 0;
        if is_enough || new.len() < tuning::DOWNHILL_INPUTS {
            return;
        }
        (self.n_followed, self.n_points) = (context.slopes.len(), self.n_points + 1);
        let Some(best) = context.results.incumbent else { return };
        let steepest = new.iter().fold(0.0, |a: f64, slope| a.max(slope.slope.abs()));
        let mut inputs: Vec<usize> = context.slopes.iter().map(|slope| slope.input).collect();
        inputs.sort_unstable();
        inputs.dedup();
        let mut z = context.recipes.of(best.id, &inputs);
        for Slope { input, slope, .. } in new {
            // Only inputs of one coordinate make small steps.
            if let Ok(at) = inputs.binary_search(&input) {
                let by = tuning::DOWNHILL_STEP * slope / steepest;
                z[at] = (z[at] - by).clamp(0.0, 1.0);
            }
        }
        if z.iter().all(|z| z.is_finite()) {
            let base = context.base_of_set(best.id, &inputs);
            context.push_first(Recipe::Set { base, inputs }, z, Task::Downhill);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategy::auto::rehearsal::{answer, context, measure};

    #[test]
    fn two_more_slopes_are_followed_from_the_incumbent_and_three_times() {
        let mut context = context(60);
        let base = measure(&mut context, Recipe::Centre, 1.0);
        let mut downhill = Downhill::default();
        let name = |context: &mut Context, input: usize, slope: f64| {
            context.slopes.push(Slope { input, base, value: 1.0, slope });
        };
        name(&mut context, 9, 2.0);
        downhill.advance(&mut context);
        assert!(context.queue.is_empty(), "one is not enough");
        name(&mut context, 3, -1.0);
        downhill.advance(&mut context);
        downhill.advance(&mut context);
        assert_eq!(context.queue.len(), 1);
        let step = tuning::DOWNHILL_STEP;
        let expected = Recipe::Set { base, inputs: vec![3, 9] };
        let first = context.queue.front().unwrap();
        assert_eq!((&first.recipe, &first.z[..]), (&expected, &[0.5 + 0.5 * step, 0.5 - step][..]));
        // It is lower: the next one goes on from there.
        answer(&mut context, |_| 0.5);
        name(&mut context, 20, 1.0);
        name(&mut context, 1, 1.0);
        downhill.advance(&mut context);
        let next = context.queue.front().unwrap();
        assert_eq!(next.recipe, Recipe::Set { base, inputs: vec![1, 3, 9, 20] });
        assert_eq!(next.z, [0.5 - step, 0.5 + 0.5 * step, 0.5 - step, 0.5 - step]);
        for input in 30..40 {
            name(&mut context, input, 1.0);
            downhill.advance(&mut context);
        }
        assert_eq!(context.queue.len(), 2, "a few are enough");
    }
}
