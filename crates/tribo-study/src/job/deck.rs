//! Input decks: templates with fields such as `{{mach}}`, `{{x[3]}}` and `{{ mach | %12.5e }}`.
//!
//! A field is what stands between `open` and `close` on one line and begins like a name. Everything else is left as it
//! is, bytes that are not UTF-8 included, so a deck may hold braces of its own as long as they do not look like fields;
//! `open` and `close` can be chosen otherwise for decks where they do. Elements of a vector count from 0.
//!
//! A name that is not a parameter is an error, never an empty text: a deck with a hole runs, and its answer is wrong. Not
//! here: expressions, loops and conditions. A script of the user's own is the better place for those.

use super::params::{Params, Value};
use super::printf::{Format, shortest};
use crate::config::Deck;
use std::collections::BTreeSet;
use std::path::Path;

/// Names listed in a complaint about an unknown one.
const LISTED: usize = 20;

/// Fills the fields of a template in. The error names the template, the line and what is wrong.
pub fn render(deck: &Deck, template: &[u8], params: &Params) -> Result<Vec<u8>, String> {
    let (open, close) = (deck.open.as_bytes(), deck.close.as_bytes());
    let mut rendered = Vec::with_capacity(template.len() + template.len() / 8);
    for (number, line) in template.split_inclusive(|&b| b == b'\n').enumerate() {
        render_line(line, open, close, params, &mut rendered)
            .map_err(|what| complaint(&deck.template, number + 1, &what))?;
    }
    Ok(rendered)
}

/// The parameters that a template names; elements of a vector are of their vector.
pub(super) fn names(deck: &Deck, template: &[u8]) -> BTreeSet<String> {
    let (open, close) = (deck.open.as_bytes(), deck.close.as_bytes());
    let mut names = BTreeSet::new();
    for mut line in template.split(|&b| b == b'\n') {
        while let Some(start) = find(line, open) {
            line = &line[start + open.len()..];
            let Some(end) = find(line, close).filter(|_| begins_like_a_name(line)) else { continue };
            let field = String::from_utf8_lossy(&line[..end]);
            let name = field.split('|').next().unwrap_or_default().trim();
            names.insert(name.to_owned());
            names.extend(name.split_once('[').map(|(vector, _)| vector.trim_end().to_owned()));
        }
    }
    names
}

fn complaint(template: &Path, line: usize, what: &str) -> String {
    format!("{}:{line}: {what}", template.display())
}

fn render_line(
    mut line: &[u8],
    open: &[u8],
    close: &[u8],
    params: &Params,
    rendered: &mut Vec<u8>,
) -> Result<(), String> {
    while let Some(start) = find(line, open) {
        let inside = &line[start + open.len()..];
        if !begins_like_a_name(inside) {
            rendered.extend_from_slice(&line[..start + 1]);
            line = &line[start + 1..];
            continue;
        }
        let show = String::from_utf8_lossy;
        let end = find(inside, close).ok_or_else(|| {
            let (open, close) = (show(open), show(close));
            format!("{open} is not followed by {close} on this line; close the field, or choose other marks with open and close")
        })?;
        rendered.extend_from_slice(&line[..start]);
        rendered.extend_from_slice(field(&show(&inside[..end]), params)?.as_bytes());
        line = &inside[end + close.len()..];
    }
    rendered.extend_from_slice(line);
    Ok(())
}

fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    (!part.is_empty()).then(|| text.windows(part.len()).position(|window| window == part)).flatten()
}

fn begins_like_a_name(text: &[u8]) -> bool {
    let first = text.iter().find(|&&b| b != b' ' && b != b'\t');
    first.is_some_and(|&b| b.is_ascii_alphabetic() || b == b'_' || !b.is_ascii())
}

/// The text of `name`, `name[k]`, or either with `| format`.
fn field(text: &str, params: &Params) -> Result<String, String> {
    let (name, format) = match text.split_once('|') {
        Some((name, format)) => (name.trim(), Some(Format::parse(format.trim())?)),
        None => (text.trim(), None),
    };
    let value = look_up(name, params)?;
    match (value, format) {
        (Value::Integer(value), None) => Ok(value.to_string()),
        (Value::Real(value), None) => Ok(shortest(*value)),
        (Value::Text(text), None) => Ok(text.clone()),
        (Value::Integer(value), Some(format)) => Ok(format.integer(*value)),
        (Value::Real(value), Some(format)) => format.real(*value).ok_or_else(|| {
            format!("{name} is {value}, which is not an integer; use a format for reals, e.g. %12.5e")
        }),
        (Value::Text(text), Some(_)) => {
            Err(format!("{name} is the text {text:?}; leave the format of numbers out"))
        }
        (Value::Vector(elements), _) => {
            Err(format!("{name} is a vector of {}; name one element, e.g. {name}[0]", elements.len()))
        }
    }
}

fn look_up<'p>(name: &str, params: &'p Params) -> Result<&'p Value, String> {
    if let Some(value) = params.get(name) {
        return Ok(value);
    }
    let Some((base, index)) = name.strip_suffix(']').and_then(|rest| rest.split_once('[')) else {
        return Err(unknown(name, params));
    };
    let base = base.trim_end();
    match params.get(base) {
        None => Err(unknown(base, params)),
        Some(Value::Vector(elements)) => {
            let element = index.trim().parse().ok().and_then(|k: usize| elements.get(k));
            element.ok_or_else(|| {
                format!("{base} has no element [{index}]; it has {}, counted from 0", elements.len())
            })
        }
        Some(_) => Err(format!("{base} is not a vector; write it without [{index}]")),
    }
}

fn unknown(name: &str, params: &Params) -> String {
    let known: Vec<&str> = params.names().take(LISTED).collect();
    let more = params.names().count() - known.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{name:?} is not a parameter of the study; its parameters are {}{more}", known.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn deck(open: &str, close: &str) -> Deck {
        Deck { template: "wing.in".into(), to: "wing.dat".into(), open: open.into(), close: close.into() }
    }

    fn params() -> Params {
        Params::read(br#"{"mach": 0.1, "n": 12, "x": [0.5, 1e-7, -3.0], "solver": "cg", "long name": 2.0}"#)
            .unwrap()
    }

    fn filled(template: &str) -> Result<String, String> {
        render(&deck("{{", "}}"), template.as_bytes(), &params())
            .map(|bytes| String::from_utf8(bytes).unwrap())
    }

    #[test]
    fn fields_are_filled_in() {
        for (template, expected) in [
            ("mach={{mach}} n={{ n }};\n", "mach=0.1 n=12;\n"),
            ("{{x[0]}}{{x[1]}} {{ x[ 2 ] }}", "0.51e-7 -3.0"),
            ("|{{ mach | %12.5e }}|{{n|%05d}}|{{ n | %.2f }}|", "| 1.00000e-01|00012|12.00|"),
            ("{{solver}} {{long name}}", "cg 2.0"),
            ("no fields\r\n\r\n", "no fields\r\n\r\n"),
            ("{{x[2] | %d}}", "-3"),
        ] {
            assert_eq!(filled(template).unwrap(), expected, "{template}");
        }
    }

    #[test]
    fn other_braces_are_left_alone() {
        for template in ["{ a } {1} }} {{1, 2}, {3, 4}}", "{{}} {{ }} {{{1}}}", "${HOME} {", "{{"] {
            assert_eq!(filled(template).unwrap(), template);
        }
        assert_eq!(filled("{{{mach}}}").unwrap(), "{0.1}");
    }

    #[test]
    fn decks_may_have_other_marks_and_other_encodings() {
        let rendered = render(&deck("<", ">"), b"{{mach}} \xe9\xff <mach> << <n>", &params()).unwrap();
        assert_eq!(rendered, b"{{mach}} \xe9\xff 0.1 << 12");
        let rendered = render(&deck("@", "@"), b"@mach@ a@1", &params()).unwrap();
        assert_eq!(rendered, b"0.1 a@1");
    }

    #[test]
    fn complaints_name_template_line_and_names() {
        for (template, parts) in [
            ("ok\n{{mahc}}", &["wing.in:2:", "\"mahc\"", "mach, n, x, solver"][..]),
            ("{{y[0]}}", &["wing.in:1:", "\"y\"", "mach"]),
            ("{{x}}", &["vector of 3", "x[0]"]),
            ("{{x[3]}}", &["no element [3]", "it has 3"]),
            ("{{x[-1]}}", &["no element [-1]"]),
            ("{{n[0]}}", &["n is not a vector"]),
            ("{{mach + 1}}", &["\"mach + 1\" is not a parameter"]),
            ("{{mach", &["not followed by }}"]),
            ("{{mach\n}}", &["wing.in:1:", "not followed by }}"]),
            ("{{mach | %s}}", &["wing.in:1:", "%s"]),
            ("{{mach | %d}}", &["0.1", "not an integer"]),
            ("{{solver | %8.3f}}", &["text \"cg\""]),
        ] {
            let message = filled(template).unwrap_err();
            for part in parts {
                assert!(message.contains(part), "{template}: {message} lacks {part}");
            }
        }
    }

    proptest! {
        #[test]
        fn floats_survive_decks(bits in any::<u64>()) {
            let value = f64::from_bits(bits);
            prop_assume!(value.is_finite());
            let params = Params::read(&serde_json::to_vec(&serde_json::json!({ "v": value })).unwrap()).unwrap();
            for template in [&b"{{v}}"[..], b"{{v|%.17g}}", b"{{ v | %24.16E }}"] {
                let text = String::from_utf8(render(&deck("{{", "}}"), template, &params).unwrap()).unwrap();
                prop_assert_eq!(text.trim().parse::<f64>().unwrap().to_bits(), bits);
            }
        }

        #[test]
        fn no_template_panics(template in prop::collection::vec(prop::sample::select(b"{}x[0]|%e\n \xff".to_vec()), 0..60)) {
            let _ = render(&deck("{{", "}}"), &template, &params());
        }
    }
}
