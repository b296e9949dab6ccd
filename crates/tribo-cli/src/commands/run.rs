//! `tribo run`: starts a study, or goes on with it.

use super::{best, report};
use crate::args::{StudyPath, at_least_one};
use crate::failure::{FAILURES, Failure, NO_VALUE, OK, Outcome};
use crate::output;
use crate::progress::{Events, People, Quiet, Screen};
use crate::signals::Signals;
use crate::{place, study};
use clap::Args;
use std::num::NonZeroUsize;
use tribo_study::Error;
use tribo_study::config::Config;
use tribo_study::driver::notice::{Finish, Observer};
use tribo_study::driver::{AGAIN_S, Driver, Interrupt};
use tribo_study::layout::Layout;
use tribo_study::owned::{self, How};
use tribo_study::report::limits::{self, LeastViolated};
use tribo_study::report::row::Begun;
use tribo_study::report::summary::{self, Best};
use tribo_study::report::text;
use tribo_study::store::ledger::Ledger;

#[derive(Debug, Args)]
pub(crate) struct Options {
    #[command(flatten)]
    study: StudyPath,
    /// Evaluations under way at once, instead of what the study file says.
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    workers: Option<NonZeroUsize>,
    /// Take the study from a driver on another host that is known to be gone.
    #[arg(long)]
    take_over: bool,
    /// Go on although the study file was changed in what decides proposals: a new chapter begins, which knows all results so
    /// far.
    #[arg(long)]
    new_chapter: bool,
    /// Print every event as one line of JSON.
    #[arg(long, conflicts_with = "quiet")]
    json: bool,
    /// Print the best point only.
    #[arg(short, long)]
    quiet: bool,
}

pub(crate) fn run(options: &Options) -> Outcome {
    let layout = options.study.layout();
    refuse_names(&layout)?;
    let writing =
        study::open(&layout, How { take_over: options.take_over, new_chapter: options.new_chapter })?;
    let mut run = place::run(&writing)?;
    run.workers = options.workers.map_or(run.workers, NonZeroUsize::get);
    writing.study.notes.iter().for_each(|note| output::warning(note));
    writing.study.began.iter().for_each(|began| output::note(began));
    let config = writing.study.config.clone();
    let screen = Screen::new(!options.json && !options.quiet);
    let mut watcher = Watcher::new(options, &screen, &layout);
    let named = output::named(&layout);
    let (runner, clock) = place::place(&writing, &run)?;
    let detachable = runner.patience().detachable;
    let (heard, left) = (screen.clone(), screen.clone());
    let say = move |wish| heard.say(|| output::note(&advice(wish, detachable, &named)));
    let signals = Signals::catch(say, move || left.clear())
        .map_err(|error| Failure::usage(format!("signals cannot be caught: {error}")))?;
    let mut driver = Driver::new(writing.into_parts(run, runner, clock.as_ref()))?;
    let finish = driver.run(signals.as_ref(), watcher.observer());
    screen.clear();
    let finish = finish?;
    let best = summary::best(&config, driver.ledger(), driver.points(), 1)?.pop();
    let least = match best {
        Some(_) => None,
        None => limits::least_violated(&config, driver.ledger(), driver.points())?,
    };
    let found = Found { best: best.as_ref(), least: least.as_ref() };
    watcher.end(&config, &layout, &finish, found, driver.ledger())?;
    if config.report && is_over(&finish) {
        match report::write(&layout, &layout.report()) {
            Ok(()) => watcher.reported(&layout),
            Err(error) => output::warning(&format!("the report was not written: {error}")),
        }
    }
    Ok(match finish {
        Finish::Failures { .. } => FAILURES,
        Finish::Detached { .. } | Finish::Cancelled => signals.exit_code(),
        Finish::Evaluations | Finish::WallTime | Finish::Target | Finish::Exhausted if best.is_none() => {
            NO_VALUE
        }
        Finish::Evaluations | Finish::WallTime | Finish::Target | Finish::Exhausted => OK,
    })
}

/// Parameters whose names clash or that nothing uses stop a study before it begins; one that has begun goes on with a word.
fn refuse_names(layout: &Layout) -> Result<(), Failure> {
    let config = study::config(layout)?;
    let Some(fault) = study::name_fault(layout, &config)? else { return Ok(()) };
    match owned::ledger(layout)? {
        Some(ledger) if ledger.trials().len() > 0 => output::warning(&fault.to_string()),
        _ => return Err(Error::Config(fault).into()),
    }
    Ok(())
}

/// Whether the run ended by itself: whoever stops it is waiting for the prompt.
fn is_over(finish: &Finish) -> bool {
    !matches!(finish, Finish::Detached { .. } | Finish::Cancelled)
}

/// What an interruption means, and what a second one would do.
fn advice(wish: Interrupt, detachable: bool, study: &str) -> String {
    match (wish, detachable) {
        (Interrupt::Stop, true) => {
            format!(
                "stopping; jobs go on by themselves and `tribo run{study}` takes them over. Ctrl-C again within {AGAIN_S} seconds cancels them"
            )
        }
        (Interrupt::Stop, false) => {
            format!(
                "stopping when the evaluations under way have ended; `tribo run{study}` goes on. Ctrl-C again cancels them"
            )
        }
        (Interrupt::Cancel, _) => "cancelling everything under way; Ctrl-C again leaves at once".to_owned(),
        (Interrupt::Detach | Interrupt::None, _) => {
            format!(
                "leaving; evaluations under way go on by themselves and `tribo run{study}` takes them over"
            )
        }
    }
}

/// What came of a run: the best trial, or where none meets all limits the one that is least beyond them.
struct Found<'a> {
    best: Option<&'a Best>,
    least: Option<&'a LeastViolated>,
}

/// One of the ways to watch.
enum Watcher {
    People(People),
    Events(Events),
    Quiet(Quiet),
}

impl Watcher {
    fn new(options: &Options, screen: &Screen, layout: &Layout) -> Watcher {
        match (options.json, options.quiet) {
            (true, _) => Watcher::Events(Events::default()),
            (false, true) => Watcher::Quiet(Quiet),
            (false, false) => Watcher::People(People::new(screen.clone(), layout.clone())),
        }
    }

    fn observer(&mut self) -> &mut dyn Observer {
        match self {
            Watcher::People(people) => people,
            Watcher::Events(events) => events,
            Watcher::Quiet(quiet) => quiet,
        }
    }

    /// Says where the report is.
    fn reported(&self, layout: &Layout) {
        if matches!(self, Watcher::People(_)) {
            output::note(&format!("report in {}", layout.report().display()));
        }
    }

    /// Says how it ended, what is best and what to do next.
    fn end(
        &mut self,
        config: &Config,
        layout: &Layout,
        finish: &Finish,
        Found { best, least }: Found<'_>,
        ledger: &Ledger,
    ) -> Result<(), Failure> {
        if let Watcher::Events(events) = self {
            if let Some(least) = least {
                let mut event = serde_json::to_value(least).unwrap_or_default();
                event["event"] = "least_violated".into();
                events.write(&event);
            }
            if let Some(best) = best {
                events.write(&serde_json::json!({
                    "event": "best", "trial": best.trial, "value": best.value, "outputs": best.outputs,
                    "params": best.params,
                }));
            }
            return Ok(());
        }
        if matches!(self, Watcher::People(_)) {
            output::note(&ending(finish, ledger.told().len(), &output::named(layout)));
        }
        match (best, least) {
            (Some(best), _) => output::print(&format!("best {}", best::text(config, best)))?,
            (None, Some(least)) => {
                output::note("no evaluation meets all limits");
                output::print(&best::nearest(config, least))?;
            }
            (None, None) => {
                let counts = summary::counts(ledger, &Begun::new());
                output::note(&match summary::no_best(config, &counts) {
                    summary::NOT_FEASIBLE => format!(
                        "no evaluation has given every limited output; `tribo status{}` says which",
                        output::named(layout)
                    ),
                    _ => "no evaluation has given a value".to_owned(),
                });
            }
        }
        Ok(())
    }
}

fn ending(finish: &Finish, told: usize, study: &str) -> String {
    let trials = text::count(told, "trial");
    let look =
        format!("`tribo trials{study}` lists them, `tribo export{study} -o trials.csv` writes a table");
    match finish {
        Finish::Evaluations | Finish::WallTime | Finish::Target | Finish::Exhausted => {
            format!("{finish}: {trials}; {look}")
        }
        Finish::Detached { running: 0 } => format!("stopped after {trials}; `tribo run{study}` goes on"),
        Finish::Detached { running } => format!(
            "stopped after {trials}; {} on without this program, `tribo run{study}` takes them over, `tribo cancel{study} --all` ends them",
            match running {
                1 => "1 evaluation goes".to_owned(),
                n => format!("{n} evaluations go"),
            }
        ),
        Finish::Cancelled => format!("cancelled after {trials}; `tribo run{study}` goes on"),
        Finish::Failures { .. } => format!(
            "stopped: {finish}\n`tribo status{study}` groups the causes, `tribo check --run{study}` tries one evaluation; then `tribo run{study}` goes on"
        ),
    }
}
