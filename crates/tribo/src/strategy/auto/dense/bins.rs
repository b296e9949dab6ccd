//! Bins of inputs that move together: an arm of the dense fallback, and what is searched under much noise.

use super::Dense;
use crate::design::latin_hypercube;
use crate::error::Result;
use crate::rng::Stream;
use crate::strategy::auto::{Auto, Task, tuning};
use crate::trial::{Recipe, TrialId};

impl Auto {
    /// Draws bins, and queues first points in them: across the cube, or near the incumbent for later turns.
    pub(in crate::strategy::auto) fn begin_bins(&mut self) -> Result<()> {
        let best = self.best.map_or(self.centre, |at| self.results[at].id);
        let is_later = self.dense.as_ref().is_some_and(Dense::is_later);
        let base = match (is_later || self.lined, self.noise.noisy) {
            (true, _) => best,
            (false, true) => self.best_repeated().unwrap_or(best),
            (false, false) => self.centre,
        };
        let half = if is_later { tuning::BINS_NEAR } else { tuning::BINS_ACROSS };
        let number = self.points.make_bins(tuning::BINS);
        let count =
            if self.noise.noisy && number > 0 { tuning::MOVED_BIN_POINTS } else { tuning::BIN_POINTS };
        (self.bin_base, self.bin_number, self.bins_drawn_at) = (base, number, self.results.len());
        let mut stream = Stream::new(self.seed, "bin points", number as u64);
        let (low, high) = ([0.5 - half; tuning::BINS], [0.5 + half; tuning::BINS]);
        let rows = latin_hypercube(count, &low, &high, &mut stream)?;
        for row in 0..count {
            let z = (0..tuning::BINS).map(|k| rows[(row, k)]).collect();
            self.push(Recipe::Bins { base, number }, z, Task::Point);
        }
        Ok(())
    }

    /// Coordinates of a point in the space of the bins, if it is in it.
    pub(in crate::strategy::auto) fn bin_coordinates(&self, id: TrialId, in_model: bool) -> Option<Vec<f64>> {
        match self.points.recipe(id)? {
            Recipe::Bins { number, .. } if *number == self.bin_number => Some(self.points.z(id).to_vec()),
            Recipe::Jitter { base, .. } if in_model => self.bin_coordinates(*base, true),
            _ => self.common_shift(id).map(|shift| vec![0.5 + shift; tuning::BINS]),
        }
    }

    /// How far a point is from the base of the bins, if all inputs moved alike.
    pub(in crate::strategy::auto) fn common_shift(&self, id: TrialId) -> Option<f64> {
        let base = self.bin_base;
        let along = |id: TrialId| match self.points.recipe(id)? {
            Recipe::Centre => Some((self.centre, 0.0)),
            Recipe::Low => Some((self.centre, -0.5)),
            Recipe::High => Some((self.centre, 0.5)),
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
