//! What the tests of the surrogate from outside share: odd but legal data, the posteriors of all kinds, and what
//! every posterior must do.

pub(crate) mod cases;
pub(crate) mod conformance;
pub(crate) mod models;
