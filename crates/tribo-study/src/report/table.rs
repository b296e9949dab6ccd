//! All trials as one table for other programs: a column for each output and each value of a point, times in UTC, all
//! digits.
//!
//! Rows are made one at a time, so a table of any length takes the memory of one row (CSV, JSON lines) or of one row group
//! (Parquet).

use super::columns::{self, Column, Field};
use super::csv;
use super::parquet;
use super::point::{self, Cell};
use super::row::{self, Begun, Row};
use crate::config::Config;
use crate::store::ledger::Ledger;
use crate::{Error, Result};
use std::io::Write;
use std::path::Path;
use tribo::space::Point;
use tribo::strategy::Study;
use tribo::trial::TrialId;

/// More columns than this are refused in CSV unless asked for: no spreadsheet opens them.
pub const MOST_CSV_COLUMNS: usize = 2_000;

/// The trials of a study.
pub struct Table<'a> {
    config: &'a Config,
    ledger: &'a Ledger,
    study: &'a Study,
    begun: &'a Begun,
    outputs: Vec<String>,
}

impl<'a> Table<'a> {
    /// The table of a study; `study` is the optimiser rebuilt from the ledger.
    pub fn new(config: &'a Config, ledger: &'a Ledger, study: &'a Study, begun: &'a Begun) -> Table<'a> {
        Table { config, ledger, study, begun, outputs: columns::output_names(&config.outputs, ledger) }
    }

    /// Its columns.
    pub fn columns(&self) -> Vec<Column> {
        columns::columns(&self.outputs, self.study.space())
    }

    /// How many there are.
    pub fn n_columns(&self) -> usize {
        Field::BEFORE.len() + self.outputs.len() + self.study.space().n_inputs() + Field::AFTER.len()
    }

    /// Its rows, with as many cells as there are columns.
    pub fn rows(&self) -> impl Iterator<Item = Result<Vec<Cell>>> {
        row::rows(self.ledger, self.begun).map(|row| Ok(self.cells(&row, &self.point(row.trial)?)))
    }

    fn point(&self, trial: u64) -> Result<Point> {
        Ok(self.study.point(TrialId(trial))?)
    }

    fn cells(&self, row: &Row<'_>, point: &Point) -> Vec<Cell> {
        let fixed = |field: Field| match field.cell(row) {
            Cell::Text(text) if text.is_empty() => Cell::Null,
            cell => cell,
        };
        let output = |name: &String| row.outputs.get(name).map_or(Cell::Null, Cell::Float);
        let mut cells: Vec<Cell> = Field::BEFORE.map(fixed).to_vec();
        cells.extend(self.outputs.iter().map(output));
        cells.extend(point::cells(self.study.space(), point));
        cells.extend(Field::AFTER.map(fixed));
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
            writeln!(out, "{}", row.object(self.config, params)).map_err(Error::io("cannot write", path))?;
        }
        out.flush().map_err(Error::io("cannot write", path))
    }

    /// Writes the table as Parquet; `path` is for messages.
    pub fn write_parquet(&self, out: impl Write + Send, path: &Path) -> Result<()> {
        parquet::write(out, path, &self.columns(), self.rows())
    }
}
