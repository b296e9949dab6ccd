//! Axes: which interval is shown, where the ticks are, and how a value becomes a place.
//!
//! Ticks stand at multiples of 1, 2 or 5 times a power of ten on linear axes and at decades on logarithmic ones. A
//! logarithmic axis too short for three decades shows 1-2-5 ticks, and one too short for those linear ticks.

use crate::number::power_of_ten;
use crate::picture::{FONT_SIZE, text_width};

/// How values are spaced along an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scale {
    /// Equal differences are equal lengths.
    #[default]
    Linear,
    /// Equal ratios are equal lengths; values that are not positive cannot be shown and are left out.
    Log,
}

/// One axis of a chart; its interval follows from the data, unless it is given.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Axis {
    /// What is measured, with the unit, e.g. `training time [s]`.
    pub label: String,
    /// Spacing of the values.
    pub scale: Scale,
    /// The ends, where they are not those of the data.
    pub limits: Option<(f64, f64)>,
    /// Ticks with names, for an axis of categories.
    pub named: Vec<(f64, String)>,
}

impl Axis {
    /// A linear axis.
    pub fn linear(label: &str) -> Self {
        Axis { label: label.to_owned(), ..Axis::default() }
    }

    /// A logarithmic axis.
    pub fn log(label: &str) -> Self {
        Axis { scale: Scale::Log, ..Axis::linear(label) }
    }

    /// The same axis from `low` to `high`.
    pub fn within(mut self, low: f64, high: f64) -> Self {
        self.limits = Some((low, high));
        self
    }

    /// The interval: the one given, if it is one, else that of the data.
    pub(crate) fn range(&self, values: impl Iterator<Item = f64>) -> Range {
        match self.limits {
            Some((low, high)) if is_interval(self.scale, low, high) => Range { scale: self.scale, low, high },
            _ => Range::covering(self.scale, values),
        }
    }

    /// Its ticks where labels stand side by side along `length`.
    pub(crate) fn ticks_along(&self, range: &Range, length: f64) -> Vec<Tick> {
        if self.named.is_empty() { range.ticks_along(length) } else { self.named_ticks() }
    }

    /// Its ticks where labels stand above each other.
    pub(crate) fn ticks_above(&self, range: &Range, wanted: usize) -> Vec<Tick> {
        if self.named.is_empty() { range.ticks(wanted) } else { self.named_ticks() }
    }

    fn named_ticks(&self) -> Vec<Tick> {
        self.named.iter().map(|(value, label)| Tick { value: *value, label: label.clone() }).collect()
    }
}

/// Whether these are the ends of an axis that can be drawn.
fn is_interval(scale: Scale, low: f64, high: f64) -> bool {
    is_drawable(scale, low) && is_drawable(scale, high) && low < high && !is_flat(low, high)
}

/// The largest magnitude that is drawn, and its reciprocal the smallest on logarithmic axes: differences and
/// ratios of such values stay finite.
const LARGEST: f64 = 1e100;

/// Whether `value` has a place on an axis of this scale.
pub(crate) fn is_drawable(scale: Scale, value: f64) -> bool {
    match scale {
        Scale::Linear => value.abs() <= LARGEST,
        Scale::Log => (1.0 / LARGEST..=LARGEST).contains(&value),
    }
}

/// Whether the spread of a linear interval is lost in rounding: steps between its ticks would vanish.
fn is_flat(low: f64, high: f64) -> bool {
    high - low <= 1e-9 * low.abs().max(high.abs()) || high - low < 1.0 / LARGEST
}

/// A tick: value and label.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tick {
    pub(crate) value: f64,
    pub(crate) label: String,
}

/// An axis with its interval settled.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Range {
    scale: Scale,
    low: f64,
    high: f64,
}

impl Range {
    /// The interval that shows all drawable `values` with a little room at both ends.
    pub(crate) fn covering(scale: Scale, values: impl Iterator<Item = f64>) -> Self {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values.filter(|value| is_drawable(scale, *value)) {
            low = low.min(value);
            high = high.max(value);
        }
        let room = 0.04;
        let (low, high) = match scale {
            Scale::Linear if low > high => (0.0, 1.0),
            Scale::Log if low > high => (1.0, 10.0),
            Scale::Linear => {
                let magnitude = low.abs().max(high.abs());
                let pad = match is_flat(low, high) {
                    false => room * (high - low),
                    true if magnitude > 1e-9 => 0.1 * magnitude,
                    true => 0.5,
                };
                // Room that would cross zero ends at zero: no negative tick below a count or a time.
                let padded_low = if low >= 0.0 { (low - pad).max(0.0) } else { low - pad };
                (padded_low, high + pad)
            }
            Scale::Log => {
                let decades = (high / low).log10();
                let factor = 10_f64.powf(if decades < 1e-9 { 0.5 } else { room * decades });
                (low / factor, high * factor)
            }
        };
        Range { scale, low, high }
    }

    /// The linear interval from the smallest to the largest of `values`, without room while it has any width.
    pub(crate) fn tightly(values: impl Iterator<Item = f64> + Clone) -> Self {
        let low = values.clone().fold(f64::INFINITY, f64::min);
        let high = values.clone().fold(f64::NEG_INFINITY, f64::max);
        if low < high && !is_flat(low, high) {
            Range { scale: Scale::Linear, low, high }
        } else {
            Range::covering(Scale::Linear, values)
        }
    }

    /// The smallest value shown.
    pub(crate) fn low(&self) -> f64 {
        self.low
    }

    /// The largest value shown.
    pub(crate) fn high(&self) -> f64 {
        self.high
    }

    /// Where `value` is: 0 at the low end, 1 at the high end.
    pub(crate) fn place(&self, value: f64) -> f64 {
        match self.scale {
            Scale::Linear => (value - self.low) / (self.high - self.low),
            Scale::Log => (value / self.low).ln() / (self.high / self.low).ln(),
        }
    }

    /// About `wanted` ticks with labels.
    pub(crate) fn ticks(&self, wanted: usize) -> Vec<Tick> {
        if self.scale == Scale::Log {
            let (first, last) = (self.low.log10().ceil() as i32, self.high.log10().floor() as i32);
            let n_decades = (last - first + 1).max(0) as usize;
            if n_decades >= 3 {
                let stride = n_decades.div_ceil(wanted.max(1)) as i32;
                // Multiples of the stride, so that 10⁰ is among them when it is in sight.
                return (first..=last)
                    .filter(|exponent| exponent.rem_euclid(stride) == 0)
                    .map(|exponent| Tick { value: 10_f64.powi(exponent), label: power_of_ten(exponent) })
                    .collect();
            }
            let ticks = self.within_decades(&[1, 2, 5]);
            if ticks.len() >= 3 {
                return ticks
                    .into_iter()
                    .map(|value| Tick { value, label: number(value, value, self.high) })
                    .collect();
            }
        }
        let step = nice_step((self.high - self.low) / wanted.max(1) as f64);
        let largest = self.low.abs().max(self.high.abs());
        // Ends that are ticks but for rounding count as ticks.
        let (first, last) =
            ((self.low / step - 1e-6).ceil() as i64, (self.high / step + 1e-6).floor() as i64);
        (first..=last)
            .map(|i| i as f64 * step)
            .map(|value| Tick { value, label: number(value, step, largest) })
            .collect()
    }

    /// As many ticks, at most about eight, as have room for their labels side by side along `length`.
    pub(crate) fn ticks_along(&self, length: f64) -> Vec<Tick> {
        let fit = |ticks: &Vec<Tick>| {
            let widest = ticks.iter().map(|tick| text_width(&tick.label, FONT_SIZE)).fold(0.0, f64::max);
            let gaps =
                ticks.windows(2).map(|pair| length * (self.place(pair[1].value) - self.place(pair[0].value)));
            gaps.fold(f64::INFINITY, f64::min) >= widest + 0.6 * FONT_SIZE
        };
        (3..=8).rev().map(|wanted| self.ticks(wanted)).find(fit).unwrap_or_else(|| self.ticks(2))
    }

    /// Places of the unlabelled ticks of a logarithmic axis: 2 to 9 in each decade, while they can be told apart.
    pub(crate) fn minor_ticks(&self) -> Vec<f64> {
        let few_decades = self.scale == Scale::Log && self.high / self.low < 1e8;
        if few_decades { self.within_decades(&[2, 3, 4, 5, 6, 7, 8, 9]) } else { Vec::new() }
    }

    /// The values `digit`·10^k inside the interval.
    fn within_decades(&self, digits: &[i32]) -> Vec<f64> {
        let (first, last) = (self.low.log10().floor() as i32, self.high.log10().floor() as i32);
        (first..=last)
            .flat_map(|exponent| digits.iter().map(move |digit| f64::from(*digit) * 10_f64.powi(exponent)))
            .filter(|value| (self.low..=self.high).contains(value))
            .collect()
    }
}

/// 1, 2 or 5 times a power of ten, the one nearest to `rough` in ratio (√2, √10 and √50 part them).
fn nice_step(rough: f64) -> f64 {
    let power = 10_f64.powi(rough.log10().floor() as i32);
    let bounds = [(2_f64.sqrt(), 1.0), (10_f64.sqrt(), 2.0), (50_f64.sqrt(), 5.0)];
    let nearest = bounds.iter().find(|(bound, _)| rough / power < *bound);
    power * nearest.map_or(10.0, |(_, multiple)| *multiple)
}

/// `value` as one of several labels that differ by multiples of `step`: no more digits than the step needs, commas
/// between thousands. Powers of ten on axes whose `largest` magnitude would be long to write.
fn number(value: f64, step: f64, largest: f64) -> String {
    let magnitude = value.abs();
    if magnitude < step * 1e-6 {
        return "0".to_owned();
    }
    let sign = if value < 0.0 { "−" } else { "" };
    let step_exponent = (step.log10() + 1e-9).floor() as i32;
    if !(1e-3..1e6).contains(&largest) {
        let exponent = (magnitude.log10() + 1e-9).floor() as i32;
        let decimals = (exponent - step_exponent).clamp(0, 12) as usize;
        let mantissa = format!("{:.decimals$}", magnitude / 10_f64.powi(exponent));
        let short = if mantissa.contains('.') {
            mantissa.trim_end_matches('0').trim_end_matches('.')
        } else {
            &mantissa
        };
        return if short == "1" {
            format!("{sign}{}", power_of_ten(exponent))
        } else {
            format!("{sign}{short}×{}", power_of_ten(exponent))
        };
    }
    let decimals = (-step_exponent).max(0) as usize;
    let text = format!("{magnitude:.decimals$}");
    let (whole, fraction) = text.split_once('.').map_or((text.as_str(), None), |(w, f)| (w, Some(f)));
    let mut grouped = String::from(sign);
    for (i, digit) in whole.chars().enumerate() {
        if i > 0 && (whole.len() - i) % 3 == 0 {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    fraction.map_or(grouped.clone(), |digits| format!("{grouped}.{digits}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(scale: Scale, low: f64, high: f64) -> Vec<String> {
        Range { scale, low, high }.ticks(6).into_iter().map(|tick| tick.label).collect()
    }

    #[test]
    fn decades_are_labelled_as_powers() {
        assert_eq!(labels(Scale::Log, 0.009, 1100.0), ["10⁻²", "10⁻¹", "10⁰", "10¹", "10²", "10³"]);
    }

    #[test]
    fn many_decades_are_thinned_and_keep_one() {
        assert_eq!(labels(Scale::Log, 1e-9, 1e9), ["10⁻⁸", "10⁻⁴", "10⁰", "10⁴", "10⁸"]);
    }

    #[test]
    fn short_log_axes_get_finer_ticks() {
        assert_eq!(labels(Scale::Log, 8.0, 120.0), ["10", "20", "50", "100"]);
        assert_eq!(labels(Scale::Log, 0.015, 0.12), ["0.02", "0.05", "0.1"]);
        assert_eq!(labels(Scale::Log, 3.0, 4.0), ["3.0", "3.2", "3.4", "3.6", "3.8", "4.0"]);
    }

    #[test]
    fn linear_ticks_are_round_and_carry_the_digits_they_need() {
        assert_eq!(labels(Scale::Linear, -0.1, 1.04), ["0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(
            labels(Scale::Linear, 0.0, 61_000.0),
            ["0", "10,000", "20,000", "30,000", "40,000", "50,000", "60,000"]
        );
        assert_eq!(labels(Scale::Linear, -1.1e7, 0.0), ["−10⁷", "−8×10⁶", "−6×10⁶", "−4×10⁶", "−2×10⁶", "0"]);
        assert_eq!(labels(Scale::Linear, 0.0, 2.1e6), ["0", "5×10⁵", "10⁶", "1.5×10⁶", "2×10⁶"]);
        let near_one = ["0.99998", "0.99999", "1.00000", "1.00001", "1.00002", "1.00003"];
        assert_eq!(labels(Scale::Linear, 0.999_98, 1.000_03), near_one);
        assert_eq!(labels(Scale::Linear, 0.0, 5.1e-7), ["0", "10⁻⁷", "2×10⁻⁷", "3×10⁻⁷", "4×10⁻⁷", "5×10⁻⁷"]);
    }

    #[test]
    fn labels_side_by_side_do_not_touch() {
        for (scale, low, high) in [
            (Scale::Linear, 0.0, 1.4e5),
            (Scale::Linear, 1.000_001, 1.000_009),
            (Scale::Log, 3.0, 80.0),
            (Scale::Log, 1e-40, 1e40),
        ] {
            let range = Range { scale, low, high };
            for length in [300.0, 540.0] {
                let ticks = range.ticks_along(length);
                assert!(ticks.len() >= 2, "{low} to {high} on {length}: {ticks:?}");
                for pair in ticks.windows(2) {
                    let gap = length * (range.place(pair[1].value) - range.place(pair[0].value));
                    let halves =
                        (text_width(&pair[0].label, FONT_SIZE) + text_width(&pair[1].label, FONT_SIZE)) / 2.0;
                    assert!(gap > halves, "{pair:?} overlap on {length}");
                }
            }
        }
    }

    #[test]
    fn every_interval_shows_its_data_between_few_ticks() {
        let cases: [&[f64]; 9] = [
            &[],
            &[0.0],
            &[7.0, 7.0],
            &[1e12, 1e12 + 1.0],
            &[-1e100, 1e100],
            &[1e-320, 2e-320],
            &[f64::NAN, f64::INFINITY, 1e300, 2.0, 3.0],
            &[1e-100, 1e100],
            &[0.999_999, 1.000_001],
        ];
        for values in cases {
            for scale in [Scale::Linear, Scale::Log] {
                let range = Range::covering(scale, values.iter().copied());
                let n_ticks = range.ticks(6).len();
                assert!((2..=14).contains(&n_ticks), "{scale:?} {values:?} gave {n_ticks} ticks");
                for value in values.iter().filter(|value| is_drawable(scale, **value)) {
                    let place = range.place(*value);
                    assert!((0.0..=1.0).contains(&place), "{scale:?} {values:?}: {value} at {place}");
                }
            }
        }
    }
}
