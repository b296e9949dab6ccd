//! What a study knows about the limits on its outputs: which are met, which bind, and what they cost.

use super::Study;
use crate::error::Result;
use crate::limit::Limit;
use crate::strategy::limits::LimitsLook;
use crate::surrogate::watch::Watch;
use crate::trial::TrialId;

/// What a model says about one limit, from the best point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LimitKnown {
    /// The probability that the best feasible point, or where there is none the most promising one, meets the limit.
    pub probability: f64,
    /// How much the best value changes, in the user's direction, for each unit that the limit is moved up; None where it
    /// does not bind or is not known.
    pub worth: Option<f64>,
}

/// How a study stands to one of its limits.
#[derive(Debug, Clone, PartialEq)]
pub struct LimitState {
    /// The limit.
    pub limit: Limit,
    /// Trials at which the output was measured.
    pub measured: usize,
    /// Those of them that meet the limit.
    pub met: usize,
    /// The trial that came nearest to meeting it, or meets it best, and its value.
    pub nearest: Option<(TrialId, f64)>,
    /// Its value at the best feasible trial.
    pub at_best: Option<f64>,
    /// Whether the best trial is at the limit: within a hundredth of it.
    pub binds: bool,
    /// What the model says.
    pub known: Option<LimitKnown>,
}

/// Whether these measurements of the limited outputs meet every limit; one that is missing does not.
pub(super) fn are_met(limits: &[Limit], limited: Option<&[Option<f64>]>) -> bool {
    let is_met = |(k, limit): (usize, &Limit)| {
        limited.and_then(|limited| limited[k]).is_some_and(|value| limit.is_met(value))
    };
    limits.iter().enumerate().all(is_met)
}

impl Study {
    /// The limits.
    pub fn limits(&self) -> &[Limit] {
        &self.limits
    }

    /// What was measured of the limited outputs at a trial, in the order of the limits; empty if nothing was told or there are
    /// no limits.
    pub fn limited_at(&self, id: TrialId) -> &[Option<f64>] {
        self.limited.get(&id).map_or(&[], |limited| limited)
    }

    /// Whether a trial was measured within all limits.
    pub fn is_feasible(&self, id: TrialId) -> bool {
        let measured = self.history.get(id).and_then(|(_, outcome)| outcome?.value()).is_some();
        measured && are_met(&self.limits, self.limited.get(&id).map(AsRef::as_ref))
    }

    /// How far a trial is beyond its limits, each measured by its own size: the sum over all. None if one was not measured.
    pub fn violation(&self, id: TrialId) -> Option<f64> {
        let limited = self.limited.get(&id)?;
        self.limits.iter().zip(limited).try_fold(0.0, |sum, (limit, value)| {
            let excess = limit.excess((*value)?);
            Some(sum + if excess > limit.tolerance() { excess / limit.size() } else { 0.0 })
        })
    }

    /// The trial that is least beyond the limits, the first told of equals: what there is as long as nothing is feasible.
    pub fn least_violated(&self) -> Option<(TrialId, f64)> {
        let told = self.history.measured().map(|(trial, _)| trial.id);
        let known = told.filter_map(|id| Some((id, self.violation(id)?)));
        known.fold(None, |least: Option<(TrialId, f64)>, other| match least {
            Some(least) if least.1 <= other.1 => Some(least),
            _ => Some(other),
        })
    }

    /// How the study stands to each of its limits, with what the model says.
    pub fn limit_states(&mut self, watch: &dyn Watch) -> Result<Vec<LimitState>> {
        let known = self.engine.limits(self.direction.to_user(1.0), watch)?;
        let mut states = self.limits_so_far();
        for (k, state) in states.iter_mut().enumerate() {
            state.known = known.get(k).copied();
        }
        Ok(states)
    }

    /// The models of the limited outputs, to be looked at; None where there are no limits or too few results.
    pub fn look_at_limits(&mut self, watch: &dyn Watch) -> Result<Option<LimitsLook>> {
        let look = self.engine.look_at_limits(watch)?;
        Ok(look.map(|look| look.in_direction(self.direction)))
    }

    /// How the study stands to each of its limits, from what was measured alone.
    pub fn limits_so_far(&self) -> Vec<LimitState> {
        let best = self.history.best().map(|(trial, _)| trial.id);
        let mut states = Vec::with_capacity(self.limits.len());
        for (k, limit) in self.limits.iter().enumerate() {
            let values: Vec<(TrialId, f64)> =
                self.limited.iter().filter_map(|(id, limited)| Some((*id, limited[k]?))).collect();
            let nearest =
                values.iter().copied().min_by(|a, b| limit.excess(a.1).total_cmp(&limit.excess(b.1)));
            let at_best = best.and_then(|id| self.limited.get(&id)?[k]);
            // A hundredth of the limit, or where that is zero of how far away most values are.
            let mut far: Vec<f64> = values.iter().map(|value| limit.excess(value.1).abs()).collect();
            far.sort_by(f64::total_cmp);
            let away = far.get(3 * far.len() / 4).copied().unwrap_or(0.0);
            let is_zero = [limit.low(), limit.high()].into_iter().flatten().all(|end| end == 0.0);
            let near = (0.01 * if is_zero { away } else { limit.size() }).max(limit.tolerance());
            states.push(LimitState {
                limit: limit.clone(),
                measured: values.len(),
                met: values.iter().filter(|value| limit.is_met(value.1)).count(),
                nearest,
                at_best,
                binds: at_best.is_some_and(|value| limit.excess(value) >= -near),
                known: None,
            });
        }
        states
    }
}
