//! numpy's arrays: one or two dimensions, floats and whole numbers of four or eight bytes, little-endian, in either order.
//!
//! Blocks are read where they lie, which costs what mapping the file into memory would, without unsafe code: the system keeps
//! its pages.

use super::{Blocks, Mark, Rows, fault};
use crate::report::point::Cell;
use crate::{Error, Result};
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// Rows read at once.
const BLOCK: usize = 4096;

/// What one number is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Number {
    F8,
    F4,
    I8,
    I4,
}

impl Number {
    fn size(self) -> usize {
        match self {
            Number::F8 | Number::I8 => 8,
            Number::F4 | Number::I4 => 4,
        }
    }

    fn value(self, bytes: &[u8]) -> f64 {
        match self.cell(bytes) {
            Cell::Float(value) => value,
            Cell::Int(value) => value as f64,
            _ => f64::NAN,
        }
    }

    fn cell(self, bytes: &[u8]) -> Cell {
        let (mut eight, mut four) = ([0; 8], [0; 4]);
        match self.size() {
            8 => eight.copy_from_slice(bytes),
            _ => four.copy_from_slice(bytes),
        }
        match self {
            Number::F8 => Cell::Float(f64::from_le_bytes(eight)),
            Number::I8 => Cell::Int(i64::from_le_bytes(eight)),
            Number::F4 => Cell::Float(f64::from(f32::from_le_bytes(four))),
            Number::I4 => Cell::Int(i64::from(i32::from_le_bytes(four))),
        }
    }
}

/// What the header says.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Header {
    number: Number,
    by_columns: bool,
    n_rows: usize,
    n_columns: usize,
    /// Where the numbers begin.
    start: u64,
}

impl Header {
    fn read(path: &Path) -> Result<(File, Header)> {
        let mut file = File::open(path).map_err(Error::io("cannot read", path))?;
        let mut fixed = [0; 10];
        let cut = |_| fault(path, "it is cut short: there is no whole header of numpy's");
        file.read_exact(&mut fixed).map_err(cut)?;
        if &fixed[..6] != b"\x93NUMPY" {
            return Err(fault(path, "this is not a file of numpy's"));
        }
        let (length, start) = if fixed[6] == 1 {
            (usize::from(u16::from_le_bytes([fixed[8], fixed[9]])), 10)
        } else {
            let mut rest = [0; 2];
            file.read_exact(&mut rest).map_err(cut)?;
            (u32::from_le_bytes([fixed[8], fixed[9], rest[0], rest[1]]) as usize, 12)
        };
        // A header is some hundred bytes; one that claims more is not one.
        if length > 1 << 16 {
            return Err(fault(path, format!("its header claims {length} bytes")));
        }
        let mut text = vec![0; length];
        file.read_exact(&mut text).map_err(cut)?;
        let text = String::from_utf8_lossy(&text).into_owned();
        let header = Header::parse(&text, start + length as u64).map_err(|what| fault(path, what))?;
        let expected = header.start + (header.n_rows * header.n_columns * header.number.size()) as u64;
        let found = file.metadata().map_err(Error::io("cannot read", path))?.len();
        if found < expected {
            return Err(fault(
                path,
                format!("it is cut short: {found} B where {} rows take {expected} B", header.n_rows),
            ));
        }
        Ok((file, header))
    }

    fn parse(text: &str, start: u64) -> std::result::Result<Header, String> {
        let after = |key: &str| text.split_once(key).map(|(_, rest)| rest.trim_start_matches([':', ' ']));
        let unreadable = || format!("its header {text:?} cannot be read");
        let kind = after("'descr'").and_then(|rest| rest.split('\'').nth(1)).ok_or_else(unreadable)?;
        let number = match kind {
            "<f8" => Number::F8,
            "<f4" => Number::F4,
            "<i8" => Number::I8,
            "<i4" => Number::I4,
            other => {
                return Err(format!("its numbers are {other:?}; save them as float64, array.astype(float)"));
            }
        };
        let by_columns = after("'fortran_order'").ok_or_else(unreadable)?.starts_with("True");
        let shape = after("'shape'").and_then(|rest| rest.strip_prefix('(')).ok_or_else(unreadable)?;
        let shape = shape.split(')').next().unwrap_or_default();
        let sizes = shape.split(',').map(str::trim).filter(|size| !size.is_empty());
        let sizes: Vec<usize> =
            sizes.map(str::parse).collect::<std::result::Result<_, _>>().map_err(|_| unreadable())?;
        let (n_rows, n_columns) = match sizes[..] {
            [n_rows] => (n_rows, 1),
            [n_rows, n_columns] => (n_rows, n_columns),
            _ => return Err(format!("it has {} dimensions; a table has two", sizes.len())),
        };
        let size = n_rows.checked_mul(n_columns).and_then(|n| n.checked_mul(number.size()));
        size.ok_or_else(unreadable)?;
        Ok(Header { number, by_columns, n_rows, n_columns, start })
    }
}

/// The columns have no names but their numbers.
pub(super) fn columns(path: &Path) -> Result<Vec<String>> {
    let (_, header) = Header::read(path)?;
    Ok((0..header.n_columns).map(|column| column.to_string()).collect())
}

/// How many rows there are.
pub(super) fn n_rows(path: &Path) -> Result<usize> {
    Ok(Header::read(path)?.1.n_rows)
}

/// Rows of an array.
pub(super) struct Array {
    path: PathBuf,
    file: File,
    header: Header,
    columns: Vec<usize>,
    /// The row that is read next.
    row: usize,
    /// The first row of what is in the buffers, and how many are.
    held: (usize, usize),
    /// Of files by rows, the rows; of files by columns, one for each column asked for.
    buffers: Vec<Vec<u8>>,
}

impl Array {
    pub(super) fn new(path: &Path, columns: &[usize], mark: Option<Mark>) -> Result<Array> {
        let (file, header) = Header::read(path)?;
        let n_buffers = if header.by_columns { columns.len() } else { 1 };
        let row = mark.map_or(0, |mark| mark.row as usize);
        let buffers = vec![vec![]; n_buffers];
        Ok(Array {
            path: path.to_owned(),
            file,
            header,
            columns: columns.to_vec(),
            row,
            held: (0, 0),
            buffers,
        })
    }

    fn fill(&mut self) -> Result<()> {
        let Header { number, by_columns, n_rows, n_columns, start } = self.header;
        let n = BLOCK.min(n_rows - self.row);
        for (i, buffer) in self.buffers.iter_mut().enumerate() {
            let (first, count) = if by_columns {
                (self.columns[i] * n_rows + self.row, n)
            } else {
                (self.row * n_columns, n * n_columns)
            };
            buffer.resize(count * number.size(), 0);
            let at = start + (first * number.size()) as u64;
            self.file.read_exact_at(buffer, at).map_err(Error::io("cannot read", &self.path))?;
        }
        self.held = (self.row, n);
        Ok(())
    }
}

impl Rows for Array {
    fn next(&mut self, cells: &mut [Cell]) -> Result<bool> {
        if self.row >= self.header.n_rows {
            return Ok(false);
        }
        if self.row < self.held.0 || self.row >= self.held.0 + self.held.1 {
            self.fill()?;
        }
        let (size, row) = (self.header.number.size(), self.row - self.held.0);
        for (i, (cell, column)) in cells.iter_mut().zip(&self.columns).enumerate() {
            let (buffer, place) = if self.header.by_columns {
                (&self.buffers[i], row)
            } else {
                (&self.buffers[0], row * self.header.n_columns + column)
            };
            *cell = self.header.number.cell(&buffer[place * size..(place + 1) * size]);
        }
        self.row += 1;
        Ok(true)
    }

    fn skip(&mut self, n: u64) -> Result<()> {
        self.row = self.row.saturating_add(n as usize).min(self.header.n_rows);
        Ok(())
    }

    fn mark(&self) -> Mark {
        Mark { row: self.row as u64, byte: 0, line: 0 }
    }

    fn place(&self) -> String {
        format!("{}: row {}", self.path.display(), self.row)
    }
}

impl Blocks for Array {
    fn read(&mut self, n: usize, to: &mut [Vec<f64>]) -> Result<usize> {
        let Header { number, by_columns, n_rows, n_columns, .. } = self.header;
        let size = number.size();
        let mut done = 0;
        while done < n && self.row < n_rows {
            if self.row < self.held.0 || self.row >= self.held.0 + self.held.1 {
                self.fill()?;
            }
            let first = self.row - self.held.0;
            let rows = (n - done).min(self.held.1 - first);
            for (i, (to, &column)) in to.iter_mut().zip(&self.columns).enumerate() {
                let (buffer, start, step) = if by_columns {
                    (&self.buffers[i], first, 1)
                } else {
                    (&self.buffers[0], first * n_columns + column, n_columns)
                };
                let value = |row: usize| {
                    let at = (start + row * step) * size;
                    number.value(&buffer[at..at + size])
                };
                to.extend((0..rows).map(value));
            }
            (self.row, done) = (self.row + rows, done + rows);
        }
        Ok(done)
    }

    fn skip(&mut self, n: u64) -> Result<()> {
        Rows::skip(self, n)
    }
}
