//! `tribo retry`: trials without a value are evaluated again. A running driver is asked to; without one, the next run does it.

use super::words;
use crate::failure::{Failure, OK, Outcome};
use crate::{output, study};
use clap::Args;
use tribo_study::by_hand::ByHand;
use tribo_study::job::Kind;
use tribo_study::reading::Reading;
use tribo_study::report::text;
use tribo_study::store::ledger::Ledger;
use tribo_study::store::{self, Request};

#[derive(Debug, Args)]
#[command(override_usage = "tribo retry [STUDY] <TRIAL... | --failed>")]
pub(crate) struct Options {
    /// The study (the current folder if left out) and trials.
    #[arg(value_name = "WORDS")]
    words: Vec<String>,
    /// All trials that failed, were lost or gave an invalid answer; not those whose point is not allowed.
    #[arg(long)]
    failed: bool,
}

pub(crate) fn run(options: &Options) -> Outcome {
    let (layout, words) = words::split(&options.words);
    let mut trials = words.iter().map(|word| words::trial(word)).collect::<Result<Vec<u64>, Failure>>()?;
    if trials.is_empty() != options.failed {
        return Err(Failure::usage(
            "name the trials to run again, or --failed, e.g. `tribo retry 17` or `tribo retry --failed`",
        ));
    }
    let reading = Reading::open(&layout)?;
    if options.failed {
        trials = failed(reading.ledger());
    }
    trials.sort_unstable();
    trials.dedup();
    for trial in &trials {
        reading.ledger().may_reopen(*trial).map_err(Failure::usage)?;
    }
    if trials.is_empty() {
        output::note("no trial has failed");
        return Ok(OK);
    }
    let named = output::named(&layout);
    let again = text::count(trials.len(), "trial");
    if let Some(driver) = reading.driver() {
        for trial in &trials {
            store::request(&layout, &Request::Retry(*trial))?;
        }
        output::note(&format!(
            "process {} on {} is asked to run {again} again; `tribo status{named}` shows it",
            driver.pid, driver.host
        ));
        return Ok(OK);
    }
    let mut study = ByHand::of(study::open_existing(&layout)?.study)?;
    study.reopen(&trials)?;
    let by_hand = |trial: &u64| reading.ledger().trial(*trial).is_some_and(|state| state.is_by_hand());
    let (told, run): (Vec<u64>, Vec<u64>) = trials.into_iter().partition(by_hand);
    study.close("to be run again")?;
    if !run.is_empty() {
        let which = text::count(run.len(), "trial");
        output::note(&format!("{which} to be evaluated again: `tribo run{named}` does it"));
    }
    if let Some(first) = told.first() {
        let which = text::count(told.len(), "trial");
        output::note(&format!("{which} to be told again, e.g. `tribo tell{named} {first} VALUE`"));
    }
    Ok(OK)
}

/// Trials that went wrong: the points of others are not allowed, and stay so.
fn failed(ledger: &Ledger) -> Vec<u64> {
    let went_wrong = |kind| !matches!(kind, Kind::Ok | Kind::Infeasible);
    let told = ledger.told().filter(|(_, state)| state.outcome.as_ref().is_some_and(|f| went_wrong(f.kind)));
    told.map(|(trial, _)| trial).filter(|trial| ledger.may_reopen(*trial).is_ok()).collect()
}
