use super::super::watch::Unwatched;
use super::*;
use crate::rng::Stream;

const D: usize = 5;

fn gp() -> MetricGp {
    let prior = MetricPrior { length_scale: 0.9, entry_sd: 0.4 };
    MetricGp { shape: Shape::Matern52, mean: Mean::Estimated, noise_var: 1e-6, prior, evaluations: 60 }
}

fn points(n: usize, seed: u64) -> Mat<f64> {
    let mut stream = Stream::new(seed, "points", 0);
    Mat::from_fn(n, D, |_, _| stream.uniform())
}

fn oblique(seed: u64) -> Metric {
    let mut stream = Stream::new(seed, "metric", 0);
    let mut metric = Metric::uniform(D, 0.9);
    metric.map = Mat::from_fn(D, D, |j, k| metric.map[(j, k)] + 0.5 * stream.normal());
    metric.signal_var = 1.7;
    metric
}

/// A function of one direction.
fn ridge(x: &Mat<f64>) -> Vec<f64> {
    let along = |i: usize| (0..D).map(|k| [1.0, -0.8, 0.6, 0.9, -0.7][k] * x[(i, k)]).sum::<f64>();
    (0..x.nrows()).map(|i| (3.0 * along(i)).sin()).collect()
}

#[test]
fn the_gradient_agrees_with_differences() {
    for seed in [1, 2, 3] {
        let x = points(14, seed);
        let y = ridge(&x);
        let variables = to_variables(&oblique(seed));
        let value = |variables: &[f64]| gp().evaluate(x.as_ref(), &y, variables).unwrap().0;
        let (_, gradient) = gp().evaluate(x.as_ref(), &y, &variables).unwrap();
        let largest = gradient.iter().fold(0.0_f64, |largest, slope| largest.max(slope.abs()));
        for p in 0..variables.len() {
            // Steps of 1e-5: truncation 1e-10 of the third derivative, rounding 1e-16/1e-5 times the condition.
            let step = |by: f64| {
                let mut moved = variables.clone();
                moved[p] += by;
                value(&moved)
            };
            let difference = (step(1e-5) - step(-1e-5)) / 2e-5;
            let error = (gradient[p] - difference).abs();
            assert!(
                error < 1e-6 * largest.max(1.0),
                "seed {seed}, variable {p}: {} {difference}",
                gradient[p]
            );
        }
    }
}

#[test]
fn a_diagonal_metric_is_length_scales() {
    let (x, queries) = (points(20, 4), points(7, 5));
    let y = ridge(&x);
    let lengths = vec![0.4, 0.7, 1.1, 2.0, 0.9];
    let entry = |j: usize, k: usize| if j == k { 1.0 / lengths[k] } else { 0.0 };
    let metric = Metric { map: Mat::from_fn(D, D, entry), signal_var: 1.3 };
    let seen = gp().condition(x.as_ref(), &y, &metric).unwrap();
    let kernel = Kernel::new(Shape::Matern52, lengths.clone(), 1.3, D).unwrap();
    let hyper = Hyperparameters::new(kernel, 1e-6).unwrap();
    let plain = ExactPosterior::new(&Data::new(x.as_ref(), &y).unwrap(), &hyper, Mean::Estimated).unwrap();
    // Rounding of 1e-16 times a condition of at most 20 · 1.3/1e-6.
    let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-8, "{a} {b}");
    let same = |a: &dyn Posterior, b: &dyn Posterior| {
        let (a_found, b_found) =
            (a.predict_gradient(queries.as_ref()).unwrap(), b.predict_gradient(queries.as_ref()).unwrap());
        let ((_, a_joint), (_, b_joint)) =
            (a.joint(queries.as_ref()).unwrap(), b.joint(queries.as_ref()).unwrap());
        for i in 0..queries.nrows() {
            close(a_found.prediction.mean[i], b_found.prediction.mean[i]);
            close(a_found.prediction.var[i], b_found.prediction.var[i]);
            (0..D).for_each(|k| close(a_found.mean_gradient[(i, k)], b_found.mean_gradient[(i, k)]));
            (0..D).for_each(|k| close(a_found.var_gradient[(i, k)], b_found.var_gradient[(i, k)]));
            (0..queries.nrows()).for_each(|j| close(a_joint[(i, j)], b_joint[(i, j)]));
        }
    };
    same(&seen, &plain);
    let pending = points(3, 6);
    same(&*seen.hallucinate(pending.as_ref()).unwrap(), &*plain.hallucinate(pending.as_ref()).unwrap());
    (0..D).for_each(|k| close(metric.length_scale(k), lengths[k]));
    let (a, b) = ([0.1, 0.9, 0.5, 0.2, 0.0], [0.6, 0.2, 0.5, 1.0, 0.3]);
    let squares = (0..D).map(|k| ((a[k] - b[k]) / lengths[k]).powi(2));
    close(metric.distance(&a, &b), squares.sum::<f64>().sqrt());
}

#[test]
fn an_oblique_metric_is_the_exact_process_of_mapped_points() {
    let metric = oblique(7);
    let (x, queries, more) = (points(15, 8), points(6, 9), points(1, 10));
    let y = ridge(&x);
    let row = |x: &Mat<f64>| (0..D).map(|k| x[(0, k)]).collect::<Vec<f64>>();
    let mut seen = gp().condition(x.as_ref(), &y, &metric).unwrap();
    let mut inner = gp().exact(x.as_ref(), &y, &metric).unwrap();
    seen.observe(&row(&more), 0.3).unwrap();
    inner.observe(&row(&mapped(&metric.map, more.as_ref())), 0.3).unwrap();
    let expected = inner.predict(mapped(&metric.map, queries.as_ref()).as_ref()).unwrap();
    assert_eq!(seen.predict(queries.as_ref()).unwrap(), expected);
    assert_eq!((seen.dim(), seen.n_observations()), (D, 16));

    // Gradients, by differences: of the prediction, and of Σⱼ Wᵢⱼ cov(xᵢ, otherⱼ).
    let weights = Mat::from_fn(6, 15, |i, j| ((i + 3 * j) as f64).sin());
    let found = seen.predict_gradient(queries.as_ref()).unwrap();
    let covariances = seen.covariance_gradient(queries.as_ref(), x.as_ref(), weights.as_ref()).unwrap();
    let total = |x_moved: &Mat<f64>, i: usize| {
        let covariance = seen.covariance(x_moved.as_ref(), x.as_ref()).unwrap();
        (0..15).map(|j| weights[(i, j)] * covariance[(i, j)]).sum::<f64>()
    };
    for i in 0..6 {
        for k in 0..D {
            let moved = |by: f64| {
                Mat::from_fn(6, D, |a, b| queries[(a, b)] + if (a, b) == (i, k) { by } else { 0.0 })
            };
            let (up, down) = (moved(1e-5), moved(-1e-5));
            let (high, low) = (seen.predict(up.as_ref()).unwrap(), seen.predict(down.as_ref()).unwrap());
            for (slope, difference) in [
                (found.mean_gradient[(i, k)], high.mean[i] - low.mean[i]),
                (found.var_gradient[(i, k)], high.var[i] - low.var[i]),
                (covariances[(i, k)], total(&up, i) - total(&down, i)),
            ] {
                // Rounding of 1e-16 times a condition of 1e7, over the step.
                assert!((slope - difference / 2e-5).abs() < 1e-4, "{slope} {}", difference / 2e-5);
            }
        }
    }
}

#[test]
fn it_finds_the_direction_of_a_ridge() {
    let (x, queries) = (points(40, 11), points(200, 12));
    let (y, expected) = (ridge(&x), ridge(&queries));
    let uniform = Metric::uniform(D, 0.9);
    let fitted = gp().fit(x.as_ref(), &y, None, &Unwatched).unwrap();
    let error = |metric: &Metric| {
        let found = gp().condition(x.as_ref(), &y, metric).unwrap().predict(queries.as_ref()).unwrap();
        found.mean.iter().zip(&expected).map(|(a, b)| (a - b) * (a - b)).sum::<f64>()
    };
    // One direction instead of five: far more than half of the error goes.
    assert!(error(&fitted) < 0.25 * error(&uniform), "{} {}", error(&fitted), error(&uniform));
    // An earlier metric is gone on from, and nothing is lost.
    let value = |metric: &Metric| gp().evaluate(x.as_ref(), &y, &to_variables(metric)).unwrap().0;
    let again = gp().fit(x.as_ref(), &y, Some(&fitted), &Unwatched).unwrap();
    assert!(value(&again) <= value(&fitted) && value(&fitted) < value(&uniform));
}

#[test]
fn lists_round_trip() {
    let metric = oblique(13);
    assert_eq!(Metric::from_list(&metric.to_list(), D), Some(metric.clone()));
    assert_eq!(Metric::from_list(&metric.to_list()[1..], D), None);
    assert_eq!(Metric::from_list(&[], D), None);
}
