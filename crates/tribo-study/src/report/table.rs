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
use crate::replay::Points;
use crate::store::ledger::Ledger;
use crate::{Error, Result};
use std::io::Write;
use std::path::Path;
use tribo::space::{Parameter, Point, Space};

/// More columns than this are refused in CSV unless asked for: no spreadsheet opens them.
pub const MOST_CSV_COLUMNS: usize = 2_000;

/// The trials of a study.
pub struct Table<'a> {
    config: &'a Config,
    ledger: &'a Ledger,
    points: Points<'a>,
    begun: &'a Begun,
    outputs: Vec<String>,
    /// The parameters of the present chapter, and then those that earlier ones had and it has not.
    shown: Space,
}

impl<'a> Table<'a> {
    /// The table of a study; `points` are those of its trials, made from the ledger.
    pub fn new(config: &'a Config, ledger: &'a Ledger, points: Points<'a>, begun: &'a Begun) -> Table<'a> {
        let outputs = columns::output_names(&config.outputs, ledger);
        let mut parameters = points.study.space().parameters().to_vec();
        for space in points.earlier.spaces() {
            for gone in space.parameters() {
                if parameters.iter().all(|shown| shown.name() != gone.name()) {
                    parameters.push(gone.clone());
                }
            }
        }
        let shown = Space::new(parameters).unwrap_or_else(|_| points.study.space().clone());
        Table { config, ledger, points, begun, outputs, shown }
    }

    /// Its columns.
    pub fn columns(&self) -> Vec<Column> {
        columns::columns(&self.outputs, &self.shown, self.is_limited())
    }

    /// How many there are.
    pub fn n_columns(&self) -> usize {
        let limited = usize::from(self.is_limited());
        Field::BEFORE.len() + self.outputs.len() + limited + self.shown.n_inputs() + Field::AFTER.len()
    }

    fn is_limited(&self) -> bool {
        !self.config.limits.is_empty()
    }

    /// Its rows, with as many cells as there are columns.
    pub fn rows(&self) -> impl Iterator<Item = Result<Vec<Cell>>> {
        row::rows(self.ledger, self.begun).map(|row| self.cells(&row))
    }

    /// Cells of the point of a trial: what it is in the present chapter, and what it was in its own.
    fn point_cells(&self, trial: u64) -> Result<Vec<Cell>> {
        let present = self.points.study.space();
        let now = self.points.now(trial)?;
        if let (Some(now), true) = (&now, self.shown.parameters().len() == present.parameters().len()) {
            return Ok(point::cells(present, now).collect());
        }
        let (space, own) = self.points.at(trial)?;
        let cells = |shown: &Parameter| -> Vec<Cell> {
            let of = |space: &Space, point: &Point| {
                let at = space
                    .parameters()
                    .iter()
                    .position(|one| one.name() == shown.name() && one.n_elements() == shown.n_elements())?;
                let parameter = &space.parameters()[at];
                let same = std::mem::discriminant(parameter.kind()) == std::mem::discriminant(shown.kind());
                same.then(|| point::column_cells(parameter, &point.columns()[at]))
            };
            let found = now.as_ref().and_then(|now| of(present, now)).or_else(|| of(space, &own));
            found.unwrap_or_else(|| vec![Cell::Null; shown.n_elements()])
        };
        Ok(self.shown.parameters().iter().flat_map(cells).collect())
    }

    fn cells(&self, row: &Row<'_>) -> Result<Vec<Cell>> {
        let fixed = |field: Field| match field.cell(row) {
            Cell::Text(text) if text.is_empty() => Cell::Null,
            cell => cell,
        };
        let output = |name: &String| row.outputs.get(name).map_or(Cell::Null, Cell::Float);
        let mut cells: Vec<Cell> = Field::BEFORE.map(fixed).to_vec();
        cells.extend(self.outputs.iter().map(output));
        cells.extend(self.is_limited().then(|| match row.violated(self.config) {
            text if text.is_empty() => Cell::Null,
            text => Cell::Text(text),
        }));
        cells.extend(self.point_cells(row.trial)?);
        cells.extend(Field::AFTER.map(fixed));
        Ok(cells)
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
            let params = self.points.params(row.trial)?;
            writeln!(out, "{}", row.object(self.config, params)).map_err(Error::io("cannot write", path))?;
        }
        out.flush().map_err(Error::io("cannot write", path))
    }

    /// Writes the table as Parquet; `path` is for messages.
    pub fn write_parquet(&self, out: impl Write + Send, path: &Path) -> Result<()> {
        parquet::write(out, path, &self.columns(), self.rows())
    }
}
