//! One proposal under limits.

use super::near::near;
use super::outlook::{Hopes, Outlook, Side};
use super::results::Results;
use super::solve::{VIOLATION, solve};
use super::walls::Walls;
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

/// Of so many proposals one looks over the whole cube.
const GLOBAL_EVERY: usize = 4;
/// Standard deviations of the limits that a step keeps away from them.
const CAUTION: f64 = 1.0;
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
const SAME: f64 = 1e-7;

pub(super) struct Proposer<'a> {
    pub(super) limits: &'a [Limit],
    pub(super) results: &'a Results,
    pub(super) outlook: &'a Outlook,
    pub(super) pending: Vec<&'a [f64]>,
    pub(super) radius: f64,
    /// Where constraints between inputs are met, if there are any.
    pub(super) region: Option<&'a Region>,
    pub(super) seed: u64,
    pub(super) turn: usize,
    pub(super) id: u64,
}

impl Proposer<'_> {
    pub(super) fn propose(&self, watch: &dyn Watch) -> Result<(Vec<f64>, Purpose)> {
        let mut stream = Stream::new(self.seed, "limits", self.id);
        let is_global = self.turn % GLOBAL_EVERY == GLOBAL_EVERY - 1;
        let centre = self.results.best.or_else(|| self.results.least_violated(self.limits));
        let (Some(centre), false) = (centre, is_global) else {
            return Ok((self.hope(None, &mut stream, watch)?, Purpose::Explore));
        };
        let at = &self.results.points[centre];
        let side = |k: usize| ((at[k] - self.radius).max(0.0), (at[k] + self.radius).min(1.0));
        let (low, high): (Vec<f64>, Vec<f64>) = (0..at.len()).map(side).unzip();
        // An equality is met by no point that is merely probable.
        if (self.results.best.is_some() || self.limits.iter().any(Limit::is_equality))
            && let Some(step) = self.step(centre, &low, &high, &mut stream, watch)?
        {
            return Ok((step, Purpose::Exploit));
        }
        Ok((self.hope(Some((&low, &high)), &mut stream, watch)?, Purpose::Exploit))
    }

    /// The lowest mean of the objective where the means of the limits, with caution, are met; None if that is nowhere new.
    fn step(
        &self,
        centre: usize,
        low: &[f64],
        high: &[f64],
        stream: &mut Stream,
        watch: &dyn Watch,
    ) -> Result<Option<Vec<f64>>> {
        let own = match self.radius <= NEAR {
            true => near(self.results, self.limits, centre, self.radius, watch)?,
            false => None,
        };
        let at = &self.results.points[centre];
        let x = match &own {
            Some((outlook, frame)) => {
                let (low, high) = (frame.inside(low), frame.inside(high));
                let walls = self.region.map(|region| Walls { region, frame: Some(frame) });
                let x = step(outlook, walls, &frame.inside(at), &low, &high, stream, watch)?;
                x.map(|x| frame.outside(&x))
            }
            None => {
                let walls = self.region.map(|region| Walls { region, frame: None });
                step(self.outlook, walls, at, low, high, stream, watch)?
            }
        };
        // To the last digit: a step ends at a border but for rounding.
        let x = match self.region {
            Some(region) => x.and_then(|x| region.nearest(&x)),
            None => x,
        };
        Ok(x.filter(|x| self.results.nearest(x) > SAME && self.is_apart(x)))
    }

    /// Whether a point is not one that is under way.
    fn is_apart(&self, x: &[f64]) -> bool {
        let near = 0.05 * self.radius;
        let is_near = |other: &&[f64]| x.iter().zip(other.iter()).all(|(a, b)| (a - b).abs() < near);
        !self.pending.iter().any(is_near)
    }

    /// Where an improvement that is feasible is most probable, in a box or in the whole cube.
    fn hope(
        &self,
        sides: Option<(&[f64], &[f64])>,
        stream: &mut Stream,
        watch: &dyn Watch,
    ) -> Result<Vec<f64>> {
        let d = self.results.points[0].len();
        let whole = (vec![0.0; d], vec![1.0; d]);
        let (low, high) = sides.unwrap_or((&whole.0, &whole.1));
        let pending = Mat::from_fn(self.pending.len(), d, |i, k| self.pending[i][k]);
        let expected = self.outlook.hallucinate(pending.as_ref())?;
        let anchor: Option<&dyn Posterior> = match &expected.objective {
            Some(objective) => Some(&**objective),
            None => expected.limited.iter().flatten().next().map(|posterior| &**posterior),
        };
        let anchor = anchor.ok_or(Error::Empty { what: "models of the outputs" })?;
        let centre = self.results.best.or_else(|| self.results.least_violated(self.limits));
        let best = match (self.results.best, &self.outlook.objective) {
            (Some(row), Some(objective)) => {
                let at = Mat::from_fn(1, d, |_, k| self.results.points[row][k]);
                Some(objective.predict(at.as_ref())?.mean[0])
            }
            _ => None,
        };
        let known = Mat::from_fn(usize::from(centre.is_some()), d, |_, k| {
            centre.map_or(0.5, |row| self.results.points[row][k])
        });
        let hopes = Hopes { expected: &expected, best };
        let search = Search { candidates: 512, rounds: 24, evaluations: 1_500, ..Search::default() };
        let found = match self.region {
            None => maximise(&hopes, anchor, low, high, known.as_ref(), &search, stream, watch)?,
            Some(region) => {
                maximise_inside(region, &hopes, anchor, low, high, known.as_ref(), &search, stream, watch)?
            }
        };
        if self.results.nearest(&found.x) > SAME {
            return Ok(found.x);
        }
        // Nothing new is hoped for there: anywhere in the box.
        Ok((0..d).map(|k| low[k] + stream.uniform() * (high[k] - low[k])).collect())
    }
}

/// The lowest mean of the objective in a box where the means of the limits, with caution, are met.
fn step(
    outlook: &Outlook,
    walls: Option<Walls<'_>>,
    centre: &[f64],
    low: &[f64],
    high: &[f64],
    stream: &mut Stream,
    watch: &dyn Watch,
) -> Result<Option<Vec<f64>>> {
    let n_sides = outlook.modelled().count();
    let starts = starts(outlook, centre, low, high, stream)?;
    let Some(bold) = solve(outlook, walls, &vec![0.0; n_sides], low, high, &starts, watch)? else {
        return Ok(None);
    };
    let deviations = outlook.deviations(&bold.x)?;
    let equal = outlook.modelled().map(|side| side.equal);
    let margins: Vec<f64> =
        deviations.iter().zip(equal).map(|(sd, equal)| if equal { 0.0 } else { CAUTION * sd }).collect();
    let starts = [bold.x.clone(), centre.to_vec()];
    let careful = solve(outlook, walls, &margins, low, high, &starts, watch)?;
    Ok(Some(match careful {
        Some(careful) if careful.violation <= 10.0 * VIOLATION => careful.x,
        _ => bold.x,
    }))
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

/// What the models say about each limit at the best point, or at the one that is least beyond: the probability that it is
/// met, and what it is worth to move it.
pub(super) fn known(
    results: &Results,
    limits: &[Limit],
    outlook: &Outlook,
    region: Option<&Region>,
    radius: f64,
    sign: f64,
    watch: &dyn Watch,
) -> Result<Vec<LimitKnown>> {
    let Some(centre) = results.best.or_else(|| results.least_violated(limits)) else { return Ok(vec![]) };
    let own = near(results, limits, centre, radius.clamp(KNOWN_RADIUS, NEAR), watch)?;
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
            && results.best.is_some()
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
