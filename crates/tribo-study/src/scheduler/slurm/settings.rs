//! What the study file says of SLURM: its keys, and the settings they become.

use super::Slurm;
use crate::config::{Complaint, Section, Type, View, key, table};
use crate::runner::Runner;
use crate::runner::batch::Batch;
use crate::scheduler::{EPILOGUE, POLL, SETUP, Settings, TEXTS, options};
use std::sync::Arc;
use std::time::Duration;

pub(super) static SECTION: Section = table(
    "run.slurm",
    "What SLURM is asked for. What is not given is left to the cluster.",
    &[
        key("partition", Type::Text, "\"batch\"", "`--partition`."),
        key("account", Type::Text, "\"wing\"", "`--account`."),
        key("qos", Type::Text, "\"normal\"", "`--qos`."),
        key("time", Type::Duration, "\"1h\"", "`--time`.").or_prose("`timeout` and three minutes"),
        key("cpus", Type::Integer { low: 1, high: 1_000_000 }, "4", "`--cpus-per-task`."),
        key("memory", Type::Text, "\"4G\"", "`--mem`, as SLURM writes it."),
        key(
            "memory_growth",
            Type::Integer { low: 0, high: 1000 },
            "50",
            "Per cent by which `memory` is larger in the next attempt when it was too little; see `memory` in `[run.retries]`.",
        )
        .or("0"),
        key("nodes", Type::Integer { low: 1, high: 1_000_000 }, "2", "`--nodes`."),
        key(
            "tasks",
            Type::Integer { low: 1, high: 10_000_000 },
            "64",
            "`--ntasks`, for MPI: the command starts them.",
        ),
        key("gpus", Type::Text, "\"a100:2\"", "`--gpus`."),
        key("constraint", Type::Text, "\"skylake\"", "`--constraint`."),
        key("reservation", Type::Text, "\"course\"", "`--reservation`."),
        key("options", TEXTS, "[\"--exclusive\"]", "Further options, given to `sbatch` as they are.")
            .or("[]"),
        key("setup", TEXTS, "[\"module load gcc\"]", SETUP).or("[]"),
        key("epilogue", TEXTS, "[\"rm -rf /scratch/$USER\"]", EPILOGUE).or("[]"),
        key(
            "requeue",
            Type::Flag,
            "true",
            "Whether SLURM itself restarts preempted jobs; else tribo makes a new attempt.",
        )
        .or("false"),
        key("poll", Type::Duration, "\"30s\"", POLL).or("\"60s\""),
    ],
);

/// What SLURM is asked for. None leaves it to the cluster's default.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SlurmSettings {
    /// `--partition`.
    pub partition: Option<String>,
    /// `--account`.
    pub account: Option<String>,
    /// `--qos`.
    pub qos: Option<String>,
    /// `--time`; by default the timeout and three minutes.
    pub time: Option<Duration>,
    /// `--cpus-per-task`.
    pub cpus: Option<u32>,
    /// `--mem`, as SLURM writes it, e.g. `4G`.
    pub memory: Option<String>,
    /// Per cent more memory after each attempt that had too little.
    pub memory_growth: u32,
    /// `--nodes`.
    pub nodes: Option<u32>,
    /// `--ntasks`.
    pub tasks: Option<u32>,
    /// `--gpus`, as SLURM writes it.
    pub gpus: Option<String>,
    /// `--constraint`.
    pub constraint: Option<String>,
    /// `--reservation`.
    pub reservation: Option<String>,
    /// Further options, given to `sbatch` as they are.
    pub options: Vec<String>,
    /// Shell lines before the job, such as `module load`.
    pub setup: Vec<String>,
    /// Shell lines after the job.
    pub epilogue: Vec<String>,
    /// Whether SLURM itself restarts preempted jobs; else tribo makes a new attempt.
    pub requeue: bool,
    /// Seconds between two looks at the queue at least.
    pub poll: Duration,
}

/// Options of a submission that are tribo's own.
const OWN: [&str; 6] = ["-J", "--job-name", "-a", "--array", "--wrap", "--parsable"];

/// Reads the section.
pub(super) fn read(view: &View<'_>) -> Result<Arc<dyn Settings>, Complaint> {
    Ok(Arc::new(SlurmSettings {
        partition: view.text("partition"),
        account: view.text("account"),
        qos: view.text("qos"),
        time: view.duration("time"),
        cpus: view.integer("cpus"),
        memory: view.text("memory"),
        memory_growth: view.integer("memory_growth").unwrap_or(0),
        nodes: view.integer("nodes"),
        tasks: view.integer("tasks"),
        gpus: view.text("gpus"),
        constraint: view.text("constraint"),
        reservation: view.text("reservation"),
        options: options(view, &OWN)?,
        setup: view.texts("setup").unwrap_or_default(),
        epilogue: view.texts("epilogue").unwrap_or_default(),
        requeue: view.flag("requeue"),
        poll: view.duration("poll").unwrap_or_default(),
    }))
}

impl Settings for SlurmSettings {
    fn name(&self) -> &'static str {
        super::NAME
    }

    fn time(&self) -> Option<Duration> {
        self.time
    }

    fn runner(&self, batch: Batch) -> Box<dyn Runner> {
        Box::new(Slurm::new(self.clone(), batch))
    }
}
