//! Whether the search may be in a side valley: how probable a better value is away from the best point.
//!
//! A search that has settled has most of its results around the best point, and sees values so that these can be told
//! apart. Of other valleys such a model knows next to nothing and believes less. So the look taken here is coarse
//! ([`Look::coarse`]): of results closer than a fiftieth of the range the best one stands for all. On functions drawn from
//! its model, some have a value away from the best point that is better by more than a hundredth of what separates the best
//! value from the median. The part of them that do is the chance.
//!
//! Length scales are in doubt: divided by √d, but for a constant. Their prior lets them grow as distances do in d
//! coordinates; valleys do not, and what lies between two results can be narrower than anything that was seen. With the
//! length scales as they were fitted the chance is nothing in the side valley and at the optimum alike.
//!
//! The constant and the chance from which it is told were chosen on Hartmann-6 with one worker and Hartmann-4 with five. It errs on
//! the side of telling: functions of many valleys, Levy's and Ackley's, are told of at their optima too.
//!
//! Away is farther than a length scale, none of them longer than half the range, which is how local searches are kept
//! apart. Functions are drawn where they may be low: at the points all over the space where a lower value is most
//! probable by each one's own law, improved by small moves, and not more of them than can be drawn together.

use crate::design::Sobol;
use crate::error::Result;
use crate::rng::Stream;
use crate::strategy::Look;
use crate::surrogate::Posterior;
use crate::surrogate::exact::ExactPosterior;
use crate::surrogate::hyper::Hyperparameters;
use crate::surrogate::watch::Unwatched;
use faer::Mat;

/// Coordinates up to which anything is said, and results for each of them: with fewer, most of the space is unknown anyway.
const MOST_COORDINATES: usize = 10;
const RESULTS_EACH: usize = 10;
/// Length scales are as long as they were fitted times this over √d. Of 12 runs of Hartmann-6, 100 evaluations, the six in the
/// side valley had chances of 0.49 to 0.65 with half of each length scale, the others of 0.13 to 0.40.
const DOUBT: f64 = 1.25;
/// How close results may be, by the coordinate that differs most, to count as two.
const APART: f64 = 0.02;
/// Points all over the space that are looked at.
const ANYWHERE: usize = 4096;
/// The best of them, which are improved and drawn at.
const CANDIDATES: usize = 192;
/// Rounds of small moves, and the first and the last length of one in length scales.
const ROUNDS: usize = 24;
const MOVES: (f64, f64) = (0.5, 0.05);
/// Functions drawn.
const N_DRAWS: usize = 256;
/// The part of what separates the best value from the median that a better value is better by.
const WORTH: f64 = 0.01;
/// Length scales count as no longer than this part of the range.
const LONGEST: f64 = 0.5;
/// Chances from which a side valley is spoken of.
const MAY_BE: f64 = 0.45;

/// What is to be expected of the space away from the best point.
#[derive(Debug, Clone, PartialEq)]
pub struct Elsewhere {
    /// How probable a value there is that is better by more than `worth`.
    pub chance: f64,
    /// A hundredth of what separates the best value from the median, in the user's units.
    pub worth: f64,
    /// Where it is most probable, in the coordinates of the model.
    pub place: Vec<f64>,
}

impl Elsewhere {
    /// Whether that is worth telling people.
    pub fn may_be_better(&self) -> bool {
        self.chance >= MAY_BE
    }
}

/// Whether anything is said of a model with so many coordinates and results, for whoever would look at it for that alone.
pub fn speaks_of(coordinates: usize, results: usize) -> bool {
    coordinates <= MOST_COORDINATES && results >= RESULTS_EACH * coordinates
}

/// How probable a better valley is; None with too many inputs or too few results to say, where results do not differ, or if
/// nothing is away from the best point.
pub fn elsewhere(look: &Look, seed: u64) -> Result<Option<Elsewhere>> {
    if !speaks_of(look.dim(), look.n_results()) {
        return Ok(None);
    }
    let Some(coarse) = Coarse::of(look)? else { return Ok(None) };
    let mut stream = Stream::new(seed, "elsewhere", 0);
    let mut candidates = coarse.anywhere(look, &mut stream)?;
    if candidates.is_empty() {
        return Ok(None);
    }
    let mut scores = coarse.scores(&candidates)?;
    keep_best(&mut candidates, &mut scores);
    for round in 0..ROUNDS {
        let length = MOVES.0 * (MOVES.1 / MOVES.0).powf(round as f64 / (ROUNDS - 1) as f64);
        let moved: Vec<Vec<f64>> =
            candidates.iter().map(|point| coarse.moved(look, point, length, &mut stream)).collect();
        let tried = coarse.scores(&moved)?;
        for (i, point) in moved.into_iter().enumerate() {
            if tried[i] > scores[i] {
                (candidates[i], scores[i]) = (point, tried[i]);
            }
        }
    }
    let x = Mat::from_fn(candidates.len(), look.dim(), |i, k| candidates[i][k]);
    let draws = coarse.process.sample(x.as_ref(), N_DRAWS, &mut stream)?;
    let is_better = |j: usize| (0..candidates.len()).any(|i| draws[(i, j)] < coarse.threshold);
    let chance = (0..N_DRAWS).filter(|&j| is_better(j)).count() as f64 / N_DRAWS as f64;
    let first = (0..scores.len()).fold(0, |a, b| if scores[b] > scores[a] { b } else { a });
    Ok(Some(Elsewhere { chance, worth: coarse.worth, place: candidates.swap_remove(first) }))
}

/// A coarse look at the results.
struct Coarse {
    process: ExactPosterior,
    /// The best place.
    centre: Vec<f64>,
    /// Values below are better than the best one by what counts, as the process sees them.
    threshold: f64,
    worth: f64,
    /// Length scales, none longer than counts.
    scales: Vec<f64>,
}

impl Coarse {
    /// None where results do not differ.
    fn of(look: &Look) -> Result<Option<Coarse>> {
        let Some(coarse) = look.coarse(APART, &Unwatched)? else { return Ok(None) };
        let points: Vec<&[f64]> = coarse.results().map(|(_, point, _)| point).collect();
        let mut seen: Vec<f64> = coarse.results().map(|(_, _, value)| coarse.to_model(value)).collect();
        if coarse.is_noisy() {
            let x = Mat::from_fn(points.len(), coarse.dim(), |i, k| points[i][k]);
            seen = coarse.process().predict(x.as_ref())?.mean;
        }
        let best = (0..seen.len()).fold(0, |a, b| if seen[b] < seen[a] { b } else { a });
        let mut sorted = seen.clone();
        sorted.sort_by(f64::total_cmp);
        let (lowest, median) = (coarse.to_user(sorted[0]), coarse.to_user(sorted[seen.len() / 2]));
        let worth = WORTH * (median - lowest).abs();
        // Better by that, in the user's direction.
        let threshold = coarse.to_model(lowest - worth * (median - lowest).signum());
        if !(worth > 0.0 && threshold < seen[best]) {
            return Ok(None);
        }
        let doubt = (DOUBT / (coarse.dim() as f64).sqrt()).min(1.0);
        let fitted = coarse.process().hyperparameters();
        let mut log = fitted.to_log();
        let n_lengths = log.len() - 2;
        log[..n_lengths].iter_mut().for_each(|length| *length += doubt.ln());
        let hyper = Hyperparameters::from_log(fitted.kernel.shape, &log);
        let process = coarse.process_with(&hyper)?;
        let scales = (0..coarse.dim()).map(|k| hyper.kernel.length_scale(k).min(LONGEST)).collect();
        Ok(Some(Coarse { centre: points[best].to_vec(), threshold, worth, scales, process }))
    }

    fn is_away(&self, point: &[f64]) -> bool {
        let squares = (0..point.len()).map(|k| ((point[k] - self.centre[k]) / self.scales[k]).powi(2));
        squares.sum::<f64>() > 1.0
    }

    /// Points all over the space that are away from the best one.
    fn anywhere(&self, look: &Look, stream: &mut Stream) -> Result<Vec<Vec<f64>>> {
        let sobol = Sobol::new(look.dim(), stream)?;
        let mut points = Vec::new();
        for index in 0..ANYWHERE as u64 {
            let mut point = vec![0.0; look.dim()];
            sobol.point(index, &mut point)?;
            look.snap(&mut point);
            if self.is_away(&point) {
                points.push(point);
            }
        }
        Ok(points)
    }

    /// A point near by, unless that is not away from the best one any more.
    fn moved(&self, look: &Look, point: &[f64], length: f64, stream: &mut Stream) -> Vec<f64> {
        let step = |k: usize| length * self.scales[k];
        let mut moved: Vec<f64> =
            (0..point.len()).map(|k| (point[k] + step(k) * stream.normal()).clamp(0.0, 1.0)).collect();
        look.snap(&mut moved);
        if self.is_away(&moved) { moved } else { point.to_vec() }
    }

    /// How many standard deviations the threshold lies above the mean: that orders points by the probability of a lower value.
    fn scores(&self, points: &[Vec<f64>]) -> Result<Vec<f64>> {
        let mut scores = Vec::with_capacity(points.len());
        for block in points.chunks(512) {
            let x = Mat::from_fn(block.len(), self.centre.len(), |i, k| block[i][k]);
            let prediction = self.process.predict(x.as_ref())?;
            let pairs = prediction.mean.iter().zip(&prediction.var);
            scores.extend(pairs.map(|(mean, var)| (self.threshold - mean) / var.max(1e-300).sqrt()));
        }
        Ok(scores)
    }
}

/// Leaves the points of the highest scores.
fn keep_best(points: &mut Vec<Vec<f64>>, scores: &mut Vec<f64>) {
    let mut order: Vec<usize> = (0..points.len()).collect();
    order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]).then(a.cmp(&b)));
    order.truncate(CANDIDATES);
    *points = order.iter().map(|&i| points[i].clone()).collect();
    *scores = order.iter().map(|&i| scores[i]).collect();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::{Direction, Parameter, Space};
    use crate::strategy::{Settings, Strategy, Study};

    /// Waves with valleys all over the square, the best one at (0.5, 0.5).
    fn waves(x: f64, y: f64) -> f64 {
        let bowl = (x - 0.5).powi(2) + (y - 0.5).powi(2);
        (13.0 * (x - 0.5)).cos().mul_add(-1.0, 2.0 * bowl) - (11.0 * (y - 0.5)).cos()
    }

    /// A study of results on a grid of `n` x `n` points that reaches from 0 to `reach` in the first input.
    fn gridded(n: usize, reach: f64, direction: Direction) -> Study {
        let space = Space::new(vec![Parameter::float("x", 0.0, 1.0).with_size(2)]).unwrap();
        let mut study = Study::new(space.clone(), direction, Strategy::Bo(Settings::bo()), None, 5).unwrap();
        let at = |i: usize| i as f64 / (n - 1) as f64;
        for (i, j) in (0..n * n).map(|k| (k / n, k % n)) {
            let (x, y) = (reach * at(i), at(j));
            let point = space.decode(&crate::space::UnitPoint::new(vec![x, y]).unwrap()).unwrap();
            study.add(&point, direction.to_user(waves(x, y))).unwrap();
        }
        study
    }

    fn said(study: &mut Study) -> Option<Elsewhere> {
        elsewhere(&study.look(&Unwatched).unwrap().unwrap(), 7).unwrap()
    }

    #[test]
    fn a_part_that_nobody_looked_at_may_be_better_and_one_that_is_known_is_not() {
        for direction in [Direction::Minimize, Direction::Maximize] {
            let half = said(&mut gridded(9, 0.3, direction)).unwrap();
            assert!(half.may_be_better() && half.place[0] > 0.3, "{direction:?} {half:?}");
            let whole = said(&mut gridded(11, 1.0, direction)).unwrap();
            assert!(whole.chance < 0.2 && !whole.may_be_better(), "{direction:?} {whole:?}");
            assert!(whole.worth > 0.0 && whole.worth < 0.1, "a hundredth of about two: {whole:?}");
        }
    }

    #[test]
    fn of_few_results_or_equal_ones_nothing_is_said() {
        assert_eq!(said(&mut gridded(4, 1.0, Direction::Minimize)), None, "16 results in two inputs");
        let space = Space::new(vec![Parameter::float("x", 0.0, 1.0)]).unwrap();
        let strategy = Strategy::Bo(Settings::bo());
        let mut flat = Study::new(space, Direction::Minimize, strategy, None, 5).unwrap();
        for _ in 0..12 {
            let asked = flat.ask(1).unwrap();
            flat.tell(asked[0].id, 3.0).unwrap();
        }
        let look = flat.look(&Unwatched).unwrap();
        assert_eq!(look.map(|look| elsewhere(&look, 7).unwrap()), Some(None));
    }
}
