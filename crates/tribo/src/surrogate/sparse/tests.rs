//! Identities of the sparse family, on random draws with a printed seed.

use super::super::exact::ExactPosterior;
use super::super::kernel::{Kernel, Shape, Terms};
use super::super::posterior::Posterior;
use super::super::watch::Unwatched;
use super::*;
use crate::rng::Stream;
use faer::Mat;

mod rows;

const SEED: u64 = 4_711;

struct Case {
    x: Mat<f64>,
    y: Vec<f64>,
    z: Mat<f64>,
    queries: Mat<f64>,
}

fn uniform(n: usize, d: usize, id: u64) -> Mat<f64> {
    let mut stream = Stream::new(SEED, "sparse tests", id);
    Mat::from_fn(n, d, |_, _| stream.uniform())
}

fn case(n: usize, m: usize, d: usize, id: u64) -> Case {
    let x = uniform(n, d, id);
    let mut stream = Stream::new(SEED, "noise", id);
    let y = (0..n).map(|i| (5.0 * x[(i, 0)]).sin() + x[(i, d - 1)] + 0.1 * stream.normal() + 2.0).collect();
    Case { x, y, z: uniform(m, d, id + 1000), queries: uniform(7, d, id + 2000) }
}

fn hyper(shape: Shape, lengths: &[f64]) -> Hyperparameters {
    let parts = shape.parts();
    let each = |is_there: bool, values: [f64; 2]| if is_there { values.to_vec() } else { vec![] };
    let terms = Terms {
        length_scales: each(parts.additive || parts.pairs, [0.3, 1.2]),
        weights: each(parts.additive, [0.4, 1.7]),
        pairs: parts.pairs.then_some(0.8),
        constant: parts.constant.then_some(0.5),
        slopes: each(parts.linear, [0.7, 0.2]),
        // From a vector of logarithms, which the differences go by.
        centre: each(parts.linear, [0.0; 2]),
    };
    Hyperparameters::new(Kernel::sum(shape, lengths.to_vec(), terms, 1.3, 2).unwrap(), 0.02).unwrap()
}

/// Every approximation with each objective that makes sense for it.
fn kinds() -> Vec<(Approximation, Objective)> {
    vec![
        (Approximation::Sor, Objective::Marginal),
        (Approximation::Dtc, Objective::Marginal),
        (Approximation::Dtc, Objective::Bound),
        (Approximation::Fic, Objective::Marginal),
        (Approximation::Fic, Objective::Bound),
        (Approximation::Pitc { group: 9 }, Objective::Marginal),
        (Approximation::Pitc { group: 9 }, Objective::Bound),
    ]
}

/// Calls `with` with the model of that kind.
fn with_model<T>(
    data: Data<'_>,
    z: &Mat<f64>,
    (approximation, objective): (Approximation, Objective),
    mean: Mean,
    with: impl FnOnce(&Model<'_>) -> T,
) -> T {
    match approximation {
        Approximation::Pitc { group } => {
            let groups = Groups::new(&data, group, &Unwatched).unwrap();
            with(&Model::grouped(&groups, z.as_ref(), objective, mean).unwrap())
        }
        _ => with(&Model::new(data, z.as_ref(), approximation, objective, mean).unwrap()),
    }
}

fn close(a: f64, b: f64, tolerance: f64, what: &str) {
    assert!((a - b).abs() <= tolerance * (1.0 + b.abs()), "seed {SEED}, {what}: {a} against {b}");
}

#[test]
fn inducing_points_at_the_data_give_the_exact_process() {
    // The only difference left is the jitter of 1e-10 on Kuu, magnified by the condition of Kff + σ²I (about 1e3)
    // in the likelihood and predictions.
    for shape in Shape::ALL {
        let case = case(40, 1, 2, 1);
        let data = Data::new(case.x.as_ref(), &case.y).unwrap();
        let hyper = hyper(shape, &[0.4, 0.9]);
        let exact = ExactPosterior::new(&data, &hyper, Mean::Estimated).unwrap();
        let truth = exact.predict(case.queries.as_ref()).unwrap();
        for kind in kinds() {
            with_model(data, &case.x, kind, Mean::Estimated, |model| {
                let what = format!("{shape:?} {kind:?}");
                let value = model.evidence(&hyper, &Unwatched).unwrap().value(kind.1);
                close(value, exact.log_evidence(), 1e-6, &what);
                let posterior = model.posterior(&hyper, &Unwatched).unwrap();
                close(posterior.mean_constant(), exact.mean_constant(), 1e-6, &what);
                let prediction = posterior.predict(case.queries.as_ref()).unwrap();
                for i in 0..7 {
                    close(prediction.mean[i], truth.mean[i], 1e-6, &what);
                    // SoR forgets the prior variance between its inducing points; the others do not.
                    if kind.0 != Approximation::Sor {
                        close(prediction.var[i], truth.var[i], 1e-6, &what);
                    }
                }
                if kind.0 == Approximation::Sor {
                    let here = posterior.predict(case.x.as_ref()).unwrap();
                    let there = exact.predict(case.x.as_ref()).unwrap();
                    (0..40).for_each(|i| close(here.var[i], there.var[i], 1e-6, &what));
                }
            });
        }
    }
}

#[test]
fn the_bound_is_below_the_evidence_and_grows_with_nested_inducing_sets() {
    for id in 0..5 {
        let case = case(60, 20, 2, 10 + id);
        let data = Data::new(case.x.as_ref(), &case.y).unwrap();
        let hyper = hyper(Shape::Matern52, &[0.5]);
        let exact = ExactPosterior::new(&data, &hyper, Mean::Fixed(2.0)).unwrap().log_evidence();
        let mut last = f64::NEG_INFINITY;
        for m in [1, 3, 7, 12, 20] {
            let z = case.z.as_ref().subrows(0, m).to_owned();
            let kind = (Approximation::Dtc, Objective::Bound);
            let bound = with_model(data, &z, kind, Mean::Fixed(2.0), |model| {
                model.evidence(&hyper, &Unwatched).unwrap().value(Objective::Bound)
            });
            assert!(bound >= last - 1e-6 && bound <= exact + 1e-6, "seed {SEED}: {last} {bound} {exact}");
            last = bound;
        }
    }
}

#[test]
fn gradients_agree_with_differences() {
    let sums = [
        "matern12+additive",
        "matern32+additive",
        "matern52+additive",
        "se+additive",
        "matern32+pairs",
        "matern52+constant",
        "matern52+linear",
        "se+additive+pairs+constant+linear",
    ];
    let sums = sums.map(|name| Shape::from_name(name).unwrap());
    for shape in Shape::ALL.into_iter().chain(sums) {
        for lengths in [vec![0.6], vec![0.4, 0.9]] {
            if shape.is_sum() && lengths.len() == 1 {
                continue;
            }
            let case = case(50, 8, 2, 30);
            let data = Data::new(case.x.as_ref(), &case.y).unwrap();
            let hyper = hyper(shape, &lengths);
            for mean in [Mean::Estimated, Mean::Fixed(1.5)] {
                for kind in kinds() {
                    with_model(data, &case.z, kind, mean, |model| {
                        let (value, gradient) = model.evidence_gradient(&hyper, &Unwatched).unwrap();
                        let log = hyper.to_log();
                        for p in 0..log.len() {
                            let moved = |step: f64| {
                                let mut log = log.clone();
                                log[p] += step;
                                let hyper = Hyperparameters::from_log(shape, &log);
                                model.evidence(&hyper, &Unwatched).unwrap().value(kind.1)
                            };
                            let difference = (moved(1e-5) - moved(-1e-5)) / 2e-5;
                            // Differences of step 1e-5 carry value · 1e-16/1e-5 of rounding and 1e-10 of truncation.
                            let tolerance = 1e-6 * (1.0 + difference.abs()) + 1e-10 * value.abs();
                            assert!(
                                (gradient[p] - difference).abs() < tolerance,
                                "seed {SEED}, {shape:?} {kind:?} {mean:?} parameter {p}: {} against {difference}",
                                gradient[p]
                            );
                        }
                    });
                }
            }
        }
    }
}

#[test]
fn a_weight_is_as_many_equal_points() {
    let case = case(30, 6, 2, 33);
    let data = Data::new(case.x.as_ref(), &case.y).unwrap();
    let three: Vec<usize> = (0..90).map(|i| i / 3).collect();
    let (x, y) = data.rows(&three);
    let tripled = Data::new(x.as_ref(), &y).unwrap();
    let hyper = hyper(Shape::Matern52, &[0.4, 0.9]);
    // Under PITC the copies of a group are groups of their own, which the k-d tree does not make.
    for kind in
        kinds().into_iter().filter(|kind| !matches!(kind, (Approximation::Pitc { .. }, Objective::Marginal)))
    {
        let evaluate = |data, weight| {
            with_model(data, &case.z, kind, Mean::Estimated, |model| {
                model.weighted(weight).evidence_gradient(&hyper, &Unwatched).unwrap()
            })
        };
        let (a, b) = (evaluate(data, 3.0), evaluate(tripled, 1.0));
        close(a.0, b.0, 1e-11, "value");
        a.1.iter().zip(&b.1).for_each(|(a, b)| close(*a, *b, 1e-9, "gradient"));
    }
}

#[test]
fn prediction_gradients_agree_with_differences() {
    for kind in kinds() {
        let case = case(50, 8, 2, 31);
        let data = Data::new(case.x.as_ref(), &case.y).unwrap();
        let hyper = hyper(Shape::Matern52, &[0.4, 0.9]);
        let posterior = with_model(data, &case.z, kind, Mean::Estimated, |model| {
            model.posterior(&hyper, &Unwatched).unwrap()
        });
        check_prediction_gradient(&posterior, &case.queries);
    }
    let case = case(30, 1, 2, 32);
    let data = Data::new(case.x.as_ref(), &case.y).unwrap();
    let exact = ExactPosterior::new(&data, &hyper(Shape::Matern32, &[0.7]), Mean::Estimated).unwrap();
    check_prediction_gradient(&exact, &case.queries);
}

fn check_prediction_gradient(posterior: &dyn Posterior, queries: &Mat<f64>) {
    let at = posterior.predict_gradient(queries.as_ref()).unwrap();
    assert_eq!(at.prediction, posterior.predict(queries.as_ref()).unwrap());
    for k in 0..2 {
        let moved = |step: f64| {
            let x = Mat::from_fn(7, 2, |i, j| queries[(i, j)] + if j == k { step } else { 0.0 });
            posterior.predict(x.as_ref()).unwrap()
        };
        let (up, down) = (moved(1e-5), moved(-1e-5));
        for i in 0..7 {
            close(at.mean_gradient[(i, k)], (up.mean[i] - down.mean[i]) / 2e-5, 1e-6, "mean gradient");
            close(at.var_gradient[(i, k)], (up.var[i] - down.var[i]) / 2e-5, 1e-6, "variance gradient");
        }
    }
}

#[test]
fn updates_equal_a_rebuild() {
    for kind in kinds() {
        let case = case(45, 8, 2, 40);
        let hyper = hyper(Shape::Matern32, &[0.5]);
        let part = case.x.as_ref().subrows(0, 30).to_owned();
        let first = Data::new(part.as_ref(), &case.y[..30]).unwrap();
        let mut updated = with_model(first, &case.z, kind, Mean::Estimated, |model| {
            model.posterior(&hyper, &Unwatched).unwrap()
        });
        for i in 30..45 {
            updated.observe(&[case.x[(i, 0)], case.x[(i, 1)]], case.y[i]).unwrap();
        }
        let all = Data::new(case.x.as_ref(), &case.y).unwrap();
        let rebuilt = match kind.0 {
            // New points are groups of their own.
            Approximation::Pitc { group } => {
                let groups = Groups::new(&first, group, &Unwatched).unwrap();
                let grown = groups.with_singles(&all, 30).unwrap();
                let model = Model::grouped(&grown, case.z.as_ref(), kind.1, Mean::Estimated).unwrap();
                model.posterior(&hyper, &Unwatched).unwrap()
            }
            _ => with_model(all, &case.z, kind, Mean::Estimated, |model| {
                model.posterior(&hyper, &Unwatched).unwrap()
            }),
        };
        assert_eq!(updated.n_observations(), 45);
        close(updated.log_marginal(), rebuilt.log_marginal(), 1e-10, "log marginal");
        let (a, b) = (
            updated.predict(case.queries.as_ref()).unwrap(),
            rebuilt.predict(case.queries.as_ref()).unwrap(),
        );
        for i in 0..7 {
            close(a.mean[i], b.mean[i], 1e-10, "mean");
            close(a.var[i], b.var[i], 1e-10, "variance");
        }
    }
}

#[test]
fn hallucinated_points_leave_the_mean_and_shrink_the_variance() {
    let case = case(45, 8, 2, 50);
    let data = Data::new(case.x.as_ref(), &case.y).unwrap();
    let hyper = hyper(Shape::Matern32, &[0.5]);
    let mut all: Vec<Box<dyn Posterior>> = kinds()
        .into_iter()
        .map(|kind| {
            with_model(data, &case.z, kind, Mean::Estimated, |model| -> Box<dyn Posterior> {
                Box::new(model.posterior(&hyper, &Unwatched).unwrap())
            })
        })
        .collect();
    all.push(Box::new(ExactPosterior::new(&data, &hyper, Mean::Estimated).unwrap()));
    let pending = uniform(5, 2, 51);
    for posterior in all {
        let before = posterior.predict(case.queries.as_ref()).unwrap();
        let mut with_pending = posterior.hallucinate(pending.as_ref()).unwrap();
        assert_eq!(with_pending.n_observations(), 50);
        let after = with_pending.predict(case.queries.as_ref()).unwrap();
        for i in 0..7 {
            close(after.mean[i], before.mean[i], 1e-10, "mean");
            assert!(after.var[i] <= before.var[i] * (1.0 + 1e-10), "seed {SEED}");
        }
        // Observing after hallucinating equals doing both for real: the mean was left, not forgotten.
        let means = posterior.predict(pending.as_ref()).unwrap().mean;
        let mut real = posterior.hallucinate(Mat::zeros(0, 2).as_ref()).unwrap();
        for i in 0..5 {
            real.observe(&[pending[(i, 0)], pending[(i, 1)]], means[i]).unwrap();
        }
        real.observe(&[0.3, 0.4], 1.0).unwrap();
        with_pending.observe(&[0.3, 0.4], 1.0).unwrap();
        let (a, b) = (
            with_pending.predict(case.queries.as_ref()).unwrap(),
            real.predict(case.queries.as_ref()).unwrap(),
        );
        (0..7).for_each(|i| close(a.mean[i], b.mean[i], 1e-9, "mean after observing"));
        // The original knows nothing of it.
        assert_eq!(posterior.predict(case.queries.as_ref()).unwrap(), before);
    }
}

#[test]
fn row_order_does_not_matter() {
    let case = case(45, 8, 2, 60);
    let mut order: Vec<usize> = (0..45).collect();
    Stream::new(SEED, "row order", 0).shuffle(&mut order);
    let data = Data::new(case.x.as_ref(), &case.y).unwrap();
    let (x, y) = data.rows(&order);
    let shuffled = Data::new(x.as_ref(), &y).unwrap();
    let hyper = hyper(Shape::Matern52, &[0.4, 0.9]);
    for kind in kinds() {
        let run = |data: Data<'_>| {
            with_model(data, &case.z, kind, Mean::Estimated, |model| {
                let (value, gradient) = model.evidence_gradient(&hyper, &Unwatched).unwrap();
                let prediction =
                    model.posterior(&hyper, &Unwatched).unwrap().predict(case.queries.as_ref()).unwrap();
                (value, gradient, prediction)
            })
        };
        let (a, b) = (run(data), run(shuffled));
        close(a.0, b.0, 1e-11, "value");
        a.1.iter().zip(&b.1).for_each(|(a, b)| close(*a, *b, 1e-9, "gradient"));
        a.2.mean.iter().zip(&b.2.mean).for_each(|(a, b)| close(*a, *b, 1e-10, "mean"));
        a.2.var.iter().zip(&b.2.var).for_each(|(a, b)| close(*a, *b, 1e-10, "variance"));
    }
}

#[test]
fn threads_do_not_change_a_bit() {
    let case = case(9_000, 20, 2, 70);
    let data = Data::new(case.x.as_ref(), &case.y).unwrap();
    let hyper = hyper(Shape::Matern32, &[0.3]);
    for kind in kinds() {
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                with_model(data, &case.z, kind, Mean::Estimated, |model| {
                    let (value, gradient) = model.evidence_gradient(&hyper, &Unwatched).unwrap();
                    let posterior = model.posterior(&hyper, &Unwatched).unwrap();
                    let prediction = posterior.predict(case.queries.as_ref()).unwrap();
                    let mut numbers = vec![value];
                    numbers.extend(gradient.iter().chain(&prediction.mean).chain(&prediction.var));
                    numbers.iter().map(|number| number.to_bits()).collect::<Vec<u64>>()
                })
            })
        };
        let one = run(1);
        assert_eq!(one, run(2), "{kind:?}");
        assert_eq!(one, run(3), "{kind:?}");
    }
}

#[test]
fn samples_have_the_posterior_moments() {
    let case = case(45, 8, 2, 80);
    let data = Data::new(case.x.as_ref(), &case.y).unwrap();
    let hyper = hyper(Shape::Matern52, &[0.5]);
    for kind in [(Approximation::Fic, Objective::Bound), (Approximation::Sor, Objective::Marginal)] {
        let posterior = with_model(data, &case.z, kind, Mean::Estimated, |model| {
            model.posterior(&hyper, &Unwatched).unwrap()
        });
        let (mean, covariance) = posterior.joint(case.queries.as_ref()).unwrap();
        let prediction = posterior.predict(case.queries.as_ref()).unwrap();
        let n = 20_000;
        let samples =
            posterior.sample(case.queries.as_ref(), n, &mut Stream::new(SEED, "samples", 0)).unwrap();
        for i in 0..7 {
            close(covariance[(i, i)], prediction.var[i], 1e-9, "joint variance");
            close(mean[i], prediction.mean[i], 1e-12, "joint mean");
            let average = (0..n).map(|s| samples[(i, s)]).sum::<f64>() / n as f64;
            // Five standard errors.
            assert!((average - mean[i]).abs() < 5.0 * (covariance[(i, i)] / n as f64).sqrt(), "seed {SEED}");
            for j in 0..7 {
                let product =
                    (0..n).map(|s| (samples[(i, s)] - mean[i]) * (samples[(j, s)] - mean[j])).sum::<f64>()
                        / n as f64;
                let error = ((covariance[(i, i)] * covariance[(j, j)] + covariance[(i, j)].powi(2))
                    / n as f64)
                    .sqrt();
                assert!((product - covariance[(i, j)]).abs() < 5.0 * error + 1e-12, "seed {SEED}");
            }
        }
    }
}

#[test]
fn covariances_are_those_of_the_joint_and_their_gradient_agrees_with_differences() {
    let case = case(45, 8, 2, 85);
    let data = Data::new(case.x.as_ref(), &case.y).unwrap();
    let hyper = hyper(Shape::Matern52, &[0.5, 0.8]);
    let mut all: Vec<Box<dyn Posterior>> = kinds()
        .into_iter()
        .map(|kind| {
            with_model(data, &case.z, kind, Mean::Estimated, |model| -> Box<dyn Posterior> {
                Box::new(model.posterior(&hyper, &Unwatched).unwrap())
            })
        })
        .collect();
    all.push(Box::new(ExactPosterior::new(&data, &hyper, Mean::Estimated).unwrap()));
    let (x, others) = (case.queries.subrows(0, 3), case.queries.subrows(3, 4));
    let weights = uniform(3, 4, 86);
    for posterior in all {
        let (_, joint) = posterior.joint(case.queries.as_ref()).unwrap();
        let covariance = posterior.covariance(x, others).unwrap();
        assert_eq!((covariance.nrows(), covariance.ncols()), (3, 4));
        for i in 0..3 {
            (0..4).for_each(|j| close(covariance[(i, j)], joint[(i, 3 + j)], 1e-12, "covariance"));
        }
        let gradient = posterior.covariance_gradient(x, others, weights.as_ref()).unwrap();
        let weighted_sum = |i: usize, k: usize, step: f64| {
            let mut moved = x.to_owned();
            moved[(i, k)] += step;
            let covariance = posterior.covariance(moved.as_ref(), others).unwrap();
            (0..4).map(|j| weights[(i, j)] * covariance[(i, j)]).sum::<f64>()
        };
        for i in 0..3 {
            for k in 0..2 {
                // Rounding 1e-15/1e-5 and curvature 1e-10 are both below the bound.
                let difference = (weighted_sum(i, k, 1e-5) - weighted_sum(i, k, -1e-5)) / 2e-5;
                close(gradient[(i, k)], difference, 1e-7, "gradient of the covariance");
            }
        }
        let none = Mat::zeros(0, 2);
        assert_eq!(posterior.covariance(x, none.as_ref()).unwrap().ncols(), 0);
        let wrong = posterior.covariance_gradient(x, none.as_ref(), weights.as_ref());
        assert!(matches!(wrong, Err(Error::Size { expected: 0, found: 4, .. })));
    }
}

#[test]
fn bad_models_are_refused() {
    let case = case(10, 3, 2, 90);
    let data = Data::new(case.x.as_ref(), &case.y).unwrap();
    let make = |z: &Mat<f64>, approximation| {
        Model::new(data, z.as_ref(), approximation, Objective::Bound, Mean::Estimated).map(|_| ())
    };
    assert!(matches!(
        make(&Mat::zeros(0, 2), Approximation::Fic),
        Err(Error::Empty { what: "inducing points" })
    ));
    assert!(matches!(
        make(&Mat::zeros(3, 5), Approximation::Fic),
        Err(Error::Size { expected: 2, found: 5, .. })
    ));
    assert!(matches!(make(&Mat::full(3, 2, f64::NAN), Approximation::Fic), Err(Error::NotFinite { .. })));
    assert!(make(&case.z, Approximation::Pitc { group: 4 }).is_err());
    for group in [0, 1_000_000] {
        assert!(matches!(Groups::new(&data, group, &Unwatched), Err(Error::OutOfRange { .. })));
    }
    let mut posterior = with_model(data, &case.z, kinds()[3], Mean::Estimated, |model| {
        model.posterior(&hyper(Shape::Matern32, &[0.5]), &Unwatched).unwrap()
    });
    assert!(posterior.predict(Mat::zeros(1, 3).as_ref()).is_err());
    assert!(posterior.observe(&[0.1], 1.0).is_err());
    assert!(posterior.observe(&[0.1, 0.2], f64::NAN).is_err());
    assert!(posterior.predict(Mat::zeros(0, 2).as_ref()).unwrap().mean.is_empty());
}

#[test]
fn a_watch_stops_a_pass() {
    struct Now;
    impl Watch for Now {
        fn cancelled(&self) -> bool {
            true
        }
    }
    let case = case(10, 3, 2, 95);
    let data = Data::new(case.x.as_ref(), &case.y).unwrap();
    let stopped = with_model(data, &case.z, kinds()[3], Mean::Estimated, |model| {
        model.posterior(&hyper(Shape::Matern32, &[0.5]), &Now).map(|_| ())
    });
    assert!(matches!(stopped, Err(Error::Stopped { .. })));
}

#[test]
fn a_process_comes_back_from_its_state_with_the_same_bits() {
    let case = case(60, 12, 2, 77);
    let data = Data::new(case.x.as_ref(), &case.y).unwrap();
    let hyper = hyper(Shape::Matern32, &[0.4, 0.7]);
    for kind in kinds() {
        for mean in [Mean::Estimated, Mean::Fixed(1.5)] {
            let mut first =
                with_model(data, &case.z, kind, mean, |model| model.posterior(&hyper, &Unwatched).unwrap());
            first.observe(&[0.2, 0.9], 3.0).unwrap();
            let mut second = SparsePosterior::from_state(first.state()).unwrap();
            for round in 0..2 {
                assert_eq!(second.state(), first.state(), "{kind:?}, round {round}");
                assert_eq!(second.log_marginal(), first.log_marginal(), "{kind:?}, round {round}");
                assert_eq!(second.n_observations(), first.n_observations());
                let (a, b) = (
                    first.predict(case.queries.as_ref()).unwrap(),
                    second.predict(case.queries.as_ref()).unwrap(),
                );
                assert_eq!((&a.mean, &a.var), (&b.mean, &b.var), "seed {SEED}, {kind:?}, round {round}");
                assert_eq!(first.predict_mean(case.queries.as_ref()).unwrap(), a.mean);
                first.observe(&[0.5, 0.1], -1.0).unwrap();
                second.observe(&[0.5, 0.1], -1.0).unwrap();
            }
        }
    }
}

#[test]
fn a_state_that_no_fit_left_is_refused() {
    let case = case(30, 5, 2, 78);
    let data = Data::new(case.x.as_ref(), &case.y).unwrap();
    let hyper = hyper(Shape::Matern52, &[0.5]);
    let model =
        Model::new(data, case.z.as_ref(), Approximation::Fic, Objective::Bound, Mean::Estimated).unwrap();
    let good = model.posterior(&hyper, &Unwatched).unwrap().state();
    type Damage = (&'static str, fn(&mut State));
    let damages: [Damage; 9] = [
        ("Luu is smaller", |state| state.luu = Mat::zeros(4, 4)),
        ("Luu is not square", |state| state.luu = Mat::zeros(5, 4)),
        ("Luu has a zero pivot", |state| state.luu[(2, 2)] = 0.0),
        ("LB has a NaN", |state| state.lb[(4, 1)] = f64::NAN),
        ("v_y is short", |state| state.v_y.truncate(4)),
        ("v_one is infinite", |state| state.v_one[0] = f64::INFINITY),
        ("a sum is NaN", |state| state.sums[3] = f64::NAN),
        ("there are no inducing points", |state| state.inducing = Mat::zeros(0, 2)),
        ("a variance is negative", |state| state.hyper.noise_var = -1.0),
    ];
    for (what, damage) in damages {
        let mut state = good.clone();
        damage(&mut state);
        assert!(SparsePosterior::from_state(state).is_err(), "{what}");
    }
    assert!(SparsePosterior::from_state(good).is_ok());
}
