//! One embedding: its design, its results, its local searches and its model, and the proposals made from them.
//!
//! What an optimiser knows is changed by events alone: a trial asked, an outcome told. Proposing changes nothing but what can
//! be made again (`model_cache`), so a proposal that fails or is not used leaves no trace, and the same events give the same
//! proposals whether they come from a running study or from its records.

use super::fit_record::Fitted;
use super::grid::Grid;
use super::local_search::LocalSearches;
use super::model::{Basis, Model, Noise, THINNED};
use super::model_cache::ModelCache;
use super::noise_check::NoiseCheck;
use super::pending::Pending;
use super::propose::{MANY_PENDING, Proposed, Proposer};
use super::refit::{Fitting, Refitted};
use super::results::Results;
use crate::design::Sobol;
use crate::embed::Embedding;
use crate::error::{Error, RestoreFault, Result};
use crate::rng::Stream;
use crate::space::Space;
use crate::space::formula::Region;
use crate::strategy::engine::Next;
use crate::strategy::settings::{Acquisition, Design, Settings};
use crate::surrogate::watch::{Unwatched, Watch};
use crate::trial::{Decision, Purpose, Trial};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Results for each coordinate that are few for a crowd of workers.
const FEW_RESULTS: usize = 10;
/// How far from the faces of the cube the design keeps when it goes on for a crowd of workers: a point at a face tells
/// about half as much as one inside, and the crowd acts on few of them.
const MARGIN: f64 = 0.1;
/// Results to which a model is fitted just to have a look, at most.
const LOOKED_AT: usize = 2_000;

/// Points of Sobol's sequence that are looked at for those that meet constraints between inputs; and the part of all points
/// that meet them below which none is looked at.
const SCANNED: u64 = 20_000;
const RARE: f64 = 0.01;

/// One embedding and what is known in it. All points are in the unit cube of the embedding's box.
pub(in crate::strategy) struct Optimiser {
    embedding: Embedding,
    low: Vec<f64>,
    high: Vec<f64>,
    settings: Settings,
    seed: u64,
    sobol: Sobol,
    /// Design points handed out.
    n_designed: usize,
    results: Results,
    /// Points without an outcome, by trial, which is the order they were asked in.
    pending: BTreeMap<u64, Pending>,
    /// What each function of a portfolio nominated, by trial that is pending; and in rounds that came back.
    nominated: BTreeMap<u64, Vec<Vec<f64>>>,
    rounds: Vec<Vec<Vec<f64>>>,
    /// Points that were still pending when the last outcome was told.
    n_beside: usize,
    searches: LocalSearches,
    models: ModelCache,
    noise_check: NoiseCheck,
    /// Where constraints between inputs are met, if there are any.
    region: Option<Region>,
    /// The inputs that take whole numbers or categories, if there are any.
    grid: Option<Grid>,
    /// What its fits are known by.
    identity: Arc<()>,
}

/// A point of the unit cube, and what was decided on the way to it.
pub(in crate::strategy) struct Proposal {
    pub(in crate::strategy) u: Vec<f64>,
    pub(in crate::strategy) purpose: Purpose,
    pub(in crate::strategy) decision: Option<Box<Decision>>,
}

impl Optimiser {
    pub(in crate::strategy) fn new(
        embedding: Embedding,
        settings: Settings,
        seed: u64,
        index: u64,
    ) -> Result<Optimiser> {
        let (low, high) = embedding.bounds();
        let sobol = Sobol::new(low.len(), &mut Stream::new(seed, "initial design", index))?;
        Ok(Optimiser {
            embedding,
            low,
            high,
            settings,
            seed: Stream::new(seed, "arm", index).bits(),
            sobol,
            n_designed: 0,
            results: Results::default(),
            pending: BTreeMap::new(),
            nominated: BTreeMap::new(),
            rounds: vec![],
            n_beside: 0,
            searches: LocalSearches::new(),
            models: ModelCache::default(),
            noise_check: NoiseCheck::default(),
            region: None,
            grid: None,
            identity: Arc::new(()),
        })
    }

    /// Proposals are to meet constraints between inputs.
    pub(in crate::strategy) fn within(&mut self, region: Option<Region>) {
        self.region = region;
    }

    /// Proposals are rated where they can be evaluated. Not where constraints between inputs are to be met: what is moved from
    /// value to value might miss them.
    pub(in crate::strategy) fn take_values_of(&mut self, space: &Space) {
        self.grid = Grid::of(space).filter(|_| self.region.is_none());
    }

    /// The first search begins in a small box.
    pub(in crate::strategy) fn begin_near(&mut self) {
        self.searches.begin_near();
    }

    /// Searches that gain too little are over.
    pub(in crate::strategy) fn give_way(&mut self) {
        self.searches.give_way();
    }

    /// From now on several workers look elsewhere once a search has settled.
    pub(in crate::strategy) fn let_settle(&mut self) {
        self.searches.let_settle();
    }

    /// From now on searches that have gone astray are over.
    pub(in crate::strategy) fn let_stray(&mut self) {
        self.searches.let_stray();
    }

    /// Searches that promise little are over, until the best one is resumed.
    pub(in crate::strategy) fn move_on(&mut self) {
        self.searches.move_on();
    }

    pub(in crate::strategy) fn moves_on(&self) -> bool {
        self.searches.moves_on()
    }

    /// Fits look for the directions that matter.
    pub(in crate::strategy) fn learn_metric(&mut self) {
        self.models.learn_metric();
    }

    /// Whether results carry noise was measured.
    pub(in crate::strategy) fn know_noise(&mut self, noise: Noise) {
        self.models.know_noise(noise);
    }

    /// Whether the search under way gained too little to go on.
    pub(in crate::strategy) fn has_stalled(&self) -> bool {
        self.searches.has_stalled()
    }

    /// Goes on with the best search so far.
    pub(in crate::strategy) fn resume(&mut self) {
        self.searches.resume(&self.results.values);
        self.models.look_again();
    }

    pub(in crate::strategy) fn embedding(&self) -> &Embedding {
        &self.embedding
    }

    /// The lowest value measured here.
    pub(in crate::strategy) fn best(&self) -> Option<f64> {
        self.results.lowest()
    }

    /// z of a point of the unit cube.
    pub(in crate::strategy) fn to_z(&self, u: &[f64]) -> Vec<f64> {
        (0..u.len())
            .map(|k| (self.low[k] + u[k] * (self.high[k] - self.low[k])).clamp(self.low[k], self.high[k]))
            .collect()
    }

    /// The point of the unit cube of z.
    pub(in crate::strategy) fn to_unit(&self, z: &[f64]) -> Vec<f64> {
        (0..z.len()).map(|k| ((z[k] - self.low[k]) / (self.high[k] - self.low[k])).clamp(0.0, 1.0)).collect()
    }

    /// Whether the next proposal is part of the initial design: as long as it is not handed out, longer if too few
    /// results are there to fit a model to, and while few are known and more than those are pending.
    pub(in crate::strategy) fn is_designing(&self) -> bool {
        let n = self.settings.n_initial(self.low.len());
        let known = self.results.values.len();
        // A model of a handful of points is no guide for a crowd of workers.
        let crowded = known < 3 * self.low.len() / 2 && self.pending.len() > known;
        self.n_designed < n || known < n.min(self.low.len() + 1).max(2) || crowded
    }

    /// Whether many workers act on few results. It changes with an outcome only, so that a fit is the same at any ask
    /// after it.
    fn is_crowded(&self) -> bool {
        self.n_beside >= MANY_PENDING && self.results.values.len() < FEW_RESULTS * self.low.len()
    }

    /// The next point of the design.
    pub(in crate::strategy) fn design(&self, id: u64) -> Result<Proposal> {
        Ok(Proposal { u: self.design_point(id)?, purpose: Purpose::Initial, decision: None })
    }

    fn design_point(&self, id: u64) -> Result<Vec<f64>> {
        let mut u = vec![0.0; self.low.len()];
        if let Some(region) = &self.region
            && let Some(inside) = self.design_inside(region, id)?
        {
            return Ok(inside);
        }
        match self.settings.initial.design {
            Design::Sobol => {
                self.sobol.point(self.n_designed as u64, &mut u)?;
                if self.n_designed >= self.settings.n_initial(self.low.len()) {
                    u.iter_mut().for_each(|u| *u = MARGIN + (1.0 - 2.0 * MARGIN) * *u);
                }
            }
            Design::Uniform => {
                let mut stream = Stream::new(self.seed, "uniform design", id);
                u.iter_mut().for_each(|u| *u = stream.uniform());
            }
        }
        Ok(u)
    }

    /// The next point of a design that meets constraints between inputs: of Sobol's sequence the next one that does. Where few
    /// do, a random one that does.
    fn design_inside(&self, region: &Region, id: u64) -> Result<Option<Vec<f64>>> {
        let mut u = vec![0.0; self.low.len()];
        if self.settings.initial.design == Design::Sobol && region.share() > RARE {
            let mut left = self.n_designed;
            for index in 0..SCANNED + 16 * self.n_designed as u64 {
                self.sobol.point(index, &mut u)?;
                if region.admits(&u) {
                    if left == 0 {
                        return Ok(Some(u));
                    }
                    left -= 1;
                }
            }
        }
        Ok(region.draw(u.len(), &mut Stream::new(self.seed, "design inside", id)))
    }

    /// A uniform point, for when the model's own proposal is taken.
    pub(in crate::strategy) fn random_point(&self, stream: &mut Stream) -> Vec<f64> {
        let d = self.low.len();
        let inside = self.region.as_ref().and_then(|region| region.draw(d, stream));
        inside.unwrap_or_else(|| (0..d).map(|_| stream.uniform()).collect())
    }

    /// Maximises the acquisition, or the variance. With no result to model, the next point of the design.
    pub(in crate::strategy) fn propose(
        &mut self,
        next: Next<'_>,
        purpose: Purpose,
        watch: &dyn Watch,
    ) -> Result<Proposal> {
        if self.results.values.is_empty() {
            return self.design(next.id.0);
        }
        let (crowded, spacing) = (self.is_crowded(), self.spacing());
        let (settings, results, searches, seed) = (&self.settings, &self.results, &self.searches, self.seed);
        let basis = Basis { settings, results, spacing, crowded, seed, watch };
        let minds_failures = self.minds_failures();
        let imputed: &[Vec<f64>] = if minds_failures { &[] } else { &results.barren };
        let prepared = self.models.prepare(basis, &self.pending, imputed, searches.number)?;
        let n_pending = self.pending.len();
        let proposer = Proposer {
            settings,
            seed,
            results,
            searches,
            prepared,
            n_pending,
            minds_failures,
            region: self.region.as_ref(),
            grid: self.grid.as_ref(),
            rounds: &self.rounds,
            next,
            purpose,
        };
        let Proposed { u, ended, nominees } = proposer.propose(watch)?;
        let fit = prepared.draft.map(|fitted| fitted.to_record(results.values.len()));
        let decided = fit.is_some() || ended.is_some() || nominees.is_some();
        let decision = Decision { results: results.values.len(), fit, ended, fell_back: None, nominees };
        let decision = decided.then(|| Box::new(decision));
        Ok(Proposal { u, purpose, decision })
    }

    /// Where noise is suspected, a point is evaluated once again. Only where improvements are proposed: the paper's method is
    /// left as it was written.
    pub(in crate::strategy) fn check_noise(&mut self) {
        self.models.known.repeats = matches!(self.settings.acquisition, Acquisition::LogEi);
    }

    /// The best point once again, if that is to say whether results carry noise.
    pub(in crate::strategy) fn repeat(&mut self, watch: &dyn Watch) -> Result<Option<Proposal>> {
        let known = self.models.known;
        if !known.repeats
            || known.noise.is_some()
            || !self.noise_check.may_ask()
            || self.results.values.is_empty()
        {
            return Ok(None);
        }
        let (is_noisy, lowest) = (self.model(watch)?.is_noisy(), self.results.leaders.first());
        let Some(row) = lowest.filter(|_| is_noisy) else { return Ok(None) };
        let n_known = self.results.values.len();
        let fit = self.models.draft().map(|fitted| fitted.to_record(n_known));
        let decision = Decision { results: n_known, fit, ended: None, fell_back: None, nominees: None };
        let (u, purpose) = (self.results.points[row].to_vec(), Purpose::Probe);
        Ok(Some(Proposal { u, purpose, decision: decision.fit.is_some().then(|| Box::new(decision)) }))
    }

    /// Whether a process of its own says where values come back. It multiplies improvements, so other acquisitions go
    /// without; and with hardly a value, points without one that count as bad results spread the search, where a border is
    /// yet to be found.
    fn minds_failures(&self) -> bool {
        let is_improvement = matches!(self.settings.acquisition, Acquisition::LogEi);
        is_improvement && !self.results.barren.is_empty() && self.results.values.len() > self.low.len() + 1
    }

    /// Whether a look at the model may show noise: by the last fit, or because there was none and it costs little.
    pub(in crate::strategy) fn may_be_noisy(&self) -> bool {
        self.models.noise().map_or(self.results.values.len() <= LOOKED_AT, |noise| noise == Noise::Some)
    }

    /// Whether the caller makes fits to many results beside the asks.
    pub(in crate::strategy) fn refit_beside(&mut self, beside: bool) {
        self.models.beside = beside;
    }

    /// The fit that is due to be made beside the asks, if one is.
    pub(in crate::strategy) fn refit(&self) -> Option<Fitting> {
        let (crowded, spacing) = (self.is_crowded(), self.spacing());
        let (settings, results, seed) = (&self.settings, &self.results, self.seed);
        let basis = Basis { settings, results, spacing, crowded, seed, watch: &Unwatched };
        let (last, known) = self.models.due(basis)?;
        Some(Fitting {
            settings: settings.clone(),
            results: results.measurements(),
            spacing,
            seed,
            last: Arc::clone(last),
            known,
            identity: Arc::clone(&self.identity),
        })
    }

    /// Whether a fit was due here, and not elsewhere.
    pub(in crate::strategy) fn has_made(&self, refitted: &Refitted) -> bool {
        Arc::ptr_eq(&refitted.identity, &self.identity)
    }

    /// Takes a fit of its own that was made beside the asks; false if it is of no use any more.
    pub(in crate::strategy) fn take_refit(&mut self, refitted: Refitted) -> bool {
        self.has_made(&refitted) && self.models.take_fit(refitted.model)
    }

    /// The model of all results here.
    pub(in crate::strategy) fn model(&mut self, watch: &dyn Watch) -> Result<&Model> {
        let (crowded, spacing) = (self.is_crowded(), self.spacing());
        let (settings, results, seed) = (&self.settings, &self.results, self.seed);
        self.models.model(Basis { settings, results, spacing, crowded, seed, watch })
    }

    /// How far the nearest measured point is, if that tells whether the search stands still: under noise a point is worth a
    /// second look, and a model of very many results takes in all.
    fn nearest(&self, u: &[f64]) -> f64 {
        let tells = self.models.noise() != Some(Noise::Some) && self.results.values.len() <= THINNED;
        if tells { self.results.nearest(u) } else { f64::INFINITY }
    }

    /// How close two points of the model may be.
    fn spacing(&self) -> f64 {
        if self.settings.trust_region { self.searches.spacing() } else { 0.0 }
    }

    /// A point of the design instead of the proposal that could not be made, and why.
    pub(in crate::strategy) fn makeshift(&self, id: u64, why: String) -> Result<Proposal> {
        let (results, fell_back) = (self.results.values.len(), Some(why));
        let decision =
            Some(Box::new(Decision { results, fit: None, ended: None, fell_back, nominees: None }));
        Ok(Proposal { decision, ..self.design(id)? })
    }

    /// Takes note of a trial asked at `u`.
    pub(in crate::strategy) fn asked(&mut self, trial: &Trial, u: Vec<f64>) {
        self.note(trial, u);
    }

    /// Takes note of a trial asked at `u` by an earlier process. An error changes nothing.
    pub(in crate::strategy) fn restored(&mut self, trial: &Trial, u: Vec<f64>) -> Result<()> {
        let mut fitted = None;
        if let Some(decision) = &trial.decision {
            let (recorded, known) = (decision.results, self.results.values.len());
            let d = self.low.len();
            if let Some(found) = decision.nominees.iter().flatten().map(Vec::len).find(|&found| found != d) {
                let fault = RestoreFault::Length { what: "nominees", expected: d, found };
                return Err(Error::Restore { id: trial.id.0, fault });
            }
            // A search ends at its best result.
            let nowhere = decision.ended.is_some() && self.searches.own.rows.is_empty();
            if recorded != known || nowhere {
                let fault = RestoreFault::Results { recorded, known };
                return Err(Error::Restore { id: trial.id.0, fault });
            }
            let from_record = |fit| Fitted::from_record(fit, known, self.low.len(), &self.settings, trial.id);
            fitted = decision.fit.as_ref().map(from_record).transpose()?;
        }
        self.models.restore(fitted);
        self.note(trial, u);
        Ok(())
    }

    /// What a trial asked at `u` changes, but for a fit made by an earlier process.
    fn note(&mut self, trial: &Trial, u: Vec<f64>) {
        let of_cube = matches!(trial.purpose, Purpose::Exploit)
            && self.searches.is_turn_of_cube(trial.id.0, self.pending.len());
        match trial.purpose {
            Purpose::Initial => self.n_designed += 1,
            Purpose::Exploit | Purpose::Explore | Purpose::Probe => {
                let with_fit = trial.decision.as_ref().is_some_and(|decision| decision.fit.is_some());
                self.models.used(with_fit, self.results.values.len(), self.pending.len());
            }
            Purpose::Added => self.models.look_again(),
        }
        if matches!(trial.purpose, Purpose::Probe) {
            if let Some(row) = self.results.points.iter().rposition(|point| *point == u[..]) {
                self.noise_check.asked(trial.id.0, self.results.values[row]);
            }
            // It was proposed by the model alone, not on the posterior ahead of it.
            self.models.look_again();
        }
        if trial.decision.as_ref().is_some_and(|decision| decision.fell_back.is_some()) {
            self.models.forget();
        }
        if let Some(ended) = trial.decision.as_ref().and_then(|decision| decision.ended) {
            self.searches.begin_next(ended, &self.results, &u);
            self.models.begin_search();
        }
        if let Some(nominees) = trial.decision.as_ref().and_then(|decision| decision.nominees.clone()) {
            self.nominated.insert(trial.id.0, nominees);
        }
        let is_added = matches!(trial.purpose, Purpose::Added);
        let search = (!of_cube).then_some(self.searches.number);
        self.pending.insert(trial.id.0, Pending { u, search, is_added });
    }

    /// Takes note of a point that somebody else proposed.
    pub(in crate::strategy) fn expect(&mut self, id: u64, u: Vec<f64>) {
        self.models.look_again();
        self.pending.insert(id, Pending { u, search: Some(self.searches.number), is_added: true });
    }

    /// Takes a value that nobody measured, as a hint for the first proposals: a result of the design to the model.
    pub(in crate::strategy) fn hint_value(&mut self, u: Vec<f64>, value: f64) {
        self.n_beside = self.pending.len();
        self.n_designed += 1;
        let row = self.results.measured(&u, value);
        self.searches.enter(row, &self.results.values);
        self.models.look_again();
    }

    /// Takes note of an outcome: a value, or none.
    pub(in crate::strategy) fn told(&mut self, id: u64, value: Option<f64>) {
        let Some(Pending { u, search, is_added }) = self.pending.remove(&id) else { return };
        self.n_beside = self.pending.len();
        // A round counts when its evaluation has come back with a value.
        if let (Some(nominees), Some(_)) = (self.nominated.remove(&id), value) {
            self.rounds.push(nominees);
        }
        let spread = (self.models.median() - self.results.lowest().unwrap_or(0.0)).abs();
        if let Some(noise) = self.noise_check.told(id, value, spread) {
            self.models.know_noise(noise);
        }
        match value {
            Some(value) => {
                let is_own = is_added || search == Some(self.searches.number);
                if is_added {
                    // It says nothing about how the local search is going, so the trust region stays as it is; and it
                    // does for the model what a design point would have done.
                    self.n_designed += 1;
                } else if is_own && !self.is_designing() {
                    let (median, d) = (self.models.median(), self.low.len());
                    let nearest = self.nearest(&u);
                    self.searches.judge(value, nearest, median, &self.results, d, self.pending.len());
                }
                let row = self.results.measured(&u, value);
                if is_own {
                    self.searches.enter(row, &self.results.values);
                    if self.models.noise() != Some(Noise::Some) {
                        self.searches.come_back(&self.results.values);
                    }
                }
            }
            None => self.results.barren.push(u),
        }
        self.models.look_again();
    }

    /// Takes note that a trial was lost: its point is pending no more, and is not one that gave no value.
    pub(in crate::strategy) fn lost(&mut self, id: u64) {
        self.nominated.remove(&id);
        if self.pending.remove(&id).is_some() {
            self.n_beside = self.pending.len();
            self.models.look_again();
        }
    }
}
