//! One input at a time: an arm of the dense fallback.
//!
//! A small step tells nothing where the value has kinks or plateaus, and a far move of many inputs at once is worth what its worst
//! part is worth. So every input is moved far on its own from one base, which takes as many evaluations as there are inputs.
//! Those whose move gained are often few: at a corner most inputs are right where they are. They alone are searched then, with a
//! Gaussian process, all others as in the base. When that search has no more to gain, another sweep begins at the incumbent, with
//! half the step and with the inputs first whose moves did best.
//!
//! The arm comes first if one of the corners of the start is nearly as good as the incumbent, and the first sweep departs
//! from there. The incumbent may be a point inside where all inputs are alike, and moving one of them undoes what the others do;
//! at a face, single ones can be moved to advantage. (Walks among discs, 60 inputs: from the centre no single move gains.)
//! Later sweeps depart from the incumbent.

use crate::rng::Stream;
use crate::strategy::auto::context::{Context, Task};
use crate::strategy::auto::tuning;
use crate::trial::{Recipe, TrialId};

/// A sweep over all inputs, and what came of it.
pub(in crate::strategy::auto) struct Singles {
    /// The point that inputs are moved from, and its value.
    pub(in crate::strategy::auto) base: TrialId,
    value: f64,
    /// The lowest value of the study when the sweep began.
    pub(super) before: f64,
    step: f64,
    /// Moves that are not back.
    n_out: usize,
    /// Inputs with the value that their move led to, as they came back; without one if it failed.
    moved: Vec<(usize, Option<f64>)>,
}

impl Singles {
    /// Queues the first sweep of a turn, whose number in the study is given; None if nothing was measured. The step halves from
    /// turn to turn, so that no point is asked twice.
    pub(super) fn begin(context: &mut Context, turn: u64) -> Option<Singles> {
        let best = context.results.incumbent?;
        let corner = if turn <= 1 { best_corner(context) } else { None };
        let mut order = context.all_inputs();
        Stream::new(context.seed, "single inputs", turn).shuffle(&mut order);
        let step = tuning::SINGLE_STEP * 0.5_f64.powf(turn.saturating_sub(1) as f64);
        Some(Singles::sweep(context, corner.unwrap_or((best.id, best.value)), step, &order))
    }

    /// Queues another sweep, from the incumbent.
    pub(super) fn again(&self, context: &mut Context) -> Option<Singles> {
        let best = context.results.incumbent?;
        Some(Singles::sweep(context, (best.id, best.value), 0.5 * self.step, &self.best_first()))
    }

    fn sweep(context: &mut Context, (base, value): (TrialId, f64), step: f64, order: &[usize]) -> Singles {
        let before = context.results.incumbent.map_or(value, |best| best.value);
        let singles = Singles { base, value, before, step, n_out: order.len(), moved: vec![] };
        for &input in order {
            singles.queue(context, input, step, Task::Single { base, input });
        }
        singles
    }

    /// Takes the answer to the move of an input from `base`; whether it was the last of the sweep. Then the inputs that
    /// gained most are moved to other places.
    pub(super) fn told(
        &mut self,
        context: &mut Context,
        base: TrialId,
        input: usize,
        value: Option<f64>,
    ) -> bool {
        if self.base != base {
            return false;
        }
        self.moved.push((input, value));
        self.n_out -= 1;
        if self.n_out > 0 {
            return false;
        }
        let gained = self.inputs();
        let most = self.best_first().into_iter().filter(|input| gained.binary_search(input).is_ok());
        for input in most.take(tuning::PROFILED) {
            for part in tuning::PROFILE {
                self.queue(context, input, part * self.step, Task::Point);
            }
        }
        true
    }

    /// Queues a move of one input.
    fn queue(&self, context: &mut Context, input: usize, step: f64, task: Task) {
        let (base, inputs) = (self.base, vec![input]);
        let z = context.recipes.of(base, &inputs).into_iter().map(|u| moved(u, step)).collect();
        context.push(Recipe::Set { base, inputs }, z, task);
    }

    /// The inputs in the order of what their moves led to.
    fn best_first(&self) -> Vec<usize> {
        let mut order = self.moved.clone();
        let value = |moved: Option<f64>| moved.unwrap_or(f64::INFINITY);
        order.sort_by(|a, b| value(a.1).total_cmp(&value(b.1)).then(a.0.cmp(&b.0)));
        order.into_iter().map(|(input, _)| input).collect()
    }

    /// Whether moves are under way or wait.
    pub(in crate::strategy::auto) fn is_sweeping(&self) -> bool {
        self.n_out > 0
    }

    /// The inputs whose move gained so far, in increasing order.
    pub(in crate::strategy::auto) fn inputs(&self) -> Vec<usize> {
        let gained = |moved: &&(usize, Option<f64>)| moved.1.is_some_and(|value| value < self.value);
        let mut inputs: Vec<usize> = self.moved.iter().filter(gained).map(|moved| moved.0).collect();
        inputs.sort_unstable();
        inputs
    }
}

/// A coordinate moved by a step where there is room for it, or else to the farther face.
fn moved(u: f64, step: f64) -> f64 {
    match (u + step <= 1.0, u - step >= 0.0) {
        (true, _) => u + step,
        (false, true) => u - step,
        (false, false) => (u <= 0.5).into(),
    }
}

/// Where a trial is among these inputs, if all others are as in the base.
pub(in crate::strategy::auto) fn coordinates(
    context: &Context,
    base: TrialId,
    inputs: &[usize],
    id: TrialId,
) -> Option<Vec<f64>> {
    let is_near = id == base
        || matches!(context.recipes.recipe(id), Some(Recipe::Set { base: from, inputs: set })
            if *from == base && set.iter().all(|input| inputs.binary_search(input).is_ok()));
    is_near.then(|| context.recipes.of(id, inputs))
}

/// The better corner and its value, if that is nearly as good as the incumbent: worse by a small part of what separates the median
/// of corners and rows from it.
pub(super) fn best_corner(context: &Context) -> Option<(TrialId, f64)> {
    let is_corner = |id: TrialId| context.recipes.is_corner(id);
    let is_row = |id: TrialId| matches!(context.recipes.recipe(id), Some(Recipe::Latin { .. }));
    let corners = context.results.iter().filter(|result| is_corner(result.id));
    let corner = corners.min_by(|a, b| a.value.total_cmp(&b.value).then(a.id.0.cmp(&b.id.0)))?;
    let start = context.results.iter().filter(|result| is_corner(result.id) || is_row(result.id));
    let mut values: Vec<f64> = start.map(|result| result.value).collect();
    values.sort_by(f64::total_cmp);
    let (lowest, median) = (context.results.incumbent?.value, values[values.len() / 2]);
    (corner.value - lowest <= tuning::NEARLY_AS_GOOD * (median - lowest)).then_some((corner.id, corner.value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategy::auto::rehearsal::{answer, context, measure};

    /// Only two inputs can be moved to advantage from the low corner.
    fn value(x: &[f64]) -> f64 {
        let gain = |u: f64| (u - 0.7).abs() - 0.7;
        10.0 + gain(x[3]) + gain(x[41]) + x.iter().sum::<f64>() - x[3] - x[41]
    }

    fn swept() -> (Context, Singles) {
        let mut context = context(60);
        context.centre = measure(&mut context, Recipe::Centre, 9.9);
        let low = measure(&mut context, Recipe::Low, value(&[0.0; 60]));
        measure(&mut context, Recipe::High, 50.0);
        let mut singles = Singles::begin(&mut context, 1).unwrap();
        assert_eq!(singles.base, low, "nearly as good as the centre, where all are alike");
        assert_eq!(context.queue.len(), 60);
        for left in (0..60).rev() {
            let (_, Task::Single { base, input }, value) = answer(&mut context, value) else { panic!() };
            assert_eq!(singles.told(&mut context, base, input, Some(value)), left == 0);
        }
        (context, singles)
    }

    #[test]
    fn inputs_that_gain_are_found_and_searched_around_the_base() {
        let (mut context, singles) = swept();
        assert_eq!(singles.inputs(), [3, 41]);
        let at = |id| coordinates(&context, singles.base, &[3, 41], id);
        assert_eq!(at(singles.base), Some(vec![0.0, 0.0]));
        assert_eq!(at(context.centre), None, "others are not as in the base");
        let n_near = context.results.iter().filter(|result| at(result.id).is_some()).count();
        assert_eq!(n_near, 3, "the base and two moves");
        let profile: Vec<f64> = context.queue.drain(..).map(|queued| queued.z[0]).collect();
        let places = tuning::PROFILE.map(|part| moved(0.0, part * tuning::SINGLE_STEP));
        assert_eq!(profile, [places, places].concat(), "two inputs elsewhere");
        // Another sweep begins at the incumbent, with what gained first.
        let next = singles.again(&mut context).unwrap();
        assert_eq!(next.base, context.results.incumbent.unwrap().id);
        let order: Vec<Recipe> = context.queue.iter().map(|queued| queued.recipe.clone()).take(2).collect();
        let one = |input| Recipe::Set { base: next.base, inputs: vec![input] };
        assert_eq!(order, [one(3), one(41)]);
        assert_eq!(context.queue[0].z.len(), 1);
    }

    #[test]
    fn answers_of_another_sweep_do_not_count() {
        let (mut context, singles) = swept();
        context.queue.clear();
        let mut next = singles.again(&mut context).unwrap();
        assert!(!next.told(&mut context, singles.base, 3, Some(0.0)));
        assert!(next.inputs().is_empty() && next.is_sweeping());
        assert!(!next.told(&mut context, next.base, 3, None), "a failure is no gain");
        assert!(next.inputs().is_empty());
    }

    #[test]
    fn moves_stay_in_the_cube_and_go_far() {
        for step in [0.75, 0.375] {
            for u in [0.0, 0.1, 0.3, 0.5, 0.7, 1.0] {
                let to = moved(u, step);
                assert!((0.0..=1.0).contains(&to) && (to - u).abs() >= step.min(0.5), "{u} by {step}: {to}");
            }
        }
    }
}
