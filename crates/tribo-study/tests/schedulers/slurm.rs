//! SLURM, by the rows of the fault table that a runner answers for. What a driver makes of it is tested there.

use crate::cluster::Cluster;
use crate::conformance::conforms;
use crate::study::{eventually, reference, sighting_of, state_of};
use serde_json::json;
use std::time::{Duration, Instant};
use tribo_study::job::Kind;
use tribo_study::runner::{Attempt, Ending, JobRef, Left, Runner, State, Submission};
use tribo_study::scheduler::slurm::{Slurm, SlurmSettings};

const TIMED_OUT: &str = "sbatch: error: Batch job submission failed: Socket timed out on send/recv operation";

fn submit(runner: &mut Slurm, attempt: &Attempt) -> Submission {
    runner.submit(std::slice::from_ref(attempt)).pop().unwrap()
}

/// Submits one attempt that is accepted.
fn accepted(runner: &mut Slurm, attempt: &Attempt) -> JobRef {
    match submit(runner, attempt) {
        Submission::Accepted(id) => reference(attempt, Some(&id)),
        other => panic!("{other:?}"),
    }
}

fn ending(runner: &mut Slurm, job: &JobRef) -> Ending {
    match state_of(runner, job) {
        Some(State::Ended(ending)) => ending,
        other => panic!("{other:?}"),
    }
}

#[test]
fn conformance() {
    for run in [false, true] {
        let cluster = Cluster::with(json!({ "run": run }));
        conforms(&mut cluster.slurm(), &cluster.study.attempt(1), &cluster.study.attempt(2));
    }
}

#[test]
fn a_job_runs_and_leaves_its_log_in_its_folder() {
    let cluster = Cluster::with(json!({ "run": true }));
    let attempt = cluster.study.attempt(1);
    let mut runner = cluster.slurm();
    std::fs::write(attempt.dir.join("go"), "").unwrap();
    let job = accepted(&mut runner, &attempt);
    eventually("it ends", || matches!(state_of(&mut runner, &job), Some(State::Ended(_))));
    assert_eq!(ending(&mut runner, &job).kind, Kind::Ok);
    assert!(attempt.dir.join("claim").exists() && attempt.dir.join("job.log").exists());
}

#[test]
fn arrays_are_one_submission_and_their_elements_are_found_by_tag() {
    let cluster = Cluster::with(json!({ "run": true, "max_array_size": 8 }));
    let attempts = cluster.study.attempts(5..25);
    let mut runner = cluster.slurm();
    let outcomes = runner.submit(&attempts);
    // 8 + 8 + 4 elements, one look at the configuration.
    assert_eq!((cluster.called("sbatch"), cluster.called("scontrol"), cluster.jobs().len()), (3, 1, 20));
    assert_eq!(outcomes[9], Submission::Accepted("2_1".into()));
    // Another driver, that knows no ids: every element is found and named alike.
    let mut second = cluster.slurm();
    let jobs: Vec<JobRef> = attempts.iter().map(|attempt| reference(attempt, None)).collect();
    let sightings = second.poll(&jobs).unwrap();
    let ids: Vec<Submission> = sightings.iter().map(|s| Submission::Accepted(s.job.clone())).collect();
    assert_eq!(ids, outcomes);
    assert!(sightings.iter().zip(&attempts).all(|(sighting, attempt)| sighting.id == attempt.id));
    // The elements run in the folders of their attempts.
    eventually("all began", || attempts.iter().all(|attempt| attempt.dir.join("started.json").exists()));
    second.cancel(&jobs).unwrap();
    let ended = |s: &tribo_study::runner::Sighting| matches!(s.state, State::Ended(_));
    eventually("all end", || second.poll(&jobs).unwrap().iter().all(ended));
    assert_eq!(cluster.called("scancel"), 1);
}

#[test]
fn the_steady_state_costs_one_call_a_poll() {
    let cluster = Cluster::new();
    let attempts = cluster.study.attempts(0..500);
    let mut runner = cluster.slurm();
    let outcomes = runner.submit(&attempts);
    let jobs: Vec<JobRef> = attempts
        .iter()
        .zip(&outcomes)
        .map(|(attempt, outcome)| match outcome {
            Submission::Accepted(id) => reference(attempt, Some(id)),
            other => panic!("{other:?}"),
        })
        .collect();
    let before = cluster.calls().len();
    for _ in 0..3 {
        assert_eq!(runner.poll(&jobs).unwrap().len(), 500);
    }
    assert_eq!(cluster.calls().len() - before, 3);
    assert_eq!(runner.counts()["squeue"], 3);
}

#[test]
fn row_03_a_submission_that_was_not_recorded_is_found() {
    let cluster = Cluster::new();
    let attempt = cluster.study.attempt(1);
    let job = accepted(&mut cluster.slurm(), &attempt);
    let seen = sighting_of(&mut cluster.slurm(), &reference(&attempt, None)).unwrap();
    assert_eq!(Some(seen.job), job.job);
    assert_eq!(seen.state, State::Queued(Some("Priority".into())));
    assert_eq!(cluster.jobs().len(), 1);
}

#[test]
fn row_04_a_timeout_after_acceptance_is_ambiguous_and_found_by_tag() {
    let cluster = Cluster::new();
    cluster.faults("sbatch", json!([{ "mode": "fail_accepted", "stderr": TIMED_OUT }]));
    let attempt = cluster.study.attempt(1);
    let mut runner = cluster.slurm();
    let outcome = submit(&mut runner, &attempt);
    assert!(
        matches!(&outcome, Submission::Ambiguous(why) if why.contains("Socket timed out")),
        "{outcome:?}"
    );
    assert_eq!(cluster.called("sbatch"), 1, "not sent again");
    assert_eq!(sighting_of(&mut runner, &reference(&attempt, None)).unwrap().job, "1");
}

#[test]
fn row_05_a_timeout_without_acceptance_is_ambiguous_too() {
    let cluster = Cluster::new();
    cluster.faults("sbatch", json!([{ "mode": "fail", "stderr": TIMED_OUT }]));
    let attempts = cluster.study.attempts(1..4);
    let mut runner = cluster.slurm();
    let outcomes = runner.submit(&attempts);
    assert!(matches!(&outcomes[0], Submission::Ambiguous(_)), "{outcomes:?}");
    // What comes after was certainly not sent.
    assert!(
        outcomes[1..].iter().all(|outcome| matches!(outcome, Submission::Unavailable(_))),
        "{outcomes:?}"
    );
    assert_eq!(sighting_of(&mut runner, &reference(&attempts[0], None)), None);
}

#[test]
fn row_06_a_hanging_submission_is_killed_and_ambiguous() {
    for mode in ["hang", "hang_accepted"] {
        let cluster = Cluster::new();
        cluster.faults("sbatch", json!([{ "mode": mode }]));
        // Long enough for the program to start on a busy machine.
        let commands = cluster.commands().with_limits(Duration::from_secs(5), Duration::from_secs(60));
        let mut runner = Slurm::new(SlurmSettings::default(), cluster.batch(commands));
        let attempt = cluster.study.attempt(1);
        let start = Instant::now();
        let outcome = submit(&mut runner, &attempt);
        assert!(start.elapsed() < Duration::from_secs(60));
        assert!(matches!(&outcome, Submission::Ambiguous(why) if why.contains("5 s")), "{outcome:?}");
        let found = sighting_of(&mut runner, &reference(&attempt, None)).is_some();
        assert_eq!(found, mode == "hang_accepted");
    }
}

#[test]
fn row_07_of_two_copies_the_first_is_kept() {
    let cluster = Cluster::new();
    cluster.faults("sbatch", json!([{ "mode": "twice" }]));
    let attempt = cluster.study.attempt(1);
    let mut runner = cluster.slurm();
    let job = accepted(&mut runner, &attempt);
    assert_eq!(sighting_of(&mut runner, &job).unwrap().job, "1");
    let states: Vec<String> = cluster.jobs().into_iter().map(|(_, state)| state).collect();
    assert_eq!(states, ["PENDING", "CANCELLED"]);
}

#[test]
fn row_07_a_copy_that_runs_is_kept_for_it_holds_the_claim() {
    let cluster = Cluster::new();
    cluster.faults("sbatch", json!([{ "mode": "twice" }]));
    let attempt = cluster.study.attempt(1);
    let mut runner = cluster.slurm();
    let job = accepted(&mut runner, &attempt);
    cluster.tell(&["set", "2", "state=RUNNING"]);
    assert_eq!(sighting_of(&mut runner, &job).unwrap().job, "2");
    let states: Vec<String> = cluster.jobs().into_iter().map(|(_, state)| state).collect();
    assert_eq!(states, ["CANCELLED", "RUNNING"]);
}

#[test]
fn row_08_a_submit_limit_takes_what_it_can_and_says_so() {
    let cluster = Cluster::with(json!({ "submit_limit": 11 }));
    let outcomes = cluster.slurm().submit(&cluster.study.attempts(0..20));
    let accepted = outcomes.iter().filter(|outcome| matches!(outcome, Submission::Accepted(_))).count();
    assert_eq!((accepted, cluster.jobs().len()), (11, 11));
    let limited =
        |outcome: &Submission| matches!(outcome, Submission::Limited(why) if why.contains("QOSMaxSubmit"));
    assert!(outcomes[11..].iter().all(limited), "{outcomes:?}");
    // No busy loop: 20, 10, 10, 5, 1, 1 were tried.
    assert_eq!(cluster.called("sbatch"), 6);
}

#[test]
fn row_09_an_invalid_partition_is_refused_once_and_by_the_check() {
    let cluster = Cluster::with(json!({ "partitions": ["batch"] }));
    let mut runner = cluster.slurm();
    let outcomes = runner.submit(&cluster.study.attempts(0..3));
    let refused = |outcome: &Submission| matches!(outcome, Submission::Refused(why) if why.contains("Invalid partition"));
    assert!(outcomes.iter().all(refused), "{outcomes:?}");
    assert_eq!(cluster.called("sbatch"), 1);
    let error = runner.check().unwrap_err();
    assert!(error.to_string().contains("[run.slurm]"), "{error}");
    assert_eq!(error.exit_code(), 3);
    let config = SlurmSettings { partition: Some("batch".into()), ..SlurmSettings::default() };
    Slurm::new(config, cluster.batch(cluster.commands())).check().unwrap();
    assert!(cluster.jobs().is_empty(), "a check submits nothing");
    let said = cluster.slurm().rehearse();
    assert!(
        matches!(said, Err(tribo_study::Error::Refused { .. })),
        "no partition is none of these: {said:?}"
    );
    cluster.settings(json!({}));
    let said = cluster.slurm().rehearse().unwrap();
    assert_eq!(
        said,
        "slurm would take a job of this study; if submitted now it would start at 2026-11-15T19:03:20"
    );
}

#[test]
fn row_10_banners_and_clusters_in_the_answer() {
    let cluster = Cluster::new();
    cluster.faults(
        "sbatch",
        json!([
            { "mode": "banner", "stdout": "Welcome, 2 messages\n\n" },
            { "mode": "lie", "stdout": "sbatch: charged to p42\n77;alpha\n" },
            { "mode": "lie", "stdout": "Thank you for your submission\n" },
        ]),
    );
    let mut runner = cluster.slurm();
    assert_eq!(submit(&mut runner, &cluster.study.attempt(1)), Submission::Accepted("1".into()));
    assert_eq!(submit(&mut runner, &cluster.study.attempt(2)), Submission::Accepted("77".into()));
    assert!(matches!(submit(&mut runner, &cluster.study.attempt(3)), Submission::Ambiguous(_)));
}

#[test]
fn row_11_a_queue_that_cannot_be_asked_proves_nothing() {
    let cluster = Cluster::new();
    let attempt = cluster.study.attempt(1);
    let commands = cluster.commands().with_limits(Duration::from_secs(60), Duration::from_secs(5));
    let mut runner = Slurm::new(SlurmSettings::default(), cluster.batch(commands));
    let job = accepted(&mut runner, &attempt);
    let message = "slurm_load_jobs error: Unable to contact slurm controller (connect failure)";
    cluster.faults(
        "squeue",
        json!([
            { "mode": "fail", "stderr": message, "times": 2 },
            { "mode": "hang" },
        ]),
    );
    for _ in 0..2 {
        let error = runner.poll(std::slice::from_ref(&job)).unwrap_err();
        assert!(error.to_string().contains("Unable to contact"), "{error}");
    }
    let error = runner.poll(std::slice::from_ref(&job)).unwrap_err();
    assert!(error.to_string().contains("squeue did not answer within 5 s"), "{error}");
    assert!(matches!(state_of(&mut runner, &job), Some(State::Queued(_))));
}

#[test]
fn row_12_an_empty_queue_is_not_an_end() {
    let cluster = Cluster::new();
    let attempt = cluster.study.attempt(1);
    let mut runner = cluster.slurm();
    let job = accepted(&mut runner, &attempt);
    cluster.tell(&["set", "1", "hidden=true"]);
    assert_eq!(sighting_of(&mut runner, &job), None);
    cluster.tell(&["set", "1", "hidden=false"]);
    assert!(matches!(state_of(&mut runner, &job), Some(State::Queued(_))), "it is seen again");
    // If only the list was empty, the controller knows better.
    cluster.faults("squeue", json!([{ "mode": "lie", "stdout": "" }]));
    let mut fresh = cluster.slurm();
    assert!(matches!(state_of(&mut fresh, &job), Some(State::Queued(_))));
}

#[test]
fn row_13_without_accounting_the_controller_is_asked_once() {
    let cluster = Cluster::new();
    cluster.clock(1000.0);
    let attempt = cluster.study.attempt(1);
    let mut runner = cluster.slurm();
    let job = accepted(&mut runner, &attempt);
    cluster.tell(&["set", "1", "state=TIMEOUT", "reason=TimeLimit"]);
    assert_eq!(ending(&mut runner, &job).kind, Kind::Walltime);
    // MinJobAge has passed: nobody knows any more, and nobody is asked again.
    cluster.clock(1301.0);
    for _ in 0..3 {
        assert_eq!(sighting_of(&mut runner, &job), None);
    }
    assert_eq!((cluster.called("sacct"), cluster.called("scontrol")), (1, 1));
}

#[test]
fn row_13_with_accounting_an_end_is_known_for_long() {
    let cluster = Cluster::with(json!({ "accounting": true }));
    cluster.clock(1000.0);
    let attempt = cluster.study.attempt(1);
    let mut runner = cluster.slurm();
    let job = accepted(&mut runner, &attempt);
    cluster.tell(&["set", "1", "state=OUT_OF_MEMORY", "nodes=n3"]);
    cluster.clock(9000.0);
    let end = ending(&mut runner, &job);
    assert_eq!((end.kind, end.host.as_deref()), (Kind::Memory, Some("n3")));
    // By name too, when the id was never recorded.
    assert_eq!(ending(&mut runner, &reference(&attempt, None)).kind, Kind::Memory);
    assert_eq!(cluster.called("scontrol"), 0);
}

#[test]
fn row_14_accounts_that_lag_are_no_evidence() {
    let cluster = Cluster::with(json!({ "accounting": true }));
    let attempt = cluster.study.attempt(1);
    let mut runner = cluster.slurm();
    let job = accepted(&mut runner, &attempt);
    // Gone from the queue, still running by the accounts: perhaps for ever.
    cluster.tell(&["set", "1", "hidden=true", "sacct_state=RUNNING"]);
    assert_eq!(sighting_of(&mut runner, &job), None);
    cluster.tell(&["set", "1", "sacct_hidden=true"]);
    assert_eq!(sighting_of(&mut runner, &job), None);
    cluster.tell(&["set", "1", "sacct_hidden=false", "sacct_state=COMPLETED"]);
    assert_eq!(ending(&mut runner, &job).kind, Kind::Ok);
}

#[test]
fn row_15_a_record_of_another_job_with_the_same_id_is_rejected() {
    let cluster = Cluster::with(json!({ "accounting": true }));
    let attempt = cluster.study.attempt(1);
    let mut runner = cluster.slurm();
    let job = accepted(&mut runner, &attempt);
    cluster.tell(&["set", "1", "hidden=true", "sacct_hidden=true"]);
    cluster.tell(&["add", "id=1", "name=someone-elses", "state=FAILED"]);
    assert_eq!(sighting_of(&mut runner, &job), None);
    // The same in the queue.
    cluster.tell(&["set", "1", "hidden=false", "record_only=false", "name=someone-elses", "comment="]);
    assert_eq!(sighting_of(&mut runner, &job), None);
    assert!(runner.left(&[]).unwrap().is_empty());
}

#[test]
fn row_16_a_job_that_slurm_restarts_stays_queued() {
    let cluster = Cluster::new();
    let attempt = cluster.study.attempt(1);
    let config = SlurmSettings { requeue: true, ..SlurmSettings::default() };
    let mut runner = Slurm::new(config, cluster.batch(cluster.commands()));
    let job = accepted(&mut runner, &attempt);
    assert!(cluster.calls()[0].contains(&"--requeue".to_owned()));
    cluster.tell(&["set", "1", "state=PREEMPTED"]);
    assert_eq!(state_of(&mut runner, &job), Some(State::Queued(Some("preempted".into()))));
    cluster.tell(&["set", "1", "state=PENDING", "reason=BeginTime", "restarts=1"]);
    assert_eq!(state_of(&mut runner, &job), Some(State::Queued(Some("BeginTime".into()))));
}

#[test]
fn rows_17_to_21_ends_are_told_apart() {
    let cluster = Cluster::new();
    let attempt = cluster.study.attempt(1);
    let mut runner = cluster.slurm();
    let job = accepted(&mut runner, &attempt);
    for (row, word, kind, host) in [
        (17, "PREEMPTED", Kind::Infrastructure, None),
        (18, "NODE_FAIL", Kind::Infrastructure, Some("n7")),
        (19, "OUT_OF_MEMORY", Kind::Memory, Some("n7")),
        (20, "TIMEOUT", Kind::Walltime, Some("n7")),
        (21, "CANCELLED", Kind::Cancelled, Some("n7")),
    ] {
        cluster.tell(&["set", "1", &format!("state={word}"), "nodes=n7", "reason=None"]);
        let end = ending(&mut runner, &job);
        assert_eq!((end.kind, end.reason.as_str(), end.host.as_deref()), (kind, word, host), "row {row}");
    }
}

/// A job that really runs, told to stop by the scheduler.
fn stopped(cluster: &Cluster, runner: &mut dyn Runner, job: &JobRef, state: &str, reason: &str) {
    let number = job.job.as_deref().unwrap_or_default();
    eventually("it runs", || job.dir.join("started.json").exists());
    assert_eq!(state_of(runner, job), Some(State::Running));
    cluster.tell(&["stop", number, state, reason]);
    eventually("it was told", || job.dir.join("stopped").exists());
    assert!(!job.dir.join("cancel").exists(), "the study did not ask");
}

#[test]
fn rows_16_to_18_a_job_told_to_stop_by_the_scheduler() {
    for (state, reason, kind) in [
        ("PREEMPTED", "None", Kind::Infrastructure),
        ("NODE_FAIL", "NodeDown", Kind::Infrastructure),
        ("CANCELLED", "None", Kind::Cancelled),
    ] {
        let cluster = Cluster::with(json!({ "run": true }));
        let mut runner = cluster.slurm();
        let job = accepted(&mut runner, &cluster.study.attempt(1));
        stopped(&cluster, &mut runner, &job, state, reason);
        eventually("it ends", || matches!(state_of(&mut runner, &job), Some(State::Ended(_))));
        assert_eq!(ending(&mut runner, &job).kind, kind, "{state}");
    }
    let cluster = Cluster::with(json!({ "run": true }));
    let mut runner = cluster.slurm();
    let job = accepted(&mut runner, &cluster.study.attempt(1));
    stopped(&cluster, &mut runner, &job, "PENDING", "BeginTime");
    let waits = State::Queued(Some("BeginTime".into()));
    eventually("it waits again", || state_of(&mut runner, &job) == Some(waits.clone()));
    cluster.tell(&["set", "1", "start=true"]);
    eventually("it ran again", || matches!(state_of(&mut runner, &job), Some(State::Ended(_))));
    assert_eq!(cluster.jobs().len(), 1, "under the same id");
}

#[test]
fn a_cancelled_job_knows_that_the_study_asked() {
    let cluster = Cluster::with(json!({ "run": true }));
    let mut runner = cluster.slurm();
    let job = accepted(&mut runner, &cluster.study.attempt(1));
    eventually("it runs", || job.dir.join("started.json").exists());
    runner.cancel(std::slice::from_ref(&job)).unwrap();
    assert!(job.dir.join("cancel").exists());
}

#[test]
fn row_18_hosts_that_failed_are_avoided() {
    let cluster = Cluster::new();
    let attempt = Attempt { avoid: vec!["n7".into(), "n9".into()], ..cluster.study.attempt(1) };
    accepted(&mut cluster.slurm(), &attempt);
    assert!(cluster.calls()[0].contains(&"--exclude=n7,n9".to_owned()), "{:?}", cluster.calls());
}

#[test]
fn row_22_a_held_job_says_why() {
    let cluster = Cluster::new();
    let attempt = cluster.study.attempt(1);
    let mut runner = cluster.slurm();
    let job = accepted(&mut runner, &attempt);
    cluster.tell(&["set", "1", "reason=JobHeldAdmin"]);
    assert_eq!(state_of(&mut runner, &job), Some(State::Held("JobHeldAdmin".into())));
}

#[test]
fn row_23_a_job_that_could_not_begin_is_told_from_one_that_failed() {
    let cluster = Cluster::new();
    let attempt = cluster.study.attempt(1);
    let mut runner = cluster.slurm();
    let job = accepted(&mut runner, &attempt);
    cluster.tell(&["set", "1", "state=FAILED", "reason=NonZeroExitCode"]);
    assert_eq!(ending(&mut runner, &job).kind, Kind::Unstarted);
    std::fs::write(attempt.dir.join("claim"), "").unwrap();
    assert_eq!(ending(&mut cluster.slurm(), &job).kind, Kind::Failed);
}

#[test]
fn the_signal_that_ended_a_job_is_told() {
    for accounting in [true, false] {
        let cluster = Cluster::with(json!({ "accounting": accounting }));
        let attempt = cluster.study.attempt(1);
        std::fs::write(attempt.dir.join("claim"), "").unwrap();
        let mut runner = cluster.slurm();
        let job = accepted(&mut runner, &attempt);
        cluster.tell(&["set", "1", "state=FAILED", "reason=None", "exit_code=0:9"]);
        assert_eq!(ending(&mut runner, &job).reason, "FAILED (killed by signal 9)");
        let calls = cluster.calls().len();
        ending(&mut runner, &job);
        assert_eq!(cluster.calls().len() - calls, 1, "asked about once");
    }
}

#[test]
fn a_job_that_did_not_begin_leaves_its_last_words() {
    let cluster = Cluster::with(json!({ "run": true }));
    let config =
        SlurmSettings { setup: vec!["echo no licence >&2; exit 3".into()], ..SlurmSettings::default() };
    let mut runner = Slurm::new(config, cluster.batch(cluster.commands()));
    let attempts = cluster.study.attempts(0..5);
    let job = accepted(&mut runner, &attempts[4]);
    let outcomes = runner.submit(&attempts[..4]);
    let Submission::Accepted(id) = &outcomes[2] else { panic!("{outcomes:?}") };
    for job in [job, reference(&attempts[2], Some(id))] {
        eventually("it ends", || matches!(state_of(&mut runner, &job), Some(State::Ended(_))));
        assert_eq!(ending(&mut runner, &job).kind, Kind::Unstarted);
        let words = runner.last_words(&job).unwrap();
        assert!(words.contains(".log, which ends with: no licence"), "{words}");
    }
}

#[test]
fn row_42_a_controller_that_is_down_was_sent_nothing() {
    let cluster = Cluster::with(json!({ "down": true }));
    let attempts = cluster.study.attempts(0..6);
    let mut runner = cluster.slurm();
    let outcomes = runner.submit(&attempts);
    assert!(outcomes.iter().all(|outcome| matches!(outcome, Submission::Unavailable(_))), "{outcomes:?}");
    assert_eq!(cluster.called("sbatch"), 1);
    assert!(runner.cancel(&[reference(&attempts[0], Some("1"))]).is_err());
    assert_eq!(runner.check().unwrap_err().exit_code(), 8);
    cluster.settings(json!({}));
    assert!(matches!(submit(&mut runner, &attempts[0]), Submission::Accepted(_)));
}

#[test]
fn without_slurm_the_message_names_the_program() {
    let cluster = Cluster::new();
    let commands = cluster.commands().in_folder(cluster.study.folder());
    let mut runner = Slurm::new(SlurmSettings::default(), cluster.batch(commands));
    let outcome = submit(&mut runner, &cluster.study.attempt(1));
    let expected = "cannot start sbatch: it is not on PATH";
    assert_eq!(outcome, Submission::Unavailable(expected.into()));
    assert!(runner.poll(&[]).unwrap_err().to_string().contains("cannot start squeue"));
    assert!(runner.check().unwrap_err().to_string().contains(expected));
}

#[test]
fn jobs_of_the_study_that_nobody_knows_are_found_and_removed() {
    let cluster = Cluster::new();
    let (known, forgotten) = (cluster.study.attempt(1), cluster.study.attempt(2));
    let mut runner = cluster.slurm();
    let job = accepted(&mut runner, &known);
    accepted(&mut runner, &forgotten);
    runner.poll(std::slice::from_ref(&job)).unwrap();
    assert!(cluster.jobs().iter().all(|(_, state)| state == "PENDING"), "a poll leaves them alone");
    cluster.tell(&["set", "1", "state=COMPLETED"]);
    let left = runner.left(&[]).unwrap();
    assert_eq!(left, [Left { job: "2".into(), name: forgotten.tag.to_string() }]);
    runner.remove(&left).unwrap();
    assert_eq!(runner.left(&[]).unwrap(), []);
    cluster.settings(json!({ "down": true }));
    assert!(runner.left(&[]).is_err() && runner.remove(&left).is_err());
}
