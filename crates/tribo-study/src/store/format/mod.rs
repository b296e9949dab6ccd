//! Records as they stand in the journal: types for the disk alone, apart from those that the program works with.
//!
//! A record is a JSON object with a `type`. Members that are not known are ignored and missing ones have defaults, so
//! that programs of the same format read each other. The first record says which format the journal is of; `raised` says
//! that it is of a newer one from there on.
//!
//! | format | knows |
//! |---|---|
//! | 1.0 | one `value` for each evaluation |
//! | 2.0 | `outputs` beside it, trials at points that someone else chose, `chapter`, `engine`, `raised`, `minor` |
//! | 2.1 | the outcome `lost`; `replaced` and `reopened` |
//! | 2.2 | fits that were made of fewer results than their trial was asked with |
//! | 2.3 | `recalled`; the nominees of a portfolio |
//! | 2.4 | trials that move pairs of inputs |
//! | 2.5 | local searches that ended because they had gone astray |
//!
//! A program reads every older format, and goes on in it: it raises the format just before the first record that the older
//! one does not know, so a study can go back to an older program for as long as that could read it. Of a newer format a
//! program reads what it can: a newer version is refused, and so is a record that cannot be read where the minor version
//! is newer. That is "written by a newer tribo"; the same record in a journal of this format is damage. A change that
//! older programs must not overlook takes a new version, one that they may overlook a new minor version.

mod imported;
mod trial;

use super::record::{Engine, Entry, Record};
use crate::job::{Finding, Kind};
use crate::outputs::{Outputs, VALUE};
use crate::recalled::Recalled;
use crate::tag::{AttemptId, StudyId, Tag};
use serde::{Deserialize, Serialize};
use std::fmt;
use tribo::trial::{Ended, Recipe, Trial};

/// The format of a journal: a newer version is refused, a newer minor version is read as far as it can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Format {
    /// The version.
    pub version: u32,
    /// The minor version.
    pub minor: u32,
}

impl Format {
    /// The first one.
    pub const FIRST: Format = Format { version: 1, minor: 0 };
    /// With named outputs.
    pub const OUTPUTS: Format = Format { version: 2, minor: 0 };
    /// With outcomes that are lost, replaced or taken back.
    pub const REVISED: Format = Format { version: 2, minor: 1 };
    /// With fits that were made beside the asks. An older program that overlooks which results such a fit was made of gives its
    /// model all of them, and goes on with proposals that are as good and not the same.
    pub const BESIDE: Format = Format { version: 2, minor: 2 };
    /// With earlier results that were read and are not trials, which an older program refuses as newer, and with the nominees of a
    /// portfolio, which one overlooks: it weighs the members by what it asks itself.
    pub const RECALLED: Format = Format { version: 2, minor: 3 };
    /// With trials that move pairs of inputs, whose points an older program cannot make: it refuses them as newer.
    pub const PAIRS: Format = Format { version: 2, minor: 4 };
    /// With local searches that had gone astray, which an older program refuses as newer.
    pub const ASTRAY: Format = Format { version: 2, minor: 5 };
    /// The newest one that this program knows, in which it makes new journals.
    pub const NEWEST: Format = Format::ASTRAY;
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.version, self.minor)
    }
}

/// The oldest format that knows a record.
pub(crate) fn needed(record: &Record) -> Format {
    let others = |outputs: &Outputs| outputs.iter().any(|(name, _)| name != VALUE);
    let is_beside = |trial: &Trial| {
        let fit = trial.decision.as_ref().and_then(|decision| decision.fit.as_ref());
        fit.is_some_and(|fit| fit.results.is_some())
    };
    let is_revised = match record {
        Record::Told { finding, .. } => finding.kind == Kind::Lost,
        Record::Replaced { .. } | Record::Reopened { .. } => true,
        _ => false,
    };
    let is_new = match record {
        Record::Ended { finding, .. } | Record::Told { finding, .. } => others(&finding.outputs),
        Record::Imported { outputs, .. } => others(outputs),
        Record::Chapter { .. } => true,
        Record::Asked { trial, .. } => matches!(trial.recipe.as_deref(), Some(Recipe::Given)),
        _ => false,
    };
    let has_nominees =
        |trial: &Trial| trial.decision.as_ref().is_some_and(|decision| decision.nominees.is_some());
    let is_after_astray =
        |trial: &Trial| trial.decision.as_ref().is_some_and(|decision| decision.ended == Some(Ended::Astray));
    match record {
        Record::Asked { trial, .. } if is_after_astray(trial) => return Format::ASTRAY,
        Record::Asked { trial, .. } if matches!(trial.recipe.as_deref(), Some(Recipe::Pairs { .. })) => {
            return Format::PAIRS;
        }
        Record::Recalled(_) => return Format::RECALLED,
        Record::Asked { trial, .. } if has_nominees(trial) => return Format::RECALLED,
        Record::Asked { trial, .. } if is_beside(trial) => return Format::BESIDE,
        _ => {}
    }
    match (is_revised, is_new) {
        (true, _) => Format::REVISED,
        (false, true) => Format::OUTPUTS,
        (false, false) => Format::FIRST,
    }
}

/// Why a record cannot be used.
#[derive(Debug, PartialEq)]
pub enum Unreadable {
    /// The journal is of a newer format.
    Newer(Format),
    /// It is not a record of this format.
    Damaged(String),
}

/// The JSON of a record. The error says why it would not read back.
pub(super) fn encode(entry: &Entry) -> Result<Vec<u8>, String> {
    if let Some(json) = imported::encode(entry) {
        return Ok(json);
    }
    let line = Line::try_from(entry)?;
    let json = serde_json::to_vec(&line).map_err(|error| error.to_string())?;
    // JSON has no infinities: a record with one would be written and then never read again.
    let back = serde_json::from_slice::<Line>(&json).ok().filter(|back| *back == line);
    match back.map(Entry::try_from) {
        Some(Ok(_)) => Ok(json),
        _ => Err(format!("{entry:?} does not survive as JSON")),
    }
}

/// A record from its JSON. `format` is that of the journal so far; None for the first record.
pub fn decode(json: &[u8], format: Option<Format>) -> Result<Entry, Unreadable> {
    if let Some(entry) = imported::decode(json) {
        return Ok(entry);
    }
    let line = serde_json::from_slice::<Line>(json);
    if let Some(newer) =
        announced(json, &line, format.is_none()).filter(|format| format.version > Format::NEWEST.version)
    {
        return Err(Unreadable::Newer(newer));
    }
    match (line.map_err(|error| error.to_string()).and_then(Entry::try_from), format) {
        (Ok(entry), _) => Ok(entry),
        (Err(_), Some(format)) if format > Format::NEWEST => Err(Unreadable::Newer(format)),
        (Err(what), _) => Err(Unreadable::Damaged(what)),
    }
}

/// The format that a record says the journal is of, which the `first` one does, whatever it is called. What else stands in
/// such a record may have changed since.
fn announced(json: &[u8], line: &serde_json::Result<Line>, first: bool) -> Option<Format> {
    #[derive(Deserialize)]
    struct Announcement {
        r#type: String,
        version: u32,
        #[serde(default)]
        minor: u32,
    }
    match line {
        Ok(Line { written: Written::Created { version, minor, .. }, .. })
        | Ok(Line { written: Written::Raised { version, minor, .. }, .. }) => {
            Some(Format { version: *version, minor: *minor })
        }
        Ok(_) => None,
        Err(_) => {
            let Announcement { r#type, version, minor } = serde_json::from_slice(json).ok()?;
            (first || r#type == "raised").then_some(Format { version, minor })
        }
    }
}

/// A line of the journal.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Line {
    n: u64,
    epoch: u64,
    ms: u64,
    #[serde(flatten)]
    written: Written,
}

/// A record.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Written {
    Created {
        version: u32,
        #[serde(default, skip_serializing_if = "is_zero")]
        minor: u32,
        study: StudyId,
        config: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        engine: Option<WrittenEngine>,
        #[serde(default)]
        tribo: String,
    },
    Chapter {
        config: String,
        engine: WrittenEngine,
        #[serde(default)]
        tribo: String,
    },
    Raised {
        version: u32,
        #[serde(default, skip_serializing_if = "is_zero")]
        minor: u32,
        #[serde(default)]
        tribo: String,
    },
    Opened {
        #[serde(default)]
        host: String,
        #[serde(default)]
        pid: u32,
        #[serde(default)]
        tribo: String,
    },
    Configured {
        config: String,
    },
    Asked {
        trial: Box<trial::Written>,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        by_hand: bool,
    },
    Imported {
        trial: u64,
        point: serde_json::Map<String, serde_json::Value>,
        #[serde(flatten)]
        outputs: Outputs,
    },
    Recalled(Box<Recalled>),
    Intended {
        #[serde(flatten)]
        id: AttemptId,
        tag: Tag,
    },
    Submitted {
        #[serde(flatten)]
        id: AttemptId,
        job: String,
    },
    Ended {
        #[serde(flatten)]
        id: AttemptId,
        kind: Kind,
        #[serde(flatten)]
        outputs: Outputs,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        reason: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        wall_s: Option<f64>,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        host: String,
    },
    Told {
        trial: u64,
        outcome: Outcome,
        #[serde(flatten)]
        outputs: Outputs,
        /// With `failed` and `lost`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        /// With `invalid`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        answer: Option<String>,
    },
    Replaced {
        trial: u64,
        outcome: Outcome,
        #[serde(flatten)]
        outputs: Outputs,
        /// With `failed` and `lost`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        /// With `invalid`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        answer: Option<String>,
    },
    Reopened {
        trial: u64,
    },
    Closed {
        #[serde(default)]
        why: String,
    },
}

/// An engine and its version.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct WrittenEngine {
    name: String,
    version: u32,
}

impl From<Engine> for WrittenEngine {
    fn from(Engine { name, version }: Engine) -> WrittenEngine {
        WrittenEngine { name, version }
    }
}

impl From<WrittenEngine> for Engine {
    fn from(WrittenEngine { name, version }: WrittenEngine) -> Engine {
        Engine { name, version }
    }
}

/// How a trial ended.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Outcome {
    Measured,
    Failed,
    Infeasible,
    Invalid,
    Lost,
}

fn is_zero(minor: &u32) -> bool {
    *minor == 0
}

impl TryFrom<&Entry> for Line {
    type Error = String;

    fn try_from(entry: &Entry) -> Result<Line, String> {
        let Entry { n, epoch, ms, record } = entry.clone();
        let written = match record {
            Record::Created { format: Format { version, minor }, study, config, engine, tribo } => {
                let engine = engine.map(WrittenEngine::from);
                Written::Created { version, minor, study, config, engine, tribo }
            }
            Record::Chapter { config, engine, tribo } => {
                Written::Chapter { config, engine: engine.into(), tribo }
            }
            Record::Raised { format: Format { version, minor }, tribo } => {
                Written::Raised { version, minor, tribo }
            }
            Record::Opened { host, pid, tribo } => Written::Opened { host, pid, tribo },
            Record::Configured { config } => Written::Configured { config },
            Record::Asked { trial, by_hand } => {
                Written::Asked { trial: Box::new((&trial).try_into()?), by_hand }
            }
            Record::Imported { trial, point, outputs } => {
                Written::Imported { trial, point: point.object()?, outputs }
            }
            Record::Recalled(recalled) => Written::Recalled(recalled),
            Record::Intended { id, tag } => Written::Intended { id, tag },
            Record::Submitted { id, job } => Written::Submitted { id, job },
            Record::Ended { id, finding: Finding { kind, outputs, reason }, wall_s, host } => {
                Written::Ended { id, kind, outputs, reason, wall_s, host }
            }
            Record::Told { trial, finding } => {
                let (outcome, outputs, reason, answer) = outcome(finding);
                Written::Told { trial, outcome, outputs, reason, answer }
            }
            Record::Replaced { trial, finding } => {
                let (outcome, outputs, reason, answer) = outcome(finding);
                Written::Replaced { trial, outcome, outputs, reason, answer }
            }
            Record::Reopened { trial } => Written::Reopened { trial },
            Record::Closed { why } => Written::Closed { why },
        };
        Ok(Line { n, epoch, ms, written })
    }
}

/// An outcome as it is written: how the trial ended, its outputs, and a reason or an answer.
fn outcome(finding: Finding) -> (Outcome, Outputs, Option<String>, Option<String>) {
    let Finding { kind, outputs, reason } = finding;
    match kind {
        Kind::Ok => (Outcome::Measured, outputs, None, None),
        Kind::Infeasible => (Outcome::Infeasible, outputs, None, None),
        Kind::Invalid => (Outcome::Invalid, outputs, None, Some(reason)),
        Kind::Lost => (Outcome::Lost, outputs, Some(reason), None),
        _ => (Outcome::Failed, outputs, Some(reason), None),
    }
}

/// The finding of an outcome as it was written.
fn finding(outcome: Outcome, outputs: Outputs, reason: Option<String>) -> Result<Finding, String> {
    let kind = match outcome {
        Outcome::Measured if outputs.is_empty() => return Err("measured without a value".to_owned()),
        Outcome::Measured => Kind::Ok,
        Outcome::Failed => Kind::Failed,
        Outcome::Infeasible => Kind::Infeasible,
        Outcome::Invalid => Kind::Invalid,
        Outcome::Lost => Kind::Lost,
    };
    Ok(Finding { kind, outputs, reason: reason.unwrap_or_default() })
}

impl TryFrom<Line> for Entry {
    type Error = String;

    fn try_from(Line { n, epoch, ms, written }: Line) -> Result<Entry, String> {
        let record = match written {
            Written::Created { version, minor, study, config, engine, tribo } => {
                let engine = engine.map(Engine::from);
                Record::Created { format: Format { version, minor }, study, config, engine, tribo }
            }
            Written::Chapter { config, engine, tribo } => {
                Record::Chapter { config, engine: engine.into(), tribo }
            }
            Written::Raised { version, minor, tribo } => {
                Record::Raised { format: Format { version, minor }, tribo }
            }
            Written::Opened { host, pid, tribo } => Record::Opened { host, pid, tribo },
            Written::Configured { config } => Record::Configured { config },
            Written::Asked { trial, by_hand } => Record::Asked { trial: (*trial).into(), by_hand },
            Written::Imported { trial, point, outputs } => {
                Record::Imported { trial, point: (&point).into(), outputs }
            }
            Written::Recalled(recalled) => Record::Recalled(recalled),
            Written::Intended { id, tag } => Record::Intended { id, tag },
            Written::Submitted { id, job } => Record::Submitted { id, job },
            Written::Ended { id, kind, outputs, reason, wall_s, host } => {
                Record::Ended { id, finding: Finding { kind, outputs, reason }, wall_s, host }
            }
            Written::Told { trial, outcome, outputs, reason, answer } => {
                Record::Told { trial, finding: finding(outcome, outputs, reason.or(answer))? }
            }
            Written::Replaced { trial, outcome, outputs, reason, answer } => {
                Record::Replaced { trial, finding: finding(outcome, outputs, reason.or(answer))? }
            }
            Written::Reopened { trial } => Record::Reopened { trial },
            Written::Closed { why } => Record::Closed { why },
        };
        Ok(Entry { n, epoch, ms, record })
    }
}

#[cfg(test)]
mod tests;
