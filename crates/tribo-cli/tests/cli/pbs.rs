//! A study on PBS whose jobs are rerun, renamed, held and can never run, and whose queue is closed.

use crate::cluster::{Cluster, executions, study, wait_until};

/// A study on PBS whose evaluations wait for a file.
fn on_pbs(evaluations: usize, workers: usize, settings: &str) -> Cluster {
    let text = study(evaluations, workers, 0.0, "on = \"pbs\"\n[run.pbs]\ntime = \"1h\"\npoll = \"1s\"");
    let wait = "until [ -e \"$TRIBO_STUDY_DIR/go\" ]; do sleep 0.05; done;";
    let cluster = Cluster::new(&text.replace("sleep 0;", wait));
    cluster.settings(settings);
    cluster
}

#[test]
fn jobs_that_are_rerun_and_renamed_under_a_driver_that_is_killed() {
    let cluster = on_pbs(5, 5, "{\"run\": true}");
    let folder = &cluster.folder;
    let submitted = || folder.read("study.tribo/journal").matches("\"type\":\"submitted\"").count();
    let begun = |n: usize| folder.has("executions") && executions(folder).values().sum::<usize>() == n;
    let run = cluster.run();
    wait_until("all five run, as one array", || begun(5) && submitted() == 5);
    // qrerun: the element is told to stop, waits, and runs again under the same id.
    cluster.tell(&["stop", "1_1", "PENDING", ""]);
    wait_until("it waits", || cluster.states()[1] == "PENDING");
    cluster.tell(&["set", "1_1", "start=true"]);
    wait_until("it runs again", || begun(6));
    cluster.tell(&["set", "1_2", "name=wing-17"]);
    run.signal("KILL");
    run.wait();
    let run = cluster.run();
    wait_until("the next driver has the study", || run.stderr().contains("5 evaluations"));
    folder.write("go", "");
    run.wait_in_time().code(0);
    let status = folder.tribo(["status", "--json"]).code(0).json();
    assert_eq!(status["counts"]["measured"], 5, "{status}");
    let runs: Vec<usize> = executions(folder).into_values().collect();
    assert_eq!(runs.iter().sum::<usize>(), 6, "only the one that was rerun ran twice: {runs:?}");
    assert_eq!(cluster.called("qsub"), 1);
    cluster.is_empty();
}

#[test]
fn what_keeps_jobs_from_running_is_said() {
    let cluster = on_pbs(2, 2, "{\"run\": false}");
    let run = cluster.run();
    wait_until("both wait", || cluster.has_jobs(2));
    cluster.tell(&["set", "1", "letter=H", "reason=Job held by user on Sun Nov 15"]);
    let never = "Can Never Run: Insufficient amount of resource: ncpus (R: 500 A: 20 T: 20)";
    cluster.tell(&["set", "2", &format!("reason={never}")]);
    wait_until("it says so", || {
        run.stderr().contains(&format!("can never run as asked for: {never}; correct [run.pbs]"))
    });
    wait_until("it says both", || run.stderr().contains("is held: Job held by user"));
    cluster.folder.tribo(["status"]).code(0).prints("Can Never Run: Insufficient").prints("held");
    run.interrupt_twice();
    run.wait_in_time().code(130);
    cluster.is_empty();
}

#[test]
fn a_queue_that_is_closed_is_said_by_check() {
    let cluster = on_pbs(2, 2, "{\"run\": true, \"disabled\": true}");
    cluster.tribo(["check"]).code(3).says("Queue is not enabled");
}
