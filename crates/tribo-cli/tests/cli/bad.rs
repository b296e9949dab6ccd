//! Bad input: a clear message, the right exit code, and nothing lost.

use crate::support::{Folder, SQUARE, done};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

#[test]
fn faults_of_the_study_file_have_their_place() {
    for (old, new, place, part) in [
        ("workers = 2", "worker = 2", "study.toml:15:1:", "workers"),
        ("low = -1.0", "low = \"-1\"", "study.toml:8:7:", "number"),
        ("direction = \"minimize\"", "", "study.toml:", "direction"),
        ("high = 1.0", "high = -2.0", "study.toml:", "x"),
        ("seed = 3", "seed = ", "study.toml:3:", ""),
    ] {
        let folder = Folder::with(&SQUARE.replace(old, new));
        for command in ["check", "run"] {
            folder.tribo([command]).code(3).says(place).says(part);
        }
        assert!(!folder.has("study.tribo"), "{new}");
    }
}

#[test]
fn a_study_without_a_command_is_refused() {
    let (head, tail) = SQUARE.split_once("command = ").unwrap();
    let (_, tail) = tail.split_once('\n').unwrap();
    Folder::with(&format!("{head}{tail}")).tribo(["run"]).code(3).says("command");
}

#[test]
fn no_study_where_one_was_expected() {
    let folder = Folder::empty();
    folder.tribo(["run"]).code(2).says("tribo init");
    for command in ["status", "best", "trials", "export", "inputs", "check", "run", "ask"] {
        folder
            .tribo([command, "nowhere"])
            .code(2)
            .says("nowhere: there is no study here")
            .says("nor its store nowhere.tribo")
            .says("`tribo init nowhere`");
    }
    folder.write("study.toml", SQUARE);
    for command in ["status", "best", "trials", "export"] {
        folder.tribo([command]).code(2).says("this study has not begun").says("`tribo run ./study.toml`");
    }
}

#[test]
fn a_changed_study_file_is_not_taken_by_itself() {
    let folder = Folder::finished();
    let journal = folder.read("study.tribo/journal");
    folder.write("study.toml", &SQUARE.replace("high = 1.0", "high = 2.0"));
    folder.tribo(["run"]).code(3).says("was changed since the study began").says("tribo run --new-chapter");
    folder.tribo(["check", "--no-run"]).code(0).says("was changed since");
    folder.tribo(["status"]).code(0).prints("warning: ");
    folder.tribo(["best"]).code(0);
    assert!(folder.read("study.tribo/journal").starts_with(&journal), "nothing is lost");
    // A change that decides no proposals is taken over.
    folder.write("study.toml", &SQUARE.replace("workers = 2", "workers = 1"));
    folder.tribo(["status"]).code(0).prints("was changed; the next `tribo run` uses it");
    folder.tribo(["run"]).code(0);
}

#[test]
fn a_second_driver_is_refused() {
    let folder = Folder::with(&SQUARE.replace("command = '", "command = 'sleep 60; "));
    let first = folder.start(["run"]);
    folder.await_status(|status| status["counts"]["running"] == 2);
    folder.tribo(["run"]).code(4).says("is in use by process");
    folder.tribo(["run", "--take-over"]).code(4);
    folder.tribo(["ask"]).code(4).says("is in use by process");
    first.interrupt_twice();
    first.wait().code(130);
}

#[test]
fn a_damaged_journal_is_refused_with_its_place() {
    let folder = Folder::finished();
    let path = folder.path().join("study.tribo/journal");
    let good = fs::read(&path).unwrap();
    let mut bytes = good.clone();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&path, &bytes).unwrap();
    for command in ["status", "run", "best"] {
        folder.tribo([command]).code(4).says("is damaged at byte");
    }
    assert_eq!(fs::read(&path).unwrap(), bytes, "nothing was changed");
    // A cut at the end is what a crash leaves.
    fs::write(&path, &good[..good.len() - 3]).unwrap();
    folder.tribo(["status"]).code(0).prints("unfinished record");
    folder.tribo(["run"]).code(0).says("unfinished record");
}

#[test]
fn a_folder_that_cannot_be_written_is_named() {
    let folder = Folder::with(SQUARE);
    let program = folder.path().join("tribo");
    fs::copy(env!("CARGO_BIN_EXE_tribo"), &program).unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o555)).unwrap();
    for command in ["run", "check"] {
        let mut tribo = Command::new(&program);
        tribo.arg(command).current_dir(folder.path()).stdin(Stdio::null());
        if fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0) {
            // The superuser may write anywhere; nobody may not.
            tribo.uid(65_534).gid(65_534);
        }
        done(tribo.output().unwrap()).code(4).says("study.").says("denied");
    }
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
}

fn slurm(partition: &str) -> String {
    SQUARE.replace("[run]\n", "[run]\non = \"slurm\"\n")
        + &format!("\n[run.slurm]\npartition = \"{partition}\"\n")
}

#[test]
fn a_scheduler_that_is_not_there_is_named() {
    let folder = Folder::with(&slurm("batch"));
    fs::create_dir(folder.path().join("bin")).unwrap();
    for command in ["check", "run"] {
        let output = folder.command([command]).env("PATH", folder.path().join("bin")).output().unwrap();
        done(output).code(8).says("sbatch");
    }
}

#[test]
fn a_partition_that_does_not_exist_is_named() {
    let folder = Folder::with(&slurm("nope"));
    for name in ["squeue", "scontrol", "sacct", "scancel"] {
        folder.script(&format!("bin/{name}"), "#!/bin/sh\nexit 0\n");
    }
    folder.script(
        "bin/sbatch",
        "#!/bin/sh\necho 'sbatch: error: invalid partition specified: nope' >&2\n\
         echo 'sbatch: error: Batch job submission failed: Invalid partition name specified' >&2\nexit 1\n",
    );
    let path = format!("{}:{}", folder.path().join("bin").display(), std::env::var("PATH").unwrap());
    for command in ["check", "run"] {
        let output = folder.command([command]).env("PATH", &path).output().unwrap();
        done(output).code(3).says("nvalid partition").says("[run.slurm]");
    }
}

#[test]
fn the_evaluation_of_a_cluster_runs_on_this_machine_only_when_asked() {
    let folder = Folder::with(&slurm("batch"));
    folder.script("bin/sbatch", "#!/bin/sh\nexit 0\n");
    let path = format!("{}:{}", folder.path().join("bin").display(), std::env::var("PATH").unwrap());
    let check = |options: &[&str]| {
        let arguments = ["check"].iter().chain(options);
        done(folder.command(arguments).env("PATH", &path).output().unwrap()).code(0)
    };
    let asked =
        check(&[]).says("slurm would take a job of this study").says("`tribo check --run` tries one here");
    assert_eq!(asked.stdout, "", "no evaluation was run");
    check(&["--run"]).says("runs on this machine").says("not as a job of slurm").prints("value 0.0\n");
    let both = folder.tribo(["check", "--run", "--no-run"]);
    both.code(2).says("cannot be used with");
}
