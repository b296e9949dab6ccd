//! Words and columns for people: aligned tables, durations, numbers.

/// Columns of text, each as wide as its widest cell. Columns whose cells are all numbers are aligned to the right. No
/// blanks at the ends of lines.
pub fn columns(header: &[&str], rows: &[Vec<String>]) -> String {
    let width = |text: &str| text.chars().count();
    let cell = |row: &'_ Vec<String>, column: usize| row.get(column).cloned().unwrap_or_default();
    let widths: Vec<usize> = (0..header.len())
        .map(|c| rows.iter().map(|row| width(&cell(row, c))).max().unwrap_or(0).max(width(header[c])))
        .collect();
    let numeric: Vec<bool> = (0..header.len())
        .map(|c| {
            let mut filled = rows.iter().map(|row| cell(row, c)).filter(|text| !text.is_empty()).peekable();
            filled.peek().is_some() && filled.all(|text| text.parse::<f64>().is_ok())
        })
        .collect();
    let mut text = String::new();
    let mut line = |cells: &dyn Fn(usize) -> String| {
        let mut line = String::new();
        for column in 0..header.len() {
            let cell = cells(column);
            let pad = " ".repeat(widths[column].saturating_sub(width(&cell)));
            let (before, after) = if numeric[column] { (pad.as_str(), "") } else { ("", pad.as_str()) };
            line.push_str(if column > 0 { "  " } else { "" });
            line.push_str(&format!("{before}{cell}{after}"));
        }
        text.push_str(line.trim_end());
        text.push('\n');
    };
    line(&|column| header[column].to_owned());
    for row in rows {
        line(&|column| cell(row, column));
    }
    text
}

/// At most so many characters of a text.
pub fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}...", text[..end].trim_end()),
    }
}

/// A duration as people say it: `0.4 s`, `12 s`, `3 min 20 s`, `5 h 12 min`, `3 d 4 h`.
pub fn duration(seconds: f64) -> String {
    if !seconds.is_finite() || seconds < 0.0 {
        return "unknown".to_owned();
    }
    if seconds < 0.0995 {
        return format!("{:.0} ms", seconds * 1e3);
    }
    if seconds < 9.95 {
        return format!("{seconds:.1} s");
    }
    let whole = seconds.round().min(1e15) as u64;
    let pair = |large: u64, large_unit: &str, small: u64, small_unit: &str| match small {
        0 => format!("{large} {large_unit}"),
        _ => format!("{large} {large_unit} {small} {small_unit}"),
    };
    match whole {
        0..60 => format!("{whole} s"),
        60..3_600 => pair(whole / 60, "min", whole % 60, "s"),
        3_600..86_400 => pair(whole / 3_600, "h", whole % 3_600 / 60, "min"),
        _ => pair(whole / 86_400, "d", whole % 86_400 / 3_600, "h"),
    }
}

/// A number in at most seven digits, for reading; files have all digits.
pub fn number(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    let magnitude = value.abs();
    if !(1e-4..1e7).contains(&magnitude) {
        let text = format!("{value:.6e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        return format!("{}e{exponent}", without_zeros(digits));
    }
    let before = magnitude.log10().floor() as i32 + 1;
    without_zeros(&format!("{value:.*}", (7 - before).max(0) as usize)).to_owned()
}

fn without_zeros(digits: &str) -> &str {
    match digits.contains('.') {
        true => digits.trim_end_matches('0').trim_end_matches('.'),
        false => digits,
    }
}

/// `1 trial`, `2 trials`.
pub fn count(n: usize, one: &str) -> String {
    match n {
        1 => format!("1 {one}"),
        _ => format!("{n} {one}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_seven_digits_at_most() {
        let cases = [
            (0.0, "0"),
            (0.1 + 0.2, "0.3"),
            (-1234.567891, "-1234.568"),
            (1e-9, "1e-9"),
            (123456789.0, "1.234568e8"),
            (9_999_999.4, "9999999"),
            (-0.00012345678, "-0.0001234568"),
            (f64::NAN, "NaN"),
        ];
        for (value, text) in cases {
            assert_eq!(number(value), text);
        }
    }

    #[test]
    fn durations_have_two_units_at_most() {
        let cases = [
            (0.012, "12 ms"),
            (0.44, "0.4 s"),
            (59.4, "59 s"),
            (200.0, "3 min 20 s"),
            (18_720.0, "5 h 12 min"),
            (86_400.0 * 3.0 + 4.0 * 3_600.0, "3 d 4 h"),
            (7_200.0, "2 h"),
            (f64::NAN, "unknown"),
        ];
        for (seconds, text) in cases {
            assert_eq!(duration(seconds), text);
        }
    }

    #[test]
    fn numbers_are_aligned_to_the_right() {
        let rows = [vec!["1".into(), "ok".into(), "2.5".into()], vec!["10".into(), "failed".into()]];
        assert_eq!(
            columns(&["id", "state", "value"], &rows),
            "id  state   value\n 1  ok        2.5\n10  failed\n"
        );
    }
}
