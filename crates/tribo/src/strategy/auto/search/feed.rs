//! The optimiser of a search, and what it is given.
//!
//! It is given every result that lies in its space: points in general position serve whatever inputs are named, since the
//! idle ones do not matter. Probes, which lie a tiny step from their base, tell a model about ripples and not about the
//! trend, and stay out.

use super::{Coordinates, ModelSearch, Modelled, SearchSpace, earlier_rows};
use crate::embed::{Embedding, Kind};
use crate::error::Result;
use crate::strategy::auto::context::{Context, Measured};
use crate::strategy::auto::dense::Turn;
use crate::strategy::auto::tuning;
use crate::strategy::bo::{Noise, Optimiser};
use crate::strategy::settings::Settings;
use crate::trial::{Recipe, TrialId};

impl ModelSearch {
    /// Makes the optimiser what it should be, for the space there is now.
    pub(in crate::strategy::auto) fn refresh(&mut self, context: &Context) -> Result<()> {
        let coordinates = match &self.space {
            SearchSpace::Evolution(_) => return Ok(()),
            SearchSpace::Bins(bins) => Coordinates::Bins { base: bins.base, number: bins.number },
            SearchSpace::Pairs(pairs) => Coordinates::Pairs { runs: pairs.runs, halves: pairs.halves },
            SearchSpace::AllInputs => Coordinates::Inputs(context.all_inputs()),
            SearchSpace::Singles(singles) => {
                let (base, inputs) = (singles.base, singles.inputs());
                if inputs.is_empty() {
                    self.modelled = None;
                    return Ok(());
                }
                Coordinates::Around { base, inputs }
            }
            SearchSpace::Named if context.named.is_empty() => {
                // Names that earlier results gave may be gone again.
                self.modelled = None;
                return Ok(());
            }
            SearchSpace::Named => Coordinates::Inputs(context.named_inputs()),
        };
        let earlier_from = earlier_rows::seen(context, &coordinates);
        let is_same = |modelled: &Modelled| {
            modelled.coordinates == coordinates && modelled.earlier_from == earlier_from
        };
        if self.modelled.as_ref().is_some_and(is_same) {
            return Ok(());
        }
        let optimiser = self.new_optimiser(context, &coordinates)?;
        let mut modelled = Modelled { optimiser, coordinates, earlier_from };
        self.n_made += 1;
        modelled.feed(context, matches!(self.space, SearchSpace::AllInputs));
        self.modelled = Some(modelled);
        Ok(())
    }

    /// In the last evaluations of the budget the best search goes on.
    pub(in crate::strategy) fn settle_down(&mut self, context: &Context) {
        if is_late(context)
            && let Some(modelled) = &mut self.modelled
            && modelled.optimiser.moves_on()
        {
            modelled.optimiser.resume();
        }
    }

    /// An optimiser without results. One that is to look near the incumbent first starts with a small trust region. Searches
    /// in the first bins of a dense function give way to others.
    fn new_optimiser(&self, context: &Context, coordinates: &Coordinates) -> Result<Optimiser> {
        let (dim, in_bins) = match coordinates {
            Coordinates::Bins { .. } => (tuning::BINS, true),
            Coordinates::Pairs { runs, .. } => (2 * runs, false),
            Coordinates::Inputs(inputs) | Coordinates::Around { inputs, .. } => {
                (context.recipes.width(inputs), false)
            }
        };
        let embedding = Embedding::new(Kind::Identity, dim, context.seed, self.n_made)?;
        let mut settings = Settings {
            refit_always_until: tuning::REFIT_ALWAYS_UNTIL,
            refit_growth: tuning::REFIT_GROWTH,
            trust_region: dim > tuning::SEARCHED_WHOLE,
            ..Settings::bo()
        };
        settings.surrogate.ard = dim <= tuning::ALL_INPUTS_FIRST;
        if self.turn.is_some() {
            // The first points come from outside. While the optimiser waited for a design of its own, no result was judged, and
            // the trust region of bins never changed its size.
            settings.initial.count = Some(1);
        }
        let mut optimiser = Optimiser::new(embedding, settings, context.seed, self.n_made)?;
        let is_near = match coordinates {
            Coordinates::Around { .. } => false,
            Coordinates::Pairs { runs, .. } => *runs > 1,
            _ => self.turn.as_ref().is_some_and(Turn::is_later),
        };
        if is_near {
            optimiser.begin_near();
        } else if self.turn.is_some() && in_bins {
            optimiser.give_way();
        }
        if self.is_over_named() && dim > tuning::SEARCHED_WHOLE && !context.noise.noisy && !is_late(context) {
            optimiser.move_on();
        }
        // What matters in bins of a dense function are directions oblique to them. Length scales cannot follow those and take
        // them for noise, so a quiet function is not asked about it there.
        let quiet = context.noise.sigma <= tuning::NOTICED_NOISE * context.noise.scale;
        if context.noise.noisy {
            optimiser.know_noise(Noise::Some);
        } else if in_bins && self.turn.is_some() && quiet {
            optimiser.know_noise(Noise::None);
            optimiser.learn_metric();
        }
        Ok(optimiser)
    }
}

impl Modelled {
    /// Gives the optimiser all that is known and pending in its space. Bins and named inputs have first points of their own
    /// queued after the line; a search of all inputs has none, so what was before the line has to do where nothing after it is.
    fn feed(&mut self, context: &Context, has_no_points: bool) {
        let first = match self.coordinates {
            // All that lies in its space is near.
            Coordinates::Around { .. } | Coordinates::Pairs { .. } => 0,
            _ => context.results.model_from,
        };
        let n_fed = self.feed_results(context, first, false);
        if n_fed == 0 && has_no_points {
            self.feed_results(context, 0, leaves_line(context));
        }
        self.feed_slopes(context);
        self.feed_earlier(context);
        for (&id, awaited) in &context.pending {
            if let Some(u) = self.coordinates.of(context, TrialId(id), awaited.in_model) {
                self.optimiser.expect(id, u);
            }
        }
    }

    /// Gives the optimiser the results from number `first` on that lie in its space, or only corners and points in general
    /// position; how many there are.
    fn feed_results(&mut self, context: &Context, first: usize, only_general: bool) -> usize {
        let mut n_fed = 0;
        let incumbent = context.results.incumbent.map(|best| best.id);
        for &Measured { id, value, in_model } in context.results.iter().skip(first) {
            if only_general && !is_general(context, id) {
                continue;
            }
            if let Some(u) = self.coordinates.of(context, id, in_model || incumbent == Some(id)) {
                self.optimiser.expect(id.0, u);
                self.optimiser.told(id.0, Some(value));
                n_fed += 1;
            }
        }
        n_fed
    }
}

/// Whether it is too late for another valley.
fn is_late(context: &Context) -> bool {
    context.counts.own + tuning::LAST_DIGITS > context.budget
}

/// Whether the search of all inputs begins away from the line, at the best corner or row, since that is nearly as good as
/// the bottom of the line. There all inputs are alike, so that moving one of them undoes what the others do; where they
/// lie at a face or apart, single ones can be moved to advantage. (Walks among discs, 60 inputs, 200 evaluations: the
/// bottom of the line was never left, and the mean of 12 is 2.0 instead of 5.6.)
fn leaves_line(context: &Context) -> bool {
    let general = context.results.iter().filter(|result| is_general(context, result.id));
    let mut values: Vec<f64> = general.map(|result| result.value).collect();
    values.sort_by(f64::total_cmp);
    let (Some(best), Some(first)) = (context.results.incumbent, values.first()) else { return false };
    let (lowest, median) = (best.value, values[values.len() / 2]);
    first - lowest <= tuning::NEARLY_AS_GOOD * (median - lowest)
}

/// Whether a trial is a corner or a point in general position.
fn is_general(context: &Context, id: TrialId) -> bool {
    let is_row = matches!(context.recipes.recipe(id), Some(Recipe::Latin { .. } | Recipe::Uniform));
    is_row || context.recipes.is_corner(id)
}
