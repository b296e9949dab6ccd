//! The space that is optimised now: the inputs named so far, all of them, or bins.
//!
//! An `Arm` does the work, in the coordinates of those inputs. It is given every result that lies in its space: points in
//! general position serve whatever inputs are named, since the idle ones do not matter. Probes, which lie a tiny step from
//! their base, tell a model about ripples and not about the trend, and stay out.

use super::super::arm::Arm;
use super::super::settings::Settings;
use super::dense::WHOLE;
use crate::embed::{Embedding, Kind};
use crate::error::Result;

/// A space and its optimiser.
pub(super) struct Live {
    pub(super) space: LiveSpace,
    pub(super) arm: Arm,
}

/// Which space.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum LiveSpace {
    /// These inputs, in increasing order; the others as in the incumbent.
    Inputs(Vec<usize>),
    /// Common moves of so many bins of inputs, and which draw of them.
    Bins { count: usize, number: usize },
}

impl Live {
    /// An optimiser of `dim` coordinates; `number` counts those of the study. One that is to look near the incumbent first
    /// starts with a small trust region. Searches in the first bins of a dense function give way to others.
    pub(super) fn new(
        space: LiveSpace,
        dim: usize,
        seed: u64,
        number: u64,
        is_near: bool,
        is_dense: bool,
    ) -> Result<Live> {
        let embedding = Embedding::new(Kind::Identity, dim, seed, number)?;
        // Bins have 16 length scales: fitted for every result up to 200, they took 15 s of a study's time instead of 3, and
        // led to no better point (rotated Hartmann-6 after 200 evaluations, 16 seeds: -3.273 and -3.270).
        // One or two inputs are searched whole: from boxes around the first basins, ZDT3's narrow best one stayed unseen in 11
        // of 40 runs, without them in 6.
        let trust_region = dim > 2;
        let mut settings =
            Settings { refit_always_until: 60, refit_growth: 1.1, trust_region, ..Settings::bo() };
        settings.surrogate.ard = dim <= WHOLE;
        if is_dense {
            // The first points come from outside. While the arm waited for a design of its own, no result was judged, and
            // the trust region of bins never changed its size.
            settings.initial.count = Some(1);
        }
        let mut arm = Arm::new(embedding, settings, seed, number)?;
        if is_near {
            arm.begin_near();
        } else if is_dense && matches!(space, LiveSpace::Bins { .. }) {
            arm.give_way();
        }
        Ok(Live { space, arm })
    }
}
