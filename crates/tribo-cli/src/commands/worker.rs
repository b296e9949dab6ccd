//! `tribo worker`: takes evaluations of a study wherever its folder is shared, until there is nothing to do.

use crate::args::StudyPath;
use crate::failure::{Failure, OK, Outcome};
use crate::{output, place, study};
use clap::Args;
use std::num::NonZeroUsize;
use std::time::Duration;
use tribo_study::config::{self, On};
use tribo_study::pool::Terms;
use tribo_study::worker;

#[derive(Debug, Args)]
pub(crate) struct Options {
    #[command(flatten)]
    study: StudyPath,
    /// Evaluations at once.
    #[arg(long, value_name = "N", default_value = "1")]
    slots: NonZeroUsize,
    /// Leave after so long, such as 8h; what runs then is given back.
    #[arg(long, value_name = "TIME", value_parser = duration)]
    time: Option<Duration>,
    /// Leave after so long without anything to do.
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "5m")]
    idle: Duration,
}

pub(crate) fn run(options: &Options) -> Outcome {
    let layout = options.study.layout();
    let run = study::config(&layout)?.run;
    if !run.is_some_and(|run| run.on == On::Workers || run.pilots.is_some()) {
        return Err(Failure::usage(format!(
            "{} offers nothing to workers; write on = \"workers\" into [run]",
            layout.file().display()
        )));
    }
    let terms = Terms { slots: options.slots.get(), time: options.time, idle: options.idle };
    let why = worker::by_hand(&layout, terms, &place::program()?)?;
    output::note(&format!("this worker leaves: {why}"));
    Ok(OK)
}

fn duration(text: &str) -> Result<Duration, String> {
    config::duration(text).ok_or_else(|| "write a time like 90s, 30m or 8h".to_owned())
}
