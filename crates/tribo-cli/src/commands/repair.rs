//! `tribo repair`: a damaged store made whole, with what was lost in plain words.

use crate::args::StudyPath;
use crate::failure::{OK, Outcome};
use crate::output;
use clap::Args;
use tribo_study::repair::repair;

#[derive(Debug, Args)]
pub(crate) struct Options {
    #[command(flatten)]
    study: StudyPath,
}

pub(crate) fn run(options: &Options) -> Outcome {
    let layout = options.study.layout();
    let repaired = repair(&layout)?;
    if repaired.is_nothing() {
        output::print("nothing to repair\n")?;
        return Ok(OK);
    }
    let done = repaired.done.iter().map(|text| format!("{text}\n"));
    let lost = repaired.lost.iter().map(|text| format!("lost: {text}\n"));
    output::print(&done.chain(lost).collect::<String>())?;
    output::note(&format!("`tribo run{}` goes on", output::named(&layout)));
    Ok(OK)
}
