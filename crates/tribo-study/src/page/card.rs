//! A study as a few lines and its convergence, to be put into the page of someone else: what a notebook shows of it.

use super::sections::{facts, inputs_by_name, objective, shown};
use crate::report::text::number;
use crate::view::View;
use serde_json::Value as Json;
use tribo_chart::{Chart, escaped};

/// Inputs of the best point that are written out.
const SHOWN_INPUTS: usize = 8;

/// The study as a piece of HTML.
pub fn card(view: &View) -> String {
    let mut rows = facts(view);
    if let Some(best) = &view.summary.best {
        rows.push(("best", format!("{} {} (trial {})", objective(view), number(best.value), best.trial)));
        let inputs = inputs_by_name(view, best);
        let named = |(name, value): &(String, &Json)| format!("{name} = {}", shown(value));
        let mut point: Vec<String> = inputs.iter().take(SHOWN_INPUTS).map(named).collect();
        point.extend((inputs.len() > SHOWN_INPUTS).then(|| "…".to_owned()));
        rows.push(("at", point.join(", ")));
    }
    let row = |(name, value): &(&str, String)| {
        // Notebooks put cells at the right, which is for numbers.
        let (left, name, value) = ("style=\"text-align:left\"", escaped(name), escaped(value));
        format!("<tr><th scope=\"row\" {left}>{name}</th><td {left}>{value}</td></tr>\n")
    };
    let rows: String = rows.iter().filter(|(_, value)| !value.is_empty()).map(row).collect();
    let picture = view.convergence().map(|chart| chart.to_svg()).unwrap_or_default();
    format!("<div><table><tbody>\n{rows}</tbody></table>\n{picture}</div>\n")
}
