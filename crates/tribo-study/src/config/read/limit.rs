//! The limit of an `[[output]]`: `at_most`, `at_least` or both, `between`, or `equals`; and its `tolerance`.

use crate::config::place::Complaint;
use crate::config::view::View;
use tribo::Error;
use tribo::limit::Limit;

/// The keys that make a limit.
const KEYS: [&str; 4] = ["at_least", "at_most", "between", "equals"];

/// The limit of an output, if it has one.
pub(super) fn read(output: &View<'_>, name: &str) -> Result<Option<Limit>, Complaint> {
    let given: Vec<&str> = KEYS.into_iter().filter(|key| output.given(key).is_some()).collect();
    let (key, low, high) = match given[..] {
        [] if output.given("tolerance").is_some() => {
            let message = format!(
                "`tolerance` says how far beyond its limit `{name}` may be, which has none; add a line, such as at_most = 200"
            );
            return Err(output.complaint("tolerance", message));
        }
        [] => return Ok(None),
        ["at_least", "at_most"] => ("at_most", output.number("at_least"), output.number("at_most")),
        [key @ "at_least"] => (key, output.number(key), None),
        [key @ "at_most"] => (key, None, output.number(key)),
        [key @ "equals"] => (key, output.number(key), output.number(key)),
        [key @ "between"] => {
            let ends = output.numbers(key).unwrap_or_default();
            (key, ends.first().copied(), ends.last().copied())
        }
        [first, second, ..] => {
            let message = format!("`{name}` has both `{first}` and `{second}`; give one of them");
            return Err(output.complaint(second, message));
        }
        [key] => return Err(output.complaint(key, format!("`{key}` is no limit"))),
    };
    let at = |key: &'static str| {
        move |error: Error| match error {
            Error::Limit { name, why } => output.complaint(key, format!("output `{name}`: {why}")),
            other => output.complaint(key, other.to_string()),
        }
    };
    let limit = Limit::new(name, low, high).map_err(at(key))?;
    match output.number("tolerance") {
        Some(tolerance) => limit.with_tolerance(tolerance).map(Some).map_err(at("tolerance")),
        None => Ok(Some(limit)),
    }
}
