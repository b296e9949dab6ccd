//! Parameters whose names clash, and those that nothing uses.

use crate::support::{Folder, SQUARE};

/// The study with a second parameter of this name.
fn with(name: &str, more: &str) -> String {
    let second =
        format!("[[parameter]]\nname = \"{name}\"\ntype = \"float\"\nlow = 0\nhigh = 1\n{more}\n[budget]");
    SQUARE.replace("[budget]", &second)
}

#[test]
fn parameters_that_share_a_variable_are_refused() {
    let folder = Folder::with(&with("X", ""));
    for command in ["check", "run"] {
        let part =
            "study.toml:12:8: parameters `x` and `X` would both be the variable TRIBO_X_X in its environment";
        folder.tribo([command]).code(3).says(part).says("rename one of them");
    }
    assert!(!folder.has("study.tribo"));
}

#[test]
fn a_parameter_that_nothing_uses_is_refused_unless_that_is_meant() {
    let folder = Folder::with(&with("y", ""));
    for command in ["check", "run"] {
        let part = "study.toml:12:8: nothing uses parameter `y`";
        folder.tribo([command]).code(3).says(part).says("write `unused = true` into its section");
    }
    folder.write("study.toml", &with("y", "unused = true"));
    folder.tribo(["check"]).code(0);
    folder.tribo(["run"]).code(0);
    // A study that has begun goes on, and no chapter begins.
    folder.write("study.toml", &with("y", "").replace("evaluations = 6", "evaluations = 8"));
    folder.tribo(["run"]).code(0).says("nothing uses parameter `y`");
    let status = folder.tribo(["status", "--json"]).code(0).json();
    assert_eq!((&status["counts"]["measured"], &status["chapters"]), (&8.into(), &1.into()));
}

#[test]
fn very_many_scalars_are_given_by_file_and_to_those_who_name_them() {
    let parameter =
        |k: usize| format!("[[parameter]]\nname = \"p{k}\"\ntype = \"float\"\nlow = 0\nhigh = 1\n");
    let many: String = (0..1_001).map(parameter).collect();
    let command = r#"command = 'env | grep -c "^TRIBO_X_" ; grep -o "\"p[0-9]*\"" params.json | wc -l; echo "$TRIBO_X_P7"'"#;
    let (head, tail) = SQUARE.split_once("[[parameter]]").unwrap();
    let (_, tail) = tail.split_once("[budget]").unwrap();
    let (tail, _) = tail.split_once("command = ").unwrap();
    let text =
        format!("{head}{many}[strategy]\nname = \"random\"\n[budget]{tail}{command}\nresult = \"stdout\"\n");
    let folder = Folder::with(&text);
    folder.tribo(["check"]).code(0);
    folder.tribo(["run"]).code(0);
    let stdout = folder.read("study.tribo/trials/000000/a1/stdout");
    assert!(stdout.starts_with("1\n1001\n0."), "{stdout}");
}
