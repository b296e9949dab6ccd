//! What follows from rounds of screening: the next round, the line, bins, or the optimisation.

use super::line::Line;
use super::points::{Moves, RoundMap};
use super::screen::{Round, State, Test};
use super::start::{CENTRE, LARGE_STEP, STEP};
use super::{ActiveInput, Auto, Evidence, Fact, LineSearch, Phase, Task, start};
use crate::design::latin_hypercube;
use crate::error::Result;
use crate::rng::Stream;
use crate::trial::{Recipe, TrialId};

/// Inputs up to which a dense problem is searched in all of them, above in bins.
const WHOLE: usize = 100;
/// Step of a round that keeps the sum.
const SUM_STEP: f64 = 2e-5;
/// First points of the bins.
const BIN_POINTS: usize = 10;
/// Members of a group looked at to say which way it moves.
const SAMPLE: usize = 33;

impl Auto {
    /// Screens all inputs from the incumbent.
    pub(super) fn screen_all(&mut self) -> Result<()> {
        let Some(best) = self.best else { return self.go_dense() };
        let (id, value) = (self.results[best].id, self.results[best].value);
        self.screen_from(id, value)
    }

    /// Screens all inputs that are not named from a base.
    pub(super) fn screen_from(&mut self, base: TrialId, value: f64) -> Result<()> {
        if self.noise.noisy {
            return self.begin_round(base, value, Moves::Far);
        }
        match self.others().iter().any(|&input| !self.points.is_discrete(input as usize)) {
            true => self.begin_round(base, value, Moves::Inside),
            false => {
                self.far_tried = true;
                self.begin_round(base, value, Moves::Far)
            }
        }
    }

    /// Inputs that are not named.
    fn others(&self) -> Vec<u32> {
        let named = self.named_inputs();
        (0..self.points.n_inputs()).filter(|j| named.binary_search(j).is_err()).map(|j| j as u32).collect()
    }

    /// Inputs named so far, in increasing order.
    pub(super) fn named_inputs(&self) -> Vec<usize> {
        let mut inputs: Vec<usize> = self.named.iter().map(|named| named.input).collect();
        inputs.sort_unstable();
        inputs
    }

    fn begin_round(&mut self, base: TrialId, value: f64, moves: Moves) -> Result<()> {
        let mut order = self.others();
        if moves != Moves::Far {
            order.retain(|&input| !self.points.is_discrete(input as usize));
        }
        if order.is_empty() {
            self.phase = Phase::Optimise;
            return self.refresh_live();
        }
        let number = self.points.n_rounds();
        Stream::new(self.seed, "round of screening", number as u64).shuffle(&mut order);
        let step = match moves {
            Moves::Inside => self.noise.step,
            Moves::Far => LARGE_STEP,
            Moves::SumKept => SUM_STEP,
        };
        let n = order.len();
        let map = RoundMap::new(base, order, self.points.n_inputs(), moves);
        self.points.add_round(map);
        let (large, sum_kept) = (moves == Moves::Far, moves == Moves::SumKept);
        self.round = Some((number, Round::new(n, step, value, large, sum_kept, self.surroundings())));
        self.phase = Phase::Screen;
        Ok(())
    }

    /// Tests from the centre, whose value is not known yet.
    pub(super) fn begin_early_round(&mut self) {
        let mut order = self.others();
        order.retain(|&input| !self.points.is_discrete(input as usize));
        // All discrete: nothing answers to small steps.
        if order.len() < self.points.n_inputs() {
            return;
        }
        let number = self.points.n_rounds();
        Stream::new(self.seed, "round of screening", number as u64).shuffle(&mut order);
        let n = order.len();
        self.points.add_round(RoundMap::new(CENTRE, order, n, Moves::Inside));
        self.round = Some((number, Round::new(n, STEP.0, f64::NAN, false, false, self.surroundings())));
    }

    /// Begins with the answers that have waited for the noise, now that the value at the centre is known too.
    pub(super) fn take_early_answers(&mut self, centre: Option<f64>) -> Result<()> {
        let (Some(centre), Some((number, round))) = (centre, &mut self.round) else { return Ok(()) };
        round.base_value = centre;
        let number = *number;
        self.phase = Phase::Screen;
        for (test, value) in std::mem::take(&mut self.start.early) {
            self.test_told(number, test, value);
        }
        self.screen_settled()
    }

    pub(super) fn test_told(&mut self, number: usize, test: Test, value: Option<f64>) {
        let around = self.surroundings();
        if self.phase == Phase::Start {
            self.start.early.push((test, value));
            return;
        }
        self.n_tests += 1;
        // An answer to a round that is over is data and nothing more.
        if let Some((current, round)) = &mut self.round
            && *current == number
        {
            let change = value.map(|value| value - round.base_value);
            round.told(test, change, around);
        }
    }

    /// Goes on after an event.
    pub(super) fn settle(&mut self) -> Result<()> {
        match self.phase {
            Phase::Start => self.start_settled()?,
            Phase::Wait => self.wait_settled()?,
            Phase::Screen => self.screen_settled()?,
            Phase::Line | Phase::Bottom => {}
            Phase::Optimise => {
                if let Some((_, round)) = &mut self.round
                    && round.n_waiting() > 0
                    && self.results.len().is_multiple_of(3)
                {
                    round.look_closer();
                }
                self.name_found();
            }
        }
        self.refresh_live()
    }

    /// Takes over the inputs a round has found.
    fn name_found(&mut self) {
        let Some((number, round)) = &mut self.round else { return };
        let found = round.found();
        let order = &self.points.round(*number).order;
        let step = round.step;
        let named: Vec<ActiveInput> = found
            .iter()
            .map(|found| {
                let input = order[found.place] as usize;
                let evidence = Evidence { effect: found.answer, step, threshold: found.threshold };
                ActiveInput { name: self.points.name(input), input, evidence: Some(evidence) }
            })
            .collect();
        for named in named {
            self.found(Fact::Named(named.clone()));
            self.named.push(named);
        }
    }

    fn screen_settled(&mut self) -> Result<()> {
        let Some((number, mut round)) = self.round.take() else { return Ok(()) };
        let lined = self.lined;
        let state = {
            let auto = &*self;
            round.advance(lined, |group| auto.sense(number, &group.0))
        };
        self.round = Some((number, round));
        self.name_found();
        match state {
            State::Going => Ok(()),
            State::Done => self.round_done(number),
            State::Uniform => self.begin_line(number),
            State::Dense => {
                self.found(Fact::Dense);
                self.round = None;
                self.go_dense()
            }
        }
    }

    /// Which way most of a group moves.
    fn sense(&self, number: usize, parts: &[(usize, usize)]) -> f64 {
        let map = self.points.round(number);
        let step = self.noise.step;
        let places = parts.iter().flat_map(|&(start, end)| start..end).take(SAMPLE);
        let mut inputs: Vec<usize> = places.map(|place| map.order[place] as usize).collect();
        inputs.sort_unstable();
        let down = self.points.of(map.base, &inputs).iter().filter(|&&u| u + step > 1.0).count();
        if 2 * down > inputs.len() { -1.0 } else { 1.0 }
    }

    fn round_done(&mut self, number: usize) -> Result<()> {
        let moves = self.points.round(number).moves;
        let (n_tests, n_waiting) =
            self.round.as_ref().map_or((0, 0), |(_, round)| (round.n_tests, round.n_waiting()));
        let inputs = self.points.round(number).order.len();
        self.found(Fact::Screened {
            inputs,
            tests: n_tests,
            named: self.named.len(),
            weak_groups: n_waiting,
        });
        let discrete =
            |auto: &Auto| auto.others().iter().any(|&input| auto.points.is_discrete(input as usize));
        if moves == Moves::Inside && !self.far_tried && (discrete(self) || self.named.is_empty()) {
            // Integers and plateaus do not answer to small steps.
            self.far_tried = true;
            if let Some(best) = self.best {
                let best = self.results[best];
                return self.begin_round(best.id, best.value, Moves::Far);
            }
        }
        if self.named.is_empty() {
            self.round = None;
            return self.go_dense();
        }
        self.phase = Phase::Optimise;
        if moves == Moves::SumKept {
            if let Some((_, round)) = &mut self.round {
                round.drop_waiting();
            }
            self.live = None;
            self.refresh_live()?;
            self.queue_stratified()?;
        } else if n_waiting == 0 {
            self.queue_rest();
        }
        Ok(())
    }

    /// Points spread over the named inputs, the others as in the incumbent.
    fn queue_stratified(&mut self) -> Result<()> {
        let inputs = self.named_inputs();
        let d = self.points.width(&inputs);
        let Some(base) = self.best.map(|at| self.results[at].id) else { return Ok(()) };
        let count = (4 + 2 * d).max(12);
        let mut stream = Stream::new(self.seed, "stratified points", self.n_live);
        let rows = latin_hypercube(count, &vec![0.0; d], &vec![1.0; d], &mut stream)?;
        for row in 0..count {
            let z = (0..d).map(|k| rows[(row, k)]).collect();
            self.push(Recipe::Set { base, inputs: inputs.clone() }, z, Task::Point);
        }
        Ok(())
    }

    /// Moves all idle inputs at once: nothing should happen.
    pub(super) fn queue_rest(&mut self) {
        self.rest_at = self.results.len();
        let kept = self.named_inputs();
        if self.bins || self.whole || self.lined || self.is_given || kept.len() == self.points.n_inputs() {
            return;
        }
        if let Some(best) = self.best.map(|at| self.results[at]) {
            self.push(Recipe::Others { base: best.id, kept }, vec![], Task::Rest(best.value));
        }
    }

    pub(super) fn rest_told(&mut self, id: TrialId, before: f64, value: Option<f64>) -> Result<()> {
        let Some(value) = value else { return Ok(()) };
        let change = value - before;
        let inputs = self.points.n_inputs() - self.named.len();
        let threshold = (10.0 * self.noise.sigma).max(1e-6 * self.noise.scale);
        self.found(Fact::Rest { inputs, change, threshold });
        let matters = change.abs() > threshold;
        self.n_idle = if matters { 0 } else { inputs };
        if matters && self.phase == Phase::Optimise && 2 * self.n_tests < self.budget {
            // From there: at the incumbent the input that was missed hardly answers.
            return self.screen_from(id, value);
        }
        Ok(())
    }

    fn begin_line(&mut self, number: usize) -> Result<()> {
        let Some((_, round)) = self.round.take() else { return Ok(()) };
        self.found(Fact::Alike);
        let slope = round.slope(|group| self.sense(number, &group.0));
        self.lined = true;
        self.phase = Phase::Line;
        let Some(best) = self.best.map(|at| self.results[at]) else { return Ok(()) };
        let value_of = |id: TrialId| self.results.iter().find(|result| result.id == id).map(|r| r.value);
        // The centre: the corners are on its line, and nothing near it is clipped.
        let (base, value) = value_of(CENTRE).map_or((best.id, best.value), |value| (CENTRE, value));
        let mut points = vec![(0.0, value)];
        for result in &self.results {
            match self.points.recipe(result.id) {
                Some(Recipe::Low) if base == CENTRE => points.push((-0.5, result.value)),
                Some(Recipe::High) if base == CENTRE => points.push((0.5, result.value)),
                _ => {}
            }
        }
        let line = Line::new(points, slope, self.noise.scale);
        self.line = Some(LineSearch { base, line });
        self.line_on()
    }

    fn line_on(&mut self) -> Result<()> {
        let Some(LineSearch { base, line }) = &mut self.line else { return Ok(()) };
        let base = *base;
        match line.next() {
            Some(shift) => {
                self.push(Recipe::Line { base, shift }, vec![], Task::Line(shift));
                Ok(())
            }
            None => self.line_over(),
        }
    }

    pub(super) fn line_told(&mut self, t: f64, value: Option<f64>) -> Result<()> {
        match (value, &mut self.line) {
            (Some(value), Some(search)) => {
                search.line.told(t, value);
                self.line_on()
            }
            _ => self.line_over(),
        }
    }

    /// At the bottom: look for single inputs with moves that keep the sum.
    fn line_over(&mut self) -> Result<()> {
        self.line = None;
        self.data_from = self.results.len();
        let Some(best) = self.best.map(|at| self.results[at]) else { return self.go_dense() };
        self.found(Fact::Line { value: best.value });
        if self.noise.noisy {
            return self.go_dense();
        }
        self.phase = Phase::Bottom;
        self.push(Recipe::Jitter { base: best.id, balanced: true }, vec![], Task::Bottom(best.value));
        Ok(())
    }

    pub(super) fn bottom_told(&mut self, before: f64, value: Option<f64>) -> Result<()> {
        if let Some(value) = value {
            self.noise.sigma = (value - before).abs() / std::f64::consts::SQRT_2;
        }
        match self.best.map(|at| self.results[at]) {
            Some(best) => self.begin_round(best.id, best.value, Moves::SumKept),
            None => self.go_dense(),
        }
    }

    /// Too many inputs matter: all of them if they are not too many, otherwise common moves of bins.
    pub(super) fn go_dense(&mut self) -> Result<()> {
        self.phase = Phase::Optimise;
        self.live = None;
        if self.points.n_inputs() <= WHOLE {
            self.whole = true;
            self.found(Fact::AllInputs);
            return self.refresh_live();
        }
        self.found(Fact::Bins { count: start::BINS });
        self.bins = true;
        self.points.make_bins(start::BINS);
        let best = self.best.map_or(CENTRE, |at| self.results[at].id);
        let base = if self.lined || self.noise.noisy { best } else { CENTRE };
        self.bin_base = base;
        let mut stream = Stream::new(self.seed, "bin points", 0);
        let rows = latin_hypercube(BIN_POINTS, &[0.0; start::BINS], &[1.0; start::BINS], &mut stream)?;
        for row in 0..BIN_POINTS {
            let z = (0..start::BINS).map(|k| rows[(row, k)]).collect();
            self.push(Recipe::Bins { base }, z, Task::Point);
        }
        self.refresh_live()
    }

    /// How far a point is from the base of the bins, if all inputs moved alike.
    pub(super) fn common_shift(&self, id: TrialId) -> Option<f64> {
        let base = self.bin_base;
        let along = |id: TrialId| match self.points.recipe(id)? {
            Recipe::Centre => Some((CENTRE, 0.0)),
            Recipe::Low => Some((CENTRE, -0.5)),
            Recipe::High => Some((CENTRE, 0.5)),
            Recipe::Line { base, shift } => Some((*base, *shift)),
            _ => None,
        };
        if id == base {
            return Some(0.0);
        }
        let (root, shift) = along(id)?;
        let (base_root, base_shift) = along(base).unwrap_or((base, 0.0));
        let shift = shift - base_shift;
        (root == base_root && shift.abs() <= 0.5).then_some(shift)
    }
}
