//! The answer of a command that ended well: one finite number, or the reason why there is none.
//!
//! Every source ends in the same four findings. `Failed` is for a program that gave no answer, or said that it failed;
//! `Invalid` for one that answered with something else than one finite number: not a number, not finite, two numbers, a
//! file that breaks off. Nothing is guessed: a message names the file and shows what was found there.
//!
//! Lines are read one by one and cut at a mebibyte, so a log of any size costs no memory. `json` reads JSON; `text` reads
//! Dakota's results, standard output, regular expressions and CSV.

mod json;
mod text;

use crate::config::{Occurrence, ResultSource};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Larger files are no answers; a program that writes its mesh where its answer belongs should be told so.
const LARGEST: u64 = 16 << 20;
/// Characters of somebody's file shown in a message.
const SHOWN: usize = 60;

/// What was found.
#[derive(Debug, Clone, PartialEq)]
pub enum Found {
    /// The objective, and other finite numbers by name.
    Value(f64, BTreeMap<String, f64>),
    /// The program says that the point is not allowed.
    Infeasible(String),
    /// There is no answer, or the program says that it failed.
    Failed(String),
    /// There is an answer, but it is not one finite number.
    Invalid(String),
}

/// Looks for the answer in a working directory; `stdout` is the file with the captured standard output.
pub fn extract(source: &ResultSource, dir: &Path, stdout: &Path) -> Found {
    let found = match source {
        ResultSource::Json { file, key } => {
            whole(&dir.join(file), file).map(|text| json::find(&text, file, key))
        }
        ResultSource::Dakota { file } => whole(&dir.join(file), file).map(|text| text::dakota(&text, file)),
        ResultSource::Stdout => open(stdout, "stdout").map(text::last_number),
        ResultSource::Regex { file, pattern, occurrence } => match file {
            Some(file) => open(&dir.join(file), file).map(|log| text::regex(log, file, pattern, *occurrence)),
            None => open(stdout, "stdout").map(|log| text::regex(log, "stdout", pattern, *occurrence)),
        },
        ResultSource::Csv { file, column, row } => {
            open(&dir.join(file), file).map(|table| text::csv(table, file, column, *row))
        }
    };
    found.unwrap_or_else(|complaint| complaint)
}

/// The file that `{result}` names: the source's own, or a name of its own if the answer is on standard output.
pub fn result_file(source: &ResultSource) -> &str {
    match source {
        ResultSource::Json { file, .. } | ResultSource::Dakota { file } | ResultSource::Csv { file, .. } => {
            file
        }
        ResultSource::Regex { file: Some(file), .. } => file,
        ResultSource::Regex { file: None, .. } | ResultSource::Stdout => "result.json",
    }
}

/// Whether the source can be used at all; a wrong pattern is better found before hours of computing than after.
pub fn check(source: &ResultSource) -> Result<(), String> {
    match source {
        ResultSource::Regex { pattern, .. } => text::compile(pattern).map(|_| ()),
        _ => Ok(()),
    }
}

fn open(path: &Path, name: &str) -> Result<File, Found> {
    File::open(path)
        .and_then(
            |file| if file.metadata()?.is_dir() { Err(io::ErrorKind::IsADirectory.into()) } else { Ok(file) },
        )
        .map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => Found::Failed(format!(
                "the command ended well but left no {name}; it has to write its answer there"
            )),
            _ => Found::Failed(format!("{name} cannot be read: {error}")),
        })
}

/// The text of a small file.
fn whole(path: &Path, name: &str) -> Result<String, Found> {
    let mut bytes = Vec::new();
    let read = open(path, name)?.take(LARGEST + 1).read_to_end(&mut bytes);
    read.map_err(|error| Found::Failed(format!("{name} cannot be read: {error}")))?;
    if bytes.len() as u64 > LARGEST {
        return Err(Found::Invalid(format!(
            "{name} is larger than {} MiB; an answer is one number",
            LARGEST >> 20
        )));
    }
    let text = String::from_utf8_lossy(&bytes);
    match text.trim() {
        "" => Err(Found::Invalid(format!("{name} is empty"))),
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

/// The finding for a token that should be the objective.
fn judge(token: &str, place: &str) -> Found {
    match number(token) {
        Some(value) if value.is_finite() => Found::Value(value, BTreeMap::new()),
        Some(value) => Found::Invalid(not_finite(value, place)),
        None => Found::Invalid(format!("{place} is {:?}, which is not a number", shown(token))),
    }
}

fn not_finite(value: f64, place: &str) -> String {
    let what = if value.is_nan() { "not a number (NaN)" } else { "infinite" };
    format!("{place} is {what}; to reject a point, answer that it failed or is infeasible")
}

fn shown(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

/// Picks one of several candidates that come one after the other.
struct Pick {
    which: Occurrence,
    seen: usize,
    kept: Option<String>,
}

impl Pick {
    fn new(which: Occurrence) -> Pick {
        Pick { which, seen: 0, kept: None }
    }

    fn offer(&mut self, candidate: &str) {
        self.seen += 1;
        let wanted = match self.which {
            Occurrence::Only | Occurrence::First => self.seen == 1,
            Occurrence::Last => true,
            Occurrence::Nth(n) => self.seen == n,
        };
        if wanted {
            self.kept = Some(candidate.to_owned());
        }
    }

    /// The candidate, or why there is none; `what` in the plural.
    fn finish(self, what: &str) -> Result<String, Found> {
        match (self.kept, self.which) {
            (Some(_), Occurrence::Only) if self.seen > 1 => {
                let many = self.seen;
                Err(Found::Invalid(format!(
                    "{what}: {many} where one is wanted; say which counts: first, last or a number"
                )))
            }
            (Some(kept), _) => Ok(kept),
            (None, Occurrence::Nth(n)) if self.seen > 0 => {
                Err(Found::Failed(format!("{what}: number {n} is wanted, there are only {}", self.seen)))
            }
            (None, _) => Err(Found::Failed(format!("{what}: there are none"))),
        }
    }
}

#[cfg(test)]
mod tests;
