//! Evaluations that workers pull: workers that people start, and pilots under a scheduler that is a fake.

use crate::support::{Folder, Running};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A study whose evaluations write down that they began.
fn study(evaluations: usize, workers: usize, seconds: f64, run: &str) -> String {
    format!(
        r#"study_version = 1
direction = "minimize"
seed = 3
strategy = {{ name = "random" }}
budget = {{ evaluations = {evaluations} }}
[[parameter]]
name = "x"
type = "float"
low = -1.0
high = 1.0
[run]
workers = {workers}
command = 'echo "$TRIBO_TRIAL $TRIBO_ATTEMPT" >>"$TRIBO_STUDY_DIR/executions"; sleep {seconds}; echo 1'
result = "stdout"
{run}
"#
    )
}

/// How often each trial was executed.
fn executions(folder: &Folder) -> BTreeMap<u64, usize> {
    let mut count = BTreeMap::new();
    for line in folder.read("executions").lines() {
        *count.entry(line.split_once(' ').unwrap().0.parse().unwrap()).or_default() += 1;
    }
    count
}

fn all_measured_once(folder: &Folder, evaluations: usize) {
    let status = folder.tribo(["status", "--json"]).code(0).json();
    assert_eq!(status["counts"]["measured"], evaluations, "{status}");
    let count = executions(folder);
    assert_eq!(count.len(), evaluations);
    assert!(count.values().all(|n| *n == 1), "{count:?}");
}

fn wait_until(what: &str, holds: impl Fn() -> bool) {
    let begin = Instant::now();
    while !holds() {
        assert!(begin.elapsed() < Duration::from_secs(60), "waited a minute in vain: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A worker that sees the study under a path of its own, as a container does.
fn worker_elsewhere(folder: &Folder, number: usize) -> Child {
    let place = tempfile::tempdir().unwrap().keep();
    let script = format!(
        "mount --bind {} {place} && cd {place} && exec {} worker . --slots 2",
        folder.path().display(),
        env!("CARGO_BIN_EXE_tribo"),
        place = place.display()
    );
    // Where namespaces cannot be had, it is a worker all the same.
    let may = Command::new("unshare").args(["-m", "true"]).stderr(Stdio::null()).status();
    let mut command = match may.is_ok_and(|status| status.success()) {
        true => {
            let mut command = Command::new("unshare");
            command.args(["-m", "sh", "-c", &script]);
            command
        }
        false => folder.command(["worker", ".", "--slots", "2"]),
    };
    let log = fs::File::create(folder.path().join(format!("worker-{number}.txt"))).unwrap();
    command.stdin(Stdio::null()).stderr(log).spawn().unwrap()
}

#[test]
fn three_workers_that_share_only_the_folder_do_each_evaluation_once() {
    let folder = Folder::with(&study(30, 6, 0.1, "on = \"workers\""));
    let run = folder.start(["run"]);
    wait_until("the study has begun", || folder.has("study.tribo/pool/offers"));
    let workers: Vec<Child> = (0..3).map(|number| worker_elsewhere(&folder, number)).collect();
    run.wait_in_time().code(0);
    all_measured_once(&folder, 30);
    for (number, mut worker) in workers.into_iter().enumerate() {
        assert!(worker.wait().unwrap().success());
        let said = folder.read(&format!("worker-{number}.txt"));
        assert!(said.contains("this worker leaves: the study needs it no more"), "{said}");
    }
}

#[test]
fn without_a_worker_the_study_says_what_it_waits_for() {
    let folder = Folder::with(&study(3, 3, 0.0, "on = \"workers\""));
    folder.tribo(["worker"]).code(2).says("has not begun");
    Folder::with(&study(3, 3, 0.0, "")).tribo(["worker"]).code(2).says("write on = \"workers\"");
    let run = folder.start(["run"]);
    wait_until("it says so", || {
        fs::read_to_string(folder.path().join("stderr.txt"))
            .unwrap()
            .contains("there is no worker; start `tribo worker`")
    });
    folder.tribo(["status"]).code(0).prints("queue     3 jobs").prints("there is no worker");
    folder.tribo(["worker", "--idle", "1s"]).code(0).says("this worker leaves");
    run.wait_in_time().code(0);
    all_measured_once(&folder, 3);
}

#[test]
fn a_worker_that_has_to_leave_gives_back_what_it_has() {
    let folder = Folder::with(&study(1, 1, 3.0, "on = \"workers\""));
    let run = folder.start(["run"]);
    wait_until("the study has begun", || folder.has("study.tribo/pool/offers"));
    let first = folder.command(["worker"]).stderr(Stdio::null()).spawn().unwrap();
    wait_until("it works", || folder.has("executions"));
    let mut first = Interrupted(first);
    first.interrupt();
    // Its time would not last for what it has seen, but another's does.
    folder.tribo(["worker", "--time", "1h", "--idle", "30s"]).code(0);
    run.wait_in_time().code(0);
    let shown = folder.tribo(["trials", "--trial", "0"]).code(0);
    shown
        .prints("attempt 1: infrastructure")
        .prints("its worker had to leave: it was told to stop by SIGINT");
    assert_eq!(executions(&folder)[&0], 2);
}

struct Interrupted(Child);

impl Interrupted {
    fn interrupt(&mut self) {
        assert!(
            Command::new("kill").args(["-s", "INT", &self.0.id().to_string()]).status().unwrap().success()
        );
        assert!(self.0.wait().unwrap().success());
    }
}

/// A SLURM made of fakes, for the program.
struct Cluster {
    folder: Folder,
    state: PathBuf,
}

impl Cluster {
    fn new(study: &str) -> Cluster {
        let folder = Folder::with(study);
        let state = folder.path().join("scheduler");
        fs::create_dir(&state).unwrap();
        fs::write(state.join("settings.json"), "{\"run\": true}").unwrap();
        Cluster { folder, state }
    }

    fn run(&self) -> Running {
        let fakes = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tribo-study/tests/fakes");
        let path = format!("{}:{}", fakes.display(), std::env::var("PATH").unwrap());
        self.folder
            .start_with(["run"], &[("PATH", &path), ("FAKE_SCHED_STATE", self.state.to_str().unwrap())])
    }

    fn called(&self, program: &str) -> usize {
        let calls = fs::read_to_string(self.state.join("calls")).unwrap();
        calls
            .lines()
            .filter(|line| line.starts_with(&format!("[\"{program}\"")) && !line.contains("--test-only"))
            .count()
    }
}

const PILOTS: &str =
    "on = \"slurm\"\nahead = 4\n[run.pilots]\nslots = 4\n[run.slurm]\ntime = \"1h\"\npoll = \"1s\"";

#[test]
fn pilots_run_a_study_with_few_submissions_and_leave_with_it() {
    let cluster = Cluster::new(&study(60, 8, 0.05, PILOTS));
    cluster.run().wait_in_time().code(0);
    all_measured_once(&cluster.folder, 60);
    assert!(cluster.called("sbatch") <= 2, "{} submissions", cluster.called("sbatch"));
    let jobs: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(cluster.state.join("jobs.json")).unwrap()).unwrap();
    let states: Vec<&str> =
        jobs["jobs"].as_array().unwrap().iter().filter_map(|job| job["state"].as_str()).collect();
    assert_eq!(states.len(), 2, "{states:?}");
    assert!(states.iter().all(|state| *state != "RUNNING" && *state != "PENDING"), "{states:?}");
}

#[test]
fn a_driver_that_is_killed_finds_its_pilots_again() {
    let cluster = Cluster::new(&study(60, 8, 0.2, PILOTS));
    let run = cluster.run();
    wait_until("some are done", || {
        cluster.folder.has("executions") && executions(&cluster.folder).len() > 20
    });
    run.signal("KILL");
    run.wait();
    cluster.run().wait_in_time().code(0);
    all_measured_once(&cluster.folder, 60);
    assert!(cluster.called("sbatch") <= 2, "{} submissions", cluster.called("sbatch"));
}

#[test]
fn machines_that_ssh_reaches_run_a_study() {
    let keys = "on = \"ssh\"\n[run.pilots]\nslots = 2\n[run.ssh]\nhosts = [\"one\", \"down1\", \"two\"]\npoll = \"1s\"";
    let cluster = Cluster::new(&study(20, 4, 0.05, keys));
    cluster.run().wait_in_time().code(0);
    all_measured_once(&cluster.folder, 20);
    let hosts = fs::read_to_string(cluster.state.join("hosts")).unwrap();
    assert!(hosts.contains("one") && hosts.contains("two"), "{hosts}");
}
