//! The program as a user meets it: in a fresh folder, exit code, standard output and standard error of every command.

// An unwrap that fails in a test is a failed test.
#![allow(clippy::unwrap_used)]

mod again;
mod another_engine;
mod bad;
mod by_hand;
mod chapters;
mod check;
mod cluster;
mod constraints;
mod dash;
mod earlier;
mod everyday;
mod export;
mod fit;
mod foreign;
mod harmless;
mod help;
mod init;
mod inputs;
mod limits;
mod listing;
mod looking;
mod names;
mod outputs;
mod pbs;
mod presets;
mod pty;
mod pull;
mod repair;
mod run;
mod support;
mod terminal;
mod wide;
