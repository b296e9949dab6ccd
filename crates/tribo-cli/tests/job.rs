//! `tribo job` as a scheduler runs it: real processes in a real folder. Names with a number are rows of the fault table.
//!
//! Nothing sleeps for its own sake: tests wait for files that commands write, and for processes to end.

// An unwrap that fails in a test is a failed test.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tribo_study::config::{
    Command as Line, Deck, Evaluation, Occurrence, ParamsFormat, Response, ResultSource,
};
use tribo_study::job::{Answer, Array, JOB_VERSION, Kind, Spec, Started, claim_as_driver, digest};
use tribo_study::outputs::VALUE;
use tribo_study::tag::{AttemptId, StudyId, Tag};

const PARAMS: &str = r#"{"mach":0.1,"n":12,"x":[0.5,-3.0],"solver":"cg"}"#;

/// A study folder with a store and one attempt.
struct Study {
    folder: tempfile::TempDir,
    spec: Spec,
}

impl Study {
    fn new(line: Line) -> Study {
        let folder = tempfile::tempdir().unwrap();
        for part in ["tmp", "done", "seen"] {
            fs::create_dir_all(folder.path().join("study.tribo/spool").join(part)).unwrap();
        }
        let id = AttemptId { trial: 12, attempt: 1 };
        let spec = Spec {
            version: JOB_VERSION,
            id,
            tag: Tag::new(&StudyId::from_bits(u64::from(std::process::id())), id).unwrap(),
            params_digest: digest(PARAMS.as_bytes()),
            folder: "../../../..".into(),
            evaluation: Evaluation::of(line),
            wall_limit_s: None,
            warning_s: None,
        };
        Study { folder, spec }
    }

    fn shell(line: &str) -> Study {
        Study::new(Line::Shell(line.into()))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn dir(&self) -> PathBuf {
        self.path("study.tribo/trials/000012/a1")
    }

    /// Writes what the driver writes.
    fn submit(&self) {
        fs::create_dir_all(self.dir()).unwrap();
        fs::write(self.dir().join("job.json"), serde_json::to_vec(&self.spec).unwrap()).unwrap();
        fs::write(self.dir().join("params.json"), PARAMS).unwrap();
    }

    fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tribo"));
        command.arg("job").arg("--dir").arg(self.dir()).stdin(Stdio::null());
        for name in ["SLURM_JOB_ID", "SLURM_JOB_NAME", "SLURM_RESTART_COUNT", "PBS_JOBID", "PBS_JOBNAME"] {
            command.env_remove(name);
        }
        command
    }

    /// Starts the job.
    fn start(&self) -> Running {
        self.submit();
        Running(self.command().spawn().unwrap())
    }

    /// Runs the job to its end and gives its answer.
    fn run(&self) -> Answer {
        assert_eq!(self.start().end(), Some(0));
        self.answer("000012.a1.i0.json")
    }

    fn answer(&self, name: &str) -> Answer {
        let path = self.path("study.tribo/spool/done").join(name);
        serde_json::from_slice(&fs::read(&path).unwrap_or_else(|error| panic!("{name}: {error}"))).unwrap()
    }

    fn spooled(&self) -> Vec<String> {
        let entries = fs::read_dir(self.path("study.tribo/spool/done")).unwrap();
        let mut names: Vec<_> =
            entries.map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.dir().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Waits until the command has written a file.
    fn wait_for(&self, name: &str) {
        wait_until(name, || self.dir().join(name).exists());
    }

    /// Processes that belong to this study.
    fn processes(&self) -> Vec<String> {
        let cookie = format!("TRIBO_DIR={}", self.dir().display());
        let pids = fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
        pids.filter(|path| {
            let environment = fs::read(path.join("environ")).unwrap_or_default();
            environment.split(|&b| b == 0).any(|entry| entry == cookie.as_bytes())
        })
        .map(|path| path.display().to_string())
        .collect()
    }
}

/// A job under way; if the test fails it is killed, and what it had started with it.
struct Running(Child);

impl Running {
    /// Its exit code.
    fn end(mut self) -> Option<i32> {
        self.0.wait().unwrap().code()
    }

    fn signal(&self, signal: &str) {
        assert!(Command::new("kill").arg(signal).arg(self.0.id().to_string()).status().unwrap().success());
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.0.try_wait().unwrap().is_none() {
            // SIGTERM, so that it ends its command too.
            self.signal("-TERM");
            self.0.wait().unwrap();
        }
    }
}

fn wait_until(what: &str, condition: impl Fn() -> bool) {
    let until = Instant::now() + Duration::from_secs(60);
    while !condition() {
        assert!(Instant::now() < until, "{what} did not come about");
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn value(answer: &Answer) -> Option<f64> {
    answer.finding.value(VALUE)
}

#[track_caller]
fn assert_no_value(answer: &Answer, kind: Kind, part: &str) {
    assert_eq!((answer.finding.kind, value(answer)), (kind, None), "{answer:?}");
    assert!(answer.finding.reason.contains(part), "{answer:?} lacks {part}");
}

#[test]
fn an_evaluation_from_end_to_end() {
    let study = Study::new(Line::Argv(vec![
        "./sim.sh".into(),
        "{params}".into(),
        "{result}".into(),
        "{trial}.{attempt}".into(),
    ]));
    let script = "#!/bin/sh\necho out; echo err >&2\npwd > where\nenv > environment\ncp \"$1\" seen.json\n\
                  i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done\n\
                  echo '{\"objective\": 0.30000000000000004, \"drag\": 2, \"arg\": \"'$3'\"}' > \"$2\"\n";
    fs::write(study.path("sim.sh"), script).unwrap();
    fs::set_permissions(study.path("sim.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    let answer = study.run();
    assert_eq!((answer.finding.kind, value(&answer)), (Kind::Ok, Some(0.30000000000000004)), "{answer:?}");
    assert_eq!((answer.version, answer.id, answer.incarnation), (JOB_VERSION, study.spec.id, 0));
    assert_eq!(
        (answer.tag.clone(), answer.params_digest.clone()),
        (study.spec.tag.clone(), study.spec.params_digest.clone())
    );
    assert_eq!((answer.exit_code, answer.signal), (Some(0), None));
    assert!(answer.wall_s > 0.0 && answer.wall_s < 60.0, "{answer:?}");
    assert!(answer.cpu_s > 0.0 && answer.cpu_s < 60.0, "{answer:?}");
    assert!(answer.max_rss > 100_000 && answer.max_rss < 1 << 30, "{answer:?}");
    assert_eq!((study.read("stdout"), study.read("stderr")), ("out\n".into(), "err\n".into()));
    assert_eq!(study.read("seen.json"), PARAMS);
    assert_eq!(study.read("where").trim(), study.dir().to_string_lossy());
    let started = Started::read(&study.dir()).unwrap();
    assert_eq!((started.incarnation, started.by.host.clone()), (0, answer.host.clone()));
    assert!(started.by.job.starts_with("local:"), "{started:?}");
    let environment = study.read("environment");
    let (dir, folder) = (study.dir().display().to_string(), study.folder.path().display().to_string());
    for line in [
        "TRIBO_TRIAL=12".to_owned(),
        "TRIBO_ATTEMPT=1".into(),
        format!("TRIBO_TAG={}", study.spec.tag),
        format!("TRIBO_DIR={dir}"),
        format!("TRIBO_STUDY_DIR={folder}"),
        format!("TRIBO_PARAMS={dir}/params.json"),
        format!("TRIBO_RESULT={dir}/result.json"),
        "TRIBO_X_MACH=0.1".into(),
        "TRIBO_X_N=12".into(),
        "TRIBO_X_SOLVER=cg".into(),
    ] {
        assert!(environment.lines().any(|entry| entry == line), "{line} is not in\n{environment}");
    }
    assert_eq!(study.spooled(), ["000012.a1.i0.json"]);
}

#[test]
fn decks_copies_links_and_dakota_parameters() {
    let mut study = Study::shell("cat wing.dat mesh/a linked/b > all && echo 1.5 f > results.out");
    study.spec.evaluation.params = ParamsFormat::Dakota;
    study.spec.evaluation.result =
        ResultSource::Dakota { file: "results.out".into(), response: Response::Only };
    let deck = |template: &str| Deck {
        template: template.into(),
        to: "wing.dat".into(),
        open: "{{".into(),
        close: "}}".into(),
    };
    study.spec.evaluation.decks = vec![deck("wing.in")];
    study.spec.evaluation.copy = vec!["mesh".into()];
    study.spec.evaluation.link = vec!["linked".into()];
    for (name, text) in [("wing.in", "m={{ mach | %8.3f }}\n"), ("mesh/a", "a\n"), ("linked/b", "b\n")] {
        fs::create_dir_all(study.path(name).parent().unwrap()).unwrap();
        fs::write(study.path(name), text).unwrap();
    }
    assert_eq!(value(&study.run()), Some(1.5));
    assert_eq!(study.read("all"), "m=   0.100\na\nb\n");
    assert!(study.read("params.in").starts_with("                                          5 variables\n"));
    let mut wrong = Study::shell("true");
    wrong.spec.evaluation.decks = vec![deck("wing.in")];
    fs::write(wrong.path("wing.in"), "\n{{mahc}}").unwrap();
    assert_no_value(&wrong.run(), Kind::Unstarted, "wing.in:2: \"mahc\" is not a parameter");
}

/// A study whose command works on a disk of the machine, which is a folder of the test.
fn on_scratch(line: &str) -> (Study, tempfile::TempDir) {
    let (mut study, scratch) = (Study::shell(line), tempfile::tempdir().unwrap());
    study.spec.evaluation.scratch = Some("$FAST/here".into());
    study.spec.evaluation.copy = vec!["mesh.dat".into()];
    fs::create_dir(scratch.path().join("here")).unwrap();
    fs::write(study.path("mesh.dat"), "mesh").unwrap();
    study.submit();
    (study, scratch)
}

fn run_on(study: &Study, scratch: &Path) -> Answer {
    study.submit();
    assert!(study.command().env("FAST", scratch).status().unwrap().success());
    assert_eq!(fs::read_dir(scratch.join("here")).unwrap().count(), 0, "nothing is left there");
    study.answer("000012.a1.i0.json")
}

#[test]
fn a_command_works_on_scratch_and_what_it_leaves_comes_back() {
    let line = "pwd >where; cat mesh.dat params.json >seen; mkdir out; echo 1 >out/field; echo x >claim; \
                echo '{\"objective\": 2.5}' >{result}";
    let (mut study, scratch) = on_scratch(line);
    assert_eq!(value(&run_on(&study, scratch.path())), Some(2.5));
    let folder = scratch.path().join("here").join(format!("tribo-{}", study.spec.tag));
    assert_eq!(study.read("where").trim(), folder.to_str().unwrap());
    assert_eq!((study.read("seen"), study.read("out/field")), (format!("mesh{PARAMS}"), "1\n".into()));
    assert!(!study.dir().join("mesh.dat").exists(), "what did not change stays where it was");
    assert!(study.read("claim").contains("\"owner\""), "the job's own files are its own");
    // Only what is asked for, and the answer.
    fs::remove_dir_all(study.dir()).unwrap();
    fs::remove_file(study.path("study.tribo/spool/done/000012.a1.i0.json")).unwrap();
    study.spec.evaluation.fetch = vec!["out".into()];
    assert_eq!(value(&run_on(&study, scratch.path())), Some(2.5));
    let has = |name: &str| study.dir().join(name).exists();
    assert_eq!((has("out/field"), has("result.json"), has("where")), (true, true, false));
}

#[test]
fn scratch_that_cannot_be_had_or_brought_back_is_said() {
    let (study, scratch) = on_scratch("true");
    assert_eq!(study.start().end(), Some(0));
    assert_no_value(&study.answer("000012.a1.i0.json"), Kind::Unstarted, "$FAST is not set on this machine");
    let (study, _) = on_scratch("true");
    study.submit();
    assert!(study.command().env("FAST", "/nowhere").status().unwrap().success());
    assert_no_value(&study.answer("000012.a1.i0.json"), Kind::Unstarted, "cannot be made on this machine");
    // The attempt's folder has a folder where the file belongs.
    let (study, _) = on_scratch("echo 1 >taken; echo '{\"objective\": 1}' >{result}");
    fs::create_dir(study.dir().join("taken")).unwrap();
    assert_no_value(&run_on(&study, scratch.path()), Kind::Transient, "cannot be copied back");
    // Told to stop, a job has no time for that, and leaves nothing behind.
    let (study, _) = on_scratch("touch begun \"$TRIBO_DIR/begun\"; exec sleep 600");
    let job = Running(study.command().env("FAST", scratch.path()).spawn().unwrap());
    study.wait_for("begun");
    fs::remove_file(study.dir().join("begun")).unwrap();
    job.signal("-TERM");
    assert_eq!(job.end(), Some(0));
    assert_no_value(&study.answer("000012.a1.i0.json"), Kind::Stopped, "SIGTERM");
    assert!(!study.dir().join("begun").exists());
    assert_eq!(fs::read_dir(scratch.path().join("here")).unwrap().count(), 0);
}

#[test]
fn fault_07_the_second_copy_of_a_job_does_nothing() {
    let study = Study::shell("echo once >> count; echo 1 > result.json; echo {params}");
    study.submit();
    let run = |id: &str| study.command().env("SLURM_JOB_ID", id).status().unwrap();
    assert!(run("41").success() && run("42").success());
    assert_eq!(study.read("count"), "once\n");
    assert_eq!(study.spooled(), ["000012.a1.i0.dup-slurm-42.json", "000012.a1.i0.json"]);
    assert_no_value(&study.answer("000012.a1.i0.dup-slurm-42.json"), Kind::Duplicate, "claimed by slurm:41");
    assert_eq!(value(&study.answer("000012.a1.i0.json")), Some(1.0));
}

#[test]
fn fault_51_a_revoked_job_does_nothing_at_all() {
    let study = Study::shell("touch ran");
    study.submit();
    assert!(claim_as_driver(&study.dir()).unwrap());
    assert!(study.command().status().unwrap().success());
    assert!(study.spooled().is_empty() && !study.dir().join("ran").exists());
}

#[test]
fn fault_16_a_restarted_job_is_the_next_incarnation() {
    let study = Study::shell(
        "echo run; if [ -e first ]; then echo 2 > result.json; else touch first; exec sleep 600; fi",
    );
    study.submit();
    let mut first = study.command().env("SLURM_JOB_ID", "41").spawn().unwrap();
    study.wait_for("first");
    first.kill().unwrap();
    assert_eq!(first.wait().unwrap().signal(), Some(9));
    // A node that fails takes the command with it; here it lives on, and the next incarnation ends it first.
    assert!(
        study.command().env("SLURM_JOB_ID", "41").env("SLURM_RESTART_COUNT", "1").status().unwrap().success()
    );
    let answer = study.answer("000012.a1.i1.json");
    assert_eq!((value(&answer), answer.incarnation), (Some(2.0), 1));
    assert_eq!((study.read("stdout"), study.spooled().len()), ("run\n".into(), 1));
    assert!(study.dir().join("stdout.i0").exists());
    assert_eq!(study.processes(), [""; 0]);
}

#[test]
fn fault_45_a_rerun_counts_for_itself_and_an_answer_stands() {
    let study = Study::shell("echo once >> count; echo 2 > result.json");
    study.submit();
    let run = || study.command().env("PBS_JOBID", "7[3].head").status().unwrap().success();
    assert!(run());
    fs::remove_file(study.path("study.tribo/spool/done/000012.a1.i0.json")).unwrap();
    assert!(run());
    assert_eq!(
        (study.read("count"), value(&study.answer("000012.a1.i0.json"))),
        ("once\n".into(), Some(2.0))
    );
    // Stopped by the scheduler and run again: counted without any help from PBS.
    let stopped =
        Study::shell("if [ -e first ]; then echo 3 > result.json; else touch first; exec sleep 600; fi");
    stopped.submit();
    let first = Running(stopped.command().env("PBS_JOBID", "8.head").spawn().unwrap());
    stopped.wait_for("first");
    first.signal("-TERM");
    assert_eq!(first.end(), Some(0));
    assert_no_value(&stopped.answer("000012.a1.i0.json"), Kind::Stopped, "told to stop by SIGTERM");
    assert!(stopped.command().env("PBS_JOBID", "8.head").status().unwrap().success());
    assert_eq!(value(&stopped.answer("000012.a1.i1.json")), Some(3.0));
}

#[test]
fn elements_of_arrays_find_their_attempts() {
    let study = Study::shell("echo $TRIBO_TRIAL > result.json");
    let other = AttemptId { trial: 3, attempt: 2 };
    let array =
        Array { version: JOB_VERSION, tag: study.spec.tag.clone(), elements: vec![other, study.spec.id] };
    fs::create_dir(study.path("study.tribo/arrays")).unwrap();
    let manifest = study.path("study.tribo/arrays/a.json");
    fs::write(&manifest, serde_json::to_vec(&array).unwrap()).unwrap();
    let run = |variable: &str, index: &str| {
        study.submit();
        let mut command = Command::new(env!("CARGO_BIN_EXE_tribo"));
        command.args(["job", "--array"]).arg(&manifest).env(variable, index).output().unwrap()
    };
    assert!(run("SLURM_ARRAY_TASK_ID", "1").status.success());
    assert_eq!(value(&study.answer("000012.a1.i0.json")), Some(12.0));
    fs::remove_dir_all(study.path("study.tribo/trials")).unwrap();
    fs::remove_file(study.path("study.tribo/spool/done/000012.a1.i0.json")).unwrap();
    assert!(run("PBS_ARRAY_INDEX", "1").status.success());
    assert_eq!(value(&study.answer("000012.a1.i0.json")), Some(12.0));
    for (index, part) in [("2", "no element 2"), ("0", "trials/000003/a2/job.json")] {
        let output = run("PBS_ARRAY_INDEX", index);
        assert_eq!(output.status.code(), Some(1));
        assert!(String::from_utf8_lossy(&output.stderr).contains(part), "{output:?}");
    }
}

#[test]
fn fault_20_the_scheduler_s_time_limit() {
    let study = Study::shell("touch begun; exec sleep 600");
    let job = study.start();
    study.wait_for("begun");
    job.signal("-USR1");
    assert_eq!(job.end(), Some(0));
    assert_no_value(&study.answer("000012.a1.i0.json"), Kind::Walltime, "SIGUSR1");
    assert_eq!(study.processes(), [""; 0]);
    let mut timed = Study::shell("exec sleep 600");
    timed.spec.wall_limit_s = Some(0.5);
    let answer = timed.run();
    assert_no_value(&answer, Kind::Walltime, "time limit is near");
    assert!(answer.wall_s < 60.0, "{answer:?}");
}

#[test]
fn the_study_s_time_limit() {
    let mut study = Study::shell("echo 1 > result.json; echo working >&2; sleep 600");
    study.spec.evaluation.timeout = Some(Duration::from_millis(300));
    let answer = study.run();
    assert_no_value(&answer, Kind::Timeout, "longer than `timeout`");
    assert!(answer.wall_s >= 0.3 && answer.stderr_tail == "working", "{answer:?}");
    assert_eq!(answer.signal, Some(15));
}

#[test]
fn cancelled_by_a_file_and_by_a_signal() {
    let study = Study::shell("touch begun; exec sleep 600");
    let job = study.start();
    study.wait_for("begun");
    fs::write(study.dir().join("cancel"), "").unwrap();
    assert_eq!(job.end(), Some(0));
    assert_no_value(&study.answer("000012.a1.i0.json"), Kind::Cancelled, "the study asked");
    // A scheduler's cancel sends a signal too: who asked is told by the file.
    for (asked, kind, part) in [(true, Kind::Cancelled, "the study asked"), (false, Kind::Stopped, "SIGTERM")]
    {
        let study = Study::shell("touch begun; exec sleep 600");
        let job = study.start();
        study.wait_for("begun");
        if asked {
            fs::write(study.dir().join("cancel"), "").unwrap();
        }
        job.signal("-TERM");
        assert_eq!(job.end(), Some(0));
        assert_no_value(&study.answer("000012.a1.i0.json"), kind, part);
    }
    // A script goes on when its program was killed: what it prints then is no value. The signal comes 20 ms later.
    let late = "p=$PPID; (setsid sh -c \"sleep 0.02; kill -TERM $p\" &); echo 2 > result.json";
    let study = Study::shell(&format!("unset TRIBO_TAG TRIBO_DIR; {late}"));
    study.submit();
    assert!(study.command().env("SLURM_JOB_ID", "41").status().unwrap().success());
    assert_no_value(&study.answer("000012.a1.i0.json"), Kind::Stopped, "SIGTERM");
    let study = Study::shell("touch ran");
    study.submit();
    fs::write(study.dir().join("cancel"), "").unwrap();
    assert_no_value(&study.run(), Kind::Cancelled, "before it started");
    assert!(!study.dir().join("ran").exists());
}

#[test]
fn fault_23_a_job_without_its_folder_claims_nothing() {
    let study = Study::shell("true");
    let output = study.command().output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("job.json"), "{output:?}");
    fs::create_dir_all(study.dir()).unwrap();
    fs::write(study.dir().join("job.json"), "{\"version\": 1").unwrap();
    assert_eq!(study.command().output().unwrap().status.code(), Some(1));
    assert!(!study.dir().join("claim").exists() && study.spooled().is_empty());
}

#[test]
fn what_cannot_start_says_why() {
    let newer = {
        let mut study = Study::shell("true");
        study.spec.version = 99;
        study
    };
    let script = Study::new(Line::Argv(vec!["sim.py".into()]));
    fs::write(script.path("sim.py"), "").unwrap();
    let shebang = Study::new(Line::Argv(vec!["sim.py".into()]));
    fs::write(shebang.path("sim.py"), "#!/no/such/interpreter\n").unwrap();
    fs::set_permissions(shebang.path("sim.py"), fs::Permissions::from_mode(0o755)).unwrap();
    for (study, part) in [
        (
            Study::new(Line::Argv(vec!["no-such-solver".into()])),
            "no-such-solver is neither in the study folder",
        ),
        (script, "chmod +x"),
        (shebang, "interpreter"),
        (newer, "version 99"),
    ] {
        assert_no_value(&study.run(), Kind::Unstarted, part);
    }
}

#[test]
fn fault_27_answers_that_are_no_numbers() {
    for (line, part) in [
        ("echo '{\"objective\": NaN}' > result.json", "NaN"),
        ("echo '[1, 2]' > result.json", "array of 2"),
        ("printf '{\"objective\": 1' > result.json", "breaks off"),
        (": > result.json", "empty"),
    ] {
        assert_no_value(&Study::shell(line).run(), Kind::Invalid, part);
    }
}

#[test]
fn fault_28_exit_codes_outrank_answers() {
    for (line, kind, part) in [
        ("true", Kind::Failed, "left no result.json"),
        ("echo 1 > result.json; exit 3", Kind::Failed, "exit code 3"),
        ("echo 1 > result.json; exit 75", Kind::Transient, "tried again"),
        ("exit 65", Kind::Infeasible, "not allowed"),
        ("kill -SEGV $$", Kind::Failed, "SIGSEGV"),
        ("no-such-program", Kind::Failed, "TRIBO_STUDY_DIR"),
    ] {
        assert_no_value(&Study::shell(line).run(), kind, part);
    }
}

#[test]
fn fault_29_stale_answers_and_strange_parameters() {
    let mut study = Study::shell("test ! -e results.out && test -e input");
    study.spec.evaluation.result =
        ResultSource::Dakota { file: "results.out".into(), response: Response::Only };
    study.spec.evaluation.copy = vec!["results.out".into(), "input".into()];
    for name in ["results.out", "input"] {
        fs::write(study.path(name), "1.0").unwrap();
    }
    assert_no_value(&study.run(), Kind::Failed, "left no results.out");
    assert!(study.path("results.out").exists());
    // Through a link the study folder's own file would be removed.
    let mut linked = Study::shell("true");
    linked.spec.evaluation.result =
        ResultSource::Dakota { file: "out/results.out".into(), response: Response::Only };
    linked.spec.evaluation.link = vec!["out".into()];
    fs::create_dir(linked.path("out")).unwrap();
    fs::write(linked.path("out/results.out"), "1.0").unwrap();
    assert_no_value(&linked.run(), Kind::Unstarted, "outside the attempt's folder");
    assert!(linked.path("out/results.out").exists());
    let mut edited = Study::shell("touch ran");
    edited.spec.params_digest = digest(b"others");
    assert_no_value(&edited.run(), Kind::Unstarted, "not the one the driver wrote");
    assert!(!edited.dir().join("ran").exists());
}

/// Starts a daemon in a session of its own, twice removed, that ignores requests and keeps the output open.
const DAEMON: &str = "(setsid sh -c 'trap \"\" TERM HUP; touch daemon; while :; do sleep 1; done' &) & \
                      while [ ! -e daemon ]; do sleep 0.01; done;";

#[test]
fn fault_30_daemons_are_swept() {
    let study = Study::shell(&format!("{DAEMON} sleep 600 & echo 4 > result.json"));
    let answer = study.run();
    assert_eq!((value(&answer), answer.finding.reason.as_str()), (Some(4.0), ""), "{answer:?}");
    assert!(study.dir().join("daemon").exists());
    assert_eq!(study.processes(), [""; 0]);
    let mut stopped = Study::shell(&format!("{DAEMON} touch begun; sleep 600"));
    stopped.spec.evaluation.timeout = Some(Duration::from_secs(2));
    assert_no_value(&stopped.run(), Kind::Timeout, "");
    assert!(stopped.dir().join("daemon").exists());
    assert_eq!(stopped.processes(), [""; 0]);
}

#[test]
fn fault_31_a_command_that_ignores_sigterm_is_killed() {
    let mut study = Study::shell("trap '' TERM; while :; do sleep 1; done");
    // The grace at the scheduler's limit is the shorter one.
    study.spec.wall_limit_s = Some(0.5);
    let answer = study.run();
    assert_no_value(&answer, Kind::Walltime, "");
    assert_eq!(answer.signal, Some(9));
    assert!(answer.wall_s > 2.0 && answer.wall_s < 10.0, "{answer:?}");
    assert_eq!(study.processes(), [""; 0]);
}

#[test]
fn fault_32_endless_output_is_cut_and_memory_stays_flat() {
    // The shell's parent is the job. 300 MB is far above what the job may use, and quick to write.
    let line = "head -c 300000000 /dev/zero; grep VmHWM /proc/$PPID/status > peak; echo; echo f=7";
    let mut study = Study::shell(line);
    study.spec.evaluation.capture = 1 << 16;
    study.spec.evaluation.result =
        ResultSource::Regex { file: None, pattern: "^f=(.*)".into(), occurrence: Occurrence::Only };
    let answer = study.run();
    assert_eq!(value(&answer), Some(7.0), "{answer:?}");
    let stdout = fs::read(study.dir().join("stdout")).unwrap();
    assert!(stdout.len() < (1 << 16) + (1 << 12) + 100, "{}", stdout.len());
    let left_out = 300_000_005 - (1 << 16) - (1 << 12);
    assert!(String::from_utf8_lossy(&stdout).contains(&format!("[tribo: {left_out} bytes left out here]")));
    let peak: u64 = study.read("peak").split_whitespace().nth(1).unwrap().parse().unwrap();
    assert!(peak < 32 << 10, "the job used {peak} kB");
}

#[test]
fn output_held_open_by_a_stranger_is_not_waited_for() {
    // Without cookie it is a stranger; it still is our descendant, and is ended as one.
    let study = Study::shell("env -i setsid sleep 600 & echo 5 > result.json");
    let answer = study.run();
    assert_eq!(value(&answer), Some(5.0), "{answer:?}");
    assert!(answer.wall_s < 60.0);
}

#[test]
fn zombies_do_not_pile_up() {
    let line = "i=0; while [ $i -lt 50 ]; do (sh -c 'true &' ); i=$((i+1)); done; sleep 0.2; \
                grep -l ') Z '$PPID' ' /proc/[0-9]*/stat > zombies; echo 1 > result.json";
    let study = Study::shell(line);
    assert_eq!(value(&study.run()), Some(1.0));
    assert_eq!(study.read("zombies"), "");
}

#[test]
fn the_folder_of_a_finished_attempt_is_tidy() {
    let study = Study::shell("echo 1 > result.json");
    study.run();
    let entries = fs::read_dir(study.dir()).unwrap();
    let mut names: Vec<_> = entries.map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    let expected = [
        "claim",
        "hb",
        "job.json",
        "params.json",
        "result.json",
        "result.tribo.json",
        "started.json",
        "stderr",
        "stdout",
    ];
    assert_eq!(names, expected);
    assert_eq!(fs::read_dir(Path::new(&study.path("study.tribo/spool/tmp"))).unwrap().count(), 0);
}

#[test]
fn time_for_which_a_job_is_suspended_counts_against_no_limit() {
    let mut study =
        Study::shell("echo $$ >part; mv part began; sleep 2; echo '{\"objective\": 1}' >result.json");
    study.spec.evaluation.timeout = Some(Duration::from_secs(4));
    let running = study.start();
    study.wait_for("began");
    // As a scheduler does it: all processes of the job.
    let group = fs::read_to_string(study.dir().join("began")).unwrap();
    let command = |signal: &str| {
        let mut kill = Command::new("kill");
        assert!(kill.args([signal, "--", &format!("-{}", group.trim())]).status().unwrap().success());
    };
    running.signal("-STOP");
    command("-STOP");
    std::thread::sleep(Duration::from_secs(6));
    command("-CONT");
    running.signal("-CONT");
    assert_eq!(running.end(), Some(0));
    let answer = study.answer("000012.a1.i0.json");
    assert_eq!(answer.finding.kind, Kind::Ok, "{}", answer.finding.reason);
    assert!(answer.wall_s < 6.0, "{} s", answer.wall_s);
}

#[test]
fn a_job_whose_setup_failed_says_so() {
    let study = Study::shell("echo never");
    study.submit();
    let log = study.path("job.log");
    let mut command = study.command();
    command.arg("--unready").arg("exit code 1: module load gcc/99");
    fs::write(&log, "Module not found: gcc/99\n").unwrap();
    command.stderr(fs::OpenOptions::new().append(true).open(&log).unwrap());
    assert!(command.status().unwrap().success());
    let answer = study.answer("000012.a1.i0.json");
    assert_eq!(answer.finding.kind, Kind::Unstarted);
    assert_eq!(answer.finding.reason, "the setup of the job failed with exit code 1: module load gcc/99");
    assert_eq!(answer.stderr_tail, "Module not found: gcc/99");
    assert_eq!(fs::read_to_string(study.dir().join("stderr")).unwrap(), answer.stderr_tail);
    assert!(!study.dir().join("stdout").exists(), "nothing was run");
}

#[test]
fn an_answer_is_closed_to_others_whatever_the_umask() {
    let study = Study::shell("echo '{\"objective\": 1}' >result.json");
    study.submit();
    let line = format!("umask 000; exec {} job --dir {}", env!("CARGO_BIN_EXE_tribo"), study.dir().display());
    assert!(Command::new("sh").args(["-c", &line]).status().unwrap().success());
    let answer = study.path("study.tribo/spool/done/000012.a1.i0.json");
    assert_eq!(fs::metadata(answer).unwrap().permissions().mode() & 0o777, 0o644);
}

#[test]
fn a_command_that_wants_it_is_warned_of_its_limit() {
    let mut study = Study::shell("trap 'touch saved' USR1; while :; do sleep 0.1; done");
    study.spec.evaluation.timeout = Some(Duration::from_secs(4));
    study.spec.warning_s = Some(3.0);
    let running = study.start();
    study.wait_for("saved");
    assert!(!study.dir().join("result.tribo.json").exists(), "it goes on");
    assert_eq!(running.end(), Some(0));
    assert_eq!(study.answer("000012.a1.i0.json").finding.kind, Kind::Timeout);
}
