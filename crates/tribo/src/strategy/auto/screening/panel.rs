//! One round of screening for several outputs.
//!
//! Every evaluation answers for all outputs. So each output has a round of its own, which asks as if it were alone, and a test is
//! evaluated once, whoever asks for it: its answer is kept for all others. Outputs take turns, those with the fewest groups that
//! answer first, since these name inputs with the fewest tests. With small steps answers add up: what one input alone answers is
//! taken out of the groups of every other output, which then need no test of their own to find it.

use super::coded::Coded;
use super::group::Group;
use super::halving::Halving;
use super::round::{GroupTest, RoundState, Surroundings};
use super::{Round, tuning};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// What is moved: ranges of places, the chunk of a code, the bits of the part of the step, and how often the same was asked before.
type Moved = (Vec<(usize, usize)>, Option<usize>, u64, usize);

/// A round for several outputs.
pub(in crate::strategy::auto) struct Panel {
    /// Its number in the study.
    pub(in crate::strategy::auto) number: usize,
    /// How far inputs move.
    pub(in crate::strategy::auto) step: f64,
    /// One for each output; None where there is nothing to tell, or nothing any more.
    rounds: Vec<Option<Round>>,
    /// Values at the base.
    base: Vec<Option<f64>>,
    /// Outputs that too many inputs drive.
    dense: Vec<bool>,
    /// Values of all outputs with inputs moved.
    answers: BTreeMap<Moved, Vec<Option<f64>>>,
    /// Who waits for which test.
    waiting: BTreeMap<Moved, Vec<(usize, GroupTest)>>,
    /// How often each output has asked for a test.
    times: BTreeMap<(usize, Moved), usize>,
    /// Tests that wait to be asked.
    tests: VecDeque<Moved>,
    /// Tests that were evaluated or wait for it.
    pub(in crate::strategy::auto) n_tests: usize,
    found: BTreeSet<usize>,
    /// Whether the noise was put in doubt: once per round.
    pub(in crate::strategy::auto) is_doubtful: bool,
}

/// A test as it is asked.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::strategy::auto) struct PanelTest(Moved);

impl PanelTest {
    /// Ranges of places, the chunk of a code, and the part of the step.
    pub(in crate::strategy::auto) fn parts(&self) -> (Vec<(usize, usize)>, Option<usize>, f64) {
        (self.0.0.clone(), self.0.1, f64::from_bits(self.0.2))
    }
}

impl Panel {
    /// A round over `n` inputs from a base with these values; small steps are read by codes, `far` ones by halves.
    pub(in crate::strategy::auto) fn new(
        number: usize,
        n: usize,
        step: f64,
        far: bool,
        base: Vec<Option<f64>>,
        around: &[Surroundings],
    ) -> Panel {
        let round = |(k, value): (usize, &Option<f64>)| {
            let value = (*value)?;
            Some(match far {
                true => Round::Halving(Halving::new(n, step, (value, 1), around[k])),
                false => Round::Coded(Coded::new(n, step, value, false, around[k])),
            })
        };
        let rounds: Vec<Option<Round>> = base.iter().enumerate().map(round).collect();
        let mut panel = Panel {
            number,
            step,
            dense: vec![false; rounds.len()],
            rounds,
            base,
            answers: BTreeMap::new(),
            waiting: BTreeMap::new(),
            times: BTreeMap::new(),
            tests: VecDeque::new(),
            n_tests: 0,
            found: BTreeSet::new(),
            is_doubtful: false,
        };
        for k in 0..panel.rounds.len() {
            panel.hand_out(k, around);
        }
        panel
    }

    /// The next test, which stays until it is taken.
    pub(in crate::strategy::auto) fn next(&self) -> Option<PanelTest> {
        self.tests.front().cloned().map(PanelTest)
    }

    /// Takes the next test.
    pub(in crate::strategy::auto) fn take(&mut self) -> Option<PanelTest> {
        self.tests.pop_front().map(PanelTest)
    }

    /// Takes the answers of all outputs to a test.
    pub(in crate::strategy::auto) fn told(
        &mut self,
        PanelTest(moved): PanelTest,
        values: &[Option<f64>],
        around: &[Surroundings],
    ) {
        for (k, test) in self.waiting.remove(&moved).unwrap_or_default() {
            self.answer(k, test, values[k], around);
        }
        self.answers.insert(moved, values.to_vec());
    }

    fn answer(&mut self, k: usize, test: GroupTest, value: Option<f64>, around: &[Surroundings]) {
        match &mut self.rounds[k] {
            Some(Round::Coded(round)) => round.told(test, value, around[k]),
            Some(Round::Halving(round)) => round.told(test, value, around[k]),
            None => {}
        }
    }

    /// Lets outputs ask until there is a test for each worker, and says whether the round is over.
    pub(in crate::strategy::auto) fn settle(&mut self, around: &[Surroundings]) -> bool {
        let (workers, most) =
            around.first().map_or((1, 0), |first| (first.workers.max(1), first.most_tests()));
        let mut goes_on = true;
        while goes_on && self.n_tests < most {
            goes_on = false;
            let mut order: Vec<usize> =
                (0..self.rounds.len()).filter(|&k| self.rounds[k].is_some()).collect();
            order.sort_by_key(|&k| (self.n_open(k), k));
            for k in order {
                if self.waiting.len() >= workers {
                    break;
                }
                goes_on |= self.advance(k, around);
            }
        }
        self.waiting.is_empty() && (self.rounds.iter().all(Option::is_none) || self.n_tests >= most)
    }

    fn n_open(&self, k: usize) -> usize {
        match &self.rounds[k] {
            Some(Round::Coded(round)) => round.n_waiting(),
            _ => 0,
        }
    }

    /// Lets one output ask; whether there is more to be told with what is known.
    fn advance(&mut self, k: usize, around: &[Surroundings]) -> bool {
        self.take_out(k);
        let Some(round) = &mut self.rounds[k] else { return false };
        let (state, found) = match round {
            // All inputs alike are as dense as any others: there is no line to follow under limits.
            Round::Coded(round) => (round.advance(true, |_| 1.0), std::mem::take(&mut round.found)),
            Round::Halving(round) => (round.advance(), std::mem::take(&mut round.found)),
        };
        self.found.extend(found.iter().map(|found| found.place));
        match state {
            RoundState::Going => {}
            RoundState::Doubtful => self.is_doubtful = true,
            RoundState::Done => self.rounds[k] = None,
            RoundState::Dense | RoundState::Uniform => {
                (self.dense[k], self.rounds[k]) = (true, None);
                self.drop_tests(k);
            }
        }
        self.hand_out(k, around) || state == RoundState::Doubtful
    }

    /// Passes on the tests of an output; those that were evaluated before are answered at once, and it says whether any was.
    fn hand_out(&mut self, k: usize, around: &[Surroundings]) -> bool {
        let tests = match &mut self.rounds[k] {
            Some(Round::Coded(round)) => std::mem::take(&mut round.tests),
            Some(Round::Halving(round)) => std::mem::take(&mut round.tests),
            None => return false,
        };
        let mut is_answered = false;
        for test in tests {
            let mut moved: Moved = (test.group.0.clone(), test.chunk, test.part.to_bits(), 0);
            let times = self.times.entry((k, moved.clone())).or_default();
            // Asked again, it wants another evaluation: there is noise.
            moved.3 = *times;
            *times += 1;
            if let Some(values) = self.answers.get(&moved) {
                let value = values[k];
                self.answer(k, test, value, around);
                is_answered = true;
                continue;
            }
            if !self.waiting.contains_key(&moved) {
                self.tests.push_back(moved.clone());
                self.n_tests += 1;
            }
            self.waiting.entry(moved).or_default().push((k, test));
        }
        is_answered
    }

    /// Takes back the tests that nobody but this output waits for.
    fn drop_tests(&mut self, k: usize) {
        for waiting in self.waiting.values_mut() {
            waiting.retain(|(other, _)| *other != k);
        }
        let waiting = &self.waiting;
        let before = self.tests.len();
        self.tests.retain(|moved| waiting.get(moved).is_some_and(|waiting| !waiting.is_empty()));
        self.n_tests -= before - self.tests.len();
        let tests = &self.tests;
        // What is under way stays, whoever wants it.
        let is_asked = |moved: &Moved| !tests.contains(moved);
        self.waiting.retain(|moved, waiting| !waiting.is_empty() || is_asked(moved));
    }

    /// Takes single inputs that were measured out of the groups of an output.
    fn take_out(&mut self, k: usize) {
        let (Some(Round::Coded(round)), Some(base)) = (&mut self.rounds[k], self.base[k]) else { return };
        for ((parts, chunk, part, _), values) in &self.answers {
            if let ([(start, end)], None, Some(value)) = (&parts[..], chunk, values[k])
                && start + 1 == *end
            {
                let answer = (value - base) / f64::from_bits(*part);
                if answer.abs() > round.threshold() {
                    self.found.insert(*start);
                }
                round.known_part(&Group::range(*start, *end), answer);
            }
        }
    }

    /// Places of inputs that some output has found to matter.
    pub(in crate::strategy::auto) fn found(&self) -> Vec<usize> {
        self.found.iter().copied().collect()
    }

    /// Whether too many inputs drive an output.
    pub(in crate::strategy::auto) fn is_dense(&self, k: usize) -> bool {
        self.dense[k]
    }

    /// What an input alone changes in an output, and what an idle one would change at most; None if it was not measured.
    pub(in crate::strategy::auto) fn effect(&self, place: usize, k: usize, sigma: f64) -> Option<(f64, f64)> {
        let base = self.base[k]?;
        let moved = (vec![(place, place + 1)], None, 1.0_f64.to_bits(), 0);
        let value = self.answers.get(&moved)?[k]?;
        let threshold = (tuning::SIGNIFICANT * sigma).max(tuning::ROUNDING_OF_VALUE * base.abs());
        Some((value - base, threshold))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIGMA: f64 = 0.0;

    /// Screens n inputs for the outputs of `f`: places found, tests, and what each changes in which output.
    fn screen(
        n: usize,
        step: f64,
        far: bool,
        workers: usize,
        f: impl Fn(&[f64]) -> Vec<Option<f64>>,
    ) -> Panel {
        let base = f(&vec![0.5; n]);
        let around = vec![Surroundings { sigma: SIGMA, workers, budget: 200 }; base.len()];
        let mut panel = Panel::new(0, n, step, far, base, &around);
        let mut out = VecDeque::new();
        loop {
            while out.len() < workers
                && let Some(test) = panel.take()
            {
                out.push_back(test);
            }
            let Some(test) = out.pop_front() else { break };
            let (parts, chunk, part) = test.parts();
            let mut x = vec![0.5; n];
            let places: Vec<usize> = parts.iter().flat_map(|&(start, end)| start..end).collect();
            for (rank, &place) in places.iter().enumerate() {
                let weight = chunk
                    .map_or(1.0, |chunk| (rank / chunk + 1) as f64 / places.len().div_ceil(chunk) as f64);
                x[place] += step * part * weight;
            }
            panel.told(test, &f(&x), &around);
            if panel.settle(&around) {
                break;
            }
        }
        panel
    }

    /// Three outputs of six inputs, which share some.
    fn shared(x: &[f64]) -> Vec<Option<f64>> {
        let mass = x[3] + 2.0 * x[40] * x[41] + 0.3 * x[977] + 0.001 * x[500];
        Some(vec![mass, 1e6 * (x[3] / (1.0 + x[41])), 1e-3 * (x[500] * x[500] - x[612])])
            .map(|all| all.into_iter().map(Some).collect())
            .unwrap_or_default()
    }

    #[test]
    fn one_set_of_tests_names_the_inputs_of_every_output() {
        let panel = screen(1_000, 1e-4, false, 1, shared);
        assert_eq!(panel.found(), [3, 40, 41, 500, 612, 977]);
        let drives = |k: usize| {
            let effect = |place: &usize| panel.effect(*place, k, SIGMA).is_some_and(|(e, t)| e.abs() > t);
            panel.found().into_iter().filter(effect).collect::<Vec<usize>>()
        };
        assert_eq!(
            (drives(0), drives(1), drives(2)),
            (vec![3, 40, 41, 500, 977], vec![3, 41], vec![500, 612])
        );
        // Alone, the three outputs take 8 first groups each and some three tests for each of their nine inputs.
        assert!(panel.n_tests <= 35, "{}", panel.n_tests);
    }

    #[test]
    fn several_workers_name_the_same() {
        for workers in [3, 10] {
            assert_eq!(screen(1_000, 1e-4, false, workers, shared).found(), [3, 40, 41, 500, 612, 977]);
        }
    }

    #[test]
    fn large_steps_find_what_small_ones_do_not_move() {
        let stairs = |x: &[f64]| {
            let step = |k: usize| (4.0 * x[k]).floor();
            vec![Some(step(7) + 3.0 * step(90)), Some(step(90)), None]
        };
        assert_eq!(screen(120, 1e-4, false, 1, stairs).found(), [0_usize; 0]);
        assert_eq!(screen(120, 0.45, true, 1, stairs).found(), [7, 90]);
    }

    #[test]
    fn an_output_that_breaks_at_times_leaves_the_others_alone() {
        // The second output is missing wherever input 5 moves up by more than half a step.
        let breaks = |x: &[f64]| vec![Some(x[5] + x[60]), (x[5] <= 0.5 + 0.6e-4).then(|| x[60] - x[5])];
        let panel = screen(100, 1e-4, false, 1, breaks);
        assert_eq!(panel.found(), [5, 60]);
    }
}
