//! `tribo ask`, `tell` and `cancel`.

use crate::support::{Folder, SQUARE};

/// The study without a way to evaluate points.
fn by_hand() -> Folder {
    Folder::with(SQUARE.split_once("[run]").unwrap().0)
}

#[test]
fn points_are_asked_for_and_told() {
    let folder = by_hand();
    let asked = folder.tribo(["ask", "-n", "3"]).code(0).json();
    let trials = asked["trials"].as_array().unwrap();
    assert_eq!(trials.iter().map(|trial| trial["trial"].as_u64().unwrap()).collect::<Vec<_>>(), [0, 1, 2]);
    folder.tribo(["tell", "0", "-1.5"]).code(0);
    folder.tribo(["tell", ".", "1", "--failed", "mesh collapsed"]).code(0);
    folder.tribo(["tell", "2", "--infeasible"]).code(0);
    let best = folder.tribo(["best", "--json"]).code(0).json();
    assert_eq!(best["best"][0]["params"], trials[0]["params"]);
    folder.tribo(["trials"]).code(0).prints("mesh collapsed").prints("infeasible");
    folder.tribo(["run"]).code(2).says("no section [run]");
    // Six evaluations are all there are.
    let rest = folder.tribo(["ask", "-n", "9"]).code(0).says("3 of 9: there are no more points").json();
    assert_eq!(rest["trials"].as_array().unwrap().len(), 3);
    folder.tribo(["ask"]).code(2).says("the budget of 6 evaluations is spent");
}

#[test]
fn telling_again_changes_nothing() {
    let folder = by_hand();
    folder.tribo(["ask"]).code(0);
    folder.tribo(["tell", "0", "2"]).code(0).says("is told");
    folder.tribo(["tell", "0", "2.0"]).code(0).says("nothing changed");
    folder.tribo(["tell", "0", "3"]).code(2).says("the value 2.0; if that is wrong, replace it");
    folder.tribo(["tell", "0", "--infeasible"]).code(2).says("--replace");
    assert_eq!(folder.tribo(["best", "--json"]).json()["best"][0]["value"], 2.0);
}

#[test]
fn what_cannot_be_told_is_refused() {
    let folder = by_hand();
    folder.tribo(["tell", "0", "1"]).code(2).says("this study has not begun");
    folder.tribo(["ask"]).code(0);
    for (words, part) in [
        (&["tell", "7", "1"][..], "there is no trial 7"),
        (&["tell", "0", "nan"], "not a finite number"),
        (&["tell", "0"], "say what came of trial 0"),
        (&["tell", "0", "1", "--infeasible"], "say what came of trial 0"),
        (&["tell", ".", "first", "1"], "not the number of a trial"),
        (&["cancel"], "--all"),
        (&["cancel", "7"], "there is no trial 7"),
    ] {
        folder.tribo(words).code(2).says(part);
    }
    folder.tribo(["cancel", "0"]).code(0);
    folder.tribo(["trials"]).code(0).prints("cancelled: on request");
    folder.tribo(["cancel", "0"]).code(0).says("is over already");
    folder.tribo(["cancel", "--all"]).code(0).says("nothing is under way");
}

#[test]
fn a_running_driver_is_asked_to_cancel() {
    let folder = Folder::with(&SQUARE.replace("command = '", "command = 'sleep 60; "));
    let running = folder.start(["run"]);
    folder.await_status(|status| status["counts"]["running"] == 2);
    folder.tribo(["tell", "0", "1"]).code(4).says("is in use");
    folder.tribo(["cancel", "0"]).code(0).says("is asked to");
    folder.await_status(|status| status["counts"]["failed"] == 1);
    folder.tribo(["cancel", "--all"]).code(0);
    running.wait().code(130);
    assert_eq!(folder.tribo(["status", "--json"]).json()["counts"]["failed"], 1);
}

#[test]
fn without_a_driver_evaluations_are_cancelled_all_the_same() {
    let folder = Folder::with(&SQUARE.replace("command = '", "command = 'sleep 60; "));
    let running = folder.start(["run"]);
    folder.await_status(|status| status["counts"]["running"] == 2);
    running.signal("KILL");
    running.wait();
    folder.tribo(["tell", "0", "1"]).code(2).says("is being evaluated");
    folder.tribo(["cancel", "0"]).code(0).says("done");
    folder.tribo(["cancel", "--all"]).code(0).says("1 evaluation cancelled");
    let status = folder.tribo(["status", "--json"]).json();
    assert_eq!(
        (&status["counts"]["failed"], &status["counts"]["running"]),
        (&1.into(), &0.into()),
        "{status}"
    );
}
