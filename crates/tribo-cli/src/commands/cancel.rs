//! `tribo cancel`: gives trials up, or ends everything under way. A running driver is asked to; without one, this command
//! takes the study and does it itself.

use super::words;
use crate::failure::{Failure, OK, Outcome};
use crate::study::{self, Writing};
use crate::{output, place};
use clap::Args;
use std::cell::RefCell;
use std::collections::BTreeSet;
use tribo_study::driver::notice::{Finish, Notice, Observer};
use tribo_study::driver::{Driver, Interrupt, Interrupts};
use tribo_study::job::Finding;
use tribo_study::layout::Layout;
use tribo_study::reading::Reading;
use tribo_study::report::text;
use tribo_study::store::record::Record;
use tribo_study::store::{self, Request};

/// Seconds that cancelled jobs get to answer, when no driver waits for them.
const PATIENCE_S: f64 = 60.0;

#[derive(Debug, Args)]
#[command(override_usage = "tribo cancel [STUDY] <TRIAL... | --all>")]
pub(crate) struct Options {
    /// The study (the current folder if left out) and trials.
    #[arg(value_name = "WORDS")]
    words: Vec<String>,
    /// End everything under way; the next run tries it again.
    #[arg(long)]
    all: bool,
}

pub(crate) fn run(options: &Options) -> Outcome {
    let (layout, words) = words::split(&options.words);
    let trials = words.iter().map(|word| words::trial(word)).collect::<Result<BTreeSet<u64>, Failure>>()?;
    if trials.is_empty() != options.all {
        return Err(Failure::usage(
            "name the trials to cancel, or --all, e.g. `tribo cancel 17` or `tribo cancel --all`",
        ));
    }
    let reading = Reading::open(&layout)?;
    for trial in &trials {
        match reading.ledger().trial(*trial) {
            None => return Err(words::no_trial(*trial, reading.ledger().trials().len())),
            Some(state) if state.outcome.is_some() => output::note(&format!("trial {trial} is over already")),
            Some(_) => {}
        }
    }
    if let Some(driver) = reading.driver() {
        let requests = match options.all {
            true => vec![Request::CancelAll],
            false => trials.iter().map(|trial| Request::Cancel(*trial)).collect(),
        };
        for request in &requests {
            store::request(&layout, request)?;
        }
        output::note(&format!(
            "process {} on {} is asked to; `tribo status{}` shows when it is done",
            driver.pid,
            driver.host,
            output::named(&layout)
        ));
        return Ok(OK);
    }
    alone(&layout, study::open_existing(&layout)?, trials, options.all)
}

/// Without a driver: be one, propose nothing, and leave when the trials are told.
fn alone(layout: &Layout, mut writing: Writing, trials: BTreeSet<u64>, all: bool) -> Outcome {
    let mut open: BTreeSet<u64> =
        trials.into_iter().filter(|trial| writing.study.ledger.open().any(|(id, _)| id == *trial)).collect();
    for trial in open.clone() {
        // No driver evaluates these, so none can give them up.
        if writing.study.ledger.trial(trial).is_some_and(|state| state.attempts.is_empty()) {
            let reason = "cancelled: on request".to_owned();
            writing.study.append(Record::Told { trial, finding: Finding::failed(reason) })?;
            open.remove(&trial);
        }
    }
    let live = writing.study.ledger.live().count();
    if (all && live == 0) || (!all && open.is_empty()) {
        writing.study.close("cancelled")?;
        output::note(if all { "nothing is under way" } else { "done" });
        return Ok(OK);
    }
    for trial in &open {
        store::request(layout, &Request::Cancel(*trial))?;
    }
    let run = place::run(&writing)?;
    let (runner, clock) = place::place(&writing, &run)?;
    let mut driver = Driver::new(writing.into_parts(run, runner, clock.as_ref()))?;
    let waiting = RefCell::new((open, 0.0));
    let wish = Wish { all, waiting: &waiting };
    let finish = driver.run(&wish, &mut Watch { waiting: &waiting })?;
    let left = waiting.borrow().0.len();
    match finish {
        Finish::Cancelled => output::note(&format!("{} cancelled", text::count(live, "evaluation"))),
        _ if left == 0 => output::note("done"),
        _ => output::note(&format!("{} asked to end, and did not answer yet", text::count(left, "trial"))),
    }
    Ok(OK)
}

/// Trials that are still to be told, and the seconds so far.
type Waiting = RefCell<(BTreeSet<u64>, f64)>;

struct Wish<'a> {
    all: bool,
    waiting: &'a Waiting,
}

impl Interrupts for Wish<'_> {
    fn interrupt(&self) -> Interrupt {
        let waiting = self.waiting.borrow();
        match self.all {
            true => Interrupt::Cancel,
            false if waiting.0.is_empty() || waiting.1 > PATIENCE_S => Interrupt::Detach,
            // Nothing is proposed; jobs of a scheduler are left as soon as they are asked to end.
            false => Interrupt::Stop,
        }
    }
}

struct Watch<'a> {
    waiting: &'a Waiting,
}

impl Observer for Watch<'_> {
    fn notice(&mut self, notice: &Notice) {
        match notice {
            Notice::Told { trial, .. } => {
                self.waiting.borrow_mut().0.remove(trial);
            }
            Notice::Progress(progress) => self.waiting.borrow_mut().1 = progress.elapsed_s,
            Notice::Warning { text } => output::warning(text),
            Notice::Waiting { .. }
            | Notice::Opened { .. }
            | Notice::Submitted { .. }
            | Notice::Ended { .. }
            | Notice::Finished(_) => {}
        }
    }
}
