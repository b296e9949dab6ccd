//! Where rounds of screening began, of 0.1.0: its records do not say it.
//!
//! Of the first round and of the one after a line it follows from what was told by then: they begin at the incumbent, with
//! nothing named. A result between the beginning of a round and its first test may have moved the incumbent, and under much
//! noise a round begins at a repeated point: there, and of later rounds, nothing is said.

use super::tuning;
use crate::trial::{Moves, Recipe, RoundStart, Trial, TrialId};
use std::collections::BTreeMap;

/// What was asked and told so far.
#[derive(Default)]
pub(in crate::strategy) struct EarlyRounds {
    best: Option<(TrialId, f64)>,
    /// The incumbent when a trial was asked last.
    best_then: Option<TrialId>,
    n_jitters: usize,
    at_bottom: bool,
    /// Whether something is named, or searched.
    is_searched: bool,
    /// Where rounds began, by what was known at their first tests.
    began: BTreeMap<usize, Option<RoundStart>>,
}

impl EarlyRounds {
    /// Takes note of a result: smaller is better.
    pub(in crate::strategy) fn told(&mut self, id: TrialId, value: f64) {
        if self.best.is_none_or(|(_, lowest)| value < lowest) {
            self.best = Some((id, value));
        }
    }

    /// Takes note of a trial asked.
    pub(in crate::strategy) fn asked(&mut self, trial: &Trial) {
        self.best_then = self.best.map(|(id, _)| id);
        match trial.recipe.as_deref() {
            Some(Recipe::Jitter { balanced: true, .. }) => self.at_bottom = true,
            Some(Recipe::Jitter { .. }) => self.n_jitters += 1,
            Some(Recipe::Set { .. } | Recipe::Bins { .. } | Recipe::Others { .. }) => self.is_searched = true,
            _ => {}
        }
    }

    /// The recipe of a trial that is asked now, with where its round began, if it does not say so and that is certain.
    pub(in crate::strategy) fn complete(&mut self, recipe: Recipe) -> Recipe {
        match recipe {
            Recipe::Move { round, began: None, parts, chunk, step } => {
                let now = self.begins(round, step);
                let began = self.began.entry(round).or_insert(now).clone().map(Box::new);
                Recipe::Move { round, began, parts, chunk, step }
            }
            other => other,
        }
    }

    /// Where a round begins whose first test this is.
    fn begins(&self, round: usize, step: f64) -> Option<RoundStart> {
        let base = self.best_then.filter(|then| self.best.is_some_and(|(id, _)| id == *then))?;
        let is_far = step >= tuning::STEP_IN_MODEL;
        let moves = match (round, is_far) {
            _ if self.is_searched => return None,
            (0, false) => Moves::Inside,
            // Without much noise there is no other jitter than that of the start.
            (0, true) if self.n_jitters <= 1 => Moves::Far,
            (1, false) if self.at_bottom => Moves::SumKept,
            _ => return None,
        };
        Some(RoundStart { base, moves, named: vec![] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial::Purpose;

    fn trial(id: u64, recipe: Recipe) -> Trial {
        let recipe = Some(Box::new(recipe));
        Trial { id: TrialId(id), embedding: 0, z: vec![], purpose: Purpose::Probe, recipe, decision: None }
    }

    fn started() -> EarlyRounds {
        let mut rounds = EarlyRounds::default();
        for (id, value) in [(0, 3.0), (1, 3.0), (2, 1.0)] {
            let base = TrialId(0);
            let jitter = Recipe::Jitter { base, balanced: false };
            rounds.asked(&trial(id, if id == 1 { jitter } else { Recipe::Uniform }));
            rounds.told(TrialId(id), value);
        }
        rounds
    }

    fn began(rounds: &mut EarlyRounds, round: usize, step: f64) -> Option<(u64, Moves)> {
        let told = Recipe::Move { round, began: None, parts: vec![(0, 3)], chunk: None, step };
        match rounds.complete(told) {
            Recipe::Move { began, .. } => began.map(|start| (start.base.0, start.moves)),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_first_round_began_at_the_incumbent_if_that_is_certain() {
        let mut doubtful = started();
        assert_eq!(began(&mut doubtful, 0, 1e-4), None, "it was told since the last trial was asked");
        doubtful.asked(&trial(3, Recipe::Uniform));
        assert_eq!(began(&mut doubtful, 0, 1e-4), None, "and stays so");
        for (step, moves) in [(1e-4, Moves::Inside), (0.1125, Moves::Far)] {
            let mut rounds = started();
            rounds.asked(&trial(3, Recipe::Uniform));
            assert_eq!(began(&mut rounds, 0, step), Some((2, moves)));
            rounds.told(TrialId(3), 0.5);
            assert_eq!(began(&mut rounds, 0, step), Some((2, moves)), "whatever is told later");
        }
    }

    #[test]
    fn the_round_after_a_line_keeps_the_sum() {
        for (balanced, searched, expected) in
            [(true, false, Some((2, Moves::SumKept))), (false, false, None), (true, true, None)]
        {
            let mut rounds = started();
            rounds.asked(&trial(3, Recipe::Jitter { base: TrialId(2), balanced }));
            if searched {
                rounds.asked(&trial(4, Recipe::Set { base: TrialId(2), inputs: vec![1] }));
            }
            assert_eq!(began(&mut rounds, 1, 2e-5), expected);
        }
    }
}
