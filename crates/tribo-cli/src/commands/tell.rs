//! `tribo tell`: the outcome of a trial. Telling the same again changes nothing.

use super::words;
use crate::failure::{Failure, OK, Outcome};
use crate::{output, study};
use clap::Args;
use tribo::trial::Told;
use tribo_study::by_hand::ByHand;
use tribo_study::job::{Finding, Kind};
use tribo_study::outputs::Outputs;

#[derive(Debug, Args)]
#[command(
    override_usage = "tribo tell [STUDY] <TRIAL> <VALUE | NAME=VALUE... | --failed REASON | --infeasible>"
)]
pub(crate) struct Options {
    /// The study (the current folder if left out), the trial, and its value, or its outputs by name.
    #[arg(required = true, num_args = 1.., allow_negative_numbers = true, value_name = "WORDS")]
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
    let Some((trial, numbers)) = words.split_first() else {
        return Err(Failure::usage("give a trial and what came of it, e.g. `tribo tell 3 0.25`"));
    };
    let trial = words::trial(trial)?;
    let numbers = numbers.iter().map(|word| number(word)).collect::<Result<Vec<_>, _>>()?;
    let kind = match (numbers.is_empty(), &options.failed, options.infeasible) {
        (false, None, false) => Kind::Ok,
        (_, Some(_), false) => Kind::Failed,
        (_, None, true) => Kind::Infeasible,
        _ => return Err(unsaid(trial)),
    };
    if kind != Kind::Ok && numbers.iter().any(|(name, _)| name.is_none()) {
        return Err(unsaid(trial));
    }
    let mut study = ByHand::of(study::open_existing(&layout)?.study)?;
    let objective = study.config().objective();
    let mut outputs = Outputs::new();
    for (name, value) in numbers {
        let name = name.unwrap_or(objective);
        if outputs.get(name).is_some() {
            return Err(Failure::usage(format!("{name} is given twice")));
        }
        outputs.insert(name, value);
    }
    let reason = options.failed.as_ref().map(|reason| format!("failed: {reason}")).unwrap_or_default();
    let told = study.tell(trial, &Finding { kind, outputs, reason })?;
    study.close("told by hand")?;
    output::note(&match told {
        Told::New => format!("trial {trial} is told"),
        Told::Repeated => format!("trial {trial} has this outcome already; nothing changed"),
    });
    Ok(OK)
}

fn unsaid(trial: u64) -> Failure {
    Failure::usage(format!(
        "say what came of trial {trial}: its value, or its outputs as NAME=VALUE, or --failed REASON, or --infeasible"
    ))
}

/// `0.25`, or `mass=0.25`.
fn number(word: &str) -> Result<(Option<&str>, f64), Failure> {
    match word.rsplit_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((Some(name), finite(value)?)),
        _ => Ok((None, finite(word)?)),
    }
}

fn finite(text: &str) -> Result<f64, Failure> {
    text.parse().ok().filter(|value: &f64| value.is_finite()).ok_or_else(|| {
        Failure::usage(format!("{text:?} is not a finite number; if there is no value, use --failed REASON"))
    })
}
