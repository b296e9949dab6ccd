//! What SLURM tells a job in its environment.

use crate::scheduler::{Environment, Variable};

pub(super) const ENVIRONMENT: Environment = Environment {
    job: "SLURM_JOB_ID",
    name: "SLURM_JOB_NAME",
    index: "SLURM_ARRAY_TASK_ID",
    restarts: Some("SLURM_RESTART_COUNT"),
    id,
};

/// An element of an array has the array's id and its index.
fn id(job: &str, variable: &Variable<'_>) -> String {
    match (variable("SLURM_ARRAY_JOB_ID"), variable("SLURM_ARRAY_TASK_ID")) {
        (Some(array), Some(task)) => format!("{array}_{task}"),
        _ => job.to_owned(),
    }
}
