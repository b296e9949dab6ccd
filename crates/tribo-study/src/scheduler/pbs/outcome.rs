//! What `qsub` and `qdel` say, sorted by what to do about it.
//!
//! As for SLURM, whether a job may have been accepted comes first. `qsub` complains under its own name when the server
//! says no, for reasons that sites add to, so an unknown complaint of it is a refusal.

use crate::runner::Submission;
use crate::runner::batch::untold;
use crate::runner::command::{Output, Trouble};

/// The connection broke after the request may have been sent.
const AMBIGUOUS: [&str; 6] =
    ["End of File", "Communication failure", "Premature end", "Protocol", "Expired", "timed out"];
/// It was not sent, or the server takes nothing now.
const UNAVAILABLE: [&str; 6] = [
    "cannot connect to server",
    "Connection refused",
    "No route to host",
    "Queue is not enabled",
    "shutting down",
    "Server is busy",
];
/// Too many jobs, for now, or an array that is too large.
const LIMITED: [&str; 4] = [
    "would exceed",
    "Maximum number of jobs already in queue",
    "exceeds server or queue size limit",
    "Resource temporarily unavailable",
];

/// What came of running `qsub`.
pub(super) fn of(output: Result<Output, Trouble>) -> Submission {
    match output {
        Err(trouble) => untold(&trouble),
        Ok(output) if output.success() => match job_id(&output.stdout) {
            Some(id) => Submission::Accepted(id),
            None => {
                Submission::Ambiguous(format!("qsub answered {:?}, which is no job id", output.stdout.trim()))
            }
        },
        Ok(output) => classify(output.complaint()),
    }
}

/// The last line that is an id such as `12.server` or `12[].server`, kept whole.
fn job_id(stdout: &str) -> Option<String> {
    let id = |line: &str| {
        let line = line.trim();
        let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
        let named = rest.strip_prefix("[]").unwrap_or(rest);
        let whole = rest.len() < line.len() && (named.is_empty() || named.starts_with('.'));
        (whole && !line.contains(char::is_whitespace)).then(|| line.to_owned())
    };
    stdout.lines().rev().find_map(id)
}

fn classify(complaint: String) -> Submission {
    let says = |texts: &[&str]| texts.iter().any(|text| complaint.contains(text));
    if says(&AMBIGUOUS) {
        Submission::Ambiguous(complaint)
    } else if says(&UNAVAILABLE) {
        Submission::Unavailable(complaint)
    } else if says(&LIMITED) {
        Submission::Limited(complaint)
    } else if says(&["qsub:"]) {
        Submission::Refused(complaint)
    } else {
        Submission::Ambiguous(complaint)
    }
}

/// Whether it is the queue that takes nothing, and not the server.
pub(super) fn is_closed(complaint: &str) -> bool {
    complaint.contains("Queue is not enabled")
}

/// Whether `qdel` did what was to be done: a job that is gone, has ended or is ending needs no end.
pub(super) fn deleted(output: &Output) -> bool {
    let harmless = ["Unknown Job Id", "Job has finished", "invalid for state of job"];
    let over = |line: &str| harmless.iter().any(|text| line.contains(text));
    output.success() || (!output.stderr.trim().is_empty() && output.stderr.lines().all(over))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(stderr: &str) -> Submission {
        of(Ok(Output { code: Some(1), stdout: String::new(), stderr: stderr.to_owned() }))
    }

    #[test]
    fn complaints_are_sorted_by_what_to_do() {
        let limited = "qsub: would exceed complex's per-user limit of jobs in 'Q' state";
        assert!(matches!(said(limited), Submission::Limited(_)));
        assert!(matches!(said("qsub: would exceed queue generic's per-user limit"), Submission::Limited(_)));
        assert!(matches!(said("qsub: illegal -o value"), Submission::Refused(_)));
        let closed = "qsub: Queue is not enabled";
        assert!(matches!(said(closed), Submission::Unavailable(_)) && is_closed(closed));
        assert!(matches!(said("qsub: Array job exceeds server or queue size limit"), Submission::Limited(_)));
        let down = "Connection refused\nqsub: cannot connect to server pbs1 (errno=15010)";
        assert!(matches!(said(down), Submission::Unavailable(_)));
        assert!(matches!(said("qsub: End of File"), Submission::Ambiguous(_)));
        assert!(matches!(said("qsub: project code p9 is over its budget"), Submission::Refused(_)));
        assert!(matches!(said("Segmentation fault"), Submission::Ambiguous(_)));
    }

    #[test]
    fn ids_are_kept_whole() {
        assert_eq!(
            job_id("Welcome to 3 machines\n12.pbs1.example.org\n").as_deref(),
            Some("12.pbs1.example.org")
        );
        assert_eq!(job_id("8[].pbs1\n").as_deref(), Some("8[].pbs1"));
        assert_eq!(job_id("12 jobs\n.pbs1\n8[2].pbs1 x\n"), None);
    }
}
