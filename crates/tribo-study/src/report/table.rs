//! All trials as one table for other programs: a column for each value of a point, times in UTC, all digits.
//!
//! Rows are made one at a time, so a table of any length takes the memory of one row (CSV, JSON lines) or of one row group
//! (Parquet).

use super::csv;
use super::parquet;
use super::point::{self, Cell};
use super::row::{self, Begun, Row};
use crate::store::ledger::Ledger;
use crate::{Error, Result};
use std::io::Write;
use std::path::Path;
use tribo::space::{Kind, Point, Space};
use tribo::strategy::Study;
use tribo::trial::TrialId;

/// More columns than this are refused in CSV unless asked for: no spreadsheet opens them.
pub const MOST_CSV_COLUMNS: usize = 2_000;

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

/// The trials of a study.
pub struct Table<'a> {
    ledger: &'a Ledger,
    study: &'a Study,
    begun: &'a Begun,
}

impl<'a> Table<'a> {
    /// The table of a study; `study` is the optimiser rebuilt from the ledger.
    pub fn new(ledger: &'a Ledger, study: &'a Study, begun: &'a Begun) -> Table<'a> {
        Table { ledger, study, begun }
    }

    /// Its columns.
    pub fn columns(&self) -> Vec<Column> {
        let column = |name: &str, holds| Column { name: name.to_owned(), holds };
        let mut columns =
            vec![column("trial", Holds::Int), column("state", Holds::Text), column("value", Holds::Float)];
        columns.extend(point_columns(self.study.space()));
        columns.extend([
            column("attempts", Holds::Int),
            column("asked", Holds::Text),
            column("told", Holds::Text),
            column("wall_s", Holds::Float),
            column("host", Holds::Text),
            column("reason", Holds::Text),
        ]);
        columns
    }

    /// Its rows, with as many cells as there are columns.
    pub fn rows(&self) -> impl Iterator<Item = Result<Vec<Cell>>> {
        row::rows(self.ledger, self.begun).map(|row| Ok(self.cells(&row, &self.point(row.trial)?)))
    }

    fn point(&self, trial: u64) -> Result<Point> {
        Ok(self.study.point(TrialId(trial))?)
    }

    fn cells(&self, row: &Row<'_>, point: &Point) -> Vec<Cell> {
        let text = |text: &str| match text.is_empty() {
            true => Cell::Null,
            false => Cell::Text(text.to_owned()),
        };
        let float = |value: Option<f64>| value.map_or(Cell::Null, Cell::Float);
        let mut cells =
            vec![Cell::Int(row.trial as i64), Cell::Text(row.state.name().to_owned()), float(row.value)];
        cells.extend(point::cells(self.study.space(), point));
        cells.extend([
            Cell::Int(row.attempts as i64),
            Cell::Text(row::time(row.asked_ms)),
            row.told_ms.map_or(Cell::Null, |ms| Cell::Text(row::time(ms))),
            float(row.wall_s),
            text(row.host),
            text(row.reason),
        ]);
        cells
    }

    /// Writes the table as CSV; `path` is for messages.
    pub fn write_csv(&self, mut out: impl Write, path: &Path) -> Result<()> {
        let columns = self.columns();
        csv::write_header(&mut out, columns.iter().map(|column| column.name.as_str()))
            .map_err(Error::io("cannot write", path))?;
        for cells in self.rows() {
            csv::write_row(&mut out, &cells?).map_err(Error::io("cannot write", path))?;
        }
        out.flush().map_err(Error::io("cannot write", path))
    }

    /// Writes the table as one JSON object a line, vectors as arrays; `path` is for messages.
    pub fn write_json_lines(&self, mut out: impl Write, path: &Path) -> Result<()> {
        for row in row::rows(self.ledger, self.begun) {
            let params = crate::point::to_json(self.study.space(), &self.point(row.trial)?);
            writeln!(out, "{}", row.object(params)).map_err(Error::io("cannot write", path))?;
        }
        out.flush().map_err(Error::io("cannot write", path))
    }

    /// Writes the table as Parquet; `path` is for messages.
    pub fn write_parquet(&self, out: impl Write + Send, path: &Path) -> Result<()> {
        parquet::write(out, path, &self.columns(), self.rows())
    }
}

fn point_columns(space: &Space) -> impl Iterator<Item = Column> {
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
