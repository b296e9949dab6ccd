//! Edges of columns, for tables with impossible entries: a size of zero, a comma in the wrong place.
//!
//! A process says its mean far from all rows, so one impossible entry makes it forget what the other columns say of the row,
//! and spend inducing points on it. With an edge it reads every entry beyond as the edge, in the fit and in predictions.
//!
//! Strays are entries beyond a hole. With the quantiles q of a column, its width is w = q(0.99) - q(0.01); a hole is a step of more than
//! w/3 between neighbours among the outermost 0.2 % of the entries at an end. The column's edge is the inner side of the
//! innermost hole. A column with strays at one end gets an edge at its other end, too, the last entry there: what lies beyond that
//! in a new row is as likely a mistake.
//!
//! Whether a stray is a mistake that the other columns make good, or a true and telling number, only the values can say. So a small process
//! is fitted to rows without strays and asked for the values of the strays, read as the edge and as they are: there are edges if it errs
//! less with them, by squares, and not by many variances of y. All columns are judged together, since most mistakes are in a
//! row and not in an entry, and one true stray that tells is reason enough to leave them all. Where y depends on a wrong column alone, the
//! process goes on to say that it knows nothing there. Columns without strays are not touched, nor are those of a few different
//! entries (grades, counts), nor any below 500 rows. Normal columns hardly ever have such a hole, exponential ones now and then before
//! their last entry.
//!
//! Cost: one pass, n d comparisons, and where there are strays another one and a fit to a thousand rows; memory the outermost entries of
//! each column and a sample for the quantiles.

use super::data::Data;
use super::hyper::Mean;
use super::inducing::Inducing;
use super::kernel::Shape;
use super::source::{self, Blocks, Reader, Source};
use super::sparse::{Approximation, Objective};
use super::train::{SparseGp, Training};
use super::watch::{Progress, Watch, go_on};
use crate::error::{Error, Result};
use crate::rng::Stream;
use faer::{Mat, MatMut};
use std::collections::BinaryHeap;

/// The part of the rows at each end that may be strays. More of them are a population.
const STRAYS: f64 = 0.002;
/// The quantiles of a column's width are this far from its ends.
const TAIL: f64 = 0.01;
/// A hole, in widths. Diamonds of size 0 lie 0.86 beyond the others. The error of the process on parts held out of the rows that
/// train was 0.4 to 0.7 % less with 0.1 and 0.25 than without edges, 0.2 to 0.5 % with 0.5; a thousand normal entries
/// have a hole of a third at one end in seven tables of a thousand, of a quarter in 24.
const HOLE: f64 = 1.0 / 3.0;
/// Columns with fewer different entries are grades or counts, whose steps are no holes.
const FEWEST_DIFFERENT: usize = 20;
/// Rows of the sample that quantiles are taken from.
const SAMPLE: usize = 50_000;
/// Outermost entries held at each end, at most, and in all columns together.
const AT_END: usize = 1_000;
const IN_ALL: usize = 4_000_000;
/// Rows that strays are judged by, inducing points of their process, and strays that are judged: it takes less than a second.
const JUDGES: usize = 1_000;
const JUDGES_INDUCING: usize = 100;
const JUDGED: usize = 500;
/// Mean squared errors of strays as the edge that are believed, in variances of y. The mean of y alone errs by 1; where y follows one
/// normal column and that is wrong, the edge three deviations out errs by 10; diamonds of size 0 err by 1.5.
const BELIEVED: f64 = 4.0;
/// Rows read at once.
const BLOCK: usize = 4_096;

/// Where columns end: entries beyond are read as the edge.
#[derive(Debug, Clone, PartialEq)]
pub struct Edges {
    /// Lower edges, one for each column; minus infinity where there is none.
    low: Vec<f64>,
    /// Upper edges; infinity where there is none.
    high: Vec<f64>,
}

impl Edges {
    /// Of `d` columns, none.
    pub fn none(d: usize) -> Edges {
        Edges { low: vec![f64::NEG_INFINITY; d], high: vec![f64::INFINITY; d] }
    }

    /// Edges as given: each lower one at most the upper one.
    pub fn new(low: Vec<f64>, high: Vec<f64>) -> Result<Edges> {
        if low.len() != high.len() {
            return Err(Error::Size {
                what: "upper edges of columns",
                expected: low.len(),
                found: high.len(),
            });
        }
        for (index, (&low, &high)) in low.iter().zip(&high).enumerate() {
            if !(low <= high && low < f64::INFINITY && high > f64::NEG_INFINITY) {
                return Err(Error::EmptyBox { what: "the edges of a column", index, low, high });
            }
        }
        Ok(Edges { low, high })
    }

    /// Edges that keep strays out of the columns that have some, if the values are better explained so.
    pub fn without_strays(source: &dyn Source, watch: &dyn Watch) -> Result<Edges> {
        let edges = Edges::before_holes(source, watch)?;
        if edges.is_none() { Ok(edges) } else { edges.judged(source, watch) }
    }

    /// Edges of the columns that have strays.
    fn before_holes(source: &dyn Source, watch: &dyn Watch) -> Result<Edges> {
        let (n, d) = (source.len(), source.dim());
        let mut edges = Edges::none(d);
        let n_outer = ((STRAYS * n as f64) as usize).min(AT_END).min(IN_ALL / (2 * d.max(1)));
        if n_outer == 0 {
            return Ok(edges);
        }
        // One more than may be strays: a hole has two sides.
        let (ends, mut sample) = outermost(source, n_outer + 1, watch)?;
        for (k, [low, high]) in ends.iter().enumerate() {
            let column = &mut sample[k];
            column.sort_by(f64::total_cmp);
            let width = quantile(column, 1.0 - TAIL) - quantile(column, TAIL);
            let n_different = 1 + column.windows(2).filter(|pair| pair[0] < pair[1]).count();
            if width <= 0.0 || n_different < FEWEST_DIFFERENT {
                continue;
            }
            let (lower, upper) = (inside(low, HOLE * width), inside(high, HOLE * width));
            if lower.is_some() || upper.is_some() {
                edges.low[k] = lower.unwrap_or(low[0]);
                edges.high[k] = -upper.unwrap_or(high[0]);
            }
        }
        Ok(edges)
    }

    /// These edges if a process of rows without strays predicts strays better as the edge than as they are, else none.
    fn judged(self, source: &dyn Source, watch: &dyn Watch) -> Result<Edges> {
        let strays = self.rows_beyond(source, watch)?;
        let mut judges = Stream::new(0, "rows beside strays", 0).choose(source.len(), JUDGES + strays.len());
        judges.retain(|row| strays.binary_search(row).is_err());
        let (x, y) = source::pick(source, &judges, watch)?;
        let gp = SparseGp {
            shape: Shape::Matern32,
            ard: true,
            mean: Mean::Estimated,
            approximation: Approximation::Fic,
            objective: Objective::Bound,
            inducing: Inducing::RandomPivots,
            n_inducing: JUDGES_INDUCING,
            training: Training { subsets: vec![], ..Training::default() },
        };
        let y_var = Data::new(x.as_ref(), &y)?.y_scale_var();
        let posterior = match gp.fit(x.as_ref(), &y, &Quiet(watch)) {
            Ok((posterior, _)) => posterior,
            // Nothing can be said of such rows: they stay as they are.
            Err(Error::NotPositiveDefinite { .. }) => return Ok(Edges::none(self.dim())),
            Err(error) => return Err(error),
        };
        let (raw, y) = source::pick(source, &strays[..strays.len().min(JUDGED)], watch)?;
        let mut clipped = raw.clone();
        self.clip(clipped.as_mut());
        let squares = |x: &Mat<f64>| -> Result<Vec<f64>> {
            let mean = posterior.predict_mean(x.as_ref())?;
            Ok(mean.iter().zip(&y).map(|(mean, y)| (y - mean).powi(2)).collect())
        };
        let (as_edge, as_is) = (squares(&clipped)?, squares(&raw)?);
        let mean = |squares: &[f64]| squares.iter().sum::<f64>() / squares.len() as f64;
        let pays = mean(&as_edge) < mean(&as_is).min(BELIEVED * y_var);
        Ok(if pays { self } else { Edges::none(self.dim()) })
    }

    /// Rows with an entry beyond an edge, in order.
    fn rows_beyond(&self, source: &dyn Source, watch: &dyn Watch) -> Result<Vec<usize>> {
        let mut rows = vec![];
        let mut blocks = Blocks::new(source, BLOCK.min(source.len()))?;
        while let Some((start, x, y)) = blocks.advance()? {
            go_on(watch, "a pass over the data")?;
            let is_beyond =
                |i: usize| self.columns().any(|(k, low, high)| !(low..=high).contains(&x[(i, k)]));
            rows.extend((0..y.len()).filter(|&i| is_beyond(i)).map(|i| start + i));
        }
        Ok(rows)
    }

    /// Edges that leave `part` of the entries of every column outside, at each end. Of more rows than a sample has the quantiles
    /// are those of the sample.
    pub fn at_quantiles(source: &dyn Source, part: f64, watch: &dyn Watch) -> Result<Edges> {
        if !(0.0..0.5).contains(&part) {
            return Err(Error::OutOfRange {
                what: "part of the rows that is clipped",
                value: part,
                low: 0.0,
                high: 0.5,
            });
        }
        let mut edges = Edges::none(source.dim());
        if part == 0.0 || source.is_empty() {
            return Ok(edges);
        }
        let (_, mut sample) = outermost(source, 0, watch)?;
        for (k, column) in sample.iter_mut().enumerate() {
            column.sort_by(f64::total_cmp);
            (edges.low[k], edges.high[k]) = (quantile(column, part), quantile(column, 1.0 - part));
        }
        Ok(edges)
    }

    /// Whether no column has one.
    pub fn is_none(&self) -> bool {
        self.columns().next().is_none()
    }

    /// Number of columns.
    pub fn dim(&self) -> usize {
        self.low.len()
    }

    /// Columns that have edges, with their ends.
    pub fn columns(&self) -> impl Iterator<Item = (usize, f64, f64)> + '_ {
        let ends = self.low.iter().zip(&self.high).enumerate();
        ends.map(|(k, (low, high))| (k, *low, *high))
            .filter(|(_, low, high)| low.is_finite() || high.is_finite())
    }

    /// Lower and upper edges, infinite where there is none.
    pub fn ends(&self) -> (&[f64], &[f64]) {
        (&self.low, &self.high)
    }

    /// Moves entries beyond the edges of their columns to these. NaN stays.
    pub fn clip(&self, mut x: MatMut<'_, f64>) {
        for (k, low, high) in self.columns() {
            x.as_mut().col_mut(k).iter_mut().for_each(|value| *value = value.clamp(low, high));
        }
    }

    /// As [`Edges::clip`], of one point.
    pub fn clip_point(&self, point: &mut [f64]) {
        for (k, low, high) in self.columns() {
            point[k] = point[k].clamp(low, high);
        }
    }
}

/// The inner side of the innermost hole among entries in increasing order, the outermost first; None if there is no hole.
fn inside(outer: &[f64], hole: f64) -> Option<f64> {
    (1..outer.len()).rev().find(|&i| outer[i] - outer[i - 1] > hole).map(|i| outer[i])
}

/// The least entry that a part of all, which are in order, does not exceed.
fn quantile(sorted: &[f64], part: f64) -> f64 {
    let rank = (part * sorted.len() as f64).ceil() as usize;
    sorted[rank.clamp(1, sorted.len()) - 1]
}

/// The `count` lowest entries of a column in increasing order, then those of -x.
type Ends = [Vec<f64>; 2];

/// The outermost entries of each column, and a sample of its entries: all, or as many as quantiles need.
fn outermost(source: &dyn Source, count: usize, watch: &dyn Watch) -> Result<(Vec<Ends>, Vec<Vec<f64>>)> {
    let (n, d) = (source.len(), source.dim());
    let mut heaps: Vec<[BinaryHeap<Ordered>; 2]> = (0..d).map(|_| Default::default()).collect();
    let mut sample = vec![Vec::with_capacity(n.min(SAMPLE)); d];
    let rows = Stream::new(0, "edges of columns", 0).choose(n, SAMPLE);
    let mut next = 0;
    let mut blocks = Blocks::new(source, BLOCK.min(n))?;
    while let Some((start, x, y)) = blocks.advance()? {
        go_on(watch, "a pass over the data")?;
        let first = next;
        next += rows[first..].partition_point(|&row| row < start + y.len());
        for (k, (heaps, sample)) in heaps.iter_mut().zip(&mut sample).enumerate() {
            let column = x.col(k);
            sample.extend(rows[first..next].iter().map(|row| column[row - start]));
            if count == 0 {
                continue;
            }
            for (heap, sign) in heaps.iter_mut().zip([1.0, -1.0]) {
                let bound = |heap: &BinaryHeap<Ordered>| match heap.peek() {
                    Some(greatest) if heap.len() == count => greatest.0,
                    _ => f64::INFINITY,
                };
                let mut greatest = bound(heap);
                for value in column.iter().map(|value| sign * value) {
                    if value < greatest {
                        if heap.len() == count {
                            heap.pop();
                        }
                        heap.push(Ordered(value));
                        greatest = bound(heap);
                    }
                }
            }
        }
    }
    let sorted =
        |heap: BinaryHeap<Ordered>| heap.into_sorted_vec().into_iter().map(|value| value.0).collect();
    Ok((heaps.into_iter().map(|ends| ends.map(sorted)).collect(), sample))
}

/// Stops as another watch does, and tells nothing.
struct Quiet<'a>(&'a dyn Watch);

impl Watch for Quiet<'_> {
    fn cancelled(&self) -> bool {
        self.0.cancelled()
    }

    fn progress(&self, _: &Progress) {}
}

/// A finite number.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Ordered(f64);

impl Eq for Ordered {}

impl PartialOrd for Ordered {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ordered {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// A source whose entries end at edges.
pub struct Clipped<'a> {
    source: &'a dyn Source,
    edges: &'a Edges,
}

impl<'a> Clipped<'a> {
    /// The rows of `source`, with as many columns as `edges` are for.
    pub fn new(source: &'a dyn Source, edges: &'a Edges) -> Result<Clipped<'a>> {
        if edges.dim() != source.dim() {
            return Err(Error::Size { what: "edges of columns", expected: source.dim(), found: edges.dim() });
        }
        Ok(Clipped { source, edges })
    }
}

impl Source for Clipped<'_> {
    fn len(&self) -> usize {
        self.source.len()
    }

    fn dim(&self) -> usize {
        self.source.dim()
    }

    fn reader(&self, start: usize) -> Result<Box<dyn Reader + '_>> {
        Ok(Box::new(ClippedReader { reader: self.source.reader(start)?, edges: self.edges }))
    }
}

struct ClippedReader<'a> {
    reader: Box<dyn Reader + 'a>,
    edges: &'a Edges,
}

impl Reader for ClippedReader<'_> {
    fn read(&mut self, mut x: MatMut<'_, f64>, y: &mut [f64]) -> Result<()> {
        self.reader.read(x.as_mut(), y)?;
        self.edges.clip(x);
        Ok(())
    }

    fn skip(&mut self, n: usize) -> Result<()> {
        self.reader.skip(n)
    }
}

#[cfg(test)]
mod tests;
