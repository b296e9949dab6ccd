//! What more evaluations would bring: the search is played on functions that the model believes possible.
//!
//! Candidates are points all over the space and close around the best one, at every distance. A joint draw at all of them
//! is one possible truth. On it the search goes on as it does: the candidate of the largest expected improvement is
//! "measured", the process takes the value in, and so on. The gain is how much better the best has become; how it differs
//! between draws says how sure that is. Gains have far tails: on many truths there is next to none, on a few a better basin
//! is found. So the median is told, with the tenth and the ninetieth part.
//!
//! Taking a value in, with c the covariance of its point with all candidates given what was taken in before and v that of
//! the point itself plus σ²: mean += c (y - mean)/v, and the covariances lose c cᵀ/v. O(c) for each earlier value.
//!
//! Hyper-parameters stay, and a model that is right about values is often wrong about how far the search will go: whoever tells
//! people corrects this by what came of the last forecast, and `tribo-bench foresight` says how good that is. (More candidates,
//! where functions of the model have their minima, changed nothing.) Nothing is said by a model that is not to be trusted.

use super::validation::{Trust, Validation};
use crate::acquisition::normal;
use crate::design::Sobol;
use crate::error::Result;
use crate::rng::Stream;
use crate::strategy::Look;
use crate::surrogate::Posterior;
use faer::Mat;

/// Possible truths.
const N_DRAWS: usize = 48;
/// Candidates all over the space, and around the best point.
const N_ANYWHERE: usize = 128;
const N_NEAR: usize = 256;
/// The closest and the farthest of those around the best point, in length scales.
const NEAREST: f64 = 3e-3;
const FARTHEST: f64 = 1.0;
/// Length scales count as no longer than this part of the range.
const LONGEST: f64 = 0.5;

/// What so many more evaluations would bring.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Foresight {
    /// So many.
    pub evaluations: usize,
    /// By how much the best value becomes better, in the user's units: the median.
    pub gain: f64,
    /// It is less in one case of ten.
    pub low: f64,
    /// It is more in one case of ten.
    pub high: f64,
}

/// What `evaluations` more would bring; None where the model is not to be trusted with that.
pub fn foresight(
    look: &Look,
    validation: Option<&Validation>,
    evaluations: usize,
    seed: u64,
) -> Result<Option<Foresight>> {
    if validation.is_none_or(|validation| validation.trust == Trust::None) {
        return Ok(None);
    }
    let mut stream = Stream::new(seed, "foresight", 0);
    let start = Start::of(look)?;
    let candidates = candidates(look, &start.point, &mut stream)?;
    let x = Mat::from_fn(candidates.len(), look.dim(), |i, k| candidates[i][k]);
    let (mean, covariance) = look.process().joint(x.as_ref())?;
    let draws = look.process().sample(x.as_ref(), N_DRAWS, &mut stream)?;
    let noise_var = if look.is_noisy() { look.process().hyperparameters().noise_var } else { 0.0 };
    let mut gains = Vec::with_capacity(N_DRAWS);
    for j in 0..N_DRAWS {
        let truth: Vec<f64> = (0..mean.len()).map(|i| draws[(i, j)]).collect();
        let mut play = Play::new(&mean, &covariance, &start, noise_var);
        for _ in 0..evaluations {
            let at = play.next();
            play.take_in(at, truth[at] + noise_var.sqrt() * stream.normal());
        }
        gains.push(match noise_var > 0.0 {
            // What counts under noise is the point that would be chosen, and its true value.
            true => look.gain(truth[0], truth[play.chosen()]),
            false => look.gain(start.value, play.best),
        });
    }
    gains.sort_by(f64::total_cmp);
    let at = |part: f64| gains[(part * (N_DRAWS - 1) as f64).round() as usize];
    let (gain, low, high) = (at(0.5), at(0.1), at(0.9));
    Ok(high.is_finite().then_some(Foresight { evaluations, gain, low, high }))
}

/// Where the search stands, on values as the model sees them.
struct Start {
    point: Vec<f64>,
    value: f64,
}

impl Start {
    /// The best measured point; under noise that of the best expected value.
    fn of(look: &Look) -> Result<Start> {
        let points: Vec<&[f64]> = look.results().map(|(_, point, _)| point).collect();
        let values: Vec<f64> = match look.is_noisy() {
            true => {
                let x = Mat::from_fn(points.len(), look.dim(), |i, k| points[i][k]);
                look.process().predict(x.as_ref())?.mean
            }
            false => look.results().map(|(_, _, value)| look.to_model(value)).collect(),
        };
        let best = (0..values.len()).fold(0, |a, b| if values[b] < values[a] { b } else { a });
        Ok(Start { point: points[best].to_vec(), value: values[best] })
    }
}

/// Points to choose from, the best one first.
fn candidates(look: &Look, best: &[f64], stream: &mut Stream) -> Result<Vec<Vec<f64>>> {
    let d = look.dim();
    let mut points = vec![best.to_vec()];
    let sobol = Sobol::new(d, stream)?;
    for index in 0..N_ANYWHERE as u64 {
        let mut point = vec![0.0; d];
        sobol.point(index, &mut point)?;
        points.push(point);
    }
    let scales: Vec<f64> = look.length_scales().iter().map(|scale| scale.min(LONGEST)).collect();
    for _ in 0..N_NEAR {
        let radius = NEAREST * (FARTHEST / NEAREST).powf(stream.uniform());
        points
            .push((0..d).map(|k| (best[k] + radius * scales[k] * stream.normal()).clamp(0.0, 1.0)).collect());
    }
    points[1..].iter_mut().for_each(|point| look.snap(point));
    Ok(points)
}

/// The search on one possible truth.
struct Play<'a> {
    covariance: &'a Mat<f64>,
    mean: Vec<f64>,
    var: Vec<f64>,
    /// c/√v of each value taken in.
    taken: Vec<Vec<f64>>,
    best: f64,
    noise_var: f64,
}

impl<'a> Play<'a> {
    fn new(mean: &[f64], covariance: &'a Mat<f64>, start: &Start, noise_var: f64) -> Play<'a> {
        let var = (0..mean.len()).map(|i| covariance[(i, i)].max(0.0)).collect();
        Play { covariance, mean: mean.to_vec(), var, taken: vec![], best: start.value, noise_var }
    }

    /// The candidate of the largest expected improvement.
    fn next(&self) -> usize {
        let worth = |i: usize| {
            let sd = self.var[i].max(0.0).sqrt();
            if sd > 0.0 { sd * normal::h((self.best - self.mean[i]) / sd) } else { 0.0 }
        };
        (0..self.mean.len()).map(|i| (i, worth(i))).fold((0, -1.0), |a, b| if b.1 > a.1 { b } else { a }).0
    }

    /// The candidate with the lowest mean: what would be chosen.
    fn chosen(&self) -> usize {
        (0..self.mean.len()).fold(0, |a, b| if self.mean[b] < self.mean[a] { b } else { a })
    }

    fn take_in(&mut self, at: usize, value: f64) {
        let mut column: Vec<f64> = (0..self.mean.len()).map(|i| self.covariance[(i, at)]).collect();
        for earlier in &self.taken {
            let factor = earlier[at];
            column.iter_mut().zip(earlier).for_each(|(c, e)| *c -= factor * e);
        }
        let v = (column[at] + self.noise_var).max(1e-12);
        let step = (value - self.mean[at]) / v;
        for i in 0..column.len() {
            self.mean[i] += column[i] * step;
            self.var[i] = (self.var[i] - column[i] * column[i] / v).max(0.0);
        }
        let root = v.sqrt();
        column.iter_mut().for_each(|c| *c /= root);
        self.taken.push(column);
        let reached = if self.noise_var > 0.0 { self.mean[self.chosen()] } else { value };
        self.best = self.best.min(reached);
    }
}

#[cfg(test)]
mod tests {
    use super::super::validation::tests::study;
    use super::super::validation::validation;
    use super::*;
    use crate::rng::Stream;
    use crate::surrogate::watch::Unwatched;

    fn ahead(look: &Look) -> Option<Foresight> {
        foresight(look, validation(look).as_ref(), 20, 7).unwrap()
    }

    #[test]
    fn an_open_search_promises_more_than_one_that_is_over() {
        let valley = |x: &[f64]| (6.0 * x[0]).sin() + (x[1] - 0.4).powi(2) + 0.3 * (9.0 * x[2] * x[0]).cos();
        let mut begun = study(&[0.0; 3], &[1.0; 3], 2, 14, |point| valley(&point.numbers()));
        let mut over = study(&[0.0; 3], &[1.0; 3], 2, 60, |point| valley(&point.numbers()));
        let after = ahead(&over.look(&Unwatched).unwrap().unwrap()).unwrap();
        assert!(after.low >= 0.0 && after.low <= after.gain && after.gain < 0.02, "{after:?}");
        if let Some(before) = ahead(&begun.look(&Unwatched).unwrap().unwrap()) {
            assert!(before.gain > after.gain && before.high > before.gain, "{before:?} {after:?}");
        }
    }

    #[test]
    fn of_noise_nothing_is_foreseen() {
        let mut stream = Stream::new(3, "noise", 0);
        let mut noise = study(&[0.0; 2], &[1.0; 2], 1, 40, |_| stream.normal());
        assert_eq!(ahead(&noise.look(&Unwatched).unwrap().unwrap()), None);
    }

    #[test]
    fn taking_values_in_is_what_the_process_does() {
        let mut study = study(&[0.0; 2], &[1.0; 2], 1, 10, |point| point.numbers().iter().sum::<f64>().sin());
        let look = study.look(&Unwatched).unwrap().unwrap();
        let points = [[0.1, 0.9], [0.8, 0.2], [0.5, 0.5]];
        let x = Mat::from_fn(3, 2, |i, k| points[i][k]);
        let (mean, covariance) = look.process().joint(x.as_ref()).unwrap();
        let start = Start::of(&look).unwrap();
        let noise_var = look.process().hyperparameters().noise_var;
        let mut play = Play::new(&mean, &covariance, &start, noise_var);
        let mut process = look.process().clone();
        // With the mean held: the estimated one would move with each value.
        let mu = process.mean_constant();
        for (at, value) in [(0, 0.3), (2, -0.7)] {
            play.take_in(at, value);
            process.observe(&points[at], value).unwrap();
        }
        // Means differ by what the constant mean has moved, variances by nothing.
        let expected = process.predict(x.as_ref()).unwrap();
        let moved = (process.mean_constant() - mu).abs();
        for i in 0..3 {
            assert!((play.var[i] - expected.var[i]).abs() < 1e-6, "{i}: {} {}", play.var[i], expected.var[i]);
            assert!((play.mean[i] - expected.mean[i]).abs() < 2.0 * moved + 1e-6, "{i}");
        }
    }
}
