//! Studies on schedulers that are fakes, run by the real program: what they executed, and what they left.

use crate::support::{Done, Folder, Running, done};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// A study whose evaluations write down that they began, and where they see the study.
pub(crate) fn study(evaluations: usize, workers: usize, seconds: f64, run: &str) -> String {
    format!(
        r#"study_version = 1
direction = "minimize"
seed = 3
strategy = {{ name = "random" }}
budget = {{ evaluations = {evaluations} }}
[[parameter]]
name = "x"
type = "float"
low = -1.0
high = 1.0
[run]
workers = {workers}
command = 'echo "$TRIBO_TRIAL $TRIBO_ATTEMPT $TRIBO_STUDY_DIR" >>"$TRIBO_STUDY_DIR/executions"; sleep {seconds}; echo 1'
result = "stdout"
{run}
"#
    )
}

/// How often each trial was executed.
pub(crate) fn executions(folder: &Folder) -> BTreeMap<u64, usize> {
    let mut count = BTreeMap::new();
    for line in folder.read("executions").lines() {
        *count.entry(line.split_once(' ').unwrap().0.parse().unwrap()).or_default() += 1;
    }
    count
}

#[track_caller]
pub(crate) fn all_measured_once(folder: &Folder, evaluations: usize) {
    let status = folder.tribo(["status", "--json"]).code(0).json();
    assert_eq!(status["counts"]["measured"], evaluations, "{status}");
    let count = executions(folder);
    assert_eq!(count.len(), evaluations);
    assert!(count.values().all(|n| *n == 1), "{count:?}");
}

#[track_caller]
pub(crate) fn wait_until(what: &str, holds: impl Fn() -> bool) {
    let begin = Instant::now();
    while !holds() {
        assert!(begin.elapsed() < Duration::from_secs(60), "waited a minute in vain: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The variable that tells the fakes where their state is.
const STATE: &str = "FAKE_SCHED_STATE";

/// A scheduler made of fakes, and a study for it.
pub(crate) struct Cluster {
    pub(crate) folder: Folder,
    pub(crate) state: PathBuf,
    /// Where its programs are.
    programs: PathBuf,
}

impl Cluster {
    /// SLURM, PBS or machines that ssh reaches.
    pub(crate) fn new(study: &str) -> Cluster {
        Cluster::with_programs(study, "")
    }

    /// A scheduler whose programs are in a folder of their own.
    pub(crate) fn with_programs(study: &str, programs: &str) -> Cluster {
        let folder = Folder::with(study);
        let state = folder.path().join("scheduler");
        fs::create_dir(&state).unwrap();
        fs::write(state.join("settings.json"), "{\"run\": true}").unwrap();
        let fakes = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tribo-study/tests/fakes");
        Cluster { folder, state, programs: fakes.join(programs) }
    }

    /// What the scheduler is like; see `scheduler` among the fakes.
    pub(crate) fn settings(&self, json: &str) {
        fs::write(self.state.join("settings.json"), json).unwrap();
    }

    fn path(&self) -> String {
        format!("{}:{}", self.programs.display(), std::env::var("PATH").unwrap())
    }

    pub(crate) fn run(&self) -> Running {
        let env = [("PATH", self.path()), (STATE, self.state.display().to_string())];
        self.folder.start_with(["run"], &env.each_ref().map(|(name, value)| (*name, value.as_str())))
    }

    /// Another command of the program, to its end.
    pub(crate) fn tribo<const N: usize>(&self, args: [&str; N]) -> Done {
        let mut command = self.folder.command(args);
        done(command.env("PATH", self.path()).env(STATE, &self.state).output().unwrap())
    }

    /// Changes a job: `set ID KEY=VALUE...` or `stop ID STATE REASON`.
    pub(crate) fn tell(&self, words: &[&str]) {
        let mut command = Command::new(self.programs.join("scheduler"));
        let output = command.args(words).env(STATE, &self.state).output().unwrap();
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    /// How often a program was called, but for questions whether it would take a job.
    pub(crate) fn called(&self, program: &str) -> usize {
        let calls = fs::read_to_string(self.state.join("calls")).unwrap();
        calls
            .lines()
            .filter(|line| line.starts_with(&format!("[\"{program}\"")) && !line.contains("--test-only"))
            .count()
    }

    /// States of all jobs that it ever had.
    pub(crate) fn states(&self) -> Vec<String> {
        let jobs: serde_json::Value =
            serde_json::from_str(&fs::read_to_string(self.state.join("jobs.json")).unwrap()).unwrap();
        jobs["jobs"].as_array().unwrap().iter().map(|job| job["state"].as_str().unwrap().to_owned()).collect()
    }

    /// Whether it was given so many jobs.
    pub(crate) fn has_jobs(&self, n: usize) -> bool {
        self.state.join("jobs.json").exists() && self.states().len() == n
    }

    /// Nothing waits or runs any more.
    #[track_caller]
    pub(crate) fn is_empty(&self) {
        let states = self.states();
        assert!(states.iter().all(|state| state != "RUNNING" && state != "PENDING"), "{states:?}");
    }
}
