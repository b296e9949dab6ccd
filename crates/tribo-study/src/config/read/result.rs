//! Where the numbers of an answer are: `result` in `[run]` for all outputs, `[output.result]` for one of them.

use super::section_of;
use crate::config::keys::OUTPUT;
use crate::config::place::Complaint;
use crate::config::view::View;
use crate::config::{Occurrence, ParamsFormat, Response, ResultSource, Sought};
use crate::outputs::{Goal, Output};
use regex_lite::Regex;

type Read<T> = Result<T, Complaint>;

/// The member of a JSON object that is the value of a study that names no output.
const OBJECTIVE: &str = "objective";

/// Where the objective is, and where each output is; no list for the one output of `direction`.
pub(super) fn read(
    file: &View<'_>,
    run: &View<'_>,
    params: ParamsFormat,
    outputs: &[Output],
) -> Read<(ResultSource, Vec<Sought>)> {
    let view = run.inside("result", section_of(run.section(), "result"));
    let usual = if params == ParamsFormat::Json { "json" } else { "dakota" };
    let from = run.text("result").or_else(|| view.text("from")).unwrap_or_else(|| usual.to_owned());
    let declared = file.sections("output", &OUTPUT);
    if declared.is_empty() {
        return Ok((source(&view, &from, None)?, vec![]));
    }
    let mut sought = Vec::new();
    for (output, section) in outputs.iter().zip(&declared) {
        let own = section.inside("result", section_of(section.section(), "result"));
        let (name, objective) = (output.name.clone(), output.goal != Goal::Record);
        let source = match own.text("from") {
            Some(from) => source(&own, &from, Some(&name))?,
            None if objective => source(&view, &from, Some(&name))?,
            None => by_name(section, &view, &from, &name)?,
        };
        sought.push(Sought { name, objective, source });
    }
    number_responses(&mut sought);
    let objective = sought.iter().find(|sought| sought.objective).map(|sought| sought.source.clone());
    Ok((objective.unwrap_or(ResultSource::Stdout), sought))
}

/// What a section says of one number. `output` is the name to look for where none is said.
fn source(view: &View<'_>, from: &str, output: Option<&str>) -> Read<ResultSource> {
    let file = view.text("file");
    let named = |key: &str| view.text(key).or_else(|| output.map(str::to_owned));
    Ok(match from {
        "dakota" => ResultSource::Dakota {
            file: file.unwrap_or_else(|| "results.out".to_owned()),
            response: match (view.integer("response"), view.text("response")) {
                (Some(number), _) => Response::Number(number),
                (None, Some(descriptor)) => Response::Descriptor(descriptor),
                (None, None) => Response::Only,
            },
        },
        "stdout" => ResultSource::Stdout,
        "regex" => {
            let pattern = view.text("pattern").ok_or_else(|| view.missing("pattern"))?;
            check_pattern(view, &pattern)?;
            ResultSource::Regex { file, pattern, occurrence: occurrence(view, "occurrence") }
        }
        "csv" => ResultSource::Csv {
            file: file.ok_or_else(|| view.missing("file"))?,
            column: named("column").ok_or_else(|| view.missing("column"))?,
            row: occurrence(view, "row"),
        },
        _ => ResultSource::Json {
            file: file.unwrap_or_else(|| "result.json".to_owned()),
            key: named("key").unwrap_or_else(|| OBJECTIVE.to_owned()),
        },
    })
}

/// Where an output is that says nothing of it: in the file of `[run]`, under its name.
fn by_name(output: &View<'_>, result: &View<'_>, from: &str, name: &str) -> Read<ResultSource> {
    let file = result.text("file");
    match from {
        "stdout" | "regex" => Err(output.complaint(
            "name",
            format!(
                "`result` of [run] finds one number, that of the output to optimise; say where `{name}` is, such as \
                 result = {{ from = \"regex\", pattern = '{name} = (\\S+)' }}"
            ),
        )),
        "csv" => Ok(ResultSource::Csv {
            file: file.ok_or_else(|| result.missing("file"))?,
            column: name.to_owned(),
            row: occurrence(result, "row"),
        }),
        "dakota" => Ok(ResultSource::Dakota {
            file: file.unwrap_or_else(|| "results.out".to_owned()),
            response: Response::Only,
        }),
        _ => Ok(ResultSource::Json {
            file: file.unwrap_or_else(|| "result.json".to_owned()),
            key: name.to_owned(),
        }),
    }
}

/// Responses that nobody chose are those with the names of their outputs, or come in the order of the outputs.
fn number_responses(sought: &mut [Sought]) {
    let unchosen = |sought: &Sought| match &sought.source {
        ResultSource::Dakota { file, response: Response::Only } => Some(file.clone()),
        _ => None,
    };
    let all: Vec<(String, String)> =
        sought.iter().filter_map(|one| Some((unchosen(one)?, one.name.clone()))).collect();
    for one in sought {
        let Some(file) = unchosen(one) else { continue };
        let of: Vec<String> =
            all.iter().filter(|(other, _)| *other == file).map(|(_, name)| name.clone()).collect();
        let number = 1 + of.iter().position(|name| *name == one.name).unwrap_or(0);
        let response = Response::Usual { descriptor: one.name.clone(), number, of };
        one.source = ResultSource::Dakota { file, response };
    }
}

fn check_pattern(view: &View<'_>, pattern: &str) -> Read<()> {
    let message = match Regex::new(pattern) {
        Ok(regex) if regex.captures_len() > 1 => return Ok(()),
        Ok(_) => {
            "`pattern` has no group; put the number in round brackets, such as pattern = 'drag = (\\S+)'"
                .to_owned()
        }
        Err(error) => format!("`pattern` is not a regular expression: {error}"),
    };
    Err(view.complaint("pattern", message))
}

fn occurrence(view: &View<'_>, key: &str) -> Occurrence {
    match (view.text(key).as_deref(), view.integer(key)) {
        (_, Some(n)) => Occurrence::Nth(n),
        (Some("first"), _) => Occurrence::First,
        (Some("last"), _) => Occurrence::Last,
        _ => Occurrence::Only,
    }
}
