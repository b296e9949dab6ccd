//! What a fit believes of many results, and what it costs.

use super::*;
use crate::rng::Stream;
use crate::surrogate::watch::{Progress, Unwatched};
use std::sync::Mutex;

const SEED: u64 = 12;

/// Results at uniform points of a square.
fn results(n: usize, value: impl Fn(&[f64], f64) -> f64) -> Results {
    let mut stream = Stream::new(SEED, "model tests", 0);
    let mut results = Results::default();
    for _ in 0..n {
        let point = vec![stream.uniform(), stream.uniform()];
        let value = value(&point, stream.normal());
        results.measured(&point, value);
    }
    results
}

fn settings() -> Settings {
    let mut settings = Settings::bo();
    if let Process::Sparse { n_inducing, .. } = &mut settings.surrogate.process {
        *n_inducing = 30;
    }
    settings
}

fn fit(results: &Results, watch: &dyn Watch) -> Model {
    let settings = settings();
    let basis = Basis { settings: &settings, results, spacing: 0.0, crowded: false, seed: SEED, watch };
    Model::fit(basis, None, Known::default()).unwrap()
}

/// Evaluations of objectives, those on all data among them.
#[derive(Default)]
struct Told(Mutex<Vec<(usize, usize)>>);

impl Watch for Told {
    fn progress(&self, progress: &Progress) {
        let told = (progress.subset_evaluations, progress.full_evaluations);
        self.0.lock().unwrap().push(told);
    }
}

#[test]
fn many_results_are_believed_one_thing_of_and_fitted_once() {
    let heavy = |x: &[f64], noise: f64| (6.0 * x[0] + 3.0 * (5.0 * x[1]).sin() + 0.3 * noise).exp();
    let light = |x: &[f64], noise: f64| (6.0 * x[0]).sin() + x[1] + 0.3 * noise;
    let watch = Told::default();
    let model = fit(&results(4_500, heavy), &watch);
    assert!(model.fitted.warp.log.is_some() && model.is_noisy(), "seed {SEED}: {:?}", model.fitted);
    let told = watch.0.into_inner().unwrap();
    // Three warps without noise and with it begin, and one of them goes on.
    let begun = told.iter().filter(|told| **told == (1, 0)).count();
    let went_on = told.iter().filter(|(_, full)| *full == 1).count();
    assert_eq!((begun, went_on), (6, 1), "{told:?}");
    let model = fit(&results(4_500, light), &Unwatched);
    assert!(model.fitted.warp.log.is_none() && model.is_noisy(), "seed {SEED}: {:?}", model.fitted);
}

#[test]
fn a_model_of_many_results_is_the_same_made_again() {
    let results = results(4_500, |x, noise| (6.0 * x[0] + 0.3 * noise).exp());
    let (settings, watch) = (settings(), &Unwatched);
    let model = fit(&results, watch);
    let basis =
        Basis { settings: &settings, results: &results, spacing: 0.0, crowded: false, seed: SEED, watch };
    let again = Model::again(basis, &model.fitted).unwrap();
    let queries = Mat::from_fn(50, 2, |i, k| ((i * 7 + k * 3) % 50) as f64 / 49.0);
    let (a, b) = (model.posterior.predict(queries.as_ref()), again.posterior.predict(queries.as_ref()));
    assert_eq!(a.unwrap(), b.unwrap());
}
