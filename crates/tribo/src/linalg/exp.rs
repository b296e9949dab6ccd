//! Exponential of a slice, vectorised.
//!
//! exp(x) = 2^k exp(r), k = round(x / ln 2), r = x - k ln 2 in [-0.347, 0.347] by a two-part ln 2
//! (Cody and Waite) `[@cody1980]`, exp(r) by its Taylor sum of degree 13: the first term left out is
//! 0.347^14 / 14! = 4e-18, below half an ulp, so no fitted coefficients are needed. Measured against correctly
//! rounded values the error is at most 1 ulp (test below allows 2). Written by hand because no crate gives a
//! vectorised double-precision exp with run-time dispatch on stable Rust.

use super::dispatch::vectorised;

/// Below this the result is flushed to zero: 2^k would be subnormal. exp(-708) is 3e-308.
const LOWEST: f64 = -708.0;
/// Above this exp overflows.
const HIGHEST: f64 = 709.782_712_893_384;
/// Adding and subtracting 1.5 · 2^52 rounds to an integer and leaves it in the low bits.
const ROUNDER: f64 = 6_755_399_441_055_744.0;
const LN_2_HIGH: f64 = 0.693_147_180_369_123_8;
const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;
/// 1 / j! for j = 13 down to 2.
const TAYLOR: [f64; 12] = [
    1.0 / 6_227_020_800.0,
    1.0 / 479_001_600.0,
    1.0 / 39_916_800.0,
    1.0 / 3_628_800.0,
    1.0 / 362_880.0,
    1.0 / 40_320.0,
    1.0 / 5_040.0,
    1.0 / 720.0,
    1.0 / 120.0,
    1.0 / 24.0,
    1.0 / 6.0,
    0.5,
];

/// exp(x) without branches, for use inside `vectorised!` bodies. NaN stays NaN.
#[inline(always)]
pub(crate) fn exp(x: f64) -> f64 {
    let shifted = x.mul_add(std::f64::consts::LOG2_E, ROUNDER);
    let k = shifted - ROUNDER;
    let r = k.mul_add(-LN_2_LOW, k.mul_add(-LN_2_HIGH, x));
    let mut sum = TAYLOR[0];
    for coefficient in &TAYLOR[1..] {
        sum = sum.mul_add(r, *coefficient);
    }
    // exp(r) - 1 = r + r² (1/2 + …), added to one last so that its rounding is the only large one.
    let value = (sum * r).mul_add(r, r) + 1.0;
    // 2^(k-1) twice covers k = 1024, where 2^k itself is not a number but exp(x) still is.
    let half_scale = f64::from_bits(shifted.to_bits().wrapping_add(1022) << 52);
    let value = value * half_scale * 2.0;
    let value = if x < LOWEST { 0.0 } else { value };
    if x > HIGHEST { f64::INFINITY } else { value }
}

vectorised! {
    /// Replaces every entry by its exponential. Results below 2^-1021 are flushed to zero.
    pub fn exp_in_place(values: &mut [f64]) {
        for value in values {
            *value = exp(*value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ulps(a: f64, b: f64) -> u64 {
        (a.to_bits() as i64).abs_diff(b.to_bits() as i64)
    }

    #[test]
    fn agrees_with_the_standard_library() {
        // The standard exp is within 1 ulp of the truth; the golden test in tests/golden.rs uses exact values.
        let mut values: Vec<f64> = (0..200_000).map(|i| -708.0 + i as f64 * (1417.0 / 200_000.0)).collect();
        let truth: Vec<f64> = values.iter().map(|x| x.exp()).collect();
        exp_in_place(&mut values);
        for (value, truth) in values.iter().zip(&truth) {
            assert!(ulps(*value, *truth) <= 2, "{value:e} is not {truth:e}");
        }
    }

    #[test]
    fn limits() {
        let mut values = [0.0, -0.0, -1e300, f64::NEG_INFINITY, f64::INFINITY, 710.0, f64::NAN, 709.78];
        exp_in_place(&mut values);
        assert_eq!(&values[..6], &[1.0, 1.0, 0.0, 0.0, f64::INFINITY, f64::INFINITY]);
        assert!(values[6].is_nan());
        assert!(values[7].is_finite());
    }

    #[test]
    fn versions_give_the_same_bits() {
        // The dispatched loop against the plain body, compiled for the base instruction set.
        let arguments: Vec<f64> = (0..5_000).map(|i| -(i as f64) * 0.1417).collect();
        let mut values = arguments.clone();
        exp_in_place(&mut values);
        assert!(arguments.iter().zip(&values).all(|(x, v)| exp(*x).to_bits() == v.to_bits()));
    }
}
