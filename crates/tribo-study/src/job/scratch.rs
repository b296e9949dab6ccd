//! A folder on a disk of the machine itself, in which the command works: files go in before it, and what it leaves comes back
//! to the attempt's folder after it.
//!
//! The folder is named after the attempt and is gone with the job, unless the job is killed. What the command made or
//! changed comes back, all of it or what the study file names, and answers in any case. A job that is told to stop has
//! seconds to say so, and brings nothing back.

use super::extract::answer_files;
use super::prepare::RESERVED;
use super::{Kind, PARAMS_FILE, Spec};
use crate::config::Evaluation;
use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

/// How a file was: its size and when it was last changed.
type State = (u64, i64, i64);

/// The folder.
#[derive(Debug)]
pub(super) struct Scratch {
    folder: PathBuf,
    /// Files that were put there, as they were then.
    given: BTreeMap<PathBuf, State>,
}

impl Scratch {
    /// Makes the folder that the study file asks for; None if it asks for none.
    pub(super) fn make(spec: &Spec, attempt: &Path) -> Result<Option<Scratch>, String> {
        let Some(asked) = &spec.evaluation.scratch else { return Ok(None) };
        let place = PathBuf::from(expanded(asked, |name| std::env::var(name).ok())?);
        if !place.is_absolute() {
            return Err(format!("`scratch` is {}, which is not a whole path", place.display()));
        }
        let folder = place.join(format!("tribo-{}", spec.tag));
        let failed = |error: io::Error| {
            format!("the scratch folder {} cannot be made on this machine: {error}", folder.display())
        };
        // Left by a run of this job that was killed.
        match fs::remove_dir_all(&folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
            _ => {}
        }
        fs::DirBuilder::new().mode(0o700).create(&folder).map_err(failed)?;
        let scratch = Scratch { folder, given: BTreeMap::new() };
        fs::copy(attempt.join(PARAMS_FILE), scratch.folder.join(PARAMS_FILE))
            .map_err(|error| format!("{PARAMS_FILE} cannot be copied to the scratch folder: {error}"))?;
        Ok(Some(scratch))
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The folder is ready: what is there now was given to the command.
    pub(super) fn filled(&mut self) -> Result<(), String> {
        self.given = files(&self.folder).map_err(|error| self.unread(&error))?;
        Ok(())
    }

    /// Copies what the command left to the attempt's folder.
    pub(super) fn bring_back(&self, evaluation: &Evaluation, attempt: &Path) -> Result<(), String> {
        let wanted = |path: &Path| {
            let fetched = evaluation.fetch.is_empty() || evaluation.fetch.iter().any(|f| path.starts_with(f));
            // The job's own files are in the attempt's folder already.
            let own = RESERVED.iter().any(|name| Path::new(name) == path);
            (fetched && !own) || answer_files(evaluation).any(|answer| Path::new(answer) == path)
        };
        let left = files(&self.folder).map_err(|error| self.unread(&error))?;
        for (path, _) in left.iter().filter(|(path, state)| self.given.get(*path) != Some(state)) {
            if !wanted(path) {
                continue;
            }
            let (from, to) = (self.folder.join(path), attempt.join(path));
            let made = to.parent().map_or(Ok(()), fs::create_dir_all);
            made.and_then(|()| fs::copy(&from, &to)).map_err(|error| {
                format!("{} cannot be copied back to {}: {error}", from.display(), to.display())
            })?;
        }
        Ok(())
    }

    fn unread(&self, error: &io::Error) -> String {
        format!("the scratch folder {} cannot be read: {error}", self.folder.display())
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed is on a disk that the machine clears itself.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Whether a job that was stopped like this has no time to bring anything back.
pub(super) fn is_in_a_hurry(kind: Kind) -> bool {
    matches!(kind, Kind::Stopped | Kind::Cancelled | Kind::Walltime)
}

/// All files below a folder, by their paths in it, and links to files. Links to folders are left alone.
fn files(folder: &Path) -> io::Result<BTreeMap<PathBuf, State>> {
    let (mut found, mut folders) = (BTreeMap::new(), vec![PathBuf::new()]);
    while let Some(inside) = folders.pop() {
        for entry in fs::read_dir(folder.join(&inside))? {
            let entry = entry?;
            let path = inside.join(entry.file_name());
            let state = |metadata: &Metadata| (metadata.len(), metadata.mtime(), metadata.mtime_nsec());
            if entry.file_type()?.is_dir() {
                folders.push(path);
            } else if let Ok(metadata) = fs::metadata(entry.path())
                && metadata.is_file()
            {
                found.insert(path, state(&metadata));
            }
        }
    }
    Ok(found)
}

/// A path with the variables of the environment in it, `$NAME` or `${NAME}`. One that is not set is an error: what is left
/// would be a path nobody meant.
fn expanded(text: &str, variable: impl Fn(&str) -> Option<String>) -> Result<String, String> {
    let mut path = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        path.push_str(before);
        let bare = || after.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(after.len());
        let (name, left) = match after.strip_prefix('{').and_then(|inner| inner.split_once('}')) {
            Some((name, left)) => (name, left),
            None => after.split_at(bare()),
        };
        match variable(name).filter(|value| !value.is_empty()) {
            Some(value) => path.push_str(&value),
            None => return Err(format!("`scratch` is {text}, and ${name} is not set on this machine")),
        }
        rest = left;
    }
    Ok(path + rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_filled_in() {
        let variable = |name: &str| match name {
            "TMPDIR" => Some("/local/7".to_owned()),
            "USER" => Some("me".to_owned()),
            "EMPTY" => Some(String::new()),
            _ => None,
        };
        let path = |text| expanded(text, variable);
        assert_eq!(path("/scratch").unwrap(), "/scratch");
        assert_eq!(path("$TMPDIR").unwrap(), "/local/7");
        assert_eq!(path("/fast/$USER/${TMPDIR}x").unwrap(), "/fast/me//local/7x");
        for (text, name) in [("$NONE/x", "$NONE"), ("/x/$EMPTY", "$EMPTY"), ("/x/$", "$ is")] {
            let error = path(text).unwrap_err();
            assert!(error.contains(name) && error.contains(text), "{error}");
        }
    }

    #[test]
    fn files_are_found_in_folders_and_links_to_folders_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("out/deep")).unwrap();
        fs::write(folder.path().join("out/deep/field"), "1").unwrap();
        fs::write(folder.path().join("log"), "").unwrap();
        std::os::unix::fs::symlink("/proc", folder.path().join("all")).unwrap();
        let found: Vec<_> = files(folder.path()).unwrap().into_keys().collect();
        assert_eq!(found, [PathBuf::from("log"), PathBuf::from("out/deep/field")]);
    }
}
