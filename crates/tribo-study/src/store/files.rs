//! Files and folders the way a store needs them: private, whole or absent, made by one process only.
//!
//! A file that others read is written under a temporary name and renamed. A file that only one process may make is
//! written under a temporary name and hard-linked, which fails if the name exists and is atomic on NFS too; where the
//! file system has no hard links it is created with O_EXCL, and may then be seen before its content is.
//!
//! [`step`] marks the places where a crash can strike, for the tests that look at what it leaves.

use super::readers;
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Whether a file written is to survive a power failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Durable {
    Yes,
    No,
}

/// Makes a folder that only its owner can write to, and nobody else enter but those who may enter the one around it, whatever
/// the umask; one that exists is left as it is.
pub(super) fn make_private(folder: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(folder) {
        Ok(()) => fs::set_permissions(folder, Permissions::from_mode(0o700 | readers::of_new(folder)))?,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && folder.is_dir() => {}
        Err(error) => return Err(error),
    }
    step("folder made");
    Ok(())
}

/// The mode of a new file, before the umask.
fn file_mode(path: &Path) -> u32 {
    0o600 | (readers::of_new(path) & 0o044)
}

/// Makes the names in a folder durable.
pub(super) fn sync_folder(folder: &Path) -> io::Result<()> {
    // File systems that cannot sync a folder say so; there is nothing better to do there.
    match File::open(folder)?.sync_all() {
        Err(error) if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => {
            Ok(())
        }
        other => other,
    }
}

/// Puts a file in place as a whole, over what was there.
pub(super) fn replace(path: &Path, bytes: &[u8], durable: Durable) -> io::Result<()> {
    let temporary = Temporary::write(path, bytes, durable)?;
    fs::rename(&temporary.0, path)?;
    step("file renamed");
    if durable == Durable::Yes {
        sync_folder(path.parent().unwrap_or(Path::new(".")))?;
    }
    Ok(())
}

/// Makes a file that must not exist. False: it does.
pub(super) fn create_exclusive(path: &Path, bytes: &[u8]) -> io::Result<bool> {
    let temporary = Temporary::write(path, bytes, Durable::Yes)?;
    let linked = fs::hard_link(&temporary.0, path);
    step("file linked");
    match linked {
        Ok(()) => Ok(true),
        // An NFS server may have made the link and lost its answer: the count tells.
        Err(_) if fs::metadata(&temporary.0).is_ok_and(|metadata| metadata.nlink() == 2) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(error),
        Err(_) => create_new(path, bytes),
    }
}

fn create_new(path: &Path, bytes: &[u8]) -> io::Result<bool> {
    match OpenOptions::new().write(true).create_new(true).mode(file_mode(path)).open(path) {
        Ok(mut file) => file.write_all(bytes).map(|()| true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error),
    }
}

/// A file that is gone when this is dropped, unless it was renamed.
struct Temporary(PathBuf);

impl Temporary {
    fn write(target: &Path, bytes: &[u8], durable: Durable) -> io::Result<Temporary> {
        let name = target.file_name().unwrap_or_default().to_string_lossy();
        let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
        // Threads of this process, processes of this host and hosts of this file system each have their own.
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let (pid, count) = (std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let temporary = target.with_file_name(format!(".{name}.{host}.{pid}.{count}"));
        let mut options = OpenOptions::new();
        let mut file =
            options.write(true).create(true).truncate(true).mode(file_mode(target)).open(&temporary)?;
        // From here on the file is removed on any failure, which gives its space back on a full disk.
        let temporary = Temporary(temporary);
        step("temporary file made");
        file.write_all(bytes)?;
        step("temporary file written");
        if durable == Durable::Yes {
            file.sync_all()?;
        }
        Ok(temporary)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// Whether an error is a full disk or quota: space, once made, would help.
pub(crate) fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

/// True for names of temporary files and of what NFS leaves for files that were removed while open.
pub(super) fn is_hidden(name: &std::ffi::OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b".")
}

/// A place where a crash can strike.
#[cfg(not(test))]
#[inline(always)]
pub(super) fn step(_what: &'static str) {}

#[cfg(test)]
pub(super) use stepping::{on_step, step};

#[cfg(test)]
mod stepping {
    use std::cell::RefCell;

    type Hook = Box<dyn FnMut(&'static str)>;

    thread_local! {
        static HOOK: RefCell<Option<Hook>> = const { RefCell::new(None) };
    }

    /// Calls this at every step of the thread; None ends it.
    pub(in crate::store) fn on_step(hook: Option<Hook>) {
        HOOK.with(|cell| *cell.borrow_mut() = hook);
    }

    pub(in crate::store) fn step(what: &'static str) {
        HOOK.with(|cell| {
            if let Some(hook) = cell.borrow_mut().as_mut() {
                hook(what);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn an_exclusive_file_is_made_once_and_leaves_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("claim");
        assert!(create_exclusive(&path, b"first").unwrap());
        assert!(!create_exclusive(&path, b"second").unwrap());
        assert!(!create_new(&path, b"third").unwrap());
        assert_eq!(fs::read(&path).unwrap(), b"first");
        assert_eq!(names(folder.path()), ["claim"]);
        assert!(create_exclusive(&folder.path().join("absent/claim"), b"").is_err());
    }

    #[test]
    fn a_replaced_file_is_private_and_leaves_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("beat");
        replace(&path, b"one", Durable::No).unwrap();
        replace(&path, b"two", Durable::Yes).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        assert_eq!(names(folder.path()), ["beat"]);
    }

    #[test]
    fn a_private_folder_is_0700_and_an_old_one_stays_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store");
        make_private(&path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o700);
        fs::set_permissions(&path, Permissions::from_mode(0o750)).unwrap();
        make_private(&path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o750);
        fs::write(folder.path().join("file"), b"").unwrap();
        assert!(make_private(&folder.path().join("file")).is_err());
    }
}
