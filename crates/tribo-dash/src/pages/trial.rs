//! One trial: why it was proposed, what was expected and what came, its inputs, its attempts and what they printed.
//!
//! What the model expected is found by rebuilding it as it was, which takes a moment: the page comes without, and the script
//! brings the words afterwards. Without it a link does.

use super::log::tail;
use super::{link, trial_link};
use crate::following::Followed;
use serde_json::{Map, Value};
use tribo_chart::escaped;
use tribo_study::Result;
use tribo_study::job::{STDERR_FILE, STDOUT_FILE};
use tribo_study::layout::Layout;
use tribo_study::page::Html;
use tribo_study::report::row::{self, Row};
use tribo_study::report::text::{duration, number};
use tribo_study::store::ledger::{AttemptState, TrialState};

/// Elements of a vector that are listed.
const SHOWN_ELEMENTS: usize = 200;

/// The page; None if there is no such trial.
pub(super) fn page(study: &Followed, trial: u64, with_why: bool) -> Option<String> {
    let number = study.number;
    let (facts, last) = {
        let reading = study.reading();
        reading.ledger().trial(trial)?;
        (reading.ledger().next, reading.ledger().trials().last().map_or(0, |(last, _)| last))
    };
    let mut html = Html::default();
    let to = |other: u64| trial_link(number, other);
    let before = trial.checked_sub(1).map(to);
    let links: Vec<String> = before.into_iter().chain((trial < last).then(|| to(trial + 1))).collect();
    html.raw(&format!("<nav aria-label=\"neighbours\">{}</nav>\n", links.concat()));
    html.raw(&reason(study, trial, with_why));
    html.raw(&format!(
        "<div id=\"trial\" data-part=\"{number}/journal\" data-revision=\"{facts}\" data-source=\"/s/{number}/trial/{trial}\">\n"
    ));
    match facts_of(study, trial) {
        Ok(facts) => html.raw(&facts),
        Err(error) => html.verdict("poor", &error.to_string()),
    }
    html.raw("</div>\n");
    Some(html.into_body())
}

/// Why it was proposed.
fn reason(study: &Followed, trial: u64, with_why: bool) -> String {
    let mut html = Html::default();
    html.section("Why");
    let path = format!("/s/{}/trial/{trial}/why", study.number);
    let wanted = match with_why {
        true => {
            match study.why(trial) {
                Ok(why) => html.list(&why.words),
                Err(error) => html.paragraph(&error),
            }
            String::new()
        }
        false => {
            html.raw(&format!(
                "<p>{}</p>\n",
                link(&path, "Why was it proposed, and what was expected of it?")
            ));
            format!(" data-wanted=\"{path}\"")
        }
    };
    format!("<div id=\"why-words\"{wanted}>\n{}</div>\n", html.into_body())
}

fn facts_of(study: &Followed, trial: u64) -> Result<String> {
    let mut reading = study.reading();
    let (begun, config, layout) = (reading.begun(), reading.config.clone(), reading.layout.clone());
    let (ledger, rebuilt) = reading.current()?;
    let mut html = Html::default();
    let Some(state) = ledger.trial(trial) else { return Ok(html.into_body()) };
    let row = Row::new(trial, state, &begun);
    html.section("Outcome");
    let outputs = row.outputs.to_json(&config.outputs);
    let mut facts: Vec<(&str, String)> = vec![("state", row.state.name().to_owned())];
    facts.extend(outputs.iter().map(|(name, value)| (name.as_str(), shown(value))));
    facts.extend([
        ("violated", row.violated(&config)),
        ("reason", row.reason.to_owned()),
        ("asked", row::time(row.asked_ms)),
        ("told", row.told_ms.map(row::time).unwrap_or_default()),
        ("took", row.wall_s.map(duration).unwrap_or_default()),
        ("host", row.host.to_owned()),
    ]);
    html.facts(&facts);
    html.section("Inputs");
    let params = rebuilt.points().params(trial)?;
    html.table(&["input", "value"], &input_rows(&params));
    attempts(&mut html, state, &layout);
    Ok(html.into_body())
}

fn input_rows(params: &Map<String, Value>) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for (name, value) in params {
        match value {
            Value::Array(elements) => {
                let some = elements.iter().take(SHOWN_ELEMENTS).enumerate();
                rows.extend(some.map(|(i, element)| vec![format!("{name}[{i}]"), shown(element)]));
                if elements.len() > SHOWN_ELEMENTS {
                    rows.push(vec![
                        format!("{name}: {} more", elements.len() - SHOWN_ELEMENTS),
                        String::new(),
                    ]);
                }
            }
            value => rows.push(vec![name.clone(), shown(value)]),
        }
    }
    rows
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(found) => found.as_f64().map(number).unwrap_or_default(),
        other => other.to_string(),
    }
}

fn attempts(html: &mut Html, state: &TrialState, layout: &Layout) {
    if state.attempts.is_empty() {
        return;
    }
    html.section("Attempts");
    for attempt in &state.attempts {
        let AttemptState { id, job, submitted_ms, end, .. } = attempt;
        let folder = layout.attempt(*id);
        html.heading(&format!(
            "Attempt {}: {}",
            id.attempt,
            end.as_ref().map_or("under way", |end| end.finding.kind.name())
        ));
        let submitted = (*submitted_ms > 0).then(|| row::time(*submitted_ms));
        html.facts(&[
            ("job", job.clone().unwrap_or_default()),
            ("submitted", submitted.unwrap_or_default()),
            ("took", end.as_ref().and_then(|end| end.wall_s).map(duration).unwrap_or_default()),
            ("host", end.as_ref().map(|end| end.host.clone()).unwrap_or_default()),
            ("reason", end.as_ref().map(|end| end.finding.reason.clone()).unwrap_or_default()),
            ("folder", folder.display().to_string()),
        ]);
        for (file, name) in [(STDOUT_FILE, "standard output"), (STDERR_FILE, "standard error")] {
            let end = tail(&folder.join(file));
            if !end.is_empty() {
                html.raw(&format!(
                    "<details open><summary>The end of its {name}</summary><pre tabindex=\"0\">{}</pre></details>\n",
                    escaped(&end)
                ));
            }
        }
    }
}
