//! The models of all outputs taken out to be looked at: how probable it is anywhere that the limits are met, and what would be
//! expected of the best point if they were others.

use super::Limited;
use super::model::Model;
use super::models::MOST;
use super::outlook::{self, Outlook};
use super::results::Results;
use super::sight::Sight;
use super::solve::{VIOLATION, solve};
use super::walls::Walls;
use crate::error::Result;
use crate::limit::Limit;
use crate::space::Direction;
use crate::space::formula::Region;
use crate::strategy::study::{Expected, INTERVAL};
use crate::surrogate::watch::Watch;
use faer::Mat;

/// Half the side of the box around the best point in which another best point is looked for: the models know little of what
/// is farther away.
const RADIUS: f64 = 0.3;
/// Results that the search for another best point begins from.
const STARTS: usize = 8;

/// The models of all outputs, to be looked at. Places are points of the unit cube of the space.
pub struct LimitsLook {
    direction: Direction,
    /// The last one is that there is an answer at all.
    limits: Vec<Limit>,
    outlook: Outlook,
    results: Results,
    /// Where constraints between inputs are met, if there are any.
    region: Option<Region>,
    /// Whether a limited output carries noise.
    is_noisy: bool,
}

/// What is expected of the best point under some limits, in the user's units and direction.
#[derive(Debug, Clone, PartialEq)]
pub struct BestExpected {
    /// Where it would be.
    pub place: Vec<f64>,
    /// The objective there.
    pub objective: Expected,
    /// The limited outputs there, in the order of the limits; None where there is no model of one.
    pub outputs: Vec<Option<Expected>>,
    /// Whether the models expect them to be met there: if not, it is the point that comes nearest.
    pub is_met: bool,
}

impl LimitsLook {
    pub(super) fn of(limited: &mut Limited, watch: &dyn Watch) -> Result<LimitsLook> {
        let Limited { limits, results, models, n_initial, region, .. } = limited;
        let outlook = models.outlook(results, limits, *n_initial, watch)?.clone();
        let is_many = results.points.len() > MOST;
        let results =
            if is_many { results.part(limits, results.points.len(), MOST) } else { results.clone() };
        let (direction, limits, region) = (Direction::Minimize, limits.clone(), region.clone());
        // The first is the objective, the last whether there is an answer.
        let kinds = models.kinds().iter().skip(1).take(limits.len() - 1);
        let is_noisy = kinds.flatten().any(|(_, is_noisy)| *is_noisy);
        Ok(LimitsLook { direction, limits, outlook, results, region, is_noisy })
    }

    /// The same for values in the user's direction.
    pub(in crate::strategy) fn in_direction(self, direction: Direction) -> LimitsLook {
        LimitsLook { direction, ..self }
    }

    /// The limits.
    pub fn limits(&self) -> &[Limit] {
        &self.limits[..self.limits.len() - 1]
    }

    /// How far from a number the measured values of a limited output are, the median.
    pub fn spread(&self, limit: usize, from: f64) -> f64 {
        let mut far: Vec<f64> =
            self.results.limited.iter().filter_map(|row| Some((row[limit]? - from).abs())).collect();
        far.sort_by(f64::total_cmp);
        far.get(far.len() / 2).copied().unwrap_or(0.0)
    }

    /// The probability at some places that all limits are met; outputs are taken to be independent.
    pub fn chances(&self, places: &[Vec<f64>]) -> Result<Vec<f64>> {
        let log = self.outlook.log_chances(rows(places).as_ref())?;
        Ok(log.into_iter().map(f64::exp).collect())
    }

    /// Whether the model of a limited output holds its values for noisy, so that what was measured within a limit may be luck.
    pub fn is_noisy(&self) -> bool {
        self.is_noisy
    }

    /// The probability at places that gave an answer that all limits are met there, without the noise.
    pub(in crate::strategy) fn chances_of_answers(&self, places: &[Vec<f64>]) -> Result<Vec<f64>> {
        let answer = self.limits.len() - 1;
        let sides = self.outlook.sides.iter().filter(|side| side.limit != answer).copied().collect();
        let log = Outlook { sides, ..self.outlook.clone() }.log_chances(rows(places).as_ref())?;
        Ok(log.into_iter().map(f64::exp).collect())
    }

    /// What is expected of the best point if the limits were these, each on the same output as the limit it stands for; near
    /// the best point of all that was measured. None as long as there is no model of the objective.
    pub fn best_with(&self, moved: &[Limit], watch: &dyn Watch) -> Result<Option<BestExpected>> {
        let answer = &self.limits[self.limits.len() - 1];
        let limits: Vec<Limit> = moved.iter().chain([answer]).cloned().collect();
        let (Some(objective), Some(sight)) = (&self.outlook.objective, self.outlook.sights.0) else {
            return Ok(None);
        };
        let sides = outlook::sides(&limits, &self.outlook.sights.1);
        let outlook = Outlook { sides, ..self.outlook.clone() };
        let starts = self.starts(&limits);
        let Some(centre) = starts.first() else { return Ok(None) };
        let (low, high): (Vec<f64>, Vec<f64>) =
            centre.iter().map(|u| ((u - RADIUS).max(0.0), (u + RADIUS).min(1.0))).unzip();
        let margins = vec![0.0; outlook.modelled().count()];
        let walls = self.region.as_ref().map(|region| Walls { region, frame: None });
        let Some(solution) = solve(&outlook, walls, &margins, &low, &high, &starts, watch)? else {
            return Ok(None);
        };
        let at = |posterior: &Model, sight: &Sight| -> Result<Expected> {
            let prediction =
                posterior.posterior().predict(rows(std::slice::from_ref(&solution.x)).as_ref())?;
            let (mean, far) = (prediction.mean[0], INTERVAL * prediction.var[0].sqrt());
            Ok(Expected {
                mean: sight.invert(mean),
                low: sight.invert(mean - far),
                high: sight.invert(mean + far),
            })
        };
        let mut outputs = vec![];
        for (posterior, sight) in outlook.limited.iter().zip(&outlook.sights.1).take(moved.len()) {
            outputs.push(match (posterior, sight) {
                (Some(posterior), Some(sight)) => Some(at(posterior, sight)?),
                _ => None,
            });
        }
        let internal = at(objective, &sight)?;
        let ends = [internal.low, internal.high].map(|value| self.direction.to_user(value));
        let objective = Expected {
            mean: self.direction.to_user(internal.mean),
            low: ends[0].min(ends[1]),
            high: ends[0].max(ends[1]),
        };
        let is_met = solution.violation <= 1e3 * VIOLATION;
        Ok(Some(BestExpected { place: solution.x, objective, outputs, is_met }))
    }

    /// Measured points to begin from: the best under these limits, or the one that is least beyond them, and the best of all.
    fn starts(&self, limits: &[Limit]) -> Vec<Vec<f64>> {
        let mut under = Results::default();
        for (row, point) in self.results.points.iter().enumerate() {
            under.enter(limits, point.clone(), self.results.objective[row], &self.results.limited[row]);
        }
        let first = under.centre();
        let mut order: Vec<(f64, usize)> =
            under.objective.iter().enumerate().filter_map(|(row, value)| Some(((*value)?, row))).collect();
        order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let others = order.into_iter().map(|(_, row)| row).take(STARTS);
        first.into_iter().chain(others).map(|row| under.points[row].clone()).collect()
    }
}

fn rows(places: &[Vec<f64>]) -> Mat<f64> {
    Mat::from_fn(places.len(), places.first().map_or(0, Vec::len), |i, k| places[i][k])
}
