//! A round of screening with small steps: codes name the inputs that answer.
//!
//! Inputs are cut into a few groups, and all inputs of a group move by one step. A group that answers is *open*. Answers to
//! small steps add up, and that is used twice. If one input of the group does it all, a second test, in which chunks move by
//! 1/n, 2/n, ..., 1 of the step, names its chunk by the ratio of the two answers; a third proves it. And what the rest of
//! the group would answer is a subtraction. A ratio that names no chunk means two or more inputs: the group is halved.
//!
//! A test whose evaluation breaks is asked again with half the step, and given up after that: the group is cut instead.

use super::group::Group;
use super::joint::{Answering, JointProbes, Reading};
use super::round::{About, GroupTest, NamedPlace, RoundState, Surroundings};
use crate::strategy::auto::tuning;
use std::collections::VecDeque;

/// A group and what is known of it.
#[derive(Debug, Clone)]
struct KnownGroup {
    group: Group,
    answer: Option<f64>,
    /// Whether the answer is a difference of others.
    is_inferred: bool,
    /// Chunk size and answer of a coded test asked ahead.
    code: Option<(usize, f64)>,
}

/// A round.
pub(super) struct Coded {
    /// How far inputs move.
    pub(super) step: f64,
    /// Value at the base.
    pub(super) base_value: f64,
    sum_kept: bool,
    known: Vec<KnownGroup>,
    n_first: usize,
    open: Vec<usize>,
    /// Tests that wait to be asked.
    pub(super) tests: VecDeque<GroupTest>,
    /// Tests asked and not answered.
    busy: usize,
    /// Groups found idle.
    dead: usize,
    /// Shares of the weaker half in all splits.
    splits: Vec<f64>,
    n_found: usize,
    /// Inputs found and not named yet.
    pub(super) found: Vec<NamedPlace>,
    /// Tests so far.
    pub(super) n_tests: usize,
    /// Splits and inputs found when weak groups began to wait.
    late: Option<(usize, usize)>,
    /// Whether the noise was put in doubt: once per round.
    doubted: bool,
    around: Surroundings,
    /// Probes that read the first groups together, where they can be made.
    pub(super) joint: Option<JointProbes>,
}

impl Coded {
    /// A round over `n` inputs.
    pub(super) fn new(n: usize, step: f64, base_value: f64, sum_kept: bool, around: Surroundings) -> Coded {
        let mut round = Coded {
            step,
            base_value,
            sum_kept,
            known: vec![],
            n_first: 0,
            open: vec![],
            tests: VecDeque::new(),
            busy: 0,
            dead: 0,
            splits: vec![],
            n_found: 0,
            found: vec![],
            n_tests: 0,
            late: None,
            doubted: false,
            around,
            joint: None,
        };
        for group in Group::range(0, n).split(around.n_groups()) {
            let index = round.learn(group, None, false);
            round.ask_whole(index);
        }
        round.n_first = round.known.len();
        if round.many() {
            for index in 0..round.n_first {
                let m = round.known[index].group.len();
                if m >= tuning::CODED_FROM {
                    let chunk = round.chunk(m, tuning::CURVATURE * step);
                    round.ask(round.known[index].group.clone(), Some(chunk), About::CodeAhead(index));
                }
            }
        }
        round
    }

    fn many(&self) -> bool {
        self.around.workers >= tuning::CROWD
    }

    /// An answer no larger than this is none.
    pub(super) fn threshold(&self) -> f64 {
        (tuning::SIGNIFICANT * self.around.sigma).max(tuning::ROUNDING_OF_VALUE * self.base_value.abs())
    }

    fn learn(&mut self, group: Group, answer: Option<f64>, is_inferred: bool) -> usize {
        self.known.push(KnownGroup { group, answer, is_inferred, code: None });
        self.known.len() - 1
    }

    fn ask(&mut self, group: Group, chunk: Option<usize>, about: About) {
        self.tests.push_back(GroupTest { group, chunk, part: 1.0, about });
        self.busy += 1;
        self.n_tests += 1;
    }

    fn ask_whole(&mut self, index: usize) {
        self.ask(self.known[index].group.clone(), None, About::Whole(index));
    }

    /// Groups that answer weakly and wait.
    pub(super) fn n_waiting(&self) -> usize {
        self.open.len()
    }

    /// The slope along all inputs moved alike, from the answers of the first groups.
    pub(super) fn slope(&self, sign_of: impl Fn(&Group) -> f64) -> f64 {
        self.known[..self.n_first]
            .iter()
            .map(|known| known.answer.unwrap_or(0.0) * sign_of(&known.group))
            .sum::<f64>()
            / self.step
    }

    /// Whether the first groups answer alike, member by member.
    fn is_uniform(&self, sign_of: &impl Fn(&Group) -> f64) -> bool {
        let first = &self.known[..self.n_first];
        let per = |known: &KnownGroup| Some(known.answer? * sign_of(&known.group) / known.group.len() as f64);
        let Some(per) = first.iter().map(per).collect::<Option<Vec<f64>>>() else { return false };
        let n = per.len() as f64;
        let mean = per.iter().sum::<f64>() / n;
        let sd = (per.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n).sqrt();
        per.len() > tuning::ALIKE_GROUPS && mean.abs() > tuning::ALIKE * sd
    }

    /// Takes the answer to a test: the value, or none if the evaluation broke.
    pub(super) fn told(&mut self, test: GroupTest, value: Option<f64>, around: Surroundings) {
        self.around = around;
        self.busy -= 1;
        match value {
            // Small steps answer in proportion.
            Some(value) => {
                let answer = (value - self.base_value) / test.part;
                self.answered(test, answer);
            }
            None if test.part > tuning::BROKEN_ONCE => {
                self.tests.push_front(GroupTest { part: 0.5 * test.part, ..test });
                self.busy += 1;
                self.n_tests += 1;
            }
            None => self.given_up(test),
        }
    }

    fn answered(&mut self, test: GroupTest, answer: f64) {
        match test.about {
            About::Whole(index) => self.measured(index, answer),
            About::CodeAhead(index) => self.known[index].code = Some((test.chunk.unwrap_or(1), answer)),
            About::Code(index) => self.decode(index, test.chunk.unwrap_or(1), answer),
            About::Chunk(index) => self.verified(index, test.group, answer),
            About::Half(index) => self.halved(index, test.group, answer),
            About::Node(_) => {}
        }
    }

    /// Twice broken: nothing is known of the group, so it is cut.
    fn given_up(&mut self, test: GroupTest) {
        let strongest = self.strongest();
        let index = match test.about {
            About::CodeAhead(_) | About::Node(_) => return,
            About::Whole(index) | About::Code(index) | About::Chunk(index) => index,
            About::Half(_) => self.learn(test.group.clone(), None, false),
        };
        if self.known[index].group.len() > 1 {
            self.known[index].answer.get_or_insert(strongest);
            self.halve(index);
        }
    }

    fn strongest(&self) -> f64 {
        self.known[..self.n_first].iter().filter_map(|known| known.answer).fold(0.0, |a, b| a.max(b.abs()))
    }

    fn measured(&mut self, index: usize, answer: f64) {
        let known = &mut self.known[index];
        (known.answer, known.is_inferred) = (Some(answer), false);
        if answer.abs() <= self.threshold() {
            self.dead += 1;
        } else {
            self.open.push(index);
        }
    }

    /// A part of a group, whose answer was measured or is what is left of its parent's.
    fn child(&mut self, group: Group, answer: f64, is_inferred: bool, parent: f64) {
        if group.len() == 0 {
            return;
        }
        let index = self.learn(group, Some(answer), is_inferred);
        if !is_inferred {
            self.measured(index, answer);
        } else if answer.abs() > (tuning::UNEXPLAINED * parent.abs()).max(self.threshold()) {
            self.open.push(index);
        } else if answer.abs() <= (tuning::CURVATURE * self.step * parent.abs()).max(self.threshold()) {
            self.dead += 1;
        } else {
            self.ask_whole(index);
        }
    }

    /// A part of a group that waits was measured for another output: it is taken out, and what is left of the group is a subtraction.
    pub(super) fn known_part(&mut self, part: &Group, answer: f64) {
        let holds = |index: &usize| {
            let group = &self.known[*index].group;
            group.len() > part.len() && part.first().is_some_and(|place| group.holds(place))
        };
        let Some(at) = self.open.iter().position(holds) else { return };
        let index = self.open.remove(at);
        let KnownGroup { group, answer: whole, .. } = self.known[index].clone();
        let whole = whole.unwrap_or(0.0);
        // What curvature does to the difference goes by the larger of the two.
        let larger = whole.abs().max(answer.abs());
        self.child(group.without(part), whole - answer, true, larger);
    }

    /// Gives work to open groups, strongest first, and says where the round stands. `sign_of` is the sense of a group's
    /// move.
    pub(super) fn advance(&mut self, lined: bool, sign_of: impl Fn(&Group) -> f64) -> RoundState {
        if self.late.is_some() {
            return RoundState::Done;
        }
        if self.n_found == 0 {
            if !lined && !self.sum_kept && self.is_uniform(&sign_of) {
                return RoundState::Uniform;
            }
            if self.is_dense() {
                return RoundState::Dense;
            }
        }
        let level_one_known = self.known[..self.n_first].iter().all(|known| known.answer.is_some());
        if !self.many() && !level_one_known {
            return RoundState::Going;
        }
        if self.n_found == 0 && !self.doubted && self.is_doubtful() {
            self.doubted = true;
            return RoundState::Doubtful;
        }
        if self.reads_together() {
            return RoundState::Going;
        }
        let top = self.strongest();
        let strength = |round: &Coded, index: usize| round.known[index].answer.unwrap_or(0.0).abs();
        self.open.sort_by(|&a, &b| {
            let of = |index: usize| self.known[index].answer.unwrap_or(0.0).abs();
            of(b).total_cmp(&of(a)).then(a.cmp(&b))
        });
        while self.n_tests < self.around.most_tests()
            && (self.many() || self.busy < self.around.workers.max(1))
        {
            let ready = |index: usize| {
                let known = &self.known[index];
                !self.many()
                    || index >= self.n_first
                    || known.code.is_some()
                    || known.group.len() < tuning::CODED_FROM
            };
            let strong = |index: usize| strength(self, index) >= tuning::WEAK_GROUP * top;
            let Some(at) = self.open.iter().position(|&index| strong(index) && ready(index)) else { break };
            let index = self.open.remove(at);
            self.resolve(index);
        }
        let strong_left = self.open.iter().any(|&index| strength(self, index) >= tuning::WEAK_GROUP * top);
        if self.busy == 0 && (!strong_left || self.n_tests >= self.around.most_tests()) {
            self.late = Some((self.splits.len(), self.n_found));
            return RoundState::Done;
        }
        RoundState::Going
    }

    /// Whether probes read the first groups together: from some groups that answer on, if one is idle. (If none is, too many
    /// inputs may matter to name them.)
    fn reads_together(&mut self) -> bool {
        let wanted = !self.many() && self.dead > 0 && self.open.len() >= tuning::JOINT_FROM;
        self.joint.as_mut().is_some_and(|joint| joint.begin(wanted))
    }

    /// Whether another probe is wanted.
    pub(super) fn wants_probe(&self) -> bool {
        self.joint.as_ref().is_some_and(|joint| joint.wants_more(self.around.workers))
    }

    /// Takes note that a probe was asked.
    pub(super) fn probe_asked(&mut self) {
        self.n_tests += 1;
        if let Some(joint) = &mut self.joint {
            joint.asked();
        }
    }

    /// Reads probes and groups together, if there is something new; `order` has the inputs of places, and only those that `may`
    /// are looked at. All groups are explained then, and weak slopes are asked about one by one.
    pub(super) fn read_probes(&mut self, order: &[u32], sigma: f64, may: impl Fn(usize) -> bool) {
        let (known, open) = (&self.known, &self.open);
        let Some(joint) = self.joint.as_mut().filter(|joint| joint.is_asking()) else { return };
        let answering = |&index: &usize| {
            let all = known[index].group.0.iter().flat_map(|&(start, end)| start..end);
            let places = all.filter(|&place| may(order[place] as usize)).collect();
            Answering { places, answer: known[index].answer.unwrap_or(0.0) }
        };
        let groups: Vec<Answering> = open.iter().map(answering).collect();
        let Some(Reading { found, doubtful }) = joint.read(&groups, self.step, order, sigma) else { return };
        self.open.clear();
        self.n_found += found.len();
        self.found.extend(found);
        for NamedPlace { place, answer, .. } in doubtful {
            let index = self.learn(Group::range(place, place + 1), Some(answer), true);
            self.ask_whole(index);
        }
    }

    /// Looks into a weak group while the optimisation goes on; false if there is none to look into.
    pub(super) fn look_closer(&mut self) -> bool {
        let Some((splits, found)) = self.late else { return false };
        if self.busy > 0 || self.open.is_empty() || self.n_tests >= self.around.most_tests() {
            return false;
        }
        let vain = self.splits[splits..].iter().filter(|&&share| share > tuning::EVEN_SPLIT).count();
        if vain >= tuning::VAIN_SPLITS && found == self.n_found {
            // A weak background of many inputs.
            self.open.clear();
            return false;
        }
        let strength = |index: usize| self.known[index].answer.unwrap_or(0.0).abs();
        let strongest = (0..self.open.len())
            .fold(0, |best, at| if strength(self.open[at]) > strength(self.open[best]) { at } else { best });
        let index = self.open.remove(strongest);
        self.resolve(index);
        !self.tests.is_empty()
    }

    /// Forgets weak groups.
    pub(super) fn drop_waiting(&mut self) {
        self.open.clear();
    }

    /// Whether no group is silent, as it is where there is noise or all inputs matter. Noise measured by one pair of values is
    /// ten times too small in one study of twelve, so one more is worth its price then.
    fn is_doubtful(&self) -> bool {
        let silent = tuning::SILENT * self.strongest();
        let mut answers = self.known[..self.n_first].iter().filter_map(|known| known.answer);
        !self.sum_kept && answers.all(|answer| answer.abs() > silent)
    }

    /// Whether too many inputs answer to name them: no group is idle, and hardly a split is between active and idle ones.
    fn is_dense(&self) -> bool {
        if self.dead > 0 || self.known[..self.n_first].iter().any(|known| known.answer.is_none()) {
            return false;
        }
        let even = self.splits.iter().filter(|&&share| share > tuning::EVEN_SPLIT).count();
        let enough = (self.around.budget / tuning::BUDGET_PER_EVEN_SPLIT).max(tuning::FEWEST_EVEN_SPLITS);
        even >= enough && even as f64 >= tuning::EVEN_SPLITS_OF_ALL * self.splits.len() as f64
    }

    fn chunk(&self, m: usize, error: f64) -> usize {
        let levels = ((tuning::LEVEL_WIDTH / error) as usize).clamp(2, m);
        let levels = if self.sum_kept { levels.min(tuning::SUM_LEVELS) } else { levels };
        let chunk = m.div_ceil(levels);
        if self.sum_kept { chunk + chunk % 2 } else { chunk }
    }

    fn resolve(&mut self, index: usize) {
        let KnownGroup { group, answer, is_inferred, code } = self.known[index].clone();
        let (m, answer) = (group.len(), answer.unwrap_or(0.0));
        if m == 1 {
            match (is_inferred, group.first()) {
                (true, _) => self.ask_whole(index),
                (false, Some(place)) => {
                    let threshold = self.threshold();
                    self.found.push(NamedPlace { place, answer, threshold });
                    self.n_found += 1;
                }
                (false, None) => {}
            }
            return;
        }
        let free = self.around.workers.saturating_sub(self.busy);
        if self.many() && m <= free.max(tuning::FAN_FROM) {
            return self.fan(&group, m);
        }
        let error = tuning::RATIO_SD * self.around.sigma / answer.abs() + tuning::CURVATURE * self.step;
        if m < tuning::CODED_FROM || tuning::LEVEL_WIDTH / error < tuning::CODED_FROM as f64 {
            return self.halve(index);
        }
        if let Some((chunk, coded)) = code {
            return self.decode(index, chunk, coded);
        }
        let chunk = self.chunk(m, error);
        self.ask(group, Some(chunk), About::Code(index));
    }

    /// Reads the code: which chunk answers for the whole group?
    fn decode(&mut self, index: usize, chunk: usize, coded: f64) {
        let KnownGroup { group, answer, .. } = &self.known[index];
        let n = group.len().div_ceil(chunk) as f64;
        let level = coded / answer.unwrap_or(1.0) * n;
        let nearest = level.round();
        if !(1.0..=n).contains(&nearest) || (level - nearest).abs() > tuning::OFF_LEVEL {
            self.splits.push(1.0);
            return self.halve(index);
        }
        let k = nearest as usize - 1;
        let (part, _) = group.cut(k * chunk, (k + 1) * chunk);
        self.ask(part, None, About::Chunk(index));
    }

    fn verified(&mut self, index: usize, part: Group, measured: f64) {
        let KnownGroup { group, answer, .. } = self.known[index].clone();
        let whole = answer.unwrap_or(0.0);
        let rest = group.without(&part);
        let left = whole - measured;
        let tolerance = tuning::UNEXPLAINED.max(tuning::UNEXPLAINED_SD * self.around.sigma / whole.abs());
        let explained = left.abs() <= tolerance * whole.abs();
        let silent = measured.abs() <= self.threshold().max(tuning::CURVATURE * self.step * whole.abs());
        if !explained {
            // The code was not of one chunk.
            self.splits.push(1.0);
        }
        if !explained && silent {
            let is_inferred = self.known[index].is_inferred;
            let index = self.learn(rest, Some(whole), is_inferred);
            return self.halve(index);
        }
        self.child(part, measured, false, whole);
        self.child(rest, left, true, whole);
    }

    /// Cuts a group into as many parts as there are workers for.
    fn fan(&mut self, group: &Group, count: usize) {
        for part in group.split(count) {
            let index = self.learn(part, None, false);
            self.ask_whole(index);
        }
    }

    fn halve(&mut self, index: usize) {
        let group = self.known[index].group.clone();
        let m = group.len();
        let free = self.around.workers.saturating_sub(self.busy);
        if self.many() && free >= tuning::FAN_FROM && !self.sum_kept && m > 2 && self.n_found > 0 {
            return self.fan(&group, free.min(tuning::FAN_PARTS));
        }
        if m == 1 {
            self.open.push(index);
            return;
        }
        let mut k = m / 2;
        if self.sum_kept && m > 2 {
            k += k % 2;
        }
        self.ask(group.cut(0, k).0, None, About::Half(index));
    }

    fn halved(&mut self, index: usize, first: Group, measured: f64) {
        let KnownGroup { group, answer, .. } = self.known[index].clone();
        let whole = answer.unwrap_or(0.0);
        let second = group.without(&first);
        let other = whole - measured;
        let (weak, strong) = (measured.abs().min(other.abs()), measured.abs().max(other.abs()));
        self.splits.push(weak / strong.max(1e-300));
        self.child(first, measured, false, whole);
        self.child(second, other, true, whole);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;

    const STEP: f64 = 1e-4;

    /// Screens inputs with these slopes, the noise believed to be `sigma`; returns what was named, the tests taken, and
    /// whether the noise was doubted.
    fn screen(
        n: usize,
        slopes: &[(usize, f64)],
        mut noise: impl FnMut() -> f64,
        sigma: f64,
    ) -> (Vec<usize>, usize, bool) {
        let around = Surroundings { sigma, workers: 1, budget: 200 };
        let mut round = Coded::new(n, STEP, 1.0, false, around);
        let mut doubted = false;
        loop {
            match round.advance(true, |_| 1.0) {
                RoundState::Doubtful => doubted = true,
                RoundState::Going => {}
                _ => break,
            }
            let Some(test) = round.tests.pop_front() else { continue };
            let places = test.group.0.iter().flat_map(|&(start, end)| start..end);
            let m = test.group.len();
            let change: f64 = places
                .enumerate()
                .map(|(rank, place)| {
                    let weight =
                        test.chunk.map_or(1.0, |chunk| (rank / chunk + 1) as f64 / m.div_ceil(chunk) as f64);
                    slopes
                        .iter()
                        .filter(|(active, _)| *active == place)
                        .map(|(_, slope)| weight * slope)
                        .sum::<f64>()
                })
                .sum();
            round.told(test, Some(1.0 + STEP * change + noise()), around);
        }
        let mut named: Vec<usize> =
            std::mem::take(&mut round.found).iter().map(|found| found.place).collect();
        named.sort_unstable();
        (named, round.n_tests, doubted)
    }

    #[test]
    fn inputs_are_named_by_their_codes() {
        let slopes = [(17, 1.0), (4_000, -0.5), (4_001, 0.7), (7_300, 0.3), (9_999, -2.0)];
        let (named, n, doubted) = screen(10_000, &slopes, || 0.0, 0.0);
        assert_eq!(named, [17, 4_000, 4_001, 7_300, 9_999]);
        // 8 groups, code, proof and two for the chunk for each of four alone, and as much again for the pair.
        assert!(n <= 50, "{n} tests");
        assert!(!doubted, "silent groups say that there is no noise");
        assert_eq!(screen(10_000, &[], || 0.0, 0.0), (vec![], 8, false));
    }

    #[test]
    fn noise_taken_for_answers_is_doubted() {
        // Believed to be a tenth of what it is.
        for seed in 0..20 {
            let mut stream = Stream::new(seed, "noise of tests", 0);
            let (.., doubted) = screen(1_000, &[(3, 1.0)], || 1e-4 * stream.normal(), 1e-5);
            assert!(doubted, "seed {seed}");
        }
    }
}
