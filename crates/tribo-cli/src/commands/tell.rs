//! `tribo tell`: the outcome of a trial. Telling the same again changes nothing.

use super::words;
use crate::failure::{Failure, OK, Outcome};
use crate::{output, study};
use clap::Args;
use tribo_study::replay;
use tribo_study::report::text;
use tribo_study::store::ledger::TrialState;
use tribo_study::store::record::{Record, Verdict};

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
    let mut writing = study::open_existing(&layout)?;
    let state =
        writing.ledger.trial(trial).ok_or_else(|| words::no_trial(trial, writing.ledger.trials().len()))?;
    if !is_new(trial, state, &verdict)? {
        output::note(&format!("trial {trial} has this outcome already; nothing changed"));
        writing.close("told by hand")?;
        return Ok(OK);
    }
    // The optimiser checks what the journal would keep.
    replay::tell(&mut replay::study(&writing.config, &writing.ledger)?, trial, &verdict)?;
    writing.append(Record::Told { trial, verdict })?;
    writing.close("told by hand")?;
    output::note(&format!("trial {trial} is told"));
    Ok(OK)
}

fn finite(text: &str) -> Result<f64, Failure> {
    text.parse().ok().filter(|value: &f64| value.is_finite()).ok_or_else(|| {
        Failure::usage(format!("{text:?} is not a finite number; if there is no value, use --failed REASON"))
    })
}

/// Whether the outcome is news; an error if it contradicts what is known, or if a job is going to tell.
fn is_new(trial: u64, state: &TrialState, verdict: &Verdict) -> Result<bool, Failure> {
    match &state.verdict {
        Some(known) if known == verdict => return Ok(false),
        Some(known) => {
            let known = match known {
                Verdict::Measured { value } => format!("the value {value:?}"),
                Verdict::Failed { reason } => format!("failed ({reason})"),
                Verdict::Infeasible => "infeasible".to_owned(),
                Verdict::Invalid { answer } => format!("an invalid answer ({answer})"),
            };
            return Err(Failure::usage(format!(
                "trial {trial} has an outcome already, {known}; it cannot be changed"
            )));
        }
        None => {}
    }
    match state.attempts.iter().rev().find(|attempt| attempt.end.is_none()) {
        Some(attempt) => {
            let job = attempt.job.as_deref().map(|job| format!(" (job {job})")).unwrap_or_default();
            Err(Failure::usage(format!(
                "trial {trial} is being evaluated{job}, {} so far; `tribo cancel {trial}` gives it up",
                text::count(state.attempts.len(), "attempt")
            )))
        }
        None => Ok(true),
    }
}
