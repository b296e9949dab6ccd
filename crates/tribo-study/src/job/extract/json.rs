//! The answer as JSON: a number, or an object.
//!
//! In an object, `"fail"` (true or a reason) comes first, then `"feasible": false`, then the objective under its key. All
//! other finite numbers are kept by name. NaN and Infinity are not JSON, but Python writes them: they are understood, so
//! that a NaN elsewhere does no harm and a NaN objective is called by its name.

use super::{Found, not_finite, number, shown};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

pub(super) fn find(text: &str, file: &str, key: &str) -> Found {
    let parsed = serde_json::from_str(text).or_else(|first| {
        // The error of the file as it is says more than the one of the mended text.
        serde_json::from_str(&quote_bare_words(text)).map_err(|_| first)
    });
    match parsed {
        Ok(Value::Object(object)) => in_object(object, file, key),
        Ok(value) => objective(&value, file),
        Err(error) if error.is_eof() => {
            Found::Invalid(format!("{file} breaks off at line {}; was it written to the end?", error.line()))
        }
        Err(error) => {
            Found::Invalid(format!("{file} is not JSON: {error}; it begins with {:?}", shown(text)))
        }
    }
}

fn in_object(mut object: Map<String, Value>, file: &str, key: &str) -> Found {
    match object.get("fail") {
        None | Some(Value::Null | Value::Bool(false)) => {}
        Some(Value::String(reason)) => return Found::Failed(format!("the command says it failed: {reason}")),
        Some(Value::Bool(true)) => {
            return Found::Failed(format!("the command says in {file} that it failed"));
        }
        Some(other) => {
            return Found::Failed(format!("the command says it failed: {}", shown(&other.to_string())));
        }
    }
    if object.get("feasible") == Some(&Value::Bool(false)) {
        return Found::Infeasible(format!("the command says in {file} that the point is not allowed"));
    }
    let Some(value) = object.remove(key) else {
        let members: Vec<&str> = object.keys().map(String::as_str).collect();
        let members = if members.is_empty() { "nothing".to_owned() } else { shown(&members.join(", ")) };
        return Found::Invalid(format!("{file} has no member {key:?}; it has {members}"));
    };
    match objective(&value, &format!("{key:?} in {file}")) {
        Found::Value(value, _) => Found::Value(value, finite_numbers(object)),
        complaint => complaint,
    }
}

fn objective(value: &Value, place: &str) -> Found {
    match value {
        Value::Number(value) => match value.as_f64() {
            Some(value) if value.is_finite() => Found::Value(value, BTreeMap::new()),
            _ => Found::Invalid(format!("{place} is {value}, which is not a finite number")),
        },
        Value::Array(values) if values.iter().all(Value::is_number) => {
            Found::Invalid(format!("{place} is an array of {}; one number is wanted", values.len()))
        }
        Value::String(text) => match number(text) {
            Some(value) if !value.is_finite() => Found::Invalid(not_finite(value, place)),
            _ => Found::Invalid(format!(
                "{place} is the text {:?}; write a number without quotes",
                shown(text)
            )),
        },
        other => Found::Invalid(format!("{place} is {}, which is not a number", shown(&other.to_string()))),
    }
}

fn finite_numbers(object: Map<String, Value>) -> BTreeMap<String, f64> {
    let finite = |value: &Value| value.as_f64().filter(|v| v.is_finite());
    object.into_iter().filter_map(|(name, value)| Some((name, finite(&value)?))).collect()
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
