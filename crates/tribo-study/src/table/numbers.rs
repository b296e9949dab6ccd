//! The numbers of a table that a model is fitted to: a [`Source`] over a file, which holds none of them.
//!
//! Opening goes through the file once: rows are counted, and those with a missing or non-finite number refused, with their
//! place, or left out. Marks are made on the way, so that a pass can begin at any of them; between them a reader passes over
//! rows. Every reader looks at the file first: one that has changed is refused.

use super::{Mark, Rows, Table, number};
use crate::report::point::Cell;
use crate::report::text::count;
use crate::{Error, Result};
use faer::MatMut;
use tribo::surrogate::source::{Reader, Source};

/// Rows between two marks.
const MARKED: usize = 1 << 16;
/// Places of bad rows that are kept.
const SHOWN: usize = 10;

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
            marks: vec![],
            n_rows: 0,
            n_bad: 0,
            faults: vec![],
        };
        numbers.survey(go_on)?;
        Ok(numbers)
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
                Some(value) if value.abs() > 1e70 => {
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
        let rows = self.rows_from(start).map_err(library(&self.table))?;
        Ok(Box::new(Place { numbers: self, rows, cells: vec![Cell::Null; self.columns.len()] }))
    }
}

/// A place in the file.
struct Place<'a> {
    numbers: &'a Numbers,
    rows: Box<dyn Rows>,
    cells: Vec<Cell>,
}

impl Place<'_> {
    /// The next good row is in the cells.
    fn advance(&mut self) -> Result<()> {
        loop {
            if !self.rows.next(&mut self.cells)? {
                let path = self.numbers.table.path();
                return Err(super::fault(path, "it has become shorter while it was read"));
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
        Ok(())
    }

    fn skip(&mut self, n: usize) -> tribo::Result<()> {
        if self.numbers.n_bad == 0 {
            return self.rows.skip(n as u64).map_err(library(&self.numbers.table));
        }
        (0..n).try_for_each(|_| self.advance().map_err(library(&self.numbers.table)))
    }
}
