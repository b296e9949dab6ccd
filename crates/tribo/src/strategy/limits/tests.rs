//! Tests of the whole: known optima, replay, failures, hopeless limits.

use crate::limit::Limit;
use crate::problems::{Limited, limited};
use crate::rng::Stream;
use crate::space::{Direction, Parameter, Space};
use crate::strategy::{Quota, Settings, Strategy, Study};
use crate::surrogate::watch::Unwatched;
use crate::trial::{Outcome, Purpose, TrialId};

fn space(problem: &Limited) -> Space {
    let parameter = |k: usize| Parameter::float(format!("x{k}"), problem.low()[k], problem.high()[k]);
    Space::new((0..problem.low().len()).map(parameter).collect()).unwrap()
}

fn study(problem: &Limited, direction: Direction, seed: u64) -> Study {
    let limits = problem.limits().to_vec();
    Study::limited(space(problem), direction, limits, Strategy::auto(), None, 0, seed).unwrap()
}

/// Asks, evaluates and tells `n` trials.
fn run(study: &mut Study, problem: &Limited, n: usize) {
    for _ in 0..n {
        let asked = study.ask(1).unwrap().remove(0);
        let (value, limited) = problem.evaluate(&asked.point.numbers()).unwrap();
        let limited: Vec<Option<f64>> = limited.into_iter().map(Some).collect();
        let internal = Outcome::measured(value);
        study.tell_limited(asked.id, internal, &limited).unwrap();
    }
    let makeshifts = study.insight().findings;
    assert!(makeshifts.is_empty(), "{makeshifts:?}");
}

#[test]
fn known_optima_are_found_where_limits_bind() {
    let seed = 31;
    for (name, n) in [("g24", 25), ("g06", 40), ("g04", 30)] {
        let problem = limited(name).unwrap();
        let mut study = study(&problem, Direction::Minimize, seed);
        run(&mut study, &problem, n);
        let best = study.best().unwrap().unwrap();
        assert!(study.is_feasible(best.id));
        let gap = (best.value - problem.optimum_value()) / problem.optimum_value().abs();
        assert!(gap < 1e-3, "{name}, seed {seed}: {gap:e}");
        let states = study.limit_states(&Unwatched).unwrap();
        let binding: Vec<&str> = states.iter().filter(|s| s.binds).map(|s| s.limit.name()).collect();
        let expected: &[&str] = if name == "g04" { &["c1", "c3"] } else { &["c1", "c2"] };
        assert_eq!(binding, expected, "{name}, seed {seed}");
        // What moving a limit is worth: the optimum of g24 is -x - y, and c2 <= 36 holds y down.
        if name == "g06" {
            let worth = states[1].known.unwrap().worth.unwrap();
            assert!(
                (worth / worth_of_g06() - 1.0).abs() < 0.1,
                "seed {seed}: {worth} for {}",
                worth_of_g06()
            );
        }
    }
}

#[test]
fn limits_that_bind_are_met_to_the_last_digits() {
    // A step that kept away from the limit on the volume by what a factorisation needs would end at 2e-6.
    for seed in [1, 3, 5] {
        let problem = limited("pressure_vessel").unwrap();
        let mut study = study(&problem, Direction::Minimize, seed);
        run(&mut study, &problem, 30);
        let best = study.best().unwrap().unwrap();
        let gap = (best.value - problem.optimum_value()) / problem.optimum_value();
        assert!(gap < 1e-6, "seed {seed}: {gap:e}");
    }
}

/// The slope of g06's optimum in the limit on c2: both limits bind, so the optimum is where the two circles meet.
fn worth_of_g06() -> f64 {
    let value = |limit: f64| {
        // (x-5)² + (y-5)² = 100 and (x-6)² + (y-5)² = limit give x by subtraction.
        let x = (100.0 - limit + 11.0) / 2.0;
        let y = 5.0 - (100.0 - (x - 5.0_f64).powi(2)).sqrt();
        (x - 10.0).powi(3) + (y - 20.0).powi(3)
    };
    (value(82.81 + 1e-4) - value(82.81 - 1e-4)) / 2e-4
}

#[test]
fn a_restored_study_goes_on_with_the_same_bits() {
    let seed = 4;
    // The outputs of g06 are polynomials, and its boxes small enough for wide turns; the objective of Ackley's has a trend.
    for (name, n) in [("spring", 24), ("g06", 36), ("ackley10", 62)] {
        let problem = limited(name).unwrap();
        let mut first = study(&problem, Direction::Minimize, seed);
        run(&mut first, &problem, n);
        let mut again = study(&problem, Direction::Minimize, seed);
        for id in 0..n as u64 {
            let (trial, outcome) = first.history().get(TrialId(id)).unwrap();
            again.restore_asked(trial.clone()).unwrap();
            let limited = first.limited_at(TrialId(id)).to_vec();
            again.tell_limited(TrialId(id), outcome.unwrap().clone(), &limited).unwrap();
        }
        for _ in 0..4 {
            // A look changes nothing.
            first.limit_states(&Unwatched).unwrap();
            assert_eq!(first.ask(2).unwrap(), again.ask(2).unwrap(), "{name}, seed {seed}");
        }
    }
}

/// Cut after any event and restored up to there, a study proposes all that follows as it did without interruption: with four
/// under way, outputs that are missing and evaluations that fail.
#[test]
fn a_study_that_was_cut_anywhere_goes_on_with_the_same_bits() {
    let (seed, workers, n) = (12, 4, 44);
    let problem = limited("spring").unwrap();
    let new = || {
        let strategy =
            Strategy::Bo(Settings { quota: Quota { border: 1, ..Quota::default() }, ..Settings::bo() });
        let limits = problem.limits().to_vec();
        Study::limited(space(&problem), Direction::Minimize, limits, strategy, None, 0, seed).unwrap()
    };
    let tell = |study: &mut Study, id: TrialId| {
        let (value, limited) = problem.evaluate(&study.point(id).unwrap().numbers()).unwrap();
        let mut limited: Vec<Option<f64>> = limited.into_iter().map(Some).collect();
        if id.0 % 7 == 3 {
            limited[1] = None;
        }
        let outcome = match id.0 % 9 {
            5 => Outcome::Failed { reason: "a test".to_owned() },
            _ => Outcome::measured(value),
        };
        study.tell_limited(id, outcome, &limited).unwrap();
    };
    let mut stream = Stream::new(seed, "order of answers, and cuts", 0);
    let (mut first, mut open, mut events) = (new(), vec![], vec![]);
    for _ in 0..n {
        while open.len() < workers {
            open.push(first.ask(1).unwrap().remove(0).id);
            events.push((open[open.len() - 1], false));
        }
        let id = open.swap_remove(stream.below(open.len()));
        tell(&mut first, id);
        events.push((id, true));
    }
    assert!(first.best().unwrap().is_some(), "seed {seed}: nothing is feasible");
    for _ in 0..4 {
        let (cut, mut again) = (stream.below(events.len()), new());
        for (at, &(id, is_told)) in events.iter().enumerate() {
            let trial = first.history().get(id).unwrap().0;
            match is_told {
                true => tell(&mut again, id),
                false if at < cut => again.restore_asked(trial.clone()).unwrap(),
                false => {
                    let asked = again.ask(1).unwrap().remove(0).id;
                    assert_eq!(again.history().get(asked).unwrap().0, trial, "seed {seed}, cut after {cut}");
                }
            }
        }
    }
}

#[test]
fn a_quota_of_those_under_way_learns_the_border() {
    let (seed, n) = (6, 24);
    let problem = limited("g24").unwrap();
    let start = |border: usize| {
        let quota = Quota { border, ..Quota::default() };
        let strategy = Strategy::Bo(Settings { quota, ..Settings::bo() });
        let limits = problem.limits().to_vec();
        Study::limited(space(&problem), Direction::Minimize, limits, strategy, None, 0, seed).unwrap()
    };
    let explores = |border: usize| {
        let mut study = start(border);
        run(&mut study, &problem, n);
        assert!(study.best().unwrap().is_some());
        let asked = study.ask(9).unwrap();
        let explores = |id| usize::from(study.history().get(id).unwrap().0.purpose == Purpose::Explore);
        (asked.iter().map(|s| explores(s.id)).collect::<Vec<usize>>(), study)
    };
    let ((without, _), (with, first)) = (explores(0), explores(2));
    // The third and the sixth, and then two are under way; one worker alone never goes there.
    let added: Vec<usize> = (0..9).filter(|&i| with[i] > without[i]).collect();
    assert!([vec![2, 5], vec![2], vec![5]].contains(&added), "seed {seed}: {with:?}, {without:?}");
    assert!(with[2] + with[5] == 2, "seed {seed}: {with:?}");
    // Restored with all of them under way, it goes on in the same way.
    let mut again = start(2);
    for id in 0..n as u64 + 9 {
        let (trial, outcome) = first.history().get(TrialId(id)).unwrap();
        again.restore_asked(trial.clone()).unwrap();
        if let Some(outcome) = outcome {
            let limited = first.limited_at(TrialId(id)).to_vec();
            again.tell_limited(TrialId(id), outcome.clone(), &limited).unwrap();
        }
    }
    let mut first = first;
    assert_eq!(first.ask(3).unwrap(), again.ask(3).unwrap(), "seed {seed}");
}

#[test]
fn the_optimum_of_polynomials_is_exact_as_soon_as_they_are_known() {
    let (seed, d) = (3, 4);
    let parameter = |k: usize| Parameter::float(format!("x{k}"), -5.0, 5.0);
    let space = Space::new((0..d).map(parameter).collect()).unwrap();
    // The same side twice, and a norm.
    let limits = ["a <= 1", "b <= 2", "r <= 4"].map(|text| Limit::parse(text).unwrap()).to_vec();
    let mut study =
        Study::limited(space, Direction::Minimize, limits, Strategy::auto(), None, 0, seed).unwrap();
    for _ in 0..18 {
        let asked = study.ask(1).unwrap().remove(0);
        let x = asked.point.numbers();
        let sum: f64 = x.iter().sum();
        let norm = x.iter().map(|x| x * x).sum::<f64>().sqrt();
        let value = x.iter().map(|x| (x - 3.0) * (x - 3.0)).sum();
        study
            .tell_limited(asked.id, Outcome::measured(value), &[Some(sum), Some(2.0 * sum), Some(norm)])
            .unwrap();
    }
    // The sum is 1 at the optimum, so each input is 1/4; the tolerance of a limit lets the sum be larger by a millionth.
    let best = study.best().unwrap().unwrap().value;
    assert!((best - 4.0 * 2.75 * 2.75).abs() < 1e-5, "seed {seed}: {best}");
}

#[test]
fn the_best_point_on_an_equality_is_found() {
    let seed = 5;
    let parameters = vec![Parameter::float("x", 0.0, 2.0), Parameter::float("y", 0.0, 2.0)];
    let limits = vec![Limit::parse("product == 1").unwrap()];
    let space = Space::new(parameters).unwrap();
    let mut study =
        Study::limited(space, Direction::Minimize, limits, Strategy::auto(), None, 0, seed).unwrap();
    let value = |x: f64, y: f64| (x - 1.0).powi(2) + (y - 1.0).powi(2);
    for _ in 0..30 {
        let asked = study.ask(1).unwrap().remove(0);
        let x = asked.point.numbers();
        let product = x[0].exp() * x[1];
        study.tell_limited(asked.id, Outcome::measured(value(x[0], x[1])), &[Some(product)]).unwrap();
    }
    // On the curve y = exp(-x), by a fine scan.
    let scan = (0..=200_000).map(|i| 1e-5 * f64::from(i)).map(|x| value(x, (-x).exp()));
    let optimum = scan.fold(f64::INFINITY, f64::min);
    let best = study.best().unwrap().unwrap();
    assert!(study.limits()[0].is_met(study.limited_at(best.id)[0].unwrap()), "seed {seed}");
    assert!((best.value / optimum - 1.0).abs() < 1e-3, "seed {seed}: {} for {optimum}", best.value);
}

#[test]
fn points_that_answer_nothing_are_kept_away_from() {
    let seed = 8;
    let space = Space::new(vec![Parameter::float("x", 0.0, 1.0), Parameter::float("y", 0.0, 1.0)]).unwrap();
    let limits = vec![Limit::parse("c >= 0.3").unwrap()];
    let mut study =
        Study::limited(space, Direction::Minimize, limits, Strategy::auto(), None, 0, seed).unwrap();
    let mut failed = vec![];
    for trial in 0..40 {
        let asked = study.ask(1).unwrap().remove(0);
        let x = asked.point.numbers();
        // The optimum, 0.3 + 0.5, is on the edge of what answers at all.
        if x[1] < 0.5 {
            study.tell_failed(asked.id, "diverged").unwrap();
            failed.push(trial);
        } else {
            let limited = if trial == 3 { [None] } else { [Some(x[0])] };
            study.tell_limited(asked.id, Outcome::measured(x[0] + x[1]), &limited).unwrap();
        }
    }
    let best = study.best().unwrap().unwrap();
    assert!(best.value < 0.82, "seed {seed}: {}", best.value);
    let late = failed.iter().filter(|trial| **trial >= 20).count();
    assert!(late <= 12, "seed {seed}: {late} of the last 20 fail");
    assert!(!study.is_feasible(TrialId(3)), "what was not measured is not met");
}

#[test]
fn a_limit_that_cannot_be_met_is_named_and_no_point_comes_twice() {
    let seed = 2;
    let space = Space::new(vec![Parameter::float("x", 0.0, 1.0), Parameter::float("y", 0.0, 1.0)]).unwrap();
    let limits = vec![Limit::parse("c <= -1").unwrap(), Limit::parse("e == 0.5").unwrap()];
    let mut study =
        Study::limited(space, Direction::Maximize, limits, Strategy::auto(), None, 0, seed).unwrap();
    let mut points: Vec<Vec<f64>> = vec![];
    for _ in 0..25 {
        let asked = study.ask(1).unwrap().remove(0);
        let x = asked.point.numbers();
        assert!(!points.contains(&x), "seed {seed}");
        let limited = [Some(x[0] * x[0] + x[1]), Some(x[0] * x[1])];
        study.tell_limited(asked.id, Outcome::measured(-x[0]), &limited).unwrap();
        points.push(x);
    }
    assert_eq!(study.best().unwrap(), None);
    let states = study.limit_states(&Unwatched).unwrap();
    assert_eq!((states[0].met, states[0].measured), (0, 25));
    // The nearest that c comes to -1 is 0; the equality alone could be met.
    assert!(states[0].nearest.unwrap().1 < 0.1, "seed {seed}: {:?}", states[0].nearest);
    assert!(study.least_violated().is_some());
}

#[test]
fn results_from_elsewhere_take_the_place_of_the_design() {
    let problem = limited("g24").unwrap();
    let mut study = study(&problem, Direction::Minimize, 6);
    for at in 0..8 {
        let x = [0.3 * f64::from(at), 3.5 - 0.4 * f64::from(at)];
        let values = x.iter().map(|x| crate::space::Values::Float(vec![*x])).collect();
        let id = study.adopt(&study.space().point(values).unwrap()).unwrap();
        let (value, limited) = problem.evaluate(&x).unwrap();
        let limited: Vec<Option<f64>> = limited.into_iter().map(Some).collect();
        study.tell_limited(id, Outcome::measured(value), &limited).unwrap();
    }
    run(&mut study, &problem, 8);
    let best = study.best().unwrap().unwrap().value;
    assert!(best < -5.4, "seed 6: {best}");
}

#[test]
fn settings_that_know_no_limits_are_refused() {
    let problem = limited("g24").unwrap();
    let refuse = |strategy: Strategy| {
        let limits = problem.limits().to_vec();
        Study::limited(space(&problem), Direction::Minimize, limits, strategy, None, 0, 1).is_err()
    };
    assert!(refuse(Strategy::Paper(crate::strategy::Settings::paper(2))));
    assert!(!refuse(Strategy::Random));
}

#[test]
fn a_look_says_where_limits_are_met_and_what_others_would_allow() {
    let (seed, problem) = (31, limited("g24").unwrap());
    for direction in [Direction::Minimize, Direction::Maximize] {
        let sign = direction.to_user(1.0);
        let mut study = study(&problem, direction, seed);
        run(&mut study, &problem, 25);
        let best = study.best().unwrap().unwrap();
        let look = study.look_at_limits(&Unwatched).unwrap().unwrap();
        assert_eq!(look.limits(), study.limits());
        // Points that were measured: the models know whether they are within the limits.
        let history: Vec<_> = study.history().measured().map(|(trial, _)| trial.clone()).collect();
        for trial in &history {
            let chance = look.chances(std::slice::from_ref(&trial.z)).unwrap()[0];
            let near = study.limited_at(trial.id).iter().zip(study.limits());
            let is_at_limit = near.clone().any(|(value, limit)| limit.excess(value.unwrap()).abs() < 1e-2);
            if !is_at_limit {
                let is_met = study.is_feasible(trial.id);
                assert!((chance > 0.5) == is_met, "seed {seed}, trial {}: {chance}, {is_met}", trial.id);
            }
        }
        // Under its own limits the best is what was found.
        let same = look.best_with(study.limits(), &Unwatched).unwrap().unwrap();
        assert!((same.objective.mean - best.value).abs() < 1e-3, "seed {seed}: {same:?}, {}", best.value);
        assert!(same.is_met && same.objective.low <= same.objective.mean);
        // Moved by a little, it changes by what the limits are worth.
        let worth: Vec<f64> = study
            .limit_states(&Unwatched)
            .unwrap()
            .iter()
            .map(|state| state.known.and_then(|known| known.worth).unwrap_or(0.0))
            .collect();
        let by = 0.02;
        let moved: Vec<Limit> = study
            .limits()
            .iter()
            .map(|limit| Limit::new(limit.name(), limit.low(), limit.high().map(|high| high + by)).unwrap())
            .collect();
        let wider = look.best_with(&moved, &Unwatched).unwrap().unwrap();
        let (change, expected) = (wider.objective.mean - same.objective.mean, by * worth.iter().sum::<f64>());
        assert!(sign * change < 0.0, "seed {seed}: {change}");
        assert!((change / expected - 1.0).abs() < 0.1, "seed {seed}: {change} for {expected}");
    }
}
