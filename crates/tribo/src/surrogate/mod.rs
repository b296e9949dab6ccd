//! Surrogates.

pub mod kernel;
