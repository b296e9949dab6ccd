//! The first evaluations: points in general position, and whether there is noise.
//!
//! The centre, the all-low and the all-high corner, ten rows of a Latin hypercube in *all* inputs (whatever inputs turn out
//! to matter, the rows are a Latin hypercube in those), and the centre once more, moved by 1e-8. If the value moves by more
//! than such a step explains, the function is noisy, and `noise` says how much.
//!
//! With a crowd of workers screening does not wait for all of that: probes that move all inputs (`scattered`) are asked
//! beside it, and read as soon as the pair at the centre is back.

use super::context::{Context, Task};
use super::earlier;
use super::known::PriorKnowledge;
use super::noise::{self, MeasureNoise};
use super::phase::{Opening, Step};
use super::screening::{self, Probes, Slopes};
use super::search::Slope;
use super::tuning;
use crate::strategy::study::insight::Fact;
use crate::trial::{Recipe, TrialId};

/// What came of the first evaluations.
#[derive(Default)]
pub(super) struct Start {
    n_jobs: usize,
    n_back: usize,
    /// Values of the pair that shows the noise, as they came back.
    pair: Vec<Option<f64>>,
    /// Value at the centre.
    centre: Option<f64>,
    /// Probes for a crowd of workers.
    probes: Option<Probes>,
    /// Earlier results were dropped, and what was asked with them has one value.
    begun_anew: bool,
}

impl Start {
    /// Queues the first points.
    pub(super) fn begin(context: &mut Context) -> Start {
        let mut start = Start::default();
        start.queue_points(context);
        start
    }

    fn queue_points(&mut self, context: &mut Context) {
        context.push(Recipe::Centre, vec![], Task::Start { pair: true });
        let base = context.centre;
        context.push(Recipe::Jitter { base, balanced: false }, vec![], Task::Start { pair: true });
        match context.earlier {
            Some(_) => earlier::ask_again(context),
            None => queue_spread(context),
        }
        self.n_jobs = context.queue.len();
    }

    /// Goes on as without earlier results, of which nothing is left.
    fn begin_without(&mut self, context: &mut Context) {
        if context.counts.known < tuning::ENOUGH_KNOWN {
            queue_spread(context);
            self.begun_anew = true;
        }
        let is_of_start = |task: &Task| matches!(task, Task::Start { .. } | Task::Again(_));
        let under_way = context.pending.values().filter(|awaited| is_of_start(&awaited.task)).count();
        self.n_jobs = self.n_back + under_way + context.queue.len();
        self.begin_probes(context, context.workers >= tuning::CROWD);
    }

    /// Plans the start anew, unless something was asked already: with enough results from before, all that is left of it is
    /// the incumbent once more; else `next` is its first trial.
    pub(super) fn plan_anew(&mut self, context: &mut Context, next: TrialId) {
        if context.counts.own > 0 {
            return;
        }
        context.queue.clear();
        let has_enough = context.counts.known >= tuning::ENOUGH_KNOWN;
        match context.results.incumbent {
            Some(best) if has_enough => {
                context.centre = best.id;
                (self.pair, self.centre) = (vec![Some(best.value)], Some(best.value));
                let recipe = Recipe::Jitter { base: best.id, balanced: false };
                context.push(recipe, vec![], Task::Start { pair: true });
                earlier::ask_again(context);
                self.n_jobs = context.queue.len();
            }
            _ => {
                context.centre = next;
                self.queue_points(context);
            }
        }
    }

    pub(super) fn told(&mut self, context: &Context, id: TrialId, pair: bool, value: Option<f64>) {
        if id == context.centre {
            self.centre = value;
        }
        self.n_back += 1;
        if pair {
            self.pair.push(value);
        }
    }

    /// Begins with probes as soon as a crowd of workers shows, if they can be made here and are wanted.
    pub(super) fn notice_crowd(&mut self, context: &Context) {
        self.begin_probes(context, context.workers == tuning::CROWD);
    }

    fn begin_probes(&mut self, context: &Context, is_crowd: bool) {
        let begins = self.probes.is_none() && is_crowd;
        let is_discrete = |input: usize| context.recipes.is_discrete(input);
        let from_centre = matches!(context.recipes.recipe(context.centre), Some(Recipe::Centre));
        let is_open = context.prior == PriorKnowledge::None;
        if begins && from_centre && is_open && !(0..context.recipes.n_inputs).any(is_discrete) {
            self.probes = Some(Probes::new(context.budget));
        }
    }

    /// Whether another probe is wanted.
    pub(super) fn wants_probe(&self) -> bool {
        self.probes.as_ref().is_some_and(Probes::wants_more)
    }

    pub(super) fn probe_asked(&mut self) {
        if let Some(probes) = &mut self.probes {
            probes.asked();
        }
    }

    pub(super) fn probe_told(&mut self, context: &Context, id: TrialId, value: Option<f64>) {
        if let Some(probes) = &mut self.probes {
            probes.told(context.recipes.scatter_key(id), context.recipes.n_inputs, value);
        }
    }

    /// Goes on when most of the start is back, the pair included; earlier if the answers to probes are waiting.
    pub(super) fn settle(&mut self, context: &mut Context) -> Step {
        if self.pair.len() == 2 {
            context.noise.pair = self.pair.iter().flatten().copied().collect();
        }
        if earlier::drop_idle(context) {
            self.begin_without(context);
        }
        let values = if self.begun_anew { spread_values(context) } else { context.results.model_values() };
        // With hardly a value there is nothing to go by yet.
        if !(self.pair.len() == 2 && values.len() >= tuning::FEWEST_VALUES) {
            return Step::Stay;
        }
        if self.probes.is_some() {
            context.noise.scale = spread(&values);
            if let Some(step) = self.settle_early(context) {
                return step;
            }
            self.probes = None;
        }
        let (part, of) = tuning::START_BACK;
        let asked =
            !context.queue.iter().any(|queued| matches!(queued.task, Task::Start { .. } | Task::Again(_)));
        let is_back = of * self.n_back >= part * self.n_jobs || earlier::are_refuted(context);
        if !(asked && is_back) {
            return Step::Stay;
        }
        context.noise.scale = earlier::spread(context, spread(&values));
        if context.prior == PriorKnowledge::Given {
            return Step::Optimise(Opening::Search);
        }
        if let Some(sigma) = context.noise.sigma_of_pair() {
            context.noise.sigma = sigma;
        }
        if context.noise.sigma <= tuning::NOTICED_NOISE * context.noise.scale {
            return noise::conclude(context);
        }
        Step::Noise(MeasureNoise::begin(context))
    }

    /// The noise is known while probes from the centre are under way: they count if it does not drown them, else there is no
    /// step.
    fn settle_early(&mut self, context: &mut Context) -> Option<Step> {
        let (centre, probes) = (self.centre?, self.probes.as_mut()?);
        let scale = context.noise.scale;
        let sigma = context.noise.sigma_of_pair().filter(|sigma| *sigma <= tuning::EARLY_NOISE * scale)?;
        let step = tuning::SMALL_STEP.0;
        if context.noise.step == 0.0 {
            context.found(Fact::Noise { sd: sigma, spread: scale, step });
        }
        (context.noise.sigma, context.noise.step) = (sigma, step);
        context.counts.tests = probes.n_back();
        Some(match probes.read(context.recipes.n_inputs, centre, sigma) {
            Slopes::Open => Step::Stay,
            Slopes::None => screening::screen_all(context),
            Slopes::Of(found) => {
                let inputs: Vec<usize> = found.iter().map(|found| found.place).collect();
                let base = context.centre;
                let slopes = found.iter().map(|found| Slope {
                    input: found.place,
                    base,
                    value: centre,
                    slope: found.answer / step,
                });
                context.slopes = slopes.collect();
                context.name(&found, step, &inputs);
                Step::Optimise(Opening::RestCheck)
            }
        })
    }
}

/// Queues points in general position: corners and rows.
fn queue_spread(context: &mut Context) {
    context.push(Recipe::Low, vec![], Task::Start { pair: false });
    context.push(Recipe::High, vec![], Task::Start { pair: false });
    for row in 0..tuning::START_ROWS {
        let recipe = Recipe::Latin { batch: 0, count: tuning::START_ROWS, row };
        context.push(recipe, vec![], Task::Start { pair: false });
    }
}

/// Their values, as far as they are back.
fn spread_values(context: &Context) -> Vec<f64> {
    let is_spread =
        |id| matches!(context.recipes.recipe(id), Some(Recipe::Low | Recipe::High | Recipe::Latin { .. }));
    context.results.iter().filter(|result| is_spread(result.id)).map(|result| result.value).collect()
}

/// Distance of the quartiles; the standard deviation if that is zero.
pub(super) fn spread(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let quartile = |part: f64| {
        let at = part * (sorted.len() - 1) as f64;
        let (low, share) = (at.floor() as usize, at.fract());
        sorted[low] + share * (sorted[(low + 1).min(sorted.len() - 1)] - sorted[low])
    };
    let range = quartile(0.75) - quartile(0.25);
    let (sum, _) = noise::squares(values);
    if range > 0.0 { range } else { (sum / values.len() as f64).sqrt().max(1e-300) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategy::auto::rehearsal::{answer, context, measure};
    use crate::trial::Moves;

    /// Answers all that is queued until a step follows.
    fn run(context: &mut Context, start: &mut Start, f: impl Fn(&[f64]) -> f64) -> (Step, usize) {
        let mut n = 0;
        while !context.queue.is_empty() {
            let (id, task, value) = answer(context, &f);
            let Task::Start { pair } = task else { panic!("{task:?} is not of the start") };
            start.told(context, id, pair, Some(value));
            n += 1;
            let step = start.settle(context);
            if step != Step::Stay {
                return (step, n);
            }
        }
        (Step::Stay, n)
    }

    #[test]
    fn a_quiet_function_is_screened_from_the_incumbent() {
        let mut context = context(60);
        let mut start = Start::begin(&mut context);
        assert_eq!(context.queue.len(), 4 + tuning::START_ROWS);
        let (step, n) = run(&mut context, &mut start, |x| x[0] + x[1] * x[1]);
        assert_eq!(n, 14, "all of it is asked before anything follows");
        let best = context.results.incumbent.unwrap();
        let Step::Screen(base, moves) = step else { panic!("{step:?}") };
        assert_eq!((base.id, base.value, base.n_values, moves), (best.id, best.value, 1, Moves::Inside));
        let noise = &context.noise;
        assert!(!noise.noisy && noise.step == (noise.sigma / noise.scale).sqrt(), "{noise:?}");
    }

    #[test]
    fn a_pair_that_differs_is_repeated() {
        let mut context = context(60);
        let mut start = Start::begin(&mut context);
        // A function that shows what moves by 1e-8.
        let (step, _) = run(&mut context, &mut start, |x| x[0] + 1e6 * (x[1] - 0.5).abs().min(1e-7));
        assert_eq!(step, Step::Noise(MeasureNoise::Repeats));
        assert_eq!(context.queue.len(), 2 * tuning::REPEATS, "the centre and the best point");
        assert_eq!(context.noise.step, 0.0);
    }

    #[test]
    fn slow_workers_do_not_hold_it_up() {
        for (n_slow, goes_on) in [(1, true), (4, true), (5, false)] {
            let mut context = context(60);
            let mut start = Start::begin(&mut context);
            // Asked, and not back.
            context.queue.truncate(14 - n_slow);
            let (step, n) = run(&mut context, &mut start, |x| x[0]);
            assert_eq!((matches!(step, Step::Screen(..)), n), (goes_on, 14 - n_slow), "{step:?}");
        }
    }

    #[test]
    fn inputs_that_the_user_gave_are_searched_at_once() {
        let mut context = context(60);
        context.prior = PriorKnowledge::Given;
        let mut start = Start::begin(&mut context);
        assert_eq!(run(&mut context, &mut start, |x| x[0]).0, Step::Optimise(Opening::Search));
    }

    #[test]
    fn enough_results_from_before_leave_the_pair_alone() {
        let mut context = context(60);
        let mut start = Start::begin(&mut context);
        for n in 0..tuning::ENOUGH_KNOWN {
            measure(&mut context, Recipe::Uniform, 5.0 - n as f64 % 7.0);
            context.counts.known += 1;
            let next = TrialId(context.counts.known as u64);
            start.plan_anew(&mut context, next);
            let expected = if n + 1 < tuning::ENOUGH_KNOWN { 14 } else { 1 };
            assert_eq!(context.queue.len(), expected);
        }
        assert_eq!(context.centre, context.results.incumbent.unwrap().id);
        let (step, n) = run(&mut context, &mut start, |_| -1.0);
        assert!(n == 1 && matches!(step, Step::Screen(..)), "{step:?}");
    }

    #[test]
    fn probes_name_inputs_before_the_start_is_back() {
        let mut context = context(60);
        let mut start = Start::begin(&mut context);
        let f = |x: &[f64]| 2.0 * x[7] - x[30];
        for _ in 0..6 {
            let (id, task, value) = answer(&mut context, f);
            start.told(&context, id, matches!(task, Task::Start { pair: true }), Some(value));
        }
        context.workers = tuning::CROWD;
        start.notice_crowd(&context);
        let mut step = Step::Stay;
        while step == Step::Stay {
            assert!(start.wants_probe());
            start.probe_asked();
            let recipe = Recipe::Scatter { base: context.centre, step: tuning::SMALL_STEP.0 };
            context.queue.push_front(crate::strategy::auto::context::Queued {
                recipe,
                z: vec![],
                task: Task::Scatter,
            });
            let (id, _, value) = answer(&mut context, f);
            start.probe_told(&context, id, Some(value));
            step = start.settle(&mut context);
        }
        assert_eq!((step, context.named_inputs()), (Step::Optimise(Opening::RestCheck), vec![7, 30]));
        assert!(context.slopes.iter().any(|slope| (slope.slope - 2.0).abs() < 1e-6));
    }
}
