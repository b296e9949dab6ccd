//! Gaussian process surrogates: kernels, the exact process, the sparse family, and their training.
//!
//! [`train::ExactGp`] and [`train::SparseGp`] are the unfitted models; `fit` turns data into a [`Posterior`], which
//! predicts, samples, takes in results one by one and hallucinates pending points.

pub mod columns;
pub mod data;
pub mod edges;
pub mod exact;
mod extremes;
pub mod hyper;
pub mod inducing;
pub mod kernel;
pub mod metric;
pub mod posterior;
pub mod probit;
mod repeats;
pub mod source;
pub mod sparse;
pub mod train;
pub mod watch;

pub use posterior::{Posterior, Prediction, PredictionGradient};
