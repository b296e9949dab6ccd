//! L-BFGS in a box: limited-memory quasi-Newton minimisation with bounds on the variables.
//!
//! Each iteration models the function by gᵀp + ½ pᵀB p with B from the last few (step, change of gradient)
//! pairs, minimises the model in the box (`lbfgs/curvature.rs`), and searches the straight line to that
//! minimiser (`lbfgs/search.rs`):
//!
//! ```text
//! x̂ = argmin over the box of the model;  x <- x + t (x̂ - x);  remember s = Δx, y = Δg if sᵀy > 0
//! ```
//!
//! This is `[@byrd1995]` with the projection of `[@morales2011]`, rather than a projected search with an
//! epsilon-active set: the Cauchy point can add and drop many bounds in one iteration, the box is convex so
//! the whole line is feasible, and along a straight line the Wolfe conditions mean what they say, so that the
//! unit step mostly passes at once. Evaluations cost seconds in training; this economy is worth the extra
//! algebra. Own to this one: the reverse communication, the back-off from values that are not finite, the restart with
//! forgotten pairs when a search fails, and [`Lbfgs::warm`].
//!
//! Cost: O(d k² + k³) per iteration for k pairs, besides the evaluations; memory O(d k).
//! Not here: general constraints, Hessian products, several starts (the caller steps several runs).

mod curvature;
mod search;
#[cfg(test)]
mod tests;

use self::curvature::Curvature;
use self::search::{GROWTH, LineSearch, Verdict};
use super::{Status, Stop, check_box, in_range};
use crate::error::Result;
use crate::linalg::reduce::dot_in_order as dot;

/// When to stop and how far to begin.
#[derive(Debug, Clone, PartialEq)]
pub struct LbfgsOptions {
    /// Pairs of curvature kept, at least 1. Five to twenty serve nearly all functions `[@byrd1995]`.
    pub memory: usize,
    /// Stop after this many evaluations, at least 1.
    pub max_evaluations: usize,
    /// Stop after this many accepted steps, at least 1.
    pub max_iterations: usize,
    /// Stop when no entry of P(x - g) - x is larger, P being the projection into the box.
    pub gradient_tolerance: f64,
    /// Stop when an iteration from f to f' has f - f' <= tolerance · max(|f|, |f'|, 1). It waits for the
    /// second iteration when no curvature is known, because the first step has an arbitrary length then, and
    /// for two such iterations in a row where values that are not finite cut the steps short.
    pub decrease_tolerance: f64,
    /// Length (largest entry) of the first trial step, when no curvature is known.
    pub initial_step: f64,
}

impl Default for LbfgsOptions {
    fn default() -> Self {
        LbfgsOptions {
            memory: 10,
            max_evaluations: 200,
            max_iterations: 100,
            gradient_tolerance: 1e-5,
            decrease_tolerance: 1e-9,
            initial_step: 0.1,
        }
    }
}

/// A point with what was told there.
#[derive(Debug, Clone)]
struct Sample {
    x: Vec<f64>,
    value: f64,
    gradient: Vec<f64>,
}

/// One minimisation. Loop: evaluate at [`Lbfgs::point`], [`Lbfgs::tell`] value and gradient, until it stops.
#[derive(Debug, Clone)]
pub struct Lbfgs {
    low: Vec<f64>,
    high: Vec<f64>,
    options: LbfgsOptions,
    curvature: Curvature,
    current: Sample,
    best: Sample,
    /// Minimiser of the model, where t = 1 leads.
    target: Vec<f64>,
    /// None until the start has been told.
    search: Option<LineSearch>,
    trial: Vec<f64>,
    /// Longest first trial (largest entry); finite after a search that met a value that is not finite.
    reach: f64,
    /// Whether the last iteration was within the tolerance of the decrease.
    stalling: bool,
    evaluations: usize,
    iterations: usize,
    status: Status,
}

impl Lbfgs {
    /// A run from `start`, projected into [low, high]. Bounds may be infinite; low = high fixes a variable.
    pub fn new(start: &[f64], low: &[f64], high: &[f64], options: LbfgsOptions) -> Result<Lbfgs> {
        check_box(start, low, high)?;
        check_options(&options)?;
        let curvature = Curvature::new(options.memory);
        Ok(Lbfgs::begin(start, low.to_vec(), high.to_vec(), options, curvature))
    }

    /// A new run in the same box with the curvature learnt by this one, for a function that is about `scale`
    /// times this one's, e.g. the objective on all data after one on a subset. Its first trial is then a
    /// whole quasi-Newton step instead of `initial_step`.
    pub fn warm(&self, start: &[f64], scale: f64, options: LbfgsOptions) -> Result<Lbfgs> {
        check_box(start, &self.low, &self.high)?;
        check_options(&options)?;
        in_range("scale of the warm start", scale, f64::MIN_POSITIVE, f64::MAX)?;
        let curvature = self.curvature.scaled(scale, options.memory);
        Ok(Lbfgs::begin(start, self.low.clone(), self.high.clone(), options, curvature))
    }

    fn begin(
        start: &[f64],
        low: Vec<f64>,
        high: Vec<f64>,
        options: LbfgsOptions,
        curvature: Curvature,
    ) -> Self {
        let x: Vec<f64> = (0..start.len()).map(|i| start[i].clamp(low[i], high[i])).collect();
        let current = Sample { x: x.clone(), value: f64::INFINITY, gradient: vec![0.0; x.len()] };
        Lbfgs {
            low,
            high,
            options,
            curvature,
            best: current.clone(),
            current,
            target: x.clone(),
            search: None,
            trial: x,
            reach: f64::INFINITY,
            stalling: false,
            evaluations: 0,
            iterations: 0,
            status: Status::Continue,
        }
    }

    /// Where to evaluate next; always in the box.
    pub fn point(&self) -> &[f64] {
        &self.trial
    }

    /// The lowest point told so far and its value; the start and infinity before any finite value.
    pub fn best(&self) -> (&[f64], f64) {
        (&self.best.x, self.best.value)
    }

    /// Number of values told.
    pub fn evaluations(&self) -> usize {
        self.evaluations
    }

    /// Number of accepted steps.
    pub fn iterations(&self) -> usize {
        self.iterations
    }

    /// Value and gradient at [`Lbfgs::point`]. If either is not finite the step is rejected and a much
    /// shorter one tried; at the start itself the run stops. After a stop this changes nothing.
    ///
    /// # Panics
    /// When `gradient` has another length than the point.
    pub fn tell(&mut self, value: f64, gradient: &[f64]) -> Status {
        assert_eq!(gradient.len(), self.trial.len(), "length of the gradient (variables)");
        if self.status != Status::Continue {
            return self.status;
        }
        self.evaluations += 1;
        let finite = value.is_finite() && gradient.iter().all(|g| g.is_finite());
        let told = Sample { x: self.trial.clone(), value, gradient: gradient.to_vec() };
        if finite && value < self.best.value {
            self.best = told.clone();
        }
        self.status = match self.search.take() {
            None if !finite => Status::Stopped(Stop::StartNotFinite),
            None => self.settle(told),
            Some(search) => self.advance(search, told, finite),
        };
        if self.status == Status::Continue && self.evaluations >= self.options.max_evaluations {
            self.status = Status::Stopped(Stop::Evaluations);
        }
        self.status
    }

    /// ½ gᵀHg over the variables not held at a bound by `gradient`: the decrease that a quasi-Newton step
    /// from the current iterate promises for that gradient, bounds on the way ignored. H is the inverse of
    /// the model's matrix restricted to those variables.
    ///
    /// # Panics
    /// When `gradient` has another length than the point.
    pub fn predicted_decrease(&self, gradient: &[f64]) -> f64 {
        assert_eq!(gradient.len(), self.trial.len(), "length of the gradient (variables)");
        let free: Vec<usize> = (0..gradient.len()).filter(|&i| self.is_free(i, gradient[i])).collect();
        let g: Vec<f64> = free.iter().map(|&i| gradient[i]).collect();
        let theta = self.theta(gradient);
        let step = self.curvature.newton_step(theta, &free, &g);
        let step = step.unwrap_or_else(|| g.iter().map(|g| -g / theta).collect());
        -0.5 * dot(&g, &step)
    }

    /// Whether the current point can move against an entry of the gradient.
    fn is_free(&self, i: usize, g: f64) -> bool {
        let x = self.current.x[i];
        !(x <= self.low[i] && g >= 0.0 || x >= self.high[i] && g <= 0.0)
    }

    /// The scale of B; before any pair, the one that makes the gradient step as long as `initial_step`.
    fn theta(&self, gradient: &[f64]) -> f64 {
        let free = (0..gradient.len()).filter(|&i| self.is_free(i, gradient[i]));
        let steepest = free.map(|i| gradient[i].abs()).fold(0.0, f64::max);
        let theta = self.curvature.theta_or(steepest / self.options.initial_step);
        theta.clamp(f64::MIN_POSITIVE, f64::MAX)
    }

    /// Whether a small decrease means anything: the first step without curvature has an arbitrary length.
    fn informed(&self) -> bool {
        self.iterations > 0 || !self.curvature.is_empty()
    }

    /// A decrease that cannot be told from rounding, or that would end the run.
    fn least_decrease(&self) -> f64 {
        let value = self.current.value.abs();
        let tolerance = if self.informed() { self.options.decrease_tolerance } else { 0.0 };
        (f64::EPSILON * value).max(tolerance * value.max(1.0))
    }

    /// Digests one trial of the line search.
    fn advance(&mut self, mut search: LineSearch, told: Sample, finite: bool) -> Status {
        let slope = (0..told.x.len()).map(|i| told.gradient[i] * (self.target[i] - self.current.x[i])).sum();
        let verdict = search.tell(if finite { told.value } else { f64::INFINITY }, slope);
        let stop = match verdict {
            Verdict::Accept => return self.accept(told, &search),
            Verdict::Try => {
                self.place(search);
                return Status::Continue;
            }
            Verdict::Spent => Stop::LineSearch,
            Verdict::TooShort => Stop::StepSmall,
        };
        if self.best.value < self.current.value {
            return self.accept(self.best.clone(), &search);
        }
        // Such a promise is not worth a second search along the gradient.
        if -search.slope() <= self.least_decrease() {
            return Status::Stopped(Stop::DecreaseSmall);
        }
        self.retry(stop)
    }

    /// Makes `next` the iterate, learns from the step, and goes on unless a criterion holds.
    fn accept(&mut self, next: Sample, search: &LineSearch) -> Status {
        let scale = next.value.abs().max(self.current.value.abs()).max(1.0);
        let small = self.current.value - next.value <= self.options.decrease_tolerance * scale;
        let stalled = small && self.informed() && (self.stalling || !search.walled);
        self.stalling = small;
        self.iterations += 1;
        let difference = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a - b).collect::<Vec<f64>>();
        let s = difference(&next.x, &self.current.x);
        self.reach = if search.walled { GROWTH * largest(&s) } else { f64::INFINITY };
        self.curvature.push(&s, &difference(&next.gradient, &self.current.gradient));
        match self.settle(next) {
            Status::Continue if stalled => Status::Stopped(Stop::DecreaseSmall),
            Status::Continue if self.iterations >= self.options.max_iterations => {
                Status::Stopped(Stop::Iterations)
            }
            status => status,
        }
    }

    /// Stands at `sample` and begins the next search, unless the projected gradient is small.
    fn settle(&mut self, sample: Sample) -> Status {
        let projected = (0..sample.x.len()).map(|i| {
            let (x, g) = (sample.x[i], sample.gradient[i]);
            ((x - g).clamp(self.low[i], self.high[i]) - x).abs()
        });
        let small = projected.fold(0.0, f64::max) <= self.options.gradient_tolerance;
        self.current = sample;
        if small { Status::Stopped(Stop::GradientSmall) } else { self.set_out(Stop::StepSmall) }
    }

    /// Forgets the pairs and searches again from the same point; stops when there was nothing to forget.
    fn retry(&mut self, stop: Stop) -> Status {
        if self.curvature.is_empty() {
            return Status::Stopped(stop);
        }
        self.curvature.clear();
        self.set_out(stop)
    }

    /// Begins a search towards the minimiser of the model.
    fn set_out(&mut self, stop: Stop) -> Status {
        let Sample { x, value, gradient } = &self.current;
        let theta = self.theta(gradient);
        self.target = self.curvature.minimiser(theta, x, gradient, &self.low, &self.high);
        let p: Vec<f64> = (0..x.len()).map(|i| self.target[i] - x[i]).collect();
        let slope = dot(&p, gradient);
        // Not descending, or not moving: rounding has spoilt the model.
        if !(slope < 0.0 && slope.is_finite()) {
            return self.retry(stop);
        }
        let room = |i: usize| match p[i] {
            p if p > 0.0 => (self.high[i] - x[i]) / p,
            p if p < 0.0 => (self.low[i] - x[i]) / p,
            _ => f64::INFINITY,
        };
        let longest = (0..x.len()).map(room).fold(f64::INFINITY, f64::min).max(1.0);
        // Shorter steps move no entry by more than its rounding, or promise less than what would end the run.
        let moves = (0..x.len()).map(|i| p[i].abs() / x[i].abs().max(f64::MIN_POSITIVE));
        let still = f64::EPSILON / moves.fold(0.0, f64::max).max(f64::MIN_POSITIVE);
        let shortest = still.max(self.least_decrease() / -slope);
        let first = (self.reach / largest(&p)).min(1.0);
        self.place(LineSearch::new(*value, slope, first, shortest, longest));
        Status::Continue
    }

    /// Sets the trial point of `search`. Clamping removes the rounding that would leave the box by one ulp.
    fn place(&mut self, search: LineSearch) {
        for i in 0..self.trial.len() {
            let (x, end) = (self.current.x[i], self.target[i]);
            self.trial[i] = if search.t == 1.0 {
                end
            } else {
                (x + search.t * (end - x)).clamp(self.low[i], self.high[i])
            };
        }
        self.search = Some(search);
    }
}

fn largest(v: &[f64]) -> f64 {
    v.iter().fold(0.0, |most, v| most.max(v.abs()))
}

fn check_options(options: &LbfgsOptions) -> Result<()> {
    in_range("memory", options.memory as f64, 1.0, f64::MAX)?;
    in_range("max_evaluations", options.max_evaluations as f64, 1.0, f64::MAX)?;
    in_range("max_iterations", options.max_iterations as f64, 1.0, f64::MAX)?;
    in_range("gradient_tolerance", options.gradient_tolerance, 0.0, f64::MAX)?;
    in_range("decrease_tolerance", options.decrease_tolerance, 0.0, f64::MAX)?;
    in_range("initial_step", options.initial_step, f64::MIN_POSITIVE, f64::MAX)
}
