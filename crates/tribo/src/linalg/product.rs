//! Products and triangular solves, one thread, with the shapes the surrogates need.
//!
//! A block of data is stored with its points contiguous: W is [b, m], one column for each inducing point. The
//! lower rank-k update WᵀW then runs at the speed of the machine (measured 41 against 33 GFLOP/s for the
//! transposed layout), and row operations such as whitening are solves from the right.

use super::dispatch::vectorised;
use super::reduce::dot_lanes;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::linalg::triangular_solve;
use faer::{Accum, MatMut, MatRef, Par};

/// Lower triangle of `c` += aᵀ a, a being [b, m].
pub fn add_gram_lower(c: MatMut<'_, f64>, a: MatRef<'_, f64>) {
    add_cross_gram_lower(c, a, a);
}

/// Lower triangle of `c` += aᵀ b, both [rows, m]; meant for products that are symmetric by construction.
pub fn add_cross_gram_lower(c: MatMut<'_, f64>, a: MatRef<'_, f64>, b: MatRef<'_, f64>) {
    triangular::matmul(
        c,
        BlockStructure::TriangularLower,
        Accum::Add,
        a.transpose(),
        BlockStructure::Rectangular,
        b,
        BlockStructure::Rectangular,
        1.0,
        Par::Seq,
    );
}

/// `c` = a b.
pub fn multiply_into(c: MatMut<'_, f64>, a: MatRef<'_, f64>, b: MatRef<'_, f64>) {
    faer::linalg::matmul::matmul(c, Accum::Replace, a, b, 1.0, Par::Seq);
}

/// `c` += factor · a b.
pub fn add_product(c: MatMut<'_, f64>, factor: f64, a: MatRef<'_, f64>, b: MatRef<'_, f64>) {
    faer::linalg::matmul::matmul(c, Accum::Add, a, b, factor, Par::Seq);
}

/// `b` ← L⁻¹ b.
pub fn solve_lower(l: MatRef<'_, f64>, b: MatMut<'_, f64>) {
    triangular_solve::solve_lower_triangular_in_place(l, b, Par::Seq);
}

/// `b` ← L⁻ᵀ b.
pub fn solve_lower_transposed(l: MatRef<'_, f64>, b: MatMut<'_, f64>) {
    triangular_solve::solve_upper_triangular_in_place(l.transpose(), b, Par::Seq);
}

/// `b` ← b L⁻ᵀ: whitens every row of a block, wᵢ = L⁻¹ kᵢ.
pub fn whiten_rows(l: MatRef<'_, f64>, b: MatMut<'_, f64>) {
    triangular_solve::solve_lower_triangular_in_place(l, b.transpose_mut(), Par::Seq);
}

/// `b` ← b L⁻¹: rows become L⁻ᵀ times what they were.
pub fn unwhiten_rows(l: MatRef<'_, f64>, b: MatMut<'_, f64>) {
    triangular_solve::solve_upper_triangular_in_place(l.transpose(), b.transpose_mut(), Par::Seq);
}

vectorised! {
    /// `b` ← L⁻¹ b for one vector: column by column, each a contiguous axpy.
    ///
    /// By hand, because the blocked solve is several times slower on a single right-hand side.
    pub fn solve_lower_vector(l: MatRef<'_, f64>, b: &mut [f64]) {
        assert!(l.nrows() == b.len() && l.row_stride() == 1, "solve needs a column-major factor of the same size");
        for j in 0..b.len() {
            let (head, tail) = b.split_at_mut(j + 1);
            head[j] /= l[(j, j)];
            let factor = -head[j];
            for (value, l) in tail.iter_mut().zip(column_below(l, j)) {
                *value = factor.mul_add(*l, *value);
            }
        }
    }
}

vectorised! {
    /// `b` ← L⁻ᵀ b for one vector: column by column, each a contiguous dot product.
    pub fn solve_lower_transposed_vector(l: MatRef<'_, f64>, b: &mut [f64]) {
        assert!(l.nrows() == b.len() && l.row_stride() == 1, "solve needs a column-major factor of the same size");
        for j in (0..b.len()).rev() {
            let (head, tail) = b.split_at_mut(j + 1);
            head[j] = (head[j] - dot_lanes(column_below(l, j), tail)) / l[(j, j)];
        }
    }
}

/// The part of column j below the diagonal.
#[inline(always)]
fn column_below(l: MatRef<'_, f64>, j: usize) -> &[f64] {
    let column = l.col(j).try_as_col_major();
    &column.map_or(&[] as &[f64], |column| column.as_slice())[j + 1..]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;
    use faer::Mat;

    fn random(rows: usize, columns: usize, seed: u64) -> Mat<f64> {
        let mut stream = Stream::new(seed, "product test", 0);
        Mat::from_fn(rows, columns, |_, _| stream.normal())
    }

    fn lower(m: usize, seed: u64) -> Mat<f64> {
        let a = random(m, m, seed);
        Mat::from_fn(m, m, |i, j| {
            if i == j {
                2.0 + a[(i, j)].abs()
            } else if i > j {
                a[(i, j)]
            } else {
                f64::NAN
            }
        })
    }

    fn largest_difference(a: &Mat<f64>, b: &Mat<f64>) -> f64 {
        assert_eq!((a.nrows(), a.ncols()), (b.nrows(), b.ncols()));
        let mut largest = 0.0_f64;
        for j in 0..a.ncols() {
            for i in 0..a.nrows() {
                largest = largest.max((a[(i, j)] - b[(i, j)]).abs());
            }
        }
        largest
    }

    #[test]
    fn gram_touches_the_lower_triangle_only() {
        let a = random(37, 9, 1);
        let mut c = Mat::from_fn(9, 9, |i, j| if j > i { 77.0 } else { 1.0 });
        add_gram_lower(c.as_mut(), a.as_ref());
        let full = a.transpose() * &a;
        for j in 0..9 {
            for i in 0..9 {
                let expected = if j > i { 77.0 } else { 1.0 + full[(i, j)] };
                assert!((c[(i, j)] - expected).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn each_solve_undoes_its_product() {
        let (m, b) = (23, 11);
        let l = lower(m, 2);
        let l_clean = Mat::from_fn(m, m, |i, j| if i >= j { l[(i, j)] } else { 0.0 });
        let rows = random(b, m, 3);
        let columns = random(m, b, 4);

        let mut whitened = &rows * l_clean.transpose();
        whiten_rows(l.as_ref(), whitened.as_mut());
        assert!(largest_difference(&whitened, &rows) < 1e-9);

        let mut unwhitened = &rows * &l_clean;
        unwhiten_rows(l.as_ref(), unwhitened.as_mut());
        assert!(largest_difference(&unwhitened, &rows) < 1e-9);

        let mut forward = &l_clean * &columns;
        solve_lower(l.as_ref(), forward.as_mut());
        assert!(largest_difference(&forward, &columns) < 1e-9);

        let mut backward = l_clean.transpose() * &columns;
        solve_lower_transposed(l.as_ref(), backward.as_mut());
        assert!(largest_difference(&backward, &columns) < 1e-9);

        let truth = columns.col_as_slice(0);
        let mut one = (&l_clean * columns.as_ref().subcols(0, 1)).col_as_slice(0).to_vec();
        solve_lower_vector(l.as_ref(), &mut one);
        assert!(one.iter().zip(truth).all(|(a, b)| (a - b).abs() < 1e-9));
        let mut one = (l_clean.transpose() * columns.as_ref().subcols(0, 1)).col_as_slice(0).to_vec();
        solve_lower_transposed_vector(l.as_ref(), &mut one);
        assert!(one.iter().zip(truth).all(|(a, b)| (a - b).abs() < 1e-9));
    }
}
