//! Who is running: the scheduler's id of this job, and the process as the machine knows it.
//!
//! The id decides whether a claim found in the folder is this job's own, left before the scheduler restarted it. A
//! scheduler's id counts only if the scheduler's job has our tag as its name: a local study may itself run inside an
//! allocation, and then all its attempts inherit one id that belongs to none of them. Local jobs are named by host, process
//! and its start, which no other process ever shares.

use super::proc;
use crate::scheduler;
use crate::tag::Tag;
use serde::{Deserialize, Serialize};
use std::fs;

/// A process, told from all others on all machines: numbers are reused, but not with the same start and boot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp {
    /// The job: `slurm:41`, `slurm:41_3`, `pbs:41[3].server` or `local:host:pid:start`.
    pub job: String,
    /// The host.
    pub host: String,
    /// The process.
    pub pid: u32,
    /// When it started, in clock ticks since the boot.
    pub starttime: u64,
    /// Which boot.
    pub boot_id: String,
}

impl Stamp {
    /// This process. `names` are the job names that the scheduler may know it by: the attempt's tag and its array's.
    pub fn here(names: &[&Tag]) -> Stamp {
        Stamp::with(names, |name| std::env::var(name).ok().filter(|value| !value.is_empty()))
    }

    /// How often the scheduler says it has restarted this job; 0 if it does not say.
    pub(super) fn restarts(&self) -> u32 {
        let ours = scheduler::ALL.iter().find(|scheduler| self.job.split(':').next() == Some(scheduler.name));
        let count = ours.and_then(|scheduler| std::env::var(scheduler.environment.restarts?).ok());
        count.and_then(|count| count.parse().ok()).unwrap_or(0)
    }

    fn with(names: &[&Tag], variable: impl Fn(&str) -> Option<String>) -> Stamp {
        let host = host();
        let pid = std::process::id();
        let starttime = proc::stat(pid).map_or(0, |stat| stat.starttime);
        let local = || format!("local:{host}:{pid}:{starttime}");
        let job = scheduler_job(names, variable).unwrap_or_else(local);
        Stamp { job, host, pid, starttime, boot_id: boot_id() }
    }
}

/// This machine's name.
pub fn host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// The boot of this machine, empty where it cannot be told.
pub fn boot_id() -> String {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_owned()
}

/// Whether this process runs inside some job of a scheduler, its own or another.
pub(super) fn in_allocation() -> bool {
    scheduler::ALL.iter().any(|scheduler| std::env::var_os(scheduler.environment.job).is_some())
}

fn scheduler_job(names: &[&Tag], variable: impl Fn(&str) -> Option<String>) -> Option<String> {
    let is_tag = |name: String| names.iter().any(|tag| tag.as_str() == name);
    // A person or a site may have renamed the job; the tag that it was submitted with is in a variable too.
    let tagged = variable("TRIBO_TAG").is_some_and(is_tag);
    let ours = |name: Option<String>| tagged || name.is_none_or(is_tag);
    scheduler::ALL.iter().find_map(|scheduler| {
        let environment = &scheduler.environment;
        let job = variable(environment.job).filter(|_| ours(variable(environment.name)))?;
        Some(format!("{}:{}", scheduler.name, (environment.id)(&job, &variable)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tag::{AttemptId, StudyId};

    fn job(variables: &[(&str, &str)]) -> String {
        let study = StudyId::try_from("k7f2qa".to_owned()).unwrap();
        let tag = Tag::new(&study, AttemptId { trial: 1, attempt: 1 }).unwrap();
        let array = Tag::array(&study, 1);
        let find =
            |name: &str| variables.iter().find(|(n, _)| *n == name).map(|(_, value)| value.to_string());
        Stamp::with(&[&tag, &array], find).job
    }

    #[test]
    fn jobs_are_named_by_their_scheduler() {
        let tag = "sk7f2qae00001a1";
        assert_eq!(job(&[("SLURM_JOB_ID", "41"), ("SLURM_JOB_NAME", tag)]), "slurm:41");
        assert_eq!(job(&[("SLURM_JOB_ID", "41")]), "slurm:41");
        let array = [("SLURM_JOB_ID", "44"), ("SLURM_ARRAY_JOB_ID", "41"), ("SLURM_ARRAY_TASK_ID", "3")];
        assert_eq!(job(&array), "slurm:41_3");
        assert_eq!(job(&[("PBS_JOBID", "7.head"), ("PBS_JOBNAME", tag)]), "pbs:7.head");
        assert_eq!(job(&[("PBS_JOBID", "7[2].head"), ("PBS_ARRAY_INDEX", "2")]), "pbs:7[2].head");
        let renamed = [("PBS_JOBID", "7.head"), ("PBS_JOBNAME", "wing-17"), ("TRIBO_TAG", tag)];
        assert_eq!(job(&renamed), "pbs:7.head");
        assert_eq!(job(&[("PBS_JOBID", "7[].head"), ("PBS_ARRAY_INDEX", "2")]), "pbs:7[2].head");
    }

    #[test]
    fn a_local_job_inside_an_allocation_is_not_the_allocation() {
        let local = job(&[("SLURM_JOB_ID", "41"), ("SLURM_JOB_NAME", "interactive")]);
        assert!(
            local.starts_with("local:") && local.contains(&format!(":{}:", std::process::id())),
            "{local}"
        );
        assert_eq!(local, job(&[]));
    }
}
