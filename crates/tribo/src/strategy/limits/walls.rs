//! Constraints between inputs, as sides beside those of limits: known exactly, without a model.

use super::near::Frame;
use super::outlook::Means;
use crate::space::formula::Region;
use faer::{Mat, MatRef};

/// Where constraints are met, in the coordinates of a frame or in those of the cube.
#[derive(Clone, Copy)]
pub(super) struct Walls<'a> {
    pub(super) region: &'a Region,
    pub(super) frame: Option<&'a Frame>,
}

impl Walls<'_> {
    /// Adds the distance beyond each border to the sides, with its slopes. Where a side of a formula is no number, the distance
    /// is one, and nothing says which way to go.
    pub(super) fn add(&self, means: &mut Means, x: MatRef<'_, f64>) {
        let (n, d) = (x.nrows(), x.ncols());
        let mut sides = vec![vec![1.0; n]; self.region.n_borders()];
        let mut slopes: Vec<Mat<f64>> = sides.iter().map(|_| Mat::zeros(n, d)).collect();
        for i in 0..n {
            let at: Vec<f64> = (0..d).map(|k| x[(i, k)]).collect();
            let (u, widths) = match self.frame {
                Some(frame) => (frame.outside(&at), frame.width.clone()),
                None => (at, vec![1.0; d]),
            };
            let Some(distances) = self.region.distances(&u) else { continue };
            for (j, (distance, normal)) in distances.into_iter().enumerate() {
                let slope: Vec<f64> = (0..d).map(|k| normal[k] * widths[k]).collect();
                let length =
                    slope.iter().map(|slope| slope * slope).sum::<f64>().sqrt().max(f64::MIN_POSITIVE);
                sides[j][i] = distance / length;
                (0..d).for_each(|k| slopes[j][(i, k)] = slope[k] / length);
            }
        }
        means.sides.extend(sides);
        means.side_slopes.extend(slopes);
    }
}
