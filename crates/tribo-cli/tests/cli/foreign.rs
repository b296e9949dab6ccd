//! `tribo import` of studies that other programs kept. The files in `tests/data/foreign` were written by those programs, with
//! the scripts in `tools/foreign`, which also wrote down what went in.

use crate::support::Folder;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const OVEN: &str = r#"
study_version = 1
name = "oven"
direction = "maximize"
[budget]
evaluations = 100
[[parameter]]
name = "temperature"
type = "float"
low = 150.0
high = 260.0
[[parameter]]
name = "rate"
type = "float"
low = 1e-5
high = 1e-1
log = true
[[parameter]]
name = "step"
type = "float"
low = 0.0
high = 1.0
[[parameter]]
name = "layers"
type = "int"
low = 1
high = 64
[[parameter]]
name = "solver"
type = "categorical"
choices = ["adam", "lbfgs", "sgd"]
[[parameter]]
name = "fan"
type = "categorical"
choices = ["True", "False"]
[[parameter]]
name = "width"
type = "int"
low = 16
high = 64
"#;

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/foreign").join(name)
}

fn json(name: &str) -> Value {
    serde_json::from_str(&std::fs::read_to_string(file(name)).unwrap()).unwrap()
}

/// The study without one of its parameters.
fn without(name: &str) -> String {
    let mut parts: Vec<&str> = OVEN.split("[[parameter]]").collect();
    parts.retain(|part| !part.contains(&format!("name = \"{name}\"")));
    parts.join("[[parameter]]")
}

/// Points of a study and their values, in any order.
fn results(folder: &Folder) -> Vec<(BTreeMap<String, String>, f64)> {
    let lines = folder.tribo(["export", "--format", "jsonl"]).code(0).stdout;
    lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .map(|row: Value| result(&row, &row["value"]))
        .collect()
}

fn result(row: &Value, value: &Value) -> (BTreeMap<String, String>, f64) {
    let spelt = |value: &Value| match value {
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::String(text) => text.clone(),
        // A study keeps points in the unit cube, where a number on a log scale comes out a few last bits away.
        number => format!("{:.12e}", number.as_f64().unwrap()),
    };
    let params = row["params"].as_object().unwrap();
    (params.iter().map(|(name, value)| (name.clone(), spelt(value))).collect(), value.as_f64().unwrap())
}

#[test]
fn optunas_storages_are_imported_with_every_kind_of_parameter_and_state() {
    let expected = json("optuna-expected.json");
    let trials = expected["studies"]["oven"].as_array().unwrap();
    let complete = trials.iter().filter(|trial| trial["state"] == "COMPLETE");
    // One came to infinity, one was added with two of seven parameters.
    let whole = complete.filter(|trial| trial["params"].as_object().unwrap().len() == 7);
    let whole: Vec<_> = whole.filter(|trial| trial["values"][0].is_number()).collect();
    let expected: Vec<_> = whole.iter().map(|trial| result(trial, &trial["values"][0])).collect();
    assert_eq!(expected.len(), 7);
    for storage in ["optuna.log", "optuna.db"] {
        let folder = Folder::with(OVEN);
        let path = file(storage);
        let import = ["import", path.to_str().unwrap()];
        folder
            .tribo(import)
            .code(2)
            .says("it has several studies: \"oven\", \"beam\"; choose one with --from");
        folder.tribo(import.into_iter().chain(["--from", "gone"])).code(2).says("there is no study \"gone\"");
        let import = import.into_iter().chain(["--from", "oven"]);
        let refused = folder.tribo(import.clone()).code(2).says("trial 10: parameter `rate` is missing");
        assert!(refused.stderr.contains("nothing was taken in"), "{refused:?}");
        let import = import.chain(["--skip-outside"]);
        let preview = folder.tribo(import.clone().chain(["--dry-run"])).code(0);
        for part in ["params.rate", "parameter rate", "user_attrs.mass", "not used"] {
            assert!(preview.stdout.contains(part), "{part}: {preview:?}");
        }
        let states =
            "study \"oven\" of Optuna, 13 trials: 9 complete, 1 failed, 1 pruned, 1 running, 1 waiting";
        let counts = "7 of 13 rows new, 1 outside, 5 without a value; nothing was changed";
        assert!(preview.stderr.contains(states) && preview.stderr.contains(counts), "{preview:?}");
        assert!(!folder.has("study.tribo"));
        folder.tribo(import.clone()).code(0).says("7 of 13 rows new");
        assert_eq!(results(&folder), expected, "{storage}");
        folder.tribo(import).code(0).says("0 of 13 rows new, 7 known already");
    }
}

#[test]
fn names_are_mapped_and_another_direction_is_said() {
    let study =
        without("width").replace("\"rate\"", "\"learning_rate\"").replace("direction = \"maximize\"", "");
    let outputs =
        "[[output]]\nname = \"loss\"\ngoal = \"minimize\"\n[[output]]\nname = \"mass\"\ngoal = \"record\"\n";
    let study = format!("{study}{outputs}");
    let folder = Folder::with(&study);
    let path = file("optuna.db");
    let import = ["import", path.to_str().unwrap(), "--from", "oven", "--skip-outside"];
    folder.tribo(import).code(2).says("there is no column \"learning_rate\"");
    let import = import.into_iter().chain(["--map", "params.rate=learning_rate"]);
    let done = folder.tribo(import).code(0).says("7 of 13 rows new");
    assert!(
        done.stderr.contains("value was to be maximized there, and this study is to minimize loss"),
        "{done:?}"
    );
    let lines = folder.tribo(["export", "--format", "jsonl"]).code(0).stdout;
    let first: Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    let expected = &json("optuna-expected.json")["studies"]["oven"][0];
    let rates =
        [&first["params"]["learning_rate"], &expected["params"]["rate"]].map(|rate| rate.as_f64().unwrap());
    assert!((rates[0] / rates[1] - 1.0).abs() < 1e-12, "{rates:?}");
    assert_eq!(first["outputs"]["loss"], expected["values"][0]);
    assert_eq!(
        first["outputs"]["mass"].as_f64().unwrap(),
        expected["params"]["layers"].as_f64().unwrap() * 0.5
    );
}

#[test]
fn of_several_objectives_one_is_chosen_and_constraints_are_columns() {
    let study = "study_version = 1\n[[parameter]]\nname = \"width\"\ntype = \"float\"\nlow = 0.1\nhigh = 2\n\
                 [[parameter]]\nname = \"height\"\ntype = \"int\"\nlow = 1\nhigh = 9\n\
                 [[output]]\nname = \"area\"\ngoal = \"minimize\"\n[[output]]\nname = \"stress\"\ngoal = \"record\"\n";
    for storage in ["optuna.log", "optuna.db"] {
        let folder = Folder::with(study);
        let path = file(storage);
        let import = ["import", path.to_str().unwrap(), "--from", "beam"];
        folder.tribo(import).code(2).says("values[0]").says("--value");
        let import = import.into_iter().chain(["--value", "values[0]", "--map", "constraints[0]=stress"]);
        folder.tribo(import).code(0).says("4 of 4 rows new");
        let lines = folder.tribo(["export", "--format", "jsonl"]).code(0).stdout;
        for line in lines.lines() {
            let row: Value = serde_json::from_str(line).unwrap();
            let number = |value: &Value| value.as_f64().unwrap();
            let width = number(&row["params"]["width"]);
            assert_eq!(number(&row["outputs"]["area"]), width * number(&row["params"]["height"]));
            assert_eq!(number(&row["outputs"]["stress"]), width - 1.0);
        }
    }
}

#[test]
fn a_storage_that_is_cut_or_still_written_is_refused() {
    let folder = Folder::with(OVEN);
    let whole = std::fs::read(file("optuna.db")).unwrap();
    let path = folder.path().join("cut.db");
    let import = ["import", "cut.db", "--from", "oven", "--skip-outside"];
    for length in [0, 50, 3_000, whole.len() / 2, whole.len() - 4_096] {
        std::fs::write(&path, &whole[..length]).unwrap();
        let done = folder.tribo(import);
        assert!(done.code == 0 || (done.code == 2 && done.stderr.contains("cut.db")), "{length}: {done:?}");
        assert!(length > whole.len() / 2 || done.code == 2, "{length}: {done:?}");
    }
    std::fs::write(&path, &whole).unwrap();
    folder.write("cut.db-wal", "changes");
    folder.tribo(import).code(2).says("cut.db-wal").says(".backup");
    folder.write("other.db", "this is a text");
    folder.tribo(["import", "other.db"]).code(2).says("other.db");
    folder
        .write("cut.log", "{\"op_code\":0,\"study_name\":\"a\",\"directions\":[1]}\n{\"op_code\":4,\"study");
    folder.tribo(["import", "cut.log"]).code(2).says("there is no column");
    folder.write("bad.log", "{\"op_code\":0,\"study_name\":\"a\",\"directions\":[1]}\nnonsense\n");
    folder.tribo(["import", "bad.log"]).code(2).says("bad.log:2: this is not JSON");
}

#[test]
fn experiments_of_ax_are_imported() {
    let expected = json("ax-expected.json");
    let study = without("step");
    let folder = Folder::with(study.split("[[parameter]]\nname = \"width\"").next().unwrap());
    let path = file("ax-client.json");
    let done =
        folder.tribo(["import", path.to_str().unwrap()]).code(0).says("2 of 5 rows new, 3 without a value");
    assert!(
        done.stderr.contains("study \"oven\" of Ax, 5 trials: 2 completed, 1 failed, 1 abandoned, 1 running"),
        "{done:?}"
    );
    assert!(done.stderr.contains("metrics.loss was to be minimized there"), "{done:?}");
    let points: Vec<Value> = expected["points"]
        .as_array()
        .unwrap()
        .iter()
        .map(|point| serde_json::json!({ "params": point }))
        .collect();
    // The second was looked at twice; the last look counts.
    assert_eq!(results(&folder), [result(&points[0], &1.5.into()), result(&points[1], &0.25.into())]);

    let float = "[[parameter]]\nname = \"x\"\ntype = \"float\"\nlow = 0\nhigh = 1\n";
    let folder = Folder::with(&format!(
        "study_version = 1\n{float}[[output]]\nname = \"score\"\ngoal = \"maximize\"\n"
    ));
    let path = file("ax-batch.json");
    folder.tribo(["import", path.to_str().unwrap()]).code(0).says("3 of 3 rows new");
    let lines = folder.tribo(["export", "--format", "jsonl"]).code(0).stdout;
    let scores: Vec<f64> = lines
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["outputs"]["score"].as_f64().unwrap())
        .collect();
    assert_eq!(scores, [1.0, 2.0, 3.0]);

    let old = float
        .replace("\"x\"", "\"temperature\"")
        .replace("low = 0", "low = 150")
        .replace("high = 1", "high = 260");
    let head = "study_version = 1\ndirection = \"minimize\"\n";
    let folder =
        Folder::with(&format!("{head}{old}[[parameter]]\nname = \"n\"\ntype = \"int\"\nlow = 1\nhigh = 9\n"));
    let path = file("ax-old.json");
    folder.tribo(["import", path.to_str().unwrap(), "--map", "layers=n"]).code(0).says("2 of 3 rows new");
    let rows = results(&folder);
    assert_eq!((rows[0].1, rows[1].1), (4.515, 3.6));
    folder.write("other.json", "{\"a\": 1}");
    folder.tribo(["import", "other.json"]).code(2).says("not an experiment of Ax's");
}
