//! Evidence that the kernel killed something for lack of memory: the count of such kills in our own control group.
//!
//! Schedulers put each job into a group of its own. SIGKILL alone proves nothing, since people and schedulers send it too;
//! SIGKILL while the count rose does. Where the count cannot be read nothing is claimed.

use std::fs;
use std::path::PathBuf;

/// Kills for lack of memory in this process's control group so far; None if it cannot be told.
pub(super) fn kills() -> Option<u64> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    counters(&groups).into_iter().find_map(|path| parse(&fs::read_to_string(path).ok()?))
}

/// Files that may hold the count, for both versions of control groups.
fn counters(groups: &str) -> Vec<PathBuf> {
    let entries = groups.lines().filter_map(|line| {
        let mut fields = line.splitn(3, ':').skip(1);
        Some((fields.next()?, fields.next()?.trim_start_matches('/')))
    });
    let mut paths = Vec::new();
    for (controllers, group) in entries {
        if controllers.split(',').any(|controller| controller == "memory") {
            paths.push(PathBuf::from("/sys/fs/cgroup/memory").join(group).join("memory.oom_control"));
        } else if controllers.is_empty() {
            paths.push(PathBuf::from("/sys/fs/cgroup").join(group).join("memory.events"));
        }
    }
    paths
}

fn parse(counts: &str) -> Option<u64> {
    counts.lines().find_map(|line| line.strip_prefix("oom_kill ")).and_then(|count| count.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_versions_of_control_groups() {
        let groups = "9:name=systemd:/\n4:memory,hugetlb:/slurm/job_7\n1:cpu:/\n0::/user.slice\n";
        let expected = [
            "/sys/fs/cgroup/memory/slurm/job_7/memory.oom_control",
            "/sys/fs/cgroup/user.slice/memory.events",
        ];
        assert_eq!(counters(groups), expected.map(PathBuf::from));
        assert_eq!(parse("low 0\noom 3\noom_kill 2\noom_group_kill 0\n"), Some(2));
        assert_eq!(parse("oom_kill_disable 0\nunder_oom 0\noom_kill 5\n"), Some(5));
        assert_eq!(parse("oom_kill_disable 0\n"), None);
    }
}
