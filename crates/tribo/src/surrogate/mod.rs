//! Gaussian process surrogates.

pub mod data;
pub mod exact;
pub mod hyper;
pub mod kernel;
pub mod posterior;
pub mod sparse;
pub mod watch;
