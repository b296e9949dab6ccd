//! Single values: from TOML to numbers, durations and sizes, and what a value is called in a message.

use regex_lite::Regex;
use std::time::Duration;
use toml::de::{DeInteger, DeValue};

/// Durations as text. The units are those of humantime but for months, whose `M` is too close to `m`, and years.
pub(super) const DURATION_PATTERN: &str = "^([0-9]+([.][0-9]+)? *(ms|s|sec|secs|second|seconds|m|min|mins|minute|minutes|h|hr|hrs|hour|hours|d|day|days|w|week|weeks) *)+$";
/// Longest duration, a hundred years: clocks still add it without overflow.
pub(super) const LONGEST_S: f64 = 36_525.0 * 86_400.0;

/// Sizes as text.
pub(super) const SIZE_PATTERN: &str = "^[0-9]+ *(B|kB|KB|MB|GB|KiB|MiB|GiB)$";
const UNITS: [(&str, u64); 8] = [
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("kB", 1_000),
    ("KB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("B", 1),
];
/// Smallest and largest size: less would hold no message, more no disk.
pub(super) const SIZES: (u64, u64) = (1_000, 1_000_000_000_000);

/// A whole number; None if it is not one of 64 bits.
pub(super) fn integer(value: &DeValue<'_>) -> Option<i64> {
    value.as_integer().and_then(|integer| i64::from_str_radix(integer.as_str(), integer.radix()).ok())
}

/// A finite number, written with or without a point.
pub(super) fn number(value: &DeValue<'_>) -> Option<f64> {
    let number = match value {
        DeValue::Float(float) => float.as_str().parse().ok(),
        DeValue::Integer(whole) => {
            let large =
                |whole: &DeInteger<'_>| (whole.radix() == 10).then(|| whole.as_str().parse().ok()).flatten();
            integer(value).map(|i| i as f64).or_else(|| large(whole))
        }
        _ => None,
    };
    number.filter(|number: &f64| number.is_finite())
}

/// A duration as text, such as `1h 30m`.
pub(super) fn duration_of(text: &str) -> Option<Duration> {
    matches(DURATION_PATTERN, text).then(|| humantime::parse_duration(text).ok())?
}

/// A duration above zero.
pub(super) fn duration(value: &DeValue<'_>) -> Option<Duration> {
    let duration = match value {
        DeValue::String(text) => duration_of(text),
        _ => number(value).and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()),
    };
    duration.filter(|duration| !duration.is_zero() && duration.as_secs_f64() <= LONGEST_S)
}

/// A number of bytes.
pub(super) fn size(value: &DeValue<'_>) -> Option<u64> {
    let size = match value {
        DeValue::String(text) if matches(SIZE_PATTERN, text) => {
            let (unit, bytes) = UNITS.iter().find(|(unit, _)| text.ends_with(unit))?;
            text.strip_suffix(unit)?.trim_end().parse::<u64>().ok()?.checked_mul(*bytes)
        }
        _ => integer(value).and_then(|bytes| u64::try_from(bytes).ok()),
    };
    size.filter(|size| (SIZES.0..=SIZES.1).contains(size))
}

/// A string.
pub(super) fn text(value: &DeValue<'_>) -> Option<String> {
    value.as_str().map(str::to_owned)
}

/// An array of values that `read` takes.
pub(super) fn list<T>(value: &DeValue<'_>, read: impl Fn(&DeValue<'_>) -> Option<T>) -> Option<Vec<T>> {
    value.as_array()?.iter().map(|element| read(element.get_ref())).collect()
}

fn matches(pattern: &str, text: &str) -> bool {
    Regex::new(pattern).is_ok_and(|pattern| pattern.is_match(text))
}

/// A value in a message: `the text "four"`.
pub(super) fn found(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) if text.chars().count() > 40 => {
            format!("the text {:?}...", text.chars().take(40).collect::<String>())
        }
        DeValue::String(text) => format!("the text {text:?}"),
        DeValue::Integer(integer) => format!("the whole number {integer}"),
        DeValue::Float(float) if number(value).is_none() => format!("{float}, which is not a finite number"),
        DeValue::Float(float) => format!("the number {float}"),
        DeValue::Boolean(flag) => flag.to_string(),
        DeValue::Datetime(_) => "a date or time".to_owned(),
        DeValue::Array(array) if array.iter().any(|element| element.get_ref().is_table()) => {
            "an array of sections".to_owned()
        }
        DeValue::Array(_) => "an array".to_owned(),
        DeValue::Table(_) => "a section".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed<T>(toml: &str, read: impl Fn(&DeValue<'_>) -> Option<T>) -> Option<T> {
        read(DeValue::parse(toml).unwrap().get_ref())
    }

    #[test]
    fn durations_as_people_write_them() {
        for (toml, seconds) in [
            ("\"12h\"", 43_200.0),
            ("\"90m\"", 5_400.0),
            ("\"1d 2h\"", 93_600.0),
            ("\"1h30m\"", 5_400.0),
            ("\"1.5 hours\"", 5_400.0),
            ("\"250ms\"", 0.25),
            ("90", 90.0),
            ("0.5", 0.5),
        ] {
            assert_eq!(parsed(toml, duration), Some(Duration::from_secs_f64(seconds)), "{toml}");
        }
        for unit in DURATION_PATTERN.split("*(").nth(1).unwrap().split(')').next().unwrap().split('|') {
            assert!(parsed(&format!("\"2{unit}\""), duration).is_some(), "{unit}");
        }
        let bad = [
            "\"\"", "\"h\"", "\"12\"", "\"1M\"", "\"1y\"", "\"1:30\"", "\"1 2h\"", "\"-1h\"", "0", "-1",
            "\"0s\"",
        ];
        for toml in bad.into_iter().chain([
            "nan",
            "inf",
            "1e300",
            "true",
            "\"99999999999w\"",
            "\"0.3333333333333333s\"",
        ]) {
            assert_eq!(parsed(toml, duration), None, "{toml}");
        }
    }

    #[test]
    fn sizes_in_both_kinds_of_units() {
        for (toml, bytes) in [
            ("\"16MB\"", 16_000_000),
            ("\"1 MiB\"", 1 << 20),
            ("\"2kB\"", 2_000),
            ("4096", 4096),
            ("\"5000B\"", 5_000),
        ] {
            assert_eq!(parsed(toml, size), Some(bytes), "{toml}");
        }
        for toml in
            ["\"16\"", "\"MB\"", "0", "-5", "1.5", "\"1.5MB\"", "\"99999999999999999999GB\"", "\"1mb\""]
        {
            assert_eq!(parsed(toml, size), None, "{toml}");
        }
    }

    #[test]
    fn numbers_are_finite() {
        assert_eq!(parsed("0x1F", number), Some(31.0));
        assert_eq!(parsed("-1_000", number), Some(-1000.0));
        assert_eq!(parsed("100000000000000000000", number), Some(1e20));
        assert_eq!(parsed("100000000000000000000", integer), None);
        for toml in ["nan", "-inf", "1e999", "\"1\"", "true"] {
            assert_eq!(parsed(toml, number), None, "{toml}");
        }
    }
}
