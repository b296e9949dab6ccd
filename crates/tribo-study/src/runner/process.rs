//! Which process a local job is: a pid alone is not enough, since pids are used again and machines restart.
//!
//! A process is named by its pid, its start time in clock ticks after boot (field 22 of `/proc/PID/stat`), and the id of
//! the boot. All three are the same only for the same process. Linux only, as `/proc` is.

use std::fmt;
use std::fs;
use std::str::FromStr;

/// A process of this or an earlier boot. As text: `pid:starttime:boot_id`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Process {
    pub(crate) pid: u32,
    pub(crate) starttime: u64,
    pub(crate) boot: String,
}

impl Process {
    /// The process that has this pid now, even if it has ended and nobody has asked for its end yet.
    pub(crate) fn of(pid: u32) -> Option<Process> {
        let (_, starttime) = stat(pid)?;
        Some(Process { pid, starttime, boot: boot()? })
    }

    /// Whether it still runs.
    pub(crate) fn alive(&self) -> bool {
        let running = |(state, starttime): (char, u64)| {
            starttime == self.starttime && !matches!(state, 'Z' | 'X' | 'x')
        };
        boot().is_some_and(|boot| boot == self.boot) && stat(self.pid).is_some_and(running)
    }

    /// Why it does not run any more.
    pub(crate) fn epitaph(&self) -> String {
        match boot() {
            Some(boot) if boot == self.boot => format!("process {} is gone", self.pid),
            _ => format!("the machine was restarted while process {} ran", self.pid),
        }
    }
}

impl fmt::Display for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.pid, self.starttime, self.boot)
    }
}

impl FromStr for Process {
    type Err = String;

    fn from_str(text: &str) -> Result<Process, String> {
        let mut parts = text.splitn(3, ':');
        let mut next = || parts.next().unwrap_or_default();
        match (next().parse(), next().parse(), next()) {
            (Ok(pid), Ok(starttime), boot) if !boot.is_empty() => {
                Ok(Process { pid, starttime, boot: boot.to_owned() })
            }
            _ => Err(format!("{text:?} is not a local job id (pid:starttime:boot_id)")),
        }
    }
}

fn boot() -> Option<String> {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").ok().map(|id| id.trim().to_owned())
}

/// State and start time. The name of the program stands in parentheses and may hold anything, parentheses included.
fn stat(pid: u32) -> Option<(char, u64)> {
    let text = fs::read(format!("/proc/{pid}/stat")).ok()?;
    let text = String::from_utf8_lossy(&text);
    let mut fields = text[text.rfind(')')? + 1..].split_whitespace();
    let state = fields.next()?.chars().next()?;
    // State is field 3, so field 22 is the nineteenth after it.
    Some((state, fields.nth(18)?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_known_by_pid_start_and_boot() {
        let own = Process::of(std::process::id()).unwrap();
        assert!(own.alive());
        assert_eq!(own.to_string().parse::<Process>().unwrap(), own);
        assert!(!Process { starttime: own.starttime + 1, ..own.clone() }.alive());
        let earlier = Process { boot: "an-earlier-boot".into(), ..own };
        assert!(!earlier.alive());
        assert!(earlier.epitaph().contains("restarted"));
        assert!("12:x:y".parse::<Process>().is_err() && "12:3".parse::<Process>().is_err());
    }
}
