//! Which points were asked before, by their fingerprints: eight bytes for each of many, where a map would take thirty.
//!
//! Those of trials that came in large numbers are a sorted list, those since a map. Cost: O(log n) to ask, add and take
//! back; n log n where many come at once.

use std::collections::BTreeMap;

/// New ones are joined to the list if they are at least a part of it: so each is moved a few times at most.
const JOINED: usize = 4;

/// Fingerprints, each as often as it was added.
#[derive(Default)]
pub(super) struct Fingerprints {
    /// In increasing order.
    sorted: Vec<u64>,
    /// Added since, and taken back since.
    added: BTreeMap<u64, usize>,
    removed: BTreeMap<u64, usize>,
}

impl Fingerprints {
    /// Whether it was added more often than removed.
    pub(super) fn contains(&self, fingerprint: u64) -> bool {
        self.count(fingerprint) > 0
    }

    fn count(&self, fingerprint: u64) -> usize {
        let times = |map: &BTreeMap<u64, usize>| map.get(&fingerprint).copied().unwrap_or(0);
        let first = self.sorted.partition_point(|&other| other < fingerprint);
        let in_list = self.sorted[first..].iter().take_while(|&&other| other == fingerprint).count();
        (in_list + times(&self.added)).saturating_sub(times(&self.removed))
    }

    /// Adds one.
    pub(super) fn add(&mut self, fingerprint: u64) {
        *self.added.entry(fingerprint).or_default() += 1;
    }

    /// Adds many.
    pub(super) fn add_all(&mut self, mut fingerprints: Vec<u64>) {
        if fingerprints.len() * JOINED < self.sorted.len() {
            return fingerprints.into_iter().for_each(|fingerprint| self.add(fingerprint));
        }
        if self.sorted.is_empty() {
            self.sorted = fingerprints;
        } else {
            self.sorted.append(&mut fingerprints);
        }
        self.sorted.sort_unstable();
    }

    /// Takes one back, if it is there.
    pub(super) fn remove(&mut self, fingerprint: u64) {
        if self.contains(fingerprint) {
            *self.removed.entry(fingerprint).or_default() += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;

    #[test]
    fn it_is_a_plain_count() {
        let seed = 3;
        let mut stream = Stream::new(seed, "fingerprints", 0);
        let (mut fingerprints, mut plain) = (Fingerprints::default(), [0_usize; 50]);
        for _ in 0..2_000 {
            // Few of them, so that most come again.
            let one = stream.below(plain.len());
            match stream.below(8) {
                0 => {
                    let many: Vec<u64> =
                        (0..stream.below(40)).map(|_| stream.below(plain.len()) as u64).collect();
                    many.iter().for_each(|&other| plain[other as usize] += 1);
                    fingerprints.add_all(many);
                }
                1..4 => {
                    plain[one] += 1;
                    fingerprints.add(one as u64);
                }
                _ => {
                    plain[one] = plain[one].saturating_sub(1);
                    fingerprints.remove(one as u64);
                }
            }
            let counts: Vec<usize> = (0..plain.len()).map(|one| fingerprints.count(one as u64)).collect();
            assert_eq!(counts, plain, "seed {seed}");
        }
    }
}
