//! Programs that fork daemons and ignore SIGTERM: nothing of them may be left when the study is over.
//!
//! The first trial answers and leaves two processes; the others never end by themselves and run into the time limit. A
//! command that ignores SIGTERM has ten seconds until SIGKILL, so this takes that long.

use super::{mark, study};
use crate::processes;
use crate::program::Run;
use crate::seeds::Failure;
use serde::Serialize;
use std::path::Path;
use std::time::Duration;

/// More than the job's own grace.
const SILENCE: Duration = Duration::from_secs(60);
const EVALUATIONS: usize = 4;
const SCRIPT: &str = r#"trap '' TERM
(setsid sleep 300 &)
sleep 300 > /dev/null 2>&1 &
if [ "$TRIBO_TRIAL" = 0 ]; then echo 1; exit 0; fi
sleep 300
"#;

/// What is left of programs that will not go.
#[derive(Debug, Clone, Serialize)]
pub struct Leftovers {
    /// Evaluations.
    pub evaluations: usize,
    /// Of those, with a value.
    pub measured: usize,
    /// Seconds the study took.
    pub seconds: f64,
    /// Processes left the moment the driver was gone.
    pub left: usize,
    /// At most this many.
    pub bar: usize,
    /// Whether it is passed.
    pub ok: bool,
    /// What is left.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub processes: Vec<String>,
}

impl Leftovers {
    pub(super) fn text(&self) -> String {
        format!(
            "{} processes left of programs that ignore SIGTERM, at most {}: {}",
            self.left,
            self.bar,
            mark(self.ok)
        )
    }
}

pub(super) fn measure(program: &Path) -> Result<Leftovers, Failure> {
    let folder = study::random(
        EVALUATIONS,
        EVALUATIONS,
        "command = [\"sh\", \"stay.sh\"]\ntimeout = \"2s\"\nretries = 0",
    )?;
    std::fs::write(folder.path().join("stay.sh"), SCRIPT)?;
    let mut run = Run::start(program, folder.path())?;
    let events = run.to_end(SILENCE)?;
    // A job that has given its answer is on its way out; what its command started must be gone before the answer.
    let job = |process: &String| process.contains(" job --dir ");
    let processes: Vec<String> =
        processes::of_study(folder.path(), None).into_iter().filter(|process| !job(process)).collect();
    let seconds = run.begun.elapsed().as_secs_f64();
    let measured =
        |outcome: &str| events.iter().filter(|e| e.is("told") && e.json["outcome"] == outcome).count();
    let (measured, failed) = (measured("measured"), measured("failed"));
    if (measured, failed) != (1, EVALUATIONS - 1) {
        return Err(format!("{measured} trials have a value and {failed} failed; 1 and 3 should").into());
    }
    Ok(Leftovers {
        evaluations: EVALUATIONS,
        measured,
        seconds,
        left: processes.len(),
        bar: 0,
        ok: processes.is_empty(),
        processes,
    })
}
