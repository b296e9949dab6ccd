//! Limits on what an evaluation answers.

use crate::support::Folder;
use serde_json::Value;

/// The mass of a beam of height h, and its stress, which must not be above 2: h is 1 at least.
const BEAM: &str = r#"study_version = 1
seed = 2

[[output]]
name = "mass"
goal = "minimize"

[[output]]
name = "stress"
at_most = 2.0

[[parameter]]
name = "h"
type = "float"
low = 0.2
high = 2.0

[budget]
evaluations = 10

[run]
command = '''awk -v h="$TRIBO_X_H" 'BEGIN {
  printf "{\"mass\": %.17g, \"stress\": %.17g}\n", 3 * h, 2 / h }' > "{result}" '''
"#;

fn trials(folder: &Folder) -> Vec<Value> {
    folder.tribo(["trials", "--json"]).code(0).json()["trials"].as_array().unwrap().clone()
}

fn status(folder: &Folder) -> Value {
    folder.tribo(["status", "--json"]).code(0).json()
}

/// The number of the trial with the smallest mass of those with a stress that is good.
fn lightest(trials: &[Value], is_good: impl Fn(f64) -> bool) -> Option<u64> {
    let stress = |trial: &Value| trial["outputs"]["stress"].as_f64();
    let mut good: Vec<&Value> = trials
        .iter()
        .filter(|trial| trial["value"].is_f64() && stress(trial).is_some_and(&is_good))
        .collect();
    good.sort_by(|a, b| a["value"].as_f64().unwrap().total_cmp(&b["value"].as_f64().unwrap()));
    good.first().map(|trial| trial["trial"].as_u64().unwrap())
}

#[test]
fn the_best_trial_is_the_best_within_the_limits() {
    let folder = Folder::with(BEAM);
    let run = folder.tribo(["run"]).code(0).prints("best mass ");
    let trials = trials(&folder);
    let best = lightest(&trials, |stress| stress <= 2.0 + 2e-6).unwrap();
    let all = lightest(&trials, |_| true).unwrap();
    assert_ne!(best, all, "no trial was lighter and beyond the limit");
    assert!(run.stdout.contains(&format!("(trial {best}), stress ")), "{run:?}");
    let found = folder.tribo(["best", "--json", "--top", "3"]).code(0).json();
    assert_eq!((&found["best"][0]["trial"], &found["least_violated"]), (&best.into(), &Value::Null));
    let mut met = 0;
    for trial in &trials {
        let is_met = trial["outputs"]["stress"].as_f64().unwrap() <= 2.000002;
        assert_eq!(trial["feasible"], is_met, "{trial}");
        let violated = if is_met { serde_json::json!([]) } else { serde_json::json!(["stress"]) };
        assert_eq!(trial["violated"], violated);
        met += usize::from(is_met);
    }
    let status = status(&folder);
    assert_eq!((&status["best"]["trial"], &status["feasible"]), (&best.into(), &met.into()));
    let limit = &status["limits"][0];
    assert_eq!(
        (&limit["limit"], &limit["met"], &limit["measured"]),
        (&"stress <= 2".into(), &met.into(), &10.into())
    );
    assert_eq!(limit["at_best"], trials[best as usize]["outputs"]["stress"]);
    folder
        .tribo(["status"])
        .code(0)
        .prints(&format!("limits    stress <= 2: met by {met} of 10 trials; "))
        .prints(" at the best point");
    let list = folder.tribo(["trials"]).code(0).stdout;
    let header: Vec<&str> = list.lines().next().unwrap().split_whitespace().collect();
    assert_eq!(header[..6], ["trial", "state", "mass", "stress", "violated", "h"]);
    assert_eq!(list.lines().filter(|line| line.contains(" stress ")).count(), 1 + 10 - met);
    folder.tribo(["trials", &all.to_string()]).code(0).prints("  stress <= 2 missed by ");
    let csv = folder.tribo(["export"]).code(0).stdout;
    assert!(csv.starts_with("trial,state,mass,stress,violated,h,attempts,"), "{csv}");
    assert_eq!(csv.lines().filter(|line| line.contains(",stress,")).count(), 1 + 10 - met);
    let page = folder.read("study.html");
    assert!(
        page.contains("stress &lt;= 2") && page.contains(&format!("{met} of 10")),
        "no limits in the report"
    );
    // What was exported is taken in elsewhere, where it is judged anew.
    folder.tribo(["export", "-o", "out.csv"]).code(0);
    folder.write("new.toml", &BEAM.replace("at_most = 2.0", "at_most = 1.2"));
    folder.tribo(["import", "new.toml", "out.csv"]).code(0).says("10 of 10 rows new");
    let other = lightest(&trials, |stress| stress <= 1.2);
    let found = folder.tribo(["best", "new.toml", "--json"]).code(if other.is_some() { 0 } else { 5 }).json();
    assert_eq!(found["best"][0]["trial"].as_u64(), other);
}

#[test]
fn a_limit_that_cannot_be_met_ends_with_exit_code_5() {
    // The target would be reached by any value: one beyond the limits does not count.
    let study =
        BEAM.replace("at_most = 2.0", "at_most = 0.5").replace("[budget]\n", "[budget]\ntarget = 100\n");
    let folder = Folder::with(&study);
    let run = folder
        .tribo(["run"])
        .code(5)
        .says("10 trials")
        .says("no evaluation meets all limits")
        .prints("nearest mass ")
        .prints("  stress <= 0.5 missed by ");
    let trials = trials(&folder);
    let stress = |trial: &Value| trial["outputs"]["stress"].as_f64().unwrap();
    let nearest = trials.iter().min_by(|a, b| stress(a).total_cmp(&stress(b))).unwrap();
    let found = folder.tribo(["best", "--json"]).code(5).json();
    let least = &found["least_violated"];
    assert_eq!((&found["best"], &least["trial"]), (&serde_json::json!([]), &nearest["trial"]));
    assert_eq!(least["missed"][0]["by"].as_f64().unwrap(), stress(nearest) - 0.5);
    assert_eq!(least["params"], nearest["params"]);
    assert!(run.stdout.contains(&format!("(trial {}), stress ", nearest["trial"])), "{run:?}");
    folder.tribo(["best"]).code(5).says("no trial meets all limits yet").prints("missed by");
    folder
        .tribo(["status"])
        .code(0)
        .prints("best      none: no trial meets all limits yet")
        .prints("chance    less than 0.1 %, by the models, that the most promising point meets all limits")
        .prints("limits    stress <= 0.5: never met in 10 trials; the nearest was ");
    let status = status(&folder);
    assert_eq!((&status["best"], &status["feasible"]), (&Value::Null, &0.into()));
    assert_eq!(status["phase"]["why"], "the evaluations are spent");
    assert!(status["chance"].as_f64().unwrap() < 1e-3, "{status}");
    let page = folder.read("study.html");
    for words in
        ["No evaluation meets all limits yet.", "meets all limits with a probability of less than 0.1 %."]
    {
        assert!(page.contains(words), "{words}");
    }
    folder.write("events.toml", &study);
    let events = folder.tribo(["run", "events.toml", "--json"]).code(5).stdout;
    let last: Value = serde_json::from_str(events.lines().last().unwrap()).unwrap();
    assert_eq!((&last["event"], &last["trial"]), (&"least_violated".into(), &nearest["trial"]));
}

#[test]
fn two_limits_and_an_equality() {
    let more = "at_least = 1.2\nat_most = 4\n[[output]]\nname = \"width\"\nequals = 1\ntolerance = 0.5\n";
    let study = BEAM
        .replace("at_most = 2.0\n", more)
        .replace("\\\"stress\\\"", "\\\"width\\\": %.17g, \\\"stress\\\"")
        .replace("3 * h, 2 / h", "3 * h, h, 2 / h");
    let folder = Folder::with(&study);
    folder.tribo(["run"]).code(0);
    let trials = trials(&folder);
    let best =
        lightest(&trials, |stress| (1.2..=4.0).contains(&stress) && (0.5..=1.5).contains(&(2.0 / stress)));
    let status = status(&folder);
    assert_eq!(status["best"]["trial"].as_u64(), best);
    let limits: Vec<&str> =
        status["limits"].as_array().unwrap().iter().map(|limit| limit["limit"].as_str().unwrap()).collect();
    assert_eq!(limits, ["1.2 <= stress <= 4", "width == 1"]);
    assert_eq!(status["limits"][1]["tolerance"], 0.5);
    folder.tribo(["status"]).code(0).prints("\n          width == 1: met by ");
}

#[test]
fn a_trial_that_lacks_a_limited_output_is_kept() {
    // No stress below 0.8, no mass above 1.6.
    let study = BEAM.replace(
        "printf \"{\\\"mass\\\": %.17g, \\\"stress\\\": %.17g}\\n\", 3 * h, 2 / h",
        "mass = h > 1.6 ? \"NaN\" : 3 * h; printf \"{\\\"mass\\\": %s, \\\"stress\\\": %s}\\n\", mass, h < 0.8 ? \"NaN\" : 2 / h",
    );
    assert_ne!(study, BEAM);
    let folder = Folder::with(&study.replace("evaluations = 10", "evaluations = 14"));
    folder.tribo(["run"]).code(0);
    let (mut lacking, mut without_mass) = (0, 0);
    let trials = trials(&folder);
    for trial in &trials {
        let h = trial["params"]["h"].as_f64().unwrap();
        assert_eq!(trial["outputs"]["stress"].is_f64(), h >= 0.8, "{trial}");
        assert_eq!(trial["value"].is_f64(), h <= 1.6, "{trial}");
        // The search comes nearer to the limit than its tolerance.
        let is_met = trial["outputs"]["stress"].as_f64().is_some_and(|stress| stress <= 2.000002);
        assert_eq!(trial["feasible"], is_met && h <= 1.6, "{trial}");
        lacking += usize::from(h < 0.8);
        without_mass += usize::from(h > 1.6);
    }
    assert!(lacking > 0 && without_mass > 0, "{lacking} and {without_mass}");
    let list = folder.tribo(["trials"]).code(0).stdout;
    assert_eq!(list.lines().filter(|line| line.contains("stress (missing)")).count(), lacking);
    let status = status(&folder);
    assert_eq!(status["best"]["trial"].as_u64(), lightest(&trials, |stress| stress <= 2.000002));
    // What came without the objective is known to the limit.
    assert_eq!(status["limits"][0]["measured"], 14 - lacking);
}

#[test]
fn a_limit_that_is_changed_begins_a_chapter_which_judges_what_was_recorded() {
    let recorded = BEAM.replace("at_most = 2.0", "goal = \"record\"");
    let folder = Folder::with(&recorded);
    folder.tribo(["run"]).code(0);
    let before = trials(&folder);
    assert!(before[0]["feasible"].is_null() && status(&folder)["limits"].is_null());
    let more = |text: &str| text.replace("evaluations = 10", "evaluations = 12");
    folder.write("study.toml", &more(BEAM));
    folder.tribo(["run"]).code(3).says("limit on `stress`: not given -> stress <= 2");
    folder.tribo(["run", "--new-chapter"]).code(0).says("10 results known to it");
    let all = trials(&folder);
    assert_eq!(all.len(), 12);
    assert_eq!(status(&folder)["best"]["trial"].as_u64(), lightest(&all, |stress| stress <= 2.000002));
    assert_eq!(status(&folder)["limits"][0]["measured"], 12);
    folder.write("study.toml", &more(BEAM).replace("at_most = 2.0", "at_most = 4.0"));
    folder.tribo(["run", "--new-chapter"]).code(0).says("stress <= 2 -> stress <= 4");
    assert_eq!(status(&folder)["best"]["trial"].as_u64(), lightest(&all, |stress| stress <= 4.000004));
    // Gone again: the best is the lightest of all.
    folder.write("study.toml", &more(&recorded));
    folder.tribo(["run", "--new-chapter"]).code(0);
    assert_eq!(status(&folder)["best"]["trial"].as_u64(), lightest(&all, |_| true));
}

#[test]
fn a_study_that_was_killed_goes_on_as_if_nothing_had_happened() {
    let (whole, killed) = (Folder::with(BEAM), Folder::with(BEAM));
    whole.tribo(["run"]).code(0);
    let driver = killed.start(["run"]);
    killed.await_status(|status| status["counts"]["measured"].as_u64() >= Some(3));
    driver.signal("KILL");
    driver.wait();
    killed.tribo(["run"]).code(0);
    let numbers = |folder: &Folder| {
        let of = |trial: Value| (trial["params"].to_string(), trial["outputs"].to_string());
        trials(folder).into_iter().map(of).collect::<Vec<_>>()
    };
    assert_eq!(numbers(&killed), numbers(&whole));
    assert_eq!(status(&killed)["limits"], status(&whole)["limits"]);
}

#[test]
fn limited_outputs_are_told_by_hand() {
    let folder = Folder::with(BEAM.split_once("[run]").unwrap().0);
    folder.tribo(["ask", "-n", "4"]).code(0);
    folder.tribo(["tell", "0", "mass=1", "stress=3"]).code(0);
    folder.tribo(["tell", "1", "mass=2"]).code(0);
    folder.tribo(["best"]).code(5).says("no trial meets all limits yet").prints("stress <= 2 missed by 1");
    folder.tribo(["tell", "2", "mass=5", "stress=1.5"]).code(0);
    folder.tribo(["best"]).code(0).prints("mass 5.0 (trial 2), stress 1.5\n");
    folder.tribo(["tell", "3", "stress=1", "--failed", "no mesh"]).code(0);
    // It was 2.0, really.
    folder.tribo(["tell", "1", "mass=2", "stress=2.0", "--replace"]).code(0);
    folder.tribo(["best"]).code(0).prints("mass 2.0 (trial 1), stress 2.0\n");
    let limits = status(&folder)["limits"].clone();
    assert_eq!(
        (&limits[0]["measured"], &limits[0]["met"], &limits[0]["binds"]),
        (&4.into(), &3.into(), &true.into())
    );
}

#[test]
fn a_response_of_a_dakota_driver_is_limited() {
    let (head, _) = BEAM.split_once("[run]").unwrap();
    let run = "[run]\ncommand = [\"sh\", \"driver.sh\", \"{params}\", \"{result}\"]\nparams = \"dakota\"\n";
    let folder = Folder::with(&format!("{head}{run}"));
    let driver =
        "awk '$2 == \"h\" { printf \"%.17g mass\\n%.17g stress\\n\", 3 * $1, 2 / $1 }' \"$1\" > \"$2\"\n";
    folder.write("driver.sh", driver);
    folder.tribo(["run"]).code(0);
    let trials = trials(&folder);
    assert!(trials.iter().all(|trial| trial["outputs"]["stress"].is_f64()), "{trials:?}");
    let best = lightest(&trials, |stress| stress <= 2.000002);
    assert_eq!(status(&folder)["best"]["trial"].as_u64(), best);
}

#[test]
fn a_check_says_how_its_point_stands_to_the_limits() {
    let check = |file: &str| Folder::with(file).tribo(["check", "--run"]).code(0);
    let met = check(BEAM);
    assert!(met.stderr.contains("stress <= 2 is met here"), "{met:?}");
    let missed = check(&BEAM.replace("at_most = 2.0", "at_most = 0.5"));
    assert!(missed.stderr.contains("stress <= 0.5 is not met here: it is 1.8"), "{missed:?}");
}

#[test]
fn an_output_that_is_never_there_is_named() {
    let study =
        BEAM.replace("name = \"stress\"", "name = \"stres\"").replace("evaluations = 10", "evaluations = 3");
    let folder = Folder::with(&study);
    let check = folder.tribo(["check", "--run"]).code(0);
    assert!(
        check.stderr.contains("look at how it is called") && !check.stderr.contains("all is well"),
        "{check:?}"
    );
    folder
        .tribo(["run"])
        .code(5)
        .says("no evaluation has given every limited output; `tribo status` says which");
    folder
        .tribo(["status"])
        .code(0)
        .prints("stres <= 2: measured by no trial yet, and without it none is feasible");
}
