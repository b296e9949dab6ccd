//! A scheduler that is away for a while, and one that takes only so many jobs.

use crate::world::{World, warnings};
use tribo_study::driver::notice::Finish;
use tribo_study::store::record::Record;

#[test]
fn the_next_submission_follows_an_outage_within_fifteen_seconds() {
    // Seven workers are one array: refused as a whole, and once.
    for (workers, from, length) in [(7, 0.5, 60.0), (7, 0.5, 700.0), (2, 30.0, 900.0)] {
        let mut world = World::new(3 * workers, workers);
        // The first jobs end while nobody answers, so that all workers are to be filled.
        world.cluster.borrow_mut().duration = from + 10.0;
        world.cluster.borrow_mut().outage = Some((from, from + length));
        assert_eq!(world.drive().0.unwrap(), Finish::Evaluations);
        world.check(3 * workers);
        let back = from + length;
        let cluster = world.cluster.borrow();
        let next = cluster.taken.iter().copied().find(|taken| *taken >= back).unwrap();
        assert!(next - back <= 15.0, "{workers} workers, {length} s: {} s after it", next - back);
        let filled = cluster.taken.iter().filter(|taken| **taken >= back && **taken <= back + 15.0).count();
        assert_eq!(filled, workers, "all workers at once");
        // Twelve calls a minute at most, of which each submission of the array counts as one.
        let calls = cluster.n_refused as f64 / workers as f64;
        assert!(calls <= 3.0 + length / 10.0, "{calls} submissions in {length} s");
    }
}

#[test]
fn short_evaluations_do_not_flood_the_scheduler() {
    let mut world = World::new(3_000, 20);
    (world.cluster.borrow_mut().duration, world.cluster.borrow_mut().spread) = (1.0, 2.0);
    world.drive().0.unwrap();
    world.check(3_000);
    let cluster = world.cluster.borrow();
    let within = |from: f64| cluster.calls.iter().filter(|at| (from..from + 60.0).contains(*at)).count();
    let most = (0..cluster.now.get() as u32).map(|from| within(f64::from(from))).max().unwrap();
    assert!(most <= 160, "{most} submissions in a minute");
    // What waits for its second is not recorded as if it were about to be submitted.
    let asked = world.memory.journal().into_iter().filter(|e| matches!(e.record, Record::Intended { .. }));
    let late = asked.zip(&cluster.taken).filter(|(e, taken)| **taken - 1e-3 * e.ms as f64 > 0.5).count();
    assert_eq!(late, 0, "attempts recorded half a second before they were submitted");
    // Twenty workers with one to three seconds each need five minutes; waiting for the next second costs a part of it.
    assert!(cluster.now.get() < 500.0, "{} s", cluster.now.get());
}

#[test]
fn without_arrays_many_workers_are_filled_by_and_by() {
    let mut world = World::new(300, 300);
    world.cluster.borrow_mut().without_arrays = true;
    world.cluster.borrow_mut().duration = 1000.0;
    world.drive().0.unwrap();
    world.check(300);
    let cluster = world.cluster.borrow();
    let by = |seconds: f64| cluster.taken.iter().filter(|at| **at <= seconds).count();
    assert_eq!((by(0.5), by(50.0), by(201.0)), (100, 150, 300));
}

#[test]
fn a_poll_that_is_answered_ends_the_pause() {
    let mut world = World::new(6, 3);
    world.cluster.borrow_mut().duration = 35.0;
    // Submissions fail from the first end on, at 35 s, until shortly before a poll is due.
    world.cluster.borrow_mut().outage = Some((34.0, 95.0));
    assert_eq!(world.drive().0.unwrap(), Finish::Evaluations);
    let cluster = world.cluster.borrow();
    assert!(cluster.taken[3] - 95.0 <= 15.0, "{:?}", cluster.taken);
}

#[test]
fn a_queue_limit_costs_no_more_than_it_must() {
    // Room for two, four wanted: two at a time take 16 rounds of 2 s.
    let mut world = World::new(32, 4);
    world.cluster.borrow_mut().duration = 2.0;
    world.cluster.borrow_mut().limit = Some(2);
    let (finish, notices) = world.drive();
    assert_eq!(finish.unwrap(), Finish::Evaluations);
    world.check(32);
    let cluster = world.cluster.borrow();
    let took = cluster.now.get();
    assert!(took <= 40.0, "{took} s instead of 32");
    // Not more than one for each job that ended.
    assert!(cluster.n_refused <= 32, "{} refused", cluster.n_refused);
    assert!(warnings(&notices).iter().any(|text| text.contains("takes no more jobs")));
}

#[test]
fn a_scheduler_that_closes_its_jobs_late_is_looked_at() {
    // The room that an end makes is there two seconds later only: the first try is refused, the one after a look is not.
    let mut world = World::new(40, 4);
    world.cluster.borrow_mut().duration = 20.0;
    world.cluster.borrow_mut().limit = Some(2);
    world.cluster.borrow_mut().closes_after = 2.0;
    assert_eq!(world.drive().0.unwrap(), Finish::Evaluations);
    let cluster = world.cluster.borrow();
    let took = cluster.now.get();
    assert!(took <= 600.0, "{took} s instead of 400");
    assert!(cluster.n_refused <= 40 + cluster.n_polls, "{} refused", cluster.n_refused);
}

#[test]
fn a_limit_that_is_lifted_is_noticed_by_and_by() {
    let mut world = World::new(200, 4);
    world.cluster.borrow_mut().duration = 20.0;
    world.cluster.borrow_mut().limit = Some(2);
    world.cluster.borrow_mut().unlimited_from = 300.0;
    assert_eq!(world.drive().0.unwrap(), Finish::Evaluations);
    assert_eq!(world.cluster.borrow().busiest, 4);
}
