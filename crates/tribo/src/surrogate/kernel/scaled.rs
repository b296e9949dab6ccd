//! Points divided by the length scales, stored one input after the other.
//!
//! The origin is subtracted before the division: far from zero, x - x' keeps every digit the user's numbers
//! have, while x/ℓ - x'/ℓ does not.

use super::Kernel;
use crate::linalg::dispatch::vectorised;
use faer::MatRef;

/// Points (x - origin)/ℓ, [n, d] with the points of one input contiguous.
#[derive(Debug, Clone, Default)]
pub struct Scaled {
    values: Vec<f64>,
    n: usize,
    d: usize,
    /// Origin minus centre, for a kernel with a linear term; empty for others.
    offsets: Vec<f64>,
}

impl Scaled {
    /// Scales the rows of `x` for `kernel`. Both sides of a distance must use one `origin`.
    pub fn new(kernel: &Kernel, x: MatRef<'_, f64>, origin: &[f64]) -> Scaled {
        let mut scaled = Scaled::default();
        scaled.assign(kernel, x, origin);
        scaled
    }

    /// As [`Scaled::new`], into memory that is already there.
    pub fn assign(&mut self, kernel: &Kernel, x: MatRef<'_, f64>, origin: &[f64]) {
        (self.n, self.d) = (x.nrows(), x.ncols());
        self.offsets.clear();
        self.offsets.extend(kernel.terms.centre.iter().zip(origin).map(|(centre, origin)| origin - centre));
        self.values.clear();
        self.values.reserve(self.n * self.d);
        for k in 0..self.d {
            let (shift, factor) = (origin[k], 1.0 / kernel.length_scale(k));
            let column = x.col(k);
            self.values.extend((0..self.n).map(|i| (column[i] - shift) * factor));
        }
    }

    /// Adds one point. O(n d): the inputs are contiguous and each must make room.
    pub fn push(&mut self, kernel: &Kernel, x: &[f64], origin: &[f64]) {
        for k in (0..self.d).rev() {
            self.values.insert((k + 1) * self.n, (x[k] - origin[k]) * (1.0 / kernel.length_scale(k)));
        }
        self.n += 1;
    }

    /// Some consecutive points, copied.
    pub fn subset(&self, rows: std::ops::Range<usize>) -> Scaled {
        let values = (0..self.d).flat_map(|k| self.input(k)[rows.clone()].iter().copied()).collect();
        Scaled { values, n: rows.len(), d: self.d, offsets: self.offsets.clone() }
    }

    /// Number of points.
    pub fn len(&self) -> usize {
        self.n
    }

    /// Whether there is no point.
    pub fn is_empty(&self) -> bool {
        self.n == 0
    }

    /// Number of inputs.
    pub fn dim(&self) -> usize {
        self.d
    }

    /// Input k of every point.
    pub fn input(&self, k: usize) -> &[f64] {
        &self.values[k * self.n..(k + 1) * self.n]
    }

    /// Origin minus centre in input k, for a kernel with a linear term.
    pub(super) fn offset(&self, k: usize) -> f64 {
        self.offsets[k]
    }

    /// Fills `out` with |xᵢ - zⱼ|² for all i.
    pub fn squared_distances(&self, z: &Scaled, j: usize, out: &mut [f64]) {
        squared_distances(self, z, j, out);
    }
}

/// Points whose squares are summed up in registers.
const CHUNK: usize = 32;

vectorised! {
    fn squared_distances(x: &Scaled, z: &Scaled, j: usize, out: &mut [f64]) {
        let (chunks, rest) = out.as_chunks_mut::<CHUNK>();
        let whole = CHUNK * chunks.len();
        for (number, chunk) in chunks.iter_mut().enumerate() {
            let mut squares = [0.0; CHUNK];
            for k in 0..x.d {
                let (x, z) = (&x.input(k)[CHUNK * number..CHUNK * (number + 1)], z.input(k)[j]);
                for (square, x) in squares.iter_mut().zip(x) {
                    let difference = x - z;
                    *square = difference.mul_add(difference, *square);
                }
            }
            *chunk = squares;
        }
        rest.fill(0.0);
        for k in 0..x.d {
            let (x, z) = (&x.input(k)[whole..], z.input(k)[j]);
            for (square, x) in rest.iter_mut().zip(x) {
                let difference = x - z;
                *square = difference.mul_add(difference, *square);
            }
        }
    }
}
