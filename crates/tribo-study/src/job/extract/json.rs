//! The answer as JSON: a number, or an object.
//!
//! In an object, `"fail"` (true or a reason) comes first, then `"feasible": false`, then the objective under its key. Other
//! outputs are looked for whatever is said of the objective. NaN and Infinity are not JSON, but Python writes them: they
//! are understood, so that a NaN elsewhere does no harm and a NaN objective is called by its name.

use super::{Found, Look, Miss, not_finite, number, shown};
use crate::job::Kind;
use serde_json::{Map, Value};

/// The objective: a number, or the member of an object that does not say that the evaluation failed.
pub(super) fn objective(text: &str, file: &str, key: &str) -> Look {
    match parse(text, file)? {
        Value::Object(object) => {
            refusal(&object, file).map_or(Ok(()), Err)?;
            in_object(&object, file, key)
        }
        value => finite(&value, file),
    }
}

/// A member of an object.
pub(super) fn member(text: &str, file: &str, key: &str) -> Look {
    match parse(text, file)? {
        Value::Object(object) => in_object(&object, file, key),
        _ => Err(Miss::invalid(format!("{file} is not an object, so it has no member {key:?}"))),
    }
}

fn parse(text: &str, file: &str) -> Result<Value, Miss> {
    let parsed = serde_json::from_str(text).or_else(|first| {
        // The error of the file as it is says more than the one of the mended text.
        serde_json::from_str(&quote_bare_words(text)).map_err(|_| first)
    });
    parsed.map_err(|error| {
        let reason = match error.is_eof() {
            true => format!("{file} breaks off at line {}; was it written to the end?", error.line()),
            false => format!("{file} is not JSON: {error}; it begins with {:?}", shown(text)),
        };
        Miss::of_all(Kind::Invalid, reason)
    })
}

/// What the command says against its own answer.
fn refusal(object: &Map<String, Value>, file: &str) -> Option<Miss> {
    let failed = |reason: String| Some(Miss::of_all(Kind::Failed, reason));
    match object.get("fail") {
        None | Some(Value::Null | Value::Bool(false)) => {}
        Some(Value::String(reason)) => return failed(format!("the command says it failed: {reason}")),
        Some(Value::Bool(true)) => return failed(format!("the command says in {file} that it failed")),
        Some(other) => return failed(format!("the command says it failed: {}", shown(&other.to_string()))),
    }
    let infeasible = object.get("feasible") == Some(&Value::Bool(false));
    infeasible.then(|| {
        Miss::of_all(Kind::Infeasible, format!("the command says in {file} that the point is not allowed"))
    })
}

fn in_object(object: &Map<String, Value>, file: &str, key: &str) -> Look {
    match object.get(key) {
        Some(value) => finite(value, &format!("{key:?} in {file}")),
        None => {
            let members: Vec<&str> = object.keys().map(String::as_str).collect();
            let members = if members.is_empty() { "nothing".to_owned() } else { shown(&members.join(", ")) };
            Err(Miss::invalid(format!("{file} has no member {key:?}; it has {members}")))
        }
    }
}

fn finite(value: &Value, place: &str) -> Look {
    Err(match value {
        Value::Number(value) => match value.as_f64() {
            Some(value) if value.is_finite() => return Ok(Found { value, place: place.to_owned() }),
            _ => Miss::invalid(format!("{place} is {value}, which is not a finite number")),
        },
        Value::Array(values) if values.iter().all(Value::is_number) => {
            Miss::invalid(format!("{place} is an array of {}; one number is wanted", values.len()))
        }
        Value::String(text) => match number(text) {
            Some(value) if !value.is_finite() => not_finite(value, place),
            _ => {
                let shown = shown(text);
                Miss::invalid(format!("{place} is the text {shown:?}; write a number without quotes"))
            }
        },
        other => Miss::invalid(format!("{place} is {}, which is not a number", shown(&other.to_string()))),
    })
}

/// Puts words that are not JSON's own, such as NaN and -Infinity, into quotes.
fn quote_bare_words(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 16);
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '"' => string_length(rest),
            c if c == '-' || c.is_ascii_alphabetic() => word_length(rest),
            // A number is taken whole: its e is no word.
            c if c.is_ascii_digit() => {
                rest.find(|c: char| !(c.is_ascii_alphanumeric() || "+-.".contains(c))).unwrap_or(rest.len())
            }
            c => c.len_utf8(),
        };
        let (token, tail) = rest.split_at(length);
        let bare = token.trim_start_matches('-').starts_with(|c: char| c.is_ascii_alphabetic());
        match token {
            "true" | "false" | "null" => quoted.push_str(token),
            token if bare => quoted.extend(["\"", token, "\""]),
            token => quoted.push_str(token),
        }
        rest = tail;
    }
    quoted
}

/// Length of the string literal at the start, up to the end of the text if it is not closed.
fn string_length(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// Length of a word with its sign, or of the sign alone.
fn word_length(text: &str) -> usize {
    let sign = usize::from(text.starts_with('-'));
    sign + text[sign..].find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(text.len() - sign)
}
