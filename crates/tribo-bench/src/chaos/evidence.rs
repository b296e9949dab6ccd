//! What is on disk when a study is over: the records of its journal, the answers of its jobs, the simulator's own notes.
//!
//! The journal is taken apart here, line by line, and not read with the store: what is checked must not be what checks.

use super::study::executions_log;
use crate::seeds::Failure;
use std::fs;
use std::path::Path;
use tribo_study::job::{ANSWER_FILE, Answer};
use tribo_study::layout::Layout;
use tribo_study::store::format::{self, Format};
use tribo_study::store::record::{Entry, Record};
use tribo_study::tag::{AttemptId, StudyId};

/// All that a finished study leaves.
#[derive(Debug, Clone)]
pub(super) struct Evidence {
    /// Records of the journal, in order.
    pub(super) entries: Vec<Entry>,
    /// Answers in the folders of attempts, in their order.
    pub(super) answers: Vec<Answer>,
    /// Executions of the simulator, in the order they began.
    pub(super) executions: Vec<AttemptId>,
}

impl Evidence {
    /// Reads it. An error if something is there that cannot be read.
    pub(super) fn collect(folder: &Path) -> Result<Evidence, Failure> {
        let layout = Layout::of(folder);
        Ok(Evidence {
            entries: entries(&layout)?,
            answers: answers(&layout)?,
            executions: executions(&fs::read_to_string(executions_log(folder))?)?,
        })
    }

    /// The study's id.
    pub(super) fn study(&self) -> Option<&StudyId> {
        self.entries.iter().find_map(|entry| match &entry.record {
            Record::Created { study, .. } => Some(study),
            _ => None,
        })
    }
}

fn entries(layout: &Layout) -> Result<Vec<Entry>, Failure> {
    let text = fs::read_to_string(layout.journal())?;
    let mut entries = vec![];
    for (index, line) in text.lines().enumerate() {
        // Checksum, length, JSON.
        let json = line.splitn(3, ' ').nth(2).unwrap_or_default();
        let entry = format::decode(json.as_bytes(), Some(Format::NEWEST));
        entries.push(entry.map_err(|error| format!("line {} of the journal: {error:?}", index + 1))?);
    }
    Ok(entries)
}

fn answers(layout: &Layout) -> Result<Vec<Answer>, Failure> {
    let mut answers: Vec<Answer> = vec![];
    for trial in fs::read_dir(layout.store().join("trials"))? {
        for attempt in fs::read_dir(trial?.path())? {
            let path = attempt?.path().join(ANSWER_FILE);
            if path.exists() {
                let answer = serde_json::from_slice(&fs::read(&path)?);
                answers.push(answer.map_err(|error| format!("{}: {error}", path.display()))?);
            }
        }
    }
    answers.sort_by_key(|answer| answer.id);
    Ok(answers)
}

fn executions(text: &str) -> Result<Vec<AttemptId>, Failure> {
    let mut executions = vec![];
    for line in text.lines() {
        let mut words = line.split(' ').map(str::parse::<u32>);
        match (words.next(), words.next(), words.next()) {
            (Some(Ok(trial)), Some(Ok(attempt)), None) => {
                executions.push(AttemptId { trial: u64::from(trial), attempt });
            }
            _ => return Err(format!("the log of executions has a line {line:?}").into()),
        }
    }
    Ok(executions)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn executions_are_two_numbers_a_line() {
        let found = executions("3 1\n12 2\n").unwrap();
        assert_eq!(found, [AttemptId { trial: 3, attempt: 1 }, AttemptId { trial: 12, attempt: 2 }]);
        for broken in ["3", "3 1 2", "3 x"] {
            assert!(executions(broken).is_err(), "{broken}");
        }
    }
}
