//! The thin layer over faer that the rest of the library uses.
//!
//! Everything here is sequential and double precision: parallel work is coarse, over blocks of data, and lives
//! with its callers, so that a preempted core never holds up a factorisation and the order of every sum is
//! fixed. Matrices are faer's, column-major. Lower factors keep whatever was above the diagonal; only the
//! lower triangle is ever read.

pub mod cholesky;
pub(crate) mod dispatch;
pub mod exp;
pub mod product;
pub mod reduce;

pub use faer::{Mat, MatMut, MatRef};
