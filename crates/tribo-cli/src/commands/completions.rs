//! `tribo completions`: what a shell needs to complete commands and options.

use crate::args::Arguments;
use crate::failure::{OK, Outcome};
use crate::output;
use clap::{Args, CommandFactory};
use clap_complete::Shell;

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The shell.
    shell: Shell,
}

pub(crate) fn run(options: &Options) -> Outcome {
    // Into memory first: the generator panics if standard output is closed.
    let mut text = Vec::new();
    clap_complete::generate(options.shell, &mut Arguments::command(), "tribo", &mut text);
    output::print(&String::from_utf8_lossy(&text))?;
    Ok(OK)
}
