//! Reads `qstat -f`: for each job a line `Job Id: ID`, then its attributes as `    name = value`. Values are broken at
//! column 78, at commas or anywhere; the rest follows on lines that begin with a tab.

use super::states::state;
use crate::job::CLAIM_FILE;
use crate::runner::JobRef;
use crate::runner::batch::Batch;
use crate::runner::command::Output;
use crate::runner::join::Listed;
use crate::tag::AttemptId;
use std::collections::BTreeMap;

/// What is read of a job; all else is skipped.
const WANTED: [&str; 8] = [
    "Job_Name",
    "job_state",
    "comment",
    "substate",
    "Exit_status",
    "exec_host",
    "Hold_Types",
    "Variable_List",
];

/// The variable that holds a job's tag.
const TAG: &str = "TRIBO_TAG";

/// Exit codes for jobs that have ended (35) and ids that are not known (153): what is known of other jobs is printed.
const ANSWERS: [i32; 3] = [0, 35, 153];

/// A job as it is listed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Job {
    /// Its id, whole.
    pub(super) id: String,
    attributes: BTreeMap<&'static str, String>,
}

impl Job {
    /// One of the wanted attributes.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.attributes.get(name).map(String::as_str)
    }

    /// A variable that the job was given. Its name may have been changed, by a person or by the site; this was not.
    fn variable(&self, name: &str) -> Option<&str> {
        let list = self.get("Variable_List")?;
        list.split(',').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))
    }

    /// The job as the study sees it; None if it is none of its own, or a whole array.
    pub(super) fn listed(&self, batch: &mut Batch, jobs: &BTreeMap<AttemptId, &JobRef>) -> Option<Listed> {
        let name =
            [self.get("Job_Name"), self.variable(TAG)].into_iter().flatten().find(|name| batch.owns(name))?;
        let index = index(&self.id);
        let id = batch.attempt(name, index)?;
        let claimed = jobs.get(&id).is_some_and(|job| job.dir.join(CLAIM_FILE).exists());
        let state = state(self, claimed);
        Some(Listed { job: self.id.clone(), name: name.to_owned(), index, state })
    }
}

/// Whether `qstat` answered, be it that jobs are not known. Another exit code proves nothing.
pub(super) fn answered(output: &Output) -> bool {
    output.code.is_some_and(|code| ANSWERS.contains(&code))
}

/// The jobs in the output of `qstat -f`. Whatever is not understood is skipped.
pub(super) fn jobs(text: &str) -> Vec<Job> {
    let mut jobs: Vec<Job> = Vec::new();
    let mut current: Option<&'static str> = None;
    for line in text.lines() {
        if let Some(id) = line.strip_prefix("Job Id: ") {
            jobs.push(Job { id: id.trim().to_owned(), ..Job::default() });
            current = None;
            continue;
        }
        let Some(job) = jobs.last_mut() else { continue };
        if let Some(rest) = line.strip_prefix('\t') {
            if let Some(value) = current.and_then(|name| job.attributes.get_mut(name)) {
                value.push_str(rest);
            }
        } else if let Some((name, value)) = line.strip_prefix("    ").and_then(|line| line.split_once(" = "))
        {
            current = WANTED.into_iter().find(|wanted| *wanted == name);
            if let Some(name) = current {
                job.attributes.insert(name, value.to_owned());
            }
        }
    }
    jobs
}

/// The id of an element: `8[3].server` of `8[].server`.
pub(super) fn element(array: &str, index: usize) -> String {
    array.replacen("[]", &format!("[{index}]"), 1)
}

/// The index in `8[3].server`.
fn index(id: &str) -> Option<usize> {
    let (_, rest) = id.split_once('[')?;
    rest.split_once(']')?.0.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn broken_lines_are_put_together_and_strange_ones_skipped() {
        let text = "\
Job Id: 12.pbs1
    Job_Name = s000001e0000ca1
    job_state = Q
    Variable_List = PBS_O_HOME=/u/a,ODD=\"},{\\u0000,
\tPBS_O_PATH=/usr/bin
    comment = Not Running: Insufficient amount of resource: ncpus (R: 4 A: 0\x20
\tT: 20)

    a line that is no attribute
Job Id: 13[2].pbs1
    job_state = R
";
        let jobs = jobs(text);
        assert_eq!(jobs.len(), 2);
        let comment = "Not Running: Insufficient amount of resource: ncpus (R: 4 A: 0 T: 20)";
        assert_eq!(jobs[0].get("comment"), Some(comment));
        assert_eq!((jobs[0].variable("PBS_O_PATH"), jobs[0].variable("ODD_ONE")), (Some("/usr/bin"), None));
        assert_eq!((jobs[1].id.as_str(), jobs[1].get("Job_Name")), ("13[2].pbs1", None));
        assert_eq!(super::jobs("qstat: garbage\n    job_state = R\n\tx\n"), []);
    }

    #[test]
    fn elements_have_an_index() {
        assert_eq!(element("8[].pbs1", 3), "8[3].pbs1");
        assert_eq!((index("8[3].pbs1"), index("8[].pbs1"), index("8.pbs1")), (Some(3), None, None));
    }
}
