//! A damaged store: what `tribo repair` makes of it, and that `tribo run` goes on whatever was done to the journal.

use crate::support::{Folder, SQUARE};
use std::fs;
use std::path::PathBuf;

/// Points and values by trial.
fn trials(folder: &Folder) -> Vec<(String, String)> {
    let listed = folder.tribo(["trials", "--json"]).code(0).json();
    let trials = listed["trials"].as_array().unwrap().iter();
    trials.map(|trial| (trial["params"].to_string(), trial["value"].to_string())).collect()
}

fn journal(folder: &Folder) -> PathBuf {
    folder.path().join("study.tribo/journal")
}

fn lines(folder: &Folder) -> Vec<String> {
    fs::read_to_string(journal(folder)).unwrap().lines().map(|line| format!("{line}\n")).collect()
}

#[test]
fn a_study_whose_journal_was_cut_by_hand_runs_to_its_end() {
    for records in [2, 5, 9, 15] {
        let folder = Folder::finished();
        fs::write(journal(&folder), lines(&folder)[..records].concat()).unwrap();
        folder.start(["run"]).wait_in_time().code(0).prints("best ");
        assert_eq!(trials(&folder).len(), 6);
    }
}

#[test]
fn what_was_cut_off_comes_back() {
    // Working directories that stay, and those that go: answers are in the spool too.
    for keep in ["all", "failed"] {
        let study = format!("{SQUARE}keep = \"{keep}\"\n")
            .replace("[budget]", "[strategy]\nname = \"bo\"\ninitial = 3\n\n[budget]")
            .replace("= 6", "= 12");
        let whole = Folder::with(&study.replace("workers = 2", "workers = 1"));
        whole.tribo(["run"]).code(0);
        let before = trials(&whole);
        let all = lines(&whole);
        for records in (1..all.len()).step_by(7) {
            fs::write(journal(&whole), all[..records].concat()).unwrap();
            let done = whole.tribo(["repair"]).code(0);
            assert!(!done.stdout.contains("lost: "), "{records} records: {done:?}");
            let done = whole.start(["run"]).wait_in_time().code(0);
            assert_eq!(trials(&whole), before, "{records} records: {done:?}");
            whole.tribo(["repair"]).code(0).prints("nothing to repair");
        }
    }
}

#[test]
fn no_measured_value_is_lost_whatever_its_trial() {
    // Evaluations so short that the order of answers cannot be told from the times of files.
    let study = SQUARE
        .replace("[budget]", "[strategy]\nname = \"bo\"\ninitial = 3\n\n[budget]")
        .replace("= 6", "= 12");
    for records in [1, 20, 33] {
        let folder = Folder::with(&study.replace("workers = 2", "workers = 4"));
        folder.tribo(["run"]).code(0);
        let before = trials(&folder);
        fs::write(journal(&folder), lines(&folder)[..records].concat()).unwrap();
        folder.tribo(["repair"]).code(0);
        folder.start(["run"]).wait_in_time().code(0);
        let after = trials(&folder);
        assert!(before.iter().all(|trial| after.contains(trial)), "{before:?} {after:?}");
    }
}

#[test]
fn damage_in_the_middle_costs_no_result() {
    let folder = Folder::finished();
    let before = trials(&folder);
    let all = lines(&folder);
    for record in 0..all.len() {
        let damaged = all[record].replacen("\":", "\";", 1);
        let bytes = [all[..record].concat(), damaged, all[record + 1..].concat()].concat();
        fs::write(journal(&folder), &bytes).unwrap();
        if record + 1 < all.len() {
            folder.tribo(["status"]).code(4).says("`tribo repair`");
        }
        let done = folder.tribo(["repair"]).code(0).prints("is damaged at byte").prints("journal.damaged-");
        let copy = format!("study.tribo/journal.damaged-{}", record + 1);
        assert_eq!(folder.read(&copy), bytes, "the copy of damage {record}");
        folder.tribo(["status"]).code(0);
        let again = folder.start(["run"]).wait_in_time().code(0);
        assert_eq!(trials(&folder), before, "record {record}, {}: {done:?}, {again:?}", all[record]);
    }
}

#[test]
fn a_missing_study_file_is_written_again() {
    let folder = Folder::finished();
    fs::remove_file(folder.path().join("study.toml")).unwrap();
    folder.tribo(["run"]).code(2).says("`tribo repair");
    folder.tribo(["status"]).code(0).prints("`tribo repair");
    folder.tribo(["repair"]).code(0).prints("study.toml was missing and is written again");
    assert_eq!(folder.read("study.toml"), SQUARE);
    folder.tribo(["run"]).code(0);
    folder.tribo(["repair"]).code(0).prints("nothing to repair");
}

#[test]
fn a_study_in_use_is_not_repaired() {
    let folder = Folder::with(&SQUARE.replace("command = '", "command = 'sleep 60; "));
    folder.tribo(["repair"]).code(2).says("this study has not begun");
    let first = folder.start(["run"]);
    folder.await_status(|status| status["counts"]["running"] == 2);
    folder.tribo(["repair"]).code(4).says("is in use by process");
    first.interrupt_twice();
    first.wait().code(130);
}

#[test]
fn evaluations_under_way_are_taken_up() {
    let folder = Folder::with(&SQUARE.replace("command = '", "command = 'sleep 2; "));
    let running = folder.start(["run"]);
    folder.await_status(|status| status["counts"]["running"] == 2);
    running.signal("TERM");
    running.wait().code(143);
    let all = lines(&folder);
    fs::write(journal(&folder), all[..2].concat()).unwrap();
    folder.tribo(["repair"]).code(0).prints("2 lost trials asked again, at the same points");
    folder.start(["run"]).wait_in_time().code(0).says("2 evaluations under way taken over");
    let listed = folder.tribo(["trials", "--json"]).json();
    assert!(listed["trials"].as_array().unwrap().iter().all(|trial| trial["attempts"] == 1), "{listed}");
}
