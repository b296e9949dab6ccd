//! `tribo run`: to the end, in pieces, and not at all.

use crate::support::{Folder, SQUARE, with_command};

#[test]
fn a_study_runs_to_its_end() {
    let folder = Folder::with(SQUARE);
    let first = folder.tribo(["run"]).code(0).says("the evaluations are spent: 6 trials").prints("best ");
    assert!(first.stdout.contains("\n  x  "), "{first:?}");
    // The same command again finds nothing to do, and the same best point.
    let second = folder.tribo(["run"]).code(0);
    assert_eq!(first.stdout, second.stdout);
}

#[test]
fn a_larger_budget_goes_on() {
    let study = SQUARE.replace("[budget]", "[strategy]\nname = \"bo\"\n\n[budget]");
    let folder = Folder::with(&study);
    folder.tribo(["run"]).code(0);
    folder.write("study.toml", &study.replace("evaluations = 6", "evaluations = 8"));
    folder.tribo(["run"]).code(0).says("6 done before").says("8 trials");
}

#[test]
fn a_simulated_study_takes_no_time() {
    let (head, _) = SQUARE.split_once("[run]").unwrap();
    let run = "[run]\non = \"simulated\"\nworkers = 3\n\n[run.simulated]\nproblem = \"sphere\"\n";
    let folder = Folder::with(&format!("{head}{run}"));
    folder.tribo(["check"]).code(0).says("simulated: sphere");
    folder.tribo(["run"]).code(0).prints("best ");
    let trials = folder.tribo(["trials", "--json"]).json();
    assert!(
        trials["trials"][0]["wall_s"].as_f64() > Some(60.0),
        "half an hour or more, it pretends: {trials}"
    );
}

#[test]
fn programs_get_events() {
    let folder = Folder::with(SQUARE);
    let done = folder.tribo(["run", "--json"]).code(0);
    let events: Vec<serde_json::Value> =
        done.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let names: Vec<&str> = events.iter().map(|event| event["event"].as_str().unwrap()).collect();
    assert_eq!(names.first(), Some(&"opened"));
    assert_eq!(names.iter().filter(|name| **name == "told").count(), 6);
    assert_eq!(names[names.len() - 2..], ["finished", "best"]);
    assert!(events[events.len() - 1]["params"]["x"].is_number());
}

#[test]
fn a_quiet_run_prints_the_best_point_only() {
    let done = Folder::with(SQUARE).tribo(["run", "--quiet"]).code(0).prints("best ");
    assert_eq!(done.stderr, "");
}

#[test]
fn too_many_failures_stop_a_study() {
    let folder = Folder::with(&with_command(r#"'echo "no licence" >&2; exit 1'"#).replace("= 6", "= 50"));
    folder.tribo(["run"]).code(6).says("in a row failed").says("tribo check");
    folder.tribo(["best"]).code(5).says("no trial has a value");
    folder.tribo(["status"]).code(0).prints("failures").prints("/stderr").prints("warning: all ");
}

#[test]
fn a_budget_spent_without_a_value_is_said() {
    let folder = Folder::with(&with_command("'exit 65'"));
    folder.tribo(["run"]).code(5).says("no evaluation has given a value");
}

#[test]
fn an_interrupted_study_goes_on() {
    let folder = Folder::with(&SQUARE.replace("command = '", "command = 'sleep 0.5; "));
    let running = folder.start(["run"]);
    folder.await_status(|status| status["counts"]["measured"].as_u64() >= Some(1));
    running.signal("INT");
    running.wait().code(130).says("stopping when").says("`tribo run` goes on");
    folder.tribo(["status"]).code(0).prints("stopped");
    folder.tribo(["run"]).code(0).says("done before");
    assert_eq!(folder.tribo(["trials", "--json"]).json()["trials"].as_array().unwrap().len(), 6);
}

#[test]
fn two_interruptions_cancel() {
    let folder = Folder::with(&SQUARE.replace("command = '", "command = 'sleep 60; "));
    let running = folder.start(["run"]);
    folder.await_status(|status| status["counts"]["running"] == 2);
    running.interrupt_twice();
    running.wait().code(130).says("cancel");
    folder.write("study.toml", SQUARE);
    folder.tribo(["run"]).code(0);
}

#[test]
fn evaluations_outlive_a_terminated_driver() {
    let folder = Folder::with(&SQUARE.replace("command = '", "command = 'sleep 2; "));
    let running = folder.start(["run"]);
    folder.await_status(|status| status["counts"]["running"] == 2);
    running.signal("TERM");
    running.wait().code(143).says("go on");
    folder.tribo(["status"]).code(0).prints("may be under way and no driver");
    let done = folder.tribo(["run", "--workers", "4"]).code(0).says("2 evaluations under way taken over");
    assert!(done.stdout.starts_with("best "));
    let trials = folder.tribo(["trials", "--json"]).json();
    assert!(trials["trials"].as_array().unwrap().iter().all(|trial| trial["attempts"] == 1), "{trials}");
}

#[test]
fn what_a_terminal_would_obey_in_the_words_of_a_solver_is_shown() {
    let command = r#"'printf "\033[31mred" >&2; exit 3'"#;
    let done = Folder::with(&with_command(command)).tribo(["run"]).code(6).says("\\u{1b}[31mred");
    assert!(!done.stderr.contains('\u{1b}'), "{done:?}");
}
