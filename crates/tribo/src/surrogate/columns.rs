//! Which columns of very many rows the values depend on.
//!
//! One pass over a [`Source`] of n rows and d columns. For a column, its values are cut into K bins (eighths of a sample; a value
//! that many rows share has a bin of its own), and the rank u of the row's value among a sample of values is seen through
//! the first L = 3 orthonormal Legendre polynomials φ on [0, 1]. With n_k rows in bin k, whose mean scores are m_k, and with the
//! mean m and covariance S of the scores of all rows,
//!
//! ```text
//! T = Σ_k n_k (m_k - m)ᵀ S⁻¹ (m_k - m)  ~  χ² with L (K - 1) degrees of freedom
//! ```
//!
//! where value and column are independent: Pillai's trace `[@pillai1955]`, n tr(B (B + W)⁻¹) of the scatter between and within bins.
//! The first polynomial sees that the level of the values depends on the column, in whatever shape; the others that their spread
//! and skewness do, which is how an input shows itself that acts only together with others. Ranks make the scores bounded, so
//! that neither an outlier nor a bin of a few rows makes a large T by itself, and T does not change with a
//! monotone map of the values or of a column.
//!
//! A column is named if P(χ² > T) is below the error probability divided by d: however many idle columns there are, the
//! chance that one is named is at most that. Columns that follow each other in the rows are named together; that a
//! column *causes* anything is not said here.
//!
//! Cost: n d numbers read, K comparisons and L + 1 sums for each; memory one block and 8 K (L + 1) d bytes for each run. The order of
//! all sums is fixed by n and d.

use super::source::{Feed, Source};
use super::watch::{Watch, go_on};
use crate::error::{Error, Result};
use crate::linalg::dispatch::vectorised;
use crate::normal::log_chi_square_tail;
use rayon::prelude::*;

/// Bins of a column.
const BINS: usize = 8;
/// Cuts between them at most.
const CUTS: usize = 8;
/// Scores of a row.
const SCORES: usize = 3;
/// Sums for each bin: its rows, and their scores.
const SUMS: usize = 1 + SCORES;
/// Rows of the sample that bins and ranks are taken from, and rows that follow each other in it. Eighths of a thousand rows
/// are eighths of all within a tenth of their size, and the law of T does not ask for more.
const SAMPLE: usize = 1_024;
const TOGETHER: usize = 64;
/// Runs of rows that are gone through side by side.
const RUNS: usize = 16;
/// Numbers in a block, and rows at least: 4 MB stay in a cache.
const BLOCK_NUMBERS: usize = 1 << 19;
const FEWEST_ROWS: usize = 64;
/// Rows of a bin at least; smaller ones are joined with the next.
const SMALLEST_BIN: f64 = 10.0;
/// Part of its variance that the scores before it must leave of a score, else it is left out: ties.
const DEGENERATE: f64 = 1e-9;
/// Rows whose places are found together.
const LANES: usize = 8;

/// What the rows say about their columns.
#[derive(Debug, Clone, PartialEq)]
pub struct Screened {
    /// Rows that were read.
    pub n_rows: usize,
    /// Columns that were read.
    pub n_columns: usize,
    /// Columns that take more than one value, as far as could be seen.
    pub n_varied: usize,
    /// Columns that the values depend on, the most certain first.
    pub named: Vec<Dependence>,
}

/// A column that the values depend on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dependence {
    /// Which.
    pub column: usize,
    /// T.
    pub statistic: f64,
    /// Degrees of freedom of its law, were the column idle.
    pub freedom: usize,
    /// The logarithm of the chance that an idle column has such a T.
    pub log_chance: f64,
}

/// Names the columns that the values depend on; the chance that an idle one is among them is at most `error`.
pub fn screen(source: &dyn Source, error: f64, watch: &dyn Watch) -> Result<Screened> {
    let (n, d) = (source.len(), source.dim());
    if !(error > 0.0 && error < 1.0) {
        return Err(Error::OutOfRange { what: "error probability", value: error, low: 0.0, high: 1.0 });
    }
    let nothing = Screened { n_rows: n, n_columns: d, n_varied: 0, named: vec![] };
    if n == 0 || d == 0 {
        return Ok(nothing);
    }
    let sample = Sample::read(source, watch)?;
    let totals = pass(source, &sample, watch)?;
    let whiten = Whitening::of(&totals);
    if whiten.rank() == 0 {
        // All values are the same.
        return Ok(nothing);
    }
    let mut screened = nothing;
    let limit = error.ln() - (d as f64).ln();
    for column in 0..d {
        let Some((statistic, freedom)) = totals.statistic(column, &whiten) else {
            continue;
        };
        screened.n_varied += 1;
        let log_chance = log_chi_square_tail(freedom, statistic);
        if log_chance < limit {
            screened.named.push(Dependence { column, statistic, freedom, log_chance });
        }
    }
    screened.named.sort_by(|a, b| a.log_chance.total_cmp(&b.log_chance).then(a.column.cmp(&b.column)));
    Ok(screened)
}

/// Where bins end, and the values in order.
struct Sample {
    /// For each column in increasing order; infinite beyond the last one.
    cuts: Vec<[f64; CUTS]>,
    sorted: Vec<f64>,
}

impl Sample {
    fn read(source: &dyn Source, watch: &dyn Watch) -> Result<Sample> {
        let (n, d) = (source.len(), source.dim());
        let starts = spread_starts(n);
        let mut columns = vec![Vec::with_capacity(SAMPLE.min(n)); d];
        let mut sorted = Vec::with_capacity(SAMPLE.min(n));
        for (start, count) in starts {
            go_on(watch, "a pass over the data")?;
            let mut feed = Feed::new(source, start, count)?;
            let (x, y) = feed.read(count)?;
            for (k, column) in columns.iter_mut().enumerate() {
                column.extend((0..count).map(|i| x[(i, k)]));
            }
            sorted.extend_from_slice(y);
        }
        sorted.sort_by(f64::total_cmp);
        let cuts = columns.into_par_iter().map(cuts_of).collect();
        Ok(Sample { cuts, sorted })
    }

    /// The scores of a value: Legendre polynomials of its rank, the middle one of equals.
    fn scores(&self, y: f64) -> [f64; SCORES] {
        let below = self.sorted.partition_point(|value| *value < y);
        let up_to = self.sorted.partition_point(|value| *value <= y);
        legendre((below + up_to) as f64 / (2 * self.sorted.len()) as f64)
    }
}

/// The first polynomials on [0, 1] that are orthonormal and orthogonal to 1.
fn legendre(u: f64) -> [f64; SCORES] {
    let t = 2.0 * u - 1.0;
    let (p2, p3) = (0.5 * (3.0 * t * t - 1.0), 0.5 * t * (5.0 * t * t - 3.0));
    [3_f64.sqrt() * t, 5_f64.sqrt() * p2, 7_f64.sqrt() * p3]
}

/// Stretches of rows that make the sample, evenly spread: what was measured together is often alike.
fn spread_starts(n: usize) -> Vec<(usize, usize)> {
    if n <= SAMPLE {
        return vec![(0, n)];
    }
    let stretches = SAMPLE / TOGETHER;
    (0..stretches).map(|s| ((n - TOGETHER) * s / (stretches - 1), TOGETHER)).collect()
}

/// Cuts of a column: a bin closes when it has its part of the sample; a value with such a part has its own bin.
fn cuts_of(mut values: Vec<f64>) -> [f64; CUTS] {
    values.sort_by(f64::total_cmp);
    let part = values.len().div_ceil(BINS);
    let largest = values.last().copied().unwrap_or(0.0);
    let (mut cuts, mut open, mut at) = (vec![], 0, 0);
    while at < values.len() {
        let value = values[at];
        let count = values[at..].iter().take_while(|other| **other == value).count();
        if count >= part {
            if open > 0 || cuts.is_empty() {
                cuts.push(value.next_down());
            }
            cuts.push(value);
            open = 0;
        } else {
            open += count;
            if open >= part && value < largest {
                cuts.push(value);
                open = 0;
            }
        }
        at += count;
    }
    while cuts.len() > CUTS {
        let mut number = 0;
        cuts.retain(|_| {
            number += 1;
            number % 2 == 1
        });
    }
    let mut out = [f64::INFINITY; CUTS];
    out[..cuts.len()].copy_from_slice(&cuts);
    out
}

/// What a pass adds up.
struct Totals {
    n: f64,
    /// Σ φ and Σ φ φᵀ.
    sum: [f64; SCORES],
    products: [[f64; SCORES]; SCORES],
    /// For each column and bin: its rows, and their Σ φ.
    bins: Vec<[f64; SUMS]>,
}

impl Totals {
    fn new(d: usize) -> Totals {
        let products = [[0.0; SCORES]; SCORES];
        Totals { n: 0.0, sum: [0.0; SCORES], products, bins: vec![[0.0; SUMS]; d * (CUTS + 1)] }
    }

    fn add(&mut self, other: &Totals) {
        self.n += other.n;
        for l in 0..SCORES {
            self.sum[l] += other.sum[l];
            for m in 0..SCORES {
                self.products[l][m] += other.products[l][m];
            }
        }
        for (bin, more) in self.bins.iter_mut().zip(&other.bins) {
            (0..SUMS).for_each(|s| bin[s] += more[s]);
        }
    }

    /// T of a column and its degrees of freedom; None if there is one bin.
    fn statistic(&self, column: usize, whiten: &Whitening) -> Option<(f64, usize)> {
        let mut joined: Vec<[f64; SUMS]> = vec![];
        let mut open = [0.0; SUMS];
        for bin in &self.bins[column * (CUTS + 1)..][..CUTS + 1] {
            (0..SUMS).for_each(|s| open[s] += bin[s]);
            if open[0] >= SMALLEST_BIN {
                joined.push(open);
                open = [0.0; SUMS];
            }
        }
        // What is left over goes with the last one.
        (0..SUMS).for_each(|s| joined.iter_mut().last().into_iter().for_each(|last| last[s] += open[s]));
        let statistic = joined.iter().map(|bin| whiten.square(bin)).sum();
        (joined.len() > 1).then(|| (statistic, whiten.rank() * (joined.len() - 1)))
    }
}

/// The mean of the scores, and the factor that makes them uncorrelated: L⁻¹ of S = L Lᵀ, without scores that those before
/// them explain.
struct Whitening {
    mean: [f64; SCORES],
    /// Rows of L⁻¹.
    rows: Vec<[f64; SCORES]>,
}

impl Whitening {
    fn of(totals: &Totals) -> Whitening {
        let n = totals.n;
        let mean = totals.sum.map(|sum| sum / n);
        let covariance = |l: usize, m: usize| totals.products[l][m] / n - mean[l] * mean[m];
        // Gram and Schmidt in the inner product S.
        let product = |a: &[f64; SCORES], b: &[f64; SCORES]| -> f64 {
            (0..SCORES).map(|l| (0..SCORES).map(|m| a[l] * covariance(l, m) * b[m]).sum::<f64>()).sum()
        };
        let mut rows: Vec<[f64; SCORES]> = vec![];
        for score in 0..SCORES {
            let mut row = [0.0; SCORES];
            row[score] = 1.0;
            for before in &rows {
                let along = product(&row, before);
                (0..SCORES).for_each(|l| row[l] -= along * before[l]);
            }
            let left = product(&row, &row);
            if left > DEGENERATE {
                rows.push(row.map(|entry| entry / left.sqrt()));
            }
        }
        Whitening { mean, rows }
    }

    fn rank(&self) -> usize {
        self.rows.len()
    }

    /// n_k (m_k - m)ᵀ S⁻¹ (m_k - m) of a bin with so many rows and such sums.
    fn square(&self, bin: &[f64; SUMS]) -> f64 {
        let n = bin[0];
        let apart: [f64; SCORES] = std::array::from_fn(|l| bin[1 + l] / n - self.mean[l]);
        let along = |row: &[f64; SCORES]| (0..SCORES).map(|l| row[l] * apart[l]).sum::<f64>();
        self.rows.iter().map(|row| n * along(row) * along(row)).sum()
    }
}

/// All sums, over runs of rows side by side.
fn pass(source: &dyn Source, sample: &Sample, watch: &dyn Watch) -> Result<Totals> {
    let (n, d) = (source.len(), source.dim());
    let most = (BLOCK_NUMBERS / d).clamp(FEWEST_ROWS, 4_096);
    let ends: Vec<(usize, usize)> = (0..RUNS).map(|run| (n * run / RUNS, n * (run + 1) / RUNS)).collect();
    let of_run = |&(start, end): &(usize, usize)| -> Result<Totals> {
        let mut totals = Totals::new(d);
        if start == end {
            return Ok(totals);
        }
        let mut feed = Feed::new(source, start, most.min(end - start))?;
        let mut rows: Vec<[f64; SUMS]> = vec![];
        for row in (start..end).step_by(most) {
            go_on(watch, "a pass over the data")?;
            let (x, y) = feed.read(most.min(end - row))?;
            rows.clear();
            for &y in y {
                let scores = sample.scores(y);
                rows.push([1.0, scores[0], scores[1], scores[2]]);
                for l in 0..SCORES {
                    totals.sum[l] += scores[l];
                    (0..SCORES).for_each(|m| totals.products[l][m] += scores[l] * scores[m]);
                }
            }
            totals.n += y.len() as f64;
            // A block is a matrix of its own, so its columns are slices.
            let column = |k: usize| x.col(k).try_as_col_major().map_or(&[][..], |column| column.as_slice());
            for (k, bins) in totals.bins.chunks_exact_mut(CUTS + 1).enumerate() {
                add_to_bins(column(k), &rows, &sample.cuts[k], bins);
            }
        }
        Ok(totals)
    };
    let runs: Vec<Totals> = ends.par_iter().map(of_run).collect::<Result<_>>()?;
    let mut totals = Totals::new(d);
    runs.iter().for_each(|run| totals.add(run));
    Ok(totals)
}

vectorised! {
    /// Adds the rows of a column to their bins: one more row, and its scores.
    fn add_to_bins(x: &[f64], rows: &[[f64; SUMS]], cuts: &[f64; CUTS], bins: &mut [[f64; SUMS]]) {
        // A power of two, so that a place needs no check.
        let mut sums = [[0.0; SUMS]; (2 * CUTS).next_power_of_two()];
        let mask = sums.len() - 1;
        let mut add = |place: usize, row: &[f64; SUMS]| {
            let sum = &mut sums[place & mask];
            (0..SUMS).for_each(|s| sum[s] += row[s]);
        };
        let (wholes, rest) = x.as_chunks::<LANES>();
        let (row_wholes, row_rest) = rows.as_chunks::<LANES>();
        for (x, rows) in wholes.iter().zip(row_wholes) {
            let mut places = [0_u64; LANES];
            for cut in cuts {
                for l in 0..LANES {
                    places[l] += u64::from(x[l] > *cut);
                }
            }
            for l in 0..LANES {
                add(places[l] as usize, &rows[l]);
            }
        }
        for (x, row) in rest.iter().zip(row_rest) {
            add(cuts.iter().filter(|cut| x > cut).count(), row);
        }
        for (bin, sum) in bins.iter_mut().zip(&sums) {
            (0..SUMS).for_each(|s| bin[s] += sum[s]);
        }
    }
}

#[cfg(test)]
mod tests;
