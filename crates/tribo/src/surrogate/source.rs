//! Rows that are read again and again and never held: data that do not fit into memory.
//!
//! A [`Source`] gives readers that begin at any row, and a pass over the data opens one for each of its runs of blocks. What
//! lies behind it, files above all, is the caller's; here every block is checked as it comes, in every pass, since a file
//! can change between two.
//!
//! One pass (`survey`) sees the scale of the data, one for each subset picks its rows, and the others are those of
//! training. Cost: n d numbers read a pass; memory a block for each thread.

mod view;

pub(crate) use view::{Blocks, Narrow, Revalued};

use super::data::{Data, LARGEST, Scale, check_number};
use super::extremes::Extremes;
use super::watch::{Watch, go_on};
use crate::error::{Error, Result};
use faer::{Mat, MatMut, MatRef};

/// Rows read at once outside of training.
const BLOCK: usize = 4096;

/// Rows of inputs and one output that can be gone through again and again.
pub trait Source: Sync {
    /// n, the rows.
    fn len(&self) -> usize;
    /// Whether there is no row.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// d, the inputs.
    fn dim(&self) -> usize;
    /// A reader whose next row is `start`, which is less than n.
    fn reader(&self, start: usize) -> Result<Box<dyn Reader + '_>>;
    /// The same rows with these inputs alone, if they can be read for less than all of them.
    fn columns(&self, _columns: &[usize]) -> Option<Box<dyn Source + '_>> {
        None
    }
}

/// A place among the rows of a [`Source`].
pub trait Reader {
    /// Reads the next rows, as many as `x` `[b, d]` and `y` `[b]` have; there are so many.
    fn read(&mut self, x: MatMut<'_, f64>, y: &mut [f64]) -> Result<()>;
    /// Passes over `n` rows; there are so many.
    fn skip(&mut self, n: usize) -> Result<()>;
}

impl Source for Data<'_> {
    fn len(&self) -> usize {
        Data::len(self)
    }

    fn dim(&self) -> usize {
        Data::dim(self)
    }

    fn reader(&self, start: usize) -> Result<Box<dyn Reader + '_>> {
        Ok(Box::new(Held { data: *self, next: start }))
    }
}

/// A place in data that are held.
struct Held<'a> {
    data: Data<'a>,
    next: usize,
}

impl Reader for Held<'_> {
    fn read(&mut self, mut x: MatMut<'_, f64>, y: &mut [f64]) -> Result<()> {
        x.copy_from(self.data.x().subrows(self.next, y.len()));
        y.copy_from_slice(&self.data.y()[self.next..self.next + y.len()]);
        self.skip(y.len())
    }

    fn skip(&mut self, n: usize) -> Result<()> {
        self.next += n;
        Ok(())
    }
}

/// A reader with its buffers, which checks what it reads.
pub(super) struct Feed<'a> {
    reader: Box<dyn Reader + 'a>,
    /// The row that is read next.
    next: usize,
    x: Mat<f64>,
    y: Vec<f64>,
}

impl<'a> Feed<'a> {
    /// Blocks of at most `most` rows, from row `start` on.
    pub(super) fn new(source: &'a dyn Source, start: usize, most: usize) -> Result<Feed<'a>> {
        let (x, y) = (Mat::zeros(most, source.dim()), vec![0.0; most]);
        Ok(Feed { reader: source.reader(start)?, next: start, x, y })
    }

    /// The next `b` rows.
    pub(super) fn read(&mut self, b: usize) -> Result<(MatRef<'_, f64>, &[f64])> {
        self.reader.read(self.x.as_mut().subrows_mut(0, b), &mut self.y[..b])?;
        for k in 0..self.x.ncols() {
            let column = &self.x.col_as_slice(k)[..b];
            // Without a branch for each number: a table may have ten thousand columns.
            if column.iter().fold(true, |all, value| all & (value.abs() <= LARGEST)) {
                continue;
            }
            for (i, &value) in column.iter().enumerate() {
                check_number("X", (self.next + i, k), value)?;
            }
        }
        for (i, &value) in self.y[..b].iter().enumerate() {
            check_number("y", (self.next + i, 0), value)?;
        }
        self.next += b;
        Ok((self.x.as_ref().subrows(0, b), &self.y[..b]))
    }

    /// Goes to `row`, which is not behind.
    fn go_to(&mut self, row: usize) -> Result<()> {
        if row > self.next {
            self.reader.skip(row - self.next)?;
            self.next = row;
        }
        Ok(())
    }
}

/// Goes through all rows and returns their scale and extremes. Means and squares are joined block by block, so that neither a large
/// mean nor many rows cost digits.
pub(super) fn survey(source: &dyn Source, watch: &dyn Watch) -> Result<(Scale, Extremes)> {
    if source.is_empty() || source.dim() == 0 {
        return Err(Error::Empty { what: "X" });
    }
    let (n, d) = (source.len(), source.dim());
    let mut feed = Feed::new(source, 0, BLOCK)?;
    let (mut low, mut high) = (vec![f64::INFINITY; d], vec![f64::NEG_INFINITY; d]);
    let (mut seen, mut mean, mut squares) = (0.0, 0.0, 0.0);
    let mut extremes = Extremes::new(d);
    for start in (0..n).step_by(BLOCK) {
        go_on(watch, "a pass over the data")?;
        let (x, y) = feed.read(BLOCK.min(n - start))?;
        for k in 0..d {
            for i in 0..y.len() {
                low[k] = low[k].min(x[(i, k)]);
                high[k] = high[k].max(x[(i, k)]);
            }
        }
        extremes.see(start, x);
        let b = y.len() as f64;
        let block_mean = y.iter().map(|y| y / b).sum::<f64>();
        let apart = block_mean - mean;
        squares += y.iter().map(|y| (y - block_mean) * (y - block_mean)).sum::<f64>();
        squares += apart * apart * (seen * b / (seen + b));
        mean += apart * (b / (seen + b));
        seen += b;
    }
    let ends: Vec<(f64, f64)> = low.into_iter().zip(high).collect();
    Ok((Scale::new(&ends, mean, squares / n as f64), extremes))
}

/// The rows named, which are in increasing order: X and y.
pub fn pick(source: &dyn Source, rows: &[usize], watch: &dyn Watch) -> Result<(Mat<f64>, Vec<f64>)> {
    let mut feed = Feed::new(source, 0, 1)?;
    let (mut x, mut y) = (Mat::zeros(rows.len(), source.dim()), vec![0.0; rows.len()]);
    for (place, &row) in rows.iter().enumerate() {
        go_on(watch, "a pass over the data")?;
        feed.go_to(row)?;
        let (point, value) = feed.read(1)?;
        x.row_mut(place).copy_from(point.row(0));
        y[place] = value[0];
    }
    Ok((x, y))
}
