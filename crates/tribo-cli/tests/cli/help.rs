//! Help, version, completions, manual pages and the schema.

use crate::support::Folder;
use std::time::{Duration, Instant};

const COMMANDS: [&str; 20] = [
    "init",
    "check",
    "run",
    "status",
    "best",
    "inputs",
    "report",
    "plot",
    "why",
    "trials",
    "export",
    "import",
    "fit",
    "predict",
    "ask",
    "tell",
    "cancel",
    "completions",
    "man",
    "schema",
];

#[test]
fn the_version_comes_at_once() {
    let folder = Folder::empty();
    let fastest = (0..10).map(|_| {
        let begin = Instant::now();
        folder.tribo(["--version"]).code(0).prints("tribo 0.");
        begin.elapsed()
    });
    // The fastest of ten, since the machine may be busy with other things.
    let fastest = fastest.min().unwrap();
    assert!(fastest < Duration::from_millis(50), "{fastest:?}");
}

#[test]
fn help_has_commands_examples_and_exit_codes() {
    let folder = Folder::empty();
    let help = folder.tribo(["--help"]).code(0);
    for command in COMMANDS {
        assert!(help.stdout.contains(&format!("\n  {command}")), "{command}: {}", help.stdout);
        let own = folder.tribo([command, "--help"]).code(0);
        assert!(command == "schema" || own.stdout.contains("Example"), "{command}: {}", own.stdout);
    }
    assert!(help.stdout.contains("130  interrupted"), "{}", help.stdout);
    assert!(!help.stdout.contains("\n  job"), "the inner command is not for people");
    folder.tribo([] as [&str; 0]).code(2).says("Usage: tribo");
}

#[test]
fn misspelt_words_get_a_suggestion() {
    let folder = Folder::empty();
    folder.tribo(["trails"]).code(2).says("'trials'");
    folder.tribo(["status", "--jsn"]).code(2).says("'--json'");
}

#[test]
fn shells_can_complete() {
    let folder = Folder::empty();
    for shell in ["bash", "zsh", "fish", "powershell"] {
        folder.tribo(["completions", shell]).code(0).prints("export");
    }
}

#[test]
fn manual_pages_are_written() {
    let folder = Folder::empty();
    folder.tribo(["man"]).code(0).prints(".TH tribo");
    folder.tribo(["man", "pages"]).code(0);
    for command in COMMANDS {
        assert!(folder.read(&format!("pages/tribo-{command}.1")).contains(command));
    }
    assert!(!folder.has("pages/tribo-job.1"));
}

#[test]
fn the_schema_is_json() {
    let schema = Folder::empty().tribo(["schema"]).code(0).json();
    assert!(schema["properties"]["parameter"].is_object(), "{schema}");
}
