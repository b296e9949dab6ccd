//! A source without some of its rows, on which a model is tried.

use faer::MatMut;
use tribo::Result;
use tribo::surrogate::source::{Reader, Source};

/// The rows of a source but for those held out.
pub struct Without<'a> {
    source: &'a dyn Source,
    /// In increasing order, each once.
    held_out: Vec<usize>,
}

impl<'a> Without<'a> {
    /// Without these rows, which are in increasing order.
    pub fn new(source: &'a dyn Source, held_out: Vec<usize>) -> Without<'a> {
        Without { source, held_out }
    }

    /// The row of the source that is row `row` here, and the next one held out.
    fn whole(&self, row: usize) -> (usize, usize) {
        // Before the k-th row held out, h, lie h - k rows that are not: both grow with k.
        let ahead = partition(self.held_out.len(), |k| self.held_out[k] - k <= row);
        (row + ahead, ahead)
    }
}

/// The first k of 0..n for which `before` is false.
fn partition(n: usize, before: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, n);
    while low < high {
        let middle = (low + high) / 2;
        if before(middle) { low = middle + 1 } else { high = middle }
    }
    low
}

impl Source for Without<'_> {
    fn len(&self) -> usize {
        self.source.len() - self.held_out.len()
    }

    fn dim(&self) -> usize {
        self.source.dim()
    }

    fn reader(&self, start: usize) -> Result<Box<dyn Reader + '_>> {
        let (row, next) = self.whole(start);
        Ok(Box::new(Gaps { reader: self.source.reader(row)?, held_out: &self.held_out, row, next }))
    }
}

/// A place that passes over the rows held out.
struct Gaps<'a> {
    reader: Box<dyn Reader + 'a>,
    held_out: &'a [usize],
    /// The row of the source that is read next.
    row: usize,
    /// The next one held out.
    next: usize,
}

impl Gaps<'_> {
    /// Rows up to the next one held out, at most `n`; it is passed over if it is the next row.
    fn run(&mut self, n: usize) -> Result<usize> {
        while self.held_out.get(self.next) == Some(&self.row) {
            self.reader.skip(1)?;
            (self.row, self.next) = (self.row + 1, self.next + 1);
        }
        Ok(self.held_out.get(self.next).map_or(n, |held_out| n.min(held_out - self.row)))
    }
}

impl Reader for Gaps<'_> {
    fn read(&mut self, mut x: MatMut<'_, f64>, y: &mut [f64]) -> Result<()> {
        let mut done = 0;
        while done < y.len() {
            let n = self.run(y.len() - done)?;
            self.reader.read(x.as_mut().subrows_mut(done, n), &mut y[done..done + n])?;
            (self.row, done) = (self.row + n, done + n);
        }
        Ok(())
    }

    fn skip(&mut self, n: usize) -> Result<()> {
        let mut left = n;
        while left > 0 {
            let n = self.run(left)?;
            self.reader.skip(n)?;
            (self.row, left) = (self.row + n, left - n);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::Mat;
    use tribo::surrogate::data::Data;

    #[test]
    fn all_other_rows_come_in_order_from_any_start() {
        let x = Mat::from_fn(20, 1, |i, _| i as f64);
        let y: Vec<f64> = (0..20).map(|i| -(i as f64)).collect();
        let data = Data::new(x.as_ref(), &y).unwrap();
        let without = Without::new(&data, vec![0, 1, 5, 6, 12, 19]);
        let expected: Vec<f64> =
            (0..20).filter(|i| ![0, 1, 5, 6, 12, 19].contains(i)).map(f64::from).collect();
        assert_eq!(without.len(), expected.len());
        for start in 0..expected.len() {
            for skipped in 0..expected.len() - start {
                let mut reader = without.reader(start).unwrap();
                reader.skip(skipped).unwrap();
                let n = expected.len() - start - skipped;
                let (mut x, mut y) = (Mat::zeros(n, 1), vec![0.0; n]);
                reader.read(x.as_mut(), &mut y).unwrap();
                assert_eq!(x.col_as_slice(0), &expected[start + skipped..], "{start} {skipped}");
                assert_eq!(y[0], -expected[start + skipped]);
            }
        }
    }
}
