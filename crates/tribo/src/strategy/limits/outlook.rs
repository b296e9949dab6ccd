//! What is expected of all outputs: their models side by side, and how far points are within the limits.

use super::model::Model;
use super::sight::Sight;
use crate::acquisition::{Acquisition, LogExpectedImprovement, Pointwise};
use crate::error::Result;
use crate::limit::Limit;
use crate::normal::{log_cdf, log_cdf_slope};
use crate::surrogate::{Posterior, PredictionGradient};
use faer::{Mat, MatRef};
use std::sync::Arc;

/// One side of a limit, as the model of its output sees it: sign (f - bound) must not be positive; must be zero if `equal`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Side {
    /// Which of the limits.
    pub(super) limit: usize,
    pub(super) sign: f64,
    pub(super) bound: f64,
    pub(super) equal: bool,
    /// How far beyond is met.
    pub(super) tolerance: f64,
    /// How much the model sees of one unit of the output at the bound.
    pub(super) slope: f64,
}

/// The sides of limits, as the models of their outputs see them.
pub(super) fn sides(limits: &[Limit], sights: &[Option<Sight>]) -> Vec<Side> {
    let mut sides = vec![];
    for (number, (limit, sight)) in limits.iter().zip(sights).enumerate() {
        let Some(sight) = sight else { continue };
        let mut side = |sign: f64, bound: f64, equal: bool| {
            let slope = sight.slope(bound);
            let (bound, tolerance) = (sight.apply(bound), limit.tolerance() * slope);
            sides.push(Side { limit: number, sign, bound, equal, tolerance, slope });
        };
        match (limit.low(), limit.high()) {
            (Some(low), Some(high)) if low == high => side(1.0, high, true),
            (low, high) => {
                low.into_iter().for_each(|low| side(-1.0, low, false));
                high.into_iter().for_each(|high| side(1.0, high, false));
            }
        }
    }
    sides
}

/// The models of all outputs.
#[derive(Clone)]
pub(super) struct Outlook {
    /// Of the objective; None as long as it was never measured.
    pub(super) objective: Option<Arc<Model>>,
    /// How much its model sees of one unit of the objective at the best feasible value.
    pub(super) slope: f64,
    /// Of the limited outputs, in the order of the limits; None where one was never measured or never changes.
    pub(super) limited: Vec<Option<Arc<Model>>>,
    /// How they see values: the objective, and the limited outputs.
    pub(super) sights: (Option<Sight>, Vec<Option<Sight>>),
    pub(super) sides: Vec<Side>,
}

/// Means of the objective and of all sides at some points, with their slopes.
pub(super) struct Means {
    pub(super) objective: Vec<f64>,
    pub(super) objective_slope: Mat<f64>,
    /// sign (mean - bound), for each side.
    pub(super) sides: Vec<Vec<f64>>,
    pub(super) side_slopes: Vec<Mat<f64>>,
}

impl Outlook {
    /// The means at the rows of x.
    pub(super) fn means(&self, x: MatRef<'_, f64>) -> Result<Means> {
        let (objective, objective_slope) = match &self.objective {
            Some(posterior) => posterior.mean_gradient(x)?,
            None => (vec![0.0; x.nrows()], Mat::zeros(x.nrows(), x.ncols())),
        };
        let (mut sides, mut side_slopes) = (vec![], vec![]);
        let mut last: Option<(usize, Vec<f64>, Mat<f64>)> = None;
        for side in &self.sides {
            let Some(posterior) = &self.limited[side.limit] else { continue };
            if last.as_ref().is_none_or(|(limit, ..)| *limit != side.limit) {
                let (mean, slope) = posterior.mean_gradient(x)?;
                last = Some((side.limit, mean, slope));
            }
            let Some((_, mean, slope)) = &last else { continue };
            sides.push(mean.iter().map(|mean| side.sign * (mean - side.bound)).collect());
            side_slopes.push(Mat::from_fn(x.nrows(), x.ncols(), |i, k| side.sign * slope[(i, k)]));
        }
        Ok(Means { objective, objective_slope, sides, side_slopes })
    }

    /// The sides that have a model, in the order of [`Means`].
    pub(super) fn modelled(&self) -> impl Iterator<Item = &Side> {
        self.sides.iter().filter(|side| self.limited[side.limit].is_some())
    }

    /// The standard deviation of each side at one point.
    pub(super) fn deviations(&self, x: &[f64]) -> Result<Vec<f64>> {
        let x = MatRef::from_row_major_slice(x, 1, x.len());
        let deviation = |side: &Side| match &self.limited[side.limit] {
            Some(model) => model.deviation(x),
            None => Ok(0.0),
        };
        self.modelled().map(deviation).collect()
    }

    /// Σ log P(side is met) at the rows of x; outputs are taken to be independent.
    pub(super) fn log_chances(&self, x: MatRef<'_, f64>) -> Result<Vec<f64>> {
        let mut values = vec![0.0; x.nrows()];
        let limited = self.limited.iter().map(|model| model.as_ref().map(|model| model.posterior()));
        add_chances(&mut values, limited, &self.sides, x)?;
        Ok(values)
    }

    /// The same with pending points taken in at their means.
    pub(super) fn hallucinate(&self, pending: MatRef<'_, f64>) -> Result<Expected> {
        let taken = |posterior: &Option<Arc<Model>>| {
            posterior.as_ref().map(|model| model.posterior().hallucinate(pending)).transpose()
        };
        let limited = self.limited.iter().map(taken).collect::<Result<_>>()?;
        Ok(Expected { objective: taken(&self.objective)?, limited, sides: self.sides.clone() })
    }
}

/// All outputs with pending points taken in.
pub(super) struct Expected {
    pub(super) objective: Option<Box<dyn Posterior>>,
    pub(super) limited: Vec<Option<Box<dyn Posterior>>>,
    pub(super) sides: Vec<Side>,
}

/// Adds Σ log P(side is met) at the rows of x to `values`; `limited` are the models in the order of the limits.
fn add_chances<'a>(
    values: &mut [f64],
    limited: impl Iterator<Item = Option<&'a dyn Posterior>>,
    sides: &[Side],
    x: MatRef<'_, f64>,
) -> Result<()> {
    for (limit, posterior) in limited.enumerate() {
        let Some(posterior) = posterior else { continue };
        let prediction = posterior.predict(x)?;
        for side in sides.iter().filter(|side| side.limit == limit) {
            for (i, value) in values.iter_mut().enumerate() {
                *value += Hopes::chance(side, prediction.mean[i], prediction.var[i]).0;
            }
        }
    }
    Ok(())
}

/// log EI of the objective + Σ log P(side is met); without the first as long as nothing is feasible.
pub(super) struct Hopes<'a> {
    pub(super) expected: &'a Expected,
    /// The lowest value that is feasible, as the model sees it.
    pub(super) best: Option<f64>,
}

/// The width that an equality has for the probability that it is met, in standard deviations of the output.
const EQUAL_WIDTH: f64 = 0.01;

impl Hopes<'_> {
    /// log P(side is met) and its slopes in mean and variance.
    pub(super) fn chance(side: &Side, mean: f64, var: f64) -> (f64, f64, f64) {
        let sd = var.sqrt().max(1e-9);
        let excess = side.sign * (mean - side.bound) - side.tolerance;
        if side.equal {
            // The density at the bound, of a width that keeps it smooth.
            let width = sd * sd + EQUAL_WIDTH * EQUAL_WIDTH;
            let off = mean - side.bound;
            return (-0.5 * off * off / width, -off / width, 0.5 * (off / width).powi(2));
        }
        let u = -excess / sd;
        let slope = log_cdf_slope(u);
        (log_cdf(u), -slope * side.sign / sd, -0.5 * slope * u / (sd * sd))
    }
}

impl Acquisition for Hopes<'_> {
    fn evaluate(&self, _posterior: &dyn Posterior, x: MatRef<'_, f64>) -> Result<Vec<f64>> {
        let mut values = vec![0.0; x.nrows()];
        if let (Some(best), Some(objective)) = (self.best, &self.expected.objective) {
            let ei = LogExpectedImprovement { best };
            let prediction = objective.predict(x)?;
            for (i, value) in values.iter_mut().enumerate() {
                *value += ei.score(prediction.mean[i], prediction.var[i]).value;
            }
        }
        let limited = self.expected.limited.iter().map(|posterior| posterior.as_deref());
        add_chances(&mut values, limited, &self.expected.sides, x)?;
        Ok(values)
    }

    fn evaluate_gradient(
        &self,
        _posterior: &dyn Posterior,
        x: MatRef<'_, f64>,
    ) -> Result<(Vec<f64>, Mat<f64>)> {
        let mut values = vec![0.0; x.nrows()];
        let mut gradient = Mat::zeros(x.nrows(), x.ncols());
        let mut add = |at: &PredictionGradient, score: &dyn Fn(f64, f64) -> (f64, f64, f64)| {
            for i in 0..x.nrows() {
                let (value, by_mean, by_var) = score(at.prediction.mean[i], at.prediction.var[i]);
                values[i] += value;
                for k in 0..x.ncols() {
                    gradient[(i, k)] += by_mean * at.mean_gradient[(i, k)] + by_var * at.var_gradient[(i, k)];
                }
            }
        };
        if let (Some(best), Some(objective)) = (self.best, &self.expected.objective) {
            let ei = LogExpectedImprovement { best };
            add(&objective.predict_gradient(x)?, &|mean, var| {
                let score = ei.score(mean, var);
                (score.value, score.mean_slope, score.var_slope)
            });
        }
        for (limit, posterior) in self.expected.limited.iter().enumerate() {
            let Some(posterior) = posterior else { continue };
            let at = posterior.predict_gradient(x)?;
            for side in self.expected.sides.iter().filter(|side| side.limit == limit) {
                add(&at, &|mean, var| Hopes::chance(side, mean, var));
            }
        }
        Ok((values, gradient))
    }
}
