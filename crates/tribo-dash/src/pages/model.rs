//! The model, with a slider for each input: what is expected along each of them while the others stand where they are set. With
//! limits there is a slider for each of their ends too: what would be expected of the best point if they were there.
//!
//! The server draws. The script sends where sliders stand and puts in what comes back; without it a button does that.

use crate::following::{Board, Followed};
use crate::route::query as pairs;
use std::collections::BTreeMap;
use std::sync::Arc;
use tribo::strategy::BestExpected;
use tribo_chart::{Chart, Scheme, escaped};
use tribo_study::Result;
use tribo_study::page::Html;
use tribo_study::report::text::number;
use tribo_study::view::{Bound, InputAxis, Through, View};

/// The page.
pub(super) fn page(study: &Followed, board: &Board, query: &str) -> String {
    let (html, revision) =
        board.parts.get("model").map(|part| (part.html.as_str(), part.revision.as_str())).unwrap_or_default();
    let form = board.view.as_ref().and_then(|view| form(study.number, view, query, revision));
    // Without a model the page waits for one.
    let waits = || {
        format!("<div data-part=\"{}/model\" data-revision=\"{revision}\" data-reload></div>\n", study.number)
    };
    form.unwrap_or_else(waits) + html
}

/// The sliders and the slices; None without a model.
fn form(study: usize, view: &View, query: &str, revision: &str) -> Option<String> {
    let through = set(view, query).ok()??;
    let mut html = Html::default();
    html.section("What if");
    html.paragraph("Set inputs and see what the model expects. All others stand as in the best trial.");
    let bounds = view.bounds();
    if !bounds.is_empty() {
        html.paragraph("Move limits and see what the models would expect of the best point. Nothing is run, and the study stays as it is.");
    }
    html.raw(&format!("<form id=\"sliders\" method=\"get\" action=\"/s/{study}/model\">\n"));
    for input in seen(view) {
        if let Ok(Some((at, shown))) = view.setting(input, &through.place) {
            html.raw(&slider(input, at, &shown));
        }
    }
    for bound in &bounds {
        let at = place_of(bound, query);
        html.raw(&range(&bound_id(bound), &bound.name, "any", at, &number(bound.at(at))));
    }
    html.raw(&format!(
        "<p><button type=\"submit\">Show</button> <a href=\"/s/{study}/model\">Back to the best trial</a></p>\n</form>\n"
    ));
    html.raw(&drawn(study, view, query, revision));
    Some(html.into_body())
}

fn slider(input: &InputAxis, at: f64, shown: &str) -> String {
    let number = input.input;
    let control = if input.is_categorical() {
        let option = |(i, category): (usize, &String)| {
            let selected = if i as f64 == at { " selected" } else { "" };
            format!("<option value=\"{i}\"{selected}>{}</option>", escaped(category))
        };
        let options: String = input.categories().iter().enumerate().map(option).collect();
        format!("<select id=\"i{number}\" name=\"i{number}\">{options}</select>")
    } else {
        let step = input.n_steps().map_or("any".to_owned(), |n| (1.0 / (n - 1) as f64).to_string());
        return range(&format!("i{number}"), &input.name, &step, at, shown);
    };
    labelled(&format!("i{number}"), &input.name, &control, shown)
}

/// A slider from 0 to 1.
fn range(id: &str, name: &str, step: &str, at: f64, shown: &str) -> String {
    let control = format!(
        "<input type=\"range\" id=\"{id}\" name=\"{id}\" min=\"0\" max=\"1\" step=\"{step}\" value=\"{at}\" \
         aria-valuetext=\"{}\">",
        escaped(shown)
    );
    labelled(id, name, &control, shown)
}

/// A control with its name, and what it is set to.
fn labelled(id: &str, name: &str, control: &str, shown: &str) -> String {
    format!(
        "<div class=\"slider\"><label for=\"{id}\">{}</label>{control}\
         <output for=\"{id}\" data-of=\"{id}\">{}</output></div>\n",
        escaped(name),
        escaped(shown)
    )
}

/// The name of a limit's end in queries.
fn bound_id(bound: &Bound) -> String {
    format!("l{}{}", bound.limit, if bound.is_upper { "h" } else { "l" })
}

/// Where a query sets it, between 0 and 1; in the middle it is where it is.
fn place_of(bound: &Bound, query: &str) -> f64 {
    let id = bound_id(bound);
    let set = pairs(Some(query)).find(|(name, _)| *name == id).and_then(|(_, value)| value.parse().ok());
    set.filter(|place: &f64| (0.0..=1.0).contains(place)).unwrap_or(0.5)
}

/// The slices alone.
pub(super) fn slices(study: &Arc<Followed>, query: &str) -> String {
    let board = study.board();
    let revision = board.parts.get("model").map(|part| part.revision.as_str()).unwrap_or_default();
    board.view.as_ref().map(|view| drawn(study.number, view, query, revision)).unwrap_or_default()
}

/// Inputs that the model sees, of those shown.
fn seen(view: &View) -> impl Iterator<Item = &InputAxis> {
    let model = view.model.as_ref();
    view.inputs
        .iter()
        .filter(move |input| model.is_some_and(|model| model.look.inputs().contains(&input.input)))
}

/// The place that a query sets; None without a model.
fn set(view: &View, query: &str) -> Result<Option<Through>> {
    let mut settings: Vec<(usize, f64)> = Vec::new();
    for (name, value) in pairs(Some(query)) {
        let input = name.strip_prefix('i').and_then(|digits| digits.parse().ok());
        if let (Some(input), Ok(value)) = (input, value.parse::<f64>())
            && seen(view).any(|axis| axis.input == input)
        {
            settings.push((input, value));
        }
    }
    view.set(&settings)
}

fn drawn(study: usize, view: &View, query: &str, revision: &str) -> String {
    // What cannot be computed is not shown.
    let body = contents(view, query).ok().flatten();
    let (shown, body) = body.unwrap_or_default();
    format!(
        "<div id=\"slices\" data-part=\"{study}/model\" data-revision=\"{revision}\" data-source=\"/s/{study}/model/slices\" \
         data-form=\"sliders\" data-shown=\"{}\">\n{body}</div>\n",
        escaped(&shown)
    )
}

/// What is expected under limits that were moved, in words.
fn under_other_limits(view: &View, best: &BestExpected) -> Result<String> {
    let mut inputs = vec![];
    for input in seen(view) {
        if let Some((_, text)) = view.setting(input, &best.place)? {
            inputs.push(format!("{} {text}", input.name));
        }
    }
    let (objective, at) = (view.config.objective(), inputs.join(", "));
    let (mean, low, high) =
        (number(best.objective.mean), number(best.objective.low), number(best.objective.high));
    let there = format!("{objective} {mean} (95 %: {low} to {high}) at {at}");
    Ok(match best.is_met {
        true => format!("Under these limits the models expect {there}."),
        false => format!(
            "The models expect no point near the best one to meet these limits. Nearest comes {there}."
        ),
    })
}

/// The values as people read them, as JSON, and the slices.
fn contents(view: &View, query: &str) -> Result<Option<(String, String)>> {
    let (Some(through), Some(model)) = (set(view, query)?, view.model.as_ref()) else { return Ok(None) };
    let mut html = Html::default();
    let expected = model.look.expected(std::slice::from_ref(&through.place))?[0];
    let (mean, low, high) = (number(expected.mean), number(expected.low), number(expected.high));
    let objective = view.config.objective();
    html.verdict("fair", &format!("Expected {objective} here: {mean} (95 %: {low} to {high})."));
    if let Some(best) = &view.summary.best {
        let chance = 100.0 * model.look.chance_of_better(&through.place, best.value)?;
        let best = number(best.value);
        html.paragraph(&format!("The best so far is {best}; the chance of better here is {chance:.0} %."));
    }
    if let Some(chance) = view.chance_within(&through.place)? {
        html.paragraph(&format!("The chance that all limits are met here is {:.0} %.", 100.0 * chance));
    }
    let mut shown = BTreeMap::new();
    let bounds = view.bounds();
    for bound in &bounds {
        shown.insert(bound_id(bound), number(bound.at(place_of(bound, query))));
    }
    let moved: Vec<(&Bound, f64)> = bounds
        .iter()
        .map(|bound| (bound, place_of(bound, query)))
        .filter(|(_, place)| *place != 0.5)
        .map(|(bound, place)| (bound, bound.at(place)))
        .collect();
    if !moved.is_empty()
        && let Some(best) = view.best_with(&moved)?
    {
        html.verdict(if best.is_met { "good" } else { "poor" }, &under_other_limits(view, &best)?);
    }
    html.raw("<div class=\"side\">\n");
    for input in seen(view) {
        if let Some((_, text)) = view.setting(input, &through.place)? {
            shown.insert(format!("i{}", input.input), text);
        }
        if let Some(chart) = view.slice_through(input, &through)? {
            html.raw(&format!("<figure>{}</figure>\n", chart.picture().svg(Scheme::Page)));
        }
        if let Some(chart) = view.chance_through(input, &through)? {
            html.raw(&format!("<figure>{}</figure>\n", chart.picture().svg(Scheme::Page)));
        }
    }
    html.raw("</div>\n");
    // A map of texts is always JSON.
    Ok(Some((serde_json::to_string(&shown).unwrap_or_default(), html.into_body())))
}
