//! All inputs answer alike: they are moved together first, and then single ones are looked for with moves that keep the sum.

pub(super) mod parabola;

use super::screening::round::Round;
use super::{Auto, Fact, LineSearch, Phase, Task};
use crate::error::Result;
use crate::trial::{Moves, Recipe, TrialId};
use parabola::Parabolas;

impl Auto {
    pub(in crate::strategy::auto) fn begin_line(&mut self, number: usize) -> Result<()> {
        let Some((_, Round::Coded(round))) = self.round.take() else { return Ok(()) };
        self.found(Fact::Alike);
        let slope = round.slope(|group| self.sense(number, &group.0));
        self.lined = true;
        self.phase = Phase::Line;
        let Some(best) = self.best.map(|at| self.results[at]) else { return Ok(()) };
        let value_of = |id: TrialId| self.results.iter().find(|result| result.id == id).map(|r| r.value);
        // The centre: the corners are on its line, and nothing near it is clipped.
        let (base, value) = value_of(self.centre).map_or((best.id, best.value), |value| (self.centre, value));
        let mut points = vec![(0.0, value)];
        for result in &self.results {
            match self.points.recipe(result.id) {
                Some(Recipe::Low) if base == self.centre => points.push((-0.5, result.value)),
                Some(Recipe::High) if base == self.centre => points.push((0.5, result.value)),
                _ => {}
            }
        }
        let line = Parabolas::new(points, slope, self.noise.scale);
        self.line = Some(LineSearch { base, line, slope });
        self.line_on()
    }

    fn line_on(&mut self) -> Result<()> {
        let Some(LineSearch { base, line, .. }) = &mut self.line else { return Ok(()) };
        let base = *base;
        match line.next() {
            Some(shift) => {
                self.push(Recipe::Line { base, shift }, vec![], Task::Line(shift));
                Ok(())
            }
            None => self.line_over(),
        }
    }

    pub(in crate::strategy::auto) fn line_told(&mut self, t: f64, value: Option<f64>) -> Result<()> {
        match (value, &mut self.line) {
            (Some(value), Some(search)) => {
                search.line.told(t, value);
                self.line_on()
            }
            _ => self.line_over(),
        }
    }

    /// At the bottom: look for single inputs with moves that keep the sum. A row that happens to lie lower than the bottom of
    /// the centre's line is not at the bottom of its own.
    fn line_over(&mut self) -> Result<()> {
        let over = self.line.take();
        let Some(best) = self.best.map(|at| self.results[at]) else { return self.go_dense() };
        if let Some(LineSearch { base, slope, .. }) = over
            && best.id != base
            && !matches!(self.points.recipe(best.id), Some(Recipe::Line { .. } | Recipe::Low | Recipe::High))
        {
            let line = Parabolas::new(vec![(0.0, best.value)], slope, self.noise.scale);
            self.line = Some(LineSearch { base: best.id, line, slope });
            return self.line_on();
        }
        self.data_from = self.results.len();
        self.found(Fact::Line { value: best.value });
        if self.noise.noisy {
            return self.go_dense();
        }
        self.phase = Phase::Bottom;
        self.push(Recipe::Jitter { base: best.id, balanced: true }, vec![], Task::Bottom(best.value));
        Ok(())
    }

    pub(in crate::strategy::auto) fn bottom_told(&mut self, before: f64, value: Option<f64>) -> Result<()> {
        if let Some(value) = value {
            self.noise.sigma = (value - before).abs() / std::f64::consts::SQRT_2;
        }
        match self.best.map(|at| self.results[at]) {
            Some(best) => self.begin_round(best.id, (best.value, 1), Moves::SumKept),
            None => self.go_dense(),
        }
    }
}
