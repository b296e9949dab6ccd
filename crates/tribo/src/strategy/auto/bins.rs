//! Bins of inputs that move together: an arm of the dense fallback.

use super::dense::Dense;
use super::start::{BINS, CENTRE};
use super::{Auto, Task};
use crate::design::latin_hypercube;
use crate::error::Result;
use crate::rng::Stream;
use crate::trial::{Recipe, TrialId};

/// First points of the bins, and how far bins after the first move in them.
const BIN_POINTS: usize = 10;
const NEAR: f64 = 0.1;

impl Auto {
    /// Draws bins, and queues first points in them: across the cube for the first bins, near the incumbent for later ones.
    pub(super) fn begin_bins(&mut self) -> Result<()> {
        let best = self.best.map_or(CENTRE, |at| self.results[at].id);
        let is_later = self.dense.as_ref().is_some_and(Dense::is_later);
        let (base, half) = match (is_later || self.lined, self.noise.noisy) {
            (true, _) => (best, if is_later { NEAR } else { 0.5 }),
            (false, true) => (self.best_repeated().unwrap_or(best), 0.5),
            (false, false) => (CENTRE, 0.5),
        };
        self.bin_base = base;
        self.bin_number = if self.dense.is_some() { self.points.n_bins() } else { 0 };
        let number = self.bin_number;
        self.points.make_bins(number, BINS);
        let mut stream = Stream::new(self.seed, "bin points", number as u64);
        let (low, high) = ([0.5 - half; BINS], [0.5 + half; BINS]);
        let rows = latin_hypercube(BIN_POINTS, &low, &high, &mut stream)?;
        for row in 0..BIN_POINTS {
            let z = (0..BINS).map(|k| rows[(row, k)]).collect();
            self.push(Recipe::Bins { base, number }, z, Task::Point);
        }
        Ok(())
    }

    /// How far a point is from the base of the bins, if all inputs moved alike.
    pub(super) fn common_shift(&self, id: TrialId) -> Option<f64> {
        let base = self.bin_base;
        let along = |id: TrialId| match self.points.recipe(id)? {
            Recipe::Centre => Some((CENTRE, 0.0)),
            Recipe::Low => Some((CENTRE, -0.5)),
            Recipe::High => Some((CENTRE, 0.5)),
            Recipe::Line { base, shift } => Some((*base, *shift)),
            _ => None,
        };
        if id == base {
            return Some(0.0);
        }
        let (root, shift) = along(id)?;
        let (base_root, base_shift) = along(base).unwrap_or((base, 0.0));
        let shift = shift - base_shift;
        (root == base_root && shift.abs() <= 0.5).then_some(shift)
    }
}
