//! The surrogate under bad and under odd input, from outside the crate.
//!
//! Bad input gives an error that says what and where, never a panic (`bad`). Odd but legal input works (`odd`): means
//! are finite, variances lie between zero and the prior's, and with little noise the mean goes through the data.
//! Both hold for the exact posterior and for every sparse one, before and after observing and hallucinating, at
//! given hyper-parameters and at trained ones.
//!
//! The odd data are a list (`support/cases.rs`) to be run through whatever takes data; random data are drawn on
//! top, and a failure prints the draw.

mod bad;
mod odd;
#[path = "../support/mod.rs"]
mod support;

use faer::{MatRef, mat};
use proptest::prelude::ProptestConfig;
use support::cases::{Case, unit_points};
use support::conformance::check_posterior;
use support::models::{hyperparameters, posteriors};
use tribo::surrogate::hyper::{Hyperparameters, Mean};
use tribo::surrogate::kernel::{Kernel, Shape};
use tribo::surrogate::metric::{Mapped, Metric, MetricGp, MetricPrior};

/// So many random draws, none remembered in a file.
fn draws(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

/// Row i, copied.
fn row(x: MatRef<'_, f64>, i: usize) -> Vec<f64> {
    (0..x.ncols()).map(|k| x[(i, k)]).collect()
}

/// The exact posterior seen through an oblique matrix, and hyper-parameters that say how far apart its points are.
fn oblique(case: &Case, hyper: &Hyperparameters, mean: Mean) -> (Hyperparameters, Mapped) {
    let (shape, signal_var) = (hyper.kernel.shape, hyper.kernel.signal_var);
    let metric = Metric { map: mat![[2.0, 1.5], [-0.7, 1.2]], signal_var };
    let prior = MetricPrior { length_scale: 1.0, entry_sd: 1.0 };
    let gp = MetricGp { shape, mean, noise_var: hyper.noise_var, prior, evaluations: 1 };
    let seen = gp.condition(case.x.as_ref(), &case.y, &metric).expect("a posterior");
    let lengths = (0..2).map(|k| metric.length_scale(k)).collect();
    let kernel = Kernel::new(shape, lengths, signal_var, 2).expect("a kernel");
    (Hyperparameters::new(kernel, hyper.noise_var).expect("hyper-parameters"), seen)
}

#[test]
fn every_posterior_conforms() {
    let case = Case {
        name: "random",
        x: unit_points(30, 2, 10),
        y: (0..30).map(|i| (f64::from(i) * 0.7).sin() + 2.0).collect(),
        smooth: false,
    };
    let (inducing, queries) = (unit_points(8, 2, 11), unit_points(7, 2, 12));
    for shape in Shape::ALL {
        let hyper = hyperparameters(&case.data(), shape, 1e-2);
        for mean in [Mean::Estimated, Mean::Fixed(1.5)] {
            for named in posteriors(case.data(), inducing.as_ref(), &hyper, mean) {
                let what = format!("{shape:?}, {mean:?}, {}", named.name);
                check_posterior(named.posterior.as_ref(), &hyper, queries.as_ref(), &what);
            }
            let (hyper, seen) = oblique(&case, &hyper, mean);
            check_posterior(&seen, &hyper, queries.as_ref(), &format!("{shape:?}, {mean:?}, mapped"));
        }
    }
}
