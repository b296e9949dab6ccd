//! Points of one dimension, one after the other in a single piece of memory: n d numbers and nothing beside them, which is
//! what fits read without a copy.
//!
//! Copies share the memory until one of them grows, so whoever fits on another thread keeps the points that it began with.

use faer::MatRef;
use std::ops::Index;
use std::sync::Arc;

/// Points in the order they came.
#[derive(Clone, Default)]
pub(super) struct Points {
    /// By points.
    numbers: Arc<Vec<f64>>,
    dim: usize,
    len: usize,
}

impl Points {
    /// Adds a point. All have the dimension of the first.
    pub(super) fn push(&mut self, point: &[f64]) {
        if self.len == 0 {
            self.dim = point.len();
        }
        debug_assert_eq!(self.dim, point.len());
        Arc::make_mut(&mut self.numbers).extend_from_slice(point);
        self.len += 1;
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Coordinates of a point; 0 if there is none.
    pub(super) fn dim(&self) -> usize {
        self.dim
    }

    /// All of them.
    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = &[f64]> + ExactSizeIterator {
        (0..self.len).map(|row| &self[row])
    }

    /// The first `n` as the rows of a matrix, `[n, d]`.
    pub(super) fn matrix(&self, n: usize) -> MatRef<'_, f64> {
        MatRef::from_row_major_slice(&self.numbers[..n * self.dim], n, self.dim)
    }
}

impl Index<usize> for Points {
    type Output = [f64];

    fn index(&self, row: usize) -> &[f64] {
        &self.numbers[row * self.dim..(row + 1) * self.dim]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_keeps_what_it_began_with() {
        let mut points = Points::default();
        assert_eq!((points.len(), points.dim(), points.matrix(0).nrows()), (0, 0, 0));
        points.push(&[1.0, 2.0]);
        points.push(&[3.0, 4.0]);
        let before = points.clone();
        points.push(&[5.0, 6.0]);
        assert_eq!((before.len(), points.len()), (2, 3));
        assert_eq!(before.iter().collect::<Vec<_>>(), [[1.0, 2.0], [3.0, 4.0]]);
        let x = points.matrix(3);
        assert_eq!((x[(2, 0)], x[(0, 1)], &points[1]), (5.0, 2.0, &[3.0, 4.0][..]));
    }
}
