//! What came of the trials: points in the order told, the objective and the limited outputs where they were measured.

use super::output::{NOISE_MUST_EXPLAIN, Rows};
use crate::limit::Limit;

/// Results in the unit cube.
#[derive(Default, Clone)]
pub(super) struct Results {
    pub(super) points: Vec<Vec<f64>>,
    /// Smaller is better.
    pub(super) objective: Vec<Option<f64>>,
    /// One list for each result, in the order of the limits.
    pub(super) limited: Vec<Box<[Option<f64>]>>,
    /// The best feasible result.
    pub(super) best: Option<usize>,
    /// Results that were the best feasible one when they came, the last of them the best of all.
    bests: Vec<usize>,
    /// The result that is least beyond its limits, as long as none is feasible.
    least: Option<usize>,
    /// The same after fewer results: each time it became another one, the number of results and which.
    leasts: Vec<(usize, usize)>,
}

/// Results that say how far from its limit an output usually is: the last ones, so that each of a hundred thousand told again
/// does not look at all.
const WINDOW: usize = 400;

impl Results {
    /// Takes a result in; true if it is the best feasible one now.
    pub(super) fn enter(
        &mut self,
        limits: &[Limit],
        u: Vec<f64>,
        objective: Option<f64>,
        limited: &[Option<f64>],
    ) -> bool {
        let row = self.points.len();
        self.points.push(u);
        self.objective.push(objective);
        self.limited.push(limited.into());
        let is_met = |(limit, value): (&Limit, &Option<f64>)| value.is_some_and(|value| limit.is_met(value));
        let best = self.best.and_then(|row| self.objective[row]);
        let is_best = limits.iter().zip(limited).all(is_met)
            && objective.is_some_and(|value| best.is_none_or(|best| value < best));
        if is_best {
            self.best = Some(row);
            self.bests.push(row);
        }
        if self.best.is_none() {
            let before = self.least;
            self.least = self.least_of_all(limits);
            self.leasts.extend(self.least.filter(|_| self.least != before).map(|least| (row + 1, least)));
        }
        is_best
    }

    /// So many of the first n results: half of them the nearest to the best, the others evenly from the rest, in the order told.
    pub(super) fn part(&self, limits: &[Limit], n: usize, count: usize) -> Results {
        let best = self.bests.iter().rfind(|row| **row < n).copied();
        let least = || self.leasts.iter().rfind(|(of, _)| *of <= n).map(|&(_, row)| row);
        let centre = best.or_else(least).unwrap_or(0);
        let far = |row: usize| {
            let pairs = self.points[row].iter().zip(&self.points[centre]);
            pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
        };
        let mut order: Vec<(f64, usize)> = (0..n).map(|row| (far(row), row)).collect();
        order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let near = (count / 2).min(order.len());
        let mut rows: Vec<usize> = order[..near].iter().map(|&(_, row)| row).collect();
        let mut others: Vec<usize> = order[near..].iter().map(|&(_, row)| row).collect();
        others.sort_unstable();
        let wanted = count.saturating_sub(near).min(others.len());
        rows.extend((0..wanted).map(|i| others[i * others.len() / wanted]));
        rows.sort_unstable();
        let mut part = Results::default();
        for row in rows {
            part.enter(limits, self.points[row].clone(), self.objective[row], &self.limited[row]);
        }
        part
    }

    /// The objective's rows among the first `n` results.
    pub(super) fn of_objective(&self, n: usize) -> Rows<'_> {
        let known = (0..n).filter_map(|row| Some((self.points[row].as_slice(), self.objective[row]?)));
        let (points, values): (Vec<&[f64]>, Vec<f64>) = known.unzip();
        let best = self.bests.iter().rfind(|row| **row < n).and_then(|&row| self.objective[row]);
        let centre = best.unwrap_or_else(|| median(&values));
        Rows { points, values, centre, noise_must_explain: NOISE_MUST_EXPLAIN.0, may_be_squared: true }
    }

    /// The rows of a limited output among the first `n` results.
    pub(super) fn of_limit(&self, n: usize, number: usize, limit: &Limit) -> Rows<'_> {
        let known = (0..n).filter_map(|row| Some((self.points[row].as_slice(), self.limited[row][number]?)));
        let (points, values): (Vec<&[f64]>, Vec<f64>) = known.unzip();
        let centre = match (limit.low(), limit.high()) {
            (Some(low), Some(high)) => 0.5 * (low + high),
            (low, high) => low.or(high).unwrap_or(0.0),
        };
        let may_be_squared = [limit.low(), limit.high()].into_iter().flatten().all(|bound| bound > 0.0);
        Rows { points, values, centre, noise_must_explain: NOISE_MUST_EXPLAIN.1, may_be_squared }
    }

    /// The best result, or as long as none is feasible the one that is least beyond its limits.
    pub(super) fn centre(&self) -> Option<usize> {
        self.best.or(self.least)
    }

    /// The result that is least beyond its limits; the first told of equals. None if no result has all limited outputs. Beyond
    /// the window only the last result and the least before it are compared.
    fn least_of_all(&self, limits: &[Limit]) -> Option<usize> {
        let (n, spreads) = (self.points.len(), self.spreads(limits));
        let rows: Vec<usize> = match n > WINDOW {
            true => self.least.into_iter().chain([n - 1]).collect(),
            false => (0..n).collect(),
        };
        let known = rows.into_iter().filter_map(|row| Some((row, self.violation(limits, &spreads, row)?)));
        let least = known.fold(None, |least: Option<(usize, f64)>, other| match least {
            Some(least) if least.1 <= other.1 => Some(least),
            _ => Some(other),
        });
        least.map(|(row, _)| row)
    }

    /// How far from its limit each limited output usually is.
    fn spreads(&self, limits: &[Limit]) -> Vec<f64> {
        let spread = |(j, limit): (usize, &Limit)| {
            let far: Vec<f64> = self
                .limited
                .iter()
                .rev()
                .take(WINDOW)
                .filter_map(|row| Some(limit.excess(row[j]?).abs()))
                .collect();
            median(&far).max(limit.tolerance()).max(f64::MIN_POSITIVE)
        };
        limits.iter().enumerate().map(spread).collect()
    }

    /// How far a result is beyond its limits, each measured by its spread; None if an output is missing.
    fn violation(&self, limits: &[Limit], spreads: &[f64], row: usize) -> Option<f64> {
        (0..limits.len()).try_fold(0.0, |sum, j| {
            let excess = limits[j].excess(self.limited[row][j]?);
            Some(sum + (excess / spreads[j]).clamp(0.0, 1e6))
        })
    }

    /// Whether a result that is beyond a limit gains more than it is beyond.
    pub(super) fn is_better_than_beyond(&self, limits: &[Limit], row: usize, best: usize) -> bool {
        let (Some(value), Some(lowest)) = (self.objective[row], self.objective[best]) else { return false };
        // No result is less than nothing beyond its limits.
        if value >= lowest {
            return false;
        }
        let last = self.objective.iter().rev().take(WINDOW).flatten();
        let far: Vec<f64> = last.map(|value| (value - lowest).abs()).collect();
        let spread = median(&far).max(f64::MIN_POSITIVE);
        let violation = self.violation(limits, &self.spreads(limits), row);
        violation.is_some_and(|violation| violation < (lowest - value) / spread)
    }

    /// The lowest feasible result that is not farther than that from a point.
    pub(super) fn lowest_near(&self, limits: &[Limit], u: &[f64], reach: f64) -> Option<usize> {
        let is_met = |(limit, value): (&Limit, &Option<f64>)| value.is_some_and(|value| limit.is_met(value));
        let is_near = |row: &usize| self.far(*row, u) < reach;
        let is_feasible = |row: &usize| limits.iter().zip(&self.limited[*row]).all(is_met);
        let near = (0..self.points.len()).filter(is_near).filter(is_feasible);
        let valued = near.filter_map(|row| Some((self.objective[row]?, row)));
        valued.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, row)| row)
    }

    /// How far a result is from a point, by the coordinate that differs most.
    pub(super) fn far(&self, row: usize, u: &[f64]) -> f64 {
        self.points[row].iter().zip(u).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
    }

    /// How far two results are apart, by the coordinate that differs most.
    pub(super) fn apart(&self, a: usize, b: usize) -> f64 {
        self.far(a, &self.points[b])
    }

    /// How far the nearest measured point is, by the coordinate that differs most.
    pub(super) fn nearest(&self, u: &[f64]) -> f64 {
        (0..self.points.len()).map(|row| self.far(row, u)).fold(f64::INFINITY, f64::min)
    }
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(0.0)
}
