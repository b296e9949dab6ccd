//! A round of screening with large steps: groups are halved by significance.
//!
//! Answers to large steps do not add up, so a group that answers is cut in two and its first half tested. If that is idle,
//! the input is in the second half, which needs no test of its own; if it answers, it is followed, and the second half
//! waits with all other such halves until the end, when they are tested together. So an input costs log2 of its group
//! `[@hwang1972]`, and not twice that. An input is named only by a test of its own.
//!
//! Noise: a test of an idle group is one more evaluation of the base, so the value there and the noise get known better as
//! the round goes on. A test that is neither clearly idle nor clearly active is repeated, twice at most.
//!
//! A test whose evaluation breaks is asked again with half the step, and given up after that: the group is cut.

use super::group::Group;
use super::round::{About, GroupTest, NamedPlace, RoundState, Surroundings};
use crate::strategy::auto::tuning;
use std::collections::VecDeque;

/// A group and what is known of it.
struct Node {
    group: Group,
    /// Values with the group moved; none if it must answer because its other half does not.
    values: Vec<f64>,
    /// The other half, if this one was the first to be tested.
    other: Option<Group>,
    /// What it answers, or is thought to.
    answer: f64,
    /// The group at the top that it was cut from.
    top: usize,
    /// Whether a false conclusion on the way down was noticed before.
    is_second_try: bool,
}

/// What the values of a test say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Significance {
    Idle,
    Active,
    Unsure,
}

/// A round.
pub(super) struct Halving {
    /// How far inputs move.
    pub(super) step: f64,
    /// Value at the base: mean, and the evaluations it is worth.
    base: (f64, f64),
    /// Values of idle groups.
    idle: Vec<f64>,
    nodes: Vec<Node>,
    n_first: usize,
    open: Vec<usize>,
    /// Inputs that were not tested since a group they were in answered.
    left: Group,
    /// Tests that wait to be asked.
    pub(super) tests: VecDeque<GroupTest>,
    /// Tests asked and not answered.
    busy: usize,
    n_found: usize,
    /// Inputs found and not named yet.
    pub(super) found: Vec<NamedPlace>,
    /// Tests so far.
    pub(super) n_tests: usize,
    is_done: bool,
    around: Surroundings,
}

impl Halving {
    /// A round over `n` inputs. The value at the base is the mean of so many evaluations.
    pub(super) fn new(n: usize, step: f64, base: (f64, usize), around: Surroundings) -> Halving {
        let mut round = Halving {
            step,
            base: (base.0, base.1.max(1) as f64),
            idle: vec![],
            nodes: vec![],
            n_first: 0,
            open: vec![],
            left: Group::default(),
            tests: VecDeque::new(),
            busy: 0,
            n_found: 0,
            found: vec![],
            n_tests: 0,
            is_done: false,
            around,
        };
        for group in Group::range(0, n).split(around.n_groups()) {
            round.ask_top(group, false);
        }
        round.n_first = round.nodes.len();
        round
    }

    fn ask_top(&mut self, group: Group, is_second_try: bool) {
        let top = self.nodes.len();
        self.nodes.push(Node { group, values: vec![], other: None, answer: 0.0, top, is_second_try });
        self.ask(top, 1.0);
    }

    fn ask(&mut self, index: usize, part: f64) {
        let group = self.nodes[index].group.clone();
        self.tests.push_back(GroupTest { group, chunk: None, part, about: About::Node(index) });
        self.busy += 1;
        self.n_tests += 1;
    }

    /// Value at the base and the evaluations it is worth, those of idle groups included.
    fn base(&self) -> (f64, f64) {
        let (value, n) = self.base;
        let all = n + self.idle.len() as f64;
        ((n * value + self.idle.iter().sum::<f64>()) / all, all)
    }

    /// Standard deviation of a value.
    fn noise(&self) -> f64 {
        let (base, _) = self.base();
        let squares: f64 = self.idle.iter().map(|value| (value - base).powi(2)).sum();
        ((tuning::PRIOR_EVALUATIONS * self.around.sigma.powi(2) + squares)
            / (tuning::PRIOR_EVALUATIONS + self.idle.len() as f64))
            .sqrt()
    }

    /// Standard deviation of a change of the mean of `count` values from the base.
    fn error(&self, count: usize) -> f64 {
        let (base, n) = self.base();
        (self.noise() * (1.0 / count as f64 + 1.0 / n).sqrt()).max(tuning::ROUNDING * base.abs()).max(1e-300)
    }

    fn judge(&self, values: &[f64]) -> (f64, Significance) {
        let change = values.iter().sum::<f64>() / values.len() as f64 - self.base().0;
        let (deviations, at) = (change.abs() / self.error(values.len()), values.len().min(3) - 1);
        let significance = if deviations >= tuning::ACTIVE[at] {
            Significance::Active
        } else if deviations < tuning::IDLE[at] {
            Significance::Idle
        } else {
            Significance::Unsure
        };
        (change, significance)
    }

    /// Takes the answer to a test: the value, or none if the evaluation broke.
    pub(super) fn told(&mut self, test: GroupTest, value: Option<f64>, around: Surroundings) {
        self.around = around;
        self.busy -= 1;
        let About::Node(index) = test.about else { return };
        let Some(value) = value else {
            if test.part > tuning::BROKEN_ONCE {
                return self.ask(index, 0.5 * test.part);
            }
            // Twice broken: nothing is known of it, so it is cut.
            self.nodes[index].answer = f64::MAX;
            if self.nodes[index].group.len() > 1 {
                self.follow(index);
            }
            return;
        };
        self.nodes[index].values.push(value);
        let (change, significance) = self.judge(&self.nodes[index].values);
        match significance {
            Significance::Unsure => self.ask(index, test.part),
            Significance::Active => {
                self.nodes[index].answer = change;
                self.follow(index);
            }
            Significance::Idle => self.rule_out(index),
        }
    }

    /// A group that answers: its other half waits, and it is cut in turn.
    fn follow(&mut self, index: usize) {
        if let Some(other) = self.nodes[index].other.take() {
            self.left = self.left.with(&other);
        }
        self.open.push(index);
    }

    /// A group that does not answer: so its other half does, if somebody in the two did.
    fn rule_out(&mut self, index: usize) {
        self.idle.append(&mut self.nodes[index].values);
        let Node { ref group, answer, top, is_second_try, .. } = self.nodes[index];
        if let Some(other) = self.nodes[index].other.clone() {
            // Somebody in the two answers, and nobody of this half does.
            let other = Node { group: other, values: vec![], other: None, answer, top, is_second_try };
            self.nodes.push(other);
            self.open.push(self.nodes.len() - 1);
        } else if index != top && group.len() == 1 && !is_second_try {
            // The one that was left does not answer: a test on the way down misled.
            let again = self.nodes[top].group.without(group);
            self.left = self.left.without(&again).with(&again);
        }
    }

    /// Gives work to open groups, strongest first, and says where the round stands.
    pub(super) fn advance(&mut self) -> RoundState {
        if self.is_done {
            return RoundState::Done;
        }
        if self.idle.is_empty()
            && self.n_found == 0
            && self.n_tests - self.busy >= self.n_first + tuning::DENSE_AFTER
        {
            return RoundState::Dense;
        }
        let can_ask =
            |round: &Halving| round.n_tests < round.around.most_tests() && round.busy < round.around.workers;
        while can_ask(self) && !self.open.is_empty() {
            let strength = |round: &Halving, at: usize| round.nodes[round.open[at]].answer.abs();
            let strongest = (0..self.open.len())
                .fold(0, |best, at| if strength(self, at) > strength(self, best) { at } else { best });
            let index = self.open.remove(strongest);
            self.cut(index);
        }
        if self.busy > 0 || (!self.open.is_empty() && can_ask(self)) {
            return RoundState::Going;
        }
        if self.open.is_empty() && self.left.len() > 0 && can_ask(self) {
            for group in std::mem::take(&mut self.left).split(tuning::LEFT_GROUPS) {
                self.ask_top(group, true);
            }
            return RoundState::Going;
        }
        self.is_done = true;
        RoundState::Done
    }

    fn cut(&mut self, index: usize) {
        let Node { group, values, answer, top, is_second_try, .. } = &self.nodes[index];
        let (answer, top, is_second_try) = (*answer, *top, *is_second_try);
        match (group.first(), group.len(), values.is_empty()) {
            (Some(place), 1, false) => {
                let threshold = tuning::ACTIVE[0] * self.error(1);
                self.found.push(NamedPlace { place, answer, threshold });
                self.n_found += 1;
            }
            (Some(_), 1, true) => self.ask(index, 1.0),
            (_, m, _) => {
                let (first, second) = group.cut(0, m / 2);
                let other = Some(second);
                self.nodes.push(Node { group: first, values: vec![], other, answer, top, is_second_try });
                self.ask(self.nodes.len() - 1, 1.0);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;

    /// Screens 300 inputs of which some answer, with noise; returns what was named and the tests taken.
    fn screen(effects: &[(usize, f64)], noise: f64, seed: u64) -> (Vec<usize>, usize) {
        let around = Surroundings { sigma: noise, workers: 1, budget: 400 };
        let mut stream = Stream::new(seed, "halving", 0);
        let mut round = Halving::new(300, 0.45, (1.0, 4), around);
        let (mut named, mut n) = (vec![], 0);
        while round.advance() == RoundState::Going {
            let test = round.tests.pop_front().unwrap();
            let hit = |place: usize| test.group.0.iter().any(|&(start, end)| (start..end).contains(&place));
            // They do not add up: the strongest one decides.
            let change = effects.iter().filter(|(place, _)| hit(*place)).map(|e| e.1).fold(0.0, f64::max);
            round.told(test, Some(1.0 + change + noise * stream.normal()), around);
            named.extend(std::mem::take(&mut round.found).iter().map(|found| found.place));
            n += 1;
        }
        named.extend(std::mem::take(&mut round.found).iter().map(|found| found.place));
        named.sort_unstable();
        (named, n)
    }

    #[test]
    fn inputs_are_named_in_few_tests() {
        let effects = [(3, 1.0), (44, 2.0), (45, 1.5), (200, 0.7)];
        let (named, n) = screen(&effects, 0.0, 1);
        assert_eq!(named, [3, 44, 45, 200]);
        // 8 groups, 4 inputs of log2(38) tests and one to prove them, what is left over.
        assert!(n <= 50, "{n} tests");
        assert_eq!(screen(&[], 0.0, 1), (vec![], 8));
    }

    #[test]
    fn noise_misleads_seldom() {
        // Effects of five and more standard deviations.
        let (mut right, mut wrong) = (0, 0);
        for seed in 0..20 {
            let (named, _) = screen(&[(10, 1.0), (150, 0.8), (290, 0.5)], 0.1, seed);
            let hits = named.iter().filter(|place| [10, 150, 290].contains(place)).count();
            right += hits;
            wrong += named.len() - hits;
        }
        assert!(right >= 54 && wrong <= 2, "{right} of 60 named, {wrong} idle (seeds 0 to 19)");
    }
}
