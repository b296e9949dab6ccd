//! What happens in a study: one record an event. The journal is the only truth; everything else is derived from it.
//!
//! Values are in the user's direction and units. Points are kept as the optimiser has them, from which the input is
//! derived, whatever its length. How records are written is for `format` to know.

use super::format::Format;
use crate::job::Finding;
use crate::outputs::Outputs;
use crate::point;
use crate::recalled::Recalled;
use crate::tag::{AttemptId, StudyId, Tag};
use tribo::trial::Trial;

/// A record with its place in the journal.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Number of the record, from 0.
    pub n: u64,
    /// Epoch of the driver that wrote it.
    pub epoch: u64,
    /// Milliseconds since 1970, UTC; for people, nothing depends on it but the wall-time budget.
    pub ms: u64,
    /// What happened.
    pub record: Record,
}

/// What makes the proposals of a chapter: an engine, and the version of it. Another version proposes other points from the
/// same events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Engine {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: u32,
}

impl Engine {
    /// That of an optimiser.
    pub fn of(study: &tribo::strategy::Study) -> Engine {
        let tribo::strategy::Version { engine, number } = study.version();
        Engine { name: engine.to_owned(), version: number }
    }
}

/// What happened.
#[derive(Debug, Clone, PartialEq)]
pub enum Record {
    /// The study was made; always the first record.
    Created {
        /// The format that the journal begins in.
        format: Format,
        /// Its id.
        study: StudyId,
        /// The study file as it was.
        config: String,
        /// What makes the proposals; journals of the first format do not say, and mean version 1.
        engine: Option<Engine>,
        /// Version of the program.
        tribo: String,
    },
    /// Another chapter begins: proposals follow from another study file, or from another engine, with all results so far as
    /// known data.
    Chapter {
        /// The study file as it is now.
        config: String,
        /// What makes the proposals.
        engine: Engine,
        /// Version of the program.
        tribo: String,
    },
    /// The journal is of a newer format from here on.
    Raised {
        /// Which.
        format: Format,
        /// Version of the program.
        tribo: String,
    },
    /// A driver began to work.
    Opened {
        /// Its host.
        host: String,
        /// Its process.
        pid: u32,
        /// Version of the program.
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
        by_hand: bool,
    },
    /// An evaluation made elsewhere was taken in.
    Imported {
        /// The trial made of it.
        trial: u64,
        /// The point: parameter names and values.
        point: point::Written,
        /// Its outputs.
        outputs: Outputs,
    },
    /// Very many earlier results were read; before the first proposal.
    Recalled(Box<Recalled>),
    /// An attempt is about to be submitted.
    Intended {
        /// Which.
        id: AttemptId,
        /// Its job name.
        tag: Tag,
    },
    /// The runner acknowledged it.
    Submitted {
        /// Which.
        id: AttemptId,
        /// The runner's id.
        job: String,
    },
    /// The attempt is over.
    Ended {
        /// Which.
        id: AttemptId,
        /// What came of it.
        finding: Finding,
        /// Seconds it took.
        wall_s: Option<f64>,
        /// Where.
        host: String,
    },
    /// The trial's outcome was decided and told to the optimiser.
    Told {
        /// The trial.
        trial: u64,
        /// What came of it: `ok`, `infeasible`, `invalid`, `lost` or `failed`, whatever the reason.
        finding: Finding,
    },
    /// The outcome of a trial was wrong and is another. Another chapter begins, which knows this one.
    Replaced {
        /// The trial.
        trial: u64,
        /// Its outcome from here on.
        finding: Finding,
    },
    /// The outcome of a trial is taken back: it is to be evaluated again. Another chapter begins, in which it is under way.
    Reopened {
        /// The trial.
        trial: u64,
    },
    /// A driver left in good order.
    Closed {
        /// Why.
        why: String,
    },
}

impl Record {
    /// An attempt ended without a number, and nobody knows when and where.
    pub fn ended(id: AttemptId, finding: Finding) -> Record {
        Record::Ended { id, finding, wall_s: None, host: String::new() }
    }
}
