//! The commands, one file each: options as typed, then what they do.

pub(crate) mod ask;
pub(crate) mod best;
pub(crate) mod cancel;
pub(crate) mod check;
pub(crate) mod completions;
pub(crate) mod dash;
pub(crate) mod export;
pub(crate) mod fit;
mod fit_kernel;
mod fit_report;
pub(crate) mod import;
pub(crate) mod init;
pub(crate) mod inputs;
pub(crate) mod job;
pub(crate) mod man;
pub(crate) mod plot;
pub(crate) mod predict;
pub(crate) mod repair;
pub(crate) mod report;
pub(crate) mod retry;
pub(crate) mod run;
mod schema;
pub(crate) mod status;
pub(crate) mod tell;
pub(crate) mod trials;
pub(crate) mod watch;
pub(crate) mod why;
mod words;
pub(crate) mod worker;

use crate::args::Command;
use crate::failure::Outcome;

/// Does what was typed.
pub(crate) fn run(command: Command) -> Outcome {
    match command {
        Command::Init(options) => init::run(&options),
        Command::Check(options) => check::run(&options),
        Command::Run(options) => run::run(&options),
        Command::Status(options) => status::run(&options),
        Command::Watch(options) => watch::run(&options),
        Command::Best(options) => best::run(&options),
        Command::Inputs(options) => inputs::run(&options),
        Command::Report(options) => report::run(&options),
        Command::Dash(options) => dash::run(&options),
        Command::Plot(options) => plot::run(&options),
        Command::Why(options) => why::run(&options),
        Command::Trials(options) => trials::run(&options),
        Command::Export(options) => export::run(&options),
        Command::Import(options) => import::run(&options),
        Command::Fit(options) => fit::run(&options),
        Command::Predict(options) => predict::run(&options),
        Command::Ask(options) => ask::run(&options),
        Command::Tell(options) => tell::run(&options),
        Command::Cancel(options) => cancel::run(&options),
        Command::Retry(options) => retry::run(&options),
        Command::Repair(options) => repair::run(&options),
        Command::Completions(options) => completions::run(&options),
        Command::Man(options) => man::run(&options),
        Command::Schema => schema::run(),
        Command::Worker(options) => worker::run(&options),
        Command::Job(options) => Ok(job::run(&options)),
    }
}
