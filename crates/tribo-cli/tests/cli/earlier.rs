//! Studies of earlier versions go on. The journals are real ones, as those versions wrote them.

use crate::support::Folder;

/// 200 inputs that all act alike, searched in bins after the line: bins begin without what was measured before them, and a
/// version that gave it to them refused the trials that were decided on less.
const AFTER_THE_LINE: &str = include_str!("../data/after-the-line-0.1.0.journal");

/// One input, three outputs, of which one is missing in four trials of six. The first journal of format 2.0.
const OUTPUTS: &str = include_str!("../data/outputs-2.0.journal");

/// A folder with a journal, and the study file that it begins with, changed.
fn folder_of(journal: &str, change: impl Fn(&str) -> String) -> Folder {
    let first = journal.lines().next().and_then(|line| line.splitn(3, ' ').nth(2)).expect("a record");
    let created: serde_json::Value = serde_json::from_str(first).expect("JSON");
    let folder = Folder::with(&change(created["config"].as_str().expect("a study file")));
    folder.write("study.tribo/journal", journal);
    folder
}

#[test]
fn a_study_with_outputs_goes_on() {
    let folder = folder_of(OUTPUTS, |file| file.replace("evaluations = 6", "evaluations = 8"));
    let rows = folder.tribo(["trials", "--json"]).code(0).json()["trials"].clone();
    let stress: Vec<Option<f64>> =
        rows.as_array().unwrap().iter().map(|row| row["outputs"]["stress"].as_f64()).collect();
    assert_eq!(stress, [None, Some(1.6529214587700958), Some(70.29925011483797), None, None, None]);
    assert_eq!(rows[0]["outputs"], serde_json::json!({ "mass": 0.700756151214624, "time": 3.5 }));
    folder.tribo(["run"]).code(0).says("6 done before");
    assert!(folder.read("study.tribo/journal").starts_with(OUTPUTS), "a journal is only appended to");
    assert_eq!(folder.tribo(["best", "--json"]).json()["best"][0]["outputs"]["time"], 3.5);
}

#[test]
fn a_journal_of_the_first_format_stays_one() {
    let folder = folder_of(AFTER_THE_LINE, str::to_owned);
    folder.tribo(["ask"]).code(0);
    folder.tribo(["tell", "54", "5.5"]).code(0);
    assert!(!folder.read("study.tribo/journal").contains("\"raised\""), "version 0.1.0 can still go on");
    folder.tribo(["ask"]).code(0);
    folder.tribo(["tell", "55", "value=5.5", "time=3"]).code(0);
    assert!(folder.read("study.tribo/journal").contains(r#""type":"raised","version":2"#));
    assert_eq!(folder.tribo(["trials", "--json"]).code(0).json()["trials"][55]["outputs"]["time"], 3.0);
}

#[test]
fn a_journal_of_a_later_version_is_not_called_damaged() {
    let folder = folder_of(OUTPUTS, str::to_owned);
    let last = OUTPUTS.lines().count();
    let line = |n: usize, rest: &str| {
        let json = format!(r#"{{"n":{n},"epoch":1,"ms":1794895972000,{rest}}}"#);
        format!("{:08x} {} {json}\n", crc32c::crc32c(json.as_bytes()), json.len())
    };
    let later = format!(
        "{OUTPUTS}{}{}",
        line(last, r#""type":"raised","version":2,"minor":1,"tribo":"9.0.0""#),
        line(last + 1, r#""type":"dreamt","of":"sheep""#)
    );
    folder.write("study.tribo/journal", &later);
    for command in ["trials", "run"] {
        folder
            .tribo([command])
            .code(4)
            .says("written by a newer tribo (format 2.1; this program reads up to 2.0)");
    }
    assert_eq!(folder.read("study.tribo/journal"), later);
}

#[test]
fn a_study_in_bins_after_the_line_goes_on() {
    let folder = folder_of(AFTER_THE_LINE, str::to_owned);
    folder.tribo(["inputs"]).code(0).prints("moving all inputs together ends at");
    let asked = folder.tribo(["ask"]).code(0).json();
    assert_eq!(asked["trials"][0]["trial"], 54, "{asked}");
}
