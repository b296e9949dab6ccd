//! The space that is optimised now: the inputs named so far, all of them, or bins.
//!
//! An `Optimiser` does the work, in the coordinates of those inputs. It is given every result that lies in its space: points in
//! general position serve whatever inputs are named, since the idle ones do not matter. Probes, which lie a tiny step from
//! their base, tell a model about ripples and not about the trend, and stay out.

use super::dense::Dense;
use super::{Auto, Measured, tuning};
use crate::embed::{Embedding, Kind};
use crate::error::Result;
use crate::strategy::bo::{Noise, Optimiser};
use crate::strategy::engine::Located;
use crate::strategy::settings::Settings;
use crate::trial::{Recipe, TrialId};

/// A space and its optimiser.
pub(super) struct Live {
    pub(super) space: LiveSpace,
    pub(super) optimiser: Optimiser,
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
        let trust_region = dim > tuning::SEARCHED_WHOLE;
        let mut settings = Settings {
            refit_always_until: tuning::REFIT_ALWAYS_UNTIL,
            refit_growth: tuning::REFIT_GROWTH,
            trust_region,
            ..Settings::bo()
        };
        settings.surrogate.ard = dim <= tuning::ALL_INPUTS_FIRST;
        if is_dense {
            // The first points come from outside. While the optimiser waited for a design of its own, no result was judged, and
            // the trust region of bins never changed its size.
            settings.initial.count = Some(1);
        }
        let mut optimiser = Optimiser::new(embedding, settings, seed, number)?;
        if is_near {
            optimiser.begin_near();
        } else if is_dense && matches!(space, LiveSpace::Bins { .. }) {
            optimiser.give_way();
        }
        Ok(Live { space, optimiser })
    }
}

impl Auto {
    /// Makes the live space what it should be: the inputs named so far.
    pub(super) fn refresh_live(&mut self) -> Result<()> {
        if self.evolution().is_some() {
            return Ok(());
        }
        let space = if self.bins {
            LiveSpace::Bins { count: tuning::BINS, number: self.bin_number }
        } else if self.whole {
            LiveSpace::Inputs((0..self.points.n_inputs()).collect())
        } else if self.named.is_empty() {
            return Ok(());
        } else {
            let mut inputs: Vec<usize> = self.named.iter().map(|named| named.input).collect();
            inputs.sort_unstable();
            LiveSpace::Inputs(inputs)
        };
        if self.live.as_ref().is_some_and(|live| live.space == space) {
            return Ok(());
        }
        let dim = match &space {
            LiveSpace::Bins { count, .. } => *count,
            LiveSpace::Inputs(inputs) => self.points.width(inputs),
        };
        let is_near = self.dense.as_ref().is_some_and(Dense::is_later);
        let mut live = Live::new(space, dim, self.seed, self.n_live, is_near, self.dense.is_some())?;
        // What matters in bins of a dense function are directions oblique to them. Length scales cannot follow those and take
        // them for noise, so a quiet function is not asked about it there.
        let quiet = self.noise.sigma <= tuning::NOTICED_NOISE * self.noise.scale;
        if self.noise.noisy {
            live.optimiser.know_noise(Noise::Some);
        } else if self.bins && self.dense.is_some() && quiet {
            live.optimiser.know_noise(Noise::None);
            live.optimiser.learn_metric();
        }
        self.live = Some(live);
        self.n_live += 1;
        self.feed_live();
        Ok(())
    }

    /// Gives the optimiser all that is known and pending in its space. Bins and named inputs have first points of their own
    /// queued after the line; a search of all inputs has none, so what was before the line has to do where nothing after it is.
    fn feed_live(&mut self) {
        if self.feed_results(self.data_from, false) == 0 && self.whole {
            self.feed_results(0, self.leaves_line());
        }
        self.feed_slopes();
        let pending: Vec<(u64, bool)> = self.pending.iter().map(|(&id, p)| (id, p.in_model)).collect();
        for (id, in_model) in pending {
            if let Some(u) = self.live_coordinates(TrialId(id), in_model)
                && let Some(live) = &mut self.live
            {
                live.optimiser.expect(id, u);
            }
        }
    }

    /// Whether the search of all inputs begins away from the line, at the best corner or row, since that is nearly as good as
    /// the bottom of the line. There all inputs are alike, so that moving one of them undoes what the others do; where they
    /// lie at a face or apart, single ones can be moved to advantage. (Walks among discs, 60 inputs, 200 evaluations: the
    /// bottom of the line was never left, and the mean of 12 is 2.0 instead of 5.6.)
    fn leaves_line(&self) -> bool {
        let general = self.results.iter().filter(|result| self.is_general(result.id));
        let mut values: Vec<f64> = general.map(|result| result.value).collect();
        values.sort_by(f64::total_cmp);
        let (Some(best), Some(first)) = (self.best, values.first()) else { return false };
        let (lowest, median) = (self.results[best].value, values[values.len() / 2]);
        first - lowest <= tuning::NEARLY_AS_GOOD * (median - lowest)
    }

    /// Whether a trial is a corner or a point in general position.
    fn is_general(&self, id: TrialId) -> bool {
        let recipe = self.points.recipe(id);
        matches!(recipe, Some(Recipe::Low | Recipe::High | Recipe::Latin { .. } | Recipe::Uniform))
    }

    /// Gives the optimiser the results from number `first` on that lie in its space, or only corners and points in general
    /// position; how many there are.
    fn feed_results(&mut self, first: usize, only_general: bool) -> usize {
        let mut n_fed = 0;
        for at in first..self.results.len() {
            let Measured { id, value, in_model } = self.results[at];
            if only_general && !self.is_general(id) {
                continue;
            }
            let best = self.best.is_some_and(|at| self.results[at].id == id);
            if let Some(u) = self.live_coordinates(id, in_model || best)
                && let Some(live) = &mut self.live
            {
                live.optimiser.expect(id.0, u);
                live.optimiser.told(id.0, Some(value));
                n_fed += 1;
            }
        }
        n_fed
    }

    /// Coordinates in the live space, if the point is in it.
    pub(super) fn live_coordinates(&self, id: TrialId, in_model: bool) -> Option<Vec<f64>> {
        match &self.live.as_ref()?.space {
            LiveSpace::Inputs(inputs) => in_model.then(|| self.points.of(id, inputs)),
            LiveSpace::Bins { .. } => self.bin_coordinates(id, in_model),
        }
    }

    /// The optimiser of the live space, and the trials among these that lie in it.
    pub(super) fn live_points(&mut self, measured: &[TrialId]) -> Option<(&mut Optimiser, Located)> {
        let known = |id: &TrialId| {
            let in_model = self.results.iter().any(|result| result.id == *id && result.in_model);
            Some((*id, self.live_coordinates(*id, in_model)?))
        };
        let points: Located = measured.iter().filter_map(known).collect();
        let live = self.live.as_mut().filter(|_| !points.is_empty())?;
        Some((&mut live.optimiser, points))
    }
}
