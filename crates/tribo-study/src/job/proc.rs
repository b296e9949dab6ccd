//! The machine's processes, read from `/proc`.
//!
//! Everything here may be gone between two reads; a process that cannot be read counts as gone. Processes of others cannot
//! be read either, and are none of our business.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read};

/// Clock ticks per second in `/proc`; a constant of Linux on all machines it is built for.
const TICKS: f64 = 100.0;

/// Part of `/proc/PID/stat`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stat {
    /// Name of the program, at most 15 bytes.
    pub(super) name: String,
    /// R, S, D, Z, ...
    pub(super) state: char,
    pub(super) parent: u32,
    /// Ticks since the boot.
    pub(super) starttime: u64,
    /// Processor ticks of children that were waited for, and of theirs.
    children_ticks: u64,
}

pub(super) fn stat(pid: u32) -> Option<Stat> {
    parse_stat(&String::from_utf8_lossy(&read(&format!("/proc/{pid}/stat")).ok()?))
}

/// Reads a file that does not know its length. Such files are short, and a sweep reads hundreds: the usual way, which
/// feels its way from 32 bytes on, takes three times as long.
fn read(path: &str) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let mut content = vec![0; 8 << 10];
    let mut length = 0;
    loop {
        match file.read(&mut content[length..]) {
            Ok(0) => break,
            Ok(more) => length += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        if length == content.len() {
            content.resize(2 * length, 0);
        }
    }
    content.truncate(length);
    Ok(content)
}

/// The name stands in parentheses and may hold any character, parentheses included.
fn parse_stat(text: &str) -> Option<Stat> {
    let (front, fields) = text.rsplit_once(')')?;
    let (_, name) = front.split_once('(')?;
    let fields: Vec<&str> = fields.split_whitespace().collect();
    // The state is field 3 of proc(5); cutime, cstime and starttime are 16, 17 and 22.
    let number = |field: usize| fields.get(field - 3)?.parse::<u64>().ok();
    Some(Stat {
        name: name.to_owned(),
        state: fields.first()?.chars().next()?,
        parent: u32::try_from(number(4)?).ok()?,
        starttime: number(22)?,
        children_ticks: number(16)? + number(17)?,
    })
}

/// Processor seconds of all children of this process that were waited for, to a hundredth.
pub(super) fn children_cpu() -> f64 {
    stat(std::process::id()).map_or(0.0, |stat| stat.children_ticks as f64 / TICKS)
}

/// Peak resident memory of a process, in bytes; None for the dead.
pub(super) fn peak_memory(pid: u32) -> Option<u64> {
    let status = read(&format!("/proc/{pid}/status")).ok()?;
    let status = String::from_utf8_lossy(&status);
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}

/// All living descendants of this process. Zombies are not among them, but their children are.
pub(super) fn descendants() -> BTreeSet<u32> {
    let mut found = BTreeSet::new();
    let mut todo = vec![std::process::id()];
    while let Some(pid) = todo.pop() {
        for child in children(pid) {
            if found.insert(child) {
                todo.push(child);
            }
        }
    }
    found.retain(|&pid| stat(pid).is_some_and(|stat| stat.state != 'Z'));
    found
}

fn children(pid: u32) -> Vec<u32> {
    let Ok(tasks) = fs::read_dir(format!("/proc/{pid}/task")) else {
        return Vec::new();
    };
    let mut children = Vec::new();
    for task in tasks.flatten() {
        match fs::read_to_string(task.path().join("children")) {
            Ok(list) => {
                children.extend(list.split_whitespace().filter_map(|child| child.parse::<u32>().ok()))
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && task.path().exists() => {
                // Kernels built without this file: look at everybody's parent instead.
                return all().filter(|&other| stat(other).is_some_and(|stat| stat.parent == pid)).collect();
            }
            Err(_) => {}
        }
    }
    children
}

/// All processes.
fn all() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// Living processes whose environment holds all these `NAME=value`, but this process and those it descends from.
pub(super) fn with_environment(cookies: &[&str]) -> BTreeSet<u32> {
    let ancestors = ancestors();
    let holds = |pid: u32| {
        let environment = read(&format!("/proc/{pid}/environ")).unwrap_or_default();
        cookies.iter().all(|cookie| environment.split(|&b| b == 0).any(|entry| entry == cookie.as_bytes()))
    };
    let alive = |pid: u32| stat(pid).is_some_and(|stat| stat.state != 'Z');
    all().filter(|pid| !ancestors.contains(pid) && holds(*pid) && alive(*pid)).collect()
}

/// This process, its parent, and so on.
fn ancestors() -> BTreeSet<u32> {
    let mut chain = BTreeSet::new();
    let mut next = Some(std::process::id());
    while let Some(pid) = next.filter(|&pid| pid != 0 && chain.insert(pid)) {
        next = stat(pid).map(|stat| stat.parent);
    }
    chain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stat_survives_strange_names() {
        let tail = "S 7 1 1 0 -1 4194560 1 2 3 4 5 6 70 8 20 0 1 0 9876 1000";
        let stat = parse_stat(&format!("42 (a) b) ({tail}) {tail}")).unwrap();
        assert_eq!((stat.state, stat.parent, stat.starttime, stat.children_ticks), ('S', 7, 9876, 78));
        for broken in ["", "42 (a", "42 (a) ", "42 (a) S x"] {
            assert_eq!(parse_stat(broken), None, "{broken}");
        }
    }

    #[test]
    fn this_process_is_seen_and_spared() {
        let me = std::process::id();
        assert!(stat(me).unwrap().starttime > 0);
        assert!(peak_memory(me).unwrap() > 100_000);
        assert!(ancestors().contains(&me) && ancestors().len() > 1);
        // The test was started with a PATH, and so were its ancestors.
        let path = format!("PATH={}", std::env::var("PATH").unwrap());
        assert!(!with_environment(&[&path]).contains(&me));
    }

    #[test]
    fn children_are_found_by_descent_and_by_environment() {
        let mut child =
            std::process::Command::new("sleep").arg("60").env("TRIBO_TEST", "proc 7").spawn().unwrap();
        // The kernel may leave children out of its list while their siblings end, and other tests have such siblings.
        // A parent also goes on a moment before its child's new environment can be read.
        let until = std::time::Instant::now() + std::time::Duration::from_secs(10);
        let seen = || {
            descendants().contains(&child.id())
                && with_environment(&["TRIBO_TEST=proc 7"]).contains(&child.id())
        };
        while !seen() {
            assert!(std::time::Instant::now() < until, "the child is never seen");
        }
        assert!(with_environment(&["TRIBO_TEST=proc 7", "TRIBO_TEST=other"]).is_empty());
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!descendants().contains(&child.id()));
    }
}
