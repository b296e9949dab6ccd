//! Sums over long slices in eight lanes.
//!
//! A plain running sum cannot be vectorised, because the compiler must keep its order. Here the order is
//! written down: eight partial sums, joined pairwise at the end, the tail added last. Every instruction set
//! gives the same bits, and the rounding error grows with n/8 instead of n.

use super::dispatch::vectorised;

const LANES: usize = 8;

/// Joins the lanes in a fixed order.
#[inline(always)]
fn join(lanes: [f64; LANES]) -> f64 {
    ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]))
}

/// Σ aᵢ bᵢ for use inside `vectorised!` bodies.
#[inline(always)]
pub(crate) fn dot_lanes(a: &[f64], b: &[f64]) -> f64 {
    let mut lanes = [0.0; LANES];
    let whole = a.len() - a.len() % LANES;
    for (a, b) in a[..whole].chunks_exact(LANES).zip(b[..whole].chunks_exact(LANES)) {
        for j in 0..LANES {
            lanes[j] = a[j].mul_add(b[j], lanes[j]);
        }
    }
    let tail = a[whole..].iter().zip(&b[whole..]).fold(0.0, |sum, (a, b)| a.mul_add(*b, sum));
    join(lanes) + tail
}

vectorised! {
    /// Σ aᵢ bᵢ. The slices must have one length.
    pub fn dot(a: &[f64], b: &[f64]) -> f64 {
        assert_eq!(a.len(), b.len(), "dot of slices of different lengths");
        dot_lanes(a, b)
    }
}

/// Σ aᵢ bᵢ from the first to the last, over the shorter of the two. For slices of a handful of numbers, where lanes gain
/// nothing, and where the order of the sum is part of a result that must stay: points of a test function.
pub(crate) fn dot_in_order(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

vectorised! {
    /// `sums[i] += column[i]²`: adds one column's squares to the row sums.
    pub(crate) fn add_squares(column: &[f64], sums: &mut [f64]) {
        for (sum, value) in sums.iter_mut().zip(column) {
            *sum = value.mul_add(*value, *sum);
        }
    }
}

vectorised! {
    /// `sums[i] += factor · column[i]`.
    pub(crate) fn add_scaled(factor: f64, column: &[f64], sums: &mut [f64]) {
        for (sum, value) in sums.iter_mut().zip(column) {
            *sum = value.mul_add(factor, *sum);
        }
    }
}

vectorised! {
    /// `values[i] *= factors[i]`.
    pub(crate) fn multiply(values: &mut [f64], factors: &[f64]) {
        for (value, factor) in values.iter_mut().zip(factors) {
            *value *= factor;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;

    #[test]
    fn dot_agrees_with_a_plain_sum() {
        let mut stream = Stream::new(5, "dot", 0);
        for n in [0, 1, 7, 8, 9, 64, 1001] {
            let a: Vec<f64> = (0..n).map(|_| stream.normal()).collect();
            let b: Vec<f64> = (0..n).map(|_| stream.normal()).collect();
            let plain = dot_in_order(&a, &b);
            let scale: f64 = a.iter().zip(&b).map(|(a, b)| (a * b).abs()).sum();
            assert!((dot(&a, &b) - plain).abs() <= 1e-15 * n as f64 * scale);
            assert_eq!(dot(&a, &b).to_bits(), dot_lanes(&a, &b).to_bits());
        }
    }
}
