//! Pairs of inputs: an arm of the dense fallback.
//!
//! Many inputs often are the coordinates of points in a row, x and y of each: way points, knots of a curve, sensors on a plate; the
//! two of a pair lie beside each other, or all x come before all y. What
//! is good for one pair is then good for its neighbours, and no move of single inputs or of random bins is any good, since it
//! tears neighbours apart. So all first inputs of the pairs are one coordinate and all second ones another; a search of two
//! coordinates that gains nothing any more goes on with two runs of pairs, four coordinates, and so on up to eight runs. Every
//! point of fewer runs is one of more runs too, so nothing that was measured is lost on the way.
//!
//! Whether it is worth its turn is told by four corners, for both ways in which pairs may lie: the first inputs of all pairs low and the
//! second ones high, and the other way round. The arm goes on if one of them is clearly better than all that was measured before.

use crate::strategy::auto::context::{Context, Task};
use crate::strategy::auto::tuning;
use crate::trial::{Recipe, TrialId};

/// Runs of pairs that are moved together.
pub(in crate::strategy::auto) struct Pairs {
    pub(in crate::strategy::auto) runs: usize,
    /// Whether the first inputs of all pairs come before all second ones.
    pub(in crate::strategy::auto) halves: bool,
    /// Corners that are not back.
    n_out: usize,
}

/// What came of the corners.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Tried {
    /// Not all of them are back.
    Open,
    /// One is good.
    Good,
    /// None is.
    Bad,
}

/// Whether corners are asked: not where a gain may be luck, nor for more inputs than are searched at once.
pub(super) fn may_be_worth_it(context: &Context) -> bool {
    !context.noise.noisy && context.recipes.n_inputs <= tuning::ALL_INPUTS_FIRST
}

impl Pairs {
    /// All pairs in one run: queues the corners.
    pub(super) fn begin(context: &mut Context) -> Pairs {
        for halves in [false, true] {
            for z in [[0.0, 1.0], [1.0, 0.0]] {
                context.push(Recipe::Pairs { runs: 1, halves }, z.to_vec(), Task::Corner);
            }
        }
        Pairs { runs: 1, halves: false, n_out: 4 }
    }

    /// Whether corners are under way.
    pub(in crate::strategy::auto) fn is_tried(&self) -> bool {
        self.n_out > 0
    }

    /// A corner is back.
    pub(super) fn corner_told(&mut self, context: &Context) -> Tried {
        self.n_out = self.n_out.saturating_sub(1);
        if self.is_tried() {
            return Tried::Open;
        }
        match better_than_all(context) {
            Some(halves) => {
                self.halves = halves;
                Tried::Good
            }
            None => Tried::Bad,
        }
    }

    /// Halves the runs; false if they are short enough.
    pub(super) fn divide(&mut self, context: &Context) -> bool {
        let is_room = 2 * self.runs <= tuning::MOST_RUNS.min(context.recipes.n_inputs / 2);
        if is_room {
            self.runs *= 2;
        }
        is_room
    }
}

/// Whether pairs lie in two halves, if a corner of theirs is the incumbent, and better than all other points by more than what
/// is nearly as good.
fn better_than_all(context: &Context) -> Option<bool> {
    let best = context.results.incumbent?;
    let halves = layout(context, best.id)?;
    let others = context.results.iter().filter(|result| layout(context, result.id).is_none());
    let mut values: Vec<f64> = others.map(|result| result.value).collect();
    values.sort_by(f64::total_cmp);
    let (lowest, median) = (*values.first()?, values[values.len() / 2]);
    (lowest - best.value > tuning::NEARLY_AS_GOOD * (median - best.value)).then_some(halves)
}

/// Whether pairs lie in two halves, if a trial moved pairs.
fn layout(context: &Context, id: TrialId) -> Option<bool> {
    match context.recipes.recipe(id)? {
        Recipe::Pairs { halves, .. } => Some(*halves),
        _ => None,
    }
}

/// Where a trial is, if it has so many runs of pairs, or fewer that each are several of these.
pub(in crate::strategy::auto) fn coordinates(
    context: &Context,
    runs: usize,
    halves: bool,
    id: TrialId,
) -> Option<Vec<f64>> {
    let all = |u: f64| Some(vec![u; 2 * runs]);
    match context.recipes.recipe(id)? {
        Recipe::Centre => all(0.5),
        Recipe::Low => all(0.0),
        Recipe::High => all(1.0),
        Recipe::Line { base, shift } => {
            let from = coordinates(context, runs, halves, *base)?;
            Some(from.into_iter().map(|u| (u + shift).clamp(0.0, 1.0)).collect())
        }
        Recipe::Pairs { runs: fewer, halves: same } if *same == halves && runs.is_multiple_of(*fewer) => {
            let (z, each) = (context.recipes.z(id), runs / fewer);
            Some((0..runs).flat_map(|run| [z[2 * (run / each)], z[2 * (run / each) + 1]]).collect())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategy::auto::rehearsal::{answer, context, measure, trial};

    #[test]
    fn every_point_of_fewer_runs_is_one_of_more() {
        for (n, halves) in [(60, false), (61, false), (60, true), (61, true)] {
            let mut context = context(n);
            context.centre = measure(&mut context, Recipe::Centre, 3.0);
            let base = context.centre;
            let mut points = vec![base, measure(&mut context, Recipe::Low, 3.0)];
            points.push(measure(&mut context, Recipe::Line { base, shift: 0.2 }, 3.0));
            for runs in [1, 2, 4, 8] {
                let z: Vec<f64> = (0..2 * runs).map(|k| 0.05 * k as f64).collect();
                let recipe = Recipe::Pairs { runs, halves };
                points.push(context.recipes.last_id().map_or(base, |last| TrialId(last + 1)));
                let trial = trial(&context, recipe, z);
                context.note(&trial, Task::Point);
            }
            let inputs = context.all_inputs();
            for &id in &points {
                let z = coordinates(&context, 8, halves, id).unwrap();
                assert_eq!(z.len(), 16);
                let recipe = Recipe::Pairs { runs: 8, halves };
                let lifted = context.recipes.made_of(TrialId(99), &recipe, &z, &inputs);
                assert_eq!(lifted, context.recipes.of(id, &inputs), "{n} inputs, {halves}: {id:?}");
            }
            assert_eq!(coordinates(&context, 8, !halves, points[4]), None, "pairs of other inputs");
            assert_eq!(coordinates(&context, 2, halves, points[6]), None, "more runs");
        }
    }

    #[test]
    fn they_go_on_where_the_two_of_a_pair_differ_at_the_best_corner() {
        for (lowest, expected) in [(1.0, Tried::Good), (2.5, Tried::Bad)] {
            let mut context = context(40);
            context.centre = measure(&mut context, Recipe::Centre, 2.0);
            measure(&mut context, Recipe::Low, 2.1);
            measure(&mut context, Recipe::High, 9.0);
            let mut pairs = Pairs::begin(&mut context);
            // All first ones high, in halves, is the last that is asked.
            for left in (0..4).rev() {
                let value =
                    |x: &[f64]| if x[1] == 1.0 && x[39] == 0.0 && x[38] == 0.0 { lowest } else { 9.0 };
                let (_, task, _) = answer(&mut context, value);
                assert!(matches!(task, Task::Corner));
                let told = pairs.corner_told(&context);
                assert_eq!(told, if left > 0 { Tried::Open } else { expected.clone() });
            }
            assert_eq!(pairs.halves, lowest < 2.0);
            let mut runs = vec![];
            while pairs.divide(&context) {
                runs.push(pairs.runs);
            }
            assert_eq!(runs, [2, 4, 8]);
        }
    }
}
