//! Bins of inputs that move together: an arm of the dense fallback, and company for named inputs under much noise.
//!
//! A base that hardly stands out of the noise lets inputs be missed, and may lie in a shallow basin where only some of them
//! matter; searched alone, the named ones stay there. So each has a coordinate of its own, and the others share bins around
//! the base, until a point is found that is worth another round. Hartmann-6 with noise of 10 % after 200 evaluations, mean
//! of 100 runs: -2.66, and -2.51 with the named inputs alone.

use super::dense::{Dense, WHOLE};
use super::start::{BINS, CENTRE};
use super::{Auto, Fact, Phase, Task};
use crate::design::latin_hypercube;
use crate::error::Result;
use crate::rng::Stream;
use crate::trial::{Recipe, TrialId};

/// First points of the bins, of bins beside inputs that are named, and how far bins after the first move in them.
const BIN_POINTS: usize = 10;
const BESIDE_POINTS: usize = 6;
const NEAR: f64 = 0.1;
/// Inputs that are searched each for itself at most; the others share the bins that are left.
const MOST_ALONE: usize = 10;
/// Standard deviations by which the base of a round must stand out to be sure of what it has not named.
const SURE: f64 = 12.0;
/// Part of the budget after which the named inputs alone are searched.
const EARLY: f64 = 0.85;

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
        // Under noise there are no turns, and bins around the same point are the same.
        let known = self.points.bins_around(base).filter(|_| self.dense.is_none());
        let number = known.unwrap_or_else(|| self.points.make_bins(BINS, base, vec![]));
        self.bin_number = number;
        let mut stream = Stream::new(self.seed, "bin points", number as u64);
        let (low, high) = ([0.5 - half; BINS], [0.5 + half; BINS]);
        let rows = latin_hypercube(BIN_POINTS, &low, &high, &mut stream)?;
        for row in 0..BIN_POINTS {
            let z = (0..BINS).map(|k| rows[(row, k)]).collect();
            self.push(Recipe::Bins { base, number }, z, Task::Point);
        }
        Ok(())
    }

    /// Whether the named inputs are searched together with bins of the others: if the base they were named from hardly
    /// stands out of the noise, so that others may have been missed, and there is time left.
    pub(super) fn wants_beside(&self, base: TrialId) -> bool {
        let named = self.named_inputs();
        let plain = self.points.width(&named) == named.len() && self.points.n_inputs() > WHOLE;
        let unsure = self.noise.noisy && self.start.depth() < SURE * self.noise.sigma;
        let early = self.results.len() as f64 <= EARLY * self.budget as f64;
        plain && unsure && early && named.len() <= MOST_ALONE && self.points.bins_around(base).is_none()
    }

    /// Searches the named inputs together with bins of all others, around the point they were named from.
    pub(super) fn go_beside(&mut self, base: TrialId) -> Result<()> {
        self.phase = Phase::Optimise;
        self.live = None;
        self.bins = true;
        self.bin_base = base;
        let named = self.named_inputs();
        let home = self.points.of(base, &named);
        let number = self.points.make_bins(BINS, base, named);
        self.bin_number = number;
        self.found(Fact::Bins { count: BINS - home.len() });
        let mut stream = Stream::new(self.seed, "bin points", self.n_live);
        let rows = latin_hypercube(BESIDE_POINTS, &[0.0; BINS], &[1.0; BINS], &mut stream)?;
        for row in 0..BESIDE_POINTS {
            let z = (0..BINS).map(|k| home.get(k).copied().unwrap_or(rows[(row, k)])).collect();
            self.push(Recipe::Bins { base, number }, z, Task::Point);
        }
        self.refresh_live()
    }

    /// Coordinates of a point in the space of the bins, if it is in it.
    pub(super) fn bin_coordinates(&self, id: TrialId, in_model: bool) -> Option<Vec<f64>> {
        let (base, alone) = (self.bin_base, self.points.alone(self.bin_number));
        match self.points.recipe(id)? {
            Recipe::Bins { number, .. } if *number == self.bin_number => {
                return Some(self.points.z(id).to_vec());
            }
            Recipe::Jitter { base: other, .. } if in_model => return self.bin_coordinates(*other, true),
            _ => {}
        }
        if alone.is_empty() {
            return self.common_shift(id).map(|shift| vec![0.5 + shift; BINS]);
        }
        let inside = match self.points.recipe(id)? {
            // A test of one of the named inputs.
            Recipe::Move { round, parts, .. } => {
                let map = self.points.round(*round);
                let mut moved = parts.iter().flat_map(|&(start, end)| start..end);
                map.base == base && moved.all(|place| alone.contains(&(map.order[place] as usize)))
            }
            _ => id == base,
        };
        let mut z = inside.then(|| self.points.of(id, alone))?;
        z.resize(BINS, 0.5);
        Some(z)
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
