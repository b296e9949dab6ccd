//! The model, with a slider for each input: what is expected along each of them while the others stand where they are set.
//!
//! The server draws. The script sends where sliders stand and puts in what comes back; without it a button does that.

use crate::following::{Board, Followed};
use crate::route::query as pairs;
use std::collections::BTreeMap;
use std::sync::Arc;
use tribo_chart::{Chart, Scheme, escaped};
use tribo_study::Result;
use tribo_study::page::Html;
use tribo_study::report::text::number;
use tribo_study::view::{InputAxis, Through, View};

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
    html.raw(&format!("<form id=\"sliders\" method=\"get\" action=\"/s/{study}/model\">\n"));
    for input in seen(view) {
        if let Ok(Some((at, shown))) = view.setting(input, &through.place) {
            html.raw(&slider(input, at, &shown));
        }
    }
    html.raw(&format!(
        "<p><button type=\"submit\">Show</button> <a href=\"/s/{study}/model\">Back to the best trial</a></p>\n</form>\n"
    ));
    html.raw(&drawn(study, view, query, revision));
    Some(html.into_body())
}

fn slider(input: &InputAxis, at: f64, shown: &str) -> String {
    let (number, name, shown) = (input.input, escaped(&input.name), escaped(shown));
    let control = if input.is_categorical() {
        let option = |(i, category): (usize, &String)| {
            let selected = if i as f64 == at { " selected" } else { "" };
            format!("<option value=\"{i}\"{selected}>{}</option>", escaped(category))
        };
        let options: String = input.categories().iter().enumerate().map(option).collect();
        format!("<select id=\"i{number}\" name=\"i{number}\">{options}</select>")
    } else {
        let step = input.n_steps().map_or("any".to_owned(), |n| (1.0 / (n - 1) as f64).to_string());
        format!(
            "<input type=\"range\" id=\"i{number}\" name=\"i{number}\" min=\"0\" max=\"1\" step=\"{step}\" value=\"{at}\" \
             aria-valuetext=\"{shown}\">"
        )
    };
    format!(
        "<div class=\"slider\"><label for=\"i{number}\">{name}</label>{control}\
         <output for=\"i{number}\" data-of=\"i{number}\">{shown}</output></div>\n"
    )
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
    let mut shown = BTreeMap::new();
    html.raw("<div class=\"side\">\n");
    for input in seen(view) {
        if let Some((_, text)) = view.setting(input, &through.place)? {
            shown.insert(format!("i{}", input.input), text);
        }
        if let Some(chart) = view.slice_through(input, &through)? {
            html.raw(&format!("<figure>{}</figure>\n", chart.picture().svg(Scheme::Page)));
        }
    }
    html.raw("</div>\n");
    // A map of texts is always JSON.
    Ok(Some((serde_json::to_string(&shown).unwrap_or_default(), html.into_body())))
}
