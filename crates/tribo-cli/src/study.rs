//! Opening a study: for reading, beside whoever drives it, or for writing, as its one owner.

use crate::place::Virtual;
use serde_json::{Map, Value};
use std::fs;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::{Path, PathBuf};
use tribo::strategy::Study;
use tribo_study::config::{Config, On, Run};
use tribo_study::driver::Parts;
use tribo_study::driver::clock::{Clock, SystemClock};
use tribo_study::job::{self, JOB_VERSION, STARTED_FILE, STDERR_FILE, Spec};
use tribo_study::layout::Layout;
use tribo_study::report::row::Begun;
use tribo_study::report::summary::{Driver, Seen};
use tribo_study::runner::{Runner, wall_limit};
use tribo_study::store::disk::UtcMs;
use tribo_study::store::lease::Owner;
use tribo_study::store::ledger::Ledger;
use tribo_study::store::process::Process;
use tribo_study::store::record::Record;
use tribo_study::store::{self, Disk, Store};
use tribo_study::tag::{AttemptId, StudyId, Tag};
use tribo_study::{Error, Result, replay};

/// From an attempt's folder, `STORE/trials/000000/a1`, to the folder of the study file.
const STUDY_FOLDER: &str = "../../../..";
/// Bytes at the end of an output that its last lines are looked for in.
const TAIL_BYTES: usize = 1 << 16;

/// A study as its journal tells it.
pub(crate) struct Reading {
    /// Its paths.
    pub(crate) layout: Layout,
    /// The study file in force, which is that of the journal.
    pub(crate) config: Config,
    /// Its state.
    pub(crate) ledger: Ledger,
    warnings: Vec<String>,
}

/// Reads a study, also while it runs.
pub(crate) fn read(layout: &Layout) -> Result<Reading> {
    let (ledger, warnings) = store::read(layout)?;
    let config = Config::parse(layout.file(), &ledger.config)?;
    Ok(Reading { layout: layout.clone(), config, ledger, warnings })
}

impl Reading {
    /// The optimiser, rebuilt.
    pub(crate) fn optimiser(&self) -> Result<Study> {
        replay::study(&self.config, &self.ledger)
    }

    /// Attempts under way that have begun, by what is in their folders.
    pub(crate) fn begun(&self) -> Begun {
        let begun = |id: &AttemptId| self.layout.attempt(*id).join(STARTED_FILE).exists();
        self.ledger.live().map(|attempt| attempt.id).filter(begun).collect()
    }

    /// The driver at work, if there may be one.
    pub(crate) fn driver(&self) -> Option<Driver> {
        // A lease that cannot be read says nothing; whoever takes the study finds out.
        let owner = Process::current().and_then(|me| Owner::find(&self.layout, &me)).ok()??;
        let process = owner.process.as_ref().filter(|_| owner.may_write())?;
        Some(Driver { host: process.host.clone(), pid: process.pid })
    }

    /// What a summary needs to know besides the journal.
    pub(crate) fn seen(&self) -> Seen {
        let mut warnings = self.warnings.clone();
        warnings.extend(self.changed());
        Seen { now_ms: SystemClock::new().utc_ms(), driver: self.driver(), begun: self.begun(), warnings }
    }

    /// What is to say about the study file, if it is not the one in force.
    fn changed(&self) -> Option<String> {
        let file = self.layout.file();
        let text = match fs::read_to_string(file) {
            Ok(text) if text == self.ledger.config => return None,
            Ok(text) => text,
            Err(error) => {
                return Some(format!("{} cannot be read: {error}; the journal has a copy", file.display()));
            }
        };
        Some(match Config::parse(file, &text) {
            Err(error) => format!("the study file was changed and has an error: {error}"),
            Ok(new) => match self.config.identity_difference(&new) {
                Some(what) => format!(
                    "{} is no longer that of this study: {what}; undo the change, or use another name for a new study",
                    file.display()
                ),
                None => format!("{} was changed; the next `tribo run` uses it", file.display()),
            },
        })
    }
}

/// The study file.
pub(crate) fn config(layout: &Layout) -> Result<Config> {
    Config::read(layout.file())
}

/// The state of a study, if there is a store.
pub(crate) fn ledger(layout: &Layout) -> Result<Option<Ledger>> {
    match layout.journal().exists() {
        true => store::read(layout).map(|(ledger, _)| Some(ledger)),
        false => Ok(None),
    }
}

/// How the study file contradicts the study in the store, if there is one.
pub(crate) fn difference(layout: &Layout, config: &Config) -> Result<Option<Error>> {
    let Some(ledger) = ledger(layout)? else { return Ok(None) };
    Ok(contradiction(layout, &ledger, config))
}

fn contradiction(layout: &Layout, ledger: &Ledger, config: &Config) -> Option<Error> {
    let old = Config::parse(layout.file(), &ledger.config).ok()?;
    old.identity_difference(config).map(|what| Error::Changed {
        path: layout.file().to_owned(),
        what,
        advice: "undo the change, or give the changed study file another name for a new study".to_owned(),
    })
}

/// A study that belongs to this process.
pub(crate) struct Writing {
    /// Its paths.
    pub(crate) layout: Layout,
    /// The study file.
    pub(crate) config: Config,
    /// Its state.
    pub(crate) ledger: Ledger,
    /// What was found and put right.
    pub(crate) notes: Vec<String>,
    /// The time, where evaluations are simulated.
    pub(crate) virtual_time: Option<Virtual>,
    store: Disk,
}

/// Takes a study; makes its store if there is none.
pub(crate) fn open(layout: &Layout, take_over: bool) -> Result<Writing> {
    let config = config(layout)?;
    let text = fs::read_to_string(layout.file()).map_err(Error::io("cannot read", layout.file()))?;
    let before = ledger(layout)?;
    let simulated = matches!(config.run.as_ref().map(|run| &run.on), Some(On::Simulated(_)));
    let virtual_time = simulated.then(|| Virtual::after(before.as_ref().map(|ledger| ledger.last_ms)));
    let utc_ms = utc_ms(virtual_time.as_ref());
    if before.is_none() {
        let (store, ledger) = Disk::create_with(layout, &text, &random_id(), utc_ms)?;
        return Ok(Writing { layout: layout.clone(), config, ledger, notes: vec![], virtual_time, store });
    }
    let (store, ledger, notes) = Disk::open_with(layout, take_over, utc_ms)?;
    let mut writing = Writing { layout: layout.clone(), config, ledger, notes, virtual_time, store };
    if writing.ledger.config != text {
        if let Some(error) = contradiction(layout, &writing.ledger, &writing.config) {
            return Err(error);
        }
        writing.append(Record::Configured { config: text })?;
    }
    Ok(writing)
}

/// Takes a study that has a store.
pub(crate) fn open_existing(layout: &Layout) -> Result<Writing> {
    read(layout)?;
    open(layout, false)
}

fn utc_ms(virtual_time: Option<&Virtual>) -> UtcMs {
    match virtual_time.cloned() {
        Some(time) => Box::new(move || time.utc_ms()),
        None => Box::new(|| SystemClock::new().utc_ms()),
    }
}

/// The id of a study; a new one if there is no store yet.
pub(crate) fn id(layout: &Layout) -> Result<StudyId> {
    Ok(ledger(layout)?.map_or_else(random_id, |ledger| ledger.study))
}

fn random_id() -> StudyId {
    // The hasher's keys are random; nothing else here is.
    StudyId::from_bits(RandomState::new().build_hasher().finish())
}

impl Writing {
    /// Adds a record and folds it into the state.
    pub(crate) fn append(&mut self, record: Record) -> Result<()> {
        let entry = self.store.append(&record)?;
        self.ledger
            .apply(&entry)
            .map_err(|what| Error::Usage(format!("the journal cannot take this: {what}")))
    }

    /// Makes everything durable and gives the study back.
    pub(crate) fn close(self, why: &str) -> Result<()> {
        self.store.close(why)
    }

    /// What a driver works with.
    pub(crate) fn into_parts<'a>(self, run: Run, runner: Box<dyn Runner>, clock: &'a dyn Clock) -> Parts<'a> {
        let wall = wall_limit(&run.on, run.evaluation.timeout);
        Parts {
            config: self.config,
            run,
            ledger: self.ledger,
            store: Box::new(self.store),
            runner,
            clock,
            folder: STUDY_FOLDER.to_owned(),
            wall_limit_s: wall.map(|wall| wall.as_secs_f64()),
        }
    }
}

/// One evaluation outside the study, in a store of its own beside the study's.
pub(crate) struct Scratch {
    store: PathBuf,
    /// The folder of its only attempt.
    pub(crate) dir: PathBuf,
}

impl Scratch {
    /// Makes the folder of the attempt. What an earlier check left is removed.
    pub(crate) fn new(layout: &Layout, run: &Run, params: &Map<String, Value>) -> Result<Scratch> {
        let stem = layout.file().file_stem().unwrap_or_default().to_string_lossy();
        let beside = Layout::of(&layout.folder().join(format!("{stem}.check.tribo")));
        let store = beside.store().to_owned();
        if store.exists() {
            fs::remove_dir_all(&store).map_err(Error::io("cannot remove", &store))?;
        }
        let study = random_id();
        let (mut disk, _) = Disk::create(&beside, "", &study)?;
        let id = AttemptId { trial: 0, attempt: 1 };
        let tag = Tag::new(&study, id).ok_or_else(|| Error::Usage("no tag".to_owned()))?;
        let params = Value::Object(params.clone()).to_string();
        let spec = Spec {
            version: JOB_VERSION,
            id,
            tag,
            params_digest: job::digest(params.as_bytes()),
            folder: STUDY_FOLDER.to_owned(),
            evaluation: run.evaluation.clone(),
            wall_limit_s: None,
        };
        let dir = disk.prepare(&spec, params.as_bytes())?;
        Ok(Scratch { store, dir })
    }

    /// Removes all of it.
    pub(crate) fn remove(self) {
        // What cannot be removed now is removed by the next check.
        let _ = fs::remove_dir_all(self.store);
    }
}

/// The last lines of an attempt's standard error; empty if there is none.
pub(crate) fn stderr_tail(dir: &Path, lines: usize) -> String {
    let bytes = fs::read(dir.join(STDERR_FILE)).unwrap_or_default();
    let end = String::from_utf8_lossy(&bytes[bytes.len().saturating_sub(TAIL_BYTES)..]).into_owned();
    let skip = end.lines().count().saturating_sub(lines);
    end.lines().skip(skip).collect::<Vec<_>>().join("\n")
}
