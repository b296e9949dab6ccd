//! `tribo tell`: the outcome of a trial. Telling the same again changes nothing; another is for `--replace`.

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
    override_usage = "tribo tell [STUDY] <TRIAL> <VALUE | NAME=VALUE... | --failed REASON | --infeasible | --lost REASON> [--replace]"
)]
pub(crate) struct Options {
    /// The study (the current folder if left out), the trial, and its value, or its outputs by name.
    #[arg(required = true, num_args = 1.., allow_negative_numbers = true, value_name = "WORDS")]
    words: Vec<String>,
    /// The evaluation broke, for this reason.
    #[arg(long, value_name = "REASON", conflicts_with_all = ["infeasible", "lost"])]
    failed: Option<String>,
    /// The point is not allowed.
    #[arg(long, conflicts_with = "lost")]
    infeasible: bool,
    /// The evaluation was lost by an accident, for this reason: nothing is known about the point, and the evaluation is not
    /// spent.
    #[arg(long, value_name = "REASON")]
    lost: Option<String>,
    /// The trial was told something wrong, and this is right. A new chapter begins, which knows it.
    #[arg(long)]
    replace: bool,
}

pub(crate) fn run(options: &Options) -> Outcome {
    let (layout, words) = words::split(&options.words);
    let Some((trial, numbers)) = words.split_first() else {
        return Err(Failure::usage("give a trial and what came of it, e.g. `tribo tell 3 0.25`"));
    };
    let trial = words::trial(trial)?;
    let numbers = numbers.iter().map(|word| number(word)).collect::<Result<Vec<_>, _>>()?;
    let (kind, reason) = match (&options.failed, options.infeasible, &options.lost) {
        (Some(reason), _, _) => (Kind::Failed, format!("failed: {reason}")),
        (None, true, _) => (Kind::Infeasible, String::new()),
        (None, false, Some(reason)) => (Kind::Lost, format!("lost: {reason}")),
        (None, false, None) if !numbers.is_empty() => (Kind::Ok, String::new()),
        (None, false, None) => return Err(unsaid(trial)),
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
    let finding = Finding { kind, outputs, reason };
    let told = match options.replace {
        true => study.replace(trial, &finding)?,
        false => study.tell(trial, &finding)?,
    };
    study.close("told by hand")?;
    output::note(&match told {
        Told::New if options.replace => {
            format!("the outcome of trial {trial} is replaced; a new chapter begins, which knows it")
        }
        Told::New => format!("trial {trial} is told"),
        Told::Repeated => format!("trial {trial} has this outcome already; nothing changed"),
    });
    Ok(OK)
}

fn unsaid(trial: u64) -> Failure {
    Failure::usage(format!(
        "say what came of trial {trial}: its value, or its outputs as NAME=VALUE, or --failed REASON, or --infeasible, or --lost REASON"
    ))
}

/// `0.25`, or `mass=0.25`.
fn number(word: &str) -> Result<(Option<&str>, f64), Failure> {
    match word.rsplit_once('=') {
        Some((name, "")) if !name.is_empty() => {
            Err(Failure::usage(format!("`{word}` has no number; write it as in {name}=0.25")))
        }
        Some((name, value)) if !name.is_empty() => Ok((Some(name), finite(value)?)),
        _ => Ok((None, finite(word)?)),
    }
}

fn finite(text: &str) -> Result<f64, Failure> {
    text.parse().ok().filter(|value: &f64| value.is_finite()).ok_or_else(|| {
        Failure::usage(format!("{text:?} is not a finite number; if there is no value, use --failed REASON"))
    })
}
