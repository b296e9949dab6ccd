//! Faults of schedulers, networks and disks, one test for each; what should happen is told in docs/concepts/durable-studies.md.

use crate::world::{Fate, Submit, World, first, warnings};
use std::cell::Cell;
use tribo_study::Error;
use tribo_study::driver::notice::{Finish, Notice};
use tribo_study::driver::{Interrupt, Interrupts};
use tribo_study::job::{Finding, Kind};
use tribo_study::store::memory::Memory;
use tribo_study::tag::AttemptId;

fn second(trial: u64) -> AttemptId {
    AttemptId { trial, attempt: 2 }
}

/// Runs a study of `n` trials to its end and checks what must always hold.
fn run(world: &mut World, n: usize) -> Vec<Notice> {
    let (finish, notices) = world.drive();
    assert_eq!(finish.expect("an end in good order"), Finish::Evaluations);
    world.check(n);
    notices
}

fn all_measured(world: &World) {
    let ledger = world.ledger();
    let bad: Vec<_> = ledger
        .told()
        .filter(|(_, t)| t.outcome.as_ref().is_none_or(|finding| finding.kind != Kind::Ok))
        .collect();
    assert!(bad.is_empty(), "{bad:?}");
}

#[test]
fn fault_04_an_ambiguous_submission_that_was_taken_is_adopted() {
    let mut world = World::new(6, 2);
    world.cluster.borrow_mut().submits.extend([Submit::Accept, Submit::AmbiguousTaken]);
    run(&mut world, 6);
    assert!(world.runs().values().all(|&count| count == 1));
    assert_eq!(world.cluster.borrow().n_submissions, 6);
    assert_eq!(world.ledger().trial(1).unwrap().attempts.len(), 1);
}

#[test]
fn fault_05_an_ambiguous_submission_that_was_not_taken_is_tried_once_more() {
    let mut world = World::new(6, 2);
    world.cluster.borrow_mut().submits.extend([Submit::Accept, Submit::AmbiguousNot]);
    run(&mut world, 6);
    all_measured(&world);
    let ledger = world.ledger();
    let attempts = &ledger.trial(1).unwrap().attempts;
    assert_eq!(attempts.len(), 2);
    assert!(attempts[1].intended_ms - attempts[0].intended_ms >= 90_000, "looked for long enough");
    assert!(world.runs().values().all(|&count| count == 1));
}

#[test]
fn fault_51_a_job_that_turns_up_after_it_was_given_up_does_not_run() {
    let mut world = World::new(3, 1);
    world.cluster.borrow_mut().submits.extend([Submit::AmbiguousTaken]);
    // The scheduler has it, but shows it nowhere and starts it late.
    world.cluster.borrow_mut().empty_polls = 4;
    world.cluster.borrow_mut().queue = 600.0;
    run(&mut world, 3);
    all_measured(&world);
    assert_eq!(world.ledger().trial(0).unwrap().attempts.len(), 2);
    assert_eq!(world.cluster.borrow().runs.get(&first(0)), None, "the first attempt was revoked");
    assert_eq!(world.cluster.borrow().runs.get(&second(0)), Some(&1));
}

#[test]
fn fault_08_a_limit_on_jobs_lowers_the_number_of_workers() {
    let mut world = World::new(12, 4);
    let submits = [Submit::Accept, Submit::Accept, Submit::Limit, Submit::Limit];
    world.cluster.borrow_mut().submits.extend(submits);
    let notices = run(&mut world, 12);
    all_measured(&world);
    let limited: Vec<&str> = warnings(&notices).into_iter().filter(|w| w.contains("takes no more")).collect();
    assert_eq!(limited.len(), 1, "{limited:?}");
    assert!(world.cluster.borrow().n_submissions <= 12 + 4);
}

#[test]
fn fault_09_a_refusal_stops_with_a_clear_error_and_can_be_resumed() {
    let mut world = World::new(4, 2);
    world.cluster.borrow_mut().submits.extend([Submit::Refuse]);
    let error = world.drive().0.unwrap_err();
    assert!(matches!(error, Error::Refused { .. }), "{error}");
    assert_eq!(error.exit_code(), 3);
    assert!(error.to_string().contains("invalid partition"), "{error}");
    for _ in 0..5 {
        world.cluster.borrow_mut().submits.extend([Submit::Refuse]);
        world.drive().0.unwrap_err();
    }
    run(&mut world, 4);
    all_measured(&world);
}

#[test]
fn fault_11_polls_that_fail_for_half_an_hour_change_nothing() {
    let mut world = World::new(40, 2);
    world.cluster.borrow_mut().failing_polls = 20;
    let notices = run(&mut world, 40);
    all_measured(&world);
    assert!(world.runs().values().all(|&count| count == 1));
    assert_eq!(warnings(&notices).len(), 1, "said once");
}

#[test]
fn fault_12_an_empty_list_is_not_believed_at_once() {
    let mut world = World::new(10, 2);
    world.cluster.borrow_mut().duration = 2_000.0;
    world.cluster.borrow_mut().empty_polls = 2;
    run(&mut world, 10);
    assert!(world.runs().values().all(|&count| count == 1));
    assert!(world.ledger().told().all(|(_, trial)| trial.attempts.len() == 1));
}

#[test]
fn fault_17_18_infrastructure_failures_are_tried_elsewhere() {
    let mut world = World::new(6, 2);
    let fate = || Fate::Ended(Kind::Infrastructure, "NODE_FAIL");
    for id in [first(0), first(1), second(1), first(3)] {
        world.cluster.borrow_mut().fates.insert(id, fate());
    }
    run(&mut world, 6);
    all_measured(&world);
    assert_eq!(world.ledger().trial(1).unwrap().attempts.len(), 3);
}

#[test]
fn fault_20_a_walltime_reported_by_the_scheduler_is_not_retried() {
    let mut world = World::new(4, 2);
    world.cluster.borrow_mut().fates.insert(first(2), Fate::Ended(Kind::Walltime, "TIMEOUT"));
    run(&mut world, 4);
    let outcome = world.ledger().trial(2).unwrap().outcome.clone().unwrap();
    assert_eq!(outcome, Finding::failed("walltime: TIMEOUT"));
}

#[test]
fn fault_21_a_job_cancelled_by_someone_else_frees_its_slot() {
    let mut world = World::new(4, 2);
    world.cluster.borrow_mut().fates.insert(first(1), Fate::Ended(Kind::Cancelled, "CANCELLED by 1000"));
    run(&mut world, 4);
    let outcome = world.ledger().trial(1).unwrap().outcome.clone().unwrap();
    assert_eq!(outcome, Finding::failed("cancelled: CANCELLED by 1000"));
}

#[test]
fn a_job_that_no_list_has_is_not_run_twice_while_it_beats() {
    let mut world = World::new(4, 2);
    world.cluster.borrow_mut().duration = 5_000.0;
    world.cluster.borrow_mut().fates.insert(first(1), Fate::Hidden);
    let (finish, notices) = world.drive();
    assert_eq!(finish.unwrap(), Finish::Evaluations);
    world.check(4);
    assert!(world.runs().values().all(|runs| *runs == 1), "{:?}", world.runs());
    // And it counts as running.
    let seen = |notice: &Notice| matches!(notice, Notice::Progress(p) if p.running == 2 && p.told == 0);
    assert!(notices.iter().any(seen));
}

#[test]
fn jobs_that_have_begun_count_as_running_before_the_next_look_at_the_queue() {
    let mut world = World::new(4, 4);
    world.cluster.borrow_mut().queue = 1.0;
    let (_, notices) = world.drive();
    let all_run = notices.iter().find_map(|notice| match notice {
        Notice::Progress(progress) if progress.running == 4 => Some(progress.elapsed_s),
        _ => None,
    });
    assert!(all_run.unwrap() <= 10.0, "{all_run:?}");
}

#[test]
fn why_jobs_wait_is_told_with_the_first_look() {
    let mut world = World::new(4, 4);
    world.cluster.borrow_mut().queue = 1_000.0;
    world.cluster.borrow_mut().waits_for = Some("Priority");
    world.cluster.borrow_mut().fates.insert(first(1), Fate::Waits("JobHeldUser"));
    world.config.budget.wall_time = Some(std::time::Duration::from_secs(100));
    let (_, notices) = world.drive();
    let waiting = notices.iter().find_map(|notice| match notice {
        Notice::Waiting { text } => Some(text.clone()),
        _ => None,
    });
    assert_eq!(waiting.unwrap(), "3 jobs, e.g. 1 (trial 0), wait: Priority");
    let held = warnings(&notices).into_iter().find(|text| text.contains("held")).unwrap();
    assert_eq!(held, "job 2 (trial 1) is held: JobHeldUser; somebody has to release it");
    let shown = |notice: &Notice| matches!(notice, Notice::Progress(p) if p.waits_for.as_deref() == Some("JobHeldUser") && p.elapsed_s < 40.0);
    assert!(notices.iter().any(shown));
}

#[test]
fn an_attempt_knows_how_often_memory_was_too_little() {
    let mut world = World::new(2, 2);
    world.run.retries.memory = 2;
    world.cluster.borrow_mut().fates.insert(first(1), Fate::Answers(Kind::Memory));
    world.cluster.borrow_mut().fates.insert(second(1), Fate::Answers(Kind::Memory));
    run(&mut world, 2);
    let kills: Vec<(u64, u32)> = world.cluster.borrow().memory_kills.clone();
    assert_eq!(kills, [(0, 0), (1, 0), (1, 1), (1, 2)]);
}

#[test]
fn fault_22_a_held_job_is_reported_and_counts_as_busy() {
    let mut world = World::new(80, 2);
    world.cluster.borrow_mut().fates.insert(first(1), Fate::Waits("JobHeldAdmin"));
    world.config.budget.wall_time = Some(std::time::Duration::from_secs(7_000));
    let (finish, notices) = world.drive();
    assert_eq!(finish.unwrap(), Finish::WallTime);
    let held: Vec<&str> = warnings(&notices).into_iter().filter(|w| w.contains("JobHeldAdmin")).collect();
    assert_eq!(held.len(), 1, "{held:?}");
    assert_eq!(world.cluster.borrow().busiest, 1);
}

#[test]
fn fault_25_an_answer_that_is_a_minute_late_is_waited_for() {
    let mut world = World::new(6, 2);
    world.cluster.borrow_mut().fates.insert(first(1), Fate::AnswersLate(70.0));
    run(&mut world, 6);
    all_measured(&world);
    assert!(world.ledger().told().all(|(_, trial)| trial.attempts.len() == 1));
}

#[test]
fn fault_26_an_answer_after_the_retry_began_counts_once() {
    let mut world = World::new(3, 1);
    world.cluster.borrow_mut().duration = 1_000.0;
    world.cluster.borrow_mut().fates.insert(first(1), Fate::AnswersLate(700.0));
    run(&mut world, 3);
    all_measured(&world);
    let ledger = world.ledger();
    let attempts = &ledger.trial(1).unwrap().attempts;
    assert_eq!(attempts.len(), 2);
    assert_eq!(attempts[0].end.as_ref().unwrap().finding.kind, Kind::Ok, "the first answer counts");
    assert!(world.cluster.borrow().cancelled.contains(&second(1)), "the other is not needed any more");
}

/// Does something to the store once the driver has asked often enough; never interrupts.
struct Meddler<F: Fn(&Memory)>(Memory, Cell<usize>, F);

impl<F: Fn(&Memory)> Interrupts for Meddler<F> {
    fn interrupt(&self) -> Interrupt {
        self.1.set(self.1.get() + 1);
        if self.1.get() == 50 {
            (self.2)(&self.0);
        }
        Interrupt::None
    }
}

fn meddle(world: &mut World, with: impl Fn(&Memory)) -> (tribo_study::Result<Finish>, Vec<Notice>) {
    let meddler = Meddler(world.memory.clone(), Cell::new(0), with);
    world.drive_until(&meddler, usize::MAX)
}

#[test]
fn fault_33_a_full_disk_is_waited_for() {
    let mut world = World::new(5, 2);
    let (finish, notices) = meddle(&mut world, |memory| {
        memory.fail_syncs(7);
        memory.fail_prepares(3);
    });
    assert_eq!(finish.unwrap(), Finish::Evaluations);
    world.check(5);
    all_measured(&world);
    assert!(warnings(&notices).iter().any(|w| w.contains("waiting for space")), "{:?}", warnings(&notices));
}

#[test]
fn fault_35_a_failed_fsync_ends_the_driver_and_the_next_goes_on() {
    let mut world = World::new(5, 2);
    let error = meddle(&mut world, Memory::break_disk).0.unwrap_err();
    assert!(matches!(error, Error::Io { .. }), "{error}");
    run(&mut world, 5);
    assert!(world.runs().values().all(|&count| count == 1));
}

#[test]
fn fault_36_a_driver_that_was_taken_over_stops() {
    let mut world = World::new(5, 2);
    let take_over = |memory: &Memory| {
        memory.reopen().unwrap();
    };
    let error = meddle(&mut world, take_over).0.unwrap_err();
    assert!(matches!(error, Error::TakenOver { .. }), "{error}");
    assert_eq!(error.exit_code(), 4);
    run(&mut world, 5);
}

#[test]
fn fault_42_a_scheduler_that_is_down_for_an_hour_is_waited_for() {
    let mut world = World::new(8, 2);
    world.cluster.borrow_mut().outage = Some((50.0, 3_650.0));
    let notices = run(&mut world, 8);
    all_measured(&world);
    assert!(world.cluster.borrow().n_refused <= 2 * 365, "six calls a minute");
    assert_eq!(warnings(&notices).len(), 2, "one of the queue, one of submissions: {:?}", warnings(&notices));
}

#[test]
fn a_scheduler_that_was_never_reached_is_an_error() {
    let mut world = World::new(8, 2);
    world.cluster.borrow_mut().submits.extend([Submit::Unavailable; 100]);
    let error = world.drive().0.unwrap_err();
    assert!(matches!(error, Error::Unreachable { .. }), "{error}");
    assert_eq!(error.exit_code(), 8);
    assert!(world.cluster.borrow().now.get() < 60.0);
    world.cluster.borrow_mut().submits.clear();
    run(&mut world, 8);
    all_measured(&world);
}

#[test]
fn fault_43_a_vanished_job_is_lost_and_tried_again() {
    let mut world = World::new(6, 2);
    world.cluster.borrow_mut().fates.insert(first(1), Fate::Vanishes);
    run(&mut world, 6);
    all_measured(&world);
    let ledger = world.ledger();
    let attempts = &ledger.trial(1).unwrap().attempts;
    assert_eq!(attempts[0].end.as_ref().unwrap().finding.kind, Kind::Lost);
    assert_eq!(attempts.len(), 2);
}

#[test]
fn fault_50_a_command_that_always_fails_stops_the_study() {
    let mut world = World::new(100, 3);
    for trial in 0..100 {
        world.cluster.borrow_mut().fates.insert(first(trial), Fate::Answers(Kind::Failed));
    }
    let finish = world.drive().0.unwrap();
    assert!(
        matches!(&finish, Finish::Failures { count, reason } if *count >= 6 && reason.contains("failed"))
    );
    assert!(world.ledger().told().len() <= 9);
    world.check_proposals();
}

#[test]
fn a_full_disk_is_said_while_it_is_waited_for() {
    let mut world = World::new(5, 2);
    let (finish, notices) = meddle(&mut world, |memory| memory.fail_syncs(20));
    assert_eq!(finish.unwrap(), Finish::Evaluations);
    world.check(5);
    let elapsed = |notice: &Notice| match notice {
        Notice::Progress(progress) => Some(progress.elapsed_s),
        _ => None,
    };
    let full =
        |notice: &Notice| matches!(notice, Notice::Warning { text } if text.contains("waiting for space"));
    let at = notices.iter().position(full).unwrap();
    let before = notices[..at].iter().rev().find_map(elapsed).unwrap();
    let after = notices[at..].iter().find_map(elapsed).unwrap();
    // Twenty tries take a hundred seconds.
    assert!(after - before < 20.0, "said after {} s", after - before);
}
