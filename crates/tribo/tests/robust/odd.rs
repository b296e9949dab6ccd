//! Odd but legal input.

use super::support::cases::{Case, odd_data, unit_points};
use super::support::conformance::{Allowance, check_posterior, check_sane, close};
use super::support::models::{SPARSE, exact_gp, hyperparameters, posteriors, sparse_gp, stacked, with_model};
use super::{draws, row};
use faer::{Mat, MatRef};
use proptest::prelude::*;
use tribo::design::{latin_hypercube, uniform};
use tribo::error::Result;
use tribo::rng::Stream;
use tribo::surrogate::data::Data;
use tribo::surrogate::exact::ExactPosterior;
use tribo::surrogate::hyper::{Hyperparameters, Mean};
use tribo::surrogate::inducing::Inducing;
use tribo::surrogate::kernel::Shape;
use tribo::surrogate::posterior::Posterior;
use tribo::surrogate::sparse::{Approximation, Groups, Model, Objective};
use tribo::surrogate::train::{Report, Training};
use tribo::surrogate::watch::Unwatched;

/// Noise variance over signal variance: almost none, and plenty.
const NOISE_RATIOS: [f64; 2] = [1e-6, 1e-2];
/// With almost no noise the mean is this close to smooth data, in prior standard deviations. The misfit is at most
/// σ √q, q the quadratic form of the likelihood, about n where the model suits the data; this allows q = 400.
const NEAR: f64 = 0.02;

/// Inducing points by name: the data; the data and more points than there are data; fewer.
fn inducing_sets(case: &Case) -> Vec<(&'static str, Mat<f64>)> {
    let (low, high) = case.bounds();
    let (n, x) = (case.x.nrows(), case.x.as_ref());
    let mut stream = Stream::new(2, "inducing points", 0);
    let spread = latin_hypercube(n + 3, &low, &high, &mut stream).expect("a box around the data");
    vec![
        ("at the data", case.x.clone()),
        ("more than data", stacked(x, spread.as_ref())),
        ("few", spread.as_ref().subrows(0, 3).to_owned()),
    ]
}

/// The data, points between them, and points one and a million widths away.
fn queries(case: &Case) -> Mat<f64> {
    let (low, high) = case.bounds();
    let d = low.len();
    let mut stream = Stream::new(3, "queries", 0);
    let inside = uniform(5, &low, &high, &mut stream).expect("a box around the data");
    let away = Mat::from_fn(2, d, |i, k| high[k] + [1.0, 1e6][i] * (high[k] - low[k]));
    stacked(stacked(case.x.as_ref(), inside.as_ref()).as_ref(), away.as_ref())
}

/// Calls `with` for every odd case, noise, set of inducing points and posterior.
fn for_all_odd(shape: Shape, mut with: impl FnMut(&Case, &Hyperparameters, Box<dyn Posterior>, bool, &str)) {
    for case in odd_data() {
        for ratio in NOISE_RATIOS {
            let hyper = hyperparameters(&case.data(), shape, ratio);
            for (set, inducing) in inducing_sets(&case) {
                for named in posteriors(case.data(), inducing.as_ref(), &hyper, Mean::Estimated) {
                    let what = format!("{}, {shape:?}, noise {ratio:e}, {set}: {}", case.name, named.name);
                    let near = case.smooth && ratio < 1e-5 && (set != "few" || named.name == "exact");
                    with(&case, &hyper, named.posterior, near, &what);
                }
            }
        }
    }
}

/// The mean goes through the data.
fn check_near(posterior: &dyn Posterior, case: &Case, hyper: &Hyperparameters, what: &str) {
    let prediction = posterior.predict(case.x.as_ref()).expect("prediction at the data");
    let allowance = NEAR * hyper.kernel.signal_var.sqrt() + Allowance::new(hyper, &prediction).mean;
    for (i, y) in case.y.iter().enumerate() {
        close(prediction.mean[i], *y, allowance, &format!("{what}: mean at data point {i}"));
    }
}

#[test]
fn odd_data_give_conforming_posteriors_near_the_data() {
    for shape in [Shape::Matern32, Shape::Matern52, Shape::SquaredExponential] {
        for_all_odd(shape, |case, hyper, posterior, near, what| {
            check_posterior(posterior.as_ref(), hyper, queries(case).as_ref(), what);
            if near {
                check_near(posterior.as_ref(), case, hyper, what);
            }
        });
    }
}

#[test]
fn odd_data_have_finite_objectives_and_gradients() {
    for case in odd_data() {
        for shape in Shape::ALL {
            for ratio in NOISE_RATIOS {
                let hyper = hyperparameters(&case.data(), shape, ratio);
                let what = format!("{}, {shape:?}, noise {ratio:e}", case.name);
                let exact = ExactPosterior::new(&case.data(), &hyper, Mean::Estimated).unwrap();
                check_finite(exact.log_evidence(), &exact.log_evidence_gradient(), &hyper, &what);
                for (set, inducing) in inducing_sets(&case) {
                    for approximation in SPARSE {
                        for objective in [Objective::Marginal, Objective::Bound] {
                            let what = format!("{what}, {set}: {approximation:?} {objective:?}");
                            let kind = (approximation, objective);
                            let of_model = |model: &Model<'_>| model.evidence_gradient(&hyper, &Unwatched);
                            let (value, gradient) =
                                with_model(case.data(), inducing.as_ref(), kind, Mean::Estimated, of_model)
                                    .unwrap_or_else(|error| panic!("{what}: {error}"));
                            check_finite(value, &gradient, &hyper, &what);
                        }
                    }
                }
            }
        }
    }
}

fn check_finite(value: f64, gradient: &[f64], hyper: &Hyperparameters, what: &str) {
    assert_eq!(gradient.len(), hyper.to_log().len(), "{what}");
    assert!(
        value.is_finite() && gradient.iter().all(|slope| slope.is_finite()),
        "{what}: {value} {gradient:?}"
    );
}

#[test]
fn odd_data_can_be_observed_and_hallucinated() {
    for_all_odd(Shape::Matern52, |case, hyper, mut posterior, near, what| {
        let queries = queries(case);
        let n = case.y.len();
        let sane = |posterior: &dyn Posterior, stage: &str| {
            let prediction = posterior.predict(queries.as_ref()).expect("prediction");
            check_sane(&prediction, queries.nrows(), hyper, &format!("{what}, {stage}"));
        };
        // All data again.
        for i in 0..n {
            posterior
                .observe(&row(case.x.as_ref(), i), case.y[i])
                .unwrap_or_else(|error| panic!("{what}: observed again: {error}"));
        }
        assert_eq!(posterior.n_observations(), 2 * n, "{what}");
        sane(posterior.as_ref(), "all data observed again");
        if near {
            check_near(posterior.as_ref(), case, hyper, &format!("{what}, all data observed again"));
        }
        // Pending at the data, between them and far away; then results there.
        let mut pending = posterior.hallucinate(queries.as_ref()).expect("pending points");
        sane(pending.as_ref(), "with pending points");
        for i in 0..queries.nrows() {
            let y = case.y[i % n];
            pending
                .observe(&row(queries.as_ref(), i), y)
                .unwrap_or_else(|error| panic!("{what}: observed after hallucinating: {error}"));
        }
        assert_eq!(pending.n_observations(), 2 * (n + queries.nrows()), "{what}");
        sane(pending.as_ref(), "observed after hallucinating");
        assert_eq!(posterior.n_observations(), 2 * n, "{what}: the original");
    });
}

#[test]
fn observing_one_by_one_equals_building_at_once() {
    for case in odd_data() {
        let (n, first) = (case.y.len(), case.y.len().div_ceil(2));
        let hyper = hyperparameters(&case.data(), Shape::Matern52, 1e-4);
        let start = Data::new(case.x.as_ref().subrows(0, first), &case.y[..first]).unwrap();
        let order: Vec<usize> = (0..n).collect();
        // A new point is a group of its own.
        let groups_start = Groups::from_order(&start, &order[..first], vec![first]).unwrap();
        let ends = std::iter::once(first).chain(first + 1..=n).collect();
        let groups_all = Groups::from_order(&case.data(), &order, ends).unwrap();
        let build = |data: Data<'_>, groups: &Groups, approximation: Option<Approximation>| {
            let inducing = case.x.as_ref();
            let (objective, mean) = (Objective::Marginal, Mean::Estimated);
            let model = match approximation {
                None => {
                    let exact = ExactPosterior::new(&data, &hyper, mean)?;
                    return Ok(Box::new(exact) as Box<dyn Posterior>);
                }
                Some(Approximation::Pitc { .. }) => Model::grouped(groups, inducing, objective, mean)?,
                Some(approximation) => Model::new(data, inducing, approximation, objective, mean)?,
            };
            Result::Ok(Box::new(model.posterior(&hyper, &Unwatched)?) as Box<dyn Posterior>)
        };
        for approximation in std::iter::once(None).chain(SPARSE.map(Some)) {
            let what = format!("{}, {approximation:?}", case.name);
            let mut grown = build(start, &groups_start, approximation).unwrap();
            for i in first..n {
                grown.observe(&row(case.x.as_ref(), i), case.y[i]).unwrap();
            }
            let whole = build(case.data(), &groups_all, approximation).unwrap();
            let queries = queries(&case);
            let (a, b) = (grown.predict(queries.as_ref()).unwrap(), whole.predict(queries.as_ref()).unwrap());
            let allowance = Allowance::new(&hyper, &b);
            for i in 0..queries.nrows() {
                // Ten: each of the n/2 steps rounds anew.
                close(a.mean[i], b.mean[i], 10.0 * allowance.mean, &format!("{what}: mean {i}"));
                close(a.var[i], b.var[i], 10.0 * allowance.var, &format!("{what}: variance {i}"));
            }
        }
    }
}

/// What training found, whatever the kind.
fn check_fit(case: &Case, posterior: &dyn Posterior, hyper: &Hyperparameters, report: &Report, what: &str) {
    assert!(report.objective.is_finite(), "{what}: {report:?}");
    let queries = queries(case);
    let prediction = posterior.predict(queries.as_ref()).expect("prediction");
    check_sane(&prediction, queries.nrows(), hyper, what);
    assert_eq!(posterior.n_observations(), case.y.len(), "{what}");
}

#[test]
fn odd_data_can_be_trained_on() {
    for case in odd_data() {
        let (low, high) = case.bounds();
        let (x, y) = (case.x.as_ref(), &case.y);
        let gp = exact_gp(Training::default());
        let (exact, report) =
            gp.fit(x, y, &Unwatched).unwrap_or_else(|error| panic!("{}: {error}", case.name));
        let what = format!("{}, exact", case.name);
        check_fit(&case, &exact, exact.hyperparameters(), &report, &what);
        // The misfit is at most σ √q with q = n at the best signal variance; the square root of n is below four.
        let prediction = exact.predict(x).unwrap();
        let hyper = exact.hyperparameters();
        let allowance = 5.0 * hyper.noise_var.sqrt() + Allowance::new(hyper, &prediction).mean;
        for i in 0..y.len() {
            close(prediction.mean[i], y[i], allowance, &format!("{what}: mean at data point {i}"));
        }
        for approximation in SPARSE {
            for objective in [Objective::Marginal, Objective::Bound] {
                let boxed = Inducing::LatinHypercube { low: low.clone(), high: high.clone() };
                for how in [boxed, Inducing::Subset, Inducing::Greedy] {
                    // Fewer and more than there are data.
                    for m in [3, 50] {
                        let what = format!("{}, {approximation:?} {objective:?} {how:?} {m}", case.name);
                        let gp = sparse_gp((approximation, objective), how.clone(), m, Training::default());
                        let (posterior, report) =
                            gp.fit(x, y, &Unwatched).unwrap_or_else(|error| panic!("{what}: {error}"));
                        assert!(posterior.n_inducing() <= m.min(y.len()), "{what}");
                        check_fit(&case, &posterior, posterior.hyperparameters(), &report, &what);
                    }
                }
            }
        }
    }
}

/// The numbers a view of the data leads to: objective, gradient and predictions, as bits.
fn bits_of(x: MatRef<'_, f64>, y: &[f64], inducing: MatRef<'_, f64>, queries: MatRef<'_, f64>) -> Vec<u64> {
    let data = Data::new(x, y).expect("data");
    let hyper = hyperparameters(&data, Shape::Matern32, 1e-3);
    let mut numbers = Vec::new();
    for named in posteriors(data, inducing, &hyper, Mean::Estimated) {
        let at = named.posterior.predict_gradient(queries).expect("gradient");
        numbers.extend(at.prediction.mean.iter().chain(&at.prediction.var));
        let pending = named.posterior.hallucinate(queries).expect("pending points");
        numbers.extend(pending.predict(queries).expect("prediction").var);
    }
    for approximation in SPARSE {
        let kind = (approximation, Objective::Marginal);
        let of_model = |model: &Model<'_>| model.evidence_gradient(&hyper, &Unwatched);
        let (value, gradient) =
            with_model(data, inducing, kind, Mean::Estimated, of_model).expect("objective");
        numbers.push(value);
        numbers.extend(gradient);
    }
    numbers.iter().map(|number| number.to_bits()).collect()
}

/// Calls `with` with the entries of `x` laid out in other ways; what lies between them is NaN.
fn with_layouts(x: &Mat<f64>, mut with: impl FnMut(&str, MatRef<'_, f64>)) {
    let (n, d) = (x.nrows(), x.ncols());
    let backwards = Mat::from_fn(n, d, |i, k| x[(n - 1 - i, d - 1 - k)]);
    with("backwards", backwards.as_ref().reverse_rows_and_cols());
    for gap in [0, 3] {
        let (mut by_row, mut by_column) = (vec![f64::NAN; n * (d + gap)], vec![f64::NAN; (n + gap) * d]);
        for i in 0..n {
            for k in 0..d {
                by_row[i * (d + gap) + k] = x[(i, k)];
                by_column[k * (n + gap) + i] = x[(i, k)];
            }
        }
        let what = format!("by row, gap {gap}");
        with(&what, MatRef::from_row_major_slice_with_stride(&by_row, n, d, d + gap));
        let what = format!("by column, gap {gap}");
        with(&what, MatRef::from_column_major_slice_with_stride(&by_column, n, d, n + gap));
    }
}

#[test]
fn the_layout_of_points_does_not_change_a_bit() {
    for case in odd_data() {
        let (_, inducing) = inducing_sets(&case).swap_remove(1);
        let queries = queries(&case);
        let (x, y) = (case.x.as_ref(), &case.y);
        let plain = bits_of(x, y, inducing.as_ref(), queries.as_ref());
        with_layouts(&case.x, |what, x| {
            let bits = bits_of(x, y, inducing.as_ref(), queries.as_ref());
            assert_eq!(bits, plain, "{}: X {what}", case.name);
        });
        with_layouts(&inducing, |what, inducing| {
            let bits = bits_of(x, y, inducing, queries.as_ref());
            assert_eq!(bits, plain, "{}: inducing points {what}", case.name);
        });
        with_layouts(&queries, |what, queries| {
            let bits = bits_of(x, y, inducing.as_ref(), queries);
            assert_eq!(bits, plain, "{}: queries {what}", case.name);
        });
    }
}

proptest! {
    #![proptest_config(draws(128))]

    #[test]
    fn random_odd_data_give_sane_posteriors(
        (n, d, m) in (1_usize..12, 1_usize..4, 1_usize..20),
        (y_scale, y_offset) in (-12_i32..=12, -6_i32..=6),
        (x_scale, x_offset) in (-9_i32..=9, -3_i32..=9),
        // A point repeats an earlier one where its number says so.
        repeats in prop::collection::vec(0_usize..20, 12),
        noise in -13_i32..=0,
        shape in prop::sample::select(Shape::ALL.to_vec()),
        id in 0_u64..1_000_000,
    ) {
        let width = 10.0_f64.powi(x_scale);
        let u = unit_points(n + m, d, 1_000 + id);
        let source = |i: usize| if repeats[i] < i { repeats[i] } else { i };
        let offset = width * 10.0_f64.powi(x_offset);
        let x = Mat::from_fn(n, d, |i, k| offset + width * u[(source(i), k)]);
        let scale = 10.0_f64.powi(y_scale);
        let y: Vec<f64> =
            (0..n).map(|i| scale * (10.0_f64.powi(y_offset) + (5.0 * u[(source(i), 0)]).sin())).collect();
        let z = Mat::from_fn(m, d, |i, k| offset + width * u[(n + i, k)]);
        let data = Data::new(x.as_ref(), &y).unwrap();
        let hyper = hyperparameters(&data, shape, 10.0_f64.powi(noise));
        for named in posteriors(data, z.as_ref(), &hyper, Mean::Estimated) {
            let mut posterior = named.posterior;
            let queries = stacked(x.as_ref(), z.as_ref());
            let sane = |posterior: &dyn Posterior| {
                let prediction = posterior.predict(queries.as_ref()).unwrap();
                check_sane(&prediction, queries.nrows(), &hyper, &named.name);
            };
            sane(posterior.as_ref());
            sane(posterior.hallucinate(queries.as_ref()).unwrap().as_ref());
            posterior.observe(&row(x.as_ref(), 0), y[0]).unwrap();
            posterior.observe(&row(z.as_ref(), 0), y[n - 1]).unwrap();
            sane(posterior.as_ref());
        }
    }
}

#[test]
fn samples_exist_where_no_variance_is_left() {
    for case in odd_data() {
        let (low, high) = case.bounds();
        let far = Mat::from_fn(3, low.len(), |i, k| high[k] + 1e6 * (i + 1) as f64 * (high[k] - low[k]));
        for shape in Shape::ALL {
            // What the default ranges of training allow at the extreme.
            let hyper = hyperparameters(&case.data(), shape, 1e-13);
            for named in posteriors(case.data(), case.x.as_ref(), &hyper, Mean::Estimated) {
                for (place, points) in [("at the data", &case.x), ("far away", &far)] {
                    let what = format!("{}, {shape:?} {} {place}", case.name, named.name);
                    let (mean, _) = named.posterior.joint(points.as_ref()).unwrap();
                    let samples = named
                        .posterior
                        .sample(points.as_ref(), 4, &mut Stream::new(5, "samples", 0))
                        .unwrap_or_else(|error| panic!("{what}: {error}"));
                    for j in 0..4 {
                        for i in 0..mean.len() {
                            // Ten standard deviations of the prior: nobody draws that far.
                            let most = 10.0 * hyper.kernel.signal_var.sqrt();
                            close(samples[(i, j)], mean[i], most, &what);
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn queries_may_be_anywhere() {
    let (x, y) = (unit_points(8, 2, 43), (0..8).map(f64::from).collect::<Vec<f64>>());
    let data = Data::new(x.as_ref(), &y).unwrap();
    // The last is the largest input there may be.
    let far = [1e6, 1e20, 1e50, 1e70];
    let queries = Mat::from_fn(far.len(), 2, |i, k| if k == 0 { far[i] } else { -far[i] });
    for shape in Shape::ALL {
        let hyper = hyperparameters(&data, shape, 1e-3);
        for named in posteriors(data, x.as_ref(), &hyper, Mean::Estimated) {
            let what = format!("{shape:?} {}", named.name);
            let at = named.posterior.predict_gradient(queries.as_ref()).unwrap();
            check_sane(&at.prediction, far.len(), &hyper, &what);
            for i in 0..far.len() {
                for k in 0..2 {
                    assert_eq!(at.mean_gradient[(i, k)], 0.0, "{what}: at {:e}", far[i]);
                    assert_eq!(at.var_gradient[(i, k)], 0.0, "{what}: at {:e}", far[i]);
                }
            }
        }
    }
}
