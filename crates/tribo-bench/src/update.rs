//! `update`: how long a fitted sparse process takes to take in a result, to hallucinate pending points, to predict.
//!
//! None of these may depend on how many data were fitted: the posterior holds m² numbers and no data.

use crate::machine::{quantile, timed};
use serde::Serialize;
use tribo::Result;
use tribo::design::{latin_hypercube, uniform};
use tribo::rng::Stream;
use tribo::surrogate::Posterior;
use tribo::surrogate::data::Data;
use tribo::surrogate::hyper::{Hyperparameters, Mean};
use tribo::surrogate::kernel::{Kernel, Shape};
use tribo::surrogate::sparse::{Approximation, Model, Objective};
use tribo::surrogate::watch::Unwatched;

const LOW: [f64; 3] = [-1.0; 3];
const HIGH: [f64; 3] = [1.0; 3];
const REPEATS: usize = 201;
const PENDING: usize = 20;
const QUERIES: usize = 1_000;

/// One line of the result. Times in milliseconds.
#[derive(Debug, Clone, Serialize)]
pub struct Row {
    /// Data points fitted before.
    pub n: usize,
    /// Inducing points.
    pub m: usize,
    /// Name of the kernel.
    pub kernel: String,
    /// Median time of `observe`.
    pub observe_p50_ms: f64,
    /// 95th percentile of it.
    pub observe_p95_ms: f64,
    /// Median time to hallucinate 20 pending points on a copy.
    pub hallucinate_20_ms: f64,
    /// Median time of 1,000 predictions with variance.
    pub predict_1000_ms: f64,
}

/// Measures at one size, in the caller's thread pool.
pub fn measure(n: usize, m: usize, shape: Shape, seed: u64) -> Result<Row> {
    let x = latin_hypercube(n, &LOW, &HIGH, &mut Stream::new(seed, "benchmark data", 0))?;
    let y: Vec<f64> = (0..n).map(|i| (x[(i, 0)] + x[(i, 1)] + x[(i, 2)]).powi(2)).collect();
    let inducing = latin_hypercube(m.min(n), &LOW, &HIGH, &mut Stream::new(seed, "benchmark inducing", 0))?;
    let data = Data::new(x.as_ref(), &y)?;
    let model = Model::new(data, inducing.as_ref(), Approximation::Fic, Objective::Bound, Mean::Estimated)?;
    let hyper = Hyperparameters::new(Kernel::new(shape, vec![1.0], 1.0, 3)?, 1e-6)?;
    let mut posterior = model.posterior(&hyper, &Unwatched)?;

    let mut stream = Stream::new(seed, "benchmark queries", 0);
    let queries = uniform(QUERIES, &LOW, &HIGH, &mut stream)?;
    let pending = uniform(PENDING, &LOW, &HIGH, &mut stream)?;
    let (mut hallucinate, mut predict, mut observe) = (vec![], vec![], vec![]);
    for _ in 0..REPEATS / 4 {
        let (seconds, copy) = timed(|| posterior.hallucinate(pending.as_ref()));
        drop(copy?);
        hallucinate.push(1e3 * seconds);
        let (seconds, prediction) = timed(|| posterior.predict(queries.as_ref()));
        prediction?;
        predict.push(1e3 * seconds);
    }
    for i in 0..REPEATS {
        let point = [queries[(i, 0)], queries[(i, 1)], queries[(i, 2)]];
        let value = point.iter().sum::<f64>().powi(2);
        let (seconds, done) = timed(|| posterior.observe(&point, value));
        done?;
        observe.push(1e3 * seconds);
    }
    Ok(Row {
        n,
        m,
        kernel: shape.name(),
        observe_p50_ms: quantile(&mut observe, 0.5),
        observe_p95_ms: quantile(&mut observe, 0.95),
        hallucinate_20_ms: quantile(&mut hallucinate, 0.5),
        predict_1000_ms: quantile(&mut predict, 0.5),
    })
}
