//! A study: ask for points, tell what came of them.
//!
//! The study owns the history and everything derived from it. A trial stores model coordinates z (nothing at all under
//! `random`); the user's point is derived through the embedding and the space whenever it is needed, bit for bit, so a
//! history of ten-thousand-dimensional points stays small. No point is proposed twice: points are compared after
//! rounding to what the user sees, so two z that decode to the same integers count as one.
//!
//! Later proposals follow from the events alone, trials asked and outcomes told, in their order. A study that was
//! interrupted is made again from the records of those, by [`Study::restore_asked`] and [`Study::tell_outcome`], and goes
//! on with the same bits. An ask that fails is no event: it changes nothing.

use super::arm::{Arm, Proposal};
use super::auto::{self, Auto};
use super::fallback;
use super::insight::{Insight, Verdict};
use super::proposal::For;
use super::restore::draw_of;
use super::settings::{Settings, Strategy};
use crate::embed::Embedding;
use crate::error::{Error, Result};
use crate::rng::Stream;
use crate::space::{Direction, Kind, Point, Space, UnitPoint};
use crate::surrogate::watch::{Unwatched, Watch};
use crate::trial::{History, Outcome, Purpose, Told, Trial, TrialId};
use std::collections::BTreeSet;

/// Uniform draws in search of a point that was not proposed before, when the strategy's own was.
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
    pub(super) direction: Direction,
    seed: u64,
    pub(super) history: History,
    pub(super) machine: Machine,
    explanation: String,
    /// Fingerprints of all points proposed, but for those of `restored`.
    pub(super) proposed: BTreeSet<u64>,
    /// Trials of an earlier process whose points were not looked at yet: that takes time where there are many inputs.
    pub(super) restored: Vec<TrialId>,
    /// Whether different unit points can be the same to the user.
    discrete: bool,
}

/// What makes proposals.
pub(super) enum Machine {
    Random,
    Arms { arms: Vec<Arm>, settings: Box<Settings> },
    Auto(Box<Auto>),
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
        let (strategy, explanation) = match strategy {
            Strategy::Auto(settings) => auto::pick(&space, settings, evaluations)?,
            Strategy::Random => (Strategy::Random, "random: uniform points, as asked".to_owned()),
            Strategy::Bo(_) => (strategy, "bo: as asked".to_owned()),
            Strategy::Paper(_) => (strategy, "paper: as asked".to_owned()),
        };
        let machine = match strategy {
            Strategy::Bo(settings) | Strategy::Paper(settings) => {
                settings.check()?;
                let arm = |index| {
                    let embedding = Embedding::new(settings.embedding, space.dim(), seed, index)?;
                    Arm::new(embedding, settings.clone(), seed, index)
                };
                let arms = (0..settings.n_embeddings as u64).map(arm).collect::<Result<Vec<Arm>>>()?;
                Machine::Arms { arms, settings: Box::new(settings) }
            }
            Strategy::Random => Machine::Random,
            Strategy::Auto(settings) => {
                let given = auto::inputs_of(&space, &settings.active)?;
                Machine::Auto(Box::new(Auto::new(&space, auto::budget(evaluations), seed, given)?))
            }
        };
        let discrete =
            space.parameters().iter().any(|parameter| !matches!(parameter.kind(), Kind::Float { .. }));
        let history = History::new();
        Ok(Study {
            space,
            direction,
            seed,
            history,
            machine,
            explanation,
            proposed: BTreeSet::new(),
            restored: vec![],
            discrete,
        })
    }

    /// What the strategy is and, for `auto`, why it was picked.
    pub fn explanation(&self) -> &str {
        &self.explanation
    }

    /// What is known about the function and its inputs.
    pub fn insight(&self) -> Insight {
        let mut insight = match &self.machine {
            Machine::Auto(auto) => auto.insight(self.direction.to_user(1.0)),
            Machine::Random | Machine::Arms { .. } => Insight {
                doing: self.explanation.clone(),
                verdict: Verdict::Open,
                n_inputs: self.space.n_inputs(),
                active: vec![],
                n_idle: 0,
                noise_sd: None,
                findings: vec![],
            },
        };
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

    fn ask_one(&mut self, watch: &dyn Watch) -> Result<Option<Suggestion>> {
        self.look_at_restored()?;
        let id = self.history.next_id();
        if let Machine::Auto(_) = self.machine {
            return self.ask_auto(id, watch);
        }
        let (embedding, purpose, proposal) = self.first_choice(id, watch)?;
        let mut stream = Stream::new(self.seed, "redraw", id.0);
        for draw in 0..=REDRAWS {
            let z = match &self.machine {
                Machine::Random | Machine::Auto(_) => vec![],
                Machine::Arms { arms, .. } if draw == 0 => arms[embedding].to_z(&proposal.u),
                Machine::Arms { arms, .. } => {
                    arms[embedding].to_z(&arms[embedding].random_point(&mut stream))
                }
            };
            let mut trial = Trial { id, embedding, z, purpose, recipe: None, decision: None };
            let canonical = self.canonical(&trial, draw)?;
            let fingerprint = fingerprint(&canonical);
            if self.proposed.contains(&fingerprint) {
                continue;
            }
            let point = self.space.decode(&canonical)?;
            match &self.machine {
                // What a later look-up needs to make the same point again.
                Machine::Random => trial.z = if draw == 0 { vec![] } else { vec![draw as f64] },
                // The model is to see the point that is evaluated, not the one that was rounded to it.
                Machine::Arms { arms, .. } if arms[embedding].embedding().is_identity() => {
                    trial.z = canonical.into_vec();
                }
                Machine::Arms { .. } | Machine::Auto(_) => {}
            }
            trial.decision = proposal.decision;
            self.history.ask(trial)?;
            // It is a trial now, and nothing below can fail.
            self.proposed.insert(fingerprint);
            if let Machine::Arms { arms, .. } = &mut self.machine
                && let Some((trial, _)) = self.history.get(id)
            {
                let u = arms[embedding].to_unit(&trial.z);
                arms[embedding].asked(trial, u);
            }
            return Ok(Some(Suggestion { id, point }));
        }
        Ok(None)
    }

    /// As `ask_one`, under `auto`. Probes and repeats may be points that were proposed before; the optimiser's may not.
    fn ask_auto(&mut self, id: TrialId, watch: &dyn Watch) -> Result<Option<Suggestion>> {
        let n_asked = self.history.len();
        let Machine::Auto(auto) = &mut self.machine else { return Ok(None) };
        let made = match fallback::attempt(|| auto.propose(id, n_asked, watch))? {
            Ok(made) => made,
            Err(why) => auto.makeshift(id, why),
        };
        let is_search = made.proposal.is_some();
        let decision = made.proposal.and_then(|proposal| proposal.decision);
        let (embedding, purpose, recipe) = (0, made.purpose, Some(made.recipe));
        let mut trial = Trial { id, embedding, z: made.z, purpose, recipe, decision };
        let mut stream = Stream::new(self.seed, "redraw", id.0);
        let redraws = auto.enough_draws().unwrap_or(REDRAWS).min(REDRAWS);
        let mut canonical = self.canonical(&trial, 0)?;
        let mut n_drawn = 0;
        while is_search && self.proposed.contains(&fingerprint(&canonical)) {
            n_drawn += 1;
            match n_drawn {
                drawn if drawn <= redraws => trial.z.iter_mut().for_each(|z| *z = stream.uniform()),
                // The inputs searched take few values, and all were tried.
                _ => match self.elsewhere(id).filter(|elsewhere| elsewhere.recipe != trial.recipe) {
                    Some(elsewhere) => trial = elsewhere,
                    None => return Ok(None),
                },
            }
            canonical = self.canonical(&trial, 0)?;
        }
        let point = self.space.decode(&canonical)?;
        self.history.ask(trial)?;
        // It is a trial now, and nothing below can fail.
        self.proposed.insert(fingerprint(&canonical));
        if let Machine::Auto(auto) = &mut self.machine
            && let Some((trial, _)) = self.history.get(id)
        {
            auto.asked(trial);
        }
        Ok(Some(Suggestion { id, point }))
    }

    /// A trial of `auto` outside the inputs that it searches, if there are others.
    fn elsewhere(&self, id: TrialId) -> Option<Trial> {
        let Machine::Auto(auto) = &self.machine else { return None };
        let recipe = Some(auto.elsewhere()?);
        Some(Trial { id, embedding: 0, z: vec![], purpose: Purpose::Explore, recipe, decision: None })
    }

    /// The strategy's own proposal, in the unit cube of an embedding.
    fn first_choice(&mut self, id: TrialId, watch: &dyn Watch) -> Result<(usize, Purpose, Proposal)> {
        let n_asked = self.history.len();
        let undecided = |u| Proposal { u, decision: None };
        let Machine::Arms { arms, settings } = &mut self.machine else {
            return Ok((0, Purpose::Initial, undecided(vec![])));
        };
        let embedding = choose_arm(arms, n_asked);
        let arm = &mut arms[embedding];
        if arm.is_designing() {
            return Ok((embedding, Purpose::Initial, undecided(arm.design_point(id.0)?)));
        }
        let purpose = settings.quota.next(&self.history);
        match fallback::attempt(|| arm.propose(For { id: id.0, n_asked, purpose }, watch))? {
            Ok(proposal) => Ok((embedding, purpose, proposal)),
            Err(why) => Ok((embedding, Purpose::Initial, arm.makeshift(id.0, why)?)),
        }
    }

    /// The unit point of a trial as the user sees it.
    pub(super) fn canonical(&self, trial: &Trial, draw: u64) -> Result<UnitPoint> {
        let unit = self.unit_point(trial, draw)?;
        if self.discrete { self.space.snap(&unit) } else { Ok(unit) }
    }

    /// The unit point of a trial; `draw` counts the uniform points of `random`.
    fn unit_point(&self, trial: &Trial, draw: u64) -> Result<UnitPoint> {
        let mut unit = vec![0.0; self.space.dim()];
        match &self.machine {
            Machine::Random => {
                let mut stream = Stream::new(self.seed, "random", trial.id.0);
                (0..=draw).for_each(|_| unit.iter_mut().for_each(|u| *u = stream.uniform()));
            }
            Machine::Arms { arms, .. } => arms[trial.embedding].embedding().to_unit(&trial.z, &mut unit)?,
            Machine::Auto(auto) => {
                if let Some(recipe) = &trial.recipe {
                    unit = auto.unit(trial.id, recipe, &trial.z);
                }
            }
        }
        UnitPoint::new(unit)
    }

    /// The point of a trial, in user units.
    pub fn point(&self, id: TrialId) -> Result<Point> {
        let (trial, _) = self.history.get(id).ok_or(Error::UnknownTrial { id: id.0 })?;
        self.space.decode(&self.unit_point(trial, draw_of(trial))?)
    }

    /// Part of the inputs that the embedding had to clip to the box at this trial.
    pub fn clip_fraction(&self, id: TrialId) -> Result<f64> {
        let (trial, _) = self.history.get(id).ok_or(Error::UnknownTrial { id: id.0 })?;
        match &self.machine {
            Machine::Random | Machine::Auto(_) => Ok(0.0),
            Machine::Arms { arms, .. } => arms[trial.embedding].embedding().clip_fraction(&trial.z),
        }
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

    /// Tells that the point is not allowed.
    pub fn tell_infeasible(&mut self, id: TrialId) -> Result<Told> {
        self.tell_outcome(id, Outcome::Infeasible)
    }

    /// Tells an outcome whose value, if any, is internal: smaller is better.
    pub fn tell_outcome(&mut self, id: TrialId, outcome: Outcome) -> Result<Told> {
        let value = outcome.value();
        let told = self.history.tell(id, outcome)?;
        if told == Told::New
            && let Some((trial, _)) = self.history.get(id)
        {
            match &mut self.machine {
                Machine::Random => {}
                Machine::Arms { arms, .. } => arms[trial.embedding].told(id.0, value),
                Machine::Auto(auto) => {
                    if let Err(why) = fallback::attempt(|| auto.told(id, value))? {
                        auto.recover(why);
                    }
                }
            }
        }
        Ok(told)
    }

    /// Takes in an evaluation made outside the study, such as one of an earlier campaign, and returns the trial made of
    /// it: [`Study::adopt`], then its value.
    pub fn add(&mut self, point: &Point, value: f64) -> Result<TrialId> {
        let id = self.adopt(point)?;
        self.tell(id, value)?;
        Ok(id)
    }

    /// Makes a trial of a point that someone else chose. It is pending until it is told, counts as a point of the initial
    /// design, and is restored as any trial is. Only a study that models every coordinate can do this: a random embedding
    /// has no way back from a point to model coordinates.
    pub fn adopt(&mut self, point: &Point) -> Result<TrialId> {
        let modelled = match &self.machine {
            Machine::Random | Machine::Auto(_) => false,
            Machine::Arms { arms, .. } => arms[0].embedding().is_identity(),
        };
        if !modelled {
            return Err(Error::NoModelCoordinates);
        }
        let id = self.history.next_id();
        let z = self.space.encode(point)?.into_vec();
        let (embedding, purpose) = (0, Purpose::Added);
        self.restore_asked(Trial { id, embedding, z, purpose, recipe: None, decision: None })?;
        Ok(id)
    }

    /// The best trial so far, if anything was measured.
    pub fn best(&self) -> Result<Option<Best>> {
        let Some((trial, value)) = self.history.best() else { return Ok(None) };
        let id = trial.id;
        Ok(Some(Best { id, point: self.point(id)?, value: self.direction.to_user(value) }))
    }
}

/// Round robin while designs are handed out; then every other trial goes to the embedding with the best value.
fn choose_arm(arms: &[Arm], n_asked: usize) -> usize {
    let turn = n_asked % arms.len();
    if arms.len() == 1 || arms.iter().any(Arm::is_designing) {
        return turn;
    }
    if n_asked % 2 == 1 {
        return n_asked / 2 % arms.len();
    }
    let mut leader = turn;
    for (index, arm) in arms.iter().enumerate() {
        let better = match (arm.best(), arms[leader].best()) {
            (Some(value), Some(best)) => value < best,
            (Some(_), None) => true,
            _ => false,
        };
        if better {
            leader = index;
        }
    }
    leader
}

/// FNV-1a over the bits of the coordinates.
pub(super) fn fingerprint(point: &UnitPoint) -> u64 {
    point.as_slice().iter().fold(0xcbf2_9ce4_8422_2325, |hash, u| {
        let mixed = (hash ^ u.to_bits()).wrapping_mul(0x0000_0100_0000_01b3);
        mixed ^ (mixed >> 29)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embed;
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
        assert!(study(Strategy::Random).adopt(&point(0.0, 1)).is_err());
    }

    #[test]
    fn studies_without_model_coordinates_refuse_outside_evaluations() {
        let hashing = Settings { embedding: embed::Kind::Hashing { dim: 1, signs: true }, ..Settings::bo() };
        for strategy in [Strategy::Random, Strategy::Bo(hashing)] {
            let mut study = study(strategy);
            assert_eq!(study.add(&point(0.0, 1), 1.0), Err(Error::NoModelCoordinates));
            assert!(study.history().is_empty());
        }
    }
}
