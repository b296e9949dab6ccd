//! Optuna's storages: its journal, a log of operations, and its SQLite database.
//!
//! Parameters are kept as floats there. What one means is in its distribution: the place among the choices of a category, a
//! whole number, or the number itself, on whatever scale it was drawn. Columns: `value`, or `values[0]`, `values[1]`, ... of
//! several objectives; `params.NAME`; `constraints[0]`, ... or `constraints.NAME`, as a sampler saw them; `user_attrs.NAME`.
//!
//! The journal is replayed as Optuna replays it: studies and trials are numbered by the order of their records, records about
//! what does not exist or has ended count for nothing, and a last line without its end is still being written.

use super::fault;
use super::sqlite::Database;
use super::trials::{Gathering, Trials, cell, chosen, python_json};
use crate::report::point::Cell;
use crate::{Error, Result};
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use tribo::space::Direction;

/// The attribute under which a sampler keeps constraints. Since version 5 each has one of its own, `constraints:NAME`.
const CONSTRAINTS: &str = "constraints";

/// The column of an attribute of the system's; None if it is no constraint.
fn constraint(key: &str) -> Option<String> {
    let rest = key.strip_prefix(CONSTRAINTS)?;
    if rest.is_empty() {
        return Some(CONSTRAINTS.to_owned());
    }
    Some(format!("{CONSTRAINTS}.{}", rest.strip_prefix(':')?))
}
/// States by their numbers in the journal.
const STATES: [&str; 5] = ["running", "complete", "pruned", "failed", "waiting"];

fn user_attribute(key: &str) -> Option<String> {
    Some(format!("user_attrs.{key}"))
}

/// The column of an attribute; None if it has none.
type ColumnOf = fn(&str) -> Option<String>;
/// The tables of attributes.
const ATTRIBUTES: [(&str, ColumnOf); 2] =
    [("trial_user_attributes", user_attribute), ("trial_system_attributes", constraint)];

/// What a parameter's float means.
#[derive(Debug, Clone)]
enum Distribution {
    Float,
    Int,
    Categorical(Vec<Cell>),
}

impl Distribution {
    fn parse(json: &str) -> Option<Distribution> {
        let value = python_json(json).ok()?;
        let name = value.get("name")?.as_str()?;
        Some(match name {
            "CategoricalDistribution" => {
                let choices = value.get("attributes")?.get("choices")?.as_array()?;
                Distribution::Categorical(choices.iter().map(cell).collect())
            }
            // Before version 3: IntUniformDistribution, IntLogUniformDistribution.
            name if name.starts_with("Int") => Distribution::Int,
            _ => Distribution::Float,
        })
    }

    /// None if there is no such choice.
    fn cell(&self, internal: f64) -> Option<Cell> {
        match self {
            Distribution::Float => Some(Cell::Float(internal)),
            Distribution::Int => Some(Cell::Int(internal as i64)),
            Distribution::Categorical(choices) => choices.get(internal as usize).cloned(),
        }
    }
}

/// Distributions by their JSON, which is the same text in trial after trial.
#[derive(Default)]
struct Distributions(HashMap<String, Distribution>);

impl Distributions {
    fn cell(&mut self, json: &str, internal: f64) -> std::result::Result<Cell, String> {
        if !self.0.contains_key(json) {
            let parsed = Distribution::parse(json).ok_or_else(|| format!("{json:?} is no distribution"))?;
            self.0.insert(json.to_owned(), parsed);
        }
        let cell = self.0.get(json).and_then(|distribution| distribution.cell(internal));
        cell.ok_or_else(|| format!("{internal} is not among the choices of {json:?}"))
    }
}

fn direction(number: i64) -> Option<Direction> {
    match number {
        1 => Some(Direction::Minimize),
        2 => Some(Direction::Maximize),
        _ => None,
    }
}

/// The columns of so many objectives.
fn objectives(directions: &[Option<Direction>]) -> Vec<(String, Option<Direction>)> {
    match directions {
        [one] => vec![("value".to_owned(), *one)],
        several => several.iter().enumerate().map(|(i, one)| (format!("values[{i}]"), *one)).collect(),
    }
}

/// Whether a file of lines is such a journal.
pub(super) fn is_journal(path: &Path) -> Result<bool> {
    let file = File::open(path).map_err(Error::io("cannot read", path))?;
    let mut line = Vec::new();
    let mut reader = BufReader::new(file);
    // A first record is short; a line that is not ends somewhere, whatever it is.
    std::io::Read::take(&mut reader, 1 << 16)
        .read_until(b'\n', &mut line)
        .map_err(Error::io("cannot read", path))?;
    Ok(line.first() == Some(&b'{') && String::from_utf8_lossy(&line).contains("\"op_code\""))
}

/// A study of the journal.
struct Study {
    directions: Vec<Option<Direction>>,
    trials: Gathering,
}

/// The state of a replay.
#[derive(Default)]
struct Replay {
    /// By number; None where one was deleted.
    studies: Vec<Option<(String, Study)>>,
    /// Study and place of each trial.
    trials: Vec<(usize, usize)>,
    distributions: Distributions,
}

pub(super) fn journal(path: &Path, name: Option<&str>) -> Result<Trials> {
    let file = File::open(path).map_err(Error::io("cannot read", path))?;
    let mut reader = BufReader::with_capacity(1 << 18, file);
    let mut replay = Replay::default();
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        let n = reader.read_until(b'\n', &mut line).map_err(Error::io("cannot read", path))?;
        if n == 0 || line.last() != Some(&b'\n') {
            break;
        }
        let place = || format!("{}:{number}", path.display());
        let text = String::from_utf8_lossy(&line);
        let record = python_json(text.trim())
            .map_err(|error| Error::Usage(format!("{}: this is not JSON: {error}", place())))?;
        replay
            .apply(&record)
            .map_err(|what| Error::Usage(format!("{}: not a record of Optuna's: {what}", place())))?;
    }
    let studies: Vec<(String, Study)> = replay.studies.into_iter().flatten().collect();
    let chosen = chosen(&studies, name).map_err(|what| fault(path, what))?.0.clone();
    let study = studies.into_iter().find(|(name, _)| *name == chosen);
    let (name, study) = study.ok_or_else(|| fault(path, "there is no study in it"))?;
    Ok(study.trials.finish("Optuna", name, objectives(&study.directions), &["complete"]))
}

impl Replay {
    /// Carries out one record; the numbers of operations are Optuna's.
    fn apply(&mut self, record: &Value) -> std::result::Result<(), String> {
        let int = |key: &str| {
            record.get(key).and_then(Value::as_i64).ok_or_else(|| format!("it has no number {key:?}"))
        };
        let text = |key: &str| {
            record.get(key).and_then(Value::as_str).ok_or_else(|| format!("it has no text {key:?}"))
        };
        match int("op_code")? {
            0 => {
                let name = text("study_name")?;
                if self.studies.iter().flatten().any(|(known, _)| known == name) {
                    return Ok(());
                }
                let directions = record.get("directions").and_then(Value::as_array);
                let directions = directions.ok_or("it has no \"directions\"")?;
                let directions: Vec<_> =
                    directions.iter().map(|value| value.as_i64().and_then(direction)).collect();
                let names: Vec<String> = objectives(&directions).into_iter().map(|(name, _)| name).collect();
                let study = Study { trials: Gathering::new(&names), directions };
                self.studies.push(Some((name.to_owned(), study)));
            }
            1 => {
                let study = int("study_id")? as usize;
                if let Some(study) = self.studies.get_mut(study) {
                    *study = None;
                }
            }
            4 => {
                let id = int("study_id")? as usize;
                let Some(Some((_, study))) = self.studies.get_mut(id) else { return Ok(()) };
                let state = record.get("state").map_or(Ok(STATES[0]), |_| state(int("state")?))?;
                let trial = study.trials.add(study.trials.len(), state);
                self.trials.push((id, trial));
                self.created(record, id, trial)?;
            }
            op @ (5..=9) => {
                let id = int("trial_id")? as usize;
                let Some(&(id, trial)) = self.trials.get(id) else { return Ok(()) };
                let Some(Some((_, study))) = self.studies.get_mut(id) else { return Ok(()) };
                let trials = &mut study.trials;
                if !["running", "waiting"].contains(&trials.state(trial)) {
                    return Ok(());
                }
                match op {
                    5 => {
                        let internal = record.get("param_value_internal").and_then(Value::as_f64);
                        let internal = internal.ok_or("it has no \"param_value_internal\"")?;
                        let cell = self.distributions.cell(text("distribution")?, internal)?;
                        trials.set(trial, &format!("params.{}", text("param_name")?), cell);
                    }
                    6 => {
                        trials.set_state(trial, state(int("state")?)?);
                        set_values(trials, trial, record.get("values"), study.directions.len());
                    }
                    8 => set_members(trials, trial, "user_attrs.", record.get("user_attr")),
                    9 => set_constraints(trials, trial, record.get("system_attr")),
                    _ => {}
                }
            }
            // Attributes of studies, and operations that Optuna itself passes over.
            _ => {}
        }
        Ok(())
    }

    /// What a trial has that was made whole, as one that was added or waits to be run.
    fn created(&mut self, record: &Value, id: usize, trial: usize) -> std::result::Result<(), String> {
        let Some(Some((_, study))) = self.studies.get_mut(id) else { return Ok(()) };
        let trials = &mut study.trials;
        let members = |key: &str| record.get(key).and_then(Value::as_object).into_iter().flatten();
        for (name, value) in members("params") {
            let json = record.get("distributions").and_then(|all| all.get(name)).and_then(Value::as_str);
            let (json, internal) =
                json.zip(value.as_f64()).ok_or_else(|| format!("parameter {name:?} has no distribution"))?;
            trials.set(trial, &format!("params.{name}"), self.distributions.cell(json, internal)?);
        }
        set_members(trials, trial, "user_attrs.", record.get("user_attrs"));
        set_constraints(trials, trial, record.get("system_attrs"));
        match record.get("value").filter(|value| value.is_number()) {
            Some(value) => trials.set(trial, "value", cell(value)),
            None => set_values(trials, trial, record.get("values"), study.directions.len()),
        }
        Ok(())
    }
}

fn state(number: i64) -> std::result::Result<&'static str, String> {
    let state = usize::try_from(number).ok().and_then(|number| STATES.get(number));
    state.copied().ok_or_else(|| format!("there is no state {number}"))
}

fn set_values(trials: &mut Gathering, trial: usize, values: Option<&Value>, n_objectives: usize) {
    let values = values.and_then(Value::as_array).into_iter().flatten();
    for (i, value) in values.enumerate().filter(|(_, value)| value.is_number()) {
        set_value(trials, trial, i, n_objectives, cell(value));
    }
}

fn set_value(trials: &mut Gathering, trial: usize, objective: usize, n_objectives: usize, value: Cell) {
    let name = if n_objectives == 1 { "value".to_owned() } else { format!("values[{objective}]") };
    trials.set(trial, &name, value);
}

fn set_members(trials: &mut Gathering, trial: usize, before: &str, members: Option<&Value>) {
    for (key, value) in members.and_then(Value::as_object).into_iter().flat_map(Map::iter) {
        trials.set_json(trial, &format!("{before}{key}"), value);
    }
}

fn set_constraints(trials: &mut Gathering, trial: usize, attributes: Option<&Value>) {
    for (key, value) in attributes.and_then(Value::as_object).into_iter().flat_map(Map::iter) {
        if let Some(column) = constraint(key) {
            trials.set_json(trial, &column, value);
        }
    }
}

/// A study of a database.
pub(super) fn database(path: &Path, name: Option<&str>) -> Result<Trials> {
    let database = Database::open(path)?;
    if !["studies", "trials", "trial_params", "trial_values"].iter().all(|table| database.has(table)) {
        return Err(fault(
            path,
            "this is not a storage of Optuna's (version 3 or later); `optuna storage upgrade` brings an older one up to date",
        ));
    }
    let mut studies = Vec::new();
    database.scan("studies", &["study_id", "study_name"], &mut |row| {
        let id = row[0].int().ok_or("a study has no number")?;
        studies.push((row[1].text().unwrap_or_default().to_owned(), id));
        Ok(())
    })?;
    let (name, study) = chosen(&studies, name).map_err(|what| fault(path, what))?;
    let mut directions = Vec::new();
    database.scan("study_directions", &["study_id", "objective", "direction"], &mut |row| {
        if row[0].int() == Some(*study) {
            let wanted = match row[2].text() {
                Some("MINIMIZE") => Some(Direction::Minimize),
                Some("MAXIMIZE") => Some(Direction::Maximize),
                _ => None,
            };
            directions.push((row[1].int(), wanted));
        }
        Ok(())
    })?;
    directions.sort_by_key(|(objective, _)| *objective);
    let directions: Vec<Option<Direction>> = directions.into_iter().map(|(_, wanted)| wanted).collect();
    let names: Vec<String> = objectives(&directions).into_iter().map(|(name, _)| name).collect();
    let mut trials = Gathering::new(&names);
    let places = database_trials(&database, *study, &mut trials)?;
    database.scan("trial_values", &["trial_id", "objective", "value"], &mut |row| {
        let (Some(trial), Some(objective), Some(value)) =
            (place(&places, row[0].int()), row[1].int(), row[2].float())
        else {
            return Ok(());
        };
        set_value(&mut trials, trial, objective as usize, directions.len(), Cell::Float(value));
        Ok(())
    })?;
    let mut distributions = Distributions::default();
    let columns = ["trial_id", "param_name", "param_value", "distribution_json"];
    database.scan("trial_params", &columns, &mut |row| {
        let Some(trial) = place(&places, row[0].int()) else { return Ok(()) };
        let (Some(name), Some(internal), Some(json)) = (row[1].text(), row[2].float(), row[3].text()) else {
            return Err(format!("a parameter of trial {trial} is not whole"));
        };
        trials.set(trial, &format!("params.{name}"), distributions.cell(json, internal)?);
        Ok(())
    })?;
    for (table, column) in ATTRIBUTES {
        if !database.has(table) {
            continue;
        }
        database.scan(table, &["trial_id", "key", "value_json"], &mut |row| {
            let (Some(trial), Some(key), Some(json)) =
                (place(&places, row[0].int()), row[1].text(), row[2].text())
            else {
                return Ok(());
            };
            // An attribute that is no JSON is nobody's parameter.
            if let (Some(column), Ok(value)) = (column(key), python_json(json)) {
                trials.set_json(trial, &column, &value);
            }
            Ok(())
        })?;
    }
    Ok(trials.finish("Optuna", name.clone(), objectives(&directions), &["complete"]))
}

/// The trials of a study, in their order, and the place of each by its number in the database.
fn database_trials(database: &Database, study: i64, trials: &mut Gathering) -> Result<HashMap<i64, usize>> {
    let mut places = HashMap::new();
    database.scan("trials", &["trial_id", "number", "study_id", "state"], &mut |row| {
        if row[2].int() == Some(study) {
            let id = row[0].int().ok_or("a trial has no number")?;
            let state = match row[3].text().unwrap_or_default() {
                "FAIL" => "failed".to_owned(),
                other => other.to_lowercase(),
            };
            places.insert(id, trials.add(row[1].int().unwrap_or(id), &state));
        }
        Ok(())
    })?;
    Ok(places)
}

fn place(places: &HashMap<i64, usize>, id: Option<i64>) -> Option<usize> {
    id.and_then(|id| places.get(&id)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constraints_of_every_version_have_columns() {
        assert_eq!(constraint("constraints").as_deref(), Some("constraints"));
        assert_eq!(constraint("constraints:mass").as_deref(), Some("constraints.mass"));
        assert_eq!(constraint("nsga2:generation"), None);
        assert_eq!(constraint("constraints_of_mine"), None);
    }

    #[test]
    fn a_float_means_what_its_distribution_says() {
        let mut distributions = Distributions::default();
        let choices =
            r#"{"name": "CategoricalDistribution", "attributes": {"choices": ["a", true, null, 2, 0.5]}}"#;
        let found: Vec<Cell> = (0..5).map(|i| distributions.cell(choices, f64::from(i)).unwrap()).collect();
        let text = |text: &str| Cell::Text(text.to_owned());
        assert_eq!(found, [text("a"), text("True"), text("None"), Cell::Int(2), Cell::Float(0.5)]);
        assert!(distributions.cell(choices, 5.0).unwrap_err().contains("not among"));
        for (name, expected) in [
            ("IntDistribution", Cell::Int(3)),
            ("IntLogUniformDistribution", Cell::Int(3)),
            ("FloatDistribution", Cell::Float(3.0)),
            ("DiscreteUniformDistribution", Cell::Float(3.0)),
        ] {
            let json = format!(r#"{{"name": "{name}", "attributes": {{}}}}"#);
            assert_eq!(distributions.cell(&json, 3.0).unwrap(), expected);
        }
        assert!(distributions.cell("3", 3.0).is_err());
    }

    #[test]
    fn a_journal_is_replayed_as_optuna_replays_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.log");
        let float = r#""distribution":"{\"name\": \"FloatDistribution\", \"attributes\": {}}""#;
        let lines = [
            r#"{"op_code":0,"study_name":"a","directions":[1]}"#.to_owned(),
            // The name is taken: this makes no study, and the next one is number 1.
            r#"{"op_code":0,"study_name":"a","directions":[2]}"#.to_owned(),
            r#"{"op_code":4,"study_id":0}"#.to_owned(),
            r#"{"op_code":4,"study_id":7}"#.to_owned(),
            format!(r#"{{"op_code":5,"trial_id":0,"param_name":"x","param_value_internal":0.5,{float}}}"#),
            r#"{"op_code":6,"trial_id":0,"state":1,"values":[2.5]}"#.to_owned(),
            // It has ended.
            r#"{"op_code":6,"trial_id":0,"state":3,"values":null}"#.to_owned(),
            r#"{"op_code":10,"anything":0}"#.to_owned(),
            r#"{"op_code":4,"study_id":0}"#.to_owned(),
        ];
        // The last line is still being written.
        std::fs::write(&path, lines.join("\n")).unwrap();
        assert!(is_journal(&path).unwrap());
        let trials = journal(&path, None).unwrap();
        assert_eq!(trials.columns, ["value", "params.x"]);
        assert_eq!(trials.origin.states, [("complete".to_owned(), 1)]);
        assert_eq!(trials.origin.objectives, [("value".to_owned(), Some(Direction::Minimize))]);
    }
}
