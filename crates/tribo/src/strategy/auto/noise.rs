//! How noisy values are, and with much noise the point to depart from.
//!
//! Where the pair of the start differs, the centre and the best point are repeated twice each to say how much. One pair can be
//! alike by chance, so screening asks once more if no group of inputs is silent. With much noise more rows follow, unless a
//! point stands out of it at once.
//!
//! The lowest value may be luck, so the lowest few points are evaluated twice again and compared by these repeats alone.
//! A best one that stands out by 15 standard deviations, or by 9 where the noise is moderate, is screened from: a far move
//! then shows inputs that have a part of that effect, and the names are worth their some sixty evaluations. Otherwise bins
//! around the best one are searched, and they move on: after 40 results the lowest two points are repeated, and new bins
//! are drawn around the best of all repeated ones. In bins inputs can only go where their company goes, and every draw
//! gives them another one.
//!
//! Hartmann-6 in 1,000 inputs after 200 evaluations, noise of 10 % of its depth, mean of 100 runs: -3.02 with bins that
//! move on, -2.76 with bins that stay, -2.88 if a point is screened from that stands out by 6 standard deviations.

use super::context::{Context, Measured, Task};
use super::known;
use super::phase::Step;
use super::screening::{self, Base};
use super::tuning;
use crate::strategy::study::insight::Fact;
use crate::trial::{Recipe, TrialId};

/// What is known about the noise.
#[derive(Debug, Clone, Default)]
pub(super) struct NoiseLevel {
    /// Standard deviation of a value.
    pub(super) sigma: f64,
    /// Spread of the first values.
    pub(super) scale: f64,
    /// Whether small steps are lost in it.
    pub(super) noisy: bool,
    /// Step of screening; zero until the noise is known.
    pub(super) step: f64,
    /// Values of the pair of the start.
    pub(super) pair: Vec<f64>,
    /// Median of the values there were when much noise was noticed.
    pub(super) median: f64,
}

impl NoiseLevel {
    /// The standard deviation, from the pair alone.
    pub(super) fn sigma_of_pair(&self) -> Option<f64> {
        match self.pair[..] {
            [a, b] => Some((a - b).abs() / std::f64::consts::SQRT_2),
            _ => None,
        }
    }

    /// By how many standard deviations a value is below the median.
    pub(super) fn deviations(&self, value: f64) -> f64 {
        (self.median - value) / self.sigma
    }
}

/// Points that were evaluated again.
#[derive(Default)]
pub(super) struct Repeats {
    slots: Vec<Slot>,
}

/// A point that is evaluated again.
struct Slot {
    point: TrialId,
    values: Vec<f64>,
    left: usize,
}

impl Slot {
    fn mean(&self) -> f64 {
        self.values.iter().sum::<f64>() / self.values.len() as f64
    }
}

impl Repeats {
    /// Whether no point was repeated yet.
    pub(super) fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Whether some are not back.
    pub(super) fn is_waiting(&self) -> bool {
        self.slots.iter().any(|slot| slot.left > 0)
    }

    /// Values of the first and the second point repeated.
    fn first_two(&self) -> (&[f64], &[f64]) {
        let values = |slot: usize| self.slots.get(slot).map_or(&[][..], |slot| &slot.values);
        (values(0), values(1))
    }

    /// Whether rows are among them, after the centre and the first best point.
    fn has_rows(&self) -> bool {
        self.slots.len() > 2
    }

    pub(super) fn told(&mut self, slot: usize, value: Option<f64>) {
        let slot = &mut self.slots[slot];
        slot.left -= 1;
        slot.values.extend(value);
    }

    /// The best point, by the repeats alone, and its mean.
    pub(super) fn best(&self) -> Option<(TrialId, f64)> {
        let known = self.slots.iter().filter(|slot| !slot.values.is_empty());
        known.min_by(|a, b| a.mean().total_cmp(&b.mean())).map(|slot| (slot.point, slot.mean()))
    }
}

/// The phase that waits for what tells how noisy values are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum MeasureNoise {
    /// For repeats of the centre and the best point.
    Repeats,
    /// With much noise: for more rows, so many of which are out, and then for repeats of the best of them.
    Rows { left: usize },
}

impl MeasureNoise {
    /// Repeats the centre and the best point before anything else.
    pub(super) fn begin(context: &mut Context) -> MeasureNoise {
        context.noise.step = 0.0;
        for point in [context.centre, context.incumbent_or_centre()] {
            repeat(context, point);
        }
        MeasureNoise::Repeats
    }

    fn rows(context: &mut Context) -> MeasureNoise {
        let count = tuning::MORE_ROWS;
        for row in 0..count {
            context.push(Recipe::Latin { batch: 1, count, row }, vec![], Task::Row);
        }
        MeasureNoise::Rows { left: count }
    }

    /// One of the rows is back.
    pub(super) fn row_told(&mut self) {
        if let MeasureNoise::Rows { left } = self {
            *left -= 1;
        }
    }

    /// Goes on when all that was waited for is back.
    pub(super) fn settle(&mut self, context: &mut Context) -> Step {
        if context.repeats.is_waiting() {
            return Step::Stay;
        }
        match self {
            MeasureNoise::Repeats => {
                let (at_centre, at_best) = context.repeats.first_two();
                let centre = [&context.noise.pair[..], at_centre].concat();
                let (a, df_a) = squares(&centre);
                let (b, df_b) = squares(at_best);
                if df_a + df_b > 0.0 {
                    context.noise.sigma = tuning::FEW_REPEATS * ((a + b) / (df_a + df_b)).sqrt();
                }
                conclude(context)
            }
            MeasureNoise::Rows { left: 0 } => {
                if !context.repeats.has_rows() {
                    repeat_lowest(context, tuning::REPEATED_FIRST);
                }
                if context.repeats.is_waiting() { Step::Stay } else { stand_out(context) }
            }
            MeasureNoise::Rows { .. } => Step::Stay,
        }
    }
}

/// The noise is known: how far steps go, and what follows.
pub(super) fn conclude(context: &mut Context) -> Step {
    let relative = context.noise.sigma / context.noise.scale;
    let noisy = relative > tuning::MUCH_NOISE;
    let (least, most) = tuning::SMALL_STEP;
    context.noise.noisy = noisy;
    context.noise.step = if noisy { tuning::LARGE_STEP } else { relative.sqrt().clamp(least, most) };
    let NoiseLevel { sigma, scale, step, .. } = context.noise;
    context.found(Fact::Noise { sd: sigma, spread: scale, step });
    if let Some(step) = known::follow_hint(context) {
        return step;
    }
    if !noisy {
        return screening::screen_all(context);
    }
    let mut values: Vec<f64> = context.results.iter().map(|result| result.value).collect();
    values.sort_by(f64::total_cmp);
    context.noise.median = values[values.len() / 2];
    match screen_from_repeated(context) {
        Some(step) => step,
        None => Step::Noise(MeasureNoise::rows(context)),
    }
}

/// Screens from a point that stands out; without one, searches bins around the best.
fn stand_out(context: &mut Context) -> Step {
    if let Some(step) = screen_from_repeated(context) {
        return step;
    }
    context.found(Fact::NothingStandsOut);
    Step::Dense
}

/// Screens from the best of the repeated points if it stands out of the noise.
fn screen_from_repeated(context: &mut Context) -> Option<Step> {
    let (id, value) = context.repeats.best()?;
    let deviations = context.noise.deviations(value);
    let moderate = context.noise.sigma <= tuning::MODERATE_NOISE * context.noise.scale;
    if deviations <= if moderate { tuning::STAND_OUT.0 } else { tuning::STAND_OUT.1 } {
        return None;
    }
    context.found(Fact::StandsOut { deviations });
    Some(screening::screen_from(context, Base { id, value, n_values: tuning::REPEATS }))
}

/// Evaluates a point twice more.
fn repeat(context: &mut Context, point: TrialId) {
    let slot = context.repeats.slots.len();
    context.repeats.slots.push(Slot { point, values: vec![], left: tuning::REPEATS });
    for _ in 0..tuning::REPEATS {
        context.push(Recipe::Jitter { base: point, balanced: false }, vec![], Task::Repeat(slot));
    }
}

/// Repeats the lowest points that were not repeated yet.
pub(super) fn repeat_lowest(context: &mut Context, count: usize) {
    let tried = |id: TrialId| context.repeats.slots.iter().any(|slot| slot.point == id);
    let is_repeat = |id: TrialId| matches!(context.recipes.recipe(id), Some(Recipe::Jitter { .. }));
    let rows = context.results.iter().filter(|result| result.in_model);
    let mut rows: Vec<Measured> =
        rows.filter(|result| !tried(result.id) && !is_repeat(result.id)).copied().collect();
    rows.sort_by(|a, b| a.value.total_cmp(&b.value));
    rows.iter().take(count).for_each(|row| repeat(context, row.id));
}

/// Sum of squared deviations, and its degrees of freedom.
pub(super) fn squares(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n.max(1.0);
    (values.iter().map(|value| (value - mean).powi(2)).sum(), (n - 1.0).max(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategy::auto::rehearsal::{answer, context, measure};
    use crate::trial::Moves;

    /// A context of noisy values: a spread of 1, the centre at 0, one low point.
    fn noisy(lowest: f64) -> Context {
        let mut context = context(60);
        context.centre = measure(&mut context, Recipe::Centre, 0.0);
        for n in 0..12 {
            measure(&mut context, Recipe::Uniform, f64::from(n) / 8.0);
        }
        measure(&mut context, Recipe::Uniform, lowest);
        (context.noise.scale, context.noise.pair) = (1.0, vec![0.0, 0.1]);
        context
    }

    /// Answers what is queued, by number of the answer, until a step follows.
    fn run(context: &mut Context, phase: &mut MeasureNoise, value: impl Fn(usize) -> f64) -> Step {
        for n in 0.. {
            let value = value(n);
            match answer(context, |_| value).1 {
                Task::Repeat(slot) => context.repeats.told(slot, Some(value)),
                Task::Row => phase.row_told(),
                task => panic!("{task:?}"),
            }
            let step = phase.settle(context);
            if step != Step::Stay {
                return step;
            }
        }
        unreachable!()
    }

    #[test]
    fn little_noise_makes_steps_longer() {
        let mut context = noisy(-1.0);
        let mut phase = MeasureNoise::begin(&mut context);
        context.noise.pair = vec![0.0, 1e-4];
        let step = run(&mut context, &mut phase, |n| if n < 2 { 1e-4 } else { -1.0 });
        assert!(matches!(step, Step::Screen(_, Moves::Inside)), "{step:?}");
        assert!(context.noise.step > tuning::SMALL_STEP.0 && !context.noise.noisy, "{:?}", context.noise);
    }

    #[test]
    fn a_point_that_stands_out_is_screened_from() {
        let mut context = noisy(-9.0);
        let low = context.results.incumbent.unwrap().id;
        let mut phase = MeasureNoise::begin(&mut context);
        let step = run(&mut context, &mut phase, |n| [0.05, -0.05, -8.9, -9.0][n]);
        let Step::Screen(base, Moves::Far) = step else { panic!("{step:?}") };
        assert_eq!((base.id, base.n_values), (low, tuning::REPEATS));
        assert!((base.value + 8.95).abs() < 1e-12, "the mean of the repeats, not the lucky value");
    }

    #[test]
    fn without_one_rows_follow_and_then_bins() {
        let mut context = noisy(-0.5);
        let mut phase = MeasureNoise::begin(&mut context);
        let step = run(&mut context, &mut phase, |n| [0.3, -0.3, 0.4, -0.2][n]);
        assert_eq!(step, Step::Noise(MeasureNoise::Rows { left: tuning::MORE_ROWS }));
        let Step::Noise(mut phase) = step else { unreachable!() };
        assert_eq!(context.queue.len(), tuning::MORE_ROWS);
        let before = context.results.len();
        assert_eq!(run(&mut context, &mut phase, |n| 0.1 * (n % 7) as f64), Step::Dense);
        let n_repeats = tuning::REPEATED_FIRST * tuning::REPEATS;
        assert_eq!(context.results.len() - before, tuning::MORE_ROWS + n_repeats);
        assert_eq!(context.findings.last().unwrap().fact, Fact::NothingStandsOut);
    }
}
