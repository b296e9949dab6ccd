//! Runners against processes and against scheduler programs that misbehave on demand.
//! Numbers in the names of tests are rows of the fault table: what is injected, and what must come of it.

#![allow(clippy::unwrap_used, reason = "what fails here fails the test")]

mod cluster;
mod conformance;
mod local;
mod pbs;
mod pull;
mod simulated;
mod slurm;
mod study;
mod template;
