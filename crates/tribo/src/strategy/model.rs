//! The model of one embedding: fitted on a schedule, updated by single results in between.
//!
//! Coordinates are those of the unit cube of the model's box; values are seen through a `Warp` that stays as it is
//! between fits, so that an update means the same as a fit with the hyper-parameters held.

use super::settings::{InducingPoints, Process, Settings};
use super::warp::Warp;
use crate::error::Result;
use crate::surrogate::Posterior;
use crate::surrogate::hyper::{Hyperparameters, Mean, Prior, Priors, Ranges};
use crate::surrogate::inducing::Inducing;
use crate::surrogate::train::{ExactGp, Report, SparseGp, Training};
use crate::surrogate::watch::Watch;
use faer::Mat;

/// A fitted model and what it has seen.
pub(super) struct Model {
    posterior: Box<dyn Posterior>,
    hyper: Hyperparameters,
    noise: Noise,
    warp: Warp,
    /// The points it was given; the others are too close to one of these.
    kept: Vec<Vec<f64>>,
    /// Results it has taken in.
    n_seen: usize,
    /// Results there were at the last fit.
    n_fitted: usize,
}

impl Model {
    /// Takes in what is new: by updates while the schedule allows, else by a fit that starts from the last one.
    pub(super) fn refresh(
        last: Option<Model>,
        settings: &Settings,
        points: &[Vec<f64>],
        values: &[f64],
        spacing: f64,
        seed: u64,
        watch: &dyn Watch,
    ) -> Result<Model> {
        if let Some(mut model) = last {
            let due = match model.n_fitted {
                n if n < settings.refit_always_until => n + 1,
                n => (n as f64 * settings.refit_growth).floor() as usize + 1,
            };
            if values.len() < due || values.len() == model.n_seen {
                let mut kept = true;
                for i in model.n_seen..values.len() {
                    // A point too close to another asks for a fit, which decides which of the two is kept.
                    kept = kept
                        && !model.too_close(&points[i], spacing)
                        && model.posterior.observe(&points[i], model.warp.apply(values[i])).is_ok();
                    model.kept.push(points[i].clone());
                }
                if kept {
                    model.n_seen = values.len();
                    return Ok(model);
                }
            }
            return Model::fit(settings, points, values, Some(&model), spacing, seed, watch);
        }
        Model::fit(settings, points, values, None, spacing, seed, watch)
    }

    fn too_close(&self, point: &[f64], spacing: f64) -> bool {
        self.noise == Noise::None && is_close(point, &self.kept, spacing)
    }

    /// Fits hyper-parameters under each candidate warp, without noise and with, and keeps the most likely.
    fn fit(
        settings: &Settings,
        points: &[Vec<f64>],
        values: &[f64],
        last: Option<&Model>,
        spacing: f64,
        seed: u64,
        watch: &dyn Watch,
    ) -> Result<Model> {
        let d = points[0].len();
        let rows = match last {
            Some(model) if model.noise == Noise::None => thin(points, values, spacing),
            _ => (0..values.len()).collect(),
        };
        let (n_seen, all) = (values.len(), values);
        let values: Vec<f64> = rows.iter().map(|&i| all[i]).collect();
        let kept: Vec<Vec<f64>> = rows.iter().map(|&i| points[i].clone()).collect();
        let x = Mat::from_fn(kept.len(), d, |i, k| kept[i][k]);
        let mut best: Option<(f64, Model)> = None;
        let noises = match last {
            // Whether there is noise is asked anew now and then only: it doubles the work.
            Some(model) if n_seen % NOISE_ASKED_EVERY != 0 => vec![model.noise],
            _ => vec![Noise::None, Noise::Some],
        };
        for (warp, noise) in Warp::candidates(&values, settings.warp)
            .into_iter()
            .flat_map(|warp| noises.iter().map(move |&noise| (warp, noise)))
        {
            let y: Vec<f64> = values.iter().map(|&value| warp.apply(value)).collect();
            let start = last.filter(|model| model.noise == noise).map(|model| &model.hyper);
            let (posterior, hyper, report) = condition(settings, &x, &y, noise, start, seed, watch)?;
            let handicap = if noise == Noise::None { 0.0 } else { NOISE_MUST_EXPLAIN };
            let evidence = (report.objective - handicap) * values.len() as f64 + warp.log_jacobian(&values);
            if best.as_ref().is_none_or(|(other, _)| evidence > *other) {
                let kept = kept.clone();
                let model = Model { posterior, hyper, noise, warp, kept, n_seen, n_fitted: n_seen };
                best = Some((evidence, model));
            }
        }
        best.map(|(_, model)| model).ok_or(crate::Error::Empty { what: "results of the model" })
    }

    pub(super) fn posterior(&self) -> &dyn Posterior {
        &*self.posterior
    }

    /// σ², in the model's units.
    pub(super) fn noise_var(&self) -> f64 {
        self.hyper.noise_var
    }

    /// Whether it was fitted to all it has seen.
    pub(super) fn is_fresh(&self) -> bool {
        self.n_seen == self.n_fitted
    }

    /// ℓ of a coordinate.
    pub(super) fn length_scale(&self, k: usize) -> f64 {
        self.hyper.kernel.length_scale(k)
    }

    /// Distance in length scales, none of them counted as longer than half the cube.
    pub(super) fn distance(&self, a: &[f64], b: &[f64]) -> f64 {
        let scaled = |k: usize| (a[k] - b[k]) / self.length_scale(k).min(0.5);
        (0..a.len()).map(|k| scaled(k) * scaled(k)).sum::<f64>().sqrt()
    }

    /// The value as the model sees it.
    pub(super) fn warp(&self, value: f64) -> f64 {
        self.warp.apply(value)
    }
}

/// Whether results repeat themselves exactly.
///
/// A model that takes the ripples of a deterministic simulator for noise stops half-way: Ackley-10 after 200 evaluations
/// comes to 1.7 with a free noise and to 0.06 without. So noise is believed in only if it explains a good part of every
/// result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Noise {
    None,
    Some,
}

/// Nats per result that a model with noise must be better by.
const NOISE_MUST_EXPLAIN: f64 = 0.4;
/// Results between two comparisons of the models without and with noise.
const NOISE_ASKED_EVERY: usize = 8;
/// Beyond this many results points are not thinned: it costs their square, and the sparse process does not mind.
const THINNED: usize = 2_000;

/// Rows whose points are at least `spacing` apart in some coordinate, better values first. Points packed closely around
/// the incumbent of a deterministic function tell the model about its ripples and nothing about its trend.
fn thin(points: &[Vec<f64>], values: &[f64], spacing: f64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    if spacing <= 0.0 || values.len() > THINNED {
        return order;
    }
    order.sort_by(|&i, &j| values[i].total_cmp(&values[j]).then(i.cmp(&j)));
    let mut kept: Vec<Vec<f64>> = Vec::new();
    let mut rows: Vec<usize> = Vec::new();
    for i in order {
        if !is_close(&points[i], &kept, spacing) {
            kept.push(points[i].clone());
            rows.push(i);
        }
    }
    rows.sort_unstable();
    rows
}

fn is_close(point: &[f64], others: &[Vec<f64>], spacing: f64) -> bool {
    others.iter().any(|other| point.iter().zip(other).all(|(a, b)| (a - b).abs() < spacing))
}

/// Fits one process to warped values.
fn condition(
    settings: &Settings,
    x: &Mat<f64>,
    y: &[f64],
    noise: Noise,
    last: Option<&Hyperparameters>,
    seed: u64,
    watch: &dyn Watch,
) -> Result<(Box<dyn Posterior>, Hyperparameters, Report)> {
    let surrogate = &settings.surrogate;
    let d = x.ncols();
    let training = Training {
        ranges: ranges(noise),
        priors: if surrogate.priors { priors(d) } else { Priors::default() },
        starts: starts(settings, d, noise, last),
        evaluations: 40,
        seed,
        ..Training::default()
    };
    let sparse = match &surrogate.process {
        Process::Sparse { exact_until, n_inducing, inducing, approximation, objective }
            if y.len() > *exact_until =>
        {
            let inducing = match inducing {
                InducingPoints::LatinHypercube => {
                    Inducing::LatinHypercube { low: vec![0.0; d], high: vec![1.0; d] }
                }
                InducingPoints::Subset => Inducing::Subset,
                InducingPoints::Greedy => Inducing::Greedy,
            };
            Some((*n_inducing, inducing, *approximation, *objective))
        }
        _ => None,
    };
    let (shape, ard, mean) = (surrogate.shape, surrogate.ard, Mean::Estimated);
    if let Some((n_inducing, inducing, approximation, objective)) = sparse {
        let gp = SparseGp { shape, ard, mean, approximation, objective, inducing, n_inducing, training };
        let (posterior, report) = gp.fit(x.as_ref(), y, watch)?;
        let hyper = posterior.hyperparameters().clone();
        Ok((Box::new(posterior), hyper, report))
    } else {
        let gp = ExactGp { shape, ard, mean, training };
        let (posterior, report) = gp.fit(x.as_ref(), y, watch)?;
        let hyper = posterior.hyperparameters().clone();
        Ok((Box::new(posterior), hyper, report))
    }
}

/// Ranges of hyper-parameters of standardised values on the unit cube. Without noise what is left of it is only there to
/// keep the factorisation going.
fn ranges(noise: Noise) -> Ranges {
    let noise_var = match noise {
        Noise::None => (1e-8, 1e-7),
        Noise::Some => (1e-6, 1.0),
    };
    Ranges { length_scale: (5e-3, 3e1), signal_var: (5e-2, 1e3), noise_var }
}

/// Weak priors, as normal laws of the logarithm: length scales around 0.9 √d, growing as distances do
/// `[@hvarfner2024]`; the signal around one; the noise, if there is any, around a hundredth.
fn priors(d: usize) -> Priors {
    // A log-normal density of θ is a normal density of log θ whose centre lies scale² lower.
    let around = |centre: f64, scale: f64| Some(Prior::LogNormal { location: centre + scale * scale, scale });
    Priors {
        length_scale: around(0.5 * (d as f64).ln() - 0.1, 1.2),
        signal_var: around(0.0, 1.5),
        noise_var: around(-4.6, 2.0),
    }
}

/// The last fit, and a smooth guess for when it was misled.
fn starts(
    settings: &Settings,
    d: usize,
    noise: Noise,
    last: Option<&Hyperparameters>,
) -> Vec<Hyperparameters> {
    let n_lengths = if settings.surrogate.ard { d } else { 1 };
    let mut log = vec![(0.3 * (d as f64).sqrt()).ln(); n_lengths];
    log.extend([0.0, if noise == Noise::None { 1e-8_f64 } else { 1e-2 }.ln()]);
    last.cloned().into_iter().chain([Hyperparameters::from_log(settings.surrogate.shape, &log)]).collect()
}
