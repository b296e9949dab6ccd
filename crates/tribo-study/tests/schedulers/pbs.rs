//! PBS, by the rows of the fault table that a runner answers for.

use crate::cluster::Cluster;
use crate::conformance::conforms;
use crate::study::{eventually, reference, sighting_of, state_of};
use serde_json::json;
use std::time::Duration;
use tribo_study::job::Kind;
use tribo_study::runner::{Attempt, Ending, JobRef, Runner, State, Submission};
use tribo_study::scheduler::pbs::{Pbs, PbsSettings};

fn submit(runner: &mut Pbs, attempt: &Attempt) -> Submission {
    runner.submit(std::slice::from_ref(attempt)).pop().unwrap()
}

fn accepted(runner: &mut Pbs, attempt: &Attempt) -> JobRef {
    match submit(runner, attempt) {
        Submission::Accepted(id) => reference(attempt, Some(&id)),
        other => panic!("{other:?}"),
    }
}

fn ending(runner: &mut Pbs, job: &JobRef) -> Ending {
    match state_of(runner, job) {
        Some(State::Ended(ending)) => ending,
        other => panic!("{other:?}"),
    }
}

#[test]
fn conformance() {
    for settings in [json!({}), json!({ "run": true }), json!({ "run": true, "history": false })] {
        let cluster = Cluster::with(settings);
        conforms(&mut cluster.pbs(), &cluster.study.attempt(1), &cluster.study.attempt(2));
    }
}

#[test]
fn arrays_are_cut_to_what_the_server_takes_and_found_by_tag() {
    let cluster = Cluster::with(json!({ "run": true, "max_array_size": 10 }));
    let attempts = cluster.study.attempts(5..25);
    let outcomes = cluster.pbs().submit(&attempts);
    assert_eq!(outcomes[0], Submission::Accepted("1[0].fake".into()));
    assert_eq!(outcomes[19], Submission::Accepted("2[9].fake".into()));
    assert_eq!(cluster.called("qsub"), 3, "20 are refused, twice 10 are not");
    let mut second = cluster.pbs();
    let by_tag: Vec<JobRef> = attempts.iter().map(|attempt| reference(attempt, None)).collect();
    let sightings = second.poll(&by_tag).unwrap();
    let ids: Vec<Submission> = sightings.iter().map(|s| Submission::Accepted(s.job.clone())).collect();
    assert_eq!(ids, outcomes);
    eventually("all began", || attempts.iter().all(|attempt| attempt.dir.join("started.json").exists()));
    // By id one call is enough for all.
    let by_id: Vec<JobRef> =
        attempts.iter().zip(&sightings).map(|(attempt, s)| reference(attempt, Some(&s.job))).collect();
    let before = cluster.calls().len();
    assert!(second.poll(&by_id).unwrap().iter().all(|sighting| sighting.state == State::Running));
    assert_eq!(cluster.calls().len() - before, 1);
    second.cancel(&by_id).unwrap();
    let ended = |s: &tribo_study::runner::Sighting| matches!(s.state, State::Ended(_));
    eventually("all end", || second.poll(&by_id).unwrap().iter().all(ended));
}

#[test]
fn rows_03_to_06_submissions_without_an_answer_are_found_by_tag_if_they_were_accepted() {
    for (mode, found) in [("fail_accepted", true), ("fail", false), ("hang_accepted", true), ("hang", false)]
    {
        let cluster = Cluster::new();
        cluster.faults("qsub", json!([{ "mode": mode, "stderr": "qsub: End of File" }]));
        let commands = cluster.commands().with_limits(Duration::from_secs(5), Duration::from_secs(60));
        let mut runner = Pbs::new(PbsSettings::default(), cluster.batch(commands));
        let attempt = cluster.study.attempt(1);
        let outcome = submit(&mut runner, &attempt);
        assert!(matches!(outcome, Submission::Ambiguous(_)), "{mode}: {outcome:?}");
        let seen = sighting_of(&mut cluster.pbs(), &reference(&attempt, None));
        assert_eq!(seen.map(|seen| seen.job), found.then(|| "1.fake".to_owned()), "{mode}");
    }
}

#[test]
fn row_07_of_two_copies_the_first_is_kept() {
    let cluster = Cluster::new();
    cluster.faults("qsub", json!([{ "mode": "twice" }]));
    let attempt = cluster.study.attempt(1);
    let mut runner = cluster.pbs();
    accepted(&mut runner, &attempt);
    assert_eq!(sighting_of(&mut runner, &reference(&attempt, None)).unwrap().job, "1.fake");
    let states: Vec<String> = cluster.jobs().into_iter().map(|(_, state)| state).collect();
    assert_eq!(states, ["PENDING", "CANCELLED"]);
}

#[test]
fn rows_08_and_09_limits_and_refusals() {
    let cluster = Cluster::with(json!({ "submit_limit": 2 }));
    let outcomes = cluster.pbs().submit(&cluster.study.attempts(0..3));
    assert!(matches!(&outcomes[2], Submission::Limited(why) if why.contains("would exceed")), "{outcomes:?}");
    cluster.settings(json!({ "partitions": ["workq"] }));
    let config = PbsSettings { queue: Some("nosuch".into()), ..PbsSettings::default() };
    let mut runner = Pbs::new(config, cluster.batch(cluster.commands()));
    let refused = submit(&mut runner, &cluster.study.attempt(4));
    assert_eq!(refused, Submission::Refused("qsub: Unknown queue".into()));
    let error = runner.check().unwrap_err();
    assert!(error.to_string().contains("[run.pbs]"), "{error}");
}

#[test]
fn rows_11_and_42_a_server_that_is_down_proves_nothing() {
    let cluster = Cluster::new();
    let (first, second) = (cluster.study.attempt(1), cluster.study.attempt(2));
    let mut runner = cluster.pbs();
    let job = accepted(&mut runner, &first);
    cluster.settings(json!({ "down": true }));
    assert!(runner.poll(std::slice::from_ref(&job)).unwrap_err().to_string().contains("cannot connect"));
    assert!(runner.poll(&[reference(&second, None)]).is_err());
    assert!(runner.cancel(std::slice::from_ref(&job)).is_err());
    assert!(matches!(submit(&mut runner, &second), Submission::Unavailable(_)));
    assert_eq!(runner.check().unwrap_err().exit_code(), 8);
    cluster.settings(json!({}));
    assert!(matches!(state_of(&mut runner, &job), Some(State::Queued(_))));
}

#[test]
fn row_15_another_job_with_the_same_id_is_not_ours() {
    let cluster = Cluster::new();
    let attempt = cluster.study.attempt(1);
    let mut runner = cluster.pbs();
    let job = accepted(&mut runner, &attempt);
    cluster.tell(&["set", "1", "name=someone-elses", "env={}"]);
    assert_eq!(sighting_of(&mut runner, &job), None);
}

#[test]
fn a_job_that_was_renamed_is_found_by_what_it_was_given() {
    let cluster = Cluster::new();
    let attempts = cluster.study.attempts(0..5);
    let mut runner = cluster.pbs();
    let job = accepted(&mut runner, &attempts[4]);
    runner.submit(&attempts[..4]);
    cluster.tell(&["set", "1", "name=wing-17", "state=RUNNING"]);
    cluster.tell(&["set", "2", "name=site-wide", "state=RUNNING"]);
    assert_eq!(state_of(&mut runner, &job), Some(State::Running));
    assert_eq!(state_of(&mut runner, &reference(&attempts[2], Some("2[2].fake"))), Some(State::Running));
    // Also where the id was never told: among all jobs of the user.
    let seen = sighting_of(&mut cluster.pbs(), &reference(&attempts[4], None)).unwrap();
    assert_eq!((seen.job.as_str(), seen.state), ("1.fake", State::Running));
}

#[test]
fn rows_17_to_22_states_and_ends_are_told_apart() {
    let cluster = Cluster::new();
    let attempt = cluster.study.attempt(1);
    std::fs::write(attempt.dir.join("claim"), "").unwrap();
    let mut runner = cluster.pbs();
    let job = accepted(&mut runner, &attempt);
    let held = "reason=Job held, too many failed attempts to run";
    cluster.tell(&["set", "1", "letter=H", held]);
    assert_eq!(state_of(&mut runner, &job), Some(State::Held(held["reason=".len()..].into())));
    cluster.tell(&["set", "1", "letter=S"]);
    assert_eq!(state_of(&mut runner, &job), Some(State::Suspended));
    for (exit, kind) in [
        ("exit=-11", Kind::Infrastructure),
        ("exit=-27", Kind::Memory),
        ("exit=-29", Kind::Walltime),
        ("exit=271", Kind::Cancelled),
        ("exit=137", Kind::Failed),
        ("exit=0", Kind::Ok),
    ] {
        cluster.tell(&["set", "1", "letter=F", "state=COMPLETED", "nodes=n7", "reason=", exit]);
        let end = ending(&mut runner, &job);
        assert_eq!((end.kind, end.host.as_deref()), (kind, Some("n7")), "{exit}");
    }
}

#[test]
fn row_43_without_history_an_ended_job_is_gone_and_nothing_breaks() {
    let cluster = Cluster::with(json!({ "history": false }));
    let attempts = cluster.study.attempts(1..3);
    let mut runner = cluster.pbs();
    let jobs: Vec<JobRef> = attempts.iter().map(|attempt| accepted(&mut runner, attempt)).collect();
    cluster.tell(&["set", "1", "state=COMPLETED", "exit=0"]);
    // Exit code 153 for one, and the other is seen all the same.
    let sightings = runner.poll(&jobs).unwrap();
    assert_eq!(sightings.iter().map(|s| s.job.as_str()).collect::<Vec<_>>(), ["2.fake"]);
    // That there is no history is learnt once.
    let before = runner.counts()["qstat"];
    runner.poll(&jobs).unwrap();
    assert_eq!(runner.counts()["qstat"] - before, 1);
    // Exit code 35: the server has it but does not tell without -x.
    cluster.faults(
        "qstat",
        json!([{ "mode": "fail", "code": 35, "stderr": "qstat: 1.fake Job has finished, use -x" }]),
    );
    assert_eq!(sighting_of(&mut runner, &jobs[0]), None);
}

#[test]
fn row_44_many_jobs_and_odd_environments_are_read() {
    let cluster = Cluster::new();
    let attempts = cluster.study.attempts(1..4);
    let mut runner = cluster.pbs();
    let jobs: Vec<JobRef> = attempts.iter().map(|attempt| accepted(&mut runner, attempt)).collect();
    // What breaks JSON, in the one attribute whose text is free, broken over lines too.
    let odd = format!("reason=\"}},{{ not \\ json, {} end", "x".repeat(90));
    cluster.tell(&["set", "2", &odd]);
    let sightings = runner.poll(&jobs).unwrap();
    assert_eq!(sightings.len(), 3);
    assert_eq!(sightings[1].state, State::Queued(Some(odd["reason=".len()..].to_owned())));
}

#[test]
fn row_45_an_element_that_the_server_reruns_stays_one_job() {
    let cluster = Cluster::new();
    let attempts = cluster.study.attempts(0..4);
    let mut runner = cluster.pbs();
    runner.submit(&attempts);
    assert!(cluster.calls()[0].windows(2).any(|pair| pair == ["-r", "y"]), "arrays can only be rerun");
    let job = reference(&attempts[1], Some("1[1].fake"));
    cluster.tell(&["set", "1_1", "state=RUNNING", "reason=", "nodes=n1"]);
    assert_eq!(state_of(&mut runner, &job), Some(State::Running));
    cluster.tell(&["set", "1_1", "state=PENDING", "restarts=1"]);
    assert_eq!(state_of(&mut runner, &job), Some(State::Queued(None)));
    cluster.tell(&["set", "1_1", "state=RUNNING"]);
    assert_eq!(
        sighting_of(&mut runner, &job).map(|s| (s.id, s.job)),
        Some((attempts[1].id, "1[1].fake".into()))
    );
}

#[test]
fn rows_16_and_21_a_job_told_to_stop_by_the_server_or_by_a_person() {
    let cluster = Cluster::with(json!({ "run": true }));
    let attempts = cluster.study.attempts(0..4);
    let mut runner = cluster.pbs();
    runner.submit(&attempts);
    let jobs: Vec<JobRef> =
        attempts.iter().zip(0..).map(|(a, k)| reference(a, Some(&format!("1[{k}].fake")))).collect();
    eventually("all run", || attempts.iter().all(|attempt| attempt.dir.join("started.json").exists()));
    // qrerun: SIGTERM, waiting, and running again under the same id.
    cluster.tell(&["stop", "1_1", "PENDING", ""]);
    eventually("it waits again", || state_of(&mut runner, &jobs[1]) == Some(State::Queued(None)));
    cluster.tell(&["set", "1_1", "start=true"]);
    eventually("it ran again", || matches!(state_of(&mut runner, &jobs[1]), Some(State::Ended(_))));
    assert_eq!(cluster.jobs().len(), 4);
    // qdel by a person: the job answers and ends well, but the server knows.
    cluster.tell(&["stop", "1_2", "CANCELLED", "Job run at now on (n1) and terminated"]);
    eventually("it ends", || matches!(state_of(&mut runner, &jobs[2]), Some(State::Ended(_))));
    assert_eq!(ending(&mut runner, &jobs[2]).kind, Kind::Cancelled);
    assert!(!jobs[2].dir.join("cancel").exists(), "the study did not ask");
    // A node that failed.
    cluster.tell(&["stop", "1_3", "NODE_FAIL", ""]);
    cluster.tell(&["set", "1_3", "exit=-11"]);
    eventually("it ends", || matches!(state_of(&mut runner, &jobs[3]), Some(State::Ended(_))));
    cluster.tell(&["set", "1_3", "exit=-11"]);
    assert_eq!(ending(&mut runner, &jobs[3]).kind, Kind::Infrastructure);
    runner.cancel(&jobs[..1]).unwrap();
    assert!(jobs[0].dir.join("cancel").exists(), "this the study asked for");
}

#[test]
fn jobs_that_are_left_are_found_by_their_ids_and_removed() {
    for history in [true, false] {
        let cluster = Cluster::with(json!({ "history": history }));
        let mut runner = cluster.pbs();
        let jobs: Vec<JobRef> =
            cluster.study.attempts(1..4).iter().map(|attempt| accepted(&mut runner, attempt)).collect();
        cluster.tell(&["set", "2", "state=COMPLETED", "exit=0"]);
        let left = runner.left(&jobs).unwrap();
        assert_eq!(left.iter().map(|left| left.job.as_str()).collect::<Vec<_>>(), ["1.fake", "3.fake"]);
        runner.remove(&left).unwrap();
        assert_eq!(runner.left(&jobs).unwrap(), []);
    }
}

#[test]
fn a_rehearsal_submits_a_held_job_and_leaves_nothing() {
    let cluster = Cluster::with(json!({ "run": true }));
    let said = cluster.pbs().rehearse().unwrap();
    assert!(said.contains("took a job of this study, held"), "{said}");
    assert!(cluster.calls()[0].contains(&"-h".to_owned()), "{:?}", cluster.calls());
    assert_eq!(cluster.jobs(), [("tribo-check".to_owned(), "CANCELLED".to_owned())]);
    // The queue is there, as `qstat -Q` says, and takes no jobs, which only a submission shows.
    cluster.settings(json!({ "disabled": true }));
    cluster.pbs().check().unwrap();
    let error = cluster.pbs().rehearse().unwrap_err();
    assert_eq!(error.exit_code(), 3);
    assert!(error.to_string().contains("Queue is not enabled"), "{error}");
    cluster.settings(json!({ "down": true }));
    assert_eq!(cluster.pbs().rehearse().unwrap_err().exit_code(), 8);
    // A job that stays is named.
    cluster.settings(json!({}));
    cluster.faults("qdel", json!([{ "mode": "fail", "stderr": "qdel: Server is busy" }]));
    let error = cluster.pbs().rehearse().unwrap_err().to_string();
    assert!(error.contains("`qdel 2.fake`"), "{error}");
    cluster.settings(json!({ "submit_limit": 0 }));
    assert!(cluster.pbs().rehearse().unwrap().contains("would exceed"));
}

#[test]
fn a_study_in_a_folder_with_an_accent_has_its_logs() {
    let cluster = Cluster::in_folder("Ölwanne", json!({ "run": true }));
    let config = PbsSettings { setup: vec!["echo hello".into()], ..PbsSettings::default() };
    let mut runner = Pbs::new(config, cluster.batch(cluster.commands()));
    let attempts = cluster.study.attempts(0..5);
    let job = accepted(&mut runner, &attempts[4]);
    let outcomes = runner.submit(&attempts[..4]);
    let Submission::Accepted(id) = &outcomes[2] else { panic!("{outcomes:?}") };
    for job in [job, reference(&attempts[2], Some(id))] {
        eventually("it runs", || job.dir.join("started.json").exists());
        let words = runner.last_words(&job).unwrap();
        assert!(words.ends_with("which ends with: hello"), "{words}");
    }
}

#[test]
fn without_pbs_the_message_names_the_program() {
    let cluster = Cluster::new();
    let commands = cluster.commands().in_folder(cluster.study.folder());
    let mut runner = Pbs::new(PbsSettings::default(), cluster.batch(commands));
    let outcome = submit(&mut runner, &cluster.study.attempt(1));
    assert_eq!(outcome, Submission::Unavailable("cannot start qsub: it is not on PATH".into()));
    assert!(runner.check().unwrap_err().to_string().contains("cannot start qstat"));
}
