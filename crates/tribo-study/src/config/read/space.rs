//! `[[parameter]]`: the space.

use crate::config::keys::PARAMETER;
use crate::config::place::Complaint;
use crate::config::value;
use crate::config::view::View;
use crate::point;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use tribo::Error;
use tribo::error::ParameterFault;
use tribo::space::{Parameter, Space};

/// Coordinates of all parameters at most: 80 MB for one point.
const MOST_COORDINATES: usize = 10_000_000;

/// The values that parameters had before they were added.
type EarlierValues = BTreeMap<String, Value>;

/// The space, the values that parameters had before they were added, and parameters that nothing uses.
pub(super) fn read(file: &View<'_>) -> Result<(Space, EarlierValues, BTreeSet<String>), Complaint> {
    let views = file.sections("parameter", &PARAMETER);
    let (mut parameters, mut names, mut coordinates) = (Vec::new(), BTreeSet::new(), 0_usize);
    let (mut earlier, mut unused) = (BTreeMap::new(), BTreeSet::new());
    for view in &views {
        let parameter = parameter(view)?;
        // Alone, so that what is wrong is known to be wrong with this one.
        let alone = Space::new(vec![parameter.clone()]).map_err(|error| complaint(view, &error))?;
        if !names.insert(parameter.name().to_owned()) {
            let message = format!("parameter `{}`: {}", parameter.name(), ParameterFault::DuplicateName);
            return Err(view.complaint("name", message));
        }
        coordinates = coordinates.saturating_add(alone.dim());
        if coordinates > MOST_COORDINATES {
            let message = format!(
                "the parameters up to this one have more than {MOST_COORDINATES} coordinates; use fewer"
            );
            return Err(view.complaint("size", message));
        }
        if let Some(value) = earlier_value(view, &parameter)? {
            earlier.insert(parameter.name().to_owned(), value);
        }
        if view.flag("unused") {
            unused.insert(parameter.name().to_owned());
        }
        parameters.push(parameter);
    }
    let space = Space::new(parameters).map_err(|error| file.complaint("parameter", error.to_string()))?;
    Ok((space, earlier, unused))
}

/// The value that a parameter had before it was added, which must be one that it can have.
fn earlier_value(view: &View<'_>, parameter: &Parameter) -> Result<Option<Value>, Complaint> {
    let given = view.text("earlier").map(Value::from).or_else(|| view.number("earlier").map(Value::from));
    let Some(value) = given else { return Ok(None) };
    let alone = Space::new(vec![Parameter::new("earlier", parameter.kind().clone())]);
    let object = Map::from_iter([("earlier".to_owned(), value.clone())]);
    let checked =
        alone.map_err(|error| error.to_string()).and_then(|space| point::from_json(&space, &object));
    match checked {
        Ok(_) => Ok(Some(value)),
        Err(message) => Err(view.complaint("earlier", message)),
    }
}

fn parameter(view: &View<'_>) -> Result<Parameter, Complaint> {
    let name = view.text("name").ok_or_else(|| view.missing("name"))?;
    let log = view.flag("log");
    let number = |key: &str| view.number(key).ok_or_else(|| view.missing(key));
    let parameter = match view.text("type").as_deref() {
        Some("categorical") => {
            let choices = view.texts("choices").ok_or_else(|| view.missing("choices"))?;
            Parameter::categorical(name, choices)
        }
        Some("int") => {
            let (low, high) = (whole(view, "low")?, whole(view, "high")?);
            if log { Parameter::log_int(name, low, high) } else { Parameter::int(name, low, high) }
        }
        _ => {
            let (low, high) = (number("low")?, number("high")?);
            if log { Parameter::log_float(name, low, high) } else { Parameter::float(name, low, high) }
        }
    };
    Ok(match view.integer("size") {
        Some(size) => parameter.with_size(size),
        None => parameter,
    })
}

/// A bound of an int.
fn whole(view: &View<'_>, key: &str) -> Result<i64, Complaint> {
    view.integer(key).ok_or_else(|| match view.given(key) {
        Some(found) => {
            let found = value::found(found.get_ref());
            view.complaint(
                key,
                format!("`{key}` of an int parameter is {found}; write a whole number, such as {key} = 1"),
            )
        }
        None => view.missing(key),
    })
}

/// An error about a parameter, at the key it is about.
fn complaint(view: &View<'_>, error: &Error) -> Complaint {
    let key = match error {
        Error::Parameter { fault, .. } => match fault {
            ParameterFault::TooWide { .. } | ParameterFault::IntTooWide { .. } => "high",
            ParameterFault::NotFinite { .. }
            | ParameterFault::EmptyRange { .. }
            | ParameterFault::EmptyIntRange { .. }
            | ParameterFault::LogOfNonPositive { .. } => "low",
            ParameterFault::TooFewCategories { .. }
            | ParameterFault::EmptyCategory { .. }
            | ParameterFault::DuplicateCategory { .. } => "choices",
            ParameterFault::NoElements | ParameterFault::TooManyElements { .. } => "size",
            _ => "name",
        },
        _ => "name",
    };
    view.complaint(key, error.to_string())
}
