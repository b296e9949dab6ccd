//! How long a large study takes to come back: 100,000 trials finished, 1,000 under way.
//!
//! The journal is written through the store, as a driver would have. The trials under way all name one process, which
//! does nothing, so that they are found running; there are as many workers, so the driver has nothing to propose before it
//! says that it has the study. Not here: the folders of attempts, which neither command looks into for finished trials,
//! and the model, which is made at the first proposal.

use super::{mark, study};
use crate::machine::timed;
use crate::program::{COOKIE, Heard, Run};
use crate::seeds::Failure;
use serde::Serialize;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tribo::rng::Stream;
use tribo::trial::{Purpose, Trial, TrialId};
use tribo_study::job::Finding;
use tribo_study::layout::Layout;
use tribo_study::outputs::VALUE;
use tribo_study::store::record::Record;
use tribo_study::store::{Disk, Store};
use tribo_study::tag::{AttemptId, StudyId, Tag};

pub(super) const FINISHED: u64 = 100_000;
const RUNNING: u64 = 1_000;
const DIMENSION: usize = 10;
const SECONDS: f64 = 3.0;
/// Trials between two syncs while the journal is written.
const BATCH: u64 = 5_000;
const SILENCE: Duration = Duration::from_secs(120);

/// How long a large study takes to come back.
#[derive(Debug, Clone, Serialize)]
pub struct Resume {
    /// Trials finished.
    pub finished: u64,
    /// Trials under way.
    pub running: u64,
    /// Size of the journal.
    pub journal_mb: f64,
    /// Seconds of `tribo status`.
    pub status_s: f64,
    /// Seconds from the start of `tribo run` until it says that it has the study.
    pub run_s: f64,
    /// Less than this.
    pub bar_s: f64,
    /// Whether both are.
    pub ok: bool,
}

impl Resume {
    pub(super) fn text(&self) -> String {
        let Resume { finished, running, status_s, run_s, bar_s, .. } = self;
        let mark = mark(self.ok);
        format!(
            "{finished} + {running} trials: status {status_s:.2} s, run {run_s:.2} s, less than {bar_s}: {mark}"
        )
    }
}

/// Ends with the measurement.
struct Stand(Child);

impl Drop for Stand {
    fn drop(&mut self) {
        // Nothing depends on it any more.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

pub(super) fn measure(program: &Path) -> Result<Resume, Failure> {
    let text = study_file();
    let folder = study::with_file(&text)?;
    let layout = Layout::of(folder.path());
    let stand = Stand(Command::new("sleep").arg("600").stdin(Stdio::null()).spawn()?);
    Large::write(&layout, &text, &job(stand.0.id())?, RUNNING)?.store.close("written by a benchmark")?;
    let (status_s, output) = timed(|| {
        Command::new(program)
            .arg("status")
            .arg(folder.path())
            .env(COOKIE, folder.path())
            .stdin(Stdio::null())
            .output()
    });
    let output = output?;
    let said = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() || !said.contains(&FINISHED.to_string()) {
        return Err(format!(
            "tribo status: {}; {said}{}",
            output.status,
            String::from_utf8_lossy(&output.stderr)
        )
        .into());
    }
    let mut run = Run::start(program, folder.path())?;
    let run_s = match run.next(Instant::now() + SILENCE) {
        Heard::Event(event) if event.is("opened") => {
            let (told, adopted) = (&event.json["told"], &event.json["adopted"]);
            if *told != FINISHED || *adopted != RUNNING {
                return Err(format!("{told} trials are told and {adopted} taken over").into());
            }
            event.at.duration_since(run.begun).as_secs_f64()
        }
        other => return Err(format!("the driver did not begin: {other:?} {}", run.last_words()).into()),
    };
    run.kill()?;
    Ok(Resume {
        finished: FINISHED,
        running: RUNNING,
        journal_mb: std::fs::metadata(layout.journal())?.len() as f64 / 1e6,
        status_s,
        run_s,
        bar_s: SECONDS,
        ok: status_s < SECONDS && run_s < SECONDS,
    })
}

pub(super) fn study_file() -> String {
    format!(
        r#"study_version = 1
name = "large"
direction = "minimize"
seed = 1

[[parameter]]
name = "x"
type = "float"
low = 0.0
high = 1.0
size = {DIMENSION}

[strategy]
name = "bo"

[run]
workers = {RUNNING}
command = ["echo", "1"]
result = "stdout"

[budget]
evaluations = {}
"#,
        10 * FINISHED
    )
}

/// The id of a local job that is this process: pid, start in ticks after the boot, and the boot.
fn job(pid: u32) -> Result<String, Failure> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"))?;
    // Field 22 of proc(5), the twentieth after the name in parentheses.
    let (_, fields) = stat.rsplit_once(')').ok_or("/proc/PID/stat has no name")?;
    let start = fields.split_whitespace().nth(19).ok_or("/proc/PID/stat is too short")?;
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id")?;
    Ok(format!("{pid}:{start}:{}", boot.trim()))
}

/// A large study as it is written.
pub(super) struct Large {
    store: Disk,
    study: StudyId,
    stream: Stream,
    job: String,
    next: u64,
}

impl Large {
    /// All finished trials, and so many under way in one job.
    pub(super) fn write(layout: &Layout, config: &str, job: &str, running: u64) -> Result<Large, Failure> {
        let study = StudyId::from_bits(100_000);
        let (store, _) = Disk::create(layout, config, &study)?;
        let stream = Stream::new(1, "large study", 0);
        let mut large = Large { store, study, stream, job: job.to_owned(), next: 0 };
        for trial in 0..FINISHED + running {
            large.add(trial < FINISHED)?;
            if trial % BATCH == 0 {
                large.store.sync()?;
            }
        }
        large.store.sync()?;
        Ok(large)
    }

    /// One finished trial more; returns the number of records.
    pub(super) fn go_on(&mut self) -> Result<u64, Failure> {
        let n = self.add(true)?;
        self.store.sync()?;
        Ok(n)
    }

    fn add(&mut self, is_finished: bool) -> Result<u64, Failure> {
        let id = AttemptId { trial: self.next, attempt: 1 };
        self.next += 1;
        let tag = Tag::new(&self.study, id).ok_or("too many trials for tags")?;
        let z = (0..DIMENSION).map(|_| self.stream.uniform()).collect();
        let asked = Trial {
            id: TrialId(id.trial),
            embedding: 0,
            z,
            purpose: Purpose::Exploit,
            recipe: None,
            decision: None,
        };
        self.store.append(&Record::Asked { trial: asked, by_hand: false })?;
        self.store.append(&Record::Intended { id, tag })?;
        let mut last = self.store.append(&Record::Submitted { id, job: self.job.clone() })?;
        if is_finished {
            let finding = Finding::answered(VALUE, self.stream.normal());
            let host = "workstation".to_owned();
            self.store.append(&Record::Ended { id, finding: finding.clone(), wall_s: Some(30.0), host })?;
            last = self.store.append(&Record::Told { trial: id.trial, finding })?;
        }
        Ok(last.n + 1)
    }
}
