//! The sections of a report, in the order they are read: what was asked, what was found, how sure that is, how it came about,
//! what to do next, and how to do it again.

use super::html::Html;
use super::limits;
use crate::Result;
use crate::outputs::VALUE;
use crate::report::summary::{Best, NOT_FEASIBLE, Phase, Summary};
use crate::report::text::{count, duration, number};
use crate::view::{Forecast, Hindsight, InputAxis, Model, SHOWN_INPUTS, View};
use serde_json::Value as Json;
use std::collections::BTreeMap;
use tribo::analysis::{Foresight, Trust};
use tribo::space::{Kind, Parameter, Scale};
use tribo::strategy::DrivenOutput;
use tribo_chart::Chart;

/// Inputs of the best point that are written out.
const SHOWN_POINT: usize = 24;
/// Slices and maps of the model.
const SLICES: usize = 6;
const MAPS: usize = 3;
/// Bars of the inputs that matter.
const BARS: usize = 12;

/// A section of the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Section {
    /// What was found, how sure it is, what to do next, what was asked.
    Result,
    /// The best so far.
    Convergence,
    /// Which inputs matter.
    Inputs,
    /// What the model expects, and whether it is to be trusted.
    Model,
    /// Where the search went.
    Search,
    /// What failed.
    Failures,
    /// Who worked when.
    Machine,
    /// What the strategy has found out.
    Strategy,
    /// How to do it again.
    Again,
}

impl Section {
    /// All of them, in the order they are read.
    pub const ALL: [Section; 9] = [
        Section::Result,
        Section::Convergence,
        Section::Inputs,
        Section::Model,
        Section::Search,
        Section::Failures,
        Section::Machine,
        Section::Strategy,
        Section::Again,
    ];

    /// Writes it; nothing where it has nothing to say.
    pub fn write(self, html: &mut Html, view: &View) -> Result<()> {
        match self {
            Section::Result => overview(html, view),
            Section::Convergence => convergence(html, view),
            Section::Inputs => inputs(html, view),
            Section::Model => model(html, view)?,
            Section::Search => search(html, view),
            Section::Failures => failures(html, view),
            Section::Machine => machine(html, view),
            Section::Strategy => findings(html, view),
            Section::Again => again(html, view),
        }
        Ok(())
    }
}

fn overview(html: &mut Html, view: &View) {
    html.section("Result");
    let name = objective(view);
    match &view.summary.best {
        Some(best) => {
            html.verdict(
                "good",
                &format!("The best {name} found is {} (trial {}).", number(best.value), best.trial),
            );
            html.table(&["input", "value", ""], &point_rows(view, best));
            html.list(&sureness(view, best));
        }
        None if view.summary.no_best() == NOT_FEASIBLE => {
            html.verdict("poor", "No evaluation meets all limits yet.");
        }
        None => html.verdict("poor", "No evaluation has given a value yet."),
    }
    limits::write(html, view);
    html.heading("What to do next");
    html.list(&advice(view));
    html.heading("What was asked");
    html.facts(&facts(view));
    let rows: Vec<Vec<String>> = view.config.space.parameters().iter().take(40).map(parameter_row).collect();
    html.table(&["parameter", "type", "from", "to", "elements"], &rows);
    if view.config.space.parameters().len() > rows.len() {
        html.paragraph(&format!("and {} more.", view.config.space.parameters().len() - rows.len()));
    }
}

/// What was asked, and where that stands.
pub(super) fn facts(view: &View) -> Vec<(&'static str, String)> {
    let Summary { phase, counts, strategy, direction, .. } = &view.summary;
    let state = match phase {
        Phase::Running(driver) => format!("running on {}", driver.host),
        Phase::Finished { why } => format!("finished: {why}"),
        Phase::Stopped { why } => format!("stopped: {why}"),
        Phase::Interrupted => "not running; the last driver ended without a word".to_owned(),
        Phase::ByHand => "evaluated by hand".to_owned(),
    };
    let without = counts.failed + counts.infeasible + counts.invalid;
    let of = view.summary.evaluations.map(|n| format!(" of {n}")).unwrap_or_default();
    let inputs = count(view.config.space.n_inputs(), "input");
    vec![
        ("goal", format!("{direction} {} over {inputs}", objective(view))),
        ("state", state),
        (
            "trials",
            format!(
                "{}{of} done: {} with a value, {without} without, {} under way",
                counts.done(),
                counts.measured,
                counts.running + counts.waiting
            ),
        ),
        ("strategy", strategy.clone()),
        ("target", view.config.budget.target.map(number).unwrap_or_default()),
    ]
}

fn parameter_row(parameter: &Parameter) -> Vec<String> {
    let log = |scale: &Scale| if *scale == Scale::Log { ", logarithmic" } else { "" };
    let (kind, low, high) = match parameter.kind() {
        Kind::Float { low, high, scale } => (format!("number{}", log(scale)), number(*low), number(*high)),
        Kind::Int { low, high, scale } => {
            (format!("whole number{}", log(scale)), low.to_string(), high.to_string())
        }
        Kind::Categorical { categories } => ("one of".to_owned(), categories.join(", "), String::new()),
    };
    let elements = parameter.size().map(|n| n.to_string()).unwrap_or_default();
    vec![parameter.name().to_owned(), kind, low, high, elements]
}

pub(super) fn objective(view: &View) -> &str {
    match view.config.objective() {
        VALUE => "value",
        name => name,
    }
}

/// Inputs and outputs of the best trial; a word where an input lies at its end.
fn point_rows(view: &View, best: &Best) -> Vec<Vec<String>> {
    let inputs = inputs_by_name(view, best);
    let n = inputs.len();
    let mut rows: Vec<Vec<String>> =
        inputs.into_iter().take(SHOWN_POINT).map(|(name, value)| input_row(view, &name, value)).collect();
    if n > rows.len() {
        rows.push(vec![format!("{} more", n - rows.len()), String::new(), String::new()]);
    }
    let others = best.outputs.iter().filter(|(name, _)| *name != view.config.objective());
    rows.extend(others.map(|(name, value)| vec![name.clone(), shown(value), "output".to_owned()]));
    rows
}

/// All inputs of a point; where not all are shown, those that are known to matter first.
pub(super) fn inputs_by_name<'a>(view: &View, best: &'a Best) -> Vec<(String, &'a Json)> {
    let mut inputs: Vec<(String, &Json)> = Vec::new();
    for (name, value) in &best.params {
        match value {
            Json::Array(elements) => {
                let element = |(i, value): (usize, &'a Json)| (format!("{name}[{i}]"), value);
                inputs.extend(elements.iter().enumerate().map(element));
            }
            value => inputs.push((name.clone(), value)),
        }
    }
    if inputs.len() <= SHOWN_POINT {
        return inputs;
    }
    let named = view.insight.active.iter().map(|input| input.name.as_str());
    let important = view.model.iter().flat_map(|_| view.inputs.iter().map(|input| input.name.as_str()));
    let mut rank: BTreeMap<&str, usize> = BTreeMap::new();
    for name in named.chain(important) {
        let next = rank.len();
        rank.entry(name).or_insert(next);
    }
    // The sort keeps the order of the others.
    inputs.sort_by_key(|(name, _)| rank.get(name.as_str()).copied().unwrap_or(usize::MAX));
    inputs
}

fn input_row(view: &View, name: &str, value: &Json) -> Vec<String> {
    let end = InputAxis::named(&view.config.space, name)
        .and_then(|input| input.end_at(value.as_f64()?))
        .map(|end| format!("at its {end} end"));
    vec![name.to_owned(), shown(value), end.unwrap_or_default()]
}

pub(super) fn shown(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        Json::Number(n) => n.as_f64().map(number).unwrap_or_default(),
        other => other.to_string(),
    }
}

/// How sure the best value is.
fn sureness(view: &View, best: &Best) -> Vec<String> {
    let mut words = Vec::new();
    let Some(model) = &view.model else {
        return vec!["There is no model to hold it against; it is what was measured.".to_owned()];
    };
    match model.look.noise_sd() {
        Some(sd) => {
            words.push(format!(
                "Values carry noise with a standard deviation of about {}: the best measurement is likely a lucky one.",
                number(sd)
            ));
            let place = model.look.best_point();
            if let Some(expected) = model.look.expected(&[place]).ok().and_then(|e| e.first().copied()) {
                words.push(format!(
                    "Without the noise the model expects {} there (95 %: {} to {}).",
                    number(expected.mean),
                    number(expected.low),
                    number(expected.high)
                ));
            }
        }
        None => {
            words.push("The model sees no noise: the same point should give the same value again.".to_owned())
        }
    }
    let close = 0.01 * spread(view);
    let values = view.outcomes.iter().filter_map(|outcome| outcome.value);
    let near = values.filter(|value| (value - best.value).abs() <= close).count();
    if near > 1 {
        words.push(format!("{near} trials came within 1 % of the spread of all values."));
    }
    words
}

/// The distance from the smallest value to the largest.
fn spread(view: &View) -> f64 {
    let values = || view.outcomes.iter().filter_map(|outcome| outcome.value);
    values().fold(f64::NEG_INFINITY, f64::max) - values().fold(f64::INFINITY, f64::min)
}

/// What to do, the most urgent first.
fn advice(view: &View) -> Vec<String> {
    let mut advice: Vec<String> = view.summary.warnings.clone();
    let Some(best) = &view.summary.best else {
        if view.summary.no_best() == NOT_FEASIBLE {
            advice.push(
                "See which limit is missed and by how much: go on, relax it, or widen the ranges.".to_owned(),
            );
            return advice;
        }
        let check =
            if view.config.run.is_some() { ", and try one evaluation with `tribo check --run`" } else { "" };
        advice.push(format!("See the causes of failure below{check}."));
        return advice;
    };
    advice.push(match view.model.as_deref() {
        Some(model) if !view.config.limits.is_empty() => limits::ahead(view, model, best.value),
        Some(Model { forecast: Some(Forecast::Gain(ahead)), .. }) => foreseen(view, ahead),
        Some(Model { forecast: Some(Forecast::Nothing(evaluations)), .. }) => format!(
            "{evaluations} more evaluations are expected to gain next to nothing, less than a thousandth of the spread of all \
             values: a good moment to stop."
        ),
        Some(model) => unforeseen(model),
        None => "How much more evaluations would bring cannot be said: there is no model.".to_owned(),
    });
    for (name, value) in &best.params {
        let end = InputAxis::named(&view.config.space, name).and_then(|input| input.end_at(value.as_f64()?));
        if let Some(end) = end {
            advice.push(format!(
                "The best {name} lies at its {end} end: a wider range may hold a better value."
            ));
        }
    }
    // What the objective does not depend on may still decide whether limits are met.
    if let Some(model) = view.model.as_ref().filter(|_| view.config.limits.is_empty()) {
        let idle: Vec<String> = model
            .shares
            .iter()
            .filter(|share| model.trust() == Trust::Good && share.total + 2.0 * share.total_sd < 0.01)
            .take(SHOWN_INPUTS)
            .map(|share| model.look.input_name(share.input))
            .collect();
        if !idle.is_empty() {
            advice
                .push(format!("Hardly any effect is seen of {}: they could be held fixed.", idle.join(", ")));
        }
    }
    advice
}

/// Why nothing is foreseen.
fn unforeseen(model: &Model) -> String {
    let why = match (model.trust(), model.forecast, model.hindsight) {
        (Trust::None, _, _) => "the model does not predict results well enough".to_owned(),
        (_, Some(Forecast::FarOff), Some(Hindsight { expected, found })) => format!(
            "of the last evaluations a gain of {} was to be expected, and {} came",
            number(rounded(expected)),
            number(rounded(found))
        ),
        (_, Some(_), _) => "the model believes too much possible, from next to nothing to a lot".to_owned(),
        (_, None, _) => "there are too few results to see whether such a forecast is right".to_owned(),
    };
    format!("How much more evaluations would bring cannot be said: {why}.")
}

fn foreseen(view: &View, ahead: &Foresight) -> String {
    let Foresight { evaluations, gain, low, high } = ahead;
    let better = if view.config.direction.to_internal(1.0) > 0.0 { "lower" } else { "raise" };
    let [gain, low, high] = [gain, low, high].map(|gain| number(rounded(*gain)));
    format!(
        "{evaluations} more evaluations are expected to {better} the best {} by about {gain}; in three of four cases by {low} to \
         {high}.",
        objective(view)
    )
}

/// Two digits: more are not known.
fn rounded(value: f64) -> f64 {
    format!("{value:.1e}").parse().unwrap_or(value)
}

fn convergence(html: &mut Html, view: &View) {
    if let Some(chart) = view.convergence() {
        html.section("Convergence");
        html.chart(&chart);
    }
}

fn inputs(html: &mut Html, view: &View) {
    html.section("Inputs");
    if let Some(chart) = view.importance(BARS) {
        html.chart(&chart);
        html.paragraph(
            "The share of the variance of the model over the whole space that goes with each input. The line shows how sure that \
             is: it is long where the search has not looked.",
        );
        if let Some(model) = &view.model {
            html.table(&["input", "with interactions", "alone", "length scale"], &share_rows(model));
        }
    } else {
        html.paragraph("How much each input matters cannot be said: there is no model of the inputs yet.");
    }
    let named: Vec<Vec<String>> = view
        .insight
        .active
        .iter()
        .take(20)
        .map(|input| {
            let effect = input
                .evidence
                .map(|evidence| number(evidence.effect))
                .unwrap_or_else(|| "as the study file says".to_owned());
            vec![input.name.clone(), effect]
        })
        .collect();
    let driven: Vec<Vec<String>> = view.insight.outputs.iter().map(driven_row).collect();
    if !driven.is_empty() {
        html.heading("Inputs that drive each output");
        html.table(&["output", "driven by, strongest first"], &driven);
    } else if !named.is_empty() {
        html.heading("Inputs that the strategy has found to matter");
        html.table(&["input", "effect of a small step"], &named);
    }
    if !named.is_empty() && view.insight.n_idle > 0 {
        html.paragraph(&format!(
            "{} were moved all at once without a change.",
            count(view.insight.n_idle, "other")
        ));
    }
}

fn driven_row(driven: &DrivenOutput) -> Vec<String> {
    let names: Vec<&str> = driven.inputs.iter().map(|input| input.name.as_str()).collect();
    let names = if names.is_empty() { "none found".to_owned() } else { names.join(", ") };
    vec![driven.output.clone(), names]
}

fn share_rows(model: &Model) -> Vec<Vec<String>> {
    let scales = model.look.length_scales();
    let ranges = model.look.input_coordinates();
    let percent = |share: f64, sd: f64| format!("{:.0} ± {:.0} %", 100.0 * share, 100.0 * sd);
    let row = |share: &tribo::analysis::Share| {
        let at = model.look.inputs().iter().position(|&input| input == share.input).unwrap_or(0);
        let shortest = ranges[at].clone().map(|k| scales[k]).fold(f64::INFINITY, f64::min);
        vec![
            model.look.input_name(share.input),
            percent(share.total, share.total_sd),
            percent(share.first, share.first_sd),
            format!("{} of the range", number(rounded(shortest))),
        ]
    };
    model.shares.iter().take(BARS).map(row).collect()
}

fn model(html: &mut Html, view: &View) -> Result<()> {
    html.section("Model");
    let Some(model) = &view.model else {
        html.paragraph("There is no model of the inputs: too few results, or a strategy without one.");
        return Ok(());
    };
    let (class, words) = model.verdict();
    html.verdict(class, &words);
    if let Some(chart) = view.validation() {
        html.chart(&chart);
    }
    let seen: Vec<&InputAxis> =
        view.inputs.iter().filter(|input| model.look.inputs().contains(&input.input)).collect();
    let mut slices: Vec<Box<dyn Chart>> = Vec::new();
    for input in seen.iter().take(SLICES) {
        slices.extend(view.slice(input)?.map(|chart| Box::new(chart) as Box<dyn Chart>));
        slices.extend(view.chance(input)?.map(|chart| Box::new(chart) as Box<dyn Chart>));
    }
    if !slices.is_empty() {
        html.heading("Along single inputs, through the best point");
        html.paragraph(
            "The line is what the model expects, the band holds 95 %. The diamond is the best trial, triangles are results close to \
             it in all other inputs.",
        );
        if model.limits.is_some() {
            html.paragraph("Beside each is how probable the models hold it that all limits are met.");
        }
        html.charts(&slices);
    }
    let mut maps: Vec<Box<dyn Chart>> = Vec::new();
    for (i, x) in seen.iter().enumerate() {
        for y in &seen[i + 1..] {
            if maps.len() < MAPS {
                maps.extend(view.contours(x, y)?.map(|chart| Box::new(chart) as Box<dyn Chart>));
            }
        }
    }
    if !maps.is_empty() {
        html.heading("Over pairs of inputs, through the best point");
        html.charts(&maps);
    }
    Ok(())
}

fn search(html: &mut Html, view: &View) {
    let (parallel, matrix) = (view.parallel(), view.matrix());
    if parallel.is_none() && matrix.is_none() {
        return;
    }
    html.section("Search");
    if let Some(chart) = parallel {
        html.chart(&chart);
    }
    if let Some(chart) = matrix {
        html.chart(&chart);
    }
}

fn failures(html: &mut Html, view: &View) {
    let groups = &view.summary.failures;
    if groups.is_empty() {
        return;
    }
    html.section("Failures");
    let row = |group: &crate::report::failures::Group| {
        let cause = if group.cause.is_empty() { group.state.name() } else { &group.cause };
        vec![
            group.count.to_string(),
            group.state.name().to_owned(),
            cause.to_owned(),
            format!("trial {}", group.trial),
        ]
    };
    html.table(&["trials", "state", "cause", "newest"], &groups.iter().take(20).map(row).collect::<Vec<_>>());
    if groups.len() > 20 {
        html.paragraph(&format!("and {}.", count(groups.len() - 20, "other cause")));
    }
}

fn machine(html: &mut Html, view: &View) {
    let machine = &view.machine;
    let Some(chart) = view.timeline() else { return };
    html.section("Machine");
    html.chart(&chart);
    let hosts: Vec<String> =
        machine.hosts().iter().take(12).map(|(host, n)| format!("{host} ({n})")).collect();
    html.facts(&[
        ("workers", machine.lanes.to_string()),
        ("in use", format!("{:.0} % of the time", 100.0 * machine.busy)),
        ("evaluations took", duration(machine.work_s)),
        ("wait to begin", format!("{} (median)", duration(machine.wait_s))),
        ("hosts", hosts.join(", ")),
    ]);
}

fn findings(html: &mut Html, view: &View) {
    let insight = &view.insight;
    html.section("Strategy");
    html.paragraph(&insight.doing);
    let found: Vec<String> = insight
        .findings
        .iter()
        .map(|finding| format!("after {}: {}", count(finding.results, "result"), finding.fact))
        .collect();
    if !found.is_empty() {
        html.list(&found);
    }
}

fn again(html: &mut Html, view: &View) {
    html.section("Again");
    html.paragraph("The same study file, the same program and the same results give the same points.");
    if let Some(file) = view.layout.as_ref().and_then(|layout| layout.file().file_name()) {
        let file = file.to_string_lossy();
        let run = if view.config.run.is_some() { format!("tribo run {file}\n") } else { String::new() };
        html.code(&format!("{run}tribo export {file} -o trials.csv"));
    }
    html.facts(&[
        ("program", format!("tribo {}", env!("CARGO_PKG_VERSION"))),
        ("study", view.summary.study.clone()),
        ("seed", view.config.seed.to_string()),
        ("chapters", view.summary.chapters.to_string()),
        ("begun", view.summary.created.clone()),
        ("last event", view.summary.last.clone()),
    ]);
    html.folded("The study file", &view.config_text);
}
