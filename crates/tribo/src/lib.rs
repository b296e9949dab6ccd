//! tribo: Bayesian optimisation that scales in data, dimension and workers.
//!
//! The library is pure: it reads no file, no clock and no environment, and every random draw comes from a
//! stream named by a seed. Parallel work runs in the caller's rayon pool and gives the same bits at any
//! number of threads.
//!
//! Modules are stacked; each uses only those above it (`ARCHITECTURE.md` has the map).

pub mod error;
pub mod linalg;
pub mod normal;
pub mod opt;
pub mod rng;
pub mod suggest;

pub mod limit;
pub mod space;
pub mod trial;

pub mod design;
pub mod embed;
pub mod surrogate;

pub mod acquisition;
pub mod strategy;

pub mod analysis;

pub mod problems;

pub use error::{Error, Result};

// Runs the guide's programs as tests, so that the two cannot drift apart.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide/rust.md")]
struct Guide;
