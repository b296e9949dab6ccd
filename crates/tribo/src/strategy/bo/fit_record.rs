//! What a fit of the model found, and its record in the trial that asked for it.
//!
//! Model = fit + results: the posterior is made again from these numbers and the results in the order told, to the same
//! bits. So the record holds hyper-parameters themselves, not their logarithms, and for greedy inducing points those
//! they were chosen at, which are not the ones found in the end.

use super::model::Noise;
use super::warp::{Log, Warp};
use crate::error::{Error, RestoreFault, Result};
use crate::strategy::settings::Settings;
use crate::surrogate::hyper::Hyperparameters;
use crate::surrogate::kernel::{Kernel, check_positive};
use crate::surrogate::metric::Metric;
use crate::trial::{Fit, TrialId};

/// What a fit found.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Fitted {
    pub(super) hyper: Hyperparameters,
    pub(super) noise: Noise,
    pub(super) warp: Warp,
    /// The median of all values.
    pub(super) median: f64,
    /// Points closer than this to better ones were left out; 0 if none were.
    pub(super) spacing: f64,
    /// Where greedy inducing points were chosen.
    pub(super) chosen_at: Option<Hyperparameters>,
    /// What takes the place of the length scales, if it was learned.
    pub(super) metric: Option<Metric>,
    /// Results there were.
    pub(super) n_results: usize,
}

impl Fitted {
    /// The record, in a trial that is asked with `n_known` results.
    pub(super) fn to_record(&self, n_known: usize) -> Fit {
        let Warp { log, shift, scale } = self.warp;
        Fit {
            hyper: to_list(&self.hyper),
            noisy: self.noise == Noise::Some,
            shift,
            scale,
            log: log.map(|Log { base, unit }| [base, unit]),
            middle: self.median,
            spacing: self.spacing,
            chosen_at: self.chosen_at.as_ref().map(to_list),
            metric: self.metric.as_ref().map(Metric::to_list),
            results: (self.n_results != n_known).then_some(self.n_results),
        }
    }

    /// The fit of trial `id`, asked with `n_known` results in `d` model dimensions.
    pub(super) fn from_record(
        fit: &Fit,
        n_known: usize,
        d: usize,
        settings: &Settings,
        id: TrialId,
    ) -> Result<Fitted> {
        let n_results = fit.results.unwrap_or(n_known);
        if n_results == 0 || n_results > n_known {
            let fault = RestoreFault::Results { recorded: n_results, known: n_known };
            return Err(Error::Restore { id: id.0, fault });
        }
        let fault = |what, value| Error::Restore { id: id.0, fault: RestoreFault::Number { what, value } };
        let log = fit.log.unwrap_or([0.0, 1.0]);
        for (what, value, low) in [
            ("shift of the values", fit.shift, f64::MIN),
            ("scale of the values", fit.scale, f64::MIN_POSITIVE),
            ("base of the logarithm", log[0], f64::MIN),
            ("unit of the logarithm", log[1], f64::MIN_POSITIVE),
            ("middle value", fit.middle, f64::MIN),
            ("spacing of the points", fit.spacing, 0.0),
        ] {
            if !(low..=f64::MAX).contains(&value) {
                return Err(fault(what, value));
            }
        }
        let hyper = |list: &[f64]| {
            let expected = if settings.surrogate.ard { d + 2 } else { 3 };
            if list.len() != expected {
                let (what, found) = ("fit", list.len());
                return Err(Error::Restore {
                    id: id.0,
                    fault: RestoreFault::Length { what, expected, found },
                });
            }
            let (lengths, rest) = list.split_at(expected - 2);
            Kernel::new(settings.surrogate.shape, lengths.to_vec(), rest[0], d)
                .and_then(|kernel| Hyperparameters::new(kernel, rest[1]))
                .map_err(|error| match error {
                    Error::OutOfRange { what, value, .. } => fault(what, value),
                    other => other,
                })
        };
        let metric = |list: &[f64]| {
            if let Some(&value) = list.iter().find(|value| !value.is_finite()) {
                return Err(fault("metric", value));
            }
            let metric = Metric::from_list(list, d).ok_or(Error::Restore {
                id: id.0,
                fault: RestoreFault::Length { what: "metric", expected: d * d + 1, found: list.len() },
            })?;
            match check_positive("signal variance", metric.signal_var) {
                Ok(()) => Ok(metric),
                Err(_) => Err(fault("signal variance", metric.signal_var)),
            }
        };
        Ok(Fitted {
            hyper: hyper(&fit.hyper)?,
            noise: if fit.noisy { Noise::Some } else { Noise::None },
            warp: Warp {
                log: fit.log.map(|[base, unit]| Log { base, unit }),
                shift: fit.shift,
                scale: fit.scale,
            },
            median: fit.middle,
            spacing: fit.spacing,
            chosen_at: fit.chosen_at.as_deref().map(hyper).transpose()?,
            metric: fit.metric.as_deref().map(metric).transpose()?,
            n_results,
        })
    }
}

/// ℓ, s², σ².
fn to_list(hyper: &Hyperparameters) -> Vec<f64> {
    let kernel = &hyper.kernel;
    kernel.length_scales.iter().copied().chain([kernel.signal_var, hyper.noise_var]).collect()
}
