//! `tribo inputs`, and the line that `tribo status` has of it.

use crate::support::{Folder, SQUARE};

/// Two hundred inputs and a way to evaluate points by hand.
const WIDE: &str = r#"study_version = 1
direction = "minimize"
seed = 1

[[parameter]]
name = "x"
type = "float"
low = -1.0
high = 1.0
size = 200

[budget]
evaluations = 80
"#;

/// A function of 3 of its 200 inputs.
fn three_of_many(x: &[f64]) -> f64 {
    2.0 * (x[17] - 0.3).powi(2) + (x[101] + 0.4).powi(2) + 3.0 * (x[163] - 0.1).powi(2)
}

fn evaluate(folder: &Folder, evaluations: usize) {
    for _ in 0..evaluations {
        let asked = folder.tribo(["ask"]).code(0).json();
        let trial = &asked["trials"][0];
        let x: Vec<f64> =
            trial["params"]["x"].as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect();
        let value = format!("{:?}", three_of_many(&x));
        folder.tribo(["tell", &trial["trial"].to_string(), &value]).code(0);
    }
}

#[test]
fn the_inputs_that_matter_are_named() {
    let folder = Folder::with(WIDE);
    folder.tribo(["inputs"]).code(2).says("this study has not begun");
    evaluate(&folder, 3);
    folder.tribo(["inputs"]).code(0).prints("looking at 200 inputs").prints("none of 200 is named so far");
    let status = folder.tribo(["status"]).code(0);
    assert!(!status.stdout.contains("inputs  "), "nothing is known yet: {}", status.stdout);

    // 14 at the start, 8 groups, about 5 for each of three, one that moves all others: 45 are enough.
    evaluate(&folder, 42);
    let json = folder.tribo(["inputs", "--json"]).code(0).json();
    assert_eq!(json["version"], 1);
    assert_eq!(json["verdict"], "sparse", "{json}");
    let active = json["active"].as_array().unwrap();
    let mut names: Vec<&str> = active.iter().map(|input| input["name"].as_str().unwrap()).collect();
    let effects: Vec<f64> =
        active.iter().map(|input| input["evidence"]["effect"].as_f64().unwrap().abs()).collect();
    assert!(effects.is_sorted_by(|a, b| a >= b), "strongest first: {effects:?}");
    let status = folder.tribo(["status"]).code(0);
    let line = format!("\ninputs    3 of 200 matter: {} (tribo inputs)\n", names.join(", "));
    assert!(status.stdout.contains(&line), "no {line:?} in {}", status.stdout);
    names.sort_unstable();
    assert_eq!(names, ["x[101]", "x[163]", "x[17]"]);
    assert_eq!(json["n_idle"], 197);
    assert_eq!(json["findings"][0]["fact"]["what"], "noise");

    let page = folder.tribo(["inputs"]).code(0);
    for part in [
        "study: optimising the 3 inputs that matter\n",
        "inputs    3 of 200 matter\n",
        "idle      197 others",
        "\nnoise     a standard deviation of ",
        ": x[163] matters: ",
        " 197 other inputs moved at once change the value by ",
    ] {
        assert!(page.stdout.contains(part), "no {part:?} in {}", page.stdout);
    }
}

#[test]
fn inputs_that_the_study_file_names_are_taken_as_said() {
    let folder =
        Folder::with(&format!("{WIDE}\n[strategy]\nname = \"auto\"\nactive = [\"x[17]\", \"x[163]\"]\n"));
    evaluate(&folder, 16);
    folder.tribo(["inputs"]).code(0).prints("2 of 200 matter").prints("as the study file says");
    folder.tribo(["status"]).code(0).prints("inputs    2 of 200 matter: x[17], x[163] (tribo inputs)");
}

#[test]
fn a_small_study_names_none() {
    let random = Folder::with(&format!("{SQUARE}\n[strategy]\nname = \"random\"\n"));
    random.tribo(["run"]).code(0);
    random.tribo(["inputs"]).code(0).prints("none of 1 is named: with so few");
    let folder = Folder::finished();
    folder.tribo(["inputs"]).code(0).prints("with interactions").prints("\nx ");
    assert_eq!(folder.tribo(["inputs", "--json"]).code(0).json()["verdict"], "open");
    let status = folder.tribo(["status"]).code(0);
    assert!(!status.stdout.contains("inputs  "), "{}", status.stdout);
}

/// Under limits the inputs of every output are named.
#[test]
fn inputs_are_named_for_each_output() {
    let limited = format!(
        "{}\n[[output]]\nname = \"mass\"\ngoal = \"minimize\"\n[[output]]\nname = \"stress\"\nat_least = 0.5\n",
        WIDE.replace("direction = \"minimize\"\n", "")
    );
    let folder = Folder::with(&limited);
    for _ in 0..45 {
        let asked = folder.tribo(["ask"]).code(0).json();
        let trial = &asked["trials"][0];
        let x: Vec<f64> =
            trial["params"]["x"].as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect();
        let outputs = format!("mass={:?}", 3.0 + x[17] + x[101]);
        let stress = format!("stress={:?}", (1.0 + x[17]) * (1.0 + x[163]));
        folder.tribo(["tell", &trial["trial"].to_string(), &outputs, &stress]).code(0);
    }
    let json = folder.tribo(["inputs", "--json"]).code(0).json();
    let named = |k: usize| {
        let inputs = json["outputs"][k]["inputs"].as_array().unwrap();
        let mut names: Vec<&str> = inputs.iter().map(|input| input["name"].as_str().unwrap()).collect();
        names.sort_unstable();
        (json["outputs"][k]["output"].as_str().unwrap(), names)
    };
    assert_eq!(named(0), ("mass", vec!["x[101]", "x[17]"]), "{json}");
    assert_eq!(named(1), ("stress", vec!["x[163]", "x[17]"]), "{json}");
    folder
        .tribo(["inputs"])
        .code(0)
        .prints("output  driven by, strongest first\nmass    x[")
        .prints("searching under limits in the 3 inputs that matter");
    folder.tribo(["status"]).code(0).prints("inputs    3 of 200 matter: ");
}
