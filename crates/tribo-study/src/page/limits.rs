//! The limits of a study on its page: how it stands to each of them, and what comes nearest where nothing meets them all.

use super::html::Html;
use crate::report::limits::{LeastViolated, Standing, percent};
use crate::report::text::number;
use crate::view::{Model, View, is_nothing};
use tribo::strategy::Expected;

/// Writes the part; nothing where there are no limits.
pub(super) fn write(html: &mut Html, view: &View) {
    if view.summary.limits.is_empty() {
        return;
    }
    html.heading("Limits");
    if let Some(least) = &view.summary.least_violated {
        html.list(&nearest(least, view.summary.chance));
    }
    let rows: Vec<Vec<String>> = view.summary.limits.iter().map(row).collect();
    html.table(&["limit", "met", "at the best", "binds", "what it is worth"], &rows);
}

/// What the models hold for possible within the limits, near the best point.
pub(super) fn ahead(view: &View, model: &Model, best: f64) -> String {
    let internal = |value: f64| view.config.direction.to_internal(value);
    let values = || view.measured().map(|(_, value)| value);
    let spread = values().fold(f64::NEG_INFINITY, f64::max) - values().fold(f64::INFINITY, f64::min);
    match model.within.as_ref().filter(|within| within.is_met).map(|within| within.objective) {
        None => "How much more evaluations would bring within the limits cannot be said.".to_owned(),
        Some(Expected { mean, .. }) if is_nothing(internal(best) - internal(mean), spread) => {
            "Near the best point the models expect nothing better within the limits.".to_owned()
        }
        Some(Expected { mean, low, high }) => format!(
            "Near the best point the models hold {} {} (95 %: {} to {}) for possible within the limits.",
            view.config.objective(),
            number(mean),
            number(low),
            number(high)
        ),
    }
}

fn row(standing: &Standing) -> Vec<String> {
    let met = match &standing.nearest {
        Some(nearest) if standing.met == 0 => format!(
            "never in {}; nearest {} (trial {})",
            standing.measured,
            number(nearest.value),
            nearest.trial
        ),
        _ => format!("{} of {}", standing.met, standing.measured),
    };
    vec![
        standing.limit.clone(),
        met,
        standing.at_best.map(number).unwrap_or_default(),
        if standing.binds { "yes".to_owned() } else { String::new() },
        standing.trade.clone().unwrap_or_default(),
    ]
}

/// The trial that comes nearest, what it misses, and whether there is hope.
fn nearest(least: &LeastViolated, chance: Option<f64>) -> Vec<String> {
    let first = format!("The nearest is trial {} with {}.", least.best.trial, number(least.best.value));
    let missed = least.missed.iter().map(|missed| format!("{}.", missed.words()));
    let hope = |chance| {
        format!(
            "By the models the most promising point meets all limits with a probability of {}.",
            percent(chance)
        )
    };
    std::iter::once(first).chain(missed).chain(chance.map(hope)).collect()
}
