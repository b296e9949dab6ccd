//! The end of what a solver has printed. Files in the folder of an attempt are the solver's: one of them may be a pipe that
//! nobody writes to, a link to elsewhere, or very long. Only plain files are opened, and only their end is read.

use rustix::fs::OFlags;
use std::fs::OpenOptions;
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use tribo_study::report::text::shortened;

/// Bytes that are read.
const BYTES: u64 = 1 << 15;
/// Lines that are shown, and their length.
const LINES: usize = 30;
const LENGTH: usize = 400;

/// The last lines of a file; nothing if there is no such plain file.
pub(super) fn tail(path: &Path) -> String {
    read(path).map(|bytes| last_lines(&bytes)).unwrap_or_default()
}

fn read(path: &Path) -> std::io::Result<Vec<u8>> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let mut file = OpenOptions::new().read(true).custom_flags(flags.bits() as i32).open(path)?;
    let mut bytes = Vec::new();
    let found = file.metadata()?;
    if found.is_file() {
        file.seek(SeekFrom::Start(found.len().saturating_sub(BYTES)))?;
        file.take(BYTES).read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

fn last_lines(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let lines: Vec<&str> = text.lines().collect();
    let last = &lines[lines.len().saturating_sub(LINES)..];
    last.iter().map(|line| shortened(line, LENGTH)).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn only_the_end_of_plain_files_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("stdout");
        assert_eq!(tail(&path), "");
        let long: String = (0..100_000).map(|i| format!("line {i}\n")).collect();
        fs::write(&path, long).unwrap();
        let end = tail(&path);
        assert_eq!((end.lines().count(), end.lines().last()), (LINES, Some("line 99999")));
        fs::write(&path, "x".repeat(1 << 20)).unwrap();
        assert!(tail(&path).len() < LENGTH + 8);
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert_eq!(tail(&link), "");
        assert_eq!(tail(folder.path()), "");
        let pipe = folder.path().join("pipe");
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        assert_eq!(tail(&pipe), "");
    }
}
