//! The machine as a study has it: asked, told, interrupted.

use crate::limit::Limit;
use crate::problems::{Limited, active_inputs, limited};
use crate::rng::Stream;
use crate::space::{Direction, Parameter, Space, Values};
use crate::strategy::{AutoSettings, Decoder, Fact, Hint, Insight, Strategy, Study, Suggestion, Verdict};
use crate::trial::{Outcome, Recipe, TrialId};

fn floats(low: &[f64], high: &[f64]) -> Space {
    let parameter = |k: usize| Parameter::float(format!("x{k}"), low[k], high[k]);
    Space::new((0..low.len()).map(parameter).collect()).unwrap()
}

fn study(space: &Space, limits: &[&str], budget: usize, seed: u64) -> Study {
    let limits = limits.iter().map(|limit| Limit::parse(limit).unwrap()).collect();
    let auto = Strategy::auto();
    Study::limited(space.clone(), Direction::Minimize, limits, auto, Some(budget), 0, seed).unwrap()
}

/// Asks and tells, with so many trials under way, answers in random order. Returns the events: the trial, and whether it was told.
fn run(
    study: &mut Study,
    evaluations: usize,
    workers: usize,
    f: impl Fn(&[f64]) -> Vec<Option<f64>>,
) -> Vec<(TrialId, bool)> {
    let mut stream = Stream::new(1, "order", 0);
    let (mut open, mut events) = (vec![], vec![]);
    for _ in 0..evaluations {
        while open.len() < workers {
            open.extend(study.ask(1).unwrap());
            events.extend(open.last().map(|one: &Suggestion| (one.id, false)));
        }
        let one = open.swap_remove(stream.below(open.len()));
        let values = f(&one.point.numbers());
        let outcome =
            values[0].map_or_else(|| Outcome::Failed { reason: "a test".to_owned() }, Outcome::measured);
        study.tell_limited(one.id, outcome, &values[1..]).unwrap();
        events.push((one.id, true));
    }
    events
}

fn named(insight: &Insight) -> Vec<usize> {
    let mut inputs: Vec<usize> = insight.active.iter().map(|active| active.input).collect();
    inputs.sort_unstable();
    inputs
}

fn of_output(insight: &Insight, k: usize) -> Vec<usize> {
    let mut inputs: Vec<usize> = insight.outputs[k].inputs.iter().map(|active| active.input).collect();
    inputs.sort_unstable();
    inputs
}

fn fell_back(insight: &Insight) -> bool {
    insight.findings.iter().any(|finding| matches!(finding.fact, Fact::FellBack { .. }))
}

/// Mass x + y with a stiffness x y of at least 1, at inputs 17 and 163 of 200; a temperature that only input 80 drives.
fn beam(x: &[f64]) -> Vec<Option<f64>> {
    vec![Some(x[17] + x[163]), Some(x[17] * x[163]), Some((x[80] - 1.2).powi(2))]
}

const BEAM: [&str; 2] = ["stiffness >= 1", "temperature <= 0.01"];

fn beam_space() -> Space {
    Space::new(vec![Parameter::float("x", 0.0, 2.0).with_size(200)]).unwrap()
}

#[test]
fn inputs_are_named_for_each_output_and_the_optimum_is_found() {
    for (workers, seed) in [(1, 1), (4, 2)] {
        let mut study = study(&beam_space(), &BEAM, 90, seed);
        run(&mut study, 70, workers, beam);
        let insight = study.insight();
        assert_eq!(named(&insight), [17, 80, 163], "seed {seed}: {insight}");
        assert_eq!((of_output(&insight, 0), of_output(&insight, 1)), (vec![17, 163], vec![17, 163]));
        assert_eq!((of_output(&insight, 2), insight.outputs[2].output.as_str()), (vec![80], "temperature"));
        assert_eq!((insight.verdict, insight.n_idle), (Verdict::Sparse, 197));
        let best = study.best().unwrap().unwrap();
        assert!((best.value - 2.0).abs() < 1e-3, "seed {seed}: {}", best.value);
        assert!(!fell_back(&insight));
        // A record has what was searched, and not two hundred numbers.
        assert!(study.history().iter().all(|(trial, _)| trial.recipe.is_some() && trial.z.len() <= 3));
    }
}

#[test]
fn the_speed_reducer_among_a_thousand_inputs() {
    let seed = 5;
    let problem: Limited = limited("speed_reducer").unwrap().among(1_000, seed).unwrap();
    let space = floats(problem.low(), problem.high());
    let (auto, limits) = (Strategy::auto(), problem.limits().to_vec());
    let mut study = Study::limited(space, Direction::Minimize, limits, auto, Some(250), 0, seed).unwrap();
    run(&mut study, 75, 1, |x| {
        let (value, limited) = problem.evaluate(x).unwrap();
        std::iter::once(value).chain(limited).map(Some).collect()
    });
    assert_eq!(named(&study.insight()), active_inputs(1_000, 7, seed), "seed {seed}");
    let gap = study.best().unwrap().unwrap().value / problem.optimum_value() - 1.0;
    assert!(gap < 1e-2, "seed {seed}: {gap}");
}

#[test]
fn a_study_is_made_again_from_its_records_bit_for_bit() {
    let stairs = |x: &[f64]| {
        // An integer, a category that drives one output, an output that is missing at times, and evaluations that break.
        let mass = x[3] + x[50] + 0.1 * x[61];
        let stress = (x[7] > 0.1).then_some(2.0 - x[3] * (1.0 + 0.2 * x[50]));
        if x[9] > 0.93 { vec![None, None] } else { vec![Some(mass), stress] }
    };
    let parameters = vec![
        Parameter::float("x", 0.0, 1.0).with_size(50),
        Parameter::int("n", 0, 9).with_size(11),
        Parameter::categorical("kind", ["a", "b", "c"]),
    ];
    let space = Space::new(parameters).unwrap();
    for (seed, workers) in [(3, 1), (4, 3)] {
        let new = || study(&space, &["stress <= 1.5"], 120, seed);
        let mut first = new();
        let events = run(&mut first, 75, workers, stairs);
        assert!(!fell_back(&first.insight()), "seed {seed}: {:?}", first.insight().findings);
        let mut again = new();
        let mut decoder = Decoder::new(space.clone(), Strategy::auto(), Some(120), seed).unwrap();
        for (id, is_told) in events {
            let (trial, outcome) = first.history().get(id).unwrap();
            if is_told {
                again.tell_limited(id, outcome.unwrap().clone(), first.limited_at(id)).unwrap();
            } else {
                assert_eq!(decoder.point(trial).unwrap(), first.point(id).unwrap(), "seed {seed}");
                again.restore_asked(trial.clone()).unwrap();
            }
        }
        assert_eq!(again.insight(), first.insight(), "seed {seed}");
        for _ in 0..3 {
            assert_eq!(first.ask(1).unwrap(), again.ask(1).unwrap(), "seed {seed}");
        }
    }
}

/// Cut after any event and restored up to there, a study proposes all that follows as it did without interruption.
#[test]
fn a_study_that_was_cut_anywhere_goes_on_with_the_same_bits() {
    let (seed, mut stream) = (8, Stream::new(8, "cuts", 0));
    let new = || study(&beam_space(), &BEAM, 90, seed);
    // One evaluation in some breaks, and one lacks an output.
    let rough = |x: &[f64]| match (x[5], x[6]) {
        (a, _) if a > 1.95 => vec![None, None, None],
        (_, b) if b > 1.9 => vec![beam(x)[0], None, beam(x)[2]],
        _ => beam(x),
    };
    let mut first = new();
    let events = run(&mut first, 60, 3, rough);
    for _ in 0..4 {
        let (cut, mut again) = (stream.below(events.len()), new());
        for (at, &(id, is_told)) in events.iter().enumerate() {
            let (trial, outcome) = first.history().get(id).unwrap();
            match is_told {
                true => {
                    again.tell_limited(id, outcome.unwrap().clone(), first.limited_at(id)).unwrap();
                }
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
fn another_trial_than_it_would_ask_is_refused() {
    let mut first = study(&beam_space(), &BEAM, 90, 1);
    run(&mut first, 40, 1, beam);
    let mut again = study(&beam_space(), &BEAM, 90, 1);
    for (trial, outcome) in first.history().iter() {
        let mut wrong = trial.clone();
        wrong.recipe = Some(Box::new(Recipe::Line { base: TrialId(0), shift: 0.1 }));
        assert!(again.restore_asked(wrong).is_err());
        let mut long = trial.clone();
        long.z.push(0.5);
        assert!(again.restore_asked(long).is_err());
        again.restore_asked(trial.clone()).unwrap();
        again.tell_limited(trial.id, outcome.unwrap().clone(), first.limited_at(trial.id)).unwrap();
    }
}

#[test]
fn what_is_missed_is_named_later() {
    // Input 120 does nothing below 1.5, where the incumbent of the start is not: only the rest check sees it.
    let hidden = |x: &[f64]| vec![Some(x[17] + x[163]), Some(x[17] * x[163] - (x[120] - 0.8).max(0.0))];
    let mut study = study(&beam_space(), &["stiffness >= 1"], 120, 2);
    run(&mut study, 90, 1, hidden);
    assert_eq!(named(&study.insight()), [17, 120, 163], "{:?}", study.insight().findings);
}

#[test]
fn too_many_to_name_are_searched_together() {
    let space = Space::new(vec![Parameter::float("x", 0.0, 2.0).with_size(60)]).unwrap();
    let all = |x: &[f64]| {
        let mass: f64 = x.iter().enumerate().map(|(j, x)| x * (1.5 + (1.7 * j as f64).sin())).sum();
        vec![Some(mass), Some(x[7] * x[8])]
    };
    let mut study = study(&space, &["stiffness >= 1"], 100, 2);
    run(&mut study, 50, 1, all);
    let insight = study.insight();
    assert_eq!(insight.verdict, Verdict::Dense, "{:?}", insight.findings);
    assert!(!fell_back(&insight));
}

#[test]
fn inputs_that_the_user_names_are_searched_at_once() {
    let settings = AutoSettings { active: vec!["x[17]".into(), "x[163]".into()], ..AutoSettings::default() };
    let limits = vec![Limit::parse("stiffness >= 1").unwrap()];
    let space = beam_space();
    let auto = Strategy::Auto(settings);
    let mut study = Study::limited(space, Direction::Minimize, limits, auto, Some(60), 0, 3).unwrap();
    run(&mut study, 35, 1, |x| beam(x)[..2].to_vec());
    assert_eq!(named(&study.insight()), [17, 163]);
    assert!((study.best().unwrap().unwrap().value - 2.0).abs() < 1e-3);
}

#[test]
fn results_from_before_and_what_they_named_are_used() {
    let space = beam_space();
    let mut study = study(&space, &BEAM, 90, 7);
    let mut stream = Stream::new(7, "earlier", 0);
    for _ in 0..14 {
        let x: Vec<f64> = (0..200).map(|_| 2.0 * stream.uniform()).collect();
        let id = study.adopt(&space.point(vec![Values::Float(x.clone())]).unwrap()).unwrap();
        let values = beam(&x);
        study.tell_limited(id, Outcome::measured(values[0].unwrap()), &values[1..]).unwrap();
    }
    study.hint(Hint::Named(vec![17, 163]));
    run(&mut study, 60, 1, beam);
    // The one that the earlier search had missed is found by the rest check.
    assert_eq!(named(&study.insight()), [17, 80, 163], "{:?}", study.insight().findings);
    assert!((study.best().unwrap().unwrap().value - 2.0).abs() < 1e-2);
}

#[test]
fn an_output_with_noise_does_not_keep_the_others_from_being_read() {
    let space = beam_space();
    let mut study = study(&space, &["stiffness >= 1"], 150, 6);
    let noisy = |x: &[f64]| {
        let noise =
            Stream::new(x.iter().fold(0, |bits, x| bits ^ x.to_bits().rotate_left(7)), "noise", 0).normal();
        vec![Some(x[17] + x[163]), Some(x[17] * x[163] + 0.02 * noise)]
    };
    run(&mut study, 100, 1, noisy);
    let insight = study.insight();
    assert!(named(&insight).starts_with(&[17]) && named(&insight).contains(&163), "{:?}", insight.findings);
    assert!(!fell_back(&insight));
}
