//! `tribo report`, `tribo plot`, `tribo why`, and what `tribo inputs` says of few inputs.

use crate::support::Folder;

/// Branin's function in twenty evaluations on a virtual clock.
const BRANIN: &str = r#"study_version = 1
direction = "minimize"
seed = 3

[[parameter]]
name = "x"
type = "float"
low = -5.0
high = 10.0

[[parameter]]
name = "y"
type = "float"
low = 0.0
high = 15.0

[budget]
evaluations = 20

[run]
on = "simulated"
workers = 3

[run.simulated]
problem = "branin"
"#;

fn finished() -> Folder {
    let folder = Folder::with(BRANIN);
    folder.tribo(["run"]).code(0).says("report in ./study.html");
    folder
}

/// Every picture, and what must be in it.
const PICTURES: [(&str, &str); 8] = [
    ("convergence", "best so far"),
    ("slice", "Along "),
    ("contour", " and "),
    ("importance", "Which inputs matter"),
    ("validation", "each result left out"),
    ("parallel", "Where the search went"),
    ("matrix", "all pairs of inputs"),
    ("timeline", "% busy"),
];

#[test]
fn a_run_that_is_over_writes_its_report() {
    let folder = finished();
    let report = folder.read("study.html");
    assert!(report.contains("<!DOCTYPE html>") && report.contains("What to do next"), "{}", &report[..400]);
    assert!(report.contains("The model ") && report.contains("</html>"));
    assert!(report.contains("finished: the evaluations are spent") && !report.contains("running on"));
    folder.tribo(["report", "-o", "other.html"]).code(0);
    assert!(folder.read("other.html").contains("What to do next"));
    folder.tribo(["report", "-o", "-"]).code(0).prints("<!DOCTYPE html>");
    folder.tribo(["report", "-o", "nowhere/other.html"]).code(4).says("cannot write");
    let silent = Folder::with(&BRANIN.replace("seed = 3", "seed = 3\nreport = false"));
    silent.tribo(["run"]).code(0);
    assert!(!silent.has("study.html"));
}

#[test]
fn every_picture_is_drawn_in_every_scheme() {
    let folder = finished();
    for (kind, part) in PICTURES {
        let file = format!("{kind}.svg");
        folder.tribo(["plot", kind, "-o", &file]).code(0);
        let svg = folder.read(&file);
        assert!(
            svg.starts_with("<svg") && svg.contains(part) && svg.contains("prefers-color-scheme"),
            "{kind}"
        );
    }
    folder.tribo(["plot", "convergence", "--dark"]).code(0).prints("#15181d");
    let refused = folder.tribo(["plot", "convergence", "-o", "x.png"]).code(2);
    refused.says("pictures are SVG; use -o x.svg; then `rsvg-convert -o x.png x.svg` or `chromium");
    folder.tribo(["plot", "convergence", "-o", "x.pdf"]).code(2).says("use -o x.svg, which browsers");
    folder.tribo(["plot", "slice", "--input", "nope"]).code(2).says("there is no input `nope`; there is");
    folder.tribo(["plot", "contour", "--input", "x"]).code(2).says("takes 2 inputs, not 1");
}

#[test]
fn reasons_and_shares_are_said_in_words() {
    let folder = finished();
    folder.tribo(["why", "0"]).code(0).prints("design: one of the first points");
    let why = folder.tribo(["why", ".", "18", "--json"]).code(0).json();
    assert_eq!(why["why"]["reason"], "search", "{why}");
    assert!(why["why"]["expected"]["mean"].is_number(), "{why}");
    folder.tribo(["why", "9999"]).code(2).says("there is no trial 9999");
    folder.tribo(["why", "."]).code(2).says("give one trial");
    folder.tribo(["inputs"]).code(0).prints("with interactions").prints("model     The");
    let inputs = folder.tribo(["inputs", "--json"]).code(0).json();
    assert!(inputs["shares"][0]["total"].as_f64().unwrap() > 0.0, "{inputs}");
}

#[test]
fn imported_values_are_shown_as_they_were_given() {
    let log = BRANIN.replace("low = -5.0\nhigh = 10.0", "low = 1e-3\nhigh = 10.0\nlog = true");
    let folder = Folder::with(&log.replace("problem = \"branin\"", "problem = \"sphere\""));
    folder.write("old.csv", "x,y,value\n0.007,0.3,-1e9\n");
    folder.tribo(["import", "old.csv"]).code(0);
    folder.tribo(["best"]).code(0).prints("x  0.007\n").prints("y  0.3\n");
    assert_eq!(folder.tribo(["best", "--json"]).code(0).json()["best"][0]["params"]["x"], 0.007);
}
