//! What `sbatch` says, sorted by what to do about it.
//!
//! The order matters: whether it may have been accepted comes first, since a job submitted twice costs more than one
//! looked for in vain. After "Batch job submission failed:" stands the controller's own answer, so whatever else follows
//! there is a refusal; words nobody knows, from anywhere else, prove nothing.

use crate::runner::Submission;
use crate::runner::batch::untold;
use crate::runner::command::{Output, Trouble};

/// The connection broke after the request may have been sent.
const AMBIGUOUS: [&str; 6] = [
    "Socket timed out",
    "send/recv",
    "Zero Bytes were transmitted",
    "Unexpected message received",
    "Transport endpoint is not connected",
    "Communication connection failure",
];
/// It was not sent, or the controller says that it cannot now.
const UNAVAILABLE: [&str; 8] = [
    "Unable to contact slurm controller",
    "Connection refused",
    "backup controller in standby",
    "shutting down",
    "presently disabled",
    "I/O error writing script/environment",
    "Protocol authentication error",
    "Unable to establish configuration source",
];
/// One job asks for more than any job may have: no number of ended jobs makes room for it.
const TOO_MUCH_FOR_ONE: [&str; 3] = ["PerJobLimit", "MinCpus", "PerNode"];
/// Too many jobs, for now.
const LIMITED: [&str; 8] = [
    "Job violates accounting/QOS policy",
    "MaxSubmitJob",
    "SubmitJobsLimit",
    "SubmitJobLimit",
    "Resource temporarily unavailable",
    "temporarily unable to accept job",
    "Invalid job array specification",
    "Job array exceeds",
];
/// It will be the same next time.
const REFUSED: [&str; 14] = [
    "Batch job submission failed:",
    "allocation failure:",
    "Invalid partition",
    "Invalid account",
    "Invalid qos",
    "Requested node configuration is not available",
    "Requested time limit is invalid",
    "ermission denied",
    "Access denied",
    "unrecognized option",
    "invalid option",
    "Unable to open file",
    "specification",
    "does not look like a batch script",
];

/// What `sbatch --test-only` found out, from its standard error: `sbatch: Job 7 to start at 2026-11-15T19:03:20 using ...`.
pub(super) fn rehearsed(stderr: &str) -> String {
    let start = stderr.lines().find_map(|line| line.split_once(" to start at ")?.1.split_whitespace().next());
    let start =
        start.map(|start| format!("; if submitted now it would start at {start}")).unwrap_or_default();
    format!("slurm would take a job of this study{start}")
}

/// What came of running `sbatch --parsable`.
pub(super) fn of(output: Result<Output, Trouble>) -> Submission {
    match output {
        Err(trouble) => untold(&trouble),
        Ok(output) if output.success() => match job_id(&output.stdout) {
            Some(id) => Submission::Accepted(id),
            None => Submission::Ambiguous(format!(
                "sbatch answered {:?}, which is no job id",
                output.stdout.trim()
            )),
        },
        Ok(output) => classify(output.complaint()),
    }
}

/// The last line that is `id` or `id;cluster`: sites print banners before it.
fn job_id(stdout: &str) -> Option<String> {
    let digits = |line: &str| {
        let id = line.trim().split(';').next().unwrap_or_default();
        (!id.is_empty() && id.bytes().all(|b| b.is_ascii_digit())).then(|| id.to_owned())
    };
    stdout.lines().rev().find_map(digits)
}

fn classify(complaint: String) -> Submission {
    let says = |texts: &[&str]| texts.iter().any(|text| complaint.contains(text));
    if says(&AMBIGUOUS) {
        Submission::Ambiguous(complaint)
    } else if says(&UNAVAILABLE) {
        Submission::Unavailable(complaint)
    } else if says(&TOO_MUCH_FOR_ONE) {
        Submission::Refused(complaint)
    } else if says(&LIMITED) {
        Submission::Limited(complaint)
    } else if says(&REFUSED) {
        Submission::Refused(complaint)
    } else {
        Submission::Ambiguous(complaint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(stderr: &str) -> &'static str {
        let output = Output { code: Some(1), stdout: String::new(), stderr: stderr.to_owned() };
        match of(Ok(output)) {
            Submission::Accepted(_) => "accepted",
            Submission::Refused(_) => "refused",
            Submission::Limited(_) => "limited",
            Submission::Unavailable(_) => "unavailable",
            Submission::Ambiguous(_) => "ambiguous",
        }
    }

    #[test]
    fn complaints_are_sorted_by_what_to_do() {
        let failed = |reason: &str| format!("sbatch: error: Batch job submission failed: {reason}\n");
        for (reason, expected) in [
            ("Socket timed out on send/recv operation", "ambiguous"),
            ("Zero Bytes were transmitted or received", "ambiguous"),
            ("Unable to contact slurm controller (connect failure)", "unavailable"),
            ("Invalid partition name specified", "refused"),
            ("Invalid account or account/partition combination specified", "refused"),
            ("Requested node configuration is not available", "refused"),
            ("Requested time limit is invalid (missing or exceeds some limit)", "refused"),
            ("Access/permission denied", "refused"),
            ("Something a site's plugin says", "refused"),
            ("Invalid job array specification", "limited"),
            (
                "Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)",
                "limited",
            ),
            ("Resource temporarily unavailable", "limited"),
        ] {
            assert_eq!(class(&failed(reason)), expected, "{reason}");
        }
        let policy =
            failed("Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)");
        assert_eq!(class(&format!("sbatch: error: QOSMaxSubmitJobPerUserLimit\n{policy}")), "limited");
        assert_eq!(class(&format!("sbatch: error: QOSMaxWallDurationPerJobLimit\n{policy}")), "refused");
        assert_eq!(class("sbatch: unrecognized option '--bogus'\n"), "refused");
        assert_eq!(class("something else entirely"), "ambiguous");
        assert_eq!(class(""), "ambiguous");
    }

    #[test]
    fn a_missing_program_was_no_submission_and_a_killed_one_may_have_been() {
        let unstarted = Trouble::Unstarted { program: "sbatch".into(), reason: "it is not on PATH".into() };
        assert!(matches!(of(Err(unstarted)), Submission::Unavailable(why) if why.contains("sbatch")));
        let killed = Output { code: None, stdout: "12\n".into(), stderr: String::new() };
        assert!(matches!(of(Ok(killed)), Submission::Ambiguous(_)));
    }
}
