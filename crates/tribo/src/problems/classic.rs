//! The classical test functions, with the bounds and constants of the collection `[@surjanovic2013]`.
//!
//! Optima that have no closed form were computed with mpmath at 40 digits (Newton on the gradient) and
//! rounded.

use super::{Problem, on_cube};
use std::f64::consts::{E, PI};

/// Weights of the four bumps of the Hartmann functions `[@hartman1973; @dixon1978]`.
const HARTMANN_ALPHA: [f64; 4] = [1.0, 1.2, 3.0, 3.2];

const HARTMANN_A: [[f64; 6]; 4] = [
    [10.0, 3.0, 17.0, 3.5, 1.7, 8.0],
    [0.05, 10.0, 17.0, 0.1, 8.0, 14.0],
    [3.0, 3.5, 1.7, 10.0, 17.0, 8.0],
    [17.0, 8.0, 0.05, 10.0, 0.1, 14.0],
];

const HARTMANN_P: [[f64; 6]; 4] = [
    [0.1312, 0.1696, 0.5569, 0.0124, 0.8283, 0.5886],
    [0.2329, 0.4135, 0.8307, 0.3736, 0.1004, 0.9991],
    [0.2348, 0.1451, 0.3522, 0.2883, 0.3047, 0.6650],
    [0.4047, 0.8828, 0.8732, 0.5743, 0.1091, 0.0381],
];

/// (x2 - 5.1/(4π²) x1² + 5/π x1 - 6)² + 10 (1 - 1/(8π)) cos x1 + 10 on [-5, 10] x [0, 15]; three minima of
/// 10/(8π) `[@branin1972]`.
pub(super) fn branin() -> Problem {
    let optimisers = vec![vec![-PI, 12.275], vec![PI, 2.275], vec![3.0 * PI, 2.475]];
    let function = |x: &[f64]| {
        let valley = x[1] - 5.1 / (4.0 * PI * PI) * x[0] * x[0] + 5.0 / PI * x[0] - 6.0;
        valley * valley + 10.0 * (1.0 - 1.0 / (8.0 * PI)) * x[0].cos() + 10.0
    };
    let mut problem = on_cube("branin", "branin1972", (0.0, 1.0, 2), 10.0 / (8.0 * PI), optimisers, function);
    problem.low = vec![-5.0, 0.0];
    problem.high = vec![10.0, 15.0];
    problem
}

/// Σ_i α_i exp(-Σ_j A_ij (x_j - P_ij)²), over the first x.len() columns.
fn hartmann_bumps(x: &[f64]) -> f64 {
    let bump = |i: usize| {
        let distance: f64 = (0..x.len()).map(|j| HARTMANN_A[i][j] * (x[j] - HARTMANN_P[i][j]).powi(2)).sum();
        HARTMANN_ALPHA[i] * (-distance).exp()
    };
    (0..4).map(bump).sum()
}

/// (1.1 - bumps) / 0.839 on [0, 1]^4: the scaled version of `[@picheny2013]`, which is the paper's. (Others
/// print the bare -bumps, or 0.8387.)
pub(super) fn hartmann4() -> Problem {
    let optimiser = vec![0.1873952729734667, 0.19415152930244073, 0.557917780062569, 0.26477962417039713];
    let function = |x: &[f64]| (1.1 - hartmann_bumps(x)) / 0.839;
    on_cube("hartmann4", "picheny2013", (0.0, 1.0, 4), -3.134494141222399, vec![optimiser], function)
}

/// -bumps on [0, 1]^6.
pub(super) fn hartmann6() -> Problem {
    let optimiser = vec![
        0.20168951100670543,
        0.15001069182345797,
        0.476873974221897,
        0.2753324304940561,
        0.31165161660011326,
        0.6573005340656203,
    ];
    let function = |x: &[f64]| -hartmann_bumps(x);
    on_cube("hartmann6", "hartman1973", (0.0, 1.0, 6), -3.3223680114155147, vec![optimiser], function)
}

/// With w = 1 + (x - 1)/4: sin²(π w_1) + Σ_{i<d} (w_i - 1)² (1 + 10 sin²(π w_i + 1))
/// + (w_d - 1)² (1 + sin²(2π w_d)) on [-10, 10]^d `[@laguna2005]`.
pub(super) fn levy(dim: usize) -> Problem {
    let function = move |x: &[f64]| {
        let w = |i: usize| 1.0 + (x[i] - 1.0) / 4.0;
        let middle = |i: usize| (w(i) - 1.0).powi(2) * (1.0 + 10.0 * (PI * w(i) + 1.0).sin().powi(2));
        let last = w(dim - 1);
        (PI * w(0)).sin().powi(2)
            + (0..dim - 1).map(middle).sum::<f64>()
            + (last - 1.0).powi(2) * (1.0 + (2.0 * PI * last).sin().powi(2))
    };
    on_cube("levy", "laguna2005", (-10.0, 10.0, dim), 0.0, vec![vec![1.0; dim]], function).holds_everywhere()
}

/// -20 exp(-0.2 √(mean x²)) - exp(mean cos 2πx) + 20 + e on [-5, 10]^d, the box that
/// benchmarks of Bayesian optimisation use; a cone at the optimum
/// `[@ackley1987]`.
pub(super) fn ackley(dim: usize) -> Problem {
    let function = move |x: &[f64]| {
        let n = dim as f64;
        let radius = (x.iter().map(|x| x * x).sum::<f64>() / n).sqrt();
        let waves = x.iter().map(|x| (2.0 * PI * x).cos()).sum::<f64>() / n;
        -20.0 * (-0.2 * radius).exp() - waves.exp() + 20.0 + E
    };
    on_cube("ackley", "ackley1987", (-5.0, 10.0, dim), 0.0, vec![vec![0.0; dim]], function).holds_everywhere()
}

/// Σ_{i<d} 100 (x_{i+1} - x_i²)² + (1 - x_i)² on [-5, 10]^d `[@rosenbrock1960]`.
pub(super) fn rosenbrock(dim: usize) -> Problem {
    let function = |x: &[f64]| {
        x.windows(2).map(|w| 100.0 * (w[1] - w[0] * w[0]).powi(2) + (1.0 - w[0]).powi(2)).sum::<f64>()
    };
    on_cube("rosenbrock", "rosenbrock1960", (-5.0, 10.0, dim), 0.0, vec![vec![1.0; dim]], function)
        .holds_everywhere()
}

/// 10 d + Σ x² - 10 cos 2πx on [-5.12, 5.12]^d `[@muhlenbein1991]`.
pub(super) fn rastrigin(dim: usize) -> Problem {
    let function = |x: &[f64]| x.iter().map(|x| 10.0 + x * x - 10.0 * (2.0 * PI * x).cos()).sum::<f64>();
    on_cube("rastrigin", "muhlenbein1991", (-5.12, 5.12, dim), 0.0, vec![vec![0.0; dim]], function)
        .holds_everywhere()
}

/// 1 + Σ x²/4000 - Π cos(x_i/√i) on [-600, 600]^d `[@griewank1981]`.
pub(super) fn griewank(dim: usize) -> Problem {
    let function = |x: &[f64]| {
        let squares = x.iter().map(|x| x * x).sum::<f64>();
        let waves: f64 = x.iter().enumerate().map(|(i, x)| (x / ((i + 1) as f64).sqrt()).cos()).product();
        1.0 + squares / 4000.0 - waves
    };
    on_cube("griewank", "griewank1981", (-600.0, 600.0, dim), 0.0, vec![vec![0.0; dim]], function)
        .holds_everywhere()
}

/// ½ Σ x⁴ - 16 x² + 5 x on [-5, 5]^d; the minimum is the smallest root of 4 x³ - 32 x + 5 in every
/// coordinate `[@styblinski1990]`.
pub(super) fn styblinski_tang(dim: usize) -> Problem {
    let function = |x: &[f64]| 0.5 * x.iter().map(|x| x * (x * (x * x - 16.0) + 5.0)).sum::<f64>();
    let (root, value) = (-2.903534027771177, -39.16616570377141);
    let optimisers = vec![vec![root; dim]];
    on_cube("styblinski_tang", "styblinski1990", (-5.0, 5.0, dim), dim as f64 * value, optimisers, function)
        .holds_everywhere()
}
