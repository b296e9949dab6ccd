//! One embedding with its results and its model: proposes points of the embedding's unit cube.
//!
//! With a trust region the arm makes local searches one after the other. A search is over when its box has collapsed,
//! when the expected improvement promises next to nothing, or when it slides back to an optimum found before; the next
//! one begins where mean - κ sd is lowest, away from all optima found, and is judged by its own best value. All data stay
//! in the model.
//!
//! What an arm knows is changed by events alone: a trial asked, an outcome told. Proposing changes nothing but what can
//! be made again (`model`, `draft`, `ahead`), so a proposal that fails or is not used leaves no trace, and the same
//! events give the same proposals whether they come from a running study or from its records.

use super::ahead::{Ahead, Pending};
use super::fitted::Fitted;
use super::model::Model;
use super::settings::{Acquisition, Design, Maximizer, Settings};
use super::trust::TrustRegion;
use crate::acquisition::maximize::{Search, maximise, maximise_cmaes};
use crate::acquisition::{
    Acquisition as Function, ConfidenceBound, ExpectedImprovement, KnowledgeGradient, LogExpectedImprovement,
    PosteriorVariance, ProbabilityOfImprovement, kappa,
};
use crate::design::Sobol;
use crate::embed::Embedding;
use crate::error::{Error, RestoreFault, Result};
use crate::rng::Stream;
use crate::surrogate::Posterior;
use crate::surrogate::watch::Watch;
use crate::trial::{Decision, Ended, Purpose, Trial};
use faer::Mat;
use std::collections::BTreeMap;

/// Points given to the maximiser as places to start from.
const INCUMBENTS: usize = 5;
/// Random points among which a local search begins.
const START_POINTS: usize = 500;
/// An expected improvement, in standard deviations of the values, that is not worth an evaluation.
const PROMISE: f64 = 1e-4;
/// Pending points from which the trust region is left aside: with 20 workers on Hartmann-4 the median regret after 100
/// evaluations is 3e-2 inside it and 2e-5 without.
const MANY_PENDING: usize = 8;
/// Results up to which the maximiser looks at more candidates than it is set to.
const CHEAP_RESULTS: usize = 600;
/// Points of the knowledge gradient's set besides the measured ones, and measured ones at most.
const KNOWLEDGE_DESIGN: usize = 32;

/// One embedding and what is known in it. All points are in the unit cube of the embedding's box.
pub(super) struct Arm {
    embedding: Embedding,
    low: Vec<f64>,
    high: Vec<f64>,
    settings: Settings,
    seed: u64,
    sobol: Sobol,
    /// Measured points and values, in the order told.
    points: Vec<Vec<f64>>,
    values: Vec<f64>,
    /// The lowest value.
    best: f64,
    /// The best few results of the current search, best first; the first search owns all results.
    own: Vec<usize>,
    /// The best few results of all, best first.
    leaders: Vec<usize>,
    /// Points that gave no value.
    barren: Vec<Vec<f64>>,
    /// Points without an outcome, by trial, which is the order they were asked in.
    pending: BTreeMap<u64, Pending>,
    /// Design points handed out.
    n_designed: usize,
    region: TrustRegion,
    /// Number of the current local search; the first one takes in the initial design.
    search: usize,
    /// Best points of the searches that are over.
    optima: Vec<Vec<f64>>,
    /// The last fit that a trial was asked with.
    fitted: Option<Fitted>,
    /// Results there were when the model was last used for a trial: they need not be asked whether they fit into it.
    n_accepted: usize,
    /// Points that were pending when the model was first used for a trial since anything was told; None if it was not.
    n_at_once: Option<usize>,
    /// The model of `fitted`, made when it is needed.
    model: Option<Model>,
    /// A fit that no trial was asked with yet.
    draft: Option<Model>,
    /// The posterior that proposals are made on; None after anything was told.
    ahead: Option<Ahead>,
}

/// A point of the unit cube, and what was decided on the way to it.
pub(super) struct Proposal {
    pub(super) u: Vec<f64>,
    pub(super) decision: Option<Decision>,
}

impl Arm {
    pub(super) fn new(embedding: Embedding, settings: Settings, seed: u64, index: u64) -> Result<Arm> {
        let (low, high) = embedding.bounds();
        let sobol = Sobol::new(low.len(), &mut Stream::new(seed, "initial design", index))?;
        Ok(Arm {
            embedding,
            low,
            high,
            settings,
            seed: Stream::new(seed, "arm", index).bits(),
            sobol,
            points: vec![],
            values: vec![],
            best: f64::INFINITY,
            own: vec![],
            leaders: vec![],
            barren: vec![],
            pending: BTreeMap::new(),
            n_designed: 0,
            region: TrustRegion::new(),
            search: 0,
            optima: vec![],
            fitted: None,
            n_accepted: 0,
            n_at_once: None,
            model: None,
            draft: None,
            ahead: None,
        })
    }

    pub(super) fn embedding(&self) -> &Embedding {
        &self.embedding
    }

    /// The lowest value measured here.
    pub(super) fn best(&self) -> Option<f64> {
        self.best.is_finite().then_some(self.best)
    }

    /// z of a point of the unit cube.
    pub(super) fn to_z(&self, u: &[f64]) -> Vec<f64> {
        (0..u.len())
            .map(|k| (self.low[k] + u[k] * (self.high[k] - self.low[k])).clamp(self.low[k], self.high[k]))
            .collect()
    }

    /// The point of the unit cube of z.
    pub(super) fn to_unit(&self, z: &[f64]) -> Vec<f64> {
        (0..z.len()).map(|k| ((z[k] - self.low[k]) / (self.high[k] - self.low[k])).clamp(0.0, 1.0)).collect()
    }

    /// Takes note of a trial asked at `u`.
    pub(super) fn asked(&mut self, trial: &Trial, u: Vec<f64>) {
        let fitted = match trial.decision.as_ref().and_then(|decision| decision.fit.as_ref()) {
            Some(_) => {
                self.model = self.draft.take();
                self.model.as_ref().map(|model| model.fitted().clone())
            }
            None => None,
        };
        self.note(trial, u, fitted);
    }

    /// Takes note of a trial asked at `u` by an earlier process. An error changes nothing.
    pub(super) fn restored(&mut self, trial: &Trial, u: Vec<f64>) -> Result<()> {
        let mut fitted = None;
        if let Some(decision) = &trial.decision {
            let (recorded, known) = (decision.results, self.values.len());
            // A search ends at its best result.
            if recorded != known || (decision.ended.is_some() && self.own.is_empty()) {
                let fault = RestoreFault::Results { recorded, known };
                return Err(Error::Restore { id: trial.id.0, fault });
            }
            let from_record = |fit| Fitted::from_record(fit, known, self.low.len(), &self.settings, trial.id);
            fitted = decision.fit.as_ref().map(from_record).transpose()?;
        }
        (self.ahead, self.draft) = (None, None);
        if fitted.is_some() {
            self.model = None;
        }
        self.note(trial, u, fitted);
        Ok(())
    }

    /// What a trial asked at `u` changes, with the fit made for it.
    fn note(&mut self, trial: &Trial, u: Vec<f64>, fitted: Option<Fitted>) {
        self.fitted = fitted.or(self.fitted.take());
        match trial.purpose {
            Purpose::Initial => self.n_designed += 1,
            Purpose::Exploit | Purpose::Explore => {
                self.n_accepted = self.values.len();
                self.n_at_once.get_or_insert(self.pending.len());
            }
            Purpose::Added => self.look_again(),
        }
        if let Some(ended) = trial.decision.as_ref().and_then(|decision| decision.ended) {
            self.begin_search(ended);
        }
        if let Some(ahead) = &mut self.ahead {
            ahead.take_in(&u, true);
        }
        let is_added = trial.purpose == Purpose::Added;
        self.pending.insert(trial.id.0, Pending { u, search: self.search, is_added });
    }

    /// Ends the current local search and begins the next.
    fn begin_search(&mut self, ended: Ended) {
        if let (Ended::AtOptimum, Some(&best)) = (ended, self.own.first()) {
            self.optima.push(self.points[best].clone());
        }
        self.search += 1;
        self.own.clear();
        self.region = TrustRegion::local();
        if let Some(ahead) = &mut self.ahead {
            ahead.begin_search();
        }
    }

    /// Takes note of an outcome: a value, or none.
    pub(super) fn told(&mut self, id: u64, value: Option<f64>) {
        let Some(Pending { u, search, is_added }) = self.pending.remove(&id) else { return };
        match value {
            // It says nothing about how the local search is going, so the trust region stays as it is; and it does for
            // the model what a design point would have done.
            Some(value) if is_added => {
                self.record(u, value, true);
                self.n_designed += 1;
            }
            Some(value) => {
                if search == self.search && !self.is_designing() {
                    // By more than a thousandth of what separates the best result from the middle one.
                    let middle = self.fitted.as_ref().map_or(f64::INFINITY, |fitted| fitted.middle);
                    let worthwhile = 1e-3 * (middle - self.best).max(0.0);
                    let improved =
                        self.own.first().is_none_or(|&best| value < self.values[best] - worthwhile);
                    self.region.told(improved, self.low.len(), self.pending.len());
                }
                self.record(u, value, search == self.search);
            }
            None => self.barren.push(u),
        }
        self.look_again();
    }

    /// Something changed that the next proposal must know of.
    fn look_again(&mut self) {
        (self.n_at_once, self.draft, self.ahead) = (None, None, None);
    }

    /// Keeps a result, among the best of the current search if it is one of its own.
    fn record(&mut self, u: Vec<f64>, value: f64, is_own: bool) {
        let lists = [Some(&mut self.leaders), is_own.then_some(&mut self.own)];
        for list in lists.into_iter().flatten() {
            let place = list.partition_point(|&other| self.values[other] <= value);
            list.insert(place, self.values.len());
            list.truncate(INCUMBENTS);
        }
        self.points.push(u);
        self.values.push(value);
        self.best = self.best.min(value);
    }

    /// Whether the next proposal is part of the initial design: as long as it is not handed out, longer if too few
    /// results are there to fit a model to, and while few are known and more than those are pending.
    pub(super) fn is_designing(&self) -> bool {
        let n = self.settings.n_initial(self.low.len());
        let known = self.values.len();
        // A model of a handful of points is no guide for a crowd of workers.
        let crowded = known < 3 * self.low.len() && self.pending.len() > known;
        self.n_designed < n || known < n.min(self.low.len() + 1).max(2) || crowded
    }

    /// The next point of the design.
    pub(super) fn design_point(&self, id: u64) -> Result<Vec<f64>> {
        let mut u = vec![0.0; self.low.len()];
        match self.settings.initial.design {
            Design::Sobol => self.sobol.point(self.n_designed as u64, &mut u)?,
            Design::Uniform => {
                let mut stream = Stream::new(self.seed, "uniform design", id);
                u.iter_mut().for_each(|u| *u = stream.uniform());
            }
        }
        Ok(u)
    }

    /// A uniform point, for when the model's own proposal is taken.
    pub(super) fn random_point(&self, stream: &mut Stream) -> Vec<f64> {
        (0..self.low.len()).map(|_| stream.uniform()).collect()
    }

    /// Maximises the acquisition, or the variance, for trial `id`, the `n_asked`-th of the study.
    pub(super) fn propose(
        &mut self,
        id: u64,
        n_asked: usize,
        purpose: Purpose,
        watch: &dyn Watch,
    ) -> Result<Proposal> {
        self.prepare(watch)?;
        let (Some(model), Some(ahead)) = (self.draft.as_ref().or(self.model.as_ref()), &self.ahead) else {
            return Err(Error::Empty { what: "model of the embedding" });
        };
        let (u, ended) = self.maximise(model, ahead, id, n_asked, purpose, watch)?;
        let fit = self.draft.as_ref().map(|model| model.fitted().to_record());
        let decided = fit.is_some() || ended.is_some();
        let decision = decided.then_some(Decision { results: self.values.len(), fit, ended });
        Ok(Proposal { u, decision })
    }

    /// The best point, and where the current local search ended if it did.
    fn maximise(
        &self,
        model: &Model,
        ahead: &Ahead,
        id: u64,
        n_asked: usize,
        purpose: Purpose,
        watch: &dyn Watch,
    ) -> Result<(Vec<f64>, Option<Ended>)> {
        let posterior = ahead.posterior();
        let mut stream = Stream::new(self.seed, "maximise", id);
        let d = self.low.len();
        // Many workers search the whole cube: in a small box most of them would look at the same spot.
        let local =
            self.settings.trust_region && purpose == Purpose::Exploit && self.pending.len() < MANY_PENDING;
        if local && self.own.is_empty() {
            return Ok((self.new_start(model, posterior, &mut stream)?, None));
        }
        let rows = if local { &self.own } else { &self.leaders };
        let incumbents = Mat::from_fn(rows.len(), d, |i, k| self.points[rows[i]][k]);
        let lowest = model.warp(self.values[rows[0]]);
        let function = self.function(model, ahead, &incumbents, lowest, n_asked, purpose, id)?;
        let centre: Vec<f64> = (0..d).map(|k| incumbents[(0, k)]).collect();
        let (low, high) = match local {
            true => self.region.sides(&centre, |k| model.length_scale(k)),
            false => (vec![0.0; d], vec![1.0; d]),
        };
        let found = match &self.settings.maximizer {
            Maximizer::Gradient(search) => {
                // More candidates while they are cheap: their cost grows with the square of the results.
                let factor = (CHEAP_RESULTS / posterior.n_observations().max(1)).clamp(1, 4);
                let candidates = search.candidates * factor;
                let search =
                    Search { candidates, evaluations: search.evaluations + candidates, ..search.clone() };
                maximise(
                    &*function,
                    posterior,
                    &low,
                    &high,
                    incumbents.as_ref(),
                    &search,
                    &mut stream,
                    watch,
                )?
            }
            Maximizer::Cmaes(search) => {
                // The paper's start: a random mixture of the best point and a uniform one.
                let weight = stream.uniform();
                let start: Vec<f64> =
                    (0..d).map(|k| weight * incumbents[(0, k)] + (1.0 - weight) * stream.uniform()).collect();
                maximise_cmaes(&*function, posterior, &low, &high, &start, search, &mut stream, watch)?
            }
        };
        let hopeless = self.settings.acquisition == Acquisition::LogEi && found.value < PROMISE.ln();
        let repeated =
            self.search > 0 && self.optima.iter().any(|other| model.distance(&centre, other) < 0.7);
        if local && (self.region.has_collapsed() || hopeless || repeated) {
            let ended = if repeated { Ended::AtKnownOptimum } else { Ended::AtOptimum };
            return Ok((self.new_start(model, posterior, &mut stream)?, Some(ended)));
        }
        Ok((found.x, None))
    }

    /// Where the next local search begins: lowest mean - κ sd among random points a length scale or more away from the
    /// optima found, κ = 1, 2, 3 in turn. The search's own later starts, while the first is pending, differ by the
    /// hallucinated variance.
    fn new_start(&self, model: &Model, posterior: &dyn Posterior, stream: &mut Stream) -> Result<Vec<f64>> {
        let d = self.low.len();
        let kappa = (1 + self.search % 3) as f64;
        let points = Mat::from_fn(START_POINTS, d, |_, _| stream.uniform());
        let prediction = posterior.predict(points.as_ref())?;
        let mut best = (f64::INFINITY, 0);
        for i in 0..START_POINTS {
            let point: Vec<f64> = (0..d).map(|k| points[(i, k)]).collect();
            let far = self.optima.iter().all(|other| model.distance(&point, other) > 1.0);
            let bound = prediction.mean[i] - kappa * prediction.var[i].sqrt();
            if far && bound < best.0 {
                best = (bound, i);
            }
        }
        Ok((0..d).map(|k| points[(best.1, k)]).collect())
    }

    /// Brings the model and the posterior ahead of it up to date. An error leaves what was there.
    fn prepare(&mut self, watch: &dyn Watch) -> Result<()> {
        if self.ahead.is_some() {
            return Ok(());
        }
        if self.draft.is_none() && !self.update_model(watch)? {
            let (settings, last) = (&self.settings, self.fitted.as_ref());
            let (points, values) = (&self.points, &self.values);
            self.draft = Some(Model::fit(settings, points, values, last, self.spacing(), self.seed, watch)?);
        }
        if let Some(model) = self.draft.as_ref().or(self.model.as_ref()) {
            let pending: Vec<&Pending> = self.pending.values().collect();
            let n_at_once = self.n_at_once.unwrap_or(pending.len());
            self.ahead = Some(Ahead::new(model, &pending, n_at_once, &self.barren, self.search)?);
        }
        Ok(())
    }

    /// Takes new results into the model; false if it has to be fitted.
    fn update_model(&mut self, watch: &dyn Watch) -> Result<bool> {
        let Some(fitted) = &self.fitted else { return Ok(false) };
        let (points, values, spacing) = (&self.points, &self.values, self.spacing());
        if values.len() > self.n_accepted && fitted.is_outgrown(values.len(), &self.settings) {
            return Ok(false);
        }
        let mut model = match self.model.take() {
            Some(model) => model,
            None => Model::again(fitted, &self.settings, points, values, self.seed, watch)?,
        };
        if !model.take_in(points, values, self.n_accepted, spacing) {
            return Ok(false);
        }
        self.model = Some(model);
        Ok(true)
    }

    /// How close two points of the model may be: 2e-3 of the cube, less when the search has become local.
    fn spacing(&self) -> f64 {
        if self.settings.trust_region { 2e-3 * (self.region.side() / 0.1).min(1.0) } else { 0.0 }
    }

    /// The function to maximise; `lowest` is the best value at the incumbents, as the model sees it.
    fn function(
        &self,
        model: &Model,
        ahead: &Ahead,
        incumbents: &Mat<f64>,
        lowest: f64,
        n_asked: usize,
        purpose: Purpose,
        id: u64,
    ) -> Result<Box<dyn Function>> {
        if purpose == Purpose::Explore {
            return Ok(Box::new(PosteriorVariance));
        }
        // With noise the lowest mean at the best points is a better yardstick than the luckiest measurement.
        let means = model.posterior().predict(incumbents.as_ref())?.mean;
        let measured = means.iter().copied().fold(f64::INFINITY, f64::min).max(lowest);
        // A pending point counts as measured at its mean. Without it the improvement already under way would be
        // promised again, and the proposals of a burst would crowd around the first.
        let best = measured.min(ahead.promised());
        Ok(match self.settings.acquisition {
            Acquisition::LogEi => Box::new(LogExpectedImprovement { best }),
            Acquisition::Ei => Box::new(ExpectedImprovement { best }),
            Acquisition::Pi => Box::new(ProbabilityOfImprovement { best }),
            Acquisition::Ucb { delta } => {
                Box::new(ConfidenceBound { kappa: kappa(n_asked.max(1), self.low.len(), delta)? })
            }
            Acquisition::Kg => {
                let mut stream = Stream::new(self.seed, "knowledge set", id);
                let measured = self.points.len().min(KNOWLEDGE_DESIGN);
                let mut set = Mat::zeros(measured + KNOWLEDGE_DESIGN, self.low.len());
                for i in 0..set.nrows() {
                    for k in 0..self.low.len() {
                        // The last measured ones: where the search is now.
                        let point = self.points.len().checked_sub(i + 1).filter(|_| i < measured);
                        set[(i, k)] = point.map_or_else(|| stream.uniform(), |p| self.points[p][k]);
                    }
                }
                Box::new(KnowledgeGradient::new(ahead.posterior(), set.as_ref(), model.noise_var())?)
            }
        })
    }
}
