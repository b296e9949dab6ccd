//! What PBS tells a job in its environment. It does not say how often the job was restarted.

use crate::scheduler::{Environment, Variable};

pub(super) const ENVIRONMENT: Environment =
    Environment { job: "PBS_JOBID", name: "PBS_JOBNAME", index: "PBS_ARRAY_INDEX", restarts: None, id };

/// OpenPBS gives elements of an array their own id, such as 41[3].server; others give them all the array's.
fn id(job: &str, variable: &Variable<'_>) -> String {
    match variable("PBS_ARRAY_INDEX") {
        Some(index) if job.contains("[]") => job.replacen("[]", &format!("[{index}]"), 1),
        _ => job.to_owned(),
    }
}
