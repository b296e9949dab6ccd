//! What every `Posterior` must do, whatever is behind it.

use faer::{Mat, MatRef};
use tribo::error::Error;
use tribo::rng::Stream;
use tribo::surrogate::hyper::Hyperparameters;
use tribo::surrogate::posterior::{Posterior, Prediction};

/// Step of differences, in length scales: its square is their truncation, its inverse magnifies rounding.
const STEP: f64 = 1e-4;
/// Truncation of differences: a third derivative, in length scales, of 1e3 prior units; more only where data crowd.
const TRUNCATION: f64 = 1e3 * STEP * STEP;

/// What two ways to the same number may differ by.
pub(crate) struct Allowance {
    /// In means.
    pub(crate) mean: f64,
    /// In variances.
    pub(crate) var: f64,
}

impl Allowance {
    /// Rounding of 1e-16, times about a hundred points, magnified by the condition of Kff + σ²I per point (s²/σ²)
    /// and by that of Luu (below 1e5 with its jitter of 1e-10), in units of s and s². A mean also carries the
    /// rounding of its own size, which matters where y is large and hardly varies.
    pub(crate) fn new(hyper: &Hyperparameters, prediction: &Prediction) -> Allowance {
        let signal_var = hyper.kernel.signal_var;
        let rounding = 1e-14 * (1e4 + signal_var / hyper.noise_var);
        let largest = prediction.mean.iter().fold(0.0_f64, |largest, mean| largest.max(mean.abs()));
        Allowance { mean: rounding * signal_var.sqrt() + 1e-14 * largest, var: rounding * signal_var }
    }
}

/// Checks `posterior` at `queries`, which should be away from its data if the kernel has kinks there. `hyper` says
/// what its numbers are measured in; `what` names it in failures.
pub(crate) fn check_posterior(
    posterior: &dyn Posterior,
    hyper: &Hyperparameters,
    queries: MatRef<'_, f64>,
    what: &str,
) {
    let prediction = posterior.predict(queries).unwrap_or_else(|error| panic!("{what}: {error}"));
    check_sane(&prediction, queries.nrows(), hyper, what);
    check_one_by_one(posterior, hyper, queries, &prediction, what);
    check_joint(posterior, hyper, queries, &prediction, what);
    check_gradient(posterior, hyper, queries, &prediction, what);
    check_covariance(posterior, hyper, queries, &prediction, what);
    check_samples(posterior, queries, what);
    check_hallucination(posterior, hyper, queries, &prediction, what);
    check_refusals(posterior, what);
}

/// Finite means; variances from zero to the prior's.
pub(crate) fn check_sane(prediction: &Prediction, n_queries: usize, hyper: &Hyperparameters, what: &str) {
    assert_eq!((prediction.mean.len(), prediction.var.len()), (n_queries, n_queries), "{what}");
    let allowance = Allowance::new(hyper, prediction);
    for (i, (mean, var)) in prediction.mean.iter().zip(&prediction.var).enumerate() {
        assert!(mean.is_finite(), "{what}: mean {mean} at query {i}");
        let most = hyper.kernel.signal_var + allowance.var;
        assert!((0.0..=most).contains(var), "{what}: variance {var:e} at query {i}, prior {most:e}");
    }
}

/// The batch gives what the points alone give.
fn check_one_by_one(
    posterior: &dyn Posterior,
    hyper: &Hyperparameters,
    queries: MatRef<'_, f64>,
    batch: &Prediction,
    what: &str,
) {
    let allowance = Allowance::new(hyper, batch);
    for i in 0..queries.nrows() {
        let alone = posterior.predict(queries.subrows(i, 1)).expect("one query");
        close(alone.mean[0], batch.mean[i], allowance.mean, &format!("{what}: mean of query {i} alone"));
        close(alone.var[0], batch.var[i], allowance.var, &format!("{what}: variance of query {i} alone"));
    }
}

/// The joint posterior has the means and, on its diagonal, the variances; it is symmetric.
fn check_joint(
    posterior: &dyn Posterior,
    hyper: &Hyperparameters,
    queries: MatRef<'_, f64>,
    prediction: &Prediction,
    what: &str,
) {
    let (mean, covariance) = posterior.joint(queries).expect("joint posterior");
    let (q, allowance) = (queries.nrows(), Allowance::new(hyper, prediction));
    assert_eq!((mean.len(), covariance.nrows(), covariance.ncols()), (q, q, q), "{what}");
    for i in 0..q {
        close(mean[i], prediction.mean[i], allowance.mean, &format!("{what}: joint mean {i}"));
        close(covariance[(i, i)], prediction.var[i], allowance.var, &format!("{what}: joint variance {i}"));
        for j in 0..i {
            let what = format!("{what}: covariance of {i} and {j}");
            close(covariance[(i, j)], covariance[(j, i)], allowance.var, &what);
            let most = (prediction.var[i] * prediction.var[j]).sqrt();
            assert!(covariance[(i, j)].abs() <= most + allowance.var, "{what} above {most:e}");
        }
    }
}

/// Gradients come with the same prediction, bit for bit, and agree with central differences.
fn check_gradient(
    posterior: &dyn Posterior,
    hyper: &Hyperparameters,
    queries: MatRef<'_, f64>,
    prediction: &Prediction,
    what: &str,
) {
    let (q, d) = (queries.nrows(), posterior.dim());
    let at = posterior.predict_gradient(queries).expect("gradient");
    assert_eq!(at.prediction, *prediction, "{what}: prediction with and without gradient");
    let allowance = Allowance::new(hyper, prediction);
    let signal_var = hyper.kernel.signal_var;
    for k in 0..d {
        let length = hyper.kernel.length_scale(k);
        let moved = |steps: f64| {
            let entry = |i: usize, j: usize| queries[(i, j)] + f64::from(j == k) * steps * STEP * length;
            let points = Mat::from_fn(q, d, entry);
            let prediction = posterior.predict(points.as_ref()).expect("moved queries");
            (points, prediction)
        };
        let ((x_up, up), (x_down, down)) = (moved(1.0), moved(-1.0));
        for i in 0..q {
            // Far from the origin a step is what the numbers make of it.
            let step = x_up[(i, k)] - x_down[(i, k)];
            let error = |rounding: f64, unit: f64| (TRUNCATION * unit + rounding / STEP) / length;
            let place = format!("at query {i} in input {k}");
            close(
                at.mean_gradient[(i, k)],
                (up.mean[i] - down.mean[i]) / step,
                error(allowance.mean, signal_var.sqrt()),
                &format!("{what}: mean gradient {place}"),
            );
            // A variance cut off at zero has a kink there.
            if up.var[i] > 0.0 && down.var[i] > 0.0 {
                close(
                    at.var_gradient[(i, k)],
                    (up.var[i] - down.var[i]) / step,
                    error(allowance.var, signal_var),
                    &format!("{what}: variance gradient {place}"),
                );
            }
        }
    }
}

/// Covariances between two sets are those of the joint posterior, and their gradient agrees with differences.
fn check_covariance(
    posterior: &dyn Posterior,
    hyper: &Hyperparameters,
    queries: MatRef<'_, f64>,
    prediction: &Prediction,
    what: &str,
) {
    let (q, d, allowance) = (queries.nrows(), posterior.dim(), Allowance::new(hyper, prediction));
    let half = q / 2;
    let (x, others) = (queries.subrows(0, half), queries.subrows(half, q - half));
    let (_, joint) = posterior.joint(queries).expect("joint posterior");
    let covariance = posterior.covariance(x, others).expect("covariance");
    assert_eq!((covariance.nrows(), covariance.ncols()), (half, q - half), "{what}");
    for i in 0..half {
        for j in 0..q - half {
            let what = format!("{what}: covariance of {i} and {}", half + j);
            close(covariance[(i, j)], joint[(i, half + j)], allowance.var, &what);
        }
    }
    // Weights of mixed sign whose magnitudes sum to one, so that allowances for one covariance hold.
    let weights =
        Mat::from_fn(half, q - half, |i, j| if (i + j) % 2 == 0 { 1.0 } else { -1.0 } / (q - half) as f64);
    let gradient = posterior.covariance_gradient(x, others, weights.as_ref()).expect("covariance gradient");
    assert_eq!((gradient.nrows(), gradient.ncols()), (half, d), "{what}");
    for k in 0..d {
        let length = hyper.kernel.length_scale(k);
        let moved = |step: f64| {
            let points = Mat::from_fn(half, d, |i, l| x[(i, l)] + f64::from(l == k) * step * length);
            let covariance = posterior.covariance(points.as_ref(), others).expect("moved queries");
            let sum = |i: usize| (0..q - half).map(|j| weights[(i, j)] * covariance[(i, j)]).sum::<f64>();
            ((0..half).map(sum).collect::<Vec<f64>>(), points)
        };
        let ((up, x_up), (down, x_down)) = (moved(STEP), moved(-STEP));
        for i in 0..half {
            let difference = (up[i] - down[i]) / (x_up[(i, k)] - x_down[(i, k)]);
            let error = (TRUNCATION * hyper.kernel.signal_var + allowance.var / STEP) / length;
            let what = format!("{what}: covariance gradient at query {i} in input {k}");
            close(gradient[(i, k)], difference, error, &what);
        }
    }
    let wrong = posterior.covariance_gradient(x, others, Mat::zeros(half, q - half + 1).as_ref()).err();
    assert!(matches!(wrong, Some(Error::Size { .. })), "{what}: weights of the wrong size gave {wrong:?}");
}

/// Samples exist, are finite, and follow from the stream alone.
fn check_samples(posterior: &dyn Posterior, queries: MatRef<'_, f64>, what: &str) {
    let draw = || {
        let mut stream = Stream::new(1, "conformance", 0);
        posterior.sample(queries, 3, &mut stream).unwrap_or_else(|error| panic!("{what}: sample: {error}"))
    };
    let samples = draw();
    assert_eq!((samples.nrows(), samples.ncols()), (queries.nrows(), 3), "{what}");
    for j in 0..3 {
        assert!(samples.col_as_slice(j).iter().all(|value| value.is_finite()), "{what}: {samples:?}");
    }
    assert_eq!(samples, draw(), "{what}: the same stream");
}

/// Pending points leave the mean, shrink the variance, and are known to the copy alone.
fn check_hallucination(
    posterior: &dyn Posterior,
    hyper: &Hyperparameters,
    queries: MatRef<'_, f64>,
    before: &Prediction,
    what: &str,
) {
    let n = posterior.n_observations();
    let copy = posterior.hallucinate(queries).unwrap_or_else(|error| panic!("{what}: hallucinate: {error}"));
    assert_eq!(copy.n_observations(), n + queries.nrows(), "{what}");
    assert_eq!(copy.dim(), posterior.dim(), "{what}");
    let after = copy.predict(queries).expect("prediction with pending points");
    let allowance = Allowance::new(hyper, before);
    for i in 0..queries.nrows() {
        let what = format!("{what}: with pending points, query {i}");
        close(after.mean[i], before.mean[i], allowance.mean, &what);
        let (after, before) = (after.var[i], before.var[i]);
        assert!(after <= before + allowance.var, "{what}: variance {before:e} became {after:e}");
    }
    // Every observation takes something, as long as there was something to take.
    let total = |prediction: &Prediction| prediction.var.iter().sum::<f64>();
    if total(before) > 1e-3 * hyper.kernel.signal_var {
        assert!(total(&after) < total(before), "{what}: pending points did not shrink the variance");
    }
    assert_eq!(posterior.n_observations(), n, "{what}");
    assert_eq!(posterior.predict(queries).expect("prediction"), *before, "{what}: the original changed");
    let none = posterior.hallucinate(queries.subrows(0, 0)).expect("no pending points");
    assert_eq!(none.predict(queries).expect("prediction"), *before, "{what}: no pending points");
}

/// Wrong columns and numbers that are not finite are refused by name and place; no point is no error.
fn check_refusals(posterior: &dyn Posterior, what: &str) {
    let d = posterior.dim();
    let every_way = |x: MatRef<'_, f64>| -> [Option<Error>; 7] {
        let own = Mat::zeros(1, d);
        [
            posterior.covariance(x, own.as_ref()).err(),
            posterior.covariance(own.as_ref(), x).err(),
            posterior.predict(x).err(),
            posterior.predict_gradient(x).err(),
            posterior.joint(x).err(),
            posterior.hallucinate(x).err(),
            posterior.sample(x, 2, &mut Stream::new(1, "conformance", 1)).err(),
        ]
    };
    for columns in [d - 1, d + 1] {
        for error in every_way(Mat::zeros(2, columns).as_ref()) {
            let right = matches!(error, Some(Error::Size { expected, found, .. })
                if expected == d && found == columns);
            assert!(right, "{what}: {columns} columns for {d} inputs gave {error:?}");
        }
    }
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let mut x = Mat::zeros(3, d);
        x[(1, d - 1)] = bad;
        for error in every_way(x.as_ref()) {
            let right = matches!(error, Some(Error::NotFinite { row: 1, column, .. }) if column == d - 1);
            assert!(right, "{what}: {bad} in the queries gave {error:?}");
        }
    }
    let none = Mat::zeros(0, d);
    assert_eq!(every_way(none.as_ref()), [const { None }; 7], "{what}: no query");
    assert!(posterior.predict(none.as_ref()).expect("no query").mean.is_empty(), "{what}");
}

/// Absolute difference within an allowance; NaN is never close.
pub(crate) fn close(a: f64, b: f64, allowance: f64, what: &str) {
    assert!(
        (a - b).abs() <= allowance,
        "{what}: {a:e} against {b:e}, off by {:e} > {allowance:e}",
        (a - b).abs()
    );
}
