//! Who may read a store besides its owner: nobody, unless the study file says so. Nobody else may ever write.
//!
//! The mode of the store's folder decides. What is made inside has the same readers, so the rest of the program need not
//! know; what is there already is changed once. The spool stays closed: it is between the jobs and the driver.

use crate::config::Readers;
use crate::layout::Layout;
use crate::{Error, Result};
use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

/// Folders of others: to list and to enter.
const FOLDER: u32 = 0o055;
/// Files of others: to read.
const FILE: u32 = 0o044;

/// Lets these read the store. It stays as it is for a study that says nothing of it.
pub fn open_to(layout: &Layout, readers: Readers) -> Result<()> {
    let bits = match readers {
        Readers::Owner => return Ok(()),
        Readers::Group => 0o050,
        Readers::Everyone => 0o055,
    };
    let store = layout.store();
    let mode = fs::metadata(store).map_err(Error::io("cannot read", store))?.mode();
    match mode & FOLDER == bits {
        true => Ok(()),
        false => change(store, bits).map_err(Error::io("cannot let others read", store)),
    }
}

fn change(path: &Path, bits: u32) -> io::Result<()> {
    let metadata = fs::symlink_metadata(path)?;
    let mode = metadata.mode() & 0o700;
    if metadata.is_file() {
        return fs::set_permissions(path, Permissions::from_mode(mode | (bits & FILE)));
    }
    if !metadata.is_dir() || is_closed(path) {
        return Ok(());
    }
    for entry in fs::read_dir(path)? {
        // What goes away meanwhile needs no readers.
        match change(&entry?.path(), bits) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    fs::set_permissions(path, Permissions::from_mode(mode | bits))
}

fn is_closed(folder: &Path) -> bool {
    folder.file_name() == Some(OsStr::new("spool"))
}

/// What others may do with something new in a store: as much as with the folder around it.
pub(super) fn of_new(path: &Path) -> u32 {
    let is_store = |folder: &Path| folder.extension() == Some(OsStr::new("tribo"));
    if is_store(path) || is_closed(path) || !path.ancestors().skip(1).any(is_store) {
        return 0;
    }
    path.parent().and_then(|around| fs::metadata(around).ok()).map_or(0, |around| around.mode() & FOLDER)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::files::{self, Durable};

    #[test]
    fn what_is_there_and_what_comes_can_be_read_by_those_and_the_spool_by_nobody() {
        let folder = tempfile::tempdir().unwrap();
        let layout = Layout::of(&folder.path().join("wing.toml"));
        let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o777;
        crate::store::disk::make_folders(&layout).unwrap();
        let (journal, later) = (layout.journal(), layout.store().join("waiting.json"));
        files::replace(&journal, b"one", Durable::No).unwrap();
        open_to(&layout, Readers::Owner).unwrap();
        assert_eq!((mode(layout.store()), mode(&journal)), (0o700, 0o600));
        open_to(&layout, Readers::Group).unwrap();
        files::replace(&later, b"two", Durable::No).unwrap();
        files::make_private(&layout.trial(3)).unwrap();
        let modes = [layout.store().to_owned(), journal, later, layout.trial(3), layout.spool("done")];
        assert_eq!(modes.map(|path| mode(&path)), [0o750, 0o640, 0o640, 0o750, 0o700]);
        open_to(&layout, Readers::Everyone).unwrap();
        assert_eq!((mode(&layout.trial(3)), mode(&layout.store().join("spool"))), (0o755, 0o700));
    }
}
