//! Numbers as text: the shortest text that reads back to the same bits, and the formats of C's `printf`.
//!
//! Input decks of old programs have columns of fixed width, and their owners know `printf`. Supported is what such decks
//! use, `%[flags][width][.precision]` with d i e E f F g G and the flags - + space 0 #. The digits are those of C: both
//! round the exact binary value to nearest, ties to even. A value wider than its column is printed in full, as C does.
//!
//! Not here: `%s`, `*` and length modifiers.

/// Widths and precisions beyond this are taken for a slip of the pen. The longest double has 309 digits before the point.
const WIDEST: usize = 400;

/// The shortest decimal text that reads back to the same bits, in a form that C, Fortran and Python read: `0.1`, `1e-7`.
pub fn shortest(value: f64) -> String {
    format!("{value:?}")
}

/// A conversion such as `%12.5e`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Format {
    left: bool,
    plus: bool,
    space: bool,
    zero: bool,
    alternate: bool,
    width: usize,
    precision: Option<usize>,
    conversion: Conversion,
    upper: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Conversion {
    Integer,
    Scientific,
    Fixed,
    General,
}

impl Format {
    /// Reads a conversion; the error says what is wrong with it.
    pub fn parse(text: &str) -> Result<Format, String> {
        let wrong = |what: &str| format!("the format {text:?} {what}, e.g. %12.5e or %8d");
        let body =
            text.strip_prefix('%').ok_or_else(|| wrong("does not begin with %; write a format of printf"))?;
        let flags = body.len() - body.trim_start_matches(['-', '+', ' ', '0', '#']).len();
        let (flags, body) = body.split_at(flags);
        let letter = body
            .chars()
            .last()
            .ok_or_else(|| wrong("has no conversion; end it with one of d i e E f F g G"))?;
        let (width, precision) = match body[..body.len() - letter.len_utf8()].split_once('.') {
            Some((width, precision)) => (width, Some(precision)),
            None => (&body[..body.len() - letter.len_utf8()], None),
        };
        let count = |digits: &str| match digits {
            "" => Ok(0),
            digits => digits
                .parse()
                .ok()
                .filter(|&n| n <= WIDEST && digits.bytes().all(|b| b.is_ascii_digit()))
                .ok_or(()),
        };
        let number = |digits| {
            count(digits).map_err(|()| wrong("has a width or precision that is not a small number; write"))
        };
        let conversion = match letter.to_ascii_lowercase() {
            'd' | 'i' if letter.is_ascii_lowercase() => Conversion::Integer,
            'e' => Conversion::Scientific,
            'f' => Conversion::Fixed,
            'g' => Conversion::General,
            _ => return Err(wrong("has an unknown conversion; use one of d i e E f F g G")),
        };
        Ok(Format {
            left: flags.contains('-'),
            plus: flags.contains('+'),
            space: flags.contains(' '),
            zero: flags.contains('0'),
            alternate: flags.contains('#'),
            width: number(width)?,
            precision: precision.map(number).transpose()?,
            conversion,
            upper: letter.is_ascii_uppercase(),
        })
    }

    /// A real number. None if the format wants an integer and the number is not one.
    pub fn real(&self, value: f64) -> Option<String> {
        let magnitude = value.abs();
        let digits = match self.conversion {
            Conversion::Integer => {
                // Beyond 2^53 a double is an integer by lack of digits only; C could not have printed it either.
                let whole = value.fract() == 0.0 && magnitude <= 9_007_199_254_740_992.0;
                return whole.then(|| self.integer(value as i64));
            }
            _ if !value.is_finite() => String::from(if value.is_nan() { "nan" } else { "inf" }),
            Conversion::Scientific => self.scientific(magnitude, self.precision.unwrap_or(6)),
            Conversion::Fixed => self.fixed(magnitude, self.precision.unwrap_or(6)),
            Conversion::General => self.general(magnitude),
        };
        let digits = if self.upper { digits.to_uppercase() } else { digits };
        Some(self.pad(value.is_sign_negative() && !value.is_nan(), &digits, value.is_finite() && self.zero))
    }

    /// An integer; the formats for reals convert it first.
    pub fn integer(&self, value: i64) -> String {
        if self.conversion != Conversion::Integer {
            return self.real(value as f64).unwrap_or_default();
        }
        let digits = match (value, self.precision) {
            (0, Some(0)) => String::new(),
            (_, precision) => format!("{:0>width$}", value.unsigned_abs(), width = precision.unwrap_or(1)),
        };
        self.pad(value < 0, &digits, self.zero && self.precision.is_none())
    }

    /// d.ddde±xx, with at least two digits in the exponent.
    fn scientific(&self, magnitude: f64, precision: usize) -> String {
        let text = format!("{magnitude:.precision$e}");
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let point = if self.alternate && precision == 0 { "." } else { "" };
        let (sign, exponent) = exponent.strip_prefix('-').map_or(('+', exponent), |digits| ('-', digits));
        format!("{mantissa}{point}e{sign}{exponent:0>2}")
    }

    fn fixed(&self, magnitude: f64, precision: usize) -> String {
        let point = if self.alternate && precision == 0 { "." } else { "" };
        format!("{magnitude:.precision$}{point}")
    }

    /// C's rule: with P significant digits and the decimal exponent X of the rounded number, fixed if -4 <= X < P.
    fn general(&self, magnitude: f64) -> String {
        let significant = self.precision.unwrap_or(6).max(1);
        let rounded = format!("{magnitude:.*e}", significant - 1);
        let exponent: i32 = rounded.split_once('e').and_then(|(_, x)| x.parse().ok()).unwrap_or(0);
        let text = if (-4..significant as i32).contains(&exponent) {
            self.fixed(magnitude, (significant as i32 - 1 - exponent) as usize)
        } else {
            self.scientific(magnitude, significant - 1)
        };
        if self.alternate {
            return text;
        }
        let (mantissa, exponent) = match text.split_once('e') {
            Some((mantissa, exponent)) => (mantissa, format!("e{exponent}")),
            None => (text.as_str(), String::new()),
        };
        let mantissa = match mantissa.contains('.') {
            true => mantissa.trim_end_matches('0').trim_end_matches('.'),
            false => mantissa,
        };
        format!("{mantissa}{exponent}")
    }

    fn pad(&self, negative: bool, digits: &str, zero: bool) -> String {
        let sign = match (negative, self.plus, self.space) {
            (true, _, _) => "-",
            (false, true, _) => "+",
            (false, false, true) => " ",
            (false, false, false) => "",
        };
        let blank = self.width.saturating_sub(sign.len() + digits.len());
        if self.left {
            format!("{sign}{digits}{:blank$}", "")
        } else if zero {
            format!("{sign}{:0>blank$}{digits}", "")
        } else {
            format!("{:blank$}{sign}{digits}", "")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Printed by glibc 2.36.
    const GOLDEN: &[(&str, f64, &str)] = &[
        ("%e", 0.0, "0.000000e+00"),
        ("%e", -0.0, "-0.000000e+00"),
        ("%e", 1.0, "1.000000e+00"),
        ("%e", -1.5, "-1.500000e+00"),
        ("%e", 0.1, "1.000000e-01"),
        ("%e", 1.234e-05, "1.234000e-05"),
        ("%e", 999999.5, "9.999995e+05"),
        ("%12.5e", 0.0, " 0.00000e+00"),
        ("%12.5e", -0.0, "-0.00000e+00"),
        ("%12.5e", 1.0, " 1.00000e+00"),
        ("%12.5e", -1.5, "-1.50000e+00"),
        ("%12.5e", 0.0001, " 1.00000e-04"),
        ("%12.5e", 0.5, " 5.00000e-01"),
        ("%-12.5e", 0.0, "0.00000e+00 "),
        ("%-12.5e", -0.0, "-0.00000e+00"),
        ("%-12.5e", 1.0, "1.00000e+00 "),
        ("%-12.5e", -1.5, "-1.50000e+00"),
        ("%-12.5e", 1234567.0, "1.23457e+06 "),
        ("%-12.5e", 2.5, "2.50000e+00 "),
        ("%-12.5e", 9.9999995, "1.00000e+01 "),
        ("%012.3e", 0.0, "0000.000e+00"),
        ("%012.3e", -0.0, "-000.000e+00"),
        ("%012.3e", 1.0, "0001.000e+00"),
        ("%012.3e", -1.5, "-001.500e+00"),
        ("%012.3e", 123456.0, "0001.235e+05"),
        ("%012.3e", 1e+100, "001.000e+100"),
        ("%012.3e", 1e-300, "001.000e-300"),
        ("%+.0e", 0.0, "+0e+00"),
        ("%+.0e", -0.0, "-0e+00"),
        ("%+.0e", 1.0, "+1e+00"),
        ("%+.0e", -1.5, "-2e+00"),
        ("%+.0e", 0.1, "+1e-01"),
        ("%+.0e", 1.234e-05, "+1e-05"),
        ("%+.0e", 999999.5, "+1e+06"),
        ("%#.0e", 0.0, "0.e+00"),
        ("%#.0e", -0.0, "-0.e+00"),
        ("%#.0e", 1.0, "1.e+00"),
        ("%#.0e", -1.5, "-2.e+00"),
        ("%#.0e", 0.0001, "1.e-04"),
        ("%#.0e", 0.5, "5.e-01"),
        ("%.16e", 0.0, "0.0000000000000000e+00"),
        ("%.16e", -0.0, "-0.0000000000000000e+00"),
        ("%.16e", 1.0, "1.0000000000000000e+00"),
        ("%.16e", -1.5, "-1.5000000000000000e+00"),
        ("%.16e", 1234567.0, "1.2345670000000000e+06"),
        ("%.16e", 2.5, "2.5000000000000000e+00"),
        ("%.16e", 9.9999995, "9.9999994999999995e+00"),
        ("%E", 0.0, "0.000000E+00"),
        ("%E", -0.0, "-0.000000E+00"),
        ("%E", 1.0, "1.000000E+00"),
        ("%E", -1.5, "-1.500000E+00"),
        ("%E", 123456.0, "1.234560E+05"),
        ("%E", 1e+100, "1.000000E+100"),
        ("%E", 1e-300, "1.000000E-300"),
        ("%f", 0.0, "0.000000"),
        ("%f", -0.0, "-0.000000"),
        ("%f", 1.0, "1.000000"),
        ("%f", -1.5, "-1.500000"),
        ("%f", 0.1, "0.100000"),
        ("%f", 1.234e-05, "0.000012"),
        ("%f", 999999.5, "999999.500000"),
        ("%8.3f", 0.0, "   0.000"),
        ("%8.3f", -0.0, "  -0.000"),
        ("%8.3f", 1.0, "   1.000"),
        ("%8.3f", -1.5, "  -1.500"),
        ("%8.3f", 0.0001, "   0.000"),
        ("%8.3f", 0.5, "   0.500"),
        ("%.0f", 0.0, "0"),
        ("%.0f", -0.0, "-0"),
        ("%.0f", 1.0, "1"),
        ("%.0f", -1.5, "-2"),
        ("%.0f", 1234567.0, "1234567"),
        ("%.0f", 2.5, "2"),
        ("%.0f", 9.9999995, "10"),
        ("%#.0f", 0.0, "0."),
        ("%#.0f", -0.0, "-0."),
        ("%#.0f", 1.0, "1."),
        ("%#.0f", -1.5, "-2."),
        ("%#.0f", 123456.0, "123456."),
        ("%#.0f", 1e-300, "0."),
        ("%-10.2f", 0.0, "0.00      "),
        ("%-10.2f", -0.0, "-0.00     "),
        ("%-10.2f", 1.0, "1.00      "),
        ("%-10.2f", -1.5, "-1.50     "),
        ("%-10.2f", 0.1, "0.10      "),
        ("%-10.2f", 1.234e-05, "0.00      "),
        ("%-10.2f", 999999.5, "999999.50 "),
        ("%010.2f", 0.0, "0000000.00"),
        ("%010.2f", -0.0, "-000000.00"),
        ("%010.2f", 1.0, "0000001.00"),
        ("%010.2f", -1.5, "-000001.50"),
        ("%010.2f", 0.0001, "0000000.00"),
        ("%010.2f", 0.5, "0000000.50"),
        ("% f", 0.0, " 0.000000"),
        ("% f", -0.0, "-0.000000"),
        ("% f", 1.0, " 1.000000"),
        ("% f", -1.5, "-1.500000"),
        ("% f", 1234567.0, " 1234567.000000"),
        ("% f", 2.5, " 2.500000"),
        ("% f", 9.9999995, " 9.999999"),
        ("%g", 0.0, "0"),
        ("%g", -0.0, "-0"),
        ("%g", 1.0, "1"),
        ("%g", -1.5, "-1.5"),
        ("%g", 123456.0, "123456"),
        ("%g", 1e+100, "1e+100"),
        ("%g", 1e-300, "1e-300"),
        ("%G", 0.0, "0"),
        ("%G", -0.0, "-0"),
        ("%G", 1.0, "1"),
        ("%G", -1.5, "-1.5"),
        ("%G", 0.1, "0.1"),
        ("%G", 1.234e-05, "1.234E-05"),
        ("%G", 999999.5, "1E+06"),
        ("%.3g", 0.0, "0"),
        ("%.3g", -0.0, "-0"),
        ("%.3g", 1.0, "1"),
        ("%.3g", -1.5, "-1.5"),
        ("%.3g", 0.0001, "0.0001"),
        ("%.3g", 0.5, "0.5"),
        ("%#.6g", 0.0, "0.00000"),
        ("%#.6g", -0.0, "-0.00000"),
        ("%#.6g", 1.0, "1.00000"),
        ("%#.6g", -1.5, "-1.50000"),
        ("%#.6g", 1234567.0, "1.23457e+06"),
        ("%#.6g", 2.5, "2.50000"),
        ("%#.6g", 9.9999995, "10.0000"),
        ("%10g", 0.0, "         0"),
        ("%10g", -0.0, "        -0"),
        ("%10g", 1.0, "         1"),
        ("%10g", -1.5, "      -1.5"),
        ("%10g", 123456.0, "    123456"),
        ("%10g", 1e+100, "    1e+100"),
        ("%10g", 1e-300, "    1e-300"),
        ("%.0g", 0.0, "0"),
        ("%.0g", -0.0, "-0"),
        ("%.0g", 1.0, "1"),
        ("%.0g", -1.5, "-2"),
        ("%.0g", 0.1, "0.1"),
        ("%.0g", 1.234e-05, "1e-05"),
        ("%.0g", 999999.5, "1e+06"),
        ("%.17g", 0.0, "0"),
        ("%.17g", -0.0, "-0"),
        ("%.17g", 1.0, "1"),
        ("%.17g", -1.5, "-1.5"),
        ("%.17g", 0.0001, "0.0001"),
        ("%.17g", 0.5, "0.5"),
        ("%+g", 0.0, "+0"),
        ("%+g", -0.0, "-0"),
        ("%+g", 1.0, "+1"),
        ("%+g", -1.5, "-1.5"),
        ("%+g", 1234567.0, "+1.23457e+06"),
        ("%+g", 2.5, "+2.5"),
        ("%+g", 9.9999995, "+10"),
        ("%F", 0.0, "0.000000"),
        ("%F", -0.0, "-0.000000"),
        ("%F", 1.0, "1.000000"),
        ("%F", -1.5, "-1.500000"),
        ("%F", 123456.0, "123456.000000"),
        ("%F", 1e-300, "0.000000"),
        ("%f", 1e+22, "10000000000000000000000.000000"),
        ("%f", 1.2345678901234568e+17, "123456789012345680.000000"),
        ("%08.2f", f64::NEG_INFINITY, "    -inf"),
    ];

    #[test]
    fn reals_are_printed_as_c_does() {
        for &(format, value, expected) in GOLDEN {
            assert_eq!(
                Format::parse(format).unwrap().real(value).as_deref(),
                Some(expected),
                "{format} of {value:?}"
            );
        }
    }

    #[test]
    fn integers_are_printed_as_c_does() {
        let cases: &[(&str, i64, &str)] = &[
            ("%d", 0, "0"),
            ("%d", 7, "7"),
            ("%d", -42, "-42"),
            ("%d", 123456, "123456"),
            ("%5d", 0, "    0"),
            ("%5d", 7, "    7"),
            ("%5d", -42, "  -42"),
            ("%5d", 123456, "123456"),
            ("%-5d", 0, "0    "),
            ("%-5d", 7, "7    "),
            ("%-5d", -42, "-42  "),
            ("%-5d", 123456, "123456"),
            ("%05d", 0, "00000"),
            ("%05d", 7, "00007"),
            ("%05d", -42, "-0042"),
            ("%05d", 123456, "123456"),
            ("%+d", 0, "+0"),
            ("%+d", 7, "+7"),
            ("%+d", -42, "-42"),
            ("%+d", 123456, "+123456"),
            ("% d", 0, " 0"),
            ("% d", 7, " 7"),
            ("% d", -42, "-42"),
            ("% d", 123456, " 123456"),
            ("%.3d", 0, "000"),
            ("%.3d", 7, "007"),
            ("%.3d", -42, "-042"),
            ("%.3d", 123456, "123456"),
            ("%06.3d", 0, "   000"),
            ("%06.3d", 7, "   007"),
            ("%06.3d", -42, "  -042"),
            ("%06.3d", 123456, "123456"),
            ("%i", 0, "0"),
            ("%i", 7, "7"),
            ("%i", -42, "-42"),
            ("%i", 123456, "123456"),
            ("%.0d", 0, ""),
            ("%.0d", 7, "7"),
            ("%.0d", -42, "-42"),
            ("%.0d", 123456, "123456"),
        ];
        for &(format, value, expected) in cases {
            assert_eq!(Format::parse(format).unwrap().integer(value), expected, "{format} of {value}");
        }
        let format = Format::parse("%4d").unwrap();
        assert_eq!(format.real(-3.0).as_deref(), Some("  -3"));
        assert_eq!(format.real(2.5), None);
        assert_eq!(format.real(1e300), None);
        assert_eq!(Format::parse("%.1e").unwrap().integer(12), "1.2e+01");
    }

    #[test]
    fn bad_formats_are_explained() {
        for (text, part) in [
            ("12.5e", "begin with %"),
            ("%", "no conversion"),
            ("%s", "unknown conversion"),
            ("%D", "unknown conversion"),
            ("%999999999999e", "small number"),
            ("%1.+2e", "small number"),
            ("%é", "unknown conversion"),
        ] {
            let message = Format::parse(text).unwrap_err();
            assert!(message.contains(part) && message.contains(text), "{message}");
        }
    }

    proptest! {
        #[test]
        fn floats_read_back_to_the_same_bits(bits in any::<u64>()) {
            let value = f64::from_bits(bits);
            prop_assume!(value.is_finite());
            let back = |text: String| text.trim().parse::<f64>().unwrap().to_bits();
            prop_assert_eq!(back(shortest(value)), bits);
            // 17 significant digits name every double.
            for format in ["%.16e", "%+30.16E", "%.17g", "% .17G", "%025.16e"] {
                prop_assert_eq!(back(Format::parse(format).unwrap().real(value).unwrap()), bits);
            }
        }

        #[test]
        fn no_format_panics(text in "%[-+ 0#]{0,3}[0-9]{0,3}(\\.[0-9]{0,3})?[dieEfFgG]", bits in any::<u64>()) {
            if let Ok(format) = Format::parse(&text) {
                format.real(f64::from_bits(bits));
                format.integer(bits as i64);
            }
        }
    }
}
