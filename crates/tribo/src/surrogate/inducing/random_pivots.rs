//! Inducing points drawn by their conditional variance, in two rounds.
//!
//! A pivoted factorisation looks at every candidate for each point that it takes, n m² numbers through memory. So half of the
//! points are drawn among some thousand candidates, all others are conditioned on these, a product of matrices, and the second
//! half is drawn among candidates that were drawn by the variance left then: rows that a uniform sample misses, and that are
//! explained least. A candidate that was drawn with the probability of its variance v is taken as pivot with that of v'/v, v'
//! being what is left of it, which is to draw by v' among all. The last tenth are the candidates that are explained least: a row
//! far from all others costs the bound s²/2σ² nats, hundreds of them, however few there are.

use super::{CANDIDATES, EXPLAINED, Next, pivots};
use crate::error::Result;
use crate::linalg::cholesky::{Factor, JITTER_ALWAYS};
use crate::linalg::product::whiten_rows;
use crate::rng::Stream;
use crate::surrogate::kernel::{Kernel, Scaled};
use crate::surrogate::watch::{Watch, go_on};
use faer::{Mat, MatRef};
use rayon::prelude::*;

/// One of so many points is the one that is explained least.
const LARGEST: usize = 10;
/// Rows conditioned at once.
const BLOCK: usize = 1_024;

/// At most `m` of the rows of `x`.
pub(super) fn choose(
    x: MatRef<'_, f64>,
    m: usize,
    kernel: &Kernel,
    stream: &mut Stream,
    watch: &dyn Watch,
) -> Result<Mat<f64>> {
    let (n, d) = (x.nrows(), x.ncols());
    let pick = |rows: &[usize]| Mat::from_fn(rows.len(), d, |i, k| x[(rows[i], k)]);
    let n_candidates = CANDIDATES.max(m);
    if n <= n_candidates || m < 2 {
        let next = Next::Drawn { stream, n_first: 0, n_drawn: m - m / LARGEST, weights: &vec![1.0; n] };
        return Ok(pick(&pivots(x, m, kernel, next, watch)?));
    }
    let candidates = pick(&stream.choose(n, n_candidates));
    let next = Next::Drawn { stream, n_first: 0, n_drawn: m, weights: &vec![1.0; n_candidates] };
    let taken = pivots(candidates.as_ref(), m / 2, kernel, next, watch)?;
    let first = Mat::from_fn(taken.len(), d, |i, k| candidates[(taken[i], k)]);
    let variances = conditional(x, first.as_ref(), kernel, watch)?;
    let rows = drawn_without_return(&variances, n_candidates, EXPLAINED * kernel.signal_var, stream);
    let candidates = Mat::from_fn(first.nrows() + rows.len(), d, |i, k| match i.checked_sub(first.nrows()) {
        None => first[(i, k)],
        Some(i) => x[(rows[i], k)],
    });
    let weights: Vec<f64> =
        (0..first.nrows()).map(|_| 0.0).chain(rows.iter().map(|&row| 1.0 / variances[row])).collect();
    let next = Next::Drawn { stream, n_first: first.nrows(), n_drawn: m - m / LARGEST, weights: &weights };
    let taken = pivots(candidates.as_ref(), m, kernel, next, watch)?;
    Ok(Mat::from_fn(taken.len(), d, |i, k| candidates[(taken[i], k)]))
}

/// What the points `z` leave of the variance of each row of `x`.
fn conditional(
    x: MatRef<'_, f64>,
    z: MatRef<'_, f64>,
    kernel: &Kernel,
    watch: &dyn Watch,
) -> Result<Vec<f64>> {
    let origin: Vec<f64> = (0..x.ncols()).map(|k| x[(0, k)]).collect();
    let inducing = Scaled::new(kernel, z, &origin);
    let luu = Factor::new("Kuu", kernel.matrix(&inducing, &inducing).as_ref(), JITTER_ALWAYS)?;
    let blocks = x.nrows().div_ceil(BLOCK);
    let of_block = |block: usize| -> Result<Vec<f64>> {
        go_on(watch, "the choice of inducing points")?;
        let start = block * BLOCK;
        let rows = x.subrows(start, BLOCK.min(x.nrows() - start));
        // [b, m]
        let points = Scaled::new(kernel, rows, &origin);
        let mut kfu = kernel.matrix(&points, &inducing);
        whiten_rows(luu.l(), kfu.as_mut());
        let mut left = kernel.diagonal(&points);
        for j in 0..kfu.ncols() {
            left.iter_mut().zip(kfu.col_as_slice(j)).for_each(|(left, w)| *left -= w * w);
        }
        Ok(left.into_iter().map(|left| left.max(0.0)).collect())
    };
    let left: Vec<Vec<f64>> = (0..blocks).into_par_iter().map(of_block).collect::<Result<_>>()?;
    Ok(left.concat())
}

/// At most `count` different places, drawn by their weights, of those above `least`; in increasing order. The place with the
/// smallest -log(u)/w is the first of a draw by w, the next one the second, and so on.
fn drawn_without_return(weights: &[f64], count: usize, least: f64, stream: &mut Stream) -> Vec<usize> {
    let mut keys: Vec<(f64, usize)> = weights
        .iter()
        .enumerate()
        .map(|(place, &weight)| (-(1.0 - stream.uniform()).ln() / weight, place))
        .filter(|&(_, place)| weights[place] > least)
        .collect();
    if keys.len() > count {
        keys.select_nth_unstable_by(count, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        keys.truncate(count);
    }
    let mut places: Vec<usize> = keys.into_iter().map(|(_, place)| place).collect();
    places.sort_unstable();
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surrogate::kernel::Shape;
    use crate::surrogate::watch::Unwatched;

    const SEED: u64 = 5;

    #[test]
    fn what_is_left_is_what_the_factorisation_leaves() {
        let mut stream = Stream::new(SEED, "random pivots", 0);
        let x = Mat::from_fn(3_000, 2, |_, _| stream.uniform());
        let kernel = Kernel::new(Shape::Matern32, vec![0.3, 0.8], 2.0, 2).unwrap();
        let left = conditional(x.as_ref(), x.as_ref().subrows(0, 40), &kernel, &Unwatched).unwrap();
        let weights = vec![1.0; 3_000];
        let next = Next::Drawn { stream: &mut stream, n_first: 40, n_drawn: 40, weights: &weights };
        let taken = pivots(x.as_ref(), 40, &kernel, next, &Unwatched).unwrap();
        assert_eq!(taken, (0..40).collect::<Vec<_>>());
        // Known points have nothing left but the jitter, and others less than before.
        assert!(left[..40].iter().all(|left| *left < 1e-7 * 2.0), "seed {SEED}");
        assert!(left[40..].iter().all(|left| (0.0..2.0).contains(left)), "seed {SEED}");
        let more = conditional(x.as_ref(), x.as_ref().subrows(0, 80), &kernel, &Unwatched).unwrap();
        assert!(more.iter().zip(&left).all(|(more, left)| *more <= left + 1e-9), "seed {SEED}");
    }

    #[test]
    fn draws_without_return_follow_their_weights() {
        let mut stream = Stream::new(SEED, "random pivots", 1);
        let mut counts = [0_i32; 4];
        for _ in 0..10_000 {
            let places = drawn_without_return(&[1.0, 2.0, 0.0, 5.0], 1, 0.0, &mut stream);
            counts[places[0]] += 1;
        }
        // 1/8, 2/8 and 5/8 of 10,000, with standard deviations of 33 to 48.
        for (count, expected) in counts.into_iter().zip([1_250, 2_500, 0, 6_250]) {
            assert!((count - expected).abs() < 240, "seed {SEED}: {counts:?}");
        }
        assert_eq!(drawn_without_return(&[1.0, 2.0, 0.0, 5.0], 9, 0.0, &mut stream), [0, 1, 3]);
    }

    #[test]
    fn few_rows_in_a_corner_get_their_points() {
        let mut stream = Stream::new(SEED, "random pivots", 2);
        // Ten of 30,000 rows are far away, each for itself.
        let x = Mat::from_fn(30_000, 2, |i, _| if i < 10 { 5.0 * (i + 1) as f64 } else { stream.uniform() });
        let kernel = Kernel::new(Shape::Matern52, vec![0.5], 1.0, 2).unwrap();
        let z = choose(x.as_ref(), 200, &kernel, &mut stream, &Unwatched).unwrap();
        let n_far = (0..z.nrows()).filter(|&i| z[(i, 0)] > 2.0).count();
        assert_eq!(n_far, 10, "seed {SEED}");
    }
}
