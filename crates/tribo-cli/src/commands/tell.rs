//! `tribo tell`: the outcome of a trial. Telling the same again changes nothing.

use super::words;
use crate::failure::{Failure, OK, Outcome};
use crate::{output, study};
use clap::Args;
use tribo::trial::Told;
use tribo_study::by_hand::ByHand;
use tribo_study::store::record::Verdict;

#[derive(Debug, Args)]
#[command(override_usage = "tribo tell [STUDY] <TRIAL> <VALUE | --failed REASON | --infeasible>")]
pub(crate) struct Options {
    /// The study (the current folder if left out), the trial, and its value.
    #[arg(required = true, num_args = 1..=3, allow_negative_numbers = true, value_name = "WORDS")]
    words: Vec<String>,
    /// The evaluation broke, for this reason.
    #[arg(long, value_name = "REASON", conflicts_with = "infeasible")]
    failed: Option<String>,
    /// The point is not allowed.
    #[arg(long)]
    infeasible: bool,
}

pub(crate) fn run(options: &Options) -> Outcome {
    let (layout, words) = words::split(&options.words);
    let (trial, value) = match words {
        [trial] => (words::trial(trial)?, None),
        [trial, value] => (words::trial(trial)?, Some(value)),
        _ => return Err(Failure::usage("give a trial and what came of it, e.g. `tribo tell 3 0.25`")),
    };
    let verdict = match (value, &options.failed, options.infeasible) {
        (Some(value), None, false) => Verdict::Measured { value: finite(value)? },
        (None, Some(reason), false) => Verdict::Failed { reason: format!("failed: {reason}") },
        (None, None, true) => Verdict::Infeasible,
        _ => {
            return Err(Failure::usage(format!(
                "say what came of trial {trial}: its value, or --failed REASON, or --infeasible"
            )));
        }
    };
    let mut study = ByHand::of(study::open_existing(&layout)?.study)?;
    let told = study.tell(trial, &verdict)?;
    study.close("told by hand")?;
    output::note(&match told {
        Told::New => format!("trial {trial} is told"),
        Told::Repeated => format!("trial {trial} has this outcome already; nothing changed"),
    });
    Ok(OK)
}

fn finite(text: &str) -> Result<f64, Failure> {
    text.parse().ok().filter(|value: &f64| value.is_finite()).ok_or_else(|| {
        Failure::usage(format!("{text:?} is not a finite number; if there is no value, use --failed REASON"))
    })
}
