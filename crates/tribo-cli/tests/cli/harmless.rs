//! Whatever a solver writes, no terminal obeys it and no browser runs it.

use crate::pty::{PATIENCE, Pty};
use crate::support::Folder;
use std::time::{Duration, Instant};

/// A solver that writes a title for the window, colours, a screen wiped, the same for terminals that take single characters
/// for such beginnings, text that reads backwards, and a script: into its output, its errors, its answers, and the names of
/// its outputs.
const SOLVER: &str = r#"#!/bin/sh
hostile() {
  printf '\033]0;owned\007\033[31;5m\033[2J\302\2332J\342\200\256<script>alert(1)</script><img src=x onerror=a()>\n'
}
hostile >&2
case "$TRIBO_TRIAL" in
  1) hostile; exit 3 ;;
  2) exit 0 ;;
  3) hostile > result.json ;;
  *) awk -v x="$TRIBO_X_X" 'BEGIN { printf "{\"objective\": %.17g, \"<b>mass</b>\": 2}", x * x }' > result.json ;;
esac
"#;

const STUDY: &str = r#"study_version = 1
name = "a \u001b]0;owned\u0007\u202e<script>alert(2)</script> study"
direction = "minimize"
seed = 3

[[parameter]]
name = "x"
type = "float"
low = -1.0
high = 1.0

[budget]
evaluations = 14

[run]
workers = 1
command = 'sh ../../../../solver.sh $TRIBO_X_X'
"#;

fn assert_harmless(what: &str, text: &str) {
    let obeyed = |c: char| (c.is_control() && c != '\n' && c != '\t') || c == '\u{202e}';
    if let Some(at) = text.find(obeyed) {
        let around: String =
            text[..at].chars().rev().take(60).collect::<Vec<_>>().into_iter().rev().collect();
        panic!("{what} has {:?} after {around:?}", text[at..].chars().next());
    }
}

#[test]
fn what_a_solver_writes_is_obeyed_nowhere() {
    let folder = Folder::with(STUDY);
    folder.script("solver.sh", SOLVER);
    let run = folder.tribo(["run"]).code(0);
    assert_harmless("run", &run.stderr);
    assert!(run.stderr.contains("\\u{1b}]0;owned"), "{}", run.stderr);
    for words in [
        &["status"][..],
        &["trials"],
        &["trials", "--failed"],
        &["trials", "1"],
        &["trials", "2"],
        &["trials", "3"],
        &["trials", "4"],
        &["why", "1"],
        &["why", "2"],
        &["why", "3"],
        &["best"],
        &["inputs"],
        &["report", "-o", "-"],
        &["plot", "convergence"],
        &["plot", "parallel"],
        &["plot", "timeline"],
        &["status", "--json"],
        &["trials", "--json"],
        &["trials", "1", "--json"],
        &["why", "1", "--json"],
        &["best", "--json"],
        &["inputs", "--json"],
    ] {
        let done = folder.tribo(words).code(0);
        assert_harmless(&words.join(" "), &done.stdout);
        assert_harmless(&words.join(" "), &done.stderr);
        if words.contains(&"plot") || words.contains(&"report") {
            let page = done.stdout.to_lowercase();
            assert!(
                !page.contains("<script") && !page.contains("<img") && !page.contains("<b>"),
                "{words:?}"
            );
        }
    }
    let again = Folder::with(STUDY);
    again.script("solver.sh", SOLVER);
    assert_harmless("run --json", &again.tribo(["run", "--json"]).code(0).stdout);
    // It is shown, only not obeyed.
    folder.tribo(["trials", "1"]).prints("\\u{1b}]0;owned\\u{7}\\u{1b}[31;5m");
    let report = folder.read("study.html").to_lowercase();
    assert!(!report.contains("<script") && !report.contains("<img") && report.contains("&lt;script&gt;"));
    let mut pty = Pty::start(&folder, &["watch"], 150);
    let mut seen = String::new();
    let begin = Instant::now();
    // Blanks are not written where there are some.
    while !(seen.contains("leaves") && seen.contains("\\u{1b}]0;owned\\u{7}")) {
        assert!(begin.elapsed() < PATIENCE, "{seen}");
        seen += &String::from_utf8_lossy(&pty.next(Duration::from_millis(100)).unwrap_or_default());
    }
    pty.press("q");
    assert_eq!(pty.wait(), 0);
    for obeyed in ["\u{1b}]0;", "\u{7}", "\u{1b}[31;5m", "\u{9b}", "\u{202e}"] {
        assert!(!seen.contains(obeyed), "{obeyed:?} in {seen:?}");
    }
}
