//! The virtual clock.

use crate::conformance::conforms;
use crate::study::{Study, reference, sighting_of};
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;
use tribo::problems::by_name;
use tribo::space::{Parameter, Space};
use tribo_study::config;
use tribo_study::job::{Answer, Kind};
use tribo_study::outputs::VALUE;
use tribo_study::runner::simulated::{Simulated, VirtualTime};
use tribo_study::runner::{Runner, Submission};

type Answers = Rc<RefCell<Vec<Answer>>>;

/// A runner for Branin, whose second input stands first in the alphabet.
fn branin() -> (Simulated, VirtualTime, Answers) {
    let parameters = vec![Parameter::float("x", -5.0, 10.0), Parameter::float("a", 0.0, 15.0)];
    let config = config::Simulated {
        problem: "branin".into(),
        objective: VALUE.to_owned(),
        duration: (Duration::from_secs(30), Duration::from_secs(900)),
    };
    let (time, answers) = (VirtualTime::default(), Answers::default());
    let sink = Rc::clone(&answers);
    let space = Space::new(parameters).unwrap();
    let sink = Box::new(move |answer| sink.borrow_mut().push(answer));
    let runner = Simulated::new(&config, &space, 7, time.clone(), sink).unwrap();
    (runner, time, answers)
}

fn attempt_at(study: &Study, trial: u64, params: &str) -> tribo_study::runner::Attempt {
    let attempt = study.attempt(trial);
    std::fs::write(attempt.dir.join("params.json"), params).unwrap();
    attempt
}

#[test]
fn conformance() {
    // An unacknowledged attempt is found by its tag, as long as the program lives.
    let study = Study::new();
    conforms(&mut branin().0, &study.attempt(1), &study.attempt(2));
}

#[test]
fn answers_come_in_the_order_of_their_ends_at_their_times() {
    let study = Study::new();
    let (mut runner, time, answers) = branin();
    let attempts: Vec<_> =
        (0..20).map(|trial| attempt_at(&study, trial, "{\"a\": 2.275, \"x\": 3.1}")).collect();
    assert!(runner.submit(&attempts).iter().all(|outcome| matches!(outcome, Submission::Accepted(_))));
    let mut last = 0.0;
    while answers.borrow().len() < 20 {
        let before = answers.borrow().len();
        assert!(runner.wait(50.0));
        let now = time.get();
        assert!(now > last && now <= last + 50.0, "from {last} to {now}");
        for answer in &answers.borrow()[before..] {
            assert_eq!(answer.wall_s, now, "trial {}", answer.id.trial);
        }
        last = now;
    }
    assert!(answers.borrow().iter().all(|answer| (30.0..=900.0).contains(&answer.wall_s)));
    // Nothing runs any more: time passes as far as is asked.
    runner.wait(50.0);
    assert_eq!(time.get(), last + 50.0);
    assert_eq!(answers.borrow().len(), 20);
}

#[test]
fn values_are_the_problems_at_the_parameters_in_the_order_of_the_space() {
    let study = Study::new();
    let (mut runner, time, answers) = branin();
    runner.submit(&[attempt_at(&study, 3, "{\"a\": 2.275, \"x\": 3.1}")]);
    time.set(900.0);
    runner.poll(&[]).unwrap();
    let answer = answers.borrow()[0].clone();
    assert_eq!(answer.finding.value(VALUE), Some(by_name("branin", 2).unwrap().evaluate(&[3.1, 2.275])));
    assert_eq!(
        (answer.finding.kind, answer.id.trial, answer.started.as_str()),
        (Kind::Ok, 3, "1970-01-01T00:00:00.000Z")
    );
    // The digest is what `sha256sum params.json` prints.
    assert_eq!(answer.params_digest.len(), 64);
}

#[test]
fn parameters_that_do_not_fit_are_an_answer_too() {
    let study = Study::new();
    let (mut runner, time, answers) = branin();
    let bad = ["{\"x\": 1}", "{\"x\": \"one\", \"a\": 1}", "{\"x\": [1, 2], \"a\": 1}", "no json"];
    let attempts: Vec<_> = (0..).zip(bad).map(|(trial, params)| attempt_at(&study, trial, params)).collect();
    runner.submit(&attempts);
    time.set(900.0);
    runner.poll(&[]).unwrap();
    let answers = answers.borrow();
    assert_eq!(answers.len(), bad.len());
    assert!(
        answers
            .iter()
            .all(|answer| answer.finding.kind == Kind::Unstarted && !answer.finding.reason.is_empty())
    );
}

#[test]
fn the_schedule_depends_on_the_seed_only_and_jobs_begin_anew_after_a_restart() {
    let study = Study::new();
    let attempt = attempt_at(&study, 5, "{\"a\": 2.275, \"x\": 3.1}");
    let run = |restart: bool| {
        let (mut runner, time, answers) = branin();
        match restart {
            false => drop(runner.submit(std::slice::from_ref(&attempt))),
            true => {
                assert!(sighting_of(&mut runner, &reference(&attempt, Some("simulated-000005.a1"))).is_some())
            }
        }
        runner.wait(1000.0);
        let answer = answers.borrow()[0].clone();
        (time.get(), answer.wall_s, answer.finding.value(VALUE))
    };
    assert_eq!(run(false), run(true));
}

#[test]
fn what_was_cancelled_never_answers() {
    let study = Study::new();
    let attempt = attempt_at(&study, 1, "{\"a\": 1, \"x\": 1}");
    let (mut runner, time, answers) = branin();
    runner.submit(std::slice::from_ref(&attempt));
    runner.cancel(&[reference(&attempt, None)]).unwrap();
    time.set(1000.0);
    runner.wait(1.0);
    assert!(answers.borrow().is_empty());
}

#[test]
fn unknown_problems_and_wrong_dimensions_are_errors() {
    let space = Space::new(vec![Parameter::float("x", 0.0, 1.0)]).unwrap();
    for problem in ["nosuch", "branin"] {
        let config = config::Simulated {
            problem: problem.into(),
            objective: VALUE.into(),
            duration: Default::default(),
        };
        let time = VirtualTime::default();
        assert!(Simulated::new(&config, &space, 0, time, Box::new(|_| {})).is_err(), "{problem}");
    }
}
