//! What a study has left running: processes that carry its marks in their environment, read from `/proc`.
//!
//! A process that wipes its environment is not found; the simulators here do not.

use crate::program::COOKIE;
use std::path::Path;
use std::time::{Duration, Instant};
use tribo_study::tag::{StudyId, Tag};

/// Processes of the study in `folder`, with their command lines: drivers, jobs, commands and what those started. An
/// environment that cannot be read belongs to somebody else, or to a process that has just ended.
pub fn of_study(folder: &Path, study: Option<&StudyId>) -> Vec<String> {
    let cookie = format!("{COOKIE}={}", folder.display());
    let tag = study.map(|study| format!("TRIBO_TAG={}", Tag::prefix(study)));
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let marked = |pid: &u32| {
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        let mut variables = environment.split(|&byte| byte == 0);
        variables.any(|variable| {
            variable == cookie.as_bytes()
                || tag.as_ref().is_some_and(|tag| variable.starts_with(tag.as_bytes()))
        })
    };
    pids.filter(|pid| *pid != std::process::id()).filter(marked).map(describe).collect()
}

/// As [`of_study`], but waits until there are none, for `patience` at most: a job that has given its answer needs a moment
/// to leave.
pub fn left_after(patience: Duration, folder: &Path, study: Option<&StudyId>) -> Vec<String> {
    let deadline = Instant::now() + patience;
    loop {
        let left = of_study(folder, study);
        if left.is_empty() || Instant::now() >= deadline {
            return left;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn describe(pid: u32) -> String {
    let words = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let words = String::from_utf8_lossy(&words).replace('\0', " ");
    format!("{pid} ({})", words.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn processes_are_found_by_folder_and_by_tag() {
        let folder = tempfile::tempdir().unwrap();
        let study = StudyId::from_bits(u64::from(std::process::id()) << 20);
        let tag = Tag::array(&study, 1);
        let mut marks = [(COOKIE, folder.path().to_str().unwrap()), ("TRIBO_TAG", tag.as_str())]
            .map(|(name, value)| Command::new("sleep").arg("600").env(name, value).spawn().unwrap());
        // A parent goes on a moment before its child's new environment can be read.
        let deadline = Instant::now() + Duration::from_secs(10);
        let mut found = vec![];
        while found.len() < marks.len() && Instant::now() < deadline {
            found = of_study(folder.path(), Some(&study));
        }
        found.sort();
        let mut expected: Vec<String> =
            marks.iter().map(|child| format!("{} (sleep 600)", child.id())).collect();
        expected.sort();
        for child in &mut marks {
            child.kill().unwrap();
            child.wait().unwrap();
        }
        assert_eq!(found, expected);
        assert!(left_after(Duration::ZERO, folder.path(), Some(&study)).is_empty());
    }
}
