//! A cluster made of the programs in `tests/fakes`, with a state folder of its own.

use crate::study::{Study, fakes, program};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;
use tribo_study::runner::batch::Batch;
use tribo_study::runner::command::Commands;
use tribo_study::scheduler::pbs::{Pbs, PbsSettings};
use tribo_study::scheduler::slurm::{Slurm, SlurmSettings};

pub(crate) struct Cluster {
    pub(crate) study: Study,
    state: PathBuf,
}

impl Cluster {
    /// A cluster whose jobs wait until a test moves them.
    pub(crate) fn new() -> Cluster {
        Cluster::of(Study::new())
    }

    /// The same of a study in a folder of this name.
    pub(crate) fn in_folder(name: &str, settings: Value) -> Cluster {
        let cluster = Cluster::of(Study::in_folder(name));
        cluster.settings(settings);
        cluster
    }

    fn of(study: Study) -> Cluster {
        let state = study.folder().join("scheduler");
        std::fs::create_dir(&state).unwrap();
        Cluster { study, state }
    }

    /// A cluster that is as these settings say; see `tests/fakes/scheduler`.
    pub(crate) fn with(settings: Value) -> Cluster {
        let cluster = Cluster::new();
        cluster.settings(settings);
        cluster
    }

    pub(crate) fn settings(&self, settings: Value) {
        self.write("settings.json", &settings.to_string());
    }

    /// Faults for the next calls of a program.
    pub(crate) fn faults(&self, program: &str, faults: Value) {
        self.write("faults.json", &json!({ program: faults }).to_string());
    }

    /// The folder of its state.
    pub(crate) fn state(&self) -> &str {
        self.state.to_str().unwrap()
    }

    pub(crate) fn clock(&self, seconds: f64) {
        self.write("clock", &seconds.to_string());
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.state.join(name), text).unwrap();
    }

    /// `scheduler set ID ...` or `scheduler add ...`.
    pub(crate) fn tell(&self, words: &[&str]) {
        let mut command = Command::new(fakes().join("scheduler"));
        let output = command.args(words).env("FAKE_SCHED_STATE", &self.state).output().unwrap();
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    /// All calls so far: program and arguments.
    pub(crate) fn calls(&self) -> Vec<Vec<String>> {
        let text = std::fs::read_to_string(self.state.join("calls")).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// How often a program was called.
    pub(crate) fn called(&self, program: &str) -> usize {
        self.calls().iter().filter(|call| call[0] == program).count()
    }

    /// Jobs that the cluster was given: name and state.
    pub(crate) fn jobs(&self) -> Vec<(String, String)> {
        let text = std::fs::read_to_string(self.state.join("jobs.json")).unwrap_or("{\"jobs\": []}".into());
        let value: Value = serde_json::from_str(&text).unwrap();
        let word = |job: &Value, key: &str| job[key].as_str().unwrap().to_owned();
        value["jobs"].as_array().unwrap().iter().map(|job| (word(job, "name"), word(job, "state"))).collect()
    }

    pub(crate) fn commands(&self) -> Commands {
        Commands::new().in_folder(fakes()).with_env("FAKE_SCHED_STATE", self.state.to_str().unwrap())
    }

    pub(crate) fn batch(&self, commands: Commands) -> Batch {
        let wall = Some(Duration::from_secs(3600));
        Batch::new(self.study.id.clone(), &self.study.layout(), program(), wall).with_commands(commands)
    }

    pub(crate) fn slurm(&self) -> Slurm {
        Slurm::new(SlurmSettings::default(), self.batch(self.commands()))
    }

    pub(crate) fn pbs(&self) -> Pbs {
        Pbs::new(PbsSettings::default(), self.batch(self.commands()))
    }
}
