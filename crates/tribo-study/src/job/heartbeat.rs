//! A sign of life: a file whose number grows every 15 seconds while the command runs.
//!
//! The content is what counts, not the time of the file: clocks differ between machines. The number only grows, so it is
//! written over itself and never shows half. A beat that cannot be written is skipped. The loop that watches the command
//! beats, not a thread: a job that no longer watches should not look alive.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::{Duration, Instant};

/// Name of the file in the attempt's folder.
pub const HEARTBEAT_FILE: &str = "hb";
const INTERVAL: Duration = Duration::from_secs(15);

/// The last beat of the job in this folder; None if it has not begun.
pub fn heartbeat(dir: &Path) -> Option<u64> {
    std::fs::read_to_string(dir.join(HEARTBEAT_FILE)).ok()?.trim().parse().ok()
}

/// The beats so far.
pub(crate) struct Heartbeat {
    file: Option<File>,
    count: u64,
    next: Instant,
}

impl Heartbeat {
    /// The first beat.
    pub(crate) fn start(dir: &Path) -> Heartbeat {
        let mut heartbeat =
            Heartbeat { file: File::create(dir.join(HEARTBEAT_FILE)).ok(), count: 0, next: Instant::now() };
        heartbeat.beat(heartbeat.next);
        heartbeat
    }

    /// When the next beat is due.
    pub(super) fn next(&self) -> Instant {
        self.next
    }

    /// Beats if it is time.
    pub(crate) fn beat(&mut self, now: Instant) {
        if now < self.next {
            return;
        }
        self.next = now + INTERVAL;
        self.count += 1;
        if let Some(file) = &self.file {
            // The next beat makes up for this one.
            let _ = file.write_all_at(self.count.to_string().as_bytes(), 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_grows_when_it_is_time() {
        let folder = tempfile::tempdir().unwrap();
        let count = || std::fs::read_to_string(folder.path().join(HEARTBEAT_FILE)).unwrap();
        let mut heartbeat = Heartbeat::start(folder.path());
        assert_eq!(count(), "1");
        heartbeat.beat(heartbeat.next() - Duration::from_millis(1));
        assert_eq!(count(), "1");
        for _ in 0..9 {
            heartbeat.beat(heartbeat.next());
        }
        assert_eq!(count(), "10");
    }
}
