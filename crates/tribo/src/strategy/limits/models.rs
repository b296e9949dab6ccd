//! The models of all outputs, made when they are needed: each is a function of the results in the order told.
//!
//! Kinds of models are chosen by evidence at growing numbers of results, hyper-parameters are fitted at more of them, and in
//! between models take in what is new. All three are functions of the number of results alone, so a study that goes on after
//! an interruption makes the same models again, and nothing of them is written down.

use super::near::Frame;
use super::outlook::{self, Outlook};
use super::output::{self, Fitted, KINDS, Kind, Rows};
use super::polynomial::{Polynomial, Recognition};
use super::results::Results;
use super::sight::Sight;
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

/// The outputs that are polynomials, the objective first, and whether of their squares.
pub(super) type Recognised = Vec<Option<(Polynomial, bool)>>;

/// What was made so far.
#[derive(Default)]
pub(super) struct Models {
    /// The search for polynomials of every output and of its square.
    recognitions: Vec<[Recognition; 2]>,
    recognised: Recognised,
    kinds: Vec<Option<Kind>>,
    chosen: Option<(usize, Fits)>,
    fitted: Option<(usize, Fits)>,
    /// Fits of a part of very many results.
    fitted_of_part: Option<(usize, Fits)>,
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
        if self.outlook.as_ref().is_some_and(|(made, _)| *made == n) {
            return self.current();
        }
        self.recognised = self.recognise(results, limits, n);
        if n > MOST {
            return self.outlook_of_part(results, limits, watch);
        }
        let at = last_of(first, FIT_GROWTH, ALWAYS_FITTED, n);
        // The choice that the fit began from when it was made, whatever could have been chosen since.
        let chosen_at = last_of(first, CHOICE_GROWTH, 0, at);
        if self.chosen.as_ref().is_none_or(|(made, _)| *made != chosen_at) {
            let known = self.recognise(results, limits, chosen_at);
            let choose = |_, rows: &Rows<'_>| output::choose(rows, &KINDS, watch);
            self.chosen = Some((chosen_at, fit_all(results, limits, chosen_at, &known, choose)?));
        }
        if self.fitted.as_ref().is_none_or(|(made, _)| *made != at) {
            let known = self.recognise(results, limits, at);
            let (_, chosen) = self.chosen.as_ref().unwrap_or(&NONE);
            let again = |number: usize, rows: &Rows<'_>| match chosen.get(number) {
                Some(Some(last)) => output::refit(rows, last, watch),
                _ => output::choose(rows, &KINDS, watch),
            };
            let fits = fit_all(results, limits, at, &known, again)?;
            self.fitted = Some((at, fits));
        }
        // What is a polynomial now, or is none any more, was perhaps not so at the last fit.
        let (_, fitted) = self.fitted.as_ref().unwrap_or(&NONE);
        let kept = |number: usize, rows: &Rows<'_>| match fitted.get(number) {
            Some(Some(last @ Fitted::Process(_))) => Ok(last.clone()),
            _ => output::choose(rows, &KINDS, watch),
        };
        let fits = fit_all(results, limits, n, &self.recognised, kept)?;
        self.kinds = kinds(&fits);
        self.outlook = Some((n, conditioned(results, limits, n, &fits, None)?));
        self.current()
    }

    /// The models of very many results: those of a part that is near the best and a part from everywhere. What was chosen for
    /// the part of some results serves until there are a tenth more.
    fn outlook_of_part(
        &mut self,
        results: &Results,
        limits: &[Limit],
        watch: &dyn Watch,
    ) -> Result<&Outlook> {
        let n = results.points.len();
        let at = last_of(MOST, FIT_GROWTH, 0, n);
        if self.fitted_of_part.as_ref().is_none_or(|(made, _)| *made != at) {
            let known = self.recognise(results, limits, at);
            let part = results.part(limits, at, MOST);
            let fits = fit_all(&part, limits, MOST, &known, |_, rows| output::choose(rows, &KINDS, watch))?;
            self.fitted_of_part = Some((at, fits));
        }
        let part = results.part(limits, n, MOST);
        let (_, fitted) = self.fitted_of_part.as_ref().unwrap_or(&NONE);
        let kept = |number: usize, rows: &Rows<'_>| match fitted.get(number) {
            Some(Some(last @ Fitted::Process(_))) => Ok(last.clone()),
            _ => output::choose(rows, &KINDS, watch),
        };
        let fits = fit_all(&part, limits, MOST, &self.recognised, kept)?;
        self.kinds = kinds(&fits);
        self.outlook = Some((n, conditioned(&part, limits, MOST, &fits, None)?));
        self.current()
    }

    /// The models that were made last.
    pub(super) fn current(&self) -> Result<&Outlook> {
        match &self.outlook {
            Some((_, outlook)) => Ok(outlook),
            None => Err(crate::error::Error::Empty { what: "models of the outputs" }),
        }
    }
}

impl Models {
    /// Which outputs are polynomials, by the first n results.
    fn recognise(&mut self, results: &Results, limits: &[Limit], n: usize) -> Recognised {
        self.recognitions.resize(1 + limits.len(), Default::default());
        let one = |(recognition, rows): (&mut [Recognition; 2], Rows<'_>)| {
            let [plain, square] = recognition;
            if let Some(found) = plain.of(&rows.points, &rows.values) {
                return Some((found.clone(), false));
            }
            // A bound below zero has no square that says the same.
            if !rows.may_be_squared || rows.values.iter().any(|value| *value < 0.0) {
                return None;
            }
            let squares: Vec<f64> = rows.values.iter().map(|value| value * value).collect();
            square.of(&rows.points, &squares).map(|found| (found.clone(), true))
        };
        self.recognitions.iter_mut().zip(rows(results, limits, n)).map(one).collect()
    }

    /// The kinds of processes of the last outlook.
    pub(super) fn kinds(&self) -> &[Option<Kind>] {
        &self.kinds
    }

    /// The outputs that are polynomials, as of the last outlook.
    pub(super) fn recognised(&self) -> &Recognised {
        &self.recognised
    }
}

fn kinds(fits: &Fits) -> Vec<Option<Kind>> {
    fits.iter().map(|fit| fit.as_ref().and_then(Fitted::kind)).collect()
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

/// Fits of all outputs that have values that differ; those that are known need none.
pub(super) fn fit_all(
    results: &Results,
    limits: &[Limit],
    n: usize,
    known: &Recognised,
    fit: impl Fn(usize, &Rows<'_>) -> Result<Fitted> + Sync,
) -> Result<Fits> {
    let rows = rows(results, limits, n);
    let one = |(number, rows): (usize, &Rows<'_>)| {
        if let Some(Some((polynomial, is_square))) = known.get(number) {
            let sight = if *is_square { Sight::square(&rows.values) } else { Sight::plain(&rows.values) };
            return Ok(Some(Fitted::Known(sight, polynomial.clone())));
        }
        let changes = rows.values.iter().any(|value| *value != rows.values[0]);
        changes.then(|| fit(number, rows)).transpose()
    };
    rows.par_iter().enumerate().map(one).collect()
}

/// All outputs conditioned on the first n results, whose points are in the coordinates of a frame.
pub(super) fn conditioned(
    results: &Results,
    limits: &[Limit],
    n: usize,
    fits: &Fits,
    frame: Option<&Frame>,
) -> Result<Outlook> {
    let rows = rows(results, limits, n);
    let condition = |(fit, rows): (&Option<Fitted>, &Rows<'_>)| {
        fit.as_ref().map(|fit| output::condition(rows, fit, frame).map(Arc::new)).transpose()
    };
    let mut posteriors = fits.iter().zip(&rows).map(condition).collect::<Result<Vec<_>>>()?;
    let objective = if posteriors.is_empty() { None } else { posteriors.remove(0) };
    let mut sights = fits.iter().map(|fit| fit.as_ref().map(Fitted::sight));
    let sights = (sights.next().flatten(), sights.collect::<Vec<_>>());
    let slope = sights.0.map_or(1.0, |sight| sight.slope(rows[0].centre));
    let sides = outlook::sides(limits, &sights.1);
    Ok(Outlook { objective, slope, limited: posteriors, sights, sides })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problems::limited;
    use crate::rng::Stream;
    use crate::surrogate::watch::Unwatched;
    use faer::Mat;

    /// Models of all results so far, made one result after the other with some left out, are those made at once.
    fn are_the_same(name: &str, seed: u64, from: usize, to: usize, compared: usize) {
        let problem = limited(name).unwrap();
        let (limits, d, first) = (problem.limits(), problem.low().len(), problem.low().len() + 2);
        let mut stream = Stream::new(seed, "results, and where they are compared", 0);
        let (mut results, mut kept) = (Results::default(), Models::default());
        let at: Vec<usize> = (0..compared).map(|_| from + stream.below(to + 1 - from)).collect();
        for n in 1..=to {
            let u: Vec<f64> = (0..d).map(|_| stream.uniform()).collect();
            let x: Vec<f64> =
                (0..d).map(|k| problem.low()[k] + u[k] * (problem.high()[k] - problem.low()[k])).collect();
            let (value, limited) = problem.evaluate(&x).unwrap();
            let mut limited: Vec<Option<f64>> = limited.into_iter().map(Some).collect();
            limited[0] = limited[0].filter(|_| n % 7 != 3);
            results.enter(limits, u, Some(value).filter(|_| n % 9 != 5), &limited);
            // Several results may come between two proposals.
            if n >= first.max(from) && (stream.below(3) > 0 || at.contains(&n)) {
                kept.outlook(&results, limits, first, &Unwatched).unwrap();
            }
            if at.contains(&n) {
                let mut fresh = Models::default();
                fresh.outlook(&results, limits, first, &Unwatched).unwrap();
                let now = |models: &Models| models.fitted.clone().filter(|_| n <= MOST);
                assert_eq!(now(&kept), now(&fresh), "{name}, seed {seed}: {n} results");
                assert_eq!(kept.recognised, fresh.recognised, "{name}, seed {seed}: {n} results");
                let probe = Mat::from_fn(5, d, |i, k| 0.1 + 0.15 * i as f64 + 0.01 * k as f64);
                let means = |models: &Models| models.current().unwrap().means(probe.as_ref()).unwrap();
                let (kept, fresh) = (means(&kept), means(&fresh));
                assert_eq!(kept.objective, fresh.objective, "{name}, seed {seed}: {n} results");
                assert_eq!(kept.sides, fresh.sides, "{name}, seed {seed}: {n} results");
            }
        }
    }

    #[test]
    fn models_are_a_function_of_the_results_however_they_came_about() {
        are_the_same("g24", 1, 4, 110, 30);
        are_the_same("spring", 2, 55, 95, 12);
    }

    #[test]
    fn models_of_a_part_are_a_function_of_the_results() {
        are_the_same("g24", 3, 399, 404, 3);
    }
}
