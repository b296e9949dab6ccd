//! Dakota's results file: `value [descriptor]` for each response, or a file that begins with `fail`. Gradients and
//! Hessians, in brackets, are passed over.

use super::{Found, Look, Miss, judge, number, shown};
use crate::config::Response;
use crate::job::Kind;
use crate::job::params::descriptor;

/// A response: its value as it is written, and its descriptor.
type Line<'a> = (&'a str, Option<&'a str>);

pub(super) fn find(text: &str, file: &str, wanted: &Response) -> Look {
    let outside = without_brackets(text);
    let first = outside.split_whitespace().next().unwrap_or_default();
    if first.get(..4).is_some_and(|word| word.eq_ignore_ascii_case("fail")) {
        let reason = format!("the command says in {file} that it failed: {}", shown(text.trim()));
        return Err(Miss::of_all(Kind::Failed, reason));
    }
    let lines = lines(&outside);
    let value = |line: Option<&Line<'_>>| {
        line.map(|(token, name)| {
            let value = judge(token, &format!("the value in {file}"))?;
            let name = name.map(|name| format!(" {name}")).unwrap_or_default();
            Ok(Found { value, place: format!("{file}, \"{token}{name}\"") })
        })
    };
    let found = match wanted {
        Response::Only => return only(first, &lines, file),
        Response::Number(number) => value(lines.get(number.wrapping_sub(1))),
        Response::Descriptor(name) => value(described(&lines, name)),
        Response::Usual { descriptor, number, of } => {
            value(described(&lines, descriptor).or_else(|| by_order(&lines, *number, of)))
        }
    };
    found.unwrap_or_else(|| Err(Miss::invalid(missing(&lines, file, wanted))))
}

fn without_brackets(text: &str) -> String {
    let mut outside = String::with_capacity(text.len());
    let mut depth = 0usize;
    for c in text.chars() {
        match c {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            c if depth == 0 => outside.push(c),
            _ => {}
        }
    }
    outside
}

fn lines(text: &str) -> Vec<Line<'_>> {
    let mut lines: Vec<Line<'_>> = vec![];
    for token in text.split_whitespace() {
        match lines.last_mut() {
            _ if number(token).is_some() => lines.push((token, None)),
            Some((_, descriptor @ None)) => *descriptor = Some(token),
            _ => {}
        }
    }
    lines
}

/// The value of a file that has one response.
fn only(first: &str, lines: &[Line<'_>], file: &str) -> Look {
    // A word in front is a value that is none.
    let values = lines.len() + usize::from(number(first).is_none());
    match values {
        1 => {
            let value = judge(first, &format!("the value in {file}"))?;
            Ok(Found { value, place: format!("{file}, {first:?}") })
        }
        _ => Err(Miss::invalid(format!(
            "{file} has {values} values; one is wanted. Name them with [[output]] to have all of them"
        ))),
    }
}

fn described<'a, 'b>(lines: &'b [Line<'a>], name: &str) -> Option<&'b Line<'a>> {
    lines.iter().find(|(_, found)| found.is_some_and(|found| found == name || found == descriptor(name)))
}

/// The response at the place of an output, if each output has one and this one does not say that it is another's.
fn by_order<'a, 'b>(lines: &'b [Line<'a>], number: usize, of: &[String]) -> Option<&'b Line<'a>> {
    let line = lines.get(number.wrapping_sub(1)).filter(|_| lines.len() == of.len())?;
    let anothers = of.iter().any(|name| described(std::slice::from_ref(line), name).is_some());
    (!anothers).then_some(line)
}

fn missing(lines: &[Line<'_>], file: &str, wanted: &Response) -> String {
    let names: Vec<&str> = lines.iter().map(|(_, name)| name.unwrap_or("one without a name")).collect();
    let names = if names.is_empty() { "none".to_owned() } else { shown(&names.join(", ")) };
    match wanted {
        Response::Number(number) => format!("{file} has no response {number}; its responses are {names}"),
        Response::Descriptor(name) => format!("{file} has no response {name:?}; its responses are {names}"),
        Response::Usual { descriptor, of, .. } => format!(
            "{file} has no response {descriptor:?}; its responses are {names}, which are not as many as the outputs ({})",
            of.len()
        ),
        Response::Only => format!("{file} has no value"),
    }
}
