//! The parts of pages: pieces of HTML that are made again when what they show has changed, each with a revision by which an
//! open page knows whether it has the present one.

use crate::pages::{link, trial_link};
use std::hash::{DefaultHasher, Hash, Hasher};
use tribo_chart::{LineChart, escaped};
use tribo_study::Result;
use tribo_study::page::{Html, Section};
use tribo_study::reading::Reading;
use tribo_study::report::failures::Group;
use tribo_study::report::summary::{NOT_FEASIBLE, Phase};
use tribo_study::report::text::{count, duration, number};
use tribo_study::view::View;

/// Attempts under way that are listed.
const SHOWN_ATTEMPTS: usize = 200;
/// Causes of failure that are listed.
const SHOWN_CAUSES: usize = 20;

/// A part.
pub(crate) struct Part {
    /// Says what is in it: the same again after a restart of the server.
    pub(crate) revision: String,
    /// With the element around it.
    pub(crate) html: String,
}

/// A part of a study with this body.
fn part(study: usize, name: &'static str, body: &str) -> (&'static str, Part) {
    let mut hasher = DefaultHasher::new();
    body.hash(&mut hasher);
    let revision = format!("{:016x}", hasher.finish());
    let html = format!(
        "<div id=\"{name}-{study}\" data-part=\"{study}/{name}\" data-revision=\"{revision}\" \
         data-source=\"/s/{study}/part/{name}\">\n{body}</div>\n"
    );
    (name, Part { revision, html })
}

/// Parts that wait for the first model.
pub(crate) fn waiting(study: usize) -> Vec<(&'static str, Part)> {
    let mut html = Html::default();
    html.section("Model");
    html.paragraph("The model is being made.");
    vec![
        part(study, "trouble", ""),
        part(study, "inputs", ""),
        part(study, "model", &html.into_body()),
        part(study, "search", ""),
    ]
}

/// What is wrong with a study.
pub(crate) fn trouble(study: usize, trouble: &str) -> (&'static str, Part) {
    let mut html = Html::default();
    html.verdict("poor", &format!("What is shown may be old: {trouble}"));
    part(study, "trouble", &html.into_body())
}

/// The parts that follow from the journal.
pub(crate) fn of_journal(study: usize, view: &View, reading: &Reading) -> Result<Vec<(&'static str, Part)>> {
    let of = |section: Section| -> Result<String> {
        let mut html = Html::default();
        section.write(&mut html, view)?;
        Ok(html.into_body())
    };
    let convergence = view.convergence();
    let mut large = Html::default();
    if let Some(chart) = &convergence {
        large.section("Convergence");
        large.chart(chart);
    }
    let large = large.into_body();
    let best = view.summary.best.as_ref().map(|best| {
        let text = format!("Why trial {} was proposed, and what came of it", best.trial);
        format!("<p>{}</p>\n", link(&format!("/s/{study}/trial/{}", best.trial), &text))
    });
    Ok(vec![
        part(study, "trouble", ""),
        part(study, "result", &(of(Section::Result)? + &best.unwrap_or_default())),
        part(study, "convergence", &large),
        part(study, "failures", &failures(study, view)),
        part(study, "machine", &of(Section::Machine)?),
        part(study, "strategy", &of(Section::Strategy)?),
        part(study, "again", &of(Section::Again)?),
        part(study, "now", &now(study, view, reading)),
        part(study, "card", &card(study, view, convergence)),
    ])
}

/// The parts that show the model.
pub(crate) fn of_model(study: usize, view: &View) -> Result<Vec<(&'static str, Part)>> {
    let sections = [("inputs", Section::Inputs), ("model", Section::Model), ("search", Section::Search)];
    let made = sections.into_iter().map(|(name, section)| {
        let mut html = Html::default();
        section.write(&mut html, view)?;
        Ok(part(study, name, &html.into_body()))
    });
    made.collect()
}

/// Where a study stands, in a few words.
fn state(view: &View) -> String {
    match &view.summary.phase {
        Phase::Running(driver) => format!("running, process {} on {}", driver.pid, driver.host),
        Phase::Finished { why } => format!("finished: {why}"),
        Phase::Stopped { why } => format!("stopped: {why}"),
        Phase::Interrupted => "not running; the last driver ended without a word".to_owned(),
        Phase::ByHand => "evaluated by hand".to_owned(),
    }
}

/// A study among others.
fn card(study: usize, view: &View, convergence: Option<LineChart>) -> String {
    let summary = &view.summary;
    let mut html = Html::default();
    html.raw(&format!("<h2>{}</h2>\n", link(&format!("/s/{study}/"), &summary.name)));
    html.raw(&match &summary.best {
        Some(best) => format!(
            "<p class=\"big\">{} {} <span class=\"muted\">{}</span></p>\n",
            escaped(&summary.objective),
            escaped(&number(best.value)),
            trial_link(study, best.trial)
        ),
        None if summary.no_best() == NOT_FEASIBLE => {
            "<p class=\"big\">nothing within the limits yet</p>\n".to_owned()
        }
        None => "<p class=\"big\">no value yet</p>\n".to_owned(),
    });
    html.paragraph(&state(view));
    let counts = &summary.counts;
    let of = summary.evaluations.map(|n| format!(" of {n}")).unwrap_or_default();
    html.paragraph(&format!(
        "{}{of} trials done, {} with a value, {} under way",
        counts.done(),
        counts.measured,
        counts.running + counts.waiting
    ));
    if let Some(chart) = convergence {
        html.chart(&LineChart { size: Some((330.0, 200.0)), ..chart });
    }
    html.into_body()
}

/// What fails, with the newest trial of each cause.
fn failures(study: usize, view: &View) -> String {
    let groups = &view.summary.failures;
    let mut html = Html::default();
    if groups.is_empty() {
        return html.into_body();
    }
    html.section("Failures");
    let row = |group: &Group| {
        let cause = if group.cause.is_empty() { group.state.name() } else { &group.cause };
        vec![
            escaped(&group.count.to_string()),
            escaped(group.state.name()),
            escaped(cause),
            trial_link(study, group.trial),
        ]
    };
    let rows: Vec<Vec<String>> = groups.iter().take(SHOWN_CAUSES).map(row).collect();
    html.raw(&table("what failed", &["trials", "state", "cause", "newest"], &rows));
    if groups.len() > SHOWN_CAUSES {
        html.paragraph(&format!("and {}.", count(groups.len() - SHOWN_CAUSES, "other cause")));
    }
    html.into_body()
}

/// Who works on what, and what waits for what.
fn now(study: usize, view: &View, reading: &Reading) -> String {
    let mut html = Html::default();
    let (summary, ledger, begun) = (&view.summary, reading.ledger(), reading.begun());
    html.section("Now");
    let pace = summary.pace.as_ref();
    html.facts(&[
        ("state", state(view)),
        ("running", summary.counts.running.to_string()),
        ("waiting", summary.counts.waiting.to_string()),
        ("pace", pace.map(|pace| format!("{} an hour", number(pace.per_hour.round()))).unwrap_or_default()),
        ("each takes", pace.and_then(|pace| pace.evaluation_s).map(duration).unwrap_or_default()),
        ("left", pace.and_then(|pace| pace.left_s).map(duration).unwrap_or_default()),
    ]);
    for group in &summary.waiting {
        html.paragraph(&group.text("[run] in the study file"));
    }
    let now_ms = tribo_study::store::disk::utc_ms();
    let mut rows: Vec<Vec<String>> = Vec::new();
    for attempt in ledger.live().take(SHOWN_ATTEMPTS) {
        let since = if attempt.submitted_ms > 0 { attempt.submitted_ms } else { attempt.intended_ms };
        let state = if begun.contains(&attempt.id) { "running" } else { "waiting" };
        rows.push(vec![
            trial_link(study, attempt.id.trial),
            attempt.id.attempt.to_string(),
            state.to_owned(),
            escaped(attempt.job.as_deref().unwrap_or("")),
            escaped(&duration(now_ms.saturating_sub(since) as f64 / 1e3)),
        ]);
    }
    if rows.is_empty() {
        html.paragraph("Nothing is under way.");
    } else {
        html.raw(&table("under way", &["trial", "attempt", "state", "job", "since it was submitted"], &rows));
        let more = ledger.live().count() - rows.len();
        if more > 0 {
            html.paragraph(&format!("and {} more.", more));
        }
    }
    html.into_body()
}

/// A table whose cells are markup; `name` is what screen readers call it.
pub(crate) fn table(name: &str, header: &[&str], rows: &[Vec<String>]) -> String {
    let mut html = format!(
        "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"{}\"><table>\n<thead><tr>",
        escaped(name)
    );
    for name in header {
        html += &format!("<th scope=\"col\">{}</th>", escaped(name));
    }
    html += "</tr></thead>\n<tbody>\n";
    for row in rows {
        let cells = row.iter().map(|cell| match cell.parse::<f64>() {
            Ok(_) => format!("<td class=\"n\">{cell}</td>"),
            Err(_) => format!("<td>{cell}</td>"),
        });
        html += &format!("<tr>{}</tr>\n", cells.collect::<String>());
    }
    html + "</tbody></table></div>\n"
}
