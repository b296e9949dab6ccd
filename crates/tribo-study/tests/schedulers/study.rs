//! A study folder to run attempts in, without a store.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tribo_study::layout::Layout;
use tribo_study::runner::{Attempt, JobRef, Runner, Sighting, State};
use tribo_study::tag::{AttemptId, StudyId, Tag};

/// A study in a temporary folder.
pub(crate) struct Study {
    /// Gone with the study.
    _temporary: tempfile::TempDir,
    folder: PathBuf,
    pub(crate) id: StudyId,
}

impl Study {
    pub(crate) fn new() -> Study {
        Study::in_folder("study")
    }

    /// A study in a folder of this name.
    pub(crate) fn in_folder(name: &str) -> Study {
        let temporary = tempfile::tempdir().unwrap();
        let folder = temporary.path().join(name);
        std::fs::create_dir(&folder).unwrap();
        Study { _temporary: temporary, folder, id: StudyId::from_bits(0x5eed) }
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(crate) fn layout(&self) -> Layout {
        Layout::of(&self.folder().join("study.toml"))
    }

    /// The first attempt at a trial, with its folder.
    pub(crate) fn attempt(&self, trial: u64) -> Attempt {
        let id = AttemptId { trial, attempt: 1 };
        let dir = self.layout().attempt(id);
        std::fs::create_dir_all(&dir).unwrap();
        std::fs::write(dir.join("params.json"), "{\"x\": 0.5}").unwrap();
        Attempt { id, tag: Tag::new(&self.id, id).unwrap(), dir, avoid: Vec::new(), memory_kills: 0 }
    }

    pub(crate) fn attempts(&self, trials: std::ops::Range<u64>) -> Vec<Attempt> {
        trials.map(|trial| self.attempt(trial)).collect()
    }
}

/// The reference that the journal would hold.
pub(crate) fn reference(attempt: &Attempt, job: Option<&str>) -> JobRef {
    let job = job.map(str::to_owned);
    JobRef { id: attempt.id, tag: attempt.tag.clone(), dir: attempt.dir.clone(), job }
}

/// What stands in for `tribo`.
pub(crate) fn program() -> PathBuf {
    fakes().join("job")
}

/// The folder of programs that stand in for real ones.
pub(crate) fn fakes() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fakes")
}

/// The state of one job, if it is seen.
pub(crate) fn state_of(runner: &mut dyn Runner, job: &JobRef) -> Option<State> {
    sighting_of(runner, job).map(|sighting| sighting.state)
}

pub(crate) fn sighting_of(runner: &mut dyn Runner, job: &JobRef) -> Option<Sighting> {
    runner.poll(std::slice::from_ref(job)).unwrap().pop()
}

/// Waits until something holds; a generous limit, since machines are busy.
pub(crate) fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !holds() {
        assert!(Instant::now() < deadline, "waited 30 s in vain: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
