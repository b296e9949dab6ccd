//! Groups that answer, read together: probes within a round.
//!
//! Codes and halves take some five tests for each input, one group at a time. Where five of eight groups or more answer, there are
//! seven inputs or more, and about three probes for each name them all at once. As in `scattered`, a probe moves every input by a
//! random part of a small step; what moves in idle groups changes nothing. So only inputs of groups that answer are looked at, and
//! the answers of these groups are equations too.
//!
//! At the base of a round curvature is what it is, and may be a hundredth of the changes. So a set of inputs may leave that much, and
//! weak slopes are no names yet: the round asks for each of these alone. What probes cannot read in a quarter of the budget is
//! left to codes.

use super::round::NamedPlace;
use super::scattered::{IN_WORD, part, words};
use super::sparse::{Proof, explain};
use crate::strategy::auto::tuning;

/// A group that answers: its places, and the answer to one step of all.
pub(super) struct Answering {
    pub(super) places: Vec<usize>,
    pub(super) answer: f64,
}

/// What groups and probes say together.
#[derive(Debug, Default)]
pub(super) struct Reading {
    /// Places that answer.
    pub(super) found: Vec<NamedPlace>,
    /// Places that answer too weakly to be sure.
    pub(super) doubtful: Vec<NamedPlace>,
}

/// How far it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// The first groups are tested.
    Waiting,
    Asking,
    Over,
}

/// The probes of a round.
pub(super) struct JointProbes {
    stage: Stage,
    /// Probes at most.
    most: usize,
    n_asked: usize,
    n_back: usize,
    /// The words that the parts of all inputs are read from, and the change of the value.
    rows: Vec<(Vec<u64>, f64)>,
    /// Rows at the last attempt to read them.
    n_read: usize,
}

impl JointProbes {
    /// For a study of so many evaluations; None if these are too few.
    pub(super) fn new(budget: usize) -> Option<JointProbes> {
        let most = budget / tuning::JOINT_IN_BUDGET;
        let probes =
            JointProbes { stage: Stage::Waiting, most, n_asked: 0, n_back: 0, rows: vec![], n_read: 0 };
        (most >= tuning::FEWEST_JOINT).then_some(probes)
    }

    /// How far an input moves at most.
    pub(super) fn step() -> f64 {
        tuning::SMALL_STEP.0
    }

    /// The first groups are tested: probes are asked if they are `wanted`. Whether they are under way.
    pub(super) fn begin(&mut self, wanted: bool) -> bool {
        if self.stage == Stage::Waiting {
            self.stage = if wanted { Stage::Asking } else { Stage::Over };
        }
        self.stage == Stage::Asking
    }

    pub(super) fn is_asking(&self) -> bool {
        self.stage == Stage::Asking
    }

    /// Whether another probe is wanted; each of the workers may have one.
    pub(super) fn wants_more(&self, workers: usize) -> bool {
        self.is_asking() && self.n_asked < self.most && self.n_asked - self.n_back < workers.max(1)
    }

    pub(super) fn asked(&mut self) {
        self.n_asked += 1;
    }

    /// Takes the change that the probe of `n` inputs with this key made.
    pub(super) fn told(&mut self, key: u64, n: usize, change: Option<f64>) {
        self.n_back += 1;
        if let Some(change) = change {
            self.rows.push((words(key, n), change));
        }
    }

    /// Reads probes and groups, which answered to `step`; `order` has the inputs of places.
    pub(super) fn read(
        &mut self,
        groups: &[Answering],
        step: f64,
        order: &[u32],
        sigma: f64,
    ) -> Option<Reading> {
        let mut reading = None;
        if self.rows.len() > self.n_read {
            self.n_read = self.rows.len();
            reading = self.explained(groups, step, order, sigma);
        }
        if reading.is_some() || self.n_back >= self.most {
            self.stage = Stage::Over;
        }
        reading
    }

    fn explained(&self, groups: &[Answering], step: f64, order: &[u32], sigma: f64) -> Option<Reading> {
        // An answer to a whole step of the round, as one to a step of probes.
        let scale = JointProbes::step() / step;
        let answers = groups.iter().map(|group| group.answer * scale);
        let changes: Vec<f64> = answers.chain(self.rows.iter().map(|(_, change)| *change)).collect();
        let (n_groups, m) = (groups.len(), changes.len());
        let places: Vec<usize> = groups.iter().flat_map(|group| group.places.iter().copied()).collect();
        let of_group = groups.iter().enumerate().flat_map(|(g, group)| vec![g; group.places.len()]);
        // Columns one after the other, and their lengths.
        let mut columns = vec![0.0; places.len() * m];
        for (column, (&place, g)) in columns.chunks_mut(m).zip(places.iter().zip(of_group)) {
            let input = order[place] as usize;
            column[g] = 1.0;
            for (value, (words, _)) in column[n_groups..].iter_mut().zip(&self.rows) {
                *value = part(words[input / IN_WORD], input);
            }
        }
        let norm = |column: &[f64]| column.iter().map(|x| x * x).sum::<f64>().sqrt();
        let norms: Vec<f64> = columns.chunks(m).map(norm).collect();
        let error =
            (tuning::SIGNIFICANT * sigma).max(tuning::JOINT_UNEXPLAINED * norm(&changes) / (m as f64).sqrt());
        let column = |c: usize| columns[c * m..(c + 1) * m].to_vec();
        let agreement = |c: usize, left: &[f64]| {
            let along: f64 = columns[c * m..(c + 1) * m].iter().zip(left).map(|(a, b)| a * b).sum();
            along.abs() / norms[c]
        };
        let (each, for_digit) = tuning::JOINT_PROOF;
        let n_digits = 1 + places.len().checked_ilog10().unwrap_or(0) as usize;
        let proof = Proof { each, spare: for_digit * n_digits, error, paths: tuning::JOINT_PATHS };
        let slopes = explain(places.len(), &changes, &proof, column, agreement)?;
        let strongest = slopes.iter().fold(0.0, |a: f64, slope| a.max(slope.1.abs()));
        let certain = (tuning::JOINT_CERTAIN * error).max(tuning::WEAK_SLOPE * strongest);
        let mut reading = Reading::default();
        for (c, slope) in slopes {
            let named = NamedPlace { place: places[c], answer: slope / scale, threshold: error / scale };
            if slope.abs() > certain { reading.found.push(named) } else { reading.doubtful.push(named) }
        }
        Some(reading)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;
    use crate::strategy::auto::screening::scattered::part_at;

    const N: usize = 1000;
    const STEP: f64 = 3e-4;

    /// Reads inputs with these slopes and a curvature, of which five groups of 125 answer; the probes taken, and the names.
    fn read(slopes: &[(usize, f64)], curvature: f64, seed: u64) -> (usize, Option<Reading>) {
        let mut stream = Stream::new(seed, "joint probes", 0);
        let change = |moved: &dyn Fn(usize) -> f64| -> f64 {
            slopes.iter().map(|&(j, g)| g * moved(j) + curvature * moved(j) * moved(j)).sum()
        };
        let group = |g: usize| {
            let places: Vec<usize> = (g * 125..(g + 1) * 125).collect();
            let answer = change(&|j| if places.contains(&j) { STEP } else { 0.0 });
            Answering { places, answer }
        };
        let groups: Vec<Answering> = (0..5).map(group).collect();
        let order: Vec<u32> = (0..N as u32).collect();
        let mut probes = JointProbes::new(200).unwrap();
        assert!(!probes.wants_more(1), "groups are tested first");
        assert!(probes.begin(true));
        while probes.wants_more(1) {
            let key = stream.bits();
            probes.asked();
            assert!(!probes.wants_more(1) && probes.wants_more(2) == (probes.n_asked < probes.most));
            probes.told(key, N, Some(change(&|j| JointProbes::step() * part_at(key, j))));
            if let Some(reading) = probes.read(&groups, STEP, &order, 1e-12) {
                assert!(!probes.is_asking());
                return (probes.n_back, Some(reading));
            }
        }
        assert!(!probes.is_asking());
        (probes.n_back, None)
    }

    #[test]
    fn eight_inputs_are_named_together_and_weak_ones_doubted() {
        // Of 24 runs, 23 are to be read: what a few probes say of inputs is sometimes too much alike.
        let mut n_read = 0;
        for seed in 0..24 {
            let mut stream = Stream::new(seed, "slopes of eight", 0);
            let mut slopes: Vec<(usize, f64)> =
                (0..7).map(|k| (17 + 89 * k, 0.3 + stream.uniform())).collect();
            slopes.push((620, 0.03));
            let (count, reading) = read(&slopes, 5.0, seed);
            let Some(Reading { found, doubtful }) = reading else { continue };
            n_read += 1;
            assert!(count <= 50, "seed {seed}: {count} probes");
            let mut named: Vec<usize> = found.iter().map(|found| found.place).collect();
            named.sort_unstable();
            assert_eq!(named, slopes[..7].iter().map(|slope| slope.0).collect::<Vec<_>>(), "seed {seed}");
            assert!(doubtful.len() <= 3, "seed {seed}: {doubtful:?}");
            for found in found {
                let slope = slopes.iter().find(|slope| slope.0 == found.place).unwrap().1;
                assert!((found.answer / STEP - slope).abs() < 0.05, "seed {seed}: {found:?}, not {slope}");
            }
        }
        assert!(n_read >= 23, "{n_read} of 24");
    }

    #[test]
    fn too_many_are_left_to_codes_and_small_budgets_have_no_probes() {
        let mut stream = Stream::new(5, "slopes of forty", 0);
        let slopes: Vec<(usize, f64)> = (0..40).map(|k| (15 * k, stream.normal())).collect();
        let (count, reading) = read(&slopes, 0.0, 5);
        assert!(count == 50 && reading.is_none(), "{reading:?}");
        assert!(JointProbes::new(100).is_none());
        let mut unwanted = JointProbes::new(200).unwrap();
        assert!(!unwanted.begin(false) && !unwanted.begin(true), "it is asked once");
    }
}
