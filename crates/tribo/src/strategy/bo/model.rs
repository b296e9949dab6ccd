//! The model of one embedding: fitted on a schedule, updated by single results in between.
//!
//! Coordinates are those of the unit cube of the model's box; values are seen through a `Warp` that stays as it is
//! between fits, so that an update means the same as a fit with the hyper-parameters held.
//!
//! A model is a function of its `Fitted` and the results in the order told: [`Model::again`] and [`Model::take_in`] lead
//! to the same bits whether the results came one by one or all at once after a restart.

use super::fit_record::Fitted;
use super::results::Results;
use super::warp::{Warp, Warped};
use crate::error::{Error, Result};
use crate::strategy::settings::{InducingPoints, Process, Settings};
use crate::surrogate::Posterior;
use crate::surrogate::data::Data;
use crate::surrogate::exact::ExactPosterior;
use crate::surrogate::hyper::{Hyperparameters, Mean, Prior, Priors, Ranges};
use crate::surrogate::inducing::Inducing;
use crate::surrogate::metric::{Mapped, Metric, MetricGp, MetricPrior};
use crate::surrogate::train::{ExactGp, Report, SparseFit, SparseGp, Training};
use crate::surrogate::watch::Watch;
use faer::Mat;
use std::sync::Arc;

/// Whether results repeat themselves exactly.
///
/// A model that takes the ripples of a deterministic simulator for noise stops half-way: Ackley-10 after 200 evaluations
/// comes to 1.7 with a free noise and to 0.06 without. So noise is believed in only if it explains a good part of every
/// result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::strategy) enum Noise {
    None,
    Some,
}

/// What is known besides the results.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Known {
    /// Many workers act on few results.
    pub(super) crowded: bool,
    /// Whether results carry noise, if that was measured.
    pub(super) noise: Option<Noise>,
    /// A repeat will tell, so that noise need not prove itself by evidence alone.
    pub(super) repeats: bool,
    /// A metric takes the place of the length scales while the process is exact and there is no noise.
    pub(super) learns_metric: bool,
}

/// What a model is made from.
#[derive(Clone, Copy)]
pub(super) struct Basis<'a> {
    pub(super) settings: &'a Settings,
    pub(super) results: &'a Results,
    /// How close two points of the model may be.
    pub(super) spacing: f64,
    /// Many workers act on few results.
    pub(super) crowded: bool,
    pub(super) seed: u64,
    pub(super) watch: &'a dyn Watch,
}

/// A fitted model and what it has seen.
pub(in crate::strategy) struct Model {
    pub(in crate::strategy) posterior: Box<dyn Posterior>,
    /// What the fit found.
    pub(super) fitted: Arc<Fitted>,
    /// ℓ of each coordinate, of the metric if there is one.
    pub(super) length_scales: Vec<f64>,
    /// The results it was given, by their rows; the others are too close to one of these.
    kept: Vec<usize>,
    /// How many of them the fit was given.
    n_kept_by_fit: usize,
    /// Results it has taken in.
    n_seen: usize,
}

impl Model {
    /// A model right after its fit.
    fn new(
        posterior: Box<dyn Posterior>,
        fitted: Arc<Fitted>,
        d: usize,
        kept: Vec<usize>,
        n_seen: usize,
    ) -> Model {
        let length_scale = |k: usize| match &fitted.metric {
            Some(metric) => metric.length_scale(k),
            None => fitted.hyper.kernel.length_scale(k),
        };
        let length_scales = (0..d).map(length_scale).collect();
        let n_kept_by_fit = kept.len();
        Model { posterior, fitted, length_scales, kept, n_kept_by_fit, n_seen }
    }

    /// The model of a fit made before, as it was right after that fit.
    pub(super) fn again(basis: Basis<'_>, fitted: &Arc<Fitted>) -> Result<Model> {
        let Basis { settings, results: Results { points, values, .. }, seed, watch, .. } = basis;
        let n_seen = fitted.n_results;
        let rows = thin(&points[..n_seen], &values[..n_seen], fitted.spacing);
        let x = matrix(points, &rows);
        let y: Vec<f64> = rows.iter().map(|&i| fitted.warp.apply(values[i])).collect();
        let gp = process(settings, x.ncols(), y.len(), fitted.noise, Known::default(), None, seed);
        let posterior: Box<dyn Posterior> = match (gp, &fitted.metric) {
            (_, Some(metric)) => Box::new(metric_gp(&fitted.hyper).condition(x.as_ref(), &y, metric)?),
            (Gp::Exact(gp), None) => {
                Box::new(ExactPosterior::new(&Data::new(x.as_ref(), &y)?, &fitted.hyper, gp.mean)?)
            }
            (Gp::Sparse(gp), None) => {
                let chosen_at = fitted.chosen_at.as_ref().unwrap_or(&fitted.hyper);
                Box::new(gp.condition(x.as_ref(), &y, &fitted.hyper, chosen_at, watch)?)
            }
        };
        Ok(Model::new(posterior, Arc::clone(fitted), x.ncols(), rows, n_seen))
    }

    /// Takes in what is new; false if a fit is needed instead, and this model is of no more use. The first `n_accepted`
    /// results were found fit to be taken in before.
    pub(super) fn take_in(&mut self, basis: Basis<'_>, n_accepted: usize) -> bool {
        let Basis { results: Results { points, values, .. }, spacing, .. } = basis;
        for i in n_accepted.min(self.n_seen)..values.len() {
            // A point too close to another asks for a fit, which decides which of the two is kept.
            let earlier = &self.kept[..self.n_kept_by_fit + i - self.fitted.n_results];
            let is_close = || is_close(&points[i], points, earlier, spacing);
            if i >= n_accepted && self.fitted.noise == Noise::None && is_close() {
                return false;
            }
            if i >= self.n_seen {
                if self.posterior.observe(&points[i], self.fitted.warp.apply(values[i])).is_err() {
                    return false;
                }
                self.kept.push(i);
                self.n_seen += 1;
            }
        }
        true
    }

    /// Fits hyper-parameters under each candidate warp, without noise and with, and keeps the most likely. Starts from
    /// the last fit, if there is one.
    pub(super) fn fit(basis: Basis<'_>, last: Option<&Fitted>, known: Known) -> Result<Model> {
        let Basis { settings, results: Results { points, values, .. }, seed, watch, .. } = basis;
        if values.is_empty() {
            return Err(Error::Empty { what: "results of the model" });
        }
        let deterministic = last.is_some_and(|last| last.noise == Noise::None);
        let spacing = if deterministic { basis.spacing } else { 0.0 };
        let rows = thin(points, values, spacing);
        let (n_seen, median) = (values.len(), median(values));
        let values: Vec<f64> = rows.iter().map(|&i| values[i]).collect();
        let x = matrix(points, &rows);
        let noises = match (known.noise, last) {
            (Some(noise), _) => vec![noise],
            // Whether there is noise is asked anew now and then only: it doubles the work.
            (None, Some(last)) if n_seen % NOISE_ASKED_EVERY != 0 => vec![last.noise],
            (None, _) => vec![Noise::None, Noise::Some],
        };
        let warped = Warp::try_on(&values, settings.warp);
        let hypotheses: Vec<Hypothesis<'_>> = warped
            .iter()
            .flat_map(|warped| noises.iter().map(move |&noise| (warped, noise)))
            .map(|(warped, noise)| {
                let start = last.filter(|last| last.noise == noise).map(|last| &last.hyper);
                let gp = process(settings, x.ncols(), values.len(), noise, known, start, seed);
                Hypothesis { warped, noise, repeats: known.repeats, gp }
            })
            .collect();
        let (chosen, (mut posterior, hyper, report)) = most_likely(&hypotheses, &x, &values, watch)?;
        let Hypothesis { warped: Warped { warp, .. }, noise, gp, .. } = chosen;
        // Other choices do not look at hyper-parameters.
        let chosen_at = report.chosen_at.filter(|_| gp.is_greedy());
        let (warp, noise, metric, n_results) = (*warp, *noise, None, n_seen);
        let mut fitted = Fitted { hyper, noise, warp, median, spacing, chosen_at, metric, n_results };
        if known.learns_metric && matches!(gp, Gp::Exact(_)) && fitted.noise == Noise::None {
            let y: Vec<f64> = values.iter().map(|&value| fitted.warp.apply(value)).collect();
            let last = last.and_then(|last| last.metric.as_ref());
            if let Some((metric, mapped)) = learn_metric(&x, &y, &fitted.hyper, last, watch)? {
                (fitted.metric, posterior) = (Some(metric), Box::new(mapped));
            }
        }
        Ok(Model::new(posterior, Arc::new(fitted), x.ncols(), rows, n_seen))
    }

    /// The hyper-parameters; None where a metric takes the place of length scales.
    pub(in crate::strategy) fn hyper(&self) -> Option<&Hyperparameters> {
        self.fitted.metric.is_none().then_some(&self.fitted.hyper)
    }

    /// How it sees values.
    pub(in crate::strategy) fn values_seen(&self) -> Warp {
        self.fitted.warp
    }

    /// Which of these results are as far apart as those it was fitted to.
    pub(in crate::strategy) fn apart(&self, points: &[Vec<f64>], values: &[f64]) -> Vec<usize> {
        thin(points, values, self.fitted.spacing)
    }

    /// Whether results are taken to carry noise.
    pub(in crate::strategy) fn is_noisy(&self) -> bool {
        self.fitted.noise == Noise::Some
    }

    /// Distance in length scales, none of them counted as longer than half the cube; with a metric, in that: points that differ
    /// along idle directions are in the same valley.
    pub(super) fn distance(&self, a: &[f64], b: &[f64]) -> f64 {
        if let Some(metric) = &self.fitted.metric {
            return metric.distance(a, b);
        }
        let scaled = |k: usize| (a[k] - b[k]) / self.length_scales[k].min(0.5);
        (0..a.len()).map(|k| scaled(k) * scaled(k)).sum::<f64>().sqrt()
    }

    /// The value that the model sees as `w`, and the slope of that map.
    pub(in crate::strategy) fn unwarp(&self, w: f64) -> (f64, f64) {
        self.fitted.warp.invert(w)
    }
}

/// Evaluations of the evidence at most in a fit.
const EVALUATIONS: usize = 40;
/// With more results than these the hyper-parameters are those of the subset of 10,000, unchecked: with 200,000 results in ten
/// inputs the check is two thirds of a fit, 15.7 processor seconds and 5.3 without it. The size is chosen, not measured.
const CHECKED: usize = 100_000;
/// The prior of a metric in the 16 coordinates of bins. Rotated Hartmann-6 with 45, 70, 110 and 150 results: of the variance
/// near the best 0.81, 0.56, 0.35 and 0.14 are not explained with these; 0.86, 0.62, 0.40 and 0.14 with 1.25 and 0.2, where
/// the model is too sure of itself; 1.07, 0.88, 0.83 and 0.64 with length scales alone (means of 6 draws).
const METRIC_LENGTH_SCALE: f64 = 0.9;
const METRIC_ENTRY_SD: f64 = 0.25;
/// Length scales of a smooth guess, in units of √d.
const SMOOTH: f64 = 0.3;
/// Nats per result that a model with noise must be better by, where nothing else tells.
const NOISE_MUST_EXPLAIN: f64 = 0.4;
/// Nats in all that make a repeat worth an evaluation. The density of the noise prior is worth 2.6 at its centre, which is no
/// evidence; its width of two in the logarithm costs 1.6.
const NOISE_SUSPECTED: f64 = 5.0;
/// Results between two comparisons of the models without and with noise.
const NOISE_ASKED_EVERY: usize = 8;
/// Beyond this many results points are not thinned: it costs their square, and the sparse process does not mind.
pub(super) const THINNED: usize = 2_000;

/// Rows whose points are at least `spacing` apart in some coordinate, better values first. Points packed closely around
/// the incumbent of a deterministic function tell the model about its ripples and nothing about its trend.
fn thin(points: &[Vec<f64>], values: &[f64], spacing: f64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    if spacing <= 0.0 || values.len() > THINNED {
        return order;
    }
    order.sort_by(|&i, &j| values[i].total_cmp(&values[j]).then(i.cmp(&j)));
    let mut rows: Vec<usize> = Vec::new();
    for i in order {
        if !is_close(&points[i], points, &rows, spacing) {
            rows.push(i);
        }
    }
    rows.sort_unstable();
    rows
}

/// Whether a point is close to one of those in `rows`.
fn is_close(point: &[f64], points: &[Vec<f64>], rows: &[usize], spacing: f64) -> bool {
    rows.iter().any(|&row| point.iter().zip(&points[row]).all(|(a, b)| (a - b).abs() < spacing))
}

/// The points in `rows`.
fn matrix(points: &[Vec<f64>], rows: &[usize]) -> Mat<f64> {
    Mat::from_fn(rows.len(), points.first().map_or(0, Vec::len), |i, k| points[rows[i]][k])
}

/// The median of the values.
fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    *sorted.select_nth_unstable_by(values.len() / 2, f64::total_cmp).1
}

/// The process with a metric, at the noise of a fit with length scales.
fn metric_gp(hyper: &Hyperparameters) -> MetricGp {
    let (shape, noise_var) = (hyper.kernel.shape, hyper.noise_var);
    let prior = MetricPrior { length_scale: METRIC_LENGTH_SCALE, entry_sd: METRIC_ENTRY_SD };
    MetricGp { shape, mean: Mean::Estimated, noise_var, prior, evaluations: EVALUATIONS }
}

/// A metric and its posterior; None if nothing could be factored with it, so that the length scales stay.
fn learn_metric(
    x: &Mat<f64>,
    y: &[f64],
    hyper: &Hyperparameters,
    last: Option<&Metric>,
    watch: &dyn Watch,
) -> Result<Option<(Metric, Mapped)>> {
    let gp = metric_gp(hyper);
    let metric = gp.fit(x.as_ref(), y, last, watch)?;
    match gp.condition(x.as_ref(), y, &metric) {
        Ok(posterior) => Ok(Some((metric, posterior))),
        Err(Error::NotPositiveDefinite { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// What a fit may believe of the values.
struct Hypothesis<'a> {
    warped: &'a Warped,
    noise: Noise,
    /// A repeat will tell whether there is noise.
    repeats: bool,
    gp: Gp,
}

impl Hypothesis<'_> {
    /// How likely it makes `n` values, in nats, from its objective per value and the Jacobian of its warp.
    fn evidence(&self, objective: f64, n: usize, log_jacobian: f64) -> f64 {
        let handicap = match (self.noise, self.repeats) {
            (Noise::None, _) => 0.0,
            (Noise::Some, true) => NOISE_SUSPECTED,
            (Noise::Some, false) => NOISE_MUST_EXPLAIN * n as f64,
        };
        objective * n as f64 - handicap + log_jacobian
    }
}

/// An exact process of values at points `x`, and how it sees them: the most likely warp, from hyper-parameters found before.
/// None if nothing can be factored.
pub(in crate::strategy) fn coarse_model(
    x: &Mat<f64>,
    values: &[f64],
    start: &Hyperparameters,
    is_noisy: bool,
    watch: &dyn Watch,
) -> Result<Option<(ExactPosterior, Warp)>> {
    let noise = if is_noisy { Noise::Some } else { Noise::None };
    let (shape, ard) = (start.kernel.shape, start.kernel.length_scales.len() > 1);
    let training = Training {
        ranges: ranges(noise),
        priors: priors(x.ncols(), Known::default(), noise),
        starts: vec![start.clone()],
        evaluations: EVALUATIONS,
        ..Training::default()
    };
    let gp = ExactGp { shape, ard, mean: Mean::Estimated, training };
    let mut best: Option<(f64, ExactPosterior, Warp)> = None;
    for Warped { warp, values: seen, log_jacobian } in Warp::try_on(values, true) {
        let (posterior, report) = match gp.fit(x.as_ref(), &seen, watch) {
            Ok(fit) => fit,
            Err(Error::NotPositiveDefinite { .. }) => continue,
            Err(error) => return Err(error),
        };
        let evidence = report.objective * values.len() as f64 + log_jacobian;
        if best.as_ref().is_none_or(|(highest, ..)| evidence > *highest) {
            best = Some((evidence, posterior, warp));
        }
    }
    Ok(best.map(|(_, posterior, warp)| (posterior, warp)))
}

/// What a process was fitted to be.
type Fit = (Box<dyn Posterior>, Hyperparameters, Report);

/// The hypothesis that makes `values` most likely, the first of equals, and its fit.
fn most_likely<'a>(
    hypotheses: &'a [Hypothesis<'a>],
    x: &Mat<f64>,
    values: &[f64],
    watch: &dyn Watch,
) -> Result<(&'a Hypothesis<'a>, Fit)> {
    if hypotheses.len() > 1 && hypotheses.iter().all(|each| each.gp.begins_on_subset(values.len())) {
        return most_likely_on_subset(hypotheses, x, values, watch);
    }
    let mut best: Option<(f64, &Hypothesis<'_>, Fit)> = None;
    for hypothesis in hypotheses {
        let fit = hypothesis.gp.fit(x, &hypothesis.warped.values, watch)?;
        let evidence = hypothesis.evidence(fit.2.objective, values.len(), hypothesis.warped.log_jacobian);
        if best.as_ref().is_none_or(|(highest, ..)| evidence > *highest) {
            best = Some((evidence, hypothesis, fit));
        }
    }
    let (_, hypothesis, fit) = best.ok_or(Error::Empty { what: "warps of the model" })?;
    Ok((hypothesis, fit))
}

/// As [`most_likely`], compared on the first subset of the data, each point standing for many; one goes on to all of them.
/// What decides are nats per result, of which a few thousand results know the hundredths. The Jacobian is that of the subset
/// too: what the subset has by chance of large values must count on both sides.
fn most_likely_on_subset<'a>(
    hypotheses: &'a [Hypothesis<'a>],
    x: &Mat<f64>,
    values: &[f64],
    watch: &dyn Watch,
) -> Result<(&'a Hypothesis<'a>, Fit)> {
    let n = values.len();
    let mut best: Option<(f64, &Hypothesis<'_>, SparseFit<'_>)> = None;
    for hypothesis in hypotheses {
        let (Warped { warp, values: y, .. }, Gp::Sparse(gp)) = (hypothesis.warped, &hypothesis.gp) else {
            continue;
        };
        let mut begun = gp.begin(x.as_ref(), y, watch)?;
        let rows = begun.search_subset()?.unwrap_or_default();
        let seen: Vec<f64> = rows.iter().map(|&row| values[row]).collect();
        let log_jacobian = warp.log_jacobian(&seen) * (n as f64 / rows.len() as f64);
        let evidence = hypothesis.evidence(begun.objective(), n, log_jacobian);
        if best.as_ref().is_none_or(|(highest, ..)| evidence > *highest) {
            best = Some((evidence, hypothesis, begun));
        }
    }
    let (_, hypothesis, begun) = best.ok_or(Error::Empty { what: "warps of the model" })?;
    let (posterior, report) = begun.finish()?;
    let hyper = posterior.hyperparameters().clone();
    Ok((hypothesis, (Box::new(posterior), hyper, report)))
}

/// A process to be fitted to warped values.
enum Gp {
    Exact(ExactGp),
    Sparse(SparseGp),
}

impl Gp {
    fn fit(&self, x: &Mat<f64>, y: &[f64], watch: &dyn Watch) -> Result<Fit> {
        match self {
            Gp::Exact(gp) => {
                let (posterior, report) = gp.fit(x.as_ref(), y, watch)?;
                let hyper = posterior.hyperparameters().clone();
                Ok((Box::new(posterior), hyper, report))
            }
            Gp::Sparse(gp) => {
                let (posterior, report) = gp.fit(x.as_ref(), y, watch)?;
                let hyper = posterior.hyperparameters().clone();
                Ok((Box::new(posterior), hyper, report))
            }
        }
    }

    /// Whether a fit to `n` results begins on a subset of them.
    fn begins_on_subset(&self, n: usize) -> bool {
        matches!(self, Gp::Sparse(gp) if gp.begins_on_subset(n))
    }

    fn is_greedy(&self) -> bool {
        matches!(self, Gp::Sparse(SparseGp { inducing: Inducing::Greedy, .. }))
    }
}

/// The process for `n` results in `d` dimensions.
fn process(
    settings: &Settings,
    d: usize,
    n: usize,
    noise: Noise,
    known: Known,
    last: Option<&Hyperparameters>,
    seed: u64,
) -> Gp {
    let surrogate = &settings.surrogate;
    let training = Training {
        ranges: ranges(noise),
        priors: if surrogate.priors { priors(d, known, noise) } else { Priors::default() },
        starts: starts(settings, d, noise, last),
        evaluations: EVALUATIONS,
        full_evaluations: if n > CHECKED { 0 } else { Training::default().full_evaluations },
        seed,
        ..Training::default()
    };
    let (shape, ard, mean) = (surrogate.shape, surrogate.ard, Mean::Estimated);
    match surrogate.process {
        Process::Sparse { exact_until, n_inducing, inducing, approximation, objective }
            if n > exact_until =>
        {
            let inducing = match inducing {
                InducingPoints::LatinHypercube => {
                    Inducing::LatinHypercube { low: vec![0.0; d], high: vec![1.0; d] }
                }
                InducingPoints::Subset => Inducing::Subset,
                InducingPoints::Greedy => Inducing::Greedy,
            };
            Gp::Sparse(SparseGp {
                shape,
                ard,
                mean,
                approximation,
                objective,
                inducing,
                n_inducing,
                training,
            })
        }
        _ => Gp::Exact(ExactGp { shape, ard, mean, training }),
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
///
/// A crowd of workers acts on the same few results: a coordinate wrongly taken to be flat misleads all of them before the
/// next result corrects it. For them length scales are held near the smooth guess of `starts`.
///
/// Noise hides what a few results would tell about length scales, and those that come from the prior alone, where all is
/// flat, lead the search from corner to corner. So where noise was measured the prior is centred at the smooth guess too:
/// Hartmann-6 with noise of 10 % of its depth after 200 evaluations, mean of 40 runs: -3.07, and -2.91 around 0.9 √d. Where it
/// is only suspected it may be the ripples of a deterministic function, which long length scales rightly overlook.
fn priors(d: usize, known: Known, noise: Noise) -> Priors {
    // A log-normal density of θ is a normal density of log θ whose centre lies scale² lower.
    let around = |centre: f64, scale: f64| Some(Prior::LogNormal { location: centre + scale * scale, scale });
    let (centre, scale) = match (known.crowded, known.noise) {
        (true, _) => (SMOOTH.ln(), 0.3),
        (false, Some(Noise::Some)) => (SMOOTH.ln(), 0.9),
        (false, _) => (-0.1, 1.2),
    };
    Priors {
        length_scale: around(0.5 * (d as f64).ln() + centre, scale),
        signal_var: around(0.0, 1.5),
        // Where there is none it is held, and a prior would only be charged to that hypothesis.
        noise_var: around(-4.6, 2.0).filter(|_| noise == Noise::Some),
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
    let mut log = vec![(SMOOTH * (d as f64).sqrt()).ln(); n_lengths];
    log.extend([0.0, if noise == Noise::None { 1e-8_f64 } else { 1e-2 }.ln()]);
    last.cloned().into_iter().chain([Hyperparameters::from_log(settings.surrogate.shape, &log)]).collect()
}

#[cfg(test)]
mod tests;
