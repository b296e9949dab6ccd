//! The first evaluations: points in general position, and how much noise there is.
//!
//! The centre, the all-low and the all-high corner, ten rows of a Latin hypercube in *all* inputs (whatever inputs turn out
//! to matter, the rows are a Latin hypercube in those), and the centre once more, moved by 1e-8. If the value moves by more
//! than such a step explains, the function is noisy: the centre and the best point are repeated twice each to say how much.
//! One pair can be alike by chance, so screening asks once more if no group of inputs is silent.
//! With much noise more rows follow, unless a point stands out of it at once (`base`).

use super::{ActiveInput, Auto, Fact, Job, Phase, Task, tuning};
use crate::error::Result;
use crate::trial::{Recipe, TrialId};

/// What came of the first evaluations.
#[derive(Default)]
pub(super) struct Start {
    n_jobs: usize,
    n_back: usize,
    pair: Vec<Option<f64>>,
    /// Value at the centre.
    centre: Option<f64>,
    /// More rows that are not back.
    more_left: usize,
    /// The middle of the first values.
    pub(super) middle: f64,
}

/// What is known about the noise.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Noise {
    /// Standard deviation of a value.
    pub(super) sigma: f64,
    /// Spread of the first values.
    pub(super) scale: f64,
    /// Whether small steps are lost in it.
    pub(super) noisy: bool,
    /// Step of screening.
    pub(super) step: f64,
}

impl Auto {
    pub(super) fn push(&mut self, recipe: Recipe, z: Vec<f64>, task: Task) {
        self.queue.push_back(Job { recipe, z, task });
    }

    pub(super) fn queue_start(&mut self) {
        self.push(Recipe::Centre, vec![], Task::Start { pair: true });
        let base = self.centre;
        self.push(Recipe::Jitter { base, balanced: false }, vec![], Task::Start { pair: true });
        self.push(Recipe::Low, vec![], Task::Start { pair: false });
        self.push(Recipe::High, vec![], Task::Start { pair: false });
        for row in 0..tuning::START_ROWS {
            let recipe = Recipe::Latin { batch: 0, count: tuning::START_ROWS, row };
            self.push(recipe, vec![], Task::Start { pair: false });
        }
        self.start.n_jobs = self.queue.len();
    }

    /// A start from a point whose value is known: that point once more.
    pub(super) fn queue_pair(&mut self, value: f64) {
        (self.start.pair, self.start.centre) = (vec![Some(value)], Some(value));
        let base = self.centre;
        self.push(Recipe::Jitter { base, balanced: false }, vec![], Task::Start { pair: true });
        self.start.n_jobs = self.queue.len();
    }

    /// The user knows which inputs matter: they are optimised as soon as there are first points.
    pub(super) fn take_given(&mut self, given: Vec<usize>) {
        for input in given {
            let name = self.points.name(input);
            self.named.push(ActiveInput { name, input, evidence: None });
        }
    }

    pub(super) fn start_told(&mut self, id: TrialId, pair: bool, value: Option<f64>) {
        if id == self.centre {
            self.start.centre = value;
        }
        self.start.n_back += 1;
        if pair {
            self.start.pair.push(value);
        }
    }

    /// Goes on when most of the start is back, the pair included; earlier if the answers to tests are waiting.
    pub(super) fn start_settled(&mut self) -> Result<()> {
        let asked = !self.queue.iter().any(|job| matches!(job.task, Task::Start { .. }));
        let enough =
            asked && tuning::START_BACK.1 * self.start.n_back >= tuning::START_BACK.0 * self.start.n_jobs;
        let values: Vec<f64> =
            self.results.iter().filter(|result| result.in_model).map(|result| result.value).collect();
        // With hardly a value there is nothing to go by yet.
        if !(self.start.pair.len() == 2 && values.len() >= tuning::FEWEST_VALUES) {
            return Ok(());
        }
        if self.scatter.is_some() {
            return self.early_settled(&values);
        }
        if !enough {
            return Ok(());
        }
        self.noise.scale = spread(&values);
        if self.is_given {
            self.phase = Phase::Optimise;
            return Ok(());
        }
        let pair: Vec<f64> = self.start.pair.iter().flatten().copied().collect();
        if let [a, b] = pair[..] {
            self.noise.sigma = (a - b).abs() / std::f64::consts::SQRT_2;
        }
        if self.noise.sigma <= tuning::NOTICED_NOISE * self.noise.scale {
            return self.noise_known();
        }
        self.measure_noise();
        Ok(())
    }

    /// Repeats the centre and the best point before anything else.
    pub(super) fn measure_noise(&mut self) {
        self.phase = Phase::Wait;
        self.noise.step = 0.0;
        let best = self.best.map_or(self.centre, |at| self.results[at].id);
        for point in [self.centre, best] {
            self.repeat(point);
        }
    }

    /// The noise is known while probes from the centre are under way: they count if it does not drown them.
    fn early_settled(&mut self, values: &[f64]) -> Result<()> {
        self.noise.scale = spread(values);
        let pair: Vec<f64> = self.start.pair.iter().flatten().copied().collect();
        if let ([a, b], Some(centre)) = (&pair[..], self.start.centre) {
            let sigma = (a - b).abs() / std::f64::consts::SQRT_2;
            if sigma <= tuning::EARLY_NOISE * self.noise.scale {
                if self.noise.step == 0.0 {
                    self.found(Fact::Noise {
                        sd: sigma,
                        spread: self.noise.scale,
                        step: tuning::SMALL_STEP.0,
                    });
                }
                (self.noise.sigma, self.noise.step) = (sigma, tuning::SMALL_STEP.0);
                return self.scatter_settled(centre);
            }
        }
        self.scatter = None;
        self.start_settled()
    }

    /// Goes on when all that was waited for is back.
    pub(super) fn wait_settled(&mut self) -> Result<()> {
        if self.repeats.is_empty() || self.repeats.is_waiting() || self.start.more_left > 0 {
            return Ok(());
        }
        if self.noise.step > 0.0 {
            // More rows are back, or the repeats of the best of them.
            if !self.repeats.has_rows() {
                self.repeat_rows();
            }
            return if self.repeats.is_waiting() { Ok(()) } else { self.stand_out() };
        }
        let (at_centre, at_best) = self.repeats.first_two();
        let mut centre: Vec<f64> = self.start.pair.iter().flatten().copied().collect();
        centre.extend(at_centre);
        let (a, df_a) = squares(&centre);
        let (b, df_b) = squares(at_best);
        if df_a + df_b > 0.0 {
            self.noise.sigma = tuning::FEW_REPEATS * ((a + b) / (df_a + df_b)).sqrt();
        }
        self.noise_known()
    }

    fn noise_known(&mut self) -> Result<()> {
        let relative = self.noise.sigma / self.noise.scale;
        self.noise.noisy = relative > tuning::MUCH_NOISE;
        self.noise.step = if self.noise.noisy {
            tuning::LARGE_STEP
        } else {
            relative.sqrt().clamp(tuning::SMALL_STEP.0, tuning::SMALL_STEP.1)
        };
        let Noise { sigma, scale, noisy, step } = self.noise;
        self.found(Fact::Noise { sd: sigma, spread: scale, step });
        if self.follow_hint()? {
            return Ok(());
        }
        if !noisy {
            return self.screen_all();
        }
        let mut values: Vec<f64> = self.results.iter().map(|result| result.value).collect();
        values.sort_by(f64::total_cmp);
        self.start.middle = values[values.len() / 2];
        if self.screen_from_repeated()? {
            return Ok(());
        }
        self.phase = Phase::Wait;
        self.start.more_left = tuning::MORE_ROWS;
        for row in 0..tuning::MORE_ROWS {
            self.push(Recipe::Latin { batch: 1, count: tuning::MORE_ROWS, row }, vec![], Task::More);
        }
        Ok(())
    }

    pub(super) fn more_told(&mut self) {
        self.start.more_left -= 1;
    }

    /// Screens from a point that stands out; without one, searches bins around the best.
    fn stand_out(&mut self) -> Result<()> {
        if self.screen_from_repeated()? {
            return Ok(());
        }
        self.found(Fact::NothingStandsOut);
        self.go_dense()
    }
}

/// Sum of squared deviations, and its degrees of freedom.
fn squares(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n.max(1.0);
    (values.iter().map(|value| (value - mean).powi(2)).sum(), (n - 1.0).max(0.0))
}

/// Distance of the quartiles; the standard deviation if that is zero.
fn spread(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let quartile = |part: f64| {
        let at = part * (sorted.len() - 1) as f64;
        let (low, share) = (at.floor() as usize, at.fract());
        sorted[low] + share * (sorted[(low + 1).min(sorted.len() - 1)] - sorted[low])
    };
    let range = quartile(0.75) - quartile(0.25);
    let (sum, _) = squares(values);
    if range > 0.0 { range } else { (sum / values.len() as f64).sqrt().max(1e-300) }
}
