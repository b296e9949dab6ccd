//! The answer of a command that ended well: its outputs, or the reason why the objective is not there.
//!
//! Each output is looked for by itself. Without the objective there is no measurement, and the other outputs are kept all
//! the same; an output that is only recorded may be missing. `Failed` is for a program that gave no answer, or said that it
//! failed; `Invalid` for one that answered with something else than one finite number: not a number, not finite, two
//! numbers, a file that breaks off. Nothing is guessed: a message names the file and shows what was found there.
//!
//! Lines are read one by one and cut at a mebibyte, so a log of any size costs no memory. `json` reads JSON, `dakota`
//! Dakota's results; `stdout` reads standard output, `text` reads by regular expressions, and CSV.

mod dakota;
mod json;
mod stdout;
mod text;

use super::{Finding, Kind};
use crate::config::{Evaluation, Occurrence, ResultSource};
use crate::outputs::{Outputs, VALUE};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Larger files are no answers; a program that writes its mesh where its answer belongs should be told so.
const LARGEST: u64 = 16 << 20;
/// Characters of somebody's file shown in a message.
const SHOWN: usize = 60;

/// Why a number is not there.
#[derive(Debug, Clone, PartialEq)]
struct Miss {
    kind: Kind,
    reason: String,
    /// Whether the reason speaks of the whole evaluation: it says that it failed, or left nothing.
    of_all: bool,
}

impl Miss {
    fn failed(reason: impl Into<String>) -> Miss {
        Miss { kind: Kind::Failed, reason: reason.into(), of_all: false }
    }

    fn invalid(reason: impl Into<String>) -> Miss {
        Miss { kind: Kind::Invalid, reason: reason.into(), of_all: false }
    }

    fn of_all(kind: Kind, reason: impl Into<String>) -> Miss {
        Miss { kind, reason: reason.into(), of_all: true }
    }
}

/// A number and where it stands, with the words around it.
#[derive(Debug, Clone, PartialEq)]
struct Found {
    value: f64,
    place: String,
}

/// A number, or why it is not there.
type Look = Result<Found, Miss>;

/// Looks for the answer in a working directory; `stdout` is the file with the captured standard output.
pub fn extract(evaluation: &Evaluation, dir: &Path, stdout: &Path) -> Finding {
    if evaluation.outputs.is_empty() {
        return match look(&evaluation.result, VALUE, true, dir, stdout) {
            Ok(found) => Finding::answered(VALUE, found.value),
            Err(Miss { kind, reason, .. }) => Finding::none(kind, reason),
        };
    }
    let (mut outputs, mut without, mut missing) = (Outputs::new(), None, vec![]);
    for sought in &evaluation.outputs {
        match look(&sought.source, &sought.name, sought.objective, dir, stdout) {
            Ok(found) => drop(outputs.insert(&sought.name, found.value)),
            Err(Miss { kind, reason, of_all: true }) if sought.objective => without = Some((kind, reason)),
            Err(Miss { kind, reason, .. }) if sought.objective => {
                without = Some((kind, format!("output `{}`: {reason}", sought.name)));
            }
            Err(Miss { reason, .. }) => missing.push(format!("no output `{}`: {reason}", sought.name)),
        }
    }
    let (kind, reason) = without.unwrap_or_else(|| (Kind::Ok, missing.join("; ")));
    Finding { kind, outputs, reason }
}

/// Where the numbers of an answer stand: each by its name, for people. What is not there is left out.
pub fn places(evaluation: &Evaluation, dir: &Path, stdout: &Path) -> Vec<(String, String)> {
    let place = |name: &str, source: &ResultSource, objective: bool| {
        let found = look(source, name, objective, dir, stdout).ok()?;
        Some((name.to_owned(), found.place))
    };
    match evaluation.outputs.is_empty() {
        true => place(VALUE, &evaluation.result, true).into_iter().collect(),
        false => evaluation
            .outputs
            .iter()
            .filter_map(|sought| place(&sought.name, &sought.source, sought.objective))
            .collect(),
    }
}

/// Looks for one number. The `objective` is not there if the command says elsewhere in the file that it failed.
fn look(source: &ResultSource, name: &str, objective: bool, dir: &Path, stdout: &Path) -> Look {
    match source {
        ResultSource::Json { file, key } => {
            let text = whole(&dir.join(file), file)?;
            if objective { json::objective(&text, file, key) } else { json::member(&text, file, key) }
        }
        ResultSource::Dakota { file, response } => {
            dakota::find(&whole(&dir.join(file), file)?, file, response)
        }
        ResultSource::Stdout => stdout::last_number(open(stdout, "stdout")?, name),
        ResultSource::Regex { file, pattern, occurrence } => match file {
            Some(file) => text::regex(open(&dir.join(file), file)?, file, pattern, *occurrence),
            None => text::regex(open(stdout, "stdout")?, "stdout", pattern, *occurrence),
        },
        ResultSource::Csv { file, column, row } => {
            text::csv(open(&dir.join(file), file)?, file, column, *row)
        }
    }
}

/// The file that `{result}` names: the source's own, or a name of its own if the answer is on standard output.
pub fn result_file(source: &ResultSource) -> &str {
    own_file(source).unwrap_or("result.json")
}

fn own_file(source: &ResultSource) -> Option<&str> {
    match source {
        ResultSource::Json { file, .. }
        | ResultSource::Dakota { file, .. }
        | ResultSource::Csv { file, .. } => Some(file),
        ResultSource::Regex { file, .. } => file.as_deref(),
        ResultSource::Stdout => None,
    }
}

/// The files that an evaluation's answer may be in, which must not be there before it starts.
pub(super) fn answer_files(evaluation: &Evaluation) -> impl Iterator<Item = &str> {
    let others = evaluation.outputs.iter().filter_map(|sought| own_file(&sought.source));
    std::iter::once(result_file(&evaluation.result)).chain(others)
}

/// Whether the sources can be used at all; a wrong pattern is better found before hours of computing than after.
pub fn check(evaluation: &Evaluation) -> Result<(), String> {
    let sources = evaluation.outputs.iter().map(|sought| &sought.source);
    sources.chain([&evaluation.result]).try_for_each(|source| match source {
        ResultSource::Regex { pattern, .. } => text::compile(pattern).map(|_| ()),
        _ => Ok(()),
    })
}

fn open(path: &Path, name: &str) -> Result<File, Miss> {
    File::open(path)
        .and_then(
            |file| if file.metadata()?.is_dir() { Err(io::ErrorKind::IsADirectory.into()) } else { Ok(file) },
        )
        .map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => Miss::of_all(
                Kind::Failed,
                format!("the command ended well but left no {name}; it has to write its answer there"),
            ),
            _ => Miss::of_all(Kind::Failed, format!("{name} cannot be read: {error}")),
        })
}

/// The text of a small file.
fn whole(path: &Path, name: &str) -> Result<String, Miss> {
    let mut bytes = Vec::new();
    let read = open(path, name)?.take(LARGEST + 1).read_to_end(&mut bytes);
    read.map_err(|error| Miss::of_all(Kind::Failed, format!("{name} cannot be read: {error}")))?;
    if bytes.len() as u64 > LARGEST {
        let reason = format!("{name} is larger than {} MiB; an answer is a few numbers", LARGEST >> 20);
        return Err(Miss::of_all(Kind::Invalid, reason));
    }
    let text = String::from_utf8_lossy(&bytes);
    match text.trim() {
        "" => Err(Miss::of_all(Kind::Invalid, format!("{name} is empty"))),
        // Some editors begin files with a mark of their encoding.
        text => Ok(text.trim_start_matches('\u{feff}').to_owned()),
    }
}

/// A number as C, Fortran or Python write it.
fn number(token: &str) -> Option<f64> {
    token.parse().ok().or_else(|| {
        let fortran = token.bytes().all(|b| b.is_ascii_digit() || b"+-.dD".contains(&b));
        fortran.then(|| token.replace(['d', 'D'], "e").parse().ok()).flatten()
    })
}

/// What a token is that should be a finite number.
fn judge(token: &str, place: &str) -> Result<f64, Miss> {
    match number(token) {
        Some(value) if value.is_finite() => Ok(value),
        Some(value) => Err(not_finite(value, place)),
        None => Err(Miss::invalid(format!("{place} is {:?}, which is not a number", shown(token)))),
    }
}

fn not_finite(value: f64, place: &str) -> Miss {
    let what = if value.is_nan() { "not a number (NaN)" } else { "infinite" };
    Miss::invalid(format!("{place} is {what}; to reject a point, answer that it failed or is infeasible"))
}

fn shown(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

/// Picks one of several candidates that come one after the other.
struct Pick<T> {
    which: Occurrence,
    seen: usize,
    kept: Option<T>,
}

impl<T> Pick<T> {
    fn new(which: Occurrence) -> Pick<T> {
        Pick { which, seen: 0, kept: None }
    }

    fn offer(&mut self, candidate: T) {
        self.seen += 1;
        let wanted = match self.which {
            Occurrence::Only | Occurrence::First => self.seen == 1,
            Occurrence::Last => true,
            Occurrence::Nth(n) => self.seen == n,
        };
        if wanted {
            self.kept = Some(candidate);
        }
    }

    /// The candidate, or why there is none: the file has so many of what is looked for, `what` as one and as many.
    fn finish(self, file: &str, what: [&str; 2], none: &str) -> Result<T, Miss> {
        let seen = format!("{} {}", self.seen, what[usize::from(self.seen != 1)]);
        match (self.kept, self.which) {
            (Some(_), Occurrence::Only) if self.seen > 1 => Err(Miss::invalid(format!(
                "{file} has {seen} where one is wanted; say which counts: first, last or a number"
            ))),
            (Some(kept), _) => Ok(kept),
            (None, Occurrence::Nth(n)) if self.seen > 0 => {
                Err(Miss::failed(format!("{file} has {seen}, and number {n} is wanted")))
            }
            (None, _) => Err(Miss::failed(format!("{file} has {none}"))),
        }
    }
}

#[cfg(test)]
mod tests;
