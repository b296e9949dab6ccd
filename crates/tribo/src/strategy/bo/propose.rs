//! One proposal: the point of an embedding's unit cube that is worth most, by the acquisition or by the variance.
//!
//! With a trust region the acquisition is maximised in the box of the current local search. If that search turns out to
//! be over, the proposal is where the next one begins. Nothing is changed here: what was decided goes back with the
//! point.

use super::chance::{Chance, Chanced};
use super::grid::Grid;
use super::local_search::LocalSearches;
use super::model_cache::Prepared;
use super::results::{BestFew, INCUMBENTS, Results};
use crate::acquisition::maximize::{Search, maximise, maximise_cmaes, maximise_inside};
use crate::acquisition::{
    Acquisition as Function, ConfidenceBound, ExpectedImprovement, KnowledgeGradient, LogExpectedImprovement,
    LogMeanImprovement, PosteriorVariance, ProbabilityOfImprovement, kappa, portfolio,
};
use crate::error::Result;
use crate::rng::Stream;
use crate::space::formula::Region;
use crate::strategy::engine::Next;
use crate::strategy::settings::{Acquisition, Maximizer, Settings};
use crate::surrogate::watch::Watch;
use crate::trial::{Ended, Purpose};
use faer::Mat;

/// Pending points from which the trust region is left aside: with 20 workers on Hartmann-4 the median regret after 100
/// evaluations is 3e-2 inside it and 2e-5 without.
pub(super) const MANY_PENDING: usize = 8;
/// Results with which the maximiser does what it is set to: more with fewer, less with more.
const USUAL_RESULTS: usize = 300;
/// Candidates are fewer by this factor where a search looks again at the inputs that take any value, the others being held.
const AGAIN: usize = 8;
/// δ of the confidence bound in a portfolio: the paper's.
const PORTFOLIO_DELTA: f64 = 0.95;
/// Points of the knowledge gradient's set besides the measured ones, and measured ones at most.
const KNOWLEDGE_DESIGN: usize = 32;

/// A proposal, and what was decided on the way.
pub(super) struct Proposed {
    pub(super) u: Vec<f64>,
    /// Where the current local search ended, if it did.
    pub(super) ended: Option<Ended>,
    /// What each function of a portfolio would have proposed.
    pub(super) nominees: Option<Vec<Vec<f64>>>,
}

impl Proposed {
    fn at(u: Vec<f64>, ended: Option<Ended>) -> Proposed {
        Proposed { u, ended, nominees: None }
    }
}

/// What proposals are made from.
pub(super) struct Proposer<'a> {
    pub(super) settings: &'a Settings,
    pub(super) seed: u64,
    pub(super) results: &'a Results,
    pub(super) searches: &'a LocalSearches,
    pub(super) prepared: Prepared<'a>,
    pub(super) n_pending: usize,
    /// Whether points without a value say where others come back.
    pub(super) minds_failures: bool,
    /// Where constraints between inputs are met, if there are any.
    pub(super) region: Option<&'a Region>,
    /// The inputs that take whole numbers or categories, if there are any.
    pub(super) grid: Option<&'a Grid>,
    /// What each function of a portfolio nominated, in rounds that came back.
    pub(super) rounds: &'a [Vec<Vec<f64>>],
    /// The trial that a point is wanted for, and why.
    pub(super) next: Next<'a>,
    pub(super) purpose: Purpose,
}

impl Proposer<'_> {
    /// The best point.
    pub(super) fn propose(&self, watch: &dyn Watch) -> Result<Proposed> {
        let (Prepared { model, posterior, .. }, searches) = (self.prepared, self.searches);
        let id = self.next.id.0;
        let mut stream = Stream::new(self.seed, "maximise", id);
        // Many workers search the whole cube: in a small box most of them would look at the same spot.
        let few_pending = self.n_pending < MANY_PENDING;
        let exploits = self.settings.trust_region && matches!(self.purpose, Purpose::Exploit);
        let local = exploits
            && match searches.takes_turns(self.n_pending) {
                true => !searches.is_turn_of_cube(id, self.n_pending),
                false => few_pending,
            };
        let BestFew { rows } = if local { &searches.own } else { &self.results.leaders };
        let rows = &self.incumbents(rows)?;
        if rows.is_empty() {
            return Ok(Proposed::at(searches.start(model, posterior, None, self.grid, &mut stream)?, None));
        }
        let centre = &self.results.points[rows[0]];
        let d = centre.len();
        let incumbents = Mat::from_fn(rows.len(), d, |i, k| self.results.points[rows[i]][k]);
        let (mut low, mut high) = match local {
            true => searches.region.sides(centre, &model.length_scales),
            false => (vec![0.0; d], vec![1.0; d]),
        };
        if let Some(grid) = self.grid {
            grid.widen(centre, &mut low, &mut high);
        }
        let chance = match self.minds_failures && !matches!(self.purpose, Purpose::Explore) {
            true => {
                let mut stream = Stream::new(self.seed, "chance", id);
                let is_leading = self.results.leaders.rows[0] == rows[0];
                let (results, incumbents) = (self.results, incumbents.as_ref());
                Some(Chance::new(results, model, incumbents, &low, &high, is_leading, &mut stream)?)
            }
            false => None,
        };
        if local && let Some(ended) = searches.ended(centre, model) {
            let start = searches.start(model, posterior, chance.as_ref(), self.grid, &mut stream)?;
            return Ok(Proposed::at(start, Some(ended)));
        }
        let function: Box<dyn Function + '_> = match (
            self.function(self.settings.acquisition, &incumbents, self.results.values[rows[0]])?,
            &chance,
        ) {
            (function, Some(chance)) => Box::new(Chanced { function, chance }),
            (function, None) => function,
        };
        let mut search_near = |function: &dyn Function, near: Option<&[f64]>| match &self.settings.maximizer {
            Maximizer::Gradient(search) => {
                let mut search = affordable(search, posterior.n_observations());
                let near = near.map(|near| Mat::from_fn(1, d, |_, k| near[k]));
                let best = near.as_ref().unwrap_or(&incumbents).as_ref();
                if near.is_some() {
                    search.candidates = search.candidates.div_ceil(AGAIN);
                }
                match self.region {
                    None => maximise(function, posterior, &low, &high, best, &search, &mut stream, watch),
                    Some(region) => maximise_inside(
                        region,
                        function,
                        posterior,
                        &low,
                        &high,
                        best,
                        &search,
                        &mut stream,
                        watch,
                    ),
                }
            }
            Maximizer::Cmaes(search) => {
                // The paper's start: a random mixture of the best point and a uniform one.
                let weight = stream.uniform();
                let start: Vec<f64> =
                    (0..d).map(|k| weight * centre[k] + (1.0 - weight) * stream.uniform()).collect();
                maximise_cmaes(function, posterior, &low, &high, &start, search, &mut stream, watch)
            }
        };
        let mut search = |function: &dyn Function| match self.grid {
            Some(grid) => grid.maximise(function, posterior, &mut search_near),
            None => search_near(function, None),
        };
        let found = search(&*function)?;
        let is_improvement = matches!(self.settings.acquisition, Acquisition::LogEi | Acquisition::Portfolio);
        let hopeless = is_improvement && found.value < searches.promise().ln();
        // The first search is that of the whole cube, too. Under noise a point is measured again for a reason.
        let is_settled = exploits
            && (local || searches.number == 0)
            && !model.is_noisy()
            && searches.has_settled(centre, &found.x, self.n_pending);
        if hopeless && local || is_settled {
            let start = searches.start(model, posterior, chance.as_ref(), self.grid, &mut stream)?;
            return Ok(Proposed::at(start, Some(Ended::AtOptimum)));
        }
        // With nothing to gain by the model's word, the model itself is in question: every other point is where it knows least.
        if hopeless && !self.settings.trust_region && id % 2 == 1 {
            return Ok(Proposed::at(search(&PosteriorVariance)?.x, None));
        }
        if matches!((self.settings.acquisition, self.purpose), (Acquisition::Portfolio, Purpose::Exploit)) {
            let mut nominees = vec![found.x];
            for other in [Acquisition::Ucb { delta: PORTFOLIO_DELTA }, Acquisition::Pi] {
                let function = self.function(other, &incumbents, self.results.values[rows[0]])?;
                nominees.push(search(&*function)?.x);
            }
            let weights = self.weights(nominees.len())?;
            let draw = Stream::new(self.seed, "portfolio", id).uniform();
            let u = nominees[portfolio::choose(&weights, draw)].clone();
            return Ok(Proposed { u, ended: None, nominees: Some(nominees) });
        }
        Ok(Proposed::at(found.x, None))
    }

    /// The weights of a portfolio's functions, by the present means at all that they nominated.
    fn weights(&self, n_functions: usize) -> Result<Vec<f64>> {
        let d = self.results.points[0].len();
        let all: Vec<&Vec<f64>> = self.rounds.iter().flatten().collect();
        if all.is_empty() {
            return Ok(portfolio::weights(&[], n_functions));
        }
        let x = Mat::from_fn(all.len(), d, |i, k| all[i][k]);
        let means = self.prepared.model.posterior.predict(x.as_ref())?.mean;
        let rounds: Vec<Vec<f64>> = means.chunks(n_functions).map(<[f64]>::to_vec).collect();
        Ok(portfolio::weights(&rounds, n_functions))
    }

    /// The best few of `rows`, which come by their values: under noise by the model's means, since the luckiest measurement
    /// is not the best point.
    fn incumbents(&self, rows: &[usize]) -> Result<Vec<usize>> {
        let model = self.prepared.model;
        let mut rows = rows.to_vec();
        if model.is_noisy() && !rows.is_empty() {
            let points = &self.results.points;
            let x = Mat::from_fn(rows.len(), points[0].len(), |i, k| points[rows[i]][k]);
            let means = model.posterior.predict(x.as_ref())?.mean;
            let mut order: Vec<usize> = (0..rows.len()).collect();
            order.sort_by(|&a, &b| means[a].total_cmp(&means[b]).then(rows[a].cmp(&rows[b])));
            rows = order.into_iter().map(|i| rows[i]).collect();
        }
        rows.truncate(INCUMBENTS);
        Ok(rows)
    }

    /// The function to maximise; `value` was measured at the first of the incumbents.
    fn function(
        &self,
        acquisition: Acquisition,
        incumbents: &Mat<f64>,
        value: f64,
    ) -> Result<Box<dyn Function>> {
        if let Purpose::Explore = self.purpose {
            return Ok(Box::new(PosteriorVariance));
        }
        let Prepared { model, posterior, promised, .. } = self.prepared;
        let d = incumbents.ncols();
        // With noise the lowest mean at the best points is a better yardstick than the luckiest measurement.
        let means = model.posterior.predict(incumbents.as_ref())?.mean;
        let lowest = means.iter().copied().fold(f64::INFINITY, f64::min);
        let measured = if model.is_noisy() { lowest } else { lowest.max(model.fitted.warp.apply(value)) };
        // A pending point counts as measured at its mean. Without it the improvement already under way would be
        // promised again, and the proposals of a burst would crowd around the first.
        let best = measured.min(promised);
        Ok(match acquisition {
            Acquisition::LogEi | Acquisition::Portfolio if model.is_noisy() => {
                Box::new(LogMeanImprovement { best, noise_var: model.fitted.hyper.noise_var })
            }
            Acquisition::LogEi | Acquisition::Portfolio => Box::new(LogExpectedImprovement { best }),
            Acquisition::Ei => Box::new(ExpectedImprovement { best }),
            Acquisition::Pi => Box::new(ProbabilityOfImprovement { best }),
            Acquisition::Ucb { delta } => {
                let n_asked = self.next.history.len();
                Box::new(ConfidenceBound { kappa: kappa(n_asked.max(1), d, delta)? })
            }
            Acquisition::Kg => {
                let set = self.knowledge_set(d);
                Box::new(KnowledgeGradient::new(posterior, set.as_ref(), model.fitted.hyper.noise_var)?)
            }
        })
    }

    /// Where the knowledge gradient looks for the lowest mean: the last measured points, where the search is now, and
    /// uniform ones.
    fn knowledge_set(&self, d: usize) -> Mat<f64> {
        let mut stream = Stream::new(self.seed, "knowledge set", self.next.id.0);
        let points = &self.results.points;
        let measured = points.len().min(KNOWLEDGE_DESIGN);
        let mut set = Mat::zeros(measured + KNOWLEDGE_DESIGN, d);
        for i in 0..set.nrows() {
            for k in 0..d {
                let point = points.len().checked_sub(i + 1).filter(|_| i < measured);
                set[(i, k)] = point.map_or_else(|| stream.uniform(), |p| points[p][k]);
            }
        }
        set
    }
}

/// The search that is worth its time with `n` results, whose square its cost grows with.
///
/// Up to four times the candidates while they are cheap. Beyond the usual number of results fewer, down to half, and
/// seven rounds of eight: along searches of 6 to 20 inputs with 350 to 480 results that lost 0.013 of log EI on average in
/// the boxes of trust regions and 0.04 in the whole cube, where the full search lost 0.007 and 0.013.
fn affordable(search: &Search, n: usize) -> Search {
    let n = n.max(1);
    let (candidates, rounds) = if n <= USUAL_RESULTS {
        (search.candidates * (2 * USUAL_RESULTS / n).clamp(1, 4), search.rounds)
    } else {
        let candidates = (search.candidates * USUAL_RESULTS / n).max(search.candidates.div_ceil(2));
        (candidates, (7 * search.rounds).div_ceil(8))
    };
    Search { candidates, rounds, evaluations: search.evaluations + candidates, ..*search }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_is_longer_with_few_results_and_shorter_with_many() {
        let search = Search::default();
        let size = |n: usize| {
            let search = affordable(&search, n);
            assert!(search.evaluations >= search.candidates + search.starts * search.rounds);
            (search.candidates, search.rounds)
        };
        let sizes = [0, 150, 200, 300, 301, 500, 600, 1_000_000].map(size);
        let expected =
            [(1024, 16), (1024, 16), (768, 16), (512, 16), (255, 14), (153, 14), (128, 14), (128, 14)];
        assert_eq!(sizes, expected);
        // A single candidate, the least that makes sense, stays.
        let least = Search { candidates: 1, rounds: 0, ..search };
        assert_eq!((affordable(&least, 900).candidates, affordable(&least, 900).rounds), (1, 0));
    }
}
