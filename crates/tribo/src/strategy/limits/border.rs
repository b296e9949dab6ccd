//! Learning the border of what is feasible: the paper family's third batch of workers `[@tran2022]`.
//!
//! A worker of this quota goes where one limit is neither surely met nor surely violated, its model has much to learn, all
//! other limits are likely to be met and the objective may improve: the border matters nowhere else. The score of a side
//! is that of targeted mean squared error `[@picheny2010]`, σ exp(-u²/2) with u the distance of its bound from the mean in
//! standard deviations, times the chances of the rest:
//!
//!   max over sides j of  log σ_j - u_j²/2 + Σ_{i ≠ j} log P(side i is met) + log P(the objective improves).
//!
//! A probability of one half alone would not do: it is found all along a border that is known to the last digit.

use super::outlook::{Expected, Hopes, Side};
use crate::acquisition::Acquisition;
use crate::error::Result;
use crate::normal::{log_cdf, log_cdf_slope};
use crate::surrogate::{Posterior, PredictionGradient};
use faer::{Mat, MatRef};

/// The least variance of a model that is divided by.
const LEAST_VAR: f64 = 1e-18;

/// The score above, of all outputs with pending points taken in.
pub(super) struct Border<'a> {
    pub(super) expected: &'a Expected,
    /// The lowest value that is feasible, as the model sees it.
    pub(super) best: f64,
}

/// A score of one point by one output, with its slopes in mean and variance.
type Scored = (f64, f64, f64);

/// log σ - u²/2.
fn doubt(side: &Side, mean: f64, var: f64) -> Scored {
    let (var, off) = (var.max(LEAST_VAR), mean - side.bound);
    let u2 = off * off / var;
    (0.5 * var.ln() - 0.5 * u2, -off / var, 0.5 * (1.0 + u2) / var)
}

/// log P(value below `best`).
fn improves(best: f64, mean: f64, var: f64) -> Scored {
    let sd = var.max(LEAST_VAR).sqrt();
    let u = (best - mean) / sd;
    let slope = log_cdf_slope(u);
    (log_cdf(u), -slope / sd, -0.5 * slope * u / (sd * sd))
}

impl Border<'_> {
    /// What each output adds at a point, the objective first; `at` gives its mean and variance.
    fn scores(&self, at: impl Fn(Option<usize>) -> Option<(f64, f64)>) -> Vec<(Option<usize>, Scored)> {
        let mut scores = vec![];
        if let Some((mean, var)) = at(None) {
            scores.push((None, improves(self.best, mean, var)));
        }
        // The side whose doubt counts instead of its chance is that where the difference is greatest.
        let mut most: Option<(f64, usize, Scored)> = None;
        for side in &self.expected.sides {
            let Some((mean, var)) = at(Some(side.limit)) else { continue };
            let (chance, doubt) = (Hopes::chance(side, mean, var), doubt(side, mean, var));
            let gain = doubt.0 - chance.0;
            // An equality has no border.
            if !side.equal && most.as_ref().is_none_or(|(most, ..)| gain > *most) {
                most = Some((gain, scores.len(), doubt));
            }
            scores.push((Some(side.limit), chance));
        }
        if let Some((_, place, doubt)) = most {
            scores[place].1 = doubt;
        }
        scores
    }
}

impl Acquisition for Border<'_> {
    fn evaluate(&self, _posterior: &dyn Posterior, x: MatRef<'_, f64>) -> Result<Vec<f64>> {
        let predict = |posterior: &dyn Posterior| posterior.predict(x);
        let objective = self.expected.objective.as_deref().map(predict).transpose()?;
        let limited = self.expected.limited.iter().map(|limit| limit.as_deref().map(predict).transpose());
        let limited = limited.collect::<Result<Vec<_>>>()?;
        let value = |i: usize| {
            let at = |output: Option<usize>| {
                let prediction = output.map_or(objective.as_ref(), |limit| limited[limit].as_ref())?;
                Some((prediction.mean[i], prediction.var[i]))
            };
            self.scores(at).iter().map(|(_, scored)| scored.0).sum()
        };
        Ok((0..x.nrows()).map(value).collect())
    }

    fn evaluate_gradient(
        &self,
        _posterior: &dyn Posterior,
        x: MatRef<'_, f64>,
    ) -> Result<(Vec<f64>, Mat<f64>)> {
        let predict = |posterior: &dyn Posterior| posterior.predict_gradient(x);
        let objective = self.expected.objective.as_deref().map(predict).transpose()?;
        let limited = self.expected.limited.iter().map(|limit| limit.as_deref().map(predict).transpose());
        let limited = limited.collect::<Result<Vec<_>>>()?;
        let of = |output: Option<usize>| -> Option<&PredictionGradient> {
            output.map_or(objective.as_ref(), |limit| limited[limit].as_ref())
        };
        let (mut values, mut gradient) = (vec![0.0; x.nrows()], Mat::zeros(x.nrows(), x.ncols()));
        for (i, total) in values.iter_mut().enumerate() {
            let at = |output| of(output).map(|p| (p.prediction.mean[i], p.prediction.var[i]));
            for (output, (value, by_mean, by_var)) in self.scores(at) {
                let Some(p) = of(output) else { continue };
                *total += value;
                for k in 0..x.ncols() {
                    gradient[(i, k)] += by_mean * p.mean_gradient[(i, k)] + by_var * p.var_gradient[(i, k)];
                }
            }
        }
        Ok((values, gradient))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;
    use crate::surrogate::data::Data;
    use crate::surrogate::exact::ExactPosterior;
    use crate::surrogate::hyper::{Hyperparameters, Mean};
    use crate::surrogate::kernel::{Kernel, Shape};

    const SEED: u64 = 5;

    fn points(n: usize, purpose: &str) -> Mat<f64> {
        let mut stream = Stream::new(SEED, purpose, 0);
        Mat::from_fn(n, 2, |_, _| stream.uniform())
    }

    /// A process that has seen `f` at seven points.
    fn seen(f: impl Fn(f64, f64) -> f64) -> Box<dyn Posterior> {
        let x = points(7, "seen");
        let y: Vec<f64> = (0..7).map(|i| f(x[(i, 0)], x[(i, 1)])).collect();
        let kernel = Kernel::new(Shape::Matern52, vec![0.7], 1.0, 2).unwrap();
        let hyper = Hyperparameters::new(kernel, 1e-6).unwrap();
        Box::new(ExactPosterior::new(&Data::new(x.as_ref(), &y).unwrap(), &hyper, Mean::Fixed(0.0)).unwrap())
    }

    fn expected() -> Expected {
        let side =
            |limit, sign, bound, equal| Side { limit, sign, bound, equal, tolerance: 1e-6, slope: 1.0 };
        let limited = vec![Some(seen(|x, y| x - y)), None, Some(seen(|x, y| (3.0 * x).sin() * y))];
        let sides = vec![
            side(0, 1.0, 0.4, false),
            side(0, -1.0, -0.2, false),
            side(1, 1.0, 0.0, false),
            side(2, 1.0, 0.3, false),
        ];
        Expected { objective: Some(seen(|x, y| x + y)), limited, sides }
    }

    #[test]
    fn slopes_agree_with_differences() {
        let expected = expected();
        let border = Border { expected: &expected, best: 0.8 };
        let (anchor, n, step) = (expected.objective.as_deref().unwrap(), 20, 1e-5);
        let x = points(n, "looked at");
        let (values, gradient) = border.evaluate_gradient(anchor, x.as_ref()).unwrap();
        assert_eq!(values, border.evaluate(anchor, x.as_ref()).unwrap(), "seed {SEED}");
        for k in 0..2 {
            let moved = |step: f64| {
                let x = Mat::from_fn(n, 2, |i, j| x[(i, j)] + if j == k { step } else { 0.0 });
                border.evaluate(anchor, x.as_ref()).unwrap()
            };
            let (up, down) = (moved(step), moved(-step));
            for i in 0..n {
                let difference = (up[i] - down[i]) / (2.0 * step);
                let found = gradient[(i, k)];
                assert!(
                    (found - difference).abs() < 1e-4 * (1.0 + found.abs()),
                    "seed {SEED}, point {i}: {found} and {difference}"
                );
            }
        }
    }

    #[test]
    fn the_score_is_its_formula() {
        let expected = expected();
        let border = Border { expected: &expected, best: 0.8 };
        let x = points(5, "looked at");
        let anchor = expected.objective.as_deref().unwrap();
        let values = border.evaluate(anchor, x.as_ref()).unwrap();
        let at = |posterior: &dyn Posterior, i: usize| {
            let prediction = posterior.predict(x.as_ref()).unwrap();
            (prediction.mean[i], prediction.var[i].sqrt())
        };
        for (i, value) in values.into_iter().enumerate() {
            let (mean, sd) = at(anchor, i);
            let improves = log_cdf((0.8 - mean) / sd);
            // Mean and deviation of how far each side is violated.
            let (difference, product) =
                (at(&**expected.limited[0].as_ref().unwrap(), i), expected.limited[2].as_ref());
            let product = at(&**product.unwrap(), i);
            let sides = [
                (difference.0 - 0.4, difference.1),
                (-0.2 - difference.0, difference.1),
                (product.0 - 0.3, product.1),
            ];
            let chance = |j: usize| log_cdf((1e-6 - sides[j].0) / sides[j].1);
            let doubt = |j: usize| sides[j].1.ln() - 0.5 * (sides[j].0 / sides[j].1).powi(2);
            let others = |j: usize| (0..3).filter(|&k| k != j).map(chance).sum::<f64>();
            let best = (0..3).map(|j| doubt(j) + others(j)).fold(f64::NEG_INFINITY, f64::max);
            assert!((value - best - improves).abs() < 1e-9, "seed {SEED}, point {i}: {value}");
        }
    }
}
