//! The point that a study recommends.
//!
//! Without noise that is the best one measured. Under noise the lowest of many values is the luckiest, and its point need
//! not be good: what counts is what the model, which has seen all values around it, expects there.

use super::{Study, limits};
use crate::error::Result;
use crate::space::Point;
use crate::surrogate::watch::Watch;
use crate::trial::TrialId;
use faer::Mat;

/// The 95 % quantile of a normal law: an interval between this many standard deviations holds 90 %.
const REACH: f64 = 1.644_853_626_951_472_7;

/// A measured point, and how good it is, in user units and direction.
#[derive(Debug, Clone, PartialEq)]
pub struct Recommended {
    /// The trial that measured it, the first one at this point.
    pub id: TrialId,
    /// The point.
    pub point: Point,
    /// What the model expects there; without noise, what was measured.
    pub value: f64,
    /// Where the value without noise is with a probability of 90 %, lower end first; None if results carry no noise, so
    /// that the value is known.
    pub interval: Option<(f64, f64)>,
}

impl Study {
    /// The measured point within all limits whose expected value is the best. Without a model, or with one that believes in no noise, that of
    /// the best measurement.
    pub fn recommended(&mut self, watch: &dyn Watch) -> Result<Option<Recommended>> {
        let measured = self.best()?;
        let measured = measured.map(|best| Recommended {
            id: best.id,
            point: best.point,
            value: best.value,
            interval: None,
        });
        let Some((optimiser, mut points)) = self.engine.model_of_best(&self.history) else {
            return Ok(measured);
        };
        points.retain(|(id, _)| limits::are_met(&self.limits, self.limited.get(id).map(AsRef::as_ref)));
        if points.is_empty() || !optimiser.may_be_noisy() {
            return Ok(measured);
        }
        let model = optimiser.model(watch)?;
        if !model.is_noisy() {
            return Ok(measured);
        }
        let x = Mat::from_fn(points.len(), points[0].1.len(), |i, k| points[i].1[k]);
        let prediction = model.posterior.predict(x.as_ref())?;
        let (mean, var) = (&prediction.mean, &prediction.var);
        let lowest = (0..mean.len()).fold(0, |a, b| if mean[b] < mean[a] { b } else { a });
        let direction = self.direction;
        let value = |deviations: f64| {
            direction.to_user(model.unwarp(mean[lowest] + deviations * var[lowest].sqrt()).0)
        };
        let (a, b) = (value(-REACH), value(REACH));
        let (id, value, interval) = (points[lowest].0, value(0.0), Some((a.min(b), a.max(b))));
        Ok(Some(Recommended { id, point: self.point(id)?, value, interval }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limit::Limit;
    use crate::space::{Direction, Parameter, Space, Values};
    use crate::strategy::{Settings, Strategy};
    use crate::surrogate::watch::Unwatched;
    use crate::trial::Outcome;

    #[test]
    fn under_noise_the_luckiest_measurement_is_not_the_best_point() {
        let seed = 9;
        let space = Space::new(vec![Parameter::float("x", 0.0, 1.0)]).unwrap();
        let strategy = Strategy::Bo(Settings::bo());
        let mut study = Study::new(space, Direction::Maximize, strategy, None, seed).unwrap();
        assert_eq!(study.recommended(&Unwatched), Ok(None));
        let mut stream = crate::rng::Stream::new(seed, "noise", 0);
        // A hill at 0.5 in strong noise, three measurements at each point, and one measurement at the far end that is far too good.
        for i in 0..60 {
            let x = f64::from(i % 20) / 19.0;
            let luck = if i == 59 { 3.8 } else { 0.6 * stream.normal() };
            let point = study.space().point(vec![Values::Float(vec![x])]).unwrap();
            study.add(&point, luck - 8.0 * (x - 0.5) * (x - 0.5)).unwrap();
        }
        let luckiest = study.best().unwrap().unwrap();
        assert_eq!(luckiest.point.columns(), [Values::Float(vec![1.0])]);
        let expected = study.recommended(&Unwatched).unwrap().unwrap();
        let [Values::Float(x)] = expected.point.columns() else { panic!("a float") };
        assert!((x[0] - 0.5).abs() < 0.2, "seed {seed}: {x:?}");
        assert!(expected.value < luckiest.value - 1.0, "{} and {}", expected.value, luckiest.value);
        let (low, high) = expected.interval.unwrap();
        assert!(low < expected.value && expected.value < high, "{low} to {high}");
        assert!(low < 0.0 && 0.0 < high + 0.3, "the hill is 0 high: {low} to {high}");
    }

    #[test]
    fn under_noise_the_recommended_point_is_within_the_limits() {
        let seed = 9;
        let space = Space::new(vec![Parameter::float("x", 0.0, 1.0)]).unwrap();
        let limits = vec![Limit::parse("x <= 0.3").unwrap()];
        let strategy = Strategy::Bo(Settings::bo());
        let mut study = Study::limited(space, Direction::Minimize, limits, strategy, None, 0, seed).unwrap();
        let mut stream = crate::rng::Stream::new(seed, "noise", 0);
        for i in 0..60 {
            let x = f64::from(i % 20) / 19.0;
            let value = 8.0 * (x - 0.5) * (x - 0.5) + 0.6 * stream.normal();
            let point = study.space().point(vec![Values::Float(vec![x])]).unwrap();
            let id = study.adopt(&point).unwrap();
            study.tell_limited(id, Outcome::measured(value), &[Some(x)]).unwrap();
        }
        let recommended = study.recommended(&Unwatched).unwrap().unwrap();
        assert!(study.is_feasible(recommended.id), "{recommended:?}");
    }
}
