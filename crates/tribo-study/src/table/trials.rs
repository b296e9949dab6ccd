//! The trials of a study that another program kept, as a table: a row a trial, and columns `params.a`, `value` (or one for
//! each objective), and whatever else was written down of them.
//!
//! Such files are not tables: what belongs to a trial is scattered over them, and all of it is gathered before the first row.
//! A trial that came to no value has an empty one, whatever the reason, and is counted by its state.

use super::{Mark, Rows};
use crate::Result;
use crate::report::point::Cell;
use crate::report::text::count;
use serde_json::Value;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tribo::space::Direction;

/// What is known of a study besides its trials.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// The program that kept it.
    pub program: &'static str,
    /// Its name there.
    pub study: String,
    /// The columns of its objectives, with what was wanted of each.
    pub objectives: Vec<(String, Option<Direction>)>,
    /// Trials by state, in the words of that program.
    pub states: Vec<(String, usize)>,
}

impl Origin {
    /// In a line, for people.
    pub fn line(&self) -> String {
        let all = self.states.iter().map(|(_, n)| n).sum();
        let states: Vec<String> = self.states.iter().map(|(state, n)| format!("{n} {state}")).collect();
        let mut line = format!("study {:?} of {}, {}", self.study, self.program, count(all, "trial"));
        if !states.is_empty() {
            line.push_str(&format!(": {}", states.join(", ")));
        }
        line
    }
}

/// All trials of one study.
#[derive(Debug)]
pub(super) struct Trials {
    pub(super) columns: Vec<String>,
    /// Each with its number there. Cells at the end that are missing are not there.
    rows: Vec<(String, Vec<Cell>)>,
    pub(super) origin: Origin,
}

/// Trials being gathered.
pub(super) struct Gathering {
    columns: Vec<String>,
    places: HashMap<String, usize>,
    rows: Vec<(String, Vec<Cell>)>,
    states: Vec<String>,
}

impl Gathering {
    /// The first columns are those named, also where no trial has them.
    pub(super) fn new(names: &[String]) -> Gathering {
        let mut gathering =
            Gathering { columns: vec![], places: HashMap::new(), rows: vec![], states: vec![] };
        for name in names {
            gathering.place(name);
        }
        gathering
    }

    fn place(&mut self, name: &str) -> usize {
        if let Some(&place) = self.places.get(name) {
            return place;
        }
        self.places.insert(name.to_owned(), self.columns.len());
        self.columns.push(name.to_owned());
        self.columns.len() - 1
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Adds a trial and returns its place.
    pub(super) fn add(&mut self, number: impl ToString, state: &str) -> usize {
        self.rows.push((number.to_string(), vec![]));
        self.states.push(state.to_owned());
        self.rows.len() - 1
    }

    pub(super) fn state(&self, trial: usize) -> &str {
        &self.states[trial]
    }

    pub(super) fn set_state(&mut self, trial: usize, state: &str) {
        self.states[trial] = state.to_owned();
    }

    pub(super) fn set(&mut self, trial: usize, name: &str, cell: Cell) {
        let place = self.place(name);
        let row = &mut self.rows[trial].1;
        if row.len() <= place {
            row.resize(place + 1, Cell::Null);
        }
        row[place] = cell;
    }

    /// Sets a number or a text, or those of a list, `name[0]`, `name[1]`, ...; anything else is left out.
    pub(super) fn set_json(&mut self, trial: usize, name: &str, value: &Value) {
        match value {
            Value::Array(values) if values.iter().all(Value::is_number) => {
                for (i, value) in values.iter().enumerate() {
                    self.set(trial, &format!("{name}[{i}]"), cell(value));
                }
            }
            Value::Number(_) | Value::String(_) | Value::Bool(_) => self.set(trial, name, cell(value)),
            _ => {}
        }
    }

    /// Objectives count only of trials that are in state `complete`.
    pub(super) fn finish(
        mut self,
        program: &'static str,
        study: String,
        objectives: Vec<(String, Option<Direction>)>,
        complete: &[&str],
    ) -> Trials {
        let values: Vec<usize> = objectives.iter().map(|(name, _)| self.place(name)).collect();
        let mut states: Vec<(String, usize)> = Vec::new();
        for (state, (_, row)) in self.states.iter().zip(&mut self.rows) {
            match states.iter_mut().find(|(known, _)| known == state) {
                Some((_, n)) => *n += 1,
                None => states.push((state.clone(), 1)),
            }
            if !complete.contains(&state.as_str()) {
                for &place in &values {
                    if let Some(cell) = row.get_mut(place) {
                        *cell = Cell::Null;
                    }
                }
            }
        }
        let origin = Origin { program, study, objectives, states };
        Trials { columns: self.columns, rows: self.rows, origin }
    }
}

/// A choice or an attribute as a cell. True, False and None are spelt as Python spells them, which is what these programs are
/// written in and what a category made of them is called.
pub(super) fn cell(value: &Value) -> Cell {
    match value {
        Value::Null => Cell::Text("None".to_owned()),
        Value::Bool(true) => Cell::Text("True".to_owned()),
        Value::Bool(false) => Cell::Text("False".to_owned()),
        Value::Number(number) => match number.as_i64() {
            Some(value) => Cell::Int(value),
            None => number.as_f64().map_or(Cell::Null, Cell::Float),
        },
        Value::String(text) => Cell::Text(text.clone()),
        other => Cell::Text(other.to_string()),
    }
}

/// JSON as Python writes it, where NaN and Infinity stand among the numbers; here they are null.
pub(super) fn python_json(text: &str) -> std::result::Result<Value, serde_json::Error> {
    serde_json::from_str(text).or_else(|error| {
        if text.contains("NaN") || text.contains("Infinity") {
            serde_json::from_str(&without_nan(text))
        } else {
            Err(error)
        }
    })
}

fn without_nan(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut in_text, mut escaped) = (false, false);
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let word = ["NaN", "-Infinity", "Infinity"].into_iter().find(|word| rest.starts_with(word));
        if let (Some(word), false) = (word, in_text) {
            out.push_str("null");
            rest = &rest[word.len()..];
            continue;
        }
        in_text ^= letter == '"' && !escaped;
        escaped = in_text && letter == '\\' && !escaped;
        out.push(letter);
        rest = &rest[letter.len_utf8()..];
    }
    out
}

/// The one study, or the one that was asked for.
pub(super) fn chosen<'a, T>(
    studies: &'a [(String, T)],
    name: Option<&str>,
) -> std::result::Result<&'a (String, T), String> {
    let names = || studies.iter().map(|(name, _)| format!("{name:?}")).collect::<Vec<_>>().join(", ");
    match (studies, name) {
        ([], _) => Err("there is no study in it".to_owned()),
        ([one], None) => Ok(one),
        (_, None) => Err(format!("it has several studies: {}; choose one with --from", names())),
        (_, Some(name)) => {
            let found = studies.iter().find(|(known, _)| known == name);
            found.ok_or_else(|| format!("there is no study {name:?} in it; there are {}", names()))
        }
    }
}

/// Goes through trials.
pub(super) struct Listed {
    path: PathBuf,
    trials: Arc<Trials>,
    columns: Vec<usize>,
    next: usize,
}

impl Listed {
    pub(super) fn new(path: &Path, trials: &Arc<Trials>, columns: &[usize], mark: Option<Mark>) -> Listed {
        let next = mark.map_or(0, |mark| mark.row as usize);
        Listed { path: path.to_owned(), trials: Arc::clone(trials), columns: columns.to_vec(), next }
    }
}

impl Rows for Listed {
    fn next(&mut self, cells: &mut [Cell]) -> Result<bool> {
        let Some((_, row)) = self.trials.rows.get(self.next) else { return Ok(false) };
        for (cell, &column) in cells.iter_mut().zip(&self.columns) {
            *cell = row.get(column).cloned().unwrap_or(Cell::Null);
        }
        self.next += 1;
        Ok(true)
    }

    fn skip(&mut self, n: u64) -> Result<()> {
        self.next = self.next.saturating_add(n as usize).min(self.trials.rows.len());
        Ok(())
    }

    fn mark(&self) -> Mark {
        Mark { row: self.next as u64, byte: 0, line: 0 }
    }

    fn place(&self) -> String {
        let number = self.next.checked_sub(1).and_then(|i| self.trials.rows.get(i)).map(|(number, _)| number);
        format!("{}: trial {}", self.path.display(), number.map_or("", String::as_str))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pythons_numbers_are_read_and_its_texts_left_alone() {
        let text = r#"{"a": NaN, "b": [-Infinity, Infinity, 1.5], "c": "NaN \" Infinity", "d\\": NaN}"#;
        let read = python_json(text).unwrap();
        assert_eq!(
            read,
            serde_json::json!({ "a": null, "b": [null, null, 1.5], "c": "NaN \" Infinity", "d\\": null })
        );
        assert!(python_json("{NaN").is_err());
    }

    #[test]
    fn one_of_several_studies_has_to_be_named() {
        let studies = [("a".to_owned(), 1), ("b".to_owned(), 2)];
        assert_eq!(chosen(&studies, Some("b")).unwrap().1, 2);
        assert_eq!(chosen(&studies[..1], None).unwrap().1, 1);
        assert!(chosen(&studies, None).unwrap_err().contains("\"a\", \"b\"; choose one with --from"));
        assert!(chosen(&studies, Some("c")).unwrap_err().contains("no study \"c\""));
        assert!(chosen::<i32>(&[], None).is_err());
    }
}
