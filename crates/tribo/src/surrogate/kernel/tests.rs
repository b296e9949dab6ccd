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
    let names = [
        "matern12+additive",
        "matern32+additive",
        "matern52+additive",
        "se+additive",
        "matern32+pairs",
        "matern52+constant",
        "matern32+linear",
        "se+additive+pairs+constant+linear",
    ];
    for name in names {
        let shape = Shape::from_name(name).unwrap();
        all.push(Kernel::sum(shape, ard.clone(), terms(shape.parts(), d), 1.9, d).unwrap());
    }
    all
}

fn terms(parts: Parts, d: usize) -> Terms {
    let each = |is_there: bool, value: fn(f64) -> f64| {
        (0..if is_there { d } else { 0 }).map(|k| value(k as f64)).collect()
    };
    Terms {
        length_scales: each(parts.additive || parts.pairs, |k| 0.9 - 0.25 * k),
        weights: each(parts.additive, |k| 0.2 + 0.6 * k),
        pairs: parts.pairs.then_some(0.8),
        constant: parts.constant.then_some(0.4),
        slopes: each(parts.linear, |k| 0.5 + 0.3 * k),
        centre: each(parts.linear, |k| 0.4 + 0.1 * k),
    }
}

fn matrix(kernel: &Kernel, x: &Mat<f64>, z: &Mat<f64>) -> Mat<f64> {
    let origin = vec![0.25; x.ncols()];
    kernel.matrix(&Scaled::new(kernel, x.as_ref(), &origin), &Scaled::new(kernel, z.as_ref(), &origin))
}

#[test]
fn matrices_are_symmetric_positive_and_have_their_diagonal() {
    let x = points(40, 3, 1);
    for kernel in kernels(3) {
        let k = matrix(&kernel, &x, &x);
        let diagonal = kernel.diagonal(&Scaled::new(&kernel, x.as_ref(), &[0.25; 3]));
        for i in 0..40 {
            // The shares of a sum add up to one but for rounding.
            let allowance = if kernel.shape.is_sum() { 8.0 * f64::EPSILON * diagonal[i] } else { 0.0 };
            assert!((k[(i, i)] - diagonal[i]).abs() <= allowance, "{kernel:?}");
            assert!(kernel.shape.parts().linear || diagonal[i] == kernel.signal_var);
            for j in 0..40 {
                assert_eq!(k[(i, j)], k[(j, i)]);
                assert!(k[(i, j)].powi(2) <= diagonal[i] * diagonal[j] * (1.0 + 1e-14), "{kernel:?}");
            }
        }
        assert!(Factor::new("K", k.as_ref(), &JITTER_ALWAYS[..1]).is_ok(), "seed {SEED}, {kernel:?}");
    }
}

#[test]
fn every_term_alone_is_positive_semidefinite() {
    // Weights so large that nothing else shows; xᵀKx of random x, which a wrong sign would make negative.
    let x = points(30, 3, 21);
    let mut stream = Stream::new(SEED, "kernel tests", 22);
    for name in ["matern32+additive", "se+pairs", "matern12+pairs", "matern52+constant", "se+linear"] {
        let shape = Shape::from_name(name).unwrap();
        let mut terms = terms(shape.parts(), 3);
        terms.weights.iter_mut().chain(&mut terms.pairs).chain(&mut terms.constant).for_each(|w| *w *= 1e6);
        terms.slopes.iter_mut().for_each(|v| *v *= 1e6);
        let k = matrix(&Kernel::sum(shape, vec![0.3; 3], terms, 1.0, 3).unwrap(), &x, &x);
        let scale = (0..30).map(|i| k[(i, i)]).sum::<f64>();
        for _ in 0..200 {
            let v: Vec<f64> = (0..30).map(|_| stream.normal()).collect();
            let form: f64 = (0..30).map(|j| v[j] * (0..30).map(|i| v[i] * k[(i, j)]).sum::<f64>()).sum();
            assert!(form > -1e-12 * scale, "seed {SEED}, {name}: {form}");
        }
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
fn a_sum_is_that_of_the_textbook_kernels() {
    let (x, z) = (points(30, 3, 11), points(6, 3, 12));
    for single in Shape::ALL {
        let parts = Parts { additive: true, pairs: true, constant: true, linear: true };
        let terms = Terms {
            length_scales: vec![0.2, 3.0, 0.9],
            weights: vec![0.5, 2.5, 1.0],
            pairs: Some(6.0),
            constant: Some(5.0),
            slopes: vec![0.3, 0.0625, 1.5],
            centre: vec![0.5, -1.0, 2.0],
        };
        // 1 + 0.5 + 2.5 + 1 + 6 + 5 parts of 8 are 0.5, 0.25, 1.25, 0.5, 3 and 2.5.
        let sum = Kernel::sum(Shape::new(single.curve(), parts), vec![0.7, 1.4, 0.3], terms, 8.0, 3).unwrap();
        let joint = matrix(&Kernel::new(single, vec![0.7, 1.4, 0.3], 0.5, 3).unwrap(), &x, &z);
        let column = |of: &Mat<f64>, k: usize| Mat::from_fn(of.nrows(), 1, |i, _| of[(i, k)]);
        let alone = |k: usize, length: f64| {
            matrix(&Kernel::new(single, vec![length], 1.0, 1).unwrap(), &column(&x, k), &column(&z, k))
        };
        let [a, b, c] = [alone(0, 0.2), alone(1, 3.0), alone(2, 0.9)];
        // By columns, and by rows where there are few points.
        for n in [30, 3] {
            let part = Mat::from_fn(n, 3, |i, k| x[(i, k)]);
            let found = matrix(&sum, &part, &z);
            for i in 0..n {
                for j in 0..6 {
                    let (a, b, c) = (a[(i, j)], b[(i, j)], c[(i, j)]);
                    let linear = 0.3 * (x[(i, 0)] - 0.5) * (z[(j, 0)] - 0.5)
                        + 0.0625 * (x[(i, 1)] + 1.0) * (z[(j, 1)] + 1.0)
                        + 1.5 * (x[(i, 2)] - 2.0) * (z[(j, 2)] - 2.0);
                    let expected = joint[(i, j)]
                        + 0.25 * a
                        + 1.25 * b
                        + 0.5 * c
                        + (a * b + a * c + b * c)
                        + 2.5
                        + 8.0 * linear;
                    assert!((found[(i, j)] - expected).abs() < 1e-13 * 8.0, "seed {SEED}, {single:?}");
                }
            }
        }
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
        let mut kernel_far = kernel.clone();
        kernel_far.terms.centre.iter_mut().for_each(|centre| *centre += 1e9);
        // And what is left of the centre.
        let mut kernel = kernel;
        kernel
            .terms
            .centre
            .iter_mut()
            .zip(&kernel_far.terms.centre)
            .for_each(|(centre, far)| *centre = far - 1e9);
        let scaled = Scaled::new(&kernel_far, far.as_ref(), &origin);
        let (k_far, k) = (kernel_far.matrix(&scaled, &scaled), matrix(&kernel, &seen, &seen));
        for i in 0..10 {
            for j in 0..10 {
                assert!((k_far[(i, j)] - k[(i, j)]).abs() < 1e-13);
            }
        }
    }
}

#[test]
fn parameter_gradient_agrees_with_differences() {
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
        let mut gradient = vec![0.0; kernel.n_parameters()];
        kernel.add_parameter_gradient(&scaled_x, &scaled_z, &weights, &mut slopes, &mut gradient);
        for p in 0..gradient.len() {
            let step: f64 = 1e-5;
            let moved = |sign: f64| {
                let mut other = kernel.clone();
                let Kernel { length_scales, terms, .. } = &mut other;
                *length_scales.iter_mut().chain(terms.numbers_mut()).nth(p).unwrap() *= (sign * step).exp();
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
        let mut gradient = Mat::zeros(9, 3);
        kernel.input_gradient(&scaled_x, &scaled_z, &weights, &mut slopes, &mut gradient);
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
        let ones = Mat::full(5, 5, 1.0);
        kernel.input_gradient(&scaled, &scaled, &ones, &mut slopes.clone(), &mut gradient);
        let mut lengths = vec![0.0; kernel.n_parameters()];
        kernel.add_parameter_gradient(&scaled, &scaled, &ones, &mut slopes, &mut lengths);
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
        let shape = Shape::from_name("matern52+additive+pairs+constant+linear").unwrap();
        let good = terms(shape.parts(), 2);
        for place in 0..good.clone().numbers_mut().count() {
            let mut terms = good.clone();
            *terms.numbers_mut().nth(place).unwrap() = bad;
            let sum = Kernel::sum(shape, vec![1.0; 2], terms, 1.0, 2);
            assert!(matches!(sum, Err(Error::OutOfRange { .. })), "{place}");
        }
    }
    let shape = Shape::from_name("matern52+additive").unwrap();
    let sum = |shape: Shape, lengths, n: usize| {
        let of = if n == 0 { Parts::default() } else { Shape::from_name("se+additive").unwrap().parts() };
        Kernel::sum(shape, vec![1.0; lengths], terms(of, n.max(1)), 1.0, 2)
    };
    assert!(sum(shape, 2, 2).is_ok());
    for (shape, lengths, n) in [(shape, 1, 2), (shape, 2, 0), (shape, 2, 1), (Shape::Matern52, 2, 2)] {
        assert!(matches!(sum(shape, lengths, n), Err(Error::Size { .. })));
    }
    let pairs = Shape::from_name("se+pairs").unwrap();
    let one = Kernel::sum(pairs, vec![1.0], terms(pairs.parts(), 1), 1.0, 1);
    assert!(matches!(one, Err(Error::Size { expected: 2, found: 1, .. })));
}
