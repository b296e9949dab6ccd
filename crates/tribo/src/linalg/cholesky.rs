//! Cholesky factors: with a jitter ladder, updated by one vector, grown by one row.
//!
//! A kernel matrix of smooth functions is positive definite in exact arithmetic only: its small eigenvalues
//! drown in rounding. Adding a jitter ε · mean(diagonal) lifts them; the ladder climbs by factors of ten until
//! the factorisation goes through and the factor remembers the rung. It is relative to the diagonal, so
//! nothing changes when the user's units do. Updates are those of `[@gill1974]`, O(m²).

use super::product;
use crate::error::{Error, Result};
use faer::diag::DiagMut;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt;
use faer::{Mat, MatRef, Par};

/// Rungs for a matrix that carries its own regularisation, e.g. noise on the diagonal: none unless needed.
pub const JITTER_IF_NEEDED: &[f64] = &[0.0, 1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4];
/// Rungs for a noise-free kernel matrix. Always at least 1e-10, so that the objective does not jump when a
/// change of hyper-parameters makes the bare matrix just factorisable or just not.
pub const JITTER_ALWAYS: &[f64] = &[1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4];

/// Lower Cholesky factor L of A + jitter · mean(diag A) I.
#[derive(Debug, Clone)]
pub struct Factor {
    l: Mat<f64>,
    jitter: f64,
}

impl Factor {
    /// Factors the symmetric matrix whose lower triangle is `a`, called `matrix` in errors.
    pub fn new(matrix: &'static str, a: MatRef<'_, f64>, ladder: &[f64]) -> Result<Factor> {
        let m = a.nrows();
        let mean_diagonal = (0..m).map(|i| a[(i, i)].abs()).sum::<f64>() / m.max(1) as f64;
        let mut l = Mat::zeros(m, m);
        let mut scratch =
            MemBuffer::new(llt::factor::cholesky_in_place_scratch::<f64>(m, Par::Seq, Default::default()));
        let mut failure = Error::NotPositiveDefinite { matrix, size: m, pivot: 0, jitter: 0.0 };
        for &jitter in ladder {
            l.copy_from(a);
            for i in 0..m {
                l[(i, i)] += jitter * mean_diagonal;
            }
            let outcome = llt::factor::cholesky_in_place(
                l.as_mut(),
                Default::default(),
                Par::Seq,
                MemStack::new(&mut scratch),
                Default::default(),
            );
            // A NaN slips through the pivot test, so the diagonal is looked at as well.
            let bad_pivot = match outcome {
                Ok(_) => (0..m).find(|&i| !(l[(i, i)] > 0.0 && l[(i, i)].is_finite())),
                Err(llt::factor::LltError::NonPositivePivot { index }) => Some(index),
            };
            match bad_pivot {
                None => return Ok(Factor { l, jitter }),
                Some(pivot) => failure = Error::NotPositiveDefinite { matrix, size: m, pivot, jitter },
            }
        }
        Err(failure)
    }

    /// A factor that was made before: the lower triangle of `l`, and the jitter it needed. `matrix` names it in errors.
    pub fn from_lower(matrix: &'static str, l: Mat<f64>, jitter: f64) -> Result<Factor> {
        let m = l.nrows();
        if l.ncols() != m {
            return Err(Error::Size { what: "columns of a factor (rows)", expected: m, found: l.ncols() });
        }
        if let Some(pivot) = (0..m).find(|&i| l[(i, i)].is_nan() || l[(i, i)] <= 0.0) {
            return Err(Error::NotPositiveDefinite { matrix, size: m, pivot, jitter });
        }
        for column in 0..m {
            for row in column..m {
                let value = l[(row, column)];
                if !value.is_finite() {
                    return Err(Error::NotFinite { what: matrix, row, column, value });
                }
            }
        }
        Ok(Factor { l, jitter })
    }

    /// The factor; only its lower triangle has a meaning.
    pub fn l(&self) -> MatRef<'_, f64> {
        self.l.as_ref()
    }

    /// Number of rows.
    pub fn size(&self) -> usize {
        self.l.nrows()
    }

    /// The relative jitter that was needed.
    pub fn jitter(&self) -> f64 {
        self.jitter
    }

    /// Σ log Lᵢᵢ, half the log determinant.
    pub fn half_log_det(&self) -> f64 {
        (0..self.size()).map(|i| self.l[(i, i)].ln()).sum()
    }

    /// L Lᵀ ← L Lᵀ + v vᵀ. Leaves rubbish in `v`. On error, which takes numbers that are not finite, the factor is spoilt.
    pub fn update(&mut self, v: &mut [f64]) -> Result<()> {
        let (m, matrix) = (self.size(), "updated factor");
        assert_eq!(v.len(), m, "rank-one update of the wrong length");
        let mut alpha = [1.0];
        let bad_pivot = match llt::update::rank_r_update_clobber(
            self.l.as_mut(),
            faer::MatMut::from_column_major_slice_mut(v, m, 1),
            DiagMut::from_slice_mut(&mut alpha),
        ) {
            Ok(()) => (0..m).find(|&i| !(self.l[(i, i)] > 0.0 && self.l[(i, i)].is_finite())),
            Err(llt::factor::LltError::NonPositivePivot { index }) => Some(index),
        };
        match bad_pivot {
            None => Ok(()),
            Some(pivot) => Err(Error::NotPositiveDefinite { matrix, size: m, pivot, jitter: self.jitter }),
        }
    }

    /// Grows A by one row: `row` holds the new off-diagonal entries, `diagonal` the new diagonal one. O(m²).
    ///
    /// The same jitter, as an absolute amount `jitter_amount`, is for the caller to add to `diagonal`.
    pub fn append(&mut self, matrix: &'static str, row: &[f64], diagonal: f64) -> Result<()> {
        let m = self.size();
        assert_eq!(row.len(), m, "appended row of the wrong length");
        let mut l_new = row.to_vec();
        product::solve_lower_vector(self.l.as_ref(), &mut l_new);
        let remainder = diagonal - l_new.iter().map(|v| v * v).sum::<f64>();
        // What is left after the explained part must stand clear of rounding in that subtraction.
        if remainder.is_nan() || remainder <= 8.0 * f64::EPSILON * diagonal {
            return Err(Error::NotPositiveDefinite { matrix, size: m + 1, pivot: m, jitter: self.jitter });
        }
        // Room for 64 rows at a time: one copy of the factor every 64 appended rows.
        let capacity = (m + 1).next_multiple_of(64);
        self.l.reserve(capacity, capacity);
        self.l.resize_with(m + 1, m + 1, |_, _| 0.0);
        for (j, value) in l_new.into_iter().enumerate() {
            self.l[(m, j)] = value;
        }
        self.l[(m, m)] = remainder.sqrt();
        Ok(())
    }

    /// Grows A by p rows at once: `whitened` [p, m] holds the new off-diagonal block times L⁻ᵀ, `conditional` [p, p] the
    /// lower triangle of the new diagonal block minus whitened whitenedᵀ. O(p m² + p³) before the call, a copy here.
    pub fn append_block(
        &mut self,
        matrix: &'static str,
        whitened: MatRef<'_, f64>,
        conditional: MatRef<'_, f64>,
    ) -> Result<()> {
        let (m, p) = (self.size(), whitened.nrows());
        let corner = Factor::new(matrix, conditional, JITTER_IF_NEEDED)?;
        self.l.resize_with(m + p, m + p, |_, _| 0.0);
        self.l.as_mut().submatrix_mut(m, 0, p, m).copy_from(whitened);
        self.l.as_mut().submatrix_mut(m, m, p, p).copy_from(corner.l());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;

    fn positive_definite(m: usize, seed: u64) -> Mat<f64> {
        let mut stream = Stream::new(seed, "cholesky test", 0);
        let g = Mat::from_fn(m, m + 3, |_, _| stream.normal());
        &g * g.transpose()
    }

    /// Largest entry of L Lᵀ - A relative to the largest of A.
    fn residual(factor: &Factor, a: &Mat<f64>) -> f64 {
        let m = factor.size();
        let l = Mat::from_fn(m, m, |i, j| if i >= j { factor.l()[(i, j)] } else { 0.0 });
        let back = &l * l.transpose();
        let (mut worst, mut scale) = (0.0_f64, 0.0_f64);
        for j in 0..m {
            for i in 0..m {
                worst = worst.max((back[(i, j)] - a[(i, j)]).abs());
                scale = scale.max(a[(i, j)].abs());
            }
        }
        worst / scale
    }

    #[test]
    fn factor_multiplies_back() {
        for m in [1, 2, 17, 120] {
            let a = positive_definite(m, m as u64);
            let factor = Factor::new("A", a.as_ref(), JITTER_IF_NEEDED).unwrap();
            assert_eq!(factor.jitter(), 0.0);
            assert!(residual(&factor, &a) < 1e-13);
        }
    }

    #[test]
    fn jitter_climbs_only_as_far_as_needed() {
        // Rank one: every rung above rounding works, zero does not.
        let a = Mat::from_fn(40, 40, |i, j| (1.0 + i as f64) * (1.0 + j as f64));
        let factor = Factor::new("A", a.as_ref(), JITTER_IF_NEEDED).unwrap();
        assert!(factor.jitter() > 0.0 && factor.jitter() <= 1e-10);
    }

    #[test]
    fn hopeless_matrices_are_refused_with_the_pivot() {
        let mut a = positive_definite(6, 1);
        a[(3, 3)] = -1e6;
        let error = Factor::new("A", a.as_ref(), JITTER_IF_NEEDED).unwrap_err();
        assert!(
            matches!(error, Error::NotPositiveDefinite { matrix: "A", size: 6, pivot: 3, .. }),
            "{error}"
        );
        a[(3, 3)] = f64::NAN;
        assert!(Factor::new("A", a.as_ref(), JITTER_IF_NEEDED).is_err());
    }

    #[test]
    fn an_update_equals_a_fresh_factor() {
        for m in [1, 5, 64, 301] {
            let mut stream = Stream::new(m as u64, "rank one", 0);
            let a = positive_definite(m, 9);
            let v: Vec<f64> = (0..m).map(|_| stream.normal()).collect();
            let updated = Mat::from_fn(m, m, |i, j| a[(i, j)] + v[i] * v[j]);
            let mut factor = Factor::new("A", a.as_ref(), JITTER_IF_NEEDED).unwrap();
            factor.update(&mut v.clone()).unwrap();
            assert!(residual(&factor, &updated) < 1e-12);
        }
        let mut factor = Factor::new("A", positive_definite(4, 2).as_ref(), JITTER_IF_NEEDED).unwrap();
        assert!(factor.update(&mut [f64::NAN, 0.0, 0.0, 0.0]).is_err());
    }

    #[test]
    fn appended_rows_equal_a_fresh_factor() {
        let a = positive_definite(30, 4);
        let start = a.as_ref().submatrix(0, 0, 3, 3);
        let mut factor = Factor::new("A", start, JITTER_IF_NEEDED).unwrap();
        for m in 3..30 {
            let row: Vec<f64> = (0..m).map(|j| a[(m, j)]).collect();
            factor.append("A", &row, a[(m, m)]).unwrap();
        }
        assert!(residual(&factor, &a) < 1e-13);
        let mut at_once = Factor::new("A", start, JITTER_IF_NEEDED).unwrap();
        let mut whitened = a.as_ref().submatrix(3, 0, 27, 3).to_owned();
        product::whiten_rows(at_once.l(), whitened.as_mut());
        let mut conditional = a.as_ref().submatrix(3, 3, 27, 27).to_owned();
        product::add_product(conditional.as_mut(), -1.0, whitened.as_ref(), whitened.transpose());
        at_once.append_block("A", whitened.as_ref(), conditional.as_ref()).unwrap();
        assert!(residual(&at_once, &a) < 1e-13);
        let duplicate: Vec<f64> = (0..30).map(|j| a[(29, j)]).collect();
        assert!(factor.append("A", &duplicate, a[(29, 29)]).is_err());
    }
}
