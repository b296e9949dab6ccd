//! Outcomes: in any order, repeated, wrong, broken, and of any size.

use super::{bits, branin, numbers, run, study_of};
use tribo::Error;
use tribo::space::{Direction, Parameter, Space};
use tribo::strategy::{Settings, Strategy, Study};
use tribo::trial::{Outcome, Told, TrialId};

fn bo() -> Strategy {
    Strategy::Bo(Settings::bo())
}

/// What is told of some trials, by name.
type Bad = (&'static str, fn(&mut Study, TrialId) -> tribo::Result<Told>);

#[test]
fn an_answer_that_is_no_number_counts_as_a_failure() {
    let problem = branin();
    let proposals = |(_, bad): &Bad| {
        let mut study = study_of(&problem, bo(), 8);
        let mut points = Vec::new();
        for i in 0..12 {
            let suggestion = study.ask(1).unwrap().remove(0);
            points.push(numbers(&suggestion.point));
            if i % 5 == 1 {
                assert_eq!(bad(&mut study, suggestion.id), Ok(Told::New));
            } else {
                study.tell(suggestion.id, problem.evaluate(&points[i])).unwrap();
            }
        }
        (bits(&points), study.history().measured().count())
    };
    let failed = proposals(&("failed", |study, id| study.tell_failed(id, "killed")));
    assert_eq!(failed.1, 9);
    let others: [Bad; 4] = [
        ("infeasible", |study, id| study.tell_infeasible(id)),
        ("NaN", |study, id| study.tell(id, f64::NAN)),
        ("inf", |study, id| study.tell(id, f64::INFINITY)),
        ("-inf", |study, id| study.tell(id, f64::NEG_INFINITY)),
    ];
    for other in &others {
        assert!(proposals(other) == failed, "{} is not treated as a failure", other.0);
    }
}

#[test]
fn an_invalid_answer_is_kept_as_such_and_is_never_the_best() {
    let mut study = study_of(&branin(), bo(), 1);
    let id = study.ask(1).unwrap()[0].id;
    study.tell(id, f64::NEG_INFINITY).unwrap();
    let (_, outcome) = study.history().get(id).unwrap();
    assert_eq!(outcome, Some(&Outcome::Invalid { answer: "-inf".into() }));
    assert_eq!(study.best().unwrap(), None);
    // The answer is the user's own, not the sign that is minimised inside.
    let space = Space::new(vec![Parameter::float("x", -1.0, 1.0)]).unwrap();
    let mut study = Study::new(space, Direction::Maximize, bo(), None, 1).unwrap();
    let id = study.ask(1).unwrap()[0].id;
    study.tell(id, f64::NEG_INFINITY).unwrap();
    assert_eq!(study.history().get(id).unwrap().1, Some(&Outcome::Invalid { answer: "-inf".into() }));
}

#[test]
fn a_second_tell_is_harmless_if_equal_and_refused_if_not() {
    let mut study = study_of(&branin(), bo(), 1);
    let asked = study.ask(3).unwrap();
    let id = asked[1].id;
    assert_eq!(study.tell(id, 2.5), Ok(Told::New));
    assert_eq!(study.tell(id, 2.5), Ok(Told::Repeated));
    let refused = [
        study.tell(id, 3.5),
        study.tell(id, f64::NAN),
        study.tell_failed(id, "late"),
        study.tell_infeasible(id),
    ];
    for error in refused.map(Result::unwrap_err) {
        assert!(matches!(error, Error::AlreadyTold { id: 1, .. }), "{error:?}");
        assert!(error.to_string().contains("trial 1 ") && error.to_string().contains("measured 2.5"));
    }
    assert_eq!(study.tell(asked[0].id, f64::NAN), Ok(Told::New));
    assert_eq!(study.tell(asked[0].id, f64::NAN), Ok(Told::Repeated));
    assert_eq!(study.best().unwrap().map(|best| (best.id, best.value)), Some((id, 2.5)));
    assert_eq!(study.history().pending().len(), 1);
}

#[test]
fn a_trial_nobody_asked_for_is_refused_by_its_number() {
    let mut study = study_of(&branin(), bo(), 1);
    study.ask(2).unwrap();
    let error = study.tell(TrialId(41), 1.0).unwrap_err();
    assert_eq!(error, Error::UnknownTrial { id: 41 });
    assert!(error.to_string().contains("trial 41 "));
    assert_eq!(study.point(TrialId(41)).unwrap_err(), Error::UnknownTrial { id: 41 });
    assert_eq!(study.history().pending().len(), 2);
}

#[test]
fn refused_and_repeated_tells_do_not_change_what_follows() {
    let problem = branin();
    let proposals = |noisy: bool| {
        let mut study = study_of(&problem, bo(), 4);
        let mut points = Vec::new();
        for _ in 0..10 {
            let suggestion = study.ask(1).unwrap().remove(0);
            let x = numbers(&suggestion.point);
            let value = problem.evaluate(&x);
            study.tell(suggestion.id, value).unwrap();
            if noisy {
                study.tell(suggestion.id, value).unwrap();
                study.tell(suggestion.id, value + 1.0).unwrap_err();
                study.tell(TrialId(1_000), value).unwrap_err();
            }
            points.push(x);
        }
        bits(&points)
    };
    assert!(proposals(true) == proposals(false));
}

#[test]
fn with_nothing_but_failures_proposals_go_on() {
    for strategy in [bo(), Strategy::Paper(Settings::paper(2)), Strategy::Random, Strategy::auto()] {
        let mut study = study_of(&branin(), strategy, 3);
        for _ in 0..15 {
            for suggestion in study.ask(2).unwrap() {
                study.tell_failed(suggestion.id, "no licence").unwrap();
            }
        }
        assert_eq!(study.history().len(), 30);
        assert_eq!(study.best().unwrap(), None);
    }
}

#[test]
fn failures_after_results_are_avoided_but_not_feared() {
    // Half of the square always fails; the study still comes close to the optimum in the other half.
    let space = Space::new(vec![Parameter::float("x", -1.0, 1.0), Parameter::float("y", -1.0, 1.0)]).unwrap();
    let mut study = Study::new(space, Direction::Minimize, bo(), None, 6).unwrap();
    for _ in 0..30 {
        let suggestion = study.ask(1).unwrap().remove(0);
        let x = numbers(&suggestion.point);
        if x[0] > 0.0 {
            study.tell_failed(suggestion.id, "diverged").unwrap();
        } else {
            study.tell(suggestion.id, (x[0] + 0.5).powi(2) + x[1] * x[1]).unwrap();
        }
    }
    // The bowl is twenty times lower there than at a typical point.
    assert!(study.best().unwrap().unwrap().value < 0.02);
}

#[test]
fn a_region_that_always_fails_is_left_even_if_the_model_expects_the_best_there() {
    // Values fall towards x = -2, and beyond it every evaluation breaks.
    let mut bests = [1, 2, 3, 4, 5].map(|seed| {
        let mut study = study_of(&branin(), bo(), seed);
        let mut n_failed = 0;
        for _ in 0..40 {
            let suggestion = study.ask(1).unwrap().remove(0);
            let x = numbers(&suggestion.point);
            if x[0] < -2.0 {
                n_failed += 1;
                study.tell_failed(suggestion.id, "diverged").unwrap();
            } else {
                study.tell(suggestion.id, x[0] + 0.01 * (x[1] - 7.0).powi(2)).unwrap();
            }
        }
        assert!(n_failed < 30, "{n_failed} of 40 failed with seed {seed}");
        study.best().unwrap().unwrap().value
    });
    // The lowest value is -2; a search that is stuck among failures has -0.9 in the middle.
    bests.sort_by(f64::total_cmp);
    assert!(bests[2] < -1.5, "{bests:?}");
}

#[test]
fn a_constant_function_is_no_trouble() {
    for strategy in [bo(), Strategy::Paper(Settings::paper(2))] {
        for constant in [0.0, -3.0, 1e200] {
            let mut study = study_of(&branin(), strategy.clone(), 2);
            assert_eq!(run(&mut study, 15, |_| constant).len(), 15);
        }
    }
}

#[test]
fn values_of_any_size_are_no_trouble() {
    // Simulators answer a lost run with the largest number there is, and differences of such numbers overflow.
    for strategy in [bo(), Strategy::Paper(Settings::paper(2))] {
        for large in [1e160, f64::MAX] {
            let mut study = study_of(&branin(), strategy.clone(), 2);
            let problem = branin();
            let f = |x: &[f64]| match x {
                [x, y] if *x > 5.0 => large.copysign(y - 7.5),
                x => problem.evaluate(x),
            };
            assert_eq!(run(&mut study, 18, f).len(), 18);
        }
    }
}

#[test]
fn one_enormous_penalty_does_not_blind_the_model() {
    // Two of Branin's three optima are outside the penalties; a typical value is 50 above them.
    let problem = branin();
    for penalty in [1e30, 1e200, f64::MAX] {
        let mut study = study_of(&problem, bo(), 2);
        let f = |x: &[f64]| if x[0] > 5.0 { penalty } else { problem.evaluate(x) };
        run(&mut study, 35, f);
        let regret = study.best().unwrap().unwrap().value - problem.optimum_value();
        assert!(regret < 0.5, "regret {regret} with penalties of {penalty:e}");
    }
}
