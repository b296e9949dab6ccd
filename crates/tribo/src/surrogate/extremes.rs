//! The rows with the lowest and the highest values of each input: outliers, which a random part of the data misses, and which
//! no inducing point elsewhere explains. A handful of such rows can cost a likelihood more than all others together.

use super::data::Data;
use faer::MatRef;

/// Rows at each end of an input, at most, and of all inputs together about so many.
const AT_END: usize = 20;
const IN_ALL: usize = 1_000;

/// The most extreme rows seen so far.
pub(super) struct Extremes {
    /// Rows kept at each end.
    count: usize,
    /// For each input the lowest values and their rows, in increasing order, of equals the first; then those of -x.
    ends: Vec<[Vec<(f64, usize)>; 2]>,
}

impl Extremes {
    /// Of rows of `d` inputs, before the first.
    pub(super) fn new(d: usize) -> Extremes {
        let count = (IN_ALL / (2 * d.max(1))).clamp(1, AT_END);
        Extremes { count, ends: vec![[vec![], vec![]]; d] }
    }

    /// Those of data that are held.
    pub(super) fn of(data: &Data<'_>) -> Extremes {
        let mut extremes = Extremes::new(data.dim());
        extremes.see(0, data.x());
        extremes
    }

    /// Takes in the rows of `x`, the first of which is row `start`.
    pub(super) fn see(&mut self, start: usize, x: MatRef<'_, f64>) {
        for (k, ends) in self.ends.iter_mut().enumerate() {
            for i in 0..x.nrows() {
                for (end, value) in ends.iter_mut().zip([x[(i, k)], -x[(i, k)]]) {
                    if end.len() < self.count || end.last().is_some_and(|(last, _)| value < *last) {
                        let place = end.partition_point(|(other, _)| *other <= value);
                        end.insert(place, (value, start + i));
                        end.truncate(self.count);
                    }
                }
            }
        }
    }

    /// The rows, in increasing order.
    pub(super) fn rows(&self) -> Vec<usize> {
        let mut rows: Vec<usize> = self.ends.iter().flatten().flatten().map(|(_, row)| *row).collect();
        rows.sort_unstable();
        rows.dedup();
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;
    use faer::Mat;

    #[test]
    fn both_ends_of_every_input_are_kept_whatever_the_blocks() {
        let mut stream = Stream::new(4, "extremes", 0);
        // Few different values, so that ties happen.
        let x = Mat::from_fn(500, 3, |_, k| if k == 2 { stream.below(4) as f64 } else { stream.uniform() });
        let mut in_blocks = Extremes::new(3);
        for start in (0..500).step_by(70) {
            in_blocks.see(start, x.as_ref().subrows(start, 70.min(500 - start)));
        }
        let y = [0.0; 500];
        let at_once = Extremes::of(&Data::new(x.as_ref(), &y).unwrap());
        assert_eq!(in_blocks.rows(), at_once.rows());
        let mut expected = std::collections::BTreeSet::new();
        for k in 0..3 {
            for sign in [1.0, -1.0] {
                let mut rows: Vec<usize> = (0..500).collect();
                rows.sort_by(|&a, &b| (sign * x[(a, k)]).total_cmp(&(sign * x[(b, k)])));
                expected.extend(rows.into_iter().take(AT_END));
            }
        }
        assert_eq!(in_blocks.rows(), expected.into_iter().collect::<Vec<_>>());
    }
}
