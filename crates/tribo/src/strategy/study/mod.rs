//! A study: ask for points, tell what came of them.
//!
//! The study owns the history and an engine, which is what strategies differ in. A trial stores what its engine makes the
//! point of: model coordinates z, under `auto` a recipe too, nothing at all under `random`. The user's point is derived
//! from that whenever it is needed, bit for bit, so a history of ten-thousand-dimensional points stays small. No point is
//! proposed twice: points are compared after
//! rounding to what the user sees, so two z that decode to the same integers count as one.
//!
//! Later proposals follow from the events alone, trials asked and outcomes told, in their order. A study that was
//! interrupted is made again from the records of those, by [`Study::restore_asked`] and [`Study::tell_outcome`], and goes
//! on with the same bits. An ask that fails is no event: it changes nothing.

mod fingerprints;
pub(super) mod insight;
mod limits;
mod look;
mod predict;
mod recommend;
mod refit;
mod restore;

pub use insight::{ActiveInput, DenseArm, DrivenOutput, Evidence, Fact, Finding, Insight, Verdict};
pub use limits::{LimitKnown, LimitState};
pub(super) use look::INTERVAL;
pub use look::{Expected, Look};
pub use predict::Predicted;
pub use recommend::Recommended;
pub use refit::{Refit, Refitted};

use super::auto::{self, Auto, LimitedAuto};
use super::bo::Bo;
use super::digest::Digest;
use super::engine::{Engine, Hint, Next, Plan, Version};
use super::fallback;
use super::limits::Limited;
use super::random::Random;
use super::settings::{Settings, Strategy};
use crate::embed;
use crate::error::{Error, Result};
use crate::limit::Limit;
use crate::rng::Stream;
use crate::space::formula::Region;
use crate::space::{Direction, Kind, Point, Space, UnitPoint};
use crate::surrogate::watch::{Unwatched, Watch};
use crate::trial::{History, Outcome, Purpose, Recipe, Told, Trial, TrialId};
use fingerprints::Fingerprints;
use std::collections::BTreeMap;

/// Draws in search of a point that was not asked before, when the strategy's own was.
pub(super) const REDRAWS: u64 = 1_000;

/// A point to evaluate.
#[derive(Debug, Clone, PartialEq)]
pub struct Suggestion {
    /// Names the trial when its outcome is told.
    pub id: TrialId,
    /// The point, in user units.
    pub point: Point,
}

/// The best trial so far.
#[derive(Debug, Clone, PartialEq)]
pub struct Best {
    /// Its id.
    pub id: TrialId,
    /// Its point, in user units.
    pub point: Point,
    /// Its value, in the user's direction.
    pub value: f64,
}

/// An optimisation with ask and tell.
pub struct Study {
    space: Space,
    direction: Direction,
    seed: u64,
    limits: Vec<Limit>,
    /// What was measured of the limited outputs, by trial.
    limited: BTreeMap<TrialId, Box<[Option<f64>]>>,
    history: History,
    engine: Box<dyn Engine>,
    explanation: String,
    /// Fingerprints of all points asked, but for those of `restored` and lost trials.
    proposed: Fingerprints,
    /// Trials of an earlier process whose points were not looked at yet: that takes time where there are many inputs.
    restored: Vec<TrialId>,
    /// Whether different unit points can be the same to the user.
    discrete: bool,
    /// Whether z is the point itself, so that a model sees every coordinate.
    models_all: bool,
    /// Where constraints between inputs are met, if there are any.
    region: Option<Region>,
}

impl Study {
    /// A study of `space`. `evaluations` is the budget, if there is one; only `auto` looks at it.
    pub fn new(
        space: Space,
        direction: Direction,
        strategy: Strategy,
        evaluations: Option<usize>,
        seed: u64,
    ) -> Result<Study> {
        Study::continuing(space, direction, strategy, evaluations, 0, seed)
    }

    /// As [`Study::new`], for a study that goes on from an earlier search, which has spent so many of the evaluations.
    pub fn continuing(
        space: Space,
        direction: Direction,
        strategy: Strategy,
        evaluations: Option<usize>,
        spent: usize,
        seed: u64,
    ) -> Result<Study> {
        Study::limited(space, direction, vec![], strategy, evaluations, spent, seed)
    }

    /// As [`Study::continuing`], with limits on other outputs than the one that is optimised.
    pub fn limited(
        space: Space,
        direction: Direction,
        limits: Vec<Limit>,
        strategy: Strategy,
        evaluations: Option<usize>,
        spent: usize,
        seed: u64,
    ) -> Result<Study> {
        let under_limits = |words: &str| format!("limits: {words}, with a model of every limited output");
        let (strategy, explanation) = match strategy {
            Strategy::Auto(settings) if !limits.is_empty() => {
                match auto::choose(&space, settings, evaluations)? {
                    (machine @ Strategy::Auto(_), why) => {
                        (machine, format!("{why}, for each limited output"))
                    }
                    _ => (Strategy::Bo(Settings::bo()), under_limits("steps to the best feasible point")),
                }
            }
            Strategy::Auto(settings) => auto::choose(&space, settings, evaluations)?,
            Strategy::Random => (Strategy::Random, "random: uniform points, as asked".to_owned()),
            Strategy::Bo(_) if !limits.is_empty() => (strategy, under_limits("bo as asked")),
            Strategy::Bo(_) => (strategy, "bo: as asked".to_owned()),
            Strategy::Paper(_) if !limits.is_empty() => {
                return Err(refused(&limits, "the strategy `paper` knows no limits"));
            }
            Strategy::Paper(_) => (strategy, "paper: as asked".to_owned()),
        };
        let engine: Box<dyn Engine> = match strategy {
            Strategy::Bo(settings) if !limits.is_empty() => {
                if settings.embedding != embed::Kind::Identity {
                    return Err(refused(&limits, "a search in an embedding knows no limits"));
                }
                Box::new(Limited::new(&space, &settings, limits.clone(), seed)?)
            }
            Strategy::Bo(settings) | Strategy::Paper(settings) => Box::new(Bo::new(&space, &settings, seed)?),
            Strategy::Random => Box::new(Random::new(&space, seed)),
            Strategy::Auto(settings) => {
                let given = auto::inputs_of(&space, &settings.active)?;
                let left = auto::budget(evaluations).saturating_sub(spent);
                match limits.is_empty() {
                    true => Box::new(Auto::new(&space, left, seed, given)),
                    false => Box::new(LimitedAuto::new(&space, limits.clone(), left, seed, given)),
                }
            }
        };
        let discrete =
            space.parameters().iter().any(|parameter| !matches!(parameter.kind(), Kind::Float { .. }));
        let (models_all, region) = (engine.models_all(), space.region());
        Ok(Study {
            space,
            direction,
            seed,
            limits,
            limited: BTreeMap::new(),
            history: History::new(),
            engine,
            explanation,
            proposed: Fingerprints::default(),
            restored: vec![],
            discrete,
            models_all,
            region,
        })
    }

    /// What the strategy is and, for `auto`, why it was picked.
    pub fn explanation(&self) -> &str {
        &self.explanation
    }

    /// The engine that makes the proposals.
    pub fn version(&self) -> Version {
        self.engine.version()
    }

    /// What is known about the function and its inputs.
    pub fn insight(&self) -> Insight {
        let nobody_looks = || Insight {
            doing: self.explanation.clone(),
            verdict: Verdict::Open,
            n_inputs: self.space.n_inputs(),
            active: vec![],
            outputs: vec![],
            n_idle: 0,
            noise_sd: None,
            findings: vec![],
        };
        let mut insight = self.engine.insight(self.direction.to_user(1.0)).unwrap_or_else(nobody_looks);
        insight.findings.extend(fallback::findings(&self.history));
        insight.findings.sort_by_key(|finding| finding.results);
        insight
    }

    /// The search space.
    pub fn space(&self) -> &Space {
        &self.space
    }

    /// All trials and outcomes; values there are internal, smaller is better.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// Proposes `k` points. There can be fewer, if a finite space has hardly a point left that was not proposed. A strategy
    /// that breaks inside makes do with a makeshift point, which its trial and [`Study::insight`] tell of.
    pub fn ask(&mut self, k: usize) -> Result<Vec<Suggestion>> {
        self.ask_watched(k, &Unwatched)
    }

    /// As [`Study::ask`], with a deadline or a way to cancel. A cancelled ask changes nothing.
    pub fn ask_watched(&mut self, k: usize, watch: &dyn Watch) -> Result<Vec<Suggestion>> {
        let mut suggestions = Vec::with_capacity(k.min(1_000));
        while suggestions.len() < k {
            match self.ask_one(watch) {
                Ok(Some(suggestion)) => suggestions.push(suggestion),
                Err(error) if suggestions.is_empty() => return Err(error),
                // The points before are trials by now and must reach the caller.
                Ok(None) | Err(_) => break,
            }
        }
        Ok(suggestions)
    }

    /// Asks for one trial: the engine's plan, with another point in it if that one was asked before. None if no point is
    /// left.
    fn ask_one(&mut self, watch: &dyn Watch) -> Result<Option<Suggestion>> {
        self.look_at_restored()?;
        let id = self.history.next_id();
        let mut plan = self.engine.propose(Next { id, history: &self.history }, watch)?;
        let (mut canonical, mut fingerprint) = self.admissible(&mut plan)?;
        if plan.must_be_new && self.proposed.contains(fingerprint) {
            match self.redraw(&mut plan)? {
                Some(other) => (canonical, fingerprint) = other,
                None => return Ok(None),
            }
        }
        let point = self.space.decode(&canonical)?;
        if self.models_all {
            // The model is to see the point that is evaluated, not the one that was rounded to it.
            plan.trial.z = canonical.into_vec();
        }
        let trial = self.history.ask(plan.trial)?;
        // It is a trial now, and nothing below can fail.
        self.proposed.add(fingerprint);
        self.engine.asked(trial, plan.origin);
        Ok(Some(Suggestion { id, point }))
    }

    /// Puts other points into a plan until one was not asked before; None if there is none left.
    fn redraw(&self, plan: &mut Plan) -> Result<Option<(UnitPoint, u64)>> {
        let mut stream = Stream::new(self.seed, "redraw", plan.trial.id.0);
        for n_drawn in 1.. {
            if !self.engine.redraw(plan, n_drawn, &mut stream) {
                break;
            }
            let other = self.admissible(plan)?;
            if !plan.must_be_new || !self.proposed.contains(other.1) {
                return Ok(Some(other));
            }
        }
        Ok(None)
    }

    /// As [`Study::canonical`], for a trial that is yet to be asked: where its point misses a constraint between inputs, it is
    /// moved to the nearest that meets them all. Points that are not z itself are made so by their engines.
    fn admissible(&self, plan: &mut Plan) -> Result<(UnitPoint, u64)> {
        let (canonical, fingerprint) = self.canonical(&plan.trial)?;
        let missed = |region: &&Region| self.models_all && !region.admits(canonical.as_slice());
        let Some(region) = self.region.as_ref().filter(missed) else { return Ok((canonical, fingerprint)) };
        plan.trial.z = region.nearest(canonical.as_slice()).unwrap_or_else(|| canonical.into_vec());
        self.canonical(&plan.trial)
    }

    /// Takes note of the points of restored trials.
    fn look_at_restored(&mut self) -> Result<()> {
        if self.restored.is_empty() {
            return Ok(());
        }
        let mut fingerprints = Vec::with_capacity(self.restored.len());
        for &id in &self.restored {
            if let Some((trial, outcome)) = self.history.get(id)
                && !matches!(outcome, Some(Outcome::Lost { .. }))
            {
                fingerprints.push(self.canonical(trial)?.1);
            }
        }
        self.restored = vec![];
        self.proposed.add_all(fingerprints);
        Ok(())
    }

    /// The unit point of a trial as the user sees it, and its fingerprint.
    fn canonical(&self, trial: &Trial) -> Result<(UnitPoint, u64)> {
        let unit = UnitPoint::new(self.engine.unit(trial)?)?;
        let canonical = if self.discrete { self.space.snap(&unit)? } else { unit };
        let fingerprint = fingerprint(&canonical);
        Ok((canonical, fingerprint))
    }

    /// The point of a trial, in user units.
    pub fn point(&self, id: TrialId) -> Result<Point> {
        let (trial, _) = self.history.get(id).ok_or(Error::UnknownTrial { id: id.0 })?;
        self.space.decode(&UnitPoint::new(self.engine.unit(trial)?)?)
    }

    /// Part of the inputs that the embedding had to clip to the box at this trial.
    pub fn clip_fraction(&self, id: TrialId) -> Result<f64> {
        let (trial, _) = self.history.get(id).ok_or(Error::UnknownTrial { id: id.0 })?;
        self.engine.clip_fraction(trial)
    }

    /// Tells the value of a trial, in the user's direction. NaN and infinities are kept as an invalid answer and never
    /// reach a model.
    pub fn tell(&mut self, id: TrialId, value: f64) -> Result<Told> {
        self.tell_outcome(id, self.outcome(value))
    }

    /// What the user's value means inside. An answer that is no finite number is kept as it was given.
    fn outcome(&self, value: f64) -> Outcome {
        let internal = if value.is_finite() { self.direction.to_internal(value) } else { value };
        Outcome::measured(internal)
    }

    /// Tells that the evaluation broke.
    pub fn tell_failed(&mut self, id: TrialId, reason: impl Into<String>) -> Result<Told> {
        self.tell_outcome(id, Outcome::Failed { reason: reason.into() })
    }

    /// Tells that the evaluation was lost by an accident that says nothing about the point, which may be proposed again.
    pub fn tell_lost(&mut self, id: TrialId, reason: impl Into<String>) -> Result<Told> {
        self.tell_outcome(id, Outcome::Lost { reason: reason.into() })
    }

    /// Tells that the point is not allowed.
    pub fn tell_infeasible(&mut self, id: TrialId) -> Result<Told> {
        self.tell_outcome(id, Outcome::Infeasible)
    }

    /// Tells an outcome whose value, if any, is internal: smaller is better.
    pub fn tell_outcome(&mut self, id: TrialId, outcome: Outcome) -> Result<Told> {
        self.tell_limited(id, outcome, &[])
    }

    /// As [`Study::tell_outcome`], with what was measured of the limited outputs, in the order of the limits and in the user's
    /// units. What is not finite, or missing at the end, was not measured.
    pub fn tell_limited(&mut self, id: TrialId, outcome: Outcome, limited: &[Option<f64>]) -> Result<Told> {
        let (value, is_lost) = (outcome.value(), matches!(outcome, Outcome::Lost { .. }));
        let measured = |k: usize| limited.get(k).copied().flatten().filter(|value| value.is_finite());
        let limited: Box<[Option<f64>]> = (0..self.limits.len()).map(measured).collect();
        let is_feasible = limits::are_met(&self.limits, Some(&limited));
        let told = self.history.tell_judged(id, outcome, is_feasible)?;
        if is_lost && told == Told::New {
            self.forget_point(id);
        }
        if told == Told::New
            && let Some((trial, _)) = self.history.get(id)
        {
            match is_lost {
                true => self.engine.lost(trial),
                false => self.engine.told_limited(trial, value, &limited),
            }
            if !limited.is_empty() {
                self.limited.insert(id, limited);
            }
        }
        Ok(told)
    }

    /// The point of a lost trial may be proposed again.
    fn forget_point(&mut self, id: TrialId) {
        // In increasing order, as ids are. What was not looked at yet is passed over then.
        let (Some((trial, _)), Err(_)) = (self.history.get(id), self.restored.binary_search(&id)) else {
            return;
        };
        let Ok((_, fingerprint)) = self.canonical(trial) else { return };
        self.proposed.remove(fingerprint);
    }

    /// Takes in an evaluation made outside the study, such as one of an earlier campaign, and returns the trial made of
    /// it: [`Study::adopt`], then its value.
    pub fn add(&mut self, point: &Point, value: f64) -> Result<TrialId> {
        let id = self.adopt(point)?;
        self.tell(id, value)?;
        Ok(id)
    }

    /// Makes a trial of a point that someone else chose. It is pending until it is told, counts as a point of the initial
    /// design, and is restored as any trial is. Only `bo` and `paper` in a random embedding learn nothing from it, as there is
    /// no way back from a point to model coordinates; they do not ask it again.
    pub fn adopt(&mut self, point: &Point) -> Result<TrialId> {
        let id = self.history.next_id();
        self.adopt_as(id, point)?;
        Ok(id)
    }

    /// As [`Study::adopt`], with an id that is larger than every one so far: for trials of an earlier search, which keep
    /// theirs.
    pub fn adopt_as(&mut self, id: TrialId, point: &Point) -> Result<()> {
        let z = self.space.encode(point)?.into_vec();
        let recipe = (!self.models_all).then(|| Box::new(Recipe::Given));
        let (embedding, purpose) = (0, Purpose::Added);
        self.restore_asked(Trial { id, embedding, z, purpose, recipe, decision: None })
    }

    /// Ids below `next` are taken by trials that this study knows nothing of.
    pub fn reserve(&mut self, next: TrialId) {
        self.history.reserve(next);
        self.engine.begins_at(self.history.next_id());
    }

    /// Says what an earlier search of the same function had found; to be told before the first ask, after the results that
    /// it had found it with.
    pub fn hint(&mut self, hint: Hint) {
        self.engine.hint(hint);
    }

    /// Whether [`Study::recall`] is of use to it now, with results that name inputs.
    pub fn recalls(&self) -> bool {
        self.engine.recalls()
    }

    /// Says what very many earlier results of the function say; to be told before the first ask. Whether it is of any use: not if
    /// nothing is named in it, if the user has named the inputs that matter, or if the strategy models all inputs. What it says is
    /// checked by evaluations before it is believed. An interrupted study is told the same before its trials are restored.
    pub fn recall(&mut self, digest: &Digest) -> Result<bool> {
        digest.check(&self.space)?;
        let values = digest.values.iter().map(|&value| self.direction.to_internal(value)).collect();
        Ok(self.engine.recall(&Digest { values, ..digest.clone() }))
    }

    /// The best trial so far that is within all limits, if there is one.
    pub fn best(&self) -> Result<Option<Best>> {
        let Some((trial, value)) = self.history.best() else { return Ok(None) };
        let id = trial.id;
        Ok(Some(Best { id, point: self.point(id)?, value: self.direction.to_user(value) }))
    }
}

/// Settings that do not go with limits.
fn refused(limits: &[Limit], why: &str) -> Error {
    let name = limits.first().map_or("", Limit::name).to_owned();
    Error::Limit { name, why: format!("{why}; use `auto` or `bo` as they come") }
}

/// FNV-1a over the bits of the coordinates.
fn fingerprint(point: &UnitPoint) -> u64 {
    point.as_slice().iter().fold(0xcbf2_9ce4_8422_2325, |hash, u| {
        let mixed = (hash ^ u.to_bits()).wrapping_mul(0x0000_0100_0000_01b3);
        mixed ^ (mixed >> 29)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::{Parameter, Values};

    fn space() -> Space {
        Space::new(vec![Parameter::float("x", -5.0, 5.0), Parameter::int("n", 1, 9)]).unwrap()
    }

    fn point(x: f64, n: i64) -> Point {
        space().point(vec![Values::Float(vec![x]), Values::Int(vec![n])]).unwrap()
    }

    fn study(strategy: Strategy) -> Study {
        Study::new(space(), Direction::Maximize, strategy, None, 1).unwrap()
    }

    #[test]
    fn added_evaluations_are_trials_and_replace_the_design() {
        let mut study = study(Strategy::Bo(Settings::bo()));
        for i in 0..6 {
            let x = f64::from(i) - 1.5;
            study.add(&point(x, 2 + i64::from(i)), -x * x).unwrap();
        }
        let bad = study.add(&point(4.0, 9), f64::NAN).unwrap();
        assert_eq!(study.point(bad).unwrap(), point(4.0, 9));
        assert_eq!(study.history().measured().count(), 6);
        let best = study.best().unwrap().unwrap();
        assert_eq!((best.point, best.value), (point(-0.5, 3), -0.25));
        // Six points are the whole design in two dimensions: the next proposal is the model's.
        let asked = study.ask(1).unwrap();
        assert_eq!(study.history().get(asked[0].id).unwrap().0.purpose, Purpose::Exploit);
        study.tell(asked[0].id, 0.0).unwrap();
        study.add(&point(0.1, 4), -0.01).unwrap();
        assert_eq!(study.ask(2).unwrap().len(), 2);
    }

    #[test]
    fn added_points_are_not_proposed_again() {
        let line = Space::new(vec![Parameter::int("n", 1, 3)]).unwrap();
        let mut study =
            Study::new(line.clone(), Direction::Minimize, Strategy::Bo(Settings::bo()), None, 1).unwrap();
        study.add(&line.point(vec![Values::Int(vec![2])]).unwrap(), 0.0).unwrap();
        let asked = study.ask(3).unwrap();
        assert_eq!(asked.len(), 2);
        assert!(asked.iter().all(|one| one.point.columns()[0] != Values::Int(vec![2])));
    }

    #[test]
    fn an_adopted_point_is_pending_until_it_is_told() {
        let mut adopting = study(Strategy::Bo(Settings::bo()));
        let mut adding = study(Strategy::Bo(Settings::bo()));
        let adopted = adopting.adopt(&point(1.0, 5)).unwrap();
        assert_eq!(adopting.history().pending().map(|trial| trial.id).collect::<Vec<_>>(), [adopted]);
        adopting.tell(adopted, 2.0).unwrap();
        adding.add(&point(1.0, 5), 2.0).unwrap();
        // In the end it is the same study, and proposes the same.
        assert_eq!(adopting.ask(8).unwrap(), adding.ask(8).unwrap());
    }

    #[test]
    fn every_strategy_takes_outside_evaluations() {
        let hashing = Settings { embedding: embed::Kind::Hashing { dim: 1, signs: true }, ..Settings::bo() };
        for strategy in [Strategy::Random, Strategy::Bo(hashing)] {
            let mut study = study(strategy);
            let id = study.add(&point(0.5, 1), 1.0).unwrap();
            assert_eq!(study.best().unwrap().map(|best| (best.id, best.point)), Some((id, point(0.5, 1))));
            let asked = study.ask(5).unwrap();
            study.tell(asked[0].id, 0.0).unwrap();
            assert_eq!(study.recommended(&Unwatched).unwrap().map(|best| best.id), Some(id));
        }
    }

    #[test]
    fn without_limits_no_engine_for_limits_is_made_and_other_outputs_change_nothing() {
        let wide = Space::new(vec![Parameter::float("x", 0.0, 1.0).with_size(60)]).unwrap();
        let cases = [
            (space(), Strategy::Random),
            (space(), Strategy::Bo(Settings::bo())),
            (space(), Strategy::auto()),
            (wide, Strategy::auto()),
        ];
        for (space, strategy) in cases {
            let direction = Direction::Minimize;
            let mut alone = Study::new(space.clone(), direction, strategy.clone(), Some(80), 5).unwrap();
            let mut beside = Study::limited(space, direction, vec![], strategy, Some(80), 0, 5).unwrap();
            assert!(!alone.version().engine.starts_with("limits"), "{:?}", alone.version());
            for turn in 0..20 {
                let asked = alone.ask(1).unwrap();
                assert_eq!(asked, beside.ask(1).unwrap(), "turn {turn}");
                let value = f64::from((turn * 7) % 11);
                alone.tell(asked[0].id, value).unwrap();
                let others = [Some(1e9 * value), None];
                beside.tell_limited(asked[0].id, Outcome::measured(value), &others).unwrap();
            }
        }
    }

    #[test]
    fn a_plan_that_is_not_asked_leaves_no_trace() {
        let wide = Space::new(vec![Parameter::float("x", 0.0, 1.0).with_size(60)]).unwrap();
        let auto = || Strategy::Auto(crate::strategy::AutoSettings::default());
        let paper = || Strategy::Paper(Settings { n_embeddings: 2, ..Settings::paper(4) });
        let cases: [(&Space, &dyn Fn() -> Strategy); 4] = [
            (&space(), &|| Strategy::Random),
            (&space(), &|| Strategy::Bo(Settings::bo())),
            (&wide, &paper),
            (&wide, &auto),
        ];
        for (space, strategy) in cases {
            let new = || Study::new(space.clone(), Direction::Minimize, strategy(), Some(80), 5).unwrap();
            let (mut idle, mut other) = (new(), new());
            for turn in 0..60 {
                for _ in 0..turn % 3 {
                    let next = Next { id: idle.history.next_id(), history: &idle.history };
                    idle.engine.propose(next, &Unwatched).unwrap();
                }
                let asked = idle.ask(1).unwrap();
                assert_eq!(asked, other.ask(1).unwrap(), "{} at {turn}", idle.explanation());
                // Two trials are under way most of the time.
                let Some(told) = asked[0].id.0.checked_sub(1).map(TrialId) else { continue };
                let at = idle.point(told).unwrap().numbers();
                let value = at.iter().take(3).map(|x| (x - 0.3).powi(2)).sum();
                idle.tell(told, value).unwrap();
                other.tell(told, value).unwrap();
            }
        }
    }
}
