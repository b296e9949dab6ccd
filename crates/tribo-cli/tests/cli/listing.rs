//! `tribo status`, `best` and `trials`.

use crate::support::{Folder, SQUARE};
use std::process::Stdio;

#[test]
fn status_says_where_a_study_stands() {
    let folder = Folder::finished();
    folder
        .tribo(["status"])
        .code(0)
        .prints("finished: the evaluations are spent")
        .prints("6 of 6 done: 6 with a value");
    let status = folder.tribo(["status", "--json"]).code(0).json();
    assert_eq!(status["phase"]["state"], "finished");
    assert_eq!(status["counts"]["measured"], 6);
    assert_eq!(status["warnings"], serde_json::json!([]));
    assert_eq!(status["best"]["value"], folder.tribo(["best", "--json"]).json()["best"][0]["value"]);
}

#[test]
fn the_best_come_first() {
    let folder = Folder::finished();
    let best = folder.tribo(["best", "--top", "3", "--json"]).code(0).json();
    let values: Vec<f64> =
        best["best"].as_array().unwrap().iter().map(|one| one["value"].as_f64().unwrap()).collect();
    assert_eq!(values.len(), 3);
    assert!(values.is_sorted(), "{values:?}");
    let x = best["best"][0]["params"]["x"].as_f64().unwrap();
    assert_eq!(values[0], x * x, "the point is the one that was evaluated");
    let text = folder.tribo(["best", "study.tribo"]).code(0);
    assert_eq!(text.stdout, format!("{:?} (trial {})\n  x  {x:?}\n", values[0], best["best"][0]["trial"]));
}

#[test]
fn trials_are_listed_and_shown() {
    let folder = Folder::finished();
    let list = folder.tribo(["trials"]).code(0);
    assert_eq!(list.stdout.lines().count(), 7, "{}", list.stdout);
    let header: Vec<&str> = list.stdout.lines().next().unwrap().split_whitespace().collect();
    assert_eq!(header, ["trial", "state", "value", "x", "attempts", "wall_s", "reason"]);
    folder.tribo(["trials", "--failed"]).code(0).says("no trial has failed");
    let one = folder
        .tribo(["trials", "--trial", "3"])
        .code(0)
        .prints("trial 3: measured, value ")
        .prints("attempt 1: ok");
    assert!(one.stdout.contains("trials/000003/a1"), "{}", one.stdout);
    let one = folder.tribo(["trials", "--trial", "3", "--json"]).code(0).json();
    assert_eq!(one["attempts"][0]["exit_code"], 0);
    folder.tribo(["trials", "--trial", "99"]).code(2).says("the study has 6 trials");
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let folder = Folder::finished();
    for command in [
        &["trials"][..],
        &["status"],
        &["best"],
        &["inputs"],
        &["export"],
        &["export", "--format", "parquet"],
        &["schema"],
        &["completions", "bash"],
    ] {
        let mut child =
            folder.command(command).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        crate::support::done(child.wait_with_output().unwrap()).code(0);
    }
}

#[test]
fn under_noise_the_recommended_point_is_shown_beside_the_luckiest_value() {
    let folder = Folder::with(&SQUARE.replace("evaluations = 6", "evaluations = 60"));
    // A bowl in strong noise, and one value at its edge that is far too good.
    let noise = |i: u32| 1.5 * ((f64::from(i * i) * 0.754_877).fract() - 0.5);
    let x = |i: u32| f64::from(i % 20) / 9.5 - 1.0;
    let value = |i: u32| if i == 59 { -3.0 } else { 2.0 * x(i) * x(i) + noise(i) };
    let rows: Vec<String> = (0..60).map(|i| format!("{},{}", x(i), value(i))).collect();
    folder.write("old.csv", &format!("x,value\n{}\n", rows.join("\n")));
    folder.tribo(["import", "old.csv"]).code(0);
    folder
        .tribo(["best"])
        .code(0)
        .prints("recommended: trial ")
        .prints("carry noise")
        .prints("-3.0 (trial 59)");
    let json = folder.tribo(["best", "--json"]).code(0).json();
    assert_eq!(json["best"][0]["trial"], 59);
    let number = |value: &serde_json::Value| value.as_f64().unwrap();
    let recommended = &json["recommended"];
    assert!(number(&recommended["params"]["x"]).abs() < 0.5, "{json}");
    let (low, high) = (number(&recommended["interval"][0]), number(&recommended["interval"][1]));
    assert!(low < number(&recommended["value"]) && number(&recommended["value"]) < high, "{json}");

    let exact = Folder::finished();
    let json = exact.tribo(["best", "--json"]).code(0).json();
    assert_eq!(json["recommended"]["trial"], json["best"][0]["trial"]);
    assert!(json["recommended"]["interval"].is_null(), "{json}");
}
