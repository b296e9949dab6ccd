//! Local searches of one embedding, one after the other, each in its trust region.
//!
//! A search is over when its box has collapsed, when the acquisition promises next to nothing (`propose` sees that), or
//! when it slides back to an optimum found before. The next one begins where mean - κ sd is lowest, away from all optima
//! found, and is judged by its own best value. All data stay in the model.
//!
//! In bins of many inputs a box takes longer to collapse than there are evaluations: along some directions nothing
//! changes, and the search creeps. There, searches *give way*: one that gained less than a hundredth of what separates the
//! lowest value from the median in d results is over. A new one takes two or three times as many to come as far, and
//! ends lower by a tenth of that distance in perhaps one case of three, which is about as much per evaluation.
//!
//! Several workers are soon at the bottom of a valley, and with all of them there the box collapses 70 results later, or never,
//! where many search the whole cube. There, searches *settle*: one that gained less than that for long, and whose proposals
//! are next to its best point, is over. From then on proposals in the whole cube, which refine the best point, and
//! later searches take turns.
//!
//! Searches may *stray*: one whose proposals come out far above its best point, again and again, while its box is still wide
//! (`misses`) is over, and the next one begins in a wide box. When that has strayed, too, and not come lower, the best search so
//! far goes on.
//!
//! Where a budget is known, searches may *move on*: one is over while it still promises a little, since the last digits can
//! wait until the best search is resumed, and another valley cannot.

use super::chance::Chance;
use super::grid::Grid;
use super::misses::Misses;
use super::model::Model;
use super::results::{BestFew, Results};
use super::trust_region::TrustRegion;
use crate::error::Result;
use crate::rng::Stream;
use crate::surrogate::Posterior;
use crate::trial::Ended;
use faer::Mat;

/// Random points among which a search begins, at least and at most: there are more where there is more room, 16 d² of them.
const START_POINTS: (usize, usize) = (500, 4096);

/// Part of median - lowest that a search must gain to go on, where searches give way, and in how many results for each
/// coordinate.
const GAIN: f64 = 1e-2;
/// How close two points of the model may be at most, and where nothing is told apart any more: both parts of the cube.
const COARSEST: f64 = 2e-3;
const FINEST: f64 = 1e-7;
const PATIENCE: usize = 1;
/// Pending points from which a search can settle: with fewer, results are too dear to be spent elsewhere.
const SEVERAL: usize = 4;
/// Results for each coordinate without such a gain after which it has. Of 240 runs of Hartmann-4 with 5, 10 and 20 workers, all
/// came to 0.05 in 150 evaluations with 2, 237 with 3, and 229 where searches did not settle.
const SETTLED: usize = 2;
/// How close to the best point, as a part of the cube, proposals of a search that has settled are.
const SETTLED_WITHIN: f64 = 0.01;

/// An expected improvement, in standard deviations of the values, that is not worth an evaluation: about where the model,
/// whose variance has a floor of 1e-8, tells nothing apart. With 1e-4 a search left the sphere of five inputs at 1e-3 and spent
/// two thirds of its evaluations on new beginnings; BBOB's 24 functions of five inputs after 100 evaluations, mean of
/// log10 of the gap: 0.26 with 1e-4, 0.02 with 1e-6.
const PROMISE: f64 = 1e-6;
/// The same where searches move on. Hartmann-6 in 10,000 inputs, 200 evaluations, seeds 1 to 100: 19 runs end in the side
/// valley with 1e-6, 9 with 1e-4, 7 with 1e-3.
const PROMISE_MOVING_ON: f64 = 1e-3;

/// L of a box that is still wide: with a smaller one a search is at the end of its ways, and soon over.
const STILL_WIDE: f64 = 0.1;

/// The current search, and where the ones before ended.
pub(super) struct LocalSearches {
    /// The trust region of the current search.
    pub(super) region: TrustRegion,
    /// Number of the current search; the first one takes in the initial design.
    pub(super) number: usize,
    /// The best few results of the current search; the first search owns all results.
    pub(super) own: BestFew,
    /// Best points of the searches that are over.
    optima: Vec<Vec<f64>>,
    /// Where later searches began.
    starts: Vec<Vec<f64>>,
    gives_way: bool,
    settles: bool,
    moves_on: bool,
    strays: bool,
    /// The value from which the current search has to gain, and results since it was reached.
    mark: Option<f64>,
    n_idle: usize,
    has_stalled: bool,
    misses: Misses,
    is_astray: bool,
    /// The best search that is over: its best few results, and its box.
    left: Option<(BestFew, TrustRegion)>,
    /// Whether the current search is one that was over.
    is_resumed: bool,
    /// How close two points of the model may be at most.
    resolution: f64,
}

impl LocalSearches {
    /// The first search, in all of the cube.
    pub(super) fn new() -> LocalSearches {
        LocalSearches {
            region: TrustRegion::new(),
            number: 0,
            own: BestFew::default(),
            optima: vec![],
            starts: vec![],
            gives_way: false,
            settles: false,
            moves_on: false,
            strays: false,
            mark: None,
            n_idle: 0,
            has_stalled: false,
            misses: Misses::default(),
            is_astray: false,
            left: None,
            is_resumed: false,
            resolution: COARSEST,
        }
    }

    /// From now on searches that stall are over.
    pub(super) fn give_way(&mut self) {
        self.gives_way = true;
    }

    /// From now on searches of several workers settle.
    pub(super) fn let_settle(&mut self) {
        self.settles = true;
    }

    /// Whether the current search, whose best point is `centre`, has settled: it gained too little for long, and would go on at
    /// `proposed`, next to its best point.
    pub(super) fn has_settled(&self, centre: &[f64], proposed: &[f64], pending: usize) -> bool {
        let is_idle = self.n_idle >= SETTLED * centre.len() * (1 + pending / 4);
        let is_near = centre.iter().zip(proposed).all(|(a, b)| (a - b).abs() < SETTLED_WITHIN);
        self.settles && pending >= SEVERAL && is_idle && is_near
    }

    /// Whether the current search takes turns with the whole cube.
    pub(super) fn takes_turns(&self, pending: usize) -> bool {
        self.settles && self.number > 0 && pending >= SEVERAL
    }

    /// Whether a trial is one for the whole cube, in turn.
    pub(super) fn is_turn_of_cube(&self, id: u64, pending: usize) -> bool {
        self.takes_turns(pending) && id.is_multiple_of(2)
    }

    /// From now on searches that have gone astray are over.
    pub(super) fn let_stray(&mut self) {
        self.strays = true;
    }

    /// From now on searches that promise little are over, until one is resumed.
    pub(super) fn move_on(&mut self) {
        self.moves_on = true;
    }

    pub(super) fn moves_on(&self) -> bool {
        self.moves_on
    }

    /// An expected improvement, in standard deviations of the values, that is not worth an evaluation.
    pub(super) fn promise(&self) -> f64 {
        if self.moves_on { PROMISE_MOVING_ON } else { PROMISE }
    }

    /// Whether the current search gained too little to go on.
    pub(super) fn has_stalled(&self) -> bool {
        self.gives_way && self.has_stalled && !self.is_resumed
    }

    /// Goes on with the best search so far, however little it gains.
    pub(super) fn resume(&mut self, values: &[f64]) {
        self.take_up_best(values);
        (self.is_resumed, self.moves_on, self.resolution) = (true, false, COARSEST);
    }

    /// The best search that is over is the current one again, if it came lower; whether it did.
    fn take_up_best(&mut self, values: &[f64]) -> bool {
        let best = |few: &BestFew| few.first().map_or(f64::INFINITY, |row| values[row]);
        let Some((own, region)) = self.left.take_if(|(own, _)| best(own) < best(&self.own)) else {
            return false;
        };
        (self.own, self.region, self.number) = (own, region, self.number + 1);
        true
    }

    /// Goes on with the best search so far if the current one, which has gone astray, came less low. One that went on before and
    /// has gone astray again is over.
    pub(super) fn come_back(&mut self, values: &[f64]) {
        if self.is_astray && !self.is_resumed && self.take_up_best(values) {
            self.forget_course();
            (self.is_resumed, self.resolution) = (true, COARSEST);
        }
    }

    /// How a search went is of another one.
    fn forget_course(&mut self) {
        (self.mark, self.n_idle, self.has_stalled) = (None, 0, false);
        (self.misses, self.is_astray) = (Misses::default(), false);
    }

    /// The current search goes on in a small box.
    pub(super) fn begin_near(&mut self) {
        self.region = TrustRegion::near();
    }

    /// Judges the current search by a value of its own, before that is among the results. `median` is the median of
    /// all values, `nearest` how far from an earlier point it was measured.
    pub(super) fn judge(
        &mut self,
        value: f64,
        nearest: f64,
        median: f64,
        results: &Results,
        d: usize,
        pending: usize,
    ) {
        let distance = (median - results.lowest().unwrap_or(f64::INFINITY)).max(0.0);
        // By more than a thousandth of what separates the best result from the median.
        let improved = self.own.first().is_none_or(|best| value < results.values[best] - 1e-3 * distance);
        self.region.told(improved, d, pending);
        if !improved && nearest < self.spacing() {
            self.resolution = 0.5 * nearest;
        }
        let mark =
            *self.mark.get_or_insert_with(|| self.own.first().map_or(value, |best| results.values[best]));
        if value < mark - GAIN * distance {
            (self.mark, self.n_idle) = (Some(value), 0);
        } else {
            self.n_idle += 1;
        }
        self.has_stalled = self.n_idle >= PATIENCE * d * (1 + pending / 4);
        self.misses.told(value, self.own.first().map(|best| results.values[best]), distance);
        self.is_astray = self.strays && self.region.side >= STILL_WIDE && self.misses.is_astray(d, pending);
    }

    /// Takes a result as one of the current search.
    pub(super) fn enter(&mut self, row: usize, values: &[f64]) {
        self.own.enter(row, values);
    }

    /// Ends the current search and begins the next, at `start`.
    pub(super) fn begin_next(&mut self, ended: Ended, results: &Results, start: &[f64]) {
        if let (Ended::AtOptimum | Ended::Astray, Some(best)) = (ended, self.own.first()) {
            self.optima.push(results.points[best].to_vec());
        }
        self.starts.push(start.to_vec());
        self.number += 1;
        let is_wide = self.moves_on || ended == Ended::Astray;
        let region = if is_wide { TrustRegion::wide() } else { TrustRegion::local() };
        let over = (std::mem::take(&mut self.own), std::mem::replace(&mut self.region, region));
        let best = |few: &BestFew| few.first().map_or(f64::INFINITY, |row| results.values[row]);
        if self.left.as_ref().is_none_or(|(left, _)| best(&over.0) < best(left)) {
            self.left = Some(over);
        }
        self.forget_course();
        (self.is_resumed, self.resolution) = (false, COARSEST);
    }

    /// How close two points of the model may be: less when the search has become local, or has come so close to a point
    /// before without a gain. What the model does not take in would be proposed again and again.
    pub(super) fn spacing(&self) -> f64 {
        (COARSEST * (self.region.side / 0.1).min(1.0)).min(self.resolution)
    }

    /// How the current search, whose best point is `centre`, ended, if it is over.
    pub(super) fn ended(&self, centre: &[f64], model: &Model) -> Option<Ended> {
        if self.is_back(centre, model) {
            return Some(Ended::AtKnownOptimum);
        }
        let is_spent = self.region.has_collapsed(model.is_noisy()) || self.resolution < FINEST;
        if is_spent || self.has_stalled() {
            return Some(Ended::AtOptimum);
        }
        // Under noise values miss by chance.
        (self.is_astray && !model.is_noisy()).then_some(Ended::Astray)
    }

    /// Whether a later search has come to where an earlier one ended.
    fn is_back(&self, centre: &[f64], model: &Model) -> bool {
        self.number > 0
            && !self.is_resumed
            && self.optima.iter().any(|other| model.distance(centre, other) < 0.7)
    }

    /// Where the next search begins: lowest mean - κ sd among random points a length scale or more away from the optima
    /// found and from earlier starts, κ = 1, 2, 3 in turn. The search's own later starts, while the first is pending, differ by the hallucinated
    /// variance.
    pub(super) fn start(
        &self,
        model: &Model,
        posterior: &dyn Posterior,
        chance: Option<&Chance<'_>>,
        grid: Option<&Grid>,
        stream: &mut Stream,
    ) -> Result<Vec<f64>> {
        let d = posterior.dim();
        let kappa = (1 + self.number % 3) as f64;
        let n_points = (16 * d * d).clamp(START_POINTS.0, START_POINTS.1);
        let mut points = Mat::from_fn(n_points, d, |_, _| stream.uniform());
        if let Some(grid) = grid {
            grid.snap_all(&mut points);
        }
        let prediction = posterior.predict(points.as_ref())?;
        let chances = chance.map(|chance| (chance, chance.values(points.as_ref())));
        // The first one that may be, if all are close to where a search was.
        let mut best = (f64::INFINITY, None);
        for i in 0..n_points {
            let point: Vec<f64> = (0..d).map(|k| points[(i, k)]).collect();
            let mut known = self.optima.iter().chain(&self.starts);
            let far = known.all(|other| model.distance(&point, other) > 1.0);
            let bound = prediction.mean[i] - kappa * prediction.var[i].sqrt();
            let allowed = chances.as_ref().is_none_or(|(chance, p)| chance.is_start(p[i], &point));
            if allowed && (best.1.is_none() || far && bound < best.0) {
                best = (if far { bound } else { f64::INFINITY }, Some(i));
            }
        }
        let chosen = best.1.unwrap_or(0);
        Ok((0..d).map(|k| points[(chosen, k)]).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const D: usize = 4;

    fn tell(searches: &mut LocalSearches, results: &mut Results, value: f64) {
        searches.judge(value, 1.0, 10.0, results, D, 0);
        let row = results.measured(&[value / 10.0; D], value);
        searches.enter(row, &results.values);
    }

    /// The first values gain less than a hundredth of 10 - 1 each.
    fn stalled() -> (LocalSearches, Results) {
        let (mut searches, mut results) = (LocalSearches::new(), Results::default());
        searches.give_way();
        for value in [1.0, 0.99, 0.98] {
            tell(&mut searches, &mut results, value);
            assert!(!searches.has_stalled(), "at {value}");
        }
        tell(&mut searches, &mut results, 0.97);
        (searches, results)
    }

    #[test]
    fn a_search_stalls_when_d_results_gain_too_little() {
        let (mut searches, mut results) = stalled();
        assert!(searches.has_stalled());
        tell(&mut searches, &mut results, 0.5);
        assert!(!searches.has_stalled(), "it has gained");
        let mut patient = LocalSearches::new();
        let mut results = Results::default();
        (0..3 * D).for_each(|_| tell(&mut patient, &mut results, 1.0));
        assert!(!patient.has_stalled(), "only searches that give way stall");
    }

    /// What the model leaves out would be proposed for ever: coming close without a gain, the model looks closer.
    #[test]
    fn a_search_that_stands_still_looks_closer_and_ends() {
        let (mut searches, mut results) = (LocalSearches::new(), Results::default());
        let mut told = |value, nearest| {
            searches.judge(value, nearest, 10.0, &results, D, 0);
            let row = results.measured(&[value / 10.0; D], value);
            searches.enter(row, &results.values);
            (searches.spacing(), searches.resolution < FINEST)
        };
        assert_eq!(told(1.0, 1e-4), (COARSEST, false), "the first value is a gain");
        assert_eq!(told(2.0, 1e-2), (COARSEST, false), "far enough away");
        assert_eq!(told(2.0, 1e-3), (5e-4, false));
        assert_eq!(told(0.5, 1e-4), (5e-4, false), "a gain");
        assert_eq!(told(2.0, 0.0), (0.0, true), "there is nothing to look at");
    }

    #[test]
    fn several_workers_settle_and_then_take_turns() {
        let (mut searches, mut results) = (LocalSearches::new(), Results::default());
        searches.let_settle();
        let (near, far) = ([0.505; D], [0.5, 0.5, 0.5, 0.52]);
        let settled = |searches: &LocalSearches, at, pending| searches.has_settled(&[0.5; D], at, pending);
        (0..4 * D).for_each(|_| tell(&mut searches, &mut results, 1.0));
        assert!(settled(&searches, &near, SEVERAL) && !settled(&searches, &far, SEVERAL));
        assert!(!settled(&searches, &near, SEVERAL - 1), "few workers");
        assert!(!settled(&searches, &near, 2 * SEVERAL), "it takes more results with more workers");
        assert!(!searches.is_turn_of_cube(2, SEVERAL), "the first search has no turns");
        searches.begin_next(Ended::AtOptimum, &results, &[0.9; D]);
        assert!(!settled(&searches, &near, SEVERAL));
        assert_eq!([2, 3].map(|id| searches.is_turn_of_cube(id, SEVERAL)), [true, false]);
        assert!(!searches.takes_turns(SEVERAL - 1));
    }

    #[test]
    fn searches_move_on_until_one_is_resumed() {
        let (mut searches, mut results) = (LocalSearches::new(), Results::default());
        assert_eq!((searches.moves_on(), searches.promise()), (false, PROMISE));
        searches.move_on();
        assert_eq!((searches.moves_on(), searches.promise()), (true, PROMISE_MOVING_ON));
        tell(&mut searches, &mut results, 1.0);
        searches.begin_next(Ended::AtOptimum, &results, &[0.9; D]);
        assert_eq!(searches.region, TrustRegion::wide());
        tell(&mut searches, &mut results, 2.0);
        searches.resume(&results.values);
        assert_eq!((searches.moves_on(), searches.promise()), (false, PROMISE));
        assert_eq!(searches.own.first().map(|row| results.values[row]), Some(1.0));
        searches.begin_next(Ended::AtOptimum, &results, &[0.1; D]);
        assert_eq!(searches.region, TrustRegion::local());
    }

    /// Tells `first` and then values far above it, in a box that does not collapse, as one of many inputs does not.
    fn wander(searches: &mut LocalSearches, results: &mut Results, first: f64, n: usize) {
        tell(searches, results, first);
        for _ in 1..n {
            searches.region = TrustRegion::new();
            tell(searches, results, first + 5.0);
        }
        searches.come_back(&results.values);
    }

    #[test]
    fn a_search_that_went_astray_is_over_and_goes_on_if_the_next_comes_no_lower() {
        let (mut searches, mut results) = (LocalSearches::new(), Results::default());
        wander(&mut searches, &mut results, 1.0, 40);
        assert!(!searches.is_astray, "only searches that stray do");
        searches.let_stray();
        wander(&mut searches, &mut results, 6.0, 2);
        assert!(searches.is_astray && !searches.is_resumed, "there is none before it");
        searches.begin_next(Ended::Astray, &results, &[0.9; D]);
        assert_eq!((searches.region, searches.is_astray), (TrustRegion::wide(), false));
        // One that comes lower stays the current one.
        wander(&mut searches, &mut results, 0.5, 40);
        assert!(searches.is_astray && !searches.is_resumed);
        searches.begin_next(Ended::Astray, &results, &[0.1; D]);
        // One that does not gives way to that, which has to gain again, or is over.
        wander(&mut searches, &mut results, 3.0, 40);
        assert_eq!(searches.own.first().map(|row| results.values[row]), Some(0.5));
        assert!(searches.is_resumed && !searches.is_astray);
        let number = searches.number;
        wander(&mut searches, &mut results, 5.5, 40);
        assert!(searches.is_astray && searches.number == number);
    }

    #[test]
    fn the_best_search_goes_on_at_the_end() {
        let (mut searches, mut results) = stalled();
        searches.begin_next(Ended::AtOptimum, &results, &[0.9; D]);
        assert!(!searches.has_stalled());
        assert_eq!((searches.number, searches.own.first()), (1, None));
        (0..D).for_each(|_| tell(&mut searches, &mut results, 5.0));
        assert!(searches.has_stalled());
        searches.resume(&results.values);
        assert_eq!(searches.own.first().map(|row| results.values[row]), Some(0.97));
        (0..2 * D).for_each(|_| tell(&mut searches, &mut results, 5.0));
        assert!(!searches.has_stalled(), "a search that was resumed goes on");
    }
}
