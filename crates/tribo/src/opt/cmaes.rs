//! CMA-ES in a box: minimisation without gradients by sampling from an adapting normal law.
//!
//! In units of the box sides, a generation of λ points is u ~ N(m, σ² C); the better half, of weights w and
//! with steps y = (u - m)/σ, moves the law (`[@hansen2016, figure 6 and table 1]`, positive weights only):
//!
//! ```text
//! m  <- m + σ ȳ,                           ȳ = Σ wᵢ yᵢ over the μ best
//! pσ <- (1 - cσ) pσ + √(cσ(2 - cσ) μw) C^(-1/2) ȳ,    σ <- σ exp((cσ/dσ)(|pσ|/E|N(0,I)| - 1))
//! pc <- (1 - cc) pc + h √(cc(2 - cc) μw) ȳ
//! C  <- (1 - c₁ - cμ + c₁(1 - h) cc(2 - cc)) C + c₁ pc pcᵀ + cμ Σ wᵢ yᵢ yᵢᵀ
//! ```
//!
//! A draw outside the box is clipped, and the clipped point is what the law learns from. Clipping rather than
//! reflection or drawing again, because optima on faces and corners, common in acquisitions, are then hit
//! exactly; learning from the clipped step keeps m in the box and σ from growing against a wall.
//!
//! What is kept of C is one of two: all of it (`full`), which turns with the function, or its diagonal (`separable`),
//! which learns faster and is all that many inputs allow.
//!
//! Cost: O(λ d²) a generation, and an O(d³) eigendecomposition every 1/(10 d (c₁ + cμ)) generations; with the
//! diagonal O(λ d), in time and in memory.
//! Not here: restarts with larger populations, negative weights (clipped points make poor bad examples).

mod full;
mod separable;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use full::Full;
use separable::Separable;

use super::{Status, Stop, check_box, in_range};
use crate::error::{Error, Result};
use crate::rng::Stream;

/// Stop when steps have shrunk to this share of the first ones, or recent values agree to this
/// `[@hansen2016, B.3]`.
const STEP_TOLERANCE: f64 = 1e-12;
const VALUE_TOLERANCE: f64 = 1e-12;
/// Eigenvalues of C below this share of the largest are raised to it (`[@hansen2016]` stops at this
/// condition).
const SMALLEST_EIGENVALUE: f64 = 1e-14;

/// Size of a generation and of the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CmaesOptions {
    /// Points per generation, at least 4; None for 4 + ⌊3 ln d⌋. More help on rugged functions.
    pub population: Option<usize>,
    /// No generation begins that would pass this many evaluations; the first is always granted.
    pub max_evaluations: usize,
}

/// The learning rates, fixed by d and λ.
#[derive(Debug, Clone)]
struct Rates {
    population: usize,
    weights: Vec<f64>,
    mu_w: f64,
    c_sigma: f64,
    d_sigma: f64,
    c_c: f64,
    c_1: f64,
    c_mu: f64,
    /// E|N(0, I)|.
    norm: f64,
}

/// What is kept of C.
#[derive(Debug, Clone)]
enum Law {
    Full(Full),
    Separable(Separable),
}

/// What a generation teaches C; `kept` is the share of the old one.
struct Lesson<'a> {
    kept: f64,
    c_1: f64,
    path: &'a [f64],
    c_mu: f64,
    weights: &'a [f64],
    /// The steps y of the μ best, best first.
    steps: Vec<&'a [f64]>,
}

/// One minimisation. Loop: evaluate all of [`Cmaes::ask`], [`Cmaes::tell`] the values, until it stops.
#[derive(Debug, Clone)]
pub struct Cmaes {
    low: Vec<f64>,
    high: Vec<f64>,
    options: CmaesOptions,
    stream: Stream,
    rates: Rates,
    mean: Vec<f64>,
    sigma: f64,
    first_sigma: f64,
    law: Law,
    path_sigma: Vec<f64>,
    path_c: Vec<f64>,
    generation: usize,
    recent: VecDeque<f64>,
    /// The generation, in box units and as asked.
    cube: Vec<Vec<f64>>,
    points: Vec<Vec<f64>>,
    best: (Vec<f64>, f64),
    evaluations: usize,
    status: Status,
}

impl Cmaes {
    /// A run from `start` (projected into the finite box [low, high]) with steps of about `sigma` times the
    /// box sides; a third of the way to the expected optimum is usual, 0.3 if nothing is known.
    pub fn new(
        start: &[f64],
        sigma: f64,
        low: &[f64],
        high: &[f64],
        options: CmaesOptions,
        stream: Stream,
    ) -> Result<Cmaes> {
        Cmaes::begin(start, sigma, low, high, options, stream, false)
    }

    /// The same with a diagonal C: linear in the number of inputs, and the better choice when they act each on its own
    /// or are more than a few hundred. It cannot follow a narrow valley that is oblique to the axes.
    pub fn separable(
        start: &[f64],
        sigma: f64,
        low: &[f64],
        high: &[f64],
        options: CmaesOptions,
        stream: Stream,
    ) -> Result<Cmaes> {
        Cmaes::begin(start, sigma, low, high, options, stream, true)
    }

    fn begin(
        start: &[f64],
        sigma: f64,
        low: &[f64],
        high: &[f64],
        options: CmaesOptions,
        stream: Stream,
        is_diagonal: bool,
    ) -> Result<Cmaes> {
        check(start, sigma, low, high, &options)?;
        let d = start.len();
        let population = options.population.unwrap_or(4 + (3.0 * (d as f64).ln()) as usize);
        let mut rates = Rates::new(d, population);
        let law = match is_diagonal {
            false => Law::Full(Full::new(d, &rates)),
            true => {
                rates.hasten(separable::haste(d));
                Law::Separable(Separable::new(d))
            }
        };
        let mean = (0..d).map(|i| ((start[i] - low[i]) / (high[i] - low[i])).clamp(0.0, 1.0)).collect();
        let mut run = Cmaes {
            low: low.to_vec(),
            high: high.to_vec(),
            options,
            stream,
            rates,
            mean,
            sigma,
            first_sigma: sigma,
            law,
            path_sigma: vec![0.0; d],
            path_c: vec![0.0; d],
            generation: 0,
            recent: VecDeque::new(),
            cube: vec![vec![0.0; d]; population],
            points: vec![vec![0.0; d]; population],
            best: (Vec::new(), f64::INFINITY),
            evaluations: 0,
            status: Status::Continue,
        };
        run.best.0 = run.place(&run.mean);
        run.sample();
        Ok(run)
    }

    /// The points to evaluate next; all in the box. Asking again without telling gives the same points.
    pub fn ask(&self) -> &[Vec<f64>] {
        &self.points
    }

    /// One more point of the present law, for evaluators that are free while a generation is out: [`Cmaes::ask`] has it
    /// as its last. The law learns from the best of all that are told; a point that was not evaluated is told as infinity.
    pub fn extend(&mut self) -> &[f64] {
        let (i, d) = (self.points.len(), self.mean.len());
        if self.status == Status::Continue {
            self.cube.push(vec![0.0; d]);
            self.points.push(Vec::new());
            self.draw(i);
        }
        &self.points[self.points.len() - 1]
    }

    /// The lowest point told so far and its value; the start and infinity before any finite value.
    pub fn best(&self) -> (&[f64], f64) {
        (&self.best.0, self.best.1)
    }

    /// Number of values told.
    pub fn evaluations(&self) -> usize {
        self.evaluations
    }

    /// The values at [`Cmaes::ask`], in order. Those that are not finite rank last. After a stop this changes
    /// nothing.
    ///
    /// # Panics
    /// When `values` has another length than the generation.
    pub fn tell(&mut self, values: &[f64]) -> Status {
        assert_eq!(values.len(), self.points.len(), "number of values (points asked)");
        if self.status != Status::Continue {
            return self.status;
        }
        self.evaluations += values.len();
        self.generation += 1;
        let value = |i: usize| if values[i].is_finite() { values[i] } else { f64::INFINITY };
        let mut order: Vec<usize> = (0..values.len()).collect();
        order.sort_by(|&i, &j| value(i).total_cmp(&value(j)));
        // Of an extended generation, what is beyond its usual size may never have been evaluated.
        let (first, last) = (value(order[0]), value(order[self.rates.population - 1]));
        if first < self.best.1 {
            self.best = (self.points[order[0]].clone(), first);
        }
        self.adapt(&order);
        self.status = match self.stop(first, last) {
            Some(stop) => Status::Stopped(stop),
            None => Status::Continue,
        };
        if self.status == Status::Continue {
            self.sample();
        }
        self.status
    }

    /// Moves mean, paths, step size and covariance; `order` ranks the generation.
    fn adapt(&mut self, order: &[usize]) {
        let Rates { weights, mu_w, c_sigma, d_sigma, c_c, c_1, c_mu, norm, .. } = &self.rates;
        let d = self.mean.len();
        let best = &order[..weights.len()];
        // From points to steps in place: a million inputs leave no room for a copy.
        for &i in best {
            for (u, m) in self.cube[i].iter_mut().zip(&self.mean) {
                *u = (*u - m) / self.sigma;
            }
        }
        let steps: Vec<&[f64]> = best.iter().map(|&i| &self.cube[i][..]).collect();
        let mean_step: Vec<f64> =
            (0..d).map(|j| weights.iter().zip(&steps).map(|(w, y)| w * y[j]).sum()).collect();
        for j in 0..d {
            self.mean[j] = (self.mean[j] + self.sigma * mean_step[j]).clamp(0.0, 1.0);
        }

        let gain = (c_sigma * (2.0 - c_sigma) * mu_w).sqrt();
        let whitened = self.law.whitened(&mean_step);
        for j in 0..d {
            self.path_sigma[j] = (1.0 - c_sigma) * self.path_sigma[j] + gain * whitened[j];
        }
        let length = self.path_sigma.iter().map(|p| p * p).sum::<f64>().sqrt();

        // A long path means σ is far too small; C is then not taught by it.
        let settled = (1.0 - (1.0 - c_sigma).powf(2.0 * self.generation as f64)).sqrt();
        let h = if length / settled < (1.4 + 2.0 / (d as f64 + 1.0)) * norm { 1.0 } else { 0.0 };
        let gain = h * (c_c * (2.0 - c_c) * mu_w).sqrt();
        for j in 0..d {
            self.path_c[j] = (1.0 - c_c) * self.path_c[j] + gain * mean_step[j];
        }
        let kept = 1.0 - c_1 - c_mu + c_1 * (1.0 - h) * c_c * (2.0 - c_c);
        let (c_1, c_mu, path) = (*c_1, *c_mu, &self.path_c);
        self.law.learn(&Lesson { kept, c_1, path, c_mu, weights, steps });
        // At most a factor e at once, so that one odd generation cannot throw the law out of the box.
        self.sigma *= (c_sigma / d_sigma * (length / norm - 1.0)).min(1.0).exp();
    }

    fn stop(&mut self, first: f64, last: f64) -> Option<Stop> {
        let d = self.mean.len();
        let window = 10 + (30 * d).div_ceil(self.rates.population);
        self.recent.push_back(first);
        if self.recent.len() > window {
            self.recent.pop_front();
        }
        let lowest = self.recent.iter().copied().fold(first, f64::min);
        let highest = self.recent.iter().copied().fold(last, f64::max);
        // Equal covers generations with no finite value at all.
        let flat = highest == lowest || highest - lowest <= VALUE_TOLERANCE * lowest.abs();
        let widest =
            (0..d).map(|j| self.law.variance(j).sqrt().max(self.path_c[j].abs())).fold(0.0, f64::max);
        if self.recent.len() == window && flat {
            Some(Stop::DecreaseSmall)
        } else if self.sigma * widest <= STEP_TOLERANCE * self.first_sigma {
            Some(Stop::StepSmall)
        } else if self.evaluations + self.rates.population > self.options.max_evaluations {
            Some(Stop::Evaluations)
        } else {
            None
        }
    }

    /// Draws the next generation.
    fn sample(&mut self) {
        let population = self.rates.population;
        self.cube.truncate(population);
        self.points.truncate(population);
        for i in 0..population {
            self.draw(i);
        }
    }

    /// Draws point number `i` of the generation.
    fn draw(&mut self, i: usize) {
        let u = &mut self.cube[i];
        self.law.draw(self.sigma, &mut self.stream, u);
        for (u, m) in u.iter_mut().zip(&self.mean) {
            *u = (m + *u).clamp(0.0, 1.0);
        }
        self.points[i] = self.place(&self.cube[i]);
    }

    /// From box units to the box; clamped because rounding may pass the upper end by one ulp.
    fn place(&self, u: &[f64]) -> Vec<f64> {
        let (low, high) = (&self.low, &self.high);
        (0..u.len()).map(|j| (low[j] + u[j] * (high[j] - low[j])).clamp(low[j], high[j])).collect()
    }
}

impl Rates {
    /// `[@hansen2016, table 1]` with weights of the better half only.
    fn new(d: usize, population: usize) -> Rates {
        let n = d as f64;
        let raw: Vec<f64> =
            (1..=population / 2).map(|i| ((population as f64 + 1.0) / 2.0).ln() - (i as f64).ln()).collect();
        let sum: f64 = raw.iter().sum();
        let weights: Vec<f64> = raw.iter().map(|w| w / sum).collect();
        let mu_w = 1.0 / weights.iter().map(|w| w * w).sum::<f64>();
        let c_sigma = (mu_w + 2.0) / (n + mu_w + 5.0);
        let c_1 = 2.0 / ((n + 1.3).powi(2) + mu_w);
        let c_mu = (2.0 * (0.25 + mu_w + 1.0 / mu_w - 2.0) / ((n + 2.0).powi(2) + mu_w)).min(1.0 - c_1);
        Rates {
            population,
            weights,
            mu_w,
            c_sigma,
            d_sigma: 1.0 + 2.0 * (((mu_w - 1.0) / (n + 1.0)).sqrt() - 1.0).max(0.0) + c_sigma,
            c_c: (4.0 + mu_w / n) / (n + 4.0 + 2.0 * mu_w / n),
            c_1,
            c_mu,
            norm: n.sqrt() * (1.0 - 1.0 / (4.0 * n) + 1.0 / (21.0 * n * n)),
        }
    }

    /// C is learned `factor` times as fast.
    fn hasten(&mut self, factor: f64) {
        self.c_1 = (factor * self.c_1).min(1.0);
        self.c_mu = (factor * self.c_mu).min(1.0 - self.c_1);
    }
}

impl Law {
    /// Draws from N(0, σ² C) into `out`.
    fn draw(&self, sigma: f64, stream: &mut Stream, out: &mut [f64]) {
        match self {
            Law::Full(law) => law.draw(sigma, stream, out),
            Law::Separable(law) => law.draw(sigma, stream, out),
        }
    }

    /// C^(-1/2) y.
    fn whitened(&self, y: &[f64]) -> Vec<f64> {
        match self {
            Law::Full(law) => law.whitened(y),
            Law::Separable(law) => law.whitened(y),
        }
    }

    fn learn(&mut self, lesson: &Lesson<'_>) {
        match self {
            Law::Full(law) => law.learn(lesson),
            Law::Separable(law) => law.learn(lesson),
        }
    }

    /// C at (j, j).
    fn variance(&self, j: usize) -> f64 {
        match self {
            Law::Full(law) => law.variance(j),
            Law::Separable(law) => law.variance(j),
        }
    }
}

impl Lesson<'_> {
    /// The new entry of C at (a, b), whose old one is `entry`.
    fn entry(&self, entry: f64, a: usize, b: usize) -> f64 {
        let many: f64 = self.weights.iter().zip(&self.steps).map(|(w, y)| w * y[a] * y[b]).sum();
        let one = self.path[a] * self.path[b];
        self.kept * entry + self.c_1 * one + self.c_mu * many
    }
}

fn check(start: &[f64], sigma: f64, low: &[f64], high: &[f64], options: &CmaesOptions) -> Result<()> {
    check_box(start, low, high)?;
    for i in 0..start.len() {
        if low[i] == high[i] {
            return Err(Error::EmptyBox { what: "the box", index: i, low: low[i], high: high[i] });
        }
        if !(high[i] - low[i]).is_finite() {
            return Err(Error::NotFinite { what: "high - low", row: i, column: 0, value: high[i] - low[i] });
        }
    }
    in_range("sigma", sigma, f64::MIN_POSITIVE, 1.0)?;
    in_range("population", options.population.unwrap_or(4) as f64, 4.0, f64::MAX)
}
