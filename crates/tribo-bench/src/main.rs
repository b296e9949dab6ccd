//! `tribo-bench`: the paper's experiments and tribo's own benchmarks. JSON lines on standard output, figures as SVG.

#![allow(clippy::print_stdout, clippy::print_stderr)]

mod commands;

use clap::Parser;
use std::process::ExitCode;

/// Benchmarks of tribo: JSON lines on standard output, figures as SVG.
#[derive(Debug, Parser)]
#[command(version, arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    command: commands::Command,
}

fn main() -> ExitCode {
    // As `tribo` does.
    tribo_study::memory::be_thrifty();
    match Arguments::parse().command.run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("tribo-bench: {error}");
            ExitCode::FAILURE
        }
    }
}
