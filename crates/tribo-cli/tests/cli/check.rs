//! `tribo check`: one evaluation, and what can be wrong with it.

use crate::support::{Folder, SQUARE, with_command};

#[test]
fn a_good_study_is_told_what_it_will_take() {
    let folder = Folder::with(SQUARE);
    let done = folder
        .tribo(["check"])
        .code(0)
        .says("6 evaluations like this")
        .says("exit code 0")
        .says("all is well");
    assert_eq!(done.stdout, "value 0.0\n");
    assert!(!folder.has("study.tribo") && !folder.has("study.check.tribo"));
}

#[test]
fn answers_that_are_none_fail_the_check() {
    for (command, part) in [
        (r#"["true"]"#, "result.json"),
        (r#"'touch {result}'"#, "empty"),
        (r#"'printf "{\"objective\": 1." > {result}'"#, "result.json"),
        (r#"'echo "{\"objective\": NaN}" > {result}'"#, "result.json"),
        (r#"'echo "{\"objective\": [1, 2]}" > {result}'"#, "objective"),
        (r#"'echo "1 2" > {result}'"#, "result.json"),
        (r#"'echo "{\"other\": 1}" > {result}'"#, "objective"),
    ] {
        let folder = Folder::with(&with_command(command));
        folder.tribo(["check"]).code(7).says(part).says("its folder is");
    }
}

#[test]
fn the_end_of_standard_error_is_shown() {
    let folder = Folder::with(&with_command(r#"'echo "the licence has expired" >&2; exit 3'"#));
    folder.tribo(["check"]).code(7).says("exit code 3").says("  the licence has expired");
    assert!(folder.has("study.check.tribo/trials/000000/a1/stderr"));
    // What one check leaves, the next one removes.
    folder.write("study.toml", SQUARE);
    folder.tribo(["check"]).code(0);
    assert!(!folder.has("study.check.tribo"));
}

#[test]
fn programs_that_cannot_be_started_are_explained() {
    let folder = Folder::with(&with_command(r#"["no-such-program"]"#));
    folder.tribo(["check"]).code(7).says("no-such-program");
    folder.write("sim.py", "print(1)\n");
    folder.write("study.toml", &with_command(r#"["./sim.py"]"#));
    folder.tribo(["check"]).code(7).says("not executable");
}

#[test]
fn templates_are_read_without_an_evaluation() {
    let command = with_command(r#"["touch", "ran"]"#);
    let deck = "\n[[run.deck]]\ntemplate = \"wing.in\"\nto = \"wing.dat\"\n";
    let folder = Folder::with(&format!("{command}{deck}"));
    let check = || folder.tribo(["check", "--no-run"]);
    check().code(7).says("wing.in").says("No such file");
    folder.write("wing.in", "span 3\nx {{y}}\n");
    check().code(7).says("wing.in:2: \"y\" is not a parameter of the study").says("its parameters are x");
    folder.write("wing.in", "span 3\nx {{x | %8.3f}}\n");
    check().code(0).says("1 input deck: all names are known");
    folder.write("study.toml", &format!("{command}copy = [\"mesh.dat\"]\n"));
    check().code(7).says("mesh.dat does not exist");
    assert!(!folder.has("study.check.tribo") && !folder.has("ran"), "nothing was run or written");
}

#[test]
fn a_study_by_hand_needs_no_command() {
    let (head, _) = SQUARE.split_once("[run]").unwrap();
    Folder::with(head).tribo(["check"]).code(0).says("tribo ask");
}

#[test]
fn a_value_is_shown_with_the_line_it_is_read_from() {
    let command = r#"'echo "Solver 2.1, 1000 cells"; echo "mass = 42 kg"'
result = "stdout""#;
    let folder = Folder::with(&with_command(command));
    let place = r#"value is read from line 2 of stdout, "mass = 42 kg""#;
    folder.tribo(["check"]).code(0).says(place);
    folder.tribo(["run"]).code(0);
    folder.tribo(["trials", "--trial", "0"]).code(0).prints(place);
    let one = folder.tribo(["trials", "--trial", "0", "--json"]).code(0).json();
    assert_eq!(one["attempts"][0]["places"]["value"], r#"line 2 of stdout, "mass = 42 kg""#);
}

#[test]
fn a_value_that_may_be_another_is_refused() {
    for (output, part) in [
        (r#"echo "objective = 42"; echo "Finished in 3.2 s""#, "which number is the answer?"),
        ("echo 1,5", "could be a decimal comma, thousands or two numbers"),
    ] {
        let folder = Folder::with(&with_command(&format!("'{output}'\nresult = \"stdout\"")));
        folder.tribo(["check"]).code(7).says(part).says("invalid");
    }
}
