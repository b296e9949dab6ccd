//! Results from before: evaluations made elsewhere, or under another strategy, or by an earlier version of this one.
//!
//! Such results are points in general position: whatever inputs are named, a model of those sees them. With ten of them
//! there is no need for a start of corners and rows; what is left of it is the incumbent once more, moved by next to nothing,
//! which shows the noise. Then all goes on as from any start, and screening departs from the incumbent.
//!
//! A *hint* says what an earlier search had found. Inputs named then are optimised at once, and each is checked by one
//! evaluation, the incumbent with that input moved: what does not answer is dropped. A rest check follows, and what was
//! missed is screened for. Where too many inputs mattered, the dense fallback begins at once.

use super::{Auto, Fact, Phase, Task, tuning};
use crate::error::Result;
use crate::strategy::engine::Hint;
use crate::strategy::study::insight::{ActiveInput, Evidence};
use crate::trial::{Recipe, Trial, TrialId};

impl Auto {
    /// Takes note of a trial that someone else chose.
    pub(super) fn take_known(&mut self, trial: &Trial) {
        self.note_point(trial, Task::Known, true);
        if self.n_own == 0 {
            self.begin_from_known(TrialId(trial.id.0 + 1));
        }
    }

    /// One of them came back.
    pub(super) fn known_told(&mut self, value: Option<f64>) {
        self.n_known += usize::from(value.is_some());
        if self.n_own == 0 {
            self.begin_from_known(self.centre);
        }
    }

    /// Plans the start anew: with what is known so far, or else with `next` as its first trial.
    fn begin_from_known(&mut self, next: TrialId) {
        self.queue.clear();
        match self.best.map(|at| self.results[at]) {
            Some(best) if self.n_known >= tuning::ENOUGH_KNOWN => {
                self.centre = best.id;
                self.queue_pair(best.value);
            }
            _ => {
                self.centre = if self.n_known >= tuning::ENOUGH_KNOWN { self.centre } else { next };
                self.queue_start();
            }
        }
    }

    /// What an earlier search had found.
    pub(super) fn take_hint(&mut self, hint: Hint) {
        if self.is_given {
            return;
        }
        if let Hint::Named(inputs) = &hint {
            for &input in inputs.iter().filter(|&&input| input < self.points.n_inputs()) {
                let name = self.points.name(input);
                self.named.push(ActiveInput { name, input, evidence: None });
            }
        }
        self.hint = Some(hint);
    }

    /// Goes on where the earlier search was, if there is a hint; false if not.
    pub(super) fn follow_hint(&mut self) -> Result<bool> {
        match self.hint.take() {
            Some(Hint::Dense) => {
                self.go_dense()?;
                Ok(true)
            }
            Some(Hint::Named(_)) if !self.named.is_empty() => {
                self.phase = Phase::Optimise;
                self.queue_checks();
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// Asks for one evaluation for each named input: the incumbent with that input moved.
    fn queue_checks(&mut self) {
        let Some(best) = self.best.map(|at| self.results[at]) else { return };
        self.n_checks = self.named.len();
        for input in self.named_inputs() {
            let mut z = self.points.of(best.id, &[input]);
            match &mut z[..] {
                [u] => *u += if *u < 0.5 { tuning::CHECK_STEP } else { -tuning::CHECK_STEP },
                // Another category wins.
                one_of => one_of.rotate_right(1),
            }
            let recipe = Recipe::Set { base: best.id, inputs: vec![input] };
            self.push(recipe, z, Task::Check { input, before: best.value });
        }
    }

    /// The answer to a check. An input whose evaluation broke stays: nothing speaks against it.
    pub(super) fn check_told(&mut self, input: usize, before: f64, value: Option<f64>) {
        self.n_checks -= 1;
        let threshold = self.rest_threshold();
        if let Some(effect) = value.map(|value| value - before) {
            if effect.abs() > threshold {
                let evidence = Some(Evidence { effect, step: tuning::CHECK_STEP, threshold });
                if let Some(named) = self.named.iter_mut().find(|named| named.input == input) {
                    named.evidence = evidence;
                    let named = named.clone();
                    self.found(Fact::Named(named));
                }
            } else if self.named.len() > 1 {
                self.named.retain(|named| named.input != input);
                self.found(Fact::Dropped { name: self.points.name(input), change: effect, threshold });
            }
        }
        if self.n_checks == 0 {
            self.queue_rest();
        }
    }
}
