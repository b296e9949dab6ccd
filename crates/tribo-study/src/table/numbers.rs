//! The numbers of a table that a model is fitted to: a [`Source`] over a file, which holds none of them.
//!
//! Opening goes through the file once: rows are counted, and those with a missing or non-finite number, or with one that its
//! column must not hold, refused with their place, or left out. Marks are made on the way, so that a pass can begin at any of them; between them a reader passes over
//! rows. Files of numbers, all of them good, are read in blocks instead, without cells and marks. Every reader looks at the file
//! before its first row and after the last one of all: one that has changed is refused.

use super::picked::{Bad, Expected, LARGEST, LeftOut, Picked};
use super::{Blocks, Mark, Rows, Table};
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

/// Columns that are looked at together where a file is read by columns: a page of each is held.
const TOGETHER: usize = 256;

/// What becomes of rows with a missing or non-finite number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BadRows {
    /// They are an error.
    Refuse,
    /// They are left out and counted.
    Skip,
    /// Those without an output are left out: they failed. So are those with an input that its column must not hold, if that is
    /// asked for. The others are an error.
    Import {
        /// Whether it is.
        skip_outside: bool,
    },
}

/// Columns of numbers of a table.
#[derive(Debug)]
pub struct Numbers {
    table: Table,
    /// Those of the inputs and, last, of the output if there is one.
    columns: Vec<Picked>,
    places: Vec<usize>,
    has_output: bool,
    bad_rows: BadRows,
    /// All rows are good and can be read in blocks.
    in_blocks: bool,
    /// Marks and the good rows before them.
    marks: Vec<(usize, Mark)>,
    n_rows: usize,
    bad: LeftOut,
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
        let names = inputs.iter().map(String::as_str).chain(output);
        let find = |name: &str| {
            let place = table.column(name).map_err(|what| super::fault(table.path(), what))?;
            Ok(Picked { place, name: name.to_owned(), expected: Expected::Numbers })
        };
        let columns = names.map(find).collect::<Result<Vec<Picked>>>()?;
        Numbers::of_columns(table, columns, output.is_some(), bad_rows, go_on)
    }

    /// As [`Numbers::open`], with columns that are found already, the output last.
    pub fn of_columns(
        table: Table,
        columns: Vec<Picked>,
        has_output: bool,
        bad_rows: BadRows,
        go_on: &dyn Fn(usize) -> bool,
    ) -> Result<Numbers> {
        if columns.len() == usize::from(has_output) {
            return Err(super::fault(table.path(), "no column is left for the inputs"));
        }
        let mut numbers = Numbers {
            table,
            places: columns.iter().map(|column| column.place).collect(),
            columns,
            has_output,
            bad_rows,
            in_blocks: false,
            marks: vec![],
            n_rows: 0,
            bad: LeftOut::default(),
            faults: vec![],
        };
        if !numbers.survey_blocks(go_on)? {
            numbers.survey(go_on)?;
        }
        Ok(numbers)
    }

    /// Counts the rows of a file that is read in blocks; false if it is not, or a number is bad, whose place cells have to tell.
    fn survey_blocks(&mut self, go_on: &dyn Fn(usize) -> bool) -> Result<bool> {
        if self.columns.iter().any(|column| matches!(column.expected, Expected::Categories(_))) {
            return Ok(false);
        }
        let together = if self.table.is_by_columns() { TOGETHER } else { self.columns.len() };
        let mut n_rows = None;
        for columns in self.columns.chunks(together) {
            let found = self.survey_columns(columns, go_on)?;
            if found.is_none() || n_rows.is_some_and(|n_rows| Some(n_rows) != found) {
                return Ok(false);
            }
            n_rows = found;
        }
        self.n_rows = n_rows.unwrap_or(0);
        self.in_blocks = self.n_rows > 0;
        Ok(self.in_blocks)
    }

    /// Counts the rows of some columns; None if they are not read in blocks, or a number is bad.
    fn survey_columns(&self, columns: &[Picked], go_on: &dyn Fn(usize) -> bool) -> Result<Option<usize>> {
        let places: Vec<usize> = columns.iter().map(|column| column.place).collect();
        let Some(mut blocks) = self.table.blocks(&places, 0)? else { return Ok(None) };
        let most = (HELD / columns.len()).clamp(1, MARKED);
        let mut read = vec![Vec::with_capacity(most); columns.len()];
        let mut n_rows = 0;
        loop {
            if !go_on(n_rows) {
                return Err(tribo::Error::Stopped { what: "a pass over the file" }.into());
            }
            read.iter_mut().for_each(Vec::clear);
            let n = blocks.read(most, &mut read)?;
            // A missing number is NaN, which no column takes.
            let is_good =
                |(column, values): (&Picked, &Vec<f64>)| values.iter().all(|&value| column.takes(value));
            if !columns.iter().zip(&read).all(is_good) {
                return Ok(None);
            }
            n_rows += n;
            if n < most {
                return Ok(Some(n_rows));
            }
        }
    }

    fn survey(&mut self, go_on: &dyn Fn(usize) -> bool) -> Result<()> {
        let mut rows = self.table.rows(&self.places)?;
        let mut cells = vec![Cell::Null; self.columns.len()];
        let mut n_refused = 0;
        loop {
            if self.n_rows.is_multiple_of(MARKED)
                && self.marks.last().is_none_or(|(before, _)| *before != self.n_rows)
            {
                self.marks.push((self.n_rows, rows.mark()));
                if !go_on(self.n_rows + self.n_bad()) {
                    return Err(tribo::Error::Stopped { what: "a pass over the file" }.into());
                }
            }
            if !rows.next(&mut cells)? {
                break;
            }
            match self.check(&cells) {
                Ok(()) => self.n_rows += 1,
                Err(bad) => {
                    *match &bad {
                        Bad::NoOutput(_) => &mut self.bad.n_without_output,
                        Bad::Outside(_) => &mut self.bad.n_outside,
                        Bad::Wrong(_) => &mut self.bad.n_wrong,
                    } += 1;
                    let is_refused = !self.leaves_out(&bad);
                    n_refused += usize::from(is_refused);
                    if self.faults.len() < SHOWN && (is_refused || self.bad_rows == BadRows::Skip) {
                        self.faults.push(format!("{}: {}", rows.place(), bad.text()));
                    }
                }
            }
        }
        if n_refused > 0 {
            let mut text = self.faults.clone();
            if n_refused > SHOWN {
                text.push(format!("and {} more", n_refused - SHOWN));
            }
            let advice = match self.bad_rows {
                BadRows::Import { .. } if self.bad.n_outside > 0 => {
                    "; --skip-outside leaves rows out that are outside of the bounds"
                }
                BadRows::Import { .. } => "",
                _ => "; --skip-bad leaves such rows out",
            };
            text.push(format!("{n_refused} of {} cannot be used{advice}", self.all()));
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
        count(self.n_rows + self.n_bad(), "row")
    }

    /// What is wrong with a row, with the column.
    fn check(&self, cells: &[Cell]) -> std::result::Result<(), Bad> {
        let last = cells.len() - 1;
        // Whether there is an output is asked first: a row that failed may have anything.
        let first = self.has_output.then_some(last).filter(|_| self.bad_rows != BadRows::Refuse);
        for k in first.into_iter().chain(0..=last) {
            let column = &self.columns[k];
            let named = |what: &str| format!("column {:?} {what}", column.name);
            let is_output = self.has_output && k == last;
            let nothing = if is_output { Bad::NoOutput } else { Bad::Wrong };
            let found = column.number(&cells[k]).map_err(|bad| match bad {
                Bad::Outside(what) => Bad::Outside(named(&format!("is outside: {what}"))),
                bad => Bad::Wrong(format!("column {:?}: {}", column.name, bad.text())),
            })?;
            match found {
                None => return Err(nothing(named("is empty"))),
                Some(value) if !value.is_finite() => return Err(nothing(named(&format!("is {value}")))),
                Some(value) if value.abs() > LARGEST => {
                    return Err(Bad::Wrong(named(&format!("is {value:?}, beyond 1e70"))));
                }
                Some(value) => match column.expected {
                    Expected::Integers { .. } if value.fract() != 0.0 => {
                        return Err(Bad::Wrong(named(&format!("is {value}, not a whole number"))));
                    }
                    Expected::Floats { low, high } | Expected::Integers { low, high }
                        if !column.takes(value) =>
                    {
                        return Err(Bad::Outside(named(&format!("is {value}, outside of [{low}, {high}]"))));
                    }
                    _ => {}
                },
            }
        }
        Ok(())
    }

    /// Whether such rows are left out, and not an error.
    fn leaves_out(&self, bad: &Bad) -> bool {
        match self.bad_rows {
            BadRows::Refuse => false,
            BadRows::Skip => true,
            BadRows::Import { skip_outside } => match bad {
                Bad::NoOutput(_) => true,
                Bad::Outside(_) => skip_outside,
                Bad::Wrong(_) => false,
            },
        }
    }

    /// Rows that were left out.
    pub fn n_bad(&self) -> usize {
        self.bad.all()
    }

    /// The same by what is wrong with them.
    pub fn left_out(&self) -> LeftOut {
        self.bad
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
        let Some(&(before, mark)) = self.marks.get(at) else { return self.table.rows(&self.places) };
        let mut rows = self.table.rows_from(&self.places, Some(mark))?;
        if self.n_bad() == 0 {
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
            let blocks = self.table.blocks(&self.places, start as u64).map_err(library(&self.table))?;
            if let Some(blocks) = blocks {
                let columns = vec![vec![]; self.columns.len()];
                return Ok(Box::new(BlockPlace { numbers: self, blocks, columns, row: start }));
            }
        }
        let rows = self.rows_from(start).map_err(library(&self.table))?;
        Ok(Box::new(Place { numbers: self, rows, cells: vec![Cell::Null; self.columns.len()], row: start }))
    }

    fn columns(&self, columns: &[usize]) -> Option<Box<dyn Source + '_>> {
        // A row that was left out for one column may be good in the others.
        if !self.table.is_by_columns() || self.n_bad() > 0 {
            return None;
        }
        let inputs = columns.iter().map(|&k| self.columns[k].clone());
        let columns: Vec<Picked> =
            inputs.chain(self.columns.last().filter(|_| self.has_output).cloned()).collect();
        Some(Box::new(Numbers {
            table: self.table.clone(),
            places: columns.iter().map(|column| column.place).collect(),
            columns,
            has_output: self.has_output,
            bad_rows: self.bad_rows,
            in_blocks: self.in_blocks,
            marks: self.marks.clone(),
            n_rows: self.n_rows,
            bad: self.bad,
            faults: vec![],
        }))
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
                Err(bad) if self.numbers.leaves_out(&bad) => {}
                Err(bad) => return Err(Error::Usage(format!("{}: {}", self.rows.place(), bad.text()))),
            }
        }
    }
}

impl Reader for Place<'_> {
    fn read(&mut self, mut x: MatMut<'_, f64>, y: &mut [f64]) -> tribo::Result<()> {
        for i in 0..y.len() {
            self.advance().map_err(library(&self.numbers.table))?;
            for (k, (cell, column)) in self.cells.iter().zip(&self.numbers.columns).enumerate() {
                let value = column.number(cell).ok().flatten().unwrap_or(f64::NAN);
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
        if self.numbers.n_bad() == 0 {
            return self.rows.skip(n as u64).map_err(library(&self.numbers.table));
        }
        (0..n).try_for_each(|_| self.advance().map_err(library(&self.numbers.table)))
    }
}
