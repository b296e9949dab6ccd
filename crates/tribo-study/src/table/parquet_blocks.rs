//! Columns of numbers of a Parquet file, block by block, without a cell for each: what every pass of a fit over a long table does.
//!
//! Values go from the page into the vector of their column; whole numbers and floats of four bytes are widened on the way.
//! Cost: some nanoseconds a value, most of it the page's decompression. Columns of texts have cells alone.

use super::parquet::{guarded, open};
use super::{Blocks, fault};
use crate::Result;
use parquet::basic::{ConvertedType, Type as Physical};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::DataType;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use std::fs::File;
use std::path::{Path, PathBuf};

/// Rows of a file of numbers, one row group after the other.
pub(super) struct NumberGroups {
    path: PathBuf,
    reader: SerializedFileReader<File>,
    columns: Vec<usize>,
    /// The level at which a value of each column is there.
    levels: Vec<i16>,
    /// The row group that is opened next.
    group: usize,
    /// Rows of the present one that were not read.
    left: u64,
    readers: Vec<ColumnReader>,
}

impl NumberGroups {
    /// The rows from `row` on; None if some column does not hold plain numbers.
    pub(super) fn new(path: &Path, columns: &[usize], row: u64) -> Result<Option<NumberGroups>> {
        let reader = open(path)?;
        let schema = reader.metadata().file_metadata().schema_descr();
        let mut levels = Vec::with_capacity(columns.len());
        for &place in columns {
            let column = schema.column(place);
            let is_number = matches!(
                column.physical_type(),
                Physical::BOOLEAN | Physical::INT32 | Physical::INT64 | Physical::FLOAT | Physical::DOUBLE
            );
            if !is_number || column.max_rep_level() > 0 || column.converted_type() == ConvertedType::DECIMAL {
                return Ok(None);
            }
            levels.push(column.max_def_level());
        }
        let (path, columns) = (path.to_owned(), columns.to_vec());
        let mut groups = NumberGroups { path, reader, columns, levels, group: 0, left: 0, readers: vec![] };
        groups.skip(row)?;
        Ok(Some(groups))
    }

    fn group_rows(&self) -> Option<u64> {
        let metadata = self.reader.metadata();
        (self.group < metadata.num_row_groups())
            .then(|| metadata.row_group(self.group).num_rows().max(0) as u64)
    }

    /// Opens the next row group; false if there is none.
    fn next_group(&mut self) -> Result<bool> {
        let Some(rows) = self.group_rows() else { return Ok(false) };
        let (reader, columns, group) = (&self.reader, &self.columns, self.group);
        self.readers = guarded(&self.path, || {
            let group = reader.get_row_group(group)?;
            columns.iter().map(|&column| group.get_column_reader(column)).collect()
        })?;
        (self.left, self.group) = (rows, self.group + 1);
        Ok(true)
    }
}

impl Blocks for NumberGroups {
    fn read(&mut self, n: usize, to: &mut [Vec<f64>]) -> Result<usize> {
        let mut done = 0;
        while done < n {
            if self.left == 0 {
                if !self.next_group()? {
                    break;
                }
                continue;
            }
            let rows = (n - done).min(usize::try_from(self.left).unwrap_or(usize::MAX));
            for ((reader, to), &level) in self.readers.iter_mut().zip(&mut *to).zip(&self.levels) {
                let found = guarded(&self.path, || read(reader, rows, level, to))?;
                if found != rows {
                    let what = format!("a column of row group {} ends too early", self.group);
                    return Err(fault(&self.path, format!("this is not a whole Parquet file: {what}")));
                }
            }
            self.left -= rows as u64;
            done += rows;
        }
        Ok(done)
    }

    fn skip(&mut self, mut n: u64) -> Result<()> {
        while n > 0 {
            if self.left > 0 {
                let passed = self.left.min(n);
                for reader in &mut self.readers {
                    guarded(&self.path, || skip(reader, passed as usize))?;
                }
                (self.left, n) = (self.left - passed, n - passed);
                continue;
            }
            // Whole groups are not even opened.
            match self.group_rows() {
                None => return Ok(()),
                Some(rows) if rows <= n => (self.group, n) = (self.group + 1, n - rows),
                Some(_) => drop(self.next_group()?),
            }
        }
        Ok(())
    }
}

/// Appends `n` rows of a column, NaN where there is no value; returns how many there were.
fn read(
    reader: &mut ColumnReader,
    n: usize,
    level: i16,
    to: &mut Vec<f64>,
) -> std::result::Result<usize, ParquetError> {
    match reader {
        ColumnReader::DoubleColumnReader(reader) => {
            let before = to.len();
            let mut levels = Vec::new();
            let rows = records(reader, n, &mut levels, to)?;
            if to.len() - before < rows {
                let found = to.split_off(before);
                spread(&levels, level, found.into_iter(), to);
            }
            Ok(rows)
        }
        ColumnReader::FloatColumnReader(reader) => widened(reader, n, level, to, |value| value.into()),
        ColumnReader::Int64ColumnReader(reader) => widened(reader, n, level, to, |value| value as f64),
        ColumnReader::Int32ColumnReader(reader) => widened(reader, n, level, to, |value| value.into()),
        ColumnReader::BoolColumnReader(reader) => {
            widened(reader, n, level, to, |value| f64::from(u8::from(value)))
        }
        _ => Ok(0),
    }
}

fn skip(reader: &mut ColumnReader, n: usize) -> std::result::Result<usize, ParquetError> {
    match reader {
        ColumnReader::DoubleColumnReader(reader) => reader.skip_records(n),
        ColumnReader::FloatColumnReader(reader) => reader.skip_records(n),
        ColumnReader::Int64ColumnReader(reader) => reader.skip_records(n),
        ColumnReader::Int32ColumnReader(reader) => reader.skip_records(n),
        ColumnReader::BoolColumnReader(reader) => reader.skip_records(n),
        _ => Ok(0),
    }
}

fn widened<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    n: usize,
    level: i16,
    to: &mut Vec<f64>,
    number: impl Fn(T::T) -> f64,
) -> std::result::Result<usize, ParquetError> {
    let (mut levels, mut found) = (Vec::new(), Vec::with_capacity(n));
    let rows = records(reader, n, &mut levels, &mut found)?;
    if found.len() == rows {
        to.extend(found.into_iter().map(number));
    } else {
        spread(&levels, level, found.into_iter().map(number), to);
    }
    Ok(rows)
}

/// Appends the values that are there; `levels` has one for each row, or none where all are.
fn records<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    n: usize,
    levels: &mut Vec<i16>,
    values: &mut Vec<T::T>,
) -> std::result::Result<usize, ParquetError> {
    let mut rows = 0;
    while rows < n {
        let (more, _, _) = reader.read_records(n - rows, Some(levels), None, values)?;
        if more == 0 {
            break;
        }
        rows += more;
    }
    Ok(rows)
}

/// Values to their rows.
fn spread(levels: &[i16], level: i16, mut values: impl Iterator<Item = f64>, to: &mut Vec<f64>) {
    to.extend(
        levels.iter().map(|&own| if own == level { values.next().unwrap_or(f64::NAN) } else { f64::NAN }),
    );
}
