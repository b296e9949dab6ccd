//! Studies of earlier versions go on. The journals are real ones, as those versions wrote them.

use crate::support::Folder;

/// 200 inputs that all act alike, searched in bins after the line: bins begin without what was measured before them, and a
/// version that gave it to them refused the trials that were decided on less.
const AFTER_THE_LINE: &str = include_str!("../data/after-the-line-0.1.0.journal");

/// A folder with the study of a journal.
fn study(journal: &str) -> Folder {
    let first = journal.lines().next().and_then(|line| line.splitn(3, ' ').nth(2)).expect("a record");
    let created: serde_json::Value = serde_json::from_str(first).expect("JSON");
    let folder = Folder::with(created["config"].as_str().expect("a study file"));
    folder.write("study.tribo/journal", journal);
    folder
}

#[test]
fn a_study_of_200_inputs_is_repaired_and_goes_on() {
    let values = |folder: &Folder| {
        let listed = folder.tribo(["trials", "--json"]).code(0).json();
        let trials = listed["trials"].as_array().unwrap().iter();
        trials.filter(|trial| trial["value"].is_number()).count()
    };
    let folder = study(AFTER_THE_LINE);
    let before = values(&folder);
    let lines: Vec<&str> = AFTER_THE_LINE.lines().collect();
    for record in (2..lines.len()).step_by(45) {
        let mut damaged = lines.clone();
        damaged[record] = "damaged";
        folder.write("study.tribo/journal", &(damaged.join("\n") + "\n"));
        folder.tribo(["repair"]).code(0).prints("journal.damaged-");
        assert!(values(&folder) + 1 >= before, "record {record}, {}", lines[record]);
        folder.tribo(["ask"]).code(0);
    }
}

#[test]
fn a_study_in_bins_after_the_line_goes_on() {
    let folder = study(AFTER_THE_LINE);
    folder.tribo(["inputs"]).code(0).prints("moving all inputs together ends at");
    let asked = folder.tribo(["ask"]).code(0).json();
    assert_eq!(asked["trials"][0]["trial"], 54, "{asked}");
}
