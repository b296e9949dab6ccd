//! Golden values: the surrogate against numbers computed elsewhere, from outside the crate.
//!
//! The files in `golden/` come from GPflow and from 50-digit arithmetic (`tools/golden/README.md`); each names its
//! provenance. They are never written from our own output.
//!
//! Tolerances, all relative to 1 + |reference|:
//! - exact regression, 1e-11: rounding 1e-16 times the condition of Kff + σ²I (below 1e3), times 100 to spare;
//! - sparse, 1e-10 · condition(Kuu) · 10: the reference has no jitter, we add 1e-10 · s² to Kuu. That moves Q by
//!   at most 1e-10 · s² |Kuu⁻¹ k_u|² <= 1e-10 · condition · s² at each point; the ten is for the sum over points.
//!   Rounding is a thousand times smaller.
//! - exp, 2 units in the last place: what `linalg::exp` promises.

use faer::{Mat, MatRef};
use serde_json::Value;
use tribo::linalg::exp::exp_in_place;
use tribo::surrogate::data::Data;
use tribo::surrogate::exact::ExactPosterior;
use tribo::surrogate::hyper::{Hyperparameters, Mean};
use tribo::surrogate::kernel::{Kernel, Shape};
use tribo::surrogate::posterior::{Posterior, Prediction};
use tribo::surrogate::sparse::{Approximation, Groups, Model, Objective};
use tribo::surrogate::watch::Unwatched;

const EXACT_TOLERANCE: f64 = 1e-11;
/// The relative jitter that the library puts on Kuu when nothing more is needed.
const JITTER: f64 = 1e-10;
const EXP_ULPS: u64 = 2;

fn parse(text: &str) -> Value {
    serde_json::from_str(text).expect("a golden file is JSON")
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is not a number"))
}

fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap_or_else(|| panic!("{value} is not a list"))
}

fn numbers(value: &Value) -> Vec<f64> {
    list(value).iter().map(number).collect()
}

fn matrix(value: &Value) -> Mat<f64> {
    let rows: Vec<Vec<f64>> = list(value).iter().map(numbers).collect();
    Mat::from_fn(rows.len(), rows[0].len(), |i, j| rows[i][j])
}

fn hyperparameters(case: &Value, d: usize) -> Hyperparameters {
    let name = case["kernel"].as_str().expect("a kernel has a name");
    let shape = Shape::from_name(name).unwrap_or_else(|error| panic!("{error}"));
    let kernel = Kernel::new(shape, numbers(&case["length_scales"]), number(&case["signal_var"]), d);
    Hyperparameters::new(kernel.expect("kernel"), number(&case["noise_var"])).expect("hyper-parameters")
}

/// In the order of `Hyperparameters::to_log`.
fn gradient(value: &Value) -> Vec<f64> {
    let mut gradient = numbers(&value["log_length_scales"]);
    gradient.push(number(&value["log_signal_var"]));
    gradient.push(number(&value["log_noise_var"]));
    gradient
}

fn close(ours: f64, reference: f64, tolerance: f64, what: &str) {
    let error = (ours - reference).abs() / (1.0 + reference.abs());
    assert!(error <= tolerance, "{what}: {ours:e} against {reference:e}, off by {error:e} > {tolerance:e}");
}

fn all_close(ours: &[f64], reference: &[f64], tolerance: f64, what: &str) {
    assert_eq!(ours.len(), reference.len(), "{what}: number of values");
    for (i, (ours, reference)) in ours.iter().zip(reference).enumerate() {
        close(*ours, *reference, tolerance, &format!("{what}[{i}]"));
    }
}

fn prediction_close(ours: &Prediction, reference: &Value, tolerance: f64, what: &str) {
    all_close(&ours.mean, &numbers(&reference["predict_mean"]), tolerance, &format!("{what} mean"));
    all_close(&ours.var, &numbers(&reference["predict_var"]), tolerance, &format!("{what} variance"));
}

/// The inputs every regression file has.
struct Inputs {
    x: Mat<f64>,
    y: Vec<f64>,
    queries: Mat<f64>,
}

impl Inputs {
    fn new(file: &Value) -> Inputs {
        Inputs { x: matrix(&file["X"]), y: numbers(&file["y"]), queries: matrix(&file["X_query"]) }
    }

    fn data(&self) -> Data<'_> {
        Data::new(self.x.as_ref(), &self.y).expect("golden data")
    }
}

#[test]
fn exact_regression_equals_gpflow() {
    let file = parse(include_str!("golden/exact.json"));
    let inputs = Inputs::new(&file);
    let cases = list(&file["cases"]);
    assert!(!cases.is_empty());
    for case in cases {
        let what = format!("{} {}", case["kernel"], case["length_scales"]);
        let hyper = hyperparameters(case, inputs.x.ncols());
        let mean = Mean::Fixed(number(&case["mean"]));
        let posterior = ExactPosterior::new(&inputs.data(), &hyper, mean).unwrap();
        assert_eq!(posterior.jitter(), 0.0, "{what}");
        let value = number(&case["log_marginal_likelihood"]);
        close(posterior.log_evidence(), value, EXACT_TOLERANCE, &format!("{what} evidence"));
        let slopes = posterior.log_evidence_gradient();
        all_close(&slopes, &gradient(&case["gradient"]), EXACT_TOLERANCE, &format!("{what} gradient"));
        let prediction = posterior.predict(inputs.queries.as_ref()).unwrap();
        prediction_close(&prediction, case, EXACT_TOLERANCE, &what);
        let (means, covariance) = posterior.joint(inputs.queries.as_ref()).unwrap();
        all_close(&means, &numbers(&case["predict_mean"]), EXACT_TOLERANCE, &format!("{what} joint mean"));
        for (i, row) in list(&case["predict_cov"]).iter().enumerate() {
            let ours: Vec<f64> = (0..covariance.ncols()).map(|j| covariance[(i, j)]).collect();
            all_close(&ours, &numbers(row), EXACT_TOLERANCE, &format!("{what} covariance row {i}"));
        }
    }
}

/// Objective and gradient of a model against `reference`, the objective under the name `value`.
fn objective_close(
    model: &Model<'_>,
    hyper: &Hyperparameters,
    (reference, value): (&Value, &str),
    tolerance: f64,
    what: &str,
) {
    let (ours, slopes) = model.evidence_gradient(hyper, &Unwatched).expect("objective and gradient");
    close(ours, number(&reference[value]), tolerance, &format!("{what} objective"));
    all_close(&slopes, &gradient(&reference["gradient"]), tolerance, &format!("{what} gradient"));
}

/// Predictions of a model against `reference`.
fn posterior_close(
    model: &Model<'_>,
    hyper: &Hyperparameters,
    queries: MatRef<'_, f64>,
    reference: &Value,
    tolerance: f64,
    what: &str,
) {
    let posterior = model.posterior(hyper, &Unwatched).expect("posterior");
    // A higher rung of the ladder would make the tolerance meaningless.
    assert_eq!(posterior.jitter(), JITTER, "{what}");
    prediction_close(&posterior.predict(queries).expect("prediction"), reference, tolerance, what);
}

#[test]
fn the_bound_equals_gpflow() {
    let file = parse(include_str!("golden/sgpr.json"));
    let inputs = Inputs::new(&file);
    let z = matrix(&file["Z"]);
    let cases = list(&file["cases"]);
    assert!(!cases.is_empty());
    for case in cases {
        let what = format!("{} {}", case["kernel"], case["length_scales"]);
        let tolerance = 10.0 * JITTER * number(&case["condition_Kuu"]);
        let hyper = hyperparameters(case, z.ncols());
        let mean = Mean::Fixed(number(&case["mean"]));
        let model =
            Model::new(inputs.data(), z.as_ref(), Approximation::Dtc, Objective::Bound, mean).unwrap();
        objective_close(&model, &hyper, (case, "elbo"), tolerance, &what);
        posterior_close(&model, &hyper, inputs.queries.as_ref(), case, tolerance, &what);
    }
}

/// The names in `sparse_dense.json` and what we call them; PITC takes its groups from the file.
const METHODS: [(&str, Approximation, Objective); 5] = [
    ("sor", Approximation::Sor, Objective::Marginal),
    ("dtc", Approximation::Dtc, Objective::Marginal),
    ("fic", Approximation::Fic, Objective::Marginal),
    ("pitc", Approximation::Pitc { group: 6 }, Objective::Marginal),
    ("elbo", Approximation::Dtc, Objective::Bound),
];

#[test]
fn the_sparse_family_equals_its_dense_definition() {
    let file = parse(include_str!("golden/sparse_dense.json"));
    let inputs = Inputs::new(&file);
    let data = inputs.data();
    let z = matrix(&file["Z"]);
    let (mut order, mut ends) = (Vec::new(), Vec::new());
    for group in list(&file["pitc_groups"]) {
        order.extend(list(group).iter().map(|i| i.as_u64().expect("row of a group") as usize));
        ends.push(order.len());
    }
    let groups = Groups::from_order(&data, &order, ends).unwrap();
    let cases = list(&file["cases"]);
    assert!(!cases.is_empty());
    for case in cases {
        let tolerance = 10.0 * JITTER * number(&case["condition_Kuu"]);
        let hyper = hyperparameters(case, z.ncols());
        for (name, approximation, objective) in METHODS {
            let what = format!("{} {name}", case["kernel"]);
            let reference = &case[name];
            let model = |mean| match approximation {
                Approximation::Pitc { .. } => Model::grouped(&groups, z.as_ref(), objective, mean).unwrap(),
                _ => Model::new(data, z.as_ref(), approximation, objective, mean).unwrap(),
            };
            let fixed = model(Mean::Fixed(number(&case["mean"])));
            objective_close(&fixed, &hyper, (reference, "objective"), tolerance, &what);
            posterior_close(&fixed, &hyper, inputs.queries.as_ref(), reference, tolerance, &what);

            let (estimated, gls) = (model(Mean::Estimated), &reference["gls"]);
            let evidence = estimated.evidence(&hyper, &Unwatched).unwrap();
            close(
                evidence.mean_constant(),
                number(&gls["mean"]),
                tolerance,
                &format!("{what} mean constant"),
            );
            objective_close(&estimated, &hyper, (gls, "objective"), tolerance, &format!("{what} estimated"));
        }
    }
}

fn from_bits(value: &Value) -> f64 {
    let digits = value.as_str().expect("bits as text");
    f64::from_bits(u64::from_str_radix(digits, 16).expect("16 hexadecimal digits"))
}

#[test]
fn exp_is_right_to_two_units_in_the_last_place() {
    let file = parse(include_str!("golden/exp.json"));
    let x: Vec<f64> = list(&file["x_bits"]).iter().map(from_bits).collect();
    let truth: Vec<f64> = list(&file["exp_bits"]).iter().map(from_bits).collect();
    assert!(!x.is_empty() && x.len() == truth.len());
    let mut ours = x.clone();
    exp_in_place(&mut ours);
    for i in 0..x.len() {
        // Both are positive, so that neighbouring floats have neighbouring bits.
        let ulps = ours[i].to_bits().abs_diff(truth[i].to_bits());
        // Close to the smallest normal number results may be flushed to zero.
        let flushed = truth[i] <= 1e-307 && ours[i] == 0.0;
        assert!(ulps <= EXP_ULPS || flushed, "exp({:e}): {:e} against {:e}", x[i], ours[i], truth[i]);
    }
}
