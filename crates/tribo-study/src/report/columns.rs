//! The columns of the table of trials, listed once: for exports, for listings and for JSON.
//!
//! Fixed columns stand around a column for each output and one for each value of the point. An output that is called like
//! another column gets `output.` in front of its name. A study with limits has one more after them, with those that are
//! violated.

use super::point::{self, Cell};
use super::row::{self, Row};
use crate::outputs::Output;
use crate::store::ledger::Ledger;
use std::collections::BTreeSet;
use tribo::space::{Kind, Space};

/// What a column holds. Every cell may be missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holds {
    /// Whole numbers.
    Int,
    /// Numbers.
    Float,
    /// Text.
    Text,
}

/// A column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// What it holds.
    pub holds: Holds,
}

/// The column of violated limits, of studies that have limits.
pub const VIOLATED: &str = "violated";

/// A fixed column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    /// Number of the trial.
    Trial,
    /// Where it stands.
    State,
    /// How many attempts were made.
    Attempts,
    /// When it was proposed.
    Asked,
    /// When its outcome was recorded.
    Told,
    /// Seconds of the attempt that decided it.
    WallS,
    /// The host of that attempt.
    Host,
    /// Why there is no value.
    Reason,
}

impl Field {
    /// Those before outputs and point.
    pub const BEFORE: [Field; 2] = [Field::Trial, Field::State];
    /// Those after them.
    pub const AFTER: [Field; 6] =
        [Field::Attempts, Field::Asked, Field::Told, Field::WallS, Field::Host, Field::Reason];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Field::Trial => "trial",
            Field::State => "state",
            Field::Attempts => "attempts",
            Field::Asked => "asked",
            Field::Told => "told",
            Field::WallS => "wall_s",
            Field::Host => "host",
            Field::Reason => "reason",
        }
    }

    fn holds(self) -> Holds {
        match self {
            Field::Trial | Field::Attempts => Holds::Int,
            Field::WallS => Holds::Float,
            Field::State | Field::Asked | Field::Told | Field::Host | Field::Reason => Holds::Text,
        }
    }

    /// Its cell of a row.
    pub fn cell(self, row: &Row<'_>) -> Cell {
        match self {
            Field::Trial => Cell::Int(row.trial as i64),
            Field::State => Cell::Text(row.state.name().to_owned()),
            Field::Attempts => Cell::Int(row.attempts as i64),
            Field::Asked => Cell::Text(row::time(row.asked_ms)),
            Field::Told => row.told_ms.map_or(Cell::Null, |ms| Cell::Text(row::time(ms))),
            Field::WallS => row.wall_s.map_or(Cell::Null, Cell::Float),
            Field::Host => Cell::Text(row.host.to_owned()),
            Field::Reason => Cell::Text(row.reason.to_owned()),
        }
    }

    /// Whether people see it in a list of trials.
    pub fn is_listed(self) -> bool {
        !matches!(self, Field::Asked | Field::Told | Field::Host)
    }
}

/// Names of all outputs of a study: the declared ones in their order, then whatever else was told.
pub fn output_names(declared: &[Output], ledger: &Ledger) -> Vec<String> {
    let mut names: Vec<String> = declared.iter().map(|output| output.name.clone()).collect();
    let told = ledger.told().filter_map(|(_, state)| state.outcome.as_ref());
    let others: BTreeSet<&str> =
        told.flat_map(|finding| finding.outputs.iter()).map(|(name, _)| name).collect();
    let others: Vec<String> =
        others.into_iter().filter(|name| !names.iter().any(|n| n == name)).map(str::to_owned).collect();
    names.extend(others);
    names
}

/// All columns in their order.
pub fn columns(outputs: &[String], space: &Space, is_limited: bool) -> Vec<Column> {
    let fixed = |field: Field| Column { name: field.name().to_owned(), holds: field.holds() };
    let mut columns: Vec<Column> = Field::BEFORE.map(fixed).to_vec();
    columns.extend(headers(outputs, space, is_limited).map(|name| Column { name, holds: Holds::Float }));
    columns.extend(is_limited.then(|| Column { name: VIOLATED.to_owned(), holds: Holds::Text }));
    columns.extend(inputs(space));
    columns.extend(Field::AFTER.map(fixed));
    columns
}

/// What the columns of these outputs are called.
pub fn headers(outputs: &[String], space: &Space, is_limited: bool) -> impl Iterator<Item = String> {
    let fields = Field::BEFORE.into_iter().chain(Field::AFTER).map(|field| field.name().to_owned());
    let violated = is_limited.then(|| VIOLATED.to_owned());
    let taken: BTreeSet<String> = point::names(space).chain(fields).chain(violated).collect();
    outputs.iter().map(move |name| match taken.contains(name) {
        true => format!("output.{name}"),
        false => name.clone(),
    })
}

fn inputs(space: &Space) -> impl Iterator<Item = Column> {
    let holds = space.parameters().iter().flat_map(|parameter| {
        let holds = match parameter.kind() {
            Kind::Float { .. } => Holds::Float,
            Kind::Int { .. } => Holds::Int,
            Kind::Categorical { .. } => Holds::Text,
        };
        std::iter::repeat_n(holds, parameter.n_elements())
    });
    point::names(space).zip(holds).map(|(name, holds)| Column { name, holds })
}

#[cfg(test)]
mod tests {
    use super::*;
    use tribo::space::Parameter;

    #[test]
    fn outputs_are_told_apart_from_other_columns() {
        let space = Space::new(vec![Parameter::float("x", 0.0, 1.0)]).unwrap();
        let outputs = ["mass", "x", "state"].map(str::to_owned);
        let names: Vec<String> =
            columns(&outputs, &space, false).into_iter().map(|column| column.name).collect();
        assert_eq!(names[..6], ["trial", "state", "mass", "output.x", "output.state", "x"]);
        assert_eq!(names[6..], ["attempts", "asked", "told", "wall_s", "host", "reason"]);
        let outputs = ["violated".to_owned()];
        let names = columns(&outputs, &space, true).into_iter().map(|column| column.name);
        assert_eq!(names.take(5).collect::<Vec<_>>(), ["trial", "state", "output.violated", "violated", "x"]);
    }
}
