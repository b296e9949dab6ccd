//! Durable, asynchronous studies: everything that touches files, processes and schedulers.
//!
//! One driver owns a study. It writes an append-only journal, synced before anything outside is touched, and keeps the
//! workers of a runner busy. Every evaluation, on a workstation, under SLURM or under PBS, is the same program `tribo job`,
//! which leaves its answer as a file; the scheduler only tells what has gone wrong. Restarting is replaying.
//!
//! Modules use only those above them in this list, but for `error`.

pub mod error;

pub mod config;
pub mod layout;
pub mod tag;

pub mod job;
pub mod runner;

pub mod store;

pub mod point;
pub mod replay;

pub mod owned;

pub mod report;

pub mod reading;

pub mod by_hand;

pub mod driver;

pub mod repair;

pub use error::{Error, Result};
