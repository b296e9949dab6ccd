//! What there is to see of a study, as text and numbers: every text that a solver or a user wrote is made harmless here.

use crate::commands::status;
use crate::output;
use std::fs;
use std::time::UNIX_EPOCH;
use tribo_chart::{LineChart, Scale, digits};
use tribo_study::job::STARTED_FILE;
use tribo_study::reading::Reading;
use tribo_study::report::row::{Begun, Row};
use tribo_study::report::summary::NOT_FEASIBLE;
use tribo_study::report::text;
use tribo_study::store::disk::utc_ms;
use tribo_study::store::ledger::AttemptState;
use tribo_study::view::View;

/// Rows of a list that a screen can have at most.
const SHOWN: usize = 40;

/// What there is to see.
pub(super) struct Scene {
    /// The study and where it stands.
    pub(super) title: String,
    /// The part of the budget that is done, if it is a number of evaluations.
    pub(super) done: Option<f64>,
    /// How many trials are done, how fast, how long it will take.
    pub(super) progress: String,
    /// The best value and its point, a line each.
    pub(super) best: Vec<String>,
    /// The values so far.
    pub(super) curve: Option<Curve>,
    /// What is under way, the longest first.
    pub(super) workers: Vec<String>,
    /// What the strategy does, why jobs wait, and what to do.
    pub(super) now: Vec<String>,
    /// Trials without a value, the last first.
    pub(super) failures: Vec<String>,
}

/// Values as they came and the best so far, on axes that show the good ones well.
pub(super) struct Curve {
    pub(super) values: Vec<(f64, f64)>,
    pub(super) best: Vec<(f64, f64)>,
    pub(super) x: [f64; 2],
    pub(super) y: [f64; 2],
    /// From the bottom.
    pub(super) labels: Vec<String>,
}

impl Scene {
    pub(super) fn new(reading: &Reading, view: &View, fault: Option<&str>) -> Scene {
        let summary = &view.summary;
        let counts = &summary.counts;
        let clean = |text: String| output::harmless(&text).into_owned();
        let mut now = vec![];
        now.extend(fault.map(|fault| format!("cannot look: {fault}")));
        now.extend(summary.warnings.iter().map(|warning| format!("warning: {warning}")));
        now.extend(summary.waiting.iter().map(|group| group.text("[run] in the study file")));
        now.push(view.insight.doing.clone());
        let of = summary.evaluations.map(|n| format!(" of {n}")).unwrap_or_default();
        let mut progress = vec![format!("{}{of} done", counts.done())];
        let without = counts.failed + counts.invalid + counts.infeasible;
        progress.extend((without > 0).then(|| format!("{without} without a value")));
        progress.extend(summary.pace.as_ref().map(|pace| status::pace_words(pace, &summary.phase)));
        Scene {
            title: clean(format!(
                "{} ({}), {}",
                summary.name,
                summary.direction,
                status::phase(&summary.phase)
            )),
            done: summary.evaluations.map(|n| (counts.done() as f64 / n.max(1) as f64).min(1.0)),
            progress: progress.join(", "),
            best: best(view).into_iter().map(clean).collect(),
            curve: view.convergence().map(|chart| Curve::of(&chart)),
            workers: workers(reading),
            now: now.into_iter().map(clean).collect(),
            failures: failures(reading).into_iter().map(clean).collect(),
        }
    }
}

fn best(view: &View) -> Vec<String> {
    let Some(best) = &view.summary.best else { return vec![none(view).to_owned()] };
    let first = format!("{} {} (trial {})", view.summary.objective, text::number(best.value), best.trial);
    let point = output::point(&best.params);
    std::iter::once(first).chain(point.lines().map(str::to_owned)).take(SHOWN).collect()
}

fn none(view: &View) -> &'static str {
    match view.summary.no_best() {
        NOT_FEASIBLE => "nothing within the limits yet",
        _ => "no value yet",
    }
}

/// Attempts under way and how long they have been.
fn workers(reading: &Reading) -> Vec<String> {
    let begun: Begun = reading.begun();
    let now = utc_ms();
    let age = |since_ms: u64| text::duration(now.saturating_sub(since_ms) as f64 / 1e3);
    let mut live: Vec<&AttemptState> = reading.ledger().live().collect();
    live.sort_by_key(|attempt| (!begun.contains(&attempt.id), attempt.intended_ms));
    let line = |attempt: &&AttemptState| {
        let id = attempt.id;
        let again = if id.attempt > 1 { format!(", attempt {}", id.attempt) } else { String::new() };
        let state = match begun.contains(&id) {
            true => match started_ms(reading, attempt) {
                Some(started) => format!("running for {}", age(started)),
                None => "running".to_owned(),
            },
            false => format!("waiting for {}", age(attempt.submitted_ms.max(attempt.intended_ms))),
        };
        format!("trial {}{again}: {state}", id.trial)
    };
    live.iter().take(SHOWN).map(line).collect()
}

/// When an attempt began: when the file was written that says so.
fn started_ms(reading: &Reading, attempt: &AttemptState) -> Option<u64> {
    let file = reading.layout.attempt(attempt.id).join(STARTED_FILE);
    let modified = fs::metadata(file).ok()?.modified().ok()?;
    u64::try_from(modified.duration_since(UNIX_EPOCH).ok()?.as_millis()).ok()
}

fn failures(reading: &Reading) -> Vec<String> {
    let none = Begun::new();
    let told: Vec<Row<'_>> =
        reading.ledger().told().map(|(trial, state)| Row::new(trial, state, &none)).collect();
    let line = |row: &&Row<'_>| match row.reason.lines().next().filter(|reason| !reason.is_empty()) {
        Some(reason) => format!("trial {}: {reason}", row.trial),
        None => format!("trial {}: {}", row.trial, row.state.name()),
    };
    told.iter().rev().filter(|row| row.state.is_failure()).take(SHOWN).map(|row| line(&row)).collect()
}

impl Curve {
    /// The convergence of a report, in the characters of a terminal.
    fn of(chart: &LineChart) -> Curve {
        let is_log = chart.y.scale == Scale::Log;
        let place = |y: f64| if is_log { y.log10() } else { y };
        let all = || chart.dots.iter().flat_map(|dots| &dots.marks).map(|mark| (mark.x, mark.y));
        let finite = || all().map(|(_, y)| place(y)).filter(|y| y.is_finite());
        let (low, high) = match chart.y.limits {
            Some((low, high)) => (place(low), place(high)),
            None => (finite().fold(f64::INFINITY, f64::min), finite().fold(f64::NEG_INFINITY, f64::max)),
        };
        let room = if high > low { 0.04 * (high - low) } else { 0.5 * low.abs().max(1.0) };
        let y = [low - room, high + room];
        let inside = |(x, value): (f64, f64)| (x, place(value).clamp(y[0], y[1]));
        let mut best: Vec<(f64, f64)> = vec![];
        // A value stays until the next one.
        for &point in chart.series.iter().flat_map(|series| &series.points) {
            let (x, value) = inside(point);
            best.extend(best.last().map(|&(_, before)| (x, before)));
            best.push((x, value));
        }
        let label = |part: f64| {
            let value = y[0] + part * (y[1] - y[0]);
            digits(if is_log { 10f64.powf(value) } else { value }, 3)
        };
        let last = all().map(|(x, _)| x).chain(best.iter().map(|(x, _)| *x)).fold(1.0, f64::max);
        Curve {
            values: all().map(inside).collect(),
            best,
            x: [1.0, last.max(2.0)],
            y,
            labels: [0.0, 0.5, 1.0].map(label).to_vec(),
        }
    }
}
