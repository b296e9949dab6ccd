//! `tribo best`: the best trials.

use crate::args::{StudyPath, at_least_one};
use crate::failure::{NO_VALUE, OK, Outcome};
use crate::output;
use clap::Args;
use std::num::NonZeroUsize;
use tribo_study::config::Config;
use tribo_study::outputs::VALUE;
use tribo_study::reading::Reading;
use tribo_study::report::limits::{self, LeastViolated};
use tribo_study::report::summary::{self, Best, Recommended};

#[derive(Debug, Args)]
pub(crate) struct Options {
    #[command(flatten)]
    study: StudyPath,
    /// How many.
    #[arg(long, default_value = "1", value_name = "N", value_parser = at_least_one)]
    top: NonZeroUsize,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(options: &Options) -> Outcome {
    let reading = Reading::open(&options.study.layout())?;
    let mut rebuilt = reading.rebuilt()?;
    let best = summary::best(&reading.config, reading.ledger(), rebuilt.points(), options.top.get())?;
    let recommended = summary::recommended(&mut rebuilt)?;
    let least = match best.is_empty() {
        true => limits::least_violated(&reading.config, reading.ledger(), rebuilt.points())?,
        false => None,
    };
    let code = if best.is_empty() { NO_VALUE } else { OK };
    if options.json {
        let mut object = serde_json::json!({ "version": 1, "best": best, "recommended": recommended });
        if !reading.config.limits.is_empty() {
            object["least_violated"] = serde_json::to_value(&least).unwrap_or_default();
        }
        output::print_json(&object)?;
        return Ok(code);
    }
    if let Some(text) = recommended.as_ref().and_then(under_noise) {
        output::print(&text)?;
    }
    if let Some(least) = &least {
        output::note(summary::NOT_FEASIBLE);
        output::print(&nearest(&reading.config, least))?;
    } else if best.is_empty() {
        let counts = summary::counts(reading.ledger(), &reading.begun());
        output::note(summary::no_best(&reading.config, &counts));
    }
    output::print(&best.iter().map(|best| text(&reading.config, best)).collect::<Vec<_>>().join("\n"))?;
    Ok(code)
}

/// The recommended point, where it need not be that of the best value: results or limited outputs carry noise.
fn under_noise(recommended: &Recommended) -> Option<String> {
    let Recommended { trial, value, interval, within_limits, params } = recommended;
    let mut parts = vec![format!("recommended: trial {trial}")];
    parts.push(match interval {
        Some((low, high)) => format!("{value:.6} expected, {low:.6} to {high:.6} with 90 %"),
        None => format!("{value:?}"),
    });
    parts.extend(within_limits.map(|chance| format!("within all limits with {}", limits::percent(chance))));
    let why = match (interval, within_limits) {
        (None, None) => return None,
        (Some(_), None) => {
            "Results carry noise: the best value of many is mostly a lucky one, so the point above is the one that the model \
             expects most of."
        }
        (_, Some(_)) => {
            "Limited outputs carry noise: a trial that was measured within its limits may be lucky, so the point above is the \
             best of those that the models hold for within them."
        }
    };
    let point = output::point(params);
    Some(format!("{}\n{point}\n{why}\nThe best value measured:\n", parts.join(", ")))
}

/// The trial that is least beyond the limits, for people.
pub(crate) fn nearest(config: &Config, least: &LeastViolated) -> String {
    let missed: String = least.missed.iter().map(|missed| format!("  {}\n", missed.words())).collect();
    format!("nearest {}{missed}", text(config, &least.best))
}

/// A trial, its outputs and its point, for people.
pub(crate) fn text(config: &Config, best: &Best) -> String {
    let objective = config.objective();
    let name = if objective == VALUE { String::new() } else { format!("{objective} ") };
    let others = best.outputs.iter().filter(|(name, _)| *name != objective);
    let others: String = others.map(|(name, value)| format!(", {name} {value}")).collect();
    format!("{name}{:?} (trial {}){others}\n{}", best.value, best.trial, output::point(&best.params))
}
