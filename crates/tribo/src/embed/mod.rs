//! Embeddings: from the few coordinates a model can handle to the many inputs of the function.
//!
//! An [`Embedding`] maps z in a box of the *model dimension* d to x in the unit cube of the *input dimension*
//! D; what x means to the user is the business of `space`. One convention holds for all: the box is
//! [`Embedding::bounds`], its centre maps to the centre of the cube, a z outside counts as the
//! nearest point inside, and what leaves the cube is clipped to it. The boxes are those of the methods:
//!
//! | kind | box | x_i before clipping |
//! |---|---|---|
//! | identity | [0, 1]^D | z_i, bit for bit |
//! | gaussian | [-√d, √d]^d | (1 + x̂_i / h) / 2, x̂ = A z / d, A_ij ~ N(0, 1) |
//! | hashing | [-1, 1]^d | (1 + s_i z_{b(i)}) / 2 |
//!
//! The random parts are functions of (seed, index, input) alone: the study keeps z and the seed, and x comes
//! out with the same bits whatever D is, in whatever order inputs are asked for. The index numbers the
//! embeddings of one study, which are independent of each other.
//!
//! Not here: a way back from x to z, which random embeddings do not have, and subsets or nested bins.

mod gaussian;
mod hashing;

use crate::error::{Error, Result};
use crate::rng::Stream;
use gaussian::Gaussian;
use hashing::Hashing;

/// Which embedding, with its settings.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// Every input is a model coordinate: classical optimisation.
    Identity,
    /// A random linear map with independent normal entries.
    Gaussian {
        /// The model dimension d.
        dim: usize,
        /// The value of x̂ that reaches the upper end of the cube. One clips about 9 % of the coordinates and
        /// makes the whole range reachable; √d clips almost none and leaves the corners out of reach.
        half_width: f64,
    },
    /// Every input copies one model coordinate, picked at random.
    Hashing {
        /// The model dimension d.
        dim: usize,
        /// Whether an input copies its coordinate or, with probability one half, its negative. Without signs
        /// the corners with all inputs low or all high can be reached.
        signs: bool,
    },
}

/// A map from the model's box to the unit cube of the inputs.
#[derive(Debug, Clone)]
pub struct Embedding {
    input_dim: usize,
    map: Map,
}

#[derive(Debug, Clone)]
enum Map {
    Identity,
    Gaussian(Gaussian),
    Hashing(Hashing),
}

impl Embedding {
    /// Embedding number `index` of the study with this `seed`, into `input_dim` inputs.
    pub fn new(kind: Kind, input_dim: usize, seed: u64, index: u64) -> Result<Self> {
        if input_dim == 0 {
            return Err(Error::Empty { what: "list of inputs of the embedding" });
        }
        if let Kind::Gaussian { dim, .. } | Kind::Hashing { dim, .. } = kind
            && !(1..=input_dim).contains(&dim)
        {
            let (what, value) = ("dimension of the embedding (at most the number of inputs)", dim as f64);
            return Err(Error::OutOfRange { what, value, low: 1.0, high: input_dim as f64 });
        }
        let key = Stream::new(seed, "embedding", index).bits();
        let map = match kind {
            Kind::Identity => Map::Identity,
            Kind::Gaussian { dim, half_width } => {
                if !(half_width >= f64::MIN_POSITIVE && half_width.is_finite()) {
                    let (what, value) = ("half_width of the gaussian embedding", half_width);
                    return Err(Error::OutOfRange { what, value, low: f64::MIN_POSITIVE, high: f64::MAX });
                }
                Map::Gaussian(Gaussian::new(key, input_dim, dim, half_width))
            }
            Kind::Hashing { dim, signs } => Map::Hashing(Hashing::new(key, dim, signs)),
        };
        Ok(Embedding { input_dim, map })
    }

    /// D, the number of inputs.
    pub fn input_dim(&self) -> usize {
        self.input_dim
    }

    /// d, the number of coordinates the model sees.
    pub fn model_dim(&self) -> usize {
        match &self.map {
            Map::Identity => self.input_dim,
            Map::Gaussian(gaussian) => gaussian.dim(),
            Map::Hashing(hashing) => hashing.dim(),
        }
    }

    /// Whether model coordinates are the inputs themselves.
    pub fn is_identity(&self) -> bool {
        matches!(self.map, Map::Identity)
    }

    /// The lower and upper ends of the model's box, d of each.
    pub fn bounds(&self) -> (Vec<f64>, Vec<f64>) {
        let (low, high) = self.side();
        (vec![low; self.model_dim()], vec![high; self.model_dim()])
    }

    /// One side of the box; all are alike.
    fn side(&self) -> (f64, f64) {
        match &self.map {
            Map::Identity => (0.0, 1.0),
            Map::Gaussian(gaussian) => (-(gaussian.dim() as f64).sqrt(), (gaussian.dim() as f64).sqrt()),
            Map::Hashing(_) => (-1.0, 1.0),
        }
    }

    /// Writes the inputs of `z` to `x`, each in [0, 1].
    pub fn to_unit(&self, z: &[f64], x: &mut [f64]) -> Result<()> {
        if x.len() != self.input_dim {
            let what = "length of x (inputs of the embedding)";
            return Err(Error::Size { what, expected: self.input_dim, found: x.len() });
        }
        self.each_unclipped(z, |i, value| x[i] = value.clamp(0.0, 1.0))
    }

    /// The fraction of the inputs of `z` that had to be clipped.
    pub fn clip_fraction(&self, z: &[f64]) -> Result<f64> {
        let mut clipped = 0_usize;
        self.each_unclipped(z, |_, value| clipped += usize::from(!(0.0..=1.0).contains(&value)))?;
        Ok(clipped as f64 / self.input_dim as f64)
    }

    /// Calls `visit` with every input and its value before clipping, in order.
    fn each_unclipped(&self, z: &[f64], mut visit: impl FnMut(usize, f64)) -> Result<()> {
        if z.len() != self.model_dim() {
            let what = "length of z (dimension of the embedding)";
            return Err(Error::Size { what, expected: self.model_dim(), found: z.len() });
        }
        if let Some(column) = z.iter().position(|value| !value.is_finite()) {
            return Err(Error::NotFinite { what: "z", row: 0, column, value: z[column] });
        }
        let (low, high) = self.side();
        let z: Vec<f64> = z.iter().map(|value| value.clamp(low, high)).collect();
        match &self.map {
            Map::Identity => z.iter().enumerate().for_each(|(i, &value)| visit(i, value)),
            Map::Gaussian(gaussian) => gaussian.each_unclipped(self.input_dim, &z, visit),
            Map::Hashing(hashing) => hashing.each_unclipped(self.input_dim, &z, visit),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
