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
//! Cost: n d numbers read, K sums of L + 1 for each; memory one block and 8 K (L + 1) d bytes for each run. The order of
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
/// Sums for each cut: the rows above it, and their scores.
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
/// Sums of a vector register each.
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
        let Some((statistic, freedom)) = totals.statistic(column, &sample.cuts[column], &whiten) else {
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
    /// For each column and cut: rows above it, and their Σ φ.
    above: Vec<f64>,
}

impl Totals {
    fn new(d: usize) -> Totals {
        let products = [[0.0; SCORES]; SCORES];
        Totals { n: 0.0, sum: [0.0; SCORES], products, above: vec![0.0; d * CUTS * SUMS] }
    }

    fn add(&mut self, other: &Totals) {
        self.n += other.n;
        for l in 0..SCORES {
            self.sum[l] += other.sum[l];
            for m in 0..SCORES {
                self.products[l][m] += other.products[l][m];
            }
        }
        self.above.iter_mut().zip(&other.above).for_each(|(sum, more)| *sum += more);
    }

    /// T of a column and its degrees of freedom; None if there is one bin.
    fn statistic(&self, column: usize, cuts: &[f64; CUTS], whiten: &Whitening) -> Option<(f64, usize)> {
        let all = [self.n, self.sum[0], self.sum[1], self.sum[2]];
        let n_cuts = cuts.iter().take_while(|cut| cut.is_finite()).count();
        let above = &self.above[column * CUTS * SUMS..][..n_cuts * SUMS];
        let (mut statistic, mut bins) = (0.0, 0);
        let (mut higher, mut bin) = (all, [0.0; SUMS]);
        let mut last: Option<[f64; SUMS]> = None;
        let mut close = |bin: &[f64; SUMS]| {
            statistic += whiten.square(bin);
            bins += 1;
        };
        for cut in 0..=n_cuts {
            let next: [f64; SUMS] = match cut == n_cuts {
                true => [0.0; SUMS],
                false => std::array::from_fn(|s| above[cut * SUMS + s]),
            };
            for s in 0..SUMS {
                bin[s] += higher[s] - next[s];
            }
            higher = next;
            if bin[0] < SMALLEST_BIN {
                continue;
            }
            if let Some(done) = last.replace(bin) {
                close(&done);
            }
            bin = [0.0; SUMS];
        }
        // What is left over goes with the last one.
        if let Some(mut done) = last {
            (0..SUMS).for_each(|s| done[s] += bin[s]);
            close(&done);
        }
        (bins > 1).then(|| (statistic, whiten.rank() * (bins - 1)))
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
        let mut scores: [Vec<f64>; SCORES] = Default::default();
        for row in (start..end).step_by(most) {
            go_on(watch, "a pass over the data")?;
            let (x, y) = feed.read(most.min(end - row))?;
            scores.iter_mut().for_each(Vec::clear);
            for &y in y {
                let of_row = sample.scores(y);
                for l in 0..SCORES {
                    scores[l].push(of_row[l]);
                    totals.sum[l] += of_row[l];
                    (0..SCORES).for_each(|m| totals.products[l][m] += of_row[l] * of_row[m]);
                }
            }
            totals.n += y.len() as f64;
            let column = |k: usize| x.col(k).try_as_col_major().map_or(&[][..], |column| column.as_slice());
            for (k, sums) in totals.above.chunks_exact_mut(CUTS * SUMS).enumerate() {
                add_above(column(k), &scores, &sample.cuts[k], sums);
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
    /// Adds the rows of a column above each cut, and their scores, in fixed lanes.
    fn add_above(x: &[f64], scores: &[Vec<f64>; SCORES], cuts: &[f64; CUTS], sums: &mut [f64]) {
        let [a, b, c] = scores;
        for (cut, sums) in cuts.iter().zip(sums.chunks_exact_mut(SUMS)) {
            if !cut.is_finite() {
                break;
            }
            let mut lanes = [[0.0; LANES]; SUMS];
            let (wholes, rest) = x.as_chunks::<LANES>();
            let (a_wholes, a_rest) = a.as_chunks::<LANES>();
            let (b_wholes, b_rest) = b.as_chunks::<LANES>();
            let (c_wholes, c_rest) = c.as_chunks::<LANES>();
            for (((x, a), b), c) in wholes.iter().zip(a_wholes).zip(b_wholes).zip(c_wholes) {
                for l in 0..LANES {
                    let above = x[l] > *cut;
                    lanes[0][l] += if above { 1.0 } else { 0.0 };
                    lanes[1][l] += if above { a[l] } else { 0.0 };
                    lanes[2][l] += if above { b[l] } else { 0.0 };
                    lanes[3][l] += if above { c[l] } else { 0.0 };
                }
            }
            for (l, &x) in rest.iter().enumerate() {
                if x > *cut {
                    lanes[0][l] += 1.0;
                    lanes[1][l] += a_rest[l];
                    lanes[2][l] += b_rest[l];
                    lanes[3][l] += c_rest[l];
                }
            }
            for (sum, lanes) in sums.iter_mut().zip(&lanes) {
                *sum += lanes.iter().sum::<f64>();
            }
        }
    }
}

#[cfg(test)]
mod tests;
