//! What follows the end of an attempt: another attempt, or the trial's outcome.
//!
//! Each class of failure has its own budget: a job that is lost does not use up the attempts of a program that asks to be
//! tried again. An attempt that was preempted, or whose node failed, costs nothing, and neither does one that the scheduler
//! never acknowledged: only the number of attempts that a job name can carry limits those.
//!
//! A trial whose attempts all ended by accidents is *lost*: nothing is known about its point, and its evaluation is not spent.
//!
//! Attempts wait, each time twice as long: what asks to be tried again lacks something that comes back later, and a machine
//! that kills one job after the other had better be left alone. The wait follows from the journal alone.

use crate::config::Retries;
use crate::job::{Finding, Kind};
use crate::store::ledger::{End, TrialState};
use crate::tag::Tag;
use std::time::Duration;
use tribo::rng::Stream;

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
    if let Some((_, end)) = trial.ends().find(|(_, end)| end.is_final()) {
        return Next::Tell(outcome(end, objective));
    }
    if cancelled {
        return Next::Tell(Finding::failed("cancelled: on request"));
    }
    let Some((_, last)) = trial.ends().next_back() else { return Next::Attempt };
    let given_up = || {
        let kind = match trial.ends().all(|(_, end)| is_accident(end.finding.kind)) {
            true => Kind::Lost,
            false => Kind::Failed,
        };
        Next::Tell(Finding { kind, outputs: last.finding.outputs.clone(), reason: describe(last) })
    };
    if trial.attempts.len() >= Tag::ATTEMPTS as usize {
        return given_up();
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
    let spent = trial.ends().filter(|(attempt, end)| attempt.job.is_some() && same(end)).count();
    if spent as u64 <= u64::from(budget) { Next::Attempt } else { given_up() }
}

/// Whether an end says nothing about the point: something was missing that comes back, or a machine went down.
fn is_accident(kind: Kind) -> bool {
    matches!(kind, Kind::Transient | Kind::Lost | Kind::Infrastructure)
}

/// Attempts never wait longer than this, unless the first wait is longer: a licence that comes back is noticed soon enough.
const LONGEST_WAIT: Duration = Duration::from_secs(600);
/// Waits differ by up to this part, so that those who failed together do not come back together.
const JITTER: f64 = 0.2;

/// How long the next attempt of a trial still has to wait at `now_ms`, when every attempt has ended. After the program asked
/// for another attempt, it waits since that one ended. Jobs lost or killed by a machine are replaced at once; from the second
/// on, not sooner than the wait after the last was submitted, so that one which ran for long is replaced at once, too.
pub fn wait(trial: &TrialState, retries: &Retries, now_ms: u64) -> Duration {
    let Some((attempt, last)) = trial.ends().next_back() else { return Duration::ZERO };
    let asked_for = last.finding.kind == Kind::Transient;
    if !is_accident(last.finding.kind) || attempt.job.is_none() {
        return Duration::ZERO;
    }
    let same =
        |end: &End| is_accident(end.finding.kind) && (end.finding.kind == Kind::Transient) == asked_for;
    let times = trial.ends().filter(|(attempt, end)| attempt.job.is_some() && same(end)).count() as u32;
    let (doublings, since_ms) = match asked_for {
        true => (times - 1, last.ms),
        false if times < 2 => return Duration::ZERO,
        false => (times - 2, attempt.submitted_ms),
    };
    let longest = LONGEST_WAIT.max(retries.delay);
    let whole = retries.delay.saturating_mul(1 << doublings.min(20)).min(longest);
    let mut stream = Stream::new(attempt.id.trial, "retry delay", u64::from(attempt.id.attempt));
    let whole = whole.mul_f64(1.0 + JITTER * (2.0 * stream.uniform() - 1.0));
    // A clock that was set back would make it wait for ever.
    let passed = now_ms.checked_sub(since_ms).map(Duration::from_millis);
    passed.map_or(Duration::ZERO, |passed| whole.saturating_sub(passed))
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
        let attempts = ends.iter().enumerate().map(attempt).collect();
        TrialState { attempts, ..TrialState::new(Source::Imported((&serde_json::Map::new()).into()), 0) }
    }

    fn after(ends: &[(Kind, Option<f64>)]) -> Next {
        next(&trial(ends), VALUE, &Retries { transient: 2, ..Retries::default() }, false)
    }

    fn lost(reason: &str) -> Next {
        Next::Tell(Finding::lost(reason))
    }

    fn failed(reason: &str) -> Next {
        Next::Tell(Finding::failed(reason))
    }

    #[test]
    fn each_class_has_its_own_budget() {
        let (gone, transient) = ((Kind::Lost, None), (Kind::Transient, None));
        assert_eq!(after(&[]), Next::Attempt);
        assert_eq!(after(&[gone, gone, gone]), Next::Attempt);
        assert_eq!(after(&[gone, gone, gone, gone]), lost("lost: why"));
        assert_eq!(after(&[gone, transient, gone, transient]), Next::Attempt);
        assert_eq!(after(&[transient, transient, gone, transient]), lost("transient: why"));
        assert_eq!(after(&[(Kind::Failed, None)]), failed("failed: why"));
        assert_eq!(after(&[(Kind::Walltime, None)]), failed("walltime: why"));
    }

    #[test]
    fn preempted_jobs_and_failed_nodes_cost_nothing_but_attempts() {
        let preempted = (Kind::Infrastructure, None);
        assert_eq!(after(&[preempted; 34]), Next::Attempt);
        assert_eq!(after(&[preempted; 35]), lost("infrastructure: why"));
        let gone = (Kind::Lost, None);
        assert_eq!(
            after(&[preempted, preempted, preempted, preempted, gone, gone, preempted, gone]),
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
    fn only_a_trial_without_any_other_failure_is_lost() {
        let retries = Retries { failed: 5, transient: 1, ..Retries::default() };
        let state = trial(&[(Kind::Failed, None), (Kind::Transient, None), (Kind::Transient, None)]);
        assert_eq!(next(&state, VALUE, &retries, false), failed("transient: why"));
    }

    #[test]
    fn what_ended_before_a_trial_was_reopened_does_not_count() {
        let mut state = trial(&[(Kind::Invalid, None), (Kind::Failed, None), (Kind::Transient, None)]);
        for (n, attempt) in state.attempts.iter_mut().enumerate() {
            attempt.end.as_mut().unwrap().n = 10 + n as u64;
        }
        state.reopened = Some(12);
        assert_eq!(next(&state, VALUE, &Retries::default(), false), Next::Attempt);
        assert_eq!(wait(&state, &Retries::default(), 0), Duration::ZERO);
        state.reopened = Some(11);
        assert_eq!(next(&state, VALUE, &Retries { transient: 0, ..Retries::default() }, false), {
            lost("transient: why")
        });
    }

    #[test]
    fn waits_grow_differ_and_are_over_at_last() {
        let retries = Retries { delay: Duration::from_secs(10), ..Retries::default() };
        let after = |ends: &[(Kind, Option<f64>)], now_ms| {
            let mut state = trial(ends);
            for attempt in &mut state.attempts {
                attempt.submitted_ms = 500_000;
                attempt.end.as_mut().unwrap().ms = 1_000_000;
            }
            wait(&state, &retries, now_ms).as_secs_f64()
        };
        let transient = (Kind::Transient, None);
        let waits: Vec<f64> = (1..=9).map(|n| after(&vec![transient; n], 1_000_000)).collect();
        for (n, wait) in waits.iter().enumerate() {
            let whole = (10.0 * 2f64.powi(n as i32)).min(600.0);
            assert!((0.8 * whole..=1.2 * whole).contains(wait) && *wait != whole, "{waits:?}");
        }
        assert!(after(&[transient], 1_004_000) + 4.0 - waits[0] < 1e-9);
        assert_eq!((after(&[transient], 1_013_000), after(&[transient], 999_999)), (0.0, 0.0));
        // A job that is lost is replaced at once, the second one too if it had run for long.
        for kind in [Kind::Lost, Kind::Infrastructure] {
            let gone = (kind, None);
            assert_eq!(after(&[gone], 501_000), 0.0);
            assert!((7.0..=11.0).contains(&after(&[gone, gone], 501_000)));
            assert!((15.0..=23.0).contains(&after(&[gone, gone, gone], 501_000)));
            assert_eq!(after(&[gone, gone, gone], 1_000_000), 0.0);
        }
        assert_eq!(after(&[(Kind::Failed, None), (Kind::Timeout, None)], 1_000_000), 0.0);
    }

    #[test]
    fn attempts_that_never_reached_the_scheduler_are_free() {
        let mut state = trial(&[(Kind::Infrastructure, None); 6]);
        state.attempts.iter_mut().for_each(|attempt| attempt.job = None);
        assert_eq!(next(&state, VALUE, &Retries::default(), false), Next::Attempt);
        assert_eq!(next(&state, VALUE, &Retries::default(), true), failed("cancelled: on request"));
    }
}
