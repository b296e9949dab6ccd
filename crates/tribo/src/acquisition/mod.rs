//! Acquisition functions.

pub mod normal;
