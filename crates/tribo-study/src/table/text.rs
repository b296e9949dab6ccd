//! Lines of fields: CSV as RFC 4180 has it, and Dakota's tabular files, whose header begins with % and whose fields have white
//! space between them. Empty lines are left out.

use super::{Mark, Rows, fault};
use crate::report::csv;
use crate::report::point::Cell;
use crate::{Error, Result};
use std::fs::File;
use std::io::{BufRead, BufReader, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// What stands between two fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Separator {
    Comma,
    Space,
}

/// The header.
pub(super) fn columns(path: &Path) -> Result<(Separator, Vec<String>)> {
    let mut lines = Lines::open(path, Separator::Comma, &[])?;
    if !lines.read_record()? {
        return Err(fault(path, "it is empty; it needs a line with the names of the columns"));
    }
    let text = lines.text()?;
    if let Some(names) = text.strip_prefix('%') {
        return Ok((Separator::Space, names.split_ascii_whitespace().map(str::to_owned).collect()));
    }
    let header = csv::parse(text).map_err(|what| fault(path, what))?;
    let names = header.into_iter().next().map_or_else(Vec::new, |record| record.fields);
    Ok((Separator::Comma, names.iter().map(|name| name.trim().to_owned()).collect()))
}

/// Rows of a file of lines.
pub(super) struct Lines {
    path: PathBuf,
    separator: Separator,
    columns: Vec<usize>,
    reader: BufReader<File>,
    /// Before the next record.
    mark: Mark,
    /// The line on which the last one began, from 1.
    line: u64,
    record: Vec<u8>,
}

impl Lines {
    fn open(path: &Path, separator: Separator, columns: &[usize]) -> Result<Lines> {
        let file = File::open(path).map_err(Error::io("cannot read", path))?;
        Ok(Lines {
            path: path.to_owned(),
            separator,
            columns: columns.to_vec(),
            reader: BufReader::with_capacity(1 << 18, file),
            mark: Mark { row: 0, byte: 0, line: 0 },
            line: 0,
            record: Vec::new(),
        })
    }

    /// Rows of these columns, after a mark or after the header.
    pub(super) fn new(
        path: &Path,
        separator: Separator,
        columns: &[usize],
        mark: Option<Mark>,
    ) -> Result<Lines> {
        let mut lines = Lines::open(path, separator, columns)?;
        match mark {
            Some(mark) => {
                lines.reader.seek(SeekFrom::Start(mark.byte)).map_err(Error::io("cannot read", path))?;
                lines.mark = mark;
            }
            None => {
                lines.read_record()?;
                lines.mark.row = 0;
            }
        }
        Ok(lines)
    }

    /// Reads the next record that is not empty; false at the end.
    fn read_record(&mut self) -> Result<bool> {
        loop {
            self.record.clear();
            self.line = self.mark.line + 1;
            if !self.read_line()? {
                return Ok(false);
            }
            // A field in quotes may go on over the end of its line.
            while self.separator == Separator::Comma
                && self.record.contains(&b'"')
                && self.record.iter().filter(|&&byte| byte == b'"').count() % 2 == 1
            {
                if !self.read_line()? {
                    return Err(self.fault("a quote is opened and never closed"));
                }
            }
            while self.record.last().is_some_and(|byte| matches!(byte, b'\n' | b'\r')) {
                self.record.pop();
            }
            if !self.record.iter().all(u8::is_ascii_whitespace) {
                self.mark.row += 1;
                return Ok(true);
            }
        }
    }

    fn read_line(&mut self) -> Result<bool> {
        let n =
            self.reader.read_until(b'\n', &mut self.record).map_err(Error::io("cannot read", &self.path))?;
        self.mark.byte += n as u64;
        self.mark.line += u64::from(n > 0);
        Ok(n > 0)
    }

    fn text(&self) -> Result<&str> {
        let text = std::str::from_utf8(&self.record).map_err(|_| self.fault("this is not UTF-8"))?;
        Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
    }

    fn fault(&self, what: impl std::fmt::Display) -> Error {
        Error::Usage(format!("{}: {what}", self.place()))
    }

    /// Puts the fields asked for into the cells; the error is how many fields there are.
    fn split(&self, cells: &mut [Cell]) -> Result<()> {
        let text = self.text()?;
        let mut found = 0;
        let mut n_fields = 0;
        let mut take = |place: usize, field: &str| {
            n_fields += 1;
            for (cell, _) in cells.iter_mut().zip(&self.columns).filter(|(_, column)| **column == place) {
                found += 1;
                set(cell, field.trim());
            }
        };
        match self.separator {
            Separator::Space => {
                text.split_ascii_whitespace().enumerate().for_each(|(place, field)| take(place, field));
            }
            Separator::Comma if text.contains('"') => {
                let records = csv::parse(text).map_err(|what| {
                    // The parser counts from the record's own first line.
                    self.fault(what.split_once(": ").map_or(what.as_str(), |(_, what)| what))
                })?;
                let fields = records.into_iter().next().map_or_else(Vec::new, |record| record.fields);
                fields.iter().enumerate().for_each(|(place, field)| take(place, field));
            }
            Separator::Comma => text.split(',').enumerate().for_each(|(place, field)| take(place, field)),
        }
        if found < cells.len() {
            let last = self.columns.iter().max().map_or(0, |column| column + 1);
            let count = crate::report::text::count(n_fields, "field");
            return Err(self.fault(format!("{count}, but column {last} is needed")));
        }
        Ok(())
    }
}

/// Sets a cell, in the memory it has.
fn set(cell: &mut Cell, field: &str) {
    match cell {
        _ if field.is_empty() => *cell = Cell::Null,
        Cell::Text(text) => {
            text.clear();
            text.push_str(field);
        }
        other => *other = Cell::Text(field.to_owned()),
    }
}

impl Rows for Lines {
    fn next(&mut self, cells: &mut [Cell]) -> Result<bool> {
        if !self.read_record()? {
            return Ok(false);
        }
        self.split(cells)?;
        Ok(true)
    }

    fn skip(&mut self, n: u64) -> Result<()> {
        for _ in 0..n {
            if !self.read_record()? {
                break;
            }
        }
        Ok(())
    }

    fn mark(&self) -> Mark {
        self.mark
    }

    fn place(&self) -> String {
        format!("{}:{}", self.path.display(), self.line)
    }
}
