//! `random`: uniform points.
//!
//! A point follows from the seed and the trial's id. Where it was known already, z says how many were drawn before it.
//! Constraints between inputs are met by drawing on: points are uniform among those that meet them.

use super::engine::{Engine, Next, Origin, Plan, Version, is_given};
use super::study::REDRAWS;
use crate::error::{Error, RestoreFault, Result};
use crate::rng::Stream;
use crate::space::Space;
use crate::space::formula::Region;
use crate::surrogate::watch::Watch;
use crate::trial::{Purpose, Trial};

/// Uniform points of a space.
pub(super) struct Random {
    dim: usize,
    seed: u64,
    region: Option<Region>,
}

impl Random {
    pub(super) fn new(space: &Space, seed: u64) -> Random {
        Random { dim: space.dim(), seed, region: space.region() }
    }
}

impl Engine for Random {
    fn version(&self) -> Version {
        Version { engine: "random", number: 1 }
    }

    fn propose(&mut self, next: Next<'_>, _watch: &dyn Watch) -> Result<Plan> {
        Ok(Plan::new(next.id, vec![], Purpose::Initial, None))
    }

    fn redraw(&self, plan: &mut Plan, draw: u64, _stream: &mut Stream) -> bool {
        plan.trial.z = vec![draw as f64];
        draw <= REDRAWS
    }

    fn asked(&mut self, _trial: &Trial, _origin: Origin) {}

    fn restored(&mut self, trial: &Trial) -> Result<()> {
        let fault = match *trial.z {
            [] => return Ok(()),
            [draw] if draw.fract() == 0.0 && (0.0..=REDRAWS as f64).contains(&draw) => return Ok(()),
            [value] => RestoreFault::Number { what: "number of redraws", value },
            [..] => RestoreFault::Length { what: "z", expected: 1, found: trial.z.len() },
        };
        Err(Error::Restore { id: trial.id.0, fault })
    }

    fn told(&mut self, _trial: &Trial, _value: Option<f64>) {}

    fn unit(&self, trial: &Trial) -> Result<Vec<f64>> {
        if is_given(trial) {
            return Ok(trial.z.clone());
        }
        Ok(unit(self.seed, self.dim, self.region.as_ref(), trial))
    }
}

/// The point of a trial: that of its id, or one drawn after it.
pub(super) fn unit(seed: u64, dim: usize, region: Option<&Region>, trial: &Trial) -> Vec<f64> {
    let draw = trial.z.first().map_or(0, |&draw| draw as u64);
    let mut stream = Stream::new(seed, "random", trial.id.0);
    if let Some(region) = region {
        // Each draw has a stream of its own: a walk takes more numbers than a point has.
        let mut own = Stream::new(stream.bits(), "random inside", draw);
        return region.draw(dim, &mut own).unwrap_or_else(|| vec![0.5; dim]);
    }
    let mut unit = vec![0.0; dim];
    (0..=draw).for_each(|_| unit.iter_mut().for_each(|u| *u = stream.uniform()));
    unit
}
