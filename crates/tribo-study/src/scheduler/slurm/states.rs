//! SLURM's job states in tribo's words.

use crate::job::Kind;
use crate::runner::{Ending, State};

/// What is known of a job besides its state.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Circumstances<'a> {
    /// SLURM's reason, `None` or empty if there is none.
    pub(super) reason: &'a str,
    /// Nodes it ran on.
    pub(super) nodes: &'a str,
    /// Whether SLURM restarts preempted jobs itself.
    pub(super) requeue: bool,
    /// How it exited, as `code:signal`; empty where that is not told.
    pub(super) exit: &'a str,
    /// Whether the attempt was claimed, that is, whether `tribo job` began.
    pub(super) claimed: bool,
}

/// The state behind a word of `squeue`, `sacct` or `scontrol`.
pub(super) fn state(word: &str, about: Circumstances<'_>) -> State {
    // sacct writes "CANCELLED by 1000".
    let first = word.split_whitespace().next().unwrap_or_default();
    let reason = Some(about.reason).filter(|reason| !matches!(*reason, "" | "None" | "(null)"));
    match first {
        "PENDING" | "CONFIGURING" | "REQUEUED" | "REQUEUE_FED" => match reason {
            Some(reason) if reason.to_ascii_lowercase().contains("held") => State::Held(reason.to_owned()),
            Some(reason) if is_impossible(reason) => State::Impossible(reason.to_owned()),
            reason => State::Queued(reason.map(str::to_owned)),
        },
        "REQUEUE_HOLD" | "RESV_DEL_HOLD" | "SPECIAL_EXIT" => State::Held(reason.unwrap_or(first).to_owned()),
        "RUNNING" | "RESIZING" | "SIGNALING" | "STAGE_OUT" | "COMPLETING" => State::Running,
        "SUSPENDED" | "STOPPED" => State::Suspended,
        // Still listed, and it will be started again.
        "PREEMPTED" if about.requeue => State::Queued(Some("preempted".to_owned())),
        _ => match kind(first, about.claimed) {
            Some(kind) => State::Ended(Ending {
                kind,
                reason: described(word, reason, about.exit),
                host: Some(about.nodes)
                    .filter(|nodes| !nodes.is_empty() && first != "PREEMPTED")
                    .map(str::to_owned),
            }),
            None => State::Unknown(word.to_owned()),
        },
    }
}

/// An end in SLURM's words, with the signal or the exit code if it was not a good one.
fn described(word: &str, reason: Option<&str>, exit: &str) -> String {
    let (code, signal) = exit.split_once(':').unwrap_or(("0", "0"));
    let exit = match (code, signal) {
        ("0", "0") => None,
        (_, "0") => Some(format!("exit code {code}")),
        (_, signal) => Some(format!("killed by signal {signal}")),
    };
    let more: Vec<String> = reason.map(str::to_owned).into_iter().chain(exit).collect();
    if more.is_empty() { word.to_owned() } else { format!("{word} ({})", more.join(", ")) }
}

/// Reasons that no waiting removes: the job asks for more than its partition, account or any node has.
const IMPOSSIBLE: [&str; 11] = [
    // What the next ones are called in the first seconds.
    "PartitionConfig",
    "PartitionTimeLimit",
    "PartitionNodeLimit",
    "BadConstraints",
    "InvalidAccount",
    "InvalidQOS",
    "AccountNotAllowed",
    "QOSNotAllowed",
    "DependencyNeverSatisfied",
    "PerJob",
    "PerNode",
];

fn is_impossible(reason: &str) -> bool {
    IMPOSSIBLE.iter().any(|word| reason.contains(word))
}

/// A job that fails leaves an answer, unless it could not begin.
fn kind(word: &str, claimed: bool) -> Option<Kind> {
    Some(match word {
        "COMPLETED" => Kind::Ok,
        "FAILED" if claimed => Kind::Failed,
        "FAILED" => Kind::Unstarted,
        "OUT_OF_MEMORY" => Kind::Memory,
        "TIMEOUT" | "DEADLINE" => Kind::Walltime,
        "CANCELLED" => Kind::Cancelled,
        "NODE_FAIL" | "BOOT_FAIL" | "PREEMPTED" | "REVOKED" => Kind::Infrastructure,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(word: &str, claimed: bool) -> Option<Kind> {
        match state(word, Circumstances { claimed, ..Circumstances::default() }) {
            State::Ended(ending) => Some(ending.kind),
            _ => None,
        }
    }

    #[test]
    fn every_state_of_the_manual_has_a_meaning() {
        for word in ["PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_FED"] {
            assert_eq!(state(word, Circumstances::default()), State::Queued(None), "{word}");
        }
        for word in ["RUNNING", "RESIZING", "SIGNALING", "STAGE_OUT", "COMPLETING"] {
            assert_eq!(state(word, Circumstances::default()), State::Running, "{word}");
        }
        for word in ["SUSPENDED", "STOPPED"] {
            assert_eq!(state(word, Circumstances::default()), State::Suspended, "{word}");
        }
        for word in ["REQUEUE_HOLD", "RESV_DEL_HOLD", "SPECIAL_EXIT"] {
            assert_eq!(state(word, Circumstances::default()), State::Held(word.to_owned()), "{word}");
        }
        assert_eq!(ended("COMPLETED", true), Some(Kind::Ok));
        assert_eq!(ended("FAILED", true), Some(Kind::Failed));
        assert_eq!(ended("FAILED", false), Some(Kind::Unstarted));
        assert_eq!(ended("OUT_OF_MEMORY", true), Some(Kind::Memory));
        assert_eq!(ended("CANCELLED by 1000", true), Some(Kind::Cancelled));
        for word in ["TIMEOUT", "DEADLINE"] {
            assert_eq!(ended(word, true), Some(Kind::Walltime), "{word}");
        }
        for word in ["NODE_FAIL", "BOOT_FAIL", "PREEMPTED", "REVOKED"] {
            assert_eq!(ended(word, true), Some(Kind::Infrastructure), "{word}");
        }
        assert_eq!(state("LEVITATING", Circumstances::default()), State::Unknown("LEVITATING".into()));
    }

    #[test]
    fn reasons_and_nodes_are_told() {
        let about = Circumstances { reason: "JobHeldAdmin", ..Circumstances::default() };
        assert_eq!(state("PENDING", about), State::Held("JobHeldAdmin".into()));
        for reason in [
            "PartitionConfig",
            "PartitionTimeLimit",
            "QOSMaxCpuPerJobLimit",
            "AssocMaxWallDurationPerJobLimit",
        ] {
            let about = Circumstances { reason, ..Circumstances::default() };
            assert_eq!(state("PENDING", about), State::Impossible(reason.into()), "{reason}");
        }
        let about = Circumstances { reason: "Priority", ..Circumstances::default() };
        assert_eq!(state("PENDING", about), State::Queued(Some("Priority".into())));
        let about = Circumstances { reason: "NodeDown", nodes: "n7", ..Circumstances::default() };
        let State::Ended(ending) = state("NODE_FAIL", about) else { panic!("not ended") };
        assert_eq!((ending.reason.as_str(), ending.host.as_deref()), ("NODE_FAIL (NodeDown)", Some("n7")));
    }
}
