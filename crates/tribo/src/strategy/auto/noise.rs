//! With much noise: the point to depart from.
//!
//! The lowest value may be luck, so the lowest few points are evaluated twice again and compared by these repeats alone.
//! A best one that stands out by 15 standard deviations, or by 9 where the noise is moderate, is screened from: a far move
//! then shows inputs that have a part of that effect, and the names are worth their some sixty evaluations. Otherwise bins
//! around the best one are searched, and they move on: after 40 results the lowest two points are repeated, and new bins
//! are drawn around the best of all repeated ones. In bins inputs can only go where their company goes, and every draw
//! gives them another one.
//!
//! Hartmann-6 in 1,000 inputs after 200 evaluations, noise of 10 % of its depth, mean of 100 runs: -3.02 with bins that
//! move on, -2.76 with bins that stay, -2.88 if a point is screened from that stands out by 6 standard deviations.

use super::{Auto, Fact, Measured, Task, tuning};
use crate::error::Result;
use crate::trial::{Recipe, TrialId};

/// Points that were evaluated again.
#[derive(Default)]
pub(super) struct Repeats {
    slots: Vec<Slot>,
    /// Bins move on as soon as all are back.
    is_moving: bool,
}

/// A point that is evaluated again.
struct Slot {
    point: TrialId,
    values: Vec<f64>,
    left: usize,
}

impl Slot {
    fn mean(&self) -> f64 {
        self.values.iter().sum::<f64>() / self.values.len() as f64
    }
}

impl Repeats {
    /// Whether no point was repeated yet.
    pub(super) fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Whether some are not back.
    pub(super) fn is_waiting(&self) -> bool {
        self.slots.iter().any(|slot| slot.left > 0)
    }

    /// Values of the first and the second point repeated.
    pub(super) fn first_two(&self) -> (&[f64], &[f64]) {
        let values = |slot: usize| self.slots.get(slot).map_or(&[][..], |slot| &slot.values);
        (values(0), values(1))
    }

    /// Whether those asked for by [`Auto::repeat_rows`] are among them, after the centre and the first best point.
    pub(super) fn has_rows(&self) -> bool {
        self.slots.len() > 2
    }

    pub(super) fn told(&mut self, slot: usize, value: Option<f64>) {
        let slot = &mut self.slots[slot];
        slot.left -= 1;
        slot.values.extend(value);
    }

    /// The best point, by the repeats alone, and its mean.
    fn best(&self) -> Option<(TrialId, f64)> {
        let known = self.slots.iter().filter(|slot| !slot.values.is_empty());
        known.min_by(|a, b| a.mean().total_cmp(&b.mean())).map(|slot| (slot.point, slot.mean()))
    }
}

impl Auto {
    /// Evaluates a point twice more.
    pub(super) fn repeat(&mut self, point: TrialId) {
        let slot = self.repeats.slots.len();
        self.repeats.slots.push(Slot { point, values: vec![], left: tuning::REPEATS });
        for _ in 0..tuning::REPEATS {
            self.push(Recipe::Jitter { base: point, balanced: false }, vec![], Task::Repeat(slot));
        }
    }

    /// Repeats the lowest points that were not repeated yet.
    fn repeat_lowest(&mut self, count: usize) {
        let tried = |id: TrialId| self.repeats.slots.iter().any(|slot| slot.point == id);
        let is_repeat = |id: TrialId| matches!(self.points.recipe(id), Some(Recipe::Jitter { .. }));
        let rows = self.results.iter().filter(|result| result.in_model);
        let mut rows: Vec<Measured> =
            rows.filter(|result| !tried(result.id) && !is_repeat(result.id)).copied().collect();
        rows.sort_by(|a, b| a.value.total_cmp(&b.value));
        rows.iter().take(count).for_each(|row| self.repeat(row.id));
    }

    /// The lowest of the first rows are repeated before anything is decided.
    pub(super) fn repeat_rows(&mut self) {
        self.repeat_lowest(tuning::REPEATED_FIRST);
    }

    /// The best of the repeated points.
    pub(super) fn best_repeated(&self) -> Option<TrialId> {
        self.repeats.best().map(|(point, _)| point)
    }

    /// Screens from the best of the repeated points if it stands out of the noise.
    pub(super) fn screen_from_repeated(&mut self) -> Result<bool> {
        let Some((point, value)) = self.repeats.best() else { return Ok(false) };
        let deviations = (self.start.middle - value) / self.noise.sigma;
        let moderate = self.noise.sigma <= tuning::MODERATE_NOISE * self.noise.scale;
        if deviations <= if moderate { tuning::STAND_OUT.0 } else { tuning::STAND_OUT.1 } {
            return Ok(false);
        }
        self.found(Fact::StandsOut { deviations });
        self.screen_from(point, (value, tuning::REPEATS))?;
        Ok(true)
    }

    /// Bins that were searched long enough under much noise move on.
    pub(super) fn move_on(&mut self) -> Result<()> {
        if !(self.bins && self.noise.noisy) || self.repeats.is_waiting() {
            return Ok(());
        }
        if self.repeats.is_moving {
            self.repeats.is_moving = false;
            if let Some((_, value)) = self.repeats.best() {
                let deviations = (self.start.middle - value) / self.noise.sigma;
                self.found(Fact::BinsMoved { deviations });
            }
            self.live = None;
            return self.begin_bins();
        }
        let n = self.results.len();
        if n >= self.bins_drawn_at + tuning::BINS_STAY
            && n - self.n_known + tuning::TOO_LATE_FOR_BINS < self.budget
        {
            self.repeat_lowest(tuning::REPEATED_AGAIN);
            self.repeats.is_moving = true;
        }
        Ok(())
    }
}
