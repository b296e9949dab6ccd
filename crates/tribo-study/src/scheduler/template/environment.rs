//! What a job of a template finds in its environment: its script passes the scheduler's variable on under one name.

use crate::scheduler::{Environment, Variable};

/// The variable that holds the id.
pub(super) const JOB: &str = "TRIBO_JOB_ID";

pub(super) const ENVIRONMENT: Environment =
    Environment { job: JOB, name: "TRIBO_TAG", index: "TRIBO_INDEX", restarts: None, id };

fn id(job: &str, _variable: &Variable<'_>) -> String {
    job.to_owned()
}
