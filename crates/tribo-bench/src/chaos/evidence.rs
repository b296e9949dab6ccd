//! What is on disk when a study is over: the records of its journal, the answers of its jobs, the simulator's own notes.
//!
//! The journal is taken apart here, line by line, and not read with the store: what is checked must not be what checks.

use super::study;
use crate::seeds::Failure;
use serde_json::{Map, Value};
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
    /// The study file.
    pub(super) file: String,
    /// What the simulator noted.
    pub(super) notes: Notes,
}

/// What the simulator noted, whatever became of it.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Notes {
    /// Its executions, in the order they began, with the parameters that it was given.
    pub(super) executions: Vec<(AttemptId, Map<String, Value>)>,
    /// The values that it gave.
    pub(super) gave: Vec<(AttemptId, f64)>,
}

impl Evidence {
    /// Reads it. An error if something is there that cannot be read.
    pub(super) fn collect(folder: &Path) -> Result<Evidence, Failure> {
        let layout = Layout::of(folder);
        Ok(Evidence {
            entries: entries(&layout)?,
            answers: answers(&layout)?,
            file: fs::read_to_string(layout.file())?,
            notes: notes(&fs::read_to_string(study::notes(folder))?)?,
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

fn notes(text: &str) -> Result<Notes, Failure> {
    let mut notes = Notes::default();
    for line in text.lines() {
        take(line, &mut notes).ok_or_else(|| format!("the simulator's notes have a line {line:?}"))?;
    }
    Ok(notes)
}

/// Takes in a line of three words and the rest; None if it is another.
fn take(line: &str, notes: &mut Notes) -> Option<()> {
    let mut words = line.splitn(4, ' ');
    let what = words.next()?;
    let id = AttemptId { trial: words.next()?.parse().ok()?, attempt: words.next()?.parse().ok()? };
    let rest = words.next()?;
    match what {
        "began" => notes.executions.push((id, serde_json::from_str(rest).ok()?)),
        "gave" => notes.gave.push((id, rest.parse().ok()?)),
        _ => return None,
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_executions_and_values() {
        let found = notes("began 3 1 {\"a\": 5}\nbegan 12 2 {}\ngave 3 1 -25\n").unwrap();
        let (three, twelve) = (AttemptId { trial: 3, attempt: 1 }, AttemptId { trial: 12, attempt: 2 });
        let given = Map::from_iter([("a".to_owned(), 5.into())]);
        let expected =
            Notes { executions: vec![(three, given), (twelve, Map::new())], gave: vec![(three, -25.0)] };
        assert_eq!(found, expected);
        for broken in ["began 3 1", "gave 3 1 x", "began 3 x {}", "began 3 1 {} {}", "took 3 1 2", ""] {
            assert!(notes(&format!("{broken}\n")).is_err(), "{broken}");
        }
    }
}
