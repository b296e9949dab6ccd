//! `tribo ask`: points to be evaluated by hand, as JSON.

use crate::args::{StudyPath, at_least_one};
use crate::failure::{OK, Outcome};
use crate::{output, study};
use clap::Args;
use serde_json::{Value, json};
use std::num::NonZeroUsize;
use tribo::surrogate::watch::Unwatched;
use tribo_study::by_hand::ByHand;
use tribo_study::owned::How;
use tribo_study::point::to_json;

#[derive(Debug, Args)]
pub(crate) struct Options {
    #[command(flatten)]
    study: StudyPath,
    /// How many points.
    #[arg(short, value_name = "K", default_value = "1", value_parser = at_least_one)]
    n: NonZeroUsize,
    /// Go on although the study file was changed in what decides proposals: a new chapter begins, which knows all results so
    /// far.
    #[arg(long)]
    new_chapter: bool,
}

pub(crate) fn run(options: &Options) -> Outcome {
    let layout = options.study.layout();
    let owned = study::open(&layout, How { new_chapter: options.new_chapter, ..How::default() })?.study;
    owned.began.iter().for_each(|began| output::note(began));
    let mut study = ByHand::of(owned)?;
    let suggestions = study.ask(options.n.get(), &Unwatched)?;
    let space = &study.config().space;
    let trials: Vec<Value> = suggestions
        .iter()
        .map(|each| json!({ "trial": each.id.0, "params": to_json(space, &each.point) }))
        .collect();
    study.close("asked by hand")?;
    if suggestions.len() < options.n.get() {
        output::note(&format!("{} of {}: there are no more points", suggestions.len(), options.n));
    }
    output::print_json(&json!({ "version": 1, "trials": trials }))?;
    Ok(OK)
}
