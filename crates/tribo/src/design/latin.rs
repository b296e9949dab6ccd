//! Latin hypercube: every coordinate, cut into n equal slices, has one point in each slice
//! `[@mckay1979]`.
//!
//! x_ij = low_j + (π_j(i) + u_ij) / n · (high_j - low_j), with π_j an independent random permutation of
//! 0..n for each coordinate and u_ij uniform in [0, 1). Every point alone is uniform in the box, and the
//! estimate of an integral has the variance of random points less the part explained by sums of functions of
//! one coordinate.
//!
//! Cost O(n d); memory the result and one permutation. No optimised (maximin) variant: nothing in the
//! library needs one, and its cost grows with n².

use faer::Mat;

use super::{check, place};
use crate::error::Result;
use crate::rng::{Stream, bits_at, uniform_at};

/// `n` points in the box [low, high], one in each of `n` equal slices of every coordinate: shape [n, d].
///
/// The point is uniform within its slice; its place is exact up to the rounding of a few operations.
pub fn latin_hypercube(n: usize, low: &[f64], high: &[f64], stream: &mut Stream) -> Result<Mat<f64>> {
    check(n, low, high)?;
    let mut points = Mat::zeros(n, low.len());
    // Shuffling the last permutation gives one independent of it, so it need not be put back in order.
    let mut slices: Vec<usize> = (0..n).collect();
    for j in 0..low.len() {
        stream.shuffle(&mut slices);
        for (point, &slice) in points.col_as_slice_mut(j).iter_mut().zip(&slices) {
            *point = place((slice as f64 + stream.uniform()) / n as f64, low[j], high[j]);
        }
    }
    Ok(points)
}

/// Coordinate number `coordinate` of row `row` of a Latin hypercube of `count` rows in the unit cube, without the others:
/// each column is a random order of its own, made from `key`.
pub(crate) fn latin_cell(key: u64, coordinate: usize, count: usize, row: usize) -> f64 {
    let column = bits_at(key, coordinate as u64);
    let mut cells: Vec<usize> = (0..count).collect();
    for i in (1..count).rev() {
        let j = ((u128::from(bits_at(column, i as u64)) * (i + 1) as u128) >> 64) as usize;
        cells.swap(i, j);
    }
    (cells[row] as f64 + uniform_at(column, (count + row) as u64)) / count as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;

    #[test]
    fn one_point_in_each_slice_of_each_coordinate() {
        let (low, high) = ([-2.0, 0.0, 1e-3], [3.0, 1.0, 1e3]);
        for (n, seed) in [(1, 1), (2, 2), (7, 3), (100, 4), (1_000, 5)] {
            let points = latin_hypercube(n, &low, &high, &mut Stream::new(seed, "latin", 0)).unwrap();
            assert_eq!((points.nrows(), points.ncols()), (n, 3));
            for j in 0..3 {
                let mut hits = vec![0; n];
                for i in 0..n {
                    assert!((low[j]..=high[j]).contains(&points[(i, j)]));
                    let slice = (points[(i, j)] - low[j]) / (high[j] - low[j]) * n as f64;
                    hits[slice as usize] += 1;
                }
                assert!(hits.iter().all(|&count| count == 1), "n {n}, coordinate {j}, seed {seed}");
            }
        }
    }

    #[test]
    fn coordinates_are_uncorrelated_and_uniform_within_slices() {
        // The correlation of two independent permutations has variance 1/(n-1), and the second moment of the
        // place within a slice that of u²: bounds are five standard errors.
        let (n, seed) = (10_000, 11);
        let points = latin_hypercube(n, &[0.0; 2], &[1.0; 2], &mut Stream::new(seed, "latin", 0)).unwrap();
        let product: f64 = (0..n).map(|i| (points[(i, 0)] - 0.5) * (points[(i, 1)] - 0.5)).sum();
        let correlation = 12.0 * product / n as f64;
        assert!(correlation.abs() < 5.0 / (n as f64).sqrt(), "correlation {correlation}, seed {seed}");
        let second: f64 = (0..n).map(|i| (points[(i, 0)] * n as f64).fract().powi(2)).sum::<f64>() / n as f64;
        let bound = 5.0 * (4.0 / 45.0 / n as f64).sqrt();
        assert!((second - 1.0 / 3.0).abs() < bound, "second moment {second}, seed {seed}");
    }

    #[test]
    fn the_stream_decides_the_points() {
        let draw =
            |seed| latin_hypercube(9, &[0.0; 4], &[1.0; 4], &mut Stream::new(seed, "latin", 0)).unwrap();
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
    }

    #[test]
    fn no_points_is_an_error() {
        let none = latin_hypercube(0, &[0.0], &[1.0], &mut Stream::new(1, "latin", 0));
        assert_eq!(none.unwrap_err(), Error::Empty { what: "design" });
    }
}
