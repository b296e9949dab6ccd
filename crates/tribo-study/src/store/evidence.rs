//! What lies on disk of attempts, whether or not the journal knows them: folders, and answers wherever they are.

use super::files::{self, Durable};
use super::{attempts, spool};
use crate::job::{ANSWER_FILE, Answer, CLAIM_FILE, Kind, PARAMS_FILE, SPEC_FILE, Spec};
use crate::layout::Layout;
use crate::tag::{AttemptId, StudyId, Tag};
use crate::{Error, Result};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// What lies on disk of one attempt.
#[derive(Debug, Clone, Default)]
pub(crate) struct Evidence {
    /// Its folder, if there is one.
    pub(crate) folder: Option<PathBuf>,
    /// Whether that is claimed.
    pub(crate) claimed: bool,
    /// The digest of the parameters it was made with.
    pub(crate) digest: Option<String>,
    /// When it was made, as nearly as can be told.
    pub(crate) made: Option<SystemTime>,
    /// Its answer.
    pub(crate) answer: Option<Answer>,
    /// When that was left.
    pub(crate) answered: Option<SystemTime>,
    /// Files of the spool with answers of it.
    pub(crate) spooled: Vec<PathBuf>,
}

/// All of them, by attempt.
pub(crate) fn find(layout: &Layout, study: &StudyId) -> Result<BTreeMap<AttemptId, Evidence>> {
    let mut found: BTreeMap<AttemptId, Evidence> = BTreeMap::new();
    for (id, folder) in folders(layout)? {
        let spec =
            attempts::read_spec(&folder).filter(|spec| Tag::new(study, id).as_ref() == Some(&spec.tag));
        let evidence = found.entry(id).or_default();
        evidence.claimed = folder.join(CLAIM_FILE).exists();
        evidence.digest = spec.map(|spec| spec.params_digest);
        evidence.made = modified(&folder.join(SPEC_FILE));
        if let Some(answer) =
            Answer::read(&folder).filter(|answer| Tag::new(study, id).as_ref() == Some(&answer.tag))
        {
            evidence.take(answer, modified(&folder.join(ANSWER_FILE)));
        }
        evidence.folder = Some(folder);
    }
    for (answer, path) in spool::all(layout, study)? {
        let evidence = found.entry(answer.id).or_default();
        let left = modified(&path);
        evidence.spooled.push(path);
        evidence.take(answer, left);
    }
    Ok(found)
}

impl Evidence {
    /// Takes note of an answer: of several the last run of the job counts, and what two jobs said of each other does not.
    fn take(&mut self, answer: Answer, left: Option<SystemTime>) {
        if answer.finding.kind == Kind::Duplicate {
            return;
        }
        if self.digest.is_none() {
            self.digest = Some(answer.params_digest.clone());
        }
        if self.made.is_none() {
            let wall = Duration::try_from_secs_f64(answer.wall_s).unwrap_or_default();
            self.made = left.and_then(|left| left.checked_sub(wall));
        }
        if self.answer.as_ref().is_none_or(|known| known.incarnation < answer.incarnation) {
            (self.answer, self.answered) = (Some(answer), left);
        }
    }

    /// The parameters in its folder, if they are those it was made with.
    pub(crate) fn params(&self) -> Option<serde_json::Map<String, serde_json::Value>> {
        let bytes = fs::read(self.folder.as_ref()?.join(PARAMS_FILE)).ok()?;
        (Some(crate::job::digest(&bytes)) == self.digest).then_some(())?;
        serde_json::from_slice(&bytes).ok()
    }
}

/// Leaves an answer for the next driver to take in.
pub(crate) fn give(layout: &Layout, answer: &Answer) -> Result<()> {
    let path = layout.spool("done").join(Spec::spool_name(answer.id, answer.incarnation));
    if path.exists() {
        return Ok(());
    }
    let bytes = serde_json::to_vec(answer).map_err(|error| Error::io("cannot write", &path)(error.into()))?;
    files::replace(&path, &bytes, Durable::Yes).map_err(Error::io("cannot write", &path))
}

/// Where attempts are that were set aside.
pub(crate) fn aside(layout: &Layout) -> PathBuf {
    layout.store().join("set-aside")
}

/// Moves what lies of an attempt out of the way of later ones.
pub(crate) fn set_aside(layout: &Layout, id: AttemptId, evidence: &Evidence) -> Result<()> {
    let folder = aside(layout);
    files::make_private(&folder).map_err(Error::io("cannot create", &folder))?;
    let free = |number: u32| {
        let name = if number == 1 { id.to_string() } else { format!("{id}-{number}") };
        Some(folder.join(name)).filter(|path| !path.exists())
    };
    let to = (1..).find_map(free).unwrap_or_else(|| folder.clone());
    match &evidence.folder {
        Some(from) => fs::rename(from, &to).map_err(Error::io("cannot set aside", from))?,
        None => files::make_private(&to).map_err(Error::io("cannot create", &to))?,
    }
    for from in &evidence.spooled {
        let name = from.file_name().unwrap_or_default();
        fs::rename(from, to.join(name)).map_err(Error::io("cannot set aside", from))?;
    }
    // Goes if this was its last attempt; otherwise it is not empty and stays.
    let _ = fs::remove_dir(layout.trial(id.trial));
    Ok(())
}

/// The id of the study that attempts on disk belong to.
pub(crate) fn study_id(layout: &Layout) -> Result<Option<StudyId>> {
    let specs = folders(layout)?.into_iter().filter_map(|(_, folder)| attempts::read_spec(&folder));
    Ok(specs.filter_map(|spec| spec.tag.study()).next())
}

/// The folders of attempts.
fn folders(layout: &Layout) -> Result<Vec<(AttemptId, PathBuf)>> {
    let mut folders = vec![];
    let root = layout.store().join("trials");
    for (trial, path) in numbered(&root, "")? {
        for (attempt, path) in numbered(&path, "a")? {
            if let Ok(attempt) = u32::try_from(attempt) {
                folders.push((AttemptId { trial, attempt }, path));
            }
        }
    }
    Ok(folders)
}

/// The folders inside one whose names are a number after this.
fn numbered(folder: &Path, prefix: &str) -> Result<Vec<(u64, PathBuf)>> {
    let mut found = vec![];
    for entry in fs::read_dir(folder).map_err(Error::io("cannot list", folder))? {
        let path = entry.map_err(Error::io("cannot list", folder))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let number =
            name.strip_prefix(prefix).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
        if let Some(Ok(number)) = number.map(str::parse)
            && path.is_dir()
        {
            found.push((number, path));
        }
    }
    found.sort();
    Ok(found)
}

/// When a file was last written; None if it is not there.
fn modified(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).and_then(|metadata| metadata.modified()).ok()
}

/// A time as records have it: ms since 1970.
pub(crate) fn in_ms(time: Option<SystemTime>) -> u64 {
    let since = time.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    since.map_or(0, |since| since.as_millis() as u64)
}
