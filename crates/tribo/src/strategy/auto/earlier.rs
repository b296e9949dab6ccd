//! Rows of earlier results (`Digest`), and whether they are of the same function.
//!
//! They are hints and not results: nobody here measured them, the function may have changed since, and what other inputs did
//! then is noise. The search sees them from its first proposal on. The start asks the most promising few again, and with
//! their answers it is judged:
//!
//! - They are the same, up to the noise: the rows stay for good.
//! - They are roughly the same, by the median of the differences beside the spread of the earlier values: the rows stay
//!   until the search has results of its own, as slopes do. A model that has to pass through both would not come to a point.
//! - They are not: the rows are dropped. The inputs stay named until each is checked, and the others are screened meanwhile.
//! - They are not, and all the same though the named inputs differ: those are not inputs of this function. Names go with the rows, and
//!   the study begins as one without. Two answers say so, and nobody waits for the others.

use super::context::{Context, Task};
use super::phase::Opening;
use super::{known, tuning};
use crate::strategy::digest::Digest;
use crate::strategy::engine::Hint;
use crate::strategy::study::insight::Fact;
use crate::trial::Recipe;

/// Earlier results in the inputs that they name.
#[derive(Debug, Clone)]
pub(super) struct EarlierRows {
    /// In increasing order.
    pub(super) inputs: Vec<usize>,
    pub(super) points: Vec<Vec<f64>>,
    pub(super) values: Vec<f64>,
    /// What rows were when they were asked again, the first ones.
    again: Vec<Option<f64>>,
    trust: Trust,
    /// Distance of the quartiles of rows that were not picked for their values.
    spread: f64,
}

/// How far the rows are believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trust {
    /// Nothing was asked again yet.
    Open,
    /// The same function.
    Same,
    /// Roughly so.
    Rough,
}

/// Whether earlier results are taken: nothing was asked, and nothing else is known about the inputs.
pub(super) fn are_taken(context: &Context) -> bool {
    context.prior == known::PriorKnowledge::None && context.counts.own == 0
}

/// Takes earlier results; whether they are of any use.
pub(super) fn recall(context: &mut Context, digest: &Digest) -> bool {
    if !are_taken(context) || digest.inputs.is_empty() || digest.points.is_empty() {
        return false;
    }
    known::take_hint(context, Hint::Named(digest.inputs.clone()));
    let (rows, named) = (digest.n_rows, digest.inputs.len());
    context.found(Fact::Recalled { rows, named, explained: digest.explained });
    let any = digest.values.get(digest.n_promising..).filter(|any| any.len() >= tuning::FEWEST_VALUES);
    context.earlier = Some(EarlierRows {
        inputs: digest.inputs.clone(),
        points: digest.points.clone(),
        values: digest.values.clone(),
        again: vec![None; digest.n_promising.min(digest.points.len()).min(tuning::ASKED_AGAIN)],
        trust: Trust::Open,
        spread: super::start::spread(any.unwrap_or(&digest.values)),
    });
    true
}

/// Queues the rows that are asked again, with the other inputs as in the centre of the start.
pub(super) fn ask_again(context: &mut Context) {
    let Some(rows) = &context.earlier else { return };
    let (inputs, base) = (rows.inputs.clone(), context.centre);
    let points: Vec<Vec<f64>> = rows.points[..rows.again.len()].to_vec();
    for (row, z) in points.into_iter().enumerate() {
        let recipe = Recipe::Set { base, inputs: inputs.clone() };
        context.push(recipe, z, Task::Again(row));
    }
}

/// Takes the answer of a row that was asked again.
pub(super) fn told(context: &mut Context, row: usize, value: Option<f64>) {
    if let Some(again) = context.earlier.as_mut().and_then(|rows| rows.again.get_mut(row)) {
        *again = value;
    }
}

/// The spread of the first values: those of earlier results count, if there are any.
pub(super) fn spread(context: &Context, own: f64) -> f64 {
    context.earlier.as_ref().map_or(own, |rows| rows.spread.max(own))
}

/// Judges the rows by what was asked again, and says what the search begins with.
pub(super) fn judge(context: &mut Context) -> Opening {
    let Some(rows) = &mut context.earlier else { return Opening::Checks };
    let (asked, difference) = rows.differ();
    let spread = rows.spread;
    let same = (tuning::SAME_DEVIATIONS * context.noise.sigma).max(tuning::SAME_AS_BEFORE * spread);
    rows.trust = if difference <= same { Trust::Same } else { Trust::Rough };
    let kept = difference <= same.max(tuning::ROUGHLY_AS_BEFORE * spread);
    if !kept {
        context.earlier = None;
    }
    context.found(Fact::AskedAgain { asked, difference, spread, kept });
    if kept { Opening::RestCheck } else { Opening::ChecksAndScreen }
}

/// Whether enough answers are back to say that the rows are of another function, so that nobody waits for the others.
pub(super) fn are_refuted(context: &Context) -> bool {
    let Some(rows) = &context.earlier else { return false };
    let noise = tuning::SAME_DEVIATIONS * context.noise.sigma_of_pair().unwrap_or(f64::INFINITY);
    let (asked, difference) = rows.differ();
    asked >= tuning::REFUTED_BY && difference > noise.max(tuning::ROUGHLY_AS_BEFORE * rows.spread)
}

/// Drops rows and names if the answers so far show neither the earlier values nor any other effect of the named inputs; whether
/// it did.
pub(super) fn drop_idle(context: &mut Context) -> bool {
    let Some(rows) = context.earlier.as_ref().filter(|rows| rows.trust == Trust::Open) else { return false };
    let (asked, difference) = rows.differ();
    let spread = rows.spread;
    // Answers that are equal to the last digits have no noise, whatever the pair is going to say.
    let sigma = context.noise.sigma_of_pair().unwrap_or(0.0);
    let nothing = (tuning::SAME_DEVIATIONS * sigma).max(tuning::SAME_AS_BEFORE * spread);
    let answers: Vec<f64> = rows.again.iter().flatten().copied().collect();
    let moves = answers.iter().any(|answer| (answer - answers[0]).abs() > nothing);
    if asked < tuning::IDLE_BY || moves || difference <= nothing.max(tuning::ROUGHLY_AS_BEFORE * spread) {
        return false;
    }
    context.earlier = None;
    context.named.clear();
    context.prior = known::PriorKnowledge::None;
    context.queue.retain(|queued| !matches!(queued.task, Task::Again(_)));
    context.found(Fact::AskedAgain { asked, difference, spread, kept: false });
    true
}

/// Drops rows that are roughly right, once the search has results of its own.
pub(super) fn drop_rough(context: &mut Context) {
    let Some(rows) = &context.earlier else { return };
    let enough = tuning::SLOPES_UNTIL + tuning::OWN_EACH * rows.inputs.len();
    if rows.trust == Trust::Rough && context.counts.searched >= enough {
        context.earlier = None;
    }
}

impl EarlierRows {
    /// How many rows were asked again and answered, and the median of the differences; infinite if there is none.
    fn differ(&self) -> (usize, f64) {
        let pairs = self.again.iter().zip(&self.values);
        let mut apart: Vec<f64> = pairs.filter_map(|(new, old)| Some((new.as_ref()? - old).abs())).collect();
        apart.sort_by(f64::total_cmp);
        (apart.len(), apart.get(apart.len() / 2).copied().unwrap_or(f64::INFINITY))
    }

    /// Whether all of these inputs are named by the rows, so that a model of them can see the rows.
    pub(super) fn are_in(&self, inputs: &[usize]) -> bool {
        inputs.iter().all(|input| self.inputs.binary_search(input).is_ok())
    }

    /// Which rows there are: those asked again count as results once they were judged.
    pub(super) fn first(&self) -> usize {
        if self.trust == Trust::Open { 0 } else { self.again.len() }
    }

    /// The coordinates of these inputs at a row.
    pub(super) fn at(&self, context: &Context, row: usize, inputs: &[usize]) -> Vec<f64> {
        let mut out = Vec::with_capacity(inputs.len());
        let mut from = 0;
        for input in &self.inputs {
            let width = context.recipes.width(&[*input]);
            if inputs.binary_search(input).is_ok() {
                out.extend_from_slice(&self.points[row][from..from + width]);
            }
            from += width;
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategy::auto::rehearsal::context;

    /// A context with rows of two inputs, some of which were asked again.
    fn asked_again(again: &[f64]) -> Context {
        let mut context = context(60);
        let points: Vec<Vec<f64>> = (0..20).map(|row| vec![0.05 * row as f64, 0.5]).collect();
        let digest = Digest {
            n_rows: 1_000,
            inputs: vec![3, 9],
            log_chances: vec![-40.0; 2],
            explained: 0.9,
            values: (0..20).map(f64::from).collect(),
            points,
            n_promising: 8,
        };
        assert!(are_taken(&context) && recall(&mut context, &digest) && !are_taken(&context));
        again.iter().enumerate().for_each(|(row, value)| told(&mut context, row, Some(*value)));
        context
    }

    #[test]
    fn two_equal_answers_far_from_before_are_no_effect_of_the_inputs() {
        let mut context = asked_again(&[50.0, 50.0]);
        assert!(drop_idle(&mut context) && !drop_idle(&mut context));
        assert!(context.earlier.is_none() && context.named.is_empty() && are_taken(&context));
        // Under noise they are equal up to it.
        let mut context = asked_again(&[50.0, 50.2, 49.9]);
        assert!(!drop_idle(&mut context));
        context.noise.pair = vec![50.0, 50.3];
        assert!(drop_idle(&mut context));
    }

    #[test]
    fn an_effect_or_the_earlier_values_speak_for_the_names() {
        for again in [&[50.0][..], &[50.0, 60.0], &[0.0, 1.0], &[1.0, 1.0]] {
            let mut context = asked_again(again);
            assert!(!drop_idle(&mut context), "{again:?}");
            assert_eq!(context.named_inputs(), [3, 9]);
        }
    }
}
