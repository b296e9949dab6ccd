//! What the tests of the store have in common: a study in a folder of its own, records, answers, file systems.

use super::Store;
use super::disk::Disk;
use super::record::Record;
use crate::config::{Command, Evaluation, ResultSource};
use crate::job::{Answer, Finding, JOB_VERSION, Spec};
use crate::layout::Layout;
use crate::outputs::VALUE;
use crate::tag::{AttemptId, StudyId, Tag};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use tribo::trial::{Purpose, Trial, TrialId};

pub(super) fn study_id() -> StudyId {
    StudyId::from_bits(7)
}

pub(super) fn first_attempt(trial: u64) -> AttemptId {
    AttemptId { trial, attempt: 1 }
}

pub(super) fn answer(study: &StudyId, id: AttemptId) -> Answer {
    Answer {
        version: JOB_VERSION,
        id,
        tag: Tag::new(study, id).unwrap(),
        incarnation: 0,
        params_digest: String::new(),
        finding: Finding::answered(VALUE, id.trial as f64),
        exit_code: Some(0),
        signal: None,
        stderr_tail: String::new(),
        started: "2020-01-01T00:00:00Z".to_owned(),
        wall_s: 1.0,
        cpu_s: 1.0,
        max_rss: 1,
        host: "here".to_owned(),
    }
}

pub(super) fn spec(id: AttemptId) -> Spec {
    Spec {
        version: JOB_VERSION,
        id,
        tag: Tag::new(&study_id(), id).unwrap(),
        params_digest: String::new(),
        folder: "../../../..".to_owned(),
        evaluation: Evaluation {
            result: ResultSource::Stdout,
            ..Evaluation::of(Command::Shell("true".to_owned()))
        },
        warning_s: None,
        wall_limit_s: None,
    }
}

pub(super) fn asked(trial: u64) -> Record {
    let z = vec![0.5, trial as f64];
    let trial = Trial {
        id: TrialId(trial),
        embedding: 0,
        z,
        purpose: Purpose::Initial,
        recipe: None,
        decision: None,
    };
    Record::Asked { trial, by_hand: false }
}

pub(super) fn intended(trial: u64) -> Record {
    let id = first_attempt(trial);
    Record::Intended { id, tag: Tag::new(&study_id(), id).unwrap() }
}

/// The end of a trial that has its answer.
pub(super) fn ended(answer: &Answer) -> [Record; 2] {
    let (id, finding) = (answer.id, answer.finding.clone());
    let (wall_s, host) = (Some(answer.wall_s), answer.host.clone());
    let told = Record::Told { trial: id.trial, finding: finding.clone() };
    [Record::Ended { id, finding, wall_s, host }, told]
}

/// A folder with a study in it.
pub(super) struct Study {
    pub(super) layout: Layout,
    pub(super) disk: Disk,
    pub(super) folder: TempDir,
}

impl Study {
    /// A study with trials whose first attempts are intended.
    pub(super) fn with(trials: u64) -> Study {
        let folder = tempfile::tempdir().unwrap();
        let layout = Layout::of(folder.path());
        let (mut disk, _) = Disk::create(&layout, "seed = 1\n", &study_id()).unwrap();
        for trial in 0..trials {
            disk.append(&asked(trial)).unwrap();
            disk.append(&intended(trial)).unwrap();
        }
        disk.sync().unwrap();
        Study { layout, disk, folder }
    }

    /// Leaves a file in the spool.
    pub(super) fn leave(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.layout.spool("done").join(name);
        fs::write(&path, content).unwrap();
        path
    }

    /// Leaves the answer of a first attempt, as a job does.
    pub(super) fn leave_answer(&self, trial: u64) -> PathBuf {
        let id = first_attempt(trial);
        self.leave(&Spec::spool_name(id, 0), serde_json::to_vec(&answer(&study_id(), id)).unwrap())
    }
}

/// Names in a folder, in order.
pub(super) fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Copies a folder with all that is in it.
pub(super) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for name in names(from) {
        let (source, target) = (from.join(&name), to.join(&name));
        match source.is_dir() {
            true => copy(&source, &target),
            false => drop(fs::copy(&source, &target).unwrap()),
        }
    }
}

/// A small file system of its own; needs the right to mount.
pub(super) struct Mounted(pub(super) TempDir);

impl Mounted {
    /// None, with a line that says so, where mounting is not allowed.
    pub(super) fn new(size: &str) -> Option<Mounted> {
        let folder = tempfile::tempdir().unwrap();
        let options = format!("size={size}");
        let mounted = run(&["mount", "-t", "tmpfs", "-o", &options, "tmpfs"], folder.path());
        if !mounted {
            println!("skipped: no file system could be mounted, which takes root");
        }
        mounted.then_some(Mounted(folder))
    }

    pub(super) fn make_read_only(&self) {
        assert!(run(&["mount", "-o", "remount,ro"], self.0.path()));
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        run(&["umount", "-l"], self.0.path());
    }
}

fn run(command: &[&str], path: &Path) -> bool {
    let status = std::process::Command::new(command[0])
        .args(&command[1..])
        .arg(path)
        .stderr(std::process::Stdio::null())
        .status();
    status.is_ok_and(|status| status.success())
}
