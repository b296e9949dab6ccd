//! What very many earlier results of very many inputs say, in a few numbers.
//!
//! A million results of ten thousand inputs are 80 GB; a study cannot hold them. A digest keeps what a search can use: which
//! inputs the values depend on, and some of the rows in those inputs alone. It is made by a few passes over a
//! [`Source`], whose columns are the inputs of the space in order, in the user's units (a category by its position):
//!
//! 1. [`columns::screen`] names inputs; the chance that an idle one is among them is at most 1 in 1,000.
//! 2. A sparse process of the named inputs is fitted to a random part of the rows. What the other inputs do is noise to it.
//! 3. Where it explains much, what it leaves of the values is screened once more: an input that does little
//!    shows itself when what the others do is taken away.
//! 4. Rows are kept: those that the *process* puts lowest, and not those that were measured lowest, which among a million are
//!    lucky rather than good; lower ones that lie apart, for other basins; and rows at random, for the shape of the whole.
//!
//! Cost: two passes over all columns, and two over those named; memory a few blocks and 24 bytes a row.

use crate::error::{Error, Result};
use crate::rng::Stream;
use crate::space::{Direction, Space};
use crate::surrogate::columns::{self, Dependence};
use crate::surrogate::hyper::Mean;
use crate::surrogate::inducing::Inducing;
use crate::surrogate::kernel::Shape;
use crate::surrogate::source::{self, Blocks, Narrow, Revalued, Source};
use crate::surrogate::sparse::{Approximation, Objective, SparsePosterior};
use crate::surrogate::train::{SparseGp, Training};
use crate::surrogate::watch::{Watch, go_on};
use faer::Mat;

/// Chance that an input is named though it is idle.
const ERROR: f64 = 0.001;
/// Named inputs at most: with more the function is not one of a few inputs, or columns follow each other, and a search of all
/// of them is no easier than screening.
const MOST_NAMED: usize = 40;
/// Rows that the process is fitted to, at most, and its inducing points.
const FITTED: usize = 20_000;
const INDUCING: usize = 300;
/// Rows without which there is nothing to fit.
const FEWEST: usize = 50;
/// Part of the variance that the named inputs must explain for a second look at the others: below it, less is taken away than
/// a pass is worth.
const EXPLAINED: f64 = 0.5;
/// Rows kept: lowest by the process, lowest of those that lie apart, and any; for each named input and beyond.
const LOWEST: (usize, usize) = (6, 14);
const APART: (usize, usize) = (2, 8);
const ANY: (usize, usize) = (6, 14);
/// Of how many rows those that lie apart are chosen, and how far that is, in the unit cube and for the root of the number of
/// coordinates.
const CANDIDATES: usize = 2_000;
const FAR: f64 = 0.12;
/// Columns that are screened at once, if they can be read by themselves: a file by columns holds a page of each.
const SCREENED: usize = 256;
/// Rows read at once.
const BLOCK: usize = 2_048;

/// What earlier results say.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Digest {
    /// Rows that were read.
    pub n_rows: usize,
    /// Inputs that the values depend on, by number, in increasing order.
    pub inputs: Vec<usize>,
    /// For each the logarithm of the chance that an idle input looks like that.
    pub log_chances: Vec<f64>,
    /// Part of the variance of the values, seen on a scale without far outliers, that the named inputs explain.
    pub explained: f64,
    /// Rows: the coordinates of the named inputs in the unit cube, those that promise most first.
    pub points: Vec<Vec<f64>>,
    /// Their values, in the user's units.
    pub values: Vec<f64>,
    /// So many of the rows are there because they promise much; the others are any.
    pub n_promising: usize,
}

impl Digest {
    /// What the rows of a source say about a function on `space`, whose values are to become what `direction` says.
    pub fn of(
        source: &dyn Source,
        space: &Space,
        direction: Direction,
        seed: u64,
        watch: &dyn Watch,
    ) -> Result<Digest> {
        let (expected, found) = (space.n_inputs(), source.dim());
        if expected != found {
            return Err(Error::Size { what: "columns of earlier results (inputs)", expected, found });
        }
        let mut digest = Digest {
            n_rows: source.len(),
            inputs: vec![],
            log_chances: vec![],
            explained: 0.0,
            points: vec![],
            values: vec![],
            n_promising: 0,
        };
        if source.len() < FEWEST {
            return Ok(digest);
        }
        let named = screen(source, None, watch)?;
        let Some(mut trend) = Trend::fit(source, space, named, direction, seed, watch)? else {
            return Ok(digest);
        };
        if trend.explained >= EXPLAINED {
            let y = trend.residuals(source, watch)?;
            let more = screen(source, Some(&y), watch)?;
            let known = |one: &Dependence| trend.named.iter().any(|named| named.column == one.column);
            let more: Vec<Dependence> = more.into_iter().filter(|one| !known(one)).collect();
            if !more.is_empty() {
                let all = [trend.named.clone(), more].concat();
                if let Some(better) = Trend::fit(source, space, all, direction, seed, watch)? {
                    trend = better;
                }
            }
        }
        trend.keep(source, seed, &mut digest, watch)?;
        Ok(digest)
    }

    /// Takes what an earlier digest says as if this program had made it; checks that its parts fit each other.
    pub(super) fn check(&self, space: &Space) -> Result<()> {
        let size = |what, expected, found| match expected == found {
            true => Ok(()),
            false => Err(Error::Size { what, expected, found }),
        };
        size("values of a digest (points)", self.points.len(), self.values.len())?;
        if let Some(&input) = self.inputs.iter().find(|&&input| input >= space.n_inputs()) {
            size("input of a digest (inputs of the space)", space.n_inputs(), input)?;
        }
        let width: usize = widths(space, &self.inputs).iter().map(|(_, width)| width).sum();
        for (row, point) in self.points.iter().enumerate() {
            size("coordinates of a digest's point (of its inputs)", width, point.len())?;
            for (column, &value) in point.iter().enumerate() {
                if !(0.0..=1.0).contains(&value) {
                    return Err(Error::NotFinite { what: "point of a digest", row, column, value });
                }
            }
        }
        match self.values.iter().position(|value| !value.is_finite()) {
            Some(row) => {
                Err(Error::NotFinite { what: "value of a digest", row, column: 0, value: self.values[row] })
            }
            None => Ok(()),
        }
    }
}

/// The columns that the values depend on, or other values `y` in their place. Those of a source that reads some columns for less
/// than all are gone through part by part; the chance of an error is shared by all.
fn screen(source: &dyn Source, y: Option<&[f64]>, watch: &dyn Watch) -> Result<Vec<Dependence>> {
    let whole = |part: &dyn Source, error: f64| match y {
        Some(y) => columns::screen(&Revalued { source: part, y }, error, watch),
        None => columns::screen(part, error, watch),
    };
    let d = source.dim();
    let mut named = vec![];
    for first in (0..d).step_by(SCREENED) {
        let some: Vec<usize> = (first..d.min(first + SCREENED)).collect();
        let Some(part) = source.columns(&some).filter(|_| some.len() < d) else {
            return Ok(whole(source, ERROR)?.named);
        };
        let found = whole(part.as_ref(), ERROR * some.len() as f64 / d as f64)?.named;
        named.extend(found.into_iter().map(|one| Dependence { column: one.column + first, ..one }));
    }
    Ok(named)
}

/// First coordinate and number of coordinates of each of these inputs.
fn widths(space: &Space, inputs: &[usize]) -> Vec<(usize, usize)> {
    let mut out = vec![];
    let mut wanted = inputs.iter().peekable();
    for (number, input) in space.inputs().enumerate() {
        if wanted.next_if(|&&next| next == number).is_some() {
            out.push((input.coordinates.start, input.coordinates.len()));
        }
    }
    out
}

/// A process of the named inputs.
struct Trend<'a> {
    space: &'a Space,
    /// In increasing order of the column.
    named: Vec<Dependence>,
    inputs: Vec<usize>,
    firsts: Vec<usize>,
    seen: Seen,
    posterior: SparsePosterior,
    explained: f64,
}

/// How values are seen: turned so that smaller is better, and with far ones drawn near, asinh((y - median)/scale).
#[derive(Clone, Copy)]
struct Seen {
    direction: Direction,
    median: f64,
    scale: f64,
}

impl Seen {
    fn of(values: &[f64], direction: Direction) -> Option<Seen> {
        let mut sorted: Vec<f64> = values.iter().map(|&value| direction.to_internal(value)).collect();
        sorted.sort_by(f64::total_cmp);
        let at = |part: f64| sorted[((sorted.len() - 1) as f64 * part) as usize];
        // The quartiles of values most of which are the same are equal.
        let spread = |low: f64, high: f64| Some(at(high) - at(low)).filter(|width| *width > 0.0);
        let scale = spread(0.25, 0.75).or_else(|| spread(0.05, 0.95)).or_else(|| spread(0.0, 1.0))?;
        Some(Seen { direction, median: at(0.5), scale })
    }

    fn value(self, y: f64) -> f64 {
        ((self.direction.to_internal(y) - self.median) / self.scale).asinh()
    }
}

impl<'a> Trend<'a> {
    /// Fits a process to a random part of the rows; None if nothing is named or too much, or it cannot be fitted.
    fn fit(
        source: &dyn Source,
        space: &'a Space,
        mut named: Vec<Dependence>,
        direction: Direction,
        seed: u64,
        watch: &dyn Watch,
    ) -> Result<Option<Trend<'a>>> {
        if named.is_empty() || named.len() > MOST_NAMED {
            return Ok(None);
        }
        named.sort_by_key(|one| one.column);
        let inputs: Vec<usize> = named.iter().map(|one| one.column).collect();
        let firsts: Vec<usize> = widths(space, &inputs).iter().map(|(first, _)| *first).collect();
        let n = source.len();
        let mut rows = Stream::new(seed, "rows of earlier results", 0).choose(n, FITTED.min(n));
        rows.sort_unstable();
        let narrow = Narrow::of(source, &inputs);
        let (x, y) = source::pick(narrow.get(), &rows, watch)?;
        let mut points: Vec<Vec<f64>> = vec![];
        let mut values = vec![];
        for row in 0..y.len() {
            if let Some(point) = encoded(space, &firsts, x.row(row).iter().copied()) {
                points.push(point);
                values.push(y[row]);
            }
        }
        let Some(seen) = Seen::of(&values, direction).filter(|_| values.len() >= FEWEST) else {
            return Ok(None);
        };
        let seen_values: Vec<f64> = values.iter().map(|&value| seen.value(value)).collect();
        let x = matrix(&points);
        let posterior = match process(seed).fit(x.as_ref(), &seen_values, watch) {
            Ok((posterior, _)) => posterior,
            Err(error @ Error::Stopped { .. }) => return Err(error),
            // Numbers that no process can be fitted to name inputs all the same, but say nothing about where to look.
            Err(_) => return Ok(None),
        };
        let means = posterior.predict_mean(x.as_ref())?;
        let variance = |values: &mut dyn Iterator<Item = f64>| {
            let values: Vec<f64> = values.collect();
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / values.len() as f64
        };
        let left = variance(&mut seen_values.iter().zip(&means).map(|(value, mean)| value - mean));
        let whole = variance(&mut seen_values.iter().copied());
        let explained = if whole > 0.0 { (1.0 - left / whole).max(0.0) } else { 0.0 };
        Ok(Some(Trend { space, named, inputs, firsts, seen, posterior, explained }))
    }

    /// Goes through all rows: `see` is given the number of the first of a block, points, values and means; a row that does not fit into the
    /// space has no point and its mean is that of nothing known.
    fn each(
        &self,
        source: &dyn Source,
        watch: &dyn Watch,
        mut see: impl FnMut(usize, &[Option<Vec<f64>>], &[f64], &[f64]),
    ) -> Result<()> {
        let narrow = Narrow::of(source, &self.inputs);
        let source = narrow.get();
        let mut blocks = Blocks::new(source, BLOCK)?;
        while let Some((start, x, y)) = blocks.advance()? {
            go_on(watch, "a pass over the data")?;
            let fitting: Vec<Option<Vec<f64>>> =
                (0..y.len()).map(|i| encoded(self.space, &self.firsts, x.row(i).iter().copied())).collect();
            let middle = vec![0.5; self.posterior.inducing().ncols()];
            let points =
                Mat::from_fn(y.len(), middle.len(), |i, k| fitting[i].as_ref().unwrap_or(&middle)[k]);
            let means = self.posterior.predict_mean(points.as_ref())?;
            see(start, &fitting, y, &means);
        }
        Ok(())
    }

    /// What it leaves of the values.
    fn residuals(&self, source: &dyn Source, watch: &dyn Watch) -> Result<Vec<f64>> {
        let mut left = Vec::with_capacity(source.len());
        self.each(source, watch, |_, _, values, means| {
            left.extend(values.iter().zip(means).map(|(&value, mean)| self.seen.value(value) - mean));
        })?;
        Ok(left)
    }

    /// Chooses the rows to keep.
    fn keep(&self, source: &dyn Source, seed: u64, digest: &mut Digest, watch: &dyn Watch) -> Result<()> {
        let k = self.inputs.len();
        let count = |(each, beyond): (usize, usize)| beyond + each * k;
        let any =
            Stream::new(seed, "any earlier results", 0).choose(source.len(), count(ANY).min(source.len()));
        let mut lowest: Vec<Kept> = vec![];
        let mut others: Vec<Kept> = vec![];
        let mut best: Option<Kept> = None;
        let mut bar = f64::INFINITY;
        self.each(source, watch, |start, points, values, means| {
            for (i, point) in points.iter().enumerate() {
                let Some(point) = point else { continue };
                let (row, mean) = (start + i, means[i]);
                if any.contains(&row) {
                    others.push(Kept { row, mean, value: values[i], point: point.clone() });
                }
                let own = |value: f64| self.seen.direction.to_internal(value);
                if best.as_ref().is_none_or(|best| own(values[i]) < own(best.value)) {
                    best = Some(Kept { row, mean, value: values[i], point: point.clone() });
                }
                if mean < bar {
                    lowest.push(Kept { row, mean, value: values[i], point: point.clone() });
                    if lowest.len() >= 2 * CANDIDATES {
                        cut(&mut lowest);
                        bar = lowest.last().map_or(bar, |last| last.mean);
                    }
                }
            }
        })?;
        cut(&mut lowest);
        let far = FAR * (lowest.first().map_or(1, |first| first.point.len()) as f64).sqrt();
        let mut chosen: Vec<usize> = vec![];
        // Lower ones that lie apart come first: they are where a search begins.
        for (number, one) in lowest.iter().enumerate() {
            if chosen.len() < count(APART)
                && chosen.iter().all(|&other| distance(&one.point, &lowest[other].point) >= far)
            {
                chosen.push(number);
            }
        }
        for (number, one) in lowest.iter().enumerate().take(count(LOWEST)) {
            // The same point twice tells nothing new.
            if !chosen.contains(&number) && chosen.iter().all(|&other| one.point != lowest[other].point) {
                chosen.push(number);
            }
        }
        // The lowest value comes second, if not first: luck, or what the process has smoothed away, which asking it again tells.
        let mut promising: Vec<&Kept> = chosen.iter().map(|&number| &lowest[number]).collect();
        if let Some(best) = &best
            && promising.iter().take(2).all(|one| one.point != best.point)
        {
            promising.retain(|one| one.point != best.point);
            promising.insert(promising.len().min(1), best);
        }
        digest.n_promising = promising.len();
        let rows: Vec<usize> = promising.iter().map(|one| one.row).collect();
        let is_new = |other: &&Kept| !rows.contains(&other.row);
        for Kept { value, point, .. } in promising.into_iter().chain(others.iter().filter(is_new)) {
            digest.points.push(point.clone());
            digest.values.push(*value);
        }
        digest.inputs.clone_from(&self.inputs);
        digest.log_chances = self.named.iter().map(|one| one.log_chance).collect();
        digest.explained = self.explained;
        Ok(())
    }
}

/// A row that may be kept.
struct Kept {
    row: usize,
    mean: f64,
    value: f64,
    point: Vec<f64>,
}

/// Keeps the lowest, in order.
fn cut(lowest: &mut Vec<Kept>) {
    lowest.sort_by(|a, b| a.mean.total_cmp(&b.mean).then(a.row.cmp(&b.row)));
    lowest.truncate(CANDIDATES);
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
}

/// The point of a row in the unit cube; None if it does not fit into the space.
fn encoded(space: &Space, firsts: &[usize], row: impl Iterator<Item = f64>) -> Option<Vec<f64>> {
    let mut point = Vec::with_capacity(firsts.len());
    for (&first, value) in firsts.iter().zip(row) {
        space.encode_input(first, value, &mut point).ok()?;
    }
    Some(point)
}

fn matrix(points: &[Vec<f64>]) -> Mat<f64> {
    Mat::from_fn(points.len(), points.first().map_or(0, Vec::len), |i, k| points[i][k])
}

/// The process to be fitted.
fn process(seed: u64) -> SparseGp {
    let training = Training { subsets: vec![2_000], full_evaluations: 1, seed, ..Training::default() };
    SparseGp {
        shape: Shape::Matern52,
        ard: true,
        mean: Mean::Estimated,
        approximation: Approximation::Fic,
        objective: Objective::Bound,
        inducing: Inducing::Greedy,
        n_inducing: INDUCING,
        training,
    }
}
