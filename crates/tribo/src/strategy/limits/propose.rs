//! One proposal under limits.

use super::Turn;
use super::border::Border;
use super::model::{Known, Model};
use super::models::Recognised;
use super::near::near;
use super::outlook::{Hopes, Outlook, Side};
use super::output::Kind;
use super::results::Results;
use super::sight::Sight;
use super::solve::{VIOLATION, solve};
use super::trend::Trend;
use super::walls::Walls;
use crate::acquisition::Acquisition;
use crate::acquisition::maximize::{Search, maximise, maximise_inside};
use crate::error::{Error, Result};
use crate::limit::Limit;
use crate::normal;
use crate::rng::Stream;
use crate::space::formula::Region;
use crate::strategy::study::LimitKnown;
use crate::surrogate::Posterior;
use crate::surrogate::watch::Watch;
use crate::trial::Purpose;
use faer::Mat;
use std::sync::Arc;

/// Standard deviations of the limits that a step keeps away from them; others where the first leads to a point that is under
/// way, since the quickest of several evaluations near the optimum is sooner than one of them.
const CAUTIONS: [f64; 4] = [1.0, 0.5, 1.7, 0.0];
/// The same with nothing under way: where the first leads to a point that was measured, the models are as good as they get.
const LESS_AND_LESS: [f64; 3] = [1.0, 0.3, 0.0];
/// Points that the search for a step begins from, besides the best.
const STARTS: usize = 15;
/// Points that are compared for it.
const CANDIDATES: usize = 400;
/// Boxes up to this half side have models of their own.
const NEAR: f64 = 0.2;
/// Half the side of the box whose models say what limits are worth, at least.
const KNOWN_RADIUS: f64 = 0.01;
/// A standard deviation of an output that makes a limit doubtful: beyond, what was measured may be luck.
const DOUBT: f64 = 1e-2;
/// Two points closer than this, in any coordinate, are one to the models.
const SAME: f64 = 1e-9;
/// Half the way from the best result to the bottom of the trend that is worth going.
const LEAST_REACH: f64 = 0.015;

pub(super) struct Proposer<'a> {
    pub(super) limits: &'a [Limit],
    pub(super) results: &'a Results,
    pub(super) outlook: &'a Outlook,
    pub(super) known: &'a Recognised,
    pub(super) kinds: &'a [Option<Kind>],
    pub(super) pending: Vec<&'a [f64]>,
    pub(super) radius: f64,
    /// Where constraints between inputs are met, if there are any.
    pub(super) region: Option<&'a Region>,
    pub(super) seed: u64,
    pub(super) turn: Turn,
    /// Half the side of the box of this turn.
    pub(super) reach: f64,
    pub(super) id: u64,
}

impl Proposer<'_> {
    pub(super) fn propose(&self, watch: &dyn Watch) -> Result<(Vec<f64>, Purpose)> {
        let mut stream = Stream::new(self.seed, "limits", self.id);
        let (Some(centre), false) = (self.results.centre(), self.is_anywhere()) else {
            return Ok((self.hope(None, &mut stream, watch)?, Purpose::Explore));
        };
        let at = &self.results.points[centre];
        let radius = self.reach;
        let side = |k: usize| ((at[k] - radius).max(0.0), (at[k] + radius).min(1.0));
        let (low, high): (Vec<f64>, Vec<f64>) = (0..at.len()).map(side).unzip();
        if matches!(self.turn, Turn::Wide | Turn::Bottom)
            && let Some(best) = self.results.best
            && let Some(x) = self.towards_the_bottom(best, &mut stream, watch)?
        {
            return Ok((x, Purpose::Exploit));
        }
        if self.turn == Turn::Leap
            && let Some(x) = self.leap(at, &low, &high, &mut stream, watch)?
        {
            return Ok((x, Purpose::Exploit));
        }
        // An equality is met by no point that is merely probable.
        let may_step = self.results.best.is_some() || self.limits.iter().any(Limit::is_equality);
        if self.turn != Turn::Hope
            && may_step
            && let Some(step) = self.step(centre, radius, &low, &high, &mut stream, watch)?
        {
            return Ok((step, Purpose::Exploit));
        }
        Ok((self.hope(Some((&low, &high)), &mut stream, watch)?, Purpose::Exploit))
    }

    /// Whether the turn is in the whole cube.
    fn is_anywhere(&self) -> bool {
        matches!(self.turn, Turn::Cube | Turn::Border)
    }

    /// The lowest mean of the objective where the means of the limits, with caution, are met; None if that is nowhere new.
    fn step(
        &self,
        centre: usize,
        radius: f64,
        low: &[f64],
        high: &[f64],
        stream: &mut Stream,
        watch: &dyn Watch,
    ) -> Result<Option<Vec<f64>>> {
        let own = match radius <= NEAR {
            true => near(self.results, self.limits, self.known, self.kinds, centre, radius, watch)?,
            false => None,
        };
        let at = &self.results.points[centre];
        let cautions = if self.pending.is_empty() { &LESS_AND_LESS[..] } else { &CAUTIONS[..] };
        let new = |x: Vec<f64>| self.new_point(x);
        match &own {
            Some((outlook, frame)) => {
                let (low, high) = (frame.inside(low), frame.inside(high));
                let walls = self.region.map(|region| Walls { region, frame: Some(frame) });
                let new = |x: Vec<f64>| new(frame.outside(&x));
                step(outlook, walls, &frame.inside(at), &low, &high, cautions, new, stream, watch)
            }
            None => {
                let walls = self.region.map(|region| Walls { region, frame: None });
                step(self.outlook, walls, at, low, high, cautions, new, stream, watch)
            }
        }
    }

    /// A step on the means of all results in the whole cube; None if it ends in the box around the best point. A box that has
    /// become small where the models were bad would take many steps to where they are good by now.
    fn leap(
        &self,
        centre: &[f64],
        low: &[f64],
        high: &[f64],
        stream: &mut Stream,
        watch: &dyn Watch,
    ) -> Result<Option<Vec<f64>>> {
        let d = centre.len();
        let walls = self.region.map(|region| Walls { region, frame: None });
        let is_outside = |x: &[f64]| (0..d).any(|k| x[k] < low[k] || x[k] > high[k]);
        let new = |x: Vec<f64>| self.new_point(x).filter(|x| is_outside(x));
        let cautions = &CAUTIONS[..1];
        step(self.outlook, walls, centre, &vec![0.0; d], &vec![1.0; d], cautions, new, stream, watch)
    }

    /// A step on the means around the lowest feasible result near the bottom of the objective's trend, or that bottom if
    /// there is none; None if there is no trend or its bottom is where the best result is. The bottom is known to some part of
    /// a ripple only, and no result there can be better than one that was improved to its last digits: so the search goes on
    /// there as if the best result were not.
    fn towards_the_bottom(
        &self,
        best: usize,
        stream: &mut Stream,
        watch: &dyn Watch,
    ) -> Result<Option<Vec<f64>>> {
        let Some(bottom) = self.bottom(stream, watch)? else { return Ok(None) };
        let reach = 0.5 * self.results.far(best, &bottom);
        if reach < LEAST_REACH {
            return Ok(None);
        }
        let Some(row) = self.results.lowest_near(self.limits, &bottom, reach) else {
            return Ok(self.new_point(bottom));
        };
        let at = &self.results.points[row];
        let side = |k: usize| ((at[k] - reach).max(0.0), (at[k] + reach).min(1.0));
        let (low, high): (Vec<f64>, Vec<f64>) = (0..at.len()).map(side).unzip();
        self.step(row, reach, &low, &high, stream, watch)
    }

    /// The lowest point of a draw of the objective's trend, among the results it is of, where the means of the limits are met.
    fn bottom(&self, stream: &mut Stream, watch: &dyn Watch) -> Result<Option<Vec<f64>>> {
        // What is known exactly has no ripples that are not known.
        if !matches!(self.outlook.objective.as_deref(), Some(Model::Process(_))) {
            return Ok(None);
        }
        let Some(trend) = Trend::draw(self.results, stream) else { return Ok(None) };
        let values: Vec<f64> = trend.rows.iter().filter_map(|&row| self.results.objective[row]).collect();
        let at = &self.results.points[trend.rows[0]];
        let side = |k: usize| {
            let along = || trend.rows.iter().map(|&row| self.results.points[row][k]);
            (along().fold(f64::INFINITY, f64::min), along().fold(f64::NEG_INFINITY, f64::max))
        };
        let (low, high): (Vec<f64>, Vec<f64>) = (0..at.len()).map(side).unzip();
        let known = Known { polynomial: trend.polynomial, sight: Sight::plain(&values), frame: None };
        let outlook = Outlook { objective: Some(Arc::new(Model::Known(known))), ..self.outlook.clone() };
        let walls = self.region.map(|region| Walls { region, frame: None });
        step(&outlook, walls, at, &low, &high, &CAUTIONS[..1], Some, stream, watch)
    }

    /// The point where constraints between inputs are met, unless it was measured or is under way.
    fn new_point(&self, x: Vec<f64>) -> Option<Vec<f64>> {
        // To the last digit: a step ends at a border but for rounding.
        let x = match self.region {
            Some(region) => region.nearest(&x)?,
            None => x,
        };
        (self.results.nearest(&x) > SAME && self.is_apart(&x)).then_some(x)
    }

    /// Whether a point is not one that is under way.
    fn is_apart(&self, x: &[f64]) -> bool {
        let near = 0.05 * self.radius;
        let is_near = |other: &&[f64]| x.iter().zip(other.iter()).all(|(a, b)| (a - b).abs() < near);
        !self.pending.iter().any(is_near)
    }

    /// The best hope in a box or in the whole cube; anywhere there, if it was measured.
    fn hope(
        &self,
        sides: Option<(&[f64], &[f64])>,
        stream: &mut Stream,
        watch: &dyn Watch,
    ) -> Result<Vec<f64>> {
        let d = self.results.points[0].len();
        let whole = (vec![0.0; d], vec![1.0; d]);
        let (low, high) = sides.unwrap_or((&whole.0, &whole.1));
        let x = self.best_hope(low, high, stream, watch)?;
        if self.results.nearest(&x) > SAME {
            return Ok(x);
        }
        Ok((0..d).map(|k| low[k] + stream.uniform() * (high[k] - low[k])).collect())
    }

    /// Where an improvement that is feasible is most probable in a box; or where most can be learned about the border of what
    /// is feasible, if it is the turn for that.
    fn best_hope(
        &self,
        low: &[f64],
        high: &[f64],
        stream: &mut Stream,
        watch: &dyn Watch,
    ) -> Result<Vec<f64>> {
        let d = low.len();
        let pending = Mat::from_fn(self.pending.len(), d, |i, k| self.pending[i][k]);
        let expected = self.outlook.hallucinate(pending.as_ref())?;
        let anchor: Option<&dyn Posterior> = match &expected.objective {
            Some(objective) => Some(&**objective),
            None => expected.limited.iter().flatten().next().map(|posterior| &**posterior),
        };
        let anchor = anchor.ok_or(Error::Empty { what: "models of the outputs" })?;
        let centre = self.results.centre();
        let best = match (self.results.best, &self.outlook.objective) {
            (Some(row), Some(objective)) => {
                let at = Mat::from_fn(1, d, |_, k| self.results.points[row][k]);
                Some(objective.posterior().predict(at.as_ref())?.mean[0])
            }
            _ => None,
        };
        let known = Mat::from_fn(usize::from(centre.is_some()), d, |_, k| {
            centre.map_or(0.5, |row| self.results.points[row][k])
        });
        let function: Box<dyn Acquisition + '_> = match (self.turn, best) {
            (Turn::Border, Some(best)) => Box::new(Border { expected: &expected, best }),
            _ => Box::new(Hopes { expected: &expected, best }),
        };
        let search = Search { candidates: 512, rounds: 24, evaluations: 1_500, ..Search::default() };
        let found = match self.region {
            None => maximise(&*function, anchor, low, high, known.as_ref(), &search, stream, watch)?,
            Some(region) => maximise_inside(
                region,
                &*function,
                anchor,
                low,
                high,
                known.as_ref(),
                &search,
                stream,
                watch,
            )?,
        };
        Ok(found.x)
    }

    /// For each limit the probability that it is met at the point where all of them are most probably met: what there is to hope
    /// for as long as nothing is feasible.
    pub(super) fn hopes(&self, watch: &dyn Watch) -> Result<Vec<LimitKnown>> {
        let mut stream = Stream::new(self.seed, "the most promising point", 0);
        let d = self.results.points[0].len();
        let is_any = self.outlook.objective.is_some() || self.outlook.limited.iter().any(Option::is_some);
        let x = match is_any {
            true => self.best_hope(&vec![0.0; d], &vec![1.0; d], &mut stream, watch)?,
            // No output has ever changed: all points are alike.
            false => vec![0.5; d],
        };
        let at = Mat::from_fn(1, d, |_, k| x[k]);
        let mut known = vec![];
        for (number, limit) in self.limits.iter().enumerate() {
            let probability = match &self.outlook.limited[number] {
                Some(model) => {
                    let prediction = model.posterior().predict(at.as_ref())?;
                    let sides = self.outlook.sides.iter().filter(|side| side.limit == number);
                    let chance = |side| Hopes::chance(side, prediction.mean[0], prediction.var[0]).0;
                    sides.map(chance).sum::<f64>().exp()
                }
                // It was never measured, or is the same everywhere.
                None => {
                    let mut values = self.results.limited.iter().filter_map(|row| row[number]);
                    f64::from(u8::from(values.next().is_some_and(|value| limit.is_met(value))))
                }
            };
            known.push(LimitKnown { probability, worth: None });
        }
        Ok(known)
    }
}

/// The lowest mean of the objective in a box where the means of the limits are met, with the first of the cautions that leads
/// to a point that `new` makes of it.
fn step(
    outlook: &Outlook,
    walls: Option<Walls<'_>>,
    centre: &[f64],
    low: &[f64],
    high: &[f64],
    cautions: &[f64],
    new: impl Fn(Vec<f64>) -> Option<Vec<f64>>,
    stream: &mut Stream,
    watch: &dyn Watch,
) -> Result<Option<Vec<f64>>> {
    let n_sides = outlook.modelled().count();
    let starts = starts(outlook, centre, low, high, stream)?;
    let Some(bold) = solve(outlook, walls, &vec![0.0; n_sides], low, high, &starts, watch)? else {
        return Ok(None);
    };
    let deviations = outlook.deviations(&bold.x)?;
    let starts = [bold.x.clone(), centre.to_vec()];
    for caution in cautions {
        let equal = outlook.modelled().map(|side| side.equal);
        let margins: Vec<f64> =
            deviations.iter().zip(equal).map(|(sd, equal)| if equal { 0.0 } else { caution * sd }).collect();
        let careful = solve(outlook, walls, &margins, low, high, &starts, watch)?;
        let x = match careful {
            Some(careful) if careful.violation <= 10.0 * VIOLATION => careful.x,
            _ => bold.x.clone(),
        };
        if let Some(x) = new(x) {
            return Ok(Some(x));
        }
    }
    Ok(None)
}

/// Points to begin from: the best, and those of a random sample that the means like best.
fn starts(
    outlook: &Outlook,
    centre: &[f64],
    low: &[f64],
    high: &[f64],
    stream: &mut Stream,
) -> Result<Vec<Vec<f64>>> {
    let d = centre.len();
    let points = Mat::from_fn(CANDIDATES, d, |_, k| low[k] + stream.uniform() * (high[k] - low[k]));
    let means = outlook.means(points.as_ref())?;
    let merit =
        |i: usize| means.objective[i] + 10.0 * means.sides.iter().map(|side| side[i].max(0.0)).sum::<f64>();
    let mut order: Vec<(f64, usize)> = (0..CANDIDATES).map(|i| (merit(i), i)).collect();
    order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let drawn = order.iter().take(STARTS).map(|&(_, i)| (0..d).map(|k| points[(i, k)]).collect());
    Ok(std::iter::once(centre.to_vec()).chain(drawn).collect())
}

/// What the models say about each limit at the best result: the probability that it is met there, and what it is worth to move
/// it.
pub(super) fn known(
    results: &Results,
    limits: &[Limit],
    outlook: &Outlook,
    recognised: &Recognised,
    kinds: &[Option<Kind>],
    region: Option<&Region>,
    centre: usize,
    radius: f64,
    sign: f64,
    watch: &dyn Watch,
) -> Result<Vec<LimitKnown>> {
    let own = near(results, limits, recognised, kinds, centre, radius.clamp(KNOWN_RADIUS, NEAR), watch)?;
    let (outlook, at) = match &own {
        Some((near, frame)) => (near, frame.inside(&results.points[centre])),
        None => (outlook, results.points[centre].clone()),
    };
    let (low, high) = (vec![0.0; at.len()], vec![1.0; at.len()]);
    let sides: Vec<Side> = outlook.modelled().copied().collect();
    let walls = region.map(|region| Walls { region, frame: own.as_ref().map(|(_, frame)| frame) });
    let solution =
        solve(outlook, walls, &vec![0.0; sides.len()], &low, &high, std::slice::from_ref(&at), watch)?;
    let x = Mat::from_fn(1, at.len(), |_, k| at[k]);
    let (means, deviations) = (outlook.means(x.as_ref())?, outlook.deviations(&at)?);
    let mut known: Vec<LimitKnown> = limits
        .iter()
        .enumerate()
        .map(|(number, limit)| {
            let is_met = results.limited[centre][number].is_some_and(|value| limit.is_met(value));
            LimitKnown { probability: f64::from(u8::from(is_met)), worth: None }
        })
        .collect();
    for (j, side) in sides.iter().enumerate() {
        let known = &mut known[side.limit];
        if deviations[j] > DOUBT {
            known.probability = normal::cdf((side.tolerance - means.sides[j][0]) / deviations[j]);
        }
        if let Some(solution) = &solution
            && solution.violation <= 10.0 * VIOLATION
            && solution.multipliers[j].abs() > 1e-6
        {
            // Moving an upper limit up lets the objective fall, moving a lower one up lifts it.
            let change = -side.sign * solution.multipliers[j] * side.slope / outlook.slope;
            known.worth = Some(known.worth.unwrap_or(0.0) + sign * change);
        }
    }
    Ok(known)
}
