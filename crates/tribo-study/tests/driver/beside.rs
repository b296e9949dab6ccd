//! Fits beside the driver's loop: it is killed while one is made, and the next one goes on; the journal tells every model.

use super::world::World;
use std::cell::Cell;
use std::time::Duration;
use tribo::rng::Stream;
use tribo::space::Values;
use tribo::strategy::{Process, Settings, Strategy};
use tribo::trial::Trial;
use tribo_study::driver::{Interrupt, Interrupts, Uninterrupted};
use tribo_study::outputs::{Outputs, VALUE};
use tribo_study::point::Written;
use tribo_study::replay;
use tribo_study::store::Store;
use tribo_study::store::memory::Memory;
use tribo_study::store::record::{Entry, Record};

/// As many results as fits are made beside with.
const KNOWN: u64 = 4_000;
const EVALUATIONS: usize = 60;

/// A study with many results from elsewhere, and a fit for every nine more.
fn world() -> World {
    let mut settings = Settings::bo();
    if let Process::Sparse { n_inducing, .. } = &mut settings.surrogate.process {
        *n_inducing = 20;
    }
    settings.refit_growth = 1.002;
    let mut world = World::with(EVALUATIONS, 3, Strategy::Bo(settings));
    let mut stream = Stream::new(3, "beside the driver", 0);
    for trial in 0..KNOWN {
        let (x, y) = (3.0 * stream.uniform() - 1.0, 4.0 * stream.uniform() - 3.0);
        let columns = vec![Values::Float(vec![x]), Values::Float(vec![y])];
        let point = Written::of(&world.config.space, &world.config.space.point(columns).expect("a point"));
        let outputs = Outputs::one(VALUE, x * x + (1.0 - (2.0 * y).cos()));
        world.memory.append(&Record::Imported { trial, point, outputs }).expect("recorded");
    }
    world.memory.sync().expect("synced");
    world
}

/// Trials that were asked, and whether each carries a fit that was made of fewer results than were known.
fn asked(journal: &[Entry]) -> Vec<(&Trial, bool)> {
    let mut asked = vec![];
    for entry in journal {
        if let Record::Asked { trial, .. } = &entry.record {
            let fit = trial.decision.as_ref().and_then(|decision| decision.fit.as_ref());
            asked.push((trial, fit.is_some_and(|fit| fit.results.is_some())));
        }
    }
    asked
}

/// Nobody interrupts, but time passes until a fit has arrived late: at most some seconds.
struct Patient {
    memory: Memory,
    turns: Cell<u32>,
}

impl Interrupts for Patient {
    fn interrupt(&self) -> Interrupt {
        self.turns.set(self.turns.get() + 1);
        if self.turns.get() < 2_000 && !asked(&self.memory.journal()).iter().any(|(_, is_late)| *is_late) {
            std::thread::sleep(Duration::from_millis(10));
        }
        Interrupt::None
    }
}

/// Studies that are made again from the journal up to a trial propose that trial, unless it took a fit over.
fn check_proposals(world: &World) {
    let ledger = world.ledger();
    let journal = world.memory.journal();
    let mut n_checked = 0;
    for (trial, _) in asked(&journal) {
        let takes_fit = trial.decision.as_ref().is_some_and(|decision| decision.fit.is_some());
        if takes_fit || trial.id.0 % 4 != 0 {
            continue;
        }
        let mut study = replay::before(&world.config, &ledger, trial.id.0).expect("replayed").expect("here");
        study.refit_beside(true);
        let asked = study.ask(1).expect("asked");
        assert_eq!(study.history().get(asked[0].id).expect("asked").0, trial);
        n_checked += 1;
    }
    assert!(n_checked >= 10, "{n_checked}");
}

#[test]
fn a_driver_that_is_killed_while_a_fit_is_made_loses_nothing() {
    let mut world = world();
    // Until a fit is due and, as it takes longer than some turns of the loop, under way.
    let mut n_killed = 0;
    while world.ledger().told().len() < KNOWN as usize + 12 {
        let (killed, _) = world.drive_until(&Uninterrupted, 500);
        assert!(killed.is_err(), "{killed:?}");
        n_killed += 1;
        assert!(n_killed < 100, "no driver comes far enough");
    }
    let patient = Patient { memory: world.memory.clone(), turns: Cell::new(0) };
    let (finish, notices) = world.drive_until(&patient, usize::MAX);
    assert!(finish.is_ok(), "{finish:?} {notices:?}");
    let ledger = world.ledger();
    assert_eq!(ledger.told().len(), KNOWN as usize + EVALUATIONS);
    assert_eq!(ledger.live().count(), 0);
    let journal = world.memory.journal();
    assert!(asked(&journal).iter().any(|(_, is_late)| *is_late), "no fit came late");
    check_proposals(&world);
}
