//! Which process is which: host, boot, number and start time together never name two.
//!
//! Numbers are reused after a while and after a reboot; a process that has the number of an old one and another start
//! time is a stranger. Reads `/proc`, where a process of the same user is always visible.

use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::fs;

/// A process of some host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
    /// The host's name.
    pub host: String,
    /// The kernel's random name for the time since the host was started.
    pub boot_id: String,
    /// Its number.
    pub pid: u32,
    /// When it started, in ticks since the boot.
    pub starttime: u64,
}

impl Process {
    /// This process.
    pub fn current() -> Result<Process> {
        let boot_id = "/proc/sys/kernel/random/boot_id";
        let boot_id = fs::read_to_string(boot_id).map_err(Error::io("cannot read", boot_id))?;
        let pid = std::process::id();
        Ok(Process {
            host: rustix::system::uname().nodename().to_string_lossy().into_owned(),
            boot_id: boot_id.trim().to_owned(),
            pid,
            starttime: starttime(pid).unwrap_or_default(),
        })
    }

    /// Whether this process, seen from a process of the same host, is running.
    pub fn is_alive(&self, seen_from: &Process) -> bool {
        self.boot_id == seen_from.boot_id && starttime(self.pid) == Some(self.starttime)
    }
}

/// When a process started; None if there is none of this number, or only what its parent has yet to collect.
pub(super) fn starttime(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in parentheses may hold anything, also spaces and parentheses. The state comes next, as the third member.
    let mut members = stat[stat.rfind(')')? + 1..].split_ascii_whitespace();
    let state = members.next()?;
    (!matches!(state, "Z" | "X")).then(|| members.nth(22 - 4)?.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_same_process_of_the_same_boot_is_alive() {
        let me = Process::current().unwrap();
        assert!(me.starttime > 0 && me.boot_id.len() == 36);
        assert!(me.is_alive(&me));
        let reused = Process { starttime: me.starttime + 1, ..me.clone() };
        let before_reboot = Process { boot_id: "another".to_owned(), ..me.clone() };
        assert!(!reused.is_alive(&me) && !before_reboot.is_alive(&me));
    }

    #[test]
    fn a_process_that_ended_is_dead_before_and_after_it_is_collected() {
        let me = Process::current().unwrap();
        let mut child =
            std::process::Command::new("cat").stdin(std::process::Stdio::piped()).spawn().unwrap();
        let child_process =
            Process { pid: child.id(), starttime: starttime(child.id()).unwrap(), ..me.clone() };
        assert!(child_process.is_alive(&me));
        drop(child.stdin.take());
        while child_process.is_alive(&me) {
            std::thread::yield_now();
        }
        child.wait().unwrap();
        assert!(!child_process.is_alive(&me));
    }
}
