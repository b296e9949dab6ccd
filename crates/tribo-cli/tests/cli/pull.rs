//! Evaluations that workers pull: workers that people start, and pilots under a scheduler that is a fake.

use crate::cluster::{Cluster, all_measured_once, executions, study, wait_until};
use crate::support::Folder;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Whether processes can have mounts of their own here, as containers do. That takes root, or a kernel that lets others.
fn may_unshare() -> bool {
    let status = Command::new("unshare").args(["-m", "true"]).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

/// A worker that sees the study under a path of its own, and nothing where the driver has it, as in a container. Where that
/// cannot be had, it is a worker all the same.
fn worker_elsewhere(folder: &Folder, number: usize, place: &Path) -> Child {
    let mut command = match may_unshare() {
        true => {
            let script = format!(
                "mount --bind {study} {place} && mount -t tmpfs none {study} && cd {place} && exec {} worker . --slots 2",
                env!("CARGO_BIN_EXE_tribo"),
                study = folder.path().display(),
                place = place.display()
            );
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
    let places = [0, 1, 2].map(|_| tempfile::tempdir().unwrap());
    let workers = [0, 1, 2].map(|number| worker_elsewhere(&folder, number, places[number].path()));
    run.wait_in_time().code(0);
    all_measured_once(&folder, 30);
    for (number, mut worker) in workers.into_iter().enumerate() {
        assert!(worker.wait().unwrap().success());
        let said = folder.read(&format!("worker-{number}.txt"));
        assert!(said.contains("this worker leaves: the study needs it no more"), "{said}");
    }
    let text = folder.read("executions");
    let seen: BTreeSet<&str> = text.lines().filter_map(|line| line.splitn(3, ' ').nth(2)).collect();
    assert_eq!(seen.len(), if may_unshare() { 3 } else { 1 }, "{seen:?}");
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

const PILOTS: &str =
    "on = \"slurm\"\nahead = 4\n[run.pilots]\nslots = 4\n[run.slurm]\ntime = \"1h\"\npoll = \"1s\"";

#[test]
fn pilots_run_a_study_with_few_submissions_and_leave_with_it() {
    let cluster = Cluster::new(&study(60, 8, 0.05, PILOTS));
    cluster.run().wait_in_time().code(0);
    all_measured_once(&cluster.folder, 60);
    assert!(cluster.called("sbatch") <= 2, "{} submissions", cluster.called("sbatch"));
    let states = cluster.states();
    assert_eq!(states.len(), 2, "{states:?}");
    cluster.is_empty();
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
