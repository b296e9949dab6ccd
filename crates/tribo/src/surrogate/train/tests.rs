//! Training finds what it should, is told when to stop, and survives bad starts.

use super::*;
use crate::surrogate::Posterior;
use crate::surrogate::hyper::Prior;
use crate::surrogate::watch::Unwatched;
use faer::Mat;
use std::sync::atomic::{AtomicUsize, Ordering};

const SEED: u64 = 31;

/// A smooth function of two inputs with noise of standard deviation 0.05.
fn data(n: usize) -> (Mat<f64>, Vec<f64>) {
    let mut stream = Stream::new(SEED, "training tests", 0);
    let x = Mat::from_fn(n, 2, |_, _| stream.uniform());
    let y = (0..n).map(|i| (6.0 * x[(i, 0)]).sin() + 0.3 * x[(i, 1)] + 0.05 * stream.normal()).collect();
    (x, y)
}

fn exact() -> ExactGp {
    ExactGp { shape: Shape::Matern52, ard: true, mean: Mean::Estimated, training: Training::default() }
}

fn sparse(approximation: Approximation, objective: Objective, inducing: Inducing) -> SparseGp {
    SparseGp {
        shape: Shape::Matern52,
        ard: true,
        mean: Mean::Estimated,
        approximation,
        objective,
        inducing,
        n_inducing: 40,
        training: Training::default(),
    }
}

#[test]
fn exact_training_finds_noise_and_relevance() {
    let (x, y) = data(150);
    let (posterior, report) = exact().fit(x.as_ref(), &y, &Unwatched).unwrap();
    let hyper = posterior.hyperparameters();
    // The sample variance of 150 draws of 0.05² has a standard error of 12 %; a factor 1.6 is more than three.
    assert!(hyper.noise_var > 0.0025 / 1.6 && hyper.noise_var < 0.0025 * 1.6, "seed {SEED}: {hyper:?}");
    assert!(hyper.kernel.length_scales[1] > 2.0 * hyper.kernel.length_scales[0], "seed {SEED}: {hyper:?}");
    assert!(report.stop.is_some_and(Stop::converged), "{report:?}");
    // At the optimum the gradient per point is small compared with its size at the start.
    let slope = posterior.log_evidence_gradient().iter().fold(0.0_f64, |a, b| a.max(b.abs())) / 150.0;
    assert!(slope < 5e-3, "seed {SEED}: {slope}");
}

#[test]
fn every_sparse_kind_predicts_held_out_data() {
    let (x, y) = data(600);
    let queries = Mat::from_fn(100, 2, |i, k| if k == 0 { i as f64 / 99.0 } else { 0.5 });
    let kinds = [
        (Approximation::Sor, Objective::Marginal),
        (Approximation::Dtc, Objective::Bound),
        (Approximation::Fic, Objective::Bound),
        (Approximation::Fic, Objective::Marginal),
        (Approximation::Pitc { group: 30 }, Objective::Marginal),
    ];
    let square = Inducing::LatinHypercube { low: vec![0.0; 2], high: vec![1.0; 2] };
    for (approximation, objective) in kinds {
        for inducing in [square.clone(), Inducing::Subset, Inducing::Greedy, Inducing::RandomPivots] {
            let gp = sparse(approximation, objective, inducing);
            let (posterior, report) = gp.fit(x.as_ref(), &y, &Unwatched).unwrap();
            let prediction = posterior.predict(queries.as_ref()).unwrap();
            let squares = (0..100).map(|i| {
                let truth = (6.0 * queries[(i, 0)]).sin() + 0.15;
                (prediction.mean[i] - truth).powi(2)
            });
            let rmse = (squares.sum::<f64>() / 100.0).sqrt();
            // Noise 0.05 averaged over some dozen neighbours.
            assert!(rmse < 0.03, "seed {SEED}, {gp:?}: {rmse} {report:?}");
            assert!(prediction.var.iter().all(|var| (0.0..0.05).contains(var)));
        }
    }
}

#[test]
fn subsets_find_the_same_optimum_with_few_full_passes() {
    let (x, y) = data(5_000);
    let gp = sparse(Approximation::Fic, Objective::Bound, Inducing::Greedy);
    let (with, report) = gp.fit(x.as_ref(), &y, &Unwatched).unwrap();
    assert!(report.subset_evaluations > 0 && report.full_evaluations <= 6, "{report:?}");
    let mut slow = gp.clone();
    slow.training.subsets.clear();
    let (without, slow_report) = slow.fit(x.as_ref(), &y, &Unwatched).unwrap();
    assert_eq!(slow_report.subset_evaluations, 0);
    assert!((report.objective - slow_report.objective).abs() < 1e-3, "{report:?} {slow_report:?}");
    let (a, b) = (with.hyperparameters(), without.hyperparameters());
    assert!((a.noise_var / b.noise_var).ln().abs() < 0.1, "seed {SEED}: {a:?} {b:?}");
}

#[test]
fn the_same_seed_gives_the_same_bits_at_any_number_of_threads() {
    let (x, y) = data(5_000);
    let gp = sparse(Approximation::Fic, Objective::Bound, Inducing::Subset);
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let (posterior, _) = pool.install(|| gp.fit(x.as_ref(), &y, &Unwatched)).unwrap();
        posterior.hyperparameters().to_log().iter().map(|v| v.to_bits()).collect::<Vec<_>>()
    };
    assert_eq!(run(1), run(2));
}

#[test]
fn a_fit_can_be_made_again_without_the_search() {
    let (x, y) = data(500);
    let square = Inducing::LatinHypercube { low: vec![0.0; 2], high: vec![1.0; 2] };
    for (approximation, inducing) in [
        (Approximation::Fic, Inducing::Greedy),
        (Approximation::Fic, Inducing::RandomPivots),
        (Approximation::Pitc { group: 30 }, Inducing::Subset),
        (Approximation::Dtc, square),
    ] {
        let mut gp = sparse(approximation, Objective::Bound, inducing);
        // With subsets greedy points are chosen anew after each.
        gp.training.subsets = vec![100, 200];
        let (posterior, report) = gp.fit(x.as_ref(), &y, &Unwatched).unwrap();
        let chosen_at = report.chosen_at.unwrap();
        let hyper = posterior.hyperparameters();
        let again = gp.condition(x.as_ref(), &y, hyper, &chosen_at, &Unwatched).unwrap();
        let [fitted, made] = [&posterior, &again].map(|posterior| posterior.predict(x.as_ref()).unwrap());
        assert!(fitted == made, "seed {SEED}: {:?}", gp.inducing);
    }
}

#[test]
fn priors_pull() {
    let (x, y) = data(30);
    let mut gp = exact();
    gp.training.priors.noise_var = Some(Prior::LogNormal { location: (0.2_f64).ln(), scale: 0.05 });
    let (pulled, _) = gp.fit(x.as_ref(), &y, &Unwatched).unwrap();
    assert!((pulled.hyperparameters().noise_var / 0.2).ln().abs() < 0.3);
}

#[test]
fn a_prior_without_a_density_is_refused() {
    let (x, y) = data(30);
    for (prior, part, wrong) in [
        (Prior::LogNormal { location: 0.0, scale: 0.0 }, "scale of a log-normal prior", 0.0),
        (Prior::LogNormal { location: 0.0, scale: -1.0 }, "scale of a log-normal prior", -1.0),
        (Prior::LogNormal { location: f64::NEG_INFINITY, scale: 1.0 }, "location", f64::NEG_INFINITY),
        (Prior::Gamma { shape: 0.0, rate: 1.0 }, "shape of a gamma prior", 0.0),
        (Prior::Gamma { shape: 1.0, rate: f64::INFINITY }, "rate of a gamma prior", f64::INFINITY),
    ] {
        for place in 0..3 {
            let mut gp = exact();
            let priors = &mut gp.training.priors;
            *[&mut priors.length_scale, &mut priors.signal_var, &mut priors.noise_var][place] = Some(prior);
            match gp.fit(x.as_ref(), &y, &Unwatched) {
                Err(Error::OutOfRange { what, value, .. }) => {
                    assert!(what.contains(part) && value == wrong, "{what} is {value}");
                }
                other => panic!("{prior:?} was taken: {other:?}"),
            }
        }
    }
}

#[test]
fn the_best_of_several_starts_is_used() {
    let (x, y) = data(60);
    let (fitted, _) = exact().fit(x.as_ref(), &y, &Unwatched).unwrap();
    let mut gp = exact();
    let mut poor = fitted.hyperparameters().clone();
    poor.kernel.length_scales = vec![1e-3, 1e-3];
    gp.training.starts = vec![poor, fitted.hyperparameters().clone()];
    let (again, report) = gp.fit(x.as_ref(), &y, &Unwatched).unwrap();
    assert!(report.full_evaluations <= 12, "{report:?}");
    assert!(again.log_evidence() >= fitted.log_evidence() - 1e-6);
    gp.training.starts = vec![Hyperparameters::from_log(Shape::Matern52, &[0.0, 0.0, 0.0])];
    assert!(matches!(gp.fit(x.as_ref(), &y, &Unwatched), Err(Error::Size { .. })));
}

#[test]
fn deadlines_keep_the_best_and_cancellation_gives_up() {
    struct Limit {
        evaluations: AtomicUsize,
        cancel: bool,
    }
    impl Watch for Limit {
        fn cancelled(&self) -> bool {
            self.cancel && self.evaluations.load(Ordering::Relaxed) >= 3
        }
        fn deadline_passed(&self) -> bool {
            self.evaluations.load(Ordering::Relaxed) >= 3
        }
        fn progress(&self, progress: &Progress) {
            assert!(progress.best.is_finite());
            self.evaluations.fetch_add(1, Ordering::Relaxed);
        }
    }
    let (x, y) = data(300);
    let gp = sparse(Approximation::Fic, Objective::Bound, Inducing::Subset);
    let limit = Limit { evaluations: AtomicUsize::new(0), cancel: false };
    let (_, report) = gp.fit(x.as_ref(), &y, &limit).unwrap();
    assert_eq!((report.full_evaluations, report.stop), (3, None));
    let limit = Limit { evaluations: AtomicUsize::new(0), cancel: true };
    assert!(matches!(gp.fit(x.as_ref(), &y, &limit), Err(Error::Stopped { .. })));
}

#[test]
fn a_fit_can_be_given_up_before_its_first_pass() {
    struct GivenUp;
    impl Watch for GivenUp {
        fn cancelled(&self) -> bool {
            true
        }
    }
    let mut stream = Stream::new(SEED, "given up", 0);
    let x = Mat::from_fn(60, 2, |_, _| stream.uniform());
    let y: Vec<f64> = (0..60).map(|i| x[(i, 0)]).collect();
    for (approximation, inducing, what) in [
        (Approximation::Fic, Inducing::Greedy, "the choice of inducing points"),
        (Approximation::Pitc { group: 10 }, Inducing::Subset, "the groups of PITC"),
        (Approximation::Fic, Inducing::Subset, "a pass over the data"),
    ] {
        let gp = sparse(approximation, Objective::Bound, inducing);
        let error = gp.fit(x.as_ref(), &y, &GivenUp).map(|_| ()).unwrap_err();
        assert_eq!(error, Error::Stopped { what });
    }
}

#[test]
fn a_fit_in_steps_is_the_fit_at_once() {
    let (x, y) = data(5_000);
    let gp = sparse(Approximation::Fic, Objective::Bound, Inducing::Greedy);
    let (at_once, report) = gp.fit(x.as_ref(), &y, &Unwatched).unwrap();
    let mut begun = gp.begin(x.as_ref(), &y, &Unwatched).unwrap();
    let rows = begun.search_subset().unwrap().unwrap();
    assert_eq!(rows.len(), 2_000);
    // An estimate from 2,000 of 5,000 points: a nat per point has a standard error of about 0.02.
    assert!((begun.objective() - report.objective).abs() < 0.1, "{} {report:?}", begun.objective());
    assert_eq!(begun.search_subset().unwrap(), None, "10,000 are more than half of the points");
    let (in_steps, same) = begun.finish().unwrap();
    assert_eq!((in_steps.state(), same), (at_once.state(), report));
}

#[test]
fn without_a_check_all_data_are_still_conditioned_on() {
    let (x, y) = data(5_000);
    let checked = sparse(Approximation::Fic, Objective::Bound, Inducing::Greedy);
    let mut unchecked = checked.clone();
    unchecked.training.full_evaluations = 0;
    let (believed, report) = unchecked.fit(x.as_ref(), &y, &Unwatched).unwrap();
    assert_eq!((report.full_evaluations, believed.n_observations()), (0, 5_000));
    let (found, _) = checked.fit(x.as_ref(), &y, &Unwatched).unwrap();
    let (a, b) = (believed.hyperparameters(), found.hyperparameters());
    // The noise from 2,000 residuals has a standard error of 3 %.
    assert!((a.noise_var / b.noise_var).ln().abs() < 0.12, "seed {SEED}: {a:?} {b:?}");
    // Where there is no subset there is nothing to believe, and the search is on all data.
    let few = Mat::from_fn(300, 2, |i, k| x[(i, k)]);
    let (_, report) = unchecked.fit(few.as_ref(), &y[..300], &Unwatched).unwrap();
    assert!(report.full_evaluations > 1, "{report:?}");
}

#[test]
fn a_source_is_fitted_as_data_in_memory_are() {
    let (x, y) = data(5_000);
    let held = Data::new(x.as_ref(), &y).unwrap();
    let queries = Mat::from_fn(20, 2, |i, k| if k == 0 { i as f64 / 19.0 } else { 0.5 });
    for inducing in [Inducing::Greedy, Inducing::RandomPivots, Inducing::Subset] {
        let gp = sparse(Approximation::Fic, Objective::Bound, inducing);
        let (from_memory, report) = gp.fit(x.as_ref(), &y, &Unwatched).unwrap();
        let (from_source, same) = gp.fit_source(&held, &Unwatched).unwrap();
        assert_eq!(
            (report.subset_evaluations, report.full_evaluations),
            (same.subset_evaluations, same.full_evaluations)
        );
        // The mean of y is summed in another order, and the search carries its last bit along.
        let (a, b) =
            (from_memory.predict(queries.as_ref()).unwrap(), from_source.predict(queries.as_ref()).unwrap());
        for i in 0..20 {
            assert!(
                (a.mean[i] - b.mean[i]).abs() < 1e-7 && (a.var[i] - b.var[i]).abs() < 1e-7,
                "seed {SEED}"
            );
        }
        assert_eq!(from_source.n_observations(), 5_000);
    }
    let grouped = sparse(Approximation::Pitc { group: 30 }, Objective::Marginal, Inducing::Greedy);
    assert!(matches!(grouped.fit_source(&held, &Unwatched), Err(Error::Source { .. })));
}

/// Reads data, but for a row that is not a number from its third reader on: a file that changes.
struct Changing<'a>(Data<'a>, AtomicUsize);

struct Spoiled<'a>(Box<dyn source::Reader + 'a>, usize);

impl Source for Changing<'_> {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn dim(&self) -> usize {
        self.0.dim()
    }

    fn reader(&self, start: usize) -> Result<Box<dyn source::Reader + '_>> {
        let n_readers = self.1.fetch_add(1, Ordering::Relaxed);
        let reader = Source::reader(&self.0, start)?;
        if n_readers < 2 { Ok(reader) } else { Ok(Box::new(Spoiled(reader, start))) }
    }
}

impl source::Reader for Spoiled<'_> {
    fn read(&mut self, mut x: faer::MatMut<'_, f64>, y: &mut [f64]) -> Result<()> {
        self.0.read(x.as_mut(), y)?;
        if (self.1..self.1 + y.len()).contains(&4_321) {
            x[(4_321 - self.1, 1)] = f64::NAN;
        }
        self.1 += y.len();
        Ok(())
    }

    fn skip(&mut self, n: usize) -> Result<()> {
        self.1 += n;
        self.0.skip(n)
    }
}

#[test]
fn a_source_that_changes_is_refused_with_the_place() {
    let (x, y) = data(5_000);
    let source = Changing(Data::new(x.as_ref(), &y).unwrap(), AtomicUsize::new(0));
    let error =
        sparse(Approximation::Fic, Objective::Bound, Inducing::Subset).fit_source(&source, &Unwatched);
    assert!(matches!(error, Err(Error::NotFinite { what: "X", row: 4_321, column: 1, .. })), "{error:?}");
}

#[test]
fn very_many_rows_are_checked_on_a_sample() {
    let (x, y) = data(5_000);
    let all = sparse(Approximation::Fic, Objective::Bound, Inducing::Subset);
    let mut sampled = all.clone();
    sampled.training.checked = 2_400;
    let (a, report) = all.fit(x.as_ref(), &y, &Unwatched).unwrap();
    let (b, fewer) = sampled.fit(x.as_ref(), &y, &Unwatched).unwrap();
    assert!(report.full_evaluations > 0 && fewer.full_evaluations == 0, "{report:?} {fewer:?}");
    assert!(fewer.subset_evaluations > report.subset_evaluations, "{report:?} {fewer:?}");
    assert_eq!(b.n_observations(), 5_000);
    // The noise from 2,400 residuals has a standard error of 3 %.
    let [a, b] = [a, b].map(|posterior| posterior.hyperparameters().noise_var);
    assert!((a / b).ln().abs() < 0.12, "seed {SEED}: {a} {b}");
    sampled.training.checked = 2_500;
    assert!(sampled.fit(x.as_ref(), &y, &Unwatched).unwrap().1.full_evaluations > 0, "half of the rows");
}

#[test]
fn weighted_rows_and_known_noise_are_fitted() {
    let (x, y) = data(5_000);
    let noise: Vec<f64> = (0..5_000).map(|i| [1.0, 4.0, 25.0][i % 3]).collect();
    let mut stream = Stream::new(SEED, "noise of rows", 0);
    // The noise of 0.05 that is there, made up to 0.05, 0.1 and 0.25.
    let y: Vec<f64> =
        y.iter().zip(&noise).map(|(y, r)| y + 0.05 * (r - 1.0_f64).sqrt() * stream.normal()).collect();
    let mut gp = sparse(Approximation::Fic, Objective::Bound, Inducing::Greedy);
    let plain = Data::new(x.as_ref(), &y).unwrap();
    let noisy = plain.with_noise(&noise).unwrap();
    let (posterior, _) = gp.fit_data(noisy, &Unwatched).unwrap();
    let found = posterior.hyperparameters().noise_var;
    // 5,000 draws give a variance to 2 %.
    assert!((found / 0.0025).ln().abs() < 0.1, "seed {SEED}: {found}");
    gp.training.ranges = gp.training.ranges.hold_noise(0.0025, &noisy.scale());
    let (held, _) = gp.fit_data(noisy, &Unwatched).unwrap();
    assert!((held.hyperparameters().noise_var / 0.0025 - 1.0).abs() < 1e-12);
    // Knowing which rows to trust helps.
    let queries = Mat::from_fn(100, 2, |i, k| if k == 0 { i as f64 / 99.0 } else { 0.5 });
    let squares = |posterior: &SparsePosterior| {
        let mean = posterior.predict(queries.as_ref()).unwrap().mean;
        (0..100).map(|i| (mean[i] - (6.0 * queries[(i, 0)]).sin() - 0.15).powi(2)).sum::<f64>()
    };
    gp.training.ranges = Ranges::default();
    let (blind, _) = gp.fit_data(plain, &Unwatched).unwrap();
    assert!(squares(&held) < squares(&blind), "seed {SEED}: {} {}", squares(&held), squares(&blind));
    let weights: Vec<f64> = noise.iter().map(|r| 1.0 / r).collect();
    let (weighted, _) = gp.fit_data(plain.with_weights(&weights).unwrap(), &Unwatched).unwrap();
    assert!(squares(&weighted) < squares(&blind));
    gp.approximation = Approximation::Pitc { group: 30 };
    assert!(matches!(gp.fit_data(noisy, &Unwatched), Err(Error::Source { .. })));
}
