//! Summaries of small journals made up record by record.

use super::*;
use crate::job::Finding;
use crate::outputs::VALUE;
use crate::replay;
use crate::store::Store;
use crate::store::memory::Memory;
use crate::store::record::Record;
use crate::tag::{AttemptId, StudyId, Tag};
use std::path::Path;

const STUDY: &str = "study_version = 1\ndirection = \"maximize\"\n\
    [[parameter]]\nname = \"x\"\ntype = \"float\"\nlow = 0\nhigh = 1\n\
    [strategy]\nname = \"random\"\n[budget]\nevaluations = 8\ntarget = 100\n";

/// A journal under way; each record a second after the last.
struct World {
    config: Config,
    store: Memory,
    ledger: Ledger,
    now_ms: u64,
}

impl World {
    fn new() -> World {
        let config = Config::parse(Path::new("study.toml"), STUDY).unwrap();
        let (store, ledger) = Memory::create(StudyId::from_bits(7), STUDY, 1_000).unwrap();
        World { config, store, ledger, now_ms: 1_000 }
    }

    fn record(&mut self, record: Record) {
        self.now_ms += 1_000;
        self.store.set_utc_ms(self.now_ms);
        let entry = self.store.append(&record).unwrap();
        self.ledger.apply(&entry).unwrap();
    }

    /// Asks for a trial and submits its first attempt.
    fn begin(&mut self) -> AttemptId {
        let mut optimiser = replay::study(&self.config, &self.ledger).unwrap();
        let asked = optimiser.ask(1).unwrap()[0].id;
        let trial = optimiser.history().get(asked).unwrap().0.clone();
        self.record(Record::Asked { trial, by_hand: false });
        let id = AttemptId { trial: asked.0, attempt: 1 };
        self.record(Record::Intended { id, tag: Tag::new(&self.ledger.study, id).unwrap() });
        self.record(Record::Submitted { id, job: "42".to_owned() });
        id
    }

    fn end(&mut self, id: AttemptId, outcome: std::result::Result<f64, &str>) {
        let finding = outcome.map_or_else(Finding::failed, |value| Finding::answered(VALUE, value));
        let host = "node7".to_owned();
        self.record(Record::Ended { id, finding: finding.clone(), wall_s: Some(2.5), host });
        self.record(Record::Told { trial: id.trial, finding });
    }

    fn summary(&self, seen: Seen) -> Summary {
        let rebuilt = replay::rebuild(&self.config, &self.ledger).unwrap();
        let seen = Seen { now_ms: seen.now_ms.max(self.now_ms), ..seen };
        summary(
            &self.config,
            &self.ledger,
            rebuilt.points(),
            Some(&Layout::of(Path::new("wing.toml"))),
            &seen,
        )
        .unwrap()
    }
}

#[test]
fn trials_are_counted_by_state_and_the_best_is_found() {
    let mut world = World::new();
    let ids: Vec<AttemptId> = (0..5).map(|_| world.begin()).collect();
    world.end(ids[0], Ok(1.0));
    world.end(ids[1], Ok(3.0));
    world.end(ids[2], Err("failed: exit code 1"));
    let begun = Begun::from([ids[3]]);
    let driver = Driver { host: "here".to_owned(), pid: 9 };
    let summary = world.summary(Seen { driver: Some(driver.clone()), begun, ..Seen::default() });
    assert_eq!(summary.phase, Phase::Running(driver));
    let counts = Counts { trials: 5, measured: 2, failed: 1, running: 1, waiting: 1, ..Counts::default() };
    assert_eq!(summary.counts, counts);
    assert_eq!(
        summary.best.as_ref().map(|best| (best.trial, best.value)),
        Some((1, 3.0)),
        "larger is better"
    );
    // Told at intervals of two seconds; five of eight are left.
    let pace = summary.pace.unwrap();
    assert_eq!((pace.per_hour, pace.evaluation_s, pace.left_s), (1_800.0, Some(2.5), Some(10.0)));
    assert_eq!(summary.failures[0].example, Some(ids[2]));
    assert_eq!(summary.warnings, [] as [&str; 0]);
}

#[test]
fn jobs_without_a_driver_and_jobs_that_wait_are_worth_a_warning() {
    let mut world = World::new();
    world.begin();
    let summary = world.summary(Seen::default());
    assert_eq!(summary.phase, Phase::Interrupted);
    assert!(summary.warnings[0].contains("1 evaluation may be under way"), "{:?}", summary.warnings);
    let driver = Some(Driver { host: "here".to_owned(), pid: 9 });
    let late = Seen { driver, now_ms: world.now_ms + LONG_WAIT_MS + 1, ..Seen::default() };
    let warnings = world.summary(late).warnings;
    assert!(warnings.len() == 1 && warnings[0].contains("job 42"), "{warnings:?}");
}

#[test]
fn failures_in_a_row_are_worth_a_warning() {
    let mut world = World::new();
    for _ in 0..FAILING {
        let id = world.begin();
        world.end(id, Err("failed: no licence"));
    }
    let all = world.summary(Seen::default());
    assert!(all.warnings[0].starts_with("all 5 evaluations failed"), "{:?}", all.warnings);
    assert_eq!((all.failures[0].count, all.failures[0].cause.as_str()), (5, "failed: no licence"));
    let mut world = World::new();
    let id = world.begin();
    world.end(id, Ok(0.0));
    for _ in 0..FAILING {
        let id = world.begin();
        world.end(id, Err("failed: no licence"));
    }
    let later = world.summary(Seen::default()).warnings;
    assert!(later[0].starts_with("the last 5 evaluations failed"), "{later:?}");
}

#[test]
fn a_study_is_finished_by_its_target_or_its_evaluations() {
    let mut world = World::new();
    let id = world.begin();
    world.end(id, Ok(99.0));
    world.record(Record::Closed { why: "interrupted".to_owned() });
    let why = |world: &World| match world.summary(Seen::default()).phase {
        Phase::Finished { why } => why,
        other => format!("{other:?}"),
    };
    assert_eq!(why(&world), "Stopped { why: \"interrupted\" }");
    let leaving = Some(Driver { host: "here".to_owned(), pid: 9 });
    let phase = world.summary(Seen { driver: leaving, ..Seen::default() }).phase;
    assert_eq!(phase, Phase::Stopped { why: "interrupted".to_owned() }, "it has said that it leaves");
    let id = world.begin();
    world.end(id, Ok(100.0));
    assert_eq!(why(&world), "the target is reached");
    let mut world = World::new();
    for _ in 0..8 {
        let id = world.begin();
        world.end(id, Ok(1.0));
    }
    assert_eq!(why(&world), "the evaluations are spent");
}

#[test]
fn a_row_has_host_and_time_of_the_attempt_that_decided() {
    let mut world = World::new();
    let first = world.begin();
    let second = AttemptId { attempt: 2, ..first };
    world.record(Record::ended(first, Finding::none(Kind::Lost, "gone")));
    world.record(Record::Intended { id: second, tag: Tag::new(&world.ledger.study, second).unwrap() });
    // The first answers after all, and the second is cancelled.
    let finding = Finding::answered(VALUE, 1.0);
    let (wall_s, host) = (Some(2.5), "node7".to_owned());
    world.record(Record::Ended { id: first, finding: finding.clone(), wall_s, host });
    let cancelled = Finding::none(Kind::Cancelled, "not wanted");
    world.record(Record::Ended {
        id: second,
        finding: cancelled,
        wall_s: Some(9.0),
        host: "node9".to_owned(),
    });
    world.record(Record::Told { trial: first.trial, finding });
    let begun = Begun::new();
    let row = Row::new(first.trial, world.ledger.trial(first.trial).unwrap(), &begun);
    assert_eq!((row.host, row.wall_s, row.attempts), ("node7", Some(2.5), 2));
}

#[test]
fn makeshift_points_are_worth_a_warning() {
    let mut world = World::new();
    let mut optimiser = replay::study(&world.config, &world.ledger).unwrap();
    let asked = optimiser.ask(1).unwrap()[0].id;
    let mut trial = optimiser.history().get(asked).unwrap().0.clone();
    let fell_back = Some("a pivot of 0".to_owned());
    trial.decision = Some(Box::new(tribo::trial::Decision {
        results: 0,
        fit: None,
        ended: None,
        fell_back,
        nominees: None,
    }));
    world.record(Record::Asked { trial, by_hand: true });
    let warnings = world.summary(Seen::default()).warnings;
    let said = "the strategy broke once and went on with makeshift points, please report it: a pivot of 0";
    assert_eq!(warnings, [said]);
}

#[test]
fn accidents_and_points_that_are_not_allowed_are_no_failures() {
    for (kind, said) in [
        (Kind::Lost, "all 5 evaluations were lost and are not spent"),
        (Kind::Infeasible, "all 5 points were not allowed"),
    ] {
        let mut world = World::new();
        for _ in 0..FAILING {
            let id = world.begin();
            let finding = Finding::none(kind, if kind == Kind::Lost { "transient: why" } else { "" });
            world.record(Record::ended(id, finding.clone()));
            world.record(Record::Told { trial: id.trial, finding });
        }
        let summary = world.summary(Seen::default());
        assert!(summary.warnings[0].starts_with(said), "{:?}", summary.warnings);
        assert_eq!(summary.counts.done(), if kind == Kind::Lost { 0 } else { 5 });
    }
}
