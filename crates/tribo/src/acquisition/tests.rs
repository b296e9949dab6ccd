//! What every acquisition must satisfy: gradients agree with differences on real posteriors, values and gradients
//! stand far into both tails.

use super::toy::Toy;
use super::*;
use crate::error::Error;
use crate::rng::Stream;
use crate::surrogate::Prediction;
use crate::surrogate::data::Data;
use crate::surrogate::exact::ExactPosterior;
use crate::surrogate::hyper::{Hyperparameters, Mean};
use crate::surrogate::kernel::{Kernel, Shape};
use crate::surrogate::sparse::{Approximation, Model, Objective};
use crate::surrogate::watch::Unwatched;

const SEED: u64 = 77;
const NOISE_VAR: f64 = 1e-3;

type Named<T> = (&'static str, Box<T>);

fn uniform(n: usize, d: usize, id: u64) -> Mat<f64> {
    let mut stream = Stream::new(SEED, "acquisition tests", id);
    Mat::from_fn(n, d, |_, _| stream.uniform())
}

/// An exact process and a sparse one on the same 40 points in three dimensions, and the lowest y.
fn posteriors() -> (Vec<Named<dyn Posterior>>, f64) {
    let (x, z) = (uniform(40, 3, 0), uniform(12, 3, 1));
    let y: Vec<f64> = (0..40).map(|i| (6.0 * x[(i, 0)]).sin() + x[(i, 1)] * x[(i, 2)]).collect();
    let best = y.iter().copied().fold(f64::INFINITY, f64::min);
    let data = Data::new(x.as_ref(), &y).unwrap();
    let kernel = Kernel::new(Shape::Matern52, vec![0.4, 0.7, 0.9], 0.8, 3).unwrap();
    let hyper = Hyperparameters::new(kernel, NOISE_VAR).unwrap();
    let model =
        Model::new(data, z.as_ref(), Approximation::Fic, Objective::Marginal, Mean::Estimated).unwrap();
    let sparse = model.posterior(&hyper, &Unwatched).unwrap();
    let exact = ExactPosterior::new(&data, &hyper, Mean::Estimated).unwrap();
    (vec![("exact", Box::new(exact)), ("sparse", Box::new(sparse))], best)
}

fn all(posterior: &dyn Posterior, best: f64) -> Vec<Named<dyn Acquisition>> {
    let knowledge = KnowledgeGradient::new(posterior, uniform(15, 3, 2).as_ref(), NOISE_VAR).unwrap();
    vec![
        ("ucb", Box::new(ConfidenceBound { kappa: 1.7 })),
        ("ei", Box::new(ExpectedImprovement { best })),
        ("log ei", Box::new(LogExpectedImprovement { best })),
        ("log ei, hopeless", Box::new(LogExpectedImprovement { best: best - 100.0 })),
        ("log ei, easy", Box::new(LogExpectedImprovement { best: best + 100.0 })),
        ("mean", Box::new(LogMeanImprovement { best, noise_var: NOISE_VAR })),
        ("mean, much noise", Box::new(LogMeanImprovement { best, noise_var: 5.0 })),
        ("pi", Box::new(ProbabilityOfImprovement { best })),
        ("pi, hopeless", Box::new(ProbabilityOfImprovement { best: best - 100.0 })),
        ("variance", Box::new(PosteriorVariance)),
        ("kg", Box::new(knowledge)),
    ]
}

#[test]
fn gradients_agree_with_differences() {
    let (posteriors, best) = posteriors();
    let x = uniform(9, 3, 3);
    for (model, posterior) in posteriors {
        for (name, acquisition) in all(posterior.as_ref(), best) {
            let values = acquisition.evaluate(posterior.as_ref(), x.as_ref()).unwrap();
            let (same, gradient) = acquisition.evaluate_gradient(posterior.as_ref(), x.as_ref()).unwrap();
            let scale = values.iter().map(|v| v.abs()).fold(1e-3, f64::max);
            let moved = |k: usize, step: f64| {
                let moved = Mat::from_fn(9, 3, |i, j| x[(i, j)] + if j == k { step } else { 0.0 });
                acquisition.evaluate(posterior.as_ref(), moved.as_ref()).unwrap()
            };
            for k in 0..3 {
                // Fourth-order differences; rounding of the variance, 1e-14 relative, is divided by 1e-4.
                let (near, far) = ((moved(k, 1e-4), moved(k, -1e-4)), (moved(k, 2e-4), moved(k, -2e-4)));
                for i in 0..9 {
                    assert!((values[i] - same[i]).abs() <= 1e-10 * scale, "seed {SEED}, {name} on {model}");
                    let difference = (8.0 * (near.0[i] - near.1[i]) - (far.0[i] - far.1[i])) / (12.0 * 1e-4);
                    let (found, allowed) = (gradient[(i, k)], 1e-6 * (scale + difference.abs()));
                    assert!(
                        (found - difference).abs() <= allowed,
                        "seed {SEED}, {name} on {model}, point {i}, input {k}: {found} against {difference}"
                    );
                }
            }
        }
    }
}

#[test]
fn both_tails_are_finite_and_have_a_slope() {
    // Mean ±1e6 standard deviations off a best of 0, rising with x; standard deviation 1e-12, rising as well.
    for side in [1.0, -1.0] {
        let toy = Toy::new(
            1,
            move |x| (1e-6 * side + 1e-9 * x[0], vec![1e-9]),
            |x| (1e-24 * (1.0 + x[0]), vec![1e-24]),
        );
        let x = Mat::from_fn(3, 1, |i, _| 0.25 * i as f64);
        let evaluate =
            |acquisition: &dyn Acquisition| acquisition.evaluate_gradient(&toy, x.as_ref()).unwrap();
        let acquisitions: [&dyn Acquisition; 5] = [
            &ConfidenceBound { kappa: 2.0 },
            &ExpectedImprovement { best: 0.0 },
            &LogExpectedImprovement { best: 0.0 },
            &ProbabilityOfImprovement { best: 0.0 },
            &PosteriorVariance,
        ];
        for acquisition in acquisitions {
            let (values, gradient) = evaluate(acquisition);
            assert!((0..3).all(|i| values[i].is_finite() && gradient[(i, 0)].is_finite()));
        }
        let (values, gradient) = evaluate(&LogExpectedImprovement { best: 0.0 });
        for i in 0..3 {
            let x = x[(i, 0)];
            let (var, u) = (1e-24 * (1.0 + x), -(1e-6 * side + 1e-9 * x) / (1e-12 * (1.0 + x).sqrt()));
            // Leading terms: log EI = log s - u²/2 - log √2π - 2 log|u| far below, log(best - m) far above.
            let (value, slope) = if side > 0.0 {
                let constant = 0.5 * (2.0 * std::f64::consts::PI).ln();
                let value = 0.5 * var.ln() - 0.5 * u * u - constant - 2.0 * u.abs().ln();
                // -u²/2 = -m²/(2 s²): its derivative is -m m'/s² + m²/(2 s⁴) (s²)'.
                let mean = 1e-6 + 1e-9 * x;
                (value, -mean * 1e-9 / var + mean * mean / (2.0 * var * var) * 1e-24)
            } else {
                let improvement = 1e-6 - 1e-9 * x;
                (improvement.ln(), -1e-9 / improvement)
            };
            assert!((values[i] / value - 1.0).abs() < 1e-11, "{} against {value}", values[i]);
            assert!((gradient[(i, 0)] / slope - 1.0).abs() < 1e-9, "{} against {slope}", gradient[(i, 0)]);
        }
        // Far below, the logarithm of the probability of improvement is as informative.
        let (_, gradient) = evaluate(&ProbabilityOfImprovement { best: 0.0 });
        assert!(side < 0.0 || gradient[(0, 0)] > 1e9);
    }
}

#[test]
fn certain_points_have_their_limits() {
    let pointwise: [(&dyn Pointwise, f64, f64); 5] = [
        (&ConfidenceBound { kappa: 2.0 }, 2.0, -4.0),
        (&ExpectedImprovement { best: 1.0 }, 3.0, 0.0),
        (&LogExpectedImprovement { best: 1.0 }, 3.0_f64.ln(), f64::NEG_INFINITY),
        (&ProbabilityOfImprovement { best: 1.0 }, 0.0, f64::NEG_INFINITY),
        (&PosteriorVariance, 0.0, 0.0),
    ];
    for (acquisition, below, above) in pointwise {
        let (a, b) = (acquisition.score(-2.0, 0.0), acquisition.score(4.0, 0.0));
        assert_eq!((a.value, b.value), (below, above));
        for score in [a, b, acquisition.score(1.0, 0.0)] {
            assert!(score.mean_slope.is_finite() && score.var_slope == 0.0);
        }
        // As the variance goes to zero the value goes there too.
        let nearly = acquisition.score(-2.0, 1e-30);
        assert!((nearly.value - below).abs() < 1e-12);
    }
}

#[test]
fn logarithms_agree_with_what_they_are_of() {
    for (mean, var) in [(0.0, 1.0), (2.0, 0.5), (-3.0, 0.1), (0.3, 1e-4)] {
        let plain = ExpectedImprovement { best: 0.2 }.score(mean, var);
        let log = LogExpectedImprovement { best: 0.2 }.score(mean, var);
        assert!((log.value.exp() / plain.value - 1.0).abs() < 1e-12);
        assert!((log.mean_slope / (plain.mean_slope / plain.value) - 1.0).abs() < 1e-12);
        assert!((log.var_slope / (plain.var_slope / plain.value) - 1.0).abs() < 1e-12);
    }
}

/// The variance of the next mean, by taking a measurement in: one that comes out higher by 1 moves the mean by some part, and
/// measurements vary by s² + τ².
#[test]
fn the_improvement_of_the_mean_is_that_after_a_measurement() {
    let (x, y) = (uniform(20, 3, 0), uniform(20, 1, 1));
    let y: Vec<f64> = (0..20).map(|i| y[(i, 0)]).collect();
    let kernel = Kernel::new(Shape::Matern52, vec![0.4, 0.7, 0.9], 0.8, 3).unwrap();
    let hyper = Hyperparameters::new(kernel, NOISE_VAR).unwrap();
    let new = || ExactPosterior::new(&Data::new(x.as_ref(), &y).unwrap(), &hyper, Mean::Fixed(0.5)).unwrap();
    let points = uniform(6, 3, 5);
    for i in 0..points.nrows() {
        let at = points.get(i..i + 1, ..);
        let Prediction { mean, var, .. } = new().predict(at).unwrap();
        let point: Vec<f64> = (0..3).map(|k| points[(i, k)]).collect();
        let mut after = new();
        after.observe(&point, mean[0] + 1.0).unwrap();
        let moved = after.predict(at).unwrap().mean[0] - mean[0];
        let next_var = moved * moved * (var[0] + NOISE_VAR);
        let best = mean[0] - 0.1;
        let expected = LogExpectedImprovement { best }.score(mean[0], next_var).value;
        let found = LogMeanImprovement { best, noise_var: NOISE_VAR }.score(mean[0], var[0]).value;
        assert!((found - expected).abs() < 1e-9, "point {i}: {found} and {expected}");
    }
    let (plain, none) =
        (LogExpectedImprovement { best: 0.2 }, LogMeanImprovement { best: 0.2, noise_var: 0.0 });
    for (mean, var) in [(0.0, 1.0), (2.0, 0.5), (0.1, 0.0), (0.3, 0.0)] {
        assert_eq!(
            none.score(mean, var),
            plain.score(mean, var),
            "without noise it is the expected improvement"
        );
    }
}

#[test]
fn knowledge_gradients_need_a_set_and_a_variance() {
    let (posteriors, _) = posteriors();
    let posterior = posteriors[0].1.as_ref();
    let set = uniform(5, 3, 4);
    let make =
        |set: MatRef<'_, f64>, noise_var| KnowledgeGradient::new(posterior, set, noise_var).map(|_| ());
    assert!(matches!(make(Mat::zeros(0, 3).as_ref(), 0.1), Err(Error::Empty { .. })));
    assert!(matches!(make(Mat::zeros(2, 1).as_ref(), 0.1), Err(Error::Size { .. })));
    for noise_var in [-1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(make(set.as_ref(), noise_var), Err(Error::OutOfRange { .. })));
    }
}

#[test]
fn knowledge_gradient_is_the_fall_of_the_lowest_mean() {
    // The definition, with none of the formulas: observe y, look at the lowest mean, average over y.
    let (x, set) = (uniform(6, 3, 5), uniform(20, 3, 6));
    let y: Vec<f64> = (0..6).map(|i| (6.0 * x[(i, 0)]).sin() + x[(i, 1)]).collect();
    let kernel = Kernel::new(Shape::Matern52, vec![0.6], 0.8, 3).unwrap();
    let hyper = Hyperparameters::new(kernel, 0.01).unwrap();
    // A fixed mean: re-estimating it is one thing more that an observation changes.
    let data = Data::new(x.as_ref(), &y).unwrap();
    let posterior = ExactPosterior::new(&data, &hyper, Mean::Fixed(0.3)).unwrap();
    let lowest = |posterior: &dyn Posterior| {
        posterior.predict(set.as_ref()).unwrap().mean.into_iter().fold(f64::INFINITY, f64::min)
    };
    let point = [0.8, 0.2, 0.1];
    let at = MatRef::from_row_major_slice(&point, 1, 3);
    let prediction = posterior.predict(at).unwrap();
    let sd = (prediction.var[0] + 0.01).sqrt();
    let (n, before) = (2_000, lowest(&posterior));
    let step = 16.0 / n as f64;
    let mut fall = 0.0;
    for i in 0..n {
        let z = -8.0 + (i as f64 + 0.5) * step;
        let mut after = posterior.clone();
        after.observe(&point, prediction.mean[0] + sd * z).unwrap();
        fall += (before - lowest(&after)) * normal::pdf(z) * step;
    }
    let knowledge = KnowledgeGradient::new(&posterior, set.as_ref(), 0.01).unwrap();
    let gain = knowledge.evaluate(&posterior, at).unwrap()[0];
    // The midpoint rule is off by about step² = 6e-5 of each kink's share.
    assert!(gain > 1e-3 && (gain / fall - 1.0).abs() < 1e-4, "seed {SEED}: {gain} against {fall}");
}
