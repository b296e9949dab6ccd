//! `tribo best`: the best trials.

use crate::args::{StudyPath, at_least_one};
use crate::failure::{NO_VALUE, OK, Outcome};
use crate::output;
use clap::Args;
use std::num::NonZeroUsize;
use tribo_study::config::Config;
use tribo_study::outputs::VALUE;
use tribo_study::reading::Reading;
use tribo_study::report::summary::{self, Best};

#[derive(Debug, Args)]
pub(crate) struct Options {
    #[command(flatten)]
    study: StudyPath,
    /// How many.
    #[arg(long, default_value = "1", value_name = "N", value_parser = at_least_one)]
    top: NonZeroUsize,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(options: &Options) -> Outcome {
    let reading = Reading::open(&options.study.layout())?;
    let best =
        summary::best(&reading.config, reading.ledger(), reading.rebuilt()?.points(), options.top.get())?;
    let code = if best.is_empty() { NO_VALUE } else { OK };
    if options.json {
        output::print_json(&serde_json::json!({ "version": 1, "best": best }))?;
        return Ok(code);
    }
    if best.is_empty() {
        output::note("no trial has a value yet");
    }
    output::print(&best.iter().map(|best| text(&reading.config, best)).collect::<Vec<_>>().join("\n"))?;
    Ok(code)
}

/// A trial, its outputs and its point, for people.
pub(crate) fn text(config: &Config, best: &Best) -> String {
    let objective = config.objective();
    let name = if objective == VALUE { String::new() } else { format!("{objective} ") };
    let others = best.outputs.iter().filter(|(name, _)| *name != objective);
    let others: String = others.map(|(name, value)| format!(", {name} {value}")).collect();
    format!("{name}{:?} (trial {}){others}\n{}", best.value, best.trial, output::point(&best.params))
}
