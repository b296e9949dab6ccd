//! Where a maximisation starts: raw candidates in the unit cube, and the few of them worth refining.
//!
//! Half of the candidates are a scrambled Sobol sequence over the box. The other half are perturbations of the best
//! points known, which matter as much as the model when there are many inputs `[@papenmeier2025]`: alternately all
//! inputs are moved, or each with probability min(20/d, 1) and at least one `[@regis2013]`. A move is a normal truncated
//! to the cube (drawn again when outside, so no candidate piles up on a face). Its standard deviation is drawn for each
//! candidate, log-uniform over two decades below `spread`: early on an acquisition has its peaks a tenth of the box
//! away from the best point, late a thousandth.
//!
//! Cost O(n d) for n candidates and O(n s d) for choosing s starts.

use crate::design;
use crate::error::Result;
use crate::rng::Stream;
use faer::{Mat, MatRef};

/// Inputs moved on average when a subset is; the number is that of `[@regis2013]`.
const MOVED_INPUTS: f64 = 20.0;
/// Starts differ by this much of the cube's side, root mean square over the inputs.
const APART: f64 = 0.05;

/// `n` candidates in the unit cube [n, d], about the rows of `best` [b, d] (in the cube) for every second one.
pub(super) fn candidates(
    n: usize,
    d: usize,
    best: MatRef<'_, f64>,
    spread: f64,
    stream: &mut Stream,
) -> Result<Mat<f64>> {
    let n_local = if best.nrows() == 0 { 0 } else { n / 2 };
    let n_global = n - n_local;
    let global = design::sobol(n_global, &vec![0.0; d], &vec![1.0; d], stream)?;
    let mut points = Mat::zeros(n, d);
    for k in 0..d {
        points.col_as_slice_mut(k)[..n_global].copy_from_slice(global.col_as_slice(k));
    }
    for i in 0..n_local {
        // Pairs of candidates, one of each kind, go round the best points.
        let centre = best.row((i / 2) % best.nrows());
        let share = if i % 2 == 0 { 1.0 } else { MOVED_INPUTS / d as f64 };
        let sd = spread * 10.0_f64.powf(-2.0 * stream.uniform());
        let always = stream.below(d);
        for k in 0..d {
            let moved = k == always || stream.uniform() < share;
            points[(n_global + i, k)] =
                if moved { truncated_normal(centre[k], sd, stream) } else { centre[k] };
        }
    }
    Ok(points)
}

/// A draw of N(centre, sd²) given that it is in [0, 1]. With the centre inside and sd at most 1, a third of the
/// draws or more are.
fn truncated_normal(centre: f64, sd: f64, stream: &mut Stream) -> f64 {
    loop {
        let draw = centre + sd * stream.normal();
        if (0.0..=1.0).contains(&draw) {
            return draw;
        }
    }
}

/// At most `n` rows of `points`, highest value first, each [`APART`] from the ones before; only finite values.
///
/// Greedy by value rather than drawn by a Boltzmann law: the best candidate is always there, nothing has to be
/// tuned to the scale of the values, and peaks that are lower than every candidate on the highest one still get a
/// start, since that one is taken only once.
pub(super) fn choose_starts(points: &Mat<f64>, values: &[f64], n: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).filter(|&i| values[i].is_finite()).collect();
    order.sort_by(|&i, &j| values[j].total_cmp(&values[i]).then(i.cmp(&j)));
    let apart = APART * APART * points.ncols() as f64;
    let mut chosen: Vec<usize> = Vec::with_capacity(n);
    for i in order {
        if chosen.len() == n {
            break;
        }
        let distance = |j: usize| -> f64 {
            (0..points.ncols()).map(|k| (points[(i, k)] - points[(j, k)]).powi(2)).sum()
        };
        if chosen.iter().all(|&j| distance(j) >= apart) {
            chosen.push(i);
        }
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draw(n: usize, d: usize, best: MatRef<'_, f64>, seed: u64) -> Mat<f64> {
        candidates(n, d, best, 0.1, &mut Stream::new(seed, "candidates", 0)).unwrap()
    }

    #[test]
    fn candidates_stay_in_the_cube_and_half_are_near_the_best() {
        let seed = 12;
        for d in [1, 3, 50, 400] {
            // A corner and a centre; both kinds of move around both.
            let best = Mat::from_fn(2, d, |i, _| [0.0, 0.5][i]);
            let points = draw(101, d, best.as_ref(), seed);
            assert_eq!((points.nrows(), points.ncols()), (101, d));
            for i in 0..101 {
                let row: Vec<f64> = (0..d).map(|k| points[(i, k)]).collect();
                assert!(row.iter().all(|x| (0.0..=1.0).contains(x)), "seed {seed}");
                if i < 51 {
                    continue;
                }
                let centre = best[((i - 51) / 2 % 2, 0)];
                let moved = row.iter().filter(|x| **x != centre).count();
                // Standard deviation at most 0.1: seven of them, for at most 20,000 draws.
                assert!(row.iter().all(|x| (x - centre).abs() < 0.7), "seed {seed}");
                let whole = (i - 51) % 2 == 0 || d <= 20;
                assert!(moved >= 1 && (whole == (moved == d) || d == 1), "seed {seed}, d = {d}: {moved}");
                assert!(whole || moved < 50, "seed {seed}: {moved} moved, 20 expected, 5 sd are 22");
            }
        }
        // Without best points all candidates are global: the ends of the box are reached.
        let all = draw(64, 2, Mat::zeros(0, 2).as_ref(), seed);
        for slice in 0..8 {
            let inside = |x: &&f64| (**x * 8.0) as usize == slice;
            assert_eq!(all.col_as_slice(0).iter().filter(inside).count(), 8);
        }
    }

    #[test]
    fn starts_are_the_best_that_differ() {
        let places = [0.5, 0.501, 0.9, 0.1, 0.12, 0.7];
        let points = Mat::from_fn(6, 1, |i, _| places[i]);
        let values = [5.0, 4.0, f64::NAN, 3.0, 3.5, f64::NEG_INFINITY];
        assert_eq!(choose_starts(&points, &values, 10), vec![0, 4]);
        assert_eq!(choose_starts(&points, &[1.0; 6], 3), vec![0, 2, 3]);
        assert!(choose_starts(&points, &[f64::NEG_INFINITY; 6], 3).is_empty());
    }
}
