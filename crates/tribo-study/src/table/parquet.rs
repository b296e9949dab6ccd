//! Parquet: the columns asked for alone are read, a few thousand values at a time.
//!
//! Columns of numbers, truth values and texts, one value a row. Compressed with Snappy or not at all, which is what pandas and
//! Arrow write; other compressions are refused by name.

use super::{Mark, Rows, fault};
use crate::report::point::Cell;
use crate::{Error, Result};
use parquet::basic::{ConvertedType, Type as Physical};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType};
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

/// Values of a column read at once.
const BLOCK: usize = 4096;

pub(super) fn open(path: &Path) -> Result<SerializedFileReader<File>> {
    let file = File::open(path).map_err(Error::io("cannot read", path))?;
    guarded(path, || SerializedFileReader::new(file))
}

/// Calls the crate. A damaged file is an error, also where the crate panics on it.
pub(super) fn guarded<T>(
    path: &Path,
    call: impl FnOnce() -> std::result::Result<T, ParquetError>,
) -> Result<T> {
    let damaged = |what: String| {
        let what = what.trim_start_matches("Parquet error: ").to_owned();
        fault(path, format!("this is not a whole Parquet file: {what}"))
    };
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(ParquetError::NYI(what) | ParquetError::General(what))) if what.contains("ompress") => {
            Err(fault(
                path,
                format!(
                    "{what}; write it with compression \"snappy\" or none, in pandas to_parquet(compression=None)"
                ),
            ))
        }
        Ok(Err(error)) => Err(damaged(error.to_string())),
        Err(_) => Err(damaged("its pages are damaged".to_owned())),
    }
}

/// The names of all columns; those inside of groups have their names before theirs.
pub(super) fn columns(path: &Path) -> Result<Vec<String>> {
    let reader = open(path)?;
    let schema = reader.metadata().file_metadata().schema_descr();
    Ok(schema.columns().iter().map(|column| column.path().string()).collect())
}

/// How many rows there are.
pub(super) fn n_rows(path: &Path) -> Result<usize> {
    Ok(usize::try_from(open(path)?.metadata().file_metadata().num_rows()).unwrap_or(0))
}

/// Rows of a file, one row group after the other.
pub(super) struct Groups {
    path: PathBuf,
    reader: SerializedFileReader<File>,
    names: Vec<String>,
    columns: Vec<usize>,
    /// The row that is read next, in all.
    row: u64,
    /// The row group that is read next.
    group: usize,
    /// Rows of the present one that are not in the buffers.
    left: u64,
    values: Vec<Values>,
    /// Rows in the buffers, and the next of them.
    held: (usize, usize),
}

impl Groups {
    pub(super) fn new(
        path: &Path,
        names: &[String],
        columns: &[usize],
        mark: Option<Mark>,
    ) -> Result<Groups> {
        let reader = open(path)?;
        let schema = reader.metadata().file_metadata().schema_descr();
        for &place in columns {
            let column = schema.column(place);
            let name = &names[place];
            let refuse = |what: String| Err(fault(path, format!("column {name:?} {what}")));
            if column.max_rep_level() > 0 {
                return refuse("has lists; give each of their values a column of its own".to_owned());
            }
            if column.converted_type() == ConvertedType::DECIMAL {
                return refuse("has decimals; write it as DOUBLE".to_owned());
            }
            if matches!(column.physical_type(), Physical::INT96 | Physical::FIXED_LEN_BYTE_ARRAY) {
                return refuse(format!(
                    "is of type {}, which is not a number or a text",
                    column.physical_type()
                ));
            }
        }
        let (names, columns) = (names.to_vec(), columns.to_vec());
        let path = path.to_owned();
        let mut groups =
            Groups { path, reader, names, columns, row: 0, group: 0, left: 0, values: vec![], held: (0, 0) };
        groups.skip(mark.map_or(0, |mark| mark.row))?;
        Ok(groups)
    }

    /// Opens the next row group; false if there is none.
    fn next_group(&mut self) -> Result<bool> {
        let metadata = self.reader.metadata();
        if self.group >= metadata.num_row_groups() {
            return Ok(false);
        }
        let n_rows = metadata.row_group(self.group).num_rows();
        let (reader, columns, group) = (&self.reader, &self.columns, self.group);
        self.values = guarded(&self.path, || {
            let group = reader.get_row_group(group)?;
            columns.iter().map(|&column| Ok(Values::new(group.get_column_reader(column)?))).collect()
        })?;
        self.left =
            u64::try_from(n_rows).map_err(|_| fault(&self.path, "a row group has less than no rows"))?;
        self.group += 1;
        self.held = (0, 0);
        Ok(true)
    }

    /// Fills the buffers from the present row group.
    fn fill(&mut self) -> Result<()> {
        let n = BLOCK.min(self.left as usize);
        for (values, &column) in self.values.iter_mut().zip(&self.columns) {
            let found = guarded(&self.path, || values.fill(n))?;
            if found != n {
                let what = format!("column {:?} ends in row {}", self.names[column], self.row + found as u64);
                return Err(fault(&self.path, format!("this is not a whole Parquet file: {what}")));
            }
        }
        self.left -= n as u64;
        self.held = (n, 0);
        Ok(())
    }
}

impl Rows for Groups {
    fn next(&mut self, cells: &mut [Cell]) -> Result<bool> {
        while self.held.1 == self.held.0 {
            if self.left > 0 {
                self.fill()?;
            } else if !self.next_group()? {
                return Ok(false);
            }
        }
        for (cell, values) in cells.iter_mut().zip(&mut self.values) {
            *cell = values.cell(self.held.1);
        }
        self.held.1 += 1;
        self.row += 1;
        Ok(true)
    }

    fn skip(&mut self, mut n: u64) -> Result<()> {
        while n > 0 {
            let held = (self.held.0 - self.held.1) as u64;
            if held > 0 {
                let passed = held.min(n);
                self.held.1 += passed as usize;
                self.values.iter_mut().for_each(|values| values.pass(self.held.1));
                (self.row, n) = (self.row + passed, n - passed);
            } else if self.left > 0 {
                let passed = self.left.min(n);
                for values in &mut self.values {
                    guarded(&self.path, || values.skip(passed as usize))?;
                }
                self.left -= passed;
                (self.row, n) = (self.row + passed, n - passed);
            } else {
                // Whole groups are not even opened.
                let metadata = self.reader.metadata();
                if self.group >= metadata.num_row_groups() {
                    return Ok(());
                }
                let rows = metadata.row_group(self.group).num_rows().max(0) as u64;
                if rows <= n {
                    self.group += 1;
                    (self.row, n) = (self.row + rows, n - rows);
                } else {
                    self.next_group()?;
                }
            }
        }
        Ok(())
    }

    fn mark(&self) -> Mark {
        Mark { row: self.row, byte: 0, line: 0 }
    }

    fn place(&self) -> String {
        format!("{}: row {}", self.path.display(), self.row)
    }
}

/// A column of a row group, and what was read of it.
struct Values {
    reader: ColumnReader,
    /// One for each row: 0 where the value is missing. Empty where none can be.
    levels: Vec<i16>,
    max_level: i16,
    /// The values that are there.
    found: Vec<Cell>,
    /// The next of them.
    next: usize,
}

impl Values {
    fn new(reader: ColumnReader) -> Values {
        Values { reader, levels: vec![], max_level: 0, found: vec![], next: 0 }
    }

    /// Reads `n` rows; returns how many there were.
    fn fill(&mut self, n: usize) -> std::result::Result<usize, ParquetError> {
        self.levels.clear();
        self.found.clear();
        self.next = 0;
        let (levels, found) = (&mut self.levels, &mut self.found);
        let text = |text: &ByteArray| Cell::Text(String::from_utf8_lossy(text.data()).into_owned());
        let n_rows = match &mut self.reader {
            ColumnReader::BoolColumnReader(reader) => {
                read(reader, n, levels, found, |&value| Cell::Int(value.into()))
            }
            ColumnReader::Int32ColumnReader(reader) => {
                read(reader, n, levels, found, |&value| Cell::Int(value.into()))
            }
            ColumnReader::Int64ColumnReader(reader) => {
                read(reader, n, levels, found, |&value| Cell::Int(value))
            }
            ColumnReader::FloatColumnReader(reader) => {
                read(reader, n, levels, found, |&value| Cell::Float(value.into()))
            }
            ColumnReader::DoubleColumnReader(reader) => {
                read(reader, n, levels, found, |&value| Cell::Float(value))
            }
            ColumnReader::ByteArrayColumnReader(reader) => read(reader, n, levels, found, text),
            ColumnReader::Int96ColumnReader(_) | ColumnReader::FixedLenByteArrayColumnReader(_) => Ok(0),
        }?;
        self.max_level = self.levels.iter().copied().max().unwrap_or(0);
        Ok(n_rows)
    }

    fn skip(&mut self, n: usize) -> std::result::Result<usize, ParquetError> {
        match &mut self.reader {
            ColumnReader::BoolColumnReader(reader) => reader.skip_records(n),
            ColumnReader::Int32ColumnReader(reader) => reader.skip_records(n),
            ColumnReader::Int64ColumnReader(reader) => reader.skip_records(n),
            ColumnReader::FloatColumnReader(reader) => reader.skip_records(n),
            ColumnReader::DoubleColumnReader(reader) => reader.skip_records(n),
            ColumnReader::ByteArrayColumnReader(reader) => reader.skip_records(n),
            ColumnReader::Int96ColumnReader(_) | ColumnReader::FixedLenByteArrayColumnReader(_) => Ok(0),
        }
    }

    fn is_there(&self, row: usize) -> bool {
        self.found.len() == self.levels.len() || self.levels.is_empty() || self.levels[row] == self.max_level
    }

    /// The cell of a row, the next one.
    fn cell(&mut self, row: usize) -> Cell {
        if self.found.is_empty() || !self.is_there(row) {
            return Cell::Null;
        }
        self.next += 1;
        self.found.get_mut(self.next - 1).map_or(Cell::Null, |cell| std::mem::replace(cell, Cell::Null))
    }

    /// Passes over the rows before `row`.
    fn pass(&mut self, row: usize) {
        self.next = (0..row).filter(|&row| !self.found.is_empty() && self.is_there(row)).count();
    }
}

/// Reads `n` rows of a column of one type.
fn read<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    n: usize,
    levels: &mut Vec<i16>,
    found: &mut Vec<Cell>,
    cell: impl Fn(&T::T) -> Cell,
) -> std::result::Result<usize, ParquetError> {
    let mut values = Vec::with_capacity(n);
    let mut n_rows = 0;
    while n_rows < n {
        let (more, _, _) = reader.read_records(n - n_rows, Some(levels), None, &mut values)?;
        if more == 0 {
            break;
        }
        n_rows += more;
    }
    found.extend(values.iter().map(cell));
    Ok(n_rows)
}
