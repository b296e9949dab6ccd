//! The program as a user meets it: in a fresh folder, exit code, standard output and standard error of every command.

// An unwrap that fails in a test is a failed test.
#![allow(clippy::unwrap_used)]

mod bad;
mod by_hand;
mod chapters;
mod check;
mod earlier;
mod export;
mod help;
mod init;
mod inputs;
mod listing;
mod looking;
mod outputs;
mod repair;
mod run;
mod support;
