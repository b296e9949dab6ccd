//! What the study file says of machines reached by ssh: its keys, and the settings they become.

use super::Ssh;
use crate::config::{Complaint, Section, Type, View, key, table};
use crate::runner::Runner;
use crate::runner::batch::Batch;
use crate::scheduler::{POLL, SETUP, Settings, TEXTS};
use std::sync::Arc;
use std::time::Duration;

pub(super) static SECTION: Section = table(
    "run.ssh",
    "Machines that `ssh` reaches without a question and that share the folder of the study. On each a worker is started, \
     which runs `slots` of `[run.pilots]` evaluations at once.",
    &[
        key(
            "hosts",
            Type::List { of: &Type::Text, least: 1, most: 100_000 },
            "[\"node1\", \"node2\"]",
            "Their names.",
        )
        .required(),
        key("options", TEXTS, "[\"-p\", \"2222\"]", "Further options, given to `ssh` as they are.").or("[]"),
        key("setup", TEXTS, "[\"source /opt/env.sh\"]", SETUP).or("[]"),
        key("poll", Type::Duration, "\"30s\"", POLL).or("\"60s\""),
    ],
);

/// Machines reached by ssh.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SshSettings {
    /// Their names.
    pub hosts: Vec<String>,
    /// Options of `ssh`.
    pub options: Vec<String>,
    /// Shell lines before a worker.
    pub setup: Vec<String>,
    /// Time between two looks at workers that have not begun.
    pub poll: Duration,
}

/// Reads the section.
pub(super) fn read(view: &View<'_>) -> Result<Arc<dyn Settings>, Complaint> {
    let hosts = view.texts("hosts").unwrap_or_default();
    if hosts.is_empty() {
        let message = "on = \"ssh\" needs a section [run.ssh] with hosts = [\"node1\", \"node2\"]";
        return Err(view.complaint("hosts", message));
    }
    Ok(Arc::new(SshSettings {
        hosts,
        options: view.texts("options").unwrap_or_default(),
        setup: view.texts("setup").unwrap_or_default(),
        poll: view.duration("poll").unwrap_or_default(),
    }))
}

impl Settings for SshSettings {
    fn name(&self) -> &'static str {
        super::NAME
    }

    /// A worker there lives for as long as there is something to do.
    fn time(&self) -> Option<Duration> {
        None
    }

    fn takes_pilots_only(&self) -> bool {
        true
    }

    fn runner(&self, batch: Batch) -> Box<dyn Runner> {
        Box::new(Ssh::new(self.clone(), batch))
    }
}
