//! Too many inputs matter to name them: three arms take turns, by what they gain.
//!
//! - *bins*: common moves of 16 random bins of inputs, searched with a Gaussian process of 16 coordinates that learns which
//!   directions matter, unless there is noise;
//! - *all inputs*: a Gaussian process over all of them, whose prior grows with the dimension;
//! - *evolution*: separable CMA-ES over all of them.
//!
//! The first is bins, or all inputs if they are at most 100. An arm goes on while it improves, and gives up after 60
//! results without an improvement: for bins those are the first points and three sizes of the trust region, which halves
//! after 16 failures; for evolution three generations. The next arm begins around the incumbent, with small steps: first
//! those that had no turn yet, in the order above, then the one that gained most per evaluation in its last turn, the one
//! that just gave up aside. Bins are drawn anew each time, so that other inputs move together.
//!
//! A search in the first bins that stalls gives way to another one elsewhere in them (`searches`), since functions of many
//! inputs have many valleys; in the last 32 evaluations to the best one so far. Bins that have gained something do not give up
//! before the search under way stalls.
//!
//! Improvements are judged as those of local searches are: by more than a thousandth of what separates the lowest value
//! from the middle one. Above 2,000 coordinates, which arms of all inputs would write into every record, there are bins
//! alone, one draw after the other. With much noise an improvement may be luck: there are no turns, and
//! bins move on (`base`).

mod bins;
pub(super) mod evolution;

use super::{Auto, Fact, Phase, tuning};
use crate::error::Result;
use crate::strategy::study::insight::DenseArm;
use evolution::Evolution;
use std::collections::BTreeMap;

/// Whose turn it is, and how it is going.
pub(in crate::strategy::auto) struct Dense {
    arm: DenseArm,
    n_turns: u64,
    /// The last trial asked before the turn.
    before: Option<u64>,
    /// Results of the turn, and those since its last improvement.
    n_results: usize,
    n_idle: usize,
    /// The lowest value at the start of the turn, and at its last improvement.
    first: f64,
    improved: f64,
    worthwhile: f64,
    /// Gain per evaluation of each arm in its last turn.
    rates: BTreeMap<DenseArm, f64>,
    pub(in crate::strategy::auto) evolution: Option<Evolution>,
}

impl Dense {
    /// Whether the arm is not the first.
    pub(in crate::strategy::auto) fn is_later(&self) -> bool {
        self.n_turns > 1
    }

    /// The arm after the present one.
    fn next(&self, arms: &[DenseArm]) -> DenseArm {
        if let Some(&untried) = arms.iter().find(|arm| !self.rates.contains_key(arm)) {
            return untried;
        }
        // In turn from the present one on, so that equals take turns.
        let at = arms.iter().position(|&arm| arm == self.arm).unwrap_or(0);
        let others = (1..arms.len()).map(|step| arms[(at + step) % arms.len()]);
        let better = |best: DenseArm, other: DenseArm| {
            if self.rates[&other] > self.rates[&best] { other } else { best }
        };
        others.reduce(better).unwrap_or(self.arm)
    }
}

impl Auto {
    /// Too many inputs matter to name them.
    pub(in crate::strategy::auto) fn go_dense(&mut self) -> Result<()> {
        self.phase = Phase::Optimise;
        let arm = self.dense_arms()[0];
        match arm {
            DenseArm::Bins => self.found(Fact::Bins { count: tuning::BINS }),
            _ => self.found(Fact::AllInputs),
        }
        self.dense = None;
        if !self.noise.noisy {
            self.begin_turn(arm);
        }
        self.begin_arm(arm)
    }

    /// The arms there are, in order.
    fn dense_arms(&self) -> &'static [DenseArm] {
        use DenseArm::{AllInputs, Bins, Evolution};
        if self.points.n_inputs() <= tuning::ALL_INPUTS_FIRST {
            &[AllInputs, Evolution, Bins]
        } else if self.points.dim() <= tuning::WRITTEN {
            &[Bins, AllInputs, Evolution]
        } else {
            &[Bins]
        }
    }

    fn is_later_arm(&self) -> bool {
        self.dense.as_ref().is_some_and(Dense::is_later)
    }

    fn begin_turn(&mut self, arm: DenseArm) {
        let mut values: Vec<f64> =
            self.results.iter().filter(|result| result.in_model).map(|result| result.value).collect();
        values.sort_by(f64::total_cmp);
        let lowest = self.best.map_or(f64::INFINITY, |at| self.results[at].value);
        let middle = values.get(values.len() / 2).copied().unwrap_or(lowest);
        let (n_turns, rates) =
            self.dense.take().map_or((0, BTreeMap::new()), |last| (last.n_turns, last.rates));
        self.dense = Some(Dense {
            arm,
            n_turns: n_turns + 1,
            before: self.points.last_id(),
            n_results: 0,
            n_idle: 0,
            first: lowest,
            improved: lowest,
            worthwhile: if middle > lowest { tuning::WORTHWHILE * (middle - lowest) } else { 0.0 },
            rates,
            evolution: None,
        });
    }

    fn begin_arm(&mut self, arm: DenseArm) -> Result<()> {
        (self.bins, self.whole, self.live) = (arm == DenseArm::Bins, arm != DenseArm::Bins, None);
        match arm {
            DenseArm::Bins => self.begin_bins()?,
            DenseArm::AllInputs => {}
            DenseArm::Evolution => {
                let all: Vec<usize> = (0..self.points.n_inputs()).collect();
                let start = self.points.of(self.best.map_or(self.centre, |at| self.results[at].id), &all);
                if let Some(dense) = &mut self.dense {
                    dense.evolution = Some(Evolution::new(&start, self.seed, dense.n_turns)?);
                }
            }
        }
        self.refresh_live()
    }

    /// Takes note of an outcome for the arm whose turn it is; the next one takes over if that was enough.
    pub(in crate::strategy::auto) fn dense_told(&mut self, id: u64, value: Option<f64>) -> Result<()> {
        if !(self.bins || self.whole) || self.phase != Phase::Optimise {
            return Ok(());
        }
        let Some(dense) = &mut self.dense else { return Ok(()) };
        if let Some(evolution) = &mut dense.evolution {
            evolution.told(id, value);
        }
        if dense.before.is_some_and(|before| id <= before) {
            return Ok(());
        }
        dense.n_results += 1;
        dense.n_idle += 1;
        if let Some(value) = value
            && value < dense.improved - dense.worthwhile
        {
            (dense.improved, dense.n_idle) = (value, 0);
        }
        let has_gained = dense.improved < dense.first;
        let converged = dense.evolution.as_ref().is_some_and(Evolution::is_over);
        let is_idle = dense.n_idle >= tuning::PATIENCE;
        let has_stalled = self.live.as_ref().is_some_and(|live| live.optimiser.has_stalled());
        let goes_on = self.bins && has_gained && !has_stalled && !self.is_later_arm();
        if converged || (is_idle && !goes_on) {
            return self.next_arm();
        }
        if has_stalled
            && self.n_own + tuning::LAST_SEARCH > self.budget
            && let Some(live) = &mut self.live
        {
            live.optimiser.resume();
        }
        Ok(())
    }

    /// The next arm takes over.
    pub(in crate::strategy::auto) fn next_arm(&mut self) -> Result<()> {
        let arms = self.dense_arms();
        let lowest = self.best.map_or(f64::INFINITY, |at| self.results[at].value);
        let Some(dense) = &mut self.dense else { return Ok(()) };
        let (from, evaluations, idle) = (dense.arm, dense.n_results, dense.n_idle);
        // Nothing measured before the turn, nothing to compare with.
        let gain = if dense.first.is_finite() { dense.first - lowest } else { 0.0 };
        dense.rates.insert(from, gain / evaluations.max(1) as f64);
        let to = dense.next(arms);
        self.found(Fact::NextArm { from, evaluations, idle, gain, to });
        self.begin_turn(to);
        self.begin_arm(to)
    }
}
