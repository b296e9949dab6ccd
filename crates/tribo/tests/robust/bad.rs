//! Bad input.

use super::support::cases::unit_points;
use super::support::models::{SPARSE, exact_gp, hyperparameters, posteriors, sparse_gp, with_model};
use super::{draws, row};
use faer::Mat;
use proptest::prelude::*;
use tribo::design::{latin_hypercube, sobol, uniform};
use tribo::error::{Error, Result};
use tribo::rng::Stream;
use tribo::surrogate::data::Data;
use tribo::surrogate::exact::ExactPosterior;
use tribo::surrogate::hyper::{Hyperparameters, Mean};
use tribo::surrogate::inducing::{Inducing, choose};
use tribo::surrogate::kernel::{Kernel, Shape, Terms};
use tribo::surrogate::sparse::{Groups, Model, Objective};
use tribo::surrogate::train::Training;
use tribo::surrogate::watch::Unwatched;

/// A matrix of random size with one bad entry: (matrix, row, column, entry).
fn one_bad_entry() -> impl Strategy<Value = (Mat<f64>, usize, usize, f64)> {
    let bad = prop::sample::select(vec![f64::NAN, f64::INFINITY, f64::NEG_INFINITY]);
    (1_usize..9, 1_usize..5).prop_flat_map(move |(n, d)| (Just((n, d)), 0..n, 0..d, bad.clone())).prop_map(
        |((n, d), row, column, bad)| {
            let mut x = unit_points(n, d, 30);
            x[(row, column)] = bad;
            (x, row, column, bad)
        },
    )
}

/// Whether `error` names that entry of that array.
fn names(error: Option<Error>, array: &str, place: (usize, usize), entry: f64) -> bool {
    matches!(error, Some(Error::NotFinite { what, row, column, value })
        if what == array && (row, column) == place && value.to_bits() == entry.to_bits())
}

/// Whether `error` says which size was needed and which was found.
fn says_sizes(error: Option<Error>, needed: usize, given: usize) -> bool {
    matches!(error, Some(Error::Size { expected, found, .. }) if (expected, found) == (needed, given))
}

proptest! {
    #![proptest_config(draws(64))]

    #[test]
    fn bad_numbers_are_refused_by_name_and_place((bad, i, k, entry) in one_bad_entry()) {
        let (n, d) = (bad.nrows(), bad.ncols());
        let good = unit_points(n, d, 31);
        let y = vec![1.0; n];
        prop_assert!(names(Data::new(bad.as_ref(), &y).err(), "X", (i, k), entry));
        let mut bad_y = y.clone();
        bad_y[i] = entry;
        prop_assert!(names(Data::new(good.as_ref(), &bad_y).err(), "y", (i, 0), entry));

        let data = Data::new(good.as_ref(), &y).unwrap();
        let hyper = hyperparameters(&data, Shape::Matern52, 1e-3);
        for approximation in SPARSE {
            let kind = (approximation, Objective::Marginal);
            let error = with_model(data, bad.as_ref(), kind, Mean::Estimated, |_| Ok(())).err();
            prop_assert!(names(error, "inducing points", (i, k), entry));
        }
        for named in posteriors(data, good.as_ref(), &hyper, Mean::Estimated) {
            let mut posterior = named.posterior;
            let before = posterior.predict(good.as_ref()).unwrap();
            prop_assert!(names(posterior.predict(bad.as_ref()).err(), "query points", (i, k), entry));
            prop_assert!(names(posterior.hallucinate(bad.as_ref()).err(), "query points", (i, k), entry));
            let error = posterior.observe(&row(bad.as_ref(), i), 1.0).err();
            prop_assert!(names(error, "query points", (0, k), entry));
            let error = posterior.observe(&row(good.as_ref(), i), entry).err();
            prop_assert!(names(error, "y", (0, 0), entry));
            // What was refused has left no trace.
            prop_assert_eq!(posterior.n_observations(), n);
            prop_assert_eq!(posterior.predict(good.as_ref()).unwrap(), before);
        }
    }

    #[test]
    fn sizes_that_do_not_fit_are_refused(n in 1_usize..7, d in 1_usize..5, other in 0_usize..7) {
        let (x, y) = (unit_points(n, d, 32), vec![1.0; n]);
        if other != n {
            let error = Data::new(x.as_ref(), &vec![1.0; other]).err();
            prop_assert!(says_sizes(error, n, other));
        }
        let data = Data::new(x.as_ref(), &y).unwrap();
        let hyper = hyperparameters(&data, Shape::Matern52, 1e-3);
        for approximation in SPARSE {
            let kind = (approximation, Objective::Bound);
            let refusal = |inducing: Mat<f64>| {
                with_model(data, inducing.as_ref(), kind, Mean::Estimated, |_| Ok(())).err()
            };
            prop_assert_eq!(refusal(Mat::zeros(0, d)), Some(Error::Empty { what: "inducing points" }));
            if other > 0 && other != d {
                let error = refusal(Mat::zeros(4, other));
                prop_assert!(says_sizes(error, d, other));
            }
        }
        for named in posteriors(data, x.as_ref(), &hyper, Mean::Estimated) {
            let mut posterior = named.posterior;
            if other != d {
                let error = posterior.observe(&vec![0.5; other], 1.0).err();
                prop_assert!(says_sizes(error, d, other));
            }
            prop_assert_eq!(posterior.n_observations(), n);
        }
    }

    #[test]
    fn boxes_without_width_are_refused(d in 1_usize..6, side in 0_usize..6, width in prop::sample::select(vec![0.0, -0.5, -1e9])) {
        let side = side % d;
        let low: Vec<f64> = (0..d).map(|k| k as f64).collect();
        let mut high: Vec<f64> = low.iter().map(|low| low + 1.0).collect();
        high[side] = low[side] + width;
        let expected = Error::EmptyBox { what: "the design's box", index: side, low: low[side], high: high[side] };
        for design in [latin_hypercube, uniform, sobol] {
            let stream = &mut Stream::new(1, "designs", 0);
            prop_assert_eq!(design(4, &low, &high, stream).err(), Some(expected.clone()));
        }
    }
}

#[test]
fn designs_refuse_what_cannot_be_filled() {
    for design in [latin_hypercube, uniform, sobol] {
        let stream = &mut Stream::new(1, "designs", 0);
        assert!(matches!(design(0, &[0.0], &[1.0], stream), Err(Error::Empty { .. })));
        assert!(matches!(design(3, &[], &[], stream), Err(Error::Empty { .. })));
        assert!(matches!(
            design(3, &[0.0; 2], &[1.0; 3], stream),
            Err(Error::Size { expected: 2, found: 3, .. })
        ));
        for bad in [f64::NAN, f64::INFINITY] {
            let error = design(3, &[0.0; 2], &[1.0, bad], stream).unwrap_err();
            assert!(matches!(error, Error::NotFinite { column: 1, .. }), "{error}");
        }
        // The narrowest box there is.
        let (low, high) = (1e9, 1e9_f64.next_up());
        let points = design(8, &[low], &[high], stream).unwrap();
        assert!(points.col_as_slice(0).iter().all(|x| (low..=high).contains(x)));
    }
}

#[test]
fn bad_hyperparameters_are_refused_when_made() {
    for bad in [0.0, -0.0, -1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e-200, 1e200] {
        let same = |value: f64| value.to_bits() == bad.to_bits();
        let kernel = |lengths: Vec<f64>, signal_var| Kernel::new(Shape::Matern52, lengths, signal_var, 2);
        let length = kernel(vec![1.0, bad], 1.0).unwrap_err();
        assert!(matches!(length, Error::OutOfRange { what: "length scale", value, .. } if same(value)));
        let signal = kernel(vec![1.0], bad).unwrap_err();
        assert!(matches!(signal, Error::OutOfRange { what: "signal variance", value, .. } if same(value)));
        let noise = Hyperparameters::new(kernel(vec![1.0], 1.0).unwrap(), bad).unwrap_err();
        assert!(matches!(noise, Error::OutOfRange { what: "noise variance", value, .. } if same(value)));
    }
    for count in [0, 2, 4] {
        let error = Kernel::new(Shape::Matern52, vec![1.0; count], 1.0, 3).unwrap_err();
        assert!(matches!(error, Error::Size { expected: 3, found, .. } if found == count));
    }
}

/// Errors of all ways to use hyper-parameters or a mean on data of three inputs.
fn every_use(hyper: &Hyperparameters, mean: Mean) -> Vec<Error> {
    let (x, y) = (unit_points(6, 3, 40), vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let data = Data::new(x.as_ref(), &y).expect("data");
    let mut errors = vec![ExactPosterior::new(&data, hyper, mean).err()];
    for approximation in SPARSE {
        let kind = (approximation, Objective::Marginal);
        let of_model = |with: &dyn Fn(&Model<'_>) -> Result<()>| {
            with_model(data, x.as_ref(), kind, mean, |model| with(model)).err()
        };
        errors.push(of_model(&|model| model.posterior(hyper, &Unwatched).map(drop)));
        errors.push(of_model(&|model| model.evidence_gradient(hyper, &Unwatched).map(drop)));
    }
    errors.into_iter().map(|error| error.expect("an error")).collect()
}

#[test]
fn bad_hyperparameters_are_refused_when_used() {
    // The fields are public, so a caller can get past the constructors.
    let good = Hyperparameters {
        kernel: Kernel {
            shape: Shape::Matern52,
            length_scales: vec![1.0; 3],
            signal_var: 1.0,
            terms: Terms::default(),
        },
        noise_var: 0.1,
    };
    for count in [0, 2, 4] {
        let mut hyper = good.clone();
        hyper.kernel.length_scales = vec![1.0; count];
        for error in every_use(&hyper, Mean::Estimated) {
            assert!(matches!(error, Error::Size { expected: 3, found, .. } if found == count), "{error}");
        }
    }
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let [mut length, mut signal, mut noise] = [good.clone(), good.clone(), good.clone()];
        length.kernel.length_scales[1] = bad;
        signal.kernel.signal_var = bad;
        noise.noise_var = bad;
        for (name, hyper) in
            [("length scale", length), ("signal variance", signal), ("noise variance", noise)]
        {
            for error in every_use(&hyper, Mean::Estimated) {
                let right = matches!(error, Error::OutOfRange { what, value, .. }
                    if what == name && value.to_bits() == bad.to_bits());
                assert!(right, "{name} {bad}: {error}");
            }
        }
    }
    for bad in [f64::NAN, f64::INFINITY, -1e300] {
        for error in every_use(&good, Mean::Fixed(bad)) {
            assert!(matches!(error, Error::OutOfRange { what: "mean", .. }), "{error}");
        }
    }
}

#[test]
fn groups_must_hold_every_point_once() {
    let (x, y) = (unit_points(5, 2, 41), vec![1.0; 5]);
    let data = Data::new(x.as_ref(), &y).unwrap();
    let from = |order: &[usize], ends: &[usize]| Groups::from_order(&data, order, ends.to_vec()).err();
    assert_eq!(from(&[4, 2, 0, 1, 3], &[2, 5]), None);
    for (order, ends) in [
        (vec![0, 1, 2, 3, 5], vec![5]),
        (vec![0, 1, 2, 3, 3], vec![5]),
        (vec![0, 1, 2, 3, usize::MAX], vec![5]),
        (vec![0, 1, 2, 3, 4], vec![]),
        (vec![0, 1, 2, 3, 4], vec![2, 2, 5]),
        (vec![0, 1, 2, 3, 4], vec![3, 2, 5]),
        (vec![0, 1, 2, 3, 4], vec![0, 5]),
        (vec![0, 1, 2, 3, 4], vec![4]),
        (vec![0, 1, 2, 3, 4], vec![6]),
    ] {
        assert!(from(&order, &ends).is_some(), "{order:?} {ends:?}");
    }
    let short = from(&[0, 1, 2, 3], &[5]).unwrap();
    assert!(matches!(short, Error::Size { expected: 5, found: 4, .. }), "{short}");
}

/// Finite, and too large to be squared.
const TOO_LARGE: f64 = -1e200;

#[test]
fn numbers_too_large_to_square_are_refused() {
    let (x, y) = (unit_points(5, 2, 42), vec![1.0, 2.0, 3.0, 4.0, 5.0]);
    let data = Data::new(x.as_ref(), &y).unwrap();
    let mut large = x.clone();
    large[(3, 1)] = TOO_LARGE;
    let refused = |error: Option<Error>, name: &str| {
        let right = matches!(error, Some(Error::OutOfRange { what, value: TOO_LARGE, .. }) if what == name);
        assert!(right, "{name}: {error:?}");
    };
    refused(Data::new(large.as_ref(), &y).err(), "X");
    refused(Data::new(x.as_ref(), &[1.0, 2.0, TOO_LARGE, 4.0, 5.0]).err(), "y");
    let hyper = hyperparameters(&data, Shape::Matern52, 1e-3);
    for named in posteriors(data, x.as_ref(), &hyper, Mean::Estimated) {
        let mut posterior = named.posterior;
        refused(posterior.predict(large.as_ref()).err(), "query points");
        refused(posterior.observe(&[0.3, TOO_LARGE], 1.0).err(), "query points");
        refused(posterior.observe(&[0.3, 0.4], TOO_LARGE).err(), "y");
        assert_eq!(posterior.n_observations(), 5, "{}", named.name);
        // Large but not too large.
        posterior.observe(&[0.3, 0.4], 1e69).unwrap();
        let prediction = posterior.predict(x.as_ref()).unwrap();
        assert!(prediction.mean.iter().all(|mean| mean.is_finite()), "{}", named.name);
    }
    for approximation in SPARSE {
        let kind = (approximation, Objective::Marginal);
        refused(with_model(data, large.as_ref(), kind, Mean::Estimated, |_| Ok(())).err(), "inducing points");
    }
}

#[test]
fn messages_fit_a_line() {
    let error =
        Hyperparameters::new(Kernel::new(Shape::Matern52, vec![1.0], 1.0, 2).unwrap(), -1.0).unwrap_err();
    assert_eq!(error.to_string(), "noise variance is -1.0; it must lie in [1e-150, 1e150]");
}

/// Errors of fitting an exact process and sparse ones of every kind, changed by `change`.
fn fit_errors(x: &Mat<f64>, y: &[f64], change: impl Fn(&mut Training)) -> Vec<Error> {
    let mut errors = Vec::new();
    let mut training = Training::default();
    change(&mut training);
    let exact = exact_gp(training.clone());
    errors.push(exact.fit(x.as_ref(), y, &Unwatched).map(drop).expect_err("exact"));
    for approximation in SPARSE {
        let gp = sparse_gp((approximation, Objective::Bound), Inducing::Greedy, 4, training.clone());
        errors.push(gp.fit(x.as_ref(), y, &Unwatched).map(drop).expect_err("sparse"));
    }
    errors
}

#[test]
fn training_refuses_bad_data_and_bad_wishes() {
    let (x, y) = (unit_points(6, 2, 50), vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let mut bad = x.clone();
    bad[(4, 1)] = f64::NAN;
    for error in fit_errors(&bad, &y, |_| {}) {
        assert!(names(Some(error.clone()), "X", (4, 1), f64::NAN), "{error}");
    }
    for error in fit_errors(&x, &[1.0, 2.0, f64::INFINITY, 4.0, 5.0, 6.0], |_| {}) {
        assert!(names(Some(error.clone()), "y", (2, 0), f64::INFINITY), "{error}");
    }
    for error in fit_errors(&x, &y[..5], |_| {}) {
        assert!(says_sizes(Some(error.clone()), 6, 5), "{error}");
    }
    for error in fit_errors(&Mat::zeros(0, 2), &[], |_| {}) {
        assert_eq!(error, Error::Empty { what: "X" });
    }
    for error in fit_errors(&x, &y, |training| training.ranges.noise_var = (1.0, 1e-8)) {
        assert!(matches!(error, Error::EmptyBox { index: 2, .. }), "{error}");
    }
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        for error in fit_errors(&x, &y, |training| training.ranges.length_scale.0 = bad) {
            assert!(matches!(error, Error::OutOfRange { .. }), "{error}");
        }
        let start = Hyperparameters {
            kernel: Kernel {
                shape: Shape::Matern52,
                length_scales: vec![1.0; 2],
                signal_var: bad,
                terms: Terms::default(),
            },
            noise_var: 1.0,
        };
        for error in fit_errors(&x, &y, |training| training.starts = vec![start.clone()]) {
            assert!(matches!(error, Error::OutOfRange { what: "signal variance", .. }), "{error}");
        }
    }
}

#[test]
fn training_refuses_inducing_points_it_cannot_have() {
    let (x, y) = (unit_points(6, 2, 51), vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let boxed =
        |low: &[f64], high: &[f64]| Inducing::LatinHypercube { low: low.to_vec(), high: high.to_vec() };
    for approximation in SPARSE {
        let refusal = |how: Inducing, m: usize| {
            let gp = sparse_gp((approximation, Objective::Marginal), how, m, Training::default());
            gp.fit(x.as_ref(), &y, &Unwatched).map(drop).expect_err("sparse")
        };
        for how in [boxed(&[0.0; 2], &[1.0; 2]), Inducing::Subset, Inducing::Greedy] {
            let error = refusal(how, 0);
            assert!(matches!(error, Error::OutOfRange { what: "number of inducing points", .. }), "{error}");
        }
        let flat = refusal(boxed(&[0.0, 1.0], &[1.0, 1.0]), 3);
        assert!(matches!(flat, Error::EmptyBox { index: 1, .. }), "{flat}");
        assert!(says_sizes(Some(refusal(boxed(&[0.0; 3], &[1.0; 3]), 3)), 2, 3));
        assert!(says_sizes(Some(refusal(boxed(&[0.0; 2], &[1.0; 3]), 3)), 2, 3));
    }
    let kernel = Kernel {
        shape: Shape::Matern52,
        length_scales: vec![1.0; 3],
        signal_var: 1.0,
        terms: Terms::default(),
    };
    let error =
        choose(&Inducing::Greedy, x.as_ref(), 3, &kernel, &mut Stream::new(1, "choose", 0), &Unwatched).err();
    assert!(says_sizes(error, 2, 3));
}
