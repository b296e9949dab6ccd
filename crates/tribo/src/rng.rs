//! Named random streams: every draw in the library comes from one.
//!
//! A stream is named by (seed, purpose, id) and nothing else, so a draw does not depend on what was drawn
//! before it elsewhere, on threads, or on the order of calls. The name is the key of a ChaCha8 generator:
//! streams with different names are independent for every practical purpose, and making one costs nothing.
//!
//! The mapping from bits to numbers is written here rather than taken from a distribution crate, because the
//! same seed must keep giving the same numbers when such a crate changes its algorithm.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// A source of random numbers for one purpose.
#[derive(Debug, Clone)]
pub struct Stream {
    rng: ChaCha8Rng,
    spare_normal: Option<f64>,
}

impl Stream {
    /// The stream of `purpose` number `id` under `seed`. The purpose is a short constant such as
    /// `"latin hypercube"`; the id separates draws of the same purpose, e.g. a trial number.
    pub fn new(seed: u64, purpose: &str, id: u64) -> Self {
        let mut key = [0_u8; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        key[8..16].copy_from_slice(&fnv1a(purpose).to_le_bytes());
        key[16..24].copy_from_slice(&id.to_le_bytes());
        Stream { rng: ChaCha8Rng::from_seed(key), spare_normal: None }
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.rng.next_u64()
    }

    /// Uniform in [0, 1), on the grid of multiples of 2^-53.
    pub fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
    }

    /// Uniform in {0, …, n-1}, without bias (multiply-and-reject). `n` must be positive.
    pub fn below(&mut self, n: usize) -> usize {
        assert!(n > 0, "below(0) has no value to return");
        let n = n as u64;
        let threshold = n.wrapping_neg() % n;
        loop {
            let product = u128::from(self.bits()) * u128::from(n);
            if product as u64 >= threshold {
                return (product >> 64) as usize;
            }
        }
    }

    /// Standard normal, by Marsaglia's polar method; the second value of each pair is kept for the next call.
    pub fn normal(&mut self) -> f64 {
        if let Some(value) = self.spare_normal.take() {
            return value;
        }
        loop {
            let u = 2.0 * self.uniform() - 1.0;
            let v = 2.0 * self.uniform() - 1.0;
            let s = u * u + v * v;
            if s > 0.0 && s < 1.0 {
                let scale = (-2.0 * s.ln() / s).sqrt();
                self.spare_normal = Some(v * scale);
                return u * scale;
            }
        }
    }

    /// Puts `items` in random order (Fisher-Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i + 1));
        }
    }

    /// `k` different indices below `n`, in increasing order (all of them if `k >= n`).
    ///
    /// Selection sampling: one draw per index passed over, O(n) time and O(k) memory.
    pub fn choose(&mut self, n: usize, k: usize) -> Vec<usize> {
        let mut chosen = Vec::with_capacity(k.min(n));
        for i in 0..n {
            if chosen.len() == k {
                break;
            }
            if self.below(n - i) < k - chosen.len() {
                chosen.push(i);
            }
        }
        chosen
    }
}

/// Number `index` of the uniform draws named by `key`, in [0, 1), without those before it (SplitMix64). For points of very
/// many coordinates of which a few are asked for; `key` comes from a [`Stream`].
pub fn uniform_at(key: u64, index: u64) -> f64 {
    (bits_at(key, index) >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
}

/// Number `index` of the words named by `key`.
pub fn bits_at(key: u64, index: u64) -> u64 {
    let mut word = key.wrapping_add(index.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

/// FNV-1a, 64 bits: names the purpose in the key. Purposes are a handful of constants; collisions between
/// them would show as equal streams in the test below.
fn fnv1a(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_decides_the_stream() {
        let draw = |seed, purpose: &str, id| Stream::new(seed, purpose, id).bits();
        assert_eq!(draw(1, "a", 2), draw(1, "a", 2));
        let others = [draw(1, "a", 2), draw(2, "a", 2), draw(1, "b", 2), draw(1, "a", 3)];
        for i in 0..others.len() {
            for j in 0..i {
                assert_ne!(others[i], others[j]);
            }
        }
    }

    #[test]
    fn moments_are_those_of_the_law() {
        // Bounds are five standard errors of each estimate.
        let n = 40_000;
        let mut stream = Stream::new(7, "moments", 0);
        let uniform: f64 = (0..n).map(|_| stream.uniform()).sum::<f64>() / n as f64;
        assert!((uniform - 0.5).abs() < 5.0 * (1.0 / 12.0_f64 / n as f64).sqrt());
        let normals: Vec<f64> = (0..n).map(|_| stream.normal()).collect();
        let mean = normals.iter().sum::<f64>() / n as f64;
        let second = normals.iter().map(|z| z * z).sum::<f64>() / n as f64;
        assert!(mean.abs() < 5.0 / (n as f64).sqrt());
        assert!((second - 1.0).abs() < 5.0 * (2.0 / n as f64).sqrt());
        let mut counts = [0_usize; 7];
        for _ in 0..n {
            counts[stream.below(7)] += 1;
        }
        let expected = n as f64 / 7.0;
        assert!(counts.iter().all(|&c| (c as f64 - expected).abs() < 5.0 * expected.sqrt()));
    }

    #[test]
    fn choose_gives_distinct_increasing_indices() {
        let mut stream = Stream::new(3, "choose", 0);
        for (n, k) in [(10, 3), (5, 5), (4, 9), (1, 1), (100, 1)] {
            let chosen = stream.choose(n, k);
            assert_eq!(chosen.len(), k.min(n));
            assert!(chosen.windows(2).all(|pair| pair[0] < pair[1]));
            assert!(chosen.iter().all(|&i| i < n));
        }
    }

    #[test]
    fn shuffle_keeps_the_items() {
        let mut items: Vec<usize> = (0..50).collect();
        Stream::new(1, "shuffle", 0).shuffle(&mut items);
        assert_ne!(items, (0..50).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..50).collect::<Vec<_>>());
    }
}
