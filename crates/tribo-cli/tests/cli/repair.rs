//! A damaged store: what `tribo repair` makes of it, and that `tribo run` goes on whatever was done to the journal.

use crate::support::Folder;
use std::fs;

/// Points and values by trial.
fn trials(folder: &Folder) -> Vec<(String, String)> {
    let listed = folder.tribo(["trials", "--json"]).code(0).json();
    let trials = listed["trials"].as_array().unwrap().iter();
    trials.map(|trial| (trial["params"].to_string(), trial["value"].to_string())).collect()
}

/// Cuts the journal after so many records, as one might do by hand.
fn cut(folder: &Folder, records: usize) {
    let path = folder.path().join("study.tribo/journal");
    let text = fs::read_to_string(&path).unwrap();
    let kept: String = text.lines().take(records).flat_map(|line| [line, "\n"]).collect();
    fs::write(&path, kept).unwrap();
}

#[test]
fn a_study_whose_journal_was_cut_by_hand_runs_to_its_end() {
    for records in [2, 5, 9, 15] {
        let folder = Folder::finished();
        cut(&folder, records);
        folder.start(["run"]).wait_in_time().code(0).prints("best ");
        assert_eq!(trials(&folder).len(), 6);
    }
}
