//! A study on each scheduler that has a preset, from start to end: its driver is killed and the next one goes on.

use crate::cluster::{Cluster, all_measured_once, executions, study, wait_until};

const EVALUATIONS: usize = 16;
const WORKERS: usize = 4;
/// From this trial on, evaluations wait for a file.
const WAITING: usize = 8;

/// Runs a study under a preset. Its driver is killed while all workers are busy, and the next one finds their jobs again.
fn from_start_to_end(preset: &str, submit: &str) {
    let keys =
        format!("on = \"template\"\n[run.template]\npreset = \"{preset}\"\ntime = \"1h\"\npoll = \"1s\"");
    let wait = format!(
        "[ $TRIBO_TRIAL -lt {WAITING} ] || until [ -e \"$TRIBO_STUDY_DIR/go\" ]; do sleep 0.05; done;"
    );
    let text = study(EVALUATIONS, WORKERS, 0.0, &keys).replace("sleep 0;", &wait);
    let cluster = Cluster::with_programs(&text, preset);
    let (folder, begun) = (&cluster.folder, WAITING + WORKERS);
    let submitted = || folder.read("study.tribo/journal").matches("\"type\":\"submitted\"").count();
    let run = cluster.run();
    wait_until("half of it is done and all workers are busy", || {
        folder.has("executions") && executions(folder).len() == begun && submitted() == begun
    });
    run.signal("KILL");
    run.wait();
    let run = cluster.run();
    wait_until("the next driver has the study", || run.stderr().contains("4 evaluations"));
    folder.write("go", "");
    run.wait_in_time().code(0);
    all_measured_once(folder, EVALUATIONS);
    assert_eq!(cluster.called(&format!("{preset}/{submit}")), EVALUATIONS, "{preset}: submissions");
    cluster.is_empty();
}

#[test]
fn lsf() {
    from_start_to_end("lsf", "bsub");
}

#[test]
fn grid_engine() {
    from_start_to_end("sge", "qsub");
}

#[test]
fn htcondor() {
    from_start_to_end("htcondor", "condor_submit");
}

#[test]
fn flux() {
    from_start_to_end("flux", "flux\", \"batch");
}

#[test]
fn oar() {
    from_start_to_end("oar", "oarsub");
}

#[test]
fn hyperqueue() {
    from_start_to_end("hyperqueue", "hq\", \"submit");
}
