//! Evaluations that ask to be tried again: they wait, longer each time, and give back what they did not spend.

use crate::world::{Fate, World, bo};
use std::time::Duration;
use tribo_study::driver::notice::Finish;
use tribo_study::job::Kind;
use tribo_study::store::ledger::AttemptState;
use tribo_study::tag::AttemptId;

/// A study of `n` trials in which these attempts of these trials ask to be tried again.
fn world(n: usize, workers: usize, trials: std::ops::Range<u64>, attempts: u32) -> World {
    let world = World::with(n, workers, bo());
    let all = trials.flat_map(|trial| (1..=attempts).map(move |attempt| AttemptId { trial, attempt }));
    let fates = all.map(|id| (id, Fate::Answers(Kind::Transient)));
    world.cluster.borrow_mut().fates.extend(fates);
    world
}

/// Seconds from the end of each attempt of a trial to the next one.
fn waits(world: &World, trial: u64) -> Vec<f64> {
    let ledger = world.ledger();
    let attempts = &ledger.trial(trial).expect("a trial").attempts;
    let wait =
        |pair: &[AttemptState]| (pair[1].intended_ms - pair[0].end.as_ref().expect("an end").ms) as f64 / 1e3;
    attempts.windows(2).map(wait).collect()
}

#[test]
fn an_evaluation_that_asks_to_be_tried_again_waits_longer_each_time() {
    let mut world = world(6, 2, 1..2, 4);
    world.run.retries.delay = Duration::from_secs(60);
    assert_eq!(world.drive().0.unwrap(), Finish::Evaluations);
    world.check(6);
    let waits = waits(&world, 1);
    assert_eq!(waits.len(), 4);
    for (n, wait) in waits.iter().enumerate() {
        let whole = 60.0 * 2f64.powi(n as i32);
        // A driver looks every few seconds.
        assert!((0.8 * whole..1.2 * whole + 10.0).contains(wait), "{waits:?}");
    }
}

#[test]
fn a_wait_goes_on_when_the_driver_is_killed() {
    let long = |kill| {
        let mut world = world(4, 1, 0..1, 1);
        world.run.retries.delay = Duration::from_secs(600);
        // Killed often, and it is never tried sooner.
        for _ in 0..kill {
            let _ = world.drive_until(&tribo_study::driver::Uninterrupted, 40);
        }
        assert_eq!(world.drive().0.unwrap(), Finish::Evaluations);
        world.check(4);
        waits(&world, 0)[0]
    };
    for kill in [0, 1, 3] {
        let wait = long(kill);
        assert!((480.0..740.0).contains(&wait), "{wait} s with {kill} kills");
    }
}

#[test]
fn a_trial_that_never_got_its_licence_is_lost_and_not_spent() {
    let mut world = world(6, 2, 0..2, 9);
    assert_eq!(world.drive().0.unwrap(), Finish::Evaluations);
    world.check(6);
    let ledger = world.ledger();
    assert_eq!((ledger.trials().len(), ledger.n_lost()), (8, 2));
    let outcome = ledger.trial(0).unwrap().outcome.clone().unwrap();
    assert_eq!((outcome.kind, outcome.reason.split(':').next().unwrap()), (Kind::Lost, "transient"));
    assert_eq!(ledger.trial(0).unwrap().attempts.len(), 6);
    // Two workers wait together, and nobody takes their place meanwhile.
    let (asked, told) = (ledger.trial(2).unwrap().asked_ms, ledger.trial(0).unwrap().told_ms);
    assert!(asked >= told, "trial 2 was asked at {asked}, trial 0 told at {told}");
}

#[test]
fn a_licence_that_never_comes_stops_the_study_and_spends_nothing() {
    let mut world = world(50, 1, 0..50, 9);
    assert!(matches!(world.drive().0.unwrap(), Finish::Failures { count: 5, .. }));
    assert_eq!(world.ledger().n_spent(), 0);
    world.cluster.borrow_mut().fates.clear();
    assert_eq!(world.drive().0.unwrap(), Finish::Evaluations);
    world.check(50);
}

#[test]
fn jobs_that_are_lost_for_ever_stop_the_study_at_last() {
    let world = World::new(50, 1);
    let all = (0..100).flat_map(|trial| (1..=9).map(move |attempt| AttemptId { trial, attempt }));
    world.cluster.borrow_mut().fates.extend(all.map(|id| (id, Fate::Vanishes)));
    let mut world = world;
    assert!(matches!(world.drive().0.unwrap(), Finish::Failures { count: 20, .. }));
    assert_eq!(world.ledger().n_spent(), 0);
}
