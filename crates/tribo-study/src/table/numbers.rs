//! The numbers of a table that a model is fitted to: a [`Source`] over a file, which holds none of them.
//!
//! Opening goes through the file once: rows are counted, and those with a missing or non-finite number refused, with their
//! place, or left out. Marks are made on the way, so that a pass can begin at any of them; between them a reader passes over
//! rows. Files of numbers, all of them good, are read in blocks instead, without cells and marks. Every reader looks at the file
//! before its first row and after the last one of all: one that has changed is refused.

use super::{Blocks, Mark, Rows, Table, number};
use crate::report::point::Cell;
use crate::report::text::count;
use crate::{Error, Result};
use faer::MatMut;
use tribo::surrogate::source::{Reader, Source};

/// Rows between two marks.
const MARKED: usize = 1 << 16;
/// Places of bad rows that are kept.
const SHOWN: usize = 10;
/// Numbers in a block of the first pass: 8 MB.
const HELD: usize = 1 << 20;
/// Numbers are at most this large: their squares, and sums of many, are still numbers.
const LARGEST: f64 = 1e70;

/// What becomes of rows with a missing or non-finite number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BadRows {
    /// They are an error.
    Refuse,
    /// They are left out and counted.
    Skip,
}

/// Columns of numbers of a table.
#[derive(Debug)]
pub struct Numbers {
    table: Table,
    /// Names of the inputs and, last, of the output if there is one.
    names: Vec<String>,
    columns: Vec<usize>,
    has_output: bool,
    bad_rows: BadRows,
    /// All rows are good and can be read in blocks.
    in_blocks: bool,
    /// Marks and the good rows before them.
    marks: Vec<(usize, Mark)>,
    n_rows: usize,
    n_bad: usize,
    /// What is wrong with the first bad rows.
    faults: Vec<String>,
}

impl Numbers {
    /// Goes through the table once. `go_on` is asked now and then, with the rows so far, and ends it by false.
    pub fn open(
        table: Table,
        inputs: &[String],
        output: Option<&str>,
        bad_rows: BadRows,
        go_on: &dyn Fn(usize) -> bool,
    ) -> Result<Numbers> {
        let names: Vec<String> = inputs.iter().map(String::as_str).chain(output).map(str::to_owned).collect();
        let find = |name: &String| table.column(name).map_err(|what| super::fault(table.path(), what));
        let columns = names.iter().map(find).collect::<Result<Vec<usize>>>()?;
        if inputs.is_empty() {
            return Err(super::fault(table.path(), "no column is left for the inputs"));
        }
        let mut numbers = Numbers {
            table,
            names,
            columns,
            has_output: output.is_some(),
            bad_rows,
            in_blocks: false,
            marks: vec![],
            n_rows: 0,
            n_bad: 0,
            faults: vec![],
        };
        if !numbers.survey_blocks(go_on)? {
            numbers.survey(go_on)?;
        }
        Ok(numbers)
    }

    /// Counts the rows of a file that is read in blocks; false if it is not, or a number is bad, whose place cells have to tell.
    fn survey_blocks(&mut self, go_on: &dyn Fn(usize) -> bool) -> Result<bool> {
        let Some(mut blocks) = self.table.blocks(&self.columns, 0)? else { return Ok(false) };
        let most = (HELD / self.columns.len()).clamp(1, MARKED);
        let mut columns = vec![Vec::with_capacity(most); self.columns.len()];
        let mut n_rows = 0;
        loop {
            if !go_on(n_rows) {
                return Err(tribo::Error::Stopped { what: "a pass over the file" }.into());
            }
            columns.iter_mut().for_each(Vec::clear);
            let n = blocks.read(most, &mut columns)?;
            // A missing number is NaN, which is not at most anything.
            if !columns.iter().all(|column| column.iter().all(|value| value.abs() <= LARGEST)) {
                return Ok(false);
            }
            n_rows += n;
            if n < most {
                break;
            }
        }
        self.n_rows = n_rows;
        self.in_blocks = n_rows > 0;
        Ok(self.in_blocks)
    }

    fn survey(&mut self, go_on: &dyn Fn(usize) -> bool) -> Result<()> {
        let mut rows = self.table.rows(&self.columns)?;
        let mut cells = vec![Cell::Null; self.columns.len()];
        loop {
            if self.n_rows.is_multiple_of(MARKED)
                && self.marks.last().is_none_or(|(before, _)| *before != self.n_rows)
            {
                self.marks.push((self.n_rows, rows.mark()));
                if !go_on(self.n_rows + self.n_bad) {
                    return Err(tribo::Error::Stopped { what: "a pass over the file" }.into());
                }
            }
            if !rows.next(&mut cells)? {
                break;
            }
            match self.check(&cells) {
                Ok(()) => self.n_rows += 1,
                Err(what) => {
                    self.n_bad += 1;
                    if self.faults.len() < SHOWN {
                        self.faults.push(format!("{}: {what}", rows.place()));
                    }
                }
            }
        }
        if self.n_bad > 0 && self.bad_rows == BadRows::Refuse {
            let mut text = self.faults.clone();
            if self.n_bad > SHOWN {
                text.push(format!("and {} more", self.n_bad - SHOWN));
            }
            text.push(format!(
                "{} of {} cannot be used; --skip-bad leaves such rows out",
                self.n_bad,
                self.all()
            ));
            return Err(Error::Usage(text.join("\n")));
        }
        if self.n_rows == 0 {
            return Err(super::fault(
                self.table.path(),
                format!("{} with numbers in all columns", count(0, "row")),
            ));
        }
        Ok(())
    }

    fn all(&self) -> String {
        count(self.n_rows + self.n_bad, "row")
    }

    /// What is wrong with a row, with the column.
    fn check(&self, cells: &[Cell]) -> std::result::Result<(), String> {
        for (cell, name) in cells.iter().zip(&self.names) {
            let named = |what: &str| format!("column {name:?} {what}");
            match number(cell).map_err(|what| format!("column {name:?}: {what}"))? {
                None => return Err(named("is empty")),
                Some(value) if !value.is_finite() => return Err(named(&format!("is {value}"))),
                Some(value) if value.abs() > LARGEST => {
                    return Err(named(&format!("is {value:?}, beyond 1e70")));
                }
                Some(_) => {}
            }
        }
        Ok(())
    }

    /// Rows that were left out.
    pub fn n_bad(&self) -> usize {
        self.n_bad
    }

    /// What is wrong with the first of them.
    pub fn faults(&self) -> &[String] {
        &self.faults
    }

    fn shorter(&self) -> Error {
        super::fault(self.table.path(), "it has become shorter while it was read")
    }

    /// At the end of a pass the file has to be what it was at its beginning.
    fn look_again_after(&self, row: usize) -> Result<()> {
        if row < self.n_rows { Ok(()) } else { self.table.check_unchanged() }
    }

    /// Refuses a file that has changed since it was opened.
    pub fn check_unchanged(&self) -> Result<()> {
        self.table.check_unchanged()
    }

    /// A reader of cells that begins at good row `start`.
    fn rows_from(&self, start: usize) -> Result<Box<dyn Rows>> {
        let at = self.marks.partition_point(|(before, _)| *before <= start).saturating_sub(1);
        let Some(&(before, mark)) = self.marks.get(at) else { return self.table.rows(&self.columns) };
        let mut rows = self.table.rows_from(&self.columns, Some(mark))?;
        if self.n_bad == 0 {
            rows.skip((start - before) as u64)?;
            return Ok(rows);
        }
        let mut cells = vec![Cell::Null; self.columns.len()];
        let mut row = before;
        while row < start && rows.next(&mut cells)? {
            row += usize::from(self.check(&cells).is_ok());
        }
        Ok(rows)
    }
}

/// An error of a file as the library has it.
fn library(name: &Table) -> impl Fn(Error) -> tribo::Error + '_ {
    |error| match error {
        Error::Optimiser(error) => error,
        error => {
            let name = name.path().display().to_string();
            let reason = error.to_string();
            let reason = reason.strip_prefix(&format!("{name}: ")).unwrap_or(&reason).to_owned();
            tribo::Error::Source { name, reason }
        }
    }
}

impl Source for Numbers {
    fn len(&self) -> usize {
        self.n_rows
    }

    fn dim(&self) -> usize {
        self.columns.len() - usize::from(self.has_output)
    }

    fn reader(&self, start: usize) -> tribo::Result<Box<dyn Reader + '_>> {
        if self.in_blocks {
            let blocks = self.table.blocks(&self.columns, start as u64).map_err(library(&self.table))?;
            if let Some(blocks) = blocks {
                let columns = vec![vec![]; self.columns.len()];
                return Ok(Box::new(BlockPlace { numbers: self, blocks, columns, row: start }));
            }
        }
        let rows = self.rows_from(start).map_err(library(&self.table))?;
        Ok(Box::new(Place { numbers: self, rows, cells: vec![Cell::Null; self.columns.len()], row: start }))
    }
}

/// A place in a file that is read in blocks.
struct BlockPlace<'a> {
    numbers: &'a Numbers,
    blocks: Box<dyn Blocks>,
    columns: Vec<Vec<f64>>,
    /// The row that is read next.
    row: usize,
}

impl Reader for BlockPlace<'_> {
    fn read(&mut self, mut x: MatMut<'_, f64>, y: &mut [f64]) -> tribo::Result<()> {
        let library = library(&self.numbers.table);
        self.columns.iter_mut().for_each(Vec::clear);
        let n = self.blocks.read(y.len(), &mut self.columns).map_err(&library)?;
        if n < y.len() {
            return Err(library(self.numbers.shorter()));
        }
        for (k, column) in self.columns.iter().enumerate() {
            if k < x.ncols() {
                column.iter().enumerate().for_each(|(i, value)| x[(i, k)] = *value);
            } else {
                y.copy_from_slice(column);
            }
        }
        self.row += n;
        self.numbers.look_again_after(self.row).map_err(library)
    }

    fn skip(&mut self, n: usize) -> tribo::Result<()> {
        self.row += n;
        self.blocks.skip(n as u64).map_err(library(&self.numbers.table))
    }
}

/// A place in the file.
struct Place<'a> {
    numbers: &'a Numbers,
    rows: Box<dyn Rows>,
    cells: Vec<Cell>,
    /// The good row that is read next.
    row: usize,
}

impl Place<'_> {
    /// The next good row is in the cells.
    fn advance(&mut self) -> Result<()> {
        loop {
            if !self.rows.next(&mut self.cells)? {
                return Err(self.numbers.shorter());
            }
            match self.numbers.check(&self.cells) {
                Ok(()) => return Ok(()),
                Err(_) if self.numbers.bad_rows == BadRows::Skip => {}
                Err(what) => return Err(Error::Usage(format!("{}: {what}", self.rows.place()))),
            }
        }
    }
}

impl Reader for Place<'_> {
    fn read(&mut self, mut x: MatMut<'_, f64>, y: &mut [f64]) -> tribo::Result<()> {
        for i in 0..y.len() {
            self.advance().map_err(library(&self.numbers.table))?;
            for (k, cell) in self.cells.iter().enumerate() {
                let value = number(cell).ok().flatten().unwrap_or(f64::NAN);
                if k < x.ncols() {
                    x[(i, k)] = value;
                } else {
                    y[i] = value;
                }
            }
        }
        self.row += y.len();
        self.numbers.look_again_after(self.row).map_err(library(&self.numbers.table))
    }

    fn skip(&mut self, n: usize) -> tribo::Result<()> {
        self.row += n;
        if self.numbers.n_bad == 0 {
            return self.rows.skip(n as u64).map_err(library(&self.numbers.table));
        }
        (0..n).try_for_each(|_| self.advance().map_err(library(&self.numbers.table)))
    }
}
