//! Weighted sums of a kernel at few points, with their slopes: a posterior mean, which a search asks for thousands of times.
//!
//!   fᵢ = Σⱼ wⱼ k(xᵢ, zⱼ)        ∂fᵢ/∂xᵢₖ = -Σⱼ wⱼ s² h(r²ᵢⱼ) (xᵢₖ - zⱼₖ)/ℓₖ²
//!
//! Points go side by side in as many lanes as they need, eight at most, and all z pass by one after the other: nothing of the
//! size [b, m] is made. With one or two points that is twice as fast as matrices, whose columns would be that short. Each sum
//! has its terms in the order of z and every step is that of `Kernel::fill_with_slope` and `Kernel::input_gradient`, so the
//! bits are theirs. Cost m (4d + about 20) flops for each point. Sums of kernels are not here: their terms have calls of
//! their own.

use super::{Curve, Kernel, LANES, Scaled};
use crate::linalg::dispatch::vectorised;
use faer::Mat;

impl Kernel {
    /// Adds f to `values` [b] and puts its slopes into `slopes` [b, d]. For a sum of kernels it does nothing and says false.
    pub(crate) fn add_weighted(
        &self,
        x: &Scaled,
        z: &Scaled,
        weights: &[f64],
        values: &mut [f64],
        slopes: &mut Mat<f64>,
    ) -> bool {
        if self.shape.is_sum() {
            return false;
        }
        let mut block = Block { z, weights, k: vec![], h: vec![], sums: vec![] };
        let mut start = 0;
        while start < x.len() {
            let n = LANES.min(x.len() - start);
            // A power of two, so that lanes fill registers.
            let lanes = n.next_power_of_two();
            let point = |k: usize, i: usize| x.input(k)[start + i.min(n - 1)];
            let points: Vec<f64> = (0..x.dim())
                .flat_map(|k| (0..lanes).map(move |i| (k, i)))
                .map(|(k, i)| point(k, i))
                .collect();
            let mut means = [0.0; LANES];
            means[..n].copy_from_slice(&values[start..start + n]);
            block.add(self.shape.curve(), self.signal_var, &points, lanes, &mut means);
            values[start..start + n].copy_from_slice(&means[..n]);
            for k in 0..x.dim() {
                let factor = -1.0 / self.length_scale(k);
                let column = &mut slopes.col_as_slice_mut(k)[start..start + n];
                column.iter_mut().zip(&block.sums[k * lanes..]).for_each(|(out, sum)| *out = sum * factor);
            }
            start += n;
        }
        true
    }
}

/// What is needed for some points at once.
struct Block<'a> {
    z: &'a Scaled,
    weights: &'a [f64],
    /// k and s² h of all z, for each the lanes [m, lanes].
    k: Vec<f64>,
    h: Vec<f64>,
    /// Σⱼ wⱼ s² h (xₖ - zⱼₖ) of each input the lanes [d, lanes].
    sums: Vec<f64>,
}

impl Block<'_> {
    fn add(
        &mut self,
        curve: Curve,
        signal_var: f64,
        points: &[f64],
        lanes: usize,
        values: &mut [f64; LANES],
    ) {
        self.k.resize(lanes * self.z.len(), 0.0);
        self.h.resize(lanes * self.z.len(), 0.0);
        self.sums.clear();
        self.sums.resize(points.len(), 0.0);
        squares(points, self.z, lanes, &mut self.k);
        curve.values_and_slopes(signal_var, &mut self.k, &mut self.h);
        sum(points, self.z, self.weights, lanes, (&self.k, &self.h), values, &mut self.sums);
    }
}

vectorised! {
    /// |xᵢ - zⱼ|², for each z the lanes.
    fn squares(points: &[f64], z: &Scaled, lanes: usize, out: &mut [f64]) {
        match lanes {
            1 => squares_of::<1>(points, z, out),
            2 => squares_of::<2>(points, z, out),
            4 => squares_of::<4>(points, z, out),
            _ => squares_of::<LANES>(points, z, out),
        }
    }
}

#[inline(always)]
fn squares_of<const N: usize>(points: &[f64], z: &Scaled, out: &mut [f64]) {
    let points = points.as_chunks::<N>().0;
    for (j, out) in out.as_chunks_mut::<N>().0.iter_mut().enumerate() {
        let mut squares = [0.0; N];
        for (k, x) in points.iter().enumerate() {
            let z = z.input(k)[j];
            for i in 0..N {
                let difference = x[i] - z;
                squares[i] = difference.mul_add(difference, squares[i]);
            }
        }
        *out = squares;
    }
}

vectorised! {
    /// `values[i] += Σⱼ wⱼ kᵢⱼ` and `sums[k][i] += Σⱼ wⱼ hᵢⱼ (xᵢₖ - zⱼₖ)`, one j after the other.
    fn sum(
        points: &[f64],
        z: &Scaled,
        weights: &[f64],
        lanes: usize,
        kernel: (&[f64], &[f64]),
        values: &mut [f64; LANES],
        sums: &mut [f64],
    ) {
        match lanes {
            1 => sum_of::<1>(points, z, weights, kernel, values, sums),
            2 => sum_of::<2>(points, z, weights, kernel, values, sums),
            4 => sum_of::<4>(points, z, weights, kernel, values, sums),
            _ => sum_of::<LANES>(points, z, weights, kernel, values, sums),
        }
    }
}

#[inline(always)]
fn sum_of<const N: usize>(
    points: &[f64],
    z: &Scaled,
    weights: &[f64],
    (k, h): (&[f64], &[f64]),
    values: &mut [f64; LANES],
    sums: &mut [f64],
) {
    let (points, sums) = (points.as_chunks::<N>().0, sums.as_chunks_mut::<N>().0);
    let (kernels, slopes) = (k.as_chunks::<N>().0, h.as_chunks::<N>().0);
    for (j, ((kernel, slope), weight)) in kernels.iter().zip(slopes).zip(weights).enumerate() {
        for i in 0..N {
            values[i] = kernel[i].mul_add(*weight, values[i]);
        }
        let weighted: [f64; N] = std::array::from_fn(|i| slope[i] * weight);
        for (k, (x, sums)) in points.iter().zip(sums.iter_mut()).enumerate() {
            let z = z.input(k)[j];
            for i in 0..N {
                sums[i] = (x[i] - z).mul_add(weighted[i], sums[i]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::reduce::add_scaled;
    use crate::rng::Stream;
    use crate::surrogate::kernel::Shape;

    #[test]
    fn sums_have_the_bits_of_those_made_of_matrices() {
        let mut stream = Stream::new(7, "weighted sums", 0);
        let d = 5;
        let mut draw = |n: usize| Mat::from_fn(n, d, |_, _| stream.uniform());
        for shape in Shape::ALL.into_iter().filter(|shape| !shape.is_sum()) {
            for (b, m) in [(1, 40), (2, 40), (3, 7), (4, 40), (7, 1), (8, 40), (9, 40), (30, 61)] {
                let lengths = (0..d).map(|k| 0.3 + 0.2 * k as f64).collect();
                let kernel = Kernel::new(shape, lengths, 1.7, d).unwrap();
                let (x, z, origin) = (draw(b), draw(m), vec![0.4; d]);
                let x = Scaled::new(&kernel, x.as_ref(), &origin);
                let z = Scaled::new(&kernel, z.as_ref(), &origin);
                let weights: Vec<f64> = (0..m).map(|j| (j as f64 - 3.0) * 0.37).collect();

                let (mut values, mut slopes) = (vec![0.6; b], Mat::zeros(b, d));
                assert!(kernel.add_weighted(&x, &z, &weights, &mut values, &mut slopes));

                let (mut k, mut h, mut expected_slopes) =
                    (Mat::zeros(b, m), Mat::zeros(b, m), Mat::zeros(b, d));
                kernel.fill_with_slope(&x, &z, &mut k, &mut h);
                let mut expected = vec![0.6; b];
                (0..m).for_each(|j| add_scaled(weights[j], k.col_as_slice(j), &mut expected));
                let all = Mat::from_fn(b, m, |_, j| weights[j]);
                kernel.input_gradient(&x, &z, &all, &mut h, &mut expected_slopes);
                assert_eq!(values, expected, "{shape:?}, {b} points, {m} others");
                assert_eq!(slopes, expected_slopes, "{shape:?}, {b} points, {m} others");
            }
        }
    }
}
