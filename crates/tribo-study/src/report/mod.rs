//! Numbers and tables from the journal, for people and for programs.
//!
//! Pure functions: from a [`Ledger`](crate::store::ledger::Ledger), the study file and the optimiser rebuilt from both, to
//! a [`summary`], to [`row`]s, and to a [`table`] of [`columns`] that is written as CSV, JSON lines or Parquet. Nothing here prints, reads a
//! file or looks at a clock; what such a look found is handed in.

pub mod columns;
pub mod csv;
pub mod failures;
pub mod limits;
pub mod parquet;
pub mod point;
pub mod row;
pub mod summary;
pub mod table;
pub mod text;
