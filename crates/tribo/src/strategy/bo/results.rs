//! What came of the trials of one embedding: measured points in the order told, the best of them, and the points that
//! gave no value.

use super::points::Points;
use std::sync::Arc;

/// Points given to the maximiser as places to start from.
pub(super) const INCUMBENTS: usize = 5;
/// Results kept in order; under noise the lowest values are not the best points, which are looked for among so many.
const RANKED: usize = 100;

/// Results of one embedding. All points are in its unit cube.
#[derive(Default)]
pub(super) struct Results {
    /// Measured points, in the order told.
    pub(super) points: Points,
    /// Their values.
    pub(super) values: Arc<Vec<f64>>,
    /// The best few of all.
    pub(super) leaders: BestFew,
    /// Points that gave no value.
    pub(super) barren: Vec<Vec<f64>>,
}

impl Results {
    /// The lowest value.
    pub(super) fn lowest(&self) -> Option<f64> {
        self.leaders.first().map(|row| self.values[row])
    }

    /// How far the nearest measured point is, by the coordinate that differs most; infinite if there is none.
    pub(super) fn nearest(&self, u: &[f64]) -> f64 {
        let apart = |other: &[f64]| u.iter().zip(other).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        self.points.iter().map(apart).fold(f64::INFINITY, f64::min)
    }

    /// The measured points as they are now, for a fit beside what comes in the meantime.
    pub(super) fn measurements(&self) -> Results {
        Results { points: self.points.clone(), values: Arc::clone(&self.values), ..Results::default() }
    }

    /// Keeps a measured point and returns its row.
    pub(super) fn measured(&mut self, u: &[f64], value: f64) -> usize {
        let row = self.values.len();
        self.points.push(u);
        Arc::make_mut(&mut self.values).push(value);
        self.leaders.enter(row, &self.values);
        row
    }
}

/// Rows of the best few results of some kind, best first, the first told of equals.
#[derive(Default)]
pub(super) struct BestFew {
    pub(super) rows: Vec<usize>,
}

impl BestFew {
    /// The best one.
    pub(super) fn first(&self) -> Option<usize> {
        self.rows.first().copied()
    }

    /// Takes the row in if it is among the best.
    pub(super) fn enter(&mut self, row: usize, values: &[f64]) {
        let place = self.rows.partition_point(|&other| values[other] <= values[row]);
        self.rows.insert(place, row);
        self.rows.truncate(RANKED);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_few_come_in_order_and_the_first_of_equals_first() {
        let mut results = Results::default();
        assert_eq!(results.lowest(), None);
        for value in [3.0, 1.0, 2.0, 1.0, 9.0, 0.5, 8.0, 0.7] {
            results.measured(&[value], value);
        }
        assert_eq!(results.leaders.rows, [5, 7, 1, 3, 2, 0, 6, 4]);
        (0..2 * RANKED).for_each(|_| {
            results.measured(&[4.0], 4.0);
        });
        assert_eq!(results.leaders.rows.len(), RANKED);
        assert_eq!(results.leaders.rows[..6], [5, 7, 1, 3, 2, 0]);
        assert_eq!(results.lowest(), Some(0.5));
    }
}
