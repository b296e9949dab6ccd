//! What the journal holds: one record an event. The journal is the only truth; everything else is derived from it.
//!
//! Records are JSON objects with a `type`; unknown members are ignored and missing ones have defaults, so that newer and
//! older programs of the same version read each other. Values are in the user's direction and units. Points are stored
//! as model coordinates z, from which the input is derived, whatever its length.

use crate::job::Kind;
use crate::tag::{AttemptId, StudyId, Tag};
use serde::{Deserialize, Serialize};
use tribo::trial::Trial;

/// Version of the journal.
pub const JOURNAL_VERSION: u32 = 1;

/// A record with its place in the journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Number of the record, from 0.
    pub n: u64,
    /// Epoch of the driver that wrote it.
    pub epoch: u64,
    /// Milliseconds since 1970, UTC; for people, nothing depends on it but the wall-time budget.
    pub ms: u64,
    /// What happened.
    #[serde(flatten)]
    pub record: Record,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Record {
    /// The study was made; always the first record.
    Created {
        /// [`JOURNAL_VERSION`].
        version: u32,
        /// Its id.
        study: StudyId,
        /// The study file as it was.
        config: String,
        /// Version of the program.
        #[serde(default)]
        tribo: String,
    },
    /// A driver began to work.
    Opened {
        /// Its host.
        #[serde(default)]
        host: String,
        /// Its process.
        #[serde(default)]
        pid: u32,
        /// Version of the program.
        #[serde(default)]
        tribo: String,
    },
    /// The study file changed in parts that do not decide proposals.
    Configured {
        /// The study file as it is now.
        config: String,
    },
    /// A point was proposed.
    Asked {
        /// As the optimiser has it.
        trial: Trial,
        /// Asked for with `tribo ask`: a person evaluates it.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        by_hand: bool,
    },
    /// An evaluation made elsewhere was taken in.
    Imported {
        /// The trial made of it.
        trial: u64,
        /// The point: parameter names and values.
        point: serde_json::Map<String, serde_json::Value>,
        /// Its value.
        value: f64,
    },
    /// An attempt is about to be submitted.
    Intended {
        /// Which.
        #[serde(flatten)]
        id: AttemptId,
        /// Its job name.
        tag: Tag,
    },
    /// The runner acknowledged it.
    Submitted {
        /// Which.
        #[serde(flatten)]
        id: AttemptId,
        /// The runner's id.
        job: String,
    },
    /// The attempt is over.
    Ended {
        /// Which.
        #[serde(flatten)]
        id: AttemptId,
        /// How.
        kind: Kind,
        /// The objective, if `kind` is `ok`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        value: Option<f64>,
        /// Why there is none.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        reason: String,
        /// Seconds it took.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        wall_s: Option<f64>,
        /// Where.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        host: String,
    },
    /// The trial's outcome was decided and told to the optimiser.
    Told {
        /// The trial.
        trial: u64,
        /// Its outcome.
        #[serde(flatten)]
        verdict: Verdict,
    },
    /// A driver left in good order.
    Closed {
        /// Why.
        #[serde(default)]
        why: String,
    },
}

/// The outcome of a trial, in the user's direction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Verdict {
    /// A finite value.
    Measured {
        /// It.
        value: f64,
    },
    /// No value, for this reason.
    Failed {
        /// For people, beginning with the kind.
        #[serde(default)]
        reason: String,
    },
    /// The point is not allowed.
    Infeasible,
    /// An answer that is not one finite number.
    Invalid {
        /// It.
        #[serde(default)]
        answer: String,
    },
}

impl Verdict {
    /// The outcome of an evaluation that answered with a number: measured if it is finite, else invalid.
    pub fn answered(value: f64) -> Verdict {
        match value.is_finite() {
            true => Verdict::Measured { value },
            false => Verdict::Invalid { answer: value.to_string() },
        }
    }
}

impl std::fmt::Display for Verdict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Verdict::Measured { value } => write!(f, "the value {value:?}"),
            Verdict::Failed { reason } => write!(f, "failed ({reason})"),
            Verdict::Infeasible => f.write_str("infeasible"),
            Verdict::Invalid { answer } => write!(f, "an invalid answer ({answer})"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tribo::trial::{Purpose, TrialId};

    fn entries() -> Vec<Entry> {
        let id = AttemptId { trial: 3, attempt: 2 };
        let study = StudyId::from_bits(9);
        let tag = Tag::new(&study, id).unwrap();
        let z = vec![0.1, -1e-300];
        let trial = Trial {
            id: TrialId(3),
            embedding: 1,
            z,
            purpose: Purpose::Explore,
            recipe: None,
            decision: None,
        };
        let serde_json::Value::Object(point) = serde_json::json!({"x": 0.5, "kind": "steel"}) else {
            panic!()
        };
        let text = |text: &str| text.to_owned();
        let ended = |kind, value, reason: &str, wall_s, host: &str| Record::Ended {
            id,
            kind,
            value,
            reason: text(reason),
            wall_s,
            host: text(host),
        };
        let told = |verdict| Record::Told { trial: 3, verdict };
        let records = [
            Record::Created { version: 1, study, config: text("a = \"b\"\nc"), tribo: text("0.1.0") },
            Record::Opened { host: text("here"), pid: 7, tribo: text("0.1.0") },
            Record::Configured { config: text("c") },
            Record::Asked { trial, by_hand: true },
            Record::Imported { trial: 4, point, value: 0.1 + 0.2 },
            Record::Intended { id, tag },
            Record::Submitted { id, job: text("12") },
            ended(Kind::Ok, Some(1e300), "", Some(2.5), "node"),
            ended(Kind::Lost, None, "gone", None, ""),
            told(Verdict::Measured { value: -0.25 }),
            told(Verdict::Failed { reason: text("exit code 1") }),
            told(Verdict::Infeasible),
            told(Verdict::Invalid { answer: text("nan") }),
            Record::Closed { why: text("evaluations") },
        ];
        let number = |(n, record)| Entry { n: n as u64, epoch: 2, ms: 5, record };
        records.into_iter().enumerate().map(number).collect()
    }

    #[test]
    fn every_record_reads_back() {
        for entry in entries() {
            let json = serde_json::to_string(&entry).unwrap();
            assert_eq!(serde_json::from_str::<Entry>(&json).unwrap(), entry, "{json}");
        }
    }

    #[test]
    fn order_and_unknown_members_do_not_matter() {
        let json = r#"{"outcome":"measured","new":{"trial":[1]},"value":1,"trial":3,"type":"told","ms":0,"epoch":1,"n":9}"#;
        let told = Record::Told { trial: 3, verdict: Verdict::Measured { value: 1.0 } };
        assert_eq!(serde_json::from_str::<Entry>(json).unwrap().record, told);
    }
}
