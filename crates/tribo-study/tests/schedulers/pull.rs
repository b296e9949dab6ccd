//! Workers that pull attempts, and pilots under a scheduler that is a fake.

use crate::cluster::Cluster;
use crate::conformance::conforms;
use crate::study::{Study, eventually, program, reference, state_of};
use serde_json::json;
use std::time::Duration;
use tribo_study::job::{ANSWER_FILE, Answer, Kind};
use tribo_study::pool::{Pool, Terms};
use tribo_study::runner::pilots::Pilots;
use tribo_study::runner::pull::Pull;
use tribo_study::runner::{Runner, State, Submission};
use tribo_study::scheduler::slurm::{Slurm, SlurmSettings};
use tribo_study::scheduler::ssh::{Ssh, SshSettings};
use tribo_study::worker;

fn terms(slots: usize, time: Option<f64>, idle: f64) -> Terms {
    let seconds = |s: f64| Duration::from_secs_f64(s);
    Terms { slots, time: time.map(seconds), idle: seconds(idle) }
}

/// Workers in threads, which run the program that stands in for `tribo`; says why each left.
fn work(study: &Study, terms: &[Terms], meanwhile: impl FnOnce()) -> Vec<String> {
    std::thread::scope(|scope| {
        let start = |terms: &Terms| {
            let (layout, terms) = (study.layout(), terms.clone());
            scope.spawn(move || worker::by_hand(&layout, terms, &program()).unwrap())
        };
        let workers: Vec<_> = terms.iter().map(start).collect();
        meanwhile();
        workers.into_iter().map(|worker| worker.join().unwrap()).collect()
    })
}

#[test]
fn conformance() {
    let study = Study::new();
    let (attempt, absent) = (study.attempt(1), study.attempt(2));
    let mut runner = Pull::from_workers(study.layout().store(), 0);
    work(&study, &[terms(1, None, 2.0)], || conforms(&mut runner, &attempt, &absent));
}

#[test]
fn each_attempt_goes_to_one_of_several_workers() {
    let study = Study::new();
    let attempts = study.attempts(0..40);
    attempts.iter().for_each(|attempt| std::fs::write(attempt.dir.join("go"), "").unwrap());
    let mut runner = Pull::from_workers(study.layout().store(), 0);
    let outcomes = runner.submit(&attempts);
    assert_eq!(outcomes[3], Submission::Accepted("pool:000003.a1".into()));
    let waits = state_of(&mut runner, &reference(&attempts[0], None));
    assert!(matches!(&waits, Some(State::Queued(Some(why))) if why.contains("tribo worker")), "{waits:?}");
    let left = work(&study, &[terms(3, None, 1.0), terms(3, None, 1.0)], || {});
    assert_eq!(left, ["there was nothing to do"; 2]);
    assert!(attempts.iter().all(|attempt| attempt.dir.join("claim").exists()));
    let pool = Pool::of(study.layout().store());
    assert!(pool.offers().unwrap().is_empty() && pool.taken().unwrap().is_empty());
    assert_eq!(state_of(&mut runner, &reference(&attempts[0], None)), None, "no answer, and nobody has it");
}

#[test]
fn a_worker_gives_back_what_its_time_does_not_allow() {
    let study = Study::new();
    let attempts = study.attempts(0..2);
    let mut runner = Pull::from_workers(study.layout().store(), 0);
    runner.submit(&attempts);
    let left = work(&study, &[terms(1, Some(2.5), 60.0)], || {});
    assert_eq!(left, ["its time is over"]);
    assert!(attempts[0].dir.join("stopped").exists(), "it was told to stop");
    let state = state_of(&mut runner, &reference(&attempts[0], None));
    let Some(State::Ended(ending)) = state else { panic!("{state:?}") };
    assert_eq!(ending.kind, Kind::Infrastructure);
    assert_eq!(ending.reason, "its worker had to leave: its time is over");
    assert!(matches!(state_of(&mut runner, &reference(&attempts[1], None)), Some(State::Queued(_))));
}

/// When a node goes down, its jobs may be told before their worker, which then is done with them as with any other.
#[test]
fn what_was_told_to_stop_by_nobody_of_the_study_is_tried_again() {
    let study = Study::new();
    let attempt = study.attempt(0);
    std::fs::write(attempt.dir.join("go"), "").unwrap();
    let mut runner = Pull::from_workers(study.layout().store(), 0);
    runner.submit(std::slice::from_ref(&attempt));
    work(&study, &[terms(1, None, 0.5)], || {});
    let mut kind_of = |kind: &str, reason: &str| {
        let answer = json!({
            "version": 1, "trial": 0, "attempt": 1, "tag": "sabc123e00000a1", "incarnation": 0, "params_digest": "",
            "kind": kind, "reason": reason, "started": "", "wall_s": 1.0, "cpu_s": 1.0, "max_rss": 1, "host": "n1",
        });
        std::fs::write(attempt.dir.join(ANSWER_FILE), answer.to_string()).unwrap();
        assert!(Answer::read(&attempt.dir).is_some(), "{kind}");
        let state = state_of(&mut runner, &reference(&attempt, None));
        let Some(State::Ended(ending)) = state else { panic!("{kind}: {state:?}") };
        ending.kind
    };
    assert_eq!(kind_of("stopped", "the job was told to stop by SIGTERM"), Kind::Infrastructure);
    assert_eq!(kind_of("cancelled", "by `tribo cancel`"), Kind::Ok, "its answer says it");
    assert_eq!(kind_of("failed", "exit code 1"), Kind::Ok);
}

#[test]
fn what_is_offered_can_be_cancelled() {
    let study = Study::new();
    let attempt = study.attempt(1);
    let mut runner = Pull::from_workers(study.layout().store(), 0);
    runner.submit(std::slice::from_ref(&attempt));
    runner.cancel(&[reference(&attempt, None)]).unwrap();
    work(&study, &[terms(1, None, 0.5)], || {});
    assert!(!attempt.dir.join("claim").exists());
}

fn pilots(cluster: &Cluster, setup: &[&str], workers: usize) -> Pull {
    let setup = setup.iter().map(|line| line.to_string()).collect();
    let config = SlurmSettings { poll: Duration::from_secs(1), setup, ..SlurmSettings::default() };
    let inner = Box::new(Slurm::new(config, cluster.batch(cluster.commands())));
    let pilots = Pilots::new(inner, cluster.study.id.clone(), terms(5, None, 60.0), workers);
    Pull::from_pilots(cluster.study.layout().store(), 0, pilots)
}

#[test]
fn as_many_pilots_are_submitted_as_the_attempts_need_and_found_again() {
    let cluster = Cluster::new();
    let mut runner = pilots(&cluster, &[], 12);
    runner.submit(&cluster.study.attempts(0..3));
    assert_eq!(cluster.jobs().len(), 1);
    let attempts = cluster.study.attempts(0..12);
    let jobs: Vec<_> = attempts.iter().map(|attempt| reference(attempt, None)).collect();
    eventually("three for twelve", || {
        let sightings = runner.poll(&jobs).unwrap();
        assert!(sightings.iter().all(|sighting| matches!(sighting.state, State::Queued(_))));
        cluster.jobs().len() == 3
    });
    // Another driver counts those, and what the scheduler says of them is why attempts wait.
    let mut second = pilots(&cluster, &[], 12);
    cluster.tell(&["set", "1", "reason=PartitionDown"]);
    let state = second.poll(&jobs).unwrap().remove(0).state;
    assert!(matches!(&state, State::Queued(Some(why)) if why.starts_with("no pilot runs: ")), "{state:?}");
    assert_eq!((cluster.jobs().len(), second.left(&[]).unwrap().len()), (3, 3));
    let left = second.left(&[]).unwrap();
    second.remove(&left).unwrap();
    assert!(cluster.jobs().iter().all(|(_, state)| state == "CANCELLED"));
}

#[test]
fn pilots_that_cannot_begin_are_not_submitted_for_ever() {
    let cluster = Cluster::with(json!({ "run": true }));
    let mut runner = pilots(&cluster, &["echo no such module >&2; exit 1"], 5);
    let attempt = cluster.study.attempt(0);
    assert!(matches!(runner.submit(std::slice::from_ref(&attempt))[0], Submission::Accepted(_)));
    let job = reference(&attempt, None);
    eventually("it is given up", || matches!(state_of(&mut runner, &job), Some(State::Ended(_))));
    let refused = runner.submit(std::slice::from_ref(&cluster.study.attempt(1)));
    let Submission::Refused(reason) = &refused[0] else { panic!("{refused:?}") };
    assert!(reason.contains("3 pilots in a row") && reason.contains("no such module"), "{reason}");
    assert_eq!(cluster.called("sbatch"), 3);
}

#[test]
fn a_scheduler_that_refuses_pilots_refuses_the_study() {
    let cluster = Cluster::with(json!({ "partitions": ["batch"] }));
    let outcomes = pilots(&cluster, &[], 5).submit(&cluster.study.attempts(0..2));
    assert!(outcomes.iter().all(|outcome| matches!(outcome, Submission::Refused(_))), "{outcomes:?}");
}

fn by_ssh(cluster: &Cluster, hosts: &[&str]) -> Ssh {
    let hosts = hosts.iter().map(|host| host.to_string()).collect();
    let config = SshSettings { hosts, poll: Duration::from_secs(1), ..SshSettings::default() };
    Ssh::new(config, cluster.batch(cluster.commands()))
}

#[test]
fn machines_that_ssh_reaches_share_the_workers() {
    let cluster = Cluster::new();
    let mut runner = by_ssh(&cluster, &["one", "down1", "two"]);
    let attempts = cluster.study.attempts(0..4);
    let outcomes = runner.submit(&attempts);
    let hosts: Vec<&str> = outcomes
        .iter()
        .map(|outcome| match outcome {
            Submission::Accepted(id) => id.split(':').next().unwrap(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(hosts, ["one", "two", "one", "two"], "one is down");
    let jobs: Vec<_> = attempts
        .iter()
        .zip(&outcomes)
        .map(|(attempt, outcome)| match outcome {
            Submission::Accepted(id) => reference(attempt, Some(id)),
            other => panic!("{other:?}"),
        })
        .collect();
    eventually("all run", || {
        let sightings = runner.poll(&jobs).unwrap();
        sightings.len() == 4 && sightings.iter().all(|sighting| sighting.state == State::Running)
    });
    let left = runner.left(&jobs).unwrap();
    assert_eq!(left.len(), 4);
    runner.remove(&left).unwrap();
    eventually("all were told", || attempts.iter().all(|attempt| attempt.dir.join("stopped").exists()));
    let said = runner.rehearse().unwrap();
    assert!(said.starts_with("2 of 3 hosts can be used; not so: down1: ssh: connect"), "{said}");
    let none = by_ssh(&cluster, &["down1"]).submit(&cluster.study.attempts(7..8));
    assert!(matches!(&none[0], Submission::Unavailable(why) if why.contains("No route")), "{none:?}");
}

#[test]
fn a_worker_that_cannot_begin_is_noticed_by_ssh() {
    let cluster = Cluster::new();
    let attempt = cluster.study.attempt(0);
    std::fs::write(attempt.dir.join("exit"), "3").unwrap();
    let mut runner = by_ssh(&cluster, &["one"]);
    let outcomes = runner.submit(std::slice::from_ref(&attempt));
    let Submission::Accepted(id) = &outcomes[0] else { panic!("{outcomes:?}") };
    let job = reference(&attempt, Some(id));
    let ended = |state| matches!(state, Some(State::Ended(end)) if end.kind == Kind::Unstarted);
    eventually("it is gone", || ended(state_of(&mut runner, &job)));
}
