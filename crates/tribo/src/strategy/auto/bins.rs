//! Too many inputs matter to name them: all of them are searched, or common moves of bins of them.

use super::start::{BINS, CENTRE};
use super::{Auto, Fact, Phase, Task};
use crate::design::latin_hypercube;
use crate::error::Result;
use crate::rng::Stream;
use crate::trial::{Recipe, TrialId};

/// Inputs up to which a dense problem is searched in all of them, above in bins.
const WHOLE: usize = 100;
/// First points of the bins.
const BIN_POINTS: usize = 10;

impl Auto {
    /// Too many inputs matter: all of them if they are not too many, otherwise common moves of bins.
    pub(super) fn go_dense(&mut self) -> Result<()> {
        self.phase = Phase::Optimise;
        self.live = None;
        if self.points.n_inputs() <= WHOLE {
            self.whole = true;
            self.found(Fact::AllInputs);
            return self.refresh_live();
        }
        self.found(Fact::Bins { count: BINS });
        self.bins = true;
        self.points.make_bins(BINS);
        let best = self.best.map_or(CENTRE, |at| self.results[at].id);
        let base = match (self.lined, self.noise.noisy) {
            (true, _) => best,
            (false, true) => self.best_repeated().unwrap_or(best),
            (false, false) => CENTRE,
        };
        self.bin_base = base;
        let mut stream = Stream::new(self.seed, "bin points", 0);
        let rows = latin_hypercube(BIN_POINTS, &[0.0; BINS], &[1.0; BINS], &mut stream)?;
        for row in 0..BIN_POINTS {
            let z = (0..BINS).map(|k| rows[(row, k)]).collect();
            self.push(Recipe::Bins { base }, z, Task::Point);
        }
        self.refresh_live()
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
