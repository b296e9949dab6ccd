//! Tables in files: CSV, Dakota's tabular files, JSON lines, Parquet, numpy's arrays, and the studies of Optuna and Ax.
//!
//! A [`Table`] knows its columns; [`Table::rows`] goes through the rows of some of them, cell by cell, from the first row or
//! from a [`Mark`] made on the way. [`numbers`] makes of that what a model is fitted to. A fault has the file, the line or row,
//! and the column. Nothing is held but what is being read; of studies, whose files are no tables, all trials are.

mod ax;
mod held_out;
pub mod hints;
mod json_lines;
mod npy;
pub mod numbers;
mod optuna;
mod parquet;
mod parquet_blocks;
pub mod picked;
mod sqlite;
mod text;
mod trials;

pub use held_out::Without;
pub use trials::Origin;

use crate::report::point::Cell;
use crate::{Error, Result};
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;
use trials::Trials;

/// Columns that a message names.
const SHOWN_COLUMNS: usize = 20;

/// How a table is written.
#[derive(Debug, Clone)]
enum Format {
    /// Lines of fields, with commas or, as Dakota has it, white space between them.
    Text(text::Separator),
    /// One JSON object a line.
    JsonLines,
    /// Apache Parquet.
    Parquet,
    /// An array of numbers.
    Npy,
    /// The trials of a study that another program kept.
    Trials(Arc<Trials>),
}

/// A table in a file.
#[derive(Debug, Clone)]
pub struct Table {
    path: PathBuf,
    format: Format,
    columns: Vec<String>,
    /// Of the file when it was opened.
    stamp: Stamp,
}

/// What tells a file from another, or from itself later: its place on the disk, its length, and when it was written to.
type Stamp = (u64, u64, u64, Option<SystemTime>);

fn stamp(metadata: &Metadata) -> Stamp {
    (metadata.dev(), metadata.ino(), metadata.len(), metadata.modified().ok())
}

/// A place between two rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    /// Rows before it.
    pub row: u64,
    /// Bytes before it, of files of lines.
    pub byte: u64,
    /// Lines before it, of files of lines.
    pub line: u64,
}

/// Goes through rows.
pub trait Rows {
    /// Fills a cell for each column asked for; false if there are no more rows.
    fn next(&mut self, cells: &mut [Cell]) -> Result<bool>;
    /// Passes over `n` rows, or all that are left.
    fn skip(&mut self, n: u64) -> Result<()>;
    /// Where the next row begins.
    fn mark(&self) -> Mark;
    /// The row that was read last, for a message.
    fn place(&self) -> String;
}

/// Goes through rows of numbers, block by block: what a file of numbers has besides cells, which cost ten times as much.
trait Blocks {
    /// Appends `n` rows, or as many as are left: to each vector the numbers of its column, NaN where one is missing.
    fn read(&mut self, n: usize, columns: &mut [Vec<f64>]) -> Result<usize>;
    /// Passes over `n` rows, or all that are left.
    fn skip(&mut self, n: u64) -> Result<()>;
}

impl Table {
    /// Opens a table; what it is the end of its name says.
    pub fn open(path: &Path) -> Result<Table> {
        Table::open_study(path, None)
    }

    /// Opens a table, of a file with several studies the one of this name.
    pub fn open_study(path: &Path, study: Option<&str>) -> Result<Table> {
        let metadata = fs::metadata(path).map_err(Error::io("cannot read", path))?;
        let stamp = stamp(&metadata);
        let extension = path.extension().map(|extension| extension.to_string_lossy().to_lowercase());
        let trials = match extension.as_deref() {
            Some("db" | "sqlite" | "sqlite3") => Some(optuna::database(path, study)?),
            Some("json") => Some(ax::experiment(path, study)?),
            Some("log" | "journal") => Some(optuna::journal(path, study)?),
            Some("jsonl") | None if optuna::is_journal(path)? => Some(optuna::journal(path, study)?),
            _ => None,
        };
        if let Some(trials) = trials {
            let columns = trials.columns.clone();
            return Ok(Table {
                path: path.to_owned(),
                format: Format::Trials(Arc::new(trials)),
                columns,
                stamp,
            });
        }
        if study.is_some() {
            return Err(fault(
                path,
                "--from chooses among the studies of a storage of Optuna's; this is a table",
            ));
        }
        let (format, columns) = match extension.as_deref() {
            Some("jsonl" | "ndjson") => (Format::JsonLines, json_lines::columns(path)?),
            Some("parquet" | "pq") => (Format::Parquet, parquet::columns(path)?),
            Some("npy") => (Format::Npy, npy::columns(path)?),
            None | Some("csv" | "txt" | "dat") => {
                let (separator, columns) = text::columns(path)?;
                (Format::Text(separator), columns)
            }
            Some(other) => {
                return Err(Error::Usage(format!(
                    "{}: a table is not read from .{other}; name the file .csv, .jsonl, .parquet, .npy, .dat for Dakota's, .log or .db \
                     for Optuna's, .json for Ax's",
                    path.display()
                )));
            }
        };
        Ok(Table { path: path.to_owned(), format, columns, stamp })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The study of another program whose trials these are.
    pub fn origin(&self) -> Option<&Origin> {
        if let Format::Trials(trials) = &self.format { Some(&trials.origin) } else { None }
    }

    /// Where the columns are named, for a message.
    pub fn header_place(&self) -> String {
        match self.format {
            Format::Text(_) => format!("{}:1", self.path.display()),
            _ => self.path.display().to_string(),
        }
    }

    /// Whether its columns have no names.
    pub fn is_array(&self) -> bool {
        matches!(self.format, Format::Npy)
    }

    /// Names of the columns; those of an array without names are numbers from 0.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// The column of this name.
    pub fn column(&self, name: &str) -> std::result::Result<usize, String> {
        let mut places = (0..self.columns.len()).filter(|&i| self.columns[i].trim() == name);
        match (places.next(), places.next()) {
            (Some(place), None) => Ok(place),
            (Some(_), Some(_)) => Err(format!("there are two columns {name:?}")),
            (None, _) => Err(format!("there is no column {name:?}; there are {}", self.column_names())),
        }
    }

    /// Its columns, in a message.
    fn column_names(&self) -> String {
        let mut names: Vec<String> =
            self.columns.iter().take(SHOWN_COLUMNS).map(|name| format!("{name:?}")).collect();
        if self.columns.len() > SHOWN_COLUMNS {
            names.push(format!("and {} more", self.columns.len() - SHOWN_COLUMNS));
        }
        names.join(", ")
    }

    /// How many rows there are, if the file says it.
    pub fn n_rows(&self) -> Result<Option<usize>> {
        match self.format {
            Format::Parquet => parquet::n_rows(&self.path).map(Some),
            Format::Npy => npy::n_rows(&self.path).map(Some),
            _ => Ok(None),
        }
    }

    /// All rows of these columns.
    pub fn rows(&self, columns: &[usize]) -> Result<Box<dyn Rows>> {
        self.rows_from(columns, None)
    }

    /// The rows after a mark.
    pub fn rows_from(&self, columns: &[usize], mark: Option<Mark>) -> Result<Box<dyn Rows>> {
        self.check_unchanged()?;
        let path = &self.path;
        Ok(match &self.format {
            Format::Text(separator) => Box::new(text::Lines::new(path, *separator, columns, mark)?),
            Format::JsonLines => {
                let names = columns.iter().map(|&column| self.columns[column].clone()).collect();
                Box::new(json_lines::Objects::new(path, names, mark)?)
            }
            Format::Parquet => Box::new(parquet::Groups::new(path, &self.columns, columns, mark)?),
            Format::Npy => Box::new(npy::Array::new(path, columns, mark)?),
            Format::Trials(trials) => Box::new(trials::Listed::new(path, trials, columns, mark)),
        })
    }

    /// The rows from `row` on as numbers; None where there are only cells.
    fn blocks(&self, columns: &[usize], row: u64) -> Result<Option<Box<dyn Blocks>>> {
        self.check_unchanged()?;
        Ok(match &self.format {
            Format::Parquet => parquet_blocks::NumberGroups::new(&self.path, columns, row)?
                .map(|groups| Box::new(groups) as Box<dyn Blocks>),
            Format::Npy => {
                let mark = Mark { row, byte: 0, line: 0 };
                Some(Box::new(npy::Array::new(&self.path, columns, Some(mark))?))
            }
            _ => None,
        })
    }

    /// Whether some columns can be read for less than all of them.
    fn is_by_columns(&self) -> bool {
        matches!(self.format, Format::Parquet)
    }

    /// Refuses a file that is not the one that was opened.
    pub fn check_unchanged(&self) -> Result<()> {
        let metadata = fs::metadata(&self.path).map_err(Error::io("cannot read", &self.path))?;
        if stamp(&metadata) == self.stamp {
            return Ok(());
        }
        Err(fault(
            &self.path,
            "the file was changed while it was read; wait until it is whole, and begin again",
        ))
    }
}

/// What is wrong with a file.
fn fault(path: &Path, what: impl std::fmt::Display) -> Error {
    Error::Usage(format!("{}: {what}", path.display()))
}

/// The number in a cell; None if it is missing. The error says what is there instead.
pub fn number(cell: &Cell) -> std::result::Result<Option<f64>, String> {
    match cell {
        Cell::Null => Ok(None),
        Cell::Int(value) => Ok(Some(*value as f64)),
        Cell::Float(value) => Ok(Some(*value)),
        Cell::Text(text) => match text.trim() {
            // What tables say where nothing was measured.
            "" | "NA" | "N/A" | "null" | "None" => Ok(None),
            text => text.parse().map(Some).map_err(|_| format!("{text:?} is not a number")),
        },
    }
}

#[cfg(test)]
mod tests;
