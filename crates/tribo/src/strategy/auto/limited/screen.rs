//! Screening: a round names the inputs that drive each output, and what follows from it. The rest check: all inputs that are not
//! named move at once, and no output should change.

use super::search::{Search, Searched, base_of};
use super::table::Noise;
use super::{LimitedAuto, NamedInput, Phase, Screen, Task};
use crate::error::Result;
use crate::strategy::auto::screening::Panel;
use crate::strategy::auto::tuning;
use crate::strategy::study::insight::{Evidence, Fact};
use crate::trial::{Moves, Recipe, RoundStart, TrialId};

impl LimitedAuto {
    /// How far small moves go: as far as the noisiest output that can be read by them needs.
    pub(super) fn small_step(&self) -> f64 {
        let quiet = self.noise.iter().filter(|noise| !noise.is_much());
        quiet.map(Noise::step).fold(tuning::SMALL_STEP.0, f64::max)
    }

    /// Screens the inputs that are not named: with small steps where an output can be read by them.
    pub(super) fn screen(&mut self, base: TrialId) -> Result<()> {
        let begun = self.begin_round(base, Moves::Inside) || self.begin_round(base, Moves::Far);
        if begun { self.settle_screen() } else { self.end_screening() }
    }

    /// Begins a round; false if there is no input to move or no output to read.
    fn begin_round(&mut self, base: TrialId, moves: Moves) -> bool {
        let Some(row) = self.table.row(base) else { return false };
        let far = moves == Moves::Far;
        let readable = |(value, noise): (&Option<f64>, &Noise)| value.filter(|_| far || !noise.is_much());
        let values: Vec<Option<f64>> = row.values.iter().zip(&self.noise).map(readable).collect();
        let start = RoundStart { base, moves, named: self.named_inputs() };
        let n = self.recipes.movable(&start).len();
        if n == 0 || values.iter().all(Option::is_none) {
            return false;
        }
        let step = if far { tuning::LARGE_STEP } else { self.small_step() };
        let number = self.recipes.add_round(start);
        let panel = Panel::new(number, n, step, far, values, &self.surroundings());
        self.phase = Phase::Screen(Box::new(Screen { panel, moves, base, is_doubted: false }));
        true
    }

    pub(super) fn settle_screen(&mut self) -> Result<()> {
        let around = self.surroundings();
        let Phase::Screen(screen) = &mut self.phase else { return Ok(()) };
        let is_over = screen.panel.settle(&around);
        if screen.panel.is_doubtful && !screen.is_doubted {
            screen.is_doubted = true;
            let recipe = Recipe::Jitter { base: screen.base, balanced: false };
            self.queue.push_back((recipe, Task::Still(screen.panel.number)));
        }
        if is_over { self.end_round() } else { Ok(()) }
    }

    /// Takes over what a round has found, and says what follows.
    fn end_round(&mut self) -> Result<()> {
        let Phase::Screen(screen) = std::mem::replace(&mut self.phase, Phase::Search) else { return Ok(()) };
        let (panel, had_named) = (&screen.panel, !self.named.is_empty());
        let map = self.recipes.round(panel.number);
        let (inputs, order) = (map.order.len(), map.order.clone());
        for place in panel.found() {
            let input = order[place] as usize;
            let shown = |k: usize| {
                let (effect, threshold) = panel.effect(place, k, self.noise[k].sigma)?;
                (effect.abs() > threshold).then_some(Evidence { effect, step: panel.step, threshold })
            };
            let named = NamedInput { input, shown: (0..self.table.n_outputs()).map(shown).collect() };
            let active = self.active(&named);
            self.named.push(named);
            self.found(Fact::Named(active));
        }
        self.counts.tests += panel.n_tests;
        let (named, tests) = (self.named.len(), panel.n_tests);
        self.found(Fact::Screened { inputs, tests, named, weak_groups: 0 });
        let is_dense = (0..self.table.n_outputs()).any(|k| panel.is_dense(k));
        if is_dense && had_named {
            // A weak background of very many inputs: what is named goes first.
            self.rest.is_over = true;
        } else if is_dense {
            return self.begin_dense();
        }
        let others = RoundStart { base: screen.base, moves: Moves::Far, named: self.named_inputs() };
        let has_discrete =
            self.recipes.movable(&others).into_iter().any(|j| self.recipes.is_discrete(j as usize));
        let wants_far = self.named.is_empty() || has_discrete || self.noise.iter().any(Noise::is_much);
        if screen.moves == Moves::Inside && wants_far && !had_named {
            let base = self.table.incumbent().map_or(screen.base, |best| best.id);
            if self.begin_round(base, Moves::Far) {
                return self.settle_screen();
            }
        }
        self.end_screening()
    }

    pub(super) fn end_screening(&mut self) -> Result<()> {
        if self.named.is_empty() { self.begin_dense() } else { self.begin_search() }
    }

    /// Searches the inputs named, unless that is what is searched.
    pub(super) fn begin_search(&mut self) -> Result<()> {
        self.phase = Phase::Search;
        let inputs = self.named_inputs();
        let searched = Searched::Inputs(inputs.clone());
        if self.search.as_ref().is_none_or(|search| search.searched != searched) {
            let base = base_of(&self.recipes, &self.table, &inputs)?;
            self.make_search(searched, base)?;
        } else {
            // Something changes that no round could name.
            self.rest.is_over = true;
        }
        self.look_at_rest();
        Ok(())
    }

    /// Too many inputs matter to name them.
    pub(super) fn begin_dense(&mut self) -> Result<()> {
        self.phase = Phase::Search;
        self.rest.is_over = true;
        self.found(Fact::Dense);
        if self.recipes.dim() <= tuning::WRITTEN {
            self.found(Fact::AllInputs);
            let centre = self.centre;
            return self.make_search(Searched::All, centre);
        }
        self.found(Fact::Bins { count: tuning::BINS });
        let base = self.table.incumbent().map_or(self.centre, |best| best.id);
        let number = self.recipes.make_bins(tuning::BINS);
        self.make_search(Searched::Bins(number), base)
    }

    fn make_search(&mut self, searched: Searched, base: TrialId) -> Result<()> {
        let awaited = self.pending.iter().filter(|(_, (_, in_model))| *in_model);
        let awaited: Vec<TrialId> = awaited.map(|(&id, _)| TrialId(id)).collect();
        let known = (&self.table, &awaited[..]);
        self.search = Some(Search::new(searched, base, &self.recipes, &self.limits, self.seed, known)?);
        Ok(())
    }

    /// Asks for all inputs that are not named to be moved at once.
    pub(super) fn look_at_rest(&mut self) {
        let kept = self.named_inputs();
        let Some(best) = self.table.incumbent() else { return };
        if self.rest.is_over || self.rest.is_out || kept.len() == self.recipes.n_inputs {
            return;
        }
        let base = best.id;
        self.queue.push_back((Recipe::Others { base, kept }, Task::Rest(base)));
        self.rest.is_out = true;
    }

    /// The others were moved: where an output has changed by it, they are screened from there.
    pub(super) fn rest_told(&mut self, id: TrialId, from: TrialId, values: &[Option<f64>]) -> Result<()> {
        self.rest.is_out = false;
        self.rest.due = self.table.rows.len() + self.rest.every;
        self.rest.every *= 2;
        let Some(before) = self.table.row(from).map(|row| row.values.clone()) else { return Ok(()) };
        let change = |k: usize| Some((values[k]? - before[k]?, self.noise[k].nothing()));
        let changes = (0..values.len()).filter_map(change);
        let part = |(change, nothing): (f64, f64)| change.abs() / nothing.max(1e-300);
        let Some((change, threshold)) = changes.max_by(|a, b| part(*a).total_cmp(&part(*b))) else {
            return Ok(());
        };
        let inputs = self.recipes.n_inputs - self.named.len();
        self.found(Fact::Rest { inputs, change, threshold });
        let matters = change.abs() > threshold;
        self.rest.n_idle = if matters { 0 } else { inputs };
        let may_screen = tuning::TESTS_IN_BUDGET * self.counts.tests < self.budget;
        if matters && may_screen && matches!(self.phase, Phase::Search) {
            // At the incumbent an input that was missed hardly answers; there it does.
            return self.screen(id);
        }
        Ok(())
    }
}
