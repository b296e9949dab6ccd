//! A list of trials, a hundred at a time: the newest first, the best first, or those without a value.

use super::{link, trial_link};
use crate::following::Followed;
use crate::parts::table;
use crate::route::query as pairs;
use serde_json::Value;
use tribo_chart::escaped;
use tribo_study::Result;
use tribo_study::page::Html;
use tribo_study::report::row::{Row, State};
use tribo_study::report::text::{count, duration, number, shortened};
use tribo_study::store::ledger::Ledger;

/// Trials on a page.
const SHOWN: usize = 100;
/// Parameters in a row.
const PARAMETERS: usize = 4;

/// Which trials, in which order.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    Newest,
    Best,
    Failed,
}

impl Order {
    const ALL: [(Order, &'static str, &'static str); 3] = [
        (Order::Newest, "newest", "newest first"),
        (Order::Best, "best", "best first"),
        (Order::Failed, "failed", "without a value"),
    ];
}

pub(super) fn page(study: &Followed, query: &str) -> String {
    let asked = |wanted: &str| pairs(Some(query)).find(|(name, _)| *name == wanted).map(|(_, value)| value);
    let named = |word: &str| Order::ALL.iter().find(|(_, name, _)| *name == word).map(|(order, _, _)| *order);
    let order = asked("order").and_then(named).unwrap_or(Order::Newest);
    let page = asked("page").and_then(|page| page.parse().ok()).unwrap_or(0);
    match list(study, order, page) {
        Ok(list) => list,
        Err(error) => {
            let mut html = Html::default();
            html.verdict("poor", &error.to_string());
            html.into_body()
        }
    }
}

fn list(study: &Followed, order: Order, page: usize) -> Result<String> {
    let number_of = study.number;
    let mut reading = study.reading();
    let (begun, config) = (reading.begun(), reading.config.clone());
    let (ledger, rebuilt) = reading.current()?;
    let objective = config.objective();
    let internal = |value: f64| config.direction.to_internal(value);
    let trials = in_order(ledger, order, |row| {
        row.value(objective).filter(|_| config.meets_limits(row.outputs)).map(internal)
    });
    let is_limited = !config.limits.is_empty();
    let pages = trials.len().div_ceil(SHOWN).max(1);
    let page = page.min(pages - 1);
    let shown = &trials[page * SHOWN..trials.len().min((page + 1) * SHOWN)];

    let parameters: Vec<&str> =
        config.space.parameters().iter().take(PARAMETERS).map(|one| one.name()).collect();
    let mut header = vec!["trial", "state", objective];
    header.extend(is_limited.then_some("violated"));
    header.extend(&parameters);
    header.extend(["took", "host", "why there is no value"]);
    let mut rows: Vec<Vec<String>> = Vec::new();
    for &trial in shown {
        let Some(state) = ledger.trial(trial) else { continue };
        let row = Row::new(trial, state, &begun);
        let params = rebuilt.points().params(trial)?;
        let mut cells = vec![trial_link(number_of, trial), row.state.name().to_owned()];
        cells.push(row.value(objective).map(number).unwrap_or_default());
        cells.extend(is_limited.then(|| escaped(&row.violated(&config))));
        cells.extend(parameters.iter().map(|name| params.get(*name).map(cell).unwrap_or_default()));
        cells.push(row.wall_s.map(duration).unwrap_or_default());
        cells.push(escaped(row.host));
        cells.push(escaped(&shortened(row.reason.lines().next().unwrap_or(""), 60)));
        rows.push(cells);
    }

    let mut html = Html::default();
    let orders = Order::ALL.iter().map(|(one, word, text)| match *one == order {
        true => format!("<a href=\"/s/{number_of}/trials?order={word}\" aria-current=\"true\">{text}</a>"),
        false => link(&format!("/s/{number_of}/trials?order={word}"), text),
    });
    html.raw(&format!("<nav aria-label=\"order\">{}</nav>\n", orders.collect::<String>()));
    html.paragraph(&format!("{}, page {} of {pages}", count(trials.len(), "trial"), page + 1));
    if !rows.is_empty() {
        html.raw(&table("trials", &header, &rows));
    }
    let word = Order::ALL.iter().find(|(one, _, _)| *one == order).map_or("newest", |(_, word, _)| word);
    let to = |page: usize, text: &str| link(&format!("/s/{number_of}/trials?order={word}&page={page}"), text);
    let before = (page > 0).then(|| to(page - 1, "page before"));
    let after = (page + 1 < pages).then(|| to(page + 1, "next page"));
    if pages > 1 {
        let links: Vec<String> = before.into_iter().chain(after).collect();
        html.raw(&format!("<nav aria-label=\"more trials\">{}</nav>\n", links.concat()));
    }
    Ok(html.into_body())
}

/// The trials in an order; `worth` is smaller for better ones.
fn in_order(ledger: &Ledger, order: Order, worth: impl Fn(&Row<'_>) -> Option<f64>) -> Vec<u64> {
    let none = Default::default();
    match order {
        Order::Newest => {
            let mut trials: Vec<u64> = ledger.trials().map(|(trial, _)| trial).collect();
            trials.reverse();
            trials
        }
        Order::Best => {
            let rows = ledger.told().map(|(trial, state)| Row::new(trial, state, &none));
            let mut worths: Vec<(f64, u64)> =
                rows.filter_map(|row| Some((worth(&row)?, row.trial))).collect();
            worths.sort_by(|a, b| a.0.total_cmp(&b.0));
            worths.into_iter().map(|(_, trial)| trial).collect()
        }
        Order::Failed => {
            let rows = ledger.told().map(|(trial, state)| Row::new(trial, state, &none));
            let mut failed: Vec<u64> =
                rows.filter(|row| row.state != State::Measured).map(|row| row.trial).collect();
            failed.reverse();
            failed
        }
    }
}

fn cell(value: &Value) -> String {
    match value {
        Value::Number(found) => found.as_f64().map(number).unwrap_or_default(),
        Value::String(text) => escaped(text),
        Value::Array(elements) => match elements.first() {
            Some(first) => format!("[{}, ...]", cell(first)),
            None => String::new(),
        },
        other => escaped(&other.to_string()),
    }
}
