//! The program `tribo`: arguments as typed (`args`), one file for each command (`commands`).
//!
//! Data go to standard output and messages to standard error. No command asks a question. Errors print once, with their
//! reason, and end with the exit code of their kind.

mod args;
mod bar;
mod commands;
mod failure;
mod output;
mod place;
mod progress;
mod signals;
mod study;
mod templates;
mod watch;

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    tribo_study::memory::be_thrifty();
    let arguments = args::Arguments::parse_from(args::typed());
    match commands::run(arguments.command) {
        Ok(code) => ExitCode::from(code),
        Err(failure) => ExitCode::from(failure.report()),
    }
}
