//! Identities of the kernels: symmetry, unit diagonal, positive semidefiniteness, derivatives by differences.

use super::*;
use crate::linalg::cholesky::{Factor, JITTER_ALWAYS};
use crate::rng::Stream;
use faer::Mat;

const SEED: u64 = 20_240_611;

fn points(n: usize, d: usize, id: u64) -> Mat<f64> {
    let mut stream = Stream::new(SEED, "kernel tests", id);
    Mat::from_fn(n, d, |_, _| stream.uniform())
}

fn kernels(d: usize) -> Vec<Kernel> {
    let ard: Vec<f64> = (0..d).map(|k| 0.3 + 0.4 * k as f64).collect();
    let mut all = Vec::new();
    for shape in Shape::ALL {
        all.push(Kernel::new(shape, vec![0.7], 1.9, d).unwrap());
        all.push(Kernel::new(shape, ard.clone(), 1.9, d).unwrap());
    }
    all
}

fn matrix(kernel: &Kernel, x: &Mat<f64>, z: &Mat<f64>) -> Mat<f64> {
    let origin = vec![0.25; x.ncols()];
    kernel.matrix(&Scaled::new(kernel, x.as_ref(), &origin), &Scaled::new(kernel, z.as_ref(), &origin))
}

#[test]
fn matrices_are_symmetric_positive_with_the_signal_on_the_diagonal() {
    let x = points(40, 3, 1);
    for kernel in kernels(3) {
        let k = matrix(&kernel, &x, &x);
        for i in 0..40 {
            assert_eq!(k[(i, i)], kernel.signal_var);
            for j in 0..40 {
                assert_eq!(k[(i, j)], k[(j, i)]);
                assert!(k[(i, j)] > 0.0 && k[(i, j)] <= kernel.signal_var);
            }
        }
        assert!(Factor::new("K", k.as_ref(), &JITTER_ALWAYS[..1]).is_ok(), "seed {SEED}, {kernel:?}");
    }
}

#[test]
fn values_are_those_of_the_textbook() {
    let x = Mat::from_fn(1, 1, |_, _| 0.0);
    let z = Mat::from_fn(1, 1, |_, _| 1.3);
    let (l, s2) = (0.8, 2.5);
    let r: f64 = 1.3 / l;
    let expected = [
        (-r).exp(),
        (1.0 + 3_f64.sqrt() * r) * (-(3_f64.sqrt()) * r).exp(),
        (1.0 + 5_f64.sqrt() * r + 5.0 * r * r / 3.0) * (-(5_f64.sqrt()) * r).exp(),
        (-r * r / 2.0).exp(),
    ];
    for (shape, g) in Shape::ALL.into_iter().zip(expected) {
        let kernel = Kernel::new(shape, vec![l], s2, 1).unwrap();
        assert!((matrix(&kernel, &x, &z)[(0, 0)] - s2 * g).abs() < 1e-15 * s2);
    }
}

#[test]
fn far_from_the_origin_nothing_is_lost() {
    let x = points(10, 2, 2);
    let far = Mat::from_fn(10, 2, |i, k| x[(i, k)] + 1e9);
    // What is left of x after the addition is what the kernel can know.
    let seen = Mat::from_fn(10, 2, |i, k| far[(i, k)] - 1e9);
    for kernel in kernels(2) {
        let origin = [1e9, 1e9];
        let scaled = Scaled::new(&kernel, far.as_ref(), &origin);
        let (k_far, k) = (kernel.matrix(&scaled, &scaled), matrix(&kernel, &seen, &seen));
        for i in 0..10 {
            for j in 0..10 {
                assert!((k_far[(i, j)] - k[(i, j)]).abs() < 1e-13);
            }
        }
    }
}

#[test]
fn length_scale_gradient_agrees_with_differences() {
    let (x, z) = (points(19, 3, 3), points(7, 3, 4));
    let weights = points(19, 7, 5);
    let origin = [0.0; 3];
    let weighted_sum = |kernel: &Kernel| {
        let k = kernel
            .matrix(&Scaled::new(kernel, x.as_ref(), &origin), &Scaled::new(kernel, z.as_ref(), &origin));
        let mut sum = 0.0;
        for j in 0..7 {
            sum += dot(k.col_as_slice(j), weights.col_as_slice(j));
        }
        sum
    };
    for kernel in kernels(3) {
        let scaled_x = Scaled::new(&kernel, x.as_ref(), &origin);
        let scaled_z = Scaled::new(&kernel, z.as_ref(), &origin);
        let (mut k, mut slopes) = (Mat::zeros(19, 7), Mat::zeros(19, 7));
        kernel.fill_with_slope(&scaled_x, &scaled_z, &mut k, &mut slopes);
        let mut gradient = vec![0.0; kernel.length_scales.len()];
        kernel.add_length_scale_gradient(&scaled_x, &scaled_z, &weights, &mut slopes, &mut gradient);
        for p in 0..gradient.len() {
            let step: f64 = 1e-5;
            let moved = |sign: f64| {
                let mut other = kernel.clone();
                other.length_scales[p] *= (sign * step).exp();
                weighted_sum(&other)
            };
            let difference = (moved(1.0) - moved(-1.0)) / (2.0 * step);
            assert!(
                (gradient[p] - difference).abs() < 1e-7 * (1.0 + difference.abs()),
                "seed {SEED}, {kernel:?}: {} against {difference}",
                gradient[p]
            );
        }
    }
}

#[test]
fn input_gradient_agrees_with_differences() {
    let (x, z) = (points(9, 3, 6), points(6, 3, 7));
    let weights = points(9, 6, 8);
    for kernel in kernels(3) {
        let origin = [0.0; 3];
        let scaled_x = Scaled::new(&kernel, x.as_ref(), &origin);
        let scaled_z = Scaled::new(&kernel, z.as_ref(), &origin);
        let (mut k, mut slopes) = (Mat::zeros(9, 6), Mat::zeros(9, 6));
        kernel.fill_with_slope(&scaled_x, &scaled_z, &mut k, &mut slopes);
        for j in 0..6 {
            multiply(slopes.col_as_slice_mut(j), weights.col_as_slice(j));
        }
        let mut gradient = Mat::zeros(9, 3);
        kernel.input_gradient(&scaled_x, &scaled_z, &slopes, &mut gradient);
        for axis in 0..3 {
            let step = 1e-6;
            let moved = |sign: f64| {
                let y = Mat::from_fn(9, 3, |i, k| x[(i, k)] + if k == axis { sign * step } else { 0.0 });
                matrix(&kernel, &y, &z)
            };
            let (up, down) = (moved(1.0), moved(-1.0));
            for i in 0..9 {
                let difference: f64 =
                    (0..6).map(|j| weights[(i, j)] * (up[(i, j)] - down[(i, j)]) / (2.0 * step)).sum();
                assert!(
                    (gradient[(i, axis)] - difference).abs() < 1e-6 * (1.0 + difference.abs()),
                    "seed {SEED}"
                );
            }
        }
    }
}

#[test]
fn coincident_points_give_finite_derivatives() {
    let x = points(5, 2, 9);
    for kernel in kernels(2) {
        let scaled = Scaled::new(&kernel, x.as_ref(), &[0.0, 0.0]);
        let (mut k, mut slopes) = (Mat::zeros(5, 5), Mat::zeros(5, 5));
        kernel.fill_with_slope(&scaled, &scaled, &mut k, &mut slopes);
        let mut gradient = Mat::zeros(5, 2);
        kernel.input_gradient(&scaled, &scaled, &slopes, &mut gradient);
        let ones = Mat::full(5, 5, 1.0);
        let mut lengths = vec![0.0; kernel.length_scales.len()];
        kernel.add_length_scale_gradient(&scaled, &scaled, &ones, &mut slopes, &mut lengths);
        assert!(lengths.iter().all(|v| v.is_finite()));
        assert!((0..5).all(|i| (0..2).all(|k| gradient[(i, k)].is_finite())));
    }
}

#[test]
fn bad_hyper_parameters_are_refused() {
    let make = |lengths: Vec<f64>, s2| Kernel::new(Shape::Matern52, lengths, s2, 2);
    assert!(matches!(make(vec![1.0; 3], 1.0), Err(Error::Size { expected: 2, found: 3, .. })));
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(make(vec![1.0, bad], 1.0), Err(Error::OutOfRange { what: "length scale", .. })));
        assert!(matches!(make(vec![1.0], bad), Err(Error::OutOfRange { what: "signal variance", .. })));
    }
}
