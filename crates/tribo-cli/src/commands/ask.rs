//! `tribo ask`: points to be evaluated by hand, as JSON.

use crate::args::StudyPath;
use crate::failure::{Failure, OK, Outcome};
use crate::{output, study};
use clap::Args;
use std::num::NonZeroUsize;
use tribo_study::point::to_json;
use tribo_study::replay;
use tribo_study::store::record::Record;

#[derive(Debug, Args)]
pub(crate) struct Options {
    #[command(flatten)]
    study: StudyPath,
    /// How many points.
    #[arg(short, value_name = "K", default_value = "1")]
    n: NonZeroUsize,
}

pub(crate) fn run(options: &Options) -> Outcome {
    let layout = options.study.layout();
    let mut writing = study::open(&layout, false)?;
    let asked = writing.ledger.n_asked();
    let left = writing.config.budget.evaluations.map_or(usize::MAX, |budget| budget.saturating_sub(asked));
    if left == 0 {
        return Err(Failure::usage(format!(
            "the budget of {asked} evaluations is spent; raise `evaluations` in {}",
            layout.file().display()
        )));
    }
    let mut optimiser = replay::study(&writing.config, &writing.ledger)?;
    let suggestions = optimiser.ask(options.n.get().min(left))?;
    let mut trials = Vec::new();
    for suggestion in &suggestions {
        let Some((trial, _)) = optimiser.history().get(suggestion.id) else { continue };
        writing.append(Record::Asked { trial: trial.clone(), by_hand: true })?;
        let params = to_json(optimiser.space(), &suggestion.point);
        trials.push(serde_json::json!({ "trial": suggestion.id.0, "params": params }));
    }
    // Durable before anyone sees them: a point that is evaluated must be known.
    writing.close("asked by hand")?;
    if suggestions.len() < options.n.get() {
        output::note(&format!("{} of {} points: there are no more", suggestions.len(), options.n));
    }
    output::print_json(&serde_json::json!({ "version": 1, "trials": trials }))?;
    Ok(OK)
}
