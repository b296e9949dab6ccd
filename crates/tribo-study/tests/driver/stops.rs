//! Jobs that are told to stop by somebody else than the study: preempted, requeued, on a node that failed, cancelled.

use crate::world::{Fate, Then, World, first};
use tribo_study::driver::Uninterrupted;
use tribo_study::driver::notice::{Finish, Notice};
use tribo_study::job::{Finding, Kind};
use tribo_study::store::ledger::End;
use tribo_study::store::record::Record;
use tribo_study::tag::AttemptId;

const PREEMPTED: Then = Then::Ended(Kind::Infrastructure, "PREEMPTED");
const NODE_FAIL: Then = Then::Ended(Kind::Infrastructure, "NODE_FAIL (NodeDown)");
const BY_PERSON: Then = Then::Ended(Kind::Cancelled, "CANCELLED by 1000");

/// A study of `n` trials by `workers` in which these attempts are told to stop, driven to its end.
fn run(n: usize, workers: usize, stops: &[(AttemptId, Then)]) -> (World, Vec<Notice>) {
    let mut world = world(n, workers, stops);
    let (finish, notices) = world.drive();
    assert_eq!(finish.expect("an end in good order"), Finish::Evaluations);
    world.check(n);
    (world, notices)
}

fn world(n: usize, workers: usize, stops: &[(AttemptId, Then)]) -> World {
    let world = World::new(n, workers);
    let mut cluster = world.cluster.borrow_mut();
    cluster.kill_wait = 30.0;
    cluster.fates.extend(stops.iter().map(|(id, then)| (*id, Fate::Stopped(*then))));
    drop(cluster);
    world
}

fn ends(world: &World, trial: u64) -> Vec<End> {
    let ledger = world.ledger();
    let attempts = &ledger.trial(trial).expect("a trial").attempts;
    attempts.iter().map(|attempt| attempt.end.clone().expect("an end")).collect()
}

fn measured(world: &World) -> usize {
    let measured =
        |outcome: &Option<Finding>| outcome.as_ref().is_some_and(|finding| finding.kind == Kind::Ok);
    world.ledger().told().filter(|(_, trial)| measured(&trial.outcome)).count()
}

#[test]
fn a_preempted_job_is_tried_again_soon_and_counts_against_nobody() {
    let (world, notices) = run(6, 2, &[(first(1), PREEMPTED)]);
    assert_eq!(measured(&world), 6);
    let [stopped, again] = ends(&world, 1).try_into().unwrap();
    assert_eq!((stopped.finding.kind, stopped.finding.reason.as_str()), (Kind::Infrastructure, "PREEMPTED"));
    assert_eq!((again.finding.kind, stopped.wall_s), (Kind::Ok, Some(100.0)));
    // Told to stop at 100 s, shown as running for 30 s, then seen to be preempted.
    let waited = stopped.ms as f64 / 1e3 - 130.0;
    assert!((0.0..=15.0).contains(&waited), "{waited} s after the scheduler knew");
    let retried =
        |notice: &Notice| matches!(notice, Notice::Ended { id, retried: true, .. } if *id == first(1));
    assert!(notices.iter().any(retried));
}

#[test]
fn a_node_that_failed_and_one_that_is_preempted_use_up_no_retries() {
    for then in [PREEMPTED, NODE_FAIL] {
        let stops: Vec<_> = (1..=9).map(|attempt| (AttemptId { trial: 1, attempt }, then)).collect();
        let (world, _) = run(4, 2, &stops);
        assert_eq!((measured(&world), ends(&world, 1).len()), (4, 10), "{then:?}");
    }
}

#[test]
fn a_trial_has_35_attempts_whoever_stops_them() {
    let stops: Vec<_> = (1..=40).map(|attempt| (AttemptId { trial: 0, attempt }, PREEMPTED)).collect();
    let (world, _) = run(3, 1, &stops);
    // It is lost, and another is evaluated in its place.
    assert_eq!((measured(&world), ends(&world, 0).len()), (3, 35));
    let outcome = world.ledger().trial(0).unwrap().outcome.clone().unwrap();
    assert_eq!(outcome, Finding::lost("infrastructure: PREEMPTED"));
}

#[test]
fn three_workers_preempted_three_times_do_not_stop_the_study() {
    let stops: Vec<_> =
        (0..9).map(|k| (AttemptId { trial: k % 3, attempt: k as u32 / 3 + 1 }, PREEMPTED)).collect();
    let (world, _) = run(12, 3, &stops);
    assert_eq!(measured(&world), 12);
    assert!((0..3).all(|trial| ends(&world, trial).len() == 4));
}

#[test]
fn fault_16_a_requeued_job_runs_again_and_its_value_counts() {
    let (world, _) = run(6, 2, &[(first(1), Then::Requeued)]);
    assert_eq!(measured(&world), 6);
    assert_eq!(ends(&world, 1).len(), 1, "the same attempt");
    assert_eq!((world.runs()[&1], world.cluster.borrow().n_submissions), (2, 6));
    assert_eq!(world.cluster.borrow().active(), 0);
    // Both answers are put away, and the second counted.
    let settled: Vec<u32> =
        world.memory.settled().iter().filter(|a| a.id == first(1)).map(|a| a.incarnation).collect();
    assert_eq!(settled, [0, 1]);
}

#[test]
fn a_requeued_job_that_may_not_run_is_cancelled_and_tried_again() {
    let (world, _) = run(6, 2, &[(first(1), Then::Held)]);
    assert_eq!(measured(&world), 6);
    let [held, again] = ends(&world, 1).try_into().unwrap();
    assert_eq!((held.finding.kind, again.finding.kind), (Kind::Infrastructure, Kind::Ok));
    assert!(held.finding.reason.contains("held"), "{}", held.finding.reason);
    assert!(world.cluster.borrow().cancelled.contains(&first(1)));
    assert_eq!(world.cluster.borrow().active(), 0);
}

#[test]
fn a_job_cancelled_by_a_person_is_told_so_and_not_tried_again() {
    let (world, _) = run(6, 2, &[(first(1), BY_PERSON)]);
    assert_eq!((measured(&world), ends(&world, 1).len()), (5, 1));
    let outcome = world.ledger().trial(1).unwrap().outcome.clone().unwrap();
    assert_eq!(outcome, Finding::failed("cancelled: CANCELLED by 1000"));
}

#[test]
fn jobs_that_a_person_cancels_one_by_one_do_not_stop_the_study() {
    let stops: Vec<_> = (0..12).map(|trial| (first(trial), BY_PERSON)).collect();
    let (world, _) = run(14, 3, &stops);
    assert_eq!(measured(&world), 2);
}

#[test]
fn a_stop_that_the_scheduler_has_no_part_in_is_somebody_s() {
    let (world, _) = run(6, 2, &[(first(1), Then::Ended(Kind::Ok, "COMPLETED"))]);
    let outcome = world.ledger().trial(1).unwrap().outcome.clone().unwrap();
    assert_eq!(outcome.kind, Kind::Failed);
    let reason = outcome.reason;
    assert!(reason.starts_with("cancelled: ") && reason.contains("SIGTERM"), "{reason}");
}

#[test]
fn a_stop_that_nobody_remembers_is_a_lost_job() {
    let (world, _) = run(6, 2, &[(first(1), Then::Forgotten)]);
    assert_eq!(measured(&world), 6);
    let [lost, again] = ends(&world, 1).try_into().unwrap();
    assert_eq!((lost.finding.kind, again.finding.kind), (Kind::Lost, Kind::Ok));
    // Lost jobs have their budget, and no row of them stops the study.
    let attempts = |trial| (1..=9).map(move |attempt| (AttemptId { trial, attempt }, Then::Forgotten));
    let (world, _) = run(10, 1, &(0..8).flat_map(attempts).collect::<Vec<_>>());
    assert_eq!((measured(&world), ends(&world, 0).len()), (10, 4));
}

#[test]
fn a_time_limit_that_the_job_did_not_see_coming_is_one() {
    let (world, _) = run(4, 2, &[(first(1), Then::Ended(Kind::Walltime, "TIMEOUT"))]);
    let outcome = world.ledger().trial(1).unwrap().outcome.clone().unwrap();
    assert_eq!(outcome, Finding::failed("walltime: TIMEOUT"));
}

#[test]
fn a_driver_killed_anywhere_comes_to_the_same_conclusion() {
    let fates = [(first(1), PREEMPTED), (first(2), Then::Requeued), (first(3), BY_PERSON)];
    let expected = [vec![Kind::Infrastructure, Kind::Ok], vec![Kind::Ok], vec![Kind::Cancelled]];
    for kill in 0.. {
        let mut world = world(6, 2, &fates);
        let survived = world.drive_until(&Uninterrupted, kill).0.is_ok();
        assert_eq!(world.drive().0.unwrap(), Finish::Evaluations, "killed at operation {kill}");
        world.check(6);
        for (trial, expected) in (1..).zip(&expected) {
            // Killed before it was submitted, an attempt never ran, and the next has another fate.
            let ran = |attempt| world.cluster.borrow().runs.contains_key(&AttemptId { trial, attempt });
            let ends = ends(&world, trial).into_iter().zip(1..).filter(|(_, attempt)| ran(*attempt));
            let kinds: Vec<Kind> = ends.map(|(end, _)| end.finding.kind).collect();
            let expected = if ran(1) { expected } else { &vec![Kind::Ok] };
            assert_eq!(&kinds, expected, "trial {trial}, killed at operation {kill}");
        }
        if survived {
            assert!(kill > 100, "the sweep covered {kill} operations only");
            break;
        }
    }
}

#[test]
fn an_outage_between_the_stop_and_the_look_changes_nothing() {
    let mut world = world(6, 2, &[(first(0), PREEMPTED), (first(1), Then::Requeued)]);
    world.cluster.borrow_mut().outage = Some((99.0, 400.0));
    assert_eq!(world.drive().0.unwrap(), Finish::Evaluations);
    world.check(6);
    assert_eq!((measured(&world), ends(&world, 0).len(), ends(&world, 1).len()), (6, 2, 1));
}

#[test]
fn jobs_of_an_earlier_version_are_understood() {
    let mut world = world(8, 2, &[(first(0), PREEMPTED), (first(1), Then::Requeued), (first(2), BY_PERSON)]);
    world.cluster.borrow_mut().old_jobs = true;
    assert_eq!(world.drive().0.unwrap(), Finish::Evaluations);
    world.check(8);
    assert_eq!((measured(&world), ends(&world, 0).len(), ends(&world, 1).len()), (7, 2, 1));
    assert_eq!(ends(&world, 2)[0].finding.reason, "CANCELLED by 1000");
}

#[test]
fn a_journal_never_holds_a_stop() {
    let (world, _) =
        run(8, 2, &[(first(0), PREEMPTED), (first(1), Then::Requeued), (first(2), Then::Forgotten)]);
    for entry in world.memory.journal() {
        let stopped =
            matches!(entry.record, Record::Ended { finding: Finding { kind: Kind::Stopped, .. }, .. });
        assert!(!stopped, "an older program could not read {entry:?}");
    }
}

#[test]
fn a_host_is_avoided_when_it_failed_and_not_when_others_were_preferred() {
    let twice = |then| [(first(0), then), (first(1), then)];
    assert!(run(6, 2, &twice(PREEMPTED)).0.cluster.borrow().avoided.is_empty());
    assert!(run(6, 2, &twice(NODE_FAIL)).0.cluster.borrow().avoided.contains("node1"));
}

#[test]
fn the_only_host_there_is_is_used_again_rather_than_ending_the_study() {
    let mut world = world(6, 2, &[(first(0), NODE_FAIL), (first(1), NODE_FAIL)]);
    world.cluster.borrow_mut().has_one_host = true;
    let (finish, notices) = world.drive();
    assert_eq!(finish.expect("an end in good order"), Finish::Evaluations);
    assert_eq!(measured(&world), 6);
    assert!(world.cluster.borrow().avoided.contains("node1"), "it was tried without");
    let told = |notice: &&Notice| matches!(notice, Notice::Warning { text } if text.contains("node1"));
    assert_eq!(notices.iter().filter(told).count(), 1);
}

#[test]
fn without_a_scheduler_only_a_person_stops_a_job() {
    let mut world = world(4, 2, &[(first(1), Then::Ended(Kind::Ok, "the job ended"))]);
    world.cluster.borrow_mut().detachable = false;
    assert_eq!(world.drive().0.unwrap(), Finish::Evaluations);
    let end = &ends(&world, 1)[0];
    assert_eq!((end.finding.kind, end.ms), (Kind::Cancelled, 100_000), "told at once");
}

#[test]
fn a_study_cancelled_while_a_stop_is_unexplained_ends() {
    let mut world = world(6, 2, &[(first(0), PREEMPTED), (first(1), Then::Requeued)]);
    world.cluster.borrow_mut().kill_wait = 1e6;
    world.config.budget.wall_time = Some(std::time::Duration::from_secs(120));
    assert_eq!(world.drive().0.unwrap(), Finish::WallTime);
    assert!(world.cluster.borrow().now.get() < 200.0);
    assert_eq!(world.cluster.borrow().active(), 0);
}
