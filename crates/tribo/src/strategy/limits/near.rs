//! The models near the best point, for the last digits.
//!
//! A model of all results cannot tell a stress of 200.0 from one of 200.1 if it has seen 1e6 elsewhere: what it says is good
//! to some part of the whole range. So a step is taken on models of the results near by alone, in coordinates in which those
//! fill the cube, and their values standardised anew. As the box shrinks, so does what such models are wrong by.

use super::models::{Recognised, conditioned, fit_all};
use super::outlook::Outlook;
use super::output::{self, KINDS, Kind, Rows};
use super::results::Results;
use crate::error::Result;
use crate::limit::Limit;
use crate::surrogate::watch::Watch;

/// Results are near if they are not farther away than so many radii.
const REACH: f64 = 2.0;
/// Results near by at most; and at least, for each coordinate and besides.
const MOST: usize = 90;
const LEAST: (usize, usize) = (2, 4);
/// Results closer than this part of the reach to a better one are left out: they tell nothing but make the process ill-conditioned.
const SPACING: f64 = 1e-4;

/// A box that fills the cube.
#[derive(Clone)]
pub(super) struct Frame {
    low: Vec<f64>,
    pub(super) width: Vec<f64>,
}

impl Frame {
    /// The coordinates of a point in which the box is the cube.
    pub(super) fn inside(&self, u: &[f64]) -> Vec<f64> {
        (0..u.len()).map(|k| (u[k] - self.low[k]) / self.width[k]).collect()
    }

    /// The point of such coordinates, wherever it is.
    pub(super) fn beyond(&self, t: &[f64]) -> Vec<f64> {
        (0..t.len()).map(|k| self.low[k] + t[k] * self.width[k]).collect()
    }

    /// The point of such coordinates, in the cube.
    pub(super) fn outside(&self, t: &[f64]) -> Vec<f64> {
        (0..t.len()).map(|k| (self.low[k] + t[k] * self.width[k]).clamp(0.0, 1.0)).collect()
    }
}

/// Models of the results near `centre`, and their coordinates; None where all results are near, so that the models of all
/// serve.
pub(super) fn near(
    results: &Results,
    limits: &[Limit],
    known: &Recognised,
    kinds: &[Option<Kind>],
    centre: usize,
    radius: f64,
    watch: &dyn Watch,
) -> Result<Option<(Outlook, Frame)>> {
    let at = &results.points[centre];
    let d = at.len();
    let far = |row: usize| results.points[row].iter().zip(at).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    let mut order: Vec<(f64, usize)> = (0..results.points.len()).map(|row| (far(row), row)).collect();
    order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let least = LEAST.0 * d + LEAST.1;
    let mut kept: Vec<usize> = vec![];
    let mut reach = 0.0;
    for (distance, row) in order {
        if kept.len() >= MOST || (distance > REACH * radius && kept.len() >= least) {
            break;
        }
        let spacing = SPACING * distance.max(radius.min(REACH * radius));
        let apart = |other: &usize| {
            let pairs = results.points[row].iter().zip(&results.points[*other]);
            pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max) >= spacing
        };
        if kept.iter().all(apart) {
            kept.push(row);
            reach = distance;
        }
    }
    if kept.len() == results.points.len() {
        return Ok(None);
    }
    kept.sort_unstable();
    let reach = f64::max(reach, 1e-9);
    let side = |k: usize| ((at[k] - reach).max(0.0), (at[k] + reach).min(1.0));
    let low: Vec<f64> = (0..d).map(|k| side(k).0).collect();
    let width = (0..d).map(|k| side(k).1 - side(k).0).collect();
    let frame = Frame { low, width };
    let mut own = Results::default();
    for row in kept {
        let u = frame.inside(&results.points[row]);
        own.enter(limits, u, results.objective[row], &results.limited[row]);
    }
    let n = own.points.len();
    // Near by most outputs are smooth, and else what they are everywhere.
    let fit = |number: usize, rows: &Rows<'_>| match kinds.get(number).copied().flatten() {
        Some(kind) if kind != KINDS[0] => output::choose(rows, &[KINDS[0], kind], watch),
        _ => output::choose(rows, &KINDS[..1], watch),
    };
    let fits = fit_all(&own, limits, n, known, fit)?;
    Ok(Some((conditioned(&own, limits, n, &fits, Some(&frame))?, frame)))
}
