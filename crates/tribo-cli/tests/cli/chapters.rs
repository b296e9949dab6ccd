//! Studies that are changed half-way, with the program.

use super::support::{Folder, SQUARE};

#[test]
fn a_new_chapter_goes_on_with_all_results() {
    let folder = Folder::finished();
    let best = |folder: &Folder| {
        folder.tribo(["best", "--json"]).code(0).json()["best"][0]["value"].as_f64().unwrap()
    };
    let before = best(&folder);
    folder.write(
        "study.toml",
        &SQUARE.replace("high = 1.0", "high = 0.5").replace("evaluations = 6", "evaluations = 9"),
    );
    let done = folder
        .tribo(["run", "--new-chapter"])
        .code(0)
        .says("chapter 2 begins (parameter `x`: high 1 -> 0.5)");
    assert!(done.stderr.contains("known to it"), "{done:?}");
    assert!(best(&folder) <= before);
    let status = folder.tribo(["status", "--json"]).code(0).json();
    assert_eq!((&status["chapters"], &status["counts"]["measured"]), (&2.into(), &9.into()));
    folder.tribo(["status"]).code(0).prints("chapter   2, which began with trial 6");
    // Nothing is confirmed twice: the same file is that of the study now.
    folder.tribo(["run"]).code(0);
    folder.tribo(["run", "--new-chapter"]).code(0);
    assert_eq!(folder.tribo(["status", "--json"]).json()["chapters"], 2);
    // Two parameters, and what was evaluated without the second.
    let two = SQUARE
        .replace("high = 1.0", "high = 0.5")
        .replace("evaluations = 6", "evaluations = 12")
        .replace("[budget]", "[[parameter]]\nname = \"y\"\ntype = \"float\"\nlow = 0\nhigh = 2\n\n[budget]");
    folder.write("study.toml", &two);
    folder.tribo(["run", "--new-chapter"]).code(3).says("parameter `y` is new").says("`earlier = ...`");
    folder.write("study.toml", &two.replace("low = 0\nhigh = 2\n", "low = 0\nhigh = 2\nearlier = 1.5\n"));
    folder.tribo(["run", "--new-chapter"]).code(0).says("chapter 3 begins");
    let table = folder.tribo(["export", "--format", "csv"]).code(0).stdout;
    let rows: Vec<Vec<&str>> = table.lines().map(|row| row.split(',').collect()).collect();
    assert_eq!((rows.len(), &rows[0][3..5], rows[1][4]), (13, &["x", "y"][..], "1.5"));
    let rows = folder.tribo(["trials", "--json"]).code(0).json()["trials"].clone();
    assert!(rows[0]["params"]["y"].is_null() && rows[11]["params"]["y"].is_f64(), "{rows}");
}

#[test]
fn jobs_under_way_are_told_in_the_next_chapter() {
    // Evaluations wait for a file.
    let slow = SQUARE.replace(
        "command = 'awk",
        "command = 'while ! [ -e \"$TRIBO_STUDY_DIR/go\" ]; do sleep 0.1; done; awk",
    );
    let folder = Folder::with(&slow);
    let driver = folder.start(["run"]);
    folder.await_status(|status| status["counts"]["running"] == 2);
    driver.signal("KILL");
    driver.wait();
    folder.write("study.toml", &slow.replace("high = 1.0", "high = 1.5"));
    folder.write("go", "");
    folder.tribo(["run", "--new-chapter"]).code(0).says("2 evaluations under way");
    let status = folder.tribo(["status", "--json"]).json();
    assert_eq!(
        (&status["counts"]["measured"], &status["counts"]["failed"]),
        (&6.into(), &0.into()),
        "{status}"
    );
}
