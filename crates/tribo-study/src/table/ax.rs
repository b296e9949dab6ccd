//! Ax's JSON: an experiment as `save_experiment` writes it, or within what its clients save.
//!
//! A row for each arm of a trial. Columns: `params.NAME` and `metrics.NAME`, the mean of what was measured; of several steps
//! or several looks at a trial the last counts. Ax writes means with ten decimals, so that is what comes back.

use super::fault;
use super::trials::{Gathering, Trials, cell, python_json};
use crate::report::point::Cell;
use crate::{Error, Result};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use tribo::space::Direction;

/// The experiment of a file.
pub(super) fn experiment(path: &Path, name: Option<&str>) -> Result<Trials> {
    let text = fs::read_to_string(path).map_err(Error::io("cannot read", path))?;
    let root = python_json(&text).map_err(|error| fault(path, format!("this is not JSON: {error}")))?;
    let is_experiment = |value: &&Value| {
        let kind = value.get("__type").and_then(Value::as_str);
        kind.is_some_and(|kind| kind.ends_with("Experiment"))
    };
    let experiment =
        Some(&root).filter(is_experiment).or_else(|| root.get("experiment").filter(is_experiment));
    let experiment = experiment.ok_or_else(|| {
        fault(path, "this is not an experiment of Ax's; a table is read from .jsonl, one JSON object a line")
    })?;
    let own_name = experiment.get("name").and_then(Value::as_str).unwrap_or("").to_owned();
    if name.is_some_and(|name| name != own_name) {
        return Err(fault(path, format!("it has one experiment, {own_name:?}; leave --from out")));
    }
    let damaged = |what: String| fault(path, format!("the experiment cannot be read: {what}"));
    let objectives = objectives(experiment);
    let names: Vec<String> = objectives.iter().map(|(name, _)| name.clone()).collect();
    let mut trials = Gathering::new(&names);
    for (index, trial) in by_index(experiment.get("trials")) {
        add_trial(&mut trials, index, trial, experiment.get("data_by_trial")).map_err(damaged)?;
    }
    Ok(trials.finish("Ax", own_name, objectives, &["completed"]))
}

/// The members of an object whose keys are numbers, in their order.
fn by_index(object: Option<&Value>) -> BTreeMap<u64, &Value> {
    let members = object.and_then(Value::as_object).into_iter().flatten();
    members.filter_map(|(key, value)| Some((key.parse().ok()?, value))).collect()
}

/// The columns of what is optimised. Since version 1.1 an objective is an expression, with a minus where it is minimised.
fn objectives(experiment: &Value) -> Vec<(String, Option<Direction>)> {
    let Some(objective) = experiment.get("optimization_config").and_then(|config| config.get("objective"))
    else {
        return vec![];
    };
    if let Some(expression) = objective.get("expression").and_then(Value::as_str) {
        return expression.split(',').filter_map(term).collect();
    }
    let several = objective.get("objectives").and_then(Value::as_array);
    let all: Vec<&Value> = several.map_or_else(|| vec![objective], |several| several.iter().collect());
    let column = |objective: &&Value| {
        let name = objective.get("metric")?.get("name")?.as_str()?;
        let wanted = match objective.get("minimize")?.as_bool()? {
            true => Direction::Minimize,
            false => Direction::Maximize,
        };
        Some((format!("metrics.{name}"), Some(wanted)))
    };
    all.iter().filter_map(column).collect()
}

/// `-loss` or `score`; None if it is more than one metric.
fn term(text: &str) -> Option<(String, Option<Direction>)> {
    let text = text.trim();
    let (name, wanted) = match text.strip_prefix('-') {
        Some(name) => (name.trim(), Direction::Minimize),
        None => (text, Direction::Maximize),
    };
    let name = name.trim_matches(['`', '"', '\'']);
    let is_name = !name.is_empty() && !name.contains(['+', '*', '(', ' ']);
    is_name.then(|| (format!("metrics.{name}"), Some(wanted)))
}

/// Adds the arms of a trial and what was measured of each.
fn add_trial(
    trials: &mut Gathering,
    index: u64,
    trial: &Value,
    data: Option<&Value>,
) -> std::result::Result<(), String> {
    let state = trial.get("status").and_then(|status| status.get("name")).and_then(Value::as_str);
    let state = state.ok_or_else(|| format!("trial {index} has no status"))?.to_lowercase();
    // A trial has one run of a generator, a batch several, in older files each with its weight around it.
    let runs = trial.get("generator_runs").and_then(Value::as_array).into_iter().flatten();
    let runs = trial.get("generator_run").into_iter().chain(runs);
    let runs = runs.map(|run| run.get("generator_run").unwrap_or(run));
    let arms = runs.filter_map(|run| run.get("arms")?.as_array()).flatten();
    let arms: Vec<&Value> = arms.chain(trial.get("status_quo").filter(|arm| arm.is_object())).collect();
    let measured = measured(data.and_then(|data| data.get(index.to_string())))
        .ok_or_else(|| format!("the data of trial {index} are not whole"))?;
    for (i, arm) in arms.iter().enumerate() {
        let name = arm.get("name").and_then(Value::as_str);
        // The status quo may be among the arms as well.
        if arms[..i].iter().any(|other| other.get("name") == arm.get("name")) {
            continue;
        }
        let label = if arms.len() == 1 { index.to_string() } else { name.unwrap_or("").to_owned() };
        let row = trials.add(label, &state);
        for (key, value) in arm.get("parameters").and_then(Value::as_object).into_iter().flatten() {
            trials.set(row, &format!("params.{key}"), cell(value));
        }
        let own = measured.iter().filter(|((arm, _), _)| Some(arm.as_str()) == name);
        for ((_, metric), (_, mean)) in own {
            trials.set(row, &format!("metrics.{metric}"), Cell::Float(*mean));
        }
    }
    Ok(())
}

/// Step and mean of each arm and metric.
type Measured = BTreeMap<(String, String), (f64, f64)>;

/// The data of a trial: looks at it, in order of time, each a table as pandas writes one, column by column.
fn measured(data: Option<&Value>) -> Option<Measured> {
    let mut measured = Measured::new();
    let Some(data) = data else { return Some(measured) };
    let looks = data.get("value")?.as_array()?;
    for look in looks {
        let frame = look.get(1)?.get("df")?.get("value")?.as_str()?;
        let frame = python_json(frame).ok()?;
        let text =
            |column: &str, row: u64| Some(frame.get(column)?.get(row.to_string())?.as_str()?.to_owned());
        for (row, mean) in by_index(Some(frame.get("mean")?)) {
            let Some(mean) = mean.as_f64() else { continue };
            let key = (text("arm_name", row)?, text("metric_name", row)?);
            let step =
                frame.get("step").and_then(|steps| steps.get(row.to_string())?.as_f64()).unwrap_or(0.0);
            let known = measured.entry(key).or_insert((step, mean));
            if step >= known.0 {
                *known = (step, mean);
            }
        }
    }
    Some(measured)
}
