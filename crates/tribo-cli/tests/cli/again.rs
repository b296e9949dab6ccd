//! Evaluations that wait for something, trials that are run again, and outcomes that are corrected.

use crate::support::{Folder, SQUARE, with_command};

/// A study that fails unless there is a file `licence` in its folder.
fn licensed(exit_code: u8) -> Folder {
    let command = format!(
        r#"'[ -e "$TRIBO_STUDY_DIR/licence" ] || exit {exit_code}; echo "$TRIBO_X_X"'
result = "stdout"
retry_delay = "0.2s"
retries = 2"#
    );
    Folder::with(&with_command(&command))
}

#[test]
fn without_a_licence_nothing_is_spent_and_with_it_the_study_goes_on() {
    let folder = licensed(75);
    let begun = std::time::Instant::now();
    folder.tribo(["run"]).code(6).says("exit code 75").says("it is tried again in 0.2 s");
    // Two waits each, of 0.2 and 0.4 s give or take a fifth, by at least three pairs of trials.
    assert!(begun.elapsed().as_secs_f64() > 3.0 * 0.48, "{:?}", begun.elapsed());
    let status = folder.tribo(["status"]).code(0).prints("0 of 6 done").prints("lost");
    assert!(status.stdout.contains("0 with a value, 5 lost"), "{status:?}");
    folder.write("licence", "");
    folder.tribo(["run"]).code(0);
    let counts = &folder.tribo(["status", "--json"]).code(0).json()["counts"];
    assert_eq!((counts["measured"].as_u64(), counts["failed"].as_u64()), (Some(6), Some(0)), "{counts}");
    assert!(counts["lost"].as_u64() >= Some(5), "{counts}");
}

#[test]
fn failed_trials_are_run_again() {
    let folder = licensed(1);
    folder.tribo(["retry", "--failed"]).code(2).says("has not begun");
    folder.tribo(["run"]).code(6).says("exit code 1");
    let failed = folder.tribo(["status", "--json"]).json()["counts"]["failed"].as_u64().unwrap();
    assert!(failed >= 5);
    folder.write("licence", "");
    folder.tribo(["retry"]).code(2).says("name the trials");
    folder.tribo(["retry", "77"]).code(2).says("there is no trial 77");
    folder.tribo(["retry", "0"]).code(0).says("1 trial to be evaluated again").says("`tribo run`");
    folder.tribo(["retry", "0"]).code(2).says("trial 0 is not over yet");
    folder.tribo(["retry", "--failed"]).code(0).says("trials to be evaluated again");
    folder.tribo(["run"]).code(0);
    let counts = &folder.tribo(["status", "--json"]).code(0).json()["counts"];
    assert_eq!((counts["measured"].as_u64(), counts["failed"].as_u64()), (Some(6), Some(0)), "{counts}");
    let one = folder.tribo(["trials", "--trial", "0"]).code(0);
    one.prints("attempt 1: failed").prints("attempt 2: ok");
    folder.tribo(["retry", "--failed"]).code(0).says("no trial has failed");
    folder.tribo(["retry", "0"]).code(2).says("`tribo tell 0 VALUE --replace` corrects it");
}

#[test]
fn a_driver_at_work_is_asked_to_run_a_trial_again() {
    let command = r#"'[ "$TRIBO_TRIAL.$TRIBO_ATTEMPT" = 0.1 ] && exit 1; [ -e "$TRIBO_STUDY_DIR/go" ] || sleep 1; echo "$TRIBO_X_X"'
result = "stdout""#;
    let folder = Folder::with(&with_command(command));
    let run = folder.start(["run"]);
    folder.await_status(|status| status["counts"]["failed"] == 1);
    folder.tribo(["retry", "0"]).code(0).says("is asked to run 1 trial again");
    folder.write("go", "");
    run.wait_in_time().code(0);
    let counts = &folder.tribo(["status", "--json"]).code(0).json()["counts"];
    assert_eq!((counts["measured"].as_u64(), counts["failed"].as_u64()), (Some(6), Some(0)), "{counts}");
    folder.tribo(["trials", "--trial", "0"]).code(0).prints("attempt 2: ok");
}

#[test]
fn a_wrong_value_is_replaced_and_an_accident_is_told_as_one() {
    let folder = Folder::with(SQUARE.split_once("[run]").unwrap().0);
    folder.tribo(["ask", "-n", "4"]).code(0);
    folder.tribo(["tell", "0", "-7"]).code(0);
    folder.tribo(["tell", "1", "-1e-3"]).code(0);
    folder.tribo(["tell", "2", "--lost", "no licence"]).code(0);
    folder.tribo(["tell", "3", "5", "--replace"]).code(2).says("no outcome that could be replaced");
    folder.tribo(["tell", "0", "7"]).code(2).says("the value -7.0").says("--replace");
    folder.tribo(["tell", "0", "7", "--replace"]).code(0).says("a new chapter begins");
    folder.tribo(["tell", "0", "7", "--replace"]).code(0).says("nothing changed");
    let best = folder.tribo(["best", "--json"]).code(0).json();
    assert_eq!((&best["best"][0]["trial"], &best["best"][0]["value"]), (&1.into(), &(-0.001).into()));
    folder.tribo(["trials"]).code(0).prints("lost: no licence");
    // The lost one gives its evaluation back: six are left of which one is asked already.
    let rest = folder.tribo(["ask", "-n", "9"]).code(0).json();
    assert_eq!(rest["trials"].as_array().unwrap().len(), 3);
    folder.tribo(["retry", "2"]).code(0).says("`tribo tell 2 VALUE`");
    folder.tribo(["tell", "2", "0.5"]).code(0);
}
