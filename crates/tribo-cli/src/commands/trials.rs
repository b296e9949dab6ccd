//! `tribo trials`: a list of trials, or everything about one.

use super::words;
use crate::failure::{Failure, OK, Outcome};
use crate::output;
use crate::study;
use clap::Args;
use serde_json::{Map, Value};
use std::fs;
use std::io::Write;
use tribo_study::job::{Answer, Kind, Spec, extract};
use tribo_study::reading::Reading;
use tribo_study::report::columns::{self, Field};
use tribo_study::report::point::Cell;
use tribo_study::report::row::{self, Row};
use tribo_study::report::text;
use tribo_study::store::ledger::AttemptState;

/// Values of a point that a row of the list shows.
const SHOWN_VALUES: usize = 8;
/// Characters of a reason that a row shows.
const SHOWN_REASON: usize = 60;
/// Lines of standard error that are shown of an attempt.
const TAIL: usize = 20;

#[derive(Debug, Args)]
#[command(override_usage = "tribo trials [OPTIONS] [STUDY] [TRIAL]")]
pub(crate) struct Options {
    /// The study (the current folder if left out), and the number of a trial to see everything about it.
    #[arg(value_name = "WORDS", num_args = 0..=2)]
    words: Vec<String>,
    /// Only trials that ended without a value.
    #[arg(long)]
    failed: bool,
    /// Everything about this trial: attempts, folders, output, parameters.
    #[arg(long, value_name = "ID", conflicts_with = "failed")]
    trial: Option<u64>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(options: &Options) -> Outcome {
    let (layout, words) = words::split(&options.words);
    let named = words.iter().map(|word| words::trial(word)).collect::<Result<Vec<u64>, Failure>>()?;
    let trial = match (&named[..], options.trial) {
        ([], trial) => trial,
        ([trial], None) if !options.failed => Some(*trial),
        _ => return Err(Failure::usage("name one trial, or --failed, e.g. `tribo trials 17`")),
    };
    let reading = Reading::open(&layout)?;
    match trial {
        Some(trial) => one(&reading, trial, options.json),
        None => list(&reading, options),
    }
}

fn list(reading: &Reading, options: &Options) -> Outcome {
    let rebuilt = reading.rebuilt()?;
    let space = rebuilt.study.space();
    let begun = reading.begun();
    let params = |trial: u64| -> Result<Map<String, Value>, Failure> { Ok(rebuilt.points().params(trial)?) };
    let rows = row::rows(reading.ledger(), &begun).filter(|row| !options.failed || row.state.is_failure());
    if options.json {
        let objects = rows
            .map(|row| Ok(row.object(&reading.config, params(row.trial)?)))
            .collect::<Result<Vec<_>, Failure>>()?;
        output::print_json(&serde_json::json!({ "version": 2, "trials": objects }))?;
        return Ok(OK);
    }
    let is_limited = !reading.config.limits.is_empty();
    let mut outputs = columns::output_names(&reading.config.outputs, reading.ledger());
    outputs.truncate(SHOWN_VALUES);
    let names: Vec<&str> = space.parameters().iter().map(|one| one.name()).take(SHOWN_VALUES).collect();
    let after: Vec<Field> = Field::AFTER.into_iter().filter(|field| field.is_listed()).collect();
    let mut header: Vec<&str> = Field::BEFORE.iter().map(|field| field.name()).collect();
    let output_headers: Vec<String> = columns::headers(&outputs, space, is_limited).collect();
    header.extend(output_headers.iter().map(String::as_str));
    header.extend(is_limited.then_some(columns::VIOLATED));
    header.extend(&names);
    header.extend(after.iter().map(|field| field.name()));
    let cells = |row: Row<'_>| {
        let params = params(row.trial)?;
        let fixed = |field: &Field| people(field.cell(&row));
        let mut cells: Vec<String> = Field::BEFORE.iter().map(fixed).collect();
        cells.extend(outputs.iter().map(|name| row.outputs.get(name).map(text::number).unwrap_or_default()));
        cells.extend(is_limited.then(|| row.violated(&reading.config)));
        cells.extend(names.iter().map(|name| shown(&params[*name])));
        cells.extend(after.iter().map(fixed));
        Ok(cells)
    };
    let cells = rows.map(cells).collect::<Result<Vec<_>, Failure>>()?;
    match cells.is_empty() {
        true if options.failed => output::note("no trial has failed"),
        true => output::note("there is no trial yet"),
        false => output::print(&text::columns(&header, &cells))?,
    }
    Ok(OK)
}

/// A cell of a fixed column.
fn people(cell: Cell) -> String {
    match cell {
        Cell::Null => String::new(),
        Cell::Int(value) => value.to_string(),
        // Times, to the millisecond.
        Cell::Float(value) => text::number((1e3 * value).round() / 1e3),
        Cell::Text(text) => cut(&text),
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::Number(number) => number.as_f64().map(text::number).unwrap_or_default(),
        Value::String(text) => text.clone(),
        Value::Array(elements) => match elements.first() {
            Some(first) => format!("[{}, ...]", shown(first)),
            None => "[]".to_owned(),
        },
        other => other.to_string(),
    }
}

/// The first line, if it is not too long.
fn cut(reason: &str) -> String {
    let line = reason.lines().next().unwrap_or("");
    match line.char_indices().nth(SHOWN_REASON) {
        Some((end, _)) => format!("{}...", &line[..end]),
        None => line.to_owned(),
    }
}

fn one(reading: &Reading, trial: u64, json: bool) -> Outcome {
    let Some(state) = reading.ledger().trial(trial) else {
        return Err(words::no_trial(trial, reading.ledger().trials().len()));
    };
    let params = reading.rebuilt()?.points().params(trial)?;
    let begun = reading.begun();
    let row = Row::new(trial, state, &begun);
    let attempts: Vec<Shown<'_>> =
        state.attempts.iter().map(|attempt| Shown::new(reading, attempt)).collect();
    if json {
        let mut object = row.object(&reading.config, params);
        object["attempts"] = attempts.iter().map(Shown::object).collect();
        output::print_json(&object)?;
        return Ok(OK);
    }
    let mut out = Vec::new();
    let outputs = row.outputs.to_json(&reading.config.outputs);
    let outputs: String = outputs.iter().map(|(name, value)| format!(", {name} {value}")).collect();
    writeln!(out, "trial {trial}: {}{outputs}", row.state.name())?;
    for limit in reading.config.violated(row.outputs) {
        let beyond = row.outputs.get(limit.name()).map_or(0.0, |value| limit.excess(value));
        writeln!(out, "  {limit} missed by {}", text::number(beyond))?;
    }
    if !row.reason.is_empty() {
        writeln!(out, "  {}", row.reason.replace('\n', "\n  "))?;
    }
    let told = row.told_ms.map(|ms| format!(", told {}", row::time(ms))).unwrap_or_default();
    writeln!(out, "asked {}{told}\n\nparameters:", row::time(row.asked_ms))?;
    write!(out, "{}", output::point(&params))?;
    for shown in &attempts {
        shown.write(&mut out)?;
    }
    output::print(&String::from_utf8_lossy(&out))?;
    Ok(OK)
}

/// An attempt with what its folder tells.
struct Shown<'a> {
    attempt: &'a AttemptState,
    folder: String,
    answer: Option<Answer>,
    /// Where its numbers stand.
    places: Vec<(String, String)>,
    tail: String,
}

impl<'a> Shown<'a> {
    fn new(reading: &Reading, attempt: &'a AttemptState) -> Shown<'a> {
        let folder = reading.layout.attempt(attempt.id);
        // Folders come and go (`keep`), so whatever cannot be read is not shown.
        let answer = fs::read(folder.join(tribo_study::job::ANSWER_FILE)).ok();
        let answer: Option<Answer> = answer.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let spec = fs::read(folder.join(tribo_study::job::SPEC_FILE)).ok();
        let spec: Option<Spec> = spec.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let is_ok = attempt.end.as_ref().is_some_and(|end| end.finding.kind == Kind::Ok);
        let places = spec.filter(|_| is_ok).map_or(vec![], |spec| {
            extract::places(&spec.evaluation, &folder, &folder.join(tribo_study::job::STDOUT_FILE))
        });
        let tail = study::stderr_tail(&folder, TAIL);
        Shown { attempt, folder: folder.display().to_string(), answer, places, tail }
    }

    fn object(&self) -> Value {
        let end = self.attempt.end.as_ref();
        serde_json::json!({
            "attempt": self.attempt.id.attempt,
            "name": self.attempt.tag,
            "job": self.attempt.job,
            "folder": self.folder,
            "ended": end.map(|end| end.finding.kind),
            "reason": end.map(|end| end.finding.reason.as_str()),
            "wall_s": end.and_then(|end| end.wall_s),
            "host": end.map(|end| end.host.as_str()),
            "exit_code": self.answer.as_ref().and_then(|answer| answer.exit_code),
            "signal": self.answer.as_ref().and_then(|answer| answer.signal),
            "places": self.places.iter().map(|(name, place)| (name.clone(), place.as_str().into())).collect::<Map<_, _>>(),
            "stderr_tail": self.tail,
        })
    }

    fn write(&self, out: &mut impl Write) -> std::io::Result<()> {
        let AttemptState { id, tag, job, end, .. } = self.attempt;
        let job = job.as_deref().map(|job| format!(", job {job}")).unwrap_or_default();
        writeln!(
            out,
            "\nattempt {}: {}{job}, named {tag}",
            id.attempt,
            end.as_ref().map_or("under way", |end| end.finding.kind.name())
        )?;
        if let Some(end) = end {
            let time = end.wall_s.map(|s| format!("took {}", text::duration(s)));
            let host = (!end.host.is_empty()).then(|| format!("on {}", end.host));
            let code = self.answer.as_ref().and_then(|a| a.exit_code).map(|code| format!("exit code {code}"));
            let signal = self.answer.as_ref().and_then(|a| a.signal).map(|signal| format!("signal {signal}"));
            let parts: Vec<String> = [time, host, code, signal].into_iter().flatten().collect();
            if !parts.is_empty() {
                writeln!(out, "  {}", parts.join(", "))?;
            }
            if !end.finding.reason.is_empty() {
                writeln!(out, "  {}", end.finding.reason.replace('\n', "\n  "))?;
            }
        }
        for (name, place) in &self.places {
            writeln!(out, "  {name} is read from {place}")?;
        }
        writeln!(out, "  folder {}", self.folder)?;
        if !self.tail.is_empty() {
            writeln!(out, "  the end of its standard error:")?;
            self.tail.lines().try_for_each(|line| writeln!(out, "    {line}"))?;
        }
        Ok(())
    }
}
