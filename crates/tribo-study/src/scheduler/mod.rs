//! Batch schedulers, a folder each: keys of the study file, settings, environment of jobs, and the runner.
//!
//! To add one, write its folder, with a `SCHEDULER` as the others have it, and put it into `ALL`: the study file, its schema
//! and reference, the program and the jobs all ask this list. What schedulers share is in `runner`.

mod memory;
pub mod pbs;
pub mod slurm;
pub mod ssh;
pub mod template;

use crate::config::{Complaint, Section, Type, View};
use crate::runner::Runner;
use crate::runner::batch::Batch;
use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

/// The schedulers, in the order of the reference.
pub(crate) const ALL: [Scheduler; 4] =
    [slurm::SCHEDULER, pbs::SCHEDULER, template::SCHEDULER, ssh::SCHEDULER];

/// A scheduler, as the study file and jobs know it.
pub(crate) struct Scheduler {
    /// What `on` names, and its section.
    pub(crate) name: &'static str,
    /// What the section is for.
    pub(crate) doc: &'static str,
    /// The section `[run.NAME]`.
    pub(crate) section: &'static Section,
    /// Reads it.
    pub(crate) read: fn(&View<'_>) -> Result<Arc<dyn Settings>, Complaint>,
    /// What its jobs find in their environment.
    pub(crate) environment: Environment,
}

/// The value of a variable of the environment.
pub(crate) type Variable<'a> = dyn Fn(&str) -> Option<String> + 'a;

/// Names of variables that a scheduler sets in its jobs.
pub(crate) struct Environment {
    /// The job's id.
    pub(crate) job: &'static str,
    /// The job's name.
    pub(crate) name: &'static str,
    /// Which element of an array it is.
    pub(crate) index: &'static str,
    /// How often the scheduler has restarted it, if it says so.
    pub(crate) restarts: Option<&'static str>,
    /// The id as the runner knows it, of the job's id and other variables.
    pub(crate) id: fn(&str, &Variable<'_>) -> String,
}

/// What the study file asks of a scheduler.
pub trait Settings: Any + Debug + Send + Sync {
    /// The scheduler's name.
    fn name(&self) -> &'static str;

    /// The time limit of a job, if the study file gives one.
    fn time(&self) -> Option<Duration>;

    /// Whether its jobs can only be pilots, that is, workers.
    fn takes_pilots_only(&self) -> bool {
        false
    }

    /// The runner with these settings.
    fn runner(&self, batch: Batch) -> Box<dyn Runner>;
}

impl dyn Settings {
    /// The settings of one scheduler, if they are.
    pub fn of<T: Settings>(&self) -> Option<&T> {
        (self as &dyn Any).downcast_ref()
    }
}

impl PartialEq for dyn Settings {
    fn eq(&self, other: &dyn Settings) -> bool {
        // All that a study file can say is in the text, and nothing else.
        self.name() == other.name() && format!("{self:?}") == format!("{other:?}")
    }
}

/// The further options that the study file gives a scheduler's submission, as long as they are none of those that tribo
/// gives itself: `-J`, `--job-name` and the like, without which it would not find its jobs again.
fn options(view: &View<'_>, own: &[&str]) -> Result<Vec<String>, Complaint> {
    let options = view.texts("options").unwrap_or_default();
    let is_own = |option: &&String| {
        own.iter().any(|own| match own.starts_with("--") {
            true => option.split('=').next() == Some(own),
            // A letter may have its value right behind it.
            false => option.starts_with(own) && !option.starts_with("--"),
        })
    };
    if let Some(option) = options.iter().find(is_own) {
        let message = format!(
            "`options` has {option:?}, which tribo gives itself to find its jobs again; leave it out"
        );
        return Err(view.complaint("options", message));
    }
    Ok(options)
}

const TEXTS: Type = Type::List { of: &Type::Word, least: 0, most: usize::MAX };
const POLL: &str = "Time between two looks at the queue, at least.";
const SETUP: &str = "Shell lines before the job, such as `module load`; the first that fails ends it.";
const EPILOGUE: &str = "Shell lines after the job, whatever came of it.";
