//! Known constraints between inputs: `x + y <= 1`, `sqrt(a^2 + b^2) <= 3`, `0.9 <= x / y <= 1.1`.
//!
//! A formula is a comparison of cheap expressions of the parameters, as people write them (`parse`), kept as a `tape` of
//! operations. A point meets it if the comparison is true of the values that the evaluation is given, in doubles and in the
//! order written: integers after rounding, no tolerance. What is no number meets nothing.
//!
//! [`Region`] is the part of the unit cube where all formulas are met: whether a point is in it, the nearest point that is,
//! a random one. Proposals stay inside; results from elsewhere that lie outside are data like all others.
//!
//! An equality leaves no volume, and doubles hardly ever meet one exactly. Between integers it is allowed; with a float it is
//! refused, as one of the inputs is then no input: the program can compute it from the others.

mod nearest;
mod parse;
mod region;
mod tape;
#[cfg(test)]
mod tests;

pub(super) use region::Formulas;
pub use region::Region;

use super::{Codec, Kind, Parameter};
use crate::error::{Error, Result};
use std::fmt;
use tape::Tape;

/// How two sides are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sign {
    AtMost,
    Below,
    AtLeast,
    Above,
    Equal,
}

impl Sign {
    /// Which way it goes: two comparisons of a chain must go the same.
    fn way(self) -> i8 {
        match self {
            Sign::AtMost | Sign::Below => -1,
            Sign::AtLeast | Sign::Above => 1,
            Sign::Equal => 0,
        }
    }
}

/// Two operations of a tape, compared.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Comparison {
    left: usize,
    sign: Sign,
    right: usize,
}

impl Comparison {
    fn is_met(self, values: &[f64]) -> bool {
        let (left, right) = (values[self.left], values[self.right]);
        match self.sign {
            Sign::AtMost => left <= right,
            Sign::Below => left < right,
            Sign::AtLeast => left >= right,
            Sign::Above => left > right,
            Sign::Equal => left == right,
        }
    }

    /// How far beyond: positive where it is not met; infinite where a side is no number.
    fn excess(self, values: &[f64]) -> f64 {
        let (left, right) = (values[self.left], values[self.right]);
        let excess = match self.sign.way() {
            -1 => left - right,
            1 => right - left,
            _ => (left - right).abs(),
        };
        if excess.is_nan() { f64::INFINITY } else { excess }
    }
}

/// A known constraint between inputs.
#[derive(Debug, Clone, PartialEq)]
pub struct Formula {
    text: String,
    tape: Tape,
    comparisons: Vec<Comparison>,
    /// Parameter and element of each input of the tape.
    inputs: Vec<(usize, usize)>,
}

impl Formula {
    /// Reads a formula over these parameters; the error says where it goes wrong.
    pub fn parse(text: &str, parameters: &[Parameter]) -> Result<Formula> {
        let parse::Parsed { tape, comparisons, inputs, canonical } = parse::parse(text, parameters)?;
        let is_float =
            |&&(index, _): &&(usize, usize)| matches!(parameters[index].kind(), Kind::Float { .. });
        if comparisons.iter().any(|comparison| comparison.sign == Sign::Equal)
            && let Some((index, _)) = inputs.iter().find(is_float)
        {
            let name = parameters[*index].name();
            let why = format!(
                "an equality is met by no float but by chance; remove `{name}` and compute it from the others where it is \
                 used, or give a band, such as \"0.99 <= x + y <= 1.01\""
            );
            return Err(Error::Formula { text: text.to_owned(), at: 1, why });
        }
        Ok(Formula { text: canonical, tape, comparisons, inputs })
    }

    /// Whether these inputs meet it: however powers are computed.
    fn is_met(&self, inputs: &[f64]) -> bool {
        let all = |values: &[f64]| self.comparisons.iter().all(|comparison| comparison.is_met(values));
        all(&self.tape.values(inputs))
            && self.tape.values_of_products(inputs).is_none_or(|values| all(&values))
    }
}

/// As it was written, with blanks where people put them.
impl fmt::Display for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// A coordinate that formulas look at, and how it becomes the number that they see.
#[derive(Debug, Clone, PartialEq)]
struct Axis {
    coordinate: usize,
    codec: Codec,
}

impl Axis {
    /// The number that the evaluation is given.
    fn number(&self, u: f64) -> f64 {
        match &self.codec {
            Codec::Float(interval) => interval.decode(u),
            Codec::Int { low, high } => {
                let count = (high - low + 1) as f64;
                (low + (u * count).floor() as i64).min(*high) as f64
            }
            Codec::LogInt { low, high, interval } => {
                (interval.decode(u).round() as i64).clamp(*low, *high) as f64
            }
            Codec::TwoCategories | Codec::OneHot { .. } => f64::NAN,
        }
    }

    /// The same without rounding to integers, and its slope.
    fn relaxed(&self, u: f64) -> (f64, f64) {
        match &self.codec {
            Codec::Float(interval) | Codec::LogInt { interval, .. } => {
                (interval.decode(u), interval.slope(u))
            }
            Codec::Int { low, high } => {
                let count = (high - low + 1) as f64;
                (*low as f64 - 0.5 + u * count, count)
            }
            Codec::TwoCategories | Codec::OneHot { .. } => (f64::NAN, 0.0),
        }
    }

    fn is_float(&self) -> bool {
        matches!(self.codec, Codec::Float(_))
    }

    /// How many values an integer takes; None for a float.
    fn n_values(&self) -> Option<u64> {
        match &self.codec {
            Codec::Int { low, high } | Codec::LogInt { low, high, .. } => Some(high.abs_diff(*low) + 1),
            _ => None,
        }
    }

    /// The coordinate of an integer so many values away, inside its range.
    fn stepped(&self, u: f64, by: i64) -> f64 {
        let value = self.number(u) as i64;
        match &self.codec {
            Codec::Int { low, high } => {
                let count = (high - low + 1) as f64;
                super::cell_centre((value.saturating_add(by).clamp(*low, *high) - low) as f64, count)
            }
            Codec::LogInt { low, high, interval } => {
                interval.place(value.saturating_add(by).clamp(*low, *high) as f64)
            }
            _ => u,
        }
    }
}
