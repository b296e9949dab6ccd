//! `tribo status`: where a study stands, from the journal and without disturbing its driver.

use super::{best, inputs};
use crate::args::Shown;
use crate::failure::{OK, Outcome};
use crate::output;
use crate::study;
use std::fmt::Write;
use tribo::surrogate::watch::Unwatched;
use tribo_study::job::STDERR_FILE;
use tribo_study::outputs::VALUE;
use tribo_study::reading::Reading;
use tribo_study::report::limits;
use tribo_study::report::summary::{Pace, Phase, Summary, elsewhere, summary};
use tribo_study::report::text;

/// Causes of failure that are shown.
const SHOWN_CAUSES: usize = 5;

pub(crate) fn run(options: &Shown) -> Outcome {
    let reading = Reading::open(&options.study.layout())?;
    let seen = reading.seen()?;
    let mut rebuilt = reading.glance()?;
    let config = &reading.config;
    let mut summary = summary(config, reading.ledger(), rebuilt.points(), Some(&reading.layout), &seen)?;
    if !config.limits.is_empty() {
        // With what the model says, which takes a moment.
        summary.know_limits(config, rebuilt.study.limit_states(&Unwatched)?);
    }
    summary.elsewhere = elsewhere(&mut rebuilt)?;
    match options.json {
        true => output::print_json(&summary)?,
        false => output::print(&page(&reading, &summary, inputs::line(&rebuilt.study, &reading.layout)))?,
    }
    Ok(OK)
}

fn page(reading: &Reading, summary: &Summary, inputs: Option<String>) -> String {
    let mut page = String::new();
    // Writing to a string does not fail.
    let _ = write_page(&mut page, reading, summary, inputs);
    page
}

/// Where a study stands.
pub(crate) fn phase(phase: &Phase) -> String {
    match phase {
        Phase::Running(driver) => format!("running, process {} on {}", driver.pid, driver.host),
        Phase::Finished { why } => format!("finished: {why}"),
        Phase::Stopped { why } => format!("stopped: {why}"),
        Phase::Interrupted => "not running; the last driver ended without a word".to_owned(),
        Phase::ByHand => "evaluated by hand".to_owned(),
    }
}

/// How fast trials end, and how long the others will take.
pub(crate) fn pace_words(pace: &Pace, phase: &Phase) -> String {
    let each = pace.evaluation_s.map(|s| format!(", {} each", text::duration(s))).unwrap_or_default();
    let left = pace.left_s.filter(|_| matches!(phase, Phase::Running(_)));
    let left = left.map(|s| format!(", about {} left", text::duration(s))).unwrap_or_default();
    format!("{} an hour{each}{left}", text::number(pace.per_hour.round()))
}

fn write_page(
    page: &mut String,
    reading: &Reading,
    summary: &Summary,
    inputs: Option<String>,
) -> std::fmt::Result {
    let phase = phase(&summary.phase);
    let objective = match summary.objective.as_str() {
        VALUE => String::new(),
        name => format!(" {name}"),
    };
    writeln!(page, "{} ({}{objective}), {phase}", summary.name, summary.direction)?;
    writeln!(page, "strategy  {}", summary.strategy)?;
    if let [_, .., chapter] = reading.ledger().chapters() {
        let (number, first) = (summary.chapters, chapter.first_trial);
        writeln!(page, "chapter   {number}, which began with trial {first}")?;
    }
    if let Some(inputs) = inputs {
        writeln!(page, "inputs    {inputs}")?;
    }
    if let Some(recalled) = &summary.recalled {
        let (rows, named) = (text::count(recalled.rows, "row"), text::count(recalled.inputs.len(), "input"));
        let explained = 100.0 * recalled.explained;
        writeln!(page, "earlier   {rows} of {}: {named}, {explained:.0} % of the variance", recalled.file)?;
    }
    let counts = &summary.counts;
    let of = summary.evaluations.map(|n| format!(" of {n}")).unwrap_or_default();
    let waiting = if summary.phase == Phase::ByHand { "to be told" } else { "waiting" };
    let parts: Vec<String> = [
        (counts.measured - counts.imported, "with a value"),
        (counts.failed, "failed"),
        (counts.invalid, "invalid"),
        (counts.infeasible, "infeasible"),
        (counts.lost, "lost"),
        (counts.running, "running"),
        (counts.waiting, waiting),
    ]
    .into_iter()
    .filter(|(n, word)| *n > 0 || *word == "with a value")
    .map(|(n, word)| format!("{n} {word}"))
    .collect();
    let imported = match counts.imported {
        0 => String::new(),
        n => format!("; {n} imported"),
    };
    writeln!(page, "trials    {}{of} done: {}{imported}", counts.done(), parts.join(", "))?;
    match &summary.best {
        Some(best) => write!(page, "best      {}", best::text(&reading.config, best))?,
        None if summary.limits.is_empty() => writeln!(page, "best      none yet")?,
        None => writeln!(page, "best      none: {}", summary.no_best())?,
    }
    if let Some(chance) = summary.chance {
        let chance = limits::percent(chance);
        writeln!(page, "chance    {chance}, by the models, that the most promising point meets all limits")?;
    }
    if let Some(elsewhere) = &summary.elsewhere {
        let (chance, worth) = (100.0 * elsewhere.chance, elsewhere.worth);
        writeln!(
            page,
            "search    may be in a side valley: with {chance:.0} % there is a value that is better by more"
        )?;
        writeln!(page, "          than {worth:.2e} away from the best point, most likely near")?;
        write!(page, "{}", output::point(&elsewhere.params))?;
    }
    if let Some(least) = &summary.least_violated {
        write!(page, "{}", best::nearest(&reading.config, least))?;
    }
    for (k, standing) in summary.limits.iter().enumerate() {
        let title = if k == 0 { "limits" } else { "" };
        writeln!(page, "{title:<10}{}: {}", standing.limit, standing.words())?;
    }
    if let Some(pace) = &summary.pace {
        writeln!(page, "pace      {}", pace_words(pace, &summary.phase))?;
    }
    for group in summary.waiting.iter().take(SHOWN_CAUSES) {
        writeln!(page, "queue     {}", group.text("[run] in the study file"))?;
    }
    if !summary.failures.is_empty() {
        writeln!(page, "\nfailures")?;
    }
    for group in summary.failures.iter().take(SHOWN_CAUSES) {
        let cause = if group.cause.is_empty() { group.state.name() } else { &group.cause };
        writeln!(page, "  {} x  {cause}", group.count)?;
        let folder =
            group.example.map(|id| reading.layout.attempt(id)).filter(|dir| dir.join(STDERR_FILE).exists());
        match folder {
            Some(folder) => {
                writeln!(page, "        e.g. trial {}: {}", group.trial, folder.join(STDERR_FILE).display())?;
                study::stderr_tail(&folder, 1)
                    .lines()
                    .try_for_each(|line| writeln!(page, "        {line}"))?;
            }
            None => writeln!(page, "        e.g. trial {}", group.trial)?,
        }
    }
    if summary.failures.len() > SHOWN_CAUSES {
        writeln!(page, "  and {}", text::count(summary.failures.len() - SHOWN_CAUSES, "other cause"))?;
    }
    for (index, warning) in summary.warnings.iter().enumerate() {
        writeln!(page, "{}warning: {warning}", if index == 0 { "\n" } else { "" })?;
    }
    Ok(())
}
