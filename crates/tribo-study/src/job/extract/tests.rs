//! Answers as programs write them, good and bad. Rows 24, 27 and 28 of the fault table are here.

use super::*;
use crate::config::{Command, Response, Sought};
use proptest::prelude::*;

/// An evaluation whose answer is there.
fn evaluation(source: &ResultSource) -> Evaluation {
    Evaluation { result: source.clone(), capture: 1000, ..Evaluation::of(Command::Argv(vec![])) }
}

/// What is found when the source's file (or standard output) holds this.
fn found(source: &ResultSource, content: Option<&[u8]>) -> Finding {
    let folder = tempfile::tempdir().unwrap();
    let stdout = folder.path().join("stdout");
    let place = match source {
        ResultSource::Stdout | ResultSource::Regex { file: None, .. } => stdout.clone(),
        source => folder.path().join(result_file(source)),
    };
    if let Some(content) = content {
        std::fs::write(place, content).unwrap();
    }
    extract(&evaluation(source), folder.path(), &stdout)
}

fn json() -> ResultSource {
    ResultSource::Json { file: "result.json".into(), key: "objective".into() }
}

fn dakota() -> ResultSource {
    ResultSource::Dakota { file: "results.out".into(), response: Response::Only }
}

fn regex(pattern: &str, occurrence: Occurrence) -> ResultSource {
    ResultSource::Regex { file: Some("run.log".into()), pattern: pattern.into(), occurrence }
}

fn csv(row: Occurrence) -> ResultSource {
    ResultSource::Csv { file: "out.csv".into(), column: "drag".into(), row }
}

fn value(value: f64) -> Finding {
    Finding::answered(VALUE, value)
}

#[track_caller]
fn is_value(source: &ResultSource, content: &str, expected: f64) {
    assert_eq!(found(source, Some(content.as_bytes())), value(expected), "{content}");
}

#[track_caller]
fn is_invalid(source: &ResultSource, content: &str, part: &str) {
    match found(source, Some(content.as_bytes())) {
        Finding { kind: Kind::Invalid, reason, .. } => {
            assert!(reason.contains(part), "{content}: {reason} lacks {part}")
        }
        other => panic!("{content}: {other:?}"),
    }
}

#[track_caller]
fn is_failed(source: &ResultSource, content: Option<&str>, part: &str) {
    match found(source, content.map(str::as_bytes)) {
        Finding { kind: Kind::Failed, reason, .. } => {
            assert!(reason.contains(part), "{content:?}: {reason} lacks {part}")
        }
        other => panic!("{content:?}: {other:?}"),
    }
}

#[test]
fn json_numbers_and_objects() {
    is_value(&json(), "1.5", 1.5);
    is_value(&json(), "\u{feff} -3\n", -3.0);
    is_value(&json(), "{\"objective\": 1e-300}", 1e-300);
    is_value(&json(), "{\"objective\": 2, \"fail\": false, \"feasible\": true}", 2.0);
    let content =
        r#"{"objective": 1, "n": 3, "name": "NaN \" x", "bad": NaN, "up": -Infinity, "o": {"p": 1}}"#;
    is_value(&json(), content, 1.0);
}

#[test]
fn json_answers_that_say_no() {
    is_failed(&json(), Some("{\"fail\": \"mesh\"}"), "mesh");
    is_failed(&json(), Some("{\"fail\": true, \"objective\": 1}"), "says in result.json");
    is_failed(&json(), Some("{\"fail\": 3}"), "3");
    let infeasible = found(&json(), Some(b"{\"feasible\": false, \"objective\": 1}"));
    assert!(infeasible.kind == Kind::Infeasible, "{infeasible:?}");
}

#[test]
fn fault_27_json_that_is_not_one_finite_number() {
    for (content, part) in [
        ("", "is empty"),
        (" \n", "is empty"),
        ("{\"objective\": 1.2", "breaks off at line 1"),
        ("[1, 2]", "array of 2"),
        ("{\"objective\": [1]}", "array of 1"),
        ("{\"objective\": NaN}", "NaN"),
        ("NaN", "NaN"),
        ("{\"objective\": -Infinity}", "infinite"),
        ("{\"objective\": 1e999}", "not JSON"),
        ("{\"objective\": \"1.5\"}", "without quotes"),
        ("{\"objective\": null}", "null"),
        ("{\"objective\": true}", "true"),
        ("{\"value\": 1}", "no member \"objective\"; it has value"),
        ("{}", "it has nothing"),
        ("Traceback (most recent call last)", "not JSON"),
        ("1.5 2.5", "not JSON"),
    ] {
        is_invalid(&json(), content, part);
    }
}

#[test]
fn fault_28_no_answer_is_a_failure() {
    for source in [json(), dakota(), regex("f=(.*)", Occurrence::Last), csv(Occurrence::Last)] {
        is_failed(&source, None, "left no");
    }
    is_failed(&ResultSource::Stdout, Some("all is well\n"), "no number");
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("result.json")).unwrap();
    assert_eq!(extract(&evaluation(&json()), folder.path(), Path::new("stdout")).kind, Kind::Failed);
}

#[test]
fn answers_of_any_size_are_refused_before_they_fill_the_memory() {
    let folder = tempfile::tempdir().unwrap();
    File::create(folder.path().join("result.json")).unwrap().set_len(1 << 40).unwrap();
    let found = extract(&evaluation(&json()), folder.path(), Path::new("stdout"));
    assert!(found.kind == Kind::Invalid && found.reason.contains("larger than 16 MiB"), "{found:?}");
}

#[test]
fn dakota_results() {
    is_value(&dakota(), "  1.250000000000000e-01 f\n", 0.125);
    is_value(&dakota(), "1.5D+03", 1500.0);
    is_value(&dakota(), "2.0 obj_fn\n[ 1.0 2.0 ]\n[[ 1 0\n 0 1 ]]\n", 2.0);
    is_failed(&dakota(), Some("FAIL\n"), "FAIL");
    is_failed(&dakota(), Some("fail: mesh"), "mesh");
    is_invalid(&dakota(), "1.0 f\n2.0 c1\n", "2 values");
    is_invalid(&dakota(), "nan f", "NaN");
    is_invalid(&dakota(), "Inf", "infinite");
    is_invalid(&dakota(), "f 1.0", "2 values");
    is_invalid(&dakota(), "drag", "not a number");
    is_invalid(&dakota(), "[ 1.0 ]", "not a number");
    is_invalid(&dakota(), "", "is empty");
}

#[test]
fn the_last_number_on_standard_output() {
    for (content, expected) in [
        ("1\n2\n3.5\n", 3.5),
        ("iteration 7: f = -1.25e-3\ndone\n", -1.25e-3),
        ("The drag is 0.5.\n", 0.5),
        ("f(x)=4;\n", 4.0),
        ("0.125D+01", 1.25),
        ("1.5\n\n[tribo: 99 bytes left out here]\nfinished\n", 1.5),
    ] {
        is_value(&ResultSource::Stdout, content, expected);
    }
    is_invalid(&ResultSource::Stdout, "f = 1\nf = nan\n", "NaN");
    is_invalid(&ResultSource::Stdout, "-inf", "infinite");
    is_invalid(&ResultSource::Stdout, "1e999", "infinite");
}

#[test]
fn what_could_be_one_number_or_another_is_refused() {
    let stdout = ResultSource::Stdout;
    for (content, part) in [
        ("1,5\n", r#""1,5" in line 1 of stdout, "1,5", could be a decimal comma"#),
        ("mass = -1,234.5 kg\n", r#""-1,234.5""#),
        ("1'234.5\n", r#""1'234.5""#),
        ("drag: 0.5,0.7", "two numbers"),
        (
            "objective = 42\nFinished in 3.2 s\n",
            r#"which number is the answer? line 1 of stdout, "objective = 42" or line 2 of stdout, "Finished in 3.2 s""#,
        ),
        ("42\nFinished in 3.2 s\n", "which number is the answer?"),
        ("mass = 42\n\ntime: 3.2\n", "which number is the answer?"),
        ("objective = 42\nElapsed: 3.2\n", "which number is the answer?"),
        ("mass = 4\nFinished at 12:30:05", "which number is the answer?"),
    ] {
        is_invalid(&stdout, content, part);
    }
    for (content, expected) in [
        ("Solver 2.1, 1000 cells\nmass = 42 kg\n", 42.0),
        ("cells: 1000\ntime: 3.2\nobjective: 42\n", 42.0),
        ("cells: 1000\nFinished in 3.2 s\n42\n", 42.0),
        ("step 1: f = 3\nstep 2: f = 2\n", 2.0),
        ("f = 3, g = 4\nf = 2, g = 1\n", 1.0),
        ("Finished in 3.2 s\n", 3.2),
        ("x = 1, 5\n", 5.0),
    ] {
        is_value(&stdout, content, expected);
    }
    // The name that the study file gives the output says which one it is.
    let outputs = [("Mass", stdout)];
    let content = "time = 3\nmass = 42\n";
    gives(&found_of(&outputs, "stdout", content), Kind::Ok, "Mass 42.0", "");
}

#[test]
fn a_pattern_that_takes_a_part_of_a_number_is_refused() {
    for (pattern, content, whole) in [
        ("f = ([0-9.]+)", "f = 1,234.5", "1,234.5"),
        ("f = ([0-9.]+)", "f = 1.5e-3", "1.5e-3"),
        (r"f = (\d+)", "f = 1.5", "1.5"),
        (r"f = -?(\d+)", "f = -15", "-15"),
        (r"(\d{2})$", "f = 1234", "1234"),
        (r"(\d+)$", "f = 3,5 g = 1.5", "1.5"),
    ] {
        let source = regex(pattern, Occurrence::Last);
        is_invalid(&source, content, &format!(" of {whole:?} in line 1 of run.log"));
    }
    for (pattern, content, expected) in [
        ("f = ([0-9.]+)", "f = 2.5eV, 3", 2.5),
        ("f = ([0-9.]+)", "f = 2.5, 3", 2.5),
        (r"run-(\d+)", "run-15", 15.0),
        (r"(\d+) of", "12-15 of 20", 15.0),
    ] {
        is_value(&regex(pattern, Occurrence::Last), content, expected);
    }
}

#[test]
fn places_quote_the_line() {
    let folder = tempfile::tempdir().unwrap();
    let place = |source: &ResultSource, file: &str, content: &str| {
        std::fs::write(folder.path().join(file), content).unwrap();
        let places = places(&evaluation(source), folder.path(), &folder.path().join("stdout"));
        places.into_iter().map(|(name, place)| format!("{name}: {place}")).collect::<Vec<_>>().join("; ")
    };
    assert_eq!(
        place(&ResultSource::Stdout, "stdout", "a\n\n  f = 2\nb\n"),
        "value: line 3 of stdout, \"f = 2\""
    );
    let log = regex("f=(.*)", Occurrence::Last);
    assert_eq!(place(&log, "run.log", "f=1\nf=2\n"), "value: line 2 of run.log, \"f=2\"");
    assert_eq!(
        place(&csv(Occurrence::Last), "out.csv", "step,drag\n1,2\n"),
        "value: line 2 of out.csv, \"1,2\""
    );
    assert_eq!(place(&json(), "result.json", "{\"objective\": 1}"), "value: \"objective\" in result.json");
    assert_eq!(place(&dakota(), "results.out", "1.5 f"), "value: results.out, \"1.5\"");
    assert_eq!(place(&json(), "result.json", "{}"), "");
}

#[test]
fn regular_expressions() {
    let log = "f = 1.5\nf = 2.5 f = 3.5\ng = 4\n";
    is_value(&regex("f = ([0-9.]+)", Occurrence::First), log, 1.5);
    is_value(&regex("f = ([0-9.]+)", Occurrence::Last), log, 3.5);
    is_value(&regex("f = ([0-9.]+)", Occurrence::Nth(2)), log, 2.5);
    is_value(&regex("^g = (.*)$", Occurrence::Only), log, 4.0);
    let three = "run.log has 3 matches of `f = ([0-9.]+)` where one is wanted";
    is_invalid(&regex("f = ([0-9.]+)", Occurrence::Only), log, three);
    is_failed(&regex("f = ([0-9.]+)", Occurrence::Nth(4)), Some(log), "`, and number 4 is wanted");
    is_failed(
        &regex(r"h = (\S+) kg", Occurrence::Last),
        Some(log),
        r"run.log has no match of `h = (\S+) kg`",
    );
    is_invalid(&regex("(g) =", Occurrence::Last), log, "\"g\", which is not a number");
    is_invalid(&regex("f = (.*)", Occurrence::Last), "f = NaN", "NaN");
    assert!(check(&evaluation(&regex("f = [0-9]+", Occurrence::Last))).unwrap_err().contains("no group"));
    assert!(check(&evaluation(&regex("f = ([0-9]+", Occurrence::Last))).is_err());
    let stdout = ResultSource::Regex { file: None, pattern: "f=(.*)".into(), occurrence: Occurrence::Last };
    is_value(&stdout, "f=7\n", 7.0);
}

#[test]
fn csv_cells() {
    let table = "step, \"drag\" ,\"a, \"\"b\"\"\"\r\n1,0.5,\"x,y\"\r\n\r\n2,0.25,z\r\n";
    is_value(&csv(Occurrence::Last), table, 0.25);
    is_value(&csv(Occurrence::First), table, 0.5);
    is_value(&csv(Occurrence::Nth(2)), table, 0.25);
    is_invalid(&csv(Occurrence::Only), table, "out.csv has 2 rows where one is wanted");
    is_failed(&csv(Occurrence::Nth(3)), Some(table), "2 rows, and number 3 is wanted");
    is_failed(&csv(Occurrence::Last), Some("drag\n"), "out.csv has a header and no row");
    // Decimal commas make more fields than there are columns.
    is_invalid(&csv(Occurrence::Last), "step,drag\n1,0,5\n", "line 2 of out.csv, \"1,0,5\", has more fields");
    is_invalid(&csv(Occurrence::Last), "step,drag\n1,\"0,5\"\n", "\"0,5\", which is not a number");
    is_invalid(&csv(Occurrence::Last), "lift\n1\n", "no column \"drag\"; its columns are lift");
    is_invalid(&csv(Occurrence::Last), "drag\nhigh\n", "\"high\", which is not a number");
    is_invalid(&csv(Occurrence::Last), "step,drag\n1\n", "not a number");
    is_invalid(&csv(Occurrence::Last), "", "is empty");
}

/// What is found of these outputs, the first of which is the objective, when this file holds this.
fn found_of(outputs: &[(&str, ResultSource)], file: &str, content: &str) -> Finding {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(file), content).unwrap();
    let sought = |(k, (name, source)): (usize, &(&str, ResultSource))| Sought {
        name: (*name).to_owned(),
        objective: k == 0,
        source: source.clone(),
    };
    let mut evaluation = evaluation(&outputs[0].1);
    evaluation.outputs = outputs.iter().enumerate().map(sought).collect();
    extract(&evaluation, folder.path(), &folder.path().join("stdout"))
}

#[track_caller]
fn gives(finding: &Finding, kind: Kind, outputs: &str, reason: &str) {
    assert_eq!((finding.kind, finding.outputs.to_string().as_str()), (kind, outputs), "{finding:?}");
    assert!(finding.reason.contains(reason), "{finding:?}");
    assert_eq!(finding.reason.is_empty(), reason.is_empty(), "{finding:?}");
}

#[test]
fn outputs_in_json_are_found_by_their_keys() {
    let key = |key: &str| ResultSource::Json { file: "result.json".into(), key: key.into() };
    let outputs = [("mass", key("mass")), ("stress", key("peak"))];
    let found = |content: &str| found_of(&outputs, "result.json", content);
    gives(&found(r#"{"peak": 180, "mass": 1.5, "other": 2}"#), Kind::Ok, "mass 1.5, stress 180.0", "");
    gives(&found(r#"{"mass": 1.5}"#), Kind::Ok, "mass 1.5", "no output `stress`: result.json has no member");
    gives(&found(r#"{"mass": 1.5, "peak": NaN}"#), Kind::Ok, "mass 1.5", "NaN");
    gives(
        &found(r#"{"peak": 180}"#),
        Kind::Invalid,
        "stress 180.0",
        "output `mass`: result.json has no member",
    );
    gives(&found(r#"{"fail": "mesh", "peak": 180}"#), Kind::Failed, "stress 180.0", "it failed: mesh");
    gives(&found(r#"{"feasible": false, "peak": 180}"#), Kind::Infeasible, "stress 180.0", "not allowed");
    gives(&found("1.5"), Kind::Ok, "mass 1.5", "not an object");
    gives(&found("{"), Kind::Invalid, "", "breaks off");
}

#[test]
fn outputs_in_a_log_have_patterns_of_their_own() {
    let outputs = ["mass", "time"].map(|name| (name, regex(&format!("{name} = (\\S+)"), Occurrence::Last)));
    let found = |content: &str| found_of(&outputs, "run.log", content);
    gives(&found("time = 3\nmass = 1\nmass = 2\n"), Kind::Ok, "mass 2.0, time 3.0", "");
    gives(&found("mass = 2\n"), Kind::Ok, "mass 2.0", "no output `time`: run.log has no match of");
    gives(&found("time = 3\n"), Kind::Failed, "time 3.0", "output `mass`: run.log has no match of");
}

#[test]
fn dakota_responses_by_descriptor_number_and_order() {
    let source = |response| ResultSource::Dakota { file: "results.out".into(), response };
    let usual = |number, descriptor: &str| {
        let of = vec!["mass".to_owned(), "peak stress".to_owned()];
        source(Response::Usual { descriptor: descriptor.to_owned(), number, of })
    };
    let outputs = [("mass", usual(1, "mass")), ("peak stress", usual(2, "peak stress"))];
    let found = |content: &str| found_of(&outputs, "results.out", content);
    for both in
        ["1.5\n180\n", "1.5 f\n180 g\n", "180 peak_stress\n1.5 mass\n", "1.5 [ 0 1 ]\n180 peak_stress"]
    {
        gives(&found(both), Kind::Ok, "mass 1.5, peak stress 180.0", "");
    }
    gives(&found("1.5 mass\n"), Kind::Ok, "mass 1.5", "no output `peak stress`");
    gives(&found("180 peak_stress\n"), Kind::Invalid, "peak stress 180.0", "output `mass`");
    // Three for two: which is which cannot be known, but by name.
    gives(&found("1\n2\n3\n"), Kind::Invalid, "", "not as many as the outputs");
    gives(&found("1 f\n2 mass\n3 g\n"), Kind::Ok, "mass 2.0", "no output");
    gives(&found("fail: mesh"), Kind::Failed, "", "says in results.out");
    let chosen =
        [("stress", source(Response::Number(2))), ("mass", source(Response::Descriptor("m".into())))];
    gives(&found_of(&chosen, "results.out", "1.5 m\n180\n3\n"), Kind::Ok, "mass 1.5, stress 180.0", "");
    gives(&found_of(&chosen, "results.out", "1.5 m\n"), Kind::Invalid, "mass 1.5", "no response 2");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]
    #[test]
    fn nothing_a_program_writes_causes_a_panic(
        noise in prop::collection::vec(any::<u8>(), 0..200),
        nearly in "[\\[\\]{}\",:a-zE0-9.eNIn\\\\ -]{0,80}",
    ) {
        let sources = [json(), dakota(), ResultSource::Stdout, regex("(.*)", Occurrence::Last), csv(Occurrence::Last)];
        for source in &sources {
            for content in [&noise[..], nearly.as_bytes(), &[b"drag\n", &noise[..]].concat()] {
                let found = found(source, Some(content));
                prop_assert!(found.outputs.iter().all(|(_, value)| value.is_finite()));
                prop_assert_eq!(found.kind == Kind::Ok, found.value(VALUE).is_some());
            }
        }
    }

    #[test]
    fn floats_are_read_to_the_bit(bits in any::<u64>()) {
        let number = f64::from_bits(bits);
        prop_assume!(number.is_finite());
        let text = crate::job::printf::shortest(number);
        for (source, content) in [
            (json(), format!("{{\"objective\": {text}}}")),
            (dakota(), format!("{text} f\n")),
            (ResultSource::Stdout, format!("f = {text}\n")),
            (regex("f=(.*)", Occurrence::Only), format!("f={text}")),
            (csv(Occurrence::Only), format!("drag\n{text}\n")),
        ] {
            let found = found(&source, Some(content.as_bytes()));
            prop_assert_eq!(found.value(VALUE).map(f64::to_bits), Some(bits), "{}: {:?}", content, found);
        }
    }
}
