//! Whatever the bytes, there is a study or a complaint with a place in the file; never a panic.

use super::{COMPLETE, SMALLEST, parse};
use crate::Error;
use crate::config::Config;
use proptest::prelude::*;

/// A study, or a complaint inside the text.
fn is_decided(text: &str) -> Result<(), TestCaseError> {
    if let Err(error) = parse(text) {
        let lines: Vec<&str> = text.split('\n').collect();
        prop_assert!((1..=lines.len()).contains(&error.line), "{error}\n{text}");
        // One beyond the last character is the end of the line.
        let length = lines[error.line - 1].chars().count();
        prop_assert!((1..=length + 1).contains(&error.column), "{error}\n{text}");
        prop_assert!(!error.message.is_empty());
    }
    Ok(())
}

/// One change of a text at a character, from a few numbers.
fn mutate(text: &str, (what, at, with): (u8, usize, usize)) -> String {
    const PIECES: [&str; 24] = [
        "[",
        "]",
        "[[",
        "{",
        "}",
        "\"",
        "'",
        "=",
        ",",
        ".",
        "-",
        "#",
        "\n",
        "0",
        "9",
        "1e400",
        "nan",
        "true",
        "\u{0}",
        "é",
        "[run]\n",
        "[[parameter]]\n",
        "name = \"x\"\n",
        "99999999999999999999",
    ];
    let characters: Vec<char> = text.chars().collect();
    let at = at % (characters.len() + 1);
    let (before, after) = characters.split_at(at);
    let before: String = before.iter().collect();
    let skip = |n: usize| after.iter().skip(n).collect::<String>();
    let lines: Vec<&str> = if text.is_empty() { vec![""] } else { text.split_inclusive('\n').collect() };
    let (line, other) = (at % lines.len(), with % lines.len());
    match what % 6 {
        0 => format!("{before}{}", skip(1 + with % 8)),
        1 => format!("{before}{}{}", PIECES[with % PIECES.len()], skip(0)),
        2 => format!("{before}{}{}", PIECES[with % PIECES.len()], skip(1)),
        3 => before,
        // A line is doubled, or takes the place of another.
        4 => [&lines[..line], &lines[line..=line], &lines[line..]].concat().concat(),
        _ => [&lines[..line], &lines[other..=other], &lines[line + 1..]].concat().concat(),
    }
}

proptest! {
    #[test]
    fn random_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        is_decided(&String::from_utf8_lossy(&bytes))?;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("study.toml");
        std::fs::write(&path, &bytes).unwrap();
        if let Err(error) = Config::read(&path) {
            prop_assert!(matches!(error, Error::Config(_)), "{error}");
        }
    }

    #[test]
    fn text_that_looks_like_toml(text in "[\\[\\]{}=\"'.,#a-z0-9_ \n-]{0,120}") {
        is_decided(&text)?;
    }

    #[test]
    fn mutations_of_a_good_file(
        complete in any::<bool>(),
        changes in proptest::collection::vec((any::<u8>(), any::<usize>(), any::<usize>()), 1..4),
    ) {
        let start = if complete { COMPLETE } else { SMALLEST };
        let text = changes.into_iter().fold(start.to_owned(), |text, change| mutate(&text, change));
        is_decided(&text)?;
    }
}
