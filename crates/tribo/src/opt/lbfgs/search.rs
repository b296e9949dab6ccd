//! Line search along one direction, as a state machine fed with values and slopes.
//!
//! φ(t) = f(x + t p). A step is accepted when it lowers the value enough and the slope has risen enough
//! (weak Wolfe conditions, `[@nocedal2006, equation 3.6]`): φ(t) <= φ(0) + c₁ t φ'(0) and φ'(t) >= c₂ φ'(0).
//! The second makes sᵀy positive; it is waived at the largest feasible step. The slope is free once the
//! gradient is paid for, so brackets are narrowed by the cubic through two values and two slopes.
//!
//! A trial that is not finite is a wall: the step falls to a tenth of the way, and from then on any
//! sufficient decrease will do, also one seen before; the right slope somewhere before a wall is not worth an
//! evaluation.

/// c₁ and c₂ of `[@nocedal2006]` for quasi-Newton directions: almost any decrease, and the unit step nearly
/// always.
const DECREASE: f64 = 1e-4;
const SLOPE: f64 = 0.9;
/// Growth of a step that was too short, and share of the way left after a wall.
pub(super) const GROWTH: f64 = 4.0;
const SHRINK: f64 = 0.1;
/// Trials per search; twenty tenfold cuts pass the resolution of any step.
const MOST_TRIALS: usize = 20;

#[derive(Debug, Clone, Copy)]
struct Sample {
    t: f64,
    value: f64,
    slope: f64,
}

/// What to do after a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The trial is the new iterate.
    Accept,
    /// Evaluate at the new [`LineSearch::t`].
    Try,
    /// The lowest trial is the new iterate, if it is below the start; the trials are spent or a wall lies
    /// ahead.
    Spent,
    /// As `Spent`, because the next trial would be too short to matter.
    TooShort,
}

/// The state of one search; `t` is the step to try.
#[derive(Debug, Clone)]
pub(super) struct LineSearch {
    pub(super) t: f64,
    /// Whether a trial was not finite.
    pub(super) walled: bool,
    start: Sample,
    /// Best step known to be too short.
    short: Sample,
    /// Smallest step known to be too long; its value is infinite at a wall.
    long: Option<Sample>,
    longest: f64,
    /// Shorter steps do not move the point, or promise nothing.
    shortest: f64,
    trials: usize,
}

impl LineSearch {
    /// A search from φ(0) = `value` with φ'(0) = `slope` < 0 that begins at `t` and keeps above `shortest`
    /// and at or below `longest`.
    pub(super) fn new(value: f64, slope: f64, t: f64, shortest: f64, longest: f64) -> Self {
        let start = Sample { t: 0.0, value, slope };
        LineSearch { t, walled: false, start, short: start, long: None, longest, shortest, trials: 0 }
    }

    /// Slope at the start.
    pub(super) fn slope(&self) -> f64 {
        self.start.slope
    }

    /// Digests the trial at `t`. Pass an infinite value for anything that is not finite.
    pub(super) fn tell(&mut self, value: f64, slope: f64) -> Verdict {
        self.trials += 1;
        let trial = Sample { t: self.t, value, slope };
        if !(value.is_finite() && slope.is_finite()) {
            self.walled = true;
            self.long = Some(Sample { value: f64::INFINITY, ..trial });
        } else if value > self.start.value + DECREASE * self.t * self.start.slope || value >= self.short.value
        {
            self.long = Some(trial);
        } else if slope >= SLOPE * self.start.slope || self.t >= self.longest || self.walled {
            return Verdict::Accept;
        } else {
            let last = std::mem::replace(&mut self.short, trial);
            if self.long.is_none() {
                self.t = (last.t + GROWTH * (trial.t - last.t)).min(self.longest);
            }
        }
        if let Some(long) = self.long {
            self.t = between(self.short, long);
            if self.t <= self.shortest || self.t <= self.short.t || self.t >= long.t {
                return Verdict::TooShort;
            }
        }
        let enough = self.walled && self.short.t > 0.0;
        if enough || self.trials >= MOST_TRIALS { Verdict::Spent } else { Verdict::Try }
    }
}

/// Minimiser of the cubic through two samples `[@nocedal2006, equation 3.59]`, kept off both ends by a tenth.
fn between(short: Sample, long: Sample) -> f64 {
    let width = long.t - short.t;
    if !long.value.is_finite() {
        return short.t + SHRINK * width;
    }
    let d1 = short.slope + long.slope - 3.0 * (short.value - long.value) / (short.t - long.t);
    let d2 = (d1 * d1 - short.slope * long.slope).sqrt();
    let share = 1.0 - (long.slope + d2 - d1) / (long.slope - short.slope + 2.0 * d2);
    let share = if share.is_finite() { share.clamp(SHRINK, 1.0 - SHRINK) } else { 0.5 };
    short.t + share * width
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(search: &mut LineSearch, phi: impl Fn(f64) -> (f64, f64)) -> (Verdict, usize) {
        for n in 1.. {
            let (value, slope) = phi(search.t);
            let verdict = search.tell(value, slope);
            if verdict != Verdict::Try {
                return (verdict, n);
            }
        }
        unreachable!()
    }

    #[test]
    fn a_cubic_is_minimised_by_one_interpolation() {
        // φ(t) = (t - 0.3)² (1 + t): minimum at 0.3, slope -0.51 at 0; the trial at 1 is above φ(0).
        let phi = |t: f64| ((t - 0.3).powi(2) * (1.0 + t), (t - 0.3) * (1.7 + 3.0 * t));
        let (value, slope) = phi(0.0);
        let mut search = LineSearch::new(value, slope, 1.0, 0.0, f64::INFINITY);
        assert_eq!(run(&mut search, phi), (Verdict::Accept, 2));
        assert!((search.t - 0.3).abs() < 1e-12);
    }

    #[test]
    fn a_short_step_grows_to_the_longest_at_most() {
        let linear = |t: f64| (-t, -1.0);
        let mut search = LineSearch::new(0.0, -1.0, 1.0, 0.0, 6.0);
        assert_eq!(run(&mut search, linear), (Verdict::Accept, 3));
        assert_eq!(search.t, 6.0);
    }

    #[test]
    fn a_wall_is_backed_off() {
        let phi = |t: f64| if t > 0.02 { (f64::INFINITY, f64::NAN) } else { (-t, -1.0) };
        let mut search = LineSearch::new(0.0, -1.0, 1.0, 0.0, f64::INFINITY);
        assert_eq!(run(&mut search, phi), (Verdict::Accept, 3));
        assert!(search.walled && search.t <= 0.02);
        // A wall met while growing: the step before it is good enough.
        let phi = |t: f64| if t > 2.0 { (f64::NAN, f64::NAN) } else { (-t, -1.0) };
        let mut search = LineSearch::new(0.0, -1.0, 1.0, 0.0, f64::INFINITY);
        assert_eq!(run(&mut search, phi), (Verdict::Spent, 2));
    }

    #[test]
    fn rising_values_end_the_search() {
        let mut search = LineSearch::new(1.0, -1.0, 1.0, 1e-6, f64::INFINITY);
        assert_eq!(run(&mut search, |t| (1.0 + t, 1.0)).0, Verdict::TooShort);
    }
}
