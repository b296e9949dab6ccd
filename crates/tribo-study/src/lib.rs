//! Durable, asynchronous studies: everything that touches files, processes and schedulers.
//!
//! One driver owns a study. It writes an append-only journal, synced before anything outside is touched, and keeps the
//! workers of a runner busy. Every evaluation, on a workstation, under SLURM or under PBS, is the same program `tribo job`,
//! which leaves its answer as a file; the scheduler only tells what has gone wrong. Restarting is replaying.
//!
//! Modules use only those of the levels above them in this list; `crates/tribo/tests/tidy.rs` holds that.

pub mod outputs;

pub mod beside;
pub mod config;
pub mod error;
pub mod layout;
pub mod memory;
pub mod model_file;
pub mod point;
pub mod recalled;
pub mod tag;
pub mod waiting;

pub mod pool;

pub mod job;

pub mod runner;
pub mod store;

pub mod scheduler;
pub mod worker;

pub mod owned;
pub mod replay;
pub mod report;
pub mod table;

pub mod by_hand;
pub mod driver;
pub mod reading;

pub mod repair;
pub mod view;

pub mod page;

pub use error::{Error, Result};
