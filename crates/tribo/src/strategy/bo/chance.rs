//! Where values come back: what failed evaluations say about other points.
//!
//! A solver that diverges does so in regions. A process of its own (`surrogate::probit`), conditioned on which points gave
//! a value, says how probable one is elsewhere, p(x), and the acquisition is taken times
//!   T(x) = p (p/t)¹⁰ where p is below t, p elsewhere        t = min(½, 0.8 max p)
//! Without the threshold t a search wastes most evaluations behind the border, since the improvement promised there
//! grows as fast as p falls; with it, an optimum on the border is bisected. Where nothing is likely to give a value, t
//! gives way.
//!
//! No point is proposed close to one that failed: within 0.3 of the distance from that one to the nearest value, in length
//! scales of the objective. A radius in proportion to the gap lets a border be bisected without end, but never crept along;
//! a fixed one does one or the other wrong. Measured on w h with a stress limit, an optimum on the border, after 40
//! evaluations, medians: 0.1 above the optimum, with a fixed radius 8.8, without the threshold 0.6.
//!
//! The process is averaged over the best of a grid of length scales and amplitudes. The grid is compared on the points
//! nearest to the incumbent; far away points say little about the border there.

use super::model::Model;
use super::results::Results;
use crate::acquisition::Acquisition;
use crate::error::Result;
use crate::rng::Stream;
use crate::surrogate::Posterior;
use crate::surrogate::kernel::{Kernel, Shape, Terms};
use crate::surrogate::probit::{Chances, Probit};
use faer::{Mat, MatRef};

/// Length scales in units of √(d/2), and standard deviations of the latent process.
const LENGTHS: [f64; 4] = [0.05, 0.15, 0.5, 1.5];
const AMPLITUDES: [f64; 3] = [3.0, 10.0, 30.0];
/// Models kept.
const KEPT: usize = 3;
/// Points on which the grid is compared, and points of the models kept, at most; half of them with a value.
const COMPARED: usize = 64;
const MODELLED: usize = 128;
/// The threshold t at most, and as a part of the largest p; the power below it.
const THRESHOLD: (f64, f64) = (0.5, 0.8);
/// The same for a search that is not at the best point known: its improvements are over a poor value, and need not pay for a
/// risk.
const CAUTIOUS: (f64, f64) = (0.9, 0.9);
const STEEPNESS: f64 = 10.0;
/// Radius of exclusion: as a part of the distance to the nearest value, at least, and at most, in length scales.
const RADIUS: (f64, f64, f64) = (0.3, 1e-3, 0.1);
/// Points without a value that exclude others, and points with one that say how far: those closest to the incumbent. All of them,
/// but for very many results, where each proposal would pay for the product of both numbers.
const EXCLUDED: usize = 512;
const BESIDE: usize = 2_048;
/// Random points at which the largest p is looked for, besides the incumbents.
const LOOKS: usize = 128;
/// The smallest p that is told from zero.
const FLOOR: f64 = 1e-8;

/// How probable a value is, and where none is looked for.
pub(super) struct Chance<'a> {
    models: Vec<(f64, Probit)>,
    threshold: f64,
    /// p where a local search may begin, at least.
    start: f64,
    /// Points without a value, and the radius around each.
    excluded: Vec<(&'a [f64], f64)>,
    model: &'a Model,
}

impl<'a> Chance<'a> {
    /// What the points without a value say, as far as it concerns a search in [low, high] around the first of `incumbents`,
    /// which `is_leading` if that is the best point known.
    pub(super) fn new(
        results: &'a Results,
        model: &'a Model,
        incumbents: MatRef<'_, f64>,
        low: &[f64],
        high: &[f64],
        is_leading: bool,
        stream: &mut Stream,
    ) -> Result<Chance<'a>> {
        let centre: Vec<f64> = (0..incumbents.ncols()).map(|k| incumbents[(0, k)]).collect();
        let near = nearest(results, &centre, COMPARED);
        let mut grid = Vec::new();
        for length in LENGTHS {
            for amplitude in AMPLITUDES {
                let length_scales = vec![length * (centre.len() as f64 / 2.0).sqrt()];
                let signal_var = amplitude * amplitude;
                let kernel =
                    Kernel { shape: Shape::Matern52, length_scales, signal_var, terms: Terms::default() };
                let probit = near.condition(&kernel)?;
                grid.push((probit.log_evidence(), kernel, probit));
            }
        }
        grid.sort_by(|a, b| b.0.total_cmp(&a.0));
        grid.truncate(KEPT);
        let best = grid[0].0;
        let weights: Vec<f64> = grid.iter().map(|(evidence, ..)| (evidence - best).exp()).collect();
        let total: f64 = weights.iter().sum();
        let all = (near.has_value.len() < results.points.len() + results.barren.len())
            .then(|| nearest(results, &centre, MODELLED));
        let mut models = Vec::with_capacity(KEPT);
        for ((_, kernel, probit), weight) in grid.into_iter().zip(&weights) {
            let probit = all.as_ref().map_or(Ok(probit), |all| all.condition(&kernel))?;
            models.push((weight / total, probit));
        }
        let (points, barren) = (&results.points, &results.barren);
        let beside = closest(points.iter(), &centre, BESIDE);
        let radius = |failed: &[f64]| {
            let gaps = beside.iter().map(|&i| model.distance(&points[i], failed));
            (RADIUS.0 * gaps.fold(f64::INFINITY, f64::min)).clamp(RADIUS.1, RADIUS.2)
        };
        let failed =
            closest(barren.iter().map(Vec::as_slice), &centre, EXCLUDED).into_iter().map(|i| &barren[i][..]);
        let excluded = failed.map(|failed| (failed, radius(failed))).collect();
        let mut chance = Chance { models, threshold: THRESHOLD.0, start: 0.0, excluded, model };
        let looks =
            Mat::from_fn(LOOKS + incumbents.nrows(), centre.len(), |i, k| match i.checked_sub(LOOKS) {
                Some(i) => incumbents[(i, k)],
                None => low[k] + stream.uniform() * (high[k] - low[k]),
            });
        let highest = chance.values(looks.as_ref()).into_iter().fold(0.0, f64::max);
        let threshold = |(most, part): (f64, f64)| most.min(part * highest).max(FLOOR);
        chance.start = threshold(CAUTIOUS);
        chance.threshold = if is_leading { threshold(THRESHOLD) } else { chance.start };
        Ok(chance)
    }

    /// p at the rows of `x`.
    pub(super) fn values(&self, x: MatRef<'_, f64>) -> Vec<f64> {
        let mut sums = vec![0.0; x.nrows()];
        for (weight, model) in &self.models {
            sums.iter_mut().zip(model.chances(x)).for_each(|(sum, p)| *sum += weight * p);
        }
        sums
    }

    /// Whether a local search may begin at a point that gives a value with probability p.
    pub(super) fn is_start(&self, p: f64, point: &[f64]) -> bool {
        p >= self.start && !self.excludes(point)
    }

    fn excludes(&self, point: &[f64]) -> bool {
        self.excluded.iter().any(|(failed, radius)| self.model.distance(point, failed) < *radius)
    }

    /// log T of p, and its derivative in p.
    fn log_weight(&self, p: f64) -> (f64, f64) {
        let p = p.max(FLOOR);
        let below = (p / self.threshold).ln().min(0.0);
        let power = if below < 0.0 { 1.0 + STEEPNESS } else { 1.0 };
        (p.ln() + STEEPNESS * below, power / p)
    }
}

/// A logarithmic acquisition times T.
pub(super) struct Chanced<'a> {
    pub(super) function: Box<dyn Acquisition + 'a>,
    pub(super) chance: &'a Chance<'a>,
}

impl Chanced<'_> {
    fn is_excluded(&self, x: MatRef<'_, f64>, i: usize) -> bool {
        let point: Vec<f64> = (0..x.ncols()).map(|k| x[(i, k)]).collect();
        self.chance.excludes(&point)
    }
}

impl Acquisition for Chanced<'_> {
    fn evaluate(&self, posterior: &dyn Posterior, x: MatRef<'_, f64>) -> Result<Vec<f64>> {
        let mut values = self.function.evaluate(posterior, x)?;
        let chances = self.chance.values(x);
        for (i, value) in values.iter_mut().enumerate() {
            *value = if self.is_excluded(x, i) {
                f64::NEG_INFINITY
            } else {
                *value + self.chance.log_weight(chances[i]).0
            };
        }
        Ok(values)
    }

    fn evaluate_gradient(
        &self,
        posterior: &dyn Posterior,
        x: MatRef<'_, f64>,
    ) -> Result<(Vec<f64>, Mat<f64>)> {
        let (mut values, mut gradient) = self.function.evaluate_gradient(posterior, x)?;
        let mut p = vec![0.0; x.nrows()];
        let mut slope = Mat::<f64>::zeros(x.nrows(), x.ncols());
        for (weight, model) in &self.chance.models {
            let Chances { values, gradient } = model.chances_gradient(x);
            p.iter_mut().zip(values).for_each(|(sum, p)| *sum += weight * p);
            slope += *weight * gradient;
        }
        for i in 0..x.nrows() {
            if self.is_excluded(x, i) {
                values[i] = f64::NEG_INFINITY;
                (0..x.ncols()).for_each(|k| gradient[(i, k)] = 0.0);
                continue;
            }
            let (log, derivative) = self.chance.log_weight(p[i]);
            values[i] += log;
            (0..x.ncols()).for_each(|k| gradient[(i, k)] += derivative * slope[(i, k)]);
        }
        Ok((values, gradient))
    }
}

/// Points with and without a value.
struct Labelled {
    x: Mat<f64>,
    has_value: Vec<bool>,
}

impl Labelled {
    fn condition(&self, kernel: &Kernel) -> Result<Probit> {
        Probit::new(self.x.as_ref(), &self.has_value, kernel)
    }
}

/// The points of either kind that are nearest to `centre`, `most` at most; a kind that has fewer than half of them leaves
/// its places to the other.
fn nearest(results: &Results, centre: &[f64], most: usize) -> Labelled {
    let mut with = closest(results.points.iter(), centre, most);
    let mut without = closest(results.barren.iter().map(Vec::as_slice), centre, most);
    let half = most / 2;
    let n_with = with.len().min(half.max(most.saturating_sub(without.len())));
    with.truncate(n_with);
    without.truncate(most - n_with);
    let point = |i: usize| match i.checked_sub(with.len()) {
        None => &results.points[with[i]],
        Some(i) => &results.barren[without[i]][..],
    };
    let n = with.len() + without.len();
    let x = Mat::from_fn(n, centre.len(), |i, k| point(i)[k]);
    Labelled { x, has_value: (0..n).map(|i| i < with.len()).collect() }
}

/// The `most` points closest to `centre`, closest first.
fn closest<'a>(points: impl Iterator<Item = &'a [f64]>, centre: &[f64], most: usize) -> Vec<usize> {
    let distance = |point: &[f64]| -> f64 { point.iter().zip(centre).map(|(a, b)| (a - b) * (a - b)).sum() };
    let mut rows: Vec<(f64, usize)> = points.enumerate().map(|(i, point)| (distance(point), i)).collect();
    let order = |a: &(f64, usize), b: &(f64, usize)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
    if rows.len() > most {
        rows.select_nth_unstable_by(most, order);
        rows.truncate(most);
    }
    rows.sort_by(order);
    rows.into_iter().map(|(_, i)| i).collect()
}
