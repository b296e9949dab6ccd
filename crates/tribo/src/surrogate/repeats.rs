//! Rows at the same inputs, merged without loss.
//!
//! Every objective of the sparse family is a function of sums over the rows, in which rows with the same inputs share all but
//! their y. So c rows at one site are worth one row of weight c with the mean ȳ of their values, and
//!   Σ (yᵢ - f)² = c (ȳ - f)² + S,   S = Σ (yᵢ - ȳ)²
//! which S carries. A million rows at 10,000 sites cost what 10,000 rows cost, and give the same process to rounding.
//!
//! Whether it is worth looking is asked of a sample: where a few thousand rows have no repeat among them, merging would not pay.
//! Not for PITC, whose groups also have covariances between rows at one site.

use super::data::{Data, OwnRows};
use crate::rng::{Stream, bits_at};
use faer::Mat;
use std::collections::HashMap;

/// Rows among which a repeat is looked for first. With n rows at n/2 sites this sample has 2,000,000/n repeats on average: of
/// less than a million rows hardly any repeats worth merging are overlooked.
const SAMPLE: usize = 2_000;
/// Merging pays where rows become this many times fewer.
const FEWER: usize = 2;

/// One row for each site of `data`, in the order of their first rows; None where merging does not pay.
pub(super) fn merged(data: &Data<'_>) -> Option<OwnRows> {
    let n = data.len();
    let mut rows = Stream::new(0, "repeated inputs", 0).choose(n, SAMPLE);
    let mut sites = Sites::default();
    rows.retain(|&row| !sites.is_new(data, row));
    if rows.is_empty() || data.is_weighted() || !data.noise().is_empty() {
        return None;
    }
    let mut sites = Sites::default();
    let site_of: Vec<usize> = (0..n).map(|row| sites.site(data, row)).collect();
    if sites.first_rows.len() * FEWER > n {
        return None;
    }
    let n_sites = sites.first_rows.len();
    let (mut y, mut counts, mut spreads) = (vec![0.0; n_sites], vec![0.0; n_sites], vec![0.0; n_sites]);
    for (row, &site) in site_of.iter().enumerate() {
        // Mean and spread one value at a time, without the cancellation of Σy² - (Σy)²/c.
        counts[site] += 1.0;
        let before = data.y()[row] - y[site];
        y[site] += before / counts[site];
        spreads[site] += before * (data.y()[row] - y[site]);
    }
    let x = Mat::from_fn(n_sites, data.dim(), |i, k| data.x()[(sites.first_rows[i], k)]);
    Some(OwnRows { x, y, counts, spreads, noise: vec![] })
}

/// Different inputs seen so far, by a hash of their bits.
#[derive(Default)]
struct Sites {
    by_hash: HashMap<u64, usize>,
    first_rows: Vec<usize>,
}

impl Sites {
    /// The site of a row, a new one if it has not been seen.
    fn site(&mut self, data: &Data<'_>, row: usize) -> usize {
        let x = data.x();
        // The sum turns -0 into 0, which is the same place.
        let mut hash = (0..x.ncols()).fold(0, |hash, k| bits_at(hash, (x[(row, k)] + 0.0).to_bits()));
        loop {
            match self.by_hash.get(&hash) {
                Some(&site) if (0..x.ncols()).all(|k| x[(row, k)] == x[(self.first_rows[site], k)]) => {
                    return site;
                }
                // Other inputs with this hash.
                Some(_) => hash = hash.wrapping_add(1),
                None => {
                    self.by_hash.insert(hash, self.first_rows.len());
                    self.first_rows.push(row);
                    return self.first_rows.len() - 1;
                }
            }
        }
    }

    /// Whether a row is at a site that has not been seen.
    fn is_new(&mut self, data: &Data<'_>, row: usize) -> bool {
        let n = self.first_rows.len();
        self.site(data, row) == n
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draws(n: usize, n_sites: usize) -> (Mat<f64>, Vec<f64>) {
        let mut stream = Stream::new(5, "repeats tests", 0);
        let sites = Mat::from_fn(n_sites, 2, |_, _| stream.uniform());
        let x = Mat::from_fn(n, 2, |i, k| sites[(i * 7 % n_sites, k)]);
        (x, (0..n).map(|_| 1e6 + stream.normal()).collect())
    }

    #[test]
    fn sites_have_the_mean_the_count_and_the_spread_of_their_rows() {
        let (x, y) = draws(600, 50);
        let sites = merged(&Data::new(x.as_ref(), &y).unwrap()).unwrap();
        assert_eq!(sites.data().len(), 50);
        assert_eq!(sites.counts, vec![12.0; 50]);
        for site in 0..50 {
            let values: Vec<f64> =
                (0..600).filter(|&i| (0..2).all(|k| x[(i, k)] == sites.x[(site, k)])).map(|i| y[i]).collect();
            let mean = values.iter().sum::<f64>() / 12.0;
            let spread: f64 = values.iter().map(|y| (y - mean) * (y - mean)).sum();
            // Values of 1e6 have a rounding of 1e-10.
            assert!((sites.y[site] - mean).abs() < 1e-9 && (sites.spreads[site] - spread).abs() < 1e-8);
        }
    }

    #[test]
    fn rows_without_repeats_stay_as_they_are() {
        let (x, y) = draws(600, 600);
        assert!(merged(&Data::new(x.as_ref(), &y).unwrap()).is_none());
        let (x, y) = draws(600, 400);
        assert!(merged(&Data::new(x.as_ref(), &y).unwrap()).is_none(), "hardly fewer");
    }

    #[test]
    fn merged_rows_are_the_same_process() {
        use crate::surrogate::Posterior;
        use crate::surrogate::hyper::{Hyperparameters, Mean};
        use crate::surrogate::kernel::{Kernel, Shape};
        use crate::surrogate::sparse::{Approximation, Model, Objective};
        use crate::surrogate::watch::Unwatched;
        let (x, mut y) = draws(2_500, 50);
        // A trend besides the noise, and a different number of rows at each site.
        let rows: Vec<usize> = (0..2_500).filter(|i| i % 50 < 3 || i % 11 != i % 7).collect();
        y.iter_mut()
            .enumerate()
            .for_each(|(i, y)| *y = 1e-3 * (*y - 1e6) + (5.0 * x[(i, 0)]).sin() + x[(i, 1)]);
        let OwnRows { x, y, .. } = Data::new(x.as_ref(), &y).unwrap().pick(&rows);
        let plain = Data::new(x.as_ref(), &y).unwrap();
        let sites = merged(&plain).unwrap();
        assert!(sites.counts.iter().any(|&count| count != sites.counts[0]));
        let z = Mat::from_fn(12, 2, |i, k| ((i * (3 + k)) % 12) as f64 / 11.0);
        let kernel = Kernel::new(Shape::Matern52, vec![0.4, 0.9], 1.3, 2).unwrap();
        let hyper = Hyperparameters::new(kernel, 0.02).unwrap();
        let near = |a: f64, b: f64, scale: f64| (a - b).abs() <= 1e-9 * scale.abs().max(1.0);
        for (approximation, objective) in [
            (Approximation::Sor, Objective::Marginal),
            (Approximation::Dtc, Objective::Bound),
            (Approximation::Fic, Objective::Bound),
            (Approximation::Fic, Objective::Marginal),
        ] {
            let model =
                |data| Model::new(data, z.as_ref(), approximation, objective, Mean::Estimated).unwrap();
            let (all, few) = (model(plain), model(sites.data()));
            let (value, gradient) = all.evidence_gradient(&hyper, &Unwatched).unwrap();
            let (merged_value, merged_gradient) = few.evidence_gradient(&hyper, &Unwatched).unwrap();
            assert!(near(value, merged_value, value), "{approximation:?}: {value} {merged_value}");
            for (a, b) in gradient.iter().zip(&merged_gradient) {
                assert!(near(*a, *b, value), "{approximation:?}: {gradient:?} {merged_gradient:?}");
            }
            let (all, few) =
                (all.posterior(&hyper, &Unwatched).unwrap(), few.posterior(&hyper, &Unwatched).unwrap());
            assert_eq!(few.n_observations(), rows.len());
            let (a, b) = (all.predict(x.as_ref()).unwrap(), few.predict(x.as_ref()).unwrap());
            for i in 0..a.mean.len() {
                assert!(
                    near(a.mean[i], b.mean[i], 1.0) && near(a.var[i], b.var[i], 1.0),
                    "{approximation:?}"
                );
            }
        }
    }

    #[test]
    fn zero_has_no_sign() {
        let x = Mat::from_fn(4, 1, |i, _| if i % 2 == 0 { 0.0 } else { -0.0 });
        let sites = merged(&Data::new(x.as_ref(), &[1.0, 2.0, 3.0, 4.0]).unwrap()).unwrap();
        assert_eq!((sites.y, sites.counts), (vec![2.5], vec![4.0]));
    }
}
