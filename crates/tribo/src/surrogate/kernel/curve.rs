//! The functions g(r²) of the kernels and their slopes h(r²) = -2 g'(r²).
//!
//! | curve     | a    | g                    | h                  |
//! |-----------|------|----------------------|--------------------|
//! | Matern12  | r    | e⁻ᵃ                  | e⁻ᵃ / r            |
//! | Matern32  | √3 r | (1 + a) e⁻ᵃ          | 3 e⁻ᵃ              |
//! | Matern52  | √5 r | (1 + a + a²/3) e⁻ᵃ   | 5/3 (1 + a) e⁻ᵃ    |
//! | SE        | r    | e^(-r²/2)            | e^(-r²/2)          |
//!
//! h of Matern-1/2 is infinite at r = 0, where the kernel has a kink. It is only ever multiplied by a
//! coordinate difference (zero there) or its square, so it is cut off at a tiny r, which makes those
//! products zero.

use crate::linalg::dispatch::vectorised;
use crate::linalg::exp::exp;

/// The function g.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Curve {
    /// Rough: continuous sample paths.
    Matern12,
    /// Once differentiable.
    Matern32,
    /// Twice differentiable.
    Matern52,
    /// Infinitely smooth.
    SquaredExponential,
}

impl Curve {
    /// All of them, roughest first.
    pub const ALL: [Curve; 4] =
        [Curve::Matern12, Curve::Matern32, Curve::Matern52, Curve::SquaredExponential];

    /// The name used in files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Curve::Matern12 => "matern12",
            Curve::Matern32 => "matern32",
            Curve::Matern52 => "matern52",
            Curve::SquaredExponential => "se",
        }
    }

    /// Replaces every r² in `column` by s² g(r²).
    pub(super) fn values(self, signal_var: f64, column: &mut [f64]) {
        match self {
            Curve::Matern12 => matern12(signal_var, column),
            Curve::Matern32 => matern32(signal_var, column),
            Curve::Matern52 => matern52(signal_var, column),
            Curve::SquaredExponential => squared_exponential(signal_var, column),
        }
    }

    /// Replaces every r² in `column` by s² g(r²) and puts s² h(r²) into `slopes`.
    pub(super) fn values_and_slopes(self, signal_var: f64, column: &mut [f64], slopes: &mut [f64]) {
        match self {
            Curve::Matern12 => matern12_slopes(signal_var, column, slopes),
            Curve::Matern32 => matern32_slopes(signal_var, column, slopes),
            Curve::Matern52 => matern52_slopes(signal_var, column, slopes),
            Curve::SquaredExponential => {
                squared_exponential(signal_var, column);
                slopes.copy_from_slice(column);
            }
        }
    }
}

const SQRT_3: f64 = 1.732_050_807_568_877_2;
const SQRT_5: f64 = 2.236_067_977_499_79;
/// Below this r the slope of Matern-1/2 is cut off.
const TINY_DISTANCE: f64 = 1e-150;

vectorised! {
    fn matern12(signal_var: f64, column: &mut [f64]) {
        for value in column {
            *value = signal_var * exp(-value.sqrt());
        }
    }
}

vectorised! {
    fn matern12_slopes(signal_var: f64, column: &mut [f64], slopes: &mut [f64]) {
        for (value, slope) in column.iter_mut().zip(slopes) {
            let r = value.sqrt();
            *value = signal_var * exp(-r);
            *slope = *value / r.max(TINY_DISTANCE);
        }
    }
}

vectorised! {
    fn matern32(signal_var: f64, column: &mut [f64]) {
        for value in column {
            let a = SQRT_3 * value.sqrt();
            *value = signal_var * (1.0 + a) * exp(-a);
        }
    }
}

vectorised! {
    fn matern32_slopes(signal_var: f64, column: &mut [f64], slopes: &mut [f64]) {
        for (value, slope) in column.iter_mut().zip(slopes) {
            let a = SQRT_3 * value.sqrt();
            let e = exp(-a);
            *value = signal_var * (1.0 + a) * e;
            *slope = 3.0 * signal_var * e;
        }
    }
}

vectorised! {
    fn matern52(signal_var: f64, column: &mut [f64]) {
        for value in column {
            let a = SQRT_5 * value.sqrt();
            *value = signal_var * (a * a).mul_add(1.0 / 3.0, 1.0 + a) * exp(-a);
        }
    }
}

vectorised! {
    fn matern52_slopes(signal_var: f64, column: &mut [f64], slopes: &mut [f64]) {
        for (value, slope) in column.iter_mut().zip(slopes) {
            let a = SQRT_5 * value.sqrt();
            let e = exp(-a);
            *value = signal_var * (a * a).mul_add(1.0 / 3.0, 1.0 + a) * e;
            *slope = (5.0 / 3.0) * signal_var * (1.0 + a) * e;
        }
    }
}

vectorised! {
    fn squared_exponential(signal_var: f64, column: &mut [f64]) {
        for value in column {
            *value = signal_var * exp(-0.5 * *value);
        }
    }
}
