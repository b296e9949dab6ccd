//! Opening a study to write to it, as its one owner, and what a check tries outside of it.

use crate::place::Virtual;
use serde_json::{Map, Value};
use std::fs;
use std::path::{Path, PathBuf};
use tribo::space::UnitPoint;
use tribo_study::config::{Config, ConfigError, On, Run, about_parameter};
use tribo_study::driver::Parts;
use tribo_study::driver::clock::{Clock, SystemClock};
use tribo_study::job::params::Params;
use tribo_study::job::{self, JOB_VERSION, NameFault, STDERR_FILE, Spec};
use tribo_study::layout::Layout;
use tribo_study::owned::{self, How, Owned};
use tribo_study::point::to_json;
use tribo_study::runner::{Runner, wall_limit};
use tribo_study::store::disk::UtcMs;
use tribo_study::store::ledger::Ledger;
use tribo_study::store::{Disk, Store};
use tribo_study::tag::{AttemptId, StudyId, Tag};
use tribo_study::{Error, Result};

/// From an attempt's folder, `STORE/trials/000000/a1`, to the folder of the study file.
const STUDY_FOLDER: &str = "../../../..";
/// Bytes at the end of an output that its last lines are looked for in.
const TAIL_BYTES: usize = 1 << 16;

/// The study file.
pub(crate) fn config(layout: &Layout) -> Result<Config> {
    Config::read(layout.file())
}

/// How the study file contradicts the study in the store, if there is one.
pub(crate) fn difference(layout: &Layout, config: &Config) -> Result<Option<Error>> {
    let Some(ledger) = owned::ledger(layout)? else { return Ok(None) };
    Ok(owned::contradiction(layout, &ledger, config))
}

/// What is wrong with the names of the parameters, or whether one is used by nothing: where evaluations are made here.
pub(crate) fn name_fault(layout: &Layout, config: &Config) -> Result<Option<ConfigError>> {
    let Some(run) = config.run.as_ref().filter(|run| !matches!(run.on, On::Simulated(_))) else {
        return Ok(None);
    };
    let json = Value::Object(middle(config)?).to_string();
    let params = Params::read(json.as_bytes()).map_err(|error| Error::Usage(error.to_string()))?;
    let checked = job::check_names(&run.evaluation, &params, &config.unused, layout.folder());
    Ok(checked.err().map(|NameFault { parameter, message }| {
        let text = fs::read_to_string(layout.file()).unwrap_or_default();
        about_parameter(layout.file(), &text, &parameter, message)
    }))
}

/// The middle of the space, as an evaluation would get it.
pub(crate) fn middle(config: &Config) -> Result<Map<String, Value>> {
    let centre = vec![0.5; config.space.dim()];
    // Where constraints between parameters exclude the middle, the nearest point that they allow.
    let allowed = config.space.region().and_then(|region| region.nearest(&centre));
    let middle = config.space.decode(&UnitPoint::new(allowed.unwrap_or(centre))?)?;
    Ok(to_json(&config.space, &middle))
}

/// A study that belongs to this process.
pub(crate) struct Writing {
    /// It.
    pub(crate) study: Owned,
    /// The time, where evaluations are simulated.
    pub(crate) virtual_time: Option<Virtual>,
}

/// Takes a study; makes its store if there is none.
pub(crate) fn open(layout: &Layout, how: How) -> Result<Writing> {
    take(|clock| Owned::open(layout, how, clock))
}

/// Takes a study that has a store.
pub(crate) fn open_existing(layout: &Layout) -> Result<Writing> {
    take(|clock| Owned::open_existing(layout, clock))
}

/// Takes a study by the clock that it wants.
fn take(open: impl FnOnce(&mut ChooseClock<'_>) -> Result<Owned>) -> Result<Writing> {
    let mut virtual_time = None;
    let study = open(&mut |config, before| {
        let simulated = matches!(config.run.as_ref().map(|run| &run.on), Some(On::Simulated(_)));
        virtual_time = simulated.then(|| Virtual::after(before.map(|ledger| ledger.last_ms)));
        utc_ms(virtual_time.as_ref())
    })?;
    Ok(Writing { study, virtual_time })
}

/// Chooses the clock of records, given the study file and the state so far.
type ChooseClock<'a> = dyn FnMut(&Config, Option<&Ledger>) -> UtcMs + 'a;

fn utc_ms(virtual_time: Option<&Virtual>) -> UtcMs {
    match virtual_time.cloned() {
        Some(time) => Box::new(move || time.utc_ms()),
        None => Box::new(|| SystemClock::new().utc_ms()),
    }
}

/// The id of a study; a new one if there is no store yet.
pub(crate) fn id(layout: &Layout) -> Result<StudyId> {
    Ok(owned::ledger(layout)?.map_or_else(owned::random_id, |ledger| ledger.study))
}

impl Writing {
    /// What a driver works with.
    pub(crate) fn into_parts<'a>(self, run: Run, runner: Box<dyn Runner>, clock: &'a dyn Clock) -> Parts<'a> {
        // A pilot sees to its own end; what it runs has no limit but the study's.
        let wall = wall_limit(&run.on, run.evaluation.timeout).filter(|_| run.pilots.is_none());
        Parts {
            config: self.study.config,
            run,
            ledger: self.study.ledger,
            store: Box::new(self.study.store),
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
        let study = owned::random_id();
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
            warning_s: None,
        };
        disk.prepare(&spec, params.as_bytes())?;
        let dir = disk.dir(id);
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
