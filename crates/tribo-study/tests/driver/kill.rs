//! Fault 52: the driver is killed before every single operation on its store and its runner, and the next one goes on.

use crate::world::{World, bo};
use tribo::rng::Stream;
use tribo_study::driver::Uninterrupted;
use tribo_study::driver::notice::Finish;

#[test]
fn fault_01_02_03_52_killed_at_every_operation() {
    // Long enough for every kind of operation to come several times; the sweep ends when a driver lives to the end.
    for kill in 0.. {
        let mut world = World::new(6, 2);
        let (finish, _) = world.drive_until(&Uninterrupted, kill);
        let survived = finish.is_ok();
        assert_eq!(world.drive().0.unwrap(), Finish::Evaluations, "killed at operation {kill}");
        world.check(6);
        let runs = world.runs();
        assert_eq!(runs.len(), 6, "killed at operation {kill}");
        assert!(runs.values().all(|&count| count == 1), "killed at operation {kill}: runs {runs:?}");
        if survived {
            assert!(kill > 60, "the sweep covered {kill} operations only");
            break;
        }
    }
}

#[test]
fn killed_again_and_again_with_a_model() {
    let seed = 11;
    let mut stream = Stream::new(seed, "kill", 0);
    let mut world = World::with(24, 3, bo());
    let mut lives = 0;
    loop {
        let kill = 3 + stream.below(200);
        match world.drive_until(&Uninterrupted, kill).0 {
            Ok(finish) => break assert_eq!(finish, Finish::Evaluations),
            Err(_) => lives += 1,
        }
        assert!(lives < 10_000, "no progress, seed {seed}");
    }
    assert!(lives > 10, "{lives} lives, seed {seed}");
    world.check(24);
    assert!(world.runs().values().all(|&count| count == 1), "seed {seed}");
}
