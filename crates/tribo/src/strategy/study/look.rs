//! The model of a study taken out to be looked at: what it expects anywhere, and what it is made of.
//!
//! A look is a process of its own, exact, on the results that the model was fitted to, with the model's hyper-parameters
//! and its view of values: so it can be asked for functions drawn from it and for what it expects of each result from the
//! others (`analysis`), also where the model itself is sparse. Of many results it takes the best and an even choice of the
//! others. It changes nothing in the study.
//!
//! Coordinates here are those of the inputs that the model sees, in the order of the space: of all of them, or under `auto`
//! of those it has named. The others stay as they are in the best trial.

use super::Study;
use crate::acquisition::normal;
use crate::error::{Error, Result};
use crate::space::{Direction, Input, Point, Space, UnitPoint};
use crate::strategy::bo::{self, Warp};
use crate::strategy::engine::OfInputs;
use crate::surrogate::Posterior;
use crate::surrogate::data::Data;
use crate::surrogate::exact::ExactPosterior;
use crate::surrogate::hyper::{Hyperparameters, Mean};
use crate::surrogate::watch::Watch;
use crate::trial::TrialId;
use faer::Mat;
use std::collections::BTreeMap;

/// Results that a look takes: a factor of so many takes a tenth of a second.
const MOST: usize = 800;
/// The part of them that is the best ones; the others are an even choice.
const BEST: usize = MOST / 2;
/// Standard deviations to either end of an interval that holds 95 % of a normal law.
pub(in crate::strategy) const INTERVAL: f64 = 1.959_963_984_540_054;

/// The model of a study, to be looked at.
pub struct Look {
    space: Space,
    direction: Direction,
    /// Inputs that the model sees.
    inputs: Vec<usize>,
    /// Their coordinates in the unit cube of the space.
    coordinates: Vec<usize>,
    warp: Warp,
    is_noisy: bool,
    process: ExactPosterior,
    trials: Vec<TrialId>,
    points: Vec<Vec<f64>>,
    values: Vec<f64>,
    best: TrialId,
    best_unit: Vec<f64>,
    n_results: usize,
}

/// What is expected at a point, in the user's units and direction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Expected {
    /// The mean; the median where values are modelled by their logarithm.
    pub mean: f64,
    /// Lower end of the interval that holds 95 %.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
}

impl Study {
    /// The model, to be looked at; None if there is none of inputs as they are, or too few results for one. The first look
    /// after new results costs a fit where the next ask would.
    pub fn look(&mut self, watch: &dyn Watch) -> Result<Option<Look>> {
        let Some((best, _)) = self.history.best() else { return Ok(None) };
        let (best, best_unit) = (best.id, self.canonical(best)?.0.into_vec());
        let values: BTreeMap<TrialId, f64> =
            self.history.measured().map(|(trial, value)| (trial.id, value)).collect();
        let Some(OfInputs { optimiser, inputs, located }) = self.engine.model_of_inputs(&self.history) else {
            return Ok(None);
        };
        let table: Vec<Input> = self.space.inputs().collect();
        let inputs = inputs.unwrap_or_else(|| (0..table.len()).collect());
        let coordinates: Vec<usize> =
            inputs.iter().flat_map(|&input| table[input].coordinates.clone()).collect();
        let model = optimiser.model(watch)?;
        let Some(hyper) = model.hyper() else { return Ok(None) };
        let (mut trials, mut points, mut measured) = (vec![], vec![], vec![]);
        for (id, point) in located {
            if let (Some(&value), true) = (values.get(&id), point.len() == coordinates.len()) {
                trials.push(id);
                points.push(point);
                measured.push(value);
            }
        }
        let n_results = trials.len();
        let rows = chosen(model.apart(&points, &measured), &measured);
        if rows.len() < 2 {
            return Ok(None);
        }
        let take = |row: &usize| (trials[*row], points[*row].clone(), measured[*row]);
        let kept: Vec<(TrialId, Vec<f64>, f64)> = rows.iter().map(take).collect();
        let x = Mat::from_fn(kept.len(), coordinates.len(), |i, k| kept[i].1[k]);
        let warp = model.values_seen();
        let y: Vec<f64> = kept.iter().map(|(_, _, value)| warp.apply(*value)).collect();
        let process = ExactPosterior::new(&Data::new(x.as_ref(), &y)?, hyper, Mean::Estimated)?;
        Ok(Some(Look {
            space: self.space.clone(),
            direction: self.direction,
            inputs,
            coordinates,
            warp,
            is_noisy: model.is_noisy(),
            process,
            trials: kept.iter().map(|(id, _, _)| *id).collect(),
            points: kept.iter().map(|(_, point, _)| point.clone()).collect(),
            values: kept.iter().map(|(_, _, value)| *value).collect(),
            best,
            best_unit,
            n_results,
        }))
    }
}

/// Of too many rows the best, and an even choice of the others.
fn chosen(rows: Vec<usize>, values: &[f64]) -> Vec<usize> {
    if rows.len() <= MOST {
        return rows;
    }
    let mut order = rows;
    order.sort_by(|&i, &j| values[i].total_cmp(&values[j]).then(i.cmp(&j)));
    let others = order.split_off(BEST);
    let n = MOST - BEST;
    order.extend((0..n).map(|i| others[i * others.len() / n]));
    order.sort_unstable();
    order
}

impl Look {
    /// A coarse look at the same results, by a model of its own: of results closer than `spacing`, by the coordinate that
    /// differs most, the best one stands for all, and the range of values is seen as these have it. None if fewer than two are
    /// left, or they do not differ.
    pub fn coarse(&self, spacing: f64, watch: &dyn Watch) -> Result<Option<Look>> {
        let mut order: Vec<usize> = (0..self.values.len()).collect();
        order.sort_by(|&i, &j| self.values[i].total_cmp(&self.values[j]).then(i.cmp(&j)));
        let mut rows: Vec<usize> = vec![];
        for i in order {
            let is_close = |&row: &usize| {
                self.points[i].iter().zip(&self.points[row]).all(|(a, b)| (a - b).abs() < spacing)
            };
            if !rows.iter().any(is_close) {
                rows.push(i);
            }
        }
        rows.sort_unstable();
        let values: Vec<f64> = rows.iter().map(|&row| self.values[row]).collect();
        if values.iter().all(|value| *value == values[0]) {
            return Ok(None);
        }
        let points: Vec<Vec<f64>> = rows.iter().map(|&row| self.points[row].clone()).collect();
        let x = Mat::from_fn(rows.len(), self.dim(), |i, k| points[i][k]);
        let start = self.process.hyperparameters();
        let Some((process, warp)) = bo::coarse_model(&x, &values, start, self.is_noisy, watch)? else {
            return Ok(None);
        };
        Ok(Some(Look {
            space: self.space.clone(),
            inputs: self.inputs.clone(),
            coordinates: self.coordinates.clone(),
            warp,
            process,
            trials: rows.iter().map(|&row| self.trials[row]).collect(),
            points,
            values,
            best_unit: self.best_unit.clone(),
            ..*self
        }))
    }

    /// The inputs that the model sees, by number, in increasing order.
    pub fn inputs(&self) -> &[usize] {
        &self.inputs
    }

    /// The name of an input of the space.
    pub fn input_name(&self, input: usize) -> String {
        let first = self.space.inputs().nth(input).map_or(0, |input| input.coordinates.start);
        self.space.input_name(first).unwrap_or_default()
    }

    /// For each input that the model sees, its coordinates in the model.
    pub fn input_coordinates(&self) -> Vec<std::ops::Range<usize>> {
        let table: Vec<Input> = self.space.inputs().collect();
        let mut first = 0;
        let widths = self.inputs.iter().map(|&input| table[input].coordinates.len());
        widths
            .map(|width| {
                first += width;
                first - width..first
            })
            .collect()
    }

    /// Number of coordinates of the model.
    pub fn dim(&self) -> usize {
        self.coordinates.len()
    }

    /// Length scales as parts of the range, one for each coordinate of the model: the value changes little over less.
    pub fn length_scales(&self) -> Vec<f64> {
        let kernel = &self.process.hyperparameters().kernel;
        (0..self.dim()).map(|k| kernel.length_scale(k)).collect()
    }

    /// Whether values are modelled by their logarithm.
    pub fn is_logarithmic(&self) -> bool {
        // Only a logarithm bends the map.
        self.warp.invert(0.0).1 != self.warp.invert(3.0).1
    }

    /// Standard deviation of the noise of a value near the best one, if the model believes in noise.
    pub fn noise_sd(&self) -> Option<f64> {
        let lowest = self.values.iter().copied().fold(f64::INFINITY, f64::min);
        let slope = self.warp.invert(self.warp.apply(lowest)).1;
        self.is_noisy.then(|| slope * self.process.hyperparameters().noise_var.sqrt())
    }

    /// The process that it is, on values as the model sees them: smaller is better.
    pub fn process(&self) -> &ExactPosterior {
        &self.process
    }

    /// The process of the same results with other hyper-parameters.
    pub fn process_with(&self, hyper: &Hyperparameters) -> Result<ExactPosterior> {
        let x = Mat::from_fn(self.points.len(), self.dim(), |i, k| self.points[i][k]);
        let y: Vec<f64> = self.values.iter().map(|&value| self.warp.apply(value)).collect();
        ExactPosterior::new(&Data::new(x.as_ref(), &y)?, hyper, Mean::Estimated)
    }

    /// The results that it is made from: the trial, its place, its value in the user's direction.
    pub fn results(&self) -> impl Iterator<Item = (TrialId, &[f64], f64)> {
        let rows = self.trials.iter().zip(&self.points).zip(&self.values);
        rows.map(|((id, point), value)| (*id, point.as_slice(), self.direction.to_user(*value)))
    }

    /// How many results the model has; it is made from at most 800 of them.
    pub fn n_results(&self) -> usize {
        self.n_results
    }

    /// The best trial.
    pub fn best(&self) -> TrialId {
        self.best
    }

    /// Its place in the model.
    pub fn best_point(&self) -> Vec<f64> {
        self.coordinates.iter().map(|&k| self.best_unit[k]).collect()
    }

    /// The value that the model sees as `w`, in the user's direction.
    pub fn to_user(&self, w: f64) -> f64 {
        self.direction.to_user(self.warp.invert(w).0)
    }

    /// The user's value as the model sees it.
    pub fn to_model(&self, value: f64) -> f64 {
        self.warp.apply(self.direction.to_internal(value))
    }

    /// How much better, in the user's units and never negative, is what the model sees as `after` than `before`.
    pub fn gain(&self, before: f64, after: f64) -> f64 {
        (self.warp.invert(before).0 - self.warp.invert(after).0).max(0.0)
    }

    /// Puts coordinates where the values of the space are: integers and categories.
    pub fn snap(&self, point: &mut [f64]) {
        let table: Vec<Input> = self.space.inputs().collect();
        for (&input, range) in self.inputs.iter().zip(self.input_coordinates()) {
            if table[input].n_values.is_some() {
                self.space.snap_input(table[input].coordinates.start, &mut point[range]);
            }
        }
    }

    /// Where a point of the space is in the model.
    pub fn place(&self, point: &Point) -> Result<Vec<f64>> {
        let unit = self.space.encode(point)?.into_vec();
        Ok(self.coordinates.iter().map(|&k| unit[k]).collect())
    }

    /// How probable it is that the value at a place is better than this one, in the user's direction.
    pub fn chance_of_better(&self, place: &[f64], value: f64) -> Result<f64> {
        let x = Mat::from_fn(1, self.dim(), |_, k| place[k]);
        let prediction = self.process.predict(x.as_ref())?;
        let (below, sd) = (self.to_model(value) - prediction.mean[0], prediction.var[0].sqrt());
        Ok(if sd > 0.0 { normal::cdf(below / sd) } else { f64::from(u8::from(below > 0.0)) })
    }

    /// The point of the whole space: the best trial with these coordinates.
    pub fn whole(&self, point: &[f64]) -> Result<UnitPoint> {
        if point.len() != self.dim() {
            return Err(Error::Size {
                what: "coordinates of the model",
                expected: self.dim(),
                found: point.len(),
            });
        }
        let mut unit = self.best_unit.clone();
        self.coordinates.iter().zip(point).for_each(|(&k, &u)| unit[k] = u);
        UnitPoint::new(unit)
    }

    /// What is expected at these places, without the noise of an evaluation.
    pub fn expected(&self, points: &[Vec<f64>]) -> Result<Vec<Expected>> {
        let mut expected = Vec::with_capacity(points.len());
        for block in points.chunks(512) {
            let x = Mat::from_fn(block.len(), self.dim(), |i, k| block[i][k]);
            let prediction = self.process.predict(x.as_ref())?;
            let pairs = prediction.mean.iter().zip(&prediction.var);
            expected.extend(pairs.map(|(&mean, &var)| self.interval(mean, var.sqrt())));
        }
        Ok(expected)
    }

    /// The law N(mean, sd²) of a value as the model sees it, in the user's units.
    pub fn interval(&self, mean: f64, sd: f64) -> Expected {
        let (a, b) = (self.to_user(mean - INTERVAL * sd), self.to_user(mean + INTERVAL * sd));
        Expected { mean: self.to_user(mean), low: a.min(b), high: a.max(b) }
    }

    /// Whether the model believes in noise.
    pub fn is_noisy(&self) -> bool {
        self.is_noisy
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::Parameter;
    use crate::strategy::{Settings, Strategy};
    use crate::surrogate::watch::Unwatched;

    fn bowl(point: &Point) -> f64 {
        let x = point.numbers();
        (x[0] - 1.0).powi(2) + (x[1] - 4.0).powi(2)
    }

    fn space() -> Space {
        Space::new(vec![Parameter::float("x", -2.0, 3.0), Parameter::int("n", 0, 9)]).unwrap()
    }

    #[test]
    fn it_expects_what_the_model_of_the_study_expects() {
        for (direction, sign) in [(Direction::Minimize, 1.0), (Direction::Maximize, -1.0)] {
            let mut study = Study::new(space(), direction, Strategy::Bo(Settings::bo()), None, 3).unwrap();
            assert!(study.look(&Unwatched).unwrap().is_none());
            for _ in 0..16 {
                let asked = study.ask(1).unwrap();
                study.tell(asked[0].id, sign * bowl(&asked[0].point)).unwrap();
            }
            let look = study.look(&Unwatched).unwrap().unwrap();
            assert_eq!((look.inputs(), look.dim(), look.n_results()), (&[0, 1][..], 2, 16));
            assert_eq!(look.best(), study.best().unwrap().unwrap().id);
            let mut place = vec![0.37, 0.52];
            look.snap(&mut place);
            let point = study.space().decode(&look.whole(&place).unwrap()).unwrap();
            let expected = look.expected(&[place]).unwrap()[0];
            let model = study.posterior(&[point], &Unwatched).unwrap();
            // The same process, but for the order of its data.
            assert!((expected.mean - model.mean[0]).abs() < 1e-4 * (1.0 + model.mean[0].abs()));
            assert!(expected.low <= expected.mean && expected.mean <= expected.high);
            let place = look.place(&study.best().unwrap().unwrap().point).unwrap();
            assert_eq!(place, look.best_point());
            let chance = |value| look.chance_of_better(&[0.37, 0.5], value).unwrap();
            assert!((chance(expected.mean + sign * 1e3), chance(expected.mean - sign * 1e3)) == (1.0, 0.0));
            for (trial, place, value) in look.results() {
                assert!(
                    (sign * bowl(&study.point(trial).unwrap()) - value).abs() < 1e-9 * (1.0 + value.abs())
                );
                assert!((look.to_user(look.to_model(value)) - value).abs() < 1e-9 * (1.0 + value.abs()));
                assert_eq!(place.len(), 2);
            }
        }
    }

    #[test]
    fn many_results_are_chosen_from_evenly_and_the_best_all_taken() {
        let values: Vec<f64> = (0..5_000).map(f64::from).collect();
        let rows = chosen((0..5_000).collect(), &values);
        assert_eq!((rows.len(), &rows[..BEST]), (MOST, &(0..BEST).collect::<Vec<_>>()[..]));
        assert!(rows[MOST - 1] > 4_980 && rows.windows(2).all(|pair| pair[0] < pair[1]));
        assert_eq!(chosen((0..7).collect(), &values), (0..7).collect::<Vec<_>>());
    }
}
