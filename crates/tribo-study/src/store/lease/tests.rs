//! Two drivers, dead ones, strangers, other hosts, and lost lease files.

use super::*;
use std::sync::Barrier;
use std::time::SystemTime;
use tempfile::TempDir;

/// A store folder.
fn store() -> (TempDir, Layout) {
    let folder = tempfile::tempdir().unwrap();
    let layout = Layout::of(folder.path());
    fs::create_dir(layout.store()).unwrap();
    (folder, layout)
}

fn me() -> Process {
    Process::current().unwrap()
}

/// A process of this host that is not running.
fn dead() -> Process {
    let me = me();
    // The number is in use, by this process, which started at another time: the case of a reused number.
    Process { starttime: me.starttime + 1, ..me }
}

fn elsewhere() -> Process {
    Process { host: "login2".to_owned(), boot_id: "other".to_owned(), pid: 4321, starttime: 1 }
}

/// A process takes the lease and is gone without giving it back.
fn abandon(layout: &Layout, process: &Process) -> u64 {
    let lease = Lease::acquire(layout, process, false, 0).unwrap();
    let (epoch, content) = (lease.epoch(), fs::read(layout.lease().join(name(lease.epoch()))).unwrap());
    drop(lease);
    fs::write(layout.lease().join(name(epoch)), content).unwrap();
    epoch
}

fn age(layout: &Layout, epoch: u64, seconds: u64) {
    let file = File::options().write(true).open(layout.lease().join(name(epoch))).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(seconds)).unwrap();
}

fn refusal(layout: &Layout, take_over: bool) -> String {
    match Lease::acquire(layout, &me(), take_over, 0) {
        Err(error @ Error::Locked { .. }) => error.to_string(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_second_driver_is_refused_and_told_what_to_do() {
    let (_folder, layout) = store();
    let first = Lease::acquire(&layout, &me(), false, 0).unwrap();
    assert_eq!(first.epoch(), 1);
    for take_over in [false, true] {
        let message = refusal(&layout, take_over);
        let kill = format!("`kill {}`", std::process::id());
        assert!(message.contains("Ctrl-C") && message.contains(&kill), "{message}");
    }
    first.check().unwrap();
}

#[test]
fn a_released_lease_is_taken() {
    let (_folder, layout) = store();
    drop(Lease::acquire(&layout, &me(), false, 0).unwrap());
    assert_eq!(Owner::find(&layout, &me()).unwrap().unwrap().standing, Standing::Released);
    assert_eq!(Lease::acquire(&layout, &me(), false, 0).unwrap().epoch(), 2);
}

#[test]
fn the_lease_of_a_dead_process_is_taken_even_if_its_number_is_in_use_again() {
    let (_folder, layout) = store();
    assert_eq!(abandon(&layout, &dead()), 1);
    let owner = Owner::find(&layout, &me()).unwrap().unwrap();
    assert_eq!((owner.standing, owner.may_write()), (Standing::Dead, false));
    let rebooted = Process { boot_id: "before".to_owned(), ..me() };
    assert_eq!(abandon(&layout, &rebooted), 2);
    assert_eq!(Lease::acquire(&layout, &me(), false, 0).unwrap().epoch(), 3);
}

#[test]
fn another_host_keeps_the_study_until_it_is_silent_and_the_user_says_so() {
    let (_folder, layout) = store();
    let epoch = abandon(&layout, &elsewhere());
    for take_over in [false, true] {
        let message = refusal(&layout, take_over);
        assert!(message.contains("process 4321 on login2") && message.contains("sign of life"), "{message}");
    }
    age(&layout, epoch, 61);
    let message = refusal(&layout, false);
    assert!(message.contains("`tribo run --take-over`"), "{message}");
    assert_eq!(Lease::acquire(&layout, &me(), true, 0).unwrap().epoch(), epoch + 1);
}

#[test]
fn a_driver_that_was_taken_over_finds_out() {
    let (_folder, layout) = store();
    let first = Lease::acquire(&layout, &elsewhere(), false, 0).unwrap();
    age(&layout, 1, 61);
    // Its advisory lock is still there, as after a network failure.
    let second = Lease::acquire(&layout, &me(), true, 0).unwrap();
    assert!(matches!(first.check(), Err(Error::TakenOver { epoch: 2, .. })));
    drop(first);
    second.check().unwrap();
    assert!(Owner::find(&layout, &me()).unwrap().unwrap().standing == Standing::Alive);
}

#[test]
fn a_beat_is_written_every_ten_seconds_whatever_the_clock_does() {
    let (_folder, layout) = store();
    let mut lease = Lease::acquire(&layout, &me(), false, 100_000).unwrap();
    let path = layout.lease().join(name(1));
    let beat = || serde_json::from_slice::<Content>(&fs::read(&path).unwrap()).unwrap().beat;
    lease.beat(109_999).unwrap();
    assert_eq!(beat(), 100_000);
    lease.beat(110_000).unwrap();
    assert_eq!(beat(), 110_000);
    lease.beat(50_000).unwrap();
    assert_eq!(beat(), 50_000);
}

#[test]
fn a_lease_that_cannot_be_read_is_waited_for_a_minute() {
    let (_folder, layout) = store();
    fs::create_dir(layout.lease()).unwrap();
    fs::write(layout.lease().join(name(1)), b"").unwrap();
    assert!(refusal(&layout, true).contains("try again in a minute"));
    age(&layout, 1, 61);
    assert_eq!(Lease::acquire(&layout, &me(), false, 0).unwrap().epoch(), 2);
}

#[test]
fn a_held_lock_keeps_others_out_though_the_owner_seems_dead() {
    let (_folder, layout) = store();
    // Two containers of one host see different processes under the same number.
    let _first = Lease::acquire(&layout, &dead(), false, 0).unwrap();
    assert!(refusal(&layout, true).contains("try again in a moment"));
}

#[test]
fn a_lock_that_outlives_its_owner_for_a_moment_is_waited_for() {
    let (_folder, layout) = store();
    // A driver killed while it started a program: the child has the lock until it is that program.
    let mut gone = Lease::acquire(&layout, &dead(), false, 0).unwrap();
    let lock = gone.lock.take().unwrap();
    let freed = Duration::from_millis(200);
    let began = Instant::now();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(freed);
            drop(lock);
        });
        assert_eq!(Lease::acquire(&layout, &me(), false, 0).unwrap().epoch(), 2);
    });
    assert!(began.elapsed() >= freed);
}

#[test]
fn only_the_last_few_epochs_leave_files() {
    let (_folder, layout) = store();
    for _ in 0..9 {
        drop(Lease::acquire(&layout, &me(), false, 0).unwrap());
    }
    let mut left = epochs(&layout.lease()).unwrap();
    left.sort();
    assert_eq!(left, [6, 7, 8, 9]);
}

#[test]
fn lost_lease_files_do_not_make_epochs_go_back() {
    let (_folder, layout) = store();
    let mut lease = Lease::acquire(&layout, &me(), false, 0).unwrap();
    lease.raise(0).unwrap();
    assert_eq!(lease.epoch(), 1);
    lease.raise(41).unwrap();
    assert_eq!(lease.epoch(), 42);
    lease.check().unwrap();
    assert_eq!(epochs(&layout.lease()).unwrap(), [42]);
}

#[test]
fn of_many_that_try_at_once_one_gets_it() {
    let (_folder, layout) = store();
    let barrier = Barrier::new(8);
    let taken = std::thread::scope(|scope| {
        let attempt = || {
            barrier.wait();
            let lease = Lease::acquire(&layout, &me(), false, 0);
            barrier.wait();
            match lease {
                Ok(_) => true,
                Err(Error::Locked { .. }) => false,
                Err(other) => panic!("{other}"),
            }
        };
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(attempt)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).filter(|&taken| taken).count()
    });
    assert_eq!(taken, 1);
}

#[test]
fn a_driver_that_was_just_killed_is_waited_for() {
    let (_folder, layout) = store();
    let mut driver = std::process::Command::new("sleep").arg("60").spawn().unwrap();
    let started = crate::store::process::starttime(driver.id()).unwrap();
    abandon(&layout, &Process { pid: driver.id(), starttime: started, ..me() });
    std::thread::scope(|scope| {
        let next = scope.spawn(|| Lease::acquire(&layout, &me(), false, 0));
        std::thread::sleep(Duration::from_millis(300));
        driver.kill().unwrap();
        driver.wait().unwrap();
        assert_eq!(next.join().unwrap().unwrap().epoch(), 2);
    });
}
