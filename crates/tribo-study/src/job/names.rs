//! Whether every parameter reaches the evaluation, and under a name of its own.
//!
//! Names of parameters are free, those of variables in the environment are not: `x` and `X` would be one. And a parameter
//! that no deck, command or script uses is searched in vain, which nobody notices. Programs may read all parameters from
//! their file, so this is only said where others are passed one by one and nothing reads the file: in a deck, or as
//! `$TRIBO_X_...` in the command or in a script that it names.

use super::deck;
use super::params::{Params, Value, variable};
use crate::config::{Command, Evaluation, ParamsFormat};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Larger files are not scripts.
const LARGEST: u64 = 1 << 20;
/// Files of folders that are looked at, at most.
const MOST_FILES: usize = 200;
/// What gives a program all parameters at once.
const ALL: [&str; 4] = ["{params}", "params.json", "params.in", "TRIBO_PARAMS"];

/// What is wrong with a parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NameFault {
    /// Its name.
    pub parameter: String,
    /// What is wrong, and what to do.
    pub message: String,
}

/// Whether the names of the parameters can be told apart wherever the evaluation meets them, and all of them are used, but
/// for those that are meant to be `unused`. The point is any one of the space; `study` is the study folder.
pub fn check_names(
    evaluation: &Evaluation,
    params: &Params,
    unused: &BTreeSet<String>,
    study: &Path,
) -> Result<(), NameFault> {
    if params.are_in_environment() {
        apart(params.scalars().map(|name| (variable(name), name)), "the variable", "in its environment")?;
    }
    if evaluation.params != ParamsFormat::Json {
        let labels = params.labels();
        apart(labels.iter().map(|(label, name)| (label.clone(), *name)), "", "in Dakota's parameters file")?;
    }
    used(evaluation, params, unused, study)
}

/// Whether nothing is called the same there.
fn apart<'a>(
    called: impl Iterator<Item = (String, &'a str)>,
    what: &str,
    place: &str,
) -> Result<(), NameFault> {
    let mut taken: BTreeMap<String, &str> = BTreeMap::new();
    for (called, name) in called {
        if let Some(other) = taken.insert(called.clone(), name) {
            let separator = if what.is_empty() { "" } else { " " };
            let message = format!(
                "parameters `{other}` and `{name}` would both be {what}{separator}{called} {place}; rename one of them"
            );
            return Err(NameFault { parameter: name.to_owned(), message });
        }
    }
    Ok(())
}

fn used(
    evaluation: &Evaluation,
    params: &Params,
    unused: &BTreeSet<String>,
    study: &Path,
) -> Result<(), NameFault> {
    let mut in_decks = BTreeSet::new();
    for template in &evaluation.decks {
        // One that cannot be read is complained about elsewhere.
        let text = fs::read(study.join(&template.template)).unwrap_or_default();
        in_decks.extend(deck::names(template, &text));
    }
    let texts = texts(evaluation, study);
    let says = |words: &str| texts.iter().any(|text| text.contains(words));
    let variables: BTreeSet<String> = texts.iter().flat_map(|text| variables(text)).collect();
    let known: BTreeSet<String> = params.scalars().map(variable).collect();
    // A variable that is none of them is put together by a script.
    let reads_all = evaluation.params != ParamsFormat::Json
        || ALL.iter().any(|all| says(all))
        || variables.iter().any(|variable| !known.contains(variable));
    if reads_all || (in_decks.is_empty() && variables.is_empty()) {
        return Ok(());
    }
    let is_used = |name: &str| in_decks.contains(name) || variables.contains(&variable(name));
    let Some(name) = params.names().find(|name| !is_used(name) && !unused.contains(*name)) else {
        return Ok(());
    };
    let decks = if evaluation.decks.is_empty() { "" } else { "no deck names it, and " };
    let reads = match params.get(name) {
        Some(Value::Vector(_)) => String::new(),
        _ => format!("{} or ", variable(name)),
    };
    let message = format!(
        "nothing uses parameter `{name}`: {decks}neither the command nor a file that it names reads {reads}params.json; use it, remove it, or write `unused = true` into its section"
    );
    Err(NameFault { parameter: name.to_owned(), message })
}

/// The command, and the files of the study folder that it names or that are put beside it.
fn texts(evaluation: &Evaluation, study: &Path) -> Vec<String> {
    let words: Vec<&str> = match &evaluation.command {
        Command::Shell(line) => vec![line],
        Command::Argv(words) => words.iter().map(String::as_str).collect(),
    };
    let split = |c: char| c.is_whitespace() || "'\"`;|&()<>=".contains(c);
    let named = words.iter().flat_map(|word| word.split(split)).filter(|word| !word.is_empty());
    let inside = |word: &str| {
        let word = ["$TRIBO_STUDY_DIR/", "${TRIBO_STUDY_DIR}/"]
            .iter()
            .find_map(|at| word.strip_prefix(at))
            .unwrap_or(word);
        study.join(word)
    };
    let mut paths: Vec<PathBuf> = named.map(inside).filter(|path| path.is_file()).collect();
    paths.extend(evaluation.copy.iter().chain(&evaluation.link).map(|path| study.join(path)));
    let mut texts: Vec<String> = words.into_iter().map(str::to_owned).collect();
    let mut n_files = 0;
    while let Some(path) = paths.pop().filter(|_| n_files < MOST_FILES) {
        n_files += 1;
        match fs::metadata(&path) {
            Ok(found) if found.is_file() && found.len() <= LARGEST => {
                texts.extend(fs::read(&path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()));
            }
            Ok(found) if found.is_dir() => {
                let entries = fs::read_dir(&path).into_iter().flatten().flatten();
                paths.extend(entries.map(|entry| entry.path()).filter(|path| !path.is_symlink()));
            }
            _ => {}
        }
    }
    texts
}

/// The variables of parameters that a text mentions.
pub(super) fn variables(text: &str) -> impl Iterator<Item = String> {
    text.match_indices("TRIBO_X_").map(|(start, _)| {
        let name = text[start..].chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_');
        name.collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Deck;

    fn evaluation(command: &str) -> Evaluation {
        Evaluation::of(Command::Shell(command.to_owned()))
    }

    fn params(json: &str) -> Params {
        Params::read(json.as_bytes()).unwrap()
    }

    #[track_caller]
    fn complains(evaluation: &Evaluation, json: &str, study: &Path, part: &str) {
        let checked = check_names(evaluation, &params(json), &BTreeSet::from(["spare".to_owned()]), study);
        let message = checked.err().map(|fault| fault.message).unwrap_or_default();
        match part {
            "" => assert_eq!(message, ""),
            part => assert!(message.contains(part), "{json}: {message:?} lacks {part:?}"),
        }
    }

    #[test]
    fn names_that_become_one_are_refused() {
        let nowhere = Path::new("nowhere");
        let file = evaluation("solve params.json");
        for (json, part) in [
            (r#"{"x": 1, "X": 2}"#, "`x` and `X` would both be the variable TRIBO_X_X in its environment"),
            (r#"{"wall thickness": 1, "wall-thickness": 2}"#, "TRIBO_X_WALL_THICKNESS"),
            (r#"{"α": 1, "β": 2}"#, "`α` and `β`"),
            (r#"{"x": [1], "X": 2}"#, ""),
            (r#"{"x": 1, "y": 2}"#, ""),
        ] {
            complains(&file, json, nowhere, part);
        }
        let dakota = Evaluation { params: ParamsFormat::Dakota, ..file };
        complains(
            &dakota,
            r#"{"x": [1, 2], "x_1": 2}"#,
            nowhere,
            "`x` and `x_1` would both be x_1 in Dakota's",
        );
        complains(&dakota, r#"{"x": [1], "x_1": 2}"#, nowhere, "");
    }

    #[test]
    fn a_parameter_that_nothing_uses_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        write("wing.in", "mach {{mach}} {{x[3] | %5.2f}}\n");
        write("all.py", "json.load(open('params.json'))");
        write("some.sh", "echo $TRIBO_X_ANGLE");
        write("made.sh", "eval echo \\$TRIBO_X_$name");
        let deck = || Deck {
            template: "wing.in".into(),
            to: "wing.in".into(),
            open: "{{".into(),
            close: "}}".into(),
        };
        let with_deck = |command: &str| Evaluation { decks: vec![deck()], ..evaluation(command) };
        let json = r#"{"mach": 1, "x": [1, 2, 3, 4], "angle": 2, "spare": 3}"#;
        for (evaluation, part) in [
            (with_deck("solve wing.in"), "nothing uses parameter `angle`: no deck names it, and neither"),
            (with_deck("solve wing.in --angle $TRIBO_X_ANGLE"), ""),
            (with_deck("python3 all.py wing.in"), ""),
            (with_deck("sh ${TRIBO_STUDY_DIR}/some.sh wing.in"), ""),
            (with_deck("sh made.sh"), ""),
            (with_deck("solve wing.in {params}"), ""),
            (Evaluation { copy: vec!["some.sh".into()], ..with_deck("solve wing.in") }, ""),
            (Evaluation { link: vec![".".into()], ..with_deck("solve wing.in") }, ""),
            (evaluation("solve -a $TRIBO_X_ANGLE"), "nothing uses parameter `mach`: neither"),
            // Whoever passes none by itself has another way.
            (evaluation("solve"), ""),
        ] {
            complains(&evaluation, json, folder.path(), part);
        }
        let vector = r#"{"mach": 1, "x": 1, "v": [1, 2]}"#;
        complains(&with_deck("solve"), vector, folder.path(), "names reads params.json; use it");
    }
}
