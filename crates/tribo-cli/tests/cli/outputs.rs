//! Several numbers from one evaluation.

use crate::support::{Folder, SQUARE};

/// Prints a mass, a stress unless x is below zero, and a time.
const PRINTS: &str = r#"study_version = 1
seed = 3

[[output]]
name = "mass"
goal = "minimize"
result = { from = "regex", pattern = 'mass = (\S+)' }

[[output]]
name = "stress"
goal = "record"
result = { from = "regex", pattern = 'stress = (\S+)' }

[[output]]
name = "time"
goal = "record"
result = { from = "regex", pattern = 'time = (\S+)' }

[[parameter]]
name = "x"
type = "float"
low = -1.0
high = 1.0

[budget]
evaluations = 8

[run]
workers = 2
command = '''awk -v x="$TRIBO_X_X" 'BEGIN {
  printf "mass = %.17g\n", x * x
  if (x >= 0) printf "stress = %.17g\n", 100 * x
  print "time = 3.5" }' '''
"#;

/// Rows of an exported table by the names of its columns.
fn table(csv: &str) -> Vec<std::collections::BTreeMap<&str, &str>> {
    let mut lines = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let header = lines.next().unwrap();
    lines.map(|line| header.iter().copied().zip(line).collect()).collect()
}

#[test]
fn every_output_is_in_every_table() {
    let folder = Folder::with(PRINTS);
    folder.tribo(["check"]).code(0).prints("mass 0").prints("stress 0").prints("time 3.5");
    folder.tribo(["run"]).code(0).prints("best mass ");
    let csv = folder.tribo(["export"]).code(0);
    let header: Vec<&str> = csv.stdout.lines().next().unwrap().split(',').collect();
    assert_eq!(header[..6], ["trial", "state", "mass", "stress", "time", "x"]);
    let rows = table(&csv.stdout);
    assert_eq!(rows.len(), 8);
    let mut without = 0;
    for row in &rows {
        let x: f64 = row["x"].parse().unwrap();
        assert_eq!(row["state"], "measured");
        assert_eq!((row["mass"].parse(), row["time"].parse()), (Ok(x * x), Ok(3.5)));
        assert_eq!(row["stress"].parse().ok(), (x >= 0.0).then_some(100.0 * x));
        without += usize::from(x < 0.0);
    }
    assert!((1..8).contains(&without), "{without} of 8 lack an output");
    let list = folder.tribo(["trials"]).code(0);
    let header: Vec<&str> = list.stdout.lines().next().unwrap().split_whitespace().collect();
    assert_eq!(header, ["trial", "state", "mass", "stress", "time", "x", "attempts", "wall_s", "reason"]);
    let lines = folder.tribo(["export", "--format", "jsonl"]).code(0);
    for (line, row) in lines.stdout.lines().zip(&rows) {
        let object: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(object["value"], object["outputs"]["mass"]);
        assert_eq!(object["outputs"]["stress"].as_f64(), row["stress"].parse().ok());
    }
    let best = folder.tribo(["best", "--json"]).code(0).json();
    assert_eq!(
        (&best["best"][0]["outputs"]["time"], &best["best"][0]["value"]),
        (&3.5.into(), &best["best"][0]["outputs"]["mass"])
    );
    folder.tribo(["best"]).code(0).prints("mass ").prints(", time 3.5\n");
    folder.tribo(["status"]).code(0).prints("(minimize mass), finished").prints(", time 3.5\n");
    // Why it is missing is said where the attempt is shown.
    let lacking = rows.iter().find(|row| row["stress"].is_empty()).unwrap()["trial"];
    let one = folder
        .tribo(["trials", "--trial", lacking])
        .code(0)
        .prints("no output `stress`: stdout has no match of");
    assert!(one.stdout.starts_with(&format!("trial {lacking}: measured, mass ")), "{}", one.stdout);
    folder.tribo(["export", "-o", "out.parquet"]).code(0);
    // And all of it can be taken in elsewhere.
    folder.tribo(["export", "-o", "out.csv"]).code(0);
    folder.write("new.toml", &PRINTS.replace("evaluations = 8", "evaluations = 9"));
    folder.tribo(["import", "new.toml", "out.csv"]).code(0).says("8 of 8 rows new");
    let again = folder.tribo(["export", "new.toml"]).code(0);
    let numbers = |rows: &[std::collections::BTreeMap<&str, &str>]| {
        rows.iter().map(|row| ["mass", "stress", "time"].map(|name| row[name].to_owned())).collect::<Vec<_>>()
    };
    assert_eq!(numbers(&table(&again.stdout)), numbers(&rows));
}

#[test]
fn without_the_objective_a_trial_fails_and_keeps_the_rest() {
    let folder = Folder::with(&PRINTS.replace("printf \"mass", "if (x < 0) printf \"mass"));
    folder.tribo(["run"]).code(0);
    let rows = folder.tribo(["trials", "--json"]).code(0).json()["trials"].clone();
    let mut failed = 0;
    for row in rows.as_array().unwrap() {
        let x = row["params"]["x"].as_f64().unwrap();
        if x >= 0.0 {
            failed += 1;
            assert_eq!((&row["state"], &row["value"]), (&"failed".into(), &serde_json::Value::Null), "{row}");
            assert_eq!(row["outputs"], serde_json::json!({ "stress": 100.0 * x, "time": 3.5 }));
            assert!(
                row["reason"].as_str().unwrap().starts_with("failed: output `mass`: stdout has no match of"),
                "{row}"
            );
        }
    }
    assert!((1..8).contains(&failed), "{failed} of 8 failed");
    let failures = folder.tribo(["trials", "--failed"]).code(0);
    assert_eq!(failures.stdout.lines().count(), 1 + failed);
}

#[test]
fn the_second_response_of_a_dakota_driver() {
    let study = r#"study_version = 1
[[output]]
name = "mass"
goal = "record"
[[output]]
name = "drag"
goal = "maximize"
[[parameter]]
name = "x"
type = "float"
low = -1.0
high = 1.0
[budget]
evaluations = 4
[run]
command = ["sh", "driver.sh", "{params}", "{result}"]
params = "dakota"
"#;
    let folder = Folder::with(study);
    folder.write(
        "driver.sh",
        "cp \"$1\" seen\nawk '$2 == \"x\" { printf \"%.17g f1\\n%.17g f2\\n\", $1, -$1 }' \"$1\" > \"$2\"\n",
    );
    folder.tribo(["run"]).code(0);
    let asked = folder.read("study.tribo/trials/000000/a1/seen");
    assert!(asked.contains("2 functions") && asked.contains("1 ASV_2:drag"), "{asked}");
    let csv = folder.tribo(["export"]).code(0).stdout;
    for row in table(&csv) {
        let [mass, drag, x] = ["mass", "drag", "x"].map(|name| row[name].parse::<f64>().unwrap());
        assert_eq!((mass, drag), (x, -x));
    }
    let best = folder.tribo(["best", "--json"]).code(0).json();
    let largest = table(&csv).iter().map(|row| row["drag"].parse::<f64>().unwrap()).fold(f64::MIN, f64::max);
    assert_eq!(best["best"][0]["value"], largest);
    // Three answers for two outputs: nobody can say which is which.
    folder.write("driver.sh", "printf '1\\n2\\n3\\n' > \"$2\"\n");
    folder.tribo(["check"]).code(7).says("has no response \"drag\"").says("not as many as the outputs (2)");
}

#[test]
fn outputs_are_told_by_name() {
    let folder = Folder::with(PRINTS.split_once("[run]").unwrap().0);
    folder.tribo(["ask", "-n", "4"]).code(0);
    folder.tribo(["tell", "0", "mass=1.5", "stress=-180"]).code(0);
    folder.tribo(["tell", "0", "stress=-180", "mass=1.50"]).code(0).says("nothing changed");
    folder
        .tribo(["tell", "0", "mass=1.5"])
        .code(2)
        .says("mass 1.5, stress -180.0; if that is wrong, replace it");
    folder.tribo(["tell", "1", "2.5", "time=1"]).code(0);
    folder.tribo(["tell", "2", "stress=3"]).code(2).says("there is no output `mass`; there is stress 3.0");
    folder.tribo(["tell", "2", "stress=3", "--failed", "no mesh"]).code(0);
    for (words, part) in [
        (&["tell", "3", "mass=1", "mass=2"][..], "mass is given twice"),
        (&["tell", "3", "mass=nan"], "not a finite number"),
        (&["tell", "3", "1", "--infeasible"], "say what came of trial 3"),
    ] {
        folder.tribo(words).code(2).says(part);
    }
    let rows = folder.tribo(["trials", "--json"]).code(0).json()["trials"].clone();
    assert_eq!(rows[1]["outputs"], serde_json::json!({ "mass": 2.5, "time": 1.0 }));
    assert_eq!((&rows[2]["state"], &rows[2]["outputs"]["stress"]), (&"failed".into(), &3.0.into()));
}

#[test]
fn a_renamed_objective_is_another_study_and_a_recorded_output_is_not() {
    let folder = Folder::finished();
    let named = |rest: &str| {
        SQUARE
            .replace("direction = \"minimize\"\n", "")
            .replace("[[parameter]]", &format!("{rest}\n[[parameter]]"))
    };
    folder.write("study.toml", &named("[[output]]\nname = \"mass\"\ngoal = \"minimize\""));
    folder.tribo(["run"]).code(3).says("was changed since the study began: output to optimise value -> mass");
    let value = "[[output]]\nname = \"value\"\ngoal = \"minimize\"\n";
    folder.write("study.toml", &named(value).replace("evaluations = 6", "evaluations = 7"));
    folder.tribo(["run"]).code(0).says("6 done before");
    let time =
        "[[output]]\nname = \"time\"\ngoal = \"record\"\nresult = { from = \"regex\", pattern = '(.*)' }\n";
    folder
        .write("study.toml", &named(&format!("{value}{time}")).replace("evaluations = 6", "evaluations = 8"));
    folder.tribo(["run"]).code(0).says("7 done before");
    let rows = folder.tribo(["trials", "--json"]).code(0).json()["trials"].clone();
    assert_eq!(
        (&rows[6]["outputs"]["time"], &rows[7]["outputs"]["time"]),
        (&serde_json::Value::Null, &rows[7]["value"])
    );
}
