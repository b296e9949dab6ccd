//! Independent uniform points: the design with no structure, against which the others are measured.
//!
//! Points are drawn one after the other, so the first k of n points are the k points of a smaller design
//! from the same stream. Cost O(n d).

use faer::Mat;

use super::{check, place};
use crate::error::Result;
use crate::rng::Stream;

/// `n` independent points, uniform in the box [low, high]: shape [n, d].
pub fn uniform(n: usize, low: &[f64], high: &[f64], stream: &mut Stream) -> Result<Mat<f64>> {
    check(n, low, high)?;
    let mut points = Mat::zeros(n, low.len());
    for i in 0..n {
        for j in 0..low.len() {
            points[(i, j)] = place(stream.uniform(), low[j], high[j]);
        }
    }
    Ok(points)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_fill_the_box_and_keep_their_prefix() {
        let (low, high, seed) = ([-2.0, 10.0], [2.0, 11.0], 5);
        let draw = |n| uniform(n, &low, &high, &mut Stream::new(seed, "uniform", 0)).unwrap();
        let (many, few) = (draw(10_000), draw(3));
        assert_eq!(many.subrows(0, 3), few.as_ref());
        for j in 0..2 {
            let column = many.col_as_slice(j);
            assert!(column.iter().all(|x| (low[j]..=high[j]).contains(x)));
            // Mean of the uniform law, within five standard errors.
            let mean = column.iter().sum::<f64>() / 1e4;
            let standard_error = (high[j] - low[j]) / 12.0_f64.sqrt() / 1e2;
            assert!((mean - (low[j] + high[j]) / 2.0).abs() < 5.0 * standard_error, "seed {seed}");
        }
    }
}
