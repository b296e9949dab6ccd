//! Groups of neighbouring points for PITC.
//!
//! The points are split at the median of their widest input until no part is larger than asked: the leaves of a
//! k-d tree. The grouping depends on the points, not on their order (ties apart). O(n log² n). The data are kept
//! in the order of the groups, a copy of n (d + 1) numbers; only PITC pays it.

use super::super::data::Data;
use super::super::watch::{Watch, go_on};
use super::blocks::BLOCK;
use crate::error::{Error, Result};
use faer::Mat;

/// Data in groups of neighbours.
#[derive(Debug, Clone)]
pub struct Groups {
    x: Mat<f64>,
    y: Vec<f64>,
    ends: Vec<usize>,
}

impl Groups {
    /// Groups of at most `group` neighbours.
    pub fn new(data: &Data<'_>, group: usize, watch: &dyn Watch) -> Result<Groups> {
        if group == 0 || group > BLOCK {
            return Err(Error::OutOfRange {
                what: "group size of PITC",
                value: group as f64,
                low: 1.0,
                high: BLOCK as f64,
            });
        }
        let mut order: Vec<usize> = (0..data.len()).collect();
        let mut ends = Vec::new();
        split(data, &mut order, 0, group, &mut ends, watch)?;
        Groups::from_order(data, &order, ends)
    }

    /// Groups given outright: rows in the order of `order`, each group ending before one of `ends`.
    pub fn from_order(data: &Data<'_>, order: &[usize], ends: Vec<usize>) -> Result<Groups> {
        let mut start = 0;
        for &end in &ends {
            if end <= start || end - start > BLOCK {
                return Err(Error::OutOfRange {
                    what: "size of a group of PITC",
                    value: end as f64 - start as f64,
                    low: 1.0,
                    high: BLOCK as f64,
                });
            }
            start = end;
        }
        let n = data.len();
        if start != n {
            return Err(Error::Size { what: "points in the groups of PITC", expected: n, found: start });
        }
        let mut seen = vec![false; n];
        for &row in order {
            match seen.get_mut(row) {
                Some(seen) => *seen = true,
                None => {
                    return Err(Error::OutOfRange {
                        what: "row in the order of PITC's groups",
                        value: row as f64,
                        low: 0.0,
                        high: n as f64 - 1.0,
                    });
                }
            }
        }
        let n_seen = seen.iter().filter(|seen| **seen).count();
        if n_seen != n || order.len() != n {
            return Err(Error::Size {
                what: "different rows in the order of PITC's groups (each once)",
                expected: n,
                found: if n_seen == n { order.len() } else { n_seen },
            });
        }
        let (x, y) = data.rows(order);
        Ok(Groups { x, y, ends })
    }

    /// These groups of the first `n` points of `data`, and each later point a group of its own: what updates
    /// one by one amount to.
    #[cfg(test)]
    pub(super) fn with_singles(&self, data: &Data<'_>, n: usize) -> Result<Groups> {
        let mut grown = self.clone();
        grown.x = Mat::from_fn(
            data.len(),
            data.dim(),
            |i, k| if i < n { self.x[(i, k)] } else { data.x()[(i, k)] },
        );
        grown.y.extend_from_slice(&data.y()[n..]);
        grown.ends.extend(n + 1..=data.len());
        Ok(grown)
    }

    /// The data in the order of the groups.
    pub(super) fn data(&self) -> Data<'_> {
        Data::unchecked(self.x.as_ref(), &self.y)
    }

    pub(super) fn ends(&self) -> &[usize] {
        &self.ends
    }

    /// Size of the largest group.
    pub fn largest(&self) -> usize {
        let mut start = 0;
        let mut largest = 0;
        for &end in &self.ends {
            largest = largest.max(end - start);
            start = end;
        }
        largest
    }
}

/// Orders `rows` by leaf and appends the leaves' ends, `first` rows having been placed before.
fn split(
    data: &Data<'_>,
    rows: &mut [usize],
    first: usize,
    group: usize,
    ends: &mut Vec<usize>,
    watch: &dyn Watch,
) -> Result<()> {
    if rows.len() <= group {
        ends.push(first + rows.len());
        return Ok(());
    }
    go_on(watch, "the groups of PITC")?;
    let x = data.x();
    let width = |k: usize| {
        let (low, high) = rows.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &i| {
            (low.min(x[(i, k)]), high.max(x[(i, k)]))
        });
        high - low
    };
    let mut widest = 0;
    for k in 1..data.dim() {
        if width(k) > width(widest) {
            widest = k;
        }
    }
    let middle = rows.len() / 2;
    rows.select_nth_unstable_by(middle, |&i, &j| x[(i, widest)].total_cmp(&x[(j, widest)]).then(i.cmp(&j)));
    let (left, right) = rows.split_at_mut(middle);
    split(data, left, first, group, ends, watch)?;
    split(data, right, first + middle, group, ends, watch)
}
