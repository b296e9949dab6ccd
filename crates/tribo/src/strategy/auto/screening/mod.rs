//! What follows from rounds of screening: the next round, the line, bins, or the optimisation.

mod coded;
mod group;
mod halving;
pub(super) mod round;
pub(super) mod scattered;
pub(super) mod verify;

use super::slope_hints::Slope;
use super::{ActiveInput, Auto, Evidence, Fact, Phase, Task, tuning};
use crate::design::latin_hypercube;
use crate::error::Result;
use crate::rng::Stream;
use crate::trial::{Moves, Recipe, RoundStart, TrialId};
use coded::Coded;
use halving::Halving;
use round::{GroupTest, NamedPlace, Round, RoundState};

impl Auto {
    /// Screens all inputs from the incumbent.
    pub(in crate::strategy::auto) fn screen_all(&mut self) -> Result<()> {
        let Some(best) = self.best else { return self.go_dense() };
        let (id, value) = (self.results[best].id, self.results[best].value);
        self.screen_from(id, (value, 1))
    }

    /// Screens all inputs that are not named from a base, whose value is the mean of so many evaluations.
    pub(in crate::strategy::auto) fn screen_from(
        &mut self,
        base: TrialId,
        value: (f64, usize),
    ) -> Result<()> {
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
    pub(in crate::strategy::auto) fn named_inputs(&self) -> Vec<usize> {
        let mut inputs: Vec<usize> = self.named.iter().map(|named| named.input).collect();
        inputs.sort_unstable();
        inputs
    }

    pub(in crate::strategy::auto) fn begin_round(
        &mut self,
        base: TrialId,
        value: (f64, usize),
        moves: Moves,
    ) -> Result<()> {
        let start = RoundStart { base, moves, named: self.named_inputs() };
        let n = self.points.movable(&start).len();
        if n == 0 {
            self.phase = Phase::Optimise;
            return self.refresh_live();
        }
        let step = match moves {
            Moves::Inside => self.noise.step,
            Moves::Far => tuning::LARGE_STEP,
            Moves::SumKept => tuning::SUM_STEP,
        };
        let number = self.points.add_round(start);
        let around = self.surroundings();
        let round = match moves {
            Moves::Far => Round::Halving(Halving::new(n, step, value, around)),
            _ => Round::Coded(Coded::new(n, step, value.0, moves == Moves::SumKept, around)),
        };
        self.round = Some((number, round));
        self.phase = Phase::Screen;
        Ok(())
    }

    pub(in crate::strategy::auto) fn test_told(
        &mut self,
        number: usize,
        test: GroupTest,
        value: Option<f64>,
    ) {
        let around = self.surroundings();
        self.n_tests += 1;
        // An answer to a round that is over is data and nothing more.
        if let Some((current, round)) = &mut self.round
            && *current == number
        {
            round.told(test, value, around);
        }
    }

    /// Goes on after an event.
    pub(in crate::strategy::auto) fn settle(&mut self) -> Result<()> {
        match self.phase {
            Phase::Start => self.start_settled()?,
            Phase::Wait => self.wait_settled()?,
            Phase::Screen => self.screen_settled()?,
            Phase::Line | Phase::Bottom => {}
            Phase::Optimise => {
                if let Some((_, Round::Coded(round))) = &mut self.round
                    && round.n_waiting() > 0
                    && self.results.len().is_multiple_of(tuning::LOOK_EVERY)
                {
                    round.look_closer();
                }
                self.name_found();
                self.drop_slopes()?;
                self.move_on()?;
            }
        }
        self.refresh_live()
    }

    /// Takes over the inputs a round has found.
    fn name_found(&mut self) {
        let Some((number, round)) = &mut self.round else { return };
        let (found, step, number) = (round.found(), round.step(), *number);
        let order: Vec<usize> =
            found.iter().map(|found| self.points.round(number).order[found.place] as usize).collect();
        if let Round::Coded(round) = round
            && self.n_searched == 0
        {
            let (base, value) = (self.points.round(number).start.base, round.base_value);
            for (found, &input) in found.iter().zip(&order) {
                let up = self.points.of(base, &[input])[0] + step <= 1.0;
                let slope = found.answer / if up { step } else { -step };
                self.slopes.push(Slope { input, base, value, slope });
            }
        }
        self.name(&found, step, &order);
    }

    /// Takes over inputs that were found to matter.
    pub(in crate::strategy::auto) fn name(&mut self, found: &[NamedPlace], step: f64, inputs: &[usize]) {
        for (found, &input) in found.iter().zip(inputs) {
            let evidence = Evidence { effect: found.answer, step, threshold: found.threshold };
            let named = ActiveInput { name: self.points.name(input), input, evidence: Some(evidence) };
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
            RoundState::Going => Ok(()),
            RoundState::Doubtful => {
                let base = self.points.round(number).start.base;
                self.push(Recipe::Jitter { base, balanced: false }, vec![], Task::Still(number));
                Ok(())
            }
            RoundState::Done => self.round_done(number),
            RoundState::Uniform => self.begin_line(number),
            RoundState::Dense => {
                self.found(Fact::Dense);
                self.round = None;
                self.go_dense()
            }
        }
    }

    /// The base of a round was evaluated again: the round goes on, or the noise is measured anew.
    pub(in crate::strategy::auto) fn still_told(&mut self, number: usize, value: Option<f64>) {
        let Some((current, Round::Coded(round))) = &self.round else { return };
        let Some(value) = value.filter(|_| *current == number) else { return };
        let sigma = (value - round.base_value).abs() / std::f64::consts::SQRT_2;
        self.noise.sigma = self.noise.sigma.max(sigma);
        if sigma > tuning::NOTICED_NOISE * self.noise.scale && self.repeats.is_empty() {
            self.round = None;
            self.measure_noise();
        }
    }

    /// Which way most of a group moves.
    pub(in crate::strategy::auto) fn sense(&self, number: usize, parts: &[(usize, usize)]) -> f64 {
        let map = self.points.round(number);
        let step = self.noise.step;
        let places = parts.iter().flat_map(|&(start, end)| start..end).take(tuning::SENSE_SAMPLE);
        let mut inputs: Vec<usize> = places.map(|place| map.order[place] as usize).collect();
        inputs.sort_unstable();
        let down = self.points.of(map.start.base, &inputs).iter().filter(|&&u| u + step > 1.0).count();
        if 2 * down > inputs.len() { -1.0 } else { 1.0 }
    }

    fn round_done(&mut self, number: usize) -> Result<()> {
        let moves = self.points.round(number).start.moves;
        let (n_tests, n_waiting) =
            self.round.as_ref().map_or((0, 0), |(_, round)| (round.n_tests(), round.n_waiting()));
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
                return self.begin_round(best.id, (best.value, 1), Moves::Far);
            }
        }
        if self.named.is_empty() {
            self.round = None;
            return self.go_dense();
        }
        self.bins = false;
        self.phase = Phase::Optimise;
        if moves == Moves::SumKept {
            if let Some((_, Round::Coded(round))) = &mut self.round {
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
        let (each, beyond) = tuning::SPREAD_POINTS;
        let count = (beyond + each * d).max(tuning::FEWEST_SPREAD_POINTS);
        let mut stream = Stream::new(self.seed, "stratified points", self.n_live);
        let rows = latin_hypercube(count, &vec![0.0; d], &vec![1.0; d], &mut stream)?;
        for row in 0..count {
            let z = (0..d).map(|k| rows[(row, k)]).collect();
            self.push(Recipe::Set { base, inputs: inputs.clone() }, z, Task::Point);
        }
        Ok(())
    }
}
