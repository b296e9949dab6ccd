//! A source seen otherwise: some of its columns, or other values.

use super::{Feed, Reader, Source};
use crate::error::Result;
use faer::{Mat, MatMut, MatRef};

/// Numbers of all columns that are held at once to read a few of them.
const HELD_NUMBERS: usize = 1 << 20;

/// Some columns of a source.
pub(crate) enum Narrow<'a> {
    /// The source reads them by itself.
    Own(Box<dyn Source + 'a>),
    /// All of them are read.
    OfAll(Picked<'a>),
}

impl<'a> Narrow<'a> {
    /// These columns, in this order.
    pub(crate) fn of(source: &'a dyn Source, columns: &[usize]) -> Narrow<'a> {
        match source.columns(columns) {
            Some(own) => Narrow::Own(own),
            None => Narrow::OfAll(Picked { source, columns: columns.to_vec() }),
        }
    }

    pub(crate) fn get(&self) -> &dyn Source {
        match self {
            Narrow::Own(source) => source.as_ref(),
            Narrow::OfAll(source) => source,
        }
    }
}

/// Columns of a source that reads all of them.
pub(crate) struct Picked<'a> {
    source: &'a dyn Source,
    columns: Vec<usize>,
}

impl Source for Picked<'_> {
    fn len(&self) -> usize {
        self.source.len()
    }

    fn dim(&self) -> usize {
        self.columns.len()
    }

    fn reader(&self, start: usize) -> Result<Box<dyn Reader + '_>> {
        let most = (HELD_NUMBERS / self.source.dim().max(1)).max(1);
        Ok(Box::new(PickedReader {
            reader: self.source.reader(start)?,
            of: self,
            most,
            held: Mat::zeros(0, 0),
        }))
    }
}

struct PickedReader<'a> {
    reader: Box<dyn Reader + 'a>,
    of: &'a Picked<'a>,
    /// Rows read at once.
    most: usize,
    held: Mat<f64>,
}

impl Reader for PickedReader<'_> {
    fn read(&mut self, mut x: MatMut<'_, f64>, y: &mut [f64]) -> Result<()> {
        let rows = self.most.min(y.len());
        if self.held.nrows() < rows {
            self.held = Mat::zeros(rows, self.of.source.dim());
        }
        let n = y.len();
        for start in (0..n).step_by(self.most) {
            let count = self.most.min(n - start);
            let mut held = self.held.as_mut().subrows_mut(0, count);
            self.reader.read(held.as_mut(), &mut y[start..start + count])?;
            for (k, &column) in self.of.columns.iter().enumerate() {
                x.as_mut().col_mut(k).subrows_mut(start, count).copy_from(held.as_ref().col(column));
            }
        }
        Ok(())
    }

    fn skip(&mut self, n: usize) -> Result<()> {
        self.reader.skip(n)
    }
}

/// A source with other values.
pub(crate) struct Revalued<'a> {
    pub(crate) source: &'a dyn Source,
    /// One for each row.
    pub(crate) y: &'a [f64],
}

impl Source for Revalued<'_> {
    fn len(&self) -> usize {
        self.source.len()
    }

    fn dim(&self) -> usize {
        self.source.dim()
    }

    fn reader(&self, start: usize) -> Result<Box<dyn Reader + '_>> {
        Ok(Box::new(RevaluedReader { reader: self.source.reader(start)?, y: self.y, next: start }))
    }
}

struct RevaluedReader<'a> {
    reader: Box<dyn Reader + 'a>,
    y: &'a [f64],
    next: usize,
}

impl Reader for RevaluedReader<'_> {
    fn read(&mut self, x: MatMut<'_, f64>, y: &mut [f64]) -> Result<()> {
        self.reader.read(x, y)?;
        y.copy_from_slice(&self.y[self.next..self.next + y.len()]);
        self.next += y.len();
        Ok(())
    }

    fn skip(&mut self, n: usize) -> Result<()> {
        self.next += n;
        self.reader.skip(n)
    }
}

/// The number of the first row of a block, and the block: X and y.
pub(crate) type Numbered<'a> = (usize, MatRef<'a, f64>, &'a [f64]);

/// All rows of a source, block by block, checked.
pub(crate) struct Blocks<'a> {
    feed: Feed<'a>,
    next: usize,
    n: usize,
    most: usize,
}

impl<'a> Blocks<'a> {
    /// Blocks of at most `most` rows.
    pub(crate) fn new(source: &'a dyn Source, most: usize) -> Result<Blocks<'a>> {
        Ok(Blocks { feed: Feed::new(source, 0, most)?, next: 0, n: source.len(), most })
    }

    /// The next block; None after the last.
    pub(crate) fn advance(&mut self) -> Result<Option<Numbered<'_>>> {
        if self.next == self.n {
            return Ok(None);
        }
        let (start, count) = (self.next, self.most.min(self.n - self.next));
        self.next += count;
        let (x, y) = self.feed.read(count)?;
        Ok(Some((start, x, y)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surrogate::data::Data;
    use crate::surrogate::source::pick;
    use crate::surrogate::watch::Unwatched;

    #[test]
    fn a_view_has_the_rows_of_its_source() {
        let (n, d) = (5_000, 300);
        let x = Mat::from_fn(n, d, |i, k| (i * d + k) as f64);
        let y: Vec<f64> = (0..n).map(|i| -(i as f64)).collect();
        let data = Data::new(x.as_ref(), &y).unwrap();
        let narrow = Narrow::of(&data, &[7, 2, 299]);
        let rows: Vec<usize> = (0..n).step_by(7).collect();
        let (picked, values) = pick(narrow.get(), &rows, &Unwatched).unwrap();
        for (i, &row) in rows.iter().enumerate() {
            let found = [picked[(i, 0)], picked[(i, 1)], picked[(i, 2)]];
            assert_eq!((found, values[i]), ([x[(row, 7)], x[(row, 2)], x[(row, 299)]], y[row]));
        }
        let other: Vec<f64> = (0..n).map(|i| 0.5 * i as f64).collect();
        let revalued = Revalued { source: narrow.get(), y: &other };
        let mut blocks = Blocks::new(&revalued, 777).unwrap();
        let mut seen = 0;
        while let Some((start, block, values)) = blocks.advance().unwrap() {
            assert_eq!(start, seen);
            for (i, value) in values.iter().enumerate() {
                assert_eq!((block[(i, 1)], *value), (x[(start + i, 2)], other[start + i]));
            }
            seen += values.len();
        }
        assert_eq!(seen, n);
    }
}
