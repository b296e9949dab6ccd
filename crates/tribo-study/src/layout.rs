//! Where things are: the study file, its store beside it, and what is inside the store.
//!
//! ```text
//! wing.toml                    the study file
//! wing.html                    the report, written when a run is over
//! wing.tribo/                  the store, private to its owner (mode 0700)
//!   journal                    the only truth; append-only, one line a record
//!   lease/000007               one file per epoch; the newest names the driver
//!   trials/000123/a1/          one attempt: job.json, params.json, claim, started.json, stdout, stderr, result.json, and
//!                              whatever the command writes: it is the command's working directory
//!   pool/                      attempts that workers take, and the workers; see `pool`
//!   arrays/TAG.json            which attempts the elements of a job array are
//!   spool/tmp, done, seen      answers under way, to be taken in, taken in
//!   waiting.json               why jobs waited when the driver last looked
//!   requests/                  what other commands ask of a running driver
//!   journal.damaged-1          what `tribo repair` has replaced
//!   set-aside/                 attempts that no trial could be found for
//! ```
//! `study.toml` in a folder is what a command finds when it is given the folder. Paths inside the store are relative in
//! all records, so a study can be moved.

use crate::Error;
use crate::pool::Pool;
use crate::tag::{AttemptId, Tag};
use std::path::{Path, PathBuf};

/// The file a command looks for in a folder.
pub const STUDY_FILE: &str = "study.toml";

/// Study files that are named where another one was looked for.
const SHOWN: usize = 3;

/// The paths of one study.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    file: PathBuf,
    store: PathBuf,
}

impl Layout {
    /// The layout for what a user typed: a study file, a store, or a folder with `study.toml`.
    pub fn of(path: &Path) -> Layout {
        let has_extension = |extension: &str| path.extension().is_some_and(|e| e == extension);
        let file = if has_extension("tribo") {
            path.with_extension("toml")
        } else if path.is_dir() {
            path.join(STUDY_FILE)
        } else {
            path.to_owned()
        };
        let store = file.with_extension("tribo");
        Layout { file, store }
    }

    /// The study file.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// The folder of the study file: commands and decks are named relative to it.
    pub fn folder(&self) -> &Path {
        match self.file.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        }
    }

    /// The report that a run writes at its end.
    pub fn report(&self) -> PathBuf {
        self.file.with_extension("html")
    }

    /// The store.
    pub fn store(&self) -> &Path {
        &self.store
    }

    /// The journal.
    pub fn journal(&self) -> PathBuf {
        self.store.join("journal")
    }

    /// The folder of lease files.
    pub fn lease(&self) -> PathBuf {
        self.store.join("lease")
    }

    /// The folder of an attempt.
    pub fn attempt(&self, id: AttemptId) -> PathBuf {
        if id.is_pilot() {
            return Pool::of(&self.store).worker(&Pool::pilot(id.trial));
        }
        self.trial(id.trial).join(format!("a{}", id.attempt))
    }

    /// The folder of a trial.
    pub fn trial(&self, trial: u64) -> PathBuf {
        self.store.join("trials").join(format!("{trial:06}"))
    }

    /// The list of the elements of a job array.
    pub fn array(&self, tag: &Tag) -> PathBuf {
        self.store.join("arrays").join(format!("{tag}.json"))
    }

    /// A folder of the spool: `tmp`, `done` or `seen`.
    pub fn spool(&self, part: &str) -> PathBuf {
        self.store.join("spool").join(part)
    }

    /// Requests to a running driver.
    pub fn requests(&self) -> PathBuf {
        self.store.join("requests")
    }

    /// What to say where no study is: what was looked for, and what to do.
    pub(crate) fn missing(&self) -> Error {
        let (file, store) = (shell_word(&self.file), self.store.display());
        if self.file.is_file() {
            let what = format!(
                "this study has not begun: there is no store {store}; `tribo run {file}` begins it, `tribo ask {file}` if it is evaluated by hand"
            );
            return Error::Missing { path: self.file.clone(), what };
        }
        if self.journal().is_file() {
            let what = format!(
                "the study file is missing; its store {store} has a copy, `tribo repair {file}` writes it"
            );
            return Error::Missing { path: self.file.clone(), what };
        }
        let others = self.other_studies();
        if let Some(first) = others.first() {
            let names: Vec<String> = others.iter().map(|path| path.display().to_string()).collect();
            let what = format!(
                "there is no such study file, but there is {}; name it, as in `tribo status {}`",
                names.join(" and "),
                shell_word(first)
            );
            return Error::Missing { path: self.file.clone(), what };
        }
        let kind = if self.file.extension().is_some() { "study file" } else { "study file or folder" };
        let what = format!(
            "there is no study here: neither this {kind} nor its store {store} exists; name the file or folder of your study, or make one with `tribo init{}`",
            self.folder_to_make()
        );
        Error::Missing { path: self.file.clone(), what }
    }

    /// The study as a later command would name it, with a space before it: nothing if it is in the current folder.
    pub fn named(&self) -> String {
        let here = [Path::new(STUDY_FILE), Path::new("./study.toml")].contains(&self.file.as_path());
        if here { String::new() } else { format!(" {}", shell_word(&self.file)) }
    }

    /// Other study files in the folder, a few.
    fn other_studies(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.folder()).into_iter().flatten().flatten();
        let is_study = |path: &PathBuf| {
            path.extension().is_some_and(|extension| extension == "toml")
                && std::fs::read_to_string(path).is_ok_and(|text| text.contains("study_version"))
        };
        let mut others: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(is_study).collect();
        others.sort();
        others.truncate(SHOWN);
        others
    }

    /// What `tribo init` is to be given, with a space before it; nothing where that is the current folder.
    fn folder_to_make(&self) -> String {
        let folder = match self.file.extension() {
            None => &self.file,
            Some(_) => self.folder(),
        };
        if folder == Path::new(".") { String::new() } else { format!(" {}", shell_word(folder)) }
    }
}

/// A path as it is typed in a shell.
pub fn shell_word(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |c: char| c.is_alphanumeric() || "/._-+,:@%=".contains(c);
    match !text.is_empty() && text.chars().all(plain) {
        true => text,
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_stores_and_folders_name_the_same_study() {
        let folder = tempfile::tempdir().unwrap();
        let by_folder = Layout::of(folder.path());
        assert_eq!(by_folder.file(), folder.path().join("study.toml"));
        assert_eq!(by_folder, Layout::of(&folder.path().join("study.toml")));
        assert_eq!(by_folder, Layout::of(&folder.path().join("study.tribo")));
        assert_eq!(Layout::of(Path::new("wing.toml")).folder(), Path::new("."));
        let attempt = AttemptId { trial: 7, attempt: 2 };
        assert!(by_folder.attempt(attempt).ends_with("study.tribo/trials/000007/a2"));
    }

    #[test]
    fn a_study_that_is_not_there_is_told_what_was_looked_for_and_what_to_do() {
        let folder = tempfile::tempdir().unwrap();
        let said = |path: &Path| Layout::of(path).missing().to_string();
        let at = |name: &str| folder.path().join(name);
        let place = folder.path().display();
        assert_eq!(
            said(&at("wing")),
            format!(
                "{place}/wing: there is no study here: neither this study file or folder nor its store {place}/wing.tribo exists; \
                 name the file or folder of your study, or make one with `tribo init {place}/wing`"
            )
        );
        for path in [folder.path().to_owned(), at("study.toml"), at("study.tribo")] {
            let said = said(&path);
            assert!(said.starts_with(&format!("{place}/study.toml: there is no study here")), "{said}");
            assert!(said.ends_with(&format!("`tribo init {place}`")), "{said}");
        }
        assert!(said(Path::new("./no-such.toml")).ends_with("`tribo init`"));
        std::fs::write(at("other.toml"), "[package]").unwrap();
        std::fs::write(at("my wing.toml"), "study_version = 1").unwrap();
        assert_eq!(
            said(folder.path()),
            format!(
                "{place}/study.toml: there is no such study file, but there is {place}/my wing.toml; name it, as in `tribo status '{place}/my wing.toml'`"
            )
        );
        std::fs::write(at("study.toml"), "").unwrap();
        let said = said(folder.path());
        assert!(
            said.contains(&format!("no store {place}/study.tribo; `tribo run {place}/study.toml`")),
            "{said}"
        );
    }
}
