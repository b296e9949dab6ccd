//! Processes of this machine.

use crate::conformance::conforms;
use crate::study::{Study, eventually, program, reference, sighting_of, state_of};
use std::time::Instant;
use tribo_study::job::Kind;
use tribo_study::runner::local::Local;
use tribo_study::runner::{Runner, State, Submission};

fn start(runner: &mut Local, attempt: &tribo_study::runner::Attempt) -> String {
    match runner.submit(std::slice::from_ref(attempt)).pop() {
        Some(Submission::Accepted(id)) => id,
        other => panic!("{other:?}"),
    }
}

fn ended_as(state: Option<State>) -> Option<Kind> {
    match state {
        Some(State::Ended(ending)) => Some(ending.kind),
        _ => None,
    }
}

#[test]
fn conformance() {
    let study = Study::new();
    conforms(&mut Local::new(program()), &study.attempt(1), &study.attempt(2));
}

#[test]
fn a_job_that_ends_wakes_the_driver() {
    let study = Study::new();
    let attempt = study.attempt(1);
    let mut runner = Local::new(program());
    let job = reference(&attempt, Some(&start(&mut runner, &attempt)));
    assert_eq!(state_of(&mut runner, &job), Some(State::Running));
    std::fs::write(attempt.dir.join("go"), "").unwrap();
    let begin = Instant::now();
    assert!(runner.wait(60.0));
    // A wait of its full length would mean that nobody woke us.
    assert!(begin.elapsed().as_secs_f64() < 30.0);
    assert_eq!(ended_as(state_of(&mut runner, &job)), Some(Kind::Ok));
}

#[test]
fn a_job_that_cannot_start_says_where_to_look() {
    let study = Study::new();
    let attempt = study.attempt(1);
    std::fs::write(attempt.dir.join("exit"), "73").unwrap();
    let mut runner = Local::new(program());
    let job = reference(&attempt, Some(&start(&mut runner, &attempt)));
    runner.wait(60.0);
    let Some(State::Ended(ending)) = state_of(&mut runner, &job) else { panic!("still there") };
    assert_eq!(ending.kind, Kind::Unstarted);
    assert!(ending.reason.contains("exit code 73") && ending.reason.contains("job.log"), "{}", ending.reason);
}

#[test]
fn a_missing_program_or_folder_is_no_submission() {
    let study = Study::new();
    let attempt = study.attempt(1);
    let mut runner = Local::new("/no/such/tribo".into());
    let refused = runner.submit(std::slice::from_ref(&attempt));
    assert!(
        matches!(&refused[..], [Submission::Refused(why)] if why.contains("/no/such/tribo")),
        "{refused:?}"
    );
    assert!(runner.check().is_err());
    let mut gone = attempt;
    gone.dir = study.folder().join("nowhere");
    let unavailable = Local::new(program()).submit(std::slice::from_ref(&gone));
    assert!(matches!(&unavailable[..], [Submission::Unavailable(_)]), "{unavailable:?}");
}

#[test]
fn row_03_a_job_of_a_dead_driver_is_adopted() {
    let study = Study::new();
    let attempt = study.attempt(1);
    let id = start(&mut Local::new(program()), &attempt);
    // Another runner, as after a restart: not its child, and no id on record.
    let mut second = Local::new(program());
    let by_tag = reference(&attempt, None);
    eventually("the job says who it is", || sighting_of(&mut second, &by_tag).is_some());
    let seen = sighting_of(&mut second, &by_tag).unwrap();
    assert_eq!((seen.job, seen.state), (id, State::Running));
    second.cancel(std::slice::from_ref(&by_tag)).unwrap();
    eventually("it is gone", || ended_as(state_of(&mut second, &by_tag)) == Some(Kind::Lost));
    assert!(attempt.dir.join("stopped").exists(), "it was signalled");
}

#[test]
fn row_37_after_a_reboot_jobs_are_lost() {
    let study = Study::new();
    let attempt = study.attempt(1);
    let mut runner = Local::new(program());
    let id = start(&mut runner, &attempt);
    let (process, _) = id.rsplit_once(':').unwrap();
    let before = reference(&attempt, Some(&format!("{process}:00000000-0000-0000-0000-000000000000")));
    let Some(State::Ended(ending)) = state_of(&mut runner, &before) else { panic!("not lost") };
    assert_eq!(ending.kind, Kind::Lost);
    assert!(ending.reason.contains("restarted"), "{}", ending.reason);
    runner.cancel(&[reference(&attempt, Some(&id))]).unwrap();
}

#[test]
fn row_38_a_pid_used_again_is_neither_adopted_nor_killed() {
    let study = Study::new();
    let (stranger, ours) = (study.attempt(1), study.attempt(2));
    let mut runner = Local::new(program());
    let id = start(&mut runner, &stranger);
    let parts: Vec<&str> = id.splitn(3, ':').collect();
    let earlier = format!("{}:{}:{}", parts[0], parts[1].parse::<u64>().unwrap() - 1, parts[2]);
    let stale = reference(&ours, Some(&earlier));
    assert_eq!(ended_as(state_of(&mut runner, &stale)), Some(Kind::Lost));
    runner.cancel(std::slice::from_ref(&stale)).unwrap();
    let alive = reference(&stranger, Some(&id));
    assert_eq!(state_of(&mut runner, &alive), Some(State::Running));
    runner.cancel(std::slice::from_ref(&alive)).unwrap();
    eventually("it ends", || ended_as(state_of(&mut runner, &alive)).is_some());
    assert!(!ours.dir.join("stopped").exists());
}

#[test]
fn unreadable_notes_of_a_job_are_no_sighting() {
    let study = Study::new();
    let attempt = study.attempt(1);
    for notes in ["", "{", "[]", "{\"pid\": -1}", "{\"pid\": 1, \"starttime\": 2}"] {
        std::fs::write(attempt.dir.join("started.json"), notes).unwrap();
        assert_eq!(sighting_of(&mut Local::new(program()), &reference(&attempt, None)), None, "{notes}");
    }
    assert_eq!(sighting_of(&mut Local::new(program()), &reference(&attempt, Some("not an id"))), None);
}
