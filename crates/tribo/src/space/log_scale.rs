//! Powers and logarithms of two that give the same bits everywhere.
//!
//! Decoding a log-scaled coordinate needs 2^t, and two things of it that the system's library does not
//! promise:
//! - the same bits on every machine, because a history keeps coordinates and derives the user's values again,
//!   possibly after a restart on another host (system libraries pick their code by processor);
//! - t <= t' gives 2^t <= 2^t', because encoding inverts decoding by bisection.
//!
//! Both follow from computing 2^t to about 80 bits with IEEE additions and products only, then rounding once:
//! t = k + f with |f| <= 1/2; y = f ln 2 / 16; e^y by its series; four squarings; times 2^k. Numbers are
//! unevaluated sums hi + lo of two doubles ("double-double", `[@dekker1971]`). An inversion would need two
//! arguments whose powers agree to 80 bits and lie across a rounding boundary; arguments one ulp apart differ
//! in about the 53rd bit of t.
//!
//! Cost: 100 to 200 ns each. Not here: speed for kernels, which needs no such promise and lives in `linalg`.

/// hi + lo with |lo| at most half an ulp of hi.
#[derive(Clone, Copy)]
struct Double {
    hi: f64,
    lo: f64,
}

impl Double {
    /// hi + lo of any two numbers with |hi| >= |lo|.
    fn renormalised(hi: f64, lo: f64) -> Self {
        let sum = hi + lo;
        Double { hi: sum, lo: lo - (sum - hi) }
    }

    fn times(self, other: Double) -> Self {
        let product = self.hi * other.hi;
        let error = self.hi.mul_add(other.hi, -product);
        Self::renormalised(product, error + (self.hi * other.lo + self.lo * other.hi))
    }

    /// self + other, for |self| >= |other|.
    fn plus(self, other: Double) -> Self {
        let sum = Self::renormalised(self.hi, other.hi);
        Self::renormalised(sum.hi, sum.lo + (self.lo + other.lo))
    }
}

const LN_2: Double = Double { hi: std::f64::consts::LN_2, lo: 2.3190468138462996e-17 };
const ONE: Double = Double { hi: 1.0, lo: 0.0 };
const HALF: Double = Double { hi: 0.5, lo: 0.0 };
const SIXTH: Double = Double { hi: 1.0 / 6.0, lo: 9.25185853854297e-18 };
const TWENTY_FOURTH: Double = Double { hi: 1.0 / 24.0, lo: 2.3129646346357427e-18 };

/// 1/n! for n = 5..11.
const INVERSE_FACTORIALS: [f64; 7] = [
    1.0 / 120.0,
    1.0 / 720.0,
    1.0 / 5040.0,
    1.0 / 40320.0,
    1.0 / 362880.0,
    1.0 / 3628800.0,
    1.0 / 39916800.0,
];

/// 2^t: non-decreasing, the same on every machine, correctly rounded except about once in 2^25 arguments.
/// Overflows to infinity from 1024 on and underflows to zero below -1075, as the exact power would.
pub(super) fn exp2(t: f64) -> f64 {
    let k = t.round();
    let power = fraction_power(t - k);
    // Two factors, because 2^k alone leaves the range of normal numbers before 2^t does.
    let k = k.clamp(-1100.0, 1100.0) as i32;
    (power.hi + power.lo) * power_of_two(k / 2) * power_of_two(k - k / 2)
}

/// 2^f for |f| <= 1/2, to about 80 bits.
fn fraction_power(f: f64) -> Double {
    let y = LN_2.times(Double { hi: f / 16.0, lo: 0.0 });
    // |y| <= 0.0217. The terms from y^5/5! on weigh less than 2^-34 of the sum: plain doubles keep 2^-87. The
    // first one left out, y^12/12!, is below 2^-95.
    let tail = INVERSE_FACTORIALS.iter().rev().fold(0.0, |sum, term| (sum + term) * y.hi);
    let mut power = TWENTY_FOURTH.plus(Double { hi: tail, lo: 0.0 });
    for coefficient in [SIXTH, HALF, ONE, ONE] {
        power = coefficient.plus(y.times(power));
    }
    for _ in 0..4 {
        power = power.times(power);
    }
    power
}

/// 2^k for k of at most 1022 in size.
fn power_of_two(k: i32) -> f64 {
    f64::from_bits(((1023 + k) as u64) << 52)
}

/// log2 of a positive finite number, within 4 ulp of max(1, |log2 x|): a first guess and the centre of an
/// integer's cell, not an exact inverse.
///
/// x = 2^k m with m in [√½, √2); ln m = 2 artanh(s), s = (m-1)/(m+1), |s| <= 0.172: eleven terms reach 2^-57.
pub(super) fn log2(x: f64) -> f64 {
    // Subnormal numbers are scaled into the normal range first.
    let (x, shift) = if x < f64::MIN_POSITIVE { (x * power_of_two(60), -60) } else { (x, 0) };
    let mut k = (x.to_bits() >> 52) as i32 - 1023;
    let mut m = x * power_of_two(-(k / 2)) * power_of_two(-(k - k / 2));
    if m >= std::f64::consts::SQRT_2 {
        m *= 0.5;
        k += 1;
    }
    let s = (m - 1.0) / (m + 1.0);
    let series = (0..11).rev().fold(0.0, |sum, i| sum * s * s + 1.0 / f64::from(2 * i + 1));
    f64::from(k + shift) + 2.0 * s * series / std::f64::consts::LN_2
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;

    #[test]
    fn powers_match_mpmath() {
        // mpmath 1.3, 40 digits, rounded to double. The subnormal one is rounded twice (to 53 bits, then to
        // its own few), which may cost one unit.
        let golden = [
            (0.1, 1.0717734625362931),
            (0.5, std::f64::consts::SQRT_2),
            (-0.3333, 0.7937188645720145),
            (17.77, 223513.12106761918),
            (-1022.5, 1.5733648139913585e-308),
            (-1073.3, 1e-323),
            (1023.9999, 1.7975685325879886e+308),
            (1e-9, 1.000000000693147),
            (-3.5e-17, 1.0),
            (123.456789, 1.4594749905759845e37),
            (0.0, 1.0),
            (-1074.0, 5e-324),
            (1024.0, f64::INFINITY),
            (-1080.0, 0.0),
        ];
        for (t, power) in golden {
            assert_eq!(exp2(t), power, "2^{t}");
        }
    }

    #[test]
    fn fraction_powers_have_eighty_bits() {
        // mpmath 1.3, 60 digits, split into hi + lo.
        let golden: [(f64, f64, f64); 6] = [
            (0.1, 1.0717734625362931, 3.7228133986653606e-17),
            (0.5, std::f64::consts::SQRT_2, -9.667293313452913e-17),
            (-0.5, std::f64::consts::FRAC_1_SQRT_2, -4.833646656726457e-17),
            (0.3333, 1.2598919398737178, 3.165325501679347e-18),
            (-0.27, 0.8293195458144417, 1.746546432204709e-17),
            (0.001, 1.0006933874625807, -1.0869083809256217e-16),
        ];
        for (f, hi, lo) in golden {
            let power = fraction_power(f);
            let error = ((power.hi - hi) + (power.lo - lo)).abs();
            assert!(error <= 2.0_f64.powi(-80), "2^{f}: off by {error:e}");
        }
    }

    #[test]
    fn powers_of_neighbours_are_ordered() {
        // Runs of 64 adjacent doubles, at every size of t, both signs.
        let seed = 11;
        let mut stream = Stream::new(seed, "exp2 order", 0);
        for _ in 0..4_000 {
            let size = 2.0_f64.powi(stream.below(64) as i32 - 53);
            let mut t = (size * (2.0 * stream.uniform() - 1.0)).clamp(-1074.0, 1023.0);
            let mut power = exp2(t);
            for _ in 0..64 {
                t = t.next_up();
                let next = exp2(t);
                assert!(power <= next, "seed {seed}: 2^{t:e} is below its predecessor");
                power = next;
            }
        }
    }

    #[test]
    fn logarithms_invert_powers() {
        let seed = 12;
        let mut stream = Stream::new(seed, "log2", 0);
        for _ in 0..20_000 {
            let t = 2_000.0 * stream.uniform() - 1_000.0;
            let error = (log2(exp2(t)) - t).abs();
            assert!(error <= 4.0 * f64::EPSILON * t.abs().max(1.0), "seed {seed}: t = {t}, off by {error:e}");
        }
        assert_eq!(log2(1.0), 0.0);
        assert_eq!(log2(8.0), 3.0);
        assert_eq!(log2(5e-324), -1074.0);
        assert!((log2(f64::MAX) - 1024.0).abs() < 1e-12);
    }
}
