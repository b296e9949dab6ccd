//! A study without accidents, and its ends.

use crate::world::{Fate, Submit, World, bo, first, warnings};
use std::cell::Cell;
use std::time::Duration;
use tribo_study::driver::notice::{Finish, Notice};
use tribo_study::driver::{Interrupt, Interrupts};
use tribo_study::job::{Finding, Kind};
use tribo_study::store::Request;
use tribo_study::store::record::Record;

/// Interrupted once at a time, and again a little later.
struct Twice(crate::world::Shared, f64, f64);

impl Interrupts for Twice {
    fn interrupt(&self) -> Interrupt {
        match self.0.borrow().now.get() {
            now if now >= self.1 + self.2 => Interrupt::Cancel,
            now if now >= self.1 => Interrupt::Stop,
            _ => Interrupt::None,
        }
    }
}

#[test]
fn a_second_interruption_cancels_also_where_jobs_could_go_on() {
    for (apart, expected) in
        [(0.3, Finish::Cancelled), (2.0, Finish::Cancelled), (60.0, Finish::Detached { running: 3 })]
    {
        let mut world = World::new(20, 3);
        let twice = Twice(std::rc::Rc::clone(&world.cluster), 30.0, apart);
        let (finish, _) = world.drive_until(&twice, usize::MAX);
        assert_eq!(finish.unwrap(), expected, "{apart} s apart");
        let left = if expected == Finish::Cancelled { 0 } else { 3 };
        assert_eq!(world.cluster.borrow().active(), left, "{apart} s apart");
    }
}

#[test]
fn a_study_runs_to_its_budget_with_all_workers_busy() {
    let mut world = World::with(30, 4, bo());
    let (finish, notices) = world.drive();
    assert_eq!(finish.unwrap(), Finish::Evaluations);
    world.check(30);
    assert_eq!(world.cluster.borrow().busiest, 4);
    assert!(world.runs().values().all(|&count| count == 1));
    assert_eq!(warnings(&notices), Vec::<&str>::new());
    let Some(Notice::Progress(last)) = notices.iter().rev().find(|n| matches!(n, Notice::Progress(_))) else {
        panic!("no progress was reported")
    };
    assert_eq!((last.told, last.measured, last.failed, last.running), (30, 30, 0, 0));
    assert!(last.best.unwrap().1 < 1e-2, "{:?}", last.best);
    // 30 evaluations of 100 s by 4 workers, and no more than a look at the spool between two of them.
    assert!(world.cluster.borrow().now.get() < 8.0 * 102.0);
}

#[test]
fn the_queue_is_asked_rarely() {
    let mut world = World::new(400, 20);
    world.drive().0.unwrap();
    let cluster = world.cluster.borrow();
    let minutes = cluster.now.get() / 60.0;
    assert!((cluster.n_polls as f64) < 2.0 * minutes, "{} polls in {minutes} minutes", cluster.n_polls);
}

#[test]
fn fault_49_a_burst_of_answers_is_one_commit() {
    let mut world = World::new(1_000, 1_000);
    world.drive().0.unwrap();
    world.check(1_000);
    assert!(world.memory.n_syncs() < 20, "{} syncs", world.memory.n_syncs());
}

#[test]
fn a_target_and_a_wall_time_end_a_study_and_cancel_the_rest() {
    let mut world = World::new(1_000, 3);
    world.config.budget.target = Some(0.5);
    assert_eq!(world.drive().0.unwrap(), Finish::Target);
    assert_eq!(world.ledger().live().count(), 0);
    world.config.budget.target = None;
    world.config.budget.wall_time = Some(Duration::from_secs(20_000));
    assert_eq!(world.drive().0.unwrap(), Finish::WallTime);
    world.check_proposals();
    assert!(world.cluster.borrow().now.get() < 20_200.0);
}

/// Interrupts once the driver has looked this often.
struct After(Cell<usize>, Interrupt);

impl Interrupts for After {
    fn interrupt(&self) -> Interrupt {
        self.0.set(self.0.get().saturating_sub(1));
        if self.0.get() == 0 { self.1 } else { Interrupt::None }
    }
}

#[test]
fn the_first_interrupt_detaches_and_the_next_driver_adopts() {
    let mut world = World::new(12, 3);
    let (finish, _) = world.drive_until(&After(Cell::new(300), Interrupt::Stop), usize::MAX);
    assert_eq!(finish.unwrap(), Finish::Detached { running: 3 });
    let (finish, notices) = world.drive();
    assert_eq!(finish.unwrap(), Finish::Evaluations);
    assert!(matches!(notices[0], Notice::Opened { adopted: 3, .. }), "{:?}", notices[0]);
    world.check(12);
    assert!(world.runs().values().all(|&count| count == 1));
}

#[test]
fn local_evaluations_are_waited_for() {
    let mut world = World::new(12, 3);
    world.cluster.borrow_mut().detachable = false;
    let (finish, _) = world.drive_until(&After(Cell::new(300), Interrupt::Stop), usize::MAX);
    assert_eq!(finish.unwrap(), Finish::Detached { running: 0 });
    assert_eq!(world.ledger().live().count(), 0);
}

#[test]
fn cancelling_everything_leaves_trials_to_be_tried_again() {
    let mut world = World::new(12, 3);
    let (finish, _) = world.drive_until(&After(Cell::new(300), Interrupt::Cancel), usize::MAX);
    assert_eq!(finish.unwrap(), Finish::Cancelled);
    assert_eq!(world.cluster.borrow().cancelled.len(), 3);
    assert_eq!(world.ledger().live().count(), 0);
    assert_eq!(world.ledger().open().len(), 3);
    assert_eq!(world.drive().0.unwrap(), Finish::Evaluations);
    world.check(12);
    assert!(
        world
            .ledger()
            .told()
            .all(|(_, trial)| trial.outcome.as_ref().is_some_and(|finding| finding.kind == Kind::Ok))
    );
}

#[test]
fn a_trial_cancelled_on_request_is_told_as_failed() {
    let mut world = World::new(6, 2);
    world.memory.push_request(Request::Cancel(1));
    world.memory.push_request(Request::Cancel(99));
    // The request is there before the trial is: nothing to cancel yet.
    let (finish, notices) = world.drive();
    assert_eq!(finish.unwrap(), Finish::Evaluations);
    assert_eq!(warnings(&notices).len(), 2);

    let mut world = World::new(6, 2);
    world.drive_until(&After(Cell::new(20), Interrupt::Stop), usize::MAX).0.unwrap();
    world.memory.push_request(Request::Cancel(1));
    assert_eq!(world.drive().0.unwrap(), Finish::Evaluations);
    world.check(6);
    let ledger = world.ledger();
    let outcome = ledger.trial(1).unwrap().outcome.clone().unwrap();
    assert_eq!(outcome, Finding::failed("cancelled: on request"));
    assert!(world.cluster.borrow().cancelled.contains(&first(1)));
}

#[test]
fn a_finite_space_can_be_exhausted() {
    let mut world = World::new(50, 4);
    let space = tribo::space::Space::new(vec![tribo::space::Parameter::int("n", 1, 5)]);
    world.config.space = space.unwrap();
    assert_eq!(world.drive().0.unwrap(), Finish::Exhausted);
    assert_eq!(world.ledger().told().len(), 5);
}

#[test]
fn trials_asked_by_hand_are_left_alone() {
    use tribo_study::store::Store;
    let mut world = World::new(5, 2);
    let mut study = tribo_study::replay::fresh(&world.config).unwrap();
    let asked = study.ask(1).unwrap();
    let trial = study.history().get(asked[0].id).unwrap().0.clone();
    world.memory.append(&Record::Asked { trial, by_hand: true }).unwrap();
    world.memory.sync().unwrap();
    assert_eq!(world.drive().0.unwrap(), Finish::Evaluations);
    let ledger = world.ledger();
    assert_eq!((ledger.told().len(), ledger.open().len()), (4, 1));
    assert!(ledger.trial(0).unwrap().attempts.is_empty());
}

#[test]
fn invalid_and_infeasible_answers_are_told_apart() {
    let mut world = World::new(6, 2);
    let fates = [(0, Kind::Invalid), (1, Kind::Infeasible), (2, Kind::Failed), (3, Kind::Timeout)];
    for (trial, kind) in fates {
        world.cluster.borrow_mut().fates.insert(first(trial), crate::world::Fate::Answers(kind));
    }
    world.drive().0.unwrap();
    world.check(6);
    let ledger = world.ledger();
    let outcome = |trial| ledger.trial(trial).unwrap().outcome.clone().unwrap();
    assert_eq!(outcome(0).kind, Kind::Invalid);
    assert_eq!(outcome(1), Finding::infeasible());
    assert!(outcome(2).kind == Kind::Failed && outcome(2).reason.starts_with("failed: "));
    assert!(outcome(3).kind == Kind::Failed && outcome(3).reason.starts_with("timeout: "));
}

/// A study of three trials whose first job was given up, and is in the queue when the others are done.
fn with_a_job_left() -> World {
    let world = World::new(3, 1);
    let mut cluster = world.cluster.borrow_mut();
    cluster.submits.extend([Submit::AmbiguousTaken]);
    cluster.fates.insert(first(0), Fate::Waits("JobHeldAdmin"));
    cluster.empty_polls = 4;
    drop(cluster);
    world
}

#[test]
fn nothing_of_a_study_is_left_in_the_queue() {
    let mut world = with_a_job_left();
    let (finish, notices) = world.drive();
    assert_eq!(finish.unwrap(), Finish::Evaluations);
    assert_eq!(world.cluster.borrow().active(), 0);
    assert!(warnings(&notices).iter().all(|text| !text.contains("queue")), "{:?}", warnings(&notices));
    // With nothing there, one look is enough.
    let mut world = World::new(3, 1);
    world.drive().0.unwrap();
    assert_eq!(world.cluster.borrow().n_last_looks, 1);
}

#[test]
fn what_a_job_says_that_is_ended_with_its_study_is_put_away() {
    let mut world = World::new(3, 1);
    world.cluster.borrow_mut().fates.insert(first(1), Fate::Lingers);
    assert_eq!(world.drive().0.unwrap(), Finish::Evaluations);
    assert_eq!(world.cluster.borrow().active(), 0);
    world.check(3);
}

#[test]
fn what_would_not_leave_the_queue_is_named() {
    let mut world = with_a_job_left();
    world.cluster.borrow_mut().stubborn = true;
    let (finish, notices) = world.drive();
    assert_eq!(finish.unwrap(), Finish::Evaluations);
    let named = "1 job of this study would not leave the queue: 1 (s";
    assert!(warnings(&notices).iter().any(|text| text.starts_with(named)), "{:?}", warnings(&notices));
    assert!(world.cluster.borrow().n_last_looks < 12);
    // A driver that only detaches leaves its jobs alone.
    let mut world = World::new(9, 3);
    let (finish, _) = world.drive_until(&After(Cell::new(20), Interrupt::Stop), usize::MAX);
    assert!(matches!(finish.unwrap(), Finish::Detached { .. }));
    assert_eq!(world.cluster.borrow().n_last_looks, 0);
}

#[test]
fn a_queue_that_cannot_be_seen_at_the_end_is_said_to_be_so() {
    let mut world = World::new(3, 1);
    world.cluster.borrow_mut().outage = Some((299.0, 1e6));
    let (finish, notices) = world.drive();
    assert_eq!(finish.unwrap(), Finish::Evaluations);
    assert!(warnings(&notices).iter().any(|text| text.contains("may be left in the queue")));
    assert!(world.cluster.borrow().now.get() < 360.0);
}
