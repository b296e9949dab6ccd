//! Where text goes: data to standard output, messages to standard error.

use serde::Serialize;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::io::{self, BufWriter, IsTerminal, Write};
use tribo_study::layout::Layout;

/// Elements of a vector that people are shown.
const SHOWN_ELEMENTS: usize = 6;

/// Standard output, in large pieces.
pub(crate) fn stdout() -> BufWriter<io::StdoutLock<'static>> {
    BufWriter::new(io::stdout().lock())
}

/// Writes a text. What solvers print is in it: what a terminal would obey is shown, not done.
pub(crate) fn print(text: &str) -> io::Result<()> {
    let mut out = stdout();
    out.write_all(harmless(text).as_bytes())?;
    out.flush()
}

/// The text with control characters, such as those that begin an escape sequence or turn the direction of what follows, as
/// `\u{1b}`.
pub(crate) fn harmless(text: &str) -> Cow<'_, str> {
    shown_by(text, |c| c.escape_unicode().to_string())
}

/// JSON with the same characters as `\u009b`: the same values. They are in its strings only, where those below 32 are written
/// so anyway.
pub(crate) fn harmless_json(json: &str) -> Cow<'_, str> {
    shown_by(json, |c| format!("\\u{:04x}", u32::from(c)))
}

/// The text with what a terminal would obey as `shown` writes it.
fn shown_by(text: &str, shown: impl Fn(char) -> String) -> Cow<'_, str> {
    let turns = |c: char| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let obeyed = |c: char| (c.is_control() && c != '\n' && c != '\t') || turns(c);
    if !text.contains(obeyed) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().map(|c| if obeyed(c) { shown(c) } else { c.to_string() }).collect())
}

/// Writes a value as indented JSON.
pub(crate) fn print_json(value: &impl Serialize) -> io::Result<()> {
    let json = serde_json::to_string_pretty(value)?;
    let mut out = stdout();
    out.write_all(harmless_json(&json).as_bytes())?;
    out.write_all(b"\n")?;
    out.flush()
}

/// A line on a terminal that the next one takes the place of: how far something is.
pub(crate) struct Passing {
    is_terminal: bool,
}

impl Passing {
    pub(crate) fn new() -> Passing {
        Passing { is_terminal: io::stderr().is_terminal() }
    }

    /// Shows a line; an empty one leaves nothing.
    pub(crate) fn line(&self, text: &str) {
        if self.is_terminal {
            let mut stderr = io::stderr();
            // If nobody can be told, nobody is.
            let _ = write!(stderr, "\r\x1b[K{text}").and_then(|()| stderr.flush());
        }
    }
}

/// A message. If nobody can be told, nobody is. What a solver has written may be in it.
pub(crate) fn note(text: &str) {
    let _ = writeln!(io::stderr(), "{}", harmless(text));
}

/// Something a person should know.
pub(crate) fn warning(text: &str) {
    let _ = writeln!(io::stderr(), "{} {}", styled("warning:", "33"), harmless(text));
}

/// An error.
pub(crate) fn error(text: &str) {
    let _ = writeln!(io::stderr(), "{} {}", styled("error:", "31"), harmless(text));
}

/// A word in bold and a colour, on terminals whose user did not refuse.
fn styled(word: &str, colour: &str) -> String {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let plain = !io::stderr().is_terminal()
        || set("NO_COLOR")
        || std::env::var_os("TERM").is_some_and(|t| t == "dumb");
    match plain {
        true => word.to_owned(),
        false => format!("\u{1b}[1;{colour}m{word}\u{1b}[0m"),
    }
}

/// The study as a later command would name it: nothing if it is in the current folder.
pub(crate) fn named(layout: &Layout) -> String {
    layout.named()
}

/// A point for people: one parameter a line, all digits, long vectors cut.
pub(crate) fn point(params: &Map<String, Value>) -> String {
    let width = params.keys().map(|name| name.chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for (name, value) in params {
        let pad = " ".repeat(width - name.chars().count());
        text.push_str(&format!("  {name}{pad}  {}\n", shown(value)));
    }
    text
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(elements) => {
            let first: Vec<String> = elements.iter().take(SHOWN_ELEMENTS).map(shown).collect();
            match elements.len() > SHOWN_ELEMENTS {
                true => format!("[{}, ... {} values]", first.join(", "), elements.len()),
                false => format!("[{}]", first.join(", ")),
            }
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_shown() {
        assert_eq!(harmless("a\tb\n"), "a\tb\n");
        assert_eq!(harmless("\u{1b}[2Jgone\u{9b}31m\r"), "\\u{1b}[2Jgone\\u{9b}31m\\u{d}");
        assert_eq!(harmless("\u{202e}dnuor\u{2066}"), "\\u{202e}dnuor\\u{2066}");
    }

    #[test]
    fn json_has_the_same_values_and_nothing_that_a_terminal_would_obey() {
        let value = serde_json::json!({"a\u{9b}31m": "\u{1b}[2J\u{202e}dnuor\u{7f}\u{85}", "\u{fc}": ["\n\t\u{e9}\u{1f600}"]});
        let json = serde_json::to_string_pretty(&value).unwrap();
        let shown = harmless_json(&json);
        assert_eq!(shown, harmless(&shown), "nothing is left to be shown");
        assert!(shown.contains("\\u009b31m") && shown.contains("\\u202ednuor\\u007f\\u0085"), "{shown}");
        assert!(shown.contains("\u{fc}") && shown.contains("\u{e9}\u{1f600}"), "letters stay: {shown}");
        assert_eq!(serde_json::from_str::<Value>(&shown).unwrap(), value);
    }

    #[test]
    fn points_are_aligned_and_vectors_cut() {
        let params = serde_json::json!({"x": 0.1, "solver": "cg", "v": [1, 2, 3, 4, 5, 6, 7]});
        let Value::Object(params) = params else { panic!() };
        assert_eq!(
            point(&params),
            "  x       0.1\n  solver  cg\n  v       [1, 2, 3, 4, 5, 6, ... 7 values]\n"
        );
    }
}
