//! The rest check: all inputs that are not named move at once, and nothing should happen.
//!
//! One evaluation certifies them all as idle. With much noise it takes four: the incumbent, whose low value may be luck, is
//! evaluated twice again, and the others are moved twice.

use crate::error::Result;
use crate::strategy::auto::{Auto, Fact, Phase, Task, tuning};
use crate::trial::{Recipe, TrialId};

/// A check under way.
pub(in crate::strategy::auto) struct RestCheck {
    base: TrialId,
    left: usize,
    still: Vec<f64>,
    moved: Vec<(TrialId, f64)>,
}

impl Auto {
    /// Asks for a check from the incumbent, unless there is nothing to check.
    pub(in crate::strategy::auto) fn queue_rest(&mut self) {
        self.rest_at = self.results.len();
        let kept = self.named_inputs();
        let dense = self.bins || self.whole || self.lined;
        if dense || self.is_given || self.rest.is_some() || kept.len() == self.points.n_inputs() {
            return;
        }
        let Some(best) = self.best.map(|at| self.results[at]) else { return };
        let base = best.id;
        let (n_moved, n_still) = if self.noise.noisy { tuning::REST_NOISY } else { tuning::REST_QUIET };
        for _ in 0..n_moved {
            self.push(Recipe::Others { base, kept: kept.clone() }, vec![], Task::Rest { moved: true });
        }
        for _ in 0..n_still {
            self.push(Recipe::Jitter { base, balanced: false }, vec![], Task::Rest { moved: false });
        }
        let still = if n_still == 0 { vec![best.value] } else { vec![] };
        self.rest = Some(RestCheck { base, left: n_moved + n_still, still, moved: vec![] });
    }

    /// Changes up to here mean nothing.
    pub(in crate::strategy::auto) fn rest_threshold(&self) -> f64 {
        let deviations = if self.noise.noisy { tuning::REST_DEVIATIONS.1 } else { tuning::REST_DEVIATIONS.0 };
        (deviations * self.noise.sigma).max(tuning::REST_NOTHING * self.noise.scale)
    }

    pub(in crate::strategy::auto) fn rest_told(
        &mut self,
        id: TrialId,
        moved: bool,
        value: Option<f64>,
    ) -> Result<()> {
        let Some(check) = &mut self.rest else { return Ok(()) };
        check.left -= 1;
        match (moved, value) {
            (true, Some(value)) => check.moved.push((id, value)),
            (false, Some(value)) => check.still.push(value),
            (_, None) => {}
        }
        if check.left > 0 {
            return Ok(());
        }
        let Some(RestCheck { base, still, moved, .. }) = self.rest.take() else { return Ok(()) };
        let n = still.len();
        let before = still.iter().sum::<f64>() / n.max(1) as f64;
        let farthest = moved.into_iter().max_by(|a, b| (a.1 - before).abs().total_cmp(&(b.1 - before).abs()));
        let Some((id, value)) = farthest.filter(|_| n > 0) else { return Ok(()) };
        let change = value - before;
        let inputs = self.points.n_inputs() - self.named.len();
        let threshold = self.rest_threshold();
        self.found(Fact::Rest { inputs, change, threshold });
        let matters = change.abs() > threshold;
        self.n_idle = if matters { 0 } else { inputs };
        if !matters || self.phase != Phase::Optimise || 2 * self.n_tests >= self.budget {
            return Ok(());
        }
        match self.noise.noisy {
            // Far moves answer best from a low value.
            true => self.screen_from(base, (before, n)),
            // At the incumbent an input that was missed hardly answers to small steps; there it does.
            false => self.screen_from(id, (value, 1)),
        }
    }
}
