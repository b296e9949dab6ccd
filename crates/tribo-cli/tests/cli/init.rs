//! `tribo init`: every study file it writes can be run as it is.

use crate::support::Folder;

#[test]
fn the_plain_file_passes_its_check() {
    let folder = Folder::empty();
    folder.tribo(["init"]).code(0).says("wrote ./study.toml").says("tribo check");
    folder.tribo(["check"]).code(0).prints("value ");
}

#[test]
fn templates_pass_their_check() {
    for template in ["quick", "deck", "dakota", "wide"] {
        let folder = Folder::empty();
        folder.tribo(["init", "--template", template, "demo"]).code(0);
        folder.tribo(["check", "demo"]).code(0).prints("value ");
        assert!(!folder.has("demo/study.tribo"), "{template}: a check makes no study");
        assert!(!folder.has("demo/study.check.tribo"), "{template}: a check tidies up");
    }
}

#[test]
fn templates_for_schedulers_are_valid() {
    for template in ["slurm", "pbs"] {
        let folder = Folder::empty();
        folder.tribo(["init", "--template", template]).code(0);
        folder.tribo(["check", "--no-run"]).code(0);
    }
}

#[test]
fn a_command_line_becomes_a_study() {
    let folder = Folder::empty();
    folder.script("sim", "#!/bin/sh\necho \"$@\" >&2\nawk -v x=\"$2\" 'BEGIN { print x + 1 }'\n");
    let line = "./sim --x {x:0..1} --y={y:1e-3..1:log} --n={n:1..9:int} --m={m:a,b,c}";
    folder.tribo(["init", "--from", line]).code(0);
    folder.tribo(["check"]).code(0).prints("value 1.5\n");
    folder.tribo(["init", "--from", "./sim", "other"]).code(2).says("no parameter");
}

#[test]
fn nothing_is_overwritten() {
    let folder = Folder::with("mine");
    folder.tribo(["init"]).code(2).says("exists and is not overwritten");
    assert_eq!(folder.read("study.toml"), "mine");
    folder.write("demo/branin.sh", "mine too");
    folder.tribo(["init", "--template", "quick", "demo"]).code(2).says("branin.sh exists");
    assert_eq!(folder.read("demo/branin.sh"), "mine too");
    assert!(!folder.has("demo/study.toml"));
}
