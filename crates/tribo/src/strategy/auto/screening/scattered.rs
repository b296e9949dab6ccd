//! Screening for a crowd of workers: all inputs move at once, at random, and sparse slopes are read off.
//!
//! Groups and codes ask in rounds, each of which waits for the one before. A crowd would stand by. Here every probe moves
//! every input by a random part of a small step, so probes do not depend on each other and none is waited for: the changes
//! are y = W g with the parts W and the slopes g, and if few slopes differ from zero, some multiple of their number of probes
//! determines them, nearly whatever the number of inputs (`sparse`). A solution is its own proof: no wrong set of k inputs
//! explains 3k + 6 changes to a thousandth.
//!
//! It finds nothing when slopes are not sparse, or weak ones hide behind curvature; codes and the rest check follow then.

use super::round::NamedPlace;
use super::sparse::{Proof, explain};
use crate::rng::bits_at;
use crate::strategy::auto::tuning;

/// The probes so far.
pub(in crate::strategy::auto) struct Probes {
    /// Probes at most.
    most: usize,
    n_asked: usize,
    n_back: usize,
    /// The words that the parts of all inputs are read from, and the value.
    rows: Vec<(Vec<u64>, f64)>,
    /// Rows at the last attempt to read them.
    n_read: usize,
}

/// What the probes say.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::strategy::auto) enum Slopes {
    /// Nothing yet.
    Open,
    /// Nothing answers at the base, or too little to be sure, or too many inputs.
    None,
    /// These inputs answer, and no others.
    Of(Vec<NamedPlace>),
}

/// Inputs whose parts are in one word, four bits each.
pub(super) const IN_WORD: usize = 16;

/// The part of the step that an input moves by: -1, -7/8, ..., -1/8, 1/8, ..., 1. (Signs alone are too much alike: among few
/// probes, sums of a few inputs equal those of others.)
pub(super) fn part(word: u64, input: usize) -> f64 {
    let bits = word >> (4 * (input % IN_WORD)) & 15;
    let size = ((bits >> 1) + 1) as f64 / 8.0;
    if bits & 1 == 1 { size } else { -size }
}

/// The part of an input in the probe with this key.
pub(in crate::strategy::auto) fn part_at(key: u64, input: usize) -> f64 {
    part(bits_at(key, (input / IN_WORD) as u64), input)
}

/// The words of `n` inputs in the probe with this key.
pub(super) fn words(key: u64, n: usize) -> Vec<u64> {
    (0..n.div_ceil(IN_WORD)).map(|word| bits_at(key, word as u64)).collect()
}

impl Probes {
    /// For a study of so many evaluations.
    pub(in crate::strategy::auto) fn new(budget: usize) -> Probes {
        let most = ((tuning::PROBES_IN_BUDGET * budget as f64) as usize).min(tuning::MOST_PROBES);
        Probes { most, n_asked: 0, n_back: 0, rows: vec![], n_read: 0 }
    }

    /// Whether another probe is wanted.
    pub(in crate::strategy::auto) fn wants_more(&self) -> bool {
        self.n_asked < self.most
    }

    pub(in crate::strategy::auto) fn asked(&mut self) {
        self.n_asked += 1;
    }

    pub(in crate::strategy::auto) fn n_back(&self) -> usize {
        self.n_back
    }

    /// Takes the value of the probe of `n` inputs with this key.
    pub(in crate::strategy::auto) fn told(&mut self, key: u64, n: usize, value: Option<f64>) {
        self.n_back += 1;
        if let Some(value) = value {
            self.rows.push((words(key, n), value));
        }
    }

    /// Reads the probes: the value at the base is known, and how noisy values are.
    pub(in crate::strategy::auto) fn read(&mut self, n: usize, base: f64, sigma: f64) -> Slopes {
        if self.rows.len() > self.n_read {
            self.n_read = self.rows.len();
            let rows: Vec<&[u64]> = self.rows.iter().map(|(words, _)| &words[..]).collect();
            let changes: Vec<f64> = self.rows.iter().map(|(_, value)| value - base).collect();
            let threshold = error_of(&changes, sigma);
            if let Some(slopes) = sparse(&rows, n, &changes, threshold) {
                let found = slopes.into_iter().map(|(place, answer)| NamedPlace { place, answer, threshold });
                let found: Vec<NamedPlace> = found.collect();
                return if found.is_empty() { Slopes::None } else { Slopes::Of(found) };
            }
        }
        if self.n_back >= self.most { Slopes::None } else { Slopes::Open }
    }
}

/// What may stay unexplained of changes: noise, and the usual share of curvature.
fn error_of(changes: &[f64], sigma: f64) -> f64 {
    let size = (changes.iter().map(|change| change * change).sum::<f64>() / changes.len() as f64).sqrt();
    (tuning::SIGNIFICANT * sigma).max(tuning::LENIENCE * tuning::CURVATURE * tuning::SMALL_STEP.0 * size)
}

/// The few inputs whose slopes explain all changes up to an error, with what each changes; none if there are no such.
fn sparse(rows: &[&[u64]], n: usize, changes: &[f64], error: f64) -> Option<Vec<(usize, f64)>> {
    let part = |row: &[u64], input: usize| part(row[input / IN_WORD], input);
    let (each, spare, paths) = (tuning::PROBES_EACH, tuning::PROBES_SPARE, tuning::PATHS);
    let proof = Proof { each, spare, error, paths };
    let column = |input: usize| rows.iter().map(|row| part(row, input)).collect();
    let agreement = |input: usize, left: &[f64]| {
        rows.iter().zip(left).map(|(row, left)| part(row, input) * left).sum::<f64>().abs()
    };
    let slopes = explain(n, changes, &proof, column, agreement)?;
    let strongest = slopes.iter().fold(0.0, |a: f64, slope| a.max(slope.1.abs()));
    let certain = (tuning::CERTAIN * error).max(tuning::WEAK_SLOPE * strongest);
    Some(slopes.into_iter().filter(|slope| slope.1.abs() > certain).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;

    /// Probes until the slopes are read, and what is read.
    fn read(n: usize, slopes: &[(usize, f64)], error: f64, seed: u64) -> (usize, Vec<(usize, f64)>) {
        let mut stream = Stream::new(seed, "scatter", 0);
        let (mut rows, mut changes) = (vec![], vec![]);
        for count in 1..=tuning::MOST_PROBES {
            let key = stream.bits();
            let change: f64 = slopes.iter().map(|&(input, slope)| slope * part_at(key, input)).sum();
            changes.push(change + 0.5 * error * (2.0 * stream.uniform() - 1.0));
            rows.push(words(key, n));
            let views: Vec<&[u64]> = rows.iter().map(|row| &row[..]).collect();
            if let Some(found) = sparse(&views, n, &changes, error) {
                return (count, found);
            }
        }
        (tuning::MOST_PROBES, vec![])
    }

    #[test]
    fn few_probes_name_six_of_a_thousand() {
        let slopes =
            [(17, 2.6e-4), (300, 1.9e-4), (301, -1.2e-4), (512, 8.8e-5), (800, -6.6e-5), (999, 7.0e-6)];
        for seed in 0..10 {
            let (count, found) = read(1000, &slopes, 3e-7, seed);
            let named: Vec<usize> = found.iter().map(|slope| slope.0).collect();
            assert_eq!(named, slopes.map(|slope| slope.0), "seed {seed}");
            assert!(
                found.iter().zip(slopes).all(|(a, b)| (a.1 - b.1).abs() < 6e-7),
                "seed {seed}: {found:?}"
            );
            assert!(count <= 45, "seed {seed}: {count} probes");
        }
    }

    #[test]
    fn dense_slopes_are_not_read() {
        let mut stream = Stream::new(5, "dense", 0);
        let slopes: Vec<(usize, f64)> = (0..200).map(|input| (input, stream.normal())).collect();
        assert_eq!(read(200, &slopes, 1e-3, 5), (tuning::MOST_PROBES, vec![]));
    }

    #[test]
    fn nothing_is_read_where_slopes_vanish() {
        // The centre is at or near the optimum of a bowl: changes are squares of moves, and no slopes explain them.
        for seed in 0..24 {
            let mut stream = Stream::new(seed, "bowl", 0);
            let slope = [0.0, 1e-4, 3e-3, 1e-2, 3e-2, 6e-2, 0.1, 0.3][seed as usize % 8];
            let (mut rows, mut changes) = (vec![], vec![]);
            for count in 1..=tuning::MOST_PROBES {
                let key = stream.bits();
                let moved = 1e-4 * part_at(key, 7);
                changes.push(slope * moved + moved * moved);
                rows.push(words(key, 1000));
                if count % 8 != 0 {
                    continue;
                }
                let views: Vec<&[u64]> = rows.iter().map(|row| &row[..]).collect();
                let found = sparse(&views, 1000, &changes, error_of(&changes, 1e-16));
                let named: Vec<usize> = found.iter().flatten().map(|slope| slope.0).collect();
                assert!(named.is_empty() || named == [7], "seed {seed}: {named:?} after {count} probes");
            }
        }
    }
}
