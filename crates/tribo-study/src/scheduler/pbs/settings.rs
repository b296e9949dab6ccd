//! What the study file says of PBS: its keys, and the settings they become.

use super::Pbs;
use crate::config::{Complaint, Section, Type, View, key, table};
use crate::runner::Runner;
use crate::runner::batch::Batch;
use crate::scheduler::{EPILOGUE, POLL, SETUP, Settings, TEXTS, options};
use std::sync::Arc;
use std::time::Duration;

pub(super) static SECTION: Section = table(
    "run.pbs",
    "What PBS Pro or OpenPBS is asked for. What is not given is left to the cluster.",
    &[
        key("queue", Type::Text, "\"workq\"", "`-q`."),
        key("account", Type::Text, "\"wing\"", "`-A`."),
        key("project", Type::Text, "\"p42\"", "`-P`."),
        key("select", Type::Text, "\"1:ncpus=4:mem=8gb:ngpus=1\"", "`-l select`."),
        key(
            "memory_growth",
            Type::Integer { low: 0, high: 1000 },
            "50",
            "Per cent by which `mem` in `select` is larger in the next attempt when it was too little; see `memory` in \
             `[run.retries]`.",
        )
        .or("0"),
        key("place", Type::Text, "\"scatter:excl\"", "`-l place`."),
        key("time", Type::Duration, "\"1h\"", "`-l walltime`.").or_prose("`timeout` and three minutes"),
        key("options", TEXTS, "[\"-p\", \"10\"]", "Further options, given to `qsub` as they are.").or("[]"),
        key("setup", TEXTS, "[\"module load gcc\"]", SETUP).or("[]"),
        key("epilogue", TEXTS, "[\"rm -rf /scratch/$USER\"]", EPILOGUE).or("[]"),
        key("poll", Type::Duration, "\"30s\"", POLL).or("\"60s\""),
    ],
);

/// What PBS is asked for. None leaves it to the cluster's default.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PbsSettings {
    /// `-q`.
    pub queue: Option<String>,
    /// `-A`.
    pub account: Option<String>,
    /// `-l select=...`, e.g. `1:ncpus=4:mem=8gb`.
    pub select: Option<String>,
    /// Per cent more `mem` in `select` after each attempt that had too little.
    pub memory_growth: u32,
    /// `-P`.
    pub project: Option<String>,
    /// `-l place`.
    pub place: Option<String>,
    /// `-l walltime`; by default the timeout and three minutes.
    pub time: Option<Duration>,
    /// Further options, given to `qsub` as they are.
    pub options: Vec<String>,
    /// Shell lines before the job, such as `module load`.
    pub setup: Vec<String>,
    /// Shell lines after the job.
    pub epilogue: Vec<String>,
    /// Seconds between two looks at the queue at least.
    pub poll: Duration,
}

/// Options of a submission that are tribo's own.
const OWN: [&str; 4] = ["-N", "-J", "-I", "-z"];

/// Reads the section.
pub(super) fn read(view: &View<'_>) -> Result<Arc<dyn Settings>, Complaint> {
    Ok(Arc::new(PbsSettings {
        queue: view.text("queue"),
        account: view.text("account"),
        select: view.text("select"),
        memory_growth: view.integer("memory_growth").unwrap_or(0),
        project: view.text("project"),
        place: view.text("place"),
        time: view.duration("time"),
        options: options(view, &OWN)?,
        setup: view.texts("setup").unwrap_or_default(),
        epilogue: view.texts("epilogue").unwrap_or_default(),
        poll: view.duration("poll").unwrap_or_default(),
    }))
}

impl Settings for PbsSettings {
    fn name(&self) -> &'static str {
        super::NAME
    }

    fn time(&self) -> Option<Duration> {
        self.time
    }

    fn runner(&self, batch: Batch) -> Box<dyn Runner> {
        Box::new(Pbs::new(self.clone(), batch))
    }
}
