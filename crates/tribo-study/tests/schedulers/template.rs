//! Schedulers by template: each preset against programs that print what its manual says.

use crate::cluster::Cluster;
use crate::conformance::conforms;
use crate::study::{eventually, fakes, reference, sighting_of, state_of};
use serde_json::json;
use tribo_study::config::{Config, On};
use tribo_study::job::Kind;
use tribo_study::runner::command::Commands;
use tribo_study::runner::{JobRef, Runner, State, Submission};

const PRESETS: [&str; 6] = ["lsf", "sge", "htcondor", "flux", "oar", "hyperqueue"];

/// The runner of a study file with this section.
fn runner(cluster: &Cluster, preset: &str, section: &str) -> Box<dyn Runner> {
    let file = format!(
        "study_version = 1\ndirection = \"minimize\"\nbudget = {{ evaluations = 5 }}\n[[parameter]]\nname = \"x\"\n\
         type = \"float\"\nlow = 0\nhigh = 1\n[run]\ncommand = \"./f\"\non = \"template\"\n[run.template]\n{section}\n"
    );
    let config = Config::parse("study.toml".as_ref(), &file).unwrap();
    let On::Batch(settings) = config.run.unwrap().on else { panic!("no scheduler") };
    let path = format!("{}:{}", fakes().join(preset).display(), std::env::var("PATH").unwrap());
    let commands = Commands::new().with_env("PATH", &path).with_env("FAKE_SCHED_STATE", cluster.state());
    settings.runner(cluster.batch(commands))
}

fn of_preset(cluster: &Cluster, preset: &str) -> Box<dyn Runner> {
    runner(cluster, preset, &format!("preset = \"{preset}\"\noptions = [\"-x\", \"a b\"]"))
}

fn accepted(runner: &mut dyn Runner, cluster: &Cluster, trial: u64) -> JobRef {
    let attempt = cluster.study.attempt(trial);
    let outcomes = runner.submit(std::slice::from_ref(&attempt));
    let [Submission::Accepted(id)] = outcomes.as_slice() else { panic!("{outcomes:?}") };
    reference(&attempt, Some(id))
}

#[test]
fn presets_submit_list_and_cancel() {
    for preset in PRESETS {
        let cluster = Cluster::with(json!({ "run": true }));
        let mut runner = of_preset(&cluster, preset);
        runner.check().unwrap();
        let jobs: Vec<JobRef> = (0..2).map(|trial| accepted(runner.as_mut(), &cluster, trial)).collect();
        eventually("both run", || jobs.iter().all(|job| job.dir.join("started.json").exists()));
        let running = |runner: &mut dyn Runner| {
            runner.poll(&jobs).unwrap().iter().map(|s| (s.job.clone(), s.state.clone())).collect::<Vec<_>>()
        };
        let expected: Vec<_> = jobs.iter().map(|job| (job.job.clone().unwrap(), State::Running)).collect();
        assert_eq!(running(runner.as_mut()), expected, "{preset}");
        // Another driver, by ids from the journal.
        assert_eq!(running(of_preset(&cluster, preset).as_mut()), expected, "{preset}");
        assert_eq!(runner.left(&jobs).unwrap().len(), 2, "{preset}");
        runner.cancel(&jobs[..1]).unwrap();
        eventually("it ends", || matches!(state_of(runner.as_mut(), &jobs[0]), None | Some(State::Ended(_))));
        std::fs::write(jobs[1].dir.join("go"), "").unwrap();
        eventually("the other ends", || {
            matches!(state_of(runner.as_mut(), &jobs[1]), None | Some(State::Ended(_)))
        });
        assert!(jobs[1].dir.join("job.log").exists(), "{preset}");
        assert!(runner.left(&jobs).unwrap().is_empty(), "{preset}");
        assert_eq!(runner.poll(&[]).unwrap(), [], "{preset}: an empty list is an answer");
    }
}

#[test]
fn presets_that_list_names_conform() {
    for preset in ["lsf", "htcondor", "flux"] {
        let cluster = Cluster::with(json!({ "run": true }));
        let (attempt, absent) = (cluster.study.attempt(1), cluster.study.attempt(2));
        conforms(of_preset(&cluster, preset).as_mut(), &attempt, &absent);
    }
}

#[test]
fn a_scheduler_that_does_not_answer_proves_nothing() {
    for preset in PRESETS {
        let cluster = Cluster::new();
        let mut runner = of_preset(&cluster, preset);
        let job = accepted(runner.as_mut(), &cluster, 1);
        cluster.settings(json!({ "down": true }));
        assert!(runner.poll(std::slice::from_ref(&job)).is_err(), "{preset}");
        assert_eq!(runner.check().unwrap_err().exit_code(), 8, "{preset}");
        let outcomes = runner.submit(&[cluster.study.attempt(2)]);
        assert!(matches!(outcomes[0], Submission::Unavailable(_)), "{preset}: {outcomes:?}");
        cluster.settings(json!({}));
        assert_eq!(state_of(runner.as_mut(), &job), Some(State::Queued(None)), "{preset}");
    }
}

#[test]
fn a_scheduler_of_one_s_own_is_described_in_the_study_file() {
    let cluster = Cluster::new();
    let section = "submit = \"bsub -J {name} -o {log} {time} < {script}\"\ntime_option = \"-W {minutes}\"\n\
        id = 'Job <(\\d+)>'\nlist = \"bjobs\"\nempty = \"No job\"\njob = '^(?P<id>\\d+) +(?P<state>\\S+) +(?P<name>\\S+)'\n\
        queued = [\"PEND\"]\nfailed = [\"EXIT\"]\ncancel = \"bkill {id}\"";
    let mut runner = runner(&cluster, "lsf", section);
    let job = accepted(runner.as_mut(), &cluster, 1);
    let submitted = cluster.calls().into_iter().find(|call| call[0] == "lsf/bsub").unwrap();
    assert!(submitted.contains(&"60".to_owned()), "{submitted:?}");
    assert_eq!(state_of(runner.as_mut(), &job), Some(State::Queued(None)));
    cluster.tell(&["set", "1", "state=RUNNING"]);
    assert_eq!(
        state_of(runner.as_mut(), &job),
        Some(State::Unknown("RUN".into())),
        "a word that was not given"
    );
    cluster.tell(&["set", "1", "state=FAILED"]);
    let Some(State::Ended(ending)) = state_of(runner.as_mut(), &job) else { panic!("not ended") };
    assert_eq!((ending.kind, ending.reason.as_str()), (Kind::Unstarted, "EXIT"));
    assert_eq!(sighting_of(runner.as_mut(), &reference(&cluster.study.attempt(9), None)), None);
}
