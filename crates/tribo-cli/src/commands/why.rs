//! `tribo why`: why a trial was proposed, what was expected of it, and what came.

use super::words;
use crate::failure::{Failure, OK, Outcome};
use crate::output;
use clap::Args;
use tribo_study::reading::Reading;
use tribo_study::view::why::why;

#[derive(Debug, Args)]
#[command(override_usage = "tribo why [STUDY] <TRIAL>")]
pub(crate) struct Options {
    /// The study (the current folder if left out) and the trial.
    #[arg(required = true, num_args = 1..=2, value_name = "WORDS")]
    words: Vec<String>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(options: &Options) -> Outcome {
    let (layout, words) = words::split(&options.words);
    let [trial] = words else {
        return Err(Failure::usage("give one trial, e.g. `tribo why 17`"));
    };
    let trial = words::trial(trial)?;
    let reading = Reading::open(&layout)?;
    let why = why(&reading, trial)?;
    if options.json {
        output::print_json(&serde_json::json!({ "version": 1, "why": why }))?;
        return Ok(OK);
    }
    let mut text = format!("trial {trial}\n");
    why.words.iter().for_each(|sentence| text.push_str(&format!("  {sentence}\n")));
    output::print(&text)?;
    Ok(OK)
}
