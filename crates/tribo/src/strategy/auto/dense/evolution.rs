//! Separable CMA-ES as an arm of the dense fallback: asked one point at a time, told in any order.
//!
//! A worker that is free while a generation is out is given one more point of the same law. The law moves when as many
//! results are back as a generation has; those of an older law that come later teach it nothing. A point that failed
//! ranks last. All of it follows from the order of asks and tells, so it is restored by running them again.

use crate::error::Result;
use crate::opt::Status;
use crate::opt::cmaes::{Cmaes, CmaesOptions};
use crate::rng::Stream;
use crate::strategy::auto::tuning;

/// A run of CMA-ES in the unit cube.
pub(in crate::strategy::auto) struct Evolution {
    run: Cmaes,
    /// Points of a generation that is not extended.
    population: usize,
    /// Of the present generation, the points asked: trial, and value once it is back.
    slots: Vec<(u64, Option<f64>)>,
    is_over: bool,
}

impl Evolution {
    /// A run from `start`; `number` counts those of the study.
    pub(in crate::strategy::auto) fn new(start: &[f64], seed: u64, number: u64) -> Result<Evolution> {
        let d = start.len();
        let options = CmaesOptions { population: None, max_evaluations: usize::MAX };
        let stream = Stream::new(seed, "evolution", number);
        let run = Cmaes::separable(start, first_step(d), &vec![0.0; d], &vec![1.0; d], options, stream)?;
        Ok(Evolution { population: run.ask().len(), run, slots: vec![], is_over: false })
    }

    /// The next point to ask.
    pub(in crate::strategy::auto) fn point(&self) -> &[f64] {
        let points = self.run.ask();
        &points[self.slots.len().min(points.len() - 1)]
    }

    /// Takes note of a trial asked at `z`. A point other than [`Evolution::point`], drawn because that one was known,
    /// tells the law nothing.
    pub(in crate::strategy::auto) fn asked(&mut self, id: u64, z: &[f64]) {
        let value = if z == self.point() { None } else { Some(f64::INFINITY) };
        self.slots.push((id, value));
        // Drawn when the one before is asked, not when it is wanted: to propose must change nothing.
        if self.slots.len() == self.run.ask().len() {
            self.run.extend();
        }
    }

    /// Takes note of an outcome: a value, or none.
    pub(in crate::strategy::auto) fn told(&mut self, id: u64, value: Option<f64>) {
        let Some(slot) = self.slots.iter_mut().find(|slot| slot.0 == id) else { return };
        slot.1 = slot.1.or(value).or(Some(f64::INFINITY));
        if self.slots.iter().filter(|slot| slot.1.is_some()).count() < self.population {
            return;
        }
        let value = |at: usize| self.slots.get(at).and_then(|slot| slot.1).unwrap_or(f64::INFINITY);
        let values: Vec<f64> = (0..self.run.ask().len()).map(value).collect();
        self.is_over = self.run.tell(&values) != Status::Continue;
        self.slots.clear();
    }

    /// Whether the law has converged.
    pub(in crate::strategy::auto) fn is_over(&self) -> bool {
        self.is_over
    }
}

/// The standard deviation of a first step in each of `d` coordinates, as a part of the side. Small, so that single points
/// already beat the incumbent, which is how an arm is judged; the law lengthens it where that pays.
fn first_step(d: usize) -> f64 {
    tuning::EVOLUTION_STEP / (d as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sphere(x: &[f64]) -> f64 {
        x.iter().map(|x| (x - 0.4).powi(2)).sum()
    }

    #[test]
    fn it_gets_on_with_answers_in_any_order_and_failures() {
        let (seed, d) = (5, 150);
        let mut evolution = Evolution::new(&vec![0.5; d], seed, 0).unwrap();
        let mut stream = Stream::new(seed, "order", 0);
        let mut open: Vec<(u64, Vec<f64>)> = vec![];
        let mut best = f64::INFINITY;
        for id in 0..600 {
            let z = evolution.point().to_vec();
            assert_eq!(evolution.point(), z, "asking again gives the same point");
            evolution.asked(id, &z);
            open.push((id, z));
            while open.len() > 5 {
                let (id, z) = open.swap_remove(stream.below(open.len()));
                let value = (stream.below(10) > 0).then(|| sphere(&z));
                best = best.min(value.unwrap_or(f64::INFINITY));
                evolution.told(id, value);
            }
        }
        // The start is at 1.5. First steps of length 0.2 lead to 1.54 with a standard deviation of 0.04, so a law that
        // stays where it is would not see 1.3 in 600 points, five deviations below.
        assert!(best < 1.3, "seed {seed}: {best}");
        assert!(!evolution.is_over());
    }

    #[test]
    fn a_point_that_is_not_its_own_is_no_lesson() {
        let mut evolution = Evolution::new(&[0.5; 40], 1, 0).unwrap();
        let population = evolution.population;
        for id in 0..population as u64 {
            evolution.asked(id, &[0.1; 40]);
        }
        let before = evolution.point().to_vec();
        // The law moves, but only when an answer comes, and by no value.
        evolution.told(0, Some(-1.0));
        assert_ne!(evolution.point(), before);
        assert_eq!(evolution.run.best().1, f64::INFINITY);
    }
}
