//! Hashing embedding (HeSBO): x_i = (1 + s_i z_{b(i)}) / 2, with a random bin b(i) in 0..d and sign s_i = ±1
//! for every input `[@nayebi2019]`.
//!
//! Nothing is ever clipped. Active inputs can be set independently if they are all in different bins, which
//! for d_e of them has probability d! / ((d - d_e)! d^d_e) whatever D is. Random signs put the corners
//! with all inputs low or all high out of reach; without signs z = ∓1 are those corners.
//!
//! Bin and sign of input i are word i of one stream, drawn again at every call: O(D) time, no memory.

use crate::rng::Stream;

#[derive(Debug, Clone)]
pub(super) struct Hashing {
    key: u64,
    dim: usize,
    signs: bool,
}

impl Hashing {
    pub(super) fn new(key: u64, dim: usize, signs: bool) -> Self {
        Hashing { key, dim, signs }
    }

    pub(super) fn dim(&self) -> usize {
        self.dim
    }

    pub(super) fn each_unclipped(&self, input_dim: usize, z: &[f64], mut visit: impl FnMut(usize, f64)) {
        let mut stream = Stream::new(self.key, "bins of the hashing embedding", 0);
        for i in 0..input_dim {
            let word = stream.bits();
            // One word for each input keeps its place in the stream; the bins are uneven by d 2^-64 at most.
            let bin = (u128::from(word) * self.dim as u128) >> 64;
            // The bin looks at the high bits of the word, so the lowest is free to be the sign.
            let negative = self.signs && word & 1 == 1;
            let value = z[bin as usize];
            visit(i, (1.0 + if negative { -value } else { value }) / 2.0);
        }
    }
}
