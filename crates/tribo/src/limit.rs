//! Limits on what an evaluation answers: `stress <= 200`, `0.9 <= lift <= 1.1`.
//!
//! An evaluation gives the number to optimise and others beside it; a limit says where one of those others has to be. A
//! point is *feasible* if every limited output was measured there and none is beyond its limit by more than the
//! tolerance. That one rule decides what the best point is, everywhere.
//!
//! The tolerance is in the units of the output. If none is given it is a millionth of the larger limit's size (a millionth
//! where that is zero), and for an equality a ten-thousandth: simulations answer with some six digits.

use crate::error::{Error, Result};
use std::fmt;

/// The tolerance of a limit, relative to its size, and that of an equality.
const TOLERANCE: f64 = 1e-6;
const EQUALITY_TOLERANCE: f64 = 1e-4;

/// Where an output has to be.
#[derive(Debug, Clone, PartialEq)]
pub struct Limit {
    name: String,
    low: Option<f64>,
    high: Option<f64>,
    tolerance: f64,
}

impl Limit {
    /// `name` must not be below `low` nor above `high`; one of them may be missing, and both may be the same number.
    pub fn new(name: impl Into<String>, low: Option<f64>, high: Option<f64>) -> Result<Limit> {
        let name = name.into();
        let refuse = |why: String| Err(Error::Limit { name: name.clone(), why });
        if let Some(value) = [low, high].into_iter().flatten().find(|value| !value.is_finite()) {
            return refuse(format!("{value} is no limit; give a finite number"));
        }
        let size = match (low, high) {
            (None, None) => return refuse("there is no limit; give a lower or an upper one".to_owned()),
            (Some(low), Some(high)) if low > high => {
                return refuse(format!("it cannot be at least {low} and at most {high}"));
            }
            (low, high) => low.map_or(0.0, f64::abs).max(high.map_or(0.0, f64::abs)),
        };
        let relative = if low == high { EQUALITY_TOLERANCE } else { TOLERANCE };
        let tolerance = relative * if size > 0.0 { size } else { 1.0 };
        Ok(Limit { name, low, high, tolerance })
    }

    /// The same with another tolerance, in the units of the output.
    pub fn with_tolerance(self, tolerance: f64) -> Result<Limit> {
        if tolerance.is_finite() && tolerance >= 0.0 {
            return Ok(Limit { tolerance, ..self });
        }
        let why = format!("{tolerance} is no tolerance; give a number that is not negative");
        Err(Error::Limit { name: self.name, why })
    }

    /// A limit as people write it: `stress <= 200`, `lift >= 0.9`, `0.9 <= lift <= 1.1`, `200 >= stress`, `area == 4`.
    pub fn parse(text: &str) -> Result<Limit> {
        let refuse = |why: &str| {
            let why =
                format!("{why}; write it as \"stress <= 200\", \"0.9 <= lift <= 1.1\" or \"area == 4\"");
            Err(Error::Limit { name: text.to_owned(), why })
        };
        let (mut parts, mut signs, mut rest) = (vec![], vec![], text);
        while let Some(at) = rest.find(['<', '>', '=']) {
            parts.push(rest[..at].trim());
            let sign: String = rest[at..].chars().take_while(|c| "<>=".contains(*c)).collect();
            rest = &rest[at + sign.len()..];
            signs.push(match sign.as_str() {
                "<=" | "<" => '<',
                ">=" | ">" => '>',
                "==" | "=" => '=',
                _ => return refuse(&format!("`{sign}` is no comparison")),
            });
        }
        parts.push(rest.trim());
        let number = |text: &str| text.parse::<f64>().ok();
        let names: Vec<usize> = (0..parts.len()).filter(|&k| number(parts[k]).is_none()).collect();
        let [place] = *names else {
            return refuse("a limit has the name of one output, and numbers");
        };
        if parts[place].is_empty() || parts.len() > 3 || parts.len() < 2 || (parts.len() == 3 && place != 1) {
            return refuse("it is no limit");
        }
        let (mut low, mut high) = (None, None);
        for (k, &sign) in signs.iter().enumerate() {
            let is_left = k == place;
            let value = number(parts[if is_left { k + 1 } else { k }]);
            // What the sign says about the name, which stands left or right of it.
            match (sign, is_left) {
                ('=', _) if signs.len() == 1 => (low, high) = (value, value),
                ('<', true) | ('>', false) if high.is_none() => high = value,
                ('>', true) | ('<', false) if low.is_none() => low = value,
                _ => return refuse("the two comparisons do not go together"),
            }
        }
        Limit::new(parts[place], low, high)
    }

    /// The output it is for.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The output must not be below this.
    pub fn low(&self) -> Option<f64> {
        self.low
    }

    /// The output must not be above this.
    pub fn high(&self) -> Option<f64> {
        self.high
    }

    /// How far beyond is still met.
    pub fn tolerance(&self) -> f64 {
        self.tolerance
    }

    /// Whether the output has to be one number.
    pub fn is_equality(&self) -> bool {
        self.low == self.high
    }

    /// How far a value is beyond the limit; zero or less inside, where it is the distance to the nearer end. What is no number
    /// is infinitely far beyond.
    pub fn excess(&self, value: f64) -> f64 {
        if value.is_nan() {
            return f64::INFINITY;
        }
        let above = self.high.map_or(f64::NEG_INFINITY, |high| value - high);
        let below = self.low.map_or(f64::NEG_INFINITY, |low| low - value);
        above.max(below)
    }

    /// Whether a value is within the limit, or beyond by no more than the tolerance.
    pub fn is_met(&self, value: f64) -> bool {
        self.excess(value) <= self.tolerance
    }

    /// What excesses are divided by to compare limits of different units: the size of the limit, or of its width.
    pub fn size(&self) -> f64 {
        let size = self.low.map_or(0.0, f64::abs).max(self.high.map_or(0.0, f64::abs));
        if size > 0.0 { size } else { 1.0 }
    }
}

/// For people: `stress <= 200`.
impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.low, self.high) {
            (Some(low), Some(high)) if low == high => write!(f, "{} == {high}", self.name),
            (Some(low), Some(high)) => write!(f, "{low} <= {} <= {high}", self.name),
            (Some(low), None) => write!(f, "{} >= {low}", self.name),
            (None, high) => write!(f, "{} <= {}", self.name, high.unwrap_or(f64::INFINITY)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read_as_people_write_them() {
        for (text, low, high) in [
            ("stress <= 200", None, Some(200.0)),
            ("stress<2e2", None, Some(200.0)),
            ("200 >= peak stress", None, Some(200.0)),
            ("lift >= -0.9", Some(-0.9), None),
            ("0.9 <= lift <= 1.1", Some(0.9), Some(1.1)),
            ("1.1 >= lift >= 0.9", Some(0.9), Some(1.1)),
            ("area == 4", Some(4.0), Some(4.0)),
            ("4 = area", Some(4.0), Some(4.0)),
        ] {
            let limit = Limit::parse(text).unwrap();
            assert_eq!((limit.low(), limit.high()), (low, high), "{text}");
            assert_eq!(Limit::parse(&limit.to_string()).unwrap(), limit);
        }
        for text in [
            "",
            "stress",
            "200",
            "200 <= 300",
            "a <= b",
            "stress <= 200 <= 300",
            "1 <= x >= 2",
            "2 <= x <= 1",
            "<= 3",
            "x => 3",
            "x <= inf",
            "1 <= x == 2",
            "1 < x < 2 < 3",
        ] {
            assert!(Limit::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn one_tolerance_decides() {
        let limit = Limit::parse("stress <= 200").unwrap();
        assert!((limit.tolerance() - 2e-4).abs() < 1e-12);
        assert!(limit.is_met(200.0001) && !limit.is_met(200.001) && !limit.is_met(f64::NAN));
        assert_eq!(limit.excess(150.0), -50.0);
        let band = Limit::parse("0.9 <= lift <= 1.1").unwrap();
        assert!((band.excess(1.0) + 0.1).abs() < 1e-12 && (band.excess(0.5) - 0.4).abs() < 1e-12);
        assert_eq!(Limit::parse("drag <= 0").unwrap().tolerance(), 1e-6);
        assert!((Limit::parse("area == 4").unwrap().tolerance() - 4e-4).abs() < 1e-12);
        let wide = limit.with_tolerance(1.0).unwrap();
        assert!(wide.is_met(201.0) && wide.with_tolerance(f64::NAN).is_err());
    }
}
