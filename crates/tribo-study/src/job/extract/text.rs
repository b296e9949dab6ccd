//! Answers in text: a regular expression, a cell of a CSV file.

use super::{Found, Look, Miss, Pick, judge, number, shown};
use crate::config::Occurrence;
use crate::job::capture::is_gap;
use regex_lite::Regex;
use std::io::{self, BufRead, BufReader, Read};

/// Longer lines are read in pieces of this many bytes.
const LONGEST_LINE: u64 = 1 << 20;

/// A line of a file.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Line {
    /// Its number, from 1.
    pub(super) number: usize,
    /// Its text.
    pub(super) text: String,
}

impl Line {
    /// For people: which one, and what is in it.
    pub(super) fn place(&self, file: &str) -> String {
        format!("line {} of {file}, {:?}", self.number, shown(self.text.trim()))
    }
}

pub(super) fn compile(pattern: &str) -> Result<Regex, String> {
    let regex =
        Regex::new(pattern).map_err(|error| format!("the pattern {pattern:?} cannot be used: {error}"))?;
    match regex.captures_len() {
        1 => Err(format!("the pattern {pattern:?} has no group; put the number into parentheses")),
        _ => Ok(regex),
    }
}

/// The first group of a match. Matches lie within lines.
pub(super) fn regex(log: impl Read, file: &str, pattern: &str, which: Occurrence) -> Look {
    let regex = match compile(pattern) {
        Ok(regex) => regex,
        Err(complaint) => return Err(Miss::failed(complaint)),
    };
    let mut pick = Pick::new(which);
    let read = each_line(log, |line| {
        for captures in regex.captures_iter(&line.text) {
            if let Some(group) = captures.get(1) {
                pick.offer((group.range(), line.clone()));
            }
        }
        true
    });
    if let Err(error) = read {
        return unreadable(file, error);
    }
    let [one, many, none] = ["match", "matches", "no match"].map(|what| format!("{what} of `{pattern}`"));
    let (group, line) = pick.finish(file, [&one, &many], &none)?;
    let token = line.text[group.clone()].trim();
    let place = line.place(file);
    if let Some(whole) = cut_off(&line.text, group).filter(|_| number(token).is_some()) {
        return Err(Miss::invalid(format!(
            "`{pattern}` matches {token:?} of {whole:?} in {place}; write the pattern so that it takes the whole number, such as (\\S+), and numbers with a point and without separators of thousands"
        )));
    }
    let value = judge(token, &format!("the match of `{pattern}` in {file}"))?;
    Ok(Found { value, place })
}

/// The whole number, if the group is only a part of it: digits, a point, a comma, a sign or an exponent stand right beside it.
fn cut_off(line: &str, group: std::ops::Range<usize>) -> Option<&str> {
    let (before, after) = (&line[..group.start], &line[group.end..]);
    let is_digit = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
    let ends_in_digit = |text: &str| text.ends_with(|c: char| c.is_ascii_digit());
    let exponent = after.strip_prefix(['e', 'E', 'd', 'D']);
    let is_cut_after = is_digit(after)
        || after.strip_prefix(['.', ',']).is_some_and(is_digit)
        || exponent.is_some_and(|after| is_digit(after.trim_start_matches(['+', '-'])));
    let signed = before.strip_suffix('-').is_some_and(|before| {
        before.is_empty() || before.ends_with(|c: char| c.is_whitespace() || "=:([,;".contains(c))
    });
    let is_cut_before =
        ends_in_digit(before) || before.strip_suffix(['.', ',']).is_some_and(ends_in_digit) || signed;
    if !is_cut_after && !is_cut_before {
        return None;
    }
    let outside = |c: char| !(c.is_ascii_digit() || "+-.,eEdD".contains(c));
    let start =
        before.rfind(outside).map_or(0, |at| at + before[at..].chars().next().map_or(1, char::len_utf8));
    let end = after.find(outside).map_or(line.len(), |at| group.end + at);
    Some(&line[start..end])
}

/// A cell by the name of its column. Fields are separated by commas and may be in quotes; empty lines are passed over.
pub(super) fn csv(table: impl Read, file: &str, column: &str, which: Occurrence) -> Look {
    let mut header: Option<Vec<String>> = None;
    let mut position = None;
    let mut pick = Pick::new(which);
    let read = each_line(table, |line| {
        if line.text.trim().is_empty() {
            return true;
        }
        let fields = csv_fields(&line.text);
        if let Some(header) = &header {
            let field = position.and_then(|at: usize| fields.get(at)).map_or("", |field| field.trim());
            pick.offer((field.to_owned(), fields.len() > header.len(), line.clone()));
            return true;
        }
        position = fields.iter().position(|field| field.trim().trim_start_matches('\u{feff}') == column);
        header = Some(fields);
        position.is_some()
    });
    match (read, header, position) {
        (Err(error), _, _) => unreadable(file, error),
        (Ok(()), None, _) => Err(Miss::invalid(format!("{file} is empty"))),
        (Ok(()), Some(header), None) => {
            let columns = shown(&header.join(", "));
            Err(Miss::invalid(format!("{file} has no column {column:?}; its columns are {columns}")))
        }
        (Ok(()), Some(header), Some(_)) => {
            let (token, is_longer, line) = pick.finish(file, ["row", "rows"], "a header and no row")?;
            let place = line.place(file);
            if is_longer {
                return Err(Miss::invalid(format!(
                    "{place}, has more fields than the header, which has {}; decimal commas? Write numbers with a point, or in quotes what has commas",
                    header.len()
                )));
            }
            let value = judge(&token, &format!("column {column:?} of {file}"))?;
            Ok(Found { value, place })
        }
    }
}

fn csv_fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut in_quotes = false;
    let mut characters = line.chars().peekable();
    while let Some(c) = characters.next() {
        let last = fields.len() - 1;
        match c {
            '"' if in_quotes && characters.peek() == Some(&'"') => {
                characters.next();
                fields[last].push('"');
            }
            '"' => in_quotes = !in_quotes,
            ',' if !in_quotes => fields.push(String::new()),
            c => fields[last].push(c),
        }
    }
    fields
}

/// Calls `see` for every line, while it returns true, but not for the line that marks a gap in a captured log.
pub(super) fn each_line(log: impl Read, mut see: impl FnMut(&Line) -> bool) -> io::Result<()> {
    let mut log = BufReader::with_capacity(1 << 16, log);
    let mut bytes = Vec::new();
    for number in 1.. {
        bytes.clear();
        if log.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut bytes)? == 0 {
            break;
        }
        let text = String::from_utf8_lossy(bytes.trim_ascii_end()).into_owned();
        let line = Line { number, text };
        if !is_gap(&line.text) && !see(&line) {
            break;
        }
    }
    Ok(())
}

pub(super) fn unreadable(file: &str, error: io::Error) -> Look {
    Err(Miss::failed(format!("{file} cannot be read: {error}")))
}
