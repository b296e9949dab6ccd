//! `tribo inputs`: which inputs matter, what shows it, and how that was found out.
//!
//! With many inputs it is the strategy's own insight, rebuilt from the journal. With few the model knows: shares of the
//! variance, as in the report.

use crate::args::Shown;
use crate::failure::{OK, Outcome};
use crate::output;
use serde::Serialize;
use std::fmt::Write;
use tribo::analysis::Share;
use tribo::strategy::{ActiveInput, DrivenOutput, Fact, Insight, Study, Verdict, looks_at_budget};
use tribo_study::layout::Layout;
use tribo_study::reading::Reading;
use tribo_study::report::text;
use tribo_study::view::{Model, View};

/// Version of the object that `--json` prints.
const INPUTS_VERSION: u32 = 1;
/// Inputs that the page shows.
const SHOWN_INPUTS: usize = 20;
/// Names that fit on one line of `tribo status`.
const NAMES_ON_A_LINE: usize = 6;

/// What `--json` prints.
#[derive(Serialize)]
struct Printed<'a> {
    version: u32,
    name: &'a str,
    strategy: &'a str,
    #[serde(flatten)]
    insight: &'a Insight,
    /// How much each input matters, by the model, the most important first.
    shares: Vec<ShareOf>,
}

/// How much an input matters: parts of the variance, with their standard errors.
#[derive(Serialize)]
struct ShareOf {
    name: String,
    input: usize,
    total: f64,
    total_sd: f64,
    alone: f64,
    alone_sd: f64,
    /// The shortest length scale of its coordinates, as a part of the range.
    length_scale: f64,
}

pub(crate) fn run(options: &Shown) -> Outcome {
    let reading = Reading::open(&options.study.layout())?;
    let study = reading.optimiser()?;
    let insight = study.insight().with_objective(reading.config.objective());
    let name = &reading.config.name;
    let many = looks_at_budget(study.space());
    let model = if many { None } else { View::of(&reading)?.model };
    let shares = model.as_deref().map(shares).unwrap_or_default();
    if options.json {
        let (version, strategy) = (INPUTS_VERSION, study.explanation());
        output::print_json(&Printed { version, name, strategy, insight: &insight, shares })?;
        return Ok(OK);
    }
    let mut page = format!("{name}: {}\n", insight.doing);
    // Writing to a string does not fail.
    let _ = match &model {
        Some(model) if !shares.is_empty() => write_shares(&mut page, model, &shares),
        _ => write_page(&mut page, &insight, many),
    };
    output::print(&page)?;
    Ok(OK)
}

fn shares(model: &Model) -> Vec<ShareOf> {
    let (scales, ranges) = (model.look.length_scales(), model.look.input_coordinates());
    let of = |share: &Share| {
        let at = model.look.inputs().iter().position(|&input| input == share.input)?;
        Some(ShareOf {
            name: model.look.input_name(share.input),
            input: share.input,
            total: share.total,
            total_sd: share.total_sd,
            alone: share.first,
            alone_sd: share.first_sd,
            length_scale: ranges[at].clone().map(|k| scales[k]).fold(f64::INFINITY, f64::min),
        })
    };
    model.shares.iter().filter_map(of).collect()
}

fn write_shares(page: &mut String, model: &Model, shares: &[ShareOf]) -> std::fmt::Result {
    let percent = |share: f64, sd: f64| format!("{:.0} ± {:.0} %", 100.0 * share, 100.0 * sd);
    let row = |share: &ShareOf| {
        let (total, alone) = (percent(share.total, share.total_sd), percent(share.alone, share.alone_sd));
        vec![share.name.clone(), total, alone, format!("{:.2}", share.length_scale)]
    };
    let rows: Vec<Vec<String>> = shares.iter().take(SHOWN_INPUTS).map(row).collect();
    writeln!(page, "model     {}\n", model.verdict().1)?;
    write!(page, "{}", text::columns(&["input", "with interactions", "alone", "length scale"], &rows))?;
    if shares.len() > rows.len() {
        writeln!(page, "and {} more (--json has all)", shares.len() - rows.len())?;
    }
    writeln!(page, "shares of the variance over the whole space; a length scale is a part of the range")
}

/// What `tribo status` says, if there is something to say.
pub(crate) fn line(study: &Study, layout: &Layout) -> Option<String> {
    let insight = study.insight();
    let said = said(&insight)?;
    let names = first_names(&insight.active);
    let list = if names.is_empty() { String::new() } else { format!(": {names}") };
    Some(format!("{said}{list} (tribo inputs{})", output::named(layout)))
}

/// Names that fit on a line.
fn first_names(active: &[ActiveInput]) -> String {
    let names: Vec<&str> = active.iter().take(NAMES_ON_A_LINE).map(|input| input.name.as_str()).collect();
    format!("{}{}", names.join(", "), if active.len() > names.len() { ", ..." } else { "" })
}

/// How many inputs matter, if anything is known.
fn said(insight: &Insight) -> Option<String> {
    let (named, of) = (insight.active.len(), insight.n_inputs);
    match insight.verdict {
        Verdict::Dense => Some(format!("too many of {of} matter to name them")),
        Verdict::Sparse => Some(format!("{named} of {of} matter")),
        Verdict::Open if named > 0 => Some(format!("{named} of {of} matter so far")),
        Verdict::Open => None,
    }
}

fn write_page(page: &mut String, insight: &Insight, many: bool) -> std::fmt::Result {
    match said(insight) {
        Some(said) => writeln!(page, "inputs    {said}")?,
        None if many => writeln!(page, "inputs    none of {} is named so far", insight.n_inputs)?,
        None => writeln!(
            page,
            "inputs    none of {} is named: with so few, the model learns how much each of them matters",
            insight.n_inputs
        )?,
    }
    if insight.n_idle > 0 {
        let idle = text::count(insight.n_idle, "other");
        writeln!(page, "idle      {idle}, moved all at once without a change")?;
    }
    if let Some(sd) = insight.noise_sd {
        writeln!(page, "noise     a standard deviation of {sd:.1e}")?;
    }
    if insight.outputs.iter().any(|driven| !driven.inputs.is_empty()) {
        write_outputs(page, &insight.outputs)?;
    } else if !insight.active.is_empty() {
        write_table(page, insight)?;
    }
    for (index, finding) in insight.findings.iter().enumerate() {
        let gap = if index == 0 { "\n" } else { "" };
        writeln!(page, "{gap}after {}: {}", text::count(finding.results, "result"), finding.fact)?;
    }
    Ok(())
}

/// The inputs that drive each output.
fn write_outputs(page: &mut String, outputs: &[DrivenOutput]) -> std::fmt::Result {
    let row = |driven: &DrivenOutput| {
        let names = first_names(&driven.inputs);
        vec![driven.output.clone(), if names.is_empty() { "none found".to_owned() } else { names }]
    };
    let rows: Vec<Vec<String>> = outputs.iter().map(row).collect();
    write!(page, "\n{}", text::columns(&["output", "driven by, strongest first"], &rows))?;
    writeln!(page, "what each of them changes in each output is in --json")
}

/// All inputs have evidence, or none, when the user named them.
fn write_table(page: &mut String, insight: &Insight) -> std::fmt::Result {
    let active = &insight.active;
    let is_shown = active.iter().any(|input| input.evidence.is_some());
    let header = if is_shown { &["input", "effect", "step", "idle at most"][..] } else { &["input", ""] };
    let said = said_by(insight);
    let rows: Vec<Vec<String>> = active.iter().take(SHOWN_INPUTS).map(|input| row(input, said)).collect();
    write!(page, "\n{}", text::columns(header, &rows))?;
    if active.len() > rows.len() {
        writeln!(page, "and {} more (--json has all)", active.len() - rows.len())?;
    }
    if is_shown {
        let meaning = "change of the value when the input alone moves by step, a part of its range";
        writeln!(page, "effect: {meaning}")?;
    }
    Ok(())
}

/// Who says that an input matters of which nothing was measured yet.
fn said_by(insight: &Insight) -> &'static str {
    match insight.findings.iter().any(|finding| matches!(finding.fact, Fact::Recalled { .. })) {
        true => "as earlier results say",
        false => "as the study file says",
    }
}

fn row(input: &ActiveInput, said: &str) -> Vec<String> {
    match input.evidence {
        Some(evidence) => vec![
            input.name.clone(),
            format!("{:+.2e}", evidence.effect),
            format!("{:.1e}", evidence.step),
            format!("{:.1e}", evidence.threshold),
        ],
        None => vec![input.name.clone(), said.to_owned()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tribo::strategy::{Evidence, Finding};

    fn insight(named: usize, verdict: Verdict) -> Insight {
        let input = |input| {
            let evidence = Evidence { effect: 0.5 / (input + 1) as f64, step: 1e-4, threshold: 1e-12 };
            ActiveInput { name: format!("x[{input}]"), input, evidence: Some(evidence) }
        };
        Insight {
            doing: "optimising".to_owned(),
            verdict,
            n_inputs: 1000,
            active: (0..named).map(input).collect(),
            outputs: vec![],
            n_idle: 1000 - named,
            noise_sd: Some(1e-13),
            findings: vec![Finding { results: 14, fact: Fact::Dense }],
        }
    }

    fn page(insight: &Insight) -> String {
        let mut page = String::new();
        write_page(&mut page, insight, true).unwrap();
        page
    }

    #[test]
    fn twenty_inputs_are_shown() {
        let text = page(&insight(25, Verdict::Sparse));
        let shown = text.lines().filter(|line| line.starts_with("x[")).count();
        assert_eq!(shown, 20, "{text}");
        assert!(text.contains("\nand 5 more (--json has all)\n"), "{text}");
        assert!(!page(&insight(20, Verdict::Sparse)).contains("more"));
    }

    #[test]
    fn a_page_reads_from_the_verdict_to_the_findings() {
        assert_eq!(
            page(&insight(2, Verdict::Sparse)),
            "inputs    2 of 1000 matter\n\
             idle      998 others, moved all at once without a change\n\
             noise     a standard deviation of 1.0e-13\n\
             \n\
             input    effect    step  idle at most\n\
             x[0]   +5.00e-1  1.0e-4       1.0e-12\n\
             x[1]   +2.50e-1  1.0e-4       1.0e-12\n\
             effect: change of the value when the input alone moves by step, a part of its range\n\
             \n\
             after 14 results: too many inputs matter to name them\n"
        );
    }

    #[test]
    fn inputs_that_the_user_named_have_no_evidence() {
        let mut known = insight(1, Verdict::Sparse);
        known.active[0].evidence = None;
        let text = page(&known);
        assert!(text.contains("\ninput\nx[0]   as the study file says\n"), "{text}");
        assert!(!text.contains("effect"), "{text}");
    }

    #[test]
    fn under_limits_the_inputs_of_each_output_are_named() {
        let mut known = insight(9, Verdict::Sparse);
        let driven = |output: &str, inputs: &[ActiveInput]| DrivenOutput {
            output: output.to_owned(),
            inputs: inputs.to_vec(),
        };
        let active = known.active.clone();
        known.outputs =
            vec![driven("objective", &active[..7]), driven("stress", &active[7..]), driven("lift", &[])];
        let text = page(&known.with_objective("mass"));
        let table = "\noutput  driven by, strongest first\n\
                     mass    x[0], x[1], x[2], x[3], x[4], x[5], ...\n\
                     stress  x[7], x[8]\n\
                     lift    none found\n";
        assert!(text.contains(table), "{text}");
    }

    #[test]
    fn nothing_known_is_nothing_said() {
        assert_eq!(said(&insight(0, Verdict::Open)), None);
        assert_eq!(said(&insight(2, Verdict::Open)).unwrap(), "2 of 1000 matter so far");
        assert_eq!(said(&insight(0, Verdict::Dense)).unwrap(), "too many of 1000 matter to name them");
    }
}
