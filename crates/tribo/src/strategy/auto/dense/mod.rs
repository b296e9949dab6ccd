//! Too many inputs matter to name them: up to five arms take turns, by what they gain.
//!
//! - *bins*: common moves of 16 random bins of inputs, searched with a Gaussian process of 16 coordinates that learns which
//!   directions matter, unless there is noise;
//! - *all inputs*: a Gaussian process over all of them, whose prior grows with the dimension;
//! - *evolution*: separable CMA-ES over all of them;
//! - *pairs*: inputs in a row are pairs, and whole runs of pairs are moved together (`pairs`);
//! - *single inputs*: each is moved far on its own, and those that gain are searched (`singles`), where that takes at most a third
//!   of the budget.
//!
//! Up to 100 inputs, corners tell first whether pairs are worth their turn. Else the first is bins, or all inputs if they are at
//! most 100; or single inputs, if a corner is nearly as good as the incumbent.
//! An arm goes on while it improves, and gives up after 60 results without an improvement: for bins those are the first points
//! and three sizes of the trust region, which halves after 16 failures; for evolution three generations. The search of single
//! inputs ends sooner, and sweeps are not cut short. The next arm begins around the incumbent, with small steps: first those
//! that had no turn yet, in a fixed order (`arms`), then the one that gained most per evaluation in its last turn, the one that
//! just gave up aside. Bins are drawn anew each time, so that other inputs move together.
//!
//! A search in the first bins that stalls gives way to another one elsewhere in them (`bo/local_search`), since functions of many
//! inputs have many valleys; in the last 32 evaluations to the best one so far. Bins that have gained something do not give up
//! before the search under way stalls.
//!
//! Improvements are judged as those of local searches are: by more than a thousandth of what separates the lowest value
//! from the median. Above 2,000 coordinates, which arms of all inputs would write into every record, there are bins
//! alone, one draw after the other. With much noise an improvement may be luck: there are no turns, and
//! bins move on (`bins`).

pub(super) mod bins;
mod evolution;
pub(super) mod pairs;
pub(super) mod singles;

pub(super) use bins::Bins;
pub(super) use evolution::Evolution;
pub(super) use pairs::Pairs;
use pairs::Tried;
pub(super) use singles::Singles;

use super::context::Context;
use super::search::{ModelSearch, SearchSpace};
use super::tuning;
use crate::error::Result;
use crate::strategy::study::insight::{DenseArm, Fact};
use crate::trial::TrialId;
use std::collections::BTreeMap;

/// Whose turn it is, and how it is going.
pub(super) struct Turn {
    arm: DenseArm,
    /// Turns so far, this one included.
    number: u64,
    /// The last trial asked before the turn.
    before: Option<u64>,
    /// Results of the turn, and those since its last improvement.
    n_results: usize,
    n_idle: usize,
    /// The lowest value at the start of the turn, and at its last improvement.
    first: f64,
    improved: f64,
    worthwhile: f64,
    /// Gain per evaluation of each arm in its last turn.
    rates: BTreeMap<DenseArm, f64>,
}

impl Turn {
    /// The turn of an arm, after another one.
    fn begin(context: &Context, arm: DenseArm, last: Option<Turn>) -> Turn {
        let mut values = context.results.model_values();
        values.sort_by(f64::total_cmp);
        let lowest = lowest(context);
        let median = values.get(values.len() / 2).copied().unwrap_or(lowest);
        let (n_turns, rates) = last.map_or((0, BTreeMap::new()), |last| (last.number, last.rates));
        Turn {
            arm,
            number: n_turns + 1,
            before: context.recipes.last_id(),
            n_results: 0,
            n_idle: 0,
            first: lowest,
            improved: lowest,
            worthwhile: if median > lowest { tuning::WORTHWHILE * (median - lowest) } else { 0.0 },
            rates,
        }
    }

    /// Whether it is not the first.
    pub(super) fn is_later(&self) -> bool {
        self.number > 1
    }

    /// Takes note of an outcome; false if it was asked before the turn.
    fn told(&mut self, id: u64, value: Option<f64>) -> bool {
        if self.before.is_some_and(|before| id <= before) {
            return false;
        }
        self.n_results += 1;
        self.n_idle += 1;
        if let Some(value) = value
            && value < self.improved - self.worthwhile
        {
            (self.improved, self.n_idle) = (value, 0);
        }
        true
    }

    fn has_gained(&self) -> bool {
        self.improved < self.first
    }

    /// Whether it had no improvement for long.
    fn is_idle(&self) -> bool {
        let patience = match self.arm {
            DenseArm::Singles => tuning::SINGLES_PATIENCE,
            DenseArm::Pairs => tuning::PAIRS_PATIENCE,
            _ => tuning::PATIENCE,
        };
        self.n_idle >= patience
    }

    /// Gives up: the arm that takes over, and what is said about it.
    fn give_up(&mut self, arms: &[DenseArm], lowest: f64) -> (DenseArm, Fact) {
        let (from, evaluations, idle) = (self.arm, self.n_results, self.n_idle);
        // Nothing measured before the turn, nothing to compare with.
        let gain = if self.first.is_finite() { self.first - lowest } else { 0.0 };
        self.rates.insert(from, gain / evaluations.max(1) as f64);
        let to = self.next(arms);
        (to, Fact::NextArm { from, evaluations, idle, gain, to })
    }

    /// The arm after the present one.
    fn next(&self, arms: &[DenseArm]) -> DenseArm {
        if let Some(&untried) = arms.iter().find(|arm| !self.rates.contains_key(arm)) {
            return untried;
        }
        // In turn from the present one on, so that equals take turns.
        let at = arms.iter().position(|&arm| arm == self.arm).unwrap_or(0);
        let others = (1..arms.len()).map(|step| arms[(at + step) % arms.len()]);
        let better = |best: DenseArm, other: DenseArm| {
            if self.rates[&other] > self.rates[&best] { other } else { best }
        };
        others.reduce(better).unwrap_or(self.arm)
    }
}

/// The lowest value so far.
fn lowest(context: &Context) -> f64 {
    context.results.incumbent.map_or(f64::INFINITY, |best| best.value)
}

/// The arms there are, in order. Single inputs come last where they do not begin: Levy's function of 60 inputs after 200 evaluations
/// ended at 187 with them after all inputs, and at 163 with evolution (means of two).
fn arms(context: &Context) -> &'static [DenseArm] {
    use DenseArm::{AllInputs, Bins, Evolution, Singles};
    if context.recipes.n_inputs <= tuning::ALL_INPUTS_FIRST {
        if has_singles(context) {
            &[AllInputs, Evolution, Bins, Singles]
        } else {
            &[AllInputs, Evolution, Bins]
        }
    } else if context.recipes.dim() <= tuning::WRITTEN {
        &[Bins, AllInputs, Evolution]
    } else {
        &[Bins]
    }
}

/// Whether moving every input on its own is worth its evaluations: not where a gain may be luck.
fn has_singles(context: &Context) -> bool {
    !context.noise.noisy && tuning::SINGLES_IN_BUDGET * context.recipes.n_inputs <= context.budget
}

/// The arm that begins.
fn first_arm(context: &Context) -> DenseArm {
    let arms = arms(context);
    let begins = arms.contains(&DenseArm::Singles) && singles::best_corner(context).is_some();
    if begins { DenseArm::Singles } else { arms[0] }
}

impl ModelSearch {
    /// Too many inputs matter to name them: pairs of them are tried if that may be worth it, or else the first arm begins. Under
    /// much noise there are no turns.
    pub(super) fn begin_dense(&mut self, context: &mut Context) -> Result<()> {
        if pairs::may_be_worth_it(context) {
            self.turn = Some(Turn::begin(context, DenseArm::Pairs, None));
            return self.begin_arm(context, DenseArm::Pairs);
        }
        self.begin_first(context)
    }

    fn begin_first(&mut self, context: &mut Context) -> Result<()> {
        let arm = first_arm(context);
        context.found(match arm {
            DenseArm::Bins => Fact::Bins { count: tuning::BINS },
            DenseArm::Singles => Fact::Singles,
            _ => Fact::AllInputs,
        });
        self.turn = (!context.noise.noisy).then(|| Turn::begin(context, arm, None));
        self.begin_arm(context, arm)
    }

    /// Another corner of pairs is back. After the last one pairs go on if such a corner is good, or else the first arm begins.
    pub(super) fn corner_told(&mut self, context: &mut Context) -> Result<()> {
        let SearchSpace::Pairs(pairs) = &mut self.space else { return Ok(()) };
        match pairs.corner_told(context) {
            Tried::Open => Ok(()),
            Tried::Good => {
                context.found(Fact::Pairs);
                self.begin_anew(context)
            }
            Tried::Bad => self.begin_first(context),
        }
    }

    fn begin_arm(&mut self, context: &mut Context, arm: DenseArm) -> Result<()> {
        let number = self.turn.as_ref().map_or(0, |turn| turn.number);
        self.space = match arm {
            DenseArm::Bins => SearchSpace::Bins(Bins::draw(context, number > 1)?),
            DenseArm::AllInputs => SearchSpace::AllInputs,
            DenseArm::Pairs => SearchSpace::Pairs(Pairs::begin(context)),
            DenseArm::Singles => match Singles::begin(context, number) {
                Some(singles) => SearchSpace::Singles(singles),
                None => SearchSpace::AllInputs,
            },
            DenseArm::Evolution => {
                let start = context.recipes.of(context.incumbent_or_centre(), &context.all_inputs());
                SearchSpace::Evolution(Box::new(Evolution::new(&start, context.seed, number)?))
            }
        };
        self.begin_anew(context)
    }

    /// Takes the answer to the move of one input from `base`.
    pub(super) fn single_told(
        &mut self,
        context: &mut Context,
        base: TrialId,
        input: usize,
        value: Option<f64>,
    ) {
        if let SearchSpace::Singles(singles) = &mut self.space
            && singles.told(context, base, input, value)
            && let Some(turn) = &mut self.turn
        {
            // The search of what gained begins now.
            turn.n_idle = 0;
        }
    }

    /// Takes note of an outcome for the arm whose turn it is; the next one takes over if that was enough.
    pub(super) fn turn_told(&mut self, context: &mut Context, id: u64, value: Option<f64>) -> Result<()> {
        if self.is_over_named() {
            return Ok(());
        }
        let Some(turn) = &mut self.turn else { return Ok(()) };
        let mut converged = false;
        if let SearchSpace::Evolution(evolution) = &mut self.space {
            evolution.told(id, value);
            converged = evolution.is_over();
        }
        if !turn.told(id, value) {
            return Ok(());
        }
        if let SearchSpace::Singles(singles) = &mut self.space {
            let is_done = singles.inputs().is_empty() || turn.is_idle();
            if singles.is_sweeping() || !is_done {
                return Ok(());
            }
            let is_room = context.counts.own + context.recipes.n_inputs <= context.budget;
            if turn.improved < singles.before
                && is_room
                && let Some(next) = singles.again(context)
            {
                *singles = next;
                return self.begin_anew(context);
            }
            converged = true;
        }
        if let SearchSpace::Pairs(pairs) = &mut self.space {
            if pairs.is_tried() || !turn.is_idle() {
                return Ok(());
            }
            if pairs.divide(context) {
                turn.n_idle = 0;
                return self.begin_anew(context);
            }
            converged = true;
        }
        let has_stalled = self.modelled.as_ref().is_some_and(|modelled| modelled.optimiser.has_stalled());
        let in_first_bins = matches!(self.space, SearchSpace::Bins(_)) && !turn.is_later();
        let goes_on = in_first_bins && turn.has_gained() && !has_stalled;
        if converged || (turn.is_idle() && !goes_on) {
            let (to, fact) = turn.give_up(arms(context), lowest(context));
            context.found(fact);
            self.turn = Some(Turn::begin(context, to, self.turn.take()));
            return self.begin_arm(context, to);
        }
        if has_stalled
            && context.counts.own + tuning::LAST_SEARCH > context.budget
            && let Some(modelled) = &mut self.modelled
        {
            modelled.optimiser.resume();
        }
        Ok(())
    }

    /// Bins that were searched long enough under much noise move on.
    pub(super) fn move_bins_on(&mut self, context: &mut Context) -> Result<()> {
        if let SearchSpace::Bins(bins) = &mut self.space
            && bins.is_searched(context)
        {
            let is_later = self.turn.as_ref().is_some_and(Turn::is_later);
            self.space = SearchSpace::Bins(Bins::draw(context, is_later)?);
            self.modelled = None;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategy::auto::context::Task;
    use crate::strategy::auto::rehearsal::{answer, context, measure};
    use crate::trial::Recipe;

    /// A search that is dense, of a function whose incumbent is worth 1.
    fn dense(n: usize) -> (Context, ModelSearch) {
        let mut context = context(n);
        context.centre = measure(&mut context, Recipe::Centre, 2.0);
        measure(&mut context, Recipe::Low, 3.0);
        measure(&mut context, Recipe::High, 1.0);
        context.noise.scale = 1.0;
        let mut search = ModelSearch::new();
        search.begin_dense(&mut context).unwrap();
        (context, search)
    }

    /// The same after the corners of pairs, which are bad.
    fn without_pairs(n: usize) -> (Context, ModelSearch) {
        let (mut context, mut search) = dense(n);
        assert_eq!(context.queue.len(), 4);
        for _ in 0..4 {
            assert!(matches!(search.space, SearchSpace::Pairs(_)));
            let (id, _, value) = answer(&mut context, |_| 9.0);
            search.corner_told(&mut context).unwrap();
            search.turn_told(&mut context, id.0, Some(value)).unwrap();
        }
        (context, search)
    }

    #[test]
    fn the_first_arm_depends_on_the_number_of_inputs() {
        let (context, search) = dense(300);
        assert!(matches!(search.space, SearchSpace::Bins(_)) && search.is_ready());
        assert_eq!(context.queue.len(), tuning::BIN_POINTS);
        let (context, search) = without_pairs(60);
        assert!(matches!(search.space, SearchSpace::Singles(_)) && !search.is_ready(), "the corner is best");
        assert_eq!(context.queue.len(), 60);
        let (context, search) = without_pairs(70);
        assert!(matches!(search.space, SearchSpace::AllInputs) && search.is_ready());
        assert!(context.queue.is_empty(), "210 of 200 evaluations are too many");
    }

    #[test]
    fn an_arm_that_gains_nothing_gives_way_in_order() {
        let (mut context, mut search) = dense(300);
        let mut arms = vec![];
        for id in 3..260 {
            // What is out is of the arm that asked it.
            context.queue.clear();
            search.turn_told(&mut context, id, Some(1.5)).unwrap();
            let arm = search.turn.as_ref().unwrap().arm;
            if arms.last() != Some(&arm) {
                arms.push(arm);
            }
        }
        use DenseArm::{AllInputs, Bins as InBins, Evolution as Evolving};
        // Rates are all zero: in turn.
        assert_eq!(arms, [InBins, AllInputs, Evolving, InBins, AllInputs]);
        let turns = context.findings.iter().filter(|finding| matches!(finding.fact, Fact::NextArm { .. }));
        assert_eq!(turns.count(), 4);
        assert!(search.turn.as_ref().unwrap().is_later());
    }

    #[test]
    fn an_improvement_renews_patience_and_old_answers_do_not_count() {
        let (context, _) = dense(300);
        let mut turn = Turn::begin(&context, DenseArm::AllInputs, None);
        assert!(!turn.told(2, Some(0.0)), "asked before the turn");
        for id in 3..3 + tuning::PATIENCE as u64 - 1 {
            assert!(turn.told(id, Some(1.0)) && !turn.is_idle());
        }
        turn.told(90, Some(1.0 - 1e-6));
        assert!(turn.is_idle() && !turn.has_gained(), "too small to count");
        turn.told(91, Some(0.5));
        assert!(!turn.is_idle() && turn.has_gained());
    }

    #[test]
    fn the_arm_that_gained_most_comes_next() {
        let (context, _) = dense(300);
        let mut turn = Turn::begin(&context, DenseArm::Bins, None);
        let order = arms(&context);
        turn.rates = BTreeMap::from([(DenseArm::AllInputs, 0.1), (DenseArm::Evolution, 0.3)]);
        turn.n_results = 10;
        let (to, _) = turn.give_up(order, 0.0);
        assert_eq!((to, turn.rates[&DenseArm::Bins]), (DenseArm::Evolution, 0.1));
    }

    #[test]
    fn noisy_bins_move_on_around_the_best_repeated_point() {
        let mut context = context(300);
        context.centre = measure(&mut context, Recipe::Centre, 2.0);
        (context.noise.scale, context.noise.sigma, context.noise.noisy) = (1.0, 0.5, true);
        let mut search = ModelSearch::new();
        search.begin_dense(&mut context).unwrap();
        assert!(search.turn.is_none(), "gains may be luck");
        let low = measure(&mut context, Recipe::Uniform, -3.0);
        for _ in 0..tuning::BINS_STAY {
            measure(&mut context, Recipe::Uniform, 1.0);
        }
        context.queue.clear();
        search.move_bins_on(&mut context).unwrap();
        assert_eq!(context.queue.len(), tuning::REPEATED_AGAIN * tuning::REPEATS);
        while let Some(queued) = context.queue.front()
            && matches!(queued.task, Task::Repeat(_))
        {
            let (_, Task::Repeat(slot), value) = answer(&mut context, |_| 0.5) else { unreachable!() };
            let value = if slot == 0 { -2.0 } else { value };
            context.repeats.told(slot, Some(value));
            search.move_bins_on(&mut context).unwrap();
        }
        let SearchSpace::Bins(bins) = &search.space else { panic!("no bins") };
        assert_eq!((bins.base, bins.number), (low, 1));
        assert_eq!(context.queue.len(), tuning::MOVED_BIN_POINTS);
    }
}
