//! The last number on standard output, unless it is anybody's guess whether that is the answer.
//!
//! A line that is nothing but a number is an answer, and the last of them counts. Otherwise lines such as `mass = 1.5` are
//! looked at, and sentences such as `The drag is 0.5.`:
//!
//!   - after a line that is only a number, or after `mass = 1.5`, a sentence with another number is no answer:
//!     `Finished in 3.2 s`;
//!   - after `mass = 1.5`, `time = 3.2` could be either, unless the last one has a name that says what it is: that of the
//!     output, or a word such as `objective`;
//!   - a number with a comma between digits could be 1.5, 1,500 or two numbers.
//!
//! Such output is refused, with the lines in question. Numbers elsewhere, as in `Solver 2.1 with 1000 cells`, do no harm.

use super::text::{Line, each_line, unreadable};
use super::{Found, Look, Miss, judge, number};
use std::io::Read;

/// Names that say that a number is the answer.
const ANSWERS: [&str; 7] = ["objective", "value", "result", "answer", "cost", "loss", "f"];
/// What separates words.
const SEPARATORS: &str = "=,;:()[]{}<>\"'|";

/// A line that may have the answer.
#[derive(Debug, Clone, PartialEq)]
struct Candidate {
    /// The number as it is written.
    token: String,
    says: Says,
    line: Line,
}

/// What a line says of its number.
#[derive(Debug, Clone, PartialEq)]
enum Says {
    /// It is nothing but the number.
    Bare,
    /// Its name, in small letters.
    Named(String),
    /// Something.
    Sentence,
}

/// The last number in a log. NaN and infinity count: a program that prints one has not found a value. `name` is that of the
/// output.
pub(super) fn last_number(log: impl Read, name: &str) -> Look {
    // The last one, and the last before it that says something else.
    let (mut last, mut earlier): (Option<Candidate>, Option<Candidate>) = (None, None);
    let read = each_line(log, |line| {
        if let Some(found) = candidate(line) {
            if let Some(before) = last.take()
                && before.says != found.says
                && before.says != Says::Sentence
            {
                earlier = Some(before);
            }
            last = Some(found);
        }
        true
    });
    let Some(last) = last else {
        return match read {
            Err(error) => unreadable("stdout", error),
            Ok(()) => Err(Miss::failed("the command ended well but printed no number on standard output")),
        };
    };
    read.map_or_else(|error| unreadable("stdout", error), |()| accept(last, earlier, name))
}

/// The number, if nothing speaks against it.
fn accept(last: Candidate, earlier: Option<Candidate>, name: &str) -> Look {
    let place = last.line.place("stdout");
    if let Some(comma) = comma(&last.line.text, &last.token) {
        return Err(Miss::invalid(format!(
            "{comma:?} in {place}, could be a decimal comma, thousands or two numbers; print one number with a point"
        )));
    }
    let says_so = |named: &str| ANSWERS.contains(&named) || named == name.to_lowercase();
    let clear = match &last.says {
        Says::Bare => true,
        Says::Named(named) => says_so(named),
        Says::Sentence => false,
    };
    if let Some(earlier) = earlier.filter(|_| !clear) {
        return Err(Miss::invalid(format!(
            "which number is the answer? {} or {place}; print it alone on the last line, or say by a pattern in [run.result] where it is",
            earlier.line.place("stdout")
        )));
    }
    judge(&last.token, "the last number on standard output").map(|value| Found { value, place })
}

/// What a line has of a number: the last one in it.
fn candidate(line: &Line) -> Option<Candidate> {
    let text = line.text.as_str();
    let is_separator = |c: char| c.is_whitespace() || SEPARATORS.contains(c);
    // A sentence may end with the number.
    let whole = |token: &'_ str| match number(token) {
        Some(_) => token.len(),
        None => token.trim_end_matches('.').len(),
    };
    let mut rest = text;
    let (start, token) = loop {
        // From the back, so that a long line costs no more than its end.
        let start =
            rest.rfind(is_separator).map_or(0, |at| at + rest[at..].chars().next().map_or(1, char::len_utf8));
        let token = &rest[start..start + whole(&rest[start..])];
        if number(token).is_some() {
            break (start, token);
        }
        rest = rest[..start].strip_suffix(is_separator)?;
    };
    let (before, after) = (text[..start].trim_end(), text[start + token.len()..].trim());
    let says = match before.strip_suffix(['=', ':']) {
        _ if before.is_empty() && after.is_empty() => Says::Bare,
        Some(label) => Says::Named(last_word(label)),
        None => Says::Sentence,
    };
    Some(Candidate { token: token.to_owned(), says, line: line.clone() })
}

/// The word that a label ends with, in small letters.
fn last_word(label: &str) -> String {
    let word =
        label.split(|c: char| c.is_whitespace() || SEPARATORS.contains(c)).rfind(|word| !word.is_empty());
    word.unwrap_or_default().to_lowercase()
}

/// The number with its surroundings, if a comma or an apostrophe stands between digits in front of it.
fn comma<'a>(line: &'a str, token: &str) -> Option<&'a str> {
    let at = line.rfind(token)?;
    let before = line[..at].strip_suffix([',', '\''])?;
    if !before.ends_with(|c: char| c.is_ascii_digit()) || !token.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let start = before
        .rfind(|c: char| !(c.is_ascii_digit() || "+-.,'".contains(c)))
        .map_or(0, |place| place + line[place..].chars().next().map_or(1, char::len_utf8));
    Some(&line[start..at + token.len()])
}
