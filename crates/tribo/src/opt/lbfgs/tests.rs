//! Tests of the whole minimiser on functions whose minima in the box are known.

use super::*;
use crate::error::Error;
use proptest::prelude::*;
use std::cell::Cell;

const INF: f64 = f64::INFINITY;

struct Run {
    x: Vec<f64>,
    value: f64,
    evaluations: usize,
    iterations: usize,
    stop: Stop,
}

/// Drives a run to its end, checking at every evaluation what must always hold.
fn drive(mut run: Lbfgs, f: impl Fn(&[f64]) -> (f64, Vec<f64>)) -> (Run, Lbfgs) {
    loop {
        let x = run.point().to_vec();
        assert!((0..x.len()).all(|i| x[i] >= run.low[i] && x[i] <= run.high[i]), "{x:?} is outside the box");
        let before = run.best().1;
        let (value, gradient) = f(&x);
        let status = run.tell(value, &gradient);
        assert!(run.best().1 <= before, "best rose from {before} to {}", run.best().1);
        assert!(run.best().1 <= run.current.value);
        if let Status::Stopped(stop) = status {
            let (x, value) = run.best();
            let (x, evaluations, iterations) = (x.to_vec(), run.evaluations(), run.iterations());
            return (Run { x, value, evaluations, iterations, stop }, run);
        }
    }
}

fn minimise(
    start: &[f64],
    low: &[f64],
    high: &[f64],
    options: LbfgsOptions,
    f: impl Fn(&[f64]) -> (f64, Vec<f64>),
) -> Run {
    drive(Lbfgs::new(start, low, high, options).unwrap(), f).0
}

/// Tolerances that leave only rounding to stop at.
fn exacting() -> LbfgsOptions {
    LbfgsOptions {
        max_evaluations: 2000,
        max_iterations: 2000,
        gradient_tolerance: 1e-8,
        decrease_tolerance: 0.0,
        ..LbfgsOptions::default()
    }
}

fn assert_near(x: &[f64], expected: &[f64], tolerance: f64) {
    for i in 0..x.len() {
        assert!((x[i] - expected[i]).abs() <= tolerance, "x[{i}] = {}, expected {}", x[i], expected[i]);
    }
}

/// ½ Σ hᵢ (xᵢ - cᵢ)²: in a box each variable ends at the bound nearest its centre.
fn separable(h: &[f64], c: &[f64], x: &[f64]) -> (f64, Vec<f64>) {
    let g: Vec<f64> = (0..x.len()).map(|i| h[i] * (x[i] - c[i])).collect();
    (0.5 * (0..x.len()).map(|i| g[i] * (x[i] - c[i])).sum::<f64>(), g)
}

/// The chained function Σ 100 (xᵢ₊₁ - xᵢ²)² + (1 - xᵢ)².
fn rosenbrock(x: &[f64]) -> (f64, Vec<f64>) {
    let mut value = 0.0;
    let mut g = vec![0.0; x.len()];
    for i in 0..x.len() - 1 {
        let (a, b) = (x[i + 1] - x[i] * x[i], 1.0 - x[i]);
        value += 100.0 * a * a + b * b;
        g[i] += -400.0 * a * x[i] - 2.0 * b;
        g[i + 1] += 200.0 * a;
    }
    (value, g)
}

/// Sum of two-variable Rosenbrock functions over neighbouring pairs `[@more1981, problem 21]`: with bounds its
/// minima are known pair by pair.
fn rosenbrock_pairs(x: &[f64]) -> (f64, Vec<f64>) {
    let parts: Vec<_> = x.chunks(2).map(rosenbrock).collect();
    (parts.iter().map(|p| p.0).sum(), parts.into_iter().flat_map(|p| p.1).collect())
}

/// Whittle's form of a Gaussian-process likelihood: frequency i has the variance
/// e^(a+b) exp(-(i e^b / 20)² / 2) + e^c, and the data have their expected power under `truth`, so the
/// minimum is at `truth` exactly.
fn likelihood(truth: &[f64], x: &[f64]) -> (f64, Vec<f64>) {
    let parts = |p: &[f64], i: usize| {
        let square = (i as f64 * p[1].exp() / 20.0).powi(2);
        ((p[0] + p[1] - square / 2.0).exp(), square, p[2].exp())
    };
    let (mut value, mut g) = (0.0, vec![0.0; 3]);
    for i in 0..60 {
        let (signal, square, noise) = parts(x, i);
        let (true_signal, _, true_noise) = parts(truth, i);
        let (lambda, power) = (signal + noise, true_signal + true_noise);
        value += 0.5 * (lambda.ln() + power / lambda);
        let slope = 0.5 * (1.0 / lambda - power / (lambda * lambda));
        g[0] += slope * signal;
        g[1] += slope * signal * (1.0 - square);
        g[2] += slope * noise;
    }
    (value, g)
}

#[test]
fn test_functions_have_the_gradients_they_say() {
    fn check(f: impl Fn(&[f64]) -> (f64, Vec<f64>), x: &[f64]) {
        for i in 0..x.len() {
            let at = |h: f64| {
                let mut moved = x.to_vec();
                moved[i] += h;
                f(&moved).0
            };
            let difference = (at(1e-5) - at(-1e-5)) / 2e-5;
            assert!((difference - f(x).1[i]).abs() < 1e-6 * (1.0 + difference.abs()));
        }
    }
    check(rosenbrock, &[0.3, -0.4, 1.1]);
    check(rosenbrock_pairs, &[0.3, -0.4, 1.1, 0.2]);
    check(|x| likelihood(&[0.0, 1.0, -5.0], x), &[0.5, 0.2, -3.0]);
}

#[test]
fn quadratics_with_minima_far_outside_end_at_the_bounds() {
    for far in [1.5, 8.0, 1e6] {
        let c = [far, -far, 0.25, far];
        let f = |x: &[f64]| separable(&[1.0, 3.0, 2.0, 10.0], &c, x);
        let run = minimise(&[0.5; 4], &[0.0; 4], &[1.0; 4], exacting(), f);
        assert_near(&run.x, &[1.0, 0.0, 0.25, 1.0], 1e-8);
        assert!(run.stop.converged() && run.evaluations < 30, "{} {:?}", run.evaluations, run.stop);
    }
}

#[test]
fn coupled_quadratic_in_an_active_box() {
    // f = ½ xᵀAx - bᵀx, A = [2 1; 1 2], b = (3, 0): free minimum (2, -1). With x₁ <= 1: x₂ = -½.
    let f = |x: &[f64]| {
        let (ax, ay) = (2.0 * x[0] + x[1], x[0] + 2.0 * x[1]);
        (0.5 * (x[0] * ax + x[1] * ay) - 3.0 * x[0], vec![ax - 3.0, ay])
    };
    assert_near(&minimise(&[0.0; 2], &[-INF; 2], &[INF; 2], exacting(), f).x, &[2.0, -1.0], 1e-7);
    assert_near(&minimise(&[0.0; 2], &[-INF; 2], &[1.0, INF], exacting(), f).x, &[1.0, -0.5], 1e-7);
    // Starting on the bound that must be left.
    assert_near(&minimise(&[-3.0, 0.0], &[-3.0; 2], &[INF; 2], exacting(), f).x, &[2.0, -1.0], 1e-7);
}

#[test]
fn ill_conditioned_quadratic() {
    let d = 20;
    let h: Vec<f64> = (0..d).map(|i| 10_f64.powf(6.0 * i as f64 / (d - 1) as f64)).collect();
    let c: Vec<f64> = (0..d).map(|i| (i as f64).sin()).collect();
    // Ten pairs cannot hold twenty scales: SciPy 1.17 takes 4333 evaluations to the same tolerance.
    let options = LbfgsOptions { max_evaluations: 5000, max_iterations: 5000, ..exacting() };
    let run = minimise(&vec![0.0; d], &vec![-2.0; d], &vec![2.0; d], options, |x| separable(&h, &c, x));
    // Smallest curvature 1, so an error of 1e-5 costs 1e-10 in value.
    assert!(run.value < 1e-10, "{}", run.value);
    assert_near(&run.x, &c, 1e-5);
}

#[test]
fn rosenbrock_with_inactive_bounds() {
    // Caps from experience with this family of methods: about 40 evaluations from the classic start in two
    // variables, and a few hundred for the long chain.
    for (d, most) in [(2, 60), (10, 150), (50, 500)] {
        let start: Vec<f64> = if d == 2 { vec![-1.2, 1.0] } else { vec![0.0; d] };
        let run = minimise(&start, &vec![-5.0; d], &vec![10.0; d], exacting(), rosenbrock);
        assert_near(&run.x, &vec![1.0; d], 1e-6);
        assert!(run.evaluations <= most, "{d} variables took {}", run.evaluations);
        assert!(run.iterations <= run.evaluations);
    }
}

#[test]
fn rosenbrock_with_active_bounds() {
    for d in [2, 10, 50] {
        // By turns: first variable at most ½, at least 3/2, free. Minima (½, ¼), (3/2, 9/4), (1, 1).
        let (mut low, mut high, mut expected) = (vec![-2.0; d], vec![3.0; d], Vec::new());
        for pair in 0..d / 2 {
            let minimum = match pair % 3 {
                0 => {
                    high[2 * pair] = 0.5;
                    [0.5, 0.25]
                }
                1 => {
                    low[2 * pair] = 1.5;
                    [1.5, 2.25]
                }
                _ => [1.0, 1.0],
            };
            expected.extend(minimum);
        }
        let start: Vec<f64> = (0..d).map(|i| if i % 2 == 0 { -1.2 } else { 1.0 }).collect();
        let run = minimise(&start, &low, &high, exacting(), rosenbrock_pairs);
        assert_near(&run.x, &expected, 1e-6);
        assert!(run.evaluations <= 150, "{d} variables took {}", run.evaluations);
    }
}

#[test]
fn infinite_beyond_a_line() {
    // Minimum (0.95, 0.02), the function being infinite where x + y > 1; the first steps go far beyond.
    let walls = Cell::new(0);
    let f = |x: &[f64]| match x[0] + x[1] > 1.0 {
        true => {
            walls.set(walls.get() + 1);
            (INF, vec![0.0; 2])
        }
        false => separable(&[1.0, 50.0], &[0.95, 0.02], x),
    };
    let options = LbfgsOptions { initial_step: 10.0, ..exacting() };
    let run = minimise(&[0.9, -5.0], &[-5.0; 2], &[5.0; 2], options, f);
    assert_near(&run.x, &[0.95, 0.02], 1e-6);
    assert!(walls.get() > 0 && run.evaluations < 100, "{} walls, {}", walls.get(), run.evaluations);
    // Falling towards the wall, the lowest values are at it; the default tolerances must come close and stop.
    let f = |x: &[f64]| if x[0] >= 1.0 { (f64::NAN, vec![f64::NAN]) } else { (-x[0], vec![-1.0]) };
    let run = minimise(&[0.0], &[-5.0], &[5.0], LbfgsOptions::default(), f);
    assert!(run.x[0] > 0.999 && run.x[0] < 1.0, "{:?} {:?}", run.x, run.stop);
    assert!(run.stop.converged() && run.evaluations < 100, "{:?}, {}", run.stop, run.evaluations);
}

#[test]
fn not_a_number_in_the_gradient_alone() {
    // The region lies beyond the minimum, where the first step goes; then it cuts the valley at (-0.55, 0.3),
    // and the way round leaves the valley.
    let beyond: fn(&[f64]) -> bool = |x| x[0] > 1.2;
    let across: fn(&[f64]) -> bool = |x| x[1] < 0.3 && x[0] < -0.5;
    for (region, most) in [(beyond, 100), (across, 300)] {
        let seen = Cell::new(0);
        let f = |x: &[f64]| {
            let (value, mut g) = rosenbrock(x);
            if region(x) {
                seen.set(seen.get() + 1);
                g[0] = f64::NAN;
            }
            (value, g)
        };
        let options = LbfgsOptions { initial_step: 3.0, ..exacting() };
        let run = minimise(&[-1.2, 1.0], &[-5.0; 2], &[5.0; 2], options, f);
        assert_near(&run.x, &[1.0, 1.0], 1e-6);
        assert!(seen.get() > 0 && run.evaluations < most, "{} seen, {}", seen.get(), run.evaluations);
    }
}

#[test]
fn a_start_that_is_not_finite_is_reported() {
    for (value, gradient) in [(f64::NAN, 0.0), (INF, 0.0), (-INF, 0.0), (1.0, f64::NAN)] {
        let mut run = Lbfgs::new(&[0.0], &[-1.0], &[1.0], LbfgsOptions::default()).unwrap();
        assert_eq!(run.tell(value, &[gradient]), Status::Stopped(Stop::StartNotFinite));
        assert_eq!(run.best(), (&[0.0][..], INF));
        assert_eq!(run.tell(1.0, &[1.0]), Status::Stopped(Stop::StartNotFinite));
        assert_eq!(run.evaluations(), 1);
    }
}

#[test]
fn special_starts_and_boxes() {
    let f = |x: &[f64]| separable(&[1.0, 4.0], &[0.3, 2.0], x);
    // A fixed variable.
    assert_near(&minimise(&[0.9, 0.1], &[0.0, 0.5], &[1.0, 0.5], exacting(), f).x, &[0.3, 0.5], 1e-8);
    // From the worst corner, and from far outside the box.
    assert_near(&minimise(&[1.0, 0.0], &[0.0; 2], &[1.0; 2], exacting(), f).x, &[0.3, 1.0], 1e-8);
    assert_near(&minimise(&[-70.0, 70.0], &[0.0; 2], &[1.0; 2], exacting(), f).x, &[0.3, 1.0], 1e-8);
    // At the optimum, and with every variable fixed: one evaluation.
    for (start, low) in [([0.3, 2.0], [0.0; 2]), ([0.7, 0.2], [0.7, 0.2])] {
        let high = if low[0] == 0.0 { [5.0; 2] } else { low };
        let run = minimise(&start, &low, &high, exacting(), f);
        assert_eq!((run.x, run.evaluations, run.stop), (start.to_vec(), 1, Stop::GradientSmall));
    }
    // All variables end at bounds.
    let corner = minimise(&[0.5, 0.5], &[0.4, 0.0], &[1.0; 2], exacting(), f);
    assert_eq!(corner.x, [0.4, 1.0]);
    // One variable, not convex at the start: minimum of cos at π.
    let run = minimise(&[0.1], &[-1.0], &[6.0], exacting(), |x| (x[0].cos(), vec![-x[0].sin()]));
    assert_near(&run.x, &[std::f64::consts::PI], 1e-7);
    // Huge values and steep slopes.
    let run = minimise(&[9.0], &[-10.0], &[10.0], exacting(), |x| (1e200 * x[0].powi(2), vec![2e200 * x[0]]));
    assert!(run.x[0].abs() < 1e-6, "{:?}", run.x);
}

#[test]
fn caps_and_tolerances_stop_the_run() {
    let with = |options| minimise(&[-1.2, 1.0], &[-5.0; 2], &[5.0; 2], options, rosenbrock);
    let run = with(LbfgsOptions { max_evaluations: 7, ..LbfgsOptions::default() });
    assert_eq!((run.stop, run.evaluations), (Stop::Evaluations, 7));
    let run = with(LbfgsOptions { max_iterations: 3, ..LbfgsOptions::default() });
    assert_eq!((run.stop, run.iterations), (Stop::Iterations, 3));
    let run = with(LbfgsOptions { decrease_tolerance: 1e-2, ..LbfgsOptions::default() });
    assert_eq!(run.stop, Stop::DecreaseSmall);
    // A gradient that lies: no step along it lowers the value.
    let run = minimise(&[0.0], &[-1.0], &[1.0], exacting(), |x| (1.0 + x[0].abs(), vec![1.0]));
    assert_eq!((run.stop, run.x), (Stop::StepSmall, vec![0.0]));
    // At x = 0 and f = 0 rounding gives no scale; the cap on trials ends the search.
    let run = minimise(&[0.0], &[-1.0], &[1.0], exacting(), |x| (x[0].abs(), vec![1.0]));
    assert_eq!((run.stop, run.evaluations), (Stop::LineSearch, 21));
    // A first step that fails is cut even if it promised less than the tolerance: its length was arbitrary.
    let options = LbfgsOptions { decrease_tolerance: 1e-2, ..LbfgsOptions::default() };
    let run = minimise(&[-1.2], &[-5.0], &[5.0], options, |x| match x[0] > -1.15 && x[0] < -1.05 {
        true => (f64::NAN, vec![f64::NAN]),
        false => (100.0 + x[0] * x[0], vec![2.0 * x[0]]),
    });
    assert!(run.iterations > 0 && run.x[0] > -1.2, "{:?}", run.stop);
    // The first trial is as long as it was asked to be.
    let options = LbfgsOptions { initial_step: 0.02, ..LbfgsOptions::default() };
    let mut run = Lbfgs::new(&[0.0; 2], &[-5.0; 2], &[5.0; 2], options).unwrap();
    run.tell(0.0, &[30.0, -40.0]);
    assert_near(run.point(), &[-0.015, 0.02], 1e-15);
}

#[test]
fn bad_input_is_refused() {
    let new = |start: &[f64], low: &[f64], high: &[f64]| {
        Lbfgs::new(start, low, high, LbfgsOptions::default()).err().unwrap()
    };
    assert!(matches!(new(&[], &[], &[]), Error::Empty { .. }));
    assert!(matches!(new(&[0.0], &[0.0, 0.0], &[1.0]), Error::Size { expected: 1, found: 2, .. }));
    assert!(matches!(new(&[f64::NAN], &[0.0], &[1.0]), Error::NotFinite { what: "start", .. }));
    assert!(matches!(new(&[0.0], &[f64::NAN], &[1.0]), Error::NotFinite { what: "low", .. }));
    assert!(matches!(new(&[0.0], &[1.0], &[0.0]), Error::EmptyBox { index: 0, .. }));
    assert!(matches!(new(&[0.0], &[INF], &[INF]), Error::EmptyBox { .. }));
    for options in [
        LbfgsOptions { memory: 0, ..LbfgsOptions::default() },
        LbfgsOptions { initial_step: 0.0, ..LbfgsOptions::default() },
        LbfgsOptions { gradient_tolerance: f64::NAN, ..LbfgsOptions::default() },
    ] {
        assert!(matches!(Lbfgs::new(&[0.0], &[0.0], &[1.0], options), Err(Error::OutOfRange { .. })));
    }
}

#[test]
fn a_likelihood_takes_few_evaluations() {
    // Fits of three kernel parameters are usually reported at 20 to 50 evaluations.
    let truth = [0.5, 1.0, -6.0];
    let f = |x: &[f64]| likelihood(&truth, x);
    let options = LbfgsOptions { initial_step: 0.5, ..LbfgsOptions::default() };
    let (run, done) =
        drive(Lbfgs::new(&[0.0, 0.0, -2.0], &[-10.0; 3], &[10.0; 3], options.clone()).unwrap(), f);
    assert_near(&run.x, &truth, 1e-3);
    assert!(run.evaluations <= 60, "{}", run.evaluations);

    // The same function a hundred times over, with its minimum moved a little, from where the last run ended.
    let moved = [0.6, 1.05, -5.9];
    let all = |x: &[f64]| {
        let (value, g) = likelihood(&moved, x);
        (100.0 * value, g.iter().map(|g| 100.0 * g).collect())
    };
    let warm = done.warm(&run.x, 100.0, options.clone()).unwrap();
    let g: Vec<f64> = all(&run.x).1;
    let (gap, promised) = (all(&run.x).0 - all(&moved).0, warm.predicted_decrease(&g));
    assert!(promised > gap / 3.0 && promised < gap * 3.0, "promised {promised}, true {gap}");
    let (warm, _) = drive(warm, all);
    let cold = minimise(&run.x, &[-10.0; 3], &[10.0; 3], options, all);
    assert_near(&warm.x, &moved, 1e-3);
    assert!(warm.evaluations < cold.evaluations, "warm {}, cold {}", warm.evaluations, cold.evaluations);
}

#[test]
fn predicted_decrease_is_right_once_a_quadratic_is_known() {
    // Ten pairs in five variables: BFGS knows the Hessian to a few percent.
    let (h, c) = ([1.0, 2.0, 5.0, 10.0, 30.0], [0.1, 0.2, 0.3, 0.4, 5.0]);
    let options = LbfgsOptions { gradient_tolerance: 1e-10, ..exacting() };
    let (run, mut done) =
        drive(Lbfgs::new(&[0.9; 5], &[0.0; 5], &[1.0; 5], options).unwrap(), |x| separable(&h, &c, x));
    // The value is 240 there, so it resolves no better than sqrt(2 · 240 · 2.2e-16 / 1) = 3e-7.
    assert_near(&run.x, &[0.1, 0.2, 0.3, 0.4, 1.0], 1e-6);
    // At a point with the last variable at its bound, the promise is ½ Σ g²/h over the others.
    done.current.x = vec![0.15, 0.25, 0.35, 0.45, 1.0];
    let g = separable(&h, &c, &done.current.x).1;
    let exact: f64 = (0..4).map(|i| 0.5 * g[i] * g[i] / h[i]).sum();
    let promised = done.predicted_decrease(&g);
    assert!((promised / exact - 1.0).abs() < 0.1, "promised {promised}, exact {exact}");
    // Before any pair the scale comes from the initial step: ½ · 0.1/3 · 3².
    let fresh = Lbfgs::new(&[0.0], &[-1.0], &[1.0], LbfgsOptions::default()).unwrap();
    assert!((fresh.predicted_decrease(&[3.0]) - 0.15).abs() < 1e-15);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// Points stay in the box and the best never rises (checked in `drive`), whatever the box, start and
    /// walls; without a wall the first-order conditions hold at the end.
    #[test]
    fn any_quadratic_in_any_box(
        sides in prop::collection::vec(
            (-3.0..3.0_f64, 0.0..4.0_f64, -4.0..4.0_f64, 0.1..50.0_f64, -5.0..5.0_f64), 1..7),
        coupling in 0.0..0.3_f64,
        wall in prop::option::of(-2.0..2.0_f64),
        memory in 1..6_usize,
    ) {
        let d = sides.len();
        let low: Vec<f64> = sides.iter().map(|s| s.0).collect();
        let high: Vec<f64> = sides.iter().map(|s| s.0 + (s.1 - 1.0).max(0.0)).collect();
        let start: Vec<f64> = sides.iter().map(|s| s.2).collect();
        let f = |x: &[f64]| {
            let h: Vec<f64> = sides.iter().map(|s| s.3).collect();
            let c: Vec<f64> = sides.iter().map(|s| s.4).collect();
            let (mut value, mut g) = separable(&h, &c, x);
            let sum: f64 = x.iter().sum();
            value += coupling * sum * sum;
            for g in &mut g {
                *g += 2.0 * coupling * sum;
            }
            if wall.is_some_and(|wall| x[0] > wall) { value = f64::INFINITY; }
            (value, g)
        };
        let options = LbfgsOptions { memory, gradient_tolerance: 1e-6, ..exacting() };
        let run = minimise(&start, &low, &high, options, f);
        if wall.is_none() {
            let g = f(&run.x).1;
            for i in 0..d {
                let projected = (run.x[i] - g[i]).clamp(low[i], high[i]) - run.x[i];
                prop_assert!(projected.abs() < 1e-4, "{projected} at {i} ({:?})", run.stop);
            }
        }
    }
}
