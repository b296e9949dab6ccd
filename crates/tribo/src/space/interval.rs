//! A float parameter's map between [0, 1] and [low, high], exact in both directions.
//!
//! Decoding, u to x:
//!   linear  x = low + u (high - low)
//!   log     x = 2^(log2 low + u (log2 high - log2 low))
//! clipped to [low, high]; u = 0 gives low and u = 1 gives high, exactly.
//!
//! Neither formula undoes itself in floating point. But each is a chain of correctly ordered steps (a rounded
//! product, a rounded sum, 2^t as in `log_scale`), so decoding never decreases, and for every x that decoding
//! can give, the smallest u with decode(u) >= x decodes to x itself. Encoding takes the plain inverse if it
//! decodes to x (it nearly always does), else that smallest u, by bisection over the doubles.
//!
//! A value decoding cannot give (a user's own 0.1, say, in a range of width 1e6) goes to the nearest one it
//! can, within an ulp of the larger bound on a linear scale.

use super::log_scale::{exp2, log2};

/// [low, high] with its scale. Bounds are checked by the space.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Interval {
    pub(super) low: f64,
    pub(super) high: f64,
    log: bool,
    /// low, or its logarithm.
    origin: f64,
    /// high - low, or the difference of their logarithms.
    width: f64,
}

impl Interval {
    pub(super) fn linear(low: f64, high: f64) -> Self {
        // Adding zero turns -0 into 0, so that a zero has one bit pattern.
        let (low, high) = (low + 0.0, high + 0.0);
        Interval { low, high, log: false, origin: low, width: high - low }
    }

    pub(super) fn log(low: f64, high: f64) -> Self {
        let exact_log = |x| first_at_least(exp2, -1074.0, 1024.0, x);
        let origin = exact_log(low);
        Interval { low, high, log: true, origin, width: exact_log(high) - origin }
    }

    pub(super) fn decode(&self, u: f64) -> f64 {
        if u <= 0.0 {
            return self.low;
        }
        if u >= 1.0 {
            return self.high;
        }
        let place = self.origin + u * self.width;
        let x = if self.log { exp2(place) } else { place };
        x.clamp(self.low, self.high)
    }

    /// dx/du at u.
    pub(super) fn slope(&self, u: f64) -> f64 {
        if self.log { self.decode(u) * self.width * std::f64::consts::LN_2 } else { self.width }
    }

    /// The canonical u of x: decodes to x if any u does.
    pub(super) fn encode(&self, x: f64) -> f64 {
        let guess = self.place(x);
        if self.decode(guess) == x {
            return guess;
        }
        let (from, to) = self.bracket(guess, x);
        let above = first_at_least(|u| self.decode(u), from, to, x);
        let found = self.decode(above);
        if found == x {
            return above;
        }
        // Not a value of decode: its nearest neighbour is, and has a canonical u of its own.
        let below = if above > 0.0 { self.decode(above.next_down()) } else { found };
        self.encode(if (x - below).abs() < (found - x).abs() { below } else { found })
    }

    /// The plain inverse, right to rounding.
    pub(super) fn place(&self, x: f64) -> f64 {
        if self.width == 0.0 {
            // The logarithms of two adjacent huge bounds can agree; only the ends can be decoded then.
            return if x < self.high { 0.0 } else { 1.0 };
        }
        let place = if self.log { log2(x) } else { x };
        ((place - self.origin) / self.width).clamp(0.0, 1.0)
    }

    /// Where to bisect: a sliver around the guess if that holds x, else everything. Saves three quarters of
    /// the steps.
    fn bracket(&self, guess: f64, x: f64) -> (f64, f64) {
        const SLIVER: f64 = 1e-12;
        let (from, to) = ((guess - SLIVER).max(0.0), (guess + SLIVER).min(1.0));
        if self.decode(from) < x && x <= self.decode(to) { (from, to) } else { (0.0, 1.0) }
    }
}

/// The smallest double t in [low, high] with f(t) >= target, for a non-decreasing f; `high` if there is none.
fn first_at_least(f: impl Fn(f64) -> f64, low: f64, high: f64, target: f64) -> f64 {
    if f(low) >= target {
        return low;
    }
    let (mut below, mut above) = (rank(low), rank(high));
    while below + 1 < above {
        let middle = (below & above) + ((below ^ above) >> 1);
        if f(unrank(middle)) >= target {
            above = middle;
        } else {
            below = middle;
        }
    }
    unrank(above)
}

/// Numbers the doubles in order: adjacent doubles have adjacent ranks.
fn rank(x: f64) -> i64 {
    let bits = x.to_bits() as i64;
    if bits < 0 { i64::MIN - bits } else { bits }
}

fn unrank(rank: i64) -> f64 {
    f64::from_bits(if rank < 0 { i64::MIN - rank } else { rank } as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;

    fn intervals() -> Vec<Interval> {
        let linear = [
            (0.0, 1.0),
            (-1.0, 1.0),
            (-0.0, 3.0),
            (-5.12, -0.0),
            (1e-300, 1.0),
            (-1e300, 1e300),
            (-1e-300, 1e-300),
            (0.0, 5e-324),
            (-5e-324, 1e-310),
            (1e15, 1e15 + 1.0),
            (1.0, 1.0_f64.next_up()),
            (-1e-3, 1e9),
            (0.1, 0.3),
            (-8e307, 8e307),
        ];
        let log = [
            (1e-6, 1.0),
            (1e-300, 1e300),
            (5e-324, f64::MAX),
            (5e-324, 1e-320),
            (1.0, 1.0_f64.next_up()),
            (0.999, 1.001),
            (1.0 - 1e-15, 1.0 + 1e-15),
            (1e300, 1e300 * (1.0 + 1e-9)),
            (1e300, 1e300_f64.next_up()),
            (0.1, 10.0),
            (2.0, 3.0),
        ];
        let linear = linear.iter().map(|&(low, high)| Interval::linear(low, high));
        linear.chain(log.iter().map(|&(low, high)| Interval::log(low, high))).collect()
    }

    /// Uniform, near either end, and on either side of the middle.
    fn units(stream: &mut Stream) -> [f64; 5] {
        let v = stream.uniform();
        let tiny = 10.0_f64.powf(-320.0 * stream.uniform());
        [v, tiny, 1.0 - tiny, 0.5 + 1e-3 * (v - 0.5), (0.5_f64 + 1e-12 * (v - 0.5)).clamp(0.0, 1.0)]
    }

    #[test]
    fn ends_are_exact_and_nothing_lies_outside() {
        let seed = 1;
        let mut stream = Stream::new(seed, "interval ends", 0);
        for interval in intervals() {
            assert_eq!(interval.decode(0.0).to_bits(), interval.low.to_bits(), "{interval:?}");
            assert_eq!(interval.decode(1.0).to_bits(), interval.high.to_bits(), "{interval:?}");
            for _ in 0..1_000 {
                for u in units(&mut stream) {
                    let x = interval.decode(u);
                    assert!(x >= interval.low && x <= interval.high, "seed {seed}: {interval:?} at {u:e}");
                }
            }
        }
    }

    #[test]
    fn every_decoded_value_comes_back_bit_for_bit() {
        let seed = 2;
        let mut stream = Stream::new(seed, "interval round trip", 0);
        for interval in intervals() {
            for _ in 0..1_000 {
                for u in units(&mut stream) {
                    let x = interval.decode(u);
                    let canonical = interval.encode(x);
                    let again = interval.decode(canonical);
                    assert_eq!(x.to_bits(), again.to_bits(), "seed {seed}: {interval:?} at u = {u:e}");
                    assert_eq!(interval.encode(again), canonical, "seed {seed}: {interval:?} at u = {u:e}");
                }
            }
        }
    }

    #[test]
    fn random_bounds_round_trip_too() {
        let seed = 3;
        let mut stream = Stream::new(seed, "interval bounds", 0);
        for draw in 0..20_000 {
            let magnitude = |stream: &mut Stream| 10.0_f64.powf(600.0 * stream.uniform() - 300.0);
            let (a, b) = (magnitude(&mut stream), magnitude(&mut stream));
            if a == b {
                continue;
            }
            let interval = match draw % 3 {
                0 => Interval::log(a.min(b), a.max(b)),
                1 => Interval::linear(a.min(b), a.max(b)),
                _ => Interval::linear(-a, b),
            };
            for u in units(&mut stream) {
                let x = interval.decode(u);
                let again = interval.decode(interval.encode(x));
                assert_eq!(x.to_bits(), again.to_bits(), "seed {seed}: {interval:?} at u = {u:e}");
            }
        }
    }

    #[test]
    fn decoding_never_decreases() {
        let seed = 4;
        let mut stream = Stream::new(seed, "interval order", 0);
        for interval in intervals() {
            for _ in 0..200 {
                for start in units(&mut stream) {
                    let mut u = start;
                    let mut x = interval.decode(u);
                    for _ in 0..16 {
                        u = u.next_up().min(1.0);
                        let next = interval.decode(u);
                        assert!(x <= next, "seed {seed}: {interval:?} decreases at {u:e}");
                        x = next;
                    }
                }
            }
        }
    }

    #[test]
    fn other_values_go_to_a_neighbour_that_stays() {
        let seed = 5;
        let mut stream = Stream::new(seed, "interval foreign values", 0);
        for interval in intervals().into_iter().filter(|interval| !interval.log) {
            let ulp = interval.high.abs().max(interval.low.abs());
            let ulp = ulp.next_up() - ulp;
            for _ in 0..500 {
                let v = stream.uniform();
                let x = (interval.low * (1.0 - v) + interval.high * v).clamp(interval.low, interval.high);
                let u = interval.encode(x);
                let near = interval.decode(u);
                assert!((near - x).abs() <= ulp, "seed {seed}: {interval:?}, {x:e} became {near:e}");
                assert_eq!(interval.encode(near), u, "seed {seed}: {interval:?} at {x:e}");
            }
        }
    }

    #[test]
    fn a_log_scale_is_even_in_the_exponent() {
        let interval = Interval::log(1e-6, 1.0);
        for (u, x) in [(0.5, 1e-3), (1.0 / 3.0, 1e-4), (5.0 / 6.0, 1e-1)] {
            let found = interval.decode(u);
            assert!((found / x - 1.0).abs() < 1e-14, "{u} gave {found}");
        }
    }
}
