//! Folders of attempts: made before submission, revoked by a claim, discarded when nobody needs them.
//!
//! `trials/000123/a1` is made with `params.json` and then `job.json`, so a job that finds the second finds the first. None
//! of it is synced: a job that finds its folder incomplete says so, and another attempt follows.

use super::{Claim, Prepared, files};
use crate::job::{CLAIM_FILE, PARAMS_FILE, SPEC_FILE, Spec, claim_as_driver};
use crate::layout::Layout;
use crate::tag::AttemptId;
use crate::{Error, Result};
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

/// Parameters and rendered decks up to this many bytes stay when only bulk is discarded: people look at them, a repair
/// needs them, and a file system block or sixteen are no gain.
const SMALL: u64 = 64 << 10;

/// Makes the folder of an attempt; see [`super::Store::prepare`].
pub(super) fn prepare(layout: &Layout, spec: &Spec, params: &[u8]) -> Result<Prepared> {
    let folder = layout.attempt(spec.id);
    if folder.join(CLAIM_FILE).exists() {
        let same = read_spec(&folder).is_some_and(|found| found.params_digest == spec.params_digest);
        return Ok(Prepared::Claimed { same });
    }
    remove(&folder)?;
    make(layout, spec.id)?;
    let job =
        serde_json::to_vec_pretty(spec).map_err(|error| Error::io("cannot write", &folder)(error.into()))?;
    for (name, bytes) in [(PARAMS_FILE, params), (SPEC_FILE, &job)] {
        let path = folder.join(name);
        files::replace(&path, bytes, files::Durable::No).map_err(Error::io("cannot write", &path))?;
    }
    Ok(Prepared::Ready(folder))
}

/// Claims an attempt for the driver; see [`super::Store::revoke`].
pub(super) fn revoke(layout: &Layout, id: AttemptId) -> Result<Claim> {
    make(layout, id)?;
    let folder = layout.attempt(id);
    match claim_as_driver(&folder).map_err(Error::io("cannot claim", &folder))? {
        true => Ok(Claim::Taken),
        false => Ok(Claim::Held),
    }
}

/// Removes the folder of an attempt, or what can be derived again; see [`super::Store::discard`].
pub(super) fn discard(layout: &Layout, id: AttemptId, whole: bool) -> Result<()> {
    let folder = layout.attempt(id);
    if whole {
        remove(&folder)?;
        // Goes if it was the last attempt's; otherwise it is not empty and stays.
        let _ = fs::remove_dir(layout.trial(id.trial));
        return Ok(());
    }
    let decks = read_spec(&folder).map_or(vec![], |spec| spec.evaluation.decks);
    // The file may have been edited: nothing outside the folder is removed on its word.
    let inside = |path: &Path| path.components().all(|part| matches!(part, Component::Normal(_)));
    let decks = decks.into_iter().map(|deck| deck.to).filter(|to| inside(to)).map(|to| folder.join(to));
    let large = |path: &PathBuf| {
        fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_file() && metadata.len() > SMALL)
    };
    for path in decks.chain([folder.join(PARAMS_FILE)]).filter(large) {
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(Error::io("cannot remove", path)(error));
            }
            _ => {}
        }
    }
    Ok(())
}

/// What the job in a folder was to do; None if that is not there, or cannot be read.
pub(super) fn read_spec(folder: &Path) -> Option<Spec> {
    serde_json::from_slice(&fs::read(folder.join(SPEC_FILE)).ok()?).ok()
}

fn make(layout: &Layout, id: AttemptId) -> Result<()> {
    for folder in [layout.trial(id.trial), layout.attempt(id)] {
        files::make_private(&folder).map_err(Error::io("cannot create", &folder))?;
    }
    Ok(())
}

fn remove(folder: &Path) -> Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(Error::io("cannot remove", folder)(error))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
