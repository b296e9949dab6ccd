//! The models of all outputs, made when they are needed: each is a function of the results in the order told.
//!
//! Kinds of models are chosen by evidence at growing numbers of results, hyper-parameters are fitted at more of them, and in
//! between models take in what is new. All three are functions of the number of results alone, so a study that goes on after
//! an interruption makes the same models again, and nothing of them is written down.

use super::outlook::{self, Outlook};
use super::output::{self, Fitted, Rows};
use super::results::Results;
use crate::error::Result;
use crate::limit::Limit;
use crate::surrogate::watch::Watch;
use rayon::prelude::*;
use std::sync::Arc;

/// Growth of the number of results between two choices of kinds, and between two fits beyond so many results.
const CHOICE_GROWTH: f64 = 1.3;
const FIT_GROWTH: f64 = 1.1;
const ALWAYS_FITTED: usize = 60;
/// Results that models are made of, at most.
pub(super) const MOST: usize = 400;

/// Fits of all outputs at some number of results: the objective first, then the limited ones.
pub(super) type Fits = Vec<Option<Fitted>>;

/// What was made so far.
#[derive(Default)]
pub(super) struct Models {
    chosen: Option<(usize, Fits)>,
    fitted: Option<(usize, Fits)>,
    outlook: Option<(usize, Outlook)>,
}

impl Models {
    /// The models of all results; `first` were there when the first model was wanted.
    pub(super) fn outlook(
        &mut self,
        results: &Results,
        limits: &[Limit],
        first: usize,
        watch: &dyn Watch,
    ) -> Result<&Outlook> {
        let n = results.points.len();
        if n > MOST {
            // The models of all are those of a part that is near the best and a part from everywhere.
            if self.outlook.as_ref().is_none_or(|(made, _)| *made != n) {
                let part = results.part(limits, MOST);
                let fits = fit_all(&part, limits, MOST, |_, rows| output::choose(rows, watch))?;
                self.outlook = Some((n, conditioned(&part, limits, MOST, &fits)?));
            }
        } else if self.outlook.as_ref().is_none_or(|(made, _)| *made != n) {
            let at = last_of(first, CHOICE_GROWTH, 0, n);
            if self.chosen.as_ref().is_none_or(|(made, _)| *made != at) {
                let fits = fit_all(results, limits, at, |_, rows| output::choose(rows, watch))?;
                self.chosen = Some((at, fits));
            }
            let (_, chosen) = self.chosen.as_ref().unwrap_or(&NONE);
            let at = last_of(first, FIT_GROWTH, ALWAYS_FITTED, n);
            if self.fitted.as_ref().is_none_or(|(made, _)| *made != at) {
                let again = |number: usize, rows: &Rows<'_>| match chosen.get(number) {
                    Some(Some(last)) => output::refit(rows, last, watch),
                    _ => output::choose(rows, watch),
                };
                let fits = fit_all(results, limits, at, again)?;
                self.fitted = Some((at, fits));
            }
            let (_, fits) = self.fitted.as_ref().unwrap_or(&NONE);
            self.outlook = Some((n, conditioned(results, limits, n, fits)?));
        }
        match &self.outlook {
            Some((_, outlook)) => Ok(outlook),
            None => Err(crate::error::Error::Empty { what: "models of the outputs" }),
        }
    }
}

static NONE: (usize, Fits) = (0, vec![]);

/// The last number of results, at most n, at which something is done that is done at `first` and always until `always`.
fn last_of(first: usize, growth: f64, always: usize, n: usize) -> usize {
    if n <= always.max(first) {
        return n;
    }
    let mut at = first.max(always).max(1);
    loop {
        let next = (at as f64 * growth).ceil() as usize;
        if next > n {
            return at;
        }
        at = next;
    }
}

/// Rows of every output among the first n results, the objective first.
fn rows<'a>(results: &'a Results, limits: &[Limit], n: usize) -> Vec<Rows<'a>> {
    let limited = limits.iter().enumerate().map(|(number, limit)| results.of_limit(n, number, limit));
    std::iter::once(results.of_objective(n)).chain(limited).collect()
}

/// Fits of all outputs that have values that differ.
pub(super) fn fit_all(
    results: &Results,
    limits: &[Limit],
    n: usize,
    fit: impl Fn(usize, &Rows<'_>) -> Result<Fitted> + Sync,
) -> Result<Fits> {
    let rows = rows(results, limits, n);
    let one = |(number, rows): (usize, &Rows<'_>)| {
        let changes = rows.values.iter().any(|value| *value != rows.values[0]);
        changes.then(|| fit(number, rows)).transpose()
    };
    rows.par_iter().enumerate().map(one).collect()
}

/// All outputs conditioned on the first n results.
pub(super) fn conditioned(results: &Results, limits: &[Limit], n: usize, fits: &Fits) -> Result<Outlook> {
    let rows = rows(results, limits, n);
    let condition = |(fit, rows): (&Option<Fitted>, &Rows<'_>)| {
        fit.as_ref().map(|fit| output::condition(rows, fit).map(Arc::new)).transpose()
    };
    let mut posteriors = fits.iter().zip(&rows).map(condition).collect::<Result<Vec<_>>>()?;
    let objective = if posteriors.is_empty() { None } else { posteriors.remove(0) };
    let mut sights = fits.iter().map(|fit| fit.as_ref().map(|fit| fit.sight));
    let sights = (sights.next().flatten(), sights.collect::<Vec<_>>());
    let slope = sights.0.map_or(1.0, |sight| sight.slope(rows[0].centre));
    let sides = outlook::sides(limits, &sights.1);
    Ok(Outlook { objective, slope, limited: posteriors, sights, sides })
}
