//! Constraints between parameters.

use crate::support::Folder;
use serde_json::Value;

/// The best point of (x - 1)² + (y - 1.5)² with x + y <= 1 is (0.25, 0.75).
const CORNER: &str = r#"study_version = 1
direction = "minimize"
seed = 3
constraints = ["x + y <= 1", "n * x < 3"]

[[parameter]]
name = "x"
type = "float"
low = -2.0
high = 2.0

[[parameter]]
name = "y"
type = "float"
low = -2.0
high = 2.0

[[parameter]]
name = "n"
type = "int"
low = 1
high = 9

[budget]
evaluations = 14

[run]
command = '''awk -v x="$TRIBO_X_X" -v y="$TRIBO_X_Y" -v n="$TRIBO_X_N" 'BEGIN {
  printf "%.17g\n", (x - 1) ^ 2 + (y - 1.5) ^ 2 + 0.01 * n }' > "{result}" '''
"#;

fn points(folder: &Folder) -> Vec<(f64, f64, f64)> {
    let trials = folder.tribo(["trials", "--json"]).code(0).json()["trials"].as_array().unwrap().clone();
    let number = |trial: &Value, name: &str| trial["params"][name].as_f64().unwrap();
    trials.iter().map(|trial| (number(trial, "x"), number(trial, "y"), number(trial, "n"))).collect()
}

#[test]
fn every_trial_meets_them_in_every_strategy() {
    for strategy in ["auto", "bo", "random", "paper"] {
        let folder = Folder::with(&format!("{CORNER}\n[strategy]\nname = \"{strategy}\"\n"));
        folder.tribo(["run"]).code(0);
        let points = points(&folder);
        assert_eq!(points.len(), 14);
        assert!(points.iter().all(|(x, y, n)| x + y <= 1.0 && n * x < 3.0), "{strategy}: {points:?}");
    }
}

#[test]
fn a_check_says_what_they_leave_and_keeps_to_them() {
    let folder = Folder::with(&CORNER.replace("x + y <= 1", "x + y <= -1"));
    let check = folder.tribo(["check"]).code(0);
    assert!(check.stderr.contains("2 constraints; about "), "{check:?}");
    assert!(check.stderr.contains(" % of all points meet them, and all proposals do"), "{check:?}");
    // The evaluation it tries is the nearest point to the middle.
    assert!(check.stderr.contains("-0.5"), "{check:?}");
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    for (constraint, place, words) in [
        ("x + z <= 1", ":4:21: ", "no parameter is called `z`; there are `x`, `y`, `n`"),
        ("x + <= 1", ":4:21: ", "a number or a name was expected, and not `<=`"),
        ("x + y >= 9", ":4:15: ", "no point within the bounds meets all 2 constraints together"),
        ("value <= 9", ":4:17: ", "`value` is an output, and `constraints` are between parameters"),
        ("x == 1", ":4:17: ", "an equality is met by no float"),
    ] {
        let folder = Folder::with(&CORNER.replace("x + y <= 1", constraint));
        for command in ["check", "run"] {
            let refused = folder.tribo([command]).code(3);
            assert!(refused.stderr.contains(words), "{constraint}: {refused:?}");
            assert!(refused.stderr.contains(place), "{constraint}: {refused:?}");
        }
    }
}

#[test]
fn another_constraint_begins_a_chapter_and_results_stay() {
    let study = |constraint: &str, evaluations: &str| {
        CORNER.replace("x + y <= 1", constraint).replace("evaluations = 14", evaluations)
    };
    let folder = Folder::with(&study("x + y <= 1", "evaluations = 6"));
    folder.tribo(["run"]).code(0);
    let before = points(&folder);
    folder.write("study.toml", &study("x +  y <= 0", "evaluations = 10"));
    let refused = folder.tribo(["run"]).code(3);
    assert!(
        refused.stderr.contains("constraint `x + y <= 1` is gone; constraint `x + y <= 0` is new"),
        "{refused:?}"
    );
    folder.tribo(["run", "--new-chapter"]).code(0);
    let points = points(&folder);
    assert_eq!(points[..6], before[..], "what missed the new one is kept");
    assert!(points[6..].iter().all(|(x, y, _)| x + y <= 0.0), "{points:?}");
    // Blanks make no other study.
    folder.write("study.toml", &study("x+y<=0", "evaluations = 11"));
    folder.tribo(["run"]).code(0);
}
