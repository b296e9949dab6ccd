//! One embedding with its results and its model: proposes points of the embedding's unit cube.
//!
//! With a trust region the arm makes local searches one after the other. A search is over when its box has collapsed,
//! when the expected improvement promises next to nothing, or when it slides back to an optimum found before; the next
//! one begins where mean - κ sd is lowest, away from all optima found, and is judged by its own best value. All data stay
//! in the model.
//!
//! A proposal is made on the posterior that also knows of the pending points, hallucinated at their means, and of the
//! points that gave no value. Those count as no better than the middle result: at their means, where the model expects
//! much of them, the search would return to them for ever. The fit of the model sees neither. That posterior is kept
//! between the asks of a burst and grows by one point per proposal.

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
use crate::error::Result;
use crate::rng::Stream;
use crate::surrogate::Posterior;
use crate::surrogate::watch::Watch;
use crate::trial::Purpose;
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
    /// The middle one of all values when the model was last fitted.
    middle: f64,
    /// The lowest mean at a pending point of the current search, as the model sees it.
    promised: f64,
    /// Points that gave no value.
    barren: Vec<Vec<f64>>,
    /// Points without an outcome and the search they belong to, by trial.
    pending: BTreeMap<u64, (Vec<f64>, usize)>,
    /// Design points handed out.
    n_designed: usize,
    region: TrustRegion,
    /// Number of the current local search; the first one takes in the initial design.
    search: usize,
    /// Best points of the searches that are over.
    optima: Vec<Vec<f64>>,
    model: Option<Model>,
    /// The model with pending and barren points hallucinated; None after anything was told.
    ahead: Option<Box<dyn Posterior>>,
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
            middle: f64::INFINITY,
            promised: f64::INFINITY,
            barren: vec![],
            pending: BTreeMap::new(),
            n_designed: 0,
            region: TrustRegion::new(),
            search: 0,
            optima: vec![],
            model: None,
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

    /// Takes note of a proposal.
    pub(super) fn asked(&mut self, id: u64, u: Vec<f64>) -> Result<()> {
        if let Some(ahead) = &mut self.ahead {
            let mean = ahead.predict(Mat::from_fn(1, u.len(), |_, k| u[k]).as_ref())?.mean[0];
            self.promised = self.promised.min(mean);
            if ahead.observe(&u, mean).is_err() {
                self.ahead = None;
            }
        }
        self.pending.insert(id, (u, self.search));
        Ok(())
    }

    /// Takes note of an outcome: a value, or none.
    pub(super) fn told(&mut self, id: u64, value: Option<f64>) {
        let Some((u, search)) = self.pending.remove(&id) else { return };
        match value {
            Some(value) => {
                if search == self.search && !self.is_designing() {
                    // By more than a thousandth of what separates the best result from the middle one.
                    let worthwhile = 1e-3 * (self.middle - self.best).max(0.0);
                    let improved =
                        self.own.first().is_none_or(|&best| value < self.values[best] - worthwhile);
                    self.region.told(improved, self.low.len(), self.pending.len());
                }
                self.record(u, value, search == self.search);
            }
            None => self.barren.push(u),
        }
        self.ahead = None;
    }

    /// Takes note of an evaluation made elsewhere. It says nothing about how the local search is going, so the trust
    /// region stays as it is; and it does for the model what a design point would have done.
    pub(super) fn added(&mut self, u: Vec<f64>, value: Option<f64>) {
        match value {
            Some(value) => {
                self.record(u, value, true);
                self.n_designed += 1;
            }
            None => self.barren.push(u),
        }
        self.ahead = None;
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
    pub(super) fn design_point(&mut self, id: u64) -> Result<Vec<f64>> {
        let mut u = vec![0.0; self.low.len()];
        match self.settings.initial.design {
            Design::Sobol => self.sobol.point(self.n_designed as u64, &mut u)?,
            Design::Uniform => {
                let mut stream = Stream::new(self.seed, "uniform design", id);
                u.iter_mut().for_each(|u| *u = stream.uniform());
            }
        }
        self.n_designed += 1;
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
    ) -> Result<Vec<f64>> {
        self.prepare(watch)?;
        let (Some(model), Some(ahead)) = (&self.model, &self.ahead) else {
            return Ok(self.random_point(&mut Stream::new(self.seed, "no model", id)));
        };
        let mut stream = Stream::new(self.seed, "maximise", id);
        let d = self.low.len();
        // Many workers search the whole cube: in a small box most of them would look at the same spot.
        let local =
            self.settings.trust_region && purpose == Purpose::Exploit && self.pending.len() < MANY_PENDING;
        if local && self.own.is_empty() {
            return self.new_start(model, &**ahead, &mut stream);
        }
        let rows = if local { &self.own } else { &self.leaders };
        let incumbents = Mat::from_fn(rows.len(), d, |i, k| self.points[rows[i]][k]);
        let lowest = model.warp(self.values[rows[0]]);
        let function = self.function(model, &**ahead, &incumbents, lowest, n_asked, purpose, id)?;
        let centre: Vec<f64> = (0..d).map(|k| incumbents[(0, k)]).collect();
        let (low, high) = match local {
            true => self.region.sides(&centre, |k| model.length_scale(k)),
            false => (vec![0.0; d], vec![1.0; d]),
        };
        let found = match &self.settings.maximizer {
            Maximizer::Gradient(search) => {
                // More candidates while they are cheap: their cost grows with the square of the results.
                let factor = (CHEAP_RESULTS / ahead.n_observations().max(1)).clamp(1, 4);
                let candidates = search.candidates * factor;
                let search =
                    Search { candidates, evaluations: search.evaluations + candidates, ..search.clone() };
                maximise(&*function, &**ahead, &low, &high, incumbents.as_ref(), &search, &mut stream, watch)?
            }
            Maximizer::Cmaes(search) => {
                // The paper's start: a random mixture of the best point and a uniform one.
                let weight = stream.uniform();
                let start: Vec<f64> =
                    (0..d).map(|k| weight * incumbents[(0, k)] + (1.0 - weight) * stream.uniform()).collect();
                maximise_cmaes(&*function, &**ahead, &low, &high, &start, search, &mut stream, watch)?
            }
        };
        let hopeless = self.settings.acquisition == Acquisition::LogEi && found.value < PROMISE.ln();
        let repeated =
            self.search > 0 && self.optima.iter().any(|other| model.distance(&centre, other) < 0.7);
        if local && (self.region.has_collapsed() || hopeless || repeated) {
            let start = self.new_start(model, &**ahead, &mut stream)?;
            if !repeated {
                self.optima.push(centre);
            }
            self.search += 1;
            self.own.clear();
            self.promised = f64::INFINITY;
            self.region = TrustRegion::local();
            return Ok(start);
        }
        Ok(found.x)
    }

    /// Where the next local search begins: lowest mean - κ sd among random points a length scale or more away from the
    /// optima found, κ = 1, 2, 3 in turn. The search's own later starts, while the first is pending, differ by the
    /// hallucinated variance.
    fn new_start(&self, model: &Model, ahead: &dyn Posterior, stream: &mut Stream) -> Result<Vec<f64>> {
        let d = self.low.len();
        let kappa = (1 + self.search % 3) as f64;
        let points = Mat::from_fn(START_POINTS, d, |_, _| stream.uniform());
        let prediction = ahead.predict(points.as_ref())?;
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

    /// Brings the model and the posterior ahead of it up to date.
    fn prepare(&mut self, watch: &dyn Watch) -> Result<()> {
        let behind = self.model.is_none() || self.ahead.is_none();
        if !behind {
            return Ok(());
        }
        let last = self.model.take();
        let model = Model::refresh(
            last,
            &self.settings,
            &self.points,
            &self.values,
            self.spacing(),
            self.seed,
            watch,
        )?;
        if model.is_fresh() {
            let mut sorted = self.values.clone();
            let (_, middle, _) = sorted.select_nth_unstable_by(self.values.len() / 2, f64::total_cmp);
            self.middle = *middle;
        }
        let pending: Vec<&(Vec<f64>, usize)> = self.pending.values().collect();
        let x = Mat::from_fn(pending.len(), self.low.len(), |i, k| pending[i].0[k]);
        let means = model.posterior().predict(x.as_ref())?.mean;
        self.promised = f64::INFINITY;
        for ((_, search), &mean) in pending.iter().zip(&means) {
            if *search == self.search {
                self.promised = self.promised.min(mean);
            }
        }
        let mut ahead = model.posterior().hallucinate(x.as_ref())?;
        let middle = model.warp(self.middle);
        for u in &self.barren {
            let mean = ahead.predict(Mat::from_fn(1, u.len(), |_, k| u[k]).as_ref())?.mean[0];
            // A point so close to others that it cannot be taken in is known well enough.
            ahead.observe(u, mean.max(middle)).ok();
        }
        self.ahead = Some(ahead);
        self.model = Some(model);
        Ok(())
    }

    /// How close two points of the model may be: 2e-3 of the cube, less when the search has become local.
    fn spacing(&self) -> f64 {
        if self.settings.trust_region { 2e-3 * (self.region.side() / 0.1).min(1.0) } else { 0.0 }
    }

    /// The function to maximise; `lowest` is the best value at the incumbents, as the model sees it.
    fn function(
        &self,
        model: &Model,
        ahead: &dyn Posterior,
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
        let best = measured.min(self.promised);
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
                Box::new(KnowledgeGradient::new(ahead, set.as_ref(), model.noise_var())?)
            }
        })
    }
}
