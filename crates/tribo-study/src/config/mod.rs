//! The study file, read: what to optimise, how, within what budget, and where evaluations run.
//!
//! These are the types everything else works with. `read` makes them from TOML. `keys` lists every section and key once;
//! `check` holds a file against that list, `schema` turns it into JSON Schema and `reference` into a page for people.

mod check;
mod identity;
mod keys;
mod place;
mod read;
pub mod reference;
pub mod schema;
mod value;
mod view;

#[cfg(test)]
mod tests;

pub(crate) use keys::{Section, Type, key, table};
pub(crate) use place::Complaint;
pub use read::about_parameter;
pub(crate) use view::View;

use crate::outputs::{Goal, Output, Outputs, VALUE};
use crate::scheduler::Settings;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tribo::limit::Limit;
use tribo::space::{Direction, Space};
use tribo::strategy::Strategy;

/// A duration as study files have it, such as `1h 30m`.
pub fn duration(text: &str) -> Option<Duration> {
    value::duration_of(text)
}

/// The version of study files.
pub const STUDY_VERSION: u32 = 1;

/// A complaint about a study file, with its place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}:{line}:{column}: {message}", path.display())]
pub struct ConfigError {
    /// The file.
    pub path: PathBuf,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// What is wrong and what to write instead.
    pub message: String,
}

/// A study file.
#[derive(Debug, Clone)]
pub struct Config {
    /// Name of the study.
    pub name: String,
    /// What an evaluation gives, in the order of the file; one of them has a goal other than to be recorded.
    pub outputs: Vec<Output>,
    /// Where outputs have to be, in the order of the outputs.
    pub limits: Vec<Limit>,
    /// Which way is better.
    pub direction: Direction,
    /// Seed of every random draw.
    pub seed: u64,
    /// The inputs.
    pub space: Space,
    /// The values that parameters had in the evaluations made before they were added, by name.
    pub earlier: BTreeMap<String, serde_json::Value>,
    /// Parameters that are meant to be used by nothing.
    pub unused: BTreeSet<String>,
    /// How points are chosen.
    pub strategy: Strategy,
    /// When to stop.
    pub budget: Budget,
    /// How a point is evaluated, and where; None for a study driven by `tribo ask` and `tribo tell` alone.
    pub run: Option<Run>,
    /// Who may read the store.
    pub readers: Readers,
    /// Whether a run that is over writes its report.
    pub report: bool,
    /// The parts that decide proposals (objective, direction, limits, constraints, seed, parameters, strategy and, for `auto`, the number of evaluations) in
    /// a canonical form: if it changes, the study is another one.
    pub identity: String,
}

impl Config {
    /// The name of the output that is optimised.
    pub fn objective(&self) -> &str {
        self.outputs.iter().find(|output| output.goal != Goal::Record).map_or(VALUE, |output| &output.name)
    }

    /// What was measured of the limited outputs, in the order of the limits.
    pub fn limited(&self, outputs: &Outputs) -> Vec<Option<f64>> {
        self.limits.iter().map(|limit| outputs.get(limit.name())).collect()
    }

    /// Whether these outputs meet every limit; one that is missing does not.
    pub fn meets_limits(&self, outputs: &Outputs) -> bool {
        outputs.meet(&self.limits)
    }

    /// The limits that these outputs are beyond.
    pub fn violated<'a>(&'a self, outputs: &'a Outputs) -> impl Iterator<Item = &'a Limit> {
        outputs.violate(&self.limits)
    }
}

/// Who may read the store of a study.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Readers {
    /// Its owner.
    #[default]
    Owner,
    /// The owner's group too.
    Group,
    /// Everyone who reaches it.
    Everyone,
}

/// When a study is over: whatever comes first.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Budget {
    /// Trials, failed ones included.
    pub evaluations: Option<usize>,
    /// Time since the study was first run.
    pub wall_time: Option<Duration>,
    /// A value that is good enough, in the user's direction.
    pub target: Option<f64>,
}

/// Where evaluations run, how many at once, and what happens when one fails.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// The runner.
    pub on: On,
    /// Evaluations under way at once.
    pub workers: usize,
    /// What one evaluation is.
    pub evaluation: Evaluation,
    /// How often what is tried again.
    pub retries: Retries,
    /// Which attempt folders stay.
    pub keep: Keep,
    /// How long before its time limit the command is sent SIGUSR1.
    pub warning: Option<Duration>,
    /// Whether jobs of the scheduler are pilots.
    pub pilots: Option<Pilots>,
    /// Evaluations offered to pilots or workers beyond those that run.
    pub ahead: usize,
}

/// A runner with its settings.
#[derive(Debug, Clone, PartialEq)]
pub enum On {
    /// Processes of this machine.
    Local,
    /// A batch scheduler, as its section of the study file says.
    Batch(Arc<dyn Settings>),
    /// Whatever workers people start.
    Workers,
    /// A built-in test problem on a virtual clock.
    Simulated(Simulated),
}

/// Pilots: jobs of a scheduler that each run many evaluations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pilots {
    /// Evaluations at once in one of them.
    pub slots: usize,
    /// How long one stays without anything to do.
    pub idle: Duration,
}

/// A test problem and how long it pretends to take.
#[derive(Debug, Clone, PartialEq)]
pub struct Simulated {
    /// Name of a built-in problem, such as `hartmann4`.
    pub problem: String,
    /// The output that its value is.
    pub objective: String,
    /// Shortest and longest evaluation.
    pub duration: (Duration, Duration),
}

/// What one evaluation is: everything `tribo job` has to know about it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    /// The program; no words at all in a simulated study that names none.
    pub command: Command,
    /// Longest time it may take.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "seconds")]
    pub timeout: Option<Duration>,
    /// How it gets its parameters.
    pub params: ParamsFormat,
    /// Where its objective is.
    pub result: ResultSource,
    /// Where each of its outputs is, in the order of the study file. Empty in specifications of version 0.1.0: one called
    /// `value`, which is `result`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<Sought>,
    /// Input decks to fill in.
    #[serde(default)]
    pub decks: Vec<Deck>,
    /// Files and folders of the study folder to copy into the working directory.
    #[serde(default)]
    pub copy: Vec<PathBuf>,
    /// Files and folders of the study folder to link there.
    #[serde(default)]
    pub link: Vec<PathBuf>,
    /// A folder on the machine itself, which may name variables of the environment: the command works there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scratch: Option<String>,
    /// What comes back from there; all that is new or changed if this is empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fetch: Vec<PathBuf>,
    /// Additions to the environment.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Bytes kept of each of standard output and standard error: this many from the start, a sixteenth of it from the end.
    pub capture: u64,
    /// The exit code that means "try again later", EX_TEMPFAIL by default.
    pub retry_exit_code: i32,
    /// The exit code that means "this point is not allowed", EX_DATAERR by default.
    pub infeasible_exit_code: i32,
}

impl Evaluation {
    /// A command and nothing else, all keys at their defaults.
    pub fn of(command: Command) -> Evaluation {
        Evaluation {
            command,
            timeout: None,
            params: ParamsFormat::Json,
            result: ResultSource::Json { file: "result.json".into(), key: "objective".into() },
            outputs: vec![],
            decks: vec![],
            copy: vec![],
            link: vec![],
            scratch: None,
            fetch: vec![],
            env: BTreeMap::new(),
            capture: 16_000_000,
            retry_exit_code: 75,
            infeasible_exit_code: 65,
        }
    }
}

/// A program. `{params}`, `{result}`, `{dir}`, `{trial}` and `{attempt}` are filled in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Command {
    /// Program and arguments, no shell. Words that name a file of the study folder become its absolute path.
    Argv(Vec<String>),
    /// One line for `sh -c`.
    Shell(String),
}

/// How parameters reach the program. The environment has TRIBO_PARAMS and, for each scalar, TRIBO_X_NAME always.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ParamsFormat {
    /// `params.json`: an object of names.
    Json,
    /// Dakota's standard format.
    Dakota,
    /// Dakota's aprepro format.
    Aprepro,
}

/// An output and where it is found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sought {
    /// Its name.
    pub name: String,
    /// Whether it is the one that is optimised, without which there is no answer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub objective: bool,
    /// Where it is.
    pub source: ResultSource,
}

/// Where one number of the answer is found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "from", rename_all = "snake_case")]
pub enum ResultSource {
    /// A JSON file: a number, or an object with the number under `key`, or `"fail": reason`, or `"feasible": false`.
    Json {
        /// Name in the working directory.
        file: String,
        /// The member that is the number.
        key: String,
    },
    /// Dakota's results file: a number, or a line that begins with `fail`.
    Dakota {
        /// Name in the working directory.
        file: String,
        /// Which of its responses.
        #[serde(default)]
        response: Response,
    },
    /// The last number on standard output.
    Stdout,
    /// A regular expression whose first group is the number.
    Regex {
        /// Name in the working directory; None is standard output.
        file: Option<String>,
        /// The expression.
        pattern: String,
        /// Which match counts.
        occurrence: Occurrence,
    },
    /// A cell of a CSV file.
    Csv {
        /// Name in the working directory.
        file: String,
        /// Name of the column in the header.
        column: String,
        /// Which row counts.
        row: Occurrence,
    },
}

/// Which response of Dakota's results file.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Response {
    /// There must be exactly one.
    #[default]
    Only,
    /// The n-th, from 1.
    Number(usize),
    /// The one with this descriptor.
    Descriptor(String),
    /// The one with this descriptor, or else the n-th, if there are as many responses as outputs.
    Usual {
        /// The descriptor.
        descriptor: String,
        /// n, from 1.
        number: usize,
        /// Names of all outputs, in order.
        of: Vec<String>,
    },
}

/// Which of several matches or rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Occurrence {
    /// There must be exactly one.
    Only,
    /// The first.
    First,
    /// The last.
    Last,
    /// The n-th, from 1.
    Nth(usize),
}

/// An input deck with `{{name}}` and `{{name | %12.5e}}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deck {
    /// The template, in the study folder.
    pub template: PathBuf,
    /// The name it gets in the working directory.
    pub to: PathBuf,
    /// What opens and closes a field, `{{` and `}}` unless the deck needs those itself.
    pub open: String,
    /// See `open`.
    pub close: String,
}

/// Attempts after the first, by what went wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retries {
    /// The program said so (exit code 75).
    pub transient: u32,
    /// The job was lost. Preempted jobs and those of a node that failed are not counted.
    pub infrastructure: u32,
    /// The program failed.
    pub failed: u32,
    /// It ran into a time limit.
    pub timeout: u32,
    /// It ran out of memory.
    pub memory: u32,
    /// How long an attempt waits that was asked for by the program; the next ones wait longer.
    pub delay: Duration,
}

impl Default for Retries {
    fn default() -> Self {
        let delay = Duration::from_secs(30);
        Retries { transient: 5, infrastructure: 3, failed: 0, timeout: 0, memory: 0, delay }
    }
}

/// Which attempt folders are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// All.
    All,
    /// Those of attempts that gave no value.
    Failed,
    /// None.
    None,
}

/// Durations as seconds in JSON.
mod seconds {
    use serde::{Deserialize, Deserializer, Serializer};
    use std::time::Duration;

    pub(super) fn serialize<S: Serializer>(duration: &Option<Duration>, to: S) -> Result<S::Ok, S::Error> {
        match duration {
            Some(duration) => to.serialize_some(&duration.as_secs_f64()),
            None => to.serialize_none(),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Duration>, D::Error> {
        let seconds = Option::<f64>::deserialize(from)?;
        seconds.map(|s| Duration::try_from_secs_f64(s).map_err(serde::de::Error::custom)).transpose()
    }
}
