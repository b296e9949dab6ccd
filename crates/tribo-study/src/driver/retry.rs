//! What follows the end of an attempt: another attempt, or the trial's outcome.
//!
//! Each class of failure has its own budget: a job that is lost does not use up the attempts of a program that asks to be
//! tried again. An attempt that was preempted, or whose node failed, costs nothing, and neither does one that the scheduler
//! never acknowledged: only the number of attempts that a job name can carry limits those.

use crate::config::Retries;
use crate::job::{Finding, Kind};
use crate::store::ledger::{End, TrialState};
use crate::tag::Tag;

/// What to do with a trial none of whose attempts is under way.
#[derive(Debug, Clone, PartialEq)]
pub enum Next {
    /// Try (again).
    Attempt,
    /// Tell the optimiser.
    Tell(Finding),
}

/// Budgets are counted by class.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Transient,
    Lost,
    Failed,
    Timeout,
    Memory,
}

fn class(kind: Kind) -> Option<Class> {
    match kind {
        Kind::Transient => Some(Class::Transient),
        Kind::Lost => Some(Class::Lost),
        Kind::Failed | Kind::Unstarted => Some(Class::Failed),
        Kind::Timeout | Kind::Walltime => Some(Class::Timeout),
        Kind::Memory => Some(Class::Memory),
        Kind::Infrastructure => None,
        Kind::Ok | Kind::Infeasible | Kind::Invalid | Kind::Duplicate => None,
        // The second is never recorded.
        Kind::Cancelled | Kind::Stopped => None,
    }
}

/// Whether an end says something about the evaluation, so that a row of them should stop the study: not what the scheduler,
/// a machine or a person did to the job.
pub fn speaks_of_evaluation(kind: Kind) -> bool {
    !matches!(kind, Kind::Cancelled | Kind::Stopped | Kind::Lost | Kind::Infrastructure | Kind::Duplicate)
}

/// What follows, when every attempt of the trial has ended. `cancelled` says that the user gave the trial up.
pub fn next(trial: &TrialState, objective: &str, retries: &Retries, cancelled: bool) -> Next {
    let ends = || trial.attempts.iter().filter_map(|attempt| attempt.end.as_ref().map(|end| (attempt, end)));
    if let Some((_, end)) = ends().find(|(_, end)| end.is_final()) {
        return Next::Tell(outcome(end, objective));
    }
    if cancelled {
        return Next::Tell(Finding::failed("cancelled: on request"));
    }
    let Some((_, last)) = ends().next_back() else { return Next::Attempt };
    let failed = || {
        let (kind, reason) = (Kind::Failed, describe(last));
        Next::Tell(Finding { kind, outputs: last.finding.outputs.clone(), reason })
    };
    if trial.attempts.len() >= Tag::ATTEMPTS as usize {
        return failed();
    }
    let budget = match class(last.finding.kind) {
        Some(Class::Transient) => retries.transient,
        Some(Class::Lost) => retries.infrastructure,
        Some(Class::Failed) => retries.failed,
        Some(Class::Timeout) => retries.timeout,
        Some(Class::Memory) => retries.memory,
        None if last.finding.kind == Kind::Infrastructure => return Next::Attempt,
        // A driver that was told to cancel everything ends attempts, not trials.
        None if last.finding.reason == DRIVER_STOPPED => return Next::Attempt,
        None => 0,
    };
    let same = |end: &End| class(end.finding.kind) == class(last.finding.kind);
    let spent = ends().filter(|(attempt, end)| attempt.job.is_some() && same(end)).count();
    if spent as u64 <= u64::from(budget) { Next::Attempt } else { failed() }
}

/// The reason of attempts cancelled because their driver was interrupted twice.
pub const DRIVER_STOPPED: &str = "the driver was told to cancel everything";

/// The outcome that an end decides by itself. Reasons are told of what has no value.
fn outcome(end: &End, objective: &str) -> Finding {
    let finding = end.finding.clone().with_objective(objective);
    match finding.kind {
        Kind::Invalid => finding,
        _ => Finding { reason: String::new(), ..finding },
    }
}

fn describe(end: &End) -> String {
    let Finding { kind, reason, .. } = &end.finding;
    match reason.is_empty() {
        true => kind.name().to_owned(),
        false => format!("{}: {reason}", kind.name()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outputs::{Outputs, VALUE};
    use crate::store::ledger::{AttemptState, Source};
    use crate::tag::{AttemptId, StudyId};

    fn trial(ends: &[(Kind, Option<f64>)]) -> TrialState {
        let attempt = |(index, &(kind, value)): (usize, &(Kind, Option<f64>))| {
            let id = AttemptId { trial: 3, attempt: index as u32 + 1 };
            AttemptState {
                id,
                tag: Tag::new(&StudyId::from_bits(1), id).unwrap(),
                intended_ms: 0,
                job: Some("1".to_owned()),
                submitted_ms: 0,
                end: Some(End {
                    finding: Finding {
                        kind,
                        outputs: value.map_or(Outputs::new(), |value| Outputs::one(VALUE, value)),
                        reason: "why".into(),
                    },
                    wall_s: None,
                    host: String::new(),
                    ms: 0,
                    n: 0,
                }),
            }
        };
        TrialState {
            source: Source::Imported(serde_json::Map::new()),
            asked_ms: 0,
            attempts: ends.iter().enumerate().map(attempt).collect(),
            outcome: None,
            told_ms: 0,
        }
    }

    fn after(ends: &[(Kind, Option<f64>)]) -> Next {
        next(&trial(ends), VALUE, &Retries::default(), false)
    }

    fn failed(reason: &str) -> Next {
        Next::Tell(Finding::failed(reason))
    }

    #[test]
    fn each_class_has_its_own_budget() {
        let (lost, transient) = ((Kind::Lost, None), (Kind::Transient, None));
        assert_eq!(after(&[]), Next::Attempt);
        assert_eq!(after(&[lost, lost, lost]), Next::Attempt);
        assert_eq!(after(&[lost, lost, lost, lost]), failed("lost: why"));
        assert_eq!(after(&[lost, transient, lost, transient]), Next::Attempt);
        assert_eq!(after(&[transient, transient, lost, transient]), failed("transient: why"));
        assert_eq!(after(&[(Kind::Failed, None)]), failed("failed: why"));
        assert_eq!(after(&[(Kind::Walltime, None)]), failed("walltime: why"));
    }

    #[test]
    fn preempted_jobs_and_failed_nodes_cost_nothing_but_attempts() {
        let preempted = (Kind::Infrastructure, None);
        assert_eq!(after(&[preempted; 34]), Next::Attempt);
        assert_eq!(after(&[preempted; 35]), failed("infrastructure: why"));
        let lost = (Kind::Lost, None);
        assert_eq!(
            after(&[preempted, preempted, preempted, preempted, lost, lost, preempted, lost]),
            Next::Attempt
        );
        assert_eq!(after(&[(Kind::Cancelled, None)]), failed("cancelled: why"));
        for kind in
            [Kind::Failed, Kind::Timeout, Kind::Walltime, Kind::Memory, Kind::Invalid, Kind::Transient]
        {
            assert!(speaks_of_evaluation(kind), "{kind:?}");
        }
        for kind in [Kind::Cancelled, Kind::Lost, Kind::Infrastructure] {
            assert!(!speaks_of_evaluation(kind), "{kind:?}");
        }
    }

    #[test]
    fn a_value_decides_whatever_else_happened() {
        let measured = Next::Tell(Finding::answered(VALUE, 2.5));
        assert_eq!(after(&[(Kind::Ok, Some(2.5)), (Kind::Cancelled, None)]), measured);
        assert_eq!(after(&[(Kind::Infeasible, None)]), Next::Tell(Finding::infeasible()));
        let missing = Finding::none(Kind::Invalid, "there is no output `value`");
        assert_eq!(after(&[(Kind::Ok, None)]), Next::Tell(missing));
    }

    #[test]
    fn what_is_there_is_kept_without_the_objective() {
        let stress = Outputs::one("stress", 180.0);
        for kind in [Kind::Failed, Kind::Invalid, Kind::Ok, Kind::Infeasible] {
            let mut state = trial(&[(kind, None)]);
            state.attempts[0].end.as_mut().unwrap().finding.outputs = stress.clone();
            let Next::Tell(told) = next(&state, "mass", &Retries::default(), false) else {
                panic!("{kind:?}")
            };
            assert_eq!(told.outputs, stress, "{kind:?}");
            assert_ne!(told.kind, Kind::Ok);
        }
    }

    #[test]
    fn attempts_that_never_reached_the_scheduler_are_free() {
        let mut state = trial(&[(Kind::Infrastructure, None); 6]);
        state.attempts.iter_mut().for_each(|attempt| attempt.job = None);
        assert_eq!(next(&state, VALUE, &Retries::default(), false), Next::Attempt);
        assert_eq!(next(&state, VALUE, &Retries::default(), true), failed("cancelled: on request"));
    }
}
