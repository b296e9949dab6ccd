//! The states of PBS jobs in tribo's words.
//!
//! Exit_status is that of the script below 128, 128 + signal if the script was killed, 256 + signal if the whole job was,
//! and negative when the server or the node ended it.

use super::status::Job;
use crate::job::Kind;
use crate::runner::{Ending, State};

/// Substate of a job that `qdel` ended.
const TERMINATED: &str = "91";

/// The state of a job. Whether the attempt was claimed tells a job that failed from one that could not begin.
pub(super) fn state(job: &Job, claimed: bool) -> State {
    let comment = job.get("comment");
    match job.get("job_state").unwrap_or_default() {
        "Q" | "W" | "T" | "M" => match comment {
            Some(comment) if comment.starts_with("Can Never Run") => State::Impossible(comment.to_owned()),
            comment => State::Queued(comment.map(str::to_owned)),
        },
        "H" => {
            let types = || format!("held (type {})", job.get("Hold_Types").unwrap_or("unknown"));
            State::Held(comment.map_or_else(types, str::to_owned))
        }
        "R" | "E" | "B" => State::Running,
        "S" | "U" => State::Suspended,
        "F" | "X" => State::Ended(ending(job, comment, claimed)),
        other => State::Unknown(other.to_owned()),
    }
}

fn ending(job: &Job, comment: Option<&str>, claimed: bool) -> Ending {
    let status: Option<i32> = job.get("Exit_status").and_then(|status| status.parse().ok());
    let deleted =
        job.get("substate") == Some(TERMINATED) || comment.is_some_and(|c| c.contains("terminated by"));
    let preempted = comment.is_some_and(|comment| comment.to_ascii_lowercase().contains("preempted"));
    let kind = match status {
        _ if preempted => Kind::Infrastructure,
        // A job that is told to stop by qdel answers and ends well, so the exit status does not tell.
        _ if deleted => Kind::Cancelled,
        Some(0) => Kind::Ok,
        Some(status) => of_status(status, claimed),
        // It ended without having run, and nobody says why.
        None => Kind::Lost,
    };
    let reason = match (status, comment) {
        (Some(status), Some(comment)) => format!("Exit_status {status}: {comment}"),
        (Some(status), None) => format!("Exit_status {status}"),
        (None, Some(comment)) => comment.to_owned(),
        (None, None) => "ended without an exit status".to_owned(),
    };
    let host = job.get("exec_host").and_then(|hosts| hosts.split(['/', '+']).next());
    Ending { kind, reason, host: host.filter(|host| !host.is_empty() && !preempted).map(str::to_owned) }
}

fn of_status(status: i32, claimed: bool) -> Kind {
    match status {
        -29 | -28 => Kind::Walltime,
        -27 | -26 => Kind::Memory,
        -25 | -24 => Kind::Failed,
        // -1 and -2: the node could not start it.
        -2 | -1 => Kind::Unstarted,
        ..0 => Kind::Infrastructure,
        // SIGTERM to the whole job is what qdel sends.
        271 => Kind::Cancelled,
        _ if claimed => Kind::Failed,
        _ => Kind::Unstarted,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheduler::pbs::status::jobs;

    fn seen(attributes: &str, claimed: bool) -> State {
        let text: String = attributes.split("; ").map(|attribute| format!("    {attribute}\n")).collect();
        state(&jobs(&format!("Job Id: 1.pbs1\n{text}\n"))[0], claimed)
    }

    fn kind(attributes: &str, claimed: bool) -> Kind {
        match seen(&format!("job_state = F; {attributes}"), claimed) {
            State::Ended(ending) => ending.kind,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn every_letter_has_a_meaning() {
        for letter in ["Q", "W", "T", "M"] {
            assert_eq!(seen(&format!("job_state = {letter}"), true), State::Queued(None), "{letter}");
        }
        for letter in ["R", "E", "B"] {
            assert_eq!(seen(&format!("job_state = {letter}"), true), State::Running, "{letter}");
        }
        for letter in ["S", "U"] {
            assert_eq!(seen(&format!("job_state = {letter}"), true), State::Suspended, "{letter}");
        }
        assert_eq!(seen("job_state = H; Hold_Types = s", true), State::Held("held (type s)".into()));
        assert_eq!(seen("job_state = K", true), State::Unknown("K".into()));
        assert_eq!(seen("queue = workq", true), State::Unknown(String::new()));
    }

    #[test]
    fn exit_statuses_are_told_apart() {
        assert_eq!(kind("Exit_status = 0", true), Kind::Ok);
        assert_eq!(kind("Exit_status = 7", true), Kind::Failed);
        assert_eq!(kind("Exit_status = 7", false), Kind::Unstarted);
        assert_eq!(kind("Exit_status = -29", true), Kind::Walltime);
        assert_eq!(kind("Exit_status = -27", true), Kind::Memory);
        assert_eq!(kind("Exit_status = -1", true), Kind::Unstarted);
        for rerun in [-3, -11, -14, -16, -18, -20] {
            assert_eq!(kind(&format!("Exit_status = {rerun}"), true), Kind::Infrastructure, "{rerun}");
        }
        assert_eq!(kind("Exit_status = 265; substate = 91", true), Kind::Cancelled);
        assert_eq!(kind("Exit_status = 265; substate = 93", true), Kind::Failed);
        assert_eq!(kind("substate = 91", true), Kind::Cancelled);
        assert_eq!(kind("substate = 92", true), Kind::Lost);
        // The job itself, told to stop by qdel, ends well.
        assert_eq!(kind("Exit_status = 0; substate = 91", true), Kind::Cancelled);
        assert_eq!(kind("Exit_status = 0; substate = 92", true), Kind::Ok);
        let preempted = "Exit_status = 0; substate = 91; comment = Job preempted by 9.pbs1; exec_host = n1/0";
        let State::Ended(ending) = seen(&format!("job_state = F; {preempted}"), true) else { panic!() };
        assert_eq!((ending.kind, ending.host), (Kind::Infrastructure, None));
    }
}
