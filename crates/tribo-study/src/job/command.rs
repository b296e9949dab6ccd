//! The command of an evaluation, made ready to start: placeholders filled in, files of the study folder found.
//!
//! The command runs in the attempt's folder, but people write it as seen from the study file. So a word that names a file
//! or folder of the study folder becomes an absolute path, unless the attempt's folder has a file of that name, such as a
//! rendered deck. A program that is missing or cannot be executed is found out here, where it can be explained.

use crate::config::Command as Line;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What placeholders stand for, and where words are looked up.
pub(super) struct Places<'a> {
    pub(super) params: &'a Path,
    pub(super) result: &'a Path,
    /// The folder in which the command works: the attempt's, or one on a disk of the machine.
    pub(super) dir: &'a Path,
    /// The study folder.
    pub(super) study: &'a Path,
    pub(super) trial: u64,
    pub(super) attempt: u32,
    /// Folders to look for programs in, as PATH has them.
    pub(super) search: OsString,
}

/// The program with its arguments. The error says what is missing and what to do.
pub(super) fn build(line: &Line, places: &Places<'_>) -> Result<Command, String> {
    match line {
        Line::Shell(line) => {
            let mut command = Command::new("sh");
            command.arg("-c").arg(fill(line, places, shell_quoted));
            Ok(command)
        }
        Line::Argv(words) => {
            let (program, arguments) =
                words.split_first().ok_or("the command of the study file is empty; name a program")?;
            let mut command = Command::new(find_program(&fill(program, places, str::to_owned), places)?);
            command.args(arguments.iter().map(|word| in_study(fill(word, places, str::to_owned), places)));
            Ok(command)
        }
    }
}

/// Why a program that is there did not start.
pub(super) fn explain(line: &Line, error: &std::io::Error) -> String {
    let what = match line {
        Line::Shell(_) => "sh".to_owned(),
        Line::Argv(words) => words.first().cloned().unwrap_or_default(),
    };
    match error.kind() {
        std::io::ErrorKind::NotFound => {
            format!(
                "{what} cannot be started: the interpreter named in its first line is missing on this machine"
            )
        }
        // ENOEXEC
        _ if error.raw_os_error() == Some(8) => {
            format!(
                "{what} cannot be started: it is no program for this machine, or a script without a first line such as #!/bin/sh"
            )
        }
        _ => format!("{what} cannot be started: {error}"),
    }
}

/// Replaces placeholders in one pass; other braces are left alone.
fn fill(word: &str, places: &Places<'_>, quote: impl Fn(&str) -> String) -> String {
    let mut filled = String::with_capacity(word.len());
    let mut rest = word;
    while let Some(start) = rest.find('{') {
        filled.push_str(&rest[..start]);
        rest = &rest[start..];
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let known = [
            ("{params}", text(places.params)),
            ("{result}", text(places.result)),
            ("{dir}", text(places.dir)),
            ("{trial}", places.trial.to_string()),
            ("{attempt}", places.attempt.to_string()),
        ];
        match known.iter().find(|(name, _)| rest.starts_with(name)) {
            Some((name, value)) => {
                filled.push_str(&quote(value));
                rest = &rest[name.len()..];
            }
            None => {
                filled.push('{');
                rest = &rest[1..];
            }
        }
    }
    filled + rest
}

/// As one word of the shell. Common paths need no quotes, so they can also stand within quotes.
fn shell_quoted(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "/._-+,:@%=".contains(c);
    match text.chars().all(plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

fn in_study(word: String, places: &Places<'_>) -> String {
    let here = places.study.join(&word);
    match word.is_empty() || places.dir.join(&word).exists() || !here.exists() {
        true => word,
        false => here.to_string_lossy().into_owned(),
    }
}

fn find_program(word: &str, places: &Places<'_>) -> Result<PathBuf, String> {
    let found =
        [places.dir, places.study].map(|folder| folder.join(word)).into_iter().find(|path| path.is_file());
    let path = match found {
        Some(path) => path,
        None if word.contains('/') => {
            return Err(format!(
                "the program {word} does not exist (looked in {}); correct the command of the study file",
                places.study.display()
            ));
        }
        None => {
            let mut candidates = std::env::split_paths(&places.search).map(|folder| folder.join(word));
            candidates.find(|path| path.is_file() && executable(path)).ok_or_else(|| {
                format!(
                    "the program {word} is neither in the study folder {} nor on PATH ({}); correct the command, or make the program known on this machine (module load, setup)",
                    places.study.display(),
                    places.search.to_string_lossy()
                )
            })?
        }
    };
    match executable(&path) {
        true => Ok(path),
        false => Err(format!(
            "{0} is not executable; run chmod +x {0}, or put its interpreter in front, e.g. python3",
            path.display()
        )),
    }
}

fn executable(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| metadata.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Fixture(tempfile::TempDir);

    impl Fixture {
        fn new() -> Fixture {
            let folder = tempfile::tempdir().unwrap();
            fs::create_dir(folder.path().join("attempt")).unwrap();
            for (name, mode) in
                [("sim.py", 0o644), ("solve", 0o755), ("deck.in", 0o644), ("attempt/deck.in", 0o644)]
            {
                fs::write(folder.path().join(name), "").unwrap();
                fs::set_permissions(folder.path().join(name), fs::Permissions::from_mode(mode)).unwrap();
            }
            Fixture(folder)
        }

        fn words(&self, line: Line) -> Result<Vec<String>, String> {
            let (study, dir) = (self.0.path(), self.0.path().join("attempt"));
            let (params, result) = (dir.join("params.json"), dir.join("result.json"));
            let places = Places {
                params: &params,
                result: &result,
                dir: &dir,
                study,
                trial: 12,
                attempt: 2,
                search: std::env::var_os("PATH").unwrap(),
            };
            let command = build(&line, &places)?;
            let words = std::iter::once(command.get_program()).chain(command.get_args());
            let root = study.to_string_lossy().into_owned();
            Ok(words.map(|word| word.to_string_lossy().replace(&root, "STUDY")).collect())
        }

        fn argv(&self, words: &[&str]) -> Result<Vec<String>, String> {
            self.words(Line::Argv(words.iter().map(|word| word.to_string()).collect()))
        }
    }

    #[test]
    fn words_and_placeholders() {
        let fixture = Fixture::new();
        let words = fixture.argv(&[
            "solve",
            "sim.py",
            "deck.in",
            "{params}",
            "--out={result}",
            "t{trial}-{attempt}",
            "{x}{",
            "",
        ]);
        let expected = [
            "STUDY/solve",
            "STUDY/sim.py",
            "deck.in",
            "STUDY/attempt/params.json",
            "--out=STUDY/attempt/result.json",
            "t12-2",
            "{x}{",
            "",
        ];
        assert_eq!(words.unwrap(), expected);
        assert!(fixture.argv(&["sh", "sim.py"]).unwrap()[0].ends_with("/sh"));
    }

    #[test]
    fn shell_lines_get_one_word_for_a_path() {
        let words =
            Fixture::new().words(Line::Shell("cat {params} > x; echo ${HOME} {trial}".into())).unwrap();
        assert_eq!(words, ["sh", "-c", "cat STUDY/attempt/params.json > x; echo ${HOME} 12"]);
        assert_eq!(shell_quoted("/a b/it's"), r"'/a b/it'\''s'");
    }

    #[test]
    fn what_cannot_be_started_is_explained() {
        let fixture = Fixture::new();
        for (words, part) in [
            (&["no-such-program"][..], "nor on PATH"),
            (&["./missing"], "does not exist"),
            (&["sim.py"], "chmod +x"),
            (&[], "is empty"),
        ] {
            let message = fixture.argv(words).unwrap_err();
            assert!(message.contains(part), "{message}");
        }
    }
}
