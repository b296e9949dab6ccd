//! `tribo watch`: a study on one screen, as it goes on.

use crate::args::StudyPath;
use crate::failure::{Failure, OK, Outcome};
use crate::output;
use crate::watch;
use clap::Args;
use std::io::{self, IsTerminal};

#[derive(Debug, Args)]
pub(crate) struct Options {
    #[command(flatten)]
    study: StudyPath,
}

pub(crate) fn run(options: &Options) -> Outcome {
    let layout = options.study.layout();
    let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
    if dumb || !io::stdout().is_terminal() || !io::stdin().is_terminal() {
        let study = output::named(&layout);
        return Err(Failure::usage(format!(
            "this needs a terminal; `tribo status{study}` prints where a study stands, once"
        )));
    }
    watch::run(&layout)?;
    Ok(OK)
}
