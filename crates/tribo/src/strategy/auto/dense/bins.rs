//! Bins of inputs that move together: an arm of the dense fallback, and what is searched under much noise.
//!
//! In bins inputs can only go where their company goes, and every draw gives them another one. Under much noise bins move
//! on: after 40 results the lowest two points are repeated, and new bins are drawn around the best of all repeated ones.

use crate::design::latin_hypercube;
use crate::error::Result;
use crate::rng::Stream;
use crate::strategy::auto::context::{Context, Task};
use crate::strategy::auto::{noise, tuning};
use crate::strategy::study::insight::Fact;
use crate::trial::{Recipe, TrialId};

/// A draw of bins.
pub(in crate::strategy::auto) struct Bins {
    /// The point that they depart from.
    pub(in crate::strategy::auto) base: TrialId,
    /// Which draw they are.
    pub(in crate::strategy::auto) number: usize,
    /// Results there were when they were drawn.
    drawn_at: usize,
    /// Whether they move on as soon as all repeats are back.
    is_moving: bool,
}

impl Bins {
    /// Draws bins, and queues first points in them: across the cube, or near the incumbent for later turns.
    pub(super) fn draw(context: &mut Context, is_later: bool) -> Result<Bins> {
        let best = context.incumbent_or_centre();
        let base = match (is_later || context.tried.line, context.noise.noisy) {
            (true, _) => best,
            (false, true) => context.repeats.best().map_or(best, |(point, _)| point),
            (false, false) => context.centre,
        };
        let half = if is_later { tuning::BINS_NEAR } else { tuning::BINS_ACROSS };
        let number = context.recipes.make_bins(tuning::BINS);
        let has_moved = context.noise.noisy && number > 0;
        let count = if has_moved { tuning::MOVED_BIN_POINTS } else { tuning::BIN_POINTS };
        let mut stream = Stream::new(context.seed, "bin points", number as u64);
        let (low, high) = ([0.5 - half; tuning::BINS], [0.5 + half; tuning::BINS]);
        let rows = latin_hypercube(count, &low, &high, &mut stream)?;
        for row in 0..count {
            let z = (0..tuning::BINS).map(|k| rows[(row, k)]).collect();
            context.push(Recipe::Bins { base, number }, z, Task::Point);
        }
        Ok(Bins { base, number, drawn_at: context.results.len(), is_moving: false })
    }

    /// Whether they were searched long enough, under much noise, and what is known of the best points is back.
    pub(super) fn is_searched(&mut self, context: &mut Context) -> bool {
        if !context.noise.noisy || context.repeats.is_waiting() {
            return false;
        }
        if self.is_moving {
            if let Some((_, value)) = context.repeats.best() {
                let deviations = context.noise.deviations(value);
                context.found(Fact::BinsMoved { deviations });
            }
            return true;
        }
        let n = context.results.len();
        let in_time = n - context.counts.known + tuning::TOO_LATE_FOR_BINS < context.budget;
        if n >= self.drawn_at + tuning::BINS_STAY && in_time {
            noise::repeat_lowest(context, tuning::REPEATED_AGAIN);
            self.is_moving = true;
        }
        false
    }
}

/// Coordinates of a trial in bins of draw `number`, moved from `base`, if it is in their space.
pub(in crate::strategy::auto) fn coordinates(
    context: &Context,
    base: TrialId,
    number: usize,
    id: TrialId,
    in_model: bool,
) -> Option<Vec<f64>> {
    match context.recipes.recipe(id)? {
        Recipe::Bins { number: drawn, .. } if *drawn == number => Some(context.recipes.z(id).to_vec()),
        Recipe::Jitter { base: repeated, .. } if in_model => {
            coordinates(context, base, number, *repeated, true)
        }
        _ => common_shift(context, base, id).map(|shift| vec![0.5 + shift; tuning::BINS]),
    }
}

/// How far a point is from the base of the bins, if all inputs moved alike.
fn common_shift(context: &Context, base: TrialId, id: TrialId) -> Option<f64> {
    let centre = context.centre;
    let along = |id: TrialId| match context.recipes.recipe(id)? {
        Recipe::Centre => Some((centre, 0.0)),
        Recipe::Low => Some((centre, -0.5)),
        Recipe::High => Some((centre, 0.5)),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategy::auto::rehearsal::{context, measure};

    #[test]
    fn points_on_the_line_of_the_base_are_common_moves() {
        let mut context = context(300);
        context.centre = measure(&mut context, Recipe::Centre, 0.0);
        let centre = context.centre;
        let high = measure(&mut context, Recipe::High, 0.0);
        let line = measure(&mut context, Recipe::Line { base: centre, shift: -0.2 }, 0.0);
        let row = measure(&mut context, Recipe::Uniform, 0.0);
        let at = |base, id| coordinates(&context, base, 0, id, true).map(|z| z[0]);
        assert_eq!(at(centre, centre), Some(0.5));
        assert_eq!(at(centre, high), Some(1.0));
        assert_eq!(at(centre, line), Some(0.3));
        assert_eq!((at(line, centre), at(line, high)), (Some(0.7), None), "0.7 is too far");
        assert_eq!((at(centre, row), at(row, row)), (None, Some(0.5)));
    }
}
