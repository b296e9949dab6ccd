//! Answers in text: the last number of a log, a regular expression, a cell of a CSV file.

use super::{Look, Miss, Pick, judge, number, shown};
use crate::config::Occurrence;
use crate::job::capture::is_gap;
use regex_lite::Regex;
use std::io::{self, BufRead, BufReader, Read};

/// Longer lines are read in pieces of this many bytes.
const LONGEST_LINE: u64 = 1 << 20;

/// The last number in a log. NaN and infinity count: a program that prints one has not found a value.
pub(super) fn last_number(log: impl Read) -> Look {
    let mut last = None;
    let read = each_line(log, |line| {
        let is_number = |token: &&str| number(token).is_some();
        let tokens = line.rsplit(|c: char| c.is_whitespace() || "=,;:()[]{}<>\"'|".contains(c));
        // A sentence may end with the number.
        let token = tokens
            .map(|token| if is_number(&token) { token } else { token.trim_end_matches('.') })
            .find(is_number);
        if let Some(token) = token {
            last = Some(token.to_owned());
        }
        true
    });
    match (read, last) {
        (Err(error), _) => unreadable("stdout", error),
        (Ok(()), Some(token)) => judge(&token, "the last number on standard output"),
        (Ok(()), None) => {
            Err(Miss::failed("the command ended well but printed no number on standard output"))
        }
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
        for captures in regex.captures_iter(line) {
            if let Some(group) = captures.get(1) {
                pick.offer(group.as_str());
            }
        }
        true
    });
    match read {
        Err(error) => unreadable(file, error),
        Ok(()) => match pick.finish(&format!("matches of {pattern:?} in {file}")) {
            Ok(token) => judge(token.trim(), &format!("the match of {pattern:?} in {file}")),
            Err(miss) => Err(miss),
        },
    }
}

/// A cell by the name of its column. Fields are separated by commas and may be in quotes; empty lines are passed over.
pub(super) fn csv(table: impl Read, file: &str, column: &str, which: Occurrence) -> Look {
    let mut header: Option<Vec<String>> = None;
    let mut position = None;
    let mut pick = Pick::new(which);
    let read = each_line(table, |line| {
        if line.trim().is_empty() {
            return true;
        }
        let fields = csv_fields(line);
        if header.is_some() {
            pick.offer(position.and_then(|at: usize| fields.get(at)).map_or("", |field| field.trim()));
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
        (Ok(()), Some(_), Some(_)) => match pick.finish(&format!("rows of {file}")) {
            Ok(token) => judge(&token, &format!("column {column:?} of {file}")),
            Err(miss) => Err(miss),
        },
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
fn each_line(log: impl Read, mut see: impl FnMut(&str) -> bool) -> io::Result<()> {
    let mut log = BufReader::with_capacity(1 << 16, log);
    let mut line = Vec::new();
    loop {
        line.clear();
        if log.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        let text = String::from_utf8_lossy(line.trim_ascii_end());
        if !is_gap(&text) && !see(&text) {
            return Ok(());
        }
    }
}

fn unreadable(file: &str, error: io::Error) -> Look {
    Err(Miss::failed(format!("{file} cannot be read: {error}")))
}
