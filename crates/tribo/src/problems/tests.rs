//! The shared test of all problems.

use super::*;
use crate::rng::Stream;

/// Every name, in the smallest and in a middling dimension.
fn plain() -> Vec<Problem> {
    let fixed = [("branin", 2), ("hartmann4", 4), ("hartmann6", 6)];
    let free = NAMES.iter().filter(|name| fixed.iter().all(|(other, _)| other != *name));
    let sizes = free.flat_map(|&name| [(name, 2), (name, 7)]);
    fixed.into_iter().chain(sizes).map(|(name, dim)| by_name(name, dim).unwrap()).collect()
}

/// Every wrapper around every plain problem, and two stacked.
fn wrapped() -> Vec<Problem> {
    let each = |(i, problem): (usize, &Problem)| {
        let seed = i as u64;
        let shifted = shift(problem, seed, 0.6).unwrap();
        [
            embed_active(problem, 40, seed).unwrap(),
            embed_active(problem, problem.dim(), seed).unwrap(),
            rotate(problem, 40, seed).unwrap(),
            rotate(problem, problem.dim(), seed).unwrap(),
            rotate(&shifted, 25, seed).unwrap(),
            embed_active(&shifted, 25, seed).unwrap(),
            shifted,
        ]
    };
    plain().iter().enumerate().flat_map(each).collect()
}

/// Rounding of a value of this size, with room for the sums behind it.
fn tolerance(problem: &Problem) -> f64 {
    1e-9 * problem.optimum_value().abs().max(1.0)
}

fn random_point(problem: &Problem, stream: &mut Stream) -> Vec<f64> {
    problem
        .low()
        .iter()
        .zip(problem.high())
        .map(|(low, high)| low + stream.uniform() * (high - low))
        .collect()
}

fn check_optimum(problem: &Problem) {
    assert!(!problem.optimisers().is_empty(), "{problem:?}");
    for x in problem.optimisers() {
        assert_eq!(x.len(), problem.dim(), "{problem:?}");
        let inside = (0..x.len()).all(|i| (problem.low()[i]..=problem.high()[i]).contains(&x[i]));
        assert!(inside, "{problem:?}: the optimiser is outside the box");
        let error = (problem.evaluate(x) - problem.optimum_value()).abs();
        assert!(error <= tolerance(problem), "{problem:?}: off by {error:e} at its optimiser");
    }
}

/// `n` random points, half of them close to an optimiser at random distances, none below the optimum.
fn check_nothing_below(problem: &Problem, n: usize, seed: u64) {
    let mut stream = Stream::new(seed, "below the optimum", 0);
    for draw in 0..n {
        let mut x = random_point(problem, &mut stream);
        if draw % 2 == 1 {
            let near = &problem.optimisers()[stream.below(problem.optimisers().len())];
            let distance = 10.0_f64.powf(-4.0 * stream.uniform());
            for i in 0..x.len() {
                x[i] = (near[i] + distance * (x[i] - near[i])).clamp(problem.low()[i], problem.high()[i]);
            }
        }
        let value = problem.evaluate(&x);
        assert!(
            value >= problem.optimum_value() - tolerance(problem),
            "seed {seed}: {problem:?} is {value} at {x:?}"
        );
    }
}

#[test]
fn optima_are_as_stated() {
    for problem in plain().iter().chain(&wrapped()) {
        check_optimum(problem);
    }
}

#[test]
fn no_point_is_below_the_optimum() {
    for problem in plain() {
        check_nothing_below(&problem, 10_000, 41);
    }
    for problem in wrapped() {
        check_nothing_below(&problem, 2_000, 42);
    }
}

#[test]
fn gradients_vanish_at_optima_or_point_out_of_the_box() {
    // Central differences with steps of 1e-5 of the range leave an error of order 1e-10 of the third
    // derivative; slopes are judged against the rise from the optimum to a typical point, over the range.
    let seed = 43;
    let mut stream = Stream::new(seed, "gradient", 0);
    let smooth = plain().into_iter().flat_map(|problem| {
        let embedded = embed_active(&problem, 12, seed).unwrap();
        let rotated = rotate(&problem, 60, seed).unwrap();
        [problem, embedded, rotated]
    });
    for problem in smooth {
        let mut rises: Vec<f64> = (0..101)
            .map(|_| problem.evaluate(&random_point(&problem, &mut stream)) - problem.optimum_value())
            .collect();
        rises.sort_unstable_by(f64::total_cmp);
        for x in problem.optimisers() {
            // A rotated optimiser on a side of the inner box has a clipped side instead of a gradient.
            let rotated_corner = problem.name().contains("rotated")
                && ["zdt1", "zdt2", "sphere_unit"].iter().any(|name| problem.name().starts_with(name));
            for i in 0..x.len() {
                let width = problem.high()[i] - problem.low()[i];
                let slope = |up: f64, down: f64| {
                    let (mut above, mut below) = (x.clone(), x.clone());
                    above[i] += up * 1e-5 * width;
                    below[i] -= down * 1e-5 * width;
                    (problem.evaluate(&above) - problem.evaluate(&below)) / ((up + down) * 1e-5)
                };
                let flat = 1e-3 * rises[50];
                let place = || format!("seed {seed}: {problem:?}, input {i} of {x:?}");
                if x[i] >= problem.high()[i] {
                    assert!(slope(0.0, 1.0) <= flat, "{}", place());
                } else if x[i] <= problem.low()[i] {
                    assert!(slope(1.0, 0.0) >= -flat, "{}", place());
                } else if !rotated_corner {
                    assert!(slope(1.0, 1.0).abs() <= flat, "{}: slope {}", place(), slope(1.0, 1.0));
                }
            }
        }
    }
}

#[test]
fn values_match_mpmath() {
    // mpmath 1.3, 30 digits, from the formulas as printed in the sources, at x_k = 0.1 k - 0.25, k = 1..5.
    let x: Vec<f64> = (1..6).map(|k| 0.1 * f64::from(k) - 0.25).collect();
    let golden = [
        ("zdt1", 0.9333954023663418),
        ("zdt2", 13.958388252148998),
        ("zdt3", 2.191079928635371),
        ("levy", 1.0473633638623525),
        ("ackley", 1.4587215670323184),
        ("rosenbrock", 12.1525),
        ("rastrigin", 19.335664628247464),
        ("griewank", 0.021213007157460266),
        ("styblinski_tang", -0.272534375),
        ("sphere", 0.0625),
        ("sphere_unit", 0.0625),
    ];
    let check = |name: &str, x: &[f64], value: f64| {
        let found = by_name(name, x.len()).unwrap().evaluate(x);
        assert!((found - value).abs() <= 1e-13 * value.abs().max(1.0), "{name}: {found}, not {value}");
    };
    for (name, value) in golden {
        check(name, &x, value);
    }
    check("branin", &[1.0, 2.0], 21.627635392062377);
    check("hartmann4", &[0.5; 4], -1.0833433453236143);
    check("hartmann6", &[0.5; 6], -0.5053149917022332);
}

#[test]
fn the_centre_solves_the_papers_problems_until_they_are_shifted() {
    let dim = 10_000;
    for (name, centre) in [("zdt1", 1.0), ("zdt2", 1.0), ("zdt3", 1.0), ("sphere", 0.0)] {
        let problem = by_name(name, dim).unwrap();
        assert_eq!(problem.evaluate(&vec![0.0; dim]), centre, "{name}");
    }
    // Steps of about 0.4 at random signs move the sum by about 0.4 √D = 40. ZDT1 has the mean, which stays
    // near 0.
    for name in ["zdt2", "zdt3", "sphere"] {
        let shifted = shift(&by_name(name, dim).unwrap(), 1, 0.5).unwrap();
        check_optimum(&shifted);
        assert!(shifted.evaluate(&vec![0.0; dim]) > 10.0, "{name}");
    }
}

#[test]
fn ten_thousand_inputs() {
    for name in NAMES.iter().filter(|name| !["branin", "hartmann4", "hartmann6"].contains(name)) {
        check_optimum(&by_name(name, 10_000).unwrap());
        check_nothing_below(&by_name(name, 10_000).unwrap(), 20, 44);
    }
    let hartmann = by_name("hartmann6", 6).unwrap();
    for problem in [embed_active(&hartmann, 10_000, 1).unwrap(), rotate(&hartmann, 10_000, 1).unwrap()] {
        check_optimum(&problem);
        check_nothing_below(&problem, 20, 45);
    }
}

#[test]
fn shifts_move_every_input_and_seeds_decide() {
    for problem in plain() {
        let shifted = shift(&problem, 3, 0.4).unwrap();
        for i in 0..problem.dim() {
            let step = (shifted.optimisers()[0][i] - problem.optimisers()[0][i]).abs();
            let half_width = 0.5 * (problem.high()[i] - problem.low()[i]);
            assert!(step >= 0.19 * half_width && step <= 0.41 * half_width, "{problem:?}, input {i}");
        }
        assert_eq!(shifted.optimisers(), shift(&problem, 3, 0.4).unwrap().optimisers());
        assert_ne!(shifted.optimisers(), shift(&problem, 4, 0.4).unwrap().optimisers());
    }
}

#[test]
fn only_active_inputs_matter() {
    let (seed, dim) = (46, 30);
    let branin = by_name("branin", 2).unwrap();
    let embedded = embed_active(&branin, dim, seed).unwrap();
    let mut stream = Stream::new(seed, "active", 0);
    let x = random_point(&embedded, &mut stream);
    let matters = |&i: &usize| {
        let mut other = x.clone();
        other[i] *= -0.9;
        embedded.evaluate(&other) != embedded.evaluate(&x)
    };
    assert_eq!((0..dim).filter(matters).count(), 2, "seed {seed}");
}

#[test]
fn noise_is_named_by_the_evaluation() {
    let problem = by_name("sphere", 3).unwrap();
    let noisy = Noisy::new(problem, 0.5, 9).unwrap();
    let x = [0.1, 0.2, 0.3];
    assert_eq!(noisy.evaluate(&x, 4), noisy.evaluate(&x, 4));
    assert_ne!(noisy.evaluate(&x, 4), noisy.evaluate(&x, 5));
    // Mean and variance within five standard errors.
    let n = 4_000;
    let errors: Vec<f64> = (0..n).map(|i| noisy.evaluate(&x, i) - noisy.problem().evaluate(&x)).collect();
    let mean = errors.iter().sum::<f64>() / n as f64;
    let var = errors.iter().map(|e| e * e).sum::<f64>() / n as f64;
    assert!(mean.abs() < 5.0 * 0.5 / (n as f64).sqrt());
    assert!((var / 0.25 - 1.0).abs() < 5.0 * (2.0 / n as f64).sqrt());
}

#[test]
fn what_does_not_exist_is_refused() {
    let message = by_name("brannin", 2).unwrap_err().to_string();
    assert!(
        message.starts_with("no test problem is called `brannin`; there are branin, hartmann4"),
        "{message}"
    );
    assert!(matches!(by_name("branin", 3), Err(Error::ProblemDimension { dim: 3, .. })));
    assert!(matches!(by_name("zdt1", 1), Err(Error::ProblemDimension { dim: 1, .. })));
    assert!(matches!(by_name("levy", 0), Err(Error::ProblemDimension { dim: 0, .. })));
    assert!(product(3, 0, 1).is_err());
    let branin = by_name("branin", 2).unwrap();
    assert!(embed_active(&branin, 1, 0).is_err());
    assert!(rotate(&branin, 1, 0).is_err());
    for fraction in [0.0, -0.1, 1.1, f64::NAN] {
        assert!(shift(&branin, 0, fraction).is_err());
    }
    assert!(Noisy::new(branin.clone(), -1.0, 0).is_err());
    assert!(branin.evaluate(&[0.0]).is_nan());
}
