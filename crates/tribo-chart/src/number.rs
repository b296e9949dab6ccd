//! Numbers as people write them.

/// `10ⁿ` in superscript digits.
pub(crate) fn power_of_ten(exponent: i32) -> String {
    let digits = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let plain = exponent.to_string();
    let superscript = plain.chars().map(|c| match c.to_digit(10) {
        Some(digit) => digits[digit as usize],
        None => '⁻',
    });
    format!("10{}", superscript.collect::<String>())
}

/// A number with `n` significant digits: no power of ten while it is between a ten-thousandth and a million.
pub fn digits(value: f64, n: usize) -> String {
    if value == 0.0 || !value.is_finite() {
        return if value == 0.0 { "0".to_owned() } else { value.to_string() };
    }
    let n = n.clamp(1, 17);
    let rounded = format!("{:.*e}", n - 1, value);
    let (mantissa, exponent) = rounded.split_once('e').unwrap_or((&rounded, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if !(-4..6).contains(&exponent) {
        let mantissa = trimmed(mantissa).replace('-', "−");
        return format!("{mantissa}×{}", power_of_ten(exponent));
    }
    let decimals = (n as i32 - 1 - exponent).max(0) as usize;
    let text = format!("{value:.decimals$}");
    trimmed(&text).replace('-', "−")
}

/// A number with five significant digits.
pub fn plain(value: f64) -> String {
    digits(value, 5)
}

/// Without zeros at the end of a fraction.
fn trimmed(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_plain() {
        let cases = [
            (0.0, "0"),
            (0.397_887_357, "0.39789"),
            (-12.5, "−12.5"),
            (123_456.78, "123457"),
            (1_234_567.0, "1.2346×10⁶"),
            (1e-4, "0.0001"),
            (-2.5e-7, "−2.5×10⁻⁷"),
            (100.0, "100"),
            (9.999_999, "10"),
        ];
        for (value, text) in cases {
            assert_eq!(plain(value), text);
        }
        assert_eq!(digits(0.123_456, 2), "0.12");
        assert_eq!(plain(f64::NAN), "NaN");
    }
}
