//! Gaussian random embedding: x̂ = A z / d, x = 1/2 + x̂ / (2h), with A_ij ~ N(0, 1) (after REMBO
//! `[@wang2016]`, scaled as in `[@tran2021]`).
//!
//! A function that changes only within an unknown subspace of d dimensions or fewer keeps its optimum in the
//! image of A with probability one, before clipping; the box and the clipping decide how much of that is
//! reached. Given z, x̂_i ~ N(0, |z|²/d²). All readings of the printed formula are values of `half_width` h:
//! 1 (ours), √d (the paper's code), √d^d (as printed; collapses to the centre) and 1/d, which is REMBO's own
//! x̂ = A z on [-1, 1]^D.
//!
//! Row i of A comes from a stream of its own. Small matrices are kept, larger ones are drawn again at every
//! call: cost O(D d) either way, memory at most 32 MB; the bits are the same.

use crate::rng::Stream;

/// Largest number of entries of A to keep. Drawing a row takes some forty times as long as using it.
const KEPT_ENTRIES: usize = 1 << 22;

#[derive(Debug, Clone)]
pub(super) struct Gaussian {
    key: u64,
    dim: usize,
    half_width: f64,
    /// A by rows [D, d], if it is small.
    kept: Option<Vec<f64>>,
}

impl Gaussian {
    pub(super) fn new(key: u64, input_dim: usize, dim: usize, half_width: f64) -> Self {
        let small = input_dim.checked_mul(dim).is_some_and(|entries| entries <= KEPT_ENTRIES);
        let kept = small.then(|| {
            let mut rows = Vec::with_capacity(input_dim * dim);
            for i in 0..input_dim {
                let mut stream = row_stream(key, i);
                rows.extend((0..dim).map(|_| stream.normal()));
            }
            rows
        });
        Gaussian { key, dim, half_width, kept }
    }

    pub(super) fn dim(&self) -> usize {
        self.dim
    }

    pub(super) fn each_unclipped(&self, input_dim: usize, z: &[f64], mut visit: impl FnMut(usize, f64)) {
        // Not (x̂ + h) / (2h): this form holds for the largest h and sends z = 0 to 1/2 exactly.
        let mut place = |i, dot: f64| visit(i, 0.5 + dot / self.dim as f64 / (2.0 * self.half_width));
        // Both branches add the products from left to right, which keeps their bits equal.
        match &self.kept {
            Some(rows) => {
                for (i, row) in rows.chunks_exact(self.dim).enumerate() {
                    place(i, row.iter().zip(z).map(|(a, z)| a * z).sum());
                }
            }
            None => {
                for i in 0..input_dim {
                    let mut stream = row_stream(self.key, i);
                    place(i, z.iter().map(|z| stream.normal() * z).sum());
                }
            }
        }
    }
}

fn row_stream(key: u64, row: usize) -> Stream {
    Stream::new(key, "row of the gaussian embedding", row as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kept_and_redrawn_rows_have_the_same_bits() {
        let kept = Gaussian::new(4, 1_000, 5, 1.0);
        let redrawn = Gaussian { kept: None, ..kept.clone() };
        let mut stream = Stream::new(4, "z", 0);
        for _ in 0..10 {
            let z: Vec<f64> = (0..5).map(|_| 2.0 * stream.uniform() - 1.0).collect();
            let image = |gaussian: &Gaussian| {
                let mut values = Vec::new();
                gaussian.each_unclipped(1_000, &z, |i, value| values.push((i, value)));
                values
            };
            assert_eq!(image(&kept), image(&redrawn));
        }
    }
}
